/* t_generic.c - modules, functions and meshes in MLIR's generic form are those of the pretty form;
 * what is wrong with one is said with its place. */
#include "ir/module.h"
#include "suite.h"
#include <string.h>

#define T "tensor<8x4xf32>"
/* pretty, generic */
static const char *const same[][2] = {
    {"module @\"a-b\" {\n  func.func @main(%a: " T ") -> " T " {\n    return %a : " T "\n  }\n}\n",
     "\"builtin.module\"() <{sym_name = \"a-b\"}> ({\n"
     "  \"func.func\"() <{function_type = (" T ") -> " T ", sym_name = \"main\"}> ({\n"
     "  ^bb0(%a: " T "):\n    \"func.return\"(%a) : (" T ") -> ()\n  }) : () -> ()\n"
     "}) : () -> ()\n"},
    {"module {\n  func.func public @f() -> (tensor<f32>, tensor<i32>) {\n"
     "    %0:2 = call @g() : () -> (tensor<f32>, tensor<i32>)\n"
     "    return %0#0, %0#1 : tensor<f32>, tensor<i32>\n  }\n"
     "  func.func private @g() -> (tensor<f32>, tensor<i32>) {\n"
     "    %0 = stablehlo.constant dense<1.0> : tensor<f32>\n"
     "    %1 = stablehlo.constant dense<2> : tensor<i32>\n"
     "    return %0, %1 : tensor<f32>, tensor<i32>\n  }\n}\n",
     "\"builtin.module\"() ({\n"
     "  \"func.func\"() <{function_type = () -> (tensor<f32>, tensor<i32>), sym_name = \"f\","
     " sym_visibility = \"public\"}> ({\n"
     "    %0:2 = \"func.call\"() <{callee = @g}> : () -> (tensor<f32>, tensor<i32>)\n"
     "    \"func.return\"(%0#0, %0#1) : (tensor<f32>, tensor<i32>) -> ()\n"
     "  }) {some.attribute} : () -> () loc(#loc)\n"
     "  \"func.func\"() <{function_type = () -> (tensor<f32>, tensor<i32>), sym_name = \"g\","
     " sym_visibility = \"private\"}> ({\n"
     "    %0 = \"stablehlo.constant\"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>\n"
     "    %1 = \"stablehlo.constant\"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>\n"
     "    \"func.return\"(%0, %1) : (tensor<f32>, tensor<i32>) -> ()\n  }) : () -> ()\n"
     "}) {mhlo.num_partitions = 1 : i32} : () -> () loc(#loc)\n#loc = loc(unknown)\n"},
    {"module attributes {mhlo.num_partitions = 8 : i32} {\n"
     "  sdy.mesh @mesh = <[\"x\"=2, \"y\"=4]>\n"
     "  func.func @main(%a: " T " {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>}, %b: " T
     ") -> (" T " {sdy.sharding = #sdy.sharding<@mesh, [{\"y\"}, {}]>}, " T ") {\n"
     "    %0 = stablehlo.add %a, %b : " T "\n"
     "    sdy.sharding_group %0 group_id = 0 : " T "\n"
     "    %1 = stablehlo.tanh %0 : " T "\n"
     "    return %0, %1 : " T ", " T "\n  }\n}\n",
     "\"builtin.module\"() ({\n"
     "  \"sdy.mesh\"() <{mesh = #sdy.mesh<[\"x\"=2, \"y\"=4]>, sym_name = \"mesh\"}> : () -> ()\n"
     "  \"func.func\"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>}, {}],"
     " function_type = (" T ", " T ") -> (" T ", " T
     "), res_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{\"y\"}, {}]>}, {}],"
     " sym_name = \"main\"}> ({\n"
     "  ^bb0(%a: " T ", %b: " T "):\n"
     "    %0 = \"stablehlo.add\"(%a, %b) : (" T ", " T ") -> " T "\n"
     "    \"sdy.sharding_group\"(%0) <{group_id = 0 : i64}> : (" T ") -> ()\n"
     "    %1 = \"stablehlo.tanh\"(%0) : (" T ") -> " T "\n"
     "    \"func.return\"(%0, %1) : (" T ", " T ") -> ()\n  }) : () -> ()\n"
     "}) {mhlo.num_partitions = 8 : i32} : () -> ()\n"},
    /* of the operations: what MLIR writes that it does not read, and bytes of booleans */
    {"func.func @main(%a: tensor<f32>) -> (tensor<f32>, tensor<4xi1>) {\n"
     "  %0 = stablehlo.dynamic_slice %a, , sizes = [] : (tensor<f32>) -> tensor<f32>\n"
     "  %1 = stablehlo.constant dense<[true, false, true, true]> : tensor<4xi1>\n"
     "  return %0, %1 : tensor<f32>, tensor<4xi1>\n}\n",
     "func.func @main(%a: tensor<f32>) -> (tensor<f32>, tensor<4xi1>) {\n"
     "  %0 = \"stablehlo.dynamic_slice\"(%a) <{slice_sizes = array<i64>}> : (tensor<f32>) ->"
     " tensor<f32>\n"
     "  %1 = stablehlo.constant dense<\"0x01000101\"> : tensor<4xi1>\n"
     "  return %0, %1 : tensor<f32>, tensor<4xi1>\n}\n"},
};
enum { NSAME = (int)(sizeof same / sizeof *same) };

