/* t_event_queue.c - events complete once and carry errors by value; a queue runs its items one by
 * one, in order. */
#include "backends/backend.h"
#include "base/alloc.h"
#include "base/thread.h"
#include "suite.h"
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- events ---- */

START_TEST(event_success_and_error)
{
    lz_event *e = lz_event_new();
    ck_assert(!lz_event_done(e));
    lz_event_complete(e, NULL);
    ck_assert(lz_event_done(e));
    lz_error_clear();
    ck_assert_int_eq(lz_event_wait(e), LZ_OK);
    ck_assert_int_eq(lz_error_get()->status, LZ_OK);
    lz_event_release(e);
    ck_assert_int_eq(lz_event_wait(NULL), LZ_OK);
    lz_event_release(NULL);

    e = lz_event_new();
    lz_error err = {.status = LZ_EDEVICE, .line = 7};
    strcpy(err.file, "user.c");
    strcpy(err.message, "it broke");
    lz_event_complete(e, &err);
    for (int i = 0; i < 2; i++) {
        lz_error_clear();
        ck_assert_int_eq(lz_event_wait(e), LZ_EDEVICE);
        ck_assert_str_eq(lz_error_get()->message, "it broke");
        ck_assert_int_eq(lz_error_get()->line, 7);
    }
    lz_event_release(e);
    lz_alloc_fail_at(1, true);
    lz_event *some[100]; /* a few wait to be used again, but not that many */
    int n = 0;
    while (n < 100 && (some[n] = lz_event_new()) != NULL)
        n++;
    ck_assert_int_lt(n, 100);
    ck_assert_int_eq(lz_error_get()->status, LZ_EMEM);
    lz_alloc_fail_at(0, false);
    while (n)
        lz_event_release(some[--n]);
}
END_TEST

typedef struct handoff {
    lz_event *e;
    int value;
} handoff;

static void *waiter(void *arg)
{
    handoff *h = arg;
    lz_status s = lz_event_wait(h->e);
    int seen = h->value;
    lz_event_release(h->e);
    return (void *)(intptr_t)(s == LZ_OK ? seen : -1);
}

START_TEST(event_wakes_every_waiter)
{
    for (int round = 0; round < 60; round++) {
        handoff h = {lz_event_new(), 0};
        pthread_t t[3];
        for (int i = 0; i < 3; i++) {
            lz_event_retain(h.e);
            pthread_create(&t[i], NULL, waiter, &h);
        }
        if (round % 3 == 0)
            usleep(300); /* let them sleep */
        h.value = 1000 + round;
        lz_event_complete(h.e, NULL);
        lz_event_release(h.e);
        for (int i = 0; i < 3; i++) {
            void *got;
            pthread_join(t[i], &got);
            ck_assert_int_eq((int)(intptr_t)got, 1000 + round);
        }
    }
}
END_TEST

/* One execution whose event is waited for after nap_us, or not at all (negative). */
static void once(int nap_us)
{
    lz_event *e = lz_event_new();
    lz_event_complete(e, NULL);
    lz_event_started(e);
    if (nap_us > 0)
        usleep((useconds_t)nap_us);
    if (nap_us >= 0)
        ck_assert_int_eq(lz_event_wait(e), LZ_OK);
    lz_event_release(e);
}

static void until_sure(void)
{
    for (int i = 0; i < 100000 && !lz_event_awaited_lately(); i++)
        once(0); /* some are interrupted */
    ck_assert(lz_event_awaited_lately());
}

static void *no_habit(void *arg)
{
    (void)arg;
    return (void *)(intptr_t)lz_event_awaited_lately();
}

START_TEST(a_thread_that_waits_at_once_is_known)
{
    ck_assert(!lz_event_awaited_lately());
    until_sure();
    once(1000); /* something else came first */
    ck_assert(!lz_event_awaited_lately());
    for (int i = 0; i < 1000; i++) /* of a long habit one that came late is forgotten */
        once(0);
    once(1000);
    ck_assert(lz_event_awaited_lately());
    for (int i = 0; i < 8; i++)
        once(1000);
    ck_assert(!lz_event_awaited_lately());
    until_sure();
    once(-1); /* one that nobody waits for is seen when the next one starts */
    once(-1);
    ck_assert(!lz_event_awaited_lately());
    until_sure();
    pthread_t t;
    void *other;
    pthread_create(&t, NULL, no_habit, NULL);
    pthread_join(t, &other);
    ck_assert_ptr_null(other);
}
END_TEST

