/* f_stablehlo_text.c - StableHLO text from anywhere. What is accepted verifies, is printed, and its
 * print is read back as the same function and printed the same, with locations and without. Also
 * read as a file of modules with checks. */
#include "ir/text/check.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool x)
{
    if (!x)
        abort();
}

enum { MAX_PRINT = 1 << 20 };

static void print_and_read_again(const lz_func *f, unsigned flags)
{
    lz_buf a = {0}, b = {0};
    lz_func *g;
    lz_partitions about = {.locations = flags != 0};
    lz_func_print(f, &a, flags);
    must(!a.failed);
    if (a.len < MAX_PRINT) {
        must(lz_func_parse_about(a.data, a.len, "again", NULL, &about, &g) == LZ_OK);
        lz_func_print(g, &b, flags);
        must(a.len == b.len && memcmp(a.data, b.data, a.len) == 0);
        must(lz_hash_eq(lz_func_hash(f), lz_func_hash(g)));
        lz_func_free(g);
    }
    lz_buf_free(&a);
    lz_buf_free(&b);
}

static lz_status one(const lz_checked *c, void *user)
{
    (void)user;
    if (!c) {
        must(lz_error_get()->status != LZ_OK && lz_error_get()->status != LZ_EINTERNAL);
        return LZ_OK;
    }
    must(lz_func_verify(c->f) == LZ_OK && c->f->nresult == c->nreturn + 2 * c->ncheck);
    for (uint32_t i = 0; i < c->ncheck; i++)
        must(c->checks[i].got < c->f->nresult && c->checks[i].want < c->f->nresult &&
             lz_val_type(c->f, c->f->results[c->checks[i].got]) ==
                 lz_val_type(c->f, c->f->results[c->checks[i].want]));
    return LZ_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lz_func *f;
    lz_error_clear();
    must(lz_checked_parse((const char *)data, size, "fuzz", NULL, one, NULL) == LZ_OK);
    lz_partitions about = {.locations = true};
    if (lz_func_parse_about((const char *)data, size, "fuzz", NULL, &about, &f) != LZ_OK) {
        must(!f && lz_error_get()->status != LZ_OK && lz_error_get()->status != LZ_EINTERNAL);
        return 0;
    }
    must(lz_func_verify(f) == LZ_OK);
    print_and_read_again(f, 0);
    print_and_read_again(f, LZ_PRINT_LOCATIONS);
    lz_func_free(f);
    return 0;
}
