/* grad_scaler.c - loss scaling for f16, as torch.amp.GradScaler. torch reads back whether gradients
 * are finite and decides on the host; here it is a select on the device: a skipped step is the same
 * program as any other. */
#include "nn/nn_compose.h"
#include "nn/optim_rule.h"
#include "runtime/exec/assign.h"
#include <inttypes.h>
#include <math.h>

static lz_status check_options(const lz_grad_scaler_options *o)
{
    const char *what = NULL;
    double v = 0;
    if (!(isfinite(v = o->init_scale) && v > 0))
        what = "init_scale must be finite and > 0";
    else if (!(isfinite(v = o->growth_factor) && v > 1))
        what = "growth_factor must be finite and > 1";
    else if (!((v = o->backoff_factor) > 0 && v < 1))
        what = "backoff_factor must be in (0, 1)";
    if (what)
        return LZ_FAIL(LZ_EINVAL, "%s, not %g", what, v);
    if (o->growth_interval < 1 || o->growth_interval > INT32_MAX)
        return LZ_FAIL(LZ_EINVAL, "growth_interval is %" PRId64 ": 1..2^31-1 is needed",
                       o->growth_interval);
    return LZ_OK;
}

/* State begins as real buffers, so that the first step is traced like all others. */
static lz_status make_numbers(lz_grad_scaler *s, const lz_site *site)
{
    lz_status st = lz_scope_begin();
    if (st != LZ_OK)
        return st;
    const float scale = (float)s->options.init_scale;
    const int32_t zero = 0;
    lz_tensor *t[] = {lz_from_host_at(LZ_F32, LZ_SCALAR, &scale, sizeof scale, site),
                      lz_from_host_at(LZ_I32, LZ_SCALAR, &zero, sizeof zero, site)};
    for (int i = 0; i < 2 && st == LZ_OK; i++)
        st = lz_status_of(t[i]);
    if (st == LZ_OK) {
        s->scale = lz_retain(t[0]);
        s->growth_tracker = lz_retain(t[1]);
    }
    lz_scope_end();
    return st;
}

/* nn_end for functions without a tensor result: only the status is returned. */
static lz_status end(nnc *c, lz_status s)
{
    if (s != LZ_OK)
        lz_error_annotate(c->op, c->site);
    if (c->open)
        lz_scope_end();
    (void)lz_error_speak_for(c->outer);
    return lz_nn_given(s);
}

lz_grad_scaler *lz_grad_scaler_new_at(const lz_grad_scaler_options *opt, const lz_site *site)
{
    LZ_PUBLIC_AT(NULL);
    nnc c = nn_begin("lz_grad_scaler_new", site);
    lz_grad_scaler_options o = {.struct_size = sizeof o, LZ_GRAD_SCALER_DEFAULTS};
    lz_grad_scaler *s = NULL;
    if (nn_options(&c, &o, sizeof o, opt))
        c.status = check_options(&o);
    if (c.status == LZ_OK && !(s = lz_calloc(1, sizeof *s)))
        nn_refuse(&c, LZ_EMEM, "no memory for the scaler");
    if (s && !(s->host = lz_host_new(s, "gradient scaler")))
        nn_refuse(&c, LZ_EMEM, "no memory for the scaler");
    if (s && s->host) {
        s->options = o;
        c.status = make_numbers(s, site);
    }
    if (c.status != LZ_OK) {
        lz_grad_scaler_free(s);
        s = NULL;
    }
    (void)end(&c, c.status);
    return s;
}

static void forget(lz_grad_scaler *s)
{
    while (s->ndone)
        lz_release(s->done[--s->ndone].found_inf);
}

void lz_grad_scaler_free(lz_grad_scaler *s)
{
    LZ_PUBLIC();
    if (!s)
        return;
    forget(s);
    lz_free(s->done);
    lz_host_end(s->host);
    lz_release(s->scale);
    lz_release(s->growth_tracker);
    lz_free(s);
}

