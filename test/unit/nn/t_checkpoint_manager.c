/* t_checkpoint_manager.c - the manager of a training's checkpoints: which steps are saved and kept,
 * what asynchronous saves hold and when they fail, what is passed over, and the end that was asked
 * for (SIGTERM). */
#include "cache/vfs.h"
#include "base/hash.h"
#include "base/vec.h"
#include "checkpointtest.h"
#include <math.h>
#include <pthread.h>
#include <signal.h>

static void setup(void)
{
    kt_setup();
    lz_set_log_callback(kt_log, NULL);
}

static void teardown(void)
{
    lz_vfs_set_hook(NULL, NULL);
    kt_teardown();
}

/* ---- going on ---- */

START_TEST(a_training_goes_on_bit_for_bit)
{
    kt_net whole, again;
    lz_checkpoint_manager *m = kt_manager(.save_interval = 3);
    kt_init(&whole, 1);
    FAILS(lz_checkpoint_manager_restore(m, LZ_LATEST_STEP, &whole.c), LZ_ENOENT);
    while (whole.c.step < 5) {
        kt_train(&whole, 1);
        if (_i)
            OK(lz_checkpoint_manager_save_async(m, whole.c.step, &whole.c));
        else
            OK(lz_checkpoint_manager_save(m, whole.c.step, &whole.c));
    }
    lz_checkpoint_manager_free(m);
    float loss = kt_train(&whole, 2);

    m = kt_manager(.save_interval = 3);
    kt_init(&again, 99);
    kt_train(&again, 1);
    ck_assert_int_eq(lz_checkpoint_manager_latest_step(m), 3);
    OK(lz_checkpoint_manager_restore(m, LZ_LATEST_STEP, &again.c));
    OK(lz_mark_step());
    ck_assert_int_eq(again.c.step, 3);
    int64_t compiled = lz_counter_value("UncachedCompile");
    float same_loss = kt_train(&again, 4);
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), compiled);
    ck_assert_int_eq(memcmp(&loss, &same_loss, sizeof loss), 0);
    kt_same(&whole.ps, &again.ps);
    kt_same(lz_ema_params(whole.ema), lz_ema_params(again.ema));
    ck_assert(lz_optim_lr(whole.o) == lz_optim_lr(again.o));
    lz_checkpoint_manager_free(m);
    kt_free(&whole);
    kt_free(&again);
}
END_TEST

/* The folder of a step is what lz_checkpoint_load and lz_params_load take, too; and what is in it
 * is a safetensors file that others read. */
START_TEST(the_folder_of_a_step_loads)
{
    kt_net x, y;
    lz_checkpoint_manager *m = kt_manager();
    kt_init(&x, 1);
    kt_train(&x, 2);
    OK(lz_checkpoint_manager_save(m, 2, &x.c));
    kt_init(&y, 2);
    OK(lz_params_load(&y.ps, kt_path("step_2"), .partial = true));
    kt_same(&x.ps, &y.ps);
    kt_train(&y, 1);
    OK(lz_checkpoint_load(kt_path("step_2"), &y.c));
    ck_assert_int_eq(y.c.step, 2);
    kt_same(&x.ps, &y.ps);
    lz_archive *a = lz_safetensors_open(kt_path("step_2/rank-00000.safetensors"));
    ck_assert(lz_archive_has(a, "a.weight") && lz_archive_has(a, "optimizer/step/a.weight"));
    lz_archive_close(a);
    FAILS(lz_checkpoint_load(kt_path("nothing"), &y.c), LZ_ENOENT);
    FAILS(lz_checkpoint_load(kt_dir, &y.c), LZ_ENOENT);
    lz_checkpoint_manager_free(m);
    kt_free(&x);
    kt_free(&y);
}
END_TEST

