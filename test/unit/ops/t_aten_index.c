/* t_aten_index.c - gather and scatter with tensor indices, against plain loops: repeated, negative
 * and out-of-bounds positions, every reducer, embeddings and bags. */
#include "aten.h"

static double v60[60], want[AT_MAX], src[120];
static lz_tensor *X; /* f32[3,4,5], all different */

static void setup(void)
{
    for (int i = 0; i < 60; i++)
        v60[i] = i * 7 + 3;
    for (int i = 0; i < 120; i++)
        src[i] = (i * 37 % 41) - 20.5;
    X = at_tensor(LZ_F32, LZ_SHAPE(3, 4, 5), v60);
}
static double at3(int64_t i, int64_t j, int64_t k)
{
    return v60[i * 20 + j * 5 + k];
}
static lz_tensor *idx(int n, const int64_t *v)
{
    return lz_from_host(LZ_I64, LZ_SHAPE(n), v);
}
#define IDX(...) idx((int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), (int64_t[]){__VA_ARGS__})
#define FILL(n0, n1, n2, expr)                                                                     \
    do {                                                                                           \
        int64_t at_ = 0;                                                                           \
        for (int64_t i = 0; i < (n0); i++)                                                         \
            for (int64_t j = 0; j < (n1); j++)                                                     \
                for (int64_t k = 0; k < (n2); k++) {                                               \
                    (void)i, (void)j, (void)k;                                                     \
                    want[at_++] = (double)(expr);                                                  \
                }                                                                                  \
    } while (0)
#define IS(t, ...) EXPECT((t), LZ_F32, LZ_SHAPE(__VA_ARGS__), want, TOL32)

START_TEST(advanced)
{
    ON_DEVICE(_i);
    setup();
    const int64_t a[] = {2, -1, 0}, b[] = {1, -4, 3};
    lz_tensor *A = IDX(2, -1, 0), *B = lz_to(IDX(1, -4, 3), LZ_I32),
              *C = lz_reshape(IDX(0, 2), LZ_SHAPE(2, 1));
    FILL(3, 4, 5, at3((a[i] + 3) % 3, j, k));
    IS(lz_index(X, &A, 1), 3, 4, 5);
    FILL(3, 5, 1, at3((a[i] + 3) % 3, (b[i] + 4) % 4, j));
    IS(lz_index(X, ((lz_tensor *[]){A, B}), 2), 3, 5);
    FILL(3, 3, 1, at3(i, (b[j] + 4) % 4, (a[j] + 5) % 5));
    IS(lz_index(X, ((lz_tensor *[]){NULL, B, A}), 3), 3, 3);
    FILL(3, 4, 1, at3((a[i] + 3) % 3, j, (b[i] + 5) % 5)); /* apart: in front */
    IS(lz_index(X, ((lz_tensor *[]){A, NULL, B}), 3), 3, 4);
    FILL(3, 2, 3, at3(i, j * 2, (a[k] + 5) % 5)); /* broadcast: [2, 1] with [3] */
    IS(lz_index(X, ((lz_tensor *[]){NULL, C, A}), 3), 3, 2, 3);
    FILL(2, 3, 1, at3((a[j] + 3) % 3, 2 * i, (b[j] + 5) % 5));
    IS(lz_index(X, ((lz_tensor *[]){A, C, B}), 3), 2, 3);
    FILL(2, 4, 5, at3(i ? 0 : 2, j, k)); /* clamped */
    lz_tensor *wild = IDX(99, -99);
    IS(lz_index(X, &wild, 1), 2, 4, 5);
    lz_tensor *none = lz_zeros(LZ_I64, LZ_SHAPE(0));
    ck_assert_int_eq(lz_numel(lz_index(X, &none, 1)), 0);
    lz_tensor *f = lz_ones(LZ_F32, LZ_SHAPE(2)), *two = lz_zeros(LZ_I64, LZ_SHAPE(2));
    BAD(lz_index(X, &f, 1), LZ_EDTYPE, "f32");
    BAD(lz_index(X, ((lz_tensor *[]){A, two}), 2), LZ_ESHAPE, "broadcast");
    BAD(lz_index(X, ((lz_tensor *[]){NULL, NULL}), 2), LZ_EINVAL, "no index");
    BAD(lz_index(X, ((lz_tensor *[]){A, A, A, A}), 4), LZ_EINVAL, "4 indices");
    BAD(lz_index(lz_zeros(LZ_F32, LZ_SHAPE(0, 2)), &A, 1), LZ_ERANGE, "no elements");
}
END_TEST

