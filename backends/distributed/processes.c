/* processes.c - see processes.h. One thread waits in poll for all sockets. Frames are written by
 * who has them, as far as the socket takes them, and by the thread after that; they are read by the
 * thread alone. Data goes from the socket into the memory of the receive that was posted for its
 * tag; where there is none any more (it was cancelled), it is dropped.
 * Locks: `lock` for the queues and the receives, held while a socket is read or written, which
 * never blocks; messages are delivered without it. */
#include "backends/distributed/processes.h"
#include "backends/distributed/join.h"
#include "backends/distributed/talk.h"
#include "base/alloc.h"
#include "base/config.h"
#include "base/file_io.h"
#include "base/log.h"
#include "base/thread.h"
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define BEAT_NS INT64_C(500000000) /* between two heartbeats */
#define END_NS INT64_C(2000000000) /* for others to have read what this process said last */

/* On its way out. */
typedef struct frame {
    struct frame *next;
    uint8_t head[LZ_WIRE_HEADER];
    size_t done;     /* of head and payload */
    int64_t due;     /* not before (LAZULI_SOCKET_DELAY); 0: at once */
    lz_buf own;      /* payload of a message */
    lz_transfer *of; /* of data: whose payload it is */
} frame;

typedef struct peer_link {
    int fd;
    _Atomic int state; /* lz_process_state */
    _Atomic int64_t heard, sent;
    _Atomic bool bye, bye_seen; /* it has said so; it has read ours */
    /* under lock: */
    frame *first, *last;
    lz_transfer *receives; /* posted */
    /* of the thread: what comes in now */
    uint8_t head[LZ_WIRE_HEADER];
    size_t nhead;
    lz_wire_header h;
    lz_buf message;
    uint64_t got;
    lz_transfer *into; /* under lock; of data. NULL: it is dropped */
} peer_link;

static struct {
    lz_mutex lock;
    uint32_t size, self, ndevice;
    uint16_t rank_of[LZ_WIRE_MEMBERS]; /* [ndevice]: whose each is */
    int hosts, wake;
    const lz_transport *via;
    peer_link *link; /* [size] */
    lz_process *process;
    struct pollfd *poll; /* [size + 1], of the thread */
    lz_process_message *deliver;
    int64_t delay_ns; /* LAZULI_SOCKET_DELAY */
    _Atomic uint32_t bell;
} all = {.lock = LZ_MUTEX_INIT("processes")};

/* ---- who there is ---- */

uint32_t lz_processes_count(void)
{
    return all.size;
}

uint32_t lz_processes_self(void)
{
    return all.self;
}

uint32_t lz_processes_devices(void)
{
    return all.ndevice;
}

int lz_processes_hosts(void)
{
    return all.hosts;
}

const lz_process *lz_processes_get(uint32_t rank)
{
    return &all.process[rank];
}

const lz_process *lz_processes_of_device(uint32_t device)
{
    return &all.process[all.rank_of[device]];
}

const lz_transport *lz_processes_transport(void)
{
    return all.via;
}

void lz_processes_listen(lz_process_message *fn)
{
    all.deliver = fn;
}

lz_process_state lz_processes_state(uint32_t rank)
{
    return (lz_process_state)atomic_load(&all.link[rank].state);
}

bool lz_processes_said_bye(uint32_t rank)
{
    return atomic_load(&all.link[rank].bye);
}

int64_t lz_processes_heard(uint32_t rank)
{
    return atomic_load(&all.link[rank].heard);
}

lz_status lz_processes_missing(uint32_t rank, const char *about, const char *what)
{
    const char *name = all.process[rank].name;
    double ago = (double)(lz_now_ns() - lz_processes_heard(rank)) / 1e9;
    if (lz_processes_said_bye(rank))
        return LZ_FAIL(LZ_ETIMEOUT, "%s: %s has ended", about, name);
    if (lz_processes_state(rank) == LZ_PROCESS_GONE)
        return LZ_FAIL(LZ_ETIMEOUT, "%s: %s is gone: it was ended, or its host or link is down",
                       about, name);
    return LZ_FAIL(LZ_ETIMEOUT,
                   "%s: %s has not %s within %" PRId64 " s (LAZULI_COLLECTIVE_TIMEOUT); it %s %.1f "
                   "s ago",
                   about, name, what, lz_cfg_int(LZ_OPT_COLLECTIVE_TIMEOUT),
                   ago > 2 ? "does not answer, and was heard last" : "was heard", ago);
}

