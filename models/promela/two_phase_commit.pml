// Two-phase commit: all vote, the coordinator decides, all obey. Nobody commits what
// another one aborts; but when the coordinator dies after the votes, the others wait forever.
// expect: holds
// plain: states=545 transitions=1279
// property consistent: holds
// property obedient: holds
// property not_before: holds
// property terminates: violated
// property terminates_if_alive: holds

#define N 2

mtype = { prepare, yes, no, commit, abort };
mtype:outcome = { open, committed, aborted };

chan to[N] = [2] of { mtype };
chan votes = [N] of { mtype };
mtype:outcome outcome[N] = open;
mtype:outcome decision = open;
bool crashed;

active [N] proctype Participant() {
end_idle:
    to[_pid]?prepare;
    if
    :: votes!yes;
end_waits:
       if
       :: to[_pid]?commit -> outcome[_pid] = committed
       :: to[_pid]?abort -> outcome[_pid] = aborted
       fi
    :: votes!no -> outcome[_pid] = aborted          // a no needs no answer
    fi;
    assert(!(outcome[0] == committed && outcome[1] == aborted));
    assert(!(outcome[0] == aborted && outcome[1] == committed))
}

active proctype Coordinator() {
    byte i, agreed;

    {
        for (i : 0 .. N - 1) {
            to[i]!prepare
        }
        for (i : 0 .. N - 1) {
            if
            :: votes?yes -> agreed++
            :: votes?no
            fi
        }
        decision = (agreed == N -> committed : aborted);
        for (i : 0 .. N - 1) {
            to[i]!(decision == committed -> commit : abort)
        }
    } unless {
        atomic { nempty(votes) && decision == open -> crashed = true }
    }
}

#define decided (outcome[0] != open && outcome[1] != open)

ltl consistent { [] !(outcome[0] == committed && outcome[1] == aborted) }
ltl obedient { [] ((outcome[0] == committed) -> (decision == committed)) }
ltl not_before { (outcome[0] != committed) W (decision == committed) }
ltl terminates { <> decided }
ltl terminates_if_alive { ([] !crashed) -> <> decided }
