/* partitioned.c - programs of several devices: partitions of one program, whose marks say how
 * arrays are sharded over a mesh, or replicas of one that is written for a device already. What
 * each device runs, where the parts of parameters and results are, and how a host is told so
 * (OpSharding). A partition is a position in the mesh, which says the device there; a device is
 * named by its place in the assignment. Threads: functions are pure. */
#include "base/alloc.h"
#include "base/formats/proto.h"
#include "ir/attr.h"
#include "ir/func.h"
#include "ir/participants.h"
#include "lower/portable.h"
#include "pjrt/plugin.h"
#include <inttypes.h>
#include <string.h>

/* ---- marks of parameters and results ---- */

/* Of each parameter, then of each result: its own mark; NULL: it has none. */
static lz_status find_marks(const lz_func *f, const lz_sharding **mark)
{
    for (lz_val v = f->nparam; v < f->ninst; v++) {
        const lz_inst *in = &f->insts[v];
        if (lz_inst_op(in) != LZ_OP_SHARDING_CONSTRAINT || in->opnd[0] >= f->nparam ||
            mark[in->opnd[0]])
            continue;
        mark[in->opnd[0]] = lz_sharding_parse(LZ_ATTR(sharding, in->sig->attr)->sharding);
        if (!mark[in->opnd[0]])
            return lz_error_get()->status;
    }
    for (uint32_t k = 0; k < f->nresult; k++) {
        const lz_inst *in = &f->insts[f->results[k]];
        if (lz_inst_op(in) != LZ_OP_SHARDING_CONSTRAINT)
            continue;
        mark[f->nparam + k] = lz_sharding_parse(LZ_ATTR(sharding, in->sig->attr)->sharding);
        if (!mark[f->nparam + k])
            return lz_error_get()->status;
    }
    return LZ_OK;
}

static lz_val constrain(lz_func *f, lz_val v, const lz_sharding *at)
{
    lz_attr_sharding a = {.kind = LZ_ATTR_sharding};
    if (!at)
        return v;
    a.sharding = lz_sharding_text(at);
    return a.sharding
               ? lz_build(f, LZ_OP_SHARDING_CONSTRAINT, (const lz_attr *)(const void *)&a, &v, 1)
               : LZ_NOVAL;
}

static lz_status build_marked(lz_func *g, const lz_func *f, const lz_sharding *const *want,
                              lz_val *v)
{
    for (uint32_t i = 0; i < f->nparam; i++)
        v[i] = lz_build_param(g, lz_val_type(f, i));
    for (uint32_t i = 0; i < f->nparam; i++)
        v[i] = constrain(g, v[i], want[i]);
    LZ_TRY(g->status);
    lz_val *made = v + f->nparam;
    LZ_TRY(lz_build_inline(g, f, v, made));
    for (uint32_t k = 0; k < f->nresult; k++)
        made[k] = constrain(g, made[k], want[f->nparam + k]);
    LZ_TRY(g->status);
    return lz_func_set_results(g, made, f->nresult);
}

/* The function with these marks on parameters and results as well; NULL: none. *f is replaced. */
static lz_status add_marks(lz_func **f, const lz_sharding *const *want)
{
    uint32_t n = (*f)->nparam + (*f)->nresult;
    bool any = false;
    for (uint32_t i = 0; i < n; i++)
        any |= want[i] != NULL;
    if (!any)
        return LZ_OK;
    lz_func *g = lz_func_new((*f)->name);
    lz_val *v = lz_calloc((size_t)n + 1, sizeof *v);
    lz_status s = g && v ? build_marked(g, *f, want, v)
                         : LZ_FAIL(LZ_EMEM, "no memory for a function of %u values", n);
    lz_free(v);
    if (s != LZ_OK) {
        lz_func_free(g);
        return s;
    }
    lz_func_free(*f);
    *f = g;
    return LZ_OK;
}

/* ---- the mesh ---- */

static bool says_order(const char *text)
{
    return text && strstr(text, "device_ids") != NULL;
}

/* Whether some mark's mesh has its devices in an order of its own. Recursion: regions, as deep as
 * they nest. */
