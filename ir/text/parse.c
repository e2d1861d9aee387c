/* parse.c - StableHLO text to a function: modules, functions, regions, scopes and calls. A function
 * is read when it is first called, again where it would not be the same (random numbers,
 * participants), and its instructions are copied into the caller. What bounds the work is how much
 * text there is, and limits on what is read again and on what is copied.
 * Recursion: calls and regions only, both with a limit. Threads: thread-compatible. */
#include "ir/text/parse.h"
#include "ir/func.h"
#include "ir/text/number.h"
#include "ir/vhlo/vhlo.h"
#include <stdio.h>
#include <string.h>

/* ---- scopes ---- */

static uint32_t find_binding(const lz_scope *s, lz_slice name)
{
    return lz_names_find(&s->names, s->bindings.data, sizeof *s->bindings.data, name);
}

static uint32_t find_func(const lz_parser *p, lz_slice name)
{
    return lz_names_find(&p->func_index, p->funcs.data, sizeof *p->funcs.data, name);
}

void lz_scope_free(lz_scope *s)
{
    lz_names_free(&s->names);
    lz_vec_free(&s->bindings);
    lz_vec_free(&s->vals);
    lz_vec_free(&s->params_at);
    lz_vec_free(&s->results_at);
}

lz_status lz_scope_bind(lz_parser *p, lz_scope *s, lz_slice name, const lz_val *v, uint32_t n)
{
    return lz_scope_bind_form(p, s, name, v, n, (lz_slice){NULL, 0});
}

lz_status lz_scope_bind_form(lz_parser *p, lz_scope *s, lz_slice name, const lz_val *v, uint32_t n,
                             lz_slice form)
{
    if (find_binding(s, name))
        return lz_lex_fail(&p->c, name.s, LZ_EPARSE, "%%" LZ_SLICE_FMT " has a value already",
                           LZ_SLICE_ARG(name));
    lz_binding b = {name, s->vals.len, n, form};
    LZ_TRY(lz_vec_push(&s->bindings, b));
    for (uint32_t i = 0; i < n; i++)
        LZ_TRY(lz_vec_push(&s->vals, v[i]));
    return lz_names_add(&s->names, s->bindings.data, sizeof *s->bindings.data, s->bindings.len - 1);
}

/* Every region may use constants from around it: they are made again inside. Other values only get
 * into regions that are run as programs (parse_control.c), as parameters. */
static lz_status from_outside(lz_parser *p, lz_scope *s, const lz_scope *there, lz_slice name,
                              lz_val *v)
{
    const lz_inst *in = &there->f->insts[*v];
    if (!in->lit)
        return lz_lex_fail(&p->c, name.s, LZ_EUNSUPPORTED,
                           "the region uses %%" LZ_SLICE_FMT
                           " from around it, which is no constant",
                           LZ_SLICE_ARG(name));
    *v = lz_build_const(s->f, in->lit);
    return *v == LZ_NOVAL ? lz_lex_wrap(&p->c, name.s) : LZ_OK;
}

const lz_binding *lz_scope_find(const lz_scope *s, lz_slice name, const lz_scope **there)
{
    uint32_t found = find_binding(s, name);
    *there = s;
    while (!found && (*there = (*there)->outer))
        found = find_binding(*there, name);
    return found ? &(*there)->bindings.data[found - 1] : NULL;
}

/* What a name stands for: the values in `there` from `first` on, one of them where the form is
 * empty. */
typedef struct use {
    lz_slice name, form;
    const lz_scope *there;
    uint32_t first, count;
} use;

static lz_status scan_use(lz_parser *p, lz_scope *s, use *u)
{
    uint32_t index, first = 0;
    LZ_TRY(lz_lex_value(&p->c, &u->name, &index));
    const lz_binding *b = lz_scope_find(s, u->name, &u->there);
    if (!b)
        return lz_lex_fail(&p->c, u->name.s, LZ_EPARSE, "%%" LZ_SLICE_FMT " has no value here",
                           LZ_SLICE_ARG(u->name));
    uint32_t k = index == UINT32_MAX ? 0 : index, n = b->form.n ? lz_form_count(b->form) : b->count;
    if (k >= n || (index == UINT32_MAX && n != 1))
        return lz_lex_fail(&p->c, u->name.s, LZ_EPARSE, "%%" LZ_SLICE_FMT " names %u values",
                           LZ_SLICE_ARG(u->name), n);
    u->form = (lz_slice){NULL, 0};
    u->count = 1;
    if (b->form.n)
        (void)lz_form_element(b->form, k, &u->form, &first, &u->count);
    if (u->form.n == 1)
        u->form.n = 0;
    u->first = b->first + (b->form.n ? first : k);
    return LZ_OK;
}

