/* simulate_cmd.c - lazuli shard --simulate MACHINE: how long a step would take there, of a program
 * or of a transformer that is only described. See simulate_cmd.h. */
#include "tools/lazuli/simulate_cmd.h"
#include "backends/cpu/workers.h"
#include "base/formats/json.h"
#include "base/text.h"
#include "ir/participants.h"
#include "runtime/debug/profile_report.h"
#include "shard/cost/cost_step.h"
#include "tools/lazuli/tool.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the machine ---- */

/* A core of this processor, by what profiles measure of its threads. */
static void measure(lz_cost_machine *c)
{
    lz_cpu_limits l = lz_profile_limits();
    long cores = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES);
    double threads = lz_workers_count();
    if (!(l.flop_s > 0) || threads < 1 || cores < 1 || pages < 1)
        return;
    for (int r = 0; r < LZ_RATE_COUNT; r++)
        c->flop_s[r] = l.flop_s / threads / (r == LZ_RATE_F64 ? 2 : 1);
    c->memory_s = l.byte_s / threads;
    c->memory = (double)pages * (double)sysconf(_SC_PAGESIZE) / (double)cores;
}

static const lz_cost_machine *machine_of(const simulate_options *o)
{
    static lz_cost_machine here;
    const lz_cost_machine *c = lz_cost_machine_find(o->machine);
    if (c && strcmp(c->name, "cpu") == 0) {
        here = *c;
        measure(&here);
        c = &here;
    }
    return c;
}

bool simulate_knows(const simulate_options *o)
{
    if (lz_cost_machine_find(o->machine))
        return true;
    lz_buf names = {0};
    const lz_cost_machine *c;
    for (int i = 0; (c = lz_cost_machine_at(i)); i++)
        lz_buf_printf(&names, "%s%s", i ? ", " : "", c->name);
    tool_usage("--simulate knows %s, not '%s'", lz_buf_str(&names), o->machine);
    lz_buf_free(&names);
    return false;
}

/* Of the floats that most bytes of parameters are. */
static lz_cost_rate rate_of(const lz_func *f)
{
    double bytes[LZ_RATE_COUNT] = {0};
    lz_cost_rate best = LZ_RATE_F32;
    for (uint32_t i = 0; i < f->nparam; i++) {
        const lz_type *t = lz_val_type(f, i);
        if (lz_dtype_is_float(t->dtype))
            bytes[lz_cost_rate_of(t->dtype)] += (double)t->nbytes;
    }
    for (int r = 0; r < LZ_RATE_COUNT; r++)
        best = bytes[r] > bytes[best] ? (lz_cost_rate)r : best;
    return best;
}

lz_auto_machine simulate_machine(const simulate_options *o, const lz_func *f, const lz_mesh *mesh)
{
    const lz_cost_machine *c = machine_of(o);
    double flops = c->flop_s[rate_of(f)], link = c->link_s, wait = c->link_latency;
    int far = mesh->nfactor ? LZ_LEVEL_NODE : LZ_LEVEL_NET;
    lz_cost_place place;
    lz_cost_place_mesh(c, mesh, &place);
    for (int k = 0; k < mesh->nfactor; k++)
        far = place.level[k] > far ? place.level[k] : far;
    if (far == LZ_LEVEL_NODE)
        link = c->node_s, wait = c->node_latency;
    else if (far == LZ_LEVEL_NET)
        link = c->net_s, wait = c->net_latency;
    flops = flops > 0 ? flops : c->flop_s[LZ_RATE_F32]; /* what it cannot is as slow as it can */
    return (lz_auto_machine){
        .flops = flops * c->product, .bytes = link * c->link, .latency = wait + c->launch};
}

/* ---- a program ---- */

