#define wait(s)   atomic { s > 0; s-- }
#define signal(s) s++
#define await(c)  (c)
#if !defined(PROCS) || PROCS < 2
#	undef PROCS
#	define PROCS 2
#elif PROCS > 5
#	error too many processes
#else
	/* as the command line says */
#endif

byte mutex = 1, critical, ticket[PROCS], serving
bool flag[PROCS]
bit turn
int log[8]

inline lock_peterson(me)
{
	flag[me] = true
	turn = 1 - me
	await(!flag[1 - me] || turn == me)
}

inline unlock_peterson(me) { flag[me] = false }

inline guarded(me, body_) {
	lock_peterson(me);
	critical++
	assert(critical == 1)
	body_ = body_ + 1
	critical--
	unlock_peterson(me)
}

active [PROCS] proctype user()
{
	byte round;
	assert(_pid == 0 || _pid == 1)

	do
	:: round < 2 ->
		guarded(_pid, log[round])
		round++
	:: round >= 2
		-> break
	:: else
		break
	od
	wait(mutex);
cs:	critical = critical + 1;
	if :: critical > 1 -> printf("two %d %c\n", _pid, 65) :: else -> skip fi;
	critical = critical - 1;
	signal(mutex)
}

active proctype ticketed() provided (serving < 200)
{	byte mine;

	atomic { mine = ticket[0]; ticket[0]++ }
	(serving
		== mine)
	serving++;
	if
	:: skip;
	:: goto out
	:: true -> ;
	   skip
	fi
out:	_ = mine;
	log[ (mine + 1) % 8 ] = log[mine & 7] != 0 && mine ^ 1
}

ltl mutual { [](critical <= 1) -> []!(user[0]@cs && user[1]@cs) }
ltl served { (serving >= 1 stronguntil ticketed@out) release (true V false) equivalent true }
