/* profile_rows.c - see profile_rows.h. */
#include "runtime/debug/profile_rows.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const lz_profile_by_name[LZ_BY_COUNT] = {"step", "operation", "scope", "line"};
const char *const lz_profile_list_name[LZ_BY_COUNT] = {"steps", "operations", "scopes", "lines"};

typedef struct gathering {
    lz_profile_rows *to;
    lz_map at[LZ_BY_COUNT]; /* index + 1, by hash of the text */
    lz_buf text;
} gathering;

static lz_profile_sum *row_of(gathering *g, lz_profile_by by)
{
    lz_hash h = lz_hash_bytes(g->text.data, g->text.len);
    uintptr_t i = (uintptr_t)lz_map_get(&g->at[by], h);
    if (i)
        return &g->to->v[by].data[i - 1];
    lz_profile_sum s = {.what = g->text.failed ? NULL : lz_strdup(lz_buf_str(&g->text))};
    if (!s.what || lz_vec_push(&g->to->v[by], s) != LZ_OK) {
        lz_free(s.what);
        g->to->failed = true;
        return NULL;
    }
    g->to->failed |= lz_map_put(&g->at[by], h, (void *)(uintptr_t)g->to->v[by].len) != LZ_OK;
    return &g->to->v[by].data[g->to->v[by].len - 1];
}

static void add(gathering *g, lz_profile_by by, const lz_profile_entry *e, double share)
{
    lz_profile_sum *s = row_of(g, by);
    double calls = (double)e->calls;
    if (!s)
        return;
    s->calls += e->calls;
    s->ns += share * (double)e->ns;
    s->least_ns += share * (double)e->least_ns * calls;
    s->flops += share * (double)e->flops * calls;
    s->bytes += share * (double)e->bytes * calls;
}

static void text_of(gathering *g, lz_profile_by by, const lz_step_node *n)
{
    g->text.len = 0;
    bool known = n && n->op != LZ_OP_NONE;
    if (by == LZ_BY_OPERATION)
        lz_buf_puts(&g->text, known ? lz_op_get(n->op)->text : "(unknown)");
    else if (by == LZ_BY_SCOPE)
        lz_buf_puts(&g->text, known && n->scope ? n->scope : "(no scope)");
    else if (known && n->site && n->site->file)
        lz_buf_printf(&g->text, "%s:%d", n->site->file, n->site->line);
    else
        lz_buf_puts(&g->text, "(no line)");
}

static void add_step(gathering *g, const lz_profile_entry *e)
{
    lz_step s = {.nnode = e->nnode, .nodes = (lz_step_node *)(uintptr_t)e->nodes};
    g->text.len = 0;
    lz_step_print_node(&s, 0, &g->text);
    lz_buf_printf(&g->text, "%s%s  %s program %u step %u", g->text.len ? "  " : "", e->name,
                  e->kernel, e->program, e->index);
    add(g, LZ_BY_STEP, e, 1);
}

static void gather(const lz_profile_entry *e, void *user)
{
    gathering *g = user;
    double all = 0;
    g->to->ns += (double)e->ns;
    add_step(g, e);
    for (uint32_t k = 0; k < e->nnode; k++)
        all += (double)e->nodes[k].cost;
    for (int by = LZ_BY_OPERATION; by < LZ_BY_COUNT; by++) {
        for (uint32_t k = 0; k < e->nnode && all > 0; k++) {
            text_of(g, (lz_profile_by)by, &e->nodes[k]);
            add(g, (lz_profile_by)by, e, (double)e->nodes[k].cost / all);
        }
        if (all > 0)
            continue;
        text_of(g, (lz_profile_by)by, NULL);
        add(g, (lz_profile_by)by, e, 1);
    }
}

static int by_time(const void *x, const void *y)
{
    const lz_profile_sum *a = x, *b = y;
    return a->ns > b->ns ? -1 : a->ns < b->ns ? 1 : strcmp(a->what, b->what);
}

void lz_profile_gather(lz_profile_rows *out)
{
    memset(out, 0, sizeof *out);
    gathering g = {.to = out};
    lz_profile_each(gather, &g);
    for (int by = 0; by < LZ_BY_COUNT; by++) {
        lz_map_free(&g.at[by]);
        if (out->v[by].len)
            qsort(out->v[by].data, out->v[by].len, sizeof(lz_profile_sum), by_time);
    }
    lz_buf_free(&g.text);
}

void lz_profile_rows_free(lz_profile_rows *r)
{
    for (int by = 0; by < LZ_BY_COUNT; by++) {
        for (uint32_t i = 0; i < r->v[by].len; i++)
            lz_free(r->v[by].data[i].what);
        lz_vec_free(&r->v[by]);
    }
}
