/* einsum.c - lz_einsum: labels read, then operands contracted from left to right, each step one
 * dot_general.
 * Labels are numbers: 0..51 letters, 52.. dimensions of the ellipsis, counted from its last.
 *   Source: ATen einsum (Linear.cpp), NumPy's notation. */
#include "ops/compose.h"
#include <inttypes.h>
#include <lazuli/linalg_ops.h>

enum { LETTERS = 52, LABELS = LETTERS + LZ_MAX_RANK };

typedef struct term { /* a tensor and the label of each of its dimensions */
    lz_node *x;
    int n;
    int label[LZ_MAX_RANK];
} term;

typedef struct einsum {
    const char *text;       /* what is left to read */
    int64_t extent[LABELS]; /* -1: not seen */
    int uses[LABELS];       /* operands not contracted yet that have it, and the result */
    int letters[LETTERS];   /* how often each letter is written, for a result that is not given */
    int ellipsis;           /* dimensions of the longest one */
} einsum;

static int letter(char k)
{
    return k >= 'A' && k <= 'Z' ? k - 'A' : k >= 'a' && k <= 'z' ? 26 + k - 'a' : -1;
}

/* Labels up to ',' or '-' or the end. -1 in `out` stands for the ellipsis. The number of entries,
 * or -1 with the error recorded. */
static int read_labels(einsum *e, int *out)
{
    int n = 0;
    bool dots = false;
    for (; *e->text && *e->text != ',' && *e->text != '-'; e->text++) {
        char k = *e->text;
        if (k == ' ')
            continue;
        bool is_dots = k == '.' && e->text[1] == '.' && e->text[2] == '.';
        if ((letter(k) < 0 && !is_dots) || (is_dots && dots)) {
            LZ_FAIL(LZ_EINVAL, "equation: \"%.20s\": letters, one \"...\", ',' and \"->\" are read",
                    e->text);
            return -1;
        }
        if (n == LZ_MAX_RANK + 1) {
            LZ_FAIL(LZ_ERANGE, "equation: more than %d dimensions in one operand", LZ_MAX_RANK);
            return -1;
        }
        out[n++] = is_dots ? -1 : letter(k);
        dots |= is_dots;
        e->text += is_dots ? 2 : 0;
    }
    return n;
}

static bool see(einsum *e, int label, int64_t extent, int operand)
{
    int64_t *have = &e->extent[label];
    if (*have < 0 || *have == 1)
        *have = extent;
    if (*have == extent || extent == 1)
        return true;
    LZ_FAIL(LZ_ESHAPE, "operand %d: '%c' is %" PRId64 " here and %" PRId64 " before", operand,
            label >= LETTERS ? '.'
            : label < 26     ? 'A' + label
                             : 'a' + label - 26,
            extent, *have);
    return false;
}

/* Labels of one operand: the ellipsis spelt out, repeated ones made a diagonal. */
static bool read_operand(lz_tracer *c, einsum *e, lz_node *x, int operand, term *t)
{
    int spelt[LZ_MAX_RANK + 1], n = read_labels(e, spelt);
    if (n < 0)
        return false;
    int rank = lz_tracer_shape(x)->rank, dots = -1;
    for (int i = 0; i < n; i++)
        dots = spelt[i] < 0 ? i : dots;
    int hidden = dots < 0 ? 0 : rank - (n - 1);
    if (hidden < 0 || (dots < 0 && n != rank)) {
        LZ_FAIL(LZ_ESHAPE, "operand %d has rank %d, the equation gives it %d dimensions", operand,
                rank, dots < 0 ? n : n - 1);
        return false;
    }
    *t = (term){.x = x};
    for (int i = 0; i < n; i++) {
        if (spelt[i] >= 0) {
            e->letters[spelt[i]]++;
            t->label[t->n++] = spelt[i];
        }
        for (int k = hidden; spelt[i] < 0 && k > 0; k--)
            t->label[t->n++] = LETTERS + k - 1;
    }
    e->ellipsis = hidden > e->ellipsis ? hidden : e->ellipsis;
    for (int i = 0; i < t->n; i++)
        for (int k = i + 1; k < t->n; k++)
            if (t->label[i] == t->label[k]) {
                int label = t->label[i];
                const lz_shape *s = lz_tracer_shape(t->x);
                if (s->dims[i] != s->dims[k]) {
                    LZ_FAIL(LZ_ESHAPE,
                            "operand %d: one letter for extents %" PRId64 " and %" PRId64, operand,
                            s->dims[i], s->dims[k]);
                    return false;
                }
                if (!(t->x = lz_tracer_diagonal(c, t->x, 0, i, k)))
                    return false;
                for (int j = 0, w = 0; j < t->n; j++)
                    if (j != i && j != k)
                        t->label[w++] = t->label[j];
                t->label[--t->n - 1] = label;
                i = -1; /* from the start again */
                break;
            }
    for (int i = 0; i < t->n; i++)
        if (!see(e, t->label[i], lz_tracer_shape(t->x)->dims[i], operand))
            return false;
    return true;
}

