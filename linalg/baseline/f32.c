/* f32.c - the routines of core/ on float for any processor. */
#define T float
#define LA_DOUBLE 0
#define LA_VECTOR_BYTES 16
#define NR 4
#define INSTANCE lz_linalg_f32_base
#include "linalg/core/all.h"
