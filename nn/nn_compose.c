/* nn_compose.c - checks shared by the composites. See nn_compose.h. */
#include "nn/nn_compose.h"

bool nn_check(nnc *c, const lz_tensor *t, const char *what)
{
    if (c->status != LZ_OK)
        return false;
    if (!t)
        return nn_refuse(c, LZ_ENULL, "%s is NULL", what);
    c->status = lz_status_of(t);
    return c->status == LZ_OK;
}

bool nn_check_float(nnc *c, const lz_tensor *t, const char *what)
{
    if (!nn_check(c, t, what))
        return false;
    lz_dtype d = lz_dtype_of(t);
    return nn_is_float(d) ||
           nn_refuse(c, LZ_EDTYPE, "%s is %s: floating point is needed", what, lz_dtype_name(d));
}

bool nn_check_shape(nnc *c, const lz_tensor *t, lz_shape want, const char *what)
{
    if (!t)
        return c->status == LZ_OK;
    if (!nn_check(c, t, what))
        return false;
    lz_shape s = lz_shape_of(t);
    bool same = s.rank == want.rank;
    for (int i = 0; same && i < s.rank; i++)
        same = s.dims[i] == want.dims[i];
    char a[192], b[192];
    return same || nn_refuse(c, LZ_ESHAPE, "%s is %s, not %s", what, lz_nn_shape_text(&s, a),
                             lz_nn_shape_text(&want, b));
}

bool nn_options(nnc *c, void *dst, size_t have, const void *src)
{
    if (c->status != LZ_OK)
        return false;
    if (!src)
        return true;
    size_t n = *(const size_t *)src;
    if (n < sizeof n || n > have)
        return nn_refuse(c, LZ_EINVAL, "struct_size is %zu: set it to the size of the struct", n);
    memcpy(dst, src, n);
    return true;
}
