/* join.c - see join.h. What PyTorch's TCPStore and XLA's coordination service do with a server that
 * stays, one exchange does here: HELLO of each to rank 0, the TABLE of all back, a HELLO to each
 * lower rank to say whose the new connection is. Then each tries to start the transport that rank 0
 * has chosen (READY), and rank 0 says whether all could (DECIDE). */
#include "backends/distributed/join.h"
#include "backends/distributed/transport.h"
#include "base/alloc.h"
#include "base/config.h"
#include "base/file_io.h"
#include "base/log.h"
#include "base/text.h"
#include "base/thread.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* For one that has connected to say who it is. */
#define PATIENCE_NS INT64_C(2000000000)
/* For all to start a transport that has addresses, and to hear each other over it. */
#define GREETINGS_NS INT64_C(10000000000)

typedef struct joining {
    const lz_process_info *p;
    lz_join *to;
    lz_wire_hello me;
    int listener;
    int64_t deadline;
    lz_buf message;
} joining;

int64_t lz_join_limit(void)
{
    int64_t s = lz_cfg_int(LZ_OPT_COLLECTIVE_TIMEOUT);
    return s ? s * INT64_C(1000000000) : INT64_MAX / 2;
}

void lz_join_free(lz_join *j)
{
    for (uint32_t i = 0; j->fd && i < j->size; i++)
        lz_net_close(&j->fd[i]);
    lz_free(j->fd);
    lz_free(j->all);
    *j = (lz_join){0};
}

/* ---- who one is ---- */

/* Equal in processes of one host: a start of its system, under one name. */
static uint64_t machine_of(const char *host)
{
    char text[256];
    if (!lz_file_text("/proc/sys/kernel/random/boot_id", text, 64))
        text[0] = 0;
    size_t n = strlen(text);
    snprintf(text + n, sizeof text - n, " %.120s", host);
    return lz_hash_bytes(text, strlen(text)).lo;
}

static void introduce(joining *j, uint32_t ndevice)
{
    j->me = (lz_wire_hello){.job = j->p->job,
                            .version = LZ_WIRE_VERSION,
                            .rank = (uint32_t)j->p->index,
                            .size = (uint32_t)j->p->count,
                            .ndevice = ndevice,
                            .pid = (uint32_t)getpid()};
    if (gethostname(j->me.host, sizeof j->me.host - 1) != 0)
        snprintf(j->me.host, sizeof j->me.host, "?");
    j->me.machine = machine_of(j->me.host);
    j->me.transport = lz_transport_choose(&j->me.offer);
}

static lz_status send_hello(joining *j, int fd)
{
    j->message.len = 0;
    lz_wire_put_hello(&j->message, &j->me);
    return lz_net_send(fd, LZ_WIRE_HELLO, 0, &j->message, j->deadline);
}

static lz_status receive(joining *j, int fd, lz_wire_type type, int64_t deadline, lz_wire_header *h)
{
    lz_wire_refuse no;
    do /* an address may come when its receiver has given up the transport */
        LZ_TRY(lz_net_receive(fd, h, &j->message, deadline));
    while (h->type == LZ_WIRE_ADDRESS && type != LZ_WIRE_ADDRESS);
    if (h->type == type)
        return LZ_OK;
    if (h->type != LZ_WIRE_REFUSE)
        return LZ_FAIL(LZ_EPARSE, "another message than was expected was received");
    LZ_TRY(lz_wire_get_refuse(j->message.data, j->message.len, &no));
    return LZ_FAIL(no.status != LZ_OK ? no.status : LZ_EIO, "%s", no.text);
}

static lz_status receive_hello(joining *j, int fd, lz_wire_hello *h)
{
    lz_wire_header head;
    int64_t soon = lz_now_ns() + PATIENCE_NS;
    LZ_TRY(receive(j, fd, LZ_WIRE_HELLO, soon < j->deadline ? soon : j->deadline, &head));
    return lz_wire_get_hello(j->message.data, j->message.len, h);
}

