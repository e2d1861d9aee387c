/* t_checkpoint_faults.c - checkpoints when things go wrong: a process that is killed at each system
 * call of a save, calls that fail, full and read-only disks, processes that share a folder, and
 * what others have put into it. What holds in every case: the checkpoint of before is there or the
 * new one, whole, and never a part of one. */
#include "base/alloc.h"
#include "cache/vfs.h"
#include "checkpointtest.h"
#include "data/checkpoint_dir.h"
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>

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

static int wait_for(pid_t pid)
{
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* ---- a training without compiling: two tensors whose values are those of a step ---- */

enum { N = 3000 };
typedef struct state {
    lz_params ps;
    lz_checkpoint c;
} state;

static void fill(float *v, int64_t step)
{
    for (int i = 0; i < N; i++)
        v[i] = (float)(step * 1000 + i);
}

static void state_of(state *s, int64_t step)
{
    float v[N];
    *s = (state){.c = {.struct_size = sizeof s->c, .step = step}};
    fill(v, step);
    OK(lz_params_add(&s->ps, "w", lz_from_host(LZ_F32, LZ_SHAPE(N), v)));
    OK(lz_params_add(&s->ps, "b", lz_from_host(LZ_F32, LZ_SHAPE(7), v)));
    s->c.params = &s->ps;
}

static lz_status save(lz_checkpoint_manager *m, int64_t step)
{
    state s;
    state_of(&s, step);
    lz_status st = lz_checkpoint_manager_save(m, step, &s.c);
    lz_params_free(&s.ps);
    return st;
}

/* Whether the newest is whole, and of what step it says: its number. */
static int64_t newest(lz_checkpoint_manager *m)
{
    state s;
    float v[N], want[N];
    state_of(&s, 77);
    lz_status st = lz_checkpoint_manager_restore(m, LZ_LATEST_STEP, &s.c);
    ck_assert_msg(st == LZ_OK || st == LZ_ENOENT, "%s", lz_last_error_text());
    OK(lz_to_host(s.ps.tensors[0], v, sizeof v));
    fill(want, s.c.step);
    ck_assert_int_eq(memcmp(v, want, sizeof v), 0);
    lz_params_free(&s.ps);
    return st == LZ_OK ? s.c.step : -1;
}

/* ---- kills ---- */

static void die(lz_vfs_op op, uint64_t nth, lz_vfs_fault *f, void *user)
{
    (void)op, (void)f;
    if (nth == *(uint64_t *)user)
        raise(SIGKILL);
}

/* Saves step 2, after which step 1 goes. */
static void second_save(void)
{
    lz_checkpoint_manager *m = kt_manager(.max_to_keep = 1);
    OK(save(m, 2));
    lz_checkpoint_manager_free(m);
}

/* In a process of its own, since one that has used the library cannot fork: `what` returns what it
 * ends with. */
static int apart(int (*what)(uint64_t n), uint64_t n)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(what(n));
    return wait_for(pid);
}

static int first_save(uint64_t n)
{
    (void)n;
    lz_checkpoint_manager *m = kt_manager();
    OK(save(m, 1));
    lz_checkpoint_manager_free(m);
    return 0;
}

static int killed_at(uint64_t n)
{
    lz_vfs_set_hook(die, &n);
    second_save();
    return 7; /* it must not come so far */
}

static int count_calls(uint64_t n)
{
    n = UINT64_MAX;
    lz_vfs_set_hook(die, &n);
    second_save();
    return (int)lz_vfs_calls();
}

/* The checkpoint of before or the new one is there, whole; what is left over is swept, and the next
 * save works. */
static int look(uint64_t n)
{
    (void)n;
    kt_warnings = 0;
    lz_checkpoint_manager *m = kt_manager(.max_to_keep = 1);
    int leftovers = kt_count(".") - 2;
    int64_t step = newest(m);
    ck_assert_msg(step == 1 || step == 2, "the newest is %lld", (long long)step);
    ck_assert_int_eq(lz_checkpoint_manager_latest_step(m), step);
    ck_assert_int_eq(kt_warnings, 0); /* none that is damaged is listed */
    ck_assert_int_eq(leftovers, 0);
    OK(save(m, 3));
    ck_assert_str_eq(kt_steps(m), "3");
    ck_assert_int_eq(newest(m), 3);
    lz_checkpoint_manager_free(m);
    return (int)step;
}

