// Szymanski's algorithm: a waiting room with two doors. Whoever finds the entrance open
// waits inside; the last one in closes it behind the group and opens the exit.
// expect: holds
// plain: states=805 transitions=1776
// property served: holds

#define N 3

// outside, wants in, waits for others in the doorway, stands in it, has closed it
mtype = { outside, wants, waits, doorway, closed };
mtype flag[N] = outside;
byte inside;

#define all(test) (test(0) && test(1) && test(2))
#define any(test) (test(0) || test(1) || test(2))

#define entrance_open(j) (flag[j] == outside || flag[j] == wants || flag[j] == waits)
#define wishes(j)        (flag[j] == wants)
#define has_closed(j)    (flag[j] == closed)
#define not_ahead(j)     (j >= _pid || flag[j] == outside || flag[j] == wants)
#define settled(j)       (j <= _pid || flag[j] == outside || flag[j] == wants || flag[j] == closed)

active [N] proctype P() {
    do
    :: flag[_pid] = wants;
       all(entrance_open);
       flag[_pid] = doorway;
       if
       :: any(wishes) ->
          flag[_pid] = waits;
          any(has_closed)
       :: else
       fi;
       flag[_pid] = closed;
       all(not_ahead);
       inside++;
       assert(inside == 1);
       inside--;
       all(settled);
       flag[_pid] = outside
    od
}

ltl served { [] (flag[2] == wants -> <> (flag[2] == closed)) }
