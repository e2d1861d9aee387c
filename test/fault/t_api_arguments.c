/* t_api_arguments.c - wrong arguments of the public operations: A01 shapes that do not fit, A02
 * dtypes that do not, A04 ranks, extents and products out of range. Each gives an error tensor at
 * once, whose record names the operation, what it got and the caller's line, and nothing of the
 * size asked for is allocated. A05: empty and rank-0 tensors are no errors, and every operation has
 * a defined result for them. */
#include "base/alloc.h"
#include "ir/op.h"
#include "suite.h"
#include "support/rnd.h"
#include <lazuli/hlo.h>
#include <lazuli/lazuli.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* ---- every elementwise function of the table ---- */

typedef lz_tensor *unary_fn(lz_tensor *x, const lz_site *site);
typedef lz_tensor *binary_fn(lz_tensor *a, lz_tensor *b, const lz_site *site);
typedef struct unary_row {
    const char *name;
    unary_fn *fn;
} unary_row;
typedef struct binary_row {
    const char *name;
    binary_fn *fn;
    lz_dtype dtype; /* one it takes */
} binary_row;
#define KEEP LZ_F32
#define WHOLE LZ_F32
#define FLOAT LZ_F32
#define EXPONENT LZ_F32
#define BOOL LZ_F32
#define BITS LZ_I32
#define SHIFT LZ_I32
static const unary_row unaries[] = {
#define LZ_UNARY(name, OP, kind, doc) {"lz_" #name, lz_##name##_at},
#define LZ_BINARY(...)
#define LZ_COMPARE(...)
#include "ops/user_ops.def"
};
static const binary_row binaries[] = {
#define LZ_UNARY(...)
#define LZ_BINARY(name, OP, kind, part, doc) {"lz_" #name, lz_##name##_at, kind},
#define LZ_COMPARE(name, D, doc) {"lz_" #name, lz_##name##_at, LZ_F32},
#include "ops/user_ops.def"
};
enum { NUNARY = sizeof unaries / sizeof *unaries, NBINARY = sizeof binaries / sizeof *binaries };

/* ---- what must be said ---- */

static const lz_site here = {__FILE__, "here", 4711};

static const char *brackets(const lz_shape *s, char *text)
{
    int n = sprintf(text, "[");
    for (int i = 0; i < s->rank; i++)
        n += sprintf(text + n, "%s%lld", i ? "," : "", (long long)s->dims[i]);
    sprintf(text + n, "]");
    return text;
}

static void said(lz_tensor *t, const char *op, lz_status status, const char *part,
                 const char *other)
{
    lz_error_info e;
    lz_status s = lz_status_of(t);
    ck_assert_msg(s == status, "%s gives %s, not %s (%s %s)", op, lz_status_name(s),
                  lz_status_name(status), part, other);
    lz_last_error(&e);
    ck_assert_msg(strcmp(e.op, op) == 0, "the error of %s is told of %s: %s", op, e.op, e.message);
    ck_assert_msg(strstr(e.file, "t_api_arguments.c") && e.line == 4711, "%s: at %s:%d", op, e.file,
                  e.line);
    ck_assert_msg(strstr(e.message, part) && strstr(e.message, other),
                  "%s: \"%s\" lacks \"%s\" or \"%s\"", op, e.message, part, other);
}

static void misfit(lz_tensor *t, const char *op, const lz_shape *a, const lz_shape *b)
{
    char x[160], y[160];
    said(t, op, LZ_ESHAPE, brackets(a, x), brackets(b, y));
}

/* ---- A01 ---- */

static lz_rnd rnd = {20240611};

static lz_shape any_shape(int lo, int hi)
{
    lz_shape s = lz_shape_make(0, NULL);
    s.rank = (int32_t)lz_rnd_range(&rnd, lo, hi);
    for (int d = 0; d < s.rank; d++)
        s.dims[d] = lz_rnd_range(&rnd, 0, 4);
    return s;
}

static bool broadcasts(const lz_shape *a, const lz_shape *b)
{
    for (int d = 1; d <= a->rank && d <= b->rank; d++) {
        int64_t x = a->dims[a->rank - d], y = b->dims[b->rank - d];
        if (x != y && x != 1 && y != 1)
            return false;
    }
    return true;
}

/* Two shapes that cannot be broadcast to one. */
static void bad_pair(lz_shape *a, lz_shape *b)
{
    do {
        *a = any_shape(1, 4);
        *b = any_shape(1, 4);
    } while (broadcasts(a, b));
}

START_TEST(a01_binary)
{
    const binary_row *r = &binaries[_i];
    for (int k = 0; k < 30; k++) {
        lz_shape s, t;
        lz_scope_begin();
        bad_pair(&s, &t);
        misfit(r->fn(lz_ones(r->dtype, s), lz_ones(r->dtype, t), &here), r->name, &s, &t);
        lz_scope_end();
    }
}
END_TEST

