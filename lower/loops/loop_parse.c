/* loop_parse.c - parses the text of a kernel (loop_print.c shows the grammar). The result is
 * finished: run-time arguments are numbered as in the text if it has any, else as lz_kernel_finish
 * decides.
 * Errors: LZ_EPARSE with line and column; well-formed text of a wrong kernel is the verifier's
 *   error.
 * Threads: pure. */
#include "lower/loops/loop.h"
#include "base/text.h"
#include "lower/loops/loop_impl.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SOPS = 1 << 20, MAX_ACCS = 1 << 14 };

typedef struct parser {
    const char *text, *p, *end;
    lz_kernel *k;
    bool slots; /* some size had an @ */
    int32_t next_slot;
    LZ_VEC(lz_sop) sops, body;
    LZ_VEC(lz_access) accs;
    LZ_VEC(bool) acc_known;
    LZ_VEC(lz_red) reds;
    lz_sort *sort;
    uint32_t nrow;
    int32_t row[LZ_ROW_MAX];
    LZ_VEC(lz_loop_store) stores;
    LZ_VEC(lz_stage) stages;
} parser;

static lz_status wrong(const parser *s, const char *what)
{
    int line = 1, col = 1;
    for (const char *p = s->text; p < s->p; p++) {
        col = *p == '\n' ? 1 : col + 1;
        line += *p == '\n';
    }
    return LZ_FAIL(LZ_EPARSE, "kernel text, line %d, column %d: %s", line, col, what);
}

static void skip(parser *s)
{
    while (s->p < s->end) {
        if (lz_is_space(*s->p)) {
            s->p++;
        } else if (s->end - s->p >= 2 && s->p[0] == '/' && s->p[1] == '/') {
            while (s->p < s->end && *s->p != '\n')
                s->p++;
        } else {
            break;
        }
    }
}

static bool word_char(char c)
{
    return lz_is_alnum(c) || c == '_' || c == '.';
}

/* Takes the token t if it is next; a word must end there. */
static bool take(parser *s, const char *t)
{
    skip(s);
    size_t n = strlen(t);
    if ((size_t)(s->end - s->p) < n || memcmp(s->p, t, n) != 0)
        return false;
    if (word_char(t[n - 1]) && s->p + n < s->end && word_char(s->p[n]))
        return false;
    s->p += n;
    return true;
}

static lz_status need(parser *s, const char *t)
{
    if (take(s, t))
        return LZ_OK;
    char m[64] = "expected ";
    strncat(m, t, sizeof m - strlen(m) - 1);
    return wrong(s, m);
}

static size_t word(parser *s, const char **w)
{
    skip(s);
    const char *p = s->p;
    while (p < s->end && word_char(*p))
        p++;
    size_t n = (size_t)(p - s->p);
    *w = s->p;
    s->p = p;
    return n;
}

static lz_status number(parser *s, int64_t *out)
{
    skip(s);
    size_t n = s->p < s->end && *s->p == '-';
    while (s->p + n < s->end && lz_is_digit(s->p[n]))
        n++;
    if (lz_text_i64(s->p, n, INT64_MIN, INT64_MAX, out) != LZ_OK)
        return wrong(s, "expected a number");
    s->p += n;
    return LZ_OK;
}

static lz_status small(parser *s, int64_t limit, int32_t *out)
{
    int64_t v = 0;
    LZ_TRY(number(s, &v));
    if (v < 0 || v >= limit)
        return wrong(s, "the number is out of range");
    *out = (int32_t)v;
    return LZ_OK;
}

static lz_status reg(parser *s, int32_t *out)
{
    LZ_TRY(need(s, "%"));
    return small(s, MAX_SOPS, out);
}

/* Slots must be numbered as the sizes stand in the text, which is checked at the end. */
static lz_status size(parser *s, lz_sz *out)
{
    out->slot = -1;
    LZ_TRY(number(s, &out->v));
    if (s->p < s->end && *s->p == '@') {
        s->p++;
        LZ_TRY(small(s, INT32_MAX, &out->slot));
        s->slots = true;
    }
    return LZ_OK;
}

