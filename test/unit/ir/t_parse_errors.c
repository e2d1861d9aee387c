/* t_parse_errors.c - text that is wrong: a status, the place, and what is wrong with it; never a
 * crash, however deep or cut. */
#include "base/alloc.h"
#include "ir/text/check.h"
#include "suite.h"
#include "support/rnd.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lz_status parse(const char *text, size_t n)
{
    lz_func *f;
    lz_error_clear();
    char *copy = lz_alloc(n); /* its end is watched */
    if (n)
        memcpy(copy, text, n);
    lz_status s = lz_func_parse(copy, n, "bad.mlir", &f);
    lz_free(copy);
    ck_assert_int_eq(s == LZ_OK, f != NULL);
    if (s == LZ_OK)
        ck_assert_int_eq(lz_func_verify(f), LZ_OK);
    lz_func_free(f);
    return s;
}

/* Statements inside a function with %a, %b: tensor<2x3xf32>, %s: tensor<f32>, %i: tensor<i32>, %n:
 * tensor<2xi32>. They begin on line 2. */
static const struct {
    const char *line;
    lz_status status;
    const char *message; /* after "bad.mlir:" */
} lines[] = {
    {"%0 = stablehlo.abs %x : tensor<f32>", LZ_EPARSE, "2:22: %x has no value here"},
    {"%0 = stablehlo.tuple %a, %s : tuple<tensor<2x3xf32>, tensor<f32>>\n %1 = stablehlo.abs %0 : "
     "tensor<2x3xf32>",
     LZ_EPARSE, "3:22: %0 is a tuple; stablehlo.get_tuple_element takes it apart"},
    {"%0 = stablehlo.tuple %a, %s : tuple<tensor<2x3xf32>, tensor<i32>>", LZ_EPARSE,
     "2:7: stablehlo.tuple: result 1 is f32[], but the text says i32[]"},
    {"%0 = stablehlo.tuple %a, %s : tuple<tensor<2x3xf32>, tuple<tensor<f32>>>", LZ_EPARSE,
     "2:7: stablehlo.tuple: its results are in other tuples than the text says"},
    {"%0 = stablehlo.tuple %a, %s : tensor<2x3xf32>", LZ_EPARSE,
     "2:7: stablehlo.tuple: its results are in other tuples than the text says"},
    {"%0 = stablehlo.tuple %a, %s : tuple<tensor<2x3xf32>, tensor<f32>", LZ_EPARSE,
     "the bracket is not closed"},
    {"%0 = stablehlo.tuple %a, %x : tuple<tensor<2x3xf32>>", LZ_EPARSE,
     "2:28: %x has no value here"},
    {"%0 = \"stablehlo.tuple\"(%a) : (tuple<tensor<2x3xf32>>) -> tuple<tensor<2x3xf32>>", LZ_EPARSE,
     "2:7: stablehlo.tuple: its operands are in other tuples than the text says"},
    {"%0 = stablehlo.get_tuple_element %a[0] : (tensor<2x3xf32>) -> tensor<2x3xf32>", LZ_EPARSE,
     "2:7: get_tuple_element: its operand is no tuple"},
    {"%0 = \"stablehlo.async_done\"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>", LZ_EPARSE,
     "2:7: async_done: its operand is no future"},
    {"%0 = \"stablehlo.async_start\"(%a) ({\n ^bb0(%x: tensor<f32>):\n \"stablehlo.return\"(%x) : "
     "(tensor<f32>) -> ()\n }) : (tensor<2x3xf32>) -> !stablehlo.future<tensor<f32>>",
     LZ_EPARSE, "2:7: async_start: the operands do not fit its region"},
    {"%0 = \"stablehlo.async_start\"(%a) ({\n ^bb0(%x: tensor<2x3xf32>):\n "
     "\"stablehlo.return\"(%x) : "
     "(tensor<2x3xf32>) -> ()\n }) : (tensor<2x3xf32>) -> tensor<2x3xf32>",
     LZ_EPARSE, "2:7: stablehlo.async_start: its results are in other tuples than the text says"},
    {"%0 = \"stablehlo.async_start\"(%a) ({\n ^bb0(%x: tensor<2x3xf32>):\n "
     "\"stablehlo.return\"(%x) : "
     "(tensor<2x3xf32>) -> ()\n }, {\n ^bb0(%x: tensor<2x3xf32>):\n \"stablehlo.return\"(%x) : "
     "(tensor<2x3xf32>) -> ()\n }) : (tensor<2x3xf32>) -> !stablehlo.future<tensor<2x3xf32>>",
     LZ_EPARSE, "2:7: async_start: the operands do not fit its region"},
    {"%0 = stablehlo.tuple %a : tuple<tensor<2x3xf32>>\n %1 = stablehlo.get_tuple_element %0[1] : "
     "(tuple<tensor<2x3xf32>>) -> tensor<2x3xf32>",
     LZ_EPARSE, "3:7: get_tuple_element: there is no element 1 among 1"},
    {"%0 = stablehlo.tuple %a : tuple<tensor<2x3xf32>>\n %1 = stablehlo.get_tuple_element %0[-1] : "
     "(tuple<tensor<2x3xf32>>) -> tensor<2x3xf32>",
     LZ_EPARSE, "3:7: get_tuple_element: there is no element -1 among 1"},
    {"%0 = stablehlo.tuple %a : tuple<tensor<2x3xf32>>\n %1 = \"stablehlo.get_tuple_element\"(%0) "
     ": "
     "(tuple<tensor<2x3xf32>>) -> tensor<2x3xf32>",
     LZ_EPARSE, "3:7: get_tuple_element: which element is not said"},
    {"%0 = stablehlo.tuple %a : tuple<tensor<2x3xf32>>\n %1 = stablehlo.get_tuple_element %0[0] : "
     "(tuple<tensor<2x3xf32>>) -> tensor<f32>",
     LZ_EPARSE, "3:7: stablehlo.get_tuple_element: result 0 is f32[2,3], but the text says f32[]"},
    {"%0 = stablehlo.tuple %a : tuple<tensor<2x3xf32>>\n %1 = stablehlo.get_tuple_element %0[0] : "
     "(tuple<tensor<f32>>) -> tensor<2x3xf32>",
     LZ_EPARSE, "3:7: stablehlo.get_tuple_element: operand 0 is f32[2,3], but the text says f32[]"},
    {"%0:2 = stablehlo.tuple %a, %s : tuple<tensor<2x3xf32>, tensor<f32>>", LZ_EPARSE,
     "2:9: stablehlo.tuple: 2 names for 1 results"},
    {"%0 = stablehlo.abs %a : (tuple<tensor<2x3xf32>>) -> tensor<2x3xf32>", LZ_EPARSE,
     "2:27: expected a tensor type, not 'tuple<tensor<2x3xf32>>'"},
    {"%0 = stablehlo.tuple %a : tuple<tensor<2x3xf32>>\n %1 = \"stablehlo.if\"(%0) ({ "
     "stablehlo.return %a : tensor<2x3xf32> }, { stablehlo.return %a : tensor<2x3xf32> }) : "
     "(tuple<tensor<2x3xf32>>) -> tensor<2x3xf32>",
     LZ_EPARSE, "3:"},
    {"%0 = stablehlo.convolution(%a, %b) dim_numbers = [b, q]x[i, o]->[b, f], window = {} "
     "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3xf32>, "
     "tensor<2x3xf32>) -> tensor<2x3xf32>",
     LZ_EPARSE, "2:55: expected b, f (each once)"},
    {"%0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 1]x[i, o]->[b, f], window = {} "
     "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3xf32>, "
     "tensor<2x3xf32>) -> tensor<2x3xf32>",
     LZ_EPARSE, "2:51: dimension numbers must name b, f"},
    {"%0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f]x[i, o]->[b, f], window = {size = "
     "[1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3xf32>, "
     "tensor<2x3xf32>) -> tensor<2x3xf32>",
     LZ_EPARSE, "2:84: 'size' is no field of a window"},
    {"%0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f]x[i, o]->[b, f], window = {reverse = "
     "[2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3xf32>, "
     "tensor<2x3xf32>) -> tensor<2x3xf32>",
     LZ_EPARSE, "2:95: expected true or false"},
    {"%0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f]x[i, o]->[b, f], window = {pad = "
     "[[0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3xf32>, "
     "tensor<2x3xf32>) -> tensor<2x3xf32>",
     LZ_EPARSE, "2:93: expected ','"},
    {"%0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f]x[i, o]->[b, f], window = {} "
     "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3xf32>, "
     "tensor<2x3xf32>) -> tensor<2x3xf32>",
     LZ_EPARSE, "2:7: convolution: f32[2,3] has 3 input features in 1 groups"},
    {"%0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f]x[i, o]->[b, f], window = {} "
     "{batch_group_count = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>",
     LZ_EPARSE, "2:7: convolution: the attribute feature_group_count is missing"},
    {"%0 = \"stablehlo.reduce_window\"(%a, %s) <{window_strides = array<i64: 1, 1>}> ({ ^bb0(%x: "
     "tensor<f32>, %y: tensor<f32>): stablehlo.return %x : tensor<f32> }) : (tensor<2x3xf32>, "
     "tensor<f32>) -> tensor<2x3xf32>",
     LZ_EPARSE, "2:7: reduce_window: the attribute window_dimensions is missing"},
    {"%0 = \"stablehlo.reduce_window\"(%a, %s) <{window_dimensions = array<i64: 1, 0>}> ({ "
     "^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %x : tensor<f32> }) : "
     "(tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>",
     LZ_EPARSE, "2:7: reduce_window: window_dimensions = [1, 0]: 0 is not positive"},
    {"%0 = \"stablehlo.reduce_window\"(%a, %s) <{padding = dense<[[0, 1]]> : tensor<2xi64>, "
     "window_dimensions = array<i64: 1, 1>}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): "
     "stablehlo.return %x : tensor<f32> }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>",
     LZ_EPARSE, "2:71: padding: expected one pair of numbers"},
    {"%0 = \"stablehlo.reduce_window\"(%a, %s) <{padding = dense<[[0]]> : tensor<1x1xi64>, "
     "window_dimensions = array<i64: 1, 1>}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): "
     "stablehlo.return %x : tensor<f32> }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>",
     LZ_EPARSE, "2:62: expected ','"},
    {"%0 = \"stablehlo.reduce_window\"(%a, %s) <{window_dimensions = array<i64: 1, 1>}> : "
     "(tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>",
     LZ_EPARSE, "2:7: reduce_window: has 0 regions, not 1"},
    {"%0 = \"stablehlo.select_and_scatter\"(%a, %b, %s) <{window_dimensions = array<i64: 1, 1>}> "
     "({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %x : tensor<f32> }) : "
     "(tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>",
     LZ_EPARSE, "2:7: select_and_scatter: has 1 regions, not 2"},
    {"%0 = \"stablehlo.select_and_scatter\"(%a, %b, %s) <{window_dimensions = array<i64: 1, 1>}> "
     "({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %x : tensor<f32> }, { ^bb0(%x: "
     "tensor<f32>, %y: tensor<f32>): stablehlo.return %x : tensor<f32> }) : (tensor<2x3xf32>, "
     "tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>",
     LZ_EPARSE, "2:7: select_and_scatter: the result of select is f32[], not a boolean"},
    {"%0 = stablehlo.while(%x = %s) : tensor<f32>", LZ_EPARSE, "expected '{'"},
    {"%0 = stablehlo.while(%x = %s) : tensor<f32> cond { stablehlo.return %x : tensor<f32> } do "
     "{ stablehlo.return %x : tensor<f32> }",
     LZ_EPARSE, "2:7: while: the result of cond is f32[], but one boolean is needed"},
    {"%0 = stablehlo.while(%x = %s) : tensor<f32> cond { stablehlo.return %y : tensor<i1> } do { }",
     LZ_EPARSE, "2:71: %y has no value here"},
    {"%0 = stablehlo.while %s : tensor<f32>", LZ_EPARSE, "expected '('"},
    /* tokens in regions */
    {"%t = stablehlo.create_token : !stablehlo.token %q = stablehlo.constant dense<false> : "
     "tensor<i1> %0:2 = stablehlo.while(%x = %s, %u = %t) : tensor<f32>, !stablehlo.token cond { "
     "stablehlo.return %q : tensor<i1> } do { stablehlo.return %u, %x : !stablehlo.token, "
     "tensor<f32> }",
     LZ_EPARSE, "while: carries other tokens than it returns"},
    {"%t = stablehlo.create_token : !stablehlo.token %0 = stablehlo.while(%u = %t) : "
     "!stablehlo.token cond { stablehlo.return %u : !stablehlo.token } do { stablehlo.return %u : "
     "!stablehlo.token }",
     LZ_EPARSE, "stablehlo.while: a region returns a tuple"},
    {"%t = stablehlo.tuple %s : tuple<tensor<f32>> %0 = stablehlo.while(%u = %t) : "
     "tuple<tensor<f32>> cond { stablehlo.return %s : tensor<f32> } do { stablehlo.return %u : "
     "tuple<tensor<f32>> }",
     LZ_EUNSUPPORTED, "stablehlo.while: carries a tuple"},
    {"%t = stablehlo.create_token : !stablehlo.token %q = stablehlo.constant dense<false> : "
     "tensor<i1> %0 = \"stablehlo.if\"(%q) ({ stablehlo.return %t : !stablehlo.token }, { "
     "stablehlo.return %s : tensor<f32> }) : (tensor<i1>) -> !stablehlo.token",
     LZ_EPARSE, "stablehlo.if: a region returns a tuple"},
    {"%t = stablehlo.create_token : !stablehlo.token %0 = \"stablehlo.reduce\"(%a, %s) "
     "<{dimensions = array<i64: 0>}> ({ ^b(%x: tensor<f32>, %y: tensor<f32>): %u = "
     "stablehlo.create_token : !stablehlo.token stablehlo.return %x, %u : tensor<f32>, "
     "!stablehlo.token }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>",
     LZ_EPARSE, "the region returns a tuple"},
    {"%0 = stablehlo.if %s : tensor<f32>", LZ_EPARSE, "stablehlo.if: expected its generic form"},
    {"%0 = \"stablehlo.if\"(%s) ({ stablehlo.return %s : tensor<f32> }, { stablehlo.return %s : "
     "tensor<f32> }) : (tensor<f32>) -> tensor<f32>",
     LZ_EPARSE, "2:7: if: "},
    {"%0 = \"stablehlo.if\"(%s) ({ stablehlo.return %s : tensor<f32> }) : (tensor<f32>) -> "
     "tensor<f32>",
     LZ_EPARSE, "stablehlo.if: has 1 operands and 1 regions"},
    {"%0 = \"stablehlo.case\"(%i, %i) ({ stablehlo.return %s : tensor<f32> }) : (tensor<i32>, "
     "tensor<i32>) -> tensor<f32>",
     LZ_EPARSE, "stablehlo.case: has 2 operands and 1 regions"},
    {"%0 = \"stablehlo.case\"(%i) ({ stablehlo.return %s : tensor<f32> }, { stablehlo.return %s, "
     "%s "
     ": tensor<f32>, tensor<f32> }) : (tensor<i32>) -> tensor<f32>",
     LZ_EPARSE, "case: branch 1 has 2 results, branch 0 has 1"},
    {"%0 = \"stablehlo.case\"(%s) ({ stablehlo.return %s : tensor<f32> }) : (tensor<f32>) -> "
     "tensor<f32>",
     LZ_EPARSE, "case: the index is not an integer scalar"},
    {"%0 = \"lazuli.custom_vjp\"(%a, %b) <{name = \"f\", results = 0 : i64}> ({ ^bb0(%p: "
     "tensor<2x3xf32>): "
     "stablehlo.return %p : tensor<2x3xf32> }) : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
     "tensor<2x3xf32>",
     LZ_EPARSE, "lazuli.custom_vjp: 0 results of 2 operands"},
    {"%0 = \"lazuli.custom_vjp\"(%a, %b) <{name = \"f\", results = 3 : i64}> ({ ^bb0(%p: "
     "tensor<2x3xf32>): "
     "stablehlo.return %p : tensor<2x3xf32> }) : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
     "tensor<2x3xf32>",
     LZ_EPARSE, "lazuli.custom_vjp: 3 results of 2 operands"},
    {"%0 = \"lazuli.custom_vjp\"(%a, %b) <{name = \"f\", results = 1 : i64}> ({ ^bb0(%p: "
     "tensor<2x3xf32>): "
     "stablehlo.return %p : tensor<2x3xf32> }) : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
     "tensor<2x3xf32>",
     LZ_EPARSE, "backward has 1 parameters and 1 results for 1 results and 1 other operands"},
    {"%0 = \"lazuli.custom_vjp\"(%a, %b) <{name = \"f\", results = 1 : i64}> ({ ^bb0(%p: "
     "tensor<2x3xf32>, %q: tensor<f32>): "
     "stablehlo.return %p : tensor<2x3xf32> }) : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
     "tensor<2x3xf32>",
     LZ_EPARSE, "parameter 1 of backward is f32[], but its value is f32[2,3]"},
    {"%0 = \"lazuli.custom_vjp\"(%a, %b) <{name = \"f\", results = 1 : i64}> ({ ^bb0(%p: "
     "tensor<2x3xf32>, %q: tensor<2x3xf32>): "
     "stablehlo.return %p, %q : tensor<2x3xf32>, tensor<2x3xf32> }) : (tensor<2x3xf32>, "
     "tensor<2x3xf32>) -> tensor<2x3xf32>",
     LZ_EPARSE, "backward has 2 parameters and 2 results"},
    {"%0 = \"lazuli.custom_vjp\"(%a, %s) <{name = \"f\", results = 1 : i64}> ({ ^bb0(%p: "
     "tensor<2x3xf32>, %q: tensor<2x3xf32>): "
     "stablehlo.return %p : tensor<2x3xf32> }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>",
     LZ_EPARSE, "result 0 of backward is f32[2,3], but its value is f32[]"},
    {"%0 = \"lazuli.custom_vjp\"(%a) <{name = \"f\", results = 1 : i64}> : (tensor<2x3xf32>) -> "
     "tensor<2x3xf32>",
     LZ_EPARSE, "the region is missing"},
    {"%0 = \"stablehlo.infeed\"(%a) : () -> ()", LZ_EUNSUPPORTED,
     "2:7: operation 'stablehlo.infeed' is not supported"},
    {"%0 = chlo.dynamic_reshape %a : tensor<f32> -> tensor<f32>", LZ_EUNSUPPORTED,
     "'chlo.dynamic_reshape'"},
    {"%0 = stablehlo.parameter : tensor<f32>", LZ_EUNSUPPORTED, "stablehlo.parameter"},
    {"%0 = stablehlo.result %a : tensor<f32>", LZ_EUNSUPPORTED, "stablehlo.result"},
    {"%0 = add %a, %a : tensor<f32>", LZ_EPARSE, "operation 'add'"},
    {"%0 = stablehlo.chlo.erf %a : tensor<f32>", LZ_EUNSUPPORTED, "chlo.erf"},
    {"%0 = ", LZ_EPARSE, "return: 1 names for 0 results"},
    {"%0 stablehlo.abs %a", LZ_EPARSE, "expected '='"},
    {"%a = stablehlo.abs %a : tensor<2x3xf32>", LZ_EPARSE, "2:3: %a has a value already"},
    {"%0 = stablehlo.add %a, %s : tensor<2x3xf32>", LZ_EPARSE,
     "2:7: add: shapes f32[2,3] and f32[] differ"},
    {"%0 = stablehlo.add %a, %b : tensor<2x3xf64>", LZ_EPARSE,
     "result 0 is f32[2,3], but the text says f64[2,3]"},
    {"%0 = stablehlo.add %a : tensor<2x3xf32>", LZ_EPARSE, "add: takes 2 operands, not 1"},
    {"%0 = stablehlo.add %a, %b : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>", LZ_EPARSE,
     "operand 1 is f32[2,3], but the text says f32[]"},
    {"%0 = stablehlo.add %a, %b : (tensor<2x3xf32>) -> tensor<2x3xf32>", LZ_EPARSE,
     "2 operands, but 1 types"},
    {"%0 = stablehlo.add %a, %b : tensor<2x3xf32>, tensor<2x3xf32>", LZ_EPARSE,
     "2 types where one is enough"},
    {"%0 = stablehlo.add %a, %b tensor<2x3xf32>", LZ_EPARSE, "expected ':'"},
    {"%0 = stablehlo.not %a : tensor<2x3xf32>", LZ_EPARSE, "not: is not defined for f32[2,3]"},
    {"%0:2 = stablehlo.abs %a : tensor<2x3xf32>", LZ_EPARSE, "2 names for 1 results"},
    {"%0:0 = stablehlo.abs %a : tensor<2x3xf32>", LZ_EPARSE, "0 results"},
    {"%0:99999999999 = stablehlo.abs %a : tensor<2x3xf32>", LZ_EPARSE, "results"},
    {"%0:2 = stablehlo.optimization_barrier %a, %b : tensor<2x3xf32>, tensor<2x3xf32> %1 = "
     "stablehlo.abs %0 : tensor<2x3xf32>",
     LZ_EPARSE, "%0 names 2 values"},
    {"%0:2 = stablehlo.optimization_barrier %a, %b : tensor<2x3xf32>, tensor<2x3xf32> %1 = "
     "stablehlo.abs %0#2 : tensor<2x3xf32>",
     LZ_EPARSE, "%0 names 2 values"},
    {"%0 = stablehlo.abs %a#1 : tensor<2x3xf32>", LZ_EPARSE, "names 1 values"},
    {"%0 = stablehlo.abs %a#99999999999999999999 : tensor<2x3xf32>", LZ_EPARSE,
     "the number is too large"},
    /* types */
    {"%0 = stablehlo.abs %a : tensor<2x?xf32>", LZ_EUNSUPPORTED, "only static shapes"},
    {"%0 = stablehlo.abs %a : tensor<*xf32>", LZ_EUNSUPPORTED, "only static shapes"},
    {"%0 = stablehlo.abs %a : tensor<2x3xf6E2M3FN>", LZ_EUNSUPPORTED, "'f6E2M3FN'"},
    {"%0 = stablehlo.abs %a : tensor<2x3xtf32>", LZ_EUNSUPPORTED, "'tf32'"},
    {"%0 = stablehlo.abs %a : tensor<2x3xcomplex<i32>>", LZ_EUNSUPPORTED, "complex<i32>"},
    {"%0 = stablehlo.abs %a : tensor<2x3xf32, #enc>", LZ_EUNSUPPORTED, "encodings"},
    {"%0 = stablehlo.abs %a : !stablehlo.token", LZ_EUNSUPPORTED, "!stablehlo.token"},
    {"%0 = stablehlo.abs %a : f32", LZ_EPARSE, "expected a tensor type, not 'f32'"},
    {"%0 = stablehlo.abs %a : tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>", LZ_EUNSUPPORTED,
     "more than 16 dimensions"},
    {"%0 = stablehlo.abs %a : tensor<9223372036854775807xf32>", LZ_EPARSE, "more bytes than"},
    {"%0 = stablehlo.abs %a : tensor<99999999999999999999xf32>", LZ_EPARSE,
     "the number is too large"},
    {"%0 = stablehlo.abs %a : tensor<4294967296x4294967296x0xf32>", LZ_EPARSE, "more bytes than"},
    {"%0 = stablehlo.abs %a : tensor<2,3xf32>", LZ_EPARSE, "expected 'x'"},
    {"%0 = stablehlo.abs %a : tensor<>", LZ_EPARSE, "element type ''"},
    /* attributes */
    {"%0 = stablehlo.transpose %a, dims = [0, 0] : (tensor<2x3xf32>) -> tensor<2x2xf32>", LZ_EPARSE,
     "transpose: permutation = [0, 0] names dimension 0 twice"},
    {"%0 = stablehlo.transpose %a, dims = [0] : (tensor<2x3xf32>) -> tensor<2xf32>", LZ_EPARSE,
     "has 1 values, but the operand's rank is 2"},
    {"%0 = stablehlo.transpose %a, dims = [0, -1] : (tensor<2x3xf32>) -> tensor<2x2xf32>",
     LZ_EPARSE, "-1 is outside the 2 dimensions"},
    {"%0 = stablehlo.transpose %a, dims = [1, 0], 7 : (tensor<2x3xf32>) -> tensor<3x2xf32>",
     LZ_EPARSE, "expected a value or"},
    {"%0 = stablehlo.transpose %a, dims = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, "
     "16] : (tensor<2x3xf32>) -> "
     "tensor<3x2xf32>",
     LZ_EUNSUPPORTED, "more than 16 values"},
    {"%0 = stablehlo.transpose %a, dims = [0, 1 : (tensor<2x3xf32>) -> tensor<3x2xf32>", LZ_EPARSE,
     ""},
    {"%0 = stablehlo.transpose %a : (tensor<2x3xf32>) -> tensor<3x2xf32>", LZ_EPARSE,
     "transpose: the attribute permutation is missing"},
    {"%0 = stablehlo.slice %a [0:4, 0:3] : (tensor<2x3xf32>) -> tensor<4x3xf32>", LZ_EPARSE,
     "slice: 0:4 is not inside dimension 0 of f32[2,3]"},
    {"%0 = stablehlo.slice %a [0:2, 0:3:0] : (tensor<2x3xf32>) -> tensor<2x3xf32>", LZ_EPARSE,
     "stride 0"},
    {"%0 = stablehlo.slice %a [1:0, 0:3] : (tensor<2x3xf32>) -> tensor<2x3xf32>", LZ_EPARSE,
     "1:0 is not inside"},
    {"%0 = stablehlo.iota dim = 2 : tensor<2x3xf32>", LZ_EPARSE,
     "iota: dimension 2 is outside the 2 dimensions"},
    {"%0 = stablehlo.iota dim = 0 : tensor<2xi1>", LZ_EPARSE, "cannot count"},
    {"%0 = stablehlo.broadcast_in_dim %a, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x4xf32>",
     LZ_EPARSE, "does not broadcast"},
    {"%0 = stablehlo.concatenate %a, %s, dim = 0 : (tensor<2x3xf32>, tensor<f32>) -> "
     "tensor<4x3xf32>",
     LZ_EPARSE, "differ beyond dimension 0"},
    {"%0 = stablehlo.concatenate dim = 0 : () -> tensor<4x3xf32>", LZ_EPARSE,
     "at least one operand"},
    {"%0 = stablehlo.pad %a, %s, low = [0, 0], high = [-3, 0], interior = [0, 0] : "
     "(tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>",
     LZ_EPARSE, "leaves -1 elements"},
    {"%0 = stablehlo.pad %a, %s, low = [0, 9223372036854775807], high = [0, 1], interior = [0, 0] "
     ": (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>",
     LZ_EPARSE, "overflows"},
    {"%0 = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<5xf32>", LZ_EPARSE,
     "reshape: f32[2,3] has 6 elements, f32[5] has 5"},
    {"%0 = stablehlo.bitcast_convert %a : (tensor<2x3xf32>) -> tensor<2x3xf64>", LZ_EPARSE,
     "its last dimension must be 2"},
    {"%0 = stablehlo.compare XX, %a, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>",
     LZ_EPARSE, "'XX' is no comparison_direction"},
    {"%0 = stablehlo.compare LT, %a, %b, SIGNED : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
     "tensor<2x3xi1>",
     LZ_EPARSE, "compare_type SIGNED is not for f32[2,3]"},
    {"%0 = stablehlo.compare LT, %a, %b, FLOAT, FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
     "tensor<2x3xi1>",
     LZ_EPARSE, "expected a value"},
    {"%0 = stablehlo.select %a, %a, %b : tensor<2x3xi1>, tensor<2x3xf32>", LZ_EPARSE,
     "select: is not defined for f32[2,3]"},
    {"%0 = stablehlo.reduce_precision %a, format = e0m0 : tensor<2x3xf32>", LZ_EPARSE,
     "needs at least 1 exponent bit"},
    {"%0 = stablehlo.reduce_precision %a, format = 5 : tensor<2x3xf32>", LZ_EPARSE, "expected 'e'"},
    {"%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x3xf32>, "
     "tensor<2x3xf32>) -> tensor<2x3xf32>",
     LZ_EPARSE,
     "dot_general: contracting dimension 1 of f32[2,3] is 3, dimension 0 of f32[2,3] is 2"},
    {"%0 = stablehlo.dot_general %a, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>",
     LZ_EPARSE, "no dimension numbers"},
    {"%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x : (tensor<2x3xf32>, "
     "tensor<2x3xf32>) -> tensor<2x3xf32>",
     LZ_EPARSE, ""},
    {"%0 = \"stablehlo.dot_general\"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<zzz = [1]>}> "
     ": (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>",
     LZ_EPARSE, "'zzz' is no field"},
    {"%0 = \"stablehlo.gather\"(%a, %n) : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<f32>",
     LZ_EPARSE, "no dimension_numbers"},
    {"%0 = stablehlo.dynamic_slice %a, %i, sizes = [1, 1] : (tensor<2x3xf32>, tensor<i32>) -> "
     "tensor<1x1xf32>",
     LZ_EPARSE, "1 start indices for f32[2,3]"},
    {"%0 = stablehlo.dynamic_slice %a, %i, %s, sizes = [1, 1] : (tensor<2x3xf32>, tensor<i32>, "
     "tensor<f32>) -> tensor<1x1xf32>",
     LZ_EPARSE, "not an integer"},
    /* regions */
    {"%0 = stablehlo.reduce(%a init: %s) applies stablehlo.abs across dimensions = [0] : "
     "(tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>",
     LZ_EPARSE, "cannot apply 'stablehlo.abs'"},
    {"%0 = stablehlo.reduce(%a init: %s) applies stablehlo.and across dimensions = [0] : "
     "(tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>",
     LZ_EPARSE, "and: is not defined for f32[]"},
    {"%0 = stablehlo.reduce(%a init: %i) applies stablehlo.add across dimensions = [0] : "
     "(tensor<2x3xf32>, tensor<i32>) -> tensor<3xf32>",
     LZ_EPARSE, "dtypes of f32[2,3] and i32[] differ"},
    {"%0 = \"stablehlo.reduce\"(%a, %s) <{dimensions = array<i64: 0>}> : (tensor<2x3xf32>, "
     "tensor<f32>) -> tensor<3xf32>",
     LZ_EPARSE, "reduce: the region is missing"},
    {"%0 = \"stablehlo.reduce\"(%a, %s) <{dimensions = array<i64: 0>}> ({}, {}) : "
     "(tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>",
     LZ_EPARSE, "expected a return before the end"},
    {"%0 = \"stablehlo.reduce\"(%a, %s) <{dimensions = array<i64: 0>}> ({ ^b(%x: tensor<f32>): "
     "stablehlo.return %x : tensor<f32> }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>",
     LZ_EPARSE, "body has 1 parameters and 1 results, but 2 and 1 are needed"},
    {"%0 = \"stablehlo.reduce\"(%a, %s) <{dimensions = array<i64: 0>}> ({ ^b(%x: tensor<f32>, %y: "
     "tensor<f32>): %z = stablehlo.abs %a : tensor<2x3xf32> stablehlo.return %x : tensor<f32> }) : "
     "(tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>",
     LZ_EUNSUPPORTED, "uses %a from around it"},
    {"%0 = \"stablehlo.reduce\"(%a, %s) <{dimensions = array<i64: 0>}> ({ stablehlo.return %s : "
     "tensor<f32> ^bb1: }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>",
     LZ_EPARSE, "expected '}' after the return"},
    /* what says a shape */
    {"%q = stablehlo.constant dense<[6, 1]> : tensor<2xi32> %0 = stablehlo.dynamic_reshape %a, %q "
     ": "
     "(tensor<2x3xf32>, tensor<2xi32>) -> tensor<6xf32>",
     LZ_EPARSE, "is not that of its result's type"},
    {"%q = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32> %v = stablehlo.reshape %a : "
     "(tensor<2x3xf32>) -> tensor<6xf32> %0 = stablehlo.dynamic_pad %v, %s, %q, %q, %q : "
     "(tensor<6xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<8xf32>",
     LZ_EUNSUPPORTED, "is not computed from constants"},
    {"%0 = stablehlo.get_dimension_size %a, dim = 2 : (tensor<2x3xf32>) -> tensor<i32>", LZ_EPARSE,
     "there is no dimension 2"},
    {"%0 = stablehlo.einsum %a, %a, config = \"ij,jk\" : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
     "tensor<2x3xf32>",
     LZ_EPARSE, "expected labels"},
    {"%0 = stablehlo.einsum %a, %a, config = \"ijk,jk->i\" : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
     "tensor<2xf32>",
     LZ_EPARSE, "not as many as there are dimensions"},
    {"%0 = stablehlo.unary_einsum %a, config = \"ij->ki\" : (tensor<2x3xf32>) -> tensor<3x2xf32>",
     LZ_EPARSE, "one that no operand has"},
    /* literals */
    {"%0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<3xf32>", LZ_EPARSE,
     "a list of 2 where dimension 0 has 3"},
    {"%0 = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<3xi32>", LZ_EPARSE,
     "more than the 3 elements"},
    {"%0 = stablehlo.constant dense<[[1, 2], [3]]> : tensor<2x2xi32>", LZ_EPARSE,
     "a list of 1 where dimension 1 has 2"},
    {"%0 = stablehlo.constant dense<[1]> : tensor<1x1xi32>", LZ_EPARSE, "expected '['"},
    {"%0 = stablehlo.constant dense<[[1]]> : tensor<1xi32>", LZ_EPARSE, "is no i32"},
    {"%0 = stablehlo.constant dense<> : tensor<2xi32>", LZ_EPARSE, "fewer than the 2 elements"},
    {"%0 = stablehlo.constant dense<[1]> : tensor<1000000000000xi8>", LZ_EPARSE,
     "fewer than the 1000000000000 elements"},
    {"%0 = stablehlo.constant dense<300> : tensor<i8>", LZ_EPARSE, "'300' is no i8"},
    {"%0 = stablehlo.constant dense<-129> : tensor<i8>", LZ_EPARSE, "'-129' is no i8"},
    {"%0 = stablehlo.constant dense<-1> : tensor<ui8>", LZ_EPARSE, "'-1' is no u8"},
    {"%0 = stablehlo.constant dense<1.5> : tensor<i32>", LZ_EPARSE, "'1.5' is no i32"},
    {"%0 = stablehlo.constant dense<99999999999999999999> : tensor<i64>", LZ_EPARSE, "is no i64"},
    {"%0 = stablehlo.constant dense<0x1FFFFFFFF> : tensor<f32>", LZ_EPARSE, "is no f32"},
    {"%0 = stablehlo.constant dense<nan> : tensor<f32>", LZ_EPARSE, "'nan' is no f32"},
    {"%0 = stablehlo.constant dense<2> : tensor<i1>", LZ_EPARSE, "'2' is no bool"},
    {"%0 = stablehlo.constant dense<1.0> : tensor<complex<f32>>", LZ_EPARSE, "expected '('"},
    {"%0 = stablehlo.constant dense<\"0x00\"> : tensor<2xf32>", LZ_EPARSE,
     "has 1 bytes, its type has 8"},
    {"%0 = stablehlo.constant dense<\"0x0\"> : tensor<2xi8>", LZ_EPARSE,
     "two digits for each byte"},
    {"%0 = stablehlo.constant dense<\"0x0g0h\"> : tensor<2xi8>", LZ_EPARSE,
     "not a hexadecimal digit"},
    {"%0 = stablehlo.constant dense_resource<big> : tensor<2xi8>", LZ_EUNSUPPORTED,
     "dense_resource"},
    {"%0 = stablehlo.constant dense<1 : tensor<2xi8>", LZ_EPARSE, ""},
    {"%0 = \"stablehlo.constant\"() : () -> tensor<f32>", LZ_EPARSE,
     "the attribute value is missing"},
    /* calls */
    {"%0 = call @nothing(%a) : (tensor<2x3xf32>) -> tensor<f32>", LZ_EPARSE,
     "there is no function @nothing"},
    {"%0 = call @id(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>", LZ_EPARSE,
     "does not fit the signature of @id"},
    {"%0 = call @id(%s) : (tensor<f32>) -> tensor<2x3xf32>", LZ_EPARSE,
     "does not fit the signature of @id"},
    {"%0 = call @me(%s) : (tensor<f32>) -> tensor<f32>", LZ_EUNSUPPORTED,
     "the function calls itself"},
    {"%0 = \"func.call\"(%s) : (tensor<f32>) -> tensor<f32>", LZ_EPARSE,
     "which function is not said"},
    {"return %a : tensor<2x3xf32>", LZ_EPARSE, "declares result 0 as f32[] and returns f32[2,3]"},
    {"return %s : tensor<f64>", LZ_EPARSE, "operand 0 is f32[], but the text says f64[]"},
    {"return %s, %s : tensor<f32>, tensor<f32>", LZ_EPARSE, "declares 1 results and returns 2"},
    {"return %s : tensor<f32> %0 = stablehlo.abs %s : tensor<f32>", LZ_EPARSE,
     "expected '}' after the return"},
};

