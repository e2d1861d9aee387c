/* eval_window.c - reference evaluation of reduce_window, select_and_scatter and window_view.
 * Padding of reduce_window is its initial value, as the specification has it. Sums and products of
 * floats are accumulated one format wider and rounded once.
 * Threads: pure. */
#include "ir/eval/eval.h"
#include "ir/window.h"
#include <math.h>
#include <string.h>

/* ---- walking windows ---- */

typedef struct windows {
    const lz_shape *in;
    int64_t strides[LZ_MAX_RANK]; /* of the operand */
    lz_window_axis w[LZ_MAX_RANK];
    int64_t size[LZ_MAX_RANK];
} windows;

static void strides_of(windows *s, const lz_shape *in)
{
    s->in = in;
    lz_ref_strides(in, s->strides);
    for (int d = 0; d < in->rank; d++)
        s->size[d] = s->w[d].size;
}

/* The elements of one window that are data, in row-major order: whatever the window's size, no more
 * than there are. */
typedef struct inside {
    const windows *s;
    bool more;
    int64_t start[LZ_MAX_RANK];                    /* of the window, in the dilated operand */
    int64_t first[LZ_MAX_RANK], last[LZ_MAX_RANK]; /* elements of the operand in its reach */
    int64_t idx[LZ_MAX_RANK];                      /* of the operand */
    int64_t j[LZ_MAX_RANK];                        /* of the window */
} inside;

/* To the first element from e on that is in the window in dimension d. */
static bool seek(inside *w, int d, int64_t e)
{
    const lz_window_axis *x = &w->s->w[d];
    while (e <= w->last[d] && (e * x->base - w->start[d]) % x->dilation != 0)
        e++;
    if (e > w->last[d])
        return false;
    w->idx[d] = e;
    w->j[d] = (e * x->base - w->start[d]) / x->dilation;
    return true;
}

static inside inside_of(const windows *s, const int64_t *i)
{
    inside w = {.s = s, .more = true};
    for (int d = 0; d < s->in->rank && w.more; d++) {
        const lz_window_axis *x = &s->w[d];
        int64_t start, end;
        if (x->low == INT64_MIN || !lz_add_i64(i[d] * x->stride, -x->low, &start)) {
            w.more = false; /* behind all data */
            break;
        }
        if (!lz_add_i64(start, (x->size - 1) * x->dilation, &end))
            end = INT64_MAX;
        w.start[d] = start;
        w.first[d] = start <= 0 ? 0 : (start - 1) / x->base + 1;
        w.last[d] = end < 0 ? -1 : end / x->base;
        if (w.last[d] >= s->in->dims[d])
            w.last[d] = s->in->dims[d] - 1;
        w.more = x->size > 0 && seek(&w, d, w.first[d]);
        w.first[d] = w.idx[d];
    }
    return w;
}

static void inside_next(inside *w)
{
    for (int d = w->s->in->rank; d-- > 0;) {
        if (seek(w, d, w->idx[d] + 1))
            return;
        (void)seek(w, d, w->first[d]);
    }
    w->more = false;
}

static int64_t position(const inside *w)
{
    return lz_ref_dot_index(w->s->in->rank, w->idx, w->s->strides);
}

/* ---- reduce_window ---- */

typedef struct fold {
    const lz_ref_call *c;
    windows s;
    lz_op op; /* NONE: the region */
    lz_ref_region *r;
    lz_ref_slot *acc, *was;
    bool effects; /* the region has: it is called for each element */
    const void **args;
    void **out;
} fold;

/* Operand k at a position; the initial value in padding. */
static const void *element(const fold *f, uint32_t k, int64_t at)
{
    uint32_t n = f->c->sig->nresult;
    return at < 0 ? f->c->opnd[n + k]->data
                  : (const char *)f->c->opnd[k]->data +
                        (size_t)at * lz_dtype_size(f->c->sig->opnd[k]->dtype);
}

/* All elements of a window, padding included, in row-major order. */
typedef struct elements {
    lz_ref_walk w;
    inside data;
    bool is_data; /* the element is that of `data` */
} elements;

static void look(elements *e)
{
    e->is_data = e->w.more && e->data.more &&
                 memcmp(e->w.idx, e->data.j, sizeof *e->data.j * (size_t)e->w.rank) == 0;
}
static elements elements_of(const windows *s, const int64_t *i)
{
    elements e = {.w = lz_ref_walk_of(s->in->rank, s->size), .data = inside_of(s, i)};
    look(&e);
    return e;
}

/* To the next one. unchanged: the last one was padding and has changed nothing, so none up to the
 * next element will: they may be more than anyone can count. */
static void next(elements *e, bool unchanged)
{
    if (e->is_data)
        inside_next(&e->data);
    if (!e->is_data && unchanged) {
        e->w.more = e->data.more;
        memcpy(e->w.idx, e->data.j, sizeof e->w.idx);
    } else {
        lz_ref_walk_next(&e->w);
    }
    look(e);
}

