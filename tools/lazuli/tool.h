/* tool.h - the lazuli command: one function per subcommand, and what they share.
 * Exit codes: 0 fine, 1 the thing asked about is wrong or failed, 2 the command line is wrong. */
#ifndef LZ_TOOL_H
#define LZ_TOOL_H
#include "ir/module.h"
#include <stdio.h>

int tool_run(int argc, char **argv);
int tool_opt(int argc, char **argv);
int tool_cache(int argc, char **argv);
int tool_devices(int argc, char **argv);
int tool_ops(int argc, char **argv);
int tool_env(int argc, char **argv);

/* Says "lazuli: WHAT: last error" on stderr; gives 1. */
int tool_fail(const char *what);
int tool_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));     /* gives 2 */

/* A whole file; "-" is standard input. At most `limit` bytes. */
lz_status tool_read_file(const char *path, size_t limit, lz_buf *out);
/* A StableHLO module from a file. */
lz_status tool_load_module(const char *path, lz_func **out);

/* NumPy .npy files, versions 1 to 3, C order, little-endian. bf16 is stored as NumPy's 2-byte void, as ml_dtypes does.
 * Errors: LZ_EIO, LZ_EPARSE, LZ_EDTYPE, LZ_ESHAPE, LZ_ECORRUPT with the file's name. */
lz_status tool_npy_read(const char *path, lz_dtype want, lz_literal **out);
lz_status tool_npy_write(const char *path, const lz_literal *l);
void tool_print_literal(FILE *f, const lz_literal *l);
#endif
