/* parse_tuple.c - tuples, which exist in text only: a tuple is the values in it, in order, and a
 * form that says how they are nested. Functions take and give the values, so no later stage knows
 * of tuples. A form is text: * for a value, (..) for a tuple: a value and a pair is "*(**)". An
 * empty form: values only. A future is a tuple of what it will give.
 * Threads: thread-compatible. */
#include "ir/func.h"
#include "ir/text/parse.h"
#include <string.h>

/* MAX_FORM: of the form of one type; aliases that use one another twice double it at each step */
enum { MAX_DEPTH = 64, MAX_FORM = 1 << 16 };

/* ---- forms ---- */

/* The end of the element that starts at s. */
static size_t element_end(lz_slice form, size_t s)
{
    int depth = 0;
    do {
        char c = form.s[s++];
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    } while (depth > 0);
    return s;
}

static uint32_t leaves(lz_slice form)
{
    uint32_t n = 0;
    for (size_t i = 0; i < form.n; i++)
        n += form.s[i] == '*';
    return n;
}

uint32_t lz_form_count(lz_slice form)
{
    uint32_t n = 0;
    for (size_t at = 0; at < form.n; at = element_end(form, at))
        n++;
    return n;
}

bool lz_form_element(lz_slice form, uint32_t k, lz_slice *out, uint32_t *first, uint32_t *count)
{
    *first = 0;
    for (size_t at = 0; at < form.n;) {
        size_t end = element_end(form, at);
        *out = (lz_slice){form.s + at, end - at};
        *count = leaves(*out);
        if (k-- == 0)
            return true;
        *first += *count;
        at = end;
    }
    return false;
}

bool lz_form_is_flat(lz_slice form)
{
    for (size_t i = 0; i < form.n; i++)
        if (form.s[i] != '*' && (form.s[i] != '(' || i + 1 == form.n || form.s[++i] != ')'))
            return false;
    return true;
}

bool lz_form_eq(lz_slice a, lz_slice b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.s, b.s, a.n) == 0);
}

lz_status lz_form_keep(lz_parser *p, const char *s, size_t n, lz_slice *out)
{
    *out = (lz_slice){NULL, 0};
    if (n == 0 || !memchr(s, '(', n))
        return LZ_OK;
    char *copy = lz_arena_alloc(&p->arena, n);
    if (!copy)
        return LZ_EMEM;
    memcpy(copy, s, n);
    *out = (lz_slice){copy, n};
    return LZ_OK;
}

lz_slice lz_form_take(lz_slice *form, uint32_t n, uint32_t *count)
{
    size_t at = 0;
    while (n-- > 0 && at < form->n)
        at = element_end(*form, at);
    lz_slice head = {form->s, at};
    *count = leaves(head);
    *form = (lz_slice){form->s + at, form->n - at};
    return memchr(head.s, '(', head.n) ? head : (lz_slice){NULL, 0};
}

lz_status lz_form_around(lz_parser *p, lz_slice forms, uint32_t n, lz_slice *out)
{
    lz_buf form = {0};
    lz_buf_putc(&form, '(');
    for (uint32_t i = 0; i < n && !forms.n; i++)
        lz_buf_putc(&form, '*');
    lz_buf_put(&form, forms.s, forms.n);
    lz_buf_putc(&form, ')');
    lz_status st = form.failed ? LZ_EMEM : lz_form_keep(p, form.data, form.len, out);
    lz_buf_free(&form);
    return st;
}

/* ---- types ---- */

const char lz_token_type[] = "!stablehlo.token";

static lz_status leaf(lz_parser *p, lz_types *out)
{
    const lz_type *t;
    LZ_TRY(lz_lex_type(&p->c, &t));
    return lz_vec_push(out, t);
}

/* Types being read: how many tuples are open, and how long the form was before. */
typedef struct nest {
    int depth;
    size_t start;
} nest;

static lz_status any_type(lz_parser *p, lz_types *out, lz_buf *form, nest at);

static lz_status tuple_type(lz_parser *p, lz_types *out, lz_buf *form, nest at)
{
    if (++at.depth > MAX_DEPTH)
        return lz_lex_fail(&p->c, p->c.p, LZ_EUNSUPPORTED, "tuples nest more than %d deep",
                           MAX_DEPTH);
    lz_buf_putc(form, '(');
    if (!lz_lex_sees(&p->c, ">"))
        do
            LZ_TRY(any_type(p, out, form, at));
        while (lz_lex_eat(&p->c, ","));
    lz_buf_putc(form, ')');
    return lz_lex_want(&p->c, ">");
}

