/* loss_margin.c - losses of distributions, margin losses and multi-label losses, as
 * torch.nn.functional. */
#include "nn/loss.h"
#include <math.h>

/* The caller's reduction, or the loss's own default. */
static double own(double v, double preset)
{
    return isnan(v) ? preset : v;
}

static lz_tensor *relu(const nnc *c, lz_tensor *x)
{
    return lz_relu_at(x, c->site);
}

static lz_tensor *log_of(const nnc *c, lz_tensor *x)
{
    return lz_log_at(x, c->site);
}

static bool check_same(nnc *c, lz_tensor *x, lz_tensor *t)
{
    lz_shape a = lz_shape_of(x), b = lz_shape_of(t);
    char have[2][192];
    if (nn_same_shape(&a, &b))
        return true;
    return nn_refuse(c, LZ_ESHAPE, "the input is %s and the target %s: one shape is needed",
                     lz_nn_shape_text(&a, have[0]), lz_nn_shape_text(&b, have[1]));
}

/* ---- of two tensors, element by element ---- */

static lz_tensor *hinge_embedding(const nnc *c, lz_tensor *x, lz_tensor *t,
                                  const lz_loss_options *o)
{
    lz_tensor *zero = nn_number(c, x, 0);
    t = nn_narrow(c, t, lz_dtype_of(x));
    lz_tensor *apart = relu(c, nn_add_given(c, nn_neg(c, x), own(o->margin, 1)));
    /* ATen: what is not -1 counts as near, what is not 1 as far */
    lz_tensor *far = nn_where(c, lz_ne_at(t, nn_number(c, t, 1), c->site), apart, zero);
    return nn_add(c, far, nn_where(c, lz_ne_at(t, nn_number(c, t, -1), c->site), x, zero));
}

static lz_tensor *soft_margin(const nnc *c, lz_tensor *x, lz_tensor *t, const lz_loss_options *o)
{
    (void)o;
    t = nn_narrow(c, t, lz_dtype_of(x));
    return nn_neg(c, lz_log_sigmoid_at(nn_mul(c, x, t), c->site));
}

/* t log t - t + log(2 pi t) / 2 where t > 1 */
static lz_tensor *stirling(const nnc *c, lz_tensor *t)
{
    lz_tensor *one = nn_number(c, t, 1), *big = lz_gt_at(t, one, c->site);
    lz_tensor *safe = nn_where(c, big, t, one);
    lz_tensor *half_log = nn_muls(c, log_of(c, nn_muls(c, safe, 2 * M_PI)), 0.5);
    lz_tensor *y = nn_add(c, nn_sub(c, nn_mul(c, safe, log_of(c, safe)), safe), half_log);
    return nn_where(c, big, y, nn_number(c, t, 0));
}

static lz_tensor *poisson(const nnc *c, lz_tensor *x, lz_tensor *t, const lz_loss_options *o)
{
    t = nn_narrow(c, t, lz_dtype_of(x));
    lz_tensor *y =
        o->log_input ? nn_sub(c, lz_exp_at(x, c->site), nn_mul(c, t, x))
                     : nn_sub(c, x, nn_mul(c, t, log_of(c, nn_add_given(c, x, own(o->eps, 1e-8)))));
    return o->full ? nn_add(c, y, stirling(c, t)) : y;
}

LZ_NN_LOSS(lz_hinge_embedding_loss, LZ_NN_NO_FIELD, hinge_embedding)
LZ_NN_LOSS(lz_soft_margin_loss, LZ_NN_NO_FIELD, soft_margin)
LZ_NN_LOSS(lz_poisson_nll_loss, LZ_NN_NO_FIELD, poisson)

/* ---- of three ---- */

static bool check_three(nnc *c, lz_loss_options *o, const lz_loss_options *opt, lz_tensor *x,
                        lz_tensor *y, const char *second, lz_tensor *z, const char *third)
{
    return lz_nn_loss_options(c, o, opt) && nn_check_float(c, x, "the input") &&
           nn_check_float(c, y, second) && nn_check(c, z, third);
}

lz_tensor *lz_margin_ranking_loss_at(lz_tensor *a, lz_tensor *b, lz_tensor *target,
                                     const lz_loss_options *opt, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin_named("lz_margin_ranking_loss", site);
    nn_autocast(&c, &a, &b, &target);
    lz_loss_options o;
    lz_tensor *y = NULL;
    if (check_three(&c, &o, opt, a, b, "the second input", target, "the target")) {
        lz_tensor *d = nn_sub(&c, nn_widen(&c, a), nn_widen(&c, b));
        lz_tensor *t = nn_narrow(&c, target, lz_dtype_of(d));
        y = relu(&c, nn_add_given(&c, nn_neg(&c, nn_mul(&c, t, d)), own(o.margin, 0)));
        y = nn_narrow(&c, lz_nn_reduce(&c, y, o.reduction), lz_dtype_of(a));
    }
    return nn_end(&c, y);
}

