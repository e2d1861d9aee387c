/* simt_flash_fma.c - flash attention: the GEMMs of a warp for f32, by FMAs of single threads. See
 * simt_flash.h. A lane has 8 points and 8 columns: points l / 8 + 4 i; columns l % 8 + 8 i where
 * the right operand's rows are along k, else groups of 4 (l % 8) side by side, and again behind all
 * lanes'. Four of k, or four columns, are read at once. Left operands are in shared memory, by
 * points: that of the first GEMM for all tiles, the second's (P) tile by tile.
 * Threads: belongs to one thread. */
#include "codegen/gpu/simt_flash.h"

static const kctx one_vector = {.u = 1};
enum {
    ES = 4,
    LANE_ROW = 4 /* points between those of a lane */
};

/* Address of element x of the point that is the lane's first, of the left factor at byte `base`. */
static Val left_at(flash *p, unsigned base, unsigned pitch, Val point, Val x)
{
    em *e = p->e;
    Val byte = ADD(MUL(point, em_c64(e, pitch)), MUL(x, em_c64(e, ES)));
    return em_at(e, em_at(e, p->s->shared, byte, 1), em_c64(e, base), 1);
}

/* Behind the multistage buffer: the first product's left factor, then the second's. */
static unsigned first_left(const flash *p)
{
    return p->stage_bytes;
}

static unsigned second_left(const flash *p)
{
    return first_left(p) + flash_points(&p->f) * flash_fma_pitch(p->head);
}

static Val lane_point(flash *p)
{
    em *e = p->e;
    return ADD(MUL(p->warp, em_c64(e, FLASH_TILE * p->tiles)), LSHR(p->lane, em_c64(e, 3)));
}

void flash_fma_take_left(flash *p, Val r0)
{
    em *e = p->e;
    flash_product *d = &p->first;
    Val n = MUL(p->points, em_c64(e, p->head)), last = SUB(d->K, em_c64(e, 1));
    em_loop l;
    em_loop_begin(e, &l, p->s->tid, n, p->s->ntid, 0, NULL);
    Val point = LLVMBuildUDiv(e->b, l.i, em_c64(e, p->head), ""),
        k = AND(l.i, em_c64(e, p->head - 1));
    Val row = em_smin(e, ADD(r0, point), SUB(p->M, em_c64(e, 1)));
    flash_stand_at(p, d, &d->a, lz_kernel_dot(&d->view)->m, row, em_smin(e, k, last));
    kern_eval(&d->a, 0, POS_POINT, &one_vector);
    Val v = SEL(ICMP(SLE, k, last), kern_value(&d->a, 0, d->a_sop, 0).v, em_cf(e->f32, 0));
    em_store(e, v, left_at(p, first_left(p), flash_fma_pitch(p->head), point, k), ES);
    em_loop_end(e, &l, NULL);
}

/* sum[r][c] += left[point r][4 of k from x] by columns of the KV tile at `right`, where x of k, or
 * columns, are. */
static void four_of_k(flash *p, const flash_product *d, Val left, unsigned pitch, Val right,
                      Val *sum)
{
    em *e = p->e;
    unsigned columns = d->nn / 8;
    Ty wide = em_vec(e->f32, FLASH_FMA_WIDE);
    Val a[FLASH_LANE_ROWS], b[FLASH_FMA_WIDE][FLASH_HEAD / 8];
    for (unsigned r = 0; r < p->rows; r++)
        a[r] = em_load(e, wide, em_at(e, left, em_c64(e, (int64_t)r * LANE_ROW * pitch), 1), 16);
    for (unsigned c = 0; c < columns; c += d->by_k ? 1 : FLASH_FMA_WIDE)
        for (unsigned i = 0; i < (d->by_k ? 1 : FLASH_FMA_WIDE); i++) {
            unsigned byte =
                d->by_k ? 8 * c * d->pitch : i * d->pitch + c / FLASH_FMA_WIDE * 32 * ES;
            Val v = em_load(e, wide, em_at(e, right, em_c64(e, byte), 1), 16);
            for (unsigned j = 0; j < FLASH_FMA_WIDE; j++)
                b[d->by_k ? j : i][d->by_k ? c : c + j] = em_extract(e, v, j);
        }
    for (unsigned k = 0; k < FLASH_FMA_WIDE; k++)
        for (unsigned r = 0; r < p->rows; r++) {
            Val x = em_extract(e, a[r], k);
            for (unsigned c = 0; c < columns; c++)
                sum[r * columns + c] = em_fma(e, x, b[k][c], sum[r * columns + c]);
        }
}

/* Those of k from k0 on, which is where the left factor starts. */
static void multiply(flash *p, const flash_product *d, unsigned base, unsigned pitch, unsigned k0,
                     unsigned nk, Val *sum)
{
    em *e = p->e;
    unsigned n = p->rows * d->nn / 8;
    Val low = AND(p->lane, em_c64(e, 7)), zero = em_c64(e, 0);
    Val r = d->by_k ? low : zero, x = d->by_k ? zero : MUL(low, em_c64(e, FLASH_FMA_WIDE));
    Val right = em_at(e, p->s->shared, ADD(MUL(r, em_c64(e, d->pitch)), MUL(x, em_c64(e, ES))), 1);
    right = em_at(e, right, em_c64(e, d->at + k0 * (d->by_k ? ES : d->pitch)), 1);
    Val left = left_at(p, base, pitch, lane_point(p), zero);
    em_loop l;
    em_loop_begin(e, &l, zero, em_c64(e, nk), em_c64(e, FLASH_FMA_WIDE), (int)n, sum);
    for (unsigned i = 0; i < n; i++)
        sum[i] = l.phi[i];
    four_of_k(p, d, em_at(e, left, l.i, ES), pitch,
              em_at(e, right, l.i, d->by_k ? ES : (int64_t)d->pitch), sum);
    em_loop_end(e, &l, sum);
    for (unsigned i = 0; i < n; i++)
        sum[i] = l.phi[i];
}

void flash_fma_scores(flash *p)
{
    em *e = p->e;
    unsigned columns = FLASH_ROW / 8;
    Val sum[FLASH_LANE_ROWS * FLASH_ROW / 8];
    for (unsigned i = 0; i < p->rows * columns; i++)
        sum[i] = em_cf(e->f32, 0);
    multiply(p, &p->first, first_left(p), flash_fma_pitch(p->head), 0, p->head, sum);
    for (unsigned i = 0; i < p->rows * columns; i++)
        p->score[i / columns][i % columns] = sum[i];
}

static void put_half(flash *p, unsigned half)
{
    em *e = p->e;
    unsigned pitch = flash_fma_pitch(FLASH_FMA_HALF), n = p->columns / 2;
    Val at = left_at(p, second_left(p), pitch, lane_point(p), p->column);
    for (unsigned r = 0; r < p->rows; r++)
        for (unsigned c = 0; c < n; c++) {
            unsigned byte = r * LANE_ROW * pitch + flash_fma_column(&p->first, c) * ES;
            em_store(e, p->factor[r][half * n + c], em_at(e, at, em_c64(e, byte), 1), ES);
        }
}

void flash_fma_multiply(flash *p, Val *sum)
{
    for (unsigned half = 0; half < 2; half++) {
        if (half)
            simt_warp_barrier(p->s); /* the first has been read */
        put_half(p, half);
        simt_warp_barrier(p->s);
        multiply(p, &p->second, second_left(p), flash_fma_pitch(FLASH_FMA_HALF),
                 FLASH_FMA_HALF * half, FLASH_FMA_HALF, sum);
    }
}