/* A folder as Hugging Face writes it: one file, or several and their index. */
START_TEST(folders_of_others)
{
    static const char index[] = "{\"metadata\":{\"total_size\":999},\"weight_map\":{"
                                "\"a.weight\":\"model-00001-of-00002.safetensors\","
                                "\"a.bias\":\"model-00002-of-00002.safetensors\","
                                "\"b.weight\":\"model-00002-of-00002.safetensors\","
                                "\"b.bias\":\"model-00001-of-00002.safetensors\"}}";
    kt_net x, y, z;
    kt_init(&x, 1);
    kt_init(&y, 2);
    kt_init(&z, 3);
    ck_assert_int_eq(mkdir(kt_dir, 0700), 0);
    lz_clear_error();
    FAILS(lz_params_load(&y.ps, kt_dir), LZ_ENOENT);
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "model.safetensors"));
    lz_clear_error();
    OK(lz_params_save(&x.ps, kt_path("model.safetensors")));
    OK(lz_params_load(&y.ps, kt_dir));
    kt_same(&x.ps, &y.ps);
    lz_params parts[2] = {0};
    for (size_t i = 0; i < x.ps.len; i++)
        OK(lz_params_add(&parts[i % 3 != 0], x.ps.names[i], x.ps.tensors[i]));
    OK(lz_params_save(&parts[0], kt_path("model-00001-of-00002.safetensors")));
    OK(lz_params_save(&parts[1], kt_path("model-00002-of-00002.safetensors")));
    kt_spill(kt_path("model.safetensors.index.json"), index, sizeof index - 1);
    kt_spill(kt_path("model.safetensors"), "damaged", 7); /* the index comes first */
    OK(lz_params_load(&z.ps, kt_dir));
    kt_same(&x.ps, &z.ps);
    ck_assert_int_eq(lz_last_error(NULL), LZ_OK);
    lz_params_free(&parts[0]);
    lz_params_free(&parts[1]);
    kt_free(&x);
    kt_free(&y);
    kt_free(&z);
}
END_TEST

/* ---- which ---- */

static void save_all(lz_checkpoint_manager *m, kt_net *n, int64_t from, int64_t to)
{
    for (int64_t i = from; i <= to; i++) {
        const lz_checkpoint_metric v = {"loss", i == 6 ? (double)NAN : (double)((i * 5) % 7)};
        OK(lz_checkpoint_manager_save(m, i, &n->c, .metrics = &v, .nmetrics = 1));
    }
}

START_TEST(what_is_kept)
{
    kt_net n;
    kt_init(&n, 1);
    lz_checkpoint_manager *m = kt_manager(.max_to_keep = 2);
    save_all(m, &n, 1, 9);
    ck_assert_str_eq(kt_steps(m), "8 9");
    lz_checkpoint_manager_free(m);
    kt_rm(kt_dir);
    m = kt_manager(.max_to_keep = 1, .keep_period = 4);
    save_all(m, &n, 1, 9);
    ck_assert_str_eq(kt_steps(m), "4 8 9");
    lz_checkpoint_manager_free(m);
    kt_rm(kt_dir);
    /* loss of step i: 1:5 2:3 3:1 4:6 5:4 6:NaN 7:0 8:5 9:3 */
    m = kt_manager(.keep_best = 3, .best_metric = "loss");
    save_all(m, &n, 1, 9);
    ck_assert_str_eq(kt_steps(m), "3 7 9");
    lz_checkpoint_manager_free(m);
    kt_rm(kt_dir);
    m = kt_manager(.max_to_keep = 1, .keep_best = 1, .best_metric = "loss",
                   .best_is_highest = true);
    save_all(m, &n, 1, 9);
    ck_assert_str_eq(kt_steps(m), "4 9");
    double v;
    OK(lz_checkpoint_manager_metric(m, 4, "loss", &v));
    ck_assert(v == 6);
    FAILS(lz_checkpoint_manager_metric(m, 4, "accuracy", &v), LZ_ENOENT);
    FAILS(lz_checkpoint_manager_metric(m, 5, "loss", &v), LZ_ENOENT);
    lz_checkpoint_manager_free(m);
    kt_rm(kt_dir);
    m = kt_manager();
    save_all(m, &n, 1, 9);
    ck_assert_str_eq(kt_steps(m), "1 2 3 4 5 6 7 8 9");
    OK(lz_checkpoint_manager_metric(m, 6, "loss", &v));
    ck_assert(isnan(v));
    lz_checkpoint_manager_free(m);
    kt_free(&n);
}
END_TEST

