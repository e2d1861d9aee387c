/* t_grad.c - every gradient rule against central differences in f64, first and second order, on
 * every device. */
#include "grad_check.h"

/* ---- the functions under test ---- */
#define EW1(NAME)                                                                                  \
    static lz_tensor *f_##NAME(lz_tensor **x)                                                      \
    {                                                                                              \
        return lz_hlo_ew_at(#NAME, x, 1, LZ_SITE);                                                 \
    }
#define EW2(NAME)                                                                                  \
    static lz_tensor *f_##NAME(lz_tensor **x)                                                      \
    {                                                                                              \
        return lz_hlo_ew_at(#NAME, x, 2, LZ_SITE);                                                 \
    }
/* clang-format off */
EW1(abs) EW1(cbrt) EW1(cosine) EW1(exponential) EW1(exponential_minus_one) EW1(log) EW1(log_plus_one)
EW1(logistic) EW1(negate) EW1(rsqrt) EW1(sine) EW1(sqrt) EW1(tan) EW1(tanh)
EW2(add) EW2(atan2) EW2(divide) EW2(maximum) EW2(minimum) EW2(multiply) EW2(power) EW2(remainder)
EW2(subtract)
    /* clang-format on */
    static lz_tensor *f_erf(lz_tensor **x)
{
    return lz_hlo_ew_at("chlo.erf", x, 1, LZ_SITE);
}
static lz_tensor *f_clamp(lz_tensor **x)
{
    return lz_hlo_ew_at("clamp", x, 3, LZ_SITE);
}
static lz_tensor *f_convert(lz_tensor **x)
{
    return lz_hlo_convert(lz_hlo_convert(x[0], LZ_F64), LZ_F64);
}
static lz_tensor *f_select(lz_tensor **x)
{
    lz_tensor *y[3] = {lz_hlo_compare(LZ_HLO_GT, x[2], lz_hlo_ew_at("sine", &x[2], 1, LZ_SITE)),
                       x[0], x[1]};
    return lz_hlo_ew_at("select", y, 3, LZ_SITE);
}
static lz_tensor *f_broadcast(lz_tensor **x)
{
    return lz_hlo_broadcast_in_dim(x[0], LZ_SHAPE(4, 3, 2), ((int64_t[]){1, 2}),
                                   2); /* 1x2: expanded, 4 added */
}
static lz_tensor *f_broadcast_swap(lz_tensor **x)
{
    return lz_hlo_broadcast_in_dim(x[0], LZ_SHAPE(3, 2, 2), ((int64_t[]){2, 0}),
                                   2); /* not in ascending order */
}
static lz_tensor *f_reshape(lz_tensor **x)
{
    return lz_hlo_reshape(x[0], LZ_SHAPE(3, 2));
}
static lz_tensor *f_transpose(lz_tensor **x)
{
    return lz_hlo_transpose(x[0], ((int64_t[]){2, 0, 1}), 3);
}
static lz_tensor *f_reverse(lz_tensor **x)
{
    return lz_hlo_reverse(x[0], ((int64_t[]){1}), 1);
}
static lz_tensor *f_slice(lz_tensor **x)
{
    return lz_hlo_slice(x[0], ((int64_t[]){1, 0}), ((int64_t[]){4, 5}), ((int64_t[]){2, 3}), 2);
}
static lz_tensor *f_pad(lz_tensor **x)
{
    return lz_hlo_pad(x[0], x[1], ((int64_t[]){2, -1}), ((int64_t[]){0, 3}), ((int64_t[]){1, 2}),
                      2);
}
static lz_tensor *f_concatenate(lz_tensor **x)
{
    return lz_hlo_concatenate(x, 3, 1);
}
static lz_tensor *f_reduce_add(lz_tensor **x)
{
    return lz_hlo_reduce("add", x[0], ((int64_t[]){0, 2}), 2);
}
static lz_tensor *f_reduce_max(lz_tensor **x)
{
    return lz_hlo_reduce("maximum", x[0], ((int64_t[]){1}), 1);
}
static lz_tensor *f_reduce_min(lz_tensor **x)
{
    return lz_hlo_reduce("minimum", x[0], ((int64_t[]){0}), 1);
}
static lz_tensor *f_reduce_mul(lz_tensor **x)
{
    return lz_hlo_reduce("multiply", x[0], ((int64_t[]){1}), 1);
}
static lz_tensor *dot(lz_tensor **x, lz_dot_dims d)
{
    return lz_hlo_dot_general(x[0], x[1], &d);
}
static lz_tensor *f_dot_nn(lz_tensor **x)
{
    return dot(x, (lz_dot_dims){.ncontract = 1, .lhs_contract = {1}, .rhs_contract = {0}});
}
static lz_tensor *f_dot_nt(lz_tensor **x)
{
    return dot(x, (lz_dot_dims){.ncontract = 1, .lhs_contract = {1}, .rhs_contract = {1}});
}
static lz_tensor *f_dot_tn(lz_tensor **x)
{
    return dot(x, (lz_dot_dims){.ncontract = 1, .lhs_contract = {0}, .rhs_contract = {0}});
}
static lz_tensor *f_dot_batch(lz_tensor **x) /* a[k1,b,m,k2] . b[k2,n,b,k1] */
{
    return dot(x, (lz_dot_dims){.nbatch = 1,
                                .ncontract = 2,
                                .lhs_batch = {1},
                                .rhs_batch = {2},
                                .lhs_contract = {3, 0},
                                .rhs_contract = {0, 3}});
}
static lz_tensor *f_dot_outer(lz_tensor **x)
{
    return dot(x, (lz_dot_dims){0});
}
static lz_tensor *indices(int n, const int64_t *v)
{
    return lz_from_host(LZ_I64, LZ_SHAPE(n), v);
}
static lz_tensor *f_gather(lz_tensor **x) /* repeated, negative and too large indices: clamped */
{
    lz_gather_dims d = {.noffset = 1,
                        .offset_dims = {1},
                        .ncollapsed = 1,
                        .collapsed_slice_dims = {0},
                        .nstart_map = 1,
                        .start_index_map = {0},
                        .slice_sizes = {1, 3},
                        .index_vector_dim = 1};
    return lz_hlo_gather(x[0], indices(5, (int64_t[]){2, 0, 2, -3, 9}), &d);
}
static lz_tensor *f_gather_window(lz_tensor **x)
{
    lz_gather_dims d = {.noffset = 2,
                        .offset_dims = {0, 1},
                        .nstart_map = 2,
                        .start_index_map = {1, 0},
                        .slice_sizes = {2, 2},
                        .index_vector_dim = 0};
    return lz_hlo_gather(x[0], indices(2, (int64_t[]){2, 1}), &d);
}
static lz_tensor *scatter(const char *comb, lz_tensor **x, const int64_t *at, bool unique)
{
    lz_scatter_dims d = {.nwindow = 1,
                         .update_window_dims = {1},
                         .ninserted = 1,
                         .inserted_window_dims = {0},
                         .nmap = 1,
                         .scatter_dims_to_operand_dims = {0},
                         .index_vector_dim = 1,
                         .unique_indices = unique};
    return lz_hlo_scatter(comb, x[0], indices(3, at), x[1], &d);
}
static lz_tensor *f_scatter_add(lz_tensor **x)
{
    return scatter("add", x, (int64_t[]){1, 1, 7}, false);
}
static lz_tensor *f_scatter_assign(lz_tensor **x)
{
    return scatter("assign", x, (int64_t[]){3, 0, -1}, false);
}
static lz_tensor *f_scatter_max(lz_tensor **x)
{
    return scatter("maximum", x, (int64_t[]){1, 1, 2}, false);
}
static lz_tensor *f_scatter_mul(lz_tensor **x)
{
    return scatter("multiply", x, (int64_t[]){3, 0, 9}, true);
}
/* updates meet, one is dropped */
static lz_tensor *f_scatter_mul_often(lz_tensor **x)
{
    return scatter("multiply", x, (int64_t[]){1, 1, 9}, false);
}
/* and zeros: one at the first element hit, two at the second */
static lz_tensor *f_scatter_mul_zeros(lz_tensor **x)
{
    lz_tensor *zero[2] = {
        lz_from_host(LZ_F64, LZ_SHAPE(4, 2), ((double[]){1, 1, 0, 0, 1, 1, 1, 1})),
        lz_from_host(LZ_F64, LZ_SHAPE(3, 2), ((double[]){1, 0, 1, 1, 0, 1}))};
    lz_tensor *y[2] = {lz_mul(x[0], zero[0]), lz_mul(x[1], zero[1])};
    return scatter("multiply", y, (int64_t[]){1, 1, 3}, false);
}
static lz_tensor *at2(int64_t a)
{
    return lz_from_host(LZ_I32, LZ_SCALAR, &(int32_t){(int32_t)a});
}
static lz_tensor *f_dynamic_slice(lz_tensor **x)
{
    lz_tensor *s[2] = {at2(1), at2(9)}; /* the second is clamped */
    return lz_hlo_dynamic_slice(x[0], s, ((int64_t[]){2, 2}), 2);
}
static lz_tensor *f_dynamic_update_slice(lz_tensor **x)
{
    lz_tensor *s[2] = {at2(-4), at2(1)};
    return lz_hlo_dynamic_update_slice(x[0], x[1], s, 2);
}
static lz_tensor *f_barrier(lz_tensor **x)
{
    return lz_hlo_optimization_barrier(lz_mul(x[0], x[0]));
}
static lz_tensor *f_softmax(lz_tensor **x)
{
    return lz_softmax(x[0], -1);
}
static lz_tensor *f_log_softmax(lz_tensor **x)
{
    return lz_log_softmax(x[0], 0);
}
static lz_tensor *f_matmul(lz_tensor **x)
{
    return lz_matmul(x[0], x[1]);
}
static lz_tensor *f_linear(lz_tensor **x)
{
    return lz_linear(x[0], x[1], x[2]);
}
static lz_tensor *f_gelu(lz_tensor **x)
{
    return lz_gelu(x[0], false);
}
static lz_tensor *f_var(lz_tensor **x)
{
    return lz_var(x[0], .dims = LZ_DIM(1));
}
static lz_tensor *f_logsumexp(lz_tensor **x)
{
    return lz_logsumexp(x[0], .dims = LZ_DIM(0));
}

#define V23 S(2, 3)
static const gcase cases[] = {
    {"abs", f_abs, 1, {V23}, 0.2, 2, false},
    {"cbrt", f_cbrt, 1, {V23}, 0.3, 3, true},
    {"cosine", f_cosine, 1, {V23}, -3, 3, true},
    {"erf", f_erf, 1, {V23}, -2, 2, true},
    {"exponential", f_exponential, 1, {V23}, -2, 2, true},
    {"exponential_minus_one", f_exponential_minus_one, 1, {V23}, -2, 2, true},
    {"log", f_log, 1, {V23}, 0.3, 4, true},
    {"log_plus_one", f_log_plus_one, 1, {V23}, -0.5, 4, true},
    {"logistic", f_logistic, 1, {V23}, -3, 3, true},
    {"negate", f_negate, 1, {V23}, -2, 2, false},
    {"rsqrt", f_rsqrt, 1, {V23}, 0.3, 4, true},
    {"sine", f_sine, 1, {V23}, -3, 3, true},
    {"sqrt", f_sqrt, 1, {V23}, 0.3, 4, true},
    {"tan", f_tan, 1, {V23}, -1, 1, true},
    {"tanh", f_tanh, 1, {V23}, -2, 2, true},
    {"add", f_add, 2, {V23, V23}, -2, 2, false},
    {"subtract", f_subtract, 2, {V23, V23}, -2, 2, false},
    {"multiply", f_multiply, 2, {V23, V23}, -2, 2, true},
    {"divide", f_divide, 2, {V23, V23}, 0.5, 2, true},
    {"maximum", f_maximum, 2, {V23, V23}, -2, 2, false},
    {"minimum", f_minimum, 2, {V23, V23}, -2, 2, false},
    {"power", f_power, 2, {V23, V23}, 0.4, 2, true},
    {"remainder", f_remainder, 2, {V23, V23}, 0.7, 3, false},
    {"atan2", f_atan2, 2, {V23, V23}, 0.4, 2, true},
    {"clamp", f_clamp, 3, {V23, V23, V23}, -2, 2, false},
    {"clamp_scalar", f_clamp, 3, {S(), V23, S()}, -2, 2, false},
    {"select", f_select, 3, {V23, V23, V23}, -2, 2, false},
    {"convert", f_convert, 1, {V23}, -2, 2, false},
    {"broadcast", f_broadcast, 1, {S(1, 2)}, -2, 2, false},
    {"broadcast_swap", f_broadcast_swap, 1, {S(2, 3)}, -2, 2, false},
    {"reshape", f_reshape, 1, {V23}, -2, 2, false},
    {"transpose", f_transpose, 1, {S(2, 3, 4)}, -2, 2, false},
    {"reverse", f_reverse, 1, {V23}, -2, 2, false},
    {"slice", f_slice, 1, {S(5, 6)}, -2, 2, false},
    {"pad", f_pad, 2, {V23, S()}, -2, 2, false},
    {"concatenate", f_concatenate, 3, {S(2, 1), S(2, 3), S(2, 2)}, -2, 2, false},
    {"reduce_add", f_reduce_add, 1, {S(2, 3, 4)}, -2, 2, false},
    {"reduce_max", f_reduce_max, 1, {S(3, 4)}, -2, 2, false},
    {"reduce_min", f_reduce_min, 1, {S(3, 4)}, -2, 2, false},
    {"reduce_mul", f_reduce_mul, 1, {S(2, 4)}, 0.5, 2, true},
    {"dot_nn", f_dot_nn, 2, {S(2, 3), S(3, 4)}, -2, 2, true},
    {"dot_nt", f_dot_nt, 2, {S(2, 3), S(4, 3)}, -2, 2, true},
    {"dot_tn", f_dot_tn, 2, {S(3, 2), S(3, 4)}, -2, 2, true},
    {"dot_batch", f_dot_batch, 2, {S(2, 2, 3, 2), S(2, 3, 2, 2)}, -2, 2, false},
    {"dot_outer", f_dot_outer, 2, {S(3), S(2, 2)}, -2, 2, true},
    {"gather", f_gather, 1, {S(4, 3)}, -2, 2, false},
    {"gather_window", f_gather_window, 1, {S(4, 4)}, -2, 2, false},
    {"scatter_add", f_scatter_add, 2, {S(4, 2), S(3, 2)}, -2, 2, false},
    {"scatter_assign", f_scatter_assign, 2, {S(4, 2), S(3, 2)}, -2, 2, false},
    {"scatter_max", f_scatter_max, 2, {S(4, 2), S(3, 2)}, -2, 2, false},
    {"scatter_mul", f_scatter_mul, 2, {S(4, 2), S(3, 2)}, 0.5, 2, false},
    {"scatter_mul_often", f_scatter_mul_often, 2, {S(4, 2), S(3, 2)}, 0.5, 2, true},
    {"scatter_mul_zeros", f_scatter_mul_zeros, 2, {S(4, 2), S(3, 2)}, 0.5, 2, false},
    {"dynamic_slice", f_dynamic_slice, 1, {S(4, 3)}, -2, 2, false},
    {"dynamic_update_slice", f_dynamic_update_slice, 2, {S(4, 3), S(2, 2)}, -2, 2, false},
    {"barrier", f_barrier, 1, {V23}, -2, 2, true},
    {"softmax", f_softmax, 1, {S(3, 4)}, -2, 2, true},
    {"log_softmax", f_log_softmax, 1, {S(3, 4)}, -2, 2, true},
    {"matmul", f_matmul, 2, {S(2, 2, 3), S(3, 2)}, -2, 2, false},
    {"linear", f_linear, 3, {S(2, 3), S(4, 3), S(4)}, -2, 2, false},
    {"gelu", f_gelu, 1, {V23}, -2, 2, true},
    {"var", f_var, 1, {S(3, 4)}, -2, 2, true},
    {"logsumexp", f_logsumexp, 1, {S(3, 4)}, -2, 2, true},
};
enum { NCASES = sizeof cases / sizeof *cases };

START_TEST(first_order)
{
    compare_first(cases, NCASES, _i);
}
END_TEST

START_TEST(second_order)
{
    compare_second(&cases[_i]);
}
END_TEST

static lz_tensor *vec3(double a, double b, double c)
{
    return lz_from_host(LZ_F64, LZ_SHAPE(3), ((double[]){a, b, c}));
}

START_TEST(unreachable_parameter_is_an_error_that_names_it)
{
    lz_scope_begin();
    lz_tensor *p[2] = {vec3(1, 2, 3), vec3(4, 5, 6)}, *g[2];
    lz_tensor *loss = lz_sum(lz_mul(p[0], p[0]));
    ck_assert_int_eq(lz_grad(loss, p, 2, g), LZ_EGRAD);
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "1"));
    ck_assert_int_eq(lz_status_of(g[0]), LZ_EGRAD);
    ck_assert_int_eq(lz_grad(loss, p, 2, g, .allow_unused = true), LZ_OK);
    double z[3];
    ck_assert_int_eq(lz_to_host(g[1], z, sizeof z), LZ_OK);
    ck_assert(z[0] == 0 && z[1] == 0 && z[2] == 0);
    lz_scope_end();
}
END_TEST

