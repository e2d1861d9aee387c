/* t_report.c - what is said of collectives: each has its bytes, the value that moved, who wanted it
 * and the marks behind both; a mark that is broken is named. */
#include "base/status.h"
#include "shard/shard.h"
#include "suite.h"
#include <stdio.h>
#include <string.h>

/* A step of a small language model: tokens through an embedding, attention and a layer of two
 * products to a loss. A line for each parameter, so that lines name them. */
static const char *const marks[] = {
    "[{\"rows\"}, {}]",         /* tokens */
    "[{}, {\"cols\"}]",         /* table */
    "[{\"rows\"}, {\"cols\"}]", /* query */
    "[{\"rows\"}, {\"cols\"}]", /* key */
    "[{\"rows\"}, {\"cols\"}]", /* value */
    "[{\"cols\"}, {\"rows\"}]", /* output */
    "[{\"rows\"}, {\"cols\"}]", /* up */
    "[{\"cols\"}, {\"rows\"}]", /* down */
};
enum { NPARAM = sizeof marks / sizeof *marks };
static const char *const types[NPARAM] = {"8x4xi32", "16x8xf32", "8x8xf32",  "8x8xf32",
                                          "8x8xf32", "8x8xf32",  "8x16xf32", "16x8xf32"};

static const char body[] =
    "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "%i = stablehlo.reshape %p0 : (tensor<8x4xi32>) -> tensor<8x4x1xi32>\n"
    "%h = \"stablehlo.gather\"(%p1, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], "
    "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = "
    "array<i64: 1, 8>}> : (tensor<16x8xf32>, tensor<8x4x1xi32>) -> tensor<8x4x8xf32>\n"
    "%hm = sdy.sharding_constraint %h <@mesh, [{\"rows\"}, {}, {}]> : tensor<8x4x8xf32>\n"
    "%q = stablehlo.dot_general %hm, %p2, contracting_dims = [2] x [0] : (tensor<8x4x8xf32>, "
    "tensor<8x8xf32>) -> tensor<8x4x8xf32>\n"
    "%k = stablehlo.dot_general %hm, %p3, contracting_dims = [2] x [0] : (tensor<8x4x8xf32>, "
    "tensor<8x8xf32>) -> tensor<8x4x8xf32>\n"
    "%v = stablehlo.dot_general %hm, %p4, contracting_dims = [2] x [0] : (tensor<8x4x8xf32>, "
    "tensor<8x8xf32>) -> tensor<8x4x8xf32>\n"
    "%s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : "
    "(tensor<8x4x8xf32>, tensor<8x4x8xf32>) -> tensor<8x4x4xf32>\n"
    "%e = stablehlo.exponential %s : tensor<8x4x4xf32>\n"
    "%a = stablehlo.dot_general %e, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : "
    "(tensor<8x4x4xf32>, tensor<8x4x8xf32>) -> tensor<8x4x8xf32>\n"
    "%o = stablehlo.dot_general %a, %p5, contracting_dims = [2] x [0] : (tensor<8x4x8xf32>, "
    "tensor<8x8xf32>) -> tensor<8x4x8xf32>\n"
    "%u = stablehlo.dot_general %o, %p6, contracting_dims = [2] x [0] : (tensor<8x4x8xf32>, "
    "tensor<8x16xf32>) -> tensor<8x4x16xf32>\n"
    "%t = stablehlo.tanh %u : tensor<8x4x16xf32>\n"
    "%d = stablehlo.dot_general %t, %p7, contracting_dims = [2] x [0] : (tensor<8x4x16xf32>, "
    "tensor<16x8xf32>) -> tensor<8x4x8xf32>\n"
    "%loss = stablehlo.reduce(%d init: %z) applies stablehlo.add across dimensions = [0, 1, 2] : "
    "(tensor<8x4x8xf32>, tensor<f32>) -> tensor<f32>\n"
    "return %loss : tensor<f32>\n}\n";

/* The step with another mark for parameter `broken` (-1: none): where each axis is once, the other
 * way round, else along all of them. */
