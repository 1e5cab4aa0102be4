// Leader election in a ring (Chang and Roberts): every node sends its name around and
// swallows names smaller than its own. Only the largest name comes back home.
// expect: holds
// plain: states=1894 transitions=5104
// property elected: holds
// property all_informed: holds
// property one_leader: holds

#define N 4

mtype = { candidate, leader };

chan ring[N] = [N] of { mtype, byte };
byte leaders;       // how many nodes believe that they were elected
byte informed;      // how many nodes know the outcome

proctype Node(byte place; byte name) {
    byte other;
    chan from = ring[place];
    chan to = ring[(place + 1) % N];

    to!candidate(name);
    do
    :: from?candidate(other) ->
       if
       :: other > name -> to!candidate(other)
       :: other < name -> skip                  // swallowed
       :: other == name ->
          leaders++;
          assert(leaders == 1);
          to!leader(name);
          from?leader(eval(name));              // our own news, all the way round
          break
       fi
    :: from?leader(other) ->
       to!leader(other);
       break
    od;
    informed++
}

init {
    byte place, rotation;

    select(rotation : 0 .. N - 1);              // where the largest name sits
    atomic {
        for (place : 0 .. N - 1) {
            run Node(place, (place + rotation) % N + 1)
        }
    }
}

ltl elected { <> (leaders == 1) }
ltl all_informed { <> (informed == N) }
ltl one_leader { [] (leaders <= 1) }
