// The alternating bit protocol over channels that lose messages: one bit is enough to
// tell a repetition from news. `timeout` is the sender's clock.
// expect: holds
// plain: states=123 transitions=142
// property delivered: violated
// property in_step: holds

#define VALUES 3        // the messages are 0 1 2 0 1 2 ...

chan data = [1] of { bit, byte };
chan ack = [1] of { bit };

active proctype Sender() {
    bit seq, got;
    byte value;

    do
    :: if
       :: data!seq, value
       :: skip                              // lost on the way
       fi;
       if
       :: ack?got ->
          if
          :: got == seq ->
             seq = !seq;
             value = (value + 1) % VALUES
          :: else                           // an old acknowledgement
          fi
       :: timeout                           // nothing moves any more: send again
       fi;
       got = 0
    od
}

active proctype Receiver() {
    bit seq, expected;
    byte value, want;

end:
    do
    :: data?seq, value ->
       if
       :: seq == expected ->
news:
          assert(value == want);            // in order, none twice, none left out
          expected = !expected;
          want = (want + 1) % VALUES
       :: else                              // a repetition
       fi;
       seq = 0;
       value = 0;
       if
       :: ack!(1 - expected)
       :: skip                              // lost on the way
       fi
    od
}

// Not if every message is lost ...
ltl delivered { []<> Receiver@news }
// ... but each acknowledgement that arrives means that a message did.
ltl in_step { [] (Receiver:want == Sender:value || Receiver:want == (Sender:value + 1) % VALUES) }
