/* simt_b2b_mma.c - back-to-back GEMMs: a product whose left operand, or result, is rows in shared
 * memory. See simt_b2b.h.
 * Threads: belongs to one thread. */
#include "codegen/gpu/simt_b2b.h"
#include <string.h>

static const kctx one_vector = {.u = 1};
enum {
    PAD =
        8 /* of rows of 16-bit elements, which instructions read 8 at a time from different banks */
};

Val b2b_shared(b2b *b, Val byte)
{
    return em_at(b->e, b->s->shared, byte, 1);
}

/* ---- form ---- */

static void choose_instruction(b2b_product *p)
{
    const lz_stage *st = &p->stage;
    int32_t a = lz_converted_from(st, p->a_sop), b = lz_converted_from(st, p->b_sop);
    lz_dtype d = st->sops[a].dtype;
    if (d != st->sops[b].dtype || lz_dtype_size(d) != 2)
        return;
    p->mma = simt_mma_of(d, p->acc);
    if (p->mma) {
        p->a_sop = a;
        p->b_sop = b;
        p->es = 2;
    }
}

lz_status b2b_product_init(b2b *b, uint32_t s)
{
    b2b_product *p = b->p[s] = lz_arena_alloc(&b->arena, sizeof *p);
    if (!p)
        return LZ_FAIL(LZ_EMEM, "code generation of '%s': no memory", b->k->name);
    p->left = kern_product_view(b->k, s, &p->view, &p->stage);
    p->acc = b->k->stages[s].reds[0].acc_dtype[0];
    p->es = kern_row_esize(p->acc);
    p->a_sop = lz_kernel_dot(&p->view)->a_sop;
    p->b_sop = lz_kernel_dot(&p->view)->b_sop;
    choose_instruction(p);
    uint32_t kd = p->view.nouter, n = lz_kernel_dot(&p->view)->n;
    p->lanes = 16 / p->es;
    if (!p->left)
        LZ_TRY(kern_init_factor(&p->a, b->e, &p->view, 1, kd, p->a_sop));
    LZ_TRY(kern_init_factor(&p->b, b->e, &p->view, 1, kd, p->b_sop));
    p->by_k = kern_loads_along(p->b.st[0].s, p->b.st[0].skip, kd, n);
    LZ_TRY(kern_init_factor(&p->many, b->e, &p->view, p->lanes, p->by_k ? kd : n, p->b_sop));
    p->many.aligned = true;
    p->vectors = simt_vectors_suit(&p->many, 0) && p->many.st[0].vec[p->b_sop];
    return LZ_OK;
}

void b2b_product_top(b2b *b, uint32_t s)
{
    b2b_product *p = b->p[s];
    kern *all[3] = {&p->b, p->vectors ? &p->many : NULL, p->left ? NULL : &p->a};
    for (int i = 0; i < 3; i++) {
        if (!all[i])
            continue;
        kern_share(all[i], &b->c);
        kern_top(all[i], 0);
    }
    p->N = kern_size(&b->c, b->k->stages[s].extent[0]);
    p->K = kern_size(&b->c, b->k->stages[s].extent[1]);
    if (p->vectors)
        p->aligned = simt_vectors_aligned(&p->many, 0);
}

/* The factor's value, the loops of the batch, loop x and k being what they are. */
static void evaluate(b2b *b, b2b_product *p, kern *f, uint32_t x, Val xi, Val ki)
{
    uint32_t batch = (1u << (b->k->nouter - 1)) - 1;
    memcpy(f->oidx, b->c.oidx, (b->k->nouter - 1) * sizeof(Val));
    f->oidx[x] = xi;
    f->iidx[0] = ki;
    kern_advance(f, 0, POS_TOP, POS_POINT, batch | 1u << x | 1u << p->view.nouter);
    kern_eval(f, 0, POS_POINT, &one_vector);
}

/* ---- the left factor ---- */

static unsigned left_area(const b2b *b, uint32_t s)
{
    const b2b_product *p = b->p[s];
    return p->left ? b->l.slots.of[p->left->a][p->left->b] : (unsigned)b->l.packed[s];
}

static Val point_at(b2b *b, unsigned area, Val point, Val index, unsigned es)
{
    em *e = b->e;
    Val at = ADD(b->base[area], MUL(point, b->pitch[area]));
    return b2b_shared(b, ADD(at, MUL(index, em_c64(e, es))));
}

