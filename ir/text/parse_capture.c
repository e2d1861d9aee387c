/* parse_capture.c - regions of scalars (reduce, reduce_window, scatter, sort, select_and_scatter,
 * map) that use values from around them or compute in wider element types than their operands have.
 * The tensor IR has neither: a value from around becomes one more operand, filled with it, and one
 * more accumulator that the region hands on; an operand of a narrower type is converted first.
 * Threads: thread-compatible. */
#include "ir/text/parse.h"
#include <string.h>

void lz_captures_free(lz_captures *k)
{
    lz_vec_free(&k->names);
    lz_vec_free(&k->vals);
    lz_map_free(&k->seen);
}

/* Its own values are those of the region; a constant is made again inside. */
static lz_status capture(lz_captures *k, const lz_scope *s, lz_slice name)
{
    const lz_scope *there;
    const lz_binding *b = lz_scope_find(s, name, &there);
    lz_hash h = lz_hash_bytes(name.s, name.n);
    if (!b || there != s || (b->count == 1 && s->f->insts[s->vals.data[b->first]].lit) ||
        lz_map_get(&k->seen, h))
        return LZ_OK;
    lz_binding c = {name, k->vals.len, b->count, b->form};
    for (uint32_t i = 0; i < b->count; i++)
        LZ_TRY(lz_vec_push(&k->vals, s->vals.data[b->first + i]));
    LZ_TRY(lz_vec_push(&k->names, c));
    return lz_map_put(&k->seen, h, k);
}

static lz_status shadow(lz_captures *k, lz_slice name)
{
    return lz_map_put(&k->seen, lz_hash_bytes(name.s, name.n), k);
}

lz_status lz_captures_shadow(lz_captures *k, lz_lexer c, const char *end)
{
    lz_slice name;
    uint32_t index;
    for (lz_lex_skip(&c); c.p < end; lz_lex_skip(&c)) {
        if (*c.p != '%') {
            c.p++;
            continue;
        }
        LZ_TRY(lz_lex_value(&c, &name, &index));
        LZ_TRY(shadow(k, name));
    }
    return LZ_OK;
}

/* ^bb0(%a: type, %b: type) */
static lz_status block_arguments(lz_captures *k, lz_lexer *c)
{
    c->p++;
    (void)lz_lex_word(c);
    if (!lz_lex_sees(c, "("))
        return LZ_OK;
    lz_lexer start = *c;
    LZ_TRY(lz_lex_group(c));
    return lz_captures_shadow(k, start, c->p);
}

lz_status lz_captures_find(lz_captures *k, const lz_scope *s, lz_lexer c, const char *end)
{
    lz_slice name;
    uint32_t index;
    for (lz_lex_skip(&c); c.p < end; lz_lex_skip(&c)) {
        if (*c.p == '"') {
            LZ_TRY(lz_lex_string(&c, &name));
        } else if (*c.p == '^') {
            LZ_TRY(block_arguments(k, &c));
        } else if (*c.p == '%') {
            LZ_TRY(lz_lex_value(&c, &name, &index));
            LZ_TRY(lz_lex_sees(&c, "=") ? shadow(k, name) : capture(k, s, name));
        } else {
            c.p++;
        }
    }
    return LZ_OK;
}

/* ---- values from around the region ---- */

/* Where the operands that go with a region's parameters are: inputs from 0 on, n of them, and their
 * partners (initial values, updates) from `second` on; sort and map have none. */
typedef struct layout {
    uint32_t n, second;
    bool pairs, interleaved; /* parameters: two for each input; lhs and rhs side by side */
} layout;

static bool layout_of(const lz_stmt *t, layout *l)
{
    uint32_t n = t->opnd.len;
    *l = (layout){.n = n};
    switch (t->op) {
    case LZ_OP_REDUCE:
    case LZ_OP_REDUCE_WINDOW:
        *l = (layout){n / 2, n / 2, true, false};
        return n && n % 2 == 0;
    case LZ_OP_SCATTER:
        *l = (layout){n / 2, n / 2 + 1, true, false};
        return n % 2 == 1 && n > 1;
    case LZ_OP_SORT:
        *l = (layout){n, n, false, true};
        return n > 0;
    default: /* map */
        return t->op == LZ_OP_NONE && n > 0;
    }
}

/* The region with what it uses among its parameters where the operation wants it: (lhs .., c ..,
 * rhs .., c ..) -> (results .., c ..), (l, r, .., c, c, ..) of a sort. */
