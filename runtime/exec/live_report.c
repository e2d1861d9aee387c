/* live_report.c - see live_report.h. Walks the table of handles; a buffer that several tensors
 * share counts once, for the first. Values that only operations hold, which were recorded and not
 * stepped, are found by a walk from pending tensors, without recursion. */
#include "runtime/exec/live_report.h"
#include "backends/backend.h"
#include "base/config.h"
#include "base/fork.h"
#include "base/hash.h"
#include "runtime/exec/runtime_device.h"
#include "runtime/graph/handle.h"
#include "runtime/graph/trace_builder.h"
#include <inttypes.h>
#include <lazuli/debug.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct row {
    const lz_site *site;
    uint64_t tensors, pending, bytes, graph; /* graph: operations that pending ones alone hold */
    uint64_t oldest;                         /* steps of its thread ago */
} row;

typedef struct walk {
    LZ_VEC(row) rows;
    lz_map at;               /* index + 1, by site */
    lz_map seen;             /* buffers */
    lz_map nodes;            /* operations */
    LZ_VEC(lz_node *) stack; /* retained */
    uint64_t held, held_by_graphs, nodes_pending;
    bool failed;
} walk;

static lz_hash key_of(const void *p)
{
    return (lz_hash){(uintptr_t)p, 3};
}

static row *row_of(walk *w, const lz_site *site)
{
    static const lz_site nowhere = {NULL, NULL, 0};
    site = site ? site : &nowhere;
    uintptr_t i = (uintptr_t)lz_map_get(&w->at, key_of(site));
    if (i)
        return &w->rows.data[i - 1];
    if (lz_vec_push(&w->rows, (row){.site = site}) != LZ_OK ||
        lz_map_put(&w->at, key_of(site), (void *)(uintptr_t)w->rows.len) != LZ_OK) {
        w->failed = true;
        return NULL;
    }
    return &w->rows.data[w->rows.len - 1];
}

/* Its bytes, if no other tensor has it. */
static uint64_t bytes_of(walk *w, lz_device_buffer *b)
{
    if (!b || !b->capacity || lz_map_get(&w->seen, key_of(b)))
        return 0;
    w->failed |= lz_map_put(&w->seen, key_of(b), b) != LZ_OK;
    return b->capacity;
}

static bool first_visit(walk *w, lz_node *n)
{
    if (lz_map_get(&w->nodes, key_of(n)))
        return false;
    w->failed |= lz_map_put(&w->nodes, key_of(n), n) != LZ_OK;
    return true;
}

/* The operations below n that are not computed, and the values that they read. */
static void walk_graph(walk *w, lz_node *n, row *r)
{
    uint32_t bottom = w->stack.len;
    lz_node_retain(n);
    if (!first_visit(w, n) || lz_vec_push(&w->stack, n) != LZ_OK)
        lz_node_release(n);
    while (w->stack.len > bottom && !w->failed) {
        lz_node *x = w->stack.data[--w->stack.len];
        lz_trace_lock(x->dev); /* a step cuts operands under it */
        bool pending = x->kind == LZ_NODE_OP && !lz_node_buf(x);
        r->graph += pending;
        w->nodes_pending += pending;
        w->held_by_graphs += bytes_of(w, lz_node_buf(x));
        for (uint32_t k = 0; pending && x->opnd && k < x->sig->nopnd; k++) {
            lz_node *o = x->opnd[k];
            if (!first_visit(w, o))
                continue;
            lz_node_retain(o);
            if (lz_vec_push(&w->stack, o) != LZ_OK) {
                lz_node_release(o);
                w->failed = true;
            }
        }
        lz_trace_unlock(x->dev);
        lz_node_release(x);
    }
    while (w->stack.len > bottom)
        lz_node_release(w->stack.data[--w->stack.len]);
}

/* graphs: what only they hold is counted after all tensors. */
static void note_slot(walk *w, lz_slot *s, bool graphs)
{
    uint64_t v = atomic_load_explicit(&s->state, memory_order_acquire);
    uint64_t h = (v >> 32) << 32 | s->index;
    lz_node *n = v & LZ_STATE_REFS ? lz_slot_node_peek(s, h) : NULL;
    if (!n)
        return;
    bool op = n->kind == LZ_NODE_OP && !lz_node_buf(n);
    row *r = row_of(w, atomic_load(&s->site));
    if (r && graphs && op)
        walk_graph(w, n, r);
    if (r && !graphs) {
        uint64_t nbytes = bytes_of(w, lz_node_buf(n)), age = lz_thread_state_steps_since(n->id);
        r->tensors++;
        r->pending += op;
        r->bytes += nbytes;
        w->held += nbytes;
        r->oldest = age > r->oldest ? age : r->oldest;
    }
    lz_node_release(n);
}

