/* t_infer.c - the table of operations and their shape rules: every row with good and bad
 * operands. */
#include "ir/attr.h"
#include "suite.h"
#include "support/gen.h"
#include <stdio.h>
#include <string.h>

static lz_type const *get(lz_dtype d, lz_shape s)
{
    return lz_type_get(d, &s);
}

/* The last instruction with that op of a row's case. */
static const lz_inst *find(const lz_func *f, lz_op op)
{
    for (uint32_t i = f->ninst; i-- > 0;)
        if (f->insts[i].sig->op == op)
            return &f->insts[i];
    return NULL;
}

START_TEST(table_row)
{
    const lz_op_info *o = lz_op_get((lz_op)_i);
    char full[64];
    ck_assert_int_eq(lz_op_from_text(o->text, strlen(o->text)), _i);
    if (!strchr(o->text, '.')) {
        snprintf(full, sizeof full, "stablehlo.%s", o->text);
        ck_assert_int_eq(lz_op_from_text(full, strlen(full)), _i);
    }
    ck_assert_int_eq(lz_op_from_text(o->text, strlen(o->text) + 1), LZ_OP_NONE);
    ck_assert(o->doc[0] && o->enum_name[0] && o->attr < LZ_ATTR_COUNT);
    ck_assert((o->flags & LZ_F_PURE) || _i == LZ_OP_PARAMETER || o->cls == LZ_CLASS_CALL);
    ck_assert(!(o->flags & LZ_F_COMM) || o->arity == 2);
    bool some = false;
    for (int d = 1; d < LZ_DTYPE_COUNT; d++)
        some |= lz_op_accepts((lz_op)_i, (lz_dtype)d);
    ck_assert(some);
    ck_assert(!lz_op_accepts((lz_op)_i, LZ_DTYPE_NONE) && !lz_op_accepts((lz_op)_i, (lz_dtype)100));
}
END_TEST

START_TEST(beyond_the_table)
{
    ck_assert_str_eq(lz_op_get((lz_op)-3)->enum_name, "NONE");
    ck_assert_str_eq(lz_op_get((lz_op)LZ_OP_COUNT)->enum_name, "NONE");
    ck_assert_int_eq(lz_op_from_text("stablehlo.", 10), LZ_OP_NONE);
    ck_assert_int_eq(lz_op_from_text("", 0), LZ_OP_NONE);
    ck_assert_ptr_null(lz_sig_get((lz_op)LZ_OP_COUNT, NULL, NULL, 0));
    ck_assert_ptr_null(lz_sig_get(LZ_OP_NONE, NULL, NULL, 0));
    const lz_type *t[2] = {get(LZ_F32, LZ_SHAPE(2)), NULL};
    ck_assert_ptr_null(lz_sig_get(LZ_OP_ADD, NULL, t, 2));
    ck_assert_int_eq(lz_error_get()->status, LZ_ENULL);
    ck_assert_ptr_null(lz_sig_get(LZ_OP_ADD, NULL, t, 1));
    ck_assert_int_eq(lz_error_get()->status, LZ_EINVAL);
    lz_attr_dtype d = {.kind = LZ_ATTR_dtype, .dtype = LZ_F32};
    ck_assert_ptr_null(
        lz_sig_get(LZ_OP_ABS, (lz_attr *)(void *)&d, t, 1));   /* an attribute it has not */
    ck_assert_ptr_null(lz_sig_get(LZ_OP_CONVERT, NULL, t, 1)); /* none where there must be one */
}
END_TEST

/* A dtype outside the row's column is LZ_EDTYPE with the op's name; one inside is not refused for
 * the column's sake. */
START_TEST(dtypes_of_the_row)
{
    const lz_op_info *o = lz_op_get((lz_op)_i);
    if (o->cls != LZ_CLASS_EW || o->attr != LZ_ATTR_none)
        return;
    for (int d = 1; d < LZ_DTYPE_COUNT; d++) {
        const lz_type *t = get((lz_dtype)d, LZ_SHAPE(2, 3)), *opnd[3] = {t, t, t};
        lz_error_clear();
        const lz_sig *s = lz_sig_get((lz_op)_i, NULL, opnd, (uint32_t)o->arity);
        ck_assert_int_eq(s != NULL, lz_op_accepts((lz_op)_i, (lz_dtype)d));
        if (!s) {
            ck_assert_int_eq(lz_error_get()->status, LZ_EDTYPE);
            ck_assert(strncmp(lz_error_get()->message, o->text, strlen(o->text)) == 0);
            ck_assert(strstr(lz_error_get()->message, lz_dtype_name((lz_dtype)d)));
        }
    }
}
END_TEST

