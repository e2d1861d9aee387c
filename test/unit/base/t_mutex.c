/* t_mutex.c - locks, what is put off until a thread holds none, and (with LZ_DEBUG) the mistakes
 * that end the process. */
#include "base/alloc.h"
#include "base/fork.h"
#include "base/mutex.h"
#include "base/thread.h"
#include "suite.h"
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static lz_mutex a = LZ_MUTEX_INIT("a"), b = LZ_MUTEX_INIT("b");

static char order[16];
typedef struct letter {
    lz_unlocked_call call;
    char text[2];
} letter;

static void write_letter(lz_unlocked_call *call)
{
    ck_assert(lz_unlocked_now());
    lz_assert_unlocked("a test");
    strcat(order, ((letter *)call)->text);
}

START_TEST(calls_wait_for_the_last_lock)
{
    letter l[4] = {{{0}, "1"}, {{0}, "2"}, {{0}, "3"}, {{0}, "4"}};
    for (int i = 0; i < 4; i++)
        l[i].call.fn = write_letter;
    lz_mutex_lock(&a);
    lz_call_unlocked(&l[0].call);
    ck_assert(lz_mutex_trylock(&b));
    lz_put_off_begin();
    lz_call_unlocked(&l[1].call);
    lz_mutex_unlock(&b);
    lz_mutex_unlock(&a);
    ck_assert_str_eq(order, "");
    lz_call_unlocked(&l[2].call);
    lz_put_off_end();
    ck_assert_str_eq(order, "123");
    lz_call_unlocked(&l[3].call);
    ck_assert_str_eq(order, "1234");
}
END_TEST

static letter inner = {{0}, "i"};
static void takes_locks(lz_unlocked_call *call)
{
    inner.call.fn = write_letter;
    lz_mutex_lock(&a); /* the one whose release made this call */
    lz_call_unlocked(&inner.call);
    lz_mutex_unlock(&a);
    lz_call_unlocked(&(letter){{NULL, write_letter}, "o"}.call);
    (void)call;
}

START_TEST(a_call_may_lock)
{
    lz_unlocked_call one = {.fn = takes_locks};
    lz_mutex_lock(&a);
    lz_call_unlocked(&one);
    lz_mutex_unlock(&a);
    ck_assert_str_eq(order, "oi");
}
END_TEST

static lz_once once = LZ_ONCE_INIT;
static letter late = {{0}, "l"};
static void first(void)
{
    late.call.fn = write_letter;
    lz_call_unlocked(&late.call);
    ck_assert_str_eq(order, "");
}

START_TEST(once_is_a_lock)
{
    lz_once_run(&once, first);
    ck_assert_str_eq(order, "l");
    lz_once_run(&once, first);
    ck_assert_str_eq(order, "l");
}
END_TEST

static lz_cond turned = LZ_COND_INIT;
static bool turn;
static void *wait_for_turn(void *arg)
{
    letter l = {{NULL, write_letter}, "w"};
    lz_mutex_lock(&a);
    lz_call_unlocked(&l.call);
    while (!turn)
        lz_cond_wait(&turned, &a);
    lz_mutex_unlock(&a);
    return arg;
}

START_TEST(waiting_gives_the_lock_up)
{
    pthread_t t;
    ck_assert_int_eq(pthread_create(&t, NULL, wait_for_turn, NULL), 0);
    lz_mutex_lock(&a);
    turn = true;
    lz_cond_broadcast(&turned);
    lz_mutex_unlock(&a);
    pthread_join(t, NULL);
    ck_assert_str_eq(order, "w");
}
END_TEST

/* ---- mistakes ---- */

#ifdef LZ_DEBUG
static lz_mutex c = LZ_MUTEX_INIT("c");

static void call_under_a_lock(void)
{
    lz_mutex_lock(&a);
    lz_assert_unlocked("a test");
}

static void lock_twice(void)
{
    lz_mutex_lock(&a);
    lz_mutex_lock(&a);
}

static void unlock_without_lock(void)
{
    lz_mutex_unlock(&a);
}

