/* to_loops_padding.c - tells a dot's kernel where its operands are padding, so that the code
 * generator can skip it (implicit GEMM of a padded convolution).
 * Does:      a load from an array padded with zeros gets a padding predicate (`border` in loop.h)
 *   for each padded dimension that one outer and one inner loop traverse: windows over pixels.
 * Needs:     a group that is one dot.
 * Invariant: the window is no longer than the extent it slides over. Where pixels are contracted
 *   (a gradient by the kernel) there is no predicate: it would skip single steps only.
 * Cost:      O(loads x rank).   Threads: pure. */
#include "base/alloc.h"
#include "lower/loops/elemental.h"
#include "lower/loops/loop_impl.h"
#include "lower/loops/to_loops_impl.h"
#include <string.h>

/* The array v is another one with zeros around it. */
static const lz_attr_pad *zeros_around(const lz_func *f, lz_val v)
{
    const lz_inst *in = &f->insts[v];
    uint64_t bits = 1;
    if (!in->sig->attr || in->sig->attr->kind != LZ_ATTR_pad)
        return NULL;
    return lz_val_splat(f, in->opnd[1], &bits) && bits == 0 ? LZ_ATTR(pad, in->sig->attr) : NULL;
}

/* ix = by * (an outer loop) + step * (an inner one) + a constant, and nothing else. The outer one
 * may still be two, which count on from one to the next. */
static bool walked_by_two(const lz_group_build *b, const lz_ix *ix, lz_border *to)
{
    const lz_axes *ax = &b->e.ax;
    uint32_t outer = 0, inner = 0;
    int64_t length = 1;
    for (uint32_t l = 0; l < ax->n; l++) {
        if (ix->k[l] == 0)
            continue;
        bool within = l >= b->g->nouter, next = outer == 1 && l == to->outer + 1;
        if (ix->k[l] < 0 || (within ? inner > 0 : outer && !next))
            return false;
        if (within) {
            inner++;
            to->inner = l;
            to->step = lz_sz_of(ix->k[l]);
            continue;
        }
        if (outer++) {
            to->split = true;
            if (to->by.v % ax->ext[l] || to->by.v / ax->ext[l] != ix->k[l])
                return false;
        } else {
            to->outer = l;
        }
        to->by = lz_sz_of(ix->k[l]);
        length *= ax->ext[l];
    }
    int64_t window, walked;
    return !ix->ndyn && outer && inner && lz_mul_i64(ax->ext[to->inner], to->step.v, &window) &&
           lz_mul_i64(length, to->by.v, &walked) && window <= walked;
}

void lz_build_borders(const lz_group_build *b, lz_val v, const lz_ixmap *m, lz_access *a)
{
    if (!b->g->product || b->g->rows || !b->full)
        return;
    const lz_attr_pad *p = zeros_around(b->e.f, v);
    const lz_shape *s = &lz_val_type(b->e.f, v)->shape;
    for (int d = 0; p && d < s->rank && a->nborder < LZ_BORDER_MAX; d++) {
        int64_t low = p->edge_padding_low.v[d], high = p->edge_padding_high.v[d];
        lz_border x;
        memset(&x, 0, sizeof x);
        low = low > 0 ? low : 0;
        high = s->dims[d] - (high > 0 ? high : 0);
        if ((low == 0 && high == s->dims[d]) || !walked_by_two(b, &m->d[d], &x))
            continue;
        x.low = lz_sz_of(low - m->d[d].c);
        x.high = lz_sz_of(high - m->d[d].c);
        a->border[a->nborder++] = x;
    }
}

/* ---- as loops become one ---- */

/* What loop x is once loops l and l + 1 are one, where the border counts it in steps of `own`.
 * scaled: there are `inner` indices for one there was. False: it cannot be told any more. */
static bool follow(uint32_t *x, const lz_sz *own, uint32_t l, bool *scaled)
{
    if (*x == l + 1)
        return false;
    *scaled = *x == l;
    if (*scaled && own->v != 1)
        return false;
    *x -= *x > l + 1;
    return true;
}

static bool follow_outer(lz_border *b, uint32_t l, bool *scaled)
{
    *scaled = false;
    if (!b->split)
        return follow(&b->outer, &b->by, l, scaled);
    if (l == b->outer) {
        b->split = false;
        return true;
    }
    uint32_t last = b->outer + 1;
    bool known = l + 1 != b->outer && follow(&last, &b->by, l, scaled);
    b->outer = last - 1;
    return known;
}

static bool scale(lz_sz *s, int64_t by)
{
    return lz_mul_i64(s->v, by, &s->v);
}

static bool merged(lz_border *x, uint32_t l, int64_t inner)
{
    bool by_outer, by_inner;
    if (!follow_outer(x, l, &by_outer) || !follow(&x->inner, &x->step, l, &by_inner))
        return false;
    if (!by_outer && !by_inner)
        return true;
    return scale(&x->low, inner) && scale(&x->high, inner) &&
           scale(by_outer ? &x->step : &x->by, inner);
}

/* Every index i of loop l was inner i .. inner (i + 1) - 1 of what is one loop now: what is at
 * least `low` there is at least inner low. */
void lz_loops_merge_padding(lz_access *a, uint32_t l, int64_t inner)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->nborder; i++) {
        lz_border x = a->border[i];
        if (merged(&x, l, inner))
            a->border[n++] = x;
    }
    a->nborder = n;
}

void lz_loops_permute_padding(lz_access *a, uint32_t first, uint32_t n, const uint8_t *where)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < a->nborder; i++) {
        lz_border x = a->border[i];
        uint32_t *of[2] = {&x.outer, &x.inner};
        for (int j = 0; j < 2; j++)
            if (*of[j] >= first && *of[j] < first + n)
                *of[j] = first + where[*of[j] - first];
        if (!x.split)
            a->border[kept++] = x;
    }
    a->nborder = kept;
}
