// A sum computed by processes that start processes: each half is summed by a child, which
// answers on a channel of its parent's. `run` gives the child's number.
// expect: holds
// plain: states=1692 transitions=3572

#define SIZE 4

byte a[SIZE];

proctype Sum(byte from; byte upto; chan result) {
    chan parts = [0] of { pid, byte };
    byte x, y, middle;
    pid left_child, right_child;

    if
    :: upto - from == 1 -> result!_pid, a[from]
    :: else ->
       middle = (from + upto) / 2;
       left_child = run Sum(from, middle, parts);
       right_child = run Sum(middle, upto, parts);
       parts?eval(left_child), x;           // in this order, whoever is first
       parts?eval(right_child), y;
       result!_pid, x + y
    fi
}

init {
    chan result = [0] of { pid, byte };
    byte i, total;

    for (i in a) {
        a[i] = 1 << i
    }
    atomic { run Sum(0, SIZE, result) };
    result?_, total;
    assert(total == (1 << SIZE) - 1)
}