/* ---- queues ---- */

typedef struct log {
    int *at;
    int value;
    int *seen;
    int nap_us;
} note;

static void take_note(void *arg)
{
    note *n = arg;
    if (n->nap_us)
        usleep((useconds_t)n->nap_us);
    n->seen[(*n->at)++] = n->value;
}

START_TEST(items_run_in_order)
{
    enum { N = 3000 };
    static int seen[N], at;
    static note notes[N];
    lz_queue *q = lz_queue_new("test");
    for (int i = 0; i < N; i++) {
        notes[i] = (note){&at, i, seen, i % 500 == 0 ? 200 : 0};
        ck_assert_int_eq(lz_queue_push(q, take_note, &notes[i], i % 3 == 0), LZ_OK);
        if (i % 701 == 0)
            lz_queue_drain(q);
        if (i % 997 == 0)
            usleep(300); /* the thread falls asleep */
    }
    lz_queue_drain(q);
    ck_assert_int_eq(at, N);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(seen[i], i);
    lz_queue_free(q);
    lz_queue_free(NULL);
}
END_TEST

static void who(void *arg)
{
    *(pthread_t *)arg = pthread_self();
}

static void block(void *arg)
{
    (void)lz_latch_wait(arg, -1);
}

START_TEST(inline_only_when_idle)
{
    lz_latch gate = {0};
    pthread_t t;
    lz_queue *q = lz_queue_new("test");
    int64_t count = lz_alloc_live_bytes_hint();
    ck_assert_int_eq(lz_queue_push(q, who, &t, true), LZ_OK);
    ck_assert(pthread_equal(t, pthread_self()));
    ck_assert_int_eq(lz_alloc_live_bytes_hint(), count); /* no thread, no item */
    ck_assert_int_eq(lz_queue_push(q, who, &t, false), LZ_OK);
    lz_queue_drain(q);
    ck_assert(!pthread_equal(t, pthread_self()));
    ck_assert_int_eq(lz_queue_push(q, block, &gate, false), LZ_OK);
    ck_assert_int_eq(lz_queue_push(q, who, &t, true), LZ_OK); /* must not overtake */
    lz_latch_set(&gate);
    lz_queue_drain(q);
    ck_assert(!pthread_equal(t, pthread_self()));
    lz_queue_free(q);
}
END_TEST

typedef struct later {
    pthread_t by;
    lz_event *e;
} later;

static void run_later(void *arg)
{
    later *l = arg;
    l->by = pthread_self();
    lz_event_complete(l->e, NULL);
}

static bool by_me(later *l)
{
    ck_assert_int_eq(lz_event_wait(l->e), LZ_OK);
    lz_event_release(l->e);
    l->e = lz_event_new();
    return pthread_equal(l->by, pthread_self());
}

/* The thread that gave it runs it when it holds no lock, or waits; or the queue's thread has. */
START_TEST(runs_when_no_lock_is_held)
{
    lz_mutex m;
    lz_latch gate = {0};
    pthread_t t;
    lz_mutex_init(&m, "outer");
    lz_queue *q = lz_queue_new("test"), *q2 = lz_queue_new("test2");
    later l = {.e = lz_event_new()}, l2 = {.e = lz_event_new()};
    ck_assert_int_eq(lz_queue_push_unlocked(q, run_later, &l), LZ_OK);
    ck_assert(lz_event_done(l.e));
    ck_assert(by_me(&l));
    for (int i = 0; i < 100; i++) {
        lz_mutex_lock(&m);
        ck_assert_int_eq(lz_queue_push_unlocked(q, run_later, &l), LZ_OK);
        ck_assert(!lz_event_done(l.e));
        if (i % 4 == 0) /* a wait under the lock comes first */
            ck_assert(by_me(&l));
        if (i % 4 == 1)
            lz_queue_drain(q);
        if (i % 4 == 2) { /* of two queues the second one has its thread */
            ck_assert_int_eq(lz_queue_push_unlocked(q2, run_later, &l2), LZ_OK);
            ck_assert(!by_me(&l2));
        }
        lz_mutex_unlock(&m);
        if (i % 4) {
            ck_assert(lz_event_done(l.e));
            ck_assert(by_me(&l));
        }
    }
    for (int i = 0; i < 100; i++) { /* what follows wakes the queue's thread for both */
        lz_mutex_lock(&m);
        ck_assert_int_eq(lz_queue_push_unlocked(q, run_later, &l), LZ_OK);
        ck_assert_int_eq(lz_queue_push(q, who, &t, i % 2), LZ_OK);
        for (int k = 0; k < i % 3; k++)
            ck_assert_int_eq(lz_queue_push_unlocked(q, who, &t), LZ_OK);
        lz_mutex_unlock(&m);
        lz_queue_drain(q);
        (void)by_me(&l);
        ck_assert(!pthread_equal(t, pthread_self()) || i % 3);
    }
    ck_assert_int_eq(lz_queue_push(q, block, &gate, false), LZ_OK);
    lz_mutex_lock(&m);
    ck_assert_int_eq(lz_queue_push_unlocked(q, run_later, &l), LZ_OK); /* must not overtake */
    lz_mutex_unlock(&m);
    ck_assert(!lz_event_done(l.e));
    lz_latch_set(&gate);
    ck_assert(!by_me(&l));
    lz_event_release(l.e);
    lz_event_release(l2.e);
    lz_queue_free(q);
    lz_queue_free(q2);
    lz_mutex_destroy(&m);
}
END_TEST

