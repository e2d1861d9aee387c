/* train_step.c - a tape for steps of training, and models on it. See train_step.h. */
#include "support/train_step.h"
#include "ir/attr.h"
#include <stdio.h>
#include <string.h>

static const lz_type *type_of(const int64_t *dims)
{
    lz_shape s = {0};
    while (dims[s.rank]) {
        s.dims[s.rank] = dims[s.rank];
        s.rank++;
    }
    return lz_type_get(LZ_F32, &s);
}

void lz_step_begin(lz_step *s, bool momentum)
{
    memset(s, 0, sizeof *s);
    s->f = lz_func_new("step");
    s->momentum = momentum;
}

lz_val lz_step_weight(lz_step *s, const int64_t *dims)
{
    lz_val v = lz_build_param(s->f, type_of(dims));
    s->weight[s->nweight] = v;
    if (s->momentum)
        s->state[s->nweight] = lz_build_param(s->f, type_of(dims));
    s->nweight++;
    return v;
}

lz_val lz_step_input(lz_step *s, const int64_t *dims)
{
    return lz_build_param(s->f, type_of(dims));
}

/* ---- operations without a tape ---- */

static int at(const char *labels, size_t n, char c)
{
    const char *p = memchr(labels, c, n);
    return p ? (int)(p - labels) : -1;
}

typedef struct product {
    const char *a, *b, *out;
    size_t na, nb, nout;
} product;

static product split(const char *text)
{
    const char *comma = strchr(text, ','), *arrow = strstr(text, "->");
    return (product){text,
                     comma + 1,
                     arrow + 2,
                     (size_t)(comma - text),
                     (size_t)(arrow - comma - 1),
                     strlen(arrow + 2)};
}

static lz_val einsum(lz_func *f, const char *text, lz_val a, lz_val b)
{
    product p = split(text);
    lz_attr_dot d = {.kind = LZ_ATTR_dot};
    char made[32];
    size_t n = 0;
    for (size_t i = 0; i < p.na; i++) {
        int k = at(p.b, p.nb, p.a[i]);
        lz_ints *l = at(p.out, p.nout, p.a[i]) >= 0 ? &d.lhs_batching_dimensions
                                                    : &d.lhs_contracting_dimensions;
        lz_ints *r = l == &d.lhs_batching_dimensions ? &d.rhs_batching_dimensions
                                                     : &d.rhs_contracting_dimensions;
        if (k < 0)
            continue;
        l->v[l->n++] = (int64_t)i;
        r->v[r->n++] = k;
        if (l == &d.lhs_batching_dimensions)
            made[n++] = p.a[i];
    }
    for (size_t i = 0; i < p.na; i++)
        if (at(p.b, p.nb, p.a[i]) < 0)
            made[n++] = p.a[i];
    for (size_t i = 0; i < p.nb; i++)
        if (at(p.a, p.na, p.b[i]) < 0)
            made[n++] = p.b[i];
    lz_val v = lz_build(f, LZ_OP_DOT_GENERAL, (const lz_attr *)(const void *)&d,
                        (const lz_val[]){a, b}, 2);
    lz_ints perm = {.n = (int32_t)n};
    bool same = true;
    for (size_t i = 0; i < n; i++) {
        perm.v[i] = at(made, n, p.out[i]);
        same &= perm.v[i] == (int64_t)i;
    }
    return same ? v : lz_build_transpose(f, v, &perm);
}

/* Sums over the labels that `to` has not. */
static lz_val sum_to(lz_func *f, lz_val v, const char *labels, const char *to)
{
    lz_ints dims = {0};
    for (size_t i = 0; labels[i]; i++)
        if (!strchr(to, labels[i]))
            dims.v[dims.n++] = (int64_t)i;
    return lz_build_reduce(f, LZ_OP_ADD, v, lz_build_scalar(f, LZ_F32, 0), &dims);
}

static lz_val spread(lz_func *f, lz_val v, const char *labels, size_t n, const char *to,
                     const lz_type *like)
{
    lz_ints dims = {.n = (int32_t)n};
    for (size_t i = 0; i < n; i++)
        dims.v[i] = strchr(to, labels[i]) - to;
    return lz_build_broadcast(f, v, &dims, &like->shape);
}

