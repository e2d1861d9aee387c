/* f_kernel_text.c - text of a kernel: an error, or a kernel that prints and reads back, as text and
 * as bytes, to itself. */
#include "lower/loops/loop.h"
#include <stdlib.h>
#include <string.h>

static void same(const lz_kernel *a, lz_kernel *b)
{
    if (a->nencoding != b->nencoding || memcmp(a->encoding, b->encoding, a->nencoding) != 0)
        abort();
    lz_kernel_free(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    lz_kernel *k, *again;
    if (lz_kernel_parse((const char *)data, n, &k) != LZ_OK)
        return 0;
    lz_buf text = {0};
    lz_kernel_print(k, &text);
    if (lz_kernel_parse(text.data, text.len, &again) != LZ_OK)
        abort();
    same(k, again);
    if (lz_kernel_decode(k->encoding, k->nencoding, k->args, k->narg, &again) != LZ_OK)
        abort();
    same(k, again);
    lz_buf_free(&text);
    lz_kernel_free(k);
    return 0;
}