/* ---- the bell ---- */

uint32_t lz_processes_bell(void)
{
    return atomic_load(&all.bell);
}

void lz_processes_ring(void)
{
    atomic_fetch_add(&all.bell, 1);
    lz_futex_wake(&all.bell, INT_MAX);
}

void lz_processes_wait(uint32_t seen, int64_t timeout_ns)
{
    (void)lz_futex_wait(&all.bell, seen, timeout_ns);
}

static void wake_thread(void)
{
    (void)eventfd_write(all.wake, 1);
}

/* ---- transfers ---- */

static void over(lz_transfer *t, bool ok)
{
    atomic_store(&t->over, ok ? 1 : 2);
}

/* Under lock. */
static void unlink_receive(peer_link *l, const lz_transfer *t)
{
    for (lz_transfer **at = &l->receives; *at; at = &(*at)->next)
        if (*at == t) {
            *at = t->next;
            break;
        }
    if (l->into == t)
        l->into = NULL;
}

static void drop_frame(peer_link *l)
{
    frame *f = l->first;
    l->first = f->next;
    if (!l->first)
        l->last = NULL;
    lz_buf_free(&f->own);
    lz_free(f);
}

/* Under lock: nothing goes to it or comes from it any more. The thread closes the socket. */
static void lose(peer_link *l)
{
    if (atomic_exchange(&l->state, LZ_PROCESS_GONE) == LZ_PROCESS_GONE)
        return;
    (void)shutdown(l->fd, SHUT_RDWR);
    for (; l->first; drop_frame(l))
        if (l->first->of)
            over(l->first->of, false);
    for (lz_transfer *t = l->receives; t; t = t->next)
        over(t, false);
    l->receives = l->into = NULL;
}

void lz_processes_lose(uint32_t rank)
{
    lz_mutex_lock(&all.lock);
    lose(&all.link[rank]);
    lz_mutex_unlock(&all.lock);
    wake_thread();
}

/* ---- writing ---- */

/* Under lock: as much as the socket takes. */
static void flush(peer_link *l)
{
    while (l->first && atomic_load(&l->state) != LZ_PROCESS_GONE) {
        frame *f = l->first;
        if (f->due > 0 && !f->done && f->due > lz_now_ns())
            return;
        size_t n = f->of ? f->of->nbytes : f->own.len;
        const char *payload = f->of ? f->of->at : f->own.data;
        bool head = f->done < LZ_WIRE_HEADER;
        const void *p =
            head ? (const void *)(f->head + f->done) : payload + (f->done - LZ_WIRE_HEADER);
        size_t left = head ? LZ_WIRE_HEADER - f->done : LZ_WIRE_HEADER + n - f->done;
        ssize_t k =
            left ? LZ_NO_EINTR(send(l->fd, p, left,
                                    MSG_NOSIGNAL | MSG_DONTWAIT | (head && n ? MSG_MORE : 0)))
                 : 0;
        if (k < 0 && errno == EAGAIN)
            return;
        if (k < 0) {
            lose(l);
            return;
        }
        atomic_store(&l->sent, lz_now_ns());
        f->done += (size_t)k;
        if (f->done < LZ_WIRE_HEADER + n)
            continue;
        if (f->of) {
            over(f->of, true);
            lz_processes_ring();
        }
        drop_frame(l);
    }
}

