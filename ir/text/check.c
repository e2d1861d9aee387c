/* check.c - what the checks of conformance programs mean. See check.h. */
#include "ir/text/check.h"
#include "ir/func.h"
#include <math.h>
#include <string.h>

/* ---- distances ---- */

/* Floats in the order of their values as integers in the order of theirs; both zeros are 0. */
static int64_t ordinal(lz_dtype d, const void *data, int64_t i)
{
    uint64_t bits = 0, sign = (uint64_t)1 << (8 * lz_dtype_size(d) - 1);
    memcpy(&bits, (const char *)data + (size_t)i * lz_dtype_size(d), lz_dtype_size(d));
    int64_t magnitude = (int64_t)(bits & (sign - 1));
    return bits & sign ? -magnitude : magnitude;
}

static int64_t ulps(lz_dtype d, const void *got, const void *want, int64_t i)
{
    double a = lz_elem_get_f64(d, got, i), b = lz_elem_get_f64(d, want, i);
    int64_t r;
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b) ? 0 : INT64_MAX;
    bool too_far = __builtin_sub_overflow(ordinal(d, got, i), ordinal(d, want, i), &r);
    return too_far || r == INT64_MIN ? INT64_MAX : r < 0 ? -r : r;
}

static bool number_holds(const lz_check *c, lz_dtype d, const void *got, const void *want,
                         int64_t i, int64_t *ulp)
{
    if (!lz_dtype_is_float(d) && !lz_dtype_is_storage(d))
        return lz_elem_get_i64(d, got, i) == lz_elem_get_i64(d, want, i);
    double a = lz_elem_get_f64(d, got, i), b = lz_elem_get_f64(d, want, i);
    *ulp = ulps(d, got, want, i);
    if (c->kind == LZ_CHECK_CLOSE)
        return *ulp <= c->max_ulp;
    if (a == b || (isnan(a) && isnan(b)))
        return true;
    return c->kind == LZ_CHECK_ALMOST && isfinite(a) && isfinite(b) && fabs(a - b) <= c->tolerance;
}

bool lz_check_holds(const lz_check *c, const lz_literal *got, const lz_literal *want,
                    int64_t *element, int64_t *ulp)
{
    lz_dtype d = lz_dtype_part(got->type->dtype);
    int64_t parts = lz_dtype_is_complex(got->type->dtype) ? 2 : 1, far = 0, at = 0;
    for (int64_t i = 0; i < got->type->nelem * parts; i++) {
        *ulp = 0;
        *element = i / parts;
        if (!number_holds(c, d, got->data, want->data, i, ulp))
            return false;
        if (*ulp > far) {
            far = *ulp;
            at = *element;
        }
    }
    *element = at;
    *ulp = far;
    return c->kind != LZ_CHECK_CLOSE || far >= c->min_ulp || got->type->nelem == 0;
}

/* ---- constants as parameters ---- */

/* lit is NULL for what is no constant. */
static bool becomes_parameter(const lz_literal *lit, size_t least)
{
    return lit && lit->nbytes >= least;
}

static lz_status parameters(const lz_func *f, size_t least, lz_func *to, lz_val *map,
                            lz_literal **values)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->nparam; i++)
        map[i] = lz_build_param(to, lz_val_type(f, i));
    for (uint32_t i = f->nparam; i < f->ninst; i++)
        if (becomes_parameter(f->insts[i].lit, least)) {
            map[i] = lz_build_param(to, f->insts[i].lit->type);
            values[n++] = f->insts[i].lit;
        }
    return to->status;
}

static lz_status copy_rest(const lz_func *f, size_t least, lz_func *to, lz_val *map)
{
    LZ_VEC(lz_val) opnd = {0};
    lz_status s = LZ_OK;
    for (uint32_t i = f->nparam; i < f->ninst && s == LZ_OK; i++) {
        const lz_inst *in = &f->insts[i];
        if (becomes_parameter(in->lit, least))
            continue;
        opnd.len = 0;
        for (uint32_t k = 0; k < in->sig->nopnd && s == LZ_OK; k++)
            s = lz_vec_push(&opnd, map[in->opnd[k]]);
        if (s == LZ_OK)
            map[i] = in->lit ? lz_build_const(to, in->lit) : lz_build_sig(to, in->sig, opnd.data);
        s = s == LZ_OK ? to->status : s;
    }
    opnd.len = 0;
    for (uint32_t i = 0; i < f->nresult && s == LZ_OK; i++)
        s = lz_vec_push(&opnd, map[f->results[i]]);
    if (s == LZ_OK)
        s = lz_func_set_results(to, opnd.data, f->nresult);
    lz_vec_free(&opnd);
    return s;
}

lz_status lz_func_free_constants(const lz_func *f, size_t least, lz_func **out, lz_literal **values)
{
    *out = NULL;
    lz_func *to = lz_func_new(f->name);
    lz_val *map = lz_alloc(((size_t)f->ninst + 1) * sizeof *map);
    if (to)
        to->cse = false; /* f has nothing twice */
    lz_status s = to && map ? parameters(f, least, to, map, values) : LZ_EMEM;
    if (s == LZ_OK)
        s = copy_rest(f, least, to, map);
    lz_free(map);
    if (s == LZ_OK)
        *out = to;
    else
        lz_func_free(to);
    return s;
}
