/* graph_dump.c - see graph_dump.h; and the public calls that show graphs. Formats: PyTorch/XLA's
 * (torch_xla/csrc/debug_util.cpp). */
#include "runtime/debug/graph_dump.h"
#include "base/config.h"
#include "base/log.h"
#include "base/outfile.h"
#include "runtime/debug/frames.h"
#include "runtime/debug/metrics.h"
#include "runtime/graph/handle.h"
#include <errno.h>
#include <inttypes.h>
#include <lazuli/debug.h>
#include <stdio.h>
#include <string.h>

static lz_mutex file_lock = LZ_MUTEX_INIT("graph_dump");

bool lz_dump_on(void)
{
    return lz_cfg_str(LZ_OPT_SAVE_TENSORS_FILE)[0] || lz_cfg_str(LZ_OPT_METRICS_FILE)[0];
}

/* Appends text in one write. "STDERR" and "STDOUT" are the streams. */
static void append(const char *path, const lz_buf *text)
{
    lz_mutex_lock(&file_lock);
    bool out = strcmp(path, "STDOUT") == 0, err = strcmp(path, "STDERR") == 0;
    FILE *f = out ? stdout : err ? stderr : NULL;
    int error = 0;
    if (!f)
        error = lz_file_append(path, text->data, text->len, false);
    else if (fwrite(lz_buf_str(text), 1, text->len, f) != text->len || fflush(f) != 0)
        error = errno;
    if (error)
        LZ_WARN_ONCE("dump", "%s cannot be written: %s", path, strerrordesc_np(error));
    lz_mutex_unlock(&file_lock);
}

/* ---- frames ---- */

typedef struct frame_lines {
    lz_buf *out;
    const char *indent;
    int max, shown;
} frame_lines;

static bool print_frame(const lz_stack_frame *f, void *user)
{
    frame_lines *l = user;
    if (l->shown++ == l->max) {
        lz_buf_printf(l->out, "%s..........\n", l->indent);
        return false;
    }
    if (f->site)
        lz_buf_printf(l->out, "%s%s (%s:%d)\n", l->indent, f->site->func ? f->site->func : "?",
                      f->site->file ? f->site->file : "?", f->site->line);
    else
        lz_buf_printf(l->out, "%s%s (%s:0x%" PRIxPTR ")\n", l->indent, f->name, f->module,
                      f->offset);
    return true;
}

void lz_dump_frames(lz_buf *out, const char *indent, int max)
{
    lz_frames_each(print_frame, &(frame_lines){out, indent, max, 0});
}

/* ---- a function in one of the formats ---- */

static lz_status print_func(const lz_func *f, const char *format, lz_buf *out)
{
    if (strcmp(format, "text") == 0)
        lz_func_print_irtext(f, out, lz_cfg_bool(LZ_OPT_IR_DEBUG));
    else if (strcmp(format, "dot") == 0)
        lz_func_print_dot(f, out);
    else if (strcmp(format, "hlo") == 0 || strcmp(format, "stablehlo") == 0)
        lz_func_print(
            f, out,
            lz_cfg_bool(LZ_OPT_HLO_DEBUG) || lz_cfg_bool(LZ_OPT_IR_DEBUG) ? LZ_PRINT_LOCATIONS : 0);
    else
        return LZ_FAIL(LZ_EINVAL, "format \"%.40s\": text, hlo, stablehlo and dot are known",
                       format);
    return out->failed
               ? LZ_FAIL(LZ_EMEM, "no memory for the text of a graph of %u instructions", f->ninst)
               : LZ_OK;
}

/* Hash of each value by content. NULL without memory. */
static lz_hash *value_hashes(const lz_func *f)
{
    lz_hash *h = lz_calloc((size_t)f->ninst + 1, sizeof *h);
    for (uint32_t i = 0; h && i < f->ninst; i++) {
        const lz_inst *in = &f->insts[i];
        lz_hash pair[2] = {in->sig->hash, {i < f->nparam ? i + 1 : 0, 0}};
        h[i] = lz_hash_bytes(pair, sizeof pair);
        if (in->lit) {
            pair[0] = h[i];
            pair[1] = lz_hash_bytes(in->lit->data, in->lit->nbytes);
            h[i] = lz_hash_bytes(pair, sizeof pair);
        }
        for (uint32_t k = 0; k < in->sig->nopnd; k++) {
            pair[0] = h[i];
            pair[1] = h[in->opnd[k]];
            h[i] = lz_hash_bytes(pair, sizeof pair);
        }
    }
    return h;
}

static void print_root_hashes(const lz_func *f, lz_buf *out)
{
    char text[33];
    lz_hash *h = value_hashes(f);
    lz_buf_puts(out, "Root Hashes: (");
    for (uint32_t r = 0; h && r < f->nresult; r++)
        lz_buf_printf(out, "%s%s", r ? ", " : "", lz_hash_text(h[f->results[r]], text));
    lz_buf_puts(out, ")\n");
    lz_free(h);
}

/* ---- at each sync, at each step ---- */

