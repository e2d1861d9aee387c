/* parse_call.c - custom_call: functions that frontends have for operations of the table or for
 * nothing at all on one device, checks, and functions that the program has registered (call.h).
 * Threads: thread-compatible. */
#include "ir/custom_call.h"
#include "ir/text/parse_chlo.h"
#include <string.h>

/* mhlo.attributes = {k = 3 : i64, largest = true}; text instead of a dictionary holds none */
lz_status lz_parse_inner_attributes(lz_parser *p, lz_stmt *t, const char *key)
{
    const lz_parse_entry *e = lz_stmt_find(t, key);
    lz_lexer back = p->c;
    if (!e)
        return LZ_OK;
    p->c.p = e->value;
    if (!lz_lex_eat(&p->c, "{")) {
        p->c = back;
        return LZ_OK;
    }
    LZ_TRY(lz_parse_dictionary(p, t));
    p->c = back;
    return LZ_OK;
}

/* ---- functions of the program's own ---- */

/* backend_config = "text" | {dictionary}, which is given as it is written */
static lz_status config_of(lz_parser *p, const lz_stmt *t, const char **out)
{
    const lz_parse_entry *e = lz_stmt_find(t, "mhlo.backend_config"); /* beside an empty one */
    lz_lexer at = p->c;
    e = e ? e : lz_stmt_find(t, "backend_config");
    if (!e)
        return LZ_OK;
    at.p = e->value;
    if (!lz_lex_sees(&at, "{"))
        return lz_lex_text(&at, out);
    const char *start = at.p;
    LZ_TRY(lz_lex_group(&at));
    *out = lz_string_get(start, (size_t)(at.p - start));
    return *out ? LZ_OK : LZ_EMEM;
}

/* [dense<[1, 0]> : tensor<2xindex>, ...]: arrays are handed over with the last dimension innermost,
 * and in no other way. */
static lz_status check_layouts(lz_parser *p, const lz_stmt *t, const char *key)
{
    const lz_parse_entry *e = lz_stmt_find(t, key);
    lz_lexer end = p->c;
    if (!e)
        return LZ_OK;
    end.p = e->value;
    LZ_TRY(lz_lex_until(&end, ","));
    for (const char *s = e->value; s + 6 <= end.p; s++) {
        if (memcmp(s, "dense<", 6) != 0)
            continue;
        int last = -1;
        for (s += 6; s < end.p && *s != '>'; s++) {
            if (*s < '0' || *s > '9')
                continue;
            int dim = *s - '0';
            if (last >= 0 && dim != last - 1)
                return lz_lex_fail(&p->c, s, LZ_EUNSUPPORTED,
                                   "custom_call: %s: only arrays with the last dimension "
                                   "innermost are handed over",
                                   key);
            last = dim;
        }
    }
    return LZ_OK;
}

/* has_side_effect = true, api_version = 2 : i32. What gives no results is called for what it
 * does. */
static lz_status manner_of(lz_parser *p, const lz_stmt *t, lz_attr_call *a)
{
    const lz_parse_entry *effect = lz_stmt_find(t, "has_side_effect"),
                         *version = lz_stmt_find(t, "api_version");
    lz_lexer at = p->c;
    if (effect) {
        at.p = effect->value;
        LZ_TRY(lz_lex_bool(&at, &a->has_side_effect));
    }
    a->has_side_effect |= t->result_types.len == 0;
    if (!version)
        return LZ_OK;
    at.p = version->value;
    LZ_TRY(lz_lex_i64(&at, &a->api_version));
    return a->api_version >= 0 && a->api_version <= 4
               ? LZ_OK
               : lz_lex_fail(&p->c, version->value, LZ_EUNSUPPORTED,
                             "custom_call: api_version %lld; 1 to 4 are known",
                             (long long)a->api_version);
}

