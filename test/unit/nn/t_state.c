/* t_state.c - parameters and whole trainings to files and back: what is missing is named, nothing
 * is half loaded, and a training that continues from a checkpoint gives the same bits as one that
 * never stopped. */
#include "suite.h"
#include <lazuli/lazuli.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OK(call) ck_assert_msg((call) == LZ_OK, "%s", lz_last_error_text())

static char path[300];

static const char *file(const char *name)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/%s", tmp ? tmp : "/tmp", name);
    return path;
}

typedef struct net {
    lz_params ps;
    lz_linear_layer a, b;
    lz_optim *o;
    lz_ema *ema;
} net;

enum { IN = 5, HIDDEN = 7, OUT = 3, BATCH = 4 };

static void net_init(net *n, uint64_t seed)
{
    *n = (net){0};
    OK(lz_manual_seed(seed));
    OK(lz_linear_layer_init(&n->a, &n->ps, "a", IN, HIDDEN, true, LZ_F32));
    OK(lz_linear_layer_init(&n->b, &n->ps, "b", HIDDEN, OUT, true, LZ_F32));
    OK(lz_mark_step());
    n->o = lz_adamw(&n->ps, .lr = 0.01);
    n->ema = lz_ema_new(&n->ps, 0.9);
    ck_assert(n->o && n->ema);
}

static void net_free(net *n)
{
    lz_optim_free(n->o);
    lz_ema_free(n->ema);
    lz_params_free(&n->ps);
}

/* The input is random: a training depends on the state of the generator too. */
static void train(net *n, int steps)
{
    for (int i = 0; i < steps; i++) {
        lz_scope_begin();
        lz_tensor *x = lz_randn(LZ_F32, LZ_SHAPE(BATCH, IN));
        lz_tensor *y = lz_linear_layer_forward(&n->b, lz_relu(lz_linear_layer_forward(&n->a, x)));
        OK(lz_backward(lz_mean(lz_mul(y, y))));
        OK(lz_optim_set_lr(n->o, lz_optim_lr(n->o) * 0.9));
        OK(lz_optim_step(n->o));
        OK(lz_ema_update(n->ema));
        OK(lz_optim_zero_grad(n->o));
        OK(lz_mark_step());
        lz_scope_end();
    }
}

static void same(const lz_params *x, const lz_params *y)
{
    ck_assert_uint_eq(x->len, y->len);
    for (size_t i = 0; i < x->len; i++) {
        char a[256], b[256];
        OK(lz_to_host(x->tensors[i], a, sizeof a));
        OK(lz_to_host(y->tensors[i], b, sizeof b));
        ck_assert_msg(memcmp(a, b, lz_nbytes(x->tensors[i])) == 0, "%s differs", x->names[i]);
    }
}

START_TEST(a_training_goes_on_bit_for_bit)
{
    net whole, halves, other;
    net_init(&whole, 3);
    train(&whole, 6);
    net_init(&halves, 3);
    train(&halves, 3);
    lz_checkpoint c = {.struct_size = sizeof c,
                       .params = &halves.ps,
                       .optim = halves.o,
                       .ema = halves.ema,
                       .step = 3};
    OK(lz_checkpoint_save(file("c.safetensors"), &c));
    int64_t compiled = lz_counter_value("UncachedCompile");
    net_init(&other, 99);
    lz_checkpoint d = {
        .struct_size = sizeof d, .params = &other.ps, .optim = other.o, .ema = other.ema};
    OK(lz_checkpoint_load(path, &d));
    ck_assert_int_eq(d.step, 3);
    ck_assert(lz_optim_lr(other.o) == lz_optim_lr(halves.o));
    same(&halves.ps, &other.ps);
    OK(lz_mark_step());
    train(&other, 3);
    same(&whole.ps, &other.ps);
    same(lz_ema_params(whole.ema), lz_ema_params(other.ema));
    ck_assert_int_eq(lz_counter_value("UncachedCompile"),
                     compiled); /* the same graphs, donation and all */
    net_free(&whole);
    net_free(&halves);
    net_free(&other);
    unlink(path);
}
END_TEST

