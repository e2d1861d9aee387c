/* portable.c - a function in operations of StableHLO alone. See portable.h. */
#include "lower/portable.h"
#include "ir/attr.h"
#include "lower/pass.h"
#include "lower/passes/rewrite.h"
#include <string.h>

#define RECORD(a) ((const lz_attr *)(const void *)&(a))

typedef struct portable {
    const lz_portable_options *o;
    int depth; /* of regions in regions */
} portable;

/* ---- views of windows ---- */

/* Elements i * stride + j * dilation of dimension d, for i below `count` and j below `size`, in
 * this order: dimension d of the result has count * size of them. */
static lz_val take(lz_func *f, lz_val x, int64_t d, int64_t count, int64_t size, int64_t stride,
                   int64_t dilation)
{
    lz_attr_gather a;
    lz_shape s = lz_val_type(f, x)->shape;
    const lz_shape at = lz_shape_make(1, (const int64_t[]){count * size});
    const lz_type *t = lz_type_get(LZ_I64, &at);
    lz_literal *index = t ? lz_literal_new(t) : NULL;
    if (!index) {
        f->status = lz_error_get()->status;
        return LZ_NOVAL;
    }
    for (int64_t k = 0; k < count * size; k++)
        lz_elem_set_i64(LZ_I64, index->data, k, k / size * stride + k % size * dilation);
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_gather;
    a.collapsed_slice_dims = a.start_index_map = lz_ints_make(1, &d);
    a.index_vector_dim = 1;
    s.dims[d] = 1;
    a.slice_sizes = lz_ints_make(s.rank, s.dims);
    for (int64_t k = 0; k < s.rank; k++)
        if (k != d)
            a.offset_dims.v[a.offset_dims.n++] = k;
    lz_val v = lz_build(f, LZ_OP_GATHER, RECORD(a), (lz_val[]){x, lz_build_const(f, index)}, 2);
    lz_literal_release(index);
    return v;
}

/* A value without elements is made as such: a gather takes a slice of at least one. Else one
 * dimension after another: each is gathered, split, and its elements moved to the end. */
static lz_val expand_view(lz_rw *rw, uint32_t i)
{
    lz_func *f = rw->out;
    const lz_sig *sig = rw->in->insts[i].sig;
    const lz_attr_window_view *a = LZ_ATTR(window_view, sig->attr);
    if (sig->result[0]->nelem == 0)
        return lz_build_splat_bits(f, sig->result[0], 0);
    lz_val v = lz_rw_opnd(rw, i, 0);
    for (int k = 0; k < a->dimensions.n && v != LZ_NOVAL; k++) {
        int64_t d = a->dimensions.v[k], count = sig->result[0]->shape.dims[d], size = a->sizes.v[k];
        v = take(f, v, d, count, size, a->strides.v[k], a->dilations.v[k]);
        if (v == LZ_NOVAL)
            return v;
        lz_shape s = lz_val_type(f, v)->shape;
        lz_ints perm = {.n = s.rank + 1};
        for (int p = s.rank; p > d + 1; p--)
            s.dims[p] = s.dims[p - 1];
        s.rank++;
        s.dims[d] = count;
        s.dims[d + 1] = size;
        for (int p = 0; p < s.rank - 1; p++)
            perm.v[p] = p <= d ? p : p + 1;
        perm.v[s.rank - 1] = d + 1;
        v = lz_build_transpose(f, lz_build_reshape(f, v, &s), &perm);
    }
    return v;
}

/* ---- dense gathers ---- */

enum { ROWS_MOST = 127 /* numbers of rows that every index dtype of 8 bits has */ };

