/* dot_implicit_micro.c - implicit GEMM: the micro-kernel. Rows of A through pointers, k through the
 * indirection tables. See dot_implicit.h.
 * Threads: belongs to one thread. */
#include "codegen/dot/dot_implicit.h"
#include <string.h>

enum {
    STEPS = 4,  /* of k in a round of the loop, */
    ENOUGH = 16 /* or one, of so many multiplications: it is compiled in less time */
};

typedef struct tile {
    unsigned nv;
    Val p[T_ARGS], row[IMPLICIT_ROWS], mask[IMPLICIT_VECS];
} tile;
/* What a step hands on: the address of B, that of its step, the sums. */
enum { AT_B, AT_STEP, AT_SUMS };

/* Step k. */
static void step(implicit *g, const tile *t, Val k, bool masked, const Val *in, Val *out)
{
    em *e = g->e;
    unsigned nv = t->nv;
    int64_t vb = (int64_t)g->L * g->es;
    Val bv[IMPLICIT_VECS], off = em_load(e, e->i64, em_at(e, t->p[T_OFF_A], k, 8), 8);
    for (unsigned v = 0; v < nv; v++) {
        Val at = em_at(e, in[AT_B], em_c64(e, v), vb);
        bv[v] = masked && t->mask[v] ? em_mload(e, g->vec, at, t->mask[v], NULL, g->es)
                                     : em_load(e, g->vec, at, g->es);
    }
    if (!masked && g->rows_touch) {
        Val later = ADD(k, em_c64(e, IMPLICIT_AHEAD));
        later = em_load(e, e->i64, em_at(e, t->p[T_OFF_A], later, 8), 8);
        em_prefetch(e, em_at(e, t->row[0], later, 1), false, 3);
    }
    for (unsigned r = 0; r < g->mr; r++) {
        Val x = em_splat(e, em_load(e, g->elem, em_at(e, t->row[r], off, 1), g->es), g->L);
        for (unsigned v = 0; v < nv; v++)
            out[AT_SUMS + r * nv + v] = em_fma(e, x, bv[v], in[AT_SUMS + r * nv + v]);
    }
    out[AT_B] = em_at(e, in[AT_B], em_load(e, e->i64, in[AT_STEP], 8), 1);
    out[AT_STEP] = em_at(e, in[AT_STEP], t->p[T_NEXT_B], 1);
}

/* Steps first to n - 1, `by` at a time, from `state` and back. */
static void steps(implicit *g, const tile *t, Val first, Val n, unsigned by, bool masked,
                  Val *state)
{
    em *e = g->e;
    em_loop l;
    int count = (int)(AT_SUMS + g->mr * t->nv);
    Val s[2][EM_PHI];
    em_loop_begin(e, &l, first, n, em_c64(e, by), count, state);
    memcpy(s[0], l.phi, (size_t)count * sizeof(Val));
    for (unsigned u = 0; u < by; u++)
        step(g, t, ADD(l.i, em_c64(e, u)), masked, s[u & 1], s[~u & 1]);
    em_loop_end(e, &l, s[by & 1]);
    memcpy(state, l.phi, (size_t)count * sizeof(Val));
}

/* The tile's lines of C are fetched before they are wanted. */
static void fetch_c(implicit *g, const tile *t)
{
    em *e = g->e;
    for (unsigned r = 0; r < g->mr; r++) {
        Val row = em_at(e, t->p[T_C], MUL(t->p[T_C_STRIDE], em_c64(e, r)), 1);
        for (unsigned v = 0; v < t->nv; v++)
            em_prefetch(e, em_at(e, row, em_c64(e, v), (int64_t)g->L * g->es), true, 3);
    }
}

/* The sums, and what was there, to C. */
static void store_tile(implicit *g, const tile *t, const Val *sum)
{
    em *e = g->e;
    Val old_row = t->p[T_OLD], c_row = t->p[T_C];
    for (unsigned r = 0; r < g->mr; r++) {
        for (unsigned v = 0; v < t->nv; v++) {
            Val at = em_c64(e, (int64_t)v * g->L * g->es), s = sum[r * t->nv + v];
            em_store(e, FADD(s, em_load(e, g->vec, em_at(e, old_row, at, 1), g->es)),
                     em_at(e, c_row, at, 1), g->es);
        }
        old_row = em_at(e, old_row, t->p[T_OLD_STRIDE], 1);
        c_row = em_at(e, c_row, t->p[T_C_STRIDE], 1);
    }
}

/* The steps first to last - 1, in whole rounds where all columns are there: a step by itself counts
 * as much as it multiplies, and masked loads take a place among the multiplications. */