static void step_text(char *out, size_t n, int broken)
{
    int at = snprintf(out, n, "sdy.mesh @mesh = <[\"rows\"=2, \"cols\"=2]>\nfunc.func @main(\n");
    for (int i = 0; i < NPARAM; i++) {
        const char *says = marks[i];
        if (i == broken)
            says = strstr(says, "[{\"rows\"}, {\"cols")   ? "[{\"cols\"}, {\"rows\"}]"
                   : strstr(says, "[{\"cols\"}, {\"rows") ? "[{\"rows\"}, {\"cols\"}]"
                   : i == 0                               ? "[{\"cols\"}, {}]"
                                                          : "[{\"rows\"}, {}]";
        at += snprintf(out + at, n - (size_t)at,
                       "%%p%d: tensor<%s> {sdy.sharding = #sdy.sharding<@mesh, %s>}%s\n", i,
                       types[i], says, i + 1 < NPARAM ? "," : ") -> tensor<f32> {");
    }
    ck_assert_int_lt(snprintf(out + at, n - (size_t)at, "%s", body), (int)n - at);
}

typedef struct told {
    lz_func *f;
    lz_arena a;
    lz_shardings *s;
    lz_partitioned p;
    const lz_mesh *mesh;
    lz_buf text, json;
} told;

static void tell(told *x, const char *text)
{
    ck_assert_msg(lz_func_parse_marked(text, strlen(text), "step", NULL, 4, NULL, &x->f) == LZ_OK,
                  "%s", lz_error_get()->message);
    ck_assert_int_eq(lz_shard_mesh(x->f, &x->mesh), LZ_OK);
    ck_assert_int_eq(lz_shard_propagate(x->f, x->mesh, &x->a, &x->s), LZ_OK);
    ck_assert_msg(lz_partition_as(x->f, x->mesh, x->s, &x->p) == LZ_OK, "%s",
                  lz_error_get()->message);
    ck_assert_int_eq(lz_shard_report_collectives(&x->p, x->mesh, &x->text), LZ_OK);
    ck_assert_int_eq(lz_shard_report_json(x->s, x->mesh, &x->p, &x->json), LZ_OK);
}

static void forget(told *x)
{
    lz_partitioned_free(&x->p);
    lz_arena_free(&x->a);
    lz_func_free(x->f);
    lz_buf_free(&x->text);
    lz_buf_free(&x->json);
    *x = (told){0};
}

/* Whether a line of `text` that `other` has not has the words. */
static bool new_line_has(const char *text, const char *other, const char *words)
{
    char line[4000];
    for (const char *s = text, *end; (end = strchr(s, '\n')); s = end + 1) {
        ck_assert_int_lt(end - s, (int)sizeof line);
        snprintf(line, sizeof line, "%.*s", (int)(end - s), s);
        if (strstr(line, words) && !strstr(other, line))
            return true;
    }
    return false;
}

static char text[20000];

/* Whichever mark is broken, what is sent because of it says so. */
START_TEST(broken_mark_is_named)
{
    told good = {0}, bad = {0};
    char words[64];
    step_text(text, sizeof text, -1);
    tell(&good, text);
    step_text(text, sizeof text, _i);
    tell(&bad, text);
    snprintf(words, sizeof words, " of parameter %d  (step:%d)", _i, 3 + _i);
    ck_assert_msg(new_line_has(lz_buf_str(&bad.text), lz_buf_str(&good.text), words),
                  "no '%s' among\n%s", words, lz_buf_str(&bad.text));
    snprintf(words, sizeof words, "\"location\": \"step:%d\"", 3 + _i);
    ck_assert_ptr_nonnull(strstr(lz_buf_str(&bad.json), words));
    forget(&good);
    forget(&bad);
}
END_TEST

