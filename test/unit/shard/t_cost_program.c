/* t_cost_program.c - the step of a partitioned program: bytes are those that the report of its
 * collectives counts, times those of its products, loops count as often as they run; what a machine
 * cannot is refused; a function of a million instructions takes a million steps. */
#include "base/status.h"
#include "shard/cost/cost_step.h"
#include "suite.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct priced {
    lz_func *f;
    const lz_mesh *mesh;
    lz_partitioned p;
    lz_cost_place place;
    lz_cost_step step;
} priced;

static lz_status price(priced *x, const char *text, const char *machine)
{
    *x = (priced){0};
    ck_assert_msg(lz_func_parse_marked(text, strlen(text), "step", NULL, 8, NULL, &x->f) == LZ_OK,
                  "%s", lz_error_get()->message);
    ck_assert_int_eq(lz_shard_mesh(x->f, &x->mesh), LZ_OK);
    ck_assert_msg(lz_partition(x->f, x->mesh, &x->p) == LZ_OK, "%s", lz_error_get()->message);
    lz_cost_place_mesh(lz_cost_machine_find(machine), x->mesh, &x->place);
    return lz_cost_program(&x->place, x->f, &x->p, &x->step);
}

static void forget(priced *x)
{
    lz_cost_step_free(&x->step);
    lz_partitioned_free(&x->p);
    lz_func_free(x->f);
}

#define MESH "sdy.mesh @mesh = <[\"data\"=2, \"model\"=4]>\n"
#define AT(dims) "{sdy.sharding = #sdy.sharding<@mesh, " dims ">}"
/* Two products, the second one's sums over "model"; the batch along "data". */
static const char mlp[] =
    MESH "func.func @main(%x: tensor<4096x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, "
         "[{\"data\"}, {}]>}, %u: tensor<1024x4096xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, "
         "{\"model\"}]>}, %d: tensor<4096x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, "
         "[{\"model\"}, {}]>}) -> tensor<4096x1024xbf16> {\n"
         "%a = stablehlo.dot_general %x, %u, contracting_dims = [1] x [0] : "
         "(tensor<4096x1024xbf16>, tensor<1024x4096xbf16>) -> tensor<4096x4096xbf16>\n"
         "%b = stablehlo.tanh %a : tensor<4096x4096xbf16>\n"
         "%c = stablehlo.dot_general %b, %d, contracting_dims = [1] x [0] : "
         "(tensor<4096x4096xbf16>, tensor<4096x1024xbf16>) -> tensor<4096x1024xbf16>\n"
         "return %c : tensor<4096x1024xbf16>\n"
         "}\n";

START_TEST(counted_by_hand)
{
    priced x;
    ck_assert_int_eq(price(&x, mlp, "a100"), LZ_OK);
    const lz_cost_machine *c = x.place.machine;
    double flops = 2. * 4096 * 1024 * 4096;
    ck_assert_double_eq(x.step.model_flops, 2 * flops);
    ck_assert_double_eq(x.step.flops, 2 * flops / 8);
    ck_assert_int_eq(x.step.rate, LZ_RATE_F16);
    double bytes = 2. * (2048 * 1024 + 1024 * 1024 + 2048 * 1024);
    double product = lz_cost_product(c, LZ_RATE_F16, 1, 2048, 1024, 1024, bytes);
    ck_assert_double_eq_tol(x.step.products, 2 * product, 1e-9);
    ck_assert_double_eq_tol(x.step.memory, lz_cost_memory(c, 2. * 2 * 2048 * 1024), 1e-9);
    ck_assert_uint_eq(x.step.uses.len, 1);
    ck_assert_int_eq(x.step.uses.data[0].kind, LZ_OP_ALL_REDUCE);
    ck_assert_double_eq(x.step.uses.data[0].bytes, 2. * 3 / 4 * 2 * 2048 * 1024);
    ck_assert_double_eq_tol(x.step.seconds, x.step.products + x.step.memory + x.step.communication,
                            1e-9); /* an A100 hides nothing */
    ck_assert_double_ge(x.step.state_bytes, 2. * (2048 * 1024 + 2 * 1024 * 1024));
    ck_assert_double_ge(x.step.peak_bytes, x.step.state_bytes + 2. * 2 * 2048 * 1024);
    forget(&x);
}
END_TEST

