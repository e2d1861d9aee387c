/* nccl_mock.c - a library with the entry points of NCCL that the project calls, on the memory and
 * the streams of the one that stands in for the driver. Communicators are non-blocking: calls are
 * in progress until they have been asked a few times. A group must have the calls of all ranks, and
 * all ranks of a communicator the same ones in the same order, sends and receives in pairs, on
 * memory and streams of their devices: NCCL would hang or read what it may not otherwise. Work is
 * done when a stream comes to it, and then waits for the streams of the other ranks. Sums are made
 * in another order than that of the ranks. Threads: the driver's lock around everything. */
#include "backends/cuda/nccl.h"
#include "test/mock/cuda_mock_state.h"
#include "test/mock/nccl_mock.h"
#include "test/mock/nccl_mock_math.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API MOCK_API
enum { MOST = MOCK_DEVICES, CALLS = 4096, POLLS = 2, MAGIC = 0x6e63, VERSION_OF_CONFIG = 21400 };

typedef struct clique clique;
struct clique {
    clique *next;
    uint64_t number;
    int n, there, polls;
    int result;          /* after `polls` more questions */
    bool aborted, stuck; /* stuck: in progress for ever */
    nccl_comm rank[MOST];
};
struct nccl_comm_ {
    clique *c;
    int rank;
    cu_context owner;
};

typedef enum call_kind { REDUCE, SCATTER, GATHER, BROADCAST, SEND, RECV } call_kind;
typedef struct call {
    call_kind kind;
    nccl_comm comm;
    const char *from;
    char *to;
    size_t count;
    int type, op, peer; /* peer: or the root */
    cu_stream stream;
} call;

/* What all ranks of a communicator do at once, when their streams come to it. */
typedef struct joint joint;
struct joint {
    joint *next;
    clique *c;
    int n, left;
    bool done;
    call calls[MOST];
    char *out[MOST];
    size_t nbytes[MOST]; /* of out */
};

static clique *cliques, *gone;
static uint64_t numbers;
static lz_nccl_mock_stats stats;
static int version = 22304;
static struct {
    lz_nccl_mock_fault fault;
    uint64_t n;
    int code;
} fault;
/* The group that is open: of one thread at a time, as NCCL's callers here keep it. */
static int depth;
static pthread_t opener;
static call calls[CALLS];
static uint32_t ncall;
static clique *made[MOST]; /* communicators that the group makes */
static int nmade;
static joint *joints; /* that have work left */

API void lzNcclMockFault(lz_nccl_mock_fault f, uint64_t n, int code)
{
    mock_lock();
    fault.fault = f;
    fault.n = n;
    fault.code = code;
    (void)mock_leave(0);
}

API void lzNcclMockVersion(int v)
{
    version = v;
}

API void lzNcclMockGetStats(lz_nccl_mock_stats *out)
{
    mock_lock();
    *out = stats;
    (void)mock_leave(0);
}

static int wrong(const char *what)
{
    stats.wrong++;
    fprintf(stderr, "nccl mock: %s\n", what);
    return NCCL_INVALID_USAGE;
}

/* A call begins. */
#undef ENTER
#define ENTER()                                                                                    \
    int r_ = mock_enter(__func__, NULL);                                                           \
    if (r_)                                                                                        \
    return mock_leave(r_)

/* ---- what needs no device ---- */

API int ncclGetVersion(int *v)
{
    ENTER();
    if (v)
        *v = version;
    return mock_leave(v ? NCCL_OK : NCCL_INVALID_ARGUMENT);
}

API const char *ncclGetErrorString(int result)
{
    static const char *const texts[] = {"no error",
                                        "unhandled cuda error",
                                        "unhandled system error",
                                        "internal error",
                                        "invalid argument",
                                        "invalid usage",
                                        "remote process exited or there was a network error",
                                        "NCCL operation in progress"};
    return result >= 0 && result < 8 ? texts[result] : "unknown result code";
}

API const char *ncclGetLastError(nccl_comm comm)
{
    return comm && comm->c->result ? "as the test asked for" : "";
}

