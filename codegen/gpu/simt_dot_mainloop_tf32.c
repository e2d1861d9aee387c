/* simt_dot_mainloop_tf32.c - GEMM: the wgmma main loop for f32 operands rounded to tf32, where both
 * can be loaded as aligned chunks of 16 bytes. See simt_dot.h. wgmma reads 32-bit operands from
 * rows along k only and does not round, so every chunk passes through registers: it is rounded
 * there, and transposed if the operand is contiguous along the result. A k-tile is loaded into
 * registers while the one before it is stored and the one before that is multiplied. Threads:
 * belongs to one thread. */
#include "codegen/gpu/simt_dot.h"
#include <string.h>

enum {
    EACH = 4, /* elements of a chunk */
    PARTS = 8,
    HELD = 2 * PARTS, /* chunks of a thread, at most */
    /* Of a factor that is contiguous along the result, a warp reads two chunks of 16 rows: whole
     * sectors of 32 bytes, stored to different banks. */
    WARP_CHUNKS = 2,
    WARP_ROWS = SIMT_WARP / WARP_CHUNKS
};

/* What a thread loads of an operand's k-tile: chunks, each some way along the result and along k
 * from the first. */
typedef struct share {
    const gemm_factor *f;
    unsigned nparts, dx[PARTS], dk[PARTS];
    Val x, k;            /* of the first part: in the tile, in its k-tile */
    Val x_left, k_left;  /* from there to the end of the result, of k: 32 bits */
    Val from, by[PARTS]; /* in the first k-tile; bytes from the first part to each */
    Val advance;         /* bytes to the next k-tile */
} share;

typedef struct tf32_loop {
    gemm *t;
    share s[2];
} tf32_loop;

static bool suits(const gemm *t, const gemm_factor *f)
{
    return f->transposed || gemm_copies_chunks(t, f);
}

bool gemm_tf32_mainloop_suits(const gemm *t)
{
    return gemm_rounds_to_tf32(&t->p) && t->ki == 0 && !gemm_many_rows(t, &t->a) &&
           suits(t, &t->a) && suits(t, &t->b);
}

static Val whole(gemm *t, const gemm_factor *f)
{
    em *e = t->e;
    Val n = f->transposed ? f->X : t->K;
    return AND(f->aligned, ICMP(EQ, AND(n, em_c64(e, EACH - 1)), em_c64(e, 0)));
}

Val gemm_tf32_mainloop_here(gemm *t)
{
    em *e = t->e;
    Val few = ICMP(SLE, t->K, em_c64(e, INT32_MAX / 2));
    return AND(few, AND(whole(t, &t->a), whole(t, &t->b)));
}

/* ---- which chunks a thread loads ---- */

static void divide_by_rows(gemm *t, share *s)
{
    em *e = t->e;
    unsigned per_row = t->p.kt / EACH, apart = t->p.threads / per_row;
    s->x = LLVMBuildUDiv(e->b, t->s->tid, em_c64(e, per_row), "");
    s->k = MUL(AND(t->s->tid, em_c64(e, per_row - 1)), em_c64(e, EACH));
    s->nparts = s->f->x / apart;
    for (unsigned i = 0; i < s->nparts; i++)
        s->dx[i] = i * apart;
}

static void divide_by_columns(gemm *t, share *s)
{
    em *e = t->e;
    Val warp = LSHR(t->s->tid, em_c64(e, 5)), chunk = AND(t->lane, em_c64(e, WARP_CHUNKS - 1));
    unsigned across = t->p.threads / SIMT_WARP * WARP_CHUNKS * EACH, n = s->f->x / across;
    s->x = MUL(ADD(MUL(warp, em_c64(e, WARP_CHUNKS)), chunk), em_c64(e, EACH));
    s->k = LLVMBuildUDiv(e->b, t->lane, em_c64(e, WARP_CHUNKS), "");
    s->nparts = n * (t->p.kt / WARP_ROWS);
    for (unsigned i = 0; i < s->nparts; i++) {
        s->dx[i] = i % n * across;
        s->dk[i] = i / n * WARP_ROWS;
    }
}

static void share_of(gemm *t, const gemm_factor *f, Val first_k, Val end, share *s)
{
    em *e = t->e;
    uint32_t kd = t->k->nouter + t->ki;
    *s = (share){.f = f};
    if (f->transposed)
        divide_by_columns(t, s);
    else
        divide_by_rows(t, s);
    Val off = ADD(gemm_offset(t, f, f->loop, s->x), gemm_offset(t, f, kd, ADD(s->k, first_k)));
    s->from = em_at(e, gemm_start(t, f), off, 1);
    Val left = em_smin(e, SUB(f->X, ADD(f->x0, s->x)), em_c64(e, f->x));
    s->x_left = LLVMBuildTrunc(e->b, left, e->i32, "");
    s->k_left = LLVMBuildTrunc(e->b, SUB(end, s->k), e->i32, "");
    s->advance = gemm_offset(t, f, kd, em_c64(e, t->p.kt));
    for (unsigned i = 0; i < s->nparts; i++) {
        s->by[i] = ADD(gemm_offset(t, f, f->loop, em_c64(e, s->dx[i])),
                       gemm_offset(t, f, kd, em_c64(e, s->dk[i])));
    }
}