static void walk_slots(walk *w)
{
    for (int graphs = 0; graphs < 2; graphs++)
        for (uint32_t c = 0; c < LZ_SLOT_MAX_CHUNKS && !w->failed; c++) {
            lz_slot *s = atomic_load_explicit(&lz_slot_chunks[c], memory_order_acquire);
            for (uint32_t i = 0; s && i < 1u << LZ_SLOT_CHUNK_BITS; i++)
                if (c || i) /* handle 0 is NULL */
                    note_slot(w, &s[i], graphs);
        }
}

static int by_bytes(const void *x, const void *y)
{
    const row *a = x, *b = y;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    if (a->tensors != b->tensors)
        return a->tensors > b->tensors ? -1 : 1;
    return a->site->line - b->site->line;
}

static bool gather(walk *w)
{
    walk_slots(w);
    if (w->rows.len)
        qsort(w->rows.data, w->rows.len, sizeof(row), by_bytes);
    return !w->failed;
}

static void done(walk *w)
{
    lz_vec_free(&w->rows);
    lz_vec_free(&w->stack);
    lz_map_free(&w->at);
    lz_map_free(&w->seen);
    lz_map_free(&w->nodes);
}

static void print_site(const lz_site *s, lz_buf *out)
{
    if (s->file)
        lz_buf_printf(out, "%s:%d", s->file, s->line);
    else
        lz_buf_puts(out, "(no line)");
}

static uint64_t used_bytes(void)
{
    uint64_t used = 0;
    lz_dev *d;
    for (uint32_t i = 0; (d = lz_dev_at(i)) != NULL; i++) {
        lz_device_info info;
        used += d->be->device_info(d->ordinal, &info) == LZ_OK ? info.memory_used : 0;
    }
    return used;
}

static void print(const walk *w, lz_buf *out)
{
    enum { MOST = 40 };
    uint64_t used = used_bytes(), tensors = 0;
    for (uint32_t i = 0; i < w->rows.len; i++)
        tensors += w->rows.data[i].tensors;
    lz_buf_printf(out, "%" PRIu64 " live tensors hold %" PRIu64 " of %" PRIu64 " bytes in use\n",
                  tensors, w->held, used);
    lz_buf_puts(out, "     bytes  tensors  pending    graph  oldest  made or last assigned at\n");
    for (uint32_t i = 0; i < w->rows.len && i < MOST; i++) {
        const row *r = &w->rows.data[i];
        lz_buf_printf(out, "%10" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %7" PRIu64 "  ",
                      r->bytes, r->tensors, r->pending, r->graph, r->oldest);
        print_site(r->site, out);
        lz_buf_putc(out, '\n');
    }
    if (w->rows.len > MOST)
        lz_buf_printf(out, "           and %u more lines\n", w->rows.len - MOST);
    lz_buf_printf(out, "%10" PRIu64 "  held only by %" PRIu64 " operations that were not stepped\n",
                  w->held_by_graphs, w->nodes_pending);
    uint64_t known = w->held + w->held_by_graphs;
    lz_buf_printf(out, "%10" PRIu64 "  temporaries and cached values of programs, and the rest\n",
                  used > known ? used - known : 0);
}

lz_status lz_live_print(lz_buf *out)
{
    walk w = {0};
    bool ok = gather(&w);
    if (ok)
        print(&w, out);
    done(&w);
    return ok && !out->failed ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for a report");
}

void lz_live_annotate(void)
{
    lz_error e = *lz_error_get();
    size_t at = strlen(e.message);
    walk w = {0};
    if (e.status != LZ_EDEVMEM || strstr(e.message, "most is held by"))
        return;
    LZ_QUIETLY {
        if (gather(&w) && w.rows.len && w.rows.data[0].bytes) {
            const row *r = &w.rows.data[0];
            snprintf(e.message + at, sizeof e.message - at,
                     "; most is held by %" PRIu64 " tensors made at %s:%d (%" PRIu64 " bytes)",
                     r->tensors, r->site->file ? r->site->file : "?", r->site->line, r->bytes);
        }
        done(&w);
    }
    lz_error_set(&e);
}

static void at_exit(void)
{
    lz_buf text = {0};
    if (lz_fork_happened())
        return; /* the tensors are the parent's */
    LZ_QUIETLY {
        if (lz_live_print(&text) == LZ_OK)
            fwrite(text.data, 1, text.len, stderr);
    }
    lz_buf_free(&text);
}

void lz_live_at_exit(void)
{
    if (lz_cfg_bool(LZ_OPT_LEAKS))
        (void)atexit(at_exit);
}

size_t lz_live_report(char *buf, size_t n)
{
    LZ_PUBLIC(0);
    lz_buf b = {0};
    if (lz_live_print(&b) == LZ_OK)
        return lz_api_text(&b, buf, n);
    lz_buf_free(&b);
    lz_error_annotate("lz_live_report", NULL);
    return 0;
}