START_TEST(loading_after_training_compiles_nothing)
{
    net n;
    net_init(&n, 1);
    train(&n, 2);
    lz_checkpoint c = {
        .struct_size = sizeof c, .params = &n.ps, .optim = n.o, .ema = n.ema, .step = 2};
    OK(lz_checkpoint_save(file("again.safetensors"), &c));
    int64_t compiled = lz_counter_value("UncachedCompile");
    train(&n, 2);
    OK(lz_checkpoint_load(path, &c));
    OK(lz_mark_step());
    train(&n, 2);
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), compiled);
    net_free(&n);
    unlink(path);
}
END_TEST

static char reported[400];
static void report(const char *name, const char *what, void *user)
{
    size_t n = strlen(reported);
    snprintf(reported + n, sizeof reported - n, "%s %s%s", what, name, (const char *)user);
}

START_TEST(missing_and_unexpected_names_are_said)
{
    net n;
    lz_params ps = {0};
    lz_linear_layer l;
    net_init(&n, 3);
    OK(lz_params_save(&n.ps, file("p.safetensors")));
    OK(lz_linear_layer_init(&l, &ps, "a", IN, HIDDEN, true, LZ_F32));
    OK(lz_linear_layer_init(&l, &ps, "c", 2, 2, false, LZ_F32));
    OK(lz_mark_step());
    char before[256], after[256];
    OK(lz_to_host(ps.tensors[0], before, sizeof before));
    ck_assert_int_eq(lz_params_load(&ps, path), LZ_ENOENT);
    ck_assert_msg(strstr(lz_last_error_text(), "1 missing (c.weight), 2 unexpected (b.") != NULL,
                  "%s", lz_last_error_text());
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "t_state.c"));
    OK(lz_to_host(ps.tensors[0], after, sizeof after));
    ck_assert(memcmp(before, after, lz_nbytes(ps.tensors[0])) == 0);
    OK(lz_params_load(&ps, path, .partial = true, .report = report, .user = ";"));
    ck_assert_ptr_nonnull(strstr(reported, "missing c.weight;"));
    ck_assert_ptr_nonnull(strstr(reported, "unexpected b.bias;"));
    OK(lz_to_host(ps.tensors[0], after, sizeof after));
    OK(lz_to_host(n.ps.tensors[0], before, sizeof before));
    ck_assert(memcmp(before, after, lz_nbytes(ps.tensors[0])) == 0);
    lz_params_free(&ps);
    net_free(&n);
    unlink(path);
}
END_TEST

START_TEST(shapes_and_dtypes_are_checked_before_anything_changes)
{
    lz_params from = {0}, to = {0};
    const float x[4] = {1, 2, 3, 4};
    const int32_t y[2] = {5, 6};
    lz_scope_begin();
    OK(lz_params_add(&from, "a", lz_from_host(LZ_F32, LZ_SHAPE(4), x)));
    OK(lz_params_add(&from, "b", lz_from_host(LZ_F32, LZ_SHAPE(2, 2), x)));
    OK(lz_params_save(&from, file("s.safetensors")));
    OK(lz_params_add(&to, "a", lz_zeros(LZ_F64, LZ_SHAPE(4))));
    OK(lz_params_add(&to, "b", lz_zeros(LZ_F32, LZ_SHAPE(4))));
    ck_assert_int_eq(lz_params_load(&to, path), LZ_ESHAPE);
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "\"b\" is [2, 2], the parameter [4]"));
    double got[4];
    OK(lz_to_host(to.tensors[0], got, sizeof got));
    ck_assert(got[3] == 0);
    lz_params_free(&to);
    OK(lz_params_add(&to, "a", lz_zeros(LZ_F64, LZ_SHAPE(4))));
    OK(lz_params_load(&to, path, .partial = true)); /* another float is converted */
    OK(lz_to_host(to.tensors[0], got, sizeof got));
    ck_assert(got[3] == 4);
    lz_params_free(&to);
    OK(lz_params_add_buffer(&to, "a", lz_from_host(LZ_I32, LZ_SHAPE(2), y)));
    OK(lz_params_save(&to, file("i.safetensors")));
    lz_params_free(&to);
    OK(lz_params_add(&to, "a", lz_zeros(LZ_F32, LZ_SHAPE(2))));
    ck_assert_int_eq(lz_params_load(&to, path), LZ_EDTYPE);
    lz_params_free(&to);
    lz_params_free(&from);
    lz_scope_end();
    ck_assert_int_eq(lz_params_load(&to, "no/such.safetensors"), LZ_ENOENT);
    ck_assert_int_eq(lz_params_load(NULL, path), LZ_ENULL);
    ck_assert_int_eq(lz_params_save(&to, NULL), LZ_ENULL);
}
END_TEST