START_TEST(advanced_writing)
{
    ON_DEVICE(_i);
    setup();
    lz_tensor *A = IDX(2, -1, 0), *B = IDX(1, 1, 3);
    lz_tensor *v = at_tensor(LZ_F64, LZ_SHAPE(3, 5), src);
    FILL(3, 4, 5, i == 2 && j == 1 ? src[5 + k] : i == 0 && j == 3 ? src[10 + k] : at3(i, j, k));
    IS(lz_index_put(X, ((lz_tensor *[]){A, B}), 2, v, false), 3, 4, 5);
    FILL(3, 4, 5,
         at3(i, j, k) + (i == 2 && j == 1   ? src[k] + src[5 + k]
                         : i == 0 && j == 3 ? src[10 + k]
                                            : 0));
    IS(lz_index_put(X, ((lz_tensor *[]){A, B}), 2, v, true), 3, 4, 5);
    FILL(3, 4, 5, (i == 2 && k == 1) || (i == 0 && k == 3) ? 9 : at3(i, j, k));
    IS(lz_index_put(X, ((lz_tensor *[]){A, NULL, B}), 3, lz_full(LZ_F32, LZ_SCALAR, 9), false), 3,
       4, 5);
    FILL(3, 4, 5, at3(i, j, k) + (k == 1 ? 2 * src[j] : k == 3 ? src[j] : 0));
    IS(lz_index_put(X, ((lz_tensor *[]){NULL, NULL, B}), 3, at_tensor(LZ_F32, LZ_SHAPE(4, 1), src),
                    true),
       3, 4, 5);
    BAD(lz_index_put(X, ((lz_tensor *[]){A, B}), 2, lz_ones(LZ_F32, LZ_SHAPE(2)), false), LZ_ESHAPE,
        "[3,5]");
}
END_TEST

START_TEST(slices)
{
    ON_DEVICE(_i);
    setup();
    lz_tensor *i4 = IDX(1, 3, 1, 9), *s = at_tensor(LZ_F32, LZ_SHAPE(3, 4, 5), src);
    FILL(3, 4, 5,
         at3(i, j, k) + 0.5 * (j == 1   ? src[i * 20 + k] + src[i * 20 + 10 + k]
                               : j == 3 ? src[i * 20 + 5 + k]
                                        : 0));
    IS(lz_index_add(X, 1, i4, s, 0.5), 3, 4, 5);
    FILL(3, 4, 5, j == 1 ? src[i * 20 + 10 + k] : j == 3 ? src[i * 20 + 5 + k] : at3(i, j, k));
    IS(lz_index_copy(X, -2, i4, s), 3, 4, 5);
    FILL(3, 4, 5, k == 4 || k == 0 ? -2.5 : at3(i, j, k));
    IS(lz_index_fill(X, 2, IDX(-1, 0), -2.5), 3, 4, 5);
    BAD(lz_index_add(X, 0, i4, s, 1), LZ_ESHAPE, "4 positions");
    BAD(lz_index_add(X, 1, i4, lz_to(s, LZ_F64), 1), LZ_EDTYPE, "f64");
    BAD(lz_index_copy(lz_scalar(LZ_F32, 1), 0, i4, s), LZ_ESHAPE, "scalar");
}
END_TEST

