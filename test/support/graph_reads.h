/* graph_reads.h - what a pending graph reads of a value. */
#ifndef LZ_TEST_GRAPH_READS_H
#define LZ_TEST_GRAPH_READS_H
#include "suite.h"
#include <lazuli/lazuli.h>
#include <stdio.h>
#include <string.h>

/* How often the result of the one operation of that name is read in the pending graph of g. */
static inline int reads_of(lz_tensor *g, const char *op)
{
    static char text[1 << 16];
    char name[32];
    int n = -1; /* where it is made */
    size_t len = lz_dump_graph(&g, 1, "stablehlo", text, sizeof text);
    ck_assert(len > 0 && len < sizeof text);
    const char *at = strstr(text, op);
    ck_assert_msg(at && !strstr(at + 1, op), "%s", text);
    while (at > text && at[-1] != '\n')
        at--;
    ck_assert_int_eq(sscanf(at, " %31s =", name), 1);
    size_t w = strlen(name);
    for (const char *p = text; (p = strstr(p, name)); p += w)
        n += !(p[w] >= '0' && p[w] <= '9');
    return n;
}
#endif
