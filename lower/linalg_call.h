/* linalg_call.h - operations of class LINALG that have no form as loops, for backends without
 * routines: a custom call that runs the routine on the host.
 * Threads: thread-safe but for the function that is built. */
#ifndef LZ_LOWER_LINALG_CALL_H
#define LZ_LOWER_LINALG_CALL_H
#include "ir/module.h"

/* Registers the function if this is its name: before a program that holds the call is made. */
lz_status lz_linalg_call_register(const char *target);
/* The call in f: out has s->nresult values, LZ_NOVAL where that failed, as f's status says. */
void lz_linalg_call_build(lz_func *f, const lz_sig *s, const lz_val *opnd, lz_val *out);
#endif