/* Primitives do not broadcast: any difference is an error. */
START_TEST(a01_primitives)
{
    for (int op = 1; op < LZ_OP_COUNT; op++) {
        const lz_op_info *i = lz_op_get((lz_op)op);
        if (i->cls != LZ_CLASS_EW || i->arity != 2 || i->attr != LZ_ATTR_none)
            continue;
        lz_dtype d = lz_op_accepts((lz_op)op, LZ_F32) ? LZ_F32 : LZ_I32;
        for (int k = 0; k < 20; k++) {
            lz_shape s = any_shape(0, 4), t = any_shape(0, 4);
            if (lz_shape_eq(&s, &t))
                continue;
            lz_scope_begin();
            lz_tensor *x[2] = {lz_ones(d, s), lz_ones(d, t)};
            misfit(lz_hlo_ew_at(i->text, x, 2, &here), "lz_hlo_ew", &s, &t);
            lz_scope_end();
        }
    }
}
END_TEST

START_TEST(a01_products)
{
    for (int k = 0; k < 200; k++) {
        lz_scope_begin();
        int64_t m = lz_rnd_range(&rnd, 0, 4), n = lz_rnd_range(&rnd, 0, 4),
                p = lz_rnd_range(&rnd, 0, 4);
        int64_t q = p + lz_rnd_range(&rnd, 1, 3), b = lz_rnd_range(&rnd, 2, 4);
        lz_shape l[] = {LZ_SHAPE(p), LZ_SHAPE(m, p), LZ_SHAPE(b, m, p), LZ_SHAPE(2, b, m, p)};
        lz_shape r[] = {LZ_SHAPE(q), LZ_SHAPE(q, n), LZ_SHAPE(b, q, n), LZ_SHAPE(b + 1, p, n)};
        int i = (int)lz_rnd_range(&rnd, 0, 3), j = (int)lz_rnd_range(&rnd, 0, i >= 2 ? 3 : 2);
        misfit(lz_matmul_at(lz_ones(LZ_F32, l[i]), lz_ones(LZ_F32, r[j]), &here), "lz_matmul",
               &l[i], &r[j]);
        lz_shape w = LZ_SHAPE(n, q), bias = LZ_SHAPE(n + 2);
        misfit(lz_linear_at(lz_ones(LZ_F32, l[i]), lz_ones(LZ_F32, w), NULL, &here), "lz_linear",
               &l[i], &w);
        w = LZ_SHAPE(n, p);
        misfit(
            lz_linear_at(lz_ones(LZ_F32, l[1]), lz_ones(LZ_F32, w), lz_ones(LZ_F32, bias), &here),
            "lz_linear", &w, &bias);
        lz_dot_dims d = {.ncontract = 1, .lhs_contract = {1}, .rhs_contract = {0}};
        misfit(lz_hlo_dot_general_at(lz_ones(LZ_F32, l[1]), lz_ones(LZ_F32, r[1]), &d, &here),
               "lz_hlo_dot_general", &l[1], &r[1]);
        lz_scope_end();
    }
}
END_TEST

/* Channels that do not meet, a bias of another length, ranks that are no image's. */
START_TEST(a01_convolutions)
{
    static const struct {
        const char *name;
        lz_tensor *(*fn)(lz_tensor *, lz_tensor *, lz_tensor *, const lz_conv_options *,
                         const lz_site *);
        int dims;
        bool transposed;
    } rows[] = {{"lz_conv1d", lz_conv1d_at, 1, false},
                {"lz_conv2d", lz_conv2d_at, 2, false},
                {"lz_conv3d", lz_conv3d_at, 3, false},
                {"lz_conv_transpose1d", lz_conv_transpose1d_at, 1, true},
                {"lz_conv_transpose2d", lz_conv_transpose2d_at, 2, true},
                {"lz_conv_transpose3d", lz_conv_transpose3d_at, 3, true}};
    for (int k = 0; k < 240; k++) {
        int row = k % 6, n = rows[row].dims;
        int64_t in = lz_rnd_range(&rnd, 1, 4), out = lz_rnd_range(&rnd, 1, 4);
        lz_shape x = LZ_SHAPE(2, in, 5, 5, 5), w = LZ_SHAPE(out, in, 2, 3, 1), b = LZ_SHAPE(out);
        if (rows[row].transposed)
            w.dims[0] = in, w.dims[1] = out;
        x.rank = w.rank = n + 2;
        lz_scope_begin();
        lz_tensor *good = lz_ones(LZ_F32, x), *weight = lz_ones(LZ_F32, w);
        ck_assert_int_eq(lz_status_of(rows[row].fn(good, weight, lz_ones(LZ_F32, b), NULL, &here)),
                         LZ_OK);
        b.dims[0] += 1 + k % 3;
        misfit(rows[row].fn(good, weight, lz_ones(LZ_F32, b), NULL, &here), rows[row].name, &w, &b);
        lz_shape y = x;
        y.dims[1] += 1 + k % 3;
        misfit(rows[row].fn(lz_ones(LZ_F32, y), weight, NULL, NULL, &here), rows[row].name, &y, &w);
        x.rank -= 2;
        misfit(rows[row].fn(lz_ones(LZ_F32, x), weight, NULL, NULL, &here), rows[row].name, &x, &w);
        lz_scope_end();
    }
}
END_TEST

