/* t_marks.c - marks of shardings in texts: kept when they are asked for, in every form, and of no
 * meaning for one device. */
#include "ir/collective.h"
#include "ir/eval/eval.h"
#include "ir/sharding/sharding.h"
#include "suite.h"
#include <string.h>

#define MESH "  sdy.mesh @mesh = <[\"x\"=2, \"y\"=4]>\n"
#define HLO_MESH "  sdy.mesh @mesh = <[\"axis_0\"=2, \"axis_1\"=2, \"axis_2\"=2]>\n"
#define T "tensor<8x16xf32>"

static lz_status parse(const char *text, bool marked, lz_func **f)
{
    return marked ? lz_func_parse_marked(text, strlen(text), "t", NULL, 0, NULL, f)
                  : lz_func_parse(text, strlen(text), "t", f);
}

static lz_func *must_parse(const char *text, bool marked)
{
    lz_func *f = NULL;
    ck_assert_msg(parse(text, marked, &f) == LZ_OK, "%s\n%s", lz_error_get()->message, text);
    ck_assert_int_eq(lz_func_verify(f), LZ_OK);
    return f;
}

/* ---- forms, and how they are written ---- */

static const struct {
    const char *in, *out; /* out NULL: as it came */
} forms[] = {
    /* parameters and results */
    {"module @m {\n" MESH "  func.func public @main(%arg0: " T
     " {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {\"y\", ?}p1]>}) -> (" T
     " {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"y\"}]>}) {\n"
     "    %0 = stablehlo.tanh %arg0 : " T "\n    return %0 : " T "\n  }\n}\n",
     NULL},
    {"module @m {\n" MESH "  func.func public @main(%arg0: " T ", %arg1: " T
     " {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>}) -> (" T ", " T
     " {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"x\"}]>}) {\n"
     "    return %arg0, %arg1 : " T ", " T "\n  }\n}\n",
     NULL},
    /* a result that is a parameter, behind a mark that nothing uses */
    {"module @m {\n" MESH "  func.func public @main(%arg0: " T ", %arg1: " T
     " {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>}) -> (" T ", " T
     " {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"x\"}]>}) {\n"
     "    return %arg0, %arg0 : " T ", " T "\n  }\n}\n",
     NULL},
    /* operations that only say it */
    {"module @m {\n" MESH "  func.func public @main(%arg0: " T ") -> " T " {\n"
     "    %0 = stablehlo.tanh %arg0 : " T "\n"
     "    %1 = sdy.sharding_constraint %0 <@mesh, [{?}, {\"y\"}], replicated={\"x\"}> : " T "\n"
     "    %2 = sdy.propagation_barrier %1 allowed_direction = FORWARD : " T "\n"
     "    %3 = sdy.sharding_group %2 group_id = 3 : " T "\n"
     "    %4 = stablehlo.tanh %3 : " T "\n    return %4 : " T "\n  }\n}\n",
     NULL},
    {"module @m {\n" MESH "  func.func @main(%a: " T ") -> " T " {\n"
     "    %0 = stablehlo.tanh %a : " T "\n"
     "    %1 = \"sdy.reshard\"(%0) <{sharding = #sdy.sharding<@mesh, [{}, {\"y\"}]>}> : (" T
     ") -> " T "\n"
     "    sdy.sharding_group %1 group_id = 0 : " T "\n"
     "    %2 = \"sdy.propagation_barrier\"(%1) <{allowed_direction = 0 : i32}> : (" T ") -> " T
     "\n    return %2 : " T "\n  }\n}\n",
     "module @m {\n" MESH "  func.func public @main(%arg0: " T ") -> " T " {\n"
     "    %0 = stablehlo.tanh %arg0 : " T "\n"
     "    %1 = sdy.sharding_constraint %0 <@mesh, [{}, {\"y\"}]> : " T "\n"
     "    %2 = sdy.sharding_group %1 group_id = 0 : " T "\n"
     "    %3 = sdy.propagation_barrier %2 allowed_direction = NONE : " T "\n    return %3 : " T
     "\n  }\n}\n"},
    /* attributes of operations; the mesh in the text, after its use */
    {"module @m {\n  func.func @main(%a: " T ") -> " T " {\n"
     "    %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, "
     "{\"x\"}]>]>} : " T "\n    %1 = stablehlo.tanh %0 : " T "\n    return %1 : " T "\n  }\n" MESH
     "}\n",
     "module @m {\n" MESH "  func.func public @main(%arg0: " T ") -> " T " {\n"
     "    %0 = stablehlo.tanh %arg0 : " T "\n"
     "    %1 = sdy.sharding_constraint %0 <@mesh, [{}, {\"x\"}]> : " T "\n"
     "    %2 = stablehlo.tanh %1 : " T "\n    return %2 : " T "\n  }\n}\n"},
    /* GSPMD */
    {"module @m attributes {mhlo.num_partitions = 8 : i32} {\n  func.func @main(%a: " T
     " {mhlo.sharding = \"{devices=[2,1,4]<=[8] last_tile_dim_replicate}\"}) -> (" T
     " {mhlo.sharding = \"{replicated}\"}) {\n"
     "    %0 = stablehlo.custom_call @Sharding(%a) {backend_config = \"unspecified_dims=[1]\", "
     "mhlo.sharding = \"{devices=[1,4,2]0,4,1,5,2,6,3,7 last_tile_dim_replicate}\"} : (" T ") -> " T
     "\n    %1 = stablehlo.tanh %0 {mhlo.sharding = \"{{devices=[8,1]<=[8]}}\"} : " T
     "\n    return %1 : " T "\n  }\n}\n",
     "module @m {\n" HLO_MESH "  func.func public @main(%arg0: " T
     " {sdy.sharding = #sdy.sharding<@mesh, [{\"axis_0\"}, {}]>}) -> (" T
     " {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {\n"
     "    %0 = sdy.sharding_constraint %arg0 <@mesh, [{}, {\"axis_1\", \"axis_2\", ?}]> : " T "\n"
     "    %1 = stablehlo.tanh %0 : " T "\n"
     "    %2 = sdy.sharding_constraint %1 <@mesh, [{\"axis_0\", \"axis_1\", \"axis_2\"}, {}]> : " T
     "\n    return %2 : " T "\n  }\n}\n"},
    /* manual regions: what is used from around is an operand, constants are made inside */
    {"module @m {\n" MESH "  func.func @main(%a: " T ", %b: tensor<f32>) -> " T " {\n"
     "    %c = stablehlo.constant dense<2.0> : tensor<f32>\n"
     "    %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{\"x\"}, {?}]>] "
     "out_shardings=[<@mesh, [{\"x\"}, {?}]>] manual_axes={\"x\"} (%v: tensor<4x16xf32>) {\n"
     "      %1 = stablehlo.multiply %b, %c : tensor<f32>\n"
     "      %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<4x16xf32>\n"
     "      %3 = stablehlo.add %v, %2 : tensor<4x16xf32>\n"
     "      %4 = sdy.sharding_constraint %3 <@mesh, [{\"y\"}, {}]> : tensor<4x16xf32>\n"
     "      sdy.return %4 : tensor<4x16xf32>\n    } : (" T ") -> " T "\n    return %0 : " T
     "\n  }\n}\n",
     "module @m {\n" MESH "  func.func public @main(%arg0: " T ", %arg1: tensor<f32>) -> " T " {\n"
     "    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>\n"
     "    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{\"x\"}, {?}]>, <@mesh, "
     "[]>] out_shardings=[<@mesh, [{\"x\"}, {?}]>] manual_axes={\"x\"} (%arg2: tensor<4x16xf32>, "
     "%arg3: tensor<f32>) {\n"
     "      %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>\n"
     "      %1 = stablehlo.multiply %arg3, %cst_0 : tensor<f32>\n"
     "      %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<4x16xf32>\n"
     "      %3 = stablehlo.add %arg2, %2 : tensor<4x16xf32>\n"
     "      %4 = sdy.sharding_constraint %3 <@mesh, [{\"y\"}, {}]> : tensor<4x16xf32>\n"
     "      sdy.return %4 : tensor<4x16xf32>\n    } : (" T ", tensor<f32>) -> " T
     "\n    return %0 : " T "\n  }\n}\n"},
    /* and GSPMD's: the partition's number is asked for inside */
    {"module @m {\n  func.func @main(%a: tensor<16xf32>) -> tensor<16xf32> {\n"
     "    %0 = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = \"{devices=[8]<=[8]}\"} : "
     "(tensor<16xf32>) -> tensor<16xf32>\n"
     "    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = \"{manual}\"} : "
     "(tensor<16xf32>) -> tensor<2xf32>\n"
     "    %2 = call @body(%1) : (tensor<2xf32>) -> tensor<2xf32>\n"
     "    %3 = stablehlo.custom_call @Sharding(%2) {mhlo.sharding = \"{manual}\"} : "
     "(tensor<2xf32>) "
     "-> tensor<2xf32>\n"
     "    %4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {mhlo.sharding = "
     "\"{devices=[8]<=[8]}\"} : (tensor<2xf32>) -> tensor<16xf32>\n"
     "    return %4 : tensor<16xf32>\n  }\n"
     "  func.func private @body(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
     "    %0 = stablehlo.partition_id : tensor<ui32>\n"
     "    %1 = stablehlo.convert %0 : (tensor<ui32>) -> tensor<f32>\n"
     "    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<2xf32>\n"
     "    %3 = stablehlo.add %a, %2 : tensor<2xf32>\n    return %3 : tensor<2xf32>\n  }\n}\n",
     "module @m {\n" HLO_MESH "  func.func public @main(%arg0: tensor<16xf32> {sdy.sharding = "
     "#sdy.sharding<@mesh, [{\"axis_0\", \"axis_1\", \"axis_2\"}]>}) -> tensor<16xf32> {\n"
     "    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{\"axis_0\", \"axis_1\", "
     "\"axis_2\"}]>] out_shardings=[<@mesh, [{\"axis_0\", \"axis_1\", \"axis_2\"}]>] "
     "manual_axes={\"axis_0\", \"axis_1\", \"axis_2\"} (%arg1: tensor<2xf32>) {\n"
     "      %1 = stablehlo.partition_id : tensor<ui32>\n"
     "      %2 = stablehlo.convert %1 : (tensor<ui32>) -> tensor<f32>\n"
     "      %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<2xf32>\n"
     "      %4 = stablehlo.add %arg1, %3 : tensor<2xf32>\n"
     "      %5 = sdy.sharding_constraint %4 <@mesh, [{}]> : tensor<2xf32>\n"
     "      sdy.return %5 : tensor<2xf32>\n    } : (tensor<16xf32>) -> tensor<16xf32>\n"
     "    return %0 : tensor<16xf32>\n  }\n}\n"},
};
enum { NFORM = (int)(sizeof forms / sizeof *forms) };

