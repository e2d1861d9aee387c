/* profile.h - where the time of kernels goes: a table of the launches of every program
 * (LAZULI_PROFILE), and their spans in a timeline. Backends measure launches by their own clocks;
 * cpu_ns is 0 where a launch takes no processor time. A failure to write is warned about and never
 * fails a program. Threads: thread-safe. */
#ifndef LZ_BACKENDS_COMMON_PROFILE_H
#define LZ_BACKENDS_COMMON_PROFILE_H
#include "base/timeline/timeline.h"
#include "lower/plan/plan_exec.h"

typedef struct lz_profile lz_profile;
/* Accumulated time of one launch. */
typedef struct lz_profile_row lz_profile_row;
/* Kind of the launch; part of its record. */
typedef struct lz_profile_launch {
    const lz_kernel *kernel; /* NULL: a routine */
    const lz_step *step;
    int64_t units;
    int threads;
    lz_profile_row *row; /* NULL: no table */
} lz_profile_launch;
struct lz_profile_row {
    lz_profile_launch what;
    _Atomic int64_t calls, ns, least_ns, cpu_ns;
};
/* A profile with room for the launches of a program; NULL when neither output is enabled. */
lz_status lz_profile_of(const lz_plan_exec *g, lz_profile **out);
/* Assigns the launch the next row; none without a profile or when it is full. Rows never move. */
void lz_profile_add(lz_profile *p, lz_profile_launch *l);
/* Whether its time is needed: by the table, or by a running trace. */
static inline bool lz_profile_wanted(const lz_profile_launch *l)
{
    return l->row || lz_timeline_on();
}
/* The launch began at t0 and took ns. timeline_row: the device's; 0: it ran on the calling
 * thread. */
void lz_profile_note(const lz_profile_launch *l, uint32_t timeline_row, int64_t t0, int64_t ns,
                     int64_t cpu_ns);
/* The two halves of lz_profile_add, for backends that learn of them at different times. */
void lz_profile_span(const lz_profile_launch *l, uint32_t timeline_row, int64_t t0, int64_t ns);
void lz_profile_count(const lz_profile_launch *l, int64_t ns, int64_t cpu_ns);
/* Tables are made from now on, also without LAZULI_PROFILE: for lz_profile_each. */
void lz_profile_start(void);
bool lz_profile_on(void); /* or by an option */
/* A launch that has run, of a program that is there or was; what it points to lives as long as the
 * call. */
typedef struct lz_profile_entry {
    uint32_t program, index; /* programs by the order in which they were made */
    const char *name;
    char kernel[9]; /* the first digits of its hash; dashes of a routine */
    uint64_t flops, bytes;
    uint32_t nnode;
    const lz_step_node *nodes;
    int64_t calls, ns, least_ns;
} lz_profile_entry;
void lz_profile_each(void (*fn)(const lz_profile_entry *e, void *user), void *user);
void lz_profile_ran(lz_profile *p); /* counts one run of the program. NULL is fine */
/* Writes the table. It is also written when the process ends. NULL is fine. */
void lz_profile_free(lz_profile *p);
#endif
