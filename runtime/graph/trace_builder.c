/* trace_builder.c - the trace context: temporaries, and the primitives as functions from nodes to
 * nodes. See trace_builder.h. */
#include "runtime/graph/trace_builder.h"
#include "base/config.h"
#include "ir/attr.h"
#include "runtime/exec/sync.h"
#include <math.h>
#include <string.h>

enum {
    RECENT = 4,
    FEW_OPERANDS = 4
}; /* how many recent temporaries and operands are searched for references to hand on */

void lz_tracer_begin_from(lz_tracer *c, const char *op, const lz_site *site, void *caller)
{
    lz_thread_state *t = c->thr = lz_thread_state_get();
    c->site = site;
    c->op = op;
    c->n = 0;
    c->error_from = NULL;
    c->policy = LZ_AUTOCAST_NONE;
    memset(&c->more, 0, sizeof c->more);
    c->outer = t && !t->api_op;
    if (c->outer) {
        t->api_op = op;
        t->api_site = site;
        t->api_caller = caller;
        t->error_before.saved = false;
        if (__builtin_expect(t->autocast != LZ_DTYPE_NONE, 0))
            lz_tracer_autocast(c);
    }
}

/* Index of x among the last temporaries; -1: not there. */
static int find_recent(const lz_tracer *c, const lz_node *x)
{
    int n = (int)c->n;
    for (int i = n - 1; i >= 0 && i >= n - RECENT; i--)
        if (c->tmp[i] == x)
            return i;
    return -1;
}

static void end(lz_tracer *c)
{
    while (c->n)
        lz_node_release(c->tmp[--c->n]);
    if (__builtin_expect(c->more.len != 0, 0)) {
        while (c->more.len)
            lz_node_release(c->more.data[--c->more.len]);
        lz_vec_free(&c->more);
    }
    if (c->outer) {
        c->thr->api_op = NULL;
        c->thr->api_site = NULL;
    }
}

lz_tensor *lz_tracer_end(lz_tracer *c, lz_node *x)
{
    lz_tensor *r;
    if (__builtin_expect(!x || !c->thr, 0)) {
        r = c->error_from ? lz_slot_new_same_error(c->thr, c->error_from, c->error_handle) : NULL;
        if (!r) /* or that tensor has ended meanwhile */
            r = lz_trace_error_tensor(c->op, c->site);
        if (c->thr)
            end(c);
        return r;
    }
    int at = find_recent(c, x);
    if (at >= 0)
        c->tmp[at] = NULL; /* the handle takes over this reference */
    else
        lz_node_retain(x);
    r = lz_slot_new(c->thr, x, c->site ? c->site : c->thr->api_site);
    lz_thread_state *t = c->thr;
    bool outer = c->outer;
    end(c);
    if (__builtin_expect(outer && t->error_before.saved && lz_handle_bits(r) != LZ_HANDLE_NO_MEMORY,
                         0))
        lz_error_recover(&t->error_before);
    if (__builtin_expect(outer && t->flush_check-- == 0, 0))
        lz_sync_check_limit(t);
    return r;
}

void lz_tracer_drop(lz_tracer *c)
{
    if (c->thr)
        end(c);
}

/* Whether lz_tracer_own has room for one more. */
static bool has_room(lz_tracer *c)
{
    return __builtin_expect(c->n < LZ_TRACER_INLINE, 1) ||
           lz_vec_reserve(&c->more, (uint64_t)c->more.len + 1) == LZ_OK;
}

lz_node *lz_tracer_own(lz_tracer *c, lz_node *n)
{
    if (__builtin_expect(!n, 0))
        return NULL;
    if (__builtin_expect(c->n < LZ_TRACER_INLINE, 1)) {
        c->tmp[c->n++] = n;
        return n;
    }
    if (lz_vec_push(&c->more, n) == LZ_OK)
        return n;
    lz_node_release(n);
    return NULL;
}

