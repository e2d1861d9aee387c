/* t_custom_call.c - custom calls: the text, every device, programs from bytes, and failures that
 * travel. */
#include "backends/backend.h"
#include "base/alloc.h"
#include "ir/custom_call.h"
#include "ir/eval/eval.h"
#include "lower/plan/plan.h"
#include "suite.h"
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define OK(x) ck_assert_msg((x) == LZ_OK, "%s", lz_error_get()->message)

static atomic_int calls;
static char seen_config[64];

/* rets[0][i] = args[0][i] * user + args[1] (a scalar); rets[1]: how many elements, and the call's
 * number. */
static lz_status scale_add(const lz_ffi_call *c, void *user)
{
    ck_assert_str_eq(c->target, "my.scale_add");
    ck_assert_uint_eq(c->nargs, 2);
    ck_assert_uint_eq(c->nrets, 2);
    ck_assert_int_eq(c->args[0].dtype, LZ_F32);
    ck_assert_int_eq(c->args[1].shape.rank, 0);
    ck_assert_int_eq(c->rets[1].dtype, LZ_I64);
    const float *x = c->args[0].data, *b = c->args[1].data;
    float *y = c->rets[0].data;
    int64_t *n = c->rets[1].data, size = (int64_t)(c->args[0].nbytes / sizeof *x);
    for (int64_t i = 0; i < size; i++)
        y[i] = x[i] * *(const float *)user + *b;
    n[0] = size;
    n[1] = atomic_fetch_add(&calls, 1);
    snprintf(seen_config, sizeof seen_config, "%s", c->backend_config);
    return LZ_OK;
}

static lz_status reverse_bytes(const lz_ffi_call *c, void *user)
{
    (void)user;
    ck_assert_ptr_nonnull(c->args[0].data);
    ck_assert_ptr_nonnull(c->rets[0].data);
    for (size_t i = 0; i < c->rets[0].nbytes; i++)
        ((uint8_t *)c->rets[0].data)[i] = ((const uint8_t *)c->args[0].data)[i] ^ 0xff;
    return LZ_OK;
}

static lz_status numbers(const lz_ffi_call *c, void *user)
{
    (void)user;
    ck_assert_uint_eq(c->nargs, 0);
    for (size_t i = 0; i < c->rets[0].nbytes / 4; i++)
        ((int32_t *)c->rets[0].data)[i] = (int32_t)(3 * i + 1);
    return LZ_OK;
}

static lz_status fails(const lz_ffi_call *c, void *user)
{
    if (user)
        snprintf(c->message, LZ_FFI_MESSAGE, "the %s is out", (const char *)user);
    return LZ_EUNAVAILABLE;
}

static float factor = 3;

static void setup(void)
{
    atomic_store(&calls, 0);
    OK(lz_ffi_table_register("my.scale_add", scale_add, &factor));
    OK(lz_ffi_table_register("flip", reverse_bytes, NULL));
    OK(lz_ffi_table_register("numbers", numbers, NULL));
    OK(lz_ffi_table_register("odd name", numbers, NULL));
    OK(lz_ffi_table_register("fails", fails, (void *)"gas"));
    OK(lz_ffi_table_register("fails silently", fails, NULL));
}

