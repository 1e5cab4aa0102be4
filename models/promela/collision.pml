// Two stations share a cable: who hears another one while sending has collided and tries
// again. An `accept` label marks the collision; a cycle through it is a pair of stations that
// collide forever. Random waiting cannot be modelled, so nothing here forbids it.
// expect: holds
// plain: states=108 transitions=189
// property acceptance: violated

#define STATIONS 2

byte sending;
bool sent[STATIONS];

active [STATIONS] proctype Station() {
    bool collided;

    do
    :: sending == 0 ->                  // listens first ...
       sending++;                       // ... but others may have listened too
       collided = (sending > 1);
       sending--;
       if
       :: collided ->
accept_collision:
          collided = false
       :: else ->
          sent[_pid] = true;
          break
       fi
    od
}