/* Whether each index takes a whole row of dimension *d, of at most `most` rows. */
static bool takes_rows(const lz_sig *s, int64_t most, int64_t *d)
{
    const lz_attr_gather *a = LZ_ATTR(gather, s->attr);
    const lz_shape *x = &s->opnd[0]->shape, *at = &s->opnd[1]->shape;
    if (a->collapsed_slice_dims.n != 1 || a->start_index_map.n != 1 || a->operand_batching_dims.n ||
        a->collapsed_slice_dims.v[0] != a->start_index_map.v[0] || !s->result[0]->nelem)
        return false;
    *d = a->start_index_map.v[0];
    bool last = a->index_vector_dim >= at->rank - 1; /* the indices are scalars */
    bool rows = x->dims[*d] >= 1 && x->dims[*d] <= most && x->dims[*d] <= ROWS_MOST &&
                !lz_dtype_is_narrow(s->opnd[1]->dtype) && a->slice_sizes.v[*d] == 1;
    for (int k = 0; k < x->rank && rows; k++)
        rows = k == *d || a->slice_sizes.v[k] == x->dims[k];
    return rows && last;
}

/* Row r of dimension d, repeated over the result. */
static lz_val row(lz_func *f, lz_val x, int64_t d, int64_t r, const lz_ints *dims,
                  const lz_shape *to)
{
    lz_shape s = lz_val_type(f, x)->shape;
    int64_t start[LZ_MAX_RANK] = {0}, limit[LZ_MAX_RANK];
    memcpy(limit, s.dims, sizeof limit);
    start[d] = r;
    limit[d] = r + 1;
    lz_val v = lz_build_slice(f, x, start, limit, NULL);
    for (int k = (int)d; k < s.rank - 1; k++)
        s.dims[k] = s.dims[k + 1];
    s.dims[--s.rank] = 0;
    return lz_build_broadcast(f, lz_build_reshape(f, v, &s), dims, to);
}

/* The last row unless the index is that of another, or below the first: indices are clamped. */
static lz_val select_rows(lz_rw *rw, uint32_t i, int64_t d)
{
    lz_func *f = rw->out;
    const lz_sig *s = rw->in->insts[i].sig;
    const lz_attr_gather *a = LZ_ATTR(gather, s->attr);
    const lz_shape *to = &s->result[0]->shape;
    lz_val x = lz_rw_opnd(rw, i, 0), at = lz_rw_opnd(rw, i, 1);
    lz_shape batch = s->opnd[1]->shape;
    lz_ints dims = {0};
    if (a->index_vector_dim == batch.rank - 1)
        batch.dims[--batch.rank] = 0;
    for (int k = 0; k < to->rank; k++)
        if (!lz_ints_has(&a->offset_dims, k))
            dims.v[dims.n++] = k;
    at = lz_build_broadcast(f, lz_build_reshape(f, at, &batch), &dims, to);
    const lz_type *t = at == LZ_NOVAL ? NULL : lz_val_type(f, at);
    int64_t n = s->opnd[0]->shape.dims[d];
    lz_val v = t ? row(f, x, d, n - 1, &a->offset_dims, to) : LZ_NOVAL;
    for (int64_t r = n - 2; r >= 0 && v != LZ_NOVAL; r--) {
        lz_val here =
            lz_build_compare(f, r ? LZ_CMP_EQ : LZ_CMP_LE, at, lz_build_splat(f, t, (double)r));
        v = lz_build_select(f, here, row(f, x, d, r, &a->offset_dims, to), v);
    }
    return v;
}

static lz_val densify(lz_rw *rw, uint32_t i, const portable *p)
{
    int64_t d;
    return takes_rows(rw->in->insts[i].sig, p->o->gather_threshold, &d) ? select_rows(rw, i, d)
                                                                        : LZ_NOVAL;
}

/* ---- loops and branches ---- */

static lz_status convert(const lz_func *f, portable *p, lz_func **out);

static const lz_func *convert_region(const lz_func *r, portable *p, lz_status *s)
{
    lz_func *f = NULL;
    if (p->depth >= LZ_MAX_REGION_DEPTH)
        *s = LZ_FAIL(LZ_EUNSUPPORTED, "regions are nested more than %d deep", LZ_MAX_REGION_DEPTH);
    if (*s != LZ_OK)
        return NULL;
    p->depth++;
    *s = convert(r, p, &f);
    p->depth--;
    const lz_func *interned = *s == LZ_OK ? lz_region_intern(f) : NULL;
    if (*s == LZ_OK && !interned)
        *s = lz_error_get()->status;
    lz_func_free(f);
    return interned;
}

