/* t_stablehlo.c - StableHLO text called from C: the programs of test/hlo give JAX's results,
 * gradients go through a call, and what is wrong is named. */
#include "../runtime/rt.h"
#include "base/text.h"

/* ---- JAX's programs ---- */

static lz_stablehlo *read_program(const char *path)
{
    lz_array text;
    OK(lz_bytes_read(path, &text));
    lz_stablehlo *p = lz_stablehlo_parse(text.data, text.nbytes, path);
    lz_array_free(&text);
    return p;
}

static bool close_to(double got, double want, double tol)
{
    return got == want || (isnan(got) && isnan(want)) || fabs(got - want) <= tol * (1 + fabs(want));
}

/* Compares as f64; complex numbers as pairs. */
static void compare(const char *name, int k, lz_tensor *got, lz_array *file, double tol)
{
    lz_tensor *want = lz_array_tensor(file);
    bool complex = lz_dtype_of(got) == LZ_C64 || lz_dtype_of(got) == LZ_C128;
    ck_assert_msg(lz_dtype_of(got) == lz_dtype_of(want), "%s: output %d is %s", name, k,
                  lz_dtype_name(lz_dtype_of(got)));
    got = lz_to(complex ? lz_view_as_real(got) : got, LZ_F64);
    want = lz_to(complex ? lz_view_as_real(want) : want, LZ_F64);
    size_t n = (size_t)lz_numel(got);
    ck_assert_uint_eq(n, (size_t)lz_numel(want));
    double *a = calloc(n + 1, sizeof *a), *b = calloc(n + 1, sizeof *b);
    OK(lz_to_host(got, a, n * sizeof *a));
    OK(lz_to_host(want, b, n * sizeof *b));
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(close_to(a[i], b[i], tol), "%s: output %d, element %zu is %.9g, not %.9g",
                      name, k, i, a[i], b[i]);
    free(a);
    free(b);
}

static void run_case(const char *name, double tol)
{
    char path[256];
    lz_tensor *in[64], *out[64];
    lz_array a;
    snprintf(path, sizeof path, "test/hlo/%s/prog.mlir", name);
    lz_stablehlo *p = read_program(path);
    ck_assert_msg(p != NULL, "%s", lz_last_error_text());
    int nin = lz_stablehlo_num_inputs(p), nout = lz_stablehlo_num_outputs(p);
    ck_assert(nin >= 0 && nin <= 64 && nout > 0 && nout <= 64);
    lz_scope_begin();
    for (int i = 0; i < nin; i++) {
        snprintf(path, sizeof path, "test/hlo/%s/in%d.npy", name, i);
        OK(lz_npy_read(path, &a));
        in[i] = lz_array_tensor(&a);
    }
    OK(lz_stablehlo_call(p, in, nin, out, nout));
    lz_stablehlo_free(p); /* what was recorded stays */
    for (int k = 0; k < nout; k++) {
        snprintf(path, sizeof path, "test/hlo/%s/out%d.npy", name, k);
        OK(lz_npy_read(path, &a));
        compare(name, k, out[k], &a, tol);
    }
    lz_scope_end();
}

START_TEST(jax_programs_give_jax_results)
{
    FILE *f = fopen("test/hlo/cases.txt", "r");
    char name[128], number[32];
    double tol;
    int n = 0;
    ck_assert(f != NULL);
    rt_use(rt_devices[_i]);
    for (; fscanf(f, "%127s %31s", name, number) == 2; n++) {
        ck_assert(lz_text_f64(number, strlen(number), &tol));
        if (_i == 0 || n % 8 == 0) /* compiled ones are test/api/hlo.sh's */
            run_case(name, tol + 1e-6);
    }
    ck_assert_int_ge(n, 60);
    fclose(f);
}
END_TEST

/* ---- calls among other operations ---- */

static lz_stablehlo *parse(const char *body)
{
    static char text[8192];
    snprintf(text, sizeof text, "module @m {\n%s\n}\n", body);
    return lz_stablehlo_parse(text, strlen(text), "m.mlir");
}

/* x * sin(x) + c with a constant too large to be recorded; also its input, and one result twice. */
static const char waves[] =
    "func.func public @main(%x: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, "
    "tensor<5xf32>) {\n"
    "  %c = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>\n"
    "  %s = stablehlo.sine %x : tensor<5xf32>\n"
    "  %p = stablehlo.multiply %x, %s : tensor<5xf32>\n"
    "  %r = stablehlo.add %p, %c : tensor<5xf32>\n"
    "  return %r, %x, %r, %c : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>\n"
    "}";
static const float at[5] = {0.5f, -1.25f, 3, -0.0f, 2};

