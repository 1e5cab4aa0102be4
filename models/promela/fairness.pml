// What a scheduler owes, in formulas. The waiter can move again and again, but not all the
// time: weak fairness does not help it, strong fairness, said with enabled() and _last, does.
// expect: holds
// plain: states=14 transitions=25
// property spins: holds under weak fairness
// property waiter_moves: violated
// property waiter_moves_if_strongly_fair: holds

#define SPINNER 0
#define WAITER  1

bit x, y;

active proctype Spinner() {
    do
    :: x = 1 - x
    od
}

active proctype Waiter() {
    do
    :: x == 1 -> y = 1 - y
    od
}

ltl spins { []<> (_last == SPINNER) }
ltl waiter_moves { []<> (y == 1) }
ltl waiter_moves_if_strongly_fair {
    (([]<> enabled(WAITER)) -> ([]<> (_last == WAITER))) && ([]<> (_last == SPINNER)) -> []<> (y == 1)
}
