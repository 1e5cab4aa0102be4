// A puzzle: a ferryman, a wolf, a goat and a cabbage, and a boat for two. The claim that it
// cannot be done is false, and its counterexample is the solution.
// expect: violated assertion preemptions=0 steps=16
// plain: states=35 transitions=48

#define FERRYMAN 0
#define WOLF     1
#define GOAT     2
#define CABBAGE  3

bit across[4];

#define left_alone(a, b) (across[a] == across[b] && across[a] != across[FERRYMAN])
#define eaten (left_alone(WOLF, GOAT) || left_alone(GOAT, CABBAGE))
#define all_across (across[WOLF] && across[GOAT] && across[CABBAGE])

inline ferry(cargo) {
    d_step {
        across[cargo] == across[FERRYMAN] ->
        across[cargo] = !across[cargo];
        if
        :: cargo != FERRYMAN -> across[FERRYMAN] = !across[FERRYMAN]
        :: else
        fi
    }
}

active proctype Ferryman() {
    do
    :: eaten -> break
    :: all_across -> assert(false)
    :: !eaten && !all_across ->
       if
       :: ferry(FERRYMAN)
       :: ferry(WOLF)
       :: ferry(GOAT)
       :: ferry(CABBAGE)
       fi
    od
}
