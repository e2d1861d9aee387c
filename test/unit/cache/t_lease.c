/* t_lease.c - leases (cache/lease.h): one holder, what those who wait are told when it stores,
 * gives up, dies, stops or says nothing, and what is left behind. Waits end by what happens to the
 * lease, so bounds are hours, and a test in which one ran out would not end; but for those whose
 * holder cannot be looked at. */
#include "../../cachetest.h"
#include "cache/lease.h"
#include <pthread.h>
#include <signal.h>

enum { HOURS_MS = 3600 * 1000 * 3, SHORT_MS = 300 };

static lz_cache *open_with_bound(int64_t ms)
{
    return ct_open_with((lz_cache_options){.lease_ms = ms});
}

static lz_lease_state try_it(lz_cache *c, lz_lease *l)
{
    return lz_cache_lease_try(c, LZ_CACHE_KERNEL, "key 1", 5, l);
}

static lz_lease_state wait_for_it(lz_cache *c, lz_lease *l)
{
    return lz_cache_lease_wait(c, LZ_CACHE_KERNEL, "key 1", 5, l);
}

static const char *lease_path(void)
{
    static char path[400];
    char hex[33];
    lz_hash_hex(lz_hash_seeded("key 1", 5, lz_cache_name_seed(LZ_CACHE_KERNEL, "build-1")), hex);
    snprintf(path, sizeof path, "%s/tmp/%s.k.lease", ct_dir, hex);
    return path;
}

/* Somebody else's lease, with this text. */
static void plant(const char *text)
{
    lz_cache *c = ct_open();
    ct_put(c, 99); /* makes the folders */
    lz_cache_close(c);
    ct_spill(lease_path(), text, strlen(text));
}
#define ELSEWHERE "00000000-0000-0000-0000-000000000000 1 1 1 0123456789abcdef"

START_TEST(one_holder)
{
    lz_cache *a = open_with_bound(HOURS_MS), *b = open_with_bound(HOURS_MS);
    lz_lease x, y, z;
    ck_assert_int_eq(try_it(a, &x), LZ_LEASE_TAKEN);
    ck_assert_int_eq(try_it(b, &y), LZ_LEASE_BUSY);
    ck_assert_int_eq(try_it(a, &z), LZ_LEASE_BUSY); /* the same process, too */
    ck_assert_int_eq(lz_cache_lease_try(b, LZ_CACHE_PROGRAM, "key 1", 5, &z), LZ_LEASE_TAKEN);
    lz_cache_lease_release(b, &z);
    lz_cache_lease_release(b, &z); /* none */
    lz_cache_lease_release(b, &y);
    ck_assert(ct_exists(lease_path()));
    lz_cache_lease_release(a, &x);
    ck_assert(!ct_exists(lease_path()));
    ck_assert_int_eq(wait_for_it(b, &y), LZ_LEASE_TAKEN);
    lz_cache_close(b); /* releases */
    lz_cache_close(a);
    ck_assert_int_eq(ct_temps(), 0);
}
END_TEST

START_TEST(more_than_a_table)
{
    lz_cache *c = open_with_bound(HOURS_MS);
    lz_lease l[LZ_LEASES + 1];
    for (int i = 0; i <= LZ_LEASES; i++) {
        char key[64];
        size_t n = ct_key((uint64_t)i, key);
        ck_assert_int_eq(lz_cache_lease_try(c, LZ_CACHE_KERNEL, key, n, &l[i]),
                         i < LZ_LEASES ? LZ_LEASE_TAKEN : LZ_LEASE_NONE);
    }
    lz_cache_close(c);
    ck_assert_int_eq(ct_temps(), 0);
}
END_TEST

/* None where nothing is stored, or there would be somebody to wait for forever. */
START_TEST(no_leases)
{
    lz_lease l;
    ck_assert_int_eq(try_it(NULL, &l), LZ_LEASE_NONE);
    plant(ELSEWHERE);
    lz_cache *c = ct_open_with((lz_cache_options){.read_only = true, .lease_ms = HOURS_MS});
    ck_assert_int_eq(wait_for_it(c, &l), LZ_LEASE_NONE);
    lz_cache_close(c);
    c = open_with_bound(-1);
    ck_assert_int_eq(wait_for_it(c, &l), LZ_LEASE_NONE);
    lz_cache_close(c);
    c = open_with_bound(HOURS_MS);
    pid_t pid = fork();
    if (pid == 0)
        _exit(wait_for_it(c, &l) == LZ_LEASE_NONE ? 0 : 1);
    ck_assert_int_eq(ct_wait(pid), 0);
    lz_cache_close(c);
}
END_TEST

