/* check.h - StableHLO text that says what it must give: files of several modules and the `check`
 * dialect of StableHLO's conformance programs.
 * Threads: thread-compatible. */
#ifndef LZ_IR_TEXT_CHECK_H
#define LZ_IR_TEXT_CHECK_H
#include "ir/module.h"

typedef enum lz_check_kind {
    LZ_CHECK_EQ,     /* equal numbers; NaN equals NaN, -0 equals 0 */
    LZ_CHECK_ALMOST, /* |got - want| <= tolerance; infinities and NaN as EQ */
    LZ_CHECK_CLOSE   /* so many representable numbers apart, at most; -0 and 0 are 0 apart */
} lz_check_kind;

/* One check of a function. Integers are compared exactly, whatever the kind. */
typedef struct lz_check {
    const char *name; /* as StableHLO calls it; static */
    lz_check_kind kind;
    uint32_t got, want; /* results of the function, of the same type */
    double tolerance;
    /* Of CLOSE: bounds of the largest distance in a tensor. */
    int64_t min_ulp, max_ulp;
    int line;
} lz_check;

/* A function to be run. */
typedef struct lz_checked {
    const char *name; /* of the function; in f */
    lz_func *f;       /* results: those its text returns, then what its checks compare */
    uint32_t nreturn;
    const lz_check *checks;
    uint32_t ncheck;
} lz_checked;

/* Called for each function: c is NULL when its text, or that of its module, is wrong (the thread's
 * error says how). c and its function live until the call returns; what is not LZ_OK ends the
 * walk. */
typedef lz_status lz_checked_fn(const lz_checked *c, void *user);

/* Reads a file of modules with lines `// -----` between, one after the other, and calls fn for each
 * function of a module that is to be run: `entry` unless it is NULL, @main, else those neither
 * private nor with parameters, else the only one that is not private. Errors: what fn gives. */
lz_status lz_checked_parse(const char *text, size_t n, const char *name, const char *entry,
                           lz_checked_fn *fn, void *user);

/* Whether a check holds of two literals of one type. *element: the first that is wrong. ulp: how
 * far apart its numbers are, of CLOSE; INT64_MAX where that has no meaning. */
bool lz_check_holds(const lz_check *c, const lz_literal *got, const lz_literal *want,
                    int64_t *element, int64_t *ulp);

/* A copy whose constants of at least `least` bytes are parameters behind those of f: with 0 a
 * compiler has nothing to compute beforehand. values: room for f->ninst, gets what the new
 * parameters are (borrowed from f). */
lz_status lz_func_free_constants(const lz_func *f, size_t least, lz_func **out,
                                 lz_literal **values);
#endif
