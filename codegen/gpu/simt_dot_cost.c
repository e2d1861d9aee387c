/* simt_dot_cost.c - GEMM, without LLVM: the cost model. Picks the tile size and decides split-K
 * (into how many slices K is split) for the run-time sizes; autotuning measures its best
 * candidates. See simt_dot.h. A cost is in clocks of a multiprocessor: the larger of a block's math
 * and memory time, times the waves. The number of multiprocessors is that of the architecture
 * (target_gpu.def), not of the device, so that results are the same on all of its devices.
 * Integers, so that they are on all hosts, too. Threads: pure. */
#include "codegen/gpu/simt_dot.h"
#include "lower/loops/loop_impl.h"

enum {
    SLICES_MAX = 64,
    L2_BYTES = 32,   /* a clock, of a multiprocessor's share */
    K_TILE = 64,     /* waiting for a k-tile and its barrier */
    TILE = 1500,     /* prologue of the main loop, epilogue */
    LAUNCH = 4000,   /* another kernel */
    SCRATCH_MAX = 64 /* MiB */
};

/* The run-time sizes of a product. */
typedef struct work {
    int64_t matrices, m, n, k, others; /* others: what k is multiplied by, of further inner loops */
} work;

static int64_t plus(int64_t a, int64_t b)
{
    int64_t r;
    return lz_add_i64(a, b, &r) ? r : INT64_MAX;
}

/* Rows of the loops from `rows` to m. */
static work work_of(const lz_kernel *k, uint32_t rows, const int64_t *args)
{
    const lz_stage *st = &k->stages[0];
    work w = {.matrices = 1, .m = 1, .others = 1};
    for (uint32_t d = 0; d <= lz_kernel_dot(k)->m; d++) {
        int64_t *into = d < rows ? &w.matrices : &w.m;
        *into = simt_times(*into, lz_sz_value(k->outer[d], args));
    }
    w.n = lz_sz_value(k->outer[lz_kernel_dot(k)->n], args);
    for (uint32_t d = 0; d + 1 < st->ninner; d++)
        w.others = simt_times(w.others, lz_sz_value(st->extent[d], args));
    w.k = lz_sz_value(st->extent[st->ninner - 1], args);
    return w;
}

static int64_t k_tiles_of(const work *w, const gemm_shape *p)
{
    return simt_times(w->others, simt_ceil_div(w->k, p->kt));
}

static int64_t tiles_of(const work *w, const gemm_shape *p)
{
    return simt_times(w->matrices,
                      simt_times(simt_ceil_div(w->m, p->tm), simt_ceil_div(w->n, p->tn)));
}

/* Bytes of scratch memory: rows are whole chunks. */
static int64_t scratch_of(const work *w, int64_t slices, int64_t esize)
{
    int64_t row = simt_times(simt_ceil_div(simt_times(w->n, esize), GEMM_CHUNK), GEMM_CHUNK);
    return simt_times(simt_times(slices, w->matrices), simt_times(w->m, row));
}

static int64_t cost(const work *w, const gemm_shape *p, int64_t slices, int64_t esize,
                    int64_t processors)
{
    int64_t multiply = (int64_t)p->tm * p->tn * p->kt / p->rate,
            read = (int64_t)(p->tm + p->tn) * p->kt * p->es / L2_BYTES;
    int64_t k_tile = (multiply > read ? multiply : read) + K_TILE;
    int64_t waves = simt_ceil_div(simt_times(tiles_of(w, p), slices), processors);
    int64_t sum =
        simt_times(waves, plus(TILE, simt_times(k_tile, simt_ceil_div(k_tiles_of(w, p), slices))));
    if (slices > 1) /* written once, read once */
        sum = plus(sum, LAUNCH + 2 * scratch_of(w, slices, esize) / (processors * L2_BYTES));
    return sum;
}

typedef struct choice {
    lz_simt_entry entry;
    gemm_shape p;
    int64_t slices, cost;
} choice;

