/* t_api_memory.c - A06: memory runs out at the n-th allocation, for every n, in whole scenarios of
 * the public interface and of the compiler behind it. Each must end in LZ_EMEM or in the right
 * numbers, leave nothing behind, and work again at once. "cold" runs every n in a process of its
 * own, whose library starts while memory fails; "warm" in one process that has done the scenario
 * before, where what is alive afterwards can be counted. */
#include "base/alloc.h"
#include "ir/module.h"
#include "lower/plan/plan.h"
#include "suite.h"
#include <fcntl.h>
#include <ftw.h>
#include <lazuli/lazuli.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[256]; /* scratch of this test; the cache of the scenarios that have one is in it */
static const float four[4] = {1, -2, 0.5f, 4};

/* ---- scenarios: LZ_OK after checking what came out, or the first failure ---- */

static lz_status first;
#define DO(expr)                                                                                   \
    do {                                                                                           \
        lz_status s_ = (expr);                                                                     \
        if (first == LZ_OK)                                                                        \
            first = s_;                                                                            \
    } while (0)

static void wrong(const char *what, double got, double want)
{
    fprintf(stderr, "%s is %.9g, not %.9g\n", what, got, want);
    _exit(3);
}

static void near(const char *what, double got, double want)
{
    if (!(fabs(got - want) <= 1e-4 * (1 + fabs(want))))
        wrong(what, got, want);
}

static void read_is(const char *what, lz_tensor *t, const float *want, int n)
{
    float got[16];
    lz_status s = lz_to_host(t, got, sizeof got);
    DO(s);
    for (int i = 0; s == LZ_OK && i < n; i++)
        near(what, got[i], want[i]);
}

static void item_is(const char *what, lz_tensor *t, double want)
{
    double got = lz_item(t);
    lz_status s = isnan(got) ? lz_last_error(NULL) : LZ_OK;
    DO(s);
    if (s == LZ_OK)
        near(what, got, want);
    else if (!isnan(got))
        wrong(what, got, NAN);
}

static lz_status open_scope(void)
{
    lz_status s = lz_scope_begin();
    DO(s);
    return s;
}

static void trace_and_read(void)
{
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(2, 2), four);
    lz_tensor *y = lz_softmax(lz_matmul(x, lz_add_scalar(x, 1.5)), 1);
    read_is("a sum of softmaxes", lz_sum(y, .dims = LZ_DIM(1)), (float[]){1, 1}, 2);
    lz_tensor *many[12];
    for (int i = 0; i < 12; i++)
        many[i] = lz_mul_scalar(x, i);
    item_is("a sum of many", lz_sum(lz_cat(many, 12, 0)), 3.5 * 66);
    item_is("the largest", lz_argmax(lz_reshape(x, LZ_SHAPE(4)), 0, false), 3);
    const int64_t at[2] = {1, 0};
    read_is("picked rows", lz_index_select(x, 0, lz_from_host(LZ_I64, LZ_SHAPE(2), at)),
            (float[]){0.5f, 4, 1, -2}, 4);
}

static void steps(void)
{
    lz_tensor *w = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(4), four));
    double want = 4;
    lz_status all = lz_status_of(w);
    DO(all);
    for (int i = 0; i < 3 && all == LZ_OK; i++) {
        if (open_scope() != LZ_OK)
            break;
        lz_status s = lz_assign(w, lz_add_scalar(lz_mul_scalar(w, 0.5), i));
        DO(s);
        if (all == LZ_OK)
            all = s;
        want = want * 0.5 + i;
        s = lz_mark_step(.wait = i == 1);
        DO(s);
        DO(lz_scope_end());
    }
    /* a failed step keeps what was recorded: the value is right as soon as there is memory */
    lz_alloc_fail_at(0, false);
    if (all == LZ_OK) {
        float got[4];
        if (lz_to_host(w, got, sizeof got) == LZ_OK)
            near("the value after the steps", got[3], want);
        else if (first == LZ_OK) /* what failed on the device was told by a wait, or is told now */
            first = LZ_EMEM;
    }
    DO(lz_release(w));
}

