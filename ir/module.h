/* module.h - functions of the tensor IR: a dense array of instructions in topological order.
 * A value is the u32 index of the instruction that makes it. Instructions with several results are
 * read through `result` instructions, so every edge is one index. Regions (bodies of reduce,
 * scatter, while, if) are interned immutable functions. Passes build a new function from the old
 * one; the builder hash-conses, so common subexpressions never arise and dead code is what the new
 * function did not ask for.
 * Threads: a function under construction is thread-compatible; an interned one is immutable. */
#ifndef LZ_IR_MODULE_H
#define LZ_IR_MODULE_H
#include "ir/op.h"

typedef uint32_t lz_val;
#define LZ_NOVAL UINT32_MAX
enum { LZ_MAX_REGION_DEPTH = 16 }; /* a region in a region in ... */

/* A host array: the value of a constant, an argument or a result. Row-major, dense. Refcounted,
 * immutable once shared. */
typedef struct lz_literal {
    uint32_t refs; /* atomic */
    const lz_type *type;
    size_t nbytes;
    void *data; /* 64-byte aligned, 16 if no more than that; not NULL even for empty types */
} lz_literal;
/* Whether every element has the same bits (complex128: every part), and those bits. */
bool lz_literal_splat(const lz_literal *l, uint64_t *bits);
lz_literal *lz_literal_new(const lz_type *t); /* zeroed; NULL with LZ_EMEM */
lz_literal *lz_literal_copy_from(const lz_type *t, const void *data);
/* rank 0; integers by truncation */
lz_literal *lz_literal_scalar(lz_dtype d, double v);
lz_literal *lz_literal_scalar_i64(lz_dtype d, int64_t v);
void lz_literal_retain(lz_literal *l);
void lz_literal_release(lz_literal *l);                       /* NULL is fine */
bool lz_literal_eq(const lz_literal *a, const lz_literal *b); /* bitwise */
double lz_literal_get_f64(const lz_literal *l, int64_t i);    /* element i converted */
/* element access of raw storage by dtype (floats below 32 bits decoded) */
double lz_elem_get_f64(lz_dtype d, const void *p, int64_t i);
int64_t lz_elem_get_i64(lz_dtype d, const void *p, int64_t i);
/* rounds to nearest even; saturates to integers, NaN gives 0 */
void lz_elem_set_f64(lz_dtype d, void *p, int64_t i, double v);
void lz_elem_set_i64(lz_dtype d, void *p, int64_t i, int64_t v); /* wraps */
float lz_f16_to_f32(uint16_t h);
uint16_t lz_f32_to_f16(float f);
float lz_bf16_to_f32(uint16_t h);
uint16_t lz_f32_to_bf16(float f);
/* one rounding, to nearest even */
uint16_t lz_f64_to_f16(double v);
uint16_t lz_f64_to_bf16(double v);
/* d: an 8-bit float. Too large is infinite, or NaN in a format without infinities; every NaN is the
 * quiet one without payload, of its sign. */
float lz_f8_to_f32(lz_dtype d, uint8_t bits);
uint8_t lz_f64_to_f8(lz_dtype d, double v);

typedef struct lz_inst {
    const lz_sig *sig;
    const lz_val *opnd;  /* sig->nopnd values, all smaller than this one's index */
    lz_literal *lit;     /* constant only */
    const lz_site *site; /* debug only, outside every hash; may be NULL */
    const char *scope;   /* debug only, kept for the life of the process; may be NULL */
    lz_val node;         /* debug only: see lz_func_node */
} lz_inst;

/* Where an instruction comes from: the line and name scope of the call that traced it, and its
 * node. */
typedef struct lz_origin {
    const lz_site *site;
    const char *scope;
    lz_val node;
} lz_origin;

