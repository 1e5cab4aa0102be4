// Initialise once, with the test repeated under the lock, but with the flag set before the
// work is done: a reader that takes the short way sees nothing.
// expect: violated assertion preemptions=1 steps=7
// plain: states=79 transitions=129

bool ready, locked;
byte value;                 // 0: not initialised
byte initialised;           // how often

active [2] proctype User() {
    if
    :: ready                                // the short way
    :: else ->
       atomic { !locked -> locked = true };
       if
       :: ready
       :: else ->
          ready = true;                     // too early by one line
          value = 42;
          initialised++
       fi;
       locked = false
    fi;
    assert(value == 42);
    assert(initialised <= 1)
}
