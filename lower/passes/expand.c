/* expand.c - pass `expand`: expands ops that no later stage implements.
 * Does:      rng_bit_generator with PHILOX (Philox4x32-10) or THREE_FRY (Threefry2x32-20) becomes
 *   integer operations on counters, in the layout of the reference evaluator (ir/eval/eval_rng.c):
 *   one array per lane of a block, concatenated along a new dimension. A scatter-add to 16-bit
 *   floats accumulates in f32. Where the backend has no routine (lower/routine.h), a Fourier
 *   transform becomes dots with small matrices (expand_fft.c), a matrix decomposition loops
 *   (expand_linalg.c). Large complex dots become four real ones, bit casts from and to numbers of
 *   less than a byte shifts and conversions (expand_bits.c).
 * Needs:     nothing.
 * Recreates: nothing.
 * Breaks:    simplify, fold (it leaves scalars to fold).
 * Cost:      O(instructions), about 150 instructions per generator.
 * Off:       never: no later stage implements random bits or transforms. */
#include "ir/eval/eval.h"
#include "lower/passes/expand_bits.h"
#include "lower/passes/expand_fft.h"
#include "lower/passes/expand_linalg.h"
#include "lower/passes.h"
#include "lower/passes/rewrite.h"
#include "lower/routine.h"
#include <string.h>

#define RECORD(a) ((const lz_attr *)(const void *)&(a))

static lz_shape vector(int64_t n)
{
    return lz_shape_make(1, &n);
}

static lz_val u64_const(lz_func *f, uint64_t v)
{
    return lz_build_scalar_i64(f, LZ_U64, (int64_t)v);
}

static lz_val u32_const(lz_func *f, uint32_t v)
{
    return lz_build_scalar_i64(f, LZ_U32, (int64_t)v);
}

/* A scalar as a vector of n. */
static lz_val spread(lz_func *f, lz_val s, int64_t n)
{
    const lz_ints none = {0};
    lz_shape v = vector(n);
    return lz_build_broadcast(f, s, &none, &v);
}

static lz_val ew(lz_func *f, lz_op op, lz_val a, lz_val b)
{
    return lz_build_ew2(f, op, a, b);
}

/* Element k of the state, a scalar. */
static lz_val state_word(lz_func *f, lz_val state, int64_t k)
{
    lz_attr_slice a;
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_slice;
    a.start_indices = lz_ints_make(1, &k);
    a.limit_indices = lz_ints_make(1, (int64_t[]){k + 1});
    a.strides = lz_ints_make(1, (int64_t[]){1});
    lz_shape s = LZ_SCALAR;
    return lz_build_reshape(f, lz_build(f, LZ_OP_SLICE, RECORD(a), &state, 1), &s);
}

static lz_val low_word(lz_func *f, lz_val v)
{
    return lz_build_convert(f, v, LZ_U32);
}

static lz_val high_word(lz_func *f, lz_val v, int64_t n)
{
    lz_val shift = u64_const(f, 32);
    return lz_build_convert(f, ew(f, LZ_OP_SHIFT_RIGHT_LOGICAL, v, n ? spread(f, shift, n) : shift),
                            LZ_U32);
}

static lz_val concat(lz_func *f, const lz_val *v, uint32_t n, int64_t dim)
{
    lz_attr_dim a;
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_dim;
    a.dimension = dim;
    return lz_build(f, LZ_OP_CONCATENATE, RECORD(a), v, n);
}

/* The state with words from 1 on replaced. */
static lz_val join_state(lz_func *f, const lz_val *words, uint32_t n)
{
    lz_val v[3];
    lz_shape one = vector(1);
    for (uint32_t k = 0; k < n; k++)
        v[k] = lz_build_reshape(f, words[k], &one);
    return concat(f, v, n, 0);
}

/* ---- the generators, on vectors of n words ---- */