/* ---- rank 0 ---- */

/* "2, 5-7" of those without a connection. */
static void print_missing(const lz_join *j, uint32_t from, char *text, size_t n)
{
    size_t at = 0;
    text[0] = 0;
    for (uint32_t i = from; i < j->size; i++) {
        uint32_t first = i;
        if (j->fd[i] >= 0)
            continue;
        while (i + 1 < j->size && j->fd[i + 1] < 0)
            i++;
        if (at + 16 < n)
            at += (size_t)snprintf(text + at, n - at, i > first ? "%s%u-%u" : "%s%u",
                                   at ? ", " : "", first, i);
    }
}

/* Tells those that are here why there will be no table. */
static void refuse_all(joining *j)
{
    lz_wire_refuse no = {.status = lz_error_get()->status};
    snprintf(no.text, sizeof no.text, "rank 0: %.400s", lz_error_get()->message);
    LZ_QUIETLY {
        j->message.len = 0;
        lz_wire_put_refuse(&j->message, &no);
        for (uint32_t i = 1; i < j->to->size; i++)
            if (j->to->fd[i] >= 0)
                (void)lz_net_send(j->to->fd[i], LZ_WIRE_REFUSE, 0, &j->message,
                                  lz_now_ns() + PATIENCE_NS / 4);
    }
}

/* One that does not belong to the job is sent away; one that does and is not right ends it. */
static lz_status check_hello(joining *j, const lz_wire_hello *h)
{
    const lz_wire_hello *was = &j->to->all[h->rank < j->to->size ? h->rank : 0];
    if (h->version != LZ_WIRE_VERSION)
        return LZ_FAIL(LZ_EINVAL, "rank %u (%s, pid %u) has another version of Lazuli", h->rank,
                       h->host, h->pid);
    if (h->size != j->me.size)
        return LZ_FAIL(LZ_EINVAL, "rank %u (%s, pid %u) is one of %u processes, rank 0 one of %u",
                       h->rank, h->host, h->pid, h->size, j->me.size);
    if (h->rank == 0 || j->to->fd[h->rank] >= 0)
        return LZ_FAIL(LZ_EINVAL, "rank %u is two processes: %s, pid %u, and %s, pid %u", h->rank,
                       was->host, was->pid, h->host, h->pid);
    return LZ_OK;
}

static lz_status take_in(joining *j, int fd)
{
    lz_wire_hello h;
    lz_status s = receive_hello(j, fd, &h);
    if (s != LZ_OK || h.job != j->me.job) { /* it knocked at the wrong door */
        LZ_QUIETLY {
            lz_wire_refuse no = {LZ_EINVAL, "rank 0 at this address is of another job: set "
                                            "MASTER_PORT"};
            j->message.len = 0;
            lz_wire_put_refuse(&j->message, &no);
            (void)lz_net_send(fd, LZ_WIRE_REFUSE, 0, &j->message, lz_now_ns());
        }
        lz_net_close(&fd);
        return LZ_OK;
    }
    s = check_hello(j, &h);
    if (s == LZ_OK) {
        lz_net_address(fd, true, h.address, sizeof h.address);
        j->to->all[h.rank] = h;
        j->to->fd[h.rank] = fd;
        return LZ_OK;
    }
    refuse_all(j);
    lz_wire_refuse no = {.status = s};
    snprintf(no.text, sizeof no.text, "%.400s", lz_error_get()->message);
    j->message.len = 0;
    lz_wire_put_refuse(&j->message, &no);
    LZ_QUIETLY {
        (void)lz_net_send(fd, LZ_WIRE_REFUSE, 0, &j->message, lz_now_ns());
    }
    lz_net_close(&fd);
    return s;
}

/* What all offer, in the same version. */
static uint32_t choose_transport(const lz_join *j)
{
    const lz_wire_hello *first = &j->all[0];
    bool same = true;
    for (uint32_t i = 1; i < j->size; i++)
        same &= j->all[i].transport == first->transport && j->all[i].offer == first->offer;
    return same ? first->transport : LZ_TRANSPORT_SOCKETS;
}

