// Peterson's algorithm with its first two lines swapped: who yields before announcing
// a wish can be overtaken between the two, and both get in.
// expect: violated assertion preemptions=2 steps=9
// plain: states=98 transitions=187

bool want[2];
byte turn;
byte inside;

active [2] proctype P() {
    byte other = 1 - _pid;

    do
    :: turn = other;            // "after you" ...
       want[_pid] = true;       // ... said before anyone could hear it
       (!want[other] || turn == _pid);
       inside++;
       assert(inside == 1);
       inside--;
       want[_pid] = false
    od
}
