/* t_api_graphs.c - programs of a size or a habit nobody planned for. A13: a million operations in a
 * row, side by side, or onto themselves, on a stack of 64 KiB and a little. A14: a program that
 * never steps. A15: another shape at every step. */
#include "suite.h"
#include <lazuli/lazuli.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OK(expr) ck_assert_msg((expr) == LZ_OK, "%s: %s", #expr, lz_last_error_text())

static bool quick(void)
{
    return getenv("LZ_TEST_QUICK") != NULL;
}

/* ---- what the process holds ---- */

static long resident_kib(void)
{
    long pages = 0, all;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f) {
        if (fscanf(f, "%ld %ld", &all, &pages) != 2)
            pages = 0;
        fclose(f);
    }
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Sanitizers keep what was freed for a while: nothing can be said then. */
static bool memory_is_told(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;
#else
    return true;
#endif
}

static int mappings(void)
{
    int n = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    for (int c; f && (c = fgetc(f)) != EOF;)
        n += c == '\n';
    if (f)
        fclose(f);
    return n;
}

static int warned;
static char warning[512];
static void count_warnings(int level, const char *module, const char *message, void *user)
{
    (void)user, (void)module;
    if (level <= 1) {
        warned++;
        snprintf(warning, sizeof warning, "%s", message);
    }
}

/* ---- A13 ---- */

static int nodes;

/* In a row: built, hashed, printed, computed, freed. */
static void *in_a_row(void *arg)
{
    (void)arg;
    float v[2] = {1, -3};
    char text[64];
    if (lz_scope_begin() != LZ_OK)
        return (void *)1;
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(2), v), *y = x;
    for (int i = 0; i < nodes; i++) {
        lz_tensor *z = lz_neg(y);
        if (y != x)
            lz_release(y);
        y = z;
    }
    bool ok = lz_status_of(y) == LZ_OK;
    ok &= lz_graph_hash(&y, 1, text, sizeof text) > 0;
    ok &= lz_dump_graph(&y, 1, "text", text, sizeof text) > (size_t)nodes * 8;
    ok &= lz_to_host(y, v, sizeof v) == LZ_OK && v[0] == (nodes & 1 ? -1 : 1) &&
          v[1] == (nodes & 1 ? 3 : -3);
    ok &= lz_scope_end() == LZ_OK;
    if (!ok)
        fprintf(stderr, "in a row: %s\n", lz_last_error_text());
    return ok ? NULL : (void *)1;
}

/* Given up without being computed. */
static void *dropped(void *arg)
{
    (void)arg;
    lz_scope_begin();
    lz_tensor *x = lz_ones(LZ_F32, LZ_SHAPE(2)), *y = lz_neg(x);
    for (int i = 0; i < nodes; i++) {
        lz_tensor *z = i & 1 ? lz_add(y, x) : lz_mul(y, y);
        lz_release(y);
        y = z;
    }
    bool ok = lz_status_of(y) == LZ_OK;
    ok &= lz_scope_end() == LZ_OK;
    return ok ? NULL : (void *)1;
}

/* Side by side: one operation with that many operands. */
static void *side_by_side(void *arg)
{
    (void)arg;
    lz_tensor **x = malloc((size_t)nodes * sizeof(lz_tensor *));
    lz_scope_begin();
    lz_tensor *one = lz_ones(LZ_F32, LZ_SHAPE(1));
    for (int i = 0; x && i < nodes; i++)
        x[i] = lz_mul_scalar(one, i & 3);
    lz_tensor *all = lz_cat(x, nodes, 0);
    bool ok = lz_numel(all) == nodes && lz_item(lz_sum(all)) == nodes / 4 * 6;
    if (!ok)
        fprintf(stderr, "side by side: %lld elements, %s\n", (long long)lz_numel(all),
                lz_last_error_text());
    ok &= lz_scope_end() == LZ_OK;
    free(x);
    return ok ? NULL : (void *)1;
}