static lz_status used(lz_parser *p, lz_scope *s, const use *u, uint32_t i, lz_val *out)
{
    *out = u->there->vals.data[u->first + i];
    return u->there == s ? LZ_OK : from_outside(p, s, u->there, u->name, out);
}

lz_status lz_scope_use(lz_parser *p, lz_scope *s, lz_val *out)
{
    use u;
    LZ_TRY(scan_use(p, s, &u));
    if (u.form.n)
        return lz_lex_fail(&p->c, u.name.s, LZ_EPARSE,
                           "%%" LZ_SLICE_FMT
                           " is a tuple; stablehlo.get_tuple_element takes it apart",
                           LZ_SLICE_ARG(u.name));
    return used(p, s, &u, 0, out);
}

lz_status lz_scope_rebind(lz_parser *p, lz_scope *s, const char *at, lz_val v)
{
    use u;
    lz_lexer back = p->c;
    p->c.p = at;
    LZ_TRY(scan_use(p, s, &u));
    p->c = back;
    if (u.there == s && !u.form.n)
        s->vals.data[u.first] = v;
    return LZ_OK;
}

lz_status lz_scope_use_any(lz_parser *p, lz_scope *s, lz_stmt *t, lz_buf *form)
{
    use u;
    lz_val v;
    LZ_TRY(scan_use(p, s, &u));
    for (uint32_t i = 0; i < u.count; i++) {
        LZ_TRY(used(p, s, &u, i, &v));
        LZ_TRY(lz_vec_push(&t->opnd, v));
    }
    lz_buf_put(form, u.form.n ? u.form.s : "*", u.form.n ? u.form.n : 1);
    return LZ_OK;
}

/* ---- regions ---- */

/* %a: type loc(...), ... ) */
static lz_status read_args(lz_parser *p, lz_block_args *out, bool tokens)
{
    if (lz_lex_eat(&p->c, ")"))
        return LZ_OK;
    do {
        lz_block_arg a = {0};
        uint32_t index;
        LZ_TRY(lz_lex_value(&p->c, &a.name, &index));
        LZ_TRY(lz_lex_want(&p->c, ":"));
        if (!tokens || !lz_lex_eat(&p->c, lz_token_type))
            LZ_TRY(lz_lex_type(&p->c, &a.type));
        LZ_TRY(lz_lex_braces(&p->c));
        LZ_TRY(lz_lex_location(&p->c));
        LZ_TRY(lz_vec_push(out, a));
    } while (lz_lex_eat(&p->c, ","));
    return lz_lex_want(&p->c, ")");
}

lz_status lz_parse_block_args(lz_parser *p, lz_block_args *out)
{
    return read_args(p, out, false);
}

static lz_status bind_arg(lz_parser *p, lz_scope *s, const lz_block_arg *a)
{
    if (!a->type)
        return lz_scope_bind_form(p, s, a->name, NULL, 0, (lz_slice){"()", 2});
    lz_val v = lz_build_param(s->f, a->type);
    return v == LZ_NOVAL ? lz_lex_wrap(&p->c, a->name.s) : lz_scope_bind(p, s, a->name, &v, 1);
}

lz_status lz_parse_body(lz_parser *p, lz_scope *s)
{
    while (!lz_lex_eat(&p->c, "}")) {
        if (p->c.p >= p->c.end)
            return lz_lex_fail(&p->c, p->c.end, LZ_EPARSE, "the text ends inside a function");
        if (s->returned)
            return lz_lex_fail(&p->c, p->c.p, LZ_EPARSE, "expected '}' after the return");
        if (*p->c.p == '^')
            return lz_lex_fail(&p->c, p->c.p, LZ_EUNSUPPORTED,
                               "a region of more than one block is not supported");
        LZ_TRY(lz_parse_statement(p, s));
    }
    return s->returned
               ? LZ_OK
               : lz_lex_fail(&p->c, p->c.p - 1, LZ_EPARSE, "expected a return before the end");
}

/* What a region uses from around it: parameters behind its own, under the names they have
 * outside. */
static lz_status bind_captures(lz_parser *p, lz_scope *s, const lz_captures *c)
{
    LZ_VEC(lz_val) v = {0};
    lz_status st = LZ_OK;
    for (uint32_t i = 0; i < c->names.len && st == LZ_OK; i++) {
        lz_binding b = c->names.data[i];
        v.len = 0;
        for (uint32_t k = 0; k < b.count && st == LZ_OK; k++)
            st = lz_vec_push(
                &v, lz_build_param(s->f, lz_val_type(s->outer->f, c->vals.data[b.first + k])));
        if (st == LZ_OK)
            st = s->f->status != LZ_OK ? lz_lex_wrap(&p->c, b.name.s)
                                       : lz_scope_bind_form(p, s, b.name, v.data, b.count, b.form);
    }
    lz_vec_free(&v);
    return st;
}

