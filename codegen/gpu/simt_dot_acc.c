/* simt_dot_acc.c - GEMM: accumulator fragments in registers. Adds the products of a k-tile
 * (mma.sync, or FMAs of single threads), and stores fragments to shared memory for the epilogue.
 * See simt_dot.h. Sums run over k in order. Threads: belongs to one thread. */
#include "codegen/gpu/simt_dot.h"

/* ---- form: by single threads ---- */

/* A warp is 8 x 4 threads; a thread has chunks of rows and columns, 8 and 4 chunks apart. Which
 * thread has which follows from how a warp's vectors of 16 bytes are read: half a warp at once
 * where the lanes of every pair (l, l xor 1), or of every pair (l, l xor 2), read the same;
 * otherwise a quarter. */
enum { LANES_DOWN = 8, LANES_ACROSS = 4 };

static unsigned chunk(const gemm *t)
{
    return GEMM_CHUNK / t->p.es;
}

static unsigned chunks_down(const gemm *t)
{
    return t->p.wm / (LANES_DOWN * chunk(t));
}

static unsigned chunks_across(const gemm *t)
{
    return t->p.wn / (LANES_ACROSS * chunk(t));
}

static Val lane_row(gemm *t)
{
    em *e = t->e;
    return LSHR(t->lane, em_c64(e, 2));
}

static Val lane_column(gemm *t)
{
    em *e = t->e;
    return AND(t->lane, em_c64(e, 3));
}

static Val first_row(gemm *t)
{
    em *e = t->e;
    return MUL(t->down, em_c64(e, t->p.wm));
}

static Val first_column(gemm *t)
{
    em *e = t->e;
    return MUL(t->across, em_c64(e, t->p.wn));
}

static Val single_row(gemm *t)
{
    em *e = t->e;
    return AND(LSHR(t->lane, em_c64(e, 1)), em_c64(e, LANES_DOWN - 1));
}

static Val single_column(gemm *t)
{
    em *e = t->e;
    return OR(AND(t->lane, em_c64(e, 1)), SHL(LSHR(t->lane, em_c64(e, 4)), em_c64(e, 1)));
}

/* ---- what lanes read ---- */

/* Of a factor whose rows run along k, by ldmatrix: 16 rows and two chunks of k. The halves of the
 * lanes go through the rows of the left factor first, through the chunks of the right one. */
static void frags_along_k(gemm *t, gemm_factor *f, Val x0)
{
    em *e = t->e;
    bool left = f == &t->a;
    Val low = AND(t->lane, em_c64(e, 7)), mid = AND(LSHR(t->lane, em_c64(e, 3)), em_c64(e, 1)),
        high = LSHR(t->lane, em_c64(e, 4));
    Val row = ADD(ADD(x0, low), SHL(left ? mid : high, em_c64(e, 3))), c = left ? high : mid;
    unsigned n = (left ? t->p.wm : t->p.wn) / 16, steps = t->p.kt / t->p.mma->k;
    for (unsigned s = 0; s < steps; s++)
        for (unsigned i = 0; i < n; i++)
            f->frag[s][i] = i ? ADD(f->frag[s][0], em_c64(e, (int64_t)i * 16 * t->p.kt * t->p.es))
                              : gemm_place(t, f, row, ADD(c, em_c64(e, 2 * s)));
}

/* Of one whose rows run along the result: 16 rows of k and two chunks. */
static void frags_along_x(gemm *t, gemm_factor *f, Val x0)
{
    em *e = t->e;
    bool left = f == &t->a;
    Val low = AND(t->lane, em_c64(e, 7)), mid = AND(LSHR(t->lane, em_c64(e, 3)), em_c64(e, 1)),
        high = LSHR(t->lane, em_c64(e, 4));
    Val row = ADD(low, SHL(left ? high : mid, em_c64(e, 3))),
        c = ADD(LSHR(x0, em_c64(e, 3)), left ? mid : high);
    unsigned n = (left ? t->p.wm : t->p.wn) / 16, steps = t->p.kt / t->p.mma->k;
    for (unsigned s = 0; s < steps; s++)
        for (unsigned i = 0; i < n; i++)
            f->frag[s][i] = s ? ADD(f->frag[0][i], em_c64(e, (int64_t)s * 16 * f->x * t->p.es))
                              : gemm_place(t, f, row, ADD(c, em_c64(e, 2 * i)));
}

