/* f_idx.c - IDX and CIFAR files from a hostile place. */
#include "data/internal.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool x)
{
    if (!x)
        abort();
}

/* Reads every byte of the array. */
static void touch(lz_array *a)
{
    volatile uint8_t sum = 0;
    for (size_t i = 0; i < a->nbytes; i++)
        sum = (uint8_t)(sum + ((const uint8_t *)a->data)[i]);
    lz_array_free(a);
    must(!a->data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lz_array a, b;
    const lz_view v = {data, size, NULL};
    if (lz_idx_parse(&v, "input", &a) == LZ_OK)
        touch(&a);
    for (int fine = 0; fine < 2; fine++)
        if (lz_cifar_parse(&v, "input", fine, &a, &b) == LZ_OK) {
            must(a.shape.dims[0] == b.shape.dims[0]);
            touch(&a);
            touch(&b);
        }
    return 0;
}