static bool has_order(const lz_func *f)
{
    const lz_func *r;
    for (uint32_t i = 0; i < f->ninst; i++) {
        const lz_attr *a = f->insts[i].sig->attr;
        if (a->kind == LZ_ATTR_sharding && says_order(LZ_ATTR(sharding, a)->sharding))
            return true;
        if (a->kind == LZ_ATTR_manual && (says_order(LZ_ATTR(manual, a)->in_shardings) ||
                                          says_order(LZ_ATTR(manual, a)->out_shardings)))
            return true;
        for (int k = 0; (r = lz_attr_region(a, k)); k++)
            if (has_order(r))
                return true;
    }
    return false;
}

/* The mesh of the marks, in the order of devices that results want. *out NULL: there are no marks.
 */
static lz_status find_mesh(const lz_func *f, const lz_sharding *const *mark, uint32_t n,
                           const lz_mesh **out)
{
    const lz_mesh_axis all = {"devices", n};
    LZ_TRY(lz_shard_mesh(f, out));
    if (!*out)
        return LZ_OK;
    for (uint32_t k = 0; k < f->nresult; k++)
        if (mark[f->nparam + k] && mark[f->nparam + k]->mesh->ndevice > 1) {
            *out = mark[f->nparam + k]->mesh;
            break;
        }
    if ((*out)->ndevice == 1) /* which says nothing */
        *out = lz_mesh_get(&all, 1, NULL);
    if (!*out)
        return lz_error_get()->status;
    if ((*out)->ndevice != n)
        return LZ_FAIL(LZ_EINVAL, "the program's mesh is of %lld devices, the options name %u",
                       (long long)(*out)->ndevice, n);
    if (has_order(f) && (lz_func_has_collective(f) || lz_func_has_partition_id(f)))
        return LZ_FAIL(LZ_EUNSUPPORTED,
                       "collectives of the program's own beside a mesh whose devices have an order "
                       "of their own are not implemented");
    return LZ_OK;
}

/* Where the parts of each parameter and result are: devices by position. Positions of meshes that
 * differ in nothing else are the same. */
static lz_status find_devices(lz_pjrt_partitioned *x, const lz_func *f, const lz_mesh *mesh,
                              const lz_sharding *const *mark)
{
    x->mesh = mesh;
    for (uint32_t i = 0; i < f->nparam + f->nresult; i++) {
        const lz_mesh *own = mark[i] && mark[i]->mesh->ndevice > 1 ? mark[i]->mesh : mesh;
        x->place[i] = own->device_ids;
        if (i >= f->nparam && own->device_ids != mesh->device_ids &&
            !(own->device_ids && mesh->device_ids &&
              memcmp(own->device_ids, mesh->device_ids, x->n * sizeof *x->place[i]) == 0))
            return LZ_FAIL(LZ_EUNSUPPORTED,
                           "results on meshes whose devices are in different orders are not "
                           "implemented");
    }
    return LZ_OK;
}

/* ---- what a host can take ---- */

/* Whether the first n factors of the list are axes of the mesh, each from its first factor to its
 * last. */
static bool are_axes(const lz_mesh *m, const lz_axis_list *list, int n)
{
    int64_t rest = 1; /* of the axis that has begun */
    for (int i = 0; i < n; i++) {
        const lz_mesh_factor *f = &m->factors[list->at[i]];
        if (rest == 1 ? f->pre != 1 : list->at[i] != list->at[i - 1] + 1)
            return false;
        rest = (rest == 1 ? m->axes[f->axis].size : rest) / f->size;
    }
    return rest == 1;
}

/* A host knows dimensions that are cut evenly only, and along whole axes unless it has said
 * otherwise itself. *out NULL: they are. */
static lz_status cut_evenly(const lz_sharding *at, const lz_sharding *mark, const lz_type *t,
                            const lz_sharding **out)
{
    lz_sharding s = *lz_sharding_placement(at);
    bool even = true;
    *out = NULL;
    for (int d = 0; d < s.rank; d++) {
        int least = mark && mark->mesh->ndevice > 1 ? mark->dims[d].n : 0;
        while (t->shape.dims[d] % lz_axis_list_size(s.mesh, &s.dims[d]) != 0 ||
               (s.dims[d].n > least && !are_axes(s.mesh, &s.dims[d], s.dims[d].n))) {
            s.dims[d].n--;
            even = false;
        }
    }
    if (!even)
        *out = lz_sharding_get(&s);
    return even || *out ? LZ_OK : lz_error_get()->status;
}

