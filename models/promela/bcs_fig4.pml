// After figure 4 of Holzmann and Florian, "Model checking with bounded context switching":
// a reduction that prefers the private step x = 1 never sees T2 go first, although that run
// has no preemption at all. The assertion fails in exactly that run's final state.
// expect: violated assertion preemptions=0 steps=7
// plain: states=19 transitions=22

byte y;

active proctype Judge() {
    _nr_pr == 1;                // T1 and T2 have ended
    assert(y == 2)
}

active proctype T1() {
    byte x;

    x = 1;                      // private
    y = 1
}

active proctype T2() {
    y = 2
}
