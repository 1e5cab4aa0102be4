// The queue lock of Mellor-Crummey and Scott: every waiting process spins on a flag of
// its own, and the holder hands the lock to its successor.
// expect: holds
// plain: states=5524 transitions=15091

#define N 3
#define NIL N

typedef Node {
    byte next = NIL;
    bool locked
};

Node node[N];
byte tail = NIL;
byte inside;

inline swap(old, new) {
    d_step { old = tail; tail = new }
}

inline compare_and_swap(old, new, success) {
    d_step {
        if
        :: tail == old -> tail = new; success = true
        :: else -> success = false
        fi
    }
}

active [N] proctype P() {
    byte before = NIL;
    bool done;

    do
    :: // acquire: join the queue, then wait until the one before hands over
       node[_pid].next = NIL;
       swap(before, _pid);
       if
       :: before != NIL ->
          node[_pid].locked = true;
          node[before].next = _pid;
          !node[_pid].locked
       :: else
       fi;
       before = NIL;

       inside++;
       assert(inside == 1);
       inside--;

       // release: if nobody follows, try to leave the queue empty
       if
       :: node[_pid].next == NIL ->
          compare_and_swap(_pid, NIL, done);
          if
          :: done -> goto free
          :: else -> node[_pid].next != NIL     // someone is just joining
          fi
       :: else
       fi;
       node[node[_pid].next].locked = false;
free:
       done = false
    od
}
