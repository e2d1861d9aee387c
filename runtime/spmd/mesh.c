/* mesh.c - meshes of the public API, and specs as shardings. Threads: thread-safe. */
#include "runtime/spmd/mark.h"
#include "base/fork.h"
#include "runtime/graph/handle.h"
#include <inttypes.h>
#include <lazuli/spmd.h>
#include <string.h>

static lz_mesh *mesh_new(const int64_t *device_ids, const int64_t *shape, const char *const *names,
                         int naxis)
{
    enum { MOST = 64 };
    lz_mesh_axis axes[MOST];
    if (naxis < 0 || naxis > MOST) {
        (void)LZ_FAIL(LZ_EINVAL, "naxis is %d: outside of 0..%d", naxis, MOST);
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

/* ---- specs ---- */

/* Adds the factors of the axis that is named between s and end to a dimension. */
static lz_status add_axis(lz_sharding *out, int dim, const char *s, size_t n, uint32_t *used)
{
    const lz_mesh *m = out->mesh;
    int k = lz_mesh_axis_find(m, s, n);
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
    *used |= UINT32_C(1) << k;
    for (int f = 0; f < m->nfactor; f++)
        if (m->factors[f].axis == k)
            lz_axis_list_push(&out->dims[dim], f);
    return LZ_OK;
}

static lz_status add_dimension(lz_sharding *out, int dim, const char *axes, uint32_t *used)
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
    uint32_t used = 0;
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
