/* t_plugin.c - programs on a PJRT plugin, which is Lazuli's own: registering one, its devices,
 * values that move among devices, training, decompositions inside loops, and what is refused. */
#include "suite.h"
#include <lazuli/lazuli.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK(expr)                                                                                   \
    do {                                                                                           \
        lz_status s_ = (expr);                                                                     \
        ck_assert_msg(s_ == LZ_OK, "%s: %s", #expr, lz_last_error_text());                         \
    } while (0)
#define FAILS(expr, status, text)                                                                  \
    do {                                                                                           \
        lz_status s_ = (expr);                                                                     \
        ck_assert_msg(s_ == (status) && strstr(lz_last_error_text(), (text)), "%s: %s", #expr,     \
                      lz_last_error_text());                                                       \
    } while (0)

static const char *library(void)
{
    static char path[PATH_MAX];
    const char *build = getenv("BUILD");
    (void)snprintf(path, sizeof path, "%s/libpjrt_lazuli.so", build ? build : "build/release");
    return path;
}

static lz_status use(const char *name, int64_t devices)
{
    const lz_plugin_option o[] = {
        {.name = "platform", .type = LZ_PLUGIN_STRING, .string = "cpu"},
        {.name = "num_devices", .type = LZ_PLUGIN_INT64, .integer = devices},
    };
    bool special = strcmp(name, "special") == 0;
    setenv("LAZULI_CACHE", "0", 1);
    return lz_register_device_plugin(name,
                                     &(lz_device_plugin){.struct_size = sizeof(lz_device_plugin),
                                                         .library_path = library(),
                                                         .create_options = o,
                                                         .ncreate_options = 2,
                                                         .native_rng = special,
                                                         .gather_threshold = special ? 7 : 0});
}

START_TEST(registering)
{
    lz_plugin_option o = {.name = "platform", .type = LZ_PLUGIN_STRING};
    lz_device_plugin p = {.struct_size = sizeof p, .create_options = &o};
    FAILS(lz_register_device_plugin(NULL, &p), LZ_ENULL, "name is NULL");
    FAILS(lz_register_device_plugin("p", NULL), LZ_ENULL, "plugin is NULL");
    FAILS(lz_register_device_plugin("p", &p), LZ_ENULL, "library_path is NULL");
    p.library_path = library();
    p.struct_size = 8;
    FAILS(lz_register_device_plugin("p", &p), LZ_EINVAL, "sizeof(lz_device_plugin)");
    p.struct_size = sizeof p;
    FAILS(lz_register_device_plugin("CPU", &p), LZ_EEXIST, "a platform of Lazuli's own");
    FAILS(lz_register_device_plugin("a b", &p), LZ_EINVAL, "no name of a plugin");
    p.ncreate_options = 1;
    FAILS(lz_register_device_plugin("p", &p), LZ_ENULL, "option 0 (platform): its string is NULL");
    o.type = (lz_plugin_option_type)77;
    FAILS(lz_register_device_plugin("p", &p), LZ_EINVAL, "its type is none of");
    o = (lz_plugin_option){.name = "colour", .type = LZ_PLUGIN_FLOAT, .number = 0.5};
    OK(lz_register_device_plugin("p", &p));
    OK(lz_register_device_plugin("P", &p));
    o.number = 1;
    FAILS(lz_register_device_plugin("p", &p), LZ_EEXIST, "registered already");
    FAILS(lz_set_device("p:0"), LZ_EINVAL, "no option \"colour\"");
    ck_assert_int_eq(lz_device_count("p"), -1);
    /* of an older caller: the fields that it knows */
    OK(lz_register_device_plugin(
        "short", &(lz_device_plugin){.struct_size = offsetof(lz_device_plugin, create_options),
                                     .library_path = library(),
                                     .ncreate_options = 99}));
    ck_assert_int_eq(lz_device_count("short"), 1);
}
END_TEST

START_TEST(devices)
{
    char text[160];
    float got[4];
    OK(use("self", 2));
    ck_assert_int_eq(lz_device_count("self"), 2);
    FAILS(lz_set_device("self:2"), LZ_ENOENT, "there are 2");
    ck_assert_uint_gt(lz_device_kind("self:1", text, sizeof text), 0);
    ck_assert_msg(strncmp(text, "lazuli: cpu", 11) == 0, "%s", text);
    lz_tensor *on[3];
    static const char *const names[] = {"self:0", "self:1", "CPU:0"};
    for (int d = 0; d < 3; d++) {
        OK(lz_set_device(names[d]));
        on[d] = lz_retain(lz_mul(lz_from_host(LZ_F32, LZ_SHAPE(2, 2), ((float[]){1, 2, 3, 4})),
                                 lz_from_host(LZ_F32, LZ_SHAPE(2), ((float[]){1, 10}))));
    }
    for (int d = 0; d < 3; d++)
        for (int to = 0; to < 3; to++) { /* to the host and from it */
            OK(lz_set_device(names[to]));
            lz_tensor *y = lz_add(lz_to_device(on[d], names[to]), lz_to_device(on[to], names[to]));
            OK(lz_to_host(y, got, sizeof got));
            ck_assert(got[0] == 2 && got[1] == 40 && got[2] == 6 && got[3] == 80);
        }
    lz_memory_info m;
    OK(lz_get_memory_info("self:0", &m));
    ck_assert_uint_gt(m.bytes_used, 0);
    for (int d = 0; d < 3; d++)
        lz_release(on[d]);
}
END_TEST

/* ---- training ---- */

enum { STEPS = 30, BATCH = 16, IN = 12, HIDDEN = 24, OUT = 5 };

static lz_tensor *parameter(lz_params *ps, const char *name, lz_shape s, double scale)
{
    OK(lz_params_add(ps, name, lz_mul_scalar(lz_randn(LZ_F32, s), scale)));
    return ps->tensors[ps->len - 1];
}

/* The losses of a network with two layers; its data, dropout and start are the device's random
 * numbers. */
static void train(const char *device, float *loss)
{
    lz_params ps = {0};
    OK(lz_set_device(device));
    OK(lz_manual_seed(11));
    lz_scope_begin();
    lz_tensor *w = parameter(&ps, "w", LZ_SHAPE(IN, HIDDEN), 0.3);
    lz_tensor *b = parameter(&ps, "b", LZ_SHAPE(HIDDEN), 0.1);
    lz_tensor *v = parameter(&ps, "v", LZ_SHAPE(HIDDEN, OUT), 0.3);
    lz_scope_end();
    lz_optim *o = lz_adamw(&ps, .lr = 0.01);
    for (int i = 0; i < STEPS; i++) {
        lz_scope_begin();
        lz_tensor *x = lz_randn(LZ_F32, LZ_SHAPE(BATCH, IN));
        lz_tensor *h = lz_relu(lz_add(lz_matmul(x, w), b));
        lz_tensor *y = lz_matmul(lz_dropout(h, 0.2, true), v);
        lz_tensor *want = lz_tanh(lz_narrow(x, 1, 2, OUT));
        lz_tensor *l = lz_mse_loss(y, want);
        OK(lz_backward(l));
        OK(lz_optim_step(o));
        OK(lz_optim_zero_grad(o));
        lz_retain(l);
        OK(lz_mark_step());
        lz_scope_end();
        OK(lz_to_host(l, &loss[i], sizeof *loss));
        lz_release(l);
    }
    lz_optim_free(o);
    lz_params_free(&ps);
}

/* special: the plugin's own random bits, which are Lazuli's, too, and dense gathers */
START_TEST(training)
{
    float cpu[STEPS], plugin[STEPS];
    OK(use(_i ? "special" : "self", 2));
    train("CPU:0", cpu);
    train(_i ? "special:1" : "self:1", plugin);
    ck_assert_float_lt(cpu[STEPS - 1], cpu[0]);
    for (int i = 0; i < STEPS; i++)
        ck_assert_msg(fabsf(cpu[i] - plugin[i]) <= 1e-6f * fabsf(cpu[i]), "step %d: %.9g and %.9g",
                      i, cpu[i], plugin[i]);
}
END_TEST

/* ---- in loops ---- */

/* x <- q r + the singular values of x, where q r is x: both in the body of a loop. */
static void decompose(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    lz_tensor *r, *s, *v, *q = lz_linalg_qr(in[0], "reduced", &r);
    (void)i, (void)user;
    (void)lz_linalg_svd(in[0], false, &s, &v);
    out[0] = lz_add(lz_matmul(q, r), lz_mul_scalar(s, 0.5));
}

static void run_loop(const char *device, float *got)
{
    lz_tensor *x, *y;
    OK(lz_set_device(device));
    x = lz_from_host(LZ_F32, LZ_SHAPE(3, 3), ((float[]){4, 1, 2, -1, 3, 0.5f, 2, 2, 5}));
    OK(lz_fori(0, 3, &x, 1, decompose, NULL, &y));
    OK(lz_to_host(y, got, 9 * sizeof *got));
}

START_TEST(decompositions_in_loops)
{
    float cpu[9], plugin[9];
    OK(use("self", 1));
    run_loop("REF:0", cpu);
    run_loop("self:0", plugin);
    for (int i = 0; i < 9; i++)
        ck_assert_msg(fabsf(cpu[i] - plugin[i]) <= 1e-4f, "%d: %.9g and %.9g", i, cpu[i],
                      plugin[i]);
}
END_TEST

static lz_status nothing(const lz_ffi_call *call, void *user)
{
    (void)call, (void)user;
    return LZ_OK;
}

START_TEST(refused)
{
    float got[2];
    OK(use("self", 1));
    OK(lz_set_device("self"));
    OK(lz_ffi_register("mine", nothing, NULL));
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(2), ((float[]){1, 2})), *y;
    y = lz_custom_call("mine", NULL, &x, 1, (&(lz_ffi_type){LZ_F32, LZ_SHAPE(2)}), 1, NULL);
    FAILS(lz_to_host(y, got, sizeof got), LZ_EUNSUPPORTED, "custom_call of 'mine'");
    OK(lz_to_host(lz_add(x, x), got, sizeof got)); /* the device goes on */
    ck_assert(got[0] == 2 && got[1] == 4);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("plugin");
    TCase *t = tcase_create("plugin");
    tcase_add_test(t, registering);
    tcase_add_test(t, devices);
    tcase_add_loop_test(t, training, 0, 2);
    tcase_add_test(t, decompositions_in_loops);
    tcase_add_test(t, refused);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
