/* dtype.c - names and sizes of the element types, from dtypes.def. Threads: pure functions. */
#include <lazuli/types.h>

static const struct {
    const char *name;
    size_t nbytes;
} rows[LZ_DTYPE_COUNT] = {
#define LZ_DTYPE(NAME, value, name, text, nbytes, cls, ctype) [LZ_##NAME] = {#name, nbytes},
#include <lazuli/dtypes.def>
#undef LZ_DTYPE
};

#define LZ_DTYPE(NAME, value, name, text, nbytes, cls, ctype)                                      \
    _Static_assert(sizeof(ctype) == (nbytes), #name ": size of the storage type");
#include <lazuli/dtypes.def>
#undef LZ_DTYPE

const char *lz_dtype_name(lz_dtype d)
{
    return (unsigned)d < LZ_DTYPE_COUNT && rows[d].name ? rows[d].name : "?";
}

size_t lz_dtype_size(lz_dtype d)
{
    return (unsigned)d < LZ_DTYPE_COUNT ? rows[d].nbytes : 0;
}
