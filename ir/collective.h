/* collective.h - operations among several participants: groups as attributes hold them, and what
 * one device says to them. Threads: pure functions. */
#ifndef LZ_IR_COLLECTIVE_H
#define LZ_IR_COLLECTIVE_H
#include "ir/module.h"

/* A matrix of numbers as text: "[[0, 1], [2, -1]]", written so and in no other way. */
typedef struct lz_groups {
    int64_t rows, columns; /* at least 1 of each */
} lz_groups;
/* Reads the text of an attribute; fn, when given, is called with every number.
 * Errors: LZ_EINVAL naming `name` and `field`. */
lz_status lz_groups_read(const char *name, const char *field, const char *text, lz_groups *out,
                         lz_status (*fn)(void *user, int64_t row, int64_t column, int64_t v),
                         void *user);

/* LZ_EUNSUPPORTED, naming the op and its groups: one device has no other participants. */
lz_status lz_collective_refuse(const lz_sig *s);
/* LZ_EUNSUPPORTED when the function, without its regions, has an operation among participants: one
 * device runs alone. */
lz_status lz_func_check_alone(const lz_func *f);
#endif
