/* net.c - see net.h. */
#include "backends/distributed/net.h"
#include "base/file_io.h"
#include "base/thread.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* ---- addresses ---- */

typedef struct address {
    struct sockaddr_storage at;
    socklen_t n;
} address;

static bool numeric(const char *host, int port, address *out)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)(void *)&out->at;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)(void *)&out->at;
    memset(out, 0, sizeof *out);
    if (inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons((uint16_t)port);
        out->n = sizeof *v4;
    } else if (inet_pton(AF_INET6, host, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons((uint16_t)port);
        out->n = sizeof *v6;
    }
    return out->n > 0;
}

static lz_status resolve(const char *host, int port, address *out)
{
    struct addrinfo *found = NULL, want = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    char text[8];
    if (numeric(strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, port, out))
        return LZ_OK;
    snprintf(text, sizeof text, "%d", port);
    int rc = getaddrinfo(host, text, &want, &found);
    if (rc != 0)
        return LZ_FAIL(LZ_EUNAVAILABLE, "%.100s: %s", host, gai_strerror(rc));
    memcpy(&out->at, found->ai_addr, found->ai_addrlen);
    out->n = found->ai_addrlen;
    freeaddrinfo(found);
    return LZ_OK;
}

static bool name_of(int fd, bool other, address *a)
{
    a->n = sizeof a->at;
    return (other ? getpeername : getsockname)(fd, (struct sockaddr *)&a->at, &a->n) == 0;
}

int lz_net_port(int fd)
{
    address a;
    if (!name_of(fd, false, &a))
        return -1;
    return ntohs(a.at.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)(void *)&a.at)->sin6_port
                                            : ((struct sockaddr_in *)(void *)&a.at)->sin_port);
}

void lz_net_address(int fd, bool other, char *text, size_t n)
{
    address a;
    text[0] = 0;
    if (!name_of(fd, other, &a))
        return;
    const void *bytes = a.at.ss_family == AF_INET6
                            ? (const void *)&((struct sockaddr_in6 *)(void *)&a.at)->sin6_addr
                            : (const void *)&((struct sockaddr_in *)(void *)&a.at)->sin_addr;
    if (!inet_ntop(a.at.ss_family, bytes, text, (socklen_t)n))
        text[0] = 0;
}

void lz_net_close(int *fd)
{
    if (*fd >= 0)
        (void)lz_file_close(*fd);
    *fd = -1;
}

/* ---- waiting ---- */

/* Whether the socket is ready before the deadline. */
static lz_status wait_for(int fd, short what, int64_t deadline)
{
    struct pollfd p = {.fd = fd, .events = what};
    for (;;) {
        int64_t left = deadline - lz_now_ns();
        int64_t ms = left <= 0 ? 0 : left / 1000000 + 1;
        int n = poll(&p, 1, ms > 1000 ? 1000 : (int)ms);
        if (n > 0)
            return LZ_OK;
        if (n < 0 && errno != EINTR)
            return LZ_FAIL(LZ_EIO, "poll: %s", strerrordesc_np(errno));
        if (lz_now_ns() >= deadline)
            return LZ_FAIL(LZ_ETIMEOUT, "the other end did not answer in time");
    }
}

bool lz_net_is_closed(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLRDHUP};
    return poll(&p, 1, 0) > 0;
}

static lz_status put(int fd, const void *p, size_t n, int64_t deadline)
{
    for (size_t done = 0; done < n;) {
        ssize_t k = LZ_NO_EINTR(send(fd, (const char *)p + done, n - done, MSG_NOSIGNAL));
        if (k >= 0)
            done += (size_t)k;
        else if (errno == EAGAIN)
            LZ_TRY(wait_for(fd, POLLOUT, deadline));
        else
            return LZ_FAIL(LZ_EIO, "the other end has gone (%s)", strerrordesc_np(errno));
    }
    return LZ_OK;
}

static lz_status get(int fd, void *p, size_t n, int64_t deadline)
{
    for (size_t done = 0; done < n;) {
        ssize_t k = LZ_NO_EINTR(recv(fd, (char *)p + done, n - done, 0));
        if (k > 0)
            done += (size_t)k;
        else if (k < 0 && errno == EAGAIN)
            LZ_TRY(wait_for(fd, POLLIN, deadline));
        else
            return LZ_FAIL(LZ_EIO, "the other end has gone%s%s", k < 0 ? ": " : "",
                           k < 0 ? strerrordesc_np(errno) : "");
    }
    return LZ_OK;
}

lz_status lz_net_send(int fd, lz_wire_type type, uint32_t tag, const lz_buf *payload,
                      int64_t deadline)
{
    uint8_t head[LZ_WIRE_HEADER];
    if (payload && payload->failed)
        return LZ_FAIL(LZ_EMEM, "no memory for a message");
    lz_wire_put_header(head, &(lz_wire_header){type, tag, payload ? payload->len : 0});
    LZ_TRY(put(fd, head, sizeof head, deadline));
    return payload && payload->len ? put(fd, payload->data, payload->len, deadline) : LZ_OK;
}