/* Takes over `own`. */
static lz_status enqueue(uint32_t to, lz_wire_type type, uint32_t tag, lz_buf *own, lz_transfer *of)
{
    peer_link *l = &all.link[to];
    frame *f = own && own->failed ? NULL : lz_calloc(1, sizeof *f);
    if (!f) {
        if (own)
            lz_buf_free(own);
        return LZ_FAIL(LZ_EMEM, "no memory for a message to %s", all.process[to].name);
    }
    lz_wire_put_header(f->head, &(lz_wire_header){type, tag, of ? of->nbytes : own ? own->len : 0});
    if (own)
        f->own = *own;
    f->of = of;
    f->due = all.delay_ns ? lz_now_ns() + all.delay_ns : 0;
    lz_mutex_lock(&all.lock);
    bool gone = atomic_load(&l->state) == LZ_PROCESS_GONE;
    if (gone) {
        lz_buf_free(&f->own);
        lz_free(f);
    } else {
        if (l->last)
            l->last->next = f;
        else
            l->first = f;
        l->last = f;
        flush(l);
    }
    bool more = l->first != NULL;
    lz_mutex_unlock(&all.lock);
    if (more)
        wake_thread();
    return gone && of ? LZ_FAIL(LZ_EIO, "%s has gone", all.process[to].name) : LZ_OK;
}

lz_status lz_processes_send(uint32_t to, lz_wire_type type, lz_buf *payload)
{
    return enqueue(to, type, 0, payload, NULL);
}

/* ---- sockets as a transport ---- */

static lz_status post_send(lz_transfer *t, uint32_t to, uint32_t tag, const void *p, size_t nbytes)
{
    *t = (lz_transfer){.peer = to, .tag = tag, .at = (char *)p, .nbytes = nbytes, .sends = true};
    return enqueue(to, LZ_WIRE_DATA, tag, NULL, t);
}

static lz_status post_receive(lz_transfer *t, uint32_t from, uint32_t tag, void *p, size_t nbytes)
{
    peer_link *l = &all.link[from];
    *t = (lz_transfer){.peer = from, .tag = tag, .at = p, .nbytes = nbytes};
    lz_mutex_lock(&all.lock);
    bool gone = atomic_load(&l->state) == LZ_PROCESS_GONE;
    lz_transfer **at = &l->receives;
    while (*at) /* pieces of one tag come in the order in which they were posted */
        at = &(*at)->next;
    if (!gone)
        *at = t;
    lz_mutex_unlock(&all.lock);
    return gone ? LZ_FAIL(LZ_EIO, "%s has gone", all.process[from].name) : LZ_OK;
}

static lz_status test(lz_transfer *t, bool *done)
{
    uint32_t is = atomic_load(&t->over);
    *done = is != 0;
    return is == 2 ? LZ_FAIL(LZ_EIO, "%s has gone", all.process[t->peer].name) : LZ_OK;
}

/* A frame that has gone in part must go on, or the socket is of no use any more. */
static bool cancel(lz_transfer *t)
{
    peer_link *l = &all.link[t->peer];
    lz_mutex_lock(&all.lock);
    frame *before = NULL;
    if (!t->sends)
        unlink_receive(l, t);
    for (frame *f = l->first; f && t->sends; before = f, f = f->next) {
        if (f->of != t)
            continue;
        if (f->done) {
            lose(l);
        } else {
            *(before ? &before->next : &l->first) = f->next;
            if (l->last == f)
                l->last = before;
            lz_free(f);
        }
        break;
    }
    over(t, false);
    lz_mutex_unlock(&all.lock);
    return true;
}

const lz_transport lz_transport_sockets = {
    .name = "sockets",
    .title = "sockets",
    .last_tag = INT32_MAX,
    .send = post_send,
    .receive = post_receive,
    .test = test,
    .cancel = cancel,
};

/* ---- reading, on the thread ---- */

/* A frame begins: where its payload goes. Under lock. */
static void begin_frame(peer_link *l)
{
    l->got = 0;
    l->into = NULL;
    if (lz_wire_get_header(l->head, &l->h) != LZ_OK) {
        lose(l);
        return;
    }
    l->message.len = 0;
    if (l->h.type != LZ_WIRE_DATA)
        return;
    for (lz_transfer *t = l->receives; t && !l->into; t = t->next)
        if (t->tag == l->h.tag)
            l->into = t;
    if (l->into && l->into->nbytes != l->h.nbytes)
        lose(l);
}

