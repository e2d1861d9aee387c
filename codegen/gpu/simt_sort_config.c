/* simt_sort_config.c - kernels that sort, without LLVM: which rows a block sorts, and the blocks,
 * threads and workspace of both ways.
 * Threads: pure. */
#include "codegen/gpu/simt_kern.h"
#include "lower/loops/loop_impl.h"

enum {
    THREADS = SIMT_THREADS,
    SORT_SCRATCH = 256 << 20 /* bytes of workspace for rows that are sorted */
};

bool simt_sorts(const lz_kernel *k)
{
    for (uint32_t s = 0; s < k->nstage; s++)
        if (k->stages[s].sort)
            return true;
    return false;
}

bool simt_sort_suits(const lz_kernel *k, const lz_target *t)
{
    (void)t;
    bool sorts = false;
    if (k->serial)
        return false;
    for (uint32_t s = 0; s < k->nstage; s++) {
        sorts |= k->stages[s].sort != NULL;
        if (k->stages[s].nred)
            return false;
    }
    return sorts;
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
static int64_t longest_row(const lz_kernel *k, const int64_t *args)
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
static void by_blocks(const simt_sizes *z, int64_t longest, lz_simt_dims *d)
{
    enum { EACH = 4 };
    lz_simt_launch *l = &d->launch[0];
    d->share = sort_bytes(z->k, z->args);
    uint64_t room = SORT_SCRATCH / (d->share ? d->share : 1);
    l->block = SIMT_WARP;
    while (l->block < THREADS && (int64_t)l->block * EACH < longest)
        l->block *= 2;
    l->grid = simt_at_most(z->n, z->most);
    l->grid = l->grid > room ? (uint32_t)(room ? room : 1) : l->grid;
    if (__builtin_mul_overflow(d->share, (uint64_t)l->grid, &d->scratch))
        d->scratch = UINT64_MAX; /* no device has it */
}

/* As many threads as their scratch memory allows; one at least. */
void simt_sort_limit(const lz_kernel *k, const int64_t *args, lz_simt_dims *d)
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

void simt_sort_dims(const simt_sizes *z, lz_simt_dims *d)
{
    int64_t longest = longest_row(z->k, z->args);
    if (longest >= SIMT_LONG_SORT) {
        by_blocks(z, longest, d);
        return;
    }
    simt_elementwise_launch(simt_ceil_div(z->n, z->plan->lanes), z->most, &d->launch[0]);
    simt_sort_limit(z->k, z->args, d);
}
