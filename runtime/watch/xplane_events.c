/* xplane_events.c - see xplane_events.h; the events of a trace as they are added. */
#include "runtime/watch/xplane_events.h"
#include "base/text.h"
#include "base/formats/proto.h"
#include <stdio.h>
#include <string.h>

/* Fields of the messages: xplane.c has the others. */
enum { XEVENT_STATS = 4, XSTAT_ID = 1, XSTAT_INT64 = 4, XSTAT_REF = 7 };
/* Picoseconds of it fit 64 bits. */
enum { PS = 1000 };
static const int64_t longest_ns = INT64_MAX / PS / 2;

lz_xplane *lz_xplane_new(const char *host, int64_t began_ns, int64_t began_unix_ns)
{
    lz_xplane *x = lz_calloc(1, sizeof *x);
    if (!x) {
        (void)LZ_FAIL(LZ_EMEM, "no memory for a trace");
        return NULL;
    }
    snprintf(x->host, sizeof x->host, "%s", host);
    x->began_ns = began_ns;
    x->began_unix_ns = began_unix_ns;
    return x;
}

void lz_xplane_free(lz_xplane *x)
{
    if (!x)
        return;
    lz_buf_free(&x->chars);
    lz_buf_free(&x->stats);
    lz_buf_free(&x->scratch);
    lz_vec_free(&x->texts);
    lz_vec_free(&x->kernels);
    lz_vec_free(&x->rows);
    lz_vec_free(&x->events);
    lz_map_free(&x->text_ids);
    lz_map_free(&x->kernel_ids);
    lz_map_free(&x->row_ids);
    lz_free(x);
}

static lz_status no_memory(void)
{
    return LZ_FAIL(LZ_EMEM, "no memory for an event of a trace");
}

static uint32_t number_of(const lz_map *m, lz_hash h)
{
    return (uint32_t)(uintptr_t)lz_map_get(m, h);
}

lz_status lz_xplane_text(lz_xplane *x, const char *s, size_t n, uint32_t *id)
{
    lz_hash h = lz_hash_bytes(s, n);
    *id = number_of(&x->text_ids, h);
    if (*id)
        return LZ_OK;
    size_t at = x->chars.len;
    for (size_t i = 0, k; i < n; i += k ? k : 1) { /* a string of protocol buffers is UTF-8 */
        k = lz_utf8_length(s + i, n - i);
        lz_buf_put(&x->chars, k ? s + i : "?", k ? k : 1);
    }
    if (x->chars.failed)
        return no_memory();
    LZ_TRY(lz_vec_push(&x->texts, ((lz_xtext){.at = at, .n = (uint32_t)(x->chars.len - at)})));
    *id = x->texts.len;
    return lz_map_put(&x->text_ids, h, (void *)(uintptr_t)*id);
}

static lz_status text_of(lz_xplane *x, lz_trace_text t, uint32_t *id)
{
    return lz_xplane_text(x, t.at, t.n, id);
}

static lz_status text_of_arg(lz_xplane *x, const lz_trace_event *e, const char *key, uint32_t *id)
{
    const lz_trace_arg *a = lz_trace_arg_of(e, key);
    *id = 0;
    return a && a->is_text ? text_of(x, a->text, id) : LZ_OK;
}

static int64_t number_of_arg(const lz_trace_event *e, const char *key)
{
    const lz_trace_arg *a = lz_trace_arg_of(e, key);
    return a && !a->is_text ? a->number : 0;
}

/* ---- rows ---- */

/* "CUDA:0 compute", "steps of CPU:0": the device. */
static lz_status device_of_row(lz_xplane *x, lz_trace_text name, uint32_t *id)
{
    static const char steps[] = "steps of ";
    size_t n = sizeof steps - 1;
    if (name.n > n && memcmp(name.at, steps, n) == 0)
        return lz_xplane_text(x, name.at + n, name.n - n, id);
    const char *end = memchr(name.at, ' ', name.n);
    return lz_xplane_text(x, name.at, end ? (size_t)(end - name.at) : name.n, id);
}