static bool read_result(einsum *e, int *out, int *n)
{
    int spelt[LZ_MAX_RANK + 1], count = 0;
    *n = 0;
    if (*e->text == '-') {
        if (e->text[1] != '>') {
            LZ_FAIL(LZ_EINVAL, "equation: \"%.20s\": \"->\" is meant?", e->text);
            return false;
        }
        e->text += 2;
        if ((count = read_labels(e, spelt)) < 0)
            return false;
        if (*e->text) {
            LZ_FAIL(LZ_EINVAL, "equation: \"%.20s\" after the result", e->text);
            return false;
        }
    } else { /* the ellipsis, then the letters that come once */
        int total = 0;
        for (int l = 0; l < LETTERS; l++)
            total += e->letters[l] == 1;
        if (total > LZ_MAX_RANK) {
            LZ_FAIL(LZ_ESHAPE, "the result would have rank %d", total);
            return false;
        }
        spelt[count++] = -1;
        for (int l = 0; l < LETTERS; l++)
            if (e->letters[l] == 1)
                spelt[count++] = l;
    }
    for (int i = 0; i < count; i++) {
        int first = spelt[i] < 0 ? LETTERS + e->ellipsis - 1 : spelt[i],
            last = spelt[i] < 0 ? LETTERS : spelt[i];
        for (int l = first; l >= last; l--) {
            bool twice = false;
            for (int k = 0; k < *n; k++)
                twice |= out[k] == l;
            if (twice || e->extent[l] < 0 || *n == LZ_MAX_RANK) {
                LZ_FAIL(LZ_EINVAL,
                        "equation: a letter of the result comes twice, is in no operand, or is one "
                        "too many");
                return false;
            }
            out[(*n)++] = l;
        }
    }
    return true;
}

/* Dimensions of extent 1 whose letter is longer elsewhere: the value does not depend on them. */
static bool drop_ones(lz_tracer *c, const einsum *e, term *t)
{
    for (int i = t->n - 1; i >= 0; i--)
        if (lz_tracer_shape(t->x)->dims[i] == 1 && e->extent[t->label[i]] != 1) {
            if (!(t->x = lz_tracer_squeeze(c, t->x, i)))
                return false;
            for (int k = i; k + 1 < t->n; k++)
                t->label[k] = t->label[k + 1];
            t->n--;
        }
    return true;
}

/* Sums the dimensions that nobody needs any more. */
static bool sum_out(lz_tracer *c, const einsum *e, term *t)
{
    lz_ints dims = {0};
    int w = 0;
    for (int i = 0; i < t->n; i++)
        if (e->uses[t->label[i]] == 0)
            dims.v[dims.n++] = i;
        else
            t->label[w++] = t->label[i];
    t->n = w;
    if (dims.n == 0)
        return true;
    lz_dtype d = lz_tracer_dtype(t->x);
    t->x = TO(lz_tracer_reduce(c, LZ_OP_ADD, lz_tracer_wide(c, t->x), &dims), d);
    return t->x != NULL;
}

static int place(const term *t, int label)
{
    for (int i = 0; i < t->n; i++)
        if (t->label[i] == label)
            return i;
    return -1;
}

/* a becomes the product of a and b: labels of both are a batch when still needed, and contracted
 * when not. */
static bool multiply(lz_tracer *c, const einsum *e, term *a, const term *b)
{
    lz_attr_any r;
    term out = {0};
    lz_attr_init(&r, LZ_ATTR_dot);
    lz_ints *lb = &r.as_dot.lhs_batching_dimensions, *rb = &r.as_dot.rhs_batching_dimensions;
    lz_ints *lc = &r.as_dot.lhs_contracting_dimensions, *rc = &r.as_dot.rhs_contracting_dimensions;
    int label[2 * LZ_MAX_RANK], n = 0;
    for (int i = 0; i < a->n; i++) {
        int k = place(b, a->label[i]);
        if (k < 0)
            continue;
        if (e->uses[a->label[i]]) {
            lb->v[lb->n++] = i;
            rb->v[rb->n++] = k;
            label[n++] = a->label[i];
        } else {
            lc->v[lc->n++] = i;
            rc->v[rc->n++] = k;
        }
    }
    for (int i = 0; i < a->n; i++)
        if (place(b, a->label[i]) < 0)
            label[n++] = a->label[i];
    for (int i = 0; i < b->n; i++)
        if (place(a, b->label[i]) < 0)
            label[n++] = b->label[i];
    if (n > LZ_MAX_RANK) {
        LZ_FAIL(LZ_ESHAPE, "a product on the way has rank %d: order the operands differently", n);
        return false;
    }
    for (int i = 0; i < n; i++)
        out.label[i] = label[i];
    out.n = n;
    lz_node *o[2] = {a->x, b->x};
    out.x = lz_tracer_op(c, LZ_OP_DOT_GENERAL, &r.head, o, 2);
    *a = out;
    return out.x != NULL;
}

