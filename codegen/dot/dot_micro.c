/* dot_micro.c - GEMM on a CPU: the micro-kernel, mr x nv vectors of accumulators over a range of k.
 * Per k: nv vectors of B, and one broadcast element of A next to the nv FMAs that use it
 *   (further apart the register allocator spills). Steps of k come in rounds with one prefetch
 *   each: a core that issues two FMAs a cycle has no slot for more.
 * Threads: belongs to one thread. */
#include "codegen/dot/dot.h"
#include <string.h>

enum {
    ROWS_AHEAD = 12, /* of B in place, when it is packed on the way */
    LOG_STEPS_A = 1, /* for a line of the next tile of A, where one panel fetches all of its rows */
    LINE = 64
};

/* Of k, in a round. */
static unsigned steps(const dot *g)
{
    return 1u << g->log_steps;
}

Val dot_multiply_add(dot *g, Val x, Val y, Val s)
{
    em *e = g->e;
    if (g->words == 2) { /* unsigned bytes, then signed ones */
        bool first = g->a_signed == g->alike;
        Val a[3] = {s, first ? x : y, first ? y : x};
        return em_intr(e, "llvm.x86.avx512.vpdpbusd.512", NULL, 0, a, 3);
    }
    if (g->words == 1) {
        Ty bf = em_vec(LLVMBFloatTypeInContext(e->cx), 2 * g->L);
        Val a[3] = {s, BITS(x, bf), BITS(y, bf)};
        return em_intr(e, "llvm.x86.avx512bf16.dpbf16ps.512", NULL, 0, a, 3);
    }
    return lz_dtype_is_float(g->d) ? em_fma(e, x, y, s) : ADD(MUL(x, y), s);
}

/* Addresses of the tile's rows of A; k-major packed A has one. */
static void row_pointers(dot *g, unsigned mr, Val a, Val stride, Val nrows, Val *row)
{
    em *e = g->e;
    Val top = SUB(nrows, em_c64(e, 1));
    for (unsigned i = 0; i < mr; i++) {
        if (g->amode == DOT_A_COLS) /* rows past nrows hold anything: they are not stored */
            row[i] = em_at(e, a, em_c64(e, i), g->es);
        else
            row[i] = i == 0
                         ? a
                         : em_at(e, a, MUL(em_intr2(e, "llvm.umin", em_c64(e, i), top), stride), 1);
    }
}

static Val load_b(dot *g, Val b, unsigned v, Val mask)
{
    em *e = g->e;
    Val p = em_at(e, b, em_c64(e, v), (int64_t)g->L * g->es);
    return mask ? em_mload(e, g->vec, p, mask, NULL, g->es) : em_load(e, g->vec, p, g->es);
}

/* The masks of a panel's vectors in place; NULL: all there. */
static void panel_masks(dot *g, unsigned nv, Val ncols, Val *mask)
{
    em *e = g->e;
    for (unsigned v = 0; v < nv; v++)
        mask[v] = g->b_place && !g->whole
                      ? em_tail_mask(e, SUB(ncols, em_c64(e, (int64_t)v * g->L)), g->L)
                      : NULL;
}

/* What step k leaves in packed B for the tiles that follow, and the rows of B ahead. */
static void keep_b(dot *g, const Val *p, unsigned nv, Val k, Val b, const Val *bv)
{
    em *e = g->e;
    int64_t vb = (int64_t)g->L * g->es;
    em_if s;
    em_if_begin(e, &s, ICMP(NE, p[MICRO_KEEP], LLVMConstNull(e->ptr)));
    Val ahead = em_at(e, b, MUL(p[MICRO_B_STRIDE], em_c64(e, ROWS_AHEAD)), 1);
    Val out = em_at(e, p[MICRO_KEEP], k, nv * vb);
    for (unsigned v = 0; v < nv; v++) {
        em_prefetch(e, em_at(e, ahead, em_c64(e, v), vb), false, 3);
        em_store(e, bv[v], em_at(e, out, em_c64(e, v), vb), g->es);
    }
    em_if_end(e, &s, 0, NULL, NULL, NULL);
}

/* Lines of C are fetched every 1, 2, 4 or 8 steps, so that few steps fetch all of a tile, too. */
static Val steps_a_line(dot *g, Val kc)
{
    em *e = g->e;
    Val n = em_c64(e, 0);
    for (int64_t i = 1; i <= 3; i++)
        n = SEL(ICMP(SGE, kc, em_c64(e, (int64_t)DOT_MR * 3 << i)), em_c64(e, i), n);
    return n;
}

/* B that is packed next may be plain memory. */
static bool fetches_far(const dot *g)
{
    return g->b_place && !g->stream;
}

