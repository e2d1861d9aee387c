/* em.c - types, constants, lanes, intrinsics and control flow of the emission layer. Memory is in
 * em_mem.c.
 * Threads: an em belongs to one thread. */
#include "codegen/emit/emit_ew.h"
#include <stdio.h>
#include <string.h>

void em_init(em *e, const lz_target *t, LLVMContextRef cx, LLVMModuleRef m)
{
    memset(e, 0, sizeof *e);
    e->cx = cx;
    e->m = m;
    e->t = t;
    e->b = LLVMCreateBuilderInContext(cx);
    e->i1 = LLVMInt1TypeInContext(cx);
    e->i8 = LLVMInt8TypeInContext(cx);
    e->i16 = LLVMInt16TypeInContext(cx);
    e->i32 = LLVMInt32TypeInContext(cx);
    e->i64 = LLVMInt64TypeInContext(cx);
    e->f16 = LLVMHalfTypeInContext(cx);
    e->f32 = LLVMFloatTypeInContext(cx);
    e->f64 = LLVMDoubleTypeInContext(cx);
    e->ptr = LLVMPointerTypeInContext(cx, 0);
    e->none = LLVMVoidTypeInContext(cx);
    e->x86 = strncmp(t->triple, "x86_64", 6) == 0;
    e->simt = t->simt;
    e->nvptx = lz_target_ptx(t);
    e->avx512 = e->x86 && !e->simt && t->machine.vector_bytes == 64;
    e->many = e->avx512 || !e->x86;
    e->masks = lz_target_masks(t);
    e->fma = !e->x86 || lz_target_has(t, "fma");
    e->f16c = !e->x86 || lz_target_has(t, "f16c");
    e->bf16 = e->avx512 && lz_target_has(t, "avx512bf16");
    e->vnni = e->avx512 && lz_target_has(t, "avx512vnni");
}

void em_done(em *e)
{
    LLVMDisposeBuilder(e->b);
}

static void string_attr(em *e, Val f, const char *key, const char *value)
{
    LLVMAttributeRef a = LLVMCreateStringAttribute(e->cx, key, (unsigned)strlen(key), value,
                                                   (unsigned)strlen(value));
    LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, a);
}

static void enum_attr(em *e, Val f, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(e->cx, kind, 0));
}

/* Not in a loop of kernels, where it is inlined and its numbers become constants. */
void em_func_rare(em *e)
{
    if (!e->x86 || e->fit)
        return;
    enum_attr(e, e->f, "optnone");
    enum_attr(e, e->f, "noinline"); /* which optnone wants */
}

Val em_func(em *e, const char *name, Ty ret, const Ty *args, unsigned nargs, bool exported)
{
    e->f = LLVMAddFunction(e->m, name, LLVMFunctionType(ret, (Ty *)args, nargs, 0));
    enum_attr(e, e->f, "nounwind");
    string_attr(e, e->f, "frame-pointer", "all"); /* backtraces go through code without tables */
    /* or code generation splits every vector in two where the tuning prefers that */
    if (e->avx512) {
        string_attr(e, e->f, "prefer-vector-width", "512");
        string_attr(e, e->f, "min-legal-vector-width", "512");
    }
    if (!exported)
        LLVMSetLinkage(e->f, LLVMInternalLinkage);
    LLVMPositionBuilderAtEnd(e->b, LLVMAppendBasicBlockInContext(e->cx, e->f, ""));
    return e->f;
}

Val em_shared_func(em *e, const char *name, Ty ret, const Ty *args, unsigned nargs)
{
    em_modules *s = e->shared;
    if (!s || s->n == LZ_SHARED)
        return em_func(e, name, ret, args, nargs, false);
    LLVMModuleRef m = LLVMModuleCreateWithNameInContext("shared", e->cx);
    LLVMSetDataLayout(m, LLVMGetDataLayoutStr(e->m));
    LLVMSetTarget(m, LLVMGetTarget(e->m));
    e->own = e->m;
    e->m = s->m[s->n++] = m;
    return em_func(e, lz_shared_name(0), ret, args, nargs,
                   true); /* one name: or no two were the same */
}

