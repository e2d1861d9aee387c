/* normalization.c - native normalisations: include/lazuli/norm_ops.h. Batch, layer and group norm
 * share one implementation: normalisation over some dimensions of a reshaped x, with an affine part
 * broadcast along others. */
#include "ops/compose.h"
#include "runtime/exec/assign.h"
#include <inttypes.h>
#include <lazuli/norm_ops.h>
#include <math.h>

static const char *text_of(const lz_node *x, char *text)
{
    return lz_type_short(lz_node_type(x), text, 128);
}

static lz_node *mean_of(lz_tracer *c, const lz_reduced_dims *r, lz_node *x)
{
    lz_node *s = lz_tracer_combine(c, r, LZ_OP_ADD, x);
    return DIV(s, K(s, (double)r->n));
}

typedef struct stats {
    lz_node *mean, *rstd; /* without the reduced dimensions */
    lz_node *var;
    lz_node *hat; /* (x - mean) rstd */
} stats;

/* In two passes. x is wide. */
static bool normalise(lz_tracer *c, const lz_reduced_dims *r, lz_node *x, double eps, stats *s)
{
    s->mean = mean_of(c, r, x);
    lz_node *e = SUB(x, lz_tracer_spread(c, r, s->mean, x));
    s->var = mean_of(c, r, MUL(e, e));
    s->rstd = RSQRT(ADD(s->var, ARG(s->var, eps)));
    s->hat = MUL(e, lz_tracer_spread(c, r, s->rstd, x));
    return s->hat != NULL;
}

/* x as floats; *d its dtype; wide. */
static lz_node *prepared(lz_tracer *c, lz_node *x, lz_dtype *d)
{
    x = lz_tracer_float(c, x);
    *d = lz_tracer_dtype(x);
    return lz_tracer_wide(c, x);
}

/* factor and addend along `dims` of x; either may be NULL. */
static lz_node *affine(lz_tracer *c, lz_node *x, lz_node *w, lz_node *b, const lz_ints *dims)
{
    for (int i = 0; i < 2 && x; i++) {
        lz_node *f = i ? b : w;
        if (!f)
            continue;
        f = lz_tracer_broadcast_in_dim(c, TO(f, lz_tracer_dtype(x)), dims, lz_tracer_shape(x));
        x = i ? ADD(x, f) : MUL(x, f);
    }
    return x;
}

static bool has_shape(const lz_node *f, const lz_shape *s, const char *what)
{
    char text[128];
    if (!f || lz_shape_eq(lz_tracer_shape(f), s))
        return true;
    LZ_FAIL(LZ_ESHAPE, "%s is %s: not of the shape that is normalised", what, text_of(f, text));
    return false;
}

/* ---- layer norm ---- */

/* The last dimensions of x are s; *r reduces them, *dims lists them. */
static bool layer_dims(const lz_node *x, const lz_shape *s, lz_reduced_dims *r, lz_ints *dims)
{
    char text[128];
    const lz_shape *sx = lz_tracer_shape(x);
    lz_dims d = {.n = s->rank};
    bool ok = s->rank >= 1 && s->rank <= sx->rank;
    *dims = (lz_ints){.n = ok ? s->rank : 0};
    for (int i = 0; ok && i < s->rank; i++) {
        d.v[i] = dims->v[i] = sx->rank - s->rank + i;
        ok = sx->dims[d.v[i]] == s->dims[i];
    }
    if (!ok) {
        LZ_FAIL(LZ_ESHAPE, "x is %s: the %d extents of normalized_shape are not its last ones",
                text_of(x, text), s->rank);
        return false;
    }
    return lz_tracer_reduction_of(x, &d, true, r);
}

lz_tensor *lz_native_layer_norm_at(lz_tensor *x, lz_shape normalized_shape, lz_tensor *weight,
                                   lz_tensor *bias, double eps, lz_tensor **mean, lz_tensor **rstd,
                                   const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_reduced_dims r;
    lz_ints dims;
    lz_dtype d;
    stats s = {0};
    lz_node *y = NULL;
    BEGIN("lz_native_layer_norm");
    lz_node *n = prepared(c, IN(x), &d), *w = n && weight ? IN(weight) : NULL,
            *b = n && bias && (w || !weight) ? IN(bias) : NULL;
    if (n && (w || !weight) && (b || !bias) && layer_dims(n, &normalized_shape, &r, &dims) &&
        has_shape(w, &normalized_shape, "weight") && has_shape(b, &normalized_shape, "bias") &&
        normalise(c, &r, n, eps, &s))
        y = TO(affine(c, s.hat, w, b, &dims), d);
    lz_tracer_also(c, y ? lz_tracer_reduced(c, &r, s.mean) : NULL, mean);
    lz_tracer_also(c, y ? lz_tracer_reduced(c, &r, s.rstd) : NULL, rstd);
    return lz_tracer_end(c, y);
}

