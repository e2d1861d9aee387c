/* fusion_merge.c - decides whether two groups can be one kernel, and merges them.
 * Does:      unifies axes through the reads between the groups, or of a value that both read; an
 *   axis that is whole on one side and split on the other is split. Then the roles must agree: two
 *   pointwise groups run over the same axes; a pointwise group joins a reduction as one value per
 *   outer point, or elementwise beside what is reduced; two reductions run over the same rows; a
 *   dot takes values per outer point only.
 * Invariant: every read between nodes of a group is of the point being computed; no path leads out
 *   of a group and back.
 * Cost:      O(reads of the two groups), and a walk over the groups between them.
 * Threads:   as lz_fusion. */
#include "lower/fusion/fusion.h"
#include <string.h>

enum {
    MAX_NODES = 160,
    MAX_OPS = 640, /* of a kernel: compile time grows with them */
    EPILOGUE_OPS = 128,
    EPILOGUE_BUFS = 24,
    MAX_BUFS = LZ_KBUF_MAX - 4,
    MAX_LEVEL = LZ_STAGE_MAX - 3,
    MAX_ROW_LEVEL = 6, /* a level of rows may be several stages */
    FEW_ROWS = 8,
    LONG_ROW = 8192, /* so few so long rows are not worth losing the other threads for */
    MAX_WALK = 4000,
    MAX_REGION = 20000 /* groups looked at for one merge */
};

typedef struct pairs {                            /* axes of two groups that are the same loop */
    uint8_t of_a[LZ_LOOP_MAX], of_b[LZ_LOOP_MAX]; /* partner + 1; 0: none */
} pairs;

typedef struct merge {
    lz_fusion *fu;
    uint32_t ia, ib;
    lz_group *a, *b;
    pairs p;
} merge;

typedef struct digits {
    int n;
    uint8_t v[LZ_LOOP_MAX]; /* group axes, outermost first */
} digits;

/* ---- splitting an axis of a group ---- */

static bool can_split(const lz_group *g, uint32_t axis)
{
    return g->ax.n < LZ_LOOP_MAX && (axis >= g->nouter || g->nouter < LZ_OUTER_MAX);
}

static void shift(uint8_t *v, uint32_t n, uint32_t axis, uint32_t by)
{
    for (uint32_t i = 0; i < n; i++)
        if (v[i] > axis + by)
            v[i]++;
}

/* side 0: group a. Partners of the other group are renumbered too. */
static void split_axis(merge *m, int side, uint32_t axis, int64_t inner)
{
    lz_group *g = side ? m->b : m->a;
    for (uint32_t i = 0; i < g->nodes.len; i++) {
        lz_fusion_node *n = m->fu->nodes[g->nodes.data[i]];
        uint32_t at = LZ_NONE;
        for (uint32_t x = 0; x < n->ax.n; x++)
            if (n->axis[x] == axis)
                at = x;
        shift(n->axis, n->ax.n, axis, 0);
        if (at != LZ_NONE) {
            lz_fusion_node_split(n, at, inner);
            n->axis[at] = (uint8_t)axis;
            n->axis[at + 1] = (uint8_t)(axis + 1);
        }
    }
    for (uint32_t l = g->ax.n; l > axis + 1; l--)
        g->ax.ext[l] = g->ax.ext[l - 1];
    g->ax.ext[axis + 1] = inner;
    g->ax.ext[axis] /= inner;
    g->ax.n++;
    g->nouter += axis < g->nouter;
    if (g->fast != LZ_NONE && g->fast >= axis)
        g->fast++; /* its inner part is the contiguous one */
    uint8_t *mine = side ? m->p.of_b : m->p.of_a, *other = side ? m->p.of_a : m->p.of_b;
    for (uint32_t l = LZ_LOOP_MAX - 1; l > axis + 1; l--)
        mine[l] = mine[l - 1];
    mine[axis + 1] = 0;                 /* only axes without a partner are split */
    shift(other, LZ_LOOP_MAX, axis, 1); /* partner + 1 */
}