Val em_shared_end(em *e, Val f)
{
    if (!e->own)
        return f;
    e->m = e->own;
    e->own = NULL;
    Val d = LLVMAddFunction(e->m, lz_shared_name(e->shared->n - 1), LLVMGlobalGetValueType(f));
    enum_attr(e, d, "nounwind");
    LLVMSetVisibility(d, LLVMHiddenVisibility);
    return d;
}

Val em_fail(em *e, Ty t, const char *what)
{
    if (e->status == LZ_OK)
        e->status = LZ_FAIL(LZ_EUNSUPPORTED, "code generation: %s", what);
    return LLVMConstNull(t);
}

/* ---- types ---- */

Ty em_vec(Ty elem, unsigned n)
{
    return n == 1 ? elem : LLVMVectorType(elem, n);
}

Ty em_type(em *e, lz_dtype d, unsigned n)
{
    switch (d) {
    case LZ_BOOL:
        return em_vec(e->i1, n);
    case LZ_I2:
    case LZ_I4:
    case LZ_U2:
    case LZ_U4:
    case LZ_F4E2M1FN:
        return em_vec(LLVMIntTypeInContext(e->cx, (unsigned)lz_dtype_bits(d)), n);
    case LZ_I8:
    case LZ_U8:
        return em_vec(e->i8, n);
    case LZ_I16:
    case LZ_U16:
        return em_vec(e->i16, n);
    case LZ_I32:
    case LZ_U32:
        return em_vec(e->i32, n);
    case LZ_I64:
    case LZ_U64:
        return em_vec(e->i64, n);
    case LZ_F64:
    case LZ_C128:
        return em_vec(e->f64, n);
    default:
        return em_vec(lz_dtype_is_storage(d) ? e->i8 : e->f32, n);
    }
}

Ty em_mem(em *e, lz_dtype d)
{
    if (d == LZ_BOOL || lz_dtype_is_narrow(d))
        return e->i8;
    return d == LZ_F16 || d == LZ_BF16 ? e->i16 : em_type(e, d, 1);
}

static bool is_vec(Ty t)
{
    return LLVMGetTypeKind(t) == LLVMVectorTypeKind;
}

unsigned em_lanes(Val v)
{
    Ty t = LLVMTypeOf(v);
    return is_vec(t) ? LLVMGetVectorSize(t) : 1;
}

Ty em_elem(Ty t)
{
    return is_vec(t) ? LLVMGetElementType(t) : t;
}

Ty em_like(em *e, Ty elem, Val v)
{
    (void)e;
    return em_vec(elem, em_lanes(v));
}

unsigned em_bits(em *e, Ty t)
{
    Ty s = em_elem(t);
    if (s == e->f32)
        return 32;
    if (s == e->f64 || s == e->ptr)
        return 64;
    return s == e->f16 ? 16 : LLVMGetIntTypeWidth(s);
}

/* ---- constants ---- */

static Val splat_const(Ty t, Val s)
{
    if (!is_vec(t))
        return s;
    Val lane[EM_LANES];
    unsigned n = LLVMGetVectorSize(t);
    for (unsigned i = 0; i < n; i++)
        lane[i] = s;
    return LLVMConstVector(lane, n);
}

Val em_ci(Ty t, int64_t v)
{
    return splat_const(t, LLVMConstInt(em_elem(t), (uint64_t)v, 1));
}

Val em_cf(Ty t, double v)
{
    return splat_const(t, LLVMConstReal(em_elem(t), v));
}

Val em_cfbits(em *e, Ty t, uint64_t bits)
{
    Ty s = em_elem(t), it = s == e->f64 ? e->i64 : e->i32;
    return splat_const(t, LLVMConstBitCast(LLVMConstInt(it, bits, 0), s));
}

Val em_c64(em *e, int64_t v)
{
    return LLVMConstInt(e->i64, (uint64_t)v, 1);
}

Val em_c32(em *e, int64_t v)
{
    return LLVMConstInt(e->i32, (uint64_t)v, 1);
}

