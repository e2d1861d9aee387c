/* collectives.h - programs of one collective, for tests: every kind of it, dtype, form of groups.
 * Threads: as the IR builder. */
#ifndef LZ_TEST_COLLECTIVES_H
#define LZ_TEST_COLLECTIVES_H
#include "ir/attr.h"
#include <string.h>

typedef enum groups { ALL, PAIRS, BACKWARDS, EVERYBODY, NGROUPS } groups;

/* Of n partitions; rows of `each`. */
static inline const char *matrix(groups form, int n)
{
    lz_buf b = {0};
    int each = form == PAIRS && n % 2 == 0 ? 2 : n;
    for (int i = 0; i < n; i++) {
        int v = form == BACKWARDS ? n - 1 - i : each == 2 ? i / 2 + i % 2 * (n / 2) : i;
        lz_buf_printf(&b, "%s%d", i == 0 ? "[[" : i % each ? ", " : "], [", v);
    }
    lz_buf_puts(&b, "]]");
    const char *s =
        lz_string_get(form == EVERYBODY ? "[[0]]" : b.data, form == EVERYBODY ? 5 : b.len);
    lz_buf_free(&b);
    return s;
}

static inline const char *ring(int n)
{
    lz_buf b = {0};
    for (int i = 0; i + 1 < n || i == 0; i++) /* nobody sends to 0, but with one partition */
        lz_buf_printf(&b, "%s[%d, %d]", i ? ", " : "[", i, (i + 1) % n);
    lz_buf_puts(&b, "]");
    const char *s = lz_string_get(b.data, b.len);
    lz_buf_free(&b);
    return s;
}

typedef struct kind {
    lz_op op, combiner;
} kind;
static const kind kinds[] = {
    {LZ_OP_ALL_REDUCE, LZ_OP_ADD},          {LZ_OP_ALL_REDUCE, LZ_OP_MULTIPLY},
    {LZ_OP_ALL_REDUCE, LZ_OP_MAXIMUM},      {LZ_OP_ALL_REDUCE, LZ_OP_MINIMUM},
    {LZ_OP_ALL_REDUCE, LZ_OP_AND},          {LZ_OP_ALL_REDUCE, LZ_OP_OR},
    {LZ_OP_ALL_REDUCE, LZ_OP_XOR},          {LZ_OP_ALL_REDUCE, LZ_OP_SUBTRACT},
    {LZ_OP_REDUCE_SCATTER, LZ_OP_ADD},      {LZ_OP_REDUCE_SCATTER, LZ_OP_MAXIMUM},
    {LZ_OP_ALL_GATHER, LZ_OP_NONE},         {LZ_OP_ALL_TO_ALL, LZ_OP_NONE},
    {LZ_OP_COLLECTIVE_PERMUTE, LZ_OP_NONE}, {LZ_OP_COLLECTIVE_BROADCAST, LZ_OP_NONE},
};
enum { NKIND = (int)(sizeof kinds / sizeof *kinds) };

/* The record; false: the combiner has no meaning for the dtype. dim, other: what is joined and
 * split. */
static inline bool record(const kind *k, lz_dtype d, groups form, int n, int dim, int other,
                          lz_attr_any *a)
{
    int each = form == PAIRS && n % 2 == 0 ? 2 : n;
    bool flat = false, ok = true;
    const char **text = NULL;
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    lz_attr_init(a, lz_op_get(k->op)->attr);
    int count = lz_attr_fields(&a->head, f);
    for (int i = 0; i < count; i++) {
        const char *name = f[i].name;
        if (strcmp(name, "use_global_device_ids") == 0)
            flat = true, *f[i].flag = form != EVERYBODY;
        else if (strcmp(name, "replica_groups") == 0)
            text = f[i].str;
        else if (strcmp(name, "channel_id") == 0)
            *f[i].i64 = 1;
        else if (strcmp(name, "participants") == 0 || strcmp(name, "split_count") == 0)
            *f[i].i64 = each;
        else if (strcmp(name, "concat_dimension") == 0)
            *f[i].i64 = other;
        else if (strstr(name, "_dim"))
            *f[i].i64 = dim;
        else if (strcmp(name, "source_target_pairs") == 0)
            *f[i].str = ring(n);
        else if (f[i].type == LZ_FIELD_REGION)
            ok = (*f[i].region = lz_region_binary(k->combiner, d)) != NULL;
    }
    if (text) /* replica 0, with all its partitions, can be named only by what can count them all */
        *text = matrix(form == EVERYBODY && !flat ? ALL : form, n);
    return ok;
}

/* A collective of two operands, of which one has just been computed and one is a parameter; its
 * results are read once more. NULL: it has no meaning. */
static inline lz_func *program(const kind *k, const lz_type *t, groups form, int n, int dim,
                               int other)
{
    lz_attr_any a;
    if (!record(k, t->dtype, form, n, dim, other, &a))
        return NULL;
    lz_func *f = lz_func_new("f");
    lz_val x = lz_build_param(f, t), y = lz_build_param(f, t);
    lz_val both[2] = {lz_build_select(f, lz_build_compare(f, LZ_CMP_EQ, x, y), y, x), y};
    lz_val c = lz_build(f, k->op, &a.head, both, 2);
    lz_val out[2] = {lz_build_result(f, c, 0), lz_build_result(f, c, 1)};
    lz_val read =
        lz_build_select(f, lz_build_compare(f, LZ_CMP_NE, out[0], out[0]), out[1], out[0]);
    lz_val results[4] = {out[0], out[1], read, x};
    if (f->status != LZ_OK || lz_func_set_results(f, results, 4) != LZ_OK) {
        lz_func_free(f);
        return NULL;
    }
    return f;
}
#endif
