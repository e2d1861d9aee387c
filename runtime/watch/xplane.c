/* xplane.c - see xplane.h; encodes what xplane_events.c has kept. */
#include "ir/op.h"
#include "base/formats/proto.h"
#include "runtime/watch/xplane_events.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fields of the messages. */
enum { XSPACE_PLANES = 1, XSPACE_HOSTNAMES = 4 };
enum {
    XPLANE_ID = 1,
    XPLANE_NAME,
    XPLANE_LINES,
    XPLANE_EVENT_METADATA,
    XPLANE_STAT_METADATA,
    XPLANE_STATS
};
enum {
    XLINE_ID = 1,
    XLINE_NAME,
    XLINE_TIMESTAMP_NS,
    XLINE_EVENTS,
    XLINE_DURATION_PS = 9,
    XLINE_DISPLAY_ID,
    XLINE_DISPLAY_NAME
};
enum { XEVENT_METADATA_ID = 1, XEVENT_OFFSET_PS, XEVENT_DURATION_PS, XEVENT_STATS };
enum { METADATA_ID = 1, METADATA_NAME, EVENT_METADATA_DISPLAY_NAME = 4, EVENT_METADATA_STATS };
enum { XSTAT_ID = 1, XSTAT_INT64 = 4, XSTAT_STRING };
enum { MAP_KEY = 1, MAP_VALUE };
enum { PS = 1000, LANES = 4, DEEP = 64 };

/* Statistics of devices: their numbers are those of their metadata. */
typedef enum device_stat {
    HLO_OP = 1,
    HLO_CATEGORY,
    HLO_MODULE,
    PROGRAM_ID,
    SYMBOL_ID,
    FLOPS,
    BYTES_ACCESSED,
    TF_OP,
    SOURCE,
    KERNEL,
    GROUP_ID,
    DEVICE_TYPE_STRING,
    DEVICE_STATS
} device_stat;
static const char *const stat_names[DEVICE_STATS] = {
    [HLO_OP] = "hlo_op",
    [HLO_CATEGORY] = "hlo_category",
    [HLO_MODULE] = "hlo_module",
    [PROGRAM_ID] = "program_id",
    [SYMBOL_ID] = "symbol_id",
    [FLOPS] = "flops",
    [BYTES_ACCESSED] = "bytes_accessed",
    [TF_OP] = "tf_op",
    [SOURCE] = "source",
    [KERNEL] = "kernel",
    [GROUP_ID] = "group_id",
    [DEVICE_TYPE_STRING] = "device_type_string",
};

/* Lines of a device. */
typedef enum device_line { STEPS, MODULES, OPS, DEVICE_LINES = OPS + LANES } device_line;
/* What the events of devices are called: kernels by program, programs, steps. */
typedef struct metadata {
    device_line line;
    uint32_t what, program; /* a kernel and the text of its program's label; */
    int64_t step;           /* or a step */
} metadata;
typedef struct device_event {
    int64_t start_ns, ns;
    uint32_t device; /* text */
    device_line line;
    uint32_t id; /* of metadata */
} device_event;

typedef struct encoder {
    lz_xplane *x;
    lz_buf line, event, stat, meta, plane;
    uint32_t *order;              /* events by row and time */
    const lz_xevent **program_of; /* by kernel: a program that ran it; NULL: none is known */
    LZ_VEC(metadata) metas;
    lz_map meta_ids;
    LZ_VEC(device_event) on_devices;
} encoder;

static void free_encoder(encoder *c)
{
    lz_buf_free(&c->line);
    lz_buf_free(&c->event);
    lz_buf_free(&c->stat);
    lz_buf_free(&c->meta);
    lz_buf_free(&c->plane);
    lz_free(c->order);
    lz_free((void *)c->program_of);
    lz_vec_free(&c->metas);
    lz_map_free(&c->meta_ids);
    lz_vec_free(&c->on_devices);
}

static const char *text_at(const lz_xplane *x, uint32_t id, size_t *n)
{
    *n = id ? x->texts.data[id - 1].n : 0;
    return id ? x->chars.data + x->texts.data[id - 1].at : "";
}

/* ---- pieces ---- */

static void put_text(encoder *c, lz_buf *b, uint32_t field, uint32_t text)
{
    size_t n;
    const char *s = text_at(c->x, text, &n);
    lz_proto_bytes(b, field, s, n);
}