START_TEST(a01_joins_and_the_rest)
{
    for (int k = 0; k < 100; k++) {
        lz_shape s, t;
        lz_scope_begin();
        do {
            s = any_shape(2, 4);
            t = s;
            t.dims[1] += 1 + k % 3;
            t.rank += k % 5 == 4 && t.rank < 4;
        } while (s.rank < 2);
        lz_tensor *x[2] = {lz_ones(LZ_F32, s), lz_ones(LZ_F32, t)},
                  *a = lz_retain(lz_ones(LZ_F32, s));
        misfit(lz_cat_at(x, 2, 0, &here), "lz_cat", &s, &t);
        misfit(lz_stack_at(x, 2, 0, &here), "lz_stack", &s, &t);
        misfit(lz_hlo_concatenate_at(x, 2, 0, &here), "lz_hlo_concatenate", &s, &t);
        ck_assert_int_eq(lz_assign_at(a, x[1], &here), LZ_ESHAPE);
        char have[160], want[160];
        ck_assert(strstr(lz_last_error_text(), brackets(&t, have)) &&
                  strstr(lz_last_error_text(), brackets(&s, want)) &&
                  strstr(lz_last_error_text(), "t_api_arguments.c:4711: lz_assign"));
        bad_pair(&s, &t);
        misfit(
            lz_where_at(lz_ones(LZ_BOOL, LZ_SCALAR), lz_ones(LZ_F32, s), lz_ones(LZ_F32, t), &here),
            "lz_where", &s, &t);
        misfit(
            lz_where_at(lz_ones(LZ_BOOL, s), lz_ones(LZ_F32, t), lz_ones(LZ_F32, LZ_SCALAR), &here),
            "lz_where", &s, &t);
        lz_shape three = LZ_SHAPE(3, 4), longer = LZ_SHAPE(4 + k), wider = LZ_SHAPE(3, 5 + k);
        char labels[32];
        snprintf(labels, sizeof labels, "[%d]", 4 + k);
        lz_tensor *y = lz_ones(LZ_F32, three), *i = lz_ones(LZ_I64, longer);
        said(lz_cross_entropy_at(y, i, NULL, &here), "lz_cross_entropy", LZ_ESHAPE, "[3, 4]",
             labels);
        misfit(lz_expand_at(y, wider, &here), "lz_expand", &three, &wider);
        longer.dims[0] += 9;
        misfit(lz_reshape_at(y, longer, &here), "lz_reshape", &three, &longer);
        misfit(lz_gather_at(y, 0, lz_ones(LZ_I64, longer), &here), "lz_gather", &three, &longer);
        said(lz_embedding_at(lz_ones(LZ_F32, longer), i, &here), "lz_embedding", LZ_ESHAPE,
             "rank 1", "[rows, width]");
        lz_release(a);
        lz_scope_end();
    }
}
END_TEST

/* ---- A02 ---- */

/* What a primitive does not take, it refuses with its own name and the dtype's. */
START_TEST(a02_primitives)
{
    for (int op = 1; op < LZ_OP_COUNT; op++) {
        const lz_op_info *i = lz_op_get((lz_op)op);
        if (i->cls != LZ_CLASS_EW || i->attr != LZ_ATTR_none)
            continue;
        for (int d = 1; d < LZ_DTYPE_COUNT; d++) {
            lz_scope_begin();
            lz_tensor *x[3];
            for (int k = 0; k < 3; k++)
                x[k] = lz_ones(k == 0 && op == LZ_OP_SELECT ? LZ_BOOL : (lz_dtype)d, LZ_SHAPE(2));
            lz_tensor *r = lz_hlo_ew_at(i->text, x, i->arity, &here);
            if (lz_op_accepts((lz_op)op, (lz_dtype)d) || op == LZ_OP_SELECT)
                ck_assert_msg(lz_status_of(r) == LZ_OK, "%s of %s: %s", i->text,
                              lz_dtype_name((lz_dtype)d), lz_last_error_text());
            else
                said(r, "lz_hlo_ew", LZ_EDTYPE, i->text, lz_dtype_name((lz_dtype)d));
            lz_scope_end();
        }
        if (i->arity != 2)
            continue;
        lz_scope_begin();
        lz_tensor *x[2] = {lz_ones(LZ_I32, LZ_SHAPE(2)), lz_ones(LZ_U8, LZ_SHAPE(2))};
        lz_tensor *r = lz_hlo_ew_at(i->text, x, 2, &here);
        ck_assert_msg(lz_status_of(r) == LZ_EDTYPE, "%s of i32 and ui8", i->text);
        lz_scope_end();
    }
}
END_TEST