static void dump_func(const lz_capture *c, const lz_program *p, const lz_func *f)
{
    char hash[33], path[4096];
    const char *fmt = lz_cfg_str(LZ_OPT_SAVE_TENSORS_FMT);
    lz_buf b = {0};
    lz_buf_puts(&b, "[ScheduleSyncTensorsGraph]\n");
    if (p->name)
        lz_buf_printf(&b, "Graph Name: %s\n", p->name);
    lz_buf_puts(&b, "TensorsGraphInfo:\n");
    lz_dump_frames(&b, "  ", (int)lz_cfg_int(LZ_OPT_PT_XLA_DEBUG_MAX_FRAME));
    lz_buf_putc(&b, '\n');
    print_root_hashes(f, &b);
    lz_buf_puts(&b, "\n## BEGIN_GRAPH\n");
    if (print_func(f, fmt, &b) != LZ_OK)
        LZ_WARN_ONCE("dump", "XLA_SAVE_TENSORS_FMT: %s", lz_error_get()->message);
    lz_buf_printf(&b, "Graph Hash: %s\n\n## END_GRAPH\n\n", lz_hash_text(p->hash, hash));
    snprintf(path, sizeof path, "%s.%d", lz_cfg_str(LZ_OPT_SAVE_TENSORS_FILE), c->dev->ordinal);
    append(path, &b);
    lz_buf_free(&b);
}

void lz_dump_sync(const lz_capture *c, const lz_program *p)
{
    if (!lz_cfg_str(LZ_OPT_SAVE_TENSORS_FILE)[0])
        return;
    lz_func *f = NULL;
    uint32_t *map = lz_calloc(c->roots.len + 1, sizeof *map);
    if (map && lz_capture_func(c, p->name ? p->name : "main", &f, map) == LZ_OK)
        dump_func(c, p, f);
    lz_func_free(f);
    lz_free(map);
}

void lz_dump_step(void)
{
    const char *path = lz_cfg_str(LZ_OPT_METRICS_FILE);
    lz_buf b = {0};
    if (!path[0])
        return;
    lz_buf_printf(&b, "[MetricsData; step=%" PRId64 "]\n", lz_counter_get(LZ_COUNTER_MarkStep));
    lz_metrics_print(&b, false);
    lz_buf_putc(&b, '\n');
    append(path, &b);
    lz_buf_free(&b);
}

/* ---- public ---- */

typedef struct pending {
    LZ_VEC(lz_node *) nodes;
    lz_capture cap;
    lz_dev *dev;
} pending;

static lz_status hold(pending *p, lz_tensor *const *tensors, size_t count)
{
    if (count && !tensors)
        return LZ_FAIL(LZ_ENULL, "tensors is NULL");
    if (!count)
        return LZ_FAIL(LZ_EINVAL, "there are no tensors");
    for (size_t i = 0; i < count; i++) {
        lz_node *n = lz_trace_node_of(tensors[i]);
        if (!n)
            return lz_error_get()->status;
        if (p->dev && n->dev != p->dev) {
            lz_node_release(n);
            return LZ_FAIL(LZ_EINVAL, "tensors 0 and %zu are on two devices", i);
        }
        p->dev = n->dev;
        if (lz_vec_push(&p->nodes, n) != LZ_OK) {
            lz_node_release(n);
            return LZ_EMEM;
        }
    }
    return LZ_OK;
}

static void let_go(pending *p)
{
    for (uint32_t i = 0; i < p->nodes.len; i++)
        lz_node_release(p->nodes.data[i]);
    lz_vec_free(&p->nodes);
    lz_capture_free(&p->cap);
}

static size_t give(lz_status s, lz_buf *text, char *buf, size_t n)
{
    if (lz_api_status(s) != LZ_OK)
        text->len = 0;
    return lz_api_text(text, buf, n);
}

static lz_status graph_text(pending *p, const char *format, lz_buf *out)
{
    lz_func *f = NULL;
    uint32_t *map = lz_calloc(p->nodes.len + 1, sizeof *map);
    lz_status s = map ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for %u tensors", p->nodes.len);
    if (s == LZ_OK)
        s = lz_capture_walk(&p->cap, p->dev, (lz_capture_effects){0}, p->nodes.data, p->nodes.len);
    if (s == LZ_OK)
        s = lz_capture_func(&p->cap, "main", &f, map);
    if (s == LZ_OK)
        s = print_func(f, format, out);
    lz_func_free(f);
    lz_free(map);
    return s;
}

size_t lz_dump_graph(lz_tensor *const *tensors, size_t count, const char *format, char *buf,
                     size_t n)
{
    LZ_PUBLIC(0);
    lz_api_frame fr = lz_api_enter("lz_dump_graph", NULL);
    pending p = {0};
    lz_buf out = {0};
    lz_status s = format ? hold(&p, tensors, count) : LZ_FAIL(LZ_ENULL, "format is NULL");
    if (s == LZ_OK) {
        lz_dev_lock(p.dev);
        s = graph_text(&p, format, &out);
        lz_dev_unlock(p.dev);
    }
    let_go(&p);
    size_t len = give(s, &out, buf, n);
    (void)lz_api_leave(&fr, s);
    return len;
}

size_t lz_graph_hash(lz_tensor *const *tensors, size_t count, char *buf, size_t n)
{
    LZ_PUBLIC(0);
    lz_api_frame fr = lz_api_enter("lz_graph_hash", NULL);
    pending p = {0};
    lz_buf out = {0};
    lz_hash h;
    char text[33];
    lz_status s = hold(&p, tensors, count);
    if (s == LZ_OK) {
        lz_dev_lock(p.dev);
        s = lz_capture_walk(&p.cap, p.dev, (lz_capture_effects){0}, p.nodes.data, p.nodes.len);
        if (s == LZ_OK)
            s = lz_program_hash(&p.cap, &h);
        lz_dev_unlock(p.dev);
        if (s == LZ_OK)
            lz_buf_puts(&out, lz_hash_text(h, text));
    }
    let_go(&p);
    size_t len = give(s, &out, buf, n);
    (void)lz_api_leave(&fr, s);
    return len;
}
