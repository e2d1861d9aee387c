/* t_demo.c - the demo as its user runs it: what it compiles, what it finds, and that its numbers do
 * not depend on any of that. Every test has a cache of its own. Runs $BUILD/examples/digits and
 * $BUILD/lazuli (BUILD: what the runner sets, else where this program is). */
#include "base/text.h"
#include "suite.h"
#include <fcntl.h>
#include <ftw.h>
#include <lazuli/lazuli.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char base[256], cache[300], build[4096], data[4200], root[4096];

/* ---- scratch ---- */

static int rm_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void find_build(void)
{
    const char *b = getenv("BUILD");
    ck_assert_ptr_nonnull(getcwd(root, sizeof root));
    snprintf(data, sizeof data, "%s/examples/data/digits.csv", root);
    if (b && *b) {
        ck_assert_ptr_nonnull(realpath(b, build));
        return;
    }
    ssize_t n = readlink("/proc/self/exe", build, sizeof build - 1);
    ck_assert_int_gt(n, 0);
    build[n] = 0;
    for (int up = 0; up < 3; up++) /* BUILD/test/fault/t_demo */
        *strrchr(build, '/') = 0;
}

static void setup(void)
{
    find_build();
    const char *t = getenv("TMPDIR");
    snprintf(base, sizeof base, "%s/lz-demo-XXXXXX", t && *t ? t : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(base));
    snprintf(cache, sizeof cache, "%s/cache", base);
}

static void teardown(void)
{
    (void)nftw(base, rm_one, 32, FTW_DEPTH | FTW_PHYS);
}

/* ---- running programs ---- */

enum { ARGS = 24 };
typedef struct job {
    const char *args[ARGS]; /* after the program's name */
    const char *env[ARGS];  /* "NAME=value", besides the caller's */
    const char *cwd;
    const char *no_cache; /* not NULL: --cache is not given */
    bool fixed_addresses; /* without address space randomisation */
    char out[1 << 16];
    pid_t pid;
    int from, status;
} job;

