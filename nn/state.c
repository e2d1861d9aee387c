/* state.c - saving parameters and checkpoints. A save is a snapshot: of tensors, of the optimizer's
 * counts and of the random numbers (runtime/exec/snapshot.h). */
#include "nn/state.h"
#include "base/text.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void lz_state_free(lz_state *b)
{
    for (uint32_t i = 0; i < b->names.len; i++)
        lz_free((void *)b->names.data[i]);
    lz_vec_free(&b->names);
    lz_vec_free(&b->tensors);
    lz_vec_free(&b->steps);
    lz_snapshot_free(&b->now);
}

char *lz_state_join(const char *kind, const char *what, const char *name)
{
    lz_buf b = {0};
    lz_buf_printf(&b, "%s%s%s%s%s", kind, *kind ? "/" : "", what, *what ? "/" : "", name);
    if (!b.failed)
        return b.data;
    lz_buf_free(&b);
    LZ_FAIL(LZ_EMEM, "no memory for the name of \"%.64s\"", name);
    return NULL;
}

static lz_status put_name(lz_state *b, const char *kind, const char *what, const char *name)
{
    char *full = lz_state_join(kind, what, name);
    lz_status s = full ? lz_vec_push(&b->names, full) : LZ_EMEM;
    if (s == LZ_OK)
        return s;
    lz_free(full);
    return LZ_FAIL(LZ_EMEM, "no memory for the name of \"%.64s\"", name);
}

/* A tensor that is read, but not written under its name. */
static lz_status put_tensor(lz_state *b, lz_tensor *t)
{
    return lz_vec_push(&b->tensors, t) == LZ_OK
               ? LZ_OK
               : LZ_FAIL(LZ_EMEM, "no memory for the list of tensors");
}

static lz_status put(lz_state *b, const char *kind, const char *what, const char *name,
                     lz_tensor *t)
{
    LZ_TRY(put_name(b, kind, what, name));
    return put_tensor(b, t);
}

static lz_status put_params(lz_state *b, const char *kind, const lz_params *ps)
{
    lz_status s = LZ_OK;
    for (size_t i = 0; i < ps->len && s == LZ_OK; i++)
        s = put(b, kind, "", ps->names[i], ps->tensors[i]);
    return s;
}

/* ---- the optimizer. What the owner may change meanwhile is read under its lock ---- */

static lz_status put_group(lz_state *b, const lz_optim *o, const lz_optim_group *g)
{
    for (size_t i = 0; i < g->n; i++)
        for (int k = 0; k < LZ_OPTIM_STATES; k++)
            if (g->state[k][i])
                LZ_TRY(
                    put(b, "optimizer", o->rule->states[k], g->params->names[i], g->state[k][i]));
    return LZ_OK;
}

/* The count and, of each parameter, the number of its skipped steps. */
static lz_status put_counts(lz_state *b, const lz_optim *o)
{
    uint32_t all = b->tensors.len;
    if (o->skipped)
        LZ_TRY(put_tensor(b, o->skipped));
    if (o->counted) {
        b->counted = b->tensors.len;
        LZ_TRY(put_tensor(b, o->counted));
    }
    for (size_t k = 0; k < o->ngroups; k++) {
        const lz_optim_group *g = &o->groups[k];
        for (size_t i = 0; i < g->n; i++) {
            lz_tensor *own = g->state[LZ_OPTIM_SKIPPED][i];
            lz_state_count c = {g, g->params->names[i], i,
                                own          ? b->tensors.len
                                : o->skipped ? all
                                             : LZ_STATE_NOT,
                                0};
            if (own)
                LZ_TRY(put_tensor(b, own));
            if (lz_vec_push(&b->steps, c) != LZ_OK)
                return LZ_FAIL(LZ_EMEM, "no memory for the steps of %zu parameters", g->n);
        }
    }
    return LZ_OK;
}

static lz_status put_optim(lz_state *b, lz_optim *o)
{
    lz_status s = LZ_OK;
    lz_mutex_lock(&o->lock);
    b->version = o->version;
    for (size_t i = 0; i < o->ngroups && s == LZ_OK; i++)
        s = put_group(b, o, &o->groups[i]);
    if (s == LZ_OK)
        s = put_counts(b, o);
    lz_mutex_unlock(&o->lock);
    return s;
}

