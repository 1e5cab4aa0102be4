/* Anderson's queue lock for N processes, as in models/boolean/anderson_N.bp. ERROR=1 clears the slot before its own. */
#ifndef N
#define N 6
#endif
#ifndef ERROR
#define ERROR 0
#endif
bool slot[N];
unsigned next : 5;
bool critical;

proctype process() {
  unsigned place : 5;
noncritical:
  atomic { place = next; next = next + 1 }
  if
  :: atomic { place == N - 1 -> next = next - N }
  :: atomic { place != N - 1 -> place = place % N }
  fi;
  slot[place];
  atomic {
    slot[(ERROR -> (place + N - 1) % N : place)] = 0;
    assert(!critical);
    critical = 1
  }
  atomic { slot[(place + 1) % N] = 1; critical = 0 }
  goto noncritical
}

init {
  byte i;
  atomic {
    slot[0] = 1;
    for (i : 1 .. N) { run process() }
    i = 0
  }
}
