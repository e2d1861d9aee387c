/* cuda.c - the CUDA backend's table: start-up, devices, buffers, compiling. Threads:
 * thread-safe. */
#include "backends/backend.h"
#include "backends/common/device_table.h"
#include "backends/cuda/cuda_device.h"
#include "base/config.h"
#include "base/text.h"
#include <stdio.h>
#include <string.h>

extern const lz_backend lz_backend_cuda;

/* ---- start ---- */

static lz_status start_devices(void);

static struct {
    lz_device_table devices;
    bool started[CUDA_DEVICES]; /* a start that failed continues where it stopped */
    cuda_device dev[CUDA_DEVICES];
} cuda = {.devices = LZ_DEVICE_TABLE_INIT("CUDA", start_devices)};

cuda_device *cuda_device_at(uint32_t index)
{
    return &cuda.dev[index];
}

uint32_t cuda_ndevice(void)
{
    return (uint32_t)cuda.devices.ndevice;
}

/* Called when a trace ends. */
static void end_times(void)
{
    for (int i = 0;
         lz_devices_ready(&cuda.devices) && !lz_fork_happened() && i < cuda.devices.ndevice; i++)
        cuda_times_end(&cuda.dev[i]);
}

static lz_status start_devices(void)
{
    int n = 0;
    LZ_TRY(lz_cuda_load());
    LZ_TRY(lz_cuda_error(lz_cuda.DeviceGetCount(&n), "counting CUDA devices"));
    int wanted = (int)lz_cfg_int(LZ_OPT_GPU_NUM_DEVICES);
    if (wanted > n)
        return LZ_FAIL(LZ_EUNAVAILABLE, "GPU_NUM_DEVICES=%d: this machine has %d", wanted, n);
    n = wanted ? wanted : n < CUDA_DEVICES ? n : CUDA_DEVICES;
    uint32_t index = (uint32_t)lz_backend_index(&lz_backend_cuda);
    for (int i = 0; i < n; i++) {
        if (!cuda.started[i])
            LZ_TRY(cuda_device_start(&cuda.dev[i], i, index));
        cuda.started[i] = true;
    }
    cuda.devices.ndevice = n;
    lz_timeline_before_stop(end_times);
    return LZ_OK;
}

static lz_status init(void)
{
    return lz_devices_start(&cuda.devices);
}

static int device_count(void)
{
    return lz_devices_count(&cuda.devices);
}

static lz_status get_device(int device, cuda_device **out)
{
    LZ_TRY(lz_devices_check(&cuda.devices, device));
    *out = &cuda.dev[device];
    return LZ_OK;
}

/* ---- what a device is ---- */

static lz_status device_info(int device, lz_device_info *out)
{
    cuda_device *d;
    memset(out, 0, sizeof *out);
    LZ_TRY(get_device(device, &d));
    snprintf(out->kind, sizeof out->kind, "cuda: %.40s, sm_%d%d", d->name, d->major, d->minor);
    lz_snprintf(out->details, sizeof out->details,
                "%.1f GiB, %d multiprocessors at %.2f GHz, %.1f MiB of L2 cache, %d KiB of shared "
                "memory, code for %s",
                (double)d->total_bytes / (1 << 30), d->processors, d->clock_khz * 1e-6,
                d->l2_bytes / 1048576.0, d->shared_bytes >> 10, d->target.cpu);
    lz_mutex_lock(&d->pool.lock);
    out->memory_used = d->pool.used;
    out->memory_peak = d->pool.peak;
    lz_mutex_unlock(&d->pool.lock);
    out->memory_limit = cuda_limit(d);
    out->threads = d->processors;
    return LZ_OK;
}

static void key(int device, lz_buf *out)
{
    cuda_device *d;
    if (get_device(device, &d) != LZ_OK) {
        out->failed = true;
        return;
    }
    lz_buf_printf(out, "CUDA;llvm %s;codegen %d.%d;%s;%s;%s;driver %d", lz_llvm_version(),
                  LZ_CODEGEN_VERSION, LZ_SIMT_VERSION, d->target.triple, d->target.cpu,
                  d->target.features, lz_cuda_driver_version());
    lz_variants_print(&d->target, out);
    if (d->tune)
        lz_buf_puts(out, ";tuned");
    if (lz_cfg_is_set(
            LZ_OPT_PASSES_OFF)) /* the option changes the plan, so it is part of the key */
        lz_buf_printf(out, ";without %s", lz_cfg_str(LZ_OPT_PASSES_OFF));
}

/* ---- buffers ---- */

static lz_status alloc(int device, size_t nbytes, lz_device_buffer **out)
{
    cuda_device *d;
    *out = NULL;
    LZ_TRY(get_device(device, &d));
    return cuda_alloc(d, nbytes, out);
}

/* Device memory allocated by somebody else, in the primary context or by cudaMalloc. */
static lz_status wrap(int device, void *data, size_t nbytes, void (*release)(void *), void *user,
                      lz_device_buffer **out)
{
    cuda_device *d;
    *out = NULL;
    LZ_TRY(get_device(device, &d));
    if (!data && nbytes)
        return LZ_FAIL(LZ_ENULL, "memory to borrow is NULL (%zu bytes)", nbytes);
    lz_device_buffer *b = lz_device_buffer_new();
    if (!b)
        return LZ_EMEM;
    b->backend = d->at.backend;
    b->device = (uint32_t)d->at.index;
    b->nbytes = nbytes;
    b->data = data;
    b->release = release;
    b->user = user;
    *out = b;
    return LZ_OK;
}

