/* windows_util.h - kernels of convolutions, for tests of the code generator. */
#ifndef LZ_TEST_WINDOWS_UTIL_H
#define LZ_TEST_WINDOWS_UTIL_H
#include "jit_util.h"

typedef struct image {
    int64_t n, h, w, c, kh, kw, o,
        stride;    /* images, pixels, features, window, features of the result */
    bool gradient; /* by the window: sums over images and pixels */
    bool batch;    /* B differs from image to image */
    bool lanes;    /* images are contiguous, not features */
    int epi;
    lz_dtype d;
    int64_t pad;  /* extra elements between rows of the result */
    int64_t edge; /* pixels of h and w at each side that are 0, said by borders; without gradient */
} image;

/* The loops `outer` and `inner` walk over `all` pixels, `unit` indices of `inner` each. */
static inline void add_border(const image *v, lz_access *a, uint32_t outer, uint32_t inner,
                              int64_t all, int64_t unit)
{
    if (v->edge && !v->gradient)
        a->border[a->nborder++] = (lz_border){.outer = outer,
                                              .inner = inner,
                                              .by = sz(v->stride * unit),
                                              .step = sz(1),
                                              .low = sz(v->edge * unit),
                                              .high = sz((all - v->edge) * unit)};
}

/* Windows: C[n, y, x, o] = sum of A[n, y s + ky, x s + kx, c] B[ky, kx, c, o]. Gradient: C[ky, kx
 *   c, o] = sum over n, y, x of the same A with B[n, y, x, o]. */
static inline lz_kernel *windows(const image *v, int64_t *total)
{
    lz_kernel *q = lz_kernel_new("dot");
    int64_t oh = (v->h - v->kh) / v->stride + 1, ow = (v->w - v->kw) / v->stride + 1;
    int64_t px[3] = {v->n, oh, ow},
            at[3] = {v->h * v->w * v->c, v->stride * v->w * v->c, v->stride * v->c};
    int64_t win[2] = {v->kh, v->kw * v->c}, wat[2] = {v->w * v->c, 1};
    uint32_t no = v->gradient ? 2 : 3;
    for (uint32_t l = 0; l < no; l++)
        q->outer[l] = sz(v->gradient ? win[l] : px[l]);
    q->outer[no] = sz(v->o);
    q->nouter = no + 1;
    q->vec = LZ_VEC_OUTER;
    stages_new(q, 2);
    uint32_t a = add_buf(q, v->d, false), b = add_buf(q, v->d, false), c = add_buf(q, v->d, true);
    lz_stage *s = stage_of(q, 0), *t = stage_of(q, 1);
    lz_access x = access_to(a), y = access_to(b), z = access_to(c);
    s->ninner = v->gradient ? 3 : 2;
    int64_t span = v->o, rows = v->o + v->pad;
    y.stride[no] = z.stride[no] = sz(1);
    for (uint32_t l = 0; l < no; l++)
        x.stride[l] = sz(v->gradient ? wat[l] : at[l]);
    for (uint32_t l = s->ninner; l-- > 0;) {
        s->extent[l] = sz(v->gradient ? px[l] : win[l]);
        x.stride[no + 1 + l] = sz(v->gradient ? at[l] : wat[l]);
        y.stride[no + 1 + l] = sz(span);
        span *= s->extent[l].v;
    }
    for (uint32_t l = no; l-- > 0;) {
        z.stride[l] = sz(rows);
        rows *= q->outer[l].v;
    }
    if (v->batch) {
        y.stride[0] = sz(span);
        span *= q->outer[0].v;
    }
    add_border(v, &x, 1, no + 1, v->h, 1);
    add_border(v, &x, 2, no + 2, v->w, v->c);
    int32_t u = add_load(q, s, x), w = add_load(q, s, y);
    add_red(s, LZ_OP_ADD, v->d, add_ew(s, LZ_OP_MULTIPLY, v->d, NULL, u, w, -1),
            add_const(s, v->d, 0));
    q->stages[0].dot =
        (lz_dot_info){.role = LZ_DOT_KERNEL, .m = no - 1, .n = no, .a_sop = u, .b_sop = w};
    int32_t r = add_redval(t, 0, 0, v->d);
    if (v->epi)
        r = add_ew(t, LZ_OP_MAXIMUM, v->d, NULL, r, add_const(t, v->d, 0), -1);
    add_store(t, z, r);
    must(lz_kernel_finish(q));
    total[0] = v->n * v->h * v->w * v->c;
    total[1] = span;
    total[2] = rows;
    return q;
}

