/* options.h - what the compiler front is told: which buffers may be reused, what the code generator
 * behind it can do, and the machine. Passes, fusion and lz_lower take it as a const pointer.
 * Threads: plain values. */
#ifndef LZ_LOWER_OPTIONS_H
#define LZ_LOWER_OPTIONS_H
#include "lower/machine.h"
#include <stdbool.h>

/* Back-to-back fusion: which dots and reductions are fused through row buffers (loops/loop.h). */
typedef enum lz_b2b_mode {
    LZ_B2B_NEVER,
    LZ_B2B_DOTS,       /* where it pays, around dots only */
    LZ_B2B_PROFITABLE, /* where it pays */
    LZ_B2B_ALWAYS      /* wherever it is possible (tests) */
} lz_b2b_mode;

typedef struct lz_lower_options {
    const bool *donate;    /* by input: its buffer may be written over; NULL: none */
    bool pairwise;         /* only result k may reuse the buffer of argument k */
    lz_b2b_mode b2b;       /* what the code generator has row buffers for */
    int64_t b2b_row_limit; /* longest row buffer that pays, in elements; 0: the default */
    /* one thread of the backend makes whole columns of a column reduction or a long dot, so long
     * ones are split (passes/split_reductions.c) */
    bool column_reductions;
    /* the code generator runs prefix scans, rows in order; else they become reductions of blocks
     * (passes/expand_window_scan.c) */
    bool prefix_scans;
    /* the backend runs routines (routine.h); else the pass `expand` takes their operations
     * apart */
    bool routines;
    /* it is another compiler of StableHLO: what that has an operation for stays, beside random
     * bits, which are the same everywhere (portable.h) */
    bool portable;
    bool native_rng; /* portable: random bits stay, too, and are the other's */
    /* how many run the program together, each on its part, and meet in its collectives; 0: one
     * device runs alone */
    int64_t partitions;
    bool replicas; /* they are replicas of one partition each */
    bool overlap;  /* their collectives go on beside their steps: a plan has starts and dones */
    lz_machine machine;
} lz_lower_options;
#endif
