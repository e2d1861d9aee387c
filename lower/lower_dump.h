/* lower_dump.h - LAZULI_DUMP: writes the stages of the compiler front as numbered files to
 * LAZULI_DUMP_DIR. LAZULI_DUMP lists passes, the stages `fusion`, `loops` and `plan`, or `all`;
 * `input` is the module before the first pass. A dump that cannot be written is a warning; the
 * compilation goes on.
 * Threads: thread-safe; files are numbered across threads. */
#ifndef LZ_LOWER_LOWER_DUMP_H
#define LZ_LOWER_LOWER_DUMP_H
#include "lower/fusion/fusion.h"
#include "lower/plan/plan.h"

/* Warns of names in LAZULI_DUMP and LAZULI_PASSES_OFF that nothing has. */
void lz_lower_check_names(void);
bool lz_dump_wanted(const char *stage);
/* Writes <dir>/<number>.<stage>.<ext>. */
void lz_dump_text(const char *stage, const char *ext, const lz_buf *text);
void lz_dump_func(const char *stage, const lz_func *f);
/* The module before the first pass, with the parameters it may write over (NULL: none). */
void lz_dump_input(const lz_func *f, const bool *donate);
lz_status lz_dump_fusion(const lz_fusion *fu); /* LZ_OK always: for LZ_TRY chains */
/* plan.txt, and the loop IR of its kernels */
lz_status lz_dump_plan(const lz_plan *p);
#endif