/* The counts and the rate as they were at the optimizer's step number `count`. The lock is held. */
static lz_status step_back(lz_state *b, const lz_optim *o, int64_t count)
{
    int64_t ahead = o->count - count;
    if (ahead < 0 || ahead >= LZ_OPTIM_HISTORY)
        return LZ_FAIL(LZ_ESTATE,
                       "another thread has recorded %" PRId64
                       " steps of the optimizer and no lz_mark_step: at most %d can be told apart",
                       ahead, LZ_OPTIM_HISTORY - 1);
    bool of_next = o->lr_count == o->count && !pthread_equal(o->lr_setter, pthread_self());
    b->lr = ahead || (count && of_next) ? o->lrs[count % LZ_OPTIM_HISTORY] : o->lr;
    for (uint32_t k = 0; k < b->steps.len; k++) {
        lz_state_count *c = &b->steps.data[k];
        uint64_t since = c->group->recent[c->i] & ((UINT64_C(1) << ahead) - 1);
        c->value = c->group->step[c->i] - __builtin_popcountll(since);
    }
    return LZ_OK;
}

/* *again: the optimizer got further tensors meanwhile, of which the snapshot knows nothing. */
static lz_status read_counts(lz_state *b, lz_optim *o, bool *again)
{
    int64_t count = 0;
    if (b->counted != LZ_STATE_NOT)
        LZ_TRY(lz_snapshot_read(&b->now, b->counted, &count));
    lz_mutex_lock(&o->lock);
    *again = b->version != o->version;
    lz_status s = *again ? LZ_OK : step_back(b, o, count);
    lz_mutex_unlock(&o->lock);
    if (*again)
        return s;
    for (uint32_t k = 0; k < b->steps.len && s == LZ_OK; k++) {
        lz_state_count *c = &b->steps.data[k];
        float skipped = 0;
        if (c->value && c->skipped != LZ_STATE_NOT)
            s = lz_snapshot_read(&b->now, c->skipped, &skipped);
        c->value -= (int64_t)skipped;
    }
    return s;
}

const char *const lz_scaler_names[LZ_SCALER_STATES] = {"scale", "growth_tracker"};

static lz_status name_counts(lz_state *b)
{
    lz_status s = LZ_OK;
    for (uint32_t k = 0; k < b->steps.len && s == LZ_OK; k++)
        if (b->steps.data[k].value > 0)
            s = put_name(b, "optimizer", "step", b->steps.data[k].name);
    return s;
}

/* Notes all that is saved, at one moment. */
static lz_status take(lz_state *b, const lz_checkpoint *c, bool *again)
{
    b->counted = LZ_STATE_NOT;
    lz_status s = c->params ? put_params(b, "", c->params) : LZ_OK;
    for (int i = 0; c->scaler && i < LZ_SCALER_STATES && s == LZ_OK; i++)
        s = put(b, "scaler", "", lz_scaler_names[i], *lz_scaler_state(c->scaler, i));
    if (s == LZ_OK && c->ema)
        s = put_params(b, "ema", &c->ema->average);
    if (s == LZ_OK && c->optim) /* last: what it puts behind its state has no name */
        s = put_optim(b, c->optim);
    if (s == LZ_OK)
        s = lz_snapshot_take(&b->now, b->tensors.data, b->tensors.len);
    *again = false;
    b->values = b->names.len;
    if (s == LZ_OK && c->optim)
        s = read_counts(b, c->optim, again);
    return s == LZ_OK && !*again ? name_counts(b) : s;
}

lz_status lz_state_take(lz_state *b, const lz_checkpoint *c)
{
    bool again = true;
    lz_status s = LZ_OK;
    *b = (lz_state){0};
    if (c->step < 0)
        return LZ_FAIL(LZ_EINVAL, "step is %" PRId64 ": it must not be negative", c->step);
    while (again && s == LZ_OK) { /* an optimizer gets its tensors in its first steps */
        lz_state_free(b);
        *b = (lz_state){0};
        s = take(b, c, &again);
    }
    return s;
}