static void replace(digits *d, int at, uint8_t axis)
{
    for (int i = 0; i < d->n; i++)
        if (d->v[i] > axis)
            d->v[i]++;
    for (int i = d->n; i > at + 1; i--)
        d->v[i] = d->v[i - 1];
    d->v[at] = axis;
    d->v[at + 1] = (uint8_t)(axis + 1);
    d->n++;
}

/* Pairs the axes of two rows of digits that count through the same dimension. */
static bool pair_digits(merge *m, digits *a, digits *b)
{
    int i = a->n, j = b->n;
    while (i > 0 && j > 0) {
        uint8_t x = a->v[i - 1], y = b->v[j - 1];
        if (m->p.of_a[x] || m->p.of_b[y]) {
            if (m->p.of_a[x] != y + 1 || m->p.of_b[y] != x + 1)
                return false;
            i--;
            j--;
            continue;
        }
        int64_t ex = m->a->ax.ext[x], ey = m->b->ax.ext[y];
        if (ex == 0 || ey == 0) {
            return false;
        } else if (ex > ey && ex % ey == 0 && can_split(m->a, x) && a->n < LZ_LOOP_MAX) {
            split_axis(m, 0, x, ey);
            replace(a, i - 1, x);
            i++;
        } else if (ey > ex && ey % ex == 0 && can_split(m->b, y) && b->n < LZ_LOOP_MAX) {
            split_axis(m, 1, y, ex);
            replace(b, j - 1, y);
            j++;
        } else if (ex == ey) {
            m->p.of_a[x] = (uint8_t)(y + 1);
            m->p.of_b[y] = (uint8_t)(x + 1);
            i--;
            j--;
        } else {
            return false;
        }
    }
    return i == 0 && j == 0;
}

/* ---- which axes a read walks ---- */

static bool read_digits(const lz_fusion_node *n, const lz_read *r, int dim, int64_t extent,
                        digits *d)
{
    uint8_t loops[LZ_LOOP_MAX];
    d->n = !r->map ? -1 : lz_ix_digits(&r->map->d[dim], &n->ax, extent, loops);
    for (int i = 0; i < d->n; i++)
        d->v[i] = n->axis[loops[i]];
    return d->n >= 0;
}

static void own_digits(const lz_fusion_node *n, int dim, digits *d)
{
    d->n = 0;
    for (int x = n->first[dim]; x < n->first[dim + 1]; x++)
        d->v[d->n++] = n->axis[x];
}

/* A node of one side reads a node of the other. `reader_side` 1: the reader is in group b. */
static bool pair_read(merge *m, const lz_fusion_node *reader, const lz_read *r,
                      const lz_fusion_node *made, int reader_side)
{
    const lz_shape *s = &lz_val_type(m->fu->f, r->src)->shape;
    for (int d = 0; d < s->rank && r->map; d++) {
        digits x, y;
        if (!read_digits(reader, r, d, s->dims[d], &x))
            return false;
        own_digits(made, d, &y);
        if (!(reader_side ? pair_digits(m, &y, &x) : pair_digits(m, &x, &y)))
            return false;
    }
    return r->map != NULL;
}

/* All reads of group g's nodes in the other group. */
static bool pair_reads(merge *m, int side)
{
    const lz_group *g = side ? m->b : m->a;
    uint32_t other = side ? m->ia : m->ib;
    for (uint32_t i = 0; i < g->nodes.len; i++) {
        const lz_fusion_node *n = m->fu->nodes[g->nodes.data[i]];
        for (uint32_t k = 0; k < n->reads.len; k++) {
            lz_val src = n->reads.data[k].src;
            for (const uint32_t *w = m->fu->writers[src]; w && *w != LZ_NONE; w++) {
                if (m->fu->nodes[*w]->group != other)
                    continue;
                if (m->fu->node_of[src] != *w ||
                    !pair_read(m, n, &n->reads.data[k], m->fu->nodes[*w], side))
                    return false; /* written in parts, or not at the same point */
            }
        }
    }
    return true;
}

