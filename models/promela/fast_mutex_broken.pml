// Lamport's fast mutex whose slow path forgets to wait for the others: a process that
// has already passed the test of y may still overwrite it.
// expect: violated assertion preemptions=2 steps=12
// plain: states=297 transitions=563

#define N 2
#define NOBODY N

byte x = NOBODY, y = NOBODY;
byte inside;

active [N] proctype P() {
start:
    x = _pid;
    if
    :: y != NOBODY -> y == NOBODY; goto start
    :: else
    fi;
    y = _pid;
    if
    :: x != _pid ->
       // here the algorithm waits until nobody is between the two tests
       if
       :: y != _pid -> y == NOBODY; goto start
       :: else
       fi
    :: else
    fi;
    inside++;
    assert(inside == 1);
    inside--;
    y = NOBODY;
    goto start
}
