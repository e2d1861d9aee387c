/* parse_manual.c - regions in which each device has its own part of the values: sdy's manual
 * computations, and the borders that GSPMD's custom_calls make. What a region uses from around it
 * becomes an operand that is whole along the manual axes. Along axes of one device there is nothing
 * to part: such a region is read as what is in it.
 * Threads: thread-compatible. */
#include "ir/attr.h"
#include "ir/text/parse.h"
#include <string.h>

typedef struct manual {
    LZ_VEC(const lz_sharding *) in, out;
    uint32_t axes;
    const lz_mesh *mesh; /* NULL: no value says it */
    lz_captures captured;
    lz_block_args args;
    const lz_func *body;
} manual;

bool lz_parse_is_manual(lz_slice name)
{
    return lz_slice_is(name, "sdy.manual_computation");
}

/* ---- attributes ---- */

/* [<@mesh, ..>, <@mesh, ..>] */
static lz_status read_shardings(lz_parser *p, lz_lexer *c, manual *m, bool in)
{
    LZ_TRY(lz_lex_want(c, "["));
    if (lz_lex_eat(c, "]"))
        return LZ_OK;
    do {
        const lz_sharding *s;
        LZ_TRY(lz_parse_sharding(p, c, &s));
        m->mesh = m->mesh ? m->mesh : s->mesh;
        LZ_TRY(in ? lz_vec_push(&m->in, s) : lz_vec_push(&m->out, s));
    } while (lz_lex_eat(c, ","));
    return lz_lex_want(c, "]");
}

static lz_status read_axes(lz_lexer *c, manual *m)
{
    if (lz_lex_eat(c, "{}"))
        return LZ_OK;
    if (!m->mesh)
        return lz_lex_fail(c, c->p, LZ_EPARSE, "sdy.manual_computation: no value says the mesh");
    return lz_parse_axes(c, m->mesh, &m->axes);
}

/* (%a) in_shardings=[..] out_shardings=[..] manual_axes={"x"} (%b: type) { */
static lz_status pretty(lz_parser *p, lz_scope *s, lz_stmt *t, manual *m)
{
    LZ_TRY(lz_lex_want(&p->c, "("));
    LZ_TRY(lz_parse_operands(p, s, t));
    LZ_TRY(lz_lex_want(&p->c, ")"));
    LZ_TRY(lz_lex_want(&p->c, "in_shardings"));
    LZ_TRY(lz_lex_want(&p->c, "="));
    LZ_TRY(read_shardings(p, &p->c, m, true));
    LZ_TRY(lz_lex_want(&p->c, "out_shardings"));
    LZ_TRY(lz_lex_want(&p->c, "="));
    LZ_TRY(read_shardings(p, &p->c, m, false));
    LZ_TRY(lz_lex_want(&p->c, "manual_axes"));
    LZ_TRY(lz_lex_want(&p->c, "="));
    return read_axes(&p->c, m);
}

/* (%a) <{in_shardings = #sdy.sharding_per_value<[..]>, ..}> */
static lz_status generic(lz_parser *p, lz_scope *s, lz_stmt *t, manual *m)
{
    static const char *const keys[] = {"in_shardings", "out_shardings", "manual_axes"};
    LZ_TRY(lz_lex_want(&p->c, "("));
    LZ_TRY(lz_parse_operands(p, s, t));
    LZ_TRY(lz_lex_want(&p->c, ")"));
    LZ_TRY(lz_lex_want(&p->c, "<"));
    LZ_TRY(lz_lex_want(&p->c, "{"));
    LZ_TRY(lz_parse_dictionary(p, t));
    LZ_TRY(lz_lex_want(&p->c, ">"));
    for (int i = 0; i < 3; i++) {
        const lz_parse_entry *e = lz_stmt_find(t, keys[i]);
        lz_lexer c = p->c;
        if (!e)
            return lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                               "sdy.manual_computation: the attribute %s is missing", keys[i]);
        c.p = e->value;
        LZ_TRY(lz_lex_want(&c, i < 2 ? "#sdy.sharding_per_value<" : "#sdy<manual_axes"));
        LZ_TRY(i < 2 ? read_shardings(p, &c, m, i == 0) : read_axes(&c, m));
    }
    LZ_TRY(lz_lex_want(&p->c, "("));
    LZ_TRY(lz_lex_want(&p->c, "{"));
    if (lz_lex_eat(&p->c, "^"))
        (void)lz_lex_word(&p->c);
    return LZ_OK;
}

/* ---- the region ---- */

