/* profile.c - see profile.h. */
#include "backends/common/profile.h"
#include "base/alloc.h"
#include "base/config.h"
#include "base/host_time.h"
#include "base/log.h"
#include "base/outfile.h"
#include "base/thread.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct lz_profile {
    lz_profile *next;
    _Atomic int64_t runs;
    uint32_t number, cap;
    _Atomic uint32_t nrow; /* rows are added while others read those there are */
    lz_profile_row row[];
};

static lz_mutex lock = LZ_MUTEX_INIT("profile");
static lz_profile *profiles; /* tables that are not written yet */
static bool at_exit;
static _Atomic bool started;
static uint32_t nprofile;
static LZ_VEC(lz_profile_entry) retired; /* launches of programs that are no longer there */

/* ---- the table ---- */

static bool on(void)
{
    return *lz_cfg_str(LZ_OPT_PROFILE) != '\0';
}

void lz_profile_start(void)
{
    atomic_store(&started, true);
}

bool lz_profile_on(void)
{
    return atomic_load(&started) || on() || *lz_cfg_str(LZ_OPT_PROFILE_REPORT) != '\0';
}

static const char *name_of(const lz_profile_launch *l)
{
    return l->step->name ? l->step->name : l->kernel->name;
}

/* Its first digits. Routines have none. */
static void hash_of(const lz_profile_launch *l, char digits[9])
{
    char hex[33] = "--------";
    if (l->kernel)
        lz_hash_hex(l->kernel->hash, hex);
    memcpy(digits, hex, 8);
    digits[8] = '\0';
}

static void print_row(const lz_profile_row *r, uint32_t i, lz_buf *out)
{
    char hex[9];
    int64_t calls = atomic_load(&r->calls), least = atomic_load(&r->least_ns);
    double mean = (double)atomic_load(&r->ns) / (double)calls,
           cpu = (double)atomic_load(&r->cpu_ns) / (double)calls;
    double ns = least > 0 ? (double)least : 1;
    const lz_profile_launch *l = &r->what;
    hash_of(l, hex);
    lz_buf_printf(out,
                  "%4u %7" PRId64 " %10.4f %10.4f %10.4f %12" PRIu64 " %11" PRIu64
                  " %8.1f %8.1f %6" PRId64 " %3d  %s ",
                  i, calls, mean * 1e-6, cpu * 1e-6, ns * 1e-6, l->step->flops, l->step->bytes,
                  (double)l->step->flops / ns, (double)l->step->bytes / ns, l->units, l->threads,
                  hex);
    size_t before = out->len;
    lz_step_print_node(l->step, 0, out); /* the costliest, as a kernel's name does not say */
    lz_buf_printf(out, "%s%s\n", out->len > before ? "  " : "", name_of(l));
}

/* A program that never ran prints nothing. Launches in loops run more often than the program,
 * launches with cached results less often. */
static void print(const lz_profile *p, lz_buf *out)
{
    double ns = 0, cpu = 0, least = 0, runs = (double)atomic_load(&p->runs);
    if (runs == 0)
        return;
    for (uint32_t i = 0; i < p->nrow; i++) {
        const lz_profile_row *r = &p->row[i];
        ns += (double)atomic_load(&r->ns) / runs;
        cpu += (double)atomic_load(&r->cpu_ns) / runs;
        least += (double)atomic_load(&r->least_ns) * (double)atomic_load(&r->calls) / runs;
    }
    lz_buf_printf(out,
                  "program of %u launches, run %.0f times: %.4f ms a run, %.4f ms of processor "
                  "time, %.4f ms of each launch's least\n",
                  p->nrow, runs, ns * 1e-6, cpu * 1e-6, least * 1e-6);
    lz_buf_puts(out, "step   calls    mean_ms     cpu_ms   least_ms         flop        byte  "
                     "Gflop/s     GB/s  units thr  kernel\n");
    for (uint32_t i = 0; i < p->nrow; i++)
        if (atomic_load(&p->row[i].calls))
            print_row(&p->row[i], i, out);
}

static void write_table(const lz_profile *p)
{
    const char *path = lz_cfg_str(LZ_OPT_PROFILE);
    lz_buf text = {0};
    if (!on())
        return;
    print(p, &text);
    if (text.len) {
        int error = 0;
        if (strcmp(path, "STDERR") != 0)
            error = lz_file_append(path, text.data, text.len, false);
        else if (fwrite(text.data, 1, text.len, stderr) != text.len || fflush(stderr) != 0)
            error = errno;
        if (error)
            LZ_WARN_ONCE("profile", "%s cannot be written: %s", path, strerrordesc_np(error));
    }
    lz_buf_free(&text);
}

static void write_all(void)
{
    if (lz_fork_happened())
        return; /* the files are the parent's */
    lz_mutex_lock(&lock);
    for (const lz_profile *p = profiles; p; p = p->next)
        write_table(p);
    lz_mutex_unlock(&lock);
}

lz_status lz_profile_of(const lz_plan_exec *g, lz_profile **out)
{
    uint32_t nlaunch = 0;
    *out = NULL;
    if (!lz_profile_on())
        return LZ_OK;
    for (uint32_t i = 0; i < g->npart; i++)
        nlaunch += g->parts[i].plan->nstep;
    lz_profile *p = lz_calloc(1, sizeof *p + nlaunch * sizeof *p->row);
    if (!p)
        return LZ_FAIL(LZ_EMEM, "no memory for a profile of %u launches", nlaunch);
    p->cap = nlaunch;
    lz_mutex_lock(&lock);
    if (!at_exit)
        at_exit = atexit(write_all) == 0;
    lz_profile **end = &profiles;
    while (*end)
        end = &(*end)->next;
    *end = p;
    p->number = nprofile++;
    lz_mutex_unlock(&lock);
    *out = p;
    return LZ_OK;
}

