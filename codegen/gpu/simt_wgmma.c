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
    FRAGS = 4,      /* registers of the left operand that a step reads; */
    FRAG_STEPS = 2, /* steps of a part */
    FRAG_MOST = FRAGS * FRAG_STEPS,
    FRAG_K = STEP_BYTES / 4 /* elements of k in a step */
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

/* Inline assembly whose results are n floats in the registers of `c`, with further operands of 32
 * or 64 bits behind them. */
static void on_sums(simt *s, lz_buf *text, Val *c, unsigned n, const Val *more, unsigned nmore)
{
    em *e = s->e;
    lz_buf form = {0};
    Ty results[GEMM_ACC];
    Val in[GEMM_ACC + FRAG_MOST + 2];
    for (unsigned i = 0; i < n; i++) {
        results[i] = e->f32;
        lz_buf_puts(&form, "=f,");
    }
    for (unsigned i = 0; i < nmore; i++) {
        in[i] = more[i];
        lz_buf_puts(&form, LLVMTypeOf(more[i]) == e->i64 ? "l," : "r,");
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

/* The left operand of the instructions, and the right one. */
static const gemm_factor *left_of(const gemm *t)
{
    return t->p.swapped ? &t->b : &t->a;
}

static const gemm_factor *right_of(const gemm *t)
{
    return t->p.swapped ? &t->a : &t->b;
}

static unsigned steps_of(const gemm *t)
{
    return t->p.frags ? FRAG_STEPS : t->p.kt * t->p.es / STEP_BYTES;
}

/* The left operand of step i: a descriptor, which moves on, or registers behind the right one's. */
static void left_operand(const gemm *t, lz_buf *text, unsigned i)
{
    if (!t->p.frags) {
        lz_buf_puts(text, "da");
        return;
    }
    unsigned first = gemm_nacc(t) + 1 + i * FRAGS;
    lz_buf_printf(text, "{$%u, $%u, $%u, $%u}", first, first + 1, first + 2, first + 3);
}

/* As many instructions as there are steps, in flight afterwards. left: its descriptor, or frags. */
static void multiply_ptx(gemm *t, const Val *left, Val right, Val *c)
{
    lz_buf text = {0};
    unsigned n = gemm_nacc(t), k = STEP_BYTES / t->p.es, steps = steps_of(t);
    bool rounds = gemm_rounds_to_tf32(&t->p);
    const char *d = rounds ? "tf32" : t->p.d == LZ_F16 ? "f16" : "bf16";
    bool by_a = rounds || t->a.rows_k, by_b = rounds || t->b.rows_k;
    /* from one step to the next, in units of 16 bytes: along the rows, or rows */
    unsigned next_a = (by_a ? STEP_BYTES : STEP * GEMM_ROW) / GEMM_CHUNK,
             next_b = (by_b ? STEP_BYTES : STEP * GEMM_ROW) / GEMM_CHUNK;
    lz_buf_printf(&text, "{\n.reg .b64 da, db;\nmov.b64 db, $%u;\n", n);
    if (!t->p.frags)
        lz_buf_printf(&text, "mov.b64 da, $%u;\n", n + 1);
    lz_buf_puts(&text, "wgmma.fence.sync.aligned;\n");
    for (unsigned i = 0; i < steps; i++) {
        lz_buf_printf(&text, "wgmma.mma_async.sync.aligned.m64n%uk%u.f32.%s.%s {", t->p.wn, k, d,
                      d);
        for (unsigned j = 0; j < n; j++)
            lz_buf_printf(&text, "%s$%u", j ? ", " : "", j);
        lz_buf_puts(&text, "}, ");
        left_operand(t, &text, i);
        lz_buf_puts(&text, ", db, 1, 1, 1");
        if (!rounds) /* whose rows always run along k */
            lz_buf_printf(&text, ", %d, %d", !by_a, !by_b);
        lz_buf_puts(&text, ";\n");
        if (i + 1 < steps && !t->p.frags)
            lz_buf_printf(&text, "add.s64 da, da, %u;\n", next_a);
        if (i + 1 < steps)
            lz_buf_printf(&text, "add.s64 db, db, %u;\n", next_b);
    }
    lz_buf_puts(&text, "wgmma.commit_group.sync.aligned;\n}");
    Val more[FRAG_MOST + 1] = {right};
    unsigned nleft = t->p.frags ? FRAG_MOST : 1;
    memcpy(more + 1, left, nleft * sizeof *left);
    on_sums(t->s, &text, c, n, more, 1 + nleft);
}

static void multiply_emulated(gemm *t, const Val *left, Val right)
{
    em *e = t->e;
    bool rounds = gemm_rounds_to_tf32(&t->p);
    uint32_t form = (uint32_t)t->p.d | t->p.wn << 8 | steps_of(t) << 20 |
                    (uint32_t)(!rounds && !t->a.rows_k) << 28 |
                    (uint32_t)(!rounds && !t->b.rows_k) << 29;
    if (!t->p.frags) {
        em_call(e, "lz_simt_group_multiply", e->none,
                (Val[]){t->s->thread, left[0], right, em_c32(e, form)}, 4);
        return;
    }
    if (!t->s->words)
        t->s->words = em_alloca(e, e->i64, 10, 8);
    for (unsigned i = 0; i < FRAG_MOST; i++)
        em_store(e, left[i], em_at(e, t->s->words, em_c64(e, i), 4), 4);
    em_call(e, "lz_simt_group_multiply_words", e->none,
            (Val[]){t->s->thread, t->s->words, right, em_c32(e, form)}, 4);
}

/* ---- the left operand from registers ---- */

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
    if (!t->p.frags) {
        Val warp = AND(LSHR(t->s->tid, em_c64(e, 5)), em_c64(e, 3));
        return ADD(ADD(SHL(warp, em_c64(e, 4)), g), em_c64(e, half * 8));
    }
    Val x = ADD(SHL(first_block(t), em_c64(e, 5)), SHL(first_chunk(t), em_c64(e, 2)));
    return ADD(ADD(x, SHL(AND(g, em_c64(e, 1)), em_c64(e, 1))), em_c64(e, half));
}

/* The registers of a part. */
static void load_frags(gemm *t, Val stage, unsigned part, Val *out)
{
    em *e = t->e;
    Val k = AND(t->lane, em_c64(e, 3)), g = LSHR(t->lane, em_c64(e, 2)), chunk = first_chunk(t);
    Val block = ADD(MUL(t->down, em_c64(e, 2)), first_block(t));
    Val at = ADD(ADD(stage, em_c64(e, left_of(t)->first)),
                 MUL(block, em_c64(e, (int64_t)t->p.kt * GEMM_ROW)));
    at = ADD(at, ADD(MUL(k, em_c64(e, GEMM_ROW)), SHL(AND(g, em_c64(e, 1)), em_c64(e, 3))));
    for (unsigned i = 0; i < FRAG_MOST; i += 2) {
        unsigned row = part * FRAG_STEPS * FRAG_K + i / 2 * 4; /* of k, to which l % 4 is added */
        Val c = XOR(chunk, OR(k, em_c64(e, row & 7)));
        Val from = ADD(ADD(at, SHL(c, em_c64(e, 4))), em_c64(e, (int64_t)row * GEMM_ROW));
        Val two = em_load(e, em_vec(e->i32, 2), em_at(e, t->s->shared, from, 1), 8);
        out[i] = em_extract(e, two, 0);
        out[i + 1] = em_extract(e, two, 1);
    }
}

/* ---- a part of a k-tile ---- */

unsigned gemm_wgmma_parts(const gemm_shape *p)
{
    return p->frags ? p->kt / (FRAG_STEPS * FRAG_K) : 1;
}

void gemm_wgmma_multiply(gemm *t, Val stage, unsigned part, Val *sum)
{
    em *e = t->e;
    unsigned lead =
        t->p.kt * GEMM_ROW; /* as many bytes as a warpgroup's rows of the left factor, too */
    Val left[FRAG_MOST],
        right = ADD(stage, em_c64(e, right_of(t)->first + part * FRAG_STEPS * STEP_BYTES));
    right = describe(t->s, right, lead);
    if (t->p.frags)
        load_frags(t, stage, part, left);
    else
        left[0] = describe(t->s, ADD(stage, MUL(t->down, em_c64(e, GROUP_ROWS * GEMM_ROW))), lead);
    if (e->nvptx)
        multiply_ptx(t, left, right, sum);
    else
        multiply_emulated(t, left, right);
}

void simt_wgmma_wait(simt *s, Val *sum, unsigned n, unsigned left)
{
    em *e = s->e;
    if (e->nvptx) {
        lz_buf text = {0};
        lz_buf_printf(&text, "wgmma.wait_group.sync.aligned %u;", left);
        on_sums(s, &text, sum, n, NULL, 0);
        return;
    }
    if (!s->sums)
        s->sums = em_alloca(e, e->f32, GEMM_ACC, 4);
    for (unsigned i = 0; i < n; i++)
        em_store(e, sum[i], em_at(e, s->sums, em_c64(e, i), 4), 4);
    em_call(e, "lz_simt_group_wait", e->none, (Val[]){s->thread, s->sums, em_c32(e, left)}, 3);
    for (unsigned i = 0; i < n; i++)
        sum[i] = em_load(e, e->f32, em_at(e, s->sums, em_c64(e, i), 4), 4);
}

void gemm_wgmma_wait(gemm *t, Val *sum, unsigned left)
{
    simt_wgmma_wait(t->s, sum, gemm_nacc(t), left);
}

/* ---- with the left factor in registers ---- */

static void put_words(lz_buf *text, unsigned from)
{
    lz_buf_printf(text, "}, {$%u, $%u, $%u, $%u}", from, from + 1, from + 2, from + 3);
}

static void multiply_words_ptx(simt *s, const simt_wgmma_words *w, Val b, Val *sum)
{
    em *e = s->e;
    lz_buf text = {0}, form = {0};
    unsigned n = w->n / 2, tied = w->fresh ? 0 : n, by = w->rows_k ? STEP_BYTES : STEP * GEMM_ROW;
    const char *d = w->d == LZ_F16 ? "f16" : "bf16";
    Ty results[GEMM_ACC];
    Val in[GEMM_ACC + 1 + 4 * SIMT_WGMMA_STEPS];
    lz_buf_printf(&text, "{\n.reg .b64 db;\nmov.b64 db, $%u;\nwgmma.fence.sync.aligned;\n", n);
    for (unsigned i = 0; i < w->steps; i++) {
        lz_buf_printf(&text, "wgmma.mma_async.sync.aligned.m64n%uk%u.f32.%s.%s {", w->n, STEP, d,
                      d);
        for (unsigned j = 0; j < n; j++)
            lz_buf_printf(&text, "%s$%u", j ? ", " : "", j);
        put_words(&text, n + 1 + 4 * i);
        lz_buf_printf(&text, ", db, %d, 1, 1, %d;\n", i > 0 || !w->fresh, !w->rows_k);
        if (i + 1 < w->steps)
            lz_buf_printf(&text, "add.s64 db, db, %u;\n", by / GEMM_CHUNK);
    }
    lz_buf_puts(&text, "wgmma.commit_group.sync.aligned;\n}");
    for (unsigned i = 0; i < n; i++) {
        results[i] = e->f32;
        lz_buf_puts(&form, "=&f,");
    }
    in[0] = b;
    lz_buf_puts(&form, "l,");
    for (unsigned i = 0; i < 4 * w->steps; i++) {
        in[1 + i] = w->left[i];
        lz_buf_puts(&form, "r,");
    }
    for (unsigned i = 0; i < tied; i++) {
        in[1 + 4 * w->steps + i] = sum[i];
        lz_buf_printf(&form, "%u,", i);
    }
    lz_buf_puts(&form, "~{memory}");
    if (text.failed || form.failed) {
        e->status = LZ_FAIL(LZ_EMEM, "code generation of '%s': no memory", s->k->name);
    } else {
        Ty ret = LLVMStructTypeInContext(e->cx, results, n, 0);
        Val r =
            em_asm(e, lz_buf_str(&text), lz_buf_str(&form), ret, in, 1 + 4 * w->steps + tied, true);
        for (unsigned i = 0; i < n; i++)
            sum[i] = LLVMBuildExtractValue(e->b, r, i, "");
    }
    lz_buf_free(&form);
    lz_buf_free(&text);
}

static void multiply_words_emulated(simt *s, const simt_wgmma_words *w, Val b, Val *sum)
{
    em *e = s->e;
    if (!s->sums)
        s->sums = em_alloca(e, e->f32, GEMM_ACC, 4);
    for (unsigned i = 0; i < 4 * w->steps; i++)
        em_store(e, w->left[i], em_at(e, s->sums, em_c64(e, i), 4), 4);
    uint32_t form = (uint32_t)w->d | w->n << 8 | w->steps << 20 | (uint32_t)!w->rows_k << 29;
    em_call(e, "lz_simt_group_multiply_words", e->none,
            (Val[]){s->thread, s->sums, b, em_c32(e, form)}, 4);
    for (unsigned i = 0; i < w->n / 2 && w->fresh; i++)
        sum[i] = em_cf(e->f32, 0);
}

void simt_wgmma_multiply_words(simt *s, const simt_wgmma_words *w, Val at, Val *sum)
{
    Val b = describe(s, at, 0);
    if (s->e->nvptx)
        multiply_words_ptx(s, w, b, sum);
    else
        multiply_words_emulated(s, w, b, sum);
}

void gemm_wgmma_fence(gemm *t)
{
    simt_wgmma_fence(t->s);
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
