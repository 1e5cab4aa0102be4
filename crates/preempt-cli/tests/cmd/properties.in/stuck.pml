byte m;
active proctype Done() { skip }
active proctype Stuck() { m == 1 }
active proctype Server() { end: do :: m == 3 -> skip od }
active proctype Two() { if :: m == 5 -> skip :: m == 6
  :: m == 7 fi }