API int ncclGetUniqueId(nccl_id *id)
{
    ENTER();
    uint64_t words[2] = {MAGIC, ++numbers};
    memset(id, 0x5a, sizeof *id);
    memcpy(id->bytes, words, sizeof words);
    return mock_leave(NCCL_OK);
}

/* ---- communicators ---- */

static clique *clique_of(uint64_t number, int n)
{
    for (clique *c = cliques; c; c = c->next)
        if (c->number == number)
            return c;
    clique *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->number = number;
    c->n = n;
    c->next = cliques;
    return cliques = c;
}

/* Whether the next thing to be done is the one that goes wrong. */
static lz_nccl_mock_fault takes_fault(void)
{
    if (!fault.n || --fault.n)
        return LZ_NCCL_MOCK_NOTHING;
    return fault.fault;
}

static int join(clique *c, int n, int rank, nccl_comm *comm)
{
    if (!c)
        return NCCL_SYSTEM;
    if (n != c->n || n > MOST || rank < 0 || rank >= n || c->rank[rank])
        return wrong("a rank that there is not, or that has come already");
    for (int i = 0; i < n; i++)
        if (c->rank[i] && c->rank[i]->owner == mock_current())
            return wrong("two ranks on one device");
    nccl_comm r = calloc(1, sizeof *r);
    if (!r)
        return NCCL_SYSTEM;
    *r = (struct nccl_comm_){.c = c, .rank = rank, .owner = mock_current()};
    *comm = c->rank[rank] = r;
    c->there++;
    c->polls = POLLS * n;
    stats.made++;
    stats.live++;
    return NCCL_IN_PROGRESS;
}

API int ncclCommInitRankConfig(nccl_comm *comm, int nranks, nccl_id id, int rank,
                               nccl_config *config)
{
    uint64_t words[2];
    ENTER();
    memcpy(words, id.bytes, sizeof words);
    bool known = config && config->size == sizeof *config &&
                 config->magic == (unsigned)NCCL_MAGIC && config->version == VERSION_OF_CONFIG;
    if (!known || words[0] != MAGIC || id.bytes[127] != 0x5a || nranks < 1)
        return mock_leave(NCCL_INVALID_ARGUMENT);
    if (config->blocking != 0)
        return mock_leave(wrong("a communicator whose calls block"));
    if (!mock_current())
        return mock_leave(wrong("a rank without a device"));
    if (nranks > 1 && !depth)
        return mock_leave(wrong("one of several ranks outside of a group"));
    clique *c = clique_of(words[1], nranks);
    int r = join(c, nranks, rank, comm);
    for (int i = 0; c && i <= nmade; i++) {
        if (i < nmade && made[i] == c)
            break;
        if (i == nmade && nmade < MOST) {
            made[nmade++] = c;
            break;
        }
    }
    if (!depth) {
        c->stuck = takes_fault() == LZ_NCCL_MOCK_STUCK;
        nmade = 0;
    }
    return mock_leave(r);
}

API int ncclCommGetAsyncError(nccl_comm comm, int *result)
{
    ENTER();
    clique *c = comm->c;
    stats.polls++;
    *result = c->stuck || c->polls > 0 ? NCCL_IN_PROGRESS : c->result;
    c->polls -= c->polls > 0;
    return mock_leave(NCCL_OK);
}

static void leave_clique(nccl_comm comm)
{
    clique *c = comm->c, **at = &cliques;
    c->rank[comm->rank] = NULL;
    free(comm);
    stats.live--;
    if (--c->there)
        return;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    c->next = gone; /* work may name it for as long as there are streams */
    gone = c;
}

API int ncclCommDestroy(nccl_comm comm)
{
    ENTER();
    leave_clique(comm);
    return mock_leave(NCCL_OK);
}

API int ncclCommAbort(nccl_comm comm)
{
    mock_lock(); /* undoing does not fail */
    clique *c = comm->c;
    c->aborted = true;
    stats.aborted++;
    leave_clique(comm);
    if (!c->there)
        mock_hang(false);
    return mock_leave(NCCL_OK);
}

/* ---- work ---- */