static lz_status sizes(parser *s, lz_sz *out, uint32_t max, uint32_t *n)
{
    LZ_TRY(need(s, "["));
    *n = 0;
    if (take(s, "]"))
        return LZ_OK;
    do {
        if (*n == max)
            return wrong(s, "too many loops");
        LZ_TRY(size(s, &out[(*n)++]));
    } while (take(s, ","));
    return need(s, "]");
}

static lz_status dtype(parser *s, lz_dtype *out)
{
    const char *w;
    size_t n = word(s, &w);
    for (int d = 1; d < LZ_DTYPE_COUNT; d++)
        if (strlen(lz_dtype_name((lz_dtype)d)) == n &&
            memcmp(w, lz_dtype_name((lz_dtype)d), n) == 0) {
            *out = (lz_dtype)d;
            return LZ_OK;
        }
    s->p = w;
    return wrong(s, "expected a dtype");
}

static lz_status op(parser *s, lz_op *out)
{
    const char *w;
    size_t n = word(s, &w);
    *out = n ? lz_op_from_text(w, n) : LZ_OP_NONE;
    if (*out != LZ_OP_NONE && lz_op_is_scalar(*out))
        return LZ_OK;
    s->p = w;
    return wrong(s, "expected an elementwise operation");
}

/* ---- accesses ---- */

static lz_status term(parser *s, lz_access *a, uint32_t nloop)
{
    lz_sz v = {0, -1};
    int32_t d = 0;
    LZ_TRY(size(s, &v));
    skip(s);
    if (s->p < s->end && *s->p == 'i') {
        s->p++;
        LZ_TRY(small(s, nloop, &d));
        a->stride[d] = v;
        return LZ_OK;
    }
    if (a->ndyn == LZ_DYN_MAX)
        return wrong(s, "too many computed indices");
    a->dyn[a->ndyn].stride = v;
    return reg(s, &a->dyn[a->ndyn++].sop);
}

static lz_status access_map(parser *s, lz_access *a, uint32_t nloop)
{
    *a = (lz_access){.guard = -1, .other = -1};
    for (int d = 0; d < LZ_LOOP_MAX; d++)
        a->stride[d].slot = -1;
    int32_t buf = 0;
    LZ_TRY(small(s, LZ_KBUF_MAX, &buf));
    a->buf = (uint32_t)buf;
    LZ_TRY(need(s, "["));
    LZ_TRY(size(s, &a->offset));
    while (take(s, "+"))
        LZ_TRY(term(s, a, nloop));
    return need(s, "]");
}

static lz_status loop_name(parser *s, uint32_t nloop, uint32_t *d)
{
    int32_t v = 0;
    skip(s);
    if (s->p == s->end || *s->p != 'i')
        return wrong(s, "expected a loop");
    s->p++;
    LZ_TRY(small(s, nloop, &v));
    *d = (uint32_t)v;
    return LZ_OK;
}

static lz_status borders(parser *s, lz_access *a, uint32_t nloop)
{
    while (take(s, "border")) {
        if (a->nborder == LZ_BORDER_MAX)
            return wrong(s, "too many borders");
        lz_border *b = &a->border[a->nborder++];
        LZ_TRY(size(s, &b->by));
        LZ_TRY(loop_name(s, nloop, &b->outer));
        LZ_TRY(need(s, "+"));
        LZ_TRY(size(s, &b->step));
        LZ_TRY(loop_name(s, nloop, &b->inner));
        LZ_TRY(need(s, "in"));
        LZ_TRY(size(s, &b->low));
        LZ_TRY(need(s, "to"));
        LZ_TRY(size(s, &b->high));
    }
    return LZ_OK;
}

static lz_status guard(parser *s, lz_access *a)
{
    if (take(s, "if"))
        LZ_TRY(reg(s, &a->guard));
    return take(s, "else") ? reg(s, &a->other) : LZ_OK;
}

/* Access number i of the stage is given here. */
static lz_status define_access(parser *s, int32_t i, uint32_t nloop)
{
    while (s->accs.len <= (uint32_t)i) {
        LZ_TRY(lz_vec_push(&s->accs, ((lz_access){.guard = -1, .other = -1})));
        LZ_TRY(lz_vec_push(&s->acc_known, false));
    }
    if (s->acc_known.data[i])
        return wrong(s, "the access is given twice");
    s->acc_known.data[i] = true;
    LZ_TRY(access_map(s, &s->accs.data[i], nloop));
    LZ_TRY(guard(s, &s->accs.data[i]));
    return borders(s, &s->accs.data[i], nloop);
}

