/* t_cache_lease.c - the whole library in many processes that begin together on an empty cache: they
 * compile what one alone compiles, and one that is killed while the others wait for it costs them
 * nothing but a compilation. The bound of the wait is an hour, so a test in which somebody waits
 * for the bound does not end. */
#include "cachetest.h"
#include "emulated.h"
#include <lazuli/lazuli.h>
#include <math.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

enum { PROGRAMS = 5, N = 24, MOST = 16 };

typedef struct board {
    _Atomic uint64_t kernels, linked, programs, errors, waits; /* of all that came to an end */
    _Atomic int ready, go;
    double sums[MOST][PROGRAMS];
} board;

static board *make_board(void)
{
    board *b = mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(b != MAP_FAILED);
    return b;
}

static lz_tensor *program(int i, lz_tensor *x)
{
    switch (i) {
    case 0:
        return lz_softmax(lz_matmul(x, x), 1);
    case 1:
        return lz_exp(lz_sum(x, .dims = LZ_DIM(0), .keepdim = true));
    case 2:
        return lz_cumsum(lz_mul(x, x), 0);
    case 3:
        return lz_matmul(lz_relu(lz_matmul(x, x)), lz_neg(x));
    default:
        return lz_add_scalar(lz_transpose(lz_sin(x), 0, 1), 2);
    }
}

static double compute(int i)
{
    float v[N * N], got[N * N] = {0};
    double sum = 0;
    for (int k = 0; k < N * N; k++)
        v[k] = (float)(k * 7 % 11) / 8 - 0.5f;
    lz_scope_begin();
    lz_tensor *y = program(i, lz_from_host(LZ_F32, LZ_SHAPE(N, N), v));
    if (lz_to_host(y, got, (size_t)lz_numel(y) * sizeof *got) != LZ_OK)
        sum = NAN;
    for (int k = 0; k < N * N; k++)
        sum += got[k] * (k + 1);
    lz_scope_end();
    return sum;
}

/* One process of a job, from the start; never returns. */
static void process(board *b, int who)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    bool ok = lz_initialize_cache(ct_dir, false) == LZ_OK;
    b->ready++;
    while (!b->go)
        usleep(200);
    for (int i = 0; i < PROGRAMS && ok; i++)
        b->sums[who][i] = compute(i);
    lz_cache_counts n = {.struct_size = sizeof n};
    ok = ok && lz_get_cache_counts(&n) == LZ_OK && n.corrupt + n.write_fail + n.foreign == 0;
    b->kernels += n.llvm_compiles;
    b->programs += n.program_misses;
    b->waits += n.waits;
    b->linked += (uint64_t)lz_counter_value("JitKernels");
    b->errors += !ok;
    _exit(0);
}

static void start(board *b, int n, pid_t *pids)
{
    for (int i = 0; i < n; i++)
        if ((pids[i] = fork()) == 0)
            process(b, i);
    while (b->ready < n)
        usleep(200);
    b->go = 1;
}

static void same_numbers(const board *b, int from, int n, const board *one)
{
    for (int i = from; i < n; i++)
        for (int p = 0; p < PROGRAMS; p++)
            ck_assert_msg(b->sums[i][p] == one->sums[0][p], "process %d, program %d: %g, not %g", i,
                          p, b->sums[i][p], one->sums[0][p]);
    ck_assert_uint_eq(b->errors, 0);
}

/* What one alone compiles. */
static board *alone(void)
{
    board *b = make_board();
    pid_t pid;
    start(b, 1, &pid);
    ck_assert_int_eq(ct_wait(pid), 0);
    ck_assert_uint_ge(b->kernels, PROGRAMS);
    ck_assert_uint_eq(b->programs, PROGRAMS);
    ct_rm(ct_dir);
    return b;
}

START_TEST(cold_processes)
{
    int n = ct_quick() ? 6 : MOST;
    board *one = alone();
    for (int round = 0; round < (lz_test_whole() ? 20 : 2); round++) {
        board *b = make_board();
        pid_t pids[MOST];
        start(b, n, pids);
        for (int i = 0; i < n; i++)
            ck_assert_int_eq(ct_wait(pids[i]), 0);
        same_numbers(b, 0, n, one);
        if (getenv("LZ_TEST_PRINT"))
            printf("%d processes: %d kernels, %d links, %d programs; one: %d, %d, %d; waits %d\n",
                   n, (int)b->kernels, (int)b->linked, (int)b->programs, (int)one->kernels,
                   (int)one->linked, (int)one->programs, (int)b->waits);
        /* A moment between a look-up and a lease is looked at again, so this is exact. */
        ck_assert_uint_eq(b->kernels, one->kernels);
        ck_assert_uint_eq(b->programs, one->programs);
        ck_assert_uint_eq(b->linked, one->linked);
        ck_assert_int_eq(ct_temps(), 0);
        munmap(b, sizeof *b);
        ct_rm(ct_dir);
    }
    munmap(one, sizeof *one);
}
END_TEST

