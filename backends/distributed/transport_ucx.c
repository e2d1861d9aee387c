/* transport_ucx.c - UCX between processes, without its headers (ucx_abi.h): the library is opened
 * when processes join, each sends the address of its worker to each other over their sockets, and
 * nobody goes on before each has heard each. Messages are matched by tag: who sends, and the tag
 * that the receiver has given out. Who waits makes progress; where nobody does, a thread finishes
 * what is left of protocols, with naps that grow to a second, at which UCX looks after its peers.
 * (UCX could ring instead, UCP_FEATURE_WAKEUP: that is a system call for each message, and takes
 * the fastest ways from it.) Endpoints report peers that fail; what is taken for failed there is
 * lost here, too, so all that wait for it have the same error. Within a host UCX does that by
 * shared memory only if it is asked to (MM_ERROR_HANDLING). A process that does not answer may go
 * on reading what is sent to it out of this process's memory (RDMA): such sends are not cancelled.
 * Threads: UCS_THREAD_MODE_SERIALIZED: one lock around every call. */
#include "backends/distributed/net.h"
#include "backends/distributed/processes.h"
#include "backends/distributed/ucx_abi.h"
#include "base/alloc.h"
#include "base/config.h"
#include "base/env.h"
#include "base/log.h"
#include "base/text.h"
#include "base/thread.h"
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    FIRST_NAP_NS = 1000000,
    LAST_NAP_NS = 1000000000,
    CLOSING_NAP_NS = 20000,
    LOOK_NS = 100000000, /* for who goes while processes greet each other */
    SOME = 64,           /* calls of ucp_worker_progress in a row, while there is some */
    MUCH = 1000,         /* the same for something that is waited for, or cancelled */
    GREET = 1u << 31     /* the tag of the first message */
};
#define END_NS INT64_C(2000000000) /* for others to take part in the end */

static const lz_symbol symbols[] = {
#define UCX_FN(name)                                                                               \
    {                                                                                              \
#name, offsetof(lz_ucx_api, name), false                                                   \
    }
    UCX_FN(ucp_get_version),        UCX_FN(ucp_config_read),
    UCX_FN(ucp_config_modify),      UCX_FN(ucp_config_release),
    UCX_FN(ucp_init_version),       UCX_FN(ucp_cleanup),
    UCX_FN(ucp_worker_create),      UCX_FN(ucp_worker_destroy),
    UCX_FN(ucp_worker_get_address), UCX_FN(ucp_worker_release_address),
    UCX_FN(ucp_worker_progress),    UCX_FN(ucp_ep_create),
    UCX_FN(ucp_ep_close_nbx),       UCX_FN(ucp_tag_send_nbx),
    UCX_FN(ucp_tag_recv_nbx),       UCX_FN(ucp_tag_probe_nb),
    UCX_FN(ucp_tag_msg_recv_nbx),   UCX_FN(ucp_request_cancel),
    UCX_FN(ucp_request_free),       UCX_FN(ucp_request_check_status),
    UCX_FN(ucs_status_string),      UCX_FN(ucs_log_push_handler),
    UCX_FN(ucs_log_pop_handler),
#undef UCX_FN
};

typedef struct peer_end {
    void *ep;            /* NULL: it is closed, or there is none */
    _Atomic bool failed; /* as UCX says */
} peer_end;

static struct {
    lz_once once;
    lz_mutex lock;
    uint32_t version; /* major << 16 | minor; 0: it cannot be used */
    const char *why;
    char reason[LZ_TRANSPORT_REASON];
    lz_ucx_api api;
    void *context, *worker;
    uint32_t self, size;
    peer_end *peer; /* [size] */
    pthread_t thread;
    void *kept;            /* the greetings, where they could not be cancelled */
    bool runs;             /* the thread */
    bool logs;             /* log_it is pushed */
    bool stop, rung;       /* under lock: it must end; something has ended */
    _Atomic uint32_t work; /* changes when there is some: the thread sleeps on it */
    _Atomic bool asleep;   /* for long */
} ucx = {.once = LZ_ONCE_INIT, .lock = LZ_MUTEX_INIT("ucx")};

/* ---- the library ---- */