/* Good operands: the same pointer again, also with a record that is not interned; the result types
 *   are plausible. */
START_TEST(good_operands)
{
    lz_func *f;
    lz_literal **args;
    int made = 0;
    for (int k = 0; k < 150 && lz_gen_row_cases((lz_op)_i, k, &f, &args) == 1; k++) {
        const lz_inst *in = find(f, (lz_op)_i);
        ck_assert_ptr_nonnull(in);
        ck_assert_ptr_eq(lz_sig_get((lz_op)_i, in->sig->attr, in->sig->opnd, in->sig->nopnd),
                         in->sig);
        lz_attr_any copy;
        lz_attr_init(&copy, in->sig->attr->kind);
        lz_attr_field ff[LZ_ATTR_MAX_FIELDS], ft[LZ_ATTR_MAX_FIELDS];
        int n = lz_attr_fields(in->sig->attr, ff);
        lz_attr_fields(&copy.head, ft);
        for (int i = 0; i < n; i++) {
            size_t size = ff[i].type == LZ_FIELD_INTS    ? sizeof(lz_ints)
                          : ff[i].type == LZ_FIELD_SHAPE ? sizeof(lz_shape)
                          : ff[i].type == LZ_FIELD_BOOL  ? sizeof(bool)
                          : ff[i].type == LZ_FIELD_DTYPE ? sizeof(lz_dtype)
                          : ff[i].type == LZ_FIELD_ENUM  ? sizeof(int32_t)
                                                         : 8;
            memcpy(ft[i].at, ff[i].at, size);
        }
        for (int twice = 0; twice < 2; twice++)
            ck_assert_ptr_eq(lz_sig_get((lz_op)_i, &copy.head, in->sig->opnd, in->sig->nopnd),
                             in->sig);
        ck_assert_uint_ge(in->sig->nresult, 1);
        for (uint32_t r = 0; r < in->sig->nresult; r++) {
            ck_assert_ptr_nonnull(in->sig->result[r]);
            const lz_sig *rs = lz_sig_result(in->sig, r);
            ck_assert(rs && rs->result[0] == in->sig->result[r]);
        }
        ck_assert_ptr_null(lz_sig_result(in->sig, in->sig->nresult));
        ck_assert_ptr_null(lz_sig_result(in->sig, -1));
        lz_gen_args_free(f, args);
        lz_func_free(f);
        made++;
    }
    ck_assert(made > 0 || _i == LZ_OP_PARAMETER ||
              _i == LZ_OP_RESULT || /* parts of other rows' functions */
              lz_op_get((lz_op)_i)->cls == LZ_CLASS_COLLECTIVE); /* t_collective.c */
}
END_TEST

/* One operand changed: extent, rank or dtype. */
static const lz_type *mutate(lz_rnd *r, const lz_type *t)
{
    lz_shape s = t->shape;
    switch (lz_rnd_range(r, 0, 3)) {
    case 0:
        if (s.rank > 0) {
            s.dims[lz_rnd_range(r, 0, s.rank - 1)] += 1 + lz_rnd_range(r, 0, 2);
            return lz_type_get(t->dtype, &s);
        }
        break;
    case 1:
        if (s.rank < LZ_MAX_RANK)
            s.dims[s.rank++] = lz_rnd_range(r, 0, 4);
        return lz_type_get(t->dtype, &s);
    case 2:
        if (s.rank > 0) {
            s.rank--;
            return lz_type_get(t->dtype, &s);
        }
        break;
    default:
        break;
    }
    return lz_type_get(t->dtype == LZ_F32 ? LZ_I32 : LZ_F32, &s);
}

/* Whatever is refused is refused with the op's name and a status of its own kind. Returns whether
 * it was. */
