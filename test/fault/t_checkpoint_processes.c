/* t_checkpoint_processes.c - K02, K10, D01, D02: checkpoints that several processes save together,
 * when one of them is killed at each system call of a save, fails, or saves something else. What
 * holds in every case: the checkpoint of before is there or the new one, whole; the others are told
 * who it was, at once; and what is left over is swept by the next manager. */
#include "base/alloc.h"
#include "cache/vfs.h"
#include "checkpointtest.h"
#include "support/child.h"
#include "support/together.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

enum { RANKS = 4, ROWS = 37, COLS = 6, TENSORS = 4 };

static void setup(void)
{
    kt_setup();
    lz_set_log_callback(kt_log, NULL);
}

/* ---- a training without a step: tensors whose values are those of its number ---- */

typedef struct state {
    lz_params ps;
    lz_checkpoint c;
} state;

static void fill(float *v, int64_t step)
{
    for (int i = 0; i < ROWS * COLS; i++)
        v[i] = (float)(step * 1000 + i);
}

/* Cut in uneven tiles, repeated, shorter than there are devices, and in two dimensions. */
static void state_of(state *s, int64_t step, lz_mesh *mesh, const char *last)
{
    static const struct {
        const char *name;
        int rows, cols;
        const char *axis[2];
    } t[TENSORS] = {{"cut", ROWS, COLS, {"x", NULL}},
                    {"all", 5, COLS, {NULL, NULL}},
                    {"short", 3, 2, {"x", NULL}},
                    {"both", 8, COLS, {"y", "x"}}};
    float v[ROWS * COLS];
    *s = (state){.c = {.struct_size = sizeof s->c, .step = step}};
    fill(v, step);
    for (int i = 0; i < TENSORS; i++) {
        lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(t[i].rows, t[i].cols), v);
        if (mesh)
            OK(lz_mark_sharding(x, mesh, LZ_SPEC(t[i].axis[0], t[i].axis[1])));
        OK(lz_params_add(&s->ps, i == TENSORS - 1 && last ? last : t[i].name, x));
    }
    s->c.params = &s->ps;
}

static lz_mesh *mesh_of_all(void)
{
    static const int64_t size[] = {2, 2};
    static const char *const axes[] = {"x", "y"};
    lz_mesh *m = lz_mesh_new(NULL, size, axes, 2);
    ck_assert_msg(m != NULL, "%s", lz_last_error_text());
    return m;
}

static lz_status save_as(lz_checkpoint_manager *m, int64_t step, lz_mesh *mesh, bool async,
                         const char *last)
{
    state s;
    state_of(&s, step, mesh, last);
    lz_status st = async ? lz_checkpoint_manager_save_async(m, step, &s.c)
                         : lz_checkpoint_manager_save(m, step, &s.c);
    lz_params_free(&s.ps);
    return st == LZ_OK && async ? lz_checkpoint_manager_join(m) : st;
}

static lz_status save(lz_checkpoint_manager *m, int64_t step, lz_mesh *mesh)
{
    return save_as(m, step, mesh, false, NULL);
}

/* What the newest that is whole is of; its values are those of the step. */
static int64_t newest(lz_checkpoint_manager *m, lz_mesh *mesh)
{
    state s;
    float v[ROWS * COLS], want[ROWS * COLS];
    state_of(&s, 77, mesh, NULL);
    lz_status st = lz_checkpoint_manager_restore(m, LZ_LATEST_STEP, &s.c);
    ck_assert_msg(st == LZ_OK || st == LZ_ENOENT, "%s", lz_last_error_text());
    fill(want, s.c.step);
    for (int i = 0; i < TENSORS; i++) {
        OK(lz_to_host(s.ps.tensors[i], v, sizeof v));
        ck_assert_msg(memcmp(v, want, lz_nbytes(s.ps.tensors[i])) == 0, "%s of step %d",
                      s.ps.names[i], (int)s.c.step);
    }
    lz_params_free(&s.ps);
    return st == LZ_OK ? s.c.step : -1;
}

/* What a rank says of the saves that it made. */
typedef struct said {
    int status, calls, step;
    char text[500];
} said;