/* Every user-level operation with every dtype: a result, or LZ_EDTYPE that names the dtype. */
START_TEST(a02_every_dtype)
{
    lz_dtype d = (lz_dtype)(_i + 1);
    lz_shape s = LZ_SHAPE(2, 2);
    int taken = 0;
    for (int k = 0; k < NUNARY + NBINARY; k++) {
        lz_scope_begin();
        const char *name = k < NUNARY ? unaries[k].name : binaries[k - NUNARY].name;
        lz_tensor *x = lz_ones(d, s);
        lz_tensor *r = k < NUNARY ? unaries[k].fn(x, &here) : binaries[k - NUNARY].fn(x, x, &here);
        if (lz_status_of(r) != LZ_OK)
            said(r, name, LZ_EDTYPE, lz_dtype_name(d), "");
        else
            taken++;
        lz_scope_end();
    }
    if (lz_dtype_is_storage(d)) /* nothing computes with it */
        ck_assert_int_eq(taken, 0);
    else
        ck_assert_int_gt(taken, d == LZ_C64 || d == LZ_C128 ? 5 : 25);
    lz_scope_begin();
    lz_tensor *f = lz_ones(d, s);
    if (!lz_dtype_is_int(d)) { /* indices are integers */
        said(lz_index_select_at(lz_ones(LZ_F32, s), 0, lz_ones(d, LZ_SHAPE(2)), &here),
             "lz_index_select", LZ_EDTYPE, lz_dtype_name(d), "");
        said(lz_embedding_at(lz_ones(LZ_F32, s), f, &here), "lz_embedding", LZ_EDTYPE,
             lz_dtype_name(d), "");
        said(lz_gather_at(lz_ones(LZ_F32, s), 0, f, &here), "lz_gather", LZ_EDTYPE,
             lz_dtype_name(d), "");
    }
    if (!lz_dtype_is_float(d)) { /* random numbers and losses are floats */
        said(lz_rand_at(d, s, &here), "lz_rand", LZ_EDTYPE, lz_dtype_name(d), "");
        said(lz_randn_at(d, s, &here), "lz_randn", LZ_EDTYPE, lz_dtype_name(d), "");
    }
    lz_tensor *w = lz_retain(lz_ones(LZ_F32, s));
    if (d != LZ_F32)
        ck_assert_int_eq(lz_assign_at(w, f, &here), LZ_EDTYPE);
    lz_release(w);
    lz_scope_end();
}
END_TEST

/* torch.result_type of two tensors with dimensions; "-": torch refuses. Rows and columns in the
 * order of `order`. */
START_TEST(a02_promotion)
{
    static const lz_dtype order[] = {LZ_BOOL, LZ_U8,  LZ_I8,   LZ_I16, LZ_I32,
                                     LZ_I64,  LZ_F16, LZ_BF16, LZ_F32, LZ_F64};
    static const char *const rows[] = {"bool u8 i8 i16 i32 i64 f16 bf16 f32 f64",
                                       "u8 u8 i16 i16 i32 i64 f16 bf16 f32 f64",
                                       "i8 i16 i8 i16 i32 i64 f16 bf16 f32 f64",
                                       "i16 i16 i16 i16 i32 i64 f16 bf16 f32 f64",
                                       "i32 i32 i32 i32 i32 i64 f16 bf16 f32 f64",
                                       "i64 i64 i64 i64 i64 i64 f16 bf16 f32 f64",
                                       "f16 f16 f16 f16 f16 f16 f16 f32 f32 f64",
                                       "bf16 bf16 bf16 bf16 bf16 bf16 f32 bf16 f32 f64",
                                       "f32 f32 f32 f32 f32 f32 f32 f32 f32 f64",
                                       "f64 f64 f64 f64 f64 f64 f64 f64 f64 f64"};
    for (int i = 0; i < 10; i++) {
        char row[100], *save = NULL;
        snprintf(row, sizeof row, "%s", rows[i]);
        for (int j = 0; j < 10; j++) {
            const char *want = strtok_r(j ? NULL : row, " ", &save);
            lz_scope_begin();
            lz_tensor *t = lz_add(lz_ones(order[i], LZ_SHAPE(2)), lz_ones(order[j], LZ_SHAPE(2)));
            ck_assert_msg(strcmp(lz_dtype_name(lz_dtype_of(t)), want) == 0, "%s + %s is %s, not %s",
                          lz_dtype_name(order[i]), lz_dtype_name(order[j]),
                          lz_dtype_name(lz_dtype_of(t)), want);
            lz_scope_end();
        }
    }
}
END_TEST

/* ---- A04 ---- */

static long peak_kib(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

START_TEST(a04_sizes)
{
    const int64_t big = INT64_MAX, half = (int64_t)1 << 32;
    lz_shape long_one = LZ_SHAPE(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1),
             wild = {.rank = INT32_MAX}, neg = {.rank = -3};
    lz_shape bad[] = {long_one,
                      wild,
                      neg,
                      LZ_SHAPE(-1, 2),
                      LZ_SHAPE(2, INT64_MIN),
                      LZ_SHAPE(big, big),
                      LZ_SHAPE(half, half),
                      LZ_SHAPE(big),
                      LZ_SHAPE(half, half, 0, -1),
                      LZ_SHAPE(1, big, 3),
                      LZ_SHAPE(half * 4, half / 4, 1), /* 2^64 elements */
                      LZ_SHAPE(half, half / 4),        /* 2^64 bytes */
                      LZ_SHAPE(big / 4 + 1),
                      LZ_SHAPE(half, half, 0), /* an extent of 0 saves nothing */
                      LZ_SHAPE(0, half, half),
                      LZ_SHAPE(big, 0, big)};
    float some[4] = {0};
    long before = peak_kib();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        lz_scope_begin();
        lz_shape s = bad[i];
        lz_tensor *one = lz_ones(LZ_F32, LZ_SCALAR), *six = lz_ones(LZ_F32, LZ_SHAPE(2, 3)), *st;
        lz_tensor *state = lz_ones(LZ_U64, LZ_SHAPE(2));
        lz_tensor *t[] = {lz_from_host_at(LZ_F32, s, some, (size_t)-1, &here),
                          lz_from_borrowed_at(LZ_F32, s, some, (size_t)-1, NULL, NULL, &here),
                          lz_from_zeros_at(LZ_F32, s, &here),
                          lz_full_at(LZ_F32, s, 1, &here),
                          lz_zeros_at(LZ_F32, s, &here),
                          lz_ones_at(LZ_F32, s, &here),
                          lz_iota_at(LZ_F32, s, 0, &here),
                          lz_rand_at(LZ_F32, s, &here),
                          lz_randn_at(LZ_F32, s, &here),
                          lz_hlo_broadcast_in_dim_at(one, s, NULL, 0, &here),
                          lz_hlo_reshape_at(six, s, &here),
                          lz_hlo_rng_bit_generator_at(state, LZ_U32, s, &st, &here),
                          lz_init_uniform_at(LZ_F32, s, 0, 1, &here)};
        for (size_t k = 0; k < sizeof t / sizeof *t; k++) {
            lz_status r = lz_status_of(t[k]);
            ck_assert_msg(r == LZ_ESHAPE || r == LZ_ERANGE, "shape %zu, function %zu: %s: %s", i, k,
                          lz_status_name(r), lz_last_error_text());
            ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "t_api_arguments.c:4711"));
        }
        if (s.rank != 2 || s.dims[0] != -1) /* which there means "as it is", or "what is left" */
            for (int k = 0; k < 2; k++) {
                lz_status r =
                    lz_status_of(k ? lz_expand_at(one, s, &here) : lz_reshape_at(six, s, &here));
                ck_assert_msg(r == LZ_ESHAPE || r == LZ_ERANGE, "shape %zu, %d: %s", i, k,
                              lz_status_name(r));
            }
        lz_scope_end();
    }
    ck_assert_int_lt(peak_kib() - before, 16 * 1024);
}
END_TEST

