/* simt_flash_mma.c - flash attention: the GEMMs of a warp by mma.sync, or of four warps by wgmma,
 * scores = Q K and sums += P V, P in registers. See simt_flash.h. Threads: belongs to one thread.
 */
#include "codegen/gpu/simt_flash.h"
#include <string.h>

static const kctx one_vector = {.u = 1};
enum { CHUNK = 16 };

/* ---- words ---- */

/* Two numbers as a word of 16-bit floats, each to the nearest. */
static Val word_of(flash *p, lz_dtype d, Val lo, Val hi)
{
    em *e = p->e;
    if (e->nvptx)
        return em_asm(
            e, d == LZ_BF16 ? "cvt.rn.bf16x2.f32 $0, $1, $2;" : "cvt.rn.f16x2.f32 $0, $1, $2;",
            "=r,f,f", e->i32, (Val[]){hi, lo}, 2, false);
    lo = em_to_mem(e, d, em_round_to(e, d, lo));
    hi = em_to_mem(e, d, em_round_to(e, d, hi));
    return OR(LLVMBuildZExt(e->b, lo, e->i32, ""),
              SHL(LLVMBuildZExt(e->b, hi, e->i32, ""), em_c32(e, 16)));
}

static Val left_element(flash *p, Val row, Val k)
{
    em *e = p->e;
    flash_product *d = &p->first;
    Val last = SUB(d->K, em_c64(e, 1));
    flash_stand_at(p, d, &d->a, lz_kernel_dot(&d->view)->m, row, em_smin(e, k, last));
    kern_eval(&d->a, 0, POS_POINT, &one_vector);
    Val v = kern_value(&d->a, 0, d->a_sop, 0).v;
    return SEL(ICMP(SLE, k, last), v, em_cf(e->f32, 0));
}

void flash_take_left(flash *p, Val r0)
{
    em *e = p->e;
    if (p->f.fma) {
        flash_fma_take_left(p, r0);
        return;
    }
    for (unsigned t = 0; t < p->head / 16; t++) {
        for (unsigned i = 0; i < 4 * p->tiles; i++) {
            Val k = ADD(p->column, em_c64(e, 16 * t + i / 2 % 2 * 8)), v[2];
            for (unsigned j = 0; j < 2; j++)
                v[j] = left_element(p, p->at_row[i / 4 * 2 + i % 2], ADD(k, em_c64(e, j)));
            p->left[t][i] = word_of(p, p->first.mma->d, v[0], v[1]);
        }
        em_cut(e);
    }
}

/* ---- products ---- */

/* Where the lane's row of the matrices is that are the first 16 of k and columns: 8 of k, the next,
 * both of the next 8 columns. */
static Val matrices(flash *p, const flash_product *d, Val index)
{
    em *e = p->e;
    Val low = AND(p->lane, em_c64(e, 7)), odd = AND(p->lane, em_c64(e, 8)),
        high = LSHR(AND(p->lane, em_c64(e, 16)), em_c64(e, 1));
    Val r = ADD(low, d->by_k ? high : odd), x = d->by_k ? odd : high;
    return flash_tile_at(p, d, flash_stage_at(p, index), r, x);
}

/* sum[tile of 16 points][tile of 8 columns][4] += left by columns of the KV tile, 16 of k. */
static void multiply(flash *p, const flash_product *d, Val at, unsigned k, const Val *left,
                     Val *sum)
{
    em *e = p->e;
    for (unsigned n = 0; n < d->nn; n += 16) {
        Val right[4];
        unsigned byte = d->by_k ? n * d->pitch + k * d->es : k * d->pitch + n * d->es;
        simt_ldmatrix(p->s, em_at(e, at, em_c64(e, byte), 1), !d->by_k, right);
        for (unsigned t = 0; t < p->tiles; t++) {
            Val *to = sum + (t * d->nn + n) / 8 * 4;
            simt_mma_sync(p->s, d->mma, left + 4 * t, right, to);
            simt_mma_sync(p->s, d->mma, left + 4 * t, right + 2, to + 4);
        }
    }
}

