/* t_meetings.c - programs of a hundred collectives on 2, 8 and 64 devices, many times, from four
 * threads at once: none hangs, all give the same bits, and no thread is there for a device or for a
 * collective. */
#include "../runtime/rt.h"
#include <pthread.h>
#include <unistd.h>

enum { CALLERS = 4, ROUNDS = 25, EACH = 4, LAST = 64 };

static int devices, runs;
static lz_mesh *mesh;

/* Four collectives a round: parts go on to the next device, are gathered and cut again, and are at
 * least the mean of all. */
static void body(lz_tensor *const *in, lz_tensor **out, void *user)
{
    int64_t ring[2 * LAST];
    (void)user;
    for (int d = 0; d < devices; d++) {
        ring[2 * d] = d;
        ring[2 * d + 1] = (d + 1) % devices;
    }
    lz_tensor *x = in[0];
    for (int i = 0; i < ROUNDS; i++) {
        x = lz_axis_all_gather(lz_axis_permute(x, "x", ring, devices), 0, "x");
        x = lz_axis_reduce_scatter("max", x, 0, "x");
        x = lz_maximum(x, lz_div_scalar(lz_axis_all_reduce("sum", x, "x"), devices));
    }
    out[0] = x;
}

typedef struct caller {
    pthread_t thread;
    int number, wrong;
    lz_status status;
    float first[LAST];
} caller;

static lz_status once(int number, float *got)
{
    float v[LAST];
    lz_tensor *out = NULL;
    for (int d = 0; d < devices; d++)
        v[d] = (float)((d + number) % devices);
    lz_status s = lz_scope_begin();
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(devices), v);
    lz_partition_spec spec = LZ_SPEC("x");
    if (s == LZ_OK)
        s = lz_manual(body, mesh, &x, &spec, 1, &spec, 1, NULL, &out);
    if (s == LZ_OK)
        s = lz_to_host(out, got, (size_t)devices * sizeof *got);
    lz_status end = lz_scope_end();
    return s == LZ_OK ? end : s;
}

static void *call(void *arg)
{
    caller *c = arg;
    float got[LAST];
    c->status = once(c->number, c->first);
    for (int i = 1; i < runs && c->status == LZ_OK; i++) {
        c->status = once(c->number, got);
        c->wrong += memcmp(got, c->first, (size_t)devices * sizeof *got) != 0;
    }
    return NULL;
}

/* What one device computes. */
static void expect(int number, float *x)
{
    float y[LAST];
    for (int d = 0; d < devices; d++)
        x[d] = (float)((d + number) % devices);
    for (int i = 0; i < ROUNDS; i++) {
        double sum = 0;
        for (int d = 0; d < devices; d++)
            sum += (double)(y[d] = x[(d + devices - 1) % devices]);
        for (int d = 0; d < devices; d++)
            x[d] = fmaxf(y[d], (float)(sum / devices));
    }
}

static int threads(void)
{
    char line[128];
    int n = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        (void)sscanf(line, "Threads: %d", &n);
    if (f)
        (void)fclose(f);
    return n;
}

START_TEST(meetings)
{
    static const int of[] = {2, 8, LAST};
    caller c[CALLERS] = {0};
    char n[16];
    devices = of[_i];
    runs = (lz_test_whole() ? 10000 : lz_test_small() ? 20 : 100) / CALLERS;
    snprintf(n, sizeof n, "%d", devices);
    rt_use("CPU");
    setenv("CPU_NUM_DEVICES", n, 1);
    setenv("XLA_USE_SPMD", "1", 1);
    mesh = lz_mesh_1d("x");
    ck_assert_msg(mesh != NULL, "%s", lz_last_error_text());
    for (int i = 0; i < CALLERS; i++) {
        c[i].number = i % 2; /* two programs' arguments, of one program */
        ck_assert_int_eq(pthread_create(&c[i].thread, NULL, call, &c[i]), 0);
    }
    int most = threads();
    for (int i = 0; i < CALLERS; i++)
        ck_assert_int_eq(pthread_join(c[i].thread, NULL), 0);
    for (int i = 0; i < CALLERS; i++) {
        ck_assert_msg(c[i].status == LZ_OK && c[i].wrong == 0, "thread %d: status %d, %d differ", i,
                      c[i].status, c[i].wrong);
        ck_assert(memcmp(c[i].first, c[i % 2].first, sizeof c[i].first) == 0);
        float want[LAST];
        expect(c[i].number, want);
        for (int d = 0; d < devices; d++)
            ck_assert_float_eq_tol(c[i].first[d], want[d], 1e-4F * (1 + want[d]));
    }
    int now = threads();
    most = now > most ? now : most;
    ck_assert_int_le(most, (int)sysconf(_SC_NPROCESSORS_ONLN) + devices + 2 + CALLERS);
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), 1);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("meetings");
    TCase *t = tcase_create("meetings");
    tcase_set_timeout(t, lz_test_whole() ? 1200 : 120);
    tcase_add_loop_test(t, meetings, 0, 3);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
