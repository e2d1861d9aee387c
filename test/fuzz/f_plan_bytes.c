/* f_plan_bytes.c - bytes of a plan: an error, or a plan that passes its verifier, prints, and is
 * stored as bytes that load again. */
#include "lower/plan/plan.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    lz_plan *p, *again;
    if (lz_plan_deserialize(data, n, &p) != LZ_OK)
        return 0;
    lz_buf text = {0}, bytes = {0};
    if (lz_plan_verify(p) != LZ_OK)
        abort();
    lz_plan_print(p, &text);
    lz_plan_serialize(p, &bytes);
    if (lz_plan_deserialize(bytes.data, bytes.len, &again) != LZ_OK)
        abort();
    lz_plan_free(again);
    lz_plan_free(p);
    lz_buf_free(&text);
    lz_buf_free(&bytes);
    return 0;
}
