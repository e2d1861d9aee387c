/* f_npy.c - a .npy file from a hostile place. What is accepted, written again and read again, is
 * the same array. */
#include "fuzz/arrays.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lz_array a, b;
    const lz_view v = {data, size, NULL};
    if (lz_npy_parse(&v, "input", &a) != LZ_OK)
        return 0;
    lz_buf out = {0};
    lz_npy_put_head(&out, &a);
    lz_buf_put(&out, a.data, a.nbytes);
    const lz_view w = {(const uint8_t *)out.data, out.len, NULL};
    must(!out.failed && lz_npy_parse(&w, "output", &b) == LZ_OK);
    must(a.dtype == b.dtype && a.shape.rank == b.shape.rank && a.nbytes == b.nbytes);
    must(!a.nbytes || memcmp(a.data, b.data, a.nbytes) == 0);
    lz_array_free(&a);
    lz_array_free(&b);
    lz_buf_free(&out);
    return 0;
}