/* A field `field` of b: a statistic. */
static void put_int(encoder *c, lz_buf *b, uint32_t field, device_stat id, int64_t v)
{
    lz_proto_int(&c->stat, XSTAT_ID, id);
    lz_proto_int(&c->stat, XSTAT_INT64, v);
    lz_proto_message(b, field, &c->stat);
}

static void put_string(encoder *c, lz_buf *b, uint32_t field, device_stat id, const char *s,
                       size_t n)
{
    lz_proto_int(&c->stat, XSTAT_ID, id);
    lz_proto_bytes(&c->stat, XSTAT_STRING, s, n);
    lz_proto_message(b, field, &c->stat);
}

static void put_string_of(encoder *c, lz_buf *b, uint32_t field, device_stat id, uint32_t text)
{
    size_t n;
    const char *s = text_at(c->x, text, &n);
    if (text)
        put_string(c, b, field, id, s, n);
}

/* An entry of the map of metadata: what is in c->meta. */
static void put_metadata(encoder *c, uint32_t field, uint32_t id)
{
    lz_proto_int(&c->event, MAP_KEY, id);
    lz_proto_message(&c->event, MAP_VALUE, &c->meta);
    lz_proto_message(&c->plane, field, &c->event);
}

static void begin_line(encoder *c, int64_t id, const char *name, size_t n)
{
    lz_proto_int(&c->line, XLINE_ID, id);
    lz_proto_bytes(&c->line, XLINE_NAME, name, n);
    lz_proto_int(&c->line, XLINE_TIMESTAMP_NS, c->x->began_unix_ns);
}

/* stats: fields of an XEvent. */
static void put_event(encoder *c, uint32_t id, int64_t start_ns, int64_t ns, const char *stats,
                      size_t nstats)
{
    lz_proto_int(&c->event, XEVENT_METADATA_ID, id);
    lz_proto_int(&c->event, XEVENT_OFFSET_PS, start_ns * PS);
    lz_proto_int(&c->event, XEVENT_DURATION_PS, ns * PS);
    lz_buf_put(&c->event, stats, nstats);
    lz_proto_message(&c->line, XLINE_EVENTS, &c->event);
}

static void begin_plane(encoder *c, int64_t id, const char *name)
{
    c->plane.len = 0;
    lz_proto_int(&c->plane, XPLANE_ID, id);
    lz_proto_bytes(&c->plane, XPLANE_NAME, name, strlen(name));
}

/* ---- the host ---- */

static int by_row_and_time(const void *a, const void *b, void *user)
{
    const lz_xevent *all = user, *x = &all[*(const uint32_t *)a], *y = &all[*(const uint32_t *)b];
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->ns != y->ns) /* the outer one first */
        return x->ns > y->ns ? -1 : 1;
    return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

static lz_status sort_events(encoder *c)
{
    uint32_t n = c->x->events.len;
    c->order = lz_alloc((n ? n : 1) * sizeof *c->order);
    if (!c->order)
        return LZ_FAIL(LZ_EMEM, "no memory for a trace of %u events", n);
    for (uint32_t i = 0; i < n; i++)
        c->order[i] = i;
    if (n)
        qsort_r(c->order, n, sizeof *c->order, by_row_and_time, c->x->events.data);
    return LZ_OK;
}

static void put_host_metadata(encoder *c)
{
    for (uint32_t i = 1; i <= c->x->texts.len; i++) {
        const lz_xtext *t = &c->x->texts.data[i - 1];
        for (int k = 0; k < 2; k++) {
            if (!(k ? t->is_stat : t->is_name))
                continue;
            lz_proto_int(&c->meta, METADATA_ID, i);
            put_text(c, &c->meta, METADATA_NAME, i);
            put_metadata(c, k ? XPLANE_STAT_METADATA : XPLANE_EVENT_METADATA, i);
        }
    }
}

/* Lines of threads, and of rows that are no threads. */
static void put_host(encoder *c, lz_buf *out)
{
    const lz_xplane *x = c->x;
    size_t n;
    begin_plane(c, 1, "/host:CPU");
    for (uint32_t i = 0; i < x->events.len;) {
        const lz_xrow *r = &x->rows.data[x->events.data[c->order[i]].row];
        const char *name = text_at(x, r->name, &n);
        begin_line(c, r->tid, name, n);
        for (uint32_t end = i + r->nevent; i < end; i++) {
            const lz_xevent *e = &x->events.data[c->order[i]];
            put_event(c, e->name, e->start_ns, e->ns, x->stats.data + e->stats_at, e->nstats);
        }
        lz_proto_message(&c->plane, XPLANE_LINES, &c->line);
    }
    put_host_metadata(c);
    lz_proto_message(out, XSPACE_PLANES, &c->plane);
}

