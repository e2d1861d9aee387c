/* fusion.c - operator fusion: decides which nodes share a kernel.
 * Does:     starts with one group per node and merges greedily. First consumers merge into their
 *   producers (operands before users, the largest value first), so that values stay in registers
 *   or row buffers; then groups that read the same array, so that it is read once; then scalar
 *   groups. fusion_merge.c decides whether two groups can merge. A node belongs to one kernel, so
 *   merging recomputes nothing.
 * Needs:    the nodes (fusion_nodes.c).   Recreates: nothing.   Breaks: nothing.
 * Cost:     O(reads x walks between groups).   Off: LAZULI_PASSES_OFF=fusion
 * Threads:  as lz_fusion. */
#include "lower/fusion/fusion.h"
#include "base/config.h"
#include "ir/attr.h"
#include "ir/participants.h"
#include "ir/window.h"
#include <string.h>

/* ---- groups of one ---- */

/* Whether windows of one scatter can meet at different places along dimension `win` of the window:
 * where its start is computed. */
static bool window_moves(const lz_attr_scatter *a, int win)
{
    int d = 0;
    for (;; d++)
        if (!lz_ints_has(&a->inserted_window_dims, d) && !lz_ints_has(&a->input_batching_dims, d) &&
            win-- == 0)
            return lz_ints_has(&a->scatter_dims_to_operand_dims, d);
}

/* Loops of a scatter that are independent of each other: batches, and windows where they do not
 * move; all of them when the indices are unique. */
static void scatter_roles(const lz_fusion *fu, const lz_fusion_node *n, bool *outer)
{
    const lz_attr_scatter *a = LZ_ATTR(scatter, fu->f->insts[n->v].sig->attr);
    int b = 0, win = 0;
    for (int d = 0; d < n->rank; d++) {
        outer[d] = a->unique_indices;
        if (lz_ints_has(&a->update_window_dims, d)) {
            outer[d] |= !window_moves(a, win++);
            continue;
        }
        if (b == a->index_vector_dim)
            b++;
        outer[d] |= lz_ints_has(&a->scatter_indices_batching_dims, b++);
    }
}

/* The rows of a sort are independent of each other. */
static void sort_roles(const lz_fusion *fu, const lz_fusion_node *n, bool *outer)
{
    outer[LZ_ATTR(sort, fu->f->insts[n->v].sig->attr)->dimension] = false;
}

/* So are those of a scan, whose points are in order. */
static void scan_roles(const lz_fusion *fu, const lz_fusion_node *n, bool *outer)
{
    const lz_sig *sig = fu->f->insts[n->v].sig;
    bool suffix;
    int d = lz_window_prefixes(LZ_ATTR(reduce_window, sig->attr), &sig->opnd[0]->shape, &suffix);
    if (d >= 0) /* else its rule says what is wrong */
        outer[d] = false;
}

static bool is_plain_copy(const lz_fusion *fu, const lz_fusion_node *n)
{
    lz_val m = n->store == LZ_STORE_COPY ? lz_fusion_memory(fu, n->v) : LZ_NOVAL;
    return m != LZ_NOVAL && !fu->f->insts[m].lit;
}

static lz_status group_of_node(lz_fusion *fu, uint32_t i)
{
    lz_fusion_node *n = fu->nodes[i];
    lz_group *g = lz_arena_alloc(&fu->arena, sizeof *g);
    if (!g)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    fu->groups[fu->ngroup] = g;
    fu->order[fu->ngroup] = g->rank = fu->ngroup;
    n->group = fu->ngroup++;
    g->product = n->kind == LZ_FUSION_DOT;
    g->reduces = n->kind == LZ_FUSION_DOT || n->kind == LZ_FUSION_REDUCE;
    g->nsop = n->nsop;
    n->solo = fu->early[n->v] || n->kind == LZ_FUSION_SCATTER || n->kind == LZ_FUSION_SORT ||
              n->kind == LZ_FUSION_SCAN || n->kind == LZ_FUSION_CONTROL || is_plain_copy(fu, n);
    n->full = true;
    bool outer[LZ_VDIM_MAX];
    for (int d = 0; d < n->rank + n->ninner; d++)
        outer[d] = d < n->rank;
    if (n->kind == LZ_FUSION_SCATTER)
        scatter_roles(fu, n, outer);
    if (n->kind == LZ_FUSION_SORT)
        sort_roles(fu, n, outer);
    if (n->kind == LZ_FUSION_SCAN)
        scan_roles(fu, n, outer);
    for (int inner = 0; inner < 2; inner++) {
        for (int d = 0; d < n->rank + n->ninner; d++)
            for (uint32_t x = n->first[d]; outer[d] == !inner && x < n->first[d + 1]; x++) {
                n->axis[x] = (uint8_t)g->ax.n;
                g->ax.ext[g->ax.n++] = n->ax.ext[x];
            }
        if (!inner)
            g->nouter = g->ax.n;
    }
    g->fast = n->first[n->rank] ? n->axis[n->first[n->rank] - 1] : LZ_NONE;
    return lz_vec_push(&g->nodes, i);
}