typedef struct lz_func {
    lz_arena arena;
    lz_inst *insts; /* the first nparam are the parameters */
    uint32_t ninst, cap_inst;
    uint32_t nparam, nresult;
    lz_val *results;
    char name[64];
    lz_status status; /* sticky: the first failure of the builder */
    bool cse;         /* hash-cons pure instructions (default true) */
    bool interned;    /* immutable, has a hash */
    bool effects;     /* some instruction has LZ_F_EFFECT */
    lz_hash hash;
    /* interned: how deep regions nest below, at most LZ_MAX_REGION_DEPTH - 1 */
    uint32_t depth;
    const void *bytes; /* interned: the canonical form */
    size_t nbytes;
    lz_map table;  /* builder's hash-cons table */
    lz_origin now; /* of what is built next */
    /* Made by the compiler from another function, whose nodes its instructions name; of one that is
     * not, each instruction is its own node. */
    bool derived;
} lz_func;

lz_func *lz_func_new(const char *name);    /* NULL with LZ_EMEM */
void lz_func_free(lz_func *f);             /* NULL and interned ones are left alone */
uint32_t lz_func_widest(const lz_func *f); /* the most operands of an instruction; at least 1 */
static inline lz_op lz_inst_op(const lz_inst *i)
{
    return i->sig->op;
}
/* The node of the graph that value v computes: the number of an instruction of the function that
 * the compiler was given, or of the region that f was made from; LZ_NOVAL: none of them. */
static inline lz_val lz_func_node(const lz_func *f, lz_val v)
{
    return f->derived ? f->insts[v].node : v;
}
static inline lz_origin lz_func_origin(const lz_func *f, lz_val v)
{
    return (lz_origin){f->insts[v].site, f->insts[v].scope, lz_func_node(f, v)};
}
static inline const lz_type *lz_val_type(const lz_func *f, lz_val v)
{
    return f->insts[v].sig->result[0];
}

/* ---- builder: every call returns the value, or LZ_NOVAL with f->status set and the error
 * recorded; an LZ_NOVAL operand gives LZ_NOVAL ---- */
/* record need not be interned; NULL: none */
lz_val lz_build(lz_func *f, lz_op op, const lz_attr *attr_record, const lz_val *opnd,
                uint32_t nopnd);
lz_val lz_build_sig(lz_func *f, const lz_sig *sig, const lz_val *opnd);
lz_val lz_build_param(lz_func *f, const lz_type *t); /* before any other instruction */
lz_val lz_build_const(lz_func *f, lz_literal *lit);  /* keeps a reference */
lz_val lz_build_scalar(lz_func *f, lz_dtype d, double v);
lz_val lz_build_scalar_i64(lz_func *f, lz_dtype d, int64_t v); /* integers, exactly */
/* scalar + broadcast_in_dim (scalar alone for rank 0) */
lz_val lz_build_splat(lz_func *f, const lz_type *t, double v);
/* The element as lz_literal_splat says it. */
lz_val lz_build_splat_bits(lz_func *f, const lz_type *t, uint64_t bits);
lz_val lz_build_iota(lz_func *f, const lz_type *t, int64_t dim);
lz_val lz_build_ew1(lz_func *f, lz_op op, lz_val a);
lz_val lz_build_ew2(lz_func *f, lz_op op, lz_val a, lz_val b);
lz_val lz_build_select(lz_func *f, lz_val p, lz_val a, lz_val b);
/* compare_type by dtype */
lz_val lz_build_compare(lz_func *f, lz_comparison_direction dir, lz_val a, lz_val b);
/* a itself when the dtype is the same */
lz_val lz_build_convert(lz_func *f, lz_val a, lz_dtype d);
/* a itself when the shape is the same */
lz_val lz_build_reshape(lz_func *f, lz_val a, const lz_shape *s);
lz_val lz_build_broadcast(lz_func *f, lz_val a, const lz_ints *dims, const lz_shape *s);
lz_val lz_build_transpose(lz_func *f, lz_val a, const lz_ints *perm);
/* a number for each dimension; start NULL: 0, stride NULL: 1 */
lz_val lz_build_slice(lz_func *f, lz_val a, const int64_t *start, const int64_t *limit,
                      const int64_t *stride);
/* a itself when it is not complex */
lz_val lz_build_conj(lz_func *f, lz_val a);
/* single-operand form, value (not MULTI wrapper) */
lz_val lz_build_reduce(lz_func *f, lz_op combiner, lz_val a, lz_val init, const lz_ints *dims);
/* the value itself when `multi` has one result */
lz_val lz_build_result(lz_func *f, lz_val multi, int64_t index);
/* The first n, whether they are used or not: as they are read from text. */
void lz_build_all_results(lz_func *f, lz_val multi, uint32_t n, lz_val *out);
lz_status lz_func_set_results(lz_func *f, const lz_val *v, uint32_t n);

