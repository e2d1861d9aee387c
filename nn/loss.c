/* loss.c - losses and similarities, as torch.nn.functional. Classification losses are in
 * loss_class.c. */
#include "nn/loss.h"
#include <inttypes.h>
#include <math.h>

lz_tensor *lz_nn_reduce(const nnc *c, lz_tensor *x, lz_reduction r)
{
    if (r == LZ_REDUCE_NONE)
        return x;
    return r == LZ_REDUCE_SUM ? lz_sum_at(x, NULL, c->site) : lz_mean_at(x, NULL, c->site);
}

bool lz_nn_loss_options(nnc *c, lz_loss_options *dst, const lz_loss_options *src)
{
    *dst = (lz_loss_options){.struct_size = sizeof *dst, LZ_LOSS_DEFAULTS};
    if (!nn_options(c, dst, sizeof *dst, src))
        return false;
    if ((unsigned)dst->reduction > LZ_REDUCE_NONE)
        return nn_refuse(c, LZ_EINVAL, "reduction is %d", (int)dst->reduction);
    return true;
}

/* ---- elementwise: f(x, target), then reduced; 16-bit floats in f32 ---- */

lz_tensor *lz_nn_loss(const char *op, lz_tensor *x, lz_tensor *t, const lz_loss_options *opt,
                      const char *positive, size_t field, lz_nn_pointwise *f, const lz_site *site)
{
    nnc c = nn_begin_named(op, site);
    nn_autocast(&c, &x, &t);
    lz_loss_options o;
    lz_tensor *y = NULL;
    bool ok = lz_nn_loss_options(&c, &o, opt) && nn_check_float(&c, x, "the input") &&
              nn_check(&c, t, "the target");
    double v = positive ? *(double *)((char *)&o + field) : 1;
    if (ok &&
        (v >= 0 || nn_refuse(&c, LZ_EINVAL, "%s is %g: a number >= 0 is needed", positive, v))) {
        y = lz_nn_reduce(&c, f(&c, nn_widen(&c, x), nn_widen(&c, t), &o), o.reduction);
        y = nn_narrow(&c, y, lz_dtype_of(x));
    }
    return nn_end(&c, y);
}

static lz_tensor *squared(const nnc *c, lz_tensor *x, lz_tensor *t, const lz_loss_options *o)
{
    (void)o;
    return nn_square(c, nn_sub(c, x, t));
}

static lz_tensor *absolute(const nnc *c, lz_tensor *x, lz_tensor *t, const lz_loss_options *o)
{
    (void)o;
    return lz_abs_at(nn_sub(c, x, t), c->site);
}

/* (x - t)^2 where that is near, not |x - t|^2, whose kink hides the second derivative at 0; 0
 * elsewhere, where a large square would give its gradient infinity times 0. */
static lz_tensor *square_near(const nnc *c, lz_tensor *x, lz_tensor *t, lz_tensor *near)
{
    lz_tensor *e = nn_sub(c, x, t);
    return nn_square(c, nn_where(c, near, e, nn_number(c, e, 0)));
}

static lz_tensor *smooth_l1(const nnc *c, lz_tensor *x, lz_tensor *t, const lz_loss_options *o)
{
    lz_tensor *d = absolute(c, x, t, o);
    lz_tensor *near = lz_lt_at(d, nn_given(c, d, o->beta), c->site); /* nowhere when beta is 0 */
    double by = o->beta == 0 ? 0 : 0.5 / o->beta;
    return nn_where(c, near, nn_mul_given(c, square_near(c, x, t, near), by),
                    nn_add_given(c, d, -0.5 * o->beta));
}

static lz_tensor *huber(const nnc *c, lz_tensor *x, lz_tensor *t, const lz_loss_options *o)
{
    lz_tensor *d = absolute(c, x, t, o);
    lz_tensor *near = lz_le_at(d, nn_given(c, d, o->delta), c->site);
    lz_tensor *far = nn_mul_given(c, nn_add_given(c, d, -0.5 * o->delta), o->delta);
    return nn_where(c, near, nn_muls(c, square_near(c, x, t, near), 0.5), far);
}

static lz_tensor *weighted(const nnc *c, lz_tensor *x, lz_tensor *weight)
{
    return weight ? nn_mul(c, x, nn_widen(c, weight)) : x;
}

/* -(t log(x) + (1 - t) log(1 - x)), no logarithm below -100 */
static lz_tensor *entropy(const nnc *c, lz_tensor *x, lz_tensor *t)
{
    lz_tensor *l = lz_log_at(x, c->site), *m = lz_log1p_at(nn_neg(c, x), c->site);
    lz_tensor *least = nn_number(c, l, -100);
    lz_tensor *yes = nn_mul(c, t, lz_maximum_at(l, least, c->site));
    lz_tensor *no = nn_mul(c, nn_sub(c, nn_number(c, t, 1), t), lz_maximum_at(m, least, c->site));
    return nn_neg(c, nn_add(c, yes, no));
}

