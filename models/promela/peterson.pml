// Peterson's mutual exclusion for two processes.
// expect: holds
// plain: states=38 transitions=65

bool want[2];
byte turn;
byte inside;

active [2] proctype P() {
    do
    :: want[_pid] = true;
       turn = 1 - _pid;
       (!want[1 - _pid] || turn == _pid);
       inside++;
       assert(inside == 1);
       inside--;
       want[_pid] = false
    od
}