static lz_status any_type(lz_parser *p, lz_types *out, lz_buf *form, nest at)
{
    lz_lexer after = p->c, written;
    bool alias = lz_lex_alias(&after, &written);
    if (form->len - at.start > MAX_FORM)
        return lz_lex_fail(&p->c, p->c.p, LZ_EUNSUPPORTED, "a type of more than %d values",
                           MAX_FORM);
    if (alias)
        p->c = written;
    if (lz_lex_eat(&p->c, "tuple<") || lz_lex_eat(&p->c, "!stablehlo.future<")) {
        LZ_TRY(tuple_type(p, out, form, at));
    } else if (lz_lex_eat(&p->c, lz_token_type)) {
        lz_buf_puts(form, "()"); /* a token holds nothing */
    } else {
        lz_buf_putc(form, '*');
        LZ_TRY(leaf(p, out));
    }
    if (alias)
        p->c = after;
    return form->failed ? LZ_EMEM : LZ_OK;
}

lz_status lz_parse_type(lz_parser *p, lz_types *out, lz_buf *form)
{
    return form ? any_type(p, out, form, (nest){0, form->len}) : leaf(p, out);
}

/* ---- operands ---- */

static lz_status any_operands(lz_parser *p, lz_scope *s, lz_stmt *t, lz_buf *form)
{
    while (lz_lex_sees(&p->c, "%")) {
        LZ_TRY(lz_scope_use_any(p, s, t, form));
        if (!lz_lex_eat(&p->c, ","))
            break;
    }
    return form->failed ? LZ_EMEM : lz_form_keep(p, form->data, form->len, &t->opnd_form);
}

lz_status lz_parse_any_operands(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    lz_buf form = {0};
    lz_status st = any_operands(p, s, t, &form);
    lz_buf_free(&form);
    return st;
}

/* ---- the operations ---- */

bool lz_parse_is_tuple(lz_slice name)
{
    return lz_slice_is(name, "stablehlo.tuple") ||
           lz_slice_is(name, "stablehlo.get_tuple_element") ||
           lz_slice_is(name, "stablehlo.async_done");
}

/* What stands between the name and the types; *index: in brackets behind the operand. */
static lz_status items(lz_parser *p, lz_scope *s, lz_stmt *t, int64_t *index)
{
    if (t->generic) {
        LZ_TRY(lz_parse_generic_items(p, s, t));
        if (t->nregion)
            return lz_lex_fail(&p->c, t->at, LZ_EPARSE, LZ_SLICE_FMT ": has no regions",
                               LZ_SLICE_ARG(t->name));
    } else {
        LZ_TRY(lz_parse_any_operands(p, s, t));
        if (lz_lex_eat(&p->c, "[")) {
            LZ_TRY(lz_lex_i64(&p->c, index));
            LZ_TRY(lz_lex_want(&p->c, "]"));
        }
    }
    if (lz_lex_eat(&p->c, "{"))
        LZ_TRY(lz_parse_dictionary(p, t));
    LZ_TRY(lz_lex_want(&p->c, ":"));
    LZ_TRY(lz_parse_types(p, t));
    if (t->has_arrow)
        return lz_parse_check_operands(p, s, t);
    lz_types none = t->result_types; /* the one type is the result's */
    t->result_types = t->listed;
    t->listed = none;
    return LZ_OK;
}

/* All operands, in one tuple around them. */
static lz_status tuple(lz_parser *p, lz_stmt *t)
{
    LZ_TRY(lz_form_around(p, t->opnd_form, t->opnd.len, &t->result_form));
    for (uint32_t i = 0; i < t->opnd.len; i++)
        LZ_TRY(lz_vec_push(&t->results, t->opnd.data[i]));
    return LZ_OK;
}

/* What is in the one tuple of a list. */
static bool inside_of(lz_slice form, lz_slice *inside)
{
    bool one = form.n && form.s[0] == '(' && element_end(form, 0) == form.n;
    *inside = one ? (lz_slice){form.s + 1, form.n - 2} : (lz_slice){NULL, 0};
    return one;
}

/* The values of a future, which are there. */
static lz_status done(lz_parser *p, lz_stmt *t)
{
    lz_slice inside;
    if (!inside_of(t->opnd_form, &inside))
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, "async_done: its operand is no future");
    LZ_TRY(lz_form_keep(p, inside.s, inside.n, &t->result_form));
    for (uint32_t i = 0; i < t->opnd.len; i++)
        LZ_TRY(lz_vec_push(&t->results, t->opnd.data[i]));
    return LZ_OK;
}

static lz_status element(lz_parser *p, lz_stmt *t, int64_t index)
{
    const lz_parse_entry *e = lz_stmt_find(t, "index");
    lz_slice inside, one;
    uint32_t first, count;
    if (e) {
        lz_lexer at = p->c;
        at.p = e->value;
        LZ_TRY(lz_lex_i64(&at, &index));
    } else if (index == INT64_MIN) {
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, "get_tuple_element: which element is not said");
    }
    if (!inside_of(t->opnd_form, &inside))
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, "get_tuple_element: its operand is no tuple");
    if (index < 0 || index > UINT32_MAX ||
        !lz_form_element(inside, (uint32_t)index, &one, &first, &count))
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                           "get_tuple_element: there is no element %lld among %u", (long long)index,
                           lz_form_count(inside));
    t->result_form = one.n > 1 ? one : (lz_slice){NULL, 0};
    for (uint32_t i = 0; i < count; i++)
        LZ_TRY(lz_vec_push(&t->results, t->opnd.data[first + i]));
    return LZ_OK;
}

