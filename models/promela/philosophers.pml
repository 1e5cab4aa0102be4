// Dining philosophers, each taking the left fork first: when all hold one, all wait for
// the other. One preemption is enough at a table of any size: after it, go round so that
// each philosopher blocks on the fork that the one before has just taken.
// expect: violated deadlock preemptions=1 steps=8
// plain: states=118 transitions=341

#define N 4

bool taken[N];

inline pick(fork) {
    atomic { !taken[fork] -> taken[fork] = true }
}

active [N] proctype Philosopher() {
    byte left = _pid, right = (_pid + 1) % N;

    do
    :: pick(left);
       pick(right);
       // eats
       taken[right] = false;
       taken[left] = false
    od
}
