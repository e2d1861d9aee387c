/* small_float_compute.c - see small_float_compute.h. */
#include "ir/small_float_compute.h"
#include "base/alloc.h"

const lz_type *lz_small_widened(const lz_type *t)
{
    return lz_dtype_is_storage(t->dtype) ? lz_type_get(LZ_F32, &t->shape) : t;
}

lz_status lz_small_widen(lz_func *f, lz_val *opnd, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (lz_dtype_is_storage(lz_val_type(f, opnd[i])->dtype))
            opnd[i] = lz_build_convert(f, opnd[i], LZ_F32);
        if (opnd[i] == LZ_NOVAL)
            return f->status;
    }
    return LZ_OK;
}

static lz_dtype computed(lz_dtype d)
{
    return lz_dtype_is_storage(d) ? LZ_F32 : d;
}

static lz_val widen_inst(lz_func *f, const lz_inst *in, const lz_val *val)
{
    lz_val o[3];
    if (in->lit) {
        lz_val v = lz_build_const(f, in->lit);
        return lz_build_convert(f, v, computed(in->sig->result[0]->dtype));
    }
    if (lz_inst_op(in) == LZ_OP_CONVERT)
        return lz_build_convert(f, val[in->opnd[0]], computed(in->sig->result[0]->dtype));
    if (in->sig->nopnd > 3) {
        f->status = LZ_FAIL(LZ_EUNSUPPORTED, "%s in a region of numbers that are only stored",
                            lz_op_get(lz_inst_op(in))->text);
        return LZ_NOVAL;
    }
    for (uint32_t k = 0; k < in->sig->nopnd; k++)
        o[k] = val[in->opnd[k]];
    return lz_build(f, lz_inst_op(in), in->sig->attr, o, in->sig->nopnd);
}

static lz_status widen_into(lz_func *f, const lz_func *r, lz_val *val, lz_val *out)
{
    for (uint32_t i = 0; i < r->ninst && f->status == LZ_OK; i++) {
        const lz_type *t = i < r->nparam ? lz_small_widened(lz_val_type(r, i)) : NULL;
        if (i < r->nparam && !t)
            return lz_error_get()->status;
        val[i] = t ? lz_build_param(f, t) : widen_inst(f, &r->insts[i], val);
    }
    for (uint32_t k = 0; k < r->nresult && f->status == LZ_OK; k++)
        out[k] = val[r->results[k]];
    return f->status == LZ_OK ? lz_func_set_results(f, out, r->nresult) : f->status;
}

const lz_func *lz_small_widen_region(const lz_func *r)
{
    bool any = false;
    for (uint32_t i = 0; i < r->nparam; i++)
        any = any || lz_dtype_is_storage(lz_val_type(r, i)->dtype);
    if (!any)
        return r;
    lz_func *f = lz_func_new("body");
    lz_val *room = lz_calloc((size_t)r->ninst + r->nresult + 1, sizeof *room);
    const lz_func *out = NULL;
    if (f && !room)
        (void)LZ_FAIL(LZ_EMEM, "no memory for a region");
    if (f && room && widen_into(f, r, room, room + r->ninst) == LZ_OK)
        out = lz_region_intern(f);
    lz_free(room);
    lz_func_free(f);
    return out;
}
