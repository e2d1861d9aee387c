/* pack_cmd.h - lazuli cache export and import. */
#ifndef LZ_TOOLS_LAZULI_PACK_CMD_H
#define LZ_TOOLS_LAZULI_PACK_CMD_H
#include "tools/lazuli/tool.h"

/* path: of the cache. hashes: of programs; none: all that the cache has. Exit codes. */
int tool_cache_export(const char *path, char *const *hashes, int n, const char *out);
int tool_cache_import(const char *path, const char *file);
#endif
