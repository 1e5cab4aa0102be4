// Dining philosophers with ordered forks: everyone takes the smaller number first, so no
// circle of waiting can close. There is no deadlock, but a philosopher may still starve.
// expect: holds
// plain: states=320 transitions=1061
// property someone_eats: holds
// property first_eats: violated
// property neighbours: holds
// property non-progress: holds

#define N 4

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