static size_t bytes_in(const call *k)
{
    size_t n = k->count * (size_t)nccl_mock_size(k->type);
    return k->kind == SCATTER ? n * (size_t)k->comm->c->n : n;
}

static size_t bytes_out(const call *k)
{
    size_t n = k->count * (size_t)nccl_mock_size(k->type);
    return k->kind == GATHER ? n * (size_t)k->comm->c->n : n;
}

static void result_of(const joint *j, int i)
{
    const call *k = &j->calls[i];
    const void *from[MOST];
    size_t n = k->count * (size_t)nccl_mock_size(k->type);
    for (int p = 0; p < j->n; p++)
        from[p] = j->calls[p].from + (k->kind == SCATTER ? (size_t)k->comm->rank * n : 0);
    if (k->kind == GATHER)
        for (int p = 0; p < j->n; p++)
            memcpy(j->out[i] + (size_t)j->calls[p].comm->rank * n, j->calls[p].from, n);
    else if (k->kind == BROADCAST || k->kind == RECV)
        memcpy(j->out[i], from[k->kind == RECV ? 0 : k->peer], n);
    else if (k->kind != SEND)
        nccl_mock_combine(j->out[i], from, j->n, k->count, k->type, k->op);
}

static void forget(joint *j)
{
    joint **at = &joints;
    while (*at != j)
        at = &(*at)->next;
    *at = j->next;
    for (int p = 0; p < j->n; p++)
        free(j->out[p]);
    free(j);
}

/* The first stream that comes makes the results of all: the others have what they send. */
static int run_call(const uint64_t *v)
{
    joint *j = (joint *)(uintptr_t)v[0];
    int i = (int)v[1];
    for (int p = 0; p < j->n && !j->done; p++)
        if (!j->c->aborted)
            result_of(j, p);
    j->done = true;
    if (!j->c->aborted && j->calls[i].kind != SEND)
        memcpy(j->calls[i].to, j->out[i], j->nbytes[i]);
    if (--j->left == 0)
        forget(j);
    return 0;
}

static int push_wait(cu_stream s, cu_stream other, uint64_t upto)
{
    mock_op *o = calloc(1, sizeof *o);
    if (o) {
        o->kind = OP_WAIT;
        o->other = other;
        o->upto = upto;
    }
    return mock_push(s, o);
}

static int push_call(cu_stream s, joint *j, int i)
{
    mock_op *o = calloc(1, sizeof *o + 2 * sizeof(uint64_t));
    if (o) {
        o->kind = OP_CALL;
        o->call = run_call;
        o->values[0] = (uintptr_t)j;
        o->values[1] = (uint64_t)i;
    }
    return mock_push(s, o);
}

/* All that these calls do, on the streams of all. */
static int put_joint(clique *c, const call *all, int n)
{
    uint64_t upto[MOST];
    joint *j = calloc(1, sizeof *j);
    if (!j)
        return NCCL_SYSTEM;
    j->c = c;
    j->n = j->left = n;
    j->next = joints; /* a device that is lost leaves its part undone */
    joints = j;
    for (int i = 0; i < n; i++) {
        j->calls[i] = all[i];
        j->nbytes[i] = bytes_out(&all[i]);
        j->out[i] = malloc(j->nbytes[i] + 1);
        upto[i] = all[i].stream->enqueued;
    }
    for (int i = 0; i < n; i++) {
        for (int p = 0; p < n; p++)
            if (all[p].stream != all[i].stream && push_wait(all[i].stream, all[p].stream, upto[p]))
                return NCCL_SYSTEM;
        if (push_call(all[i].stream, j, i))
            return NCCL_SYSTEM;
    }
    return NCCL_OK;
}

/* ---- groups: what the calls in them have to be ---- */

