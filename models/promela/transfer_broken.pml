// Bank transfers that lock the payer and then the payee: two customers who pay each other
// at the same time wait for each other. Locking in the order of names would help.
// expect: violated deadlock preemptions=1 steps=6
// plain: states=39 transitions=49

#define ACCOUNTS 2

byte balance[ACCOUNTS] = 8;
bool locked[ACCOUNTS];

inline lock(account) {
    atomic { !locked[account] -> locked[account] = true }
}

proctype Transfer(byte from; byte onto; byte amount) {
    lock(from);
    lock(onto);
    balance[from] = balance[from] - amount;
    balance[onto] = balance[onto] + amount;
    locked[onto] = false;
    locked[from] = false
}

init {
    atomic {
        run Transfer(0, 1, 3);
        run Transfer(1, 0, 5)
    };
    _nr_pr == 1;
    assert(balance[0] + balance[1] == 16)
}
