/* function.c - traced functions (include/lazuli/jit.h): a callback is traced once into a program. A
 * call passes the arguments' buffers in the order of the program's parameters, executes it once and
 * makes handles for the results.
 * Threads: calls take the device's lock, as steps do; a function is immutable but for its count of
 * calls. */
#include "base/thread.h"
#include "runtime/region/region_trace.h"
#include "runtime/debug/metrics.h"
#include "runtime/exec/program.h"
#include "runtime/exec/sync.h"
#include <lazuli/jit.h>
#include <string.h>

enum { MOST = 1 << 16, MAX_CALLS = 1 << 20, CALL = -1 };

typedef struct leaf {
    int input;     /* number of the argument; CALL: the number of the call, as i64 */
    lz_node *kept; /* a captured value; then `input` is not used. Owned */
    bool donate;
} leaf;

struct lz_function {
    lz_dev *dev;
    lz_program *prog;
    int nin, nout;
    const lz_type **in_type, **out_type;
    bool *donate; /* per argument */
    leaf *leaves;
    uint32_t nleaf;
    _Atomic int64_t calls;
};

void lz_function_free(lz_function *f)
{
    LZ_PUBLIC();
    if (!f)
        return;
    for (uint32_t i = 0; f->leaves && i < f->nleaf; i++)
        lz_node_release(f->leaves[i].kept);
    lz_program_release(f->prog);
    lz_free(f->in_type);
    lz_free(f->out_type);
    lz_free(f->donate);
    lz_free(f->leaves);
    lz_free(f);
}

/* ---- recording ---- */

typedef struct trace {
    lz_function *f;
    lz_body b;
    lz_node *call; /* placeholder of the call number, which seeds random operations */
    lz_node **in, **root;
    lz_capture cap;
    const lz_site *site;
} trace;

static lz_status take_types(trace *t, lz_tensor *const *in)
{
    lz_function *f = t->f;
    for (int i = 0; i < f->nin; i++) {
        if (!in[i])
            return LZ_FAIL(LZ_ENULL, "in[%d] is NULL", i);
        if (!(t->in[i] = lz_trace_node_of(in[i])))
            return lz_error_get()->status;
        f->in_type[i] = lz_node_type(t->in[i]);
        if (!f->dev && !lz_node_is_host(t->in[i]))
            f->dev = t->in[i]->dev;
    }
    if (!f->dev)
        f->dev = f->nin ? t->in[0]->dev : lz_dev_current();
    return f->dev ? LZ_OK : lz_error_get()->status;
}

/* A root of a program is an operation, and the roots are distinct. */
static lz_status take_root(trace *t, int k, lz_tensor *r)
{
    lz_node *n = r ? lz_trace_node_of(r) : NULL;
    if (!r)
        return LZ_FAIL(LZ_ENULL, "result %d was not given", k);
    if (!n)
        return lz_error_get()->status;
    bool again = lz_node_is_value(n);
    for (int j = 0; j < k; j++)
        again |= t->root[j] == n;
    t->f->out_type[k] = lz_node_type(n);
    t->root[k] = again ? lz_node_new_detached(n, t->site) : n;
    if (again)
        lz_node_release(n);
    return t->root[k] ? LZ_OK : lz_error_get()->status;
}

static lz_status record(trace *t, lz_body_fn *fn, void *user)
{
    lz_function *f = t->f;
    static const lz_shape scalar;
    lz_tensor **args = lz_calloc((size_t)f->nin + (size_t)f->nout + 1, sizeof *args);
    lz_status s = args ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for %d arguments", f->nin);
    for (int i = 0; i < f->nin && s == LZ_OK; i++) {
        args[i] = lz_body_tensor(&t->b, f->in_type[i]);
        s = lz_status_of(args[i]);
    }
    t->call = s == LZ_OK ? lz_body_placeholder(&t->b, lz_type_get(LZ_I64, &scalar)) : NULL;
    if (s == LZ_OK && !t->call)
        s = lz_error_get()->status;
    if (s == LZ_OK) {
        lz_body_loop(&t->b, t->call, MAX_CALLS);
        lz_callback back = lz_callback_begin(t->b.thr);
        fn(args, args + f->nin, user);
        lz_callback_end(t->b.thr, &back);
    }
    if (s == LZ_OK && t->b.rec.refused) /* though the callback did not look */
        s = LZ_FAIL(LZ_EINVAL,
                    "the function assigns to a tensor from outside, or leaves a gradient "
                    "with one: give the values back as results");
    for (int k = 0; k < f->nout && s == LZ_OK; k++)
        s = take_root(t, k, args[f->nin + k]);
    lz_free(args);
    return s;
}