lz_tensor *lz_grad_scaler_scale_at(lz_grad_scaler *s, lz_tensor *loss, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin("lz_grad_scaler_scale", site);
    lz_tensor *y = NULL;
    if (c.status == LZ_OK && !s)
        nn_refuse(&c, LZ_ENULL, "the scaler is NULL");
    if (nn_check_float(&c, loss, "the loss")) {
        y = nn_widen(&c, loss);
        if (!s->options.disabled)
            y = nn_mul(&c, y, nn_narrow(&c, s->scale, lz_dtype_of(y)));
        else
            y = loss;
    }
    return nn_end(&c, y);
}

/* ---- gradients ---- */

/* found = found or not all elements finite; g = g / scale. 16-bit gradients on the way in f32. */
static lz_status unscale(nnc *c, lz_tensor *g, lz_tensor *inverse, lz_tensor **found,
                         lz_assignments *all)
{
    lz_tensor *finite = lz_all_at(lz_isfinite_at(g, c->site), NULL, c->site);
    lz_tensor *bad = lz_logical_not_at(finite, c->site);
    *found = *found ? lz_logical_or_at(*found, bad, c->site) : bad;
    lz_tensor *wide = nn_widen(c, g);
    wide = nn_mul(c, wide, nn_narrow(c, inverse, lz_dtype_of(wide)));
    return lz_assignments_add(all, g, nn_narrow(c, wide, lz_dtype_of(g)));
}

static lz_status unscale_all(nnc *c, lz_grad_scaler *s, lz_optim *o, lz_tensor **found)
{
    lz_tensor *inverse = lz_reciprocal_at(s->scale, c->site);
    lz_assignments all = {0};
    lz_status st = LZ_OK;
    for (size_t k = 0; k < o->ngroups; k++) {
        const lz_params *ps = o->groups[k].params;
        for (size_t i = 0; i < ps->len && st == LZ_OK; i++) {
            lz_tensor *g = lz_grad_of(ps->tensors[i]);
            if (g)
                st = unscale(c, g, inverse, found, &all);
        }
    }
    if (!*found)
        *found = lz_zeros_at(LZ_BOOL, LZ_SCALAR, c->site);
    if (st == LZ_OK)
        st = lz_status_of(*found);
    return lz_assignments_end(&all, st, c->site);
}

static struct lz_scaled *entry_of(lz_grad_scaler *s, const lz_optim *o)
{
    for (size_t i = 0; i < s->ndone; i++)
        if (s->done[i].optim == o)
            return &s->done[i];
    return NULL;
}

static lz_status add_entry(nnc *c, lz_grad_scaler *s, lz_optim *o)
{
    if (s->ndone == s->capacity) {
        size_t n = 2 * s->capacity + 1;
        struct lz_scaled *more = lz_realloc(s->done, n * sizeof *more);
        if (!more)
            return LZ_FAIL(LZ_EMEM, "no memory for optimizer %zu", s->ndone);
        s->done = more;
        s->capacity = n;
    }
    lz_tensor *found = NULL;
    LZ_TRY(unscale_all(c, s, o, &found));
    s->done[s->ndone++] = (struct lz_scaled){o, lz_retain(found), false};
    return LZ_OK;
}

/* What is between unscaling and the update is on the host: calls of a function know nothing of it.
 */
static lz_status recording_ends(void *object)
{
    lz_grad_scaler *s = object;
    s->recorded = false;
    if (!s->ndone)
        return LZ_OK;
    forget(s);
    return LZ_FAIL(LZ_ESTATE, "the function unscales gradients: lz_grad_scaler_update has to be in "
                              "it, too");
}

static lz_status record(lz_grad_scaler *s)
{
    if (s->recorded || !lz_host_records())
        return LZ_OK;
    if (s->ndone)
        return LZ_FAIL(LZ_ESTATE, "gradients were unscaled outside of the function that is "
                                  "recorded: lz_grad_scaler_update comes first");
    lz_status st = lz_host_at_end(s->host, recording_ends);
    s->recorded = st == LZ_OK;
    return st;
}