/* ---- devices: who ran what ---- */

static lz_status meta_of(encoder *c, const metadata *m, uint32_t *id)
{
    lz_hash h = lz_hash_bytes(m, sizeof *m);
    *id = (uint32_t)(uintptr_t)lz_map_get(&c->meta_ids, h);
    if (*id)
        return LZ_OK;
    LZ_TRY(lz_vec_push(&c->metas, *m));
    *id = c->metas.len;
    return lz_map_put(&c->meta_ids, h, (void *)(uintptr_t)*id);
}

static lz_status add_event(encoder *c, const lz_xevent *e, uint32_t device, device_line line,
                           uint32_t program)
{
    metadata m;
    device_event v = {.start_ns = e->start_ns, .ns = e->ns, .device = device, .line = line};
    memset(&m, 0, sizeof m); /* it is hashed as bytes */
    m.line = line;
    m.what = line == OPS ? e->what : 0;
    m.program = program;
    m.step = line == STEPS ? e->step : 0;
    LZ_TRY(meta_of(c, &m, &v.id));
    return lz_vec_push(&c->on_devices, v);
}

/* The CPU device of a program that ran on a thread. */
static lz_status cpu_of(encoder *c, const lz_xevent *program, uint32_t *device)
{
    char name[32];
    int n = snprintf(name, sizeof name, "CPU:%" PRIu32, program ? program->ordinal : 0);
    return lz_xplane_text(c->x, name, (size_t)n, device);
}

/* Programs that are open on the thread whose events are looked at. */
typedef struct open_programs {
    const lz_xevent *at[DEEP];
    bool told[DEEP]; /* it has run a kernel: it is of a device that is on threads */
    uint32_t n;
} open_programs;

/* Where the program was not captured whole, that of another launch. */
static lz_status add_kernel(encoder *c, const lz_xevent *e, open_programs *open)
{
    const lz_xrow *r = &c->x->rows.data[e->row];
    const lz_xevent *program = open->n ? open->at[open->n - 1] : c->program_of[e->what];
    uint32_t device = r->device;
    if (!device)
        LZ_TRY(cpu_of(c, program, &device));
    if (open->n && !open->told[open->n - 1] && !r->device) {
        open->told[open->n - 1] = true;
        LZ_TRY(add_event(c, program, device, MODULES, program->what));
    }
    return add_event(c, e, device, OPS, program ? program->what : 0);
}

static void open_program(open_programs *open, const lz_xevent *e)
{
    if (open->n == DEEP)
        return;
    open->told[open->n] = false;
    open->at[open->n++] = e;
}

static lz_status look_at(encoder *c, const lz_xevent *e, open_programs *open)
{
    const lz_xrow *r = &c->x->rows.data[e->row];
    if (e->kind == LZ_XKIND_KERNEL)
        return add_kernel(c, e, open);
    if (e->kind == LZ_XKIND_STEP)
        return r->device ? add_event(c, e, r->device, STEPS, 0) : LZ_OK;
    return e->kind == LZ_XKIND_PROGRAM && r->device ? add_event(c, e, r->device, MODULES, e->what)
                                                    : LZ_OK;
}

static bool ended_by(const lz_xevent *e, int64_t when_ns)
{
    return e->start_ns + e->ns <= when_ns;
}

/* By time: kernels lie within the program that their thread runs. find: only whose they are. */
static lz_status walk(encoder *c, bool find)
{
    open_programs open = {.n = 0};
    uint32_t row = UINT32_MAX;
    for (uint32_t i = 0; i < c->x->events.len; i++) {
        const lz_xevent *e = &c->x->events.data[c->order[i]];
        if (e->row != row)
            open.n = 0;
        row = e->row;
        while (open.n && ended_by(open.at[open.n - 1], e->start_ns))
            open.n--;
        if (!find)
            LZ_TRY(look_at(c, e, &open));
        else if (e->kind == LZ_XKIND_KERNEL && open.n)
            c->program_of[e->what] = open.at[open.n - 1];
        if (e->kind == LZ_XKIND_PROGRAM)
            open_program(&open, e);
    }
    return LZ_OK;
}