static void start(job *j, const char *program)
{
    int p[2];
    char path[4200];
    const char *argv[ARGS + 8] = {path};
    snprintf(path, sizeof path, "%s/%s", build, program);
    for (int i = 0; j->args[i]; i++)
        argv[i + 1] = j->args[i];
    ck_assert_int_eq(pipe2(p, O_CLOEXEC), 0);
    fflush(NULL);
    j->pid = fork();
    ck_assert_int_ge(j->pid, 0);
    if (j->pid == 0) {
        for (int i = 0; j->env[i]; i++)
            putenv((char *)(uintptr_t)j->env[i]);
        dup2(p[1], 1);
        dup2(p[1], 2);
        if (j->fixed_addresses)
            (void)personality(ADDR_NO_RANDOMIZE);
        if (!j->cwd || chdir(j->cwd) == 0)
            execv(path, (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    close(p[1]);
    j->from = p[0];
}

/* The end of what it says is kept. */
static void finish(job *j)
{
    size_t n = 0, half = sizeof j->out / 2;
    for (ssize_t got; (got = read(j->from, j->out + n, sizeof j->out - 1 - n)) > 0;) {
        n += (size_t)got;
        if (n < sizeof j->out - 1)
            continue;
        memmove(j->out, j->out + half, n - half);
        n -= half;
    }
    j->out[n] = 0;
    close(j->from);
    ck_assert_int_eq(waitpid(j->pid, &j->status, 0), j->pid);
}

static const char *tail(const job *j)
{
    size_t n = strlen(j->out);
    return j->out + (n > 1000 ? n - 1000 : 0);
}

static double field(const job *j, const char *name)
{
    char key[64];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = strstr(j->out, key);
    ck_assert_msg(at != NULL, "no %s in what the demo says (status %d): %s", name, j->status,
                  j->out);
    double v = NAN;
    at += strlen(key);
    ck_assert(lz_text_f64(at, strcspn(at, ",}"), &v));
    return v;
}

typedef struct said {
    double accuracy;
    int compiles, hits, misses, kernel_hits;
} said;

/* Starts the demo with two epochs (so that the accuracy says something), the test's cache, and the
 * given. */
static void demo_start(job *j)
{
    const char *fixed[] = {"--json", "--epochs", "2", "--data", data, "--cache", cache};
    int have = j->no_cache ? 5 : 7, n = 0;
    while (j->args[n])
        n++;
    ck_assert_int_lt(n + have, ARGS);
    memmove(j->args + have, j->args, (size_t)n * sizeof *j->args);
    memcpy(j->args, fixed,
           (size_t)have * sizeof *fixed); /* the test's options come later and win */
    start(j, "examples/digits");
}

static said demo_end(job *j)
{
    finish(j);
    ck_assert_msg(WIFEXITED(j->status) && WEXITSTATUS(j->status) == 0, "status %x: %s",
                  (unsigned)j->status, tail(j));
    return (said){field(j, "test_accuracy"), (int)field(j, "llvm_compiles"),
                  (int)field(j, "program_hits"), (int)field(j, "program_misses"),
                  (int)field(j, "kernel_hits")};
}

static said demo(job j)
{
    demo_start(&j);
    return demo_end(&j);
}
#define DEMO(...) demo((job){__VA_ARGS__})
#define WITH(...) .args = {__VA_ARGS__}
#define ENV(...) .env = {__VA_ARGS__}

static int tool(const char *verb, char *out, size_t nout)
{
    static job j;
    j = (job){.args = {"cache", verb, "--path", cache}};
    start(&j, "lazuli");
    finish(&j);
    if (out)
        snprintf(out, nout, "%.1000s", j.out);
    ck_assert(WIFEXITED(j.status));
    return WEXITSTATUS(j.status);
}

static void assert_clean(void)
{
    char text[2000];
    ck_assert_msg(tool("verify", text, sizeof text) == 0, "%s", text);
    ck_assert_msg(strstr(text, " 0 damaged") != NULL, "%s", text);
}

static void assert_same(said a, said b)
{
    ck_assert_double_eq(a.accuracy, b.accuracy);
}

static void assert_warm(said s)
{
    ck_assert_int_eq(s.compiles, 0);
    ck_assert_int_eq(s.misses, 0);
    ck_assert_int_gt(s.hits, 0);
}

/* ---- compiled once ---- */

START_TEST(second_run_compiles_nothing)
{
    said cold = DEMO(0), warm = DEMO(0);
    ck_assert_int_gt(cold.compiles, 0);
    ck_assert_int_gt(cold.misses, 0);
    ck_assert_double_gt(cold.accuracy, 0.5);
    assert_warm(warm);
    assert_same(cold, warm);
    assert_clean();
}
END_TEST

/* A schedule of learning rates, or another one altogether, is arguments of the same program. */
START_TEST(learning_rate_is_an_argument)
{
    said a = DEMO(0), b = DEMO(WITH("--lr", "0.03")), c = DEMO(WITH("--lr", "1e-3"));
    assert_warm(b);
    assert_warm(c);
    ck_assert_double_ne(a.accuracy, c.accuracy);
}
END_TEST

/* Another batch size is another program of the same kernels, as long as it is not so small that
 * loops over it are unrolled. */
START_TEST(batch_size_compiles_no_kernel)
{
    static const char *const sizes[] = {"64", "60", "33", "17", "100", "500"};
    (void)DEMO(0);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        said s = DEMO(WITH("--batch", sizes[i]));
        ck_assert_msg(s.compiles == 0, "batch %s: %d kernels compiled", sizes[i], s.compiles);
        ck_assert_int_le(s.misses, 2);
    }
}
END_TEST

/* ---- the same numbers ---- */

START_TEST(one_seed_one_result)
{
    said a = DEMO(WITH("--seed", "7")), b = DEMO(WITH("--seed", "7")),
         c = DEMO(WITH("--seed", "8"));
    said d = DEMO(WITH("--seed", "7"), ENV("LAZULI_CACHE=0"), .no_cache = "yes");
    assert_same(a, b);
    assert_same(a, d);
    ck_assert_double_ne(a.accuracy, c.accuracy);
    ck_assert_int_eq(c.compiles + c.misses, 0); /* the seed is an argument too */
}
END_TEST

/* 359 images are tried: a rounding difference may change one of them. */
START_TEST(reference_agrees)
{
    said a = DEMO(0), b = DEMO(WITH("--device", "ref"));
    ck_assert_int_eq(b.compiles, 0);
    ck_assert_double_eq_tol(a.accuracy, b.accuracy, 1.5 / 359);
}
END_TEST

/* ---- many at once ---- */

START_TEST(many_on_an_empty_cache)
{
    enum { MANY = 16 };
    int n = getenv("LZ_TEST_QUICK") ? 6 : MANY;
    static job j[MANY];
    said first = {0};
    for (int i = 0; i < n; i++) {
        j[i] = (job){0};
        demo_start(&j[i]);
    }
    for (int i = 0; i < n; i++) {
        said s = demo_end(&j[i]);
        if (i == 0)
            first = s;
        assert_same(first, s);
    }
    assert_clean();
    said after = DEMO(0);
    assert_warm(after);
    assert_same(first, after);
}
END_TEST

/* ---- nothing but the program decides what is compiled ---- */

START_TEST(key_is_stable)
{
    char place[320], dump[340], metrics[340], graphs[340];
    snprintf(place, sizeof place, "%s/else where", base);
    ck_assert_int_eq(mkdir(place, 0777), 0);
    snprintf(dump, sizeof dump, "LAZULI_DUMP_DIR=%s/dump", base);
    snprintf(metrics, sizeof metrics, "XLA_METRICS_FILE=%s/metrics", base);
    snprintf(graphs, sizeof graphs, "XLA_SAVE_TENSORS_FILE=%s/graphs", base);
    said cold = DEMO(0);
    const said warm[] = {
        DEMO(.cwd = place),
        DEMO(ENV("HOME=/nowhere", "LC_ALL=de_DE.UTF-8", "TZ=Asia/Tokyo", "USER=x", "PATH=/bin")),
        DEMO(ENV("LD_BIND_NOW=1", "MALLOC_PERTURB_=90", "ZZZ=0123456789")),
        DEMO(ENV("RANK=3", "LOCAL_RANK=3", "WORLD_SIZE=4", "OMPI_COMM_WORLD_RANK=3")),
        DEMO(.fixed_addresses = true),
        DEMO(ENV("XLA_IR_DEBUG=1", "XLA_HLO_DEBUG=1")),
        DEMO(ENV("PT_XLA_DEBUG=1", "PT_XLA_DEBUG_LEVEL=2", "LAZULI_LOG=debug")),
        DEMO(ENV("LAZULI_VERIFY=1", metrics)),
        DEMO(ENV("XLA_SAVE_TENSORS_FMT=stablehlo", graphs)),
        DEMO(ENV("XLA_SYNC_WAIT=1", "LAZULI_CACHE_FSYNC=1")),
        DEMO(ENV("LAZULI_DUMP=plan", dump)),
    };
    for (size_t i = 0; i < sizeof warm / sizeof *warm; i++) {
        ck_assert_msg(warm[i].compiles == 0 && warm[i].misses == 0,
                      "run %zu: %d kernels compiled, %d programs new", i, warm[i].compiles,
                      warm[i].misses);
        assert_same(cold, warm[i]);
    }
}
END_TEST

/* Plans may depend on the number of threads, kernels do not; nor do the numbers. */
START_TEST(threads_share_kernels)
{
    said one = DEMO(ENV("LAZULI_NUM_THREADS=1")), two = DEMO(ENV("LAZULI_NUM_THREADS=2"));
    said three = DEMO(ENV("LAZULI_NUM_THREADS=3"));
    ck_assert_int_eq(two.compiles, 0);
    assert_same(one, two);
    assert_same(one, three);
}
END_TEST

/* ---- a damaged cache, and one that cannot be written ---- */

static int flip_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)ftw;
    const char *dot = strrchr(path, '.');
    if (type != FTW_F || st->st_size < 200 || !dot || (dot[1] != 'p' && dot[1] != 'k'))
        return 0;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    off_t at = (off_t)((uint64_t)st->st_ino * 2654435761u % (uint64_t)st->st_size);
    uint8_t b;
    ck_assert_int_eq(pread(fd, &b, 1, at), 1);
    b ^= (uint8_t)(1u << (at % 8));
    ck_assert_int_eq(pwrite(fd, &b, 1, at), 1);
    close(fd);
    return 0;
}

