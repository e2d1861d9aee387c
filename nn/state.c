/* state.c - saving and loading parameters and checkpoints. A save is a snapshot: of tensors, of the
 * optimizer's counts and of the random numbers (runtime/exec/snapshot.h). A load reads and checks
 * everything first and assigns then, so that an error leaves everything unchanged. */
#include "base/callout.h"
#include "base/text.h"
#include "base/vec.h"
#include "data/safetensors_save.h"
#include "nn/optim_rule.h"
#include "runtime/exec/assign.h"
#include <inttypes.h>
#include <lazuli/data.h>
#include <lazuli/tensor_ops.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- saving ---- */

/* How often a parameter was updated: its number is of the snapshot's moment, less the steps that
 * were skipped. The group is there while the optimizer's lock is held and its version is the same:
 * the owner may add one, which moves them all. */
typedef struct step_count {
    const lz_optim_group *group;
    const char *name; /* of the parameter, lent by its list */
    size_t i;
    uint32_t skipped; /* which of the tensors; NOT: none */
    int64_t value;
} step_count;
enum { NOT = UINT32_MAX };

/* Names, which are owned, and tensors, which are lent: those that go into the file, then others
 * that are read. */
typedef struct bundle {
    LZ_VEC(const char *) names;
    LZ_VEC(lz_tensor *) tensors;
    LZ_VEC(step_count) steps;
    uint32_t counted; /* which tensor is the optimizer's count; NOT: it has made no step */
    uint64_t version; /* the optimizer's when its tensors were noted */
    double lr;
    lz_snapshot now;
} bundle;

static void bundle_free(bundle *b)
{
    for (uint32_t i = 0; i < b->names.len; i++)
        lz_free((void *)b->names.data[i]);
    lz_vec_free(&b->names);
    lz_vec_free(&b->tensors);
    lz_vec_free(&b->steps);
    lz_snapshot_free(&b->now);
}

/* "<kind>/<what>/<name>"; NULL when memory is exhausted. */
static char *join(const char *kind, const char *what, const char *name)
{
    lz_buf b = {0};
    lz_buf_printf(&b, "%s%s%s%s%s", kind, *kind ? "/" : "", what, *what ? "/" : "", name);
    if (!b.failed)
        return b.data;
    lz_buf_free(&b);
    LZ_FAIL(LZ_EMEM, "no memory for the name of \"%.64s\"", name);
    return NULL;
}

static lz_status put_name(bundle *b, const char *kind, const char *what, const char *name)
{
    char *full = join(kind, what, name);
    lz_status s = full ? lz_vec_push(&b->names, full) : LZ_EMEM;
    if (s == LZ_OK)
        return s;
    lz_free(full);
    return LZ_FAIL(LZ_EMEM, "no memory for the name of \"%.64s\"", name);
}

/* A tensor that is read, but not written under its name. */
static lz_status put_tensor(bundle *b, lz_tensor *t)
{
    return lz_vec_push(&b->tensors, t) == LZ_OK
               ? LZ_OK
               : LZ_FAIL(LZ_EMEM, "no memory for the list of tensors");
}

static lz_status put(bundle *b, const char *kind, const char *what, const char *name, lz_tensor *t)
{
    LZ_TRY(put_name(b, kind, what, name));
    return put_tensor(b, t);
}

static lz_status put_params(bundle *b, const char *kind, const lz_params *ps)
{
    lz_status s = LZ_OK;
    for (size_t i = 0; i < ps->len && s == LZ_OK; i++)
        s = put(b, kind, "", ps->names[i], ps->tensors[i]);
    return s;
}

/* ---- the optimizer. What the owner may change meanwhile is read under its lock ---- */

static lz_status put_group(bundle *b, const lz_optim *o, const lz_optim_group *g)
{
    for (size_t i = 0; i < g->n; i++)
        for (int k = 0; k < LZ_OPTIM_STATES; k++)
            if (g->state[k][i])
                LZ_TRY(
                    put(b, "optimizer", o->rule->states[k], g->params->names[i], g->state[k][i]));
    return LZ_OK;
}

