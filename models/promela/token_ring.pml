// Mutual exclusion by a token that travels round a ring of rendezvous channels: only its
// holder may work, and since it never stops, everyone's turn comes.
// expect: holds
// plain: states=68 transitions=157
// property exclusion: holds
// property turn_comes: holds
// property works: violated

#define N 4

chan link[N] = [0] of { bit };
byte working;

active [N] proctype Station() {
    // station 0 starts with the token
    if
    :: _pid == 0 -> goto holds_token
    :: else
    fi;

end:
    do
    :: link[_pid]?1 ->
holds_token:
       if
       :: working++;
          assert(working == 1);
works:
          working--
       :: skip                              // nothing to do
       fi;
       link[(_pid + 1) % N]!1
    od
}

ltl exclusion { [] (working <= 1) }
ltl turn_comes { []<> Station[2]@holds_token }
ltl works { []<> Station[2]@works }
