/* t_fork.c - processes that fork: before the first operation, while others hold locks, inside of
 * callbacks, without fork()'s handlers; and processes whose main ends by pthread_exit. What each
 * public function does in a child: test/api/fork.sh. */
#include "rt.h"
#include "base/fork.h"
#include "base/thread.h"
#include <lazuli/dlpack.h>
#include <lazuli/ffi.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { HANGS_S = 60 }; /* of a child that should take milliseconds, on a loaded machine */

/* How the child ends: 0 is good. */
static int ended(pid_t pid)
{
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return status;
}

static bool refused(void)
{
    lz_clear_error();
    return lz_status_of(lz_ones(LZ_F32, LZ_SHAPE(2))) == LZ_EFORK &&
           lz_last_error(NULL) == LZ_EFORK && lz_mark_step() == LZ_EFORK;
}

static bool works(void)
{
    return lz_item(lz_sum(lz_full(LZ_F32, LZ_SHAPE(2, 3), 2))) == 12 && lz_mark_step() == LZ_OK;
}

/* Whether main's stack, from which alone Check's memory is reached, is no thread's any more: after
 * main's end, and in a child that another thread forked. The address sanitizer would take that
 * memory for leaked. */
static atomic_bool without_main;
#if defined(__SANITIZE_ADDRESS__)
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return atomic_load(&without_main);
}
#endif

/* ---- before the first operation ---- */

static atomic_bool stop;

static void log_nothing(int level, const char *module, const char *message, void *user)
{
    (void)level, (void)module, (void)message, (void)user;
}

static lz_status nothing(const lz_ffi_call *c, void *user)
{
    (void)c, (void)user;
    return LZ_OK;
}

static void registers(void)
{
    lz_ffi_register("a.b", nothing, NULL);
    lz_set_log_callback(log_nothing, NULL);
}

static void names(void)
{
    lz_scope_begin();
    lz_name_scope_begin("somewhere");
    lz_set_graph_name("a graph");
    lz_name_scope_end();
    lz_scope_end();
}

static void counts(void)
{
    char text[512];
    lz_cache_counts c = {.struct_size = sizeof c};
    lz_clear_counters();
    lz_clear_metrics();
    lz_counter_names(text, sizeof text);
    lz_get_cache_counts(&c);
}

static void reads(void)
{
    static const char text[] =
        "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }";
    lz_stablehlo_free(lz_stablehlo_parse(text, sizeof text - 1, "text"));
}

static void traces(void)
{
    lz_start_trace("/dev/null");
    lz_trace_begin("a span");
    lz_trace_end();
    if (lz_stop_trace() != LZ_OK)
        (void)lz_last_error(NULL);
}

static void (*const before[])(void) = {registers, names, counts, reads, traces};
enum { BEFORE = sizeof before / sizeof *before };

static void *again(void *fn)
{
    while (!atomic_load(&stop))
        (*(void (*const *)(void))fn)();
    return NULL;
}

/* The allocators of these have locks of their own, which a child inherits as they are: a child that
 * allocates may wait for ever. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CHILDREN 0
#else
#define CHILDREN 25
#endif

/* Threads of the parent call one of them, or one thread each of them; every child works in full. */
START_TEST(a_child_forked_before_the_first_operation_works)
{
    pthread_t t[BEFORE];
    for (int i = 0; i < BEFORE; i++)
        ck_assert_int_eq(pthread_create(&t[i], NULL, again, (void *)&before[_i < BEFORE ? _i : i]),
                         0);
    for (int k = 0; k < CHILDREN; k++) {
        usleep(500);
        pid_t pid = fork();
        if (pid == 0) {
            alarm(HANGS_S);
            for (int i = 0; i < BEFORE; i++)
                before[i]();
            exit(works() && works() ? 0 : 1);
        }
        ck_assert_int_eq(ended(pid), 0);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < BEFORE; i++)
        pthread_join(t[i], NULL);
    ck_assert(works());
}
END_TEST

/* ---- by other means than fork() ---- */

/* Where pages are of that size. */
START_TEST(a_child_is_told_however_it_was_made)
{
    ck_assert(works());
    pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (pid == 0)
        _exit(refused() ? 0 : 1);
    ck_assert_int_eq(ended(pid), 0);
    pid = fork(); /* and so are its children */
    if (pid == 0) {
        pid_t again = fork();
        if (again == 0)
            _exit(refused() ? 0 : 1);
        _exit(ended(again) == 0 && refused() ? 0 : 1);
    }
    ck_assert_int_eq(ended(pid), 0);
    ck_assert(works());
}
END_TEST

START_TEST(other_programs_can_be_started)
{
    static char *const argv[] = {"true", NULL};
    pid_t pid;
    ck_assert(works());
    ck_assert_int_eq(posix_spawnp(&pid, "true", NULL, NULL, argv, environ), 0);
    ck_assert_int_eq(ended(pid), 0);
    pid = vfork();
    if (pid == 0) {
        execvp("true", argv);
        _exit(1);
    }
    ck_assert_int_eq(ended(pid), 0);
    ck_assert(works());
}
END_TEST

