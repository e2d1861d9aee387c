/* mesh.c - meshes of the public API, and specs as shardings. Threads: thread-safe. */
#include "runtime/spmd/mark.h"
#include "base/alloc.h"
#include "base/fork.h"
#include "runtime/graph/handle.h"
#include <inttypes.h>
#include <lazuli/spmd.h>
#include <string.h>

enum { MOST_AXES = 64 };

static lz_mesh *mesh_new(const int64_t *device_ids, const int64_t *shape, const char *const *names,
                         int naxis)
{
    lz_mesh_axis axes[MOST_AXES];
    if (naxis < 0 || naxis > MOST_AXES) {
        (void)LZ_FAIL(LZ_EINVAL, "naxis is %d: outside of 0..%d", naxis, MOST_AXES);
        return NULL;
    }
    if (naxis && (!shape || !names)) {
        (void)LZ_FAIL(LZ_ENULL, "%s is NULL", shape ? "axis_names" : "mesh_shape");
        return NULL;
    }
    for (int i = 0; i < naxis; i++)
        axes[i] = (lz_mesh_axis){names[i], shape[i]};
    return (lz_mesh *)(uintptr_t)lz_mesh_get(axes, naxis, device_ids);
}

lz_mesh *lz_mesh_new(const int64_t *device_ids, const int64_t *mesh_shape,
                     const char *const *axis_names, int naxis)
{
    LZ_PUBLIC(NULL);
    lz_mesh *m = mesh_new(device_ids, mesh_shape, axis_names, naxis);
    if (!m)
        lz_error_annotate("lz_mesh_new", NULL);
    return m;
}

int64_t lz_mesh_size(const lz_mesh *mesh)
{
    LZ_PUBLIC(0);
    return mesh ? mesh->ndevice : 0;
}

int64_t lz_mesh_axis_size(const lz_mesh *mesh, const char *axis)
{
    LZ_PUBLIC(0);
    int k = mesh && axis ? lz_mesh_axis_find(mesh, axis, strlen(axis)) : -1;
    return k < 0 ? 0 : mesh->axes[k].size;
}

size_t lz_mesh_to_string(const lz_mesh *mesh, char *buf, size_t n)
{
    LZ_PUBLIC(0);
    lz_buf text = {0};
    if (mesh)
        lz_mesh_print(&text, mesh);
    return lz_api_text(&text, buf, n);
}

int lz_mesh_naxis(const lz_mesh *mesh)
{
    LZ_PUBLIC(0);
    return mesh ? mesh->naxis : 0;
}

size_t lz_mesh_axis_name(const lz_mesh *mesh, int k, char *buf, size_t n)
{
    LZ_PUBLIC(0);
    lz_buf text = {0};
    if (mesh && k >= 0 && k < mesh->naxis)
        lz_buf_puts(&text, mesh->axes[k].name);
    return lz_api_text(&text, buf, n);
}

int lz_mesh_axis_index(const lz_mesh *mesh, const char *axis)
{
    LZ_PUBLIC(-1);
    return mesh && axis ? lz_mesh_axis_find(mesh, axis, strlen(axis)) : -1;
}

int64_t lz_mesh_device_ids(const lz_mesh *mesh, int64_t *out, int64_t n)
{
    LZ_PUBLIC(0);
    for (int64_t p = 0; mesh && out && p < n && p < mesh->ndevice; p++)
        out[p] = mesh->device_ids ? mesh->device_ids[p] : p;
    return mesh ? mesh->ndevice : 0;
}

/* ---- other meshes ---- */

static lz_mesh *row_new(const char *axis_name)
{
    if (!axis_name) {
        (void)LZ_FAIL(LZ_ENULL, "axis_name is NULL");
        return NULL;
    }
    lz_dev *d = lz_thread_state_get() ? lz_dev_current() : NULL;
    if (!d)
        return NULL;
    int64_t n = d->be->partitions ? d->be->partitions() : d->be->device_count();
    return mesh_new(NULL, &n, &axis_name, 1);
}

lz_mesh *lz_mesh_1d(const char *axis_name)
{
    LZ_PUBLIC(NULL);
    lz_mesh *m = row_new(axis_name);
    if (!m)
        lz_error_annotate("lz_mesh_1d", NULL);
    return m;
}

/* The device at a position of the grid: which slice, and which device of it. */
static int64_t hybrid_device(const int64_t *ici, const int64_t *dcn, int naxis, int64_t position)
{
    int64_t slice = 0, within = 0, of_slices = 1, of_devices = 1;
    for (int i = naxis - 1; i >= 0; i--) {
        int64_t at = position % (ici[i] * dcn[i]);
        position /= ici[i] * dcn[i];
        slice += at / ici[i] * of_slices;
        within += at % ici[i] * of_devices;
        of_slices *= dcn[i];
        of_devices *= ici[i];
    }
    return slice * of_devices + within;
}

/* shape: room for the sizes of the axes. *n: their product. */
static lz_status hybrid_shape(const int64_t *ici, const int64_t *dcn, int naxis, int64_t *shape,
                              int64_t *n)
{
    *n = 1;
    for (int i = 0; i < naxis; i++) {
        if (ici[i] < 1 || dcn[i] < 1)
            return LZ_FAIL(LZ_EINVAL, "axis %d: %" PRId64 " slices of %" PRId64 " devices", i,
                           dcn[i], ici[i]);
        if (!lz_mul_i64(ici[i], dcn[i], &shape[i]) || !lz_mul_i64(*n, shape[i], n) ||
            *n > LZ_MESH_DEVICES)
            return LZ_FAIL(LZ_ERANGE, "a mesh of more than %d devices", LZ_MESH_DEVICES);
    }
    return LZ_OK;
}