lz_node *lz_tracer_in(lz_tracer *c, const lz_tensor *t)
{
    if (__builtin_expect(!c->thr, 0))
        return NULL;
    lz_node *n = lz_trace_node_of(t);
    if (__builtin_expect(!n, 0)) {
        lz_slot *s = lz_slot_peek(lz_handle_bits(t));
        if (s && !c->error_from && (lz_slot_flags(s, lz_handle_bits(t)) & LZ_SLOT_ERROR)) {
            c->error_from = s;
            c->error_handle = lz_handle_bits(t);
        }
        return NULL;
    }
    n = lz_tracer_own(c, n);
    return __builtin_expect(c->policy == LZ_AUTOCAST_NONE, 1) ? n : lz_tracer_autocast_in(c, n);
}

lz_dev *lz_tracer_dev(lz_tracer *c, const lz_node *like)
{
    return like ? like->dev : c->thr ? lz_dev_current() : NULL;
}

/* ---- operations ---- */

/* Operands that are recent temporaries: the op, itself a temporary, keeps them alive from now on,
 * so it takes over their references, which saves counting up here and down later. Gives a bit mask,
 * and their indices. */
static uint32_t take_operands(const lz_tracer *c, const lz_sig *sig, lz_node *const *opnd, int *at)
{
    uint32_t taken = 0;
    uint32_t n = c->n;
    if (sig->nopnd == 2 && n >= 2 && c->tmp[n - 2] == opnd[0] && c->tmp[n - 1] == opnd[1] &&
        opnd[0] !=
            opnd[1]) { /* fast path of most binary operations: the operands were brought in last */
        at[0] = (int)n - 2;
        at[1] = (int)n - 1;
        return 3;
    }
    for (uint32_t i = 0; i < sig->nopnd && i < FEW_OPERANDS; i++) {
        at[i] = find_recent(c, opnd[i]);
        bool again = false; /* one reference serves one operand */
        for (uint32_t j = 0; j < i; j++)
            again |= (taken >> j & 1) && at[j] == at[i];
        if (at[i] >= 0 && !again)
            taken |= 1u << i;
    }
    return taken;
}

static lz_node *op_sig(lz_tracer *c, const lz_sig *sig, lz_node *const *opnd)
{
    if (!sig)
        return NULL;
    lz_dev *dev = sig->nopnd ? NULL : lz_tracer_dev(c, NULL);
    if ((!sig->nopnd && !dev) || !has_room(c)) /* before it takes references of temporaries over */
        return NULL;
    int at[FEW_OPERANDS];
    uint32_t taken = take_operands(c, sig, opnd, at);
    lz_node *n = lz_node_new_op_taking(sig, opnd, dev, c->site, &taken);
    for (; taken; taken &= taken - 1)
        c->tmp[at[__builtin_ctz(taken)]] = NULL;
    return lz_tracer_own(c, n);
}

lz_node *lz_tracer_op(lz_tracer *c, lz_op op, const lz_attr *record, lz_node *const *opnd,
                      uint32_t n)
{
    const lz_type *few[8], **types = few;
    const lz_attr *attr = NULL;
    if (record && !(attr = lz_attr_get(record)))
        return NULL;
    for (uint32_t i = 0; i < n; i++)
        if (!opnd[i])
            return NULL;
    if (n > 8 && !(types = lz_alloc(n * sizeof *types))) {
        LZ_FAIL(LZ_EMEM, "no memory for %u operands", n);
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++)
        types[i] = lz_node_type(opnd[i]);
    const lz_sig *sig = lz_sig_get(op, attr, types, n);
    if (types != few)
        lz_free(types);
    return op_sig(c, sig, opnd);
}

lz_node *lz_tracer_result(lz_tracer *c, lz_node *multi, int64_t index)
{
    if (!multi || multi->sig->nresult == 1)
        return multi;
    const lz_type *t = multi->sig->result[index];
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_index);
    a.as_index.index = index;
    a.as_index.dtype = t->dtype;
    a.as_index.shape = t->shape;
    return lz_tracer_op(c, LZ_OP_RESULT, &a.head, &multi, 1);
}

lz_node *lz_tracer_ew1(lz_tracer *c, lz_op op, lz_node *a)
{
    if (!a)
        return NULL;
    const lz_type *t = lz_node_type(a);
    return op_sig(c, lz_sig_get(op, NULL, &t, 1), &a);
}

