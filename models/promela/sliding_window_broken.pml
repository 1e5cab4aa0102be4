// Go-back-N with as many messages under way as there are numbers: when all acknowledgements
// are lost, the receiver takes the repetitions for the next messages.
// expect: violated assertion preemptions=0 steps=47
// plain: states=50432 transitions=81921

#define WINDOW  2
#define NUMBERS 2       // must be larger than WINDOW
#define TOTAL   5       // how many messages there are

typedef Frame {
    byte number;        // modulo NUMBERS
    byte content        // what the receiver must not know, for the assertion only
};

chan data = [WINDOW] of { Frame };
chan ack = [1] of { byte };

active proctype Sender() {
    byte base, next, number;
    Frame frame;

    do
    :: base < TOTAL && next < TOTAL && next < base + WINDOW ->
       atomic {
           frame.number = next % NUMBERS;
           frame.content = next;
           if
           :: data!frame
           :: nfull(data)                   // lost on the way
           fi;
           frame.number = 0;
           frame.content = 0;
           next++
       }
    :: ack?number ->
       // how many frames this acknowledgement covers
       base = base + (number + NUMBERS - base % NUMBERS) % NUMBERS;
       number = 0
    :: timeout && base < TOTAL -> next = base   // go back
    :: base == TOTAL -> break
    od
}

active proctype Receiver() {
    byte expected;
    Frame frame;

end:
    do
    :: data?frame ->
       if
       :: frame.number == expected % NUMBERS ->
          assert(frame.content == expected);
          expected++
       :: else
       fi;
       frame.number = 0;
       frame.content = 0;
       if
       :: ack!(expected % NUMBERS)
       :: skip                              // lost on the way
       fi
    od
}
