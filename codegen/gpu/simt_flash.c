/* simt_flash.c - the flash-attention kernel: passes over the KV tiles of a row, online softmax,
 * with the ops between the two GEMMs evaluated on the scores in registers. See simt_flash.h.
 * Threads: belongs to one thread. */
#include "codegen/gpu/simt_flash.h"
#include "base/alloc.h"
#include <math.h>
#include <string.h>

static const kctx one = {.u = 1};
enum { R = FLASH_LANE_ROWS, C = FLASH_LANE_COLUMNS, ACCS = 16 /* of a pass, at most */ };

/* What a pass carries from KV tile to KV tile. */
typedef struct pass {
    uint32_t level; /* of the reductions that it makes */
    bool last;      /* the pass with the second product, or that of the stores */
    bool online, once;
    unsigned nacc, nsum;
    struct {
        uint32_t stage, acc;
    } acc[ACCS];
    Val v[R][ACCS];
    Val shift[R]; /* online: what was subtracted so far */
    Val total[R]; /* online: the sum, relative to what was subtracted */
    Val by[R];    /* by which what was made before is scaled */
    Val sum[FLASH_WIDE_HEAD / 8 * 4];
} pass;

static unsigned flatten(const flash *p, const pass *q, Val *out)
{
    unsigned n = 0;
    for (unsigned r = 0; r < p->rows; r++) {
        for (unsigned i = 0; i < q->nacc; i++)
            out[n++] = q->v[r][i];
        if (q->online)
            out[n++] = q->shift[r];
    }
    for (unsigned i = 0; i < q->nsum; i++)
        out[n++] = q->sum[i];
    return n;
}

static void unflatten(const flash *p, pass *q, const Val *in)
{
    for (unsigned r = 0; r < p->rows; r++) {
        for (unsigned i = 0; i < q->nacc; i++)
            q->v[r][i] = *in++;
        if (q->online)
            q->shift[r] = *in++;
    }
    for (unsigned i = 0; i < q->nsum; i++)
        q->sum[i] = *in++;
}

/* ---- elements ---- */

/* Whether the pass makes reductions of stage s. */
static bool makes(const flash *p, const pass *q, uint32_t s)
{
    uint32_t l = p->f.level[s];
    return p->f.row[s] && p->k->stages[s].nred &&
           (l == q->level || (q->online && l == q->level + 1));
}

/* Whether it evaluates it: all that is needed is known. */
static bool evaluates(const flash *p, const pass *q, uint32_t s)
{
    if (!p->f.row[s])
        return false;
    return q->last || p->f.level[s] <= q->level + (q->online ? 1 : 0);
}

static const lz_red *reduction(const flash *p, const pass *q, unsigned i)
{
    return &p->k->stages[q->acc[i].stage].reds[q->acc[i].acc];
}

/* Stage s at a lane's point r. */
static void at_point(flash *p, uint32_t s, unsigned r)
{
    for (uint32_t t = 1; t < s; t++)
        for (uint32_t i = 0; i < p->k->stages[t].nred; i++)
            if (p->known[t][i][r])
                p->c.st[t].red[i][0] = (Ev){p->known[t][i][r], NULL};
    p->c.oidx[p->k->nouter - 1] = p->at_row[r];
    kern_addresses(&p->c, s, POS_POINT);
    kern_eval(&p->c, s, POS_POINT, &one);
    kern_addresses(&p->c, s, POS_BODY);
    kern_eval(&p->c, s, POS_BODY, &one);
}

static Val column_of(flash *p, Val x0, unsigned c)
{
    em *e = p->e;
    return ADD(ADD(x0, p->column), em_c64(e, flash_column(p, c)));
}

/* The left factor's value, where stage s makes it: as it is before it is rounded to 16 bits, if it
 * is, because that is part of packing. */
static void keep_factor(flash *p, uint32_t s, unsigned r, unsigned c)
{
    const lz_sop *left = p->second.left;
    const lz_stage *st = &p->k->stages[s];
    if ((uint32_t)left->a != s)
        return;
    int32_t v = st->row[left->b], from = lz_converted_from(st, v);
    bool rounds = st->sops[from].dtype == LZ_F32;
    p->factor[r][c] = kern_value(&p->c, s, rounds ? from : v, 0).v;
}