static lz_status note_leaves(trace *t)
{
    lz_function *f = t->f;
    f->nleaf = t->cap.leaves.len;
    f->leaves = lz_calloc((size_t)f->nleaf + 1, sizeof *f->leaves);
    if (!f->leaves)
        return LZ_FAIL(LZ_EMEM, "no memory for %u parameters", f->nleaf);
    for (uint32_t i = 0; i < f->nleaf; i++) {
        lz_node *n = t->cap.leaves.data[i];
        leaf *l = &f->leaves[i];
        if (n->kind != LZ_NODE_PLACEHOLDER) {
            lz_node_retain(l->kept = n);
            continue;
        }
        int k = 0;
        while (k <= f->nin && t->b.placeholders.data[k] != n)
            if (++k > f->nin)
                return lz_node_not_placeholder(n); /* a placeholder of an enclosing body */
        l->input = k == f->nin ? CALL : k;
        l->donate = k < f->nin && f->donate && f->donate[k];
        t->cap.donate.data[i] = l->donate;
        t->cap.ndonated += l->donate;
        t->cap.ngiven += l->donate;
    }
    return LZ_OK;
}

static lz_status compile(trace *t, const char *name)
{
    lz_found found;
    LZ_TRY(lz_dev_may_wait()); /* for another thread that compiles the same */
    lz_dev_lock(t->f->dev);
    t->cap.placeholders = true;
    lz_status s = lz_capture_walk(&t->cap, t->f->dev, t->root, (uint32_t)t->f->nout);
    if (s == LZ_OK)
        s = note_leaves(t);
    if (s == LZ_OK)
        s = lz_capture_finish(&t->cap);
    bool again =
        true; /* nobody else computes these nodes: the compiled program is valid as it is */
    while (s == LZ_OK && again && !t->f->prog)
        s = lz_program_get(&t->cap, name, NULL, NULL, &t->f->prog, &found, &again);
    lz_capture_free(&t->cap);
    lz_dev_unlock(t->f->dev);
    return s;
}

static lz_status trace_all(trace *t, lz_body_fn *fn, void *user, lz_tensor *const *in,
                           const lz_function_options *o)
{
    lz_function *f = t->f;
    f->in_type = lz_calloc((size_t)f->nin + 1, sizeof *f->in_type);
    f->out_type = lz_calloc((size_t)f->nout, sizeof *f->out_type);
    f->donate = lz_calloc((size_t)f->nin + 1, sizeof *f->donate);
    t->in = lz_calloc((size_t)f->nin + 1, sizeof *t->in);
    t->root = lz_calloc((size_t)f->nout, sizeof *t->root);
    if (!f->in_type || !f->out_type || !f->donate || !t->in || !t->root)
        return LZ_FAIL(LZ_EMEM, "no memory for a function of %d arguments", f->nin);
    if (o && o->donate && f->nin)
        memcpy(f->donate, o->donate, (size_t)f->nin * sizeof *f->donate);
    LZ_TRY(take_types(t, in));
    LZ_TRY(lz_body_begin(&t->b, f->dev));
    lz_status s = record(t, fn, user);
    if (s == LZ_OK)
        s = compile(t, o && o->name ? lz_thread_state_intern(o->name) : NULL);
    lz_body_end(&t->b);
    return s;
}

lz_status lz_function_trace_at(lz_body_fn *fn, void *user, lz_tensor *const *in, int nin, int nout,
                               const lz_function_options *o, lz_function **out, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_api_frame frame = lz_api_enter("lz_function_trace", site);
    trace t = {.f = lz_calloc(1, sizeof *t.f), .site = site};
    lz_status s = LZ_OK;
    if (!t.f)
        s = LZ_FAIL(LZ_EMEM, "no memory for a function");
    if (s == LZ_OK && (!fn || !out || (nin > 0 && !in)))
        s = LZ_FAIL(LZ_ENULL, "%s is NULL", !fn ? "fn" : !out ? "out" : "in");
    if (s == LZ_OK && (nin < 0 || nin > MOST || nout < 1 || nout > MOST))
        s = LZ_FAIL(LZ_EINVAL, "%d arguments and %d results", nin, nout);
    if (s == LZ_OK) {
        t.f->nin = nin;
        t.f->nout = nout;
        s = trace_all(&t, fn, user, in, o);
    }
    for (int i = 0; t.in && i < nin; i++)
        lz_node_release(t.in[i]);
    for (int k = 0; t.root && k < nout; k++)
        lz_node_release(t.root[k]);
    lz_free(t.in);
    lz_free(t.root);
    lz_body_free(&t.b);
    if (s != LZ_OK) {
        (void)lz_api_status(s);
        lz_function_free(t.f);
        t.f = NULL;
    }
    if (out)
        *out = t.f;
    return lz_api_leave(&frame, s);
}

