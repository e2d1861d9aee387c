/* bitcast.c - see bitcast.h. */
#include "ir/eval/bitcast.h"
#include <string.h>

bool lz_bitcast_moves_bits(lz_dtype from, lz_dtype to)
{
    return (lz_dtype_is_narrow(from) || lz_dtype_is_narrow(to)) &&
           lz_dtype_bits(from) != lz_dtype_bits(to);
}

/* Pieces of as many bits as the smaller of both has, in order. */
static void regroup(const lz_type *from, const uint8_t *x, const lz_type *to, uint8_t *y)
{
    size_t xsize = lz_dtype_size(from->dtype), ysize = lz_dtype_size(to->dtype);
    unsigned xbits = (unsigned)lz_dtype_bits(from->dtype),
             ybits = (unsigned)lz_dtype_bits(to->dtype);
    unsigned piece = xbits < ybits ? xbits : ybits, of_x = xbits / piece, of_y = ybits / piece;
    uint64_t mask = (UINT64_C(1) << piece) - 1;
    for (int64_t i = 0, at = 0; i < to->nelem; i++) {
        uint64_t word = 0, v = 0;
        for (unsigned k = 0; k < of_y; k++, at++) {
            memcpy(&v, x + (size_t)(at / of_x) * xsize, xsize);
            word |= (v >> (unsigned)(at % of_x) * piece & mask) << k * piece;
        }
        memcpy(y + (size_t)i * ysize, &word, ysize);
    }
}

void lz_bitcast_copy(const lz_type *from, const void *x, const lz_type *to, void *y)
{
    uint8_t *p = y;
    if (lz_bitcast_moves_bits(from->dtype, to->dtype))
        regroup(from, x, to, y);
    else
        memcpy(y, x, to->nbytes);
    for (int64_t i = 0; lz_dtype_is_narrow(to->dtype) && i < to->nelem; i++)
        p[i] = (uint8_t)lz_dtype_wrap(to->dtype, p[i]);
}
