// A pipeline of filters that passes numbers on by rendezvous and drops multiples: the sieve
// of Eratosthenes, with a new process for every prime found.
// expect: holds
// warns: `_nr_pr` counts the claim, too, where a claim or formula is asked for
// plain: states=2949 transitions=8582
// property all_found: holds
// property growing: holds
// property in_order: holds

#define LIMIT 12

mtype = { number, stop };

hidden byte scratch;                    // not part of the state
local byte largest;                     // used by one process at a time
byte primes;

D_proctype Filter(chan in; byte prime) {
    chan out = [0] of { mtype, byte };
    byte n;
    bool has_next;

    do
    :: in?number(n) ->
       d_step {
           scratch = n % prime;
           if
           :: scratch == 0 -> n = 0
           :: else
           fi;
           scratch = 0
       };
       if
       :: n == 0                        // a multiple
       :: n != 0 && has_next -> out!number(n)
       :: n != 0 && !has_next ->
          d_step { primes++; largest = n };
          printf("%d is prime\n", n);
          has_next = true;
          run Filter(out, n)
       fi;
       n = 0
    :: in?stop(_) ->
       if
       :: has_next -> out!stop(0)
       :: else
       fi;
       break
    od
}

init {
    chan out = [0] of { mtype, byte };
    byte n;

    primes = 1;
    run Filter(out, 2);
    for (n : 3 .. LIMIT) {
        out!number(n)
    }
    out!stop(0);
    _nr_pr == 1;
    assert(primes == 5 && largest == 11)    // 2 3 5 7 11
}

ltl all_found { eventually always (primes == 5) }
ltl growing { (primes < 3) until (primes == 3) }
ltl in_order { always (primes == 4 implies largest == 7) }
