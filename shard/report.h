/* report.h - between the files of shard/ that say where values are and why. Threads: pure. */
#ifndef LZ_SHARD_REPORT_H
#define LZ_SHARD_REPORT_H
#include "shard/shard.h"

/* [{"x"}, {}]: a sharding without its mesh. */
void lz_report_dims(lz_buf *b, const lz_sharding *s);
/* %3 = f32[8,6] dot_general(%2, %1) */
void lz_report_value(lz_buf *b, const lz_func *f, lz_val v);
/* "  (file:line)" where it is known. */
void lz_report_site(lz_buf *b, const lz_inst *in);
/* The rule of the operation, as Shardy writes it; nothing where it has none. */
lz_status lz_report_rule(lz_buf *b, const lz_func *f, lz_val by);
/* {"x", "y":(1)2} */
void lz_report_axes(lz_buf *b, const lz_mesh *m, uint32_t factors);

/* A mark that is behind a collective: of mark `at`, which function or region s has. */
typedef struct lz_report_mark {
    const lz_shardings *s;
    lz_val at;
} lz_report_mark;
enum { LZ_REPORT_MARKS = 12 };
/* At most so many, the nearest first: of the value that moves, of who wants it, of what makes the
 * parts of its sum, of the other operands of who wants it; of none of these, the manual computation
 * around it. */
int lz_report_marks(const lz_shard_reason *r, lz_report_mark out[LZ_REPORT_MARKS]);
/* The parameter of the function that a mark is of; LZ_NOVAL: of no parameter. */
lz_val lz_report_marked_param(const lz_report_mark *m);
/* What the mark says; NULL: it is no sharding_constraint. */
const lz_sharding *lz_report_mark_sharding(const lz_report_mark *m);
/* Whether a `while` is around the region. */
bool lz_report_in_loop(const lz_shard_place *in);
#endif
