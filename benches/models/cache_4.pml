/* Four caches of one line, which share a bus: a read miss takes a copy, a write takes the line away from the others.
   The bus is a lock; a cache that hears of somebody else's wish gives way at its own time. */
mtype = { invalid, shared, modified };

#define N 4

mtype line[N] = invalid;
bool asked_to_share[N], asked_to_leave[N];
bool bus;
byte copy[N], memory;

inline answer() {
    if
    :: atomic { asked_to_share[_pid] ->
       memory = copy[_pid];
       line[_pid] = shared;
       asked_to_share[_pid] = false }
    :: atomic { asked_to_leave[_pid] ->
       if
       :: line[_pid] == modified -> memory = copy[_pid]
       :: else
       fi;
       line[_pid] = invalid;
       copy[_pid] = 0;
       asked_to_leave[_pid] = false }
    fi
}

inline take_bus() {
    do
    :: atomic { !bus -> bus = true }; break
    :: answer()
    od
}

active [N] proctype Cache() {
    byte other;

    do
    :: line[_pid] == invalid ->                         // read miss
       take_bus();
       do
       :: other < N && line[other] == modified ->
          asked_to_share[other] = true;
          !asked_to_share[other];
          other++
       :: other < N && line[other] != modified -> other++
       :: other == N -> break
       od;
       copy[_pid] = memory;
       line[_pid] = shared;
       other = 0;
       bus = false
    :: line[_pid] != modified ->                        // write
       take_bus();
       do
       :: other < N && other != _pid && line[other] != invalid ->
          asked_to_leave[other] = true;
          !asked_to_leave[other];
          other++
       :: other < N && (other == _pid || line[other] == invalid) -> other++
       :: other == N -> break
       od;
       line[_pid] = modified;
       copy[_pid] = 1 - memory;
       other = 0;
       bus = false
    :: answer()
    od
}
