// The lock-free stack with a version beside its top: every swap raises it, so a node that
// left and came back is not taken for the one that was read.
// expect: holds
// plain: states=835 transitions=1511

#define NODES 2
#define NIL   NODES

byte next[NODES];
byte top, version;
byte users[NODES];      // how many processes hold a node

inline pop() {
    do
    :: d_step { mine = top; seen = version };      // both in one word
       if
       :: mine == NIL -> break
       :: else
       fi;
       after = next[mine];
       d_step {                             // compare and swap
           if
           :: top == mine && version == seen ->
              top = after;
              version++;
              swapped = true
           :: else -> swapped = false
           fi
       };
       if
       :: swapped -> users[mine]++; assert(users[mine] == 1); break
       :: else
       fi
    od
}

inline push() {
    users[mine]--;
    do
    :: d_step { after = top; seen = version };
       next[mine] = after;
       d_step {
           if
           :: top == after && version == seen ->
              top = mine;
              version++;
              swapped = true
           :: else -> swapped = false
           fi
       };
       if
       :: swapped -> break
       :: else
       fi
    od
}

// Wants two nodes, whatever comes first.
proctype Taker() {
    byte mine = NIL, after = NIL, seen;
    bool swapped;

    pop();
    pop()
}

// Takes both nodes and returns the first one: the same top, another successor.
proctype Juggler() {
    byte mine = NIL, after = NIL, first = NIL, seen;
    bool swapped;

    pop();
    first = mine;
    pop();
    if
    :: first != NIL && mine != NIL ->
       mine = first;
       push()
    :: else
    fi
}

init {
    atomic {
        next[0] = 1;                        // top -> 0 -> 1
        next[1] = NIL;
        run Taker();
        run Juggler()
    }
}
