/* t_step_invariants.c - invariants checked by counters, not clocks: the second step of an unchanged
 * program compiles nothing and allocates nothing; a warm process compiles nothing; what is stored
 * and damaged is compiled again. */
#include "rt.h"
#include "support/child.h"
#include <dirent.h>
#include <sys/stat.h>

enum { WIDTH = 16, BATCH = 8 };
typedef struct model {
    lz_tensor *w[2], *b[2];
} model;

static void init(model *m)
{
    float v[WIDTH * WIDTH];
    for (int i = 0; i < 2; i++) {
        rt_fill(v, WIDTH * WIDTH);
        m->w[i] = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(WIDTH, WIDTH), v));
        m->b[i] = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(WIDTH), v));
    }
}

/* A step like a training step: forward, something like gradients, updates, numbers that change. */
static void train(model *m, const float *data, int step)
{
    lz_scope_begin();
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(BATCH, WIDTH), data);
    lz_tensor *h = lz_relu(lz_linear(x, m->w[0], m->b[0])),
              *y = lz_log_softmax(lz_linear(h, m->w[1], m->b[1]), 1);
    lz_tensor *loss = lz_neg(lz_mean(y));
    (void)loss;
    for (int i = 0; i < 2; i++) {
        lz_tensor *g = lz_matmul(lz_transpose(y, 0, 1), h);
        OK(lz_assign(m->w[i], lz_sub(m->w[i], lz_mul_scalar(g, 1e-3 / (step + 2)))));
        OK(lz_assign(m->b[i], lz_sub(m->b[i], lz_mul_scalar(lz_mean(g, .dims = LZ_DIM(0)), 1e-4))));
    }
    OK(lz_mark_step());
    lz_scope_end();
}

START_TEST(second_step_compiles_and_allocates_nothing)
{
    float data[BATCH * WIDTH];
    model m;
    init(&m);
    for (int i = 0; i < 40; i++) {
        rt_fill(data, BATCH * WIDTH);
        train(&m, data, i);
        OK(lz_wait_device_ops());
    }
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), 1);
    /* Pools are full when the most that ever overlaps has overlapped once, which is up to the
     * machine: some window must be free of allocations. */
    bool quiet = strcmp(getenv("PJRT_DEVICE"), "REF") ==
                 0; /* the interpreter allocates every intermediate value */
    for (int window = 0; window < 20 && !quiet; window++) {
        uint64_t before = lz_alloc_count();
        for (int i = 0; i < 20; i++) {
            train(&m, data, i);
            OK(lz_wait_device_ops());
        }
        quiet = lz_alloc_count() == before;
    }
    ck_assert_msg(quiet, "every 20 steps something is allocated");
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), 1);
}
END_TEST

/* States that begin with equal values share a buffer, and a program without scopes keeps a handle
 * of each value: neither makes the second step another program, and nothing is overwritten. */
START_TEST(how_states_begin_compiles_nothing)
{
    for (int scopes = 0; scopes < 2; scopes++)
        for (int equal = 0; equal < 2; equal++) {
            lz_shape s = LZ_SHAPE(16 + 2 * scopes + equal);
            float v[32], m[32];
            lz_tensor *a = lz_retain(lz_full(LZ_F32, s, 2)),
                      *b = lz_retain(lz_full(LZ_F32, s, equal ? 2 : 3)), *was = NULL;
            OK(lz_mark_step());
            const int64_t compiled = lz_counter_value("UncachedCompile");
            for (int i = 0; i < 5; i++) {
                if (scopes)
                    lz_scope_begin();
                lz_tensor *next = lz_add(lz_mul_scalar(a, 0.5), b);
                OK(lz_assign(b, lz_add_scalar(b, 1.5)));
                OK(lz_assign(a, next));
                OK(lz_mark_step(.wait = true));
                was = i == 2 ? lz_retain(next) : was; /* this value stays */
                if (scopes)
                    lz_scope_end();
            }
            ck_assert_int_eq(lz_counter_value("UncachedCompile"), compiled + 1);
            float x = 2, y = equal ? 2 : 3, third = 0;
            for (int i = 0; i < 5; i++) {
                x = x / 2 + y, y += 1.5f; /* exact */
                third = i == 2 ? x : third;
            }
            OK(lz_to_host(a, v, (size_t)s.dims[0] * sizeof *v));
            OK(lz_to_host(b, m, (size_t)s.dims[0] * sizeof *m));
            ck_assert_float_eq(v[1], x);
            ck_assert_float_eq(m[1], y);
            OK(lz_to_host(was, v, (size_t)s.dims[0] * sizeof *v));
            ck_assert_float_eq(v[1], third);
        }
}
END_TEST