/* ---- calling ---- */

typedef struct run {
    lz_function *f;
    lz_slot **slot;         /* per argument */
    lz_node **in;           /* per argument, owned */
    lz_device_buffer **buf; /* per parameter of the program: owned but for donated ones */
    lz_device_buffer **out; /* per result of the program */
    bool *donated;
    lz_node **result; /* per result: owned */
    void *block;
} run;

/* One allocation for all the lists of a call. */
static lz_status run_room(run *r, void *few, size_t size)
{
    const lz_function *f = r->f;
    size_t nin = (size_t)f->nin, nout = (size_t)f->nout, nleaf = f->nleaf, nres = f->prog->nresult,
           need = (2 * nin + nleaf + nres + nout) * sizeof(void *) + nleaf + 1;
    void **p = few;
    if (need > size && !(p = r->block = lz_alloc(need)))
        return LZ_FAIL(LZ_EMEM, "no memory for a call of %d arguments", f->nin);
    memset(p, 0, need);
    r->slot = (lz_slot **)p;
    r->in = (lz_node **)(p + nin);
    r->buf = (lz_device_buffer **)(p + 2 * nin);
    r->out = r->buf + nleaf;
    r->result = (lz_node **)(r->out + nres);
    r->donated = (bool *)(r->result + nout);
    return LZ_OK;
}

static lz_status take_argument(run *r, int i, const lz_tensor *t)
{
    char a[128], b[128];
    if (!t)
        return LZ_FAIL(LZ_ENULL, "in[%d] is NULL", i);
    if (!(r->slot[i] = lz_slot_get(t)) || !(r->in[i] = lz_trace_node_of(t)))
        return lz_error_get()->status;
    const lz_node *n = r->in[i];
    const lz_type *want = r->f->in_type[i], *have = lz_node_type(n);
    if (have != want)
        return LZ_FAIL(have->dtype != want->dtype ? LZ_EDTYPE : LZ_ESHAPE,
                       "in[%d] is %s, but the function was recorded for %s", i,
                       lz_type_short(have, a, sizeof a), lz_type_short(want, b, sizeof b));
    if (n->dev != r->f->dev && !lz_node_is_host(n))
        return LZ_FAIL(LZ_EINVAL, "in[%d] is on %s, but the function runs on %s", i, n->dev->name,
                       r->f->dev->name);
    return lz_node_not_placeholder(n);
}

static lz_node *node_of(const run *r, const leaf *l)
{
    return l->kept ? l->kept : r->in[l->input];
}

/* Arguments that are not computed yet are computed first, all in one program. */
static lz_status compute_pending(run *r)
{
    const lz_function *f = r->f;
    LZ_VEC(lz_node *) pending = {0};
    lz_status s = LZ_OK;
    for (uint32_t i = 0; i < f->nleaf && s == LZ_OK; i++)
        if (f->leaves[i].kept || f->leaves[i].input != CALL) {
            lz_node *n = node_of(r, &f->leaves[i]);
            if (!lz_node_is_value(n))
                s = lz_vec_push(&pending, n);
        }
    if (s == LZ_OK && pending.len)
        s = lz_sync_nodes(f->dev, pending.data, pending.len, LZ_CAUSE_SYNC, false);
    lz_vec_free(&pending);
    return s;
}

/* Whether the donated handle is the only owner of the argument's memory. */
static bool is_alone(const lz_node *n)
{
    const lz_device_buffer *b = lz_node_buf(n);
    return lz_node_refs(n) == 2 && b && !b->release &&
           __atomic_load_n(&b->refs, __ATOMIC_ACQUIRE) == 1 &&
           !(atomic_load(&((lz_node *)(uintptr_t)n)->flags) & LZ_NODE_SHARED);
}

