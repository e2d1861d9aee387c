/* simt_dot.h - between the files of the GEMM kernels: configuration, operands, who does what.
 *
 * A block makes a tile of tm x tn of the result. K goes by k-tiles of kt through a multistage
 * buffer in shared memory: while k-tile i is multiplied, the loads (cp.async) of k-tile i + stages
 * - 1 are in flight.
 *
 * - configuration: simt_dot_config.c (instruction, tiles, stages; what suits TMA)
 * - tile size and split-K: decided by the cost model of simt_dot_cost.c
 * - tiles, k-tiles: simt_dot_index.c (rasterization, convolution rows, slices of K)
 * - tile loads: simt_dot_load.c; by TMA simt_dot_tma.c, tensor maps simt_tensor_map.c
 * - main loop: simt_dot.c for mma.sync and wgmma; simt_dot_mainloop_{fma,tf32}.c; the
 *   warp-specialized one with TMA simt_dot_tma.c
 * - MMA: simt_wgmma.c (warpgroup), simt_mma.c (mma.sync, ldmatrix, cp.async)
 * - accumulators: simt_dot_acc.c (fragments to and from shared memory)
 * - epilogue: simt_dot_epilogue.c (the kernel's later stages, from shared memory)
 * - split-K: simt_dot_workspace.c (partial tiles), simt_dot_split_k.c (the second kernel)
 *
 * Shared memory: rows run along k (rows_k) or along the result, in chunks of 16 bytes; chunk c of
 * row r is at c xor swizzle(r), so that what a warp reads at once is in different banks.
 * Implicit GEMM: rows of tiles are those of loop m, or of several outer loops that B does not
 * depend on (convolutions: all points of all images). Warp specialization: with TMA, one thread of
 * a producer warpgroup requests boxes as soon as a stage is free and runs ahead into the next tile,
 * while the consumer warpgroups multiply and run the epilogue. mbarriers tell of full and of empty
 * stages. Threads: belongs to one thread. */
#ifndef LZ_CODEGEN_GPU_SIMT_DOT_H
#define LZ_CODEGEN_GPU_SIMT_DOT_H
#include "codegen/gpu/simt_kern.h"

enum {
    GEMM_CHUNK = 16,
    GEMM_DOWN = 2,    /* rows of warps */
    GEMM_COPIES = 16, /* that a thread copies of a factor's k-tile, at most */
    GEMM_FRAGS = 8,
    GEMM_ACC = 128,   /* of a thread, at most */
    GEMM_BARRIER = 8, /* bytes */
    GEMM_SKEW = 32,   /* bytes that rows of a skewed factor are further on, every chunk of k */
    GEMM_WARPGROUP = 4 * SIMT_WARP,
    GEMM_ROW = 128,     /* bytes of a row of shared memory that a warpgroup reads */
    GEMM_TMA_ROWS = 128 /* rows along k that are copied at once */
};

/* The configuration of a GEMM kernel. */
typedef struct gemm_shape {
    const simt_mma *mma; /* mma.sync; NULL: fused multiply-adds of single threads */
    bool wgmma;          /* warpgroup MMA, operands from shared memory */
    bool tma;            /* TMA loads by a producer warpgroup */
    bool rs;             /* but the left operand from registers: it is contiguous along the result,
                            which wgmma cannot read of 32-bit elements */
    bool swap_ab;        /* wgmma makes the transposed tile: its left operand is B */
    lz_dtype d;          /* of the factors in shared memory */
    unsigned es;         /* bytes of it */
    unsigned tm, tn;     /* block tile: rows, columns */
    unsigned kt;         /* k-tile */
    unsigned stages;     /* of the multistage buffer */
    unsigned threads;    /* that multiply */
    unsigned block;      /* threads of a block */
    unsigned sn;         /* columns of the tile that the epilogue takes at a time */
    unsigned wm, wn;     /* warp tile: rows, columns; wgmma: of the instruction's */
    unsigned rate;       /* multiply-adds in a clock of a multiprocessor, about */
} gemm_shape;
/* simt_dot_config.c: a function of the canonical kernel and the target. */
/* The factors are rounded to tf32 on their way to shared memory. */
bool gemm_rounds_to_tf32(const gemm_shape *p);
void gemm_shape_of(const lz_kernel *k, const lz_target *t, lz_simt_entry entry, gemm_shape *p);
/* The op that gives factor `sop` as shared memory holds it: the factor, or what it is converted
 * from. */
