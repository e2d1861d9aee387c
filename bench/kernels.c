/* kernels.c - single operations and small compositions of them: products, elementwise work,
 * reductions, normalisations. Each is a function recorded once (lazuli/jit.h), as the peers' are
 * compiled once; a call is started and awaited. Results are compared with double precision in every
 * element, or, where that takes too long, in rows and sums that each element has a part in. */
#include "bench.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_IN = 5, N16M = 16 << 20, SQUARE = 4096 };

/* The operands are random numbers of +-scale/2 by their position. */
struct kernel {
    int nin;
    lz_shape in[MAX_IN];
    double scale;
    lz_body_fn *body;
    /* Compares `got` with what `in` gives. */
    void (*compare)(const struct kernel *k, float *const *in, const float *got,
                    struct difference *d);
    double (*at)(const double *x); /* of elementwise ones: the result for their operands */
    int64_t batch, m, k, n;        /* of products: [batch] m x k times k x n, */
    bool transposed;               /* the second as n x k */
    lz_dtype narrow;               /* of both, LZ_DTYPE_NONE: f32 */
};

static size_t numel(lz_shape s)
{
    size_t n = 1;
    for (int i = 0; i < s.rank; i++)
        n *= (size_t)s.dims[i];
    return n;
}

/* ---- running one ---- */

struct call {
    lz_function *f;
    lz_tensor *in[MAX_IN], *out;
    int nin;
};

static void call_once(void *arg)
{
    struct call *c = arg;
    lz_tensor *out;
    lz_scope_begin();
    bench_check(lz_function_call(c->f, c->in, c->nin, &out, 1), "call");
    bench_check(lz_sync(&out, 1, true), "wait");
    lz_scope_end();
}

/* Those of a narrow type are numbers that it has: bf16, or bytes of the whole range. */
static void make_narrow(lz_dtype d, float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (d == LZ_BF16)
            x[i] = ldexpf(rintf(x[i] * 128), -7);
        else
            x[i] = rintf(x[i] * 254);
}

static void operands(const struct kernel *k, float **x)
{
    for (int i = 0; i < k->nin; i++) {
        x[i] = bench_random((uint64_t)i + 1, numel(k->in[i]), k->scale);
        if (k->narrow != LZ_DTYPE_NONE)
            make_narrow(k->narrow, x[i], numel(k->in[i]));
    }
}

static void free_all(int n, float **x)
{
    for (int i = 0; i < n; i++)
        free(x[i]);
}

/* One more call, whose result is read and compared. */
static struct difference verify(const struct kernel *k, struct call *c)
{
    struct difference d = {0};
    float *x[MAX_IN];
    lz_scope_begin();
    bench_check(lz_function_call(c->f, c->in, c->nin, &c->out, 1), "call");
    if (k->narrow != LZ_DTYPE_NONE)
        c->out = lz_to(c->out, LZ_F32);
    size_t nbytes = lz_nbytes(c->out);
    float *got = malloc(nbytes + 1);
    if (!got)
        bench_fail("no memory to check");
    bench_check(lz_to_host(c->out, got, nbytes), "read");
    lz_scope_end();
    operands(k, x);
    k->compare(k, x, got, &d);
    free_all(k->nin, x);
    free(got);
    bench_verdict(&d);
    return d;
}

/* What AMX tiles could do for it; 0: nothing. */
static double tiles_peak(const struct kernel *k)
{
    if (bench.device || k->narrow == LZ_DTYPE_NONE)
        return 0;
    return k->narrow == LZ_BF16 ? bench_limits()->tiles_bf16 : bench_limits()->tiles_int8;
}

static void run_kernel(const struct workload *w)
{
    const struct kernel *k = w->data;
    struct call c = {.nin = k->nin};
    float *x[MAX_IN];
    operands(k, x);
    for (int i = 0; i < k->nin; i++) {
        lz_tensor *f = lz_from_host(LZ_F32, k->in[i], x[i]);
        c.in[i] = k->narrow == LZ_DTYPE_NONE ? f : lz_to(f, k->narrow);
    }
    free_all(k->nin, x);
    bench_check(lz_mark_step(.wait = true), "operands");
    double begin = bench_now();
    bench_check(lz_function_trace(k->body, (void *)k, c.in, c.nin, 1, &c.f), "trace");
    double traced = bench_now();
    call_once(&c);
    double first = bench_now();
    struct sample s = bench_run(call_once, &c);
    struct difference d = verify(k, &c);
    char tiles[64] = "";
    double peak = tiles_peak(k);
    if (peak > 0)
        snprintf(tiles, sizeof tiles, ",\"pct_tiles\":%.1f",
                 100 * w->flops / s.median * 1e-9 / peak);
    bench_emit(w, w->name, s, ",\"compile_s\":%.4f,\"first_call_s\":%.4f,\"max_error\":%.3g%s",
               traced - begin, first - begin, d.error, tiles);
    lz_function_free(c.f);
    for (int i = 0; i < c.nin; i++)
        lz_release(c.in[i]);
}

