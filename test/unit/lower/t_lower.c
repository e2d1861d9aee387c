/* t_lower.c - the compiler front as a whole: plans verify, are the same every time, survive their
 * bytes, fail cleanly; choices of loops. */
#include "base/config.h"
#include "graphs.h"
#include "ir/counted.h"
#include "lower/pass.h"
#include "lower/plan/plan.h"
#include "lower/effort.h"
#include "suite.h"
#include "support/gen.h"

static lz_plan *lower(const lz_func *f, const lz_lower_options *o)
{
    lz_plan *p = NULL;
    ck_assert_msg(lz_lower(f, o, &p) == LZ_OK, "%s", lz_error_get()->message);
    return p;
}

START_TEST(the_same_every_time)
{
    for (int seed = 0; seed < 40; seed++) {
        lz_gen_options o = {.max_insts = 30};
        lz_func *f = lz_gen_random((uint64_t)seed, &o);
        lz_plan *p = lower(f, NULL), *q = lower(f, NULL), *r = NULL;
        lz_buf a = {0}, b = {0}, c = {0};
        lz_plan_serialize(p, &a);
        lz_plan_serialize(q, &b);
        ck_assert(!a.failed && a.len == b.len && memcmp(a.data, b.data, a.len) == 0);
        ck_assert_msg(lz_plan_deserialize(a.data, a.len, &r) == LZ_OK, "seed %d: %s", seed,
                      lz_error_get()->message);
        lz_plan_serialize(r, &c);
        ck_assert(c.len == a.len && memcmp(a.data, c.data, a.len) == 0);
        lz_buf_free(&a);
        lz_buf_free(&b);
        lz_buf_free(&c);
        lz_plan_free(p);
        lz_plan_free(q);
        lz_plan_free(r);
        lz_func_free(f);
    }
}
END_TEST

/* Fused or not, simplified or not: the same numbers. */
START_TEST(every_switch_off)
{
    static const char *const off[] = {
        "fusion",
        "simplify",
        "fold",
        "canonicalize_dots",
        "split_reductions",
        "dce",
        "b2b",
        "fusion,simplify,fold,canonicalize_dots,split_reductions,dce,b2b"};
    lz_config_set("LAZULI_PASSES_OFF", off[_i]);
    for (int seed = 0; seed < 60; seed++) {
        lz_gen_options o = {.max_insts = 16,
                            .dtypes = 1u << LZ_F32 | 1u << LZ_I32 | 1u << LZ_BOOL | 1u << LZ_U64 |
                                      1u << LZ_U32};
        lz_func *f = lz_gen_random((uint64_t)seed + 500, &o);
        lz_literal **args, *got[256] = {NULL};
        lz_expect *e = NULL;
        char msg[512];
        ck_assert_int_eq(lz_gen_args(f, (uint64_t)seed, LZ_FILL_MODEST, &args), LZ_OK);
        bool bits = false;
        for (uint32_t i = 0; i < f->ninst; i++)
            bits |= lz_inst_op(&f->insts[i]) == LZ_OP_BITCAST_CONVERT;
        if (!bits && lz_expect_new(f, args, 0, &e) == LZ_OK) {
            lz_plan *p = lower(f, NULL);
            const void *in[256];
            void *out[256];
            for (uint32_t i = 0; i < f->nparam; i++)
                in[i] = args[i]->data;
            for (uint32_t k = 0; k < f->nresult; k++) {
                got[k] = lz_literal_new(lz_val_type(f, f->results[k]));
                out[k] = got[k]->data;
            }
            ck_assert_msg(lz_plan_run(p, in, out) == LZ_OK, "seed %d: %s", seed,
                          lz_error_get()->message);
            ck_assert_msg(lz_expect_met(e, got, msg, sizeof msg), "%s off, seed %d: %s", off[_i],
                          seed, msg);
            for (uint32_t k = 0; k < f->nresult; k++)
                lz_literal_release(got[k]);
            lz_plan_free(p);
        }
        lz_expect_free(e);
        lz_gen_args_free(f, args);
        lz_func_free(f);
    }
    lz_config_set("LAZULI_PASSES_OFF", NULL);
}
END_TEST

/* ---- what cannot be done says so ---- */

