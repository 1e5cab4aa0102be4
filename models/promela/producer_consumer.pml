// A bounded buffer as a channel. The producer alone sends and the consumer alone
// receives, which `xs` and `xr` declare; nothing is lost and nothing overtakes.
// expect: holds
// plain: states=326 transitions=573
// property bounded: holds
// property all_arrives: holds

#define SIZE  2
#define ITEMS 8

mtype = { item, finished };

chan buffer = [SIZE] of { mtype, byte };
byte produced, consumed;

active proctype Producer() {
    xs buffer;

    do
    :: produced < ITEMS ->
       buffer!item(produced);
       produced++
    :: else -> break
    od;
    buffer!finished(0)
}

active proctype Consumer() {
    xr buffer;
    byte x;

    do
    :: buffer?[item, _] ->              // only looks
       assert(len(buffer) > 0);
       buffer?<item, x>;                // reads, and leaves it there
       assert(x == consumed);
       buffer?item(eval(consumed));     // takes it
       consumed++
    :: buffer?finished(_) -> break
    od;
    assert(consumed == ITEMS && empty(buffer))
}

ltl bounded { [] (produced <= consumed + SIZE + 1) }
ltl all_arrives { <> (consumed == ITEMS) }
