byte x, y, z;
active proctype P() { do :: x++ od }
active proctype Q() { do :: y++ od }
active proctype R() { do :: z++ od }
ltl none { [] (x + y + z < 3) }
ltl far { [] (x + y + z < 765) }
