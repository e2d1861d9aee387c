/* simt_dot_config.c - GEMM, without LLVM: which kernels it suits, and the configuration of each
 * entry: instruction, tiles, stages, threads, shared memory; whether wgmma, TMA and split-K are
 * possible. See simt_dot.h. A function of the canonical kernel and the target. Threads: pure. */
#include "codegen/gpu/simt_dot.h"
#include "lower/loops/loop_impl.h"

int32_t gemm_source(const lz_kernel *k, int32_t sop, lz_dtype d)
{
    const lz_stage *st = &k->stages[0];
    int32_t from = lz_converted_from(st, sop);
    return st->sops[from].dtype == d ? from : sop;
}

/* Both factors are values of one narrower type: their products are exact, whatever multiplies them.
 * Those of f32 are not, so the user must have allowed that. */
const simt_mma *simt_gemm_mma(const lz_kernel *k, const lz_target *t)
{
    const lz_stage *st = &k->stages[0];
    lz_dtype acc = st->reds[0].acc_dtype[0],
             a = st->sops[lz_converted_from(st, lz_kernel_dot(k)->a_sop)].dtype,
             b = st->sops[lz_converted_from(st, lz_kernel_dot(k)->b_sop)].dtype;
    bool may = a == b && (a != LZ_F32 || t->tf32);
    return may ? simt_mma_of(a, acc) : NULL;
}

/* ---- rows of several loops ---- */

enum { SOPS = 256 };

/* Whether the left factor is contiguous along k and not along m. */
static bool left_by_k(const lz_kernel *k)
{
    const lz_stage *st = &k->stages[0];
    bool need[SOPS] = {false}, skip[SOPS];
    kern_needs(st, lz_kernel_dot(k)->a_sop, need);
    for (uint32_t i = 0; i < st->nsop; i++)
        skip[i] = !need[i];
    return kern_loads_along(st, skip, k->nouter + st->ninner - 1, lz_kernel_dot(k)->m);
}

uint32_t simt_gemm_rows(const lz_kernel *k)
{
    const lz_stage *st = &k->stages[0];
    uint32_t dep[SOPS], d = lz_kernel_dot(k)->m;
    if (st->nsop > SOPS || !left_by_k(k))
        return d;
    lz_stage_deps(k, st, dep);
    while (d > 0 && !(dep[lz_kernel_dot(k)->b_sop] >> (d - 1) & 1))
        d--;
    return d;
}

/* ---- shapes ---- */

/* Half a tile is enough for an extent that is known to be so small. */
static unsigned side(lz_sz extent, unsigned whole)
{
    return extent.slot < 0 && extent.v <= (int64_t)whole / 2 ? whole / 2 : whole;
}

/* Whether TMA loads factor i in rows along k. */
static bool along_k(const lz_kernel *k, const lz_target *t, int i)
{
    uint32_t loop, loops[SIMT_MAP_RANK];
    int32_t source = gemm_source_of(k, t, i, &loop);
    return gemm_tensor_map_loops(k, source, loop, loops) && loops[1] == loop;
}

/* Two warpgroups, one below the other, each 64 rows. Their instructions multiply twice as much
 * as those of warps. */
static void with_wgmma(gemm_shape *p)
{
    p->wgmma = true;
    p->tm = 128;
    p->tn = p->wn = 256;
    p->wm = 64;
    p->kt = GEMM_ROW / p->es;
    p->stages = 4;
    p->sn = p->tn;
    p->threads = p->block = GEMM_DOWN * GEMM_WARPGROUP;
    p->rate *= 2;
}

/* A third warpgroup copies. The sums have memory of their own, for half of the columns at a time:
 * the next tile is copied meanwhile. */
static void with_tma(gemm_shape *p, const lz_kernel *k, const lz_target *t)
{
    p->tma = true;
    p->block = p->threads + GEMM_WARPGROUP;
    p->sn = p->tn / 2;
    if (!p->mma || p->d != LZ_F32)
        return;
    p->swap_ab = !along_k(k, t, 1);
    p->rs = p->swap_ab || !along_k(k, t, 0);
    if (!p->swap_ab)
        return;
    p->tm = 256;
    p->tn = p->sn = 128;
}