START_TEST(when_it_is_saved)
{
    kt_net n;
    kt_init(&n, 1);
    lz_checkpoint_manager *m = kt_manager(.save_interval = 10);
    ck_assert(!lz_checkpoint_manager_should_save(m, 9));
    ck_assert(lz_checkpoint_manager_should_save(m, 10));
    OK(lz_checkpoint_manager_save(m, 9, &n.c));
    OK(lz_checkpoint_manager_save_async(m, 11, &n.c));
    ck_assert_str_eq(kt_steps(m), "");
    ck_assert_int_eq(lz_checkpoint_manager_latest_step(m), -1);
    OK(lz_checkpoint_manager_save(m, 9, &n.c, .force = true));
    OK(lz_checkpoint_manager_save(m, 10, &n.c));
    ck_assert(!lz_checkpoint_manager_should_save(m, 10));
    OK(lz_checkpoint_manager_save(m, 10, &n.c)); /* is saved */
    FAILS(lz_checkpoint_manager_save(m, 10, &n.c, .force = true), LZ_EEXIST);
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "step_10"));
    ck_assert_str_eq(kt_steps(m), "9 10");
    OK(lz_checkpoint_manager_restore(m, 9, &n.c));
    ck_assert_int_eq(n.c.step, 9);
    ck_assert(lz_checkpoint_manager_should_save(m, 10)); /* another training */
    FAILS(lz_checkpoint_manager_restore(m, 7, &n.c), LZ_ENOENT);
    ck_assert_int_eq(n.c.step, 9);
    lz_checkpoint_manager_free(m);
    kt_free(&n);
}
END_TEST

/* ---- asynchronous saves ---- */

/* The calls that touch the disk: who makes them, and a gate that stops them. */
static struct gate {
    pthread_t owner;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool shut;
    int own, waiting, error;
} gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void pass_gate(lz_vfs_op op, uint64_t nth, lz_vfs_fault *f, void *user)
{
    (void)nth, (void)user;
    pthread_mutex_lock(&gate.lock);
    if (pthread_equal(pthread_self(), gate.owner)) {
        gate.own++;
    } else {
        gate.waiting++;
        pthread_cond_broadcast(&gate.changed);
        while (gate.shut)
            pthread_cond_wait(&gate.changed, &gate.lock);
        gate.waiting--;
        if (gate.error && op == LZ_VFS_SYNC)
            f->err = gate.error;
    }
    pthread_mutex_unlock(&gate.lock);
}

static void set_gate(bool shut, int error)
{
    pthread_mutex_lock(&gate.lock);
    gate.owner = pthread_self();
    gate.shut = shut;
    gate.error = error;
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.lock);
}

/* K04: what is saved is what was there at the call, whatever happens to the parameters before it is
 * on the disk. The caller makes the copy, and touches no file. */
START_TEST(k04_async_save_is_of_the_call)
{
    kt_net n, before, loaded;
    lz_checkpoint_manager *m = kt_manager(.max_pending_async = 2);
    kt_init(&n, 1);
    kt_init(&before, 1);
    OK(lz_manual_seed(5));
    kt_train(&before, 3);
    OK(lz_manual_seed(5));
    kt_train(&n, 3);
    set_gate(true, 0);
    lz_vfs_set_hook(pass_gate, NULL);
    OK(lz_checkpoint_manager_save_async(m, 3, &n.c));
    int64_t compiled = lz_counter_value("UncachedCompile");
    kt_train(&n, 4); /* in place, and by the program of before: no handle is held */
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), compiled);
    ck_assert_int_eq(gate.own, 0);
    ck_assert_int_eq(kt_count("step_"), 0);
    set_gate(false, 0);
    OK(lz_checkpoint_manager_join(m));
    ck_assert_int_eq(gate.own, 0);
    lz_vfs_set_hook(NULL, NULL);
    kt_init(&loaded, 7);
    OK(lz_checkpoint_manager_restore(m, 3, &loaded.c));
    kt_same(&loaded.ps, &before.ps);
    lz_checkpoint_manager_free(m);
    kt_free(&n);
    kt_free(&before);
    kt_free(&loaded);
}
END_TEST

typedef struct fourth {
    lz_checkpoint_manager *m;
    kt_net *n;
    _Atomic bool done;
} fourth;