static unsigned nheld(const tf32_loop *r)
{
    return r->s[0].nparts + r->s[1].nparts;
}

/* ---- a k-tile ---- */

/* Part i of the k-tile that starts at k0 into registers. */
static Val read_part(const tf32_loop *r, const share *s, unsigned i, Val k0, Val from)
{
    gemm *t = r->t;
    em *e = t->e;
    Val left[2] = {s->x_left, SUB(s->k_left, k0)};
    unsigned at[2] = {s->dx[i], s->dk[i]};
    return simt_read_chunk(t->s, em_at(e, from, s->by[i], 1), em_vec(t->elem, EACH), left, at);
}

static void store_part(const tf32_loop *r, const share *s, unsigned i, Val v, Val stage)
{
    gemm *t = r->t;
    em *e = t->e;
    Val x = ADD(s->x, em_c64(e, s->dx[i])), k = ADD(s->k, em_c64(e, s->dk[i])), to;
    v = gemm_round_to_tf32(t, v);
    if (!s->f->transposed) {
        to = ADD(stage, gemm_place_element(t, s->f, x, k));
        em_store(e, v, em_at(e, t->s->shared, to, 1), GEMM_CHUNK);
        return;
    }
    for (unsigned j = 0; j < EACH; j++) {
        /* Further along k by whole halves of a row: exclusive or, as the order of chunks is; here,
         * not before the loop, for want of registers. */
        to = ADD(stage, gemm_place_element(t, s->f, ADD(x, em_c64(e, j)), s->k));
        to = XOR(to, em_c64(e, s->dk[i] * t->p.es));
        em_store(e, em_extract(e, v, j), em_at(e, t->s->shared, to, 1), t->p.es);
    }
}

/* The k-tile that starts at k0 into registers; if `stage`, first what these hold to it, the k-tile
 * before. */
static void read_k_tile(const tf32_loop *r, Val k0, const Val *from, Val *held, Val stage)
{
    unsigned n = 0;
    for (int f = 0; f < 2; f++) {
        for (unsigned i = 0; i < r->s[f].nparts; i++, n++) {
            if (stage)
                store_part(r, &r->s[f], i, held[n], stage);
            held[n] = read_part(r, &r->s[f], i, k0, from[f]);
        }
    }
}

static void advance(const tf32_loop *r, const Val *from, Val *next)
{
    em *e = r->t->e;
    for (int f = 0; f < 2; f++)
        next[f] = em_at(e, from[f], r->s[f].advance, 1);
}

/* ---- all of them ---- */

void gemm_tf32_mainloop(gemm *t, Val first, Val end, Val *sum)
{
    em *e = t->e;
    unsigned n = gemm_nacc(t);
    Val kt = em_c64(e, t->p.kt), first_k = MUL(first, kt), from[2], held[HELD];
    tf32_loop r = {.t = t};
    Val last = em_smin(e, MUL(end, kt), t->K);
    share_of(t, &t->a, first_k, last, &r.s[0]);
    share_of(t, &t->b, first_k, last, &r.s[1]);
    Val k0 = LLVMBuildTrunc(e->b, first_k, e->i32, "");
    from[0] = r.s[0].from;
    from[1] = r.s[1].from;
    simt_barrier(t->s); /* what this memory held has been read */
    read_k_tile(&r, k0, from, held, NULL);
    advance(&r, from, from);
    read_k_tile(&r, ADD(k0, em_c32(e, t->p.kt)), from, held, em_c64(e, 0));
    advance(&r, from, from);
    Val carried[GEMM_ACC + HELD + 3], next[GEMM_ACC + HELD + 3];
    unsigned h = n, f = n + nheld(&r), all = f + 3;
    memcpy(carried, sum, n * sizeof *sum);
    memcpy(carried + h, held, nheld(&r) * sizeof *held);
    memcpy(carried + f, from, sizeof from);
    carried[f + 2] = em_c64(e, 0); /* the stage to be multiplied */
    em_loop l;
    em_loop_begin(e, &l, k0, LLVMBuildTrunc(e->b, last, e->i32, ""), em_c32(e, t->p.kt), (int)all,
                  carried);
    memcpy(next, l.phi, all * sizeof *next);
    simt_wgmma_fence(t->s);
    simt_barrier(t->s);
    gemm_wgmma_multiply(t, l.phi[f + 2], 0, next);
    next[f + 2] = gemm_next_stage(t, l.phi[f + 2]);
    read_k_tile(&r, ADD(l.i, em_c32(e, 2 * t->p.kt)), l.phi + f, next + h, next[f + 2]);
    advance(&r, l.phi + f, next + f);
    gemm_wgmma_wait(t, next, 0);
    em_loop_end(e, &l, next);
    memcpy(sum, l.phi, n * sizeof *sum);
}