/* Marks for what has none and may not be placed by propagation. */
static lz_status default_marks(const lz_func *f, const lz_mesh *mesh, const lz_pjrt_options *o,
                               const lz_sharding *const *mark, const lz_sharding **want)
{
    for (uint32_t i = 0; i < f->nparam + f->nresult; i++) {
        bool param = i < f->nparam;
        lz_val v = param ? i : f->results[i - f->nparam];
        if (mark[i] || lz_pjrt_options_may_propagate(o, param, param ? i : i - f->nparam))
            continue;
        want[i] = lz_sharding_replicated(mesh, lz_val_type(f, v)->shape.rank);
        if (!want[i])
            return LZ_EMEM;
    }
    return LZ_OK;
}

/* Which parameters and results the partition has cut unevenly of its own accord; *any: some. */
static lz_status uneven_marks(const lz_pjrt_partitioned *x, const lz_func *f,
                              const lz_sharding *const *mark, const lz_sharding **want, bool *any)
{
    *any = false;
    for (uint32_t i = 0; i < f->nparam + f->nresult; i++) {
        uint32_t k = i - f->nparam;
        bool param = i < f->nparam;
        LZ_TRY(cut_evenly(param ? x->parts.in[i] : x->parts.out[k], mark[i],
                          lz_val_type(f, param ? i : f->results[k]), &want[i]));
        *any |= want[i] != NULL;
    }
    return LZ_OK;
}

/* A mark more may change where others are, so it is done again; each time one is marked that was
 * not. */
static lz_status partition(lz_pjrt_partitioned *x, lz_func **f, const bool *donate,
                           const lz_sharding **mark, const lz_sharding **want)
{
    uint32_t n = (*f)->nparam + (*f)->nresult;
    bool again = true;
    while (again) {
        lz_partitioned_free(&x->parts);
        LZ_TRY(lz_partition_step(*f, x->mesh, donate, &x->parts));
        LZ_TRY(uneven_marks(x, *f, mark, want, &again));
        if (again)
            LZ_TRY(add_marks(f, want));
        for (uint32_t i = 0; i < n; i++)
            mark[i] = want[i] ? want[i] : mark[i];
    }
    lz_partitioned_drop_notes(&x->parts);
    return LZ_OK;
}

/* ---- OpSharding ---- */

/* The devices, row after row of the tiles of s; those that hold parts of one sum, and then copies,
 * vary fastest. place: as in lz_pjrt_partitioned. */
static void order_devices(const lz_sharding *s, uint32_t sums, uint32_t copies,
                          const int64_t *place, int64_t *device)
{
    const lz_mesh *m = s->mesh;
    const lz_axis_list sum = lz_axis_list_of(sums), copy = lz_axis_list_of(copies);
    for (int64_t p = 0; p < m->ndevice; p++) {
        int64_t at = 0;
        for (int d = 0; d < s->rank; d++)
            at = at * lz_axis_list_size(m, &s->dims[d]) + lz_axis_list_tile(m, &s->dims[d], p);
        at = at * lz_axis_list_size(m, &sum) + lz_axis_list_tile(m, &sum, p);
        at = at * lz_axis_list_size(m, &copy) + lz_axis_list_tile(m, &copy, p);
        device[at] = place ? place[p] : p;
    }
}

/* The grid of tiles of a sharding that is not replicated, and the devices in it. */
typedef struct tile_grid {
    int64_t dims[LZ_MAX_RANK + 2];
    size_t ndim;
    bool sums, copies; /* of which the last dimensions are */
    int64_t *device;   /* ndevice; lz_free */
    size_t ndevice;
} tile_grid;