static lz_status gather(joining *j)
{
    lz_join *to = j->to;
    char who[128];
    int adopted = (int)lz_cfg_int(LZ_OPT_MASTER_FD);
    if (adopted >= 0) {
        LZ_TRY(lz_net_adopt(adopted));
        j->listener = adopted;
    } else {
        LZ_TRY(lz_net_listen(j->p->address, j->p->port, &j->listener));
    }
    to->all[0] = j->me;
    for (uint32_t here = 1; here < to->size;) {
        int fd;
        if (lz_net_accept(j->listener, j->deadline, &fd) != LZ_OK) {
            print_missing(to, 1, who, sizeof who);
            (void)LZ_FAIL(LZ_ETIMEOUT,
                          "rank %s of %u processes (%s) did not come to %s:%d within %" PRId64
                          " s (LAZULI_COLLECTIVE_TIMEOUT)",
                          who, to->size, lz_launcher_name(j->p->launcher), j->p->address,
                          j->p->port, lz_cfg_int(LZ_OPT_COLLECTIVE_TIMEOUT));
            refuse_all(j);
            return LZ_ETIMEOUT;
        }
        LZ_TRY(take_in(j, fd));
        for (here = 1; here < to->size && to->fd[here] >= 0;)
            here++;
    }
    j->message.len = 0;
    lz_wire_put_table(&j->message, to->all, to->size);
    to->transport = choose_transport(to);
    for (uint32_t i = 1; i < to->size; i++)
        if (lz_net_send(to->fd[i], LZ_WIRE_TABLE, to->transport, &j->message, j->deadline) != LZ_OK)
            return LZ_FAIL(LZ_ETIMEOUT, "rank %u (%s, pid %u) has gone while processes joined", i,
                           to->all[i].host, to->all[i].pid);
    return LZ_OK;
}

/* ---- the others ---- */

static lz_status no_rank(const joining *j, uint32_t rank, const char *what)
{
    lz_error err = *lz_error_get();
    bool late = err.status == LZ_ETIMEOUT || err.status == LZ_EIO;
    return late ? LZ_FAIL(LZ_ETIMEOUT, "rank %u of %u processes (%s): %s: %.200s", rank, j->me.size,
                          lz_launcher_name(j->p->launcher), what, err.message)
                : err.status;
}

static lz_status meet_master(joining *j)
{
    lz_join *to = j->to;
    lz_wire_header h;
    char here[LZ_WIRE_TEXT];
    if (lz_net_connect(j->p->address, j->p->port, j->deadline, &to->fd[0]) != LZ_OK)
        return no_rank(j, 0, "does not listen (MASTER_ADDR, MASTER_PORT)");
    lz_net_address(to->fd[0], false, here, sizeof here);
    LZ_TRY(lz_net_listen(here, 0, &j->listener));
    j->me.port = (uint32_t)lz_net_port(j->listener);
    if (send_hello(j, to->fd[0]) != LZ_OK ||
        /* rank 0 says who is missing: it began to wait earlier, or knows it by now */
        receive(j, to->fd[0], LZ_WIRE_TABLE, j->deadline + PATIENCE_NS, &h) != LZ_OK)
        return no_rank(j, 0, "has gone, or did not answer");
    to->transport = h.tag;
    LZ_TRY(lz_wire_get_table(j->message.data, j->message.len, to->all, to->size));
    lz_net_address(to->fd[0], true, to->all[0].address, sizeof to->all[0].address);
    return LZ_OK;
}

