/* option_defaults.c - the defaults of options structs as functions, one for each row of
 * include/lazuli/options.def. Threads: thread-safe. */
#include "lazuli/options.h"
#include <string.h>

static void copy_defaults(void *out, const void *defaults, size_t known, size_t wanted)
{
    size_t n = wanted < known ? wanted : known;
    if (!out || n < sizeof(size_t))
        return;
    memcpy(out, defaults, n);
    memcpy(out, &n, sizeof n); /* struct_size, the first field of each */
}

LZ_OVERRIDE_BEGIN
#define LZ_OPTIONS_ROW(type, ...)                                                                  \
    void type##_default(type *out, size_t struct_size)                                             \
    {                                                                                              \
        static const type defaults = {.struct_size = sizeof(type), __VA_ARGS__};                   \
        copy_defaults(out, &defaults, sizeof defaults, struct_size);                               \
    }
#include <lazuli/options.def>
#undef LZ_OPTIONS_ROW
LZ_OVERRIDE_END