/* Part of a row of B that is wanted later, into the second level, one of its lines. */
static void fetch_far(dot *g, const Val *p, Val k)
{
    em *e = g->e;
    Val row = LSHR(k, p[MICRO_FAR_LOG]);
    Val line = AND(LSHR(k, SUB(p[MICRO_FAR_LOG], em_c64(e, g->log_lines))),
                   em_c64(e, (1 << g->log_lines) - 1));
    Val at = em_at(e, p[MICRO_FAR], MUL(row, p[MICRO_FAR_STRIDE]), 1);
    em_prefetch(e, em_at(e, at, line, LINE), false, 2);
}

/* Fetched while step k computes: a line of the next tile of A, of each row in turn, 1 << log_steps
 * steps each. */
static void fetch_a(dot *g, const Val *p, Val k, unsigned log_steps)
{
    em *e = g->e;
    if (g->amode != DOT_A_PLACE)
        return;
    Val r = AND(LSHR(k, em_c64(e, log_steps)), p[MICRO_NEXT_ROWS]);
    Val at = em_at(e, p[MICRO_NEXT], MUL(r, p[MICRO_A_STRIDE]), 1);
    em_prefetch(e, em_at(e, at, k, g->es), false, 3);
}

/* A line of C, of each row in turn. */
static void fetch_c(dot *g, const Val *p, Val k, Val log_steps)
{
    em *e = g->e;
    Val i = LSHR(k, log_steps), row = AND(i, em_c64(e, 7)), col = LSHR(i, em_c64(e, 3));
    Val line = em_at(e, em_at(e, p[MICRO_C], MUL(row, p[MICRO_C_STRIDE]), 1), col, LINE);
    em_prefetch(e, line, true, 3);
}

/* Beside the arithmetic of step k; bv: its vectors of B, which are at b. */
static void on_the_way(dot *g, const Val *p, unsigned nv, Val k, Val log_steps, Val b,
                       const Val *bv)
{
    em *e = g->e;
    em_if s;
    em_if_begin(e, &s, ICMP(NE, p[MICRO_NEXT], LLVMConstNull(e->ptr)));
    fetch_a(g, p, k, LOG_STEPS_A);
    if (fetches_far(g))
        fetch_far(g, p, k);
    fetch_c(g, p, k, log_steps);
    if (g->b_place)
        keep_b(g, p, nv, k, b, bv);
    em_if_end(e, &s, 0, NULL, NULL, NULL);
}

/* In a round from step k on. A line lasts for LINE / size steps, of two rows half of them for
 * each. */
static void fetch_a_in_round(dot *g, const Val *p, Val k)
{
    em *e = g->e;
    if (g->amode != DOT_A_PLACE)
        return;
    unsigned log = g->log_steps;
    while (log && LINE / g->es < 2u << log)
        log--;
    em_ifelse two;
    em_ifelse_begin(e, &two, ICMP(ULE, p[MICRO_NEXT_ROWS], em_c64(e, 1)));
    for (unsigned u = 0; u < steps(g); u += 1u << log)
        fetch_a(g, p, ADD(k, em_c64(e, u)), log);
    em_ifelse_else(e, &two);
    for (unsigned u = 0; u < steps(g); u += 1 << LOG_STEPS_A)
        fetch_a(g, p, ADD(k, em_c64(e, u)), LOG_STEPS_A);
    em_ifelse_end(e, &two, 0, NULL, NULL, NULL);
}

/* A loop over the round's other steps that are the first of 1 << log. */
static void begin_others(dot *g, em_loop *l, Val k, Val log)
{
    em *e = g->e;
    Val apart = SHL(em_c64(e, 1), log);
    em_loop_begin(e, l, ADD(k, apart), ADD(k, em_c64(e, steps(g))), apart, 0, NULL);
}

/* What on_the_way fetches, in a round from step k on, and no more of it than there is: for
 * instructions beside the arithmetic there is little room. */
static void fetch_in_round(dot *g, const Val *p, Val k, Val log_c)
{
    em *e = g->e;
    em_if s, often;
    em_loop l;
    bool far = fetches_far(g);
    Val log_far = SUB(p[MICRO_FAR_LOG], em_c64(e, g->log_lines));
    em_if_begin(e, &s, ICMP(NE, p[MICRO_NEXT], LLVMConstNull(e->ptr)));
    fetch_a_in_round(g, p, k);
    if (far)
        fetch_far(g, p, k);
    fetch_c(g, p, k, log_c);
    Val least = far ? em_smin(e, log_far, log_c) : log_c;
    em_if_begin(e, &often, ICMP(SLT, least, em_c64(e, g->log_steps)));
    if (far) {
        begin_others(g, &l, k, log_far);
        fetch_far(g, p, l.i);
        em_loop_end(e, &l, NULL);
    }
    begin_others(g, &l, k, log_c);
    fetch_c(g, p, l.i, log_c);
    em_loop_end(e, &l, NULL);
    em_if_end(e, &often, 0, NULL, NULL, NULL);
    em_if_end(e, &s, 0, NULL, NULL, NULL);
}