START_TEST(lines_that_are_wrong)
{
    char text[4096];
    bool returns = strncmp(lines[_i].line, "return", 6) == 0;
    snprintf(
        text, sizeof text,
        "func.func @main(%%a: tensor<2x3xf32>, %%b: tensor<2x3xf32>, %%s: tensor<f32>, %%i: "
        "tensor<i32>, %%n: tensor<2xi32>) -> tensor<f32> {\n"
        " %s\n %s\n}\n"
        "func.func private @id(%%x: tensor<f32>) -> tensor<f32> {\n return %%x : tensor<f32>\n}\n"
        "func.func private @me(%%x: tensor<f32>) -> tensor<f32> {\n %%y = call @me(%%x) : "
        "(tensor<f32>) -> tensor<f32>\n return %%y : tensor<f32>\n}\n",
        lines[_i].line, returns ? "" : "return %s : tensor<f32>");
    ck_assert_int_ne(parse(text, strlen(text)), LZ_OK);
    const lz_error *e = lz_error_get();
    ck_assert_msg(e->status == lines[_i].status, "%s: %s", lz_status_name(e->status), e->message);
    ck_assert_msg(strncmp(e->message, "bad.mlir:", 9) == 0 && strstr(e->message, lines[_i].message),
                  "%s\nis not: %s", e->message, lines[_i].message);
    for (size_t n = 0; n < strlen(text); n += 1 + (size_t)(_i % 3)) /* cut anywhere */
        (void)parse(text, n);
}
END_TEST