START_TEST(too_many_operands)
{
    lz_func *region = lz_func_new("r"), *f = lz_func_new("f");
    lz_val a[16], o[16], out[8];
    for (int i = 0; i < 16; i++)
        a[i] = g_param(region, LZ_F32, LZ_SCALAR);
    for (int k = 0; k < 8; k++) /* not an op per operand: each adds its neighbour */
        out[k] = g_add(region, g_add(region, a[k], a[8 + k]),
                       g_sub(region, a[8 + (k + 1) % 8], a[8 + (k + 1) % 8]));
    lz_func_set_results(region, out, 8);
    lz_attr_reduce r;
    memset(&r, 0, sizeof r);
    r.kind = LZ_ATTR_reduce;
    r.dimensions = g_dims(1, 0, 0);
    r.body = lz_region_intern(region);
    ck_assert_ptr_nonnull(r.body);
    for (int i = 0; i < 16; i++)
        o[i] = g_param(f, LZ_F32, i < 8 ? LZ_SHAPE(4) : LZ_SCALAR);
    lz_val m = lz_build(f, LZ_OP_REDUCE, G_RECORD(r), o, 16);
    for (int k = 0; k < 8; k++)
        out[k] = lz_build_result(f, m, k);
    ck_assert_int_eq(lz_func_set_results(f, out, 8), LZ_OK);
    lz_plan *p;
    ck_assert_int_eq(lz_lower(f, NULL, &p), LZ_EUNSUPPORTED);
    ck_assert_ptr_null(p);
    ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "reduce"));
    lz_func_free(f);
    lz_func_free(region);
}
END_TEST

START_TEST(failing_memory)
{
    lz_func *f = _i == 0 ? g_mlp_step(2, 4, 5, 3) : lz_gen_random(300 + (uint64_t)_i, NULL);
    lz_plan *p = lower(f, NULL);
    lz_plan_free(p);
    for (int n = 1; n < 20000; n += n < 200 ? 1 : 1 + n / 97) {
        int64_t live = lz_alloc_live_bytes_hint();
        lz_alloc_fail_at(n, false);
        lz_status s = lz_lower(f, NULL, &p);
        lz_alloc_fail_at(0, false);
        if (s == LZ_OK) {
            lz_plan_free(p);
            ck_assert_int_eq(lz_alloc_live_bytes_hint(), live);
            lz_func_free(f);
            return;
        }
        ck_assert_msg(s == LZ_EMEM, "allocation %d: %s: %s", n, lz_status_name(s),
                      lz_error_get()->message);
        ck_assert_ptr_null(p);
        if (lz_alloc_live_bytes_hint() !=
            live) { /* the vocabulary may have grown on the way: then not a second time */
            live = lz_alloc_live_bytes_hint();
            lz_alloc_fail_at(n, false);
            s = lz_lower(f, NULL, &p);
            lz_alloc_fail_at(0, false);
            if (s == LZ_OK)
                lz_plan_free(p);
            ck_assert_int_eq(lz_alloc_live_bytes_hint(), live);
        }
    }
    ck_abort_msg("never succeeds");
}
END_TEST

/* ---- loops ---- */

static lz_plan *one(lz_func *f, lz_val v)
{
    lz_func_set_results(f, &v, 1);
    lz_plan *p = lower(f, NULL);
    lz_func_free(f);
    return p;
}

START_TEST(dense_loops_become_one)
{
    lz_func *f = lz_func_new("f");
    lz_val x = g_param(f, LZ_F32, LZ_SHAPE(4, 5, 6, 7)),
           y = g_param(f, LZ_F32, LZ_SHAPE(4, 5, 6, 7));
    lz_plan *p = one(f, lz_build_ew1(f, LZ_OP_TANH, g_add(f, x, y)));
    ck_assert_int_eq(p->kernels[0]->nouter, 1);
    ck_assert_int_eq(p->kernels[0]->outer[0].v, 840);
    lz_plan_free(p);

    f = lz_func_new("f"); /* through reshapes that split and merge */
    x = g_param(f, LZ_F32, LZ_SHAPE(20, 42));
    y = g_param(f, LZ_F32, LZ_SHAPE(4, 5, 42));
    lz_shape s = LZ_SHAPE(4, 5, 42), flat = LZ_SHAPE(840);
    lz_val z = lz_build_reshape(f, lz_build_ew1(f, LZ_OP_TANH, x), &s);
    p = one(f, lz_build_reshape(f, g_add(f, z, y), &flat));
    ck_assert_int_eq(p->nstep, 1);
    ck_assert_int_eq(p->kernels[0]->nouter, 1);
    lz_plan_free(p);

    f = lz_func_new("f"); /* a transpose in the way: two loops, the stores contiguous */
    x = g_param(f, LZ_F32, LZ_SHAPE(20, 30));
    lz_ints swap = g_dims(2, 1, 0);
    p = one(f, lz_build_ew1(f, LZ_OP_TANH, lz_build_transpose(f, x, &swap)));
    ck_assert_int_eq(p->kernels[0]->nouter, 2);
    ck_assert_int_eq(p->kernels[0]->stages[0].stores[0].at.stride[1].v, 1);
    lz_plan_free(p);
}
END_TEST

