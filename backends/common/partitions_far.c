/* partitions_far.c - partitions of one function on devices of several processes, from literals to
 * literals (partitions.h): each process compiles the same program, runs the partitions of its own
 * devices, and they meet the others' in collectives. Processes agree before the first partition
 * starts and after the last one has ended, so who fails without coming to a collective is known to
 * all. Threads: as the backend. */
#include "backends/common/partitions.h"
#include "backends/distributed/talk.h"
#include "base/alloc.h"
#include "base/config.h"
#include "shard/local.h"
#include <stdio.h>
#include <string.h>

/* ---- who has which ---- */

static uint32_t share_of(uint32_t n, uint32_t count, uint32_t rank)
{
    return n / count + (rank < n % count);
}

lz_status lz_far_partitions_join(const lz_backend *b, uint32_t n, lz_far_partitions *out)
{
    const lz_process_info *p;
    char devices[16];
    int all, first;
    LZ_TRY(lz_process_info_get(&p));
    uint32_t count = (uint32_t)p->count, mine = share_of(n, count, (uint32_t)p->index);
    *out = (lz_far_partitions){.n = n, .nlocal = mine};
    if (!b->world || !b->execute_counting || !b->miss)
        return LZ_FAIL(LZ_EUNSUPPORTED,
                       "this is one of %u processes (%s), and devices of several processes do not "
                       "meet on %s: LAZULI_LAUNCHER=none runs all of it in each",
                       count, lz_launcher_name(p->launcher), b->name);
    if (share_of(n, count, 0) > 64)
        return LZ_FAIL(LZ_ERANGE, "%u devices are %u of each of %u processes: at most 64", n,
                       share_of(n, count, 0), count);
    snprintf(devices, sizeof devices, "%u", mine ? mine : 1); /* one that only listens */
    LZ_TRY(lz_config_set("CPU_NUM_DEVICES", devices));
    LZ_TRY(b->world(&all, &first));
    out->first = (uint32_t)first;
    return LZ_OK;
}

/* ---- running ---- */

typedef struct far_team {
    const lz_backend *b;
    const lz_func *f;
    uint32_t n;              /* partitions of all processes */
    uint32_t device, nlocal; /* devices of this one that run some, from which on */
    lz_exec *x;
    lz_device_buffer **in, **out; /* of the first partition of this process, then the next, .. */
    lz_event **done;
} far_team;

static void drop(lz_device_buffer **v, size_t n)
{
    for (size_t i = 0; v && i < n; i++) {
        lz_device_buffer_release(v[i]);
        v[i] = NULL;
    }
}

static lz_status upload(far_team *t, lz_literal *const *const *args)
{
    const lz_func *f = t->f;
    for (uint32_t l = 0; l < t->nlocal; l++)
        for (uint32_t i = 0; i < f->nparam; i++) {
            const lz_literal *v = args[l][i];
            lz_device_buffer **at = &t->in[(size_t)l * f->nparam + i];
            if (!v || v->type != lz_val_type(f, i))
                return LZ_FAIL(LZ_ESHAPE, "'%s': argument %u of device %u is of another type",
                               f->name, i, t->device + l);
            LZ_TRY(t->b->alloc((int)(t->device + l), v->nbytes, at));
            LZ_TRY(t->b->copy_in(*at, v->data, v->nbytes));
        }
    return LZ_OK;
}

static lz_status begin(far_team *t, lz_literal *const *const *args)
{
    size_t n = t->nlocal;
    const lz_hash program = lz_func_hash(t->f);
    const lz_compile_options o = {.partitions = t->n, .program = &program, .dump_name = "run"};
    t->in = lz_calloc(n * t->f->nparam + 1, sizeof *t->in);
    t->out = lz_calloc(n * t->f->nresult + 1, sizeof *t->out);
    t->done = lz_calloc(n + 1, sizeof *t->done);
    if (!t->in || !t->out || !t->done)
        return LZ_FAIL(LZ_EMEM, "no memory to run %zu partitions", n);
    LZ_TRY(upload(t, args));
    return t->b->compile(0, t->f, &o, &t->x);
}

/* The first error of those that were started; all are waited for, since they use what is freed
 * next. */
static lz_status wait_for(far_team *t, uint32_t started, lz_status s)
{
    for (uint32_t l = 0; l < started; l++) {
        const lz_error *e = lz_event_failure(t->done[l]);
        if (e && e->status != LZ_OK && s == LZ_OK) {
            lz_error_set(e);
            s = e->status;
        }
        lz_event_release(t->done[l]);
        t->done[l] = NULL;
    }
    return s;
}

