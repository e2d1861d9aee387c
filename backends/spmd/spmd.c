/* spmd.c - the virtual device SPMD:0: all devices of the platform that PJRT_DEVICE names. Threads:
 * thread-safe. */
#include "backends/spmd/spmd.h"
#include "backends/distributed/launcher.h"
#include "base/alloc.h"
#include "base/config.h"
#include "base/fork.h"
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

lz_spmd_devices lz_spmd;
static lz_mutex init_lock = LZ_MUTEX_INIT("spmd");
static atomic_bool started;

static lz_status make_numbers(const lz_backend *be, int n, int first, lz_device_buffer **out)
{
    for (int l = 0; l < n; l++) {
        uint32_t number = (uint32_t)(first + l);
        LZ_TRY(be->alloc(l, sizeof number, &out[l]));
        LZ_TRY(be->copy_in(out[l], &number, sizeof number));
    }
    return LZ_OK;
}

/* The platform whose devices these are. */
static lz_status find_inner(const lz_backend **out)
{
    const char *name = lz_cfg_str(LZ_OPT_PJRT_DEVICE);
    const lz_backend *be = name[0] ? lz_backend_of(name) : lz_backend_at(0);
    if (!be)
        return LZ_FAIL(LZ_ENOENT, "SPMD: PJRT_DEVICE is \"%.40s\": there is no such platform",
                       name);
    if (be->partitions || !be->execute_partitions)
        return LZ_FAIL(LZ_EUNAVAILABLE, "SPMD: programs of %s run on one device", be->name);
    *out = be;
    return be->init();
}

/* How many devices there are in all processes, which join here, and the first of this one's. */
static lz_status find_all(const lz_backend *be, int *n, int *first)
{
    const lz_process_info *p;
    LZ_TRY(lz_process_info_get(&p));
    *n = be->device_count();
    *first = 0;
    if (p->count <= 1)
        return LZ_OK;
    if (!be->world || !be->miss)
        return LZ_FAIL(LZ_EUNSUPPORTED,
                       "SPMD: this is one of %d processes (%s), and the devices of several %s are "
                       "no virtual device: LAZULI_LAUNCHER=none makes one of each process's",
                       p->count, lz_launcher_name(p->launcher), be->name);
    return be->world(n, first);
}

static lz_status start(void)
{
    extern const lz_backend lz_backend_spmd;
    const lz_backend *be = NULL;
    int all, first;
    LZ_TRY(find_inner(&be));
    LZ_TRY(find_all(be, &all, &first));
    int n = be->device_count();
    lz_device_buffer **numbers = lz_calloc((size_t)n + 1, sizeof(lz_device_buffer *));
    lz_status s =
        numbers ? make_numbers(be, n, first, numbers) : LZ_FAIL(LZ_EMEM, "SPMD: no memory");
    if (s != LZ_OK) {
        for (int l = 0; numbers && l < n; l++)
            lz_device_buffer_release(numbers[l]);
        lz_free(numbers);
        return s;
    }
    lz_spmd =
        (lz_spmd_devices){be, all, first, n, (uint32_t)lz_backend_index(&lz_backend_spmd), numbers};
    atomic_store(&started, true);
    return LZ_OK;
}

static lz_status spmd_init(void)
{
    LZ_TRY(lz_fork_check());
    if (atomic_load(&started))
        return LZ_OK;
    lz_mutex_lock(&init_lock);
    lz_status s = atomic_load(&started) ? LZ_OK : start();
    lz_mutex_unlock(&init_lock);
    return s;
}

static int spmd_device_count(void)
{
    return spmd_init() == LZ_OK ? 1 : 0;
}

static int64_t spmd_partitions(void)
{
    return lz_spmd.n;
}

static void spmd_local_devices(int64_t *first, int64_t *n)
{
    *first = lz_spmd.first;
    *n = lz_spmd.nlocal;
}

/* One of its devices; memory is of all those of this process. */
static lz_status spmd_device_info(int device, lz_device_info *out)
{
    (void)device;
    lz_device_info one;
    LZ_TRY(spmd_init());
    LZ_TRY(lz_spmd.be->device_info(0, out));
    int at = snprintf(out->details, sizeof out->details, "%" PRId64 " devices of %s", lz_spmd.n,
                      lz_spmd.be->name);
    if (lz_spmd_is_multiprocess())
        snprintf(out->details + at, sizeof out->details - (size_t)at,
                 ", %" PRId64 " of this process, from number %" PRId64 " on", lz_spmd.nlocal,
                 lz_spmd.first);
    for (int64_t l = 1; l < lz_spmd.nlocal; l++) {
        LZ_TRY(lz_spmd.be->device_info((int)l, &one));
        out->memory_limit += one.memory_limit;
        out->memory_used += one.memory_used;
        out->memory_peak += one.memory_peak;
    }
    return LZ_OK;
}

static void spmd_key(int device, lz_buf *out)
{
    enum { FORMAT = 3 }; /* of what is stored; see spmd_exec.c */
    (void)device;
    /* Groups of collectives are of devices where these are of several processes. */
    lz_buf_printf(out, "SPMD/%d %" PRId64 "%s%s of ", FORMAT, lz_spmd.n,
                  lz_spmd_is_multiprocess() ? " by device" : "",
                  lz_collectives_overlap() ? " overlapped" : "");
    lz_spmd.be->key(0, out);
}

static lz_status spmd_wait_all(int device)
{
    (void)device;
    LZ_TRY(spmd_init());
    for (int64_t l = 0; l < lz_spmd.nlocal; l++)
        LZ_TRY(lz_spmd.be->wait_all((int)l));
    return LZ_OK;
}

extern const lz_backend lz_backend_spmd;
const lz_backend lz_backend_spmd = {
    .name = "SPMD",
    .init = spmd_init,
    .device_count = spmd_device_count,
    .device_info = spmd_device_info,
    .key = spmd_key,
    .alloc = lz_spmd_alloc,
    .zeros = lz_spmd_zeros,
    .free = lz_spmd_free,
    .copy_in = lz_spmd_copy_in,
    .copy_out = lz_spmd_copy_out,
    .compile = lz_spmd_compile,
    .serialize = lz_spmd_serialize,
    .deserialize = lz_spmd_deserialize,
    .exec_free = lz_spmd_exec_free,
    .exec_info = lz_spmd_exec_info,
    .execute = lz_spmd_execute,
    .wait_all = spmd_wait_all,
    .partitions = spmd_partitions,
    .local_devices = spmd_local_devices,
    .placement = lz_spmd_placement,
    .input_placement = lz_spmd_input_placement,
    .placement_is_chosen = lz_spmd_is_chosen,
    .from_parts = lz_spmd_from_parts,
    .read_part = lz_spmd_read_part,
};
