/* science.c - checks and helpers shared by the composites of this folder: science.h. */
#include "ops/science/science.h"
#include "base/status.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool lz_composite_in(const lz_composite *c, const lz_tensor *t, const char *what)
{
    if (!c->open)
        return false;
    if (!t) {
        LZ_FAIL(LZ_ENULL, "%s is NULL", what);
        return false;
    }
    return lz_status_of(t) == LZ_OK;
}

bool lz_composite_real(const lz_composite *c, const lz_tensor *t, const char *what)
{
    if (!lz_composite_in(c, t, what))
        return false;
    if (!lz_dtype_is_complex(lz_dtype_of(t)))
        return true;
    LZ_FAIL(LZ_EDTYPE, "%s is %s: it is not defined for complex numbers", what,
            lz_dtype_name(lz_dtype_of(t)));
    return false;
}

const char *lz_composite_shape(const lz_tensor *t, char *text)
{
    lz_shape s = lz_shape_of(t);
    int n = snprintf(text, 160, "[");
    for (int i = 0; i < s.rank && n < 130; i++)
        n += snprintf(text + n, 24, "%s%" PRId64, i ? ", " : "", s.dims[i]);
    snprintf(text + n, 8, "]");
    return text;
}

bool lz_composite_square(const lz_tensor *t, const char *what)
{
    char text[160];
    lz_shape s = lz_shape_of(t);
    if (s.rank >= 2 && s.dims[s.rank - 1] == s.dims[s.rank - 2])
        return true;
    LZ_FAIL(LZ_ESHAPE, "%s is %s: it is not square in its last two dimensions", what,
            lz_composite_shape(t, text));
    return false;
}

lz_tensor *lz_composite_iota(const lz_composite *c, lz_tensor *x, lz_dtype d, lz_shape s,
                             int64_t dim)
{
    lz_tracer t;
    lz_tracer_begin(&t, c->op, c->site);
    lz_node *like = lz_tracer_in(&t, x);
    return lz_tracer_end(&t, like ? lz_tracer_iota(&t, d, &s, dim, like) : NULL);
}

lz_tensor *lz_composite_detached(const lz_composite *c, lz_tensor *t)
{
    lz_tracer r;
    lz_tracer_begin(&r, c->op, c->site);
    lz_node *x = lz_tracer_in(&r, t);
    return lz_tracer_end(&r, x ? lz_tracer_own(&r, lz_node_new_detached(x, c->site)) : NULL);
}

lz_dtype lz_composite_dtype(const lz_tensor *t)
{
    lz_dtype d = lz_dtype_of(t);
    return d == LZ_BOOL || lz_dtype_is_int(d) ? LZ_F32 : d;
}

lz_tensor *lz_composite_wide(const lz_composite *c, lz_tensor *t)
{
    lz_dtype d = lz_composite_dtype(t);
    return TO(t, d == LZ_F16 || d == LZ_BF16 ? LZ_F32 : d);
}

bool lz_composite_dim(int64_t dim, int32_t rank, int64_t *out)
{
    return lz_tracer_dim(dim, rank, out);
}

bool lz_composite_options(const lz_composite *c, void *out, size_t nbytes, const void *o)
{
    size_t n = o ? *(const size_t *)o : nbytes;
    if (!c->open)
        return false;
    if (n < sizeof n || n > nbytes) {
        LZ_FAIL(LZ_EINVAL, "struct_size is %zu: fill the options by their macro", n);
        return false;
    }
    if (o)
        memcpy(out, o, n);
    return true;
}
