byte x, done;

active [2] proctype P() {
    byte t;
    t = x;
    x = t + 1;
    done++;
    (done == 2);
    assert(x == 2)
}
