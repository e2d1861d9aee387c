/* t_callbacks.c - functions that the library calls and that call the library: each kind of them
 * makes each of the calls below. A call works; what waits may be refused, but only where it would
 * wait for itself. Nothing hangs, and what the library was doing goes on and comes out right. With
 * LZ_DEBUG, no lock is held meanwhile. */
#include "../unit/runtime/rt.h"
#include <fcntl.h>
#include <lazuli/dlpack.h>
#include <lazuli/ffi.h>
#include <lazuli/jit.h>
#include <lazuli/loader.h>
#include <lazuli/profiler.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* ---- the calls ---- */

static lz_tensor *value, *pending; /* computed; not computed */
static _Atomic int fresh = 3;      /* extents of graphs that nobody has compiled */

static lz_tensor *new_graph(void)
{
    return lz_sum(lz_mul_scalar(lz_ones(LZ_F32, LZ_SHAPE(atomic_fetch_add(&fresh, 1))), 2));
}

static lz_status read_new(void)
{
    return isnan(lz_item(new_graph())) ? LZ_ESTATE : LZ_OK;
}
static lz_status read_pending(void)
{
    float v[4];
    return lz_to_host(pending, v, sizeof v);
}
static lz_status read_value(void)
{
    float v[4] = {0};
    lz_status s = lz_to_host(value, v, sizeof v);
    return s == LZ_OK && v[3] != 4 ? LZ_EINTERNAL : s;
}
static lz_status step(void)
{
    return lz_mark_step();
}
static lz_status step_waits(void)
{
    return lz_mark_step(.wait = true);
}
static lz_status wait_all(void)
{
    return lz_wait_device_ops();
}
static lz_status sync_waits(void)
{
    lz_tensor *t = new_graph();
    return lz_sync(&t, 1, true);
}
static lz_status gradient(void)
{
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(2), (float[]){1, 2}), *g;
    lz_status s = lz_grad(lz_sum(lz_mul(x, x)), &x, 1, &g);
    return s != LZ_OK ? s : lz_status_of(lz_add(g, g));
}
static lz_status backward(void)
{
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(2), (float[]){1, 2});
    lz_requires_grad(x, true);
    return lz_backward(lz_sum(lz_mul(x, x)));
}
static void twice(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_add(in[0], in[0]);
}
static lz_status function(void)
{
    lz_function *f = NULL;
    lz_tensor *out[1];
    lz_status s = lz_function_trace(twice, NULL, &value, 1, 1, &f);
    if (s == LZ_OK)
        s = lz_function_call(f, &value, 1, out, 1);
    lz_function_free(f);
    return s;
}
static lz_status print(void)
{
    char text[2048];
    lz_tensor *t = new_graph();
    (void)lz_dump_graph(&t, 1, "text", text, sizeof text);
    (void)lz_graph_hash(&t, 1, text, sizeof text);
    (void)lz_metrics_report(text, sizeof text);
    return LZ_OK;
}
static lz_status cache(void)
{
    char text[512];
    lz_cache_counts c = {.struct_size = sizeof c};
    (void)lz_get_cache_counts(&c);
    (void)lz_get_cache_path(text, sizeof text);
    (void)lz_get_num_cached_compilation_graph();
    return lz_initialize_cache("", false) == LZ_OK ? LZ_EINTERNAL : LZ_OK;
}
static lz_status trace(void)
{
    lz_status s = lz_start_trace("/dev/null");
    return s == LZ_OK ? lz_stop_trace() : s;
}
static lz_status devices(void)
{
    char text[64];
    lz_memory_info m;
    (void)lz_device_count(NULL);
    (void)lz_device_kind(NULL, text, sizeof text);
    lz_status s = lz_get_memory_info(NULL, &m);
    return s != LZ_OK ? s : lz_status_of(lz_to_device(value, "REF"));
}
static lz_status lend(void)
{
    struct DLManagedTensorVersioned *m = NULL;
    lz_status s = lz_to_dlpack(pending, false, &m);
    if (m)
        lz_release(lz_retain(lz_from_dlpack(m, true)));
    return s;
}
static void ignore(void *user)
{
    (void)user;
}
static lz_status borrow(void)
{
    static _Alignas(64) float v[16];
    return lz_status_of(lz_from_borrowed(LZ_F32, LZ_SHAPE(16), v, ignore, NULL));
}
static lz_status mistake(void)
{
    lz_status s = lz_status_of(lz_matmul(lz_ones(LZ_F32, LZ_SHAPE(2, 3)), value));
    return s == LZ_OK ? LZ_EINTERNAL : LZ_OK;
}

