/* dot.c - GEMM on a CPU: operand layouts, tile and block sizes, and the order of emission. See
 * dot.h. Threads: belongs to one thread. */
#include "codegen/dot/dot.h"
#include "lower/loops/loop_impl.h"
#include <string.h>

/* ---- which layouts and sizes ---- */

/* Vectors of columns in a block: more do not pay, unless each block packs the rows of A again. */
static int64_t most_vectors(const dot *g, int64_t fit)
{
    int64_t most = dot_most_vectors(g->e);
    return fit >= 2 * most && g->amode == DOT_A_COLS ? 2 * most : most;
}

/* A block of B takes half of the L2 cache, a k-block of the rows of A the L1. With few registers
 * panels are so narrow that a run of one has its place there, too. */
static void choose_blocks(dot *g)
{
    enum { A_BYTES = 512 }; /* of a k of the rows of a unit: B is packed again for each */
    int64_t es = g->es;
    g->kc = (g->e->many && g->e->t->machine.l1_bytes >= 32768 ? 2048 : 1024) / es;
    int64_t vecs = g->e->t->machine.l2_bytes / 2 / (g->kc * es * g->L), nv = g->nv;
    vecs = vecs > most_vectors(g, vecs) ? most_vectors(g, vecs) : vecs;
    g->nc = vecs < nv ? nv : vecs / nv * nv;
    g->mc = 192 / g->mr;
    if (g->amode == DOT_A_COLS)
        g->mc = A_BYTES / es / g->mr;
    int64_t m = dot_baked(g->k->outer[g->m]);
    g->stream = g->b_place && m >= 0 && m <= dot_few_rows(g);
}

/* The type that a factor is converted from, where it is a plain load that is contiguous along one
 * of its loops; else that of the sums. */
static lz_dtype narrow_type(const dot *g, int32_t sop, uint32_t other)
{
    const lz_stage *s = &g->k->stages[0];
    int32_t from = lz_converted_from(s, sop);
    bool contiguous = dot_plain_along(g, from, g->kd) || dot_plain_along(g, from, other);
    return contiguous && s->sops[sop].dtype == g->d ? s->sops[from].dtype : g->d;
}

/* Whether vdpbf16ps is faster than widening both factors for FMA. Processors with AVX512-FP16 do
 * one in two cycles, in which they do four FMA (256^3: 186 to 113 Gflop/s). */
static bool pairs_pay(const em *e)
{
    return !lz_target_has(e->t, "avx512fp16") || em_always(e, LZ_VARIANT_bf16_pairs);
}

/* Whether several k go into one instruction, and how many. */
static void choose_words(dot *g)
{
    em *e = g->e;
    lz_dtype a = narrow_type(g, lz_kernel_dot(g->k)->a_sop, g->m),
             b = narrow_type(g, lz_kernel_dot(g->k)->b_sop, g->n);
    bool bytes = (a == LZ_I8 || a == LZ_U8) && (b == LZ_I8 || b == LZ_U8);
    if (e->bf16 && em_may(e, LZ_VARIANT_bf16_pairs) && pairs_pay(e) && g->d == LZ_F32 &&
        a == LZ_BF16 && b == LZ_BF16)
        g->words = 1;
    if (e->vnni && em_may(e, LZ_VARIANT_int8_quads) && g->d == LZ_I32 && bytes)
        g->words = 2;
    g->a_signed = a == LZ_I8;
    g->alike = g->words == 2 && a == b;
}

/* Whether N is so many vectors that each panel, narrow ones included (dot_panels_begin), has all of
 * its own. */
static bool panels_fill(const dot *g)
{
    int64_t n = dot_baked(g->k->outer[g->n]);
    unsigned step = g->nv % g->nv_small ? 1 : g->nv_small;
    return n >= 0 && n % ((int64_t)g->L * step) == 0;
}

