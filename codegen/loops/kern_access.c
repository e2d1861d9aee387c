/* kern_access.c - analyses of loop IR that CPU and GPU schedules share, without LLVM: which
 * operands are plain loads, which kernels are GEMMs.
 * Threads: pure. */
#include "codegen/loops/kern.h"
#include "lower/loops/loop_impl.h"

const lz_access *kern_plain_access(const lz_kernel *k, int32_t sop)
{
    const lz_stage *s = &k->stages[0];
    const lz_sop *p = &s->sops[sop];
    if (p->kind != LZ_S_LOAD || s->accs[p->a].ndyn || s->accs[p->a].guard >= 0)
        return NULL;
    return &s->accs[p->a];
}

static bool dtype_ok(lz_dtype d)
{
    return d == LZ_F32 || d == LZ_F64 || d == LZ_I32 || d == LZ_U32 || d == LZ_I64 || d == LZ_U64;
}

static bool form_ok(const lz_kernel *k)
{
    if (!lz_kernel_is_dot(k) || k->nouter < 2 || lz_kernel_dot(k)->m != k->nouter - 2 ||
        lz_kernel_dot(k)->n != k->nouter - 1 || k->serial)
        return false;
    const lz_stage *s = &k->stages[0];
    if (k->nstage < 2 || s->ninner < 1 || s->nred != 1 || s->reds[0].nacc != 1 || s->nstore ||
        !dtype_ok(s->reds[0].acc_dtype[0]))
        return false;
    lz_dtype d = s->reds[0].acc_dtype[0];
    return lz_sums_from_zero(s) && s->sops[lz_kernel_dot(k)->a_sop].dtype == d &&
           s->sops[lz_kernel_dot(k)->b_sop].dtype == d;
}

static bool unit_in_k(const lz_kernel *k, int32_t sop)
{
    const lz_stage *s = &k->stages[0];
    const lz_sop *p = &s->sops[lz_converted_from(s, sop)];
    uint32_t kd = k->nouter + s->ninner - 1;
    return p->kind == LZ_S_LOAD &&
           (lz_sz_is(s->accs[p->a].stride[kd], 1) || lz_sz_is(s->accs[p->a].stride[kd], 0));
}

/* One row or column of results whose matrix is contiguous along k: sums along k, no tiles. */
static bool is_row_dots(const lz_kernel *k)
{
    bool vector =
        lz_sz_is(k->outer[lz_kernel_dot(k)->m], 1) || lz_sz_is(k->outer[lz_kernel_dot(k)->n], 1);
    return vector && unit_in_k(k, lz_kernel_dot(k)->a_sop) && unit_in_k(k, lz_kernel_dot(k)->b_sop);
}

bool kern_dot_form(const lz_kernel *k)
{
    return form_ok(k) && !is_row_dots(k);
}
