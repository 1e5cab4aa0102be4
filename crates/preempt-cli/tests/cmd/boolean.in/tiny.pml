bit x;
active proctype P() { x = 1; assert(x) }
active proctype Q() { x = 0 }
