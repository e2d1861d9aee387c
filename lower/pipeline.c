/* pipeline.c - the passes of a compilation, in order, each with the reason for its place. */
#include "lower/pipeline.h"
#include <stddef.h>

const char *const lz_pipeline[] = {
    "dce",        /* first: no pass should look at what nobody needs */
    "fuse_loops", /* before simplify_control makes loops that are alike carry different values */
    "simplify_control",  /* before the others look at what a known branch does */
    "expand_windows",    /* before expand, which looks after the scattered sums it leaves */
    "expand",            /* before simplify, which cleans up what it leaves */
    "simplify",          /* fewer constants to fold, and movement out of the way of products */
    "fold",              /* after simplify has brought constants together */
    "layout",            /* transposes are composed, and what they lead to is known */
    "simplify",          /* folding and layout uncover identities */
    "canonicalize_dots", /* needs transposes gone from the operands */
    "split_reductions",  /* last of the rewriting: it looks at the sizes that are really reduced */
    "simplify",          /* the reshapes and pads of canonicalize_dots and split_reductions */
    "dce",
    NULL,
};