typedef struct shared {
    lz_queue *q;
    _Atomic int running, done;
    bool overlapped;
    int plain; /* written by items without a lock: the queue must order them */
} shared;

static void exclusive(void *arg)
{
    shared *s = arg;
    if (atomic_fetch_add(&s->running, 1))
        s->overlapped = true;
    s->plain++;
    atomic_fetch_sub(&s->running, 1);
    atomic_fetch_add(&s->done, 1);
}

static void *pusher(void *arg)
{
    shared *s = arg;
    for (int i = 0; i < 2000; i++)
        if (lz_queue_push(s->q, exclusive, s, i & 1) != LZ_OK)
            return arg;
    return NULL;
}

START_TEST(many_pushers_one_runner)
{
    shared s = {.q = lz_queue_new("test")};
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, pusher, &s);
    for (int i = 0; i < 4; i++) {
        void *bad;
        pthread_join(t[i], &bad);
        ck_assert_ptr_null(bad);
    }
    lz_queue_free(s.q); /* drains */
    ck_assert_int_eq(s.done, 8000);
    ck_assert_int_eq(s.plain, 8000);
    ck_assert(!s.overlapped);
}
END_TEST

START_TEST(push_fails_cleanly)
{
    pthread_t t;
    lz_queue *q = lz_queue_new("test");
    ck_assert_int_eq(lz_queue_push(q, who, &t, false), LZ_OK);
    lz_queue_drain(q);
    lz_queue_free(q);
    q = lz_queue_new("test");
    lz_alloc_fail_at(1, false);
    ck_assert_int_eq(lz_queue_push(q, who, &t, false), LZ_EMEM);
    ck_assert_int_eq(lz_queue_push(q, who, &t, false), LZ_OK);
    lz_queue_free(q);
    lz_alloc_fail_at(1, false);
    ck_assert_ptr_null(lz_queue_new("test"));
}
END_TEST

START_TEST(a_forked_child_is_told)
{
    pthread_t t;
    lz_queue *q = lz_queue_new("test");
    ck_assert_int_eq(lz_queue_push(q, who, &t, false), LZ_OK);
    lz_queue_drain(q);
    lz_event *e = lz_event_new();
    pid_t pid = fork();
    if (pid == 0) {
        bool ok = lz_queue_push(q, who, &t, false) == LZ_EFORK && lz_event_wait(e) == LZ_EFORK;
        lz_queue_drain(q);
        lz_queue_free(q);
        _exit(ok ? 0 : 1);
    }
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    lz_event_release(e);
    lz_queue_free(q);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("event_queue");
    TCase *t = tcase_create("event");
    tcase_set_timeout(t, 30);
    tcase_add_test(t, event_success_and_error);
    tcase_add_test(t, event_wakes_every_waiter);
    tcase_add_test(t, a_thread_that_waits_at_once_is_known);
    suite_add_tcase(s, t);
    t = tcase_create("queue");
    tcase_set_timeout(t, 30);
    tcase_add_test(t, items_run_in_order);
    tcase_add_test(t, inline_only_when_idle);
    tcase_add_test(t, runs_when_no_lock_is_held);
    tcase_add_test(t, many_pushers_one_runner);
    tcase_add_test(t, push_fails_cleanly);
    tcase_add_test(t, a_forked_child_is_told);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