/* f NULL: p->local is all that there is. */
static lz_status program(const simulate_options *o, const lz_func *f, const lz_mesh *mesh,
                         const lz_partitioned *p, lz_buf *out)
{
    lz_cost_place place;
    lz_cost_step step;
    lz_cost_place_mesh(machine_of(o), mesh, &place);
    lz_status s = lz_cost_program(&place, f, p, &step);
    lz_buf_puts(out, o->json ? "{" : "");
    if (s == LZ_OK)
        s = lz_cost_report(&place, &step, o->json, out);
    lz_buf_puts(out, o->json ? "}\n" : "");
    lz_cost_step_free(&step);
    return s;
}

lz_status simulate_program(const simulate_options *o, const lz_func *f, const lz_mesh *mesh,
                           const lz_partitioned *p, lz_buf *out)
{
    return program(o, f, mesh, p, out);
}

lz_status simulate_local(const simulate_options *o, const lz_func *f, const lz_mesh *mesh,
                         int64_t ndevice, lz_buf *out)
{
    lz_mesh_axis row = {lz_string_get("devices", 7), ndevice > 0 ? ndevice : 1};
    const lz_partitioned p = {.local = (lz_func *)f}; /* only read */
    if (!mesh)
        mesh = row.name ? lz_mesh_get(&row, 1, NULL) : NULL;
    if (!mesh)
        return lz_error_get()->status;
    return program(o, lz_func_has_collective(f) ? NULL : f, mesh, &p, out);
}

/* ---- NAME=N,.. of a record of numbers ---- */

enum { MOST_FIELDS = 16 };

static int field_of(const lz_cost_field *f, const char *name, size_t n)
{
    for (int i = 0; f[i].name; i++)
        if (strlen(f[i].name) == n && memcmp(f[i].name, name, n) == 0)
            return i;
    return -1;
}

static int64_t *field_at(void *record, const lz_cost_field *f)
{
    return (int64_t *)(void *)((char *)record + f->offset);
}

static int no_field(const char *option, const lz_cost_field *f, const char *text, size_t n)
{
    lz_buf names = {0};
    for (int i = 0; f[i].name; i++)
        lz_buf_printf(&names, "%s%s", i ? ", " : "", f[i].name);
    int rc =
        tool_usage("%s is NAME=N,.. of %s, not '%.*s'", option, lz_buf_str(&names), (int)n, text);
    lz_buf_free(&names);
    return rc;
}

/* 0, or 2 after a message: no such name, twice, out of range, or what must be said is not. */
static int read_fields(const char *option, const char *text, const lz_cost_field *f, void *record)
{
    bool said[MOST_FIELDS] = {false};
    for (int i = 0; f[i].name; i++)
        *field_at(record, &f[i]) = f[i].unsaid;
    for (const char *s = text, *end; s; s = *end ? end + 1 : NULL) {
        size_t n = strcspn(s, ","), name = strcspn(s, "=,");
        uint64_t v;
        int i = field_of(f, s, name);
        end = s + n;
        if (i < 0 || name >= n)
            return no_field(option, f, s, n);
        if (said[i])
            return tool_usage("%s says %s twice", option, f[i].name);
        if (lz_text_u64(s + name + 1, n - name - 1, 10, (uint64_t)f[i].hi, &v) != LZ_OK ||
            (int64_t)v < f[i].lo)
            return tool_usage("%s: %s is a number from %" PRId64 " to %" PRId64 ", not '%.*s'",
                              option, f[i].name, f[i].lo, f[i].hi, (int)(n - name - 1),
                              s + name + 1);
        *field_at(record, &f[i]) = (int64_t)v;
        said[i] = true;
    }
    for (int i = 0; f[i].name; i++)
        if (!said[i] && f[i].unsaid < f[i].lo)
            return tool_usage("%s does not say %s", option, f[i].name);
    return 0;
}

/* ---- a described model ---- */

