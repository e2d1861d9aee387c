/* slabs.c - see slabs.h. Free ranges are listed beside the memory, by address: free memory is not
 * written to. */
#include "backends/cpu/slabs.h"
#include "base/alloc.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct range {
    char *p;
    size_t n;
} range;

static range
    *gap; /* free ranges of all slabs, by ascending address; neighbours within a slab are merged */
static uint32_t ngap, room;
static uint32_t nslab;

/* Maps n bytes at a multiple of `align`, of huge pages where the system has them. */
static char *map_aligned(size_t n, size_t align)
{
    size_t all = n + align;
    char *p = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    char *at = (char *)LZ_ALIGN_UP((uintptr_t)p, align), *end = at + n;
    if (at > p)
        munmap(p, (size_t)(at - p));
    if (p + all > end)
        munmap(end, (size_t)(p + all - end));
    (void)madvise(at, n, MADV_HUGEPAGE);
    return at;
}

void *lz_map_huge(size_t n)
{
    return map_aligned(n, LZ_HUGE_PAGE);
}

/* Slabs are aligned to their size, so an address gives its slab. */
static char *new_slab(void)
{
    return map_aligned(LZ_SLAB_BYTES, LZ_SLAB_BYTES);
}

static bool same_slab(const char *a, const char *b)
{
    return (uintptr_t)a / LZ_SLAB_BYTES == (uintptr_t)b / LZ_SLAB_BYTES;
}

static void drop_gap(uint32_t i)
{
    memmove(&gap[i], &gap[i + 1], (--ngap - i) * sizeof *gap);
}

/* Makes room for one more free range. */
static bool reserve(void)
{
    if (ngap < room)
        return true;
    uint32_t more = room ? 2 * room : 64;
    range *g = lz_realloc(gap, more * sizeof *g);
    if (!g)
        return false;
    gap = g;
    room = more;
    return true;
}

static void insert(uint32_t i, char *p, size_t n)
{
    memmove(&gap[i + 1], &gap[i], (ngap++ - i) * sizeof *gap);
    gap[i] = (range){p, n};
}

/* The first free range behind p. */
static uint32_t behind(const char *p)
{
    uint32_t lo = 0, hi = ngap;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (gap[mid].p < p)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

void *lz_slab_cut(size_t n)
{
    uint32_t i = 0;
    while (i < ngap && gap[i].n < n)
        i++;
    if (i == ngap) {
        char *p = reserve() ? new_slab() : NULL;
        if (!p)
            return NULL;
        nslab++;
        i = behind(p);
        insert(i, p, LZ_SLAB_BYTES);
    }
    char *p = gap[i].p;
    gap[i].p += n;
    gap[i].n -= n;
    if (gap[i].n == 0)
        drop_gap(i);
    return p;
}

/* Whole pages go back to the system. Where they are larger than ours (64 KiB on some AArch64), the
 * first and the last one may belong to neighbours, too, and the system would take all of them. */
static void empty(char *p, size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *end = p + n, *first = (char *)LZ_ALIGN_UP((uintptr_t)p, page),
         *last = (char *)((uintptr_t)end / page * page);
    if (first >= last) {
        memset(p, 0, n);
        return;
    }
    memset(p, 0, (size_t)(first - p));
    memset(last, 0, (size_t)(end - last));
    n = (size_t)(last - first);
    if (madvise(first, n, MADV_DONTNEED) != 0) /* mlocked pages stay resident */
        memset(first, 0, n);
}

void lz_slab_give(void *block, size_t n)
{
    char *p = block;
    uint32_t i = behind(p);
    empty(p, n);
    if (i > 0 && gap[i - 1].p + gap[i - 1].n == p && same_slab(gap[i - 1].p, p))
        gap[--i].n += n;
    else if (reserve())
        insert(i, p, n);
    else
        return; /* only the address range is lost */
    if (i + 1 < ngap && gap[i].p + gap[i].n == gap[i + 1].p && same_slab(p, gap[i + 1].p)) {
        gap[i].n += gap[i + 1].n;
        drop_gap(i + 1);
    }
    if (gap[i].n < LZ_SLAB_BYTES)
        return;
    munmap(gap[i].p, LZ_SLAB_BYTES);
    drop_gap(i);
    if (--nslab == 0) {
        lz_free(gap);
        gap = NULL;
        room = 0;
    }
}

void lz_slab_count(uint32_t *slabs, uint32_t *gaps)
{
    *slabs = nslab;
    *gaps = ngap;
}
