// An elevator between three floors: people press buttons, the cabin keeps its direction
// while there is work ahead. Everybody who calls is served, and the doors never open on the way.
// expect: holds
// plain: states=255 transitions=380
// property closed_on_the_way: holds
// property served: holds
// property in_the_house: holds
// property top_visited: violated
// property non-progress: holds

#define FLOORS 3

bool called[FLOORS];
unsigned floor : 2;
bool moving, open;
short direction = 1;

#define above (floor < 2 && (called[2] || (floor == 0 && called[1])))
#define below (floor > 0 && (called[0] || (floor == 2 && called[1])))
#define idle  (!called[0] && !called[1] && !called[2])

active proctype Cabin() {
end:
    do
    :: called[floor] ->
progress_serves:
       open = true;
       called[floor] = false;
       open = false
    :: !called[floor] && !idle ->
       // turn round if there is nothing left ahead
       if
       :: direction == 1 && !above -> direction = -1
       :: direction == -1 && !below -> direction = 1
       :: else
       fi;
       d_step { moving = true; assert(!open) };
       floor = floor + direction;
       moving = false
    od
}

active proctype People() {
    byte where;

end:
    do
    :: idle ->                              // at most a few wishes at a time
       select(where : 0 .. FLOORS - 1);
       called[where] = true
    :: called[0] && !called[2] -> called[2] = true
    od
}

ltl closed_on_the_way { [] !(moving && open) }
ltl served { [] (called[1] -> <> (open && floor == 1)) }
ltl in_the_house { [] (floor < FLOORS) }
ltl top_visited { []<> (floor == 2) }
