// A server that answers requests, in which some statements are never executed: see the list
// below the numbers of a search. A client never asks twice, so nobody is ever refused; an
// answer is never 0; and no process of the third kind is ever started.
// expect: holds
// plain: states=16 transitions=20

mtype = { ask, answer, refuse };

chan requests = [1] of { mtype, byte };
chan replies = [1] of { mtype, byte };
byte served;

active proctype Server() {
    byte client, busy;
end:
    do
    :: requests?ask(client) ->
        if
        :: busy > 0 -> replies!refuse(client)
        :: else ->
            busy++;
            served++;
            replies!answer(client);
            busy--
        fi
    od
}

active proctype Client() {
    byte got;
    requests!ask(7);
    if
    :: replies?answer(got) ->
        d_step {
            if
            :: got == 0 -> served = 0
            :: else -> got = 0
            fi
        }
    :: replies?refuse(got) -> served = 0
    fi;
    served > 0
}

proctype Monitor() {
    assert(served <= 1)
}