/* Of a region that only does something: its operation has to have a result. */
static lz_status return_nothing(lz_scope *s)
{
    lz_val v = lz_parse_nothing(s->f);
    return v == LZ_NOVAL ? s->f->status : lz_func_set_results(s->f, &v, 1);
}

static lz_status region_in(lz_parser *p, lz_scope *s, const lz_block_args *args,
                           const lz_captures *captured, const lz_func **out, lz_slice *gives)
{
    const char *at = p->c.p;
    for (uint32_t i = 0; i < args->len; i++)
        LZ_TRY(bind_arg(p, s, &args->data[i]));
    if (captured)
        LZ_TRY(bind_captures(p, s, captured));
    LZ_TRY(lz_parse_body(p, s));
    if (s->gives.n && !gives)
        return lz_lex_fail(&p->c, at, LZ_EPARSE, "the region returns a tuple");
    if (gives) {
        *gives = s->gives;
        if (s->f->nresult == 0)
            LZ_TRY(return_nothing(s));
    }
    *out = lz_region_intern(s->f);
    return *out ? LZ_OK : lz_lex_wrap(&p->c, at);
}

static lz_status check_depth(const lz_parser *p, const char *at)
{
    return p->regions < LZ_MAX_REGION_DEPTH
               ? LZ_OK
               : lz_lex_fail(&p->c, at, LZ_EUNSUPPORTED, "regions nest more than %d deep",
                             LZ_MAX_REGION_DEPTH);
}

static lz_status region(lz_parser *p, lz_scope *outer, const lz_block_args *args,
                        const lz_captures *captured, const lz_func **out, lz_slice *gives)
{
    LZ_TRY(check_depth(p, p->c.p));
    lz_scope s = {.f = lz_func_new("body"), .outer = outer};
    if (!s.f)
        return LZ_EMEM;
    p->regions++;
    lz_status st = region_in(p, &s, args, captured, out, gives);
    p->regions--;
    lz_func_free(s.f);
    lz_scope_free(&s);
    return st;
}

lz_status lz_parse_region_with(lz_parser *p, lz_scope *outer, const lz_block_args *args,
                               const lz_captures *captured, const lz_func **out, lz_slice *gives)
{
    return region(p, outer, args, captured, out, gives);
}

/* Of a loop that carries tokens only: one value that is none. */
lz_status lz_parse_carry_nothing(lz_block_args *args)
{
    static const char no_name[] = " "; /* of a text */
    lz_block_arg a = {.name = {no_name, 1}, .type = lz_parse_nothing_type()};
    for (uint32_t i = 0; i < args->len; i++)
        if (args->data[i].type)
            return LZ_OK;
    return a.type ? lz_vec_push(args, a) : lz_error_get()->status;
}

lz_status lz_parse_region(lz_parser *p, lz_scope *outer, const lz_captures *captured,
                          const lz_func **out, lz_slice *gives)
{
    lz_block_args args = {0};
    lz_status st = LZ_OK;
    if (lz_lex_eat(&p->c, "^")) {
        (void)lz_lex_word(&p->c);
        if (lz_lex_eat(&p->c, "("))
            st = read_args(p, &args, gives != NULL);
        if (st == LZ_OK)
            st = lz_lex_want(&p->c, ":");
        if (st == LZ_OK && gives)
            st = lz_parse_carry_nothing(&args);
    }
    if (st == LZ_OK)
        st = region(p, outer, &args, captured, out, gives);
    lz_vec_free(&args);
    return st;
}

/* (%a: t, %b: t) (%c: u, %d: u) {: the parameters are a, c, b, d. */
static lz_status reducer_args(lz_parser *p, uint32_t n, lz_block_args *pairs, lz_block_args *args)
{
    while (lz_lex_eat(&p->c, "("))
        LZ_TRY(read_args(p, pairs, false));
    if (pairs->len != 2 * (uint64_t)n)
        return lz_lex_fail(&p->c, p->c.p, LZ_EPARSE,
                           "reduce: the reducer has %u parameters for %u inputs", pairs->len, n);
    for (uint32_t side = 0; side < 2; side++)
        for (uint32_t i = 0; i < n; i++)
            LZ_TRY(lz_vec_push(args, pairs->data[2 * i + side]));
    return lz_lex_want(&p->c, "{");
}

lz_status lz_parse_reducer(lz_parser *p, lz_scope *outer, uint32_t n, const lz_captures *captured,
                           const lz_func **out)
{
    lz_block_args pairs = {0}, args = {0};
    lz_status st = reducer_args(p, n, &pairs, &args);
    if (st == LZ_OK)
        st = region(p, outer, &args, captured, out, NULL);
    lz_vec_free(&pairs);
    lz_vec_free(&args);
    return st;
}

