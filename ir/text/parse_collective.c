/* parse_collective.c - collectives. With groups of one participant each is the identity, and is
 * read as that; larger groups become a row of the table. Threads: thread-compatible. */
#include "ir/collective.h"
#include "ir/text/parse_chlo.h"
#include <inttypes.h>
#include <string.h>

/* ---- groups ---- */

/* The matrix of an attribute as the table keeps it; rows and columns may be 0, and are 0 when the
 * text has none. */
typedef struct matrix {
    lz_buf text;
    int64_t rows, columns;
    bool diagonal; /* all numbers are 0 */
} matrix;

static lz_status write_matrix(lz_parser *p, const char *at, const lz_literal *l, bool splat,
                              matrix *m)
{
    enum { MOST = 1 << 20 };
    if (m->rows > MOST || m->columns > MOST || m->rows * m->columns > MOST)
        return lz_lex_fail(&p->c, at, LZ_EUNSUPPORTED, "more than %d participants", MOST);
    m->diagonal = true;
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t k = 0; k < m->columns; k++) {
            int64_t v = lz_elem_get_i64(l->type->dtype, l->data, splat ? 0 : i * m->columns + k);
            m->diagonal &= v == 0;
            lz_buf_printf(&m->text, "%s%" PRId64, k ? ", " : i ? ", [" : "[[", v);
            if (k == m->columns - 1)
                lz_buf_puts(&m->text, i == m->rows - 1 ? "]]" : "]");
        }
    return LZ_OK;
}

static lz_status read_matrix(lz_parser *p, const lz_stmt *t, const char *key, matrix *m)
{
    const lz_parse_entry *e = lz_stmt_find(t, key);
    lz_lexer at = p->c;
    lz_literal *l;
    const lz_type *type;
    bool splat;
    if (!e)
        return LZ_OK;
    at.p = e->value;
    if (lz_lex_sees(&at, "#"))
        return lz_lex_fail(&p->c, e->value, LZ_EUNSUPPORTED,
                           "%s: only lists of lists of integers are supported", key);
    LZ_TRY(lz_lex_literal(&at, &l, &type, &splat));
    lz_status s = LZ_OK;
    if (!lz_dtype_is_int(type->dtype) || type->shape.rank != 2) {
        s = lz_lex_fail(&p->c, e->value, LZ_EPARSE, "%s: expected lists of lists of integers", key);
    } else {
        m->rows = type->shape.dims[0];
        m->columns = type->shape.dims[1];
        s = write_matrix(p, e->value, l, splat, m);
    }
    lz_literal_release(l);
    return s;
}

/* ---- alone ---- */

/* What nobody sends to is zeros. */
static lz_status permute_alone(lz_parser *p, lz_scope *s, lz_stmt *t, bool sent)
{
    for (uint32_t i = 0; i < t->opnd.len; i++) {
        lz_val v = t->opnd.data[i];
        if (!sent)
            v = lz_build_splat(s->f, lz_val_type(s->f, v), 0);
        if (v == LZ_NOVAL)
            return lz_lex_wrap(&p->c, t->at);
        LZ_TRY(lz_vec_push(&t->results, v));
    }
    return LZ_OK;
}

/* ---- among others: the record ---- */

static bool has_unit(const lz_stmt *t, const char *key)
{
    for (uint32_t i = 0; i < t->dict.len; i++)
        if (lz_slice_is(t->dict.data[i].key, key))
            return true;
    return false;
}

/* #stablehlo.channel_handle<handle = 1, type = 0> */
static lz_status read_channel(lz_parser *p, const lz_stmt *t, const char *key, int64_t *out)
{
    const lz_parse_entry *e = lz_stmt_find(t, "channel_handle");
    lz_lexer c = p->c;
    if (!e)
        return LZ_OK;
    c.p = e->value;
    LZ_TRY(lz_lex_want(&c, "#stablehlo.channel_handle<"));
    do {
        lz_slice word = lz_lex_word(&c);
        int64_t v;
        LZ_TRY(lz_lex_want(&c, "="));
        LZ_TRY(lz_lex_i64(&c, &v));
        *out = lz_slice_is(word, key) ? v : *out;
    } while (lz_lex_eat(&c, ","));
    return lz_lex_want(&c, ">");
}

