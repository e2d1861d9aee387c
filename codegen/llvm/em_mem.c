/* em_mem.c - memory access and the storage forms of the dtypes: booleans are bytes, 16-bit floats
 * are i16 bits and computed in f32.
 * Threads: an em belongs to one thread. */
#include "codegen/llvm/em.h"

Val em_at(em *e, Val p, Val index, int64_t scale)
{
    if (LLVMIsConstant(index) && LLVMConstIntGetSExtValue(index) == 0)
        return p;
    if (LLVMIsConstant(index) || scale < 1) {
        Val off = scale == 1 ? index : MUL(index, em_c64(e, scale));
        return LLVMBuildGEP2(e->b, e->i8, p, &off, 1, "");
    }
    Ty unit = scale == 1 ? e->i8 : LLVMArrayType2(e->i8, (uint64_t)scale);
    return LLVMBuildGEP2(e->b, unit, p, &index, 1, "");
}

Val em_load(em *e, Ty t, Val p, unsigned align)
{
    Val v = LLVMBuildLoad2(e->b, t, p, "");
    LLVMSetAlignment(v, align);
    return v;
}

void em_store(em *e, Val v, Val p, unsigned align)
{
    LLVMSetAlignment(LLVMBuildStore(e->b, v, p), align);
}

void em_store_nt(em *e, Val v, Val p, unsigned align)
{
    static const char name[] = "nontemporal";
    LLVMMetadataRef one = LLVMValueAsMetadata(em_c32(e, 1));
    Val s = LLVMBuildStore(e->b, v, p),
        node = LLVMMetadataAsValue(e->cx, LLVMMDNodeInContext2(e->cx, &one, 1));
    LLVMSetAlignment(s, align);
    LLVMSetMetadata(s, LLVMGetMDKindIDInContext(e->cx, name, sizeof name - 1), node);
}

Val em_alloca(em *e, Ty t, uint64_t count, unsigned align)
{
    Blk here = LLVMGetInsertBlock(e->b), entry = LLVMGetEntryBasicBlock(e->f);
    Val first = LLVMGetFirstInstruction(entry);
    if (first)
        LLVMPositionBuilderBefore(e->b, first);
    else
        LLVMPositionBuilderAtEnd(e->b, entry);
    Val p = LLVMBuildAlloca(e->b, count == 1 ? t : LLVMArrayType2(t, count), "");
    LLVMSetAlignment(p, align);
    LLVMPositionBuilderAtEnd(e->b, here);
    return p;
}

Val em_mload(em *e, Ty t, Val p, Val mask, Val other, unsigned align)
{
    Val a[4] = {p, em_c32(e, align), mask, other ? other : LLVMConstNull(t)};
    return em_intr(e, "llvm.masked.load", (Ty[]){t, e->ptr}, 2, a, 4);
}

void em_mstore(em *e, Val v, Val p, Val mask, unsigned align)
{
    Val a[4] = {v, p, em_c32(e, align), mask};
    em_intr(e, "llvm.masked.store", (Ty[]){LLVMTypeOf(v), e->ptr}, 2, a, 4);
}

Val em_gather(em *e, Ty t, Val ptrs, Val mask, Val other, unsigned align)
{
    Val a[4] = {ptrs, em_c32(e, align), mask, other ? other : LLVMConstNull(t)};
    return em_intr(e, "llvm.masked.gather", (Ty[]){t, LLVMTypeOf(ptrs)}, 2, a, 4);
}

void em_scatter(em *e, Val v, Val ptrs, Val mask, unsigned align)
{
    Val a[4] = {v, ptrs, em_c32(e, align), mask};
    em_intr(e, "llvm.masked.scatter", (Ty[]){LLVMTypeOf(v), LLVMTypeOf(ptrs)}, 2, a, 4);
}

void em_prefetch(em *e, Val p, bool write, int locality)
{
    Val a[4] = {p, em_c32(e, write), em_c32(e, locality), em_c32(e, 1)};
    em_intr(e, "llvm.prefetch", &e->ptr, 1, a, 4);
}

/* ---- 16-bit floats ---- */

/* By instructions of NVIDIA's processors, of pairs where there are pairs: a NaN becomes one of
 * theirs. */
static Val bf16_bits_ptx(em *e, Val v)
{
    unsigned n = em_lanes(v);
    if (n == 1)
        return BITS(em_intr(e, "llvm.nvvm.f2bf16.rn", NULL, 0, &v, 1), e->i16);
    Val out = LLVMGetPoison(em_vec(e->i16, n));
    for (unsigned i = 0; i < n; i += 2) {
        Val low = em_extract(e, v, i), high = i + 1 < n ? em_extract(e, v, i + 1) : low;
        Val pair = em_intr(e, "llvm.nvvm.ff2bf16x2.rn", NULL, 0, (Val[]){high, low}, 2);
        pair = BITS(pair, em_vec(e->i16, 2));
        for (unsigned j = 0; j < 2 && i + j < n; j++)
            out = LLVMBuildInsertElement(e->b, out, em_extract(e, pair, j), em_c32(e, i + j), "");
    }
    return out;
}

