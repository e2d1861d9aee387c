/* loss_ctc.c - connectionist temporal classification (Graves et al. 2006): the forward recursion
 * over time as a scan, in logarithms; its gradient is the scan's. The labels of a row, with a blank
 * before, between and after them, are its positions: S labels make 2 S + 1. A path is at one
 * position at a time, and stays, goes on by one, or jumps over a blank between two labels that
 * differ. */
#include "nn/loss.h"
#include <lazuli/control.h>
#include <lazuli/index_ops.h>
#include <math.h>

typedef struct ctc {
    nnc *c;
    lz_tensor *jumps; /* [N, P]: whether a path may come from two positions before */
    lz_tensor *steps; /* [N, 1] i64: the time steps of a row */
    int64_t positions;
} ctc;

static lz_tensor *impossible(const nnc *c, lz_tensor *like)
{
    return nn_number(c, like, -INFINITY);
}

/* log(sum of exp(x)) of n tensors, n <= 3; of nothing but -infinity: that, and no gradient. */
static lz_tensor *log_sum(const nnc *c, lz_tensor *const *x, int n)
{
    lz_tensor *most = x[0], *sum = NULL;
    for (int i = 1; i < n; i++)
        most = lz_maximum_at(most, x[i], c->site);
    most = lz_detach_at(most, c->site);
    lz_tensor *none = lz_eq_at(most, impossible(c, most), c->site);
    lz_tensor *base = nn_where(c, none, nn_number(c, most, 0), most);
    for (int i = 0; i < n; i++) {
        lz_tensor *e = lz_exp_at(nn_sub(c, x[i], base), c->site);
        sum = sum ? nn_add(c, sum, e) : e;
    }
    sum = nn_where(c, none, nn_number(c, sum, 1), sum);
    return nn_where(c, none, impossible(c, most), nn_add(c, lz_log_at(sum, c->site), base));
}

/* Positions moved up by n, which nothing reaches from before the first. */
static lz_tensor *from_before(const ctc *k, lz_tensor *x, int64_t n)
{
    const lz_site *site = k->c->site;
    lz_shape s = lz_shape_of(x);
    s.dims[1] = n;
    lz_tensor *two[] = {lz_full_at(lz_dtype_of(x), s, -INFINITY, site),
                        lz_slice_at(x, 1, 0, k->positions - n, 1, site)};
    return lz_cat_at(two, 2, 1, site);
}

/* carry: log of the chance to be at each position; x: log probabilities there, and the time. */
static void step(lz_tensor *const *carry, lz_tensor *const *x, lz_tensor **next, lz_tensor **y,
                 void *user)
{
    const ctc *k = user;
    const nnc *c = k->c;
    lz_tensor *from[3] = {carry[0]};
    int n = 1;
    (void)y;
    if (k->positions > 1) {
        from[n++] = from_before(k, carry[0], 1);
        from[n++] = nn_where(c, k->jumps, from_before(k, carry[0], 2), impossible(c, carry[0]));
    }
    lz_tensor *now = nn_add(c, log_sum(c, from, n), x[0]);
    next[0] = nn_where(c, lz_lt_at(x[1], k->steps, c->site), now, carry[0]);
}

/* [N, P]: labels with blanks around each. */
static lz_tensor *with_blanks(const nnc *c, lz_tensor *labels, int64_t blank)
{
    lz_shape s = lz_shape_of(labels), last = LZ_SHAPE(s.dims[0], 1);
    lz_tensor *pair[] = {lz_full_at(LZ_I64, s, (double)blank, c->site), labels};
    lz_tensor *both = lz_reshape_at(lz_stack_at(pair, 2, 2, c->site),
                                    LZ_SHAPE(s.dims[0], 2 * s.dims[1]), c->site);
    lz_tensor *whole[] = {both, lz_full_at(LZ_I64, last, (double)blank, c->site)};
    return lz_cat_at(whole, 2, 1, c->site);
}

static lz_tensor *may_jump(const nnc *c, lz_tensor *at, int64_t blank, int64_t positions)
{
    lz_tensor *label = lz_ne_at(at, nn_number(c, at, (double)blank), c->site);
    if (positions < 3)
        return lz_logical_and_at(label, lz_logical_not_at(label, c->site), c->site);
    lz_shape s = lz_shape_of(at);
    s.dims[1] = 2;
    lz_tensor *two[] = {lz_full_at(LZ_I64, s, (double)blank, c->site),
                        lz_slice_at(at, 1, 0, positions - 2, 1, c->site)};
    lz_tensor *before = lz_cat_at(two, 2, 1, c->site);
    return lz_logical_and_at(label, lz_ne_at(at, before, c->site), c->site);
}

/* Integers of a row as [N, 1] i64, in lo..hi. */
static lz_tensor *column(const nnc *c, lz_tensor *t, double lo, double hi)
{
    lz_tensor *wide = lz_to_at(t, LZ_I64, c->site);
    return lz_clamp_at(lz_unsqueeze_at(wide, 1, c->site), lo, hi, c->site);
}

/* The chance of all paths that end at the last label or at the blank after it: [N]. */
static lz_tensor *ended(const nnc *c, lz_tensor *alpha, lz_tensor *labels)
{
    lz_tensor *last = nn_muls(c, labels, 2); /* [N, 1] */
    lz_tensor *on_blank = lz_take_along_dim_at(alpha, last, 1, c->site);
    lz_tensor *before = lz_clamp_min_at(nn_adds(c, last, -1), 0, c->site);
    lz_tensor *on_label = lz_take_along_dim_at(alpha, before, 1, c->site);
    lz_tensor *some = lz_gt_at(labels, nn_number(c, labels, 0), c->site);
    lz_tensor *both[] = {on_blank, nn_where(c, some, on_label, impossible(c, on_label))};
    return lz_squeeze_at(log_sum(c, both, 2), 1, c->site);
}

