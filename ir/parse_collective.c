/* parse_collective.c - collectives as one device alone sees them: with groups of one participant each is the identity, and the only
 * number of a replica or partition is 0. Larger groups are an error. Threads: thread-compatible. */
#include "ir/parse_chlo.h"

/* The list of lists of an attribute; *out is NULL when the text has none. */
static lz_status pairs_of(lz_parser *p, const lz_stmt *t, const char *key, lz_literal **out,
                          const lz_type **type)
{
    const lz_entry *e = lz_stmt_find(t, key);
    lz_scan at = p->c;
    bool splat;
    *out = NULL;
    if (!e)
        return LZ_OK;
    at.p = e->value;
    LZ_TRY(lz_scan_literal(&at, out, type, &splat));
    if (lz_dtype_is_int((*type)->dtype) && (*type)->shape.rank == 2)
        return LZ_OK;
    lz_literal_release(*out);
    return lz_scan_fail(&p->c, e->value, LZ_EPARSE, "%s: expected lists of lists of integers", key);
}

/* Whether nobody takes part but the device itself. */
static lz_status check_alone(lz_parser *p, const lz_stmt *t)
{
    lz_literal *groups;
    const lz_type *type;
    LZ_TRY(pairs_of(p, t, "replica_groups", &groups, &type));
    bool alone = !groups || type->shape.dims[1] <= 1;
    int64_t n = groups ? type->shape.dims[1] : 0;
    lz_literal_release(groups);
    return alone ? LZ_OK
                 : lz_scan_fail(&p->c, t->at, LZ_EUNSUPPORTED,
                                LZ_SLICE_FMT ": groups of %lld participants; one device runs alone",
                                LZ_SLICE_ARG(t->name), (long long)n);
}

lz_status lz_expand_collective(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    (void)s;
    LZ_TRY(check_alone(p, t));
    for (uint32_t i = 0; i < t->opnd.len; i++)
        LZ_TRY(lz_vec_push(&t->results, t->opnd.data[i]));
    return LZ_OK;
}

/* What nobody sends to is zeros. */
lz_status lz_expand_permute(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    lz_literal *pairs;
    const lz_type *type;
    LZ_TRY(pairs_of(p, t, "source_target_pairs", &pairs, &type));
    bool alone = true, sent = pairs && type->nelem > 0;
    for (int64_t i = 0; sent && i < pairs->type->nelem; i++)
        alone &= lz_elem_get_i64(pairs->type->dtype, pairs->data, i) == 0;
    lz_literal_release(pairs);
    if (!alone || t->opnd.len != 1)
        return lz_scan_fail(&p->c, t->at, LZ_EUNSUPPORTED,
                            LZ_SLICE_FMT ": has other participants; one device runs alone",
                            LZ_SLICE_ARG(t->name));
    lz_val v = sent ? t->opnd.data[0] : lz_build_splat(s->f, lz_val_type(s->f, t->opnd.data[0]), 0);
    return v == LZ_NOVAL ? lz_scan_wrap(&p->c, t->at) : lz_vec_push(&t->results, v);
}

lz_status lz_expand_place(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    lz_val v = lz_build_scalar_i64(s->f, LZ_U32, 0);
    return v == LZ_NOVAL ? lz_scan_wrap(&p->c, t->at) : lz_vec_push(&t->results, v);
}
