/* cuda_peers.c - copies from one CUDA device to another, or to itself, without the host
 * (peer-to-peer). A copy departs from the launching queue of its source, after the work that
 * produces the bytes: it runs on a stream of its own, so it overlaps later steps, and waits for the
 * compute stream only when the bytes are still being computed. The target's compute stream waits
 * for the event behind the copy when a program with that argument comes, and no sooner; so does the
 * source's before a program that overwrites the bytes. A queue of its own waits for the end and
 * releases both buffers. The host never waits. The queues cannot deadlock: a launch waits at most
 * for a departure that was enqueued earlier, and waiting for an end means waiting for work put on a
 * stream earlier. A driver's error does not say which of two devices is lost, so the other one is
 * checked. Threads: thread-safe; one lock around the list. */
#include "backends/cuda/cuda_device.h"
#include "base/alloc.h"
#include "base/config.h"

enum { MAX_SPARE = 32 };
enum { REACH_UNKNOWN, REACH_DIRECT, REACH_DRIVER /* staged through memory of the driver */ };

struct cuda_copy {
    cuda_copy *next;
    cuda_device *from, *to;
    lz_device_buffer *src, *dst; /* held; src: NULL once it has been read */
    size_t nbytes;
    lz_event *wait; /* event of src's content; NULL: none */
    lz_event *done; /* dst's */
    cu_event over;  /* event of `from` behind the copy, once it has departed */
    bool departed;
    cuda_stretch time;
};

/* Copies in flight. */
static struct {
    lz_mutex lock;
    lz_cond departed;
    cuda_copy *head;
    _Atomic uint32_t n;
} flying = {.lock = LZ_MUTEX_INIT("cuda_peers"), .departed = LZ_COND_INIT};

static bool none_fly(void)
{
    return atomic_load_explicit(&flying.n, memory_order_acquire) == 0;
}

static cu_ptr address(const lz_device_buffer *b)
{
    return (cu_ptr)(uintptr_t)b->data;
}

lz_status cuda_check_both(cuda_device *d, cuda_device *other, int result, const char *what)
{
    size_t nfree, total;
    cu_context popped;
    int sick = CU_OK;
    if (lz_cuda_is_lost(result) && d != other) {
        sick = lz_cuda.CtxPushCurrent(other->context);
        if (sick == CU_OK) {
            sick = lz_cuda.MemGetInfo(&nfree, &total);
            (void)lz_cuda.CtxPopCurrent(&popped);
        }
    }
    return cuda_check(lz_cuda_is_lost(sick) ? other : d, result, what);
}

/* ---- devices; under the lock and in d's context ---- */

static lz_status prepare(cuda_device *d)
{
    cuda_out *o = &d->out;
    if (!o->computed)
        CUDA_TRY(d, EventCreate(&o->computed, CU_EVENT_NO_TIMING), "making an event");
    return o->stream ? LZ_OK
                     : cuda_check(d, lz_cuda.StreamCreate(&o->stream, CU_STREAM_NON_BLOCKING),
                                  "making a stream");
}

/* Enables peer access once per pair and direction. The program's own runtime may have enabled it
 * already. */
static lz_status reach(cuda_device *d, cuda_device *to)
{
    unsigned char *how = &d->out.reach[to->at.index];
    int can = 0, r;
    if (d == to || *how != REACH_UNKNOWN)
        return LZ_OK;
    CUDA_TRY(d, DeviceCanAccessPeer(&can, d->at.index, to->at.index), "asking whom it reaches");
    r = can ? lz_cuda.CtxEnablePeerAccess(to->context, 0) : CU_PEER_ACCESS_UNSUPPORTED;
    bool no = r == CU_PEER_ACCESS_UNSUPPORTED || r == CU_TOO_MANY_PEERS;
    if (!no && r != CU_PEER_ACCESS_ALREADY_ENABLED)
        LZ_TRY(cuda_check_both(d, to, r, "reaching another device"));
    *how = no ? REACH_DRIVER : REACH_DIRECT;
    return LZ_OK;
}

