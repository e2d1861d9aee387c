/* plan_invariant.c - see plan_invariant.h. A forward scan over the steps, with a map of which
 * value is where in the temporaries, finds the stable values: a value is what one step writes to
 * one of its buffers, and is stable if everything that the step reads is. A backward scan then
 * finds the steps that every run must do: those that read unstable values or write results, and
 * those that make something for these that cannot be cached. */
#include "lower/plan/plan_invariant.h"
#include "base/vec.h"
#include "lower/loops/loop_impl.h"
#include "lower/plan/plan_exec.h"
#include <stdlib.h>
#include <string.h>

typedef struct value {
    uint32_t step, slot; /* who writes it, through which address */
    uint64_t begin, end; /* in the temporaries */
    bool stable;
    bool whole; /* written at once, and never read or written over in part together with others */
    bool kept;
    uint64_t at; /* in the kept memory */
} value;

/* Temporaries from here to the next segment hold `value`, or nothing that is known. */
typedef struct segment {
    uint64_t begin;
    uint32_t value;
} segment;

/* A step reads a value, or what is left of it, through an address. */
typedef struct use {
    uint32_t step, slot, value;
    uint64_t begin;
} use;

enum { NOBODY = UINT32_MAX };

typedef struct search {
    const lz_plan_exec *g;
    const lz_plan *p;
    const bool *in; /* stable arguments */
    bool *out;      /* results that only stable steps have written to */
    bool *run;      /* by step: in every run */
    LZ_VEC(value) values;
    LZ_VEC(segment) map; /* ascending; the first begins at 0 */
    LZ_VEC(use) uses;    /* by step */
} search;

/* ---- what a step touches ---- */

/* Results of control flow may be where operands were: what is written there is read too. */
static bool reads(const lz_plan *p, const lz_step *s, uint32_t j)
{
    if (s->kind == LZ_STEP_ROUTINE)
        return j >= s->routine->nresult;
    return s->kind != LZ_STEP_KERNEL || p->kernels[s->kernel]->buf[j].read;
}

typedef struct loop {
    int64_t stride, extent;
} loop;

static int by_stride(const void *x, const void *y)
{
    int64_t a = ((const loop *)x)->stride, b = ((const loop *)y)->stride;
    return a < b ? -1 : a > b;
}

/* The loops of stage `st` that `a` moves along, if they are all of them upwards; their number, or
 * -1. */
static int loops_of(const lz_kernel *k, const lz_stage *st, const lz_access *a, const int64_t *args,
                    loop *l)
{
    int n = 0;
    for (uint32_t d = 0; d < k->nouter + st->ninner; d++) {
        lz_sz e = d < k->nouter ? k->outer[d] : st->extent[d - k->nouter];
        loop at = {lz_sz_value(a->stride[d], args), lz_sz_value(e, args)};
        if (at.stride < 0 || at.extent < 1)
            return -1;
        if (at.stride > 0 && at.extent > 1)
            l[n++] = at;
    }
    return n;
}

/* Whether this store writes all n elements of its buffer, in whatever order. */
static bool covers(const lz_kernel *k, const lz_stage *st, const lz_access *a, const int64_t *args,
                   uint64_t n)
{
    loop l[LZ_LOOP_MAX];
    int nl = a->guard >= 0 || a->ndyn || lz_sz_value(a->offset, args) != 0
                 ? -1
                 : loops_of(k, st, a, args, l);
    if (nl < 0)
        return false;
    qsort(l, (size_t)nl, sizeof *l, by_stride);
    uint64_t dense = 1;
    for (int i = 0; i < nl; dense *= (uint64_t)l[i++].extent)
        if ((uint64_t)l[i].stride != dense || dense > n)
            return false;
    return dense == n;
}

static bool writes_all(const lz_plan *p, const lz_step *s, uint32_t j)
{
    if (s->kind == LZ_STEP_ROUTINE)
        return s->bufs[j].nbytes == s->routine->result[j]->nbytes;
    if (s->kind != LZ_STEP_KERNEL)
        return false;
    const lz_kernel *k = p->kernels[s->kernel];
    uint64_t n = s->bufs[j].nbytes / lz_dtype_size(k->buf[j].dtype);
    if (k->buf[j].read)
        return false;
    for (uint32_t i = 0; i < k->nstage; i++)
        for (uint32_t w = 0; w < k->stages[i].nstore; w++)
            if (k->stages[i].stores[w].at.buf == j &&
                covers(k, &k->stages[i], &k->stages[i].stores[w].at, s->args, n))
                return true;
    return false;
}

/* ---- the map of the temporaries ---- */

