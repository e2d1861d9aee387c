/* build.c - the builder's calls: each makes the attribute record and signature of one operation and
 * appends it. See module.h.
 * Threads: thread-compatible. */
#include "ir/attr.h"
#include "ir/func.h"
#include <string.h>

lz_val lz_build_sig(lz_func *f, const lz_sig *sig, const lz_val *opnd)
{
    if (!sig)
        return lz_func_failed(f);
    for (uint32_t i = 0; i < sig->nopnd; i++)
        if (opnd[i] == LZ_NOVAL)
            return LZ_NOVAL;
    if (sig->op == LZ_OP_PARAMETER)
        return lz_build_param(f, sig->result[0]);
    if (sig->op == LZ_OP_CONSTANT) {
        (void)LZ_FAIL(LZ_EINTERNAL, "constant: is made by lz_build_const, from its value");
        return lz_func_failed(f);
    }
    return lz_func_append(f, sig, opnd, NULL);
}

/* A record of kind index without a type: the operand knows it. */
static const lz_sig *result_sig(lz_func *f, const lz_attr *record, lz_val multi)
{
    return lz_sig_result(f->insts[multi].sig, LZ_ATTR(index, record)->index);
}

lz_val lz_build(lz_func *f, lz_op op, const lz_attr *record, const lz_val *opnd, uint32_t nopnd)
{
    const lz_type *few[16], **types = few;
    if (f->status != LZ_OK)
        return LZ_NOVAL;
    if (nopnd > sizeof few / sizeof *few && !(types = lz_calloc(nopnd, sizeof *types))) {
        (void)LZ_FAIL(LZ_EMEM, "%s: no memory for %u operands", lz_op_get(op)->text, nopnd);
        return lz_func_failed(f);
    }
    const lz_sig *sig = NULL;
    bool known = true;
    for (uint32_t i = 0; i < nopnd && known; i++) {
        known = opnd[i] < f->ninst;
        types[i] = known ? lz_val_type(f, opnd[i]) : NULL;
        if (!known && opnd[i] != LZ_NOVAL)
            (void)LZ_FAIL(LZ_EINTERNAL, "%s: operand %u is value %u of %u", lz_op_get(op)->text, i,
                          opnd[i], f->ninst);
        else if (!known)
            (void)LZ_FAIL(LZ_EINTERNAL, "%s: operand %u is no value", lz_op_get(op)->text, i);
    }
    if (known && op == LZ_OP_RESULT && nopnd == 1 && record && record->kind == LZ_ATTR_index)
        sig = result_sig(f, record, opnd[0]);
    else if (known)
        sig = lz_sig_get(op, record, types, nopnd);
    if (types != few)
        lz_free(types);
    return sig ? lz_build_sig(f, sig, opnd) : lz_func_failed(f);
}

lz_val lz_build_param(lz_func *f, const lz_type *t)
{
    if (f->status != LZ_OK)
        return LZ_NOVAL;
    if (f->ninst != f->nparam) {
        (void)LZ_FAIL(LZ_EINTERNAL, "%s: a parameter after other instructions", f->name);
        return lz_func_failed(f);
    }
    if (!t)
        return lz_func_failed(f);
    lz_attr_type a = {.kind = LZ_ATTR_type, .dtype = t->dtype, .shape = t->shape};
    const lz_sig *sig = lz_sig_get(LZ_OP_PARAMETER, (const lz_attr *)(const void *)&a, NULL, 0);
    lz_val v = sig ? lz_func_append(f, sig, NULL, NULL) : lz_func_failed(f);
    f->nparam += v != LZ_NOVAL;
    return v;
}

lz_val lz_build_const(lz_func *f, lz_literal *lit)
{
    if (f->status != LZ_OK)
        return LZ_NOVAL;
    if (!lit)
        return lz_func_failed(f);
    lz_attr_type a = {.kind = LZ_ATTR_type, .dtype = lit->type->dtype, .shape = lit->type->shape};
    const lz_sig *sig = lz_sig_get(LZ_OP_CONSTANT, (const lz_attr *)(const void *)&a, NULL, 0);
    return sig ? lz_func_append(f, sig, NULL, lit) : lz_func_failed(f);
}

static lz_val build_given(lz_func *f, lz_literal *l)
{
    lz_val r = lz_build_const(f, l);
    lz_literal_release(l);
    return r;
}

lz_val lz_build_scalar(lz_func *f, lz_dtype d, double v)
{
    return f->status == LZ_OK ? build_given(f, lz_literal_scalar(d, v)) : LZ_NOVAL;
}

