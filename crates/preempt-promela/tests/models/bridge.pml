/*
 * Cars on a narrow bridge; events are checked by a trace.
 */
mtype:side = { east, west };
mtype:light = { red, green }

mtype:side turn = east;
mtype:light signal[2];
chan enter = [0] of { mtype:side, byte };
chan leave = [0] of { mtype:side };
byte on_bridge, waiting[2];
bool safe = true, fair;

#define other(s) (s == east -> west : east)
#define SLOT(s) ((s) - 1)
#define check(p) \
	assert(p); \
	safe = safe && (p)

trace {
	do
	:: enter!east,_ ; leave!east
	:: enter!west,_ -> leave!west
	od
}

active proctype keeper()
{
	mtype:side s;
	byte car;
	do
	:: enter?eval(turn),car ->
		on_bridge++
		check(on_bridge == 1);
		leave ? s
		on_bridge--
		if
		:: waiting[SLOT(other(turn))] > 0 -> turn = other(turn)
		:: waiting[SLOT(other(turn))] == 0 && fair -> skip
		:: else
		fi
	:: on_bridge == 0 -> turn = other(turn)
	od
}

inline cross(direction, me)
{
	atomic {
		waiting[SLOT(direction)]++ ;
		fair = !fair
	}
	enter!direction(me);
	d_step {
		waiting[SLOT(direction)]-- ;
		printm(direction)
	}
	leave!direction
}

proctype car(byte me; mtype:side home)
{
	byte trips = 0;
loop:	do
	:: trips < 2 ->
		if
		:: (home == east) -> cross(east, me)
		:: (home != east) -> cross(west, me)
		fi;
		trips++
	:: else -> break
	od;
	printf("car %d is \"home\" after %d trips\t(%%)\n", me, trips)
}

init priority 1
{
	signal[0] = green; signal[1] = red;
	atomic {
		run car(1, east);
		run car(2, west)
	};
	(_nr_pr == 2) && (car@loop || !enabled(1)) -> skip;
	pc_value(0) >= 0
}

ltl exclusion { always (on_bridge <= 1 && safe implies signal[0] != signal[1]) }
ltl progress_ { ([] <> (turn == east)) <-> (eventually next (waiting[0] == 0)) W false }