/* n bytes of the payload, or at its end 0. Under lock. */
static ssize_t read_payload(peer_link *l)
{
    char room[4096];
    size_t left = (size_t)(l->h.nbytes - l->got);
    bool data = l->h.type == LZ_WIRE_DATA;
    void *to = l->into ? l->into->at + l->got : room;
    if (!l->into && left > sizeof room)
        left = sizeof room;
    ssize_t k = left ? LZ_NO_EINTR(recv(l->fd, to, left, MSG_DONTWAIT)) : 0;
    if (k > 0 && !data)
        lz_buf_put(&l->message, room, (size_t)k);
    return k;
}

/* The payload is there. Under lock; gives whether there is a message to deliver. */
static bool end_frame(peer_link *l)
{
    l->nhead = 0;
    switch (l->h.type) {
    case LZ_WIRE_DATA:
        if (l->into) {
            lz_transfer *t = l->into;
            unlink_receive(l, t);
            over(t, true);
        }
        return false;
    case LZ_WIRE_BYE:
        atomic_store(&l->bye, true);
        if (atomic_load(&l->state) == LZ_PROCESS_LIVE)
            atomic_store(&l->state, LZ_PROCESS_ENDING);
        return true;
    case LZ_WIRE_BYE_SEEN:
        atomic_store(&l->bye_seen, true);
        return false;
    case LZ_WIRE_BEAT:
    case LZ_WIRE_ADDRESS: /* of a join that has given up its transport */
        return false;
    case LZ_WIRE_ARRIVE:
    case LZ_WIRE_MISS:
    case LZ_WIRE_NOTE:
        if (l->message.failed)
            lose(l);
        return !l->message.failed;
    default: /* of a join */
        lose(l);
        return false;
    }
}

/* One step: how many bytes; 0: there is nothing more to read now. *deliver: a message is whole. */
static size_t read_some(peer_link *l, bool *deliver)
{
    *deliver = false;
    if (atomic_load(&l->state) == LZ_PROCESS_GONE)
        return 0;
    bool head = l->nhead < LZ_WIRE_HEADER;
    ssize_t k =
        head ? LZ_NO_EINTR(recv(l->fd, l->head + l->nhead, LZ_WIRE_HEADER - l->nhead, MSG_DONTWAIT))
             : read_payload(l);
    if (k < 0 && errno == EAGAIN)
        return 0;
    if (k <= 0) {
        lose(l);
        return 0;
    }
    atomic_store(&l->heard, lz_now_ns());
    if (head) {
        l->nhead += (size_t)k;
        if (l->nhead < LZ_WIRE_HEADER)
            return (size_t)k;
        begin_frame(l);
    } else {
        l->got += (uint64_t)k;
    }
    if (atomic_load(&l->state) != LZ_PROCESS_GONE && l->got == l->h.nbytes)
        *deliver = end_frame(l);
    return (size_t)k;
}

static bool deliver_to(const peer_link *l, uint32_t from)
{
    const lz_buf *m = &l->message;
    return l->h.type == LZ_WIRE_NOTE ? lz_talk_take(from, m->data, m->len)
                                     : all.deliver(from, l->h.type, m->data, m->len);
}

/* Until a message is whole, which is delivered without the lock, nothing more is there, or it is
 * the turn of others. */
static void read_link(uint32_t from)
{
    enum { TURN = 1 << 20 }; /* bytes */
    peer_link *l = &all.link[from];
    for (size_t n = 0, k = 1; k && n < TURN;) {
        bool deliver = false;
        lz_mutex_lock(&all.lock);
        for (; k && n < TURN && !deliver; n += k)
            k = read_some(l, &deliver);
        lz_mutex_unlock(&all.lock);
        if (deliver && l->h.type == LZ_WIRE_BYE) {
            (void)enqueue(from, LZ_WIRE_BYE_SEEN, 0, NULL, NULL);
        } else if (deliver && !deliver_to(l, from)) {
            LZ_WARN("distributed", "%s says what cannot be, and is taken for gone",
                    all.process[from].name);
            lz_mutex_lock(&all.lock);
            lose(l); /* nothing more is read */
            lz_mutex_unlock(&all.lock);
        }
    }
    lz_processes_ring();
}

/* ---- the thread ---- */

