/* loop_inplace.c - which buffer of a kernel may be written in the memory of another one.
 * Does:     marks a written buffer with the read one whose memory it may take: each element is read
 *   before it is written, by the outer point that writes it (elementwise kernels); or no point
 *   reads what another one writes (a row of an array is made of other rows of it, and the array is
 *   updated in place).
 * Cost:     O(buffers^2 x accesses).   Threads: pure. */
#include "lower/loops/to_loops.h"
#include <string.h>

static bool same_walk(const lz_kernel *k, const lz_stage *sa, const lz_access *a,
                      const lz_stage *sb, const lz_access *b)
{
    if (a->guard >= 0 || b->guard >= 0 || a->ndyn || b->ndyn || a->offset.v != b->offset.v ||
        sa->ninner != sb->ninner)
        return false;
    for (uint32_t l = 0; l < sa->ninner; l++)
        if (sa->extent[l].v != sb->extent[l].v)
            return false;
    for (uint32_t l = 0; l < k->nouter + sa->ninner; l++)
        if (a->stride[l].v != b->stride[l].v)
            return false;
    return true;
}

/* The only store to buffer w, and its stage; NULL when there are several. */
static const lz_access *only_store(const lz_kernel *k, uint32_t w, const lz_stage **st)
{
    const lz_access *found = NULL;
    for (uint32_t s = 0; s < k->nstage; s++)
        for (uint32_t i = 0; i < k->stages[s].nstore; i++) {
            if (k->stages[s].stores[i].at.buf != w)
                continue;
            if (found)
                return NULL;
            *st = &k->stages[s];
            found = &k->stages[s].stores[i].at;
        }
    return found;
}

/* ---- updates ---- */

/* An address is the sum of what says where a row is (computed indices, the offset, loops that one
 * point runs by itself) and of what says which element of it (the loops of the points). When all of
 * the former are multiples of `row`, and the latter stay below it, points meet in an element only
 * where their element numbers are the same. */
typedef struct rows {
    int64_t row;    /* greatest common divisor; 0: nothing says where */
    int64_t within; /* largest element number */
    bool fit;       /* both accesses number the elements alike */
} rows;

static void where(rows *x, int64_t by)
{
    int64_t a = x->row, b = by == INT64_MIN ? 1 : by < 0 ? -by : by;
    while (b) {
        int64_t c = a % b;
        a = b;
        b = c;
    }
    x->row = a;
}

/* Strides of loops from..from+n-1 of a stage that are run by one point. */
static void run_through(rows *x, const lz_access *a, const lz_sz *extent, uint32_t from, uint32_t n)
{
    for (uint32_t l = 0; l < n; l++)
        if (extent[l].v > 1)
            where(x, a->stride[from + l].v);
}

/* The loops whose points are told apart by their elements. */
static void tell_apart(rows *x, const lz_access *a, const lz_access *b, const lz_sz *extent,
                       uint32_t from, uint32_t n)
{
    for (uint32_t l = 0; l < n; l++) {
        int64_t by = a->stride[from + l].v, most;
        if (extent[l].v <= 1)
            continue;
        x->fit = x->fit && by == b->stride[from + l].v && by > 0 &&
                 !__builtin_mul_overflow(by, extent[l].v - 1, &most) &&
                 !__builtin_add_overflow(x->within, most, &x->within);
    }
}

/* Whether no two points of these loops have the same element number: each stride is beyond what
 * the loops of smaller strides reach. */
static bool each_its_own(const lz_access *a, const lz_sz *extent, uint32_t n)
{
    for (uint32_t l = 0; l < n; l++) {
        int64_t below = 0;
        for (uint32_t m = 0; m < n; m++)
            if (m != l && extent[m].v > 1 && a->stride[m].v <= a->stride[l].v)
                below += a->stride[m].v * (extent[m].v - 1);
        if (extent[l].v > 1 && below >= a->stride[l].v)
            return false;
    }
    return true;
}

static bool one_element(const lz_stage *st)
{
    for (uint32_t l = 0; l < st->ninner; l++)
        if (st->extent[l].v > 1)
            return false;
    return true;
}

/* Whether no point writes by w, in stage ws, what another one reads by a, in stage as, or what it
 * reads itself later. */
