// Priority inversion: the urgent task waits for a lock that the idle task holds, and the
// busy task in the middle keeps the idle one from releasing it.
// expect: violated assertion preemptions=0 steps=18
// plain: states=21 transitions=21
// property done: holds

bool locked;
byte ticks;                 // what the middle task has consumed meanwhile
bool urgent_waits, urgent_done;

active proctype Idle() priority 1 {
    atomic { !locked -> locked = true };
    skip;                   // works with the lock held
    locked = false
}

active proctype Busy() priority 2 {
    urgent_waits;
    do
    :: ticks < 3 -> ticks++
    :: else -> break
    od
}

active proctype Urgent() priority 3 {
    locked;                 // its input arrives just now
    urgent_waits = true;
    atomic { !locked -> locked = true };
    urgent_done = true;
    assert(ticks < 3);      // in time
    locked = false
}

ltl done { <> urgent_done }