/* ---- functions ---- */

static lz_status check_declared(lz_parser *p, const lz_scope *s, const lz_types *types,
                                const char *at)
{
    if (!lz_form_eq(types->form, s->gives))
        return lz_lex_fail(&p->c, at, LZ_EPARSE,
                           "the function declares other tuples than it returns");
    if (types->len != s->f->nresult)
        return lz_lex_fail(&p->c, at, LZ_EPARSE, "the function declares %u results and returns %u",
                           types->len, s->f->nresult);
    for (uint32_t i = 0; i < types->len; i++)
        if (types->data[i] != lz_val_type(s->f, s->f->results[i])) {
            char a[200], b[200];
            return lz_lex_fail(&p->c, at, LZ_EPARSE,
                               "the function declares result %u as %s and returns %s", i,
                               lz_type_short(types->data[i], a, sizeof a),
                               lz_type_short(lz_val_type(s->f, s->f->results[i]), b, sizeof b));
        }
    return LZ_OK;
}

/* -> type | -> (type {attributes}, ...) */
static lz_status declared_results(lz_parser *p, lz_scope *s, lz_types *out, lz_buf *form)
{
    if (!lz_lex_eat(&p->c, "->"))
        return LZ_OK;
    if (!lz_lex_eat(&p->c, "("))
        return lz_parse_type(p, out, form);
    if (lz_lex_eat(&p->c, ")"))
        return LZ_OK;
    do {
        uint32_t first = out->len;
        LZ_TRY(lz_parse_type(p, out, form));
        const lz_type *type = out->len == first + 1 ? out->data[first] : NULL;
        LZ_TRY(lz_parse_value_attributes(p, &s->results_at, first, type));
    } while (lz_lex_eat(&p->c, ","));
    return lz_lex_want(&p->c, ")");
}

/* The parameters that an argument is: one, or as many as its tuple holds. form: its own. */
static lz_status bind_param(lz_parser *p, lz_scope *s, lz_slice name, const lz_types *types,
                            lz_slice form)
{
    LZ_VEC(lz_val) v = {0};
    lz_status st = LZ_OK;
    for (uint32_t i = 0; i < types->len && st == LZ_OK; i++)
        st = lz_vec_push(&v, lz_build_param(s->f, types->data[i]));
    if (st == LZ_OK)
        st = s->f->status != LZ_OK ? lz_lex_wrap(&p->c, name.s)
                                   : lz_scope_bind_form(p, s, name, v.data, v.len, form);
    lz_vec_free(&v);
    return st;
}

/* Whether the caller gives up the buffer of the parameter whose attributes follow. */
static lz_status note_donation(lz_parser *p, lz_val param)
{
    lz_lexer back = p->c;
    lz_stmt t = {0};
    if (!p->about.donated || p->calls != 1 || !lz_lex_eat(&p->c, "{"))
        return LZ_OK;
    lz_status s = lz_parse_dictionary(p, &t);
    const lz_parse_entry *donor = lz_stmt_find(&t, "jax.buffer_donor");
    bool gives = lz_stmt_find(&t, "tf.aliasing_output") ||
                 (donor && !(donor->value && strncmp(donor->value, "false", 5) == 0));
    if (s == LZ_OK && gives)
        s = lz_vec_push(p->about.donated, param);
    lz_vec_free(&t.dict);
    p->c = back;
    return s;
}

lz_status lz_parse_param_attributes(lz_parser *p, lz_pmarks *marks, uint32_t at,
                                    const lz_type *type, const lz_val *param)
{
    if (param)
        LZ_TRY(note_donation(p, *param));
    return lz_parse_value_attributes(p, marks, at, type);
}

/* %a: type {attributes} loc(...); the generic form has the attributes in a list. */
static lz_status param(lz_parser *p, lz_scope *s, lz_types *types, lz_buf *form, lz_lexer *list)
{
    lz_slice name, own;
    lz_val first = s->f->ninst;
    uint32_t index;
    size_t from = form->len;
    types->len = 0;
    LZ_TRY(lz_lex_value(&p->c, &name, &index));
    LZ_TRY(lz_lex_want(&p->c, ":"));
    LZ_TRY(lz_parse_type(p, types, form));
    const lz_type *type = types->len == 1 ? types->data[0] : NULL;
    const lz_val *gives = type ? &first : NULL; /* a token has nothing to give up */
    LZ_TRY(list ? lz_parse_generic_attributes(p, list, &s->params_at, s->vals.len, type, gives)
                : lz_parse_param_attributes(p, &s->params_at, s->vals.len, type, gives));
    LZ_TRY(lz_form_keep(p, form->data + from, form->len - from, &own));
    LZ_TRY(bind_param(p, s, name, types, own));
    lz_parse_set_sites(p, s, first, name.s);
    return lz_lex_location(&p->c);
}

