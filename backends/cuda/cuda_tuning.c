/* cuda_tuning.c - what may be tuned of a CUDA device's launches (backends/common/autotune.h): the
 * tile shape of a matrix product and its split-K factor. All candidates are entry points of the
 * code that the kernel has anyway, so nothing is compiled. A candidate is timed between two events
 * of the compute stream, on the launching queue, in turn with programs; so no program's work is in
 * the time. Threads: thread-safe. */
#include "backends/cuda/cuda_device.h"
#include <string.h>

static void key(void *user, const lz_kernel *k, lz_buf *out)
{
    cuda_device *d = ((const cuda_tuning *)user)->d;
    cuda_kernel_ops.key(d, k, out);
    lz_buf_lstr(out, d->name);
    lz_buf_u32(out, (uint32_t)d->processors);
    lz_buf_u32(out, (uint32_t)d->clock_khz);
    lz_buf_u32(out, (uint32_t)d->target.processors);
    lz_buf_u32(out, d->target.tma);
}

/* Throughput of the CUDA cores; tensor cores are faster still, and products are rarely
 * memory-bound. */
static uint64_t about_ns(void *user, const lz_step *s)
{
    enum { FLOPS_A_CLOCK = 256, BYTES_A_CLOCK = 16 };
    const cuda_device *d = ((const cuda_tuning *)user)->d;
    double clocks_ns = (double)(d->processors > 0 ? d->processors : 1) *
                       (double)(d->clock_khz > 0 ? d->clock_khz : 1) * 1e-6;
    double f = (double)s->flops / (FLOPS_A_CLOCK * clocks_ns),
           b = (double)s->bytes / (BYTES_A_CLOCK * clocks_ns), ns = f > b ? f : b;
    return ns < 1e18 ? (uint64_t)ns : UINT64_MAX;
}

_Static_assert((int)SIMT_PICKS <= (int)LZ_TUNE_CHOICES, "all that is picked can be tried");
static uint32_t choices(void *user, const lz_kernel *k, const lz_step *s,
                        lz_choice out[LZ_TUNE_CHOICES])
{
    lz_simt_pick p[SIMT_PICKS];
    uint32_t n = lz_simt_picks(k, s->args, &((const cuda_tuning *)user)->d->target, p);
    for (uint32_t i = 1; i < n; i++) /* the first is the cost model's choice */
        out[i - 1] = (lz_choice){.entry = (uint32_t)p[i].entry, .parts = p[i].slices};
    return n ? n - 1 : 0;
}

void cuda_dims_of(const cuda_device *d, const lz_kernel *k, const lz_step *s, lz_choice c,
                  lz_simt_dims *out)
{
    lz_simt_pick pick = {(lz_simt_entry)c.entry, c.parts};
    if (lz_choice_is_model(c))
        lz_simt_dims_of(k, s->args, &d->target, d->processors, out);
    else
        lz_simt_dims_by(k, s->args, &d->target, d->processors, pick, out);
}

static lz_status make(void *user, const lz_kernel *k, const lz_step *s, lz_choice c, void *out,
                      size_t *scratch)
{
    lz_simt_dims *way = out;
    cuda_dims_of(((const cuda_tuning *)user)->d, k, s, c, way);
    if (way->scratch > SIZE_MAX / 2)
        return LZ_FAIL(LZ_EDEVMEM, "kernel '%s': scratch memory is too large", k->name);
    *scratch = (size_t)way->scratch;
    return LZ_OK;
}

/* ---- runs ---- */

static lz_status alloc(void *user, size_t nbytes, lz_device_buffer **out)
{
    return cuda_alloc(((const cuda_tuning *)user)->d, nbytes, out);
}

static lz_status write(void *user, void *at, const void *src, size_t nbytes)
{
    return cuda_copy_in(((const cuda_tuning *)user)->d, (cu_ptr)(uintptr_t)at, src, nbytes);
}

static lz_status begin(void *user)
{
    cuda_device *d = ((const cuda_tuning *)user)->d;
    LZ_TRY(cuda_enter(d));
    lz_status s = cuda_after_uploads(d, &d->own);
    if (s != LZ_OK)
        cuda_leave(d);
    return s;
}

static lz_status run(void *user, const lz_step *s, const void *way, void *const *bufs,
                     void *scratch, int64_t *ns)
{
    (void)s;
    const cuda_tuning *t = user;
    cuda_device *d = t->d;
    cuda_stretch time = {.row = CUDA_ROW_COMPUTE};
    cuda_stretch_begin(d, d->compute, &time);
    lz_status st = t->launch(d, t->record, way, scratch, bufs);
    cuda_stretch_end(d, d->compute, &time);
    bool timed = st == LZ_OK && cuda_stretch_wait(&time) && cuda_stretch_ns(&time, ns);
    cuda_stretch_drop(d, &time);
    if (st == LZ_OK && !timed)
        st = LZ_FAIL(LZ_EDEVICE, "device CUDA:%d: a launch could not be measured", d->at.index);
    return st;
}

/* The memory of measurements is freed: nothing may use it any more. */
static void end(void *user)
{
    cuda_device *d = ((const cuda_tuning *)user)->d;
    (void)cuda_check(d, lz_cuda.StreamSynchronize(d->compute), "waiting for measurements");
    cuda_leave(d);
}

const lz_tune_ops cuda_tune_ops = {
    .candidate_bytes = sizeof(lz_simt_dims),
    .key = key,
    .about_ns = about_ns,
    .worth_ns = 5000, /* launch overhead */
    .choices = choices,
    .make = make,
    .alloc = alloc,
    .write = write,
    .begin = begin,
    .run = run,
    .end = end,
};