/* K01 and K06. */
START_TEST(k01_killed_at_every_call)
{
    bool seen[3] = {false};
    ck_assert_int_eq(apart(first_save, 0), 0);
    int calls = apart(count_calls, 0);
    ck_assert_int_gt(calls, 30);
    ck_assert_int_lt(calls, 200);
    for (uint64_t n = 1; n <= (uint64_t)calls; n++) {
        kt_rm(kt_dir);
        ck_assert_int_eq(apart(first_save, 0), 0);
        ck_assert_int_eq(apart(killed_at, n), 1000 + SIGKILL);
        int step = apart(look, 0);
        ck_assert_msg(step == 1 || step == 2, "call %d: %d", (int)n, step);
        ck_assert_msg(step == 2 || !seen[2], "call %d: step 2 was there before", (int)n);
        seen[step] = true;
    }
    ck_assert(seen[1] && seen[2]);
}
END_TEST

/* ---- calls that fail ---- */

typedef struct injection {
    uint64_t nth; /* the call that fails; 0: all of `op` */
    int op;       /* only this kind; -1: any */
    lz_vfs_fault fault;
} injection;

static void inject(lz_vfs_op op, uint64_t nth, lz_vfs_fault *f, void *user)
{
    const injection *in = user;
    if ((in->op < 0 || in->op == (int)op) && (!in->nth || in->nth == nth))
        *f = in->fault;
}