/* Whatever the program, as many bytes as the report of its collectives says. */
START_TEST(bytes_of_the_report)
{
    priced x;
    double reported = 0, predicted = 0;
    ck_assert_int_eq(price(&x, mlp, "v5e"), LZ_OK);
    for (const lz_shard_collective *c = x.p.collectives; c; c = c->next) {
        lz_shard_traffic t;
        ck_assert_int_eq(lz_shard_traffic_of(c->sig, x.mesh, &t), LZ_OK);
        reported += (double)t.sent_bytes;
    }
    for (uint32_t i = 0; i < x.step.uses.len; i++)
        predicted += x.step.uses.data[i].bytes;
    ck_assert_double_gt(reported, 0);
    ck_assert_double_eq(reported, predicted);
    forget(&x);
}
END_TEST

/* A loop of seven rounds of a product of rows that stay and columns that are summed. */
static const char loop[] =
    MESH "func.func @main(%x: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, "
         "{\"model\"}]>}, %w: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, "
         "[{\"model\"}, {}]>}) -> tensor<1024x1024xf32> {\n"
         "%zero = stablehlo.constant dense<0> : tensor<i64>\n"
         "%r:2 = stablehlo.while(%i = %zero, %h = %x) : tensor<i64>, tensor<1024x1024xf32>\n"
         "cond {\n"
         "%n = stablehlo.constant dense<7> : tensor<i64>\n"
         "%c = stablehlo.compare LT, %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>\n"
         "stablehlo.return %c : tensor<i1>\n"
         "} do {\n"
         "%one = stablehlo.constant dense<1> : tensor<i64>\n"
         "%j = stablehlo.add %i, %one : tensor<i64>\n"
         "%p = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0] : "
         "(tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>\n"
         "%t = stablehlo.tanh %p : tensor<1024x1024xf32>\n"
         "stablehlo.return %j, %t : tensor<i64>, tensor<1024x1024xf32>\n"
         "}\n"
         "return %r#1 : tensor<1024x1024xf32>\n"
         "}\n";

START_TEST(rounds)
{
    priced x;
    ck_assert_int_eq(price(&x, loop, "h100"), LZ_OK);
    ck_assert(!x.step.guessed);
    ck_assert_double_eq(x.step.model_flops, 7 * 2. * 1024 * 1024 * 1024);
    ck_assert_double_ge(x.step.flops, x.step.model_flops / 8);
    double calls = 0;
    for (uint32_t i = 0; i < x.step.uses.len; i++)
        calls += x.step.uses.data[i].calls;
    ck_assert_double_ge(calls, 7);
    ck_assert_double_gt(x.step.seconds, x.step.products + x.step.memory);
    forget(&x);
    char other[sizeof loop];
    memcpy(other, loop, sizeof loop);
    memcpy(strstr(other, "LT,"), "LE,", 3); /* a round more */
    ck_assert_int_eq(price(&x, other, "h100"), LZ_OK);
    ck_assert(!x.step.guessed);
    ck_assert_double_eq(x.step.model_flops, 8 * 2. * 1024 * 1024 * 1024);
    forget(&x);
    memcpy(strstr(other, "LE,"), "EQ,", 3); /* no trip count */
    ck_assert_int_eq(price(&x, other, "h100"), LZ_OK);
    ck_assert(x.step.guessed);
    ck_assert_double_eq(x.step.model_flops, 2. * 1024 * 1024 * 1024);
    forget(&x);
}
END_TEST

/* ---- programs of one device ---- */

static void price_alone(const char *text, lz_cost_step *step)
{
    lz_func *f;
    lz_mesh_axis one = {lz_string_get("x", 1), 1};
    lz_cost_place place;
    ck_assert_msg(lz_func_parse(text, strlen(text), "step", &f) == LZ_OK, "%s",
                  lz_error_get()->message);
    lz_cost_place_mesh(lz_cost_machine_find("h100"), lz_mesh_get(&one, 1, NULL), &place);
    const lz_partitioned p = {.local = f};
    ck_assert_int_eq(lz_cost_program(&place, f, &p, step), LZ_OK);
    ck_assert_double_eq_tol(step->seconds, step->products + step->memory + step->exposed, 1e-12);
    lz_func_free(f);
}

#define TILE "tensor<1024x1024xf32>"
#define DOT(a, b)                                                                                  \
    "stablehlo.dot_general " a ", " b ", contracting_dims = [1] x [0] : (" TILE ", " TILE          \
    ") -> " TILE "\n"
static const double tile = 4. * 1024 * 1024, tile_flops = 2. * 1024 * 1024 * 1024;

