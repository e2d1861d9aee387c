/* f_func_bytes.c - the canonical bytes of a function from a hostile place. What is accepted
 * verifies and, written again and read again, stays the same. */
#include "ir/module.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool x)
{
    if (!x)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lz_func *f, *g = NULL;
    lz_status s = lz_func_deserialize(data, size, &f);
    if (s != LZ_OK) {
        must(s == LZ_ECORRUPT && !f);
        return 0;
    }
    must(lz_func_verify(f) == LZ_OK);
    lz_buf a = {0}, b = {0};
    lz_func_serialize(f, &a);
    must(!a.failed && lz_func_deserialize(a.data, a.len, &g) == LZ_OK);
    lz_func_serialize(g, &b);
    must(a.len == b.len && memcmp(a.data, b.data, a.len) == 0);
    lz_func_free(f);
    lz_func_free(g);
    lz_buf_free(&a);
    lz_buf_free(&b);
    return 0;
}
