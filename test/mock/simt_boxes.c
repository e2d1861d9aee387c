/* simt_boxes.c - boxes of tensors that NVIDIA's processors copy to shared memory by themselves
 * (cp.async.bulk.tensor), and the barriers in shared memory that tell of it (mbarrier), on this
 * processor, as the manual of PTX says. A copy is done when nobody can go on without one, the
 * oldest or the newest first; what it will overwrite is spoilt when it is asked for. Threads: one
 * launch at a time. */
#include "test/mock/simt_warp.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { PENDING = 128, ROW = 128, CHUNK = 16, MAGIC = 0x5b, MAP_MAGIC = 0x70616d74 };

/* ---- maps ---- */

/* What the stand-in makes of a tensor map; the driver's is its own business. */
typedef struct map {
    uint32_t magic, rank, bytes; /* bytes: of an element */
    const char *at;
    uint64_t size[SIMT_MAP_RANK], stride[SIMT_MAP_RANK - 1];
    uint32_t box[SIMT_MAP_RANK];
} map;
_Static_assert(sizeof(map) <= SIMT_MAP_BYTES, "a map has room for it");

bool emu_map_make(void *out, uint32_t bytes, uint32_t rank, const void *at, const uint64_t *size,
                  const uint64_t *stride, const uint32_t *box, const uint32_t *steps)
{
    map m = {MAP_MAGIC, rank, bytes, at, {0}, {0}, {0}};
    if (rank < 1 || rank > SIMT_MAP_RANK || (uintptr_t)at % 16 || (uintptr_t)out % 64 ||
        box[0] * bytes > ROW)
        return false;
    for (uint32_t i = 0; i < rank; i++) {
        if (!size[i] || size[i] > UINT64_C(1) << 32 || !box[i] || box[i] > 256 || steps[i] != 1)
            return false;
        if (i && (!stride[i - 1] || stride[i - 1] % 16 || stride[i - 1] >= UINT64_C(1) << 40))
            return false;
        m.size[i] = size[i];
        m.box[i] = box[i];
        if (i)
            m.stride[i - 1] = stride[i - 1];
    }
    memset(out, 0, SIMT_MAP_BYTES);
    memcpy(out, &m, sizeof m);
    return true;
}

/* ---- barriers ---- */

typedef struct phase {
    uint8_t magic, arrivals, left, parity; /* parity: of the phase that is not over */
    int32_t bytes;                         /* that will still come */
} phase;
_Static_assert(sizeof(phase) == 8, "64 bits of shared memory");

static phase *checked(phase *p)
{
    if (p->magic != MAGIC)
        abort(); /* nobody has initialised it */
    return p;
}

static void end_if_over(phase *p)
{
    if (p->left || p->bytes)
        return;
    p->parity ^= 1;
    p->left = p->arrivals;
}

void lz_simt_phase_init(phase *p, uint32_t arrivals);
void lz_simt_phase_init(phase *p, uint32_t arrivals)
{
    *p = (phase){MAGIC, (uint8_t)arrivals, (uint8_t)arrivals, 0, 0};
}

static void arrive(phase *p)
{
    if (!checked(p)->left)
        abort(); /* more than there are */
    p->left--;
    emu_went_on();
    end_if_over(p);
}

/* What is at `p` in this block, in block `rank` of the cluster. */
static void *there(const lz_simt_thread *t, void *p, uint32_t rank)
{
    if (rank >= t->ranks || emu_block_over(rank))
        abort();
    return (char *)p + ((ptrdiff_t)rank - (ptrdiff_t)t->rank) * (ptrdiff_t)t->apart;
}

void lz_simt_phase_arrive(lz_simt_thread *t, phase *p, uint32_t rank);
void lz_simt_phase_arrive(lz_simt_thread *t, phase *p, uint32_t rank)
{
    arrive(there(t, p, rank));
}

void lz_simt_phase_expect(phase *p, uint32_t bytes);
void lz_simt_phase_expect(phase *p, uint32_t bytes)
{
    checked(p)->bytes += (int32_t)bytes;
    arrive(p);
}

void lz_simt_phase_wait(lz_simt_thread *t, phase *p, uint32_t parity);
void lz_simt_phase_wait(lz_simt_thread *t, phase *p, uint32_t parity)
{
    (void)t;
    while (((volatile phase *)checked(p))->parity == parity)
        emu_yield();
    emu_went_on();
}

