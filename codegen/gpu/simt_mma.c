/* simt_mma.c - warp-level instructions from compute capability 8.0 on, or calls of the emulator:
 * mma.sync, ldmatrix, cp.async, rounding to tf32.
 * Threads: belongs to one thread. */
#include "codegen/gpu/simt_kern.h"
#include <stdio.h>

static const simt_mma ops[] = {
    {LZ_BF16, LZ_F32, 16, 8, 16, 4, 2, 4, 1024, "llvm.nvvm.mma.m16n8k16.row.col.bf16"},
    {LZ_F16, LZ_F32, 16, 8, 16, 4, 2, 4, 1024, "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"},
    {LZ_I8, LZ_I32, 16, 8, 32, 4, 2, 4, 2048, "llvm.nvvm.mma.m16n8k32.row.col.s8"},
    {LZ_U8, LZ_I32, 16, 8, 32, 4, 2, 4, 2048, "llvm.nvvm.mma.m16n8k32.row.col.u8"},
    {LZ_U8, LZ_U32, 16, 8, 32, 4, 2, 4, 2048, "llvm.nvvm.mma.m16n8k32.row.col.u8"},
    {LZ_F32, LZ_F32, 16, 8, 8, 4, 2, 4, 512, "llvm.nvvm.mma.m16n8k8.row.col.tf32"},
    {LZ_F64, LZ_F64, 8, 8, 4, 1, 1, 2, 64, "llvm.nvvm.mma.m8n8k4.row.col.f64"},
};

const simt_mma *simt_mma_of(lz_dtype d, lz_dtype acc)
{
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (ops[i].d == d && ops[i].acc == acc)
            return &ops[i];
    return NULL;
}

static void multiply_ptx(simt *s, const simt_mma *op, const Val *a, const Val *b, Val *c)
{
    em *e = s->e;
    Ty half = em_vec(e->f16, 2);
    Val in[10];
    unsigned n = 0;
    for (unsigned i = 0; i < op->na; i++)
        in[n++] = op->d == LZ_F16 ? BITS(a[i], half) : a[i];
    for (unsigned i = 0; i < op->nb; i++)
        in[n++] = op->d == LZ_F16 ? BITS(b[i], half) : b[i];
    for (unsigned i = 0; i < op->nc; i++)
        in[n++] = c[i];
    Val r = em_intr(e, op->ptx, NULL, 0, in, n);
    for (unsigned i = 0; i < op->nc; i++)
        c[i] = LLVMBuildExtractValue(e->b, r, i, "");
}

Val simt_words(simt *s)
{
    if (!s->words)
        s->words = em_alloca(s->e, s->e->i64, SIMT_WORDS, 8);
    return s->words;
}

/* Through memory: words of a, of b, of c. */
static void multiply_emulated(simt *s, const simt_mma *op, const Val *a, const Val *b, Val *c)
{
    em *e = s->e;
    Val words = simt_words(s);
    Ty t = LLVMTypeOf(c[0]);
    for (unsigned i = 0; i < op->na; i++)
        em_store(e, a[i], em_at(e, words, em_c64(e, i), 8), 8);
    for (unsigned i = 0; i < op->nb; i++)
        em_store(e, b[i], em_at(e, words, em_c64(e, 4 + i), 8), 8);
    for (unsigned i = 0; i < op->nc; i++)
        em_store(e, c[i], em_at(e, words, em_c64(e, 6 + i), 8), 8);
    Val arg[3] = {s->thread, em_c32(e, op->d), words};
    em_call(e, "lz_simt_mma", e->none, arg, 3);
    for (unsigned i = 0; i < op->nc; i++)
        c[i] = em_load(e, t, em_at(e, words, em_c64(e, 6 + i), 8), 8);
}

/* To the nearest, in the middle to the even one, as TMA rounds (CU_MAP_TF32), but for the 13 last
 * bits, which what multiplies leaves out. */
Val simt_round_tf32(simt *s, Val word)
{
    em *e = s->e;
    if (!e->nvptx)
        return em_call(e, "lz_simt_round_tf32", e->i32, &word, 1);
    if (e->t->wgmma) /* compute capability 9.0 */
        return em_asm(e, "cvt.rn.tf32.f32 $0, $1;", "=r,r", e->i32, &word, 1, false);
    return em_asm(e,
                  "{\n.reg .pred finite;\n.reg .f32 size;\n.reg .b32 odd;\nabs.f32 size, $1;\n"
                  "setp.lt.f32 finite, size, 0f7F800000;\nmov.b32 $0, $1;\n"
                  "bfe.u32 odd, $1, 13, 1;\nadd.u32 odd, odd, 4095;\n"
                  "@finite add.u32 $0, $1, odd;\n}",
                  "=&r,r", e->i32, &word, 1, false);
}

void simt_mma_sync(simt *s, const simt_mma *op, const Val *a, const Val *b, Val *c)
{
    if (s->e->nvptx)
        multiply_ptx(s, op, a, b, c);
    else
        multiply_emulated(s, op, a, b, c);
}

