/* fft.c - see fft.h: how lines are transformed, the tables for it, and the instances. */
#include "fft/plan.h"
#include "base/host_isa.h"
#include <math.h>
#include <string.h>

static const lz_fft_instance *const instances[][2] = {
    {&lz_fft_f32_base, &lz_fft_f64_base},
#ifdef __x86_64__
    {&lz_fft_f32_avx2, &lz_fft_f64_avx2},
    {&lz_fft_f32_avx512, &lz_fft_f64_avx512},
#endif
};

/* ---- tables ---- */

typedef struct maker {
    lz_arena *mem;
    const lz_fft_instance *code;
    bool wide, failed;
} maker;

typedef struct cx {
    long double re, im;
} cx;

/* e^(-2 pi i k / n). */
static cx root_of(int64_t k, int64_t n)
{
    const long double turn = 6.283185307179586476925286766559005768L;
    k %= n;
    int64_t eighth = 8 * k / n; /* angles up to an eighth of the circle have exact symmetries */
    int64_t r = eighth % 2 ? ((eighth + 1) / 2 * n - 4 * k) : (4 * k - eighth / 2 * n);
    long double a = turn * (long double)r / (4 * (long double)n), c = cosl(a), s = sinl(a);
    switch (eighth) { /* cosine and sine of the angle, which grows with k */
    case 0:
        return (cx){c, -s};
    case 1:
        return (cx){s, -c};
    case 2:
        return (cx){-s, -c};
    case 3:
        return (cx){-c, -s};
    case 4:
        return (cx){-c, s};
    case 5:
        return (cx){-s, c};
    case 6:
        return (cx){s, c};
    default:
        return (cx){c, s};
    }
}

static void *room(maker *m, int64_t n)
{
    size_t bytes = (size_t)n * (m->wide ? 8 : 4);
    char *p = m->failed ? NULL : lz_arena_alloc(m->mem, bytes + 64);
    m->failed |= !p;
    return p ? (void *)LZ_ALIGN_UP((uintptr_t)p, 64) : NULL;
}

static void put(const maker *m, void *p, int64_t i, long double v)
{
    if (m->wide)
        ((double *)p)[i] = (double)v;
    else
        ((float *)p)[i] = (float)v;
}

static void put_cx(const maker *m, void *p, int64_t i, cx v)
{
    put(m, p, 2 * i, v.re);
    put(m, p, 2 * i + 1, v.im);
}

static const void *roots_of_stage(maker *m, int r)
{
    void *p = r >= 7 && r % 2 ? room(m, 2 * r) : NULL;
    for (int k = 0; p && k < r; k++)
        put_cx(m, p, k, root_of(k, r));
    return p;
}

static const void *twiddles(maker *m, int64_t length, int r)
{
    int64_t rest = length / r;
    void *p = room(m, 2 * rest * (r - 1));
    for (int64_t j = 0; p && j < rest; j++)
        for (int k = 1; k < r; k++)
            put_cx(m, p, j * (r - 1) + k - 1, root_of(j * k % length, length));
    return p;
}

/* Radices in the order of the stages: fours and eights first, odd ones behind. */
static void choose_radices(lz_fft_stages *s, int64_t n)
{
    static const int first[] = {8, 4, 2, 5, 3, 7, 11, 13, 17, 19, 23, 29, 31};
    int twos = 0;
    s->n = n;
    s->count = 0;
    for (int64_t k = n; k % 2 == 0; k /= 2)
        twos++;
    int fours = twos % 3 == 1 && twos > 1 ? 2 : twos % 3 == 2 ? 1 : 0;
    for (; fours > 0; fours--, n /= 4)
        s->r[s->count++] = 4;
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        while (n % first[i] == 0 && n > 1) {
            s->r[s->count++] = first[i];
            n /= first[i];
        }
}

static void make_stages(maker *m, lz_fft_stages *s, int64_t n)
{
    choose_radices(s, n);
    for (int i = 0; i < s->count && !m->failed; i++) {
        s->root[i] = roots_of_stage(m, s->r[i]);
        s->twiddle[i] = i + 1 < s->count ? twiddles(m, n, s->r[i]) : NULL;
        n /= s->r[i];
    }
}

