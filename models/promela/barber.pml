// The sleeping barber: customers take a seat if one is free and leave otherwise. When nobody
// can move any more (`timeout`), the shop closes; by then everybody was served or has left.
// expect: holds
// plain: states=373 transitions=700
// property closes: holds
// property one_served: holds
// property nobody_leaves: violated

#define CUSTOMERS 3
#define SEATS     1

mtype = { customer, haircut };

chan seats = [SEATS] of { mtype, pid };
chan chair[CUSTOMERS] = [0] of { mtype };
byte served, left;

active [CUSTOMERS] proctype Customer() {
    if
    :: seats!customer(_pid) ->              // blocks while the seats are full ...
       chair[_pid]?haircut;
       served++
    :: full(seats) ->                       // ... so this one leaves
       left++
    fi
}

active proctype Barber() {
    pid who;

    do
    :: seats?customer(who) ->
       chair[who]!haircut
    :: timeout -> break                     // closing time
    od;
    assert(served + left == CUSTOMERS);
    assert(served >= SEATS)
}

ltl closes { <> (served + left == CUSTOMERS) }
ltl one_served { <> (served > 0) }
ltl nobody_leaves { [] (left == 0) }
