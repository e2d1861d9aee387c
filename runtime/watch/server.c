/* server.c - see server.h. Threads are not armed (base/fork.h): a program that forks before its
 * first operation may have a server. What waits, waits with a limit, and whoever ends the server
 * shuts the sockets down, which wakes it up. */
#include "runtime/watch/server.h"
#include "backends/distributed/net.h"
#include "base/config.h"
#include "base/log.h"
#include "base/text.h"
#include "base/thread.h"
#include "runtime/watch/capture.h"
#include "runtime/watch/statistics.h"
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)
enum { ASK_S = 2, SEND_S = 5, ACCEPT_S = 3600, TICK_MS = 100 };

typedef enum connection_state { FREE, OPEN, OVER } connection_state;
typedef struct connection {
    connection_state state; /* OVER: its thread has closed the socket, and is to be joined */
    int fd;
    pthread_t thread;
} connection;

static struct {
    lz_mutex lock;
    bool running;
    int listener, port;
    pthread_t thread;
    _Atomic uint32_t stop;
    connection connections[LZ_SERVER_CONNECTIONS];
} server = {.lock = LZ_MUTEX_INIT("server"), .listener = -1};
static lz_mutex life = LZ_MUTEX_INIT("server's life"); /* start and end */
static lz_once armed = LZ_ONCE_INIT;

/* ---- answers ---- */

static int64_t soon(int64_t seconds)
{
    return lz_now_ns() + seconds * SECOND;
}

static void refuse(int fd, lz_status status, const char *text)
{
    lz_wire_refuse r = {.status = status};
    lz_buf b = {0};
    memcpy(r.text, text, strnlen(text, sizeof r.text - 1));
    lz_wire_put_refuse(&b, &r);
    (void)lz_net_send(fd, LZ_WIRE_REFUSE, 0, &b, soon(SEND_S));
    lz_buf_free(&b);
}

static lz_status answer_statistics(int fd)
{
    lz_watch_statistics *s = lz_alloc(sizeof *s);
    lz_buf b = {0};
    if (!s)
        return LZ_FAIL(LZ_EMEM, "no memory for statistics");
    lz_watch_count(s);
    lz_watch_put_statistics(&b, s);
    lz_free(s);
    lz_status sent = lz_net_send(fd, LZ_WIRE_STATISTICS, 0, &b, soon(SEND_S));
    lz_buf_free(&b);
    return sent;
}

static lz_status send_events(const void *p, size_t n, void *user)
{
    const int *fd = user;
    lz_buf b = {.data = (char *)p, .len = n};
    return lz_net_send(*fd, LZ_WIRE_EVENTS, 0, &b, soon(SEND_S));
}

static lz_status send_origin(int fd, const lz_watch_capture *c)
{
    lz_watch_origin o;
    lz_buf b = {0};
    lz_watch_capture_origin(c, &o);
    lz_watch_put_origin(&b, &o);
    lz_status s = lz_net_send(fd, LZ_WIRE_ORIGIN, 0, &b, soon(SEND_S));
    lz_buf_free(&b);
    return s;
}

static lz_status send_end(int fd, lz_watch_capture *c)
{
    lz_buf b = {0};
    lz_watch_put_end(&b,
                     &(lz_watch_end){lz_now_ns() - c->tap.began_ns, lz_watch_capture_dropped(c)});
    lz_status s = lz_net_send(fd, LZ_WIRE_END, 0, &b, soon(SEND_S));
    lz_buf_free(&b);
    return s;
}

static lz_status answer_capture(int fd, uint32_t ms)
{
    lz_watch_capture c;
    LZ_TRY(lz_watch_capture_begin(&c));
    int64_t end = c.tap.began_ns + (int64_t)ms * 1000000;
    lz_status s = send_origin(fd, &c);
    while (s == LZ_OK && !atomic_load(&server.stop)) {
        int64_t left = end - lz_now_ns(), tick = (int64_t)TICK_MS * 1000000;
        if (left <= 0)
            break;
        (void)lz_futex_wait(&server.stop, 0, left < tick ? left : tick);
        s = lz_watch_capture_take(&c, send_events, &fd);
        if (s == LZ_OK) /* fails where nobody listens any more */
            s = send_events("", 0, &fd);
    }
    lz_watch_capture_stop(&c);
    if (s == LZ_OK)
        s = lz_watch_capture_take(&c, send_events, &fd);
    if (s == LZ_OK)
        s = send_end(fd, &c);
    lz_watch_capture_end(&c);
    return s;
}

