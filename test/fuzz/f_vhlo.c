/* f_vhlo.c - VHLO bytecode from anywhere. What becomes text is at most as long as vhlo.h says; what
 * of that is a program verifies. */
#include "ir/module.h"
#include "ir/vhlo/vhlo.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool x)
{
    if (!x)
        abort();
}

static void must_have_failed(void)
{
    must(lz_error_get()->status != LZ_OK && lz_error_get()->status != LZ_EINTERNAL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MOST_PARSED = 1 << 20 };
    lz_buf text = {0};
    lz_func *f[2] = {NULL, NULL};
    lz_error_clear();
    if (lz_vhlo_to_text(data, size, &text) != LZ_OK) {
        must_have_failed();
    } else if (text.len < MOST_PARSED) {
        for (int k = 0; k < 2; k++) {
            lz_status s =
                k ? lz_func_parse_marked((const char *)data, size, "fuzz", NULL, 1, NULL, &f[k])
                  : lz_func_parse((const char *)data, size, "fuzz", &f[k]);
            must((s == LZ_OK) == (f[k] != NULL));
            if (f[k])
                must(lz_func_verify(f[k]) == LZ_OK);
            else
                must_have_failed();
            lz_func_free(f[k]);
        }
    }
    lz_buf_free(&text);
    return 0;
}
