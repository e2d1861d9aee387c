/* t_aten_shape.c - elements rearranged, repeated, split and written into slices, and creation:
 * against index arithmetic. */
#include "aten.h"

static double v60[60], want[AT_MAX];
static lz_tensor *X; /* i64[3,4,5], all different */

static void setup(void)
{
    for (int i = 0; i < 60; i++)
        v60[i] = i * 7 + 3;
    X = at_tensor(LZ_I64, LZ_SHAPE(3, 4, 5), v60);
}
static double at3(int64_t i, int64_t j, int64_t k)
{
    return v60[i * 20 + j * 5 + k];
}
/* want[..] = expr for every index i, j, k, l of a shape of four extents; unused ones are 1 */
#define FILL(n0, n1, n2, n3, expr)                                                                 \
    do {                                                                                           \
        int64_t at_ = 0;                                                                           \
        for (int64_t i = 0; i < (n0); i++)                                                         \
            for (int64_t j = 0; j < (n1); j++)                                                     \
                for (int64_t k = 0; k < (n2); k++)                                                 \
                    for (int64_t l = 0; l < (n3); l++) {                                           \
                        (void)i, (void)j, (void)k, (void)l;                                        \
                        want[at_++] = (double)(expr);                                              \
                    }                                                                              \
    } while (0)
#define IS(t, d, shape) EXPECT((t), (d), (shape), want, 0)

START_TEST(rearranged)
{
    ON_DEVICE(_i);
    setup();
    FILL(5, 3, 4, 1, at3(j, k, i));
    IS(lz_movedim(X, LZ_DIMS(-1), LZ_DIMS(0)), LZ_I64, LZ_SHAPE(5, 3, 4));
    FILL(4, 5, 3, 1, at3(k, i, j));
    IS(lz_movedim(X, LZ_DIMS(0, 1), LZ_DIMS(2, 0)), LZ_I64, LZ_SHAPE(4, 5, 3));
    BAD(lz_movedim(X, LZ_DIMS(0, 1), LZ_DIMS(2)), LZ_EINVAL, "2");
    BAD(lz_movedim(X, LZ_DIMS(0, -3), LZ_DIMS(2, 1)), LZ_EINVAL, "twice");
    FILL(4, 3, 1, 1, at3(j, i, 0));
    IS(lz_t(lz_select(X, 2, 0)), LZ_I64, LZ_SHAPE(4, 3));
    BAD(lz_t(X), LZ_ESHAPE, "rank 2");
    lz_tensor *ones = lz_reshape(X, LZ_SHAPE(1, 3, 1, 20, 1));
    memcpy(want, v60, sizeof v60);
    IS(lz_squeeze_dims(ones, 0, 1, -1), LZ_I64, LZ_SHAPE(3, 1, 20));
    IS(lz_squeeze_dims_at(ones, (lz_dims){0}, LZ_SITE), LZ_I64, LZ_SHAPE(3, 20));
    IS(lz_unflatten(X, 1, LZ_SHAPE(2, -1)), LZ_I64, LZ_SHAPE(3, 2, 2, 5));
    BAD(lz_unflatten(X, 1, LZ_SHAPE(3, -1)), LZ_ESHAPE, "dimension 1");
    IS(lz_clone(X), LZ_I64, LZ_SHAPE(3, 4, 5));
    FILL(3, 4, 5, 1, at3(i, (j + 3) % 4, (k + 3) % 5));
    IS(lz_roll(X, LZ_DIMS(1, -8), LZ_DIMS(1, -1)), LZ_I64, LZ_SHAPE(3, 4, 5));
    FILL(3, 4, 5, 1, v60[(i * 20 + j * 5 + k + 60 - 7) % 60]);
    IS(lz_roll(X, LZ_DIMS(7), (lz_dims){0}), LZ_I64, LZ_SHAPE(3, 4, 5));
    BAD(lz_roll(X, LZ_DIMS(1, 2), LZ_DIMS(1)), LZ_EINVAL, "2 shifts");
    FILL(4, 3, 5, 1, at3(j, 3 - i, k));
    IS(lz_rot90(X, 1, 0, 1), LZ_I64, LZ_SHAPE(4, 3, 5));
    FILL(3, 4, 5, 1, at3(2 - i, 3 - j, k));
    IS(lz_rot90(X, -2, 0, 1), LZ_I64, LZ_SHAPE(3, 4, 5));
    FILL(4, 3, 5, 1, at3(2 - j, i, k));
    IS(lz_rot90(X, 3, 0, 1), LZ_I64, LZ_SHAPE(4, 3, 5));
    BAD(lz_rot90(X, 1, 1, 1), LZ_EINVAL, "1 and 1");
    FILL(3, 4, 5, 1, i * 5 + k);
    IS(lz_expand_as(at_tensor(LZ_I64, LZ_SHAPE(3, 1, 5),
                              ((double[]){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14})),
                    X),
       LZ_I64, LZ_SHAPE(3, 4, 5));
}
END_TEST

