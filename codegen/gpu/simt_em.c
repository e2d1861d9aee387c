/* simt_em.c - a GPU kernel's function: parameters, special registers, barriers, shuffles and shared
 * memory, as intrinsics of NVPTX or as calls of the emulator.
 * Threads: belongs to one thread. */
#include "codegen/gpu/simt_kern.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { GLOBAL = 1, SHARED = 3, PTX_KERNEL = 71 /* calling convention */ };

/* ---- the function ---- */

static Val special(em *e, const char *name)
{
    return LLVMBuildZExt(e->b, em_intr(e, name, NULL, 0, NULL, 0), e->i64, "");
}

static Val field(simt *s, size_t offset)
{
    em *e = s->e;
    Val p = em_at(e, s->thread, em_c64(e, (int64_t)offset), 1);
    return LLVMBuildZExt(e->b, em_load(e, e->i32, p, 4), e->i64, "");
}

/* !nvvm.annotations = {fn, name, what} */
static void annotate(em *e, Val f, const char *name, LLVMMetadataRef what)
{
    LLVMMetadataRef parts[3] = {LLVMValueAsMetadata(f),
                                LLVMMDStringInContext2(e->cx, name, strlen(name)), what};
    Val node = LLVMMetadataAsValue(e->cx, LLVMMDNodeInContext2(e->cx, parts, 3));
    LLVMAddNamedMetadataOperand(e->m, "nvvm.annotations", node);
}

static LLVMMetadataRef number(em *e, uint32_t n)
{
    return LLVMValueAsMetadata(em_c32(e, n));
}

/* Parameters `first` and the next are tensor maps: by value, and read where they are. */
static void take_maps(simt *s, Val f, uint32_t first)
{
    em *e = s->e;
    unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5),
             align = LLVMGetEnumAttributeKindForName("align", 5);
    Ty map = LLVMArrayType2(e->i8, SIMT_MAP_BYTES);
    LLVMMetadataRef which[2]; /* counted from 1 */
    for (uint32_t i = 0; i < 2; i++) {
        LLVMAddAttributeAtIndex(f, first + i + 1, LLVMCreateTypeAttribute(e->cx, byval, map));
        LLVMAddAttributeAtIndex(f, first + i + 1, LLVMCreateEnumAttribute(e->cx, align, 64));
        s->map[i] = LLVMGetParam(f, first + i);
        which[i] = number(e, first + i + 1);
    }
    annotate(e, f, "grid_constant", LLVMMDNodeInContext2(e->cx, which, 2));
}

/* Some function of the kernel has swizzled rows of 128 bytes, 8 of which are a unit. */
static bool swizzles(const lz_kernel *k, const lz_target *t)
{
    return lz_simt_entry_name(k, t, SIMT_WGMMA) || lz_simt_entry_name(k, t, SIMT_FLASH_WGMMA);
}