/* Both groups read `via`: the first aligned pair of reads tells the axes. */
static bool pair_shared(merge *m, lz_val via)
{
    const lz_shape *s = &lz_val_type(m->fu->f, via)->shape;
    const lz_fusion_node *n[2] = {NULL, NULL};
    const lz_read *r[2] = {NULL, NULL};
    for (int side = 0; side < 2; side++) {
        const lz_group *g = side ? m->b : m->a;
        for (uint32_t i = 0; i < g->nodes.len && !n[side]; i++) {
            const lz_fusion_node *x = m->fu->nodes[g->nodes.data[i]];
            for (uint32_t k = 0; k < x->reads.len && !n[side]; k++) {
                if (x->reads.data[k].src != via || !x->reads.data[k].map)
                    continue;
                n[side] = x;
                r[side] = &x->reads.data[k];
            }
        }
    }
    for (int d = 0; d < s->rank && n[0] && n[1]; d++) {
        digits x, y;
        if (!read_digits(n[0], r[0], d, s->dims[d], &x) ||
            !read_digits(n[1], r[1], d, s->dims[d], &y) || !pair_digits(m, &x, &y))
            return false;
    }
    return n[0] && n[1];
}

/* ---- roles ---- */

static uint32_t unpaired(const uint8_t *of, uint32_t from, uint32_t to, digits *d)
{
    d->n = 0;
    for (uint32_t x = from; x < to; x++)
        if (!of[x])
            d->v[d->n++] = (uint8_t)x;
    return (uint32_t)d->n;
}

/* No outer axis of one is an inner axis of the other, and all outer axes have partners. */
static bool outer_match(const merge *m)
{
    if (m->a->nouter != m->b->nouter)
        return false;
    for (uint32_t x = 0; x < m->a->ax.n; x++)
        if (m->p.of_a[x] ? (x < m->a->nouter) != (m->p.of_a[x] - 1u < m->b->nouter)
                         : x < m->a->nouter)
            return false;
    return true;
}

static bool fast_match(const merge *m)
{
    if (m->a->fast == LZ_NONE || m->b->fast == LZ_NONE)
        return true;
    return m->p.of_a[m->a->fast] == m->b->fast + 1;
}

static int64_t points(const lz_group *g, uint32_t from, uint32_t to)
{
    int64_t n = 1;
    for (uint32_t x = from; x < to; x++)
        n *= g->ax.ext[x];
    return n;
}

/* A product whose only readers are in the other group may be stored in the order that suits them:
 * its sides can be exchanged. */
static bool only_for(const merge *m, const lz_group *dot, uint32_t other)
{
    const lz_fusion_node *n = m->fu->nodes[dot->nodes.data[0]];
    if (dot->nodes.len != 1 || m->fu->is_result[n->res[0]])
        return false;
    for (const uint32_t *r = m->fu->readers[n->res[0]]; r && *r != LZ_NONE; r++)
        if (m->fu->nodes[*r]->group != other)
            return false;
    return true;
}

/* Pointwise group with a reduction: `red` is group a (side 0) or b. *rows: it runs over the inner
 * axes too. */
static bool point_fits(merge *m, int red_side, bool *rows)
{
    const lz_group *red = red_side ? m->b : m->a, *pt = red_side ? m->a : m->b;
    const uint8_t *of_red = red_side ? m->p.of_b : m->p.of_a,
                  *of_pt = red_side ? m->p.of_a : m->p.of_b;
    digits x, y;
    if (unpaired(of_red, 0, red->nouter, &x))
        return false;
    *rows = pt->ax.n != red->nouter;
    if (!*rows) {
        for (uint32_t i = 0; i < pt->ax.n; i++)
            if (!of_pt[i] || of_pt[i] - 1u >= red->nouter)
                return false;
        return fast_match(m) || (red->product && only_for(m, red, red_side ? m->ia : m->ib));
    }
    if (red->product)
        return false;
    /* what the reads do not tell apart: the other axes are the row, in order */
    unpaired(of_pt, 0, pt->ax.n, &x);
    unpaired(of_red, red->nouter, red->ax.n, &y);
    if (x.n || y.n) {
        if (!(red_side ? pair_digits(m, &x, &y) : pair_digits(m, &y, &x)))
            return false;
    }
    if (pt->ax.n != red->ax.n || unpaired(of_red, 0, red->ax.n, &x) ||
        unpaired(of_pt, 0, pt->ax.n, &y))
        return false;
    if (pt->fast == LZ_NONE || of_pt[pt->fast] - 1u < red->nouter)
        return false; /* walks memory across the rows */
    return points(red, 0, red->nouter) >= FEW_ROWS ||
           points(red, red->nouter, red->ax.n) <= LONG_ROW;
}

