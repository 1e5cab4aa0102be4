// The queue of Michael and Scott with operations that are done once: whoever finds the tail
// lagging behind swings it himself. Wherever the others are stopped, somebody gets on, and so
// everybody is served, under any scheduler. Its twin is ms_queue_unhelpful.
// expect: holds
// plain: states=3022 transitions=7661
// property everybody_is_served: holds
// property non-progress: holds

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
       :: else -> cas(tail, last, next[last], swapped)    // help
       fi
    od;
    swapped = false;
    cas(tail, last, _pid + 1, swapped);
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
       :: after != NIL && first == tail -> cas(tail, first, after, swapped)       // help
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
