/* t_cache_syscalls.c - system calls that fail one by one or always, full and read-only disks, and
 * directories that must not be trusted or go away. What holds in every case: the caller gets the
 * right value or none, nothing half is left under a name, and all works again when the fault has
 * gone. */
#include "cachetest.h"
#include <sched.h>
#include <sys/mount.h>
#include <time.h>

typedef struct injection {
    uint64_t nth; /* the call that fails; 0: all of `op` */
    int op;       /* only this kind of call; -1: any */
    lz_vfs_fault fault;
} injection;

/* The kinds of the calls of the last scenario. */
static uint8_t trace[4096];

static void inject(lz_vfs_op op, uint64_t nth, lz_vfs_fault *f, void *user)
{
    const injection *in = user;
    trace[nth % sizeof trace] = (uint8_t)op;
    if ((in->op < 0 || in->op == (int)op) && (in->nth == 0 || in->nth == nth))
        *f = in->fault;
}

/* Opens, stores three entries, reads them back, evicts and sweeps; whatever happens, nothing wrong
 * is read. Gives the number of calls. */
static uint64_t scenario(injection *in)
{
    lz_cache *c = NULL;
    lz_cache_options o = {.path = ct_dir, .build_id = "build-1", .fsync = true, .max_bytes = 30000};
    lz_vfs_set_hook(inject, in);
    ck_assert_int_eq(lz_cache_open(&o, &c), LZ_OK);
    for (uint64_t i = 7; i < 10; i++) {
        ck_assert_int_ge(ct_get(c, i), 0);
        ct_put(c, i);
        ck_assert_int_ge(ct_get(c, i), 0);
    }
    ck_assert_uint_eq(ct_stats(c).corrupt, 0);
    (void)lz_cache_gc(c, 10000, NULL, NULL);
    uint64_t calls = lz_vfs_calls();
    lz_vfs_set_hook(NULL, NULL);
    lz_cache_close(c);
    return calls;
}

/* After the fault has gone: everything stored is whole, nothing half is left under a name, and all
 * works again. */
static void expect_sound(void)
{
    lz_cache *c = ct_open();
    ck_assert(lz_cache_enabled(c));
    ct_tally t = ct_verify(c);
    ck_assert_int_eq(t.bad, 0);
    for (uint64_t i = 7; i < 10; i++) {
        ck_assert_int_ge(ct_get(c, i), 0);
        ct_put(c, i);
        ck_assert_int_eq(ct_get(c, i), 1);
    }
    ck_assert_uint_eq(ct_stats(c).corrupt + ct_stats(c).write_fail, 0);
    lz_cache_close(c);
}