static bool reductions_fit(merge *m)
{
    digits x, y;
    if (m->a->product || m->b->product || !outer_match(m))
        return false;
    unpaired(m->p.of_a, m->a->nouter, m->a->ax.n, &x);
    unpaired(m->p.of_b, m->b->nouter, m->b->ax.n, &y);
    if ((x.n || y.n) && !pair_digits(m, &x, &y))
        return false;
    return m->a->ax.n == m->b->ax.n;
}

static bool roles_fit(merge *m, bool *rows)
{
    *rows = false;
    if (m->a->reduces && m->b->reduces)
        return reductions_fit(m);
    if (m->a->reduces || m->b->reduces)
        return point_fits(m, m->b->reduces, rows);
    return m->a->ax.n == m->b->ax.n && outer_match(m) && fast_match(m);
}

/* ---- limits ---- */

typedef struct bufset {
    uint32_t n;
    uint32_t v[LZ_KBUF_MAX + 1];
} bufset;

static void add_buf(bufset *s, uint32_t buf)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->v[i] == buf)
            return;
    if (s->n <= LZ_KBUF_MAX)
        s->v[s->n++] = buf;
}

/* Buffers of the merged kernel, no fewer than it will have. */
static uint32_t count_buffers(const merge *m)
{
    bufset s = {0};
    for (int side = 0; side < 2; side++) {
        const lz_group *g = side ? m->b : m->a;
        for (uint32_t i = 0; i < g->nodes.len; i++) {
            const lz_fusion_node *n = m->fu->nodes[g->nodes.data[i]];
            for (uint32_t k = 0; k < n->reads.len; k++)
                add_buf(&s, n->reads.data[k].src);
            bool leaves = n->store != LZ_STORE_VALUE;
            for (uint32_t k = 0; k < n->nres; k++) {
                if (n->res[k] == LZ_NONE)
                    continue;
                leaves |= m->fu->is_result[n->res[k]];
                for (const uint32_t *r = m->fu->readers[n->res[k]]; r && *r != LZ_NONE; r++)
                    leaves |= m->fu->nodes[*r]->group != m->ia && m->fu->nodes[*r]->group != m->ib;
                if (leaves || n->costly)
                    add_buf(&s, n->res[k]);
            }
        }
    }
    return s.n;
}

static bool within_limits(const merge *m)
{
    uint32_t nsop = m->a->nsop + m->b->nsop, nbuf;
    bool product = m->a->product || m->b->product;
    if (m->a->nodes.len + m->b->nodes.len > MAX_NODES || nsop > (product ? EPILOGUE_OPS : MAX_OPS))
        return false;
    nbuf = count_buffers(m);
    return nbuf <= (product ? EPILOGUE_BUFS : MAX_BUFS);
}

typedef struct walk {
    lz_fusion *fu;
    uint32_t from, to, mark, walked;
    LZ_VEC(uint32_t) stack;
    bool found;
} walk;

/* From group gi to that of a node which waits for it. */
static lz_status meet(walk *w, uint32_t gi, uint32_t node)
{
    lz_fusion *fu = w->fu;
    uint32_t h = fu->nodes[node]->group;
    if (h == gi || fu->groups[h]->mark == w->mark || (gi == w->from && h == w->to) ||
        fu->groups[h]->rank > fu->groups[w->to]->rank)
        return LZ_OK;
    w->found |= h == w->to || ++w->walked > MAX_WALK;
    fu->groups[h]->mark = w->mark;
    return lz_vec_push(&w->stack, h);
}