void lz_profile_add(lz_profile *p, lz_profile_launch *l)
{
    uint32_t i = p ? atomic_load_explicit(&p->nrow, memory_order_relaxed) : 0;
    if (!p || i == p->cap)
        return;
    l->row = &p->row[i];
    l->row->what = *l;
    atomic_store_explicit(&p->nrow, i + 1, memory_order_release);
}

/* "FILE:LINE"; printf would take longer than all else of a span. */
static void put_line(char *out, size_t room, const lz_site *site)
{
    char digits[12];
    size_t nfile = strnlen(site->file, room - sizeof digits - 1), n = 0;
    memcpy(out, site->file, nfile);
    out[nfile++] = ':';
    unsigned v = site->line > 0 ? (unsigned)site->line : 0;
    do
        digits[n++] = (char)('0' + v % 10);
    while ((v /= 10) > 0);
    while (n)
        out[nfile++] = digits[--n];
    out[nfile] = '\0';
}

void lz_profile_span(const lz_profile_launch *l, uint32_t timeline_row, int64_t t0, int64_t ns)
{
    char hex[9], line[280] = "";
    const lz_step_node *n = l->step->nnode ? l->step->nodes : NULL; /* the costliest */
    bool known = n && n->op != LZ_OP_NONE;
    if (known && n->site && n->site->file)
        put_line(line, sizeof line, n->site);
    hash_of(l, hex); /* as printed in the table */
    lz_timeline_add(&(lz_span){
        .name = name_of(l),
        .category = "kernel",
        .key = {"units", "threads", "bytes", "flop"},
        .value = {l->units, l->threads, (int64_t)l->step->bytes, (int64_t)l->step->flops},
        .text_key = "kernel",
        .text = hex,
        .more = {{"operation", known ? lz_op_get(n->op)->text : NULL},
                 {"line", line[0] ? line : NULL},
                 {"scope", known ? n->scope : NULL}},
        .start_ns = t0,
        .ns = ns,
        .row = timeline_row});
}

void lz_profile_count(const lz_profile_launch *l, int64_t ns, int64_t cpu_ns)
{
    lz_profile_row *r = l->row;
    if (!r)
        return;
    lz_host_ran_kernels(ns);
    int64_t least = atomic_load_explicit(&r->least_ns, memory_order_relaxed);
    if (least == 0 || ns < least) /* the launches of a program run one after the other */
        atomic_store_explicit(&r->least_ns, ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&r->ns, ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&r->cpu_ns, cpu_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&r->calls, 1, memory_order_relaxed);
}

void lz_profile_note(const lz_profile_launch *l, uint32_t timeline_row, int64_t t0, int64_t ns,
                     int64_t cpu_ns)
{
    if (lz_timeline_on())
        lz_profile_span(l, timeline_row, t0, ns);
    lz_profile_count(l, ns, cpu_ns);
}

void lz_profile_ran(lz_profile *p)
{
    if (p)
        atomic_fetch_add_explicit(&p->runs, 1, memory_order_relaxed);
}

/* ---- the launches of all programs ---- */

static lz_profile_entry entry_of(const lz_profile *p, uint32_t i)
{
    const lz_profile_row *r = &p->row[i];
    const lz_step *s = r->what.step;
    lz_profile_entry e = {.program = p->number,
                          .index = i,
                          .name = name_of(&r->what),
                          .flops = s->flops,
                          .bytes = s->bytes,
                          .nnode = s->nnode,
                          .nodes = s->nodes,
                          .calls = atomic_load(&r->calls),
                          .ns = atomic_load(&r->ns),
                          .least_ns = atomic_load(&r->least_ns)};
    hash_of(&r->what, e.kernel);
    return e;
}

/* What has run stays in reports. Without memory for it, it does not. */
static void retire_locked(const lz_profile *p)
{
    for (uint32_t i = 0; i < p->nrow; i++) {
        lz_profile_entry e = entry_of(p, i);
        if (!e.calls)
            continue;
        lz_step_node *nodes = lz_alloc((e.nnode + 1) * sizeof *nodes);
        char *name = lz_strdup(e.name);
        if (nodes && name)
            memcpy(nodes, e.nodes, e.nnode * sizeof *nodes);
        e.nodes = nodes;
        e.name = name;
        LZ_QUIETLY {
            if (!nodes || !name || lz_vec_push(&retired, e) != LZ_OK) {
                lz_free(nodes);
                lz_free(name);
            }
        }
    }
}

void lz_profile_each(void (*fn)(const lz_profile_entry *e, void *user), void *user)
{
    lz_mutex_lock(&lock);
    for (uint32_t i = 0; i < retired.len; i++)
        fn(&retired.data[i], user);
    for (const lz_profile *p = profiles; p; p = p->next)
        for (uint32_t i = 0; i < p->nrow; i++) {
            lz_profile_entry e = entry_of(p, i);
            if (e.calls)
                fn(&e, user);
        }
    lz_mutex_unlock(&lock);
}

void lz_profile_free(lz_profile *p)
{
    if (!p)
        return;
    lz_mutex_lock(&lock);
    for (lz_profile **at = &profiles; *at; at = &(*at)->next)
        if (*at == p) {
            *at = p->next;
            break;
        }
    write_table(p);
    if (atomic_load(&started) || *lz_cfg_str(LZ_OPT_PROFILE_REPORT))
        retire_locked(p);
    lz_mutex_unlock(&lock);
    lz_free(p);
}
