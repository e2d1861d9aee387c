/* fusion.c - which nodes share a kernel. See fusion.h.
 * Threads: as lz_fusion. */
#include "lower/fusion.h"
#include <string.h>

static lz_status group_of_node(lz_fusion *fu, uint32_t i)
{
    lz_node *n = fu->nodes[i];
    lz_group *g = lz_arena_alloc(&fu->arena, sizeof *g);
    if (!g)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    fu->groups[fu->ngroup] = g;
    n->group = fu->ngroup++;
    g->product = n->kind == LZ_NODE_DOT;
    bool outer[LZ_VDIM_MAX];
    const lz_inst *in = &fu->f->insts[n->v];
    for (int d = 0; d < n->rank + n->ninner; d++)
        outer[d] = d < n->rank;
    if (n->kind == LZ_NODE_SCATTER) {
        /* Windows and batches of the inputs are independent of each other; so is everything when the indices are unique. */
        const lz_attr_scatter *a = LZ_ATTR(scatter, in->sig->attr);
        int b = 0;
        for (int d = 0; d < n->rank; d++) {
            outer[d] = a->unique_indices || lz_ints_has(&a->update_window_dims, d);
            if (lz_ints_has(&a->update_window_dims, d))
                continue;
            if (b == a->index_vector_dim)
                b++;
            outer[d] |= lz_ints_has(&a->scatter_indices_batching_dims, b++);
        }
    }
    n->full = true;
    for (int inner = 0; inner < 2; inner++) {
        for (int d = 0; d < n->rank + n->ninner; d++)
            for (uint32_t x = n->first[d]; outer[d] == !inner && x < n->first[d + 1]; x++) {
                n->axis[x] = (uint8_t)g->ax.n;
                g->ax.ext[g->ax.n++] = n->ax.ext[x];
            }
        if (!inner)
            g->nouter = g->ax.n;
    }
    n->stored = true;
    return lz_vec_push(&g->nodes, i);
}

lz_status lz_fusion_group(lz_fusion *fu)
{
    fu->groups = lz_arena_alloc(&fu->arena, (fu->nnode + 1) * sizeof *fu->groups);
    if (!fu->groups)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    for (uint32_t i = 0; i < fu->nnode; i++)
        LZ_TRY(group_of_node(fu, i));
    return LZ_OK;
}

static lz_status note_writer(lz_fusion *fu, uint32_t buf, uint32_t node, uint32_t *count)
{
    if (buf == LZ_NONE)
        return LZ_OK;
    uint32_t n = count[buf];
    uint32_t *w = lz_arena_alloc(&fu->arena, (n + 2) * sizeof *w);
    if (!w)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    for (uint32_t i = 0; i < n; i++)
        w[i] = fu->writers[buf][i];
    w[n] = node;
    w[n + 1] = LZ_NONE;
    fu->writers[buf] = w;
    count[buf] = n + 1;
    return LZ_OK;
}

static lz_status find_writers(lz_fusion *fu)
{
    uint32_t *count = lz_calloc(lz_fusion_nbuf(fu) + 1, sizeof *count);
    fu->writers = lz_arena_alloc(&fu->arena, (lz_fusion_nbuf(fu) + 1) * sizeof *fu->writers);
    lz_status s = count && fu->writers ? LZ_OK : LZ_FAIL(LZ_EMEM, "out of memory");
    for (uint32_t i = 0; i < fu->nnode && s == LZ_OK; i++) {
        const lz_node *n = fu->nodes[i];
        for (uint32_t k = 0; k < n->nres && s == LZ_OK; k++)
            s = note_writer(fu, n->res[k], i, count);
    }
    lz_free(count);
    return s;
}

lz_status lz_fusion_new(const lz_func *f, lz_fusion **out)
{
    *out = NULL;
    lz_fusion *fu = lz_calloc(1, sizeof *fu);
    if (!fu)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    fu->f = f;
    size_t n = f->ninst + 1;
    fu->root = lz_arena_alloc(&fu->arena, n * sizeof *fu->root);
    fu->realised = lz_arena_alloc(&fu->arena, n * sizeof *fu->realised);
    fu->node_of = lz_arena_alloc(&fu->arena, n * sizeof *fu->node_of);
    fu->result_buf = lz_arena_alloc(&fu->arena, (f->nresult + 1) * sizeof *fu->result_buf);
    lz_status s = fu->root && fu->realised && fu->node_of && fu->result_buf ? LZ_OK : LZ_FAIL(LZ_EMEM, "out of memory");
    if (s == LZ_OK)
        s = lz_fusion_nodes(fu);
    if (s == LZ_OK)
        s = find_writers(fu);
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
    lz_arena_free(&fu->arena);
    lz_free(fu);
}

static void print_node(const lz_fusion *fu, const lz_node *n, lz_buf *out)
{
    static const char *const store[] = {"", " copy", " piece", " update"};
    char text[160];
    lz_buf_printf(out, "    %%%u %s%s", n->v, lz_op_get(lz_inst_op(&fu->f->insts[n->v]))->text, store[n->store]);
    lz_buf_printf(out, " %s", lz_type_short(lz_val_type(fu->f, n->v), text, sizeof text));
    lz_buf_printf(out, " %s level %u%s%s reads", n->full ? "full" : "outer", n->level, n->stored ? " stored" : "", n->spill ? " spill" : "");
    for (uint32_t i = 0; i < n->reads.len; i++)
        lz_buf_printf(out, " %%%u%s", n->reads.data[i].src, n->reads.data[i].opaque ? "?" : "");
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
            lz_buf_printf(out, "%s%lld", a == g->nouter ? " | " : a ? ", " : "", (long long)g->ax.ext[a]);
        lz_buf_puts(out, "]\n");
        for (uint32_t k = 0; k < g->nodes.len; k++)
            print_node(fu, fu->nodes[g->nodes.data[k]], out);
    }
}
