/* models/promela/bcs_worst_case.pml with the assertion in the processes themselves: it fails when all of them have
   counted up and none has counted down, and for that nine of them must be left although they could go on. */
#ifndef N
#define N 10
#endif

int count;

active [N] proctype P() {
    atomic { count++; assert(count != N) };
    count--
}