static void lock_under_a_leaf(void)
{
    lz_mutex_lock_leaf(&a);
    lz_mutex_lock(&b);
}

static void nothing(lz_unlocked_call *call)
{
    (void)call;
}

static void put_off_under_a_leaf(void)
{
    lz_unlocked_call call = {.fn = nothing};
    lz_mutex_lock_leaf(&a);
    lz_call_unlocked(&call);
}

static void either_order(void)
{
    lz_mutex_lock(&a);
    lz_mutex_lock(&b);
    lz_mutex_unlock(&b);
    lz_mutex_unlock(&a);
    lz_mutex_lock(&b);
    lz_mutex_lock(&a);
}

static void in_a_circle(void)
{
    lz_mutex *pair[3][2] = {{&a, &b}, {&b, &c}, {&c, &a}};
    for (int i = 0; i < 3; i++) {
        lz_mutex_lock(pair[i][0]);
        lz_mutex_lock(pair[i][1]);
        lz_mutex_unlock(pair[i][1]);
        lz_mutex_unlock(pair[i][0]);
    }
}

static void once_in_itself(void)
{
    static lz_once again = LZ_ONCE_INIT;
    lz_once_run(&again, once_in_itself);
}

static int a_public_function(void)
{
    LZ_PUBLIC(1);
    return 0;
}
static void *alloc_that_calls(size_t nbytes, void *user)
{
    (void)user;
    return a_public_function() == 0 ? malloc(nbytes) : NULL;
}
static void *no_realloc(void *p, size_t nbytes, void *user)
{
    (void)p, (void)nbytes, (void)user;
    return NULL;
}
static void no_free(void *p, void *user)
{
    (void)p, (void)user;
}

static void allocator_calls_the_library(void)
{
    const lz_alloc_hooks h = {alloc_that_calls, no_realloc, no_free, NULL};
    if (lz_alloc_set_hooks(&h))
        (void)lz_alloc(1);
}

static const struct {
    void (*fn)(void);
    const char *says;
} mistakes[] = {
    {allocator_calls_the_library, "allocator of the program calls the library: a_public_function"},
    {call_under_a_lock, "called under a lock: a test; the thread holds: a\n"},
    {lock_twice, "taken twice: a; the thread holds: a\n"},
    {lock_under_a_leaf, "taken under a leaf: b; the thread holds: a\n"},
    {put_off_under_a_leaf, "put off under a leaf: lz_call_unlocked; the thread holds: a\n"},
    {unlock_without_lock, "does not hold: a;"},
    {either_order, "either order: a; the thread holds: b\n"},
    {in_a_circle, "either order: a; the thread holds: c\n"},
    {once_in_itself, "waits for itself"},
};
enum { NMISTAKES = sizeof mistakes / sizeof mistakes[0] };

START_TEST(mistakes_end_the_process)
{
    int fds[2], st = 0;
    char text[512];
    ck_assert_int_eq(pipe(fds), 0);
    pid_t p = fork();
    if (p == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(fds[1], STDERR_FILENO);
        mistakes[_i].fn();
        _exit(0);
    }
    close(fds[1]);
    size_t have = 0;
    for (ssize_t n; (n = read(fds[0], text + have, sizeof text - 1 - have)) > 0;)
        have += (size_t)n;
    text[have] = '\0';
    close(fds[0]);
    waitpid(p, &st, 0);
    ck_assert(WIFSIGNALED(st) && WTERMSIG(st) == SIGABRT);
    ck_assert_ptr_nonnull(strstr(text, mistakes[_i].says));
}
END_TEST
#endif

int main(void)
{
    Suite *s = suite_create("mutex");
    TCase *t = tcase_create("mutex");
    tcase_add_test(t, calls_wait_for_the_last_lock);
    tcase_add_test(t, a_call_may_lock);
    tcase_add_test(t, once_is_a_lock);
    tcase_add_test(t, waiting_gives_the_lock_up);
#ifdef LZ_DEBUG
    tcase_add_loop_test(t, mistakes_end_the_process, 0, NMISTAKES);
#endif
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