static lz_status answer(int fd)
{
    lz_wire_header h;
    lz_buf b = {0};
    lz_watch_ask a;
    lz_status s = lz_net_receive(fd, &h, &b, soon(ASK_S));
    if (s == LZ_OK && h.type != LZ_WIRE_ASK)
        s = LZ_FAIL(LZ_EPARSE, "what was received is no question");
    if (s == LZ_OK)
        s = lz_watch_get_ask(b.data, b.len, &a);
    lz_buf_free(&b);
    LZ_TRY(s);
    if (a.version != LZ_WATCH_VERSION)
        return LZ_FAIL(LZ_EUNAVAILABLE, "version %u was asked for, this is %u", a.version,
                       LZ_WATCH_VERSION);
    return a.what == LZ_WATCH_STATISTICS ? answer_statistics(fd)
                                         : answer_capture(fd, a.duration_ms);
}

/* ---- connections ---- */

static void *connection_main(void *arg)
{
    connection *c = arg;
    int fd = c->fd;
    if (answer(fd) != LZ_OK) {
        const lz_error e = *lz_error_get();
        refuse(fd, e.status, e.message);
    }
    lz_mutex_lock(&server.lock);
    lz_net_close(&c->fd);
    c->state = OVER;
    lz_mutex_unlock(&server.lock);
    return NULL;
}

/* A place for a connection; those that are over are given up. NULL: there are too many. */
static connection *find_place(void)
{
    connection *place = NULL;
    for (int i = 0; i < LZ_SERVER_CONNECTIONS; i++) {
        connection *c = &server.connections[i];
        lz_mutex_lock(&server.lock);
        connection_state state = c->state;
        lz_mutex_unlock(&server.lock);
        if (state == OVER)
            (void)pthread_join(c->thread, NULL);
        if (state != OPEN) {
            c->state = FREE;
            place = c;
        }
    }
    return place;
}

static void open_connection(int fd)
{
    connection *c = find_place();
    if (!c) {
        refuse(fd, LZ_EUNAVAILABLE, "too many connections are open");
        lz_net_close(&fd);
        return;
    }
    lz_mutex_lock(&server.lock);
    c->fd = fd;
    c->state = OPEN;
    lz_status s = lz_thread_start_unarmed(&c->thread, "lz-connection", connection_main, c);
    if (s != LZ_OK) {
        lz_net_close(&c->fd);
        c->state = FREE;
    }
    lz_mutex_unlock(&server.lock);
}

static void *server_main(void *unused)
{
    (void)unused;
    while (!atomic_load(&server.stop)) {
        int fd;
        lz_status s = lz_net_accept(server.listener, soon(ACCEPT_S), &fd);
        if (s == LZ_OK)
            open_connection(fd);
        else if (s != LZ_ETIMEOUT) /* no descriptors are left, or the end */
            (void)lz_futex_wait(&server.stop, 0, (int64_t)TICK_MS * 1000000);
    }
    return NULL;
}

/* ---- the server's life ---- */

/* Threads are not there in the child, and the sockets are the parent's. Without the lock: see
 * base/timeline/timeline.c. */
static void in_child(void)
{
    lz_net_close(&server.listener);
    for (int i = 0; i < LZ_SERVER_CONNECTIONS; i++) {
        connection *c = &server.connections[i];
        if (c->state == OPEN)
            lz_net_close(&c->fd);
        c->state = FREE;
    }
    server.running = false;
    server.port = 0;
}

static void at_exit(void)
{
    if (!lz_fork_happened())
        LZ_QUIETLY (void)
            lz_server_end();
}

static void arm(void)
{
    (void)atexit(at_exit);
    (void)pthread_atfork(NULL, NULL, in_child);
}

