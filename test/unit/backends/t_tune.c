/* t_tune.c - autotuning (backends/common/autotune.h): choices are made, stored, found again and
 * used; invalid stored choices are not; every choice computes what the reference does; and nothing
 * is measured unless asked for. On the CPU the test puts choices into the cache; on the mock GPU it
 * sets the time of launches. Each test has a process of its own. */
#include "backends/cpu/cpu_exec.h"
#include "backends/cpu/cpu_tuning.h"
#include "codegen/gpu/simt.h"
#include "cuda_util.h"
#include "lower/plan/plan.h"
#include <math.h>
#include <unistd.h>

/* ---- programs ---- */

#define MAIN "func.func public @main("
static const struct {
    const char *name, *text;
    int64_t nin[2], nout; /* floats */
} programs[] = {
    {"product",
     MAIN "%x: tensor<24x40xf32>, %y: tensor<40x48xf32>) -> tensor<24x48xf32> {"
          "%0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : "
          "(tensor<24x40xf32>, tensor<40x48xf32>) -> tensor<24x48xf32>"
          "return %0 : tensor<24x48xf32> }",
     {24 * 40, 40 * 48},
     24 * 48},
    {"convolution",
     MAIN "%x: tensor<2x8x8x16xf32>, %k: tensor<3x3x16x32xf32>) -> tensor<2x6x6x32xf32> {"
          "%0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->"
          "[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
          " : (tensor<2x8x8x16xf32>, tensor<3x3x16x32xf32>) -> tensor<2x6x6x32xf32>"
          "return %0 : tensor<2x6x6x32xf32> }",
     {2 * 8 * 8 * 16, 9 * 16 * 32},
     2 * 6 * 6 * 32},
    {"sums",
     MAIN "%x: tensor<200x64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {"
          "%z = stablehlo.constant dense<0.0> : tensor<f32>"
          "%0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across "
          "dimensions = [0] : (tensor<200x64xf32>, tensor<f32>) -> tensor<64xf32>"
          "%1 = stablehlo.add %0, %y : tensor<64xf32>"
          "return %1 : tensor<64xf32> }",
     {200 * 64, 64},
     64},
    {"transpose",
     MAIN "%x: tensor<33x45xf32>, %y: tensor<45x33xf32>) -> tensor<45x33xf32> {"
          "%0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<33x45xf32>) -> tensor<45x33xf32>"
          "%1 = stablehlo.add %0, %y : tensor<45x33xf32>"
          "return %1 : tensor<45x33xf32> }",
     {33 * 45, 45 * 33},
     45 * 33},
};
enum { NPROGRAM = sizeof programs / sizeof *programs, PRODUCT = 0, MOST = 1 << 14 };

static const char gathers[] =
    MAIN "%x: tensor<50x16xf32>, %i: tensor<20x1xi32>) -> tensor<20x16xf32> {"
         "%0 = \"stablehlo.gather\"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = "
         "[1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, "
         "indices_are_sorted = false, slice_sizes = array<i64: 1, 16>}> : "
         "(tensor<50x16xf32>, tensor<20x1xi32>) -> tensor<20x16xf32>"
         "return %0 : tensor<20x16xf32> }";

static lz_func *parse(const char *text)
{
    lz_func *f = NULL;
    OK(lz_func_parse(text, strlen(text), NULL, &f));
    return f;
}

static void numbers(float *v, int64_t n, uint32_t seed)
{
    for (int64_t i = 0; i < n; i++)
        v[i] = (float)((seed = seed * 1664525 + 1013904223) >> 16) / 65536.0f - 0.5f;
}

