/* f_code_image.c - an image of code: refused, or placed inside the memory it asks for; two of them
 * joined are one again. The code is never run. */
#include "codegen/code_image.h"
#include "codegen/codegen.h"
#include "codegen/shared_code.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Memory of exactly its size: overruns are seen. */
static void place(const lz_code_image *im)
{
    uint8_t *mem = malloc(im->ncode);
    if (!mem)
        return;
    const char *unknown = lz_code_place(im, mem, (uintptr_t)mem, lz_jit_symbol);
    if (unknown && lz_jit_symbol(unknown))
        abort();
    for (uint32_t i = 0; i < im->nfunc; i++)
        if (lz_code_find(im, im->names + im->funcs[i].name) >= im->ncode)
            abort();
    free(mem);
}

static void join(const lz_code_image *im)
{
    lz_buf b = {0};
    lz_code_image all;
    if (!lz_code_join(im, im, 1, lz_shared_name, &b) && !b.failed &&
        lz_code_open(b.data, b.len, &all))
        abort();
    lz_buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    uint8_t *bytes = malloc(n ? n : 1);
    lz_code_image im;
    lz_buf again = {0};
    if (!bytes)
        return 0;
    memcpy(bytes, data, n);
    if (!lz_code_open(bytes, n, &im)) {
        place(&im);
        join(&im);
        lz_code_write(&im, &again);
        if (lz_code_nbytes(bytes) != n || again.len != n)
            abort();
    }
    lz_buf_free(&again);
    free(bytes);
    return 0;
}
