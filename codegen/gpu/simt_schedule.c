/* simt_schedule.c - which schedule a kernel gets, and how many blocks and threads run it. The
 * schedule is decided by the canonical form alone; blocks and threads by the run-time sizes,
 * without LLVM.
 * Threads: pure. */
#include "codegen/gpu/simt_b2b.h"
#include "lower/loops/loop_impl.h"
#include <string.h>

enum {
    THREADS = SIMT_POINTS_THREADS,
    ROW_THREADS = 512,       /* of a block that works on one row, at most */
    ROW_EACH = 4,            /* elements of a row that are worth a thread */
    SHORT_ROW = 32,          /* baked rows up to this are one thread's work */
    B2B_EACH = 16,           /* blocks per multiprocessor, at most: the rest is a loop */
    SORT_SCRATCH = 256 << 20 /* bytes of scratch memory for rows that are sorted */
};

/* ---- the schedule ---- */

static bool sorts(const lz_kernel *k)
{
    for (uint32_t s = 0; s < k->nstage; s++)
        if (k->stages[s].sort)
            return true;
    return false;
}

/* Whether the threads of a block may share the rows: the kernel's vector loop is the last inner
 * one, and some stage has a long one. */
static bool has_rows(const lz_kernel *k)
{
    if (k->vec != LZ_VEC_INNER || k->serial || sorts(k))
        return false;
    for (uint32_t s = 0; s < k->nstage; s++) {
        const lz_stage *st = &k->stages[s];
        if (!st->ninner)
            continue;
        lz_sz n = st->extent[st->ninner - 1];
        if (n.slot >= 0 || n.v > SHORT_ROW)
            return true;
    }
    return false;
}

