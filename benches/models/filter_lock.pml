/* Peterson's lock for N processes, with the look at all others as one step: how many have come so far is counted. With ERROR=1
   one level is missing. */
#ifndef N
#define N 4
#endif
#ifndef ERROR
#define ERROR 0
#endif

byte last[N] = 255;  /* who came to this level last */
byte reached[N];     /* how many have come to it */
byte inside;

active [N] proctype Process() {
    byte level;

    do
    :: level = 1;
       do
       :: level < N - ERROR ->
          atomic { reached[level]++; last[level] = _pid };
          atomic { last[level] != _pid || reached[level] == 1 -> level++ }
       :: else -> break
       od;
       inside++;
       assert(inside == 1);
       inside--;
       do
       :: level > 1 -> atomic { level--; reached[level]-- }
       :: else -> break
       od
    od
}