START_TEST(tracing_allocates_nothing)
{
    lz_tensor *x = lz_retain(lz_ones(LZ_F32, LZ_SHAPE(4, 4)));
    OK(lz_sync(&x, 1, true));
    uint64_t before = 0;
    for (int round = 0; round < 6; round++) {
        if (round == 3)
            before = lz_alloc_count();
        lz_scope_begin();
        lz_tensor *y = x;
        for (int i = 0; i < 300; i++) {
            lz_scope_begin();
            y = lz_scope_end_keep(
                lz_softmax(lz_gelu(lz_add_scalar(lz_matmul(y, x), 0.5 + i), false), i % 2));
        }
        lz_scope_end();
    }
    ck_assert_uint_eq(lz_alloc_count() - before, 0);
    OK(lz_release(x));
}
END_TEST

START_TEST(nothing_is_left_behind)
{
    float data[BATCH * WIDTH] = {0};
    for (int round = 0; round < 40; round++) {
        static int64_t live;
        model m;
        init(&m);
        for (int i = 0; i < 3; i++)
            train(&m, data, i);
        for (int i = 0; i < 2; i++) {
            OK(lz_release(m.w[i]));
            OK(lz_release(m.b[i]));
            lz_release(m.w[i]); /* the outermost scope's references */
            lz_release(m.b[i]);
        }
        OK(lz_mark_step());
        OK(lz_wait_device_ops());
        int64_t now = lz_alloc_live_bytes_hint();
        if (round == 10)
            live = now;
        if (round > 10) /* what overlaps more than before fills the pools, once */
            ck_assert_int_le(now, live + 12);
    }
}
END_TEST

/* ---- the persistent cache ---- */

static char dir[256];

static void in_child(void *arg, void *counts)
{
    float data[BATCH * WIDTH] = {0};
    model m;
    (void)arg;
    OK(lz_initialize_cache(dir, false));
    init(&m);
    for (int i = 0; i < 3; i++)
        train(&m, data, i);
    OK(lz_wait_device_ops());
    OK(lz_get_cache_counts(counts));
}

/* Runs the program in a process of its own; its counts come back. */
static lz_cache_counts in_process(void)
{
    lz_cache_counts c = {.struct_size = sizeof c};
    lz_in_child(in_child, NULL, &c, sizeof c);
    return c;
}

/* Visits every regular file below the cache. */
static int each_file(const char *at, void (*fn)(const char *path))
{
    int n = 0;
    DIR *d = opendir(at);
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[600];
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", at, e->d_name);
        if (e->d_name[0] == '.' || stat(path, &st) != 0)
            continue;
        if (S_ISDIR(st.st_mode)) {
            n += each_file(path, fn);
        } else {
            fn(path);
            n++;
        }
    }
    if (d)
        closedir(d);
    return n;
}

static void damage(const char *path)
{
    FILE *f = fopen(path, "r+b");
    if (!f)
        return;
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    for (int i = 0; i < 8 && n > 0; i++) {
        fseek(f, (long)(rt_random() % (uint32_t)n), SEEK_SET);
        fputc((int)(rt_random() & 0xff), f);
    }
    fclose(f);
}

START_TEST(a_warm_process_compiles_nothing)
{
    unsetenv("LAZULI_CACHE");
    snprintf(dir, sizeof dir, "%s/lazuli-invariants-XXXXXX",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    lz_cache_counts cold = in_process(), warm = in_process();
    ck_assert_uint_eq(cold.program_misses, 1);
    ck_assert_uint_eq(cold.program_hits, 0);
    ck_assert_uint_eq(warm.program_misses, 0);
    ck_assert_uint_eq(warm.program_hits, 1);
    ck_assert_uint_eq(warm.llvm_compiles, 0);
    ck_assert_int_gt(each_file(dir, damage), 0);
    lz_cache_counts again = in_process(); /* right results (OK in train), and no crash */
    ck_assert_uint_eq(again.program_hits + again.program_misses, 1);
    char cmd[400];
    snprintf(cmd, sizeof cmd, "rm -rf '%s'", dir);
    ck_assert_int_eq(system(cmd), 0);
}
END_TEST

START_TEST(the_cache_is_chosen_before_the_first_compilation)
{
    lz_tensor *x = lz_ones(LZ_F32, LZ_SHAPE(2));
    OK(lz_sync(&x, 1, true));
    FAILS(lz_initialize_cache("/nonexistent", false), LZ_ESTATE,
          "Computation cache has already been initialized");
    ck_assert_int_eq(lz_get_num_cached_compilation_graph(), 1);
}
END_TEST

int main(void)
{
    int failed = 0;
    for (int d = 0; d < 2; d++) {
        rt_use(rt_devices[d]);
        Suite *s = suite_create(rt_devices[d]);
        TCase *t = tcase_create("invariants");
        tcase_add_test(t, second_step_compiles_and_allocates_nothing);
        tcase_add_test(t, how_states_begin_compiles_nothing);
        tcase_add_test(t, tracing_allocates_nothing);
        tcase_add_test(t, nothing_is_left_behind);
        tcase_add_test(t, a_warm_process_compiles_nothing);
        tcase_add_test(t, the_cache_is_chosen_before_the_first_compilation);
        suite_add_tcase(s, t);
        failed |= lz_run_suite(s);
    }
    return failed;
}
