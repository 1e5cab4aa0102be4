// After figure 6 of Holzmann and Florian: states 0 to 5, and an error in state 4. Depth
// first, state 3 is met first through a preemption, by 0 1 2 3, and to go on to 4 takes another
// one. Who then refuses to visit 3 again misses that P alone gets there, by 0 1 5 3 or 0 1 2 5 3:
// with `--search naive-bounded --bound 1` nothing is found, although no preemption is needed.
// expect: violated assertion preemptions=0 steps=6
// plain: states=7 transitions=11
// bounded: 0=7

byte s;

active proctype Q() {
end:
    do
    :: d_step { s == 2 -> s = 3 }
    :: s == 3
    od
}

active proctype P() {
    do
    :: d_step { s == 0 -> s = 1 }
    :: d_step { s == 1 -> s = 2 }
    :: d_step { s == 1 -> s = 5 }
    :: d_step { s == 2 -> s = 5 }
    :: d_step { s == 5 -> s = 3 }
    :: d_step { s == 3 -> s = 4 }
    :: s == 4 -> assert(false)
    od
}