static int check_call(const call *k)
{
    size_t in = k->kind == RECV ? 0 : bytes_in(k), out = k->kind == SEND ? 0 : bytes_out(k);
    cu_context home = k->comm->owner;
    const char *a = k->from;
    char *b = k->to;
    if (!k->stream || k->stream->owner != home)
        return wrong("a stream of another device than the communicator's");
    if ((in && mock_owner(a, in) != home) || (out && mock_owner(b, out) != home))
        return wrong("memory that is not the device's");
    bool overlap = in && out && a < b + out && b < a + in;
    bool in_place = k->kind == GATHER    ? a == b + (size_t)k->comm->rank * in
                    : k->kind == SCATTER ? b == a + (size_t)k->comm->rank * out
                                         : a == b;
    return overlap && !in_place ? wrong("what is sent overlaps what is received") : NCCL_OK;
}

static bool paired(call_kind k)
{
    return k == SEND || k == RECV;
}

static bool alike(const call *a, const call *b)
{
    return a->kind == b->kind && a->count == b->count && a->type == b->type && a->op == b->op &&
           a->peer == b->peer;
}

/* The next call from `at` on that rank r of c makes, and that is one of all ranks. */
static uint32_t next_of(const clique *c, int r, uint32_t at)
{
    while (at < ncall && (calls[at].comm != c->rank[r] || paired(calls[at].kind)))
        at++;
    return at;
}

static int put_collectives(clique *c)
{
    uint32_t at[MOST] = {0};
    for (;;) {
        call all[MOST];
        int there = 0;
        for (int r = 0; r < c->n; r++) {
            at[r] = next_of(c, r, at[r]);
            there += at[r] < ncall;
        }
        if (!there)
            return NCCL_OK;
        if (there < c->n)
            return wrong("not all ranks of a communicator make a call");
        for (int r = 0; r < c->n; r++) {
            all[r] = calls[at[r]++];
            if (!alike(&all[r], &all[0]))
                return wrong("ranks of a communicator make different calls");
        }
        int s = put_joint(c, all, c->n);
        if (s)
            return s;
    }
}

/* The receive that belongs to a send: the first one left at the other end. */
static uint32_t other_end(uint32_t send, const bool *used)
{
    const call *k = &calls[send];
    for (uint32_t i = 0; i < ncall; i++)
        if (!used[i] && calls[i].kind == RECV && calls[i].comm->c == k->comm->c &&
            calls[i].comm->rank == k->peer && calls[i].peer == k->comm->rank)
            return i;
    return CALLS;
}

static int put_pairs(void)
{
    static bool used[CALLS];
    memset(used, 0, sizeof used);
    for (uint32_t i = 0; i < ncall; i++) {
        if (calls[i].kind != SEND)
            continue;
        uint32_t to = other_end(i, used);
        if (to == CALLS)
            return wrong("a send that nobody receives");
        if (calls[to].count != calls[i].count || calls[to].type != calls[i].type)
            return wrong("a send and its receive differ");
        used[i] = used[to] = true;
        int s = put_joint(calls[i].comm->c, (call[2]){calls[i], calls[to]}, 2);
        if (s)
            return s;
    }
    for (uint32_t i = 0; i < ncall; i++)
        if (calls[i].kind == RECV && !used[i])
            return wrong("a receive that nobody sends");
    return NCCL_OK;
}

/* Everything before the work has been done, the work has not, and never will be. */
static void hang(const uint64_t *upto, lz_nccl_mock_fault f)
{
    for (uint32_t i = 0; i < ncall; i++)
        (void)mock_run_until(calls[i].stream, upto[i]);
    for (uint32_t i = 0; i < ncall && f == LZ_NCCL_MOCK_ASYNC; i++)
        calls[i].comm->c->result = fault.code;
    mock_hang(true);
}

static int put_calls(void)
{
    static uint64_t upto[CALLS];
    lz_nccl_mock_fault f = takes_fault();
    int s = NCCL_OK;
    stats.groups++;
    for (uint32_t i = 0; i < ncall && !s; i++) {
        upto[i] = calls[i].stream ? calls[i].stream->enqueued : 0;
        s = check_call(&calls[i]);
        calls[i].comm->c->polls = POLLS;
        calls[i].comm->c->stuck |= f == LZ_NCCL_MOCK_STUCK;
    }
    for (uint32_t i = 0; i < ncall && !s; i++) { /* each communicator once */
        uint32_t before = 0;
        while (before < i && calls[before].comm->c != calls[i].comm->c)
            before++;
        if (before == i)
            s = put_collectives(calls[i].comm->c);
    }
    if (!s)
        s = put_pairs();
    if (!s && (f == LZ_NCCL_MOCK_HANG || f == LZ_NCCL_MOCK_ASYNC))
        hang(upto, f);
    return s ? s : NCCL_IN_PROGRESS;
}

