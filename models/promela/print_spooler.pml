// A print server: jobs wait in a mailbox sorted by urgency (`!!`), a clerk may fetch the
// job of one particular customer (`??`), and answers go to a channel sent with the job.
// expect: holds
// plain: states=1174 transitions=3069

#define CUSTOMERS 3

mtype = { printed };

chan jobs = [CUSTOMERS] of { byte, byte, chan };    // urgency (0 first), customer, where to answer
chan cancel = [0] of { byte };
byte served;

proctype Customer(byte me; byte urgency) {
    chan answer = [1] of { mtype };

    jobs!!urgency, me, answer;
    if
    :: answer?printed
    :: me == 2 ->                           // customer 2 may change its mind
       if
       :: cancel!me
       :: answer?printed
       fi
    fi
}

active proctype Printer() {
    byte urgency, who;
    chan answer;

    do
    :: served < CUSTOMERS ->
       if
       :: atomic {
              jobs?urgency, who, answer ->
              // nobody more urgent is left waiting
              assert(urgency == 0 || !jobs??[0, _, _])
          };
          answer!printed;
          served++
       :: cancel?who ->
          if
          :: jobs??[_, eval(who), _] ->
             jobs??_, eval(who), _;         // out of the middle of the queue
             served++
          :: else                           // too late: it has been printed
          fi
       fi
    :: else -> break
    od;
    assert(empty(jobs))
}

init {
    atomic {
        run Customer(0, 1);
        run Customer(1, 0);
        run Customer(2, 1)
    }
}
