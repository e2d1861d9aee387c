/* graphs.h - the programs that training runs, built by hand for the tests of the compiler front.
 * Threads: thread-compatible. */
#ifndef LZ_TEST_GRAPHS_H
#define LZ_TEST_GRAPHS_H
#include "ir/module.h"
#include <string.h>

#define G_RECORD(a) ((const lz_attr *)(const void *)&(a))

static inline lz_val g_param(lz_func *f, lz_dtype d, lz_shape s)
{
    return lz_build_param(f, lz_type_get(d, &s));
}

static inline lz_val g_spread(lz_func *f, lz_val v, lz_ints dims, lz_shape s)
{
    return lz_build_broadcast(f, v, &dims, &s);
}

static inline lz_ints g_dims(int n, int64_t a, int64_t b)
{
    return lz_ints_make(n, (int64_t[]){a, b});
}

static inline lz_val g_like(lz_func *f, lz_val v, double x)
{
    return lz_build_splat(f, lz_val_type(f, v), x);
}

static inline lz_val g_add(lz_func *f, lz_val a, lz_val b)
{
    return lz_build_ew2(f, LZ_OP_ADD, a, b);
}
static inline lz_val g_sub(lz_func *f, lz_val a, lz_val b)
{
    return lz_build_ew2(f, LZ_OP_SUBTRACT, a, b);
}
static inline lz_val g_mul(lz_func *f, lz_val a, lz_val b)
{
    return lz_build_ew2(f, LZ_OP_MULTIPLY, a, b);
}
static inline lz_val g_div(lz_func *f, lz_val a, lz_val b)
{
    return lz_build_ew2(f, LZ_OP_DIVIDE, a, b);
}

/* sum or maximum over one dimension */
static inline lz_val g_reduce(lz_func *f, lz_op op, lz_val v, int64_t dim)
{
    lz_ints d = lz_ints_make(1, &dim);
    lz_val init =
        lz_build_scalar(f, lz_val_type(f, v)->dtype, op == LZ_OP_ADD ? 0 : -__builtin_inf());
    return lz_build_reduce(f, op, v, init, &d);
}

/* Matrices; ca, cb: contracted dimension of each. */
static inline lz_val g_dot(lz_func *f, lz_val a, lz_val b, int64_t ca, int64_t cb)
{
    lz_attr_dot d;
    memset(&d, 0, sizeof d);
    d.kind = LZ_ATTR_dot;
    d.lhs_contracting_dimensions = lz_ints_make(1, &ca);
    d.rhs_contracting_dimensions = lz_ints_make(1, &cb);
    return lz_build(f, LZ_OP_DOT_GENERAL, G_RECORD(d), (lz_val[]){a, b}, 2);
}

static inline lz_val g_rows(lz_func *f, lz_val v, lz_val like) /* [m] to [m, n] */
{
    return g_spread(f, v, g_dims(1, 0, 0), lz_val_type(f, like)->shape);
}

static inline lz_val g_cols(lz_func *f, lz_val v, lz_val like) /* [n] to [m, n] */
{
    return g_spread(f, v, g_dims(1, 1, 0), lz_val_type(f, like)->shape);
}

static inline lz_val g_softmax(lz_func *f, lz_val x)
{
    lz_val e = lz_build_ew1(f, LZ_OP_EXPONENTIAL,
                            g_sub(f, x, g_rows(f, g_reduce(f, LZ_OP_MAXIMUM, x, 1), x)));
    return g_div(f, e, g_rows(f, g_reduce(f, LZ_OP_ADD, e, 1), x));
}

static inline lz_val g_layer_norm(lz_func *f, lz_val x, lz_val gain, lz_val bias)
{
    lz_val n = lz_build_scalar(f, LZ_F32, (double)lz_val_type(f, x)->shape.dims[1]),
           sum = g_reduce(f, LZ_OP_ADD, x, 1);
    lz_val mean = g_div(f, sum, g_spread(f, n, g_dims(0, 0, 0), lz_val_type(f, sum)->shape)),
           c = g_sub(f, x, g_rows(f, mean, x));
    lz_val var = g_reduce(f, LZ_OP_ADD, g_mul(f, c, c), 1);
    var = g_div(f, var, g_spread(f, n, g_dims(0, 0, 0), lz_val_type(f, sum)->shape));
    lz_val r = lz_build_ew1(f, LZ_OP_RSQRT, g_add(f, var, g_like(f, var, 1e-5)));
    return g_add(f, g_mul(f, g_mul(f, c, g_rows(f, r, x)), g_cols(f, gain, x)), g_cols(f, bias, x));
}

