/* t_auto_spmd.c - lz_use_spmd(.auto_sharding = true): programs without marks are spread over a mesh
 * and compute what one device does; they are compiled once, kept apart from those without a search,
 * stored and loaded with their plans; marks are kept. */
#include "../runtime/rt.h"
#include <sys/wait.h>

enum { BATCH = 64, IN = 32, HIDDEN = 64, OUT = 8, STEPS = 4 };

typedef struct model {
    lz_linear_layer a, b;
    lz_params ps;
    lz_optim *o;
} model;

static void use(void)
{
    rt_use(rt_devices[1]);
    setenv("CPU_NUM_DEVICES", "8", 1);
    setenv("GPU_NUM_DEVICES", "8", 1);
}

static lz_mesh *mesh_2x4(void)
{
    lz_mesh *m = lz_mesh_new(NULL, (const int64_t[]){2, 4}, (const char *const[]){"x", "y"}, 2);
    ck_assert_msg(m != NULL, "%s", lz_last_error_text());
    return m;
}

static void make(model *m)
{
    memset(m, 0, sizeof *m);
    lz_manual_seed(3);
    lz_linear_layer_init(&m->a, &m->ps, "a", IN, HIDDEN, true, LZ_F32);
    lz_linear_layer_init(&m->b, &m->ps, "b", HIDDEN, OUT, true, LZ_F32);
    m->o = lz_adam(&m->ps, .lr = 1e-2);
    OK(lz_mark_step());
}

static void drop(model *m)
{
    lz_optim_free(m->o);
    lz_params_free(&m->ps);
}

/* The losses; compiled[step]: programs that were compiled by then. */
static void train(model *m, float *losses, int *compiled, lz_mesh *mark)
{
    static float x[BATCH * IN], y[BATCH * OUT];
    for (int i = 0; i < BATCH * IN; i++)
        x[i] = (float)(i * 37 % 101) / 101;
    for (int i = 0; i < BATCH * OUT; i++)
        y[i] = (float)(i * 53 % 89) / 89;
    for (int step = 0; step < STEPS; step++) {
        lz_scope_begin();
        lz_tensor *in = lz_from_host(LZ_F32, LZ_SHAPE(BATCH, IN), x);
        lz_tensor *want = lz_from_host(LZ_F32, LZ_SHAPE(BATCH, OUT), y);
        if (mark)
            OK(lz_mark_sharding(in, mark, LZ_SPEC("y", NULL)));
        lz_tensor *h = lz_relu(lz_linear_layer_forward(&m->a, in));
        lz_tensor *loss = lz_mse_loss(lz_linear_layer_forward(&m->b, h), want);
        OK(lz_backward(loss));
        OK(lz_optim_step(m->o));
        OK(lz_optim_zero_grad(m->o));
        OK(lz_mark_step());
        OK(lz_to_host(loss, &losses[step], sizeof *losses));
        compiled[step] = (int)lz_counter_value("UncachedCompile");
        lz_scope_end();
    }
}

static void check_losses(const float *got, const float *want)
{
    for (int i = 0; i < STEPS; i++)
        ck_assert_msg(fabsf(got[i] - want[i]) <= 1e-4f * (1 + fabsf(want[i])),
                      "loss %d is %.9g, on one device %.9g", i, got[i], want[i]);
    ck_assert_float_lt(got[STEPS - 1], got[0]);
}

static bool is_cut(lz_tensor *t)
{
    char text[128];
    lz_get_sharding(t, text, sizeof text);
    return strcmp(text, "") != 0 && strcmp(text, "{replicated}") != 0;
}

/* Something is spread, the results are one device's, and later steps compile nothing. */
START_TEST(trains)
{
    float one[STEPS], many[STEPS];
    int n[STEPS];
    model m;
    use();
    make(&m);
    train(&m, one, n, NULL);
    drop(&m);
    lz_mesh *mesh = mesh_2x4();
    OK(lz_use_spmd(.auto_sharding = true, .mesh = mesh));
    make(&m);
    train(&m, many, n, _i ? mesh : NULL);
    check_losses(many, one);
    ck_assert_int_eq(n[STEPS - 1], n[1]);
    ck_assert(is_cut(m.a.weight) || is_cut(m.b.weight) || _i);
    drop(&m);
}
END_TEST

/* A search and none are two programs of one graph. */
START_TEST(kept_apart)
{
    float losses[4][STEPS];
    int n[STEPS];
    char where[4][128];
    model m;
    use();
    for (int round = 0; round < 4; round++) { /* off, on, on, off */
        bool search = round == 1 || round == 2;
        int before = (int)lz_counter_value("UncachedCompile");
        OK(lz_use_spmd(.auto_sharding = search, .mesh = search ? mesh_2x4() : NULL));
        make(&m);
        train(&m, losses[round], n, NULL);
        ck_assert_int_eq(n[STEPS - 1] > before, round < 2);
        lz_get_sharding(m.a.weight, where[round], sizeof where[0]);
        check_losses(losses[round], losses[0]);
        drop(&m);
    }
    ck_assert_str_eq(where[0], "{replicated}");
    ck_assert_str_ne(where[1], where[0]);
    ck_assert_str_eq(where[1], where[2]);
    ck_assert_str_eq(where[3], where[0]);
}
END_TEST