static void begin_ptx(simt *s, kern *c)
{
    em *e = s->e;
    const lz_kernel *k = s->k;
    bool far = lz_simt_args_in_memory(k);
    bool scratch = lz_simt_takes_scratch(k);
    uint32_t nsize = far ? 1 : k->narg, n = k->nbuf + nsize;
    uint32_t nparam = n + (scratch ? 2 : 0), nmap = s->entry == SIMT_TMA ? 2 : 0;
    Ty types[SIMT_PARAMS + 5], global = LLVMPointerTypeInContext(e->cx, GLOBAL);
    for (uint32_t i = 0; i < k->nbuf; i++)
        types[i] = global;
    for (uint32_t i = 0; i < nsize; i++)
        types[k->nbuf + i] = far ? global : e->i64;
    /* of no address space: code that sorts knows of none */
    bool sorts = s->plan.kind == SIMT_SORT || s->plan.kind == SIMT_ELEMENTWISE;
    types[n] = sorts ? e->ptr : global;
    types[n + 1] = e->i64;
    for (uint32_t i = 0; i < nmap; i++)
        types[nparam + i] = e->ptr;
    Val f = em_func(e, lz_simt_entry_name(k, e->t, s->entry), e->none, types, nparam + nmap, true);
    LLVMSetFunctionCallConv(f, PTX_KERNEL);
    /* registers are allotted for such blocks */
    annotate(e, f, "maxntidx", number(e, s->plan.max_block));
    if (s->plan.min_blocks) /* that many at a time on a multiprocessor are enough */
        annotate(e, f, "minctasm", number(e, s->plan.min_blocks));
    if (nmap)
        take_maps(s, f, nparam);
    for (uint32_t i = 0; i < k->nbuf; i++)
        c->buf[i] = LLVMGetParam(f, i);
    for (uint32_t i = 0; i < k->narg; i++)
        c->size[i] =
            far ? em_load(e, e->i64, em_at(e, LLVMGetParam(f, k->nbuf), em_c64(e, i), 8), 8)
                : LLVMGetParam(f, k->nbuf + i);
    s->tid = special(e, "llvm.nvvm.read.ptx.sreg.tid.x");
    s->ntid = special(e, "llvm.nvvm.read.ptx.sreg.ntid.x");
    s->ctaid = special(e, "llvm.nvvm.read.ptx.sreg.ctaid.x");
    s->nctaid = special(e, "llvm.nvvm.read.ptx.sreg.nctaid.x");
    if (scratch) {
        s->scratch = LLVMGetParam(f, n);
        s->share = LLVMGetParam(f, n + 1);
    }
    if (nmap) {
        s->rank = special(e, "llvm.nvvm.read.ptx.sreg.cluster.ctarank");
        s->ranks = special(e, "llvm.nvvm.read.ptx.sreg.cluster.nctarank");
    }
    s->shared = LLVMGetNamedGlobal(e->m, "lz_shared");
    if (s->shared)
        return;
    s->shared = LLVMAddGlobalInAddressSpace(e->m, LLVMArrayType2(e->i8, 0), "lz_shared", SHARED);
    LLVMSetLinkage(s->shared, LLVMExternalLinkage);
    LLVMSetAlignment(s->shared, swizzles(k, e->t) ? 1024 : 16);
}

/* Parameter i of an emulated kernel: params[i] is the address of its value. */
static Val param(em *e, Val params, uint32_t i, Ty t)
{
    Val p = em_load(e, e->ptr, em_at(e, params, em_c64(e, i), 8), 8);
    return em_load(e, t, p, 8);
}

static void begin_emulated(simt *s, kern *c)
{
    em *e = s->e;
    const lz_kernel *k = s->k;
    bool far = lz_simt_args_in_memory(k), scratch = lz_simt_takes_scratch(k);
    uint32_t n = k->nbuf + (far ? 1 : k->narg);
    if (s->entry == SIMT_MAIN) {
        em_func(e, "lz_params", e->i64, NULL, 0, true);
        LLVMBuildRet(e->b, em_c64(e, n + (scratch ? 2 : 0)));
    }
    Val f =
        em_func(e, lz_simt_entry_name(k, e->t, s->entry), e->none, (Ty[]){e->ptr, e->ptr}, 2, true);
    Val params = LLVMGetParam(f, 0), sizes = far ? param(e, params, k->nbuf, e->ptr) : NULL;
    s->thread = LLVMGetParam(f, 1);
    for (uint32_t i = 0; i < k->nbuf; i++)
        c->buf[i] = param(e, params, i, e->ptr);
    for (uint32_t i = 0; i < k->narg; i++)
        c->size[i] = far ? em_load(e, e->i64, em_at(e, sizes, em_c64(e, i), 8), 8)
                         : param(e, params, k->nbuf + i, e->i64);
    if (scratch) {
        s->scratch = param(e, params, n, e->ptr);
        s->share = param(e, params, n + 1, e->i64);
        n += 2;
    }
    for (uint32_t i = 0; i < 2 && s->entry == SIMT_TMA; i++)
        s->map[i] = em_load(e, e->ptr, em_at(e, params, em_c64(e, n + i), 8), 8);
    s->tid = field(s, offsetof(lz_simt_thread, tid));
    s->ntid = field(s, offsetof(lz_simt_thread, ntid));
    s->ctaid = field(s, offsetof(lz_simt_thread, ctaid));
    s->nctaid = field(s, offsetof(lz_simt_thread, nctaid));
    s->rank = field(s, offsetof(lz_simt_thread, rank));
    s->ranks = field(s, offsetof(lz_simt_thread, ranks));
    Val at = em_at(e, s->thread, em_c64(e, (int64_t)offsetof(lz_simt_thread, shared)), 1);
    s->shared = em_load(e, e->ptr, at, 8);
}

void simt_begin(simt *s, kern *c)
{
    if (s->e->nvptx)
        begin_ptx(s, c);
    else
        begin_emulated(s, c);
}