void gemm_shape_of(const lz_kernel *k, const lz_target *t, lz_simt_entry entry, gemm_shape *p)
{
    lz_dtype acc = k->stages[0].reds[0].acc_dtype[0];
    const simt_mma *mma = simt_gemm_mma(k, t);
    bool wide = lz_dtype_size(acc) == 8, small = entry == SIMT_SMALL;
    unsigned whole = (wide ? 64 : 128) >> small;
    *p = (gemm_shape){.mma = mma, .d = mma ? mma->d : acc};
    p->es = (unsigned)lz_dtype_size(p->d);
    /* halves of the smallest ones are too small for the division into warps */
    bool rows = simt_gemm_rows(k) < lz_kernel_dot(k)->m;
    p->tm = wide || small || rows ? whole : side(k->outer[lz_kernel_dot(k)->m], whole);
    p->tn = wide || small ? whole : side(k->outer[lz_kernel_dot(k)->n], whole);
    p->threads = mma || small ? 128 : 256;
    p->stages = mma || p->es == 4 ? 3 : 4;
    p->kt = p->es == 8 ? (mma ? 16 : 8) : 64 / p->es;
    p->rate = mma ? mma->rate : p->es == 4 ? 128 : 16;
    p->wm = p->tm / GEMM_DOWN;
    p->wn = p->tn / (p->threads / SIMT_WARP / GEMM_DOWN);
    p->block = p->threads;
    p->sn = p->tn;
    if (entry == SIMT_WGMMA || entry == SIMT_TMA)
        with_wgmma(p);
    if (entry == SIMT_TMA)
        with_tma(p, k, t);
}

uint32_t gemm_factor_bytes(const gemm_shape *p, unsigned x)
{
    unsigned skew = p->mma ? 0 : p->kt * p->es / GEMM_CHUNK * GEMM_SKEW;
    return x * p->kt * p->es + skew;
}

uint32_t gemm_stage_bytes(const gemm_shape *p)
{
    return gemm_factor_bytes(p, p->tm) + gemm_factor_bytes(p, p->tn);
}

unsigned gemm_acc_pitch(const gemm_shape *p, unsigned esize)
{
    enum { PAD = 32, PAD_SWAP_AB = 16 }; /* rows that are stored together: in different banks */
    return p->sn * esize + (p->swap_ab ? PAD_SWAP_AB : PAD);
}

/* ---- the schedule's part of the plan ---- */

bool simt_gemm_suit(const lz_kernel *k)
{
    if (!kern_dot_form(k) || lz_simt_args_in_memory(k))
        return false;
    lz_sz m = k->outer[lz_kernel_dot(k)->m],
          n = k->outer[lz_kernel_dot(k)->n]; /* thin ones have no use for tiles */
    return (m.slot >= 0 || m.v > 8 || simt_gemm_rows(k) < lz_kernel_dot(k)->m) &&
           (n.slot >= 0 || n.v > 8);
}

bool simt_gemm_mma_suits(const lz_kernel *k, const lz_target *t)
{
    return simt_gemm_suit(k) && simt_gemm_mma(k, t);
}

bool simt_gemm_fma_suits(const lz_kernel *k, const lz_target *t)
{
    (void)t;
    return simt_gemm_suit(k);
}

bool simt_gemm_registers(const lz_kernel *k, const lz_target *t)
{
    const lz_sop *s = k->stages[0].sops;
    return simt_gemm_mma(k, t) || s[lz_kernel_dot(k)->a_sop].kind != LZ_S_LOAD ||
           s[lz_kernel_dot(k)->b_sop].kind != LZ_S_LOAD;
}

unsigned simt_gemm_threads(const lz_kernel *k, const lz_target *t, lz_simt_entry entry)
{
    gemm_shape p;
    gemm_shape_of(k, t, entry, &p);
    return p.block;
}

bool simt_gemm_splits_k(const lz_kernel *k)
{
    const lz_stage *st = &k->stages[0];
    for (uint32_t d = 0; d < st->ninner; d++)
        if (st->extent[d].slot >= 0)
            return true;
    return false;
}

/* Whether smaller tiles are not just the usual ones. */
static bool has_small(const lz_kernel *k, const lz_target *t)
{
    gemm_shape p, small;
    gemm_shape_of(k, t, SIMT_MAIN, &p);
    gemm_shape_of(k, t, SIMT_SMALL, &small);
    return p.tm != small.tm || p.tn != small.tn;
}

bool gemm_rounds_to_tf32(const gemm_shape *p)
{
    return p->wgmma && p->d == LZ_F32;
}

/* Of 16-bit floats and tf32, unless the result is known to be narrow. */
static bool has_wgmma(const lz_kernel *k, const lz_target *t)
{
    const simt_mma *mma = simt_gemm_mma(k, t);
    bool many = k->outer[lz_kernel_dot(k)->m].slot >= 0 || simt_gemm_rows(k) < lz_kernel_dot(k)->m;
    return t->wgmma && mma && (lz_dtype_size(mma->d) == 2 || mma->d == LZ_F32) && many &&
           k->outer[lz_kernel_dot(k)->n].slot >= 0;
}

