/* autotune_data.c - see autotune_data.h. Random floats vary in the mantissa only, so computations
 * on them meet neither infinities nor denormals, which are slow. */
#include "backends/common/autotune_data.h"
#include <string.h>

/* Mask of the random bits and the bits that are always set, for an element of this dtype,
 * replicated to 64 bits. */
static void masks(lz_dtype d, uint64_t *random, uint64_t *set)
{
    size_t size = lz_dtype_size(lz_dtype_part(d));
    *random = UINT64_MAX;
    *set = 0;
    if (d == LZ_BOOL) {
        *random = UINT64_C(0x0101010101010101);
    } else if (size == 1 && (lz_dtype_is_float(d) || lz_dtype_is_storage(d))) {
        *random = UINT64_C(0x0707070707070707);
        *set = UINT64_C(0x3030303030303030);
    } else if (d == LZ_F16) {
        *random = UINT64_C(0x03ff03ff03ff03ff);
        *set = UINT64_C(0x3800380038003800);
    } else if (d == LZ_BF16) {
        *random = UINT64_C(0x007f007f007f007f);
        *set = UINT64_C(0x3f003f003f003f00);
    } else if (lz_dtype_part(d) == LZ_F32) {
        *random = UINT64_C(0x007fffff007fffff);
        *set = UINT64_C(0x3f0000003f000000);
    } else if (lz_dtype_part(d) == LZ_F64) {
        *random = UINT64_C(0x000fffffffffffff);
        *set = UINT64_C(0x3fe0000000000000);
    }
}

void lz_tune_fill(void *out, size_t nbytes, lz_dtype d)
{
    uint64_t random, set, x = UINT64_C(88172645463325252);
    masks(d, &random, &set);
    for (size_t i = 0; i < nbytes / sizeof x; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        uint64_t v = (x * UINT64_C(0x2545f4914f6cdd1d) & random) | set;
        memcpy((char *)out + i * sizeof v, &v, sizeof v);
    }
}