static void *save_fourth(void *user)
{
    fourth *f = user;
    OK(lz_checkpoint_manager_save_async(f->m, 4, &f->n->c));
    f->done = true;
    return NULL;
}

/* K05: the order is kept, there are no more copies than places, and a save that finds none waits.
 */
START_TEST(k05_queue_is_bounded)
{
    kt_net n;
    pthread_t thread;
    lz_checkpoint_manager *m = kt_manager(.max_pending_async = 3);
    kt_init(&n, 1);
    kt_train(&n, 1);
    set_gate(true, 0);
    lz_vfs_set_hook(pass_gate, NULL);
    for (int64_t i = 1; i <= 3; i++) {
        OK(lz_checkpoint_manager_save_async(m, i, &n.c));
        kt_train(&n, 1);
    }
    fourth f = {m, &n, false};
    ck_assert_int_eq(pthread_create(&thread, NULL, save_fourth, &f), 0);
    pthread_mutex_lock(&gate.lock);
    while (!gate.waiting)
        pthread_cond_wait(&gate.changed, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
    usleep(50000);
    ck_assert(!f.done); /* no place is free */
    set_gate(false, 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    lz_vfs_set_hook(NULL, NULL);
    OK(lz_checkpoint_manager_join(m));
    ck_assert(f.done);
    ck_assert_str_eq(kt_steps(m), "1 2 3 4");
    for (int64_t i = 1; i <= 4; i++) { /* each is of its own step */
        OK(lz_checkpoint_manager_restore(m, i, &n.c));
        ck_assert_int_eq(n.c.step, i);
    }
    lz_checkpoint_manager_free(m);
    kt_free(&n);
}
END_TEST

/* K02: the failure of a save comes back at the next call, once; nothing of it stays. */
START_TEST(k02_async_failure_comes_back)
{
    kt_net n;
    lz_checkpoint_manager *m = kt_manager();
    kt_init(&n, 1);
    OK(lz_checkpoint_manager_save(m, 1, &n.c));
    for (int k = 0; k < 2; k++) {
        set_gate(false, EIO);
        lz_vfs_set_hook(pass_gate, NULL);
        OK(lz_checkpoint_manager_save_async(m, 2 + k, &n.c));
        ck_assert_str_eq(kt_steps(m), "1"); /* waits for it */
        lz_vfs_set_hook(NULL, NULL);
        if (k)
            FAILS(lz_checkpoint_manager_save_async(m, 9, &n.c), LZ_EIO);
        else
            FAILS(lz_checkpoint_manager_join(m), LZ_EIO);
        ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "t_checkpoint_manager.c"));
        OK(lz_checkpoint_manager_join(m));
        ck_assert_str_eq(kt_steps(m), "1");
        ck_assert_int_eq(kt_count("."), 2); /* nothing is left over */
    }
    OK(lz_checkpoint_manager_save_async(m, 5, &n.c));
    OK(lz_checkpoint_manager_join(m));
    set_gate(false, EIO);
    lz_vfs_set_hook(pass_gate, NULL);
    OK(lz_checkpoint_manager_save_async(m, 6, &n.c));
    kt_warnings = 0;
    lz_checkpoint_manager_free(m);
    ck_assert_int_eq(kt_warnings, 1); /* nobody was given it */
    kt_free(&n);
}
END_TEST

/* ---- damage ---- */

static void three_steps(kt_net *n)
{
    lz_checkpoint_manager *m = kt_manager();
    kt_init(n, 1);
    for (int64_t i = 1; i <= 3; i++) {
        kt_train(n, 1);
        OK(lz_checkpoint_manager_save(m, i, &n->c));
    }
    lz_checkpoint_manager_free(m);
}

