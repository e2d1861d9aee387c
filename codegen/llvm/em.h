/* em.h - a thin layer over the LLVM-C builder: typed constants, memory, loops, lane masks,
 * shuffles.
 * A value of n lanes is a scalar for n = 1 and a vector otherwise, and every function here takes
 * both, so one emitter serves scalar code, vector code and other targets. Values of 16-bit floats
 * are held as f32 (always representable in their dtype), booleans as i1.
 * Threads: an em belongs to one thread; every compilation has its own LLVM context. */
#ifndef LZ_CODEGEN_EMIT_EM_H
#define LZ_CODEGEN_EMIT_EM_H
#include "codegen/codegen.h"
#include "codegen/llvm/llvm_api.h"
#include "codegen/shared_code.h"

typedef LLVMValueRef Val;
typedef LLVMTypeRef Ty;
typedef LLVMBasicBlockRef Blk;

enum { EM_LANES = 64 }; /* most lanes of a value */

/* Modules of functions that other kernels may have too. */
typedef struct em_modules {
    LLVMModuleRef m[LZ_SHARED];
    uint32_t n;
} em_modules;

typedef struct em {
    LLVMContextRef cx;
    LLVMModuleRef m;
    LLVMModuleRef own;  /* the kernel's, while m is that of a shared function */
    em_modules *shared; /* NULL: they are functions of the kernel's own module */
    LLVMBuilderRef b;
    const lz_target *t;
    Val f; /* the function under construction */
    Ty i1, i8, i16, i32, i64, f16, f32, f64, ptr, none;
    bool x86, avx512, fma, f16c, bf16, vnni;
    bool many;        /* vector registers: 32, not 16 */
    bool masks;       /* whole vectors are loaded under a mask by one instruction */
    bool simt, nvptx; /* one thread of many; of NVIDIA's instruction set */
    bool quick;       /* values end in 16 bits: exp by the machine's 2^x, where there is one */
    bool fit;         /* few points fill whole vectors: what is stored may stay in registers */
    lz_status status; /* sticky: the first thing that could not be emitted */
} em;

void em_init(em *e, const lz_target *t, LLVMContextRef cx, LLVMModuleRef m);
void em_done(em *e);
/* Whether a form of code may be used, and whether it is used where it does not pay too
 * (variants.def). */
static inline bool em_may(const em *e, int form)
{
    return lz_variant_may(e->t, form);
}
static inline bool em_always(const em *e, int form)
{
    return lz_variant_always(e->t, form);
}
/* Starts a function; `exported`: a symbol of the object. */
Val em_func(em *e, const char *name, Ty ret, const Ty *args, unsigned nargs, bool exported);
/* The function that was started last is called once or a few times a launch: LLVM makes its code by
 * FastISel and without optimization, in a third of the time. */
void em_func_rare(em *e);
/* Starts a function of the kernel's own that is likely to be the same in others (shared_code.h): it
 * goes by its arguments and constants alone. Once it has its code, em_shared_end gives what is
 * called. */
Val em_shared_func(em *e, const char *name, Ty ret, const Ty *args, unsigned nargs);
Val em_shared_end(em *e, Val f);

/* Numbers, i64 or i1, that some functions compute from a few others. One function, which is shared,
 * does so and puts what is no constant into an array, the others call it and read that: a block of
 * arithmetic costs time for each function it is in. It knows nothing but those few, so kernels of
 * any shape have the same one. */
enum { EM_NUMBERS = 24, EM_NUMBERS_FROM = 8 };
typedef struct em_numbers {
    Val fn;                     /* void(ptr of what they are computed from, ptr of the array) */
    Val *from[EM_NUMBERS_FROM]; /* in: where those few, i64, are kept; */
    Val *v[EM_NUMBERS];         /* in: the numbers */
    unsigned nfrom, n;
    bool constant[EM_NUMBERS], bit[EM_NUMBERS];
} em_numbers;
/* Between them the numbers are computed, from what the first one sets. */
void em_numbers_begin(em *e, em_numbers *x);
void em_numbers_end(em *e, em_numbers *x);
/* For the function that is made, where those few are set: all of them; number i. */
void em_numbers_get(em *e, const em_numbers *x);
Val em_numbers_at(em *e, const em_numbers *x, Val i);
/* The kernel's function `name`, which gives one of them. at: the function i64(ptr of sizes, i64 i)
 * that gives number i. */