static void beat(void)
{
    int64_t now = lz_now_ns();
    for (uint32_t i = 0; i < all.size; i++) {
        peer_link *l = &all.link[i];
        lz_mutex_lock(&all.lock);
        bool idle = i != all.self && atomic_load(&l->state) != LZ_PROCESS_GONE && !l->first &&
                    now - atomic_load(&l->sent) >= BEAT_NS;
        lz_mutex_unlock(&all.lock);
        if (idle)
            (void)enqueue(i, LZ_WIRE_BEAT, 0, NULL, NULL);
    }
}

static void *serve(void *unused)
{
    int64_t last = lz_now_ns();
    for (;;) {
        int64_t now = lz_now_ns(), nap = BEAT_NS;
        lz_mutex_lock(&all.lock);
        for (uint32_t i = 0; i < all.size; i++) {
            peer_link *l = &all.link[i];
            bool gone = atomic_load(&l->state) == LZ_PROCESS_GONE;
            if (gone)
                lz_net_close(&l->fd);
            int64_t left = l->first && !l->first->done ? l->first->due - now : 0;
            bool out = l->first && left <= 0;
            nap = left > 0 && left < nap ? left : nap;
            all.poll[i] = (struct pollfd){.fd = gone ? -1 : l->fd,
                                          .events = (short)(POLLIN | (out ? POLLOUT : 0))};
        }
        lz_mutex_unlock(&all.lock);
        all.poll[all.size] = (struct pollfd){.fd = all.wake, .events = POLLIN};
        const struct timespec limit = {.tv_nsec = (long)nap};
        int n = ppoll(all.poll, all.size + 1, &limit, NULL);
        eventfd_t count;
        if (n > 0 && all.poll[all.size].revents)
            (void)eventfd_read(all.wake, &count);
        for (uint32_t i = 0; i < all.size && n > 0; i++) {
            if (all.poll[i].revents & POLLOUT) {
                lz_mutex_lock(&all.lock);
                flush(&all.link[i]);
                lz_mutex_unlock(&all.lock);
            }
            if (all.poll[i].revents & ~POLLOUT)
                read_link(i);
        }
        if (lz_now_ns() - last >= BEAT_NS / 2) {
            last = lz_now_ns();
            beat();
        }
    }
    return unused;
}

/* ---- the end ---- */

/* Whether somebody whom this process waits for is still there: for their BYE, or until they have
 * read ours, if they answer at all. */
static bool somebody(bool until_bye)
{
    for (uint32_t i = 0; i < all.size; i++) {
        const peer_link *l = &all.link[i];
        int state = i == all.self ? LZ_PROCESS_GONE : atomic_load(&l->state);
        if (until_bye ? state == LZ_PROCESS_LIVE
                      : state != LZ_PROCESS_GONE && !atomic_load(&l->bye_seen) &&
                            lz_now_ns() - atomic_load(&l->heard) < END_NS)
            return true;
    }
    return false;
}

/* What others still read of this process has arrived there when they have seen its BYE; a socket
 * that is closed with something unread drops it. MPI ends only where all end together. */
static void leave(void)
{
    if (lz_fork_happened())
        return;
    int64_t until = lz_now_ns() + END_NS;
    LZ_QUIETLY {
        for (uint32_t i = 0; i < all.size; i++)
            if (i != all.self)
                (void)enqueue(i, LZ_WIRE_BYE, 0, NULL, NULL);
        for (;;) {
            uint32_t seen = lz_processes_bell();
            int64_t left = until - lz_now_ns();
            if (left <= 0 || !somebody(false))
                break;
            lz_processes_wait(seen, left);
        }
        for (bool lost = false; all.via->end;) {
            uint32_t seen = lz_processes_bell();
            for (uint32_t i = 0; i < all.size; i++) {
                bool here = i == all.self || atomic_load(&all.link[i].state) != LZ_PROCESS_GONE;
                lost |= !here && i != all.self && !atomic_load(&all.link[i].bye);
                lost |=
                    here && i != all.self && lz_now_ns() - lz_processes_heard(i) > lz_join_limit();
            }
            if (lost || !all.via->end_together || !somebody(true)) {
                all.via->end(lost);
                break;
            }
            lz_processes_wait(seen, BEAT_NS);
        }
    }
}

/* ---- joining ---- */

