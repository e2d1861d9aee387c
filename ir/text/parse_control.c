/* parse_control.c - while, if, case and async_start. Their regions use values from around them by
 * name; here those become operands, and parameters of every region behind its own: which ones is
 * found by looking through the regions' text for names that have a value already.
 * Threads: thread-compatible. */
#include "ir/func.h"
#include "ir/text/parse.h"

bool lz_parse_is_control(lz_slice name)
{
    return lz_slice_is(name, "stablehlo.while") || lz_slice_is(name, "stablehlo.if") ||
           lz_slice_is(name, "stablehlo.case") || lz_slice_is(name, "stablehlo.async_start");
}

typedef struct control {
    lz_captures captured;
    lz_slice gives;     /* the form of what the regions return that give the results */
    bool gives_nothing; /* that is no value */
    lz_block_args args; /* of the pretty while */
    LZ_VEC(const lz_func *) regions;
} control;

static void control_free(control *k)
{
    lz_captures_free(&k->captured);
    lz_vec_free(&k->args);
    lz_vec_free(&k->regions);
}

/* From here over as many groups in brackets as `count`, with at most a word between. */
static lz_status look_ahead(lz_parser *p, const lz_scope *s, control *k, int count)
{
    lz_lexer c = p->c;
    while (count-- > 0) {
        lz_lex_skip(&c);
        (void)lz_lex_word(&c);
        if (!lz_lex_sees(&c, "{") && !lz_lex_sees(&c, "("))
            return lz_lex_want(&c, "{");
        LZ_TRY(lz_lex_group(&c));
    }
    return lz_captures_find(&k->captured, s, p->c, c.p);
}

/* ---- the forms ---- */

/* The branches, or the body of a loop, give values and tokens alike; the condition gives neither.
 */
static lz_status keep_region(lz_parser *p, const lz_stmt *t, control *k, const lz_func *r,
                             lz_slice gives)
{
    bool loop = lz_slice_is(t->name, "stablehlo.while");
    bool is_cond = loop && k->regions.len == 0, is_first = k->regions.len == (loop ? 1 : 0);
    if (is_first)
        k->gives = gives;
    if (is_cond ? gives.n > 0 : !lz_form_eq(gives, k->gives) || !lz_form_is_flat(gives))
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, LZ_SLICE_FMT ": a region returns a tuple",
                           LZ_SLICE_ARG(t->name));
    return lz_vec_push(&k->regions, r);
}

/* %x: an operand of a loop, of which *type becomes the type; NULL: it is a token. */
static lz_status carried(lz_parser *p, lz_scope *s, lz_stmt *t, lz_buf *form, const lz_type **type)
{
    const char *at = p->c.p;
    uint32_t n = t->opnd.len;
    size_t from = form->len;
    LZ_TRY(lz_scope_use_any(p, s, t, form));
    lz_slice own = {form->data + from, form->len - from};
    if (form->failed)
        return LZ_EMEM;
    if (!lz_form_is_flat(own))
        return lz_lex_fail(&p->c, at, LZ_EUNSUPPORTED, LZ_SLICE_FMT ": carries a tuple",
                           LZ_SLICE_ARG(t->name));
    *type = t->opnd.len > n ? lz_val_type(s->f, t->opnd.data[n]) : NULL;
    return LZ_OK;
}

/* (%a = %x, %b = %y) */
static lz_status while_args(lz_parser *p, lz_scope *s, lz_stmt *t, lz_buf *form,
                            lz_block_args *args)
{
    uint32_t index;
    LZ_TRY(lz_lex_want(&p->c, "("));
    do {
        lz_block_arg a = {0};
        LZ_TRY(lz_lex_value(&p->c, &a.name, &index));
        LZ_TRY(lz_lex_want(&p->c, "="));
        LZ_TRY(carried(p, s, t, form, &a.type));
        LZ_TRY(lz_vec_push(args, a));
    } while (lz_lex_eat(&p->c, ","));
    LZ_TRY(lz_form_keep(p, form->data, form->len, &t->opnd_form));
    return lz_lex_want(&p->c, ")");
}