/* data=8,tensor=4: what is not as if it were not said. */
static void put_layout(lz_buf *b, const lz_layout *l)
{
    bool any = false;
    for (const lz_cost_field *f = lz_layout_fields; f->name; f++) {
        int64_t v = *(const int64_t *)(const void *)((const char *)l + f->offset);
        if (v == f->unsaid)
            continue;
        lz_buf_printf(b, "%s%s=%" PRId64, any ? "," : "", f->name, v);
        any = true;
    }
    lz_buf_puts(b, any ? "" : "data=1");
}

static void put_layout_json(lz_buf *b, const lz_layout *l)
{
    lz_buf_puts(b, "\"layout\": {");
    for (const lz_cost_field *f = lz_layout_fields; f->name; f++)
        lz_buf_printf(b, "%s\"%s\": %" PRId64, f == lz_layout_fields ? "" : ", ", f->name,
                      *(const int64_t *)(const void *)((const char *)l + f->offset));
    lz_buf_puts(b, "}, ");
}

static void put_tokens(lz_buf *b, const lz_transformer *t, const lz_cost_step *s, bool json)
{
    double tokens = (double)t->batch * (double)t->seq / s->seconds;
    if (json)
        lz_buf_printf(b, ", \"parameters\": %.0f, \"tokens_per_second\": %.9g",
                      lz_transformer_parameters(t), tokens);
    else
        lz_buf_printf(b, "%.2f billion parameters, %.4g tokens/s\n",
                      lz_transformer_parameters(t) * 1e-9, tokens);
}

/* One layout, in full. */
static lz_status one(const lz_cost_machine *c, const lz_transformer *t, lz_layout *l, bool json,
                     lz_buf *out)
{
    lz_cost_step step;
    lz_cost_place place;
    lz_status s = lz_cost_transformer(c, t, l, &step);
    const lz_mesh *mesh = s == LZ_OK ? lz_layout_mesh(l) : NULL;
    if (mesh) {
        lz_cost_place_mesh(c, mesh, &place);
        if (json)
            put_layout_json(out, l);
        else {
            lz_buf_puts(out, "layout ");
            put_layout(out, l);
            lz_buf_puts(out, ": ");
            put_tokens(out, t, &step, false);
        }
        s = lz_cost_report(&place, &step, json, out);
        if (json)
            put_tokens(out, t, &step, true);
    } else if (s == LZ_OK)
        s = lz_error_get()->status;
    lz_cost_step_free(&step);
    return s;
}

/* ---- tables ---- */

enum { FEWEST = 8, MOST = 4096 };

/* The largest power of 2 of a node's devices (8 where there are no nodes) that divides the heads.
 */
static int64_t tensor_of(const lz_cost_machine *c, const lz_transformer *t)
{
    int64_t n = c->node > 2 && c->node < 8 ? c->node : 8;
    while (n > 1 && t->heads % n != 0)
        n /= 2;
    return n;
}

typedef struct kind {
    const char *name;
    lz_layout layout;
} kind;

static void kinds_of(const lz_cost_machine *c, const lz_transformer *t, int64_t devices,
                     kind out[3])
{
    const lz_layout plain = {.data = 1, .fsdp = 1, .tensor = 1, .pipeline = 1, .interleave = 1};
    int64_t tensor = tensor_of(c, t);
    out[0] = (kind){"data parallel", plain};
    out[0].layout.data = devices;
    out[1] = (kind){"FSDP", plain};
    out[1].layout.fsdp = devices;
    out[2] = (kind){"tensor x data", plain};
    out[2].layout.tensor = tensor;
    out[2].layout.sequence = tensor > 1;
    out[2].layout.data = devices / tensor;
}

static void put_row(lz_buf *b, const lz_cost_machine *c, const kind *k, const lz_cost_step *s,
                    const lz_mesh *mesh)
{
    lz_cost_place place;
    lz_buf layout = {0};
    lz_cost_place_mesh(c, mesh, &place);
    put_layout(&layout, &k->layout);
    double compute = s->products + s->memory, n = s->seconds;
    lz_buf_printf(b, "%7" PRId64 "  %-13s %10.4f %7.1f %9.1f %9.1f %9.1f%s  %s\n", mesh->ndevice,
                  k->name, n, 100 * lz_cost_utilisation(&place, s), 100 * compute / n,
                  100 * s->exposed / n, s->peak_bytes / 1073741824,
                  s->peak_bytes > c->memory ? "!" : " ", lz_buf_str(&layout));
    lz_buf_free(&layout);
}

