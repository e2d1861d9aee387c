/* tool.h - the lazuli command: one function per subcommand, and what they share.
 * Exit codes: 0 fine, 1 the thing asked about is wrong or failed, 2 the command line is wrong. */
#ifndef LZ_TOOLS_LAZULI_TOOL_H
#define LZ_TOOLS_LAZULI_TOOL_H
#include "ir/module.h"
#include <inttypes.h>
#include <stdio.h>

int tool_run(int argc, char **argv);
int tool_opt(int argc, char **argv);
int tool_shard(int argc, char **argv);
int tool_cache(int argc, char **argv);
int tool_graph(int argc, char **argv);
int tool_plot(int argc, char **argv);
int tool_devices(int argc, char **argv);
int tool_profile(int argc, char **argv);
int tool_capture(int argc, char **argv);
int tool_top(int argc, char **argv);
int tool_launch(int argc, char **argv);
int tool_ops(int argc, char **argv);
int tool_env(int argc, char **argv);
int tool_completions(int argc, char **argv);

/* The i-th subcommand and its help; false: there are no more. */
bool tool_command_row(int i, const char **name, const char **usage, const char **doc);

/* What the command calls itself in messages: "lazuli run". The text is kept by reference. */
void tool_set_command(const char *name);
/* Says "lazuli: WHAT: last error" on stderr; gives 1. */
int tool_fail(const char *what);
/* Says one line on stderr that ends with the way to the help; gives 2. */
int tool_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* An option's value; false after a message when it is not one. tool_one_of: `names` end with
 * NULL. */
bool tool_uint(const char *option, const char *text, uint64_t lo, uint64_t hi, uint64_t *out);
bool tool_tolerance(const char *option, const char *text, double *out);
bool tool_one_of(const char *option, const char *text, const char *const *names);

/* Standard files that the caller closed become ones that cannot be used, so that no file of ours
 * takes their numbers. */
void tool_open_standard_files(void);
/* Ends the output. Gives rc, or 1 after a message when something of the output was lost. */
int tool_close_stdout(int rc);

/* A whole file; "-" is standard input. At most `limit` bytes. */
lz_status tool_read_file(const char *path, size_t limit, lz_buf *out);
/* A file of StableHLO text. */
lz_status tool_read_text(const char *path, lz_buf *out);
/* A StableHLO module from a file. */
lz_status tool_load_module(const char *path, const char *entry, lz_func **out);

/* Literals in .npy files ("-": standard input); errors as lz_npy_read. `want` BF16: u16 and i16
 * elements are its bits. */
lz_status tool_npy_read(const char *path, lz_dtype want, lz_literal **out);
lz_status tool_npy_write(const char *path, const lz_literal *l);
void tool_print_literal(FILE *f, const lz_literal *l);
void tool_print_element(FILE *f, const lz_literal *l, int64_t i);
#endif
