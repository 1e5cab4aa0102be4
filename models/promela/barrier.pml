// A barrier that can be used again: the last to arrive turns the sense round, and the
// others wait for that turn, not for a count that the next round already changes.
// expect: holds
// plain: states=20594 transitions=58366

#define N      3
#define ROUNDS 2

byte arrived;
bool sense;
byte round[N];

active [N] proctype Worker() {
    bool mine;
    byte j;

    do
    :: round[_pid] < ROUNDS ->
       round[_pid]++;                       // does this round's work
       mine = !mine;
       d_step { arrived++; j = arrived };
       if
       :: j == N ->
          arrived = 0;
          sense = mine
       :: else ->
          sense == mine
       fi;
       // nobody is a round behind, nor more than one ahead
       for (j : 0 .. N - 1) {
           assert(round[j] == round[_pid] || round[j] == round[_pid] + 1)
       }
       j = 0
    :: else -> break
    od
}
