/* t_fsdp.c - parameters that are cut over a mesh: states of optimizers are where their parameters
 * are, and a step is like the one before from the second on. */
#include "../runtime/rt.h"

enum { BATCH = 16, DIM = 24 };

static lz_mesh *use(int devices)
{
    char n[16];
    snprintf(n, sizeof n, "%d", devices);
    rt_use("CPU");
    setenv("CPU_NUM_DEVICES", n, 1);
    setenv("XLA_USE_SPMD", "1", 1);
    lz_mesh *m = lz_mesh_new(NULL, (const int64_t[]){devices}, (const char *const[]){"fsdp"}, 1);
    ck_assert_msg(m != NULL, "%s", lz_last_error_text());
    return m;
}

static lz_tensor *batch_of(lz_mesh *m, int step)
{
    static float v[BATCH * DIM];
    for (int i = 0; i < BATCH * DIM; i++)
        v[i] = (float)((i * 7 + step) % 23) / 23;
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(BATCH, DIM), v);
    OK(lz_mark_sharding(x, m, LZ_SPEC("fsdp", NULL)));
    return x;
}

/* ---- optimizers ---- */

static lz_optim *optimizer(int i, lz_params *ps)
{
    return i == 0   ? lz_sgd(ps, .lr = 1e-2, .momentum = 0.9, .nesterov = true)
           : i == 1 ? lz_adam(ps, .lr = 1e-2, .amsgrad = true)
           : i == 2 ? lz_adamw(ps, .lr = 1e-2)
           : i == 3 ? lz_rmsprop(ps, .lr = 1e-2, .momentum = 0.9)
           : i == 4 ? lz_adagrad(ps, .lr = 1e-2, .initial_accumulator_value = 0.1)
                    : lz_lion(ps, .lr = 1e-2);
}
static const int states[] = {1, 3, 2, 2, 1, 1}; /* of a parameter */
enum { OPTIMIZERS = sizeof states / sizeof *states };

static int64_t given(void)
{
    lz_metric_summary m = {0};
    return lz_metric_data("InputOutputAliasCount", &m) == LZ_OK ? (int64_t)m.accumulator : 0;
}

static uint64_t used(int device)
{
    lz_memory_info info;
    char name[24];
    snprintf(name, sizeof name, "CPU:%d", device);
    OK(lz_get_memory_info(name, &info));
    return info.bytes_used;
}

/* Some parameters are marked, some are not. All of them and their states are taken over by the
 * first step's program, which runs every step. */
START_TEST(second_step)
{
    lz_mesh *m = use(8);
    lz_params ps = {0};
    lz_linear_layer a;
    lz_norm_layer norm;
    char text[128];
    OK(lz_linear_layer_init(&a, &ps, "a", DIM, DIM, true, LZ_F32));
    OK(lz_norm_layer_init(&norm, LZ_LAYER_NORM, &ps, "norm", DIM, LZ_F32));
    OK(lz_mark_sharding(a.weight, m, LZ_SPEC(NULL, "fsdp")));
    lz_optim *o = optimizer(_i, &ps);
    OK(lz_mark_step());
    int64_t before = given(), compiled = 0;
    for (int step = 0; step < 3; step++) {
        OK(lz_scope_begin());
        lz_tensor *y = lz_linear_layer_forward(&a, batch_of(m, step));
        OK(lz_backward(lz_mean(lz_square(lz_norm_layer_forward(&norm, y, true)))));
        OK(lz_optim_step(o));
        OK(lz_optim_zero_grad(o));
        OK(lz_mark_step(.wait = true));
        OK(lz_scope_end());
        if (step == 0) {
            compiled = lz_counter_value("UncachedCompile");
            ck_assert_int_ge(given() - before, (int64_t)ps.len * (1 + states[_i]));
        }
    }
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), compiled);
    lz_get_sharding(a.weight, text, sizeof text);
    ck_assert_str_eq(text, "{devices=[1,8]<=[8]}");
    /* of the weight and its states a device has an eighth, of the rest at most all */
    uint64_t most = (uint64_t)(1 + states[_i]) * (DIM * DIM / 8 + 3 * DIM + 3 * 16) * 4;
    ck_assert_uint_le(used(7), most + 4096);
    lz_optim_free(o);
    lz_params_free(&ps);
}
END_TEST

/* ---- lz_fsdp_shard_module ---- */

static void place_is(const lz_params *ps, const char *name, const char *want)
{
    char text[128] = "";
    lz_get_sharding(lz_params_find(ps, name), text, sizeof text);
    ck_assert_msg(strcmp(text, want) == 0, "%s is %s, not %s", name, text, want);
}