START_TEST(repeated)
{
    ON_DEVICE(_i);
    setup();
    lz_tensor *m = lz_select(X, 0, 0); /* [4, 5] */
    FILL(2, 8, 15, 1, at3(0, j % 4, k % 5));
    IS(lz_repeat(m, LZ_SHAPE(2, 2, 3)), LZ_I64, LZ_SHAPE(2, 8, 15));
    FILL(4, 15, 1, 1, at3(0, i, j % 5));
    IS(lz_tile(m, LZ_SHAPE(3)), LZ_I64, LZ_SHAPE(4, 15));
    ck_assert_int_eq(lz_numel(lz_repeat(m, LZ_SHAPE(2, 0))), 0);
    BAD(lz_repeat(m, LZ_SHAPE(2)), LZ_ESHAPE, "at least");
    BAD(lz_repeat(m, LZ_SHAPE(2, -1)), LZ_EINVAL, "-1");
    memcpy(want, v60, sizeof v60);
    memset(want + 60, 0, 24 * sizeof *want);
    IS(lz_resize(X, LZ_SHAPE(7, 12)), LZ_I64, LZ_SHAPE(7, 12));
    IS(lz_resize(X, LZ_SHAPE(5, 12)), LZ_I64, LZ_SHAPE(5, 12));
    IS(lz_resize(X, LZ_SHAPE(59)), LZ_I64, LZ_SHAPE(59));
    IS(lz_resize(X, LZ_SCALAR), LZ_I64, LZ_SCALAR);
    ck_assert_int_eq(lz_numel(lz_resize(X, LZ_SHAPE(3, 0))), 0);
    memset(want, 0, 4 * sizeof *want);
    IS(lz_resize(lz_resize(X, LZ_SHAPE(0)), LZ_SHAPE(2, 2)), LZ_I64, LZ_SHAPE(2, 2));
    BAD(lz_resize(X, LZ_SHAPE(2, -1)), LZ_ESHAPE, "-1");
    BAD(lz_resize(X, LZ_SHAPE(INT64_MAX, 2)), LZ_ERANGE, "");
    BAD(lz_repeat(m, LZ_SHAPE(INT64_MAX, 2)), LZ_ERANGE, "");
    FILL(4, 15, 1, 1, at3(0, i, j / 3));
    IS(lz_repeat_interleave(m, 3, -1), LZ_I64, LZ_SHAPE(4, 15));
    FILL(40, 1, 1, 1, v60[i / 2]);
    IS(lz_repeat_interleave(m, 2, LZ_ALL_DIMS), LZ_I64, LZ_SHAPE(40));
}
END_TEST

