// A ticket lock: draw a ticket with one fetch-and-add, wait until it is served. First
// come, first served, so nobody starves under a fair scheduler.
// expect: holds
// plain: states=823 transitions=2020
// property exclusion: holds
// property served: holds
// property all_the_time: holds under weak fairness

#define N 3

byte next_ticket, serving;
byte inside;

active [N] proctype P() {
    byte ticket;

    do
    :: d_step { ticket = next_ticket; next_ticket = (next_ticket + 1) % N };
waiting:
       serving == ticket;
       inside++;
       assert(inside == 1);
critical:
       inside--;
       serving = (serving + 1) % N
    od
}

ltl exclusion { [] (inside <= 1) }
ltl served { [] (P[0]@waiting -> <> P[0]@critical) }
ltl all_the_time { []<> P[0]@critical }
