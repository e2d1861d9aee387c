/* count_numbers.c - random counts of the Poisson and binomial distributions:
 * include/lazuli/random_ops.h. Computed in f64.
 * Source: small means by inversion; others by transformed rejection with squeeze, Hoermann 1993
 * (The transformed rejection method for generating Poisson random variables: PTRS; The generation
 * of binomial random variates: BTRS). */
#include "ops/science/science.h"
#include "base/status.h"
#include <lazuli/control.h>
#include <lazuli/random_ops.h>
#include <math.h>

enum { SMALL = 10 /* mean */, MOST = 1000 /* of small means, counts that cannot be reached */ };

#define C(v) lz_hlo_constant(LZ_F64, (v))
static lz_tensor *both(lz_tensor *a, lz_tensor *b)
{
    return lz_logical_and(a, b);
}

/* Whatever the loop carries first is the count; it is negative until it is known. */
static lz_tensor *missing(lz_tensor *const *in, void *user)
{
    (void)user;
    return lz_any(lz_lt_scalar(in[0], 0));
}

/* What rejection has in common: k, and whether it is taken at once, or may be; its logarithm. */
typedef struct proposal {
    lz_tensor *k, *at_once, *possible, *level;
} proposal;

/* scale: log of the hat's; bound k <= most (NULL: none) */
static proposal propose(lz_tensor *like, lz_tensor *a, lz_tensor *b, lz_tensor *centre,
                        lz_tensor *squeeze, lz_tensor *scale, lz_tensor *most)
{
    lz_tensor *u = lz_sub(lz_rand_like(like), C(0.5)), *v = lz_rand_like(like);
    lz_tensor *us = lz_sub(C(0.5), lz_abs(u)), *hat = lz_add(lz_div(a, lz_mul(us, us)), b);
    proposal p;
    p.k = lz_floor(lz_add(lz_mul(lz_add(lz_div(lz_add(a, a), us), b), u), centre));
    lz_tensor *in = lz_ge_scalar(p.k, 0);
    if (most)
        in = both(in, lz_le(p.k, most));
    p.at_once = both(in, both(lz_ge(us, C(0.07)), lz_le(v, squeeze)));
    lz_tensor *corner = both(lz_lt(us, C(0.013)), lz_gt(v, us));
    p.possible = both(in, lz_gt(us, C(0)));
    if (!most)
        p.possible = both(p.possible, lz_logical_not(corner));
    p.k = lz_where(in, p.k, C(0));
    p.level = lz_add(lz_log(v), lz_sub(scale, lz_log(hat)));
    return p;
}

static lz_tensor *taken(proposal p, lz_tensor *log_mass, lz_tensor *had)
{
    lz_tensor *yes = lz_logical_or(p.at_once, both(p.possible, lz_le(p.level, log_mass)));
    return lz_where(both(yes, lz_lt_scalar(had, 0)), p.k, had);
}

static lz_tensor *log_factorial(lz_tensor *k)
{
    return lz_lgamma(lz_add_scalar(k, 1));
}

/* ---- Poisson ---- */

/* in: the count, the mean (>= SMALL where it is looked for) */
static void poisson_large(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    lz_tensor *m = in[1], *b = lz_add(lz_mul(lz_sqrt(m), C(2.53)), C(0.931));
    lz_tensor *a = lz_sub(lz_mul(b, C(0.02483)), C(0.059));
    lz_tensor *inverse = lz_add(lz_div(C(1.1328), lz_sub(b, C(3.4))), C(1.1239));
    lz_tensor *squeeze = lz_sub(C(0.9277), lz_div(C(3.6224), lz_sub(b, C(2))));
    proposal p = propose(m, a, b, lz_add(m, C(0.43)), squeeze, lz_log(inverse), NULL);
    lz_tensor *mass = lz_sub(lz_sub(lz_mul(p.k, lz_log(m)), m), log_factorial(p.k));
    out[0] = taken(p, mass, in[0]);
    out[1] = m;
}