/* ---- inside of what the library calls ---- */

enum { LEAVES, RETURNS, WAYS };
static int way;
static atomic_int good, made;

/* Forks once; the child is refused, and then leaves, or returns to the library and goes on. */
static void forks(void)
{
    if (atomic_exchange(&made, 1))
        return;
    pid_t pid = fork();
    if (pid == 0) {
        alarm(HANGS_S);
        atomic_store(&without_main, true);
        if (!refused())
            _exit(1);
        if (way == LEAVES)
            _exit(0);
        return;
    }
    atomic_store(&good, ended(pid) == 0 ? 1 : -1);
}

static void log_forks(int level, const char *module, const char *message, void *user)
{
    (void)level, (void)module, (void)message, (void)user;
    if (lz_fork_armed())
        forks();
}

static void release_forks(void *user)
{
    (void)user;
    forks();
}

static lz_status handler_forks(const lz_ffi_call *c, void *user)
{
    (void)user;
    forks();
    memcpy(c->rets[0].data, c->args[0].data, c->rets[0].nbytes);
    return LZ_OK;
}

static void in_log(void)
{
    lz_set_log_callback(log_forks, NULL);
    works();
    (void)lz_status_of(lz_add(lz_ones(LZ_F32, LZ_SHAPE(2)), lz_ones(LZ_F32, LZ_SHAPE(3))));
    (void)lz_mark_step(); /* tells of that error */
    lz_set_log_callback(NULL, NULL);
}

static void in_release(void)
{
    static _Alignas(64) float data[16];
    lz_scope_begin();
    lz_tensor *x = lz_from_borrowed(LZ_F32, LZ_SHAPE(16), data, release_forks, NULL);
    (void)lz_item(lz_sum(x));
    lz_scope_end();
    lz_mark_step();
    lz_wait_device_ops();
}

static void in_handler(void)
{
    lz_ffi_type type = {LZ_F32, LZ_SHAPE(2)};
    lz_tensor *x = lz_ones(LZ_F32, LZ_SHAPE(2));
    lz_ffi_register("forks", handler_forks, NULL);
    lz_tensor *y = lz_retain(lz_custom_call("forks", NULL, &x, 1, &type, 1, NULL));
    lz_mark_step(); /* may be run by the device's thread */
    (void)lz_item(lz_sum(y));
}

static void (*const calls[])(void) = {in_log, in_release, in_handler};
enum { CALLS = sizeof calls / sizeof *calls };

START_TEST(a_callback_may_fork)
{
    way = _i / CALLS % WAYS;
    setenv("LAZULI_LOG", "debug", 1);
    pid_t self = getpid();
    lz_set_log_callback(log_nothing, NULL);
    ck_assert(works());
    lz_set_log_callback(NULL, NULL);
    if (_i % CALLS)
        setenv("LAZULI_LOG", "error", 1);
    calls[_i % CALLS]();
    if (getpid() != self)
        _exit(refused() ? 0 : 1); /* the child that returned */
    lz_set_log_callback(log_nothing, NULL);
    lz_wait_device_ops();
    ck_assert_int_eq(atomic_load(&good), 1);
    ck_assert(works());
}
END_TEST

/* What was lent is given back in a child, too: nothing is touched there. */
START_TEST(deleters_return_in_a_child)
{
    struct DLManagedTensorVersioned *m;
    struct DLManagedTensor *old;
    OK(lz_to_dlpack(lz_ones(LZ_F32, LZ_SHAPE(4)), false, &m));
    OK(lz_to_dlpack_legacy(lz_ones(LZ_F32, LZ_SHAPE(4)), true, &old));
    pid_t pid = fork();
    if (pid == 0) {
        m->deleter(m);
        old->deleter(old);
        atomic_store(&made, 1);
        atomic_store(&good, 0);
        _exit(lz_to_dlpack(lz_ones(LZ_F32, LZ_SHAPE(4)), false, &m) == LZ_EFORK && !m ? 0 : 1);
    }
    ck_assert_int_eq(ended(pid), 0);
    m->deleter(m);
    old->deleter(old);
}
END_TEST

static void count_one(void *user)
{
    ++*(int *)user;
}

static void count_dlpack(struct DLManagedTensorVersioned *m)
{
    count_one(m->manager_ctx);
}

static void count_legacy(struct DLManagedTensor *m)
{
    count_one(m->manager_ctx);
}

