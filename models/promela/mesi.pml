// One cache line under the MESI protocol: modified, exclusive, shared or invalid in each
// cache. A bus transaction is one step in which all other caches snoop.
// expect: holds
// plain: states=126 transitions=709
// property one_owner: holds
// property memory_fresh: holds
// property used: holds under weak fairness

#define N 3

mtype = { M, E, S, I };

typedef Line {
    mtype state = I;
    bit value
};

Line cache[N];
bit memory;
bit latest;         // the last value written by anyone

// Every cache but ours sees a read; the owner writes back. Do others share the line?
inline bus_read() {
    d_step {
        cache[_pid].state = E;
        for (j : 0 .. N - 1) {
            if
            :: j != _pid && cache[j].state != I ->
               if
               :: cache[j].state == M -> memory = cache[j].value
               :: else
               fi;
               cache[j].state = S;
               cache[_pid].state = S
            :: else
            fi
        }
        cache[_pid].value = memory;
        j = 0
    }
}

// Every cache but ours gives the line up.
inline bus_read_exclusive() {
    d_step {
        for (j : 0 .. N - 1) {
            if
            :: j != _pid ->
               cache[j].state = I;
               cache[j].value = 0
            :: else
            fi
        }
        cache[_pid].state = M;
        j = 0
    }
}

active [N] proctype Processor() {
    byte j;

    do
    :: cache[_pid].state == I -> bus_read()
    :: atomic {                                 // a hit
           cache[_pid].state != I ->
           assert(cache[_pid].value == latest)
       }
    :: atomic {
           if
           :: cache[_pid].state == S || cache[_pid].state == I -> bus_read_exclusive()
           :: cache[_pid].state == E -> cache[_pid].state = M     // silently
           :: else
           fi;
           latest = 1 - latest;
           cache[_pid].value = latest
       }
    :: atomic {                                 // evicted
           cache[_pid].state != I ->
           if
           :: cache[_pid].state == M -> memory = cache[_pid].value
           :: else
           fi;
           cache[_pid].state = I;
           cache[_pid].value = 0
       }
    od
}

#define owns(i) (cache[i].state == M || cache[i].state == E)

ltl one_owner { [] (!(owns(0) && cache[1].state != I) && !(owns(0) && cache[2].state != I)) }
ltl memory_fresh { [] ((cache[0].state == E) -> (memory == latest)) }
ltl used { []<> (cache[0].state != I) }