Val em_iota(em *e, Ty int_elem, unsigned n)
{
    (void)e;
    Val lane[EM_LANES];
    for (unsigned i = 0; i < n; i++)
        lane[i] = LLVMConstInt(int_elem, i, 0);
    return n == 1 ? lane[0] : LLVMConstVector(lane, n);
}

Val em_true(em *e, unsigned n)
{
    return LLVMConstAllOnes(em_vec(e->i1, n));
}

bool em_is_ci(Val v, int64_t *value)
{
    Ty t = LLVMTypeOf(v);
    unsigned n = em_lanes(v);
    if (!LLVMIsConstant(v) || LLVMGetTypeKind(em_elem(t)) != LLVMIntegerTypeKind)
        return false;
    Val first = n == 1 ? v : LLVMGetAggregateElement(v, 0);
    for (unsigned i = 1; i < n; i++)
        if (LLVMGetAggregateElement(v, i) != first) /* equal constants are one */
            return false;
    if (!first || !LLVMIsAConstantInt(first))
        return false;
    *value = LLVMConstIntGetSExtValue(first);
    return true;
}

/* ---- lanes ---- */

Val em_shuffle(em *e, Val a, Val b, const int *idx, unsigned n)
{
    Val k[EM_LANES];
    for (unsigned i = 0; i < n; i++)
        k[i] = idx[i] < 0 ? LLVMGetPoison(e->i32) : em_c32(e, idx[i]);
    return LLVMBuildShuffleVector(e->b, a, b, LLVMConstVector(k, n), "");
}

Val em_splat(em *e, Val s, unsigned n)
{
    if (n == 1 || em_lanes(s) == n)
        return s;
    if (LLVMIsConstant(s))
        return splat_const(em_vec(LLVMTypeOf(s), n), s);
    Ty t = em_vec(LLVMTypeOf(s), n);
    Val v = LLVMBuildInsertElement(e->b, LLVMGetPoison(t), s, em_c32(e, 0), "");
    return LLVMBuildShuffleVector(e->b, v, LLVMGetPoison(t), LLVMConstNull(em_vec(e->i32, n)), "");
}

Val em_extract(em *e, Val v, unsigned lane)
{
    return em_lanes(v) == 1 ? v : LLVMBuildExtractElement(e->b, v, em_c32(e, lane), "");
}

/* Transposes n x n in registers: blocks of 1, 2, 4, ... lanes off the diagonal change places. */
void em_cut(em *e)
{
    Blk next = LLVMAppendBasicBlockInContext(e->cx, e->f, "");
    LLVMBuildBr(e->b, next);
    LLVMPositionBuilderAtEnd(e->b, next);
}

/* Each step in a block of its own: what instruction selection tries on chains of shuffles grows
 * with the square of their length and more. */
void em_transpose(em *e, Val *row, unsigned n)
{
    for (unsigned s = 1; s < n; s *= 2) {
        em_cut(e);
        int lo[EM_LANES], hi[EM_LANES];
        for (unsigned c = 0; c < n; c++) {
            lo[c] = (int)(c & s ? n + c - s : c);
            hi[c] = (int)(c & s ? n + c : c + s);
        }
        for (unsigned i = 0; i < n; i++) {
            if (i & s)
                continue;
            Val a = row[i], b = row[i + s];
            row[i] = em_shuffle(e, a, b, lo, n);
            row[i + s] = em_shuffle(e, a, b, hi, n);
        }
    }
}

Val em_tail_mask(em *e, Val left, unsigned n)
{
    if (n == 1)
        return ICMP(SGT, left, em_c64(e, 0));
    Val c = em_smax(e, em_smin(e, left, em_c64(e, n)), em_c64(e, 0));
    Ty it = n > 32 ? e->i8 : n > 16 ? e->i16 : e->i32;
    c = em_splat(e, LLVMBuildTrunc(e->b, c, it, ""), n);
    return ICMP(SLT, em_iota(e, it, n), c);
}

Val em_any(em *e, Val mask)
{
    unsigned n = em_lanes(mask);
    if (n > 1 && !e->nvptx)
        return em_intr1(e, "llvm.vector.reduce.or", mask);
    Val any = em_extract(e, mask, 0);
    for (unsigned i = 1; i < n; i++)
        any = OR(any, em_extract(e, mask, i));
    return any;
}

