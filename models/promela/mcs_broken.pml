// The MCS lock whose release looks whether somebody follows and then simply empties the
// queue: a process that joins in between is forgotten and waits forever.
// expect: violated deadlock preemptions=1 steps=11
// plain: states=123 transitions=184

#define N 2
#define NIL N

byte next[N] = NIL;
bool locked[N];
byte tail = NIL;
byte inside;

active [N] proctype P() {
    byte before;

    d_step { before = tail; tail = _pid };
    if
    :: before != NIL ->
       locked[_pid] = true;
       next[before] = _pid;
       !locked[_pid]
    :: else
    fi;

    inside++;
    assert(inside == 1);
    inside--;

    if
    :: next[_pid] == NIL -> tail = NIL      // should be a compare-and-swap
    :: else -> locked[next[_pid]] = false
    fi
}
