/* graph.h - between the files of `lazuli graph`: a program and its plan, as data, as a page and as
 * a DOT graph. */
#ifndef LZ_TOOLS_LAZULI_GRAPH_H
#define LZ_TOOLS_LAZULI_GRAPH_H
#include "backends/cpu/cpu_limits.h"
#include "base/hash.h"
#include "lower/plan/plan.h"

/* What a profile has of a launch; in the order of the plan, what its steps run before what follows
 * them. */
typedef struct graph_launch {
    const lz_step *step;
    bool top;            /* a step of the plan itself, not of a region */
    char kernel[9];      /* the first digits of its hash; dashes of a routine */
    int64_t calls;       /* 0: not measured */
    double ns, least_ns; /* of a call */
} graph_launch;

typedef struct graph {
    const char *source; /* the file, or the hash that was asked for */
    lz_func *f;
    lz_plan *plan;
    lz_cpu_limits limits; /* zeros: not known */
    LZ_VEC(graph_launch) launches;
    lz_map launch_of; /* number + 1, by step */
    bool measured;
} graph;

/* graph_profile.c: finds the launches of the plan. LZ_EMEM */
lz_status graph_find_launches(graph *g);
void graph_free_launches(graph *g);
/* Gives launches what a report of `lazuli profile --json` has of this program, and its limits; and
 * the costliest node of a step, where nothing is known of it, the line and the scope that the
 * report names: of a program in the cache. LZ_EPARSE; LZ_ENOENT: the report has nothing of it;
 * LZ_EMEM. */
lz_status graph_read_profile(graph *g, const char *text, size_t n, const char *name);
/* NULL: a step that is no launch. */
const graph_launch *graph_launch_of(const graph *g, const lz_step *s);
/* What a launch of it takes at best, by the limits; 0: they are not known. Nanoseconds. */
double graph_estimate(const graph *g, const lz_step *s);

/* graph_data.c, whose comments say what is in it. */
void graph_put_json(const graph *g, lz_buf *out);
/* graph_page.c */
void graph_put_page(const graph *g, lz_buf *out);
/* graph_dot.c: a node for each step, in clusters by name scope. */
void graph_put_dot(const graph *g, lz_buf *out);
#endif
