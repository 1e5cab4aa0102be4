/* Lamport's bakery for N processes with tickets up to MAX, as in models/boolean/bakery_N_MAX.bp. ERROR=1 compares the
   wrong way round. */
#ifndef N
#define N 4
#endif
#ifndef MAX
#define MAX 7
#endif
#ifndef ERROR
#define ERROR 0
#endif
#if ERROR == 1
#define later(a, b) (a < b)
#else
#define later(a, b) (a > b)
#endif

bool choosing[N];
byte number[N];
bool critical;

active [N] proctype process() {
  byte j, max;
noncritical:
  atomic { choosing[_pid] = 1; j = 0; max = 0 }
choose:
  if
  :: atomic { j < N && number[j] > max -> max = number[j]; j++ } goto choose
  :: atomic { j < N && number[j] <= max -> j++ } goto choose
  :: atomic { j == N && max < MAX -> number[_pid] = max + 1; j = 0; choosing[_pid] = 0 }
  fi;
next:
  if
  :: j < N && !choosing[j]
  :: atomic { j == N -> assert(!critical); critical = 1 } goto inside
  fi;
  atomic {
    number[j] == 0 || later(number[j], number[_pid]) || (number[j] == number[_pid] && _pid <= j) -> j++
  }
  goto next;
inside:
  atomic { number[_pid] = 0; critical = 0 }
  goto noncritical
}
