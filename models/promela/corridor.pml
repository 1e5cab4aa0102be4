// Two polite people in a corridor: each steps aside for the other, again and again. There is
// no deadlock, and yet they may make no progress: a livelock, said with `np_` in a claim.
// expect: holds
// plain: states=114 transitions=181
// property livelock: violated
// property non-progress: violated

mtype = { left, right };
mtype side[2] = left;
bool passed[2];

active [2] proctype Person() {
    byte other = 1 - _pid;

    do
    :: side[_pid] == side[other] && !passed[other] ->
       if
       :: side[_pid] == left -> side[_pid] = right
       :: else -> side[_pid] = left
       fi
    :: side[_pid] != side[other] || passed[other] ->
progress_passes:
       passed[_pid] = true;
       break
    od
}

never livelock {
    do
    :: skip
    :: np_ -> break
    od;
accept_forever:
    do
    :: np_
    od
}
