/* Sorting through sorted channels, peeking, nesting. */
#define K 4
#define FOR(i, n) i = 0; do :: i < n ->
#define ROF(i) i++ :: else -> break od
#define glue(a, b) a ## b
#define name(x) printf(#x)

typedef Pair { byte key; byte value }
typedef Table { Pair row[K]; short used = 0 }

chan pool = [K] of { byte, byte };
chan copy = [K] of { byte, byte };
Table table;
byte glue(last_, key);
bool sorted = true;

D_proctype filler(byte seed)
{
	byte i, k;
	FOR(i, K)
		k = (seed * (i + 3)) % 11;
		pool!!k,i;
	ROF(i)
}

proctype reader(chan in; chan out)
{
	byte k, v;
	end_reader:
	do
	:: in?<k, v> ->
		sorted = sorted && last_key <= k;
		last_key = k;
		in?k,v;
		if
		:: nfull(out) -> out!k(v)
		:: full(out) -> out?_,_; out!k,v
		fi
		d_step {
			table.row[table.used % K].key = k;
			table.row[table.used % K].value = v;
			table.used++
		}
	:: in??0,v -> skip
	:: in??<eval(k + 1), -1> -> { skip; { skip } }
	:: in??[3, v] -> in??3(v)
	:: empty(in) && table.used == K -> break
	od
}

init
{
	byte tries;

	run filler(5);
	run reader(pool, copy);
	{
		do
		:: table.used < K ->
			if
			:: tries++
			:: atomic {
				tries > 2 ->
				tries = 0
			   }
			fi
		:: table.used >= K -> break
		od
	} unless {
		if
		:: tries == 200 -> tries = 1
		:: timeout
		fi
	}
	L1: L2: assert(sorted || table.row[0].key >= 0);
	name(table);
	goto L3;
	L3:
}

never {
T0:
	if
	:: !sorted -> goto accept_all
	:: sorted -> goto T0
	fi;
accept_all:
	skip
}