/* UCX takes signals that report errors, SIGHUP, and what its options say; they belong to the
 * program. */
static void *open_without_handlers(const char *name)
{
    struct sigaction was[NSIG];
    stack_t stack;
    bool known[NSIG], stacked = sigaltstack(NULL, &stack) == 0;
    for (int i = 1; i < NSIG; i++)
        known[i] = sigaction(i, NULL, &was[i]) == 0;
    void *h = lz_transport_library(name, "libucx0", RTLD_NOW | RTLD_LOCAL, symbols,
                                   sizeof symbols / sizeof *symbols, &ucx.api, ucx.reason);
    for (int i = 1; i < NSIG; i++) {
        struct sigaction is;
        if (known[i] && sigaction(i, NULL, &is) == 0 && is.sa_handler != was[i].sa_handler)
            (void)sigaction(i, &was[i], NULL);
    }
    if (stacked)
        (void)sigaltstack(&stack, NULL);
    return h;
}

static void load(void)
{
    const char *name = lz_cfg_str(LZ_OPT_UCX);
    unsigned major = 0, minor = 0, release = 0;
    ucx.why = ucx.reason;
    name = *name ? name : "libucp.so.0";
    if (!open_without_handlers(name))
        return;
    ucx.api.ucp_get_version(&major, &minor, &release);
    if (major != LZ_UCX_MAJOR || minor < LZ_UCX_MINOR)
        snprintf(ucx.reason, sizeof ucx.reason,
                 "%.60s is UCX %u.%u.%u; %d.%d or a later %d.x is needed", name, major, minor,
                 release, LZ_UCX_MAJOR, LZ_UCX_MINOR, LZ_UCX_MAJOR);
    else
        ucx.version = major << 16 | minor;
}

static void load_once(void)
{
    LZ_QUIETLY {
        load();
    }
}

static uint32_t offer(const char **why)
{
    lz_once_run(&ucx.once, load_once);
    *why = ucx.why;
    return ucx.version;
}

/* ---- progress ---- */

/* Under lock. */
static bool some_progress(int most)
{
    bool any = false;
    while (most-- > 0 && ucx.api.ucp_worker_progress(ucx.worker))
        any = true;
    return any;
}

/* There is something to do. */
static void wake_thread(void)
{
    atomic_fetch_add(&ucx.work, 1);
    if (atomic_exchange(&ucx.asleep, false))
        lz_futex_wake(&ucx.work, 1);
}

static void unlock_and_ring(void)
{
    bool rung = ucx.rung;
    ucx.rung = false;
    lz_mutex_unlock(&ucx.lock);
    if (rung)
        lz_processes_ring();
}

static void *make_progress(void *unused)
{
    int64_t nap = FIRST_NAP_NS;
    uint32_t seen = atomic_load(&ucx.work);
    for (bool stop = false; !stop;) {
        lz_mutex_lock(&ucx.lock);
        stop = ucx.stop;
        bool any = !stop && some_progress(SOME);
        unlock_and_ring();
        uint32_t now = atomic_load(&ucx.work);
        nap = any || now != seen ? FIRST_NAP_NS : 2 * nap < LAST_NAP_NS ? 2 * nap : LAST_NAP_NS;
        seen = now;
        if (nap > FIRST_NAP_NS)
            atomic_store(&ucx.asleep, true);
        if (!stop)
            (void)lz_futex_wait(&ucx.work, seen, nap);
        atomic_store(&ucx.asleep, false);
    }
    return unused;
}

/* ---- starting ---- */

/* Errors and warnings of UCX, which writes them to the program's standard output. */
static int log_it(const char *file, unsigned line, const char *function, unsigned level,
                  const void *component, const char *message, va_list ap)
{
    char text[300];
    (void)file, (void)line, (void)function, (void)component;
    if (level > LZ_UCS_LOG_LEVEL_WARN) /* somebody has asked for them */
        return LZ_UCS_LOG_FUNC_RC_CONTINUE;
    if (lz_vsnprintf(text, sizeof text, message, ap) < 0)
        text[0] = 0;
    LZ_WARN("distributed", "UCX: %s", text);
    return LZ_UCS_LOG_FUNC_RC_STOP;
}