/* Of 64-bit elements: 8 rows and 4 of k, each lane its own. */
static void frags_single(gemm *t, gemm_factor *f, Val x0)
{
    em *e = t->e;
    Val row = ADD(x0, lane_row(t)), k = lane_column(t),
        in = SHL(AND(k, em_c64(e, 1)), em_c64(e, 3));
    unsigned n = (f == &t->a ? t->p.wm : t->p.wn) / 8, steps = t->p.kt / t->p.mma->k;
    for (unsigned s = 0; s < steps; s++)
        for (unsigned i = 0; i < n; i++)
            f->frag[s][i] =
                i ? ADD(f->frag[s][0], em_c64(e, (int64_t)i * 8 * t->p.kt * t->p.es))
                  : ADD(in, gemm_place(t, f, row, ADD(LSHR(k, em_c64(e, 1)), em_c64(e, 2 * s))));
}

void gemm_acc_top(gemm *t)
{
    if (!t->p.mma || t->p.wgmma)
        return;
    gemm_factor *both[2] = {&t->a, &t->b};
    for (int i = 0; i < 2; i++) {
        gemm_factor *f = both[i];
        Val x0 = i ? first_column(t) : first_row(t);
        if (t->p.es == 8)
            frags_single(t, f, x0);
        else if (f->rows_k)
            frags_along_k(t, f, x0);
        else
            frags_along_x(t, f, x0);
    }
}

/* ---- multiplying ---- */

static Val shared_at(gemm *t, Val stage, Val at)
{
    em *e = t->e;
    return em_at(e, t->s->shared, ADD(stage, at), 1);
}

/* Step s of a k-tile: words of the factor for this lane, per matrix of 16 (of 8, where elements are
 * 64 bits) rows. */
static void load_frags(gemm *t, const gemm_factor *f, Val stage, unsigned s, unsigned n,
                       Val out[][4])
{
    em *e = t->e;
    for (unsigned i = 0; i < n; i++) {
        Val at = shared_at(t, stage, f->frag[s][i]);
        if (t->p.es == 8)
            out[i][0] = em_load(e, e->f64, at, 8);
        else
            simt_ldmatrix(t->s, at, !f->rows_k, out[i]);
        for (unsigned j = 0; j < 4 && t->p.d == LZ_F32; j++)
            out[i][j] = simt_round_tf32(t->s, out[i][j]);
    }
}

static void add_matrices(gemm *t, Val stage, Val *sum)
{
    const simt_mma *op = t->p.mma;
    unsigned na = t->p.wm / op->m, nb = t->p.wn / op->n, pair = t->p.es == 8 ? 1 : 2;
    for (unsigned s = 0; s < t->p.kt / op->k; s++) {
        Val a[GEMM_FRAGS][4], b[GEMM_FRAGS][4];
        load_frags(t, &t->a, stage, s, na, a);
        load_frags(t, &t->b, stage, s, nb / pair, b);
        for (unsigned i = 0; i < na; i++)
            for (unsigned j = 0; j < nb; j++)
                simt_mma_sync(t->s, op, a[i], &b[j / pair][j % pair * op->nb],
                              &sum[(i * nb + j) * op->nc]);
    }
}

static Val multiply_add(gemm *t, Val a, Val b, Val sum)
{
    em *e = t->e;
    return lz_dtype_is_float(t->acc) ? em_fma(e, a, b, sum) : ADD(MUL(a, b), sum);
}

/* Elements of this thread in row k: its chunks, one after the other. */
static void load_chunks(gemm *t, const gemm_factor *f, Val stage, unsigned k, Val x0, unsigned n,
                        unsigned apart, Val *out)
{
    em *e = t->e;
    unsigned w = chunk(t);
    for (unsigned i = 0; i < n; i++) {
        Val c = ADD(x0, em_c64(e, (int64_t)i * apart));
        Val v = em_load(e, em_vec(t->elem, w),
                        shared_at(t, stage, gemm_place(t, f, em_c64(e, k), c)), GEMM_CHUNK);
        for (unsigned j = 0; j < w; j++)
            out[i * w + j] = em_extract(e, v, j);
    }
}

void gemm_fma_load(gemm *t, Val stage, unsigned k, Val *a, Val *b)
{
    em *e = t->e;
    unsigned w = chunk(t);
    Val m0 = ADD(LLVMBuildUDiv(e->b, first_row(t), em_c64(e, w), ""), single_row(t)),
        n0 = ADD(LLVMBuildUDiv(e->b, first_column(t), em_c64(e, w), ""), single_column(t));
    load_chunks(t, &t->a, stage, k, m0, chunks_down(t), LANES_DOWN, a);
    load_chunks(t, &t->b, stage, k, n0, chunks_across(t), LANES_ACROSS, b);
}