/* in: the count, the mean, what is left of a uniform number, k and its chance */
static void poisson_small(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    lz_tensor *found = lz_logical_or(lz_lt(in[2], in[4]), lz_ge_scalar(in[3], MOST));
    lz_tensor *next = lz_add_scalar(in[3], 1);
    out[0] = lz_where(both(found, lz_lt_scalar(in[0], 0)), in[3], in[0]);
    out[1] = in[1];
    out[2] = lz_sub(in[2], in[4]);
    out[3] = next;
    out[4] = lz_div(lz_mul(in[4], in[1]), next);
}

static lz_tensor *nan_of(const lz_composite *c)
{
    return lz_full_at(LZ_F64, LZ_SCALAR, NAN, c->site);
}

static lz_tensor *poisson(const lz_composite *c, lz_tensor *rate)
{
    lz_tensor *m = lz_composite_detached(c, TO(rate, LZ_F64)), *ten = NUMBER(m, SMALL);
    lz_tensor *good =
        lz_logical_and_at(lz_ge_at(m, NUMBER(m, 0), c->site), lz_isfinite_at(m, c->site), c->site);
    lz_tensor *large = lz_logical_and_at(good, lz_ge_at(m, ten, c->site), c->site);
    lz_tensor *small = lz_logical_and_at(good, lz_lt_at(m, ten, c->site), c->site);
    lz_tensor *wait = NUMBER(m, -1), *none = NUMBER(m, 0), *last[5] = {NULL};
    lz_tensor *big[2] = {WHERE(large, wait, none), WHERE(large, m, ten)};
    (void)lz_while_at(big, 2, missing, poisson_large, NULL, last, c->site);
    lz_tensor *k = last[0], *of = WHERE(small, m, none);
    lz_tensor *little[5] = {WHERE(small, wait, none), of, lz_rand_like_at(m, LZ_F64, c->site),
                            lz_zeros_like_at(m, LZ_DTYPE_NONE, c->site),
                            lz_exp_at(lz_neg_at(of, c->site), c->site)};
    (void)lz_while_at(little, 5, missing, poisson_small, NULL, last, c->site);
    return WHERE(good, WHERE(large, k, last[0]), nan_of(c));
}

static bool is_float(const lz_composite *c, const lz_tensor *t, const char *what)
{
    if (!lz_composite_real(c, t, what))
        return false;
    if (lz_dtype_is_float(lz_dtype_of(t)))
        return true;
    LZ_FAIL(LZ_EDTYPE, "%s is %s: it must be a float", what, lz_dtype_name(lz_dtype_of(t)));
    return false;
}

lz_tensor *lz_poisson_at(lz_tensor *rate, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    COMPOSITE("lz_poisson");
    lz_tensor *r = is_float(c, rate, "rate") ? poisson(c, rate) : NULL;
    return lz_composite_end(c, r ? TO(r, lz_dtype_of(rate)) : NULL);
}

/* ---- binomial, p <= 1/2 ---- */

/* in: the count, n, p (n p >= SMALL where it is looked for) */
static void binomial_large(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    lz_tensor *n = in[1], *p = in[2], *q = lz_sub(C(1), p), *mean = lz_mul(n, p);
    lz_tensor *dev = lz_sqrt(lz_mul(mean, q)), *b = lz_add(lz_mul(dev, C(2.53)), C(1.15));
    lz_tensor *a = lz_add(lz_sub(lz_mul(b, C(0.0248)), C(0.0873)), lz_mul(p, C(0.01)));
    lz_tensor *squeeze = lz_sub(C(0.92), lz_div(C(4.2), b));
    lz_tensor *alpha = lz_mul(lz_add(lz_div(C(5.1), b), C(2.83)), dev);
    lz_tensor *m = lz_floor(lz_mul(lz_add_scalar(n, 1), p));
    proposal r = propose(n, a, b, lz_add(mean, C(0.5)), squeeze, lz_log(alpha), n);
    lz_tensor *mass = lz_add(log_factorial(m), log_factorial(lz_sub(n, m)));
    mass = lz_sub(lz_sub(mass, log_factorial(r.k)), log_factorial(lz_sub(n, r.k)));
    mass = lz_add(mass, lz_mul(lz_sub(r.k, m), lz_log(lz_div(p, q))));
    out[0] = taken(r, mass, in[0]);
    out[1] = n;
    out[2] = p;
}

