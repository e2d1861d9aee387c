/* partition_op.c - the local form of an operation whose factors have their axes: the same operation
 * on tiles, with the extents of its attributes made local, padding masked where it would be read.
 * See partition.h. */
#include "ir/func.h"
#include "shard/partition.h"
#include "shard/reshard.h"
#include <string.h>

/* ---- which factors may be spread ---- */

/* Of convolutions the sums over elements of the kernel may not: tiles of both would be needed. */
static bool conv_may(const lz_part_op *o, uint32_t factor)
{
    const lz_attr_convolution *a = LZ_ATTR(convolution, o->sig->attr);
    const lz_rule_dim *features = &o->r->tensors[0].dims[a->input_feature_dimension];
    if (o->r->factors[factor].kind != LZ_FACTOR_REDUCE)
        return true;
    for (int k = 0; k < features->n; k++)
        if (features->at[k] == factor)
            return true;
    return false;
}

/* Whether tensor t has the factor. */
static bool is_in(const lz_part_op *o, uint32_t factor, uint32_t t)
{
    for (int d = 0; d < o->r->tensors[t].rank; d++)
        for (int k = 0; k < o->r->tensors[t].dims[d].n; k++)
            if (o->r->tensors[t].dims[d].at[k] == factor)
                return true;
    return false;
}

/* A dimension of which single elements are read or written must be one that indices name, and one
 * of which whole windows are written one that they do not. */
static bool index_may(const lz_part_op *o, uint32_t factor)
{
    const lz_rule_tensor *t = &o->r->tensors[0];
    bool whole = is_in(o, factor, o->sig->op == LZ_OP_GATHER ? o->r->nopnd : o->r->nopnd - 1);
    for (int d = 0; d < t->rank; d++)
        if (t->dims[d].n == 1 && t->dims[d].at[0] == factor) {
            bool indexed = lz_part_is_indexed(o, d);
            return o->sig->op == LZ_OP_GATHER ? whole || indexed : whole != indexed;
        }
    return true;
}

/* What an operand has alone is read whole; a reduction says how. */
static bool pass_may(const lz_part_op *o, uint32_t factor)
{
    for (uint32_t t = o->r->nopnd; t < o->r->nopnd + o->r->nresult; t++)
        if (is_in(o, factor, t))
            return true;
    return false;
}

static bool sums_may(const lz_part_op *o, lz_op reduction)
{
    uint64_t bits;
    lz_dtype d = o->sig->result[0]->dtype;
    return reduction && lz_op_accepts(reduction, d) && lz_identity_bits(reduction, d, &bits);
}

static bool may(const lz_part_op *o, uint32_t factor)
{
    const lz_rule_factor *f = &o->r->factors[factor];
    if (f->kind == LZ_FACTOR_PERMUTE)
        return lz_part_halo_may(o, factor);
    if (f->kind == LZ_FACTOR_GATHER)
        return false;
    if (f->kind == LZ_FACTOR_REDUCE && !sums_may(o, f->reduction))
        return false;
    if (f->kind == LZ_FACTOR_PASS && !pass_may(o, factor))
        return false;
    switch (o->sig->op) {
    case LZ_OP_CONVOLUTION:
        return conv_may(o, factor);
    case LZ_OP_GATHER:
    case LZ_OP_SCATTER:
        return index_may(o, factor);
    case LZ_OP_RNG_BIT_GENERATOR:
        return false;
    default:
        return true;
    }
}

lz_status lz_part_find_factors(lz_part_op *o)
{
    o->may = lz_arena_alloc(o->p->scratch, ((size_t)o->r->nfactor + 1) * sizeof *o->may);
    if (!o->may)
        return LZ_FAIL(LZ_EMEM, "no memory to partition %s", o->p->f->name);
    for (uint32_t f = 0; f < o->r->nfactor; f++)
        o->may[f] = may(o, f);
    return LZ_OK;
}

/* ---- values that each use makes ---- */

static bool in_i32(const lz_type *t)
{
    return t->dtype != LZ_I64 && t->dtype != LZ_U64;
}