/* ---- functions in functions (build_control.c) ---- */
/* Operands as in ops.def; regions interned. Values that no region uses are left out, equal ones are
 * one, constants become part of the regions.
 * With one result the value itself, else read it through lz_build_result. */
lz_val lz_build_while(lz_func *f, const lz_func *cond, const lz_func *body, const lz_val *opnd,
                      uint32_t nopnd);
lz_val lz_build_if(lz_func *f, const lz_func *on_true, const lz_func *on_false, const lz_val *opnd,
                   uint32_t nopnd);
/* branch[index] of n >= 1 functions of the same operands, the last one when there is none of that
 * number; results: as many as each has. */
lz_status lz_build_case(lz_func *f, lz_val index, const lz_func *const *branch, uint32_t n,
                        const lz_val *opnd, lz_val *results);
/* The instructions of f on args instead of its parameters. They come from where f says, but in a
 * derived function, whose nodes are others than f's, from to->now. */
lz_status lz_build_inline(lz_func *to, const lz_func *f, const lz_val *args, lz_val *results);
/* The same when `to` is made from f: they keep f's nodes. */
lz_status lz_build_inline_nodes(lz_func *to, const lz_func *f, const lz_val *args, lz_val *results);

/* Whether the sizes of f's values do not bound its time: it calls a function of the program's or
 * has a loop, in its regions too. */
bool lz_func_may_take_long(const lz_func *f);
/* A copy of f that gives the values v[0..n-1] and does nothing beside, unless one is made of it. */
lz_status lz_func_pick(const lz_func *f, const lz_val *v, uint32_t n, lz_func **out);
/* The regions of a record, which is written, become those that give the same results and do nothing
 * beside, unless a result is made of it. */
lz_status lz_attr_drop_effects(lz_attr *a);

/* Interned region: consumes nothing, copies `f`. Equal functions give the same pointer. NULL with
 * LZ_EMEM / the verifier's error. */
const lz_func *lz_region_intern(const lz_func *f);
/* (a, b) -> combiner(a, b); cached */
const lz_func *lz_region_binary(lz_op combiner, lz_dtype d);
const lz_func *lz_region_assign(lz_dtype d); /* (old, update) -> update */
/* The comparator of sort on n operands that orders by the first nkey of them, -0 equal to 0 and NaN
 * largest; LZ_EDTYPE for complex keys. */
const lz_func *lz_region_order(const lz_dtype *d, uint32_t n, uint32_t nkey, bool descending);
/* (a, ai, b, bi) -> the larger (smaller) value and its index: of equal ones the lower index, of NaN
 * the higher. Interned. */
const lz_func *lz_region_arg(bool max, lz_dtype value, lz_dtype index);
/* The same, of NaN the lower index, too. */
const lz_func *lz_region_arg_first(bool max, lz_dtype value, lz_dtype index);
/* (a.., is there a, b.., is there b) -> what the body makes of those that are there, and whether
 * one is. Interned. */
const lz_func *lz_region_of_present(const lz_func *body);
/* The combiner when a region is exactly (a, b) -> op(a, b) with op COMM and ASSOC; LZ_OP_NONE
 * otherwise. */
lz_op lz_region_as_binary(const lz_func *region);

/* ---- whole functions ---- */
/* every invariant above; LZ_EINTERNAL naming the instruction */
lz_status lz_func_verify(const lz_func *f);
lz_status lz_func_copy(const lz_func *f, lz_func **out);
/* copy without dead instructions (parameters and what has effects stay); NULL with error */
lz_func *lz_func_prune(const lz_func *f);
/* The value that v is a view of: behind broadcasts, reshapes and transposes. */
lz_val lz_val_behind_views(const lz_func *f, lz_val v);
/* The constant that all elements of v are, whatever moved or repeated it on the way; its element's
 * bits as lz_literal_splat says them. NULL: v is no such thing. */
