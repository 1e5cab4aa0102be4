/* Peterson's algorithm for N processes, as in models/boolean/peterson_N.bp. ERROR=1 waits for those that are level too
   little. */
#ifndef N
#define N 4
#endif
#ifndef ERROR
#define ERROR 0
#endif
#if ERROR == 1
#define below(a, b) (a <= b)
#else
#define below(a, b) (a < b)
#endif

byte pos[N];
byte step[N];
bool critical;

active [N] proctype process() {
  byte j, k;
noncritical:
  j = 1;
wait:
  if
  :: atomic { j < N -> pos[_pid] = j }
  :: atomic { j == N -> assert(!critical); critical = 1 } goto inside
  fi;
  atomic { step[j - 1] = _pid; k = 0 }
look:
  if
  :: atomic { k < N && (k == _pid || below(pos[k], j)) -> k++ } goto look
  :: atomic { step[j - 1] != _pid || k == N -> j++ } goto wait
  fi;
inside:
  atomic { pos[_pid] = 0; critical = 0 }
  goto noncritical
}
