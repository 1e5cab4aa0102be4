// The bully algorithm: who notices that the coordinator is dead asks all larger names,
// and takes over if none of them lives. Crashes come at any time, through `unless`.
// expect: holds
// plain: states=1527 transitions=4039
// property agreement: holds

#define N 3

mtype = { election, coordinator };

chan mailbox[N] = [4] of { mtype, byte };
bool alive[N] = true;
byte boss[N] = N - 1;       // whom each node believes to be the coordinator

// Tell every other living node; done at once, as by a reliable broadcast.
inline announce() {
    d_step {
        to = 0;
        do
        :: to < N ->
           if
           :: to != me && alive[to] -> mailbox[to]!coordinator(me)
           :: else
           fi;
           to++
        :: else -> break
        od;
        to = 0;
        boss[me] = me
    }
}

// The largest living name above ours, or N if there is none.
inline ask_above() {
    d_step {
        above = N - 1;
        do
        :: above > me && !alive[above] -> above--
        :: else -> break
        od
    }
}

proctype Node(byte me) {
    byte from, to, above;

    {
end_idle:
        do
        :: mailbox[me]?coordinator(from) ->
           boss[me] = from;
           from = 0
        :: mailbox[me]?election(from) ->
           from = 0;
           goto elect
        :: empty(mailbox[me]) && !alive[boss[me]] ->
elect:
           ask_above();
           if
           :: above == me -> announce()
           :: else ->
              mailbox[above]!election(me);
              // it will answer with an announcement, or die
              (nempty(mailbox[me]) || !alive[above])
           fi;
           above = 0
        od
    } unless {
        !alive[me]                          // the power goes off
    }
}

init {
    atomic {
        run Node(0);
        run Node(1);
        run Node(2)
    };
    // The coordinator fails, and perhaps its successor too.
    alive[2] = false;
    if
    :: alive[1] = false
    :: skip
    fi
}

// In the end the survivors agree on the largest of them.
ltl agreement { <>[] ((alive[1] && boss[0] == 1 && boss[1] == 1) || (!alive[1] && boss[0] == 0)) }
