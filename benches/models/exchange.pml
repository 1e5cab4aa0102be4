/* A telephone exchange: subscribers lift, dial somebody, talk and hang up, and the exchange serves one event at a time.
   Every line has a register of its own; somebody who is busy or does not answer is given up. */
#define N 3
#define NOBODY N

mtype = { lift, dial, hang_up };
mtype = { idle, dialling, ringing, talking, busy };

chan event = [0] of { mtype, byte, byte };
mtype stands[N] = idle;
byte partner[N] = NOBODY;
bool lifted[N];

active [N] proctype Subscriber() {
    byte whom;

end:
    do
    :: !lifted[_pid] && stands[_pid] == idle ->
       lifted[_pid] = true;
       event!lift(_pid, 0)
    :: !lifted[_pid] && stands[_pid] == ringing && partner[_pid] != NOBODY ->
       lifted[_pid] = true;
       event!lift(_pid, 0)
    :: lifted[_pid] && stands[_pid] == dialling ->
       if
       :: whom = (_pid + 1) % N
       :: whom = (_pid + 2) % N
       fi;
       event!dial(_pid, whom);
       whom = 0;
       stands[_pid] != dialling
    :: lifted[_pid] && stands[_pid] != idle ->
       event!hang_up(_pid, 0);
       lifted[_pid] = false
    od
}

active proctype Exchange() {
    byte who, whom;

end:
    do
    :: event?lift(who, _) ->
       if
       :: atomic { stands[who] == ringing && partner[who] != NOBODY ->
          stands[who] = talking;
          stands[partner[who]] = talking }
       :: atomic { stands[who] == idle -> stands[who] = dialling }
       :: else
       fi;
       who = 0
    :: event?dial(who, whom) ->
       if
       :: stands[who] != dialling
       :: stands[who] == dialling && stands[whom] == idle && !lifted[whom] ->
          partner[who] = whom;
          partner[whom] = who;
          stands[whom] = ringing;
          stands[who] = ringing
       :: stands[who] == dialling && (stands[whom] != idle || lifted[whom]) ->
          stands[who] = busy
       fi;
       who = 0;
       whom = 0
    :: event?hang_up(who, _) ->
       if
       :: partner[who] != NOBODY ->
          whom = partner[who];
          partner[whom] = NOBODY;
          partner[who] = NOBODY;
          if
          :: lifted[whom] -> stands[whom] = busy
          :: else -> stands[whom] = idle
          fi
       :: else
       fi;
       stands[who] = idle;
       who = 0;
       whom = 0
    od
}