/* ---- products ---- */

static void product_body(lz_tensor *const *in, lz_tensor **out, void *user)
{
    const struct kernel *k = user;
    *out = lz_matmul(in[0], k->transposed ? lz_transpose(in[1], -1, -2) : in[1]);
}

/* Bytes with sums of 32 bits. */
static void bytes_body(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    *out = lz_matmul(lz_to(in[0], LZ_I32), lz_to(in[1], LZ_I32));
}

static double second(const struct kernel *k, const float *b, int64_t i, int64_t j)
{
    return (double)(k->transposed ? b[j * k->k + i] : b[i * k->n + j]);
}

/* What rounding each of the k terms may add up to, generously: 16 roundings of the sum of their
 * sizes; far below one wrong term. */
static const double dot_rounding = 16 * 0x1p-24;

/* And the one of the result. */
static double result_rounding(const struct kernel *k)
{
    return k->narrow == LZ_BF16 ? 0x1p-8 : 0;
}

static void compare_row(const struct kernel *k, const float *a, const float *b, const float *c,
                        double *sum, double *size, struct difference *d)
{
    memset(sum, 0, sizeof *sum * (size_t)k->n);
    memset(size, 0, sizeof *size * (size_t)k->n);
    for (int64_t p = 0; p < k->k; p++)
        for (int64_t j = 0; j < k->n; j++) {
            double v = (double)a[p] * second(k, b, p, j);
            sum[j] += v;
            size[j] += fabs(v);
        }
    for (int64_t j = 0; j < k->n; j++)
        bench_compare(d, (double)c[j], sum[j],
                      dot_rounding * size[j] + result_rounding(k) * fabs(sum[j]));
}

/* All rows against c r = a (b r) for a random vector r (Freivalds 1977): every element counts. */
static void compare_sums(const struct kernel *k, const float *a, const float *b, const float *c,
                         double *sum, double *size, struct difference *d)
{
    float *r = bench_random(77, (size_t)k->n, 2);
    for (int64_t p = 0; p < k->k; p++) {
        sum[p] = size[p] = 0;
        for (int64_t j = 0; j < k->n; j++) {
            double v = second(k, b, p, j) * (double)r[j];
            sum[p] += v;
            size[p] += fabs(v);
        }
    }
    for (int64_t i = 0; i < k->m; i++) {
        double expect = 0, got = 0, bound = 0;
        for (int64_t p = 0; p < k->k; p++) {
            expect += (double)a[i * k->k + p] * sum[p];
            bound += fabs((double)a[i * k->k + p]) * size[p];
        }
        for (int64_t j = 0; j < k->n; j++)
            got += (double)c[i * k->n + j] * (double)r[j];
        bench_compare(d, got, expect,
                      (dot_rounding + result_rounding(k)) * bound / sqrt((double)k->n));
    }
    free(r);
}

static void compare_product(const struct kernel *k, float *const *in, const float *got,
                            struct difference *d)
{
    size_t most = (size_t)(k->n > k->k ? k->n : k->k);
    double *sum = malloc(2 * most * sizeof *sum);
    if (!sum)
        bench_fail("no memory to check");
    /* about 1e8 multiplications for single rows */
    int64_t rows = (int64_t)(1e8 / (double)(k->batch * k->k * k->n)) + 1;
    int64_t step = rows >= k->m ? 1 : k->m / rows;
    for (int64_t h = 0; h < k->batch; h++) {
        const float *a = in[0] + h * k->m * k->k, *b = in[1] + h * k->k * k->n,
                    *c = got + h * k->m * k->n;
        for (int64_t i = h % step; i < k->m; i += step)
            compare_row(k, a + i * k->k, b, c + i * k->n, sum, sum + most, d);
        compare_sums(k, a, b, c, sum, sum + most, d);
    }
    free(sum);
}

/* ---- attention: softmax(q k^T / 8) v for 16 heads of 256 positions by 64 ---- */

enum { HEADS = 16, POSITIONS = 256, HEAD_DIM = 64 };

static void attention_body(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    *out = lz_scaled_dot_product_attention(in[0], in[1], in[2]);
}

