/* unseen_error.h - failures that the program has not looked at. An operation that fails gives an
 * error tensor, a read of a number NaN: a program that asks for no status would end well, with
 * wrong numbers. So the first failure that nobody asked for is one line on stderr: at a step that
 * fails again after one that nobody looked at, else when the process exits. LAZULI_LOG=error
 * silences it.
 * Threads: thread-safe. Nothing here costs anything unless something has failed. */
#ifndef LZ_BASE_UNSEEN_ERROR_H
#define LZ_BASE_UNSEEN_ERROR_H
#include "base/status.h"

/* A failure that came without a status: of an error tensor, or of a number. */
void lz_unseen_note(const lz_error *e);
/* A function that is often called for its effect alone has given the failure's status: it counts as
 * asked for if the process ends with an exit status that is not 0. */
void lz_unseen_given(const lz_error *e);
/* A step has given it, which fails all that was recorded since the last one. */
void lz_unseen_step(const lz_error *e);
/* The program has looked at the failure. Whether that is news. */
bool lz_unseen_looked(const lz_error *e);
/* The calling thread's failures of this number and later ones did not reach the program. */
void lz_unseen_forget(uint64_t serial);
#endif