static bool refused(lz_op op, const lz_attr *a, const lz_type *const *opnd, uint32_t n)
{
    lz_error_clear();
    if (lz_sig_get(op, a, opnd, n))
        return false;
    const lz_error *e = lz_error_get();
    const char *text = lz_op_get(op)->text;
    ck_assert_msg(strncmp(e->message, text, strlen(text)) == 0 && e->message[strlen(text)] == ':',
                  "%s", e->message);
    ck_assert_msg(e->status == LZ_ESHAPE || e->status == LZ_EDTYPE || e->status == LZ_EINVAL ||
                      e->status == LZ_ERANGE,
                  "%s: %s", lz_status_name(e->status), e->message);
    ck_assert(strlen(e->message) > strlen(text) + 8);
    return true;
}

/* At least 1,000 operand lists that do not fit, over all rows. */
START_TEST(bad_operands)
{
    lz_rnd r = {11};
    int bad = 0;
    for (int op = 1; op < LZ_OP_COUNT; op++) {
        lz_func *f;
        lz_literal **args;
        int of_this = 0;
        for (int k = 0; k < 60 && lz_gen_row_cases((lz_op)op, k, &f, &args) == 1; k++) {
            const lz_sig *s = find(f, (lz_op)op)->sig;
            for (int i = 0; i < 20 && s->nopnd > 0 && s->nopnd <= 16; i++) {
                const lz_type *opnd[17];
                memcpy(opnd, s->opnd, s->nopnd * sizeof *opnd);
                uint32_t n = s->nopnd, which = (uint32_t)lz_rnd_range(&r, 0, n - 1);
                opnd[which] = mutate(&r, opnd[which]);
                if (lz_rnd_chance(&r, 10))
                    opnd[n++] = opnd[0];
                else if (lz_rnd_chance(&r, 10))
                    n--;
                of_this += refused((lz_op)op, s->attr, opnd, n);
            }
            lz_gen_args_free(f, args);
            lz_func_free(f);
        }
        if (lz_op_get((lz_op)op)->arity > 1 || lz_op_get((lz_op)op)->attr == LZ_ATTR_slice)
            ck_assert_msg(of_this > 0, "%s takes everything", lz_op_get((lz_op)op)->text);
        bad += of_this;
    }
    ck_assert_int_gt(bad, 1000);
}
END_TEST

/* Attributes changed at random: refused with a reason, or good. Never anything else. */
START_TEST(bad_attributes)
{
    lz_rnd r = {12};
    lz_func *f;
    lz_literal **args;
    int bad = 0;
    bool has = false;
    for (int k = 0; k < 60 && lz_gen_row_cases((lz_op)_i, k, &f, &args) == 1; k++) {
        const lz_sig *s = find(f, (lz_op)_i)->sig;
        for (int i = 0; i < 40; i++) {
            lz_attr_any u;
            lz_attr_init(&u, s->attr->kind);
            lz_attr_field from[LZ_ATTR_MAX_FIELDS], to[LZ_ATTR_MAX_FIELDS];
            int n = lz_attr_fields(s->attr, from), pick = (int)lz_rnd_range(&r, 0, n ? n - 1 : 0);
            lz_attr_fields(&u.head, to);
            for (int j = 0; j < n; j++)
                switch (to[j].type) {
                case LZ_FIELD_I64:
                    *to[j].i64 = *from[j].i64 + (j == pick ? lz_rnd_range(&r, -3, 3) : 0);
                    break;
                case LZ_FIELD_BOOL:
                    *to[j].flag = *from[j].flag;
                    break;
                case LZ_FIELD_INTS:
                    *to[j].ints = *from[j].ints;
                    if (j == pick && to[j].ints->n > 0)
                        to[j].ints->v[lz_rnd_range(&r, 0, to[j].ints->n - 1)] +=
                            lz_rnd_chance(&r, 5) ? INT64_MAX / 2 : lz_rnd_range(&r, -9, 9);
                    if (j == pick && lz_rnd_chance(&r, 20))
                        to[j].ints->n = (int32_t)lz_rnd_range(&r, 0, 8);
                    break;
                case LZ_FIELD_SHAPE:
                    *to[j].shape = *from[j].shape;
                    if (j == pick && to[j].shape->rank > 0)
                        to[j].shape->dims[0] +=
                            lz_rnd_chance(&r, 10) ? INT64_MAX / 4 : lz_rnd_range(&r, -4, 4);
                    break;
                case LZ_FIELD_DTYPE:
                    *to[j].dtype = j == pick ? (lz_dtype)lz_rnd_range(&r, 1, LZ_DTYPE_COUNT - 1)
                                             : *from[j].dtype;
                    break;
                case LZ_FIELD_ENUM:
                    *to[j].value = *from[j].value;
                    break;
                case LZ_FIELD_STR:
                    *to[j].str = j == pick ? NULL : *from[j].str;
                    break;
                case LZ_FIELD_REGION:
                    *to[j].region =
                        j == pick ? lz_region_binary(LZ_OP_ADD, LZ_F16) : *from[j].region;
                    break;
                }
            for (int j = 0; j < n; j++) /* what can be out of range; a shape may be any in `type` */
                has |= from[j].type != LZ_FIELD_BOOL && from[j].type != LZ_FIELD_ENUM &&
                       from[j].type != LZ_FIELD_DTYPE && s->attr->kind != LZ_ATTR_type;
            bad += refused((lz_op)_i, &u.head, s->opnd, s->nopnd);
        }
        lz_gen_args_free(f, args);
        lz_func_free(f);
    }
    ck_assert_msg(bad > 0 || !has, "%s takes every attribute", lz_op_get((lz_op)_i)->text);
}
END_TEST