lz_node *lz_tracer_ew2(lz_tracer *c, lz_op op, lz_node *a, lz_node *b)
{
    if (!a || !b)
        return NULL;
    const lz_type *t[2] = {lz_node_type(a), lz_node_type(b)};
    lz_node *o[2] = {a, b};
    return op_sig(c, lz_sig_get(op, NULL, t, 2), o);
}

lz_node *lz_tracer_ew3(lz_tracer *c, lz_op op, lz_node *a, lz_node *b, lz_node *d)
{
    if (!a || !b || !d)
        return NULL;
    const lz_type *t[3] = {lz_node_type(a), lz_node_type(b), lz_node_type(d)};
    lz_node *o[3] = {a, b, d};
    return op_sig(c, lz_sig_get(op, NULL, t, 3), o);
}

/* ---- numbers ---- */

static lz_node *host_element(lz_tracer *c, lz_node_kind kind, lz_dtype d,
                             const unsigned char bytes[LZ_NODE_IMM], const lz_node *like)
{
    static const lz_shape scalar;
    if (d == LZ_DTYPE_NONE && c->thr && c->thr->error_before.saved)
        return NULL; /* the dtype of an operand that was not made: why not is what is told */
    lz_dev *dev = lz_tracer_dev(c, like);
    const lz_type *t = dev ? lz_type_get(d, &scalar) : NULL;
    return t ? lz_tracer_own(c, lz_node_new_host(kind, t, bytes, dev, c->site)) : NULL;
}

static lz_node *host_scalar(lz_tracer *c, lz_node_kind kind, lz_dtype d, double v,
                            const lz_node *like)
{
    unsigned char bytes[LZ_NODE_IMM] = {0};
    lz_elem_set_f64(d, bytes, 0, v);
    return host_element(c, kind, d, bytes, like);
}

lz_node *lz_tracer_const(lz_tracer *c, lz_dtype d, double v, const lz_node *like)
{
    return host_scalar(c, LZ_NODE_CONST, d, v, like);
}

lz_node *lz_tracer_argument(lz_tracer *c, lz_dtype d, double v, const lz_node *like)
{
    if (!lz_tracer_number_fits(d, v))
        return NULL;
    return host_scalar(c, LZ_NODE_SCALAR, d, v, like);
}

/* 0, 1 and -1 are part of the program. */
static lz_node_kind kind_of(double v)
{
    bool special = (v == 0 && !signbit(v)) || v == 1 || v == -1;
    return special && !lz_cfg_bool(LZ_OPT_NO_SPECIAL_SCALARS) ? LZ_NODE_CONST : LZ_NODE_SCALAR;
}

lz_node *lz_tracer_scalar(lz_tracer *c, lz_dtype d, double v, const lz_node *like)
{
    return lz_tracer_number_fits(d, v) ? host_scalar(c, kind_of(v), d, v, like) : NULL;
}

lz_node *lz_tracer_scalar_wrapped(lz_tracer *c, lz_dtype d, double v, const lz_node *like)
{
    unsigned char bytes[LZ_NODE_IMM] = {0};
    if (!lz_dtype_is_int(d))
        return lz_tracer_scalar(c, d, v, like);
    if (!(v >= -0x1p63 && v < 0x1p64)) {
        LZ_FAIL(LZ_ERANGE, "%g has more than 64 bits", v);
        return NULL;
    }
    lz_elem_set_i64(d, bytes, 0, v < 0 ? (int64_t)v : (int64_t)(uint64_t)v);
    return host_element(c, kind_of(v), d, bytes, like);
}

lz_node *lz_tracer_fill(lz_tracer *c, lz_node *scalar, const lz_shape *s)
{
    static const lz_ints none;
    if (!scalar || s->rank == 0)
        return scalar;
    return lz_tracer_broadcast_in_dim(c, scalar, &none, s);
}

lz_node *lz_tracer_const_like(lz_tracer *c, lz_node *x, double v)
{
    if (!x)
        return NULL;
    return lz_tracer_fill(c, lz_tracer_const(c, lz_node_type(x)->dtype, v, x),
                          &lz_node_type(x)->shape);
}