static lz_val make_iota(lz_partial *p, const lz_attr_iota *a, const lz_type *local,
                        const lz_sharding *at)
{
    const lz_axis_list *axes = &at->dims[a->iota_dimension];
    lz_func *f = p->l.f;
    const lz_ints none = {0};
    if (!axes->n)
        return lz_build_iota(f, local, a->iota_dimension);
    /* counted in integers, so that a float is rounded once */
    const lz_type *count = lz_type_get(in_i32(local) ? LZ_I32 : local->dtype, &local->shape);
    if (!count)
        return lz_func_failed(f);
    lz_val start = lz_local_offset(&p->l, axes, local->shape.dims[a->iota_dimension]);
    start = lz_build_convert(f, start, count->dtype);
    lz_val v = lz_build_ew2(f, LZ_OP_ADD, lz_build_iota(f, count, a->iota_dimension),
                            lz_build_broadcast(f, start, &none, &local->shape));
    return lz_build_convert(f, v, local->dtype);
}

/* One number everywhere, or the part of the whole. */
static lz_val make_constant(lz_partial *p, lz_val v, const lz_type *local, const lz_sharding *at)
{
    uint64_t bits[2] = {0};
    lz_literal *lit = p->f->insts[v].lit;
    const lz_shape none = LZ_SCALAR;
    const lz_ints no_dims = {0};
    const lz_type *t = lz_part_type(p, v);
    if (t == local && (t->shape.rank == 0 || lz_sharding_is_replicated(at)))
        return lz_build_const(p->l.f, lit);
    if (!lz_literal_splat(lit, bits)) {
        lz_val all = lz_build_const(p->l.f, lit);
        return all == LZ_NOVAL
                   ? all
                   : lz_reshard_build(&p->l, all, t, lz_part_replicated(p, t->shape.rank), at);
    }
    bits[1] = bits[0];
    const lz_type *scalar = lz_type_get(t->dtype, &none);
    lz_literal *one = scalar ? lz_literal_copy_from(scalar, bits) : NULL;
    lz_val c = one ? lz_build_const(p->l.f, one) : lz_func_failed(p->l.f);
    lz_literal_release(one);
    return lz_build_broadcast(p->l.f, c, &no_dims, &local->shape);
}

/* One element over a shape. */
static lz_val make_spread(lz_partial *p, const lz_inst *in, const lz_type *local)
{
    const lz_shape none = LZ_SCALAR;
    const lz_ints no_dims = {0};
    lz_val one = lz_part_want(p, in->opnd[0], lz_part_replicated(p, in->sig->opnd[0]->shape.rank));
    if (one == LZ_NOVAL)
        return one;
    return lz_build_broadcast(p->l.f, lz_build_reshape(p->l.f, one, &none), &no_dims,
                              &local->shape);
}

lz_val lz_part_make_free(lz_partial *p, lz_val v, const lz_sharding *at)
{
    const lz_inst *in = &p->f->insts[v];
    const lz_type *local = lz_sharding_local(at, lz_part_type(p, v));
    if (!local)
        return lz_func_failed(p->l.f);
    switch (in->sig->op) {
    case LZ_OP_IOTA:
        return make_iota(p, LZ_ATTR(iota, in->sig->attr), local, at);
    case LZ_OP_CONSTANT:
        return make_constant(p, v, local, at);
    case LZ_OP_BROADCAST_IN_DIM:
        return make_spread(p, in, local);
    case LZ_OP_PARTITION_ID:
        return p->l.part;
    default:
        return lz_build_sig(p->l.f, in->sig, NULL);
    }
}

/* ---- padding ---- */

/* Operands whose elements go into a sum, without what is behind the ends of their dimensions. */
static void mask_operands(lz_part_op *o, uint32_t n, lz_op identity)
{
    for (uint32_t k = 0; k < n; k++)
        for (int d = 0; d < o->r->tensors[k].rank; d++) {
            const lz_rule_dim *dim = &o->r->tensors[k].dims[d];
            if (dim->n == 1 && o->r->factors[dim->at[0]].kind == LZ_FACTOR_REDUCE)
                o->local[k] =
                    lz_local_mask_padding(&o->p->l, o->local[k], d, o->sig->opnd[k]->shape.dims[d],
                                          &o->at[k]->dims[d], identity);
        }
}

