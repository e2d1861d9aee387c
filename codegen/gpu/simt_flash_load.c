/* simt_flash_load.c - flash attention: K and V tiles from device memory into the multistage buffer
 * in shared memory, by cp.async where they are plain loads, else evaluated. See simt_flash.h.
 * Threads: belongs to one thread. */
#include "codegen/gpu/simt_flash.h"
#include <string.h>

static const kctx one_vector = {.u = 1};
enum { CHUNK = 16 };

lz_status flash_product_init(flash *p, flash_product *d, uint32_t s, unsigned nn, unsigned nk)
{
    em *e = p->e;
    d->left = kern_product_view(p->k, s, &d->view, &d->stage);
    d->a_sop = lz_converted_from(&d->stage, lz_kernel_dot(&d->view)->a_sop);
    d->b_sop = lz_converted_from(&d->stage, lz_kernel_dot(&d->view)->b_sop);
    lz_dtype t = d->stage.sops[d->b_sop].dtype;
    d->mma = p->f.fma ? NULL : simt_mma_of(t, LZ_F32);
    d->es = p->f.fma ? 4 : 2;
    d->lanes = CHUNK / d->es;
    uint32_t kd = d->view.nouter, n = lz_kernel_dot(&d->view)->n;
    if (!d->left)
        LZ_TRY(kern_init_factor(&d->a, e, &d->view, 1, kd, d->a_sop));
    LZ_TRY(kern_init_factor(&d->b, e, &d->view, 1, kd, d->b_sop));
    d->by_k = kern_loads_along(d->b.st[0].s, d->b.st[0].skip, kd, n);
    LZ_TRY(kern_init_factor(&d->many, e, &d->view, d->lanes, d->by_k ? kd : n, d->b_sop));
    d->many.aligned = true;
    d->vectors = simt_vectors_suit(&d->many, 0) && d->many.st[0].vec[d->b_sop];
    d->plain = kern_plain_access(&d->view, d->b_sop);
    if (d->plain && (!d->vectors || p->k->buf[d->plain->buf].dtype != t))
        d->plain = NULL;
    d->nn = nn;
    d->nk = nk;
    d->pitch = p->wgmma ? SIMT_WGMMA_ROW : (d->by_k ? nk : nn) * d->es + FLASH_PAD;
    d->size = (d->by_k ? nn : nk) * d->pitch;
    d->at = p->stage_bytes;
    p->stage_bytes += d->size;
    return LZ_OK;
}

void flash_product_top(flash *p, flash_product *d, uint32_t s)
{
    kern *all[3] = {&d->b, d->vectors ? &d->many : NULL, d->left ? NULL : &d->a};
    for (int i = 0; i < 3; i++) {
        if (!all[i])
            continue;
        kern_share(all[i], &p->c);
        kern_top(all[i], 0);
    }
    d->N = kern_size(&p->c, p->k->stages[s].extent[0]);
    d->K = kern_size(&p->c, p->k->stages[s].extent[1]);
    if (d->vectors)
        d->aligned = simt_vectors_aligned(&d->many, 0);
}

/* The indices of the batch, of loop x and of k. */
void flash_stand_at(flash *p, flash_product *d, kern *f, uint32_t x, Val xi, Val ki)
{
    uint32_t batch = (1u << (p->k->nouter - 1)) - 1;
    memcpy(f->oidx, p->c.oidx, (p->k->nouter - 1) * sizeof(Val));
    f->oidx[x] = xi;
    f->iidx[0] = ki;
    kern_advance(f, 0, POS_TOP, POS_POINT, batch | 1u << x | 1u << d->view.nouter);
}

/* Address of row `r`, element `x` of it, of the KV tile in stage `at` (in bytes) of the multistage
 * buffer. */
Val flash_tile_at(flash *p, const flash_product *d, Val at, Val r, Val x)
{
    em *e = p->e;
    Val byte = MUL(x, em_c64(e, d->es));
    if (p->wgmma) /* chunk c of row r is at c xor r % 8 */
        byte = XOR(byte, MUL(AND(r, em_c64(e, 7)), em_c64(e, CHUNK)));
    byte = ADD(MUL(r, em_c64(e, d->pitch)), byte);
    return em_at(e, em_at(e, p->s->shared, ADD(at, byte), 1), em_c64(e, d->at), 1);
}

static unsigned chunks(const flash_product *d) /* of a row */
{
    return (d->by_k ? d->nk : d->nn) / (d->lanes);
}

Val flash_stage_at(flash *p, Val index)
{
    em *e = p->e;
    return p->f.fma ? em_c64(e, 0)
                    : MUL(AND(index, em_c64(e, FLASH_STAGES - 1)), em_c64(e, p->stage_bytes));
}