/* What ATen's scatter_reduce gives, element by element. */
static void reduce_ref(const char *how, bool self, const double *x, const int64_t *at, int n, int m,
                       int cols, double *out)
{
    for (int k = 0; k < cols; k++)
        for (int j = 0; j < n; j++) {
            double total = 0;
            int count = 0;
            if (self) {
                total = x[j * cols + k];
                count = 1;
            }
            for (int i = 0; i < m; i++)
                if (at[i * cols + k] == j) {
                    double s = src[i * cols + k];
                    total = count == 0                 ? s
                            : strcmp(how, "prod") == 0 ? total * s
                            : strcmp(how, "amax") == 0 ? fmax(total, s)
                            : strcmp(how, "amin") == 0 ? fmin(total, s)
                                                       : total + s;
                    count++;
                }
            out[j * cols + k] = count == 0                 ? x[j * cols + k]
                                : strcmp(how, "mean") == 0 ? total / count
                                                           : total;
        }
}

START_TEST(along)
{
    ON_DEVICE(_i);
    setup();
    static const char *const how[] = {"sum", "prod", "mean", "amax", "amin"};
    const int64_t at[] = {0, 2, 1, 0, 2, 3, 0, 1, 1, 3, 2, 3, 0, 2, 1}; /* [5, 3] into [4, 3] */
    lz_tensor *I = lz_from_host(LZ_I64, LZ_SHAPE(5, 3), at),
              *S = at_tensor(LZ_F32, LZ_SHAPE(5, 3), src),
              *T = at_tensor(LZ_F32, LZ_SHAPE(4, 3), v60);
    for (int h = 0; h < 5; h++)
        for (int self = 0; self < 2; self++) {
            reduce_ref(how[h], self, v60, at, 4, 5, 3, want);
            EXPECT(lz_scatter_reduce(T, 0, I, S, how[h], self), LZ_F32, LZ_SHAPE(4, 3), want, 1e-5);
        }
    for (int i = 0; i < 12; i++)
        want[i] = v60[i];
    for (int i = 0; i < 15; i++)
        want[at[i] * 3 + i % 3] = src[i];
    EXPECT(lz_scatter(T, 0, I, S), LZ_F32, LZ_SHAPE(4, 3), want, 0);
    for (int i = 0; i < 6; i++)
        want[i] = v60[i];
    for (int i = 6; i < 12; i++)
        want[i] = v60[i];
    for (int i = 0; i < 6; i++)
        want[at[i] * 3 + i % 3] = 8.5;
    EXPECT(lz_scatter_value(T, 0, lz_slice(I, 0, 0, 2, 1), 8.5), LZ_F32, LZ_SHAPE(4, 3), want, 0);
    lz_tensor *n = at_tensor(LZ_I32, LZ_SHAPE(3), (double[]){-7, 5, 9}),
              *ns = at_tensor(LZ_I32, LZ_SHAPE(4), (double[]){-2, 4, 3, 1});
    EXPECT(lz_scatter_reduce(n, 0, IDX(0, 1, 1, 1), ns, "mean", true), LZ_I32, LZ_SHAPE(3),
           ((double[]){-5, 3, 9}), 0);
    EXPECT(lz_scatter_reduce(n, 0, IDX(0, 1, 1, 1), ns, "amax", false), LZ_I32, LZ_SHAPE(3),
           ((double[]){-2, 4, 9}), 0);
    BAD(lz_scatter_reduce(T, 0, I, S, "median", true), LZ_EINVAL, "median");
    BAD(lz_scatter(T, 0, I, n), LZ_ESHAPE, "src");
    BAD(lz_scatter(T, 0, I, lz_to(S, LZ_F64)), LZ_EDTYPE, "f64");
    EXPECT(lz_scatter(lz_scalar(LZ_F32, 1), 0, lz_scalar(LZ_I64, 0), lz_scalar(LZ_F32, 5)), LZ_F32,
           LZ_SCALAR, (double[]){5}, 0);
}
END_TEST