typedef struct plan {
    int victim;        /* its n-th call is the last one; -1: nobody's */
    uint64_t nth;      /* 0: it only counts them */
    bool async, stops; /* stops: it is not killed, but sleeps from there on */
    int err;           /* instead of dying it gets this errno from all calls of `op` */
    lz_vfs_op op;
    int64_t step;     /* the victim's; 0: that of all */
    const char *name; /* of the victim's last tensor; NULL: that of all */
} plan;

static void hook(lz_vfs_op op, uint64_t nth, lz_vfs_fault *f, void *user)
{
    const plan *p = user;
    if (p->err && op == p->op)
        f->err = p->err;
    else if (!p->err && nth == p->nth)
        raise(p->stops ? SIGSTOP : SIGKILL);
}

static void save_two(int rank, void *arg, void *out)
{
    plan *p = arg;
    said *s = out;
    bool odd = rank == p->victim;
    lz_mesh *mesh = mesh_of_all();
    lz_checkpoint_manager *m = kt_manager(.max_to_keep = 1);
    OK(save(m, 1, mesh));
    if (odd)
        lz_vfs_set_hook(hook, p);
    s->status = save_as(m, odd && p->step ? p->step : 2, mesh, p->async, odd ? p->name : NULL);
    s->calls = (int)lz_vfs_calls();
    snprintf(s->text, sizeof s->text, "%s", s->status == LZ_OK ? "" : lz_last_error_text());
    if (odd)
        lz_vfs_set_hook(NULL, NULL);
    lz_checkpoint_manager_free(m);
}

static void look(void *arg, void *out)
{
    (void)arg;
    int *step = out;
    kt_warnings = 0;
    lz_checkpoint_manager *m = kt_manager(.max_to_keep = 1);
    ck_assert_int_eq(kt_count(".") - 2, 0);
    *step = (int)newest(m, NULL);
    ck_assert_int_eq(kt_warnings, 0);
    ck_assert_int_eq((int)lz_checkpoint_manager_latest_step(m), *step);
    OK(save(m, 3, NULL));
    ck_assert_str_eq(kt_steps(m), "3");
    ck_assert_int_eq(newest(m, NULL), 3);
    lz_checkpoint_manager_free(m);
}

/* Both saves, then what a later run finds: the newest step. */
static int try(const plan *p, said all[RANKS], bool *killed)
{
    int step = 0;
    plan own = *p;
    const lz_together t = {RANKS, RANKS, p->stops ? 2 : 20,
                           p->err || p->step || p->name ? -1 : p->victim};
    kt_rm(kt_dir);
    memset(all, 0, RANKS * sizeof *all);
    *killed = lz_run_together(&t, save_two, &own, all, sizeof *all);
    lz_in_child(look, NULL, &step, sizeof step);
    return step;
}

static void kill_at(plan p, bool seen[3])
{
    said all[RANKS];
    bool killed;
    char who[20];
    snprintf(who, sizeof who, "rank %d (", p.victim);
    int step = try(&p, all, &killed);
    ck_assert_msg(killed, "call %d of rank %d", (int)p.nth, p.victim);
    ck_assert_msg(step == 1 || step == 2, "call %d of rank %d: %d", (int)p.nth, p.victim, step);
    seen[step] = true;
    for (int r = 0; r < RANKS; r++) {
        if (r == p.victim)
            continue;
        ck_assert_msg(all[r].status == LZ_OK
                          ? step == 2
                          : all[r].status == LZ_ETIMEOUT && strstr(all[r].text, who) != NULL,
                      "call %d of rank %d, step %d: rank %d: %d %s", (int)p.nth, p.victim, step, r,
                      all[r].status, all[r].text);
    }
}

static const int victims[] = {0, 2};

/* K10: of rank 0, which publishes, and of another one; the first half of the calls, or the second.
 */
START_TEST(k10_killed_at_every_call)
{
    plan p = {.victim = victims[_i / 2]};
    said all[RANKS];
    bool killed, seen[3] = {false};
    ck_assert_int_eq(try(&p, all, &killed), 2);
    int calls = all[p.victim].calls, half = calls / 2;
    ck_assert_int_gt(calls, 10);
    ck_assert_int_lt(calls, 200);
    for (int n = _i % 2 ? half + 1 : 1; n <= (_i % 2 ? calls : half); n++) {
        p.nth = (uint64_t)n;
        p.async = n % 3 == 0;
        kill_at(p, seen);
    }
    ck_assert(_i % 2 || seen[1]);
}
END_TEST