static lz_func *read(const char *text, bool marked)
{
    lz_func *f;
    lz_status s = marked ? lz_func_parse_marked(text, strlen(text), "t", NULL, 0, NULL, &f)
                         : lz_func_parse(text, strlen(text), "t", &f);
    ck_assert_msg(s == LZ_OK, "%s\n%s", text, lz_error_get()->message);
    return f;
}

START_TEST(the_same_function)
{
    for (int marked = 0; marked < 2; marked++) {
        lz_func *f = read(same[_i][0], marked), *g = read(same[_i][1], marked);
        ck_assert_msg(lz_hash_eq(lz_func_hash(f), lz_func_hash(g)), "%s", same[_i][1]);
        ck_assert_str_eq(f->name, g->name);
        lz_func_free(f);
        lz_func_free(g);
    }
}
END_TEST

/* Parameter 1 of 3, as an attribute in the list. */
START_TEST(donated_parameters)
{
    static const char text[] =
        "\"builtin.module\"() ({\n"
        "  \"func.func\"() <{arg_attrs = [{}, {tf.aliasing_output = 0 : i32}, {a.b = \"{\"}],"
        " function_type = (" T ", " T ", " T ") -> " T ", sym_name = \"main\"}> ({\n"
        "  ^bb0(%a: " T ", %b: " T ", %c: " T "):\n"
        "    \"func.return\"(%b) : (" T ") -> ()\n  }) : () -> ()\n}) : () -> ()\n";
    lz_param_list given = {0};
    lz_partitions about = {.donated = &given};
    lz_func *f;
    ck_assert_msg(lz_func_parse_marked(text, strlen(text), "t", NULL, 0, &about, &f) == LZ_OK, "%s",
                  lz_error_get()->message);
    ck_assert_uint_eq(given.len, 1);
    ck_assert_uint_eq(given.data[0], 1);
    lz_vec_free(&given);
    lz_func_free(f);
}
END_TEST

#define OPEN "\"builtin.module\"() ({\n"
#define CLOSE "\n}) : () -> ()\n"
#define BODY "({\n^bb0(%a: " T "):\n\"func.return\"(%a) : (" T ") -> ()\n}) : () -> ()"
#define TYPE "function_type = (" T ") -> " T
static const struct {
    const char *text, *says;
} bad[] = {
    {OPEN "\"func.func\"() <{" TYPE "}> " BODY CLOSE, "the attribute sym_name is missing"},
    {OPEN "\"func.func\"() <{sym_name = \"f\"}> " BODY CLOSE, "function_type is missing"},
    {OPEN "\"func.func\"() <{sym_name = \"f\", function_type = (" T
          ") -> tensor<f32>}> " BODY CLOSE,
     "declares result 0 as f32[]"},
    {OPEN "\"func.func\"() <{sym_name = \"f\", function_type = 3}> " BODY CLOSE, "expected '('"},
    {OPEN "\"func.func\"() <{sym_name = \"f\", arg_attrs = 3, " TYPE "}> " BODY CLOSE,
     "expected '['"},
    {OPEN "\"func.func\"() <{sym_name = \"f\", " TYPE "}> : () -> ()" CLOSE, "expected '('"},
    {OPEN "\"func.func\"() <{sym_name = \"f\", " TYPE "}> " BODY "\n}\n", "expected ')'"},
    {OPEN "\"sdy.mesh\"() <{sym_name = \"m\"}> : () -> ()" CLOSE, "its name and its axes"},
    {OPEN "\"sdy.mesh\"() <{mesh = 3, sym_name = \"m\"}> : () -> ()" CLOSE, "expected '#sdy.mesh'"},
    {"\"builtin.module\"() <{sym_name = 3}> ({" CLOSE, "expected '\"'"},
};
enum { NBAD = (int)(sizeof bad / sizeof *bad) };

START_TEST(wrong)
{
    lz_func *f = NULL;
    ck_assert_int_eq(lz_func_parse(bad[_i].text, strlen(bad[_i].text), "t", &f), LZ_EPARSE);
    ck_assert_ptr_null(f);
    ck_assert_msg(strstr(lz_error_get()->message, bad[_i].says), "%s\n%s", bad[_i].text,
                  lz_error_get()->message);
}
END_TEST

/* Whatever it is cut to, it is no other program. */
START_TEST(cut_short)
{
    const char *text = same[_i][1];
    size_t end = strlen(text) - 1;
    for (size_t n = 0; n < end; n++) {
        lz_func *f = NULL;
        if (lz_func_parse(text, n, "t", &f) == LZ_OK) /* all but its last location */
            ck_assert_msg(strchr(text + n, '{') == NULL, "%.*s", (int)n, text);
        lz_func_free(f);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ir/generic");
    TCase *t = tcase_create("generic");
    tcase_add_loop_test(t, the_same_function, 0, NSAME);
    tcase_add_test(t, donated_parameters);
    tcase_add_loop_test(t, wrong, 0, NBAD);
    tcase_add_loop_test(t, cut_short, 0, NSAME);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