static const struct {
    const char *text, *message;
} modules[] = {
    {"", "there is no function @main"},
    {"module {", "1:9: the module is not closed"},
    {"module {}", "there is no function @main"},
    {"module { } module { }", "expected the end of the text"},
    {"nonsense", "1:1: expected 'module' or 'func.func'"},
    {"func.func @main", "expected '('"},
    {"func.func @main(", "the bracket is not closed"},
    {"func.func private @main()", "expected '{'"},
    {"func.func @main() {", "the bracket is not closed"},
    {"func.func @main() { ", "the bracket is not closed"},
    {"func.func @main() { } func.func @main() { }", "there are two functions @main"},
    {"func.func @a() { return } func.func @b() { return }", "there is no function @main"},
    {"func.func @main(%a: tensor<f32>, %a: tensor<f32>) { return }", "%a has a value already"},
    {"func.func @main() { ^bb0: return }", "more than one block"},
    {"func.func @\"main { return }", "the string does not end"},
    {"func.func @main() -> (tensor<f32>, ) { return }", "expected a tensor type"},
    {"#loc = loc(\"abc", "the string does not end"},
};

/* Each alias has the one before it twice: a few lines of text for more values than memory holds. */
START_TEST(aliases_that_double)
{
    lz_buf b = {0};
    lz_buf_puts(&b, "!a0 = tensor<f32>\n!e0 = tuple<>\n");
    for (int i = 1; i < 60; i++)
        lz_buf_printf(&b, "!a%d = tuple<!a%d, !a%d>\n!e%d = tuple<!e%d, !e%d>\n", i, i - 1, i - 1,
                      i, i - 1, i - 1);
    lz_buf_printf(&b, "func.func @main(%%x: !%c%d) -> tensor<f32> {\n}\n", _i % 2 ? 'e' : 'a',
                  _i < 2 ? 59 : 18);
    ck_assert_int_eq(parse(lz_buf_str(&b), b.len), LZ_EUNSUPPORTED);
    ck_assert_msg(strstr(lz_error_get()->message, "a type of more than 65536 values"), "%s",
                  lz_error_get()->message);
    lz_buf_free(&b);
}
END_TEST

