/* nonfinite.h - which operation makes the first NaN, or infinity, of a function: it is run by the
 * reference interpreter, which shows every operation. Threads: thread-safe. */
#ifndef LZ_RUNTIME_DEBUG_NONFINITE_H
#define LZ_RUNTIME_DEBUG_NONFINITE_H
#include "base/vec.h"
#include "ir/module.h"

/* The first element that is NaN or, with `inf`, not finite; -1: there is none. */
int64_t lz_nonfinite_find(const lz_type *t, const void *data, bool inf);
/* Appends "log at x.c:3 makes nan ..." of the first operation that makes one of operands without;
 * nothing where none does. f: picked from another function (lz_func_pick), of which order[v] says
 * which instruction comes first; NULL: they are in order. Errors: those of lz_ref_run. */
lz_status lz_nonfinite_search(const lz_func *f, const uint32_t *order, lz_literal *const *args,
                              bool inf, lz_buf *out);

/* What messages about a value are made of: "stablehlo.log at x.c:3 (scope)", "[1, 2]", a number.
 * v: an instruction; `result` ones are those of the operation that they read. */
void lz_print_op_place(const lz_func *f, lz_val v, lz_buf *out);
void lz_print_index(const lz_type *t, int64_t element, lz_buf *out);
void lz_print_number(const lz_type *t, const void *data, int64_t element, lz_buf *out);
#endif