static int64_t element_at(const elements *e)
{
    return e->is_data ? position(&e->data) : -1;
}

static void fold_wide(const fold *f, const int64_t *i, int64_t to)
{
    lz_dtype d = f->c->sig->result[0]->dtype;
    double acc = lz_ref_load_f(d, element(f, 0, -1), 0);
    long double wide = acc;
    bool unchanged = false;
    for (elements e = elements_of(&f->s, i); e.w.more && !isnan(acc) && !isnan(wide);
         next(&e, unchanged)) {
        double x = lz_ref_load_f(d, element(f, 0, element_at(&e)), 0), was = acc;
        long double was_wide = wide;
        if (d == LZ_F64)
            wide = f->op == LZ_OP_ADD ? wide + x : wide * x;
        else
            acc = f->op == LZ_OP_ADD ? acc + x : acc * x;
        unchanged = was == acc && was_wide == wide && !signbit(was) == !signbit(acc) &&
                    !signbit(was_wide) == !signbit(wide);
    }
    lz_ref_store_f(d, f->c->result[0]->data, to, d == LZ_F64 ? (double)wide : acc);
}

static lz_status fold_region(const fold *f, const int64_t *i, int64_t to)
{
    uint32_t n = f->c->sig->nresult;
    bool unchanged = false;
    for (uint32_t k = 0; k < n; k++) {
        lz_ref_copy_element(&f->acc[k], element(f, k, -1),
                            lz_dtype_size(f->c->sig->opnd[k]->dtype));
        f->args[k] = f->out[k] = &f->acc[k];
    }
    for (elements e = elements_of(&f->s, i); e.w.more; next(&e, unchanged)) {
        int64_t at = element_at(&e);
        for (uint32_t k = 0; k < n; k++)
            f->args[n + k] = element(f, k, at);
        memcpy(f->was, f->acc, n * sizeof *f->acc);
        LZ_TRY(lz_ref_region_call(f->r, f->args, f->out));
        unchanged = !f->effects && memcmp(f->was, f->acc, n * sizeof *f->acc) == 0;
    }
    for (uint32_t k = 0; k < n; k++) {
        size_t esize = lz_dtype_size(f->c->sig->result[k]->dtype);
        memcpy((char *)f->c->result[k]->data + (size_t)to * esize, &f->acc[k], esize);
    }
    return LZ_OK;
}

static lz_status fold_all(const fold *f)
{
    const lz_type *t = f->c->sig->result[0];
    bool wide = (f->op == LZ_OP_ADD || f->op == LZ_OP_MULTIPLY) && lz_dtype_is_float(t->dtype);
    int64_t to = 0;
    for (lz_ref_walk o = lz_ref_walk_of(t->shape.rank, t->shape.dims); o.more;
         lz_ref_walk_next(&o), to++) {
        if (wide)
            fold_wide(f, o.idx, to);
        else
            LZ_TRY(fold_region(f, o.idx, to));
    }
    return LZ_OK;
}

lz_status lz_ref_reduce_window(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    const lz_attr_reduce_window *a = LZ_ATTR(reduce_window, c->sig->attr);
    uint32_t n = c->sig->nresult;
    fold f = {.c = c,
              .op = n == 1 ? lz_region_as_binary(a->body) : LZ_OP_NONE,
              .effects = a->body->effects};
    for (int d = 0; d < c->sig->opnd[0]->shape.rank; d++)
        f.s.w[d] = lz_window_of_reduce(a, d);
    strides_of(&f.s, &c->sig->opnd[0]->shape);
    LZ_TRY(lz_ref_region_new(a->body, c->depth, &f.r));
    f.args = lz_calloc(3 * (size_t)n, sizeof *f.args);
    f.acc = lz_calloc(2 * (size_t)n, sizeof *f.acc);
    f.was = f.acc ? f.acc + n : NULL;
    f.out = (void **)(f.args + 2 * (size_t)n);
    lz_status s = f.args && f.acc ? fold_all(&f)
                                  : LZ_FAIL(LZ_EMEM, "reduce_window: no memory for %u operands", n);
    lz_free(f.args);
    lz_free(f.acc);
    lz_ref_region_free(f.r);
    return s;
}

/* ---- select_and_scatter ---- */

typedef struct choice {
    const lz_ref_call *c;
    windows s;
    lz_ref_region *select, *scatter;
    size_t esize;
} choice;

/* Position of the chosen element of window i, in row-major order the first that no later one
 * displaces; -1: the window has none. */
