/* gen.h - random well-typed functions, systematic cases per row of the table, and a reducer of
 * failing functions.
 * Everything follows from seeds and indices: the same on every machine. Threads: thread-compatible.
 *
 * A differential test is:  f = lz_gen_random(seed, NULL); lz_gen_args(f, seed, LZ_FILL_MODEST,
 * &args); lz_expect_new(f, args, 0, &e); run f the other way; lz_expect_met(e, got, msg, sizeof
 * msg); and when that fails: print lz_gen_shrink(f, still_fails, ctx). */
#ifndef LZ_TEST_GEN_H
#define LZ_TEST_GEN_H
#include "support/expect.h"
#include "support/lit.h"

typedef struct lz_gen_options {
    int max_insts;     /* operations to add, about; 0: 12 */
    int64_t max_elems; /* of one value; 0: 256 */
    uint32_t dtypes;   /* bits 1 << lz_dtype; 0: all but complex */
    uint32_t classes;  /* bits 1 << lz_op_class; 0: all */
    bool no_empty;     /* no extent of 0 */
} lz_gen_options;
/* NULL with the error recorded. `o` NULL: the defaults. Owned by the caller (lz_func_free). */
lz_func *lz_gen_random(uint64_t seed, const lz_gen_options *o);

/* Whether the function, or a region in it, has such an operation. */
bool lz_gen_has_op(const lz_func *f, lz_op op);

/* A chain of what networks are made of, on shapes up to some thousand elements. */
lz_func *lz_gen_net(uint64_t seed);

/* A mesh of at most `most` devices (and 64), of up to four axes, some in another order of devices;
 * a sharding of it: parts of axes, open, with priorities, replicated, unreduced. NULL: LZ_EMEM. */
struct lz_mesh;
struct lz_sharding;
const struct lz_mesh *lz_gen_mesh(lz_rnd *r, int64_t most);
const struct lz_sharding *lz_gen_sharding(lz_rnd *r, const struct lz_mesh *m, int rank);

/* Arguments for a function; parameters that are indices of gather, scatter and the dynamic slices
 * get LZ_FILL_INDEX. */
lz_status lz_gen_args(const lz_func *f, uint64_t seed, lz_fill fill, lz_literal ***args);
void lz_gen_args_free(const lz_func *f, lz_literal **args); /* NULL is fine */

/* What may fill the arguments of f: functions with sums get moderate values, spiced ones with a few
 * that make all of a sum what they are. */
lz_fill lz_gen_fill(const lz_func *f, lz_fill wanted, bool spiced);

/* Case number `index` of a row: a function that does this operation alone, with arguments.
 * Elementwise rows: every dtype, with every special value (pairs, triples) and random values in
 * shapes of 0, 1, odd and large extents; attributes in turn. Other rows: every dtype and shape with
 * random attributes, three times: moderate, any and special values. What that covers is counted in
 * test/unit/ir/t_row_cases.c. 1: made. 0: the row has no more. -1: failed, error recorded. */
int lz_gen_row_cases(lz_op op, int index, lz_func **f, lz_literal ***args);

/* Smallest function found that still fails, starting from one that does: drops results and
 * instructions, makes instructions parameters, replaces them by their operands. `fails` gets
 * well-typed functions and makes arguments by itself. NULL with LZ_EMEM. */
typedef bool lz_gen_fails(const lz_func *f, void *ctx);
lz_func *lz_gen_shrink(const lz_func *f, lz_gen_fails *fails, void *ctx);
#endif