/* An element of the stage; its rows are kept. `in`: whether there is one, or NULL. */
static void element(flash *p, const pass *q, uint32_t s, unsigned r, unsigned c, Val x, Val in)
{
    em *e = p->e;
    kern *k = &p->c;
    const lz_stage *st = &p->k->stages[s];
    k->iidx[0] = x;
    k->st[0].now[0] = (Ev){p->score[r][c], NULL};
    for (uint32_t t = 1; t < s; t++)
        for (uint32_t j = 0; j < p->k->stages[t].nrow; j++)
            k->st[t].now[j] = p->made[t][j][r][c];
    kern_addresses(k, s, POS_INNER);
    kern_eval(k, s, POS_INNER, &one);
    for (uint32_t j = 0; j < st->nrow; j++)
        p->made[s][j][r][c] = kern_value(k, s, st->row[j], 0);
    keep_factor(p, s, r, c);
    if (q->last && st->nstore) {
        em_if f;
        Val here = ICMP(SLT, p->row[r], p->M);
        em_if_begin(e, &f, in ? AND(here, in) : here);
        kern_stores(k, s, &one);
        em_if_end(e, &f, 0, NULL, NULL, NULL);
    }
}

/* Adds the elements of stage s to its accumulators, where the pass makes them. */
static void accumulate(flash *p, pass *q, uint32_t s, unsigned r, Val in)
{
    em *e = p->e;
    for (unsigned i = 0; i < q->nacc; i++) {
        if (q->acc[i].stage != s)
            continue;
        const lz_red *d = reduction(p, q, i);
        lz_dtype t = p->k->stages[s].sops[d->value[0]].dtype;
        Ev acc = {q->v[r][i], NULL}, out, v;
        if (p->c.st[s].skip[d->value[0]]) { /* a product that is added */
            const lz_sop *x = &p->k->stages[s].sops[d->value[0]];
            v.v =
                em_fma(e, kern_value(&p->c, s, x->a, 0).v, kern_value(&p->c, s, x->b, 0).v, acc.v);
            out = v;
        } else {
            v = kern_value(&p->c, s, d->value[0], 0);
            kern_merge(&p->c, d, &acc, &v, &t, &out);
        }
        q->v[r][i] = in ? SEL(in, out.v, acc.v) : out.v;
    }
}

/* ---- reductions ---- */

static unsigned acc_of(const pass *q, uint32_t s)
{
    unsigned i = 0;
    while (q->acc[i].stage != s)
        i++;
    return i;
}

/* Accumulator i of point r, of all lanes that share it, to each of them. */
static void join_lanes(flash *p, pass *q, unsigned i, unsigned r)
{
    const lz_red *d = reduction(p, q, i);
    lz_dtype t = d->acc_dtype[0];
    for (unsigned x = 1; x < (p->f.fma ? 8 : 4); x *= 2) {
        Ev a = {q->v[r][i], NULL}, b = {simt_shuffle_xor(p->s, a.v, x), NULL}, out;
        kern_merge(&p->c, d, &a, &b, &t, &out);
        q->v[r][i] = out.v;
    }
}

static Val exponential(em *e, Val x)
{
    lz_dtype in[1] = {LZ_F32};
    Ev a[1] = {{x, NULL}};
    return lz_emit_ew(e, LZ_OP_EXPONENTIAL, NULL, LZ_F32, in, a).v;
}

/* The maximum of the KV tiles so far has been joined: what is subtracted now, at which the sum's
 * stage stands from here on. It changes only where exponentials would become large: what was made
 * before is seldom scaled. Before there is a number 0 is subtracted: nothing is -inf less -inf;
 * what is NaN or infinite makes NaN of all. */
static void shift_point(flash *p, pass *q, unsigned r)
{
    enum { LARGE = 6 };
    em *e = p->e;
    uint32_t s = p->f.sum_stage;
    Val none = em_cf(e->f32, -INFINITY), zero = em_cf(e->f32, 0), before = q->shift[r];
    p->known[p->f.max_stage][0][r] = q->v[r][acc_of(q, p->f.max_stage)];
    at_point(p, s, r);
    Ev *g = &p->c.st[s].val[p->f.shift][0];
    Val stays = FCMP(OLE, FSUB(g->v, before), em_cf(e->f32, LARGE));
    Val now = SEL(stays, before, g->v), safe = SEL(FCMP(OEQ, now, none), zero, now);
    q->by[r] = SEL(stays, em_cf(e->f32, 1), exponential(e, FSUB(before, safe)));
    unsigned sum = acc_of(q, s);
    q->v[r][sum] = FMUL(q->v[r][sum], q->by[r]);
    q->shift[r] = now;
    g->v = safe;
}

