/* difference.h - in what way a graph differs from a program that is known: "why did it compile".
 * Threads: thread-safe; the graph's device is locked. */
#ifndef LZ_RUNTIME_DEBUG_DIFFERENCE_H
#define LZ_RUNTIME_DEBUG_DIFFERENCE_H
#include "runtime/exec/program.h"

/* The ways, and their names in events: DIFFERENCE(NAME, "name") */
#define LZ_DIFFERENCES(DIFFERENCE)                                                                 \
    DIFFERENCE(NONE, "none")           /* the program was dropped from memory */                   \
    DIFFERENCE(FIRST, "first")         /* no graph is known */                                     \
    DIFFERENCE(OPERATION, "operation") /* another one, one more, one fewer */                      \
    DIFFERENCE(OPERAND, "operand")     /* an operation reads one more, or another kind of value */ \
    DIFFERENCE(ATTRIBUTE, "attribute") /* of an operation */                                       \
    DIFFERENCE(SHAPE, "shape")         /* extents or rank */                                       \
    DIFFERENCE(DTYPE, "dtype")         /* element type */                                          \
    DIFFERENCE(CONSTANT, "constant")   /* another number that is part of the graph */              \
    DIFFERENCE(CONNECTION, "connection") /* an operation reads another value of the same type */   \
    DIFFERENCE(RESULTS, "results")       /* what is computed to be kept */                         \
    DIFFERENCE(DONATION, "donation")     /* of an input's memory */                                \
    DIFFERENCE(OPTIONS, "options")       /* what it is compiled for: a device, places of values */

typedef enum lz_difference_kind {
#define DIFFERENCE(NAME, name) LZ_DIFFERS_##NAME,
    LZ_DIFFERENCES(DIFFERENCE)
#undef DIFFERENCE
} lz_difference_kind;

enum { LZ_DIFFERENCE_TEXT = 800 };
typedef struct lz_difference {
    lz_difference_kind kind;
    char text[LZ_DIFFERENCE_TEXT]; /* with both lines, where they are two */
    const lz_site *is, *was;       /* where it is in the graph, and was; may be NULL */
    lz_hash nearest;               /* the known graph that is most like this one; not of FIRST */
} lz_difference;

const char *lz_difference_name(lz_difference_kind k);
/* From the nearest of the graphs in memory. The capture is finished. */
void lz_difference_find(const lz_capture *c, lz_difference *out);
/* From the nearest of those whose captures have one of these hashes. */
void lz_difference_among(const lz_capture *c, const lz_hash *among, uint32_t n, lz_difference *out);
/* From one program. */
void lz_difference_from(const lz_capture *c, const lz_program *p, lz_difference *out);
#endif