static lz_status make_grid(const lz_sharding *s, const int64_t *place, tile_grid *g)
{
    uint32_t sums = s->unreduced, copies = lz_mesh_all(s->mesh) & ~lz_sharding_used(s);
    *g = (tile_grid){.ndim = (size_t)s->rank,
                     .sums = sums != 0,
                     .copies = copies != 0,
                     .device = lz_calloc((size_t)s->mesh->ndevice, sizeof *g->device),
                     .ndevice = (size_t)s->mesh->ndevice};
    if (!g->device)
        return LZ_FAIL(LZ_EMEM, "no memory for a sharding");
    for (int d = 0; d < s->rank; d++)
        g->dims[d] = lz_axis_list_size(s->mesh, &s->dims[d]);
    if (sums)
        g->dims[g->ndim++] = lz_mesh_mask_size(s->mesh, sums);
    if (copies)
        g->dims[g->ndim++] = lz_mesh_mask_size(s->mesh, copies);
    order_devices(s, sums, copies, place, g->device);
    return LZ_OK;
}

/* OpSharding{1: type, 3: extents of the grid of tiles, 4: devices in it, 6: the last dimension is
 * of copies, 8: what the last dimensions are} */
static lz_status write_sharding(const lz_sharding *s, const int64_t *place, lz_buf *b)
{
    enum { REPLICATED = 0, OTHER = 3, UNREDUCED = 6 };
    tile_grid g;
    lz_proto_int(b, 1, lz_sharding_is_replicated(s) ? REPLICATED : OTHER);
    if (lz_sharding_is_replicated(s))
        return b->failed ? LZ_FAIL(LZ_EMEM, "no memory for a sharding") : LZ_OK;
    LZ_TRY(make_grid(s, place, &g));
    lz_proto_list(b, 3, g.dims, g.ndim);
    lz_proto_list(b, 4, g.device, g.ndevice);
    if (g.sums)
        lz_proto_list(b, 8, (const int64_t[]){UNREDUCED, REPLICATED}, g.copies ? 2 : 1);
    else if (g.copies)
        lz_proto_int(b, 6, true);
    lz_free(g.device);
    return b->failed ? LZ_FAIL(LZ_EMEM, "no memory for a sharding") : LZ_OK;
}

static void put_list(lz_buf *b, const int64_t *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        lz_buf_printf(b, "%s%" PRId64, i ? "," : "", x[i]);
}

/* The same in HLO's text. */
static lz_status print_sharding(const lz_sharding *s, const int64_t *place, lz_buf *b)
{
    tile_grid g;
    if (!s || lz_sharding_is_replicated(s)) {
        lz_buf_puts(b, "{replicated}");
        return LZ_OK;
    }
    LZ_TRY(make_grid(s, place, &g));
    lz_buf_puts(b, "{devices=[");
    put_list(b, g.dims, g.ndim);
    lz_buf_putc(b, ']');
    put_list(b, g.device, g.ndevice);
    if (g.sums)
        lz_buf_puts(b, g.copies ? " last_tile_dims={unreduced,replicated}"
                                : " last_tile_dims={unreduced}");
    else if (g.copies)
        lz_buf_puts(b, " last_tile_dim_replicate");
    lz_buf_putc(b, '}');
    lz_free(g.device);
    return LZ_OK;
}

/* The texts of parameters, then of results. Without marks all is whole everywhere. */
static lz_status write_shardings(lz_pjrt_partitioned *x, const lz_func *f)
{
    for (uint32_t i = 0; i < f->nparam + f->nresult; i++) {
        const lz_sharding *s = !x->parts.local ? NULL
                               : i < f->nparam ? x->parts.in[i]
                                               : x->parts.out[i - f->nparam];
        if (s)
            LZ_TRY(write_sharding(s, x->place[i], &x->sharding[i]));
        else
            lz_buf_put(&x->sharding[i], (const uint8_t[]){1 << 3, 0}, 2);
        if (x->sharding[i].failed)
            return LZ_FAIL(LZ_EMEM, "no memory for a sharding");
        x->text[i] = x->sharding[i].data;
        x->text_size[i] = x->sharding[i].len;
    }
    return LZ_OK;
}

/* ---- making it ---- */

static lz_status make_room(lz_pjrt_partitioned *x, const lz_func *f)
{
    size_t n = (size_t)f->nparam + f->nresult + 1;
    x->nvalue = f->nparam + f->nresult;
    x->place = lz_calloc(n, sizeof *x->place);
    x->sharding = lz_calloc(n, sizeof *x->sharding);
    x->text = lz_calloc(n, sizeof *x->text);
    x->text_size = lz_calloc(n, sizeof *x->text_size);
    return x->place && x->sharding && x->text && x->text_size
               ? LZ_OK
               : LZ_FAIL(LZ_EMEM, "no memory for a program of %zu values", n);
}