/* WAITS: computes, or waits for what is being computed, so the device's own thread is refused it
 * (docs/reference/semantics.md). WORKS: only asks, records or reads what is there. */
#define WAITS(fn)                                                                                  \
    {                                                                                              \
#fn, fn, true                                                                              \
    }
#define WORKS(fn)                                                                                  \
    {                                                                                              \
#fn, fn, false                                                                             \
    }
static const struct {
    const char *name;
    lz_status (*fn)(void);
    bool waits;
} calls[] = {WAITS(read_new),   WAITS(read_pending), WORKS(read_value), WAITS(step),
             WAITS(step_waits), WAITS(wait_all),     WAITS(sync_waits), WORKS(gradient),
             WORKS(backward),   WAITS(function),     WORKS(print),      WORKS(cache),
             WORKS(trace),      WORKS(devices),      WAITS(lend),       WORKS(borrow),
             WORKS(mistake)};
enum { CALLS = sizeof calls / sizeof calls[0] };

/* ---- making them ---- */

static int *now; /* shared with the parent: the call that is being made */
static _Atomic int made, wrong;
static _Atomic bool on;
static bool may_refuse; /* the functions may be called on the device's thread */
static const char *wrong_name;
static lz_status wrong_status;

static void call_back(void)
{
    if (!atomic_exchange(&on, false)) /* once for each call of the table */
        return;
    int k = *now;
    lz_scope_begin();
    lz_status s = calls[k].fn();
    lz_scope_end();
    if (s != LZ_OK && !(s == LZ_ESTATE && may_refuse && calls[k].waits)) {
        wrong_name = calls[k].name;
        wrong_status = s;
        atomic_fetch_add(&wrong, 1);
    }
    atomic_fetch_add(&made, 1);
}

/* ---- the kinds of functions ---- */

static void log_line(int level, const char *module, const char *message, void *user)
{
    (void)level, (void)module, (void)message, (void)user;
    call_back();
}

/* A message under the lock of the programs, and others. */
static void provoke_log(void)
{
    on = true;
    (void)lz_initialize_cache("", false);
}

static lz_status in_custom_call(const lz_ffi_call *c, void *user)
{
    (void)user;
    memcpy(c->rets[0].data, c->args[0].data, c->rets[0].nbytes);
    call_back();
    return LZ_OK;
}

static const lz_ffi_type four = {LZ_F32, {1, {4}}};

static double call_out(const char *target, lz_tensor *x)
{
    lz_tensor *in[1] = {x};
    return lz_item(lz_sum(lz_custom_call(target, NULL, in, 1, &four, 1, NULL)));
}

static void provoke_custom_call(void)
{
    on = true;
    ck_assert(call_out("call_back", value) == 10);
}

/* Waits, on the device's thread, until the program has let its argument go. */
static _Atomic bool let_go;
static lz_status hold(const lz_ffi_call *c, void *user)
{
    (void)user;
    memcpy(c->rets[0].data, c->args[0].data, c->rets[0].nbytes);
    while (!let_go)
        usleep(100);
    return LZ_OK;
}

static void release(void *user)
{
    (void)user;
    call_back();
}

static _Alignas(64) float memory[4] = {1, 2, 3, 4};

/* A device that copies lets the memory go at once. */
static bool copies;
static lz_tensor *borrow_memory(void (*fn)(void *user))
{
    on = copies;
    return lz_from_borrowed(LZ_F32, LZ_SHAPE(4), memory, fn, NULL);
}

static void end_in_job(lz_tensor *x)
{
    let_go = false;
    lz_retain(x);
    lz_tensor *in[1] = {x}, *y = lz_retain(lz_custom_call("hold", NULL, in, 1, &four, 1, NULL));
    OK(lz_mark_step());
    lz_release(x);
    lz_scope_end();
    on = !made;
    let_go = true; /* the job has the last reference: its end is the buffer's */
    ck_assert(lz_item(lz_sum(y)) == 10);
    lz_release(y);
    OK(lz_wait_device_ops());
}