void simt_ldmatrix(simt *s, Val at, bool transposed, Val out[4])
{
    em *e = s->e;
    if (!e->nvptx) {
        Val words = simt_words(s);
        Val arg[4] = {s->thread, at, em_c32(e, transposed), words};
        em_call(e, "lz_simt_ldmatrix", e->none, arg, 4);
        for (unsigned i = 0; i < 4; i++)
            out[i] = em_load(e, e->i32, em_at(e, words, em_c64(e, i), 8), 8);
        return;
    }
    Ty p = LLVMTypeOf(at);
    Val r = em_intr(e,
                    transposed ? "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16"
                               : "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16",
                    &p, 1, &at, 1);
    for (unsigned i = 0; i < 4; i++)
        out[i] = LLVMBuildExtractValue(e->b, r, i, "");
}

void simt_cp_async(simt *s, Val to, Val from, unsigned width, Val bytes)
{
    em *e = s->e;
    if (e->nvptx) {
        char name[64];
        snprintf(name, sizeof name, "llvm.nvvm.cp.async.%s.shared.global.%u.s",
                 width == 16 ? "cg" : "ca", width);
        em_intr(e, name, NULL, 0, (Val[]){to, from, bytes}, 3);
        return;
    }
    Val arg[5] = {s->thread, to, from, em_c32(e, width), bytes};
    em_call(e, "lz_simt_copy", e->none, arg, 5);
}

void simt_cp_async_16(simt *s, Val to, Val from, Val there)
{
    em *e = s->e;
    if (!e->nvptx) {
        simt_cp_async(s, to, from, 16, SEL(there, em_c32(e, 16), em_c32(e, 0)));
        return;
    }
    Val a[3] = {LLVMBuildPtrToInt(e->b, to, e->i32, ""), from,
                LLVMBuildZExt(e->b, there, e->i32, "")};
    em_asm(e,
           "{\n.reg .pred some;\n.reg .b32 zero;\nsetp.ne.u32 some, $2, 0;\nmov.b32 zero, 0;\n"
           "@some cp.async.cg.shared.global [$0], [$1], 16;\n"
           "@!some st.shared.v4.b32 [$0], {zero, zero, zero, zero};\n}",
           "r,l,r,~{memory}", e->none, a, 3, true);
}

/* The comparisons are part of it: as predicates that stay the same in a loop they would take
 * registers. */
static Val read_words_ptx(simt *s, Val from, const Val left[2], const unsigned at[2])
{
    em *e = s->e;
    Ty words[4] = {e->i32, e->i32, e->i32, e->i32};
    Val a[3] = {from, left[0], left[1]}, v = LLVMGetPoison(em_vec(e->i32, 4));
    char text[256];
    snprintf(text, sizeof text,
             "{\n.reg .pred some;\nsetp.gt.s32 some, $5, %u;\n"
             "setp.gt.and.s32 some, $6, %u, some;\n"
             "mov.b32 $0, 0;\nmov.b32 $1, 0;\nmov.b32 $2, 0;\nmov.b32 $3, 0;\n"
             "@some ld.global.v4.b32 {$0, $1, $2, $3}, [$4];\n}",
             at[0], at[1]);
    Val r = em_asm(e, text, "=&r,=&r,=&r,=&r,l,r,r,~{memory}",
                   LLVMStructTypeInContext(e->cx, words, 4, 0), a, 3, true);
    for (unsigned i = 0; i < 4; i++)
        v = LLVMBuildInsertElement(e->b, v, LLVMBuildExtractValue(e->b, r, i, ""), em_c32(e, i),
                                   "");
    return v;
}

Val simt_read_chunk(simt *s, Val from, Ty vector, const Val left[2], const unsigned at[2])
{
    em *e = s->e;
    if (e->nvptx)
        return BITS(read_words_ptx(s, from, left, at), vector);
    Val there = AND(ICMP(SGT, left[0], em_c32(e, at[0])), ICMP(SGT, left[1], em_c32(e, at[1])));
    em_if in;
    Val v, zero = LLVMConstNull(vector), out;
    em_if_begin(e, &in, there);
    v = em_load(e, vector, from, 16);
    em_if_end(e, &in, 1, &v, &zero, &out);
    return out;
}

void simt_cp_async_commit(simt *s)
{
    em *e = s->e;
    if (e->nvptx)
        em_intr(e, "llvm.nvvm.cp.async.commit.group", NULL, 0, NULL, 0);
    else
        em_call(e, "lz_simt_copies_end_group", e->none, &s->thread, 1);
}

void simt_cp_async_wait(simt *s, unsigned n)
{
    em *e = s->e;
    Val left = em_c32(e, n);
    if (e->nvptx)
        em_intr(e, "llvm.nvvm.cp.async.wait.group", NULL, 0, &left, 1);
    else
        em_call(e, "lz_simt_copies_wait", e->none, (Val[]){s->thread, left}, 2);
}
