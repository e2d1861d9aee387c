/* expand_bits.c - bitcast_convert from and to numbers of less than a byte (pass `expand`). All
 * others are a view of memory; these are shifts and masks of unsigned integers, or conversions.
 * The bits are those of ir/eval/bitcast.c. Threads: as the pass. */
#include "lower/passes/expand_bits.h"
#include "ir/eval/bitcast.h"

static lz_dtype unsigned_of(int bits)
{
    return bits == 2    ? LZ_U2
           : bits == 4  ? LZ_U4
           : bits <= 8  ? LZ_U8
           : bits <= 16 ? LZ_U16
           : bits <= 32 ? LZ_U32
                        : LZ_U64;
}

static lz_val cast(lz_func *f, lz_val v, lz_dtype d)
{
    lz_attr_dtype a = {.kind = LZ_ATTR_dtype, .dtype = d};
    return v == LZ_NOVAL || lz_val_type(f, v)->dtype == d
               ? v
               : lz_build(f, LZ_OP_BITCAST_CONVERT, (const lz_attr *)(const void *)&a, &v, 1);
}

/* An element of fewer bits than its byte is stored extended by its sign: a bit cast from or to a
 * signed one of as many bits writes other bytes. */
static bool changes_sign(lz_dtype from, lz_dtype to)
{
    return lz_dtype_is_narrow(to) && lz_dtype_is_signed(from) != lz_dtype_is_signed(to);
}

/* As a dtype of as many bits. */
static lz_val same_width(lz_func *f, lz_val x, lz_dtype to)
{
    lz_dtype from = x == LZ_NOVAL ? to : lz_val_type(f, x)->dtype;
    if (!changes_sign(from, to))
        return cast(f, x, to);
    lz_dtype middle = unsigned_of(lz_dtype_bits(from));
    if (lz_dtype_is_storage(from)) /* as the unsigned integer of its bytes, then signed */
        x = cast(f, x, middle);
    if (!lz_dtype_is_storage(to))
        return lz_build_convert(f, x, to);
    return cast(f, lz_build_convert(f, x, middle), to);
}

/* 0, n, 2 n, .. along the last dimension of s. */
static lz_val offsets(lz_func *f, lz_dtype d, const lz_shape *s, int n)
{
    const lz_type *t = lz_type_get(d, s);
    return t ? lz_build_ew2(f, LZ_OP_MULTIPLY, lz_build_iota(f, t, s->rank - 1),
                            lz_build_splat(f, t, n))
             : LZ_NOVAL;
}

/* Each number as several along a new last dimension, of which s has the extent. */
static lz_val split(lz_func *f, lz_val v, const lz_shape *s, int to)
{
    lz_ints dims = {.n = s->rank - 1};
    for (int i = 0; i < dims.n; i++)
        dims.v[i] = i;
    lz_val by = offsets(f, lz_val_type(f, v)->dtype, s, to);
    v = lz_build_ew2(f, LZ_OP_SHIFT_RIGHT_LOGICAL, lz_build_broadcast(f, v, &dims, s), by);
    return v == LZ_NOVAL
               ? v
               : lz_build_ew2(f, LZ_OP_AND, v, lz_build_splat(f, lz_val_type(f, v), (1 << to) - 1));
}

static lz_val join(lz_func *f, lz_val v, int from)
{
    const lz_type *t = lz_val_type(f, v);
    int64_t last = t->shape.rank - 1;
    lz_ints over = lz_ints_make(1, &last);
    v = lz_build_ew2(f, LZ_OP_SHIFT_LEFT, v, offsets(f, t->dtype, &t->shape, from));
    return lz_build_reduce(f, LZ_OP_OR, v, lz_build_scalar(f, t->dtype, 0), &over);
}

lz_val lz_expand_bitcast(lz_rw *rw, uint32_t i)
{
    lz_func *f = rw->out;
    const lz_type *x = rw->in->insts[i].sig->opnd[0], *y = rw->in->insts[i].sig->result[0];
    int from = lz_dtype_bits(x->dtype), to = lz_dtype_bits(y->dtype), most = from > to ? from : to;
    lz_val v = lz_rw_opnd(rw, i, 0);
    if (!lz_bitcast_moves_bits(x->dtype, y->dtype))
        return changes_sign(x->dtype, y->dtype) ? same_width(f, v, y->dtype) : LZ_NOVAL;
    v = same_width(f, v, unsigned_of(from));
    v = lz_build_convert(f, v, unsigned_of(most > 8 ? most : 8));
    v = from > to ? split(f, v, &y->shape, to) : join(f, v, from);
    return same_width(f, lz_build_convert(f, v, unsigned_of(to)), y->dtype);
}