/* Its threads must not get the program's signals. */
static void block_signals(sigset_t *was)
{
    sigset_t all;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, was);
}

static lz_status failed(const char *what, lz_ucs_status s)
{
    return LZ_FAIL(LZ_EUNAVAILABLE, "%s: %.100s", what, ucx.api.ucs_status_string(s));
}

/* What the user has not said. Within a host it is shared memory that reports peers which fail; not
 * POSIX's, which is filled before its name is removed, so a process that is killed then leaves a
 * file of megabytes: System V's is removed at once. UCX warns of options of what it does not use.
 */
static void set_options(void *config)
{
    static const char *const shared[] = {"sysv", "posix", "shm", "sm", "mm", "all", "^"};
    const char *tls = lz_env_get("UCX_TLS");
    bool has = !tls;
    for (size_t i = 0; i < sizeof shared / sizeof *shared && !has; i++)
        has = strstr(tls, shared[i]) != NULL;
    if (!tls)
        (void)ucx.api.ucp_config_modify(config, "TLS", "^posix");
    if (has && !lz_env_get("UCX_MM_ERROR_HANDLING"))
        (void)ucx.api.ucp_config_modify(config, "MM_ERROR_HANDLING", "y");
}

static lz_status open_context(uint32_t size)
{
    const lz_ucp_params params = {
        .field_mask = LZ_UCP_PARAM_FEATURES | LZ_UCP_PARAM_ESTIMATED_NUM_EPS,
        .features = LZ_UCP_FEATURE_TAG,
        .estimated_num_eps = size,
    };
    void *config = NULL;
    lz_ucs_status s = ucx.api.ucp_config_read(NULL, NULL, &config);
    if (s != LZ_UCS_OK)
        return failed("ucp_config_read", s);
    set_options(config);
    s = ucx.api.ucp_init_version(LZ_UCX_MAJOR, LZ_UCX_MINOR, &params, config, &ucx.context);
    ucx.api.ucp_config_release(config);
    return s == LZ_UCS_OK ? LZ_OK : failed("ucp_init", s);
}

static lz_status open_worker(lz_buf *address)
{
    const lz_ucp_worker_params params = {
        .field_mask = LZ_UCP_WORKER_PARAM_THREAD_MODE,
        .thread_mode = LZ_UCS_THREAD_MODE_SERIALIZED,
    };
    void *at = NULL;
    size_t n = 0;
    lz_ucs_status s = ucx.api.ucp_worker_create(ucx.context, &params, &ucx.worker);
    if (s != LZ_UCS_OK)
        return failed("ucp_worker_create", s);
    s = ucx.api.ucp_worker_get_address(ucx.worker, &at, &n);
    if (s != LZ_UCS_OK)
        return failed("ucp_worker_get_address", s);
    lz_buf_put(address, at, n);
    ucx.api.ucp_worker_release_address(ucx.worker, at);
    return address->failed ? LZ_FAIL(LZ_EMEM, "no memory for an address") : LZ_OK;
}

static lz_status start(uint32_t rank, uint32_t size, lz_buf *address)
{
    sigset_t was;
    ucx.self = rank;
    ucx.size = size;
    ucx.peer = lz_calloc(size, sizeof *ucx.peer);
    if (!ucx.peer)
        return LZ_FAIL(LZ_EMEM, "no memory for %u processes", size);
    block_signals(&was);
    lz_mutex_lock(&ucx.lock);
    ucx.api.ucs_log_push_handler(log_it);
    ucx.logs = true;
    lz_status s = open_context(size);
    if (s == LZ_OK)
        s = open_worker(address);
    lz_mutex_unlock(&ucx.lock);
    (void)pthread_sigmask(SIG_SETMASK, &was, NULL);
    if (s == LZ_OK)
        s = lz_thread_start(&ucx.thread, "lz-ucx", make_progress, NULL);
    ucx.runs = s == LZ_OK;
    return s;
}

/* ---- transfers ---- */

/* Under lock, of UCX. Whose transfer it is may free it from now on. */
static void is_over(lz_transfer *t, bool ok)
{
    ucx.rung = true;
    t->request = 0;
    atomic_store(&t->over, ok ? 1 : 2);
}

