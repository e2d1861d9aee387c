/* cpu_mem.c - see cpu_mem.h. One lock: an allocation pops a block from a free list, for which it is
 * a leaf; memory goes to the system and comes from it while it is held as others are. Free blocks
 * are linked through their first bytes; under the address sanitizer the rest of them is poisoned
 * (not the link: the leak detector follows it). */
#include "backends/cpu/cpu_mem.h"
#include "backends/cpu/slabs.h"
#include "base/alloc.h"
#include "base/config.h"
#include "base/timeline/timeline.h"
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
enum { BETWEEN = LZ_SLAB_PAGE }; /* gap behind each block of a slab, which finds overruns */
#else
enum { BETWEEN = 0 };
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

enum {
    ALIGN = 64,
    FINE_BITS = 3, /* classes per power of two: 8 */
    MIN_BITS = 9,  /* below 512 bytes: multiples of 64 */
    MAX_BITS = 48,
    CLASSES = 8 + (MAX_BITS - MIN_BITS) * 8
};

typedef struct block {
    struct block *next;
} block;

static lz_mutex lock = LZ_MUTEX_INIT("cpu_mem");
static block *waiting[CLASSES];
static uint64_t waiting_bytes, used_all, peak_all;
static struct {
    uint64_t used, peak, allocs, reuses;
} dev[LZ_MEM_DEVICES];

/* ---- classes ---- */

/* The size class for n bytes and its size: the next multiple of an eighth of the power of two
 * below. */
static int class_of(size_t n, size_t *size)
{
    if (n <= (size_t)1 << MIN_BITS) {
        size_t i = n ? (n - 1) / ALIGN : 0;
        *size = (i + 1) * ALIGN;
        return (int)i;
    }
    int bits = 63 - __builtin_clzll(n - 1); /* 2^bits < n <= 2^(bits+1) */
    size_t grain = (size_t)1 << (bits - FINE_BITS);
    size_t i = (n - 1 - ((size_t)1 << bits)) / grain;
    *size = ((size_t)1 << bits) + (i + 1) * grain;
    return bits < MAX_BITS ? 8 + (bits - MIN_BITS) * 8 + (int)i : -1;
}

/* ---- the system's memory ---- */

/* From here on sizes are multiples of a page. */
static const size_t cut_from = 64 << 10, map_from = 16 << 20;

/* A block from the heap stores the address of its allocation in front of it. */
static void *from_heap(size_t size)
{
    char *raw = lz_alloc(size + ALIGN + sizeof raw);
    if (!raw)
        return NULL;
    char *p = (char *)LZ_ALIGN_UP((uintptr_t)raw + sizeof raw, ALIGN);
    memcpy(p - sizeof raw, &raw, sizeof raw);
    return p;
}

static void *from_slab(size_t size)
{
    char *p = lz_slab_cut(size + BETWEEN);
    if (p)
        ASAN_POISON_MEMORY_REGION(p + size, BETWEEN);
    return p;
}

static void *fresh(size_t size)
{
    return size >= map_from   ? lz_map_huge(size)
           : size >= cut_from ? from_slab(size)
                              : from_heap(size);
}

static void give_up(void *p, size_t size)
{
    ASAN_UNPOISON_MEMORY_REGION(p, size);
    if (size >= map_from) {
        munmap(p, size);
        return;
    }
    if (size >= cut_from) {
        ASAN_UNPOISON_MEMORY_REGION((char *)p + size, BETWEEN);
        lz_slab_give(p, size + BETWEEN);
        return;
    }
    void *raw;
    memcpy(&raw, (char *)p - sizeof raw, sizeof raw);
    lz_free(raw);
}

/* Less free memory than this is not returned to the system: a small program would allocate it again
 * in the next step. */
enum { KEEP_MIN = 1 << 20 };

/* ---- the pool; all under lock ---- */

