/* parse_check.c - the check dialect of StableHLO's conformance programs: what is compared becomes
 * results of the function; and their files, of several modules. See check.h.
 * Threads: thread-compatible. */
#include "base/text.h"
#include "ir/text/number.h"
#include "ir/text/parse.h"
#include <string.h>

/* check.NAME, and check.NAME_const whose expected value is written out; expect_ is missing in older
 * text. */
static const struct {
    const char *name, *full;
    lz_check_kind kind;
} names[] = {
    {"eq", "check.expect_eq", LZ_CHECK_EQ},
    {"almost_eq", "check.expect_almost_eq", LZ_CHECK_ALMOST},
    {"close", "check.expect_close", LZ_CHECK_CLOSE},
};

static bool take(lz_slice *s, const char *prefix)
{
    size_t n = strlen(prefix);
    if (s->n < n || memcmp(s->s, prefix, n) != 0)
        return false;
    s->s += n;
    s->n -= n;
    return true;
}

static bool take_end(lz_slice *s, const char *suffix)
{
    size_t n = strlen(suffix);
    if (s->n < n || memcmp(s->s + s->n - n, suffix, n) != 0)
        return false;
    s->n -= n;
    return true;
}

/* is_const: the name ends so. */
static bool find(lz_slice name, lz_check *c, bool *is_const)
{
    if (!take(&name, "check."))
        return false;
    (void)take(&name, "expect_");
    *is_const = take_end(&name, "_const");
    *c = (lz_check){.tolerance = 1e-4, .max_ulp = 3};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (lz_slice_is(name, names[i].name)) {
            c->name = names[i].full;
            c->kind = names[i].kind;
            return true;
        }
    return false;
}

bool lz_parse_is_check(lz_slice name)
{
    lz_check c;
    bool is_const;
    return find(name, &c, &is_const);
}

/* ---- attributes ---- */

static lz_status number_of(lz_parser *p, const lz_stmt *t, const char *key, double *out)
{
    const lz_parse_entry *e = lz_stmt_find(t, key);
    if (!e)
        return LZ_OK;
    const char *s = e->value;
    size_t n = lz_lex_number(&p->c, s);
    bool decimal = n && (lz_is_digit(*s) || strchr("+-.", *s)) && !memchr(s, 'x', n);
    return decimal && lz_text_f64(s, n, out) && *out >= 0
               ? LZ_OK
               : lz_lex_fail(&p->c, e->value, LZ_EPARSE, "%s: expected a number, 0 or more", key);
}

/* What is more than any difference of numbers, up to 2^64 - 1, stands for that of infinities and
 * NaN. */
static lz_status count_of(lz_parser *p, const lz_stmt *t, const char *key, int64_t *out)
{
    const lz_parse_entry *e = lz_stmt_find(t, key);
    int64_t v = 0;
    if (!e)
        return LZ_OK;
    const char *s = e->value;
    for (; s < p->c.end && *s >= '0' && *s <= '9'; s++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *s - '0', &v))
            v = INT64_MAX;
    *out = v;
    bool whole = s == p->c.end || !(lz_is_alnum(*s) || *s == '_' || *s == '.');
    return s > e->value && whole
               ? LZ_OK
               : lz_lex_fail(&p->c, e->value, LZ_EPARSE, "%s: expected 0 or more", key);
}

/* ---- a check that has been read ---- */

static lz_status keep(lz_parser *p, lz_scope *s, lz_stmt *t, lz_check c)
{
    lz_val v[2] = {t->opnd.data[0], t->opnd.data[1]};
    const lz_type *a = lz_val_type(s->f, v[0]), *b = lz_val_type(s->f, v[1]);
    char x[200], y[200];
    if (a != b)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, "%s: compares %s with %s", c.name,
                           lz_type_short(a, x, sizeof x), lz_type_short(b, y, sizeof y));
    LZ_TRY(number_of(p, t, "tolerance", &c.tolerance));
    LZ_TRY(count_of(p, t, "min_ulp_difference", &c.min_ulp));
    LZ_TRY(count_of(p, t, "max_ulp_difference", &c.max_ulp));
    if (s->outer || p->calls > 1)
        return lz_lex_fail(&p->c, t->at, LZ_EUNSUPPORTED,
                           "%s: only the function that is run may check", c.name);
    c.line = lz_lex_line(&p->c, t->at);
    LZ_TRY(lz_vec_push(&p->checks, c));
    LZ_TRY(lz_vec_push(&p->checked, v[0]));
    return lz_vec_push(&p->checked, v[1]);
}

lz_status lz_parse_check_equal(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    return keep(p, s, t, (lz_check){.name = names[0].full, .kind = LZ_CHECK_EQ, .tolerance = 1e-4});
}