/* ---- the tape ---- */

static lz_val record(lz_step *s, char kind, const char *text, lz_val a, lz_val b, lz_val out)
{
    lz_step_op *o = &s->op[s->nop++];
    *o = (lz_step_op){.kind = kind, .out = out, .a = a, .b = b};
    strncpy(o->text, text, sizeof o->text - 1);
    return out;
}

lz_val lz_step_einsum(lz_step *s, const char *text, lz_val a, lz_val b)
{
    return record(s, 'e', text, a, b, einsum(s->f, text, a, b));
}

lz_val lz_step_op1(lz_step *s, char kind, lz_val a)
{
    lz_op op = kind == 't' ? LZ_OP_TANH : LZ_OP_EXPONENTIAL;
    return record(s, kind, "", a, LZ_NOVAL, lz_build_ew1(s->f, op, a));
}

lz_val lz_step_op2(lz_step *s, char kind, lz_val a, lz_val b)
{
    lz_op op = kind == '+' ? LZ_OP_ADD : kind == '*' ? LZ_OP_MULTIPLY : LZ_OP_DIVIDE;
    return record(s, kind, "", a, b, lz_build_ew2(s->f, op, a, b));
}

lz_val lz_step_spread(lz_step *s, const char *text, lz_val a, lz_val like)
{
    const char *arrow = strstr(text, "->");
    return record(
        s, 's', text, a, LZ_NOVAL,
        spread(s->f, a, text, (size_t)(arrow - text), arrow + 2, lz_val_type(s->f, like)));
}

lz_val lz_step_softmax(lz_step *s, const char *labels, lz_val a)
{
    char text[48] = {0}, less[16] = {0};
    size_t n = strlen(labels) - 1;
    memcpy(less, labels, n);
    lz_val e = lz_step_op1(s, 'x', a);
    /* a sum is an einsum with ones */
    int64_t dims[2] = {lz_val_type(s->f, a)->shape.dims[n], 0};
    lz_val ones = lz_build_splat(s->f, type_of(dims), 1);
    strcat(strcat(strcat(strcat(strcat(text, labels), ","), labels + n), "->"), less);
    lz_val sum = lz_step_einsum(s, text, e, ones);
    text[0] = 0;
    strcat(strcat(strcat(text, less), "->"), labels);
    return lz_step_op2(s, '/', e, lz_step_spread(s, text, sum, e));
}

static void add_gradient(lz_func *f, lz_val *grad, lz_val v, lz_val g)
{
    if (v != LZ_NOVAL)
        grad[v] = grad[v] == LZ_NOVAL ? g : lz_build_ew2(f, LZ_OP_ADD, grad[v], g);
}

static void backward_einsum(lz_func *f, const lz_step_op *o, lz_val *grad)
{
    product p = split(o->text);
    char text[64];
    int n = (int)p.nout, na = (int)p.na, nb = (int)p.nb;
    snprintf(text, sizeof text, "%.*s,%.*s->%.*s", n, p.out, nb, p.b, na, p.a);
    add_gradient(f, grad, o->a, einsum(f, text, grad[o->out], o->b));
    snprintf(text, sizeof text, "%.*s,%.*s->%.*s", n, p.out, na, p.a, nb, p.b);
    if (lz_inst_op(&f->insts[o->b]) != LZ_OP_BROADCAST_IN_DIM || o->b < f->nparam)
        add_gradient(f, grad, o->b, einsum(f, text, grad[o->out], o->a));
}

