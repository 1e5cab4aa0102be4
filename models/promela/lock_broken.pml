// A lock that looks before it takes: between the two, someone else may do the same.
// expect: violated assertion preemptions=2 steps=7
// plain: states=69 transitions=107
bit busy;
byte inside;

active [2] proctype P() {
    busy == 0;
    busy = 1;
    inside++;
    assert(inside == 1);
    inside--;
    busy = 0
}