static void sent(void *request, lz_ucs_status status, void *user)
{
    ucx.api.ucp_request_free(request);
    is_over(user, status == LZ_UCS_OK);
}

static void received(void *request, lz_ucs_status status, const lz_ucp_tag_info *info, void *user)
{
    lz_transfer *t = user;
    bool ok = status == LZ_UCS_OK && info->length == t->nbytes; /* as where it comes at once */
    ucx.api.ucp_request_free(request);
    is_over(t, ok);
}

static lz_status gone(uint32_t rank)
{
    lz_processes_lose(rank); /* the sockets know it, or will */
    return LZ_FAIL(LZ_EIO, "%s has gone", lz_processes_get(rank)->name);
}

/* Under lock; gives whether UCX has taken it. */
static bool begin(lz_transfer *t)
{
    lz_ucp_request_param param = {
        .op_attr_mask =
            LZ_UCP_OP_ATTR_CALLBACK | LZ_UCP_OP_ATTR_USER_DATA | LZ_UCP_OP_ATTR_MEMORY_TYPE,
        .user_data = t,
        .memory_type = LZ_UCS_MEMORY_TYPE_HOST,
    };
    lz_ucp_tag_info info = {.length = t->nbytes};
    peer_end *e = &ucx.peer[t->peer];
    if (!ucx.worker || !e->ep || atomic_load(&e->failed))
        return false;
    uint64_t tag = (uint64_t)(t->sends ? ucx.self : t->peer) << 32 | t->tag;
    if (t->sends) {
        param.cb.send = sent;
    } else {
        param.op_attr_mask |= LZ_UCP_OP_ATTR_RECV_INFO;
        param.cb.recv = received;
        param.recv_info = &info;
    }
    void *request =
        t->sends ? ucx.api.ucp_tag_send_nbx(e->ep, t->at, t->nbytes, tag, &param)
                 : ucx.api.ucp_tag_recv_nbx(ucx.worker, t->at, t->nbytes, tag, UINT64_MAX, &param);
    if (lz_ucs_is_error(request))
        return false;
    if (!request)
        is_over(t, info.length == t->nbytes);
    else
        t->request = (uint64_t)(uintptr_t)request;
    return true;
}

static bool post(lz_transfer *t, uint32_t peer, uint32_t tag, void *p, size_t nbytes, bool sends)
{
    *t = (lz_transfer){.peer = peer, .tag = tag, .at = p, .nbytes = nbytes, .sends = sends};
    lz_mutex_lock(&ucx.lock);
    bool ok = begin(t);
    if (ok && sends)
        (void)some_progress(SOME);
    unlock_and_ring();
    if (!ok)
        atomic_store(&t->over, 2);
    wake_thread();
    return ok;
}

static lz_status post_send(lz_transfer *t, uint32_t to, uint32_t tag, const void *p, size_t nbytes)
{
    return post(t, to, tag, (void *)p, nbytes, true) ? LZ_OK : gone(to);
}

static lz_status post_receive(lz_transfer *t, uint32_t from, uint32_t tag, void *p, size_t nbytes)
{
    return post(t, from, tag, p, nbytes, false) ? LZ_OK : gone(from);
}

/* What a process has sent before it went may be here, and not have been looked at. */
static lz_status test(lz_transfer *t, bool *done)
{
    if (!atomic_load(&t->over)) {
        lz_mutex_lock(&ucx.lock);
        if (ucx.worker)
            (void)some_progress(MUCH);
        unlock_and_ring();
    }
    bool lost = atomic_load(&ucx.peer[t->peer].failed);
    uint32_t is = atomic_load(&t->over);
    *done = is != 0;
    return is == 1 || (!is && !lost) ? LZ_OK : gone(t->peer);
}

/* ---- the end of an endpoint ---- */

/* Under lock. By force: at once, and all that is under way to it ends; else when it has arrived.
 * Gives a request or NULL. */
