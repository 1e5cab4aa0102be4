// The election of Raft: three servers, terms, one vote a server and term. Elections may
// fail, but no term ever has two leaders.
// expect: holds
// plain: states=1999 transitions=4262
// property one_leader: holds
// property elected: violated

#define N     3
#define TERMS 2
#define ROOM  2         // what does not fit into an inbox is lost

mtype = { ask, granted };

typedef Server {
    byte term;
    byte voted = N          // for whom in this term; N: for nobody yet
};

Server server[N];
chan inbox[N] = [ROOM] of { mtype, byte, byte };       // what, the sender, its term
byte leaders[TERMS + 1];

proctype Run(byte me) {
    byte from, term, votes, campaign;

end:
    do
    :: campaign == 0 && server[me].term < TERMS ->
       // no heartbeat for too long: stand for election
       atomic {
           server[me].term++;
           server[me].voted = me;
           campaign = server[me].term;
           votes = 1;
           for (from : 0 .. N - 1) {
               if
               :: from != me && len(inbox[from]) < ROOM -> inbox[from]!ask(me, campaign)
               :: else                              // lost
               fi
           }
           from = 0
       }
    :: atomic {
           inbox[me]?ask(from, term) ->
           if
           :: term > server[me].term ->             // a newer term: ours is over
              server[me].term = term;
              server[me].voted = N;
              campaign = 0;
              votes = 0
           :: else
           fi;
           if
           :: term == server[me].term && server[me].voted == N && len(inbox[from]) < ROOM ->
              server[me].voted = from;
              inbox[from]!granted(me, term)
           :: else
           fi;
           from = 0;
           term = 0
       }
    :: atomic {
           inbox[me]?granted(from, term) ->
           if
           :: term == server[me].term && campaign == term ->
              votes++;
              if
              :: votes == N / 2 + 1 ->
                 leaders[term]++;
                 assert(leaders[term] == 1)
              :: else
              fi
           :: else
           fi;
           from = 0;
           term = 0
       }
    od
}

init {
    atomic {
        run Run(0);
        run Run(1);
        run Run(2)
    }
}

ltl one_leader { [] (leaders[1] <= 1 && leaders[2] <= 1) }
ltl elected { <> (leaders[1] == 1 || leaders[2] == 1) }