typedef struct tile {
    unsigned mr, nv;
    const Val *p; /* arguments of the function */
    Val row[DOT_MR], mask[DOT_NV], log_steps;
} tile;

/* Step k: sums from `in` to `out`, with B at b. */
static void step(dot *g, const tile *t, Val k, Val b, bool masked, const Val *in, Val *out, Val *bv)
{
    em *e = g->e;
    Val ahead = g->stream ? em_at(e, b, SHL(t->p[MICRO_B_STRIDE], em_c64(e, 3)), 1) : NULL;
    int64_t size = g->amode == DOT_A_COLS ? dot_a_stride(g) : g->es;
    for (unsigned v = 0; v < t->nv; v++) {
        bv[v] = load_b(g, b, v, masked ? t->mask[v] : NULL);
        if (ahead)
            em_prefetch(e, em_at(e, ahead, em_c64(e, v), (int64_t)g->L * g->es), false, 3);
    }
    if (masked && !g->near)
        on_the_way(g, t->p, t->nv, k, t->log_steps, b, bv);
    for (unsigned r = 0; r < t->mr; r++) {
        Val x = em_splat(e, em_load(e, g->elem, em_at(e, t->row[r], k, size), g->es), g->L);
        for (unsigned v = 0; v < t->nv; v++)
            out[r * t->nv + v] = dot_multiply_add(g, x, bv[v], in[r * t->nv + v]);
    }
}

/* As many steps as are done in rounds: none where B has columns that are not there, or is packed on
 * the way. A step by itself has as much to count and to fetch as it multiplies. */
static Val whole_steps(dot *g, const tile *t)
{
    em *e = g->e;
    Val all = AND(t->p[MICRO_KC], em_c64(e, -(int64_t)steps(g))), not = em_ci(e->i1, 0);
    if (t->mask[0])
        not = ICMP(SLT, t->p[MICRO_COLS], em_c64(e, (int64_t)t->nv * g->L));
    if (!g->near && g->b_place)
        not = OR(not, ICMP(NE, t->p[MICRO_KEEP], LLVMConstNull(e->ptr)));
    return SEL(not, em_c64(e, 0), all);
}

/* Steps 0 to n - 1 in rounds: sums and address of B from `state` and back. */
static void run_steps(dot *g, const tile *t, Val n, Val *state)
{
    em *e = g->e;
    em_loop l;
    int count = (int)(t->mr * t->nv + 1);
    Val s[2][EM_PHI], bv[DOT_NV];
    em_loop_begin(e, &l, em_c64(e, 0), n, em_c64(e, steps(g)), count, state);
    if (!g->near)
        fetch_in_round(g, t->p, l.i, t->log_steps);
    memcpy(s[0], l.phi, (size_t)count * sizeof(Val));
    for (unsigned u = 0; u < steps(g); u++) {
        const Val *in = s[u & 1];
        Val *out = s[~u & 1];
        step(g, t, ADD(l.i, em_c64(e, u)), in[0], false, in + 1, out + 1, bv);
        out[0] = em_at(e, in[0], t->p[MICRO_B_STRIDE], 1);
    }
    em_loop_end(e, &l, s[0]); /* rounds are even */
    memcpy(state, l.phi, (size_t)count * sizeof(Val));
}

/* Steps from `first` on, one at a time. */
static void run_rest(dot *g, const tile *t, Val first, Val *state)
{
    em *e = g->e;
    em_loop l;
    int count = (int)(t->mr * t->nv + 1);
    Val next[EM_PHI], bv[DOT_NV];
    em_loop_begin(e, &l, first, t->p[MICRO_KC], em_c64(e, 1), count, state);
    step(g, t, l.i, l.phi[0], true, l.phi + 1, next + 1, bv);
    next[0] = em_at(e, l.phi[0], t->p[MICRO_B_STRIDE], 1);
    em_loop_end(e, &l, next);
    memcpy(state, l.phi, (size_t)count * sizeof(Val));
}