/* Shapes that a size can hold and no machine can: told by the step with the bytes, and the rest
 * goes on. */
START_TEST(a04_larger_than_memory)
{
    lz_set_device(_i ? "CPU:0" : "REF:0");
    float v[2] = {3, 4}, got[2];
    lz_tensor *good = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(2), v));
    lz_scope_begin();
    lz_tensor *huge = lz_ones(LZ_F32, LZ_SHAPE(INT64_MAX / 4));
    ck_assert_int_eq(lz_status_of(huge), LZ_OK);
    ck_assert_int_eq(lz_sync(&huge, 1, true), _i ? LZ_EDEVMEM : LZ_EMEM);
    ck_assert_msg(strstr(lz_last_error_text(), "9223372036854775804 bytes") != NULL, "%s",
                  lz_last_error_text());
    lz_scope_end();
    ck_assert_int_eq(lz_to_host(lz_add(good, good), got, sizeof got), LZ_OK);
    ck_assert(got[0] == 6 && got[1] == 8);
    lz_release(good);
}
END_TEST

START_TEST(a04_dimensions_and_counts)
{
    const int64_t big = INT64_MAX, low = INT64_MIN;
    const int64_t dims[] = {big, low, 2, -3, 100};
    lz_tensor *x = lz_ones(LZ_F32, LZ_SHAPE(2, 3)), *i = lz_ones(LZ_I64, LZ_SHAPE(2)),
              *many[3] = {x, x, x};
    for (size_t k = 0; k < sizeof dims / sizeof *dims; k++) {
        int64_t d = dims[k];
        lz_tensor *t[] = {lz_argmax(x, d, false),
                          lz_argmin(x, d, true),
                          lz_transpose(x, d, 0),
                          lz_transpose(x, 1, d),
                          lz_squeeze(x, d),
                          lz_flatten(x, d, -1),
                          lz_flatten(x, 0, d),
                          lz_cat(many, 3, d),
                          lz_slice(x, d, 0, 1, 1),
                          lz_select(x, d, 0),
                          lz_index_select(x, d, i),
                          lz_gather(x, d, lz_ones(LZ_I64, LZ_SHAPE(1, 1))),
                          lz_softmax(x, d),
                          lz_log_softmax(x, d),
                          lz_sum(x, .dims = {1, {d}}),
                          lz_flip(x, d),
                          lz_permute(x, 0, d),
                          lz_iota(LZ_F32, LZ_SHAPE(2, 3), d == 2 ? 2 : d),
                          lz_hlo_reverse(x, &d, 1),
                          lz_hlo_reduce("add", x, &d, 1),
                          lz_hlo_concatenate(many, 3, d)};
        for (size_t n = 0; n < sizeof t / sizeof *t; n++)
            ck_assert_msg(lz_status_of(t[n]) == LZ_ERANGE || lz_status_of(t[n]) == LZ_EINVAL ||
                              lz_status_of(t[n]) == LZ_ESHAPE,
                          "dimension %lld, function %zu: %s", (long long)d, n,
                          lz_status_name(lz_status_of(t[n])));
    }
    /* counts and list lengths */
    lz_dims long_list = {INT32_MAX, {0}}, negative = {-1, {0}};
    const int64_t pad[4] = {big, big, 1, 1}, start[3] = {0}, limit[3] = {big, 1}, zero[3] = {0};
    lz_tensor *t[] = {lz_permute_at(x, long_list, NULL),
                      lz_flip_at(x, long_list, NULL),
                      lz_permute_at(x, negative, NULL),
                      lz_sum(x, .dims = {INT32_MAX, {0}}),
                      lz_sum(x, .dims = {-1, {0}}),
                      lz_cat(many, -1, 0),
                      lz_cat(many, 0, 0),
                      lz_stack(many, INT32_MIN, 0),
                      lz_slice(x, 0, 0, 1, 0),
                      lz_slice(x, 0, 0, 1, -1),
                      lz_select(x, 0, 2),
                      lz_select(x, 0, low),
                      lz_constant_pad_nd(x, pad, 4, 0),
                      lz_constant_pad_nd(x, pad, 3, 0),
                      lz_constant_pad_nd(x, pad, -2, 0),
                      lz_constant_pad_nd(x, pad, INT32_MAX, 0),
                      lz_one_hot(i, -1, LZ_F32),
                      lz_one_hot(i, big, LZ_F32),
                      lz_unsqueeze(x, 3),
                      lz_unsqueeze(x, big),
                      lz_arange(LZ_I64, 0, INFINITY, 1),
                      lz_arange(LZ_F32, 0, 1, 0),
                      lz_arange(LZ_F32, NAN, 1, 1),
                      lz_arange(LZ_F32, 0, 1e300, 1e-300),
                      lz_hlo_slice(x, start, limit, NULL, 2),
                      lz_hlo_slice(x, start, zero, zero, 2),
                      lz_hlo_slice(x, start, zero, NULL, -2),
                      lz_hlo_slice(x, start, zero, NULL, 3),
                      lz_hlo_transpose(x, zero, 2),
                      lz_hlo_transpose(x, start, INT32_MAX),
                      lz_hlo_pad(x, lz_ones(LZ_F32, LZ_SCALAR), pad, pad, NULL, 2),
                      lz_hlo_pad(x, lz_ones(LZ_F32, LZ_SCALAR), zero, zero, pad, 2),
                      lz_hlo_concatenate(many, -5, 0),
                      lz_hlo_reduce_precision(x, 0, -1),
                      lz_hlo_reduce_precision(x, INT32_MAX, INT32_MIN),
                      lz_hlo_ew_at("add", many, 3, NULL),
                      lz_hlo_ew_at("add", many, -1, NULL),
                      lz_hlo_ew_at("no such thing", many, 2, NULL),
                      lz_to(x, (lz_dtype)-1),
                      lz_hlo_convert(x, LZ_DTYPE_NONE),
                      lz_hlo_compare((lz_hlo_direction)77, x, x),
                      lz_full(LZ_DTYPE_COUNT, LZ_SHAPE(1), 0)};
    for (size_t n = 0; n < sizeof t / sizeof *t; n++)
        ck_assert_msg(lz_status_of(t[n]) != LZ_OK && lz_status_of(t[n]) != LZ_EINTERNAL,
                      "call %zu is accepted: %s", n, lz_status_name(lz_status_of(t[n])));
}
END_TEST