/* a = a + 1, and gradients through all of it. */
static void *onto_itself(void *arg)
{
    (void)arg;
    float v[1] = {0};
    lz_scope_begin();
    lz_tensor *a = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(1), v)),
              *p = lz_ones(LZ_F32, LZ_SHAPE(1)), *g = NULL;
    bool ok = lz_assign(a, p) == LZ_OK;
    for (int i = 0; ok && i < nodes / 10; i++) {
        lz_scope_begin();
        ok = lz_assign(a, lz_add(a, p)) == LZ_OK;
        lz_scope_end();
    }
    ok = ok && lz_grad(lz_sum(a), &p, 1, &g) == LZ_OK && lz_item(g) == nodes / 10 + 1 &&
         lz_item(a) == nodes / 10 + 1;
    if (!ok)
        fprintf(stderr, "onto itself: %s\n", lz_last_error_text());
    lz_release(a);
    lz_scope_end();
    return ok ? NULL : (void *)1;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MILLION = 100000 };
/* Sanitizers' frames are larger: on the stack there is. */
static void on_small_stack(void *(*fn)(void *))
{
    ck_assert_ptr_null(fn(NULL));
}
#else
enum { MILLION = 1000000 };
/* On a thread with 64 KiB of stack beside what the C library itself takes for a thread. */
static void on_small_stack(void *(*fn)(void *))
{
    pthread_attr_t a;
    pthread_t th;
    void *r;
    OK(lz_scope_begin()); /* the device starts on the big stack */
    ck_assert_double_eq(lz_item(lz_sum(lz_ones(LZ_F32, LZ_SHAPE(3)))), 3);
    OK(lz_scope_end());
    pthread_attr_init(&a);
    size_t own = (size_t)sysconf(_SC_THREAD_STACK_MIN);
    ck_assert_int_eq(pthread_attr_setstacksize(&a, own + (64 << 10)), 0);
    ck_assert_int_eq(pthread_create(&th, &a, fn, NULL), 0);
    pthread_join(th, &r);
    pthread_attr_destroy(&a);
    ck_assert_ptr_null(r);
}
#endif

static void use(const char *device, const char *limit)
{
    setenv("PJRT_DEVICE", device, 1);
    setenv("LAZULI_CACHE", "0", 1);
    setenv("LAZULI_GRAPH_LIMIT", limit, 1);
}

static void *(*const shapes[])(void *) = {in_a_row, dropped, side_by_side, onto_itself};

START_TEST(a13_a_million)
{
    use("REF", "1000000000");
    nodes = quick() ? MILLION / 5 : MILLION;
    on_small_stack(shapes[_i]);
}
END_TEST

/* The same through the compiler; what stands side by side is a kernel each there, so fewer of
 * them. */
START_TEST(a13_compiled)
{
    use("CPU", "1000000000");
    nodes = _i == 2 ? quick() ? 2000 : 10000 : quick() ? MILLION / 50 : MILLION;
    on_small_stack(shapes[_i]);
}
END_TEST

/* ---- A14 ---- */

START_TEST(a14_no_steps)
{
    use(_i ? "CPU" : "REF", "2000");
    int loops = quick() ? 20000 : 100000;
    lz_set_log_callback(count_warnings, NULL);
    lz_tensor *w = lz_retain(lz_zeros(LZ_F32, LZ_SHAPE(100))),
              *one = lz_retain(lz_ones(LZ_F32, LZ_SHAPE(100)));
    long early = 0;
    for (int i = 0; i < loops; i++) {
        lz_scope_begin();
        OK(lz_assign(w, lz_sub(lz_add(w, one), lz_mul_scalar(one, 0.5))));
        lz_scope_end();
        if (i == loops / 5) {
            OK(lz_wait_device_ops());
            early = resident_kib();
        }
    }
    OK(lz_wait_device_ops());
    ck_assert(!memory_is_told() || resident_kib() - early < 32 << 10);
    ck_assert_int_eq(warned, 1);
    ck_assert_msg(strstr(warning, "lz_mark_step") != NULL, "%s", warning);
    ck_assert_int_gt(lz_counter_value("AutoFlush"), loops * 3 / 2000 / 4);
    float got[100];
    OK(lz_to_host(w, got, sizeof got));
    ck_assert_float_eq(got[99], (float)loops / 2);
    lz_release(w);
    lz_release(one);
    lz_set_log_callback(NULL, NULL);
}
END_TEST