/* Of two branches the longer one, wherever it is written, and nothing of the other. */
START_TEST(branches)
{
    static const char *const body[] = {
        "%a = " DOT("%x", "%x") "%b = " DOT("%a", "%x") "stablehlo.return %b : " TILE "\n",
        "%a = " DOT("%x", "%x") "stablehlo.return %a : " TILE "\n"};
    for (int i = 0; i < 2; i++) {
        char text[2000];
        lz_cost_step s;
        snprintf(text, sizeof text,
                 "func.func @main(%%p: tensor<i1>, %%x: " TILE ") -> " TILE " {\n"
                 "%%r = \"stablehlo.if\"(%%p) ({\n%s}, {\n%s}) : (tensor<i1>) -> " TILE "\n"
                 "return %%r : " TILE "\n}\n",
                 body[i], body[1 - i]);
        price_alone(text, &s);
        ck_assert_double_eq(s.flops, 2 * tile_flops);
        ck_assert_double_eq(s.model_flops, 2 * tile_flops);
        ck_assert_double_eq(s.peak_bytes, s.state_bytes + 2 * tile); /* a and b */
        lz_cost_step_free(&s);
    }
}
END_TEST

/* The peak that utilisation is of is that of most operations, in any order. */
START_TEST(rate_of_most)
{
#define FEW(r, a, type)                                                                            \
    r " = stablehlo.dot_general " a ", " a ", contracting_dims = [1] x [0] : (tensor<64x64x" type  \
      ">, tensor<64x64x" type ">) -> tensor<64x64x" type ">\n"
    static const char *const body[] = {
        FEW("%a", "%x", "f32") FEW("%b", "%y", "bf16") FEW("%c", "%b", "bf16"),
        FEW("%b", "%y", "bf16") FEW("%c", "%b", "bf16") FEW("%a", "%x", "f32")};
    for (int i = 0; i < 2; i++) {
        char text[2000];
        lz_cost_step s;
        snprintf(text, sizeof text,
                 "func.func @main(%%x: tensor<64x64xf32>, %%y: tensor<64x64xbf16>) -> "
                 "(tensor<64x64xf32>, tensor<64x64xbf16>) {\n%s"
                 "return %%a, %%c : tensor<64x64xf32>, tensor<64x64xbf16>\n}\n",
                 body[i]);
        price_alone(text, &s);
        ck_assert_int_eq(s.rate, LZ_RATE_F16);
        lz_cost_step_free(&s);
    }
#undef FEW
}
END_TEST

/* A value is there as long as a name of it is needed, and while a region runs. */
START_TEST(lives)
{
    static const char names[] =
        "func.func @main(%x: " TILE ") -> " TILE " {\n"
        "%a = " DOT(
            "%x", "%x") "%n = stablehlo.reshape %a : (" TILE ") -> tensor<1048576xf32>\n"
                        "%b = " DOT("%x", "%x") "%c = " DOT(
                            "%b", "%x") "%m = stablehlo.reshape %n : (tensor<1048576xf32>) -> " TILE
                                        "\n"
                                        "%r = stablehlo.add %c, %m : " TILE "\n"
                                        "return %r : " TILE "\n}\n";
    static const char region[] =
        "func.func @main(%p: tensor<i1>, %x: " TILE ") -> " TILE " {\n"
        "%a = " DOT("%x", "%x") "%r = \"stablehlo.if\"(%p) ({\n"
                                "%b = " DOT("%x", "%x") "%c = " DOT(
                                    "%b", "%x") "stablehlo.return %c : " TILE "\n"
                                                "}, {\nstablehlo.return %x : " TILE "\n"
                                                "}) : (tensor<i1>) -> " TILE "\n"
                                                "%s = stablehlo.add %a, %r : " TILE "\n"
                                                "return %s : " TILE "\n}\n";
    lz_cost_step s;
    price_alone(names, &s);
    ck_assert_double_eq(s.peak_bytes, s.state_bytes + 3 * tile); /* a, b and c; a, c and r */
    lz_cost_step_free(&s);
    price_alone(region, &s);
    ck_assert_double_eq(s.peak_bytes, s.state_bytes + 3 * tile); /* a, b and c */
    lz_cost_step_free(&s);
}
END_TEST

/* ---- overlap, loops in loops ---- */