void simt_enter_sorts(simt *s, kern *c)
{
    em *e = s->e;
    Val thread = ADD(MUL(s->ctaid, s->ntid), s->tid);
    if (s->scratch)
        kern_sort_enter(c, em_at(e, s->scratch, MUL(thread, s->share), 1));
}

/* ---- together ---- */

void simt_barrier(simt *s)
{
    em *e = s->e;
    Val some[2] = {em_c32(e, 1), em_c32(e, s->together)};
    if (e->nvptx && s->together)
        em_intr(e, "llvm.nvvm.barrier", NULL, 0, some, 2);
    else if (e->nvptx)
        em_intr(e, "llvm.nvvm.barrier0", NULL, 0, NULL, 0);
    else if (s->together)
        em_call(e, "lz_simt_barrier_of", e->none, (Val[]){s->thread, some[1]}, 2);
    else
        em_call(e, "lz_simt_barrier", e->none, &s->thread, 1);
}

/* What a thread of the warp wrote is there for the others. */
void simt_warp_barrier(simt *s)
{
    em *e = s->e;
    Val all = em_c32(e, -1);
    if (e->nvptx)
        em_intr(e, "llvm.nvvm.bar.warp.sync", NULL, 0, &all, 1);
    else
        em_call(e, "lz_simt_shuffle", e->i32, (Val[]){s->thread, all, em_c32(e, 0)}, 3);
}

static Val shuffle32(simt *s, Val v, unsigned x)
{
    em *e = s->e;
    if (e->nvptx) {
        Val a[4] = {em_c32(e, -1), v, em_c32(e, x), em_c32(e, SIMT_WARP - 1)};
        return em_intr(e, "llvm.nvvm.shfl.sync.bfly.i32", NULL, 0, a, 4);
    }
    return em_call(e, "lz_simt_shuffle", e->i32, (Val[]){s->thread, v, em_c32(e, x)}, 3);
}

Val simt_shuffle_xor(simt *s, Val v, unsigned x)
{
    em *e = s->e;
    Ty t = LLVMTypeOf(v), it = t;
    unsigned bits = em_bits(e, t);
    if (t == e->f32 || t == e->f64) {
        it = t == e->f32 ? e->i32 : e->i64;
        v = BITS(v, it);
    }
    if (bits < 32) {
        v = shuffle32(s, LLVMBuildZExt(e->b, v, e->i32, ""), x);
        return LLVMBuildTrunc(e->b, v, t, "");
    }
    if (bits == 32)
        return BITS(shuffle32(s, v, x), t);
    Val lo = shuffle32(s, LLVMBuildTrunc(e->b, v, e->i32, ""), x);
    Val hi = shuffle32(s, LLVMBuildTrunc(e->b, LSHR(v, em_c64(e, 32)), e->i32, ""), x);
    Val w = OR(LLVMBuildZExt(e->b, lo, e->i64, ""),
               SHL(LLVMBuildZExt(e->b, hi, e->i64, ""), em_c64(e, 32)));
    return it == t ? w : BITS(w, t);
}

Val simt_shared_at(simt *s, Val index, int64_t scale, int64_t offset)
{
    em *e = s->e;
    Val at = MUL(index, em_c64(e, scale));
    return em_at(e, s->shared, offset ? ADD(at, em_c64(e, offset)) : at, 1);
}

/* ---- indices ---- */

Val simt_udiv(em *e, Val a, Val b)
{
    if (LLVMIsConstant(b))
        return LLVMBuildUDiv(e->b, a, b, "");
    em_ifelse f;
    Val small = ICMP(EQ, LSHR(OR(a, b), em_c64(e, 32)), em_c64(e, 0)), out;
    em_ifelse_begin(e, &f, small);
    Val a32 = LLVMBuildTrunc(e->b, a, e->i32, ""), b32 = LLVMBuildTrunc(e->b, b, e->i32, "");
    Val q = LLVMBuildZExt(e->b, LLVMBuildUDiv(e->b, a32, b32, ""), e->i64, "");
    em_ifelse_else(e, &f);
    Val r = LLVMBuildUDiv(e->b, a, b, "");
    em_ifelse_end(e, &f, 1, &q, &r, &out);
    return out;
}

void simt_split(em *e, Val linear, const Val *size, uint32_t n, Val *out)
{
    for (uint32_t d = n; d-- > 0;) {
        if (d == 0) {
            out[0] = linear;
            break;
        }
        Val q = simt_udiv(e, linear, size[d]);
        out[d] = SUB(linear, MUL(q, size[d]));
        linear = q;
    }
}
