/* simt_wgmma.c - warpgroup MMA (wgmma, compute capability 9.0), or calls of the emulator: four
 * warps multiply operands from shared memory asynchronously; and how operands are laid out for it.
 * See simt_dot.h. A k-tile of an operand is rows of 128 bytes, 8 rows after the other, with the
 * 128-byte swizzle (chunk c of row r at c xor r % 8). Rows run along k, or along the result: then
 * one block of rows follows another every 64 elements of the result. Threads: belongs to one
 * thread. */
#include "codegen/gpu/simt_dot.h"

enum {
    GROUP_ROWS = 64, /* of the result */
    EIGHT_ROWS = 8 * GEMM_ROW,
    STEP = 16, /* of k, that an instruction multiplies where rows run along the result; otherwise */
    STEP_BYTES = 32, /* of rows along k */
    SWIZZLED = 1
};

/* ---- instructions ---- */

/* Describes a factor that starts `at` bytes from the start of shared memory: address, bytes from 64
 * elements across to the next, bytes from 8 rows to the next, all in units of 16 bytes; swizzle. */
static Val describe(simt *s, Val at, unsigned lead)
{
    em *e = s->e;
    if (e->nvptx) {
        Val start = LLVMBuildPtrToInt(e->b, s->shared, e->i32, "");
        at = ADD(at, LLVMBuildZExt(e->b, start, e->i64, ""));
    }
    uint64_t form = (uint64_t)SWIZZLED << 62 | (uint64_t)(EIGHT_ROWS / GEMM_CHUNK) << 32 |
                    (uint64_t)(lead / GEMM_CHUNK) << 16;
    Val address = AND(LSHR(at, em_c64(e, 4)), em_c64(e, 0x3fff));
    return OR(address, em_c64(e, (int64_t)form));
}

/* Inline assembly whose results are n floats in the registers of `c`, with further operands of 64
 * bits behind them. */
static void on_sums(simt *s, lz_buf *text, Val *c, unsigned n, const Val *more, unsigned nmore)
{
    em *e = s->e;
    lz_buf form = {0};
    Ty results[GEMM_ACC];
    Val in[GEMM_ACC + 2];
    for (unsigned i = 0; i < n; i++) {
        results[i] = e->f32;
        lz_buf_puts(&form, "=f,");
    }
    for (unsigned i = 0; i < nmore; i++) {
        in[i] = more[i];
        lz_buf_puts(&form, "l,");
    }
    for (unsigned i = 0; i < n; i++) {
        in[nmore + i] = c[i];
        lz_buf_printf(&form, "%u,", i);
    }
    lz_buf_puts(&form, "~{memory}");
    if (text->failed || form.failed) {
        e->status = LZ_FAIL(LZ_EMEM, "code generation of '%s': no memory", s->k->name);
    } else {
        Ty ret = LLVMStructTypeInContext(e->cx, results, n, 0);
        Val r = em_asm(e, lz_buf_str(text), lz_buf_str(&form), ret, in, n + nmore, true);
        for (unsigned i = 0; i < n; i++)
            c[i] = LLVMBuildExtractValue(e->b, r, i, "");
    }
    lz_buf_free(&form);
    lz_buf_free(text);
}

/* A k-tile: kt / STEP instructions, in flight afterwards. */
static void multiply_ptx(gemm *t, Val a, Val b, Val *c)
{
    lz_buf text = {0};
    unsigned n = gemm_nacc(t), k = STEP_BYTES / t->p.es, steps = t->p.kt / k;
    bool rounds = gemm_rounds_to_tf32(&t->p);
    const char *d = rounds ? "tf32" : t->p.d == LZ_F16 ? "f16" : "bf16";
    /* from one step to the next, in units of 16 bytes: along the rows, or rows */
    unsigned by_a = (t->a.rows_k ? STEP_BYTES : STEP * GEMM_ROW) / GEMM_CHUNK,
             by_b = (t->b.rows_k ? STEP_BYTES : STEP * GEMM_ROW) / GEMM_CHUNK;
    lz_buf_printf(&text,
                  "{\n.reg .b64 da, db;\nmov.b64 da, $%u;\nmov.b64 db, $%u;\n"
                  "wgmma.fence.sync.aligned;\n",
                  n, n + 1);
    for (unsigned i = 0; i < steps; i++) {
        lz_buf_printf(&text, "wgmma.mma_async.sync.aligned.m64n%uk%u.f32.%s.%s {", t->p.tn, k, d,
                      d);
        for (unsigned j = 0; j < n; j++)
            lz_buf_printf(&text, "%s$%u", j ? ", " : "", j);
        lz_buf_puts(&text, "}, da, db, 1, 1, 1");
        if (!rounds) /* whose rows always run along k */
            lz_buf_printf(&text, ", %d, %d", !t->a.rows_k, !t->b.rows_k);
        lz_buf_puts(&text, ";\n");
        if (i + 1 < steps)
            lz_buf_printf(&text, "add.s64 da, da, %u;\nadd.s64 db, db, %u;\n", by_a, by_b);
    }
    lz_buf_puts(&text, "wgmma.commit_group.sync.aligned;\n}");
    on_sums(t->s, &text, c, n, (Val[]){a, b}, 2);
}