lz_status lz_parse_check_call(lz_parser *p, lz_scope *s, lz_stmt *t, lz_slice name)
{
    lz_check c;
    bool is_const;
    if (!find(name, &c, &is_const) || is_const || t->opnd.len != 2)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                           "custom_call: there is no @" LZ_SLICE_FMT " of %u operands",
                           LZ_SLICE_ARG(name), t->opnd.len);
    LZ_TRY(keep(p, s, t, c));
    if (t->result_types.len == 0)
        return LZ_OK;
    /* older texts give on whether it holds; where it does not, the run has failed */
    lz_val v = lz_build_splat(s->f, t->result_types.data[0], 1);
    if (v == LZ_NOVAL)
        return lz_lex_wrap(&p->c, t->at);
    LZ_TRY(lz_vec_push(&t->results, v));
    return lz_parse_check_results(p, s, t);
}

/* ---- the operations of the dialect ---- */

/* dense<...> : type */
static lz_status expected(lz_parser *p, lz_scope *s, lz_stmt *t, lz_lexer *at)
{
    lz_val v;
    const lz_type *type;
    LZ_TRY(lz_parse_dense(p, s, t, at, &v, &type));
    return lz_vec_push(&t->opnd, v);
}

/* %a, %b | %a, dense<...> : type, then perhaps `, key = value`, {...} and types. */
static lz_status pretty(lz_parser *p, lz_scope *s, lz_stmt *t, bool is_const)
{
    lz_val v;
    LZ_TRY(lz_scope_use(p, s, &v));
    LZ_TRY(lz_vec_push(&t->opnd, v));
    LZ_TRY(lz_lex_want(&p->c, ","));
    if (is_const || lz_lex_sees(&p->c, "dense")) { /* the oldest texts say eq for both */
        LZ_TRY(expected(p, s, t, &p->c));
        is_const = true;
    } else {
        LZ_TRY(lz_scope_use(p, s, &v));
        LZ_TRY(lz_vec_push(&t->opnd, v));
    }
    while (lz_lex_eat(&p->c, ",")) {
        lz_parse_entry e = {lz_lex_word(&p->c), NULL};
        LZ_TRY(lz_lex_want(&p->c, "="));
        lz_lex_skip(&p->c);
        e.value = p->c.p;
        while (p->c.p < p->c.end && *p->c.p && strchr("+-.0123456789eE", *p->c.p))
            p->c.p++;
        LZ_TRY(lz_vec_push(&t->dict, e));
    }
    if (lz_lex_eat(&p->c, "{"))
        LZ_TRY(lz_parse_dictionary(p, t));
    if (!is_const || lz_lex_sees(&p->c, ":")) {
        LZ_TRY(lz_lex_want(&p->c, ":"));
        LZ_TRY(lz_parse_types(p, t));
    }
    return lz_lex_eat(&p->c, "{") ? lz_parse_dictionary(p, t) : LZ_OK;
}

static lz_status generic(lz_parser *p, lz_scope *s, lz_stmt *t, bool is_const)
{
    LZ_TRY(lz_parse_generic_items(p, s, t));
    if (lz_lex_eat(&p->c, "{"))
        LZ_TRY(lz_parse_dictionary(p, t));
    LZ_TRY(lz_lex_want(&p->c, ":"));
    LZ_TRY(lz_parse_types(p, t));
    const lz_parse_entry *e = lz_stmt_find(t, "value");
    if (!is_const)
        return LZ_OK;
    if (!e)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, LZ_SLICE_FMT ": the attribute value is missing",
                           LZ_SLICE_ARG(t->name));
    lz_lexer at = p->c;
    at.p = e->value;
    return expected(p, s, t, &at);
}

/* Whether the first operand is a token, or another tuple of nothing. */
static bool sees_token(const lz_parser *p, const lz_scope *s)
{
    lz_lexer at = p->c;
    const lz_scope *there;
    lz_slice name;
    uint32_t index;
    if (!lz_lex_sees(&at, "%") || lz_lex_value(&at, &name, &index) != LZ_OK)
        return false;
    const lz_binding *b = lz_scope_find(s, name, &there);
    return b && b->form.n && b->count == 0;
}

/* %a, %b : !stablehlo.token: all are equal. */
static lz_status tokens(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    t->tuples = true;
    LZ_TRY(lz_parse_operands(p, s, t));
    LZ_TRY(lz_lex_want(&p->c, ":"));
    LZ_TRY(lz_parse_types(p, t));
    const lz_types *types = t->has_arrow ? &t->opnd_types : &t->listed;
    bool fits = t->opnd.len == 0 && lz_slice_is(t->opnd_form, "()()") && types->len == 0 &&
                (lz_slice_is(types->form, "()") || lz_slice_is(types->form, "()()"));
    return fits ? LZ_OK
                : lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                              LZ_SLICE_FMT ": compares a token with something else",
                              LZ_SLICE_ARG(t->name));
}

lz_status lz_parse_check(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    lz_check c;
    bool is_const;
    (void)find(t->name, &c, &is_const);
    if (!t->generic && !is_const && sees_token(p, s))
        return tokens(p, s, t);
    LZ_TRY(t->generic ? generic(p, s, t, is_const) : pretty(p, s, t, is_const));
    if (t->opnd.len != 2)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, "%s: compares two values, not %u", c.name,
                           t->opnd.len);
    const lz_types *types = t->has_arrow ? &t->opnd_types : &t->listed;
    for (uint32_t i = 0; i < types->len; i++)
        if (i > 1 || types->data[i] != lz_val_type(s->f, t->opnd.data[i]))
            return lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                               "%s: the types are not those of what it compares", c.name);
    return keep(p, s, t, c);
}