enum { DAMAGES = 12 };
static void damage(int kind)
{
    const char *shard = kt_path("step_3/rank-00000.safetensors");
    const char *manifest = kt_path("step_3/manifest.json"), *dir = kt_path("step_3");
    size_t n;
    char *p;
    switch (kind) {
    case 0:
        kt_flip(shard, -3);
        return;
    case 1:
        kt_flip(shard, 20);
        return;
    case 2:
        ck_assert_int_eq(truncate(shard, 100), 0);
        return;
    case 3:
        ck_assert_int_eq(unlink(shard), 0);
        return;
    case 4:
        kt_flip(manifest, 60);
        return;
    case 5:
        ck_assert_int_eq(unlink(manifest), 0);
        return;
    case 6:
        ck_assert_int_eq(truncate(manifest, 0), 0);
        return;
    case 7:
        kt_spill(kt_path("step_3/rank-00001.safetensors"), "x", 1);
        return;
    case 8: /* of another step */
        kt_rm(dir);
        ck_assert_int_eq(rename(kt_path("step_1"), dir), 0);
        return;
    case 9: /* a link to where the same bytes are */
        ck_assert_int_eq(rename(shard, kt_path("moved")), 0);
        ck_assert_int_eq(symlink("../moved", shard), 0);
        return;
    case 10:
        ck_assert_int_eq(unlink(shard), 0);
        ck_assert_int_eq(mkfifo(shard, 0600), 0);
        return;
    default: /* something behind the end */
        p = kt_slurp(shard, &n);
        kt_spill(shard, p, n + 1);
        free(p);
    }
}

/* K03: what is damaged is found, passed over, and said; a training that comes to the step again
 * replaces it. */
START_TEST(k03_damaged_steps_are_passed_over)
{
    kt_net n, m2;
    three_steps(&n);
    damage(_i);
    lz_checkpoint_manager *m = kt_manager();
    kt_warnings = 0;
    ck_assert_int_eq(lz_checkpoint_manager_latest_step(m), 2);
    ck_assert_int_eq(kt_warnings, 1);
    ck_assert_msg(strstr(kt_last, "step_3") && strstr(kt_last, "older"), "%s", kt_last);
    kt_init(&m2, 8);
    lz_status s = lz_checkpoint_manager_restore(m, 3, &m2.c);
    ck_assert_msg(s == LZ_ECORRUPT || s == LZ_ENOENT || s == LZ_EPARSE || s == LZ_EIO, "%d",
                  (int)s);
    ck_assert_int_eq(m2.c.step, 0);
    kt_warnings = 0;
    lz_clear_error();
    OK(lz_checkpoint_manager_restore(m, LZ_LATEST_STEP, &m2.c));
    ck_assert_int_eq(lz_last_error(NULL), LZ_OK); /* it was recovered from */
    ck_assert_int_eq(kt_warnings, 1);
    ck_assert_int_eq(m2.c.step, 2);
    OK(lz_mark_step());
    kt_train(&m2, 1);
    kt_same(&m2.ps, &n.ps);
    s = lz_checkpoint_manager_save(m, 3, &m2.c);
    bool ours = _i != 4 && _i != 5 && _i != 6 && _i != 9 && _i != 10; /* by its head, no links */
    ck_assert_msg(s == (ours || _i == 4 ? LZ_OK : LZ_ESTATE), "%d: %s", (int)s,
                  lz_last_error_text());
    if (s == LZ_OK)
        ck_assert_int_eq(lz_checkpoint_manager_latest_step(m), 3);
    lz_checkpoint_manager_free(m);
    kt_free(&n);
    kt_free(&m2);
}
END_TEST

/* What does not fit the program is no damage: the newest is not passed over. */
START_TEST(what_does_not_fit_is_an_error)
{
    kt_net n;
    lz_params other = {0};
    lz_linear_layer l;
    three_steps(&n);
    lz_checkpoint_manager *m = kt_manager();
    OK(lz_linear_layer_init(&l, &other, "a", 2, 2, true, LZ_F32));
    lz_checkpoint c = {.struct_size = sizeof c, .params = &other};
    kt_warnings = 0;
    FAILS(lz_checkpoint_manager_restore(m, LZ_LATEST_STEP, &c), LZ_ESHAPE);
    lz_params_free(&other);
    OK(lz_linear_layer_init(&l, &other, "z", 2, 2, true, LZ_F32));
    FAILS(lz_checkpoint_manager_restore(m, LZ_LATEST_STEP, &c), LZ_ENOENT);
    lz_optim *sgd = lz_sgd(&n.ps, .lr = 0.1);
    lz_checkpoint d = {.struct_size = sizeof d, .params = &n.ps, .optim = sgd};
    FAILS(lz_checkpoint_manager_restore(m, LZ_LATEST_STEP, &d), LZ_EINVAL);
    ck_assert_int_eq(kt_warnings, 0);
    lz_optim_free(sgd);
    lz_params_free(&other);
    lz_checkpoint_manager_free(m);
    kt_free(&n);
}
END_TEST