/* The index of the event's row. */
static lz_status row_of(lz_xplane *x, const lz_trace_event *e, uint32_t *index)
{
    uint32_t name;
    lz_hash h = lz_hash_bytes(&e->tid, sizeof e->tid);
    LZ_TRY(text_of(x, e->row, &name));
    uint32_t number = number_of(&x->row_ids, h);
    if (!number) {
        lz_xrow r = {.tid = e->tid};
        if (e->tid > LZ_TRACE_ROWS)
            LZ_TRY(device_of_row(x, e->row, &r.device));
        LZ_TRY(lz_vec_push(&x->rows, r));
        number = x->rows.len;
        LZ_TRY(lz_map_put(&x->row_ids, h, (void *)(uintptr_t)number));
    }
    *index = number - 1;
    x->rows.data[*index].name = name;
    return LZ_OK;
}

/* ---- kernels ---- */

static lz_status kernel_of(lz_xplane *x, const lz_trace_event *e, uint32_t name, uint32_t *id)
{
    lz_xkernel k;
    memset(&k, 0, sizeof k); /* it is hashed as bytes */
    k.name = name;
    k.flops = number_of_arg(e, "flop");
    k.bytes = number_of_arg(e, "bytes");
    LZ_TRY(text_of_arg(x, e, "operation", &k.operation));
    LZ_TRY(text_of_arg(x, e, "scope", &k.scope));
    LZ_TRY(text_of_arg(x, e, "line", &k.source));
    LZ_TRY(text_of_arg(x, e, "kernel", &k.hash));
    lz_hash h = lz_hash_bytes(&k, sizeof k);
    *id = number_of(&x->kernel_ids, h);
    if (*id)
        return LZ_OK;
    LZ_TRY(lz_vec_push(&x->kernels, k));
    *id = x->kernels.len;
    return lz_map_put(&x->kernel_ids, h, (void *)(uintptr_t)*id);
}

/* ---- events ---- */

/* The event's arguments, as fields of an XEvent. */
static lz_status put_stats(lz_xplane *x, const lz_trace_event *e, lz_xevent *out)
{
    out->stats_at = x->stats.len;
    for (uint32_t i = 0; i < e->narg; i++) {
        const lz_trace_arg *a = &e->arg[i];
        uint32_t key, text;
        LZ_TRY(text_of(x, a->key, &key));
        x->texts.data[key - 1].is_stat = true;
        lz_proto_int(&x->scratch, XSTAT_ID, key);
        if (a->is_text) {
            LZ_TRY(text_of(x, a->text, &text));
            x->texts.data[text - 1].is_stat = true;
            lz_proto_int(&x->scratch, XSTAT_REF, text);
        } else {
            lz_proto_int(&x->scratch, XSTAT_INT64, a->number);
        }
        lz_proto_message(&x->stats, XEVENT_STATS, &x->scratch);
    }
    out->nstats = (uint32_t)(x->stats.len - out->stats_at);
    return x->stats.failed ? no_memory() : LZ_OK;
}

/* What the event is to a device. */
static lz_status classify(lz_xplane *x, const lz_trace_event *e, lz_xevent *out)
{
    if (lz_trace_text_is(e->category, "kernel")) {
        out->kind = LZ_XKIND_KERNEL;
        return kernel_of(x, e, out->name, &out->what);
    }
    if (lz_trace_text_is(e->category, "step time")) {
        out->kind = LZ_XKIND_STEP;
        out->step = number_of_arg(e, "step");
    } else if (lz_trace_text_is(e->category, "execute")) {
        out->kind = LZ_XKIND_PROGRAM;
        out->ordinal = (uint32_t)number_of_arg(e, "device");
        LZ_TRY(text_of_arg(x, e, "program", &out->what));
    } else if (lz_trace_text_is(e->category, "program")) {
        out->kind = LZ_XKIND_PROGRAM;
        out->what = out->name;
    }
    return LZ_OK;
}

lz_status lz_xplane_add(lz_xplane *x, const lz_trace_event *e)
{
    int64_t start = e->start_ns - x->began_ns;
    if (e->category.n == 0 || start < 0 || start > longest_ns || e->ns > longest_ns)
        return LZ_OK; /* a quantity has no place here */
    lz_xevent v = {.start_ns = start, .ns = e->ns};
    x->scratch.len = 0;
    LZ_TRY(text_of(x, e->name, &v.name));
    x->texts.data[v.name - 1].is_name = true;
    LZ_TRY(row_of(x, e, &v.row));
    LZ_TRY(classify(x, e, &v));
    LZ_TRY(put_stats(x, e, &v));
    LZ_TRY(lz_vec_push(&x->events, v));
    x->rows.data[v.row].nevent++;
    return LZ_OK;
}