static int open_fds(void)
{
    int n = 0;
    for (int fd = 3; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* Saves step 2 under the fault; gives the number of calls. */
static uint64_t faulty_save(injection *in, lz_status *s)
{
    lz_checkpoint_manager *m = kt_manager(.max_to_keep = 2);
    lz_vfs_set_hook(inject, in);
    *s = save(m, 2);
    uint64_t calls = lz_vfs_calls();
    lz_vfs_set_hook(NULL, NULL);
    lz_checkpoint_manager_free(m);
    return calls;
}

/* After it has gone: what the save said is so, and all works. */
static void expect_sound(lz_status s, bool may_leave)
{
    int leftovers = kt_count(".") - 2;
    lz_checkpoint_manager *m = kt_manager(.max_to_keep = 2);
    int64_t step = newest(m);
    if (s == LZ_OK)
        ck_assert_int_eq(step, 2);
    else
        ck_assert_msg(step == 1 || may_leave, "%lld after a failure", (long long)step);
    ck_assert_msg(!leftovers || may_leave, "%d are left over", leftovers);
    ck_assert_int_eq(kt_count("."), 2);
    OK(save(m, 2)); /* where it was restored, it is saved */
    ck_assert_int_eq(newest(m), 2);
    lz_checkpoint_manager_free(m);
}

static const int errnos[] = {ENOSPC, EIO, EACCES, EINTR, EDQUOT, EROFS, EMFILE, ENOMEM};

START_TEST(k02_every_call_fails)
{
    lz_status s;
    injection none = {.nth = UINT64_MAX, .op = -1};
    lz_checkpoint_manager *m = kt_manager();
    OK(save(m, 1));
    lz_checkpoint_manager_free(m);
    uint64_t calls = faulty_save(&none, &s);
    ck_assert_int_eq(s, LZ_OK);
    kt_rm(kt_path("step_2"));
    int fds = open_fds();
    for (uint64_t n = 1; n <= calls; n++) {
        injection in = {.nth = n, .op = -1, .fault = {.err = errnos[_i]}};
        (void)faulty_save(&in, &s);
        if (errnos[_i] == EINTR) /* the call is made again */
            ck_assert_msg(s == LZ_OK, "call %d: %s", (int)n, lz_last_error_text());
        ck_assert_int_eq(open_fds(), fds);
        expect_sound(s, false);
        kt_rm(kt_path("step_2"));
    }
}
END_TEST

START_TEST(k02_every_kind_of_call_fails_always)
{
    lz_status s;
    lz_checkpoint_manager *m = kt_manager();
    OK(save(m, 1));
    lz_checkpoint_manager_free(m);
    int fds = open_fds();
    for (size_t e = 0; e < sizeof errnos / sizeof *errnos; e++) {
        if (errnos[e] == EINTR)
            continue; /* a call that is always interrupted never ends */
        for (int after = 0; after < 1 + (_i != LZ_VFS_OPEN); after++) { /* or the fault leaks */
            injection in = {.op = _i, .fault = {.err = errnos[e], .after = after}};
            (void)faulty_save(&in, &s);
            ck_assert_int_eq(open_fds(), fds);
            expect_sound(s, true);
            kt_rm(kt_path("step_2"));
        }
    }
}
END_TEST

/* Each call of a restore fails once: there are checkpoints, so what comes out is one of them,
 * whole, or an error that says what failed. A training must not begin anew. */
START_TEST(k02_every_call_of_a_restore_fails)
{
    lz_checkpoint_manager *m = kt_manager();
    state s;
    injection in = {.nth = UINT64_MAX, .op = -1, .fault = {.err = errnos[_i]}};
    OK(save(m, 1));
    OK(save(m, 2));
    int fds = open_fds();
    uint64_t calls = 1;
    for (uint64_t n = 0; n <= calls; n++) { /* 0: none, and they are counted */
        in.nth = n ? n : UINT64_MAX;
        state_of(&s, 77);
        lz_vfs_set_hook(inject, &in);
        lz_status st = lz_checkpoint_manager_restore(m, LZ_LATEST_STEP, &s.c);
        calls = n ? calls : lz_vfs_calls();
        lz_vfs_set_hook(NULL, NULL);
        ck_assert_int_eq(open_fds(), fds);
        if (st == LZ_OK)
            ck_assert(s.c.step == 2 || (s.c.step == 1 && errnos[_i] != EINTR));
        else
            ck_assert_msg(s.c.step == 77 && errnos[_i] != EINTR &&
                              (st == LZ_EIO || st == LZ_EPERM || st == LZ_EMEM),
                          "call %d: %s", (int)n, lz_last_error_text());
        lz_params_free(&s.ps);
    }
    ck_assert_uint_gt(calls, 10);
    lz_checkpoint_manager_free(m);
}
END_TEST

START_TEST(k02_short_writes)
{
    lz_status s;
    for (size_t n = 1; n < 20000; n = n * 7 + 1) {
        injection in = {.op = -1, .fault = {.max_bytes = n}};
        (void)faulty_save(&in, &s);
        ck_assert_int_eq(s, LZ_OK);
        expect_sound(s, false);
        kt_rm(kt_dir);
    }
}
END_TEST

/* Own mounts; false where that is not allowed. */
static bool own_mounts(void)
{
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

START_TEST(k02_disk_full)
{
    if (!own_mounts() || mkdir(kt_dir, 0700) != 0 ||
        mount("tmpfs", kt_dir, "tmpfs", 0, "size=64k,mode=0700") != 0)
        return; /* needs root */
    lz_checkpoint_manager *m = kt_manager();
    int64_t last = 0;
    lz_status s = LZ_OK;
    while (s == LZ_OK && last < 20)
        if ((s = save(m, last + 1)) == LZ_OK) /* 12 KiB each */
            last++;
    ck_assert_int_eq(s, LZ_EIO);
    ck_assert_int_gt(last, 1);
    ck_assert_int_eq(newest(m), last);
    ck_assert_int_eq(kt_count("."), 2);
    OK(lz_checkpoint_manager_join(m));
    lz_checkpoint_manager_free(m);
    ck_assert_int_eq(mount("tmpfs", kt_dir, "tmpfs", MS_REMOUNT | MS_RDONLY, NULL), 0);
    m = kt_manager(.max_to_keep = 1); /* sweeps nothing, reads all */
    ck_assert_int_eq(newest(m), last);
    FAILS(save(m, last + 1), LZ_EPERM);
    ck_assert_int_eq(newest(m), last);
    lz_checkpoint_manager_free(m);
    umount2(kt_dir, MNT_DETACH);
}
END_TEST

/* ---- folders of others ---- */

/* What a user without rights finds: checkpoints are read, a save says why it is refused. */
static int reader_only(uint64_t n)
{
    (void)n;
    if (geteuid() == 0 && setuid(12345) != 0)
        return 9;
    lz_checkpoint_manager *m = kt_manager(.max_to_keep = 1);
    ck_assert_int_eq(newest(m), 1);
    FAILS(save(m, 2), LZ_EPERM);
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "ckpt"));
    ck_assert_str_eq(kt_steps(m), "1");
    lz_checkpoint_manager_free(m);
    char under[400];
    snprintf(under, sizeof under, "%s/more/and/more", kt_dir);
    ck_assert_ptr_null(lz_checkpoint_manager_new(under));
    ck_assert_int_eq(lz_last_error(NULL), LZ_EPERM);
    return 0;
}

START_TEST(folder_without_write_permission)
{
    ck_assert_int_eq(apart(first_save, 0), 0);
    ck_assert_int_eq(chmod(kt_base, 0755), 0);
    ck_assert_int_eq(chmod(kt_dir, 0555), 0);
    const char *tmp = getenv("TMPDIR"); /* the runner's is its own user's */
    if (geteuid() == 0 && tmp && strcmp(tmp, "/tmp") != 0) {
        char open[64];
        snprintf(open, sizeof open, "/tmp/lz-ckpt-%d", (int)getpid());
        ck_assert_int_eq(mkdir(open, 0755), 0);
        char command[600];
        snprintf(command, sizeof command, "cp -r %s %s/ckpt && chmod 555 %s/ckpt", kt_dir, open,
                 open);
        ck_assert_int_eq(system(command), 0);
        kt_rm(kt_base);
        snprintf(kt_base, sizeof kt_base, "%s", open);
        snprintf(kt_dir, sizeof kt_dir, "%s/ckpt", open);
    }
    ck_assert_int_eq(apart(reader_only, 0), 0);
    chmod(kt_dir, 0700);
}
END_TEST

/* Another user's checkpoint, and files that are none of ours, are not removed. */
START_TEST(foreign_files_stay)
{
    lz_checkpoint_manager *m = kt_manager(.max_to_keep = 1);
    OK(save(m, 1));
    kt_spill(kt_path("step_1/notes.txt"), "mine", 4);
    kt_warnings = 0;
    OK(save(m, 2));
    ck_assert_str_eq(kt_steps(m), "1 2");
    ck_assert_int_eq(kt_warnings, 1);
    ck_assert_ptr_nonnull(strstr(kt_last, "step_1"));
    ck_assert(kt_exists(kt_path("step_1/notes.txt")) && kt_exists(kt_path("step_1/manifest.json")));
    ck_assert_int_eq(unlink(kt_path("step_1/notes.txt")), 0);
    OK(save(m, 3));
    ck_assert_str_eq(kt_steps(m), "3");
    if (geteuid() == 0) {
        ck_assert_int_eq(chown(kt_path("step_3"), 12345, (gid_t)-1), 0);
        OK(save(m, 4));
        ck_assert_str_eq(kt_steps(m), "3 4");
    }
    lz_checkpoint_manager_free(m);
}
END_TEST

/* Names that look like leftovers, and are not, or are in use. */
START_TEST(sweep_takes_only_what_is_ours)
{
    static const char *const stay[] = {
        ".step_5.tmp-1-0123456789abcdeg", ".step_5.tmp-1-0123", ".step_5.new-1-0123456789abcdef",
        ".step_x.tmp-1-0123456789abcdef", ".step_5.tmp-1-0123456789abcde0"};
    static const char *const go[] = {".step_5.tmp-1-0123456789abcdef",
                                     ".step_0.old-77-0123456789abcdef"};
    char elsewhere[400], path[800];
    lz_ckpt_dir d;
    lz_ckpt_stage live;
    lz_checkpoint_manager_free(kt_manager());
    for (size_t i = 0; i < sizeof stay / sizeof *stay; i++)
        ck_assert_int_eq(mkdir(kt_path(stay[i]), 0700), 0);
    snprintf(path, sizeof path, "%s/notes.txt", kt_path(stay[4]));
    kt_spill(path, "mine", 4);
    for (size_t i = 0; i < sizeof go / sizeof *go; i++) {
        ck_assert_int_eq(mkdir(kt_path(go[i]), 0700), 0);
        snprintf(path, sizeof path, "%s/%s", kt_path(go[i]), i ? "manifest.json" : "being-written");
        kt_spill(path, i ? "{\"format\":\"lazuli.checkpoint\",\"version\":1" : "lazuli",
                 i ? 41 : 6);
        snprintf(path, sizeof path, "%s/rank-00000.safetensors", kt_path(go[i]));
        kt_spill(path, "half", 4);
    }
    /* a link to a folder that looks so, and one whose files do */
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", kt_base);
    ck_assert_int_eq(mkdir(elsewhere, 0700), 0);
    snprintf(path, sizeof path, "%s/being-written", elsewhere);
    kt_spill(path, "lazuli.checkpoint\n", 18);
    ck_assert_int_eq(symlink(elsewhere, kt_path(".step_6.tmp-1-0123456789abcdef")), 0);
    ck_assert_int_eq(mkdir(kt_path(".step_7.tmp-1-0123456789abcdef"), 0700), 0);
    ck_assert_int_eq(symlink(path, kt_path(".step_7.tmp-1-0123456789abcdef/being-written")), 0);
    /* one that is being written */
    ck_assert_int_eq(lz_ckpt_dir_open(kt_dir, false, &d), LZ_OK);
    ck_assert_int_eq(lz_ckpt_stage_begin(&live, &d, 9), LZ_OK);
    lz_checkpoint_manager_free(kt_manager());
    for (size_t i = 0; i < sizeof stay / sizeof *stay; i++)
        ck_assert_msg(kt_exists(kt_path(stay[i])), "%s is gone", stay[i]);
    for (size_t i = 0; i < sizeof go / sizeof *go; i++)
        ck_assert_msg(!kt_exists(kt_path(go[i])), "%s is there", go[i]);
    ck_assert(kt_exists(path) && kt_exists(kt_path(".step_6.tmp-1-0123456789abcdef")) &&
              kt_exists(kt_path(".step_7.tmp-1-0123456789abcdef/being-written")));
    ck_assert(kt_exists(kt_path(live.name)));
    ck_assert_int_eq(lz_ckpt_stage_end(&live, LZ_EIO), LZ_EIO);
    ck_assert(!kt_exists(kt_path(live.name)));
    lz_ckpt_dir_close(&d);
}
END_TEST

/* The folder may be a link, and may be gone when a checkpoint is due. */
START_TEST(links_and_removed_folders)
{
    char real[400];
    snprintf(real, sizeof real, "%s/real", kt_base);
    ck_assert_int_eq(mkdir(real, 0700), 0);
    ck_assert_int_eq(symlink("real", kt_dir), 0);
    lz_checkpoint_manager *m = kt_manager();
    OK(save(m, 1));
    ck_assert_int_eq(newest(m), 1);
    ck_assert_int_eq(unlink(kt_dir), 0);
    kt_rm(real);
    OK(save(m, 2));
    ck_assert_str_eq(kt_steps(m), "2");
    kt_rm(kt_dir);
    ck_assert_int_eq(newest(m), -1);
    ck_assert_int_eq(lz_checkpoint_manager_all_steps(m, NULL, 0), 0);
    kt_spill(kt_dir, "a file", 6);
    FAILS(save(m, 3), LZ_ENOENT);
    lz_checkpoint_manager_free(m);
    ck_assert_ptr_null(lz_checkpoint_manager_new(kt_dir));
}
END_TEST

/* ---- processes ---- */

/* Waits for the gate to open (end of file), saves steps 1 to 3; gives how many of them were its
 * own. */
static int gate[2];
static int racer(uint64_t n)
{
    char c;
    int won = 0;
    close(gate[1]);
    (void)!read(gate[0], &c, 1);
    lz_checkpoint_manager *m = kt_manager();
    for (int64_t step = 1; step <= 3; step++) {
        lz_status s = save(m, step);
        ck_assert_msg(s == LZ_OK || s == LZ_EEXIST, "%d: %s", (int)n, lz_last_error_text());
        won += s == LZ_OK;
    }
    ck_assert_int_eq(newest(m), 3);
    lz_checkpoint_manager_free(m);
    return won;
}

/* K09: of processes that save the same step one wins, the others are told so. */
START_TEST(k09_two_processes_save_one_step)
{
    enum { PROCESSES = 4 };
    for (int round = 0; round < (lz_test_small() ? 3 : 12); round++) {
        pid_t pid[PROCESSES];
        int won = 0;
        kt_rm(kt_dir);
        ck_assert_int_eq(pipe(gate), 0);
        for (int i = 0; i < PROCESSES; i++)
            if ((pid[i] = fork()) == 0)
                _exit(racer((uint64_t)i));
        close(gate[0]);
        close(gate[1]);
        for (int i = 0; i < PROCESSES; i++)
            won += wait_for(pid[i]);
        ck_assert_int_eq(won, 3);
        ck_assert_int_eq(kt_count("step_"), 3);
        ck_assert_int_eq(kt_count("."), 2);
    }
}
END_TEST

/* K07: SIGTERM at any moment of a training that saves all the time: it ends by itself, and the last
 * step is saved. */
static int trained(uint64_t n)
{
    signal(SIGTERM, SIG_DFL);
    lz_checkpoint_manager *m =
        kt_manager(.save_interval = 3, .max_to_keep = 2, .chkpt_on_preemption = true);
    kt_spill(kt_path("ready"), "", 0);
    for (int64_t step = 1;; step++) {
        state s;
        state_of(&s, step);
        OK(n % 2 ? lz_checkpoint_manager_save(m, step, &s.c)
                 : lz_checkpoint_manager_save_async(m, step, &s.c));
        lz_params_free(&s.ps);
        if (!lz_checkpoint_manager_reached_preemption(m, step))
            continue;
        OK(lz_checkpoint_manager_join(m));
        ck_assert_int_eq(newest(m), step);
        lz_checkpoint_manager_free(m);
        return 42;
    }
}

START_TEST(k07_sigterm_at_any_moment)
{
    for (int i = 0; i < (lz_test_small() ? 3 : 10); i++) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(trained((uint64_t)i));
        while (!kt_exists(kt_path("ready")))
            usleep(1000);
        usleep((useconds_t)(i * 3000));
        for (int k = 0; k < 1 + i % 3; k++)
            kill(pid, SIGTERM);
        ck_assert_int_eq(wait_for(pid), 42);
        ck_assert_int_eq(kt_count("."), 2);
        kt_rm(kt_dir);
    }
}
END_TEST

