/* parse_generic.c - what is around the operations in MLIR's generic form: "builtin.module",
 * "func.func" and "sdy.mesh", with what they are called and declare as attributes.
 * Threads: thread-compatible. */
#include "ir/text/parse.h"
#include <string.h>

/* () <{attributes}> */
static lz_status head(lz_parser *p, lz_stmt *t)
{
    LZ_TRY(lz_lex_want(&p->c, "("));
    LZ_TRY(lz_lex_want(&p->c, ")"));
    if (!lz_lex_eat(&p->c, "<"))
        return LZ_OK;
    LZ_TRY(lz_lex_want(&p->c, "{"));
    LZ_TRY(lz_parse_dictionary(p, t));
    return lz_lex_want(&p->c, ">");
}

/* {attributes} : () -> () loc(..) */
static lz_status tail(lz_parser *p)
{
    LZ_TRY(lz_lex_want(&p->c, ":"));
    LZ_TRY(lz_lex_want(&p->c, "("));
    LZ_TRY(lz_lex_want(&p->c, ")"));
    LZ_TRY(lz_lex_want(&p->c, "->"));
    LZ_TRY(lz_lex_want(&p->c, "("));
    LZ_TRY(lz_lex_want(&p->c, ")"));
    return lz_lex_location(&p->c);
}

/* "name", without its quotes; empty where it is not said. */
static lz_status text_of(lz_parser *p, const lz_stmt *t, const char *key, lz_slice *out)
{
    const lz_parse_entry *e = lz_stmt_find(t, key);
    *out = (lz_slice){NULL, 0};
    if (!e)
        return LZ_OK;
    lz_lexer c = p->c;
    c.p = e->value;
    return lz_lex_string(&c, out);
}

/* ---- the module ---- */

static lz_status module(lz_parser *p, lz_stmt *t)
{
    LZ_TRY(head(p, t));
    LZ_TRY(text_of(p, t, "sym_name", &p->module));
    LZ_TRY(lz_lex_want(&p->c, "("));
    return lz_lex_want(&p->c, "{");
}

lz_status lz_parse_generic_module(lz_parser *p)
{
    lz_stmt t = {0};
    lz_status s = module(p, &t);
    lz_vec_free(&t.dict);
    return s;
}

lz_status lz_parse_generic_module_end(lz_parser *p)
{
    LZ_TRY(lz_lex_want(&p->c, ")"));
    LZ_TRY(lz_parse_module_attributes(p));
    return tail(p);
}

static lz_status mesh(lz_parser *p, lz_stmt *t)
{
    const char *at = p->c.p;
    lz_pmesh m = {0};
    LZ_TRY(head(p, t));
    LZ_TRY(text_of(p, t, "sym_name", &m.name));
    const lz_parse_entry *e = lz_stmt_find(t, "mesh");
    lz_lexer c = p->c;
    if (!e || m.name.n == 0)
        return lz_lex_fail(&p->c, at, LZ_EPARSE, "a mesh has its name and its axes as attributes");
    c.p = e->value;
    LZ_TRY(lz_lex_want(&c, "#sdy.mesh"));
    if (!lz_lex_sees(&c, "<"))
        return lz_lex_want(&c, "<");
    m.at = c.p;
    LZ_TRY(lz_vec_push(&p->meshes, m));
    LZ_TRY(lz_lex_braces(&p->c));
    return tail(p);
}

lz_status lz_parse_generic_mesh(lz_parser *p)
{
    lz_stmt t = {0};
    lz_status s = mesh(p, &t);
    lz_vec_free(&t.dict);
    return s;
}

/* ---- functions ---- */

static lz_status note(lz_parser *p, lz_stmt *t, lz_pfunc *f)
{
    lz_slice visibility;
    lz_lex_skip(&p->c);
    f->at = p->c.p;
    f->generic = true;
    LZ_TRY(head(p, t));
    LZ_TRY(text_of(p, t, "sym_name", &f->name));
    LZ_TRY(text_of(p, t, "sym_visibility", &visibility));
    if (f->name.n == 0)
        return lz_lex_fail(&p->c, f->at, LZ_EPARSE, "func.func: the attribute sym_name is missing");
    f->is_private = visibility.n > 0 && !lz_slice_is(visibility, "public");
    if (!lz_lex_sees(&p->c, "("))
        return lz_lex_want(&p->c, "(");
    lz_lexer body = p->c;
    LZ_TRY(lz_lex_want(&body, "("));
    LZ_TRY(lz_lex_want(&body, "{"));
    f->has_body = !lz_lex_sees(&body, "}");
    f->takes_any = lz_lex_sees(&body, "^");
    LZ_TRY(lz_lex_group(&p->c));
    LZ_TRY(lz_lex_braces(&p->c));
    LZ_TRY(tail(p));
    f->size = (size_t)(p->c.p - f->at);
    return LZ_OK;
}

