/* agreement.c - see agreement.h. */
#include "ir/eval/agreement.h"
#include "base/alloc.h"
#include <math.h>
#include <string.h>

enum { TIMES = 3, PER_MOVE = 16 };

uint32_t lz_components(const lz_type *t, lz_dtype *part)
{
    *part = lz_dtype_part(t->dtype);
    return lz_dtype_is_complex(t->dtype) ? 2 : 1;
}

static double default_rtol(lz_dtype d)
{
    return d == LZ_F64 ? 1e-12 : d == LZ_F32 ? 2e-5 : d == LZ_F16 ? 4e-3 : d == LZ_BF16 ? 4e-2 : 0;
}

static bool close_enough(double a, double b, double rtol, double atol)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    if (isinf(a) || isinf(b)) /* no tolerance makes a number infinite */
        return a == b;
    return a == b || fabs(a - b) <= atol + rtol * fabs(b);
}

static double epsilon(lz_dtype d)
{
    return d == LZ_F64 ? 0x1p-52 : d == LZ_F32 ? 0x1p-23 : d == LZ_F16 ? 0x1p-10 : 0x1p-7;
}

/* The input with each float moved by at most two units; its integers as they are. */
static lz_literal *moved(const lz_literal *l, uint64_t *r)
{
    lz_dtype part;
    int64_t n = l->type->nelem * lz_components(l->type, &part);
    lz_literal *m = lz_literal_new(l->type);
    if (!m)
        return NULL;
    memcpy(m->data, l->data, l->nbytes);
    for (int64_t i = 0; lz_dtype_is_float(part) && i < n; i++) {
        *r = *r * 6364136223846793005u + 1442695040888963407u;
        double by = (double)(*r >> 11) / 4503599627370496.0 - 1;
        lz_elem_set_f64(part, m->data, i,
                        lz_elem_get_f64(part, l->data, i) * (1 + 2 * by * epsilon(part)));
    }
    return m;
}

static void add_move(lz_moves *m, lz_literal *const *want, lz_literal *const *got)
{
    for (uint32_t k = 0; k < m->n; k++) {
        lz_dtype d;
        int64_t n = got[k]->type->nelem * lz_components(got[k]->type, &d);
        for (int64_t i = 0; lz_dtype_is_float(d) && i < n; i++) {
            double by =
                fabs(lz_elem_get_f64(d, got[k]->data, i) - lz_elem_get_f64(d, want[k]->data, i));
            if (by > m->of[k][i] && isfinite(by))
                m->of[k][i] = by;
        }
    }
}

static void release_all(lz_literal **v, uint32_t n)
{
    for (uint32_t i = 0; v && i < n; i++)
        lz_literal_release(v[i]);
    lz_free(v);
}

static lz_status move_once(lz_moves *m, const lz_func *f, lz_literal *const *in,
                           lz_literal *const *want, lz_runner *run, void *user, uint64_t *r)
{
    lz_literal **near = lz_calloc((size_t)f->nparam + 1, sizeof *near),
               **got = lz_calloc((size_t)f->nresult + 1, sizeof *got);
    lz_status s = near && got ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for the tolerance");
    for (uint32_t i = 0; i < f->nparam && s == LZ_OK; i++)
        if (!(near[i] = moved(in[i], r)))
            s = lz_error_get()->status;
    if (s == LZ_OK && (s = run(user, f, near, got)) == LZ_OK)
        add_move(m, want, got);
    release_all(near, f->nparam);
    release_all(got, f->nresult);
    return s;
}

lz_status lz_moves_measure(lz_moves *m, const lz_func *f, lz_literal *const *in,
                           lz_literal *const *want, lz_runner *run, void *user)
{
    uint64_t r = 1;
    *m = (lz_moves){lz_calloc((size_t)f->nresult + 1, sizeof *m->of), f->nresult};
    for (uint32_t k = 0; k < f->nresult; k++) {
        lz_dtype d;
        size_t n = m->of ? (size_t)want[k]->type->nelem * lz_components(want[k]->type, &d) : 0;
        if (!m->of || !(m->of[k] = lz_calloc(n + 1, sizeof **m->of)))
            return LZ_FAIL(LZ_EMEM, "no memory for the tolerance");
    }
    for (int t = 0; t < TIMES; t++)
        LZ_TRY(move_once(m, f, in, want, run, user, &r));
    return LZ_OK;
}

void lz_moves_free(lz_moves *m)
{
    for (uint32_t k = 0; m->of && k < m->n; k++)
        lz_free(m->of[k]);
    lz_free(m->of);
    *m = (lz_moves){0};
}

bool lz_agrees(const lz_moves *m, uint32_t k, const lz_literal *got, const lz_literal *want,
               double rtol, double atol, int64_t *element)
{
    lz_dtype d;
    int64_t n = got->type->nelem * lz_components(got->type, &d);
    bool floats = lz_dtype_is_float(d);
    rtol = rtol >= 0 ? rtol : default_rtol(d);
    for (int64_t i = 0; i < n; i++) {
        double a = lz_elem_get_f64(d, got->data, i), b = lz_elem_get_f64(d, want->data, i);
        double slack = atol >= 0 ? atol : rtol * 0.1;
        if (floats && m->of)
            slack += PER_MOVE * m->of[k][i];
        if (floats ? close_enough(a, b, rtol, slack)
                   : lz_elem_get_i64(d, got->data, i) == lz_elem_get_i64(d, want->data, i))
            continue;
        *element = i;
        return false;
    }
    return true;
}