lz_val lz_build_scalar_i64(lz_func *f, lz_dtype d, int64_t v)
{
    return f->status == LZ_OK ? build_given(f, lz_literal_scalar_i64(d, v)) : LZ_NOVAL;
}

#define RECORD(a) ((const lz_attr *)(const void *)&(a))

lz_val lz_build_splat(lz_func *f, const lz_type *t, double v)
{
    if (!t)
        return lz_func_failed(f);
    lz_val s = lz_build_scalar(f, t->dtype, v);
    const lz_ints none = {0};
    return t->shape.rank == 0 ? s : lz_build_broadcast(f, s, &none, &t->shape);
}

lz_val lz_build_splat_bits(lz_func *f, const lz_type *t, uint64_t bits)
{
    const lz_ints none = {0};
    lz_shape scalar = LZ_SCALAR;
    const lz_type *st = lz_type_get(t->dtype, &scalar);
    const uint64_t parts[2] = {bits, bits}; /* as lz_literal_splat says them */
    lz_literal *l = st ? lz_literal_copy_from(st, parts) : NULL;
    lz_val v = lz_build_const(f, l);
    lz_literal_release(l);
    return t->shape.rank == 0 || v == LZ_NOVAL ? v : lz_build_broadcast(f, v, &none, &t->shape);
}

/* Its result has the elements of its one operand, and no others. */
static bool only_moves(const lz_inst *in)
{
    switch (in->sig->attr ? in->sig->attr->kind : LZ_ATTR_none) {
    case LZ_ATTR_broadcast:
    case LZ_ATTR_shape:
    case LZ_ATTR_perm:
    case LZ_ATTR_slice:
    case LZ_ATTR_window_view:
        return in->sig->nopnd == 1;
    default:
        return in->sig->op == LZ_OP_REVERSE;
    }
}

lz_val lz_val_behind_views(const lz_func *f, lz_val v)
{
    for (;;) {
        lz_op op = lz_inst_op(&f->insts[v]);
        if (op != LZ_OP_BROADCAST_IN_DIM && op != LZ_OP_RESHAPE && op != LZ_OP_TRANSPOSE)
            return v;
        v = f->insts[v].opnd[0];
    }
}

const lz_literal *lz_val_splat(const lz_func *f, lz_val v, uint64_t *bits)
{
    while (!f->insts[v].lit && only_moves(&f->insts[v]))
        v = f->insts[v].opnd[0];
    const lz_literal *l = f->insts[v].lit;
    return l && lz_literal_splat(l, bits) ? l : NULL;
}

bool lz_val_is_neutral(const lz_func *f, lz_op combiner, lz_val v)
{
    uint64_t id = 0, own = 0;
    const lz_literal *l = combiner == LZ_OP_NONE ? NULL : lz_val_splat(f, v, &own);
    return l && ((lz_identity_bits(combiner, l->type->dtype, &id) && own == id) ||
                 (own == 0 && lz_op_has(combiner, LZ_F_ID0)));
}

lz_val lz_build_iota(lz_func *f, const lz_type *t, int64_t dim)
{
    if (!t)
        return lz_func_failed(f);
    lz_attr_iota a = {
        .kind = LZ_ATTR_iota, .iota_dimension = dim, .dtype = t->dtype, .shape = t->shape};
    return lz_build(f, LZ_OP_IOTA, RECORD(a), NULL, 0);
}

lz_val lz_build_ew1(lz_func *f, lz_op op, lz_val a)
{
    return lz_build(f, op, NULL, &a, 1);
}

lz_val lz_build_ew2(lz_func *f, lz_op op, lz_val a, lz_val b)
{
    return lz_build(f, op, NULL, (lz_val[]){a, b}, 2);
}

lz_val lz_build_select(lz_func *f, lz_val p, lz_val a, lz_val b)
{
    return lz_build(f, LZ_OP_SELECT, NULL, (lz_val[]){p, a, b}, 3);
}

/* Whether v can be asked for its type; when not, it is or becomes the function's failure. */
static bool have(lz_func *f, lz_val v)
{
    if (f->status == LZ_OK && v < f->ninst)
        return true;
    if (f->status == LZ_OK) {
        (void)LZ_FAIL(LZ_EINTERNAL, "%s: %u is no value of %u", f->name, v, f->ninst);
        lz_func_failed(f);
    }
    return false;
}