/* More operands than a kernel has buffers. */
START_TEST(many_operands)
{
    lz_func *f = lz_func_new("f");
    enum { N = 150 };
    lz_val x[N], y[N];
    for (int i = 0; i < N; i++)
        x[i] = g_param(f, LZ_F32, _i ? LZ_SCALAR : LZ_SHAPE(5, 3));
    lz_val sum = x[0], dot = x[0];
    for (int i = 1; i < N; i++)
        sum = g_add(f, sum, x[i]);
    for (int i = 0; i < N; i++)
        y[i] = g_mul(f, x[i], x[(i + 7) % N]);
    for (int n = N; n > 1; n = (n + 1) / 2) /* and as a tree */
        for (int i = 0; i < n / 2; i++)
            y[i] = g_add(f, y[i], y[n - 1 - i]);
    dot = y[0];
    lz_val out[2] = {sum, dot};
    lz_func_set_results(f, out, 2);
    lz_plan *p = lower(f, NULL);
    ck_assert(p->nstep > 2 && p->nstep < 30);
    lz_plan_free(p);
    lz_func_free(f);
}
END_TEST

/* Rows added into a table: one vector of columns after the other, in order, on several threads. */
START_TEST(scattered_rows)
{
    lz_func *region = lz_func_new("r"), *f = lz_func_new("f");
    lz_val a = g_param(region, LZ_F32, LZ_SCALAR), b = g_param(region, LZ_F32, LZ_SCALAR),
           sum = g_add(region, a, b);
    lz_func_set_results(region, &sum, 1);
    lz_attr_scatter s;
    memset(&s, 0, sizeof s);
    s.kind = LZ_ATTR_scatter;
    s.update_window_dims = g_dims(1, 1, 0);
    s.inserted_window_dims = g_dims(1, 0, 0);
    s.scatter_dims_to_operand_dims = g_dims(1, 0, 0);
    s.index_vector_dim = 1;
    s.update_computation = lz_region_intern(region);
    lz_val t = g_param(f, LZ_F32, LZ_SHAPE(50, 40)), i = g_param(f, LZ_I32, LZ_SHAPE(70)),
           u = g_param(f, LZ_F32, LZ_SHAPE(70, 40));
    lz_plan *p = one(f, lz_build(f, LZ_OP_SCATTER, G_RECORD(s), (lz_val[]){t, i, u}, 3));
    ck_assert_int_eq(p->nstep, 2); /* the copy, the sums */
    const lz_kernel *k = p->kernels[p->steps[1].kernel];
    ck_assert(!k->serial && k->vec == LZ_VEC_OUTER);
    ck_assert_int_eq(k->outer[0].v, 40);
    ck_assert_int_eq(k->stages[0].ninner, 1);
    lz_plan_free(p);
    lz_func_free(region);
}
END_TEST

/* ---- large programs: work grows as they do ---- */

/* One result of n pieces. */
static void concat_of(lz_func *f, lz_val *v, uint32_t n)
{
    lz_attr_dim a = {.kind = LZ_ATTR_dim};
    for (uint32_t k = 0; k < n; k++)
        v[k] = g_param(f, LZ_F32, LZ_SHAPE(3));
    v[0] = lz_build(f, LZ_OP_CONCATENATE, G_RECORD(a), v, n);
    lz_func_set_results(f, v, 1);
}

/* n results, each of an argument that it may take over and of one product. */
static void many_results(lz_func *f, lz_val *v, uint32_t n)
{
    lz_val m = g_param(f, LZ_F32, LZ_SHAPE(8, 8));
    for (uint32_t k = 0; k < n; k++)
        v[k] = g_param(f, LZ_F32, LZ_SHAPE(8, 8));
    lz_val p = g_dot(f, m, m, 1, 0);
    for (uint32_t k = 0; k < n; k++)
        v[k] = g_add(f, v[k], p);
    lz_func_set_results(f, v, n);
}

/* A loop that carries n values, each of which is wanted and becomes the sum of two. */
static void wide_loop(lz_func *f, lz_val *v, uint32_t n)
{
    lz_func *cond = lz_func_new("cond"), *body = lz_func_new("body");
    for (uint32_t k = 0; k < n; k++) {
        (void)g_param(cond, LZ_F32, LZ_SHAPE(3));
        (void)g_param(body, LZ_F32, LZ_SHAPE(3));
    }
    for (uint32_t k = 0; k < n; k++)
        v[k] = g_add(body, k, (k + 1) % n);
    lz_func_set_results(body, v, n);
    lz_val more = lz_build_scalar(cond, LZ_BOOL, 0);
    lz_func_set_results(cond, &more, 1);
    for (uint32_t k = 0; k < n; k++)
        v[k] = g_param(f, LZ_F32, LZ_SHAPE(3));
    lz_val loop = lz_build_while(f, lz_region_intern(cond), lz_region_intern(body), v, n);
    for (uint32_t k = 0; k < n; k++)
        v[k] = lz_build_result(f, loop, k);
    lz_func_set_results(f, v, n);
    lz_func_free(cond);
    lz_func_free(body);
}

