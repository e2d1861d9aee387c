/* f32.c - the routines of core/ on float for processors with AVX-512. */
#ifdef __x86_64__
#define T float
#define LA_DOUBLE 0
#define LA_VECTOR_BYTES 64
#define NR 8
#define INSTANCE lz_linalg_f32_avx512
#include "linalg/core/all.h"
#else
typedef int lz_linalg_nothing;
#endif
