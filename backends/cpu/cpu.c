/* cpu.c - the CPU backend's table: start-up, devices, buffers, compiling. CPU_NUM_DEVICES devices
 * have a queue each and share everything else: memory pool, workers and kernels.
 * Threads: thread-safe. */
#include "backends/backend.h"
#include "backends/common/device_table.h"
#include "backends/cpu/cpu_dump.h"
#include "backends/cpu/cpu_exec.h"
#include "backends/cpu/cpu_plan.h"
#include "backends/cpu/invariant_cache.h"
#include "backends/cpu/cpu_mem.h"
#include "backends/distributed/launcher.h"
#include "backends/cpu/workers.h"
#include "base/alloc.h"
#include "base/config.h"
#include "base/thread.h"
#include "codegen/codegen.h"
#include <stdio.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

extern const lz_backend lz_backend_cpu;

/* ---- start ---- */

static lz_status start_devices(void);

/* Set by start_devices, constant afterwards. */
static struct {
    lz_device_table devices;
    lz_target target;
    uint32_t index; /* index of this backend */
    int tune;       /* LAZULI_TUNE */
    /* Set when processes have joined: devices of all, and the number of this one's first. */
    _Atomic uint32_t world, first;
    char processor[64];
    lz_cpu_device dev[LZ_MEM_DEVICES];
} cpu = {.devices = LZ_DEVICE_TABLE_INIT("CPU", start_devices)};

static void processor_name(char *out, size_t n)
{
    snprintf(out, n, "%s", cpu.target.cpu[0] ? cpu.target.cpu : "generic");
#if defined(__x86_64__)
    unsigned r[12], a, b, c, d;
    if (!__get_cpuid(0x80000000, &a, &b, &c, &d) || a < 0x80000004)
        return;
    for (unsigned i = 0; i < 3; i++)
        __cpuid(0x80000002 + i, r[4 * i], r[4 * i + 1], r[4 * i + 2], r[4 * i + 3]);
    char brand[49], *p = brand;
    memcpy(brand, r, 48);
    brand[48] = '\0';
    while (*p == ' ')
        p++;
    if (*p)
        snprintf(out, n, "%s", p);
    for (size_t end = strlen(out); end && out[end - 1] == ' '; end--)
        out[end - 1] = '\0';
#endif
}

static lz_status start_devices(void)
{
    LZ_TRY(lz_target_host(&cpu.target));
    cpu.target.machine.threads = lz_workers_count();
    processor_name(cpu.processor, sizeof cpu.processor);
    cpu.tune = (int)lz_cfg_int(LZ_OPT_TUNE);
    lz_mem_on_shortage(lz_invariant_cache_shortage);
    cpu.index = (uint32_t)lz_backend_index(&lz_backend_cpu);
    int n = (int)lz_cfg_int(LZ_OPT_CPU_NUM_DEVICES);
    for (int i = cpu.devices.ndevice; i < n;
         i++) { /* a start that failed continues where it stopped */
        char name[32];
        snprintf(name, sizeof name, "lz-cpu-%d", i);
        cpu.dev[i] = (lz_cpu_device){.at = {cpu.index, i, lz_queue_new(name)}};
        if (!cpu.dev[i].at.queue)
            return LZ_EMEM;
        cpu.devices.ndevice = i + 1;
    }
    return LZ_OK;
}

static lz_status init(void)
{
    return lz_devices_start(&cpu.devices);
}

static int device_count(void)
{
    return lz_devices_count(&cpu.devices);
}

static lz_status get_device(int device, lz_cpu_device **out)
{
    LZ_TRY(lz_devices_check(&cpu.devices, device));
    *out = &cpu.dev[device];
    return LZ_OK;
}

/* ---- what a device is ---- */

static lz_status device_info(int device, lz_device_info *out)
{
    lz_cpu_device *d;
    memset(out, 0, sizeof *out);
    LZ_TRY(get_device(device, &d));
    const char *isa = cpu.target.machine.vector_bytes == 64   ? "avx512"
                      : cpu.target.machine.vector_bytes == 32 ? "avx2"
                                                              : "128-bit";
    snprintf(out->kind, sizeof out->kind, "cpu: %.42s, %s", cpu.processor, isa);
    lz_mem_stats m;
    lz_mem_get_stats(d->at.index, &m);
    out->memory_limit = m.limit;
    out->memory_used = m.used;
    out->memory_peak = m.peak;
    out->threads = lz_workers_count();
    return LZ_OK;
}

