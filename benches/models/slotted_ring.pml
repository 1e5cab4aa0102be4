/* A ring of stations and one slot that goes round: a station may fill an empty slot, the addressee marks it as read or
   busy, and the station that filled it empties it when it comes back. */
#define N 3
#define EMPTY N

chan ring[N] = [1] of { byte, byte, byte };     // from, to, answer

active [N] proctype Station() {
    byte from, to, answer, waits;
    bool deaf;

    if
    :: _pid == 0 -> ring[1]!EMPTY, 0, 0
    :: else
    fi;
end:
    do
    :: ring[_pid]?from, to, answer ->
       if
       :: from == EMPTY && !waits ->
          if
          :: to = (_pid + 1) % N; from = _pid; waits = 1
          :: to = (_pid + 2) % N; from = _pid; waits = 1
          :: skip
          fi;
          answer = 0
       :: from == _pid ->
          assert(waits);
          waits = (answer == 2 -> 1 : 0);
          if
          :: waits -> answer = 0
          :: else -> from = EMPTY; to = 0; answer = 0
          fi
       :: from != EMPTY && from != _pid && to == _pid ->
          answer = (deaf -> 2 : 1)
       :: else
       fi;
       ring[(_pid + 1) % N]!from, to, answer;
       from = 0; to = 0; answer = 0
    :: deaf = !deaf
    od
}