static void gradients(void)
{
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(4), four), *g, *h;
    lz_tensor *loss = lz_sum(lz_mul(lz_mul(x, x), x));
    DO(lz_grad(loss, &x, 1, &g));
    read_is("the gradient", g, (float[]){3, 12, 0.75f, 48}, 4);
    DO(lz_grad(lz_sum(g), &x, 1, &h));
    read_is("the second gradient", h, (float[]){6, -12, 3, 24}, 4);
}

static void training(void)
{
    lz_params ps = {0};
    lz_linear_layer l1 = {0}, l2 = {0};
    DO(lz_manual_seed(3));
    DO(lz_linear_layer_init(&l1, &ps, "l1", 4, 3, true, LZ_F32));
    DO(lz_linear_layer_init(&l2, &ps, "l2", 3, 2, true, LZ_F32));
    lz_optim *o[2] = {lz_sgd(&ps, .lr = 0.1, .momentum = 0.9), lz_adam(&ps, .lr = 0.01)};
    for (int i = 0; i < 2; i++)
        DO(o[i] ? LZ_OK : lz_last_error(NULL));
    for (int i = 0; i < 4 && first == LZ_OK; i++) {
        const float xs[8] = {1, 2, -1, 0, 0.5f, -2, 3, 1};
        const int32_t ys[2] = {1, 0};
        if (open_scope() != LZ_OK)
            break;
        lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(2, 4), xs);
        lz_tensor *t = lz_relu(lz_linear_layer_forward(&l1, x));
        t = lz_cross_entropy(lz_linear_layer_forward(&l2, t),
                             lz_from_host(LZ_I32, LZ_SHAPE(2), ys));
        DO(lz_backward(t));
        DO(lz_optim_step(o[i & 1]));
        DO(lz_optim_zero_grad(o[i & 1]));
        DO(lz_mark_step());
        DO(lz_scope_end());
    }
    lz_optim_free(o[0]);
    lz_optim_free(o[1]);
    lz_params_free(&ps);
}

static void sharing(void)
{
    struct DLManagedTensorVersioned *m = NULL;
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(2, 2), four), *y = NULL;
    lz_status s = lz_to_dlpack(lz_mul_scalar(x, 2), false, &m);
    DO(s);
    if (s == LZ_OK)
        y = lz_from_dlpack(m, true);
    if (y)
        read_is("what came through DLPack", y, (float[]){2, -4, 1, 8}, 4);
    if (y)
        DO(lz_release(y));
}

static void looking(void)
{
    char text[2000];
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(4), four), *y = lz_exp(lz_add(x, x));
    static const char *const formats[] = {"text", "hlo", "stablehlo", "dot"};
    DO(lz_name_scope_begin("looked at"));
    for (int i = 0; i < 4; i++) {
        if (lz_dump_graph(&y, 1, formats[i], text, sizeof text) == 0)
            DO(lz_last_error(NULL));
    }
    DO(lz_name_scope_end());
    if (lz_graph_hash(&y, 1, text, sizeof text) == 0)
        DO(lz_last_error(NULL));
    (void)lz_metrics_report(text, sizeof text);
    (void)lz_counter_names(text, sizeof text);
    item_is("an exponential", lz_sum(y), exp(2) + exp(-4) + exp(1) + exp(8));
    DO(lz_mark_step(.wait = true));
}