lz_status lz_parse_params(lz_parser *p, lz_scope *s, lz_types *types, lz_buf *form, lz_lexer *list)
{
    if (lz_lex_eat(&p->c, ")"))
        return LZ_OK;
    do
        LZ_TRY(param(p, s, types, form, list));
    while (lz_lex_eat(&p->c, ","));
    LZ_TRY(lz_form_keep(p, form->data, form->len, &s->takes));
    return lz_lex_want(&p->c, ")");
}

/* (%a: type) -> type attributes {..} { */
static lz_status opening(lz_parser *p, lz_scope *s, lz_types *types, lz_buf *form)
{
    LZ_TRY(lz_lex_want(&p->c, "("));
    LZ_TRY(lz_parse_params(p, s, types, form, NULL));
    LZ_TRY(lz_parse_mark_params(p, s));
    types->len = 0;
    form->len = 0;
    LZ_TRY(declared_results(p, s, types, form));
    if (lz_lex_eat_word(&p->c, "attributes"))
        LZ_TRY(lz_lex_braces(&p->c));
    return lz_lex_want(&p->c, "{");
}

static lz_status function_in(lz_parser *p, lz_scope *s, bool generic, lz_types *types, lz_buf *form)
{
    const char *at = p->c.p;
    LZ_TRY(generic ? lz_parse_generic_opening(p, s, types, form) : opening(p, s, types, form));
    LZ_TRY(lz_form_keep(p, form->data, form->len, &types->form));
    LZ_TRY(lz_parse_body(p, s));
    LZ_TRY(check_declared(p, s, types, at));
    return lz_parse_mark_results(p, s);
}

static lz_status function(lz_parser *p, uint32_t index)
{
    lz_pfunc *to = &p->funcs.data[index];
    const char *back = p->c.p, *at = to->at;
    if (to->busy)
        return lz_lex_fail(&p->c, at, LZ_EUNSUPPORTED, "the function calls itself");
    if (p->calls == LZ_PARSE_CALL_DEPTH)
        return lz_lex_fail(&p->c, at, LZ_EUNSUPPORTED, "calls nest more than %d deep",
                           LZ_PARSE_CALL_DEPTH);
    lz_scope s = {.f = lz_func_new("main")};
    lz_buf form = {0};
    lz_types types = {0};
    if (!s.f)
        return LZ_EMEM;
    uint64_t draws = p->draws;
    uint32_t nprobe = p->probes.len;
    p->calls++;
    to->busy = to->was_read = true;
    to->parallel = p->parallel;
    to->marked = p->marked;
    to->manual = p->manual;
    p->c.p = at;
    lz_status st = function_in(p, &s, to->generic, &types, &form);
    p->c.p = back;
    p->probes.len =
        nprobe; /* nobody else asks for those of s.f, which will not be there for long */
    to->draws = p->draws != draws;
    to->busy = false;
    p->calls--;
    to->takes = s.takes;
    to->gives = s.gives;
    if (st == LZ_OK)
        to->f = s.f;
    else
        lz_func_free(s.f);
    lz_scope_free(&s);
    lz_buf_free(&form);
    lz_vec_free(&types);
    return st;
}

/* ---- calls ---- */

lz_status lz_parse_charge(lz_parser *p, const char *at, uint64_t n)
{
    p->inlined += n;
    return p->inlined <= LZ_PARSE_MAX_INLINED
               ? LZ_OK
               : lz_lex_fail(&p->c, at, LZ_EUNSUPPORTED,
                             "the calls expand to more than %d operations", LZ_PARSE_MAX_INLINED);
}

static lz_status inline_call(lz_parser *p, lz_scope *s, lz_stmt *t, const lz_func *f)
{
    LZ_TRY(lz_parse_charge(p, t->at, f->ninst));
    LZ_TRY(lz_vec_reserve(&t->results, (uint64_t)f->nresult + 1));
    if (lz_build_inline(s->f, f, t->opnd.data, t->results.data) != LZ_OK)
        return lz_lex_wrap(&p->c, t->at);
    t->results.len = f->nresult;
    return LZ_OK;
}

static lz_status find_function(const lz_parser *p, lz_slice name, uint32_t *index)
{
    uint32_t found = find_func(p, name);
    *index = (uint32_t)found - 1;
    return found ? LZ_OK
                 : lz_lex_fail(&p->c, name.s, LZ_EPARSE, "there is no function @" LZ_SLICE_FMT,
                               LZ_SLICE_ARG(name));
}

