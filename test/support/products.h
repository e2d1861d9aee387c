/* products.h - matrix products that tests of GPU kernels go through, as programs: types, factors
 * stored either way round, edges, odd pitches, batches, prologues and epilogues, long k; and the
 * ways in which a device is told to run them. Threads: a test's own. */
#ifndef LZ_TEST_PRODUCTS_H
#define LZ_TEST_PRODUCTS_H
#include "codegen/gpu/simt.h"
#include "lower/plan/plan.h"

typedef enum before { AS_IT_IS, RELU, FROM_F32 /* converted from f32 */ } before;
typedef enum after { NOTHING, BIAS_TANH, NARROW /* converted to the factors' type */ } after;

typedef struct product {
    const char *in, *out; /* types of the factors, of the result */
    int batch, m, n, k;
    bool ta, tb; /* the left factor is stored [k, m]; the right one [n, k] */
    before before;
    after after;
    const char *schedule;
} product;

#define TENSOR "gemm_mma"

enum { PRODUCTS = 47, SHORT_K = 300, TF32 = 11, WAYS = 4 };
extern const product lz_products[PRODUCTS];
extern const product lz_products_tf32[TF32]; /* with LAZULI_CUDA_TF32 */

/* Laid out for one multiprocessor, everything is done in large tiles without split-K: by
 * warpgroups where there are any, otherwise by warps; for four, some of it by warpgroups and
 * split. */
typedef struct way {
    const char *processors;
    int capability;
} way;
extern const way lz_product_ways[WAYS];
/* Whether product i is run in way w; few: each product in one way, each way by some, in turn. */
bool lz_product_is_tried(int i, int w, bool few);

lz_func *lz_product_program(const product *p);
lz_plan *lz_product_plan(const lz_func *f);
lz_kernel *lz_product_kernel(const lz_plan *p); /* NULL: there is none */
/* How a device of this capability would run it, laid out for so many processors (0: those of the
 * architecture). */
lz_simt_dims lz_product_dims(const product *r, int processors, int capability);
#endif