static const char program[] =
    "func.func @main(%a: tensor<3x4xf32>, %b: tensor<4x2xf32>) -> (tensor<3x2xf32>, tensor<3xf32>) "
    "{\n"
    "  %c = stablehlo.constant dense<0.5> : tensor<f32>\n"
    "  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<3x4xf32>, "
    "tensor<4x2xf32>) -> tensor<3x2xf32>\n"
    "  %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<3x2xf32>\n"
    "  %2 = stablehlo.maximum %0, %1 : tensor<3x2xf32>\n"
    "  %3 = stablehlo.reduce(%2 init: %c) applies stablehlo.add across dimensions = [1] : "
    "(tensor<3x2xf32>, tensor<f32>) -> tensor<3xf32>\n"
    "  return %2, %3 : tensor<3x2xf32>, tensor<3xf32>\n}\n";

/* Text to function to plan, and both through their bytes. */
static void compiler(void)
{
    lz_func *f = NULL, *g = NULL;
    lz_plan *p = NULL, *q = NULL;
    lz_buf text = {0}, bytes = {0}, plan = {0};
    lz_status s = lz_func_parse(program, strlen(program), "program", &f);
    if (s == LZ_OK) {
        lz_func_print(f, &text, 0);
        lz_func_serialize(f, &bytes);
        s = text.failed || bytes.failed ? LZ_EMEM : lz_func_deserialize(bytes.data, bytes.len, &g);
    }
    if (s == LZ_OK)
        s = lz_lower(g, NULL, &p);
    if (s == LZ_OK) {
        lz_plan_serialize(p, &plan);
        s = plan.failed ? LZ_EMEM : LZ_OK;
    }
    if (s == LZ_OK)
        s = lz_plan_deserialize(plan.data, plan.len, &q);
    if (s == LZ_OK) {
        const float a[12] = {1, 2, 3, 4, -1, -2, -3, -4, 1, 0, 1, 0},
                    b[8] = {1, 0, 0, 1, 1, 0, 0, 1};
        const void *in[2] = {a, b};
        float y[6], r[3];
        void *out[2] = {y, r};
        s = lz_plan_run(q, in, out);
        if (s == LZ_OK)
            near("a row", r[0], 4 + 6 + 0.5);
    }
    DO(s);
    lz_plan_free(q);
    lz_plan_free(p);
    lz_func_free(g);
    lz_func_free(f);
    lz_buf_free(&plan);
    lz_buf_free(&bytes);
    lz_buf_free(&text);
}

/* Composites that call others, give several results, assign, or need memory of their own. */
static void composites(void)
{
    static const float ones[4] = {1, 1, 1, 1};
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(2, 2), four), *p[20], *two[2] = {NULL, NULL},
              *at = NULL;
    for (int i = 0; i < 20; i++)
        p[i] = x;
    read_is("a trace of products", lz_einsum("ij,jk->ik", p, 2), (float[]){0, -10, 2.5f, 15}, 4);
    item_is("twenty factors",
            lz_einsum("ij,ij,ij,ij,ij,ij,ij,ij,ij,ij,ij,ij,ij,ij,ij,ij,ij,ij,ij,ij", p, 20),
            1 + 1048576.0 + 9.5367431640625e-07 + 1099511627776.0);
    int n = 2;
    DO(lz_split(x, 1, 0, two, &n));
    if (first == LZ_OK)
        read_is("a row", two[1], four + 2, 2);
    lz_tensor *most = lz_max_dim(x, 1, false, &at);
    read_is("the largest", most, (float[]){1, 4}, 2);
    lz_tensor *mean = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(2), ones)),
              *var = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(2), ones));
    lz_tensor *y = lz_native_batch_norm(x, NULL, NULL, mean, var, .training = true, .momentum = 1);
    if (lz_status_of(y) == LZ_OK)
        read_is("means", mean, (float[]){0.75f, 1}, 2);
    else
        DO(lz_status_of(y));
    item_is("a permutation", lz_sum(lz_randperm(LZ_F32, 5)), 10);
    item_is("indices", lz_sum(lz_tril_indices(3, 3, 0)), 12);
    item_is(
        "scattered",
        lz_sum(lz_masked_scatter(x, lz_gt_scalar(x, 0), lz_from_host(LZ_F32, LZ_SHAPE(4), ones))),
        1);
    read_is("a histogram", lz_histc(x, 2, -2, 4), (float[]){2, 2}, 2);
    DO(lz_release(mean));
    DO(lz_release(var));
}

