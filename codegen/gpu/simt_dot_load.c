/* simt_dot_load.c - GEMM: tile loads from global to shared memory, a k-tile at a time. See
 * simt_dot.h. An operand that is a plain load goes by cp.async: chunks of 16 bytes where it is
 * contiguous along the rows of shared memory and aligned, single elements of 4 or 8 bytes
 * otherwise. Anything else is evaluated (the fused prologue), in vectors of a chunk where possible.
 * What is past the end of rows, columns or k is zero-filled. Threads: belongs to one thread. */
#include "codegen/gpu/simt_dot.h"

static const kctx one_vector = {.u = 1};

/* ---- form ---- */

static unsigned row_elems(const gemm *t, const gemm_factor *f)
{
    return f->rows_k ? t->p.kt : f->x;
}

static unsigned chunk_elems(const gemm *t)
{
    return GEMM_CHUNK / t->p.es;
}

/* The load that the factor is, if it is one as it stands in memory. */
static const lz_access *plain_load(const gemm *t, int32_t sop)
{
    const lz_access *a = kern_plain_access(t->k, sop);
    return a && t->k->buf[a->buf].dtype == t->p.d ? a : NULL;
}

/* Instructions read rows along k, those of 16-bit elements either; single threads read rows along
 * the result. */
static bool choose_rows(const gemm *t, const gemm_factor *f)
{
    return t->p.mma && (t->p.es != 2 || f->by_k);
}

/* Whether chunks are copied as they are, given that they are aligned. */
bool gemm_copies_chunks(const gemm *t, const gemm_factor *f)
{
    uint32_t along = f->rows_k ? t->k->nouter + t->ki : f->loop;
    return f->plain && lz_sz_is(f->plain->stride[along], 1);
}

lz_status gemm_factor_init(gemm *t, gemm_factor *f, uint32_t loop, int32_t sop)
{
    uint32_t kd = t->k->nouter + t->ki, all = (1u << kd) - 1;
    f->loop = loop;
    f->x = loop == t->m ? t->p.tm : t->p.tn;
    f->fixed = all & ~(1u << t->m | 1u << t->n);
    f->sop = gemm_source(t->k, sop, t->p.d);
    LZ_TRY(kern_init_factor(&f->one, t->e, t->k, 1, kd, f->sop));
    f->by_k = kern_loads_along(f->one.st[0].s, f->one.st[0].skip, kd, f->loop);
    f->rows_k = choose_rows(t, f);
    f->swizzled = t->p.mma;
    f->skewed = !t->p.mma && f->by_k;
    f->plain = plain_load(t, f->sop);
    if (f->plain && !gemm_copies_chunks(t, f) && t->p.es < 4) /* nothing copies so little */
        f->plain = NULL;
    f->transposed = f->plain && (f->skewed || (gemm_rounds_to_tf32(&t->p) && !f->by_k &&
                                               lz_sz_is(f->plain->stride[loop], 1)));
    f->copied = f->plain && !gemm_rounds_to_tf32(&t->p);
    bool by_k = f->transposed ? f->by_k : f->rows_k;
    LZ_TRY(kern_init_factor(&f->many, t->e, t->k, chunk_elems(t), by_k ? kd : loop, f->sop));
    f->many.aligned = true;
    bool along = f->by_k == f->rows_k;
    f->vectors = along && simt_vectors_suit(&f->many, 0) && f->many.st[0].vec[f->sop];
    return LZ_OK;
}

/* ---- places ---- */

static Val swizzle(gemm *t, const gemm_factor *f, Val row)
{
    em *e = t->e;
    if (!f->swizzled)
        return em_c64(e, 0);
    if (!f->rows_k)
        return AND(row, em_c64(e, 7));
    if (t->p.es == 8)
        return SHL(AND(row, em_c64(e, 3)), em_c64(e, 1));
    return AND(LSHR(row, em_c64(e, 1)), em_c64(e, 3));
}