static lz_status run(const lz_backend *b, lz_exec *x, int p, float *result)
{
    float v[MOST];
    lz_device_buffer *in[2] = {NULL, NULL}, *out = NULL;
    lz_event *done = NULL;
    bool given[2] = {false, false};
    for (int i = 0; i < 2; i++) {
        size_t n = (size_t)programs[p].nin[i] * sizeof(float);
        numbers(v, programs[p].nin[i], 1 + (uint32_t)i);
        OK(b->alloc(0, n, &in[i]));
        OK(b->copy_in(in[i], v, n));
    }
    lz_status s = b->execute(x, 0, in, given, true, &out, &done);
    if (s == LZ_OK)
        s = lz_event_wait(done);
    if (s == LZ_OK)
        s = b->copy_out(out, result, (size_t)programs[p].nout * sizeof(float));
    for (int i = 0; i < 2; i++)
        lz_device_buffer_release(in[i]);
    lz_device_buffer_release(out);
    lz_event_release(done);
    return s;
}

static void must_be_right(const lz_backend *b, lz_exec *x, int p)
{
    static float got[MOST], want[MOST];
    const lz_backend *ref = lz_backend_get("ref");
    lz_func *f = parse(programs[p].text);
    lz_exec *r;
    OK(ref->compile(0, f, NULL, &r));
    OK(run(ref, r, p, want));
    OK(run(b, x, p, got));
    for (int64_t i = 0; i < programs[p].nout; i++)
        ck_assert_msg(fabsf(got[i] - want[i]) < 1e-4f, "%s: %g at %d for %g", programs[p].name,
                      (double)got[i], (int)i, (double)want[i]);
    ref->exec_free(r);
    lz_func_free(f);
}

/* ---- caches ---- */

static char dir[] = "/tmp/lazuli-t-tune.XXXXXX";
static const char *isa; /* that this process makes code for */

static lz_cache *open_cache(void)
{
    lz_cache *c;
    OK(lz_cache_open(&(lz_cache_options){.path = dir, .build_id = "t", .isa = isa}, &c));
    ck_assert(lz_cache_enabled(c));
    return c;
}