static lz_status begin(nnc *c, const char *op, lz_grad_scaler *s, const void *o,
                       const lz_site *site)
{
    *c = nn_begin(op, site);
    if (c->status == LZ_OK && (!s || !o))
        nn_refuse(c, LZ_ENULL, "%s is NULL", s ? "the optimizer" : "the scaler");
    if (c->status == LZ_OK)
        c->status = record(s);
    return c->status;
}

lz_status lz_grad_scaler_unscale_at(lz_grad_scaler *s, lz_optim *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    nnc c;
    lz_status st = begin(&c, "lz_grad_scaler_unscale", s, o, site);
    if (st == LZ_OK && !s->options.disabled)
        st = entry_of(s, o) ? LZ_FAIL(LZ_ESTATE, "these gradients are unscaled: update comes first")
                            : add_entry(&c, s, o);
    return end(&c, st);
}

lz_status lz_grad_scaler_step_at(lz_grad_scaler *s, lz_optim *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    nnc c;
    lz_status st = begin(&c, "lz_grad_scaler_step", s, o, site);
    if (st != LZ_OK)
        return end(&c, st);
    if (s->options.disabled)
        return end(&c, lz_optim_step_unless(o, NULL, c.op, site));
    struct lz_scaled *e = entry_of(s, o);
    if (!e && (st = add_entry(&c, s, o)) == LZ_OK)
        e = entry_of(s, o);
    if (st == LZ_OK && e->stepped)
        st = LZ_FAIL(LZ_ESTATE, "this optimizer made its step: update comes first");
    if (st == LZ_OK)
        st = lz_optim_step_unless(o, e->found_inf, c.op, site);
    if (st == LZ_OK)
        e->stepped = true;
    return end(&c, st);
}

/* ---- the next scale ---- */

static lz_status update(nnc *c, lz_grad_scaler *s)
{
    const lz_grad_scaler_options *o = &s->options;
    lz_tensor *found = s->done[0].found_inf;
    for (size_t i = 1; i < s->ndone; i++)
        found = lz_logical_or_at(found, s->done[i].found_inf, c->site);
    lz_tensor *count = nn_adds(c, s->growth_tracker, 1);
    /* at least: a checkpoint's count may be of a longer interval */
    lz_tensor *full = lz_ge_scalar_at(count, (double)o->growth_interval, c->site);
    lz_tensor *grown = nn_muls(c, s->scale, o->growth_factor);
    lz_tensor *grow = lz_logical_and_at(full, lz_isfinite_at(grown, c->site), c->site);
    lz_tensor *scale = nn_where(c, grow, grown, s->scale);
    scale = nn_where(c, found, nn_muls(c, s->scale, o->backoff_factor), scale);
    lz_tensor *again = lz_logical_or_at(found, full, c->site);
    count = nn_where(c, again, nn_number(c, count, 0), count);
    lz_assignments both = {0};
    lz_status st = lz_assignments_add(&both, s->scale, scale);
    if (st == LZ_OK)
        st = lz_assignments_add(&both, s->growth_tracker, count);
    LZ_TRY(lz_assignments_end(&both, st, c->site));
    forget(s);
    return LZ_OK;
}

lz_status lz_grad_scaler_update_at(lz_grad_scaler *s, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    nnc c;
    lz_status st = begin(&c, "lz_grad_scaler_update", s, s, site);
    if (st == LZ_OK && !s->options.disabled)
        st = s->ndone ? update(&c, s)
                      : LZ_FAIL(LZ_ESTATE, "no optimizer was unscaled since the last update");
    return end(&c, st);
}

lz_tensor *lz_grad_scaler_get_scale(const lz_grad_scaler *s)
{
    LZ_PUBLIC(LZ_FORK_TENSOR);
    return s ? s->scale : NULL;
}
