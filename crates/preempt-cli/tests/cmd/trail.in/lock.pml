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