/* Successes come after geometrically distributed numbers of trials. in: the count, n, log(1 - p),
 * the trials so far, the successes */
static void binomial_small(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    lz_tensor *u = lz_sub(C(1), lz_rand_like(in[3]));
    lz_tensor *wait = lz_add_scalar(lz_floor(lz_div(lz_log(u), in[2])), 1);
    lz_tensor *trials = lz_add(in[3], wait), *over = lz_gt(trials, in[1]);
    out[0] = lz_where(both(over, lz_lt_scalar(in[0], 0)), in[4], in[0]);
    out[1] = in[1];
    out[2] = in[2];
    out[3] = trials;
    out[4] = lz_add_scalar(in[4], 1);
}

static lz_tensor *binomial(const lz_composite *c, lz_tensor *count, lz_tensor *prob)
{
    lz_tensor *zero = lz_zeros_like_at(lz_composite_detached(c, ADD(count, prob)), LZ_F64, c->site);
    lz_tensor *n = ADD(lz_composite_detached(c, TO(count, LZ_F64)), zero);
    lz_tensor *p = ADD(lz_composite_detached(c, TO(prob, LZ_F64)), zero), *one = NUMBER(p, 1);
    lz_tensor *good =
        lz_logical_and_at(lz_ge_at(n, NUMBER(n, 0), c->site), lz_isfinite_at(n, c->site), c->site);
    good = lz_logical_and_at(good, lz_ge_at(p, NUMBER(p, 0), c->site), c->site);
    good = lz_logical_and_at(good, lz_le_at(p, one, c->site), c->site);
    lz_tensor *turned = lz_gt_at(p, NUMBER(p, 0.5), c->site);
    n = WHERE(good, lz_floor_at(n, c->site), zero);
    lz_tensor *q = WHERE(good, WHERE(turned, SUB(one, p), p), NUMBER(p, 0));
    lz_tensor *large = lz_ge_at(MUL(n, q), NUMBER(n, SMALL), c->site);
    lz_tensor *small = lz_logical_and_at(lz_logical_not_at(large, c->site),
                                         lz_gt_at(MUL(n, q), zero, c->site), c->site);
    lz_tensor *wait = NUMBER(n, -1), *last[5] = {NULL};
    lz_tensor *big[3] = {WHERE(large, wait, zero), WHERE(large, n, NUMBER(n, 40)),
                         WHERE(large, q, NUMBER(q, 0.5))};
    (void)lz_while_at(big, 3, missing, binomial_large, NULL, last, c->site);
    lz_tensor *k = last[0];
    lz_tensor *log_q = lz_log1p_at(lz_neg_at(WHERE(small, q, NUMBER(q, 0.5)), c->site), c->site);
    lz_tensor *little[5] = {WHERE(small, wait, zero), n, log_q, zero, zero};
    (void)lz_while_at(little, 5, missing, binomial_small, NULL, last, c->site);
    k = WHERE(large, k, last[0]);
    return WHERE(good, WHERE(turned, SUB(n, k), k), nan_of(c));
}

lz_tensor *lz_binomial_at(lz_tensor *count, lz_tensor *prob, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    COMPOSITE("lz_binomial");
    if (!is_float(c, count, "count") || !is_float(c, prob, "prob"))
        return lz_composite_end(c, NULL);
    lz_dtype d = lz_promote(lz_dtype_of(count), lz_dtype_of(prob));
    return lz_composite_end(c, TO(binomial(c, count, prob), d));
}
