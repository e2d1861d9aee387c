/* simt_dot_mainloop_fma.c - GEMM: the FMA main loop, multistage cp.async, for operands that can be
 * loaded as aligned chunks of 16 bytes. See simt_dot.h. Sums and their order are those of the
 * general main loop with little else in the loop: single threads issue all FMAs, so every other
 * instruction takes the place of one. An operand that is contiguous along the result is copied as
 * it is; one that is contiguous along k is transposed through registers. Out-of-range elements
 * are zero-filled, so the loop has no branches. Threads: belongs to one thread. */
#include "codegen/gpu/simt_dot.h"
#include <string.h>

enum { PARTS = 8 /* chunks of an operand's k-tile that a thread loads, at most */ };

/* What a thread loads of an operand's k-tile: chunks, `apart` rows from one to the next, along the
 * result where the operand is transposed, otherwise along k. */
typedef struct share {
    const gemm_factor *f;
    unsigned nparts, apart;
    Val from, step, advance; /* of the first part in the first k-tile; bytes to the next part, to
                                the next k-tile */
    Val k;                   /* of the first part in its k-tile: 32 bits */
    Val x_left, there;       /* from there to the end of the result: 32 bits; there is something */
    Val to;                  /* place of the first part in a stage */
} share;

typedef struct fma_loop {
    gemm *t;
    share s[2];
    Val end; /* of k, of this slice of it: 32 bits */
} fma_loop;

static unsigned chunk(const gemm *t)
{
    return GEMM_CHUNK / t->p.es;
}

static Val low(gemm *t, Val v)
{
    em *e = t->e;
    return LLVMBuildTrunc(e->b, v, e->i32, "");
}

/* ---- which ---- */

static bool suits(const gemm *t, const gemm_factor *f)
{
    return f->transposed || gemm_copies_chunks(t, f);
}

bool gemm_fma_mainloop_suits(const gemm *t)
{
    return !t->p.mma && t->ki == 0 && !gemm_many_rows(t, &t->a) && suits(t, &t->a) &&
           suits(t, &t->b);
}

static Val whole(gemm *t, const gemm_factor *f)
{
    em *e = t->e;
    Val n = f->transposed ? t->K : f->X;
    return AND(f->aligned, ICMP(EQ, AND(n, em_c64(e, chunk(t) - 1)), em_c64(e, 0)));
}

Val gemm_fma_mainloop_here(gemm *t)
{
    em *e = t->e;
    Val few = ICMP(SLE, t->K, em_c64(e, INT32_MAX / 2));
    return AND(few, AND(whole(t, &t->a), whole(t, &t->b)));
}

/* ---- tile loads ---- */

static void share_of(gemm *t, gemm_factor *f, Val first_k, share *s)
{
    em *e = t->e;
    unsigned each = chunk(t), per_row = (f->transposed ? t->p.kt : f->x) / each;
    uint32_t kd = t->k->nouter + t->ki;
    Val quick = MUL(AND(t->s->tid, em_c64(e, per_row - 1)), em_c64(e, each)),
        slow = LLVMBuildUDiv(e->b, t->s->tid, em_c64(e, per_row), "");
    Val x = f->transposed ? slow : quick, k = f->transposed ? quick : slow;
    *s = (share){.f = f, .apart = t->p.threads / per_row};
    s->nparts = f->x * t->p.kt / each / t->p.threads;
    Val from = ADD(gemm_offset(t, f, f->loop, x), gemm_offset(t, f, kd, ADD(k, first_k)));
    s->from = em_at(e, gemm_start(t, f), from, 1);
    s->step = gemm_offset(t, f, f->transposed ? f->loop : kd, em_c64(e, s->apart));
    s->advance = gemm_offset(t, f, kd, em_c64(e, t->p.kt));
    s->k = low(t, k);
    Val left = em_smin(e, SUB(f->X, ADD(f->x0, x)), em_c64(e, f->x));
    s->x_left = low(t, left);
    s->there = ICMP(SGT, left, em_c64(e, 0));
    s->to = gemm_place_element(t, f, x, k);
}

/* Whether part i, along k, exists of the k-tile that starts at k0. */
static Val exists(const fma_loop *y, const share *s, unsigned i, Val k0)
{
    em *e = y->t->e;
    return AND(s->there, ICMP(SLT, ADD(ADD(s->k, k0), em_c32(e, i * s->apart)), y->end));
}

static Val part_at(const fma_loop *y, const share *s, unsigned i, Val from)
{
    em *e = y->t->e;
    return em_at(e, from, MUL(s->step, em_c64(e, i)), 1);
}

/* The chunks that are copied as they are. */
static void copy_parts(const fma_loop *y, const share *s, Val k0, Val from, Val stage)
{
    gemm *t = y->t;
    em *e = t->e;
    int64_t row = (int64_t)s->f->x * t->p.es;
    for (unsigned i = 0; i < s->nparts; i++) {
        Val to = ADD(ADD(stage, s->to), em_c64(e, i * s->apart * row));
        simt_cp_async_16(t->s, em_at(e, t->s->shared, to, 1), part_at(y, s, i, from),
                         exists(y, s, i, k0));
    }
}

/* A chunk that is transposed: loaded into registers, */
static Val read_part(const fma_loop *y, const share *s, unsigned i, Val k0, Val from)
{
    gemm *t = y->t;
    em *e = t->e;
    Val left[2] = {s->x_left, SUB(SUB(y->end, s->k), k0)};
    unsigned at[2] = {i * s->apart, 0};
    return simt_read_chunk(t->s, part_at(y, s, i, from), em_vec(t->elem, chunk(t)), left, at);
}