static int end_group(void)
{
    int s = NCCL_OK;
    for (int i = 0; i < nmade; i++) {
        if (made[i]->there < made[i]->n)
            s = wrong("not all ranks of a communicator have come");
        made[i]->stuck = takes_fault() == LZ_NCCL_MOCK_STUCK;
    }
    if (!s)
        s = nmade ? NCCL_IN_PROGRESS : NCCL_OK;
    nmade = 0;
    if (ncall && (s == NCCL_OK || s == NCCL_IN_PROGRESS))
        s = put_calls();
    ncall = 0;
    return s;
}

API int ncclGroupStart(void)
{
    ENTER();
    if (depth && !pthread_equal(opener, pthread_self()))
        return mock_leave(wrong("groups of two threads at once"));
    opener = pthread_self();
    depth++;
    return mock_leave(NCCL_OK);
}

API int ncclGroupEnd(void)
{
    int r = mock_enter(__func__, NULL); /* the group ends, whatever becomes of it */
    if (!depth)
        return mock_leave(r ? r : NCCL_INVALID_USAGE);
    if (--depth)
        return mock_leave(r);
    if (r) {
        ncall = 0;
        nmade = 0;
    }
    return mock_leave(r ? r : end_group());
}

static int add(const call *k)
{
    clique *c = k->comm ? k->comm->c : NULL;
    if (!c || nccl_mock_size(k->type) == 0 || k->op < NCCL_SUM || k->op > NCCL_MIN ||
        (k->kind >= BROADCAST && (k->peer < 0 || k->peer >= c->n)))
        return NCCL_INVALID_ARGUMENT;
    if (c->polls > 0 || c->stuck)
        return wrong("a call before the communicator was ready");
    if (c->result)
        return c->result;
    if (depth && !pthread_equal(opener, pthread_self()))
        return wrong("a call while another thread has a group");
    if (ncall == CALLS)
        return NCCL_INTERNAL;
    stats.reduced += k->kind == REDUCE;
    stats.scattered += k->kind == SCATTER;
    stats.gathered += k->kind == GATHER;
    stats.broadcast += k->kind == BROADCAST;
    stats.sent += k->kind == SEND;
    stats.received += k->kind == RECV;
    calls[ncall++] = *k;
    return depth ? NCCL_OK : end_group();
}

API int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, nccl_comm comm,
                      cu_stream stream)
{
    ENTER();
    return mock_leave(add(&(call){REDUCE, comm, from, to, count, type, op, 0, stream}));
}

API int ncclReduceScatter(const void *from, void *to, size_t count, int type, int op,
                          nccl_comm comm, cu_stream stream)
{
    ENTER();
    return mock_leave(add(&(call){SCATTER, comm, from, to, count, type, op, 0, stream}));
}

API int ncclAllGather(const void *from, void *to, size_t count, int type, nccl_comm comm,
                      cu_stream stream)
{
    ENTER();
    return mock_leave(add(&(call){GATHER, comm, from, to, count, type, 0, 0, stream}));
}

API int ncclBroadcast(const void *from, void *to, size_t count, int type, int root, nccl_comm comm,
                      cu_stream stream)
{
    ENTER();
    return mock_leave(add(&(call){BROADCAST, comm, from, to, count, type, 0, root, stream}));
}

API int ncclSend(const void *from, size_t count, int type, int peer, nccl_comm comm,
                 cu_stream stream)
{
    ENTER();
    return mock_leave(add(&(call){SEND, comm, from, NULL, count, type, 0, peer, stream}));
}

API int ncclRecv(void *to, size_t count, int type, int peer, nccl_comm comm, cu_stream stream)
{
    ENTER();
    return mock_leave(add(&(call){RECV, comm, NULL, to, count, type, 0, peer, stream}));
}
