/* simt_wgmma.c - warpgroup MMA (wgmma, compute capability 9.0), or calls of the emulator: four
 * warps multiply operands from shared memory asynchronously; and how operands are laid out for it.
 * See simt_dot.h. A k-tile of an operand is rows of 128 bytes, 8 rows after the other, with the
 * 128-byte swizzle (chunk c of row r at c xor r % 8). Rows run along k, or along the result: then
 * one block of rows follows another every 64 elements of the result (32 of tf32). Of tf32, wgmma
 * reads rows along k only; a left operand with rows along the result comes from registers, which
 * are loaded from shared memory just before. Threads: belongs to one thread. */
#include "codegen/gpu/simt_dot.h"
#include <string.h>

enum {
    GROUP_ROWS = 64, /* of the result */
    EIGHT_ROWS = 8 * GEMM_ROW,
    STEP = 16, /* of k, that an instruction multiplies where rows run along the result; otherwise */
    STEP_BYTES = 32, /* of rows along k */
    SWIZZLED = 1,
    FRAGS = 4, /* registers of the left operand that a step reads, where it is in registers */
    MOST_LEFT = FRAGS * SIMT_WGMMA_STEPS,
    BLOCK_STEPS = 2,        /* steps of a k-block */
    FRAG_K = STEP_BYTES / 4 /* elements of k in a step of tf32 */
};
_Static_assert((int)GEMM_ACC <= (int)SIMT_WGMMA_SUMS, "sums of a thread");
_Static_assert((int)MOST_LEFT * 4 <= (int)SIMT_WORDS * 8, "fragments have room in simt_words");

/* ---- instructions ---- */

/* Address, bytes from one block of rows to the next (lead), bytes from 8 rows to the next, all in
 * units of 16 bytes; swizzle. */
Val simt_wgmma_describe(simt *s, Val at, unsigned lead)
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

/* Inline assembly whose results are n floats in the registers of `c`, which hold the sums so far
 * unless it begins afresh, with further operands of 32 or 64 bits behind them. */
static void on_sums(simt *s, lz_buf *text, Val *c, unsigned n, bool fresh, const Val *more,
                    unsigned nmore)
{
    em *e = s->e;
    lz_buf form = {0};
    Ty results[SIMT_WGMMA_SUMS];
    Val in[SIMT_WGMMA_SUMS + MOST_LEFT + 1];
    unsigned nin = 0;
    for (unsigned i = 0; i < n; i++) {
        results[i] = e->f32;
        lz_buf_puts(&form, fresh ? "=&f," : "=f,");
    }
    for (unsigned i = 0; i < nmore; i++) {
        in[nin++] = more[i];
        lz_buf_puts(&form, LLVMTypeOf(more[i]) == e->i64 ? "l," : "r,");
    }
    for (unsigned i = 0; i < n && !fresh; i++) {
        in[nin++] = c[i];
        lz_buf_printf(&form, "%u,", i);
    }
    lz_buf_puts(&form, "~{memory}");
    if (text->failed || form.failed) {
        e->status = LZ_FAIL(LZ_EMEM, "code generation of '%s': no memory", s->k->name);
    } else {
        Ty ret = LLVMStructTypeInContext(e->cx, results, n, 0);
        Val r = em_asm(e, lz_buf_str(text), lz_buf_str(&form), ret, in, nin, true);
        for (unsigned i = 0; i < n; i++)
            c[i] = LLVMBuildExtractValue(e->b, r, i, "");
    }
    lz_buf_free(&form);
    lz_buf_free(text);
}

/* Step i. Operands: the results, then the right factor's descriptor, which is copied to db and
 * moves on, then the left one's, copied to da, or all fragments. */
static void print_step(const simt_wgmma *w, lz_buf *text, unsigned i)
{
    unsigned n = w->n / 2, left = n + 1 + FRAGS * i;
    const char *d = w->d == LZ_F32 ? "tf32" : w->d == LZ_F16 ? "f16" : "bf16";
    lz_buf_printf(text, "wgmma.mma_async.sync.aligned.m64n%uk%u.f32.%s.%s {", w->n,
                  STEP_BYTES / (unsigned)lz_dtype_size(w->d), d, d);
    for (unsigned j = 0; j < n; j++)
        lz_buf_printf(text, "%s$%u", j ? ", " : "", j);
    if (w->rs)
        lz_buf_printf(text, "}, {$%u, $%u, $%u, $%u}", left, left + 1, left + 2, left + 3);
    else
        lz_buf_puts(text, "}, da");
    lz_buf_printf(text, ", db, %d, 1, 1", i > 0 || !w->fresh);
    if (w->d != LZ_F32 && !w->rs) /* tf32: rows always run along k */
        lz_buf_printf(text, ", %d", !w->a_rows_k);
    if (w->d != LZ_F32)
        lz_buf_printf(text, ", %d", !w->b_rows_k);
    lz_buf_puts(text, ";\n");
}