static void add(lz_params *ps, const char *name, lz_shape s)
{
    OK(lz_params_add(ps, name, lz_ones(LZ_F32, s)));
}

START_TEST(dimensions)
{
    lz_mesh *m = use(4);
    lz_params ps = {0};
    char text[64];
    add(&ps, "first", LZ_SHAPE(16, 8));
    add(&ps, "second", LZ_SHAPE(8, 16));
    add(&ps, "square", LZ_SHAPE(8, 8));
    add(&ps, "divisible", LZ_SHAPE(3, 4, 9));
    add(&ps, "none", LZ_SHAPE(6, 7));
    add(&ps, "short", LZ_SHAPE(3));
    add(&ps, "scalar", LZ_SCALAR);
    add(&ps, "marked", LZ_SHAPE(16, 8));
    add(&ps, "whole", LZ_SHAPE(16, 8));
    OK(lz_params_add_buffer(&ps, "buffer", lz_ones(LZ_F32, LZ_SHAPE(16))));
    OK(lz_mark_sharding(lz_params_find(&ps, "marked"), m, LZ_SPEC(NULL, "fsdp")));
    OK(lz_mark_sharding(lz_params_find(&ps, "whole"), m, LZ_SPEC(NULL, NULL)));
    for (int again = 0; again < 2; again++)
        OK(lz_fsdp_shard_module(&ps, m, again ? "fsdp" : NULL));
    place_is(&ps, "first", "{devices=[4,1]<=[4]}");
    place_is(&ps, "second", "{devices=[1,4]<=[4]}");
    place_is(&ps, "square", "{devices=[4,1]<=[4]}");
    place_is(&ps, "divisible", "{devices=[1,4,1]<=[4]}");
    place_is(&ps, "none", "{devices=[4,1]<=[4]}");
    place_is(&ps, "short", "{devices=[4]<=[4]}");
    place_is(&ps, "scalar", "");
    place_is(&ps, "buffer", "");
    place_is(&ps, "marked", "{devices=[1,4]<=[4]}");
    place_is(&ps, "whole", "{replicated}");
    lz_tensor *x = lz_retain(lz_ones(LZ_F32, LZ_SHAPE(8, 3)));
    OK(lz_fsdp_shard_batch(x, m, NULL));
    lz_tensor *y = lz_retain(lz_fsdp_shard_output(lz_square(x), m, "fsdp"));
    OK(lz_mark_step());
    for (int i = 0; i < 2; i++) {
        lz_get_sharding(i ? x : y, text, sizeof text);
        ck_assert_str_eq(text, "{devices=[4,1]<=[4]}");
    }
    FAILS(lz_fsdp_shard_module(&ps, m, "data"), LZ_EINVAL,
          "lz_fsdp_shard_module: the mesh <[\"fsdp\"=4]> has no axis \"data\"");
    FAILS(lz_fsdp_shard_module(NULL, m, NULL), LZ_ENULL, "the list is NULL");
    FAILS(lz_fsdp_shard_module(&ps, NULL, NULL), LZ_ENULL, "the mesh is NULL");
    FAILS(lz_fsdp_shard_batch(x, m, "data"), LZ_EINVAL, "lz_fsdp_shard_batch: ");
    BAD(lz_fsdp_shard_output(x, m, "data"), LZ_EINVAL, "lz_fsdp_shard_output: ");
    FAILS(lz_fsdp_shard_batch(NULL, m, NULL), LZ_ENULL, "the tensor is NULL");
    FAILS(lz_fsdp_shard_batch(lz_ones(LZ_F32, LZ_SCALAR), m, NULL), LZ_EINVAL, "scalar");
    BAD(lz_fsdp_shard_output(NULL, m, NULL), LZ_ENULL, "the tensor is NULL");
    lz_params_free(&ps);
}
END_TEST

/* A tensor that is cut is sent once, not once for each device. */
START_TEST(upload)
{
    lz_mesh *m = use(8);
    lz_metric_summary before = {0}, after = {0};
    static float v[64 * 64];
    (void)lz_metric_data("OutboundData", &before);
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(64, 64), v);
    OK(lz_fsdp_shard_batch(x, m, NULL));
    OK(lz_mark_step(.wait = true));
    OK(lz_metric_data("OutboundData", &after));
    ck_assert_double_eq(after.accumulator - before.accumulator, sizeof v);
    ck_assert_uint_le(used(3), sizeof v / 8 + 4096);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("fsdp");
    TCase *t = tcase_create("fsdp");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, second_step, 0, OPTIMIZERS);
    tcase_add_test(t, dimensions);
    tcase_add_test(t, upload);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