static lz_val rewritten(lz_func *f, const lz_func *r, const layout *l, uint32_t m, lz_val *args,
                        lz_val *out)
{
    uint32_t own = r->nparam - m, half = l->pairs ? own / 2 : own, n = 0;
    for (uint32_t i = 0; i < half; i++)
        args[n++] = lz_build_param(f, lz_val_type(r, i));
    for (uint32_t k = 0; k < m; k++) {
        args[own + k] = lz_build_param(f, lz_val_type(r, own + k));
        if (l->interleaved)
            (void)lz_build_param(f, lz_val_type(r, own + k));
    }
    for (uint32_t i = half; i < own; i++)
        args[n++] = lz_build_param(f, lz_val_type(r, i));
    for (uint32_t k = 0; l->pairs && k < m; k++)
        (void)lz_build_param(f, lz_val_type(r, own + k));
    if (f->status != LZ_OK || lz_build_inline(f, r, args, out) != LZ_OK)
        return LZ_NOVAL;
    n = r->nresult;
    for (uint32_t k = 0; l->pairs && k < m; k++)
        out[n++] = args[own + k];
    return lz_func_set_results(f, out, n) == LZ_OK ? 0 : LZ_NOVAL;
}

static const lz_func *region_with(const lz_func *r, const layout *l, uint32_t m)
{
    lz_func *f = lz_func_new("body");
    lz_val *room = lz_calloc((size_t)r->nparam + r->nresult + m + 1, sizeof *room);
    const lz_func *out = NULL;
    if (f && !room)
        (void)LZ_FAIL(LZ_EMEM, "no memory for a region");
    if (f && room && rewritten(f, r, l, m, room, room + r->nparam) != LZ_NOVAL)
        out = lz_region_intern(f);
    lz_free(room);
    lz_func_free(f);
    return out;
}

static lz_status insert(lz_stmt *t, uint32_t at, lz_val v)
{
    LZ_TRY(lz_vec_push(&t->opnd, v));
    memmove(t->opnd.data + at + 1, t->opnd.data + at, (t->opnd.len - 1 - at) * sizeof v);
    t->opnd.data[at] = v;
    return LZ_OK;
}

static lz_val filled(lz_func *f, lz_val v, lz_val like)
{
    const lz_ints none = {0};
    return lz_build_broadcast(f, v, &none, &lz_val_type(f, like)->shape);
}

static lz_status add_operands(lz_parser *p, lz_scope *s, lz_stmt *t, const layout *l)
{
    const lz_captures *k = &t->captured;
    uint32_t second = l->second;
    for (uint32_t i = 0; i < k->vals.len; i++) {
        lz_val v = k->vals.data[i], x = filled(s->f, v, t->opnd.data[0]);
        if (x == LZ_NOVAL)
            return lz_lex_wrap(&p->c, t->at);
        LZ_TRY(insert(t, l->n + i, x));
        second++;
        if (!l->pairs)
            continue;
        x = t->op == LZ_OP_SCATTER ? filled(s->f, v, t->opnd.data[second]) : v;
        if (x == LZ_NOVAL)
            return lz_lex_wrap(&p->c, t->at);
        LZ_TRY(lz_vec_push(&t->opnd, x));
    }
    return LZ_OK;
}

static lz_status not_from_outside(lz_parser *p, const lz_captures *k)
{
    lz_slice name = k->names.data[0].name;
    return lz_lex_fail(&p->c, name.s, LZ_EUNSUPPORTED,
                       "the region uses %%" LZ_SLICE_FMT " from around it, which is no constant",
                       LZ_SLICE_ARG(name));
}

static lz_status take_captures(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    layout l;
    const lz_captures *k = &t->captured;
    bool fits = t->region && t->nregion <= 1 && layout_of(t, &l) &&
                t->region->nparam == k->vals.len + l.n * (l.pairs || l.interleaved ? 2 : 1);
    for (uint32_t i = 0; fits && i < k->vals.len; i++)
        fits = lz_val_type(s->f, k->vals.data[i])->shape.rank == 0;
    if (!fits)
        return not_from_outside(p, k);
    LZ_TRY(add_operands(p, s, t, &l));
    if (t->op != LZ_OP_NONE && !(t->region = region_with(t->region, &l, k->vals.len)))
        return lz_lex_wrap(&p->c, t->at);
    return LZ_OK;
}

