// The queue of Michael and Scott without its help: whoever finds the tail lagging behind waits
// until the one who linked the last node has swung it. If that one is stopped in between, the
// others try for ever: what looks free of locks has a lock, the link. A fair scheduler hides it.
// expect: holds
// plain: states=786 transitions=1882
// property everybody_is_served: holds under weak fairness
// property non-progress: holds under weak fairness

#define NODES 3                 // node 0 is the dummy, node i belongs to enqueuer i - 1
#define NIL   NODES

byte next[NODES] = NIL;
byte head, tail;
byte served;                    // operations that are done

#define cas(place, old, new, success) \
    d_step { if :: place == old -> place = new; success = true :: else -> success = false fi }

active [2] proctype Enqueuer() {
    byte last;
    bool swapped;

    do
    :: last = tail;
       if
       :: next[last] == NIL ->
          cas(next[last], NIL, _pid + 1, swapped);
          if
          :: swapped -> break
          :: else
          fi
       :: else                                  // the tail will be swung, some time
       fi
    od;
    tail = _pid + 1;
progress:
    served++
}

active proctype Dequeuer() {
    byte first, after;
    bool swapped;

    do
    :: first = head;
       after = next[first];
       if
       :: after == NIL -> break                 // empty
       :: after != NIL && first == tail         // the tail will be swung, some time
       :: else ->
          cas(head, first, after, swapped);
          if
          :: swapped -> break
          :: else
          fi
       fi
    od;
progress:
    served++
}

ltl everybody_is_served { <> (served == 3) }
