/* assign.c - see assign.h. All that can fail comes before the first change: checks, references,
 * room in the thread's lists. */
#include "runtime/exec/assign.h"
#include "runtime/graph/recording.h"
#include "runtime/graph/trace_builder.h"

/* An assignment that is checked. */
typedef struct target {
    uint64_t handle; /* retained */
    lz_slot *slot;
    lz_node *node; /* the value, owned */
    bool inside;   /* of a body that is being recorded */
} target;

static lz_status check_assigned(const lz_type *from, const lz_type *to)
{
    char want[128], got[128];
    if (!lz_shape_eq(&from->shape, &to->shape))
        return LZ_FAIL(LZ_ESHAPE, "the value is %s, the tensor %s",
                       lz_type_short(from, got, sizeof got), lz_type_short(to, want, sizeof want));
    if (from->dtype != to->dtype)
        return LZ_FAIL(LZ_EDTYPE, "the value is %s, the tensor %s: convert it with lz_to",
                       lz_type_short(from, got, sizeof got), lz_type_short(to, want, sizeof want));
    return LZ_OK;
}

/* Gives the value the mark of the tensor it is assigned to (lz_mark_sharding). */
static lz_status mark(target *x, const lz_site *site)
{
    const char *text = atomic_load_explicit(&x->slot->sharding, memory_order_relaxed);
    if (__builtin_expect(!text, 1))
        return LZ_OK;
    lz_node *marked = lz_node_new_marked(x->node, text, site);
    if (!marked)
        return lz_error_get()->status;
    lz_node_release(x->node);
    x->node = marked;
    return LZ_OK;
}

/* x->handle is retained. On error x->node is NULL, or what is to be released. */
static lz_status check_held(const lz_thread_state *t, target *x, lz_tensor *value)
{
    lz_error e;
    x->slot = lz_slot_peek(x->handle);
    if ((lz_slot_flags(x->slot, x->handle) & LZ_SLOT_ERROR) &&
        lz_slot_error(x->slot, x->handle, &e)) {
        lz_error_set(&e);
        return e.status;
    }
    x->node = lz_trace_node_of(value);
    if (!x->node)
        return lz_error_get()->status;
    LZ_TRY(check_assigned(lz_node_type(x->node), lz_slot_type(x->slot, x->handle)));
    LZ_TRY(lz_recording_may_assign(t, x->slot, x->handle, &x->inside));
    return mark(x, t->api_site);
}

static lz_status check(const lz_thread_state *t, target *x, const lz_assignment *a)
{
    *x = (target){.handle = lz_handle_bits(a->dst)};
    lz_status s = lz_slot_retain(x->handle);
    if (s != LZ_OK)
        x->handle = 0;
    return s == LZ_OK ? check_held(t, x, a->value) : s;
}

/* Nothing here fails: there is room. */
static void change(lz_thread_state *t, target *x, const lz_site *site)
{
    if (x->inside) {
        if (lz_recording_assign(t, x->handle, x->node, site))
            x->handle = 0;
        x->node = NULL;
        return;
    }
    (void)lz_slot_keep_old(t, x->slot, x->handle);
    (void)lz_slot_queue(t, x->slot, x->handle);
    lz_slot_put(x->slot, x->handle, x->node, site, true);
    x->node = NULL;
}

/* x: room for n. */
static lz_status assign(lz_thread_state *t, target *x, const lz_assignment *a, uint32_t n,
                        const lz_site *site)
{
    lz_status s = lz_slot_reserve(t, n);
    if (s == LZ_OK)
        s = lz_recording_reserve(t, n);
    uint32_t checked = 0;
    while (checked < n && s == LZ_OK) {
        s = check(t, &x[checked], &a[checked]);
        checked++;
    }
    for (uint32_t i = 0; i < n && s == LZ_OK; i++)
        change(t, &x[i], site);
    for (uint32_t i = 0; i < checked; i++) {
        lz_node_release(x[i].node);
        lz_slot_let_go(x[i].handle);
    }
    return s;
}

/* One needs no memory of its own. */
static lz_status assign_any(lz_thread_state *t, const lz_assignment *a, uint32_t n,
                            const lz_site *site)
{
    target one;
    target *x = n > 1 ? lz_calloc(n, sizeof *x) : &one;
    if (!x)
        return LZ_FAIL(LZ_EMEM, "no memory for %u assignments", n);
    lz_status s = assign(t, x, a, n, site);
    if (x != &one)
        lz_free(x);
    return s;
}

static lz_status assign_in(const lz_assignment *a, uint32_t n, lz_api_frame f)
{
    lz_thread_state *t = lz_thread_state_self;
    lz_status s = t ? assign_any(t, a, n, t->api_site) : lz_error_get()->status;
    (void)lz_api_status(s);
    return lz_api_leave_update(&f, s);
}

lz_status lz_assign_at(lz_tensor *dst, lz_tensor *value, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    return assign_in(&(lz_assignment){dst, value}, 1, lz_api_enter("lz_assign", site));
}

lz_status lz_assignments_add(lz_assignments *l, lz_tensor *dst, lz_tensor *value)
{
    return lz_vec_push(l, ((lz_assignment){dst, value}));
}

lz_status lz_assign_all(const lz_assignments *l, const lz_site *site)
{
    return l->len ? assign_in(l->data, l->len, lz_api_enter("lz_assign", site)) : LZ_OK;
}

lz_status lz_assignments_end(lz_assignments *l, lz_status s, const lz_site *site)
{
    if (s == LZ_OK)
        s = lz_assign_all(l, site);
    lz_vec_free(l);
    return s;
}

bool lz_is_marked(lz_tensor *x)
{
    lz_slot *s = lz_slot_get(x);
    return s && atomic_load(&s->sharding);
}

/* The mark of src, for a tensor of its shape; NULL: there is none. */
static const char *mark_for(lz_tensor *x, lz_tensor *src)
{
    lz_slot *from = lz_slot_get(src);
    const char *text = from ? atomic_load(&from->sharding) : NULL;
    if (!text || !x)
        return NULL;
    lz_shape a = lz_shape_of(x), b = lz_shape_of(src);
    return lz_shape_eq(&a, &b) ? text : NULL;
}

void lz_follow_sharding(lz_tensor *dst, lz_tensor *src)
{
    const char *text = mark_for(dst, src);
    lz_slot *to = text ? lz_slot_get(dst) : NULL;
    if (to)
        atomic_store(&to->sharding, text);
}

lz_tensor *lz_marked_like(lz_tensor *x, lz_tensor *src, const lz_site *site)
{
    const char *text = mark_for(x, src);
    lz_tracer c;
    if (!text)
        return x;
    lz_tracer_begin(&c, "lz_mark_sharding", site);
    lz_node *n = lz_tracer_in(&c, x);
    return lz_tracer_end(&c, n ? lz_tracer_own(&c, lz_node_new_marked(n, text, site)) : NULL);
}