/* and stored. */
static void store_part(const fma_loop *y, const share *s, unsigned i, Val v, Val stage)
{
    gemm *t = y->t;
    em *e = t->e;
    int64_t row = (int64_t)s->f->x * t->p.es;
    Val to = ADD(ADD(stage, s->to), em_c64(e, (int64_t)i * s->apart * t->p.es));
    for (unsigned j = 0; j < chunk(t); j++)
        em_store(e, em_extract(e, v, j), em_at(e, t->s->shared, ADD(to, em_c64(e, j * row)), 1),
                 t->p.es);
}

/* All of a k-tile at once. */
static void load_k_tile(const fma_loop *y, Val k0, const Val *from, Val stage)
{
    for (int f = 0; f < 2; f++) {
        const share *s = &y->s[f];
        if (!s->f->transposed)
            copy_parts(y, s, k0, from[f], stage);
        for (unsigned i = 0; s->f->transposed && i < s->nparts; i++)
            store_part(y, s, i, read_part(y, s, i, k0, from[f]), stage);
    }
    simt_cp_async_commit(y->t->s);
}

/* ---- multiplying ---- */

/* Multiplies the k-tile at `stage` and loads the one that starts at k0 into stage `ahead`: a part
 * to be transposed is read at the start, and stored at the end, of its share of the steps. */
static void multiply_and_load(const fma_loop *y, Val stage, Val k0, const Val *from, Val ahead,
                              Val *sum)
{
    gemm *t = y->t;
    const share *of[2 * PARTS];
    unsigned part[2 * PARTS], n = 0;
    for (int f = 0; f < 2; f++) {
        const share *s = &y->s[f];
        if (!s->f->transposed)
            copy_parts(y, s, k0, from[f], ahead);
        for (unsigned i = 0; s->f->transposed && i < s->nparts; i++, n++) {
            of[n] = s;
            part[n] = i;
        }
    }
    simt_cp_async_commit(t->s);
    unsigned steps = n ? t->p.kt / n : t->p.kt;
    Val frag[2][2][GEMM_FRAGS], v = NULL;
    gemm_fma_load(t, stage, 0, frag[0][0], frag[0][1]);
    for (unsigned k = 0; k < t->p.kt; k++) {
        unsigned i = k / steps, odd = k & 1;
        if (i < n && k % steps == 0)
            v = read_part(y, of[i], part[i], k0, from[of[i] == &y->s[1]]);
        if (k + 1 < t->p.kt)
            gemm_fma_load(t, stage, k + 1, frag[!odd][0], frag[!odd][1]);
        gemm_fma_add(t, frag[odd][0], frag[odd][1], sum);
        if (i < n && k % steps == steps - 1)
            store_part(y, of[i], part[i], v, ahead);
    }
}

void gemm_fma_mainloop(gemm *t, Val first, Val end, Val *sum)
{
    em *e = t->e;
    unsigned n = gemm_nacc(t), ahead = t->p.stages - 1;
    Val kt = em_c64(e, t->p.kt), first_k = MUL(first, kt), from[2];
    Val all = em_smin(e, MUL(end, kt), t->K);
    fma_loop y = {.t = t, .end = low(t, all)};
    share_of(t, &t->a, first_k, &y.s[0]);
    share_of(t, &t->b, first_k, &y.s[1]);
    from[0] = y.s[0].from;
    from[1] = y.s[1].from;
    Val k0 = low(t, first_k);
    simt_barrier(t->s); /* what this memory held has been read */
    for (unsigned i = 0; i < ahead; i++) {
        load_k_tile(&y, ADD(k0, em_c32(e, i * t->p.kt)), from,
                    em_c64(e, i * gemm_stage_bytes(&t->p)));
        for (int f = 0; f < 2; f++)
            from[f] = em_at(e, from[f], y.s[f].advance, 1);
    }
    Val carried[GEMM_ACC + 4], next[GEMM_ACC + 4];
    memcpy(carried, sum, n * sizeof *sum);
    carried[n] = em_c64(e, 0); /* stage that is multiplied */
    carried[n + 1] = em_c64(e, (int64_t)ahead * gemm_stage_bytes(&t->p)); /* stage that is loaded */
    carried[n + 2] = from[0];
    carried[n + 3] = from[1];
    em_loop l;
    em_loop_begin(e, &l, k0, y.end, em_c32(e, t->p.kt), (int)n + 4, carried);
    simt_cp_async_wait(t->s, ahead - 1);
    simt_barrier(t->s);
    memcpy(next, l.phi, n * sizeof *next);
    multiply_and_load(&y, l.phi[n], ADD(l.i, em_c32(e, ahead * t->p.kt)), &l.phi[n + 2],
                      l.phi[n + 1], next);
    next[n] = gemm_next_stage(t, l.phi[n]);
    next[n + 1] = gemm_next_stage(t, l.phi[n + 1]);
    next[n + 2] = em_at(e, l.phi[n + 2], y.s[0].advance, 1);
    next[n + 3] = em_at(e, l.phi[n + 3], y.s[1].advance, 1);
    em_loop_end(e, &l, next);
    simt_cp_async_wait(t->s, 0); /* what did not exist has been written, too */
    memcpy(sum, l.phi, n * sizeof *sum);
}