lz_status cuda_peer_reach(cuda_device *d, cuda_device *other)
{
    LZ_TRY(cuda_enter(d));
    lz_mutex_lock(&flying.lock);
    lz_status s = reach(d, other);
    lz_mutex_unlock(&flying.lock);
    cuda_leave(d);
    return s;
}

static lz_status take(cuda_device *d, cuda_device *to, cuda_copy **out)
{
    LZ_TRY(prepare(d));
    LZ_TRY(reach(d, to));
    cuda_copy *c = d->out.spare;
    if (c) {
        d->out.spare = c->next;
        d->out.nspare--;
    } else if (!(c = lz_calloc(1, sizeof *c))) {
        return LZ_FAIL(LZ_EMEM, "no memory for a copy to another device");
    }
    lz_status s = c->over ? LZ_OK
                          : cuda_check(d, lz_cuda.EventCreate(&c->over, CU_EVENT_NO_TIMING),
                                       "making an event");
    if (s == LZ_OK)
        *out = c;
    else
        lz_free(c);
    return s;
}

/* ---- the list ---- */

static void put_back(cuda_copy *c)
{
    cuda_device *d = c->from;
    cu_event over = c->over;
    if (c->time.to)
        cuda_stretch_drop(d, &c->time);
    *c = (cuda_copy){.over = over};
    lz_mutex_lock(&flying.lock);
    c->next = d->out.spare;
    bool kept = d->out.nspare < MAX_SPARE;
    if (kept) {
        d->out.spare = c;
        d->out.nspare++;
    }
    lz_mutex_unlock(&flying.lock);
    if (kept)
        return;
    if (cuda_enter(d) == LZ_OK) {
        (void)lz_cuda.EventDestroy(over);
        cuda_leave(d);
    }
    lz_free(c);
}

static void take_off(cuda_copy *c)
{
    lz_mutex_lock(&flying.lock);
    c->next = flying.head;
    flying.head = c;
    atomic_fetch_add(&flying.n, 1);
    lz_mutex_unlock(&flying.lock);
}

static void land(cuda_copy *c)
{
    lz_mutex_lock(&flying.lock);
    cuda_copy **at = &flying.head;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    atomic_fetch_sub(&flying.n, 1);
    lz_cond_broadcast(&flying.departed);
    lz_mutex_unlock(&flying.lock);
}

/* Under the lock. */
static cuda_copy *of_event(const lz_event *e)
{
    for (cuda_copy *c = flying.head; c; c = c->next)
        if (c->done == e)
            return c;
    return NULL;
}

/* ---- the end of a copy ---- */

/* The references go before the event is set, and the copy leaves the list after that: what is not
 * in the list is over. */
static void end(cuda_copy *c, lz_status s)
{
    lz_error err;
    if (s != LZ_OK)
        err = *lz_error_get();
    lz_mutex_lock(&flying.lock);
    lz_device_buffer *src = c->src;
    c->src = NULL;
    lz_mutex_unlock(&flying.lock);
    lz_event *done = c->done, *wait = c->wait;
    lz_device_buffer_release(src);
    lz_device_buffer_release(c->dst);
    lz_event_complete(done, s != LZ_OK ? &err : NULL);
    land(c);
    put_back(c);
    lz_event_release(done);
    lz_event_release(wait);
}

static void finish(void *copy)
{
    cuda_copy *c = copy;
    lz_status s = cuda_await(c->from, c->over, "copying to another device");
    if (c->time.to && s == LZ_OK && cuda_enter(c->from) == LZ_OK) {
        cuda_stretch_note(c->from, &c->time);
        cuda_leave(c->from);
    }
    if (s == LZ_OK) /* a failed copy counts no bytes */
        s = lz_event_wait(c->wait);
    end(c, s);
}

/* ---- departing; on the queue that launches on its source, between enter and leave ---- */

static lz_status after_uploads(cuda_device *d, cuda_device *of, cu_stream stream)
{
    lz_mutex_lock(&of->up.lock);
    int r = lz_cuda.StreamWaitEvent(stream, of->uploaded, 0);
    lz_mutex_unlock(&of->up.lock);
    return cuda_check_both(d, of, r, "ordering streams");
}