/* The second product's sums so far, where it changed. */
static void scale_sums(flash *p, pass *q)
{
    em *e = p->e;
    em_if f;
    Val some = LLVMConstNull(e->i1), now[EM_PHI];
    for (unsigned r = 0; r < p->rows; r++)
        some = OR(some, FCMP(UNE, q->by[r], em_cf(e->f32, 1)));
    em_if_begin(e, &f, some);
    for (unsigned i = 0; i < q->nsum; i++)
        now[i] = FMUL(q->sum[i], q->by[flash_row_of(p, i)]);
    em_if_end(e, &f, (int)q->nsum, now, q->sum, q->sum);
}

/* ---- a KV tile ---- */

/* All elements of a lane in stage s. The KV tile starts at x0; `edge`: it may be longer than what
 * is left of the row. */
static void stage_elements(flash *p, pass *q, uint32_t s, Val x0, bool edge)
{
    em *e = p->e;
    Val N = p->first.N, last = SUB(N, em_c64(e, 1));
    for (unsigned r = 0; r < p->rows; r++) {
        if (q->online && s == p->f.sum_stage)
            shift_point(p, q, r);
        else
            at_point(p, s, r);
        for (unsigned c = 0; c < p->columns; c++) {
            Val x = column_of(p, x0, c), in = edge ? ICMP(SLT, x, N) : NULL;
            element(p, q, s, r, c, edge ? em_smin(e, x, last) : x, in);
            accumulate(p, q, s, r, in);
        }
        em_cut(e);
    }
}

/* What the second product multiplies; past the end of the row 0. */
static void take_factor(flash *p, bool edge, Val x0)
{
    em *e = p->e;
    for (unsigned r = 0; r < p->rows && edge; r++)
        for (unsigned c = 0; c < p->columns; c++)
            p->factor[r][c] =
                SEL(ICMP(SLT, column_of(p, x0, c), p->first.N), p->factor[r][c], em_cf(e->f32, 0));
}

/* Stages of rows, in order. */
static void stages(flash *p, pass *q, Val x0, bool edge)
{
    for (uint32_t s = 1; s < p->k->nstage; s++) {
        if (!evaluates(p, q, s))
            continue;
        if (q->online && s == p->f.max_stage) {
            stage_elements(p, q, s, x0, edge);
            for (unsigned r = 0; r < p->rows; r++)
                join_lanes(p, q, acc_of(q, s), r);
            continue;
        }
        stage_elements(p, q, s, x0, edge);
    }
}

static void kv_tile(flash *p, pass *q, Val index, bool edge)
{
    em *e = p->e;
    Val x0 = MUL(index, em_c64(e, FLASH_ROW));
    flash_scores(p, index, q->last);
    stages(p, q, x0, edge);
    if (!q->last)
        return;
    if (q->once)
        scale_sums(p, q);
    take_factor(p, edge, x0);
    flash_multiply(p, index, q->sum);
}

/* ---- a pass ---- */

static void find_accs(const flash *p, pass *q)
{
    for (uint32_t s = 1; s < p->k->nstage; s++)
        for (uint32_t i = 0; i < p->k->stages[s].nred && makes(p, q, s); i++) {
            q->acc[q->nacc].stage = s;
            q->acc[q->nacc++].acc = i;
        }
}

static void start_accs(flash *p, pass *q)
{
    em *e = p->e;
    Val none = em_cf(e->f32, -INFINITY);
    for (unsigned r = 0; r < p->rows; r++) {
        q->shift[r] = none;
        if (q->online)
            p->known[p->f.max_stage][0][r] = none;
        for (unsigned i = 0; i < q->nacc; i++) {
            uint32_t s = q->acc[i].stage;
            const lz_red *d = reduction(p, q, i);
            lz_dtype t = p->k->stages[s].sops[d->init[0]].dtype;
            at_point(p, s, r);
            q->v[r][i] = lz_emit_cast(e, d->acc_dtype[0], t, kern_value(&p->c, s, d->init[0], 0)).v;
        }
        if (q->once) /* as if the sum were 1; it divides in the end */
            p->known[p->f.sum_stage][0][r] = em_cf(e->f32, 1);
    }
    for (unsigned i = 0; i < q->nsum; i++)
        q->sum[i] = em_cf(e->f32, 0);
}

