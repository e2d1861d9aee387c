/* grad_check.h - gradients of a function of tensors against central differences in f64: a table of
 * cases, first and second order, on every device. */
#ifndef LZ_TEST_GRAD_CHECK_H
#define LZ_TEST_GRAD_CHECK_H
#include "suite.h"
#include <lazuli/lazuli.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_IN = 3, MAX_ELEM = 64 };
typedef lz_tensor *(*fn)(lz_tensor **x);
typedef struct gcase {
    const char *name;
    fn f;
    int nin;
    lz_shape shape[MAX_IN];
    double lo, hi; /* range of the inputs, away from kinks and poles */
    bool second;   /* check second order too */
} gcase;

static const char *devices[] = {"REF:0", "CPU:0"};
/* LZ_TEST_DEVICE: another device in the CPU's place (test/api/cuda.sh). */
__attribute__((constructor)) static void choose_device(void)
{
    if (getenv("LZ_TEST_DEVICE"))
        devices[1] = getenv("LZ_TEST_DEVICE");
}

static inline double noise(unsigned *r)
{
    *r = *r * 1664525u + 1013904223u;
    return (double)(*r >> 8) / 16777216.0;
}

/* a shape */
#define S(...)                                                                                     \
    {                                                                                              \
        sizeof((int64_t[]){__VA_ARGS__}) / 8,                                                      \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
/* ---- the harness ---- */
typedef struct point {
    double x[MAX_IN][MAX_ELEM];
    int64_t n[MAX_IN];
} point;

static inline void start(const gcase *c, point *p, unsigned seed)
{
    for (int i = 0; i < c->nin; i++) {
        p->n[i] = 1;
        for (int d = 0; d < c->shape[i].rank; d++)
            p->n[i] *= c->shape[i].dims[d];
        for (int64_t k = 0; k < p->n[i]; k++)
            p->x[i][k] = c->lo + (c->hi - c->lo) * noise(&seed);
    }
    if (strncmp(c->name, "clamp", 5) == 0) /* lo and hi on both sides of some x */
        for (int64_t k = 0; k < MAX_ELEM; k++) {
            p->x[0][k] = -0.7 + 0.01 * (double)k;
            p->x[2][k] = 0.8 - 0.01 * (double)k;
        }
}

static inline void make(const gcase *c, const point *p, lz_tensor **x)
{
    for (int i = 0; i < c->nin; i++)
        x[i] = lz_from_host(LZ_F64, c->shape[i], p->x[i]);
}

/* sum(t * w) with fixed weights, so that every element of the gradient matters */
static inline lz_tensor *weigh(lz_tensor *t, unsigned seed)
{
    static double w[4096];
    int64_t n = lz_numel(t);
    ck_assert_msg(n >= 0 && n <= 4096, "%s", lz_last_error_text());
    for (int64_t i = 0; i < n; i++)
        w[i] = 0.5 + noise(&seed);
    return lz_sum(lz_mul(t, lz_from_host(LZ_F64, lz_shape_of(t), w)));
}

static inline lz_tensor *loss_of(const gcase *c, lz_tensor **x, int order)
{
    lz_tensor *l = weigh(c->f(x), 7), *g[MAX_IN];
    if (order == 1)
        return l;
    ck_assert_msg(lz_grad(l, x, (size_t)c->nin, g) == LZ_OK, "%s: %s", c->name,
                  lz_last_error_text());
    for (int i = 0; i < c->nin; i++)
        l = i ? lz_add(l, weigh(g[i], 11u + (unsigned)i)) : weigh(g[i], 11);
    return l;
}

static inline double value(const gcase *c, const point *p, int order)
{
    lz_tensor *x[MAX_IN];
    lz_scope_begin();
    make(c, p, x);
    double v = lz_item(loss_of(c, x, order));
    lz_scope_end();
    ck_assert_msg(isfinite(v), "%s: %s", c->name, lz_last_error_text());
    return v;
}

/* The tangent of the same loss along some direction is the gradient's product with it. */
static inline void compare_tangent(const gcase *c, int order, const point *p,
                                   double got[MAX_IN][MAX_ELEM])
{
    lz_tensor *x[MAX_IN], *t[MAX_IN], *l, *dl;
    double want = 0, size = 1, along[MAX_ELEM];
    unsigned seed = 5;
    lz_scope_begin();
    make(c, p, x);
    for (int i = 0; i < c->nin; i++) {
        for (int64_t k = 0; k < p->n[i]; k++) {
            along[k] = noise(&seed) - 0.5;
            want += along[k] * got[i][k];
            size += fabs(along[k] * got[i][k]);
        }
        t[i] = lz_from_host(LZ_F64, c->shape[i], along);
    }
    l = loss_of(c, x, order);
    ck_assert_msg(lz_jvp(&l, 1, x, t, (size_t)c->nin, &dl, .allow_unused = true) == LZ_OK,
                  "%s: order %d: %s", c->name, order, lz_last_error_text());
    double have = lz_item(dl);
    lz_scope_end();
    ck_assert_msg(fabs(have - want) <= 1e-9 * size,
                  "%s: order %d: tangent %.10g, by the gradient %.10g", c->name, order, have, want);
}

static inline void compare(const gcase *c, int order)
{
    point p;
    lz_tensor *x[MAX_IN], *g[MAX_IN];
    double got[MAX_IN][MAX_ELEM];
    start(c, &p, 99);
    lz_scope_begin();
    make(c, &p, x);
    ck_assert_msg(lz_grad(loss_of(c, x, order), x, (size_t)c->nin, g, .allow_unused = true) ==
                      LZ_OK,
                  "%s: %s", c->name, lz_last_error_text());
    for (int i = 0; i < c->nin; i++) {
        ck_assert_msg(lz_to_host(g[i], got[i], sizeof got[i]) == LZ_OK, "%s: %s", c->name,
                      lz_last_error_text());
        ck_assert_int_eq(lz_numel(g[i]), p.n[i]);
    }
    lz_scope_end();
    compare_tangent(c, order, &p, got);
    for (int i = 0; i < c->nin; i++)
        for (int64_t k = 0; k < p.n[i]; k++) {
            const double h = 1e-5;
            double x0 = p.x[i][k];
            p.x[i][k] = x0 + h;
            double up = value(c, &p, order);
            p.x[i][k] = x0 - h;
            double down = value(c, &p, order);
            p.x[i][k] = x0;
            double want = (up - down) / (2 * h);
            ck_assert_msg(fabs(got[i][k] - want) <= 2e-6 * (1 + fabs(want)),
                          "%s: order %d: input %d element %lld: %.10g, by differences %.10g",
                          c->name, order, i, (long long)k, got[i][k], want);
        }
}

/* Tests `i` of a table of n cases: of first order, on each device in turn; of second order, where
 * the case wants it, on the interpreter. */
static inline void compare_first(const gcase *cases, int n, int i)
{
    ck_assert_msg(lz_set_device(devices[i / n]) == LZ_OK, "%s", lz_last_error_text());
    compare(&cases[i % n], 1);
}

static inline void compare_second(const gcase *c)
{
    ck_assert_int_eq(lz_set_device("REF:0"), LZ_OK);
    if (c->second)
        compare(c, 2);
}
#endif