/* rstd (g - mean(g) - hat mean(g hat)) over the dimensions of r; g is the gradient of hat. */
static lz_node *through_hat(lz_tracer *c, const lz_reduced_dims *r, lz_node *g, lz_node *hat,
                            lz_node *rstd)
{
    lz_node *m = lz_tracer_spread(c, r, mean_of(c, r, g), g);
    lz_node *k = lz_tracer_spread(c, r, mean_of(c, r, MUL(g, hat)), g);
    return MUL(rstd, SUB(SUB(g, m), MUL(hat, k)));
}

/* The sum of x over all dimensions but dims, in dtype d. */
static lz_node *sum_beside(lz_tracer *c, lz_node *x, const lz_ints *dims, lz_dtype d)
{
    lz_ints rest = {0};
    for (int i = 0; x && i < lz_tracer_shape(x)->rank; i++)
        if (!lz_ints_has(dims, i))
            rest.v[rest.n++] = i;
    return TO(x && rest.n ? lz_tracer_reduce(c, LZ_OP_ADD, x, &rest) : x, d);
}

/* Shared by the backward functions; the caller broadcasts the saved statistics to x. */
typedef struct back {
    lz_node *dx, *dw, *db;
} back;

static back backward(lz_tracer *c, const lz_reduced_dims *r, lz_node *g, lz_node *x, lz_node *mean,
                     lz_node *rstd, lz_node *w, const lz_ints *dims, lz_dtype d)
{
    back b = {0};
    lz_node *hat = MUL(SUB(x, mean), rstd);
    b.dw = sum_beside(c, MUL(g, hat), dims, d);
    b.db = sum_beside(c, g, dims, d);
    b.dx = TO(through_hat(c, r, affine(c, g, w, NULL, dims), hat, rstd), d);
    return b;
}

static lz_tensor *give(lz_tracer *c, const back *b, lz_tensor **grad_weight, lz_tensor **grad_bias)
{
    bool ok = b->dx && b->dw && b->db;
    lz_tracer_also(c, ok ? b->dw : NULL, grad_weight);
    lz_tracer_also(c, ok ? b->db : NULL, grad_bias);
    return lz_tracer_end(c, ok ? b->dx : NULL);
}

lz_tensor *lz_native_layer_norm_backward_at(lz_tensor *grad, lz_tensor *x,
                                            lz_shape normalized_shape, lz_tensor *mean,
                                            lz_tensor *rstd, lz_tensor *weight,
                                            lz_tensor **grad_weight, lz_tensor **grad_bias,
                                            const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_reduced_dims r;
    lz_ints dims;
    lz_dtype d;
    back b = {0};
    BEGIN("lz_native_layer_norm_backward");
    lz_node *n = prepared(c, IN(x), &d), *g = n ? IN(grad) : NULL, *m = g ? IN(mean) : NULL,
            *s = m ? IN(rstd) : NULL, *w = s && weight ? IN(weight) : NULL;
    if (s && (w || !weight) && layer_dims(n, &normalized_shape, &r, &dims) &&
        has_shape(w, &normalized_shape, "weight") && has_shape(g, lz_tracer_shape(n), "grad")) {
        lz_dtype wide = lz_tracer_dtype(n);
        b = backward(c, &r, TO(g, wide), n, lz_tracer_expand(c, TO(m, wide), lz_tracer_shape(n)),
                     lz_tracer_expand(c, TO(s, wide), lz_tracer_shape(n)), w, &dims, d);
    }
    return give(c, &b, grad_weight, grad_bias);
}

/* ---- group norm: x as [N, groups, C / groups, rest] ---- */

static bool group_shape(const lz_node *x, int64_t groups, lz_shape *s)
{
    char text[128];
    const lz_shape *sx = lz_tracer_shape(x);
    if (sx->rank < 2 || groups < 1 || sx->dims[1] % groups) {
        LZ_FAIL(LZ_ESHAPE,
                "%s in %" PRId64 " groups: [N, C, ..] and groups that divide C are needed",
                text_of(x, text), groups);
        return false;
    }
    *s = (lz_shape){.rank = 4, .dims = {sx->dims[0], groups, sx->dims[1] / groups, 1}};
    for (int i = 2; i < sx->rank; i++)
        s->dims[3] *= sx->dims[i];
    return true;
}