/* Rows that several blocks may share, and columns. */
static bool is_shared(const lz_kernel *k, bool *columns)
{
    *columns = false;
    if (k->serial || sorts(k) || lz_kernel_has_rows(k) || simt_gemm_suit(k))
        return false;
    if (has_rows(k))
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
    } else if (has_rows(k)) {
        p->kind = SIMT_REDUCE_ROW;
        p->max_block = ROW_THREADS;
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
    return sorts(k) || is_shared(k, &columns) || (simt_gemm_suit(k) && simt_gemm_divide(k));
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

bool lz_simt_args_in_memory(const lz_kernel *k)
{
    return k->nbuf + k->narg > SIMT_PARAMS;
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

static uint64_t magnitude(int64_t x)
{
    return x < 0 ? -(uint64_t)x : (uint64_t)x;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

static uint32_t at_most(int64_t n, int64_t most)
{
    return (uint32_t)(n < most ? n : most);
}

void simt_points_dims(int64_t n, int64_t most, lz_simt_launch *out)
{
    out->block = n < THREADS / 2 ? at_most(simt_ceil_div(n, SIMT_WARP), 64) * SIMT_WARP : THREADS;
    out->grid = at_most(simt_ceil_div(n, out->block), most);
}

static int64_t longest_row(const lz_kernel *k, const int64_t *args)
{
    int64_t longest = 0;
    for (uint32_t s = 0; s < k->nstage; s++) {
        const lz_stage *st = &k->stages[s];
        int64_t n = st->ninner ? lz_sz_value(st->extent[st->ninner - 1], args) : 0;
        longest = n > longest ? n : longest;
    }
    return longest;
}

/* Threads for a row that is not a warp's: a power of two. */
static uint32_t row_threads(int64_t longest)
{
    uint32_t t = SIMT_WARP;
    while (t < ROW_THREADS && (int64_t)t * ROW_EACH < longest)
        t *= 2;
    return t;
}

/* Bytes of shared memory the reductions of a stage need per warp. */
static uint32_t row_shared(const lz_kernel *k)
{
    uint32_t most = 0;
    for (uint32_t s = 0; s < k->nstage; s++) {
        uint32_t n = 0;
        for (uint32_t r = 0; r < k->stages[s].nred; r++)
            n += k->stages[s].reds[r].nacc;
        most = n > most ? n : most;
    }
    return most * SIMT_ACC;
}

/* Whether threads that take indices of the last outer loop write apart at all times, not just at
 * one point of the other loops: every other stride is a multiple of one that is larger than all
 * those indices reach. */
static bool stays_apart(const lz_kernel *k, const int64_t *args)
{
    const lz_stage *st = &k->stages[0];
    uint32_t v = k->nouter - 1;
    int64_t n = lz_sz_value(k->outer[v], args);
    for (uint32_t j = 0; j < st->nstore; j++) {
        const lz_access *a = &st->stores[j].at;
        uint64_t g = 0;
        for (uint32_t d = 0; d < k->nouter + st->ninner; d++)
            g = d == v ? g : gcd(g, magnitude(lz_sz_value(a->stride[d], args)));
        for (uint32_t i = 0; i < a->ndyn; i++)
            g = gcd(g, magnitude(lz_sz_value(a->dyn[i].stride, args)));
        uint64_t each = magnitude(lz_sz_value(a->stride[v], args));
        if (g != 0 && (g <= each || (g - 1) / each < (uint64_t)(n - 1)))
            return false;
    }
    return true;
}

/* Bytes a thread that sorts needs, at most: both sets of every row and of keys, and counters
 * (kernels_sort.h). */
static uint64_t sort_bytes(const lz_kernel *k, const int64_t *args)
{
    enum { COUNTERS = 8 * 256 * 8 };
    uint64_t sum = 0, row;
    for (uint32_t s = 0; s < k->nstage; s++) {
        const lz_stage *st = &k->stages[s];
        int64_t n = 16; /* bytes of an element, at most */
        for (uint32_t d = 0; d < st->ninner; d++)
            if (!lz_mul_i64(n, lz_sz_value(st->extent[d], args), &n))
                return UINT64_MAX;
        if (!st->sort)
            continue;
        if (__builtin_mul_overflow((uint64_t)n + 64, 2 * (uint64_t)(st->sort->nrow + 1), &row) ||
            __builtin_add_overflow(sum, row + COUNTERS, &sum))
            return UINT64_MAX;
    }
    return (sum + 63) & ~UINT64_C(63);
}

/* Elements of the longest row that is sorted. */
static int64_t sorted_row(const lz_kernel *k, const int64_t *args)
{
    int64_t longest = 0;
    for (uint32_t s = 0; s < k->nstage; s++) {
        const lz_stage *st = &k->stages[s];
        int64_t n = 1;
        for (uint32_t d = 0; d < st->ninner; d++)
            if (!lz_mul_i64(n, lz_sz_value(st->extent[d], args), &n))
                n = INT64_MAX;
        longest = st->sort && n > longest ? n : longest;
    }
    return longest;
}

/* A block per row of at most `longest` elements, and scratch memory for each: as many as it
 * allows. */
static void sort_blocks(const lz_kernel *k, const int64_t *args, int64_t longest, int64_t n,
                        int64_t most, lz_simt_dims *d)
{
    enum { EACH = 4 };
    lz_simt_launch *l = &d->launch[0];
    d->share = sort_bytes(k, args);
    uint64_t room = SORT_SCRATCH / (d->share ? d->share : 1);
    l->block = SIMT_WARP;
    while (l->block < THREADS && (int64_t)l->block * EACH < longest)
        l->block *= 2;
    l->grid = at_most(n, most);
    l->grid = l->grid > room ? (uint32_t)(room ? room : 1) : l->grid;
    if (__builtin_mul_overflow(d->share, (uint64_t)l->grid, &d->scratch))
        d->scratch = UINT64_MAX; /* no device has it */
}

/* As many threads as their scratch memory allows; one at least. */
static void limit_scratch(const lz_kernel *k, const int64_t *args, lz_simt_dims *d)
{
    lz_simt_launch *l = &d->launch[0];
    d->share = sort_bytes(k, args);
    uint64_t threads = SORT_SCRATCH / (d->share ? d->share : 1);
    threads = threads ? threads : 1;
    if (l->block > SIMT_WARP)
        l->grid *= l->block / SIMT_WARP;
    l->block = threads < SIMT_WARP ? (uint32_t)threads : SIMT_WARP;
    l->grid = (uint64_t)l->grid * l->block > threads ? (uint32_t)(threads / l->block) : l->grid;
    if (__builtin_mul_overflow(d->share, (uint64_t)l->grid * l->block, &d->scratch))
        d->scratch = UINT64_MAX;
}

/* Elements of stage 0 at a point. */
static int64_t row_elements(const lz_kernel *k, const int64_t *args)
{
    int64_t n = 1;
    for (uint32_t j = 0; j < k->stages[0].ninner; j++)
        n = simt_times(n, lz_sz_value(k->stages[0].extent[j], args));
    return n > 0 ? n : 0;
}

/* n rows, of `each` threads, that are too few for the device: in parts. */
static int64_t row_parts(const lz_kernel *k, const int64_t *args, const lz_target *t, int64_t n,
                         int64_t each)
{
    enum { MANY = 2048 /* threads of a multiprocessor */, WORTH = 32, MOST = 4096 };
    if (simt_divided_second(k) != 0)
        return 1;
    int64_t want = (int64_t)(t->processors > 0 ? t->processors : 1) * MANY / simt_times(n, each),
            worth = row_elements(k, args) / (each * WORTH),
            loop = simt_divided_loop(k, 0, args, true);
    want = want < worth ? want : worth;
    want = want < loop ? want : loop;
    want = want < MOST ? want : MOST;
    return want > 1 ? want : 1;
}

/* Bytes of a row that more than one stage reads. */
static int64_t read_again(const lz_kernel *k, int64_t longest)
{
    int64_t sum = 0;
    for (uint32_t b = 0; b < k->nbuf; b++) {
        uint32_t stages = 0;
        for (uint32_t s = 0; s < k->nstage; s++) {
            const lz_stage *st = &k->stages[s];
            bool reads = false;
            for (uint32_t i = 0; i < st->nacc && st->ninner; i++)
                reads |= st->accs[i].buf == b &&
                         !lz_sz_is(st->accs[i].stride[k->nouter + st->ninner - 1], 0);
            stages += reads;
        }
        if (stages > 1)
            sum += (int64_t)lz_dtype_size(k->buf[b].dtype);
    }
    return simt_times(sum, longest);
}

/* Blocks of so many rows each that find these again in the cache of their multiprocessor: no more
 * of them run at a time than are started. */
static int64_t cached_blocks(const lz_kernel *k, int64_t longest, int64_t rows, int64_t processors)
{
    enum { L1_ROWS = 96 << 10 };
    int64_t bytes = simt_times(read_again(k, longest), rows);
    int64_t each = bytes > 0 ? L1_ROWS / bytes : INT32_MAX;
    return each > 0 ? simt_times(processors, each) : INT64_MAX; /* it is not there anyway */
}

/* Of "rows": a block or a warp for each of n, or for each of its parts. */
static void rows_dims(const lz_kernel *k, const int64_t *args, const lz_target *t, int64_t n,
                      int64_t most, lz_simt_dims *d)
{
    lz_simt_launch *out = &d->launch[0];
    int64_t longest = longest_row(k, args), units;
    bool warps = longest <= SIMT_WARP_ROW;
    out->block = warps ? THREADS : row_threads(longest);
    int64_t parts = row_parts(k, args, t, n, warps ? SIMT_WARP : out->block);
    units = simt_times(n, parts);
    if (warps)
        units = simt_ceil_div(units, THREADS / SIMT_WARP);
    int64_t cached = cached_blocks(k, longest, warps ? THREADS / SIMT_WARP : 1, most / B2B_EACH);
    int64_t room = most * (ROW_THREADS / out->block);
    out->grid = at_most(units, cached < room ? cached : room);
    out->shared = row_shared(k) * (out->block / SIMT_WARP);
    d->share = (uint64_t)parts;
    if (parts > 1)
        simt_divided_dims(k, parts, n, most, d);
}

/* Of kernels that are one launch: n points, `most` blocks. */
static void single(const lz_kernel *k, const simt_plan *p, const int64_t *args, int64_t n,
                   int64_t most, lz_simt_launch *out)
{
    if (p->kind == SIMT_SERIAL) {
        bool apart = p->apart && stays_apart(k, args);
        int64_t columns = apart ? lz_sz_value(k->outer[k->nouter - 1], args) : 1;
        out->block = at_most(columns, SIMT_WARP);
        out->grid = at_most(simt_ceil_div(columns, out->block), most * 8);
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
    int64_t most = (int64_t)(processors > 0 ? processors : 1) * B2B_EACH,
            n = points(k, args, k->nouter);
    *out = (lz_simt_dims){0};
    if (n == 0)
        return;
    if (p.kind == SIMT_GEMM) {
        simt_gemm_dims(k, args, t, at_most(most, UINT32_MAX),
                       (uint32_t)(processors > 0 ? processors : 1), pick, out);
        return;
    }
    int64_t longest = p.kind == SIMT_SORT ? sorted_row(k, args) : 0;
    out->nlaunch = 1;
    if (longest >= SIMT_LONG_SORT) {
        sort_blocks(k, args, longest, n, most, out);
        return;
    }
    if (p.kind == SIMT_B2B &&
        simt_flash_dims(k, args, processors > 0 ? processors : 1, &out->launch[0]))
        return;
    if (p.kind == SIMT_REDUCE_ROW)
        rows_dims(k, args, t, n, most, out);
    else if (p.kind == SIMT_REDUCE_COL)
        simt_reduce_col_dims(k, args, t, n, most, out);
    else
        single(k, &p, args, n, most, &out->launch[0]);
    if (sorts(k))
        limit_scratch(k, args, out);
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
