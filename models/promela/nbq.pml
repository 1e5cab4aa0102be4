// A faulty non-blocking queue in an array (the kind of example measured by Holzmann and
// Florian): enqueue claims a slot by moving the tail and fills it later. One preemption
// between the two, and a dequeuer takes a slot that is still empty.
// expect: violated assertion preemptions=1 steps=11
// plain: states=5937 transitions=18464

#define SLOTS 3
#define NOTHING 0

byte slot[SLOTS];
byte head, tail;        // both only grow, so no slot is used twice

inline compare_and_swap(place, old, new, success) {
    d_step {
        if
        :: place == old -> place = new; success = true
        :: else -> success = false
        fi
    }
}

proctype Enqueuer(byte item) {
    byte t;
    bool mine;

    do
    :: t = tail;
       compare_and_swap(tail, t, t + 1, mine);
       if
       :: mine -> break
       :: else
       fi
    od;
    slot[t] = item
}

proctype Dequeuer() {
    byte h;
    bool mine;

    do
    :: h = head;
       if
       :: h < tail ->
          compare_and_swap(head, h, h + 1, mine);
          if
          :: mine -> break
          :: else
          fi
       :: else -> goto end_empty
       fi
    od;
    assert(slot[h] != NOTHING);
end_empty:
    skip
}

init {
    atomic {
        run Enqueuer(7);
        run Enqueuer(8);
        run Dequeuer();
        run Dequeuer()
    }
}
