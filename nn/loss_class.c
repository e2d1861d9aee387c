/* loss_class.c - classification losses: cross_entropy, nll_loss; and accuracy. The class of a row
 * is picked by a one-hot mask, so that the gradient needs no scatter and a label out of range does
 * no harm. */
#include "nn/loss.h"
#include <inttypes.h>
#include <math.h>

/* Logits [N, C, ..] or [C]: the dimension of classes. */
static int class_dim(lz_tensor *x)
{
    return lz_rank_of(x) > 1 ? 1 : 0;
}

/* The shape of x without dimension d. */
static lz_shape without(lz_shape s, int d)
{
    for (int i = d; i + 1 < s.rank; i++)
        s.dims[i] = s.dims[i + 1];
    s.rank--;
    return s;
}

/* Checks shapes and dtypes of logits, labels (or probabilities, where allowed) and class
 * weights. */
static bool check(nnc *c, lz_tensor *x, lz_tensor *t, bool probabilities, lz_tensor *weight)
{
    if (!nn_check(c, x, "logits") || !nn_check(c, t, "labels"))
        return false;
    lz_shape a = lz_shape_of(x), b = lz_shape_of(t);
    char have[2][192];
    lz_dtype d = lz_dtype_of(t);
    if (a.rank < 1)
        return nn_refuse(c, LZ_ESHAPE, "logits are %s: [C] or [N, C, ..] is needed",
                         lz_nn_shape_text(&a, have[0]));
    lz_shape want = without(a, class_dim(x));
    if (probabilities && nn_is_float(d) && nn_same_shape(&a, &b))
        ;
    else if (!nn_same_shape(&want, &b))
        return nn_refuse(c, LZ_ESHAPE, "logits are %s and labels %s, not [N, C, ..] and [N, ..]",
                         lz_nn_shape_text(&a, have[0]), lz_nn_shape_text(&b, have[1]));
    else if (!nn_is_index(d))
        return nn_refuse(c, LZ_EDTYPE, "labels are %s, not i32 or i64", lz_dtype_name(d));
    return nn_check_shape(c, weight, LZ_SHAPE(a.dims[class_dim(x)]), "the weight");
}

/* [C] as a tensor that broadcasts along dimension d of rank `rank`. */
static lz_tensor *along(const nnc *c, lz_tensor *w, int rank, int d)
{
    lz_shape s = lz_shape_make(rank, (const int64_t[]){1, 1, 1, 1, 1, 1, 1, 1});
    s.dims[d] = -1;
    return nn_reshape(c, nn_widen(c, w), s);
}

/* One-hot: whether the class is the label; boolean, of x's shape. An error tensor is passed
 *   through, since it has no shape. */
static lz_tensor *picked(const nnc *c, lz_tensor *x, lz_tensor *t, int d)
{
    if (lz_rank_of(x) < 0)
        return x;
    if (lz_status_of(x) != LZ_OK || lz_status_of(t) != LZ_OK)
        return lz_status_of(x) != LZ_OK ? x : t;
    lz_tensor *classes = lz_iota_at(lz_dtype_of(t), lz_shape_of(x), d, c->site);
    return lz_eq_at(classes, lz_unsqueeze_at(t, d, c->site), c->site);
}

static lz_tensor *sum_classes(const nnc *c, lz_tensor *x, int d)
{
    return nn_sum(c, x, (lz_dims){1, {d}}, false);
}

/* The summed loss of each sample, and the divisor of the mean. */
typedef struct parts {
    lz_tensor *loss, *count;
} parts;

static lz_tensor *reduced(const nnc *c, parts p, lz_reduction r)
{
    if (r == LZ_REDUCE_NONE)
        return p.loss;
    lz_tensor *sum = lz_sum_at(p.loss, NULL, c->site);
    return r == LZ_REDUCE_SUM ? sum : nn_div(c, sum, lz_sum_at(p.count, NULL, c->site));
}

