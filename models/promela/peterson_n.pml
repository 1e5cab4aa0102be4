// Peterson's algorithm for N processes (the filter lock): N-1 waiting rooms, and each
// room keeps back whoever entered it last.
// expect: holds
// plain: states=3162 transitions=8221
// property exclusion: holds
// property always_someone: holds
// property served: holds under weak fairness

#define N 3

byte room[N];       // how far each process has come; 0 is outside
byte last[N];       // who entered room r last (last[0] is not used)
byte inside;

// Is anyone else in room r or further?
#define crowded(r) \
    ((_pid != 0 && room[0] >= r) || (_pid != 1 && room[1] >= r) || (_pid != 2 && room[2] >= r))

active [N] proctype P() {
    byte r;

    do
    :: for (r : 1 .. N - 1) {
           room[_pid] = r;
           last[r] = _pid;
           (last[r] != _pid || !crowded(r))
       }
       inside++;
       assert(inside == 1);
critical:
       inside--;
       room[_pid] = 0;
       r = 0
    od
}

ltl exclusion { [] (inside <= 1) }
ltl always_someone { []<> (inside == 1) }
ltl served { [] (room[0] == 1 -> <> P[0]@critical) }