void em_numbers_size(em *e, const em_numbers *x, Val at, const char *name, const Val *size);

/* ---- types ---- */
Ty em_vec(Ty elem, unsigned n); /* elem itself for n = 1 */
/* of a value; complex: of a part (values come in pairs) */
Ty em_type(em *e, lz_dtype d, unsigned n);
/* of an element in memory; 16-bit floats i16, booleans i8, complex that of a part */
Ty em_mem(em *e, lz_dtype d);
unsigned em_lanes(Val v);
Ty em_elem(Ty t);                  /* element type of a vector, or the type itself */
Ty em_like(em *e, Ty elem, Val v); /* elem with the lanes of v */
unsigned em_bits(em *e, Ty t);     /* bits of an element */

/* ---- constants: splats for vector types ---- */
Val em_ci(Ty t, int64_t v);
Val em_cf(Ty t, double v);
Val em_cfbits(em *e, Ty t, uint64_t bits); /* float constant by its bit pattern */
Val em_c64(em *e, int64_t v);
Val em_c32(em *e, int64_t v);
Val em_iota(em *e, Ty int_elem, unsigned n);
Val em_true(em *e, unsigned n);
/* Whether v is an integer constant, the same in all lanes, and which. */
bool em_is_ci(Val v, int64_t *value);

/* ---- lanes ---- */
Val em_splat(em *e, Val s, unsigned n); /* v itself when it has n lanes already */
Val em_extract(em *e, Val v, unsigned lane);
Val em_shuffle(em *e, Val a, Val b, const int *idx, unsigned n);
/* n vectors of n lanes, in registers; ends the block */
void em_transpose(em *e, Val *row, unsigned n);
Val em_tail_mask(em *e, Val left, unsigned n); /* lane < left */
Val em_any(em *e, Val mask);                   /* whether some lane is true */

/* ---- intrinsics and external functions ---- */
Val em_intr(em *e, const char *name, const Ty *ov, unsigned nov, const Val *a, unsigned n);
Val em_intr1(em *e, const char *name, Val a); /* overloaded on the operand's type */
Val em_intr2(em *e, const char *name, Val a, Val b);
static inline Val em_smin(em *e, Val a, Val b)
{
    return em_intr2(e, "llvm.smin", a, b);
}
static inline Val em_smax(em *e, Val a, Val b)
{
    return em_intr2(e, "llvm.smax", a, b);
}
/* rounded once where the machine can; float only, within 1e-9 ulp of it in f32 anywhere */
Val em_fma(em *e, Val a, Val b, Val c);
/* a / b, rounded once. On NVPTX in f32 without a branch per lane, as its own division has. */
Val em_fdiv(em *e, Val a, Val b);
/* f32 as f64 */
Val em_widen(em *e, Val x);
/* Calls an external function of scalars; declares one of these types. */
Val em_declare(em *e, const char *name, Ty ret, const Ty *args, unsigned n);
Val em_call(em *e, const char *name, Ty ret, const Val *a, unsigned n);
/* Inline assembly of these operands, EM_PHI at most; `form` are LLVM's constraints. effects: it is
 * not left out, moved or done once. */
Val em_asm(em *e, const char *text, const char *form, Ty ret, const Val *a, unsigned n,
           bool effects);
/* c[0] + c[1] x + c[2] x^2 ..., by Horner's rule */
Val em_poly(em *e, Val x, const double *c, int n);

/* ---- quotients of indices, which are not negative ---- */
Val em_ceil_div(em *e, Val n, int64_t by);
Val em_ceil(em *e, Val n, Val by);
Val em_split_index(em *e, Val *i, Val n); /* *i % n, and *i becomes *i / n */

/* ---- memory: p + index * scale bytes ---- */
Val em_at(em *e, Val p, Val index, int64_t scale);
Val em_load(em *e, Ty t, Val p, unsigned align);
void em_store(em *e, Val v, Val p, unsigned align);
/* non-temporal; p is aligned to v's size. The writes are ordered with later ones by what
 * kern_nt_leave says */
