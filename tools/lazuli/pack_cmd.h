/* pack_cmd.h - lazuli cache export and import, and hashes of programs on the command line. */
#ifndef LZ_TOOLS_LAZULI_PACK_CMD_H
#define LZ_TOOLS_LAZULI_PACK_CMD_H
#include "base/hash.h"
#include "tools/lazuli/tool.h"

/* path: of the cache. hashes: of programs; none: all that the cache has. Exit codes. */
int tool_cache_export(const char *path, char *const *hashes, int n, const char *out);
int tool_cache_import(const char *path, const char *file);

/* Whether h can be the hash of a program: 4 to 32 hexadecimal digits, or its file's name. */
bool tool_is_hash(const char *h);
/* Whether it is that of an entry: "00/1122.p", what "001122" begins, and what a graph's hash as
 * messages print it begins, all name a program. */
bool tool_names_program(const char *h, const char *name, lz_hash graph);
#endif
