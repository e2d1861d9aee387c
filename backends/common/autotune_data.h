/* autotune_data.h - input data for measurements. Units: bytes. Threads: pure. */
#ifndef LZ_BACKENDS_COMMON_AUTOTUNE_DATA_H
#define LZ_BACKENDS_COMMON_AUTOTUNE_DATA_H
#include "ir/op.h"

enum { LZ_TUNE_FILL = 1 << 20 }; /* period of the random data */
/* Fills nbytes (a multiple of 64): finite floats between 0.5 and 1, random integers and booleans;
 * the same every time. */
void lz_tune_fill(void *out, size_t nbytes, lz_dtype d);
#endif