static void rounds(implicit *g, const tile *t, Val first, Val last, Val *state)
{
    em *e = g->e;
    unsigned by = g->mr * t->nv < ENOUGH ? STEPS : 1;
    Val whole = AND(SUB(last, first), em_c64(e, -(int64_t)by)), zero = em_c64(e, 0);
    if (!g->full)
        whole = SEL(ICMP(SGE, t->p[T_COLS], em_c64(e, (int64_t)t->nv * g->L)), whole, zero);
    whole = ADD(first, whole);
    steps(g, t, first, whole, by, false, state);
    if (by > 1 || !g->full)
        steps(g, t, whole, last, 1, true, state);
}

/* Each run begins where its first k is. */
static void run_by_run(implicit *g, const tile *t, Val *state)
{
    em *e = g->e;
    em_loop l;
    unsigned n = g->mr * t->nv;
    Val inner[EM_PHI], zero = em_c64(e, 0), places = ICMP(NE, t->p[T_NEXT_B], zero),
                       each = em_load(e, e->i64, t->p[T_STEP_B], 8);
    em_loop_begin(e, &l, zero, t->p[T_KC], em_c64(e, 1), (int)n, state + AT_SUMS);
    Val at = em_at(e, t->p[T_K_RANGES], l.i, 16), first = em_load(e, e->i64, at, 8),
        past = em_load(e, e->i64, em_at(e, at, em_c64(e, 1), 8), 8),
        place = em_load(e, e->i64, em_at(e, t->p[T_AT_B], SEL(places, first, zero), 8), 8);
    inner[AT_B] = em_at(e, t->p[T_B], SEL(places, place, MUL(first, each)), 1);
    inner[AT_STEP] = em_at(e, t->p[T_STEP_B], MUL(first, t->p[T_NEXT_B]), 1);
    memcpy(inner + AT_SUMS, l.phi, n * sizeof(Val));
    rounds(g, t, first, past, inner);
    em_loop_end(e, &l, inner + AT_SUMS);
    memcpy(state + AT_SUMS, l.phi, n * sizeof(Val));
}

static unsigned nargs(const implicit *g)
{
    return g->padded ? T_ARGS : T_K_RANGES;
}

static void emit_one(implicit *g, unsigned nv, const char *name, Val *fn)
{
    em *e = g->e;
    Ty i = e->i64, args[T_ARGS] = {e->ptr, e->ptr, e->ptr, e->ptr, i,      i,     e->ptr,
                                   i,      e->ptr, i,      i,      e->ptr, e->ptr};
    Val f = em_shared_func(e, name, e->none, args, nargs(g)), state[EM_PHI];
    tile t = {.nv = nv};
    for (unsigned q = 0; q < nargs(g); q++)
        t.p[q] = LLVMGetParam(f, q);
    for (unsigned r = 0; r < g->mr; r++)
        t.row[r] = em_load(e, e->ptr, em_at(e, t.p[T_ROWS], em_c64(e, r), 8), 8);
    for (unsigned v = 0; v < nv && !g->full; v++)
        t.mask[v] = em_tail_mask(e, SUB(t.p[T_COLS], em_c64(e, (int64_t)v * g->L)), g->L);
    state[AT_B] = t.p[T_B];
    state[AT_STEP] = t.p[T_STEP_B];
    for (unsigned q = 0; q < g->mr * nv; q++)
        state[AT_SUMS + q] = LLVMConstNull(g->vec);
    fetch_c(g, &t);
    if (g->padded)
        run_by_run(g, &t, state);
    else
        rounds(g, &t, em_c64(e, 0), t.p[T_KC], state);
    store_tile(g, &t, state + AT_SUMS);
    LLVMBuildRetVoid(e->b);
    *fn = em_shared_end(e, f);
}

/* With padding: for lists of k-ranges, of which most have one. Another micro-kernel for these would
 * save a few instructions a tile, and take a sixth of the kernel's compile time. */
void implicit_emit_micro(implicit *g)
{
    emit_one(g, g->nv, "tile", &g->micro[0]);
    g->micro[1] = g->micro[0];
    if (g->nv_small != g->nv)
        emit_one(g, g->nv_small, "tile_narrow", &g->micro[1]);
}

static void call_one(implicit *g, Val fn, const Val *args)
{
    LLVMBuildCall2(g->e->b, LLVMGlobalGetValueType(fn), fn, (Val *)args, nargs(g), "");
}

void implicit_call_tile(implicit *g, Val narrow, const Val *args)
{
    em_ifelse s;
    const Val *fn = g->micro;
    if (fn[0] == fn[1]) {
        call_one(g, fn[0], args);
        return;
    }
    em_ifelse_begin(g->e, &s, narrow);
    call_one(g, fn[1], args);
    em_ifelse_else(g->e, &s);
    call_one(g, fn[0], args);
    em_ifelse_end(g->e, &s, 0, NULL, NULL, NULL);
}