/* ---- growing them ---- */

/* Every consumer with its producers, the largest value first, the latest producer first among
 * equals. */
static lz_status merge_producers(lz_fusion *fu, uint32_t i)
{
    const lz_fusion_node *n = fu->nodes[i];
    uint64_t done = 0;
    uint32_t count = n->reads.len < 64 ? n->reads.len : 64;
    for (uint32_t turn = 0; turn < count; turn++) {
        uint32_t best = LZ_NONE;
        size_t most = 0;
        for (uint32_t k = 0; k < count; k++) {
            uint32_t p = fu->node_of[n->reads.data[k].src];
            if ((done >> k & 1) || p == LZ_NONE || !n->reads.data[k].map)
                continue;
            size_t size = lz_val_type(fu->f, n->reads.data[k].src)->nbytes;
            if (best == LZ_NONE || size > most ||
                (size == most && p > fu->node_of[n->reads.data[best].src])) {
                best = k;
                most = size;
            }
        }
        if (best == LZ_NONE)
            break;
        done |= UINT64_C(1) << best;
        bool merged;
        LZ_TRY(lz_fusion_merge(fu, fu->nodes[fu->node_of[n->reads.data[best].src]]->group, n->group,
                               LZ_NOVAL, &merged));
    }
    return LZ_OK;
}

/* Groups that read the same array: it is read once. */
static lz_status merge_siblings(lz_fusion *fu, lz_val v)
{
    enum { READERS = 32 };
    uint32_t prev = LZ_NONE, seen = 0;
    for (const uint32_t *r = fu->readers[v]; r && *r != LZ_NONE && seen < READERS; r++) {
        uint32_t g = fu->nodes[*r]->group;
        if (g == prev)
            continue;
        bool merged = false;
        seen++;
        if (prev != LZ_NONE && fu->groups[prev]->reduces == fu->groups[g]->reduces)
            LZ_TRY(lz_fusion_merge(fu, prev, g, v, &merged));
        prev = fu->nodes[*r]->group;
    }
    return LZ_OK;
}

/* Scalars with scalars: one kernel does them all. */
static lz_status merge_scalars(lz_fusion *fu)
{
    uint32_t prev = LZ_NONE;
    for (uint32_t i = 0; i < fu->nnode; i++) {
        uint32_t g = fu->nodes[i]->group;
        const lz_group *x = fu->groups[g];
        bool merged = false;
        if (x->ax.n || x->reduces || g == prev)
            continue;
        if (prev != LZ_NONE)
            LZ_TRY(lz_fusion_merge(fu, prev, g, LZ_NOVAL, &merged));
        prev = fu->nodes[i]->group;
    }
    return LZ_OK;
}

/* ---- what is stored, and in which stage things happen ---- */

static void find_stores(lz_fusion *fu, lz_fusion_node *n)
{
    if (n->kind == LZ_FUSION_CONTROL) {
        n->stored = true;
        return;
    }
    n->stores =
        n->store != LZ_STORE_VALUE || n->kind == LZ_FUSION_SCATTER ? (1u << n->nres) - 1 : 0;
    for (uint32_t k = 0; k < n->nres; k++) {
        if (n->res[k] == LZ_NONE)
            continue;
        bool leaves = fu->is_result[n->res[k]];
        for (const uint32_t *r = fu->readers[n->res[k]]; r && *r != LZ_NONE; r++)
            leaves |= fu->nodes[*r]->group != n->group;
        n->stores |= (uint32_t)leaves << k;
    }
    n->stored = n->stores != 0;
}

static void find_level(lz_fusion *fu, lz_fusion_node *n)
{
    n->level = 0;
    for (uint32_t k = 0; k < n->reads.len; k++) {
        uint32_t p = fu->node_of[n->reads.data[k].src];
        if (p == LZ_NONE || fu->nodes[p]->group != n->group || fu->nodes[p] == n)
            continue;
        uint32_t l = fu->nodes[p]->level + (fu->nodes[p]->kind != LZ_FUSION_POINT);
        n->level = l > n->level ? l : n->level;
    }
}