/* How often the smaller of the extents of operand and result along `dim` is in the larger. */
static lz_status count_participants(lz_parser *p, const lz_scope *s, const lz_stmt *t, int64_t dim,
                                    bool gathers, int64_t *out)
{
    if (t->result_types.len == 0 || t->opnd.len == 0)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, "%s: the result's type is missing",
                           lz_op_get(t->op)->text);
    const lz_shape *x = &lz_val_type(s->f, t->opnd.data[0])->shape,
                   *r = &t->result_types.data[0]->shape;
    *out = 1;
    if (dim < 0 || dim >= x->rank || dim >= r->rank)
        return LZ_OK; /* the shape rule says what is wrong */
    int64_t large = gathers ? r->dims[dim] : x->dims[dim],
            small = gathers ? x->dims[dim] : r->dims[dim];
    *out = small > 0 ? large / small : 1;
    return LZ_OK;
}

static lz_status number_of(lz_parser *p, const lz_scope *s, const lz_stmt *t, lz_attr_any *a,
                           const lz_attr_field *f)
{
    if (strcmp(f->name, "channel_id") == 0)
        return read_channel(p, t, "handle", f->i64);
    if (strcmp(f->name, "channel_type") == 0)
        return read_channel(p, t, "type", f->i64);
    if (strcmp(f->name, "participants") == 0)
        return LZ_OK; /* when the dimension is known */
    const lz_parse_entry *e = lz_stmt_find(t, f->name);
    if (!e)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, "%s: the attribute %s is missing",
                           lz_op_get(t->op)->text, f->name);
    lz_lexer c = p->c;
    c.p = e->value;
    LZ_TRY(lz_lex_i64(&c, f->i64));
    if (strcmp(f->name, "all_gather_dim") == 0)
        return count_participants(p, s, t, *f->i64, true, &a->as_all_gather.participants);
    if (strcmp(f->name, "scatter_dimension") == 0)
        return count_participants(p, s, t, *f->i64, false, &a->as_reduce_scatter.participants);
    return LZ_OK;
}

static lz_status record(lz_parser *p, const lz_scope *s, lz_stmt *t, const matrix *m,
                        lz_attr_any *a)
{
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    lz_attr_init(a, lz_op_get(t->op)->attr);
    int n = lz_attr_fields(&a->head, f);
    for (int i = 0; i < n; i++)
        switch (f[i].type) {
        case LZ_FIELD_I64:
            LZ_TRY(number_of(p, s, t, a, &f[i]));
            break;
        case LZ_FIELD_BOOL:
            *f[i].flag = has_unit(t, f[i].name);
            break;
        case LZ_FIELD_STR:
            *f[i].str = lz_string_get(lz_buf_str(&m->text), m->text.len);
            if (!*f[i].str)
                return LZ_EMEM;
            break;
        case LZ_FIELD_REGION:
            if (!t->region)
                return lz_lex_fail(&p->c, t->at, LZ_EPARSE, "%s: the region is missing",
                                   lz_op_get(t->op)->text);
            *f[i].region = t->region;
            break;
        default:
            break;
        }
    return LZ_OK;
}

static lz_status among(lz_parser *p, lz_scope *s, lz_stmt *t, const matrix *m)
{
    lz_attr_any a;
    LZ_TRY(record(p, s, t, m, &a));
    lz_val v = lz_build(s->f, t->op, &a.head, t->opnd.data, t->opnd.len);
    return v == LZ_NOVAL ? lz_lex_wrap(&p->c, t->at) : lz_parse_results_of(p, s, t, v);
}

lz_status lz_parse_collective(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    bool pairs = t->op == LZ_OP_COLLECTIVE_PERMUTE;
    matrix m = {.diagonal = true};
    lz_status st = read_matrix(p, t, pairs ? "source_target_pairs" : "replica_groups", &m);
    if (st == LZ_OK && m.text.failed)
        st = LZ_FAIL(LZ_EMEM, "no memory for the groups of a collective");
    bool alone = !p->parallel && (pairs ? m.diagonal : m.columns <= 1);
    if (st == LZ_OK)
        st = alone ? permute_alone(p, s, t, !pairs || m.rows > 0) : among(p, s, t, &m);
    lz_buf_free(&m.text);
    return st;
}