static void compare_attention(const struct kernel *k, float *const *in, const float *got,
                              struct difference *d)
{
    (void)k;
    double score[POSITIONS];
    for (int h = 0; h < HEADS; h++)
        for (int i = 0; i < POSITIONS; i++) {
            const float *q = in[0] + (h * POSITIONS + i) * HEAD_DIM;
            const float *keys = in[1] + h * POSITIONS * HEAD_DIM,
                        *values = in[2] + h * POSITIONS * HEAD_DIM;
            double total = 0;
            for (int j = 0; j < POSITIONS; j++) {
                score[j] = 0;
                for (int e = 0; e < HEAD_DIM; e++)
                    score[j] += (double)q[e] * (double)keys[j * HEAD_DIM + e] / 8;
                total += score[j] = exp(score[j]);
            }
            for (int e = 0; e < HEAD_DIM; e++) {
                double v = 0;
                for (int j = 0; j < POSITIONS; j++)
                    v += score[j] / total * (double)values[j * HEAD_DIM + e];
                bench_compare(d, (double)got[(h * POSITIONS + i) * HEAD_DIM + e], v, 2e-6);
            }
        }
}

/* ---- elementwise ---- */

static void compare_elements(const struct kernel *k, float *const *in, const float *got,
                             struct difference *d)
{
    double x[MAX_IN];
    size_t n = numel(k->in[0]);
    for (size_t i = 0; i < n; i++) {
        for (int a = 0; a < k->nin; a++)
            x[a] = (double)in[a][i];
        double y = k->at(x);
        bench_compare(d, (double)got[i], y, 1e-6 + 2e-6 * fabs(y));
    }
}

static void chain_body(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    lz_tensor *t = lz_tanh(lz_add(lz_mul(in[0], in[1]), in[2]));
    *out = lz_sub(lz_mul(t, lz_sigmoid(in[3])), lz_exp(lz_mul(lz_neg(in[4]), in[4])));
}
static double chain_at(const double *x)
{
    return tanh(x[0] * x[1] + x[2]) / (1 + exp(-x[3])) - exp(-x[4] * x[4]);
}

static void add_body(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    *out = lz_add(in[0], in[1]);
}
static double add_at(const double *x)
{
    return x[0] + x[1];
}

static void gelu_body(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    *out = lz_gelu(in[0], true);
}
static double gelu_at(const double *x)
{
    double u = sqrt(2 / M_PI) * (x[0] + 0.044715 * x[0] * x[0] * x[0]);
    return 0.5 * x[0] * (1 + tanh(u));
}

/* ---- reductions of a square ---- */

static void sum_body(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    *out = lz_sum(in[0]);
}
static void sum_rows_body(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    *out = lz_sum(in[0], .dims = LZ_DIM(1));
}
static void sum_columns_body(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    *out = lz_sum(in[0], .dims = LZ_DIM(0));
}
static void max_body(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    *out = lz_amax(in[0]);
}

/* n terms of +-1/2 in f32: a part of their sizes that no wrong term hides in. */
static double sum_tolerance(double terms)
{
    return terms * 0.25 * 0x1p-22;
}

static void compare_sum(const struct kernel *k, float *const *in, const float *got,
                        struct difference *d)
{
    double s = 0;
    for (size_t i = 0; i < numel(k->in[0]); i++)
        s += (double)in[0][i];
    bench_compare(d, (double)got[0], s, sum_tolerance((double)numel(k->in[0])));
}

static void compare_sum_rows(const struct kernel *k, float *const *in, const float *got,
                             struct difference *d)
{
    (void)k;
    for (int i = 0; i < SQUARE; i++) {
        double s = 0;
        for (int j = 0; j < SQUARE; j++)
            s += (double)in[0][i * SQUARE + j];
        bench_compare(d, (double)got[i], s, sum_tolerance(SQUARE));
    }
}

static void compare_sum_columns(const struct kernel *k, float *const *in, const float *got,
                                struct difference *d)
{
    (void)k;
    static double s[SQUARE];
    memset(s, 0, sizeof s);
    for (int i = 0; i < SQUARE; i++)
        for (int j = 0; j < SQUARE; j++)
            s[j] += (double)in[0][i * SQUARE + j];
    for (int j = 0; j < SQUARE; j++)
        bench_compare(d, (double)got[j], s[j], sum_tolerance(SQUARE));
}

static void compare_max(const struct kernel *k, float *const *in, const float *got,
                        struct difference *d)
{
    float m = in[0][0];
    for (size_t i = 0; i < numel(k->in[0]); i++)
        m = in[0][i] > m ? in[0][i] : m;
    bench_compare(d, (double)got[0], (double)m, 1e-30);
}

