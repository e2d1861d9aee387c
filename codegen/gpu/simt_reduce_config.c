/* simt_reduce_config.c - reductions, without LLVM: which kernels the row and the column schedule
 * suit, whether a reduction is split into two kernels, and the blocks, threads and slices of each.
 * Both depend on the canonical kernel alone, the numbers on its run-time sizes too.
 * Threads: pure. */
#include "codegen/gpu/simt_kern.h"
#include "lower/loops/loop_impl.h"

enum {
    THREADS = SIMT_THREADS,
    /* column reductions */
    LOG2_THREADS = SIMT_LOG2_THREADS,
    FEW = 32,       /* elements, where that is known: one thread's work */
    EACH = 8,       /* elements that are worth a thread */
    MANY = 32,      /* and another launch */
    LINE = 5,       /* log2 of threads side by side, as long as there is something else to share */
    SHORT_LINE = 3, /* where nothing else is left */
    ENOUGH = 4 * 256, /* threads of a multiprocessor */
    SLICES_MAX = 4096,
    SCRATCH_MAX = 64 << 20,
    /* row reductions */
    ROW_EACH = 4,  /* elements of a row that are worth a thread */
    SHORT_ROW = 32 /* baked rows up to this are one thread's work */
};

/* ---- two-kernel reductions ---- */

static bool sums_only(const lz_stage *st)
{
    return st->ninner && st->nred && !st->nstore && !st->sort;
}

/* Whether a stage up to `last` reads what one before it stores. */
static bool reads_stored(const lz_kernel *k, uint32_t last)
{
    for (uint32_t s = 0; s < last; s++)
        for (uint32_t j = 0; j < k->stages[s].nstore; j++)
            for (uint32_t t = 0; t <= last; t++)
                for (uint32_t i = 0; i < k->stages[t].nacc; i++)
                    if (k->stages[t].accs[i].buf == k->stages[s].stores[j].at.buf)
                        return true;
    return false;
}

int simt_split_second(const lz_kernel *k)
{
    int second = 0;
    if (k->nstage == 0 || !sums_only(&k->stages[0]))
        return -1;
    for (uint32_t s = 1; s < k->nstage; s++) {
        if (k->stages[s].sort || (k->stages[s].ninner && (second || !sums_only(&k->stages[s]))))
            return -1;
        if (k->stages[s].ninner)
            second = (int)s;
    }
    return second && reads_stored(k, (uint32_t)second) ? -1 : second;
}

/* Rows: the last loop is shared by their threads already. Both ways to say it must agree. */
static int64_t weight(int64_t extent, bool last, bool rows)
{
    return rows && last ? extent / SIMT_ROW_SLICE : extent;
}

int64_t simt_split_loop(const lz_kernel *k, uint32_t s, const int64_t *args, bool rows)
{
    const lz_stage *st = &k->stages[s];
    int64_t most = 0;
    for (uint32_t j = 0; j < st->ninner; j++) {
        int64_t w = weight(lz_sz_value(st->extent[j], args), j + 1 == st->ninner, rows);
        most = w > most ? w : most;
    }
    return most;
}

uint64_t simt_split_workspace(const lz_kernel *k, int64_t slices, int64_t npoint)
{
    int64_t sum = 0, all = simt_times(slices, npoint);
    for (uint32_t s = 0; s < k->nstage; s++)
        for (uint32_t r = 0; r < k->stages[s].nred && k->stages[s].ninner; r++)
            for (uint32_t i = 0; i < k->stages[s].reds[r].nacc; i++) {
                int64_t n = simt_times(all, simt_acc_bytes(k->stages[s].reds[r].acc_dtype[i]));
                if (n > INT64_MAX / 64 || sum > INT64_MAX / 64)
                    return UINT64_MAX;
                sum += simt_times(simt_ceil_div(n, SIMT_ACC), SIMT_ACC);
            }
    return (uint64_t)sum;
}

void simt_split_dims(const lz_kernel *k, int64_t slices, int64_t npoint, int64_t most,
                     lz_simt_dims *out)
{
    int64_t blocks = simt_ceil_div(npoint, SIMT_THREADS >> SIMT_LOG2_GROUPS);
    out->scratch = simt_split_workspace(k, slices, npoint);
    out->nlaunch = 1;
    if (simt_split_second(k) > 0) {
        out->launch[out->nlaunch] = out->launch[0];
        out->launch[out->nlaunch++].entry = SIMT_SECOND;
    }
    out->launch[out->nlaunch++] =
        (lz_simt_launch){.entry = SIMT_FINAL,
                         .grid = (uint32_t)(blocks < most ? blocks : most),
                         .block = SIMT_THREADS,
                         .shared = simt_reduce_col_shared(k, 1)};
}