static lz_status carry_nothing(lz_scope *s, lz_stmt *t)
{
    lz_val v = lz_parse_nothing(s->f);
    return v == LZ_NOVAL ? s->f->status : lz_vec_push(&t->opnd, v);
}

/* (%a = %x, %b = %y) : types cond { ... } do { ... } */
static lz_status pretty_while(lz_parser *p, lz_scope *s, lz_stmt *t, control *k)
{
    lz_buf form = {0};
    lz_status st = while_args(p, s, t, &form, &k->args);
    lz_buf_free(&form);
    LZ_TRY(st);
    LZ_TRY(lz_parse_carry_nothing(&k->args));
    LZ_TRY(lz_lex_want(&p->c, ":"));
    LZ_TRY(lz_parse_types(p, t));
    if (lz_lex_eat_word(&p->c, "attributes"))
        LZ_TRY(lz_lex_braces(&p->c));
    LZ_TRY(look_ahead(p, s, k, 2));
    static const char *const words[] = {"cond", "do"};
    for (int i = 0; i < 2; i++) {
        const lz_func *r;
        lz_slice gives;
        LZ_TRY(lz_lex_want(&p->c, words[i]));
        LZ_TRY(lz_lex_want(&p->c, "{"));
        LZ_TRY(lz_parse_region_with(p, s, &k->args, &k->captured, &r, &gives));
        LZ_TRY(keep_region(p, t, k, r, gives));
    }
    for (uint32_t i = 0; i < t->listed.len; i++)
        LZ_TRY(lz_vec_push(&t->result_types, t->listed.data[i]));
    t->result_types.form = t->listed.form;
    k->gives_nothing = t->listed.len == 0;
    return LZ_OK;
}

/* (%a, %b) ({ region }, { region }) {attributes} : (types) -> types */
static lz_status generic(lz_parser *p, lz_scope *s, lz_stmt *t, control *k)
{
    LZ_TRY(lz_lex_want(&p->c, "("));
    LZ_TRY(lz_parse_operands(p, s, t));
    LZ_TRY(lz_lex_want(&p->c, ")"));
    if (lz_lex_eat(&p->c, "<")) {
        LZ_TRY(lz_lex_braces(&p->c));
        LZ_TRY(lz_lex_want(&p->c, ">"));
    }
    LZ_TRY(look_ahead(p, s, k, 1));
    LZ_TRY(lz_lex_want(&p->c, "("));
    do {
        const lz_func *r;
        lz_slice gives;
        LZ_TRY(lz_lex_want(&p->c, "{"));
        LZ_TRY(lz_parse_region(p, s, &k->captured, &r, &gives));
        LZ_TRY(keep_region(p, t, k, r, gives));
    } while (lz_lex_eat(&p->c, ","));
    LZ_TRY(lz_lex_want(&p->c, ")"));
    LZ_TRY(lz_lex_braces(&p->c));
    LZ_TRY(lz_lex_want(&p->c, ":"));
    LZ_TRY(lz_parse_types(p, t));
    k->gives_nothing = t->result_types.len == 0;
    bool fits = t->has_arrow && t->opnd_types.len == t->opnd.len &&
                lz_form_eq(t->opnd_types.form, t->opnd_form);
    for (uint32_t i = 0; fits && i < t->opnd.len; i++)
        fits = t->opnd_types.data[i] == lz_val_type(s->f, t->opnd.data[i]);
    return fits ? LZ_OK
                : lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                              LZ_SLICE_FMT ": the types of its operands are not those it has",
                              LZ_SLICE_ARG(t->name));
}

/* ---- building ---- */

static lz_status results_of(lz_scope *s, lz_stmt *t, lz_val v)
{
    uint32_t n = v == LZ_NOVAL ? 0 : s->f->insts[v].sig->nresult;
    for (uint32_t k = 0; k < n; k++)
        LZ_TRY(lz_vec_push(&t->results, lz_build_result(s->f, v, k)));
    return v == LZ_NOVAL ? lz_error_get()->status : s->f->status;
}