/* The same of one that stops: after the time, here 2 s. */
START_TEST(k10_stopped)
{
    bool seen[3] = {false};
    for (uint64_t n = 3; n < 24; n += 7)
        kill_at((plan){.victim = victims[n % 2], .nth = n, .async = n % 2 == 0, .stops = true},
                seen);
    ck_assert(seen[1]);
}
END_TEST

static void all_say(const said all[RANKS], lz_status status, const char *what)
{
    for (int r = 0; r < RANKS; r++)
        ck_assert_msg(all[r].status == (int)status && strstr(all[r].text, what) != NULL,
                      "rank %d: %d %s", r, all[r].status, all[r].text);
}

/* K02: a full disk of one process is an error of all, and nothing of the save stays. */
START_TEST(a_write_of_one_fails)
{
    said all[RANKS];
    bool killed;
    for (int async = 0; async < 2; async++)
        for (int victim = 0; victim < RANKS; victim += 3) {
            const plan p = {.victim = victim, .async = async, .err = ENOSPC, .op = LZ_VFS_WRITE};
            ck_assert_int_eq(try(&p, all, &killed), 1);
            all_say(all, LZ_EIO, "No space left");
        }
}
END_TEST

/* D01, D02: of another step, and other tensors. */
START_TEST(another_save)
{
    said all[RANKS];
    bool killed;
    const plan step = {.victim = 2, .step = 5}, name = {.victim = 1, .name = "another"};
    ck_assert_int_eq(try(&step, all, &killed), 1);
    all_say(all, LZ_EINVAL, "rank 2 (");
    all_say(all, LZ_EINVAL, "saves step 5, rank 0 step 2");
    ck_assert_int_eq(try(&name, all, &killed), 1);
    all_say(all, LZ_EINVAL, "saves other tensors than rank 0");
}
END_TEST

/* ---- file systems ---- */

/* From now on a rename that must replace nothing is EINVAL, as on NFS. false: the system cannot. */
static bool renames_always_replace(void)
{
    struct sock_filter f[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[4])), /* flags */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const struct sock_fprog p = {sizeof f / sizeof *f, f};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p) == 0;
}

static void save_there(int rank, void *arg, void *out)
{
    said *s = out;
    (void)rank, (void)arg;
    s->calls = renames_always_replace();
    lz_mesh *mesh = mesh_of_all();
    lz_checkpoint_manager *m = kt_manager();
    s->status = save(m, 1, mesh);
    snprintf(s->text, sizeof s->text, "%s", s->status == LZ_OK ? "" : lz_last_error_text());
    s->step = s->status == LZ_OK ? (int)newest(m, mesh) : -1;
    lz_checkpoint_manager_free(m);
}

/* What processes on several hosts share is often such a folder. */
START_TEST(a_folder_of_nfs)
{
    said all[RANKS];
    const lz_together t = {RANKS, RANKS, 20, -1};
    memset(all, 0, sizeof all);
    (void)lz_run_together(&t, save_there, NULL, all, sizeof *all);
    for (int r = 0; r < RANKS; r++) {
        ck_assert(all[r].calls); /* Linux 3.17, as renameat2 */
        ck_assert_msg(all[r].status == LZ_OK && all[r].step == 1, "rank %d: %s", r, all[r].text);
    }
}
END_TEST

/* ---- saves that fail meanwhile ---- */

/* Of each of three asynchronous saves after the first one, and of what comes last. */
typedef struct outcomes {
    int status[4], known[3];
} outcomes;

typedef struct fails {
    int places;
    bool memory; /* before it is written: rank 1 has no memory for the first save */
} fails;

static void delay(void)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
}

/* Rank 1 cannot write the first save; rank 2 learns later than the others how that went, since it
 * takes its time to remove what it has written. */
static void hook_late(lz_vfs_op op, uint64_t nth, lz_vfs_fault *f, void *user)
{
    static _Atomic bool was;
    bool writes = *(const int *)user == 1;
    (void)nth;
    if (op != (writes ? LZ_VFS_WRITE : LZ_VFS_UNLINK) || atomic_exchange(&was, true))
        return;
    if (writes)
        f->err = ENOSPC;
    else
        for (int i = 0; i < 3; i++)
            delay();
}