/* The same with few operations on much data: what is copied in for them is bounded too. */
START_TEST(a14_no_steps_much_data)
{
    enum { N = 1 << 18 }; /* a MiB */
    static float v[N];
    use(_i ? "CPU" : "REF", "1000000000");
    setenv("LAZULI_GRAPH_LIMIT_MB", "16", 1);
    lz_set_log_callback(count_warnings, NULL);
    int loops = quick() ? 100 : 400;
    for (int i = 0; i < N; i++)
        v[i] = 1;
    for (int i = 0; i < 40; i++) { /* data alone is no graph */
        lz_scope_begin();
        ck_assert_int_eq(lz_status_of(lz_from_host(LZ_F32, LZ_SHAPE(N), v)), LZ_OK);
        lz_scope_end();
    }
    ck_assert_int_eq(lz_counter_value("AutoFlush") + warned, 0);
    lz_tensor *w = lz_retain(lz_zeros(LZ_F32, LZ_SHAPE(N)));
    long early = 0;
    for (int i = 0; i < loops; i++) {
        lz_scope_begin();
        OK(lz_assign(w, lz_add(w, lz_from_host(LZ_F32, LZ_SHAPE(N), v))));
        lz_scope_end();
        if (i == loops / 4)
            early = resident_kib();
    }
    ck_assert_msg(!memory_is_told() || resident_kib() - early < 48 << 10, "%ld KiB more",
                  resident_kib() - early);
    ck_assert_int_eq(warned, 1);
    ck_assert_msg(strstr(warning, "LAZULI_GRAPH_LIMIT_MB") != NULL, "%s", warning);
    ck_assert_int_ge(lz_counter_value("AutoFlush"), loops / 17 - 1);
    ck_assert_int_le(lz_counter_value("AutoFlush"), loops / 16 + 1);
    OK(lz_to_host(w, v, sizeof v));
    ck_assert(v[0] == (float)loops && v[N - 1] == (float)loops);
    lz_release(w);
    lz_set_log_callback(NULL, NULL);
}
END_TEST

/* ---- A15 ---- */

START_TEST(a15_another_shape_every_step)
{
    static float v[20000];
    char path[] = "/tmp/lz-a15-XXXXXX", line[4096];
    int shapes_tried = quick() ? 600 : 10000, frequent = 0, fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    use("CPU", "100000");
    setenv("XLA_COMPILATION_CACHE_SIZE", "64", 1);
    setenv("PT_XLA_DEBUG", "1", 1);
    setenv("PT_XLA_DEBUG_LEVEL", "0", 1);
    fflush(stdout);
    int err = dup(2);
    dup2(fd, 2); /* where the profiler's lines go */
    long early = 0;
    int maps = 0;
    lz_status s = LZ_OK;
    for (int i = 0; i < shapes_tried && s == LZ_OK; i++) {
        lz_scope_begin();
        lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(1 + i), v);
        lz_tensor *y = lz_retain(lz_tanh(lz_add_scalar(x, 1)));
        s = lz_mark_step(.wait = i % 100 == 0);
        lz_release(y);
        lz_scope_end();
        if (i == shapes_tried / 5) {
            early = resident_kib();
            maps = mappings();
        }
    }
    fflush(stdout);
    dup2(err, 2);
    close(err);
    OK(s);
    long late = resident_kib();
    ck_assert_msg(!memory_is_told() || late - early < 48 << 10,
                  "%ld KiB after a fifth, %ld KiB at the end", early, late);
    ck_assert_msg(!memory_is_told() || mappings() - maps < 50,
                  "%d mappings after a fifth, %d at the end", maps, mappings());
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), shapes_tried);
    ck_assert_int_le(lz_get_num_cached_compilation_graph(), 64);
    lz_cache_counts c = {.struct_size = sizeof c};
    OK(lz_get_cache_counts(&c));
    ck_assert_int_lt((int)c.llvm_compiles, 400); /* sizes are arguments: few kernels serve all */
    FILE *f = fdopen(fd, "r");
    rewind(f);
    while (fgets(line, sizeof line, f))
        frequent += strstr(line, "pt-xla-profiler: CompileTime too frequent") != NULL;
    fclose(f);
    unlink(path);
    ck_assert_int_gt(frequent, 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("graphs");
    TCase *t = tcase_create("A13 A14 A15");
    tcase_set_timeout(t, 600);
    tcase_add_loop_test(t, a13_a_million, 0, 4);
    tcase_add_loop_test(t, a13_compiled, 0, 4);
    tcase_add_loop_test(t, a14_no_steps, 0, 2);
    tcase_add_loop_test(t, a14_no_steps_much_data, 0, 2);
    tcase_add_test(t, a15_another_shape_every_step);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