/* w_n^(k1 j2) as products of two roots: computing each takes longer than the transform. */
static const void *split_factors(maker *m, int64_t n, int64_t n1, int64_t n2)
{
    enum { LOW = 1024 };
    int64_t lanes = m->code->lanes, high = n / LOW + 1;
    lz_arena tmp = {0};
    cx *low = lz_arena_alloc(&tmp, LOW * sizeof *low),
       *top = lz_arena_alloc(&tmp, (size_t)high * sizeof *top);
    void *p = room(m, 2 * n1 * lz_fft_up(n2, lanes));
    m->failed |= !low || !top;
    for (int64_t i = 0; i < LOW && !m->failed; i++)
        low[i] = root_of(i, n);
    for (int64_t i = 0; i < high && !m->failed; i++)
        top[i] = root_of(i * LOW, n);
    for (int64_t j = 0; j < n2 && !m->failed; j++)
        for (int64_t k = 0; k < n1; k++) {
            int64_t e = k * j, at = 2 * (j / lanes * n1 + k) * lanes + j % lanes;
            cx a = top[e / LOW], b = low[e % LOW];
            if (m->wide) {
                ((double *)p)[at] = (double)(a.re * b.re - a.im * b.im);
                ((double *)p)[at + lanes] = (double)(a.re * b.im + a.im * b.re);
            } else { /* enough for them */
                double ar = (double)a.re, ai = (double)a.im, br = (double)b.re, bi = (double)b.im;
                ((float *)p)[at] = (float)(ar * br - ai * bi);
                ((float *)p)[at + lanes] = (float)(ar * bi + ai * br);
            }
        }
    lz_arena_free(&tmp);
    return p;
}

static bool is_smooth(int64_t n)
{
    for (int p = 2; p <= LZ_FFT_PRIME; p++)
        while (n % p == 0)
            n /= p;
    return n == 1;
}

/* The divisor of a smooth n next to its square root that leaves two tiles, or 0. */
static int64_t split_of(int64_t n)
{
    int64_t d = (int64_t)sqrt((double)n);
    for (; d > 1; d--)
        if (n % d == 0)
            return n / d <= LZ_FFT_TILE && d >= 4 ? d : 0;
    return 0;
}

/* The length of a convolution: the smallest that is quickly transformed. */
static int64_t round_length(int64_t n)
{
    static const int64_t odd[] = {1, 3, 5, 9, 15};
    int64_t best = 0;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        int64_t m = 16 * odd[i];
        while (m < n)
            m *= 2;
        best = !best || m < best ? m : best;
    }
    return best;
}

static void make_line(maker *m, lz_fft_line *l, int64_t n, bool alone);

static void make_chirp(maker *m, lz_fft_line *l)
{
    int64_t n = l->n, len = round_length(2 * n - 1);
    lz_fft_line *c = lz_arena_alloc(m->mem, sizeof *c);
    m->failed |= !c;
    if (m->failed)
        return;
    memset(c, 0, sizeof *c);
    make_line(m, c, len, true);
    void *a = room(m, 2 * n), *x = room(m, 2 * len), *y = room(m, 2 * len);
    void *scratch = room(m, lz_fft_line_room(c, m->code->lanes) + 16);
    if (m->failed)
        return;
    memset(x, 0, (size_t)(2 * len) * (m->wide ? 8 : 4));
    for (int64_t j = 0; j < n; j++) {
        cx w = root_of((int64_t)((unsigned __int128)j * (uint64_t)j % (uint64_t)(2 * n)), 2 * n);
        put_cx(m, a, j, w);
        w = (cx){w.re / (long double)len, -w.im / (long double)len};
        put_cx(m, x, j, w);
        if (j)
            put_cx(m, x, len - j, w);
    }
    l->chirp = a;
    l->spectrum = y;
    l->length = c;
    m->code->line(c, x, y, scratch);
}

/* alone: not among many lines that could share vectors. */
static void make_line(maker *m, lz_fft_line *l, int64_t n, bool alone)
{
    int64_t n1 = is_smooth(n) ? split_of(n) : 0;
    l->n = n;
    if (is_smooth(n) && n <= LZ_FFT_TILE && (!n1 || n < 16 || (!alone && n <= LZ_FFT_TILE_LINE))) {
        l->way = LZ_FFT_BY_TILE;
        make_stages(m, &l->tile, n);
    } else if (n1) {
        l->way = LZ_FFT_BY_SPLIT;
        make_stages(m, &l->a, n1);
        make_stages(m, &l->b, n / n1);
        l->factors = split_factors(m, n, n1, n / n1);
    } else {
        l->way = LZ_FFT_BY_CHIRP;
        make_chirp(m, l);
    }
}

/* ---- plans ---- */