lz_node *lz_tracer_iota(lz_tracer *c, lz_dtype d, const lz_shape *s, int64_t dim,
                        const lz_node *like)
{
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_iota);
    a.as_iota.iota_dimension = dim;
    a.as_iota.dtype = d;
    a.as_iota.shape = *s;
    const lz_attr *attr = lz_attr_get(&a.head);
    const lz_sig *sig = attr ? lz_sig_get(LZ_OP_IOTA, attr, NULL, 0) : NULL;
    lz_dev *dev = sig ? lz_tracer_dev(c, like) : NULL;
    return dev ? lz_tracer_own(c, lz_node_new_op(sig, NULL, dev, c->site)) : NULL;
}

/* ---- shapes and types ---- */

lz_node *lz_tracer_convert(lz_tracer *c, lz_node *x, lz_dtype d)
{
    if (!x || lz_node_type(x)->dtype == d)
        return x;
    lz_dtype from = lz_node_type(x)->dtype;
    if (lz_dtype_is_storage(from)) {
        LZ_FAIL(LZ_EDTYPE, "%s is only stored: convert it to a float first, with lz_to",
                lz_dtype_name(from));
        return NULL;
    }
    return lz_tracer_cast(c, x, d);
}

lz_node *lz_tracer_cast(lz_tracer *c, lz_node *x, lz_dtype d)
{
    if (!x || lz_node_type(x)->dtype == d)
        return x;
    /* ATen's truth value of a complex number; StableHLO's convert uses the real part only */
    if (d == LZ_BOOL && lz_dtype_is_complex(lz_node_type(x)->dtype))
        return lz_tracer_compare(c, LZ_CMP_NE, x, lz_tracer_const_like(c, x, 0));
    return lz_tracer_as_dtype(c, LZ_OP_CONVERT, x, d);
}

lz_node *lz_tracer_as_dtype(lz_tracer *c, lz_op op, lz_node *x, lz_dtype d)
{
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_dtype);
    a.as_dtype.dtype = d;
    return lz_tracer_op(c, op, &a.head, &x, 1);
}

lz_node *lz_tracer_bitcast(lz_tracer *c, lz_node *x, lz_dtype d)
{
    return lz_tracer_as_dtype(c, LZ_OP_BITCAST_CONVERT, x, d);
}

lz_node *lz_tracer_compare(lz_tracer *c, lz_comparison_direction dir, lz_node *x, lz_node *y)
{
    if (!x || !y)
        return NULL;
    lz_dtype d = lz_node_type(x)->dtype;
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_compare);
    a.as_compare.comparison_direction = dir;
    a.as_compare.compare_type = lz_dtype_is_float(d) || lz_dtype_is_complex(d) ? LZ_CT_FLOAT
                                : lz_dtype_is_signed(d)                        ? LZ_CT_SIGNED
                                                                               : LZ_CT_UNSIGNED;
    lz_node *o[2] = {x, y};
    return lz_tracer_op(c, LZ_OP_COMPARE, &a.head, o, 2);
}

lz_node *lz_tracer_reshape(lz_tracer *c, lz_node *x, const lz_shape *s)
{
    if (!x || lz_shape_eq(&lz_node_type(x)->shape, s))
        return x;
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_shape);
    a.as_shape.shape = *s;
    return lz_tracer_op(c, LZ_OP_RESHAPE, &a.head, &x, 1);
}

lz_node *lz_tracer_broadcast_in_dim(lz_tracer *c, lz_node *x, const lz_ints *dims,
                                    const lz_shape *s)
{
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_broadcast);
    a.as_broadcast.broadcast_dimensions = *dims;
    a.as_broadcast.shape = *s;
    return lz_tracer_op(c, LZ_OP_BROADCAST_IN_DIM, &a.head, &x, 1);
}

lz_node *lz_tracer_transpose(lz_tracer *c, lz_node *x, const lz_ints *perm)
{
    bool same = x && perm->n == lz_node_type(x)->shape.rank;
    for (int i = 0; same && i < perm->n; i++)
        same = perm->v[i] == i;
    if (!x || same)
        return x;
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_perm);
    a.as_perm.permutation = *perm;
    return lz_tracer_op(c, LZ_OP_TRANSPOSE, &a.head, &x, 1);
}

