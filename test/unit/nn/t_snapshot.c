/* t_snapshot.c - what is saved while other threads train is of one step: parameters, buffers, state
 * and counts of the optimizer, averages, the scaler, the rate, the random numbers. After step k of
 * the training here each of them is k, or is known from it. */
#include "base/alloc.h"
#include "base/text.h"
#include "nn/optim_rule.h"
#include "runtime/exec/snapshot.h"
#include "suite.h"
#include <lazuli/lazuli.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OK(call) ck_assert_msg((call) == LZ_OK, "%s", lz_last_error_text())

enum { PARAMS = 6, BUFFERS = 6, ALL = PARAMS + BUFFERS, SIZE = 500, SEED = 7 };

static char path[300];

static void setup(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/snapshot-%ld.safetensors", tmp ? tmp : "/tmp", (long)getpid());
}

static void teardown(void)
{
    unlink(path);
}

typedef struct net {
    lz_params ps;
    lz_optim *o;
    lz_ema *ema;
    lz_grad_scaler *scaler;
    atomic_bool stop;
    atomic_int steps;
} net;

static void net_init(net *n)
{
    char name[16];
    *n = (net){0};
    OK(lz_manual_seed(SEED));
    for (int i = 0; i < ALL; i++) {
        snprintf(name, sizeof name, "%c%d", i < PARAMS ? 'w' : 'b', i);
        lz_tensor *t = lz_from_zeros(LZ_F32, LZ_SHAPE(SIZE));
        OK(i < PARAMS ? lz_params_add(&n->ps, name, t) : lz_params_add_buffer(&n->ps, name, t));
    }
    n->o = lz_adagrad(&n->ps, .lr = 0.5, .eps = 0);
    n->ema = lz_ema_new(&n->ps, 0.5);
    n->scaler = lz_grad_scaler_new(.init_scale = 8, .growth_interval = 1 << 30);
    ck_assert(n->o && n->ema && n->scaler);
}

static void net_free(net *n)
{
    lz_optim_free(n->o);
    lz_ema_free(n->ema);
    lz_grad_scaler_free(n->scaler);
    lz_params_free(&n->ps);
}

/* Step k: the gradients are 1, so Adagrad's sum is k, and one block of random numbers is drawn. */
static void step(net *n, int k, bool stepped)
{
    lz_scope_begin();
    lz_tensor *loss = lz_mul_scalar(lz_sum(lz_rand(LZ_F32, LZ_SHAPE(4))), 0);
    for (int i = 0; i < PARAMS; i++)
        loss = lz_add(loss, lz_sum(n->ps.tensors[i]));
    OK(lz_backward(lz_grad_scaler_scale(n->scaler, loss)));
    OK(lz_optim_set_lr(n->o, k));
    OK(lz_grad_scaler_step(n->scaler, n->o));
    OK(lz_grad_scaler_update(n->scaler));
    for (int i = PARAMS; i < ALL; i++)
        OK(lz_assign(n->ps.tensors[i], lz_add_scalar(n->ps.tensors[i], 1)));
    OK(lz_ema_update(n->ema));
    OK(lz_optim_zero_grad(n->o));
    if (stepped) {
        OK(lz_mark_step());
        atomic_store(&n->steps, k);
    }
    lz_scope_end();
}

static void *train(void *arg)
{
    net *n = arg;
    for (int k = 1; !n->stop; k++)
        step(n, k, true);
    return NULL;
}

/* Every element of all arrays is the same number, which it gives. */
static float same(const lz_array *a, size_t n, const char *what)
{
    float first = *(const float *)a[0].data;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < a[i].nbytes / 4; k++) {
            float is = ((const float *)a[i].data)[k];
            ck_assert_msg(is == first, "%s: %g in array %zu, %g in the first", what, is, i, first);
        }
    return first;
}