/* mark, want: of parameters and results each. */
static lz_status partition_marked(lz_pjrt_partitioned *x, const lz_pjrt_options *o,
                                  const bool *donate, const lz_sharding **mark,
                                  const lz_sharding **want, lz_func **f)
{
    const lz_mesh *mesh;
    LZ_TRY(find_marks(*f, mark));
    LZ_TRY(find_mesh(*f, mark, x->n, &mesh));
    if (!mesh)
        return LZ_OK;
    LZ_TRY(find_devices(x, *f, mesh, mark));
    LZ_TRY(default_marks(*f, mesh, o, mark, want));
    LZ_TRY(add_marks(f, want));
    for (uint32_t i = 0; i < x->nvalue; i++)
        mark[i] = want[i] ? want[i] : mark[i];
    return partition(x, f, donate, mark, want);
}

lz_status lz_pjrt_partitioned_make(const lz_pjrt_options *o, const bool *donate, lz_func **f,
                                   lz_pjrt_partitioned **out)
{
    lz_pjrt_partitioned *x = *out = lz_calloc(1, sizeof *x);
    if (!x)
        return LZ_FAIL(LZ_EMEM, "no memory for a program");
    x->replicas = o->replicas > 1;
    x->n = (uint32_t)(o->replicas * o->partitions);
    LZ_TRY(make_room(x, *f));
    if (!x->replicas) {
        const lz_sharding **mark = lz_calloc(2 * (size_t)x->nvalue + 1, sizeof *mark);
        lz_status s = mark ? partition_marked(x, o, donate, mark, mark + x->nvalue, f)
                           : LZ_FAIL(LZ_EMEM, "no memory for the marks of a program");
        lz_free(mark);
        LZ_TRY(s);
    }
    return write_shardings(x, *f);
}

/* Positions at devices, and their numbers where the program takes them. */
lz_status lz_pjrt_partitioned_settle(lz_pjrt_partitioned *x, const lz_backend *be,
                                     const int32_t *device)
{
    const int64_t *ids = x->mesh ? x->mesh->device_ids : NULL;
    x->home = lz_calloc(x->n, sizeof *x->home);
    x->number = lz_calloc(x->n, sizeof(lz_device_buffer *));
    if (!x->home || !x->number)
        return LZ_FAIL(LZ_EMEM, "no memory for %u devices", x->n);
    for (uint32_t p = 0; p < x->n; p++) {
        x->home[p] = (uint32_t)device[ids ? ids[p] : p];
        if (!x->parts.local)
            continue;
        LZ_TRY(be->alloc((int)x->home[p], sizeof p, &x->number[p]));
        LZ_TRY(be->copy_in(x->number[p], &p, sizeof p));
    }
    return LZ_OK;
}

void lz_pjrt_partitioned_free(lz_pjrt_partitioned *x)
{
    if (!x)
        return;
    for (uint32_t p = 0; x->number && p < x->n; p++)
        lz_device_buffer_release(x->number[p]);
    for (uint32_t i = 0; x->sharding && i < x->nvalue; i++)
        lz_buf_free(&x->sharding[i]);
    lz_partitioned_free(&x->parts);
    lz_free(x->number);
    lz_free(x->home);
    lz_free(x->place);
    lz_free(x->sharding);
    lz_free(x->text);
    lz_free(x->text_size);
    lz_free(x);
}

/* ---- for people ---- */

static lz_status build_numbered(lz_func *g, const lz_func *f, lz_val *v)
{
    for (uint32_t i = 0; i + 1 < f->nparam; i++)
        v[i] = lz_build_param(g, lz_val_type(f, i));
    v[f->nparam - 1] = lz_build(g, LZ_OP_PARTITION_ID, NULL, NULL, 0);
    LZ_TRY(lz_build_inline(g, f, v, v + f->nparam));
    return lz_func_set_results(g, v + f->nparam, f->nresult);
}

