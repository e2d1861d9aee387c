/* simt_schedule.c - GPU, without LLVM: which schedule a kernel gets (schedules.def), its entries,
 * and its launches, blocks and threads. The schedule is decided by the canonical kernel and the
 * target; launches by the run-time sizes too. Threads: pure. */
#include "codegen/gpu/simt_b2b.h"
#include "lower/loops/loop_impl.h"
#include <string.h>

enum { THREADS = SIMT_THREADS };

/* ---- the schedule ---- */

/* Rows that several blocks may share, and columns. */
static bool is_shared(const lz_kernel *k, bool *columns)
{
    *columns = false;
    if (k->serial || simt_sorts(k) || lz_kernel_has_rows(k) || simt_gemm_suit(k))
        return false;
    if (simt_has_rows(k))
        return simt_split_second(k) == 0;
    *columns = simt_transpose_loop(k) < 0 && simt_has_columns(k);
    return *columns;
}

#define SCHEDULE(target, ...) SCHEDULE_##target(__VA_ARGS__)
#define SCHEDULE_cpu(...)
static const struct {
    const char *name;
    bool (*suits)(const lz_kernel *k, const lz_target *t);
    void (*dims)(const simt_sizes *z, lz_simt_dims *d);
} schedules[] = {
#define SCHEDULE_gpu(id, name, suits, dims, emit, file, doc) {name, suits, dims},
#include "codegen/schedules.def"
};

void simt_plan_of(const lz_kernel *k, const lz_target *t, simt_plan *p)
{
    *p = (simt_plan){.max_block = THREADS, .lanes = 1};
    while (!schedules[p->kind].suits(k, t)) /* the last row suits any kernel */
        p->kind++;
    if (p->kind == SIMT_SERIAL) {
        p->apart = kern_lanes_apart(k);
    } else if (p->kind == SIMT_FLASH || p->kind == SIMT_B2B) {
        p->max_block = B2B_THREADS;
    } else if (p->kind == SIMT_GEMM_MMA || p->kind == SIMT_GEMM_FMA) {
        p->max_block = simt_gemm_threads(k, t, SIMT_MAIN);
        p->min_blocks = simt_gemm_registers(k, t) ? 1 : 2;
    } else if (p->kind == SIMT_REDUCE_ROW) {
        p->max_block = SIMT_ROW_THREADS;
        simt_held held;
        simt_held_of(k, &held);
        if (held.n) /* registers for them, and no more */
            p->min_blocks = held.n > 1 ? 1 : 2;
    } else if (p->kind == SIMT_TRANSPOSE) {
        p->across = (uint32_t)simt_transpose_loop(k);
    } else if (p->kind == SIMT_REDUCE_COL) {
        p->lanes = simt_reduce_col_lanes(k);
        p->min_blocks = 2; /* or the assembler waits for one load before it starts the next */
    } else if (p->kind == SIMT_ELEMENTWISE) {
        p->lanes = simt_elementwise_lanes(k);
    }
}

const char *lz_simt_schedule_name(const lz_kernel *k, const lz_target *t)
{
    simt_plan p;
    simt_plan_of(k, t, &p);
    return schedules[p.kind].name;
}

bool lz_simt_takes_scratch(const lz_kernel *k)
{
    bool columns;
    return simt_sorts(k) || is_shared(k, &columns) || (simt_gemm_suit(k) && simt_gemm_splits_k(k));
}

const char *lz_simt_entry_name(const lz_kernel *k, const lz_target *t, lz_simt_entry entry)
{
    static const char *const names[SIMT_ENTRIES] = {
        "lz_kernel",       "lz_kernel_wgmma",       SIMT_TMA_NAME,
        "lz_kernel_small", "lz_kernel_second",      "lz_kernel_combine",
        "lz_kernel_flash", "lz_kernel_flash_wgmma", "lz_kernel_flash_wide"};
    bool has = entry == SIMT_MAIN, columns;
    if (entry >= SIMT_FLASH_NARROW)
        return simt_flash_has(k, t, entry) ? names[entry] : NULL;
    if (!has && simt_gemm_suit(k))
        has = simt_gemm_has(k, t, entry);
    else if (entry == SIMT_FINAL)
        has = is_shared(k, &columns) && simt_split_second(k) >= 0;
    else if (entry == SIMT_SECOND)
        has = is_shared(k, &columns) && simt_split_second(k) > 0;
    return has ? names[entry] : NULL;
}

void lz_simt_print(const lz_kernel *k, const lz_target *t, lz_buf *out)
{
    if (simt_flash_has(k, t, SIMT_FLASH_WGMMA))
        lz_buf_puts(out, ";wgmma");
    if (!simt_gemm_suit(k))
        return;
    const simt_mma *mma = simt_gemm_mma(k, t);
    if (simt_gemm_has(k, t, SIMT_WGMMA))
        lz_buf_puts(out, ";wgmma");
    if (simt_gemm_has(k, t, SIMT_TMA))
        lz_buf_puts(out, ";tma");
    if (mma && mma->d == LZ_F32)
        lz_buf_puts(out, ";tf32");
}

uint32_t lz_simt_entry_shared(const lz_kernel *k, const lz_target *t, lz_simt_entry entry)
{
    if (lz_kernel_keeps_sums(k) && entry == SIMT_MAIN)
        return B2B_SHARED;
    uint32_t n = simt_gemm_suit(k)         ? simt_gemm_shared(k, t, entry)
                 : lz_kernel_keeps_sums(k) ? simt_flash_shared(k, entry)
                                           : 0;
    return n > SIMT_SHARED ? n : SIMT_SHARED;
}

/* ---- blocks and threads ---- */

static int64_t points(const lz_kernel *k, const int64_t *args, uint32_t n)
{
    int64_t m = 1;
    for (uint32_t d = 0; d < n; d++) {
        int64_t x = lz_sz_value(k->outer[d], args);
        if (x <= 0)
            return 0;
        m = simt_times(m, x);
    }
    return m;
}

uint32_t lz_simt_picks(const lz_kernel *k, const int64_t *args, const lz_target *t,
                       lz_simt_pick out[SIMT_PICKS])
{
    simt_plan p;
    simt_plan_of(k, t, &p);
    bool some =
        (p.kind == SIMT_GEMM_MMA || p.kind == SIMT_GEMM_FMA) && points(k, args, k->nouter) > 0;
    return some ? simt_gemm_picks(k, args, t, out) : 0;
}

static void dims_of(const lz_kernel *k, const int64_t *args, const lz_target *t, int processors,
                    const lz_simt_pick *pick, lz_simt_dims *out)
{
    simt_plan p;
    simt_sizes z = {.k = k, .args = args, .t = t, .plan = &p, .pick = pick};
    z.processors = processors > 0 ? processors : 1;
    z.n = points(k, args, k->nouter);
    z.most = (int64_t)z.processors * SIMT_BLOCKS_EACH;
    simt_plan_of(k, t, &p);
    *out = (lz_simt_dims){0};
    if (z.n == 0)
        return;
    out->nlaunch = 1;
    schedules[p.kind].dims(&z, out);
}

void lz_simt_dims_of(const lz_kernel *k, const int64_t *args, const lz_target *t, int processors,
                     lz_simt_dims *out)
{
    dims_of(k, args, t, processors, NULL, out);
}

void lz_simt_dims_by(const lz_kernel *k, const int64_t *args, const lz_target *t, int processors,
                     lz_simt_pick pick, lz_simt_dims *out)
{
    dims_of(k, args, t, processors, &pick, out);
}