START_TEST(checkpoints_of_another_kind_are_refused)
{
    net n;
    net_init(&n, 3);
    train(&n, 1);
    lz_checkpoint c = {.struct_size = sizeof c, .params = &n.ps, .optim = n.o, .step = 1};
    OK(lz_checkpoint_save(file("k.safetensors"), &c));
    lz_optim *sgd = lz_sgd(&n.ps), *adam = n.o;
    c.optim = sgd;
    ck_assert_int_eq(lz_checkpoint_load(path, &c), LZ_EINVAL);
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "\"adam\""));
    c.optim = adam;
    c.ema = n.ema; /* which was not saved */
    ck_assert_int_eq(lz_checkpoint_load(path, &c), LZ_ENOENT);
    OK(lz_params_save(&n.ps, path));
    c.ema = NULL;
    ck_assert_int_eq(lz_checkpoint_load(path, &c), LZ_ECORRUPT);
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "is no checkpoint"));
    c.struct_size = 0;
    ck_assert_int_eq(lz_checkpoint_load(path, &c), LZ_EINVAL);
    ck_assert_int_eq(lz_checkpoint_save(path, NULL), LZ_ENULL);
    lz_optim_free(sgd);
    net_free(&n);
    unlink(path);
}
END_TEST

START_TEST(random_state_is_got_and_set)
{
    float a[8], b[8];
    lz_rng_state r;
    OK(lz_manual_seed(5));
    OK(lz_to_host(lz_rand(LZ_F32, LZ_SHAPE(8)), a, sizeof a));
    OK(lz_get_rng_state(&r));
    ck_assert_uint_eq(r.seed, 5);
    OK(lz_to_host(lz_rand(LZ_F32, LZ_SHAPE(8)), a, sizeof a));
    OK(lz_set_rng_state(&r));
    OK(lz_to_host(lz_rand(LZ_F32, LZ_SHAPE(8)), b, sizeof b));
    ck_assert(memcmp(a, b, sizeof a) == 0);
    ck_assert_int_eq(lz_get_rng_state(NULL), LZ_ENULL);
    ck_assert_int_eq(lz_set_rng_state(NULL), LZ_ENULL);
}
END_TEST

/* Puts other text in place of "key":"old" in the file's header, which keeps its length. */
static void edit(const char *key, const char *old, const char *now)
{
    char find[120], put[120], *text = calloc(1, 1 << 16);
    FILE *f = fopen(path, "r+b");
    size_t n = fread(text, 1, (1 << 16) - 1, f);
    snprintf(find, sizeof find, "\"%s\":\"%s\"", key, old);
    snprintf(put, sizeof put, "\"%s\":\"%s\"", key, now);
    char *at = memmem(text, n, find, strlen(find));
    ck_assert_msg(at && strlen(put) <= strlen(find), "%s is not in the file", find);
    memset(at, ' ', strlen(find));
    memcpy(at, put, strlen(put));
    rewind(f);
    ck_assert_uint_eq(fwrite(text, 1, n, f), n);
    fclose(f);
    free(text);
}

/* Every number in the metadata is what lz_checkpoint_save could have written, or the file is
 * refused and nothing changed. */
