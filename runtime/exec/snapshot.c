/* snapshot.c - see snapshot.h. */
#include "runtime/exec/snapshot.h"
#include "runtime/exec/sync.h"
#include "runtime/graph/recording.h"

/* Whether a thread lived when the snapshot was begun: the answer must not change within it. */
typedef struct known {
    uint32_t serial;
    bool lives;
} known;
typedef LZ_VEC(known) owners;

static lz_status lives(owners *o, uint32_t serial, bool *out)
{
    for (uint32_t i = o->len; i-- > 0;)
        if (o->data[i].serial == serial) {
            *out = o->data[i].lives;
            return LZ_OK;
        }
    *out = lz_thread_state_lives(serial);
    return lz_vec_push(o, ((known){serial, *out}));
}

/* The node of t that counts, retained. The order of the reads is the other way round than that of
 * an assignment's writes: without the flag, the node that was read before is that of the last
 * step. */
static lz_status pick(owners *o, const lz_tensor *t, lz_node **out)
{
    uint64_t h = lz_handle_bits(t);
    const lz_thread_state *self = lz_thread_state_self;
    lz_slot *s = lz_slot_get(t);
    bool elsewhere = false;
    if (s && self && self->recording && lz_recording_read(self, s, h, out))
        return *out ? LZ_OK : lz_error_get()->status;
    *out = s ? lz_slot_node(s, h) : NULL;
    if (!*out)
        return lz_error_get()->status;
    if (!(lz_slot_flags(s, h) & LZ_SLOT_UNSTEPPED))
        return LZ_OK;
    uint32_t owner = lz_slot_owner(s, h);
    lz_status st = self && owner == self->serial ? LZ_OK : lives(o, owner, &elsewhere);
    if (st == LZ_OK && !elsewhere)
        return LZ_OK;
    lz_node_release(*out);
    *out = st == LZ_OK ? lz_slot_old(s, h) : NULL;
    if (st == LZ_OK && !*out)
        st = LZ_FAIL(LZ_ESTALE,
                     "the value of the last step was donated, and the thread that assigned another "
                     "one has not stepped: call lz_mark_step there");
    return st;
}

static lz_status check_device(const lz_snapshot *s, size_t i)
{
    const lz_node *n = s->nodes[i];
    LZ_TRY(lz_node_not_placeholder(n));
    return lz_node_is_host(n) || n->dev == s->dev
               ? LZ_OK
               : LZ_FAIL(LZ_EINVAL, "tensors 0 and %zu are on two devices, %s and %s", i,
                         s->dev->name, n->dev->name);
}

/* The first device that is not only the home of a number. */
static lz_status find_device(lz_snapshot *s, lz_tensor *const *tensors, size_t n)
{
    for (size_t i = 0; i < n && !s->dev; i++) {
        lz_node *x = lz_trace_node_of(tensors[i]);
        if (!x)
            return lz_error_get()->status;
        if (!lz_node_is_host(x))
            s->dev = x->dev;
        lz_node_release(x);
    }
    if (!s->dev)
        s->dev = lz_dev_current();
    return s->dev ? LZ_OK : lz_error_get()->status;
}

static lz_status take(lz_snapshot *s, lz_tensor *const *tensors, size_t n, lz_dev *rng)
{
    owners o = {0};
    lz_status st = LZ_OK;
    lz_dev_lock(s->dev);
    while (s->n < n && st == LZ_OK) {
        st = pick(&o, tensors[s->n], &s->nodes[s->n]);
        if (st == LZ_OK)
            st = check_device(s, s->n++);
    }
    lz_rng r = lz_dev_rng_stepped(rng);
    lz_dev_unlock(s->dev);
    s->rng = (lz_rng_state){r.seed, r.counter};
    lz_vec_free(&o);
    return st;
}

static lz_status snapshot_take(lz_snapshot *s, lz_tensor *const *tensors, size_t n)
{
    *s = (lz_snapshot){0};
    if (n > UINT32_MAX)
        return LZ_FAIL(LZ_ERANGE, "%zu tensors", n);
    lz_dev *rng = lz_dev_current();
    if (!rng)
        return lz_error_get()->status;
    LZ_TRY(find_device(s, tensors, n));
    s->nodes = lz_calloc(n + 1, sizeof *s->nodes);
    if (!s->nodes)
        return LZ_FAIL(LZ_EMEM, "no memory for %zu values", n);
    lz_status st = take(s, tensors, n, rng);
    if (st == LZ_OK && n)
        st = lz_sync_nodes(s->dev, s->nodes, (uint32_t)n, LZ_CAUSE_SYNC, true);
    if (st != LZ_OK)
        lz_snapshot_free(s);
    return st;
}

lz_status lz_snapshot_take(lz_snapshot *s, lz_tensor *const *tensors, size_t n)
{
    lz_status st = snapshot_take(s, tensors, n);
    if (st != LZ_OK)
        lz_slot_looked(lz_error_get()); /* who writes a file is given the status */
    return st;
}

void lz_snapshot_describe(const lz_snapshot *s, size_t i, lz_dtype *dtype, lz_shape *shape,
                          size_t *nbytes)
{
    const lz_type *t = lz_node_type(s->nodes[i]);
    if (dtype)
        *dtype = t->dtype;
    if (shape)
        *shape = t->shape;
    if (nbytes)
        *nbytes = t->nbytes;
}

lz_status lz_snapshot_read(const lz_snapshot *s, size_t i, void *dst)
{
    return lz_read_node(s->nodes[i], dst, LZ_CAUSE_READ);
}

void lz_snapshot_free(lz_snapshot *s)
{
    if (s->n)
        lz_dev_lock(s->dev);
    for (size_t i = 0; i < s->n; i++)
        lz_node_release(s->nodes[i]);
    if (s->n)
        lz_dev_unlock(s->dev);
    lz_free(s->nodes);
    *s = (lz_snapshot){0};
}

static void commit(const lz_thread_state *t, uint64_t h, lz_slot *s)
{
    lz_node *old = lz_slot_old(s, h);
    lz_slot_step(t, h, old);
    lz_node_release(old);
}

void lz_snapshot_commit(lz_tensor *const *tensors, size_t n, const lz_rng_state *rng)
{
    lz_thread_state *t = lz_thread_state_self;
    lz_dev *d = NULL, *home = rng ? lz_dev_current() : NULL;
    for (size_t i = 0; t && i < n; i++) {
        uint64_t h = lz_handle_bits(tensors[i]);
        lz_slot *s = lz_slot_unstepped(t, h) ? lz_slot_peek(h) : NULL;
        lz_node *x = s ? lz_slot_node_peek(s, h) : NULL;
        if (x && x->dev != d) { /* all are of one device, or the program mixes them */
            if (d)
                lz_dev_unlock(d);
            lz_dev_lock(d = x->dev);
        }
        if (x)
            commit(t, h, s);
        lz_node_release(x);
    }
    if (home)
        lz_dev_rng_set(home, (lz_rng){rng->seed, rng->counter});
    if (d)
        lz_dev_unlock(d);
    if (t)
        lz_slot_sweep_unstepped(t);
}