/* Connects to lower ranks, then waits for higher ones. */
static lz_status meet_others(joining *j)
{
    lz_join *to = j->to;
    char who[128];
    for (uint32_t i = 1; i < j->me.rank; i++)
        if (lz_net_connect(to->all[i].address, (int)to->all[i].port, j->deadline, &to->fd[i]) !=
                LZ_OK ||
            send_hello(j, to->fd[i]) != LZ_OK)
            return no_rank(j, i, "cannot be reached");
    for (uint32_t left = to->size - j->me.rank - 1; left;) {
        lz_wire_hello h;
        int fd;
        if (lz_net_accept(j->listener, j->deadline, &fd) != LZ_OK) {
            to->fd[j->me.rank] = INT32_MAX; /* it is not missing */
            print_missing(to, 0, who, sizeof who);
            to->fd[j->me.rank] = -1;
            return LZ_FAIL(LZ_ETIMEOUT, "rank %s of %u processes did not connect", who, to->size);
        }
        lz_status s = receive_hello(j, fd, &h);
        if (s == LZ_OK && h.job == j->me.job && h.size == to->size && h.rank > j->me.rank &&
            h.pid == to->all[h.rank].pid && to->fd[h.rank] < 0) {
            to->fd[h.rank] = fd;
            left--;
        } else {
            lz_net_close(&fd);
        }
    }
    return LZ_OK;
}

/* ---- the transport ---- */

void lz_join_why_sockets(char *text, size_t n)
{
    const char *want = lz_cfg_str(LZ_OPT_TRANSPORT);
    size_t at = 0;
    if (*want) {
        snprintf(text, n, "LAZULI_TRANSPORT=%.40s", want);
        return;
    }
    text[0] = 0;
    for (uint32_t t = 0; t < LZ_TRANSPORTS && at < n; t++) {
        const lz_transport *via = lz_transport_of(t);
        const char *why;
        if (!via->offer)
            continue;
        if (via->offer(&why))
            why = "it has not started in all processes";
        at += (size_t)snprintf(text + at, n - at, "%s%s: %s", at ? "; " : "", via->title, why);
    }
}

/* Addresses go to all others and come from all; one that has none has failed. Gives whether all
 * have one; who is missing is found by rank 0. */
static bool trade_addresses(joining *j, const lz_buf *mine, lz_buf *theirs, int64_t deadline)
{
    lz_join *to = j->to;
    lz_wire_header h;
    bool ok = true;
    for (uint32_t i = 0; i < to->size; i++)
        if (i != j->me.rank)
            ok &= lz_net_send(to->fd[i], LZ_WIRE_ADDRESS, 0, mine, deadline) == LZ_OK;
    for (uint32_t i = 0; i < to->size; i++) {
        if (i == j->me.rank)
            continue;
        if (receive(j, to->fd[i], LZ_WIRE_ADDRESS, deadline, &h) == LZ_OK) {
            theirs[i] = j->message;
            j->message = (lz_buf){0};
        }
        ok &= theirs[i].len > 0;
    }
    return ok;
}

/* Who has not started it gives an empty address, so that nobody waits for more of it. */
static bool connect_all(joining *j, const lz_transport *via, bool started, lz_buf *mine,
                        lz_buf *theirs)
{
    int64_t now = lz_now_ns(), left = (j->deadline - now) / 2; /* all must still agree */
    int64_t until = now + (left < GREETINGS_NS ? left : GREETINGS_NS);
    if (!started)
        mine->len = 0;
    if (!trade_addresses(j, mine, theirs, until) || !started)
        return false;
    if (via->connect(theirs, j->to->fd, until) == LZ_OK)
        return true;
    LZ_WARN("distributed", "%s cannot be used: %s", via->title, lz_error_get()->message);
    return false;
}

static lz_status start_transport(joining *j, bool *ok)
{
    const lz_transport *via = lz_transport_of(j->to->transport);
    lz_buf mine = {0}, *theirs;
    *ok = true;
    if (!via->start)
        return LZ_OK;
    theirs = lz_calloc(j->to->size, sizeof *theirs);
    if (!theirs)
        return LZ_FAIL(LZ_EMEM, "no memory for %u processes", j->to->size);
    *ok = j->to->transport == j->me.transport && /* rank 0 says so, but it was not offered */
          via->start(j->me.rank, j->me.size, &mine) == LZ_OK;
    if (!*ok)
        LZ_WARN("distributed", "%s cannot be used: %s", via->title, lz_error_get()->message);
    if (via->connect)
        *ok = connect_all(j, via, *ok, &mine, theirs);
    for (uint32_t i = 0; i < j->to->size; i++)
        lz_buf_free(&theirs[i]);
    lz_buf_free(&mine);
    lz_free(theirs);
    return LZ_OK;
}

