/* simt_dot.h - between the files that make a matrix product for many threads: its shape, its
 * factors, and who does which part.
 *
 * A block of threads makes a tile of tm x tn results. The factors come through shared memory, kt of
 * k at a time, in a ring of `stages` pieces that are filled ahead: the copies of piece i + stages -
 * 1 are under way while piece i is multiplied. Two rows of warps divide a tile's rows, the others
 * its columns. Sums are made by groups of four warps from shared memory (simt_wgmma.c), by the
 * instructions that multiply small matrices (mma.sync) where the factors have a type these know,
 * otherwise by multiply-adds of single threads; the later stages read them from shared memory,
 * where neighbours lie side by side. Rows of shared memory run along k (rows_k; k is contiguous) or
 * along the result. They are chunks of 16 bytes; chunk c of row r lies at c xor swizzle(r), so that
 * what a warp reads at once lies in different banks. Rows of tiles are those of the loop m, or of
 * several outer loops, the last of which is m: of those that the right factor does not depend on
 * (convolutions, whose rows are all points of all images). Row r stands for the r-th point of them.
 * Where tiles are few, k is divided: a block makes the sums of a tile over one part of k and leaves
 * them in scratch memory, rows as they are in the result; a second function adds the parts, in
 * order, and goes on from there. Where the factors lie as tensor maps can describe them, the device
 * copies boxes of them by itself (simt_dot_tma.c): one thread of a further group asks for them as
 * soon as a stage is free, and goes on to the next tile while the others finish theirs. Barriers in
 * shared memory tell of full and of empty stages.
 * Threads: belongs to one thread. */
#ifndef LZ_CODEGEN_GPU_SIMT_DOT_H
#define LZ_CODEGEN_GPU_SIMT_DOT_H
#include "codegen/gpu/simt_kern.h"

enum {
    GEMM_CHUNK = 16,
    GEMM_DOWN = 2,   /* rows of warps */
    GEMM_PARTS = 16, /* that a thread copies of a factor's piece, at most */
    GEMM_FRAGS = 8,
    GEMM_SUMS = 128,  /* of a thread, at most */
    GEMM_BARRIER = 8, /* bytes */
    GEMM_SKEW = 32,   /* bytes that rows of a skewed factor are further on, every chunk of k */
    GEMM_GROUP_THREADS = 4 * SIMT_WARP,
    GEMM_ROW = 128, /* bytes of a row of shared memory that a group reads */
    GEMM_BOX = 128  /* rows along k that are copied at once */
};

typedef struct gemm_shape {
    const simt_mma *mma; /* NULL: multiply-adds of single threads */
    bool groups;         /* groups of warps multiply, from shared memory */
    lz_dtype d;          /* of the factors in shared memory */
    unsigned es;         /* bytes of it */
    bool bulk;           /* boxes of the factors are copied by the device itself */
    unsigned tm, tn, kt, stages;
    unsigned threads, block; /* that multiply; of a block */
    unsigned sn;             /* columns whose sums are in shared memory at a time */
    unsigned wm, wn;         /* of a warp */
    unsigned rate;           /* multiply-adds in a clock of a multiprocessor, about */
} gemm_shape;
/* simt_dot_config.c: a function of the canonical kernel and the target. */
/* The factors are rounded to tf32 on their way to shared memory. */
bool gemm_rounds(const gemm_shape *p);
void gemm_shape_of(const lz_kernel *k, const lz_target *t, lz_simt_entry entry, gemm_shape *p);
/* The op that gives factor `sop` as shared memory holds it: the factor, or what it is converted
 * from. */
int32_t gemm_source(const lz_kernel *k, int32_t sop, lz_dtype d);
/* The same of factor i (0: A, 1: B), and the loop of the result that it has. */
int32_t gemm_source_of(const lz_kernel *k, const lz_target *t, int i, uint32_t *loop);
uint32_t gemm_factor_bytes(const gemm_shape *p, unsigned x); /* of a piece of it */
uint32_t gemm_stage_bytes(const gemm_shape *p);
uint32_t gemm_shared_bytes(const gemm_shape *p, unsigned esize); /* esize: of the sums */
uint32_t gemm_sums_at(const gemm_shape *p);                      /* byte of shared memory */
uint32_t gemm_barriers_at(const gemm_shape *p, unsigned esize);
/* simt_tensor_map.c: whether both factors lie as tensor maps may describe them, and what these are;
 * false: not with these sizes. */