typedef struct holder {
    lz_cache *c;
    lz_lease l;
    bool store;
} holder;

static void *hold_and_let_go(void *arg)
{
    holder *h = arg;
    while (ct_stats(h->c).lease_waits == 0) /* the other waits */
        usleep(1000);
    if (h->store)
        ct_put(h->c, 1);
    lz_cache_lease_release(h->c, &h->l);
    return NULL;
}

/* Who waits is told that the holder is done, and takes no lease: others are told as well. */
START_TEST(released)
{
    pthread_t t;
    holder h = {.c = open_with_bound(HOURS_MS), .store = _i};
    lz_lease l;
    void *value;
    size_t n;
    ck_assert_int_eq(ct_get(h.c, 1), 0);
    ck_assert_int_eq(try_it(h.c, &h.l), LZ_LEASE_TAKEN);
    ck_assert_int_eq(pthread_create(&t, NULL, hold_and_let_go, &h), 0);
    ck_assert_int_eq(wait_for_it(h.c, &l), LZ_LEASE_RELEASED);
    bool hit = lz_cache_get_again(h.c, LZ_CACHE_KERNEL, "key 1", 5, &value, &n);
    ck_assert_int_eq(hit, _i);
    lz_free(value);
    lz_cache_stats s = ct_stats(h.c);
    ck_assert_uint_eq(s.misses[LZ_CACHE_KERNEL], 1); /* one look-up in two parts */
    ck_assert_uint_eq(s.hits[LZ_CACHE_KERNEL], (uint64_t)_i);
    pthread_join(t, NULL);
    lz_cache_close(h.c);
}
END_TEST