/* From one step to the next, in units of 16 bytes: along the rows, or rows. */
static unsigned next_step(bool rows_k)
{
    return (rows_k ? STEP_BYTES : STEP * GEMM_ROW) / GEMM_CHUNK;
}

static unsigned left_operands(const simt_wgmma *w)
{
    return w->rs ? FRAGS * w->steps : 1;
}

static void multiply_ptx(simt *s, const simt_wgmma *w, Val *sum)
{
    lz_buf text = {0};
    unsigned n = w->n / 2;
    Val more[MOST_LEFT + 1] = {w->b};
    lz_buf_printf(&text, "{\n.reg .b64 %sdb;\nmov.b64 db, $%u;\n", w->rs ? "" : "da, ", n);
    if (!w->rs)
        lz_buf_printf(&text, "mov.b64 da, $%u;\n", n + 1);
    lz_buf_puts(&text, "wgmma.fence.sync.aligned;\n");
    for (unsigned i = 0; i < w->steps; i++) {
        print_step(w, &text, i);
        if (i + 1 < w->steps && !w->rs)
            lz_buf_printf(&text, "add.s64 da, da, %u;\n", next_step(w->a_rows_k));
        if (i + 1 < w->steps)
            lz_buf_printf(&text, "add.s64 db, db, %u;\n", next_step(w->b_rows_k));
    }
    lz_buf_puts(&text, "wgmma.commit_group.sync.aligned;\n}");
    memcpy(more + 1, w->a, left_operands(w) * sizeof *w->a);
    on_sums(s, &text, sum, n, w->fresh, more, 1 + left_operands(w));
}

/* The emulator adds to what it is given when the sums are waited for. */
static void multiply_emulated(simt *s, const simt_wgmma *w, Val *sum)
{
    em *e = s->e;
    uint32_t form = (uint32_t)w->d | w->n << 8 | w->steps << 20 |
                    (uint32_t)(!w->rs && !w->a_rows_k) << 28 | (uint32_t)!w->b_rows_k << 29;
    Val arg[4] = {s->thread, w->a[0], w->b, em_c32(e, form)};
    if (w->rs) {
        arg[1] = simt_words(s);
        for (unsigned i = 0; i < left_operands(w); i++)
            em_store(e, w->a[i], em_at(e, arg[1], em_c64(e, i), 4), 4);
    }
    em_call(e, w->rs ? "lz_simt_group_multiply_rs" : "lz_simt_group_multiply", e->none, arg, 4);
    for (unsigned i = 0; i < w->n / 2 && w->fresh; i++)
        sum[i] = em_cf(e->f32, 0);
}

void simt_wgmma_multiply(simt *s, const simt_wgmma *w, Val *sum)
{
    if (s->e->nvptx)
        multiply_ptx(s, w, sum);
    else
        multiply_emulated(s, w, sum);
}

void simt_wgmma_wait(simt *s, Val *sum, unsigned n, unsigned left)
{
    em *e = s->e;
    if (e->nvptx) {
        lz_buf text = {0};
        lz_buf_printf(&text, "wgmma.wait_group.sync.aligned %u;", left);
        on_sums(s, &text, sum, n, false, NULL, 0);
        return;
    }
    if (!s->sums)
        s->sums = em_alloca(e, e->f32, SIMT_WGMMA_SUMS, 4);
    for (unsigned i = 0; i < n; i++)
        em_store(e, sum[i], em_at(e, s->sums, em_c64(e, i), 4), 4);
    em_call(e, "lz_simt_group_wait", e->none, (Val[]){s->thread, s->sums, em_c32(e, left)}, 3);
    for (unsigned i = 0; i < n; i++)
        sum[i] = em_load(e, e->f32, em_at(e, s->sums, em_c64(e, i), 4), 4);
}

void simt_wgmma_fence(simt *s)
{
    em *e = s->e;
    if (!e->nvptx) {
        em_call(e, "lz_simt_group_fence", e->none, &s->thread, 1);
        return;
    }
    em_asm(e, "fence.proxy.async.shared::cta;", "~{memory}", e->none, NULL, 0, true);
}

/* ---- GEMM: the left operand from registers ---- */

static const gemm_factor *left_of(const gemm *t)
{
    return t->p.swap_ab ? &t->b : &t->a;
}

static const gemm_factor *right_of(const gemm *t)
{
    return t->p.swap_ab ? &t->a : &t->b;
}

