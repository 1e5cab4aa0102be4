// A search that relies on a sentinel and so tests the element before the bound. When the
// sentinel is moved behind the searcher's back, it runs off the end: a run-time error, found
// without any assertion.
// expect: violated runtime-error preemptions=1 steps=17
// plain: states=97 transitions=153

#define SIZE     3
#define SENTINEL 9

byte a[SIZE] = { 0, 0, SENTINEL };

active proctype Searcher() {
    byte i;

    do
    :: a[i] == SENTINEL -> break
    :: i < SIZE && a[i] != SENTINEL -> i++
    od
}

active proctype Mover() {
    byte at = SIZE - 1;

    do
    :: at > 0 ->                        // it wanders to the front
       a[at - 1] = SENTINEL;
       a[at] = 0;
       at--
    :: else -> break
    od
}
