/* arrays.h - what the targets that read files of arrays share. */
#ifndef LZ_TEST_FUZZ_ARRAYS_H
#define LZ_TEST_FUZZ_ARRAYS_H
#include "data/data_internal.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void must(bool x)
{
    if (!x)
        abort();
}

/* Reads every byte of the array and gives it back. */
static inline void touch(lz_array *a)
{
    volatile uint8_t sum = 0;
    for (size_t i = 0; i < a->nbytes; i++)
        sum = (uint8_t)(sum + ((const uint8_t *)a->data)[i]);
    lz_array_free(a);
    must(!a->data);
}
#endif
