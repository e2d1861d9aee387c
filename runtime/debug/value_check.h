/* value_check.h - LAZULI_CHECK: what a program has computed is looked at once it has run. A NaN (or
 * infinity) is searched for with the reference interpreter (nonfinite.h), results are compared with
 * it (first_difference.h). What is found is an error of whoever ran the program.
 * Threads: thread-safe. */
#ifndef LZ_RUNTIME_DEBUG_VALUE_CHECK_H
#define LZ_RUNTIME_DEBUG_VALUE_CHECK_H
#include "runtime/exec/program.h"

/* An execution whose results are to be looked at; it holds what the program read, which must not be
 * donated, and what it gave. */
typedef struct lz_check_run lz_check_run;
extern _Atomic int lz_check_state; /* 0: nobody has looked yet; 1: off; 2: on */
bool lz_check_ask(void);
/* Some check is wanted. */
static inline bool lz_check_on(void)
{
    int s =
        atomic_load_explicit(&lz_check_state, memory_order_acquire); /* what is wanted is read */
    return __builtin_expect(s != 1, 0) && (s == 2 || lz_check_ask());
}
/* The program has been started on these buffers. Makes nothing, *out = NULL, where nothing is to be
 * looked at, and where there is no memory, with a warning. `f` is what it computes, whose
 * instructions have the present call sites; it is taken over. NULL: there was no memory. order[v]:
 * how many of them were recorded before v, taken over; NULL: they are in that order. */
void lz_check_begin(lz_dev *d, lz_program *p, struct lz_func *f, uint32_t *order,
                    lz_device_buffer *const *in, lz_device_buffer *const *results,
                    lz_check_run **out);
/* Waits for the program and looks; frees the run. The caller holds no lock. s: what it has come to
 * so far: a failure stands, and nothing is looked at. r NULL: gives s.
 * Errors: LZ_ECHECK naming the operation. A program that failed is none. */
lz_status lz_check_look(lz_check_run *r, lz_status s);
static inline lz_status lz_check_end(lz_check_run *r, lz_status s)
{
    return __builtin_expect(r != NULL, 0) ? lz_check_look(r, s) : s;
}
#endif
