// The alternating bit protocol whose receiver forgets to look at the bit: when an
// acknowledgement is lost, the repetition is delivered as news.
// expect: violated assertion preemptions=0 steps=9
// plain: states=255 transitions=316

#define VALUES 3

chan data = [1] of { bit, byte };
chan ack = [1] of { bit };

active proctype Sender() {
    bit seq, got;
    byte value;

    do
    :: if
       :: data!seq, value
       :: skip
       fi;
       if
       :: ack?got ->
          if
          :: got == seq ->
             seq = !seq;
             value = (value + 1) % VALUES
          :: else
          fi
       :: timeout
       fi
    od
}

active proctype Receiver() {
    bit seq;
    byte value, next;

end:
    do
    :: data?seq, value ->
       assert(value == next);
       next = (next + 1) % VALUES;
       if
       :: ack!seq
       :: skip
       fi
    od
}