/* The gradient by x is (x - t) / max(x (1 - x), 1e-12), as ATen's: at the ends, where that is the
 * constant, it is the slope of a parabola that is added and taken away. */
static lz_tensor *bce(const nnc *c, lz_tensor *x, lz_tensor *t, const lz_loss_options *o)
{
    const double least = 1e-12;
    lz_tensor *one = nn_number(c, x, 1), *half = nn_number(c, x, 0.5);
    lz_tensor *product = nn_mul(c, x, nn_sub(c, one, x));
    lz_tensor *end = lz_le_at(product, nn_number(c, x, least), c->site);
    lz_tensor *e = nn_sub(c, x, lz_detach_at(t, c->site));
    lz_tensor *slope =
        nn_muls(c, nn_square(c, nn_where(c, end, e, nn_number(c, e, 0))), 0.5 / least);
    lz_tensor *at_end = entropy(c, lz_detach_at(x, c->site), t);
    at_end = nn_add(c, at_end, nn_sub(c, slope, lz_detach_at(slope, c->site)));
    lz_tensor *y = entropy(c, nn_where(c, end, half, x), t);
    return weighted(c, nn_where(c, end, at_end, y), o->weight);
}

/* (1 - t) x + w (log(1 + exp(-|x|)) + max(-x, 0)), where w = 1 + (pos_weight - 1) t */
static lz_tensor *bce_with_logits(const nnc *c, lz_tensor *x, lz_tensor *t,
                                  const lz_loss_options *o)
{
    lz_tensor *one = nn_number(c, x, 1);
    lz_tensor *soft = nn_neg(c, lz_log_sigmoid_at(x, c->site));
    if (o->pos_weight) {
        lz_tensor *w = nn_mul(c, nn_sub(c, nn_widen(c, o->pos_weight), one), t);
        soft = nn_mul(c, soft, nn_add(c, w, one));
    }
    lz_tensor *y = nn_add(c, nn_mul(c, nn_sub(c, one, t), x), soft);
    return weighted(c, y, o->weight);
}

static lz_tensor *kl(const nnc *c, lz_tensor *x, lz_tensor *t, const lz_loss_options *o)
{
    if (o->log_target)
        return nn_mul(c, lz_exp_at(t, c->site), nn_sub(c, t, x));
    lz_tensor *one = nn_number(c, t, 1), *some = lz_ne_at(t, nn_number(c, t, 0), c->site);
    lz_tensor *tlogt = nn_mul(c, t, lz_log_at(nn_where(c, some, t, one), c->site));
    /* 0 at 0, with the slope -infinity of t log t */
    lz_tensor *at0 = nn_neg(c, lz_sqrt_at(nn_where(c, some, one, t), c->site));
    return nn_sub(c, nn_where(c, some, tlogt, at0), nn_mul(c, t, x));
}

#define FIELD(name) #name, offsetof(lz_loss_options, name)
LZ_NN_LOSS(lz_mse_loss, LZ_NN_NO_FIELD, squared)
LZ_NN_LOSS(lz_l1_loss, LZ_NN_NO_FIELD, absolute)
LZ_NN_LOSS(lz_smooth_l1_loss, FIELD(beta), smooth_l1)
LZ_NN_LOSS(lz_huber_loss, FIELD(delta), huber)
LZ_NN_LOSS(lz_binary_cross_entropy, LZ_NN_NO_FIELD, bce)
LZ_NN_LOSS(lz_binary_cross_entropy_with_logits, LZ_NN_NO_FIELD, bce_with_logits)

lz_tensor *lz_kl_div_at(lz_tensor *x, lz_tensor *target, const lz_loss_options *opt,
                        const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin_named("lz_kl_div", site);
    nn_autocast(&c, &x, &target);
    lz_loss_options o;
    lz_tensor *y = NULL;
    if (lz_nn_loss_options(&c, &o, opt) && nn_check_float(&c, x, "the input") &&
        nn_check_float(&c, target, "the target")) {
        bool batch = o.batchmean && o.reduction == LZ_REDUCE_MEAN && lz_rank_of(x) > 0;
        y = kl(&c, nn_widen(&c, x), nn_widen(&c, target), &o);
        y = lz_nn_reduce(&c, y, batch ? LZ_REDUCE_SUM : o.reduction);
        if (batch)
            y = nn_muls(&c, y, 1 / (double)lz_shape_of(x).dims[0]);
        y = nn_narrow(&c, y, lz_dtype_of(x));
    }
    return nn_end(&c, y);
}