START_TEST(modules_that_are_wrong)
{
    ck_assert_int_ne(parse(modules[_i].text, strlen(modules[_i].text)), LZ_OK);
    ck_assert_msg(strstr(lz_error_get()->message, modules[_i].message), "%s\nis not: %s",
                  lz_error_get()->message, modules[_i].message);
}
END_TEST

START_TEST(a_function_without_results)
{
    const char *text = "func.func @main() { return }";
    ck_assert_int_eq(parse(text, strlen(text)), LZ_OK);
    text = "func.func @main() -> () { func.return }";
    ck_assert_int_eq(parse(text, strlen(text)), LZ_OK);
}
END_TEST

/* ---- depth ---- */

enum { DEEP = 100000 };

static char *repeat(const char *before, const char *what, int n, const char *after)
{
    size_t len = strlen(what) * (size_t)n, a = strlen(before), b = strlen(after);
    char *s = malloc(a + len + b + 1);
    memcpy(s, before, a);
    for (int i = 0; i < n; i++)
        memcpy(s + a + strlen(what) * (size_t)i, what, strlen(what));
    memcpy(s + a + len, after, b + 1);
    return s;
}

/* On a thread with little stack: text cannot make the parser recurse. */
static void *deep_text(void *arg)
{
    static const char *const brackets[] = {"[", "(", "{", "<", "[{(<",  "({", "\"a\" [",
                                           "]", ")", "}", ">", "^bb0:", "->"};
    static const char *const before[] = {
        "",
        "module attributes {a = ",
        "func.func @main() attributes {a = ",
        "func.func @main() { %0 = stablehlo.constant dense<",
        "func.func @main(%a: tensor<f32>) { %0 = stablehlo.abs %a {x = ",
        "func.func @main(%a: tensor<f32>) { %0 = stablehlo.slice %a ",
        "func.func @main(%a: tensor<f32>) { %0 = \"stablehlo.reduce\"(%a, %a) ",
        "#loc = ",
        "func.func @main(%a: tensor<",
    };
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        for (size_t k = 0; k < sizeof brackets / sizeof *brackets; k++) {
            char *s = repeat(before[i], brackets[k], DEEP, "");
            (void)parse(s, strlen(s));
            free(s);
        }
    *(bool *)arg = true;
    return NULL;
}