bool gemm_boxes_suit(const lz_kernel *k, const lz_target *t);
bool gemm_maps_of(const lz_kernel *k, const lz_target *t, const int64_t *args, lz_simt_map map[2]);
/* The loops (outer ones first, then inner ones) whose indices are the coordinates of a factor that
 * is the load `source` and has loop `loop` of the result; how many, SIMT_MAP_RANK at most. 0: a map
 * cannot describe it. */
uint32_t gemm_map_loops(const lz_kernel *k, int32_t source, uint32_t loop, uint32_t *out);
/* Elements of a box along its first two coordinates; rows_k: the first one is k. */
void gemm_box_of(const gemm_shape *p, bool rows_k, uint32_t box[2]);

typedef struct gemm_factor {
    kern one, many; /* evaluation of an element; of the elements of a chunk, where vectors are */
    bool vectors;   /* some chunks can be evaluated as vectors */
    uint32_t loop;  /* along the result */
    uint32_t fixed; /* loops whose index is the same for a whole tile: a bit each */
    int32_t sop;    /* evaluated for shared memory */
    unsigned x;     /* tm or tn */
    unsigned first; /* byte of a stage where it starts */
    bool by_k;      /* its loads are contiguous along k, not along the result */
    bool rows_k;    /* rows of shared memory run along k */
    bool swizzled;
    bool skewed;            /* instead: elements of a chunk of k are stored one below the other */
    bool turned;            /* chunks of it can be read as they lie, and are stored across rows */
    const lz_access *plain; /* it is a load of this */
    bool copied;            /* without passing through registers */
    Val aligned;            /* chunks of it lie at multiples of their size */
    Val x0, X;              /* of the tile; extent */
    /* What a thread copies of a piece: nparts parts of `width` bytes, `apart` rows (along the
     * result for x_rows, otherwise along k) from one to the next. */
    unsigned nparts, width, apart;
    bool x_rows;
    Val from, step;       /* of the first one, in the tile's first piece; bytes to the next */
    Val each[GEMM_PARTS]; /* in place of these, where rows are of several loops */
    Val k;                /* of the first one in its piece */
    Val piece; /* bytes from the first piece to the one that is copied; NULL: not known */
    Val bytes; /* of each that exist along the result; x_rows: */
    Val row_exists[GEMM_PARTS];
    Val to[GEMM_PARTS];      /* place in a stage */
    Val exists;              /* NULL: every thread has its parts; otherwise whether this one has */
    Val frag[4][GEMM_FRAGS]; /* what a lane reads: per step of k and group of rows */
} gemm_factor;

typedef struct gemm {
    simt *s;
    em *e;
    const lz_kernel *k;
    gemm_shape p;
    lz_dtype acc; /* of the sums */
    Ty elem;
    unsigned esize;
    uint32_t m, n, ki; /* loops; ki: the last inner one */
    uint32_t rows;     /* the first of those that rows of tiles are of; m: no other */
    gemm_factor a, b;
    kern c,
        cv; /* the later stages: by points, and in vectors of `lanes` columns (0: there is none) */
    unsigned lanes;
    Val M, N, K;
    /* Where k may be divided: parts; and the row of scratch memory that the tile's matrix has its
     * first one at. */
    bool divided;
    Val nparts, first_row;
    Val piece; /* number of the one that is copied, where the inner indices are not set */
    Val lane, down, across; /* of the thread: its lane, the place of its warp in the tile */
    Val finish_aligned;
} gemm;

/* simt_dot_load.c */
lz_status gemm_factor_init(gemm *t, gemm_factor *f, uint32_t loop, int32_t sop);
void gemm_factor_top(gemm *t, gemm_factor *f);  /* once per call */
void gemm_factor_tile(gemm *t, gemm_factor *f); /* once per tile, after x0 and the outer indices */
/* Piece of k from k0 into the stage that starts at byte `slot`; the inner indices are set. */
void gemm_fill(gemm *t, gemm_factor *f, Val k0, Val slot);
/* Bytes from the first piece's elements to those from k0 on; the inner indices are set. */
Val gemm_piece_offset(gemm *t, const gemm_factor *f, Val k0);
/* Byte of chunk `chunk` of row `row` in the factor's part of a stage. */
Val gemm_place(gemm *t, const gemm_factor *f, Val row, Val chunk);
Val gemm_place_element(gemm *t, const gemm_factor *f, Val x, Val k);
/* Whether chunks are copied as they are, given that they are aligned. */
bool gemm_copies_chunks(const gemm *t, const gemm_factor *f);
Val gemm_start(gemm *t,
               const gemm_factor *f); /* of the load in this tile, without the inner loops */
Val gemm_offset(gemm *t, const gemm_factor *f, uint32_t d, Val i); /* bytes to index i of loop d */