/* A process that holds it, and says so. */
static pid_t hold_in_child(void)
{
    int ends[2];
    char byte;
    ck_assert_int_eq(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        lz_lease l;
        lz_cache *c = open_with_bound(HOURS_MS);
        if (try_it(c, &l) == LZ_LEASE_TAKEN && write(ends[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    close(ends[1]);
    ck_assert_int_eq(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    return pid;
}

enum { KILLED, STOPPED, ZOMBIE };
START_TEST(holder_is_gone)
{
    pid_t pid = hold_in_child();
    lz_cache *c = open_with_bound(HOURS_MS);
    lz_lease l;
    ck_assert_int_eq(try_it(c, &l), LZ_LEASE_BUSY);
    kill(pid, _i == STOPPED ? SIGSTOP : SIGKILL);
    if (_i == KILLED)
        ck_assert_int_eq(ct_wait(pid), 1000 + SIGKILL);
    ck_assert_int_eq(wait_for_it(c, &l), LZ_LEASE_TAKEN);
    ck_assert_uint_eq(ct_stats(c).leases_taken_over, 1);
    lz_lease m;
    ck_assert_int_eq(try_it(c, &m), LZ_LEASE_BUSY);
    lz_cache_lease_release(c, &l);
    if (_i != KILLED) {
        kill(pid, SIGKILL);
        ck_assert_int_eq(ct_wait(pid), 1000 + SIGKILL);
    }
    lz_cache_close(c);
    ck_assert_int_eq(ct_temps(), 0);
}
END_TEST

/* One whose number another process has by now. */
START_TEST(number_used_again)
{
    pid_t pid = hold_in_child();
    size_t n;
    char *text = (char *)ct_slurp(lease_path(), &n), other[LZ_LEASE_TOKEN_LEN], boot[40];
    unsigned long long ns, start, nonce;
    int was;
    text[n] = '\0';
    ck_assert_int_eq(sscanf(text, "%39s %llx %d %llu %llx", boot, &ns, &was, &start, &nonce), 5);
    ck_assert_int_eq(was, pid);
    ck_assert_uint_gt(start, 1);
    snprintf(other, sizeof other, "%s %llx %d %llu %llx", boot, ns, was, start - 1, nonce);
    ct_spill(lease_path(), other, strlen(other));
    lz_cache *c = open_with_bound(HOURS_MS);
    lz_lease l;
    ck_assert_int_eq(wait_for_it(c, &l), LZ_LEASE_TAKEN);
    lz_cache_close(c);
    kill(pid, SIGKILL);
    ck_assert_int_eq(ct_wait(pid), 1000 + SIGKILL);
    free(text);
}
END_TEST

/* A holder on another machine that says nothing more, one that died before it said who it is, and
 * texts that are no holder's. The clocks of the machines are years apart. */
static const char *const silent[] = {ELSEWHERE, "", "- 0 0 0", "\n\n\n", "%s%s%n", "a b c d e f g"};
START_TEST(silent_holder)
{
    struct timespec years[2] = {{.tv_sec = 4000000000}, {.tv_sec = 4000000000}};
    plant(silent[_i]);
    ck_assert_int_eq(utimensat(AT_FDCWD, lease_path(), years, 0), 0);
    lz_cache *c = open_with_bound(SHORT_MS);
    lz_lease l;
    ck_assert_int_eq(wait_for_it(c, &l), LZ_LEASE_TAKEN);
    ck_assert_uint_eq(ct_stats(c).leases_taken_over, 1);
    lz_cache_close(c);
    ck_assert_int_eq(ct_temps(), 0);
}
END_TEST

/* Each that waits is given the lease once, one after the other; none is left over. */
enum { WAITERS = 8 };
static void *wait_and_release(void *arg)
{
    lz_cache *c = open_with_bound(SHORT_MS);
    _Atomic int *taken = arg;
    lz_lease l;
    lz_lease_state s = wait_for_it(c, &l);
    *taken += s == LZ_LEASE_TAKEN;
    usleep(20000);
    lz_cache_lease_release(c, &l);
    lz_cache_close(c);
    return s == LZ_LEASE_TAKEN || s == LZ_LEASE_RELEASED ? NULL : arg;
}

START_TEST(one_of_many_takes_over)
{
    pthread_t t[WAITERS];
    _Atomic int taken = 0;
    void *bad;
    plant(ELSEWHERE);
    for (int i = 0; i < WAITERS; i++)
        ck_assert_int_eq(pthread_create(&t[i], NULL, wait_and_release, (void *)&taken), 0);
    for (int i = 0; i < WAITERS; i++) {
        pthread_join(t[i], &bad);
        ck_assert_ptr_null(bad);
    }
    ck_assert_int_ge(taken, 1);
    ck_assert_int_eq(ct_temps(), 0);
}
END_TEST

/* Between the look at a dead holder's lease and its removal another process has taken it over: its
 * lease is put back. Also where there is no rename that keeps what is there. */
typedef struct swap {
    _Atomic int renames;
    bool no_rename_new;
} swap;
static void swap_at_rename(lz_vfs_op op, uint64_t nth, lz_vfs_fault *f, void *user)
{
    static const char fresh[] = "11111111-1111-1111-1111-111111111111 2 2 2 fedcba9876543210";
    swap *s = user;
    (void)nth;
    if (op != LZ_VFS_RENAME)
        return;
    if (s->renames++ == 0)
        ct_spill(lease_path(), fresh, strlen(fresh));
    else if (s->no_rename_new)
        f->err = EINVAL;
}

static void *remove_later(void *arg)
{
    swap *s = arg;
    while (s->renames < 2)
        usleep(1000);
    usleep(20000);
    size_t n;
    char *text = (char *)ct_slurp(lease_path(), &n);
    bool kept = n > 8 && memcmp(text, "11111111", 8) == 0;
    free(text);
    unlink(lease_path());
    return kept ? NULL : arg;
}

START_TEST(anothers_is_put_back)
{
    pthread_t t;
    void *bad;
    swap s = {.no_rename_new = _i};
    plant(ELSEWHERE);
    lz_cache *c = open_with_bound(SHORT_MS * 4);
    lz_lease l;
    lz_vfs_set_hook(swap_at_rename, &s);
    ck_assert_int_eq(pthread_create(&t, NULL, remove_later, &s), 0);
    ck_assert_int_eq(wait_for_it(c, &l), LZ_LEASE_RELEASED);
    pthread_join(t, &bad);
    lz_vfs_set_hook(NULL, NULL);
    ck_assert_ptr_null(bad);
    ck_assert_uint_eq(ct_stats(c).leases_taken_over, 0);
    lz_cache_close(c);
    ck_assert_int_eq(ct_temps(), 0);
}
END_TEST

/* A holder elsewhere that stores other things is waited for beyond the bound. */
static atomic_bool waiting_over;
static void *renew_then_release(void *arg)
{
    lz_cache *c = arg;
    for (int64_t i = 1; i <= 60; i++) { /* 3 s, bound 2 s */
        int tmp = lz_store_subdir(&c->store, LZ_STORE_TMP, false);
        (void)lz_vfs_touch_at(tmp, strrchr(lease_path(), '/') + 1, 1000000 + i);
        close(tmp);
        usleep(50000);
    }
    bool early = waiting_over;
    unlink(lease_path());
    return early ? arg : NULL;
}

START_TEST(renewed)
{
    pthread_t t;
    void *bad;
    plant(ELSEWHERE);
    lz_cache *c = open_with_bound(2000);
    lz_lease l;
    ck_assert_int_eq(pthread_create(&t, NULL, renew_then_release, c), 0);
    ck_assert_int_eq(wait_for_it(c, &l), LZ_LEASE_RELEASED);
    waiting_over = true;
    pthread_join(t, &bad);
    ck_assert_ptr_null(bad);
    lz_cache_close(c);
}
END_TEST

/* Storing renews what is held, once a second at most. */
START_TEST(storing_renews)
{
    lz_cache *c = open_with_bound(HOURS_MS);
    lz_lease l;
    struct stat before, after;
    ck_assert_int_eq(try_it(c, &l), LZ_LEASE_TAKEN);
    ck_assert_int_eq(lstat(lease_path(), &before), 0);
    ct_put(c, 2);
    ck_assert_int_eq(lstat(lease_path(), &after), 0);
    ck_assert_int_eq(after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
    c->leases.held[0].renewed_ns -= 2000000000;
    lz_vfs_set_clock(12345);
    ct_put(c, 3);
    ck_assert_int_eq(lstat(lease_path(), &after), 0);
    ck_assert_int_eq(after.st_mtim.tv_sec, 12345);
    lz_cache_close(c);
}
END_TEST

/* ---- files ---- */

/* What is no lease is not waited for, nor touched. */
enum { FIFO, FOLDER, LINK, NO_TMP };
START_TEST(something_else)
{
    lz_lease l;
    plant("");
    unlink(lease_path());
    char tmp[400];
    snprintf(tmp, sizeof tmp, "%s/tmp", ct_dir);
    if (_i == FIFO)
        ck_assert_int_eq(mkfifo(lease_path(), 0600), 0);
    else if (_i == FOLDER)
        ck_assert_int_eq(mkdir(lease_path(), 0700), 0);
    else if (_i == LINK)
        ck_assert_int_eq(symlink("/etc/passwd", lease_path()), 0);
    else
        ct_rm(tmp), ct_spill(tmp, "x", 1);
    lz_cache *c = open_with_bound(HOURS_MS);
    ck_assert_int_eq(wait_for_it(c, &l), LZ_LEASE_NONE);
    ck_assert(ct_exists(_i == NO_TMP ? tmp : lease_path()));
    lz_cache_close(c);
}
END_TEST

START_TEST(names)
{
    char name[64];
    snprintf(name, sizeof name, "%s", strrchr((plant("x"), lease_path()), '/') + 1);
    ck_assert(lz_lease_is_name(name));
    ck_assert(!lz_store_is_temp(name));
    ck_assert(!lz_lease_is_name("x") && !lz_lease_is_name("") && !lz_lease_is_name(name + 1));
    name[33] = 'x';
    ck_assert(!lz_lease_is_name(name));
}
END_TEST

/* Left behind, it goes with the temporary files: by age, and when everything goes. */
START_TEST(swept)
{
    plant(ELSEWHERE);
    lz_cache *c = ct_open();
    ck_assert_int_eq(lz_cache_gc(c, 0, NULL, NULL), LZ_OK);
    ck_assert(ct_exists(lease_path()));
    lz_vfs_set_clock((int64_t)time(NULL) + LZ_EVICT_TEMP_AGE_S + 60);
    ck_assert_int_eq(lz_cache_gc(c, 0, NULL, NULL), LZ_OK);
    ck_assert(!ct_exists(lease_path()));
    lz_vfs_set_clock(0);
    plant(ELSEWHERE);
    ck_assert_int_eq(lz_cache_clear(c, NULL), LZ_OK);
    ck_assert(!ct_exists(lease_path()));
    lz_cache_close(c);
}
END_TEST

/* Every system call of it fails once: at worst there is no lease, and what is left is given up. */
typedef struct fault {
    uint64_t nth;
    int err;
} fault;
static void fail_nth(lz_vfs_op op, uint64_t nth, lz_vfs_fault *f, void *user)
{
    const fault *k = user;
    (void)op;
    if (nth == k->nth)
        f->err = k->err;
}

static void die_nth(lz_vfs_op op, uint64_t nth, lz_vfs_fault *f, void *user)
{
    (void)op, (void)f;
    if (nth == ((const fault *)user)->nth)
        raise(SIGKILL);
}

static void use_lease(int64_t bound_ms)
{
    lz_cache *c = open_with_bound(bound_ms);
    lz_lease l;
    (void)wait_for_it(c, &l);
    ct_put(c, 1);
    lz_cache_lease_release(c, &l);
    lz_cache_close(c);
}

START_TEST(every_call_fails)
{
    static const int errs[] = {EIO, ENOSPC, EACCES, EINTR, ESTALE, EMFILE};
    fault k = {.nth = UINT64_MAX, .err = errs[_i]};
    lz_vfs_set_hook(fail_nth, &k);
    use_lease(HOURS_MS);
    uint64_t calls = lz_vfs_calls();
    for (k.nth = 1; k.nth <= calls; k.nth++) {
        ct_rm(ct_dir);
        lz_vfs_set_hook(fail_nth, &k);
        use_lease(HOURS_MS);
        lz_vfs_set_hook(NULL, NULL);
        use_lease(SHORT_MS); /* a lease without an owner may be left */
    }
}
END_TEST

START_TEST(killed_at_every_call)
{
    fault k = {.nth = UINT64_MAX};
    lz_vfs_set_hook(die_nth, &k);
    use_lease(HOURS_MS);
    uint64_t calls = lz_vfs_calls();
    lz_vfs_set_hook(NULL, NULL);
    for (k.nth = 1; k.nth <= calls; k.nth++) {
        ct_rm(ct_dir);
        pid_t pid = fork();
        if (pid == 0) {
            lz_vfs_set_hook(die_nth, &k);
            use_lease(HOURS_MS);
            _exit(7);
        }
        ck_assert_int_eq(ct_wait(pid), 1000 + SIGKILL);
        use_lease(SHORT_MS); /* killed between making the file and writing who it is: the bound */
        lz_cache *c = ct_open();
        ck_assert_int_eq(ct_get(c, 1), 1);
        lz_cache_close(c);
        ck_assert(!ct_exists(lease_path()));
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cache leases");
    TCase *t = tcase_create("leases");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, ct_setup, ct_teardown);
    tcase_add_test(t, one_holder);
    tcase_add_test(t, more_than_a_table);
    tcase_add_test(t, no_leases);
    tcase_add_loop_test(t, released, 0, 2);
    tcase_add_loop_test(t, holder_is_gone, 0, 3);
    tcase_add_test(t, number_used_again);
    tcase_add_loop_test(t, silent_holder, 0, sizeof silent / sizeof *silent);
    tcase_add_test(t, one_of_many_takes_over);
    tcase_add_loop_test(t, anothers_is_put_back, 0, 2);
    tcase_add_test(t, renewed);
    tcase_add_test(t, storing_renews);
    tcase_add_loop_test(t, something_else, 0, 4);
    tcase_add_test(t, names);
    tcase_add_test(t, swept);
    tcase_add_loop_test(t, every_call_fails, 0, 6);
    tcase_add_test(t, killed_at_every_call);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