/* Whether the node's values lie along the rows of its group, which hold floats. */
static bool in_rows(const lz_fusion *fu, const lz_fusion_node *n)
{
    const lz_group *g = fu->groups[n->group];
    lz_dtype d = lz_val_type(fu->f, n->v)->dtype;
    bool worth = g->rows && (n->costly || lz_group_dot(fu, g));
    for (uint32_t x = 0; x < n->ax.n && worth; x++)
        if (n->axis[x] == g->nouter)
            return lz_dtype_is_float(d);
    return false;
}

/* Whether n is stored while what it is made from, of its type, is still to be read by this group,
 * and by nobody else: stored when the group has read it, it would lie in its place. */
static bool wants_place(const lz_fusion *fu, const lz_fusion_node *n)
{
    const lz_type *t = lz_val_type(fu->f, n->v);
    if (!n->stored || fu->is_result[n->res[0]])
        return false;
    for (uint32_t k = 0; k < n->reads.len; k++) {
        lz_val src = n->reads.data[k].src;
        const lz_type *from = lz_val_type(fu->f, src);
        bool later = false, ours = src >= fu->f->nparam && !fu->is_result[src] &&
                                   n->reads.data[k].map && from->dtype == t->dtype &&
                                   from->nbytes == t->nbytes;
        for (const uint32_t *r = fu->readers[src]; ours && r && *r != LZ_NONE; r++) {
            ours = fu->nodes[*r]->group == n->group;
            later |= fu->nodes[*r]->level > n->level;
        }
        if (ours && later)
            return true;
    }
    return false;
}

/* Whether it is of use that n is kept as a row, the last use of it being at that level. Points of a
 * block of products would wait for each other to be stored in a place. */
static bool could_be_row(const lz_fusion *fu, const lz_fusion_node *n, uint32_t use)
{
    return use > n->level || (wants_place(fu, n) && !lz_group_dot(fu, fu->groups[n->group]));
}

/* The latest level at which somebody needs n; costly values are then kept in memory. use: by
 * node. */
static void find_spill(lz_fusion *fu, uint32_t i, uint32_t *use)
{
    lz_fusion_node *n = fu->nodes[i];
    bool factor = false;
    use[i] = n->level;
    if (n->kind != LZ_FUSION_POINT || n->store != LZ_STORE_VALUE)
        return;
    for (const uint32_t *r = fu->readers[n->res[0]]; r && *r != LZ_NONE; r++) {
        const lz_fusion_node *m = fu->nodes[*r];
        if (m->group != n->group)
            continue;
        uint32_t l = m->kind == LZ_FUSION_POINT && !m->costly ? use[*r] : m->level;
        use[i] = l > use[i] ? l : use[i];
        factor |= m->kind == LZ_FUSION_DOT;
    }
    n->row = in_rows(fu, n) && (factor || could_be_row(fu, n, use[i]));
    n->spill = n->full && n->costly && !n->stored && !n->row && use[i] > n->level;
}

/* Costly values of reductions along short enough rows are kept in the caches, not in memory, until
 * the last stage has read them: softmax. Whether there are any. */
static bool find_rows(lz_fusion *fu, const uint32_t *use)
{
    bool any = false;
    for (uint32_t gi = 0; gi < fu->ngroup; gi++) {
        lz_group *g = fu->groups[gi];
        uint32_t rows = 0;
        if (!lz_rows_in_cache(fu, g))
            continue;
        for (uint32_t k = 0; k < g->nodes.len; k++) {
            uint32_t i = g->nodes.data[k];
            const lz_fusion_node *n = fu->nodes[i];
            rows += n->kind == LZ_FUSION_POINT && n->store == LZ_STORE_VALUE && n->full &&
                    n->costly && could_be_row(fu, n, use[i]);
        }
        g->rows = rows && rows <= LZ_ROW_MAX; /* as many as a stage can keep */
        any |= g->rows;
    }
    return any;
}

static lz_status finish(lz_fusion *fu)
{
    uint32_t *use = lz_calloc((size_t)fu->nnode + 1, sizeof *use);
    if (!use)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    for (uint32_t i = 0; i < fu->nnode; i++) {
        find_stores(fu, fu->nodes[i]);
        find_level(fu, fu->nodes[i]);
    }
    for (uint32_t i = fu->nnode; i-- > 0;)
        find_spill(fu, i, use);
    if (fu->b2b != LZ_B2B_NEVER && find_rows(fu, use))
        for (uint32_t i = fu->nnode; i-- > 0;) /* again, with those rows */
            find_spill(fu, i, use);
    lz_free(use);
    return LZ_OK;
}