/* ---- distances of rows ---- */

static lz_tensor *row_sum(const nnc *c, lz_tensor *x)
{
    return nn_sum(c, x, (lz_dims){1, {-1}}, false);
}

/* hinge: max(0, x) */
static lz_tensor *hinge(const nnc *c, lz_tensor *x)
{
    return lz_relu_at(x, c->site);
}

lz_tensor *lz_cosine_embedding_loss_at(lz_tensor *a, lz_tensor *b, lz_tensor *target,
                                       const lz_loss_options *opt, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin_named("lz_cosine_embedding_loss", site);
    nn_autocast(&c, &a, &b, &target);
    lz_loss_options o;
    lz_tensor *y = NULL;
    bool ok = lz_nn_loss_options(&c, &o, opt) && nn_check_float(&c, a, "the first input") &&
              nn_check_float(&c, b, "the second input") && nn_check(&c, target, "the target");
    if (ok && (lz_rank_of(a) < 1 || lz_rank_of(a) > 2 || lz_rank_of(a) != lz_rank_of(b) ||
               lz_rank_of(target) != lz_rank_of(a) - 1)) {
        lz_shape s[] = {lz_shape_of(a), lz_shape_of(b), lz_shape_of(target)};
        char t[3][192];
        ok = nn_refuse(&c, LZ_ESHAPE,
                       "inputs are %s and %s and the target %s, not [N, D], [N, D] and [N]",
                       lz_nn_shape_text(&s[0], t[0]), lz_nn_shape_text(&s[1], t[1]),
                       lz_nn_shape_text(&s[2], t[2]));
    }
    if (ok) {
        /* cosine similarity as in ATen: eps is added under each root */
        lz_tensor *x = nn_widen(&c, a), *z = nn_widen(&c, b);
        lz_tensor *xx = nn_adds(&c, row_sum(&c, nn_square(&c, x)), 1e-12);
        lz_tensor *zz = nn_adds(&c, row_sum(&c, nn_square(&c, z)), 1e-12);
        lz_tensor *cosine =
            nn_div(&c, row_sum(&c, nn_mul(&c, x, z)), lz_sqrt_at(nn_mul(&c, xx, zz), site));
        lz_tensor *one = nn_number(&c, cosine, 1), *t = nn_narrow(&c, target, lz_dtype_of(cosine));
        double margin = isnan(o.margin) ? 0 : o.margin;
        lz_tensor *zero = nn_number(&c, cosine, 0);
        lz_tensor *apart = nn_where(&c, lz_eq_at(t, nn_neg(&c, one), site),
                                    hinge(&c, nn_add_given(&c, cosine, -margin)), zero);
        y = nn_where(&c, lz_eq_at(t, one, site), nn_sub(&c, one, cosine), apart);
        y = nn_narrow(&c, lz_nn_reduce(&c, y, o.reduction), lz_dtype_of(a));
    }
    return nn_end(&c, y);
}

static lz_tensor *distance(const nnc *c, lz_tensor *a, lz_tensor *b, const lz_loss_options *o)
{
    lz_tensor *d = nn_add_given(c, nn_sub(c, a, b), isnan(o->eps) ? 1e-6 : o->eps);
    return lz_nn_norm(c, d, isnan(o->p) ? 2 : o->p, (lz_dims){1, {-1}}, false);
}

lz_tensor *lz_triplet_margin_loss_at(lz_tensor *anchor, lz_tensor *positive, lz_tensor *negative,
                                     const lz_loss_options *opt, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin_named("lz_triplet_margin_loss", site);
    nn_autocast(&c, &anchor, &positive, &negative);
    lz_loss_options o;
    lz_tensor *y = NULL;
    if (lz_nn_loss_options(&c, &o, opt) && nn_check_float(&c, anchor, "the anchor") &&
        nn_check_float(&c, positive, "the positive") &&
        nn_check_float(&c, negative, "the negative") &&
        (!(o.p <= 0) || nn_refuse(&c, LZ_EINVAL, "p is %g: a number > 0 is needed", o.p))) {
        lz_tensor *a = nn_widen(&c, anchor), *p = nn_widen(&c, positive),
                  *n = nn_widen(&c, negative);
        lz_tensor *far = distance(&c, a, n, &o);
        if (o.swap)
            far = lz_minimum_at(far, distance(&c, p, n, &o), site);
        y = nn_sub(&c, distance(&c, a, p, &o), far);
        y = hinge(&c, nn_add_given(&c, y, isnan(o.margin) ? 1 : o.margin));
        y = nn_narrow(&c, lz_nn_reduce(&c, y, o.reduction), lz_dtype_of(anchor));
    }
    return nn_end(&c, y);
}