/* ---- wider element types ---- */

static int kind_of(lz_dtype d)
{
    return d == LZ_BOOL                                     ? 0
           : lz_dtype_is_complex(d)                         ? 1
           : lz_dtype_is_float(d) || lz_dtype_is_storage(d) ? 2
           : lz_dtype_is_signed(d)                          ? 3
                                                            : 4;
}

/* Whether a region may compute in `to` what is of dtype `from`. */
static bool promotes(lz_dtype from, lz_dtype to)
{
    return kind_of(from) == kind_of(to) && lz_dtype_bits(from) <= lz_dtype_bits(to);
}

static lz_status widen(lz_parser *p, lz_scope *s, lz_stmt *t, uint32_t i, lz_dtype to)
{
    lz_val *v = &t->opnd.data[i];
    lz_dtype from = lz_val_type(s->f, *v)->dtype;
    if (from != to && promotes(from, to))
        *v = lz_build_convert(s->f, *v, to);
    return *v == LZ_NOVAL ? lz_lex_wrap(&p->c, t->at) : LZ_OK;
}

/* The select region of select_and_scatter on operands that were widened: the numbers are the
 * same ones. */
static const lz_func *narrowed(const lz_func *r, lz_dtype to)
{
    const lz_shape scalar = {0};
    const lz_type *t = lz_type_get(to, &scalar);
    lz_func *f = t ? lz_func_new("select") : NULL;
    if (!f)
        return NULL;
    const lz_func *out = NULL;
    lz_val a[2] = {lz_build_param(f, t), lz_build_param(f, t)}, v;
    for (int k = 0; k < 2; k++)
        a[k] = lz_build_convert(f, a[k], lz_val_type(r, (lz_val)k)->dtype);
    if (f->status == LZ_OK && lz_build_inline(f, r, a, &v) == LZ_OK &&
        lz_func_set_results(f, &v, 1) == LZ_OK)
        out = lz_region_intern(f);
    lz_func_free(f);
    return out;
}

static lz_status widen_scatter_of_selected(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    if (!t->region || !t->region2 || t->opnd.len != 3 || t->region->nparam != 2 ||
        t->region->nresult != 1 || t->region2->nparam != 2)
        return LZ_OK;
    lz_dtype from = lz_val_type(s->f, t->opnd.data[0])->dtype,
             to = lz_val_type(t->region2, 0)->dtype;
    bool same =
        lz_val_type(t->region, 0)->dtype == from && lz_val_type(t->region, 1)->dtype == from;
    if (from == to || !same || !promotes(from, to))
        return LZ_OK;
    for (uint32_t i = 0; i < 3; i++)
        LZ_TRY(widen(p, s, t, i, to));
    t->region = narrowed(t->region, to);
    return t->region ? LZ_OK : lz_lex_wrap(&p->c, t->at);
}

static lz_status widen_all(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    layout l;
    if (t->op == LZ_OP_SELECT_AND_SCATTER)
        return widen_scatter_of_selected(p, s, t);
    if ((t->op == LZ_OP_ALL_REDUCE || t->op == LZ_OP_REDUCE_SCATTER) && t->region &&
        t->region->nparam == 2) {
        for (uint32_t i = 0; i < t->opnd.len; i++)
            LZ_TRY(widen(p, s, t, i, lz_val_type(t->region, 0)->dtype));
        return LZ_OK;
    }
    if (!layout_of(t, &l) || !l.pairs)
        return LZ_OK;
    if (t->applies != LZ_OP_NONE && t->result_types.len == 1) {
        lz_dtype to = t->result_types.data[0]->dtype;
        for (uint32_t i = 0; i < 2; i++)
            LZ_TRY(widen(p, s, t, i, to));
        return LZ_OK;
    }
    if (!t->region || t->region->nparam != 2 * l.n)
        return LZ_OK; /* said when it is built */
    for (uint32_t i = 0; i < l.n; i++) {
        lz_dtype to = lz_val_type(t->region, i)->dtype;
        LZ_TRY(widen(p, s, t, i, to));
        LZ_TRY(widen(p, s, t, l.second + i, to));
    }
    return LZ_OK;
}

lz_status lz_parse_fit_region(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    if (t->captured.vals.len)
        LZ_TRY(take_captures(p, s, t));
    return widen_all(p, s, t);
}