/* Elements T of a transform of the operand and of the result. */
static void count_elements(lz_fft_plan *p)
{
    const lz_fft_task *t = &p->task;
    int64_t last = t->n[t->ndim - 1], half = last / 2 + 1;
    p->rows = 1;
    p->spectrum = t->kind == LZ_FFT_REAL || t->kind == LZ_FFT_HALF ? half : last;
    for (int d = 0; d + 1 < t->ndim; d++)
        p->rows *= t->n[d];
    p->in = p->rows * (t->kind == LZ_FFT_REAL   ? last
                       : t->kind == LZ_FFT_HALF ? 2 * half
                                                : 2 * last);
    p->out = p->rows * (t->kind == LZ_FFT_HALF   ? last
                        : t->kind == LZ_FFT_REAL ? 2 * half
                                                 : 2 * last);
}

/* Elements T behind `*at` in scratch memory, aligned. */
static int64_t take(int64_t *at, int64_t n)
{
    int64_t from = *at;
    *at = lz_fft_up(from + n, LZ_FFT_LANES);
    return from;
}

static void lay_out(lz_fft_plan *p)
{
    const lz_fft_task *t = &p->task;
    int64_t most = 0, lines = 0, lanes = p->code->lanes, last = t->n[t->ndim - 1], at = 0;
    for (int d = 0; d < t->ndim; d++) {
        int64_t n = lz_fft_line_room(&p->line[d], lanes), tiles = 4 * lanes * p->line[d].tile.n;
        n = n > tiles ? n : tiles;
        most = most > n ? most : n;
        lines = lines > t->n[d] ? lines : t->n[d];
    }
    bool tiles = p->line[t->ndim - 1].way == LZ_FFT_BY_TILE;
    p->at_copy = take(&at, t->kind == LZ_FFT_HALF && t->ndim > 1 ? p->in : 0);
    p->at_lines[0] = take(&at, 2 * lines + 2);
    p->at_lines[1] = take(&at, 2 * lines + 2);
    p->at_spare = take(&at, tiles ? 2 * lanes * (last + 2) : 0);
    p->at_rest = take(&at, most);
    p->room = at;
}

lz_status lz_fft_plan_new(lz_arena *mem, const lz_fft_task *t, const lz_fft_plan **out)
{
    lz_fft_plan *p = lz_arena_alloc(mem, sizeof *p);
    if (!p)
        return LZ_FAIL(LZ_EMEM, "fft: no memory for a plan");
    memset(p, 0, sizeof *p);
    p->task = *t;
    p->code = instances[lz_host_isa()][t->wide];
    maker m = {mem, p->code, t->wide, false};
    int64_t last = t->n[t->ndim - 1];
    bool real = t->kind == LZ_FFT_REAL || t->kind == LZ_FFT_HALF;
    p->even = real && last % 2 == 0;
    count_elements(p);
    for (int d = 0; d < t->ndim; d++) {
        bool end = d + 1 == t->ndim;
        int64_t lines = end ? p->rows * t->batch : LZ_FFT_GROUP;
        make_line(&m, &p->line[d], end && p->even ? last / 2 : t->n[d], lines < 4);
        if (!end && is_smooth(t->n[d]) && t->n[d] <= LZ_FFT_TILE && !p->line[d].tile.n)
            make_stages(&m, &p->line[d].tile, t->n[d]);
    }
    bool lanes = t->ndim == 1 && p->line[0].way == LZ_FFT_BY_TILE;
    p->group = lanes ? LZ_FFT_GROUP : 1;
    void *h = p->even ? room(&m, last + 2) : NULL;
    for (int64_t k = 0; h && k <= last / 2; k++)
        put_cx(&m, h, k, root_of(k, last));
    p->halves = h;
    if (m.failed)
        return LZ_FAIL(LZ_EMEM, "fft: no memory for the tables of %lld elements", (long long)last);
    lay_out(p);
    *out = p;
    return LZ_OK;
}

int64_t lz_fft_units(const lz_fft_plan *p)
{
    return (p->task.batch + p->group - 1) / p->group;
}

size_t lz_fft_scratch(const lz_fft_plan *p)
{
    return (size_t)p->room * (p->task.wide ? 8 : 4);
}

double lz_fft_flops(const lz_fft_task *t)
{
    double n = (double)t->batch, levels = 0;
    for (int d = 0; d < t->ndim; d++) {
        n *= (double)t->n[d];
        levels += log2((double)t->n[d] + 1) * (is_smooth(t->n[d]) ? 1 : 6);
    }
    return 5 * n * levels * (t->kind == LZ_FFT_REAL || t->kind == LZ_FFT_HALF ? 0.5 : 1);
}

void lz_fft_run(void *const *bufs, const int64_t *plan, int64_t begin, int64_t end, void *scratch)
{
    const lz_fft_plan *p = (const void *)plan;
    p->code->run(p, bufs, begin, end, scratch);
}
