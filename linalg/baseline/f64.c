/* f64.c - the routines of core/ on double for any processor. */
#define T double
#define LA_DOUBLE 1
#define LA_VECTOR_BYTES 16
#define NR 4
#define INSTANCE lz_linalg_f64_base
#include "linalg/core/all.h"
