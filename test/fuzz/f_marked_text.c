/* f_marked_text.c - StableHLO text with marks of shardings, from anywhere. What is accepted
 * verifies, and is read back from its print as the same function. */
#include "ir/module.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool x)
{
    if (!x)
        abort();
}

enum { MAX_PRINT = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lz_func *f, *g;
    lz_buf a = {0};
    lz_partitions about = {0};
    lz_error_clear();
    if (lz_func_parse_marked((const char *)data, size, "fuzz", NULL, 8, &about, &f) != LZ_OK) {
        must(!f && lz_error_get()->status != LZ_OK && lz_error_get()->status != LZ_EINTERNAL);
        return 0;
    }
    must(lz_func_verify(f) == LZ_OK);
    lz_func_print(f, &a, 0);
    must(!a.failed);
    if (a.len < MAX_PRINT) {
        must(lz_func_parse_marked(a.data, a.len, "again", NULL, 8, NULL, &g) == LZ_OK);
        must(lz_hash_eq(lz_func_hash(f), lz_func_hash(g)));
        lz_func_free(g);
    }
    lz_buf_free(&a);
    lz_func_free(f);
    return 0;
}