/* What a child hands over is given back at once, as after every failure to take it. */
START_TEST(what_a_child_hands_over_is_released)
{
    ck_assert(works());
    pid_t pid = fork();
    if (pid == 0) {
        static float data[16];
        int n = 0;
        struct DLManagedTensorVersioned m = {
            .version = {1, 0}, .manager_ctx = &n, .deleter = count_dlpack};
        struct DLManagedTensor old = {.manager_ctx = &n, .deleter = count_legacy};
        bool told =
            lz_status_of(lz_from_borrowed(LZ_F32, LZ_SHAPE(16), data, count_one, &n)) == LZ_EFORK &&
            n == 1;
        told = told && lz_status_of(lz_from_dlpack(&m, true)) == LZ_EFORK && n == 2;
        told = told && lz_status_of(lz_from_dlpack_legacy(&old, true)) == LZ_EFORK && n == 3;
        _exit(told ? 0 : 1);
    }
    ck_assert_int_eq(ended(pid), 0);
}
END_TEST

/* ---- main ends by pthread_exit ---- */

static atomic_int handled;
static pthread_t handled_by;

static void handler(int sig)
{
    (void)sig;
    handled_by = pthread_self();
    atomic_store(&handled, 1);
}

/* As the threads of a device: it waits for work, for ever. */
static void *serves(void *unused)
{
    static _Atomic uint32_t word;
    while (lz_futex_wait(&word, 0, -1))
        ;
    return unused;
}

static void *computes(void *how)
{
    pthread_t server;
    atomic_store(&without_main, true);
    if (!works() || lz_thread_start(&server, "server", serves, NULL) != LZ_OK)
        _exit(3);
    if (how == handler) { /* signals are blocked here: the one that stands in for main takes it */
        kill(getpid(), SIGUSR1);
        while (!atomic_load(&handled))
            usleep(1000);
        if (pthread_equal(handled_by, pthread_self()))
            _exit(4);
    }
    if (how == sigwait) { /* main had blocked it: this one gets it */
        int sig;
        sigset_t s;
        sigemptyset(&s);
        sigaddset(&s, SIGUSR1);
        kill(getpid(), SIGUSR1);
        if (sigwait(&s, &sig) != 0 || sig != SIGUSR1)
            _exit(5);
    }
    if (how == pause)
        pause();
    return NULL;
}

/* The thread sanitizer has a thread of its own, which takes no signals and keeps the process of any
 * program whose main ended by pthread_exit: there only SIGTERM is looked at. */
#if defined(__SANITIZE_THREAD__)
static void *const ways[] = {pause};
#else
static void *const ways[] = {NULL, handler, sigwait, pause};
#endif
enum { WAYS_AFTER_MAIN = sizeof ways / sizeof *ways };

/* The thread ends, and with it the process, without a signal. Where it does not end, SIGTERM is
 * taken. */
START_TEST(the_process_ends_after_main)
{
    void *how = ways[_i % WAYS_AFTER_MAIN];
    bool used_by_main = _i / WAYS_AFTER_MAIN;
    int ready[2];
    char c;
    ck_assert_int_eq(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        sigset_t s;
        pthread_t t;
        alarm(HANGS_S);
        sigemptyset(&s);
        sigaddset(&s, SIGUSR1);
        signal(SIGTERM, SIG_DFL); /* not as Check handles it */
        signal(SIGUSR1, how == handler ? handler : SIG_DFL);
        if (used_by_main && !works())
            _exit(2);
        if (how == sigwait)
            pthread_sigmask(SIG_BLOCK, &s, NULL);
        sigset_t all, old;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &old);
        if (pthread_create(&t, NULL, computes, how))
            _exit(2);
        pthread_sigmask(SIG_SETMASK, &old, NULL);
        if (write(ready[1], "", 1) != 1)
            _exit(2);
        pthread_exit(NULL);
    }
    ck_assert_int_eq(read(ready[0], &c, 1), 1);
    if (how == pause)
        kill(pid, SIGTERM);
    int status = ended(pid);
    if (how == pause)
        ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    else
        ck_assert_int_eq(status, 0);
}
END_TEST

int main(void)
{
    rt_use(getenv("RT_DEVICE") ? getenv("RT_DEVICE") : "REF");
    Suite *s = suite_create("fork");
    TCase *t = tcase_create("fork");
    tcase_add_loop_test(t, a_child_forked_before_the_first_operation_works, 0, BEFORE + 1);
    if (sysconf(_SC_PAGESIZE) == LZ_FORK_PAGE)
        tcase_add_test(t, a_child_is_told_however_it_was_made);
    else
        printf("a_child_is_told_however_it_was_made is left out: pages are not of %d bytes\n",
               (int)LZ_FORK_PAGE);
    tcase_add_test(t, other_programs_can_be_started);
    tcase_add_loop_test(t, a_callback_may_fork, 0, CALLS * WAYS);
    tcase_add_test(t, deleters_return_in_a_child);
    tcase_add_test(t, what_a_child_hands_over_is_released);
    tcase_add_loop_test(t, the_process_ends_after_main, 0, 2 * WAYS_AFTER_MAIN);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
