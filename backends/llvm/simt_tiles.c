/* simt_tiles.c - a product of matrices: a block of 256 threads per 64 x 64 tile of the result, 16 of k at a time in shared memory.
 * A thread has 4 x 4 results in registers, at rows and columns 16 apart, so its neighbours read neighbouring columns. The factors are evaluated
 * where they are put into shared memory (a prologue runs once per element of a tile), the later stages on the sums. Rows, columns and k past
 * the end are zeros. Sums run over k in order. Threads: belongs to one thread. */
#include "backends/llvm/simt_kern.h"
#include "lower/loop_impl.h"
#include <string.h>

enum { TILE = 64, KSTEP = 16, SIDE = 16, EACH = TILE / SIDE, THREADS = SIDE * SIDE };

typedef struct tiles {
    simt *s;
    em *e;
    const lz_kernel *k;
    lz_dtype d; /* of the sums */
    Ty elem;
    unsigned esize;
    uint32_t m, n, ki; /* loops; ki: the last inner one */
    kern a, b, c;      /* evaluation of the factors and of the later stages */
    Val M, N, K;
    Val row, column; /* of the thread in its tile: 0..15 */
} tiles;

bool simt_tiles_suit(const lz_kernel *k)
{
    if (!kern_dot_form(k) || lz_simt_args_in_memory(k))
        return false;
    lz_sz m = k->outer[k->dot.m], n = k->outer[k->dot.n]; /* thin ones have no use for tiles */
    return (m.slot >= 0 || m.v > 8) && (n.slot >= 0 || n.v > 8);
}

static int64_t parts(int64_t n)
{
    return n / TILE + (n % TILE != 0);
}

void simt_tiles_dims(const lz_kernel *k, const int64_t *args, uint32_t most, lz_simt_dims *out)
{
    int64_t n = 1;
    for (uint32_t d = 0; d < k->nouter; d++) {
        int64_t x = lz_sz_value(k->outer[d], args);
        if (!lz_mul_i64(n, d == k->dot.m || d == k->dot.n ? parts(x) : x, &n))
            n = INT64_MAX;
    }
    out->block = THREADS;
    out->grid = n < most ? (uint32_t)n : most;
    out->shared = 2 * TILE * KSTEP * (uint32_t)lz_dtype_size(k->stages[0].reds[0].acc_dtype[0]);
}

/* ---- a step of k into shared memory ---- */

/* Element (k, x) of a factor's tile: x along the result. */
static Val place(tiles *t, int64_t start, Val k, Val x)
{
    em *e = t->e;
    Val at = ADD(MUL(k, em_c64(e, TILE)), x);
    return simt_shared_at(t->s, at, t->esize, start);
}

/* Whether the factor's loads are contiguous along k rather than along the result: threads side by side then take k side by side. */
static bool along_k(const tiles *t, const kern *f, uint32_t loop)
{
    const lz_stage *st = f->st[0].s;
    for (uint32_t i = 0; i < st->nacc; i++)
        if (kern_sz_is(st->accs[i].stride[t->k->nouter + t->ki], 1) &&
            !kern_sz_is(st->accs[i].stride[loop], 1))
            return true;
    return false;
}

/* The factor f along outer loop `loop`, from x0 of nx and k0 of nk, to shared memory at `start`. */
static void fill(tiles *t, kern *f, uint32_t loop, int32_t sop, Val x0, Val nx, Val k0, Val nk,
                 int64_t start)
{
    static const kctx one = {.u = 1};
    em *e = t->e;
    bool by_k = along_k(t, f, loop);
    int64_t fast = by_k ? KSTEP : TILE;
    uint32_t loops = (1u << (t->k->nouter + f->st[0].s->ninner)) - 1;
    for (int i = 0; i < TILE * KSTEP / THREADS; i++) {
        Val q = ADD(t->s->tid, em_c64(e, i * THREADS));
        Val quick = AND(q, em_c64(e, fast - 1)), slow = LLVMBuildUDiv(e->b, q, em_c64(e, fast), "");
        Val k = by_k ? quick : slow, x = by_k ? slow : quick;
        Val there = AND(ICMP(SLT, ADD(x0, x), nx), ICMP(SLT, ADD(k0, k), nk)), zero, v, out;
        em_if in;
        em_if_begin(e, &in, there);
        f->oidx[loop] = ADD(x0, x);
        f->iidx[t->ki] = ADD(k0, k);
        kern_advance(f, 0, POS_TOP, POS_POINT, loops & ~(1u << (loop == t->m ? t->n : t->m)));
        kern_eval(f, 0, POS_POINT, &one);
        v = kern_value(f, 0, sop, 0).v;
        zero = LLVMConstNull(t->elem);
        em_if_end(e, &in, 1, &v, &zero, &out);
        em_store(e, out, place(t, start, k, x), t->esize);
    }
}