/* For timelines. Programs of many small kernels come here more often than anywhere else. */
static void count_used(int device)
{
    static char names[LZ_MEM_DEVICES][32];
    if (!lz_timeline_on())
        return;
    if (!names[device][0])
        snprintf(names[device], sizeof names[device], "CPU:%d memory", device);
    lz_timeline_quantity(names[device], (int64_t)dev[device].used);
}

static size_t class_size(int c)
{
    if (c < 8)
        return (size_t)(c + 1) * ALIGN;
    int bits = MIN_BITS + (c - 8) / 8;
    return ((size_t)1 << bits) + (((size_t)((c - 8) % 8) + 1) << (bits - FINE_BITS));
}

/* Returns free blocks to the system, the large ones first, until at most `keep` bytes are left. */
static void trim_to(uint64_t keep)
{
    for (int c = CLASSES - 1; c >= 0 && waiting_bytes > keep; c--) {
        size_t size = class_size(c);
        while (waiting[c] && waiting_bytes > keep) {
            block *b = waiting[c];
            waiting[c] = b->next;
            waiting_bytes -= size;
            give_up(b, size);
        }
    }
}

static uint64_t limit_bytes(void)
{
    return (uint64_t)lz_cfg_int(LZ_OPT_DEVICE_MEM_LIMIT_MB) << 20;
}

static void *pop(int c, size_t size)
{
    block *b = waiting[c];
    if (b) {
        ASAN_UNPOISON_MEMORY_REGION(b, size);
        waiting[c] = b->next;
        waiting_bytes -= size;
    }
    return b;
}

static void *take(int c, size_t size, bool *reused)
{
    void *p = pop(c, size);
    *reused = p != NULL;
    if (p)
        return p;
    p = fresh(size);
    if (!p && waiting_bytes) { /* another class may hold the missing bytes */
        trim_to(0);
        p = fresh(size);
    }
    return p;
}

static lz_status no_memory(int device, size_t nbytes, uint64_t limit)
{
    uint64_t used = dev[device].used;
    if (limit)
        return LZ_FAIL(LZ_EDEVMEM,
                       "CPU:%d: no room for %zu bytes: %" PRIu64 " of %" PRIu64
                       " bytes are used (LAZULI_DEVICE_MEMORY_MB)",
                       device, nbytes, used, limit);
    return LZ_FAIL(LZ_EDEVMEM, "CPU:%d: the system gives no %zu bytes; %" PRIu64 " are used",
                   device, nbytes, used);
}

static void account(int device, size_t size, bool reused)
{
    dev[device].used += size;
    dev[device].allocs++;
    dev[device].reuses += reused;
    if (dev[device].used > dev[device].peak)
        dev[device].peak = dev[device].used;
    used_all += size;
    if (used_all > peak_all)
        peak_all = used_all;
}

static bool is_full(int device, size_t size, uint64_t limit)
{
    return limit && dev[device].used + size > limit;
}

/* ---- allocating and freeing ---- */

/* A block that waits, in a few instructions. */
static void *take_waiting(int device, int c, size_t size, uint64_t limit)
{
    lz_mutex_lock_leaf(&lock);
    void *p = c < 0 || is_full(device, size, limit) ? NULL : pop(c, size);
    if (p)
        account(device, size, true);
    lz_mutex_unlock_leaf(&lock);
    return p;
}

static void *take_any(int device, int c, size_t size, uint64_t limit, bool *reused)
{
    void *p = c < 0 || is_full(device, size, limit) ? NULL : take(c, size, reused);
    if (p)
        account(device, size, *reused);
    return p;
}

