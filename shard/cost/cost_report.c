/* cost_report.c - sums of a predicted step; what it is told as, text and JSON. See cost_step.h.
 * Threads: pure. */
#include "base/alloc.h"
#include "base/formats/json.h"
#include "ir/participants.h"
#include "shard/cost/cost_step.h"
#include "shard/report.h"
#include <inttypes.h>
#include <math.h>

void lz_cost_step_free(lz_cost_step *s)
{
    lz_vec_free(&s->uses);
    *s = (lz_cost_step){0};
}

/* By ring and pairwise algorithms, as lz_collective_sent counts. */
static double sent(lz_op kind, double n, double bytes)
{
    double share = n > 1 ? (n - 1) / n * bytes : 0;
    return kind == LZ_OP_ALL_REDUCE ? 2 * share
           : kind == LZ_OP_COLLECTIVE_PERMUTE || kind == LZ_OP_COLLECTIVE_BROADCAST
               ? (n > 1 ? bytes : 0)
               : share;
}

static lz_status add_use(lz_cost_step *s, const lz_cost_use *more)
{
    uint32_t i = 0;
    while (i < s->uses.len &&
           (s->uses.data[i].kind != more->kind || s->uses.data[i].axes != more->axes))
        i++;
    if (i == s->uses.len)
        LZ_TRY(lz_vec_push(&s->uses, ((lz_cost_use){.kind = more->kind, .axes = more->axes})));
    lz_cost_use *u = &s->uses.data[i];
    u->calls += more->calls;
    u->bytes += more->bytes;
    u->seconds += more->seconds;
    s->communication += more->seconds;
    return LZ_OK;
}

lz_status lz_cost_step_add(lz_cost_step *s, const lz_cost_place *p, lz_op kind, uint32_t axes,
                           double bytes, double calls, double *seconds)
{
    double n = (double)lz_mesh_mask_size(p->mesh, axes);
    *seconds = lz_cost_collective(p, kind, axes, bytes);
    if (n <= 1)
        return LZ_OK;
    return add_use(s, &(lz_cost_use){.kind = kind,
                                     .axes = axes,
                                     .calls = calls,
                                     .bytes = calls * sent(kind, n, bytes),
                                     .seconds = calls * *seconds});
}

lz_status lz_cost_step_merge(lz_cost_step *to, const lz_cost_step *from)
{
    to->products += from->products;
    to->memory += from->memory;
    to->flops += from->flops;
    for (uint32_t i = 0; i < from->uses.len; i++)
        LZ_TRY(add_use(to, &from->uses.data[i]));
    return LZ_OK;
}

static double share_of_peak(const lz_cost_place *p, const lz_cost_step *s, double flops)
{
    double peak = p->machine->flop_s[s->rate];
    return s->seconds > 0 && peak > 0 ? flops / s->seconds / peak : 0;
}

double lz_cost_utilisation(const lz_cost_place *p, const lz_cost_step *s)
{
    return share_of_peak(p, s, s->model_flops / (double)p->mesh->ndevice);
}

double lz_cost_hardware_utilisation(const lz_cost_place *p, const lz_cost_step *s)
{
    return share_of_peak(p, s, s->flops);
}

static const char *rate_text(lz_cost_rate r)
{
    static const char *const text[LZ_RATE_COUNT] = {"f64", "f32", "bf16", "8-bit"};
    return text[r];
}

/* ---- text ---- */

static void put_seconds(lz_buf *b, double s)
{
    const char *unit = s >= 1 ? "s" : s >= 1e-3 ? "ms" : "us";
    lz_buf_printf(b, "%10.3f %-2s", s * (s >= 1 ? 1 : s >= 1e-3 ? 1e3 : 1e6), unit);
}