lz_val lz_build_compare(lz_func *f, lz_comparison_direction dir, lz_val a, lz_val b)
{
    if (!have(f, a))
        return LZ_NOVAL;
    lz_dtype d = lz_val_type(f, a)->dtype;
    lz_attr_compare c = {.kind = LZ_ATTR_compare,
                         .comparison_direction = dir,
                         .compare_type = lz_dtype_is_signed(d)                     ? LZ_CT_SIGNED
                                         : lz_dtype_is_unsigned(d) || d == LZ_BOOL ? LZ_CT_UNSIGNED
                                                                                   : LZ_CT_FLOAT};
    return lz_build(f, LZ_OP_COMPARE, RECORD(c), (lz_val[]){a, b}, 2);
}

lz_val lz_build_convert(lz_func *f, lz_val a, lz_dtype d)
{
    if (!have(f, a) || lz_val_type(f, a)->dtype == d)
        return f->status == LZ_OK ? a : LZ_NOVAL;
    lz_attr_dtype c = {.kind = LZ_ATTR_dtype, .dtype = d};
    return lz_build(f, LZ_OP_CONVERT, RECORD(c), &a, 1);
}

lz_val lz_build_reshape(lz_func *f, lz_val a, const lz_shape *s)
{
    if (!have(f, a) || lz_shape_eq(&lz_val_type(f, a)->shape, s))
        return f->status == LZ_OK ? a : LZ_NOVAL;
    lz_attr_shape r = {.kind = LZ_ATTR_shape, .shape = *s};
    return lz_build(f, LZ_OP_RESHAPE, RECORD(r), &a, 1);
}

lz_val lz_build_broadcast(lz_func *f, lz_val a, const lz_ints *dims, const lz_shape *s)
{
    lz_attr_broadcast r = {.kind = LZ_ATTR_broadcast, .broadcast_dimensions = *dims, .shape = *s};
    return lz_build(f, LZ_OP_BROADCAST_IN_DIM, RECORD(r), &a, 1);
}

lz_val lz_build_transpose(lz_func *f, lz_val a, const lz_ints *perm)
{
    lz_attr_perm r = {.kind = LZ_ATTR_perm, .permutation = *perm};
    return lz_build(f, LZ_OP_TRANSPOSE, RECORD(r), &a, 1);
}

lz_val lz_build_slice(lz_func *f, lz_val a, const int64_t *start, const int64_t *limit,
                      const int64_t *stride)
{
    lz_attr_slice r = {.kind = LZ_ATTR_slice};
    if (!have(f, a))
        return LZ_NOVAL;
    int rank = lz_val_type(f, a)->shape.rank;
    r.start_indices.n = r.limit_indices.n = r.strides.n = rank;
    for (int d = 0; d < rank; d++) {
        r.start_indices.v[d] = start ? start[d] : 0;
        r.limit_indices.v[d] = limit[d];
        r.strides.v[d] = stride ? stride[d] : 1;
    }
    return lz_build(f, LZ_OP_SLICE, RECORD(r), &a, 1);
}

lz_val lz_build_conj(lz_func *f, lz_val a)
{
    if (!have(f, a) || !lz_dtype_is_complex(lz_val_type(f, a)->dtype))
        return a;
    lz_val im = lz_build_ew1(f, LZ_OP_NEGATE, lz_build_ew1(f, LZ_OP_IMAG, a));
    return lz_build_ew2(f, LZ_OP_COMPLEX, lz_build_ew1(f, LZ_OP_REAL, a), im);
}

lz_val lz_build_reduce(lz_func *f, lz_op combiner, lz_val a, lz_val init, const lz_ints *dims)
{
    if (!have(f, a))
        return LZ_NOVAL;
    const lz_func *body = lz_region_binary(combiner, lz_val_type(f, a)->dtype);
    if (!body)
        return lz_func_failed(f);
    lz_attr_reduce r = {.kind = LZ_ATTR_reduce, .dimensions = *dims, .body = body};
    return lz_build(f, LZ_OP_REDUCE, RECORD(r), (lz_val[]){a, init}, 2);
}

lz_val lz_build_result(lz_func *f, lz_val multi, int64_t index)
{
    if (!have(f, multi))
        return LZ_NOVAL;
    const lz_sig *from = f->insts[multi].sig;
    if (from->nresult == 1 && index == 0)
        return multi;
    const lz_sig *sig = lz_sig_result(from, index);
    return sig ? lz_func_append(f, sig, &multi, NULL) : lz_func_failed(f);
}

void lz_build_all_results(lz_func *f, lz_val multi, uint32_t n, lz_val *out)
{
    for (uint32_t k = 0; k < n; k++)
        out[k] = lz_build_result(f, multi, k);
}