/* The count and, of each parameter, the number of its skipped steps. */
static lz_status put_counts(bundle *b, const lz_optim *o)
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
            step_count c = {g, g->params->names[i], i,
                            own          ? b->tensors.len
                            : o->skipped ? all
                                         : NOT,
                            0};
            if (own)
                LZ_TRY(put_tensor(b, own));
            if (lz_vec_push(&b->steps, c) != LZ_OK)
                return LZ_FAIL(LZ_EMEM, "no memory for the steps of %zu parameters", g->n);
        }
    }
    return LZ_OK;
}

static lz_status put_optim(bundle *b, lz_optim *o)
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
static lz_status step_back(bundle *b, const lz_optim *o, int64_t count)
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
        step_count *c = &b->steps.data[k];
        uint64_t since = c->group->recent[c->i] & ((UINT64_C(1) << ahead) - 1);
        c->value = c->group->step[c->i] - __builtin_popcountll(since);
    }
    return LZ_OK;
}

/* *again: the optimizer got further tensors meanwhile, of which the snapshot knows nothing. */
static lz_status read_counts(bundle *b, lz_optim *o, bool *again)
{
    int64_t count = 0;
    if (b->counted != NOT)
        LZ_TRY(lz_snapshot_read(&b->now, b->counted, &count));
    lz_mutex_lock(&o->lock);
    *again = b->version != o->version;
    lz_status s = *again ? LZ_OK : step_back(b, o, count);
    lz_mutex_unlock(&o->lock);
    if (*again)
        return s;
    for (uint32_t k = 0; k < b->steps.len && s == LZ_OK; k++) {
        step_count *c = &b->steps.data[k];
        float skipped = 0;
        if (c->value && c->skipped != NOT)
            s = lz_snapshot_read(&b->now, c->skipped, &skipped);
        c->value -= (int64_t)skipped;
    }
    return s;
}

/* The scaler's state, by name: of a checkpoint that is saved or loaded. */
enum { SCALER_STATES = 2 };
static const char *const scaler_names[SCALER_STATES] = {"scale", "growth_tracker"};
static lz_tensor **scaler_state(lz_grad_scaler *s, int i)
{
    return i ? &s->growth_tracker : &s->scale;
}

/* Notes all that is saved, at one moment. */
static lz_status take(bundle *b, const lz_checkpoint *c, bool *again)
{
    b->counted = NOT;
    lz_status s = c->params ? put_params(b, "", c->params) : LZ_OK;
    for (int i = 0; c->scaler && i < SCALER_STATES && s == LZ_OK; i++)
        s = put(b, "scaler", "", scaler_names[i], *scaler_state(c->scaler, i));
    if (s == LZ_OK && c->ema)
        s = put_params(b, "ema", &c->ema->average);
    if (s == LZ_OK && c->optim) /* last: what it puts behind its state has no name */
        s = put_optim(b, c->optim);
    if (s == LZ_OK)
        s = lz_snapshot_take(&b->now, b->tensors.data, b->tensors.len);
    *again = false;
    return s == LZ_OK && c->optim ? read_counts(b, c->optim, again) : s;
}

/* The file of what was noted. */
static lz_status save(const char *path, bundle *b, const char *const *metadata, size_t n)
{
    uint32_t values = b->names.len;
    lz_status s = LZ_OK;
    for (uint32_t k = 0; k < b->steps.len && s == LZ_OK; k++) {
        const step_count *c = &b->steps.data[k];
        if (c->value > 0)
            s = put_name(b, "optimizer", "step", c->name);
    }
    lz_save_item *items = s == LZ_OK ? lz_calloc((size_t)b->names.len + 1, sizeof *items) : NULL;
    if (s == LZ_OK && !items)
        s = LZ_FAIL(LZ_EMEM, "%s: no memory for %u names", path, b->names.len);
    for (uint32_t i = 0; items && i < values; i++)
        items[i] = lz_save_item_of(b->names.data[i], &b->now, i);
    for (uint32_t k = 0, i = values; items && k < b->steps.len; k++)
        if (b->steps.data[k].value > 0) {
            items[i] = (lz_save_item){.name = b->names.data[i],
                                      .dtype = LZ_I64,
                                      .nbytes = sizeof(int64_t),
                                      .data = &b->steps.data[k].value};
            i++;
        }
    if (s == LZ_OK)
        s = lz_safetensors_save_named(path, items, b->names.len, metadata, n);
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
    bundle b = {0};
    lz_status s = ps && path ? put_params(&b, "", ps)
                             : LZ_FAIL(LZ_ENULL, "%s is NULL", ps ? "the path" : "the list");
    if (s == LZ_OK)
        s = lz_snapshot_take(&b.now, b.tensors.data, b.tensors.len);
    if (s == LZ_OK)
        s = save(path, &b, metadata, 1);
    bundle_free(&b);
    return annotated(s, "lz_params_save", site);
}

