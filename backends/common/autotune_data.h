/* autotune_data.h - numbers for measurements. Units: bytes. Threads: pure. */
#ifndef LZ_BACKENDS_COMMON_AUTOTUNE_DATA_H
#define LZ_BACKENDS_COMMON_AUTOTUNE_DATA_H
#include "ir/op.h"

enum { LZ_TUNE_FILL = 1 << 20 }; /* they come again after so many bytes */
/* nbytes (a multiple of 64): finite floats between 0.5 and 1, any integers, booleans of both kinds.
 * The same ones every time. */
void lz_tune_fill(void *out, size_t nbytes, lz_dtype d);
#endif
