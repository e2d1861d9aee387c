/* d_cpu.c - compiled code against the reference, through the device interface, and what a device
 * promises besides right numbers: arguments that were not given away stay as they are; donated
 * ones, a program from its bytes, and another number of threads give the same bits. */
#include "backends/backend.h"
#include "backends/cpu/workers.h"
#include "base/config.h"
#include "lower/plan/plan.h"
#include "support/diff.h"
#include <stdio.h>
#include <string.h>

typedef struct buffers {
    lz_device_buffer *in[256], *out[256];
    bool given[256];
} buffers;

static const lz_backend *cpu;

/* Results are to be written: memory that the pool hands out next holds something else than zeros or
 * the last results. */
static lz_status spoil(size_t nbytes)
{
    lz_device_buffer *b;
    LZ_TRY(cpu->alloc(0, nbytes, &b));
    memset(b->data, 0xA5, nbytes);
    lz_device_buffer_release(b);
    return LZ_OK;
}

static lz_status upload(const lz_func *f, lz_literal *const *args, const bool *give, buffers *b)
{
    for (uint32_t i = 0; i < f->nparam; i++) {
        b->given[i] = give && give[i];
        LZ_TRY(cpu->alloc(0, args[i]->nbytes, &b->in[i]));
        LZ_TRY(cpu->copy_in(b->in[i], args[i]->data, args[i]->nbytes));
    }
    for (uint32_t k = 0; k < f->nresult; k++)
        LZ_TRY(spoil(lz_val_type(f, f->results[k])->nbytes));
    return LZ_OK;
}

static lz_status download(const lz_func *f, const buffers *b, lz_literal **got)
{
    for (uint32_t k = 0; k < f->nresult; k++) {
        got[k] = lz_literal_new(lz_val_type(f, f->results[k]));
        if (!got[k])
            return LZ_EMEM;
        LZ_TRY(cpu->copy_out(b->out[k], got[k]->data, got[k]->nbytes));
    }
    return LZ_OK;
}

static bool arguments_kept(const lz_func *f, lz_literal *const *args, const buffers *b,
                           lz_diff_result *r)
{
    for (uint32_t i = 0; i < f->nparam; i++)
        if (!b->given[i] && memcmp(b->in[i]->data, args[i]->data, args[i]->nbytes) != 0) {
            snprintf(r->msg, sizeof r->msg, "argument %u was not given away and has changed", i);
            return false;
        }
    return true;
}

/* One execution. */
static bool run(lz_exec *x, const lz_func *f, lz_literal *const *args, const bool *give,
                lz_literal **got, lz_diff_result *r)
{
    buffers b = {.in = {NULL}};
    lz_event *done = NULL;
    lz_status s = upload(f, args, give, &b);
    if (s == LZ_OK)
        s = cpu->execute(x, 0, b.in, b.given, false, b.out, &done);
    if (s == LZ_OK)
        s = lz_event_wait(done);
    if (s == LZ_OK)
        s = download(f, &b, got);
    bool ok = s == LZ_OK ? arguments_kept(f, args, &b, r) : lz_diff_failed("execute", r);
    for (uint32_t i = 0; i < f->nparam; i++)
        lz_device_buffer_release(b.in[i]);
    for (uint32_t k = 0; k < f->nresult; k++)
        lz_device_buffer_release(b.out[k]);
    lz_event_release(done);
    return ok;
}

/* The same with other means, which must not change one bit. */
static bool run_again(lz_exec *x, const lz_func *f, lz_literal *const *args, const bool *give,
                      const char *what, lz_diff_result *r)
{
    lz_literal *got[256] = {NULL};
    bool ok = run(x, f, args, give, got, r) && lz_diff_same_bits(f, r->got, got, what, r);
    for (uint32_t k = 0; k < f->nresult; k++)
        lz_literal_release(got[k]);
    return ok;
}

static void set_threads(const char *n)
{
    lz_workers_stop();
    (void)lz_config_set("LAZULI_NUM_THREADS", n);
}

/* The program's bytes, its steps claiming to be long enough to be worth sharing. */
static lz_status bytes_of(lz_exec *x, lz_buf *out)
{
    lz_buf b = {0};
    lz_plan *p = NULL;
    lz_status s = cpu->serialize(x, &b);
    if (s == LZ_OK)
        s = lz_plan_deserialize(b.data, b.len, &p);
    for (uint32_t i = 0; s == LZ_OK && i < p->nstep; i++)
        p->steps[i].flops = UINT64_C(1) << 40;
    if (s == LZ_OK)
        lz_plan_serialize(p, out);
    lz_plan_free(p);
    lz_buf_free(&b);
    return s;
}

static bool from_bytes(lz_exec *x, const lz_func *f, lz_literal *const *args, const bool *donate,
                       lz_diff_result *r)
{
    static const char *const threads[] = {"2", "3"};
    lz_buf b = {0};
    bool ok = bytes_of(x, &b) == LZ_OK || lz_diff_failed("serialize", r);
    for (int i = 0; ok && i < 2; i++) {
        lz_compile_options o = {.donate = donate};
        lz_exec *y = NULL;
        char what[64];
        snprintf(what, sizeof what, "%s threads, from bytes", threads[i]);
        set_threads(threads[i]);
        ok = cpu->deserialize(0, b.data, b.len, &o, &y) == LZ_OK || lz_diff_failed(what, r);
        ok = ok && run_again(y, f, args, i ? donate : NULL, what, r);
        cpu->exec_free(y);
    }
    set_threads("1");
    lz_buf_free(&b);
    return ok;
}

static bool by_cpu(const lz_func *f, lz_literal *const *args, const bool *donate, lz_diff_result *r)
{
    lz_exec *x = NULL;
    lz_compile_options o = {.donate = donate};
    if (!cpu) {
        cpu = lz_backend_get("cpu");
        set_threads("1");
    }
    if (cpu->init() != LZ_OK || cpu->compile(0, f, &o, &x) != LZ_OK)
        return lz_diff_failed("compile", r);
    bool ok = run(x, f, args, NULL, r->got, r) &&
              (!donate || run_again(x, f, args, donate, "donated", r)) &&
              from_bytes(x, f, args, donate, r);
    cpu->exec_free(x);
    return ok;
}

int main(int argc, char **argv)
{
    static const lz_diff_options o = {.way = by_cpu,
                                      .name = "cpu",
                                      .seeds = 24,
                                      .quick_seeds = 12,
                                      .whole_seeds = 200,
                                      .nets = 9,
                                      .quick_nets = 4,
                                      .whole_nets = 60,
                                      .stride = 31,
                                      .quick_stride = 127,
                                      .whole_stride = 1};
    return lz_diff_main(&o, argc, argv);
}