/* All elements of n points, to the end of the last k-tile: there they are 0. */
static void pack_left(b2b *b, uint32_t s, Val r0, Val n)
{
    em *e = b->e;
    b2b_product *p = b->p[s];
    unsigned es = kern_row_esize(p->acc), area = left_area(b, s);
    Val whole = AND(ADD(p->K, em_c64(e, B2B_STEP - 1)), em_c64(e, -B2B_STEP));
    Val first = p->left ? p->K : em_c64(e, 0), each = SUB(whole, first);
    em_loop l;
    em_if some, in;
    em_if_begin(e, &some, ICMP(SGT, each, em_c64(e, 0)));
    em_loop_begin(e, &l, b->s->tid, MUL(n, each), em_c64(e, B2B_THREADS), 0, NULL);
    Val m = simt_udiv(e, l.i, each), k = ADD(first, SUB(l.i, MUL(m, each)));
    Val zero = em_cf(em_type(e, p->acc, 1), 0), v = zero;
    if (!p->left) {
        Val x;
        em_if_begin(e, &in, ICMP(SLT, k, p->K));
        evaluate(b, p, &p->a, lz_kernel_dot(&p->view)->m, ADD(r0, m), k);
        x = kern_value(&p->a, 0, p->a_sop, 0).v;
        em_if_end(e, &in, 1, &x, &zero, &v);
    }
    em_store(e, v, point_at(b, area, m, k, es), es);
    em_loop_end(e, &l, NULL);
    em_if_end(e, &some, 0, NULL, NULL, NULL);
}

/* ---- the right factor ---- */

/* Byte of element (n, k) of a k-tile. */
static Val place(b2b *b, const b2b_product *p, Val n, Val k)
{
    em *e = b->e;
    Val i;
    if (p->mma && p->by_k)
        i = ADD(MUL(n, em_c64(e, B2B_STEP + PAD)), k);
    else if (p->mma)
        i = ADD(MUL(k, em_c64(e, B2B_COLUMNS + PAD)), n);
    else
        i = ADD(MUL(k, em_c64(e, B2B_COLUMNS + (p->by_k ? 1 : 4))), n);
    return MUL(i, em_c64(e, p->es));
}

static Val in_piece(b2b *b, const b2b_product *p, Val v)
{
    return p->mma ? em_to_mem(b->e, p->mma->d, v) : v;
}

static void put_element(b2b *b, b2b_product *p, Val n0, Val k0, Val n, Val k)
{
    em *e = b->e;
    Val at = ADD(n0, n), ki = ADD(k0, k), x, out;
    Val zero = LLVMConstNull(p->mma ? e->i16 : em_type(e, p->acc, 1));
    em_if in;
    em_if_begin(e, &in, AND(ICMP(SLT, at, p->N), ICMP(SLT, ki, p->K)));
    evaluate(b, p, &p->b, lz_kernel_dot(&p->view)->n, at, ki);
    x = in_piece(b, p, kern_value(&p->b, 0, p->b_sop, 0).v);
    em_if_end(e, &in, 1, &x, &zero, &out);
    em_store(e, out, b2b_shared(b, place(b, p, n, k)), p->es);
}

static void put_vector(b2b *b, b2b_product *p, Val n0, Val k0, Val n, Val k)
{
    em *e = b->e;
    evaluate(b, p, &p->many, lz_kernel_dot(&p->view)->n, ADD(n0, n), ADD(k0, k));
    Val v = in_piece(b, p, kern_vector(&p->many, 0, p->b_sop, 0).v);
    if (p->mma || !p->by_k) {
        em_store(e, v, b2b_shared(b, place(b, p, n, k)), 16);
        return;
    }
    for (unsigned i = 0; i < p->lanes; i++) {
        Val at = place(b, p, n, ADD(k, em_c64(e, i)));
        em_store(e, em_extract(e, v, i), b2b_shared(b, at), p->es);
    }
}