Val em_f32_to_bf16_bits(em *e, Val v)
{
    if (e->nvptx)
        return bf16_bits_ptx(e, v);
    Ty it = em_like(e, e->i32, v);
    Val u = BITS(v, it);
    Val odd = AND(LSHR(u, em_ci(it, 16)), em_ci(it, 1));
    Val r = LSHR(ADD(ADD(u, em_ci(it, 0x7fff)), odd), em_ci(it, 16));
    Val quiet = OR(LSHR(u, em_ci(it, 16)), em_ci(it, 0x40));
    r = SEL(FCMP(UNO, v, v), quiet, r);
    return LLVMBuildTrunc(e->b, r, em_like(e, e->i16, v), "");
}

Val em_bf16_bits_to_f32(em *e, Val v)
{
    Ty it = em_like(e, e->i32, v);
    Val u = SHL(LLVMBuildZExt(e->b, v, it, ""), em_ci(it, 16));
    return BITS(u, em_like(e, e->f32, v));
}

/* Without F16C, by adding a number whose last place is that of the result (normal results), or 0.5
 * (subnormal ones). */
static Val f16_bits_soft(em *e, Val v)
{
    Ty ft = LLVMTypeOf(v), it = em_like(e, e->i32, v);
    Val u = BITS(v, it), sign = AND(u, em_ci(it, 0x80000000)), a = XOR(u, sign);
    Val odd = AND(LSHR(a, em_ci(it, 13)), em_ci(it, 1));
    Val normal = LSHR(ADD(ADD(a, em_ci(it, (int64_t)0xc8000fff)), odd),
                      em_ci(it, 13)); /* rebias by -112, round to even */
    Val magic = em_ci(it, 126 << 23); /* 0.5: last place 2^-24 */
    Val sub = SUB(BITS(FADD(BITS(a, ft), em_cf(ft, 0.5)), it), magic);
    Val r = SEL(ICMP(ULT, a, em_ci(it, 113 << 23)), sub, normal);
    /* infinity, and NaN with what they carry: an element that is only moved stays as it is */
    Val inf = em_ci(it, 0x7c00), carried = OR(AND(LSHR(a, em_ci(it, 13)), em_ci(it, 0x3ff)), inf);
    Val nan = SEL(ICMP(EQ, carried, inf), em_ci(it, 0x7e00), carried);
    Val big = SEL(ICMP(UGT, a, em_ci(it, 0x7f800000)), nan, inf);
    r = SEL(ICMP(UGE, a, em_ci(it, 0x477ff000)), big, r); /* 65520 and above round to infinity */
    r = OR(r, LSHR(sign, em_ci(it, 16)));
    return LLVMBuildTrunc(e->b, r, em_like(e, e->i16, v), "");
}

static Val f16_value_soft(em *e, Val v)
{
    Ty it = em_like(e, e->i32, v), ft = em_like(e, e->f32, v);
    Val u = LLVMBuildZExt(e->b, v, it, "");
    Val mag = SHL(AND(u, em_ci(it, 0x7fff)), em_ci(it, 13));
    Val f = FMUL(BITS(mag, ft), em_cf(ft, 0x1p112)); /* exact: subnormals become normal */
    Val special = OR(mag, em_ci(it, 0x7f800000));
    Val r = SEL(ICMP(UGE, mag, em_ci(it, 0x7c00 << 13)), special, BITS(f, it));
    return BITS(OR(r, SHL(AND(u, em_ci(it, 0x8000)), em_ci(it, 16))), ft);
}

Val em_f32_to_f16_bits(em *e, Val v)
{
    if (!e->f16c)
        return f16_bits_soft(e, v);
    return BITS(LLVMBuildFPTrunc(e->b, v, em_like(e, e->f16, v), ""), em_like(e, e->i16, v));
}

Val em_f16_bits_to_f32(em *e, Val v)
{
    if (!e->f16c)
        return f16_value_soft(e, v);
    return LLVMBuildFPExt(e->b, BITS(v, em_like(e, e->f16, v)), em_like(e, e->f32, v), "");
}

/* As the upper half of a pair, whose lower one is 0: one instruction. */
static Val round_to_bf16_ptx(em *e, Val v)
{
    unsigned n = em_lanes(v);
    Val out = LLVMGetPoison(LLVMTypeOf(v));
    for (unsigned i = 0; i < n; i++) {
        Val in[2] = {n == 1 ? v : em_extract(e, v, i), em_cf(e->f32, 0)};
        Val r = em_asm(e, "cvt.rn.bf16x2.f32 $0, $1, $2;", "=r,f,f", e->i32, in, 2, false);
        r = BITS(r, e->f32);
        out = n == 1 ? r : LLVMBuildInsertElement(e->b, out, r, em_c32(e, i), "");
    }
    return out;
}

