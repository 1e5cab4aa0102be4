chan a = [2] of { byte, chan }; chan z = [0] of { bit }; chan other;
proctype S(chan to) { xs to; to!!3, z; to!4(z) }
proctype R() { byte n; a??n, other; a?<n, _>; other!1; select(n : 1 .. 3); len(a) > 0 && nempty(a); a?[n, other] }
init { atomic { run S(a); run R() }; z?_ }
