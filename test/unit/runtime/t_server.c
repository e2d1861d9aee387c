/* t_server.c - the server that lets others watch the process: statistics and captures, and what it
 * refuses: other versions, what is no question, too many, the slow; its end in all the ways there
 * are, and children of a fork. */
#include "rt.h"
#include "backends/distributed/net.h"
#include "base/thread.h"
#include "base/timeline/timeline.h"
#include "runtime/watch/message.h"
#include "runtime/watch/server.h"
#include <pthread.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { PATIENCE_S = 20 };

static void choose_device(void)
{
    rt_use(rt_devices[1]);
}

static int64_t deadline(void)
{
    return lz_now_ns() + (int64_t)PATIENCE_S * 1000000000;
}

static int start(void)
{
    OK(lz_start_server(0));
    int port = lz_server_port();
    ck_assert_int_gt(port, 0);
    return port;
}

static int connect_to(int port)
{
    int fd;
    OK(lz_net_connect("127.0.0.1", port, deadline(), &fd));
    return fd;
}

static void ask(int fd, const lz_watch_ask *a)
{
    lz_buf b = {0};
    lz_watch_put_ask(&b, a);
    OK(lz_net_send(fd, LZ_WIRE_ASK, 0, &b, deadline()));
    lz_buf_free(&b);
}

static lz_wire_type answer(int fd, lz_buf *b)
{
    lz_wire_header h;
    OK(lz_net_receive(fd, &h, b, deadline()));
    return h.type;
}

static lz_watch_statistics statistics(int port)
{
    lz_watch_statistics s;
    lz_buf b = {0};
    int fd = connect_to(port);
    ask(fd, &(lz_watch_ask){LZ_WATCH_VERSION, LZ_WATCH_STATISTICS, 0});
    ck_assert_int_eq(answer(fd, &b), LZ_WIRE_STATISTICS);
    OK(lz_watch_get_statistics(b.data, b.len, &s));
    lz_wire_header none; /* when the server has closed it, it holds no memory for it any more */
    ck_assert_int_eq(lz_net_receive(fd, &none, &b, deadline()), LZ_EIO);
    lz_buf_free(&b);
    lz_net_close(&fd);
    return s;
}

static void refused(int fd, lz_status status, const char *text)
{
    lz_wire_refuse no;
    lz_buf b = {0};
    ck_assert_int_eq(answer(fd, &b), LZ_WIRE_REFUSE);
    OK(lz_wire_get_refuse(b.data, b.len, &no));
    ck_assert_int_eq(no.status, status);
    ck_assert_msg(strstr(no.text, text) != NULL, "\"%s\" lacks \"%s\"", no.text, text);
    lz_buf_free(&b);
    lz_net_close(&fd);
}

/* ---- what it answers ---- */

START_TEST(counts)
{
    int port = start();
    lz_watch_statistics was = statistics(port);
    ck_assert_uint_eq(was.pid, (uint32_t)getpid());
    ck_assert_uint_eq(was.size, 1);
    ck_assert_uint_eq(was.ndevice, 0); /* asking starts none */
    ck_assert_uint_gt(was.resident_bytes, 0);
    for (int i = 0; i < 5; i++)
        rt_step();
    lz_watch_statistics is = statistics(port);
    ck_assert_uint_eq(is.steps, 5);
    ck_assert_uint_eq(is.compilations, is.memory_misses);
    ck_assert_uint_gt(is.memory_hits, 0);
    ck_assert_uint_gt(is.executions, 0);
    ck_assert_uint_eq(is.ndevice, 1);
    char name[64];
    ck_assert_uint_lt(lz_get_device(name, sizeof name), sizeof name);
    ck_assert_str_eq(is.device[0].name, name);
    ck_assert_uint_gt(is.now_ns, was.now_ns);
    OK(lz_stop_server());
    ck_assert_int_eq(lz_server_port(), 0);
}
END_TEST

typedef struct captured {
    int messages, kernels, steps;
    lz_watch_end end;
} captured;

static void count_events(const lz_buf *b, captured *out)
{
    lz_rd r = {(const uint8_t *)b->data, (const uint8_t *)b->data + b->len, false, false};
    lz_trace_event e;
    while (b->len && lz_trace_event_get(&r, &e)) {
        out->kernels += lz_trace_text_is(e.category, "kernel");
        out->steps += lz_trace_text_is(e.name, "lz_mark_step");
    }
    ck_assert(!r.failed);
    out->messages++;
}

