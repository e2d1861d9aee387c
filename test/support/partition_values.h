/* partition_values.h - arguments and results of a program of several partitions, for tests: made,
 * compared with the reference's. */
#ifndef LZ_TEST_PARTITION_VALUES_H
#define LZ_TEST_PARTITION_VALUES_H
#include "ir/participants.h"
#include "ir/module.h"
#include "suite.h"
#include "support/lit.h"
#include <string.h>

enum { PARTITIONS_MAX = 64, VALUES = 5 };
typedef struct values {
    lz_literal *v[PARTITIONS_MAX][VALUES], **row[PARTITIONS_MAX];
} values;

static inline void rows_of(values *x)
{
    memset(x->v, 0, sizeof x->v);
    for (int q = 0; q < PARTITIONS_MAX; q++)
        x->row[q] = x->v[q];
}

static inline void release(values *x)
{
    for (int q = 0; q < PARTITIONS_MAX; q++)
        for (int k = 0; k < VALUES; k++)
            lz_literal_release(x->v[q][k]);
    rows_of(x);
}

/* Random ones for each parameter of f in each of n partitions. */
static inline void fill_arguments(lz_rnd *r, const lz_func *f, int n, lz_fill how, values *in)
{
    rows_of(in);
    for (int q = 0; q < n; q++)
        for (uint32_t i = 0; i < f->nparam; i++)
            in->v[q][i] = lz_test_random(r, lz_val_type(f, i), how);
}

/* note: more to say of a difference, or "". */
static inline void compare_results(const lz_func *f, int n, const values *got, const values *want,
                                   int ulp, const char *what, const char *note)
{
    char msg[256];
    for (int q = 0; q < n; q++)
        for (uint32_t k = 0; k < f->nresult; k++)
            ck_assert_msg(lz_test_same(got->v[q][k], want->v[q][k], ulp, msg, sizeof msg),
                          "%s: partition %d of %d, result %u: %s\n%s", what, q, n, k, msg, note);
}

/* Collectives ran no more often than the reference ran those between several partitions. Frees both
 * lists. */
static inline void compare_counts(lz_collective_uses *ran, lz_collective_uses *reference)
{
    uint64_t is = 0, most = 0;
    for (uint32_t i = 0; i < reference->len; i++)
        most += reference->data[i].group_size > 1 ? reference->data[i].executions : 0;
    for (uint32_t i = 0; i < ran->len; i++)
        is += ran->data[i].executions;
    ck_assert_uint_le(is, most);
    lz_vec_free(reference);
    lz_vec_free(ran);
}
#endif