/* What runs behind compute: the same program on a machine that hides, and one that does not. */
START_TEST(hidden)
{
    priced x;
    ck_assert_int_eq(price(&x, mlp, "h100"), LZ_OK);
    lz_cost_machine none = *x.place.machine;
    none.hide = none.hide_own = 0;
    lz_cost_place place = x.place;
    lz_cost_step exposed;
    place.machine = &none;
    ck_assert_int_eq(lz_cost_program(&place, x.f, &x.p, &exposed), LZ_OK);
    ck_assert_double_le(x.step.seconds, exposed.seconds);
    ck_assert_double_eq(x.step.communication, exposed.communication);
    ck_assert_double_eq_tol(exposed.exposed, exposed.communication, 1e-9);
    lz_cost_step_free(&exposed);
    forget(&x);
}
END_TEST

/* Loops in loops of as many rounds as there are numbers give finite times. */
START_TEST(endless)
{
    static char text[40000];
    int at = snprintf(
        text, sizeof text, "%s",
        MESH "func.func @main(%x0: tensor<64xf32> " AT(
            "[{\"data\"}]") ") -> tensor<64xf32> {\n"
                            "%zero = stablehlo.constant dense<0> : tensor<i64>\n"
                            "%one = stablehlo.constant dense<1> : tensor<i64>\n"
                            "%n = stablehlo.constant dense<9223372036854775807> : tensor<i64>\n");
    enum { DEPTH = 12 };
    for (int d = 0; d < DEPTH; d++)
        at += snprintf(text + at, sizeof text - (size_t)at,
                       "%%r%d:2 = stablehlo.while(%%i%d = %%zero, %%x%d = %%x%d) : tensor<i64>, "
                       "tensor<64xf32>\ncond {\n%%c%d = stablehlo.compare LT, %%i%d, %%n : "
                       "(tensor<i64>, tensor<i64>) -> tensor<i1>\nstablehlo.return %%c%d : "
                       "tensor<i1>\n} do {\n%%j%d = stablehlo.add %%i%d, %%one : tensor<i64>\n",
                       d, d, d + 1, d, d, d, d, d, d);
    at += snprintf(text + at, sizeof text - (size_t)at,
                   "%%y%d = stablehlo.tanh %%x%d : tensor<64xf32>\n", DEPTH, DEPTH);
    for (int d = DEPTH; d-- > 0;)
        at += snprintf(text + at, sizeof text - (size_t)at,
                       "stablehlo.return %%j%d, %%y%d : tensor<i64>, tensor<64xf32>\n}\n"
                       "%%y%d = stablehlo.tanh %%r%d#1 : tensor<64xf32>\n",
                       d, d + 1, d, d);
    snprintf(text + at, sizeof text - (size_t)at, "return %%y0 : tensor<64xf32>\n}\n");
    priced x;
    ck_assert_msg(price(&x, text, "h100") == LZ_OK, "%s", lz_error_get()->message);
    ck_assert(isfinite(x.step.seconds) && isfinite(x.step.memory) && x.step.seconds > 1e29);
    forget(&x);
}
END_TEST

/* FSDP: what a later layer needs is gathered while earlier ones compute. */
START_TEST(gathers_ahead)
{
    static const char text[] =
        MESH "func.func @main(%x: tensor<65536x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, "
             "[{\"data\", \"model\"}, {}]>}, %u: tensor<1024x1024xbf16> {sdy.sharding = "
             "#sdy.sharding<@mesh, [{\"data\", \"model\"}, {}]>}, %d: tensor<1024x1024xbf16> "
             "{sdy.sharding = #sdy.sharding<@mesh, [{\"data\", \"model\"}, {}]>}) -> "
             "(tensor<65536x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{\"data\", "
             "\"model\"}, {}]>}) {\n"
             "%a = stablehlo.dot_general %x, %u, contracting_dims = [1] x [0] : "
             "(tensor<65536x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<65536x1024xbf16>\n"
             "%b = stablehlo.dot_general %a, %d, contracting_dims = [1] x [0] : "
             "(tensor<65536x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<65536x1024xbf16>\n"
             "return %b : tensor<65536x1024xbf16>\n"
             "}\n";
    priced x;
    ck_assert_msg(price(&x, text, "h100") == LZ_OK, "%s", lz_error_get()->message);
    ck_assert_double_gt(x.step.communication, 0);
    ck_assert_double_lt(x.step.exposed, 0.8 * x.step.communication);
    forget(&x);
}
END_TEST

START_TEST(refused)
{
    static const char text[] =
        MESH "func.func @main(%x: tensor<8x8xf64> {sdy.sharding = #sdy.sharding<@mesh, "
             "[{\"data\"}, {}]>}) -> tensor<8x8xf64> {\n"
             "%a = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<8x8xf64>, "
             "tensor<8x8xf64>) -> tensor<8x8xf64>\n"
             "return %a : tensor<8x8xf64>\n"
             "}\n";
    priced x;
    ck_assert_int_eq(price(&x, text, "v5e"), LZ_EUNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "v5e has no products of f64"));
    forget(&x);
    ck_assert_int_eq(price(&x, text, "h100"), LZ_OK);
    forget(&x);
}
END_TEST