/* The segment that `at` is in. */
static uint32_t find(const search *x, uint64_t at)
{
    uint32_t lo = 0, hi = x->map.len;
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        *(x->map.data[mid].begin <= at ? &lo : &hi) = mid;
    }
    return lo;
}

/* Makes a segment begin at `at`; its number. There is room. */
static uint32_t cut(search *x, uint64_t at)
{
    uint32_t i = find(x, at);
    segment *m = x->map.data;
    if (m[i].begin == at)
        return i;
    memmove(m + i + 2, m + i + 1, (x->map.len - i - 1) * sizeof *m);
    m[i + 1] = (segment){at, m[i].value};
    x->map.len++;
    return i + 1;
}

static lz_status place(search *x, uint64_t begin, uint64_t end, uint32_t v)
{
    LZ_TRY(lz_vec_reserve(&x->map, (uint64_t)x->map.len + 2));
    uint32_t from = cut(x, begin), to = end < x->p->temp_bytes ? cut(x, end) : x->map.len;
    segment *m = x->map.data;
    m[from].value = v;
    memmove(m + from + 1, m + to, (x->map.len - to) * sizeof *m);
    x->map.len -= to - from - 1;
    return LZ_OK;
}

/* ---- forwards ---- */

/* Step `i` reads these bytes, or lets some of what is in them shine through what it writes: whether
 * all of it is stable. */
static lz_status look(search *x, uint32_t i, uint32_t slot, const lz_bufref *r, bool in_part,
                      bool *stable)
{
    uint64_t end = r->offset + r->nbytes;
    uint32_t first = find(x, r->offset), past = first + 1;
    while (past < x->map.len && x->map.data[past].begin < end)
        past++;
    for (uint32_t m = first; m < past; m++) {
        uint32_t v = x->map.data[m].value;
        if (v == NOBODY) {
            *stable = false;
            continue;
        }
        value *w = &x->values.data[v];
        *stable &= w->stable;
        w->whole &= !in_part && past - first == 1 && r->offset >= w->begin && end <= w->end;
        LZ_TRY(lz_vec_push(&x->uses, ((use){i, slot, v, r->offset})));
    }
    return LZ_OK;
}

static lz_status read_one(search *x, uint32_t i, uint32_t slot, const lz_bufref *r, bool *stable)
{
    switch (r->kind) {
    case LZ_BUFREF_INPUT:
        *stable &= x->in[r->index];
        return LZ_OK;
    case LZ_BUFREF_OUTPUT:
        *stable &= x->out[r->index];
        return LZ_OK;
    case LZ_BUFREF_TEMP:
        return look(x, i, slot, r, false, stable);
    case LZ_BUFREF_CONST:
        break;
    }
    return LZ_OK;
}

static lz_status write_one(search *x, uint32_t i, uint32_t slot, uint32_t j, bool stable)
{
    const lz_step *s = &x->p->steps[i];
    const lz_bufref *r = &s->bufs[j];
    if (r->kind == LZ_BUFREF_OUTPUT) {
        x->out[r->index] &= stable;
        x->run[i] = true;
        return LZ_OK;
    }
    bool whole = writes_all(x->p, s, j);
    if (!whole)
        LZ_TRY(look(x, i, slot, r, true, &stable));
    LZ_TRY(lz_vec_push(&x->values, ((value){.step = i,
                                            .slot = slot,
                                            .begin = r->offset,
                                            .end = r->offset + r->nbytes,
                                            .stable = stable,
                                            .whole = whole})));
    return place(x, r->offset, r->offset + r->nbytes, x->values.len - 1);
}

/* Everything a step reads counts before anything it writes. */
static lz_status go_through(search *x, uint32_t i, uint32_t slot)
{
    const lz_step *s = &x->p->steps[i];
    bool stable = s->kind == LZ_STEP_KERNEL || s->kind == LZ_STEP_ROUTINE;
    for (uint32_t j = 0; j < s->nbuf; j++)
        if (s->bufs[j].nbytes && reads(x->p, s, j))
            LZ_TRY(read_one(x, i, slot + j, &s->bufs[j], &stable));
    x->run[i] = !stable;
    for (uint32_t j = 0; j < s->nbuf; j++)
        if (s->bufs[j].nbytes && lz_step_writes(x->p, s, j))
            LZ_TRY(write_one(x, i, slot + j, j, stable));
    return LZ_OK;
}