START_TEST(clamp_is_flat_at_its_bounds)
{
    lz_scope_begin();
    lz_tensor *x = vec3(-1, 0, 2), *g;
    double got[3];
    ck_assert_int_eq(lz_grad(lz_sum(lz_clamp(x, 0, NAN)), &x, 1, &g), LZ_OK);
    ck_assert_int_eq(lz_to_host(g, got, sizeof got), LZ_OK);
    ck_assert(got[0] == 0 && got[1] == 0 && got[2] == 1);
    ck_assert_int_eq(lz_grad(lz_sum(lz_clamp(x, NAN, 0)), &x, 1, &g), LZ_OK);
    ck_assert_int_eq(lz_to_host(g, got, sizeof got), LZ_OK);
    ck_assert(got[0] == 1 && got[1] == 0 && got[2] == 0);
    lz_scope_end();
}
END_TEST

/* Whichever function is asked, and whether its other bound is absent or infinite, a single bound
 * gives the extreme of x and itself, and its gradient passes inside of it, also at infinity. */
static lz_tensor *above(lz_tensor *x, double bound, int way)
{
    return way == 0 ? lz_clamp_min(x, bound) : lz_clamp(x, bound, way == 1 ? NAN : INFINITY);
}

static lz_tensor *below(lz_tensor *x, double bound, int way)
{
    return way == 0 ? lz_clamp_max(x, bound) : lz_clamp(x, way == 1 ? NAN : -INFINITY, bound);
}

