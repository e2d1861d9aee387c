/* node.c - nodes of the traced graph: creation, reference counts, release, traversal. See
 * node.h. */
#include "runtime/graph/node.h"
#include "runtime/exec/runtime_device.h"
#include "runtime/graph/handle.h"
#include "base/unseen_error.h"
#include <stdio.h>
#include <string.h>

#define REF UINT64_C(1)
#define USE ((UINT64_C(1) << 32) | 1) /* a reference that is an operand */

void lz_node_retain(lz_node *n)
{
    atomic_fetch_add_explicit(&n->count, REF, memory_order_relaxed);
}

/* True when it was the last reference. */
static bool drop(lz_node *n, uint64_t what)
{
    uint64_t v = atomic_fetch_sub_explicit(&n->count, what, memory_order_acq_rel);
    return (uint32_t)v == (uint32_t)what;
}

/* Nodes without references are linked through `scope` until their operands are dropped. */
static void push_dead(lz_node **list, lz_node *n)
{
    n->scope = (const char *)(void *)*list;
    *list = n;
}

static void drop_operands(lz_node **opnd, uint32_t n, lz_node **dead)
{
    for (uint32_t i = 0; i < n; i++)
        if (drop(opnd[i], USE))
            push_dead(dead, opnd[i]);
}

static void free_dead(lz_node *dead)
{
    lz_thread_state *t = lz_thread_state_self;
    while (dead) {
        lz_node *n = dead;
        dead = (lz_node *)(void *)n->scope;
        if (n->opnd) {
            drop_operands(n->opnd, n->sig->nopnd, &dead);
            if (n->opnd != n->inl)
                lz_free(n->opnd);
            if (t)
                LZ_THREAD_STATE_ADD(t->nodes, -1);
        }
        lz_device_buffer_release(atomic_load_explicit(&n->buf, memory_order_relaxed));
        lz_pool_give(t, LZ_POOL_NODE, n);
    }
}

static void free_last(lz_node *n)
{
    n->scope = NULL;
    free_dead(n);
}

void lz_node_release(lz_node *n)
{
    if (n && drop(n, REF))
        free_last(n);
}

void lz_node_release_two(lz_node *n)
{
    if (drop(n, 2 * REF))
        free_last(n);
}

void lz_node_cut(lz_node *n)
{
    lz_node **opnd = n->opnd, *dead = NULL;
    if (!opnd)
        return;
    n->opnd = NULL;
    drop_operands(opnd, n->sig->nopnd, &dead);
    if (opnd != n->inl)
        lz_free(opnd);
    lz_thread_state *t = lz_thread_state_self;
    if (t)
        LZ_THREAD_STATE_ADD(t->nodes, -1);
    free_dead(dead);
}

lz_status lz_node_refuse_placeholder(const lz_node *n)
{
    char text[128];
    return LZ_FAIL(LZ_EINVAL,
                   "a value (%s) that exists only inside the body of a loop or branch is wanted "
                   "outside: a body gives values back as its results, it does not assign, read or "
                   "step",
                   lz_type_short(lz_node_type(n), text, sizeof text));
}

/* ---- making ---- */

static lz_node *new_node(lz_thread_state *t, lz_node_kind kind, const lz_sig *sig, lz_dev *dev,
                         const lz_site *site)
{
    lz_node *n = lz_pool_take(t, LZ_POOL_NODE);
    if (!n)
        return NULL;
    n->sig = sig;
    n->opnd = NULL;
    n->dev = dev;
    atomic_store_explicit(&n->buf, NULL, memory_order_relaxed);
    n->site = site ? site : t->api_site;
    n->scope = t->names.len ? t->names.data[t->names.len - 1] : NULL;
    n->id = t->id_next++;
    n->epoch = 0;
    n->kind = (uint8_t)kind;
    atomic_store_explicit(&n->flags, 0, memory_order_relaxed);
    atomic_store_explicit(&n->count, 1, memory_order_release);
    return n;
}

/* The device of the operands. */
static lz_dev *operands_device(const lz_sig *sig, lz_node *const *opnd, lz_dev *dev)
{
    lz_dev *found = NULL;
    for (uint32_t i = 0; i < sig->nopnd; i++) {
        if (lz_node_is_host(opnd[i]))
            continue;
        if (found && found != opnd[i]->dev) {
            LZ_FAIL(LZ_EINVAL, "%s: operands are on two devices, %s and %s",
                    lz_op_get(sig->op)->text, found->name, opnd[i]->dev->name);
            return NULL;
        }
        found = opnd[i]->dev;
    }
    if (found)
        return found;
    if (sig->nopnd)
        return opnd[0]->dev;
    if (!dev)
        LZ_FAIL(LZ_EINTERNAL, "%s without operands and without a device", lz_op_get(sig->op)->text);
    return dev;
}