/* ---- rows ---- */

static void softmax_body(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    *out = lz_softmax(in[0], -1);
}

static void compare_softmax(const struct kernel *k, float *const *in, const float *got,
                            struct difference *d)
{
    (void)k;
    static double e[SQUARE];
    for (int i = 0; i < SQUARE; i++) {
        double total = 0;
        for (int j = 0; j < SQUARE; j++)
            total += e[j] = exp((double)in[0][i * SQUARE + j]);
        for (int j = 0; j < SQUARE; j++)
            bench_compare(d, (double)got[i * SQUARE + j], e[j] / total, 3e-6 * e[j] / total);
    }
}

enum { NORM_ROWS = 4096, NORM_WIDTH = 1024 };

static void layer_norm_body(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    *out = lz_layer_norm(in[0], LZ_SHAPE(NORM_WIDTH), in[1], in[2], 1e-5);
}

static void compare_layer_norm(const struct kernel *k, float *const *in, const float *got,
                               struct difference *d)
{
    (void)k;
    for (int i = 0; i < NORM_ROWS; i++) {
        const float *x = in[0] + (size_t)i * NORM_WIDTH;
        double mean = 0, var = 0;
        for (int j = 0; j < NORM_WIDTH; j++)
            mean += (double)x[j] / NORM_WIDTH;
        for (int j = 0; j < NORM_WIDTH; j++)
            var += ((double)x[j] - mean) * ((double)x[j] - mean) / NORM_WIDTH;
        for (int j = 0; j < NORM_WIDTH; j++) {
            double y =
                ((double)x[j] - mean) / sqrt(var + 1e-5) * (double)in[1][j] + (double)in[2][j];
            bench_compare(d, (double)got[(size_t)i * NORM_WIDTH + (size_t)j], y, 5e-6);
        }
    }
}

static void transpose_body(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    *out = lz_transpose(in[0], 0, 1);
}

static void compare_transpose(const struct kernel *k, float *const *in, const float *got,
                              struct difference *d)
{
    (void)k;
    for (int i = 0; i < SQUARE; i++)
        for (int j = 0; j < SQUARE; j++)
            bench_compare(d, (double)got[i * SQUARE + j], (double)in[0][j * SQUARE + i], 1e-30);
}

/* ---- the table ---- */

#define SHAPE(...)                                                                                 \
    {                                                                                              \
        .rank = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), .dims = { __VA_ARGS__ }        \
    }
#define KERNEL(NAME, FLOPS, NBYTES, DOC, ...)                                                      \
    {                                                                                              \
        .name = NAME, .run = run_kernel, .flops = FLOPS, .nbytes = NBYTES,                         \
        .data = &(const struct kernel){__VA_ARGS__}, .doc = DOC                                    \
    }
#define PRODUCT(NAME, B, M, K, N, A_SHAPE, B_SHAPE, TRANSPOSED, DOC)                               \
    KERNEL(NAME, 2. * (B) * (M) * (K) * (N),                                                       \
           4. * (B) * (1. * (M) * (K) + 1. * (K) * (N) + 1. * (M) * (N)), DOC, .nin = 2,           \
           .in = {A_SHAPE, B_SHAPE}, .scale = 1, .body = product_body, .compare = compare_product, \
           .batch = B, .m = M, .k = K, .n = N, .transposed = TRANSPOSED)
