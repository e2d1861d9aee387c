/* t_call_effects.c - custom calls with side effects run once per execution, in program order, on
 * every device, after every pass, through text and bytes; unused calls without side effects are
 * dropped. */
#include "backends/backend.h"
#include "ir/custom_call.h"
#include "ir/eval/eval.h"
#include "lower/pass.h"
#include "lower/plan/plan.h"
#include "suite.h"
#include <stdio.h>
#include <string.h>

#define OK(x) ck_assert_msg((x) == LZ_OK, "%s", lz_error_get()->message)

static char made[128];

/* Notes its backend_config and the first number that it gets; gives its argument when somebody
 * wants it. */
static lz_status note(const lz_ffi_call *c, void *user)
{
    size_t at = strlen(made);
    (void)user;
    ck_assert_uint_eq(c->nargs, 1);
    ck_assert_uint_le(c->nrets, 1);
    snprintf(made + at, sizeof made - at, "%s%d ", c->backend_config,
             *(const int32_t *)c->args[0].data);
    if (c->nrets)
        memcpy(c->rets[0].data, c->args[0].data, c->args[0].nbytes);
    return LZ_OK;
}

static lz_status pair(const lz_ffi_call *c, void *user)
{
    (void)user;
    ck_assert_uint_eq(c->nrets, 2);
    for (int k = 0; k < 2; k++)
        memcpy(c->rets[k].data, c->args[0].data, c->args[0].nbytes);
    strcat(made, "pair ");
    return LZ_OK;
}

static void setup(void)
{
    made[0] = '\0';
    OK(lz_ffi_table_register("note", note, NULL));
    OK(lz_ffi_table_register("pair", pair, NULL));
}

static void teardown(void)
{
    OK(lz_ffi_table_register("note", NULL, NULL));
    OK(lz_ffi_table_register("pair", NULL, NULL));
}

#define T "tensor<2xi32>"
#define UNIT " : (" T ") -> ()\n"
#define GIVES " : (" T ") -> " T "\n"
static const char text[] =
    "func.func @main(%x: " T ", %p: tensor<i1>) -> " T " {\n"
    "  %one = stablehlo.constant dense<1> : " T "\n"
    "  %n = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %i1 = stablehlo.constant dense<1> : tensor<i32>\n"
    "  %three = stablehlo.constant dense<3> : tensor<i32>\n"
    "  %y = stablehlo.add %x, %one : " T "\n"
    "  stablehlo.custom_call @note(%x) {backend_config = \"a\", has_side_effect = true}" UNIT
    "  %u = stablehlo.custom_call @note(%y) {backend_config = \"b\", has_side_effect = true, "
    "operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [dense<0> : "
    "tensor<1xindex>]}" GIVES
    /* nobody wants it and nothing else happens */
    "  %v = stablehlo.custom_call @note(%y) {backend_config = \"never\"}" GIVES
    "  %w:2 = stablehlo.while(%i = %n, %c = %y) : tensor<i32>, " T "\n"
    "  cond {\n"
    "    %0 = stablehlo.compare LT, %i, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "    stablehlo.return %0 : tensor<i1>\n"
    "  } do {\n"
    "    stablehlo.custom_call @note(%c) {api_version = 2 : i32, backend_config = \"c\"}" UNIT
    "    %0 = stablehlo.add %c, %c : " T "\n"
    "    %1 = stablehlo.add %i, %i1 : tensor<i32>\n"
    "    stablehlo.return %1, %0 : tensor<i32>, " T "\n"
    "  }\n"
    "  %q = \"stablehlo.if\"(%p) ({\n"
    "    stablehlo.custom_call @note(%x) {backend_config = \"d\"}" UNIT
    "    stablehlo.return %x : " T "\n"
    "  }, {\n"
    "    stablehlo.custom_call @note(%y) {backend_config = \"e\"}" UNIT
    "    stablehlo.return %x : " T "\n"
    "  }) : (tensor<i1>) -> " T "\n"
    "  %r:2 = \"stablehlo.custom_call\"(%y) <{call_target_name = \"pair\", has_side_effect = true, "
    "api_version = 4 : i32, backend_config = {k = 1 : i64}}> : (" T ") -> (" T ", " T ")\n"
    "  \"stablehlo.custom_call\"(%y) <{call_target_name = \"note\", backend_config = \"f\"}>" UNIT
    /* equal calls are two calls */
    "  \"stablehlo.custom_call\"(%y) <{call_target_name = \"note\", backend_config = \"f\"}>" UNIT
    "  return %y : " T "\n"
    "}\n";
static const char want[] = "a5 b6 c6 c12 c24 e6 pair f6 f6 ";

static lz_func *parse(const char *t)
{
    lz_func *f;
    OK(lz_func_parse(t, strlen(t), "call.mlir", &f));
    OK(lz_func_verify(f));
    return f;
}

