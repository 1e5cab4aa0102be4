// A token ring with a monitor that makes a new token when it has not seen one for a while.
// "A while" is a guess: the token was only slow, and now there are two.
// expect: violated assertion preemptions=2 steps=16
// plain: states=150 transitions=333

#define N 2

mtype = { token };

chan link[N] = [1] of { mtype };
byte working;

active [N] proctype Station() {
end:
    do
    :: link[_pid]?token ->
       working++;
       assert(working == 1);
       working--;
       link[(_pid + 1) % N]!token
    od
}

active proctype Monitor() {
    bool again;

    link[0]!token;
    do
    :: !again && empty(link[0]) && empty(link[1]) ->     // lost, it seems
       again = true;
       link[0]!token
    :: break
    od
}