Val em_round_to(em *e, lz_dtype d, Val v)
{
    if (d == LZ_BF16 && e->nvptx && em_elem(LLVMTypeOf(v)) == e->f32)
        return round_to_bf16_ptx(e, v);
    if (d == LZ_BF16)
        return em_bf16_bits_to_f32(e, em_f32_to_bf16_bits(e, v));
    return d == LZ_F16 ? em_f16_bits_to_f32(e, em_f32_to_f16_bits(e, v)) : v;
}

Val em_from_mem(em *e, lz_dtype d, Val m)
{
    if (d == LZ_BOOL)
        return ICMP(NE, m, LLVMConstNull(LLVMTypeOf(m)));
    if (lz_dtype_is_narrow(d))
        return LLVMBuildTrunc(e->b, m, em_type(e, d, em_lanes(m)), "");
    if (d == LZ_BF16)
        return em_bf16_bits_to_f32(e, m);
    return d == LZ_F16 ? em_f16_bits_to_f32(e, m) : m;
}

Val em_to_mem(em *e, lz_dtype d, Val v)
{
    if (d == LZ_BOOL)
        return LLVMBuildZExt(e->b, v, em_like(e, e->i8, v), "");
    if (lz_dtype_is_narrow(d))
        return lz_dtype_is_signed(d) ? LLVMBuildSExt(e->b, v, em_like(e, e->i8, v), "")
                                     : LLVMBuildZExt(e->b, v, em_like(e, e->i8, v), "");
    if (d == LZ_BF16) { /* the value is a bf16 already: its low half is zero */
        Val u = LSHR(BITS(v, em_like(e, e->i32, v)), em_ci(em_like(e, e->i32, v), 16));
        return LLVMBuildTrunc(e->b, u, em_like(e, e->i16, v), "");
    }
    return d == LZ_F16 ? em_f32_to_f16_bits(e, v) : v;
}

/* ---- numbers in an array ---- */

void em_numbers_begin(em *e, em_numbers *x)
{
    x->fn = em_shared_func(e, "numbers", e->none, (Ty[]){e->ptr, e->ptr}, 2);
    em_func_rare(e);
    for (unsigned i = 0; i < x->nfrom; i++)
        *x->from[i] = em_load(e, e->i64, em_at(e, LLVMGetParam(x->fn, 0), em_c64(e, i), 8), 8);
}

void em_numbers_end(em *e, em_numbers *x)
{
    Val array = LLVMGetParam(x->fn, 1);
    for (unsigned i = 0; i < x->n; i++) {
        Val v = *x->v[i];
        x->constant[i] = LLVMIsConstant(v);
        x->bit[i] = LLVMTypeOf(v) == e->i1;
        if (x->bit[i])
            v = LLVMBuildZExt(e->b, v, e->i64, "");
        if (!x->constant[i])
            em_store(e, v, em_at(e, array, em_c64(e, i), 8), 8);
    }
    LLVMBuildRetVoid(e->b);
    x->fn = em_shared_end(e, x->fn);
}

/* The array. */
static Val compute(em *e, const em_numbers *x)
{
    Val array = em_alloca(e, e->i64, x->n, 8), from = em_alloca(e, e->i64, x->nfrom, 8);
    for (unsigned i = 0; i < x->nfrom; i++)
        em_store(e, *x->from[i], em_at(e, from, em_c64(e, i), 8), 8);
    LLVMBuildCall2(e->b, LLVMGlobalGetValueType(x->fn), x->fn, (Val[]){from, array}, 2, "");
    return array;
}

Val em_numbers_at(em *e, const em_numbers *x, Val i)
{
    return em_load(e, e->i64, em_at(e, compute(e, x), i, 8), 8);
}

void em_numbers_size(em *e, const em_numbers *x, Val at, const char *name, const Val *size)
{
    Val f = em_func(e, name, e->i64, &e->ptr, 1, true);
    em_func_rare(e);
    unsigned i = 0;
    while (x->v[i] != size)
        i++;
    Val args[2] = {LLVMGetParam(f, 0), em_c64(e, i)};
    LLVMBuildRet(e->b, x->constant[i]
                           ? *size
                           : LLVMBuildCall2(e->b, LLVMGlobalGetValueType(at), at, args, 2, ""));
}

void em_numbers_get(em *e, const em_numbers *x)
{
    Val array = compute(e, x);
    for (unsigned i = 0; i < x->n; i++) {
        if (x->constant[i])
            continue;
        Val v = em_load(e, e->i64, em_at(e, array, em_c64(e, i), 8), 8);
        *x->v[i] = x->bit[i] ? ICMP(NE, v, em_c64(e, 0)) : v;
    }
}
