/* simt_dot_index.c - GEMM indexing: which output tiles a block makes (rasterization), which k-tiles
 * its slice of K has, and where a k-tile and a pipeline stage are. See simt_dot.h.
 * Threads: belongs to one thread. */
#include "codegen/gpu/simt_dot.h"

enum {
    GEMM_GROUP = 8 /* rows of tiles that are rasterized together, so that they share columns of B
                      in the L2 cache */
};

static Val k_tiles_along_k(gemm *t)
{
    em *e = t->e;
    return LLVMBuildUDiv(e->b, ADD(t->K, em_c64(e, t->p.kt - 1)), em_c64(e, t->p.kt), "");
}

Val gemm_locate_k_tile(gemm *t, Val j)
{
    em *e = t->e;
    Val size[LZ_LOOP_MAX], at[LZ_LOOP_MAX];
    for (uint32_t d = 0; d < t->ki; d++)
        size[d] = kern_size(&t->c, t->k->stages[0].extent[d]);
    size[t->ki] = k_tiles_along_k(t);
    simt_split(e, j, size, t->ki + 1, at);
    kern *all[4] = {&t->a.one, &t->a.many, &t->b.one, &t->b.many};
    for (uint32_t d = 0; d < t->ki; d++)
        for (int i = 0; i < 4; i++)
            all[i]->iidx[d] = at[d];
    return MUL(at[t->ki], em_c64(e, t->p.kt));
}

Val gemm_next_stage(gemm *t, Val stage)
{
    em *e = t->e;
    int64_t bytes = gemm_stage_bytes(&t->p);
    return SEL(ICMP(EQ, stage, em_c64(e, bytes * (t->p.stages - 1))), em_c64(e, 0),
               ADD(stage, em_c64(e, bytes)));
}

static Val all_k_tiles(gemm *t)
{
    em *e = t->e;
    Val n = k_tiles_along_k(t);
    for (uint32_t d = 0; d < t->ki; d++)
        n = MUL(n, kern_size(&t->c, t->k->stages[0].extent[d]));
    return n;
}

/* Rows (d: m) or columns of the result that blocks make together: those of a cluster have tiles
 * one below the other, swap_ab: side by side. */
static Val tile_together(gemm *t, uint32_t d)
{
    em *e = t->e;
    Val one = em_c64(e, d == t->m ? t->p.tm : t->p.tn);
    return t->p.tma && d == (t->p.swap_ab ? t->n : t->m) ? MUL(one, t->s->ranks) : one;
}

bool gemm_many_rows(const gemm *t, const gemm_factor *f)
{
    return f == &t->a && t->rows < t->m;
}

void gemm_row_indices(gemm *t, Val r, Val *oidx)
{
    Val size[LZ_OUTER_MAX];
    for (uint32_t d = t->rows; d <= t->m; d++)
        size[d - t->rows] = kern_size(&t->c, t->k->outer[d]);
    simt_split(t->e, r, size, t->m - t->rows + 1, oidx + t->rows);
}

/* Rows of tiles in a matrix. */
Val gemm_all_rows(gemm *t)
{
    em *e = t->e;
    Val n = kern_size(&t->c, t->k->outer[t->m]);
    for (uint32_t d = t->rows; d < t->m; d++)
        n = MUL(n, kern_size(&t->c, t->k->outer[d]));
    return n;
}

/* Tiles along each outer loop (as many as blocks make together count as one); how many in all. */
static Val count_tiles(gemm *t, Val *size)
{
    em *e = t->e;
    Val n = em_c64(e, 1);
    for (uint32_t d = 0; d < t->k->nouter; d++) {
        size[d] = d == t->m                  ? t->M
                  : d >= t->rows && d < t->m ? em_c64(e, 1)
                                             : kern_size(&t->c, t->k->outer[d]);
        if (d == t->m || d == t->n) {
            Val by = tile_together(t, d);
            size[d] = simt_udiv(e, ADD(size[d], SUB(by, em_c64(e, 1))), by);
        }
        n = MUL(n, size[d]);
    }
    return n;
}

/* Row and column of tiles from the number of a tile in its matrix: in groups of rows, columns
 * slower than the rows of a group. */
static void in_groups(gemm *t, Val q, Val rows, Val columns, Val *row, Val *column)
{
    em *e = t->e;
    Val group = em_c64(e, GEMM_GROUP), g = simt_udiv(e, q, MUL(columns, group));
    Val in = SUB(q, MUL(g, MUL(columns, group))), first = MUL(g, group);
    Val high = em_smin(e, SUB(rows, first), group);
    *column = simt_udiv(e, in, high);
    *row = ADD(first, SUB(in, MUL(*column, high)));
}

void gemm_k_tiles_of_slice(gemm *t, Val slice, Val *first, Val *end)
{
    em *e = t->e;
    *first = em_c64(e, 0);
    *end = all_k_tiles(t);
    if (!t->split_k)
        return;
    Val each = simt_udiv(e, ADD(*end, SUB(t->nslices, em_c64(e, 1))), t->nslices);
    *first = MUL(slice, each);
    *end = em_smin(e, ADD(*first, each), *end);
}

/* Outer indices of a tile, and where it starts. */
static void locate_tile(gemm *t, Val tile, Val slice, const Val *size)
{
    em *e = t->e;
    Val all[LZ_OUTER_MAX], at[LZ_OUTER_MAX], row, column, matrix = em_c64(e, 0);
    uint32_t matrices = t->m; /* m and n are the last two loops */
    for (uint32_t d = 0; d < matrices; d++)
        all[d] = size[d];
    all[matrices] = MUL(size[t->m], size[t->n]);
    simt_split(e, tile, all, matrices + 1, at);
    in_groups(t, at[matrices], size[t->m], size[t->n], &row, &column);
    kern *each[6] = {&t->a.one, &t->a.many, &t->b.one, &t->b.many, &t->c, &t->cv};
    for (uint32_t d = 0; d < matrices; d++) {
        Val index = d < t->rows ? at[d] : em_c64(e, 0); /* others are the rows' */
        matrix = ADD(MUL(matrix, kern_size(&t->c, t->k->outer[d])), index);
        for (int i = 0; i < 6; i++)
            each[i]->oidx[d] = index;
    }
    t->first_row = t->split_k ? gemm_workspace_row(t, slice, matrix) : NULL;
    t->a.x0 = MUL(row, tile_together(t, t->m));
    t->b.x0 = MUL(column, tile_together(t, t->n));
    Val *own = t->p.swap_ab ? &t->b.x0 : &t->a.x0;
    if (t->p.tma)
        *own = ADD(*own, MUL(t->s->rank, em_c64(e, t->p.swap_ab ? t->p.tn : t->p.tm)));
}

void gemm_each(gemm *t, gemm_body *body)
{
    em *e = t->e;
    Val size[LZ_OUTER_MAX], n = count_tiles(t, size), slice = NULL, tile, before = em_c64(e, 0);
    em_loop l;
    Val block = t->s->ctaid, blocks = t->s->nctaid;
    if (t->p.tma) { /* clusters of them */
        block = simt_udiv(e, block, t->s->ranks);
        blocks = simt_udiv(e, blocks, t->s->ranks);
    }
    em_loop_begin(e, &l, block, t->split_k ? MUL(n, t->nslices) : n, blocks, 1, &before);
    tile = l.i;
    if (t->split_k) { /* blocks that run together share what they read */
        slice = simt_udiv(e, l.i, n);
        tile = SUB(l.i, MUL(slice, n));
    }
    locate_tile(t, tile, slice, size);
    before = body(t, slice, l.phi[0]);
    em_loop_end(e, &l, &before);
}
