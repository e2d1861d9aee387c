/* expand_conv.h - between the files that make products of a convolution. Threads:
 * thread-compatible. */
#ifndef LZ_LOWER_PASSES_EXPAND_CONV_H
#define LZ_LOWER_PASSES_EXPAND_CONV_H
#include "lower/passes/expand_window.h"

typedef struct conv {
    lz_func *f;
    const lz_attr_convolution *a;
    lz_dtype d;
    int ns;                         /* spatial dimensions */
    int64_t batch, groups, in, out; /* of one batch group; features in and out of one group */
    bool batch_groups;
    bool long_windows; /* few long sums: the gradient by a kernel */
    bool lanes;        /* images are what vectors run along */
    lz_window_axis w[LZ_MAX_RANK];
    int64_t ext[LZ_MAX_RANK], count[LZ_MAX_RANK]; /* spatial: input, result */
    /* of a phase (expand_conv_polyphase.c) */
    int64_t phase; /* its number */
    bool others;   /* there are taps that belong to other ones, */
    lz_val zeros;  /* and what these add; LZ_NOVAL: nothing */
} conv;

lz_val lz_windows_zero(lz_func *f, lz_dtype d);
/* x: [batch, spatial.., in]; k: [window.., in, out]. Gives [batch, spatial.., out]. */
lz_val lz_windows_product(const conv *c, lz_val x, lz_val k);

/* expand_conv_polyphase.c */
bool lz_windows_has_phases(const conv *c);
lz_val lz_windows_phases(const conv *c, lz_val x, lz_val k); /* as lz_windows_product */
#endif
