/* fusion_b2b.c - back-to-back (B2B) GEMM fusion, as in attention.
 * Does:      fuses a dot whose result is reduced along one of its dimensions with a dot that
 *   contracts over that dimension, and with everything between: scores, softmax and the product
 *   with the values; in the gradient, the dots around the derivative of softmax. One row of the
 *   intermediate is buffered at a time, so neither the scores nor the probabilities are
 *   materialized. Patterns are matched on groups and their reads, not on operations.
 * Needs:     groups as fusion.c grows them.   Recreates: nothing.   Breaks: nothing.
 * Invariant: the kernel has one loop over the rows' elements, one contracted by the first dot, one
 *   produced by the second; and an outer loop that no right factor depends on, so that a backend
 *   can take a block of its points at a time.
 * Cost:      O(reads of dots).   Off: LAZULI_PASSES_OFF=b2b
 * Threads:   as lz_fusion. */
#include "base/config.h"
#include "lower/fusion/fusion.h"
#include <string.h>

enum {
    SHORT = 16,      /* up to it extents are part of the code, and not worth a block of rows */
    LONG_ROW = 8192, /* 24 such rows of floats fill a cache of the second level */
    LESS = 8,
    MANY_ELEMENTS = 1 << 18 /* of a right factor, which is laid out anew and should stay near */
};

const lz_fusion_node *lz_group_dot(const lz_fusion *fu, const lz_group *g)
{
    for (uint32_t i = 0; i < g->nodes.len; i++)
        if (fu->nodes[g->nodes.data[i]]->kind == LZ_FUSION_DOT)
            return fu->nodes[g->nodes.data[i]];
    return NULL;
}

/* ---- whether two groups fit ---- */

/* Group axes of the free dimensions of one side of a product: a bit each. */
static uint32_t free_axes(const lz_fusion *fu, const lz_fusion_node *dot, int side)
{
    const lz_inst *in = &fu->f->insts[dot->v];
    const lz_attr_dot *a = LZ_ATTR(dot, in->sig->attr);
    int nb = a->lhs_batching_dimensions.n;
    int left = in->sig->opnd[0]->shape.rank - nb - a->lhs_contracting_dimensions.n;
    int from = nb + (side ? left : 0), to = side ? dot->rank : nb + left;
    uint32_t m = 0;
    for (int x = dot->first[from]; x < dot->first[to]; x++)
        m |= 1u << dot->axis[x];
    return m;
}

/* Whether operand k of the product is value `v`, but for movement. */
static bool is_factor(const lz_fusion *fu, const lz_fusion_node *dot, int k, lz_val v)
{
    lz_val x = fu->f->insts[dot->v].opnd[k];
    for (;;) {
        const lz_inst *in = &fu->f->insts[x];
        if (lz_fusion_memory(fu, x) == v)
            return true;
        if (lz_op_get(in->sig->op)->cls != LZ_CLASS_MOVE || in->sig->nopnd != 1 ||
            in->sig->attr->kind == LZ_ATTR_dtype)
            return false;
        x = in->opnd[0];
    }
}

/* The value of group r that side k of the product is, or LZ_NOVAL. */
static lz_val row_factor(const lz_fusion *fu, const lz_fusion_node *dot, int k, const lz_group *r)
{
    for (uint32_t i = 0; i < dot->reads.len; i++) {
        lz_val src = dot->reads.data[i].src;
        uint32_t made = fu->node_of[src];
        if (made != LZ_NONE && fu->groups[fu->nodes[made]->group] == r &&
            fu->nodes[made]->kind == LZ_FUSION_POINT)
            return is_factor(fu, dot, k, src) ? src : LZ_NOVAL;
    }
    return LZ_NOVAL;
}

static bool extents_fit(const lz_fusion *fu, int64_t rows, int64_t row, int64_t other)
{
    int64_t n;
    if (fu->b2b == LZ_B2B_ALWAYS)
        return true;
    if (fu->b2b_row_limit && other > fu->b2b_row_limit / LESS) /* it, too, is one per point */
        return false;
    return rows > SHORT && row > SHORT &&
           row <= (fu->b2b_row_limit ? fu->b2b_row_limit : LONG_ROW) && other > 0 &&
           lz_mul_i64(row, other, &n) && n <= MANY_ELEMENTS;
}

static bool floats(const lz_fusion *fu, const lz_fusion_node *dot)
{
    return lz_dtype_is_float(lz_val_type(fu->f, dot->v)->dtype);
}

/* One side of the product has axis `kept` among its free ones; the other one walks an outer loop of
 * the rows with enough points, which the first does not. *left: which is the other one. */
static bool has_blocks(const lz_fusion *fu, const lz_fusion_node *dot, const lz_group *r,
                       const uint8_t *of_p, uint32_t kept, int64_t other, int *left)
{
    *left = free_axes(fu, dot, 0) >> kept & 1 ? 1 : 0;
    uint32_t m = free_axes(fu, dot, *left);
    if (!(free_axes(fu, dot, !*left) >> kept & 1))
        return false;
    for (uint32_t x = 0; x < LZ_LOOP_MAX; x++)
        if ((m >> x & 1) && of_p[x] && of_p[x] - 1u < r->nouter &&
            extents_fit(fu, r->ax.ext[of_p[x] - 1], r->ax.ext[r->nouter], other))
            return true;
    return false;
}

/* Nobody but the rows, and what is done with the sums themselves, reads them. */
static bool sums_stay(const lz_fusion *fu, const lz_group *p, const lz_fusion_node *dot,
                      const lz_group *r)
{
    if (fu->is_result[dot->res[0]])
        return false;
    for (const uint32_t *n = fu->readers[dot->res[0]]; n && *n != LZ_NONE; n++) {
        const lz_group *g = fu->groups[fu->nodes[*n]->group];
        if (g != p && g != r)
            return false;
    }
    return true;
}

