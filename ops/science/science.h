/* science.h - what the composites of ops/science are written with: public operations at the place
 * `c->site`, counted as one operation with the name of the composite. Temporaries go with its
 * scope; an error tensor propagates to the end.
 * Threads: as the public operations. */
#ifndef LZ_OPS_SCIENCE_H
#define LZ_OPS_SCIENCE_H
#include "base/fork.h"
#include "runtime/graph/trace_builder.h"
#include <lazuli/hlo.h>
#include <lazuli/index_ops.h>
#include <lazuli/math_ops.h>
#include <lazuli/ops.h>
#include <lazuli/shape_ops.h>
#include <lazuli/tensor_ops.h>

typedef struct lz_composite {
    lz_api_frame frame;
    const char *op;
    const lz_site *site;
    bool open; /* it has a scope */
} lz_composite;

#define COMPOSITE(name)                                                                            \
    lz_composite composite = {lz_api_enter(name, site), name, site, false}, *const c = &composite; \
    c->open = lz_scope_begin() == LZ_OK

/* The result; NULL: the error tensor of the recorded error. */
static inline lz_tensor *lz_composite_end(lz_composite *c, lz_tensor *t)
{
    if (!t || !c->open)
        t = lz_trace_error_tensor(c->op, c->site);
    if (c->open)
        t = lz_scope_end_keep(t);
    return lz_api_leave_with(&c->frame, t);
}
/* A second result, before the end: into *out, which may be NULL. */
static inline void lz_composite_also(const lz_composite *c, lz_tensor *t, lz_tensor **out)
{
    if (out)
        *out = lz_escape(t && c->open ? t : lz_trace_error_tensor(c->op, c->site));
}
/* Whether t is there and good; otherwise the error is recorded. what: "x". */
bool lz_composite_in(const lz_composite *c, const lz_tensor *t, const char *what);
/* The same, and no complex number. */
bool lz_composite_real(const lz_composite *c, const lz_tensor *t, const char *what);
/* Whether t is square in its last two dimensions; otherwise LZ_ESHAPE is recorded. */
bool lz_composite_square(const lz_tensor *t, const char *what);
/* "[2, 3]" in text, which has room for 160 bytes. */
const char *lz_composite_shape(const lz_tensor *t, char *text);
/* Positions along dim, of this dtype and shape, on the device of x. */
lz_tensor *lz_composite_iota(const lz_composite *c, lz_tensor *x, lz_dtype d, lz_shape s,
                             int64_t dim);
/* t as a stop-gradient. */
lz_tensor *lz_composite_detached(const lz_composite *c, lz_tensor *t);
/* t as floats: integers and booleans become f32, 16-bit floats too. */
lz_tensor *lz_composite_wide(const lz_composite *c, lz_tensor *t);
/* The dtype that a result of floats has: f32 for integers and booleans, else its own. */
lz_dtype lz_composite_dtype(const lz_tensor *t);
/* Copies as much of the caller's options as both have over *out, which holds the defaults; o NULL:
 * nothing. false with LZ_EINVAL recorded when the struct is not filled. */
bool lz_composite_options(const lz_composite *c, void *out, size_t nbytes, const void *o);
/* A dimension from the front. false with LZ_ERANGE recorded. */
bool lz_composite_dim(int64_t dim, int32_t rank, int64_t *out);

#define ADD(a, b) lz_add_at((a), (b), c->site)
#define SUB(a, b) lz_sub_at((a), (b), c->site)
#define MUL(a, b) lz_mul_at((a), (b), c->site)
#define DIV(a, b) lz_div_at((a), (b), c->site)
#define ADDS(a, v) lz_add_scalar_at((a), (v), c->site)
#define MULS(a, v) lz_mul_scalar_at((a), (v), c->site)
#define WHERE(p, a, b) lz_where_at((p), (a), (b), c->site)
#define TO(a, d) lz_to_at((a), (d), c->site)
#define RESHAPE(a, s) lz_reshape_at((a), (s), c->site)
#define SLICE(a, dim, from, to) lz_slice_at((a), (dim), (from), (to), 1, c->site)
/* A rank-0 number of a's dtype, an argument of the program. */
#define GIVEN(a, v) lz_full_at(lz_dtype_of(a), LZ_SCALAR, (v), c->site)
/* The same as a part of the program. */
#define NUMBER(a, v) lz_hlo_constant_at(lz_dtype_of(a), (v), c->site)

static inline lz_tensor *lz_composite_sum(const lz_composite *c, lz_tensor *a, int64_t dim,
                                          bool keepdim)
{
    const lz_reduce_options o = {.struct_size = sizeof o, .dims = {1, {dim}}, .keepdim = keepdim};
    return lz_sum_at(a, &o, c->site);
}
#endif
