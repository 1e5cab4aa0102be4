/* A file of numbered blocks over two channels that lose messages. The sender announces the file, sends a window of
   blocks, and repeats what is not acknowledged; either side may give up before the first block. */
mtype = { hello, welcome, refuse, block, ack, bye };

#define BLOCKS 12
#define WINDOW 4

chan down = [4] of { mtype, byte };
chan up = [4] of { mtype, byte };

active proctype Sender() {
    byte base, next, number;

wait:
    down!hello(0);
    do
    :: up?welcome(number) -> break
    :: up?refuse(number) -> goto over
    :: up?ack(number)
    :: timeout -> down!hello(0)
    od;
    do
    :: next < BLOCKS && next < base + WINDOW -> down!block(next); next++
    :: up?ack(number) ->
       if
       :: number >= base -> base = number + 1; if :: next < base -> next = base :: else fi
       :: else
       fi
    :: up?welcome(number)
    :: base == BLOCKS -> break
    :: timeout -> next = base
    od;
over:
    down!bye(0);
end:
    do
    :: up?_(number)
    od
}

active proctype Receiver() {
    byte wanted, number;

end_idle:
    do
    :: down?hello(number) ->
       if
       :: wanted == 0 -> up!welcome(0)
       :: wanted == 0 -> up!refuse(0)
       :: else -> up!welcome(0)
       fi
    :: down?block(number) ->
       if
       :: number == wanted -> wanted++; up!ack(number)
       :: number < wanted -> up!ack(number)
       :: else
       fi
    :: down?bye(number) -> break
    od;
    assert(wanted == 0 || wanted == BLOCKS)
}

active proctype Loss() {
end:
    do
    :: down?hello(_)
    :: down?block(_)
    :: up?_(_)
    od
}
