/* Elections as in Raft: N servers, terms up to TERMS, requests for votes in a channel that all of them read. With ERROR=1 a
   server votes again in the same term. */
#ifndef N
#define N 4
#endif
#ifndef TERMS
#define TERMS 2
#endif
#ifndef ERROR
#define ERROR 0
#endif
#define NOBODY 255

chan asks = [N] of { byte, byte };      /* who asks, and in which term */
byte votes[N];                          /* of a candidate, in its term */
byte term[N];
byte leader[TERMS + 1] = NOBODY;

active [N] proctype Server() {
    byte voted_for = NOBODY, candidate, t;
    bool leads;

end: do
    :: atomic {
        term[_pid] < TERMS && !leads && nfull(asks) ->
        term[_pid]++; voted_for = _pid; votes[_pid] = 1; asks!_pid, term[_pid]
       }
    :: atomic {
        asks?<candidate, t>;
        if
        :: candidate != _pid && (t > term[_pid] || ERROR == 1 && t == term[_pid]) ->
           term[_pid] = t; voted_for = candidate; leads = false;
           if
           :: term[candidate] == t -> votes[candidate]++
           :: else
           fi
        :: else
        fi;
        candidate = NOBODY; t = 0
       }
    :: atomic { asks?candidate, t; candidate = NOBODY; t = 0 }
    :: atomic {
        voted_for == _pid && votes[_pid] > N / 2 && !leads ->
        leads = true;
        assert(leader[term[_pid]] == NOBODY || leader[term[_pid]] == _pid);
        leader[term[_pid]] = _pid
       }
    od
}