/* Writes the manifest of step 3 anew, whole, with another text in place of `from`. */
static void change_manifest(const char *from, const char *to)
{
    size_t n, tail = strlen("\"digest\":\"\"}\n") + 32;
    char hex[33], *p = kt_slurp(kt_path("step_3/manifest.json"), &n), *at = strstr(p, from);
    lz_buf b = {0};
    ck_assert_ptr_nonnull(at);
    lz_buf_put(&b, p, (size_t)(at - p));
    lz_buf_puts(&b, to);
    at += strlen(from);
    lz_buf_put(&b, at, (size_t)(p + n - tail - at));
    lz_hash_hex(lz_hash_bytes(b.data, b.len), hex);
    lz_buf_printf(&b, "\"digest\":\"%s\"}\n", hex);
    ck_assert(!b.failed);
    kt_spill(kt_path("step_3/manifest.json"), b.data, b.len);
    lz_buf_free(&b);
    free(p);
}

/* A checkpoint that a later version wrote is not damaged: it is neither passed over nor replaced.
 * The same change with the version of this library is no change. */
START_TEST(a_later_version_is_an_error)
{
    kt_net n;
    three_steps(&n);
    change_manifest("\"version\":1", _i ? "\"version\":2" : "\"version\":1");
    lz_checkpoint_manager *m = kt_manager();
    kt_warnings = 0;
    ck_assert_int_eq(lz_checkpoint_manager_latest_step(m), _i ? -1 : 3);
    if (_i)
        ck_assert_int_eq(lz_last_error(NULL), LZ_EUNSUPPORTED);
    lz_clear_error();
    FAILS(lz_checkpoint_manager_restore(m, LZ_LATEST_STEP, &n.c), _i ? LZ_EUNSUPPORTED : LZ_OK);
    ck_assert_int_eq(n.c.step, 3);
    FAILS(lz_checkpoint_manager_save(m, 3, &n.c, .force = true), LZ_EEXIST);
    ck_assert_int_eq(kt_warnings, 0);
    ck_assert_str_eq(kt_steps(m), "1 2 3");
    lz_checkpoint_manager_free(m);
    kt_free(&n);
}
END_TEST

/* K12: names that are no step's are left alone, with a note. */
START_TEST(k12_strange_names)
{
    static const char *const names[] = {"step_latest",   "step_-1", "step_9999999999999999999",
                                        "step_\xc3\xa9", "step_07", "step_5x",
                                        "step_"};
    kt_net n;
    three_steps(&n);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_int_eq(mkdir(kt_path(names[i]), 0700), 0);
    kt_spill(kt_path("step_8"), "a file", 6);
    ck_assert_int_eq(symlink("step_3", kt_path("step_9")), 0);
    ck_assert_int_eq(mkdir(kt_path("notes"), 0700), 0);
    lz_checkpoint_manager *m = kt_manager(.max_to_keep = 1);
    kt_warnings = 0;
    ck_assert_str_eq(kt_steps(m), "1 2 3");
    ck_assert_str_eq(kt_steps(m), "1 2 3");
    ck_assert_int_eq(kt_warnings, 1);
    ck_assert_int_eq(lz_checkpoint_manager_latest_step(m), 3);
    OK(lz_checkpoint_manager_save(m, 4, &n.c));
    ck_assert_str_eq(kt_steps(m), "4");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert(kt_exists(kt_path(names[i])));
    ck_assert(kt_exists(kt_path("step_8")) && kt_exists(kt_path("step_9")) &&
              kt_exists(kt_path("notes")));
    lz_checkpoint_manager_free(m);
    kt_free(&n);
}
END_TEST

/* ---- the end that was asked for ---- */

static volatile sig_atomic_t others;
static void other_handler(int signal)
{
    (void)signal;
    others++;
}