/* The sum relative to the maximum of the whole row. Where all exponents are -inf they are NaN in
 * truth, and so is their sum. */
static Val whole_sum(flash *p, pass *q, unsigned r, Val sum)
{
    em *e = p->e;
    uint32_t s = p->f.sum_stage;
    q->total[r] = SEL(FCMP(OEQ, q->shift[r], em_cf(e->f32, -INFINITY)), em_cf(e->f32, NAN), sum);
    p->known[p->f.max_stage][0][r] = q->v[r][acc_of(q, p->f.max_stage)];
    at_point(p, s, r);
    Val g = p->c.st[s].val[p->f.shift][0].v;
    return FMUL(q->total[r], exponential(e, FSUB(q->shift[r], g)));
}

/* The reductions are known. */
static void known_reductions(flash *p, pass *q)
{
    for (unsigned r = 0; r < p->rows; r++)
        for (unsigned i = 0; i < q->nacc; i++) {
            uint32_t s = q->acc[i].stage;
            if (!(q->online && s == p->f.max_stage))
                join_lanes(p, q, i, r);
            bool sum = q->online && s == p->f.sum_stage;
            p->known[s][q->acc[i].acc][r] = sum ? whole_sum(p, q, r, q->v[r][i]) : q->v[r][i];
        }
}

/* Whether what the pass makes ends in 16 bits, or in a sum of many. */
static bool is_rough(const flash *p, const pass *q)
{
    bool exact = p->f.fma;
    for (uint32_t s = 1; s < p->k->nstage && q->last; s++)
        for (uint32_t j = 0; p->f.row[s] && j < p->k->stages[s].nstore; j++)
            exact |= lz_dtype_size(p->k->buf[p->k->stages[s].stores[j].at.buf].dtype) > 2;
    return !exact;
}

static void run_pass(flash *p, pass *q)
{
    em *e = p->e;
    e->quick = is_rough(p, q);
    Val now[EM_PHI], was[EM_PHI];
    em_loop l;
    em_if rest;
    find_accs(p, q);
    q->nsum = q->last ? flash_sums(p) : 0;
    start_accs(p, q);
    flash_prologue(p, q->last);
    int n = (int)flatten(p, q, now);
    Val whole = LSHR(p->first.N, em_c64(e, 6));
    em_loop_begin(e, &l, em_c64(e, 0), whole, em_c64(e, 1), n, now);
    unflatten(p, q, l.phi);
    kv_tile(p, q, l.i, false);
    flatten(p, q, now);
    em_loop_end(e, &l, now);
    memcpy(was, l.phi, (size_t)n * sizeof *was);
    unflatten(p, q, was);
    em_if_begin(e, &rest, ICMP(SLT, whole, p->total));
    kv_tile(p, q, whole, true);
    flatten(p, q, now);
    em_if_end(e, &rest, n, now, was, now);
    unflatten(p, q, now);
    known_reductions(p, q);
    e->quick = false;
    simt_cp_async_wait(p->s, 0);
    simt_barrier(p->s); /* the multistage buffer is free */
}

/* ---- results ---- */

/* The sums were made with numerators. */
static void divide(flash *p, pass *q)
{
    em *e = p->e;
    Val by[R];
    if (!q->once)
        return;
    for (unsigned r = 0; r < p->rows; r++)
        by[r] = FDIV(em_cf(e->f32, 1), q->total[r]);
    for (unsigned i = 0; i < q->nsum; i++)
        q->sum[i] = FMUL(q->sum[i], by[flash_row_of(p, i)]);
}

/* Whether a thread of the block says so, to all. */
static Val any_thread(flash *p, Val yes)
{
    em *e = p->e;
    em_if f;
    simt_barrier(p->s);
    em_store(e, em_c32(e, 0), p->s->shared, 4);
    simt_barrier(p->s);
    em_if_begin(e, &f, yes);
    em_store(e, em_c32(e, 1), p->s->shared, 4);
    em_if_end(e, &f, 0, NULL, NULL, NULL);
    simt_barrier(p->s);
    Val any = em_load(e, e->i32, p->s->shared, 4);
    simt_barrier(p->s);
    return ICMP(NE, any, em_c32(e, 0));
}