static bool same_number(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b && !signbit(a) == !signbit(b);
}

START_TEST(one_bound_is_one_bound)
{
    static const double values[] = {-INFINITY, -1, -0.0, 0, 1, INFINITY, NAN},
                        bounds[] = {-INFINITY, -1, -0.0, 0, 0.5, INFINITY};
    enum { N = sizeof values / sizeof *values };
    int way = _i % 3;
    bool low = _i / 3;
    lz_scope_begin();
    for (size_t k = 0; k < sizeof bounds / sizeof *bounds; k++) {
        lz_tensor *x = lz_from_host(LZ_F64, LZ_SHAPE(N), values), *g, *y, *b, *w;
        double got[N], want[N], slope[N], at = bounds[k];
        y = low ? above(x, at, way) : below(x, at, way);
        b = lz_full(LZ_F64, LZ_SHAPE(N), at);
        w = low ? lz_maximum(x, b) : lz_minimum(x, b);
        ck_assert_int_eq(lz_grad(y, &x, 1, &g, .grad_output = lz_ones_like(y)), LZ_OK);
        ck_assert_int_eq(lz_to_host(y, got, sizeof got), LZ_OK);
        ck_assert_int_eq(lz_to_host(w, want, sizeof want), LZ_OK);
        ck_assert_int_eq(lz_to_host(g, slope, sizeof slope), LZ_OK);
        for (int i = 0; i < N; i++) {
            bool none = at == (low ? -INFINITY : INFINITY);
            bool inside = none || (low ? values[i] > at : values[i] < at);
            ck_assert_msg(same_number(got[i], want[i]), "%g, bound %g: %g, not %g", values[i], at,
                          got[i], want[i]);
            ck_assert_msg(slope[i] == inside, "%g, bound %g: gradient %g", values[i], at, slope[i]);
        }
    }
    lz_scope_end();
}
END_TEST