/* Functions that become regions: what is constant in them is made again there. */
static lz_tensor *goes_on(lz_tensor *const *in, void *user)
{
    (void)user;
    return lz_lt_scalar(lz_sum(in[0]), 20);
}
static void doubled(lz_tensor *const *in, lz_tensor **out, void *user)
{
    out[0] = lz_add(in[0], user ? user : in[0]);
    out[1] = lz_zeros(LZ_F32, LZ_SCALAR);
}
static void constants(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)in, (void)user;
    out[0] = lz_full(LZ_F32, LZ_SHAPE(4), 7);
    out[1] = lz_ones(LZ_F32, LZ_SCALAR);
}
static void counted(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_add(in[0], lz_to(i, LZ_F32));
    out[1] = lz_ones(LZ_F32, LZ_SCALAR);
}
static void summed(lz_tensor *const *carry, lz_tensor *const *x, lz_tensor **next, lz_tensor **y,
                   void *user)
{
    (void)user;
    next[0] = y[0] = lz_add(carry[0], lz_mul_scalar(x[0], 2));
}
static void squared(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_mul(in[0], lz_add_scalar(in[0], 1));
}

static void control(void)
{
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(4), four), *v[2], *y[2], *s[2], *g = NULL;
    v[0] = x, v[1] = lz_full(LZ_F32, LZ_SCALAR, 1);
    DO(lz_while(v, 2, goes_on, doubled, NULL, y));
    read_is("doubled", y[0], (float[]){8, -16, 4, 32}, 4);
    DO(lz_cond(goes_on(v, NULL), doubled, constants, v, 2, 2, x, y));
    read_is("the branch", y[0], (float[]){2, -4, 1, 8}, 4);
    DO(lz_switch(lz_full(LZ_I32, LZ_SCALAR, 1), (lz_body_fn *const[]){doubled, constants}, 2, v, 2,
                 2, NULL, y));
    item_is("constants", lz_add(lz_sum(y[0]), y[1]), 29);
    DO(lz_fori(1, 4, v, 2, counted, NULL, y));
    item_is("rounds", lz_add(lz_sum(y[0]), y[1]), 3.5 + 24 + 1);
    DO(lz_scan(&v[1], 1, &x, 1, 1, summed, NULL, y, s));
    read_is("the scan", s[0], (float[]){3, -1, 0, 8}, 4);
    DO(lz_checkpoint(squared, &x, 1, 1, NULL, y));
    DO(lz_grad(lz_sum(y[0]), &x, 1, &g));
    read_is("a gradient", g, (float[]){3, -3, 2, 9}, 4);
    DO(lz_vmap(squared, &x, 1, 1, NULL, y));
    read_is("each", y[0], (float[]){2, 2, 0.75f, 20}, 4);
}

/* What the compiler's passes write out. */
static void expanded(void)
{
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(2, 2), four);
    lz_tensor *t = lz_fft(lz_tile(x, LZ_SHAPE(1, 3)));
    item_is("a transform", lz_sum(lz_real(t)), 6 * 1.5);
    t = lz_tile(x, LZ_SHAPE(2, 2));
    t = lz_reshape(t, LZ_SHAPE(1, 1, 4, 4));
    t = lz_max_pool2d(t, .kernel_size = {2}, .padding = {1, 1});
    item_is("largest of windows", lz_sum(t), 17.5);
}

typedef struct scenario {
    const char *name;
    void (*run)(void);
    const char *device;
    bool cache, debug;
    int cold; /* how many n are tried in processes of their own, about */
} scenario;