START_TEST(taken_apart)
{
    ON_DEVICE(_i);
    setup();
    lz_tensor *p[8];
    int n = 8;
    FILL(3, 2, 5, 1, at3(i, j + 1, k));
    IS(lz_narrow(X, 1, 1, 2), LZ_I64, LZ_SHAPE(3, 2, 5));
    IS(lz_narrow(X, 1, -3, 2), LZ_I64, LZ_SHAPE(3, 2, 5));
    BAD(lz_narrow(X, 1, 3, 2), LZ_ERANGE, "2 from 3 of 4");
    OK(lz_split(X, 2, -1, p, &n));
    ck_assert_int_eq(n, 3);
    FILL(3, 4, 2, 1, at3(i, j, k + 2));
    IS(p[1], LZ_I64, LZ_SHAPE(3, 4, 2));
    FILL(3, 4, 1, 1, at3(i, j, 4));
    IS(p[2], LZ_I64, LZ_SHAPE(3, 4, 1));
    n = 2;
    FAILS(lz_split(X, 2, -1, p, &n), LZ_ERANGE, "3 pieces");
    FAILS(lz_split(X, 0, -1, p, &n), LZ_EINVAL, "0 elements");
    n = 8;
    OK(lz_chunk(X, 4, 2, p, &n));
    ck_assert_int_eq(n, 3); /* of 2, 2, 1 */
    n = 8;
    OK(lz_unbind(X, 1, p, &n));
    ck_assert_int_eq(n, 4);
    FILL(3, 5, 1, 1, at3(i, 2, j));
    IS(p[2], LZ_I64, LZ_SHAPE(3, 5));
    OK(lz_split_with_sizes(X, ((int64_t[]){1, 0, 3}), 3, 1, p));
    FILL(3, 3, 5, 1, at3(i, j + 1, k));
    IS(p[2], LZ_I64, LZ_SHAPE(3, 3, 5));
    ck_assert_int_eq(lz_numel(p[1]), 0);
    n = 8;
    OK(lz_tensor_split(X, 3, 2, p, &n));
    ck_assert_int_eq(n, 3); /* of 2, 2, 1 */
    FILL(3, 4, 2, 1, at3(i, j, k + 2));
    IS(p[1], LZ_I64, LZ_SHAPE(3, 4, 2));
    n = 8;
    OK(lz_tensor_split(X, 5, 0, p, &n));
    ck_assert_int_eq(n, 5);
    ck_assert_int_eq(lz_numel(p[4]), 0);
    FAILS(lz_tensor_split(X, 0, 0, p, &n), LZ_EINVAL, "0 sections");
    FAILS(lz_split_with_sizes(X, ((int64_t[]){1, 2}), 2, 1, p), LZ_ESHAPE, "extent 4");
    for (int off = -4; off <= 5; off++) {
        int64_t i0 = off < 0 ? -off : 0, j0 = off > 0 ? off : 0,
                len = 4 - i0 < 5 - j0 ? 4 - i0 : 5 - j0;
        len = len < 0 ? 0 : len;
        FILL(3, len, 1, 1, at3(i, j + i0, j + j0));
        IS(lz_diagonal(X, off, 1, 2), LZ_I64, LZ_SHAPE(3, len));
    }
    FILL(4, 3, 1, 1, at3(j, i, j + 1));
    IS(lz_diagonal(X, 1, 0, -1), LZ_I64, LZ_SHAPE(4, 3));
    BAD(lz_diagonal(X, 1, 0, -3), LZ_EINVAL, "0 and 0");
    FILL(3, 2, 5, 3, at3(i, j + l, k));
    IS(lz_unfold_dim(X, 1, 3, 1), LZ_I64, LZ_SHAPE(3, 2, 5, 3));
    FILL(3, 4, 2, 2, at3(i, j, k * 3 + l));
    IS(lz_unfold_dim(X, -1, 2, 3), LZ_I64, LZ_SHAPE(3, 4, 2, 2));
    BAD(lz_unfold_dim(X, 1, 5, 1), LZ_EINVAL, "windows of 5");
    FILL(2, 3, 4, 1, v60[1 + i * 30 + j * 2 + k * 3]);
    IS(lz_as_strided(X, LZ_SHAPE(2, 3, 4), ((int64_t[]){30, 2, 3}), 1), LZ_I64, LZ_SHAPE(2, 3, 4));
    BAD(lz_as_strided(X, LZ_SHAPE(2, 3, 4), ((int64_t[]){50, 2, 3}), 1), LZ_ERANGE, "outside");
    BAD(lz_as_strided(X, LZ_SHAPE(2), ((int64_t[]){INT64_MAX}), 1), LZ_ERANGE, "outside");
}
END_TEST