static int leaves(uint64_t n)
{
    state s;
    lz_checkpoint_manager *m = kt_manager();
    state_of(&s, 1);
    OK(lz_checkpoint_manager_save_async(m, 1, &s.c));
    exit((int)n);
}

/* A program that ends without a word ends when its last checkpoint is on the disk. */
START_TEST(exit_waits_for_a_save)
{
    ck_assert_int_eq(apart(leaves, 3), 3);
    ck_assert_int_eq(kt_count("step_1"), 1);
    ck_assert_int_eq(kt_count("."), 2);
}
END_TEST

/* ---- memory ---- */

/* A06: each allocation of a save, an asynchronous one and a load fails once. */
START_TEST(every_allocation_fails)
{
    lz_checkpoint_manager *m = kt_manager();
    OK(save(m, 1));
    for (int64_t n = 1; n < 2000; n++) {
        state s;
        state_of(&s, 2);
        lz_alloc_fail_at(n, false);
        uint64_t failed = lz_alloc_failed_count();
        lz_status st = _i == 0   ? lz_checkpoint_manager_save(m, 2, &s.c)
                       : _i == 1 ? lz_checkpoint_manager_save_async(m, 2, &s.c)
                                 : lz_checkpoint_manager_restore(m, LZ_LATEST_STEP, &s.c);
        if (_i == 1 && st == LZ_OK)
            st = lz_checkpoint_manager_join(m);
        bool all = lz_alloc_failed_count() == failed;
        lz_alloc_fail_at(0, false);
        lz_params_free(&s.ps);
        ck_assert_msg(st == LZ_OK || st == LZ_EMEM || st == LZ_EDEVMEM, "allocation %d: %s", (int)n,
                      lz_last_error_text());
        ck_assert(st == LZ_OK || !all);
        ck_assert_int_eq(newest(m), st == LZ_OK && _i < 2 ? 2 : 1);
        ck_assert_int_eq(kt_count("."), 2);
        kt_rm(kt_path("step_2"));
        if (all)
            break;
        lz_checkpoint_manager_free(m); /* it would take the step for saved */
        m = kt_manager();
    }
    lz_checkpoint_manager_free(m);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("checkpoint_faults");
    TCase *t = tcase_create("checkpoint_faults");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, k01_killed_at_every_call);
    tcase_add_loop_test(t, k02_every_call_fails, 0, sizeof errnos / sizeof *errnos);
    tcase_add_loop_test(t, k02_every_kind_of_call_fails_always, 0, LZ_VFS_OP_COUNT);
    tcase_add_loop_test(t, k02_every_call_of_a_restore_fails, 0, sizeof errnos / sizeof *errnos);
    tcase_add_test(t, k02_short_writes);
    tcase_add_test(t, k02_disk_full);
    tcase_add_test(t, folder_without_write_permission);
    tcase_add_test(t, foreign_files_stay);
    tcase_add_test(t, sweep_takes_only_what_is_ours);
    tcase_add_test(t, links_and_removed_folders);
    tcase_add_test(t, k09_two_processes_save_one_step);
    tcase_add_test(t, k07_sigterm_at_any_moment);
    tcase_add_test(t, exit_waits_for_a_save);
    tcase_add_loop_test(t, every_allocation_fails, 0, 3);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