void gemm_wgmma_multiply(gemm *t, Val stage, Val *sum)
{
    em *e = t->e;
    unsigned lead =
        t->p.kt * GEMM_ROW; /* as many bytes as a warpgroup's rows of the left factor, too */
    Val a = ADD(stage, MUL(t->down, em_c64(e, GROUP_ROWS * GEMM_ROW))),
        b = ADD(stage, em_c64(e, t->b.first));
    a = describe(t->s, a, lead);
    b = describe(t->s, b, lead);
    if (e->nvptx) {
        multiply_ptx(t, a, b, sum);
        return;
    }
    uint32_t form = (uint32_t)t->p.d | t->p.tn << 8 | t->p.kt * t->p.es / STEP_BYTES << 20 |
                    (uint32_t)!t->a.rows_k << 28 | (uint32_t)!t->b.rows_k << 29;
    Val arg[4] = {t->s->thread, a, b, em_c32(e, form)};
    em_call(e, "lz_simt_group_multiply", e->none, arg, 4);
}

void gemm_wgmma_wait(gemm *t, Val *sum, unsigned left)
{
    em *e = t->e;
    unsigned n = gemm_nacc(t);
    if (e->nvptx) {
        lz_buf text = {0};
        lz_buf_printf(&text, "wgmma.wait_group.sync.aligned %u;", left);
        on_sums(t->s, &text, sum, n, NULL, 0);
        return;
    }
    if (!t->s->sums)
        t->s->sums = em_alloca(e, e->f32, GEMM_ACC, 4);
    for (unsigned i = 0; i < n; i++)
        em_store(e, sum[i], em_at(e, t->s->sums, em_c64(e, i), 4), 4);
    em_call(e, "lz_simt_group_wait", e->none, (Val[]){t->s->thread, t->s->sums, em_c32(e, left)},
            3);
    for (unsigned i = 0; i < n; i++)
        sum[i] = em_load(e, e->f32, em_at(e, t->s->sums, em_c64(e, i), 4), 4);
}

void gemm_wgmma_fence(gemm *t)
{
    em *e = t->e;
    if (!e->nvptx) {
        em_call(e, "lz_simt_group_fence", e->none, &t->s->thread, 1);
        return;
    }
    em_asm(e, "fence.proxy.async.shared::cta;", "~{memory}", e->none, NULL, 0, true);
}

/* ---- places ---- */

Val gemm_warpgroup(gemm *t)
{
    em *e = t->e;
    return LLVMBuildUDiv(e->b, t->s->tid, em_c64(e, GEMM_WARPGROUP), "");
}

Val gemm_wgmma_place(gemm *t, const gemm_factor *f, Val row, Val chunk)
{
    em *e = t->e;
    enum { CHUNKS = GEMM_ROW / GEMM_CHUNK };
    Val in = XOR(AND(chunk, em_c64(e, CHUNKS - 1)), AND(row, em_c64(e, 7)));
    Val at = ADD(MUL(row, em_c64(e, GEMM_ROW)), MUL(in, em_c64(e, GEMM_CHUNK)));
    if (!f->rows_k)
        at = ADD(at, MUL(LSHR(chunk, em_c64(e, 3)), em_c64(e, (int64_t)t->p.kt * GEMM_ROW)));
    return ADD(at, em_c64(e, f->first));
}