START_TEST(bad_calls_are_errors)
{
    lz_scope_begin();
    lz_tensor *x = vec3(1, 2, 3), *n = lz_from_host(LZ_I32, LZ_SHAPE(2), ((int32_t[]){1, 2})), *g;
    ck_assert_int_eq(lz_grad(lz_mul(x, x), &x, 1, &g),
                     LZ_ESHAPE); /* not a scalar, no grad_output */
    ck_assert_int_eq(lz_grad(NULL, &x, 1, &g), LZ_ENULL);
    ck_assert_int_eq(lz_grad(lz_sum(x), NULL, 1, &g), LZ_ENULL);
    ck_assert_int_eq(lz_grad(lz_sum(x), &x, 1, NULL), LZ_ENULL);
    ck_assert_int_eq(lz_grad(lz_sum(x), &n, 1, &g), LZ_EDTYPE);
    ck_assert_int_eq(lz_grad(lz_sum(n), &x, 1, &g), LZ_EDTYPE);
    ck_assert_int_eq(lz_requires_grad(n, true), LZ_EDTYPE);
    ck_assert_int_eq(lz_requires_grad(NULL, true), LZ_ENULL);
    lz_scope_end();
}
END_TEST

/* An index that cannot reach the end of what it points into is not clamped to where the end would
 * wrap to. */
