// The non-blocking queue of Michael and Scott: link a node behind the last one with a
// compare-and-swap, then swing the tail; whoever finds it lagging helps to swing it.
// expect: holds
// warns: `_nr_pr` counts the claim, too, where a claim or formula is asked for
// plain: states=10050 transitions=25511
// property never_ahead: holds
// property ends: holds under weak fairness

#define NODES 3         // node 0 is the dummy, node i belongs to enqueuer i
#define NIL   NODES

byte next[NODES] = NIL;
byte head, tail;
byte taken[NODES];      // how often each node was dequeued

#define cas(place, old, new, success) \
    d_step { if :: place == old -> place = new; success = true :: else -> success = false fi }

proctype Enqueuer(byte node) {
    byte last, after;
    bool swapped;

    do
    :: last = tail;
       after = next[last];
       if
       :: last != tail                          // it moved while we looked
       :: else ->
          if
          :: after == NIL ->
             cas(next[last], NIL, node, swapped);
             if
             :: swapped -> break
             :: else
             fi
          :: else -> cas(tail, last, after, swapped)      // help
          fi
       fi
    od;
    after = NIL;
    cas(tail, last, node, swapped)
}

proctype Dequeuer(byte items) {
    byte first, last, after;
    bool swapped;

    do
    :: items > 0 ->
       first = head;
       last = tail;
       after = next[first];
       if
       :: first != head
       :: else ->
          if
          :: first == last && after == NIL -> skip        // empty: look again
          :: first == last && after != NIL -> cas(tail, last, after, swapped)
          :: else ->
             cas(head, first, after, swapped);
             if
             :: swapped ->
                taken[after]++;
                assert(taken[after] == 1);
                items--
             :: else
             fi
          fi
       fi
    :: else -> break
    od
}

init {
    atomic {
        run Enqueuer(1);
        run Enqueuer(2);
        run Dequeuer(2)
    };
    _nr_pr == 1;                                // all have ended
    assert(taken[1] == 1 && taken[2] == 1 && head == tail)
}

ltl never_ahead { [] (head != NIL && tail != NIL) }
// An impatient dequeuer finds the queue empty again and again, and nobody else moves.
ltl ends { <> (taken[1] == 1 && taken[2] == 1) }