/* ---- column reductions ---- */

bool simt_has_columns(const lz_kernel *k)
{
    bool any = false;
    if (k->nouter == 0 || k->serial)
        return false;
    for (uint32_t s = 0; s < k->nstage; s++) {
        const lz_stage *st = &k->stages[s];
        int64_t n = 1;
        for (uint32_t j = 0; j < st->ninner; j++)
            n = st->extent[j].slot >= 0 ? INT64_MAX : simt_times(n, st->extent[j].v);
        any |= st->nred && n > FEW;
        if (st->sort || lz_stage_is_row_dot(st) || st->nrow)
            return false;
    }
    return any;
}

/* Of the accumulators of one reduction, at most. */
static uint32_t bytes_each(const lz_kernel *k)
{
    uint32_t most = 0;
    for (uint32_t s = 0; s < k->nstage; s++)
        for (uint32_t r = 0; r < k->stages[s].nred; r++) {
            uint32_t n = 0;
            for (uint32_t i = 0; i < k->stages[s].reds[r].nacc; i++)
                n += simt_acc_bytes(k->stages[s].reds[r].acc_dtype[i]);
            most = n > most ? n : most;
        }
    return most;
}

uint32_t simt_reduce_col_shared(const lz_kernel *k, unsigned lanes)
{
    return bytes_each(k) * lanes * THREADS / 2;
}

static bool side_by_side(const lz_kernel *k, const lz_access *a)
{
    lz_sz along = a->stride[k->nouter - 1];
    return along.slot < 0 && (along.v == 0 || along.v == 1) &&
           !lz_dtype_is_complex(k->buf[a->buf].dtype);
}

unsigned simt_reduce_col_lanes(const lz_kernel *k)
{
    unsigned n = simt_vector_lanes(k, 0);
    bool some = false;
    for (uint32_t s = 0; s < k->nstage; s++) {
        for (uint32_t i = 0; i < k->stages[s].nacc; i++) {
            const lz_access *a = &k->stages[s].accs[i];
            if (!side_by_side(k, a))
                return 1;
            some |= k->stages[s].ninner && a->stride[k->nouter - 1].v == 1;
        }
        for (uint32_t j = 0; j < k->stages[s].nstore; j++)
            if (!side_by_side(k, &k->stages[s].stores[j].at))
                return 1;
    }
    while (n > 1 && simt_reduce_col_shared(k, n) > SIMT_SHARED)
        n /= 2;
    return some ? n : 1;
}

static int log2_up(int64_t n)
{
    int i = 0;
    while (i < LOG2_THREADS && INT64_C(1) << i < n)
        i++;
    return i;
}

