byte x;
active proctype A() { x = 1; x = 2; x = 3; assert(x != 3) }
ltl p { [] (x < 1) }      /* fails after one step */
ltl q { <> (x == 3) }