static const scenario scenarios[] = {
    {"trace and read, reference", trace_and_read, "REF", false, false, 400},
    {"trace and read, compiled", trace_and_read, "CPU", false, false, 60},
    {"steps, reference", steps, "REF", false, false, 300},
    {"steps, cached", steps, "CPU", true, false, 200},
    {"gradients, reference", gradients, "REF", false, false, 300},
    {"gradients, cached", gradients, "CPU", true, false, 120},
    {"training, reference", training, "REF", false, false, 300},
    {"training, cached", training, "CPU", true, true, 120},
    {"sharing", sharing, "CPU", true, false, 200},
    {"looking", looking, "REF", true, true, 300},
    {"composites", composites, "REF", false, false, 200},
    {"control flow", control, "REF", false, false, 200},
    {"expanded", expanded, "CPU", false, false, 60},
    {"compiler", compiler, "REF", false, false, 300},
};
enum { NSCENARIOS = sizeof scenarios / sizeof *scenarios };

static lz_status attempt(const scenario *c)
{
    first = LZ_OK;
    lz_clear_error();
    lz_status rest = LZ_OK;
    if (open_scope() == LZ_OK) {
        c->run();
        rest = lz_mark_step();
        (void)lz_scope_end();
    }
    if (rest == LZ_OK)
        rest = lz_wait_device_ops();
    else
        (void)lz_wait_device_ops();
    /* What was recovered from leaves no error behind. */
    if (first == LZ_OK && rest == LZ_OK && lz_last_error(NULL) != LZ_OK) {
        fprintf(stderr, "ends well, with the error %s\n", lz_last_error_text());
        _exit(6);
    }
    return first;
}

/* Nothing failed: the scenario must do what it does. */
static void must_work(const scenario *c, const char *when)
{
    if (attempt(c) == LZ_OK)
        return;
    fprintf(stderr, "%s: %s: %s\n", when, lz_status_name(first), lz_last_error_text());
    _exit(4);
}

/* cached_programs: 1 in a count of what is alive, because an attempt that stops half-way leaves a
 * program of its own. */
static void environment(const scenario *c, const char *cached_programs)
{
    char path[300];
    setenv("PJRT_DEVICE", c->device, 1);
    setenv("XLA_COMPILATION_CACHE_SIZE", cached_programs, 1);
    snprintf(path, sizeof path, "%s/cache", dir);
    setenv("LAZULI_CACHE_DIR", path, 1);
    setenv("LAZULI_CACHE", c->cache ? "1" : "0", 1);
    if (c->debug) {
        setenv("PT_XLA_DEBUG", "1", 1);
        setenv("PT_XLA_DEBUG_FILE", "/dev/null", 1);
        setenv("XLA_METRICS_FILE", "/dev/null", 1);
        setenv("XLA_SAVE_TENSORS_FILE", "/dev/null", 1);
    }
}

/* ---- cold ---- */

enum { TURNS = 3 }; /* of the allocations one in so many in a run, but for small and whole loads */

static void fail_warm(const scenario *c, int64_t most);

/* Runs fn in a process of its own, with what it says kept in a file; aborts the test when it does
 * not end well. */
static void in_process(const scenario *c, int64_t n, void (*fn)(const scenario *c, int64_t n))
{
    char path[300], said[2000] = "";
    int status;
    snprintf(path, sizeof path, "%s/said", dir);
    fflush(NULL);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
        dup2(fd, 1);
        dup2(fd, 2);
        signal(SIGALRM, SIG_DFL); /* Check would kill the test without a word */
        alarm(7000);              /* by the clock, for what hangs: see lz_test_limits */
        environment(c, fn == fail_warm ? "1" : "2048");
        fn(c, n);
        exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    FILE *f = fopen(path, "r");
    size_t got = f ? fread(said, 1, sizeof said - 1, f) : 0;
    said[got] = 0;
    if (f)
        fclose(f);
    ck_assert_msg(status == 0, "%s, allocation %lld fails: status 0x%x: %s", c->name, (long long)n,
                  (unsigned)status, said);
}

