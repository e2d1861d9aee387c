/* d_cuda.c - the CUDA backend against the reference, on the library that stands in for the driver:
 * the schedules of the GPU run on this processor, thread by thread. Besides: arguments that were
 * not given away stay as they are; donated ones and a program from its bytes give the same bits. */
#include "backends/backend.h"
#include "support/diff.h"
#include "support/mock.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct buffers {
    lz_device_buffer *in[256], *out[256];
    bool given[256];
} buffers;

static const lz_backend *cuda;

static lz_status upload(const lz_func *f, lz_literal *const *args, const bool *give, buffers *b)
{
    for (uint32_t i = 0; i < f->nparam; i++) {
        b->given[i] = give && give[i];
        LZ_TRY(cuda->alloc(0, args[i]->nbytes, &b->in[i]));
        LZ_TRY(cuda->copy_in(b->in[i], args[i]->data, args[i]->nbytes));
    }
    return LZ_OK;
}

static lz_status download(const lz_func *f, const buffers *b, lz_literal **got)
{
    for (uint32_t k = 0; k < f->nresult; k++) {
        got[k] = lz_literal_new(lz_val_type(f, f->results[k]));
        if (!got[k])
            return LZ_EMEM;
        LZ_TRY(cuda->copy_out(b->out[k], got[k]->data, got[k]->nbytes));
    }
    return LZ_OK;
}

static bool arguments_kept(const lz_func *f, lz_literal *const *args, const buffers *b,
                           lz_diff_result *r)
{
    bool ok = true;
    for (uint32_t i = 0; i < f->nparam && ok; i++) {
        char *now = malloc(args[i]->nbytes + 1);
        ok = b->given[i] || (cuda->copy_out(b->in[i], now, args[i]->nbytes) == LZ_OK &&
                             memcmp(now, args[i]->data, args[i]->nbytes) == 0);
        free(now);
        if (!ok)
            snprintf(r->msg, sizeof r->msg, "argument %u was not given away and has changed", i);
    }
    return ok;
}

static bool run(lz_exec *x, const lz_func *f, lz_literal *const *args, const bool *give,
                lz_literal **got, lz_diff_result *r)
{
    buffers b = {.in = {NULL}};
    lz_event *done = NULL;
    lz_status s = upload(f, args, give, &b);
    if (s == LZ_OK)
        s = cuda->execute(x, 0, b.in, b.given, false, b.out, &done);
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

static bool run_again(lz_exec *x, const lz_func *f, lz_literal *const *args, const bool *give,
                      const char *what, lz_diff_result *r)
{
    lz_literal *got[256] = {NULL};
    bool ok = run(x, f, args, give, got, r) && lz_diff_same_bits(f, r->got, got, what, r);
    for (uint32_t k = 0; k < f->nresult; k++)
        lz_literal_release(got[k]);
    return ok;
}

static bool from_bytes(lz_exec *x, const lz_func *f, lz_literal *const *args, const bool *donate,
                       lz_diff_result *r)
{
    lz_buf b = {0};
    lz_exec *y = NULL;
    lz_compile_options o = {.donate = donate};
    bool ok =
        (cuda->serialize(x, &b) == LZ_OK && cuda->deserialize(0, b.data, b.len, &o, &y) == LZ_OK) ||
        lz_diff_failed("from bytes", r);
    ok = ok && run_again(y, f, args, donate, "from bytes", r);
    cuda->exec_free(y);
    lz_buf_free(&b);
    return ok;
}

static bool by_cuda(const lz_func *f, lz_literal *const *args, const bool *donate,
                    lz_diff_result *r)
{
    lz_exec *x = NULL;
    lz_compile_options o = {.donate = donate};
    if (!cuda) {
        (void)lz_mock_use();
        cuda = lz_backend_get("cuda");
    }
    if (cuda->init() != LZ_OK || cuda->compile(0, f, &o, &x) != LZ_OK)
        return lz_diff_failed("compile", r);
    bool ok = run(x, f, args, NULL, r->got, r) && from_bytes(x, f, args, donate, r);
    cuda->exec_free(x);
    return ok;
}

int main(int argc, char **argv)
{
    static const lz_diff_options o = {.way = by_cuda,
                                      .name = "cuda",
                                      .cases = "test/diff/cases/cuda/*.mlir",
                                      .case_stride = 4,
                                      .seeds = 12,
                                      .quick_seeds = 5,
                                      .whole_seeds = 40,
                                      .nets = 3,
                                      .quick_nets = 2,
                                      .whole_nets = 12,
                                      .stride = 311,
                                      .quick_stride = 503,
                                      .whole_stride = 11};
    return lz_diff_main(&o, argc, argv);
}
