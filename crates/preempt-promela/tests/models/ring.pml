/* Leader election in a ring: macros with arguments, channels of records,
   inlines, remote references and formulas. */
#define N 3
#define L 2
#define next(i) ((i + 1) % N)
#define elected (leaders == 1)
#ifndef DELAY
#define DELAY 0
#endif

mtype = { one, two, winner }

typedef Message {
	mtype kind
	byte id
};

typedef Node {
	byte best;
	bool awake, done;
	unsigned rank : 4
}

chan link[N] = [L] of { mtype, byte };
chan report = [0] of { Message };
Node nodes[N];
byte leaders;
hidden byte trash;
show short steps = 0;

inline pass(kind, who)
{
	link[next(me)]!kind(who);
	steps = steps + 1
}

inline remember(value)
{
	if
	:: value > nodes[me].best -> nodes[me].best = value
	:: else
	fi
}

proctype node(byte me; byte id)
{
	byte number;
	Message m;

	xr link[me];
	xs link[next(me)];
	nodes[me].awake = true
	nodes[me].best = id
	pass(one, id);
#if DELAY
	trash = 0;
#endif
end:	do
	:: link[me]?one(number) ->
		if
		:: number == id ->
won:			d_step { leaders++; nodes[me].done = true }
			pass(winner, id)
		:: number > id -> remember(number) pass(one, number)
		:: else -> skip
		fi
	:: link[me]?two(number) -> assert(false)
	:: link[me]?winner(number) ->
		m.kind = winner;
		m.id = number
		report!m
		if
		:: number == id
		:: number != id -> pass(winner, number)
		fi
		break
	od
}

active proctype monitor() provided (true)
{
	Message m; int seen;
	do
	:: report?m -> seen++; assert(m.id == N && elected)
	:: timeout -> break
	:: seen == N -> goto done
	od;
done:
	printf("MSC: %d of %d reported, %e\n", seen, N, m.kind)
}

init {
	byte i = 0;
	atomic {
		do
		:: i < N -> run node(i, i + 1) priority 2; i++
		:: i >= N -> break
		od
	}
}

ltl once { [] (leaders <= 1) && <> elected }
ltl { (!elected) U (leaders == 1 || timeout) -> X (always elected) }