static void provoke_release_in_job(void)
{
    OK(lz_scope_begin());
    end_in_job(borrow_memory(release));
}

static void provoke_release(void)
{
    OK(lz_scope_begin());
    (void)borrow_memory(release);
    on = !made;
    OK(lz_scope_end());
}

/* In a step: under the device's lock. */
static void provoke_release_in_step(void)
{
    static const float zero[4];
    OK(lz_scope_begin());
    lz_tensor *x = lz_retain(borrow_memory(release));
    lz_tensor *y = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(4), zero));
    OK(lz_assign(y, lz_add(x, x)));
    lz_release(x);
    OK(lz_scope_end());
    on = !made;
    OK(lz_mark_step());
    ck_assert(lz_item(lz_sum(y)) == 20);
    lz_release(y);
    OK(lz_wait_device_ops());
}

static int64_t dims[1] = {4};
static void deleter(struct DLManagedTensorVersioned *m)
{
    free(m);
    call_back();
}

static void provoke_deleter(void)
{
    struct DLManagedTensorVersioned *m = calloc(1, sizeof *m);
    m->version = (DLPackVersion){DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    m->deleter = deleter;
    m->dl_tensor = (DLTensor){memory, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, dims, NULL, 0};
    OK(lz_scope_begin());
    on = copies;
    end_in_job(lz_from_dlpack(m, copies));
}

/* The loader that `get` is called for is asked, too. */
static _Atomic(lz_loader *) loader;
static _Atomic bool own_asked;
static lz_status get(void *user, int64_t index, void *const *out)
{
    (void)user;
    *(float *)out[0] = (float)index;
    call_back();
    lz_tensor *t[1];
    while (!loader)
        usleep(100);
    bool refused = !lz_loader_next(loader, t) && lz_last_error(NULL) == LZ_ESTATE;
    refused = refused && lz_loader_begin(loader, 1, 0) == LZ_ESTATE;
    lz_loader_free(loader);
    if (refused && lz_last_error(NULL) == LZ_ESTATE)
        own_asked = true;
    return LZ_OK;
}

static void provoke_get(void)
{
    lz_dataset d = {.struct_size = sizeof d, .len = 2, .nfields = 1, .get = get};
    d.field[0].dtype = LZ_F32;
    lz_tensor *t[1];
    double sum = 0;
    loader = NULL;
    own_asked = false;
    lz_loader *l = lz_loader_new(&d, .batch_size = 1);
    ck_assert_ptr_nonnull(l);
    on = true;
    OK(lz_loader_begin(l, 0, 0));
    loader = l;
    while (lz_loader_next(l, t))
        sum += lz_item(lz_sum(t[0]));
    OK(lz_loader_status(l));
    ck_assert(sum == 1);
    ck_assert(own_asked);
    lz_loader_free(l);
}

/* A release function that makes the last reference of another buffer go, which calls in turn. */
static lz_tensor *second;
static void release_second(void *user)
{
    (void)user;
    lz_release(second);
}

static void provoke_nested_release(void)
{
    OK(lz_scope_begin());
    second = lz_retain(borrow_memory(release));
    lz_tensor *x = borrow_memory(release_second);
    end_in_job(x); /* its scope ends, and that of `second` with it, but the one reference */
}

static const struct {
    const char *name;
    void (*provoke)(void);
    bool on_device; /* in the device's thread, or in that which is last */
} kinds[] = {{"log callback", provoke_log, false},
             {"custom call", provoke_custom_call, true},
             {"release function", provoke_release, false},
             {"release function in a step", provoke_release_in_step, true},
             {"release function in a job", provoke_release_in_job, true},
             {"release function in another", provoke_nested_release, true},
             {"DLPack deleter", provoke_deleter, true},
             {"get of a data set", provoke_get, false}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static void prepare(bool log)
{
    if (log) {
        setenv("LAZULI_LOG", "debug", 1);
        lz_set_log_callback(log_line, NULL);
    }
    OK(lz_ffi_register("call_back", in_custom_call, NULL));
    OK(lz_ffi_register("hold", hold, NULL));
    value = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(4), memory));
    OK(lz_mark_step());
}