/* A warp has 16 elements x of the result, half of one row of 128 bytes: a lane two neighbours, as
 * its rows l / 4 and l / 4 + 8, of which columns of k l % 4 and l % 4 + 4 are its registers. A half
 * of the warp reads at once: from chunks c and c xor 4 of 4 rows of k each, which the swizzle puts
 * in different banks. */
static Val first_chunk(gemm *t)
{
    em *e = t->e;
    Val g = LSHR(t->lane, em_c64(e, 2)), warp = LSHR(t->s->tid, em_c64(e, 5)), one = em_c64(e, 1);
    return OR(OR(SHL(AND(LSHR(g, one), one), em_c64(e, 2)), SHL(AND(warp, one), one)),
              LSHR(g, em_c64(e, 2)));
}

/* The 32 elements x that the lane's are of: block of rows of a factor. */
static Val first_block(gemm *t)
{
    em *e = t->e;
    return AND(LSHR(t->s->tid, em_c64(e, 6)), em_c64(e, 1));
}

Val gemm_wgmma_row(gemm *t, unsigned half)
{
    em *e = t->e;
    Val g = LSHR(t->lane, em_c64(e, 2));
    if (!t->p.rs) {
        Val warp = AND(LSHR(t->s->tid, em_c64(e, 5)), em_c64(e, 3));
        return ADD(ADD(SHL(warp, em_c64(e, 4)), g), em_c64(e, half * 8));
    }
    Val x = ADD(SHL(first_block(t), em_c64(e, 5)), SHL(first_chunk(t), em_c64(e, 2)));
    return ADD(ADD(x, SHL(AND(g, em_c64(e, 1)), em_c64(e, 1))), em_c64(e, half));
}

/* The registers of a k-block. */
static void load_fragments(gemm *t, Val stage, unsigned k_block, Val *out)
{
    em *e = t->e;
    Val k = AND(t->lane, em_c64(e, 3)), g = LSHR(t->lane, em_c64(e, 2)), chunk = first_chunk(t);
    Val block = ADD(MUL(t->down, em_c64(e, 2)), first_block(t));
    Val at = ADD(ADD(stage, em_c64(e, left_of(t)->first)),
                 MUL(block, em_c64(e, (int64_t)t->p.kt * GEMM_ROW)));
    at = ADD(at, ADD(MUL(k, em_c64(e, GEMM_ROW)), SHL(AND(g, em_c64(e, 1)), em_c64(e, 3))));
    for (unsigned i = 0; i < BLOCK_STEPS * FRAGS; i += 2) {
        unsigned row =
            k_block * BLOCK_STEPS * FRAG_K + i / 2 * 4; /* of k, to which l % 4 is added */
        Val c = XOR(chunk, OR(k, em_c64(e, row & 7)));
        Val from = ADD(ADD(at, SHL(c, em_c64(e, 4))), em_c64(e, (int64_t)row * GEMM_ROW));
        Val two = em_load(e, em_vec(e->i32, 2), em_at(e, t->s->shared, from, 1), 8);
        out[i] = em_extract(e, two, 0);
        out[i + 1] = em_extract(e, two, 1);
    }
}

/* ---- GEMM: a k-block ---- */

unsigned gemm_wgmma_k_blocks(const gemm_shape *p)
{
    return p->rs ? p->kt / (BLOCK_STEPS * FRAG_K) : 1;
}

void gemm_wgmma_multiply(gemm *t, Val stage, unsigned k_block, Val *sum)
{
    em *e = t->e;
    const gemm_factor *left = left_of(t), *right = right_of(t);
    bool tf32 = t->p.d == LZ_F32;
    unsigned lead =
        t->p.kt * GEMM_ROW; /* as many bytes as a warpgroup's rows of the left factor, too */
    simt_wgmma w = {.d = t->p.d,
                    .n = t->p.wn,
                    .steps = t->p.rs ? BLOCK_STEPS : t->p.kt * t->p.es / STEP_BYTES,
                    .rs = t->p.rs,
                    .a_rows_k = tf32 || left->rows_k,
                    .b_rows_k = tf32 || right->rows_k};
    Val at = ADD(stage, em_c64(e, right->first + k_block * BLOCK_STEPS * STEP_BYTES));
    w.b = simt_wgmma_describe(t->s, at, lead);
    if (t->p.rs)
        load_fragments(t, stage, k_block, w.a);
    else
        w.a[0] = simt_wgmma_describe(
            t->s, ADD(stage, MUL(t->down, em_c64(e, GROUP_ROWS * GEMM_ROW))), lead);
    simt_wgmma_multiply(t->s, &w, sum);
}

void gemm_wgmma_wait(gemm *t, Val *sum, unsigned left)
{
    simt_wgmma_wait(t->s, sum, gemm_nacc(t), left);
}

/* ---- GEMM: places ---- */

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