/* Whether the point's sums, divided in the end, are what they are with quotients: not where the sum
 * of exponentials is 0 or NaN. Numerators of 16 bits must have been in the range of these, too.
 * They were not too large if the second product's sums are numbers. A numerator below the normal
 * ones is rounded by as much as a quotient there would be, and divided afterwards: by 1 or more,
 * unless something else than the maximum is subtracted. */
static Val divides_well(flash *p, const pass *q, unsigned r)
{
    em *e = p->e;
    Val x = q->total[r], good = FCMP(OLT, x, em_cf(e->f32, INFINITY)), zero = em_cf(e->f32, 0);
    if (p->f.fma)
        return AND(good, FCMP(OGT, x, zero));
    Val none = zero; /* NaN where one is not a number */
    for (unsigned i = 0; i < q->nsum; i++)
        if (flash_row_of(p, i) == r)
            none = em_fma(e, q->sum[i], zero, none);
    return AND(good, AND(FCMP(OGE, x, em_cf(e->f32, 1)), FCMP(OEQ, none, zero)));
}

/* Where a point's sums were not to be divided in the end, the block makes the second product again,
 * with what it knows now. */
static void make_anew(flash *p, pass *q)
{
    em *e = p->e;
    em_if f;
    Val some = LLVMConstNull(e->i1), was[EM_PHI];
    for (unsigned r = 0; r < p->rows; r++)
        some = OR(some, NOT(divides_well(p, q, r)));
    memcpy(was, q->sum, q->nsum * sizeof *was);
    em_if_begin(e, &f, any_thread(p, some));
    pass again = {.last = true, .level = p->f.levels};
    run_pass(p, &again);
    em_if_end(e, &f, (int)q->nsum, again.sum, was, q->sum);
}

static void store_sums(flash *p, const pass *q, uint32_t s)
{
    em *e = p->e;
    kern *k = &p->c;
    for (unsigned r = 0; r < p->rows; r++) {
        at_point(p, s, r);
        Val here = ICMP(SLT, p->row[r], p->M);
        for (unsigned i = 0; i < q->nsum; i++) {
            em_if f;
            if (flash_row_of(p, i) != r)
                continue;
            Val x = ADD(p->sum_column, em_c64(e, flash_column_of(p, i)));
            em_if_begin(e, &f, AND(here, ICMP(SLT, x, p->second.N)));
            k->iidx[0] = x;
            k->st[p->f.second].now[0] = (Ev){q->sum[i], NULL};
            kern_addresses(k, s, POS_INNER);
            kern_eval(k, s, POS_INNER, &one);
            kern_stores(k, s, &one);
            em_if_end(e, &f, 0, NULL, NULL, NULL);
        }
    }
}

/* Stages without loops: what reductions gave, by one of the lanes that share the point. */
static void store_reductions(flash *p, uint32_t s)
{
    em *e = p->e;
    for (unsigned r = 0; r < p->rows; r++) {
        em_if f;
        Val mine = ICMP(EQ, AND(p->lane, em_c64(e, p->f.fma ? 7 : 3)), em_c64(e, 0));
        em_if_begin(e, &f, AND(mine, ICMP(SLT, p->row[r], p->M)));
        at_point(p, s, r);
        kern_stores(&p->c, s, &one);
        em_if_end(e, &f, 0, NULL, NULL, NULL);
    }
}

static void results(flash *p, pass *q)
{
    for (uint32_t s = 1; s < p->k->nstage; s++) {
        const lz_stage *st = &p->k->stages[s];
        if (s == p->f.second || !st->nstore)
            continue;
        if (!st->ninner)
            store_reductions(p, s);
        else if (!p->f.row[s])
            store_sums(p, q, s);
    }
}

/* ---- the kernel ---- */

static void enter(flash *p)
{
    em *e = p->e;
    p->lane = AND(p->s->tid, em_c64(e, SIMT_WARP - 1));
    p->warp = LSHR(p->s->tid, em_c64(e, 5));
    Val low = AND(p->lane, em_c64(e, 7)), wide = SHL(low, em_c64(e, 2));
    p->column = p->sum_column = SHL(AND(p->lane, em_c64(e, 3)), em_c64(e, 1));
    if (p->f.fma) {
        p->column = p->first.by_k ? low : wide;
        p->sum_column = p->second.by_k ? low : wide;
    }
    p->M = kern_size(&p->c, p->k->outer[p->k->nouter - 1]);
    flash_product_top(p, &p->first, 0);
    flash_product_top(p, &p->second, p->f.second);
    p->total = LSHR(ADD(p->first.N, em_c64(e, FLASH_ROW - 1)), em_c64(e, 6));
    for (uint32_t s = 1; s < p->k->nstage; s++)
        if (s != p->f.second) {
            kern_addresses(&p->c, s, POS_TOP);
            kern_eval(&p->c, s, POS_TOP, &one);
        }
}