START_TEST(narrow_indices_into_many_rows)
{
    lz_scope_begin();
    lz_tensor *x = lz_full(LZ_F64, LZ_SHAPE(300), 2), *g;
    lz_tensor *at = lz_from_host(LZ_I8, LZ_SHAPE(3), ((int8_t[]){100, -5, 127}));
    lz_gather_dims d = {.ncollapsed = 1,
                        .collapsed_slice_dims = {0},
                        .nstart_map = 1,
                        .start_index_map = {0},
                        .slice_sizes = {1},
                        .index_vector_dim = 1};
    double got[300];
    ck_assert_int_eq(lz_grad(lz_sum(lz_hlo_gather(x, at, &d)), &x, 1, &g), LZ_OK);
    ck_assert_int_eq(lz_to_host(g, got, sizeof got), LZ_OK);
    for (int i = 0; i < 300; i++)
        ck_assert(got[i] == (i == 100 || i == 0 || i == 127));
    lz_scope_end();
}
END_TEST

START_TEST(backward_accumulates_and_survives_a_read)
{
    lz_scope_begin();
    lz_tensor *x = lz_retain(vec3(1, -2, 3));
    double g[3];
    ck_assert_int_eq(lz_requires_grad(x, true), LZ_OK);
    ck_assert_ptr_null(lz_grad_of(x));
    for (int i = 0; i < 2; i++) {
        lz_tensor *loss = lz_sum(lz_mul(x, x));
        ck_assert(lz_item(loss) == 14); /* reading the loss first must not lose the path */
        ck_assert_msg(lz_backward(loss) == LZ_OK, "%s", lz_last_error_text());
    }
    ck_assert_int_eq(lz_to_host(lz_grad_of(x), g, sizeof g), LZ_OK);
    ck_assert(g[0] == 4 && g[1] == -8 && g[2] == 12);
    ck_assert_int_eq(lz_zero_grad(&x, 1), LZ_OK);
    ck_assert_ptr_null(lz_grad_of(x));
    lz_release(x);
    lz_scope_end();
}
END_TEST