static void backward(lz_func *f, const lz_step_op *o, lz_val *grad)
{
    lz_val g = grad[o->out], out = o->out, t;
    char to[16] = {0};
    const char *arrow = strstr(o->text, "->");
    switch (o->kind) {
    case 'e':
        backward_einsum(f, o, grad);
        break;
    case 't':
        t = lz_build_ew2(f, LZ_OP_MULTIPLY, g, lz_build_ew2(f, LZ_OP_MULTIPLY, out, out));
        add_gradient(f, grad, o->a, lz_build_ew2(f, LZ_OP_SUBTRACT, g, t));
        break;
    case 'x':
        add_gradient(f, grad, o->a, lz_build_ew2(f, LZ_OP_MULTIPLY, g, out));
        break;
    case '+':
        add_gradient(f, grad, o->a, g);
        add_gradient(f, grad, o->b, g);
        break;
    case '*':
        add_gradient(f, grad, o->a, lz_build_ew2(f, LZ_OP_MULTIPLY, g, o->b));
        add_gradient(f, grad, o->b, lz_build_ew2(f, LZ_OP_MULTIPLY, g, o->a));
        break;
    case '/':
        t = lz_build_ew2(f, LZ_OP_DIVIDE, g, o->b);
        add_gradient(f, grad, o->a, t);
        t = lz_build_ew1(f, LZ_OP_NEGATE, lz_build_ew2(f, LZ_OP_MULTIPLY, t, out));
        add_gradient(f, grad, o->b, t);
        break;
    default:
        memcpy(to, o->text, (size_t)(arrow - o->text));
        add_gradient(f, grad, o->a, sum_to(f, g, arrow + 2, to));
    }
}

static lz_val scaled(lz_func *f, lz_val v, double by)
{
    return lz_build_ew2(f, LZ_OP_MULTIPLY, v, lz_build_splat(f, lz_val_type(f, v), by));
}

lz_func *lz_step_end(lz_step *s, lz_val out)
{
    enum { VALUES = 1 << 15 };
    static lz_val grad[VALUES];
    lz_func *f = s->f;
    lz_val results[2 * LZ_STEP_PARAMS + 1];
    uint32_t n = 0;
    memset(grad, 0xff, sizeof grad); /* LZ_NOVAL */
    lz_ints all = {.n = lz_val_type(f, out)->shape.rank};
    for (int d = 0; d < all.n; d++)
        all.v[d] = d;
    results[n++] = lz_build_reduce(f, LZ_OP_ADD, lz_build_ew2(f, LZ_OP_MULTIPLY, out, out),
                                   lz_build_scalar(f, LZ_F32, 0), &all);
    grad[out] = scaled(f, out, 2);
    for (int i = s->nop; i-- > 0;)
        if (grad[s->op[i].out] != LZ_NOVAL)
            backward(f, &s->op[i], grad);
    for (int i = 0; i < s->nweight; i++) {
        lz_val g = grad[s->weight[i]];
        if (s->momentum)
            g = results[n + (uint32_t)s->nweight] =
                lz_build_ew2(f, LZ_OP_ADD, scaled(f, s->state[i], .9), scaled(f, g, .1));
        results[n++] = lz_build_ew2(f, LZ_OP_SUBTRACT, s->weight[i], scaled(f, g, .01));
    }
    n += s->momentum ? (uint32_t)s->nweight : 0;
    return f->status == LZ_OK && lz_func_set_results(f, results, n) == LZ_OK ? f : NULL;
}

/* ---- models ---- */

#define DIMS(...) ((const int64_t[]){__VA_ARGS__, 0})

lz_func *lz_step_mlp(int layers, int64_t rows, int64_t width, bool momentum)
{
    static lz_step s;
    lz_val w[LZ_STEP_PARAMS], b[LZ_STEP_PARAMS];
    lz_step_begin(&s, momentum);
    for (int i = 0; i < layers; i++) {
        w[i] = lz_step_weight(&s, DIMS(width, width));
        b[i] = lz_step_weight(&s, DIMS(width));
    }
    lz_val h = lz_step_input(&s, DIMS(rows, width));
    for (int i = 0; i < layers; i++) {
        h = lz_step_einsum(&s, "rd,df->rf", h, w[i]);
        h = lz_step_op2(&s, '+', h, lz_step_spread(&s, "f->rf", b[i], h));
        h = i < layers - 1 ? lz_step_op1(&s, 't', h) : h;
    }
    return lz_step_end(&s, h);
}

typedef struct head {
    lz_val q, k, v, o;
} head;

static head head_weights(lz_step *s, int64_t width, int64_t heads)
{
    head h;
    h.q = lz_step_weight(s, DIMS(width, heads, width / heads));
    h.k = lz_step_weight(s, DIMS(width, heads, width / heads));
    h.v = lz_step_weight(s, DIMS(width, heads, width / heads));
    h.o = lz_step_weight(s, DIMS(heads, width / heads, width));
    return h;
}

