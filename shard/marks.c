/* marks.c - what marks say: the mesh of a function, and the sharding of one mark on it. See
 * shard.h. Meshes are of one kind when their axes are of the same factors in the same order over
 * the same devices: then an axis of one is an axis, or a part, or several, of the other. Threads:
 * pure functions. */
#include "shard/propagate.h"
#include <inttypes.h>
#include <string.h>

/* ---- meshes ---- */

/* A mesh of one device says nothing: its shardings are replicated. */
static lz_status join_mesh(const lz_mesh *m, const lz_mesh **out)
{
    if (!*out || ((*out)->ndevice == 1 && m->ndevice > 1)) {
        *out = m;
        return LZ_OK;
    }
    if (m == *out || m->ndevice == 1 || lz_mesh_same_factors(m, *out))
        return LZ_OK;
    lz_buf b = {0};
    lz_mesh_print(&b, m);
    lz_buf_puts(&b, " and ");
    lz_mesh_print(&b, *out);
    lz_status s =
        LZ_FAIL(LZ_EUNSUPPORTED, "marks are of two meshes that differ: %.300s", lz_buf_str(&b));
    lz_buf_free(&b);
    return s;
}

/* Of the first sharding of the text: those of one attribute are of one mesh. */
static lz_status mesh_of_text(const char *text, const lz_mesh **out)
{
    if (!text || !*text)
        return LZ_OK;
    const lz_sharding *s = lz_sharding_read(text, strlen(text), NULL, NULL);
    return s ? join_mesh(s->mesh, out) : lz_error_get()->status;
}

/* Regions that run as programs of their own have marks of shardings; those of reducers do not. */
static lz_status mesh_of(const lz_func *f, const lz_mesh **out, int depth)
{
    const char *last = NULL; /* texts are interned, and neighbours' often equal */
    if (depth > LZ_MAX_REGION_DEPTH)
        return LZ_OK;
    for (uint32_t i = 0; i < f->ninst; i++) {
        const lz_attr *a = f->insts[i].sig->attr;
        switch (a->kind) {
        case LZ_ATTR_sharding:
            if (LZ_ATTR(sharding, a)->sharding != last)
                LZ_TRY(mesh_of_text(LZ_ATTR(sharding, a)->sharding, out));
            last = LZ_ATTR(sharding, a)->sharding;
            break;
        case LZ_ATTR_loop:
            LZ_TRY(mesh_of(LZ_ATTR(loop, a)->cond, out, depth + 1));
            LZ_TRY(mesh_of(LZ_ATTR(loop, a)->body, out, depth + 1));
            break;
        case LZ_ATTR_branches:
            LZ_TRY(mesh_of(LZ_ATTR(branches, a)->true_branch, out, depth + 1));
            LZ_TRY(mesh_of(LZ_ATTR(branches, a)->false_branch, out, depth + 1));
            break;
        case LZ_ATTR_manual:
            LZ_TRY(mesh_of_text(LZ_ATTR(manual, a)->in_shardings, out));
            LZ_TRY(mesh_of_text(LZ_ATTR(manual, a)->out_shardings, out));
            LZ_TRY(mesh_of(LZ_ATTR(manual, a)->body, out, depth + 1));
            break;
        default:
            break;
        }
    }
    return LZ_OK;
}

lz_status lz_shard_mesh(const lz_func *f, const lz_mesh **out)
{
    *out = NULL;
    return mesh_of(f, out, 0);
}

/* ---- one mark ---- */

const lz_sharding *lz_shard_mark(const lz_mesh *mesh, const lz_sharding *s, const lz_type *type)
{
    if (s->rank != type->shape.rank) {
        (void)LZ_FAIL(LZ_EINVAL, "sharding %.200s is of rank %d, but the tensor of rank %d",
                      lz_sharding_text(s), s->rank, type->shape.rank);
        return NULL;
    }
    if (s->mesh == mesh)
        return s;
    if (s->mesh->ndevice > 1 && !lz_mesh_same_factors(s->mesh, mesh)) {
        (void)LZ_FAIL(LZ_EINVAL, "sharding %.200s is of another mesh", lz_sharding_text(s));
        return NULL;
    }
    lz_sharding t = *s;
    t.mesh = mesh;
    return lz_sharding_get(&t);
}
