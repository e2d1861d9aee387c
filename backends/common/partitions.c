/* partitions.c - see partitions.h. */
#include "backends/common/partitions.h"
#include "base/alloc.h"
#include <string.h>

typedef struct team {
    const lz_backend *b;
    const lz_func *f;
    uint32_t n;
    lz_exec *x;
    lz_device_buffer **in, **out; /* of partition 0, then of partition 1, .. */
    lz_device_buffer ***in_rows, ***out_rows;
} team;

static lz_status upload(team *t, lz_literal *const *const *args)
{
    const lz_func *f = t->f;
    for (uint32_t q = 0; q < t->n; q++)
        for (uint32_t i = 0; i < f->nparam; i++) {
            const lz_literal *l = args[q][i];
            lz_device_buffer **at = &t->in[(size_t)q * f->nparam + i];
            if (!l || l->type != lz_val_type(f, i))
                return LZ_FAIL(LZ_ESHAPE, "'%s': argument %u of partition %u is of another type",
                               f->name, i, q);
            LZ_TRY(t->b->alloc((int)q < t->b->device_count() ? (int)q : 0, l->nbytes, at));
            LZ_TRY(t->b->copy_in(*at, l->data, l->nbytes));
        }
    return LZ_OK;
}

static void drop(lz_device_buffer **v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        lz_device_buffer_release(v[i]);
        v[i] = NULL;
    }
}

static lz_status run(team *t, lz_collective_uses *uses)
{
    lz_event *done = NULL;
    drop(t->out, (size_t)t->n * t->f->nresult);
    lz_status s =
        t->b->execute_partitions(t->x, t->n, NULL, (lz_device_buffer *const *const *)t->in_rows,
                                 NULL, true, t->out_rows, uses, &done);
    if (s == LZ_OK)
        s = lz_event_wait(done);
    lz_event_release(done);
    return s;
}

static lz_status download(const team *t, lz_literal ***results)
{
    const lz_func *f = t->f;
    for (uint32_t q = 0; q < t->n; q++)
        for (uint32_t k = 0; k < f->nresult; k++) {
            lz_literal *l = results[q][k] = lz_literal_new(lz_val_type(f, f->results[k]));
            if (!l)
                return LZ_EMEM;
            LZ_TRY(t->b->copy_out(t->out[(size_t)q * f->nresult + k], l->data, l->nbytes));
        }
    return LZ_OK;
}

static lz_status compile_and_run(team *t, uint64_t times, lz_cache *cache,
                                 lz_literal *const *const *args, lz_literal ***results,
                                 lz_collective_uses *uses)
{
    const lz_compile_options o = {.partitions = t->n, .cache = cache, .dump_name = "run"};
    if (!t->in || !t->out || !t->in_rows)
        return LZ_FAIL(LZ_EMEM, "no memory to run %u partitions", t->n);
    t->out_rows = t->in_rows + t->n;
    for (uint32_t q = 0; q < t->n; q++) {
        t->in_rows[q] = t->in + (size_t)q * t->f->nparam;
        t->out_rows[q] = t->out + (size_t)q * t->f->nresult;
    }
    LZ_TRY(t->b->init());
    LZ_TRY(upload(t, args));
    LZ_TRY(t->b->compile(0, t->f, &o, &t->x));
    for (uint64_t i = 1; i < times; i++)
        LZ_TRY(run(t, NULL));
    LZ_TRY(run(t, uses));
    return download(t, results);
}

lz_status lz_run_partitions(const lz_backend *b, const lz_func *f, uint32_t n, uint64_t times,
                            lz_cache *cache, lz_literal *const *const *args, lz_literal ***results,
                            lz_collective_uses *uses, lz_exec_info *info)
{
    size_t nin = (size_t)n * f->nparam, nout = (size_t)n * f->nresult;
    for (uint32_t q = 0; q < n; q++)
        memset(results[q], 0, f->nresult * sizeof **results);
    if (!b->execute_partitions)
        return LZ_FAIL(LZ_EUNSUPPORTED, "%s runs programs of one device only", b->name);
    if (n < 1 || n > LZ_MAX_PARTITIONS)
        return LZ_FAIL(LZ_ERANGE, "'%s': %u partitions", f->name, n);
    team t = {.b = b,
              .f = f,
              .n = n,
              .in = lz_calloc(nin + 1, sizeof *t.in),
              .out = lz_calloc(nout + 1, sizeof *t.out),
              .in_rows = lz_calloc(2 * (size_t)n, sizeof *t.in_rows)};
    lz_status s = compile_and_run(&t, times, cache, args, results, uses);
    if (s == LZ_OK && info)
        b->exec_info(t.x, info);
    for (uint32_t q = 0; q < n && s != LZ_OK; q++)
        for (uint32_t k = 0; k < f->nresult; k++) {
            lz_literal_release(results[q][k]);
            results[q][k] = NULL;
        }
    if (t.in)
        drop(t.in, nin);
    if (t.out)
        drop(t.out, nout);
    if (t.x)
        b->exec_free(t.x);
    lz_free(t.in_rows);
    lz_free(t.in);
    lz_free(t.out);
    return s;
}