const lz_literal *lz_val_splat(const lz_func *f, lz_val v, uint64_t *bits);
/* Whether v is a constant with which combining, however often, changes nothing: an identity, +0 in
 * a sum. */
bool lz_val_is_neutral(const lz_func *f, lz_op combiner, lz_val v);
/* counts[ninst]; results count as uses */
void lz_func_use_counts(const lz_func *f, uint32_t *counts);
/* The `result` instructions of every value, ascending: first[v], then next[that], .. LZ_NOVAL; both
 * of ninst. */
void lz_func_result_lists(const lz_func *f, lz_val *first, lz_val *next);

/* Canonical bytes: equal for equal functions in every process; no names, sites or scopes. */
void lz_func_serialize(const lz_func *f, lz_buf *out);
/* untrusted bytes: LZ_ECORRUPT */
lz_status lz_func_deserialize(const void *p, size_t n, lz_func **out);
lz_hash lz_func_hash(const lz_func *f); /* of the encoding */
/* Whether the encodings are equal, found without making them. */
bool lz_func_same(const lz_func *a, const lz_func *b);

/* StableHLO text. Options by flags. */
enum {
    LZ_PRINT_LOCATIONS = 1,
    LZ_PRINT_NO_LARGE = 2 /* elide constants of more than 64 elements */
};
void lz_func_print(const lz_func *f, lz_buf *out, unsigned flags);
/* The same of a function without marks of shardings that may take over the buffers of these of its
 * parameters (tf.aliasing_output, jax.buffer_donor). NULL: of none */
void lz_func_print_donating(const lz_func *f, const bool *donate, lz_buf *out, unsigned flags);
/* Parses a module: pretty and generic forms as JAX and StableHLO's documentation print them, or
 * VHLO bytecode, which is read as its text (ir/vhlo/vhlo.h).
 * Private functions are inlined into main. `name` is for messages. Errors: LZ_EPARSE with
 * name:line:column. */
lz_status lz_func_parse(const char *text, size_t n, const char *name, lz_func **out);
/* The same of the function @entry; NULL: @main, or the only one that may be meant. */
lz_status lz_func_parse_entry(const char *text, size_t n, const char *name, const char *entry,
                              lz_func **out);
/* What a module says of the devices that it is for. */
typedef LZ_VEC(uint32_t) lz_param_list;
typedef struct lz_partitions {
    int64_t partitions, replicas; /* 0: it does not say */
    /* Given by the caller: gets the parameters whose buffers the program may take over
     * (tf.aliasing_output, jax.buffer_donor), ascending. NULL: not asked for */
    lz_param_list *donated;
    /* Given by the caller: a token among the parameters or results is an array of no predicates,
     * as hosts pass it; else it is nothing. */
    bool tokens;
    /* Given by the caller: takes the place of the module's meshes, whose axes it has, and names the
     * axes of HLO's shardings. NULL: they are those of the module */
    const struct lz_mesh *mesh;
    /* Given by the caller: instructions have the lines and the name scopes that loc(..) says. */
    bool locations;
} lz_partitions;
/* The same as lz_func_parse_entry; *about is what the module says. */
lz_status lz_func_parse_about(const char *text, size_t n, const char *name, const char *entry,
                              lz_partitions *about, lz_func **out);
/* The same as lz_func_parse_entry, but marks of shardings are kept: sdy's and mhlo.sharding of
 * parameters, results and operations become sdy.sharding_constraint, manual regions
 * sdy.manual_computation (ir/ops.def). ndevice: of HLO's strings where neither they nor the module
 * say it; 0: not known. *about (may be NULL) is what the module says, and has the caller's mesh.
 * Instructions have the lines of the text as sites. */
lz_status lz_func_parse_marked(const char *text, size_t n, const char *name, const char *entry,
                               int64_t ndevice, lz_partitions *about, lz_func **out);
/* DOT graph, and the `IR { %0 = f32[2,3]{1,0} op(...) }` text of PyTorch/XLA. */
void lz_func_print_dot(const lz_func *f, lz_buf *out);
void lz_func_print_irtext(const lz_func *f, lz_buf *out, bool locations);
#endif