START_TEST(marks_are_kept)
{
    lz_func *f = must_parse(forms[_i].in, true), *g;
    lz_buf a = {0}, b = {0}, bytes = {0};
    lz_func_print(f, &a, 0);
    ck_assert_str_eq(lz_buf_str(&a), forms[_i].out ? forms[_i].out : forms[_i].in);
    g = must_parse(a.data, true);
    ck_assert(lz_hash_eq(lz_func_hash(f), lz_func_hash(g)));
    lz_func_free(g);
    lz_func_serialize(f, &bytes);
    ck_assert_int_eq(lz_func_deserialize(bytes.data, bytes.len, &g), LZ_OK);
    lz_func_print(g, &b, 0); /* the module's name is not in the bytes */
    ck_assert(lz_hash_eq(lz_func_hash(f), lz_func_hash(g)));
    lz_func_free(g);
    lz_func_free(f);
    lz_buf_free(&a);
    lz_buf_free(&b);
    lz_buf_free(&bytes);
}
END_TEST

/* ---- one device ---- */

/* All forms but manual regions. */
START_TEST(marks_mean_nothing_on_one_device)
{
    lz_func *f = must_parse(forms[_i].in, false);
    for (uint32_t i = 0; i < f->ninst; i++)
        ck_assert_msg(strncmp(lz_op_get(f->insts[i].sig->op)->text, "sdy.", 4) != 0, "%s",
                      lz_op_get(f->insts[i].sig->op)->text);
    lz_func_free(f);
}
END_TEST