static void philox(lz_func *f, int64_t n, lz_val x[4], lz_val k0, lz_val k1)
{
    lz_val m0 = spread(f, u64_const(f, 0xD2511F53), n), m1 = spread(f, u64_const(f, 0xCD9E8D57), n);
    for (int round = 0; round < 10; round++) {
        lz_val p0 = ew(f, LZ_OP_MULTIPLY, lz_build_convert(f, x[0], LZ_U64), m0);
        lz_val p1 = ew(f, LZ_OP_MULTIPLY, lz_build_convert(f, x[2], LZ_U64), m1);
        lz_val a = ew(f, LZ_OP_XOR, ew(f, LZ_OP_XOR, high_word(f, p1, n), x[1]), spread(f, k0, n));
        lz_val c = ew(f, LZ_OP_XOR, ew(f, LZ_OP_XOR, high_word(f, p0, n), x[3]), spread(f, k1, n));
        x[0] = a;
        x[1] = low_word(f, p1);
        x[2] = c;
        x[3] = low_word(f, p0);
        k0 = ew(f, LZ_OP_ADD, k0, u32_const(f, 0x9E3779B9));
        k1 = ew(f, LZ_OP_ADD, k1, u32_const(f, 0xBB67AE85));
    }
}

static void threefry(lz_func *f, int64_t n, lz_val x[2], lz_val key0, lz_val key1)
{
    static const uint32_t rotation[8] = {13, 15, 26, 6, 17, 29, 16, 24};
    lz_val ks[3] = {key0, key1,
                    ew(f, LZ_OP_XOR, ew(f, LZ_OP_XOR, key0, key1), u32_const(f, 0x1BD11BDA))};
    x[0] = ew(f, LZ_OP_ADD, x[0], spread(f, ks[0], n));
    x[1] = ew(f, LZ_OP_ADD, x[1], spread(f, ks[1], n));
    for (uint32_t round = 0; round < 20; round++) {
        uint32_t r = rotation[round % 8];
        x[0] = ew(f, LZ_OP_ADD, x[0], x[1]);
        lz_val left = ew(f, LZ_OP_SHIFT_LEFT, x[1], spread(f, u32_const(f, r), n));
        lz_val right = ew(f, LZ_OP_SHIFT_RIGHT_LOGICAL, x[1], spread(f, u32_const(f, 32 - r), n));
        x[1] = ew(f, LZ_OP_XOR, ew(f, LZ_OP_OR, left, right), x[0]);
        if (round % 4 != 3)
            continue;
        uint32_t s = round / 4 + 1;
        lz_val k = ew(f, LZ_OP_ADD, ks[(s + 1) % 3], u32_const(f, s));
        x[0] = ew(f, LZ_OP_ADD, x[0], spread(f, ks[s % 3], n));
        x[1] = ew(f, LZ_OP_ADD, x[1], spread(f, k, n));
    }
}

/* ---- layout ---- */

static lz_val two_words(lz_func *f, lz_val lo, lz_val hi, int64_t n)
{
    lz_val h =
        ew(f, LZ_OP_SHIFT_LEFT, lz_build_convert(f, hi, LZ_U64), spread(f, u64_const(f, 32), n));
    return ew(f, LZ_OP_OR, lz_build_convert(f, lo, LZ_U64), h);
}

static lz_val bitcast(lz_func *f, lz_val v, lz_dtype d)
{
    lz_attr_dtype a;
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_dtype;
    a.dtype = d;
    return v == LZ_NOVAL || lz_val_type(f, v)->dtype == d
               ? v
               : lz_build(f, LZ_OP_BITCAST_CONVERT, RECORD(a), &v, 1);
}

/* Words of 32 or 64 bits as elements of dtype d: the low bits. */
static lz_val narrow(lz_func *f, lz_val v, lz_dtype d)
{
    static const lz_dtype bits[9] = {[1] = LZ_U8, [2] = LZ_U16, [4] = LZ_U32, [8] = LZ_U64};
    if (v == LZ_NOVAL)
        return v;
    if (d == LZ_BOOL) {
        lz_val one = lz_build_splat(f, lz_val_type(f, v), 1);
        return lz_build_convert(f, ew(f, LZ_OP_AND, v, one), LZ_BOOL);
    }
    v = lz_build_convert(f, v, bits[lz_dtype_size(d)]);
    return lz_dtype_is_narrow(d) ? lz_build_convert(f, v, d) : bitcast(f, v, d);
}

