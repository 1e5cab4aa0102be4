byte x;
active proctype P() { x = 1 }
ltl soon { <> (x == 1) }