static lz_mesh *hybrid_new(const int64_t *ici, const int64_t *dcn, const char *const *names,
                           int naxis)
{
    int64_t shape[MOST_AXES], ones[MOST_AXES], n;
    if (naxis < 0 || naxis > MOST_AXES || (naxis && !ici)) {
        (void)(naxis && !ici
                   ? LZ_FAIL(LZ_ENULL, "ici_mesh_shape is NULL")
                   : LZ_FAIL(LZ_EINVAL, "naxis is %d: outside of 0..%d", naxis, MOST_AXES));
        return NULL;
    }
    for (int i = 0; i < MOST_AXES; i++)
        ones[i] = 1;
    dcn = dcn ? dcn : ones;
    if (hybrid_shape(ici, dcn, naxis, shape, &n) != LZ_OK)
        return NULL;
    int64_t *ids = lz_alloc((size_t)n * sizeof *ids);
    if (!ids) {
        (void)LZ_FAIL(LZ_EMEM, "no memory for a mesh of %" PRId64 " devices", n);
        return NULL;
    }
    for (int64_t p = 0; p < n; p++)
        ids[p] = hybrid_device(ici, dcn, naxis, p);
    lz_mesh *m = mesh_new(ids, shape, names, naxis);
    lz_free(ids);
    return m;
}

lz_mesh *lz_hybrid_mesh_new(const int64_t *ici_mesh_shape, const int64_t *dcn_mesh_shape,
                            const char *const *axis_names, int naxis)
{
    LZ_PUBLIC(NULL);
    lz_mesh *m = hybrid_new(ici_mesh_shape, dcn_mesh_shape, axis_names, naxis);
    if (!m)
        lz_error_annotate("lz_hybrid_mesh_new", NULL);
    return m;
}

static _Atomic(lz_mesh *) global_mesh;

void lz_set_global_mesh(lz_mesh *mesh)
{
    LZ_PUBLIC((void)0);
    atomic_store(&global_mesh, mesh);
}

lz_mesh *lz_get_global_mesh(void)
{
    LZ_PUBLIC(NULL);
    return atomic_load(&global_mesh);
}

/* ---- specs ---- */

/* By its name, or its number where no axis has that name; -1: neither. */
static int find_axis(const lz_mesh *m, const char *s, size_t n)
{
    int k = lz_mesh_axis_find(m, s, n), number = 0;
    if (k >= 0 || n < 1 || n > 3)
        return k;
    for (size_t i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9')
            return -1;
        number = 10 * number + (s[i] - '0');
    }
    return number < m->naxis ? number : -1;
}

/* Adds the factors of the axis that is named between s and end to a dimension. */
static lz_status add_axis(lz_sharding *out, int dim, const char *s, size_t n, uint64_t *used)
{
    const lz_mesh *m = out->mesh;
    int k = find_axis(m, s, n);
    if (k < 0) {
        lz_buf names = {0};
        lz_mesh_print(&names, m);
        lz_status st =
            LZ_FAIL(LZ_EINVAL, "dimension %d: axis \"%.*s\" is not defined in the mesh %.150s", dim,
                    (int)(n < 64 ? n : 64), s, lz_buf_str(&names));
        lz_buf_free(&names);
        return st;
    }
    if (*used >> k & 1)
        return LZ_FAIL(LZ_EINVAL, "dimension %d: axis \"%s\" is used twice", dim, m->axes[k].name);
    *used |= UINT64_C(1) << k;
    for (int f = 0; f < m->nfactor; f++)
        if (m->factors[f].axis == k)
            lz_axis_list_push(&out->dims[dim], f);
    return LZ_OK;
}

static lz_status add_dimension(lz_sharding *out, int dim, const char *axes, uint64_t *used)
{
    while (axes && *axes) {
        const char *end = strchr(axes, ',');
        size_t n = end ? (size_t)(end - axes) : strlen(axes);
        size_t from = 0, to = n;
        while (from < to && axes[from] == ' ')
            from++;
        while (to > from && axes[to - 1] == ' ')
            to--;
        LZ_TRY(add_axis(out, dim, axes + from, to - from, used));
        axes = end ? end + 1 : NULL;
    }
    return LZ_OK;
}

const char *lz_spec_text(const lz_mesh *mesh, const lz_partition_spec *spec, const lz_type *type)
{
    char text[128];
    lz_sharding s;
    uint64_t used = 0;
    if (spec->rank != type->shape.rank) {
        (void)LZ_FAIL(LZ_EINVAL, "the spec has %d dimensions, the tensor is %s", spec->rank,
                      lz_type_short(type, text, sizeof text));
        return NULL;
    }
    lz_sharding_init(&s, mesh, spec->rank, false);
    for (int d = 0; d < spec->rank; d++)
        if (add_dimension(&s, d, spec->axes[d], &used) != LZ_OK)
            return NULL;
    const lz_sharding *interned = lz_sharding_get(&s);
    return interned ? lz_sharding_text(interned) : NULL;
}
