/* graph_reads.h - what a pending graph reads of a value. */
#ifndef LZ_TEST_GRAPH_READS_H
#define LZ_TEST_GRAPH_READS_H
#include "suite.h"
#include <lazuli/lazuli.h>
#include <stdio.h>
#include <string.h>

/* How often operations `by` (NULL: any) read the result of the one operation `op` in the pending
 * graph of g. */
static inline int reads_by(lz_tensor *g, const char *op, const char *by)
{
    static char text[1 << 16];
    char name[32];
    size_t len = lz_dump_graph(&g, 1, "stablehlo", text, sizeof text);
    ck_assert(len > 0 && len < sizeof text);
    const char *at = strstr(text, op);
    ck_assert_msg(at && !strstr(at + 1, op), "%s", text);
    while (at > text && at[-1] != '\n')
        at--;
    ck_assert_int_eq(sscanf(at, " %31s =", name), 1);
    size_t w = strlen(name);
    int n = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        const char *eq = strchr(line, '=');
        for (const char *p = eq && (!by || strstr(line, by)) ? eq : NULL;
             p && (p = strstr(p, name)); p += w)
            n += !(p[w] >= '0' && p[w] <= '9');
    }
    return n;
}

static inline int reads_of(lz_tensor *g, const char *op)
{
    return reads_by(g, op, NULL);
}
#endif