/* A marked temporary that a step dropped is no obstacle to the others. */
START_TEST(backward_passes_over_what_is_gone)
{
    lz_scope_begin();
    lz_tensor *x = lz_retain(vec3(1, -2, 3)), *gone;
    double g[3];
    ck_assert_int_eq(lz_requires_grad(x, true), LZ_OK);
    gone = lz_mul(x, x);
    ck_assert_int_eq(lz_requires_grad(gone, true), LZ_OK);
    lz_tensor *kept = lz_retain(lz_neg(gone));
    ck_assert_int_eq(lz_mark_step(), LZ_OK);
    ck_assert_int_eq(lz_status_of(gone), LZ_ESTALE);
    lz_clear_error();
    ck_assert_int_eq(lz_backward(lz_sum(lz_mul(x, x))), LZ_OK);
    ck_assert_int_eq(lz_last_error(NULL), LZ_OK);
    ck_assert_int_eq(lz_to_host(lz_grad_of(x), g, sizeof g), LZ_OK);
    ck_assert(g[0] == 2 && g[1] == -4 && g[2] == 6);
    lz_release(kept);
    lz_release(x);
    lz_scope_end();
}
END_TEST

START_TEST(detach_stops_the_gradient)
{
    lz_scope_begin();
    lz_tensor *x = vec3(1, 2, 3), *g;
    double v[3];
    ck_assert_int_eq(lz_grad(lz_sum(lz_mul(x, lz_detach(x))), &x, 1, &g), LZ_OK);
    ck_assert_int_eq(lz_to_host(g, v, sizeof v), LZ_OK);
    ck_assert(v[0] == 1 && v[1] == 2 && v[2] == 3);
    lz_scope_end();
}
END_TEST