/* Attribute records of gather, scatter and the products that mean nothing. */
START_TEST(a04_wild_attributes)
{
    lz_tensor *x = lz_ones(LZ_F32, LZ_SHAPE(3, 4)), *i = lz_ones(LZ_I32, LZ_SHAPE(2, 1)),
              *u = lz_ones(LZ_F32, LZ_SHAPE(2, 4));
    for (int k = 0; k < 20000; k++) {
        lz_gather_dims g;
        lz_scatter_dims s;
        lz_dot_dims d;
        for (size_t b = 0; b < sizeof g / sizeof(int64_t); b++)
            ((int64_t *)(void *)&g)[b] =
                lz_rnd_chance(&rnd, 80) ? lz_rnd_range(&rnd, -1, 4) : (int64_t)lz_rnd_u64(&rnd);
        for (size_t b = 0; b < sizeof s / sizeof(int64_t); b++)
            ((int64_t *)(void *)&s)[b] =
                lz_rnd_chance(&rnd, 80) ? lz_rnd_range(&rnd, -1, 4) : (int64_t)lz_rnd_u64(&rnd);
        for (size_t b = 0; b < sizeof d / sizeof(int64_t); b++)
            ((int64_t *)(void *)&d)[b] =
                lz_rnd_chance(&rnd, 80) ? lz_rnd_range(&rnd, -1, 4) : (int64_t)lz_rnd_u64(&rnd);
        g.noffset = (int)lz_rnd_range(&rnd, -1, 3), g.ncollapsed = (int)lz_rnd_range(&rnd, 0, 2),
        g.indices_are_sorted = k & 1;
        s.nwindow = (int)lz_rnd_range(&rnd, -1, 3), s.ninserted = (int)lz_rnd_range(&rnd, 0, 2),
        s.indices_are_sorted = s.unique_indices = k & 1;
        d.nbatch = (int)lz_rnd_range(&rnd, 0, 2), d.ncontract = (int)lz_rnd_range(&rnd, -1, 3);
        lz_scope_begin();
        (void)lz_status_of(lz_hlo_gather(x, i, &g));
        (void)lz_status_of(lz_hlo_scatter("add", x, i, u, &s));
        (void)lz_status_of(lz_hlo_dot_general(x, u, &d));
        lz_scope_end();
    }
    ck_assert_int_eq(lz_status_of(x), LZ_OK);
}
END_TEST

/* ---- A05 ---- */

static const lz_shape smalls[] = {{0, {0}},    {1, {0}},       {1, {1}},   {2, {0, 3}},
                                  {2, {3, 0}}, {3, {2, 0, 3}}, {2, {1, 1}}};