/* ---- sums ---- */

static Val multiply_add(tiles *t, Val a, Val b, Val sum)
{
    em *e = t->e;
    return lz_dtype_is_float(t->d) ? em_fma(e, a, b, sum) : ADD(MUL(a, b), sum);
}

static void add_step(tiles *t, Val *sum)
{
    em *e = t->e;
    int64_t second = (int64_t)TILE * KSTEP * t->esize;
    em_loop l;
    em_loop_begin(e, &l, em_c64(e, 0), em_c64(e, KSTEP), em_c64(e, 1), EACH * EACH, sum);
    Val a[EACH], b[EACH], next[EACH * EACH];
    for (int i = 0; i < EACH; i++) {
        Val by = em_c64(e, i * SIDE);
        a[i] = em_load(e, t->elem, place(t, 0, l.i, ADD(t->row, by)), t->esize);
        b[i] = em_load(e, t->elem, place(t, second, l.i, ADD(t->column, by)), t->esize);
    }
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++)
            next[i * EACH + j] = multiply_add(t, a[i], b[j], l.phi[i * EACH + j]);
    em_loop_end(e, &l, next);
    for (int i = 0; i < EACH * EACH; i++)
        sum[i] = l.phi[i];
}

/* All of k: the inner loops but the last as they are, the last one in steps. */
static void add_inner(tiles *t, uint32_t j, Val m0, Val n0, Val *sum)
{
    em *e = t->e;
    em_loop l;
    bool last = j == t->ki;
    em_loop_begin(e, &l, em_c64(e, 0), kern_size(&t->c, t->k->stages[0].extent[j]),
                  em_c64(e, last ? KSTEP : 1), EACH * EACH, sum);
    for (int i = 0; i < EACH * EACH; i++)
        sum[i] = l.phi[i];
    t->a.iidx[j] = t->b.iidx[j] = l.i;
    if (last) {
        simt_barrier(t->s); /* the last step has been read */
        fill(t, &t->a, t->m, t->k->dot.a_sop, m0, t->M, l.i, t->K, 0);
        fill(t, &t->b, t->n, t->k->dot.b_sop, n0, t->N, l.i, t->K,
             (int64_t)TILE * KSTEP * t->esize);
        simt_barrier(t->s);
        add_step(t, sum);
    } else {
        add_inner(t, j + 1, m0, n0, sum);
    }
    em_loop_end(e, &l, sum);
    for (int i = 0; i < EACH * EACH; i++)
        sum[i] = l.phi[i];
}

/* ---- the later stages ---- */

static void finish_point(tiles *t, Val row, Val column, Val sum)
{
    static const kctx one = {.u = 1};
    em *e = t->e;
    kern *c = &t->c;
    em_if in;
    em_if_begin(e, &in, AND(ICMP(SLT, row, t->M), ICMP(SLT, column, t->N)));
    c->oidx[t->m] = row;
    c->oidx[t->n] = column;
    c->st[0].red[0][0] = (Ev){sum, NULL};
    for (uint32_t s = 1; s < t->k->nstage; s++) {
        kern_addresses(c, s, POS_ROW);
        kern_eval(c, s, POS_ROW, &one);
    }
    for (uint32_t s = 1; s < t->k->nstage; s++)
        kern_stage(c, s, &one);
    em_if_end(e, &in, 0, NULL, NULL, NULL);
}

