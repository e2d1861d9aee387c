/* t_writers.c - every function that writes a file, with every kind of thing that may stand where
 * the file is to be, and with each of its system calls interrupted or failing. The functions of the
 * C library that are named here stand before it. */
#include "suite.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <lazuli/lazuli.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static char dir[200], path[1000];

static const char *file(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void setup(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(dir, sizeof dir, "%s/writers.XXXXXX", tmp ? tmp : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    umask(022);
}

static void teardown(void)
{
    char cmd[300];
    snprintf(cmd, sizeof cmd, "rm -rf '%s'", dir);
    ck_assert_int_eq(system(cmd), 0);
}

/* ---- calls that fail ---- */

static struct {
    int at, error; /* the at-th call from now on fails; 0: none does */
    int calls;
    int close_this; /* at the first write; -1: nothing */
} fault = {.close_this = -1};

static bool fails(void)
{
    if (++fault.calls != fault.at)
        return false;
    errno = fault.error;
    return true;
}

#define REAL(type, name, ...)                                                                      \
    static type (*real)(__VA_ARGS__);                                                              \
    if (!real)                                                                                     \
    real = (type(*)(__VA_ARGS__))(uintptr_t)dlsym(RTLD_NEXT, name)

static int counted_open(const char *name, const char *p, int flags, mode_t mode)
{
    int (*real)(const char *, int, ...) =
        (int (*)(const char *, int, ...))(uintptr_t)dlsym(RTLD_NEXT, name);
    bool ours = *dir && strncmp(p, dir, strlen(dir)) == 0;
    return ours && fails() ? -1 : real(p, flags, mode);
}

#define OPEN(name)                                                                                 \
    int name(const char *p, int flags, ...)                                                        \
    {                                                                                              \
        va_list a;                                                                                 \
        va_start(a, flags);                                                                        \
        mode_t mode = flags & O_CREAT ? va_arg(a, mode_t) : 0;                                     \
        va_end(a);                                                                                 \
        return counted_open(#name, p, flags, mode);                                                \
    }
OPEN(open)
OPEN(open64)

int fsync(int fd)
{
    REAL(int, "fsync", int);
    return fails() ? -1 : real(fd);
}

int rename(const char *from, const char *to)
{
    REAL(int, "rename", const char *, const char *);
    return fails() ? -1 : real(from, to);
}

ssize_t write(int fd, const void *p, size_t n)
{
    REAL(ssize_t, "write", int, const void *, size_t);
    if (fault.close_this >= 0) {
        close(fault.close_this);
        fault.close_this = -1;
    }
    return fd > 2 && fails() ? -1 : real(fd, p, n);
}

/* ---- the writers ---- */

enum { LEN = 40000 }; /* more than a buffer of the writer, less than one of a pipe with the rest */
static float data[LEN / 4];
static const lz_array array = {LZ_F32, {1, {LEN / 4}}, LEN, data, NULL};
static const char *const names[] = {"w"};

static lz_status write_npy(const char *p)
{
    return lz_npy_write(p, &array);
}

static lz_status write_npz(const char *p)
{
    return lz_npz_write(p, names, &array, 1, false);
}

static lz_status write_deflated(const char *p)
{
    return lz_npz_write(p, names, &array, 1, true);
}

static lz_status write_safetensors(const char *p)
{
    return lz_safetensors_write(p, names, &array, 1, NULL, 0);
}

static lz_status save_safetensors(const char *p)
{
    lz_scope_begin();
    lz_tensor *t = lz_from_host(LZ_F32, array.shape, data);
    lz_status s = lz_save_safetensors(p, names, &t, 1, NULL, 0);
    lz_scope_end();
    return s;
}

static lz_status save_params(const char *p)
{
    lz_params ps = {0};
    lz_scope_begin();
    lz_params_add(&ps, "w", lz_from_host(LZ_F32, array.shape, data));
    lz_status s = lz_params_save(&ps, p);
    lz_params_free(&ps);
    lz_scope_end();
    return s;
}

static lz_status save_checkpoint(const char *p)
{
    lz_params ps = {0};
    lz_scope_begin();
    lz_params_add(&ps, "w", lz_from_host(LZ_F32, array.shape, data));
    lz_checkpoint c = {.struct_size = sizeof c, .params = &ps, .step = (int64_t)data[0]};
    lz_status s = lz_checkpoint_save(p, &c);
    lz_params_free(&ps);
    lz_scope_end();
    return s;
}

static lz_status trace(const char *p)
{
    char text[32];
    lz_status s = lz_start_trace(p);
    if (s != LZ_OK)
        return s;
    snprintf(text, sizeof text, "number %g", data[0]);
    lz_trace_begin(text);
    lz_trace_end();
    return lz_stop_trace();
}

static const struct writer {
    const char *name;
    lz_status (*write)(const char *path);
    bool streams; /* what happens, while it happens, in place: its text differs each time */
} writers[] = {
    {"lz_npy_write", write_npy, false},
    {"lz_npz_write", write_npz, false},
    {"lz_npz_write, deflated", write_deflated, false},
    {"lz_safetensors_write", write_safetensors, false},
    {"lz_save_safetensors", save_safetensors, false},
    {"lz_params_save", save_params, false},
    {"lz_checkpoint_save", save_checkpoint, false},
    {"lz_start_trace", trace, true},
};
enum { WRITERS = sizeof writers / sizeof *writers };

#define OK(w, call) ck_assert_msg((call) == LZ_OK, "%s: %s", (w)->name, lz_last_error_text())
#define FAILS(w, call, status)                                                                     \
    do {                                                                                           \
        lz_status s_ = (call);                                                                     \
        ck_assert_msg(s_ == (status), "%s: %s, not %s: %s", (w)->name, lz_status_name(s_),         \
                      #status, lz_last_error_text());                                              \
        ck_assert_msg(strlen(lz_last_error_text()) > 10, "%s: %s", (w)->name,                      \
                      lz_last_error_text());                                                       \
    } while (0)

/* ---- what is there ---- */

static char was[1 << 17], is[1 << 17];

static size_t contents(const char *p, char *out)
{
    FILE *f = fopen(p, "rb");
    ck_assert_msg(f != NULL, "%s: %s", p, strerror(errno));
    size_t n = fread(out, 1, sizeof was, f);
    ck_assert_uint_lt(n, sizeof was);
    fclose(f);
    return n;
}

static void put(const char *p, const char *text, mode_t mode)
{
    int fd = open(p, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    ck_assert_int_eq(fchmod(fd, mode), 0);
    close(fd);
}

static bool holds(const char *p, const char *text)
{
    return contents(p, is) == strlen(text) && memcmp(is, text, strlen(text)) == 0;
}

static mode_t mode_of(const char *p)
{
    struct stat st;
    ck_assert_msg(lstat(p, &st) == 0, "%s: %s", p, strerror(errno));
    return st.st_mode;
}

/* Names in the folder; no file that was begun may stay. */
static int entries(void)
{
    int n = 0;
    DIR *d = opendir(dir);
    ck_assert_ptr_nonnull(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        n += *e->d_name != '.';
        ck_assert_msg(!strstr(e->d_name, ".tmp-"), "%s is left", e->d_name);
    }
    closedir(d);
    return n;
}

/* ---- tests, each for one writer ---- */

START_TEST(modes_are_kept)
{
    static const mode_t modes[] = {0600, 0640, 0644, 0664, 0755, 0444};
    const struct writer *w = &writers[_i];
    OK(w, w->write(file("new")));
    ck_assert_uint_eq(mode_of(path), S_IFREG | 0644);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (!(modes[i] & 0200) && geteuid() != 0)
            continue;
        put(file("old"), "old", modes[i]);
        if (geteuid() == 0)
            ck_assert_int_eq(chown(path, 1234, 2345), 0);
        OK(w, w->write(path));
        struct stat st;
        ck_assert_int_eq(stat(path, &st), 0);
        ck_assert_msg(st.st_mode == (S_IFREG | modes[i]), "%s: %04o became %04o", w->name, modes[i],
                      st.st_mode & 07777);
        if (geteuid() == 0)
            ck_assert(st.st_uid == 1234 && st.st_gid == 2345);
        ck_assert(!holds(path, "old"));
    }
    ck_assert_int_eq(entries(), 2);
}
END_TEST

START_TEST(links_stay)
{
    const struct writer *w = &writers[_i];
    char target[300], other[300];
    snprintf(target, sizeof target, "%s/folder/target", dir);
    snprintf(other, sizeof other, "%s/folder/other", dir);
    ck_assert_int_eq(mkdir(file("folder"), 0700), 0);
    ck_assert_int_eq(symlink("folder/target", file("near")), 0);
    ck_assert_int_eq(symlink("near", file("link")), 0);
    for (int there = 0; there < 2; there++) { /* the link may lead nowhere yet */
        OK(w, w->write(path));
        ck_assert(S_ISLNK(mode_of(file("near"))) && S_ISLNK(mode_of(file("link"))));
        ck_assert(S_ISREG(mode_of(target)));
        put(target, "old", 0640);
    }
    ck_assert_int_eq(link(target, other), 0); /* another name keeps what it had */
    OK(w, w->write(path));
    ck_assert(holds(other, "old") && !holds(target, "old"));
    ck_assert_uint_eq(mode_of(target), S_IFREG | 0640);
    ck_assert_int_eq(symlink("ring", file("ring")), 0);
    FAILS(w, w->write(path), LZ_EIO);
    ck_assert(S_ISLNK(mode_of(path)));
    entries();
}
END_TEST

START_TEST(pipes_are_written_into)
{
    const struct writer *w = &writers[_i];
    OK(w, w->write(file("plain")));
    size_t n = contents(path, was), have = 0;
    ck_assert_int_eq(mkfifo(file("pipe"), 0600), 0);
    FAILS(w, w->write(path), LZ_EIO); /* nobody reads it */
    ck_assert(S_ISFIFO(mode_of(path)));
    int fd = open(path, O_RDONLY | O_NONBLOCK);
    OK(w, w->write(path));
    ck_assert_uint_eq(mode_of(path), S_IFIFO | 0600);
    for (ssize_t k; (k = read(fd, is + have, sizeof is - have)) > 0;)
        have += (size_t)k;
    if (!w->streams)
        ck_assert(have == n && memcmp(is, was, n) == 0);
    ck_assert_uint_gt(have, 0);
    fault.close_this = fd; /* its reader goes: no signal ends the process */
    FAILS(w, w->write(path), LZ_EIO);
    ck_assert_int_eq(fault.close_this, -1);
    sigset_t pending;
    sigpending(&pending);
    ck_assert(!sigismember(&pending, SIGPIPE));
    ck_assert(S_ISFIFO(mode_of(path)));
    ck_assert_int_eq(entries(), 2);
}
END_TEST

START_TEST(devices_and_sockets_stay)
{
    const struct writer *w = &writers[_i];
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    ck_assert_int_eq(symlink("/dev/null", file("null")), 0);
    OK(w, w->write(path));
    ck_assert(S_ISLNK(mode_of(path)) && S_ISCHR(mode_of("/dev/null")));
    ck_assert_int_eq(symlink("/dev/full", file("full")), 0);
    FAILS(w, w->write(path), LZ_EIO);
    ck_assert(S_ISLNK(mode_of(path)) && S_ISCHR(mode_of("/dev/full")));
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(at.sun_path, sizeof at.sun_path, "%.100s", file("socket"));
    ck_assert_int_eq(bind(s, (struct sockaddr *)&at, sizeof at), 0);
    FAILS(w, w->write(path), LZ_EIO);
    ck_assert(S_ISSOCK(mode_of(path)));
    close(s);
    ck_assert_int_eq(entries(), 3);
}
END_TEST

/* An open file by its number, as /dev/stdout is one. */
START_TEST(open_files_are_added_to)
{
    const struct writer *w = &writers[_i];
    char open_file[64];
    put(file("log"), "before\n", 0644);
    int fd = open(path, O_WRONLY | O_APPEND);
    struct stat a, b;
    ck_assert_int_eq(stat(path, &a), 0);
    snprintf(open_file, sizeof open_file, "/proc/self/fd/%d", fd);
    OK(w, w->write(open_file));
    ck_assert_int_eq(write(fd, "after\n", 6), 6);
    ck_assert_int_eq(stat(path, &b), 0);
    ck_assert_uint_eq(a.st_ino, b.st_ino);
    size_t n = contents(path, is);
    ck_assert(n > 20 && memcmp(is, "before\n", 7) == 0 && memcmp(is + n - 6, "after\n", 6) == 0);
    close(fd);
}
END_TEST

START_TEST(no_place_for_it)
{
    const struct writer *w = &writers[_i];
    char name[400], absent[300];
    snprintf(absent, sizeof absent, "%s/absent/x", dir);
    ck_assert_int_eq(mkdir(file("folder"), 0700), 0);
    FAILS(w, w->write(path), LZ_EINVAL);
    ck_assert(S_ISDIR(mode_of(path)));
    FAILS(w, w->write(file("folder/")), LZ_EINVAL);
    FAILS(w, w->write(file("new/")), LZ_EIO);
    FAILS(w, w->write(absent), LZ_ENOENT);
    put(file("plain"), "old", 0600);
    FAILS(w, w->write(file("plain/x")), LZ_ENOENT);
    memset(name, 'n', sizeof name);
    name[256] = '\0';
    FAILS(w, w->write(file(name)), LZ_EIO);
    name[255] = '\0';
    OK(w, w->write(file(name)));
    ck_assert(holds(file("plain"), "old"));
    ck_assert_int_eq(entries(), 3);
}
END_TEST

START_TEST(without_permission)
{
    const struct writer *w = &writers[_i];
    OK(w, w->write(file("warm"))); /* what the library reads once, it has read */
    put(file("plain"), "old", 0444);
    if (geteuid() == 0) {
        ck_assert_int_eq(chown(dir, 65534, 65534), 0);
        ck_assert_int_eq(chown(path, 65534, 65534), 0);
        ck_assert_int_eq(seteuid(65534), 0);
    }
    FAILS(w, w->write(path), LZ_EPERM);
    ck_assert_int_eq(chmod(path, 0644), 0);
    ck_assert_int_eq(chmod(dir, 0555), 0);
    FAILS(w, w->write(path), LZ_EPERM);
    ck_assert(holds(path, "old"));
    ck_assert_int_eq(chmod(dir, 0755), 0);
    OK(w, w->write(path));
    if (getuid() == 0)
        ck_assert_int_eq(seteuid(0), 0);
    ck_assert_int_eq(entries(), 2);
}
END_TEST

START_TEST(a_full_disk)
{
    const struct writer *w = &writers[_i];
    struct rlimit old, limit;
    OK(w, w->write(file("plain")));
    size_t n = contents(path, was);
    data[0]++;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
    for (size_t most = 0; most < n; most += n / 5 + 1) {
        limit = (struct rlimit){most, old.rlim_max};
        int set = setrlimit(RLIMIT_FSIZE, &limit); /* Check writes files, too */
        lz_status s = w->write(path);
        set += setrlimit(RLIMIT_FSIZE, &old);
        ck_assert_int_eq(set, 0);
        FAILS(w, s, LZ_EIO);
        ck_assert(w->streams || (contents(path, is) == n && memcmp(is, was, n) == 0));
    }
    ck_assert_int_eq(entries(), 1);
}
END_TEST

/* Each of the calls in turn. */
START_TEST(interrupted)
{
    const struct writer *w = &writers[_i];
    OK(w, w->write(file("plain")));
    int calls = 0;
    for (bool met = true; met; calls++) {
        data[0]++;
        fault.error = EINTR;
        fault.at = calls + 1;
        fault.calls = 0;
        OK(w, w->write(path));
        met = fault.calls > calls;
        fault.at = 0;
    }
    ck_assert_int_ge(calls, 3);
    size_t n = contents(path, is);
    OK(w, w->write(file("again")));
    ck_assert(w->streams || (contents(path, was) == n && memcmp(is, was, n) == 0));
    ck_assert_int_eq(entries(), 2);
}
END_TEST

/* What is written now, at `path`, with no call failing. */
static void as_if_none_failed(const struct writer *w, int call)
{
    size_t n = contents(path, is);
    OK(w, w->write(file("clean")));
    ck_assert_msg(contents(path, was) == n && memcmp(is, was, n) == 0,
                  "%s: call %d fails with \"%s\", and what is written is not whole", w->name, call,
                  strerror(fault.error));
    ck_assert_int_eq(unlink(path), 0);
    (void)file("plain");
}

/* Either an error, and the old file, or the new one, whole: no error is swallowed. */
START_TEST(failing)
{
    static const int errors[] = {EIO, ENOSPC, EDQUOT, EACCES, ENOMEM};
    const struct writer *w = &writers[_i];
    OK(w, w->write(file("plain")));
    int failed = 0;
    for (size_t k = 0; k < sizeof errors / sizeof *errors; k++) {
        bool met = true;
        for (int call = 1; met; call++) {
            size_t n = contents(path, was);
            data[0]++;
            fault.error = errors[k];
            fault.at = call;
            fault.calls = 0;
            lz_status s = w->write(path);
            fault.at = 0;
            met = fault.calls >= call;
            ck_assert(s == LZ_OK || met);
            ck_assert(s == LZ_OK || (contents(path, is) == n && memcmp(is, was, n) == 0));
            failed += s != LZ_OK;
            if (s == LZ_OK && met && !w->streams)
                as_if_none_failed(w, call);
            ck_assert_int_eq(entries(), 1);
        }
    }
    ck_assert_int_ge(failed, 10);
}
END_TEST

int main(void)
{
    setenv("LAZULI_CACHE", "0", 1);
    Suite *s = suite_create("writers");
    TCase *t = tcase_create("writers");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, modes_are_kept, 0, WRITERS);
    tcase_add_loop_test(t, links_stay, 0, WRITERS);
    tcase_add_loop_test(t, pipes_are_written_into, 0, WRITERS);
    tcase_add_loop_test(t, devices_and_sockets_stay, 0, WRITERS);
    tcase_add_loop_test(t, open_files_are_added_to, 0, WRITERS);
    tcase_add_loop_test(t, no_place_for_it, 0, WRITERS);
    tcase_add_loop_test(t, without_permission, 0, WRITERS);
    tcase_add_loop_test(t, a_full_disk, 0, WRITERS);
    tcase_add_loop_test(t, interrupted, 0, WRITERS);
    tcase_add_loop_test(t, failing, 0, WRITERS);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
