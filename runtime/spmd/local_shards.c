/* local_shards.c - the parts that devices have of a tensor, out of it and into it. Devices have the
 * numbers of the mesh's device_ids; partitions are positions in the mesh. Those of other processes
 * are in the mesh, but nothing of theirs is here. Threads: thread-safe. */
#include "base/alloc.h"
#include "base/box_copy.h"
#include "runtime/debug/metrics.h"
#include "runtime/exec/sync.h"
#include "runtime/graph/trace_builder.h"
#include "runtime/spmd/local_shards.h"
#include "runtime/spmd/mark.h"
#include "shard/tiles.h"
#include <inttypes.h>
#include <lazuli/tensor_ops.h>
#include <string.h>

/* ---- which ---- */

static int64_t device_at(const lz_mesh *m, int64_t partition)
{
    return m->device_ids ? m->device_ids[partition] : partition;
}

static int64_t partition_at(const lz_mesh *m, int64_t device)
{
    int64_t p = m->device_ids ? 0 : device;
    while (device_at(m, p) != device)
        p++;
    return p;
}

/* Its number among those that have the same elements. */
static int64_t replica_of(const lz_sharding *s, int64_t partition)
{
    int64_t r = 0;
    uint32_t used = lz_sharding_used(s);
    for (int k = 0; k < s->mesh->nfactor; k++)
        if (!(used >> k & 1))
            r = r * s->mesh->factors[k].size + lz_mesh_coordinate(s->mesh, partition, k);
    return r;
}

static lz_local_shard describe(const lz_sharding *s, const lz_shape *shape, int64_t device)
{
    int64_t p = partition_at(s->mesh, device);
    lz_local_shard r = {.device = device,
                        .replica_id = replica_of(s, p),
                        .partial = s->unreduced != 0,
                        .rank = shape->rank};
    lz_tile_box(s, shape, p, r.offset, r.extent);
    return r;
}

static lz_status check_ordinal(int64_t device, int64_t n)
{
    if (device < 0 || device >= n)
        return LZ_FAIL(LZ_ERANGE, "device %" PRId64 ": the mesh has %" PRId64 " devices", device,
                       n);
    return LZ_OK;
}

static lz_status local_shard_of(const lz_shape *shape, const lz_mesh *mesh, const lz_placements *p,
                                int64_t device, lz_local_shard *out)
{
    const lz_type *type = lz_type_get(LZ_BOOL, shape); /* checks it */
    if (!out)
        return LZ_FAIL(LZ_ENULL, "out is NULL");
    const lz_sharding *s = type ? lz_placements_sharding(mesh, p, shape) : NULL;
    if (!s)
        return lz_error_get()->status;
    LZ_TRY(check_ordinal(device, mesh->ndevice));
    *out = describe(s, shape, device);
    return LZ_OK;
}

lz_status lz_local_shard_of(lz_shape shape, lz_mesh *mesh, lz_placements placements, int64_t device,
                            lz_local_shard *out)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_status s = local_shard_of(&shape, mesh, &placements, device, out);
    if (s != LZ_OK)
        lz_error_annotate("lz_local_shard_of", NULL);
    return s;
}

/* ---- several processes ---- */

static bool is_shared(const lz_backend *be)
{
    int64_t first, n;
    if (!be->partitions)
        return false;
    be->local_devices(&first, &n);
    return n < be->partitions();
}

bool lz_device_is_shared(void)
{
    const lz_dev *d = lz_dev_current();
    return d && is_shared(d->be);
}

/* ---- out ---- */

/* A tensor whose value is there. */
typedef struct placed {
    lz_node *node;        /* owned */
    lz_device_buffer *b;  /* owned; NULL: a number that no device has */
    const lz_sharding *s; /* NULL: whole everywhere */
    int64_t first, n;     /* devices of this process */
} placed;

static void placed_end(placed *p)
{
    lz_device_buffer_release(p->b);
    lz_node_release(p->node);
}

static lz_status compute(placed *p)
{
    lz_node *n = p->node;
    if (!n->dev->be->partitions)
        return LZ_FAIL(LZ_ESTATE, "the tensor is on %s, which is one device", n->dev->name);
    n->dev->be->local_devices(&p->first, &p->n);
    LZ_TRY(lz_node_not_placeholder(n));
    if (lz_node_is_host(n))
        return LZ_OK;
    if (!lz_node_buf(n))
        LZ_TRY(lz_sync_nodes(n->dev, &n, 1, LZ_CAUSE_READ, true));
    LZ_TRY(lz_dev_may_wait_for(lz_node_buf(n)));
    p->b = lz_node_buf(n);
    lz_device_buffer_retain(p->b);
    const char *text = n->dev->be->placement(p->b);
    p->s = text ? lz_sharding_parse(text) : NULL;
    return text && !p->s ? lz_error_get()->status : LZ_OK;
}