static void begin(void)
{
    ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void end(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", dir);
    ck_assert_int_eq(system(command), 0);
}

static bool count_choice(const lz_cache_entry_info *e, void *user)
{
    ck_assert_msg(e->ok, "%s", e->why);
    *(int *)user += e->kind == LZ_CACHE_CHOICE;
    return true;
}

static int choices_in(lz_cache *c)
{
    int n = 0;
    OK(lz_cache_walk(c, true, count_choice, &n));
    return n;
}

/* What another process would find: nothing in memory, another handle on the cache. */
static void another_process(lz_cache **c)
{
    lz_cache_close(*c);
    lz_tune_forget();
    lz_kernels_trim();
    *c = open_cache();
}

/* ---- the CPU ---- */

static struct {
    const lz_backend *be;
    lz_target target;
    lz_cpu_device dev;
} cpu;

static void use_cpu(void)
{
    OK(lz_config_set("LAZULI_VARIANTS", NULL)); /* this is about them */
    cpu.be = lz_backend_get("cpu");
    OK(cpu.be->init());
    OK(lz_target_host(&cpu.target));
    isa = cpu.target.features;
    cpu.dev =
        (lz_cpu_device){.at = {(uint32_t)lz_backend_index(cpu.be), 0, lz_queue_new("lz-test")}};
    ck_assert_ptr_nonnull(cpu.dev.at.queue);
}

static void leave_cpu(void)
{
    lz_queue_free(cpu.dev.at.queue);
}

static lz_plan *plan_of(const char *text)
{
    lz_func *f = parse(text);
    lz_plan *p = NULL;
    lz_lower_options o = {.machine = cpu.target.machine};
    OK(lz_lower(f, &o, &p));
    lz_func_free(f);
    return p;
}

static lz_status tuned(const char *text, lz_cache *c, lz_exec **x)
{
    lz_cpu_exec_options o = {.cache = c, .tuned_for = "a test's", .tune_all = true};
    return lz_cpu_exec_new(plan_of(text), &cpu.target, &cpu.dev, &o, x);
}

static lz_exec_info info_of(const lz_exec *x)
{
    lz_exec_info i;
    lz_exec_get_info(x, &i);
    return i;
}

/* Puts a value where the choice of the plan's first launch is looked for, and gives the choices
 * there are. */
static uint32_t put(lz_cache *c, const char *text, int which, const void *value, size_t nvalue)
{
    lz_cpu_tuning where = {&cpu.target, c, "a test's", 0};
    lz_exec_info none;
    lz_tuner t = {&lz_cpu_tune_ops, &where, cpu.dev.at.queue, c, true, &none};
    lz_plan *p = plan_of(text);
    const lz_kernel *k = p->kernels[p->steps[0].kernel];
    lz_choice list[LZ_TUNE_CHOICES];
    uint8_t bytes[LZ_TUNE_VALUE];
    lz_buf key = {0};
    uint32_t n = lz_cpu_tune_ops.choices(&where, k, &p->steps[0], list);
    lz_tune_key(&t, k, &p->steps[0], &key);
    ck_assert(!key.failed);
    if (which >= 0 && (uint32_t)which < n)
        lz_tune_value(list[which], bytes);
    if (value)
        lz_cache_put_bound(c, LZ_CACHE_CHOICE, key.data, key.len, "", value, nvalue);
    else if (which >= 0 && (uint32_t)which < n)
        lz_cache_put_bound(c, LZ_CACHE_CHOICE, key.data, key.len, "", bytes, sizeof bytes);
    lz_buf_free(&key);
    lz_plan_free(p);
    return n;
}

/* Measured once; then found: by the same process in memory, by the next on disk, and the bits are
 * the same. */
START_TEST(measured_once)
{
    static float first[MOST], next[MOST];
    begin();
    use_cpu();
    lz_cache *c = open_cache();
    lz_exec *x;
    OK(tuned(programs[_i].text, c, &x));
    lz_exec_info i = info_of(x);
    ck_assert_uint_gt(i.tune_runs, 1);
    ck_assert_uint_eq(i.tune_hits, 0);
    ck_assert_int_ge(choices_in(c), 1);
    int stored = choices_in(c);
    must_be_right(cpu.be, x, _i);
    OK(run(cpu.be, x, _i, first));
    lz_exec_free(x);
    OK(tuned(programs[_i].text, c, &x)); /* the same process */
    uint32_t winners = i.tuned;
    i = info_of(x);
    ck_assert_uint_eq(i.tune_runs + i.tune_hits, 0);
    ck_assert_uint_eq(i.tuned, winners);
    lz_exec_free(x);
    another_process(&c);
    uint64_t llvm = lz_llvm_compile_count();
    OK(tuned(programs[_i].text, c, &x));
    i = info_of(x);
    ck_assert_uint_eq(i.tune_runs, 0);
    ck_assert_int_eq((int)i.tune_hits, stored);
    ck_assert_uint_eq(i.tuned, winners);
    ck_assert_uint_eq(lz_llvm_compile_count(), llvm); /* the winner's code is there as well */
    OK(run(cpu.be, x, _i, next));
    ck_assert_int_eq(memcmp(first, next, (size_t)programs[_i].nout * sizeof(float)), 0);
    lz_exec_free(x);
    lz_cache_close(c);
    leave_cpu();
    end();
}
END_TEST

START_TEST(every_choice_is_right)
{
    begin();
    use_cpu();
    lz_cache *c = open_cache();
    uint32_t n = put(c, programs[_i].text, -1, NULL, 0);
    ck_assert_uint_gt(n, 0);
    for (uint32_t w = 0; w < n; w++) {
        lz_exec *x;
        OK(lz_cache_clear(c, NULL));
        put(c, programs[_i].text, (int)w, NULL, 0);
        lz_tune_forget();
        OK(tuned(programs[_i].text, c, &x));
        ck_assert_uint_ge(info_of(x).tune_hits, 1);
        ck_assert_uint_ge(info_of(x).tuned, 1);
        must_be_right(cpu.be, x, _i);
        lz_exec_free(x);
    }
    lz_cache_close(c);
    leave_cpu();
    end();
}
END_TEST

/* What is stored is bytes of anybody's. */
START_TEST(illegal_choices)
{
    static const struct {
        uint8_t bytes[LZ_TUNE_VALUE + 1];
        size_t n;
    } rows[] = {
        {{0}, 0},
        {{1}, 3},
        {{2}, LZ_TUNE_VALUE + 1},                     /* too long */
        {{0, 0, 0, 0x80}, LZ_TUNE_VALUE},             /* a form that is none */
        {{1}, LZ_TUNE_VALUE},                         /* one that is not chosen: vectors */
        {{2, 0, 0, 0, 2}, LZ_TUNE_VALUE},             /* two at once */
        {{0, 0, 0, 0, 0, 0, 0, 0, 1}, LZ_TUNE_VALUE}, /* no parts */
        {{0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 4}, LZ_TUNE_VALUE}, /* of a GPU */
    };
    begin();
    use_cpu();
    lz_cache *c = open_cache();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lz_exec *x;
        lz_cache_stats before, after;
        OK(lz_cache_clear(c, NULL));
        lz_tune_forget();
        put(c, programs[PRODUCT].text, -1, rows[i].bytes, rows[i].n);
        lz_cache_get_stats(c, &before);
        OK(tuned(programs[PRODUCT].text, c, &x));
        lz_cache_get_stats(c, &after);
        ck_assert_uint_eq(info_of(x).tune_hits, 0);
        ck_assert_uint_gt(info_of(x).tune_runs, 0); /* measured, as if it had not been there */
        ck_assert_uint_eq(after.corrupt, before.corrupt + 1);
        must_be_right(cpu.be, x, PRODUCT);
        lz_exec_free(x);
        lz_tune_forget();
        OK(tuned(programs[PRODUCT].text, c, &x)); /* and replaced */
        ck_assert_uint_eq(info_of(x).tune_hits, 1);
        lz_exec_free(x);
    }
    lz_cache_close(c);
    leave_cpu();
    end();
}
END_TEST

