/* simt.c - targets of many threads, and the code of one kernel for them.
 * Threads: thread-safe. */
#include "backends/llvm/simt_kern.h"
#include <stdio.h>
#include <string.h>

lz_status lz_simt_target(int major, int minor, lz_target *out)
{
    memset(out, 0, sizeof *out);
    if (major < 8)
        return LZ_FAIL(LZ_EUNSUPPORTED, "compute capability %d.%d: 8.0 or later is needed", major,
                       minor);
    snprintf(out->triple, sizeof out->triple, "nvptx64-nvidia-cuda");
    /* what LLVM 19 knows; PTX for 8.0 and 9.0 also runs on everything later */
    const char *cpu = major > 9 || (major == 9 && minor > 0) ? "sm_90"
                      : major == 9                           ? "sm_90a"
                      : minor == 9                           ? "sm_89"
                      : minor >= 6                           ? "sm_86"
                                                             : "sm_80";
    snprintf(out->cpu, sizeof out->cpu, "%s", cpu);
    snprintf(out->features, sizeof out->features, "+ptx80");
    out->vector_bytes = 16;
    out->simt = true;
    return LZ_OK;
}

lz_status lz_simt_emulated(lz_target *out)
{
    LZ_TRY(lz_target_host(out));
    out->vector_bytes = 16;
    out->simt = true;
    return LZ_OK;
}

/* Points; `many` is left to free whatever becomes of it. */
static lz_status emit_points(simt *s, kern *c, kern *many)
{
    bool vectors = s->plan.lanes > 1;
    if (vectors) {
        LZ_TRY(kern_init_epilogue(many, s->e, s->k, s->plan.lanes));
        many->aligned = true;
    }
    for (uint32_t i = 0; i < s->k->nstage && vectors; i++)
        vectors = simt_vectors_suit(many, i);
    simt_emit_points(s, c, vectors ? many : NULL);
    return LZ_OK;
}

static lz_status emit_kern(simt *s)
{
    kern c, many = {0};
    lz_status st = kern_init_scalar(&c, s->e, s->k);
    if (st == LZ_OK) {
        simt_begin(s, &c);
        if (s->plan.kind == SIMT_ROWS)
            simt_emit_rows(s, &c);
        else if (s->plan.kind == SIMT_SERIAL)
            simt_emit_serial(s, &c);
        else if (s->plan.kind == SIMT_SQUARES)
            simt_emit_squares(s, &c);
        else
            st = emit_points(s, &c, &many);
        LLVMBuildRetVoid(s->e->b);
    }
    kern_done(&c);
    kern_done(&many);
    return st;
}

lz_status lz_simt_emit(em *e, const lz_kernel *k)
{
    simt s = {.e = e, .k = k};
    if (lz_kernel_has_rows(k))
        return LZ_FAIL(LZ_EUNSUPPORTED, "kernel '%s': no code for rows on many threads", k->name);
    simt_plan_of(k, &s.plan);
    lz_status st = s.plan.kind == SIMT_TILES ? simt_emit_tiles(&s) : emit_kern(&s);
    return st != LZ_OK ? st : e->status;
}
