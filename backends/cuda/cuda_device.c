/* cuda_device.c - starting a device, its context on the calling thread, and losing it. See
 * cuda_device.h. */
#include "backends/cuda/cuda_device.h"
#include "base/config.h"
#include <stdio.h>
#include <string.h>

/* ---- errors ---- */

static lz_status lose(cuda_device *d)
{
    lz_mutex_lock(&d->lost_lock);
    if (!atomic_load(&d->lost)) {
        d->lost_error = *lz_error_get();
        snprintf(d->lost_error.message, sizeof d->lost_error.message,
                 "device CUDA:%d is lost for this process: %.300s", d->at.index,
                 lz_error_get()->message);
        atomic_store(&d->lost, true);
    }
    lz_mutex_unlock(&d->lost_lock);
    lz_error_set(&d->lost_error);
    return d->lost_error.status;
}

lz_status cuda_check(cuda_device *d, int result, const char *what)
{
    if (__builtin_expect(result == CU_OK, 1))
        return LZ_OK;
    char text[128];
    snprintf(text, sizeof text, "device CUDA:%d: %s", d->at.index, what);
    lz_status s = lz_cuda_error(result, text);
    return lz_cuda_is_lost(result) ? lose(d) : s;
}

lz_status cuda_works(cuda_device *d)
{
    LZ_TRY(lz_fork_check());
    if (!atomic_load_explicit(&d->lost, memory_order_acquire))
        return LZ_OK;
    lz_error_set(&d->lost_error);
    return d->lost_error.status;
}

lz_status cuda_enter(cuda_device *d)
{
    LZ_TRY(cuda_works(d));
    return cuda_check(d, lz_cuda.CtxPushCurrent(d->context), "its context");
}

void cuda_leave(cuda_device *d)
{
    (void)d;
    cu_context popped;
    (void)lz_cuda.CtxPopCurrent(&popped);
}

static lz_status await(cuda_device *d, cu_event e, const char *what)
{
    LZ_TRY(cuda_enter(d));
    lz_status s = cuda_check(d, lz_cuda.EventSynchronize(e), what);
    cuda_leave(d);
    return s;
}

lz_status cuda_await(cuda_device *d, cu_event e, const char *what)
{
    lz_status s = await(d, e, what);
    if (s == LZ_OK || atomic_load(&d->lost))
        return s;
    LZ_QUIETLY {
        (void)await(d, e, what);
    }
    return s;
}

/* ---- start ---- */

static lz_status attribute(cuda_device *d, cu_device dev, int which, int *out)
{
    return cuda_check(d, lz_cuda.DeviceGetAttribute(out, which, dev), "reading its attributes");
}

static lz_status describe(cuda_device *d, cu_device dev)
{
    CUDA_TRY(d, DeviceGetName(d->name, (int)sizeof d->name, dev), "reading its name");
    d->name[sizeof d->name - 1] = '\0';
    LZ_TRY(attribute(d, dev, CU_ATTR_CAPABILITY_MAJOR, &d->major));
    LZ_TRY(attribute(d, dev, CU_ATTR_CAPABILITY_MINOR, &d->minor));
    LZ_TRY(attribute(d, dev, CU_ATTR_MULTIPROCESSORS, &d->processors));
    LZ_TRY(attribute(d, dev, CU_ATTR_CLOCK_KHZ, &d->clock_khz));
    LZ_TRY(attribute(d, dev, CU_ATTR_L2_BYTES, &d->l2_bytes));
    LZ_TRY(attribute(d, dev, CU_ATTR_MAX_SHARED_OPTIN, &d->shared_bytes));
    return lz_cuda.Emulates ? lz_simt_emulated(d->major, d->minor, &d->target)
                            : lz_simt_target(d->major, d->minor, &d->target);
}

/* Streams and events, in the context. */
static lz_status furnish(cuda_device *d)
{
    size_t nfree = 0, total = 0;
    CUDA_TRY(d, MemGetInfo(&nfree, &total), "asking for its memory");
    d->total_bytes = total;
    CUDA_TRY(d, StreamCreate(&d->compute, CU_STREAM_NON_BLOCKING), "making a stream");
    CUDA_TRY(d, StreamCreate(&d->up.stream, CU_STREAM_NON_BLOCKING), "making a stream");
    CUDA_TRY(d, StreamCreate(&d->down.stream, CU_STREAM_NON_BLOCKING), "making a stream");
    return cuda_check(d, lz_cuda.EventCreate(&d->uploaded, CU_EVENT_NO_TIMING), "making an event");
}

static lz_status open_context(cuda_device *d)
{
    cu_device dev;
    CUDA_TRY(d, DeviceGet(&dev, d->at.index), "finding it");
    LZ_TRY(describe(d, dev));
    CUDA_TRY(d, DevicePrimaryCtxRetain(&d->context, dev), "making its context");
    LZ_TRY(cuda_enter(d));
    lz_status s = furnish(d);
    cuda_leave(d);
    return s;
}

/* Undoes a start that failed half-way. */
static void give_up(cuda_device *d)
{
    lz_queue_free(d->at.queue);
    lz_queue_free(d->finish);
    lz_queue_free(d->out.finish);
    if (!d->context || cuda_enter(d) != LZ_OK)
        return;
    cu_stream streams[3] = {d->compute, d->up.stream, d->down.stream};
    for (int i = 0; i < 3; i++)
        if (streams[i])
            (void)lz_cuda.StreamDestroy(streams[i]);
    if (d->uploaded)
        (void)lz_cuda.EventDestroy(d->uploaded);
    cuda_leave(d);
    (void)lz_cuda.DevicePrimaryCtxRelease(d->at.index);
}

static lz_status start(cuda_device *d)
{
    char name[32];
    snprintf(name, sizeof name, "lz-cuda-%d", d->at.index);
    d->at.queue = lz_queue_new(name);
    snprintf(name, sizeof name, "lz-cuda-%d-end", d->at.index);
    d->finish = lz_queue_new(name);
    snprintf(name, sizeof name, "lz-cuda-%d-out", d->at.index);
    d->out.finish = lz_queue_new(name);
    return d->at.queue && d->finish && d->out.finish ? open_context(d) : LZ_EMEM;
}

lz_status cuda_device_start(cuda_device *d, int index, uint32_t backend)
{
    *d = (cuda_device){.at = {backend, index, NULL}};
    d->kernels = (lz_kstore)LZ_KSTORE_INIT(&cuda_kernel_ops);
    d->tune = (int)lz_cfg_int(LZ_OPT_TUNE);
    lz_mutex_init(&d->pool.lock, "cuda_device pool");
    lz_mutex_init(&d->up.lock, "cuda_device up");
    lz_mutex_init(&d->down.lock, "cuda_device down");
    lz_mutex_init(&d->lost_lock, "cuda_device lost");
    lz_mutex_init(&d->times.lock, "cuda_device times");
    lz_mutex_init(&d->libs.lock, "cuda_device libs");
    lz_status s = start(d);
    if (s != LZ_OK) {
        LZ_QUIETLY {
            give_up(d);
        }
    }
    return s;
}