/* Numbers that must survive text bit for bit: hexadecimal for the rate. */
enum { NUMBER = 40 };
static lz_status save_checkpoint(const char *path, const lz_checkpoint *c)
{
    char step[NUMBER], seed[NUMBER], counter[NUMBER], lr[NUMBER];
    if (c->step < 0)
        return LZ_FAIL(LZ_EINVAL, "step is %" PRId64 ": it must not be negative", c->step);
    bundle b = {0};
    bool again = true;
    lz_status s = LZ_OK;
    while (again && s == LZ_OK) { /* an optimizer gets its tensors in its first steps */
        bundle_free(&b);
        b = (bundle){0};
        s = take(&b, c, &again);
    }
    snprintf(step, NUMBER, "%" PRId64, c->step);
    snprintf(seed, NUMBER, "%" PRIu64, b.now.rng.seed);
    snprintf(counter, NUMBER, "%" PRIu64, b.now.rng.counter);
    lz_snprintf(lr, NUMBER, "%a", b.lr);
    const char *const metadata[] = {
        "format",      "pt", "lazuli.step",      step,
        "lazuli.seed", seed, "lazuli.counter",   counter,
        "lazuli.lr",   lr,   "lazuli.optimizer", c->optim ? c->optim->rule->name : "none"};
    if (s == LZ_OK)
        s = save(path, &b, metadata, sizeof metadata / sizeof *metadata / 2);
    bundle_free(&b);
    return s;
}

static lz_status take_struct(const char *path, const lz_checkpoint *c)
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
    lz_status s = take_struct(path, c);
    if (s == LZ_OK)
        s = save_checkpoint(path, c);
    return annotated(s, "lz_checkpoint_save", site);
}

/* ---- loading ---- */

/* An assignment to make when everything was read: to *slot, or, if it is NULL, the tensor becomes
 * it. */
typedef struct pending {
    lz_tensor **slot, *value;
    bool converted; /* from the file's dtype */
} pending;
/* What the metadata of a checkpoint say. */
typedef struct numbers {
    uint64_t step, seed, counter;
    double lr;
} numbers;

typedef struct loader {
    const lz_archive *file;
    const char *path;
    const lz_site *site;
    lz_checkpoint *checkpoint; /* NULL: the file has parameters only */
    numbers numbers;
    int64_t *steps; /* what the counts of the optimizer's parameters will be */
    LZ_VEC(pending) todo;
} loader;

static bool is_float(lz_dtype d)
{
    return d == LZ_F32 || d == LZ_F64 || d == LZ_F16 || d == LZ_BF16;
}

/* The array copied to a device buffer, not a view of the file: the first step updates it in
 * place. */
static lz_status fetch(loader *l, const char *name, lz_tensor *like, pending *out)
{
    lz_array a;
    LZ_TRY(lz_archive_read_at(l->file, name, &a, l->site));
    lz_shape have = a.shape, want = lz_shape_of(like);
    lz_dtype d = lz_dtype_of(like);
    lz_status s = LZ_OK;
    bool same = have.rank == want.rank;
    for (int i = 0; same && i < have.rank; i++)
        same = have.dims[i] == want.dims[i];
    char x[160], y[160];
    if (!same)
        s = LZ_FAIL(LZ_ESHAPE, "%s: \"%.100s\" is %s, the parameter %s", l->path, name,
                    lz_nn_shape_text(&have, x), lz_nn_shape_text(&want, y));
    else if (a.dtype != d && !(is_float(a.dtype) && is_float(d)))
        s = LZ_FAIL(LZ_EDTYPE, "%s: \"%.100s\" is %s, the parameter %s", l->path, name,
                    lz_dtype_name(a.dtype), lz_dtype_name(d));
    if (s == LZ_OK) {
        lz_tensor *t = lz_from_host_at(a.dtype, a.shape, a.data ? a.data : &a, a.nbytes, l->site);
        out->converted = a.dtype != d;
        out->value = out->converted ? lz_to_at(t, d, l->site) : t;
        s = lz_nn_status_of(out->value, "lz_checkpoint_load");
    }
    lz_array_free(&a);
    return s;
}