static void expect_run(const lz_func *f)
{
    lz_literal *in[2], *out;
    int32_t x[2] = {5, 7};
    in[0] = lz_literal_copy_from(lz_val_type(f, 0), x);
    in[1] = lz_literal_copy_from(lz_val_type(f, 1), (uint8_t[]){0});
    made[0] = '\0';
    OK(lz_ref_run(f, in, &out));
    ck_assert_str_eq(made, want);
    ck_assert_int_eq(*(const int32_t *)out->data, 6);
    lz_literal_release(out);
    lz_literal_release(in[0]);
    lz_literal_release(in[1]);
}

START_TEST(by_the_reference)
{
    lz_func *f = parse(text), *g;
    ck_assert(f->effects);
    expect_run(f);
    g = lz_func_prune(f);
    ck_assert_ptr_nonnull(g);
    expect_run(g);
    lz_func_free(g);
    OK(lz_func_copy(f, &g));
    expect_run(g);
    lz_func_free(g);
    lz_func_free(f);
}
END_TEST

START_TEST(after_the_passes)
{
    lz_func *f = parse(text), *g;
    OK(lz_passes_run(f, "pipeline", NULL, &g));
    ck_assert(g->effects);
    expect_run(g);
    lz_func_free(g);
    lz_func_free(f);
}
END_TEST

/* Calls without results have no name in the text. */
START_TEST(text_and_bytes)
{
    lz_func *f = parse(text), *g, *h;
    lz_buf a = {0}, b = {0}, c = {0};
    lz_func_print(f, &a, 0);
    ck_assert_ptr_nonnull(strstr(
        a.data, "\n    stablehlo.custom_call @note(%arg0) {backend_config = \"a\", has_side_effect "
                "= true} : (tensor<2xi32>) -> ()\n"));
    ck_assert_ptr_nonnull(strstr(a.data, "{api_version = 4 : i32, backend_config = {k = 1 : i64}, "
                                         "has_side_effect = true}"));
    g = parse(a.data);
    lz_func_print(g, &b, 0);
    ck_assert_str_eq(a.data, b.data);
    ck_assert(lz_hash_eq(lz_func_hash(f), lz_func_hash(g)));
    lz_func_serialize(f, &c);
    OK(lz_func_deserialize(c.data, c.len, &h));
    ck_assert(h->effects && lz_hash_eq(lz_func_hash(f), lz_func_hash(h)));
    expect_run(g);
    expect_run(h);
    lz_buf_free(&a);
    lz_buf_free(&b);
    lz_buf_free(&c);
    lz_func_free(f);
    lz_func_free(g);
    lz_func_free(h);
}
END_TEST

START_TEST(in_a_plan)
{
    lz_func *f = parse(text);
    lz_plan *p, *q;
    lz_buf b = {0};
    int32_t x[2] = {5, 7}, y[2];
    OK(lz_lower(f, NULL, &p));
    lz_plan_serialize(p, &b);
    OK(lz_plan_deserialize(b.data, b.len, &q));
    for (int k = 0; k < 2; k++) {
        made[0] = '\0';
        OK(lz_plan_run(k ? q : p, (const void *[]){x, (uint8_t[]){0}}, (void *[]){y}));
        ck_assert_str_eq(made, want);
        ck_assert_int_eq(y[1], 8);
    }
    lz_buf_free(&b);
    lz_plan_free(p);
    lz_plan_free(q);
    lz_func_free(f);
}
END_TEST

static void run_exec(const lz_backend *be, lz_exec *x)
{
    lz_device_buffer *in[2], *out[1];
    lz_event *done;
    int32_t v[2] = {5, 7};
    OK(be->alloc(0, sizeof v, &in[0]));
    OK(be->alloc(0, 1, &in[1]));
    OK(be->copy_in(in[0], v, sizeof v));
    OK(be->copy_in(in[1], (uint8_t[]){0}, 1));
    made[0] = '\0';
    OK(be->execute(x, 0, in, (bool[2]){false}, false, out, &done));
    OK(lz_event_wait(done));
    lz_event_release(done);
    OK(be->copy_out(out[0], v, sizeof v));
    ck_assert_str_eq(made, want);
    ck_assert_int_eq(v[0], 6);
    lz_device_buffer_release(in[0]);
    lz_device_buffer_release(in[1]);
    lz_device_buffer_release(out[0]);
}

START_TEST(on_devices)
{
    const lz_backend *be = lz_backend_get(_i ? "ref" : "cpu");
    lz_func *f = parse(text);
    lz_exec *x;
    OK(be->init());
    OK(be->compile(0, f, &(lz_compile_options){0}, &x));
    lz_func_free(f);
    run_exec(be, x);
    run_exec(be, x);
    be->exec_free(x);
}
END_TEST

/* Nothing comes out but what happens. */
START_TEST(no_results_at_all)
{
    lz_func *f =
        parse("func.func @main(%x: " T ") {\n"
              "  stablehlo.custom_call @note(%x) {backend_config = \"g\"}" UNIT "  return\n}\n");
    lz_plan *p;
    int32_t x[2] = {-3, 0};
    OK(lz_lower(f, NULL, &p));
    OK(lz_plan_run(p, (const void *[]){x}, (void *[]){NULL}));
    ck_assert_str_eq(made, "g-3 ");
    lz_plan_free(p);
    lz_func_free(f);
}
END_TEST

