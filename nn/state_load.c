/* state_load.c - loading parameters and checkpoints. A load reads and checks everything first and
 * assigns then, so that an error leaves everything unchanged. A tensor that is cut over devices is
 * read by their parts. */
#include "base/callout.h"
#include "base/text.h"
#include "nn/state.h"
#include "runtime/exec/assign.h"
#include "runtime/spmd/local_shards.h"
#include <inttypes.h>
#include <lazuli/tensor_ops.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lz_status annotated(lz_status s, const char *op, const lz_site *site)
{
    if (s != LZ_OK)
        lz_error_annotate(op, site);
    return s;
}

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
    lz_tensor_source file;
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

/* Frees the parts of n devices. */
static void free_parts(void **part, int64_t n)
{
    for (int64_t d = 0; part && d < n; d++)
        lz_free(part[d]);
    lz_free(part);
}

static lz_status read_part(const loader *l, const char *name, lz_dtype d,
                           const lz_local_shard *shard, void **out)
{
    lz_box box = {.rank = shard->rank};
    for (int i = 0; i < box.rank; i++) {
        box.offset[i] = shard->offset[i];
        box.extent[i] = shard->extent[i];
    }
    size_t nbytes = (size_t)lz_box_volume(&box) * lz_dtype_size(d);
    if (shard->replica_id || !nbytes) /* another device's is taken */
        return LZ_OK;
    *out = lz_alloc(nbytes);
    return *out ? lz_source_read_box(&l->file, name, &box, *out)
                : LZ_FAIL(LZ_EMEM, "%s: no memory for %zu bytes of \"%.64s\"", l->path, nbytes,
                          name);
}

/* The value as `like` is placed on n devices: each is given its part. */
static lz_status fetch_parts(const loader *l, const char *name, lz_dtype d, lz_tensor *like,
                             int64_t n, lz_tensor **out)
{
    lz_local_shard *shard = lz_calloc((size_t)n, sizeof *shard);
    void **part = lz_calloc((size_t)n, sizeof *part);
    int64_t count = n;
    lz_status s = shard && part
                      ? lz_wanted_shards(like, shard, n, &count)
                      : LZ_FAIL(LZ_EMEM, "%s: no memory for %lld parts", l->path, (long long)n);
    if (s == LZ_OK && count != n)
        s = LZ_FAIL(LZ_ESTATE, "%s: \"%.100s\" was moved while it was loaded", l->path, name);
    for (int64_t i = 0; i < n && s == LZ_OK; i++)
        s = read_part(l, name, d, &shard[i], &part[i]);
    if (s == LZ_OK)
        *out =
            lz_from_shards_like(like, d, (const void *const *)part, "lz_checkpoint_load", l->site);
    free_parts(part, n);
    lz_free(shard);
    return s;
}

/* The value copied to a device buffer, not a view of the file: the first step updates it in
 * place. */
static lz_status fetch_whole(const loader *l, const char *name, lz_tensor **out)
{
    lz_array a;
    LZ_TRY(lz_source_read(&l->file, name, &a));
    *out = lz_from_host_at(a.dtype, a.shape, a.data ? a.data : &a, a.nbytes, l->site);
    lz_array_free(&a);
    return LZ_OK;
}

static lz_status check_type(const loader *l, const char *name, lz_tensor *like, lz_dtype *dtype)
{
    lz_shape have, want = lz_shape_of(like);
    lz_dtype d = lz_dtype_of(like);
    char x[160], y[160];
    LZ_TRY(lz_source_info(&l->file, name, dtype, &have));
    bool same = have.rank == want.rank;
    for (int i = 0; same && i < have.rank; i++)
        same = have.dims[i] == want.dims[i];
    if (!same)
        return LZ_FAIL(LZ_ESHAPE, "%s: \"%.100s\" is %s, the parameter %s", l->path, name,
                       lz_nn_shape_text(&have, x), lz_nn_shape_text(&want, y));
    if (*dtype != d && !(is_float(*dtype) && is_float(d)))
        return LZ_FAIL(LZ_EDTYPE, "%s: \"%.100s\" is %s, the parameter %s", l->path, name,
                       lz_dtype_name(*dtype), lz_dtype_name(d));
    return LZ_OK;
}

/* like: of which type it is; home: where it belongs. */
static lz_status fetch(const loader *l, const char *name, lz_tensor *like, lz_tensor *home,
                       pending *out)
{
    lz_dtype has;
    lz_tensor *t = NULL;
    int64_t devices;
    LZ_TRY(check_type(l, name, like, &has));
    LZ_TRY(lz_wanted_shards(home, NULL, 0, &devices));
    LZ_TRY(devices ? fetch_parts(l, name, has, home, devices, &t) : fetch_whole(l, name, &t));
    out->converted = has != lz_dtype_of(like);
    out->value = out->converted ? lz_to_at(t, lz_dtype_of(like), l->site) : t;
    return lz_nn_status_of(out->value, "lz_checkpoint_load");
}