static lz_status gather(run *r)
{
    const lz_function *f = r->f;
    static const lz_shape scalar;
    for (uint32_t i = 0; i < f->nleaf; i++) {
        const leaf *l = &f->leaves[i];
        if (!l->kept && l->input == CALL) {
            int64_t call = atomic_fetch_add(&r->f->calls, 1);
            const lz_type *t = lz_type_get(LZ_I64, &scalar);
            if (!t)
                return lz_error_get()->status;
            LZ_TRY(lz_dev_scalar(f->dev, t, &call, &r->buf[i]));
            continue;
        }
        lz_node *n = node_of(r, l);
        if (lz_node_is_host(n)) {
            LZ_TRY(lz_dev_scalar(f->dev, lz_node_type(n), n->imm, &r->buf[i]));
            continue;
        }
        r->buf[i] = lz_node_buf(n);
        r->donated[i] = l->donate && is_alone(n);
        if (!r->donated[i])
            lz_device_buffer_retain(r->buf[i]);
    }
    return LZ_OK;
}

static lz_status take_results(run *r)
{
    const lz_function *f = r->f;
    lz_status s = LZ_OK;
    for (int k = 0; k < f->nout && s == LZ_OK; k++) {
        lz_device_buffer *b = r->out[f->prog->root_result[k]];
        lz_device_buffer_retain(b);
        r->result[k] = lz_node_new_buffer(f->out_type[k], f->dev, b, NULL);
        if (!r->result[k]) {
            lz_device_buffer_release(b);
            s = lz_error_get()->status;
        } else if (f->prog->shared[k]) {
            atomic_fetch_or(&r->result[k]->flags, LZ_NODE_SHARED);
        }
    }
    for (uint32_t i = 0; i < f->prog->nresult; i++)
        lz_device_buffer_release(r->out[i]);
    return s;
}

/* A result that is an argument shares its memory: neither is donated from now on. */
static void mark_shared(const run *r)
{
    for (int k = 0; k < r->f->nout; k++)
        for (int i = 0; r->f->prog->shared[k] && i < r->f->nin; i++)
            if (lz_node_buf(r->in[i]) == lz_node_buf(r->result[k]))
                atomic_fetch_or(&r->in[i]->flags, LZ_NODE_SHARED);
}

static lz_status execute(run *r)
{
    const lz_function *f = r->f;
    lz_event *done = NULL;
    LZ_TRY(compute_pending(r));
    lz_status s = gather(r);
    if (s == LZ_OK) {
        int64_t t0 = lz_now_ns();
        s = f->dev->be->execute(f->prog->exec, f->dev->ordinal, r->buf, r->donated, false, r->out,
                                &done);
        if (s == LZ_OK) {
            lz_dev_fly(f->dev, done, t0);
            lz_counter_add(LZ_COUNTER_ExecuteComputation, 1);
        }
    }
    for (uint32_t i = 0; i < f->nleaf; i++)
        if (r->buf[i] && !r->donated[i])
            lz_device_buffer_release(r->buf[i]);
    if (s == LZ_OK)
        s = take_results(r);
    if (s == LZ_OK)
        mark_shared(r);
    return s;
}

lz_status lz_function_call_at(lz_function *f, lz_tensor *const *in, int nin, lz_tensor **out,
                              int nout, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_api_frame frame = lz_api_enter("lz_function_call", site);
    void *few[64];
    run r = {.f = f};
    lz_status s = LZ_OK;
    if (!f || !out || (nin > 0 && !in))
        s = LZ_FAIL(LZ_ENULL, "%s is NULL", !f ? "the function" : !out ? "out" : "in");
    if (s == LZ_OK && (nin != f->nin || nout != f->nout))
        s = LZ_FAIL(LZ_EINVAL, "%d arguments and %d results, but the function has %d and %d", nin,
                    nout, f->nin, f->nout);
    bool room = s == LZ_OK;
    if (s == LZ_OK)
        s = run_room(&r, few, sizeof few);
    if (s != LZ_OK)
        room = false;
    for (int i = 0; i < nin && s == LZ_OK; i++)
        s = take_argument(&r, i, in[i]);
    if (s == LZ_OK)
        s = lz_dev_may_wait();
    if (s == LZ_OK) {
        lz_dev_make_room(f->dev);
        lz_dev_lock(f->dev);
        s = execute(&r);
        lz_dev_unlock(f->dev);
    }
    lz_status told = lz_api_results(&frame, s, out, nout, r.result, site);
    for (int k = 0; room && k < nout; k++)
        lz_node_release(r.result[k]);
    for (int i = 0; room && i < nin; i++) {
        if (s == LZ_OK && f->donate[i])
            (void)lz_slot_drop_value(r.slot[i], lz_handle_bits(in[i]), r.in[i], true);
        else
            lz_node_release(r.in[i]);
    }
    lz_free(r.block);
    (void)lz_api_leave(&frame, told);
    return s;
}
