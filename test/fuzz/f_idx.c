/* f_idx.c - IDX and CIFAR files from a hostile place. */
#include "fuzz/arrays.h"

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