START_TEST(deep_brackets)
{
    pthread_attr_t a;
    pthread_t t;
    bool ok = false;
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, 256 << 10);
    ck_assert_int_eq(pthread_create(&t, &a, deep_text, &ok), 0);
    pthread_join(t, NULL);
    pthread_attr_destroy(&a);
    ck_assert(ok);
}
END_TEST

START_TEST(deep_regions)
{
    char *s = repeat("func.func @main(%a: tensor<2xf32>, %b: tensor<f32>) {\n",
                     "%0 = \"stablehlo.reduce\"(%a, %b) <{dimensions = array<i64>}> ({ ^b(%a: "
                     "tensor<f32>, %b: tensor<f32>):\n",
                     1000, "");
    char *closed = repeat(s, "}", 2001, "");
    ck_assert_int_eq(parse(closed, strlen(closed)), LZ_EUNSUPPORTED);
    ck_assert(strstr(lz_error_get()->message, "regions nest more than 16 deep"));
    free(s);
    free(closed);
}
END_TEST

/* f0 calls f1 calls ...: refused at a depth; and calls that double at each level are refused by
 * their number. */
START_TEST(deep_and_exploding_calls)
{
    for (int twice = 0; twice < 2; twice++) {
        int levels = twice ? 40 : 1000;
        lz_buf b = {0};
        for (int i = 0; i < levels; i++) {
            lz_buf_printf(&b, "func.func %s @%s%d(%%x: tensor<f32>) -> tensor<f32> {\n",
                          i ? "private" : "public", i ? "f" : "main", i);
            lz_buf_printf(&b,
                          " %%y = call @f%d(%%x) : (tensor<f32>) -> tensor<f32>\n %%c = "
                          "stablehlo.sine %%y : tensor<f32>\n",
                          i + 1);
            if (twice)
                lz_buf_printf(&b,
                              " %%z = call @f%d(%%c) : (tensor<f32>) -> tensor<f32>\n return %%z : "
                              "tensor<f32>\n}\n",
                              i + 1);
            else
                lz_buf_puts(&b, " return %c : tensor<f32>\n}\n");
        }
        lz_buf_printf(&b,
                      "func.func private @f%d(%%x: tensor<f32>) -> tensor<f32> { return %%x : "
                      "tensor<f32> }\n",
                      levels);
        ck_assert_int_eq(parse(b.data, b.len), LZ_EUNSUPPORTED);
        ck_assert_msg(strstr(lz_error_get()->message, twice ? "the calls expand to more than"
                                                            : "calls nest more than 64 deep"),
                      "%s", lz_error_get()->message);
        lz_buf_free(&b);
    }
}
END_TEST

