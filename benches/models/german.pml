/* Coherence of caches after German: N clients and a home that serves one request at a time. A client moves for itself and for the
   home's channel to it, so that all are of one code. With ERROR=1 the home grants a shared copy without taking back
   the exclusive one. */
#ifndef N
#define N 4
#endif
#ifndef ERROR
#define ERROR 0
#endif
mtype = { none, wants_shared, wants_exclusive, invalidate, gives_shared, gives_exclusive, acknowledges };

mtype request[N] = none, reply[N] = none, answer[N] = none;
bool is_sharer[N], is_asked[N];
mtype serving = none;
byte client = 255, sharers, shared_copies, exclusive_copies;
bool has_owner;

#define me _pid

active [N] proctype Client() {
    mtype cache = none;

end: do
    :: atomic { request[me] == none && cache == none -> request[me] = wants_shared }
    :: atomic { request[me] == none && cache != gives_exclusive -> request[me] = wants_exclusive }
    // The home takes a request.
    :: atomic { serving == none && request[me] != none -> serving = request[me]; request[me] = none; client = me }
    // It takes copies back,
    :: atomic {
        (reply[me] == none && is_sharer[me] && !is_asked[me]
            && (serving == wants_exclusive || serving == wants_shared && has_owner)) ->
        reply[me] = invalidate; is_asked[me] = true
       }
    :: atomic {
        answer[me] == acknowledges && serving != none ->
        answer[me] = none; is_sharer[me] = false; is_asked[me] = false; sharers--; has_owner = false
       }
    // and grants what was asked for.
    :: atomic {
        serving == wants_shared && client == me && reply[me] == none && (!has_owner || ERROR == 1) ->
        reply[me] = gives_shared; serving = none; client = 255;
        if
        :: !is_sharer[me] -> is_sharer[me] = true; sharers++
        :: else
        fi
       }
    :: atomic {
        serving == wants_exclusive && client == me && reply[me] == none && sharers == 0 ->
        reply[me] = gives_exclusive; serving = none; client = 255; is_sharer[me] = true; sharers++; has_owner = true
       }
    :: atomic {
        reply[me] == invalidate && answer[me] == none ->
        reply[me] = none; answer[me] = acknowledges;
        if
        :: cache == gives_shared -> shared_copies--
        :: cache == gives_exclusive -> exclusive_copies--
        :: else
        fi;
        cache = none
       }
    :: atomic {
        reply[me] == gives_shared ->
        reply[me] = none;
        if
        :: cache == none -> shared_copies++
        :: else
        fi;
        cache = gives_shared;
        assert(exclusive_copies == 0)
       }
    :: atomic {
        reply[me] == gives_exclusive ->
        reply[me] = none;
        if
        :: cache == gives_shared -> shared_copies--
        :: else
        fi;
        cache = gives_exclusive; exclusive_copies++;
        assert(exclusive_copies == 1 && shared_copies == 0)
       }
    od
}