static void all_calls(int kind)
{
    prepare(kinds[kind].provoke == provoke_log);
    may_refuse = kinds[kind].on_device;
    for (int k = 0; k < CALLS; k++) {
        *now = k;
        made = 0;
        OK(lz_wait_device_ops()); /* no job of the last turn takes this one */
        OK(lz_scope_begin());
        pending = lz_add(value, value);
        kinds[kind].provoke();
        ck_assert_int_eq(made, 1);
        ck_assert_msg(!wrong, "%s in a %s: %s", wrong_name, kinds[kind].name,
                      lz_status_name(wrong_status));
        lz_clear_error();
        OK(lz_scope_end());
        OK(lz_mark_step());
    }
}

START_TEST(call_back_every_function)
{
    now = mmap(NULL, sizeof *now, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(now != MAP_FAILED);
    rt_use(rt_devices[_i / KINDS]);
    copies = strcmp(rt_devices[_i / KINDS], "CUDA") == 0;
    setenv("LAZULI_LOG", "error", 1);
    pid_t p = fork();
    if (p == 0) {
        alarm(200);
        all_calls(_i % KINDS);
        _exit(0);
    }
    int st = 0;
    ck_assert_int_eq(waitpid(p, &st, 0), p);
    ck_assert_msg(!WIFSIGNALED(st), "%s in a %s, on %s: %s", calls[*now].name,
                  kinds[_i % KINDS].name, rt_devices[_i / KINDS],
                  WTERMSIG(st) == SIGALRM ? "hangs" : strsignal(WTERMSIG(st)));
    ck_assert_int_eq(WEXITSTATUS(st), 0);
    munmap(now, sizeof *now);
}
END_TEST

/* ---- messages ---- */

static int lines;
static void count(int level, const char *module, const char *message, void *user)
{
    (void)level, (void)module, (void)message, (void)user;
    lines++;
    (void)lz_initialize_cache("", false); /* causes another message */
}

START_TEST(messages_do_not_recurse)
{
    rt_use("REF");
    setenv("LAZULI_LOG", "debug", 1);
    lz_set_log_callback(count, NULL);
    FILE *null = freopen("/dev/null", "w", stderr);
    ck_assert_ptr_nonnull(null);
    FAILS(lz_initialize_cache(NULL, false), LZ_ENULL, "path is NULL");
    ck_assert_int_eq(lines, 1);
}
END_TEST

/* What a step warns of under its locks comes before the call returns, and the graph that the
 * callback computes is the one that is being compiled. */
static int warned;
static void compute_same(int level, const char *module, const char *message, void *user)
{
    (void)level, (void)module, (void)message, (void)user;
    if (warned++ == 0) {
        FAILS(lz_initialize_cache(NULL, false), LZ_ENULL, "path is NULL");
        ck_assert(lz_item(lz_sum(lz_ones(LZ_F32, LZ_SHAPE(100)))) == 100);
    }
}

/* The errors of the callback are not those of the thread: of one that had failed before (odd), or
 * had not. */
START_TEST(messages_of_a_compilation)
{
    char dir[] = "/tmp/lz-callbacks-XXXXXX";
    rt_use(rt_devices[_i / 2]);
    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_int_eq(chmod(dir, 0777), 0); /* anyone may write to it: it is not used, and told */
    setenv("LAZULI_CACHE", "1", 1);
    setenv("LAZULI_CACHE_DIR", dir, 1);
    setenv("LAZULI_LOG", "warn", 1);
    if (_i % 2)
        FAILS(lz_to_host(NULL, NULL, 0), LZ_ENULL, "");
    lz_status before = lz_last_error(NULL);
    lz_set_log_callback(compute_same, NULL);
    ck_assert(lz_item(lz_sum(lz_ones(LZ_F32, LZ_SHAPE(100)))) == 100);
    ck_assert_int_ge(warned, 1);
    ck_assert_int_eq(lz_last_error(NULL), before);
    rmdir(dir);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("callbacks");
    TCase *t = tcase_create("callbacks");
    tcase_add_loop_test(t, call_back_every_function, 0, 2 * KINDS);
    tcase_add_test(t, messages_do_not_recurse);
    tcase_add_loop_test(t, messages_of_a_compilation, 0, 4);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