/* The result's order; letters that only have dropped ones are repeated. */
static lz_node *arrange(lz_tracer *c, const einsum *e, const term *t, const int *out, int n)
{
    lz_ints perm = {.n = t->n}, dims = {.n = t->n};
    lz_shape s = {.rank = n};
    int w = 0;
    for (int i = 0; i < n; i++) {
        int k = place(t, out[i]);
        s.dims[i] = e->extent[out[i]];
        if (k >= 0) {
            perm.v[w] = k;
            dims.v[w++] = i;
        }
    }
    lz_node *x = lz_tracer_transpose(c, t->x, &perm);
    return x && w < n ? lz_tracer_broadcast_in_dim(c, x, &dims, &s) : x;
}

static lz_node *run(lz_tracer *c, einsum *e, lz_node **o, int n)
{
    term few[16], *t = few;
    int out[LZ_MAX_RANK], nout = 0;
    lz_node *r = NULL;
    if (n > 16 && !(t = lz_calloc((size_t)n, sizeof *t))) {
        LZ_FAIL(LZ_EMEM, "no memory for %d operands", n);
        return NULL;
    }
    bool ok = true;
    for (int i = 0; ok && i < n; i++) {
        ok = read_operand(c, e, o[i], i, &t[i]);
        if (ok && i + 1 < n && *e->text++ != ',') {
            LZ_FAIL(LZ_EINVAL, "the equation is for %d operands, there are %d", i + 1, n);
            ok = false;
        }
    }
    if (ok && *e->text == ',') {
        LZ_FAIL(LZ_EINVAL, "the equation is for more than the %d operands there are", n);
        ok = false;
    }
    ok = ok && read_result(e, out, &nout);
    for (int i = 0; ok && i < nout; i++)
        e->uses[out[i]]++;
    for (int i = 0; ok && i < n; i++) {
        ok = drop_ones(c, e, &t[i]);
        for (int k = 0; k < t[i].n; k++)
            e->uses[t[i].label[k]]++;
    }
    for (int i = 0; ok && i < n; i++) {
        for (int k = 0; k < t[i].n; k++) /* it does not need its own */
            e->uses[t[i].label[k]]--;
        if (i == 0) {
            ok = sum_out(c, e, &t[0]);
        } else { /* a label that only the new operand has is summed before the product */
            for (int k = 0; k < t[0].n; k++)
                e->uses[t[0].label[k]] += 1;
            ok = sum_out(c, e, &t[i]);
            for (int k = 0; k < t[0].n; k++)
                e->uses[t[0].label[k]] -= 1;
            ok = ok && multiply(c, e, &t[0], &t[i]);
        }
    }
    if (ok)
        r = arrange(c, e, &t[0], out, nout);
    if (t != few)
        lz_free(t);
    return r;
}

static lz_node *contract(lz_tracer *c, const char *equation, lz_node **o, int n)
{
    einsum e = {.text = equation};
    for (int l = 0; l < LABELS; l++)
        e.extent[l] = -1;
    return run(c, &e, o, n);
}

lz_tensor *lz_bilinear_at(lz_tensor *x1, lz_tensor *x2, lz_tensor *weight, lz_tensor *bias,
                          const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_node *few[16], *r = NULL;
    BEGIN("lz_bilinear");
    lz_tensor *xs[] = {x1, weight, x2, bias};
    lz_node **o = lz_tracer_operands(c, xs, bias ? 4 : 3, few);
    if (o && (r = contract(c, "...i,kij,...j->...k", o, 3)) && bias)
        r = lz_tracer_binary(c, LZ_OP_ADD, r, o[3]);
    return lz_tracer_end(c, r);
}

lz_tensor *lz_einsum_at(const char *equation, lz_tensor *const *xs, int n, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_node *few[16], *r = NULL;
    BEGIN("lz_einsum");
    if (!equation) {
        LZ_FAIL(LZ_ENULL, "equation is NULL");
        return lz_tracer_end(c, NULL);
    }
    lz_node **o = lz_tracer_operands(c, xs, n, few);
    if (o)
        r = contract(c, equation, o, n);
    if (o && o != few)
        lz_free(o);
    return lz_tracer_end(c, r);
}
