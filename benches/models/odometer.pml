/* Three wheels that turn independently, and a lock that two of them share: N * N * N positions, each of them with and
   without a holder of the lock. -DN=99 has about a million states, -DN=271 about twenty million. */
#ifndef N
#define N 271
#endif

bool busy;

active [2] proctype Wheel() {
    short position;
    do
    :: position = (position + 1) % N
    :: atomic { position == 0 && !busy -> busy = true };
       busy = false
    od
}

active proctype Free() {
    short position;
    do
    :: position = (position + 1) % N
    od
}
