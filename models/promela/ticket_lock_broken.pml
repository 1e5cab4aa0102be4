// A ticket lock that reads the counter and increments it in two steps: two processes
// draw the same ticket. Both may get in at once; simpler still, one of them waits for a
// ticket that has already been served.
// expect: violated deadlock preemptions=1 steps=9
// plain: states=114 transitions=183

#define N 2

byte next_ticket, serving;
byte inside;

active [N] proctype P() {
    byte ticket;

    ticket = next_ticket;
    next_ticket++;
    serving == ticket;
    inside++;
    assert(inside == 1);
    inside--;
    serving++
}