/* -logp at the labels, mixed with the mean over all classes when labels are smoothed. */
static parts by_label(const nnc *c, lz_tensor *logp, lz_tensor *t, const lz_loss_options *o)
{
    int d = class_dim(logp), rank = lz_rank_of(logp);
    lz_tensor *zero = nn_number(c, logp, 0), *mask = picked(c, logp, t, d);
    lz_tensor *w = o->weight ? along(c, o->weight, rank, d) : NULL;
    lz_tensor *wlogp = w ? nn_mul(c, logp, w) : logp;
    lz_tensor *loss = nn_neg(c, sum_classes(c, nn_where(c, mask, wlogp, zero), d));
    lz_tensor *ignore = lz_hlo_constant_at(lz_dtype_of(t), (double)o->ignore_index, c->site);
    lz_tensor *counts = lz_ne_at(t, ignore, c->site);
    double eps = o->label_smoothing;
    if (eps > 0) {
        int64_t classes = lz_shape_of(logp).dims[d];
        lz_tensor *spread = nn_neg(c, sum_classes(c, wlogp, d));
        loss = nn_add(c, nn_muls(c, loss, 1 - eps), nn_muls(c, spread, eps / (double)classes));
    }
    parts p = {nn_where(c, counts, loss, zero), lz_to_at(counts, lz_dtype_of(logp), c->site)};
    if (w) { /* by the weights of the labels */
        lz_tensor *mine = sum_classes(c, nn_where(c, mask, w, nn_number(c, w, 0)), d);
        p.count = nn_where(c, counts, mine, nn_number(c, mine, 0));
    }
    return p;
}

static lz_tensor *by_probability(const nnc *c, lz_tensor *logp, lz_tensor *t,
                                 const lz_loss_options *o)
{
    int d = class_dim(logp);
    lz_shape s = lz_shape_of(logp);
    double eps = o->label_smoothing, classes = (double)s.dims[d];
    t = nn_widen(c, t);
    if (eps > 0)
        t = nn_adds(c, nn_muls(c, t, 1 - eps), eps / classes);
    if (o->weight)
        logp = nn_mul(c, logp, along(c, o->weight, s.rank, d));
    lz_tensor *loss = nn_neg(c, sum_classes(c, nn_mul(c, logp, t), d));
    return lz_nn_reduce(c, loss, o->reduction);
}

static bool options(nnc *c, lz_loss_options *o, const lz_loss_options *opt)
{
    return lz_nn_loss_options(c, o, opt) &&
           ((o->label_smoothing >= 0 && o->label_smoothing <= 1) ||
            nn_refuse(c, LZ_EINVAL, "label_smoothing is %g: it must be in [0, 1]",
                      o->label_smoothing));
}

lz_tensor *lz_cross_entropy_at(lz_tensor *logits, lz_tensor *target, const lz_loss_options *opt,
                               const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin_named("lz_cross_entropy", site);
    nn_autocast(&c, &logits, &target);
    lz_loss_options o;
    lz_tensor *y = NULL;
    if (options(&c, &o, opt) && check(&c, logits, target, true, o.weight)) {
        lz_tensor *logp = lz_log_softmax_at(nn_widen(&c, logits), class_dim(logits), site);
        if (lz_status_of(logp) != LZ_OK) /* it has no shape to go on with */
            y = logp;
        else if (nn_is_float(lz_dtype_of(target)))
            y = by_probability(&c, logp, target, &o);
        else
            y = reduced(&c, by_label(&c, logp, target, &o), o.reduction);
        if (nn_is_float(lz_dtype_of(logits)))
            y = nn_narrow(&c, y, lz_dtype_of(logits));
    }
    return nn_end(&c, y);
}

lz_tensor *lz_nll_loss_at(lz_tensor *x, lz_tensor *target, const lz_loss_options *opt,
                          const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin_named("lz_nll_loss", site);
    nn_autocast(&c, &x, &target);
    lz_loss_options o;
    lz_tensor *y = NULL;
    if (options(&c, &o, opt) && nn_check_float(&c, x, "logits") &&
        check(&c, x, target, false, o.weight)) {
        o.label_smoothing = 0;
        lz_tensor *logp = nn_widen(&c, x);
        y = lz_status_of(logp) == LZ_OK ? reduced(&c, by_label(&c, logp, target, &o), o.reduction)
                                        : logp;
        y = nn_narrow(&c, y, lz_dtype_of(x));
    }
    return nn_end(&c, y);
}

lz_tensor *lz_accuracy_at(lz_tensor *logits, lz_tensor *labels, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin_named("lz_accuracy", site);
    lz_tensor *y = NULL;
    if (check(&c, logits, labels, false, NULL)) {
        lz_tensor *best = lz_argmax_at(logits, class_dim(logits), false, site);
        lz_tensor *hit = lz_eq_at(best, lz_to_at(labels, LZ_I64, site), site);
        y = lz_mean_at(lz_to_at(hit, LZ_F32, site), NULL, site);
    }
    return nn_end(&c, y);
}