static void *close_end(peer_end *e, bool by_force)
{
    const lz_ucp_request_param param = {
        .op_attr_mask = LZ_UCP_OP_ATTR_FLAGS,
        .flags = by_force ? LZ_UCP_EP_CLOSE_FLAG_FORCE : 0,
    };
    void *request = e->ep ? ucx.api.ucp_ep_close_nbx(e->ep, &param) : NULL;
    e->ep = NULL;
    return lz_ucs_is_error(request) ? NULL : request;
}

/* Nobody touches the memory of a receive that has not begun, or of a process that has gone. */
static bool cancel_of(lz_transfer *t, bool dead)
{
    if (atomic_load(&t->over))
        return true;
    lz_mutex_lock(&ucx.lock);
    if (ucx.worker && !t->sends && t->request)
        ucx.api.ucp_request_cancel(ucx.worker, (void *)(uintptr_t)t->request);
    if (ucx.worker && dead && !atomic_load(&t->over)) {
        void *request = close_end(&ucx.peer[t->peer], true);
        if (request)
            ucx.api.ucp_request_free(request); /* it ends by itself */
    }
    for (int i = 0; i < MUCH && ucx.worker && !atomic_load(&t->over); i++)
        (void)ucx.api.ucp_worker_progress(ucx.worker);
    bool is = atomic_load(&t->over) != 0;
    unlock_and_ring();
    return is;
}

static bool cancel(lz_transfer *t)
{
    return cancel_of(t, lz_processes_state(t->peer) == LZ_PROCESS_GONE);
}

/* ---- connecting ---- */

static void peer_failed(void *arg, void *ep, lz_ucs_status status)
{
    peer_end *e = arg;
    (void)ep, (void)status;
    atomic_store(&e->failed, true);
    ucx.rung = true;
}

static lz_status connect_to(uint32_t rank, const lz_buf *address)
{
    const lz_ucp_ep_params params = {
        .field_mask = LZ_UCP_EP_PARAM_REMOTE_ADDRESS | LZ_UCP_EP_PARAM_ERR_HANDLING_MODE |
                      LZ_UCP_EP_PARAM_ERR_HANDLER,
        .address = address->data,
        .err_mode = LZ_UCP_ERR_HANDLING_MODE_PEER,
        .err_handler = {peer_failed, &ucx.peer[rank]},
    };
    char what[40];
    snprintf(what, sizeof what, "rank %u cannot be reached", rank);
    lz_ucs_status s = ucx.api.ucp_ep_create(ucx.worker, &params, &ucx.peer[rank].ep);
    return s == LZ_UCS_OK ? LZ_OK : failed(what, s);
}

/* The first messages, to and from all: [size] of each. */
typedef struct greeting {
    lz_transfer out, in;
    uint64_t said, heard;
} greeting;

static lz_status greet(greeting *g, const int *sockets, int64_t deadline)
{
    for (uint32_t i = 0; i < ucx.size; i++) {
        g[i].said = ucx.self;
        if (i != ucx.self && !(post(&g[i].in, i, GREET, &g[i].heard, sizeof g[i].heard, false) &&
                               post(&g[i].out, i, GREET, &g[i].said, sizeof g[i].said, true)))
            return LZ_FAIL(LZ_EUNAVAILABLE, "rank %u cannot be reached", i);
    }
    for (uint32_t i = 0; i < ucx.size; i++) {
        while (i != ucx.self) {
            uint32_t seen = lz_processes_bell(), in = atomic_load(&g[i].in.over),
                     out = atomic_load(&g[i].out.over);
            int64_t left = deadline - lz_now_ns();
            if (in == 1 && out == 1 && g[i].heard == i)
                break;
            if (in == 2 || out == 2 || (in == 1 && g[i].heard != i) || left <= 0 ||
                atomic_load(&ucx.peer[i].failed) || lz_net_is_closed(sockets[i]))
                return LZ_FAIL(LZ_EUNAVAILABLE, "rank %u cannot be reached", i);
            lz_processes_wait(seen, left < LOOK_NS ? left : LOOK_NS);
        }
    }
    return LZ_OK;
}

