/* t_same_bits.c - what eight devices compute has the same bits however many threads there are,
 * whether its programs are compiled or found, and whether the devices run in lock step or as
 * replicas that meet. */
#include "../runtime/rt.h"
#include "base/hash.h"
#include "support/child.h"
#include <lazuli/manual.h>
#include <lazuli/replicas.h>
#include <pthread.h>

enum { DEVICES = 8, ROWS = 64, INNER = 40, COLUMNS = 512, RESULTS = 7, STEPS = 2 };
/* In rows of COLUMNS: of each device. The first is large enough to be shared by workers. */
static const int rows_of[RESULTS] = {ROWS, ROWS / DEVICES, ROWS, ROWS, ROWS, 1, INNER};
enum { ROWS_ALL = 4 * ROWS + ROWS / DEVICES + 1 + INNER };

typedef struct outcome {
    lz_hash row[STEPS][DEVICES][ROWS_ALL];
    int64_t compiled; /* programs and kernels that were not found */
} outcome;

static const int threads[] = {1, 2, 8};

typedef struct way {
    int threads;
    bool meet; /* as replicas */
    char *cache;
} way;

/* ---- what each device does, with the words of lock step or of replicas ---- */

static lz_tensor *sum(bool meet, lz_tensor *x)
{
    return meet ? lz_all_reduce("sum", x) : lz_axis_all_reduce("sum", x, "d");
}

static lz_tensor *scatter(bool meet, lz_tensor *x)
{
    return meet ? lz_reduce_scatter("sum", x, 0) : lz_axis_reduce_scatter("sum", x, 0, "d");
}

static lz_tensor *exchange(bool meet, lz_tensor *x)
{
    return meet ? lz_all_to_all(x, 0, 0) : lz_axis_all_to_all(x, 0, 0, "d");
}

static lz_tensor *shift(bool meet, lz_tensor *x)
{
    static const int64_t ring[] = {0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 0};
    return meet ? lz_collective_permute(x, ring, DEVICES) : lz_axis_permute(x, "d", ring, DEVICES);
}

static lz_tensor *gather(bool meet, lz_tensor *x)
{
    return meet ? lz_all_gather(x, 0) : lz_axis_all_gather(x, 0, "d");
}

/* x[ROWS, INNER], w[INNER, COLUMNS] */
static void compute(bool meet, lz_tensor *x, lz_tensor *w, lz_tensor **out)
{
    lz_tensor *h = lz_tanh(lz_matmul(x, w));
    out[0] = sum(meet, h);
    out[1] = scatter(meet, lz_mul(h, h));
    out[2] = exchange(meet, lz_softmax(out[0], 1));
    out[3] = shift(meet, lz_exp(h));
    lz_tensor *norms = gather(meet, lz_sum(h, .dims = LZ_DIMS(1)));
    out[4] = lz_mul_scalar(h, 1.5);
    out[5] = lz_expand(lz_mean(lz_sqrt(lz_abs(norms))), LZ_SHAPE(1, COLUMNS));
    out[6] = sum(meet, lz_matmul(lz_transpose(x, 0, 1), out[2]));
}

static void fill(float *v, int n, uint32_t s)
{
    for (int i = 0; i < n; i++) {
        s = s * 1664525 + 1013904223;
        v[i] = (float)(s >> 8) / 8388608.0f - 1;
    }
}

static lz_tensor *inputs(int step, int first, int n, lz_tensor **w)
{
    static float x[DEVICES][ROWS * INNER], all[INNER * COLUMNS];
    fill(all, INNER * COLUMNS, 7);
    for (int q = first; q < first + n; q++)
        fill(x[q], ROWS * INNER, (uint32_t)(100 * step + q));
    *w = lz_from_host(LZ_F32, LZ_SHAPE(INNER, COLUMNS), all);
    return lz_from_host(LZ_F32, LZ_SHAPE(n * ROWS, INNER), x[first]);
}

static void keep(outcome *o, int step, int q, int first, const float *v, int n)
{
    for (int i = 0; i < n; i++)
        o->row[step][q][first + i] = lz_hash_bytes(v + i * COLUMNS, COLUMNS * sizeof *v);
}

/* ---- lock step ---- */

static void body(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    compute(false, in[0], in[1], out);
}