lz_status lz_parse_generic_note(lz_parser *p, lz_pfunc *f)
{
    lz_stmt t = {0};
    lz_status s = note(p, &t, f);
    lz_vec_free(&t.dict);
    return s;
}

/* A list of dictionaries, one for each parameter or result, before the first; text NULL: none. */
static lz_status open_attributes(lz_parser *p, const lz_stmt *t, const char *key, lz_lexer *out)
{
    const lz_parse_entry *e = lz_stmt_find(t, key);
    *out = p->c;
    out->text = NULL;
    if (!e)
        return LZ_OK;
    out->text = p->c.text;
    out->p = e->value;
    return lz_lex_want(out, "[");
}

lz_status lz_parse_generic_attributes(lz_parser *p, lz_lexer *list, lz_pmarks *marks, uint32_t at,
                                      const lz_type *type, const lz_val *param)
{
    if (!list->text)
        return LZ_OK;
    lz_lexer back = p->c;
    p->c = *list;
    lz_status s = lz_parse_param_attributes(p, marks, at, type, param);
    *list = p->c;
    p->c = back;
    LZ_TRY(s);
    return lz_lex_eat(list, ",") || lz_lex_sees(list, "]") ? LZ_OK : lz_lex_want(list, ",");
}

/* The results of (types) -> types */
static lz_status results(lz_parser *p, lz_scope *s, const lz_stmt *t, lz_types *out, lz_buf *form)
{
    const lz_parse_entry *e = lz_stmt_find(t, "function_type");
    lz_lexer attributes, back = p->c;
    LZ_TRY(open_attributes(p, t, "res_attrs", &attributes));
    if (!e)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                           "func.func: the attribute function_type is missing");
    p->c.p = e->value;
    if (!lz_lex_sees(&p->c, "("))
        return lz_lex_want(&p->c, "(");
    LZ_TRY(lz_lex_group(&p->c));
    LZ_TRY(lz_lex_want(&p->c, "->"));
    bool parens = lz_lex_eat(&p->c, "(");
    bool none = parens && lz_lex_eat(&p->c, ")");
    while (!none) {
        uint32_t first = out->len;
        LZ_TRY(lz_parse_type(p, out, form));
        const lz_type *type = out->len == first + 1 ? out->data[first] : NULL;
        LZ_TRY(lz_parse_generic_attributes(p, &attributes, &s->results_at, first, type, NULL));
        none = !parens || !lz_lex_eat(&p->c, ",");
    }
    p->c = back;
    return LZ_OK;
}

static lz_status opening(lz_parser *p, lz_scope *s, lz_stmt *t, lz_types *types, lz_buf *form)
{
    lz_lexer attributes;
    lz_lex_skip(&p->c);
    t->at = p->c.p;
    LZ_TRY(head(p, t));
    LZ_TRY(open_attributes(p, t, "arg_attrs", &attributes));
    LZ_TRY(lz_lex_want(&p->c, "("));
    LZ_TRY(lz_lex_want(&p->c, "{"));
    if (lz_lex_eat(&p->c, "^")) {
        (void)lz_lex_word(&p->c);
        LZ_TRY(lz_lex_want(&p->c, "("));
        LZ_TRY(lz_parse_params(p, s, types, form, &attributes));
        LZ_TRY(lz_lex_want(&p->c, ":"));
    }
    LZ_TRY(lz_parse_mark_params(p, s));
    types->len = 0;
    form->len = 0;
    return results(p, s, t, types, form);
}

lz_status lz_parse_generic_opening(lz_parser *p, lz_scope *s, lz_types *types, lz_buf *form)
{
    lz_stmt t = {0};
    lz_status st = opening(p, s, &t, types, form);
    lz_vec_free(&t.dict);
    return st;
}