static lz_val first_elements(lz_func *f, lz_val v, int64_t n)
{
    lz_attr_slice a;
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_slice;
    a.start_indices = lz_ints_make(1, (int64_t[]){0});
    a.limit_indices = lz_ints_make(1, &n);
    a.strides = lz_ints_make(1, (int64_t[]){1});
    return v != LZ_NOVAL && lz_val_type(f, v)->nelem == n
               ? v
               : lz_build(f, LZ_OP_SLICE, RECORD(a), &v, 1);
}

/* lanes[j] holds elements per*b + j of the row-major result. */
static lz_val interleave(lz_func *f, const lz_val *lanes, int64_t per, int64_t nblock,
                         const lz_type *t)
{
    lz_val part[4];
    lz_shape column = lz_shape_make(2, (int64_t[]){nblock, 1}), flat = vector(nblock * per);
    for (int64_t j = 0; j < per; j++)
        part[j] = lz_build_reshape(f, narrow(f, lanes[j], t->dtype), &column);
    lz_val all = lz_build_reshape(f, concat(f, part, (uint32_t)per, 1), &flat);
    return lz_build_reshape(f, first_elements(f, all, t->nelem), &t->shape);
}

static lz_val counters(lz_func *f, int64_t n)
{
    lz_shape s = vector(n);
    return lz_build_iota(f, lz_type_get(LZ_U64, &s), 0);
}

static void make_philox(lz_func *f, lz_val state, const lz_type *t, lz_val out[2])
{
    int64_t nword = lz_val_type(f, state)->nelem, per = lz_dtype_size(t->dtype) == 8 ? 2 : 4;
    int64_t n = t->nelem / per + (t->nelem % per != 0);
    lz_val key = state_word(f, state, 0), lo = state_word(f, state, 1),
           hi = nword == 3 ? state_word(f, state, 2) : key;
    lz_val next = ew(f, LZ_OP_ADD, lo, u64_const(f, (uint64_t)n));
    lz_val carry = lz_build_convert(f, lz_build_compare(f, LZ_CMP_LT, next, lo), LZ_U64);
    lz_val words[3] = {key, next, ew(f, LZ_OP_ADD, hi, carry)};
    out[0] = join_state(f, words, (uint32_t)nword);
    if (n == 0) {
        out[1] = lz_build_splat(f, t, 0);
        return;
    }
    lz_val base = spread(f, lo, n), c = ew(f, LZ_OP_ADD, base, counters(f, n));
    lz_val over = lz_build_convert(f, lz_build_compare(f, LZ_CMP_LT, c, base), LZ_U64);
    lz_val d = ew(f, LZ_OP_ADD, spread(f, hi, n), over);
    lz_val x[4] = {low_word(f, c), high_word(f, c, n), low_word(f, d), high_word(f, d, n)};
    philox(f, n, x, low_word(f, key), high_word(f, key, 0));
    if (per == 2) {
        x[0] = two_words(f, x[0], x[1], n);
        x[1] = two_words(f, x[2], x[3], n);
    }
    out[1] = interleave(f, x, per, n, t);
}

/* Word 0 of each counter at the even places along the cut dimension, word 1 at the odd ones. */
static lz_val join_halves(lz_func *f, lz_val w0, lz_val w1, const lz_type *t)
{
    int cut = lz_threefry_cut_dim(&t->shape);
    int64_t before = 1, after = 1, whole = t->shape.dims[cut], half = whole / 2 + whole % 2;
    for (int d = 0; d < t->shape.rank; d++) {
        before *= d < cut ? t->shape.dims[d] : 1;
        after *= d > cut ? t->shape.dims[d] : 1;
    }
    lz_shape part = lz_shape_make(4, (int64_t[]){before, half, 1, after}),
             both = lz_shape_make(3, (int64_t[]){before, 2 * half, after});
    lz_val v[2] = {lz_build_reshape(f, narrow(f, w0, t->dtype), &part),
                   lz_build_reshape(f, narrow(f, w1, t->dtype), &part)};
    lz_val all = lz_build_reshape(f, concat(f, v, 2, 2), &both);
    if (2 * half != whole) {
        lz_attr_slice a;
        memset(&a, 0, sizeof a);
        a.kind = LZ_ATTR_slice;
        a.start_indices = lz_ints_make(3, (int64_t[]){0, 0, 0});
        a.limit_indices = lz_ints_make(3, (int64_t[]){before, whole, after});
        a.strides = lz_ints_make(3, (int64_t[]){1, 1, 1});
        all = lz_build(f, LZ_OP_SLICE, RECORD(a), &all, 1);
    }
    return lz_build_reshape(f, all, &t->shape);
}

