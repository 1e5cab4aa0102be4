// A little allocator: loops, selection, inlines with results, unless.
#define SIZE 4
#define FREE 255
#define forever do :: true ->
#define endless od

byte owner[SIZE] = FREE;
int total = 0, peak = -1;
local bit busy;
chan requests = [2] of { byte, chan };
pid who;

inline first_free() {
	int probe_ = 0;
	do
	:: probe_ < SIZE && owner[probe_] != FREE -> probe_++
	:: probe_ < SIZE && owner[probe_] == FREE -> break
	:: probe_ >= SIZE -> break
	od;
	return (probe_ < SIZE -> probe_ : -1)
}

inline count(result) {
	int at_;
	result = 0;
	for (at_ : 0 .. SIZE - 1) {
		if
		:: owner[at_] != FREE -> result++
		:: else -> skip
		fi
	}
}

inline note(amount)
{
	count(amount)
	peak = (amount > peak -> amount : peak)
}

active proctype server()
{	byte from; chan answer; int cell;

	forever
		requests ? from, answer;
		cell = first_free();
		if
		:: cell >= 0 ->
			atomic { owner[cell] = from; note(total) }
			answer ! cell
		:: else ->
			answer ! -1
		fi
	endless
}

active [2] proctype client() priority 3
{
	chan mine = [1] of { short };
	short cell;
	byte tries;
again:
	{
		requests!_pid,mine
		mine?cell
		if
		:: cell < 0 -> tries++; goto again
		:: cell >= 0 ->
			assert(owner[cell] == _pid);
			progress: owner[cell] = FREE
		fi
	} unless {
		tries > 3 && nempty(mine) || full(requests) && tries != 0
	}
	select (tries : 1 .. 3);
	mine?eval(cell) unless { timeout }
	for (cell in owner) {
		owner[cell] = 'x' + '\n'
	}
	(len(mine) == 0 || mine?[cell]) -> set_priority(_pid, get_priority(who) - 1)
	busy = ~busy & 1 ^ 1 | (total << 1) >> 2
	total = - total * 2 % 7 + (total - 1) / 3
}

never bounded {
	do
	:: assert(total <= SIZE)
	:: client[1]@again && !server[0]:cell -> goto accept
	:: np_
	od;
accept:
	skip
}