/* Off: what is stored for tuned processes is not even looked for, and keys are what they always
 *   were. */
START_TEST(off)
{
    begin();
    use_cpu();
    lz_cache *c = open_cache();
    put(c, programs[PRODUCT].text, 0, NULL, 0);
    lz_func *f = parse(programs[PRODUCT].text);
    lz_compile_options o = {.cache = c};
    lz_cache_stats s;
    lz_exec *x;
    lz_buf key = {0};
    OK(cpu.be->compile(0, f, &o, &x));
    lz_cache_get_stats(c, &s);
    ck_assert_uint_eq(s.hits[LZ_CACHE_CHOICE] + s.misses[LZ_CACHE_CHOICE], 0);
    ck_assert_uint_eq(info_of(x).tuned + info_of(x).tune_runs + info_of(x).tune_hits, 0);
    ck_assert_int_eq(choices_in(c), 1);
    cpu.be->key(0, &key);
    ck_assert_ptr_null(strstr(lz_buf_str(&key), "tuned"));
    must_be_right(cpu.be, x, PRODUCT);
    lz_buf_free(&key);
    lz_exec_free(x);
    lz_func_free(f);
    lz_cache_close(c);
    leave_cpu();
    end();
}
END_TEST

/* On, through the backend: programs of tuned processes have keys of their own; their code is under
 * those of its forms. */
START_TEST(on)
{
    OK(lz_config_set("LAZULI_TUNE", "2"));
    use_cpu();
    lz_func *f = parse(programs[PRODUCT].text);
    lz_exec *x;
    lz_buf key = {0};
    OK(cpu.be->compile(0, f, NULL, &x));
    ck_assert_uint_gt(info_of(x).tune_runs, 0);
    cpu.be->key(0, &key);
    ck_assert_ptr_nonnull(strstr(lz_buf_str(&key), ";tuned"));
    must_be_right(cpu.be, x, PRODUCT);
    lz_buf_free(&key);
    lz_exec_free(x);
    lz_func_free(f);
    leave_cpu();
}
END_TEST