static void make_threefry(lz_func *f, lz_val state, const lz_type *t, lz_val out[2])
{
    bool wide = lz_dtype_size(t->dtype) == 8;
    int64_t n = t->nelem;
    if (!wide && t->shape.rank && n) {
        int64_t whole = t->shape.dims[lz_threefry_cut_dim(&t->shape)];
        n = n / whole * (whole / 2 + whole % 2);
    }
    lz_val key = state_word(f, state, 0), lo = state_word(f, state, 1);
    lz_val words[2] = {key, ew(f, LZ_OP_ADD, lo, u64_const(f, (uint64_t)n))};
    out[0] = join_state(f, words, 2);
    if (n == 0) {
        out[1] = lz_build_splat(f, t, 0);
        return;
    }
    lz_val c = ew(f, LZ_OP_ADD, spread(f, lo, n), counters(f, n));
    lz_val x[2] = {low_word(f, c), high_word(f, c, n)};
    threefry(f, n, x, low_word(f, key), high_word(f, key, 0));
    if (wide)
        out[1] = lz_build_reshape(f, narrow(f, two_words(f, x[0], x[1], n), t->dtype), &t->shape);
    else if (t->shape.rank == 0)
        out[1] = lz_build_reshape(f, narrow(f, x[0], t->dtype), &t->shape);
    else
        out[1] = join_halves(f, x[0], x[1], t);
}

/* ---- scattered sums ---- */

static lz_dtype wide(lz_dtype d)
{
    return d == LZ_F16 || d == LZ_BF16 ? LZ_F32 : d;
}

/* A sum scattered into 16-bit floats is added up in f32 and rounded once. */
static lz_val widen_scatter(lz_rw *rw, uint32_t i)
{
    lz_func *f = rw->out;
    const lz_inst *in = &rw->in->insts[i];
    lz_dtype d = in->sig->result[0]->dtype;
    lz_attr_scatter a = *LZ_ATTR(scatter, in->sig->attr);
    if (in->sig->nresult != 1 || wide(d) == d ||
        lz_region_as_binary(a.update_computation) != LZ_OP_ADD)
        return LZ_NOVAL;
    a.update_computation = lz_region_binary(LZ_OP_ADD, wide(d));
    if (!a.update_computation) {
        f->status = lz_error_get()->status;
        return LZ_NOVAL;
    }
    lz_val v[3] = {lz_build_convert(f, lz_rw_opnd(rw, i, 0), wide(d)), lz_rw_opnd(rw, i, 1),
                   lz_build_convert(f, lz_rw_opnd(rw, i, 2), wide(d))};
    return lz_build_convert(f, lz_build(f, LZ_OP_SCATTER, RECORD(a), v, 3), d);
}

/* ---- complex products ---- */

enum { SMALL_PRODUCT = 4096 }; /* multiplications */

static double multiplications(const lz_sig *s)
{
    const lz_ints *k = &LZ_ATTR(dot, s->attr)->lhs_contracting_dimensions;
    double n = (double)s->result[0]->nelem;
    for (int i = 0; i < k->n; i++)
        n *= (double)s->opnd[0]->shape.dims[k->v[i]];
    return n;
}

/* A product of complex matrices as four of their parts, which go through the real kernels. */
static lz_val split_product(lz_rw *rw, uint32_t i)
{
    lz_func *f = rw->out;
    const lz_sig *s = rw->in->insts[i].sig;
    if (!lz_dtype_is_complex(s->opnd[0]->dtype) || multiplications(s) < SMALL_PRODUCT)
        return LZ_NOVAL;
    lz_val part[2][2], v[2][2]; /* of operand k: real, imaginary; products of part a and part b */
    for (uint32_t k = 0; k < 2; k++) {
        part[k][0] = lz_build_ew1(f, LZ_OP_REAL, lz_rw_opnd(rw, i, k));
        part[k][1] = lz_build_ew1(f, LZ_OP_IMAG, lz_rw_opnd(rw, i, k));
    }
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++)
            v[a][b] =
                lz_build(f, LZ_OP_DOT_GENERAL, s->attr, (lz_val[]){part[0][a], part[1][b]}, 2);
    return ew(f, LZ_OP_COMPLEX, ew(f, LZ_OP_SUBTRACT, v[0][0], v[1][1]),
              ew(f, LZ_OP_ADD, v[0][1], v[1][0]));
}

