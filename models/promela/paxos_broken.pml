// Paxos with a proposer that insists on its own value although an acceptor has told it of
// another one: two majorities can choose two values.
// expect: violated assertion preemptions=0 steps=54
// plain: states=62968 transitions=129103

#define ACCEPTORS 3
#define MAJORITY  2
#define NONE      0

typedef Acceptor {
    byte promised;      // the highest ballot heard of
    byte ballot;        // the ballot of the accepted value, 0 if there is none
    byte value
};

Acceptor acceptor[ACCEPTORS];
byte chosen = NONE;

// An exchange with one acceptor: request and answer arrive together, or are both lost.
inline prepare(a) {
    d_step {
        if
        :: acceptor[a].promised < ballot ->
           acceptor[a].promised = ballot;
           promises++                      // and whatever was accepted is forgotten
        :: else
        fi
    }
}

inline accept(a) {
    d_step {
        if
        :: acceptor[a].promised <= ballot ->
           acceptor[a].promised = ballot;
           acceptor[a].ballot = ballot;
           acceptor[a].value = value;
           accepts++
        :: else
        fi
    }
}

proctype Proposer(byte ballot; byte value) {
    byte a, promises, accepts;

    for (a : 0 .. ACCEPTORS - 1) {
        if
        :: prepare(a)
        :: skip                             // lost
        fi
    }
    if
    :: promises < MAJORITY -> goto done     // gives up
    :: else
    fi;
    for (a : 0 .. ACCEPTORS - 1) {
        if
        :: accept(a)
        :: skip                             // lost
        fi
    }
    if
    :: accepts >= MAJORITY ->
       assert(chosen == NONE || chosen == value);
       chosen = value
    :: else
    fi;
done:
    skip
}

init {
    atomic {
        run Proposer(1, 7);
        run Proposer(2, 8)
    }
}
