/* units.c - the kernels of a plan, one by one. See units.h. */
#include "support/units.h"
#include "backends/cpu/cpu_kernels.h"
#include "ir/custom_call.h"
#include "lower/plan/plan.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Units are checked one by one while that is cheap; of more only the whole is run. */
enum { BYTES_COMPARED = 32 << 20 };

/* ---- memory between two pages that cannot be touched ---- */

typedef struct guarded {
    char *map, *p;
    size_t nmap, n;
} guarded;

/* n bytes that end at a page (at_end; the start is then aligned to `align` at least) or start at
 * one. */
static bool guarded_new(guarded *g, size_t n, size_t align, bool at_end)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), body = LZ_ALIGN_UP(n, page);
    *g = (guarded){.nmap = body + 2 * page, .n = n};
    g->map = mmap(NULL, g->nmap, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (g->map == MAP_FAILED)
        return false;
    if (body && mprotect(g->map + page, body, PROT_READ | PROT_WRITE) != 0)
        return false;
    size_t slack = at_end ? (body - n) / align * align : 0;
    g->p = g->map + page + slack;
    return true;
}

static void guarded_free(guarded *g)
{
    if (g->map && g->map != MAP_FAILED)
        munmap(g->map, g->nmap);
}

/* ---- the memory of one execution, and of one step ---- */

typedef struct state {
    const lz_plan *plan;
    lz_kernel_load *loads;
    char **in, **out, *temp;
    bool at_end;
    lz_diff_result *r;
} state;

static char *address(const state *s, const lz_bufref *r)
{
    char *base = r->kind == LZ_BUFREF_INPUT    ? s->in[r->index]
                 : r->kind == LZ_BUFREF_OUTPUT ? s->out[r->index]
                 : r->kind == LZ_BUFREF_TEMP   ? s->temp
                                               : (char *)s->plan->consts;
    return base + r->offset;
}

typedef struct view {
    uint32_t n;
    char *home[LZ_KBUF_MAX]; /* where the bytes live between steps */
    guarded mem[LZ_KBUF_MAX];
    uint32_t
        shares[LZ_KBUF_MAX]; /* the first buffer of the same bytes: a kernel that works in place */
    void *bufs[LZ_KBUF_MAX];
    char *before[LZ_KBUF_MAX]; /* copies, to see what a unit wrote */
    uint8_t *owner[LZ_KBUF_MAX];
} view;

static bool fail(state *s, const lz_step *st, const char *what)
{
    snprintf(s->r->msg, sizeof s->r->msg, "step '%s': %s", st->name, what);
    return false;
}

static void view_end(view *v)
{
    for (uint32_t i = 0; i < v->n; i++) {
        guarded_free(&v->mem[i]);
        lz_free(v->before[i]);
        lz_free(v->owner[i]);
    }
    lz_free(v);
}

/* Buffers of the same bytes share memory here too; all others are apart, so that a partial overlap
 * would show. */
static view *view_new(state *s, const lz_step *st)
{
    const lz_kernel *k = s->plan->kernels[st->kernel];
    view *v = lz_calloc(1, sizeof *v);
    for (uint32_t i = 0; v && i < st->nbuf; i++) {
        size_t n = st->bufs[i].nbytes, align = lz_dtype_size(k->buf[i].dtype);
        v->home[i] = address(s, &st->bufs[i]);
        v->n = i + 1;
        v->shares[i] = i;
        for (uint32_t j = 0; j < i; j++)
            if (v->home[j] == v->home[i] && st->bufs[j].nbytes == n && v->shares[i] == i)
                v->shares[i] = v->shares[j];
        if (v->shares[i] != i) {
            v->bufs[i] = v->bufs[v->shares[i]];
            continue;
        }
        v->before[i] = lz_calloc(n + 1, 1);
        v->owner[i] = lz_calloc(n + 1, 1);
        if (!v->before[i] || !v->owner[i] || !guarded_new(&v->mem[i], n, align, s->at_end)) {
            view_end(v);
            return NULL;
        }
        v->bufs[i] = v->mem[i].p;
        memcpy(v->mem[i].p, v->home[i], n);
    }
    return v;
}