static float same_named(const lz_archive *z, const char *kind, int from, int to)
{
    lz_array a[ALL] = {0};
    char name[64];
    for (int i = from; i < to; i++) {
        snprintf(name, sizeof name, "%s%c%d", kind, i < PARAMS ? 'w' : 'b', i);
        OK(lz_archive_read(z, name, &a[i - from]));
    }
    float v = same(a, (size_t)(to - from), kind);
    for (int i = from; i < to; i++)
        lz_array_free(&a[i - from]);
    return v;
}

static double number(const lz_archive *z, const char *key)
{
    const char *text = lz_archive_metadata(z, key);
    ck_assert_ptr_nonnull(text);
    double v = 0;
    ck_assert(lz_text_f64(text, strlen(text), &v));
    return v;
}

static int64_t integer(const lz_archive *z, const char *name)
{
    lz_array a;
    if (!lz_archive_has(z, name))
        return 0;
    OK(lz_archive_read(z, name, &a));
    int64_t v = a.dtype == LZ_I64 ? *(int64_t *)a.data : *(int32_t *)a.data;
    lz_array_free(&a);
    return v;
}

/* Gives the step. */
static int check_checkpoint(void)
{
    char name[64];
    lz_archive *z = lz_safetensors_open(path);
    ck_assert_msg(z != NULL, "%s", lz_last_error_text());
    int k = (int)same_named(z, "", PARAMS, ALL);
    same_named(z, "", 0, PARAMS);
    same_named(z, "ema/", 0, PARAMS);
    ck_assert_int_eq((int)same_named(z, "ema/", PARAMS, ALL), k);
    for (int i = 0; i < PARAMS; i++) {
        snprintf(name, sizeof name, "optimizer/sum/w%d", i);
        if (k || lz_archive_has(z, name)) /* the first step makes one after the other */
            ck_assert_int_eq((int)same_named(z, "optimizer/sum/", i, i + 1), k);
        snprintf(name, sizeof name, "optimizer/step/w%d", i);
        ck_assert_int_eq(integer(z, name), k);
    }
    ck_assert_int_eq(integer(z, "scaler/growth_tracker"), k);
    ck_assert_int_eq((int)number(z, "lazuli.counter"), k);
    ck_assert_int_eq((int)number(z, "lazuli.seed"), SEED);
    if (k)
        ck_assert_int_eq((int)number(z, "lazuli.lr"), k);
    lz_archive_close(z);
    return k;
}

static int save_checkpoint(net *n)
{
    lz_checkpoint c = {.struct_size = sizeof c,
                       .params = &n->ps,
                       .optim = n->o,
                       .ema = n->ema,
                       .scaler = n->scaler};
    OK(lz_checkpoint_save(path, &c));
    return check_checkpoint();
}

static int check_params(void)
{
    lz_archive *z = lz_safetensors_open(path);
    ck_assert_msg(z != NULL, "%s", lz_last_error_text());
    same_named(z, "", 0, PARAMS);
    int k = (int)same_named(z, "", PARAMS, ALL);
    lz_archive_close(z);
    return k;
}

static int save_params(net *n)
{
    OK(lz_params_save(&n->ps, path));
    return check_params();
}

static int save_tensors(net *n)
{
    OK(lz_save_safetensors(path, (const char *const *)n->ps.names, n->ps.tensors, n->ps.len, NULL,
                           0));
    return check_params();
}

static int read_arrays(net *n)
{
    lz_array a[ALL] = {0};
    OK(lz_tensor_arrays(n->ps.tensors, ALL, a));
    same(a, PARAMS, "lz_tensor_arrays");
    int k = (int)same(a + PARAMS, BUFFERS, "lz_tensor_arrays");
    for (int i = 0; i < ALL; i++)
        lz_array_free(&a[i]);
    return k;
}

static int copy_average(net *n)
{
    lz_ema *e = lz_ema_new(&n->ps, 0.5);
    ck_assert_msg(e != NULL, "%s", lz_last_error_text());
    OK(lz_params_save(lz_ema_params(e), path));
    lz_ema_free(e);
    return check_params();
}

