/* all.h - an instance of the routines: transforms of one and more dimensions. */
#ifndef LZ_FFT_CORE_ALL_H
#define LZ_FFT_CORE_ALL_H
#include "fft/core/real.h"

/* Memory of one call. */
typedef struct rooms {
    T *copy, *s, *t; /* a transform; two lines */
    CV *spare;       /* a tile of the last dimension */
    T *rest;         /* what a line or a tile is transformed in */
} rooms;

MAYBE rooms rooms_of(const lz_fft_plan *p, void *scratch)
{
    T *at = scratch;
    return (rooms){at + p->at_copy, at + p->at_lines[0], at + p->at_lines[1],
                   (CV *)(void *)(at + p->at_spare), at + p->at_rest};
}

/* The last dimension: `lines` of them from x to y. */
MAYBE void last_dimension(const lz_fft_plan *p, const T *x, T *y, int64_t lines, T scale,
                          const rooms *r)
{
    const lz_fft_task *t = &p->task;
    const lz_fft_line *l = &p->line[t->ndim - 1];
    int64_t in = p->in / p->rows, out = p->out / p->rows;
    bool swap = t->kind == LZ_FFT_BACKWARD, tiles = l->way == LZ_FFT_BY_TILE;
    for (int64_t i = 0; i < lines;
         i += tiles ? L : 1, x += tiles ? L * in : in, y += tiles ? L * out : out) {
        int64_t c = lines - i < L ? lines - i : L;
        CV *a = (CV *)(void *)r->rest;
        if (t->kind == LZ_FFT_REAL && tiles)
            short_to_half(p, x, y, c, r->spare, a);
        else if (t->kind == LZ_FFT_REAL)
            line_to_half(p, x, y, r->s, r->t, r->rest);
        else if (t->kind == LZ_FFT_HALF && tiles)
            short_from_half(p, x, y, c, scale, r->spare, a);
        else if (t->kind == LZ_FFT_HALF)
            line_from_half(p, x, y, scale, r->s, r->t, r->rest);
        else if (tiles) {
            load_lines(x, in, c, in, swap, &a->re);
            a = transform_tile(&l->tile, a, a + l->n);
            store_lines(y, out, c, out, swap, scale, &a->re);
        } else {
            transform_line(l, x, y, swap, scale, r->rest);
        }
    }
}

/* Lines across x[n][inner] one by one, in place. */
MAYBE void gathered_lines(const lz_fft_line *l, T *x, int64_t inner, bool swap, T scale,
                          const rooms *r)
{
    for (int64_t i = 0; i < inner; i++) {
        for (int64_t j = 0; j < l->n; j++)
            memcpy(r->s + 2 * j, x + 2 * (j * inner + i), 2 * sizeof(T));
        transform_line(l, r->s, r->t, swap, scale, r->rest);
        for (int64_t j = 0; j < l->n; j++)
            memcpy(x + 2 * (j * inner + i), r->t + 2 * j, 2 * sizeof(T));
    }
}

/* Dimension d, before the last, of a complex transform x in place. */
MAYBE void other_dimension(const lz_fft_plan *p, T *x, int d, bool swap, T scale, const rooms *r)
{
    const lz_fft_task *t = &p->task;
    const lz_fft_line *l = &p->line[d];
    int64_t outer = 1, inner = p->spectrum;
    for (int e = 0; e < d; e++)
        outer *= t->n[e];
    for (int e = d + 1; e + 1 < t->ndim; e++)
        inner *= t->n[e];
    for (int64_t o = 0; o < outer; o++, x += 2 * l->n * inner) {
        if (!l->tile.n) {
            gathered_lines(l, x, inner, swap, scale, r);
            continue;
        }
        for (int64_t i = 0; i < inner; i += L) {
            int64_t c = inner - i < L ? inner - i : L;
            CV *a = (CV *)(void *)r->rest;
            load_columns(x + 2 * i, inner, l->n, c, swap, a);
            a = transform_tile(&l->tile, a, a + l->n);
            store_columns(x + 2 * i, inner, l->n, c, swap, scale, a);
        }
    }
}

MAYBE void several_dimensions(const lz_fft_plan *p, const T *x, T *y, T scale, const rooms *r)
{
    const lz_fft_task *t = &p->task;
    bool swap = t->kind == LZ_FFT_BACKWARD;
    if (t->kind == LZ_FFT_HALF) {
        memcpy(r->copy, x, (size_t)p->in * sizeof(T));
        for (int d = 0; d + 1 < t->ndim; d++)
            other_dimension(p, r->copy, d, true, 1, r);
        last_dimension(p, r->copy, y, p->rows, scale, r);
        return;
    }
    last_dimension(p, x, y, p->rows, 1, r);
    for (int d = t->ndim - 2; d >= 0; d--)
        other_dimension(p, y, d, swap, d == 0 ? scale : 1, r);
}

MAYBE void run(const lz_fft_plan *p, void *const *bufs, int64_t begin, int64_t end, void *scratch)
{
    const lz_fft_task *t = &p->task;
    rooms r = rooms_of(p, scratch);
    T *y = bufs[0], scale = 1;
    const T *x = bufs[1];
    if (t->kind == LZ_FFT_BACKWARD || t->kind == LZ_FFT_HALF)
        scale = (T)(1 / ((double)p->rows * (double)t->n[t->ndim - 1]));
    for (int64_t u = begin; u < end; u++) {
        int64_t at = u * p->group, left = t->batch - at;
        if (t->ndim > 1)
            several_dimensions(p, x + at * p->in, y + at * p->out, scale, &r);
        else
            last_dimension(p, x + at * p->in, y + at * p->out, left < p->group ? left : p->group,
                           scale, &r);
    }
}

MAYBE void line(const lz_fft_line *l, const void *x, void *y, void *scratch)
{
    transform_line(l, x, y, false, 1, scratch);
}

const lz_fft_instance INSTANCE = {L, run, line};
#endif