/* Tile number `tile`, the columns' fastest. */
static void emit_tile(tiles *t, Val tile)
{
    em *e = t->e;
    Val size[LZ_OUTER_MAX], at[LZ_OUTER_MAX], up = em_c64(e, TILE - 1);
    for (uint32_t d = 0; d < t->k->nouter; d++) {
        size[d] = kern_size(&t->c, t->k->outer[d]);
        if (d == t->m || d == t->n)
            size[d] = LSHR(ADD(size[d], up), em_c64(e, 6));
    }
    simt_split(e, tile, size, t->k->nouter, at);
    for (uint32_t d = 0; d < t->m; d++)
        t->a.oidx[d] = t->b.oidx[d] = t->c.oidx[d] = at[d];
    Val m0 = MUL(at[t->m], em_c64(e, TILE)), n0 = MUL(at[t->n], em_c64(e, TILE));
    Val sum[EACH * EACH];
    for (int i = 0; i < EACH * EACH; i++)
        sum[i] = lz_dtype_is_float(t->d) ? em_cf(t->elem, 0) : LLVMConstNull(t->elem);
    add_inner(t, 0, m0, n0, sum);
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++)
            finish_point(t, ADD(ADD(m0, t->row), em_c64(e, i * SIDE)),
                         ADD(ADD(n0, t->column), em_c64(e, j * SIDE)), sum[i * EACH + j]);
}

static void emit(tiles *t)
{
    static const kctx one = {.u = 1};
    em *e = t->e;
    const lz_kernel *k = t->k;
    kern *all[3] = {&t->c, &t->a, &t->b};
    simt_begin(t->s, &t->c);
    for (int i = 1; i < 3; i++) {
        memcpy(all[i]->buf, t->c.buf, sizeof t->c.buf);
        memcpy(all[i]->size, t->c.size, k->narg * sizeof *t->c.size);
        kern_addresses(all[i], 0, POS_TOP);
        kern_eval(all[i], 0, POS_TOP, &one);
    }
    for (uint32_t s = 1; s < k->nstage; s++) {
        kern_addresses(&t->c, s, POS_TOP);
        kern_eval(&t->c, s, POS_TOP, &one);
    }
    t->M = kern_size(&t->c, k->outer[t->m]);
    t->N = kern_size(&t->c, k->outer[t->n]);
    t->K = kern_size(&t->c, k->stages[0].extent[t->ki]);
    t->row = LSHR(t->s->tid, em_c64(e, 4));
    t->column = AND(t->s->tid, em_c64(e, SIDE - 1));
    Val n = em_c64(e, 1), up = em_c64(e, TILE - 1);
    for (uint32_t d = 0; d < k->nouter; d++) {
        Val x = kern_size(&t->c, k->outer[d]);
        n = MUL(n, d == t->m || d == t->n ? LSHR(ADD(x, up), em_c64(e, 6)) : x);
    }
    em_loop l;
    em_loop_begin(e, &l, t->s->ctaid, n, t->s->nctaid, 0, NULL);
    emit_tile(t, l.i);
    em_loop_end(e, &l, NULL);
    LLVMBuildRetVoid(e->b);
}

lz_status simt_emit_tiles(simt *s)
{
    const lz_kernel *k = s->k;
    const lz_stage *st = &k->stages[0];
    tiles t = {.s = s, .e = s->e, .k = k, .m = k->dot.m, .n = k->dot.n, .ki = st->ninner - 1};
    t.d = st->reds[0].acc_dtype[0];
    t.elem = em_type(s->e, t.d, 1);
    t.esize = em_bits(s->e, t.elem) / 8;
    uint32_t kd = k->nouter + t.ki;
    lz_status r = kern_init_factor(&t.a, s->e, k, 1, kd, k->dot.a_sop);
    if (r == LZ_OK)
        r = kern_init_factor(&t.b, s->e, k, 1, kd, k->dot.b_sop);
    if (r == LZ_OK)
        r = kern_init_scalar(&t.c, s->e, k);
    if (r == LZ_OK)
        emit(&t);
    kern_done(&t.a);
    kern_done(&t.b);
    kern_done(&t.c);
    return r;
}