/* ---- scalar ops ---- */

static lz_status attr_value(parser *s, const char **v, size_t *n)
{
    skip(s);
    *v = s->p;
    if (s->p < s->end && *s->p == '[') {
        while (s->p < s->end && *s->p != ']')
            s->p++;
        LZ_TRY(need(s, "]"));
    } else {
        s->p += s->p < s->end && *s->p == '-';
        const char *w;
        if (word(s, &w) == 0)
            return wrong(s, "expected a value");
    }
    *n = (size_t)(s->p - *v);
    return LZ_OK;
}

static lz_status attribute(parser *s, lz_sop *o)
{
    lz_attr_any any;
    lz_attr_init(&any, lz_op_get(o->op)->attr);
    if (any.head.kind == LZ_ATTR_none)
        return LZ_OK;
    if (any.head.kind == LZ_ATTR_dtype)
        any.as_dtype.dtype = o->dtype;
    if (take(s, "{")) {
        do {
            const char *f, *v;
            size_t nv = 0, nf = word(s, &f);
            LZ_TRY(need(s, "="));
            LZ_TRY(attr_value(s, &v, &nv));
            if (!lz_ewattr_set(&any.head, f, nf, v, nv))
                return wrong(s, "no such field or value in this attribute record");
        } while (take(s, ","));
        LZ_TRY(need(s, "}"));
    }
    o->attr = lz_attr_get(&any.head);
    return o->attr ? LZ_OK : LZ_EMEM;
}

static lz_status elementwise(parser *s, lz_sop *o)
{
    o->kind = LZ_S_EW;
    LZ_TRY(op(s, &o->op));
    int32_t *opnd[3] = {&o->a, &o->b, &o->c};
    for (int i = 0; i < lz_op_get(o->op)->arity; i++) {
        if (i)
            LZ_TRY(need(s, ","));
        LZ_TRY(reg(s, opnd[i]));
    }
    return attribute(s, o);
}

static lz_status constant(parser *s, lz_sop *o)
{
    const char *w;
    size_t n = word(s, &w);
    if (n < 3 || w[0] != '0' || w[1] != 'x' ||
        lz_text_u64(w + 2, n - 2, 16, UINT64_MAX, &o->bits) != LZ_OK)
        return wrong(s, "expected bits as 0x...");
    return LZ_OK;
}

static lz_status red_read(parser *s, lz_sop *o)
{
    LZ_TRY(small(s, LZ_STAGE_MAX, &o->a));
    if (s->p == s->end || *s->p++ != '.')
        return wrong(s, "expected stage.number");
    return small(s, MAX_SOPS, &o->b);
}

static lz_status load(parser *s, lz_sop *o, uint32_t nloop)
{
    LZ_TRY(small(s, MAX_ACCS, &o->a));
    return take(s, "=") ? define_access(s, o->a, nloop) : LZ_OK;
}

/* index: the number the op must have. */
static lz_status sop(parser *s, lz_sop *o, uint32_t index, uint32_t nloop)
{
    static const struct {
        const char *word;
        lz_sop_kind kind;
    } heads[] = {{"const", LZ_S_CONST},  {"index", LZ_S_INDEX},   {"size", LZ_S_SIZE},
                 {"load", LZ_S_LOAD},    {"red", LZ_S_RED},       {"acc", LZ_S_ACC},
                 {"elt", LZ_S_ELT},      {"sorted", LZ_S_SORTED}, {"row", LZ_S_ROW},
                 {"prefix", LZ_S_PREFIX}};
    *o = (lz_sop){.a = -1, .b = -1, .c = -1, .size = {0, -1}};
    int32_t n = 0;
    LZ_TRY(small(s, MAX_SOPS, &n));
    if ((uint32_t)n != index)
        return wrong(s, "ops are numbered from %0 in order");
    LZ_TRY(need(s, ":"));
    LZ_TRY(dtype(s, &o->dtype));
    LZ_TRY(need(s, "="));
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        if (!take(s, heads[i].word))
            continue;
        o->kind = heads[i].kind;
        bool pair = o->kind == LZ_S_RED || o->kind == LZ_S_SORTED || o->kind == LZ_S_ROW ||
                    o->kind == LZ_S_PREFIX;
        return o->kind == LZ_S_CONST  ? constant(s, o)
               : o->kind == LZ_S_SIZE ? size(s, &o->size)
               : pair                 ? red_read(s, o)
               : o->kind == LZ_S_LOAD ? load(s, o, nloop)
                                      : small(s, MAX_SOPS, &o->a);
    }
    return elementwise(s, o);
}

