// A bounded buffer with one sleeping place for both sides: the producer's wake-up call
// can come after the consumer has looked and before it sleeps. Then both sleep forever.
// expect: violated deadlock preemptions=1 steps=8
// plain: states=3117 transitions=6213

#define SIZE 1

byte count;
bool sleeping[2];

inline sleep(me) {
    sleeping[me] = true;
    !sleeping[me]
}

active proctype Producer() {
    do
    :: if
       :: count == SIZE -> sleep(0)
       :: else
       fi;
       count++;
       assert(count <= SIZE);
       sleeping[1] = false          // wake the consumer, if it sleeps
    od
}

active proctype Consumer() {
    do
    :: if
       :: count == 0 -> sleep(1)
       :: else
       fi;
       count--;
       sleeping[0] = false          // wake the producer, if it sleeps
    od
}
