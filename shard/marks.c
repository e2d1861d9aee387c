/* marks.c - what marks say: the mesh of a function, and the sharding of one mark on it. See
 * shard.h. Meshes are of one kind when their axes are of the same factors in the same order over
 * the same devices: then an axis of one is an axis, or a part, or several, of the other. Threads:
 * pure functions. */
#include "shard/propagate.h"
#include <inttypes.h>
#include <string.h>

/* ---- meshes ---- */

static bool same_factors(const lz_mesh *a, const lz_mesh *b)
{
    if (a->nfactor != b->nfactor)
        return false;
    for (int k = 0; k < a->nfactor; k++)
        if (a->factors[k].size != b->factors[k].size)
            return false;
    return true;
}

/* A mesh of one device says nothing: its shardings are replicated. */
static lz_status join_mesh(const lz_mesh *m, const lz_mesh **out)
{
    if (!*out || ((*out)->ndevice == 1 && m->ndevice > 1)) {
        *out = m;
        return LZ_OK;
    }
    if (m == *out || m->ndevice == 1 || same_factors(m, *out))
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

const char *lz_shard_next_text(const char **at)
{
    const char *p = *at, *end = p ? strstr(p, "; ") : NULL;
    if (!p || !*p)
        return NULL;
    const char *text = lz_string_get(p, end ? (size_t)(end - p) : strlen(p));
    *at = end ? end + 2 : p + strlen(p);
    return text;
}

static lz_status mesh_of_text(const char *text, const lz_mesh **out)
{
    const lz_sharding *s = lz_sharding_parse(text);
    return s ? join_mesh(s->mesh, out) : lz_error_get()->status;
}

static lz_status mesh_of_texts(const char *texts, const lz_mesh **out)
{
    for (const char *t; (t = lz_shard_next_text(&texts));)
        LZ_TRY(mesh_of_text(t, out));
    return LZ_OK;
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
            LZ_TRY(mesh_of_texts(LZ_ATTR(manual, a)->in_shardings, out));
            LZ_TRY(mesh_of_texts(LZ_ATTR(manual, a)->out_shardings, out));
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

const lz_sharding *lz_shard_mark(const lz_mesh *mesh, const char *text, const lz_type *type)
{
    const lz_sharding *s = lz_sharding_parse(text);
    if (!s)
        return NULL;
    if (s->rank != type->shape.rank) {
        (void)LZ_FAIL(LZ_EINVAL, "sharding %.200s is of rank %d, but the tensor of rank %d", text,
                      s->rank, type->shape.rank);
        return NULL;
    }
    if (s->mesh == mesh)
        return s;
    if (s->mesh->ndevice > 1 && !same_factors(s->mesh, mesh)) {
        (void)LZ_FAIL(LZ_EINVAL, "sharding %.200s is of another mesh", text);
        return NULL;
    }
    lz_sharding t = *s;
    t.mesh = mesh;
    return lz_sharding_get(&t);
}
