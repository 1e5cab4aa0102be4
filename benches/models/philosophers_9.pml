// models/promela/philosophers_fixed.pml with nine philosophers.

#define N 9

bool taken[N];

inline pick(fork) {
    atomic { !taken[fork] -> taken[fork] = true }
}

active [N] proctype Philosopher() {
    byte first, second;

    d_step {
        first = (_pid < N - 1 -> _pid : 0);
        second = (_pid < N - 1 -> _pid + 1 : N - 1)
    };

    do
    :: pick(first);
       pick(second);
progress_eats:
       taken[second] = false;
       taken[first] = false
    od
}

#define eats(i) Philosopher[i]@progress_eats

ltl someone_eats { []<> (eats(0) || eats(1) || eats(2) || eats(3)) }
ltl first_eats { []<> eats(0) }
ltl neighbours { [] !(eats(0) && eats(1)) }
