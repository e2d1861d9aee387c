/* t_signals.c - A18: signals that arrive all the time while graphs are compiled, stored, found and
 * run interrupt nothing, and the library installs no handler of its own. */
#include "../unit/runtime/rt.h"
#include <signal.h>
#include <sys/time.h>

static volatile sig_atomic_t arrived;
static void count(int sig)
{
    (void)sig;
    arrived++;
}

/* Without SA_RESTART: what waits is interrupted. */
static void storm(int microseconds)
{
    struct sigaction a = {.sa_handler = count};
    struct itimerval every = {{0, microseconds}, {0, microseconds}};
    sigemptyset(&a.sa_mask);
    ck_assert_int_eq(sigaction(SIGALRM, &a, NULL), 0);
    ck_assert_int_eq(sigaction(SIGTERM, &a, NULL), 0);
    ck_assert_int_eq(sigaction(SIGINT, &a, NULL), 0);
    ck_assert_int_eq(setitimer(ITIMER_REAL, &every, NULL), 0);
}

/* Another graph for each n. */
static void compute(int n)
{
    lz_scope_begin();
    lz_tensor *x = lz_full(LZ_F32, LZ_SHAPE(n + 2, 3), 1);
    for (int i = 0; i < n % 5; i++)
        x = lz_add(x, x);
    float got[64 * 3];
    OK(lz_to_host(lz_sum(x, .dims = LZ_DIM(1)), got, sizeof got));
    for (int i = 0; i < n + 2; i++)
        ck_assert(got[i] == (float)(3 << n % 5));
    lz_scope_end();
}

START_TEST(storms)
{
    rt_use(rt_devices[_i]);
    storm(300);
    for (int round = 0; round < 2; round++) /* compiled, then found */
        for (int n = 0; n < 24; n++) {
            compute(n);
            ck_assert_int_eq(raise(n % 2 ? SIGTERM : SIGINT), 0);
        }
    ck_assert_int_gt(arrived, 20);
    OK(lz_wait_device_ops());
}
END_TEST

START_TEST(no_handlers)
{
    struct sigaction before[NSIG], after;
    bool known[NSIG];
    for (int sig = 1; sig < NSIG; sig++)
        known[sig] = sigaction(sig, NULL, &before[sig]) == 0;
    rt_use(rt_devices[_i]);
    compute(3);
    for (int sig = 1; sig < NSIG; sig++)
        if (known[sig] && sigaction(sig, NULL, &after) == 0)
            ck_assert_msg(after.sa_handler == before[sig].sa_handler, "signal %d", sig);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("signals");
    TCase *t = tcase_create("A18");
    tcase_add_loop_test(t, storms, 0, 2);
    tcase_add_loop_test(t, no_handlers, 0, 2);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
