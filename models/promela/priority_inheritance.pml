// Priority inheritance: whoever waits for a lock lends its priority to the holder, and the
// busy task in the middle can no longer get between the two.
// expect: holds
// plain: states=22 transitions=22
// property done: holds
// property undisturbed: holds

bool locked;
byte owner;
byte ticks;
bool urgent_waits, urgent_done;

active proctype Idle() priority 1 {
    atomic { !locked -> locked = true; owner = _pid };
    skip;
    atomic { locked = false; set_priority(_pid, 1) }
}

active proctype Busy() priority 2 {
    urgent_waits;
    do
    :: ticks < 3 -> ticks++
    :: else -> break
    od
}

active proctype Urgent() priority 3 {
    locked;
    d_step {
        urgent_waits = true;
        set_priority(owner, get_priority(_pid))     // lends it
    };
    atomic { !locked -> locked = true };
    urgent_done = true;
    assert(ticks == 0);
    locked = false
}

ltl done { <> urgent_done }
ltl undisturbed { [] (ticks > 0 -> urgent_done) }