static const struct saver {
    int (*save)(net *n); /* gives the step that was saved */
    int rounds;
} savers[] = {
    {save_checkpoint, 40}, {save_params, 15},  {save_tensors, 10},
    {read_arrays, 100},    {copy_average, 10},
};
enum { SAVERS = sizeof savers / sizeof *savers };

/* A save holds at least what was stepped before it began. */
START_TEST(saving_while_training)
{
    net n;
    pthread_t t;
    net_init(&n);
    int rounds = savers[_i].rounds * (lz_test_whole() ? 5 : 1), last = 0;
    ck_assert_int_eq(pthread_create(&t, NULL, train, &n), 0);
    for (int r = 0; r < rounds; r++) {
        int before = atomic_load(&n.steps), k = savers[_i].save(&n);
        ck_assert_msg(k >= before && k >= last, "step %d after %d and %d", k, before, last);
        last = k;
        for (int i = r % 7; i > 0; i--) /* other places of the step */
            sched_yield();
    }
    n.stop = true;
    pthread_join(t, NULL);
    ck_assert_int_gt(atomic_load(&n.steps), 0);
    ck_assert_int_eq(savers[_i].save(&n), atomic_load(&n.steps));
    net_free(&n);
}
END_TEST

/* Two savers and two trainings on one device. */
typedef struct many {
    net *n;
    int rounds;
} many;

static void *save_many(void *arg)
{
    const many *m = arg;
    for (int r = 0; r < m->rounds; r++)
        read_arrays(m->n);
    return NULL;
}

START_TEST(many_savers)
{
    net n[2];
    pthread_t t[4];
    many m[2];
    for (int i = 0; i < 2; i++)
        net_init(&n[i]);
    for (int i = 0; i < 2; i++) {
        m[i] = (many){&n[i], lz_test_small() ? 20 : 60};
        ck_assert_int_eq(pthread_create(&t[i], NULL, train, &n[i]), 0);
        ck_assert_int_eq(pthread_create(&t[2 + i], NULL, save_many, &m[i]), 0);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(t[2 + i], NULL);
    n[0].stop = n[1].stop = true;
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < 2; i++)
        net_free(&n[i]);
}
END_TEST

/* ---- what counts, one thread after the other ---- */

typedef struct turns {
    net *n;
    atomic_int turn; /* odd: the other thread's */
    atomic_bool leave;
    void (*part[4])(net *n);
} turns;

static void wait_for(turns *t, int turn)
{
    while (atomic_load(&t->turn) != turn)
        sched_yield();
}

static void *other_thread(void *arg)
{
    turns *t = arg;
    for (int i = 0; i < 4 && t->part[i]; i++) {
        wait_for(t, 2 * i + 1);
        t->part[i](t->n);
        atomic_store(&t->turn, 2 * i + 2);
    }
    while (!t->leave)
        sched_yield();
    return NULL;
}

/* The other thread does its next part. */
static void let(turns *t)
{
    int turn = atomic_fetch_add(&t->turn, 1) + 1;
    wait_for(t, turn + 1);
}

static void leave(turns *t, pthread_t thread)
{
    t->leave = true;
    pthread_join(thread, NULL);
}

static void record_1(net *n)
{
    step(n, 1, false);
}

static void record_2(net *n)
{
    step(n, 2, false);
}

static void record_3(net *n)
{
    step(n, 3, false);
}

static void run_it(net *n)
{
    (void)n;
    OK(lz_mark_step());
}

START_TEST(what_others_record_waits_for_their_step)
{
    net n;
    net_init(&n);
    turns t = {.n = &n, .part = {record_1, run_it, record_2, record_3}};
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, other_thread, &t), 0);
    static const int seen[] = {0, 1, 1, 1};
    for (int i = 0; i < 4; i++) {
        let(&t);
        for (int again = 0; again < 2; again++) {
            ck_assert_int_eq(save_checkpoint(&n), seen[i]);
            ck_assert_int_eq(read_arrays(&n), seen[i]);
        }
    }
    leave(&t, thread); /* what it left counts */
    ck_assert_int_eq(save_checkpoint(&n), 3);
    OK(lz_mark_step());
    ck_assert_int_eq(save_checkpoint(&n), 3);
    step(&n, 4, false); /* and what this thread records does */
    ck_assert_int_eq(save_checkpoint(&n), 4);
    OK(lz_mark_step());
    ck_assert_int_eq(save_checkpoint(&n), 4);
    net_free(&n);
}
END_TEST