#define ALONE(size)                                                                                \
    "module {\n  sdy.mesh @mesh = <[\"x\"=" #size "]>\n"                                           \
    "  func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"                                    \
    "    %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{\"x\"}]>] "                       \
    "out_shardings=[<@mesh, [{\"x\"}]>] manual_axes={\"x\"} (%v: tensor<4xf32>) {\n"               \
    "      %1 = stablehlo.negate %v : tensor<4xf32>\n      sdy.return %1 : tensor<4xf32>\n"        \
    "    } : (tensor<4xf32>) -> tensor<4xf32>\n    return %0 : tensor<4xf32>\n  }\n}\n"

/* A mark of another mesh, which has no axes, inside: as JAX puts on the results of callbacks. */
START_TEST(marks_of_no_axes_in_manual_regions)
{
    static const char text[] =
        "module @m {\n" MESH "  sdy.mesh @empty = <[]>\n"
        "  func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {\n"
        "    %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{\"x\"}]>] "
        "out_shardings=[<@mesh, [{\"x\"}]>] manual_axes={\"x\"} (%v: tensor<4xf32>) {\n"
        "      %1 = stablehlo.tanh %v {sdy.sharding = #sdy.sharding_per_value<[<@empty, [{}]>]>} : "
        "tensor<4xf32>\n"
        "      %2 = sdy.sharding_constraint %1 <@empty, [{}]> : tensor<4xf32>\n"
        "      sdy.return %2 : tensor<4xf32>\n"
        "    } : (tensor<8xf32>) -> tensor<8xf32>\n    return %0 : tensor<8xf32>\n  }\n}\n";
    lz_func_free(must_parse(text, true));
}
END_TEST

