// Two-phase commit with an impatient participant: who has voted yes and waits too long
// aborts alone. The clock is no `timeout` of the whole system here, it can strike any time.
// expect: violated assertion preemptions=1 steps=38
// plain: states=2648 transitions=6820

#define N 2

mtype = { prepare, yes, no, commit, abort };
mtype:outcome = { open, committed, aborted };

chan to[N] = [2] of { mtype };
chan votes = [N] of { mtype };
mtype:outcome outcome[N] = open;

active [N] proctype Participant() {
    to[_pid]?prepare;
    if
    :: votes!yes;
       if
       :: to[_pid]?commit -> outcome[_pid] = committed
       :: to[_pid]?abort -> outcome[_pid] = aborted
       :: empty(to[_pid]) -> outcome[_pid] = aborted        // has waited long enough
       fi
    :: votes!no -> outcome[_pid] = aborted
    fi;
    assert(!(outcome[0] == committed && outcome[1] == aborted));
    assert(!(outcome[0] == aborted && outcome[1] == committed))
}

active proctype Coordinator() {
    byte i, agreed;

    for (i in to) {
        to[i]!prepare
    }
    for (i : 0 .. N - 1) {
        if
        :: votes?yes -> agreed++
        :: votes?no
        fi
    }
    for (i in to) {
        to[i]!(agreed == N -> commit : abort)
    }
}
