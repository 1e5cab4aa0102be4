/* Msmie: S slaves hand data to M masters through N buffers, as in models/boolean/msmie_N_S_M.bp. */
#ifndef N
#define N 5
#endif
#ifndef S
#define S 10
#endif
#ifndef M
#define M 10
#endif
#if N == 2
#define any(x) (b[0] == x || b[1] == x)
#elif N == 3
#define any(x) (b[0] == x || b[1] == x || b[2] == x)
#else
#define any(x) (b[0] == x || b[1] == x || b[2] == x || b[3] == x || b[4] == x)
#endif
#define idle 0
#define newest 1
#define slaves 2
#define masters 3

byte b[N];
byte readers;
bool free = 1;
bool newer;

/* One buffer that is `x` becomes `y`, in one step, whichever it is. */
#define one(i, x, y) atomic { b[i] == x -> b[i] = y }
#if N == 2
#define some(x, y) :: one(0, x, y) :: one(1, x, y)
#elif N == 3
#define some(x, y) :: one(0, x, y) :: one(1, x, y) :: one(2, x, y)
#else
#define some(x, y) :: one(0, x, y) :: one(1, x, y) :: one(2, x, y) :: one(3, x, y) :: one(4, x, y)
#endif

proctype slave() {
again:
  atomic { free -> free = 0 }
  if some(newest, idle) :: !any(newest) fi;
  if some(slaves, newest) :: !any(slaves) -> goto error fi;
  if some(idle, slaves) :: !any(idle) -> goto error fi;
  free = 1;
  goto again;
error:
  assert(false);
  goto error
}

#define claim(i) atomic { !any(masters) && b[i] == newest -> b[i] = masters }
proctype master() {
again:
  atomic { free -> free = 0 }
  if
  :: any(masters)
  :: !any(masters) && !any(newest) -> free = 1; goto again
  :: claim(0)
  :: claim(1)
#if N > 2
  :: claim(2)
#endif
#if N > 3
  :: claim(3)
  :: claim(4)
#endif
  fi;
  readers++;
  free = 1;
  atomic { free -> free = 0 }
  readers--;
  if
  :: readers != 0
  :: atomic { readers == 0 -> newer = any(newest) }
    if some(masters, (newer -> idle : newest)) fi
  fi;
  free = 1;
  goto again
}

init {
  byte i;
  atomic { b[N - 1] = slaves }
  atomic {
    for (i : 1 .. S) { run slave() }
    for (i : 1 .. M) { run master() }
    i = 0
  }
}