/* ---- the pass ---- */

typedef struct made {
    lz_val v[LZ_LINALG_RESULTS]; /* state, bits; or of a decomposition */
    bool kept;                   /* a decomposition that the backend has a routine for */
} made;

typedef struct expansion {
    made *all;                           /* by instruction */
    bool routines, portable, native_rng; /* as lz_lower_options has them */
} expansion;

/* Whether its results are kept in `made`. */
static bool makes_several(const lz_inst *in)
{
    return in->sig->op == LZ_OP_RNG_BIT_GENERATOR || lz_op_get(in->sig->op)->cls == LZ_CLASS_LINALG;
}

/* One that the backend has no routine for. */
static lz_val decompose(lz_rw *rw, uint32_t i, bool routines, lz_val *out)
{
    if (!routines || !lz_widen_linalg(rw, i, out))
        lz_expand_linalg(rw, i, out);
    return out[0];
}

/* An operation of StableHLO's own that other compilers have, however they do it. */
static bool is_everywhere(const expansion *x, const lz_sig *s)
{
    const lz_op_info *op = lz_op_get(s->op);
    bool taken_apart =
        op->cls == LZ_CLASS_LINALG || op->cls == LZ_CLASS_FFT || op->cls == LZ_CLASS_DOT;
    return (taken_apart || (x->native_rng && op->cls == LZ_CLASS_RNG)) && !strchr(op->text, '.');
}

static lz_val expand(lz_rw *rw, uint32_t i, void *user)
{
    const expansion *x = user;
    made *all = x->all;
    const lz_inst *in = &rw->in->insts[i];
    if (x->portable && is_everywhere(x, in->sig)) {
        all[i].kept = true;
        return LZ_NOVAL;
    }
    if (x->routines && lz_routine_has(in->sig)) {
        all[i].kept = true;
        return LZ_NOVAL;
    }
    if (in->sig->op == LZ_OP_RESULT && makes_several(&rw->in->insts[in->opnd[0]]))
        return all[in->opnd[0]].kept ? LZ_NOVAL
                                     : all[in->opnd[0]].v[LZ_ATTR(index, in->sig->attr)->index];
    if (in->sig->op == LZ_OP_SCATTER)
        return widen_scatter(rw, i);
    if (in->sig->op == LZ_OP_FFT)
        return lz_expand_fft(rw, i);
    if (lz_op_get(in->sig->op)->cls == LZ_CLASS_LINALG)
        return decompose(rw, i, x->routines, all[i].v);
    if (in->sig->op == LZ_OP_DOT_GENERAL)
        return split_product(rw, i);
    if (in->sig->op == LZ_OP_BITCAST_CONVERT)
        return lz_expand_bitcast(rw, i);
    if (in->sig->op != LZ_OP_RNG_BIT_GENERATOR)
        return LZ_NOVAL;
    const lz_type *st = in->sig->opnd[0];
    bool fry = LZ_ATTR(rng, in->sig->attr)->rng_algorithm == LZ_RNG_THREE_FRY;
    if (st->dtype != LZ_U64 || st->nelem < 2 || st->nelem > (fry ? 2 : 3) || st->shape.rank != 1) {
        char text[160];
        rw->out->status =
            LZ_FAIL(LZ_EUNSUPPORTED, "rng_bit_generator: a state of type %s; u64[2] is needed",
                    lz_type_short(st, text, sizeof text));
        return LZ_NOVAL;
    }
    (fry ? make_threefry : make_philox)(rw->out, lz_rw_opnd(rw, i, 0), in->sig->result[1],
                                        all[i].v);
    return all[i].v[0];
}

lz_status lz_pass_expand(const lz_func *in, const lz_lower_options *o, lz_func **out)
{
    made *all = lz_calloc((size_t)in->ninst + 1, sizeof *all);
    if (!all)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    lz_status s =
        lz_rw_run(in, expand, &(expansion){all, o->routines, o->portable, o->native_rng}, out);
    lz_free(all);
    return s;
}
