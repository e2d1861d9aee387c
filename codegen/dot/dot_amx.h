/* dot_amx.h - between the files of the GEMM on AMX tiles: see dot_amx.c.
 * Threads: belongs to one thread. */
#ifndef LZ_CODEGEN_DOT_DOT_AMX_H
#define LZ_CODEGEN_DOT_DOT_AMX_H
#include "codegen/dot/dot.h"

enum {
    AMX_SIDE = 16,                   /* rows of a tile, and words of a row */
    AMX_LINE = 64,                   /* bytes of a row */
    AMX_TILE = AMX_SIDE * AMX_LINE,  /* bytes of a tile */
    AMX_ROWS = 2 * AMX_SIDE,         /* of C in a register tile: two tiles */
    AMX_A_STEP = AMX_ROWS * AMX_LINE /* bytes of packed A that a step reads */
};

/* What A or B is packed from. */
typedef struct amx_factor {
    kern f;
    int32_t sop;           /* bf16 or bytes, which are converted to the type of the sums */
    uint32_t loop;         /* of its rows or columns */
    bool along_k;          /* vectors run along k; else along `loop` */
    const lz_access *load; /* words are memory as it is, contiguous there; NULL: values */
} amx_factor;

typedef struct amx {
    DOT_BASE;           /* L words of es bytes are a row of a tile */
    uint32_t m, kd, ki; /* loops: as in dot.h */
    Ty word;            /* a vector of words */
    unsigned words;     /* log2 of how many k a word has: 1 bf16, 2 bytes */
    unsigned nv;        /* tiles of columns beside each other: 2, or 1 where that is all */
    bool a_signed, b_signed;
    bool same_b;    /* of all matrices */
    int64_t kc, mc; /* bounds of a block: steps of k, tiles of rows */
    amx_factor a, b;
    Val micro[2]; /* of two tiles of rows, of one */
    /* emitted sizes */
    Val M, N, K, KO, batch;
    Val KS, T, P;       /* steps of the last inner loop, tiles of rows, panels of columns */
    Val RB, CB, KN, KB; /* blocks of rows, of columns, of the last inner loop, of all of K */
    Val keep;           /* i1: all blocks of K of a unit's columns stay packed */
    Val wide;           /* panels of a unit, at most */
    Val npack_b;        /* bytes */
    Val grid, scratch;  /* what lz_grid and lz_scratch give */
    em_numbers numbers; /* all but the first five, computed from these */
    /* parts of the workspace: packed B, packed A of a tile of rows, two tiles that are finished,
     * the sums of a unit between blocks of K */
    Val pack_b, pack_a, tile, block;
} amx;

/* A unit of the work partition: rows, panels of columns; B is packed already. */
typedef struct amx_unit {
    Val r0, r1, p0, p1, packed;
} amx_unit;

/* dot_amx_micro.c: emits functions of these arguments; strides are bytes. Rows of A are A_STRIDE
 * apart, steps A_STEPS. FROM: where the sums begin, NULL: at zero. Sums are rows of the register
 * tile, one after the other. */
enum amx_arg { AMX_A, AMX_A_STRIDE, AMX_A_STEPS, AMX_B, AMX_STEPS, AMX_FROM, AMX_TO, AMX_ARGS };
void amx_emit_micro(amx *g);
void amx_call_micro(amx *g, Val low, const Val *args); /* low: one tile of rows */
/* Emits what they do, of mt tiles of rows, here. beside: code that each step has with it, NULL:
 * none. */
void amx_tile(amx *g, unsigned mt, const Val *args, void (*beside)(amx *g, Val step, void *user),
              void *user);
void amx_configure(amx *g); /* at the start of a run: the tiles */
void amx_release(amx *g);   /* at its end */

/* dot_amx_pack.c: steps s0.. (ss of them), which begin on whole steps of K; what is beyond K is
 * zero. */
void amx_pack_b(amx *g, const amx_unit *w, Val s0, Val ss, Val out);
void amx_pack_a(amx *g, Val r, Val nrows, Val s0, Val ss);
uint32_t amx_fixed_loops(const amx *g);        /* a bit per loop that a unit and a block of K fix */
void amx_share_indices(const amx *g, kern *f); /* of those loops */
#endif
