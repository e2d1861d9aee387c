/* partition_values.h - arguments or results of a program of several partitions, for tests. */
#ifndef LZ_TEST_PARTITION_VALUES_H
#define LZ_TEST_PARTITION_VALUES_H
#include "ir/module.h"
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
#endif