/* A while or an if with other regions; the same where they stay as they are. */
static lz_val convert_control(lz_rw *rw, uint32_t i, portable *p)
{
    const lz_inst *in = &rw->in->insts[i];
    const lz_func *was[2] = {lz_attr_region(in->sig->attr, 0), lz_attr_region(in->sig->attr, 1)};
    const lz_func *r[2];
    lz_status s = LZ_OK;
    for (int k = 0; k < 2; k++)
        r[k] = convert_region(was[k], p, &s);
    uint32_t n = in->sig->nopnd;
    lz_val *opnd = s == LZ_OK ? lz_alloc(((size_t)n + 1) * sizeof *opnd) : NULL;
    if (s == LZ_OK && !opnd)
        s = LZ_FAIL(LZ_EMEM, "no memory for %u operands", n);
    if (s != LZ_OK) {
        rw->out->status = s;
        return LZ_NOVAL;
    }
    for (uint32_t k = 0; k < n; k++)
        opnd[k] = lz_rw_opnd(rw, i, k);
    lz_val v = LZ_NOVAL;
    if (r[0] != was[0] || r[1] != was[1])
        v = in->sig->op == LZ_OP_WHILE ? lz_build_while(rw->out, r[0], r[1], opnd, n)
                                       : lz_build_if(rw->out, r[0], r[1], opnd, n);
    lz_free(opnd);
    return v;
}

static lz_val rule(lz_rw *rw, uint32_t i, void *user)
{
    const lz_inst *in = &rw->in->insts[i];
    switch (lz_inst_op(in)) {
    case LZ_OP_WINDOW_VIEW:
        return expand_view(rw, i);
    case LZ_OP_GATHER:
        return densify(rw, i, user);
    case LZ_OP_WHILE:
    case LZ_OP_IF:
        return convert_control(rw, i, user);
    default:
        return LZ_NOVAL;
    }
}

/* ---- the whole ---- */

static bool is_ours(const char *name)
{
    return name && strncmp(name, "lazuli.", 7) == 0;
}

/* Names what has no expansion; decompositions that iterate without a bound have become calls of
 * routines of this library (linalg_call.h). */
static lz_status check(const lz_func *f)
{
    for (uint32_t i = 0; i < f->ninst; i++) {
        const lz_sig *sig = f->insts[i].sig;
        const char *text = lz_op_get(sig->op)->text;
        int n = (int)strlen(text);
        if (sig->op == LZ_OP_CUSTOM_CALL) {
            const lz_attr_call *a = LZ_ATTR(call, sig->attr);
            bool routine = is_ours(a->call_target_name); /* its text begins with the operation */
            text = routine && a->backend_config ? a->backend_config : text;
            n = (int)strcspn(text, " ");
        }
        if (is_ours(text))
            return LZ_FAIL(LZ_EUNSUPPORTED, "'%s' has %.*s, which StableHLO has no operation for",
                           f->name, n, text);
    }
    return LZ_OK;
}

static lz_status convert(const lz_func *f, portable *p, lz_func **out)
{
    const lz_lower_options options = {.portable = true, .native_rng = p->o->native_rng};
    lz_func *expanded, *made;
    *out = NULL;
    LZ_TRY(lz_passes_run(f, "dce,expand,dce", &options, &expanded));
    lz_status s = lz_rw_run(expanded, rule, p, &made);
    if (s == LZ_OK && made) {
        lz_func_free(expanded);
        expanded = made;
    }
    if (s == LZ_OK)
        s = check(expanded);
    if (s != LZ_OK)
        lz_func_free(expanded);
    else
        *out = expanded;
    return s;
}

lz_status lz_lower_portable(const lz_func *f, const lz_portable_options *o, lz_func **out)
{
    static const lz_portable_options defaults;
    portable p = {.o = o ? o : &defaults};
    return convert(f, &p, out);
}