lz_status lz_net_receive(int fd, lz_wire_header *h, lz_buf *payload, int64_t deadline)
{
    uint8_t head[LZ_WIRE_HEADER];
    LZ_TRY(get(fd, head, sizeof head, deadline));
    LZ_TRY(lz_wire_get_header(head, h));
    if (h->type == LZ_WIRE_DATA)
        return LZ_FAIL(LZ_EPARSE, "data was received before there was a table of processes");
    payload->len = 0;
    for (size_t left = (size_t)h->nbytes, n; left; left -= n) { /* memory for what has come only */
        char room[4096];
        n = left < sizeof room ? left : sizeof room;
        LZ_TRY(get(fd, room, n, deadline));
        lz_buf_put(payload, room, n);
    }
    return payload->failed
               ? LZ_FAIL(LZ_EMEM, "no memory for a message of %zu bytes", (size_t)h->nbytes)
               : LZ_OK;
}

/* ---- connecting ---- */

/* Small messages go at once. */
static void set_up(int fd)
{
    int one = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

static int new_socket(const address *a)
{
    return socket(a->at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* 0, or an errno. */
static int bind_to(int fd, const address *a, int port, bool strictly)
{
    address all;
    if (bind(fd, (const struct sockaddr *)&a->at, a->n) == 0)
        return 0;
    int error = errno;
    if (strictly || error != EADDRNOTAVAIL ||
        !numeric(a->at.ss_family == AF_INET6 ? "::" : "0.0.0.0", port, &all))
        return error;
    return bind(fd, (struct sockaddr *)&all.at, all.n) == 0 ? 0 : errno;
}

static lz_status listen_at(const char *host, int port, bool strictly, int *fd)
{
    address a;
    int one = 1;
    *fd = -1;
    LZ_TRY(resolve(host, port, &a));
    *fd = new_socket(&a);
    if (*fd < 0)
        return LZ_FAIL(LZ_EUNAVAILABLE, "no socket: %s", strerrordesc_np(errno));
    (void)setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    int error = bind_to(*fd, &a, port, strictly);
    if (!error && listen(*fd, SOMAXCONN) != 0)
        error = errno;
    if (!error)
        return LZ_OK;
    lz_net_close(fd);
    return LZ_FAIL(LZ_EUNAVAILABLE, "cannot listen at %.100s:%d: %s%s", host, port,
                   strerrordesc_np(error),
                   error == EADDRINUSE && !strictly ? "; set MASTER_PORT to another one" : "");
}

lz_status lz_net_listen(const char *host, int port, int *fd)
{
    return listen_at(host, port, false, fd);
}

lz_status lz_net_listen_strictly(const char *host, int port, int *fd)
{
    return listen_at(host, port, true, fd);
}

lz_status lz_net_adopt(int fd)
{
    int on = 0;
    socklen_t n = sizeof on;
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &n) != 0 || !on)
        return LZ_FAIL(LZ_EINVAL, "descriptor %d is no socket that listens", fd);
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    return LZ_OK;
}

/* 0, or an errno. */
static int try_connect(const address *a, int64_t deadline, int *fd)
{
    int error = 0;
    socklen_t n = sizeof error;
    *fd = new_socket(a);
    if (*fd < 0)
        return errno;
    if (connect(*fd, (const struct sockaddr *)&a->at, a->n) != 0) {
        error = errno;
        if (error == EINPROGRESS) {
            LZ_QUIETLY {
                error = wait_for(*fd, POLLOUT, deadline) == LZ_OK ? 0 : ETIMEDOUT;
            }
            if (!error && getsockopt(*fd, SOL_SOCKET, SO_ERROR, &error, &n) != 0)
                error = errno;
        }
    }
    if (error)
        lz_net_close(fd);
    return error;
}

lz_status lz_net_connect(const char *host, int port, int64_t deadline, int *fd)
{
    enum { FIRST_MS = 5, LAST_MS = 200 };
    address a;
    int error = 0;
    *fd = -1;
    LZ_TRY(resolve(host, port, &a));
    for (long ms = FIRST_MS;; ms = 2 * ms < LAST_MS ? 2 * ms : LAST_MS) {
        error = try_connect(&a, deadline, fd);
        if (!error) {
            set_up(*fd);
            return LZ_OK;
        }
        bool later = error == ECONNREFUSED || error == EHOSTUNREACH || error == ENETUNREACH ||
                     error == ETIMEDOUT || error == ECONNRESET || error == EAGAIN;
        if (!later || lz_now_ns() + ms * 1000000 >= deadline)
            return LZ_FAIL(later ? LZ_ETIMEOUT : LZ_EUNAVAILABLE, "cannot connect to %.100s:%d: %s",
                           host, port, strerrordesc_np(error));
        (void)nanosleep(&(struct timespec){0, ms * 1000000}, NULL);
    }
}

lz_status lz_net_accept(int listener, int64_t deadline, int *fd)
{
    for (;;) {
        *fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (*fd >= 0) {
            set_up(*fd);
            return LZ_OK;
        }
        if (errno == EAGAIN)
            LZ_TRY(wait_for(listener, POLLIN, deadline));
        else if (errno != EINTR && errno != ECONNABORTED)
            return LZ_FAIL(LZ_EIO, "accept: %s", strerrordesc_np(errno));
    }
}