static lz_status choose(const choice *h, const int64_t *i, int64_t *chosen)
{
    const char *x = h->c->opnd[0]->data;
    *chosen = -1;
    for (inside w = inside_of(&h->s, i); w.more; inside_next(&w)) {
        int64_t at = position(&w);
        uint64_t keep = 0;
        if (*chosen >= 0) {
            const void *args[2] = {x + (size_t)*chosen * h->esize, x + (size_t)at * h->esize};
            void *out[1] = {&keep};
            LZ_TRY(lz_ref_region_call(h->select, args, out));
        }
        if (!(keep & 1))
            *chosen = at;
    }
    return LZ_OK;
}

/* One sum per element of the result, wider than the dtype: only an addition of floats needs it. */
static lz_status scatter_sums(const choice *h, double *sum)
{
    const lz_type *t = h->c->sig->result[0], *source = h->c->sig->opnd[1];
    int64_t from = 0, at;
    for (int64_t k = 0; k < t->nelem; k++)
        sum[k] = lz_ref_load_f(t->dtype, h->c->opnd[2]->data, 0);
    for (lz_ref_walk o = lz_ref_walk_of(source->shape.rank, source->shape.dims); o.more;
         lz_ref_walk_next(&o), from++) {
        LZ_TRY(choose(h, o.idx, &at));
        if (at >= 0)
            sum[at] += lz_ref_load_f(t->dtype, h->c->opnd[1]->data, from);
    }
    for (int64_t k = 0; k < t->nelem; k++)
        lz_ref_store_f(t->dtype, h->c->result[0]->data, k, sum[k]);
    return LZ_OK;
}

static lz_status scatter_all(const choice *h)
{
    const lz_type *t = h->c->sig->result[0], *source = h->c->sig->opnd[1];
    char *dst = h->c->result[0]->data;
    const char *src = h->c->opnd[1]->data;
    for (int64_t k = 0; k < t->nelem; k++)
        memcpy(dst + (size_t)k * h->esize, h->c->opnd[2]->data, h->esize);
    for (lz_ref_walk o = lz_ref_walk_of(source->shape.rank, source->shape.dims); o.more;
         lz_ref_walk_next(&o), src += h->esize) {
        int64_t at;
        LZ_TRY(choose(h, o.idx, &at));
        if (at < 0)
            continue;
        const void *args[2] = {dst + (size_t)at * h->esize, src};
        void *out[1] = {dst + (size_t)at * h->esize};
        LZ_TRY(lz_ref_region_call(h->scatter, args, out));
    }
    return LZ_OK;
}

static lz_status run_choice(choice *h)
{
    const lz_type *t = h->c->sig->result[0];
    const lz_attr_select_and_scatter *a = LZ_ATTR(select_and_scatter, h->c->sig->attr);
    LZ_TRY(lz_ref_region_new(a->select, h->c->depth, &h->select));
    LZ_TRY(lz_ref_region_new(a->scatter, h->c->depth, &h->scatter));
    if (lz_region_as_binary(a->scatter) != LZ_OP_ADD || !lz_dtype_is_float(t->dtype))
        return scatter_all(h);
    double *sum = lz_calloc((size_t)t->nelem + 1, sizeof *sum);
    if (!sum)
        return LZ_FAIL(LZ_EMEM, "select_and_scatter: no memory for its sums");
    lz_status s = scatter_sums(h, sum);
    lz_free(sum);
    return s;
}

lz_status lz_ref_select_and_scatter(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    choice h = {.c = c, .esize = lz_dtype_size(c->sig->result[0]->dtype)};
    for (int d = 0; d < c->sig->opnd[0]->shape.rank; d++)
        h.s.w[d] = lz_window_of_select(LZ_ATTR(select_and_scatter, c->sig->attr), d);
    strides_of(&h.s, &c->sig->opnd[0]->shape);
    lz_status s = run_choice(&h);
    lz_ref_region_free(h.select);
    lz_ref_region_free(h.scatter);
    return s;
}

/* ---- window_view ---- */

lz_status lz_ref_window_view(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    const lz_attr_window_view *a = LZ_ATTR(window_view, c->sig->attr);
    const lz_shape *in = &c->sig->opnd[0]->shape, *out = &c->sig->result[0]->shape;
    int64_t is[LZ_MAX_RANK], os[LZ_MAX_RANK], ss[LZ_MAX_RANK] = {0};
    if (c->result[0]->type->nelem == 0)
        return LZ_OK;
    lz_ref_strides(in, is);
    lz_ref_strides(out, os);
    memcpy(ss, is, sizeof ss);
    for (int k = 0; k < a->dimensions.n; k++) {
        int64_t d = a->dimensions.v[k];
        ss[d] = out->dims[d] > 1 ? is[d] * a->strides.v[k] : 0;
        ss[in->rank + k] = a->sizes.v[k] > 1 ? is[d] * a->dilations.v[k] : 0;
    }
    lz_ref_copy_affine(out->rank, out->dims, lz_dtype_size(c->sig->result[0]->dtype),
                       c->result[0]->data, 0, os, c->opnd[0]->data, 0, ss);
    return LZ_OK;
}
