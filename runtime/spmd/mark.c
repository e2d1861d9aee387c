/* mark.c - lz_mark_sharding and its kin. A mark on a handle is kept in its slot, so that whatever
 * is assigned to it has it, too; on a value it is an instruction. Threads: thread-safe. */
#include "runtime/spmd/mark.h"
#include "runtime/exec/runtime_device.h"
#include "runtime/graph/trace_builder.h"
#include <inttypes.h>
#include <lazuli/tensor_ops.h>
#include <string.h>

lz_status lz_mark_check_device(const lz_dev *d, const lz_mesh *mesh)
{
    if (!mesh)
        return LZ_FAIL(LZ_ENULL, "the mesh is NULL");
    if (!d->be->partitions)
        return LZ_FAIL(LZ_ESTATE,
                       "the tensor is on %s, which is one device: set XLA_USE_SPMD=1, or call "
                       "lz_use_spmd before it is made",
                       d->name);
    if (d->be->partitions() != mesh->ndevice)
        return LZ_FAIL(LZ_EINVAL, "the mesh has %" PRId64 " devices, %s has %" PRId64,
                       mesh->ndevice, d->name, d->be->partitions());
    return LZ_OK;
}

static lz_node *with_sharding(lz_tracer *c, lz_tensor *t, const lz_mesh *mesh,
                              const lz_partition_spec *spec)
{
    lz_node *x = lz_tracer_in(c, t);
    if (!x || lz_mark_check_device(lz_tracer_dev(c, x), mesh) != LZ_OK)
        return NULL;
    const char *text = lz_spec_text(mesh, spec, lz_node_type(x));
    return text ? lz_tracer_own(c, lz_node_new_marked(x, text, c->site)) : NULL;
}

lz_tensor *lz_with_sharding_at(lz_tensor *x, lz_mesh *mesh, lz_partition_spec spec,
                               const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_tracer c;
    lz_tracer_begin(&c, "lz_with_sharding", site);
    return lz_tracer_end(&c, with_sharding(&c, x, mesh, &spec));
}

/* ---- values that are placed alike ---- */

/* Outside of bodies a capture numbers groups anew; inside they keep their numbers, which are the
 * same in each step. */
static int64_t new_group(lz_thread_state *t)
{
    static _Atomic int64_t last;
    return t->recording ? INT64_C(1) << 40 | t->groups++ : atomic_fetch_add(&last, 1);
}

static lz_status check_alike(const lz_node *a, const lz_node *b)
{
    const lz_type *x = lz_node_type(a), *y = lz_node_type(b);
    char one[128], other[128];
    if (a->dev != b->dev && !lz_node_is_host(a) && !lz_node_is_host(b))
        return LZ_FAIL(LZ_EINVAL, "a is on %s, b on %s", a->dev->name, b->dev->name);
    if (x->shape.rank == y->shape.rank)
        return LZ_OK;
    return LZ_FAIL(LZ_EINVAL, "a has %d dimensions, b has %d: %s and %s", x->shape.rank,
                   y->shape.rank, lz_type_short(x, one, sizeof one),
                   lz_type_short(y, other, sizeof other));
}

static lz_status shard_as(lz_tracer *c, lz_tensor *a, lz_tensor *b, lz_node *out[2])
{
    lz_attr_group g = {LZ_ATTR_group, 0};
    out[0] = lz_tracer_in(c, a);
    out[1] = out[0] ? lz_tracer_in(c, b) : NULL;
    if (!out[1] || check_alike(out[0], out[1]) != LZ_OK)
        return lz_error_get()->status;
    lz_dev *d = lz_tracer_dev(c, lz_node_is_host(out[0]) ? out[1] : out[0]);
    if (!d->be->partitions) /* one device has all of both */
        return LZ_OK;
    g.group_id = new_group(c->thr);
    for (int k = 0; k < 2; k++)
        out[k] =
            lz_tracer_op(c, LZ_OP_SHARDING_GROUP, (const lz_attr *)(const void *)&g, &out[k], 1);
    return out[0] && out[1] ? LZ_OK : lz_error_get()->status;
}

