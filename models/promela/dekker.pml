// Dekker's algorithm, the first correct mutual exclusion with nothing but reads and
// writes. A process that wants to enter is served, provided that the scheduler is fair.
// expect: holds
// plain: states=146 transitions=275
// property exclusion: holds
// property served: holds under weak fairness
// property someone_served: holds under weak fairness

bool want[2];
byte turn;
byte inside;

active [2] proctype P() {
    byte other = 1 - _pid;

    do
    :: want[_pid] = true;
       do
       :: want[other] ->
          if
          :: turn == other ->
             want[_pid] = false;    // step back and let the other one pass
             turn == _pid;
             want[_pid] = true
          :: else
          fi
       :: else -> break
       od;
critical:
       inside++;
       assert(inside == 1);
       inside--;
       turn = other;
       want[_pid] = false
    od
}

ltl exclusion { [] !(P[0]@critical && P[1]@critical) }
ltl served { [] (want[0] -> <> P[0]@critical) }
ltl someone_served { [] ((want[0] || want[1]) -> <> (P[0]@critical || P[1]@critical)) }