START_TEST(damaged_numbers_are_refused)
{
    static const struct {
        const char *key, *old, *bad[14];
    } keys[] = {
        {"lazuli.step",
         "1234567890123456789",
         {"", "-7", " 7", "7 ", "+7", "7.0", "1e3", "0x7", "abc", "7abc", "nan",
          "9223372036854775808"}},
        {"lazuli.seed", "18446744073709551615", {"", "-7", "7.5", "x", "18446744073709551616"}},
        {"lazuli.counter", "1234567890123456789", {"", "-7", "7.5", "x", "7,5"}},
        {"lazuli.lr",
         "0x1.999999999999ap-4",
         {"", "abc", "0x1p-3xyz", "nan", "inf", "-inf", "-1", "0,1", " 1", "1 ", "1e999"}}};
    const float w[2] = {1, 2};
    float got[2];
    lz_params ps = {0};
    OK(lz_params_add(&ps, "w", lz_from_host(LZ_F32, LZ_SHAPE(2), w)));
    lz_optim *o = lz_sgd(&ps, .lr = 0.1);
    lz_checkpoint c = {.struct_size = sizeof c, .params = &ps, .optim = o};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        for (int i = 0; keys[k].bad[i]; i++) {
            lz_rng_state rng = {UINT64_MAX, 1234567890123456789};
            OK(lz_set_rng_state(&rng));
            OK(lz_optim_set_lr(o, 0.1));
            c.step = 1234567890123456789;
            OK(lz_checkpoint_save(file("n.safetensors"), &c));
            edit(keys[k].key, keys[k].old, keys[k].bad[i]);
            OK(lz_assign(ps.tensors[0], lz_zeros(LZ_F32, LZ_SHAPE(2))));
            OK(lz_set_rng_state(&(lz_rng_state){5, 6}));
            OK(lz_optim_set_lr(o, 7));
            c.step = 55;
            ck_assert_msg(lz_checkpoint_load(path, &c) == LZ_ECORRUPT, "%s \"%s\"", keys[k].key,
                          keys[k].bad[i]);
            ck_assert_ptr_nonnull(strstr(lz_last_error_text(), keys[k].key));
            OK(lz_get_rng_state(&rng));
            OK(lz_to_host(ps.tensors[0], got, sizeof got));
            ck_assert(c.step == 55 && lz_optim_lr(o) == 7 && rng.seed == 5 && rng.counter == 6 &&
                      got[0] == 0);
            OK(lz_assign(ps.tensors[0], lz_from_host(LZ_F32, LZ_SHAPE(2), w)));
        }
    c.step = -1;
    ck_assert_int_eq(lz_checkpoint_save(file("n.safetensors"), &c), LZ_EINVAL);
    lz_optim_free(o);
    lz_params_free(&ps);
}
END_TEST

/* The scaler's state is what lz_checkpoint_save could have written, or the file is refused and
 * nothing changed. */
START_TEST(damaged_scalers_are_refused)
{
    enum { INTERVAL = 10 };
    static const struct {
        double scale, tracker;
        lz_dtype scale_dtype, tracker_dtype;
        lz_status status;
    } files[] = {{4, 3, LZ_F32, LZ_I32, LZ_OK},
                 {4, INTERVAL - 1, LZ_F32, LZ_I32, LZ_OK},
                 {0, 3, LZ_F32, LZ_I32, LZ_ECORRUPT},
                 {-4, 3, LZ_F32, LZ_I32, LZ_ECORRUPT},
                 {INFINITY, 3, LZ_F32, LZ_I32, LZ_ECORRUPT},
                 {-INFINITY, 3, LZ_F32, LZ_I32, LZ_ECORRUPT},
                 {NAN, 3, LZ_F32, LZ_I32, LZ_ECORRUPT},
                 {4, -1, LZ_F32, LZ_I32, LZ_ECORRUPT},
                 {4, INTERVAL, LZ_F32, LZ_I32, LZ_OK},
                 {4, INT32_MAX - 1, LZ_F32, LZ_I32, LZ_OK},
                 {4, INT32_MAX, LZ_F32, LZ_I32, LZ_ECORRUPT},
                 {4, 3, LZ_F64, LZ_I32, LZ_EDTYPE},
                 {0, 3, LZ_F64, LZ_I32, LZ_EDTYPE},
                 {4, 3, LZ_F16, LZ_I32, LZ_EDTYPE},
                 {4, 3, LZ_BF16, LZ_I32, LZ_EDTYPE},
                 {4, 3, LZ_I32, LZ_I32, LZ_EDTYPE},
                 {4, 3, LZ_F32, LZ_I64, LZ_EDTYPE},
                 {4, 3.5, LZ_F32, LZ_F32, LZ_EDTYPE}};
    static const char *const names[] = {"scaler/scale", "scaler/growth_tracker"},
                             *const numbers[] = {"lazuli.step", "5", "lazuli.seed",    "1",
                                                 "lazuli.lr",   "1", "lazuli.counter", "0"};
    lz_grad_scaler *g = lz_grad_scaler_new(.init_scale = 8, .growth_interval = INTERVAL);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        lz_tensor *t[] = {lz_full(files[i].scale_dtype, LZ_SCALAR, files[i].scale),
                          lz_full(files[i].tracker_dtype, LZ_SCALAR, files[i].tracker)};
        lz_checkpoint c = {.struct_size = sizeof c, .scaler = g, .step = 1};
        float scale = 0;
        OK(lz_assign(lz_grad_scaler_get_scale(g), lz_full(LZ_F32, LZ_SCALAR, 8)));
        OK(lz_save_safetensors(file("s.safetensors"), names, t, 2, numbers, 4));
        lz_status s = lz_checkpoint_load(path, &c);
        ck_assert_msg(s == files[i].status, "file %zu: %s", i, lz_status_name(s));
        OK(lz_to_host(lz_grad_scaler_get_scale(g), &scale, sizeof scale));
        ck_assert(scale == (s == LZ_OK ? 4 : 8) && c.step == (s == LZ_OK ? 5 : 1));
    }
    lz_grad_scaler_free(g);
    unlink(path);
}
END_TEST