/* Tells `see` of every split of K for tiles of one size: no slice is empty. */
typedef void seen(void *to, const choice *c);
static void each_split(const lz_kernel *k, const lz_target *t, const work *w, lz_simt_entry entry,
                       int64_t esize, seen *see, void *to)
{
    int64_t processors = t->processors > 0 ? t->processors : 1;
    choice c = {.entry = entry, .slices = 1};
    gemm_shape_of(k, t, entry, &c.p);
    c.cost = cost(w, &c.p, 1, esize, processors);
    see(to, &c);
    int64_t k_tiles = k_tiles_of(w, &c.p);
    bool split = simt_gemm_splits_k(k);
    for (int64_t n = 2; split && n <= SLICES_MAX && n <= k_tiles; n++) {
        if (simt_ceil_div(k_tiles, simt_ceil_div(k_tiles, n)) != n)
            continue;
        if (scratch_of(w, n, esize) > (int64_t)SCRATCH_MAX << 20)
            break;
        c.slices = n;
        c.cost = cost(w, &c.p, n, esize, processors);
        see(to, &c);
    }
}

static void each_choice(const lz_kernel *k, const work *w, const lz_target *t, int64_t esize,
                        seen *see, void *to)
{
    static const lz_simt_entry entries[] = {SIMT_MAIN, SIMT_WGMMA, SIMT_SMALL};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (simt_gemm_has(k, t, entries[i]))
            each_split(k, t, w, entries[i], esize, see, to);
}

/* The cheapest; of equals, the first. */
static void keep_best(void *to, const choice *c)
{
    choice *best = to;
    if (!best->slices || c->cost < best->cost)
        *best = *c;
}

static choice choose(const lz_kernel *k, const work *w, const lz_target *t, int64_t esize)
{
    choice best = {0};
    each_choice(k, w, t, esize, keep_best, &best);
    return best;
}

static choice chosen(const lz_kernel *k, const lz_target *t, const lz_simt_pick *pick)
{
    choice c = {.entry = pick->entry == SIMT_TMA ? SIMT_WGMMA : pick->entry,
                .slices = pick->slices};
    gemm_shape_of(k, t, c.entry, &c.p);
    return c;
}

/* Whether TMA loads the operands: its boxes have rows of one loop, and tiles may lie across, which
 * may mean more tiles. Of tf32 they may be twice as many, since threads load the operands at less
 * than half of the rate. */
static bool takes_tma(const lz_kernel *k, const lz_target *t, const int64_t *args, const work *w,
                      const choice *c, lz_simt_map map[2])
{
    if (c->entry != SIMT_WGMMA)
        return false;
    gemm_shape p;
    gemm_shape_of(k, t, SIMT_TMA, &p);
    work tma = work_of(k, lz_kernel_dot(k)->m, args);
    int64_t n = simt_times(tiles_of(w, &c->p), c->slices),
            tma_tiles = simt_times(tiles_of(&tma, &p), c->slices),
            most = simt_times(n, p.d == LZ_F32 ? 8 : 5) / 4;
    return tma_tiles <= most && gemm_tensor_maps(k, t, args, map);
}

/* The TMA kernel, persistent: one block per multiprocessor. Clusters of two, along rows of tiles
 * (swap_ab: columns), where little is lost to an odd one. */
static void launch_tma(const lz_kernel *k, const lz_target *t, const work *w, int64_t slices,
                       uint32_t processors, unsigned esize, lz_simt_dims *out)
{
    enum { MANY = 8 };
    gemm_shape p;
    gemm_shape_of(k, t, SIMT_TMA, &p);
    int64_t n = simt_times(tiles_of(w, &p), slices),
            rows = p.swap_ab ? simt_ceil_div(w->n, p.tn) : simt_ceil_div(w->m, p.tm);
    bool pairs = processors >= SIMT_CLUSTER && (rows % 2 == 0 || rows > MANY);
    uint32_t cluster = pairs ? SIMT_CLUSTER : 1, most = processors / cluster * cluster;
    n = simt_times(n / rows, (rows + cluster - 1) / cluster * cluster);
    uint32_t grid = n < most ? (uint32_t)n : most;
    out->plain = out->launch[0];
    out->launch[0] = (lz_simt_launch){.entry = SIMT_TMA,
                                      .grid = grid,
                                      .block = p.block,
                                      .shared = gemm_shared_bytes(&p, esize),
                                      .cluster = cluster};
}