#define MATRIX(NAME, M, K, N)                                                                      \
    PRODUCT(NAME, 1, M, K, N, SHAPE(M, K), SHAPE(K, N), false, #M "x" #K " times " #K "x" #N)
#define NARROW(NAME, TYPE, BODY, M, K, N, NBYTES, DOC)                                             \
    KERNEL(NAME, 2. * (M) * (K) * (N), NBYTES, DOC, .nin = 2, .in = {SHAPE(M, K), SHAPE(K, N)},    \
           .scale = 1, .body = BODY, .compare = compare_product, .batch = 1, .m = M, .k = K,       \
           .n = N, .narrow = TYPE)
#define BF16_MATRIX(NAME, M, K, N)                                                                 \
    NARROW(NAME, LZ_BF16, product_body, M, K, N,                                                   \
           2. * (1. * (M) * (K) + 1. * (K) * (N) + 1. * (M) * (N)),                                \
           "bf16: " #M "x" #K " times " #K "x" #N)
#define INT8_MATRIX(NAME, M, K, N)                                                                 \
    NARROW(NAME, LZ_I8, bytes_body, M, K, N, 1. * (M) * (K) + 1. * (K) * (N) + 4. * (M) * (N),     \
           "bytes with sums of 32 bits: " #M "x" #K " times " #K "x" #N)
#define ELEMENTWISE(NAME, N, NIN, SCALE, OP, DOC)                                                  \
    KERNEL(NAME, 0, 4. * (NIN + 1) * (N), DOC, .nin = NIN,                                         \
           .in = {SHAPE(N), SHAPE(N), SHAPE(N), SHAPE(N), SHAPE(N)}, .scale = SCALE,               \
           .body = OP##_body, .compare = compare_elements, .at = OP##_at)
#define ON_SQUARE(NAME, OP, TIMES, DOC)                                                            \
    KERNEL(NAME, 0, 4. * (TIMES) * (N16M), DOC, .nin = 1, .in = {SHAPE(SQUARE, SQUARE)},           \
           .scale = 1, .body = OP##_body, .compare = compare_##OP)

/* clang-format off */
const struct workload workloads_kernels[] = {
    MATRIX("gemm_256", 256, 256, 256),
    MATRIX("gemm_512", 512, 512, 512),
    MATRIX("gemm_1024", 1024, 1024, 1024),
    MATRIX("gemm_2048", 2048, 2048, 2048),
    MATRIX("gemm_4096", 4096, 4096, 4096),
    MATRIX("gemm_64x784x512", 64, 784, 512),
    MATRIX("gemm_128x768x3072", 128, 768, 3072),
    MATRIX("gemv_4096", 1, 4096, 4096),
    BF16_MATRIX("gemm_bf16_512", 512, 512, 512),
    BF16_MATRIX("gemm_bf16_1024", 1024, 1024, 1024),
    BF16_MATRIX("gemm_bf16_2048", 2048, 2048, 2048),
    BF16_MATRIX("gemm_bf16_128x768x3072", 128, 768, 3072),
    INT8_MATRIX("gemm_int8_512", 512, 512, 512),
    INT8_MATRIX("gemm_int8_1024", 1024, 1024, 1024),
    INT8_MATRIX("gemm_int8_2048", 2048, 2048, 2048),
    PRODUCT("bmm_qk", 16, 256, 64, 256, SHAPE(16, 256, 64), SHAPE(16, 256, 64), true,
            "16 products of 256x64 and a transposed 256x64"),
    PRODUCT("bmm_pv", 16, 256, 256, 64, SHAPE(16, 256, 256), SHAPE(16, 256, 64), false,
            "16 products of 256x256 and 256x64"),
    KERNEL("attn_16x256x64", 4. * HEADS * POSITIONS * POSITIONS * HEAD_DIM,
           4. * 4 * HEADS * POSITIONS * HEAD_DIM, "attention of 16 heads, 256 positions by 64",
           .nin = 3, .in = {SHAPE(HEADS, POSITIONS, HEAD_DIM), SHAPE(HEADS, POSITIONS, HEAD_DIM), SHAPE(HEADS, POSITIONS, HEAD_DIM)},
           .scale = 1, .body = attention_body, .compare = compare_attention),
    ELEMENTWISE("chain_16M", N16M, 5, 4, chain, "tanh(a b + c) sigmoid(d) - exp(-e e) of 16 M elements"),
    ELEMENTWISE("chain_4096", 4096, 5, 4, chain, "the same of 4096 elements"),
    ELEMENTWISE("add_16M", N16M, 2, 1, add, "a + b of 16 M elements"),
    ELEMENTWISE("gelu_16M", N16M, 1, 4, gelu, "gelu by tanh of 16 M elements"),
    ON_SQUARE("sum_4096", sum, 1, "sum of 4096x4096"),
    ON_SQUARE("sumrow_4096", sum_rows, 1, "sums of the rows of 4096x4096"),
    ON_SQUARE("sumcol_4096", sum_columns, 1, "sums of the columns of 4096x4096"),
    ON_SQUARE("max_4096", max, 1, "the largest of 4096x4096"),
    ON_SQUARE("softmax_4096", softmax, 2, "softmax of the rows of 4096x4096"),
    ON_SQUARE("transpose_4096", transpose, 2, "4096x4096 transposed"),
    KERNEL("layernorm_4096x1024", 0, 4. * 2 * NORM_ROWS * NORM_WIDTH, "layer norm of the rows of 4096x1024",
           .nin = 3, .in = {SHAPE(NORM_ROWS, NORM_WIDTH), SHAPE(NORM_WIDTH), SHAPE(NORM_WIDTH)}, .scale = 1,
           .body = layer_norm_body, .compare = compare_layer_norm),
    {0}};
/* clang-format on */