/* ---- reductions ---- */

static lz_status accumulator(parser *s, lz_red *r)
{
    if (r->nacc == LZ_RED_MAX)
        return wrong(s, "too many accumulators");
    uint32_t j = r->nacc++;
    LZ_TRY(dtype(s, &r->acc_dtype[j]));
    LZ_TRY(reg(s, &r->value[j]));
    LZ_TRY(need(s, "init"));
    return reg(s, &r->init[j]);
}

/* A copy of a vector in the kernel's arena; never NULL on success, also for no elements. */
static lz_status keep(parser *s, const void *data, uint32_t len, size_t elem, void *out)
{
    void *p = lz_arena_alloc(&s->k->arena, len * elem);
    if (!p)
        return LZ_FAIL(LZ_EMEM, "no memory for a kernel's text");
    if (len)
        memcpy(p, data, len * elem);
    memcpy(out, &p, sizeof p);
    return LZ_OK;
}

/* The ops of a combiner or comparator, up to and with `out`. */
static lz_status body(parser *s, lz_sop **ops, uint32_t *n)
{
    LZ_TRY(need(s, "{"));
    s->body.len = 0;
    while (!take(s, "out")) {
        lz_sop o;
        LZ_TRY(need(s, "%"));
        LZ_TRY(sop(s, &o, s->body.len, 0));
        LZ_TRY(lz_vec_push(&s->body, o));
    }
    *n = s->body.len;
    return keep(s, s->body.data, s->body.len, sizeof *s->body.data, ops);
}

static lz_status combiner(parser *s, lz_red *r)
{
    LZ_TRY(body(s, &r->body, &r->nbody));
    for (uint32_t j = 0; j < r->nacc; j++) {
        if (j)
            LZ_TRY(need(s, ","));
        LZ_TRY(reg(s, &r->body_out[j]));
    }
    return need(s, "}");
}

static lz_status reduction(parser *s)
{
    lz_red r;
    memset(&r, 0, sizeof r);
    if (take(s, "(")) {
        do
            LZ_TRY(accumulator(s, &r));
        while (take(s, ","));
        LZ_TRY(need(s, ")"));
        LZ_TRY(combiner(s, &r));
    } else {
        LZ_TRY(op(s, &r.comb));
        LZ_TRY(accumulator(s, &r));
    }
    return lz_vec_push(&s->reds, r);
}

static lz_status sort(parser *s)
{
    lz_sort r;
    memset(&r, 0, sizeof r);
    if (s->sort)
        return wrong(s, "a stage has one sort");
    r.partial = take(s, "partial");
    do {
        if (r.nrow == LZ_SORT_MAX)
            return wrong(s, "too many rows");
        LZ_TRY(reg(s, &r.value[r.nrow++]));
    } while (take(s, ","));
    LZ_TRY(body(s, &r.body, &r.nbody));
    LZ_TRY(reg(s, &r.less));
    LZ_TRY(need(s, "}"));
    return keep(s, &r, 1, sizeof r, &s->sort);
}

static lz_status rows(parser *s)
{
    if (s->nrow)
        return wrong(s, "the rows of a stage are given twice");
    do {
        if (s->nrow == LZ_ROW_MAX)
            return wrong(s, "too many rows");
        LZ_TRY(reg(s, &s->row[s->nrow++]));
    } while (take(s, ","));
    return LZ_OK;
}

