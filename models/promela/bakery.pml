// Lamport's bakery: draw a number larger than all you see, then wait for everybody with
// a smaller one. Numbers are read one by one, while others draw theirs.
// expect: holds
// plain: states=69309 transitions=185008

#define N 3

bool choosing[N];
byte number[N];     // 0: not waiting
byte inside;

// Process a goes before process b: the smaller number, then the smaller name.
#define before(a, b) (number[a] < number[b] || (number[a] == number[b] && a < b))

active [N] proctype P() {
    byte j, highest;

    choosing[_pid] = true;
    for (j : 0 .. N - 1) {
        if
        :: number[j] > highest -> highest = number[j]
        :: else
        fi
    }
    number[_pid] = highest + 1;
    choosing[_pid] = false;

    for (j : 0 .. N - 1) {
        !choosing[j];
        (number[j] == 0 || !before(j, _pid))
    }

    inside++;
    assert(inside == 1);
    inside--;
    number[_pid] = 0
}
