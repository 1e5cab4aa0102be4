/* N philosophers at a round table, each with the left fork first, so that all may wait for ever; with FIXED=1 they sit down one
   fewer at a time. */
#ifndef N
#define N 4
#endif
#ifndef FIXED
#define FIXED 0
#endif

bool taken[N];
byte seated;

active [N] proctype Philosopher() {
    do
    :: atomic { seated < N - FIXED -> seated++ };
       atomic { !taken[_pid] -> taken[_pid] = true };
       atomic { !taken[(_pid + 1) % N] -> taken[(_pid + 1) % N] = true };
       taken[(_pid + 1) % N] = false;
       taken[_pid] = false;
       seated--
    od
}
