/* effects.c - functions in which something happens beside the results. See module.h. */
#include "base/alloc.h"
#include "ir/attr.h"
#include "ir/module.h"

bool lz_func_may_take_long(const lz_func *f)
{
    for (uint32_t i = f->nparam; i < f->ninst; i++) {
        const lz_sig *s = f->insts[i].sig;
        if (s->op == LZ_OP_CUSTOM_CALL || s->op == LZ_OP_WHILE)
            return true;
        const lz_func *r;
        for (int k = 0; (r = lz_attr_region(s->attr, k)); k++)
            if (lz_func_may_take_long(r))
                return true;
    }
    return false;
}

/* ---- without them ---- */

/* The instructions that the values are made of, by their number. NULL: no memory. */
static bool *find_needed(const lz_func *f, const lz_val *v, uint32_t n)
{
    bool *needed = lz_calloc((size_t)f->ninst + 1, sizeof *needed);
    if (!needed) {
        (void)LZ_FAIL(LZ_EMEM, "no memory to copy %s", f->name);
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++)
        needed[v[i]] = true;
    for (uint32_t i = f->ninst; i-- > 0;)
        for (uint32_t k = 0; needed[i] && k < f->insts[i].sig->nopnd; k++)
            needed[f->insts[i].opnd[k]] = true;
    return needed;
}

static const lz_sig *quiet_sig(const lz_sig *sig)
{
    lz_attr_any a;
    if (!(sig->flags & LZ_F_EFFECT))
        return sig;
    lz_attr_init(&a, sig->attr->kind);
    lz_attr_copy(&a.head, sig->attr);
    if (lz_attr_drop_effects(&a.head) != LZ_OK)
        return NULL;
    const lz_attr *attr = lz_attr_get(&a.head);
    return attr ? lz_sig_get(sig->op, attr, sig->opnd, sig->nopnd) : NULL;
}

static lz_status copy_needed(const lz_func *f, const bool *needed, lz_func *to, lz_val *map)
{
    lz_val *opnd = map + f->ninst;
    for (uint32_t i = 0; i < f->ninst; i++) {
        const lz_inst *in = &f->insts[i];
        to->now = lz_func_origin(f, i);
        if (i < f->nparam) {
            map[i] = lz_build_param(to, in->sig->result[0]);
        } else if (!needed[i]) {
            continue;
        } else if (in->lit) {
            map[i] = lz_build_const(to, in->lit);
        } else {
            const lz_sig *sig = quiet_sig(in->sig);
            for (uint32_t k = 0; k < in->sig->nopnd; k++)
                opnd[k] = map[in->opnd[k]];
            map[i] = sig ? lz_build_sig(to, sig, opnd) : LZ_NOVAL;
        }
        if (map[i] == LZ_NOVAL)
            return lz_error_get()->status;
    }
    return LZ_OK;
}

lz_status lz_func_pick(const lz_func *f, const lz_val *v, uint32_t n, lz_func **out)
{
    uint32_t widest = lz_func_widest(f);
    widest = n > widest ? n : widest;
    lz_func *to = lz_func_new(f->name);
    bool *needed = to ? find_needed(f, v, n) : NULL;
    lz_val *map = needed ? lz_alloc(((size_t)f->ninst + widest) * sizeof *map) : NULL;
    lz_status s = !to || !needed ? lz_error_get()->status
                  : map          ? copy_needed(f, needed, to, map)
                                 : LZ_FAIL(LZ_EMEM, "no memory to copy %s", f->name);
    for (uint32_t i = 0; i < n && s == LZ_OK; i++)
        map[f->ninst + i] = map[v[i]];
    if (s == LZ_OK)
        s = lz_func_set_results(to, map + f->ninst, n);
    lz_free(map);
    lz_free(needed);
    if (s != LZ_OK) {
        lz_func_free(to);
        to = NULL;
    }
    *out = to;
    return s;
}

/* The region that gives the same results. NULL with the error recorded. */
static const lz_func *quiet(const lz_func *f)
{
    lz_func *to;
    if (lz_func_pick(f, f->results, f->nresult, &to) != LZ_OK)
        return NULL;
    const lz_func *r = lz_region_intern(to);
    lz_func_free(to);
    return r;
}

/* As deep as regions are nested. */
lz_status lz_attr_drop_effects(lz_attr *a)
{
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    int n = lz_attr_fields(a, f);
    for (int i = 0; i < n; i++) {
        if (f[i].type != LZ_FIELD_REGION || !*f[i].region || !(*f[i].region)->effects)
            continue;
        const lz_func *r = quiet(*f[i].region);
        if (!r)
            return lz_error_get()->status;
        *f[i].region = r;
    }
    return LZ_OK;
}
