/* f64.c - the routines of core/ on double for processors with AVX-512. */
#ifdef __x86_64__
#define T double
#define LA_DOUBLE 1
#define LA_VECTOR_BYTES 64
#define NR 8
#define INSTANCE lz_linalg_f64_avx512
#include "linalg/core/all.h"
#else
typedef int lz_linalg_nothing;
#endif