static lz_status wrong_count(lz_parser *p, const lz_stmt *t, const control *k)
{
    return lz_lex_fail(&p->c, t->at, LZ_EPARSE, LZ_SLICE_FMT ": has %u operands and %u regions",
                       LZ_SLICE_ARG(t->name), t->opnd.len, k->regions.len);
}

/* What is started is done where it is started: the region is read as what is in it, and the future
 * is a tuple of its results. Which collectives overlap with what is decided where the program is
 * scheduled. */
static lz_status start(lz_parser *p, lz_scope *s, lz_stmt *t, control *k)
{
    const lz_func *body = k->regions.data[0];
    for (uint32_t i = 0; i < k->captured.vals.len; i++)
        LZ_TRY(lz_vec_push(&t->opnd, k->captured.vals.data[i]));
    bool fits =
        k->regions.len == 1 && !k->gives.n && !t->opnd_form.n && body->nparam == t->opnd.len;
    for (uint32_t i = 0; fits && i < t->opnd.len; i++)
        fits = lz_val_type(body, i) == lz_val_type(s->f, t->opnd.data[i]);
    if (!fits)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                           "async_start: the operands do not fit its region");
    LZ_TRY(lz_parse_charge(p, t->at, body->ninst));
    LZ_TRY(lz_vec_reserve(&t->results, (uint64_t)body->nresult + 1));
    if (lz_build_inline(s->f, body, t->opnd.data, t->results.data) != LZ_OK)
        return lz_lex_wrap(&p->c, t->at);
    t->results.len = body->nresult;
    return lz_form_around(p, (lz_slice){NULL, 0}, body->nresult, &t->result_form);
}

static lz_status build(lz_parser *p, lz_scope *s, lz_stmt *t, control *k)
{
    if (lz_slice_is(t->name, "stablehlo.async_start"))
        return start(p, s, t, k);
    bool loop = lz_slice_is(t->name, "stablehlo.while"),
         many = lz_slice_is(t->name, "stablehlo.case");
    if ((!many && k->regions.len != 2) || (!loop && t->opnd.len != 1))
        return wrong_count(p, t, k);
    const lz_func *const *r = k->regions.data;
    lz_status st = LZ_OK;
    t->result_form = k->gives;
    if (loop && !lz_form_eq(k->gives, t->opnd_form))
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, "while: carries other tokens than it returns");
    if (loop && t->opnd.len == 0)
        LZ_TRY(carry_nothing(s, t));
    for (uint32_t i = 0; i < k->captured.vals.len; i++)
        LZ_TRY(lz_vec_push(&t->opnd, k->captured.vals.data[i]));
    if (loop) {
        st = results_of(s, t, lz_build_while(s->f, r[0], r[1], t->opnd.data, t->opnd.len));
    } else if (!many) {
        st = results_of(s, t, lz_build_if(s->f, r[0], r[1], t->opnd.data, t->opnd.len));
    } else {
        LZ_TRY(lz_vec_reserve(&t->results, (uint64_t)r[0]->nresult + 1));
        st = lz_build_case(s->f, t->opnd.data[0], r, k->regions.len, t->opnd.data + 1,
                           t->results.data);
        t->results.len = st == LZ_OK ? r[0]->nresult : 0;
    }
    if (st == LZ_OK && k->gives_nothing)
        t->results.len = 0;
    return st == LZ_OK ? LZ_OK : lz_lex_wrap(&p->c, t->at);
}

lz_status lz_parse_control(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    control k = {0};
    lz_status st;
    t->tuples = true;
    if (t->generic)
        st = generic(p, s, t, &k);
    else if (lz_slice_is(t->name, "stablehlo.while"))
        st = pretty_while(p, s, t, &k);
    else
        st = lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                         LZ_SLICE_FMT ": expected its generic form, in quotes",
                         LZ_SLICE_ARG(t->name));
    if (st == LZ_OK)
        st = build(p, s, t, &k);
    control_free(&k);
    return st;
}
