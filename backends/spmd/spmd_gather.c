/* spmd_gather.c - what the devices of other processes have: a program of one collective, which all
 * processes start, joins it on every device. So its time limit, its errors and its place in the
 * order of programs are those of all others. Threads: thread-safe. */
#include "backends/distributed/processes.h"
#include "backends/spmd/spmd.h"
#include "base/alloc.h"
#include "ir/op.h"
#include "shard/local.h"
#include "shard/tiles.h"
#include <string.h>

/* Of devices first to first + n - 1: how many parts they have that differ. */
static int64_t distinct(const lz_sharding *at, int64_t first, int64_t n)
{
    int64_t have = 0;
    for (int64_t l = first; l < first + n; l++) {
        int64_t of = lz_tile_first(at, lz_spmd_partition_of(at->mesh, l - lz_spmd.first)),
                k = first;
        while (k < l && lz_tile_first(at, lz_spmd_partition_of(at->mesh, k - lz_spmd.first)) != of)
            k++;
        have += k == l;
    }
    return have;
}

/* A process that has all must come to the gather of those that have not. */
bool lz_spmd_has_all(const lz_sharding *at)
{
    int64_t need = 0;
    if (!lz_spmd_is_multiprocess())
        return true;
    for (int64_t p = 0; p < lz_spmd.n; p++)
        need += !lz_tile_is_copy(at, p);
    for (uint32_t r = 0; r < lz_processes_count() && need > 1; r++) {
        const lz_process *p = lz_processes_get(r);
        if (p->ndevice < need || distinct(at, p->first, p->ndevice) < need)
            return false;
    }
    return true;
}

/* ---- the programs ---- */

/* Programs that gather parts, the ones used last. */
enum { KNOWN = 32 };
typedef struct gather {
    const lz_type *local;
    const lz_mesh *mesh;
    uint32_t axes; /* along which the parts differ */
    uint64_t used;
    lz_exec *x;
} gather;
static lz_mutex known_lock = LZ_MUTEX_INIT("spmd gathers");
static gather known[KNOWN];
static uint64_t uses;

/* Parts as rows of elements, and one row of them all, in the order of their tiles' numbers. */
static lz_status build_gather(const gather *g, lz_func **out)
{
    lz_func *f = lz_func_new("gather_parts");
    if (!f)
        return LZ_EMEM;
    const lz_shape scalar = LZ_SCALAR;
    const lz_shape row = {1, {g->local->nelem}};
    lz_axis_list axes = lz_axis_list_of(g->axes);
    lz_val part = lz_build_param(f, g->local);
    lz_local l = {f, g->mesh, lz_build_param(f, lz_type_get(LZ_U32, &scalar))};
    lz_val v = lz_local_all_gather(&l, lz_build_reshape(f, part, &row), 0, &axes);
    lz_status s = v == LZ_NOVAL ? f->status : lz_func_set_results(f, &v, 1);
    if (s != LZ_OK) {
        lz_func_free(f);
        return s;
    }
    *out = f;
    return LZ_OK;
}

static lz_status compile_gather(gather *g)
{
    lz_func *f;
    LZ_TRY(build_gather(g, &f));
    LZ_TRY(lz_spmd_by_device(g->mesh, &f));
    const bool donate[2] = {false, false};
    const lz_compile_options o = {.donate = donate, .partitions = (uint32_t)lz_spmd.n, .func = f};
    lz_status s = lz_spmd.be->compile(0, f, &o, &g->x);
    lz_func_free(f);
    return s;
}

/* The executable of the gather, which stays while the lock is held. */
static lz_status find_gather(gather *g)
{
    gather *oldest = known;
    for (int i = 0; i < KNOWN; i++) {
        gather *k = &known[i];
        if (k->x && k->local == g->local && k->mesh == g->mesh && k->axes == g->axes) {
            k->used = ++uses;
            *g = *k;
            return LZ_OK;
        }
        oldest = k->used < oldest->used ? k : oldest;
    }
    LZ_TRY(compile_gather(g));
    if (oldest->x)
        lz_spmd.be->exec_free(oldest->x);
    g->used = ++uses;
    *oldest = *g;
    return LZ_OK;
}

/* What the devices of one run take and give. */
typedef struct gather_run {
    lz_device_buffer ***in, ***out, **cells; /* rows of two and of one */
    lz_event **done;
} gather_run;

static lz_status gather_begin(gather_run *r, lz_device_buffer *const *part)
{
    size_t n = (size_t)lz_spmd.nlocal;
    *r = (gather_run){.cells = lz_calloc(3 * n, sizeof(lz_device_buffer *)),
                      .in = lz_calloc(2 * n, sizeof *r->in),
                      .done = lz_calloc(n, sizeof *r->done)};
    if (!r->cells || !r->in || !r->done)
        return LZ_FAIL(LZ_EMEM, "SPMD: no memory to read a tensor");
    r->out = r->in + n;
    for (size_t l = 0; l < n; l++) {
        r->in[l] = &r->cells[2 * l];
        r->in[l][0] = part[l];
        r->in[l][1] = lz_spmd.partition[l];
        r->out[l] = &r->cells[2 * n + l];
    }
    return LZ_OK;
}

