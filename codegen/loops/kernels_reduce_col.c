/* kernels_reduce_col.c - column reductions of a row-major matrix on a CPU. Vectors run along the
 * columns; a block of them down all rows would touch a few cache lines of each row, too few for
 * memory bandwidth. Here a strip of columns, a page wide, goes down the rows a few at a time: its
 * accumulators are in memory, and stay in L1; the rows that follow are prefetched. Rows are added
 * in blocks, and blocks of blocks (kernels_sum_blocks.c), each level with accumulators of its own.
 * Which columns are in strips, and the order in one, depend on the extents alone: the results are
 * the same to the bit, whatever the threads. Threads: belongs to one thread. */
#include "codegen/loops/kern.h"

enum {
    ROWS = 8,           /* at a time, in registers */
    SIDE = 2,           /* vectors side by side */
    STRIP_BYTES = 4096, /* of one row */
    LIGHT = 4,          /* operations per element: with more the memory is not what limits */
    SUMS_BYTES = 16384, /* of all accumulators of a strip */
    MANY_ROWS = 64      /* make up for sums that go through memory */
};
/* Of sums within sums: those of two loops. */
enum { LEVELS = 1 + 2 * KERN_SUM_LEVELS };

/* ---- which kernels ---- */

static bool reads_rows(const kern *c)
{
    const kstage *t = &c->st[0];
    for (uint32_t i = 0; i < t->s->nsop; i++)
        if (!t->skip[i] && t->s->sops[i].kind == LZ_S_LOAD &&
            lz_access_down_rows(c->k, &t->s->accs[t->s->sops[i].a]))
            return true;
    return false;
}

static int64_t strip_columns(const kern *c)
{
    int64_t n = STRIP_BYTES / 4, block = (int64_t)KERN_U * c->lanes;
    return n < block ? block : n / block * block;
}

static bool plain_sums(const kern *c)
{
    const lz_stage *s = &c->k->stages[0];
    size_t nbytes = 0;
    for (uint32_t r = 0; r < s->nred; r++)
        for (uint32_t k = 0; k < s->reds[r].nacc; k++) {
            lz_dtype d = s->reds[r].acc_dtype[k];
            if (d != LZ_F32 && d != LZ_F64 && d != LZ_I32 && d != LZ_I64 && d != LZ_U32 &&
                d != LZ_U64)
                return false;
            nbytes += (size_t)strip_columns(c) * em_esize(d);
        }
    return s->nred && nbytes <= SUMS_BYTES;
}

bool kern_reduces_columns(const kern *c, unsigned u)
{
    const lz_kernel *k = c->k;
    if (!em_may(c->e, LZ_VARIANT_col_reduction) || u % SIDE || c->vec != LZ_VEC_OUTER ||
        c->lanes < 2 || k->serial || k->nouter == 0 || c->threads)
        return false;
    const kstage *t = &c->st[0];
    if (t->s->ninner == 0 || t->s->nstore || t->s->sort || t->vdim != (int)k->nouter - 1)
        return false;
    for (uint32_t s = 1; s < k->nstage; s++)
        if (k->stages[s].ninner || k->stages[s].sort)
            return false;
    lz_sz rows = t->s->extent[t->s->ninner - 1];
    bool pays = (rows.slot >= 0 || rows.v >= MANY_ROWS) && kern_stage_work(c, 0) <= LIGHT;
    return (pays || em_always(c->e, LZ_VARIANT_col_reduction)) && plain_sums(c) && reads_rows(c);
}

/* ---- a strip ---- */

typedef struct strip {
    kern *c;
    Val lo, hi;                  /* columns */
    unsigned now;                /* the level whose sums are added to */
    Val sums[LEVELS][KERN_ACCS]; /* of each level and accumulator, in memory */
    kern_accs a;                 /* what is in registers now */
} strip;

static Val place(strip *w, uint32_t k, Val col, unsigned u)
{
    em *e = w->c->e;
    unsigned es = em_esize(kern_acc_dtype(w->c, 0, k));
    return em_at(e, w->sums[w->now][k], ADD(SUB(col, w->lo), em_c64(e, (int64_t)u * w->c->lanes)),
                 es);
}

static void get(strip *w, Val col)
{
    kern *c = w->c;
    for (uint32_t k = 0; k < w->a.n; k++) {
        lz_dtype d = kern_acc_dtype(c, 0, k);
        for (unsigned u = 0; u < w->a.u; u++)
            w->a.v[k][u] = (Ev){
                em_load(c->e, em_type(c->e, d, c->lanes), place(w, k, col, u), em_esize(d)), NULL};
    }
}