/* Every call of a function that draws reads it again, and what it calls: neither long text nor
 * calls that double are read for ever. */
START_TEST(text_that_is_read_again)
{
    for (int twice = 0; twice < 2; twice++) {
        int levels = twice ? 60 : 1, calls = twice ? 2 : 2000;
        lz_buf b = {0};
        for (int i = 0; i < levels; i++) {
            lz_buf_printf(&b, "func.func %s @%s%d(%%x: tensor<f32>) -> tensor<f32> {\n",
                          i ? "private" : "public", i ? "f" : "main", i);
            for (int k = 0; k < calls; k++)
                lz_buf_printf(&b, " %%y%d = call @f%d(%%x) : (tensor<f32>) -> tensor<f32>\n", k,
                              i + 1);
            lz_buf_puts(&b, " return %y0 : tensor<f32>\n}\n");
        }
        lz_buf_printf(&b,
                      "func.func private @f%d(%%x: tensor<f32>) -> tensor<f32> {\n %%s = "
                      "stablehlo.constant dense<> : tensor<0xi64>\n %%y = stablehlo.rng %%x, %%x, "
                      "%%s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<0xi64>) -> "
                      "tensor<f32>\n",
                      levels);
        for (int k = 0; k < (twice ? 2000 : 50000); k++)
            lz_buf_puts(&b, "// a word\n");
        lz_buf_puts(&b, " return %y : tensor<f32>\n}\n");
        ck_assert_int_eq(parse(b.data, b.len), LZ_EUNSUPPORTED);
        ck_assert_msg(strstr(lz_error_get()->message, "functions are read again for more than"),
                      "%s", lz_error_get()->message);
        lz_buf_free(&b);
    }
}
END_TEST

