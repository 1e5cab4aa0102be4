// A barrier that waits for a count: the last to arrive resets it, and who was slow to look
// finds zero and waits for a round that never comes.
// expect: violated deadlock preemptions=0 steps=11
// plain: states=78 transitions=110

#define N      2
#define ROUNDS 2

byte arrived;
byte round[N];

active [N] proctype Worker() {
    do
    :: round[_pid] < ROUNDS ->
       round[_pid]++;
       arrived++;
       arrived == N;                        // all here?
       arrived = 0                          // for the next round
    :: else -> break
    od
}
