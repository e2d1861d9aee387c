/* ema.c - exponential moving averages of parameters. */
#include "nn/optim_rule.h"
#include "runtime/exec/assign.h"
#include "runtime/exec/snapshot.h"
#include <lazuli/grad.h>
#include <lazuli/hlo.h>
#include <lazuli/ops.h>
#include <lazuli/tensor_ops.h>

static bool is_float(const lz_tensor *t)
{
    lz_dtype d = lz_dtype_of(t);
    return d == LZ_F32 || d == LZ_F64 || d == LZ_F16 || d == LZ_BF16;
}

/* A new buffer with value i. */
static lz_status add_copy(lz_params *to, const char *name, const lz_snapshot *now, size_t i,
                          const lz_site *site)
{
    lz_dtype d;
    lz_shape shape;
    size_t n;
    lz_snapshot_describe(now, i, &d, &shape, &n);
    void *bytes = lz_alloc(n);
    if (!bytes)
        return LZ_FAIL(LZ_EMEM, "no memory for %zu bytes of averages", n);
    lz_status s = lz_snapshot_read(now, i, bytes);
    if (s == LZ_OK)
        s = lz_params_add_buffer_at(to, name, lz_from_host_at(d, shape, bytes, n, site), site);
    lz_free(bytes);
    return s;
}

lz_ema *lz_ema_new_at(lz_params *ps, double decay, const lz_site *site)
{
    LZ_PUBLIC_AT(NULL);
    static const char op[] = "lz_ema_new";
    lz_ema *e = NULL;
    lz_status s = LZ_OK;
    if (!ps)
        s = LZ_FAIL(LZ_ENULL, "the parameter list is NULL");
    else if (!(decay >= 0 && decay <= 1))
        s = LZ_FAIL(LZ_EINVAL, "decay is %g: it must be in [0, 1]", decay);
    else if (!(e = lz_calloc(1, sizeof *e)))
        s = LZ_FAIL(LZ_EMEM, "no memory for the averages");
    if (s == LZ_OK)
        s = lz_scope_begin();
    if (s != LZ_OK) {
        lz_free(e);
        lz_error_annotate(op, site);
        return NULL;
    }
    e->params = ps;
    e->decay = decay;
    lz_snapshot now = {0};
    s = lz_snapshot_take(&now, ps->tensors, ps->len);
    for (size_t i = 0; i < ps->len && s == LZ_OK; i++)
        s = add_copy(&e->average, ps->names[i], &now, i, site);
    lz_snapshot_free(&now);
    lz_scope_end();
    if (s == LZ_OK)
        return e;
    lz_error_annotate(op, site);
    lz_ema_free(e);
    return NULL;
}

lz_status lz_ema_update_at(lz_ema *e, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    if (!e)
        return LZ_NN_FAIL(LZ_ENULL, "lz_ema_update", site, "the averages are NULL");
    lz_status s = lz_scope_begin();
    if (s != LZ_OK)
        return s;
    lz_assignments all = {0};
    for (size_t i = 0; i < e->average.len && i < e->params->len && s == LZ_OK; i++) {
        lz_tensor *a = e->average.tensors[i], *p = e->params->tensors[i], *next;
        if (is_float(p) && !e->params->is_buffer[i])
            next = lz_add_at(a, lz_mul_scalar_at(lz_sub_at(p, a, site), 1 - e->decay, site), site);
        else /* a copy: shared memory could not be updated in place */
            next = lz_hlo_optimization_barrier_at(p, site);
        s = lz_assignments_add(&all, a, next);
    }
    s = lz_assignments_end(&all, s, site);
    lz_scope_end();
    return lz_nn_given(s);
}

lz_status lz_ema_swap_at(lz_ema *e, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    if (!e)
        return LZ_NN_FAIL(LZ_ENULL, "lz_ema_swap", site, "the averages are NULL");
    lz_status s = lz_scope_begin();
    if (s != LZ_OK)
        return s;
    lz_assignments all = {0};
    for (size_t i = 0; i < e->average.len && i < e->params->len && s == LZ_OK; i++) {
        lz_tensor *a = e->average.tensors[i], *p = e->params->tensors[i];
        lz_tensor *was = lz_detach_at(p, site); /* a snapshot: p may be assigned later */
        s = lz_assignments_add(&all, p, lz_detach_at(a, site));
        if (s == LZ_OK)
            s = lz_assignments_add(&all, a, was);
    }
    s = lz_assignments_end(&all, s, site);
    lz_scope_end();
    return lz_nn_given(s);
}

const lz_params *lz_ema_params(const lz_ema *e)
{
    LZ_PUBLIC(NULL);
    return e ? &e->average : NULL;
}

void lz_ema_free(lz_ema *e)
{
    LZ_PUBLIC();
    if (!e)
        return;
    lz_params_free(&e->average);
    lz_free(e);
}
