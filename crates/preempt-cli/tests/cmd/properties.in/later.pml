/* The deadlock needs a preemption, the formula's violation none. */
byte left, right;
bool a;
active proctype A() { left == 0 -> left = 1; a = true; right == 0 -> right = 1; left = 0; right = 0 }
active proctype B() { right == 0 -> right = 1; left == 0 -> left = 1; left = 0; right = 0 }
ltl f { [] !a }