/* Readers, and what keeps its place behind the node. */
static lz_status meet_all(walk *w, uint32_t gi, const lz_fusion_node *n)
{
    for (uint32_t k = 0; k < n->nres; k++)
        for (const uint32_t *r = n->res[k] == LZ_NONE ? NULL : w->fu->readers[n->res[k]];
             r && *r != LZ_NONE; r++)
            LZ_TRY(meet(w, gi, *r));
    return n->then == LZ_NONE ? LZ_OK : meet(w, gi, n->then);
}

/* Whether a path leads from group `from` to group `to`, which comes later in the order of the
 * groups, through others. Marks what it meets: if there is no path, all that depends on `from` and
 * stands before `to`. */
static lz_status path(lz_fusion *fu, uint32_t from, uint32_t to, bool *found)
{
    walk w = {.fu = fu, .from = from, .to = to, .mark = ++fu->mark};
    lz_status s = lz_vec_push(&w.stack, from);
    while (s == LZ_OK && w.stack.len && !w.found) {
        uint32_t gi = w.stack.data[--w.stack.len];
        const lz_group *g = fu->groups[gi];
        for (uint32_t i = 0; i < g->nodes.len && s == LZ_OK; i++)
            s = meet_all(&w, gi, fu->nodes[g->nodes.data[i]]);
    }
    *found = w.found;
    lz_vec_free(&w.stack);
    return s;
}

/* Whether the two cannot be one kernel, because a path leads from one to the other through
 * others. */
static lz_status apart(lz_fusion *fu, uint32_t a, uint32_t b, bool *found)
{
    uint32_t first = fu->groups[a]->rank < fu->groups[b]->rank ? a : b, second = first == a ? b : a;
    *found = fu->groups[second]->rank - fu->groups[first]->rank > MAX_REGION;
    return *found ? LZ_OK : path(fu, first, second, found);
}

/* Keeps the order of the groups topological: `into` takes the place behind everything between the
 * two that does not depend on them; what does (it is marked) follows. */
static lz_status reorder(lz_fusion *fu, uint32_t a, uint32_t b, uint32_t into)
{
    uint32_t first = fu->groups[a]->rank < fu->groups[b]->rank ? a : b, second = first == a ? b : a;
    uint32_t lo = fu->groups[first]->rank, hi = fu->groups[second]->rank, n = 0, at = lo;
    uint32_t *behind = lz_alloc((hi - lo + 2) * sizeof *behind);
    if (!behind)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    behind[n++] = into;
    behind[n++] = into == first ? second : first;
    for (uint32_t r = lo; r <= hi; r++) {
        uint32_t g = fu->order[r];
        if (g == first || g == second)
            continue;
        if (fu->groups[g]->mark == fu->mark)
            behind[n++] = g;
        else
            fu->order[at++] = g;
    }
    for (uint32_t i = 0; i < n; i++)
        fu->order[at++] = behind[i];
    for (uint32_t r = lo; r <= hi; r++)
        fu->groups[fu->order[r]]->rank = r;
    lz_free(behind);
    return LZ_OK;
}

/* ---- doing it ---- */

/* The nodes of a group go over to group gi, `into`; of: its axis + 1 by their group's axes. */
static lz_status take_nodes(merge *m, lz_group *into, lz_group *from, uint32_t gi,
                            const uint8_t *of)
{
    LZ_TRY(lz_vec_reserve(&into->nodes, (uint64_t)into->nodes.len + from->nodes.len));
    for (uint32_t i = 0; i < from->nodes.len; i++) {
        uint32_t id = from->nodes.data[i], j = into->nodes.len++;
        lz_fusion_node *n = m->fu->nodes[id];
        for (uint32_t x = 0; x < n->ax.n; x++)
            n->axis[x] = (uint8_t)(of[n->axis[x]] - 1);
        n->group = gi;
        for (; j > 0 && into->nodes.data[j - 1] > id; j--)
            into->nodes.data[j] = into->nodes.data[j - 1];
        into->nodes.data[j] = id;
    }
    into->nsop += from->nsop;
    from->dead = true;
    lz_vec_free(&from->nodes);
    return LZ_OK;
}