int32_t gemm_source(const lz_kernel *k, int32_t sop, lz_dtype d);
/* The same of factor i (0: A, 1: B), and the loop of the result that it has. */
int32_t gemm_source_of(const lz_kernel *k, const lz_target *t, int i, uint32_t *loop);
uint32_t gemm_factor_bytes(const gemm_shape *p, unsigned x); /* of a k-tile of it */
uint32_t gemm_stage_bytes(const gemm_shape *p);
uint32_t gemm_shared_bytes(const gemm_shape *p, unsigned esize); /* esize: of the sums */
uint32_t gemm_acc_at(const gemm_shape *p);                       /* byte of shared memory */
uint32_t gemm_barriers_at(const gemm_shape *p, unsigned esize);
/* simt_tensor_map.c: whether tensor maps can describe the layout of both operands, and what these
 * are; false: not with these sizes. */
bool gemm_tma_suits(const lz_kernel *k, const lz_target *t);
bool gemm_tensor_maps(const lz_kernel *k, const lz_target *t, const int64_t *args,
                      lz_simt_map map[2]);
/* The loops (outer ones first, then inner ones) whose indices are the coordinates of a factor that
 * is the load `source` and has loop `loop` of the result; how many, SIMT_MAP_RANK at most. 0: a map
 * cannot describe it. */
uint32_t gemm_tensor_map_loops(const lz_kernel *k, int32_t source, uint32_t loop, uint32_t *out);
/* Elements of a TMA box along its first two coordinates; rows_k: the first one is k. */
void gemm_tma_box(const gemm_shape *p, bool rows_k, uint32_t box[2]);

/* An operand, A or B. */
typedef struct gemm_factor {
    kern one;               /* evaluation of an element */
    kern many;              /* of the elements of a 16-byte chunk, where `vectors` */
    bool vectors;           /* some chunks can be evaluated as vectors */
    uint32_t loop;          /* along the result: m or n */
    uint32_t fixed;         /* bit per loop whose index is the same for a whole tile */
    int32_t sop;            /* the scalar op that is evaluated for shared memory */
    unsigned x;             /* tm or tn */
    unsigned first;         /* byte of a stage where it starts */
    bool by_k;              /* its loads are contiguous along k, not along the result */
    bool rows_k;            /* rows of shared memory run along k */
    bool swizzled;          /* chunks of these rows are swizzled */
    bool skewed;            /* instead: elements of a chunk of k are stored one below the other */
    bool transposed;        /* chunks are read as they are, and stored across rows */
    const lz_access *plain; /* it is a load of this */
    bool copied;            /* by cp.async, without passing through registers */
    Val aligned;            /* i1: chunks of it start at multiples of their size */
    Val x0;                 /* of the tile */
    Val X;                  /* extent along the result */
    /* What a thread copies of a k-tile. */
    unsigned nparts; /* copies, */
    unsigned width;  /* of so many bytes, */
    unsigned apart;  /* so many rows from one to the next: along the result for x_rows, else k */
    bool x_rows;
    Val from;                    /* address of the first one, in the tile's first k-tile */
    Val step;                    /* bytes to the next */
    Val each[GEMM_COPIES];       /* in place of these, where rows are of several loops */
    Val k;                       /* of the first one in its k-tile */
    Val k_tile;                  /* bytes from the first k-tile to this one; NULL: not known */
    Val bytes;                   /* of each that exist along the result; x_rows: */
    Val row_exists[GEMM_COPIES]; /* i1 */
    Val to[GEMM_COPIES];         /* place in a stage */
    Val exists;                  /* i1: this thread copies something; NULL: every thread does */
    Val frag[4][GEMM_FRAGS];     /* where a lane's fragments are: by step of k and rows */
} gemm_factor;