Val gemm_round(gemm *t, Val v); /* each element, if the factors are rounded so */

/* simt_dot_mainloop_tf32.c: the same by groups, of tf32. */
bool gemm_rounded_suits(const gemm *t);
Val gemm_rounded_now(gemm *t);
void gemm_rounded_add(gemm *t, Val first, Val end, Val *sum);

/* simt_dot_mainloop_fma.c: what single threads add where both factors are chunks as they stand;
 * whether they are with these sizes. */
bool gemm_steady_suits(const gemm *t);
Val gemm_steady_now(gemm *t);
void gemm_steady_add(gemm *t, Val first, Val end, Val *sum); /* pieces first to end - 1 */

/* simt_wgmma.c */
Val gemm_group(gemm *t); /* number of the thread's group in the block */
Val gemm_groups_place(gemm *t, const gemm_factor *f, Val row, Val chunk);
void gemm_groups_fence(gemm *t); /* what was written before is seen by the multiplications */
/* Starts to add the products of the piece at `slot`; the sums are there after the wait. */
void gemm_groups_multiply(gemm *t, Val slot, Val *sum);
void gemm_groups_wait(gemm *t, Val *sum, unsigned left); /* for all but `left` flash */

/* simt_dot_tma.c */
void gemm_emit_bulk(gemm *t); /* the body of SIMT_BULK */

/* simt_dot_index.c: tile after tile of a block, its part of k, once the outer indices are set.
 * `before` is what the tile before it gave, 0 at first. */
typedef Val gemm_body(gemm *t, Val part, Val before);
void gemm_each(gemm *t, gemm_body *body);
Val gemm_all_rows(gemm *t); /* of tiles, in a matrix */
/* Pieces of a part of k: first to end - 1; those of all of it where it is not divided. */
void gemm_pieces_of_part(gemm *t, Val part, Val *first, Val *end);
Val gemm_next_slot(gemm *t, Val slot);
Val gemm_locate_piece(gemm *t, Val piece); /* sets the inner indices; where it starts along k */

bool gemm_many_rows(const gemm *t, const gemm_factor *f); /* its rows are of several loops */
/* Indices of the loops that row r stands for. */
void gemm_row_indices(gemm *t, Val r, Val *oidx);

/* simt_dot_acc.c */
static inline unsigned gemm_nsums(const gemm *t)
{
    const simt_mma *op = t->p.mma;
    if (t->p.groups)
        return t->p.tn / 2;
    return op ? t->p.wm / op->m * (t->p.wn / op->n) * op->nc : t->p.wm * t->p.wn / SIMT_WARP;
}
void gemm_sums_top(gemm *t); /* once per call: where lanes read */
void gemm_sums_add(gemm *t, Val slot, Val *sum);
/* By single threads: what a thread reads of row k of the piece at `slot`; their products. */
void gemm_single_load(gemm *t, Val slot, unsigned k, Val *a, Val *b);
void gemm_single_add(gemm *t, const Val *a, const Val *b, Val *sum);
/* Those sums to shared memory, rows of gemm_sums_row bytes; of the warps in one row, columns
 * part * sn and on. */
void gemm_sums_put(gemm *t, const Val *sum, unsigned part);
unsigned gemm_sums_row(const gemm_shape *p, unsigned esize);

/* simt_dot_epilogue.c: the later stages of a tile */
void gemm_finish_plan(gemm *t);
unsigned gemm_finish_lanes(const lz_kernel *k); /* columns a thread takes at most at once */
void gemm_finish(gemm *t, Val m0, Val n0, const Val *sum);
void gemm_finish_top(gemm *t); /* in every function, before: */
/* The later stages on n sums from (row, column) on, of which those run that are in the result;
 * `sums` gives m of them, the first one at byte `at` of what it reads from. */
typedef Val gemm_read(gemm *t, Val at, unsigned m);
void gemm_finish_at(gemm *t, Val row, Val column, Val at, gemm_read *sums);

/* simt_dot_workspace.c: split-K */
unsigned gemm_parts_chunk(const gemm *t); /* sums in 16 bytes */
Val gemm_parts_matrices(gemm *t);
Val gemm_parts_place(gemm *t, Val row, Val column); /* byte of a column of a row of it */
Val gemm_parts_row(gemm *t, Val part, Val matrix);  /* first_row */
/* Sums of `rows` rows from m0 on, in shared memory, to scratch memory. */
void gemm_parts_put(gemm *t, unsigned rows, Val m0, Val n0);
/* simt_dot_split_k.c */
void gemm_parts_finish(gemm *t); /* the body of SIMT_FINISH */
#endif
