// A linked queue that tests the last node's link and sets it in two steps: two enqueuers
// hang their nodes on the same one, and the first is lost.
// expect: violated assertion preemptions=1 steps=18
// plain: states=108 transitions=128

#define NODES 3
#define NIL   NODES

byte next[NODES] = NIL;
byte tail;

proctype Enqueuer(byte node) {
    byte last;

    do
    :: last = tail;
       if
       :: next[last] == NIL ->
          next[last] = node;            // should be a compare-and-swap
          break
       :: else
       fi
    od;
    tail = node
}

init {
    byte node, length;

    atomic {
        run Enqueuer(1);
        run Enqueuer(2)
    };
    _nr_pr == 1;
    do
    :: next[node] != NIL -> node = next[node]; length++
    :: else -> break
    od;
    assert(length == 2)
}