typedef struct gemm {
    simt *s;
    em *e;
    const lz_kernel *k;
    gemm_shape p;
    lz_dtype acc;   /* of the accumulators */
    Ty elem;        /* its type, */
    unsigned esize; /* bytes */
    uint32_t m, n;  /* loops of the result */
    uint32_t ki;    /* the last inner loop */
    uint32_t rows;  /* the first loop that rows of tiles are of; m: no other */
    gemm_factor a, b;
    kern c;         /* the epilogue by points, */
    kern cv;        /* and in vectors of `lanes` columns */
    unsigned lanes; /* 0: not in vectors */
    Val M, N, K;
    /* split-K */
    bool split_k;  /* K may be split */
    Val nslices;   /* into so many slices */
    Val first_row; /* row of the workspace that the tile's matrix starts at */
    Val k_tile;    /* number of the one that is loaded, where the inner indices are not set */
    /* of the thread */
    Val lane;
    Val down, across;     /* place of its warp (or warpgroup) in the tile */
    Val epilogue_aligned; /* i1: vectors of the epilogue start at multiples of their size */
} gemm;

/* simt_dot_load.c */
lz_status gemm_factor_init(gemm *t, gemm_factor *f, uint32_t loop, int32_t sop);
void gemm_factor_top(gemm *t, gemm_factor *f);  /* once per call */
void gemm_factor_tile(gemm *t, gemm_factor *f); /* once per tile, after x0 and the outer indices */
/* The k-tile from k0 into the stage that starts at byte `stage`; the inner indices are set. */
void gemm_load_tile(gemm *t, gemm_factor *f, Val k0, Val stage);
/* Bytes from the first k-tile's elements to those from k0 on; the inner indices are set. */
Val gemm_k_tile_offset(gemm *t, const gemm_factor *f, Val k0);
/* Byte of chunk `chunk` of row `row` in the factor's part of a stage. */
Val gemm_place(gemm *t, const gemm_factor *f, Val row, Val chunk);
Val gemm_place_element(gemm *t, const gemm_factor *f, Val x, Val k);
/* Whether chunks are copied as they are, given that they are aligned. */
bool gemm_copies_chunks(const gemm *t, const gemm_factor *f);
Val gemm_start(gemm *t,
               const gemm_factor *f); /* of the load in this tile, without the inner loops */
Val gemm_offset(gemm *t, const gemm_factor *f, uint32_t d, Val i); /* bytes to index i of loop d */

Val gemm_round_to_tf32(gemm *t, Val v); /* each element, if the factors are rounded so */

/* simt_dot_mainloop_tf32.c: the main loop of wgmma that rounds f32 to tf32; whether it may be used,
 * and with these sizes. */
bool gemm_tf32_mainloop_suits(const gemm *t);
Val gemm_tf32_mainloop_here(gemm *t);
void gemm_tf32_mainloop(gemm *t, Val first, Val end, Val *sum);

/* simt_dot_mainloop_fma.c: the FMA main loop; whether both operands are whole chunks, and are with
 * these sizes. */
bool gemm_fma_mainloop_suits(const gemm *t);
Val gemm_fma_mainloop_here(gemm *t);
void gemm_fma_mainloop(gemm *t, Val first, Val end, Val *sum); /* k-tiles first..end - 1 */

/* simt_wgmma.c */
Val gemm_warpgroup(gemm *t); /* number of the thread's warpgroup in the block */
Val gemm_wgmma_place(gemm *t, const gemm_factor *f, Val row, Val chunk);
/* Starts to add the products of the k-tile at `stage`, or of one of its k-blocks, one after the
 * other along k; the sums are there after the wait. */