/* ---- intrinsics and external functions ---- */

/* LLVM ends the process over an intrinsic that its NVPTX target has no code for: only these have
 * been tried, with every scalar type. */
static bool has_ptx(const char *name)
{
    static const char *const tried[] = {"abs",   "ceil",  "copysign",   "ctlz",       "ctpop",
                                        "fabs",  "floor", "fma",        "fptosi.sat", "rint",
                                        "smax",  "smin",  "maximum",    "minimum",    "sqrt",
                                        "trunc", "umax",  "fptoui.sat", "umin"};
    if (strncmp(name, "llvm.nvvm.", 10) == 0)
        return true;
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++)
        if (strcmp(name + 5, tried[i]) == 0)
            return true;
    return false;
}

Val em_intr(em *e, const char *name, const Ty *ov, unsigned nov, const Val *a, unsigned n)
{
    if (e->nvptx && !has_ptx(name))
        return em_fail(e, nov ? ov[0] : e->i32, name);
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    Val fn = LLVMGetIntrinsicDeclaration(e->m, id, (Ty *)ov, nov);
    return LLVMBuildCall2(e->b, LLVMIntrinsicGetType(e->cx, id, (Ty *)ov, nov), fn, (Val *)a, n,
                          "");
}

Val em_intr1(em *e, const char *name, Val a)
{
    Ty t = LLVMTypeOf(a);
    return em_intr(e, name, &t, 1, &a, 1);
}

/* The smaller or larger one of two constants: sizes that are known give many of these. */
static Val known(Val a, Val b, const char *name)
{
    int64_t x, y;
    if (!em_is_ci(a, &x) || !em_is_ci(b, &y))
        return NULL;
    if (strcmp(name, "llvm.smin") == 0)
        return x < y ? a : b;
    if (strcmp(name, "llvm.smax") == 0)
        return x < y ? b : a;
    return NULL;
}

Val em_intr2(em *e, const char *name, Val a, Val b)
{
    Ty t = LLVMTypeOf(a);
    Val is = known(a, b, name);
    return is ? is : em_intr(e, name, &t, 1, (Val[]){a, b}, 2);
}

Val em_fma(em *e, Val a, Val b, Val c)
{
    Ty t = LLVMTypeOf(a);
    if (e->fma)
        return em_intr(e, "llvm.fma", &t, 1, (Val[]){a, b, c}, 3);
    if (em_elem(t) == e->f64) /* no user needs the exact one */
        return FADD(FMUL(a, b), c);
    Ty w = em_like(e, e->f64, a); /* the product of two floats is exact in double */
    Val p = FMUL(LLVMBuildFPExt(e->b, a, w, ""), LLVMBuildFPExt(e->b, b, w, ""));
    return LLVMBuildFPTrunc(e->b, FADD(p, LLVMBuildFPExt(e->b, c, w, "")), t, "");
}

/* NVPTX takes vectors of f32 that are loaded and widened for a load that widens, and prints one
 * that no assembler accepts. */
static Val widen_apart(em *e, Val x)
{
    unsigned lanes = em_lanes(x);
    if (lanes == 1)
        return em_asm(e, "cvt.f64.f32 $0, $1;", "=d,f", e->f64, &x, 1, false);
    Val out = LLVMGetPoison(em_like(e, e->f64, x));
    for (unsigned i = 0; i < lanes; i++)
        out = LLVMBuildInsertElement(e->b, out, widen_apart(e, em_extract(e, x, i)), em_c32(e, i),
                                     "");
    return out;
}

Val em_widen(em *e, Val x)
{
    return e->nvptx ? widen_apart(e, x) : LLVMBuildFPExt(e->b, x, em_like(e, e->f64, x), "");
}

/* Whether x is so far from the ends of the range that no step of a division of two such numbers
 * leaves it. */
