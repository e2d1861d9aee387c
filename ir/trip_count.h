/* trip_count.h - trip counts of while loops that a counter controls, so that the condition need
 * not be evaluated per iteration and a device need not wait for it. A counter is a carried integer
 * scalar to which each iteration adds the same number; the loop runs while it compares with a
 * loop-invariant bound. Start and bound are constants, or operands that are read when the loop is
 * reached. A counter that would overflow its type is left to the condition.
 * Threads: pure functions. */
#ifndef LZ_IR_TRIP_COUNT_H
#define LZ_IR_TRIP_COUNT_H
#include "ir/module.h"

typedef struct lz_trip_count {
    lz_dtype dtype;                /* of the counter; LZ_DTYPE_NONE: the loop does not count */
    lz_comparison_direction go_on; /* while counter `go_on` end */
    int64_t step;
    /* Of the loop: where start and end are read; LZ_NOVAL: they are known, */
    uint32_t start_opnd, end_opnd;
    int64_t start, end; /* and these. Otherwise 0 */
} lz_trip_count;

/* Of a while of f; *counter: which carried value it is. Of a loop that counts from one known number
 * to another the trip count is static, too, or it does not count. */
lz_trip_count lz_trip_count_of(const lz_func *f, const lz_inst *loop, uint32_t *counter);
/* Rounds from start to end. False: the counter does not get there. */
bool lz_trip_count_count(const lz_trip_count *r, int64_t start, int64_t end, int64_t *n);
/* The rounds, where nothing has to be read to know them. */
bool lz_trip_count_known(const lz_trip_count *r, int64_t *n);
/* The rounds of a while of f, of which nothing has to be read; -1: they are not known. */
int64_t lz_trip_count_static(const lz_func *f, const lz_inst *loop);
/* An element of the counter's type, as it is laid out in memory. False: it is too large to be
 * counted. */
bool lz_trip_count_number(lz_dtype d, const void *at, int64_t *out);
/* Whether these could be of a loop of nopnd operands, of which ncarried are carried. */
bool lz_trip_count_valid(const lz_trip_count *r, const lz_type *const *opnd, uint32_t nopnd,
                         uint32_t ncarried);
#endif