static lz_val attend(lz_step *s, const head *h, lz_val x)
{
    lz_val q = lz_step_einsum(s, "bsd,dhk->bhsk", x, h->q);
    lz_val k = lz_step_einsum(s, "bsd,dhk->bhsk", x, h->k);
    lz_val v = lz_step_einsum(s, "bsd,dhk->bhsk", x, h->v);
    lz_val a = lz_step_softmax(s, "bhst", lz_step_einsum(s, "bhsk,bhtk->bhst", q, k));
    lz_val o = lz_step_einsum(s, "bhst,bhtk->bhsk", a, v);
    return lz_step_op2(s, '+', x, lz_step_einsum(s, "bhsk,hkd->bsd", o, h->o));
}

lz_func *lz_step_attention(int64_t batch, int64_t length, int64_t width, int64_t heads)
{
    static lz_step s;
    lz_step_begin(&s, false);
    head h = head_weights(&s, width, heads);
    lz_val x = lz_step_input(&s, DIMS(batch, length, width));
    return lz_step_end(&s, attend(&s, &h, x));
}

lz_func *lz_step_gpt(int layers, int64_t batch, int64_t length, int64_t width, int64_t heads,
                     int64_t words, bool momentum)
{
    static lz_step s;
    head h[16];
    lz_val up[16], bias[16], down[16], gain[16];
    lz_step_begin(&s, momentum);
    lz_val embedding = lz_step_weight(&s, DIMS(words, width));
    lz_val places = lz_step_weight(&s, DIMS(length, width));
    for (int i = 0; i < layers; i++) {
        gain[i] = lz_step_weight(&s, DIMS(width));
        h[i] = head_weights(&s, width, heads);
        up[i] = lz_step_weight(&s, DIMS(width, 4 * width));
        bias[i] = lz_step_weight(&s, DIMS(4 * width));
        down[i] = lz_step_weight(&s, DIMS(4 * width, width));
    }
    lz_val x =
        lz_step_einsum(&s, "bsv,vd->bsd", lz_step_input(&s, DIMS(batch, length, words)), embedding);
    x = lz_step_op2(&s, '+', x, lz_step_spread(&s, "sd->bsd", places, x));
    for (int i = 0; i < layers; i++) {
        x = attend(&s, &h[i], x);
        lz_val y = lz_step_op2(&s, '*', x, lz_step_spread(&s, "d->bsd", gain[i], x));
        y = lz_step_einsum(&s, "bsd,df->bsf", y, up[i]);
        y = lz_step_op1(&s, 't', lz_step_op2(&s, '+', y, lz_step_spread(&s, "f->bsf", bias[i], y)));
        x = lz_step_op2(&s, '+', x, lz_step_einsum(&s, "bsf,fd->bsd", y, down[i]));
    }
    return lz_step_end(&s,
                       lz_step_softmax(&s, "bsv", lz_step_einsum(&s, "bsd,vd->bsv", x, embedding)));
}

lz_func *lz_step_experts(int64_t rows, int64_t width, int64_t experts, int64_t capacity)
{
    static lz_step s;
    lz_step_begin(&s, false);
    lz_val router = lz_step_weight(&s, DIMS(width, experts));
    lz_val up = lz_step_weight(&s, DIMS(experts, width, 4 * width));
    lz_val down = lz_step_weight(&s, DIMS(experts, 4 * width, width));
    lz_val x = lz_step_input(&s, DIMS(rows, width));
    lz_val mask = lz_step_input(&s, DIMS(rows, experts, capacity));
    lz_val gate = lz_step_softmax(&s, "te", lz_step_einsum(&s, "td,de->te", x, router));
    lz_val combine = lz_step_op2(&s, '*', mask, lz_step_spread(&s, "te->tec", gate, mask));
    lz_val y = lz_step_einsum(&s, "tec,td->ecd", mask, x);
    y = lz_step_op1(&s, 't', lz_step_einsum(&s, "ecd,edf->ecf", y, up));
    y = lz_step_einsum(&s, "ecf,efd->ecd", y, down);
    return lz_step_end(&s, lz_step_einsum(&s, "tec,ecd->td", combine, y));
}
