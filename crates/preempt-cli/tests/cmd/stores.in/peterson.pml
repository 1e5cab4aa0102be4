bool want[2];
byte turn, inside;

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
