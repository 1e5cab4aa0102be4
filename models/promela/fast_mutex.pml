// Lamport's fast mutual exclusion: without contention, seven memory accesses whatever
// the number of processes. Only a process that meets another one looks at everybody.
// expect: holds
// plain: states=715 transitions=1333
// property exclusion: holds
// property served: violated

#define N 2
#define NOBODY N

bool busy[N];
byte x = NOBODY, y = NOBODY;
byte inside;

active [N] proctype P() {
    byte j;

start:
    busy[_pid] = true;
    x = _pid;
    if
    :: y != NOBODY ->               // someone is ahead
       busy[_pid] = false;
       y == NOBODY;
       goto start
    :: else
    fi;
    y = _pid;
    if
    :: x != _pid ->                 // someone came after us: the slow path
       busy[_pid] = false;
       for (j : 0 .. N - 1) {
           !busy[j]
       }
       j = 0;
       if
       :: y != _pid -> y == NOBODY; goto start
       :: else
       fi
    :: else
    fi;

critical:
    inside++;
    assert(inside == 1);
    inside--;
    y = NOBODY;
    busy[_pid] = false;
    goto start
}

ltl exclusion { [] !(P[0]@critical && P[1]@critical) }
ltl served { [] (busy[0] -> <> P[0]@critical) }
