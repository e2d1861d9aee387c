/* rewrite.h - rebuilding a function, as every pass over the tensor IR does. A pass visits the
 * instructions of `in` in order and returns the value of each in `out`, usually a copy with mapped
 * operands. What it builds for an instruction has that one's node, line and name scope. The builder
 * hash-conses, so common subexpressions are merged, and dead instructions
 * are removed at the end.
 * Threads: thread-compatible. */
#ifndef LZ_LOWER_PASSES_REWRITE_H
#define LZ_LOWER_PASSES_REWRITE_H
#include "ir/module.h"

typedef struct lz_rw {
    const lz_func *in;
    lz_func *out;
    lz_val *map; /* old value -> new value */
    bool fired;  /* the pass has changed something */
} lz_rw;

/* What instruction i becomes: a value of rw->out, or LZ_NOVAL to have it copied. Failures show in
 * rw->out->status. */
typedef lz_val (*lz_rw_fn)(lz_rw *rw, uint32_t i, void *user);
/* Runs fn over all instructions but the parameters. *out = NULL when nothing changed. */
lz_status lz_rw_run(const lz_func *in, lz_rw_fn fn, void *user, lz_func **out);

/* ---- looking at values of rw->out ---- */
static inline const lz_inst *lz_rw_inst(const lz_rw *rw, lz_val v)
{
    return &rw->out->insts[v];
}
static inline lz_op lz_rw_op(const lz_rw *rw, lz_val v)
{
    return lz_inst_op(&rw->out->insts[v]);
}
static inline const lz_type *lz_rw_type(const lz_rw *rw, lz_val v)
{
    return lz_val_type(rw->out, v);
}
/* A view that shows elements of its operand several times: made a value of another shape, it would
 * have to be copied out. */
static inline bool lz_rw_is_window(const lz_rw *rw, lz_val v)
{
    return lz_rw_inst(rw, v)->sig->attr->kind == LZ_ATTR_window_view;
}
static inline lz_val lz_rw_opnd(const lz_rw *rw, uint32_t i, uint32_t k)
{
    return rw->map[rw->in->insts[i].opnd[k]];
}

/* ---- looking at functions ---- */
/* Which of the n parameters from `first` on each value of f depends on: by value, (n + 63) / 64
 * words of bits, for lz_free. NULL without memory. */
uint64_t *lz_rw_dependence(const lz_func *f, uint32_t first, uint32_t n);
/* The region r with only these of its parameters and of its results, in this order, interned. What
 * it reads of the other parameters is 0. NULL: the calling thread's last error says why. */
const lz_func *lz_rw_region(const lz_func *r, const uint32_t *params, uint32_t nparam,
                            const uint32_t *results, uint32_t nresult);
/* The body of a loop without carried value k, interned. NULL: something is made of it besides its
 * next value. Errors: LZ_EMEM. */
lz_status lz_rw_without_carried(const lz_func *body, uint32_t k, uint32_t ncarried,
                                const lz_func **out);

/* v is a constant of one repeated element, perhaps behind broadcasts, reshapes and transposes: its
 * bits. */
bool lz_rw_splat(const lz_func *f, lz_val v, uint64_t *bits);
#endif
