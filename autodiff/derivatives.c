/* derivatives.c - function transforms made of gradients and tangents: value and gradient, Jacobian,
 * Hessian. include/lazuli/transforms.h. */
#include "autodiff/jvp.h"
#include "base/alloc.h"
#include "base/status.h"
#include "runtime/region/region_trace.h"
#include <lazuli/grad.h>
#include <lazuli/shape_ops.h>
#include <lazuli/tensor_ops.h>
#include <lazuli/transforms.h>
#include <string.h>

static lz_status fill_errors(lz_status s, const char *op, lz_tensor **out, size_t n,
                             const lz_site *site)
{
    if (s != LZ_OK)
        (void)lz_api_status(s);
    for (size_t k = 0; k < n && s != LZ_OK && out; k++)
        out[k] = lz_trace_error_tensor(op, site);
    return s;
}

lz_status lz_value_and_grad_at(lz_body_fn *fn, lz_tensor *const *in, int nin, int nout, void *user,
                               lz_tensor **out, lz_tensor **grads, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    static const char op[] = "lz_value_and_grad";
    const lz_grad_options o = {.struct_size = sizeof o, .allow_unused = true};
    lz_status s = LZ_OK;
    if (!fn || !out || !grads || !in)
        s = LZ_FAIL(LZ_ENULL, "%s is NULL", !fn ? "fn" : !out ? "out" : !grads ? "grads" : "in");
    else if (nin < 1 || nout < 1)
        s = LZ_FAIL(LZ_EINVAL, "%d arguments and %d results", nin, nout);
    if (s == LZ_OK) {
        memset(out, 0, (size_t)nout * sizeof *out);
        fn(in, out, user); /* its operations are its own */
    }
    for (int k = 0; k < nout && s == LZ_OK; k++)
        s = out[k] ? lz_status_of(out[k]) : LZ_FAIL(LZ_ENULL, "result %d was not given", k);
    lz_api_frame frame = lz_api_enter(op, site);
    if (s == LZ_OK)
        s = lz_grad_at(out[0], in, (size_t)nin, grads, &o, site);
    fill_errors(s, op, grads, nin > 0 ? (size_t)nin : 0, site);
    fill_errors(s, op, out, nout > 0 ? (size_t)nout : 0, site);
    return lz_api_leave_update(&frame, s);
}

lz_status lz_hvp_at(lz_tensor *loss, lz_tensor *const *params, lz_tensor *const *vectors, size_t n,
                    lz_tensor **out, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    const lz_grad_options o = {.struct_size = sizeof o};
    const lz_jvp_options unused = {.struct_size = sizeof unused, .allow_unused = true};
    lz_api_frame frame = lz_api_enter("lz_hvp", site);
    lz_tensor **g = lz_calloc(n + 1, sizeof *g);
    lz_status s = g ? lz_grad_at(loss, params, n, g, &o, site)
                    : LZ_FAIL(LZ_EMEM, "no memory for %zu gradients", n);
    if (s == LZ_OK)
        s = lz_jvp_at(g, n, params, vectors, n, out, &unused, site);
    lz_free(g);
    fill_errors(s, "lz_hvp", out, n, site);
    return lz_api_leave_update(&frame, s);
}

/* ---- Jacobian ---- */

typedef struct pair {
    lz_tensor *y, *x;
    const lz_site *site;
} pair;

static void row(lz_tensor *const *in, lz_tensor **out, void *user)
{
    const pair *p = user;
    const lz_grad_options o = {.struct_size = sizeof o, .grad_output = in[0], .allow_unused = true};
    (void)lz_grad_at(p->y, &p->x, 1, out, &o, p->site);
}

static void column(lz_tensor *const *in, lz_tensor **out, void *user)
{
    pair *p = user;
    const lz_jvp_options o = {.struct_size = sizeof o, .allow_unused = true};
    (void)lz_jvp_at(&p->y, 1, &p->x, in, 1, out, &o, p->site);
}

static lz_shape joined(const lz_shape *a, const lz_shape *b)
{
    int64_t dims[2 * LZ_MAX_RANK];
    memcpy(dims, a->dims, (size_t)a->rank * sizeof *dims);
    memcpy(dims + a->rank, b->dims, (size_t)b->rank * sizeof *dims);
    return lz_shape_make(a->rank + b->rank, dims);
}

static lz_status check(const pair *p, lz_shape *s)
{
    LZ_TRY(lz_status_of(p->y));
    LZ_TRY(lz_status_of(p->x));
    lz_dtype d = lz_dtype_of(p->y);
    lz_shape y = lz_shape_of(p->y), x = lz_shape_of(p->x);
    if (!lz_dtype_is_float(d) || lz_dtype_of(p->x) != d)
        return LZ_FAIL(LZ_EDTYPE, "y is %s and x is %s; floats of one dtype are needed",
                       lz_dtype_name(d), lz_dtype_name(lz_dtype_of(p->x)));
    if (y.rank + x.rank > LZ_MAX_RANK || y.rank == LZ_MAX_RANK || x.rank == LZ_MAX_RANK)
        return LZ_FAIL(LZ_ESHAPE,
                       "y and x have %d and %d dimensions, together more than %d, or one "
                       "of them all",
                       y.rank, x.rank, LZ_MAX_RANK);
    *s = joined(&y, &x);
    return LZ_OK;
}

/* One-hot tangents: for each element of `of` a change of that element alone, along a new first
 *   dimension. */
static lz_tensor *ones(lz_tensor *of, const lz_site *site)
{
    lz_shape s = lz_shape_of(of);
    int64_t n = lz_numel(of), dims[1] = {n};
    lz_shape rows = lz_shape_make(1, dims), all = joined(&rows, &s);
    lz_tensor *i = lz_iota_at(LZ_I64, LZ_SHAPE(n, n), 0, site),
              *k = lz_iota_at(LZ_I64, LZ_SHAPE(n, n), 1, site);
    lz_tensor *eye =
        lz_hlo_convert_at(lz_hlo_compare_at(LZ_HLO_EQ, i, k, site), lz_dtype_of(of), site);
    return lz_hlo_reshape_at(eye, all, site);
}

lz_tensor *lz_jacobian_at(lz_tensor *y, lz_tensor *x, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_api_frame frame = lz_api_enter("lz_jacobian", site);
    pair p = {y, x, site};
    lz_shape s;
    lz_tensor *out = NULL;
    lz_status st = y && x ? check(&p, &s) : LZ_FAIL(LZ_ENULL, "%s is NULL", y ? "x" : "y");
    if (st == LZ_OK) {
        bool forward = lz_numel(x) < lz_numel(y);
        const int64_t last = -1;
        const lz_vmap_options o = {.struct_size = sizeof o, .out_axes = forward ? &last : NULL};
        lz_tensor *in = ones(forward ? x : y, site);
        st = lz_vmap_at(forward ? column : row, &in, 1, 1, &p, &out, &o, site);
    }
    if (st == LZ_OK)
        out = lz_hlo_reshape_at(out, s, site);
    fill_errors(st, "lz_jacobian", &out, 1, site);
    return lz_api_leave_with(&frame, out);
}
