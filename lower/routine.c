/* routine.c - see routine.h. */
#include "lower/routine.h"
#include "fft/fft.h"
#include "ir/attr.h"
#include "ir/op.h"
#include "lower/linalg_sig.h"

static bool is_linalg(const lz_sig *s)
{
    return lz_op_get(s->op)->cls == LZ_CLASS_LINALG;
}

bool lz_routine_may_do(lz_op op)
{
    lz_op_class c = lz_op_get(op)->cls;
    return c == LZ_CLASS_FFT || c == LZ_CLASS_LINALG;
}

static lz_fft_task fft_task_of(const lz_sig *s)
{
    static const lz_fft_kind kinds[] = {[LZ_FFT] = LZ_FFT_FORWARD,
                                        [LZ_IFFT] = LZ_FFT_BACKWARD,
                                        [LZ_RFFT] = LZ_FFT_REAL,
                                        [LZ_IRFFT] = LZ_FFT_HALF};
    const lz_attr_fft *a = LZ_ATTR(fft, s->attr);
    const lz_shape *x = &s->opnd[0]->shape;
    lz_fft_task t = {.kind = kinds[a->fft_type],
                     .wide = lz_dtype_part(s->result[0]->dtype) == LZ_F64,
                     .ndim = a->fft_length.n,
                     .batch = 1};
    for (int d = 0; d < t.ndim; d++)
        t.n[d] = a->fft_length.v[d];
    for (int d = 0; d < x->rank - t.ndim; d++)
        t.batch *= x->dims[d];
    return t;
}

bool lz_routine_has(const lz_sig *s)
{
    if (is_linalg(s))
        return lz_linalg_has(s);
    if (lz_op_get(s->op)->cls != LZ_CLASS_FFT || s->result[0]->nelem == 0 || s->opnd[0]->nelem == 0)
        return false;
    lz_dtype d = lz_dtype_part(s->result[0]->dtype);
    lz_fft_task t = fft_task_of(s);
    for (int i = 0; i < t.ndim; i++)
        if (t.n[i] > LZ_FFT_LONGEST)
            return false;
    return d == LZ_F32 || d == LZ_F64;
}

uint64_t lz_routine_work(const lz_sig *s)
{
    if (!lz_routine_has(s))
        return 0;
    lz_fft_task t = is_linalg(s) ? (lz_fft_task){0} : fft_task_of(s);
    double flops = is_linalg(s) ? lz_linalg_work(s) : lz_fft_flops(&t);
    return flops < 1e18 ? (uint64_t)flops : (uint64_t)1e18;
}

/* Its task is in place of the run-time sizes, its units are matrices. */
static lz_status linalg_new(lz_arena *mem, const lz_sig *s, lz_routine *out)
{
    lz_linalg_task *t = lz_arena_alloc(mem, sizeof *t);
    if (!t)
        return LZ_FAIL(LZ_EMEM, "%s: no memory for a routine", lz_op_get(s->op)->text);
    *t = lz_linalg_task_of(s);
    *out = (lz_routine){lz_linalg_run, (const int64_t *)(const void *)t, lz_linalg_count(s),
                        LZ_ALIGN_UP(lz_linalg_scratch(t), 64)};
    return LZ_OK;
}

lz_status lz_routine_new(lz_arena *mem, const lz_sig *s, lz_routine *out)
{
    if (is_linalg(s))
        return linalg_new(mem, s, out);
    lz_fft_task t = fft_task_of(s);
    const lz_fft_plan *p;
    LZ_TRY(lz_fft_plan_new(mem, &t, &p));
    *out = (lz_routine){lz_fft_run, (const int64_t *)(const void *)p, lz_fft_units(p),
                        LZ_ALIGN_UP(lz_fft_scratch(p), 64)};
    return LZ_OK;
}

lz_status lz_routine_run_alone(const lz_sig *s, void *const *bufs)
{
    lz_arena mem = {0};
    lz_routine r;
    lz_status st = lz_routine_new(&mem, s, &r);
    char *scratch = st == LZ_OK ? lz_alloc(r.scratch + 63) : NULL;
    if (st == LZ_OK && !scratch)
        st = LZ_FAIL(LZ_EMEM, "%s: no memory for %zu bytes", lz_op_get(s->op)->text, r.scratch);
    if (st == LZ_OK)
        r.run(bufs, r.args, 0, r.units, (void *)LZ_ALIGN_UP((uintptr_t)scratch, 64));
    lz_free(scratch);
    lz_arena_free(&mem);
    return st;
}
