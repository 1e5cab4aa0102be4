// After figure 1 of Musuvathi and Qadeer, "Partial-order reduction for context-bounded
// state exploration": x and y are shared, x = 1 and y = 2 are independent. Sleep sets with
// bound 0 prune the run y = 2, x = 1, y = 1, whose cost is 0.
// expect: violated assertion preemptions=0 steps=7
// plain: states=19 transitions=22
// bounded: 0=17 1=19

byte x, y;

active proctype Judge() {
    _nr_pr == 1;
    assert(y != 1)
}

active proctype T1() {
    x = 1;
    y = 1
}

active proctype T2() {
    y = 2
}