static void teardown(void)
{
    static const char *const names[] = {"my.scale_add", "flip",           "numbers", "odd name",
                                        "fails",        "fails silently", "never"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        OK(lz_ffi_table_register(names[i], NULL, NULL));
}

static const char text[] =
    "func.func @main(%x: tensor<2x3xf32>, %b: tensor<f32>) -> (tensor<2x3xf32>, tensor<2xi64>, "
    "tensor<2x3xf32>, tensor<0x4xf16>, tensor<3xi32>) {\n"
    "  %d = stablehlo.add %x, %x : tensor<2x3xf32>\n"
    "  %y:2 = stablehlo.custom_call @my.scale_add(%d, %b) {backend_config = \"a\\22\\0A=1\", "
    "api_version = 2 : i32} : (tensor<2x3xf32>, tensor<f32>) -> (tensor<2x3xf32>, tensor<2xi64>)\n"
    "  %z = stablehlo.subtract %y#0, %d : tensor<2x3xf32>\n"
    "  %e = stablehlo.constant dense<> : tensor<0x4xf16>\n"
    "  %f = \"stablehlo.custom_call\"(%e) <{call_target_name = \"flip\"}> : (tensor<0x4xf16>) -> "
    "tensor<0x4xf16>\n"
    "  %n = stablehlo.custom_call @\"odd name\"() : () -> tensor<3xi32>\n"
    "  %m = stablehlo.custom_call @flip(%n) {backend_config = {k = 1 : i64, s = \"}\"}} : "
    "(tensor<3xi32>) -> tensor<3xi32>\n"
    "  return %y#0, %y#1, %z, %f, %m : tensor<2x3xf32>, tensor<2xi64>, tensor<2x3xf32>, "
    "tensor<0x4xf16>, tensor<3xi32>\n"
    "}\n";

static const float xs[6] = {0.5f, -1, 2, 3.25f, -0.125f, 1e3f}, bs[1] = {10};

static void check_results(const float *y, const int64_t *n, const float *z, const int32_t *m)
{
    for (int i = 0; i < 6; i++) {
        float d = 2 * xs[i];
        ck_assert(y[i] == d * 3 + 10);
        ck_assert(z[i] == (d * 3 + 10) - d);
    }
    ck_assert_int_eq(n[0], 6);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(m[i], ~(3 * i + 1));
    ck_assert_str_eq(seen_config, "a\"\n=1");
}

static lz_func *parse(const char *t)
{
    lz_func *f;
    OK(lz_func_parse(t, strlen(t), "call.mlir", &f));
    OK(lz_func_verify(f));
    return f;
}

static void run_exec(const lz_backend *be, lz_exec *x)
{
    lz_device_buffer *in[2], *out[5];
    lz_event *done;
    float y[6], z[6];
    int64_t n[2];
    int32_t m[3];
    OK(be->alloc(0, sizeof xs, &in[0]));
    OK(be->alloc(0, sizeof bs, &in[1]));
    OK(be->copy_in(in[0], xs, sizeof xs));
    OK(be->copy_in(in[1], bs, sizeof bs));
    OK(be->execute(x, 0, in, (bool[2]){false}, false, out, &done));
    OK(lz_event_wait(done));
    lz_event_release(done);
    OK(be->copy_out(out[0], y, sizeof y));
    OK(be->copy_out(out[1], n, sizeof n));
    OK(be->copy_out(out[2], z, sizeof z));
    OK(be->copy_out(out[4], m, sizeof m));
    check_results(y, n, z, m);
    for (int i = 0; i < 2; i++)
        lz_device_buffer_release(in[i]);
    for (int i = 0; i < 5; i++)
        lz_device_buffer_release(out[i]);
}

static void on_device(const char *name)
{
    const lz_backend *be = lz_backend_get(name);
    OK(be->init());
    lz_func *f = parse(text);
    lz_exec *x, *again;
    lz_buf b = {0};
    OK(be->compile(0, f, &(lz_compile_options){0}, &x));
    lz_func_free(f);
    int before = atomic_load(&calls);
    run_exec(be, x);
    run_exec(be, x);
    ck_assert_int_eq(atomic_load(&calls), before + 2);
    OK(be->serialize(x, &b));
    be->exec_free(x);
    OK(be->deserialize(0, b.data, b.len, &(lz_compile_options){0}, &again));
    run_exec(be, again);
    be->exec_free(again);
    lz_buf_free(&b);
}

START_TEST(runs_on_the_cpu)
{
    on_device("cpu");
}
END_TEST

START_TEST(runs_on_the_reference)
{
    on_device("ref");
}
END_TEST

START_TEST(runs_in_a_plan)
{
    lz_func *f = parse(text);
    lz_plan *p, *q;
    lz_buf b = {0}, c = {0};
    float y[6], z[6];
    int64_t n[2];
    int32_t m[3];
    char none[1];
    OK(lz_lower(f, NULL, &p));
    lz_plan_serialize(p, &b);
    OK(lz_plan_deserialize(b.data, b.len, &q));
    lz_plan_serialize(q, &c);
    ck_assert_uint_eq(b.len, c.len);
    ck_assert(memcmp(b.data, c.data, b.len) == 0);
    OK(lz_plan_run(q, (const void *[]){xs, bs}, (void *[]){y, n, z, none, m}));
    check_results(y, n, z, m);
    for (size_t cut = 0; cut < b.len; cut += 7) {
        lz_plan *bad;
        ck_assert_int_ne(lz_plan_deserialize(b.data, cut, &bad), LZ_OK);
    }
    lz_buf_free(&b);
    lz_buf_free(&c);
    lz_plan_free(p);
    lz_plan_free(q);
    lz_func_free(f);
}
END_TEST

/* Calls in the body of a loop, and two equal ones, of which each is made. */
START_TEST(in_loops_and_twice)
{
    static const char loop[] =
        "func.func @main(%x: tensor<2xf32>, %b: tensor<f32>) -> (tensor<2xf32>, tensor<2xi64>) {\n"
        "  %c0 = stablehlo.constant dense<0> : tensor<i32>\n"
        "  %c1 = stablehlo.constant dense<1> : tensor<i32>\n"
        "  %c4 = stablehlo.constant dense<4> : tensor<i32>\n"
        "  %r:2 = stablehlo.while(%i = %c0, %v = %x) : tensor<i32>, tensor<2xf32>\n"
        "  cond {\n"
        "    %0 = stablehlo.compare LT, %i, %c4, SIGNED : (tensor<i32>, tensor<i32>) -> "
        "tensor<i1>\n"
        "    stablehlo.return %0 : tensor<i1>\n"
        "  } do {\n"
        "    %0:2 = stablehlo.custom_call @my.scale_add(%v, %b) : (tensor<2xf32>, tensor<f32>) -> "
        "(tensor<2xf32>, tensor<2xi64>)\n"
        "    %1 = stablehlo.add %i, %c1 : tensor<i32>\n"
        "    stablehlo.return %1, %0#0 : tensor<i32>, tensor<2xf32>\n"
        "  }\n"
        "  %p:2 = stablehlo.custom_call @my.scale_add(%x, %b) : (tensor<2xf32>, tensor<f32>) -> "
        "(tensor<2xf32>, tensor<2xi64>)\n"
        "  %q:2 = stablehlo.custom_call @my.scale_add(%x, %b) : (tensor<2xf32>, tensor<f32>) -> "
        "(tensor<2xf32>, tensor<2xi64>)\n"
        "  %s = stablehlo.subtract %p#1, %q#1 : tensor<2xi64>\n"
        "  return %r#1, %s : tensor<2xf32>, tensor<2xi64>\n"
        "}\n";
    lz_func *f = parse(loop);
    lz_plan *p;
    float x[2] = {1, -2}, b = 0.5f, y[2];
    int64_t s[2];
    OK(lz_lower(f, NULL, &p));
    OK(lz_plan_run(p, (const void *[]){x, &b}, (void *[]){y, s}));
    for (int k = 0; k < 2; k++) {
        float want = x[k];
        for (int i = 0; i < 4; i++)
            want = want * 3 + 0.5f;
        ck_assert(y[k] == want);
    }
    ck_assert_int_eq(atomic_load(&calls), 6);
    ck_assert(s[0] == 0 && (s[1] == 1 || s[1] == -1));
    lz_plan_free(p);
    lz_func_free(f);
}
END_TEST

/* The printed text is read as the same function; a stored function keeps the call. */
START_TEST(text_and_bytes)
{
    lz_func *f = parse(text), *g, *h;
    lz_buf a = {0}, b = {0}, c = {0};
    lz_func_print(f, &a, 0);
    ck_assert_ptr_nonnull(strstr(lz_buf_str(&a), "custom_call @my.scale_add("));
    ck_assert_ptr_nonnull(strstr(lz_buf_str(&a), "backend_config = \"a\\\"\\0A=1\""));
    ck_assert_ptr_nonnull(strstr(lz_buf_str(&a), "@\"odd name\"()"));
    g = parse(lz_buf_str(&a));
    lz_func_print(g, &b, 0);
    ck_assert_str_eq(lz_buf_str(&a), lz_buf_str(&b));
    ck_assert(lz_hash_eq(lz_func_hash(f), lz_func_hash(g)));
    lz_func_serialize(f, &c);
    OK(lz_func_deserialize(c.data, c.len, &h));
    ck_assert(lz_hash_eq(lz_func_hash(f), lz_func_hash(h)));
    lz_buf_free(&a);
    lz_buf_free(&b);
    lz_buf_free(&c);
    lz_func_free(f);
    lz_func_free(g);
    lz_func_free(h);
}
END_TEST

/* Another name, another configuration, other results: another function. */
START_TEST(hash_sees_everything)
{
    static const char *const variants[] = {
        "@numbers() : () -> tensor<3xi32>",
        "@\"odd name\"() : () -> tensor<3xi32>",
        "@numbers() {backend_config = \"x\"} : () -> tensor<3xi32>",
        "@numbers() {backend_config = \"y\"} : () -> tensor<3xi32>",
        "@numbers() : () -> tensor<3xui32>",
    };
    enum { N = sizeof variants / sizeof *variants };
    lz_hash h[N];
    for (int i = 0; i < N; i++) {
        char t[300];
        const char *type = strrchr(variants[i], ' ') + 1;
        snprintf(
            t, sizeof t,
            "func.func @main() -> %s {\n  %%0 = stablehlo.custom_call %s\n  return %%0 : %s\n}",
            type, variants[i], type);
        lz_func *f = parse(t);
        h[i] = lz_func_hash(f);
        lz_func_free(f);
        for (int j = 0; j < i; j++)
            ck_assert(!lz_hash_eq(h[i], h[j]));
    }
}
END_TEST

static lz_status status_of(const char *device, const char *call, char *message, size_t n)
{
    char t[400];
    const lz_backend *be = lz_backend_get(device);
    lz_exec *x;
    lz_event *done;
    lz_device_buffer *out[1];
    snprintf(t, sizeof t,
             "func.func @main() -> tensor<3xi32> {\n  %%0 = stablehlo.custom_call %s : () -> "
             "tensor<3xi32>\n  return %%0 : tensor<3xi32>\n}",
             call);
    OK(be->init());
    lz_func *f = parse(t);
    OK(be->compile(0, f, &(lz_compile_options){0}, &x));
    OK(be->execute(x, 0, NULL, NULL, true, out, &done));
    lz_status s = lz_event_wait(done);
    snprintf(message, n, "%s", lz_error_get()->message);
    lz_event_release(done);
    lz_device_buffer_release(out[0]);
    be->exec_free(x);
    lz_func_free(f);
    return s;
}

START_TEST(failures_travel)
{
    static const char *const devices[] = {"cpu", "ref"};
    char m[512];
    for (int d = 0; d < 2; d++) {
        ck_assert_int_eq(status_of(devices[d], "@fails()", m, sizeof m), LZ_EUNAVAILABLE);
        ck_assert_ptr_nonnull(strstr(m, "custom_call @fails: the gas is out"));
        ck_assert_int_eq(status_of(devices[d], "@\"fails silently\"()", m, sizeof m),
                         LZ_EUNAVAILABLE);
        ck_assert_ptr_nonnull(strstr(m, "fails silently: "));
        OK(status_of(devices[d], "@numbers()", m, sizeof m));
    }
}
END_TEST

START_TEST(unknown_targets)
{
    lz_func *f;
    static const char t[] = "func.func @main() -> tensor<3xi32> {\n  %0 = stablehlo.custom_call "
                            "@never() : () -> tensor<3xi32>\n  return %0 : tensor<3xi32>\n}";
    ck_assert_int_eq(lz_func_parse(t, strlen(t), "c.mlir", &f), LZ_EUNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(lz_error_get()->message,
                                 "c.mlir:2:8: custom_call: no function is registered as @never"));
    OK(lz_ffi_table_register("never", numbers, NULL));
    f = parse(t);
    lz_plan *p;
    lz_buf b = {0};
    OK(lz_lower(f, NULL, &p));
    lz_plan_serialize(p, &b);
    OK(lz_ffi_table_register("never", NULL, NULL));
    int32_t r[3];
    const lz_backend *be = lz_backend_get("cpu");
    lz_exec *x = NULL;
    OK(be->init());
    ck_assert_int_eq(lz_plan_run(p, NULL, (void *[]){r}), LZ_ENOENT);
    ck_assert_int_eq(be->deserialize(0, b.data, b.len, &(lz_compile_options){0}, &x), LZ_ENOENT);
    ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "@never"));
    lz_literal *out[1];
    ck_assert_int_eq(lz_ref_run(f, NULL, out), LZ_ENOENT);
    lz_buf_free(&b);
    lz_plan_free(p);
    lz_func_free(f);
}
END_TEST