static lz_status placed_begin(placed *p, lz_tensor *x)
{
    *p = (placed){.node = lz_trace_node_of(x)};
    return p->node ? compute(p) : lz_error_get()->status;
}

static lz_local_shard shard_of(const placed *p, int64_t device)
{
    const lz_shape *shape = &lz_node_type(p->node)->shape;
    if (p->s)
        return describe(p->s, shape, device);
    lz_local_shard r = {.device = device, .replica_id = device, .rank = shape->rank};
    for (int d = 0; d < shape->rank; d++)
        r.extent[d] = shape->dims[d];
    return r;
}

static void placed_of(placed *p, lz_node *n)
{
    lz_node_retain(n);
    *p = (placed){.node = n};
}

lz_status lz_snapshot_shards(const lz_snapshot *snapshot, size_t i, lz_local_shard *out, int64_t n,
                             int64_t *count)
{
    lz_node *node = snapshot->nodes[i];
    placed p;
    *count = 0;
    if (!node->dev->be->partitions)
        return LZ_OK;
    placed_of(&p, node);
    lz_status s = compute(&p);
    if (s == LZ_OK && !(p.s && p.s->unreduced))
        *count = node->dev->be->partitions();
    for (int64_t d = 0; d < *count && d < n; d++)
        out[d] = shard_of(&p, d);
    placed_end(&p);
    return s;
}

static lz_status local_shards(lz_tensor *x, lz_local_shard *out, int64_t n, int64_t *count)
{
    placed p;
    lz_status s = placed_begin(&p, x);
    if (s == LZ_OK && n > 0 && !out)
        s = LZ_FAIL(LZ_ENULL, "out is NULL");
    for (int64_t d = 0; s == LZ_OK && d < p.n && d < n; d++)
        out[d] = shard_of(&p, p.first + d);
    *count = s == LZ_OK ? p.n : -1;
    placed_end(&p);
    return s;
}

int64_t lz_local_shards_at(lz_tensor *x, lz_local_shard *out, int64_t n, const lz_site *site)
{
    LZ_PUBLIC_AT(-1);
    int64_t count;
    lz_api_frame f = lz_api_enter("lz_local_shards", site);
    lz_status s = lz_api_status(local_shards(x, out, n, &count));
    (void)lz_api_leave_read(&f, s);
    return count;
}

static lz_status read_shard(const placed *p, int64_t device, void *dst, size_t nbytes)
{
    const lz_type *type = lz_node_type(p->node);
    LZ_TRY(check_ordinal(device, p->node->dev->be->partitions()));
    if (device < p->first || device >= p->first + p->n)
        return LZ_FAIL(LZ_ERANGE,
                       "device %" PRId64 " is another process's: this one has %" PRId64
                       " to %" PRId64,
                       device, p->first, p->first + p->n - 1);
    const lz_local_shard at = shard_of(p, device);
    size_t need = lz_dtype_size(type->dtype);
    for (int d = 0; d < at.rank; d++)
        need *= (size_t)at.extent[d];
    if (need && !dst)
        return LZ_FAIL(LZ_ENULL, "dst is NULL");
    if (nbytes < need)
        return LZ_FAIL(LZ_ERANGE, "dst has %zu bytes, the part of device %" PRId64 " has %zu",
                       nbytes, device, need);
    lz_metric_add(LZ_METRIC_InboundData, (double)need);
    if (p->b)
        return p->node->dev->be->read_part(p->b, type, p->s ? partition_at(p->s->mesh, device) : 0,
                                           dst);
    memcpy(dst, p->node->imm, need);
    return LZ_OK;
}

static lz_box box_of(const lz_local_shard *s)
{
    lz_box b = {.rank = s->rank};
    for (int i = 0; i < s->rank; i++) {
        b.offset[i] = s->offset[i];
        b.extent[i] = s->extent[i];
    }
    return b;
}

static bool same_part(const placed *p, const lz_local_shard *want)
{
    const lz_local_shard now = shard_of(p, want->device);
    const lz_box a = box_of(&now), b = box_of(want);
    return lz_box_equal(&a, &b);
}

/* By way of the whole: another thread's program has moved it. */
static lz_status cut_shard(lz_node *node, const lz_local_shard *want, void *dst)
{
    const lz_type *type = lz_node_type(node);
    const lz_box part = box_of(want);
    lz_box whole = {.rank = type->shape.rank};
    memcpy(whole.extent, type->shape.dims, (size_t)whole.rank * sizeof *whole.extent);
    if (lz_box_equal(&part, &whole))
        return lz_read_node(node, dst, LZ_CAUSE_READ);
    void *all = lz_alloc(type->nbytes + 1);
    lz_status s = all ? lz_read_node(node, all, LZ_CAUSE_READ)
                      : LZ_FAIL(LZ_EMEM, "no memory for %zu bytes", type->nbytes);
    if (s == LZ_OK)
        lz_box_copy(&part, lz_dtype_size(type->dtype), &whole, all, &part, dst);
    lz_free(all);
    return s;
}