static void load(net *n)
{
    lz_checkpoint c = {.struct_size = sizeof c,
                       .params = &n->ps,
                       .optim = n->o,
                       .ema = n->ema,
                       .scaler = n->scaler};
    OK(lz_checkpoint_load(path, &c));
}

START_TEST(loading_counts_at_once)
{
    net n;
    net_init(&n);
    for (int k = 1; k < 4; k++)
        step(&n, k, true);
    ck_assert_int_eq(save_checkpoint(&n), 3);
    char kept[320];
    snprintf(kept, sizeof kept, "%s.kept", path);
    ck_assert_int_eq(rename(path, kept), 0);
    step(&n, 4, true);
    ck_assert_int_eq(save_checkpoint(&n), 4);
    ck_assert_int_eq(rename(kept, path), 0);
    turns t = {.n = &n, .part = {load, run_it}};
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, other_thread, &t), 0);
    let(&t); /* that thread lives on */
    ck_assert_int_eq(save_checkpoint(&n), 3);
    let(&t);
    ck_assert_int_eq(save_checkpoint(&n), 3);
    leave(&t, thread);
    net_free(&n);
}
END_TEST

/* Wherever memory runs out in a step, what is saved is of the step before it, or of the whole. */
static int fail_at;
static lz_status failed;

static void failing_step(net *n)
{
    (void)n;
    lz_alloc_fail_at(fail_at, false);
    failed = lz_mark_step();
    lz_alloc_fail_at(0, false);
}

START_TEST(a_step_that_fails)
{
    int failures = 0;
    if (_i) { /* all devices as one */
        setenv("XLA_USE_SPMD", "1", 1);
        setenv("CPU_NUM_DEVICES", "2", 1);
    }
    for (fail_at = 1; fail_at < 400; fail_at += fail_at / 8 + 1) {
        net n;
        net_init(&n);
        turns t = {.n = &n, .part = {record_1, failing_step, run_it}};
        pthread_t thread;
        ck_assert_int_eq(pthread_create(&thread, NULL, other_thread, &t), 0);
        let(&t);
        let(&t);
        ck_assert_int_eq(read_arrays(&n), failed == LZ_OK);
        failures += failed != LZ_OK;
        let(&t);
        ck_assert_int_eq(read_arrays(&n), 1);
        leave(&t, thread);
        net_free(&n);
    }
    ck_assert_int_ge(failures, 3);
}
END_TEST

/* The value of the last step is gone: an error, and no other value. */
static lz_function *doubled;

static void twice(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_add(in[0], in[0]);
}

static void donate(net *n)
{
    lz_scope_begin();
    lz_tensor *out;
    OK(lz_function_call(doubled, &n->ps.tensors[ALL - 1], 1, &out, 1));
    OK(lz_assign(n->ps.tensors[ALL - 1], out));
    lz_scope_end();
}

START_TEST(donated_values)
{
    net n;
    net_init(&n);
    step(&n, 1, true);
    const bool yes = true;
    const lz_function_options o = {.struct_size = sizeof o, .donate = &yes};
    OK(lz_function_trace_at(twice, NULL, &n.ps.tensors[ALL - 1], 1, 1, &o, &doubled, NULL));
    turns t = {.n = &n, .part = {donate, run_it}};
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, other_thread, &t), 0);
    let(&t);
    ck_assert_int_eq(lz_params_save(&n.ps, path), LZ_ESTALE);
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "lz_mark_step"));
    let(&t);
    OK(lz_params_save(&n.ps, path));
    leave(&t, thread);
    lz_function_free(doubled);
    net_free(&n);
}
END_TEST

/* While values are held, a step updates none of them in place: one more program, whatever is held
 * for how long. */
