/* auto_spmd.c - the search for shardings: what lz_use_spmd and the environment say of it. See
 * auto_spmd.h. Threads: thread-safe. */
#include "runtime/exec/auto_spmd.h"
#include "base/config.h"
#include "base/text.h"
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { UNSAID, OFF, ON };
static atomic_int said;                  /* by lz_use_spmd */
static _Atomic(const lz_mesh *) on_mesh; /* NULL: not known yet */

/* "2,4", or "x=2,y=4". */
static lz_status read_mesh(const char *text, const lz_mesh **out)
{
    lz_mesh_axis axes[LZ_MESH_FACTORS];
    char name[16];
    int n = 0;
    for (const char *s = text; s; n++) {
        const char *end = s + strcspn(s, ","), *equals = memchr(s, '=', (size_t)(end - s));
        const char *size = equals ? equals + 1 : s;
        uint64_t v;
        if (n == LZ_MESH_FACTORS || equals == s ||
            lz_text_u64(size, (size_t)(end - size), 0, LZ_MESH_DEVICES, &v) != LZ_OK)
            return LZ_FAIL(LZ_EINVAL, "XLA_AUTO_SPMD_MESH is \"%.80s\", not 2,4 or x=2,y=4", text);
        snprintf(name, sizeof name, "axis_%d", n);
        axes[n].size = (int64_t)v;
        axes[n].name =
            equals ? lz_string_get(s, (size_t)(equals - s)) : lz_string_get(name, strlen(name));
        if (!axes[n].name)
            return LZ_EMEM;
        s = *end ? end + 1 : NULL;
    }
    *out = lz_mesh_get(axes, n, NULL);
    return *out ? LZ_OK : lz_error_get()->status;
}

static lz_status default_mesh(const lz_dev *d, const lz_mesh **out)
{
    const char *text = lz_cfg_str(LZ_OPT_AUTO_SPMD_MESH);
    if (text[0])
        return read_mesh(text, out);
    const lz_mesh_axis all = {"devices", d->be->partitions()};
    *out = lz_mesh_get(&all, 1, NULL);
    return *out ? LZ_OK : lz_error_get()->status;
}

static lz_status check(const lz_dev *d, const lz_mesh *m)
{
    if (m->ndevice != d->be->partitions())
        return LZ_FAIL(LZ_EINVAL,
                       "the mesh of the search for shardings has %" PRId64
                       " devices, %s has %" PRId64,
                       m->ndevice, d->name, d->be->partitions());
    return LZ_OK;
}

lz_status lz_auto_spmd_mesh(const lz_dev *d, const lz_mesh **out)
{
    int now = atomic_load(&said);
    *out = NULL;
    if (!d->be->partitions || now == OFF || (now == UNSAID && !lz_cfg_bool(LZ_OPT_AUTO_SPMD)))
        return LZ_OK;
    *out = atomic_load(&on_mesh);
    if (*out)
        return LZ_OK;
    LZ_TRY(default_mesh(d, out));
    LZ_TRY(check(d, *out));
    atomic_store(&on_mesh, *out);
    return LZ_OK;
}

lz_status lz_auto_spmd_set(const lz_dev *d, bool on, const lz_mesh *mesh)
{
    if (!mesh && on)
        LZ_TRY(default_mesh(d, &mesh));
    if (mesh)
        LZ_TRY(check(d, mesh));
    atomic_store(&on_mesh, mesh);
    atomic_store(&said, on ? ON : lz_cfg_bool(LZ_OPT_AUTO_SPMD) ? UNSAID : OFF);
    return LZ_OK;
}