/* Elementwise operands that differ: both are named, 1,000 times. */
START_TEST(differing_operands_are_both_named)
{
    lz_rnd r = {5};
    char want[200], a[100], b[100];
    for (int i = 0; i < 1000; i++) {
        lz_op op = (lz_op)lz_rnd_range(&r, LZ_OP_ADD, LZ_OP_XOR);
        lz_dtype d = lz_op_accepts(op, LZ_F32) ? LZ_F32 : LZ_I32;
        if (op == LZ_OP_COMPARE)
            continue;
        lz_shape s = lz_shape_make((int)lz_rnd_range(&r, 0, 5), (int64_t[]){2, 3, 4, 1, 7}), t = s;
        if (t.rank && lz_rnd_chance(&r, 70))
            t.dims[lz_rnd_range(&r, 0, t.rank - 1)] += 1;
        else
            t.dims[t.rank++] = 1;
        const lz_type *opnd[2] = {lz_type_get(d, &s), lz_type_get(d, &t)};
        ck_assert(refused(op, NULL, opnd, 2));
        snprintf(want, sizeof want, "%s: shapes %s and %s differ", lz_op_get(op)->text,
                 lz_type_short(opnd[0], a, sizeof a), lz_type_short(opnd[1], b, sizeof b));
        ck_assert_str_eq(lz_error_get()->message, want);
        ck_assert_int_eq(lz_error_get()->status, LZ_ESHAPE);
    }
    const lz_type *opnd[2] = {get(LZ_F32, LZ_SHAPE(2)), get(LZ_F64, LZ_SHAPE(2))};
    ck_assert(refused(LZ_OP_ADD, NULL, opnd, 2));
    ck_assert_str_eq(lz_error_get()->message, "add: dtypes of f32[2] and f64[2] differ");
}
END_TEST

START_TEST(ids_are_dense_and_hashes_are_of_content)
{
    const lz_type *t[2] = {get(LZ_F32, LZ_SHAPE(91)), get(LZ_F32, LZ_SHAPE(91))};
    const lz_sig *a = lz_sig_get(LZ_OP_ADD, NULL, t, 2),
                 *b = lz_sig_get(LZ_OP_SUBTRACT, NULL, t, 2);
    ck_assert_uint_eq(a->id + 1, b->id);
    ck_assert(!lz_hash_eq(a->hash, b->hash));
    char text[33];
    lz_hash_hex(a->hash, text); /* the same in every process and build */
    ck_assert_str_eq(text, "d2a8c938895617e7f580804d81a2961e");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ir/infer");
    TCase *t = tcase_create("infer");
    tcase_add_loop_test(t, table_row, 1, LZ_OP_COUNT);
    tcase_add_test(t, beyond_the_table);
    tcase_add_loop_test(t, dtypes_of_the_row, 1, LZ_OP_COUNT);
    tcase_add_loop_test(t, good_operands, 1, LZ_OP_COUNT);
    tcase_add_test(t, bad_operands);
    tcase_add_loop_test(t, bad_attributes, 1, LZ_OP_COUNT);
    tcase_add_test(t, differing_operands_are_both_named);
    tcase_add_test(t, ids_are_dense_and_hashes_are_of_content);
    tcase_set_timeout(t, 300);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
