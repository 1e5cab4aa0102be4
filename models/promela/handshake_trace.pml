// A client and a server, and a trace assertion: whatever happens elsewhere, every order is
// answered by the goods or by a refusal before the next one is sent.
// expect: holds
// plain: states=18 transitions=18
// property sold_out: holds
// property trace: holds

mtype = { order, goods, refusal };

chan shop = [1] of { mtype };
chan counter = [1] of { mtype };
byte stock = 2;

active proctype Client() {
    do
    :: shop!order;
       if
       :: counter?goods
       :: counter?refusal -> break
       fi
    od
}

active proctype Server() {
end:
    do
    :: shop?order ->
       if
       :: stock > 0 ->
          stock--;
          counter!goods
       :: else ->
          counter!refusal
       fi
    od
}

trace {
end:
    do
    :: shop!order;
       if
       :: counter!goods
       :: counter!refusal
       fi
    od
}

ltl sold_out { <> (stock == 0) }