/* Elements between the rows of a plain factor. */
static Val pitch_of(flash *p, const flash_product *d)
{
    return kern_size(&p->c,
                     d->plain->stride[d->by_k ? lz_kernel_dot(&d->view)->n : d->view.nouter]);
}

void flash_product_enter(flash *p, flash_product *d)
{
    em *e = p->e;
    if (!d->plain)
        return;
    flash_stand_at(p, d, &d->many, lz_kernel_dot(&d->view)->n, em_c64(e, 0), em_c64(e, 0));
    Val start = d->many.st[0].ptr[POS_POINT][d->stage.sops[d->b_sop].a];
    d->far = LLVMBuildUDiv(e->b, p->s->tid, em_c64(e, chunks(d)), "");
    d->near = MUL(AND(p->s->tid, em_c64(e, chunks(d) - 1)), em_c64(e, d->lanes));
    d->from = em_at(e, em_at(e, start, MUL(d->far, pitch_of(p, d)), d->es), d->near, d->es);
    d->to = flash_tile_at(p, d, em_c64(e, 0), d->far, d->near);
}

/* A chunk: row r from element x on of the KV tile that starts at n0, k0. */
typedef struct chunk {
    Val at, r, x, n, k; /* n, k: of the factor */
} chunk;

static void put_vector(flash *p, flash_product *d, const chunk *q)
{
    em *e = p->e;
    flash_stand_at(p, d, &d->many, lz_kernel_dot(&d->view)->n, q->n, q->k);
    kern_eval(&d->many, 0, POS_POINT, &one_vector);
    Val v = kern_vector(&d->many, 0, d->b_sop, 0).v;
    v = d->mma ? em_to_mem(e, d->mma->d, v) : v;
    em_store(e, v, flash_tile_at(p, d, q->at, q->r, q->x), CHUNK);
}

static void put_elements(flash *p, flash_product *d, const chunk *q)
{
    em *e = p->e;
    em_loop l;
    em_if in;
    Val none = LLVMConstNull(d->mma ? e->i16 : e->f32), v;
    em_loop_begin(e, &l, em_c64(e, 0), em_c64(e, d->lanes), em_c64(e, 1), 0, NULL);
    Val n = d->by_k ? q->n : ADD(q->n, l.i), k = d->by_k ? ADD(q->k, l.i) : q->k;
    em_if_begin(e, &in, AND(ICMP(SLT, n, d->N), ICMP(SLT, k, d->K)));
    flash_stand_at(p, d, &d->b, lz_kernel_dot(&d->view)->n, n, k);
    kern_eval(&d->b, 0, POS_POINT, &one_vector);
    Val x = kern_value(&d->b, 0, d->b_sop, 0).v;
    x = d->mma ? em_to_mem(e, d->mma->d, x) : x;
    em_if_end(e, &in, 1, &x, &none, &v);
    em_store(e, v, flash_tile_at(p, d, q->at, q->r, ADD(q->x, l.i)), d->es);
    em_loop_end(e, &l, NULL);
}

/* A chunk that is evaluated: together if it is inside. */
static void put_chunk(flash *p, flash_product *d, const chunk *q)
{
    em *e = p->e;
    em_ifelse which;
    if (!d->vectors || d->plain) {
        put_elements(p, d, q);
        return;
    }
    Val inside = d->aligned, last = em_c64(e, d->lanes - 1);
    inside = AND(inside, ICMP(SLT, d->by_k ? q->n : ADD(q->n, last), d->N));
    inside = AND(inside, ICMP(SLT, d->by_k ? ADD(q->k, last) : q->k, d->K));
    em_ifelse_begin(e, &which, inside);
    put_vector(p, d, q);
    em_ifelse_else(e, &which);
    put_elements(p, d, q);
    em_ifelse_end(e, &which, 0, NULL, NULL, NULL);
}

static void evaluate(flash *p, flash_product *d, Val at, Val n0, Val k0)
{
    em *e = p->e;
    unsigned each = chunks(d), n = (d->by_k ? d->nn : d->nk) * each;
    em_loop l;
    em_loop_begin(e, &l, p->s->tid, em_c64(e, n), p->s->ntid, 0, NULL);
    chunk q = {.at = at, .r = LLVMBuildUDiv(e->b, l.i, em_c64(e, each), "")};
    q.x = MUL(AND(l.i, em_c64(e, each - 1)), em_c64(e, d->lanes));
    q.n = ADD(n0, d->by_k ? q.r : q.x);
    q.k = ADD(k0, d->by_k ? q.x : q.r);
    put_chunk(p, d, &q);
    em_loop_end(e, &l, NULL);
}