static void types(lz_buf *b, int n, const char *type)
{
    for (int i = 0; i < n; i++)
        lz_buf_printf(b, "%s%s", i ? ", " : "(", type);
    lz_buf_puts(b, ")");
}

/* What each of many gets from all others grows with the square of their number. */
START_TEST(many_participants_that_meet)
{
    enum { N = 1024 };
    lz_buf b = {0};
    lz_buf_puts(&b, "func.func @main() {\n %x = stablehlo.constant dense<1> : tensor<1xi8>\n "
                    "%0:1024 = \"interpreter.run_parallel\"(");
    for (int i = 0; i < N; i++)
        lz_buf_puts(&b, i ? ", %x" : "%x");
    lz_buf_puts(&b, ") {programs = [[");
    for (int i = 0; i < N; i++)
        lz_buf_puts(&b, i ? ", @f" : "@f");
    lz_buf_puts(&b, "]]} : ");
    types(&b, N, "tensor<1xi8>");
    lz_buf_puts(&b, " -> ");
    types(&b, N, "tensor<1024xi8>");
    lz_buf_puts(&b, "\n return\n}\nfunc.func private @f(%x: tensor<1xi8>) -> tensor<1024xi8> {\n");
    for (int i = 1; i <= 3; i++)
        lz_buf_printf(&b,
                      " %%%d = \"stablehlo.all_gather\"(%%%s) {all_gather_dim = 0 : i64, "
                      "replica_groups = dense<[[0]]> : tensor<1x1xi64>, channel_handle = "
                      "#stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<1xi8>) -> "
                      "tensor<1024xi8>\n"
                      " %%x%d = stablehlo.slice %%%d [%d:%d] : (tensor<1024xi8>) -> "
                      "tensor<1xi8>\n",
                      i,
                      i == 1   ? "x"
                      : i == 2 ? "x1"
                               : "x2",
                      i, i, i, i + 1);
    lz_buf_puts(&b, " return %3 : tensor<1024xi8>\n}\n");
    ck_assert_int_eq(parse(b.data, b.len), LZ_EUNSUPPORTED);
    ck_assert_msg(strstr(lz_error_get()->message, "the calls expand to more than"), "%s",
                  lz_error_get()->message);
    lz_buf_free(&b);
}
END_TEST