/* Everything that the choice of a plan or a kernel depends on. */
static void key(int device, lz_buf *out)
{
    (void)device;
    if (init() != LZ_OK) {
        out->failed = true;
        return;
    }
    const lz_target *t = &cpu.target;
    lz_buf_printf(out, "CPU;llvm %s;codegen %d;%s;%s;%s;%d;%lld;%lld;%lld;threads %d",
                  lz_llvm_version(), LZ_CODEGEN_VERSION, t->triple, t->cpu, t->features,
                  t->machine.vector_bytes, (long long)t->machine.l1_bytes,
                  (long long)t->machine.l2_bytes, (long long)t->machine.l3_bytes,
                  lz_workers_count());
    lz_variants_print(t, out);
    if (cpu.tune)
        lz_buf_puts(out, ";tuned");
    if (lz_cfg_is_set(
            LZ_OPT_PASSES_OFF)) /* the option changes the plan, so it is part of the key */
        lz_buf_printf(out, ";without %s", lz_cfg_str(LZ_OPT_PASSES_OFF));
}

/* ---- buffers ---- */

static lz_device_buffer *new_buffer(int device, size_t nbytes)
{
    lz_device_buffer *b = lz_device_buffer_new();
    if (b) {
        b->backend = cpu.index;
        b->device = (uint32_t)device;
        b->nbytes = nbytes;
    }
    return b;
}

static lz_status buffer_of(lz_status (*get)(int, size_t, void **, size_t *), int device,
                           size_t nbytes, lz_device_buffer **out)
{
    *out = NULL;
    lz_device_buffer *b = new_buffer(device, nbytes);
    if (!b)
        return LZ_EMEM;
    lz_status s = get(device, nbytes, &b->data, &b->capacity);
    if (s != LZ_OK)
        lz_device_buffer_recycle(b);
    else
        *out = b;
    return s;
}

lz_status lz_cpu_alloc(int device, size_t nbytes, lz_device_buffer **out)
{
    return buffer_of(lz_mem_alloc, device, nbytes, out);
}

int lz_cpu_device_of(const lz_exec_device *d, uint32_t q)
{
    return q > 0 && q < (uint32_t)cpu.devices.ndevice ? (int)q : d->index;
}

lz_status lz_cpu_alloc_result(const lz_exec_device *d, uint32_t q, size_t nbytes,
                              lz_device_buffer **out)
{
    return lz_cpu_alloc(lz_cpu_device_of(d, q), nbytes, out);
}

static lz_status alloc(int device, size_t nbytes, lz_device_buffer **out)
{
    lz_cpu_device *d;
    *out = NULL;
    LZ_TRY(get_device(device, &d));
    return lz_cpu_alloc(device, nbytes, out);
}

static lz_status zeros(int device, size_t nbytes, lz_device_buffer **out)
{
    lz_cpu_device *d;
    *out = NULL;
    LZ_TRY(get_device(device, &d));
    return buffer_of(lz_mem_zeros, device, nbytes, out);
}

static void free_buffer(lz_device_buffer *b)
{
    if (b->capacity)
        lz_mem_free((int)b->device, b->data, b->capacity);
    lz_device_buffer_recycle(b);
}

static lz_status wrap(int device, void *data, size_t nbytes, void (*release)(void *), void *user,
                      lz_device_buffer **out)
{
    lz_cpu_device *d;
    *out = NULL;
    LZ_TRY(get_device(device, &d));
    if (!data && nbytes)
        return LZ_FAIL(LZ_ENULL, "memory to borrow is NULL (%zu bytes)", nbytes);
    lz_device_buffer *b = new_buffer(device, nbytes);
    if (!b)
        return LZ_EMEM;
    b->data = data;
    b->release = release;
    b->user = user;
    *out = b;
    return LZ_OK;
}

/* ---- programs ---- */

static bool run_loops(void)
{
    return strcmp(lz_cfg_str(LZ_OPT_EXEC), "loop") == 0;
}