START_TEST(a_call_is_recorded_like_any_operation)
{
    rt_use(rt_devices[_i]);
    lz_stablehlo *p = parse(waves);
    ck_assert_msg(p != NULL, "%s", lz_last_error_text());
    int64_t compiled = 0;
    for (int round = 0; round < 3; round++) {
        lz_scope_begin();
        lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(5), at), *out[4], *twice, *g, *gg;
        twice = lz_mul_scalar(x, 2);
        OK(lz_stablehlo_call(p, &twice, 1, out, 4));
        lz_tensor *loss = lz_sum(lz_mul(out[0], out[2]));
        OK(lz_grad(loss, &x, 1, &g));
        OK(lz_grad(lz_sum(g), &x, 1, &gg));
        lz_tensor *all[] = {out[0], out[1], out[3], g, gg};
        OK(lz_sync(all, 5, true));
        float got[5][5];
        for (int k = 0; k < 5; k++)
            OK(lz_to_host(all[k], got[k], sizeof got[k]));
        for (int i = 0; i < 5; i++) {
            double u = 2 * (double)at[i], r = u * sin(u) + i + 1, d = sin(u) + u * cos(u),
                   dd = 2 * cos(u) - u * sin(u);
            const double want[5] = {r, u, i + 1, 4 * r * d, 8 * (d * d + r * dd)};
            for (int k = 0; k < 5; k++)
                ck_assert_msg(fabs((double)got[k][i] - want[k]) <= 1e-4 * (1 + fabs(want[k])),
                              "value %d of element %d: %g, not %g", k, i, (double)got[k][i],
                              want[k]);
        }
        lz_scope_end();
        compiled = round ? compiled : lz_counter_value("UncachedCompile");
    }
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), compiled);
    lz_stablehlo_free(p);
}
END_TEST

static void through(lz_tensor *const *in, lz_tensor **out, void *user)
{
    lz_tensor *r[4];
    (void)lz_stablehlo_call(user, in, 1, r, 4);
    out[0] = lz_neg(r[0]);
}

START_TEST(a_call_inside_a_function)
{
    rt_use(rt_devices[_i]);
    lz_stablehlo *p = parse(waves);
    lz_function *f;
    lz_scope_begin();
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(5), at), *y;
    OK(lz_function_trace(through, p, &x, 1, 1, &f));
    lz_stablehlo_free(p); /* the function keeps what it needs */
    OK(lz_function_call(f, &x, 1, &y, 1));
    float got[5];
    OK(lz_to_host(y, got, sizeof got));
    for (int i = 0; i < 5; i++)
        ck_assert(fabsf(got[i] + at[i] * sinf(at[i]) + (float)i + 1) < 1e-5f);
    lz_function_free(f);
    lz_scope_end();
}
END_TEST

/* A program without inputs runs on the thread's device; numbers of the program fit where they are
 * inputs. */
START_TEST(inputs_may_be_none_or_numbers)
{
    rt_use(rt_devices[_i]);
    lz_scope_begin();
    lz_tensor *out, *in[2] = {lz_scalar(LZ_F32, 3.5), lz_scalar(LZ_F32, 0)};
    lz_stablehlo *p = parse("func.func public @main() -> tensor<4xi32> {\n"
                            "  %i = stablehlo.iota dim = 0 : tensor<4xi32>\n"
                            "  return %i : tensor<4xi32>\n}");
    ck_assert_msg(p != NULL, "%s", lz_last_error_text());
    ck_assert_int_eq(lz_stablehlo_num_inputs(p), 0);
    OK(lz_stablehlo_call(p, NULL, 0, &out, 1));
    ck_assert(lz_item(lz_sum(out)) == 6);
    lz_stablehlo_free(p);
    p = parse("func.func @main(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {\n"
              "  %0 = stablehlo.subtract %a, %b : tensor<f32>\n  return %0 : tensor<f32>\n}");
    OK(lz_stablehlo_call(p, in, 2, &out, 1));
    ck_assert(lz_item(out) == 3.5);
    lz_stablehlo_free(p);
    lz_scope_end();
}
END_TEST

/* What a program does beside its results happens when one of them is asked for: once, in the order
 * of its text. */
static char noted[64];
static lz_status note(const lz_ffi_call *c, void *user)
{
    size_t end = strlen(noted);
    (void)user;
    lz_snprintf(noted + end, sizeof noted - end, "%s%g ", c->backend_config,
                *(const float *)c->args[0].data);
    for (int i = 0; c->nrets && i < 2; i++)
        ((float *)c->rets[0].data)[i] = ((const float *)c->args[0].data)[i] + 1;
    return LZ_OK;
}