lz_status lz_snapshot_read_shard(const lz_snapshot *snapshot, size_t i, const lz_local_shard *want,
                                 void *dst)
{
    lz_node *node = snapshot->nodes[i];
    placed before, after;
    bool read = false;
    placed_of(&before, node);
    lz_status s = compute(&before);
    if (s == LZ_OK && before.s && same_part(&before, want)) {
        s = read_shard(&before, want->device, dst, SIZE_MAX);
        placed_of(&after, node);
        if (s == LZ_OK)
            s = compute(&after);
        read = s == LZ_OK && after.s == before.s;
        placed_end(&after);
    }
    placed_end(&before);
    return s == LZ_OK && !read ? cut_shard(node, want, dst) : s;
}

lz_status lz_local_to_host_at(lz_tensor *x, int64_t device, void *dst, size_t nbytes,
                              const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    placed p;
    lz_api_frame f = lz_api_enter("lz_local_to_host", site);
    lz_status s = placed_begin(&p, x);
    if (s == LZ_OK)
        s = read_shard(&p, device, dst, nbytes);
    placed_end(&p);
    return lz_api_leave_read(&f, lz_api_status(s));
}

/* ---- in ---- */

/* Whether a lower partition of this process's n devices has the same. */
static bool is_local_copy(const lz_sharding *s, int64_t first, int64_t n, int64_t p)
{
    int64_t of = lz_tile_first(s, p);
    if (n == s->mesh->ndevice)
        return of != p;
    for (int64_t d = first; d < first + n; d++) {
        int64_t q = partition_at(s->mesh, d);
        if (q < p && lz_tile_first(s, q) == of)
            return true;
    }
    return false;
}

/* The parts of this process's devices by partition; those that are not needed are NULL. *sent:
 * bytes. */
static lz_status by_partition(const lz_sharding *s, const lz_type *type, const lz_backend *be,
                              const void *const *shards, const void **part, size_t *sent)
{
    int64_t first, n;
    if (!shards)
        return LZ_FAIL(LZ_ENULL, "shards is NULL");
    be->local_devices(&first, &n);
    for (int64_t d = first; d < first + n; d++) {
        int64_t p = partition_at(s->mesh, d);
        const lz_local_shard at = describe(s, &type->shape, d);
        size_t nbytes = lz_dtype_size(type->dtype);
        for (int i = 0; i < at.rank; i++)
            nbytes *= (size_t)at.extent[i];
        *sent += nbytes;
        if (!nbytes || is_local_copy(s, first, n, p))
            continue;
        if (!shards[d])
            return LZ_FAIL(LZ_ENULL, "the part of device %" PRId64 " is NULL: it has %zu bytes", d,
                           nbytes);
        if (lz_host_data_check(type->dtype, shards[d], nbytes) != LZ_OK)
            return lz_error_get()->status;
        part[p] = shards[d];
    }
    return LZ_OK;
}

static lz_node *from_parts(lz_tracer *c, lz_dev *dev, const lz_type *type, const lz_sharding *s,
                           const void *const *shards)
{
    lz_device_buffer *b = NULL;
    size_t sent = 0;
    const char *text = lz_sharding_text(s);
    const void **part = lz_calloc((size_t)s->mesh->ndevice, sizeof *part);
    lz_status st = part && text
                       ? by_partition(s, type, dev->be, shards, part, &sent)
                       : LZ_FAIL(LZ_EMEM, "no memory for %" PRId64 " parts", s->mesh->ndevice);
    if (st == LZ_OK)
        st = dev->be->from_parts(type, text, part, &b);
    lz_free(part);
    if (st != LZ_OK)
        return NULL;
    lz_metric_add(LZ_METRIC_OutboundData, (double)sent);
    lz_sync_note_data(type->nbytes);
    lz_node *n = lz_node_new_buffer(type, dev, b, c->site);
    if (!n)
        lz_device_buffer_release(b);
    return lz_tracer_own(c, n);
}

