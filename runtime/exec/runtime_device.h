/* runtime_device.h - a device as the runtime sees it: backend and ordinal, the lock of steps, work
 * in flight, the random seed. Made at first use, kept for the life of the process. Threads:
 * thread-safe unless said. */
#ifndef LZ_RUNTIME_EXEC_RUNTIME_DEVICE_H
#define LZ_RUNTIME_EXEC_RUNTIME_DEVICE_H
#include "backends/backend.h"
#include "base/thread.h"

enum {
    LZ_DEV_MAX = 256,
    LZ_DEV_INFLIGHT = 32, /* works in flight at which a thread waits before it adds one, */
    LZ_DEV_FLIGHTS = 256, /* and at most, of threads that came at the same time */
    LZ_DEV_SCALARS = 16
};

typedef struct lz_flight {
    lz_event *done; /* owned */
    int64_t start_ns;
    const lz_site *site;              /* of the call that started it; NULL: unknown */
    struct lz_execution_event *event; /* owned; NULL: nobody asks (runtime/debug/events.h) */
} lz_flight;
/* Device copies of recently used scalars: the same number is uploaded once. */
typedef struct lz_scalar_copy {
    const lz_type *type;
    unsigned char bytes[16];
    lz_device_buffer *buf;
} lz_scalar_copy;

/* State of the random number generator. */
typedef struct lz_rng {
    uint64_t seed, counter;
} lz_rng;

typedef struct lz_dev {
    const lz_backend *be;
    uint32_t backend;
    int ordinal;
    char name[32];           /* "CPU:0" */
    lz_buf key;              /* the backend's key bytes */
    _Atomic uint32_t chosen; /* by so many threads (lz_set_device) */
    /* recursive; held while nodes of the device are walked and enqueued, not while a program is
     * loaded or compiled (lz_program_get) */
    lz_mutex step;
    struct lz_sync_scratch *scratch; /* free scratch structs of sync.c; under step */
    /* under step: */
    lz_flight flight[LZ_DEV_FLIGHTS]; /* ring */
    uint32_t flight_head, flight_len;
    _Atomic uint32_t flying; /* flight_len, for reading without step */
    /* first error of asynchronous work that was not reported yet */
    lz_error error;
    lz_scalar_copy scalar[LZ_DEV_SCALARS];
    int64_t stepped_ns; /* when its last step ended, while a timeline is recorded; else 0 */
    /* random numbers; under rng_lock */
    lz_mutex rng_lock;
    lz_rng rng, rng_before; /* what the next operation starts from, and that of the last step */
    uint32_t rng_owner;     /* serial of who drew last, and has not stepped since; 0: nobody */
} lz_dev;

/* of the calling thread. NULL with the error recorded */
lz_dev *lz_dev_current(void);
/* "CPU:0" or "CPU". NULL with LZ_ENOENT, LZ_EUNAVAILABLE recorded */
lz_dev *lz_dev_find(const char *name);
lz_dev *lz_dev_at(uint32_t i); /* those made so far; NULL past the end */
lz_dev *lz_dev_of_buffer(const lz_device_buffer *b);

/* How many devices of its platform all processes have, and the number of this process's first. It
 * joins the others (lz_backend.world). */
lz_status lz_dev_world(const lz_dev *d, int *n, int *first);

void lz_dev_lock(lz_dev *d); /* locks step; time spent waiting counts as DeviceLockWait */
void lz_dev_unlock(lz_dev *d);
/* LZ_ESTATE on a device's thread, where only functions of the program's call the library (release
 * functions, deleters, custom calls): what they would wait for may be what the thread is doing. */
lz_status lz_dev_may_wait(void);
lz_status lz_dev_may_wait_for(const lz_device_buffer *b); /* LZ_OK too when its content is there */
/* Waits, without step, until fewer than LZ_DEV_INFLIGHT works are in flight: before the lock is
 * taken for an execution. Whoever holds step never waits for the device, whose thread may want
 * it. */
void lz_dev_make_room(lz_dev *d);
/* Adds work in flight (takes over `done` and `event`). The caller holds step. */
void lz_dev_fly(lz_dev *d, lz_event *done, int64_t start_ns, struct lz_execution_event *event);
/* Removes finished work, keeping its first error. The caller holds step. */
void lz_dev_reap(lz_dev *d);
/* Waits until all started work is finished, without holding step meanwhile. */
void lz_dev_settle(lz_dev *d);
/* Reports and forgets the kept error. The caller holds step. */
lz_status lz_dev_take_error(lz_dev *d);
/* Gives the state and advances the counter. */
lz_rng lz_dev_rng_draw(lz_dev *d, uint64_t blocks);
void lz_dev_rng_set(lz_dev *d, lz_rng r); /* counts at once */
lz_rng lz_dev_rng_get(lz_dev *d);
/* back to `was` where it still is `is` */
void lz_dev_rng_undo(lz_dev *d, lz_rng is, lz_rng was);
/* Without what another thread that lives drew since its last step. */
lz_rng lz_dev_rng_stepped(lz_dev *d);
/* The thread has stepped. */
void lz_dev_rng_step(lz_dev *d, uint32_t serial);
/* The scalar's bytes in device memory: a new reference. The caller holds step. */
lz_status lz_dev_scalar(lz_dev *d, const lz_type *type, const void *bytes, lz_device_buffer **out);
#endif
