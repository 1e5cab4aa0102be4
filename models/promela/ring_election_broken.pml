// The same election with a name given twice: both bearers see it come home, and there
// are two leaders. No preemption is needed, since messages decide who runs.
// expect: violated assertion preemptions=0 steps=20
// plain: states=166 transitions=332

#define N 3

mtype = { candidate, leader };

chan ring[N] = [N] of { mtype, byte };
byte leaders;

proctype Node(byte place; byte name) {
    byte other;

    ring[(place + 1) % N]!candidate(name);
    do
    :: ring[place]?candidate(other) ->
       if
       :: other > name -> ring[(place + 1) % N]!candidate(other)
       :: other < name
       :: other == name ->
          leaders++;
          assert(leaders == 1);
          ring[(place + 1) % N]!leader(name)
       fi
    :: ring[place]?leader(other) ->
       if
       :: other != name -> ring[(place + 1) % N]!leader(other)
       :: else
       fi;
       break
    od
}

init {
    atomic {
        run Node(0, 7);
        run Node(1, 5);
        run Node(2, 7)
    }
}