START_TEST(parts_replaced)
{
    ON_DEVICE(_i);
    setup();
    lz_shape s = LZ_SHAPE(3, 4, 5);
    double src[60];
    for (int i = 0; i < 60; i++)
        src[i] = -i - 1;
    FILL(3, 4, 5, 1, j >= 1 && j < 3 ? src[i * 10 + (j - 1) * 5 + k] : at3(i, j, k));
    IS(lz_slice_scatter(X, at_tensor(LZ_F32, LZ_SHAPE(3, 2, 5), src), 1, 1, 3, 1), LZ_I64, s);
    FILL(3, 4, 5, 1, k == 1 || k == 3 ? src[i * 8 + j * 2 + (k - 1) / 2] : at3(i, j, k));
    IS(lz_slice_scatter(X, at_tensor(LZ_I64, LZ_SHAPE(3, 4, 2), src), -1, -4, INT64_MAX, 2), LZ_I64,
       s);
    BAD(lz_slice_scatter(X, at_tensor(LZ_I64, LZ_SHAPE(3, 4, 3), src), -1, 1, 3, 1), LZ_ESHAPE,
        "[3,4,2]");
    memcpy(want, v60, sizeof v60);
    IS(lz_slice_scatter(X, lz_zeros(LZ_I64, LZ_SHAPE(3, 4, 0)), -1, 3, 1, 1), LZ_I64, s);
    FILL(3, 4, 5, 1, j == 3 ? src[i * 5 + k] : at3(i, j, k));
    IS(lz_select_scatter(X, at_tensor(LZ_I64, LZ_SHAPE(3, 5), src), 1, -1), LZ_I64, s);
    BAD(lz_select_scatter(X, X, 1, 0), LZ_ESHAPE, "[3,1,5]");
    BAD(lz_select_scatter(X, at_tensor(LZ_I64, LZ_SHAPE(3, 5), src), 1, 4), LZ_ERANGE, "4");
    FILL(3, 4, 5, 1, k - i == 1 ? src[j * 3 + i] : at3(i, j, k));
    IS(lz_diagonal_scatter(X, at_tensor(LZ_I64, LZ_SHAPE(4, 3), src), 1, 0, 2), LZ_I64, s);
    FILL(3, 4, 5, 1, k - j == -2 ? src[i * 2 + k] : at3(i, j, k));
    IS(lz_diagonal_scatter(X, at_tensor(LZ_I64, LZ_SHAPE(3, 2), src), -2, 1, 2), LZ_I64, s);
    memcpy(want, v60, sizeof v60);
    for (int i = 0; i < 6; i++)
        want[2 + i / 3 * 20 + i % 3 * 4] = src[i];
    IS(lz_as_strided_scatter(X, at_tensor(LZ_I64, LZ_SHAPE(2, 3), src), ((int64_t[]){20, 4}), 2),
       LZ_I64, s);
    for (int64_t d = -5; d <= 6; d += 1) {
        FILL(3, 4, 5, 1, k <= j + d ? at3(i, j, k) : 0);
        IS(lz_tril(X, d), LZ_I64, s);
        FILL(3, 4, 5, 1, k >= j + d ? at3(i, j, k) : 0);
        IS(lz_triu(X, d), LZ_I64, s);
    }
    FILL(3, 4, 5, 1, 0);
    IS(lz_triu(X, INT64_MAX), LZ_I64, s);
}
END_TEST