unsigned gemm_wgmma_k_blocks(const gemm_shape *p);
void gemm_wgmma_multiply(gemm *t, Val stage, unsigned k_block, Val *sum);
void gemm_wgmma_wait(gemm *t, Val *sum, unsigned left); /* for all but `left` k-blocks */
/* Row of the warpgroup's 64 that this lane's sums 4 i and 4 i + 1 have; half: 4 i + 2, 4 i + 3. */
Val gemm_wgmma_row(gemm *t, unsigned half);

/* simt_dot_tma.c */
void gemm_tma_body(gemm *t); /* the body of SIMT_TMA */

/* simt_dot_index.c: tile after tile of a block, its slice of K, once the outer indices are set.
 * `before` is what the tile before it gave, 0 at first. */
typedef Val gemm_body(gemm *t, Val slice, Val before);
void gemm_each(gemm *t, gemm_body *body);
Val gemm_all_rows(gemm *t); /* of tiles, in a matrix */
/* K-tiles of a slice of K: first..end - 1; all of them without split-K. */
void gemm_k_tiles_of_slice(gemm *t, Val slice, Val *first, Val *end);
Val gemm_next_stage(gemm *t, Val stage);
Val gemm_locate_k_tile(gemm *t, Val k_tile); /* sets the inner indices; where it starts along k */

bool gemm_many_rows(const gemm *t, const gemm_factor *f); /* its rows are of several loops */
/* Indices of the loops that row r stands for. */
void gemm_row_indices(gemm *t, Val r, Val *oidx);

/* simt_dot_acc.c */
static inline unsigned gemm_nacc(const gemm *t)
{
    const simt_mma *op = t->p.mma;
    if (t->p.wgmma)
        return t->p.wn / 2;
    return op ? t->p.wm / op->m * (t->p.wn / op->n) * op->nc : t->p.wm * t->p.wn / SIMT_WARP;
}
void gemm_acc_top(gemm *t); /* once per call: where lanes read */
void gemm_acc_add(gemm *t, Val stage, Val *sum);
/* By single threads: what a thread reads of row k of the k-tile at `stage`; their products. */
void gemm_fma_load(gemm *t, Val stage, unsigned k, Val *a, Val *b);
void gemm_fma_add(gemm *t, const Val *a, const Val *b, Val *sum);
/* Those sums to shared memory, rows of gemm_acc_pitch bytes; of the warps in one row, columns
 * part * sn and on; swap_ab: of all, rows part * wm and on. */
void gemm_acc_to_shared(gemm *t, const Val *sum, unsigned part);
unsigned gemm_acc_pitch(const gemm_shape *p, unsigned esize);

/* simt_dot_epilogue.c: the later stages of a tile */
void gemm_epilogue_plan(gemm *t);
unsigned gemm_epilogue_lanes(const lz_kernel *k); /* columns a thread takes at most at once */
void gemm_epilogue(gemm *t, Val m0, Val n0, const Val *sum);
void gemm_epilogue_top(gemm *t); /* in every function, before: */
/* The later stages on n sums from (row, column) on, of which those run that are in the result;
 * `sums` gives m of them, the first one at byte `at` of what it reads from. */
typedef Val gemm_read(gemm *t, Val at, unsigned m);
void gemm_epilogue_at(gemm *t, Val row, Val column, Val at, gemm_read *sums);

/* simt_dot_workspace.c: split-K */
unsigned gemm_workspace_chunk(const gemm *t); /* sums in 16 bytes */
Val gemm_workspace_matrices(gemm *t);
Val gemm_workspace_at(gemm *t, Val row, Val column);    /* byte of a column of a row of it */
Val gemm_workspace_row(gemm *t, Val slice, Val matrix); /* first_row */
/* Sums of `rows` rows from m0 on, in shared memory, to scratch memory. */
void gemm_workspace_store(gemm *t, unsigned rows, Val m0, Val n0);
/* simt_dot_split_k.c */
void gemm_split_k_reduce(gemm *t); /* the body of SIMT_FINAL */
#endif