START_TEST(one_row)
{
    ON_DEVICE(_i);
    setup();
    lz_tensor *I = lz_reshape(IDX(59, 0, -1, -60, 7, 99), LZ_SHAPE(2, 3));
    FILL(6, 1, 1, v60[((int[]){59, 0, 59, 0, 7, 59})[i]]);
    IS(lz_take(X, I), 2, 3);
    BAD(lz_take(lz_zeros(LZ_F32, LZ_SHAPE(0)), I), LZ_ERANGE, "no elements");
    memcpy(want, v60, sizeof v60);
    want[59] = src[2], want[0] = src[3], want[7] = src[4];
    IS(lz_put(X, I, at_tensor(LZ_F32, LZ_SHAPE(6), src), false), 3, 4, 5);
    memcpy(want, v60, sizeof v60);
    want[59] += src[0] + src[2], want[0] += src[1] + src[3], want[7] += src[4];
    IS(lz_put(X, I, at_tensor(LZ_F32, LZ_SHAPE(3, 2), src), true), 3, 4, 5);
    BAD(lz_put(X, I, at_tensor(LZ_F32, LZ_SHAPE(3), src), true), LZ_ESHAPE, "6 positions");
    const int64_t at[] = {4, 0, 2, 3, 1, 1};
    lz_tensor *J = lz_from_host(LZ_I64, LZ_SHAPE(3, 1, 2), at);
    FILL(3, 4, 2, at3(i, j, at[i * 2 + k]));
    IS(lz_take_along_dim(X, J, -1), 3, 4, 2);
    FILL(6, 1, 1, v60[at[i]]);
    IS(lz_take_along_dim(X, J, LZ_ALL_DIMS), 6);
    BAD(lz_take_along_dim(X, I, 0), LZ_ESHAPE, "rank 3");
}
END_TEST

START_TEST(masks)
{
    ON_DEVICE(_i);
    setup();
    lz_tensor *m = lz_gt_scalar(lz_iota(LZ_I32, LZ_SHAPE(4, 1), 0), 1);
    FILL(3, 4, 5, j > 1 ? -1.5 : at3(i, j, k));
    IS(lz_masked_fill(X, m, -1.5), 3, 4, 5);
    IS(lz_masked_fill_tensor(X, m, lz_scalar(LZ_F64, -1.5)), 3, 4, 5);
    BAD(lz_masked_fill_tensor(X, m, lz_ones(LZ_F32, LZ_SHAPE(1))), LZ_ESHAPE, "rank 1");
    FILL(3, 4, 5, j > 1 ? 7 : i * 20 + j * 5 + k);
    EXPECT(lz_masked_fill(lz_reshape(lz_iota(LZ_I8, LZ_SHAPE(60), 0), LZ_SHAPE(3, 4, 5)), m, 7),
           LZ_I8, LZ_SHAPE(3, 4, 5), want, 0);
    BAD(lz_masked_fill(X, lz_ones(LZ_BOOL, LZ_SHAPE(3)), 0), LZ_ESHAPE, "[3]");
    FILL(3, 4, 5, j > 1 ? src[i * 10 + (j - 2) * 5 + k] : at3(i, j, k));
    IS(lz_masked_scatter(X, m, at_tensor(LZ_F32, LZ_SHAPE(4, 10), src)), 3, 4, 5);
    EXPECT(lz_masked_scatter(lz_zeros(LZ_F32, LZ_SHAPE(4)),
                             at_tensor(LZ_BOOL, LZ_SHAPE(4), (double[]){1, 0, 1, 1}),
                             at_tensor(LZ_F32, LZ_SHAPE(2), src)),
           LZ_F32, LZ_SHAPE(4), ((double[]){src[0], 0, src[1], src[1]}), 0);
    BAD(lz_masked_scatter(X, m, lz_zeros(LZ_F64, LZ_SHAPE(60))), LZ_EDTYPE, "f64");
    BAD(lz_masked_scatter(X, m, lz_zeros(LZ_F32, LZ_SHAPE(0))), LZ_ERANGE, "no elements");
}
END_TEST

