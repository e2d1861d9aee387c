/* simt_schedule.c - which schedule a kernel gets, and how many blocks and threads run it. The
 * schedule is decided by the canonical form alone; blocks and threads by the run-time sizes,
 * without LLVM.
 * Threads: pure. */
#include "codegen/gpu/simt_b2b.h"
#include "lower/loops/loop_impl.h"
#include <string.h>

enum { THREADS = SIMT_POINTS_THREADS };

/* ---- the schedule ---- */

/* Rows that several blocks may share, and columns. */
static bool is_shared(const lz_kernel *k, bool *columns)
{
    *columns = false;
    if (k->serial || simt_sorts(k) || lz_kernel_has_rows(k) || simt_gemm_suit(k))
        return false;
    if (simt_reduce_row_suit(k))
        return simt_divided_second(k) == 0;
    *columns = simt_transpose_loop(k) < 0 && simt_reduce_col_suit(k);
    return *columns;
}

void simt_plan_of(const lz_kernel *k, const lz_target *t, simt_plan *p)
{
    *p = (simt_plan){.kind = SIMT_ELEMENTWISE, .max_block = THREADS, .lanes = 1};
    if (k->serial) {
        p->kind = SIMT_SERIAL;
        p->apart = kern_lanes_apart(k);
    } else if (simt_sorts_together(k)) {
        p->kind = SIMT_SORT;
    } else if (lz_kernel_keeps_sums(k)) {
        p->kind = SIMT_B2B;
        p->max_block = B2B_THREADS;
    } else if (simt_gemm_suit(k)) {
        p->kind = SIMT_GEMM;
        p->max_block = simt_gemm_threads(k, t, SIMT_MAIN);
        p->min_blocks = simt_gemm_registers(k, t) ? 1 : 2;
    } else if (simt_reduce_row_suit(k)) {
        p->kind = SIMT_REDUCE_ROW;
        p->max_block = SIMT_ROW_THREADS;
    } else if (simt_transpose_loop(k) >= 0) {
        p->kind = SIMT_TRANSPOSE;
        p->across = (uint32_t)simt_transpose_loop(k);
    } else if (simt_scatter_by(k) >= 0) {
        p->kind = SIMT_SCATTER;
    } else if (simt_reduce_col_suit(k)) {
        p->kind = SIMT_REDUCE_COL;
        p->lanes = simt_reduce_col_lanes(k);
        p->min_blocks = 2; /* or the assembler waits for one load before it starts the next */
    } else {
        p->lanes = simt_points_lanes(k);
    }
}

const char *lz_simt_schedule_name(const lz_kernel *k, const lz_target *t)
{
    static const char *const names[] = {"points",     "serial", "rows",    "tiles", "squares",
                                        "row blocks", "owners", "columns", "sort"};
    simt_plan p;
    simt_plan_of(k, t, &p);
    if (p.kind == SIMT_GEMM && simt_gemm_mma(k, t))
        return "tensor tiles";
    return names[p.kind];
}

bool lz_simt_takes_scratch(const lz_kernel *k)
{
    bool columns;
    return simt_sorts(k) || is_shared(k, &columns) || (simt_gemm_suit(k) && simt_gemm_divide(k));
}

const char *lz_simt_entry_name(const lz_kernel *k, const lz_target *t, lz_simt_entry entry)
{
    static const char *const names[SIMT_ENTRIES] = {
        "lz_kernel",        "lz_kernel_groups", SIMT_BULK_NAME,     "lz_kernel_small",
        "lz_kernel_second", "lz_kernel_finish", "lz_kernel_pieces", "lz_kernel_pieces_wide"};
    bool has = entry == SIMT_MAIN, columns;
    if (entry == SIMT_PIECES || entry == SIMT_PIECES_WIDE)
        return simt_flash_has(k, entry) ? names[entry] : NULL;
    if (!has && simt_gemm_suit(k))
        has = simt_gemm_has(k, t, entry);
    else if (entry == SIMT_FINISH)
        has = is_shared(k, &columns) && simt_divided_second(k) >= 0;
    else if (entry == SIMT_SECOND)
        has = is_shared(k, &columns) && simt_divided_second(k) > 0;
    return has ? names[entry] : NULL;
}

void lz_simt_print(const lz_kernel *k, const lz_target *t, lz_buf *out)
{
    if (!simt_gemm_suit(k))
        return;
    const simt_mma *mma = simt_gemm_mma(k, t);
    if (simt_gemm_has(k, t, SIMT_GROUPS))
        lz_buf_puts(out, ";groups");
    if (simt_gemm_has(k, t, SIMT_BULK))
        lz_buf_puts(out, ";bulk");
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

/* Of kernels that are one launch: n points, `most` blocks. */
static void single(const lz_kernel *k, const simt_plan *p, const int64_t *args, int64_t n,
                   int64_t most, lz_simt_launch *out)
{
    if (p->kind == SIMT_SERIAL) {
        bool apart = p->apart && simt_serial_apart(k, args);
        int64_t columns = apart ? lz_sz_value(k->outer[k->nouter - 1], args) : 1;
        out->block = simt_at_most(columns, SIMT_WARP);
        out->grid = simt_at_most(simt_ceil_div(columns, out->block), most * 8);
    } else if (p->kind == SIMT_SCATTER) {
        simt_scatter_dims(n, most, out);
    } else if (p->kind == SIMT_TRANSPOSE) {
        simt_transpose_dims(k, p->across, args, most, out);
    } else if (p->kind == SIMT_B2B) {
        simt_b2b_dims(k, args, most, out);
    } else {
        simt_points_dims(simt_ceil_div(n, p->lanes), most, out);
    }
}

uint32_t lz_simt_picks(const lz_kernel *k, const int64_t *args, const lz_target *t,
                       lz_simt_pick out[SIMT_PICKS])
{
    simt_plan p;
    simt_plan_of(k, t, &p);
    bool some = p.kind == SIMT_GEMM && points(k, args, k->nouter) > 0;
    return some ? simt_gemm_picks(k, args, t, out) : 0;
}

static void dims_of(const lz_kernel *k, const int64_t *args, const lz_target *t, int processors,
                    const lz_simt_pick *pick, lz_simt_dims *out)
{
    simt_plan p;
    simt_plan_of(k, t, &p);
    int64_t most = (int64_t)(processors > 0 ? processors : 1) * SIMT_BLOCKS_EACH,
            n = points(k, args, k->nouter);
    *out = (lz_simt_dims){0};
    if (n == 0)
        return;
    if (p.kind == SIMT_GEMM) {
        simt_gemm_dims(k, args, t, simt_at_most(most, UINT32_MAX),
                       (uint32_t)(processors > 0 ? processors : 1), pick, out);
        return;
    }
    int64_t longest = p.kind == SIMT_SORT ? simt_sort_row(k, args) : 0;
    out->nlaunch = 1;
    if (longest >= SIMT_LONG_SORT) {
        simt_sort_dims(k, args, longest, n, most, out);
        return;
    }
    if (p.kind == SIMT_B2B &&
        simt_flash_dims(k, args, processors > 0 ? processors : 1, &out->launch[0]))
        return;
    if (p.kind == SIMT_REDUCE_ROW)
        simt_reduce_row_dims(k, args, t, n, most, out);
    else if (p.kind == SIMT_REDUCE_COL)
        simt_reduce_col_dims(k, args, t, n, most, out);
    else
        single(k, &p, args, n, most, &out->launch[0]);
    if (simt_sorts(k))
        simt_sort_limit(k, args, out);
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