static void save_on(int rank, void *arg, void *out)
{
    const fails *how = arg;
    outcomes *s = out;
    lz_mesh *mesh = mesh_of_all();
    lz_checkpoint_manager *m = kt_manager(.save_interval = 2, .max_pending_async = how->places);
    if (rank == 2 || (rank == 1 && !how->memory))
        lz_vfs_set_hook(hook_late, &rank);
    for (int i = 0; i < 3; i++) {
        state x;
        state_of(&x, 2 * i + 2, mesh, NULL);
        if (rank == 1 && i == 0 && how->memory)
            lz_alloc_fail_at(1, false);
        s->status[i] = lz_checkpoint_manager_save_async(m, 2 * i + 2, &x.c);
        lz_alloc_fail_at(0, false);
        delay();
        s->known[i] = lz_checkpoint_manager_save_async(m, 2 * i + 3, &x.c); /* which is not saved */
        lz_params_free(&x.ps);
    }
    s->status[3] = lz_checkpoint_manager_join(m);
    lz_vfs_set_hook(NULL, NULL);
    OK(save(m, 8, mesh));
    ck_assert_int_eq(newest(m, mesh), 8);
    lz_checkpoint_manager_free(m);
}

/* All are given the error by the same call, or some would save the next step alone. */
START_TEST(k02_all_learn_at_one_call)
{
    outcomes all[RANKS];
    fails how = {_i / 2 + 1, _i % 2};
    const lz_together t = {RANKS, RANKS, 20, -1};
    memset(all, 0, sizeof all);
    (void)lz_run_together(&t, save_on, &how, all, sizeof *all);
    for (int r = 0; r < RANKS; r++)
        for (int i = 0; i < 4; i++) {
            lz_status want = i != how.places ? LZ_OK : how.memory ? LZ_EMEM : LZ_EIO;
            ck_assert_msg(all[r].status[i] == (int)want, "%d places, rank %d: save %d: %d",
                          how.places, r, i, all[r].status[i]);
            ck_assert(i == 3 || all[r].known[i] == LZ_OK);
        }
}
END_TEST

/* ---- no memory ---- */

enum { SAVES, RESTORES, ASKS };
typedef struct scarce {
    int what, odd; /* rank */
    int64_t nth;   /* its allocation that fails; 0: none */
} scarce;

static void do_with_little(int rank, void *arg, void *out)
{
    const scarce *how = arg;
    said *s = out;
    state x;
    lz_mesh *mesh = mesh_of_all();
    (void)signal(SIGTERM, SIG_DFL); /* Check has one of its own */
    lz_checkpoint_manager *m = kt_manager(.chkpt_on_preemption = true);
    OK(save(m, 1, mesh));
    state_of(&x, 2, mesh, NULL);
    OK(lz_mark_step());
    if (rank == how->odd && how->what == ASKS)
        raise(SIGTERM);
    uint64_t before = lz_alloc_count();
    lz_alloc_fail_at(rank == how->odd ? how->nth : 0, false);
    if (how->what == ASKS)
        s->status = lz_checkpoint_manager_reached_preemption(m, 2);
    else
        s->status = how->what == SAVES ? lz_checkpoint_manager_save(m, 2, &x.c)
                                       : lz_checkpoint_manager_restore(m, LZ_LATEST_STEP, &x.c);
    lz_alloc_fail_at(0, false);
    s->calls = (int)(lz_alloc_count() - before);
    snprintf(s->text, sizeof s->text, "%s", s->status == LZ_OK ? "" : lz_last_error_text());
    lz_status after = how->what == ASKS ? save(m, 9, mesh) : LZ_OK;
    if (after != LZ_OK) /* whoever asks is told no reason */
        s->status = (int)after;
    lz_params_free(&x.ps);
    lz_checkpoint_manager_free(m);
}

/* One process of two has no memory, once: both learn so, and neither waits for the other until the
 * time is over. The allocation may be one of the thread of the sockets, which loses the link. */
