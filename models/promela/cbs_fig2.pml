// After figure 2 of Musuvathi and Qadeer: the cost of a state may fall along a run. To find
// both threads between their two steps costs one preemption; let T1 finish from there, and
// the state is one that costs nothing, since T1 could have finished first.
// expect: violated assertion preemptions=1 steps=3
// plain: states=16 transitions=24
// bounded: 0=13 1=16

bool a, b, c, d;

active proctype T1() {
    a = true;
    b = true
}

active proctype T2() {
    c = true;
    assert(!(a && !b));         // fails between T1's steps
    d = true
}