/* One run. Who cannot start a partition tells those that it would have met. */
static lz_status run(far_team *t, lz_collective_uses *uses)
{
    uint32_t n = t->nlocal, started = 0;
    lz_status s = LZ_OK;
    drop(t->out, (size_t)n * t->f->nresult);
    for (; started < n && s == LZ_OK; started += s == LZ_OK)
        s = t->b->execute_counting(
            t->x, (int)(t->device + started), t->in + (size_t)started * t->f->nparam, n == 1,
            t->out + (size_t)started * t->f->nresult, started ? NULL : uses, &t->done[started]);
    for (uint32_t l = started + 1; l < n && s != LZ_OK; l++)
        t->b->miss(t->x, (int)(t->device + l));
    return wait_for(t, started, s);
}

static lz_status run_times(far_team *t, uint64_t times, lz_literal ***results,
                           lz_collective_uses *uses)
{
    const lz_func *f = t->f;
    for (uint64_t i = 1; i < times; i++)
        LZ_TRY(run(t, NULL));
    LZ_TRY(run(t, uses));
    for (uint32_t l = 0; l < t->nlocal; l++)
        for (uint32_t k = 0; k < f->nresult; k++) {
            lz_literal *v = results[l][k] = lz_literal_new(lz_val_type(f, f->results[k]));
            if (!v)
                return LZ_FAIL(LZ_EMEM, "no memory for result %u", k);
            LZ_TRY(t->b->copy_out(t->out[(size_t)l * f->nresult + k], v->data, v->nbytes));
        }
    return LZ_OK;
}

static void end(far_team *t)
{
    drop(t->in, (size_t)t->nlocal * t->f->nparam);
    drop(t->out, (size_t)t->nlocal * t->f->nresult);
    if (t->x)
        t->b->exec_free(t->x);
    lz_free(t->in);
    lz_free(t->out);
    lz_free(t->done);
}

lz_status lz_run_far_partitions(const lz_backend *b, const lz_func *f, const lz_far_partitions *who,
                                uint64_t times, uint64_t talk, lz_literal *const *const *args,
                                lz_literal ***results, lz_collective_uses *uses)
{
    far_team t = {.b = b, .f = f, .n = who->n, .nlocal = who->nlocal};
    for (uint32_t l = 0; l < who->nlocal; l++)
        memset(results[l], 0, f->nresult * sizeof **results);
    lz_status s =
        lz_talk(talk, "the start of the program", begin(&t, args), NULL, NULL, NULL, NULL);
    if (s == LZ_OK)
        s = lz_talk(talk + 1, "the end of the program", run_times(&t, times, results, uses), NULL,
                    NULL, NULL, NULL);
    end(&t);
    for (uint32_t l = 0; l < who->nlocal && s != LZ_OK; l++)
        for (uint32_t k = 0; k < f->nresult; k++) {
            lz_literal_release(results[l][k]);
            results[l][k] = NULL;
        }
    return s;
}

/* ---- results to partition 0 ---- */

/* What partition p gives it. */
typedef struct gift {
    const lz_backend *b;
    const lz_func *f;
    const lz_far_partitions *who;
    uint32_t p, n;
    uint32_t *which;    /* [n] of the results */
    lz_literal **arg;   /* [n + 1]: of this process, and its number */
    lz_literal *number; /* owned */
    lz_literal **got;   /* [n] */
    lz_literal **mine;  /* this process's results, of p or of 0 */
    lz_literal **to;    /* of partition p */
} gift;

/* A permute of each, in which only p and 0 take part. */
static lz_status make_permutes(const gift *g, lz_func *f, lz_val *v, int64_t *source)
{
    const lz_mesh_axis axis = {"devices", g->who->n};
    const lz_shape scalar = LZ_SCALAR;
    lz_local l = {.f = f, .mesh = lz_mesh_get(&axis, 1, NULL)};
    if (!l.mesh)
        return lz_error_get()->status;
    for (uint32_t q = 0; q < g->who->n; q++)
        source[q] = q ? -1 : (int64_t)g->p;
    for (uint32_t i = 0; i < g->n; i++)
        v[i] = lz_build_param(f, lz_val_type(g->f, g->f->results[g->which[i]]));
    l.part = lz_build_param(f, lz_type_get(LZ_U32, &scalar));
    for (uint32_t i = 0; i < g->n; i++)
        if ((v[i] = lz_local_permute(&l, v[i], source)) == LZ_NOVAL)
            return f->status;
    return lz_func_set_results(f, v, g->n);
}