static void put(strip *w, Val col)
{
    for (uint32_t k = 0; k < w->a.n; k++)
        for (unsigned u = 0; u < w->a.u; u++)
            em_store(w->c->e, w->a.v[k][u].v, place(w, k, col, u),
                     em_esize(kern_acc_dtype(w->c, 0, k)));
}

/* The stage's code outside its innermost loop, for the columns from col on. */
static void outside(strip *w, Val col, const kctx *x)
{
    kern *c = w->c;
    c->oidx[c->k->nouter - 1] = col;
    kern_addresses(c, 0, POS_POINT);
    kern_eval(c, 0, POS_POINT, x);
    kern_addresses(c, 0, POS_BODY);
}

/* For the columns of the strip, the level's accumulators as they are before anything. */
static void begin_sums(strip *w)
{
    kern *c = w->c;
    em *e = c->e;
    em_loop l;
    kctx x = {.u = SIDE};
    em_loop_begin(e, &l, w->lo, w->hi, em_c64(e, (int64_t)SIDE * c->lanes), 0, NULL);
    outside(w, l.i, &x);
    kern_accs_start(c, 0, &w->a);
    put(w, l.i);
    em_loop_end(e, &l, NULL);
}

/* Begins a level of sums, or joins it to the one around it. */
static void change_level(strip *w, bool begin)
{
    kern *c = w->c;
    em *e = c->e;
    em_loop l;
    kctx x = {.u = SIDE};
    kern_accs part;
    em_loop_begin(e, &l, w->lo, w->hi, em_c64(e, (int64_t)SIDE * c->lanes), 0, NULL);
    outside(w, l.i, &x);
    get(w, l.i);
    if (begin) {
        w->now++;
        kern_sum_fresh(c, 0, &w->a, &part);
        w->a = part;
    } else {
        part = w->a;
        w->now--;
        get(w, l.i);
        kern_sum_join(c, 0, &w->a, &part);
    }
    put(w, l.i);
    em_loop_end(e, &l, NULL);
}

/* Into the second-level cache: the first has room for the strip's accumulators, not for rows. */
static void fetch_rows_after(strip *w, unsigned rows)
{
    kern *c = w->c;
    em *e = c->e;
    const kstage *t = &c->st[0];
    uint32_t j = t->s->ninner - 1;
    for (uint32_t i = 0; i < t->s->nsop; i++) {
        const lz_sop *p = &t->s->sops[i];
        if (t->skip[i] || p->kind != LZ_S_LOAD || !lz_access_down_rows(c->k, &t->s->accs[p->a]))
            continue;
        unsigned es = em_esize(c->k->buf[t->s->accs[p->a].buf].dtype);
        Val far = MUL(kern_size(c, t->s->accs[p->a].stride[c->k->nouter + j]), em_c64(e, rows));
        Val at = em_at(e, t->ptr[POS_INNER + j][p->a], far, es);
        for (int64_t b = 0; b < (int64_t)SIDE * c->lanes * es; b += 64)
            em_prefetch(e, em_at(e, at, em_c64(e, b), 1), false, 2);
    }
}

/* Rows row.. of the whole strip. */
static void some_rows(strip *w, Val row, unsigned rows)
{
    kern *c = w->c;
    em *e = c->e;
    uint32_t last = c->st[0].s->ninner - 1;
    em_loop l;
    kctx x = {.u = SIDE};
    kern_accs part;
    em_loop_begin(e, &l, w->lo, w->hi, em_c64(e, (int64_t)SIDE * c->lanes), 0, NULL);
    outside(w, l.i, &x);
    kern_eval(c, 0, POS_BODY, &x);
    for (uint32_t j = 0; j < last; j++) {
        kern_addresses(c, 0, (int)(POS_INNER + j));
        kern_eval(c, 0, (int)(POS_INNER + j), &x);
    }
    get(w, l.i);
    if (rows > 1)
        kern_sum_fresh(c, 0, &w->a, &part);
    for (unsigned q = 0; q < rows; q++) {
        c->iidx[last] = ADD(row, em_c64(e, q));
        kern_addresses(c, 0, (int)(POS_INNER + last));
        if (rows > 1)
            fetch_rows_after(w, rows);
        kern_eval(c, 0, (int)(POS_INNER + last), &x);
        kern_accs_add(c, 0, &x, rows > 1 ? &part : &w->a);
    }
    if (rows > 1)
        kern_sum_join(c, 0, &w->a, &part);
    put(w, l.i);
    em_loop_end(e, &l, NULL);
}

static void all_rows(strip *w, uint32_t j);