static lz_status try_to(int device, size_t nbytes, void **out, size_t *capacity, bool *clean)
{
    *out = NULL;
    if (device < 0 || device >= LZ_MEM_DEVICES)
        return LZ_FAIL(LZ_EINVAL, "there is no device CPU:%d", device);
    size_t size = 0;
    int c = nbytes > (size_t)1 << (MAX_BITS - 1) ? -1 : class_of(nbytes, &size);
    uint64_t limit = limit_bytes();
    void *p = take_waiting(device, c, size, limit);
    bool reused = p != NULL;
    lz_status s = LZ_OK;
    if (!p || limit || lz_timeline_on()) {
        lz_mutex_lock(&lock);
        p = p ? p : take_any(device, c, size, limit, &reused);
        if (p)
            count_used(device);
        else
            s = no_memory(device, nbytes, is_full(device, size, limit) ? limit : 0);
        if (p && limit && used_all + waiting_bytes > limit)
            trim_to(limit > used_all ? limit - used_all : 0);
        lz_mutex_unlock(&lock);
    }
    *out = p;
    *capacity = size;
    *clean = !reused && size >= cut_from;
    return s;
}

static bool (*_Atomic give_back)(int device);

void lz_mem_on_shortage(bool (*give)(int device))
{
    atomic_store(&give_back, give);
}

/* *clean: the block is still zero from the system. */
static lz_status hand_out(int device, size_t nbytes, void **out, size_t *capacity, bool *clean)
{
    lz_status s = try_to(device, nbytes, out, capacity, clean);
    bool (*give)(int) = atomic_load(&give_back);
    if (s != LZ_EDEVMEM || !give || !give(device))
        return s;
    s = try_to(device, nbytes, out, capacity, clean);
    if (s == LZ_OK)
        lz_error_clear();
    return s;
}

lz_status lz_mem_alloc(int device, size_t nbytes, void **out, size_t *capacity)
{
    bool clean;
    return hand_out(device, nbytes, out, capacity, &clean);
}

lz_status lz_mem_grow(int device, size_t need, void **p, size_t *capacity)
{
    if (*capacity >= need)
        return LZ_OK;
    lz_mem_free(device, *p, *capacity);
    *p = NULL;
    *capacity = 0;
    size_t cap = 0;
    LZ_TRY(lz_mem_alloc(device, need, p, &cap));
    *capacity = cap;
    return LZ_OK;
}

lz_status lz_mem_zeros(int device, size_t nbytes, void **out, size_t *capacity)
{
    bool clean;
    LZ_TRY(hand_out(device, nbytes, out, capacity, &clean));
    if (!clean)
        memset(*out, 0, nbytes);
    return LZ_OK;
}

static bool waits_much(void)
{
    return waiting_bytes > peak_all && waiting_bytes > KEEP_MIN;
}

void lz_mem_free(int device, void *p, size_t capacity)
{
    if (!p)
        return;
    size_t size = 0;
    int c = class_of(capacity, &size);
    LZ_DCHECK(size == capacity);
    lz_mutex_lock_leaf(&lock);
    block *b = p;
    b->next = waiting[c];
    waiting[c] = b;
    waiting_bytes += size;
    dev[device].used -= size;
    used_all -= size;
    ASAN_POISON_MEMORY_REGION(b + 1, size - sizeof *b);
    bool much = waits_much();
    lz_mutex_unlock_leaf(&lock);
    if (!much && !lz_timeline_on())
        return;
    lz_mutex_lock(&lock);
    count_used(device);
    if (waits_much())
        trim_to(peak_all > KEEP_MIN ? peak_all : KEEP_MIN);
    lz_mutex_unlock(&lock);
}

void lz_mem_get_stats(int device, lz_mem_stats *out)
{
    memset(out, 0, sizeof *out);
    if (device < 0 || device >= LZ_MEM_DEVICES)
        return;
    lz_mutex_lock(&lock);
    out->used = dev[device].used;
    out->peak = dev[device].peak;
    out->allocs = dev[device].allocs;
    out->reuses = dev[device].reuses;
    out->waiting = waiting_bytes;
    lz_slab_count(&out->slabs, &out->gaps);
    lz_mutex_unlock(&lock);
    out->limit = limit_bytes();
}

void lz_mem_trim(void)
{
    lz_mutex_lock(&lock);
    trim_to(0);
    lz_mutex_unlock(&lock);
}