static lz_status connect_all(const lz_buf *theirs, const int *sockets, int64_t deadline)
{
    sigset_t was;
    lz_status s = LZ_OK;
    greeting *g = lz_calloc(ucx.size, sizeof *g);
    if (!g)
        return LZ_FAIL(LZ_EMEM, "no memory for %u processes", ucx.size);
    block_signals(&was);
    lz_mutex_lock(&ucx.lock);
    for (uint32_t i = 0; i < ucx.size && s == LZ_OK; i++)
        if (i != ucx.self)
            s = connect_to(i, &theirs[i]);
    unlock_and_ring();
    (void)pthread_sigmask(SIG_SETMASK, &was, NULL);
    if (s == LZ_OK)
        s = greet(g, sockets, deadline);
    bool all_over = true;
    for (uint32_t i = 0; i < ucx.size && s != LZ_OK; i++)
        for (int in = 0; in < 2; in++) {
            lz_transfer *t = in ? &g[i].in : &g[i].out;
            all_over &= !t->at || cancel_of(t, true);
        }
    if (all_over)
        lz_free(g);
    else
        ucx.kept = g;
    return s;
}

/* ---- the end ---- */

static bool is_open(void *request)
{
    if (request && ucx.api.ucp_request_check_status(request) == LZ_UCS_INPROGRESS)
        return true;
    if (request)
        ucx.api.ucp_request_free(request);
    return false;
}

/* Under lock: closes all endpoints, whose requests are left in `ep`; whether all have ended. lost:
 * some have gone, or a join has failed. */
static bool close_all(bool lost)
{
    int64_t until = lz_now_ns() + END_NS;
    uint32_t open = 0;
    for (uint32_t i = 0; i < ucx.size; i++) {
        peer_end *e = &ucx.peer[i];
        bool dead = lost && (!lz_processes_count() || lz_processes_state(i) == LZ_PROCESS_GONE);
        e->ep = close_end(e, dead || atomic_load(&e->failed));
    }
    do {
        for (int i = 0; i < SOME; i++)
            (void)ucx.api.ucp_worker_progress(ucx.worker);
        open = 0;
        for (uint32_t i = 0; i < ucx.size; i++) {
            peer_end *e = &ucx.peer[i];
            if (!is_open(e->ep))
                e->ep = NULL;
            open += e->ep != NULL;
        }
        if (open)
            (void)nanosleep(&(struct timespec){0, CLOSING_NAP_NS}, NULL);
    } while (open && lz_now_ns() < until);
    return !open;
}

/* Under lock: messages to receives that were cancelled, of which UCX would warn. */
static void drop_unexpected(void)
{
    const lz_ucp_request_param param = {0};
    lz_ucp_tag_info info;
    void *message;
    char none[1];
    while ((message = ucx.api.ucp_tag_probe_nb(ucx.worker, 0, 0, 1, &info)) != NULL) {
        void *request = ucx.api.ucp_tag_msg_recv_nbx(ucx.worker, none, 0, message, &param);
        for (int i = 0; i < SOME && !lz_ucs_is_error(request) && is_open(request); i++)
            (void)ucx.api.ucp_worker_progress(ucx.worker);
    }
}

/* What cannot be closed in time is left to the system: UCX removes the names of what it shares when
 * it makes it. */
static void end(bool lost)
{
    lz_mutex_lock(&ucx.lock);
    ucx.stop = true;
    lz_mutex_unlock(&ucx.lock);
    wake_thread();
    if (ucx.runs)
        (void)pthread_join(ucx.thread, NULL);
    ucx.runs = false;
    lz_mutex_lock(&ucx.lock);
    void *worker = ucx.worker;
    if (worker && close_all(lost)) {
        drop_unexpected();
        ucx.api.ucp_worker_destroy(worker);
        ucx.worker = NULL;
    }
    if (ucx.context && !ucx.worker)
        ucx.api.ucp_cleanup(ucx.context);
    if (ucx.logs)
        ucx.api.ucs_log_pop_handler();
    ucx.logs = false;
    ucx.worker = ucx.context = NULL;
    unlock_and_ring();
}

const lz_transport lz_transport_ucx = {
    .name = "ucx",
    .title = "UCX",
    .polls = true,
    .last_tag = GREET - 1,
    .offer = offer,
    .start = start,
    .connect = connect_all,
    .send = post_send,
    .receive = post_receive,
    .test = test,
    .cancel = cancel,
    .end = end,
};