static lz_status plan(loader *l, const char *name, lz_tensor *like, lz_tensor **slot)
{
    pending p = {.slot = slot};
    LZ_TRY(fetch(l, name, like, &p));
    return lz_vec_push(&l->todo, p) == LZ_OK
               ? LZ_OK
               : LZ_FAIL(LZ_EMEM, "%s: no memory for \"%.64s\"", l->path, name);
}

/* A count, where there is one, begins again at 0. */
static lz_status plan_zero(loader *l, lz_tensor **slot)
{
    const float zero = 0;
    if (!*slot)
        return LZ_OK;
    pending p = {.slot = slot,
                 .value = lz_from_host_at(LZ_F32, LZ_SCALAR, &zero, sizeof zero, l->site)};
    LZ_TRY(lz_nn_status_of(p.value, "lz_checkpoint_load"));
    return lz_vec_push(&l->todo, p) == LZ_OK
               ? LZ_OK
               : LZ_FAIL(LZ_EMEM, "%s: no memory for a number", l->path);
}

static void set_counts(lz_optim *o, const numbers *n, const int64_t *steps)
{
    for (size_t i = 0, k = 0; i < o->ngroups; i++)
        for (size_t j = 0; j < o->groups[i].params->len; j++) {
            o->groups[i].step[j] = steps[k++];
            o->groups[i].recent[j] = 0;
        }
    o->lr = n->lr;
    o->lr_count = -1; /* it is of no step */
    for (int i = 0; i < LZ_OPTIM_HISTORY; i++)
        o->lrs[i] = n->lr;
    o->version++;
}

/* Who saves meanwhile sees all of it or nothing; it counts without a step. Nothing here fails. */
static void publish(loader *l, const lz_assignments *all, lz_tensor **assigned)
{
    lz_checkpoint *c = l->checkpoint;
    lz_optim *o = c ? c->optim : NULL;
    const lz_rng_state rng = {l->numbers.seed, l->numbers.counter};
    if (o)
        lz_mutex_lock(&o->lock);
    for (uint32_t i = 0; i < all->len; i++)
        assigned[i] = all->data[i].dst;
    lz_snapshot_commit(assigned, all->len, c ? &rng : NULL);
    for (uint32_t i = 0; i < l->todo.len; i++) {
        const pending *p = &l->todo.data[i];
        if (!*p->slot) /* only an optimizer's state is not there yet */
            *p->slot = lz_retain(p->value);
    }
    if (o) {
        set_counts(o, &l->numbers, l->steps);
        lz_mutex_unlock(&o->lock);
    }
    if (c)
        c->step = (int64_t)l->numbers.step;
}

/* Values of another dtype than the file's are computed now: an error of that would come when others
 * are assigned. */
static lz_status compute(const loader *l)
{
    LZ_VEC(lz_tensor *) values = {0};
    lz_status s = LZ_OK;
    for (uint32_t i = 0; i < l->todo.len && s == LZ_OK; i++)
        if (l->todo.data[i].converted)
            s = lz_vec_push(&values, l->todo.data[i].value);
    if (s == LZ_OK && values.len)
        s = lz_sync_at(values.data, values.len, true, l->site);
    lz_vec_free(&values);
    return s;
}

/* What can fail comes first. */
static lz_status assign_all(loader *l)
{
    lz_assignments all = {0};
    lz_rng_state now;
    LZ_TRY(compute(l));
    if (l->checkpoint)
        LZ_TRY(lz_get_rng_state(&now)); /* the device is there */
    lz_tensor **assigned = lz_calloc((size_t)l->todo.len + 1, sizeof *assigned);
    lz_status s =
        assigned ? LZ_OK : LZ_FAIL(LZ_EMEM, "%s: no memory for %u tensors", l->path, l->todo.len);
    for (uint32_t i = 0; i < l->todo.len && s == LZ_OK; i++) {
        const pending *p = &l->todo.data[i];
        if (*p->slot)
            s = lz_assignments_add(&all, *p->slot, p->value);
    }
    if (s == LZ_OK)
        s = lz_assign_all(&all, l->site);
    if (s == LZ_OK)
        publish(l, &all, assigned);
    lz_vec_free(&all);
    lz_free(assigned);
    return s;
}

