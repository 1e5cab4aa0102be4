bool p, q;
active proctype A() priority 2 provided (!q) { progress: p = !p; accept: goto progress }
active proctype B() { run C(1); L: q = A@progress }
proctype C(byte n) { for (n : 1 .. 3) { q = !q } }
ltl live { [] (p -> <> q) && !(p U q) }
never { T0: do :: p -> goto accept_all :: true od; accept_all: skip }