bool simt_gemm_has(const lz_kernel *k, const lz_target *t, lz_simt_entry entry)
{
    return (entry == SIMT_WGMMA && has_wgmma(k, t)) ||
           (entry == SIMT_TMA && has_wgmma(k, t) && gemm_tma_suits(k, t)) || entry == SIMT_MAIN ||
           (entry == SIMT_SMALL && has_small(k, t)) ||
           (entry == SIMT_FINAL && simt_gemm_splits_k(k));
}

uint32_t gemm_acc_at(const gemm_shape *p)
{
    return p->tma ? p->stages * gemm_stage_bytes(p) : 0;
}

uint32_t gemm_barriers_at(const gemm_shape *p, unsigned esize)
{
    return gemm_acc_at(p) + p->wm * gemm_acc_pitch(p, esize);
}

uint32_t gemm_shared_bytes(const gemm_shape *p, unsigned esize)
{
    uint32_t buffer = p->stages * gemm_stage_bytes(p), sums = p->wm * gemm_acc_pitch(p, esize);
    if (p->tma)
        return gemm_barriers_at(p, esize) + 2 * p->stages * GEMM_BARRIER;
    return buffer > sums ? buffer : sums;
}

uint32_t simt_gemm_shared(const lz_kernel *k, const lz_target *t, lz_simt_entry entry)
{
    gemm_shape p;
    gemm_shape_of(k, t, entry, &p);
    return gemm_shared_bytes(&p, (unsigned)lz_dtype_size(k->stages[0].reds[0].acc_dtype[0]));
}

/* Twice as many as a vector has: what they load besides the sums, of their row, is waited for half
 * as often. */
unsigned gemm_epilogue_lanes(const lz_kernel *k)
{
    enum { MOST = 8 };
    unsigned n = 2 * simt_vector_lanes(k, 1);
    return n < MOST ? n : MOST;
}

/* ---- TMA ---- */

uint32_t gemm_tensor_map_loops(const lz_kernel *k, int32_t source, uint32_t loop, uint32_t *out)
{
    const lz_access *a = kern_plain_access(k, source);
    uint32_t last = k->nouter + k->stages[0].ninner - 1, n = 2;
    if (!a)
        return 0;
    bool by_k = lz_sz_is(a->stride[last], 1) && !lz_sz_is(a->stride[loop], 1);
    if (!by_k && !lz_sz_is(a->stride[loop], 1))
        return 0;
    out[0] = by_k ? last : loop;
    out[1] = by_k ? loop : last;
    for (uint32_t d = 0; d < last; d++) {
        if (d == lz_kernel_dot(k)->m || d == lz_kernel_dot(k)->n || lz_sz_is(a->stride[d], 0))
            continue;
        if (n == SIMT_MAP_RANK)
            return 0;
        out[n++] = d;
    }
    return n;
}

/* Where rows run along the result: all k of a k-tile. */
void gemm_tma_box(const gemm_shape *p, bool rows_k, uint32_t box[2])
{
    box[0] = GEMM_ROW / p->es;
    box[1] = rows_k ? GEMM_TMA_ROWS : p->kt;
}

/* Factor i: its source, and the loop of the result that it has. */
int32_t gemm_source_of(const lz_kernel *k, const lz_target *t, int i, uint32_t *loop)
{
    const simt_mma *mma = simt_gemm_mma(k, t);
    *loop = i ? lz_kernel_dot(k)->n : lz_kernel_dot(k)->m;
    return gemm_source(k, i ? lz_kernel_dot(k)->b_sop : lz_kernel_dot(k)->a_sop, mma->d);
}

/* One of two tf32 factors has rows along k: the registers of a left operand are loaded from any. */
bool gemm_tma_suits(const lz_kernel *k, const lz_target *t)
{
    uint32_t loop, loops[SIMT_MAP_RANK];
    lz_dtype d = simt_gemm_mma(k, t)->d;
    for (int i = 0; i < 2; i++) {
        int32_t source = gemm_source_of(k, t, i, &loop);
        if (!gemm_tensor_map_loops(k, source, loop, loops) ||
            k->buf[kern_plain_access(k, source)->buf].dtype != d)
            return false;
    }
    return t->tma && (d != LZ_F32 || along_k(k, t, 0) || along_k(k, t, 1));
}