static unsigned sum_bytes(const lz_kernel *k)
{
    return (unsigned)lz_dtype_size(k->stages[0].reds[0].acc_dtype[0]);
}

void simt_gemm_dims(const simt_sizes *z, lz_simt_dims *out)
{
    const lz_kernel *k = z->k;
    const int64_t *args = z->args;
    const lz_target *t = z->t;
    const lz_simt_pick *pick = z->pick;
    uint32_t most = simt_at_most(z->most, UINT32_MAX), processors = (uint32_t)z->processors;
    work w = work_of(k, simt_gemm_rows(k), args), tma = work_of(k, lz_kernel_dot(k)->m, args);
    unsigned esize = sum_bytes(k);
    choice c = pick ? chosen(k, t, pick) : choose(k, &w, t, esize);
    int64_t n = simt_times(tiles_of(&w, &c.p), c.slices);
    out->share = (uint64_t)c.slices;
    out->nlaunch = 1;
    out->launch[0] = (lz_simt_launch){.entry = c.entry,
                                      .grid = n < most ? (uint32_t)n : most,
                                      .block = c.p.block,
                                      .shared = gemm_shared_bytes(&c.p, esize)};
    bool as_tma = !pick || pick->entry == SIMT_TMA;
    if (as_tma && takes_tma(k, t, args, &w, &c, out->map))
        launch_tma(k, t, &tma, c.slices, processors, esize, out);
    if (c.slices == 1)
        return;
    out->scratch = (uint64_t)scratch_of(&w, c.slices, esize);
    out->nlaunch = 2;
    out->launch[1].entry = SIMT_FINAL;
    simt_elementwise_launch(
        simt_times(w.matrices, simt_times(w.m, simt_ceil_div(w.n, gemm_epilogue_lanes(k)))), most,
        &out->launch[1]);
}

/* ---- what else may be measured ---- */

typedef struct kept {
    choice c[SIMT_PICKS];
    uint32_t n;
} kept;

/* The cheapest, in order; of equals, the first. */
static void keep_some(void *to, const choice *c)
{
    kept *s = to;
    if (s->n == SIMT_PICKS && c->cost >= s->c[SIMT_PICKS - 1].cost)
        return;
    uint32_t i = s->n < SIMT_PICKS ? s->n++ : SIMT_PICKS - 1;
    for (; i && s->c[i - 1].cost > c->cost; i--)
        s->c[i] = s->c[i - 1];
    s->c[i] = *c;
}

/* None that costs more than twice the least: the model is not that far off. One place is for the
 * model's own choice without TMA. */
uint32_t simt_gemm_picks(const lz_kernel *k, const int64_t *args, const lz_target *t,
                         lz_simt_pick out[SIMT_PICKS])
{
    kept s = {.n = 0};
    lz_simt_map map[2];
    work w = work_of(k, simt_gemm_rows(k), args);
    each_choice(k, &w, t, sum_bytes(k), keep_some, &s);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s.n && n < SIMT_PICKS && s.c[i].cost / 2 <= s.c[0].cost; i++) {
        bool tma = takes_tma(k, t, args, &w, &s.c[i], map);
        lz_simt_entry entry = tma ? SIMT_TMA : s.c[i].entry;
        out[n++] = (lz_simt_pick){entry, (uint32_t)s.c[i].slices};
        if (tma && i == 0)
            out[n++] = (lz_simt_pick){SIMT_WGMMA, (uint32_t)s.c[i].slices};
    }
    return n > 1 ? n : 0;
}