static void run_block(flash *p, Val r0)
{
    em *e = p->e;
    Val first = ADD(r0, MUL(p->warp, em_c64(e, FLASH_TILE * p->tiles)));
    first = ADD(first, LSHR(p->lane, em_c64(e, p->f.fma ? 3 : 2)));
    for (unsigned r = 0; r < p->rows; r++) {
        p->row[r] = ADD(first, em_c64(e, (p->f.fma ? 4 : 8) * r));
        p->at_row[r] = em_smin(e, p->row[r], SUB(p->M, em_c64(e, 1)));
    }
    for (uint32_t s = 1; s < p->k->nstage; s++)
        if (s != p->f.second) {
            kern_addresses(&p->c, s, POS_ROW);
            kern_eval(&p->c, s, POS_ROW, &one);
        }
    flash_product_enter(p, &p->first);
    flash_product_enter(p, &p->second);
    flash_take_left(p, r0);
    pass q = {0};
    for (uint32_t l = 0; l < p->f.levels && !p->f.once; l += q.online ? 2 : 1) {
        q = (pass){.level = l, .online = p->f.online && l == 0};
        run_pass(p, &q);
    }
    q = (pass){.last = true, .level = p->f.once ? 0 : p->f.levels, .once = p->f.once};
    q.online = q.once;
    run_pass(p, &q);
    divide(p, &q);
    if (p->f.checks && p->f.once)
        make_anew(p, &q);
    results(p, &q);
}

static void emit_grid(flash *p)
{
    em *e = p->e;
    uint32_t m = p->k->nouter - 1;
    Val size[LZ_OUTER_MAX], batch = em_c64(e, 1);
    em_loop l;
    for (uint32_t d = 0; d < m; d++)
        batch = MUL(batch, size[d] = kern_size(&p->c, p->k->outer[d]));
    Val points = p->points = p->tiles == 1 ? LSHR(p->s->ntid, em_c64(e, 1)) : p->s->ntid;
    Val blocks = simt_udiv(e, ADD(p->M, SUB(points, em_c64(e, 1))), points);
    em_loop_begin(e, &l, p->s->ctaid, MUL(batch, blocks), p->s->nctaid, 0, NULL);
    Val at = simt_udiv(e, l.i, blocks);
    simt_split(e, at, size, m, p->c.oidx);
    run_block(p, MUL(SUB(l.i, MUL(at, blocks)), points));
    em_loop_end(e, &l, NULL);
}

lz_status simt_flash_function(simt *s)
{
    flash *p = lz_calloc(1, sizeof *p);
    if (!p)
        return LZ_FAIL(LZ_EMEM, "code generation of '%s': no memory", s->k->name);
    p->s = s;
    p->e = s->e;
    p->k = s->k;
    p->head = flash_head(s->entry);
    p->wgmma = s->entry == SIMT_FLASH_WGMMA;
    lz_status st =
        flash_pattern_of(s->k, &p->f) ? kern_init_scalar(&p->c, s->e, s->k) : LZ_EINTERNAL;
    p->tiles = flash_tiles(&p->f, s->entry);
    p->rows = (p->f.fma ? 4 : 2) * p->tiles;
    p->columns = FLASH_ROW / (p->f.fma ? 8 : 4);
    if (st == LZ_OK)
        st = flash_product_init(p, &p->first, 0, FLASH_ROW, p->head);
    if (st == LZ_OK)
        st = flash_product_init(p, &p->second, p->f.second, p->head, FLASH_ROW);
    if (st == LZ_OK) {
        simt_begin(s, &p->c);
        enter(p);
        emit_grid(p);
        LLVMBuildRetVoid(s->e->b);
    }
    for (flash_product *d = &p->first; d <= &p->second; d++) {
        kern_done(&d->a);
        kern_done(&d->b);
        kern_done(&d->many);
    }
    kern_done(&p->c);
    lz_free(p);
    return st;
}