/* Makes the stream of d wait for the copy that ends with `e`. *found: a copy in flight ends with
 * it. A copy whose source is lost ends soon, or has ended before that: its event says how. */
static lz_status after_copy(cuda_device *d, cu_stream stream, lz_event *e, bool *found)
{
    cuda_copy *c = NULL;
    cuda_device *from = NULL;
    lz_status s = LZ_OK;
    *found = false;
    if (none_fly() || lz_event_done(e))
        return LZ_OK;
    lz_mutex_lock(&flying.lock);
    while ((c = of_event(e)) && !c->departed)
        lz_cond_wait(&flying.departed, &flying.lock);
    if (c) {
        from = c->from;
        s = cuda_check_both(d, from, lz_cuda.StreamWaitEvent(stream, c->over, 0),
                            "ordering streams");
    }
    lz_mutex_unlock(&flying.lock);
    bool by_source = s != LZ_OK && atomic_load(&from->lost) && !atomic_load(&d->lost);
    *found = c != NULL && !by_source;
    return by_source ? lz_event_wait(e) : s;
}

/* Orders the copy after what produces the bytes: another copy, or the compute stream. */
static lz_status after_source(cuda_device *d, const cuda_copy *c)
{
    bool copy;
    if (!c->wait)
        return LZ_OK;
    LZ_TRY(after_copy(d, d->out.stream, c->wait, &copy));
    if (copy)
        return LZ_OK;
    if (lz_event_done(c->wait))
        return lz_event_wait(c->wait);
    CUDA_TRY(d, EventRecord(d->out.computed, d->compute), "recording an event");
    return cuda_check(d, lz_cuda.StreamWaitEvent(d->out.stream, d->out.computed, 0),
                      "ordering streams");
}

/* The target's memory is idle but for uploads into its previous use. Memory allocated by somebody
 * else may not be peer-accessible, so the copy names both contexts; it is direct where possible. */
static lz_status put(cuda_device *d, cuda_copy *c)
{
    cuda_device *to = c->to;
    cu_stream stream = d->out.stream;
    cu_ptr dst = address(c->dst), src = address(c->src);
    LZ_TRY(after_source(d, c));
    LZ_TRY(after_uploads(d, d, stream));
    if (to != d)
        LZ_TRY(after_uploads(d, to, stream));
    if (lz_timeline_on()) {
        c->time =
            (cuda_stretch){.row = CUDA_ROW_ACROSS, .name = "copy across", .nbytes = c->nbytes};
        cuda_stretch_begin(d, stream, &c->time);
    }
    int r = to == d ? lz_cuda.MemcpyDtoDAsync(dst, src, c->nbytes, stream)
                    : lz_cuda.MemcpyPeerAsync(dst, to->context, src, d->context, c->nbytes, stream);
    LZ_TRY(cuda_check_both(d, to, r, "copying to another device"));
    cuda_stretch_end(d, stream, &c->time);
    return cuda_check(d, lz_cuda.EventRecord(c->over, stream), "recording an event");
}

static lz_status launch(cuda_device *d, cuda_copy *c)
{
    LZ_TRY(cuda_works(c->to));
    LZ_TRY(cuda_enter(d));
    lz_status s = put(d, c);
    if (s == LZ_OK)
        s = lz_queue_push(d->out.finish, finish, c, false);
    if (s != LZ_OK) { /* the work put there must not outlive its memory */
        LZ_QUIETLY {
            (void)lz_cuda.StreamSynchronize(d->out.stream);
        }
    }
    cuda_leave(d);
    return s;
}

static void depart(void *copy)
{
    cuda_copy *c = copy;
    lz_event *done = c->done; /* the copy may be over before lz_event_started is called */
    lz_event_retain(done);
    lz_status s = launch(c->from, c);
    if (s != LZ_OK) {
        end(c, s);
    } else {
        lz_mutex_lock(&flying.lock);
        if ((c = of_event(done)))
            c->departed = true;
        lz_cond_broadcast(&flying.departed);
        lz_mutex_unlock(&flying.lock);
    }
    lz_event_release(done);
}

/* ---- the interface ---- */