START_TEST(put_together)
{
    ON_DEVICE(_i);
    setup();
    lz_tensor *m = lz_select(X, 0, 0); /* [4, 5] */
    FILL(4, 5, 5, 1, j == k ? at3(0, i, j) : 0);
    IS(lz_diag_embed(m, 0, -2, -1), LZ_I64, LZ_SHAPE(4, 5, 5));
    FILL(7, 4, 7, 1, k - i == -2 ? at3(0, j, k) : 0);
    IS(lz_diag_embed(m, -2, 0, 2), LZ_I64, LZ_SHAPE(7, 4, 7));
    FILL(6, 6, 1, 1, j - i == 1 ? v60[i] : 0);
    IS(lz_diag(lz_slice(lz_reshape(X, LZ_SHAPE(-1)), 0, 0, 5, 1), 1), LZ_I64, LZ_SHAPE(6, 6));
    FILL(4, 1, 1, 1, at3(0, i, i + 1));
    IS(lz_diag(m, 1), LZ_I64, LZ_SHAPE(4));
    FILL(1, 1, 1, 1, 9);
    IS(lz_diag(lz_full(LZ_I64, LZ_SHAPE(1), 9), 0), LZ_I64, LZ_SHAPE(1, 1));
    FILL(2, 2, 1, 1, 0);
    IS(lz_diag(lz_full(LZ_I64, LZ_SHAPE(0), 9), -2), LZ_I64, LZ_SHAPE(2, 2));
    BAD(lz_diag(X, 0), LZ_ESHAPE, "[3,4,5]");
    lz_tensor *blocks[3] = {lz_ones(LZ_I64, LZ_SHAPE(2, 3)), lz_full(LZ_I64, LZ_SHAPE(2), 5),
                            lz_full(LZ_F32, LZ_SCALAR, 7)};
    FILL(4, 6, 1, 1, i < 2 ? j < 3 : i == 2 ? (j == 3 || j == 4 ? 5 : 0) : j == 5 ? 7 : 0);
    IS(lz_block_diag(blocks, 3), LZ_F32, LZ_SHAPE(4, 6));
    lz_tensor *v[2] = {lz_iota(LZ_I64, LZ_SHAPE(3), 0), lz_iota(LZ_I64, LZ_SHAPE(4), 0)}, *g[2];
    OK(lz_meshgrid(v, 2, "ij", g));
    FILL(3, 4, 1, 1, i);
    IS(g[0], LZ_I64, LZ_SHAPE(3, 4));
    FILL(3, 4, 1, 1, j);
    IS(g[1], LZ_I64, LZ_SHAPE(3, 4));
    OK(lz_meshgrid(v, 2, "xy", g));
    FILL(4, 3, 1, 1, j);
    IS(g[0], LZ_I64, LZ_SHAPE(4, 3));
    FILL(4, 3, 1, 1, i);
    IS(g[1], LZ_I64, LZ_SHAPE(4, 3));
    FAILS(lz_meshgrid(v, 2, "yx", g), LZ_EINVAL, "yx");
    FAILS(lz_meshgrid(&m, 1, "ij", g), LZ_ESHAPE, "rank 2");
    lz_tensor *u = lz_iota(LZ_I64, LZ_SHAPE(3), 0), *uv[2] = {u, lz_full(LZ_F32, LZ_SHAPE(3), 9)},
              *mm[2] = {m, m};
    FILL(6, 1, 1, 1, i < 3 ? i : 9);
    IS(lz_hstack(uv, 2), LZ_F32, LZ_SHAPE(6));
    FILL(2, 3, 1, 1, i ? 9 : j);
    IS(lz_vstack(uv, 2), LZ_F32, LZ_SHAPE(2, 3));
    FILL(3, 2, 1, 1, j ? 9 : i);
    IS(lz_dstack(uv, 2), LZ_F32, LZ_SHAPE(1, 3, 2));
    FILL(4, 10, 1, 1, at3(0, i, j % 5));
    IS(lz_hstack(mm, 2), LZ_I64, LZ_SHAPE(4, 10));
    BAD(lz_vstack(((lz_tensor *[]){u, m}), 2), LZ_ESHAPE, "lz_vstack");
    lz_tensor *x = at_tensor(LZ_F64, LZ_SHAPE(3), (double[]){2, -3, 0});
    FILL(3, 4, 1, 1, pow(i == 0 ? 2 : i == 1 ? -3 : 0, (double)(3 - j)));
    IS(lz_vander(x, 4, false), LZ_F64, LZ_SHAPE(3, 4));
    FILL(3, 2, 1, 1, pow(i == 0 ? 2 : i == 1 ? -3 : 0, (double)j));
    IS(lz_vander(lz_to(x, LZ_I32), 2, true), LZ_I32, LZ_SHAPE(3, 2));
}
END_TEST