/* Both forms say the same machine, mesh and axes. */
START_TEST(reports)
{
    priced x;
    lz_buf text = {0}, json = {0};
    ck_assert_int_eq(price(&x, mlp, "a100"), LZ_OK);
    ck_assert_int_eq(lz_cost_report(&x.place, &x.step, false, &text), LZ_OK);
    ck_assert_int_eq(lz_cost_report(&x.place, &x.step, true, &json), LZ_OK);
    static const char *const words[] = {"on 8 x a100", "\nstep ", "by axis\n  {\"model\"}",
                                        "by kind\n  all_reduce"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        ck_assert_msg(strstr(lz_buf_str(&text), words[i]), "no %s in\n%s", words[i],
                      lz_buf_str(&text));
    static const char *const fields[] = {"\"machine\": \"a100\", \"devices\": 8",
                                         "\"axes\": \"{\\\"model\\\"}\"", "\"fits\": true",
                                         "\"guessed\": false"};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        ck_assert_msg(strstr(lz_buf_str(&json), fields[i]), "no %s in\n%s", fields[i],
                      lz_buf_str(&json));
    lz_buf_free(&text);
    lz_buf_free(&json);
    forget(&x);
}
END_TEST

/* A million instructions, a third of them collectives of 4,096 devices: groups are read once. */
START_TEST(million)
{
    enum { ROUNDS = 333333, DEVICES = 4096 };
    lz_mesh_axis axes[] = {{lz_string_get("data", 4), DEVICES / 8}, {lz_string_get("model", 5), 8}};
    const lz_mesh *mesh = lz_mesh_get(axes, 2, NULL);
    const lz_shape shape = LZ_SHAPE(64);
    const lz_type *t = lz_type_get(LZ_F32, &shape);
    lz_func *f = lz_func_new("main");
    lz_attr_all_reduce a = {.kind = LZ_ATTR_all_reduce,
                            .channel_id = 1,
                            .channel_type = 1,
                            .use_global_device_ids = true};
    static char groups[DEVICES * 6 + DEVICES];
    int at = 0;
    for (int g = 0; g < DEVICES / 8; g++)
        for (int i = 0; i < 8; i++)
            at += snprintf(groups + at, sizeof groups - (size_t)at, "%s%d%s",
                           i   ? ", "
                           : g ? ", ["
                               : "[[",
                           g * 8 + i, i == 7 ? "]" : "");
    groups[at++] = ']';
    a.replica_groups = lz_string_get(groups, (size_t)at);
    a.computation = lz_region_binary(LZ_OP_ADD, LZ_F32);
    ck_assert_ptr_nonnull(a.computation);
    lz_val v = lz_build_param(f, t);
    for (int i = 0; i < ROUNDS; i++) {
        v = lz_build(f, LZ_OP_ALL_REDUCE, (const lz_attr *)&a, &v, 1);
        v = lz_build_ew1(f, LZ_OP_TANH, lz_build_ew1(f, LZ_OP_EXPONENTIAL, v));
    }
    lz_func_set_results(f, &v, 1);
    ck_assert_int_eq(f->status, LZ_OK);
    lz_cost_place place;
    lz_cost_step step;
    lz_partitioned p = {.local = f};
    lz_cost_place_mesh(lz_cost_machine_find("h100"), mesh, &place);
    ck_assert_int_eq(lz_cost_program(&place, f, &p, &step), LZ_OK);
    ck_assert_uint_eq(step.uses.len, 1);
    ck_assert_double_eq(step.uses.data[0].calls, ROUNDS);
    ck_assert_double_gt(step.seconds, step.memory);
    lz_cost_step_free(&step);
    lz_func_free(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cost_program");
    TCase *t = tcase_create("cost_program");
    tcase_add_test(t, counted_by_hand);
    tcase_add_test(t, bytes_of_the_report);
    tcase_add_test(t, rounds);
    tcase_add_test(t, branches);
    tcase_add_test(t, rate_of_most);
    tcase_add_test(t, lives);
    tcase_add_test(t, hidden);
    tcase_add_test(t, endless);
    tcase_add_test(t, gathers_ahead);
    tcase_add_test(t, refused);
    tcase_add_test(t, reports);
    tcase_add_test(t, million);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