Val gemm_place(gemm *t, const gemm_factor *f, Val row, Val chunk)
{
    em *e = t->e;
    if (t->p.wgmma)
        return gemm_wgmma_place(t, f, row, chunk);
    Val c = XOR(chunk, swizzle(t, f, row));
    Val at =
        ADD(MUL(row, em_c64(e, (int64_t)row_elems(t, f) * t->p.es)), MUL(c, em_c64(e, GEMM_CHUNK)));
    if (f->skewed)
        at = ADD(
            at, MUL(LLVMBuildUDiv(e->b, row, em_c64(e, chunk_elems(t)), ""), em_c64(e, GEMM_SKEW)));
    return ADD(at, em_c64(e, f->first));
}

/* Of an element. */
Val gemm_place_element(gemm *t, const gemm_factor *f, Val x, Val k)
{
    em *e = t->e;
    Val row = f->rows_k ? x : k, i = f->rows_k ? k : x;
    Val chunk = LLVMBuildUDiv(e->b, i, em_c64(e, chunk_elems(t)), "");
    Val in = AND(i, em_c64(e, chunk_elems(t) - 1));
    return ADD(gemm_place(t, f, row, chunk), MUL(in, em_c64(e, t->p.es)));
}

/* ---- copies ---- */

void gemm_factor_top(gemm *t, gemm_factor *f)
{
    kern_addresses(&f->one, 0, POS_TOP);
    kern_eval(&f->one, 0, POS_TOP, &one_vector);
    if (f->vectors || f->transposed || gemm_copies_chunks(t, f)) {
        kern_addresses(&f->many, 0, POS_TOP);
        kern_eval(&f->many, 0, POS_TOP, &one_vector);
        f->aligned = simt_vectors_aligned(&f->many, 0);
    }
}

/* Bytes from the start of the load for index `i` of loop d. */
Val gemm_offset(gemm *t, const gemm_factor *f, uint32_t d, Val i)
{
    em *e = t->e;
    return MUL(MUL(i, kern_size((kern *)&f->one, f->plain->stride[d])), em_c64(e, t->p.es));
}

/* The same for x along the result. */
static Val offset_along(gemm *t, const gemm_factor *f, Val x)
{
    em *e = t->e;
    Val at[LZ_OUTER_MAX], sum = em_c64(e, 0);
    if (!gemm_many_rows(t, f))
        return gemm_offset(t, f, f->loop, x);
    gemm_row_indices(t, x, at);
    for (uint32_t d = t->rows; d <= t->m; d++)
        sum = ADD(sum, gemm_offset(t, f, d, at[d]));
    return sum;
}

/* Start of the load in this tile, without the inner loops; where rows are of several loops, of the
 * first one of all. */
Val gemm_start(gemm *t, const gemm_factor *f)
{
    uint32_t acc = (uint32_t)t->k->stages[0].sops[f->sop].a;
    Val p = f->one.st[0].ptr[POS_TOP][acc];
    for (uint32_t d = 0; d < t->m; d++)
        p = em_at(t->e, p, gemm_offset(t, f, d, f->one.oidx[d]), 1);
    return gemm_many_rows(t, f) ? p : em_at(t->e, p, gemm_offset(t, f, f->loop, f->x0), 1);
}

/* From there to x of the tile along the result. */
static Val offset_in_tile(gemm *t, const gemm_factor *f, Val x)
{
    em *e = t->e;
    return offset_along(t, f, gemm_many_rows(t, f) ? ADD(f->x0, x) : x);
}

/* min(max((end - at) * es, 0), width) */
static Val bytes_left(gemm *t, Val at, Val end, unsigned width)
{
    em *e = t->e;
    Val n = MUL(SUB(end, at), em_c64(e, t->p.es));
    return em_smax(e, em_smin(e, n, em_c64(e, width)), em_c64(e, 0));
}

/* Parts of a thread stand so many rows (x_rows: of the result, otherwise of k) apart. Their places
 * differ by a constant where that leaves the swizzle as it is: 8 rows of shared memory, or as many
 * chunks. 0: they do not. */