static bool owns(const view *v, uint32_t i)
{
    return v->shares[i] == i;
}

/* ---- one step ---- */

typedef struct call {
    lz_run_fn run;
    const int64_t *args;
    int64_t grid;
    guarded scratch;
} call;

/* Each unit alone, the last first. False: two of them wrote the same byte. */
static bool one_by_one(const call *c, view *v)
{
    for (int64_t u = c->grid; u-- > 0;) {
        for (uint32_t i = 0; i < v->n; i++)
            if (owns(v, i))
                memcpy(v->before[i], v->bufs[i], v->mem[i].n);
        c->run(v->bufs, c->args, u, u + 1, c->scratch.p);
        for (uint32_t i = 0; i < v->n; i++)
            for (size_t b = 0; owns(v, i) && b < v->mem[i].n; b++) {
                if (v->before[i][b] == v->mem[i].p[b])
                    continue;
                if (v->owner[i][b])
                    return false;
                v->owner[i][b] = 1;
            }
    }
    return true;
}

/* What the whole wrote against what the units wrote one by one. */
static bool same_bytes(const view *a, const view *b)
{
    for (uint32_t i = 0; i < a->n; i++)
        if (owns(a, i) && memcmp(a->bufs[i], b->bufs[i], a->mem[i].n) != 0)
            return false;
    return true;
}

static bool run_units(state *s, const lz_step *st, const call *c, view *whole)
{
    view *apart = view_new(s, st);
    bool ok = apart != NULL || fail(s, st, "no memory");
    c->run(whole->bufs, c->args, 0, c->grid, c->scratch.p);
    if (ok && !one_by_one(c, apart))
        ok = fail(s, st, "two units write the same place");
    if (ok && !same_bytes(whole, apart))
        ok = fail(s, st, "the order of the units changes the result");
    if (apart)
        view_end(apart);
    return ok;
}

static size_t view_bytes(const view *v)
{
    size_t n = 0;
    for (uint32_t i = 0; i < v->n; i++)
        n += v->mem[i].n;
    return n;
}

static bool run_step(state *s, const lz_step *st)
{
    const lz_kcode *code = s->loads[st->kernel].code;
    call c = {.run = lz_kcode_run(code), .args = st->args, .grid = lz_kcode_grid(code)(st->args)};
    int64_t scratch = lz_kcode_scratch(code)(st->args);
    view *v = view_new(s, st);
    bool ok = v && guarded_new(&c.scratch, (size_t)scratch, 64, s->at_end);
    if (!ok)
        fail(s, st, "no memory");
    else if ((double)c.grid * (double)view_bytes(v) > BYTES_COMPARED)
        c.run(v->bufs, c.args, 0, c.grid, c.scratch.p);
    else
        ok = run_units(s, st, &c, v);
    for (uint32_t i = 0; ok && i < v->n; i++)
        if (owns(v, i))
            memcpy(v->home[i], v->bufs[i], v->mem[i].n);
    guarded_free(&c.scratch);
    if (v)
        view_end(v);
    return ok;
}

/* ---- a program ---- */

static char *copy_of(const void *p, size_t n)
{
    char *c = lz_alloc(n + 1);
    if (c)
        memcpy(c, p, n);
    return c;
}

/* Arguments are copied, results that take over an argument start as its copy, the rest as
 * rubbish. */