/* Reads it in place of what it was. at: who wants it. */
static lz_status renew(lz_parser *p, uint32_t index, const char *at)
{
    lz_pfunc *f = &p->funcs.data[index];
    lz_func_free(f->f);
    f->f = NULL;
    p->again += f->was_read ? f->size : 0;
    return p->again <= LZ_PARSE_MAX_AGAIN
               ? function(p, index)
               : lz_lex_fail(&p->c, at, LZ_EUNSUPPORTED,
                             "functions are read again for more than %d bytes of text",
                             LZ_PARSE_MAX_AGAIN);
}

lz_status lz_parse_function(lz_parser *p, lz_slice name, const lz_pfunc **out)
{
    uint32_t index;
    LZ_TRY(find_function(p, name, &index));
    const lz_pfunc *f = *out = &p->funcs.data[index];
    /* draws: not the numbers of the last call */
    bool same = f->f && !f->draws && f->parallel == p->parallel && f->marked == p->marked &&
                f->manual == p->manual;
    return same ? LZ_OK : renew(p, index, name.s);
}

static lz_status take(lz_parser *p, uint32_t index, const char *at, lz_func **out)
{
    LZ_TRY(renew(p, index, at));
    *out = p->funcs.data[index].f;
    p->funcs.data[index].f = NULL;
    return LZ_OK;
}

lz_status lz_parse_take(lz_parser *p, lz_slice name, const lz_pfunc **out, lz_func **f)
{
    uint32_t index;
    LZ_TRY(find_function(p, name, &index));
    *out = &p->funcs.data[index];
    return take(p, index, name.s, f);
}

lz_status lz_parse_function_region(lz_parser *p, lz_slice name, const lz_func **out)
{
    const lz_pfunc *f;
    LZ_TRY(check_depth(p, name.s));
    p->regions++;
    lz_status st = lz_parse_function(p, name, &f);
    p->regions--;
    LZ_TRY(st);
    *out = lz_region_intern(f->f);
    return *out ? LZ_OK : lz_lex_wrap(&p->c, name.s);
}

lz_status lz_parse_call(lz_parser *p, lz_scope *s, lz_stmt *t, lz_slice callee)
{
    const lz_pfunc *to;
    LZ_TRY(lz_parse_function(p, callee, &to));
    const lz_func *f = to->f;
    t->result_form = to->gives;
    bool fits = f->nparam == t->opnd.len && f->nresult == t->result_types.len &&
                lz_form_eq(to->takes, t->opnd_form) &&
                lz_form_eq(t->result_form, t->result_types.form);
    for (uint32_t i = 0; fits && i < f->nparam; i++)
        fits = lz_val_type(f, i) == lz_val_type(s->f, t->opnd.data[i]);
    for (uint32_t i = 0; fits && i < f->nresult; i++)
        fits = lz_val_type(f, f->results[i]) == t->result_types.data[i];
    if (!fits)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                           "the call does not fit the signature of @" LZ_SLICE_FMT,
                           LZ_SLICE_ARG(callee));
    return inline_call(p, s, t, f);
}

/* ---- the module ---- */

/* #name = value: one line, unless brackets go on. */
static lz_status skip_alias(lz_parser *p)
{
    int64_t depth = 0;
    lz_slice s;
    lz_alias a = {{p->c.p++, 0}, NULL};
    bool is_type = *a.name.s == '!';
    (void)lz_lex_word(&p->c);
    a.name.n = (size_t)(p->c.p - a.name.s);
    if (is_type && lz_lex_eat(&p->c, "=")) {
        lz_lex_skip(&p->c);
        a.at = p->c.p;
        LZ_TRY(lz_vec_push(&p->aliases, a));
        p->c.aliases = &p->aliases;
    } else if (p->about.locations && lz_lex_eat(&p->c, "=")) {
        LZ_TRY(lz_parse_note_place(p, a.name));
    }
    for (; p->c.p < p->c.end && (depth > 0 || *p->c.p != '\n'); p->c.p++) {
        char c = *p->c.p;
        if (c == '"') {
            LZ_TRY(lz_lex_string(&p->c, &s));
            p->c.p--;
        } else if (strchr("([{<", c) && c) {
            depth++;
        } else if ((strchr(")]}", c) && c) || (c == '>' && p->c.p[-1] != '-')) {
            depth--;
        }
    }
    return LZ_OK;
}

/* A type that may be of any dialect, or a list of them. */
static lz_status skip_results(lz_parser *p)
{
    if (lz_lex_sees(&p->c, "("))
        return lz_lex_group(&p->c);
    (void)lz_lex_eat(&p->c, "!");
    (void)lz_lex_word(&p->c);
    return p->c.p < p->c.end && *p->c.p == '<' ? lz_lex_group(&p->c) : LZ_OK;
}