START_TEST(no_memory_in_one)
{
    enum { TWO = 2, TRIES = 24 };
    scarce how = {_i / 2, _i % 2, 0};
    said all[TWO];
    const lz_together t = {TWO, RANKS, 20, -1};
    int calls = 1, failed = 0;
    for (int k = 0; k <= TRIES && how.nth <= calls; k++) {
        kt_rm(kt_dir);
        memset(all, 0, sizeof all);
        (void)lz_run_together(&t, do_with_little, &how, all, sizeof *all);
        const said *odd = &all[how.odd], *other = &all[!how.odd];
        bool lost = odd->status == LZ_ETIMEOUT || other->status == LZ_ETIMEOUT;
        ck_assert_msg(lost || (odd->status == LZ_OK) == (other->status == LZ_OK),
                      "allocation %d of rank %d: %d %s, the other %d %s", (int)how.nth, how.odd,
                      odd->status, odd->text, other->status, other->text);
        ck_assert_msg(!strstr(odd->text, "has not") && !strstr(other->text, "has not"),
                      "allocation %d of rank %d: %s, the other %s", (int)how.nth, how.odd,
                      odd->text, other->text);
        failed += odd->status == LZ_EMEM;
        if (k == 0)
            calls = odd->calls;
        how.nth += 1 + (k > 8) * (calls / 14); /* the first ones, and some of the others */
    }
    ck_assert(how.what == ASKS || failed > 5);
}
END_TEST

/* ---- going on ---- */

static void save_three(int rank, void *arg, void *out)
{
    (void)rank, (void)arg;
    said *s = out;
    lz_mesh *mesh = mesh_of_all();
    lz_checkpoint_manager *m = kt_manager();
    for (int64_t step = 1; step <= 3; step++)
        OK(save_as(m, step, mesh, step == 2, NULL));
    s->status = save(m, 4, mesh);
    lz_checkpoint_manager *other = kt_manager(); /* which does not know that it is there */
    s->status = save(other, 4, mesh);
    lz_checkpoint_manager_free(other);
    lz_checkpoint_manager_free(m);
}

/* Goes on, comes to the damaged steps again, and saves them. */
static void go_on(int rank, void *arg, void *out)
{
    (void)rank, (void)arg;
    said *s = out;
    lz_mesh *mesh = mesh_of_all();
    lz_checkpoint_manager *m = kt_manager();
    s->step = (int)newest(m, mesh);
    for (int64_t step = s->step + 1; step <= 4; step++)
        OK(save(m, step, mesh));
    ck_assert_int_eq(newest(m, mesh), 4);
    lz_checkpoint_manager_free(m);
}

/* What only one process reads is damaged: all pass over it. */
START_TEST(k03_damaged_for_one)
{
    said all[RANKS];
    const lz_together t = {RANKS, RANKS, 20, -1}, fewer = {2, RANKS, 20, -1};
    memset(all, 0, sizeof all);
    (void)lz_run_together(&t, save_three, NULL, all, sizeof *all);
    for (int r = 0; r < RANKS; r++)
        ck_assert_int_eq(all[r].status, LZ_EEXIST);
    for (int r = 0; r < RANKS; r++) {
        char name[60];
        snprintf(name, sizeof name, "step_4/rank-%05d.safetensors", r);
        ck_assert(kt_exists(kt_path(name)));
    }
    kt_flip(kt_path("step_4/rank-00003.safetensors"), -3);
    kt_flip(kt_path("step_3/rank-00000.safetensors"), -3);
    remove(kt_path("step_2/rank-00001.safetensors"));
    (void)lz_run_together(&t, go_on, NULL, all, sizeof *all);
    for (int r = 0; r < RANKS; r++)
        ck_assert_int_eq(all[r].step, 1);
    kt_flip(kt_path("step_4/manifest.json"), 200);
    (void)lz_run_together(&fewer, go_on, NULL, all, sizeof *all);
    ck_assert_int_eq(all[0].step, 3);
    ck_assert_int_eq(all[1].step, 3);
    ck_assert_int_eq(kt_count(".") - 2, 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("checkpoint_processes");
    TCase *t = tcase_create("checkpoint_processes");
    tcase_add_checked_fixture(t, setup, kt_teardown);
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, k10_killed_at_every_call, 0, 4);
    tcase_add_test(t, k10_stopped);
    tcase_add_test(t, a_write_of_one_fails);
    tcase_add_test(t, another_save);
    tcase_add_test(t, a_folder_of_nfs);
    tcase_add_loop_test(t, k02_all_learn_at_one_call, 0, 4);
    tcase_add_loop_test(t, no_memory_in_one, 0, 6);
    tcase_add_test(t, k03_damaged_for_one);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