/* Device 0 of this process keeps the row for *row. */
static void gather_end(gather_run *r, lz_status s, lz_device_buffer **row)
{
    for (int64_t l = 0; r->out && l < lz_spmd.nlocal; l++) {
        if (l == 0 && s == LZ_OK)
            *row = r->out[l][0];
        else
            lz_device_buffer_release(r->out[l][0]);
        lz_event_release(r->done[l]);
    }
    lz_free(r->cells);
    lz_free(r->in);
    lz_free(r->done);
}

/* It waits, with locks of the runtime held, for what the queues of the devices do. */
static lz_status run_gather(gather *g, lz_device_buffer *const *part, lz_device_buffer **row)
{
    gather_run r;
    lz_status s = gather_begin(&r, part);
    bool begun = s == LZ_OK;
    lz_mutex_lock(&known_lock);
    lz_status found = find_gather(g);
    if (found == LZ_OK && begun)
        s = lz_spmd_execute_each(g->x, 1, (lz_device_buffer *const *const *)r.in,
                                 (const bool[]){false, false}, true, r.out, r.done);
    else if (found == LZ_OK)
        lz_spmd_miss(g->x);
    else
        s = found;
    lz_mutex_unlock(&known_lock);
    for (int64_t l = 0; l < lz_spmd.nlocal && s == LZ_OK; l++)
        s = lz_event_wait(r.done[l]);
    gather_end(&r, s, row);
    return s;
}

/* A buffer's bytes for the host: its own memory, or a copy, which *copy is then. */
static lz_status read_row(lz_device_buffer *row, const char **bytes, void **copy)
{
    const lz_backend *be = lz_spmd.be;
    *copy = be->host_memory ? NULL : lz_alloc(row->nbytes + 1);
    *bytes = be->host_memory ? row->data : *copy;
    if (be->host_memory)
        return LZ_OK;
    return *copy ? be->copy_out(row, *copy, row->nbytes)
                 : LZ_FAIL(LZ_EMEM, "SPMD: no memory for %zu bytes", row->nbytes);
}

/* ---- tensors ---- */

static lz_status join(const lz_sharding *at, const lz_type *type, const lz_type *local,
                      const char *row, void *dst)
{
    lz_axis_list axes = lz_axis_list_of(lz_sharding_used(at));
    for (int64_t p = 0; p < lz_spmd.n; p++)
        if (!lz_tile_is_copy(at, p))
            LZ_TRY(lz_tile_join(at, type, p,
                                row + (size_t)lz_axis_list_tile(at->mesh, &axes, p) * local->nbytes,
                                dst));
    return LZ_OK;
}

lz_status lz_spmd_gather(const lz_sharding *at, const lz_type *type, lz_device_buffer *const *part,
                         void *dst)
{
    const lz_type *local = lz_sharding_local(at, type);
    if (!local)
        return LZ_EMEM;
    if (!type->nbytes)
        return LZ_OK;
    gather g = {.local = local, .mesh = at->mesh, .axes = lz_sharding_used(at)};
    lz_device_buffer *row = NULL;
    const char *bytes;
    void *copy;
    LZ_TRY(run_gather(&g, part, &row));
    lz_status s = read_row(row, &bytes, &copy);
    if (s == LZ_OK)
        s = join(at, type, local, bytes, dst);
    lz_free(copy);
    lz_device_buffer_release(row);
    return s;
}

/* ---- bytes ---- */

static lz_status give_all(const void *mine, size_t nbytes, lz_device_buffer **part)
{
    for (int64_t l = 0; l < lz_spmd.nlocal; l++) {
        LZ_TRY(lz_spmd.be->alloc((int)l, nbytes, &part[l]));
        LZ_TRY(lz_spmd.be->copy_in(part[l], mine, nbytes));
    }
    return LZ_OK;
}

lz_status lz_spmd_exchange(const void *mine, size_t nbytes, void *all)
{
    const lz_mesh_axis devices = {"devices", lz_spmd.n};
    const lz_shape shape = {1, {(int64_t)nbytes}};
    gather g = {.local = lz_type_get(LZ_U8, &shape), .mesh = lz_mesh_get(&devices, 1, NULL)};
    if (!g.local || !g.mesh)
        return lz_error_get()->status;
    g.axes = lz_mesh_all(g.mesh);
    lz_device_buffer **part = lz_calloc((size_t)lz_spmd.nlocal, sizeof(lz_device_buffer *));
    lz_device_buffer *row = NULL;
    lz_status s = part ? give_all(mine, nbytes, part) : LZ_FAIL(LZ_EMEM, "SPMD: no memory");
    if (s == LZ_OK)
        s = run_gather(&g, part, &row);
    const char *bytes = NULL;
    void *copy = NULL;
    if (s == LZ_OK)
        s = read_row(row, &bytes, &copy);
    if (s == LZ_OK)
        memcpy(all, bytes, nbytes * (size_t)lz_spmd.n);
    lz_free(copy);
    lz_device_buffer_release(row);
    for (int64_t l = 0; part && l < lz_spmd.nlocal; l++)
        lz_device_buffer_release(part[l]);
    lz_free(part);
    return s;
}