static lz_status find_devices(encoder *c)
{
    c->program_of =
        (const lz_xevent **)lz_calloc((size_t)c->x->kernels.len + 1, sizeof *c->program_of);
    if (!c->program_of)
        return LZ_FAIL(LZ_EMEM, "no memory for %u kernels of a trace", c->x->kernels.len);
    LZ_TRY(walk(c, true));
    return walk(c, false);
}

static int by_device(const void *a, const void *b, void *user)
{
    const device_event *x = a, *y = b;
    size_t n, k;
    const char *s = text_at(user, x->device, &n), *t = text_at(user, y->device, &k);
    int names = x->device == y->device ? 0 : n != k ? (n < k ? -1 : 1) : memcmp(s, t, n);
    if (names)
        return names;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->ns > y->ns ? -1 : x->ns < y->ns;
}

/* Kernels of a device that ran at the same time are on lines of their own: xprof takes what lies
 * within another one as a part of it. */
static void spread(device_event *e, uint32_t n)
{
    int64_t end[LANES] = {0};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t lane = 0;
        if (e[i].line != OPS)
            continue;
        while (lane + 1 < LANES && end[lane] > e[i].start_ns)
            lane++;
        end[lane] = e[i].start_ns + e[i].ns;
        e[i].line = (device_line)(OPS + lane);
    }
}

/* ---- devices: their planes ---- */

static const char *category_of(const lz_xplane *x, uint32_t operation)
{
    static const char *const names[] = {[LZ_CLASS_EW] = "elementwise",
                                        [LZ_CLASS_LEAF] = "constant",
                                        [LZ_CLASS_MOVE] = "data movement",
                                        [LZ_CLASS_INDEX] = "gather and scatter",
                                        [LZ_CLASS_REDUCE] = "reduction",
                                        [LZ_CLASS_DOT] = "dot",
                                        [LZ_CLASS_RNG] = "random numbers",
                                        [LZ_CLASS_META] = "shape",
                                        [LZ_CLASS_SORT] = "sort",
                                        [LZ_CLASS_CONTROL] = "control flow",
                                        [LZ_CLASS_WINDOW] = "window",
                                        [LZ_CLASS_FFT] = "fft",
                                        [LZ_CLASS_LINALG] = "linear algebra",
                                        [LZ_CLASS_CALL] = "call",
                                        [LZ_CLASS_COLLECTIVE] = "collective"};
    size_t n;
    const char *s = text_at(x, operation, &n);
    lz_op op = operation ? lz_op_from_text(s, n) : LZ_OP_NONE;
    return op == LZ_OP_NONE ? "other" : names[lz_op_get(op)->cls];
}

/* "mlp.up/dot_general:dot_general": what TensorFlow calls an operation and its type. */
static void put_tf_op(encoder *c, const lz_xkernel *k)
{
    char text[2 * LZ_TRACE_TEXT + 8];
    size_t nscope, n;
    const char *scope = text_at(c->x, k->scope, &nscope);
    const char *op = text_at(c->x, k->operation ? k->operation : k->name, &n);
    int len = snprintf(text, sizeof text, "%.*s%s%.*s", (int)nscope, scope, nscope ? "/" : "",
                       (int)n, op);
    if (len > 0 && (size_t)len + n + 1 < sizeof text)
        len += snprintf(text + len, sizeof text - (size_t)len, ":%.*s", (int)n, op);
    put_string(c, &c->meta, EVENT_METADATA_STATS, TF_OP, text, strnlen(text, sizeof text));
}

/* Its hash makes the name of a kernel its own: two may be called dot_general_add. */
static void put_kernel(encoder *c, const metadata *m, uint32_t id)
{
    const lz_xkernel *k = &c->x->kernels.data[m->what - 1];
    const uint32_t stats = EVENT_METADATA_STATS;
    lz_buf *b = &c->meta;
    const char *category = category_of(c->x, k->operation);
    char name[2 * LZ_TRACE_TEXT + 2];
    size_t n, nhash;
    const char *s = text_at(c->x, k->name, &n), *hash = text_at(c->x, k->hash, &nhash);
    int len = snprintf(name, sizeof name, "%.*s %.*s", (int)n, s, (int)nhash, hash);
    lz_proto_bytes(b, METADATA_NAME, name, len > 0 ? (size_t)len : 0);
    put_text(c, b, EVENT_METADATA_DISPLAY_NAME, k->name);
    put_string_of(c, b, stats, HLO_OP, k->name);
    put_string(c, b, stats, HLO_CATEGORY, category, strlen(category));
    put_string_of(c, b, stats, HLO_MODULE, m->program);
    put_int(c, b, stats, PROGRAM_ID, m->program ? m->program : 1);
    put_int(c, b, stats, SYMBOL_ID, id);
    put_int(c, b, stats, FLOPS, k->flops);
    put_int(c, b, stats, BYTES_ACCESSED, k->bytes);
    put_tf_op(c, k);
    put_string_of(c, b, stats, SOURCE, k->source);
    put_string_of(c, b, stats, KERNEL, k->hash);
}