static lz_status build(const gift *g, lz_func **out)
{
    lz_func *f = lz_func_new("give_results");
    lz_val *v = lz_calloc((size_t)g->n + 1, sizeof *v);
    int64_t *source = lz_calloc(g->who->n, sizeof *source);
    lz_status s = f && v && source ? make_permutes(g, f, v, source)
                                   : LZ_FAIL(LZ_EMEM, "no memory to gather the results");
    lz_free(v);
    lz_free(source);
    if (s != LZ_OK) {
        lz_func_free(f);
        f = NULL;
    }
    *out = f;
    return s;
}

/* Of a process that gives or is given: all but the run itself. */
static lz_status prepare(gift *g, far_team *t, lz_func **f)
{
    bool gives = g->who->first > 0;
    lz_literal *const *const arg[] = {g->arg};
    for (uint32_t i = 0; i < g->n; i++)
        g->arg[i] = g->mine[g->which[i]];
    g->number = g->arg[g->n] = lz_literal_scalar_i64(LZ_U32, gives ? g->p : 0);
    if (!g->number)
        return LZ_FAIL(LZ_EMEM, "no memory to gather the results");
    LZ_TRY(build(g, f));
    *t = (far_team){.b = g->b,
                    .f = *f,
                    .n = g->who->n,
                    .device = gives ? g->p - g->who->first : 0,
                    .nlocal = 1};
    return begin(t, arg);
}

static lz_status give(const gift *g, far_team *t)
{
    lz_literal **got[] = {g->got};
    lz_status s = run_times(t, 1, got, NULL);
    for (uint32_t i = 0; i < g->n; i++) {
        if (s == LZ_OK && g->who->first == 0)
            g->to[g->which[i]] = g->got[i];
        else
            lz_literal_release(g->got[i]);
        g->got[i] = NULL;
    }
    return s;
}

/* s: how it went here so far. *agreed: what all know. */
static lz_status gather_of(gift *g, bool takes_part, uint64_t talk, lz_status s, lz_status *agreed)
{
    far_team t = {.b = g->b};
    lz_func *f = NULL;
    if (s == LZ_OK && takes_part)
        s = prepare(g, &t, &f);
    s = *agreed = lz_talk(talk, "the results of the program", s, NULL, NULL, NULL, NULL);
    if (s == LZ_OK && takes_part)
        s = give(g, &t);
    if (t.f)
        end(&t);
    lz_literal_release(g->number);
    g->number = NULL;
    lz_func_free(f);
    return s;
}

/* All come to as many talks until one says that somebody has failed: before each run, since who
 * does not start it would be waited for, and behind the last one. */
static lz_status gather_all(gift *g, uint64_t talk,
                            bool (*wanted)(const void *user, uint32_t p, uint32_t k),
                            const void *user, lz_literal ***results)
{
    const lz_far_partitions *who = g->who;
    uint32_t near = share_of(who->n, lz_processes_count(), 0); /* of partition 0's process */
    lz_status s = LZ_OK, agreed = LZ_OK;
    for (g->p = near; g->p < who->n && agreed == LZ_OK; g->p++) {
        bool gives = who->nlocal && g->p >= who->first && g->p - who->first < who->nlocal;
        g->n = 0;
        for (uint32_t k = 0; k < g->f->nresult; k++)
            if (wanted(user, g->p, k))
                g->which[g->n++] = k;
        if (!g->n)
            continue;
        g->mine = results[gives ? g->p : 0];
        g->to = results[g->p];
        s = gather_of(g, gives || who->first == 0, talk++, s, &agreed);
    }
    return agreed == LZ_OK ? lz_talk(talk, "the results of the program", s, NULL, NULL, NULL, NULL)
                           : s;
}

lz_status lz_gather_far_partitions(const lz_backend *b, const lz_func *f,
                                   const lz_far_partitions *who, uint64_t talk,
                                   bool (*wanted)(const void *user, uint32_t p, uint32_t k),
                                   const void *user, lz_literal ***results)
{
    size_t n = (size_t)f->nresult + 1;
    lz_literal **room = lz_calloc(2 * n, sizeof *room);
    gift g = {.b = b,
              .f = f,
              .who = who,
              .which = lz_calloc(n, sizeof *g.which),
              .arg = room,
              .got = room ? room + n : NULL};
    lz_status s = room && g.which ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory to gather the results");
    s = lz_talk(talk, "the results of the program", s, NULL, NULL, NULL, NULL);
    if (s == LZ_OK)
        s = gather_all(&g, talk + 1, wanted, user, results);
    lz_free(room);
    lz_free(g.which);
    return s;
}