START_TEST(registering)
{
    lz_ffi_entry e;
    ck_assert_int_eq(lz_ffi_table_register(NULL, numbers, NULL), LZ_EINVAL);
    ck_assert_int_eq(lz_ffi_table_register("", numbers, NULL), LZ_EINVAL);
    OK(lz_ffi_table_register("numbers", fails, &factor));
    OK(lz_ffi_table_find("numbers", &e));
    ck_assert(e.handler == fails && e.user == &factor);
    ck_assert_int_eq(lz_ffi_table_find("Numbers", &e), LZ_ENOENT);
    static const char no_result[] =
        "func.func @main() {\n  stablehlo.custom_call @numbers() : () -> ()\n  return\n}";
    lz_func *f;
    OK(lz_func_parse(no_result, strlen(no_result), "c.mlir", &f)); /* t_call_effects.c */
    ck_assert(f->effects);
    lz_func_free(f);
}
END_TEST

/* What frontends write for one device, and for operations of the table. */
START_TEST(well_known)
{
    static const char t[] =
        "func.func @main(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x2xf32>, "
        "tensor<2x2xi32>, tensor<2x1xf32>, tensor<2x1xi32>) {\n"
        "  %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = \"{replicated}\"} : "
        "(tensor<2x4xf32>) -> tensor<2x4xf32>\n"
        "  %1 = stablehlo.custom_call @annotate_device_placement(%0) {has_side_effect = true, "
        "mhlo.frontend_attributes = {_xla_buffer_placement = \"device\"}} : (tensor<2x4xf32>) -> "
        "tensor<2x4xf32>\n"
        "  %2:2 = stablehlo.custom_call @mhlo.topk(%1) {mhlo.attributes = {k = 2 : i64, largest = "
        "true}, mhlo.version = 1 : i64} : (tensor<2x4xf32>) -> (tensor<2x2xf32>, "
        "tensor<2x2xi32>)\n"
        "  %3:2 = stablehlo.custom_call @mhlo.topk(%1) {mhlo.attributes = {k = 1 : i64, largest = "
        "false}} : (tensor<2x4xf32>) -> (tensor<2x1xf32>, tensor<2x1xi32>)\n"
        "  return %1, %2#0, %2#1, %3#0, %3#1 : tensor<2x4xf32>, tensor<2x2xf32>, tensor<2x2xi32>, "
        "tensor<2x1xf32>, tensor<2x1xi32>\n}";
    static const float x[8] = {3, -7, 9, 4, 0.5f, 0.25f, -2, 8};
    static const float large[4] = {9, 4, 8, 0.5f}, small[2] = {-7, -2};
    static const int32_t at[4] = {2, 3, 3, 0}, low[2] = {1, 2};
    float same[8], v[4], w[2];
    int32_t i[4], j[2];
    lz_func *f = parse(t);
    lz_plan *p;
    OK(lz_lower(f, NULL, &p));
    OK(lz_plan_run(p, (const void *[]){x}, (void *[]){same, v, i, w, j}));
    ck_assert(memcmp(same, x, sizeof x) == 0 && memcmp(v, large, sizeof v) == 0);
    ck_assert(memcmp(i, at, sizeof i) == 0 && memcmp(w, small, sizeof w) == 0);
    ck_assert(memcmp(j, low, sizeof j) == 0);
    lz_plan_free(p);
    lz_func_free(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("custom_call");
    TCase *t = tcase_create("all");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, runs_on_the_cpu);
    tcase_add_test(t, runs_on_the_reference);
    tcase_add_test(t, runs_in_a_plan);
    tcase_add_test(t, in_loops_and_twice);
    tcase_add_test(t, text_and_bytes);
    tcase_add_test(t, hash_sees_everything);
    tcase_add_test(t, failures_travel);
    tcase_add_test(t, unknown_targets);
    tcase_add_test(t, registering);
    tcase_add_test(t, well_known);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