static int64_t place_step(const gemm *t, const gemm_factor *f, unsigned apart, bool x_rows)
{
    int64_t row = t->p.wgmma ? 8 * GEMM_CHUNK : (int64_t)row_elems(t, f) * t->p.es;
    if (x_rows == f->rows_k)
        return apart % 8 ? 0 : apart * row;
    int64_t bytes = (int64_t)apart * t->p.es;
    if (!t->p.mma)
        return bytes;
    return bytes % (8 * GEMM_CHUNK) || t->p.wgmma ? 0 : bytes;
}

/* So many of them, one after the other, are in one chunk. */
static unsigned parts_of_chunk(const gemm *t, unsigned apart)
{
    unsigned bytes = apart * t->p.es;
    return bytes < GEMM_CHUNK ? GEMM_CHUNK / bytes : 1;
}

void gemm_factor_tile(gemm *t, gemm_factor *f)
{
    em *e = t->e;
    f->nparts = 0;
    if (!f->copied)
        return;
    bool chunks = gemm_copies_chunks(t, f);
    f->x_rows = chunks ? f->rows_k : f->by_k;
    f->width = chunks ? GEMM_CHUNK : t->p.es;
    unsigned each = f->width / t->p.es, total = f->x * t->p.kt / each,
             per_row = (f->x_rows ? t->p.kt : f->x) / each, apart = t->p.threads / per_row;
    int64_t step = place_step(t, f, apart, f->x_rows);
    uint32_t kd = t->k->nouter + t->ki;
    Val tid = t->s->tid, quick = MUL(AND(tid, em_c64(e, per_row - 1)), em_c64(e, each)),
        slow = LLVMBuildUDiv(e->b, tid, em_c64(e, per_row), ""), x = f->x_rows ? slow : quick;
    f->k = f->x_rows ? quick : slow;
    f->nparts = total < t->p.threads ? 1 : total / t->p.threads;
    f->exists = total < t->p.threads ? ICMP(SLT, tid, em_c64(e, total)) : NULL;
    f->from =
        em_at(e, gemm_start(t, f), ADD(offset_in_tile(t, f, x), gemm_offset(t, f, kd, f->k)), 1);
    f->step = gemm_offset(t, f, f->x_rows ? f->loop : kd, em_c64(e, apart));
    f->apart = apart;
    f->bytes = f->x_rows ? NULL : bytes_left(t, ADD(f->x0, x), f->X, f->width);
    unsigned one_chunk = f->x_rows == f->rows_k ? 1 : parts_of_chunk(t, apart);
    for (unsigned i = 0; i < f->nparts; i++) {
        Val further = ADD(slow, em_c64(e, (int64_t)i * apart));
        unsigned in = i % one_chunk;
        f->to[i] =
            i && step ? ADD(f->to[0], em_c64(e, i * step))
            : in      ? ADD(f->to[i - in], em_c64(e, (int64_t)in * apart * t->p.es))
                 : gemm_place_element(t, f, f->x_rows ? further : x, f->x_rows ? f->k : further);
        if (gemm_many_rows(t, f))
            f->each[i] = em_at(e, gemm_start(t, f),
                               ADD(offset_in_tile(t, f, further), gemm_offset(t, f, kd, f->k)), 1);
        f->row_exists[i] = f->x_rows ? ICMP(SLT, ADD(f->x0, further), f->X) : NULL;
    }
}

static void copy_part(gemm *t, Val to, Val from, unsigned width, Val bytes)
{
    em *e = t->e;
    simt_cp_async(t->s, em_at(e, t->s->shared, to, 1), from, width,
                  LLVMBuildTrunc(e->b, bytes, e->i32, ""));
}

/* Bytes from the first k-tile's elements to those of this one. */
Val gemm_k_tile_offset(gemm *t, const gemm_factor *f, Val k0)
{
    em *e = t->e;
    Val off = gemm_offset(t, f, t->k->nouter + t->ki, k0);
    for (uint32_t j = 0; j < t->ki; j++)
        off = ADD(off, gemm_offset(t, f, t->k->nouter + j, f->one.iidx[j]));
    return off;
}