/* The sums, and what was there, to C. */
static void store_tile(dot *g, const tile *t, const Val *sum)
{
    em *e = g->e;
    Val old_row = t->p[MICRO_OLD], c_row = t->p[MICRO_C];
    for (unsigned r = 0; r < t->mr; r++) {
        for (unsigned v = 0; v < t->nv; v++) {
            Val at = em_c64(e, (int64_t)v * g->L * g->es), s = sum[r * t->nv + v];
            Val old = g->near ? LLVMConstNull(g->vec)
                              : em_load(e, g->vec, em_at(e, old_row, at, 1), g->es);
            em_store(e, lz_dtype_is_float(g->d) ? FADD(s, old) : ADD(s, old),
                     em_at(e, c_row, at, 1), g->es);
        }
        old_row = em_at(e, old_row, t->p[MICRO_OLD_STRIDE], 1);
        c_row = em_at(e, c_row, t->p[MICRO_C_STRIDE], 1);
    }
}

/* Code of one tile: p as the function's arguments say. */
static void emit_tile(dot *g, unsigned mr, unsigned nv, const Val *p)
{
    em *e = g->e;
    tile t = {.mr = mr, .nv = nv, .p = p};
    Val state[EM_PHI], bv[DOT_NV];
    row_pointers(g, mr, p[MICRO_A], p[MICRO_A_STRIDE], p[MICRO_ROWS], t.row);
    panel_masks(g, nv, p[MICRO_COLS], t.mask);
    t.log_steps = g->near ? NULL : steps_a_line(g, p[MICRO_KC]);
    Val behind = g->alike ? em_at(e, p[MICRO_B], MUL(p[MICRO_KC], p[MICRO_B_STRIDE]), 1) : NULL;
    for (unsigned v = 0; v < nv; v++)
        bv[v] = behind ? load_b(g, behind, v, NULL) : LLVMConstNull(g->vec);
    state[0] = p[MICRO_B];
    for (unsigned q = 0; q < mr * nv; q++)
        state[q + 1] = bv[q % nv];
    Val n = whole_steps(g, &t);
    run_steps(g, &t, n, state);
    run_rest(g, &t, n, state);
    store_tile(g, &t, state + 1);
}

/* Tiles of all the rows. */
static void emit_tiles(dot *g, unsigned mr, unsigned nv, const Val *args)
{
    em *e = g->e;
    Val p[MICRO_ARGS];
    em_loop l;
    memcpy(p, args, sizeof p);
    em_loop_begin(e, &l, em_c64(e, 0), args[MICRO_ROWS], em_c64(e, mr), 0, NULL);
    p[MICRO_ROWS] = SUB(args[MICRO_ROWS], l.i);
    p[MICRO_A] = em_at(e, args[MICRO_A], MUL(l.i, args[MICRO_A_STRIDE]), 1);
    p[MICRO_C] = em_at(e, args[MICRO_C], MUL(l.i, args[MICRO_C_STRIDE]), 1);
    emit_tile(g, mr, nv, p);
    em_loop_end(e, &l, NULL);
}

static void emit_one(dot *g, unsigned mr, unsigned nv, const char *name, Val *fn)
{
    em *e = g->e;
    Ty i = e->i64, args[MICRO_ARGS] = {e->ptr, i, i,      e->ptr, i, i,      e->ptr, i, e->ptr,
                                       i,      i, e->ptr, e->ptr, i, e->ptr, i,      i};
    Val f = em_shared_func(e, name, e->none, args, MICRO_ARGS), p[MICRO_ARGS];
    for (unsigned q = 0; q < MICRO_ARGS; q++)
        p[q] = LLVMGetParam(f, q);
    if (g->near)
        emit_tiles(g, mr, nv, p);
    else
        emit_tile(g, mr, nv, p);
    LLVMBuildRetVoid(e->b);
    *fn = em_shared_end(e, f);
}

void dot_emit_micro(dot *g)
{
    emit_one(g, g->mr, g->nv, "tile", &g->micro[0]);
    g->micro[1] = g->micro[0];
    if (g->nv_small != g->nv)
        emit_one(g, g->mr, g->nv_small, "tile_narrow", &g->micro[1]);
}

static void call(dot *g, Val fn, const Val *args)
{
    em *e = g->e;
    LLVMBuildCall2(e->b, LLVMGlobalGetValueType(fn), fn, (Val *)args, MICRO_ARGS, "");
}

void dot_call_micro(dot *g, Val narrow, const Val *args)
{
    em *e = g->e;
    if (g->micro[0] == g->micro[1]) {
        call(g, g->micro[0], args);
        return;
    }
    em_ifelse s;
    em_ifelse_begin(e, &s, narrow);
    call(g, g->micro[1], args);
    em_ifelse_else(e, &s);
    call(g, g->micro[0], args);
    em_ifelse_end(e, &s, 0, NULL, NULL, NULL);
}