/* lo..hi-1 of loop j, one after the other. */
static void chain(strip *w, uint32_t j, Val lo, Val hi)
{
    kern *c = w->c;
    em *e = c->e;
    em_loop l;
    if (j + 1 < c->st[0].s->ninner) {
        em_loop_begin(e, &l, lo, hi, em_c64(e, 1), 0, NULL);
        c->iidx[j] = l.i;
        all_rows(w, j + 1);
        em_loop_end(e, &l, NULL);
        return;
    }
    Val mid = ADD(lo, AND(SUB(hi, lo), em_c64(e, -ROWS)));
    em_loop_begin(e, &l, lo, mid, em_c64(e, ROWS), 0, NULL);
    some_rows(w, l.i, ROWS);
    em_loop_end(e, &l, NULL);
    em_loop_begin(e, &l, mid, hi, em_c64(e, 1), 0, NULL);
    some_rows(w, l.i, 1);
    em_loop_end(e, &l, NULL);
}

/* lo..hi-1 of loop j, in blocks of size[level - 1]. */
static void in_blocks(strip *w, uint32_t j, const int64_t *size, unsigned level, Val lo, Val hi)
{
    em *e = w->c->e;
    em_loop l;
    if (level == 0) {
        chain(w, j, lo, hi);
        return;
    }
    Val each = em_c64(e, size[level - 1]);
    em_loop_begin(e, &l, lo, hi, each, 0, NULL);
    change_level(w, true);
    in_blocks(w, j, size, level - 1, l.i, em_smin(e, ADD(l.i, each), hi));
    change_level(w, false);
    em_loop_end(e, &l, NULL);
}

/* The levels of loop j inside of `outer` levels, of which the smallest blocks come first. */
static unsigned levels_of(const kern *c, uint32_t j, unsigned outer, int64_t *size)
{
    unsigned level = kern_sum_blocks(c, 0, j, 1, size);
    return level < LEVELS - outer ? level : LEVELS - outer;
}

static void all_rows(strip *w, uint32_t j)
{
    kern *c = w->c;
    int64_t size[KERN_SUM_LEVELS];
    unsigned level = levels_of(c, j, w->now + 1, size);
    in_blocks(w, j, size, level, em_c64(c->e, 0), kern_size(c, c->st[0].s->extent[j]));
}

/* The later stages on the finished sums. */
static void finish(strip *w)
{
    kern *c = w->c;
    em *e = c->e;
    em_loop l;
    kctx x = {.u = SIDE};
    em_loop_begin(e, &l, w->lo, w->hi, em_c64(e, (int64_t)SIDE * c->lanes), 0, NULL);
    c->oidx[c->k->nouter - 1] = l.i;
    get(w, l.i);
    for (uint32_t k = 0; k < w->a.n; k++)
        for (unsigned u = 0; u < SIDE; u++)
            c->st[0].red[k][u] = w->a.v[k][u];
    for (uint32_t s = 1; s < c->k->nstage; s++)
        kern_stage(c, s, &x);
    em_loop_end(e, &l, NULL);
}

int64_t kern_reduce_col_side(const kern *c)
{
    return (int64_t)SIDE * c->lanes;
}

void kern_reduce_col(kern *c, Val lo, Val hi)
{
    em *e = c->e;
    strip w = {.c = c, .a.u = SIDE};
    em_loop l;
    int64_t wide = strip_columns(c), size[KERN_SUM_LEVELS];
    unsigned levels = 1;
    for (uint32_t j = 0; j < c->st[0].s->ninner; j++)
        levels += levels_of(c, j, levels, size);
    for (uint32_t r = 0, k = 0; r < c->st[0].s->nred; r++)
        for (uint32_t i = 0; i < c->st[0].s->reds[r].nacc; i++, k++)
            for (unsigned n = 0; n < levels; n++)
                w.sums[n][k] = em_alloca(e, em_type(e, kern_acc_dtype(c, 0, k), c->lanes),
                                         (unsigned)(wide / c->lanes), 64);
    em_loop_begin(e, &l, lo, hi, em_c64(e, wide), 0, NULL);
    w.lo = l.i;
    w.hi = em_smin(e, ADD(l.i, em_c64(e, wide)), hi);
    begin_sums(&w);
    all_rows(&w, 0);
    finish(&w);
    em_loop_end(e, &l, NULL);
}

Val kern_reduce_col_here(kern *c)
{
    em *e = c->e;
    const lz_stage *s = c->st[0].s;
    int64_t from = em_always(e, LZ_VARIANT_col_reduction) ? 0 : MANY_ROWS;
    return ICMP(SGE, kern_size(c, s->extent[s->ninner - 1]), em_c64(e, from));
}