/* Columns n0 .. and k0 .. of it. */
static void fill_piece(b2b *b, b2b_product *p, Val n0, Val k0)
{
    em *e = b->e;
    unsigned lanes = p->vectors ? p->lanes : 1;
    unsigned quick = (p->by_k ? B2B_STEP : B2B_COLUMNS) / lanes;
    em_loop l, j;
    em_ifelse which;
    em_loop_begin(e, &l, b->s->tid, em_c64(e, B2B_STEP * B2B_COLUMNS / lanes),
                  em_c64(e, B2B_THREADS), 0, NULL);
    Val q = MUL(AND(l.i, em_c64(e, quick - 1)), em_c64(e, lanes)),
        slow = LLVMBuildUDiv(e->b, l.i, em_c64(e, quick), "");
    Val n = p->by_k ? slow : q, k = p->by_k ? q : slow, last = em_c64(e, lanes - 1);
    if (!p->vectors) {
        put_element(b, p, n0, k0, n, k);
        em_loop_end(e, &l, NULL);
        return;
    }
    Val n_end = ADD(n0, p->by_k ? n : ADD(n, last)), k_end = ADD(k0, p->by_k ? ADD(k, last) : k);
    Val inside = AND(ICMP(SLT, n_end, p->N), ICMP(SLT, k_end, p->K));
    em_ifelse_begin(e, &which, AND(p->aligned, inside));
    put_vector(b, p, n0, k0, n, k);
    em_ifelse_else(e, &which);
    em_loop_begin(e, &j, em_c64(e, 0), em_c64(e, lanes), em_c64(e, 1), 0, NULL);
    put_element(b, p, n0, k0, p->by_k ? n : ADD(n, j.i), p->by_k ? ADD(k, j.i) : k);
    em_loop_end(e, &j, NULL);
    em_ifelse_end(e, &which, 0, NULL, NULL, NULL);
    em_loop_end(e, &l, NULL);
}

/* ---- by single threads ---- */

enum { EACH = 4, WIDE = 4 }; /* points of a thread; steps of k at a time */

/* The first of a thread's points, and its column. */
static Val thread_point(b2b *b)
{
    em *e = b->e;
    return MUL(LSHR(b->s->tid, em_c64(e, 6)), em_c64(e, EACH));
}

static Val thread_column(b2b *b)
{
    em *e = b->e;
    return AND(b->s->tid, em_c64(e, B2B_COLUMNS - 1));
}

/* Point i of a thread's; one that there is memory of. */
static Val some_point(b2b *b, Val first, unsigned i)
{
    em *e = b->e;
    return em_smin(e, ADD(first, em_c64(e, i)), SUB(b->rows, em_c64(e, 1)));
}

static void add_products(b2b *b, uint32_t s, Val k0, Val n, Val *sum)
{
    em *e = b->e;
    b2b_product *p = b->p[s];
    unsigned es = kern_row_esize(p->acc), area = left_area(b, s);
    Val first = thread_point(b), column = thread_column(b), from[EACH], next[EACH];
    Ty wide = em_type(e, p->acc, WIDE);
    em_if busy;
    em_loop l;
    em_if_begin(e, &busy, ICMP(SLT, first, n));
    for (unsigned i = 0; i < EACH; i++)
        from[i] = point_at(b, area, some_point(b, first, i), k0, es);
    em_loop_begin(e, &l, em_c64(e, 0), em_c64(e, B2B_STEP), em_c64(e, WIDE), EACH, sum);
    Val a[EACH];
    for (unsigned i = 0; i < EACH; i++) {
        a[i] = em_load(e, wide, em_at(e, from[i], l.i, es), 16);
        next[i] = l.phi[i];
    }
    for (unsigned w = 0; w < WIDE; w++) {
        Val at = place(b, p, column, ADD(l.i, em_c64(e, w)));
        Val y = em_load(e, em_type(e, p->acc, 1), b2b_shared(b, at), es);
        for (unsigned i = 0; i < EACH; i++)
            next[i] = em_fma(e, em_extract(e, a[i], w), y, next[i]);
    }
    em_loop_end(e, &l, next);
    em_if_end(e, &busy, EACH, l.phi, sum, sum);
}

static void put_sum(b2b *b, uint32_t s, Val point, Val column, Val n, Val v)
{
    em *e = b->e;
    const b2b_product *p = b->p[s];
    unsigned es = kern_row_esize(p->acc);
    em_if in;
    em_if_begin(e, &in, AND(ICMP(SLT, point, n), ICMP(SLT, column, p->N)));
    em_store(e, v, point_at(b, b->l.slots.of[s][0], point, column, es), es);
    em_if_end(e, &in, 0, NULL, NULL, NULL);
}