static const lz_ints channels = {.n = 2, .v = {1, 2}};

/* weight [C] as [groups, C / groups]; NULL stays. False with the error recorded. */
static bool per_channel(lz_tracer *c, lz_node **w, const lz_shape *s, const char *what)
{
    lz_shape have = {.rank = 1, .dims = {s->dims[1] * s->dims[2]}},
             two = {.rank = 2, .dims = {s->dims[1], s->dims[2]}};
    if (!*w)
        return true;
    return has_shape(*w, &have, what) && (*w = lz_tracer_reshape(c, *w, &two)) != NULL;
}

lz_tensor *lz_native_group_norm_at(lz_tensor *x, lz_tensor *weight, lz_tensor *bias, int64_t groups,
                                   double eps, lz_tensor **mean, lz_tensor **rstd,
                                   const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_reduced_dims r;
    lz_shape four;
    lz_dtype d;
    stats s = {0};
    lz_node *y = NULL;
    BEGIN("lz_native_group_norm");
    lz_node *n = prepared(c, IN(x), &d), *w = n && weight ? IN(weight) : NULL,
            *b = n && bias && (w || !weight) ? IN(bias) : NULL;
    if (n && (w || !weight) && (b || !bias) && group_shape(n, groups, &four) &&
        per_channel(c, &w, &four, "weight") && per_channel(c, &b, &four, "bias")) {
        const lz_shape shape = *lz_tracer_shape(n);
        n = lz_tracer_reshape(c, n, &four);
        if (n && lz_tracer_reduction_of(n, &(lz_dims){2, {2, 3}}, false, &r) &&
            normalise(c, &r, n, eps, &s))
            y = TO(lz_tracer_reshape(c, affine(c, s.hat, w, b, &channels), &shape), d);
    }
    lz_tracer_also(c, y ? s.mean : NULL, mean);
    lz_tracer_also(c, y ? s.rstd : NULL, rstd);
    return lz_tracer_end(c, y);
}

lz_tensor *lz_native_group_norm_backward_at(lz_tensor *grad, lz_tensor *x, lz_tensor *mean,
                                            lz_tensor *rstd, lz_tensor *weight, int64_t groups,
                                            lz_tensor **grad_weight, lz_tensor **grad_bias,
                                            const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_reduced_dims r;
    lz_shape four;
    lz_dtype d;
    back b = {0};
    BEGIN("lz_native_group_norm_backward");
    lz_node *n = prepared(c, IN(x), &d), *g = n ? IN(grad) : NULL, *m = g ? IN(mean) : NULL,
            *s = m ? IN(rstd) : NULL, *w = s && weight ? IN(weight) : NULL;
    if (s && (w || !weight) && has_shape(g, lz_tracer_shape(n), "grad") &&
        group_shape(n, groups, &four) && per_channel(c, &w, &four, "weight")) {
        const lz_shape shape = *lz_tracer_shape(n), all = {.rank = 1, .dims = {shape.dims[1]}},
                       saved = {.rank = 2, .dims = {four.dims[0], groups}};
        const lz_ints first = {.n = 2, .v = {0, 1}};
        lz_dtype wide = lz_tracer_dtype(n);
        n = lz_tracer_reshape(c, n, &four);
        if (n && has_shape(m, &saved, "mean") && has_shape(s, &saved, "rstd") &&
            lz_tracer_reduction_of(n, &(lz_dims){2, {2, 3}}, false, &r)) {
            b = backward(c, &r, lz_tracer_reshape(c, TO(g, wide), &four), n,
                         lz_tracer_broadcast_in_dim(c, TO(m, wide), &first, &four),
                         lz_tracer_broadcast_in_dim(c, TO(s, wide), &first, &four), w, &channels,
                         d);
            b.dx = lz_tracer_reshape(c, b.dx, &shape);
            b.dw = lz_tracer_reshape(c, b.dw, &all);
            b.db = lz_tracer_reshape(c, b.db, &all);
        }
    }
    return give(c, &b, grad_weight, grad_bias);
}

/* ---- batch norm ---- */

/* (1 - momentum) old + momentum value, in old's dtype. NULL: an error. */
static lz_tensor *followed(lz_tracer *c, lz_node *old, lz_node *value, double momentum)
{
    value = TO(lz_tracer_detached(c, value), lz_tracer_dtype(old));
    lz_node *n = ADD(MUL(old, ARG(old, 1 - momentum)), MUL(value, ARG(old, momentum)));
    return n ? lz_trace_tensor_of(n, c->site) : NULL;
}

