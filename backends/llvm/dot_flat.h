/* dot_flat.h - between the files of products over several loops of rows, or of sums: see dot_flat.c.   Threads: belongs to one thread. */
#ifndef LZ_BACKENDS_LLVM_DOT_FLAT_H
#define LZ_BACKENDS_LLVM_DOT_FLAT_H
#include "backends/llvm/dot.h"

enum {
    FLAT_ROWS = 8, /* of a tile, at most */
    FLAT_VECS = 4, /* of a panel, at most */
    FLAT_AHEAD =
        16 /* k whose elements of A are fetched, where the rows of a tile lie in one line */
};

typedef struct flat {
    em *e;
    const lz_kernel *k;
    kern c; /* evaluation of the later stages */
    lz_dtype d;
    unsigned L, es, mr, nv, nv_small; /* of a tile: rows, vectors, those of a narrow one */
    uint32_t n;                       /* the loop of columns */
    uint32_t row_loop;                /* a bit per outer loop that is part of the rows */
    const lz_access *a, *b;
    bool shared;     /* shares_rows */
    bool rows_touch; /* rows of A lie side by side, and their k apart */
    /* N is a multiple of the lanes; or is one where B is in place, since masked loads are none of the machine's; the sums are stored as they are */
    bool whole, full, plain;
    Ty elem, vec;
    int64_t kc;
    Val micro[2];
    /* emitted sizes */
    Val M, N, K, batch, row_b; /* row_b: bytes from one row of B to the next */
    Val T, V, P, KB, RB, CB;   /* T, V, P: tiles, vectors, wide panels */
    Val direct;                /* B in place */
    Val wide;                  /* vectors of a unit's columns, at most */
    Val ntable, npack, nblock; /* bytes of a table, of packed B, of a unit's sums */
    Val grid, scratch;         /* what lz_grid and lz_scratch give */
    em_numbers numbers;        /* all but the first five, computed from these */
    Val off_a, step_b;     /* tables by k: bytes from the row's start; bytes to the next row of B */
    Val pack, block, zero; /* parts of the scratch memory; a row of zeros */
    Val rows, index, cur;  /* of a tile: pointers, outer indices; the indices of the next row */
} flat;

/* dot_flat_tile.c: emits a function of these arguments; strides are bytes. ROWS: a pointer per row of A; OFF_A: by k, bytes from there. B: at
 * its first k; STEP_B: bytes to the next one, NEXT_B bytes apart, or 0: the same for all. COLS: columns of B that exist. C gets the whole
 * tile, the sums plus what is at OLD. */
enum tile_arg {
    T_ROWS,
    T_OFF_A,
    T_B,
    T_STEP_B,
    T_NEXT_B,
    T_KC,
    T_C,
    T_C_STRIDE,
    T_OLD,
    T_OLD_STRIDE,
    T_COLS,
    T_ARGS
};
void flat_emit_tile(flat *g, unsigned nv, const char *name, Val *fn);
void flat_call_tile(flat *g, Val narrow, const Val *args);
#endif
