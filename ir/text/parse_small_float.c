/* parse_small_float.c - operations that compute with floats that are only stored: in f32, rounded
 * back (ir/small_float_compute.h). What only moves or converts them takes their bits. */
#include "ir/small_float_compute.h"
#include "ir/text/parse_chlo.h"

bool lz_parse_computes_small(const lz_scope *s, const lz_stmt *t, const lz_expansion *e)
{
    for (uint32_t i = 0; i < t->opnd.len; i++) {
        lz_dtype d = lz_val_type(s->f, t->opnd.data[i])->dtype;
        bool chosen = !e && lz_op_get(t->op)->dtypes == LZ_D_PRED; /* by a predicate, as they are */
        if (lz_dtype_is_storage(d) && !chosen && (e || !lz_op_accepts(t->op, d)))
            return true;
    }
    /* counting gives numbers that nothing was made of */
    return t->opnd.len == 0 && t->result_types.len == 1 &&
           lz_dtype_is_storage(t->result_types.data[0]->dtype);
}

/* Its operands, regions and results in f32. */
static lz_status widen(lz_scope *s, lz_stmt *t, const lz_types *narrow)
{
    const lz_func **region[] = {&t->region, &t->region2};
    LZ_TRY(lz_small_widen(s->f, t->opnd.data, t->opnd.len));
    for (uint32_t k = 0; k < narrow->len; k++) {
        const lz_type *wide = lz_small_widened(narrow->data[k]);
        if (!wide)
            return lz_error_get()->status;
        LZ_TRY(lz_vec_push(&t->result_types, wide));
    }
    for (int k = 0; k < 2; k++)
        if (*region[k] && !(*region[k] = lz_small_widen_region(*region[k])))
            return lz_error_get()->status;
    return LZ_OK;
}

lz_status lz_parse_build_wide(lz_parser *p, lz_scope *s, lz_stmt *t, const lz_expansion *e)
{
    lz_types narrow = t->result_types;
    t->result_types = (lz_types){.form = narrow.form};
    lz_status st = widen(s, t, &narrow);
    if (st != LZ_OK)
        (void)lz_lex_wrap(&p->c, t->at);
    else
        st = e ? lz_expansion_apply(p, s, t, e) : lz_parse_build(p, s, t);
    for (uint32_t k = 0; k < t->results.len && k < narrow.len && st == LZ_OK; k++) {
        lz_val v = lz_build_convert(s->f, t->results.data[k], narrow.data[k]->dtype);
        st = (t->results.data[k] = v) == LZ_NOVAL ? lz_lex_wrap(&p->c, t->at) : LZ_OK;
    }
    lz_vec_free(&t->result_types);
    t->result_types = narrow;
    return st;
}