enum { NSMALL = sizeof smalls / sizeof *smalls };

/* The value on the device, elements as doubles. */
static int read_all(lz_tensor *t, double out[64])
{
    lz_status s = lz_status_of(t);
    ck_assert_msg(s == LZ_OK, "%s", lz_last_error_text());
    int64_t n = lz_numel(t);
    ck_assert_int_le(n, 64);
    lz_dtype d = lz_dtype_of(t);
    lz_tensor *f = d == LZ_F64 ? t : lz_to(t, LZ_F64);
    s = lz_to_host(f, out, 64 * sizeof *out);
    ck_assert_msg(s == LZ_OK, "%s", lz_last_error_text());
    return (int)n;
}

typedef lz_tensor *make_fn(const void *row, const lz_shape *s);

static void same_on_both(const char *name, make_fn *make, const void *row, const lz_shape *s)
{
    double v[2][64];
    int n[2];
    char text[160];
    for (int k = 0; k < 2; k++) {
        lz_set_device(k ? "CPU:0" : "REF:0");
        lz_scope_begin();
        n[k] = read_all(make(row, s), v[k]);
        ck_assert_int_eq(lz_mark_step(), LZ_OK);
        lz_scope_end();
    }
    ck_assert_msg(n[0] == n[1], "%s of %s", name, brackets(s, text));
    for (int i = 0; i < n[0]; i++)
        ck_assert_msg(v[0][i] == v[1][i] || (isnan(v[0][i]) && isnan(v[1][i])) ||
                          fabs(v[0][i] - v[1][i]) <= 1e-5 * (1 + fabs(v[0][i])),
                      "%s of %s: element %d is %.9g and %.9g", name, brackets(s, text), i, v[0][i],
                      v[1][i]);
}

static lz_tensor *data(lz_dtype d, const lz_shape *s)
{
    return lz_full(d, *s, 3);
}
static lz_tensor *make_unary(const void *row, const lz_shape *s)
{
    const unary_row *r = row;
    lz_dtype d = strcmp(r->name, "lz_bitwise_not") == 0 ? LZ_I32 : LZ_F32;
    return r->fn(data(d, s), NULL);
}
static lz_tensor *make_binary(const void *row, const lz_shape *s)
{
    const binary_row *r = row;
    return r->fn(data(r->dtype, s), lz_full(r->dtype, LZ_SCALAR, 2), NULL);
}

START_TEST(a05_elementwise)
{
    for (int k = 0; k < NSMALL; k++) {
        for (int i = 0; i < NUNARY; i++)
            same_on_both(unaries[i].name, make_unary, &unaries[i], &smalls[k]);
        for (int i = 0; i < NBINARY; i++)
            same_on_both(binaries[i].name, make_binary, &binaries[i], &smalls[k]);
    }
}
END_TEST

/* Operations by number; those of a family that a shape has no use for give the data itself. */
static lz_tensor *make_other(const void *row, const lz_shape *s)
{
    int k = *(const int *)row;
    lz_tensor *x = data(LZ_F32, s), *none = lz_zeros(LZ_I64, LZ_SHAPE(0)), *two[2] = {x, x};
    int64_t last = s->rank - 1;
    bool empty = lz_numel(x) == 0, ranked = s->rank > 0;
    switch (k) {
    case 0:
        return lz_sum(x);
    case 1:
        return lz_prod(x);
    case 2:
        return lz_mean(x);
    case 3:
        return lz_any(x);
    case 4:
        return lz_all(x);
    case 5:
        return lz_var(x);
    case 6:
        return lz_logsumexp(x);
    case 7:
        return ranked ? lz_sum(x, .dims = LZ_DIM(0)) : x;
    case 8:
        return ranked ? lz_mean(x, .dims = LZ_DIM(-1), .keepdim = true) : x;
    case 9:
        return lz_softmax(x, -1);
    case 10:
        return lz_log_softmax(x, 0);
    case 11:
        return ranked ? lz_cat(two, 2, 0) : x;
    case 12:
        return lz_stack(two, 2, 0);
    case 13:
        return lz_unsqueeze(x, 0);
    case 14:
        return lz_flatten(x, 0, -1);
    case 15:
        return ranked ? lz_flip(x, 0) : x;
    case 16:
        return ranked ? lz_slice(x, 0, 0, 0, 1) : x;
    case 17:
        return ranked ? lz_index_select(x, 0, none) : x;
    case 18:
        return ranked ? lz_constant_pad_nd(x, (const int64_t[]){1, 2}, 2, 7) : x;
    case 19:
        return lz_matmul(lz_reshape(x, LZ_SHAPE(lz_numel(x), 1)), lz_ones(LZ_F32, LZ_SHAPE(1, 3)));
    case 20:
        return lz_matmul(lz_ones(LZ_F32, LZ_SHAPE(3, lz_numel(x))),
                         lz_reshape(x, LZ_SHAPE(lz_numel(x), 2 - 1)));
    case 21:
        return lz_linear(lz_reshape(x, LZ_SHAPE(lz_numel(x), 1)), lz_ones(LZ_F32, LZ_SHAPE(4, 1)),
                         lz_ones(LZ_F32, LZ_SHAPE(4)));
    case 22:
        return lz_where(lz_gt(x, lz_full(LZ_F32, LZ_SCALAR, 0)), x, x);
    case 23:
        return lz_clamp(x, 0, 2);
    case 24:
        return lz_gelu(x, true);
    case 25:
        return lz_one_hot(lz_to(x, LZ_I64), 5, LZ_F32);
    case 26:
        return lz_embedding(lz_ones(LZ_F32, LZ_SHAPE(4, 2)), lz_to(x, LZ_I64));
    case 27:
        return ranked ? lz_scatter_add(lz_ones(LZ_F32, LZ_SHAPE(5)), 0, none,
                                       lz_ones(LZ_F32, LZ_SHAPE(0)))
                      : x;
    case 28:
        return lz_expand(
            lz_unsqueeze(x, 0),
            lz_shape_make(s->rank + 1, (int64_t[8]){2, s->dims[0], s->dims[1], s->dims[2]}));
    case 29:
        return ranked ? lz_transpose(x, 0, last) : x;
    case 30:
        return !empty && ranked ? lz_argmax(x, 0, false) : x;
    case 31:
        return !empty ? lz_amax(x) : x;
    case 32:
        return lz_rand(LZ_F32, *s);
    case 33:
        return lz_iota(LZ_F32, ranked ? *s : LZ_SHAPE(1), 0);
    case 34:
        return lz_hlo_bitcast_convert(x, LZ_I32);
    case 35:
        return lz_hlo_reduce_precision(x, 5, 2);
    case 36:
        return lz_hlo_dynamic_slice(lz_ones(LZ_F32, LZ_SHAPE(3)),
                                    (lz_tensor *[]){lz_zeros(LZ_I32, LZ_SCALAR)}, (int64_t[]){0},
                                    1);
    case 37:
        return lz_mse_loss(x, x);
    default:
        return NULL;
    }
}