static lz_status count_unsupported(const lz_checked *c, void *user)
{
    int *n = user;
    n[0] += c != NULL;
    n[1] += !c && lz_error_get()->status == LZ_EUNSUPPORTED &&
            strstr(lz_error_get()->message, "is written down as 'p'");
    return LZ_OK;
}

/* So many that the memory of one function is another's again. */
START_TEST(what_other_functions_wrote_down)
{
    int n[2] = {0};
    lz_buf b = {0};
    for (int i = 0; i < 24; i++) {
        lz_buf_printf(&b, "func.func @f%d() {\n %%x = stablehlo.constant dense<1> : tensor<i32>\n",
                      i);
        lz_buf_puts(&b, i < 16 ? " %y = stablehlo.negate %x : tensor<i32>\n %z = "
                                 "interpreter.probe %y, probe_id = \"p\" : tensor<i32>\n"
                               : " check.expect_serialized_eq %x, probe_id = \"p\" : "
                                 "tensor<i32>\n");
        lz_buf_puts(&b, " return\n}\n");
    }
    ck_assert_int_eq(lz_checked_parse(b.data, b.len, "t", NULL, count_unsupported, n), LZ_OK);
    ck_assert_int_eq(n[0], 16);
    ck_assert_int_eq(n[1], 8);
    lz_buf_free(&b);
}
END_TEST

/* ---- damage ---- */

static const char sample[] =
    "module @jit_f attributes {mhlo.num_partitions = 1 : i32} {\n"
    "  func.func public @main(%arg0: tensor<10x3xf32>, %arg1: tensor<3x1xi32>) -> "
    "(tensor<10x3xf32> {jax.result_info = \"\"}) {\n"
    "    %cst = stablehlo.constant dense<[[1.0, 0x7F800000, -2.5e-3]]> : tensor<1x3xf32>\n"
    "    %cst_0 = stablehlo.constant dense<\"0x000080BF0000807F\"> : tensor<2xf32>\n"
    "    %0 = \"stablehlo.gather\"(%arg0, %arg1) <{dimension_numbers = "
    "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], "
    "start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : "
    "(tensor<10x3xf32>, tensor<3x1xi32>) -> tensor<3x3xf32>\n"
    "    %1 = stablehlo.broadcast_in_dim %cst, dims = [0, 1] : (tensor<1x3xf32>) -> "
    "tensor<3x3xf32>\n"
    "    %2 = call @f(%0, %1) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>\n"
    "    %3 = \"stablehlo.scatter\"(%arg0, %arg1, %2) <{scatter_dimension_numbers = "
    "#stablehlo.scatter<update_window_dims = [1], "
    "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({\n"
    "    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):\n"
    "      %4 = stablehlo.add %arg2, %arg3 : tensor<f32>\n"
    "      stablehlo.return %4 : tensor<f32>\n"
    "    }) : (tensor<10x3xf32>, tensor<3x1xi32>, tensor<3x3xf32>) -> tensor<10x3xf32>\n"
    "    return %3 : tensor<10x3xf32> loc(\"x\")\n"
    "  }\n"
    "  func.func private @f(%a: tensor<3x3xf32>, %b: tensor<3x3xf32>) -> tensor<3x3xf32> {\n"
    "    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<3x3xf32>, "
    "tensor<3x3xf32>) -> tensor<3x3xf32>\n"
    "    %1:2 = stablehlo.optimization_barrier %0, %a : tensor<3x3xf32>, tensor<3x3xf32>\n"
    "    %2 = stablehlo.slice %1#1 [0:3, 0:3:1] : (tensor<3x3xf32>) -> tensor<3x3xf32>\n"
    "    return %2 : tensor<3x3xf32>\n"
    "  }\n"
    "}\n";

START_TEST(every_prefix_and_every_byte)
{
    size_t n = sizeof sample - 1;
    ck_assert_msg(parse(sample, n) == LZ_OK, "%s", lz_error_get()->message);
    for (size_t i = 0; i < n; i++) {
        (void)parse(sample, i);
        static const char put[] = "%#<>{}[]()\"0-,:\n\0a";
        char text[sizeof sample];
        memcpy(text, sample, sizeof sample);
        for (size_t k = 0; k < sizeof put; k++) {
            text[i] = put[k];
            (void)parse(text, n);
        }
    }
}
END_TEST

START_TEST(pieces_moved_around)
{
    lz_rnd r = {(uint64_t)_i};
    char text[sizeof sample * 2];
    for (int i = 0; i < 3000; i++) {
        size_t n = sizeof sample - 1;
        memcpy(text, sample, n);
        for (int64_t k = lz_rnd_range(&r, 1, 4); k > 0; k--) {
            size_t from = (size_t)lz_rnd_range(&r, 0, (int64_t)n - 1),
                   to = (size_t)lz_rnd_range(&r, 0, (int64_t)n - 1);
            size_t len = (size_t)lz_rnd_range(&r, 1, 40);
            len = len > n - from ? n - from : len;
            len = len > n - to ? n - to : len;
            memmove(text + to, text + from, len);
        }
        (void)parse(text, n);
    }
}
END_TEST

START_TEST(memory_runs_out)
{
    lz_func *f;
    int64_t n = 1;
    for (lz_status s = LZ_EMEM; s != LZ_OK; n++) {
        lz_alloc_fail_at(n, false);
        s = lz_func_parse(sample, sizeof sample - 1, "t", &f);
        lz_alloc_fail_at(0, false);
        ck_assert_msg(s == LZ_OK || s == LZ_EMEM, "%s", lz_error_get()->message);
        lz_func_free(f);
    }
    ck_assert_int_gt(n, 50);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ir/parse_errors");
    TCase *t = tcase_create("parse_errors");
    tcase_add_loop_test(t, lines_that_are_wrong, 0, (int)(sizeof lines / sizeof *lines));
    tcase_add_loop_test(t, aliases_that_double, 0, 4);
    tcase_add_loop_test(t, modules_that_are_wrong, 0, (int)(sizeof modules / sizeof *modules));
    tcase_add_test(t, a_function_without_results);
    tcase_add_test(t, deep_brackets);
    tcase_add_test(t, deep_regions);
    tcase_add_test(t, deep_and_exploding_calls);
    tcase_add_test(t, text_that_is_read_again);
    tcase_add_test(t, many_participants_that_meet);
    tcase_add_test(t, what_other_functions_wrote_down);
    tcase_add_test(t, every_prefix_and_every_byte);
    tcase_add_loop_test(t, pieces_moved_around, 0, 4);
    tcase_add_test(t, memory_runs_out);
    tcase_set_timeout(t, 300);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