/* logp [T, N, C], targets [N, S] -> [N] */
static lz_tensor *per_row(nnc *c, lz_tensor *logp, lz_tensor *targets, lz_tensor *steps,
                          lz_tensor *lengths, int64_t blank)
{
    lz_shape s = lz_shape_of(logp);
    int64_t labels = lz_shape_of(targets).dims[1];
    /* what pads the targets may be any number */
    lz_tensor *safe =
        lz_clamp_at(lz_to_at(targets, LZ_I64, c->site), 0, (double)(s.dims[2] - 1), c->site);
    lz_tensor *at = with_blanks(c, safe, blank), *alpha;
    ctc k = {c, NULL, column(c, steps, 0, (double)s.dims[0]), 2 * labels + 1};
    k.jumps = may_jump(c, at, blank, k.positions);
    lz_tensor *index = lz_expand_at(lz_unsqueeze_at(at, 0, c->site),
                                    LZ_SHAPE(s.dims[0], s.dims[1], k.positions), c->site);
    lz_tensor *xs[] = {lz_take_along_dim_at(logp, index, 2, c->site),
                       lz_iota_at(LZ_I64, LZ_SHAPE(s.dims[0]), 0, c->site)};
    /* before the first step: at the first blank, which the step then stays at or leaves */
    lz_tensor *place = lz_iota_at(LZ_I64, LZ_SHAPE(s.dims[1], k.positions), 1, c->site);
    lz_tensor *start = nn_where(c, lz_eq_at(place, nn_number(c, place, 0), c->site),
                                nn_number(c, logp, 0), impossible(c, logp));
    lz_status st = lz_scan_at(&start, 1, xs, 2, 0, step, &k, &alpha, NULL, NULL, c->site);
    if (st != LZ_OK)
        return alpha;
    return nn_neg(c, ended(c, alpha, column(c, lengths, 0, (double)labels)));
}

static lz_tensor *reduced(const nnc *c, lz_tensor *loss, lz_tensor *lengths,
                          const lz_loss_options *o)
{
    if (o->zero_infinity)
        loss = nn_where(c, lz_eq_at(loss, nn_number(c, loss, INFINITY), c->site),
                        nn_number(c, loss, 0), loss);
    if (o->reduction == LZ_REDUCE_MEAN) { /* by the labels of a row, then over rows */
        lz_tensor *n = lz_clamp_min_at(lz_to_at(lengths, LZ_I64, c->site), 1, c->site);
        loss = nn_div(c, loss, lz_to_at(n, lz_dtype_of(loss), c->site));
    }
    return lz_nn_reduce(c, loss, o->reduction);
}

static bool check_index(nnc *c, lz_tensor *t, const char *what)
{
    lz_dtype d = lz_dtype_of(t);
    return nn_check(c, t, what) &&
           (nn_is_index(d) ||
            nn_refuse(c, LZ_EDTYPE, "%s are %s, not i32 or i64", what, lz_dtype_name(d)));
}

static bool check(nnc *c, lz_tensor *logp, lz_tensor *targets, lz_tensor *steps, lz_tensor *lengths,
                  const lz_loss_options *o)
{
    if (!nn_check_float(c, logp, "log_probs") || !check_index(c, targets, "targets") ||
        !check_index(c, steps, "input_lengths") || !check_index(c, lengths, "target_lengths"))
        return false;
    lz_shape s = lz_shape_of(logp), t = lz_shape_of(targets);
    char have[2][192];
    if (s.rank != 3 || t.rank != 2 || t.dims[0] != s.dims[1] || s.dims[0] == 0 || s.dims[2] == 0)
        return nn_refuse(c, LZ_ESHAPE,
                         "log_probs are %s and targets %s, not [T, N, C] and [N, S] with T, C > 0",
                         lz_nn_shape_text(&s, have[0]), lz_nn_shape_text(&t, have[1]));
    if (o->blank < 0 || o->blank >= s.dims[2])
        return nn_refuse(c, LZ_ERANGE, "blank is %lld: one of %lld classes is needed",
                         (long long)o->blank, (long long)s.dims[2]);
    return nn_check_shape(c, steps, LZ_SHAPE(s.dims[1]), "input_lengths") &&
           nn_check_shape(c, lengths, LZ_SHAPE(s.dims[1]), "target_lengths");
}

lz_tensor *lz_ctc_loss_at(lz_tensor *log_probs, lz_tensor *targets, lz_tensor *input_lengths,
                          lz_tensor *target_lengths, const lz_loss_options *opt,
                          const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin_named("lz_ctc_loss", site);
    nn_autocast(&c, &log_probs);
    lz_loss_options o;
    lz_tensor *y = NULL;
    if (lz_nn_loss_options(&c, &o, opt) &&
        check(&c, log_probs, targets, input_lengths, target_lengths, &o)) {
        y = per_row(&c, nn_widen(&c, log_probs), targets, input_lengths, target_lengths, o.blank);
        y = lz_status_of(y) == LZ_OK ? reduced(&c, y, target_lengths, &o) : y;
        y = nn_narrow(&c, y, lz_dtype_of(log_probs));
    }
    return nn_end(&c, y);
}