static void dump(int device, lz_exec *x, const char *name, const lz_cpu_times *times)
{
    lz_buf k = {0};
    key(device, &k);
    lz_cpu_dump(x, &cpu.target, name, &k, times);
    lz_buf_free(&k);
}

/* Makes an executable of a plan, which it takes over. */
static lz_status finish(int device, lz_plan *p, const lz_compile_options *o, int64_t t0,
                        lz_exec **out)
{
    int64_t t1 = lz_now_ns();
    lz_cpu_exec_options eo = {.cache = o ? o->cache : NULL,
                              .loops = run_loops(),
                              .tuned_for = cpu.tune ? cpu.processor : NULL,
                              .tune_all = cpu.tune > 1,
                              .look_up_branches = o && o->look_up_branches};
    LZ_TRY(lz_cpu_exec_new(p, &cpu.target, &cpu.dev[device], &eo, out));
    int64_t t2 = lz_now_ns();
    lz_exec_set_label(*out, o);
    if (o && o->program)
        (*out)->program = *o->program;
    (*out)->info.compile_ms = (double)(t2 - t0) * 1e-6;
    (*out)->info.lower_ms = (double)(t1 - t0) * 1e-6;
    (*out)->info.kernels_ms = (double)(t2 - t1) * 1e-6;
    lz_cpu_times times = {(double)(t1 - t0) * 1e-6, (double)(t2 - t1) * 1e-6};
    if (lz_cpu_dump_on())
        dump(device, *out, o ? o->dump_name : NULL, &times);
    return LZ_OK;
}

static lz_status lower(const lz_func *f, const lz_compile_options *o, lz_plan **out)
{
    lz_lower_options lo = {.donate = o ? o->donate : NULL,
                           .machine = cpu.target.machine,
                           .b2b = LZ_B2B_PROFITABLE,
                           .column_reductions = true,
                           .prefix_scans = true,
                           .routines = true,
                           .partitions = o ? o->partitions : 0,
                           .replicas = o && o->replicas,
                           .overlap = lz_collectives_overlap()};
    return lz_lower(f, &lo, out);
}

lz_status lz_cpu_plan(const lz_func *f, const lz_compile_options *o, lz_plan **out)
{
    lz_cpu_device *d;
    *out = NULL;
    LZ_TRY(get_device(0, &d));
    return lower(f, o, out);
}

static lz_status compile(int device, const lz_func *f, const lz_compile_options *o, lz_exec **out)
{
    lz_cpu_device *d;
    *out = NULL;
    LZ_TRY(get_device(device, &d));
    int64_t t0 = lz_now_ns();
    lz_plan *p = NULL;
    LZ_TRY(lower(f, o, &p));
    return finish(device, p, o, t0, out);
}

static lz_status serialize(lz_exec *x, lz_buf *out)
{
    lz_plan_serialize(x->plan, out);
    return out->failed ? LZ_FAIL(LZ_EMEM, "no memory to store a program") : LZ_OK;
}

static lz_status deserialize(int device, const void *p, size_t n, const lz_compile_options *o,
                             lz_exec **out)
{
    lz_cpu_device *d;
    *out = NULL;
    LZ_TRY(get_device(device, &d));
    int64_t t0 = lz_now_ns();
    lz_plan *plan = NULL;
    LZ_TRY(lz_plan_deserialize_of(p, n, o ? o->func : NULL, o ? o->donate : NULL,
                                  o ? o->partitions : 0, &plan));
    return finish(device, plan, o, t0, out);
}

static lz_status execute_partitions(lz_exec *x, int64_t n, const uint32_t *home,
                                    lz_device_buffer *const *const *in, const bool *donated,
                                    bool awaited, lz_device_buffer ***out, lz_collective_uses *uses,
                                    lz_event **done)
{
    lz_cpu_device *d;
    *done = NULL;
    LZ_TRY(get_device(0, &d));
    return lz_exec_run_partitions(x, &d->at, n, home, in, donated, awaited, out, uses, done);
}