START_TEST(a05_others)
{
    char name[32];
    for (int op = 0; op <= 37; op++)
        for (int k = 0; k < NSMALL; k++) {
            snprintf(name, sizeof name, "operation %d", op);
            same_on_both(name, make_other, &op, &smalls[k]);
        }
}
END_TEST

START_TEST(a05_values)
{
    static const char *const devices[] = {"REF:0", "CPU:0"};
    lz_set_device(devices[_i]);
    double v[64];
    lz_tensor *e = lz_zeros(LZ_F32, LZ_SHAPE(0, 3)), *g;
    ck_assert_double_eq(lz_item(lz_sum(e)), 0);
    ck_assert_double_eq(lz_item(lz_prod(e)), 1);
    ck_assert(isnan(lz_item(lz_mean(e))));
    ck_assert_double_eq(lz_item(lz_any(e)), 0);
    ck_assert_double_eq(lz_item(lz_all(e)), 1);
    ck_assert_double_eq(lz_item(lz_logsumexp(e)), -INFINITY);
    ck_assert_int_eq(
        read_all(lz_matmul(lz_ones(LZ_F32, LZ_SHAPE(2, 0)), lz_ones(LZ_F32, LZ_SHAPE(0, 3))), v),
        6);
    for (int i = 0; i < 6; i++)
        ck_assert_double_eq(v[i], 0); /* a sum of nothing */
    ck_assert_int_eq(lz_status_of(lz_argmax(e, 0, false)), LZ_ESHAPE);
    ck_assert_int_eq(lz_status_of(lz_amin(e)), LZ_ESHAPE);
    ck_assert_int_eq(lz_status_of(lz_reshape(e, LZ_SHAPE(0, -1))), LZ_ESHAPE);
    ck_assert_int_eq(lz_to_host(e, NULL, 0), LZ_OK);
    ck_assert_int_eq(lz_grad(lz_sum(lz_mul(e, e)), &e, 1, &g), LZ_OK);
    ck_assert_int_eq(read_all(g, v), 0);
    lz_tensor *p = lz_retain(lz_zeros(LZ_F32, LZ_SHAPE(0)));
    ck_assert_int_eq(lz_assign(p, lz_add(p, p)), LZ_OK);
    ck_assert_int_eq(lz_mark_step(.wait = true), LZ_OK); /* the errors above are known */
    ck_assert_int_eq(lz_release(p), LZ_OK);
}
END_TEST

int main(void)
{
    setenv("PJRT_DEVICE", "REF", 1);
    setenv("LAZULI_CACHE", "0", 1);
    Suite *s = suite_create("arguments");
    TCase *t = tcase_create("A01 A02 A04");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, a01_binary, 0, NBINARY);
    tcase_add_test(t, a01_primitives);
    tcase_add_test(t, a01_products);
    tcase_add_test(t, a01_convolutions);
    tcase_add_test(t, a01_joins_and_the_rest);
    tcase_add_test(t, a02_primitives);
    tcase_add_loop_test(t, a02_every_dtype, 0, LZ_DTYPE_COUNT - 1);
    tcase_add_test(t, a02_promotion);
    tcase_add_test(t, a04_sizes);
    tcase_add_loop_test(t, a04_larger_than_memory, 0, 2);
    tcase_add_test(t, a04_dimensions_and_counts);
    tcase_add_test(t, a04_wild_attributes);
    suite_add_tcase(s, t);
    t = tcase_create("A05");
    tcase_set_timeout(t, 600);
    tcase_add_test(t, a05_elementwise);
    tcase_add_test(t, a05_others);
    tcase_add_loop_test(t, a05_values, 0, 2);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
