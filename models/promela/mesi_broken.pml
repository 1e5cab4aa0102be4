// The MESI bus with a race: a processor sees that its line is shared, asks for the bus and
// then writes as if it still had the line, although someone else has written meanwhile.
// expect: violated assertion preemptions=1 steps=7
// plain: states=61 transitions=83

#define N 2

mtype = { M, E, S, I };

mtype state[N] = S;         // both start with a clean copy
byte value[N];
byte memory, latest;

active [N] proctype Processor() {
    byte other = 1 - _pid, old;

    // increment the value in the cache
    if
    :: state[_pid] == S ->
       old = value[_pid];               // reads its copy ...
       d_step {                         // ... and upgrades: no data on the bus
           if
           :: state[other] == M -> memory = value[other]
           :: else
           fi;
           state[other] = I;
           state[_pid] = M
       };
    :: state[_pid] == I ->
       d_step {
           if
           :: state[other] == M -> memory = value[other]
           :: else
           fi;
           state[other] = I;
           state[_pid] = M;
           old = memory
       }
    fi;
    d_step {
        assert(old == latest);          // nobody has written since
        value[_pid] = old + 1;
        latest = old + 1
    }
}