/* ---- tokens of the program's signature ---- */

const lz_type *lz_parse_nothing_type(void)
{
    const lz_shape none = LZ_SHAPE(0);
    return lz_type_get(LZ_BOOL, &none);
}

lz_val lz_parse_nothing(lz_func *f)
{
    const lz_type *t = lz_parse_nothing_type();
    lz_literal *l = t ? lz_literal_new(t) : NULL;
    lz_val v = l ? lz_build_const(f, l) : lz_func_failed(f);
    lz_literal_release(l);
    return v;
}

/* Elements of a list, of which some are tokens and all others values; 0: it is not so. */
static uint32_t count_with_tokens(lz_slice form)
{
    bool some = form.n && lz_form_is_flat(form) && memchr(form.s, '(', form.n);
    return some ? lz_form_count(form) : 0;
}

/* Whether the element at *at is a token, and steps over it. A list without a form has none. */
static bool eat_token(lz_slice form, size_t *at)
{
    bool token = form.n && form.s[*at] == '(';
    *at += token ? 2 : 1;
    return token;
}

/* from, made: f's parameters and results; to: all results. A parameter that is given up is so under
 * its new number. */
static lz_status add_tokens(lz_func *g, const lz_func *f, lz_slice takes, lz_slice gives,
                            lz_param_list *donated, lz_val *from, lz_val *made, lz_val *to)
{
    const lz_type *token = lz_parse_nothing_type();
    uint32_t n = 0, nin = takes.n ? count_with_tokens(takes) : f->nparam,
             nout = gives.n ? count_with_tokens(gives) : f->nresult, next = 0;
    if (!token)
        return LZ_EMEM;
    size_t at = 0;
    for (uint32_t i = 0; i < nin; i++) {
        bool is_token = eat_token(takes, &at);
        lz_val v = lz_build_param(g, is_token ? token : lz_val_type(f, n));
        if (is_token)
            continue;
        if (donated && next < donated->len && donated->data[next] == n)
            donated->data[next++] = i;
        from[n++] = v;
    }
    LZ_TRY(lz_build_inline(g, f, from, made));
    lz_val v = lz_parse_nothing(g);
    n = 0;
    at = 0;
    for (uint32_t i = 0; i < nout; i++)
        to[i] = eat_token(gives, &at) ? v : made[n++];
    return lz_func_set_results(g, to, nout);
}

lz_status lz_parse_tokens_as_values(lz_parser *p, const lz_pfunc *of, lz_func **f)
{
    lz_slice takes = of->takes, gives = of->gives;
    uint32_t nin = count_with_tokens(takes), nout = count_with_tokens(gives);
    if ((takes.n && !nin) || (gives.n && !nout) || (!nin && !nout))
        return LZ_OK;
    size_t most = (size_t)nin + nout + (*f)->nparam + (*f)->nresult + 1;
    lz_val *v = lz_calloc(3 * most, sizeof *v);
    lz_func *g = lz_func_new((*f)->name);
    lz_status s = v && g
                      ? add_tokens(g, *f, takes, gives, p->about.donated, v, v + most, v + 2 * most)
                      : LZ_FAIL(LZ_EMEM, "no memory for a function of %zu values", most);
    lz_free(v);
    if (s != LZ_OK) {
        lz_func_free(g);
        return s;
    }
    lz_func_free(*f);
    *f = g;
    return LZ_OK;
}

/* ---- tokens: one device does everything in the order it is written; a token is an empty tuple
 * ---- */

bool lz_parse_is_token(lz_slice name)
{
    return lz_slice_is(name, "stablehlo.after_all") || lz_slice_is(name, "stablehlo.create_token");
}

lz_status lz_parse_token(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    int64_t index = INT64_MIN;
    t->tuples = true;
    LZ_TRY(items(p, s, t, &index));
    if (t->opnd.len > 0 || t->result_types.len > 0)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, LZ_SLICE_FMT ": takes and gives tokens",
                           LZ_SLICE_ARG(t->name));
    t->result_form = (lz_slice){"()", 2};
    return lz_parse_check_results(p, s, t);
}

lz_status lz_parse_tuple(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    int64_t index = INT64_MIN;
    t->tuples = true;
    LZ_TRY(items(p, s, t, &index));
    if (lz_slice_is(t->name, "stablehlo.tuple"))
        LZ_TRY(tuple(p, t));
    else
        LZ_TRY(lz_slice_is(t->name, "stablehlo.async_done") ? done(p, t) : element(p, t, index));
    return lz_parse_check_results(p, s, t);
}