/* The lines of one program, word by word. */
START_TEST(lines)
{
    static const char program[] =
        "sdy.mesh @mesh = <[\"x\"=2, \"y\"=4]>\n"
        "func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, "
        "{\"y\"}]>},\n"
        "%b: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"y\"}, {}]>})"
        " -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {\n"
        "%c = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x8xf32>, "
        "tensor<8x4xf32>) -> tensor<8x4xf32>\n"
        "return %c : tensor<8x4xf32>\n}\n";
    told x = {0};
    tell(&x, program);
    ck_assert_str_eq(
        lz_buf_str(&x.text),
        "#0 all_reduce along {\"y\"}, groups of 4: f32[8,4]; 128 bytes in, 128 out, 192 sent\n"
        "  %4 = f32[8,4] dot_general(%2, %3)  (step:4) is [{}, {}], unreduced={\"y\"}, partial "
        "results of %4  (step:4) wanted [{}, {}] as result 0; marks: %5 [{}, {}] of %4  (step:3), "
        "%2 [{}, {\"y\"}] of parameter 0  (step:2), %3 [{\"y\"}, {}] of parameter 1  (step:3)\n"
        "1 collectives, 192 bytes sent by each device\n"
        "  all_reduce: 1, 192 bytes\n");
    static const char *const said[] = {
        "\"collective\": \"all_reduce\", \"axes\": \"{\\\"y\\\"}\", \"groups\": \"[[0, 1, 2, 3], "
        "[4, 5, 6, 7]]\", \"group_size\": 4, \"operands\": 1, \"operand_bytes\": 128, "
        "\"result_bytes\": 128, \"sent_bytes\": 192, \"loop\": false",
        "\"need\": \"result\", \"region\": \"\", \"value\": 4, \"op\": \"dot_general\"",
        "\"totals\": {\"collectives\": 1, \"sent_bytes\": 192, \"kinds\": {\"all_reduce\": "
        "{\"collectives\": 1, \"sent_bytes\": 192}}}"};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        ck_assert_msg(strstr(lz_buf_str(&x.json), said[i]) != NULL, "no %s in %s", said[i],
                      lz_buf_str(&x.json));
    forget(&x);
}
END_TEST

/* What is in a loop is told with the way there. */
START_TEST(loop)
{
    static const char program[] =
        "sdy.mesh @mesh = <[\"x\"=2]>\n"
        "func.func @main(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>}, "
        "%n: tensor<i32>) -> tensor<4x4xf32> {\n"
        "%r:2 = stablehlo.while(%i = %n, %v = %a) : tensor<i32>, tensor<4x4xf32>\n"
        "cond {\n"
        "%p = stablehlo.compare LT, %i, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        "stablehlo.return %p : tensor<i1>\n"
        "} do {\n"
        "%t = stablehlo.transpose %v, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>\n"
        "stablehlo.return %i, %t : tensor<i32>, tensor<4x4xf32>\n"
        "}\n"
        "return %r#1 : tensor<4x4xf32>\n}\n";
    told x = {0};
    tell(&x, program);
    ck_assert_ptr_nonnull(strstr(lz_buf_str(&x.text), " sent in each round of a loop\n"));
    ck_assert_ptr_nonnull(strstr(lz_buf_str(&x.text), "  in region 1 of %"));
    ck_assert_ptr_nonnull(strstr(lz_buf_str(&x.text), "of parameter 0 around it or in it"));
    ck_assert_ptr_nonnull(strstr(lz_buf_str(&x.json), "\"loop\": true"));
    forget(&x);
}
END_TEST

/* Local instructions have no notes left, but sites of the program. */
START_TEST(sites_of_local_instructions)
{
    uint32_t others = 0;
    told x = {0};
    step_text(text, sizeof text, -1);
    tell(&x, text);
    for (lz_val v = 0; v < x.p.local->ninst; v++) {
        const lz_inst *in = &x.p.local->insts[v];
        bool collective = lz_op_get(in->sig->op)->cls == LZ_CLASS_COLLECTIVE;
        ck_assert(in->site != NULL || !collective);
        if (in->site)
            ck_assert_str_eq(in->site->file, "step");
        others += in->site && !collective;
    }
    ck_assert_uint_gt(others, 0);
    forget(&x);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("report");
    TCase *t = tcase_create("collectives");
    tcase_add_loop_test(t, broken_mark_is_named, 0, NPARAM);
    tcase_add_test(t, lines);
    tcase_add_test(t, loop);
    tcase_add_test(t, sites_of_local_instructions);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