void em_store_nt(em *e, Val v, Val p, unsigned align);
Val em_alloca(em *e, Ty t, uint64_t count, unsigned align); /* in the entry block */
Val em_mload(em *e, Ty t, Val p, Val mask, Val other, unsigned align);
void em_mstore(em *e, Val v, Val p, Val mask, unsigned align);
Val em_gather(em *e, Ty t, Val ptrs, Val mask, Val other, unsigned align);
void em_scatter(em *e, Val v, Val ptrs, Val mask, unsigned align);
void em_prefetch(em *e, Val p, bool write, int locality);

static inline unsigned em_esize(lz_dtype d) /* bytes of an element in memory */
{
    return (unsigned)lz_dtype_size(d);
}
/* Memory form of dtype d (n lanes of em_mem) to the value and back. Not for complex numbers. */
Val em_from_mem(em *e, lz_dtype d, Val m);
Val em_to_mem(em *e, lz_dtype d, Val v);
/* f32 values rounded to a 16-bit float: the memory bits, or the f32 of the same value. */
Val em_f32_to_bf16_bits(em *e, Val v);
Val em_f32_to_f16_bits(em *e, Val v);
Val em_bf16_bits_to_f32(em *e, Val v);
Val em_f16_bits_to_f32(em *e, Val v);
Val em_round_to(em *e, lz_dtype d, Val v); /* d a 16-bit float: rounded; any other: v */

/* ---- control: loops are rotated (test at the end, guard in front) and never unrolled by LLVM ----
 * */
enum { EM_PHI = 160 };
typedef struct em_loop {
    Blk pre, body, exit;
    Val i, hi, step;
    int n;
    /* carried values: inside the loop, and after em_loop_end the final ones */
    Val phi[EM_PHI], init[EM_PHI];
} em_loop;
void em_loop_begin(em *e, em_loop *l, Val lo, Val hi, Val step, int n, const Val *init);
void em_loop_end(em *e, em_loop *l, const Val *next);

/* if (c) { ... } with values joined at the end. */
typedef struct em_if {
    Blk from, then, join;
    Val c;
} em_if;
void em_if_begin(em *e, em_if *s, Val c);
void em_if_end(em *e, em_if *s, int n, const Val *then_vals, const Val *else_vals, Val *out);
/* if (c) { ... } else { ... } */
typedef struct em_ifelse {
    Blk then, other, join, then_end;
} em_ifelse;
void em_ifelse_begin(em *e, em_ifelse *s, Val c);
void em_ifelse_else(em *e, em_ifelse *s);
void em_ifelse_end(em *e, em_ifelse *s, int n, const Val *then_vals, const Val *else_vals,
                   Val *out);

/* Goes on in a new block. Instruction selection works on one block at a time, at a cost that grows
 * faster than the block. */
void em_cut(em *e);

/* An error of the emission, kept until the end; the value is only there to go on. */
Val em_fail(em *e, Ty t, const char *what);

#define ADD(x, y) LLVMBuildAdd(e->b, x, y, "")
#define SUB(x, y) LLVMBuildSub(e->b, x, y, "")
#define MUL(x, y) LLVMBuildMul(e->b, x, y, "")
#define AND(x, y) LLVMBuildAnd(e->b, x, y, "")
#define OR(x, y) LLVMBuildOr(e->b, x, y, "")
#define XOR(x, y) LLVMBuildXor(e->b, x, y, "")
#define NOT(x) LLVMBuildNot(e->b, x, "")
#define SHL(x, y) LLVMBuildShl(e->b, x, y, "")
#define LSHR(x, y) LLVMBuildLShr(e->b, x, y, "")
#define ASHR(x, y) LLVMBuildAShr(e->b, x, y, "")
#define FADD(x, y) LLVMBuildFAdd(e->b, x, y, "")
#define FSUB(x, y) LLVMBuildFSub(e->b, x, y, "")
#define FMUL(x, y) LLVMBuildFMul(e->b, x, y, "")
#define FDIV(x, y) LLVMBuildFDiv(e->b, x, y, "")
#define FNEG(x) LLVMBuildFNeg(e->b, x, "")
#define SEL(c, x, y) LLVMBuildSelect(e->b, c, x, y, "")
#define ICMP(p, x, y) LLVMBuildICmp(e->b, LLVMInt##p, x, y, "")
#define FCMP(p, x, y) LLVMBuildFCmp(e->b, LLVMReal##p, x, y, "")
#define BITS(x, t) LLVMBuildBitCast(e->b, x, t, "")
#endif