/* ---- by instructions ---- */

/* Two neighbours that are 16-bit floats already. */
static Val word_of(b2b *b, lz_dtype d, Val pair)
{
    em *e = b->e;
    if (d != LZ_BF16)
        return BITS(em_to_mem(e, d, pair), e->i32);
    Val lo = BITS(em_extract(e, pair, 0), e->i32), hi = BITS(em_extract(e, pair, 1), e->i32);
    return OR(LSHR(lo, em_c32(e, 16)), AND(hi, em_c32(e, (int32_t)0xffff0000)));
}

static void multiply_pieces(b2b *b, uint32_t s, Val k0, Val *sum)
{
    em *e = b->e;
    b2b_product *p = b->p[s];
    unsigned area = left_area(b, s);
    Val row = LSHR(b->lane, em_c64(e, 2)), column = SHL(AND(b->lane, em_c64(e, 3)), em_c64(e, 1));
    Val low = AND(b->lane, em_c64(e, 7)), matrix = SHL(LSHR(b->lane, em_c64(e, 3)), em_c64(e, 3));
    Val n0 = SHL(b->warp, em_c64(e, 3)), right[4], point[2];
    Val at = p->by_k ? place(b, p, ADD(n0, low), matrix) : place(b, p, n0, ADD(matrix, low));
    simt_ldmatrix(b->s, b2b_shared(b, at), !p->by_k, right);
    for (unsigned i = 0; i < 2; i++)
        point[i] = some_point(b, row, 8 * i);
    for (unsigned t = 0; t < B2B_STEP / 16; t++) {
        Val left[4];
        for (unsigned i = 0; i < 4; i++) { /* rows l / 4 and 8 more, then the next 8 of k */
            Val k = ADD(ADD(k0, column), em_c64(e, 16 * t + i / 2 * 8));
            Val pair = em_load(e, em_vec(e->f32, 2), point_at(b, area, point[i & 1], k, 4), 8);
            left[i] = word_of(b, p->mma->d, pair);
        }
        simt_mma_sync(b->s, p->mma, left, right + 2 * t, sum);
    }
}

static void put_tile(b2b *b, uint32_t s, Val n0, Val n, const Val *sum)
{
    em *e = b->e;
    Val row = LSHR(b->lane, em_c64(e, 2)), column = SHL(AND(b->lane, em_c64(e, 3)), em_c64(e, 1));
    column = ADD(ADD(n0, SHL(b->warp, em_c64(e, 3))), column);
    for (unsigned i = 0; i < 4; i++)
        put_sum(b, s, ADD(row, em_c64(e, i / 2 * 8)), ADD(column, em_c64(e, i & 1)), n, sum[i]);
}

/* ---- the product ---- */

static void columns(b2b *b, uint32_t s, Val n0, Val n)
{
    em *e = b->e;
    b2b_product *p = b->p[s];
    Val sum[EACH];
    em_loop l;
    for (unsigned i = 0; i < EACH; i++)
        sum[i] = em_cf(em_type(e, p->acc, 1), 0);
    em_loop_begin(e, &l, em_c64(e, 0), p->K, em_c64(e, B2B_STEP), EACH, sum);
    memcpy(sum, l.phi, sizeof sum);
    simt_barrier(b->s); /* the k-tile before has been used */
    fill_piece(b, p, n0, l.i);
    simt_barrier(b->s);
    if (p->mma)
        multiply_pieces(b, s, l.i, sum);
    else
        add_products(b, s, l.i, n, sum);
    em_loop_end(e, &l, sum);
    if (p->mma) {
        put_tile(b, s, n0, n, l.phi);
        return;
    }
    Val first = thread_point(b), column = ADD(n0, thread_column(b));
    for (unsigned i = 0; i < EACH; i++)
        put_sum(b, s, ADD(first, em_c64(e, i)), column, n, l.phi[i]);
}

void b2b_product_run(b2b *b, uint32_t s, Val r0, Val n)
{
    em *e = b->e;
    em_loop l;
    pack_left(b, s, r0, n);
    em_loop_begin(e, &l, em_c64(e, 0), b->p[s]->N, em_c64(e, B2B_COLUMNS), 0, NULL);
    columns(b, s, l.i, n);
    em_loop_end(e, &l, NULL);
    simt_barrier(b->s);
}