/* Whether it is the one that is wanted here. */
static lz_status check_wanted(uint32_t transport)
{
    const char *want = lz_cfg_str(LZ_OPT_TRANSPORT), *why = "";
    if (!*want || strcmp(want, lz_transport_of(transport)->name) == 0)
        return LZ_OK;
    const lz_transport *via = lz_transport_of(lz_transport_named(want));
    return LZ_FAIL(LZ_EUNAVAILABLE, "LAZULI_TRANSPORT=%s: %s", want,
                   !via->offer || via->offer(&why) ? "it has not started in all processes" : why);
}

/* Rank 0 asks all whether they have started it. */
static lz_status agree(joining *j)
{
    lz_join *to = j->to;
    lz_wire_header h;
    bool ok = true;
    LZ_TRY(start_transport(j, &ok));
    for (uint32_t i = 1; i < to->size && j->me.rank == 0; i++) {
        if (receive(j, to->fd[i], LZ_WIRE_READY, j->deadline, &h) != LZ_OK)
            return no_rank(j, i, "has gone, or did not answer, when it started its transport");
        ok &= h.tag == 1;
    }
    h.tag = ok ? to->transport : LZ_TRANSPORT_SOCKETS;
    if (j->me.rank != 0 &&
        (lz_net_send(to->fd[0], LZ_WIRE_READY, ok, NULL, j->deadline) != LZ_OK ||
         receive(j, to->fd[0], LZ_WIRE_DECIDE, j->deadline + PATIENCE_NS, &h) != LZ_OK))
        return no_rank(j, 0, "has gone, or did not answer, when transports were started");
    for (uint32_t i = 1; i < to->size && j->me.rank == 0; i++)
        if (lz_net_send(to->fd[i], LZ_WIRE_DECIDE, h.tag, NULL, j->deadline) != LZ_OK)
            return no_rank(j, i, "has gone");
    to->transport = h.tag == to->transport ? to->transport : LZ_TRANSPORT_SOCKETS;
    return check_wanted(to->transport);
}

lz_status lz_join_all(const lz_process_info *p, uint32_t ndevice, lz_join *out)
{
    joining j = {.p = p, .to = out, .listener = -1};
    *out = (lz_join){.size = (uint32_t)p->count};
    const char *want = lz_cfg_str(LZ_OPT_TRANSPORT);
    if (*want && lz_transport_named(want) == LZ_TRANSPORTS)
        return LZ_FAIL(LZ_EINVAL, "LAZULI_TRANSPORT=%.40s: mpi, ucx or sockets", want);
    out->all = lz_calloc(out->size, sizeof *out->all);
    out->fd = lz_alloc(out->size * sizeof *out->fd);
    for (uint32_t i = 0; out->fd && i < out->size; i++)
        out->fd[i] = -1;
    j.deadline = lz_now_ns() + lz_join_limit();
    lz_status s =
        out->all && out->fd ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for %u processes", out->size);
    if (s == LZ_OK) {
        introduce(&j, ndevice);
        s = p->index == 0 ? gather(&j) : meet_master(&j);
    }
    if (s == LZ_OK && p->index > 0)
        s = meet_others(&j);
    const lz_transport *started = lz_transport_of(out->transport);
    if (s == LZ_OK) {
        s = agree(&j);
        if (s != LZ_OK && p->index == 0)
            refuse_all(&j);
        if (started->end && (s != LZ_OK || lz_transport_of(out->transport) != started))
            started->end(true);
    }
    lz_net_close(&j.listener);
    lz_buf_free(&j.message);
    if (s != LZ_OK)
        lz_join_free(out);
    return s;
}