static void free_buffer(lz_device_buffer *b)
{
    if (b->capacity)
        cuda_free(&cuda.dev[b->device], b);
    else
        lz_device_buffer_recycle(b);
}

static lz_status check_range(const lz_device_buffer *b, size_t nbytes)
{
    if (nbytes > b->nbytes)
        return LZ_FAIL(LZ_ERANGE, "copy of %zu bytes, the buffer has %zu", nbytes, b->nbytes);
    return lz_event_wait(b->ready);
}

static lz_status copy_in(lz_device_buffer *dst, const void *src, size_t nbytes)
{
    LZ_TRY(check_range(dst, nbytes));
    return cuda_copy_in(&cuda.dev[dst->device], (cu_ptr)(uintptr_t)dst->data, src, nbytes);
}

static lz_status copy_out(lz_device_buffer *src, void *dst, size_t nbytes)
{
    LZ_TRY(check_range(src, nbytes));
    return cuda_copy_out(&cuda.dev[src->device], dst, (cu_ptr)(uintptr_t)src->data, nbytes);
}

static lz_status copy_across(lz_device_buffer *dst, lz_device_buffer *src, size_t nbytes)
{
    if (nbytes > dst->nbytes || nbytes > src->nbytes)
        return LZ_FAIL(LZ_ERANGE, "copy of %zu bytes, the buffers have %zu and %zu", nbytes,
                       dst->nbytes, src->nbytes);
    return cuda_copy_across(&cuda.dev[dst->device], dst, &cuda.dev[src->device], src, nbytes);
}

/* ---- programs ---- */

/* Makes an executable of a plan, which it takes over. */
static lz_status finish(cuda_device *d, lz_plan *p, const lz_compile_options *o, int64_t t0,
                        lz_exec **out)
{
    int64_t t1 = lz_now_ns();
    LZ_TRY(cuda_exec_new(d, p, o ? o->cache : NULL, out));
    lz_exec_set_label(*out, o);
    int64_t t2 = lz_now_ns();
    (*out)->info.compile_ms = (double)(t2 - t0) * 1e-6;
    (*out)->info.lower_ms = (double)(t1 - t0) * 1e-6;
    (*out)->info.kernels_ms = (double)(t2 - t1) * 1e-6;
    cuda_dump(d, (*out)->plan);
    return LZ_OK;
}

static lz_status compile(int device, const lz_func *f, const lz_compile_options *o, lz_exec **out)
{
    cuda_device *d;
    *out = NULL;
    LZ_TRY(get_device(device, &d));
    int64_t t0 = lz_now_ns();
    lz_lower_options lo = cuda_lower_options(d);
    if (o) {
        lo.donate = o->donate;
        lo.partitions = o->partitions;
        lo.replicas = o->replicas;
    }
    lz_plan *p = NULL;
    LZ_TRY(lz_lower(f, &lo, &p));
    return finish(d, p, o, t0, out);
}

static lz_status serialize(lz_exec *x, lz_buf *out)
{
    lz_plan_serialize(x->plan, out);
    return out->failed ? LZ_FAIL(LZ_EMEM, "no memory to store a program") : LZ_OK;
}

static lz_status deserialize(int device, const void *p, size_t n, const lz_compile_options *o,
                             lz_exec **out)
{
    cuda_device *d;
    *out = NULL;
    LZ_TRY(get_device(device, &d));
    int64_t t0 = lz_now_ns();
    lz_plan *plan = NULL;
    LZ_TRY(lz_plan_deserialize_of(p, n, o ? o->func : NULL, o ? o->donate : NULL,
                                  o ? o->partitions : 0, &plan));
    return finish(d, plan, o, t0, out);
}

static lz_status execute(lz_exec *x, int device, lz_device_buffer *const *in, const bool *donated,
                         bool awaited, lz_device_buffer **out, lz_event **done)
{
    cuda_device *d;
    *done = NULL;
    LZ_TRY(get_device(device, &d));
    return cuda_exec_run(x, d, in, donated, awaited, out, done);
}

static lz_status execute_partitions(lz_exec *x, int64_t n, const uint32_t *home,
                                    lz_device_buffer *const *const *in, const bool *donated,
                                    bool awaited, lz_device_buffer ***out, lz_collective_uses *uses,
                                    lz_event **done)
{
    *done = NULL;
    return cuda_exec_run_team(x, n, home, in, donated, awaited, out, uses, done);
}

static uint64_t library_products(void)
{
    uint64_t n = 0;
    for (int i = 0; lz_devices_ready(&cuda.devices) && i < cuda.devices.ndevice; i++)
        n += atomic_load_explicit(&cuda.dev[i].libs.made, memory_order_relaxed);
    return n;
}

static lz_status wait_all(int device)
{
    cuda_device *d;
    LZ_TRY(get_device(device, &d));
    LZ_TRY(lz_fork_check());
    lz_queue_drain(d->at.queue);
    lz_queue_drain(d->finish);
    cuda_wait_copies(d);
    return LZ_OK;
}

const lz_backend lz_backend_cuda = {
    .name = "CUDA",
    .init = init,
    .device_count = device_count,
    .device_info = device_info,
    .key = key,
    .dlpack_type = 2, /* kDLCUDA */
    .alloc = alloc,
    .free = free_buffer,
    .wrap = wrap,
    .copy_in = copy_in,
    .copy_out = copy_out,
    .copy_across = copy_across,
    .compile = compile,
    .serialize = serialize,
    .deserialize = deserialize,
    .exec_free = lz_exec_free,
    .exec_info = lz_exec_get_info,
    .execute = execute,
    .execute_partitions = execute_partitions,
    .wait_all = wait_all,
    .library_products = library_products,
};
