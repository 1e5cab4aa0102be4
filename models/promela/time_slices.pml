// Two tasks under a time-slicing scheduler: `provided` lets a task move only in its own
// slice. Neither can be starved, and an update in one slice is never interrupted.
// expect: holds
// plain: states=16 transitions=17
// property both_work: holds
// property changes: holds
// property non-progress: holds

#define TASKS 2
#define SLICE 2

byte turn;                  // whose slice it is
byte left = SLICE;          // steps left in it
byte balance[TASKS];

inline step() {
    left--
}

active [TASKS] proctype Task() provided (turn == _pid && left > 0) {
    do
    :: atomic { balance[_pid] = 1 - balance[_pid]; step() };
progress_works:
       atomic { assert(left < SLICE); step() }
    od
}

active proctype Scheduler() {
    do
    :: left == 0 ->
       d_step { turn = (turn + 1) % TASKS; left = SLICE }
    od
}

ltl both_work { []<> (turn == 0) && []<> (turn == 1) }
ltl changes { []<> (balance[0] == 1) && []<> (balance[0] == 0) }