/* Steps without a launch have nothing to do. */
static lz_status forwards(search *x)
{
    const lz_part *root = x->g->parts;
    uint32_t slot = 0, l = 0;
    LZ_TRY(lz_vec_push(&x->map, ((segment){0, NOBODY})));
    for (uint32_t i = 0; i < x->p->nstep; slot += x->p->steps[i++].nbuf)
        if (l < root->nlaunch && lz_plan_exec_step(x->g, root, l) == &x->p->steps[i]) {
            LZ_TRY(go_through(x, i, slot));
            l++;
        }
    return LZ_OK;
}

/* ---- backwards ---- */

static void backwards(search *x)
{
    for (uint32_t k = x->uses.len; k-- > 0;) {
        const use *u = &x->uses.data[k];
        const value *v = &x->values.data[u->value];
        if (x->run[u->step] && !(v->stable && v->whole))
            x->run[v->step] = true;
    }
    for (uint32_t k = 0; k < x->uses.len; k++) {
        const use *u = &x->uses.data[k];
        value *v = &x->values.data[u->value];
        v->kept |= x->run[u->step] && !x->run[v->step];
    }
}

/* ---- the result ---- */

/* Where they are in a line of 64 bytes stays: kernels rely on how values are aligned. */
static void lay_out(search *x, lz_invariants *k)
{
    for (uint32_t i = 0; i < x->values.len; i++) {
        value *v = &x->values.data[i];
        if (!v->kept)
            continue;
        v->at = LZ_ALIGN_UP(k->nbytes, 64) + v->begin % 64;
        k->nbytes = v->at + (v->end - v->begin);
        k->nplace++;
    }
    for (uint32_t i = 0; i < x->uses.len; i++)
        k->nplace += x->values.data[x->uses.data[i].value].kept;
}

static void put_places(const search *x, lz_invariants *k)
{
    lz_invariants_place *at = k->places;
    for (uint32_t i = 0; i < x->values.len; i++)
        if (x->values.data[i].kept)
            *at++ = (lz_invariants_place){x->values.data[i].slot, x->values.data[i].at};
    for (uint32_t i = 0; i < x->uses.len; i++) {
        const use *u = &x->uses.data[i];
        const value *v = &x->values.data[u->value];
        if (v->kept)
            *at++ = (lz_invariants_place){u->slot, v->at + (u->begin - v->begin)};
    }
}

static void put_skips(const search *x, lz_invariants *k)
{
    for (uint32_t l = 0; l < x->g->parts->nlaunch; l++) {
        const lz_step *s = lz_plan_exec_step(x->g, x->g->parts, l);
        k->skip[l] = !x->run[s - x->p->steps];
        if (!k->skip[l])
            continue;
        k->nskip++;
        k->flops += s->flops;
        k->bytes += s->bytes;
    }
}

static lz_status make(search *x, lz_invariants **out)
{
    lz_invariants *k = lz_calloc(1, sizeof *k);
    if (!k)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    lay_out(x, k);
    k->places = lz_alloc(((size_t)k->nplace + 1) * sizeof *k->places);
    k->skip = lz_calloc((size_t)x->g->parts->nlaunch + 1, sizeof *k->skip);
    if (k->places && k->skip) {
        put_places(x, k);
        put_skips(x, k);
        if (k->nskip) {
            *out = k;
            return LZ_OK;
        }
    }
    lz_status s = k->places && k->skip ? LZ_OK : LZ_FAIL(LZ_EMEM, "out of memory");
    lz_invariants_free(k);
    return s;
}

static lz_status search_all(search *x, lz_invariants **out)
{
    const lz_plan *p = x->p;
    x->out = lz_calloc((size_t)p->nout + 1, sizeof *x->out);
    x->run = lz_calloc((size_t)p->nstep + 1, sizeof *x->run);
    if (!x->out || !x->run)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    for (uint32_t k = 0; k < p->nout; k++) /* others begin as an argument */
        x->out[k] = p->out_alias[k] < 0;
    LZ_TRY(forwards(x));
    backwards(x);
    return make(x, out);
}

lz_status lz_invariants_find(const lz_plan_exec *g, const bool *stable, lz_invariants **out)
{
    *out = NULL;
    search x = {.g = g, .p = g->parts->plan, .in = stable};
    if (x.p->nstep > LZ_KEEP_STEPS)
        return LZ_OK;
    lz_status s = search_all(&x, out);
    lz_vec_free(&x.values);
    lz_vec_free(&x.map);
    lz_vec_free(&x.uses);
    lz_free(x.out);
    lz_free(x.run);
    return s;
}

void lz_invariants_free(lz_invariants *k)
{
    if (!k)
        return;
    lz_free(k->places);
    lz_free(k->skip);
    lz_free(k);
}