static bool fill(state *s, const lz_func *f, lz_literal *const *args)
{
    const lz_plan *p = s->plan;
    s->in = lz_calloc(p->nin + 1, sizeof *s->in);
    s->out = lz_calloc(p->nout + 1, sizeof *s->out);
    s->temp = lz_alloc(p->temp_bytes + 1);
    if (!s->in || !s->out || !s->temp)
        return false;
    memset(s->temp, 0xA5, p->temp_bytes);
    for (uint32_t i = 0; i < p->nin; i++)
        if (!(s->in[i] = copy_of(args[i]->data, args[i]->nbytes)))
            return false;
    for (uint32_t k = 0; k < p->nout; k++) {
        s->r->got[k] = lz_literal_new(lz_val_type(f, f->results[k]));
        if (!s->r->got[k])
            return false;
        s->out[k] = s->r->got[k]->data;
        memset(s->out[k], 0xA5, s->r->got[k]->nbytes);
        if (p->out_alias[k] >= 0)
            memcpy(s->out[k], s->in[p->out_alias[k]], s->r->got[k]->nbytes);
    }
    return true;
}

/* Host memory is what a call takes. */
static bool run_call(state *s, const lz_step *st)
{
    void *bufs[LZ_KBUF_MAX];
    lz_ffi_entry e;
    if (st->nbuf > LZ_KBUF_MAX)
        return fail(s, st, "more buffers than a kernel has");
    for (uint32_t i = 0; i < st->nbuf; i++)
        bufs[i] = address(s, &st->bufs[i]);
    if (lz_ffi_table_find(st->call->target, &e) != LZ_OK ||
        lz_ffi_invoke(st->call, &e, bufs) != LZ_OK)
        return lz_diff_failed("call", s->r);
    return true;
}

/* Other plans run again and again: those have no units to check one by one here. */
static bool runs_plans(const lz_plan *p)
{
    for (uint32_t i = 0; i < p->nstep; i++)
        if (p->steps[i].kind != LZ_STEP_KERNEL && p->steps[i].kind != LZ_STEP_CALL)
            return true;
    return false;
}

static bool run_steps(state *s, const lz_func *f, lz_literal *const *args)
{
    if (!fill(s, f, args))
        return lz_diff_failed("arguments", s->r);
    if (runs_plans(s->plan)) /* only that it is right */
        return lz_plan_run(s->plan, (const void *const *)s->in, (void *const *)s->out) == LZ_OK ||
               lz_diff_failed("plan", s->r);
    for (uint32_t i = 0; i < s->plan->nstep; i++) {
        const lz_step *st = &s->plan->steps[i];
        if (!(st->kind == LZ_STEP_CALL ? run_call(s, st) : run_step(s, st)))
            return false;
    }
    return true;
}

static bool run_plan(const lz_func *f, const lz_plan *p, const lz_target *t,
                     lz_literal *const *args, lz_diff_result *r)
{
    static bool at_end;
    state s = {.plan = p, .r = r, .at_end = at_end = !at_end};
    s.loads = lz_calloc(p->nkernel + 1, sizeof *s.loads);
    bool loaded = s.loads && lz_kernels_load(p->kernels, p->nkernel, t, NULL, s.loads) == LZ_OK;
    bool ok = loaded ? run_steps(&s, f, args) : lz_diff_failed("kernels", r);
    for (uint32_t i = 0; loaded && i < p->nkernel; i++)
        lz_kernels_release(s.loads[i].code);
    for (uint32_t i = 0; s.in && i < p->nin; i++)
        lz_free(s.in[i]);
    lz_free(s.in);
    lz_free(s.out);
    lz_free(s.temp);
    lz_free(s.loads);
    return ok;
}

bool lz_units_run(const lz_func *f, const lz_target *t, lz_literal *const *args, const bool *donate,
                  lz_diff_result *r)
{
    lz_plan *p = NULL;
    lz_lower_options o = {.donate = donate, .machine = t->machine, .b2b = LZ_B2B_ALWAYS};
    if (lz_lower(f, &o, &p) != LZ_OK)
        return lz_diff_failed("lower", r);
    bool ok = run_plan(f, p, t, args, r);
    lz_plan_free(p);
    return ok;
}