static Val in_range(em *e, Val x)
{
    Val bits = AND(BITS(x, e->i32), em_c32(e, 0x7FFFFFFF));
    return ICMP(ULT, SUB(bits, em_c32(e, 67 << 23)), em_c32(e, 120 << 23)); /* 2^-60 to 2^60 */
}

/* By the reciprocal, corrected as often as it takes for the nearest number. *right: it is. -0 loses
 * its sign. */
static Val quotient(em *e, Val a, Val b, Val *right)
{
    Val y = em_asm(e, "rcp.approx.ftz.f32 $0, $1;", "=f,f", e->f32, &b, 1, false), minus = FNEG(b);
    y = em_fma(e, y, em_fma(e, minus, y, em_cf(e->f32, 1)), y);
    Val q = FMUL(a, y), zero = ICMP(EQ, BITS(a, e->i32), em_c32(e, 0));
    for (int i = 0; i < 2; i++)
        q = em_fma(e, em_fma(e, minus, q, a), y, q);
    *right = AND(in_range(e, b), OR(zero, in_range(e, a)));
    return q;
}

Val em_fdiv(em *e, Val a, Val b)
{
    Ty t = LLVMTypeOf(a);
    unsigned lanes = em_lanes(a);
    if (!e->nvptx || em_elem(t) != e->f32 || LLVMIsConstant(b))
        return FDIV(a, b);
    Val out = lanes > 1 ? LLVMGetPoison(t) : NULL, all = em_ci(e->i1, 1), slow;
    for (unsigned i = 0; i < lanes; i++) {
        Val right, q = quotient(e, lanes > 1 ? em_extract(e, a, i) : a,
                                lanes > 1 ? em_extract(e, b, i) : b, &right);
        all = AND(all, right);
        out = lanes > 1 ? LLVMBuildInsertElement(e->b, out, q, em_c32(e, i), "") : q;
    }
    em_if other;
    em_if_begin(e, &other, NOT(all));
    slow = FDIV(a, b);
    em_if_end(e, &other, 1, &slow, &out, &out);
    return out;
}

Val em_poly(em *e, Val x, const double *c, int n)
{
    Ty t = LLVMTypeOf(x);
    Val p = em_cf(t, c[n - 1]);
    for (int i = n - 2; i >= 0; i--)
        p = em_fma(e, p, x, em_cf(t, c[i]));
    return p;
}

Val em_declare(em *e, const char *name, Ty ret, const Ty *args, unsigned n)
{
    Val f = LLVMGetNamedFunction(e->m, name);
    if (f)
        return f;
    f = LLVMAddFunction(e->m, name, LLVMFunctionType(ret, (Ty *)args, n, 0));
    enum_attr(e, f, "nounwind");
    return f;
}

Val em_call(em *e, const char *name, Ty ret, const Val *a, unsigned n)
{
    enum { MOST = 10 };
    Ty types[MOST];
    if (n > MOST)
        return em_fail(e, e->i32, name);
    for (unsigned i = 0; i < n; i++)
        types[i] = LLVMTypeOf(a[i]);
    Val f = em_declare(e, name, ret, types, n);
    return LLVMBuildCall2(e->b, LLVMFunctionType(ret, types, n, 0), f, (Val *)a, n, "");
}

Val em_asm(em *e, const char *text, const char *form, Ty ret, const Val *a, unsigned n,
           bool effects)
{
    Ty types[EM_PHI];
    for (unsigned i = 0; i < n; i++)
        types[i] = LLVMTypeOf(a[i]);
    Ty ft = LLVMFunctionType(ret, types, n, 0);
    Val f = LLVMGetInlineAsm(ft, text, strlen(text), form, strlen(form), effects, 0,
                             LLVMInlineAsmDialectATT, 0);
    return LLVMBuildCall2(e->b, ft, f, (Val *)a, n, "");
}

/* ---- quotients of indices ---- */

Val em_ceil_div(em *e, Val n, int64_t by)
{
    if (by == 1)
        return n;
    return LLVMBuildUDiv(e->b, ADD(n, em_c64(e, by - 1)), em_c64(e, by), "");
}

Val em_ceil(em *e, Val n, Val by)
{
    return LLVMBuildUDiv(e->b, SUB(ADD(n, by), em_c64(e, 1)), by, "");
}

