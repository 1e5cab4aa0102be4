// models/promela/bcs_worst_case.pml with twelve processes.

#define N 12

int count;

active [N] proctype P() {
    count++;
    count--
}

never all_at_once {
    do
    :: assert(count != N)
    od
}
