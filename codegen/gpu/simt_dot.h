/* simt_dot.h - between the files that make a matrix product for many threads: its shape, its
 * factors, and who does which part.
 *
 * A block of threads makes a tile of tm x tn results. The factors come through shared memory, kt of
 * k at a time, in a ring of `stages` pieces that are filled ahead: the copies of piece i + stages -
 * 1 are under way while piece i is multiplied. Two rows of warps divide a tile's rows, the others
 * its columns.
 * Sums are made by groups of four warps from shared memory (simt_wgmma.c), by the instructions that multiply small matrices (mma.sync) where the factors have
 * a type these know, otherwise by multiply-adds of single threads; the later stages read them from
 * shared memory, where neighbours lie side by side.
 * Rows of shared memory run along k (rows_k; k is contiguous) or along the result. They are chunks
 * of 16 bytes; chunk c of row r lies at c xor swizzle(r), so that what a warp reads at once lies in
 * different banks.
 * Rows of tiles are those of the loop m, or of several outer loops, the last of which is m: of those that the right factor does not depend on
 * (convolutions, whose rows are all points of all images). Row r stands for the r-th point of them.
 * Where tiles are few, k is divided: a block makes the sums of a tile over one part of k and leaves
 * them in scratch memory, rows as they are in the result; a second function adds the parts, in
 * order, and goes on from there.
 * Where the factors lie as tensor maps can describe them, the device copies boxes of them by itself
 * (simt_dot_tma.c): one thread of a further group asks for them as soon as a stage is free, and goes on
 * to the next tile while the others finish theirs. Barriers in shared memory tell of full and of
 * empty stages.
 * Threads: belongs to one thread. */
#ifndef LZ_CODEGEN_GPU_SIMT_DOT_H
#define LZ_CODEGEN_GPU_SIMT_DOT_H
#include "codegen/gpu/simt_kern.h"

enum {
    TILES_CHUNK = 16,
    TILES_DOWN = 2,   /* rows of warps */
    TILES_PARTS = 16, /* that a thread copies of a factor's piece, at most */
    TILES_FRAGS = 8,
    TILES_SUMS = 128,  /* of a thread, at most */
    TILES_BARRIER = 8, /* bytes */
    TILES_SKEW = 32,   /* bytes that rows of a skewed factor are further on, every chunk of k */
    TILES_GROUP_THREADS = 4 * SIMT_WARP,
    TILES_ROW = 128, /* bytes of a row of shared memory that a group reads */
    TILES_BOX = 128  /* rows along k that are copied at once */
};

typedef struct tiles_shape {
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
} tiles_shape;
/* simt_dot_config.c: a function of the canonical kernel and the target. */
/* The factors are rounded to tf32 on their way to shared memory. */
bool tiles_rounds(const tiles_shape *p);
void tiles_shape_of(const lz_kernel *k, const lz_target *t, lz_simt_entry entry, tiles_shape *p);
/* The op that gives factor `sop` as shared memory holds it: the factor, or what it is converted
 * from. */
int32_t tiles_source(const lz_kernel *k, int32_t sop, lz_dtype d);
uint32_t tiles_factor_bytes(const tiles_shape *p, unsigned x); /* of a piece of it */
uint32_t tiles_stage_bytes(const tiles_shape *p);
uint32_t tiles_shared_bytes(const tiles_shape *p, unsigned esize); /* esize: of the sums */
uint32_t tiles_sums_at(const tiles_shape *p);                      /* byte of shared memory */
uint32_t tiles_barriers_at(const tiles_shape *p, unsigned esize);
/* simt_tensor_map.c: whether both factors lie as tensor maps may describe them, and what these are; false:
 * not with these sizes. */
bool tiles_boxes_suit(const lz_kernel *k, const lz_target *t);
bool tiles_maps_of(const lz_kernel *k, const lz_target *t, const int64_t *args, lz_simt_map map[2]);
/* The loops (outer ones first, then inner ones) whose indices are the coordinates of a factor that
 * is the load `source` and has loop `loop` of the result; how many, SIMT_MAP_RANK at most. 0: a map
 * cannot describe it. */
uint32_t tiles_map_loops(const lz_kernel *k, int32_t source, uint32_t loop, uint32_t *out);
/* Elements of a box along its first two coordinates; rows_k: the first one is k. */
void tiles_box_of(const tiles_shape *p, bool rows_k, uint32_t box[2]);

typedef struct tiles_factor {
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
    /* What a thread copies of a piece: nparts parts of `width` bytes, `apart` rows (along the result
     * for x_rows, otherwise along k) from one to the next. */
    unsigned nparts, width, apart;
    bool x_rows;
    Val from, step;        /* of the first one, in the tile's first piece; bytes to the next */
    Val each[TILES_PARTS]; /* in place of these, where rows are of several loops */
    Val k;                 /* of the first one in its piece */
    Val piece; /* bytes from the first piece to the one that is copied; NULL: not known */
    Val bytes; /* of each that exist along the result; x_rows: */
    Val row_exists[TILES_PARTS];
    Val to[TILES_PARTS];      /* place in a stage */
    Val exists;               /* NULL: every thread has its parts; otherwise whether this one has */
    Val frag[4][TILES_FRAGS]; /* what a lane reads: per step of k and group of rows */
} tiles_factor;

typedef struct tiles {
    simt *s;
    em *e;
    const lz_kernel *k;
    tiles_shape p;
    lz_dtype acc; /* of the sums */
    Ty elem;
    unsigned esize;
    uint32_t m, n, ki; /* loops; ki: the last inner one */
    uint32_t rows;     /* the first of those that rows of tiles are of; m: no other */
    tiles_factor a, b;
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
} tiles;

