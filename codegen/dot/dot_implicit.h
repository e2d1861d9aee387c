/* dot_implicit.h - between the files of the implicit GEMM: see dot_implicit.c.
 * Threads: belongs to one thread. */
#ifndef LZ_CODEGEN_DOT_DOT_IMPLICIT_H
#define LZ_CODEGEN_DOT_DOT_IMPLICIT_H
#include "codegen/dot/dot.h"

enum {
    IMPLICIT_ROWS = 8, /* of a tile, at most */
    IMPLICIT_VECS = 4, /* of a panel, at most */
    IMPLICIT_AHEAD =
        16 /* k whose elements of A are prefetched, where the rows of a tile share a cache line */
};

/* A loop of rows whose windows may reach padding. The indices whose windows do not are one class,
 * each of the others is one; a region is a class of each such loop. */
typedef struct implicit_region {
    uint32_t loop;
    Val first, past; /* indices without padding: first..past - 1 */
    Val n;           /* classes */
} implicit_region;

typedef struct implicit {
    DOT_BASE;           /* d: of both factors, too */
    unsigned mr;        /* rows of a register tile */
    unsigned nv;        /* vectors of a panel */
    unsigned nv_small;  /* of a narrow one */
    uint32_t row_loop;  /* bit per outer loop that is part of the rows */
    const lz_access *a; /* loads of the factors */
    const lz_access *b;
    bool shared;     /* rows do not know of the matrix they are in (shares_rows) */
    bool rows_touch; /* rows of A are contiguous, k is strided */
    bool whole;      /* N is a multiple of the lanes */
    bool full;       /* it is one where B is in place: there are no masked loads */
    bool plain;      /* the epilogue stores the sums as they are */
    const lz_access
        *padded; /* a or b, whose padding is skipped (dot_implicit_padding.c), or NULL */
    uint8_t order[LZ_LOOP_MAX]; /* of the inner loops in the tables */
    int64_t kc;                 /* bound of a block of K */
    Val micro[2];               /* micro-kernels by [narrow panel] */
    /* emitted sizes */
    Val M, N, K;
    Val batch;          /* points of the other outer loops */
    Val row_b;          /* bytes from one row of B to the next */
    Val T;              /* tiles of rows */
    Val V;              /* vectors of columns */
    Val P;              /* wide panels */
    Val KB, RB, CB;     /* blocks of K, of rows, of columns */
    Val direct;         /* i1: B is read in place */
    Val wide;           /* vectors of a unit's columns, at most */
    Val ntable;         /* bytes of a table, */
    Val npack;          /* of packed B, */
    Val nblock;         /* of a unit's sums */
    Val grid, scratch;  /* what lz_grid and lz_scratch give */
    em_numbers numbers; /* all but the first five, computed from these */
    /* indirection tables, by k */
    Val off_a;  /* bytes from a row's start to A[m, k] */
    Val step_b; /* bytes to the next row of B */
    Val at_b;   /* with padding: bytes to a row of B from the block's first */
    /* skipping padding */
    Val worth;       /* i1: there is enough padding */
    Val k_ranges;    /* of this tile: firsts and ends */
    Val is_finite;   /* i1 in memory: the other factor, as far as it is used now, is finite */
    Val was_checked; /* i1 in memory: all that was checked so far is */
    /* parts of the workspace */
    Val pack;  /* packed B */
    Val block; /* the unit's sums */
    Val zero;  /* a row of zeros */
    /* of a tile */
    Val rows;          /* pointers to its rows of A */
    Val index;         /* outer indices of its rows */
    Val cur;           /* the indices of the next row */
    Val result;        /* where `plain`: bytes to its first row's results, */
    Val result_stride; /* to the next row's; */
    Val result_even;   /* i1: all rows' are so far apart */
    uint32_t nregion;
    Val alike; /* rows whose indices in the loops of regions are the same */
    implicit_region region[LZ_BORDER_MAX];
} implicit;

static inline bool implicit_is_row(const implicit *g, uint32_t l)
{
    return g->row_loop >> l & 1;
}

/* There is one. */
static inline uint32_t implicit_first_row(const implicit *g)
{
    return (uint32_t)__builtin_ctz(g->row_loop);
}

/* dot_implicit_micro.c: emits a function of these arguments; strides are bytes. ROWS: a pointer per
 * row of A; OFF_A: by k, bytes from there. B: at its first k; STEP_B: bytes to the next one, NEXT_B
 * bytes apart, or 0: the same for all. COLS: columns of B that exist. C gets the whole tile, the
 * sums plus what is at OLD. With padding: KC is how many k-ranges there are, K_RANGES their firsts
 * and ends, AT_B says where B is by k, where rows are not at one distance. */
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
    T_K_RANGES,
    T_AT_B,
    T_ARGS
};
void implicit_emit_micro(implicit *g);
void implicit_call_tile(implicit *g, Val narrow, const Val *args);

/* dot_implicit_tables.c: the tables of k0.. (kc of them); what an access has at its first element;
 * B at k0, column vector v, for the batch that is set */
void implicit_fill_tables(implicit *g, Val k0, Val kc);
Val implicit_base(implicit *g, const lz_access *a);
Val implicit_b_at(implicit *g, Val k0, Val v);
Val implicit_part(em *e, Val a, Val b, Val n); /* ceil(a / b), and from 0 to n */

/* dot_implicit_rows.c: memory for it; row r is the next; nrows of a tile, then the last again; the
 * outer indices of one, and where one is kept */
void implicit_place_rows(implicit *g);
void implicit_start_rows(implicit *g, Val r);
void implicit_next_rows(implicit *g, Val nrows);
void implicit_load_indices(implicit *g, Val row);
Val implicit_index_at(implicit *g, Val i, uint32_t l);

/* dot_implicit_padding.c; what is said of borders does nothing without them */
void implicit_choose_padding(implicit *g); /* and the order of the inner loops */
void implicit_place_k_ranges(implicit *g);
/* The largest magnitudes of what is packed, where that has to be known: of nothing, or NULL; with
 * x; at last. */
Val implicit_least(implicit *g);
Val implicit_larger(implicit *g, Val so_far, Val x);
void implicit_finite_where(implicit *g, Val largest);
/* B in place, k0.. (kc of them, block kn), and A. first: for the first of the units that are run
 * one after the other. */
void implicit_check_finite_b(implicit *g, Val first, Val k0, Val kc, Val kn);
void implicit_check_finite_a(implicit *g);
/* The k-ranges in k0.. (kc of them) for the tile's rows and nv vectors of columns from v; gives how
 * many, at least one. Then the arguments that say so. */
Val implicit_list_k_ranges(implicit *g, Val v, unsigned nv, Val k0, Val kc);
void implicit_pass_k_ranges(const implicit *g, Val nranges, Val *args);
#endif
