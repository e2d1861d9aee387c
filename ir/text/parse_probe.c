/* parse_probe.c - interpreter.probe of StableHLO's conformance programs, which writes a value down
 * and gives it on, and the check against what was written: read as the value and as a check against
 * it. Of a value in a region, written down in every iteration, there is no one.
 * Threads: thread-compatible. */
#include "ir/text/parse.h"
#include <string.h>

/* %a, probe_id = "name", iter = 0 : type | (%a) {probe_id = "name"} : types */
static lz_status read(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    if (t->generic) {
        LZ_TRY(lz_parse_generic_items(p, s, t));
    } else {
        lz_val v;
        LZ_TRY(lz_scope_use(p, s, &v));
        LZ_TRY(lz_vec_push(&t->opnd, v));
        while (lz_lex_eat(&p->c, ",")) {
            lz_parse_entry e = {lz_lex_word(&p->c), NULL};
            LZ_TRY(lz_lex_want(&p->c, "="));
            lz_lex_skip(&p->c);
            e.value = p->c.p;
            LZ_TRY(lz_lex_until(&p->c, ",:"));
            LZ_TRY(lz_vec_push(&t->dict, e));
        }
    }
    if (lz_lex_eat(&p->c, "{"))
        LZ_TRY(lz_parse_dictionary(p, t));
    LZ_TRY(lz_lex_want(&p->c, ":"));
    LZ_TRY(lz_parse_types(p, t));
    const lz_types *types = t->has_arrow ? &t->opnd_types : &t->listed;
    if (t->opnd.len != 1 || types->len != 1 || types->data[0] != lz_val_type(s->f, t->opnd.data[0]))
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, LZ_SLICE_FMT ": needs a value and its type",
                           LZ_SLICE_ARG(t->name));
    return LZ_OK;
}

static lz_status id_of(lz_parser *p, const lz_stmt *t, lz_slice *id)
{
    const lz_parse_entry *e = lz_stmt_find(t, "probe_id");
    lz_lexer at = p->c;
    if (!e)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                           LZ_SLICE_FMT ": the attribute probe_id is missing",
                           LZ_SLICE_ARG(t->name));
    at.p = e->value;
    return lz_lex_string(&at, id);
}

static lz_status probe(lz_parser *p, lz_scope *s, lz_stmt *t, lz_slice id)
{
    lz_probe x = {id, s->f, t->opnd.data[0]};
    if (!s->outer)
        LZ_TRY(lz_vec_push(&p->probes, x));
    return lz_vec_push(&t->results, x.v);
}

static lz_status check(lz_parser *p, lz_scope *s, lz_stmt *t, lz_slice id)
{
    const lz_parse_entry *e = lz_stmt_find(t, "iter");
    lz_lexer at = p->c;
    int64_t round = 0;
    at.p = e ? e->value : at.p;
    if (e)
        LZ_TRY(lz_lex_i64(&at, &round));
    for (uint32_t i = 0; i < p->probes.len && round == 0; i++) {
        const lz_probe *x = &p->probes.data[i];
        bool same = x->f == s->f && x->id.n == id.n && memcmp(x->id.s, id.s, id.n) == 0;
        if (same) {
            LZ_TRY(lz_vec_push(&t->opnd, x->v));
            return lz_parse_check_equal(p, s, t);
        }
    }
    return lz_lex_fail(&p->c, t->at, LZ_EUNSUPPORTED,
                       LZ_SLICE_FMT ": nothing outside of regions is written down as '" LZ_SLICE_FMT
                                    "' in round %lld",
                       LZ_SLICE_ARG(t->name), LZ_SLICE_ARG(id), (long long)round);
}

bool lz_parse_is_probe(lz_slice name)
{
    return lz_slice_is(name, "interpreter.probe") ||
           lz_slice_is(name, "check.expect_serialized_eq");
}

lz_status lz_parse_probe(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    lz_slice id;
    LZ_TRY(read(p, s, t));
    LZ_TRY(id_of(p, t, &id));
    return lz_slice_is(t->name, "interpreter.probe") ? probe(p, s, t, id) : check(p, s, t, id);
}
