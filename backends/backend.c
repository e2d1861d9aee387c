/* backend.c - the backends there are: those of backends.def, then the plugins that are registered.
 * Threads: thread-safe. */
#include "backends/backend.h"
#include "backends/pjrt/plugins.h"
#include "base/text.h"
#include <string.h>

#define BACKEND(NAME, symbol, doc) extern const lz_backend symbol;
#include "backends/backends.def"
#undef BACKEND

static const lz_backend *const rows[] = {
#define BACKEND(NAME, symbol, doc) &symbol,
#include "backends/backends.def"
#undef BACKEND
};
enum { COUNT = sizeof rows / sizeof *rows };

const lz_backend *lz_backend_row(uint32_t index)
{
    return index < COUNT ? rows[index] : NULL;
}

const lz_backend *lz_backend_at(uint32_t index)
{
    if (index < COUNT)
        return rows[index];
    lz_plugins_of_environment();
    return lz_plugin_backend(index - COUNT);
}

const lz_backend *lz_backend_get(const char *name)
{
    const lz_backend *b;
    for (uint32_t i = 0; name && (b = lz_backend_at(i)); i++)
        if (lz_text_same(b->name, name))
            return b;
    return NULL;
}

const lz_backend *lz_backend_of(const char *device)
{
    char platform[24];
    size_t n = strcspn(device, ":");
    if (n >= sizeof platform)
        return NULL;
    memcpy(platform, device, n);
    platform[n] = '\0';
    return lz_backend_get(platform);
}

int lz_backend_index(const lz_backend *b)
{
    const lz_backend *x;
    for (uint32_t i = 0; (x = lz_backend_at(i)); i++)
        if (x == b)
            return (int)i;
    return -1;
}

bool lz_backend_can_run(const char *isa, void *unused)
{
    (void)unused;
    const lz_backend *b;
    for (uint32_t i = 0; (b = lz_backend_at(i)); i++)
        if (b->can_run && b->can_run(isa))
            return true;
    return false;
}