static lz_status plan(dot *g)
{
    LZ_TRY(kern_init_epilogue(&g->c, g->e, g->k, g->L));
    bool n_first, k_first;
    LZ_TRY(dot_choose_vectors(&g->base, &g->b, lz_kernel_dot(g->k)->b_sop, g->n, g->kd, &n_first));
    g->bmode = n_first ? DOT_B_ROWS : DOT_B_COLS;
    LZ_TRY(dot_choose_vectors(&g->base, &g->a, lz_kernel_dot(g->k)->a_sop, g->kd, g->m, &k_first));
    g->amode = k_first ? DOT_A_ROWS : DOT_A_COLS;
    if (k_first && dot_plain_along(g, lz_kernel_dot(g->k)->a_sop, g->kd))
        g->amode = DOT_A_PLACE;
    g->plain = dot_stores_sums(g->k);
    choose_words(g);
    dot_choose_tile(g);
    g->whole = panels_fill(g);
    g->b_place = (g->e->masks || g->whole) && n_first &&
                 dot_plain_along(g, lz_kernel_dot(g->k)->b_sop, g->n);
    choose_blocks(g);
    return LZ_OK;
}

static void swap_sz(lz_sz *a, lz_sz *b)
{
    lz_sz t = *a;
    *a = *b;
    *b = t;
}

/* The same product with the roles of m and n exchanged. NULL without memory. */
static lz_kernel *transposed(const lz_kernel *k, lz_arena *mem)
{
    uint32_t m = lz_kernel_dot(k)->m, n = lz_kernel_dot(k)->n;
    lz_kernel *t = lz_arena_copy(mem, k, sizeof *k);
    if (!t || !(t->stages = lz_arena_copy(mem, k->stages, k->nstage * sizeof *k->stages)))
        return NULL;
    swap_sz(&t->outer[m], &t->outer[n]);
    t->stages[0].dot.a_sop = lz_kernel_dot(k)->b_sop;
    t->stages[0].dot.b_sop = lz_kernel_dot(k)->a_sop;
    for (uint32_t i = 0; i < t->nstage; i++) {
        lz_stage *s = &t->stages[i];
        s->sops = lz_arena_copy(mem, s->sops, s->nsop * sizeof *s->sops);
        s->accs = lz_arena_copy(mem, s->accs, s->nacc * sizeof *s->accs);
        s->stores = lz_arena_copy(mem, s->stores, s->nstore * sizeof *s->stores);
        if (!s->sops || !s->accs || !s->stores)
            return NULL;
        for (uint32_t j = 0; j < s->nsop; j++)
            if (s->sops[j].kind == LZ_S_INDEX &&
                ((uint32_t)s->sops[j].a == m || (uint32_t)s->sops[j].a == n))
                s->sops[j].a = (int32_t)(m + n) - s->sops[j].a;
        for (uint32_t j = 0; j < s->nacc; j++) {
            swap_sz(&s->accs[j].stride[m], &s->accs[j].stride[n]);
            s->accs[j].nborder = 0; /* of no use to this form */
        }
        for (uint32_t j = 0; j < s->nstore; j++)
            swap_sz(&s->stores[j].at.stride[m], &s->stores[j].at.stride[n]);
    }
    return t;
}

static lz_status emit_dot(em *e, const lz_kernel *k)
{
    dot g;
    memset(&g, 0, sizeof g);
    dot_common_init(&g.base, e, k);
    g.m = lz_kernel_dot(k)->m;
    g.ki = k->stages[0].ninner - 1;
    g.kd = k->nouter + g.ki;
    lz_status s = plan(&g);
    if (s == LZ_OK) {
        dot_emit_micro(&g);
        dot_emit_blocking(&g);
        dot_emit_run(&g);
        s = e->status;
    }
    kern_done(&g.a);
    kern_done(&g.b);
    kern_done(&g.c);
    return s;
}

lz_status lz_kern_dot(em *e, const lz_kernel *k)
{
    if (!lz_sz_is(k->outer[lz_kernel_dot(k)->n], 1) || lz_sz_is(k->outer[lz_kernel_dot(k)->m], 1))
        return emit_dot(e, k);
    lz_arena mem = {0}; /* a column of results: as a row */
    lz_kernel *t = transposed(k, &mem);
    lz_status s =
        t ? emit_dot(e, t) : LZ_FAIL(LZ_EMEM, "code generation of '%s': no memory", k->name);
    lz_arena_free(&mem);
    return s;
}