static void put_bytes(lz_buf *b, double n)
{
    static const char *const unit[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
    int k = 0;
    while (n >= 1024 && k < 5) {
        n /= 1024;
        k++;
    }
    lz_buf_printf(b, "%.*f %s", k ? 2 : 0, n, unit[k]);
}

static void put_line(lz_buf *b, const char *what, double seconds, double of)
{
    lz_buf_printf(b, "%-16s", what);
    put_seconds(b, seconds);
    if (of > 0)
        lz_buf_printf(b, " %5.1f %%", 100 * seconds / of);
    lz_buf_putc(b, '\n');
}

typedef struct sum {
    double calls, bytes, seconds;
} sum;

static void add(sum *s, const lz_cost_use *u)
{
    s->calls += u->calls;
    s->bytes += u->bytes;
    s->seconds += u->seconds;
}

static void put_sum(lz_buf *b, const sum *s)
{
    put_seconds(b, s->seconds);
    lz_buf_printf(b, "  %.0f collectives, ", s->calls);
    put_bytes(b, s->bytes);
    lz_buf_puts(b, " sent\n");
}

/* Sums of uses with the same axes (by_axes) or kind as use i; false: an earlier one has them. */
static bool sum_like(const lz_cost_step *s, uint32_t i, bool by_axes, sum *out)
{
    const lz_cost_use *u = s->uses.data;
    *out = (sum){0};
    for (uint32_t k = 0; k < s->uses.len; k++) {
        if (by_axes ? u[k].axes != u[i].axes : u[k].kind != u[i].kind)
            continue;
        if (k < i)
            return false;
        add(out, &u[k]);
    }
    return true;
}

static void put_uses(const lz_cost_place *p, const lz_cost_step *s, bool by_axes, lz_buf *b)
{
    sum all;
    if (!s->uses.len)
        return;
    lz_buf_puts(b, by_axes ? "by axis\n" : "by kind\n");
    for (uint32_t i = 0; i < s->uses.len; i++) {
        lz_buf name = {0};
        if (!sum_like(s, i, by_axes, &all))
            continue;
        if (by_axes)
            lz_report_axes(&name, p->mesh, s->uses.data[i].axes);
        else
            lz_buf_puts(&name, lz_op_get(s->uses.data[i].kind)->text);
        lz_buf_printf(b, "  %-18s", lz_buf_str(&name));
        put_sum(b, &all);
        lz_buf_free(&name);
    }
}

static void put_text(const lz_cost_place *p, const lz_cost_step *s, lz_buf *b)
{
    const lz_cost_machine *c = p->machine;
    lz_buf_puts(b, "mesh ");
    lz_mesh_print(b, p->mesh);
    lz_buf_printf(b, " on %" PRId64 " x %s: %s\n", p->mesh->ndevice, c->name, c->text);
    put_line(b, "step", s->seconds, 0);
    put_line(b, "  products", s->products, s->seconds);
    put_line(b, "  memory-bound", s->memory, s->seconds);
    put_line(b, "  exposed", s->exposed, s->seconds);
    if (s->bubble > 0)
        put_line(b, "  bubble", s->bubble, s->seconds);
    put_line(b, "communication", s->communication, s->seconds);
    lz_buf_printf(
        b, "utilisation     %10.1f %% of %.4g Tflop/s %s, %.1f %% with what is computed again\n",
        100 * lz_cost_utilisation(p, s), c->flop_s[s->rate] * 1e-12, rate_text(s->rate),
        100 * lz_cost_hardware_utilisation(p, s));
    lz_buf_puts(b, "memory          ");
    put_bytes(b, s->peak_bytes);
    lz_buf_puts(b, " of ");
    put_bytes(b, c->memory);
    lz_buf_puts(b, ", of it parameters and state ");
    put_bytes(b, s->state_bytes);
    lz_buf_puts(b, s->peak_bytes > c->memory ? ": does not fit\n" : "\n");
    if (s->guessed)
        lz_buf_puts(b, "a loop of no static trip count counts as one round\n");
    put_uses(p, s, true, b);
    put_uses(p, s, false, b);
}

/* ---- JSON ---- */

static void put_json_uses(const lz_cost_place *p, const lz_cost_step *s, lz_buf *b)
{
    lz_buf_puts(b, ", \"collectives\": [");
    for (uint32_t i = 0; i < s->uses.len; i++) {
        const lz_cost_use *u = &s->uses.data[i];
        lz_buf axes = {0};
        lz_report_axes(&axes, p->mesh, u->axes);
        lz_buf_printf(b, "%s{\"collective\": \"%s\", \"axes\": ", i ? ", " : "",
                      lz_op_get(u->kind)->text);
        lz_buf_json_text(b, lz_buf_str(&axes));
        lz_buf_printf(b, ", \"calls\": %.0f, \"sent_bytes\": %.0f, \"seconds\": %.9g}", u->calls,
                      u->bytes, u->seconds);
        lz_buf_free(&axes);
    }
    lz_buf_putc(b, ']');
}

static void put_json(const lz_cost_place *p, const lz_cost_step *s, lz_buf *b)
{
    lz_buf mesh = {0};
    lz_mesh_print(&mesh, p->mesh);
    lz_buf_printf(b, "\"machine\": \"%s\", \"devices\": %" PRId64 ", \"mesh\": ", p->machine->name,
                  p->mesh->ndevice);
    lz_buf_json_text(b, lz_buf_str(&mesh));
    lz_buf_free(&mesh);
    const struct {
        const char *name;
        double v;
    } all[] = {{"seconds", s->seconds},
               {"products_seconds", s->products},
               {"memory_seconds", s->memory},
               {"communication_seconds", s->communication},
               {"exposed_seconds", s->exposed},
               {"bubble_seconds", s->bubble},
               {"device_flops", s->flops},
               {"model_flops", s->model_flops},
               {"peak_flop_s", p->machine->flop_s[s->rate]},
               {"model_flops_utilisation", lz_cost_utilisation(p, s)},
               {"hardware_flops_utilisation", lz_cost_hardware_utilisation(p, s)},
               {"state_bytes", s->state_bytes},
               {"peak_bytes", s->peak_bytes},
               {"memory_bytes", p->machine->memory}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        lz_buf_printf(b, ", \"%s\": %.9g", all[i].name, all[i].v);
    lz_buf_printf(b, ", \"fits\": %s, \"guessed\": %s",
                  s->peak_bytes <= p->machine->memory ? "true" : "false",
                  s->guessed ? "true" : "false");
    put_json_uses(p, s, b);
}

lz_status lz_cost_report(const lz_cost_place *place, const lz_cost_step *s, bool json, lz_buf *out)
{
    if (json)
        put_json(place, s, out);
    else
        put_text(place, s, out);
    return out->failed ? LZ_FAIL(LZ_EMEM, "no memory for a report of a step") : LZ_OK;
}
