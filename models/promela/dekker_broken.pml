// Dekker's algorithm without the turn: two polite processes that both announce their
// wish wait for each other forever.
// expect: violated deadlock preemptions=1 steps=2
// plain: states=20 transitions=31

bool want[2];
byte inside;

active [2] proctype P() {
    byte other = 1 - _pid;

    do
    :: want[_pid] = true;
       !want[other];
       inside++;
       assert(inside == 1);
       inside--;
       want[_pid] = false
    od
}