static lz_status set_operands(lz_node *n, lz_node *const *opnd, uint32_t nopnd)
{
    lz_node **to = n->inl;
    if (nopnd > LZ_NODE_INLINE && !(to = lz_alloc(nopnd * sizeof *to)))
        return LZ_FAIL(LZ_EMEM, "no memory for %u operands", nopnd);
    for (uint32_t i = 0; i < nopnd; i++) {
        lz_node *o = opnd[i];
        if (__builtin_expect(o->dev != n->dev, 0)) { /* copies a host value for another device */
            o = lz_node_new_host((lz_node_kind)o->kind, lz_node_type(o), o->imm, n->dev, o->site);
            if (!o) {
                lz_node *dead = NULL;
                drop_operands(to, i, &dead);
                free_dead(dead);
                if (to != n->inl)
                    lz_free(to);
                return LZ_EMEM;
            }
            atomic_fetch_add_explicit(&o->count, USE - REF, memory_order_relaxed);
        } else {
            atomic_fetch_add_explicit(&o->count, USE, memory_order_relaxed);
        }
        to[i] = o;
    }
    n->opnd = to;
    return LZ_OK;
}

static bool on_one_device(const lz_sig *sig, lz_node *const *opnd)
{
    for (uint32_t i = 1; i < sig->nopnd; i++)
        if (opnd[i]->dev != opnd[0]->dev)
            return false;
    return sig->nopnd > 0;
}

/* The same for a few operands on n's device: cannot fail. taken: bit mask of those whose reference
 * is the caller's. */
static void set_few(lz_node *n, lz_node *const *opnd, uint32_t nopnd, uint32_t taken)
{
    for (uint32_t i = 0; i < nopnd; i++, taken >>= 1) {
        LZ_DCHECK((uint32_t)opnd[i]->count > 0); /* not given back to the pool */
        n->inl[i] = opnd[i];
        atomic_fetch_add_explicit(&opnd[i]->count, taken & 1 ? USE - REF : USE,
                                  memory_order_relaxed);
    }
    n->opnd = n->inl;
}

lz_node *lz_node_new_op_taking(const lz_sig *sig, lz_node *const *opnd, lz_dev *dev,
                               const lz_site *site, uint32_t *taken)
{
    lz_thread_state *t = lz_thread_state_get();
    uint32_t asked = *taken;
    bool one = on_one_device(sig, opnd), few = one && sig->nopnd <= LZ_NODE_INLINE;
    *taken = 0;
    if (!t || !(dev = one ? opnd[0]->dev : operands_device(sig, opnd, dev)))
        return NULL;
    lz_node *n = new_node(t, LZ_NODE_OP, sig, dev, site);
    if (!n)
        return NULL;
    LZ_THREAD_STATE_ADD(t->ops[sig->op], 1);
    if (few) {
        set_few(n, opnd, sig->nopnd, asked);
        *taken = asked;
    } else if (sig->nopnd && set_operands(n, opnd, sig->nopnd) != LZ_OK) {
        lz_node_release(n);
        return NULL;
    }
    if (sig->nopnd)
        LZ_THREAD_STATE_ADD(t->nodes, 1);
    return n;
}

lz_node *lz_node_new_op(const lz_sig *sig, lz_node *const *opnd, lz_dev *dev, const lz_site *site)
{
    uint32_t none = 0;
    return lz_node_new_op_taking(sig, opnd, dev, site, &none);
}

static const lz_sig *leaf_sig(lz_op op, const lz_type *type)
{
    lz_attr_type a;
    if (!type) /* there was no memory for it */
        return NULL;
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_type;
    a.dtype = type->dtype;
    a.shape = type->shape;
    const lz_attr *ia = lz_attr_get((const lz_attr *)(const void *)&a);
    return ia ? lz_sig_get(op, ia, NULL, 0) : NULL;
}

const lz_sig *lz_node_buffer_sig(const lz_type *type)
{
    return leaf_sig(LZ_OP_PARAMETER, type);
}

lz_node *lz_node_new_buffer_of(const lz_sig *sig, lz_dev *dev, lz_device_buffer *buf,
                               const lz_site *site)
{
    lz_thread_state *t = sig ? lz_thread_state_get() : NULL;
    lz_node *n = t ? new_node(t, LZ_NODE_BUFFER, sig, dev, site) : NULL;
    if (n)
        atomic_store_explicit(&n->buf, buf, memory_order_release);
    return n;
}

