#define twice(a) a; a
#if 1
#include "self"
#else
nonsense
#endif
typedef T { bit f[3]; short g = 4 }
inline put(v) { r.f[v] = 1; d_step { v++; v-- } }
T r;
init { int v; twice(put(v)); printf("%d\n", r.g); if :: v -> skip :: else fi }