static lz_node *from_local(lz_tracer *c, lz_dtype dtype, const lz_shape *shape, const lz_mesh *mesh,
                           const lz_placements *p, const void *const *shards, const char **text)
{
    lz_dev *dev = lz_tracer_dev(c, NULL);
    const lz_type *type = dev ? lz_type_get(dtype, shape) : NULL;
    if (!type || lz_mark_check_device(dev, mesh) != LZ_OK)
        return NULL;
    const lz_sharding *s = lz_placements_sharding(mesh, p, shape);
    if (!s || lz_placements_check_dtype(s, dtype) != LZ_OK)
        return NULL;
    lz_node *n = from_parts(c, dev, type, s, shards);
    *text = n ? lz_sharding_text(s) : NULL;
    return n;
}

lz_tensor *lz_from_local_at(lz_dtype dtype, lz_shape shape, lz_mesh *mesh, lz_placements placements,
                            const void *const *shards, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_tracer c;
    const char *text = NULL;
    lz_tracer_begin(&c, "lz_from_local", site);
    lz_tensor *r =
        lz_tracer_end(&c, from_local(&c, dtype, &shape, mesh, &placements, shards, &text));
    if (text)
        (void)lz_mark_handle(r, text);
    return r;
}

/* Where x is placed; NULL with LZ_ESTATE. */
static const lz_sharding *placement_of(lz_tensor *x, const lz_node *n)
{
    const char *text = lz_mark_of(x);
    const lz_sharding *s = text ? lz_sharding_parse(text) : NULL;
    const lz_backend *be = n->dev->be;
    if (!text || !be->partitions || (s && s->mesh->ndevice != be->partitions())) {
        (void)LZ_FAIL(LZ_ESTATE,
                      "the tensor, on %s, has no placement: lz_mark_sharding or "
                      "lz_distribute_tensor gives it one",
                      n->dev->name);
        return NULL;
    }
    return s;
}

/* Where a value that is assigned to x belongs: by its mark, else where its value is, as programs
 * expect it there. NULL: on one device, or anywhere. */
static const lz_sharding *home_of(lz_tensor *x, const lz_node *n)
{
    const lz_backend *be = n->dev->be;
    const char *text = be->partitions ? lz_mark_of(x) : NULL;
    lz_device_buffer *b = be->partitions && !text && !lz_node_is_host(n) ? lz_node_buf(n) : NULL;
    if (b)
        text = be->placement(b);
    const lz_sharding *s = text ? lz_sharding_parse(text) : NULL;
    return s && !s->unreduced && s->mesh->ndevice == be->partitions() ? s : NULL;
}

lz_status lz_wanted_shards(lz_tensor *x, lz_local_shard *out, int64_t n, int64_t *count)
{
    lz_node *to = lz_trace_node_of(x);
    *count = 0;
    if (!to)
        return lz_error_get()->status;
    const lz_sharding *s = home_of(x, to);
    int64_t first = 0, here = 0;
    if (s)
        to->dev->be->local_devices(&first, &here);
    *count = s ? s->mesh->ndevice : 0;
    for (int64_t d = 0; d < *count && d < n; d++) {
        out[d] = describe(s, &lz_node_type(to)->shape, d);
        if (d < first || d >= first + here)
            memset(out[d].extent, 0, sizeof out[d].extent);
        else
            out[d].replica_id = is_local_copy(s, first, here, partition_at(s->mesh, d));
    }
    lz_node_release(to);
    return LZ_OK;
}

lz_tensor *lz_from_shards_like(lz_tensor *x, lz_dtype dtype, const void *const *shards,
                               const char *op, const lz_site *site)
{
    lz_tracer c;
    lz_tracer_begin(&c, op, site);
    lz_node *to = lz_trace_node_of(x), *made = NULL;
    const lz_sharding *s = to ? home_of(x, to) : NULL;
    const lz_type *type = s ? lz_type_get(dtype, &lz_node_type(to)->shape) : NULL;
    if (type)
        made = from_parts(&c, to->dev, type, s, shards);
    else if (to && !s)
        (void)LZ_FAIL(LZ_ESTATE, "the tensor has no placement");
    lz_node_release(to);
    return lz_tracer_end(&c, made);
}

static lz_status load(lz_tensor *x, const void *const *shards, const lz_site *site)
{
    lz_node *to = lz_trace_node_of(x);
    if (!to)
        return lz_error_get()->status;
    bool marked = placement_of(x, to) != NULL;
    lz_dtype dtype = lz_node_type(to)->dtype;
    lz_node_release(to);
    if (!marked)
        return lz_error_get()->status;
    return lz_assign_at(x, lz_from_shards_like(x, dtype, shards, "lz_load_local_shards", site),
                        site);
}

lz_status lz_load_local_shards_at(lz_tensor *x, const void *const *shards, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_api_frame f = lz_api_enter("lz_load_local_shards", site);
    lz_status s = lz_scope_begin();
    if (s == LZ_OK) {
        s = load(x, shards, site);
        (void)lz_scope_end();
    }
    return lz_api_leave_update(&f, lz_api_status(s));
}
