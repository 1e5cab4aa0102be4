// After appendix C of Holzmann and Florian: the claim fails only in the one state in which
// all ten processes stand between their two steps, nine preemptions away. Spin's own counts
// within a bound are lower than these, since it loses track of who ran last.
// expect: holds
// plain: states=88573 transitions=590491
// bounded: 0=8960 1=25599 2=48128 4=81056
// property all_at_once: violated

#define N 10

int count;

active [N] proctype P() {
    count++;
    count--
}

never all_at_once {
    do
    :: assert(count != N)
    od
}
