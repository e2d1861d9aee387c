/* diff_device.h - what the differential tests of devices with memory of their own share: executions
 * on a device's buffers, and an executable from its bytes. In a header, because what test/support
 * links has no backends. Threads: thread-compatible. */
#ifndef LZ_TEST_DIFF_DEVICE_H
#define LZ_TEST_DIFF_DEVICE_H
#include "backends/backend.h"
#include "support/diff.h"
#include <stdio.h>
#include <string.h>

typedef struct lz_diff_buffers {
    lz_device_buffer *in[256], *out[256];
    bool given[256];
} lz_diff_buffers;

static inline lz_status lz_diff_upload(const lz_backend *be, const lz_func *f,
                                       lz_literal *const *args, const bool *give,
                                       lz_diff_buffers *b)
{
    for (uint32_t i = 0; i < f->nparam; i++) {
        b->given[i] = give && give[i];
        LZ_TRY(be->alloc(0, args[i]->nbytes, &b->in[i]));
        LZ_TRY(be->copy_in(b->in[i], args[i]->data, args[i]->nbytes));
    }
    return LZ_OK;
}

static inline lz_status lz_diff_download(const lz_backend *be, const lz_func *f, lz_diff_buffers *b,
                                         lz_literal **got)
{
    for (uint32_t k = 0; k < f->nresult; k++) {
        if (!got[k])
            got[k] = lz_literal_new(lz_val_type(f, f->results[k]));
        if (!got[k])
            return LZ_EMEM;
        LZ_TRY(be->copy_out(b->out[k], got[k]->data, got[k]->nbytes));
        lz_device_buffer_release(b->out[k]);
        b->out[k] = NULL;
    }
    return LZ_OK;
}

/* Arguments that were not given away are what they were. */
static inline bool lz_diff_kept(const lz_backend *be, const lz_func *f, lz_literal *const *args,
                                const lz_diff_buffers *b, lz_diff_result *r)
{
    bool same = true;
    for (uint32_t i = 0; i < f->nparam && same; i++) {
        lz_literal *now = b->given[i] ? NULL : lz_literal_new(args[i]->type);
        same = b->given[i] || (now && be->copy_out(b->in[i], now->data, now->nbytes) == LZ_OK &&
                               memcmp(now->data, args[i]->data, now->nbytes) == 0);
        lz_literal_release(now);
        if (!same)
            (void)snprintf(r->msg, sizeof r->msg, "argument %u was not given away and has changed",
                           i);
    }
    return same;
}

/* `times` executions on the same buffers; got: of the last. */
static inline bool lz_diff_execute(const lz_backend *be, lz_exec *x, const lz_func *f,
                                   lz_literal *const *args, const bool *give, int times,
                                   lz_literal **got, lz_diff_result *r)
{
    lz_diff_buffers b = {.in = {NULL}};
    lz_status s = lz_diff_upload(be, f, args, give, &b);
    for (int i = 0; i < times && s == LZ_OK; i++) {
        lz_event *done = NULL;
        s = be->execute(x, 0, b.in, b.given, false, b.out, &done);
        if (s == LZ_OK)
            s = lz_event_wait(done);
        if (s == LZ_OK)
            s = lz_diff_download(be, f, &b, got);
        lz_event_release(done);
    }
    bool ok = s == LZ_OK ? lz_diff_kept(be, f, args, &b, r) : lz_diff_failed("execute", r);
    for (uint32_t i = 0; i < f->nparam; i++)
        lz_device_buffer_release(b.in[i]);
    for (uint32_t k = 0; k < f->nresult; k++)
        lz_device_buffer_release(b.out[k]);
    return ok;
}

/* Once more, with the same bits as r->got; what is not given away, twice. */
static inline bool lz_diff_again(const lz_backend *be, lz_exec *x, const lz_func *f,
                                 lz_literal *const *args, const bool *give, const char *what,
                                 lz_diff_result *r)
{
    lz_literal *got[256] = {NULL};
    bool ok = lz_diff_execute(be, x, f, args, give, give ? 1 : 2, got, r) &&
              lz_diff_same_bits(f, r->got, got, what, r);
    for (uint32_t k = 0; k < f->nresult; k++)
        lz_literal_release(got[k]);
    return ok;
}

static inline bool lz_diff_from_bytes(const lz_backend *be, lz_exec *x, const lz_func *f,
                                      lz_literal *const *args, const lz_compile_options *o,
                                      lz_diff_result *r)
{
    lz_buf b = {0};
    lz_exec *y = NULL;
    bool ok =
        (be->serialize(x, &b) == LZ_OK || lz_diff_failed("serialize", r)) &&
        (be->deserialize(0, b.data, b.len, o, &y) == LZ_OK || lz_diff_failed("deserialize", r)) &&
        lz_diff_again(be, y, f, args, o->donate, "from bytes", r);
    if (y)
        be->exec_free(y);
    lz_buf_free(&b);
    return ok;
}
#endif