static lz_status store(parser *s, uint32_t nloop)
{
    lz_loop_store st;
    memset(&st, 0, sizeof st);
    LZ_TRY(access_map(s, &st.at, nloop));
    LZ_TRY(need(s, "="));
    LZ_TRY(reg(s, &st.value));
    LZ_TRY(guard(s, &st.at));
    return lz_vec_push(&s->stores, st);
}

/* ---- stages and the kernel ---- */

static lz_status stage_items(parser *s, uint32_t nloop)
{
    while (!take(s, "}")) {
        if (take(s, "%")) {
            lz_sop o;
            LZ_TRY(sop(s, &o, s->sops.len, nloop));
            LZ_TRY(lz_vec_push(&s->sops, o));
        } else if (take(s, "access")) {
            int32_t i = 0;
            LZ_TRY(small(s, MAX_ACCS, &i));
            LZ_TRY(need(s, "="));
            LZ_TRY(define_access(s, i, nloop));
        } else if (take(s, "reduce")) {
            LZ_TRY(reduction(s));
        } else if (take(s, "sort")) {
            LZ_TRY(sort(s));
        } else if (take(s, "row")) {
            LZ_TRY(rows(s));
        } else if (take(s, "store")) {
            LZ_TRY(store(s, nloop));
        } else {
            return wrong(s, "expected an op, access, reduce, sort, row, store or }");
        }
    }
    return LZ_OK;
}

static lz_status stage(parser *s)
{
    lz_stage st;
    memset(&st, 0, sizeof st);
    int32_t index = 0;
    LZ_TRY(small(s, LZ_STAGE_MAX, &index));
    if ((uint32_t)index != s->stages.len)
        return wrong(s, "stages are numbered from 0 in order");
    LZ_TRY(need(s, "inner"));
    LZ_TRY(sizes(s, st.extent, LZ_LOOP_MAX - s->k->nouter, &st.ninner));
    st.dot.role = take(s, "keep") ? LZ_DOT_ROW : LZ_DOT_NONE;
    LZ_TRY(need(s, "{"));
    s->nrow = 0;
    s->sops.len = s->accs.len = s->acc_known.len = s->reds.len = s->stores.len = 0;
    s->sort = NULL;
    LZ_TRY(stage_items(s, s->k->nouter + st.ninner));
    for (uint32_t i = 0; i < s->acc_known.len; i++)
        if (!s->acc_known.data[i])
            return wrong(s, "an access of this stage is not given");
    st.nsop = s->sops.len;
    st.nacc = s->accs.len;
    st.nred = s->reds.len;
    st.sort = s->sort;
    st.nrow = s->nrow;
    memcpy(st.row, s->row, sizeof st.row);
    st.nstore = s->stores.len;
    LZ_TRY(keep(s, s->sops.data, st.nsop, sizeof *st.sops, &st.sops));
    LZ_TRY(keep(s, s->accs.data, st.nacc, sizeof *st.accs, &st.accs));
    LZ_TRY(keep(s, s->reds.data, st.nred, sizeof *st.reds, &st.reds));
    LZ_TRY(keep(s, s->stores.data, st.nstore, sizeof *st.stores, &st.stores));
    return lz_vec_push(&s->stages, st);
}

static lz_status buffer(parser *s)
{
    int32_t i = 0;
    LZ_TRY(small(s, LZ_KBUF_MAX, &i));
    if ((uint32_t)i != s->k->nbuf)
        return wrong(s, "buffers are numbered from 0 in order");
    lz_kbuf *b = &s->k->buf[s->k->nbuf++];
    b->inplace_with = -1;
    LZ_TRY(need(s, ":"));
    LZ_TRY(dtype(s, &b->dtype));
    b->read = take(s, "read");
    b->written = take(s, "write");
    b->inplace_ok = take(s, "inplace");
    return b->inplace_ok ? small(s, LZ_KBUF_MAX, &b->inplace_with) : LZ_OK;
}