static lz_status add_function(lz_parser *p, const lz_pfunc *f)
{
    if (find_func(p, f->name))
        return lz_lex_fail(&p->c, f->name.s, LZ_EPARSE, "there are two functions @" LZ_SLICE_FMT,
                           LZ_SLICE_ARG(f->name));
    LZ_TRY(lz_vec_push(&p->funcs, *f));
    return lz_names_add(&p->func_index, p->funcs.data, sizeof *p->funcs.data, p->funcs.len - 1);
}

/* After `func.func`: notes the name and place, steps over the rest. */
static lz_status note_function(lz_parser *p)
{
    lz_pfunc f = {0};
    f.is_private = lz_lex_eat_word(&p->c, "private") || lz_lex_eat_word(&p->c, "nested");
    if (!f.is_private)
        (void)lz_lex_eat_word(&p->c, "public");
    LZ_TRY(lz_lex_symbol(&p->c, &f.name));
    if (!lz_lex_sees(&p->c, "("))
        return lz_lex_want(&p->c, "(");
    lz_lexer first = p->c;
    f.at = first.p++;
    f.takes_any = !lz_lex_sees(&first, ")");
    LZ_TRY(lz_lex_group(&p->c));
    if (lz_lex_eat(&p->c, "->"))
        LZ_TRY(skip_results(p));
    if (lz_lex_eat_word(&p->c, "attributes") && lz_lex_sees(&p->c, "{"))
        LZ_TRY(lz_lex_group(&p->c));
    f.has_body = lz_lex_sees(&p->c, "{");
    if (f.has_body)
        LZ_TRY(lz_lex_group(&p->c));
    f.size = (size_t)(p->c.p - f.at);
    LZ_TRY(lz_lex_location(&p->c));
    return add_function(p, &f);
}

static lz_status note_generic_function(lz_parser *p)
{
    lz_pfunc f = {0};
    LZ_TRY(lz_parse_generic_note(p, &f));
    return add_function(p, &f);
}

static lz_status module_head(lz_parser *p)
{
    if (lz_lex_sees(&p->c, "@"))
        LZ_TRY(lz_lex_symbol(&p->c, &p->module));
    if (lz_lex_eat_word(&p->c, "attributes"))
        LZ_TRY(lz_parse_module_attributes(p));
    return lz_lex_want(&p->c, "{");
}

lz_status lz_parse_note_functions(lz_parser *p)
{
    bool inside = false, done = false, generic = false;
    for (lz_lex_skip(&p->c); p->c.p < p->c.end; lz_lex_skip(&p->c)) {
        if (*p->c.p == '#' || *p->c.p == '!') {
            LZ_TRY(skip_alias(p));
        } else if (inside && lz_lex_eat(&p->c, "}")) {
            inside = false;
            done = true;
            LZ_TRY(generic ? lz_parse_generic_module_end(p) : lz_lex_location(&p->c));
        } else if (!inside && !done && lz_lex_eat_word(&p->c, "module")) {
            inside = true;
            LZ_TRY(module_head(p));
        } else if (!inside && !done && lz_lex_eat(&p->c, "\"builtin.module\"")) {
            inside = generic = true;
            LZ_TRY(lz_parse_generic_module(p));
        } else if (!done && lz_lex_eat(&p->c, "\"func.func\"")) {
            LZ_TRY(note_generic_function(p));
        } else if (!done && lz_lex_eat(&p->c, "\"sdy.mesh\"")) {
            LZ_TRY(lz_parse_generic_mesh(p));
        } else if (!done &&
                   (lz_lex_eat_word(&p->c, "func.func") || lz_lex_eat_word(&p->c, "func"))) {
            LZ_TRY(note_function(p));
        } else if (!done && lz_lex_eat_word(&p->c, "sdy.mesh")) {
            LZ_TRY(lz_parse_mesh(p));
        } else {
            return lz_lex_fail(&p->c, p->c.p, LZ_EPARSE, "expected %s",
                               done ? "the end of the text" : "'module' or 'func.func'");
        }
    }
    return inside ? lz_lex_fail(&p->c, p->c.end, LZ_EPARSE, "the module is not closed") : LZ_OK;
}

/* ---- what of it is to be run ---- */

uint32_t lz_parse_main_index(const lz_parser *p)
{
    const char *name = p->entry ? p->entry : "main";
    return find_func(p, (lz_slice){name, strlen(name)});
}

/* The entry that was asked for; else @main, the only function that is not private, or the only
 * one. */