/* A variance of the input's shape, or one for each row of it. */
static lz_tensor *variance_of(const nnc *c, lz_tensor *x, lz_tensor *variance)
{
    lz_tensor *v = nn_widen(c, variance);
    return lz_rank_of(v) == lz_rank_of(x) - 1 ? lz_unsqueeze_at(v, -1, c->site) : v;
}

lz_tensor *lz_gaussian_nll_loss_at(lz_tensor *x, lz_tensor *target, lz_tensor *variance,
                                   const lz_loss_options *opt, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin_named("lz_gaussian_nll_loss", site);
    nn_autocast(&c, &x, &target, &variance);
    lz_loss_options o;
    lz_tensor *y = NULL;
    if (check_three(&c, &o, opt, x, target, "the target", variance, "the variance")) {
        lz_tensor *v = variance_of(&c, x, variance);
        /* the floor has no gradient of its own: that of what is below it goes through */
        lz_tensor *floored = lz_maximum_at(v, nn_given(&c, v, own(o.eps, 1e-6)), site);
        v = nn_add(&c, v, lz_detach_at(nn_sub(&c, floored, v), site));
        lz_tensor *d = nn_sub(&c, nn_widen(&c, x), nn_widen(&c, target));
        y = nn_add(&c, log_of(&c, v), nn_div(&c, nn_square(&c, d), v));
        y = nn_muls(&c, o.full ? nn_adds(&c, y, log(2 * M_PI)) : y, 0.5);
        y = nn_narrow(&c, lz_nn_reduce(&c, y, o.reduction), lz_dtype_of(x));
    }
    return nn_end(&c, y);
}

/* ---- of classes ---- */

static lz_tensor *mean_row(const nnc *c, lz_tensor *x)
{
    return nn_mean(c, x, (lz_dims){1, {-1}}, false);
}

/* x is [C] or [N, C], labels one or `several` for each row. */
static bool check_rows(nnc *c, lz_tensor *x, lz_tensor *t, bool several)
{
    int rank = lz_rank_of(x), want = several ? rank : rank - 1;
    lz_shape a = lz_shape_of(x), b = lz_shape_of(t);
    char have[2][192];
    bool fits = (rank == 1 || rank == 2) && b.rank == want && a.dims[rank - 1] > 0 &&
                memcmp(a.dims, b.dims, sizeof *a.dims * (size_t)want) == 0;
    if (!fits)
        return nn_refuse(c, LZ_ESHAPE, "the input is %s and the labels %s, not [N, C] and %s",
                         lz_nn_shape_text(&a, have[0]), lz_nn_shape_text(&b, have[1]),
                         several ? "[N, C]" : "[N]");
    return nn_is_index(lz_dtype_of(t)) ||
           nn_refuse(c, LZ_EDTYPE, "labels are %s, not i32 or i64", lz_dtype_name(lz_dtype_of(t)));
}

/* One-hot labels, over a new last dimension of classes. */
static lz_tensor *is_class(const nnc *c, lz_tensor *t, int64_t classes)
{
    lz_tensor *all = lz_iota_at(lz_dtype_of(t), LZ_SHAPE(classes), 0, c->site);
    return lz_eq_at(lz_unsqueeze_at(t, -1, c->site), all, c->site);
}

static lz_tensor *chosen(const nnc *c, lz_tensor *mask, lz_tensor *x)
{
    return nn_sum(c, nn_where(c, mask, x, nn_number(c, x, 0)), (lz_dims){1, {-1}}, true);
}

static lz_tensor *multi_margin(const nnc *c, lz_tensor *x, lz_tensor *t, double p,
                               const lz_loss_options *o)
{
    lz_tensor *mine = is_class(c, t, lz_shape_of(x).dims[lz_rank_of(x) - 1]);
    lz_tensor *gap = relu(c, nn_add_given(c, nn_sub(c, x, chosen(c, mine, x)), own(o->margin, 1)));
    lz_tensor *y = p == 2 ? nn_square(c, gap) : gap;
    if (o->weight)
        y = nn_mul(c, y, chosen(c, mine, nn_widen(c, o->weight)));
    return mean_row(c, nn_where(c, mine, nn_number(c, y, 0), y));
}