/* K07: SIGTERM, once or often, at any moment: one more step, saved, is the last one. */
START_TEST(k07_preemption)
{
    kt_net n;
    struct sigaction a = {.sa_handler = _i ? other_handler : SIG_DFL}, now;
    sigaction(SIGTERM, &a, NULL); /* Check has one of its own */
    lz_checkpoint_manager *m = kt_manager(.save_interval = 100, .chkpt_on_preemption = true);
    lz_checkpoint_manager *second = kt_manager(.save_interval = 100, .chkpt_on_preemption = true);
    kt_init(&n, 1);
    int64_t last = -1;
    for (int64_t step = 1; step < 50 && last < 0; step++) {
        kt_train(&n, 1);
        OK(lz_checkpoint_manager_save_async(m, step, &n.c));
        if (step == 4) /* between the save and the question */
            for (int k = 0; k < 1 + _i; k++)
                raise(SIGTERM);
        if (lz_checkpoint_manager_reached_preemption(m, step))
            last = step;
    }
    ck_assert_int_eq(last, 5);
    OK(lz_checkpoint_manager_join(m));
    ck_assert_str_eq(kt_steps(m), "5");
    ck_assert_int_eq(others, _i ? 2 : 0);
    ck_assert(lz_checkpoint_manager_reached_preemption(second, 1));
    lz_checkpoint_manager_free(m);
    sigaction(SIGTERM, NULL, &now);
    ck_assert(now.sa_flags & SA_SIGINFO);
    lz_checkpoint_manager_free(second);
    sigaction(SIGTERM, NULL, &now);
    ck_assert(now.sa_handler == (_i ? other_handler : SIG_DFL));
    m = kt_manager(); /* installs nothing */
    sigaction(SIGTERM, NULL, &now);
    ck_assert(now.sa_handler == (_i ? other_handler : SIG_DFL));
    ck_assert(!lz_checkpoint_manager_reached_preemption(m, 1));
    lz_checkpoint_manager_free(m);
    kt_free(&n);
}
END_TEST

static struct sigaction below; /* what over_ours was installed over */
static void over_ours(int signal, siginfo_t *info, void *context)
{
    others++;
    if (below.sa_flags & SA_SIGINFO)
        below.sa_sigaction(signal, info, context);
}

/* A handler of the program's that calls ours, and stays when the manager ends: the next manager's
 * is over it, and each is called once, down to that of before. */
START_TEST(handlers_over_ours)
{
    enum { ROUNDS = 8 };
    struct sigaction first = {.sa_handler = other_handler}, now;
    struct sigaction over = {.sa_flags = SA_SIGINFO};
    over.sa_sigaction = over_ours;
    sigaction(SIGTERM, &first, NULL);
    for (int i = 0; i < 2; i++) {
        lz_checkpoint_manager *m = kt_manager(.chkpt_on_preemption = true);
        others = 0;
        raise(SIGTERM);
        ck_assert_int_eq(others, i + 1); /* other_handler, and over_ours in the second round */
        ck_assert(lz_checkpoint_manager_reached_preemption(m, 1));
        if (i == 0)
            sigaction(SIGTERM, &over, &below);
        lz_checkpoint_manager_free(m);
        sigaction(SIGTERM, NULL, &now);
        ck_assert(now.sa_sigaction == over_ours);
    }
    sigaction(SIGTERM, &below, NULL); /* it goes, and ours is uncovered */
    lz_checkpoint_manager_free(kt_manager(.chkpt_on_preemption = true));
    sigaction(SIGTERM, NULL, &now);
    ck_assert(now.sa_handler == other_handler);
    for (int i = 0; i < ROUNDS; i++) { /* there is an end */
        lz_checkpoint_manager *m = kt_manager(.chkpt_on_preemption = true);
        sigaction(SIGTERM, &over, NULL);
        lz_checkpoint_manager_free(m);
    }
    ck_assert_ptr_null(lz_checkpoint_manager_new(kt_dir, .chkpt_on_preemption = true));
    ck_assert_int_eq(lz_last_error(NULL), LZ_EPERM);
}
END_TEST

/* ---- arguments ---- */

