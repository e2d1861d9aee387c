/* simt.c - targets of many threads, and the code of one kernel for them.
 * Threads: thread-safe. */
#include "codegen/gpu/simt_kern.h"
#include "base/config.h"
#include <stdio.h>
#include <string.h>

/* Vectors along the last outer loop, where all stages have such code: `many`, or NULL. It is left
 * to free whatever becomes of it. */
static lz_status across_points(simt *s, kern *many, kern **out)
{
    bool vectors = s->plan.lanes > 1;
    if (vectors) {
        LZ_TRY(kern_init_epilogue(many, s->e, s->k, s->plan.lanes));
        many->aligned = true;
    }
    for (uint32_t i = 0; i < s->k->nstage && vectors; i++)
        vectors = simt_vectors_suit(many, i);
    *out = vectors ? many : NULL;
    return LZ_OK;
}

static lz_status emit_points(simt *s, kern *c, kern *many)
{
    LZ_TRY(across_points(s, many, &many));
    simt_emit_elementwise(s, c, many);
    return LZ_OK;
}

static lz_status emit_columns(simt *s, kern *c, kern *many)
{
    LZ_TRY(across_points(s, many, &many));
    simt_emit_reduce_col(s, c, many);
    return LZ_OK;
}

/* Vectors along the rows, likewise. */
static lz_status emit_rows(simt *s, kern *c, kern *many)
{
    bool vectors = true;
    LZ_TRY(kern_init_rows(many, s->e, s->k, simt_vector_lanes(s->k, 0)));
    many->aligned = true;
    for (uint32_t i = 0; i < s->k->nstage && vectors; i++)
        vectors = !s->k->stages[i].ninner || simt_vectors_suit(many, i);
    simt_emit_reduce_row(s, c, vectors ? many : NULL);
    return LZ_OK;
}

/* Kernels that sort: long rows by blocks, short ones by threads. */
static lz_status emit_sorts(simt *s, kern *c, kern *together)
{
    em *e = s->e;
    em_ifelse which;
    LZ_TRY(kern_init_scalar(together, e, s->k));
    kern_share(together, c);
    em_ifelse_begin(e, &which, simt_sorts_long(s, c));
    simt_emit_sorts(s, together);
    em_ifelse_else(e, &which);
    simt_enter_sorts(s, c);
    simt_emit_elementwise(s, c, NULL);
    em_ifelse_end(e, &which, 0, NULL, NULL, NULL);
    return LZ_OK;
}

static lz_status emit_kern(simt *s)
{
    kern c, many = {0};
    lz_status st = kern_init_scalar(&c, s->e, s->k);
    if (st == LZ_OK) {
        simt_begin(s, &c);
        if (s->plan.kind == SIMT_ELEMENTWISE)
            simt_enter_sorts(s, &c); /* by single threads */
        if (s->entry == SIMT_FINISH)
            simt_emit_divided(s, &c);
        else if (s->plan.kind == SIMT_REDUCE_COL)
            st = emit_columns(s, &c, &many);
        else if (s->plan.kind == SIMT_SORT)
            st = emit_sorts(s, &c, &many);
        else if (s->plan.kind == SIMT_REDUCE_ROW)
            st = emit_rows(s, &c, &many);
        else if (s->plan.kind == SIMT_SERIAL)
            simt_emit_serial(s, &c);
        else if (s->plan.kind == SIMT_SCATTER)
            simt_emit_scatter(s, &c);
        else if (s->plan.kind == SIMT_TRANSPOSE)
            simt_emit_transpose(s, &c);
        else
            st = emit_points(s, &c, &many);
        LLVMBuildRetVoid(s->e->b);
    }
    kern_done(&c);
    kern_done(&many);
    return st;
}

/* Products and rows between them: code for any sizes, and where the kernel has the form for
 * most. */
static lz_status emit_blocks(simt *s)
{
    for (lz_simt_entry i = SIMT_MAIN; i < SIMT_ENTRIES; i++) {
        simt one = *s;
        one.entry = i;
        if (!lz_simt_entry_name(s->k, s->e->t, i))
            continue;
        if (i == SIMT_MAIN) {
            LZ_TRY(simt_emit_b2b(&one));
            continue;
        }
        one.plan.max_block = simt_flash_threads(s->k, i);
        one.plan.min_blocks = simt_flash_min_blocks(s->k, i);
        LZ_TRY(simt_emit_flash(&one));
    }
    return LZ_OK;
}

lz_status lz_simt_emit(em *e, const lz_kernel *k)
{
    simt s = {.e = e, .k = k};
    if (lz_kernel_has_rows(k) && !lz_kernel_keeps_sums(k))
        return LZ_FAIL(LZ_EUNSUPPORTED, "kernel '%s': no code for rows on many threads", k->name);
    simt_plan_of(k, e->t, &s.plan);
    lz_status st = s.plan.kind == SIMT_GEMM  ? simt_emit_gemm(&s)
                   : s.plan.kind == SIMT_B2B ? emit_blocks(&s)
                                             : emit_kern(&s);
    bool divided = s.plan.kind == SIMT_REDUCE_ROW || s.plan.kind == SIMT_REDUCE_COL;
    for (lz_simt_entry i = SIMT_SECOND; i <= SIMT_FINISH && divided && st == LZ_OK; i++) {
        simt one = {.e = e, .k = k, .plan = s.plan, .entry = i};
        one.plan.max_block = SIMT_POINTS_THREADS;
        if (lz_simt_entry_name(k, e->t, i))
            st = emit_kern(&one);
    }
    return st != LZ_OK ? st : e->status;
}