static lz_status header(parser *s)
{
    lz_kernel *k = s->k;
    LZ_TRY(need(s, "kernel"));
    LZ_TRY(need(s, "\""));
    size_t n = 0;
    for (; s->p < s->end && *s->p != '"'; s->p++)
        if (n < sizeof k->name - 1)
            k->name[n++] = *s->p;
    LZ_TRY(need(s, "\""));
    k->serial = take(s, "serial");
    if (take(s, "vec")) {
        LZ_TRY(need(s, "("));
        k->vec = take(s, "outer") ? LZ_VEC_OUTER : LZ_VEC_INNER;
        if (k->vec == LZ_VEC_INNER)
            LZ_TRY(need(s, "inner"));
        LZ_TRY(need(s, ")"));
    }
    return need(s, "{");
}

static lz_status dot(parser *s, lz_dot_info *d)
{
    d->role = LZ_DOT_KERNEL;
    d->m = s->k->nouter - 2;
    d->n = s->k->nouter - 1;
    if (s->k->nouter < 2)
        return wrong(s, "a product needs two outer loops");
    LZ_TRY(reg(s, &d->a_sop));
    return reg(s, &d->b_sop);
}

static lz_status check_slot(lz_sz *sz, lz_sz_role role, void *user)
{
    (void)role;
    parser *s = user;
    if (sz->slot >= 0 && sz->slot != s->next_slot++)
        return LZ_FAIL(LZ_EPARSE, "kernel text: argument @%d stands where @%d belongs", sz->slot,
                       s->next_slot - 1);
    return LZ_OK;
}

static lz_status take_arg(lz_sz *sz, lz_sz_role role, void *user)
{
    (void)role;
    lz_kernel *k = user;
    if (sz->slot >= 0)
        k->args[sz->slot] = sz->v;
    return LZ_OK;
}

static lz_status finish(parser *s)
{
    lz_kernel *k = s->k;
    if (!s->slots)
        return lz_kernel_finish(k);
    LZ_TRY(lz_kernel_verify(k));
    LZ_TRY(lz_kernel_each_size(k, check_slot, s));
    k->narg = (uint32_t)s->next_slot;
    k->args = lz_arena_alloc(&k->arena, k->narg * sizeof *k->args);
    if (!k->args)
        return LZ_FAIL(LZ_EMEM, "no memory for a kernel's text");
    LZ_TRY(lz_kernel_each_size(k, take_arg, k));
    return lz_kernel_encode(k);
}

static lz_status kernel(parser *s)
{
    LZ_TRY(header(s));
    while (take(s, "buf"))
        LZ_TRY(buffer(s));
    LZ_TRY(need(s, "outer"));
    LZ_TRY(sizes(s, s->k->outer, LZ_OUTER_MAX, &s->k->nouter));
    lz_dot_info whole = {0};
    if (take(s, "dot"))
        LZ_TRY(dot(s, &whole));
    while (take(s, "stage"))
        LZ_TRY(stage(s));
    LZ_TRY(need(s, "}"));
    skip(s);
    if (s->p != s->end)
        return wrong(s, "text after the kernel");
    s->k->nstage = s->stages.len;
    LZ_TRY(keep(s, s->stages.data, s->stages.len, sizeof *s->stages.data, &s->k->stages));
    for (uint32_t i = 0; i < s->k->nstage; i++)
        if (lz_stage_is_row_dot(&s->k->stages[i]))
            (void)lz_stage_set_row_dot(s->k, i); /* lz_kernel_verify tells what is wrong */
    if (whole.role == LZ_DOT_KERNEL && s->k->nstage > 0) {
        if (lz_stage_is_row_dot(&s->k->stages[0]))
            return LZ_FAIL(LZ_EINTERNAL, "kernel '%s': a product that keeps its sums", s->k->name);
        s->k->stages[0].dot = whole;
    }
    return finish(s);
}

lz_status lz_kernel_parse(const char *text, size_t n, lz_kernel **out)
{
    *out = NULL;
    parser s = {.text = text, .p = text, .end = text + n, .k = lz_kernel_new("")};
    if (!s.k)
        return LZ_EMEM;
    lz_status status = kernel(&s);
    lz_vec_free(&s.sops);
    lz_vec_free(&s.body);
    lz_vec_free(&s.accs);
    lz_vec_free(&s.acc_known);
    lz_vec_free(&s.reds);
    lz_vec_free(&s.stores);
    lz_vec_free(&s.stages);
    if (status != LZ_OK)
        lz_kernel_free(s.k);
    else
        *out = s.k;
    return status;
}