START_TEST(made)
{
    ON_DEVICE(_i);
    setup();
    FILL(3, 5, 1, 1, i == j);
    IS(lz_eye(LZ_BF16, 3, 5), LZ_BF16, LZ_SHAPE(3, 5));
    IS(lz_eye(LZ_BOOL, 3, 5), LZ_BOOL, LZ_SHAPE(3, 5));
    BAD(lz_eye(LZ_F32, -1, 2), LZ_ESHAPE, "-1");
    FILL(3, 4, 5, 1, 2);
    IS(lz_full_like(X, 2), LZ_I64, LZ_SHAPE(3, 4, 5));
    IS(lz_full_like_at(X, 2, LZ_F16, LZ_SITE), LZ_F16, LZ_SHAPE(3, 4, 5));
    FILL(3, 4, 5, 1, 1);
    IS(lz_ones_like(X), LZ_I64, LZ_SHAPE(3, 4, 5));
    FILL(3, 4, 5, 1, 0);
    IS(lz_zeros_like_at(X, LZ_F64, LZ_SITE), LZ_F64, LZ_SHAPE(3, 4, 5));
    IS(lz_empty(LZ_F32, LZ_SHAPE(3, 4, 5)), LZ_F32, LZ_SHAPE(3, 4, 5));
    for (int n = 1; n < 12; n += 5) {
        for (int i = 0; i < n; i++)
            want[i] = n == 1      ? -1.5
                      : i < n / 2 ? -1.5 + i * (4.0 / (n - 1))
                                  : 2.5 - (n - 1 - i) * (4.0 / (n - 1));
        EXPECT(lz_linspace(LZ_F64, -1.5, 2.5, n), LZ_F64, LZ_SHAPE(n), want, 1e-15);
        EXPECT(lz_linspace(LZ_F32, -1.5, 2.5, n), LZ_F32, LZ_SHAPE(n), want, 1e-7);
        for (int i = 0; i < n; i++)
            want[i] = pow(10, want[i]);
        EXPECT(lz_logspace(LZ_F64, -1.5, 2.5, n, 10), LZ_F64, LZ_SHAPE(n), want, 1e-14);
    }
    ck_assert_int_eq(lz_numel(lz_linspace(LZ_F32, 0, 1, 0)), 0);
    EXPECT(lz_linspace(LZ_I32, 0, 10, 5), LZ_I32, LZ_SHAPE(5), ((double[]){0, 2, 5, 7, 10}), 0);
    BAD(lz_linspace(LZ_F32, 0, 1, -1), LZ_EINVAL, "-1");
    BAD(lz_linspace(LZ_BOOL, 0, 1, 3), LZ_EDTYPE, "bool");
    for (int off = -4; off <= 5; off++)
        for (int lower = 0; lower < 2; lower++) {
            int n = 0;
            for (int pass = 0; pass < 2; pass++) {
                int at = 0;
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 4; j++)
                        if (lower ? j - i <= off : j - i >= off) {
                            if (pass)
                                want[at] = i, want[n + at] = j;
                            at++;
                        }
                n = at;
            }
            IS(lower ? lz_tril_indices(3, 4, off) : lz_triu_indices(3, 4, off), LZ_I64,
               LZ_SHAPE(2, n));
        }
    BAD(lz_tril_indices(-1, 4, 0), LZ_ERANGE, "-1");
}
END_TEST

int main(void)
{
    rt_use("REF");
    Suite *s = suite_create("aten shapes");
    TCase *t = tcase_create("values");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, rearranged, 0, at_devices());
    tcase_add_loop_test(t, repeated, 0, at_devices());
    tcase_add_loop_test(t, taken_apart, 0, at_devices());
    tcase_add_loop_test(t, parts_replaced, 0, at_devices());
    tcase_add_loop_test(t, put_together, 0, at_devices());
    tcase_add_loop_test(t, made, 0, at_devices());
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