static captured receive_all(int fd)
{
    captured c = {0};
    lz_watch_origin o;
    lz_buf b = {0};
    ck_assert_int_eq(answer(fd, &b), LZ_WIRE_ORIGIN);
    OK(lz_watch_get_origin(b.data, b.len, &o));
    ck_assert_uint_eq(o.pid, (uint32_t)getpid());
    lz_wire_type type;
    while ((type = answer(fd, &b)) == LZ_WIRE_EVENTS)
        count_events(&b, &c);
    ck_assert_int_eq(type, LZ_WIRE_END);
    OK(lz_watch_get_end(b.data, b.len, &c.end));
    lz_buf_free(&b);
    return c;
}

static atomic_bool stop;
static void *steps(void *unused)
{
    while (!atomic_load(&stop))
        rt_step();
    return unused;
}

START_TEST(captures)
{
    pthread_t t;
    int port = start();
    rt_step();
    pthread_create(&t, NULL, steps, NULL);
    int fd = connect_to(port), other = connect_to(port);
    ask(fd, &(lz_watch_ask){LZ_WATCH_VERSION, LZ_WATCH_CAPTURE, 300});
    ask(other, &(lz_watch_ask){LZ_WATCH_VERSION, LZ_WATCH_CAPTURE, 100}); /* at the same time */
    (void)statistics(port);                                               /* meanwhile */
    captured a = receive_all(fd), b = receive_all(other);
    ck_assert_int_gt(a.kernels, 0);
    ck_assert_int_gt(a.steps, 0);
    ck_assert_int_gt(a.messages, 1);
    ck_assert_int_gt(b.kernels, 0);
    ck_assert_int_ge(a.end.ns, 300000000);
    ck_assert_uint_eq(a.end.dropped, 0);
    ck_assert(!lz_timeline_on());
    atomic_store(&stop, true);
    pthread_join(t, NULL);
    lz_net_close(&fd);
    lz_net_close(&other);
}
END_TEST

/* Whoever goes away takes the capture with him. */
START_TEST(a_client_that_goes)
{
    int port = start(), fd = connect_to(port);
    lz_buf b = {0};
    ask(fd, &(lz_watch_ask){LZ_WATCH_VERSION, LZ_WATCH_CAPTURE, LZ_WATCH_LONGEST_MS});
    ck_assert_int_eq(answer(fd, &b), LZ_WIRE_ORIGIN);
    ck_assert(lz_timeline_on());
    lz_net_close(&fd);
    for (int i = 0; lz_timeline_on() && i < 1000 * PATIENCE_S; i++)
        usleep(1000);
    ck_assert(!lz_timeline_on());
    lz_buf_free(&b);
}
END_TEST

/* ---- what it refuses ---- */