/* The list of names for a message: as many as fit. */
typedef struct names {
    char text[200];
    size_t len, count;
} names;

static void add_name(names *n, const char *name)
{
    size_t k = strlen(name);
    n->count++;
    if (n->len + k + 6 < sizeof n->text)
        n->len += (size_t)snprintf(n->text + n->len, sizeof n->text - n->len, "%s%s",
                                   n->len ? ", " : "", name);
    else if (n->len && n->text[n->len - 1] != '.')
        n->len += (size_t)snprintf(n->text + n->len, sizeof n->text - n->len, ", ...");
}

/* The parameters' names in order: there may be very many, and each of the file is looked for. */
typedef struct known {
    const char **sorted;
    size_t n;
} known;

static int compare_names(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static lz_status known_names(const loader *l, const lz_params *ps, known *k)
{
    *k = (known){lz_calloc(ps->len + 1, sizeof *k->sorted), ps->len};
    if (!k->sorted)
        return LZ_FAIL(LZ_EMEM, "%s: no memory for %zu names", l->path, ps->len);
    for (size_t i = 0; i < ps->len; i++)
        k->sorted[i] = ps->names[i];
    qsort(k->sorted, k->n, sizeof *k->sorted, compare_names);
    return LZ_OK;
}

static lz_status plan_known(loader *l, const lz_params *ps, const known *k,
                            const lz_load_options *o)
{
    names missing = {.len = 0}, unexpected = {.len = 0};
    for (size_t i = 0; i < ps->len; i++) {
        if (lz_archive_has(l->file, ps->names[i])) {
            LZ_TRY(plan(l, ps->names[i], ps->tensors[i], &ps->tensors[i]));
            continue;
        }
        add_name(&missing, ps->names[i]);
        if (o->report)
            LZ_CALL_OUT("a report")
        o->report(ps->names[i], "missing", o->user);
    }
    for (size_t i = 0; i < lz_archive_len(l->file); i++) {
        const char *name = lz_archive_name(l->file, i);
        if (bsearch(&name, k->sorted, k->n, sizeof *k->sorted, compare_names))
            continue;
        add_name(&unexpected, name);
        if (o->report)
            LZ_CALL_OUT("a report")
        o->report(name, "unexpected", o->user);
    }
    if (o->partial || !(missing.count + unexpected.count))
        return LZ_OK;
    return LZ_FAIL(LZ_ENOENT, "%s: %zu missing (%s), %zu unexpected (%s)", l->path, missing.count,
                   missing.text, unexpected.count, unexpected.text);
}

static lz_status plan_params(loader *l, const lz_params *ps, const lz_load_options *o)
{
    known k;
    lz_status s = known_names(l, ps, &k);
    if (s == LZ_OK)
        s = plan_known(l, ps, &k, o);
    lz_free(k.sorted);
    return s;
}

static void loader_free(loader *l)
{
    lz_vec_free(&l->todo);
    lz_free(l->steps);
    lz_archive_close((lz_archive *)l->file);
}

static lz_status open_file(loader *l, const char *path, const lz_site *site)
{
    *l = (loader){.path = path, .site = site};
    l->file = lz_safetensors_open_at(path, site);
    if (!l->file)
        return lz_error_get()->status;
    lz_status s = lz_scope_begin();
    if (s != LZ_OK)
        loader_free(l);
    return s;
}

static lz_status close_file(loader *l, lz_status s)
{
    if (s == LZ_OK)
        s = assign_all(l);
    lz_scope_end();
    loader_free(l);
    return s;
}

lz_status lz_params_load_at(lz_params *ps, const char *path, const lz_load_options *o,
                            const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    loader l;
    lz_load_options c = {.struct_size = sizeof c};
    lz_status s = LZ_OK;
    if (!ps || !path)
        s = LZ_FAIL(LZ_ENULL, "%s is NULL", ps ? "the path" : "the list");
    else if (o && (o->struct_size < sizeof(size_t) || o->struct_size > sizeof c))
        s = LZ_FAIL(LZ_EINVAL, "struct_size is %zu: set it to the size of the struct",
                    o->struct_size);
    else if (o)
        memcpy(&c, o, o->struct_size);
    if (s == LZ_OK && (s = open_file(&l, path, site)) == LZ_ENOENT)
        return annotated(s, "lz_params_load", site); /* an answer: not noted */
    if (s == LZ_OK)
        s = close_file(&l, plan_params(&l, ps, &c));
    return lz_nn_given(annotated(s, "lz_params_load", site));
}

/* ---- checkpoints ---- */

/* Every parameter of the list must be there. */
static lz_status plan_list(loader *l, const char *kind, const lz_params *ps)
{
    for (size_t i = 0; i < ps->len; i++) {
        char *name = join(kind, "", ps->names[i]);
        if (!name)
            return LZ_EMEM;
        lz_status s = plan(l, name, ps->tensors[i], &ps->tensors[i]);
        lz_free(name);
        LZ_TRY(s);
    }
    return LZ_OK;
}

/* State that the file has; a parameter without any never had a gradient. */
static lz_status plan_state(loader *l, const char *what, const char *name, lz_tensor *like,
                            lz_tensor **slot)
{
    char *full = join("optimizer", what, name);
    if (!full)
        return LZ_EMEM;
    lz_status s = lz_archive_has(l->file, full) ? plan(l, full, like, slot) : LZ_OK;
    lz_free(full);
    return s;
}

static lz_status read_step(loader *l, const char *name, int64_t *step)
{
    char *full = join("optimizer", "step", name);
    lz_array a = {0};
    lz_status s = full ? LZ_OK : LZ_EMEM;
    *step = 0;
    if (s == LZ_OK && lz_archive_has(l->file, full))
        s = lz_archive_read_at(l->file, full, &a, l->site);
    if (s == LZ_OK && a.data) {
        if (a.dtype == LZ_I64 && a.nbytes == sizeof *step && *(int64_t *)a.data >= 0 &&
            *(int64_t *)a.data <= INT64_C(1) << 53) /* a double counts no further */
            *step = *(int64_t *)a.data;
        else
            s = LZ_FAIL(LZ_ECORRUPT, "%s: \"%.100s\" is no count", l->path, full);
    }
    lz_array_free(&a);
    lz_free(full);
    return s;
}

/* Steps are read into steps[]; they are stored when everything else was fine. */
static lz_status plan_group(loader *l, const lz_optim_rule *rule, lz_optim_group *g, int64_t *steps)
{
    for (size_t i = 0; i < g->params->len; i++) {
        const char *name = g->params->names[i];
        for (int k = 0; k < LZ_OPTIM_STATES; k++)
            if (rule->states[k])
                LZ_TRY(
                    plan_state(l, rule->states[k], name, g->params->tensors[i], &g->state[k][i]));
        LZ_TRY(read_step(l, name, &steps[i]));
        LZ_TRY(plan_zero(l, &g->state[LZ_OPTIM_SKIPPED][i]));
    }
    return LZ_OK;
}

static lz_status no_number(const loader *l, const char *key, const char *text)
{
    return LZ_FAIL(LZ_ECORRUPT, "%s is no checkpoint: %s is %s%.40s%s", l->path, key,
                   text ? "\"" : "", text ? text : "not there", text ? "\"" : "");
}

static lz_status read_count(const loader *l, const char *key, uint64_t most, uint64_t *out)
{
    const char *text = lz_archive_metadata(l->file, key);
    return text && lz_text_u64(text, strlen(text), 10, most, out) == LZ_OK
               ? LZ_OK
               : no_number(l, key, text);
}

static lz_status read_numbers(const loader *l, numbers *n)
{
    static const char rate[] = "lazuli.lr";
    LZ_TRY(read_count(l, "lazuli.step", INT64_MAX, &n->step));
    LZ_TRY(read_count(l, "lazuli.seed", UINT64_MAX, &n->seed));
    LZ_TRY(read_count(l, "lazuli.counter", UINT64_MAX, &n->counter));
    const char *text = lz_archive_metadata(l->file, rate);
    bool good = text && lz_text_f64(text, strlen(text), &n->lr) && n->lr >= 0 && isfinite(n->lr);
    return good ? LZ_OK : no_number(l, rate, text);
}

static lz_status plan_optim(loader *l, lz_optim *o)
{
    const char *kind = lz_archive_metadata(l->file, "lazuli.optimizer");
    size_t n = 0;
    if (!kind || strcmp(kind, o->rule->name) != 0)
        return LZ_FAIL(LZ_EINVAL, "%s was saved with the optimizer \"%.40s\", this one is \"%s\"",
                       l->path, kind ? kind : "none", o->rule->name);
    LZ_TRY(lz_optim_reserve(o, "lz_checkpoint_load", l->site));
    for (size_t i = 0; i < o->ngroups; i++)
        n += o->groups[i].params->len;
    l->steps = lz_calloc(n + 1, sizeof *l->steps);
    if (!l->steps)
        return LZ_FAIL(LZ_EMEM, "%s: no memory for the state of %zu parameters", l->path, n);
    n = 0;
    for (size_t i = 0; i < o->ngroups; i++) {
        LZ_TRY(plan_group(l, o->rule, &o->groups[i], l->steps + n));
        n += o->groups[i].params->len;
    }
    return plan_zero(l, &o->skipped);
}

/* What lz_checkpoint_save writes: a finite scale above 0, and a count to which 1 can be added. The
 * interval is the scaler's, not the file's: a count that has reached it is complete. */
static lz_status check_scaler(const loader *l, const char *name, int i)
{
    lz_array a = {0};
    lz_dtype d = i ? LZ_I32 : LZ_F32;
    double v = 0;
    LZ_TRY(lz_archive_read_at(l->file, name, &a, l->site));
    lz_status s = LZ_OK;
    if (a.dtype != d)
        s = LZ_FAIL(LZ_EDTYPE, "%s: \"%.100s\" is %s, the scaler's %s", l->path, name,
                    lz_dtype_name(a.dtype), lz_dtype_name(d));
    else if (a.nbytes == sizeof(int32_t)) { /* another shape: plan says so */
        v = i ? (double)*(const int32_t *)a.data : (double)*(const float *)a.data;
        bool good = i ? v >= 0 && v < INT32_MAX : v > 0 && isfinite(v);
        s = good ? LZ_OK : LZ_FAIL(LZ_ECORRUPT, "%s: \"%.100s\" is %g", l->path, name, v);
    }
    lz_array_free(&a);
    return s;
}

static lz_status plan_scaler(loader *l, lz_grad_scaler *s)
{
    for (int i = 0; i < SCALER_STATES; i++) {
        char *name = join("scaler", "", scaler_names[i]);
        if (!name)
            return LZ_EMEM;
        lz_tensor **state = scaler_state(s, i);
        lz_status st = check_scaler(l, name, i);
        if (st == LZ_OK)
            st = plan(l, name, *state, state);
        lz_free(name);
        LZ_TRY(st);
    }
    return LZ_OK;
}

static lz_status plan_checkpoint(loader *l, lz_checkpoint *c)
{
    l->checkpoint = c;
    LZ_TRY(read_numbers(l, &l->numbers));
    if (c->params)
        LZ_TRY(plan_list(l, "", c->params));
    if (c->ema)
        LZ_TRY(plan_list(l, "ema", &c->ema->average));
    if (c->scaler)
        LZ_TRY(plan_scaler(l, c->scaler));
    return c->optim ? plan_optim(l, c->optim) : LZ_OK;
}

lz_status lz_checkpoint_load_at(const char *path, lz_checkpoint *c, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    loader l;
    lz_status s = take_struct(path, c);
    if (s == LZ_OK && (s = open_file(&l, path, site)) == LZ_ENOENT)
        return annotated(s, "lz_checkpoint_load", site); /* an answer: not noted */
    if (s == LZ_OK)
        s = close_file(&l, plan_checkpoint(&l, c));
    return lz_nn_given(annotated(s, "lz_checkpoint_load", site));
}