/* Assigns the running statistics that are there, both or none. */
static bool update(lz_tracer *c, lz_tensor *const running[2], lz_node *const old[2],
                   lz_node *const value[2], double momentum)
{
    lz_assignments all = {0};
    lz_tensor *t[2] = {NULL, NULL};
    lz_status s = LZ_OK;
    for (int i = 0; i < 2 && s == LZ_OK; i++)
        if (running[i]) {
            t[i] = followed(c, old[i], value[i], momentum);
            s = t[i] ? lz_assignments_add(&all, running[i], t[i]) : lz_error_get()->status;
        }
    s = lz_assignments_end(&all, s, c->site);
    for (int i = 0; i < 2; i++)
        if (t[i])
            (void)lz_release(t[i]);
    return s == LZ_OK;
}

typedef struct batch_in {
    lz_node *x, *w, *b, *mean, *var; /* all but x may be NULL */
} batch_in;

static bool batch_operands(lz_tracer *c, lz_tensor *const *t, batch_in *in)
{
    char text[128];
    static const char *const what[] = {"x", "weight", "bias", "running_mean", "running_var"};
    lz_node **n[] = {&in->x, &in->w, &in->b, &in->mean, &in->var};
    for (int i = 0; i < 5; i++)
        if ((i == 0 || t[i]) && !(*n[i] = IN(t[i])))
            return false;
    if (!(in->x = lz_tracer_float(c, in->x)))
        return false;
    const lz_shape *s = lz_tracer_shape(in->x);
    if (s->rank < 2) {
        LZ_FAIL(LZ_ESHAPE, "x is %s: [N, C, ..] is needed", text_of(in->x, text));
        return false;
    }
    const lz_shape per = {.rank = 1, .dims = {s->dims[1]}};
    for (int i = 1; i < 5; i++)
        if (*n[i] && (!has_shape(*n[i], &per, what[i]) || !lz_tracer_is_float(*n[i])))
            return false;
    return true;
}

lz_tensor *lz_native_batch_norm_at(lz_tensor *x, lz_tensor *weight, lz_tensor *bias,
                                   lz_tensor *running_mean, lz_tensor *running_var,
                                   const lz_native_batch_norm_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    static const lz_ints channel = {.n = 1, .v = {1}};
    lz_reduced_dims r;
    lz_dims rest = {1, {0}};
    batch_in in = {0};
    stats s = {0};
    lz_node *y = NULL;
    BEGIN("lz_native_batch_norm");
    OPTIONS(lz_native_batch_norm_options, p, LZ_NATIVE_BATCH_NORM_DEFAULTS);
    bool ok =
        p && batch_operands(c, (lz_tensor *[]){x, weight, bias, running_mean, running_var}, &in);
    if (ok && !p->training && (!in.mean || !in.var)) {
        LZ_FAIL(LZ_ENULL, "%s is NULL, and it is not training",
                in.mean ? "running_var" : "running_mean");
        ok = false;
    }
    lz_dtype d = lz_tracer_dtype(in.x);
    lz_node *n = ok ? lz_tracer_wide(c, in.x) : NULL;
    for (int i = 2; n && i < lz_tracer_shape(n)->rank; i++)
        rest.v[rest.n++] = i;
    ok = n && lz_tracer_reduction_of(n, &rest, false, &r);
    if (ok && p->training && r.n == 0 && (in.mean || in.var)) {
        LZ_FAIL(LZ_ESHAPE, "x has no elements to take statistics of");
        ok = false;
    }
    if (ok && p->training) {
        ok = normalise(c, &r, n, p->eps, &s);
        double unbiased = (double)r.n / fmax(1, (double)r.n - 1);
        ok = ok &&
             update(c, (lz_tensor *[]){running_mean, running_var}, (lz_node *[]){in.mean, in.var},
                    (lz_node *[]){s.mean, MUL(s.var, K(s.var, unbiased))}, p->momentum);
    } else if (ok) {
        s.mean = TO(in.mean, lz_tracer_dtype(n));
        s.var = TO(in.var, lz_tracer_dtype(n));
        s.rstd = RSQRT(ADD(s.var, ARG(s.var, p->eps)));
        s.hat = MUL(SUB(n, lz_tracer_spread(c, &r, s.mean, n)), lz_tracer_spread(c, &r, s.rstd, n));
    }
    if (ok)
        y = TO(affine(c, s.hat, in.w, in.b, &channel), d);
    if (p) {
        lz_tracer_also(c, y ? s.mean : NULL, p->save_mean);
        lz_tracer_also(c, y ? s.rstd : NULL, p->save_invstd);
    }
    return lz_tracer_end(c, y);
}