static int open_fds(void)
{
    int n = 0;
    for (int fd = 3; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* The first SINGLE of them are also injected into every single call. */
enum { SINGLE = 7 };
static const int errnos[] = {ENOSPC, EIO,   EACCES, EINTR,  ENOENT, EEXIST, EINVAL,
                             EDQUOT, EROFS, EMFILE, ENOMEM, ESTALE, ENOSYS};

START_TEST(c12_every_call_fails)
{
    int err = errnos[_i], fds = open_fds();
    injection none = {.nth = UINT64_MAX, .op = -1};
    uint64_t calls = scenario(&none), step = ct_quick() ? 7 : 1;
    ct_rm(ct_dir);
    ck_assert_uint_lt(calls, sizeof trace);
    uint8_t ops[sizeof trace];
    memcpy(ops, trace, sizeof ops);
    for (uint64_t n = 1 + (uint64_t)_i % step; n <= calls; n += step) {
        if (n > 3 && ops[n] == ops[n - 1] && ops[n] == ops[n - 2] && ops[n] == ops[n - 3])
            continue; /* inside a scan: one of many alike */
        int64_t live = lz_alloc_live_bytes_hint();
        injection in = {.nth = n, .op = -1, .fault = {.err = err}};
        (void)scenario(&in);
        ck_assert_int_eq(lz_alloc_live_bytes_hint(), live);
        ck_assert_int_eq(open_fds(), fds);
        expect_sound();
        ct_rm(ct_dir);
    }
}
END_TEST

START_TEST(c12_every_kind_of_call_fails_always)
{
    int fds = open_fds();
    for (size_t e = 0; e < sizeof errnos / sizeof errnos[0]; e++) {
        if (errnos[e] == EINTR)
            continue; /* a call that is always interrupted never ends, and never happens */
        injection in = {.nth = 0, .op = _i, .fault = {.err = errnos[e]}};
        (void)scenario(&in);
        ck_assert_int_eq(open_fds(), fds);
        expect_sound();
        (void)scenario(&in); /* again, with everything already stored */
        ck_assert_int_eq(open_fds(), fds);
        ct_rm(ct_dir);
    }
}
END_TEST

START_TEST(c12_short_transfers)
{
    for (size_t n = 1; n < 5000; n = n * 5 + 1) {
        injection in = {.nth = 0, .op = -1, .fault = {.max_bytes = n}};
        lz_vfs_set_hook(inject, &in);
        lz_cache *c = ct_open();
        for (uint64_t i = 5; i < 9; i++) {
            ct_put(c, i);
            ck_assert_int_eq(ct_get(c, i), 1);
        }
        lz_vfs_set_hook(NULL, NULL);
        ck_assert_uint_eq(ct_stats(c).stored, 4);
        lz_cache_close(c);
        ct_rm(ct_dir);
    }
}
END_TEST

/* A close that reports a lost write, and a write that fails after it wrote: no entry, no temporary
 * file, one warning. */
START_TEST(c12_late_errors)
{
    static const lz_vfs_op ops[] = {LZ_VFS_CLOSE, LZ_VFS_WRITE, LZ_VFS_SYNC};
    lz_cache *first = ct_open(); /* the directory is there */
    ct_put(first, 1);
    lz_cache_close(first);
    for (int k = 0; k < 3; k++) {
        lz_cache *c = ct_open_with((lz_cache_options){.fsync = true});
        injection in = {.nth = 0, .op = (int)ops[k], .fault = {.err = EIO, .after = true}};
        lz_vfs_set_hook(inject, &in);
        ct_warnings = 0;
        ct_put(c, 5);
        ct_put(c, 6);
        lz_vfs_set_hook(NULL, NULL);
        ck_assert_uint_eq(ct_stats(c).stored, 0);
        ck_assert_uint_eq(ct_stats(c).write_fail, 2);
        ck_assert_int_eq(ct_warnings, 1);
        ck_assert_uint_eq(ct_count_entries(NULL), 1);
        ck_assert_int_eq(ct_temps(), 0);
        ct_put(c, 5); /* the disk is well again */
        ck_assert_int_eq(ct_get(c, 5), 1);
        unlink(ct_path(5));
        lz_cache_close(c);
    }
}
END_TEST

/* Runs in a child with its own mounts, so that a mount never outlives the test. Gives false where
 * that is not allowed. */
static bool own_mounts(void)
{
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

START_TEST(c12_disk_full)
{
    if (!own_mounts() || mount("tmpfs", ct_base, "tmpfs", 0, "size=2m,mode=0700") != 0)
        return; /* needs root */
    lz_cache *c = ct_open();
    for (uint64_t i = 0; i < 400; i++) {
        ct_put(c, 10 * i + 8); /* 20,011 bytes each: four times what there is room for */
        ck_assert_int_ge(ct_get(c, 10 * i + 8), 0);
    }
    lz_cache_stats s = ct_stats(c);
    ck_assert_uint_gt(s.stored, 50);
    ck_assert_uint_eq(s.stored + s.write_fail, 400);
    ck_assert_int_eq(ct_warnings, 1);
    ck_assert_int_eq(ct_verify(c).bad, 0);
    ck_assert_int_eq(ct_temps(), 0);
    ck_assert_int_eq(lz_cache_gc(c, 1 << 20, NULL, NULL), LZ_OK);
    ct_put(c, 9);
    ck_assert_int_eq(ct_get(c, 9), 1);
    lz_cache_close(c);
    umount2(ct_base, MNT_DETACH);
}
END_TEST

START_TEST(c13_read_only_mount)
{
    lz_cache *c = ct_open();
    ct_put(c, 5);
    lz_cache_close(c);
    if (!own_mounts() || mount("tmpfs", ct_base, "tmpfs", 0, "mode=0700") != 0)
        return;
    c = ct_open();
    ct_put(c, 5);
    ct_put(c, 8);
    ct_spill(ct_path(8), "", 0);
    ck_assert_int_eq(mount("tmpfs", ct_base, "tmpfs", MS_REMOUNT | MS_RDONLY, NULL), 0);
    ck_assert_int_eq(ct_get(c, 8), 0); /* cannot be removed */
    ck_assert_uint_eq(ct_stats(c).corrupt, 1);
    lz_vfs_set_clock((int64_t)time(NULL) + 90000); /* a touch would be due */
    ck_assert_int_eq(ct_get(c, 5), 1);
    for (uint64_t i = 10; i < 20; i++)
        ct_put(c, i);
    ck_assert_uint_eq(ct_stats(c).stored, 2);
    ck_assert_uint_eq(ct_stats(c).write_fail, 1); /* it does not go on trying */
    ck_assert_int_eq(ct_warnings, 1);
    lz_cache_close(c);
    umount2(ct_base, MNT_DETACH);
}
END_TEST

START_TEST(c13_directory_without_write_permission)
{
    lz_cache *c = ct_open();
    ct_put(c, 5);
    lz_cache_close(c);
    if (geteuid() ==
        0) { /* permissions do not bind root: be somebody else who owns the directory */
        char cmd[400];
        snprintf(cmd, sizeof cmd, "chown -R 12345 %s", ct_base);
        ck_assert_int_eq(system(cmd), 0);
        ck_assert_int_eq(setuid(12345), 0);
    }
    char path[400];
    snprintf(path, sizeof path, "%s/tmp", ct_dir);
    ck_assert_int_eq(chmod(path, 0500), 0);
    ck_assert_int_eq(chmod(ct_dir, 0500), 0);
    c = ct_open();
    ck_assert_int_eq(ct_get(c, 5), 1);
    for (uint64_t i = 10; i < 20; i++)
        ct_put(c, i);
    ck_assert_uint_eq(ct_stats(c).stored, 0);
    ck_assert_uint_eq(ct_stats(c).write_fail, 1);
    ck_assert_int_eq(ct_warnings, 1);
    lz_cache_close(c);
    chmod(ct_dir, 0700);
    chmod(path, 0700);
}
END_TEST

/* A directory of root that others read, as an administrator would provide. Only root makes one. */
START_TEST(c13_system_directory)
{
    lz_cache *c = ct_open();
    ct_put(c, 5);
    lz_cache_close(c);
    char cmd[900];
    snprintf(cmd, sizeof cmd, "chmod 0755 %s %s && chmod -R go+rX %s", ct_base, ct_dir, ct_dir);
    ck_assert_int_eq(system(cmd), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (setuid(12345) != 0)
            _exit(9);
        c = ct_open();
        bool ok = lz_cache_enabled(c) && ct_get(c, 5) == 1;
        ct_put(c, 6);
        ok = ok && ct_get(c, 6) == 0 && ct_warnings == 0 && ct_stats(c).write_fail == 0;
        _exit(ok ? 0 : 1);
    }
    ck_assert_int_eq(ct_wait(pid), 0);
}
END_TEST

START_TEST(c14_directory_removed)
{
    lz_cache *c = ct_open();
    ct_put(c, 5);
    ct_rm(ct_dir);
    ck_assert_int_eq(ct_get(c, 5), 0);
    ct_put(c, 5); /* made anew */
    ck_assert_int_eq(ct_get(c, 5), 1);
    ck_assert(ct_exists(ct_path(5)));
    char moved[400];
    snprintf(moved, sizeof moved, "%s/moved", ct_base);
    ck_assert_int_eq(rename(ct_dir, moved),
                     0); /* replaced by another: it stays with the one it opened */
    ck_assert_int_eq(mkdir(ct_dir, 0777), 0);
    ck_assert_int_eq(ct_get(c, 5), 1);
    ct_put(c, 6);
    ck_assert_int_eq(ct_get(c, 6), 1);
    ck_assert_uint_eq(ct_count_entries(NULL), 0);
    ct_rm(moved); /* now gone, and a directory that must not be trusted in its place */
    ck_assert_int_eq(chmod(ct_dir, 0777), 0);
    ck_assert_int_eq(ct_get(c, 5), 0);
    ct_put(c, 5);
    ck_assert_int_eq(ct_get(c, 5), 0);
    ck_assert_uint_eq(ct_count_entries(NULL), 0);
    ck_assert_uint_eq(ct_stats(c).write_fail, 1);
    lz_cache_close(c);
}
END_TEST

static void expect_refused(const char *word)
{
    ct_warnings = 0;
    lz_cache *c = ct_open();
    ck_assert(!lz_cache_enabled(c));
    ck_assert_uint_eq(ct_stats(c).refused_dir, 1);
    ck_assert_int_eq(ct_warnings, 1);
    ck_assert_msg(strstr(ct_last, word) && strstr(ct_last, "/cache"), "unclear: %s", ct_last);
    ct_put(c, 5);
    ck_assert_int_eq(ct_get(c, 5), 0);
    ck_assert_int_eq(lz_cache_clear(c, NULL), LZ_EUNAVAILABLE);
    lz_cache_close(c);
    ck_assert_int_eq(ct_warnings, 1);
}

START_TEST(c15_untrusted_directories)
{
    lz_cache *c = ct_open();
    ct_put(c, 5);
    lz_cache_close(c);
    ck_assert_int_eq(chmod(ct_dir, 0770), 0);
    expect_refused("0770");
    ck_assert_int_eq(chmod(ct_dir, 0707), 0);
    expect_refused("0707");
    ck_assert_int_eq(chmod(ct_dir, 0700), 0);
    ck_assert_int_eq(chmod(ct_base, 0777), 0);
    expect_refused("parent");
    ck_assert_int_eq(chmod(ct_base, 01777), 0);
    c = ct_open(); /* sticky, as /tmp is */
    ck_assert(lz_cache_enabled(c));
    lz_cache_close(c);
    ck_assert_int_eq(chmod(ct_base, 0700), 0);
    if (geteuid() == 0) {
        ck_assert_int_eq(chown(ct_dir, 12345, (gid_t)-1), 0);
        expect_refused("12345");
        ck_assert_int_eq(chown(ct_dir, 0, (gid_t)-1), 0);
        c = ct_open();
        ck_assert_int_eq(chown(ct_path(5), 12345, (gid_t)-1), 0); /* one entry of somebody else */
        ct_expect_damaged_and_healed(c, 5);
        ck_assert_int_eq(chmod(ct_path(5), 0620), 0); /* or open to others */
        ct_expect_damaged_and_healed(c, 5);
        lz_cache_close(c);
    }
}
END_TEST

START_TEST(c16_links)
{
    char real[400];
    snprintf(real, sizeof real, "%s/real", ct_base);
    ck_assert_int_eq(mkdir(real, 0700), 0);
    ck_assert_int_eq(symlink(real, ct_dir), 0);
    expect_refused("symbolic link");
    ck_assert_int_eq(rmdir(real), 0); /* nothing was made in it */
    ck_assert_int_eq(unlink(ct_dir), 0);
    /* the next temporary names, planted as links to a file that must not change */
    char victim[400], temp[500];
    snprintf(victim, sizeof victim, "%s/victim", ct_base);
    ct_spill(victim, "precious", 8);
    lz_cache *c = ct_open();
    ct_put(c, 1);
    for (uint64_t k = 0; k < 3; k++) {
        snprintf(temp, sizeof temp, "%s/tmp/%d-%016llx-%llu", ct_dir, (int)getpid(),
                 (unsigned long long)c->store.salt, (unsigned long long)(c->store.next_temp + k));
        ck_assert_int_eq(symlink(victim, temp), 0);
    }
    ct_put(c, 5);
    ck_assert_int_eq(ct_get(c, 5), 1);
    ck_assert_int_eq(ct_temps(), 3);
    size_t n;
    uint8_t *p = ct_slurp(victim, &n);
    ck_assert(n == 8 && memcmp(p, "precious", 8) == 0);
    free(p);
    lz_cache_close(c);
}
END_TEST

/* NFS: the name is taken by another machine and yet cannot be seen. The loser does not wait, loop
 * or complain. */
START_TEST(c23_taken_but_invisible)
{
    lz_cache *c = ct_open();
    ct_put(c, 1);
    injection in = {.nth = 0, .op = LZ_VFS_RENAME, .fault = {.err = EEXIST}};
    lz_vfs_set_hook(inject, &in);
    ct_put(c, 5);
    ck_assert_uint_lt(lz_vfs_calls(), 40);
    lz_vfs_set_hook(NULL, NULL);
    ck_assert_int_eq(ct_get(c, 5), 0);
    ck_assert_uint_eq(ct_stats(c).write_fail, 0);
    ck_assert_int_eq(ct_warnings, 0);
    ck_assert_int_eq(ct_temps(), 0);
    lz_cache_close(c);
}
END_TEST

/* File systems without renames that do not replace, then also without hard links; and kernels
 * without openat2. */
static void old_system(lz_vfs_op op, uint64_t nth, lz_vfs_fault *f, void *user)
{
    int *left = user;
    (void)nth;
    if (op == LZ_VFS_RENAME && left[0] && left[0]-- > 0)
        f->err = EINVAL;
    if (op == LZ_VFS_LINK && left[1])
        f->err = EPERM;
    if (op == LZ_VFS_OPEN && left[2] && left[2]-- > 0)
        f->err = ENOSYS;
}

START_TEST(old_systems)
{
    lz_cache *c = ct_open();
    int left[3] = {1, 0, 0};
    lz_vfs_set_hook(old_system, left);
    ct_put(c, 5);
    left[0] = 1, left[1] = 1;
    ct_put(c, 6);
    left[0] = 1; /* the name exists already */
    ct_put(c, 6);
    left[0] = left[1] = 0;
    left[2] = 1; /* the first open of a lookup: from now on step by step */
    ck_assert_int_eq(ct_get(c, 5), 1);
    ck_assert_int_eq(left[2], 0);
    ck_assert_int_eq(ct_get(c, 6), 1);
    ct_put(c, 7);
    ck_assert_int_eq(ct_get(c, 7), 1);
    ck_assert_int_eq(ct_get(c, 8), 0);
    lz_vfs_set_hook(NULL, NULL);
    ck_assert_uint_eq(ct_stats(c).stored, 3);
    ck_assert_int_eq(ct_temps(), 0);
    char sub[400], away[400];
    snprintf(sub, sizeof sub, "%s", ct_path(7));
    *strrchr(sub, '/') = '\0';
    snprintf(away, sizeof away, "%s/away", ct_base);
    ck_assert_int_eq(rename(sub, away), 0);
    ck_assert_int_eq(symlink(away, sub), 0);
    ck_assert_int_eq(ct_get(c, 7), 0); /* not through a link, also step by step */
    lz_cache_close(c);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cache system calls");
    TCase *t = tcase_create("system calls");
    tcase_set_timeout(t, 240);
    tcase_add_checked_fixture(t, ct_setup, ct_teardown);
    tcase_add_loop_test(t, c12_every_call_fails, 0, SINGLE);
    tcase_add_loop_test(t, c12_every_kind_of_call_fails_always, 0, LZ_VFS_OP_COUNT);
    tcase_add_test(t, c12_short_transfers);
    tcase_add_test(t, c12_late_errors);
    tcase_add_test(t, c12_disk_full);
    tcase_add_test(t, c13_read_only_mount);
    tcase_add_test(t, c13_directory_without_write_permission);
    if (geteuid() == 0)
        tcase_add_test(t, c13_system_directory);
    else
        printf("c13_system_directory is left out: it needs root\n");
    tcase_add_test(t, c14_directory_removed);
    tcase_add_test(t, c15_untrusted_directories);
    tcase_add_test(t, c16_links);
    tcase_add_test(t, c23_taken_but_invisible);
    tcase_add_test(t, old_systems);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