lz_status lz_shard_as_at(lz_tensor *a, lz_tensor *b, lz_tensor **out_a, lz_tensor **out_b,
                         const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_tracer c;
    lz_node *n[2] = {NULL, NULL};
    lz_tensor *r[2];
    lz_api_frame f = lz_api_enter("lz_shard_as", site);
    lz_tracer_begin(&c, "lz_shard_as", site);
    lz_status s = !out_a || !out_b ? LZ_FAIL(LZ_ENULL, "%s is NULL", out_a ? "out_b" : "out_a")
                                   : shard_as(&c, a, b, n);
    s = lz_api_results(&f, lz_api_status(s), r, 2, n, site);
    lz_tracer_drop(&c);
    if (out_a)
        *out_a = r[0];
    if (out_b)
        *out_b = r[1];
    return lz_api_leave(&f, s);
}

/* ---- handles ---- */

/* Whether the text says more than that the tensor is whole everywhere. */
static bool is_cut(const char *text)
{
    const lz_sharding *s = text ? lz_sharding_parse(text) : NULL;
    return s && !lz_sharding_is_replicated(s);
}

static lz_status mark_held(lz_slot *s, lz_tensor *x, const char *text, const lz_site *site)
{
    const char *now = atomic_load(&s->sharding);
    if (now != text && is_cut(now))
        return LZ_FAIL(LZ_EINVAL,
                       "the tensor is marked %.120s: lz_clear_sharding it before it is marked "
                       "otherwise",
                       now);
    atomic_store(&s->sharding, text);
    lz_status st = lz_assign_at(x, x, site); /* which marks it */
    if (st != LZ_OK)
        atomic_store(&s->sharding, now);
    return st;
}

lz_status lz_mark_handle(lz_tensor *x, const char *text)
{
    LZ_TRY(lz_slot_retain(lz_handle_bits(x)));
    atomic_store(&lz_slot_peek(lz_handle_bits(x))->sharding, text);
    lz_slot_let_go(lz_handle_bits(x));
    return LZ_OK;
}

/* A tensor that was made before lz_use_spmd goes to the virtual device. */
static lz_status move_late(lz_tensor *x, const lz_site *site)
{
    LZ_TRY(lz_scope_begin());
    lz_status s = lz_assign_at(x, lz_to_device_at(x, NULL, site), site);
    (void)lz_scope_end();
    return s;
}

static lz_status mark(lz_tensor *x, const lz_mesh *mesh, const lz_partition_spec *spec,
                      const lz_site *site)
{
    uint64_t h = lz_handle_bits(x);
    lz_node *n = lz_trace_node_of(x);
    if (n && !n->dev->be->partitions && lz_is_spmd()) {
        lz_node_release(n);
        n = move_late(x, site) == LZ_OK ? lz_trace_node_of(x) : NULL;
    }
    if (!n)
        return lz_error_get()->status;
    lz_status s = lz_mark_check_device(n->dev, mesh);
    const char *text = s == LZ_OK ? lz_spec_text(mesh, spec, lz_node_type(n)) : NULL;
    lz_node_release(n);
    if (!text)
        return lz_error_get()->status;
    LZ_TRY(lz_slot_retain(h));
    s = mark_held(lz_slot_peek(h), x, text, site);
    lz_slot_let_go(h);
    return s;
}

lz_status lz_mark_sharding_at(lz_tensor *x, lz_mesh *mesh, lz_partition_spec spec,
                              const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_api_frame f = lz_api_enter("lz_mark_sharding", site);
    lz_status s = lz_api_status(mark(x, mesh, &spec, site));
    return lz_api_leave_update(&f, s);
}

lz_status lz_clear_sharding(lz_tensor *x)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_slot *s = lz_slot_get(x);
    if (!s || lz_slot_retain(lz_handle_bits(x)) != LZ_OK) {
        lz_error_annotate("lz_clear_sharding", NULL);
        return lz_error_get()->status;
    }
    atomic_store(&s->sharding, NULL);
    lz_slot_let_go(lz_handle_bits(x));
    return LZ_OK;
}

size_t lz_get_sharding(lz_tensor *x, char *buf, size_t n)
{
    LZ_PUBLIC(0);
    const char *text = lz_mark_of(x);
    const lz_sharding *s = text ? lz_sharding_parse(text) : NULL;
    lz_buf out = {0};
    if (s)
        lz_sharding_print_hlo(&out, s);
    return lz_api_text(&out, buf, n);
}
