/* process_end.h - what the end of the process, of a thread and of the use of the library must not
 * overtake: work that exit waits for, and code that stays mapped.
 * Threads: everything here is thread-safe. */
#ifndef LZ_BASE_PROCESS_END_H
#define LZ_BASE_PROCESS_END_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A count of pieces of work of this process. Zero-initialise. Fork: a child has none of its
 * parent's. */
typedef struct lz_work_count {
    _Atomic uint64_t state; /* the process that began the last one << 32 | how many are left; one
                             * word, since who finds another's process begins at 0 */
    _Atomic uint32_t ended; /* changes with each end: who waits sleeps on it */
} lz_work_count;
void lz_work_begin(lz_work_count *c);
void lz_work_end(lz_work_count *c);
/* Waits until at most `mine` pieces are left, which are the caller's own. Gives up after half a
 * minute, or where the process uses no processor time for 3 s, since what is left then waits for
 * the caller: false. */
bool lz_work_wait(lz_work_count *c, uint32_t mine);

/* From now on exit in the calling thread, and the thread's own end, wait for what is between
 * lz_exit_hold and lz_exit_let before anything else happens: before thread-local objects of
 * libraries loaded meanwhile are destroyed, and before any function registered by atexit runs.
 * Costs one load after the first call. */
void lz_exit_guard(void);
void lz_exit_hold(void);
void lz_exit_let(void);
/* The same of work that any thread may begin and another one ends: exit waits for it in all. */
void lz_exit_hold_for_another(void);
void lz_exit_let_for_another(void);

/* dlopen with `flags`; NULL with a reason (never NULL, valid until the thread calls again), also
 * once the loader destroys what is loaded: to open anything then would call constructors again, of
 * libraries that have been destroyed. The loader waits for those who are here. */
void *lz_open_library(const char *name, int flags, const char **why);
/* A function of such a library: its symbol, and where in a table of pointers it goes. */
typedef struct lz_symbol {
    const char *name;
    size_t at;
    bool optional; /* NULL where the library has none */
} lz_symbol;
/* Fills in the table; the first symbol that is missing and not optional, else NULL. */
const char *lz_library_symbols(void *library, const lz_symbol *all, size_t n, void *table);
#endif
