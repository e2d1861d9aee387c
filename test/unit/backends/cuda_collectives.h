/* cuda_collectives.h - what the tests of collectives between CUDA devices share: programs of
 * several devices beside the reference, and every kind of collective in turn. Threads: a test's
 * own. */
#ifndef LZ_TEST_CUDA_COLLECTIVES_H
#define LZ_TEST_CUDA_COLLECTIVES_H
#include "cuda_util.h"
#include "backends/common/partitions.h"
#include "ir/attr.h"
#include "ir/eval/eval_partitions.h"
#include "support/collectives.h"
#include "support/partition_values.h"

enum { MOST = 8 };

/* Three runs; the counts of collectives, too. */
static inline void compare(const lz_func *f, int n, const values *in, int ulp, const char *what)
{
    values want, got;
    lz_collective_uses a = {0}, b = {0};
    lz_literal *const *const *args = (lz_literal *const *const *)in->row;
    rows_of(&want);
    rows_of(&got);
    ck_assert_msg(lz_ref_count_partitions(f, n, args, want.row, &a) == LZ_OK, "%s: %s", what,
                  message());
    ck_assert_msg(lz_run_partitions(be, f, (uint32_t)n, 3, NULL, args, got.row, &b, NULL) == LZ_OK,
                  "%s: %s", what, message());
    compare_results(f, n, &got, &want, ulp, what, "");
    compare_counts(&b, &a);
    release(&want);
    release(&got);
}

/* Of each dtype every step-th form of groups; numbers of devices are taken from counts. */
enum { NCOUNT = 12 };
static inline void one_kind(const kind *k, lz_rnd *r, int step, const int counts[NCOUNT])
{
    static const int64_t shapes[][2] = {{0, 8}, {8, 1}, {8, 24}, {24, 8}, {16, 40}};
    enum { NSHAPE = (int)(sizeof shapes / sizeof *shapes) };
    int tried = 0, turn = (int)lz_rnd_range(r, 0, 11);
    for (lz_dtype d = LZ_BOOL; d < LZ_DTYPE_COUNT; d++)
        for (int form = 0; form < NGROUPS; form++) {
            int n = counts[lz_rnd_range(r, 0, NCOUNT - 1)], s = (int)lz_rnd_range(r, 0, NSHAPE - 1),
                dim = (int)lz_rnd_range(r, 0, 1), other = (int)lz_rnd_range(r, 0, 1);
            char what[128];
            lz_shape shape = lz_shape_make(2, shapes[s]);
            values in;
            if (turn++ % step)
                continue;
            lz_func *f = program(k, lz_type_get(d, &shape), (groups)form, n, dim, other);
            if (!f)
                continue;
            snprintf(what, sizeof what, "%s %s %s, %d devices, form %d, shape %d, dim %d %d",
                     lz_op_get(k->op)->text, lz_op_get(k->combiner)->text, lz_dtype_name(d), n,
                     form, s, dim, other);
            /* of complex numbers a product and a sum may be rounded as one, in each of n - 1 */
            bool rounds = k->combiner == LZ_OP_MULTIPLY && lz_dtype_is_complex(d);
            fill_arguments(r, f, n, LZ_FILL_SPICED, &in);
            compare(f, n, &in, rounds ? 2 * n : 0, what);
            release(&in);
            lz_func_free(f);
            tried++;
        }
    ck_assert_int_ge(tried, 2);
}
#endif