static void lock_step(outcome *o)
{
    static float got[DEVICES * ROWS * COLUMNS];
    setenv("XLA_USE_SPMD", "1", 1);
    lz_mesh *m = lz_mesh_new(NULL, (const int64_t[]){DEVICES}, (const char *const[]){"d"}, 1);
    lz_partition_spec ins[] = {LZ_SPEC("d", NULL), LZ_SPEC(NULL, NULL)}, outs[RESULTS];
    for (int k = 0; k < RESULTS; k++)
        outs[k] = (lz_partition_spec)LZ_SPEC("d", NULL);
    for (int s = 0; s < STEPS; s++) {
        lz_tensor *in[2], *out[RESULTS];
        OK(lz_scope_begin());
        in[0] = inputs(s, 0, DEVICES, &in[1]);
        OK(lz_manual(body, m, in, ins, 2, outs, RESULTS, NULL, out));
        OK(lz_sync(out, RESULTS, true));
        for (int k = 0, row = 0; k < RESULTS; row += rows_of[k++]) {
            size_t n = (size_t)rows_of[k] * COLUMNS;
            OK(lz_to_host(out[k], got, DEVICES * n * sizeof *got));
            for (int q = 0; q < DEVICES; q++)
                keep(o, s, q, row, got + (size_t)q * n, rows_of[k]);
        }
        OK(lz_scope_end());
    }
}

/* ---- replicas ---- */

static outcome *shared;

static void *replica(void *arg)
{
    static float got[DEVICES][ROWS * COLUMNS];
    int q = *(int *)arg;
    char name[16];
    snprintf(name, sizeof name, "CPU:%d", q);
    OK(lz_set_device(name));
    for (int s = 0; s < STEPS; s++) {
        lz_tensor *w, *out[RESULTS];
        OK(lz_scope_begin());
        lz_tensor *x = inputs(s, q, 1, &w);
        compute(true, x, w, out);
        OK(lz_sync(out, RESULTS, true));
        for (int k = 0, row = 0; k < RESULTS; row += rows_of[k++]) {
            OK(lz_to_host(out[k], got[q], (size_t)rows_of[k] * COLUMNS * sizeof(float)));
            keep(shared, s, q, row, got[q], rows_of[k]);
        }
        OK(lz_scope_end());
    }
    return NULL;
}

static void meeting(outcome *o)
{
    pthread_t t[DEVICES];
    int number[DEVICES];
    unsetenv("XLA_USE_SPMD");
    shared = o;
    for (int q = 0; q < DEVICES; q++) {
        number[q] = q;
        ck_assert_int_eq(pthread_create(&t[q], NULL, replica, &number[q]), 0);
    }
    for (int q = 0; q < DEVICES; q++)
        pthread_join(t[q], NULL);
}

/* ---- all ways ---- */

static void run(void *arg, void *out)
{
    const way *w = arg;
    outcome *o = out;
    char text[8];
    snprintf(text, sizeof text, "%d", w->threads);
    setenv("LAZULI_NUM_THREADS", text, 1);
    setenv("CPU_NUM_DEVICES", "8", 1);
    setenv("PJRT_DEVICE", "CPU", 1);
    unsetenv("LAZULI_CACHE");
    setenv("LAZULI_CACHE_DIR", w->cache, 1);
    (w->meet ? meeting : lock_step)(o);
    lz_cache_counts c = {.struct_size = sizeof c};
    OK(lz_get_cache_counts(&c));
    o->compiled = (int64_t)(c.program_misses + c.llvm_compiles);
}

static void expect_same(const outcome *want, const outcome *got, const char *what)
{
    for (int s = 0; s < STEPS; s++)
        for (int q = 0; q < DEVICES; q++)
            for (int i = 0; i < ROWS_ALL; i++)
                ck_assert_msg(lz_hash_eq(want->row[s][q][i], got->row[s][q][i]),
                              "%s, step %d, device %d: row %d has other bits", what, s, q, i);
}

START_TEST(all_ways)
{
    static outcome first, o;
    char dir[300], cmd[400], what[64];
    snprintf(dir, sizeof dir, "%s/lazuli-bits-XXXXXX",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    for (int meet = 0; meet < 2; meet++)
        for (size_t t = 0; t < sizeof threads / sizeof *threads; t++)
            for (int warm = 0; warm < 2; warm++) {
                char cache[340];
                snprintf(cache, sizeof cache, "%s/%d-%d", dir, meet, threads[t]);
                way w = {threads[t], meet, cache};
                bool is_first = !meet && t == 0 && !warm;
                snprintf(what, sizeof what, "%d threads, %s, %s", w.threads,
                         meet ? "replicas" : "lock step", warm ? "warm" : "cold");
                lz_in_child(run, &w, is_first ? &first : &o, sizeof o);
                int64_t compiled = (is_first ? first : o).compiled;
                ck_assert_msg((compiled == 0) == warm, "%s: %d compiled", what, (int)compiled);
                if (!is_first)
                    expect_same(&first, &o, what);
            }
    snprintf(cmd, sizeof cmd, "rm -rf '%s'", dir);
    ck_assert_int_eq(system(cmd), 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("same_bits");
    TCase *t = tcase_create("bits");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, all_ways);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