/* A thread's chunks of a KV tile: one below the other. They are copied two at a time, which a block
 * of any size has: the most threads have just these. rows: that exist from the tile's first one on,
 * and `bytes` of the thread's chunks; rows NULL: all of all. */
static void copy_chunks(flash *p, flash_product *d, Val from, Val to, Val rows, Val bytes)
{
    em *e = p->e;
    enum { TOGETHER = 2 };
    Val step = LSHR(p->s->ntid, em_c64(e, chunks(d) == 8 ? 3 : 4)), next[2] = {from, to};
    Val n = em_c64(e, d->by_k ? d->nn : d->nk);
    Val down = MUL(step, MUL(pitch_of(p, d), em_c64(e, d->es))),
        down_to = MUL(step, em_c64(e, d->pitch));
    em_loop l;
    em_loop_begin(e, &l, d->far, n, MUL(step, em_c64(e, TOGETHER)), 2, next);
    memcpy(next, l.phi, sizeof next);
    Val left = rows ? LLVMBuildTrunc(e->b, SUB(em_smin(e, rows, n), l.i), e->i32, "") : NULL;
    for (unsigned i = 0; i < TOGETHER; i++) {
        Val row = LLVMBuildTrunc(e->b, MUL(step, em_c64(e, i)), e->i32, "");
        simt_cp_async(p->s, next[1], next[0], CHUNK,
                      rows ? SEL(ICMP(SGT, left, row), bytes, em_c32(e, 0)) : em_c32(e, CHUNK));
        next[0] = em_at(e, next[0], down, 1);
        next[1] = em_at(e, next[1], down_to, 1);
    }
    em_loop_end(e, &l, next);
}

/* Whole KV tiles, as most are, need no look at single rows. */
static void copy(flash *p, flash_product *d, Val at, Val n0, Val k0)
{
    em *e = p->e;
    em_ifelse which;
    Val far0 = d->by_k ? n0 : k0, near0 = d->by_k ? k0 : n0;
    Val pitch = MUL(pitch_of(p, d), em_c64(e, d->es));
    Val from = em_at(e, em_at(e, d->from, MUL(far0, pitch), 1), near0, d->es),
        to = em_at(e, d->to, at, 1);
    Val rows = SUB(d->by_k ? d->N : d->K, far0), across = SUB(d->by_k ? d->K : d->N, near0);
    Val whole = AND(ICMP(SGE, rows, em_c64(e, d->by_k ? d->nn : d->nk)),
                    ICMP(SGE, across, em_c64(e, d->by_k ? d->nk : d->nn)));
    em_ifelse_begin(e, &which, whole);
    copy_chunks(p, d, from, to, NULL, NULL);
    em_ifelse_else(e, &which);
    Val left = em_smax(e, SUB(across, d->near), em_c64(e, 0));
    left = em_smin(e, left, em_c64(e, d->lanes));
    Val bytes = LLVMBuildTrunc(e->b, MUL(left, em_c64(e, d->es)), e->i32, "");
    copy_chunks(p, d, from, to, rows, bytes);
    em_ifelse_end(e, &which, 0, NULL, NULL, NULL);
}

static void fetch(flash *p, flash_product *d, Val at, Val n0, Val k0)
{
    em *e = p->e;
    em_ifelse which;
    if (!d->plain) {
        evaluate(p, d, at, n0, k0);
        return;
    }
    em_ifelse_begin(e, &which, d->aligned);
    copy(p, d, at, n0, k0);
    em_ifelse_else(e, &which);
    evaluate(p, d, at, n0, k0);
    em_ifelse_end(e, &which, 0, NULL, NULL, NULL);
}

/* KV tile `index` of one factor, or of both; ends a group of copies. */
void flash_load(flash *p, Val index, bool first, bool second)
{
    em *e = p->e;
    em_if in;
    em_if_begin(e, &in, ICMP(SLT, index, p->total));
    Val at = flash_stage_at(p, index), x = MUL(index, em_c64(e, FLASH_ROW));
    if (first)
        fetch(p, &p->first, at, x, em_c64(e, 0));
    if (second)
        fetch(p, &p->second, at, em_c64(e, 0), x);
    em_if_end(e, &in, 0, NULL, NULL, NULL);
    simt_cp_async_commit(p->s);
}

void flash_prologue(flash *p, bool both)
{
    em *e = p->e;
    if (p->f.fma) {
        flash_load(p, em_c64(e, 0), true, false);
        flash_load(p, em_c64(e, 0), false, both);
        return;
    }
    for (unsigned i = 0; i + 1 < FLASH_STAGES; i++)
        flash_load(p, em_c64(e, i), true, both);
}