static void put_device_metadata(encoder *c)
{
    char text[32];
    for (uint32_t id = 1; id <= c->metas.len; id++) {
        const metadata *m = &c->metas.data[id - 1];
        lz_proto_int(&c->meta, METADATA_ID, id);
        if (m->line == OPS) {
            put_kernel(c, m, id);
        } else if (m->line == MODULES) {
            put_text(c, &c->meta, METADATA_NAME, m->program);
            put_int(c, &c->meta, EVENT_METADATA_STATS, PROGRAM_ID, m->program);
        } else {
            snprintf(text, sizeof text, "%" PRId64, m->step);
            lz_proto_bytes(&c->meta, METADATA_NAME, text, strlen(text));
        }
        put_metadata(c, XPLANE_EVENT_METADATA, id);
    }
    for (int i = 1; i < DEVICE_STATS; i++) {
        lz_proto_int(&c->meta, METADATA_ID, i);
        lz_proto_bytes(&c->meta, METADATA_NAME, stat_names[i], strlen(stat_names[i]));
        put_metadata(c, XPLANE_STAT_METADATA, (uint32_t)i);
    }
}

static void put_device_line(encoder *c, const device_event *e, uint32_t n)
{
    static const char *const names[] = {"Steps", "XLA Modules", "XLA Ops"}, *const shown[] = {
                                                                                "steps", "programs",
                                                                                "kernels"};
    char text[LZ_TRACE_TEXT + 16];
    device_line line = e->line < OPS ? e->line : OPS;
    size_t nname;
    const char *device = text_at(c->x, e->device, &nname);
    begin_line(c, (int64_t)e->line + 1, names[line], strlen(names[line]));
    snprintf(text, sizeof text, "%.*s %s", (int)nname, device, shown[line]);
    lz_proto_bytes(&c->line, XLINE_DISPLAY_NAME, text, strlen(text));
    for (uint32_t i = 0; i < n; i++) {
        if (line == STEPS)
            put_int(c, &c->meta, XEVENT_STATS, GROUP_ID, c->metas.data[e[i].id - 1].step);
        put_event(c, e[i].id, e[i].start_ns, e[i].ns, c->meta.data, c->meta.len);
        c->meta.len = 0;
    }
    lz_proto_message(&c->plane, XPLANE_LINES, &c->line);
}

static void put_device(encoder *c, uint32_t number, device_event *e, uint32_t n, lz_buf *out)
{
    char name[32];
    snprintf(name, sizeof name, "/device:TPU:%" PRIu32, number);
    begin_plane(c, 2 + (int64_t)number, name);
    spread(e, n);
    qsort_r(e, n, sizeof *e, by_device, c->x);
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && e[end].line == e[i].line; end++)
            ;
        put_device_line(c, e + i, end - i);
    }
    put_device_metadata(c);
    put_string_of(c, &c->plane, XPLANE_STATS, DEVICE_TYPE_STRING, e->device);
    lz_proto_message(out, XSPACE_PLANES, &c->plane);
}

static void put_devices(encoder *c, lz_buf *out)
{
    device_event *all = c->on_devices.data;
    uint32_t n = c->on_devices.len, number = 0;
    if (n)
        qsort_r(all, n, sizeof *all, by_device, c->x);
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && all[end].device == all[i].device; end++)
            ;
        put_device(c, number++, all + i, end - i, out);
    }
}

lz_status lz_xplane_encode(lz_xplane *x, lz_buf *out)
{
    encoder c = {.x = x};
    lz_status s = sort_events(&c);
    if (s == LZ_OK)
        s = find_devices(&c);
    if (s == LZ_OK) {
        put_host(&c, out);
        put_devices(&c, out);
        lz_proto_bytes(out, XSPACE_HOSTNAMES, x->host, strlen(x->host));
        if (out->failed || c.plane.failed || c.line.failed || c.event.failed || c.meta.failed)
            s = LZ_FAIL(LZ_EMEM, "no memory for a trace of %u events", x->events.len);
    }
    free_encoder(&c);
    return s;
}