START_TEST(one_more_program)
{
    net n;
    int k = 1;
    net_init(&n);
    for (; k < 4; k++)
        step(&n, k, true);
    int64_t compiled = lz_counter_value("UncachedCompile");
    for (int round = 0; round < 3; round++) {
        lz_snapshot now, later;
        OK(lz_snapshot_take(&now, n.ps.tensors, n.ps.len));
        for (int i = 0; i < 3; i++)
            step(&n, k++, true);
        OK(lz_snapshot_take(&later, n.ps.tensors, n.ps.len));
        step(&n, k++, true);
        lz_snapshot_free(&now);
        lz_snapshot_free(&later);
        step(&n, k++, true);
    }
    ck_assert_int_le(lz_counter_value("UncachedCompile") - compiled, 1);
    ck_assert_int_eq(save_checkpoint(&n), k - 1);
    net_free(&n);
}
END_TEST

/* ---- a load that fails ---- */

/* Only of the last `n` parameters the optimizer gets a state. */
static void step_last(lz_params *ps, lz_optim *o, size_t n)
{
    lz_scope_begin();
    lz_tensor *loss = lz_sum(ps->tensors[ps->len - n]);
    for (size_t i = ps->len - n + 1; i < ps->len; i++)
        loss = lz_add(loss, lz_sum(ps->tensors[i]));
    OK(lz_backward(loss));
    OK(lz_optim_step(o));
    OK(lz_optim_zero_grad(o));
    OK(lz_mark_step());
    lz_scope_end();
}

typedef struct loading {
    lz_checkpoint *c;
    int at;
    lz_status status;
} loading;

/* In a thread that has assigned nothing yet, so that this takes memory, too. */
static void *load_failing(void *arg)
{
    loading *l = arg;
    lz_alloc_fail_at(l->at, false);
    l->status = lz_checkpoint_load(path, l->c);
    lz_alloc_fail_at(0, false);
    return NULL;
}

/* Wherever memory runs out: a state that was not there before is there after a load that succeeds,
 * and after no other; the count and the random numbers likewise. */
START_TEST(a_load_that_fails_publishes_nothing)
{
    enum { N = 40, WITH = 38 };
    int failures = 0;
    lz_status s = LZ_EMEM;
    for (int at = 1; s != LZ_OK; at += at < 100 ? 7 : 1) {
        lz_params ps = {0};
        lz_rng_state rng;
        pthread_t t;
        for (int i = 0; i < N; i++) {
            char name[16];
            snprintf(name, sizeof name, "w%d", i);
            OK(lz_params_add(&ps, name, lz_from_zeros(LZ_F32, LZ_SCALAR)));
        }
        lz_optim *o = lz_adagrad(&ps, .lr = 1), *fresh = lz_adagrad(&ps, .lr = 1);
        lz_checkpoint c = {.struct_size = sizeof c, .params = &ps, .optim = o, .step = 9};
        OK(lz_manual_seed(SEED));
        step_last(&ps, o, N);
        OK(lz_checkpoint_save(path, &c));
        step_last(&ps, fresh, WITH);
        OK(lz_manual_seed(SEED + 1));
        c.optim = fresh;
        c.step = 0;
        loading l = {&c, at, LZ_OK};
        ck_assert_int_eq(pthread_create(&t, NULL, load_failing, &l), 0);
        pthread_join(t, NULL);
        s = l.status;
        OK(lz_get_rng_state(&rng));
        const lz_optim_group *g = &fresh->groups[0];
        for (int i = 0; i < N - WITH; i++)
            ck_assert_msg(!(g->n && g->state[0][i]) == (s != LZ_OK), "allocation %d, state %d", at,
                          i);
        ck_assert_int_eq(c.step, s == LZ_OK ? 9 : 0);
        ck_assert_uint_eq(rng.seed, s == LZ_OK ? SEED : SEED + 1);
        failures += s != LZ_OK;
        lz_optim_free(o);
        lz_optim_free(fresh);
        lz_params_free(&ps);
    }
    ck_assert_int_ge(failures, 10);
}
END_TEST