lz_node *lz_node_new_buffer(const lz_type *type, lz_dev *dev, lz_device_buffer *buf,
                            const lz_site *site)
{
    return lz_node_new_buffer_of(lz_node_buffer_sig(type), dev, buf, site);
}

lz_node *lz_node_new_host(lz_node_kind kind, const lz_type *type, const void *bytes, lz_dev *dev,
                          const lz_site *site)
{
    if (!type) /* there was no memory for it */
        return NULL;
    LZ_ASSERT(type->nbytes <= LZ_NODE_IMM && (kind == LZ_NODE_SCALAR || kind == LZ_NODE_CONST));
    lz_thread_state *t = lz_thread_state_get();
    const lz_sig *sig =
        t ? leaf_sig(kind == LZ_NODE_CONST ? LZ_OP_CONSTANT : LZ_OP_PARAMETER, type) : NULL;
    lz_node *n = sig ? new_node(t, kind, sig, dev, site) : NULL;
    if (n) {
        memset(n->imm, 0, sizeof n->imm);
        memcpy(n->imm, bytes, type->nbytes);
    }
    return n;
}

lz_node *lz_node_new_detached(lz_node *x, const lz_site *site)
{
    lz_attr_shape a;
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_shape;
    a.shape = lz_node_type(x)->shape;
    const lz_type *type = lz_node_type(x);
    const lz_attr *ia = lz_attr_get((const lz_attr *)(const void *)&a);
    const lz_sig *sig = ia ? lz_sig_get(LZ_OP_RESHAPE, ia, &type, 1) : NULL;
    lz_node *n = sig ? lz_node_new_op(sig, &x, NULL, site) : NULL;
    if (n)
        atomic_fetch_or(&n->flags, LZ_NODE_NOGRAD);
    return n;
}

lz_node *lz_node_new_marked(lz_node *x, const char *sharding, const lz_site *site)
{
    lz_attr_sharding a = {LZ_ATTR_sharding, sharding};
    const lz_type *type = lz_node_type(x);
    const lz_attr *ia = lz_attr_get((const lz_attr *)(const void *)&a);
    const lz_sig *sig = ia ? lz_sig_get(LZ_OP_SHARDING_CONSTRAINT, ia, &type, 1) : NULL;
    return sig ? lz_node_new_op(sig, &x, x->dev, site) : NULL;
}

/* ---- handles ---- */

lz_tensor *lz_trace_tensor_of(lz_node *n, const lz_site *site)
{
    lz_thread_state *t = lz_thread_state_get();
    if (!t)
        return lz_trace_error_tensor(NULL, site);
    lz_node_retain(n);
    return lz_slot_new(t, n, site ? site : t->api_site);
}

lz_tensor *lz_trace_error_tensor(const char *op, const lz_site *site)
{
    lz_thread_state *t = lz_thread_state_self;
    if (lz_error_get()->status == LZ_OK)
        LZ_FAIL(LZ_EINTERNAL, "a failure without a reason");
    if (!lz_error_get()->op[0])
        lz_error_annotate(t && t->api_op ? t->api_op : op, t && t->api_site ? t->api_site : site);
    return lz_slot_new_error(t, lz_error_get());
}

lz_dev *lz_trace_use_device(lz_dev *dev)
{
    lz_thread_state *t = lz_thread_state_self;
    lz_dev *before = t ? t->dev : NULL;
    if (t)
        t->dev = dev;
    return before;
}

lz_api_frame lz_api_enter_from(const char *op, const lz_site *site, void *caller)
{
    lz_thread_state *t = lz_thread_state_get();
    lz_api_frame f = {op, site, t && !t->api_op};
    if (f.outer) {
        t->api_op = op;
        t->api_site = site;
        t->api_caller = caller;
        t->error_before.saved = false;
    }
    return f;
}

lz_status lz_api_leave(const lz_api_frame *f, lz_status s)
{
    lz_thread_state *t = lz_thread_state_self;
    if (f->outer && t) {
        t->api_op = NULL;
        t->api_site = NULL;
        if (s == LZ_OK)
            lz_error_recover(&t->error_before);
    }
    return s;
}

lz_status lz_api_leave_read(const lz_api_frame *f, lz_status s)
{
    (void)lz_api_leave(f, s);
    if (s != LZ_OK)
        lz_slot_looked(lz_error_get());
    return s;
}

lz_status lz_api_leave_update(const lz_api_frame *f, lz_status s)
{
    if (f->outer && s != LZ_OK)
        lz_unseen_given(lz_error_get());
    return lz_api_leave(f, s);
}

