// Two traffic lights at a crossing under one controller that looks at sensors. A claim,
// written as an automaton, says what must never happen: a car that waits forever. It cannot,
// since one car passes in each phase and the other road is looked at first.
// expect: holds
// plain: states=84 transitions=177
// property waits_forever: holds

#define NORTH 0
#define EAST  1

mtype = { red, green };
mtype light[2] = red;
bool car[2];

active proctype Controller() {
    byte way = NORTH;

    do
    :: d_step {
           // the other direction first, if somebody waits there
           if
           :: car[1 - way] -> way = 1 - way
           :: else
           fi
       };
       if
       :: car[way] ->
          light[way] = green;
          assert(light[1 - way] == red);
          !car[way];                        // has passed
          light[way] = red
       :: else
       fi
    od
}

active [2] proctype Road() {
    byte way = _pid - 1;

    do
    :: car[way] = true;                     // arrives
       light[way] == green;
       car[way] = false;                    // passes
       light[way] == red                    // and the next one sees red
    od
}

never waits_forever {
    do
    :: skip                                 // for a while, anything
    :: car[NORTH] && light[NORTH] == red -> break
    od;
accept_waiting:
    do
    :: car[NORTH] && light[NORTH] == red
    od
}