lz_status lz_server_start(const char *host, int port)
{
    lz_once_run(&armed, arm);
    lz_mutex_lock(&life);
    lz_status s = server.running
                      ? LZ_FAIL(LZ_ESTATE, "a server runs already, at port %d", server.port)
                      : lz_net_listen_strictly(host, port, &server.listener);
    if (s == LZ_OK) {
        atomic_store(&server.stop, 0);
        server.port = lz_net_port(server.listener);
        s = lz_thread_start_unarmed(&server.thread, "lz-server", server_main, NULL);
        server.running = s == LZ_OK;
        if (s != LZ_OK)
            LZ_QUIETLY
                lz_net_close(&server.listener);
    }
    lz_mutex_unlock(&life);
    return s;
}

int lz_server_bound(void)
{
    lz_mutex_lock(&life);
    int port = server.running ? server.port : 0;
    lz_mutex_unlock(&life);
    return port;
}

/* Shuts down what is open; gives whether something is. */
static bool shut(int how)
{
    bool any = false;
    lz_mutex_lock(&server.lock);
    for (int i = 0; i < LZ_SERVER_CONNECTIONS; i++)
        if (server.connections[i].state == OPEN) {
            any = true;
            (void)shutdown(server.connections[i].fd, how);
        }
    lz_mutex_unlock(&server.lock);
    return any;
}

/* No more connections come. Those that there are end: a capture sends what it has, if that is soon
 * read. */
static void stop_all(void)
{
    int64_t patience = soon(1);
    atomic_store(&server.stop, 1);
    lz_futex_wake(&server.stop, LZ_SERVER_CONNECTIONS + 1);
    (void)shutdown(server.listener, SHUT_RDWR);
    (void)pthread_join(server.thread, NULL);
    while (shut(SHUT_RD) && lz_now_ns() < patience)
        (void)nanosleep(&(struct timespec){0, 2000000}, NULL);
    (void)shut(SHUT_RDWR);
    for (int i = 0; i < LZ_SERVER_CONNECTIONS; i++) {
        if (server.connections[i].state != FREE)
            (void)pthread_join(server.connections[i].thread, NULL);
        server.connections[i].state = FREE;
    }
    lz_net_close(&server.listener);
}

lz_status lz_server_end(void)
{
    lz_mutex_lock(&life);
    lz_status s = server.running ? LZ_OK : LZ_FAIL(LZ_ESTATE, "there is no server");
    if (s == LZ_OK)
        stop_all();
    server.running = false;
    lz_mutex_unlock(&life);
    return s;
}

/* ---- LAZULI_SERVER ---- */

/* "PORT", "HOST:PORT". The processes of a job have ports one after the other. */
static lz_status start_as(const char *text)
{
    char host[256] = "127.0.0.1";
    const char *colon = strrchr(text, ':'), *digits = colon ? colon + 1 : text;
    uint64_t port;
    lz_watch_self self;
    size_t nhost = colon ? (size_t)(colon - text) : 0;
    lz_watch_who(&self);
    if (colon && (nhost == 0 || nhost >= sizeof host))
        return LZ_FAIL(LZ_EINVAL, "%.100s has no host before its colon", text);
    if (colon) {
        memcpy(host, text, nhost);
        host[nhost] = '\0';
    }
    if (lz_text_u64(digits, strlen(digits), 10, UINT16_MAX, &port) != LZ_OK ||
        (port && port + self.rank > UINT16_MAX))
        return LZ_FAIL(LZ_EINVAL, "%.100s is neither PORT nor HOST:PORT", text);
    LZ_TRY(lz_server_start(host, port ? (int)(port + self.rank) : 0));
    lz_logf(LZ_LOG_INFO, "server", "listens at %s:%d", host, lz_server_bound());
    return LZ_OK;
}

static void ask_once(void)
{
    const char *text = lz_cfg_str(LZ_OPT_SERVER);
    if (!*text)
        return;
    LZ_QUIETLY
        if (start_as(text) != LZ_OK)
            LZ_WARN("server", "LAZULI_SERVER: %s", lz_error_get()->message);
}

void lz_server_ask(void)
{
    static lz_once once = LZ_ONCE_INIT;
    lz_once_run(&once, ask_once);
}
