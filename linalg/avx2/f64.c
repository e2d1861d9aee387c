/* f64.c - the routines of core/ on double for processors with AVX2 and FMA. */
#ifdef __x86_64__
#define T double
#define LA_DOUBLE 1
#define LA_VECTOR_BYTES 32
#define NR 6
#define INSTANCE lz_linalg_f64_avx2
#include "linalg/core/all.h"
#else
typedef int lz_linalg_nothing;
#endif
