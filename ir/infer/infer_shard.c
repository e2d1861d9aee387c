/* infer_shard.c - shape rules of marks, which say where values are, and of manual computations. See
 * infer.h. */
#include "ir/infer/infer.h"
#include "ir/sharding/sharding.h"

/* The thread's last error, with the name of the operation in front. */
static lz_status failed(const lz_infer *c)
{
    lz_error e = *lz_error_get();
    return LZ_FAIL(e.status, "%s: %.300s", c->name, e.message);
}

static lz_status check_sharding(const lz_infer *c)
{
    const char *text = LZ_ATTR(sharding, c->attr)->sharding;
    const lz_sharding *s = text ? lz_sharding_parse(text) : NULL;
    if (!text)
        return LZ_FAIL(LZ_EINVAL, "%s: there is no sharding", c->name);
    if (!s)
        return failed(c);
    if (s->rank != c->opnd[0]->shape.rank)
        return LZ_FAIL(LZ_EINVAL, "%s: the sharding is of rank %d, the tensor of rank %d", c->name,
                       s->rank, c->opnd[0]->shape.rank);
    return LZ_OK;
}

/* The operand. */
lz_status lz_infer_mark(lz_infer *c)
{
    if (c->attr->kind == LZ_ATTR_sharding)
        LZ_TRY(check_sharding(c));
    if (c->attr->kind == LZ_ATTR_group && LZ_ATTR(group, c->attr)->group_id < 0)
        return LZ_FAIL(LZ_EINVAL, "%s: group %" PRId64, c->name, LZ_ATTR(group, c->attr)->group_id);
    if (c->attr->kind == LZ_ATTR_propagation &&
        (uint64_t)LZ_ATTR(propagation, c->attr)->allowed_direction > 3)
        return LZ_FAIL(LZ_EINVAL, "%s: allowed_direction %" PRId64 " is none of 0 to 3", c->name,
                       LZ_ATTR(propagation, c->attr)->allowed_direction);
    c->result[0] = c->opnd[0];
    c->nresult = 1;
    return LZ_OK;
}

/* ---- manual computations: global outside; inside, shapes are local along some axes ---- */

static lz_status check_border(const lz_infer *c, const char *what, uint32_t k, const lz_sharding *s,
                              const lz_sharding *first, int rank)
{
    if (s->mesh != first->mesh)
        return LZ_FAIL(LZ_EINVAL, "%s: %s %u is on another mesh than the first", c->name, what, k);
    if (s->rank != rank)
        return LZ_FAIL(LZ_EINVAL, "%s: %s %u: the sharding is of rank %d, the tensor of rank %d",
                       c->name, what, k, s->rank, rank);
    return LZ_OK;
}

/* Devices along a dimension's manual axes. */
static int64_t manual_size(const lz_sharding *s, int d, uint32_t manual)
{
    int64_t n = 1;
    for (int i = 0; i < s->dims[d].n; i++)
        n *= manual >> s->dims[d].at[i] & 1 ? s->mesh->factors[s->dims[d].at[i]].size : 1;
    return n;
}

static lz_status manual_operand(const lz_infer *c, uint32_t k, const lz_sharding *s)
{
    const lz_attr_manual *a = LZ_ATTR(manual, c->attr);
    lz_shape local = c->opnd[k]->shape;
    for (int d = 0; d < s->rank; d++) {
        int64_t n = manual_size(s, d, (uint32_t)a->manual_axes);
        if (local.dims[d] % n)
            return LZ_FAIL(LZ_ESHAPE,
                           "%s: dimension %d of operand %u, %s, does not split into %" PRId64
                           " parts",
                           c->name, d, k, LZ_TT(c->opnd[k]), n);
        local.dims[d] /= n;
    }
    const lz_type *want = lz_type_get(c->opnd[k]->dtype, &local), *have = lz_val_type(a->body, k);
    if (!want)
        return failed(c);
    return want == have ? LZ_OK
                        : LZ_FAIL(want->dtype != have->dtype ? LZ_EDTYPE : LZ_ESHAPE,
                                  "%s: parameter %u of body is %s, but a device has %s of %s",
                                  c->name, k, LZ_TT(have), LZ_TT(want), LZ_TT(c->opnd[k]));
}

static lz_status manual_result(lz_infer *c, uint32_t k, const lz_sharding *s)
{
    const lz_attr_manual *a = LZ_ATTR(manual, c->attr);
    const lz_type *local = lz_val_type(a->body, a->body->results[k]);
    lz_shape global = local->shape;
    for (int d = 0; d < s->rank; d++)
        if (!lz_mul_i64(global.dims[d], manual_size(s, d, (uint32_t)a->manual_axes),
                        &global.dims[d]))
            return LZ_FAIL(LZ_ERANGE, "%s: result %u is too large", c->name, k);
    c->result[k] = lz_type_get(local->dtype, &global);
    return c->result[k] ? LZ_OK : failed(c);
}

static lz_status manual_borders(lz_infer *c, const lz_sharding **in, const lz_sharding **out)
{
    const lz_attr_manual *a = LZ_ATTR(manual, c->attr);
    const lz_sharding *first = c->nopnd ? in[0] : out[0];
    uint32_t n = a->body->nresult;
    if (a->manual_axes <= 0 || a->manual_axes & ~(int64_t)lz_mesh_all(first->mesh))
        return LZ_FAIL(LZ_EINVAL, "%s: manual_axes: %" PRId64 " is no set of axes of the mesh",
                       c->name, a->manual_axes);
    for (uint32_t k = 0; k < c->nopnd; k++) {
        LZ_TRY(check_border(c, "operand", k, in[k], first, c->opnd[k]->shape.rank));
        LZ_TRY(manual_operand(c, k, in[k]));
    }
    for (uint32_t k = 0; k < n; k++) {
        LZ_TRY(check_border(c, "result", k, out[k], first,
                            lz_val_type(a->body, a->body->results[k])->shape.rank));
        LZ_TRY(manual_result(c, k, out[k]));
    }
    c->nresult = n;
    return LZ_OK;
}

lz_status lz_infer_manual(lz_infer *c)
{
    const lz_attr_manual *a = LZ_ATTR(manual, c->attr);
    if (!a->body)
        return LZ_FAIL(LZ_EINVAL, "%s: there is no body", c->name);
    uint32_t n = a->body->nresult;
    if (a->body->nparam != c->nopnd || n == 0)
        return LZ_FAIL(LZ_EINVAL, "%s: body has %u parameters and %u results for %u operands",
                       c->name, a->body->nparam, n, c->nopnd);
    const lz_sharding **all = lz_calloc((size_t)c->nopnd + n, sizeof *all);
    if (!all)
        return LZ_FAIL(LZ_EMEM, "%s: no memory for %u values", c->name, c->nopnd + n);
    lz_status s = lz_shardings_parse(a->in_shardings, all, c->nopnd);
    if (s == LZ_OK)
        s = lz_shardings_parse(a->out_shardings, all + c->nopnd, n);
    s = s == LZ_OK ? manual_borders(c, all, all + c->nopnd) : failed(c);
    lz_free(all);
    return s;
}