/* Short launches, addresses that depend on data, and more memory than is taken for it. */
START_TEST(left_alone)
{
    static const char large[] = MAIN "%x: tensor<40000x4000xf32>) -> tensor<4000x40000xf32> {"
                                     "%0 = stablehlo.transpose %x, dims = [1, 0] : "
                                     "(tensor<40000x4000xf32>) -> tensor<4000x40000xf32>"
                                     "return %0 : tensor<4000x40000xf32> }";
    use_cpu();
    lz_exec *x;
    OK(tuned(gathers, NULL, &x));
    ck_assert_uint_eq(info_of(x).tune_runs, 0);
    lz_exec_free(x);
    OK(tuned(large, NULL, &x));
    ck_assert_uint_eq(info_of(x).tune_runs, 0);
    lz_exec_free(x);
    lz_cpu_exec_options o = {.tuned_for = "a test's"};
    OK(lz_cpu_exec_new(plan_of(programs[PRODUCT].text), &cpu.target, &cpu.dev, &o, &x));
    ck_assert_uint_eq(info_of(x).tune_runs, 0);
    lz_exec_free(x);
    OK(lz_config_set("LAZULI_DEVICE_MEMORY_MB", "1")); /* the device has none either */
    OK(tuned(MAIN "%x: tensor<999x777xf32>) -> tensor<777x999xf32> {"
                  "%0 = stablehlo.transpose %x, dims = [1, 0] : "
                  "(tensor<999x777xf32>) -> tensor<777x999xf32>"
                  "return %0 : tensor<777x999xf32> }",
             NULL, &x));
    ck_assert_uint_eq(info_of(x).tune_runs, 0);
    lz_exec_free(x);
    leave_cpu();
}
END_TEST

static void make_one(void *arg)
{
    OK(tuned(programs[PRODUCT].text, NULL, arg));
}

/* A custom call may compile a program for the device it runs on: nothing is measured behind
 * itself. */
START_TEST(made_by_the_device)
{
    use_cpu();
    for (int here = 0; here < 2; here++) {
        lz_exec *x = NULL;
        lz_tune_forget();
        OK(lz_queue_push(cpu.dev.at.queue, make_one, &x, here));
        lz_queue_drain(cpu.dev.at.queue);
        ck_assert_ptr_nonnull(x);
        ck_assert_uint_eq(info_of(x).tune_runs, 0);
        lz_exec_free(x);
        OK(tuned(programs[PRODUCT].text, NULL, &x)); /* and the next one is */
        ck_assert_uint_gt(info_of(x).tune_runs, 0);
        lz_exec_free(x);
    }
    leave_cpu();
}
END_TEST

/* Whichever allocation fails: an executable that is right, or the status. */
START_TEST(no_memory)
{
    use_cpu();
    lz_exec *x, *kept;
    OK(tuned(programs[PRODUCT].text, NULL, &kept)); /* its code is in memory from now on */
    bool over = false;
    int64_t step = lz_test_small() ? 5 : 1;
    for (int64_t n = 1; !over; n += step) {
        lz_tune_forget();
        lz_plan *p = plan_of(programs[PRODUCT].text);
        lz_cpu_exec_options o = {.tuned_for = "a test's", .tune_all = true};
        lz_alloc_fail_at(n, false);
        uint64_t failed = lz_alloc_failed_count();
        lz_status s = lz_cpu_exec_new(p, &cpu.target, &cpu.dev, &o, &x);
        over = lz_alloc_failed_count() == failed;
        lz_alloc_fail_at(0, false);
        ck_assert(s == LZ_OK || (s == LZ_EMEM && !over));
        if (s == LZ_OK)
            must_be_right(cpu.be, x, PRODUCT);
        lz_exec_free(s == LZ_OK ? x : NULL);
    }
    lz_exec_free(kept);
    lz_tune_forget();
    leave_cpu();
}
END_TEST