/* (%b: type) { statements }; or, in the generic form, (%b: type): statements } ) */
static lz_status read_region(lz_parser *p, lz_scope *s, lz_stmt *t, manual *m)
{
    uint32_t around = p->manual;
    const char *from = p->c.p;
    if (lz_lex_eat(&p->c, "("))
        LZ_TRY(lz_parse_block_args(p, &m->args));
    LZ_TRY(lz_captures_shadow(
        &m->captured, (lz_lexer){p->c.text, from, p->c.end, p->c.name, p->c.aliases}, p->c.p));
    LZ_TRY(t->generic && m->args.len == 0 ? LZ_OK : lz_lex_want(&p->c, t->generic ? ":" : "{"));
    lz_lexer end = p->c;
    LZ_TRY(lz_lex_until(&end, ""));
    LZ_TRY(lz_captures_find(&m->captured, s, p->c, end.p));
    p->manual |= m->axes;
    lz_status st = lz_parse_region_with(p, s, &m->args, &m->captured, &m->body, NULL);
    p->manual = around;
    LZ_TRY(st);
    return t->generic ? lz_lex_want(&p->c, ")") : LZ_OK;
}

/* ---- building ---- */

/* Whole along the manual axes, as propagation likes along the others. */
static lz_status add_captured(lz_parser *p, lz_scope *s, lz_stmt *t, manual *m)
{
    for (uint32_t i = 0; i < m->captured.vals.len; i++) {
        lz_val v = m->captured.vals.data[i];
        lz_sharding any;
        LZ_TRY(lz_vec_push(&t->opnd, v));
        if (!m->mesh)
            continue;
        lz_sharding_init(&any, m->mesh, lz_val_type(s->f, v)->shape.rank, true);
        any.manual = p->manual;
        const lz_sharding *at = lz_sharding_get(&any);
        LZ_TRY(at ? lz_vec_push(&m->in, at) : lz_error_get()->status);
    }
    return LZ_OK;
}

static lz_status constrain_all(lz_parser *p, lz_scope *s, lz_stmt *t, lz_val *v, uint32_t n,
                               const lz_sharding *const *at)
{
    for (uint32_t i = 0; i < n && p->marked; i++) {
        v[i] = lz_parse_constrain(s, v[i], at[i]);
        if (v[i] == LZ_NOVAL)
            return lz_lex_wrap(&p->c, t->at);
    }
    return LZ_OK;
}

/* Along axes of one device. */
static lz_status in_line(lz_parser *p, lz_scope *s, lz_stmt *t, manual *m)
{
    LZ_TRY(lz_parse_charge(p, t->at, m->body->ninst));
    LZ_TRY(constrain_all(p, s, t, t->opnd.data, t->opnd.len, m->in.data));
    LZ_TRY(lz_vec_reserve(&t->results, (uint64_t)m->body->nresult + 1));
    bool fits = m->body->nparam == t->opnd.len;
    for (uint32_t i = 0; fits && i < t->opnd.len; i++)
        fits = lz_val_type(m->body, i) == lz_val_type(s->f, t->opnd.data[i]);
    if (!fits)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                           "sdy.manual_computation: the operands do not fit its region");
    if (lz_build_inline(s->f, m->body, t->opnd.data, t->results.data) != LZ_OK)
        return lz_lex_wrap(&p->c, t->at);
    t->results.len = m->body->nresult;
    return constrain_all(p, s, t, t->results.data, t->results.len, m->out.data);
}

static lz_status build(lz_parser *p, lz_scope *s, lz_stmt *t, manual *m)
{
    lz_attr_any a;
    LZ_TRY(add_captured(p, s, t, m));
    if ((m->mesh && m->in.len != t->opnd.len) || m->out.len != m->body->nresult)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                           "sdy.manual_computation: %u in_shardings and %u out_shardings for %u "
                           "operands and %u results",
                           m->in.len, m->out.len, t->opnd.len, m->body->nresult);
    if (!m->axes)
        return in_line(p, s, t, m);
    lz_attr_init(&a, LZ_ATTR_manual);
    a.as_manual.in_shardings = lz_shardings_text(m->in.data, m->in.len);
    a.as_manual.out_shardings = lz_shardings_text(m->out.data, m->out.len);
    a.as_manual.manual_axes = m->axes;
    a.as_manual.body = m->body;
    if (!a.as_manual.in_shardings || !a.as_manual.out_shardings)
        return LZ_EMEM;
    lz_val v = lz_build(s->f, LZ_OP_MANUAL_COMPUTATION, &a.head, t->opnd.data, t->opnd.len);
    return v == LZ_NOVAL ? lz_lex_wrap(&p->c, t->at) : lz_parse_results_of(p, s, t, v);
}