/* New parameter and moments; scalars: learning rate, corrections of the moments. */
static inline void g_adam(lz_func *f, lz_val g, lz_val p, lz_val m, lz_val v,
                          const lz_val scalar[3], lz_val out[3])
{
    lz_shape s = lz_val_type(f, p)->shape;
    lz_val sc[3];
    for (int i = 0; i < 3; i++)
        sc[i] = g_spread(f, scalar[i], g_dims(0, 0, 0), s);
    out[1] = g_add(f, g_mul(f, m, g_like(f, m, 0.9)), g_mul(f, g, g_like(f, m, 0.1)));
    out[2] =
        g_add(f, g_mul(f, v, g_like(f, v, 0.999)), g_mul(f, g_mul(f, g, g), g_like(f, v, 0.001)));
    lz_val root =
        g_add(f, lz_build_ew1(f, LZ_OP_SQRT, g_mul(f, out[2], sc[2])), g_like(f, v, 1e-8));
    out[0] = g_sub(f, p, g_div(f, g_mul(f, sc[0], g_mul(f, out[1], sc[1])), root));
}

enum { G_MAX_LAYERS = 64 };

/* One training step of a classifier with `layers` layers of `width`, ReLU between them, cross
 * entropy and Adam. Parameters: x, one-hot labels, learning rate and corrections, then per layer
 * weight, bias and their moments. Results: loss, then the new values of the latter. */
static inline lz_func *g_mlp_step(int layers, int64_t batch, int64_t width, int64_t classes)
{
    lz_func *f = lz_func_new("mlp_step");
    lz_val x = g_param(f, LZ_F32, LZ_SHAPE(batch, width)),
           y = g_param(f, LZ_F32, LZ_SHAPE(batch, classes)), scalar[3];
    lz_val p[G_MAX_LAYERS][6], h[G_MAX_LAYERS + 1], z[G_MAX_LAYERS], out[1 + 6 * G_MAX_LAYERS];
    for (int i = 0; i < 3; i++)
        scalar[i] = g_param(f, LZ_F32, LZ_SCALAR);
    for (int l = 0; l < layers; l++) {
        int64_t n = l == layers - 1 ? classes : width;
        for (int k = 0; k < 6; k++)
            p[l][k] =
                k % 2 ? g_param(f, LZ_F32, LZ_SHAPE(n)) : g_param(f, LZ_F32, LZ_SHAPE(width, n));
    }
    h[0] = x;
    for (int l = 0; l < layers; l++) {
        lz_val d = g_dot(f, h[l], p[l][0], 1, 0);
        z[l] = g_add(f, d, g_cols(f, p[l][1], d));
        h[l + 1] =
            l == layers - 1 ? z[l] : lz_build_ew2(f, LZ_OP_MAXIMUM, z[l], g_like(f, z[l], 0));
    }
    lz_val prob = g_softmax(f, h[layers]),
           loss = g_reduce(f, LZ_OP_ADD, g_mul(f, y, lz_build_ew1(f, LZ_OP_LOG, prob)), 1);
    loss = lz_build_ew1(f, LZ_OP_NEGATE, g_reduce(f, LZ_OP_ADD, loss, 0));
    out[0] = g_div(f, loss, lz_build_scalar(f, LZ_F32, (double)batch));
    lz_val d = g_div(f, g_sub(f, prob, y), g_like(f, y, (double)batch));
    for (int l = layers - 1; l >= 0; l--) {
        lz_val upd[3], dw = g_dot(f, h[l], d, 0, 0), db = g_reduce(f, LZ_OP_ADD, d, 0);
        g_adam(f, dw, p[l][0], p[l][2], p[l][4], scalar, upd);
        for (int k = 0; k < 3; k++)
            out[1 + 6 * l + 2 * k] = upd[k];
        g_adam(f, db, p[l][1], p[l][3], p[l][5], scalar, upd);
        for (int k = 0; k < 3; k++)
            out[1 + 6 * l + 2 * k + 1] = upd[k];
        if (l == 0)
            break;
        lz_val dh = g_dot(f, d, p[l][0], 1, 1);
        d = lz_build_select(f, lz_build_compare(f, LZ_CMP_GT, z[l - 1], g_like(f, z[l - 1], 0)), dh,
                            g_like(f, dh, 0));
    }
    lz_func_set_results(f, out, 1 + 6 * (uint32_t)layers);
    return f;
}
#endif