lz_tensor *lz_api_leave_with(const lz_api_frame *f, lz_tensor *result)
{
    lz_slot *s = lz_slot_peek(lz_handle_bits(result));
    bool good = s && !(lz_slot_flags(s, lz_handle_bits(result)) & LZ_SLOT_ERROR);
    (void)lz_api_leave(f, good ? LZ_OK : LZ_EINVAL);
    return result;
}

lz_status lz_api_results(const lz_api_frame *f, lz_status s, lz_tensor **out, int n,
                         lz_node *const *nodes, const lz_site *site)
{
    lz_status told = s;
    if (s != LZ_OK)
        (void)lz_api_status(s);
    for (int k = 0; out && k < n; k++) {
        out[k] =
            s == LZ_OK ? lz_trace_tensor_of(nodes[k], site) : lz_trace_error_tensor(f->op, site);
        if (lz_handle_bits(out[k]) == LZ_HANDLE_NO_MEMORY)
            told = LZ_EMEM;
    }
    return told;
}

lz_status lz_api_status(lz_status s)
{
    lz_thread_state *t = lz_thread_state_self;
    if (s != LZ_OK && lz_error_get()->status != s) /* no function inside recorded a message */
        (void)LZ_FAIL(s, "%s", lz_status_message(s));
    if (s != LZ_OK && t && t->api_op && !lz_error_get()->op[0])
        lz_error_annotate(t->api_op, t->api_site);
    return s;
}

size_t lz_api_text(lz_buf *text, char *buf, size_t n)
{
    size_t len = text->len;
    if (buf && n) {
        size_t k = len < n - 1 ? len : n - 1;
        memcpy(buf, lz_buf_str(text), k);
        buf[k] = '\0';
    }
    lz_buf_free(text);
    return len;
}

/* ---- walking ---- */

uint64_t lz_node_new_epoch(void)
{
    static _Atomic uint64_t epoch;
    return atomic_fetch_add_explicit(&epoch, 1, memory_order_relaxed) + 1;
}

typedef struct lz_step_frame {
    lz_node *node;
    uint32_t next;
} lz_step_frame;

uint64_t lz_node_oldest(lz_node *const *nodes, size_t n)
{
    const lz_node *oldest = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!nodes[i])
            continue;
        if (!oldest || lz_node_before(nodes[i], oldest->id))
            oldest = nodes[i];
        else if (nodes[i] != oldest && !lz_node_before(oldest, nodes[i]->id))
            return 0;
    }
    return oldest ? oldest->id : 0;
}

bool lz_node_is_lost(const lz_node *n)
{
    const lz_thread_state *t = lz_thread_state_self;
    if (!(atomic_load(&((lz_node *)n)->flags) & LZ_NODE_LOST) || !t ||
        !lz_node_before(n, t->id_next))
        return false;
    for (uint32_t i = 0; i < t->stepped.len; i++)
        if (t->stepped.data[i].dev == n->dev)
            return !lz_node_before(n, t->stepped.data[i].id);
    return true;
}

lz_status lz_trace_order(lz_node *const *roots, uint32_t nroots, uint64_t since, lz_node ***order,
                         uint32_t *count)
{
    LZ_VEC(lz_node *) out = {0};
    LZ_VEC(lz_step_frame) stack = {0};
    uint64_t epoch = lz_node_new_epoch();
    lz_status s = LZ_OK;
    *order = NULL;
    *count = 0;
    for (uint32_t r = 0; r < nroots && s == LZ_OK; r++) {
        if (roots[r]->epoch == epoch)
            continue;
        roots[r]->epoch = epoch;
        s = lz_vec_push(&stack, ((lz_step_frame){roots[r], 0}));
        while (s == LZ_OK && stack.len) {
            lz_step_frame *f = &stack.data[stack.len - 1];
            lz_node *n = f->node;
            uint32_t nopnd = n->opnd && !lz_node_before(n, since) ? n->sig->nopnd : 0;
            if (f->next < nopnd) {
                lz_node *o = n->opnd[f->next++];
                if (o->epoch != epoch) {
                    o->epoch = epoch;
                    s = lz_vec_push(&stack, ((lz_step_frame){o, 0}));
                }
                continue;
            }
            n->index = out.len;
            stack.len--;
            s = lz_vec_push(&out, n);
        }
    }
    lz_vec_free(&stack);
    if (s != LZ_OK) {
        lz_vec_free(&out);
        return s;
    }
    *order = out.data;
    *count = out.len;
    return LZ_OK;
}