/* Results are kept, whatever is asked for first: nothing happens twice. A program may have none. */
START_TEST(side_effects_happen_once)
{
    static const char text[] =
        "func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {\n"
        "  %y = stablehlo.custom_call @note(%x) {backend_config = \"a\", has_side_effect = true} : "
        "(tensor<2xf32>) -> tensor<2xf32>\n"
        "  %z = stablehlo.add %y, %y : tensor<2xf32>\n"
        "  return %z, %y : tensor<2xf32>, tensor<2xf32>\n}\n",
                      none[] = "func.func @main(%x: tensor<2xf32>) {\n"
                               "  stablehlo.custom_call @note(%x) {backend_config = \"b\"} : "
                               "(tensor<2xf32>) -> ()\n  return\n}\n";
    float v[2] = {1.5f, 2};
    rt_use(rt_devices[_i % 2]);
    lz_scope_begin();
    noted[0] = '\0';
    OK(lz_ffi_register("note", note, NULL));
    lz_stablehlo *p = parse(text), *q = parse(none);
    ck_assert(p && q);
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(2), v), *y[2];
    OK(lz_stablehlo_call(p, &x, 1, y, 2));
    if (_i / 2) {
        (void)lz_retain(y[0]);
        (void)lz_retain(y[1]);
        OK(lz_mark_step());
    }
    OK(lz_to_host(y[0], v, sizeof v));
    ck_assert(v[0] == 5 && v[1] == 6);
    OK(lz_to_host(y[1], v, sizeof v));
    ck_assert(v[0] == 2.5f && v[1] == 3);
    ck_assert_str_eq(noted, "a1.5 ");
    OK(lz_stablehlo_call(q, &x, 1, NULL, 0));
    OK(lz_mark_step());
    OK(lz_wait_device_ops());
    ck_assert_str_eq(noted, "a1.5 b1.5 ");
    for (int i = 0; _i / 2 && i < 2; i++)
        lz_release(y[i]);
    lz_stablehlo_free(p);
    lz_stablehlo_free(q);
    lz_scope_end();
    OK(lz_ffi_register("note", NULL, NULL));
}
END_TEST

START_TEST(side_effects)
{
    static const char text[] =
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
        "  stablehlo.custom_call @note(%x) {backend_config = \"a\"} : (tensor<2xf32>) -> ()\n"
        "  %y = stablehlo.add %x, %x : tensor<2xf32>\n"
        "  stablehlo.custom_call @note(%y) {backend_config = \"b\"} : (tensor<2xf32>) -> ()\n"
        "  return %y : tensor<2xf32>\n}\n";
    float v[2] = {1.5f, 2};
    rt_use(rt_devices[_i]);
    lz_scope_begin();
    noted[0] = '\0';
    OK(lz_ffi_register("note", note, NULL));
    lz_stablehlo *p = lz_stablehlo_parse(text, strlen(text), "text");
    ck_assert_ptr_nonnull(p);
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(2), v), *y;
    OK(lz_stablehlo_call(p, &x, 1, &y, 1));
    OK(lz_to_host(lz_add(y, y), v, sizeof v));
    ck_assert(v[0] == 6 && v[1] == 8);
    ck_assert_str_eq(noted, "a1.5 b3 ");
    lz_stablehlo_free(p);
    lz_scope_end();
    OK(lz_ffi_register("note", NULL, NULL));
}
END_TEST

/* ---- errors ---- */