static void free_all(void)
{
    lz_free(all.link);
    lz_free(all.process);
    lz_free(all.poll);
    all.link = NULL;
    all.process = NULL;
    all.poll = NULL;
}

/* Hosts and devices are counted in the order of ranks. */
static lz_status number_processes(const lz_join *j)
{
    uint32_t first = 0;
    all.hosts = 0;
    all.ndevice = 0;
    for (uint32_t i = 0; i < j->size; i++)
        all.ndevice += j->all[i].ndevice;
    if (all.ndevice > LZ_WIRE_MEMBERS)
        return LZ_FAIL(LZ_ERANGE, "%u devices of all processes: at most %d", all.ndevice,
                       LZ_WIRE_MEMBERS);
    for (uint32_t i = 0; i < j->size; i++) {
        const lz_wire_hello *h = &j->all[i];
        lz_process *p = &all.process[i];
        *p = (lz_process){.rank = i, .pid = h->pid, .ndevice = h->ndevice, .first = first};
        p->host = -1;
        for (uint32_t k = 0; k < i; k++)
            if (j->all[k].machine == h->machine) {
                p->host = all.process[k].host;
                p->local++;
            }
        if (p->host < 0)
            p->host = all.hosts++;
        snprintf(p->name, sizeof p->name, "rank %u (%.48s, pid %u)", i, h->host, h->pid);
        for (uint32_t k = 0; k < h->ndevice; k++)
            all.rank_of[first++] = (uint16_t)i;
    }
    return LZ_OK;
}

static lz_status start(const lz_process_info *p, lz_join *j)
{
    pthread_t thread;
    all.size = j->size;
    all.self = (uint32_t)p->index;
    all.via = lz_transport_of(j->transport);
    all.delay_ns = lz_cfg_int(LZ_OPT_SOCKET_DELAY) * 1000;
    all.link = lz_calloc(j->size, sizeof *all.link);
    all.process = lz_calloc(j->size, sizeof *all.process);
    all.poll = lz_calloc(j->size + 1, sizeof *all.poll);
    if (!all.link || !all.process || !all.poll)
        return LZ_FAIL(LZ_EMEM, "no memory for %u processes", j->size);
    LZ_TRY(number_processes(j));
    all.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (all.wake < 0)
        return LZ_FAIL(LZ_EUNAVAILABLE, "eventfd: %s", strerrordesc_np(errno));
    for (uint32_t i = 0; i < j->size; i++) {
        all.link[i].fd = j->fd[i];
        atomic_store(&all.link[i].state, i == all.self ? LZ_PROCESS_GONE : LZ_PROCESS_LIVE);
        atomic_store(&all.link[i].heard, lz_now_ns());
    }
    lz_status s = lz_thread_start(&thread, "lz-processes", serve, NULL);
    if (s != LZ_OK) {
        (void)lz_file_close(all.wake);
        return s;
    }
    (void)pthread_detach(thread);
    for (uint32_t i = 0; i < j->size; i++)
        j->fd[i] = -1; /* the thread's now */
    (void)atexit(leave);
    return LZ_OK;
}

static lz_once once = LZ_ONCE_INIT;
static lz_error failure;
static _Atomic uint32_t devices_here;

static void join_once(void)
{
    const lz_process_info *p;
    lz_join j = {0};
    LZ_QUIETLY {
        lz_status s = lz_process_info_get(&p);
        if (s == LZ_OK)
            s = lz_join_all(p, atomic_load(&devices_here), &j);
        if (s == LZ_OK)
            s = start(p, &j);
        if (s != LZ_OK) {
            failure = *lz_error_get();
            free_all();
        } else if (all.self == 0 && all.via == &lz_transport_sockets) {
            char why[600];
            lz_join_why_sockets(why, sizeof why);
            LZ_WARN("distributed",
                    "tensors go between processes over plain sockets, which is for development: %s",
                    why);
        }
        lz_join_free(&j);
    }
}

lz_status lz_processes_join(uint32_t ndevice)
{
    atomic_store(&devices_here, ndevice);
    lz_once_run(&once, join_once);
    if (failure.status != LZ_OK)
        lz_error_set(&failure);
    return failure.status;
}