static void *make_and_run(void *arg)
{
    (void)arg;
    float got[MOST];
    for (int i = 0; i < NPROGRAM; i++) {
        lz_exec *x;
        OK(tuned(programs[i].text, NULL, &x));
        OK(run(cpu.be, x, i, got));
        lz_exec_free(x);
    }
    return NULL;
}

START_TEST(many_threads)
{
    enum { THREADS = 3 };
    pthread_t t[THREADS];
    use_cpu();
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&t[i], NULL, make_and_run, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    leave_cpu();
}
END_TEST

/* ---- a GPU ---- */

/* The ways to run the product there, by the model's order. */
static uint32_t picks(lz_simt_pick out[SIMT_PICKS], lz_simt_dims dims[SIMT_PICKS],
                      const char *name[SIMT_PICKS])
{
    static char names[SIMT_PICKS][32];
    lz_target t;
    lz_func *f = parse(programs[PRODUCT].text);
    lz_plan *p = NULL;
    OK(lz_simt_emulated(9, 0, &t));
    OK(lz_lower(f, &(lz_lower_options){.machine.threads = 2, .b2b_row_limit = SIMT_LONG_ROW}, &p));
    ck_assert_uint_eq(p->nstep, 1);
    const lz_kernel *k = p->kernels[0];
    uint32_t n = lz_simt_picks(k, p->steps[0].args, &t, out);
    for (uint32_t i = 0; i < n; i++) {
        lz_simt_dims_by(k, p->steps[0].args, &t, 2, out[i], &dims[i]);
        snprintf(names[i], sizeof names[i], "%s",
                 lz_simt_entry_name(k, &t, dims[i].launch[0].entry));
        name[i] = names[i];
    }
    lz_plan_free(p);
    lz_func_free(f);
    return n;
}

static lz_exec *on_gpu(lz_cache *c, lz_exec_info *i)
{
    lz_func *f = parse(programs[PRODUCT].text);
    lz_exec *x;
    OK(be->compile(0, f, &(lz_compile_options){.cache = c}, &x));
    be->exec_info(x, i);
    lz_func_free(f);
    return x;
}

static bool alone(const lz_simt_dims *d, uint32_t n, uint32_t i)
{
    bool is = true;
    for (uint32_t j = 0; j < n; j++)
        is &= j == i || d[j].launch[0].entry != d[i].launch[0].entry ||
              d[j].launch[0].grid != d[i].launch[0].grid;
    return is;
}

/* Whichever way is the fast one is taken, is right, and the next process takes it without
 * measuring. */
START_TEST(the_fastest_wins)
{
    lz_simt_pick pick[SIMT_PICKS];
    lz_simt_dims dims[SIMT_PICKS];
    const char *name[SIMT_PICKS];
    begin();
    use_mock();
    OK(lz_config_set("LAZULI_TUNE", "2"));
    uint32_t n = picks(pick, dims, name), tried = 0;
    ck_assert_uint_gt(n, 1);
    lz_exec_info i;
    for (uint32_t w = 0; w < n; w++) {
        if (!alone(dims, n, w))
            continue;
        tried++;
        lz_cache *c = open_cache();
        lz_tune_forget();
        (void)mock.time(NULL, 0, 30000000);
        (void)mock.time("lz_kernel_combine", 0, 0);
        int rule = mock.time(name[w], dims[w].launch[0].grid, 5000000);
        lz_exec *x = on_gpu(c, &i);
        ck_assert_uint_ge(i.tune_runs, n);
        ck_assert_uint_eq(i.tuned, w != 0);
        ck_assert_int_eq(choices_in(c), 1);
        uint64_t before = mock.timed(rule);
        must_be_right(be, x, PRODUCT);
        ck_assert_uint_eq(mock.timed(rule), before + 1);
        be->exec_free(x);
        lz_tune_forget();
        lz_cache_close(c);
        c = open_cache();
        x = on_gpu(c, &i);
        ck_assert_uint_eq(i.tune_runs, 0);
        ck_assert_uint_eq(i.tune_hits, 1);
        ck_assert_uint_eq(i.tuned, w != 0);
        before = mock.timed(rule);
        must_be_right(be, x, PRODUCT);
        ck_assert_uint_eq(mock.timed(rule), before + 1);
        be->exec_free(x);
        OK(lz_cache_clear(c, NULL));
        lz_cache_close(c);
        mock.reset();
    }
    ck_assert_uint_gt(tried, 1);
    end();
}
END_TEST