/* A loop of four rounds on x, which each makes x times w; `sums`: it carries the sum of them as
 * well. Its last result. */
static lz_val power(lz_func *f, lz_val x, lz_val w, bool sums)
{
    lz_func *round = lz_func_new("round");
    (void)g_param(round, LZ_I64, LZ_SCALAR);
    lz_val v[2] = {g_param(round, LZ_F32, LZ_SHAPE(3)),
                   sums ? g_param(round, LZ_F32, LZ_SHAPE(3)) : LZ_NOVAL};
    lz_val by = g_param(round, LZ_F32, LZ_SHAPE(3));
    v[1] = sums ? g_add(round, v[1], v[0]) : LZ_NOVAL;
    v[0] = g_mul(round, v[0], by);
    uint32_t n = sums ? 2 : 1;
    lz_func_set_results(round, v, n);
    lz_val opnd[3] = {x, sums ? x : w, w}, out[2];
    ck_assert_int_eq(lz_build_count(f, round, 4, opnd, n + 1, n, out), LZ_OK);
    lz_func_free(round);
    return out[n - 1];
}

/* Half of n loops that start from one value, and as many that carry the same as one of those and
 * another value. */
static void many_loops(lz_func *f, lz_val *v, uint32_t n)
{
    lz_val x = g_param(f, LZ_F32, LZ_SHAPE(3));
    for (uint32_t k = 0; k < n / 2; k++)
        v[k] = g_param(f, LZ_F32, LZ_SHAPE(3));
    for (uint32_t k = 0; k < n / 2; k++)
        v[n / 2 + k] = power(f, x, v[k], true);
    for (uint32_t k = 0; k < n / 2; k++)
        v[k] = power(f, x, v[k], false);
    lz_func_set_results(f, v, n / 2 * 2);
}

static uint64_t work_of(void (*build)(lz_func *f, lz_val *v, uint32_t n), uint32_t n)
{
    lz_func *f = lz_func_new("large");
    lz_val *v = malloc(n * sizeof *v);
    build(f, v, n);
    ck_assert_msg(f->status == LZ_OK, "%s", lz_error_get()->message);
    bool *donate = malloc(f->nparam);
    memset(donate, true, f->nparam);
    lz_effort = 0;
    lz_plan *p = lower(f, &(lz_lower_options){.donate = donate});
    uint64_t work = lz_effort;
    ck_assert_uint_ge(work, n);
    lz_plan_free(p);
    lz_func_free(f);
    free(donate);
    free(v);
    return work;
}

START_TEST(large_programs)
{
    static void (*const build[])(lz_func * f, lz_val * v, uint32_t n) = {concat_of, many_results,
                                                                         wide_loop, many_loops};
    uint64_t small = work_of(build[_i], 400), large = work_of(build[_i], 1600);
    ck_assert_msg(large <= 6 * small, "%d: %d steps of searches, %d for four times as much", _i,
                  (int)small, (int)large); /* four times, and the logarithm of heaps and sorting */
}
END_TEST

/* Each with the one it shares a value with, however many there are. */
START_TEST(all_loops_are_joined)
{
    enum { N = 200 };
    lz_func *f = lz_func_new("loops"), *g;
    lz_val v[N];
    many_loops(f, v, N);
    ck_assert_int_eq(f->status, LZ_OK);
    ck_assert_int_eq(lz_passes_run(f, "dce,fuse_loops", NULL, &g), LZ_OK);
    int n = 0;
    for (uint32_t i = 0; i < g->ninst; i++)
        n += lz_inst_op(&g->insts[i]) == LZ_OP_WHILE;
    ck_assert_int_eq(n, N / 2);
    lz_func_free(g);
    lz_func_free(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("lower");
    TCase *t = tcase_create("front");
    tcase_set_timeout(t, 300);
    tcase_add_test(t, the_same_every_time);
    tcase_add_loop_test(t, every_switch_off, 0, 8);
    tcase_add_test(t, too_many_operands);
    tcase_add_loop_test(t, failing_memory, 0, 4);
    tcase_add_test(t, dense_loops_become_one);
    tcase_add_loop_test(t, many_operands, 0, 2);
    tcase_add_test(t, scattered_rows);
    tcase_add_loop_test(t, large_programs, 0, 4);
    tcase_add_test(t, all_loops_are_joined);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