/* The file of what was noted. */
static lz_status save(const char *path, lz_state *b, const char *const *metadata, size_t n)
{
    lz_save_item *items = lz_calloc((size_t)b->names.len + 1, sizeof *items);
    if (!items)
        return LZ_FAIL(LZ_EMEM, "%s: no memory for %u names", path, b->names.len);
    for (uint32_t i = 0; i < b->values; i++)
        items[i] = lz_save_item_of(b->names.data[i], &b->now, i);
    for (uint32_t k = 0, i = b->values; k < b->steps.len; k++)
        if (b->steps.data[k].value > 0) {
            items[i] = (lz_save_item){.name = b->names.data[i],
                                      .dtype = LZ_I64,
                                      .nbytes = sizeof(int64_t),
                                      .data = &b->steps.data[k].value};
            i++;
        }
    lz_status s = lz_safetensors_save_named(path, items, b->names.len, metadata, n);
    lz_free(items);
    return s;
}

static lz_status annotated(lz_status s, const char *op, const lz_site *site)
{
    if (s != LZ_OK)
        lz_error_annotate(op, site);
    return s;
}

lz_status lz_params_save_at(const lz_params *ps, const char *path, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    static const char *const metadata[] = {"format", "pt"};
    lz_state b = {0};
    lz_status s = ps && path ? put_params(&b, "", ps)
                             : LZ_FAIL(LZ_ENULL, "%s is NULL", ps ? "the path" : "the list");
    if (s == LZ_OK)
        s = lz_snapshot_take(&b.now, b.tensors.data, b.tensors.len);
    b.values = b.names.len;
    if (s == LZ_OK)
        s = save(path, &b, metadata, 1);
    lz_state_free(&b);
    return annotated(s, "lz_params_save", site);
}

/* Numbers must survive text bit for bit: hexadecimal for the rate. */
void lz_state_describe(const lz_state *b, const lz_checkpoint *c, lz_state_metadata *m)
{
    enum { STEP, SEED, COUNTER, RATE };
    snprintf(m->text[STEP], LZ_STATE_NUMBER, "%" PRId64, c->step);
    snprintf(m->text[SEED], LZ_STATE_NUMBER, "%" PRIu64, b->now.rng.seed);
    snprintf(m->text[COUNTER], LZ_STATE_NUMBER, "%" PRIu64, b->now.rng.counter);
    lz_snprintf(m->text[RATE], LZ_STATE_NUMBER, "%a", b->lr);
    const char *const pairs[] = {
        "format",      "pt",          "lazuli.step",      m->text[STEP],
        "lazuli.seed", m->text[SEED], "lazuli.counter",   m->text[COUNTER],
        "lazuli.lr",   m->text[RATE], "lazuli.optimizer", c->optim ? c->optim->rule->name : "none"};
    _Static_assert(sizeof pairs == sizeof m->pairs, "the number of pairs");
    memcpy(m->pairs, pairs, sizeof pairs);
}

static lz_status save_checkpoint(const char *path, const lz_checkpoint *c)
{
    lz_state b;
    lz_state_metadata m;
    lz_status s = lz_state_take(&b, c);
    if (s == LZ_OK) {
        lz_state_describe(&b, c, &m);
        s = save(path, &b, m.pairs, LZ_STATE_PAIRS);
    }
    lz_state_free(&b);
    return s;
}

lz_status lz_state_check_struct(const char *path, const lz_checkpoint *c)
{
    if (!path || !c)
        return LZ_FAIL(LZ_ENULL, "%s is NULL", path ? "the checkpoint" : "the path");
    if (c->struct_size < sizeof *c)
        return LZ_FAIL(LZ_EINVAL, "struct_size is %zu: set it to the size of the struct",
                       c->struct_size);
    return LZ_OK;
}

lz_status lz_checkpoint_save_at(const char *path, const lz_checkpoint *c, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_status s = lz_state_check_struct(path, c);
    if (s == LZ_OK)
        s = save_checkpoint(path, c);
    return annotated(s, "lz_checkpoint_save", site);
}