static lz_status manual_in(lz_parser *p, lz_scope *s, lz_stmt *t, manual *m)
{
    LZ_TRY(t->generic ? generic(p, s, t, m) : pretty(p, s, t, m));
    if (m->axes && !p->marked)
        return lz_lex_fail(&p->c, t->at, LZ_EUNSUPPORTED,
                           "sdy.manual_computation: over %lld devices; one device runs alone",
                           (long long)lz_mesh_mask_size(m->mesh, m->axes));
    LZ_TRY(read_region(p, s, t, m));
    LZ_TRY(lz_lex_braces(&p->c));
    LZ_TRY(lz_lex_want(&p->c, ":"));
    LZ_TRY(lz_parse_types(p, t));
    LZ_TRY(lz_parse_check_operands(p, s, t));
    return build(p, s, t, m);
}

lz_status lz_parse_manual(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    manual m = {0};
    lz_status st = manual_in(p, s, t, &m);
    lz_vec_free(&m.in);
    lz_vec_free(&m.out);
    lz_vec_free(&m.args);
    lz_captures_free(&m.captured);
    return st;
}

/* ---- GSPMD's borders ----
 * @SPMDFullToShardShape gives each device its part, @SPMDShardToFullShape takes parts together.
 * Each is read as a manual computation of its own, whose other side is said to be whole everywhere;
 * its body is one instruction on the way in and two on the way out. lz_manual_join makes regions of
 * what lies between. */

static const lz_func *border_body(const lz_type *type, bool enters)
{
    lz_attr_propagation a = {.kind = LZ_ATTR_propagation};
    lz_func *f = lz_func_new("border");
    const lz_func *r = NULL;
    if (!f)
        return NULL;
    lz_val v = lz_build_param(f, type);
    if (!enters)
        v = lz_build(f, LZ_OP_PROPAGATION_BARRIER, (const lz_attr *)(const void *)&a, &v, 1);
    if (v != LZ_NOVAL && lz_func_set_results(f, &v, 1) == LZ_OK)
        r = lz_region_intern(f);
    lz_func_free(f);
    return r;
}

/* What the operand's own mark says; NULL: it has none. */
static const lz_sharding *mark_of(const lz_func *f, lz_val v)
{
    const lz_inst *in = &f->insts[v];
    return in->sig->op == LZ_OP_SHARDING_CONSTRAINT
               ? lz_sharding_parse(LZ_ATTR(sharding, in->sig->attr)->sharding)
               : NULL;
}

lz_status lz_parse_border(lz_parser *p, lz_scope *s, lz_stmt *t, bool enters,
                          const lz_sharding *own)
{
    const lz_sharding *other = mark_of(s->f, t->opnd.data[0]), *inner = enters ? own : other,
                      *outer = enters ? other : own, *whole;
    lz_attr_any a;
    if (!inner || !outer || inner->mesh != outer->mesh || t->result_types.len != 1)
        return lz_lex_fail(
            &p->c, t->at, LZ_EUNSUPPORTED,
            "custom_call: the border of a manual region is not said by mhlo.sharding "
            "here and by @Sharding on the operand");
    if (s->outer || p->regions)
        return lz_lex_fail(&p->c, t->at, LZ_EUNSUPPORTED,
                           "custom_call: the border of a manual region is inside of a region");
    const lz_type *local = enters ? t->result_types.data[0] : lz_val_type(s->f, t->opnd.data[0]);
    lz_sharding shape = *outer;
    shape.manual = 0;
    outer = lz_sharding_get(&shape);
    whole = lz_sharding_replicated(inner->mesh, inner->rank);
    lz_attr_init(&a, LZ_ATTR_manual);
    a.as_manual.manual_axes = inner->manual;
    if (!inner->manual || !outer || !whole ||
        !(a.as_manual.in_shardings = lz_sharding_text(enters ? outer : whole)) ||
        !(a.as_manual.out_shardings = lz_sharding_text(enters ? whole : outer)) ||
        !(a.as_manual.body = border_body(local, enters)))
        return inner->manual ? lz_lex_wrap(&p->c, t->at)
                             : lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                                           "custom_call: no axis is manual inside of the region");
    p->borders = true;
    lz_val v = lz_build(s->f, LZ_OP_MANUAL_COMPUTATION, &a.head, t->opnd.data, 1);
    return v == LZ_NOVAL ? lz_lex_wrap(&p->c, t->at) : lz_parse_results_of(p, s, t, v);
}