/* In a process of its own: what it did not find on disk, and where a weight is then. */
static int in_a_process(const char *cache, bool search, char where[128], float losses[STEPS])
{
    struct {
        char where[128];
        float losses[STEPS];
        int compiled;
    } r = {0};
    int fd[2], status;
    ck_assert_int_eq(pipe(fd), 0);
    pid_t child = fork();
    if (child == 0) {
        int n[STEPS];
        model m;
        use();
        unsetenv("LAZULI_CACHE");
        setenv("LAZULI_CACHE_DIR", cache, 1);
        OK(lz_use_spmd(.auto_sharding = search, .mesh = search ? mesh_2x4() : NULL));
        make(&m);
        train(&m, r.losses, n, NULL);
        lz_get_sharding(m.a.weight, r.where, sizeof r.where);
        r.compiled = (int)lz_counter_value("PersistentCacheMiss") +
                     (int)lz_counter_value("PersistentCacheDeserializeFailure");
        OK(lz_wait_device_ops());
        _exit(write(fd[1], &r, sizeof r) == sizeof r ? 0 : 1);
    }
    close(fd[1]);
    ck_assert_int_eq(read(fd[0], &r, sizeof r), sizeof r);
    close(fd[0]);
    waitpid(child, &status, 0);
    ck_assert_int_eq(status, 0);
    memcpy(where, r.where, 128);
    memcpy(losses, r.losses, sizeof r.losses);
    return r.compiled;
}

/* A stored program has its plan with it: what loads it searches nothing, and gives the same bits.
 */
START_TEST(stored)
{
    char cache[] = "/tmp/lazuli-auto-XXXXXX", where[4][128], command[64];
    float losses[4][STEPS];
    ck_assert_ptr_nonnull(mkdtemp(cache));
    ck_assert_int_gt(in_a_process(cache, false, where[0], losses[0]), 0);
    ck_assert_int_gt(in_a_process(cache, true, where[1], losses[1]), 0);
    ck_assert_int_eq(in_a_process(cache, true, where[2], losses[2]), 0);
    ck_assert_int_eq(in_a_process(cache, false, where[3], losses[3]), 0);
    ck_assert_str_ne(where[0], where[1]);
    ck_assert_str_eq(where[1], where[2]);
    ck_assert_str_eq(where[0], where[3]);
    ck_assert_mem_eq(losses[1], losses[2], sizeof losses[1]);
    ck_assert_mem_eq(losses[0], losses[3], sizeof losses[0]);
    snprintf(command, sizeof command, "rm -r %s", cache);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

/* The environment says the same. */
START_TEST(environment)
{
    float losses[STEPS];
    int n[STEPS];
    model m;
    use();
    setenv("XLA_AUTO_SPMD", "1", 1);
    setenv("XLA_AUTO_SPMD_MESH", _i == 0 ? "2,4" : _i == 1 ? "a=8" : _i == 2 ? "3,3" : "2,x", 1);
    if (_i >= 2) {
        lz_tensor *t = lz_add_scalar(lz_zeros(LZ_F32, LZ_SHAPE(8)), 1);
        ck_assert_int_eq(lz_mark_step(), LZ_EINVAL);
        ck_assert_ptr_nonnull(strstr(lz_last_error_text(), _i == 2 ? "has 9 devices" : "2,x"));
        lz_release(t);
        return;
    }
    make(&m);
    train(&m, losses, n, NULL);
    ck_assert_float_lt(losses[STEPS - 1], losses[0]);
    ck_assert(lz_is_spmd());
    drop(&m);
}
END_TEST

START_TEST(errors)
{
    use();
    lz_mesh *three = lz_mesh_new(NULL, (const int64_t[]){3}, (const char *const[]){"x"}, 1);
    ck_assert_int_eq(lz_use_spmd(.auto_sharding = true, .mesh = three), LZ_EINVAL);
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "has 3 devices"));
    OK(lz_use_spmd_at(NULL, NULL));
    OK(lz_use_spmd(.auto_sharding = true));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("auto_spmd");
    TCase *t = tcase_create("auto_spmd");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, trains, 0, 2);
    tcase_add_test(t, kept_apart);
    tcase_add_test(t, stored);
    tcase_add_loop_test(t, environment, 0, 4);
    tcase_add_test(t, errors);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