/* ---- files of several modules, with checks (check.h) ---- */

/* The function's results and what its checks compare, as the results of f. */
static lz_status add_checked(lz_parser *p, lz_func *f)
{
    LZ_VEC(lz_val) all = {0};
    lz_status s = lz_vec_reserve(&all, (uint64_t)f->nresult + p->checked.len + 1);
    for (uint32_t i = 0; i < f->nresult && s == LZ_OK; i++)
        s = lz_vec_push(&all, f->results[i]);
    for (uint32_t i = 0; i < p->checked.len && s == LZ_OK; i++)
        s = lz_vec_push(&all, p->checked.data[i]);
    for (uint32_t i = 0; i < p->checks.len; i++) {
        p->checks.data[i].got = f->nresult + 2 * i;
        p->checks.data[i].want = f->nresult + 2 * i + 1;
    }
    if (s == LZ_OK)
        s = lz_func_set_results(f, all.data, all.len);
    lz_vec_free(&all);
    return s;
}

static lz_status one_checked(lz_parser *p, uint32_t index, lz_checked_fn *fn, void *user)
{
    lz_checked c = {0};
    lz_status s = lz_parse_take_function(p, index, &c.f);
    if (s == LZ_OK) {
        lz_slice name = p->funcs.data[index].name;
        snprintf(c.f->name, sizeof c.f->name, LZ_SLICE_FMT, LZ_SLICE_ARG(name));
        c.name = c.f->name;
        c.nreturn = c.f->nresult;
        c.checks = p->checks.data;
        c.ncheck = p->checks.len;
        s = add_checked(p, c.f);
    }
    s = fn(s == LZ_OK ? &c : NULL, user);
    lz_func_free(c.f);
    return s;
}

static lz_status checked_module(lz_parser *p, lz_checked_fn *fn, void *user)
{
    uint32_t index;
    const char *start = p->c.p;
    lz_status s = lz_parse_note_functions(p);
    bool has_main = p->entry || lz_parse_main_index(p) != 0, any = false;
    p->c.p = start;
    for (uint32_t i = 0; i < p->funcs.len && s == LZ_OK && !has_main; i++) {
        const lz_pfunc *f = &p->funcs.data[i];
        p->calls = 0;
        p->inlined = p->again = 0;
        if (!f->is_private && f->has_body && !f->takes_any) {
            any = true;
            LZ_TRY(one_checked(p, i, fn, user));
        }
    }
    if (s != LZ_OK || (!any && lz_parse_find_main(p, &index) != LZ_OK))
        return fn(NULL, user);
    return any ? LZ_OK : one_checked(p, index, fn, user);
}

/* The end of the module that starts at s: where a line `// -----` begins. *next: after that line,
 * NULL when there is none. */
static const char *module_end(const char *s, const char *end, const char **next)
{
    static const char mark[] = "// -----";
    const size_t n = sizeof mark - 1;
    while (s < end) {
        const char *eol = memchr(s, '\n', (size_t)(end - s));
        const char *stop = eol ? eol : end, *p = s + n;
        if ((size_t)(stop - s) >= n && memcmp(s, mark, n) == 0) {
            while (p < stop && (*p == ' ' || *p == '\t' || *p == '\r'))
                p++;
            if (p == stop) {
                *next = eol ? eol + 1 : end;
                return s;
            }
        }
        s = eol ? eol + 1 : end;
    }
    *next = NULL;
    return end;
}

static lz_status checked_modules(const char *text, size_t n, const char *name, const char *entry,
                                 lz_checked_fn *fn, void *user)
{
    static const char checks[] = "check.expect"; /* a conformance program */
    const size_t n_checks = sizeof checks - 1;
    lz_status s = LZ_OK;
    for (const char *start = text, *next; start && s == LZ_OK; start = next) {
        const char *end = module_end(start, text + n, &next);
        lz_parser p = {.c = {text, start, end, name ? name : "text", NULL},
                       .entry = entry,
                       .as_specified = memmem(start, (size_t)(end - start), checks, n_checks)};
        lz_lexer blank = p.c;
        lz_lex_skip(&blank);
        if (blank.p < end || (!next && start == text)) /* only comments: no module */
            s = checked_module(&p, fn, user);
        lz_parser_free(&p);
    }
    return s;
}

lz_status lz_checked_parse(const char *text, size_t n, const char *name, const char *entry,
                           lz_checked_fn *fn, void *user)
{
    lz_buf own = {0};
    lz_status s = lz_parse_as_text(&text, &n, &own);
    s = s == LZ_OK ? checked_modules(text, n, name, entry, fn, user) : fn(NULL, user);
    lz_buf_free(&own);
    return s;
}