/* A loop of two rounds that is written twice. in: what is beside, in the condition or in the
 * round. */
static lz_func *twice(const char *in_cond, const char *in_round)
{
    char t[4000], loop[1600];
    snprintf(loop, sizeof loop,
             "= stablehlo.while(%%i = %%n, %%c = %%x) : tensor<i64>, " T "\n"
             "  cond {\n"
             "    %%two = stablehlo.constant dense<2> : tensor<i64>\n%s"
             "    %%m = stablehlo.compare LT, %%i, %%two, SIGNED : (tensor<i64>, tensor<i64>) -> "
             "tensor<i1>\n"
             "    stablehlo.return %%m : tensor<i1>\n"
             "  } do {\n"
             "    %%one = stablehlo.constant dense<1> : tensor<i64>\n%s"
             "    %%d = stablehlo.multiply %%c, %%c : " T "\n"
             "    %%j = stablehlo.add %%i, %%one : tensor<i64>\n"
             "    stablehlo.return %%j, %%d : tensor<i64>, " T "\n"
             "  }\n",
             in_cond, in_round);
    snprintf(t, sizeof t,
             "func.func @main(%%x: " T ", %%p: tensor<i1>) -> (" T ", " T ") {\n"
             "  %%n = stablehlo.constant dense<0> : tensor<i64>\n"
             "  %%v:2 %s  %%w:2 %s  return %%v#1, %%w#1 : " T ", " T "\n}\n",
             loop, loop);
    return parse(t);
}

/* Equal loops run as often as they are written, when something happens in them, be it in a
 * branch. */
START_TEST(in_loops)
{
    static const char note_it[] =
        "    stablehlo.custom_call @note(%c) {backend_config = \"l\"}" UNIT,
                      branch[] =
                          "    %b = \"stablehlo.if\"(%p) ({\n"
                          "      stablehlo.custom_call @note(%c) {backend_config = \"l\"}" UNIT
                          "      stablehlo.return %c : " T "\n"
                          "    }, {\n"
                          "      stablehlo.return %c : " T "\n"
                          "    }) : (tensor<i1>) -> " T "\n";
    const char *what = _i & 1 ? branch : note_it;
    lz_func *f = twice(_i & 2 ? what : "", _i & 2 ? "" : what), *g;
    lz_plan *p;
    int32_t x[2] = {3, 1}, y[2][2];
    OK(lz_passes_run(f, "dce,fuse_loops", NULL, &g));
    for (int k = 0; k < 2; k++) {
        made[0] = '\0';
        OK(lz_lower(k ? g : f, NULL, &p));
        OK(lz_plan_run(p, (const void *[]){x, (uint8_t[]){1}}, (void *[]){y[0], y[1]}));
        ck_assert_str_eq(made, _i & 2 ? "l3 l9 l81 l3 l9 l81 " : "l3 l9 l3 l9 ");
        ck_assert(y[0][0] == 81 && y[1][0] == 81);
        lz_plan_free(p);
    }
    lz_func_free(g);
    lz_func_free(f);
}
END_TEST

START_TEST(wrong_texts)
{
    static const char *const bad[][2] = {
        {"stablehlo.custom_call @note(%x) {api_version = 5 : i32}" UNIT, "api_version 5"},
        {"stablehlo.custom_call @note(%x) {api_version = -1 : i32}" UNIT, "api_version -1"},
        {"stablehlo.custom_call @nobody(%x)" UNIT, "no function is registered as @nobody"},
        {"%0 = stablehlo.custom_call @note(%x)" UNIT, "1 names for 0 results"},
        {"stablehlo.custom_call @note(%x) {has_side_effect = 3}" UNIT, "t:2"},
        {"%m = stablehlo.reshape %x : (" T ") -> tensor<1x2xi32>\n"
         "  stablehlo.custom_call @note(%m) {operand_layouts = [dense<[0, 1]> : tensor<2xindex>]} "
         ": "
         "(tensor<1x2xi32>) -> ()\n",
         "operand_layouts: only arrays with the last dimension innermost"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char t[400];
        lz_func *f;
        snprintf(t, sizeof t, "func.func @main(%%x: " T ") {\n  %s  return\n}\n", bad[i][0]);
        ck_assert_int_ne(lz_func_parse(t, strlen(t), "t", &f), LZ_OK);
        ck_assert_msg(strstr(lz_error_get()->message, bad[i][1]), "%s", lz_error_get()->message);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("call_effects");
    TCase *t = tcase_create("all");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, by_the_reference);
    tcase_add_test(t, after_the_passes);
    tcase_add_test(t, text_and_bytes);
    tcase_add_test(t, in_a_plan);
    tcase_add_loop_test(t, on_devices, 0, 2);
    tcase_add_test(t, no_results_at_all);
    tcase_add_loop_test(t, in_loops, 0, 4);
    tcase_add_test(t, wrong_texts);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
