/* gen_internal.h - between gen.c, gen_ops.c, gen_window.c and gen_rows.c. */
#ifndef LZ_TEST_GEN_INTERNAL_H
#define LZ_TEST_GEN_INTERNAL_H
#include "support/gen.h"

typedef struct gen {
    lz_func *f;
    lz_rnd r;
    lz_gen_options o;
    bool pure;             /* operands are new parameters, so that the function is one operation */
    lz_dtype dtype;        /* pure: of operand 0 */
    const lz_shape *shape; /* pure: of operand 0 */
    bool many_dimensions;
    int depth; /* of regions */
} gen;

static const lz_shape gen_scalar = {.rank = 0};

#define RND(lo, hi) lz_rnd_range(&g->r, (lo), (hi))
#define CHANCE(percent) lz_rnd_chance(&g->r, (percent))

/* Values: some value the op accepts as operand 0; a value of exactly this type. LZ_NOVAL: none to
 * be had. */
lz_val gen_pick(gen *g, lz_op op);
lz_val gen_make(gen *g, lz_dtype d, const lz_shape *s);
/* Rows of class LINALG whose results are no continuous function of the operands. */
bool gen_is_form(lz_op op);
const lz_type *gen_type(const gen *g, lz_val v);
/* one that the op and the options allow; NONE when there is none */
lz_dtype gen_dtype(gen *g, lz_op op);
lz_shape gen_shape(gen *g, int min_rank);
int64_t gen_extent(gen *g);
/* Builds when the shape rule accepts it; splits several results. The (first) value or LZ_NOVAL. */
lz_val gen_build(gen *g, lz_op op, const void *attr, const lz_val *opnd, uint32_t n);
/* Adds one operation with random attributes and operands. */
lz_val gen_op(gen *g, lz_op op);
lz_val gen_control(gen *g, lz_op op); /* gen_control.c: while, if */
lz_val gen_custom_vjp(gen *g);
lz_val gen_call(gen *g);
lz_val gen_mark(gen *g, lz_op op);   /* gen_shard.c: where a value is to be */
lz_val gen_window(gen *g, lz_op op); /* gen_window.c */
lz_val gen_window_view(gen *g, lz_val a);
lz_status gen_begin(gen *g, uint64_t seed, const lz_gen_options *o);
#endif