/* To nothing, a third or two thirds. */
static int cut_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)ftw;
    const char *dot = strrchr(path, '.');
    if (type != FTW_F || !dot || (dot[1] != 'p' && dot[1] != 'k'))
        return 0;
    return truncate(path, st->st_size * (off_t)(st->st_ino % 3) / 3);
}

START_TEST(damaged_entries)
{
    said cold = DEMO(0);
    for (int how = 0; how < 2; how++) {
        ck_assert_int_eq(nftw(cache, how ? cut_one : flip_one, 32, FTW_PHYS), 0);
        ck_assert_int_eq(tool("verify", NULL, 0), 1);
        said hurt = DEMO(0);
        assert_same(cold, hurt);
        ck_assert_int_eq(hurt.compiles, cold.compiles);
        assert_clean();
        said after = DEMO(0);
        assert_warm(after);
        assert_same(cold, after);
    }
}
END_TEST

/* Nowhere to keep anything is not an error. */
START_TEST(no_directory)
{
    static const char *const places[] = {"/proc/lazuli", "/dev/null", "/dev/null/x",
                                         "/nowhere/at/all/\n"};
    said with = DEMO(0);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (i == 3 && geteuid() == 0) /* root makes it */
            continue;
        said s = DEMO(WITH("--cache", places[i]), .no_cache = "yes");
        assert_same(with, s);
        ck_assert_int_eq(s.compiles, with.compiles);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("demo");
    TCase *t = tcase_create("digits");
    tcase_set_timeout(t, 300);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, second_run_compiles_nothing);
    tcase_add_test(t, learning_rate_is_an_argument);
    tcase_add_test(t, batch_size_compiles_no_kernel);
    tcase_add_test(t, one_seed_one_result);
    tcase_add_test(t, reference_agrees);
    tcase_add_test(t, many_on_an_empty_cache);
    tcase_add_test(t, key_is_stable);
    tcase_add_test(t, threads_share_kernels);
    tcase_add_test(t, damaged_entries);
    tcase_add_test(t, no_directory);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