START_TEST(manual_regions_on_one_device)
{
    lz_func *f = must_parse(ALONE(1), false);
    ck_assert_uint_eq(f->ninst, 2);
    ck_assert_int_eq(f->insts[1].sig->op, LZ_OP_NEGATE);
    lz_func_free(f);
    ck_assert_int_eq(parse(ALONE(2), false, &f), LZ_EUNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "over 2 devices; one device runs alone"));
    f = must_parse(forms[NFORM - 1].in, true);
    ck_assert_int_eq(lz_func_check_alone(f), LZ_EUNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "sdy.manual_computation"));
    lz_func_free(f);
}
END_TEST

/* ---- refusals ---- */

static const struct {
    const char *mark, *says;
    lz_status status;
} bad[] = {
    {"sdy.sharding_constraint %a <@m, [{}, {}]>", "there is no mesh @m", LZ_EPARSE},
    {"sdy.sharding_constraint %a <@mesh, [{\"z\"}, {}]>", "axis \"z\"", LZ_EPARSE},
    {"sdy.sharding_constraint %a <@mesh, [{\"x\"}, {\"x\"}]>", "axis \"x\" is used twice",
     LZ_EPARSE},
    {"sdy.sharding_constraint %a <@mesh, [{}]>", "of rank 1, the tensor of rank 2", LZ_EPARSE},
    {"sdy.sharding_group %a group_id = -1", "group -1", LZ_EPARSE},
    {"sdy.propagation_barrier %a allowed_direction = 7", "allowed_direction 7", LZ_EPARSE},
    {"stablehlo.tanh %a {mhlo.sharding = \"{devices=[3,1]<=[3]}\"}", "over 3 devices, not 8",
     LZ_EPARSE},
    {"stablehlo.tanh %a {mhlo.sharding = \"{devices=[8]<=[8]}\"}", "tensor of rank 2", LZ_EPARSE},
};
enum { NBAD = (int)(sizeof bad / sizeof *bad) };

START_TEST(bad_marks)
{
    lz_buf b = {0};
    lz_func *f = NULL;
    lz_buf_printf(&b,
                  "module {\n" MESH "  func.func @main(%%a: " T ") -> " T " {\n    %%0 = %s : " T
                  "\n    return %%0 : " T "\n  }\n}\n",
                  bad[_i].mark);
    ck_assert_msg(parse(b.data, true, &f) == bad[_i].status, "%s: %s", b.data,
                  lz_error_get()->message);
    ck_assert_msg(strstr(lz_error_get()->message, bad[_i].says) &&
                      strstr(lz_error_get()->message, "t:4:"),
                  "%s", lz_error_get()->message);
    f = must_parse(b.data, false); /* nobody asks on one device */
    lz_func_free(f);
    lz_buf_free(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ir/marks");
    TCase *t = tcase_create("marks");
    tcase_add_loop_test(t, marks_are_kept, 0, NFORM);
    tcase_add_loop_test(t, marks_mean_nothing_on_one_device, 0, NFORM - 2);
    tcase_add_test(t, marks_of_no_axes_in_manual_regions);
    tcase_add_test(t, manual_regions_on_one_device);
    tcase_add_loop_test(t, bad_marks, 0, NBAD);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
