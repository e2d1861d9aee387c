/* simt_transpose.c - tiled transpose: elementwise kernels that read along another loop than they
 * write. A block has a tile of points of both loops; what is read across goes through shared
 * memory, so that loads and stores are both coalesced. Rows of the tile are one element longer than
 * they need, so that its columns are in different banks. Threads: belongs to one thread. */
#include "codegen/gpu/simt_kern.h"
#include "lower/loops/loop_impl.h"

/* ---- code ---- */

typedef struct square {
    simt *s;
    kern *c;
    uint32_t d, last, n, access[TRANSPOSE_LOADS], start[TRANSPOSE_LOADS], bytes;
    Val i0, j0, row, column; /* first points along d and the last loop; of the thread */
} square;

static Val exists(square *q, Val i, Val j)
{
    kern *c = q->c;
    em *e = c->e;
    return AND(ICMP(SLT, i, kern_size(c, c->k->outer[q->d])),
               ICMP(SLT, j, kern_size(c, c->k->outer[q->last])));
}

/* Rows of the squares go along d: row r holds the elements of last index j0 + r. */
static void read_squares(square *q, int part)
{
    kern *c = q->c;
    em *e = c->e;
    em_if in;
    Val r = ADD(q->row, em_c64(e, part * TRANSPOSE_ROWS)), i = ADD(q->i0, q->column),
        j = ADD(q->j0, r);
    em_if_begin(e, &in, exists(q, i, j));
    c->oidx[q->d] = i;
    c->oidx[q->last] = j;
    kern_advance(c, 0, POS_TOP, POS_POINT, (1u << c->k->nouter) - 1);
    for (uint32_t k = 0; k < q->n; k++) {
        const lz_access *a = &c->k->stages[0].accs[q->access[k]];
        lz_dtype dt = c->k->buf[a->buf].dtype;
        Val v = em_load(e, kern_mem_type(e, dt, 1), c->st[0].ptr[POS_POINT][q->access[k]],
                        kern_align(dt));
        Val to = ADD(MUL(r, em_c64(e, TRANSPOSE_PITCH)), q->column);
        em_store(e, v, simt_shared_at(q->s, to, em_esize(dt), q->start[k]), kern_align(dt));
    }
    em_if_end(e, &in, 0, NULL, NULL, NULL);
}

static void points(square *q, Val part)
{
    static const kctx one = {.u = 1};
    kern *c = q->c;
    em *e = c->e;
    em_if in;
    Val r = ADD(q->row, MUL(part, em_c64(e, TRANSPOSE_ROWS))), i = ADD(q->i0, r),
        j = ADD(q->j0, q->column);
    em_if_begin(e, &in, exists(q, i, j));
    c->oidx[q->d] = i;
    c->oidx[q->last] = j;
    c->st[0].square_row = ADD(MUL(q->column, em_c64(e, TRANSPOSE_PITCH)), r);
    kern_addresses(c, 0, POS_ROW);
    kern_eval(c, 0, POS_ROW, &one);
    kern_stage(c, 0, &one);
    em_if_end(e, &in, 0, NULL, NULL, NULL);
}

static void emit_square(square *q, Val at, const Val *size)
{
    kern *c = q->c;
    em *e = c->e;
    simt_split(e, at, size, c->k->nouter, c->oidx);
    q->i0 = MUL(c->oidx[q->d], em_c64(e, TRANSPOSE_SIDE));
    q->j0 = MUL(c->oidx[q->last], em_c64(e, TRANSPOSE_SIDE));
    simt_barrier(q->s); /* the last square has been read */
    for (int part = 0; part < TRANSPOSE_SIDE / TRANSPOSE_ROWS; part++)
        read_squares(q, part);
    simt_barrier(q->s);
    em_loop l;
    em_loop_begin(e, &l, em_c64(e, 0), em_c64(e, TRANSPOSE_SIDE / TRANSPOSE_ROWS), em_c64(e, 1), 0,
                  NULL);
    points(q, l.i);
    em_loop_end(e, &l, NULL);
}

void simt_transpose_body(simt *s, kern *c)
{
    static const kctx one = {.u = 1};
    em *e = c->e;
    const lz_kernel *k = c->k;
    square q = {.s = s, .c = c, .d = s->plan.across, .last = k->nouter - 1};
    q.n = simt_transpose_loads(k, q.d, q.access, q.start, &q.bytes);
    q.row = LSHR(s->tid, em_c64(e, 5));
    q.column = AND(s->tid, em_c64(e, TRANSPOSE_SIDE - 1));
    kern_addresses(c, 0, POS_TOP);
    kern_eval(c, 0, POS_TOP, &one);
    for (uint32_t i = 0; i < k->stages[0].nsop; i++)
        for (uint32_t j = 0; j < q.n; j++)
            if (k->stages[0].sops[i].kind == LZ_S_LOAD &&
                (uint32_t)k->stages[0].sops[i].a == q.access[j])
                c->st[0].square[i] = simt_shared_at(s, em_c64(e, 0), 1, q.start[j]);
    Val size[LZ_OUTER_MAX], n = em_c64(e, 1);
    for (uint32_t d = 0; d < k->nouter; d++) {
        size[d] = kern_size(c, k->outer[d]);
        if (d == q.d || d == q.last)
            size[d] = LSHR(ADD(size[d], em_c64(e, TRANSPOSE_SIDE - 1)), em_c64(e, 5));
        n = MUL(n, size[d]);
    }
    em_loop l;
    em_loop_begin(e, &l, s->ctaid, n, s->nctaid, 0, NULL);
    emit_square(&q, l.i, size);
    em_loop_end(e, &l, NULL);
}
