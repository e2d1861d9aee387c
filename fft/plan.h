/* plan.h - between the files of fft/: the tables of a transform, and what each instance of the
 * routines (core/, by element type and instruction set) gives.
 * A line is transformed in one of three ways:
 *   tile    n lines' worth of lanes: Stockham's autosort algorithm on vectors, each lane a line
 *   split   n = n1 n2: n2 columns of n1 by tiles, factors, n1 rows of n2 by tiles (Bailey's four
 *           steps), each lane a column or row of one line
 *   chirp   a convolution by lines of a rounder length (Bluestein), where a prime factor is large
 * T: the element type of the instance. Threads: plans are immutable. */
#ifndef LZ_FFT_PLAN_H
#define LZ_FFT_PLAN_H
#include "fft/fft.h"

enum {
    LZ_FFT_STAGES = 40,
    LZ_FFT_PRIME = 31,      /* the largest factor of a stage */
    LZ_FFT_TILE_LINE = 512, /* longest line that is transformed in lanes of several lines */
    LZ_FFT_TILE = 4096,     /* longest one of a tile */
    LZ_FFT_LANES = 16,      /* of the widest vectors */
    LZ_FFT_GROUP = 16       /* lines of a unit of short lines */
};

/* Stages of a tile of n: radix r[i] at length n / (r[0] .. r[i - 1]). */
typedef struct lz_fft_stages {
    int64_t n;
    int count, r[LZ_FFT_STAGES];
    /* T re, im: for each p below m = length / r, w_length^(p k), k from 1 to r - 1 */
    const void *twiddle[LZ_FFT_STAGES];
    const void *root[LZ_FFT_STAGES]; /* T: cos, -sin of 2 pi k / r, of odd r from 7 on */
} lz_fft_stages;

typedef enum lz_fft_way { LZ_FFT_BY_TILE, LZ_FFT_BY_SPLIT, LZ_FFT_BY_CHIRP } lz_fft_way;

typedef struct lz_fft_line {
    int64_t n;
    lz_fft_way way;
    lz_fft_stages tile;  /* of n */
    lz_fft_stages a, b;  /* of n1 and n2 */
    const void *factors; /* split: vectors re, im of w_n^(k1 j2), lanes j2: [j2 / lanes][k1] */
    /* chirp: complex T e^(-pi i j^2 / n); transform of the conjugates, length->n, divided by it */
    const void *chirp, *spectrum;
    const struct lz_fft_line *length; /* of the convolution */
} lz_fft_line;

typedef struct lz_fft_instance lz_fft_instance;
struct lz_fft_plan {
    lz_fft_task task;
    const lz_fft_instance *code;
    lz_fft_line line[LZ_FFT_DIMS]; /* complex ones: the last is of n / 2 for real ones of even n */
    bool even;                     /* real, and the last n is even */
    const void *halves;            /* complex T: w_n^k, k from 0 to n / 2, where it is */
    int64_t in, out;               /* elements T of a transform */
    int64_t rows;                  /* lines along the last dimension of one transform */
    int64_t spectrum;              /* complex elements of the last dimension */
    int64_t group;                 /* transforms of a unit */
    /* where in scratch memory, in elements T: a copy of a transform, two lines, a tile of the last
     * dimension, what a line takes; and how many there are */
    int64_t at_copy, at_lines[2], at_spare, at_rest, room;
};

struct lz_fft_instance {
    int lanes;
    void (*run)(const lz_fft_plan *p, void *const *bufs, int64_t begin, int64_t end, void *scratch);
    /* One complex line from x to y, forward. */
    void (*line)(const lz_fft_line *l, const void *x, void *y, void *scratch);
};

extern const lz_fft_instance lz_fft_f32_base, lz_fft_f64_base;
#ifdef __x86_64__
extern const lz_fft_instance lz_fft_f32_avx2, lz_fft_f64_avx2, lz_fft_f32_avx512, lz_fft_f64_avx512;
#endif

static inline int64_t lz_fft_up(int64_t n, int64_t to)
{
    return (n + to - 1) / to * to;
}

/* Elements T of scratch memory that a line takes: two tiles, and of a split one the transposed
 * line. */
static inline int64_t lz_fft_line_room(const lz_fft_line *l, int64_t lanes)
{
    int64_t tile = 2 * lanes, n;
    if (l->way == LZ_FFT_BY_TILE)
        return 2 * l->n * tile;
    if (l->way == LZ_FFT_BY_SPLIT) {
        n = l->a.n > l->b.n ? l->a.n : l->b.n;
        return 2 * (n + lanes) * tile + lz_fft_up(l->a.n, lanes) * l->b.n * 2;
    }
    return 4 * l->length->n + lz_fft_line_room(l->length, lanes);
}

#endif