/* ---- attributes with extents ---- */

static const lz_shape *local_shape(const lz_part_op *o, uint32_t k)
{
    return &lz_val_type(o->p->l.f, o->local[k])->shape;
}

/* The number of groups that a device has of them. */
static void set_groups(const lz_part_op *o, lz_attr_convolution *a)
{
    const lz_mesh *m = o->p->l.mesh;
    bool features = a->feature_group_count > 1;
    int64_t d = features ? a->input_feature_dimension : a->input_batch_dimension;
    int64_t *count = features ? &a->feature_group_count : &a->batch_group_count;
    if (*count > 1)
        *count /= lz_axis_list_size(m, &o->axes[o->r->tensors[0].dims[d].at[0]]);
}

static void set_sizes(const lz_part_op *o, lz_ints *sizes)
{
    const lz_shape *local = local_shape(o, 0), *global = &o->sig->opnd[0]->shape;
    for (int d = 0; d < sizes->n; d++)
        if (o->at[0]->dims[d].n && sizes->v[d] == global->dims[d])
            sizes->v[d] = local->dims[d];
}

static void localise(const lz_part_op *o, lz_attr_any *a)
{
    lz_shape result;
    lz_sharding_local_shape(o->at[o->sig->nopnd], &o->sig->result[0]->shape, &result);
    switch (o->sig->op) {
    case LZ_OP_BROADCAST_IN_DIM:
        a->as_broadcast.shape = result;
        break;
    case LZ_OP_RESHAPE:
        a->as_shape.shape = result;
        break;
    case LZ_OP_SLICE:
        for (int d = 0; d < result.rank; d++)
            if (o->at[0]->dims[d].n)
                a->as_slice.limit_indices.v[d] = result.dims[d];
        break;
    case LZ_OP_DYNAMIC_SLICE:
        set_sizes(o, &a->as_sizes.slice_sizes);
        break;
    case LZ_OP_GATHER:
        set_sizes(o, &a->as_gather.slice_sizes);
        break;
    case LZ_OP_CONVOLUTION:
        set_groups(o, &a->as_convolution);
        break;
    default:
        break;
    }
}

lz_status lz_part_build_same(lz_part_op *o)
{
    lz_attr_any a;
    lz_func *f = o->p->l.f;
    bool done;
    LZ_TRY(f->status);
    lz_attr_init(&a, o->sig->attr->kind);
    lz_attr_copy(&a.head, o->sig->attr);
    localise(o, &a);
    LZ_TRY(lz_part_build_halo(o, &a, &done));
    if (done)
        return LZ_OK;
    lz_val v = lz_build(f, o->sig->op, &a.head, o->local, o->sig->nopnd);
    for (uint32_t k = 0; k < o->sig->nresult; k++)
        lz_part_give_result(o->p, o->v, k, o->at[o->sig->nopnd + k], lz_build_result(f, v, k));
    return f->status;
}

/* ---- by operation ---- */

/* The initial value is counted once. */
static lz_status build_reduce(lz_part_op *o)
{
    uint32_t n = o->sig->nresult;
    if (o->unreduced) {
        mask_operands(o, n, o->reduction);
        for (uint32_t k = n; k < 2 * n; k++)
            if (!lz_val_is_neutral(o->p->f, o->reduction, o->p->same[o->opnd[k]]))
                o->local[k] =
                    lz_local_first_only(&o->p->l, o->local[k], o->unreduced, o->reduction);
    }
    return lz_part_build_same(o);
}

lz_status lz_part_build(lz_part_op *o)
{
    switch (o->sig->op) {
    case LZ_OP_REDUCE:
        return build_reduce(o);
    case LZ_OP_GATHER:
        return lz_part_build_gather(o);
    case LZ_OP_SCATTER:
        return lz_part_build_scatter(o);
    case LZ_OP_DYNAMIC_UPDATE_SLICE:
        return lz_part_build_update(o);
    case LZ_OP_DOT_GENERAL:
    case LZ_OP_CONVOLUTION:
        mask_operands(o, 2, LZ_OP_ADD);
        return lz_part_build_same(o);
    default:
        return lz_part_build_same(o);
    }
}