static void count_allocations(const scenario *c, int64_t n)
{
    (void)n;
    must_work(c, "undisturbed");
    char path[300];
    snprintf(path, sizeof path, "%s/count", dir);
    FILE *f = fopen(path, "w");
    fprintf(f, "%llu", (unsigned long long)lz_alloc_count());
    fclose(f);
}

static void fail_cold(const scenario *c, int64_t n)
{
    bool for_good = n < 0; /* all allocations after it fail too */
    lz_alloc_fail_at(for_good ? -n : n, for_good);
    lz_status s = attempt(c);
    lz_alloc_fail_at(0, false);
    if (s != LZ_OK && s != LZ_EMEM && s != LZ_EDEVMEM) {
        fprintf(stderr, "ends in %s: %s\n", lz_status_name(s), lz_last_error_text());
        _exit(5);
    }
    must_work(c, "afterwards");
}

START_TEST(cold)
{
    const scenario *c = &scenarios[_i];
    char path[300];
    long long total = 0;
    in_process(c, 0, count_allocations);
    snprintf(path, sizeof path, "%s/count", dir);
    FILE *f = fopen(path, "r");
    ck_assert(f && fscanf(f, "%lld", &total) == 1);
    fclose(f);
    ck_assert_int_gt(total, 10);
    int64_t tries = lz_test_quick_alone() ? c->cold / 5 : c->cold;
    int64_t stride = total / tries + 1;
    unsigned turn = 0;
    for (int64_t n = 1; n <= total; n += n < tries / 4 ? 1 : stride)
        if (lz_test_in_turn(turn++, lz_test_quick_alone() ? 1 : TURNS))
            in_process(c, n, fail_cold);
    for (int64_t n = 1; n <= total; n += 8 * stride + 3)
        if (lz_test_in_turn(turn++, lz_test_quick_alone() ? 1 : TURNS))
            in_process(c, -n, fail_cold);
}
END_TEST

/* ---- warm ---- */

static void fail_warm(const scenario *c, int64_t most)
{
    must_work(c, "undisturbed");
    must_work(c, "the second time");
    int64_t alive = lz_alloc_live_bytes_hint(), leaked = 0;
    for (int64_t n = 1; n <= most; n++) {
        if (!lz_test_in_turn((unsigned)n, lz_test_quick_alone() ? 1 : TURNS))
            continue;
        uint64_t failed = lz_alloc_failed_count();
        lz_alloc_fail_at(n, false);
        lz_status s = attempt(c);
        lz_alloc_fail_at(0, false);
        bool reached = lz_alloc_failed_count() != failed;
        if (s != LZ_OK && s != LZ_EMEM && s != LZ_EDEVMEM) {
            fprintf(stderr, "%lld: ends in %s: %s\n", (long long)n, lz_status_name(s),
                    lz_last_error_text());
            _exit(5);
        }
        must_work(c, "afterwards");
        int64_t now = lz_alloc_live_bytes_hint();
        if (now > alive + 8) {
            fprintf(stderr, "%lld: %lld more blocks alive\n", (long long)n,
                    (long long)(now - alive));
            leaked++;
            alive = now;
        }
        if (!reached)
            break;
    }
    if (leaked > 3) /* tables that grew are no leak: they do not grow every time */
        _exit(6);
}

START_TEST(warm)
{
    in_process(&scenarios[_i], lz_test_quick_alone() ? 150 : 3000, fail_warm);
}
END_TEST

/* ---- the suite ---- */

static int rm_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void setup(void)
{
    const char *t = getenv("TMPDIR");
    snprintf(dir, sizeof dir, "%s/lz-memory-XXXXXX", t && *t ? t : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void teardown(void)
{
    (void)nftw(dir, rm_one, 32, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
    Suite *s = suite_create("A06 failing memory");
    TCase *t = tcase_create("A06");
    tcase_set_timeout(t, 900);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, cold, 0, NSCENARIOS);
    tcase_add_loop_test(t, warm, 0, NSCENARIOS);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