static lz_status plan(loader *l, const char *name, lz_tensor *like, lz_tensor **slot)
{
    pending p = {.slot = slot};
    LZ_TRY(fetch(l, name, like, *slot ? *slot : like, &p)); /* an optimizer's state may be new */
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
        if (lz_source_has(&l->file, ps->names[i])) {
            LZ_TRY(plan(l, ps->names[i], ps->tensors[i], &ps->tensors[i]));
            continue;
        }
        add_name(&missing, ps->names[i]);
        if (o->report)
            LZ_CALL_OUT("a report")
        o->report(ps->names[i], "missing", o->user);
    }
    for (size_t i = 0; i < lz_source_len(&l->file); i++) {
        const char *name = lz_source_name(&l->file, i);
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

/* Reads and checks, then assigns: within a scope of its own. */
static lz_status begin(loader *l, const char *path, const lz_site *site)
{
    *l = (loader){.path = path, .site = site};
    return lz_scope_begin();
}

static lz_status end(loader *l, lz_status s)
{
    if (s == LZ_OK)
        s = assign_all(l);
    lz_scope_end();
    lz_vec_free(&l->todo);
    lz_free(l->steps);
    return s;
}

lz_status lz_params_load_at(lz_params *ps, const char *path, const lz_load_options *o,
                            const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    loader l;
    lz_tensor_source from = {0};
    lz_load_options c = {.struct_size = sizeof c};
    lz_status s = LZ_OK;
    if (!ps || !path)
        s = LZ_FAIL(LZ_ENULL, "%s is NULL", ps ? "the path" : "the list");
    else if (o && (o->struct_size < sizeof(size_t) || o->struct_size > sizeof c))
        s = LZ_FAIL(LZ_EINVAL, "struct_size is %zu: set it to the size of the struct",
                    o->struct_size);
    else if (o)
        memcpy(&c, o, o->struct_size);
    if (s == LZ_OK && (s = lz_source_open(&from, path)) == LZ_ENOENT)
        return annotated(s, "lz_params_load", site); /* an answer: not noted */
    if (s == LZ_OK)
        s = begin(&l, path, site);
    if (s == LZ_OK) {
        l.file = from;
        s = end(&l, plan_params(&l, ps, &c));
    }
    lz_source_close(&from);
    return lz_nn_given(annotated(s, "lz_params_load", site));
}

/* ---- checkpoints ---- */

/* Every parameter of the list must be there. */
static lz_status plan_list(loader *l, const char *kind, const lz_params *ps)
{
    for (size_t i = 0; i < ps->len; i++) {
        char *name = lz_state_join(kind, "", ps->names[i]);
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
    char *full = lz_state_join("optimizer", what, name);
    if (!full)
        return LZ_EMEM;
    lz_status s = lz_source_has(&l->file, full) ? plan(l, full, like, slot) : LZ_OK;
    lz_free(full);
    return s;
}

static lz_status read_step(loader *l, const char *name, int64_t *step)
{
    char *full = lz_state_join("optimizer", "step", name);
    lz_array a = {0};
    lz_status s = full ? LZ_OK : LZ_EMEM;
    *step = 0;
    if (s == LZ_OK && lz_source_has(&l->file, full))
        s = lz_source_read(&l->file, full, &a);
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
    const char *text = lz_source_metadata(&l->file, key);
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
    const char *text = lz_source_metadata(&l->file, rate);
    bool good = text && lz_text_f64(text, strlen(text), &n->lr) && n->lr >= 0 && isfinite(n->lr);
    return good ? LZ_OK : no_number(l, rate, text);
}

static lz_status plan_optim(loader *l, lz_optim *o)
{
    const char *kind = lz_source_metadata(&l->file, "lazuli.optimizer");
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
    LZ_TRY(lz_source_read(&l->file, name, &a));
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
    for (int i = 0; i < LZ_SCALER_STATES; i++) {
        char *name = lz_state_join("scaler", "", lz_scaler_names[i]);
        if (!name)
            return LZ_EMEM;
        lz_tensor **state = lz_scaler_state(s, i);
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

lz_status lz_state_load(const lz_tensor_source *from, const char *path, lz_checkpoint *c,
                        const lz_site *site)
{
    loader l;
    LZ_TRY(begin(&l, path, site));
    l.file = *from;
    return end(&l, plan_checkpoint(&l, c));
}

lz_status lz_checkpoint_load_at(const char *path, lz_checkpoint *c, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_tensor_source from = {0};
    lz_status s = lz_state_check_struct(path, c);
    if (s == LZ_OK && (s = lz_source_open(&from, path)) == LZ_ENOENT)
        return annotated(s, "lz_checkpoint_load", site); /* an answer: not noted */
    if (s == LZ_OK)
        s = lz_state_load(&from, path, c, site);
    lz_source_close(&from);
    return lz_nn_given(annotated(s, "lz_checkpoint_load", site));
}