/* A collective, or one in a region: all partitions must come to them in one order. */
static bool meets(const lz_sig *sig)
{
    const lz_func *r;
    lz_op_class c = lz_op_get(sig->op)->cls;
    bool found = c == LZ_CLASS_COLLECTIVE;
    for (int k = 0; c == LZ_CLASS_CONTROL && !found && (r = lz_attr_region(sig->attr, k)); k++)
        found = lz_func_has_collective(r);
    return found;
}

static void keep_order(lz_fusion *fu)
{
    uint32_t last = LZ_NONE;
    for (uint32_t i = 0; i < fu->nnode; i++) {
        lz_fusion_node *n = fu->nodes[i];
        const lz_sig *sig = fu->f->insts[n->v].sig;
        n->then = LZ_NONE;
        n->ordered = (sig->flags & LZ_F_EFFECT) || meets(sig);
        if (n->ordered && last != LZ_NONE)
            fu->nodes[last]->then = i;
        last = n->ordered ? i : last;
    }
}

lz_status lz_fusion_group(lz_fusion *fu)
{
    fu->groups = lz_arena_alloc(&fu->arena, (fu->nnode + 1) * sizeof *fu->groups);
    fu->order = lz_arena_alloc(&fu->arena, (fu->nnode + 1) * sizeof *fu->order);
    if (!fu->groups || !fu->order)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    for (uint32_t i = 0; i < fu->nnode; i++)
        LZ_TRY(group_of_node(fu, i));
    keep_order(fu);
    bool off = lz_list_has(lz_cfg_str(LZ_OPT_PASSES_OFF), "fusion");
    for (uint32_t i = 0; i < fu->nnode && !off; i++)
        LZ_TRY(merge_producers(fu, i));
    for (lz_val v = 0; v < fu->f->ninst && !off; v++)
        if (fu->readers[v] && lz_val_type(fu->f, v)->nelem > 1)
            LZ_TRY(merge_siblings(fu, v));
    if (!off)
        LZ_TRY(merge_scalars(fu));
    if (!off && fu->b2b != LZ_B2B_NEVER)
        LZ_TRY(lz_fusion_rows(fu));
    return finish(fu);
}

/* ---- who touches what ---- */

static lz_status note(lz_fusion *fu, uint32_t **list, uint32_t buf, uint32_t node, uint32_t *count)
{
    uint32_t n = count[buf];
    if (n && list[buf][n - 1] == node)
        return LZ_OK;
    if ((n & (n + 1)) == 0) { /* full: room for the next power of two, and the end */
        uint32_t *w = lz_arena_alloc(&fu->arena, (2 * (size_t)n + 3) * sizeof *w);
        if (!w)
            return LZ_FAIL(LZ_EMEM, "out of memory");
        for (uint32_t i = 0; i < n; i++)
            w[i] = list[buf][i];
        list[buf] = w;
    }
    list[buf][n] = node;
    list[buf][n + 1] = LZ_NONE;
    count[buf] = n + 1;
    return LZ_OK;
}

static lz_status note_node(lz_fusion *fu, uint32_t i, uint32_t *nw, uint32_t *nr)
{
    const lz_fusion_node *n = fu->nodes[i];
    bool update = n->kind == LZ_FUSION_SCATTER || n->store == LZ_STORE_UPDATE;
    for (uint32_t k = 0; k < n->reads.len; k++)
        LZ_TRY(note(fu, fu->readers, n->reads.data[k].src, i, nr));
    for (uint32_t k = 0; k < n->nres; k++) {
        if (n->res[k] == LZ_NONE)
            continue;
        LZ_TRY(note(fu, fu->writers, n->res[k], i, nw));
        if (update)
            LZ_TRY(note(fu, fu->readers, n->res[k], i, nr));
    }
    return LZ_OK;
}