START_TEST(refusals)
{
    int port = start();
    int fd = connect_to(port);
    ask(fd, &(lz_watch_ask){LZ_WATCH_VERSION + 1, LZ_WATCH_CAPTURE, 100});
    refused(fd, LZ_EUNAVAILABLE, "version");
    fd = connect_to(port);
    ask(fd, &(lz_watch_ask){LZ_WATCH_VERSION, LZ_WATCH_CAPTURE, 0});
    refused(fd, LZ_EPARSE, "question");
    fd = connect_to(port);
    OK(lz_net_send(fd, LZ_WIRE_BEAT, 0, NULL, deadline()));
    refused(fd, LZ_EPARSE, "question");
    fd = connect_to(port);
    static const char http[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    ck_assert_int_eq(send(fd, http, sizeof http - 1, MSG_NOSIGNAL), sizeof http - 1);
    refused(fd, LZ_EPARSE, "no frame");
    uint8_t head[LZ_WIRE_HEADER];
    lz_wire_put_header(head, &(lz_wire_header){LZ_WIRE_ASK, 0, UINT64_C(1) << 40});
    fd = connect_to(port);
    ck_assert_int_eq(send(fd, head, sizeof head, MSG_NOSIGNAL), sizeof head);
    refused(fd, LZ_EPARSE, "announced");
    (void)statistics(port); /* it goes on */
}
END_TEST

START_TEST(too_many_and_too_slow)
{
    int port = start(), fd[LZ_SERVER_CONNECTIONS];
    for (int i = 0; i < LZ_SERVER_CONNECTIONS; i++)
        fd[i] = connect_to(port); /* they say nothing */
    refused(connect_to(port), LZ_EUNAVAILABLE, "too many");
    for (int i = 0; i < LZ_SERVER_CONNECTIONS; i++)
        refused(fd[i], LZ_ETIMEOUT, "in time");
    (void)statistics(port);
}
END_TEST

START_TEST(errors)
{
    FAILS(lz_start_server(-1), LZ_EINVAL, "port");
    FAILS(lz_start_server(65536), LZ_EINVAL, "port");
    FAILS(lz_stop_server(), LZ_ESTATE, "no server");
    int port = start();
    FAILS(lz_start_server(0), LZ_ESTATE, "runs already");
    OK(lz_stop_server());
    int fd;
    OK(lz_net_listen_strictly("127.0.0.1", port, &fd));
    FAILS(lz_start_server(port), LZ_EUNAVAILABLE, "in use");
    lz_net_close(&fd);
    OK(lz_start_server(port));
    OK(lz_stop_server());
    /* An address that is not this machine's is not taken for all. */
    ck_assert_int_eq(lz_server_start("192.0.2.1", 0), LZ_EUNAVAILABLE);
    ck_assert_int_eq(lz_server_port(), 0);
}
END_TEST

/* ---- its end ---- */

static int captured_until(void (*ends)(void), int port, bool *ended)
{
    int fd = connect_to(port), n = 0;
    lz_buf b = {0};
    lz_wire_header h;
    ask(fd, &(lz_watch_ask){LZ_WATCH_VERSION, LZ_WATCH_CAPTURE, LZ_WATCH_LONGEST_MS});
    ck_assert_int_eq(answer(fd, &b), LZ_WIRE_ORIGIN);
    ends();
    *ended = false;
    while (lz_net_receive(fd, &h, &b, deadline()) == LZ_OK) {
        n += h.type == LZ_WIRE_EVENTS && b.len > 0;
        *ended |= h.type == LZ_WIRE_END;
    }
    lz_buf_free(&b);
    lz_net_close(&fd);
    return n;
}

static void stops(void)
{
    rt_step();
    OK(lz_stop_server());
}

START_TEST(stopped_while_capturing)
{
    bool ended;
    ck_assert_int_gt(captured_until(stops, start(), &ended), 0);
    ck_assert(ended);
    ck_assert(!lz_timeline_on());
}
END_TEST

static int go[2];
static void lets_it_exit(void)
{
    ck_assert_int_eq(write(go[1], "x", 1), 1);
}

START_TEST(the_process_ends_while_capturing)
{
    int up[2], port, status;
    char c;
    bool ended;
    ck_assert_int_eq(pipe(go), 0);
    ck_assert_int_eq(pipe(up), 0);
    pid_t pid = fork();
    if (pid == 0) {
        port = start();
        if (write(up[1], &port, sizeof port) != sizeof port || read(go[0], &c, 1) != 1)
            _exit(1);
        rt_step();
        exit(0);
    }
    ck_assert_int_eq(read(up[0], &port, sizeof port), sizeof port);
    ck_assert_int_gt(captured_until(lets_it_exit, port, &ended), 0);
    ck_assert(ended);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}
END_TEST

/* A child has no server, nor holds the parent's port; forked before the library is armed it may
 * start one of its own. */
START_TEST(forked)
{
    int port = start(), status;
    (void)statistics(port);
    pid_t pid = fork();
    if (pid == 0) {
        if (lz_server_port() != 0 || lz_stop_server() != LZ_ESTATE)
            _exit(1);
        rt_step();
        if (start() == port)
            _exit(2);
        exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    (void)statistics(port);
    rt_step();
    pid = fork();
    if (pid == 0) {
        bool off = lz_server_port() == 0 && lz_start_server(0) == LZ_EFORK;
        pause();
        _exit(off ? 0 : 1);
    }
    (void)statistics(port);
    OK(lz_stop_server());
    OK(lz_start_server(port)); /* while the child lives */
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
}
END_TEST

START_TEST(by_the_environment)
{
    setenv("LAZULI_SERVER", "0", 1);
    ck_assert_int_eq(lz_server_port(), 0);
    rt_step();
    ck_assert_int_gt(lz_server_port(), 0);
    ck_assert_uint_eq(statistics(lz_server_port()).steps, 1);
}
END_TEST

static const char *const bad[] = {"x", "1x", "65536", ":1", "127.0.0.1:", "192.0.2.1:0"};
START_TEST(bad_environments)
{
    setenv("LAZULI_SERVER", bad[_i], 1);
    setenv("LAZULI_LOG", "error", 1);
    rt_step(); /* the program goes on */
    ck_assert_int_eq(lz_server_port(), 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("server");
    TCase *t = tcase_create("server");
    tcase_add_checked_fixture(t, choose_device, NULL);
    tcase_add_test(t, counts);
    tcase_add_test(t, captures);
    tcase_add_test(t, a_client_that_goes);
    tcase_add_test(t, refusals);
    tcase_add_test(t, too_many_and_too_slow);
    tcase_add_test(t, errors);
    tcase_add_test(t, stopped_while_capturing);
    tcase_add_test(t, the_process_ends_while_capturing);
    tcase_add_test(t, forked);
    tcase_add_test(t, by_the_environment);
    tcase_add_loop_test(t, bad_environments, 0, (int)(sizeof bad / sizeof *bad));
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