static lz_status registered(lz_parser *p, lz_scope *s, lz_stmt *t, lz_slice target)
{
    lz_attr_call a;
    lz_ffi_entry e;
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_call;
    if (memchr(target.s, 0, target.n))
        return lz_lex_fail(&p->c, target.s, LZ_EPARSE, "the name holds a character 0");
    a.call_target_name = lz_string_get(target.s, target.n);
    if (!a.call_target_name)
        return LZ_EMEM;
    if (lz_ffi_table_find(a.call_target_name, &e) != LZ_OK)
        return lz_lex_fail(&p->c, t->at, LZ_EUNSUPPORTED,
                           "custom_call: no function is registered as @" LZ_SLICE_FMT,
                           LZ_SLICE_ARG(target));
    LZ_TRY(config_of(p, t, &a.backend_config));
    LZ_TRY(manner_of(p, t, &a));
    LZ_TRY(check_layouts(p, t, "operand_layouts"));
    LZ_TRY(check_layouts(p, t, "result_layouts"));
    a.results = lz_ffi_results(t->result_types.data, t->result_types.len);
    if (!a.results)
        return lz_lex_wrap(&p->c, t->at);
    lz_val v = lz_build(s->f, LZ_OP_CUSTOM_CALL, (const lz_attr *)(const void *)&a, t->opnd.data,
                        t->opnd.len);
    if (v == LZ_NOVAL)
        return lz_lex_wrap(&p->c, t->at);
    t->result_form = t->result_types.form; /* the function gives what is in them, in order */
    return t->result_types.len ? lz_parse_results_of(p, s, t, v) : LZ_OK;
}

/* A function of the program's own goes before one that is known. */
static bool is_registered(lz_slice target)
{
    lz_ffi_entry e;
    const char *name = lz_string_get(target.s, target.n);
    bool found = name && lz_ffi_table_find(name, &e) == LZ_OK;
    if (!found)
        lz_error_clear();
    return found;
}

/* ---- the operation ---- */

/* custom_call @target(%a) {attributes} : types */
static lz_status read(lz_parser *p, lz_scope *s, lz_stmt *t, lz_slice *target)
{
    t->tuples = true; /* tokens; older functions give tuples */
    if (t->generic) {
        LZ_TRY(lz_parse_generic_items(p, s, t));
    } else {
        LZ_TRY(lz_lex_symbol(&p->c, target));
        LZ_TRY(lz_lex_want(&p->c, "("));
        LZ_TRY(lz_parse_operands(p, s, t));
        LZ_TRY(lz_lex_want(&p->c, ")"));
    }
    if (lz_lex_eat(&p->c, "{"))
        LZ_TRY(lz_parse_dictionary(p, t));
    const lz_parse_entry *e = lz_stmt_find(t, "call_target_name");
    if (target->n == 0 && e) {
        lz_lexer at = p->c;
        at.p = e->value;
        LZ_TRY(lz_lex_string(&at, target));
    }
    if (target->n == 0)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, "custom_call: call_target_name is missing");
    LZ_TRY(lz_lex_want(&p->c, ":"));
    LZ_TRY(lz_parse_types(p, t));
    return lz_parse_check_operands(p, s, t);
}

/* JAX's schedule(): its first operand is computed before the second. The order is Lazuli's own, and
 * no value depends on it. */
static bool is_order(lz_slice target, const lz_stmt *t)
{
    return lz_slice_is(target, "control_dep") && t->opnd.len == 2 && t->result_types.len == 0 &&
           !is_registered(target);
}

lz_status lz_parse_custom_call(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    lz_slice target = {0};
    LZ_TRY(read(p, s, t, &target));
    if (target.n > strlen("check.") && memcmp(target.s, "check.", strlen("check.")) == 0)
        return lz_parse_check_call(p, s, t, target);
    t->op = lz_custom_call_op(target);
    if (lz_parse_is_annotation_call(target) && t->opnd.len == 1) {
        LZ_TRY(lz_parse_annotation_call(p, s, t, target));
    } else if (t->op != LZ_OP_NONE && t->opnd.len == (uint32_t)lz_op_get(t->op)->arity) {
        LZ_TRY(lz_parse_build(p, s, t));
    } else if (lz_slice_is(target, "mhlo.topk") && t->opnd.len == 1) {
        LZ_TRY(lz_parse_inner_attributes(p, t, "mhlo.attributes"));
        LZ_TRY(lz_chlo_top_k(p, s, t));
    } else if (lz_parse_is_lapack(target) && !is_registered(target)) {
        LZ_TRY(lz_parse_lapack(p, s, t, target));
    } else if (lz_slice_is(target, "ApproxTopK") && !is_registered(target)) {
        LZ_TRY(lz_parse_inner_attributes(p, t, "backend_config"));
        LZ_TRY(lz_parse_inner_attributes(p, t, "mhlo.backend_config"));
        LZ_TRY(lz_chlo_approx_top_k(p, s, t));
    } else if (!is_order(target, t)) {
        LZ_TRY(registered(p, s, t, target));
    }
    return lz_parse_check_results(p, s, t);
}