/* ---- boxes ---- */

typedef struct box {
    char *to;
    map m;
    phase *full;
    uint32_t rank; /* of the block that it comes to */
    int32_t at[SIMT_MAP_RANK];
} box;
static box boxes[PENDING];
static uint32_t nboxes;

void emu_boxes_reset(void)
{
    nboxes = 0;
}

bool emu_boxes_left(void)
{
    return nboxes != 0;
}

static uint32_t elements(const map *m)
{
    uint32_t n = 1;
    for (uint32_t i = 0; i < m->rank; i++)
        n *= m->box[i];
    return n;
}

static uint32_t bytes_of(const map *m)
{
    return m->bytes * elements(m);
}

/* The swizzle exchanges bits 4-6 of an address in shared memory by bits 7-9. */
static char *swizzled(char *to, uint32_t byte)
{
    uintptr_t at = (uintptr_t)to + byte;
    return (char *)(at ^ (at >> 7 & 7) << 4);
}

/* Element e of the box; outside of the tensor it is 0. */
static uint32_t element(const box *b, uint32_t e)
{
    uint32_t v = 0;
    const char *from = b->m.at;
    for (uint32_t i = 0; i < b->m.rank; i++) {
        int64_t x = b->at[i] + (int64_t)(e % b->m.box[i]);
        e /= b->m.box[i];
        if (x < 0 || x >= (int64_t)b->m.size[i])
            return 0;
        from += (uint64_t)x * (i ? b->m.stride[i - 1] : b->m.bytes);
    }
    memcpy(&v, from, b->m.bytes);
    return b->m.bytes == sizeof v ? emu_round_tf32(v) : v;
}

bool emu_boxes_come(bool newest)
{
    if (!nboxes)
        return false;
    uint32_t i = newest ? nboxes - 1 : 0;
    box b = boxes[i];
    if (emu_block_over(b.rank))
        abort(); /* there is no such memory any more */
    memmove(&boxes[i], &boxes[i + 1], (--nboxes - i) * sizeof *boxes);
    for (uint32_t e = 0; e < elements(&b.m); e++) {
        uint32_t v = element(&b, e);
        memcpy(swizzled(b.to, b.m.bytes * e), &v, b.m.bytes);
    }
    checked(b.full)->bytes -= (int32_t)bytes_of(&b.m);
    end_if_over(b.full);
    return true;
}

static void ask(uint32_t rank, char *to, const map *m, phase *full, const int32_t *at)
{
    if ((uintptr_t)to % (8 * ROW) || nboxes == PENDING)
        abort();
    checked(full);
    boxes[nboxes] = (box){.to = to, .m = *m, .full = full, .rank = rank};
    memcpy(boxes[nboxes++].at, at, sizeof boxes->at);
    memset(to, 0xA5, bytes_of(m));
}

void lz_simt_copy_box(lz_simt_thread *t, uint32_t all, char *to, const map *m, phase *full,
                      int32_t c0, int32_t c1, int32_t c2, int32_t c3, int32_t c4);
void lz_simt_copy_box(lz_simt_thread *t, uint32_t all, char *to, const map *m, phase *full,
                      int32_t c0, int32_t c1, int32_t c2, int32_t c3, int32_t c4)
{
    const int32_t at[SIMT_MAP_RANK] = {c0, c1, c2, c3, c4};
    if (m->magic != MAP_MAGIC || (all && t->ranks != SIMT_CLUSTER))
        abort();
    if (!all)
        ask(t->rank, to, m, full, at);
    for (uint32_t r = 0; r < t->ranks && all; r++)
        ask(r, there(t, to, r), m, there(t, full, r), at);
    emu_went_on();
}

void *emu_boxes_symbol(const char *name)
{
    static const struct {
        const char *name;
        void (*fn)(void);
    } all[] = {{"lz_simt_phase_init", (void (*)(void))lz_simt_phase_init},
               {"lz_simt_phase_arrive", (void (*)(void))lz_simt_phase_arrive},
               {"lz_simt_phase_expect", (void (*)(void))lz_simt_phase_expect},
               {"lz_simt_phase_wait", (void (*)(void))lz_simt_phase_wait},
               {"lz_simt_copy_box", (void (*)(void))lz_simt_copy_box}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(name, all[i].name) == 0)
            return (void *)(uintptr_t)all[i].fn;
    return NULL;
}
