// A lock-free stack (Treiber) that reuses its nodes. Pop reads the top and its successor,
// then swaps; if the same node has come back meanwhile, the successor is stale: ABA.
// expect: violated assertion preemptions=1 steps=41
// plain: states=861 transitions=1550

#define NODES 2
#define NIL   NODES

byte next[NODES];
byte top;
byte users[NODES];      // how many processes hold a node

inline pop() {
    do
    :: mine = top;
       if
       :: mine == NIL -> break
       :: else
       fi;
       after = next[mine];
       d_step {                             // compare and swap
           if
           :: top == mine -> top = after; swapped = true
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
    :: after = top;
       next[mine] = after;
       d_step {
           if
           :: top == after -> top = mine; swapped = true
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
    byte mine = NIL, after = NIL;
    bool swapped;

    pop();
    pop()
}

// Takes both nodes and returns the first one: the same top, another successor.
proctype Juggler() {
    byte mine = NIL, after = NIL, first = NIL;
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
