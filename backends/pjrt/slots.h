/* slots.h - between slots.c and plugins.c: the plugins, and their tables. A slot's plugin is
 * written once, before others can see it. */
#ifndef LZ_BACKENDS_PJRT_SLOTS_H
#define LZ_BACKENDS_PJRT_SLOTS_H
#include "backends/pjrt/client.h"

extern lz_plugin lz_plugin_slots[LZ_PLUGINS_MAX];
extern const lz_backend lz_plugin_backends[LZ_PLUGINS_MAX];
#endif