static lz_status run(lz_exec *x, int device, lz_device_buffer *const *in, const bool *donated,
                     bool awaited, lz_device_buffer **out, lz_collective_uses *uses,
                     lz_event **done)
{
    lz_cpu_device *d;
    *done = NULL;
    LZ_TRY(get_device(device, &d));
    uint32_t all = atomic_load(&cpu.world);
    if (x->plan->partitions > (all ? all : (uint32_t)cpu.devices.ndevice))
        return LZ_FAIL(LZ_EINVAL,
                       "a program of %u partitions is run by all of them: there are %d "
                       "devices (CPU_NUM_DEVICES)",
                       x->plan->partitions, cpu.devices.ndevice);
    return lz_exec_run(x, &d->at, in, donated, awaited, out, uses, done);
}

static lz_status execute(lz_exec *x, int device, lz_device_buffer *const *in, const bool *donated,
                         bool awaited, lz_device_buffer **out, lz_event **done)
{
    return run(x, device, in, donated, awaited, out, NULL, done);
}

static lz_status execute_counting(lz_exec *x, int device, lz_device_buffer *const *in, bool awaited,
                                  lz_device_buffer **out, lz_collective_uses *uses, lz_event **done)
{
    return run(x, device, in, NULL, awaited, out, uses, done);
}

static void miss(lz_exec *x, int device)
{
    lz_cpu_device *d;
    if (get_device(device, &d) == LZ_OK)
        lz_exec_miss(x, &d->at);
}

/* ---- devices of all processes ---- */

uint32_t lz_cpu_ordinal(int device)
{
    return atomic_load(&cpu.first) + (uint32_t)device;
}

static lz_status world(int *n, int *first)
{
    uint32_t all, at;
    LZ_TRY(init());
    LZ_TRY(lz_rendezvous_world(&lz_cpu_rendezvous, (uint32_t)cpu.devices.ndevice, &all, &at));
    atomic_store(&cpu.first, at);
    atomic_store(&cpu.world, all);
    *n = (int)all;
    *first = (int)at;
    return LZ_OK;
}

static void set_left(int device, bool gone)
{
    const lz_process_info *p;
    bool alone = false;
    LZ_QUIETLY /* who asks for the world is told */
        alone = lz_process_info_get(&p) != LZ_OK || p->count == 1;
    if (alone || atomic_load(&cpu.world)) /* before processes have joined nobody waits */
        lz_rendezvous_leave(&lz_cpu_rendezvous, lz_cpu_ordinal(device), gone);
}

static void left(void *device)
{
    lz_cpu_device *d = device;
    if (atomic_load(&d->leaving)) /* else another thread has chosen it meanwhile */
        set_left(d->at.index, true);
}

/* What the thread enqueued comes first. */
static void leave(int device, bool gone)
{
    lz_cpu_device *d;
    if (get_device(device, &d) != LZ_OK)
        return;
    atomic_store(&d->leaving, gone);
    if (!gone)
        set_left(device, false);
    else if (cpu.devices.ndevice > 1)
        (void)lz_queue_push(d->at.queue, left, d, false);
}

static lz_status wait_all(int device)
{
    lz_cpu_device *d;
    LZ_TRY(get_device(device, &d));
    LZ_TRY(lz_fork_check());
    lz_queue_drain(d->at.queue);
    return LZ_OK;
}

const lz_backend lz_backend_cpu = {
    .name = "CPU",
    .host_memory = true,
    .dlpack_type = 1, /* kDLCPU */
    .init = init,
    .device_count = device_count,
    .device_info = device_info,
    .key = key,
    .alloc = alloc,
    .zeros = zeros,
    .free = free_buffer,
    .wrap = wrap,
    .copy_in = lz_device_buffer_host_in,
    .copy_out = lz_device_buffer_host_out,
    .compile = compile,
    .serialize = serialize,
    .deserialize = deserialize,
    .exec_free = lz_exec_free,
    .exec_info = lz_exec_get_info,
    .execute = execute,
    .execute_counting = execute_counting,
    .miss = miss,
    .execute_partitions = execute_partitions,
    .meets = true,
    .world = world,
    .leave = leave,
    .can_run = lz_target_runs,
    .wait_all = wait_all,
    .jit_kernels = lz_jit_kernels,
    .branch_kernels = lz_cpu_branch_kernels,
};