START_TEST(integer_paths_carry_no_gradient)
{
    lz_scope_begin();
    lz_tensor *x = vec3(1.5, 2.5, 3.5), *g;
    double v[3];
    lz_tensor *mask = lz_to(lz_to(x, LZ_I32), LZ_F64);
    ck_assert_int_eq(lz_grad(lz_sum(lz_mul(x, mask)), &x, 1, &g), LZ_OK);
    ck_assert_int_eq(lz_to_host(g, v, sizeof v), LZ_OK);
    ck_assert(v[0] == 1 && v[1] == 2 && v[2] == 3);
    lz_scope_end();
}
END_TEST

/* kinks follow PyTorch: relu has 0 at 0, ties of maximum share, products right with zeros among the
 * factors */
START_TEST(conventions_at_kinks)
{
    lz_scope_begin();
    lz_tensor *x = vec3(0, -0.0, 2), *y = vec3(0, 1, 2), *g;
    double v[3];
    ck_assert_int_eq(lz_grad(lz_sum(lz_relu(x)), &x, 1, &g), LZ_OK);
    ck_assert_int_eq(lz_to_host(g, v, sizeof v), LZ_OK);
    ck_assert(v[0] == 0 && v[1] == 0 && v[2] == 1);
    ck_assert_int_eq(lz_grad(lz_sum(lz_maximum(x, y)), &x, 1, &g), LZ_OK);
    ck_assert_int_eq(lz_to_host(g, v, sizeof v), LZ_OK);
    ck_assert(v[0] == 0.5 && v[1] == 0 && v[2] == 0.5);
    ck_assert_int_eq(lz_grad(lz_prod(y), &y, 1, &g), LZ_OK);
    ck_assert_int_eq(lz_to_host(g, v, sizeof v), LZ_OK);
    ck_assert(v[0] == 2 && v[1] == 0 && v[2] == 0);
    lz_tensor *m = lz_amax(y);
    ck_assert_int_eq(lz_grad(m, &y, 1, &g), LZ_OK);
    ck_assert_int_eq(lz_to_host(g, v, sizeof v), LZ_OK);
    ck_assert(v[0] == 0 && v[1] == 0 && v[2] == 1);
    lz_scope_end();
}
END_TEST

START_TEST(long_chains_need_no_stack)
{
    lz_scope_begin();
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SCALAR, &(float){1.5f}), *y = x, *g;
    for (int i = 0; i < 20000; i++)
        y = i & 1 ? lz_neg(y) : lz_add(y, x);
    ck_assert_msg(lz_grad(y, &x, 1, &g) == LZ_OK, "%s", lz_last_error_text());
    ck_assert_int_eq(lz_status_of(g), LZ_OK);
    lz_scope_end();
}
END_TEST

/* The gradient is rounded to what it goes through, as JAX does it. */
START_TEST(gradients_go_through_8_bits)
{
    const float v[3] = {1.03f, -2.2f, 0.7f}, w[3] = {0.3f, 2, -17};
    float got[3];
    lz_scope_begin();
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(3), v), *g = NULL;
    lz_tensor *y = lz_to(lz_to(x, _i ? LZ_F8E5M2 : LZ_F8E4M3FN), LZ_F32);
    y = lz_sum(lz_mul(y, lz_from_host(LZ_F32, LZ_SHAPE(3), w)));
    ck_assert_msg(lz_grad(y, &x, 1, &g) == LZ_OK, "%s", lz_last_error_text());
    ck_assert_int_eq(lz_to_host(g, got, sizeof got), LZ_OK);
    ck_assert(got[0] == 0.3125f && got[1] == 2 && got[2] == -16);
    lz_scope_end();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("grad");
    TCase *t = tcase_create("rules");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, first_order, 0, 2 * NCASES);
    tcase_add_loop_test(t, second_order, 0, NCASES);
    suite_add_tcase(s, t);
    t = tcase_create("api");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, unreachable_parameter_is_an_error_that_names_it);
    tcase_add_test(t, clamp_is_flat_at_its_bounds);
    tcase_add_loop_test(t, one_bound_is_one_bound, 0, 6);
    tcase_add_test(t, bad_calls_are_errors);
    tcase_add_test(t, narrow_indices_into_many_rows);
    tcase_add_test(t, backward_accumulates_and_survives_a_read);
    tcase_add_test(t, backward_passes_over_what_is_gone);
    tcase_add_test(t, detach_stops_the_gradient);
    tcase_add_test(t, integer_paths_carry_no_gradient);
    tcase_add_test(t, conventions_at_kinks);
    tcase_add_test(t, long_chains_need_no_stack);
    tcase_add_loop_test(t, gradients_go_through_8_bits, 0, 2);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