static Val this_k_tile(gemm *t, const gemm_factor *f, Val k0)
{
    return f->k_tile ? f->k_tile : gemm_k_tile_offset(t, f, k0);
}

static void copy_parts(gemm *t, gemm_factor *f, Val k0, Val stage)
{
    em *e = t->e;
    Val k_tile = this_k_tile(t, f, k0), from = em_at(e, f->from, k_tile, 1), none = em_c64(e, 0),
        left = f->bytes;
    em_if has;
    if (f->exists)
        em_if_begin(e, &has, f->exists);
    if (f->x_rows)
        left = bytes_left(t, ADD(k0, f->k), t->K, f->width);
    for (unsigned i = 0; i < f->nparts; i++) {
        Val k = ADD(ADD(k0, f->k), em_c64(e, (int64_t)i * f->apart)),
            there = f->x_rows ? f->row_exists[i] : ICMP(SLT, k, t->K);
        if (gemm_many_rows(t, f))
            from = em_at(e, f->each[i], k_tile, 1);
        copy_part(t, ADD(stage, f->to[i]), from, f->width, SEL(there, left, none));
        from = em_at(e, from, f->step, 1);
    }
    if (f->exists)
        em_if_end(e, &has, 0, NULL, NULL, NULL);
}

/* ---- evaluation ---- */

/* Address of a chunk or element in registers: (x, k) of the tile. */
typedef struct spot {
    Val x, k;
} spot;

static spot spot_of(gemm *t, Val q, unsigned per_row, unsigned each, bool x_rows)
{
    em *e = t->e;
    Val quick = MUL(AND(q, em_c64(e, per_row - 1)), em_c64(e, each)),
        slow = LLVMBuildUDiv(e->b, q, em_c64(e, per_row), "");
    return x_rows ? (spot){slow, quick} : (spot){quick, slow};
}

Val gemm_round_to_tf32(gemm *t, Val v)
{
    em *e = t->e;
    unsigned n = em_lanes(v);
    if (!gemm_rounds_to_tf32(&t->p))
        return v;
    for (unsigned i = 0; i < n; i++) {
        Val one = simt_round_tf32(t->s, BITS(n > 1 ? em_extract(e, v, i) : v, e->i32));
        one = BITS(one, e->f32);
        v = n > 1 ? LLVMBuildInsertElement(e->b, v, one, em_c32(e, i), "") : one;
    }
    return v;
}

static Val evaluate(gemm *t, kern *c, gemm_factor *f, Val x, Val k)
{
    if (gemm_many_rows(t, f))
        gemm_row_indices(t, x, c->oidx);
    else
        c->oidx[f->loop] = x;
    c->iidx[t->ki] = k;
    uint32_t kd = t->k->nouter + t->ki;
    kern_advance(c, 0, POS_TOP, POS_POINT, f->fixed | 1u << f->loop | 1u << kd);
    kern_eval(c, 0, POS_POINT, &one_vector);
    return gemm_round_to_tf32(t, kern_to_mem(t->e, t->p.d, kern_value(c, 0, f->sop, 0)));
}

static void put_element(gemm *t, gemm_factor *f, Val k0, spot at, Val stage)
{
    em *e = t->e;
    Val x = ADD(f->x0, at.x), k = ADD(k0, at.k),
        to = ADD(stage, gemm_place_element(t, f, at.x, at.k));
    Val there = AND(ICMP(SLT, x, f->X), ICMP(SLT, k, t->K));
    Val v, zero = LLVMConstNull(em_mem(e, t->p.d)), out;
    em_if in;
    em_if_begin(e, &in, there);
    v = evaluate(t, &f->one, f, x, k);
    em_if_end(e, &in, 1, &v, &zero, &out);
    em_store(e, out, em_at(e, t->s->shared, to, 1), t->p.es);
}