static lz_status start(cuda_copy *c, lz_device_buffer *dst, lz_device_buffer *src)
{
    c->done = lz_event_new();
    if (!c->done) {
        put_back(c);
        return LZ_EMEM;
    }
    c->src = src;
    c->dst = dst;
    lz_device_buffer_retain(src);
    lz_device_buffer_retain(dst);
    if ((c->wait = src->ready))
        lz_event_retain(c->wait);
    dst->ready = c->done;
    lz_event_retain(c->done);
    take_off(c);
    lz_status s = lz_queue_push(c->from->at.queue, depart, c, !cuda_copy_waits(c->wait));
    if (s != LZ_OK)
        end(c, s);
    return s;
}

lz_status cuda_peers_usable(const cuda_device *from, const cuda_device *to)
{
    if (!lz_cfg_bool(LZ_OPT_CUDA_PEERS) || !lz_cuda.DeviceCanAccessPeer ||
        !lz_cuda.CtxEnablePeerAccess || !lz_cuda.MemcpyPeerAsync)
        return LZ_FAIL(LZ_EUNSUPPORTED,
                       "CUDA:%d does not copy to CUDA:%d: LAZULI_CUDA_PEERS is off, or the driver "
                       "is too old",
                       from->at.index, to->at.index);
    return LZ_OK;
}

lz_status cuda_copy_across(cuda_device *to, lz_device_buffer *dst, cuda_device *from,
                           lz_device_buffer *src, size_t nbytes)
{
    cuda_copy *c = NULL;
    LZ_TRY(cuda_peers_usable(from, to));
    if (!nbytes)
        return LZ_OK;
    LZ_TRY(cuda_works(to));
    LZ_TRY(cuda_enter(from));
    lz_mutex_lock(&flying.lock);
    lz_status s = take(from, to, &c);
    lz_mutex_unlock(&flying.lock);
    cuda_leave(from);
    LZ_TRY(s);
    c->from = from;
    c->to = to;
    c->nbytes = nbytes;
    return start(c, dst, src);
}

bool cuda_copy_waits(const lz_event *e)
{
    if (!e || none_fly() || lz_event_done(e))
        return false;
    lz_mutex_lock(&flying.lock);
    const cuda_copy *c = of_event(e);
    bool waits = c && !c->departed;
    lz_mutex_unlock(&flying.lock);
    return waits;
}

/* The job overwrites b, which copies of this device may read: those have departed, since they were
 * enqueued before the job. */
static lz_status after_reads(cuda_device *d, const lz_device_buffer *b)
{
    lz_status s = LZ_OK;
    lz_mutex_lock(&flying.lock);
    for (cuda_copy *c = flying.head; c && s == LZ_OK; c = c->next)
        if (c->from == d && c->src == b && c->departed)
            s = cuda_check(d, lz_cuda.StreamWaitEvent(d->compute, c->over, 0), "ordering streams");
    lz_mutex_unlock(&flying.lock);
    return s;
}

lz_status cuda_after_copies(cuda_device *d, const lz_job *j, uint32_t q)
{
    const lz_plan *p = j->x->plan;
    lz_device_buffer *const *in = j->in + (size_t)q * j->nin, *const *out =
                                                                  j->out + (size_t)q * p->nout;
    if (none_fly())
        return LZ_OK;
    bool found;
    for (uint32_t i = 0; i < j->nwait; i++)
        LZ_TRY(after_copy(d, d->compute, j->wait[i], &found));
    for (uint32_t k = 0; k < p->nout; k++)
        if (p->out_alias[k] >= 0 && out[k] == in[p->out_alias[k]])
            LZ_TRY(after_reads(d, out[k]));
    return LZ_OK;
}

void cuda_wait_copies(cuda_device *d)
{
    LZ_QUIETLY {
        for (;;) {
            lz_mutex_lock(&flying.lock);
            cuda_copy *c = flying.head;
            while (c && c->from != d && c->to != d)
                c = c->next;
            lz_event *done = c ? c->done : NULL;
            if (done)
                lz_event_retain(done);
            lz_mutex_unlock(&flying.lock);
            if (!done)
                break;
            (void)lz_event_wait(done);
            lz_event_release(done);
        }
    }
}