static lz_status find_links(lz_fusion *fu)
{
    size_t n = (size_t)lz_fusion_nbuf(fu) + 1;
    uint32_t *count = lz_calloc(n, 2 * sizeof *count);
    fu->writers = lz_arena_alloc(&fu->arena, n * sizeof *fu->writers);
    fu->readers = lz_arena_alloc(&fu->arena, n * sizeof *fu->readers);
    fu->is_result = lz_arena_alloc(&fu->arena, n * sizeof *fu->is_result);
    lz_status s = count && fu->writers && fu->readers && fu->is_result
                      ? LZ_OK
                      : LZ_FAIL(LZ_EMEM, "out of memory");
    for (uint32_t i = 0; i < fu->nnode && s == LZ_OK; i++)
        s = note_node(fu, i, count, count + n);
    for (uint32_t k = 0; k < fu->f->nresult && s == LZ_OK; k++)
        fu->is_result[fu->result_buf[k]] = true;
    lz_free(count);
    return s;
}

lz_status lz_fusion_new(const lz_func *f, const lz_lower_options *o, lz_fusion **out)
{
    *out = NULL;
    lz_fusion *fu = lz_calloc(1, sizeof *fu);
    if (!fu)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    fu->f = f;
    fu->b2b = o->b2b;
    fu->b2b_row_limit = o->b2b_row_limit;
    size_t n = f->ninst + 1;
    fu->root = lz_arena_alloc(&fu->arena, 4 * n * sizeof *fu->root);
    fu->realised = lz_arena_alloc(&fu->arena, n * sizeof *fu->realised);
    fu->early = lz_arena_alloc(&fu->arena, n * sizeof *fu->early);
    fu->node_of = lz_arena_alloc(&fu->arena, n * sizeof *fu->node_of);
    fu->result_buf = lz_arena_alloc(&fu->arena, (f->nresult + 1) * sizeof *fu->result_buf);
    lz_status s = fu->root && fu->realised && fu->early && fu->node_of && fu->result_buf
                      ? LZ_OK
                      : LZ_FAIL(LZ_EMEM, "out of memory");
    if (s == LZ_OK) {
        fu->result = fu->root + n;
        fu->next_result = fu->result + n;
        fu->first = fu->next_result + n;
        lz_func_result_lists(f, fu->result, fu->next_result);
        s = lz_fusion_partial_sorts(fu);
    }
    if (s == LZ_OK)
        s = lz_fusion_nodes(fu, o->donate);
    if (s == LZ_OK)
        s = find_links(fu);
    if (s == LZ_OK)
        s = lz_fusion_group(fu);
    if (s != LZ_OK) {
        lz_fusion_free(fu);
        return s;
    }
    *out = fu;
    return LZ_OK;
}

void lz_fusion_free(lz_fusion *fu)
{
    if (!fu)
        return;
    for (uint32_t i = 0; i < fu->nnode; i++)
        lz_vec_free(&fu->nodes[i]->reads);
    for (uint32_t i = 0; i < fu->ngroup; i++)
        lz_vec_free(&fu->groups[i]->nodes);
    lz_vec_free(&fu->extra);
    lz_free(fu->nodes);
    lz_arena_free(&fu->maps);
    lz_arena_free(&fu->frames);
    lz_arena_free(&fu->arena);
    lz_free(fu);
}

static void print_node(const lz_fusion *fu, const lz_fusion_node *n, lz_buf *out)
{
    static const char *const store[] = {"", " copy", " piece", " update"};
    char text[160];
    lz_buf_printf(out, "    %%%u %s%s", n->v, lz_op_get(lz_inst_op(&fu->f->insts[n->v]))->text,
                  store[n->store]);
    lz_buf_printf(out, " %s", lz_type_short(lz_val_type(fu->f, n->v), text, sizeof text));
    lz_buf_printf(out, " %s level %u%s%s%s reads", n->full ? "full" : "outer", n->level,
                  n->stored ? " stored" : "", n->spill ? " spill" : "", n->row ? " row" : "");
    for (uint32_t i = 0; i < n->reads.len; i++)
        lz_buf_printf(out, " %%%u%s", n->reads.data[i].src, n->reads.data[i].map ? "" : "?");
    lz_buf_putc(out, '\n');
}

void lz_fusion_print(const lz_fusion *fu, lz_buf *out)
{
    for (uint32_t i = 0; i < fu->ngroup; i++) {
        const lz_group *g = fu->groups[i];
        if (g->dead)
            continue;
        lz_buf_printf(out, "  group %u: [", i);
        for (uint32_t a = 0; a < g->ax.n; a++)
            lz_buf_printf(out, "%s%lld",
                          a == g->nouter ? " | "
                          : a            ? ", "
                                         : "",
                          (long long)g->ax.ext[a]);
        lz_buf_puts(out, "]\n");
        for (uint32_t k = 0; k < g->nodes.len; k++)
            print_node(fu, fu->nodes[g->nodes.data[k]], out);
    }
}