/* simt_dot_load.c */
lz_status tiles_factor_init(tiles *t, tiles_factor *f, uint32_t loop, int32_t sop);
void tiles_factor_top(tiles *t, tiles_factor *f); /* once per call */
void tiles_factor_tile(tiles *t,
                       tiles_factor *f); /* once per tile, after x0 and the outer indices */
/* Piece of k from k0 into the stage that starts at byte `slot`; the inner indices are set. */
void tiles_fill(tiles *t, tiles_factor *f, Val k0, Val slot);
/* Bytes from the first piece's elements to those from k0 on; the inner indices are set. */
Val tiles_piece_offset(tiles *t, const tiles_factor *f, Val k0);
/* Byte of chunk `chunk` of row `row` in the factor's part of a stage. */
Val tiles_place(tiles *t, const tiles_factor *f, Val row, Val chunk);
Val tiles_place_element(tiles *t, const tiles_factor *f, Val x, Val k);
/* Whether chunks are copied as they are, given that they are aligned. */
bool tiles_copies_chunks(const tiles *t, const tiles_factor *f);
Val tiles_start(tiles *t,
                const tiles_factor *f); /* of the load in this tile, without the inner loops */
Val tiles_offset(tiles *t, const tiles_factor *f, uint32_t d,
                 Val i); /* bytes to index i of loop d */

Val tiles_round(tiles *t, Val v); /* each element, if the factors are rounded so */

/* simt_dot_mainloop_tf32.c: the same by groups, of tf32. */
bool tiles_rounded_suits(const tiles *t);
Val tiles_rounded_now(tiles *t);
void tiles_rounded_add(tiles *t, Val first, Val end, Val *sum);

/* simt_dot_mainloop_fma.c: what single threads add where both factors are chunks as they stand; whether they are with these sizes. */
bool tiles_steady_suits(const tiles *t);
Val tiles_steady_now(tiles *t);
void tiles_steady_add(tiles *t, Val first, Val end, Val *sum); /* pieces first to end - 1 */

/* simt_wgmma.c */
Val tiles_group(tiles *t); /* number of the thread's group in the block */
Val tiles_groups_place(tiles *t, const tiles_factor *f, Val row, Val chunk);
void tiles_groups_fence(tiles *t); /* what was written before is seen by the multiplications */
/* Starts to add the products of the piece at `slot`; the sums are there after the wait. */
void tiles_groups_multiply(tiles *t, Val slot, Val *sum);
void tiles_groups_wait(tiles *t, Val *sum, unsigned left); /* for all but `left` pieces */

/* simt_dot_tma.c */
void tiles_emit_bulk(tiles *t); /* the body of SIMT_BULK */

/* simt_dot.c: tile after tile of a block, its part of k, once the outer indices are set. `before`
 * is what the tile before it gave, 0 at first. */
typedef Val tiles_body(tiles *t, Val part, Val before);
void tiles_each(tiles *t, tiles_body *body);
/* Pieces of a part of k: first to end - 1; those of all of it where it is not divided. */
void tiles_pieces_of_part(tiles *t, Val part, Val *first, Val *end);
Val tiles_next_slot(tiles *t, Val slot);
Val tiles_locate_piece(tiles *t, Val piece); /* sets the inner indices; where it starts along k */

bool tiles_many_rows(const tiles *t, const tiles_factor *f); /* its rows are of several loops */
/* Indices of the loops that row r stands for. */
void tiles_row_indices(tiles *t, Val r, Val *oidx);

/* simt_dot_acc.c */
unsigned tiles_nsums(const tiles *t);
void tiles_sums_top(tiles *t); /* once per call: where lanes read */
void tiles_sums_add(tiles *t, Val slot, Val *sum);
/* By single threads: what a thread reads of row k of the piece at `slot`; their products. */
void tiles_single_load(tiles *t, Val slot, unsigned k, Val *a, Val *b);
void tiles_single_add(tiles *t, const Val *a, const Val *b, Val *sum);
/* Those sums to shared memory, rows of tiles_sums_row bytes; of the warps in one row, columns
 * part * sn and on. */
void tiles_sums_put(tiles *t, const Val *sum, unsigned part);
unsigned tiles_sums_row(const tiles_shape *p, unsigned esize);

/* simt_dot_epilogue.c: the later stages of a tile */
void tiles_finish_plan(tiles *t);
unsigned tiles_finish_lanes(const lz_kernel *k); /* columns a thread takes at most at once */
void tiles_finish(tiles *t, Val m0, Val n0, const Val *sum);
void tiles_finish_top(tiles *t); /* in every function, before: */
/* The later stages on n sums from (row, column) on, of which those run that are in the result;
 * `sums` gives m of them, the first one at byte `at` of what it reads from. */
typedef Val tiles_read(tiles *t, Val at, unsigned m);
void tiles_finish_at(tiles *t, Val row, Val column, Val at, tiles_read *sums);

/* simt_dot_split_k.c: products whose k is divided */
Val tiles_parts_row(tiles *t, Val part, Val matrix); /* first_row */
/* Sums of `rows` rows from m0 on, in shared memory, to scratch memory. */
void tiles_parts_put(tiles *t, unsigned rows, Val m0, Val n0);
void tiles_parts_finish(tiles *t); /* the body of SIMT_FINISH */
#endif