START_TEST(what_is_wrong_is_named)
{
    rt_use("REF");
    const struct {
        const char *text, *says;
    } bad[] = {
        {"", "m.mlir:1:1"},
        {"func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  %0 = stablehlo.sinus %x : "
         "tensor<2xf32>\n  return %0 : tensor<2xf32>\n}",
         "m.mlir:2:8"},
        {"func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %y : tensor<2xf32>\n}",
         "m.mlir:2:11"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_ptr_null(lz_stablehlo_parse(bad[i].text, strlen(bad[i].text), "m.mlir"));
        ck_assert_msg(lz_last_error(NULL) == (i == 1 ? LZ_EUNSUPPORTED : LZ_EPARSE), "%s",
                      lz_last_error_text());
        ck_assert_msg(strstr(lz_last_error_text(), bad[i].says) != NULL, "%s",
                      lz_last_error_text());
        ck_assert(strstr(lz_last_error_text(), "lz_stablehlo_parse") != NULL);
    }
    static const char two[] =
        "func.func public @one(%x: tensor<2xf32>) -> tensor<2xf32> {\n return %x : "
        "tensor<2xf32>\n}\n"
        "func.func public @pair(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {\n return %x, %x : "
        "tensor<f32>, tensor<f32>\n}\n";
    ck_assert_ptr_null(lz_stablehlo_parse(two, strlen(two), "two"));
    ck_assert_ptr_null(lz_stablehlo_parse(two, strlen(two), "two", .entry = "three"));
    ck_assert_msg(strstr(lz_last_error_text(), "three") != NULL, "%s", lz_last_error_text());
    lz_stablehlo *pair = lz_stablehlo_parse(two, strlen(two), "two", .entry = "pair");
    ck_assert_int_eq(lz_stablehlo_num_outputs(pair), 2);
    lz_stablehlo_free(pair);
    ck_assert_ptr_null(lz_stablehlo_parse(NULL, 0, NULL));
    ck_assert_int_eq(lz_last_error(NULL), LZ_ENULL);
    lz_stablehlo *p = parse(waves);
    lz_scope_begin();
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(5), at), *out[5], *y;
    FAILS(lz_stablehlo_call(NULL, &x, 1, out, 4), LZ_ENULL, "the program is NULL");
    ck_assert_int_eq(lz_status_of(out[3]), LZ_ENULL);
    FAILS(lz_stablehlo_call(p, NULL, 1, out, 4), LZ_ENULL, "in is NULL");
    FAILS(lz_stablehlo_call(p, &x, 1, NULL, 4), LZ_ENULL, "out is NULL");
    FAILS(lz_stablehlo_call(p, &x, 1, out, 3), LZ_EINVAL, "1 inputs and 3 outputs");
    FAILS(lz_stablehlo_call(p, &x, 2, out, 4), LZ_EINVAL, "the program has 1 and 4");
    FAILS(lz_stablehlo_call(p, &x, -1, out, -1), LZ_EINVAL, "-1 inputs");
    y = lz_to(x, LZ_F64);
    FAILS(lz_stablehlo_call(p, &y, 1, out, 4), LZ_EDTYPE, "in[0] is f64[5]");
    y = lz_reshape(x, LZ_SHAPE(1, 5));
    FAILS(lz_stablehlo_call(p, &y, 1, out, 4), LZ_ESHAPE, "the program takes f32[5]");
    ck_assert_int_eq(lz_status_of(lz_add(out[1], x)), LZ_ESHAPE);
    y = NULL;
    FAILS(lz_stablehlo_call(p, &y, 1, out, 4), LZ_ENULL, "in[0] is NULL");
    y = lz_matmul(x, NULL);
    ck_assert_int_eq(lz_stablehlo_call(p, &y, 1, out, 4), LZ_ENULL);
    lz_dtype d;
    lz_shape s;
    OK(lz_stablehlo_input(p, 0, &d, &s));
    ck_assert(d == LZ_F32 && s.rank == 1 && s.dims[0] == 5);
    OK(lz_stablehlo_output(p, 3, NULL, NULL));
    FAILS(lz_stablehlo_input(p, 1, &d, &s), LZ_ERANGE, "number 1 of 1");
    FAILS(lz_stablehlo_output(p, -1, &d, &s), LZ_ERANGE, "number -1 of 4");
    FAILS(lz_stablehlo_output(NULL, 0, &d, &s), LZ_ENULL, "NULL");
    ck_assert_int_eq(lz_stablehlo_num_inputs(NULL), -1);
    ck_assert_int_eq(lz_stablehlo_num_outputs(NULL), -1);
    lz_scope_end();
    lz_stablehlo_free(p);
    lz_stablehlo_free(NULL);
}
END_TEST

/* The n-th allocation fails: an error, and no memory lost (the sanitizers say). */
START_TEST(memory_runs_out)
{
    rt_use("REF");
    lz_scope_begin();
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(5), at), *out[4];
    OK(lz_sync(&x, 1, true));
    bool done = false;
    for (uint64_t n = 1; !done; n++) {
        lz_alloc_fail_at((int64_t)n, false);
        lz_stablehlo *p = parse(waves);
        lz_status s = p ? lz_stablehlo_call(p, &x, 1, out, 4) : lz_last_error(NULL);
        lz_alloc_fail_at(0, false);
        ck_assert_msg(s == LZ_OK || s == LZ_EMEM || s == LZ_EDEVMEM, "%s", lz_last_error_text());
        done = s == LZ_OK;
        lz_stablehlo_free(p);
        ck_assert_uint_lt(n, 5000);
    }
    lz_scope_end();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("stablehlo");
    TCase *t = tcase_create("stablehlo");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, jax_programs_give_jax_results, 0, 2);
    tcase_add_loop_test(t, a_call_is_recorded_like_any_operation, 0, 2);
    tcase_add_loop_test(t, a_call_inside_a_function, 0, 2);
    tcase_add_loop_test(t, inputs_may_be_none_or_numbers, 0, 2);
    tcase_add_loop_test(t, side_effects, 0, 2);
    tcase_add_loop_test(t, side_effects_happen_once, 0, 4);
    tcase_add_test(t, what_is_wrong_is_named);
    tcase_add_test(t, memory_runs_out);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
