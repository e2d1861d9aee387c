/* device_table.h - the start of a backend and the numbering of its devices: started once, by the
 * first caller that needs a device; a start that failed is tried again by the next one.
 * Threads: thread-safe. */
#ifndef LZ_BACKENDS_COMMON_DEVICE_TABLE_H
#define LZ_BACKENDS_COMMON_DEVICE_TABLE_H
#include "base/mutex.h"
#include "base/status.h"
#include <stdatomic.h>
#include <stdbool.h>

typedef struct lz_device_table {
    const char *platform;     /* "CPU" */
    lz_status (*start)(void); /* starts the devices and sets ndevice; never twice at a time */
    lz_mutex starting;        /* held while start runs */
    atomic_bool ready;        /* start has succeeded: ndevice and the devices stay as they are */
    int ndevice;
} lz_device_table;
#define LZ_DEVICE_TABLE_INIT(name, fn)                                                             \
    {                                                                                              \
        .platform = (name), .start = (fn), .starting = LZ_MUTEX_INIT("device_table")               \
    }

static inline bool lz_devices_ready(const lz_device_table *t)
{
    return atomic_load_explicit(&((lz_device_table *)t)->ready, memory_order_acquire);
}

/* lz_backend.init */
static inline lz_status lz_devices_start(lz_device_table *t)
{
    if (__builtin_expect(lz_devices_ready(t), 1))
        return LZ_OK;
    lz_mutex_lock(&t->starting);
    lz_status s = lz_devices_ready(t) ? LZ_OK : t->start();
    if (s == LZ_OK)
        atomic_store_explicit(&t->ready, true, memory_order_release);
    lz_mutex_unlock(&t->starting);
    return s;
}

/* lz_backend.device_count */
static inline int lz_devices_count(lz_device_table *t)
{
    return lz_devices_start(t) == LZ_OK ? t->ndevice : 0;
}

/* LZ_ENOENT when there is no device of this number. Starts the backend. */
static inline lz_status lz_devices_check(lz_device_table *t, int device)
{
    LZ_TRY(lz_devices_start(t));
    if (device < 0 || device >= t->ndevice)
        return LZ_FAIL(LZ_ENOENT, "device %s:%d: there are %d", t->platform, device, t->ndevice);
    return LZ_OK;
}
#endif
