// Snooping caches on a bus of messages: processors hand requests to their caches by
// rendezvous, the bus serves one cache at a time and tells the other to give way.
// expect: holds
// plain: states=779 transitions=1819

#define N 2

mtype = { read, write, done };              // a processor and its cache
mtype = { fetch, own, give_way, data };     // a cache and the bus
mtype:line = { invalid, shared, modified };

chan request[N] = [0] of { mtype };
chan reply[N] = [0] of { mtype };
chan bus = [0] of { mtype, byte };          // what, and who asks
chan grant[N] = [0] of { mtype };
chan snoop[N] = [0] of { mtype };
chan answer = [0] of { mtype };

mtype:line line[N] = invalid;

active [N] proctype Processor() {
    do
    :: request[_pid]!read; reply[_pid]?done
    :: request[_pid]!write; reply[_pid]?done
    od
}

active [N] proctype Cache() {
    byte me = _pid - N;
    mtype what;

end:
    do
    :: request[me]?what ->
       if
       :: what == read && line[me] != invalid      // a hit
       :: what == write && line[me] == modified    // a hit
       :: else ->
          // while we wait for the bus, it may ask us to give way
          do
          :: snoop[me]?give_way -> line[me] = invalid; answer!done
          :: bus!(what == read -> fetch : own), me -> break
          od;
          grant[me]?data;
          line[me] = (what == read -> shared : modified)
       fi;
       assert(line[me] != modified || line[1 - me] == invalid);
       what = 0;
       reply[me]!done
    :: snoop[me]?give_way ->
       line[me] = invalid;
       answer!done
    od
}

active proctype Bus() {
    mtype what;
    byte who;

end:
    do
    :: bus?what, who ->
       snoop[1 - who]!give_way;
       answer?done;
       grant[who]!data;
       what = 0;
       who = 0
    od
}