START_TEST(arguments)
{
    kt_net n;
    int64_t step;
    double v;
    kt_init(&n, 1);
    ck_assert_ptr_null(lz_checkpoint_manager_new(NULL));
    ck_assert_int_eq(lz_last_error(NULL), LZ_ENULL);
    ck_assert_ptr_null(lz_checkpoint_manager_new(""));
    ck_assert_ptr_null(lz_checkpoint_manager_new(kt_dir, .save_interval = 0));
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "save_interval"));
    ck_assert_ptr_null(lz_checkpoint_manager_new(kt_dir, .max_pending_async = 65));
    ck_assert_ptr_null(lz_checkpoint_manager_new(kt_dir, .max_to_keep = -1));
    ck_assert_ptr_null(lz_checkpoint_manager_new(kt_dir, .keep_best = 1));
    ck_assert_ptr_null(lz_checkpoint_manager_new(kt_dir, .struct_size = 4));
    ck_assert(!kt_exists(kt_dir));
    lz_checkpoint_manager *m = kt_manager();
    FAILS(lz_checkpoint_manager_save(NULL, 1, &n.c), LZ_ENULL);
    FAILS(lz_checkpoint_manager_save(m, 1, NULL), LZ_ENULL);
    FAILS(lz_checkpoint_manager_save(m, -1, &n.c), LZ_EINVAL);
    FAILS(lz_checkpoint_manager_save(m, 1, &n.c, .nmetrics = 1), LZ_ENULL);
    const lz_checkpoint_metric none = {NULL, 1}, bad = {"\xff", 1};
    FAILS(lz_checkpoint_manager_save(m, 1, &n.c, .metrics = &none, .nmetrics = 1), LZ_ENULL);
    FAILS(lz_checkpoint_manager_save(m, 1, &n.c, .metrics = &bad, .nmetrics = 1), LZ_EINVAL);
    FAILS(lz_checkpoint_manager_save_async(NULL, 1, &n.c), LZ_ENULL);
    FAILS(lz_checkpoint_manager_restore(NULL, 1, &n.c), LZ_ENULL);
    FAILS(lz_checkpoint_manager_restore(m, -2, &n.c), LZ_EINVAL);
    FAILS(lz_checkpoint_manager_restore(m, 1, NULL), LZ_ENULL);
    FAILS(lz_checkpoint_manager_join(NULL), LZ_ENULL);
    ck_assert_int_eq(lz_checkpoint_manager_all_steps(NULL, &step, 1), -1);
    ck_assert_int_eq(lz_checkpoint_manager_latest_step(NULL), -1);
    FAILS(lz_checkpoint_manager_metric(NULL, 1, "x", &v), LZ_ENULL);
    FAILS(lz_checkpoint_manager_metric(m, 1, NULL, &v), LZ_ENULL);
    ck_assert(!lz_checkpoint_manager_should_save(NULL, 1) &&
              !lz_checkpoint_manager_should_save(m, -1) &&
              !lz_checkpoint_manager_reached_preemption(NULL, 1));
    OK(lz_checkpoint_manager_save(m, 1, &n.c));
    ck_assert_int_eq(lz_checkpoint_manager_all_steps(m, NULL, 1), -1);
    ck_assert_int_eq(lz_checkpoint_manager_all_steps(m, NULL, 0), 1);
    ck_assert_int_eq(kt_count("."), 2);
    lz_checkpoint_manager_free(m);
    lz_checkpoint_manager_free(NULL);
    kt_free(&n);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("checkpoint_manager");
    TCase *t = tcase_create("checkpoint_manager");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, a_training_goes_on_bit_for_bit, 0, 2);
    tcase_add_test(t, the_folder_of_a_step_loads);
    tcase_add_test(t, folders_of_others);
    tcase_add_test(t, what_is_kept);
    tcase_add_test(t, when_it_is_saved);
    tcase_add_test(t, k04_async_save_is_of_the_call);
    tcase_add_test(t, k05_queue_is_bounded);
    tcase_add_test(t, k02_async_failure_comes_back);
    tcase_add_loop_test(t, k03_damaged_steps_are_passed_over, 0, DAMAGES);
    tcase_add_test(t, what_does_not_fit_is_an_error);
    tcase_add_loop_test(t, a_later_version_is_an_error, 0, 2);
    tcase_add_test(t, k12_strange_names);
    tcase_add_loop_test(t, k07_preemption, 0, 2);
    tcase_add_test(t, handlers_over_ours);
    tcase_add_test(t, arguments);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