Val em_split_index(em *e, Val *i, Val n)
{
    Val q = LLVMBuildUDiv(e->b, *i, n, ""), r = SUB(*i, MUL(q, n));
    *i = q;
    return r;
}

/* ---- control ---- */

static Blk block(em *e)
{
    return LLVMAppendBasicBlockInContext(e->cx, e->f, "");
}

void em_loop_begin(em *e, em_loop *l, Val lo, Val hi, Val step, int n, const Val *init)
{
    l->pre = LLVMGetInsertBlock(e->b);
    l->body = block(e);
    l->exit = block(e);
    l->hi = hi;
    l->step = step;
    l->n = n;
    LLVMBuildCondBr(e->b, ICMP(SLT, lo, hi), l->body, l->exit);
    LLVMPositionBuilderAtEnd(e->b, l->body);
    l->i = LLVMBuildPhi(e->b, LLVMTypeOf(lo), "");
    LLVMAddIncoming(l->i, &lo, &l->pre, 1);
    for (int k = 0; k < n; k++) {
        l->init[k] = init[k];
        l->phi[k] = LLVMBuildPhi(e->b, LLVMTypeOf(init[k]), "");
        LLVMAddIncoming(l->phi[k], &l->init[k], &l->pre, 1);
    }
}

void em_loop_end(em *e, em_loop *l, const Val *next)
{
    Blk latch = LLVMGetInsertBlock(e->b);
    Val i2 = LLVMBuildNSWAdd(e->b, l->i, l->step, "");
    LLVMBuildCondBr(e->b, ICMP(SLT, i2, l->hi), l->body, l->exit);
    LLVMAddIncoming(l->i, &i2, &latch, 1);
    LLVMPositionBuilderAtEnd(e->b, l->exit);
    for (int k = 0; k < l->n; k++) {
        Val nx = next[k];
        LLVMAddIncoming(l->phi[k], &nx, &latch, 1);
        Val out = LLVMBuildPhi(e->b, LLVMTypeOf(nx), "");
        LLVMAddIncoming(out, (Val[]){l->init[k], nx}, (Blk[]){l->pre, latch}, 2);
        l->phi[k] = out;
    }
}

void em_if_begin(em *e, em_if *s, Val c)
{
    s->from = LLVMGetInsertBlock(e->b);
    s->then = block(e);
    s->join = block(e);
    s->c = c;
    LLVMBuildCondBr(e->b, c, s->then, s->join);
    LLVMPositionBuilderAtEnd(e->b, s->then);
}

static void join_values(em *e, int n, const Val *a, Blk from_a, const Val *b, Blk from_b, Val *out)
{
    for (int k = 0; k < n; k++) {
        Val va = a[k], vb = b[k], p = LLVMBuildPhi(e->b, LLVMTypeOf(va), "");
        LLVMAddIncoming(p, (Val[]){va, vb}, (Blk[]){from_a, from_b}, 2);
        out[k] = p;
    }
}

void em_if_end(em *e, em_if *s, int n, const Val *then_vals, const Val *else_vals, Val *out)
{
    Blk end = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, s->join);
    LLVMPositionBuilderAtEnd(e->b, s->join);
    join_values(e, n, then_vals, end, else_vals, s->from, out);
}

void em_ifelse_begin(em *e, em_ifelse *s, Val c)
{
    s->then = block(e);
    s->other = block(e);
    s->join = block(e);
    LLVMBuildCondBr(e->b, c, s->then, s->other);
    LLVMPositionBuilderAtEnd(e->b, s->then);
}

void em_ifelse_else(em *e, em_ifelse *s)
{
    s->then_end = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, s->join);
    LLVMPositionBuilderAtEnd(e->b, s->other);
}

void em_ifelse_end(em *e, em_ifelse *s, int n, const Val *then_vals, const Val *else_vals, Val *out)
{
    Blk end = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, s->join);
    LLVMPositionBuilderAtEnd(e->b, s->join);
    join_values(e, n, then_vals, s->then_end, else_vals, end, out);
}