static void put_refusal(lz_buf *b, int64_t devices, const kind *k)
{
    lz_buf_printf(b, "%7" PRId64 "  %-13s %s\n", devices, k->name, lz_error_get()->message);
}

static void put_refusal_json(lz_buf *b, int64_t devices)
{
    lz_buf_printf(b, "\"devices\": %" PRId64 ", \"error\": ", devices);
    lz_buf_json_text(b, lz_error_get()->message);
}

static lz_status row(const lz_cost_machine *c, const lz_transformer *t, int64_t devices, kind *k,
                     bool json, lz_buf *out)
{
    lz_cost_step step;
    lz_status s = lz_cost_transformer(c, t, &k->layout, &step);
    if (s == LZ_EINVAL) { /* this one cannot be */
        if (json)
            put_refusal_json(out, devices);
        else
            put_refusal(out, devices, k);
        s = LZ_OK;
    } else if (s == LZ_OK && json) {
        lz_cost_step_free(&step);
        s = one(c, t, &k->layout, true, out);
    } else if (s == LZ_OK) {
        const lz_mesh *mesh = lz_layout_mesh(&k->layout);
        if (mesh)
            put_row(out, c, k, &step, mesh);
        s = mesh ? LZ_OK : lz_error_get()->status;
    }
    lz_cost_step_free(&step);
    return s;
}

static lz_status table(const lz_cost_machine *c, const lz_transformer *t, bool json, lz_buf *out)
{
    if (!json)
        lz_buf_printf(out,
                      "%.2f billion parameters on %s: %s\ndevices  layout          seconds  model%%"
                      "  compute%%  exposed%%       GiB\n",
                      lz_transformer_parameters(t) * 1e-9, c->name, c->text);
    lz_buf_puts(out, json ? "\"rows\": [" : "");
    for (int64_t n = FEWEST; n <= MOST; n *= 2) {
        kind kinds[3];
        kinds_of(c, t, n, kinds);
        for (int k = 0; k < 3; k++) {
            if (json)
                lz_buf_printf(out, "%s{\"kind\": \"%s\", ", n == FEWEST && k == 0 ? "" : ",\n",
                              kinds[k].name);
            LZ_TRY(row(c, t, n, &kinds[k], json, out));
            lz_buf_puts(out, json ? "}" : "");
        }
    }
    lz_buf_puts(out, json ? "]" : "");
    if (!json)
        lz_buf_printf(out, "(!: more than the %.0f GiB of a device)\n", c->memory / 1073741824);
    return LZ_OK;
}

int simulate_model(const simulate_options *o)
{
    lz_transformer t = {0};
    lz_layout l = {0};
    lz_buf out = {0};
    if (read_fields("--model", o->model, lz_transformer_fields, &t) != 0 ||
        (o->layout && read_fields("--layout", o->layout, lz_layout_fields, &l) != 0))
        return 2;
    const lz_cost_machine *c = machine_of(o);
    lz_buf_puts(&out, o->json ? "{" : "");
    lz_status s = o->layout ? one(c, &t, &l, o->json, &out) : table(c, &t, o->json, &out);
    lz_buf_puts(&out, o->json ? "}\n" : "");
    if (s == LZ_OK && out.failed)
        s = LZ_FAIL(LZ_EMEM, "no memory for a report");
    if (s == LZ_OK)
        fwrite(lz_buf_str(&out), 1, out.len, stdout);
    lz_buf_free(&out);
    return s == LZ_OK ? 0 : tool_fail("shard");
}