/* Images along the last dimension. Windows: C[o, y, x, n] = sum of A[o, c, ky, kx] B[c, y s + ky, x
 * s + kx, n]. Gradient: C[o, c, ky, kx] = sum over y, x, n of A[o, y, x, n] and the same B. */
static inline lz_kernel *in_lanes(const image *v, int64_t *total)
{
    lz_kernel *q = lz_kernel_new("dot");
    int64_t oh = (v->h - v->kh) / v->stride + 1, ow = (v->w - v->kw) / v->stride + 1;
    int64_t px[3] = {oh, ow, v->n}, win[3] = {v->c, v->kh, v->kw};
    int64_t at[3] = {v->stride * v->w * v->n, v->stride * v->n, 1},
            wat[3] = {v->h * v->w * v->n, v->w * v->n, v->n};
    const int64_t *out = v->gradient ? win : px, *out_at = v->gradient ? wat : at,
                  *in = v->gradient ? px : win, *in_at = v->gradient ? at : wat;
    /* loops: the result's but the last, the features, the last */
    static const uint32_t loop[3] = {0, 1, 3};
    q->nouter = 4;
    q->outer[2] = sz(v->o);
    q->vec = LZ_VEC_OUTER;
    stages_new(q, 2);
    uint32_t a = add_buf(q, v->d, false), b = add_buf(q, v->d, false), c = add_buf(q, v->d, true);
    lz_stage *s = stage_of(q, 0), *t = stage_of(q, 1);
    lz_access x = access_to(a), y = access_to(b), z = access_to(c);
    s->ninner = 3;
    int64_t span = 1, rows = 1;
    for (int l = 3; l-- > 0;) {
        q->outer[loop[l]] = sz(out[l]);
        y.stride[loop[l]] = sz(out_at[l]);
        z.stride[loop[l]] = sz(rows);
        rows *= out[l] + (l == 2 ? v->pad : 0);
        s->extent[l] = sz(in[l]);
        y.stride[4 + l] = sz(in_at[l]);
        x.stride[4 + l] = sz(span);
        span *= in[l];
    }
    x.stride[2] = sz(span);
    z.stride[2] = sz(rows);
    add_border(v, &y, 0, 5, v->h, 1);
    add_border(v, &y, 1, 6, v->w, 1);
    int32_t u = add_load(q, s, x), w = add_load(q, s, y);
    add_red(s, LZ_OP_ADD, v->d, add_ew(s, LZ_OP_MULTIPLY, v->d, NULL, u, w, -1),
            add_const(s, v->d, 0));
    q->stages[0].dot = (lz_dot_info){.role = LZ_DOT_KERNEL, .m = 2, .n = 3, .a_sop = u, .b_sop = w};
    int32_t r = add_redval(t, 0, 0, v->d);
    if (v->epi)
        r = add_ew(t, LZ_OP_MAXIMUM, v->d, NULL, r, add_const(t, v->d, 0), -1);
    add_store(t, z, r);
    must(lz_kernel_finish(q));
    total[0] = v->o * span;
    total[1] = v->c * v->h * v->w * v->n;
    total[2] = v->o * rows;
    return q;
}

/* The factor with the pixels has `value` where the edges are. */
static inline void fill_edges(const image *v, char *p, double value)
{
    int64_t most = v->lanes ? v->c : v->n, per = v->lanes ? v->n : v->c;
    for (int64_t i = 0; i < most * v->h * v->w; i++) {
        int64_t x = i % v->w, y = i / v->w % v->h;
        if (x >= v->edge && x < v->w - v->edge && y >= v->edge && y < v->h - v->edge)
            continue;
        for (int64_t j = 0; j < per; j++)
            lz_elem_set_f64(v->d, p, i * per + j, value);
    }
}
#endif