static void step_well(lz_grad_scaler *g, lz_params *ps, lz_optim *o)
{
    OK(lz_optim_zero_grad(o));
    OK(lz_backward(lz_grad_scaler_scale(g, lz_sum(ps->tensors[0]))));
    OK(lz_grad_scaler_step(g, o));
    OK(lz_grad_scaler_update(g));
    OK(lz_mark_step());
}

/* The interval is the scaler's that loads, not the file's: the good steps that were counted for a
 * longer one are enough, and the scale grows at the next. */
START_TEST(counts_of_a_longer_interval_are_enough)
{
    enum { COUNT = 5 };
    for (int interval = 1; interval <= COUNT + 2; interval++) {
        lz_params ps = {0};
        float scale = 0;
        lz_grad_scaler *from = lz_grad_scaler_new(.init_scale = 4, .growth_interval = 2000),
                       *to = lz_grad_scaler_new(.init_scale = 1, .growth_interval = interval);
        lz_checkpoint c = {.struct_size = sizeof c, .scaler = from};
        OK(lz_params_add(&ps, "w", lz_zeros(LZ_F32, LZ_SHAPE(1))));
        lz_optim *o = lz_sgd(&ps, .lr = 1);
        for (int i = 0; i < COUNT; i++)
            step_well(from, &ps, o);
        OK(lz_checkpoint_save(file("i.safetensors"), &c));
        c.scaler = to;
        OK(lz_checkpoint_load(path, &c));
        for (int step = 1, n = COUNT + 1, want = 4; step <= 3; step++, n++) {
            step_well(to, &ps, o);
            if (n >= interval)
                n = 0, want *= 2;
            OK(lz_to_host(lz_grad_scaler_get_scale(to), &scale, sizeof scale));
            ck_assert_msg(scale == (float)want, "interval %d, step %d: %g, not %d", interval, step,
                          (double)scale, want);
        }
        lz_optim_free(o);
        lz_grad_scaler_free(from);
        lz_grad_scaler_free(to);
        lz_params_free(&ps);
        unlink(path);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("state");
    TCase *t = tcase_create("state");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, a_training_goes_on_bit_for_bit);
    tcase_add_test(t, loading_after_training_compiles_nothing);
    tcase_add_test(t, missing_and_unexpected_names_are_said);
    tcase_add_test(t, shapes_and_dtypes_are_checked_before_anything_changes);
    tcase_add_test(t, checkpoints_of_another_kind_are_refused);
    tcase_add_test(t, random_state_is_got_and_set);
    tcase_add_test(t, damaged_numbers_are_refused);
    tcase_add_test(t, damaged_scalers_are_refused);
    tcase_add_test(t, counts_of_a_longer_interval_are_enough);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