static lz_status absorb(merge *m, bool rows)
{
    bool keep_a = m->a->reduces || !m->b->reduces;
    lz_group *into = keep_a ? m->a : m->b, *from = keep_a ? m->b : m->a;
    uint32_t gi = keep_a ? m->ia : m->ib;
    const uint8_t *of = keep_a ? m->p.of_b : m->p.of_a;
    for (uint32_t i = 0; i < from->nodes.len && into->reduces && !from->reduces; i++)
        m->fu->nodes[from->nodes.data[i]]->full = rows;
    if (into->product && from->fast != LZ_NONE)
        into->fast = of[from->fast] - 1u;
    return take_nodes(m, into, from, gi, of);
}

static bool has_solo(const lz_fusion *fu, const lz_group *g)
{
    return g->nodes.len == 1 && fu->nodes[g->nodes.data[0]]->solo;
}

/* Levels of reductions of the merged group, from the operands up. */
static uint32_t levels(const merge *m)
{
    uint32_t top = 0;
    for (int side = 0; side < 2; side++) {
        const lz_group *g = side ? m->b : m->a;
        for (uint32_t i = 0; i < g->nodes.len; i++)
            top += m->fu->nodes[g->nodes.data[i]]->kind == LZ_FUSION_REDUCE;
    }
    return top;
}

lz_status lz_fusion_merge(lz_fusion *fu, uint32_t a, uint32_t b, lz_val via, bool *merged)
{
    merge m = {.fu = fu, .ia = a, .ib = b, .a = fu->groups[a], .b = fu->groups[b]};
    bool rows, found;
    *merged = false;
    if (a == b || m.a->dead || m.b->dead || has_solo(fu, m.a) || has_solo(fu, m.b) ||
        levels(&m) > MAX_LEVEL || !within_limits(&m))
        return LZ_OK;
    if (via != LZ_NOVAL && !pair_shared(&m, via))
        return LZ_OK;
    if (!pair_reads(&m, 0) || !pair_reads(&m, 1) || !roles_fit(&m, &rows))
        return LZ_OK;
    LZ_TRY(apart(fu, a, b, &found));
    if (found)
        return LZ_OK;
    *merged = true;
    LZ_TRY(absorb(&m, rows));
    return reorder(fu, a, b, m.a->dead ? b : a);
}

/* ---- products and rows ---- */

/* The axes that only the product has follow those of the rows. */
static void append_axes(merge *m)
{
    for (uint32_t x = 0; x < m->a->ax.n; x++)
        if (!m->p.of_a[x]) {
            m->b->ax.ext[m->b->ax.n++] = m->a->ax.ext[x];
            m->p.of_a[x] = (uint8_t)m->b->ax.n;
        }
}

static bool within_row_limits(const merge *m)
{
    uint32_t products = m->b->rows ? 2 : 1;
    return levels(m) + products <= MAX_ROW_LEVEL && m->a->nsop + m->b->nsop <= MAX_OPS &&
           m->a->nodes.len + m->b->nodes.len <= MAX_NODES && count_buffers(m) <= MAX_BUFS;
}

lz_status lz_fusion_merge_rows(lz_fusion *fu, uint32_t product, uint32_t rows, bool *merged)
{
    merge m = {
        .fu = fu, .ia = product, .ib = rows, .a = fu->groups[product], .b = fu->groups[rows]};
    bool found;
    *merged = false;
    if (product == rows || m.a->dead || m.b->dead || !within_row_limits(&m) || !pair_reads(&m, 0) ||
        !pair_reads(&m, 1) || !lz_rows_fit(fu, m.a, m.b, m.p.of_a))
        return LZ_OK;
    LZ_TRY(apart(fu, product, rows, &found));
    if (found)
        return LZ_OK;
    append_axes(&m);
    *merged = m.b->reduces = m.b->rows = true;
    for (uint32_t i = 0; i < m.a->nodes.len; i++)
        fu->nodes[m.a->nodes.data[i]]->full = true;
    LZ_TRY(take_nodes(&m, m.b, m.a, rows, m.p.of_a));
    return reorder(fu, product, rows, rows);
}