/* The same of all 64 of k, by four warps together. */
static void multiply_by_group(flash *p, const flash_product *d, Val index, simt_wgmma *w, Val *sum)
{
    em *e = p->e;
    w->d = d->mma->d;
    w->n = d->nn;
    w->steps = d->nk / 16;
    w->rs = true;
    w->b_rows_k = d->by_k;
    w->b = simt_wgmma_describe(p->s, ADD(flash_stage_at(p, index), em_c64(e, d->at)), 0);
    simt_wgmma_multiply(p->s, w, sum);
}

/* One of both factors' KV tiles is there, in memory of its own; the next of the first one comes
 * while the second product is made, and the other way round. */
static void scores_by_threads(flash *p, Val index, bool both)
{
    em *e = p->e;
    simt_cp_async_wait(p->s, 1);
    simt_barrier(p->s);
    flash_fma_scores(p);
    simt_barrier(p->s);
    flash_load(p, ADD(index, em_c64(e, 1)), true, false);
    if (!both) /* a group for the second factor all the same */
        simt_cp_async_commit(p->s);
    em_cut(e);
}

static void multiply_by_threads(flash *p, Val index, Val *sum)
{
    em *e = p->e;
    simt_cp_async_wait(p->s, 1);
    simt_barrier(p->s);
    flash_fma_multiply(p, sum);
    simt_barrier(p->s);
    flash_load(p, ADD(index, em_c64(e, 1)), false, true);
}

void flash_scores(flash *p, Val index, bool both)
{
    em *e = p->e;
    if (p->f.fma) {
        scores_by_threads(p, index, both);
        return;
    }
    simt_cp_async_wait(p->s, FLASH_STAGES - 2);
    if (p->wgmma)
        simt_wgmma_fence(p->s);
    simt_barrier(p->s); /* this one is there, and the one before has been used */
    enum { EACH = FLASH_ROW / 8 * 4 };
    Val next = ADD(index, em_c64(e, FLASH_STAGES - 1));
    Val sum[FLASH_TILES * EACH];
    if (p->wgmma) {
        simt_wgmma w = {.fresh = true};
        for (unsigned t = 0; t < p->head / 16; t++)
            memcpy(w.a + 4 * t, p->left[t], 4 * sizeof *w.a);
        multiply_by_group(p, &p->first, index, &w, sum);
        flash_load(p, next, true, both); /* while it multiplies */
        simt_wgmma_wait(p->s, sum, w.n / 2, 0);
    } else {
        flash_load(p, next, true, both);
        Val at = matrices(p, &p->first, index);
        for (unsigned i = 0; i < p->tiles * EACH; i++)
            sum[i] = em_cf(e->f32, 0);
        for (unsigned t = 0; t < p->head / 16; t++)
            multiply(p, &p->first, at, 16 * t, p->left[t], sum);
    }
    for (unsigned i = 0; i < p->tiles * EACH; i++)
        p->score[i / EACH * 2 + i / 2 % 2][i % EACH / 4 * 2 + i % 2] = sum[i];
    em_cut(e);
}

void flash_multiply(flash *p, Val index, Val *sum)
{
    em *e = p->e;
    if (p->f.fma) {
        multiply_by_threads(p, index, sum);
        return;
    }
    Val at = p->wgmma ? NULL : matrices(p, &p->second, index);
    simt_wgmma w = {0};
    for (unsigned t = 0; t < FLASH_ROW / 16; t++) {
        Val left[FLASH_TILES * 4];
        for (unsigned i = 0; i < 4 * p->tiles; i++) {
            const Val *v = &p->factor[i / 4 * 2 + i % 2][4 * t + i / 2 % 2 * 2];
            left[i] = word_of(p, p->second.mma->d, v[0], v[1]);
        }
        if (p->wgmma)
            memcpy(w.a + 4 * t, left, 4 * sizeof *left);
        else
            multiply(p, &p->second, at, 16 * t, left, sum);
    }
    if (p->wgmma) {
        multiply_by_group(p, &p->second, index, &w, sum);
        simt_wgmma_wait(p->s, sum, w.n / 2, 0);
    }
    em_cut(e);
}