lz_tensor *lz_multi_margin_loss_at(lz_tensor *x, lz_tensor *target, const lz_loss_options *opt,
                                   const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin_named("lz_multi_margin_loss", site);
    nn_autocast(&c, &x, &target);
    lz_loss_options o;
    lz_tensor *y = NULL;
    bool ok = lz_nn_loss_options(&c, &o, opt) && nn_check_float(&c, x, "the input") &&
              nn_check(&c, target, "the target") && check_rows(&c, x, target, false) &&
              nn_check_shape(&c, o.weight, LZ_SHAPE(lz_shape_of(x).dims[lz_rank_of(x) - 1]),
                             "the weight");
    double p = ok ? own(o.p, 1) : 1;
    if (ok && (p == 1 || p == 2 || nn_refuse(&c, LZ_EINVAL, "p is %g, not 1 or 2", p))) {
        y = multi_margin(&c, nn_widen(&c, x), target, p, &o);
        y = nn_narrow(&c, lz_nn_reduce(&c, y, o.reduction), lz_dtype_of(x));
    }
    return nn_end(&c, y);
}

/* The labels of a row end before its first negative one. */
static lz_tensor *before_the_end(const nnc *c, lz_tensor *t)
{
    lz_tensor *least = lz_cummin_at(t, -1, NULL, c->site);
    return lz_ge_at(least, nn_number(c, t, 0), c->site);
}

/* Over pairs (label j, class i that is no label): max(0, 1 - x[j] + x[i]) */
static lz_tensor *multilabel_margin(const nnc *c, lz_tensor *x, lz_tensor *t)
{
    int64_t classes = lz_shape_of(x).dims[lz_rank_of(x) - 1];
    lz_tensor *valid = lz_unsqueeze_at(before_the_end(c, t), -1, c->site); /* [.., J, 1] */
    lz_tensor *mine = lz_logical_and_at(is_class(c, t, classes), valid, c->site);
    const lz_reduce_options o = {.struct_size = sizeof o, .dims = {1, {-2}}, .keepdim = true};
    lz_tensor *label = lz_any_at(mine, &o, c->site);                      /* [.., 1, C] */
    lz_tensor *row = lz_unsqueeze_at(x, -2, c->site);                     /* [.., 1, C] */
    lz_tensor *gap = nn_adds(c, nn_sub(c, row, chosen(c, mine, row)), 1); /* [.., J, C] */
    lz_tensor *counts = lz_logical_and_at(valid, lz_logical_not_at(label, c->site), c->site);
    lz_tensor *y = nn_where(c, counts, relu(c, gap), nn_number(c, gap, 0));
    return nn_muls(c, nn_sum(c, y, (lz_dims){2, {-2, -1}}, false), 1 / (double)classes);
}

lz_tensor *lz_multilabel_margin_loss_at(lz_tensor *x, lz_tensor *target, const lz_loss_options *opt,
                                        const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin_named("lz_multilabel_margin_loss", site);
    nn_autocast(&c, &x, &target);
    lz_loss_options o;
    lz_tensor *y = NULL;
    if (lz_nn_loss_options(&c, &o, opt) && nn_check_float(&c, x, "the input") &&
        nn_check(&c, target, "the target") && check_rows(&c, x, target, true)) {
        y = multilabel_margin(&c, nn_widen(&c, x), target);
        y = nn_narrow(&c, lz_nn_reduce(&c, y, o.reduction), lz_dtype_of(x));
    }
    return nn_end(&c, y);
}

lz_tensor *lz_multilabel_soft_margin_loss_at(lz_tensor *x, lz_tensor *target,
                                             const lz_loss_options *opt, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin_named("lz_multilabel_soft_margin_loss", site);
    nn_autocast(&c, &x, &target);
    lz_loss_options o;
    lz_tensor *y = NULL;
    if (lz_nn_loss_options(&c, &o, opt) && nn_check_float(&c, x, "the input") &&
        nn_check(&c, target, "the target") && check_same(&c, x, target) &&
        (lz_rank_of(x) > 0 || nn_refuse(&c, LZ_ESHAPE, "the input has no dimension of classes"))) {
        lz_tensor *w = nn_widen(&c, x), *t = nn_narrow(&c, target, lz_dtype_of(w));
        lz_tensor *no =
            nn_mul(&c, nn_sub(&c, nn_number(&c, t, 1), t), lz_log_sigmoid_at(nn_neg(&c, w), site));
        y = nn_neg(&c, nn_add(&c, nn_mul(&c, t, lz_log_sigmoid_at(w, site)), no));
        y = mean_row(&c, o.weight ? nn_mul(&c, y, nn_widen(&c, o.weight)) : y);
        y = nn_narrow(&c, lz_nn_reduce(&c, y, o.reduction), lz_dtype_of(x));
    }
    return nn_end(&c, y);
}