static bool apart(const lz_kernel *k, const lz_stage *as, const lz_access *a, const lz_stage *ws,
                  const lz_access *w)
{
    rows x = {0, 0, true};
    lz_sz extent[LZ_LOOP_MAX];
    uint32_t n = k->nouter;
    if (as > ws || (as < ws && !one_element(ws)) || a->nborder)
        return false;
    memcpy(extent, k->outer, n * sizeof *extent);
    tell_apart(&x, a, w, extent, 0, n);
    if (as == ws) {
        memcpy(extent + n, ws->extent, ws->ninner * sizeof *extent);
        tell_apart(&x, a, w, ws->extent, n, ws->ninner);
        n += ws->ninner;
    } else {
        run_through(&x, a, as->extent, n, as->ninner);
    }
    if (!x.fit || !each_its_own(a, extent, n))
        return false;
    for (uint32_t i = 0; i < a->ndyn; i++)
        where(&x, a->dyn[i].stride.v);
    for (uint32_t i = 0; i < w->ndyn; i++)
        where(&x, w->dyn[i].stride.v);
    where(&x, a->offset.v - w->offset.v);
    return x.row == 0 || x.within < x.row;
}

/* Whether buffer w is read only where it is written: something is added to it. */
static bool combines(const lz_kernel *k, uint32_t w, const lz_stage *ws, const lz_access *wa)
{
    for (uint32_t s = 0; s < k->nstage; s++)
        for (uint32_t i = 0; i < k->stages[s].nacc; i++) {
            const lz_access *a = &k->stages[s].accs[i];
            if (a->buf == w && (&k->stages[s] != ws || !apart(k, ws, a, ws, wa)))
                return false;
        }
    return true;
}

/* Kernels whose points are run one by one, each reading before it writes. */
static bool runs_points(const lz_kernel *k)
{
    for (uint32_t s = 0; s < k->nstage; s++)
        if (k->stages[s].sort)
            return false;
    return !lz_kernel_is_dot(k) && !lz_kernel_has_rows(k);
}

/* Buffer w may be buffer r: every element is read, at the latest in the stage that writes it, by
 * the outer point that writes it, or not by the others. r itself may have been written in an
 * earlier stage, at the same points. */
static bool may_replace(const lz_kernel *k, const uint32_t *buf, uint32_t w, uint32_t r)
{
    const lz_stage *ws = NULL, *rs = NULL;
    bool points = runs_points(k) && !k->buf[r].written;
    if (k->buf[w].dtype != k->buf[r].dtype || !k->buf[r].read || !k->buf[w].written)
        return false;
    for (uint32_t i = 0; i < k->nbuf; i++)
        if (i != r && buf[i] == buf[r]) /* seen through another dtype too */
            return false;
    const lz_access *wa = only_store(k, w, &ws);
    if (!wa || (k->buf[w].read && !(points && combines(k, w, ws, wa))))
        return false;
    if (k->buf[r].written) {
        const lz_access *ra = only_store(k, r, &rs);
        if (!ra || rs >= ws || !same_walk(k, rs, ra, ws, wa))
            return false;
    }
    for (uint32_t s = 0; s < k->nstage; s++)
        for (uint32_t i = 0; i < k->stages[s].nacc; i++) {
            const lz_access *a = &k->stages[s].accs[i];
            if (a->buf == r && (&k->stages[s] > ws || !same_walk(k, &k->stages[s], a, ws, wa)) &&
                !(points && apart(k, &k->stages[s], a, ws, wa)))
                return false;
        }
    return true;
}

void lz_loops_inplace(lz_kernel *k, const uint32_t *buf, const uint32_t *prefer)
{
    bool taken[LZ_KBUF_MAX] = {false};
    for (int round = 0; round < 3;
         round++) /* rows kept for this kernel alone, then wishes, then whatever is legal */
        for (uint32_t w = 0; w < k->nbuf; w++) {
            if (!k->buf[w].written || k->buf[w].inplace_ok)
                continue;
            for (uint32_t r = 0; r < k->nbuf; r++) {
                bool wished = prefer && prefer[buf[w]] == buf[r];
                if (taken[r] || (round == 0 && !k->buf[r].written) || (round == 1 && !wished) ||
                    !may_replace(k, buf, w, r))
                    continue;
                k->buf[w].inplace_ok = true;
                k->buf[w].inplace_with = (int32_t)r;
                taken[r] = true;
                break;
            }
        }
}
