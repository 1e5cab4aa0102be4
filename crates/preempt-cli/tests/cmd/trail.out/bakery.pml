// The bakery without its doorway: nobody says that they are about to draw a number, so
// two customers can hold the same one and the second to write it may have the better name.
// expect: violated assertion preemptions=2 steps=37
// plain: states=801 transitions=1483

#define N 2

byte number[N];
byte inside;

#define before(a, b) (number[a] < number[b] || (number[a] == number[b] && a < b))

active [N] proctype P() {
    byte j, highest;

    for (j : 0 .. N - 1) {
        if
        :: number[j] > highest -> highest = number[j]
        :: else
        fi
    }
    number[_pid] = highest + 1;

    for (j : 0 .. N - 1) {
        (number[j] == 0 || !before(j, _pid))
    }

    inside++;
    assert(inside == 1);
    inside--;
    number[_pid] = 0
}