/* ---- groups that are added while another thread saves ---- */

enum { MANY = 1500, GROUPS = 40 };
typedef struct grower {
    lz_optim *o;
    atomic_int round; /* of saving */
    lz_params lists[GROUPS];
} grower;

/* In each round at another moment of the save. */
static void *add_groups(void *arg)
{
    grower *g = arg;
    for (int r = 0; r < GROUPS; r++) {
        while (atomic_load(&g->round) < r + 1)
            sched_yield();
        for (volatile int i = r * 20000; i > 0; i--)
            ;
        OK(lz_optim_add_group(g->o, &g->lists[r]));
    }
    return NULL;
}

START_TEST(saving_while_groups_are_added)
{
    static grower g;
    lz_params ps = {0};
    pthread_t t;
    char name[16];
    g = (grower){0};
    lz_tensor *one = lz_from_zeros(LZ_F32, LZ_SCALAR);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "w%d", i);
        OK(lz_params_add(&ps, name, one));
    }
    g.o = lz_sgd(&ps, .lr = 1);
    OK(lz_optim_reserve(g.o, "test", NULL));
    for (int i = 0; i < MANY; i++)
        g.o->groups[0].step[i] = 1; /* as if it had made a step */
    const lz_checkpoint c = {.struct_size = sizeof c, .optim = g.o};
    ck_assert_int_eq(pthread_create(&t, NULL, add_groups, &g), 0);
    for (int r = 0; r < GROUPS; r++) {
        atomic_store(&g.round, r + 1);
        OK(lz_checkpoint_save(path, &c));
    }
    pthread_join(t, NULL);
    lz_archive *z = lz_safetensors_open(path);
    ck_assert_uint_eq(lz_archive_len(z), MANY);
    lz_archive_close(z);
    lz_optim_free(g.o);
    for (int r = 0; r < GROUPS; r++)
        lz_params_free(&g.lists[r]);
    lz_params_free(&ps);
}
END_TEST

START_TEST(errors)
{
    lz_array a[2];
    lz_tensor *t[2] = {lz_ones(LZ_F32, LZ_SHAPE(2)), NULL};
    ck_assert_int_eq(lz_tensor_arrays(t, 2, a), LZ_ENULL);
    ck_assert(!a[0].data && !a[1].data);
    ck_assert_int_eq(lz_tensor_arrays(NULL, 2, a), LZ_ENULL);
    ck_assert_int_eq(lz_tensor_arrays(t, 1, NULL), LZ_ENULL);
    OK(lz_tensor_arrays(NULL, 0, NULL));
    t[1] = lz_matmul(lz_ones(LZ_F32, LZ_SHAPE(2, 3)), lz_ones(LZ_F32, LZ_SHAPE(2, 3)));
    ck_assert_int_eq(lz_tensor_arrays(t, 2, a), LZ_ESHAPE);
    t[1] = lz_full(LZ_F32, LZ_SHAPE(3), 2);
    OK(lz_tensor_arrays(t, 2, a));
    ck_assert(((float *)a[0].data)[1] == 1 && ((float *)a[1].data)[2] == 2);
    for (int i = 0; i < 2; i++)
        lz_array_free(&a[i]);
}
END_TEST

int main(void)
{
    setenv("LAZULI_CACHE", "0", 1);
    Suite *s = suite_create("snapshot");
    TCase *t = tcase_create("snapshot");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, saving_while_training, 0, SAVERS);
    tcase_add_test(t, many_savers);
    tcase_add_test(t, what_others_record_waits_for_their_step);
    tcase_add_test(t, loading_counts_at_once);
    tcase_add_loop_test(t, a_step_that_fails, 0, 2);
    tcase_add_test(t, donated_values);
    tcase_add_test(t, one_more_program);
    tcase_add_test(t, a_load_that_fails_publishes_nothing);
    tcase_add_test(t, saving_while_groups_are_added);
    tcase_add_test(t, errors);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