/* What hosts that do not ask the extension (before jaxlib 0.8) read of the module: where parameters
 * and results are. */
static lz_status print_attributes(const lz_pjrt_partitioned *x, lz_buf *out)
{
    uint32_t nresult = x->parts.local->nresult, nparam = x->nvalue - nresult;
    bool tuple = nresult != 1;
    lz_buf_printf(
        out, " attributes {mhlo.num_partitions = %u : i32, mhlo.spmd_output_sharding = \"", x->n);
    lz_buf_puts(out, tuple ? "{" : "");
    for (uint32_t k = 0; k < nresult; k++) {
        lz_buf_puts(out, k ? ", " : "");
        LZ_TRY(print_sharding(x->parts.out[k], x->place[nparam + k], out));
    }
    lz_buf_printf(out, "%s\", mhlo.spmd_parameters_shardings = [", tuple ? "}" : "");
    for (uint32_t i = 0; i < nparam; i++) {
        lz_buf_puts(out, i ? ", \"" : "\"");
        LZ_TRY(print_sharding(x->parts.in[i], x->place[i], out));
        lz_buf_putc(out, '"');
    }
    lz_buf_puts(out, "]}");
    return LZ_OK;
}

/* The text of f, with the attributes behind the name of the module, which has no end of a line. */
static lz_status print_module(const lz_pjrt_partitioned *x, const lz_func *f, lz_buf *out)
{
    lz_buf text = {0};
    lz_func_print(f, &text, 0);
    const char *all = lz_buf_str(&text), *body = strstr(all, " {\n");
    lz_status s = LZ_OK;
    if (body) {
        lz_buf_put(out, all, (size_t)(body - all));
        s = print_attributes(x, out);
    }
    lz_buf_puts(out, body ? body : all);
    out->failed |= text.failed;
    lz_buf_free(&text);
    return s;
}

lz_status lz_pjrt_partitioned_print(const lz_pjrt_partitioned *x, lz_buf *out)
{
    const lz_func *f = x->parts.local;
    lz_func *g = lz_func_new(f->name);
    lz_val *v = lz_calloc((size_t)f->nparam + f->nresult + 1, sizeof *v);
    lz_status s = g && v ? build_numbered(g, f, v)
                         : LZ_FAIL(LZ_EMEM, "no memory for a function of %u values", f->nparam);
    lz_func *least = s == LZ_OK ? lz_func_prune(g) : NULL;
    lz_func *known = NULL;
    LZ_QUIETLY { /* what Lazuli alone has a name for stays where it can not be said otherwise */
        if (least)
            (void)lz_lower_portable(least, &(lz_portable_options){0}, &known);
    }
    if (least)
        s = print_module(x, known ? known : least, out);
    lz_func_free(known);
    if (s == LZ_OK)
        s = !least        ? lz_error_get()->status
            : out->failed ? LZ_FAIL(LZ_EMEM, "no memory for a program's text")
                          : LZ_OK;
    lz_func_free(least);
    lz_func_free(g);
    lz_free(v);
    return s;
}

/* ---- the API: an extension ---- */

/* Of one device, and of no values, nothing is said: hosts take an empty list for a wrong one. */

#define SHARDINGS(NAME, from, n)                                                                   \
    static PJRT_Error *NAME(PJRT_Shardings_Args *a)                                                \
    {                                                                                              \
        const lz_pjrt_program *p = a->executable->p;                                               \
        PJRT_REACHES(a, sharding_sizes);                                                           \
        a->num = (n);                                                                              \
        bool says = p->partitioned && (n) > 0;                                                     \
        a->shardings = says ? p->partitioned->text + (from) : NULL;                                \
        a->sharding_sizes = says ? p->partitioned->text_size + (from) : NULL;                      \
        return NULL;                                                                               \
    }
SHARDINGS(parameter_shardings, 0, p->f->nparam)
SHARDINGS(output_shardings, p->f->nparam, p->f->nresult)

PJRT_Shardings_Extension lz_pjrt_shardings = {
    .base = {.struct_size = sizeof lz_pjrt_shardings, .type = PJRT_EXTENSION_SHARDINGS},
    .ParameterShardings = parameter_shardings,
    .OutputShardings = output_shardings};