bool lz_rows_fit(const lz_fusion *fu, const lz_group *p, const lz_group *r, const uint8_t *of_p)
{
    const lz_fusion_node *dot = lz_group_dot(fu, p);
    uint32_t outer = 0, row = LZ_NONE, own = LZ_NONE, nown = 0;
    int left;
    for (uint32_t x = 0; x < p->ax.n; x++) {
        uint32_t partner = of_p[x] - 1u;
        if (of_p[x] && partner < r->nouter && x < p->nouter) {
            outer |= 1u << partner;
        } else if (of_p[x] && partner == r->nouter) {
            row = x;
        } else if (of_p[x] == 0) {
            own = x;
            nown++;
        } else {
            return false; /* the roles of a loop differ */
        }
    }
    if (outer + 1 != 1u << r->nouter || row == LZ_NONE || nown != 1 || p->ax.n - p->nouter != 1 ||
        r->ax.n >= LZ_LOOP_MAX || r->nouter >= LZ_OUTER_MAX || !floats(fu, dot))
        return false;
    if (row < p->nouter) /* its sums are the rows */
        return own == p->nouter && sums_stay(fu, p, dot, r) &&
               has_blocks(fu, dot, r, of_p, row, p->ax.ext[own], &left);
    return own < p->nouter && has_blocks(fu, dot, r, of_p, own, p->ax.ext[own], &left) &&
           row_factor(fu, dot, left, r) != LZ_NOVAL;
}

/* ---- looking for them ---- */

static bool is_rows(const lz_fusion *fu, const lz_group *g)
{
    if (g->dead || !g->reduces || g->product || g->nouter == 0 || g->ax.n != g->nouter + 1)
        return false;
    for (uint32_t i = 0; i < g->nodes.len; i++) {
        const lz_fusion_node *n = fu->nodes[g->nodes.data[i]];
        if (n->solo || n->store == LZ_STORE_UPDATE ||
            lz_dtype_is_complex(lz_val_type(fu->f, n->v)->dtype))
            return false;
    }
    return true;
}

bool lz_rows_in_cache(const lz_fusion *fu, const lz_group *g)
{
    if (fu->b2b == LZ_B2B_DOTS || !is_rows(fu, g) || g->rows || g->nouter == LZ_OUTER_MAX ||
        lz_list_has(lz_cfg_str(LZ_OPT_PASSES_OFF), "b2b"))
        return false;
    int64_t n = g->ax.ext[g->nouter];
    return fu->b2b == LZ_B2B_ALWAYS || (n > SHORT && n <= LONG_ROW);
}

static bool is_product(const lz_fusion *fu, const lz_group *g)
{
    return !g->dead && g->product && !g->rows && lz_group_dot(fu, g);
}

/* The product that makes a value that a node of the group reads, or LZ_NONE. */
static uint32_t product_before(const lz_fusion *fu, const lz_group *g)
{
    for (uint32_t i = 0; i < g->nodes.len; i++) {
        const lz_fusion_node *n = fu->nodes[g->nodes.data[i]];
        for (uint32_t k = 0; k < n->reads.len; k++) {
            uint32_t made = fu->node_of[n->reads.data[k].src];
            uint32_t from = made == LZ_NONE ? LZ_NONE : fu->nodes[made]->group;
            if (from != LZ_NONE && fu->groups[from] != g && is_product(fu, fu->groups[from]) &&
                fu->groups[from]->nouter >= g->ax.n) /* not what is one per row */
                return from;
        }
    }
    return LZ_NONE;
}

/* A product one of whose factors is a value of the group, made after all its reductions: of `turn`
 * in order. */
static uint32_t product_behind(const lz_fusion *fu, const lz_group *g, uint32_t turn)
{
    for (uint32_t i = 0; i < g->nodes.len; i++) {
        const lz_fusion_node *n = fu->nodes[g->nodes.data[i]];
        if (n->kind != LZ_FUSION_POINT || !n->full || n->store != LZ_STORE_VALUE)
            continue;
        for (const uint32_t *r = fu->readers[n->v]; r && *r != LZ_NONE; r++) {
            const lz_fusion_node *m = fu->nodes[*r];
            if (m->kind == LZ_FUSION_DOT && fu->groups[m->group] != g &&
                is_product(fu, fu->groups[m->group]) &&
                (is_factor(fu, m, 0, n->v) || is_factor(fu, m, 1, n->v)) && turn-- == 0)
                return m->group;
        }
    }
    return LZ_NONE;
}

lz_status lz_fusion_rows(lz_fusion *fu)
{
    enum { TURNS = 4 };
    if (lz_list_has(lz_cfg_str(LZ_OPT_PASSES_OFF), "b2b"))
        return LZ_OK;
    for (uint32_t i = 0; i < fu->ngroup; i++) {
        const lz_group *g = fu->groups[i];
        bool merged = false;
        if (!is_rows(fu, g))
            continue;
        uint32_t before = product_before(fu, g), behind = product_behind(fu, g, 0);
        if (before == LZ_NONE || behind == LZ_NONE)
            continue;
        LZ_TRY(lz_fusion_merge_rows(fu, before, i, &merged));
        for (uint32_t turn = 0; merged && turn < TURNS; turn++) {
            bool second = false;
            behind = product_behind(fu, g, turn);
            if (behind == LZ_NONE)
                break;
            LZ_TRY(lz_fusion_merge_rows(fu, behind, i, &second));
            if (second)
                break;
        }
    }
    return LZ_OK;
}