/* The processes that hold leases are killed, at moments all over what one alone takes; the others
 * compile what is missing, once. */
START_TEST(holder_killed)
{
    enum { TOGETHER = 4 };
    board *one = alone();
    struct timespec t0, t1;
    clock_gettime(CLOCK_MONOTONIC, &t0);
    munmap(alone(), sizeof(board));
    clock_gettime(CLOCK_MONOTONIC, &t1);
    uint64_t ns = (uint64_t)(t1.tv_sec - t0.tv_sec) * 1000000000 +
                  (uint64_t)(t1.tv_nsec - t0.tv_nsec),
             rng = lz_test_seed();
    int moments = lz_test_whole() ? 20 : 5;
    for (int m = 0; m < moments; m++) {
        board *b = make_board();
        pid_t pids[TOGETHER];
        start(b, TOGETHER, pids);
        usleep((useconds_t)(ct_rand(&rng) % (ns / 1000 + 1)));
        int victims = 1 + m % 2; /* who of them holds a lease is chance: the first to come */
        for (int i = 0; i < victims; i++)
            kill(pids[i], SIGKILL);
        for (int i = 0; i < TOGETHER; i++) {
            int status = ct_wait(pids[i]);
            ck_assert(status == 0 || (i < victims && status == 1000 + SIGKILL));
        }
        same_numbers(b, victims, TOGETHER, one);
        ck_assert_uint_le(b->kernels, one->kernels);
        lz_cache *c = ct_open();
        ct_tally t = ct_verify(c);
        ck_assert_int_eq(t.bad, 0);
        ck_assert_int_ge(t.ok, PROGRAMS + (int)one->kernels); /* nothing is lost */
        lz_cache_close(c);
        munmap(b, sizeof *b);
        ct_rm(ct_dir);
    }
    munmap(one, sizeof *one);
}
END_TEST

/* A process of another machine that died left its lease behind for everything. */
static const char elsewhere[] = "00000000-0000-0000-0000-000000000000 1 1 1 0123456789abcdef";
static int plant_for(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    char lease[500];
    const char *name = path + ftw->base;
    (void)st;
    if (type != FTW_F || !lz_store_is_entry(name))
        return 0;
    snprintf(lease, sizeof lease, "%s/tmp/%.2s%.30s.%c.lease", ct_dir, name - 3, name, name[31]);
    ct_spill(lease, elsewhere, strlen(elsewhere));
    unlink(path);
    return 0;
}

START_TEST(dead_elsewhere)
{
    board *one = make_board(), *b = make_board();
    pid_t pids[4];
    start(one, 1, pids);
    ck_assert_int_eq(ct_wait(pids[0]), 0);
    ck_assert_int_eq(nftw(ct_dir, plant_for, 32, FTW_PHYS), 0);
    ck_assert_int_ge(ct_temps(), 2 * PROGRAMS);
    setenv("LAZULI_CACHE_WAIT", "1", 1);
    start(b, 4, pids);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(ct_wait(pids[i]), 0);
    same_numbers(b, 0, 4, one);
    ck_assert_uint_ge(b->kernels, one->kernels);
    ck_assert_int_eq(ct_temps(), 0);
    munmap(one, sizeof *one);
    munmap(b, sizeof *b);
}
END_TEST

int main(void)
{
    setenv("PJRT_DEVICE", "CPU", 1);
    setenv("LAZULI_CACHE_WAIT", "3600", 0);
    Suite *s = suite_create("leases among processes");
    TCase *t = tcase_create("processes");
    tcase_set_timeout(t, 240);
    tcase_add_checked_fixture(t, ct_setup, ct_teardown);
    /* a holder is told from a later process of its number by that */
    if (!lz_test_emulated("cold_processes, holder_killed",
                          "/proc/self/stat has another start time than /proc/PID/stat")) {
        tcase_add_test(t, cold_processes);
        tcase_add_test(t, holder_killed);
    }
    tcase_add_test(t, dead_elsewhere);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
