/* plugins.h - PJRT plugins as devices: whatever a library that exports GetPjrtApi runs, Lazuli
 * programs run on. Each registered plugin is a backend of its own, behind the rows of backends.def:
 * its name is the platform's name ("NAME:0"), and its table is one of a fixed number of slots
 * (slots.c), since functions of a backend are not told which backend they are of.
 *   registering  copies a name and a configuration; nothing is loaded
 *   starting     lz_backend.init: dlopen, the checks of load.c, the client and its devices
 *   compiling    the function in operations of StableHLO alone (lower/portable.h), as text, to
 *                PJRT_Client_Compile; one loaded executable for each device that runs it
 *   buffers      bytes of the host until a program that says their type wants them
 * Registered by the program (lz_register_device_plugin) or by the environment
 * (PJRT_NAMES_AND_LIBRARY_PATHS, PJRT_LIBRARY_PATH), which base/env.h hides from processes with
 * raised privileges. A plugin is never unregistered.
 * Threads: thread-safe. */
#ifndef LZ_BACKENDS_PJRT_PLUGINS_H
#define LZ_BACKENDS_PJRT_PLUGINS_H
#include "backends/backend.h"

enum {
    LZ_PLUGINS_MAX = 8,
    LZ_PLUGIN_NAME = 24,
    LZ_PLUGIN_PATH = 1024,
    LZ_PLUGIN_TIMEOUT_MOST = 1000000000
};

typedef enum lz_plugin_value {
    LZ_PLUGIN_TEXT,
    LZ_PLUGIN_INTEGER,
    LZ_PLUGIN_INTEGERS,
    LZ_PLUGIN_NUMBER,
    LZ_PLUGIN_FLAG
} lz_plugin_value; /* numbered as PJRT_NamedValue_Type */
/* What the client is created with: PJRT_NamedValue. */
typedef struct lz_plugin_setting {
    char *name, *text;
    int64_t *integers; /* `count` of them; one of an integer or a flag */
    size_t count;
    double number;
    lz_plugin_value type;
} lz_plugin_setting;

typedef struct lz_plugin_config {
    const char *path;
    lz_plugin_setting *setting;
    uint32_t nsetting;
    int32_t host_index;       /* negative: what the client says */
    int32_t physical_devices; /* so many devices are used; 0: all */
    uint64_t dtypes;          /* bit d: it computes with lz_dtype d; 0: with all */
    bool native_rng;          /* random bits are the plugin's */
    int64_t gather_threshold; /* lower/portable.h */
    double timeout;           /* seconds after which work is given up; 0: never */
} lz_plugin_config;

/* Copies all of it. LZ_EINVAL: no name of a platform, a number that is out of its range; LZ_EEXIST:
 * there is such a platform, from another library or with other options (the same once more is
 * fine); LZ_ERANGE: no slot is free; LZ_EMEM. */
lz_status lz_plugin_register(const char *name, const lz_plugin_config *c);
/* Those that the environment names are registered, once; what is wrong there is a warning. */
void lz_plugins_of_environment(void);
/* The backend of plugin i, in the order in which they were registered; NULL past the end. */
const lz_backend *lz_plugin_backend(uint32_t i);
void lz_plugin_settings_free(lz_plugin_setting *s, uint32_t n);
#endif
