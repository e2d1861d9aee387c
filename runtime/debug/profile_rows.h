/* profile_rows.h - rows of a profile report: launches added up by what they are told apart by. A
 * launch that computes several nodes gives each its share, by operation counts, of its time, its
 * operations and its bytes. Threads: thread-compatible. */
#ifndef LZ_RUNTIME_DEBUG_PROFILE_ROWS_H
#define LZ_RUNTIME_DEBUG_PROFILE_ROWS_H
#include "backends/common/profile.h"

typedef enum lz_profile_by {
    LZ_BY_STEP, /* of a program: what one launch of a kernel takes */
    LZ_BY_OPERATION,
    LZ_BY_SCOPE,
    LZ_BY_LINE,
    LZ_BY_COUNT
} lz_profile_by;
typedef struct lz_profile_sum {
    char *what; /* "chlo.lgamma", "slowop.c:8"; owned */
    int64_t calls;
    double ns, least_ns, flops, bytes; /* of all calls */
} lz_profile_sum;
typedef struct lz_profile_rows {
    LZ_VEC(lz_profile_sum) v[LZ_BY_COUNT]; /* longest first */
    double ns;                             /* of all launches */
    bool failed;                           /* no memory */
} lz_profile_rows;
void lz_profile_gather(lz_profile_rows *out);
void lz_profile_rows_free(lz_profile_rows *r);
/* By which a row is told: "operation"; and a list of them: "operations". */
extern const char *const lz_profile_by_name[LZ_BY_COUNT];
extern const char *const lz_profile_list_name[LZ_BY_COUNT];
#endif