START_TEST(embeddings)
{
    ON_DEVICE(_i);
    setup();
    const int64_t at[] = {2, 0, 2, 3, 1, 2};
    lz_tensor *W = at_tensor(LZ_F32, LZ_SHAPE(4, 3), v60),
              *I = lz_from_host(LZ_I64, LZ_SHAPE(2, 3), at),
              *G = at_tensor(LZ_F32, LZ_SHAPE(2, 3, 3), src);
    FILL(6, 3, 1, v60[at[i] * 3 + j]);
    IS(lz_embedding_padding(W, I, -2), 2, 3, 3);
    BAD(lz_embedding_padding(W, I, 4), LZ_ERANGE, "4");
    for (int freq = 0; freq < 2; freq++)
        for (int pad = -1; pad < 3; pad += 3) {
            memset(want, 0, sizeof want);
            for (int i = 0; i < 6; i++)
                for (int k = 0; k < 3 && at[i] != pad; k++)
                    want[at[i] * 3 + k] += src[i * 3 + k] / (freq && at[i] == 2 ? 3 : 1);
            IS(lz_embedding_dense_backward(G, I, 4, pad, freq), 4, 3);
        }
    BAD(lz_embedding_dense_backward(G, lz_reshape(I, LZ_SHAPE(6)), 4, -1, false), LZ_ESHAPE, "[6]");
}
END_TEST

START_TEST(embedding_bags)
{
    ON_DEVICE(_i);
    setup();
    const int64_t at[] = {2, 0, 2, 3, 1, 2, 0}, off[] = {0, 3, 3, 5, 7}; /* bags of 3, 0, 2, 2 */
    lz_tensor *W = at_tensor(LZ_F32, LZ_SHAPE(4, 3), src),
              *I = lz_from_host(LZ_I64, LZ_SHAPE(7), at), *O = IDX(0, 3, 3, 5),
              *O5 = IDX(0, 3, 3, 5, 7), *of, *size, *most;
    for (int mode = 0; mode < 3; mode++)
        for (int pad = -1; pad < 3; pad += 3) {
            double sizes[4], which[12];
            for (int b = 0; b < 4; b++)
                for (int k = 0; k < 3; k++) {
                    double total = 0;
                    int n = 0;
                    which[b * 3 + k] = 0;
                    for (int64_t i = off[b]; i < off[b + 1]; i++)
                        if (at[i] != pad) {
                            double s = src[at[i] * 3 + k];
                            if (n == 0 || (mode == 2 && s > total))
                                which[b * 3 + k] = (double)at[i];
                            total = n == 0 ? s : mode == 2 ? fmax(total, s) : total + s;
                            n++;
                        }
                    want[b * 3 + k] = mode == 1 && n ? total / n : total;
                    sizes[b] = n;
                }
            IS(lz_embedding_bag(W, I, O, .mode = mode, .padding_idx = pad, .offset2bag = &of,
                                .bag_size = &size, .max_indices = &most),
               4, 3);
            EXPECT(of, LZ_I64, LZ_SHAPE(7), ((double[]){0, 0, 0, 2, 2, 3, 3}), 0);
            EXPECT(size, LZ_I64, LZ_SHAPE(4), sizes, 0);
            if (mode == 2)
                EXPECT(most, LZ_I64, LZ_SHAPE(4, 3), which, 0);
            IS(lz_embedding_bag(W, I, O5, .mode = mode, .padding_idx = pad,
                                .include_last_offset = true),
               4, 3);
        }
    memset(want, 0, sizeof want);
    for (int b = 0; b < 4; b++)
        for (int64_t i = off[b]; i < off[b + 1]; i++)
            for (int k = 0; k < 3; k++)
                want[b * 3 + k] += src[at[i] * 3 + k] * v60[i];
    IS(lz_embedding_bag(W, I, O, .per_sample_weights = at_tensor(LZ_F32, LZ_SHAPE(7), v60)), 4, 3);
    BAD(lz_embedding_bag(W, I, O, .mode = 3), LZ_EINVAL, "mode 3");
    BAD(lz_embedding_bag(W, W, O), LZ_EDTYPE, "f32");
}
END_TEST

int main(void)
{
    rt_use("REF");
    Suite *s = suite_create("aten indexing");
    TCase *t = tcase_create("values");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, advanced, 0, at_devices());
    tcase_add_loop_test(t, advanced_writing, 0, at_devices());
    tcase_add_loop_test(t, slices, 0, at_devices());
    tcase_add_loop_test(t, along, 0, at_devices());
    tcase_add_loop_test(t, one_row, 0, at_devices());
    tcase_add_loop_test(t, masks, 0, at_devices());
    tcase_add_loop_test(t, embeddings, 0, at_devices());
    tcase_add_loop_test(t, embedding_bags, 0, at_devices());
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