/* Faster, but not by enough; and so long that nobody wants to wait. */
START_TEST(not_worth_it)
{
    lz_simt_pick pick[SIMT_PICKS];
    lz_simt_dims dims[SIMT_PICKS];
    const char *name[SIMT_PICKS];
    lz_exec_info i;
    use_mock();
    OK(lz_config_set("LAZULI_TUNE", "2"));
    uint32_t n = picks(pick, dims, name), w = 1;
    while (w < n && !alone(dims, n, w))
        w++;
    ck_assert_uint_lt(w, n);
    (void)mock.time(NULL, 0, 20000000);
    (void)mock.time("lz_kernel_combine", 0, 0);
    (void)mock.time(name[w], dims[w].launch[0].grid, 19800000);
    lz_exec *x = on_gpu(NULL, &i);
    ck_assert_uint_gt(i.tune_runs, n);
    ck_assert_uint_eq(i.tuned, 0);
    be->exec_free(x);
    lz_tune_forget();
    mock.reset();
    (void)mock.time(NULL, 0, 1000000000);
    x = on_gpu(NULL, &i);
    ck_assert_uint_eq(i.tune_runs, 1);
    ck_assert_uint_eq(i.tuned, 0);
    must_be_right(be, x, PRODUCT);
    be->exec_free(x);
}
END_TEST

/* Calls of the driver that fail while it is measured: the program is what it is without. */
START_TEST(calls_fail)
{
    static const char *const calls[] = {"cuLaunchKernel",     "cuEventRecord",
                                        "cuEventCreate",      "cuEventSynchronize",
                                        "cuEventElapsedTime", "cuMemAlloc_v2"};
    lz_exec_info i;
    lz_mock_stats s;
    use_mock();
    OK(lz_config_set("LAZULI_TUNE", "2"));
    be->exec_free(on_gpu(NULL, &i)); /* its code is in memory */
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
        lz_tune_forget();
        mock.reset();
        mock.fail_at(calls[c], 1, 2);
        lz_exec *x = on_gpu(NULL, &i);
        mock.stats(&s);
        mock.reset();
        must_be_right(be, x, PRODUCT);
        be->exec_free(x);
    }
}
END_TEST

START_TEST(gpu_off)
{
    lz_exec_info i;
    lz_buf key = {0};
    use_mock();
    lz_exec *x = on_gpu(NULL, &i);
    ck_assert_uint_eq(i.tuned + i.tune_runs + i.tune_hits, 0);
    be->key(0, &key);
    ck_assert_ptr_null(strstr(lz_buf_str(&key), "tuned"));
    must_be_right(be, x, PRODUCT);
    be->exec_free(x);
    lz_buf_free(&key);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("tune");
    TCase *t = tcase_create("tune");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, measured_once, 0, NPROGRAM);
    tcase_add_loop_test(t, every_choice_is_right, 0, NPROGRAM);
    tcase_add_test(t, illegal_choices);
    tcase_add_test(t, off);
    tcase_add_test(t, on);
    tcase_add_test(t, left_alone);
    tcase_add_test(t, made_by_the_device);
    tcase_add_test(t, no_memory);
    tcase_add_test(t, many_threads);
    tcase_add_test(t, the_fastest_wins);
    tcase_add_test(t, not_worth_it);
    tcase_add_test(t, calls_fail);
    tcase_add_test(t, gpu_off);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
