/* plugin.h - tests on PJRT plugins: Lazuli's own library, and those of test/mock/pjrt_mock.c, below
 * $BUILD. Threads: any. */
#ifndef LZ_TEST_PLUGIN_H
#define LZ_TEST_PLUGIN_H
#include "backends/pjrt/plugins.h"
#include <stdio.h>
#include <stdlib.h>

static inline const char *lz_test_plugin_path(const char *file, char path[LZ_PLUGIN_PATH])
{
    const char *build = getenv("BUILD");
    (void)snprintf(path, LZ_PLUGIN_PATH, "%s/%s", build ? build : "build/release", file);
    return path;
}

/* The platform of this name, registered with these options (NULL: none); path NULL: Lazuli's own
 * library. NULL with an error */
static inline const lz_backend *lz_test_plugin_with(const char *name, const lz_plugin_config *c,
                                                    const char *file)
{
    char path[LZ_PLUGIN_PATH];
    lz_plugin_config config = {.host_index = -1};
    if (c)
        config = *c;
    config.path = lz_test_plugin_path(file ? file : "libpjrt_lazuli.so", path);
    return lz_plugin_register(name, &config) == LZ_OK ? lz_backend_get(name) : NULL;
}
static inline const lz_backend *lz_test_plugin(const char *name, const char *file)
{
    return lz_test_plugin_with(name, NULL, file);
}
#endif