lz_node *lz_tracer_slice(lz_tracer *c, lz_node *x, const lz_ints *start, const lz_ints *limit,
                         const lz_ints *strides)
{
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_slice);
    a.as_slice.start_indices = *start;
    a.as_slice.limit_indices = *limit;
    a.as_slice.strides = *strides;
    return lz_tracer_op(c, LZ_OP_SLICE, &a.head, &x, 1);
}

lz_node *lz_tracer_concat(lz_tracer *c, lz_node *const *xs, uint32_t n, int64_t dim)
{
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_dim);
    a.as_dim.dimension = dim;
    return n == 1 ? xs[0] : lz_tracer_op(c, LZ_OP_CONCATENATE, &a.head, xs, n);
}

/* The identity element of the op. False when the op has none for the dtype. */
static bool identity(lz_op op, lz_dtype d, unsigned char *bytes)
{
    uint32_t f = lz_op_get(op)->flags;
    size_t n = lz_dtype_size(d);
    memset(bytes, 0, LZ_NODE_IMM);
    if (f & LZ_F_ID0)
        return true;
    if (f & LZ_F_ID1) {
        lz_elem_set_f64(d, bytes, 0, 1);
        return true;
    }
    if (f & LZ_F_IDONES) {
        memset(bytes, d == LZ_BOOL ? 1 : 0xff, n);
        return true;
    }
    if (!(f & (LZ_F_IDMIN | LZ_F_IDMAX)) || lz_dtype_is_complex(d))
        return false;
    bool lowest = (f & LZ_F_IDMIN) != 0;
    if (d == LZ_BOOL) {
        bytes[0] = !lowest;
    } else if (lz_dtype_is_float(d)) {
        lz_elem_set_f64(d, bytes, 0, lowest ? -INFINITY : INFINITY);
    } else if (lz_dtype_is_signed(d)) {
        memset(bytes, lowest ? 0 : 0xff, n);
        bytes[n - 1] = lowest ? 0x80 : 0x7f;
    } else if (!lowest) {
        memset(bytes, 0xff, n);
    }
    return true;
}

lz_node *lz_tracer_identity(lz_tracer *c, lz_op combiner, lz_dtype d, const lz_node *like)
{
    unsigned char bytes[LZ_NODE_IMM];
    if (!identity(combiner, d, bytes)) {
        LZ_FAIL(LZ_EDTYPE, "%s of %s has no initial value", lz_op_get(combiner)->text,
                lz_dtype_name(d));
        return NULL;
    }
    return host_element(c, LZ_NODE_CONST, d, bytes, like);
}

lz_node *lz_tracer_reduce(lz_tracer *c, lz_op combiner, lz_node *x, const lz_ints *dims)
{
    if (!x)
        return NULL;
    lz_dtype d = lz_node_type(x)->dtype;
    lz_node *o[2] = {x, lz_tracer_identity(c, combiner, d, x)};
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_reduce);
    for (int i = 0; i < dims->n; i++) /* ascending, so that equal reductions are one signature */
        for (int j = a.as_reduce.dimensions.n++;; j--)
            if (j == 0 || a.as_reduce.dimensions.v[j - 1] <= dims->v[i]) {
                a.as_reduce.dimensions.v[j] = dims->v[i];
                break;
            } else {
                a.as_reduce.dimensions.v[j] = a.as_reduce.dimensions.v[j - 1];
            }
    if (!o[1] || !(a.as_reduce.body = lz_region_binary(combiner, d)))
        return NULL;
    return lz_tracer_result(c, lz_tracer_op(c, LZ_OP_REDUCE, &a.head, o, 2), 0);
}

lz_op lz_tracer_combiner(const char *name)
{
    lz_op op = name ? lz_op_from_text(name, strlen(name)) : LZ_OP_NONE;
    if (!name)
        LZ_FAIL(LZ_ENULL, "combiner is NULL");
    else if (op == LZ_OP_NONE || !lz_op_has(op, LZ_F_ASSOC) || !lz_op_has(op, LZ_F_COMM))
        LZ_FAIL(LZ_EINVAL,
                "\"%.40s\" is no combiner: add, multiply, maximum, minimum, and, or, xor are",
                name);
    else
        return op;
    return LZ_OP_NONE;
}