/* Single elements of 4 or 8 bytes that no chunk can be made of. */
static void copy_elements(gemm *t, gemm_factor *f, Val k0, Val stage)
{
    em *e = t->e;
    Val start = em_at(e, gemm_start(t, f), this_k_tile(t, f, k0), 1);
    unsigned per_row = f->by_k ? t->p.kt : f->x;
    em_loop l;
    em_loop_begin(e, &l, t->s->tid, em_c64(e, (int64_t)f->x * t->p.kt), em_c64(e, t->p.threads), 0,
                  NULL);
    spot at = spot_of(t, l.i, per_row, 1, f->by_k);
    Val there = AND(ICMP(SLT, ADD(f->x0, at.x), f->X), ICMP(SLT, ADD(k0, at.k), t->K));
    Val off = ADD(offset_in_tile(t, f, at.x), gemm_offset(t, f, t->k->nouter + t->ki, at.k));
    copy_part(t, ADD(stage, gemm_place_element(t, f, at.x, at.k)), em_at(e, start, off, 1), t->p.es,
              SEL(there, em_c64(e, t->p.es), em_c64(e, 0)));
    em_loop_end(e, &l, NULL);
}

static void put_elements(gemm *t, gemm_factor *f, Val k0, Val stage)
{
    em *e = t->e;
    em_loop l;
    em_loop_begin(e, &l, t->s->tid, em_c64(e, (int64_t)f->x * t->p.kt), em_c64(e, t->p.threads), 0,
                  NULL);
    put_element(t, f, k0, spot_of(t, l.i, f->by_k ? t->p.kt : f->x, 1, f->by_k), stage);
    em_loop_end(e, &l, NULL);
}

/* A chunk at a time: as a vector where all of it exists and is aligned. */
static void put_chunks(gemm *t, gemm_factor *f, Val k0, Val stage)
{
    em *e = t->e;
    unsigned each = chunk_elems(t);
    em_loop l, j;
    em_loop_begin(e, &l, t->s->tid, em_c64(e, (int64_t)f->x * t->p.kt / each),
                  em_c64(e, t->p.threads), 0, NULL);
    spot at = spot_of(t, l.i, row_elems(t, f) / each, each, f->rows_k);
    Val last = em_c64(e, each - 1), x = ADD(f->x0, at.x), k = ADD(k0, at.k);
    Val inside = AND(ICMP(SLT, f->rows_k ? x : ADD(x, last), f->X),
                     ICMP(SLT, f->rows_k ? ADD(k, last) : k, t->K));
    em_ifelse which;
    em_ifelse_begin(e, &which, AND(f->aligned, inside));
    Val v = evaluate(t, &f->many, f, x, k);
    Val to = ADD(stage, gemm_place_element(t, f, at.x, at.k));
    em_store(e, v, em_at(e, t->s->shared, to, 1), GEMM_CHUNK);
    em_ifelse_else(e, &which);
    em_loop_begin(e, &j, em_c64(e, 0), em_c64(e, each), em_c64(e, 1), 0, NULL);
    spot one = at;
    *(f->rows_k ? &one.k : &one.x) = ADD(f->rows_k ? at.k : at.x, j.i);
    put_element(t, f, k0, one, stage);
    em_loop_end(e, &j, NULL);
    em_ifelse_end(e, &which, 0, NULL, NULL, NULL);
    em_loop_end(e, &l, NULL);
}

void gemm_load_tile(gemm *t, gemm_factor *f, Val k0, Val stage)
{
    em *e = t->e;
    em_ifelse which;
    if (f->copied && !gemm_copies_chunks(t, f)) {
        copy_parts(t, f, k0, stage);
    } else if (f->copied) {
        em_ifelse_begin(e, &which, f->aligned);
        copy_parts(t, f, k0, stage);
        em_ifelse_else(e, &which);
        if (t->p.es < 4 && t->k_tile)
            (void)gemm_locate_k_tile(t, t->k_tile);
        if (t->p.es >= 4)
            copy_elements(t, f, k0, stage);
        else
            put_elements(t, f, k0, stage);
        em_ifelse_end(e, &which, 0, NULL, NULL, NULL);
    } else if (f->vectors) {
        put_chunks(t, f, k0, stage);
    } else {
        put_elements(t, f, k0, stage);
    }
}