void gemm_fma_add(gemm *t, const Val *a, const Val *b, Val *sum)
{
    unsigned na = chunks_down(t) * chunk(t), nb = chunks_across(t) * chunk(t);
    for (unsigned i = 0; i < na; i++)
        for (unsigned j = 0; j < nb; j++)
            sum[i * nb + j] = multiply_add(t, a[i], b[j], sum[i * nb + j]);
}

static void add_singly(gemm *t, Val stage, Val *sum)
{
    for (unsigned k = 0; k < t->p.kt; k++) {
        Val a[GEMM_FRAGS], b[GEMM_FRAGS];
        gemm_fma_load(t, stage, k, a, b);
        gemm_fma_add(t, a, b, sum);
    }
}

void gemm_acc_add(gemm *t, Val stage, Val *sum)
{
    if (t->p.mma)
        add_matrices(t, stage, sum);
    else
        add_singly(t, stage, sum);
}

/* ---- to shared memory ---- */

/* n sums side by side, at row (within the warps' rows) and column of the tile. */
static void put(gemm *t, Val row, Val column, const Val *sum, unsigned n)
{
    em *e = t->e;
    Val at =
        ADD(MUL(row, em_c64(e, gemm_acc_pitch(&t->p, t->esize))), MUL(column, em_c64(e, t->esize)));
    at = ADD(at, em_c64(e, gemm_acc_at(&t->p)));
    Val v = LLVMGetPoison(em_vec(t->elem, n));
    for (unsigned i = 0; i < n; i++)
        v = LLVMBuildInsertElement(e->b, v, sum[i], em_c32(e, i), "");
    em_store(e, v, em_at(e, t->s->shared, at, 1), n * t->esize);
}

static void put_matrices(gemm *t, const Val *sum)
{
    em *e = t->e;
    const simt_mma *op = t->p.mma;
    unsigned na = t->p.wm / op->m, nb = t->p.wn / op->n;
    Val column = ADD(first_column(t), SHL(lane_column(t), em_c64(e, 1))), row = lane_row(t);
    for (unsigned i = 0; i < na; i++)
        for (unsigned j = 0; j < nb; j++)
            for (unsigned r = 0; r < op->nc; r += 2)
                put(t, ADD(row, em_c64(e, i * op->m + r * 4)), ADD(column, em_c64(e, j * op->n)),
                    &sum[(i * nb + j) * op->nc + r], 2);
}

static void put_singly(gemm *t, const Val *sum)
{
    em *e = t->e;
    unsigned w = chunk(t), na = chunks_down(t), nb = chunks_across(t);
    Val row = MUL(single_row(t), em_c64(e, w)),
        column = ADD(first_column(t), MUL(single_column(t), em_c64(e, w)));
    for (unsigned i = 0; i < na * w; i++)
        for (unsigned j = 0; j < nb; j++)
            put(t, ADD(row, em_c64(e, i / w * LANES_DOWN * w + i % w)),
                ADD(column, em_c64(e, (int64_t)j * LANES_ACROSS * w)), &sum[(i * nb + j) * w], w);
}

/* Each warp of a warpgroup has 16 rows, divided as by the instructions of warps. */
static void put_warpgroups(gemm *t, const Val *sum, unsigned part)
{
    em *e = t->e;
    Val row[2] = {gemm_wgmma_row(t, 0), gemm_wgmma_row(t, 1)},
        column = SHL(lane_column(t), em_c64(e, 1));
    unsigned n = t->p.sn / 2;
    for (unsigned i = 0; i < n; i += 2)
        put(t, row[i / 2 % 2], ADD(column, em_c64(e, i / 4 * 8)), &sum[part * n + i], 2);
}

/* Of the transposed tile, whose neighbours along a row are in both halves of the lane's rows. */
static void put_transposed(gemm *t, const Val *sum, unsigned part)
{
    em *e = t->e;
    Val row = SHL(lane_column(t), em_c64(e, 1)),
        column = ADD(MUL(t->down, em_c64(e, t->p.tn / GEMM_DOWN)), gemm_wgmma_row(t, 0));
    unsigned n = t->p.wm / 2;
    for (unsigned i = 0; i < n; i += 4)
        for (unsigned j = 0; j < 2; j++) {
            const Val *from = &sum[part * n + i + j];
            put(t, ADD(row, em_c64(e, i / 4 * 8 + j)), column, (Val[]){from[0], from[2]}, 2);
        }
}

void gemm_acc_to_shared(gemm *t, const Val *sum, unsigned part)
{
    if (t->p.swap_ab)
        put_transposed(t, sum, part);
    else if (t->p.wgmma)
        put_warpgroups(t, sum, part);
    else if (t->p.mma)
        put_matrices(t, sum);
    else
        put_singly(t, sum);
}