lz_status lz_parse_find_main(lz_parser *p, uint32_t *index)
{
    uint32_t found = lz_parse_main_index(p), count[2] = {0, 0}, last[2] = {0, 0};
    *index = found - 1;
    if (found)
        return LZ_OK;
    for (uint32_t i = 0; i < p->funcs.len; i++) {
        const lz_pfunc *f = &p->funcs.data[i];
        for (int all = f->is_private; all < 2 && f->has_body; all++) {
            count[all]++;
            last[all] = i;
        }
    }
    int all = count[0] == 0;
    *index = last[all];
    return !p->entry && count[all] == 1
               ? LZ_OK
               : lz_lex_fail(&p->c, p->c.p, LZ_EPARSE, "there is no function @%s",
                             p->entry ? p->entry : "main");
}

/* The function, no longer the parser's. Its checks are p's. */
lz_status lz_parse_take_function(lz_parser *p, uint32_t index, lz_func **out)
{
    p->checks.len = p->checked.len = 0;
    p->draws = 0;
    return take(p, index, p->funcs.data[index].name.s, out); /* its checks, if any, count now */
}

static lz_status parse_main(lz_parser *p, lz_func **out)
{
    uint32_t index;
    LZ_TRY(lz_parse_note_functions(p));
    p->c.p = p->c.text;
    LZ_TRY(lz_parse_find_main(p, &index));
    LZ_TRY(lz_parse_take_function(p, index, out));
    if (p->about.tokens)
        LZ_TRY(lz_parse_tokens_as_values(p, &p->funcs.data[index], out));
    lz_slice name = p->module.n ? p->module : p->funcs.data[index].name;
    snprintf((*out)->name, sizeof(*out)->name, LZ_SLICE_FMT, LZ_SLICE_ARG(name));
    return LZ_OK;
}

void lz_parser_free(lz_parser *p)
{
    for (uint32_t i = 0; i < p->funcs.len; i++)
        lz_func_free(p->funcs.data[i].f);
    lz_vec_free(&p->funcs);
    lz_vec_free(&p->checks);
    lz_vec_free(&p->checked);
    lz_vec_free(&p->probes);
    lz_vec_free(&p->aliases);
    lz_vec_free(&p->places);
    lz_names_free(&p->place_index);
    lz_vec_free(&p->meshes);
    lz_arena_free(&p->arena);
    lz_names_free(&p->func_index);
}

/* Bytecode is read as its text, which is in `own` then. */
lz_status lz_parse_as_text(const char **text, size_t *n, lz_buf *own)
{
    if (!lz_vhlo_is_bytecode(*text, *n))
        return LZ_OK;
    LZ_TRY(lz_vhlo_to_text(*text, *n, own));
    *text = lz_buf_str(own);
    *n = own->len;
    return LZ_OK;
}

lz_status lz_func_parse(const char *text, size_t n, const char *name, lz_func **out)
{
    return lz_func_parse_entry(text, n, name, NULL, out);
}

lz_status lz_func_parse_entry(const char *text, size_t n, const char *name, const char *entry,
                              lz_func **out)
{
    return lz_func_parse_about(text, n, name, entry, &(lz_partitions){0}, out);
}

lz_status lz_func_parse_about(const char *text, size_t n, const char *name, const char *entry,
                              lz_partitions *about, lz_func **out)
{
    lz_buf own = {0};
    *out = NULL;
    lz_status s = lz_parse_as_text(&text, &n, &own);
    if (s == LZ_OK) {
        lz_parser p = {.c = {text, text, text + n, name ? name : "text", NULL},
                       .entry = entry,
                       .about = *about};
        s = parse_main(&p, out);
        if (s != LZ_OK) {
            lz_func_free(*out);
            *out = NULL;
        }
        *about = p.about;
        lz_parser_free(&p);
    }
    lz_buf_free(&own);
    return s;
}

static lz_status parse_marked(lz_parser *p, lz_func **out)
{
    lz_status s = parse_main(p, out);
    if (s == LZ_OK && p->borders)
        s = lz_manual_join(out);
    if (s != LZ_OK) {
        lz_func_free(*out);
        *out = NULL;
    }
    return s;
}

lz_status lz_func_parse_marked(const char *text, size_t n, const char *name, const char *entry,
                               int64_t ndevice, lz_partitions *about, lz_func **out)
{
    lz_buf own = {0};
    *out = NULL;
    lz_status s = lz_parse_as_text(&text, &n, &own);
    lz_parser p = {.c = {text, text, text + n, name ? name : "text", NULL},
                   .entry = entry,
                   .marked = true,
                   .ndevice = ndevice,
                   .about = {.mesh = about ? about->mesh : NULL,
                             .donated = about ? about->donated : NULL,
                             .tokens = about && about->tokens,
                             .locations = about && about->locations}};
    if (s == LZ_OK)
        s = parse_marked(&p, out);
    if (about)
        *about = p.about;
    lz_parser_free(&p);
    lz_buf_free(&own);
    return s;
}