/* Elements that a point reads in the stage that reads most, and what can be shared of them. */
static int64_t elements(const lz_kernel *k, const int64_t *args, int64_t *longest)
{
    int64_t most = 0;
    *longest = 0;
    for (uint32_t s = 0; s < k->nstage; s++) {
        const lz_stage *st = &k->stages[s];
        int64_t n = st->ninner ? 1 : 0;
        for (uint32_t j = 0; j < st->ninner; j++) {
            int64_t x = lz_sz_value(st->extent[j], args);
            n = x > 0 ? simt_times(n, x) : 0;
        }
        if (n <= most)
            continue;
        most = n;
        *longest = simt_split_loop(k, s, args, false);
    }
    return most;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* log2 of the groups: those for whom there are no points, then more while threads are few. */
static int choose_groups(int64_t n, int64_t longest, int64_t want)
{
    int wide = log2_up(n), most = log2_up(longest), g = least(LOG2_THREADS - wide, most);
    while (g < LOG2_THREADS - LINE && (n << g) < want && longest >> (g + 1) >= EACH)
        g++;
    return g;
}

bool simt_reduce_col_suits(const lz_kernel *k, const lz_target *t)
{
    (void)t;
    return simt_has_columns(k);
}

void simt_reduce_col_dims(const simt_sizes *z, lz_simt_dims *out)
{
    const lz_kernel *k = z->k;
    const int64_t *args = z->args;
    const lz_target *t = z->t;
    int64_t n = z->n, most = z->most;
    int64_t longest, all = elements(k, args, &longest), slices = 1,
                     want = (int64_t)(t->processors > 0 ? t->processors : 1) * ENOUGH;
    unsigned lanes = simt_reduce_col_lanes(k);
    if (lz_sz_value(k->outer[k->nouter - 1], args) % lanes)
        lanes = 1;
    int64_t threads = n / lanes;
    int g = choose_groups(threads, longest, want);
    bool divide = simt_split_second(k) >= 0 && all >> g >= MANY;
    if (!divide)
        while (g < LOG2_THREADS - SHORT_LINE && (threads << g) < want && longest >> (g + 1) >= EACH)
            g++;
    if (divide && (threads << g) < want) {
        slices = least(want / (threads << g), least(longest >> g, (all >> g) / (2 * EACH)));
        slices = least(slices, SLICES_MAX);
        while (slices > 1 && simt_split_workspace(k, slices, n) > SCRATCH_MAX)
            slices /= 2;
        slices = slices > 1 ? slices : 1;
    }
    int64_t blocks = simt_times(simt_ceil_div(threads, THREADS >> g), slices);
    out->share = (uint64_t)slices | (uint64_t)g << 32;
    out->launch[0] = (lz_simt_launch){.grid = (uint32_t)least(blocks, most),
                                      .block = THREADS,
                                      .shared = simt_reduce_col_shared(k, lanes)};
    if (slices > 1)
        simt_split_dims(k, slices, n, most, out);
}

/* ---- row reductions ---- */

/* Whether the threads of a block may share the rows: the kernel's vector loop is the last inner
 * one, and some stage has a long one. */
bool simt_has_rows(const lz_kernel *k)
{
    if (k->vec != LZ_VEC_INNER || k->serial || simt_sorts(k))
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
    while (t < SIMT_ROW_THREADS && (int64_t)t * ROW_EACH < longest)
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

/* Elements of stage 0 at a point. */
static int64_t row_elements(const lz_kernel *k, const int64_t *args)
{
    int64_t n = 1;
    for (uint32_t j = 0; j < k->stages[0].ninner; j++)
        n = simt_times(n, lz_sz_value(k->stages[0].extent[j], args));
    return n > 0 ? n : 0;
}

/* n rows, of `each` threads, that are too few for the device: in slices. */
static int64_t row_slices(const lz_kernel *k, const int64_t *args, const lz_target *t, int64_t n,
                          int64_t each)
{
    enum { THREADS_EACH = 2048 /* of a multiprocessor */, WORTH = 32, MOST = 4096 };
    if (simt_split_second(k) != 0)
        return 1;
    int64_t want = (int64_t)(t->processors > 0 ? t->processors : 1) * THREADS_EACH /
                   simt_times(n, each),
            worth = row_elements(k, args) / (each * WORTH),
            loop = simt_split_loop(k, 0, args, true);
    want = want < worth ? want : worth;
    want = want < loop ? want : loop;
    want = want < MOST ? want : MOST;
    return want > 1 ? want : 1;
}

/* ---- rows in registers ---- */

/* Operations on each element, roughly, that are worth writing out for every vector. */
static bool is_light(const lz_stage *st)
{
    enum { MOST = 48, COSTLY = 8 };
    unsigned w = 0;
    for (uint32_t i = 0; i < st->nsop; i++)
        if (st->sops[i].kind == LZ_S_EW)
            w += lz_op_has(st->sops[i].op, LZ_F_COSTLY) ? COSTLY : 1;
    return w <= MOST && !st->sort && st->nrow == 0 && st->ninner <= 1;
}

static bool is_written(const lz_kernel *k, uint32_t buf)
{
    for (uint32_t s = 0; s < k->nstage; s++)
        for (uint32_t j = 0; j < k->stages[s].nstore; j++)
            if (k->stages[s].stores[j].at.buf == buf)
                return true;
    return false;
}

/* A load along the row that is the same whenever it is made. */
static bool may_be_held(const lz_kernel *k, const lz_stage *st, const lz_access *a)
{
    return st->ninner == 1 && lz_sz_is(a->stride[k->nouter], 1) && a->ndyn == 0 && a->guard < 0 &&
           a->nborder == 0 && !is_written(k, a->buf);
}

static bool may_equal(lz_sz a, lz_sz b)
{
    return a.slot < 0 ? lz_sz_is(b, a.v) : b.slot >= 0;
}

/* Probably the same addresses: run-time strides of two stages are two arguments. */
static bool alike(const lz_kernel *k, const lz_access *a, const lz_access *b)
{
    bool same = a->buf == b->buf && may_equal(a->offset, b->offset);
    for (uint32_t d = 0; d < k->nouter; d++)
        same &= may_equal(a->stride[d], b->stride[d]);
    return same;
}

static uint32_t value_of(const lz_kernel *k, const simt_held *h, const lz_access *a)
{
    for (uint32_t i = 0; i < h->nload; i++)
        if (alike(k, &k->stages[h->load[i].stage].accs[h->load[i].access], a))
            return h->load[i].value;
    return h->n;
}

/* Whether stages after its first one load it. */
static bool is_loaded_again(const simt_held *h, uint32_t value)
{
    uint32_t first = UINT32_MAX;
    for (uint32_t i = 0; i < h->nload; i++) {
        if (h->load[i].value != value)
            continue;
        if (first != UINT32_MAX && h->load[i].stage != first)
            return true;
        first = h->load[i].stage;
    }
    return false;
}

void simt_held_of(const lz_kernel *k, simt_held *h)
{
    simt_held all = {0};
    *h = (simt_held){0};
    for (uint32_t s = 0; s < k->nstage; s++) {
        const lz_stage *st = &k->stages[s];
        if (!is_light(st))
            return;
        for (uint32_t i = 0; i < st->nacc && all.nload < SIMT_HELD_LOADS; i++) {
            if (!may_be_held(k, st, &st->accs[i]))
                continue;
            uint32_t v = value_of(k, &all, &st->accs[i]);
            all.n += v == all.n;
            all.load[all.nload].stage = s;
            all.load[all.nload].access = i;
            all.load[all.nload++].value = v;
        }
    }
    for (uint32_t v = 0; v < all.n && h->n < SIMT_HELD; v++) {
        if (!is_loaded_again(&all, v))
            continue;
        for (uint32_t i = 0; i < all.nload; i++) {
            if (all.load[i].value != v)
                continue;
            h->load[h->nload] = all.load[i];
            h->load[h->nload++].value = h->n;
        }
        h->n++;
    }
}

/* Threads for rows that are held by as many as have no more to do than that; 0: they are not, or
 * the device would not have enough to do. */
static uint32_t held_threads(const lz_kernel *k, const lz_target *t, int64_t longest, int64_t n)
{
    enum { ENOUGH_ROWS = 1024 /* threads of a multiprocessor */ };
    unsigned lanes = simt_vector_lanes(k, 0), each = lanes * simt_held_slots(lanes);
    uint32_t threads = SIMT_WARP;
    simt_held h;
    simt_held_of(k, &h);
    while (threads < SIMT_ROW_THREADS && (int64_t)threads * each < longest)
        threads *= 2;
    int64_t processors = t->processors > 0 ? t->processors : 1;
    bool held = h.n && longest % lanes == 0 && longest <= (int64_t)threads * each;
    return held && simt_times(n, threads) >= processors * ENOUGH_ROWS ? threads : 0;
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

/* A block or a warp for each of n, or for each of its slices. */
bool simt_reduce_row_suits(const lz_kernel *k, const lz_target *t)
{
    (void)t;
    return simt_has_rows(k);
}

void simt_reduce_row_dims(const simt_sizes *z, lz_simt_dims *d)
{
    const lz_kernel *k = z->k;
    const int64_t *args = z->args;
    int64_t n = z->n, most = z->most;
    lz_simt_launch *out = &d->launch[0];
    int64_t longest = longest_row(k, args), units;
    bool warps = longest <= SIMT_WARP_ROW;
    uint32_t held = held_threads(k, z->t, longest, n);
    out->block = warps ? THREADS : held ? held : row_threads(longest);
    int64_t slices = row_slices(k, args, z->t, n, warps ? SIMT_WARP : out->block);
    units = simt_times(n, slices);
    if (warps)
        units = simt_ceil_div(units, THREADS / SIMT_WARP);
    int64_t cached =
        held ? INT64_MAX
             : cached_blocks(k, longest, warps ? THREADS / SIMT_WARP : 1, most / SIMT_BLOCKS_EACH);
    int64_t room = most * (SIMT_ROW_THREADS / out->block);
    out->grid = simt_at_most(units, cached < room ? cached : room);
    out->shared = row_shared(k) * (out->block / SIMT_WARP);
    d->share = (uint64_t)slices;
    if (slices > 1)
        simt_split_dims(k, slices, n, most, d);
}
