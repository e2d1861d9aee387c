/* rewrite.c - rebuilding a function. See rewrite.h. */
#include "lower/rewrite.h"
#include "lower/emit.h"
#include <string.h>

static lz_val copy_inst(lz_rw *rw, uint32_t i)
{
    const lz_inst *in = &rw->in->insts[i];
    lz_val few[16], *o = few;
    uint32_t n = in->sig->nopnd;
    if (in->lit)
        return lz_build_const(rw->out, in->lit);
    if (n > 16 && !(o = lz_alloc(n * sizeof *o))) {
        rw->out->status = LZ_FAIL(LZ_EMEM, "out of memory");
        return LZ_NOVAL;
    }
    for (uint32_t k = 0; k < n; k++)
        o[k] = rw->map[in->opnd[k]];
    lz_val v = lz_build_sig(rw->out, in->sig, o);
    if (o != few)
        lz_free(o);
    return v;
}

static lz_status run(lz_rw *rw, lz_rw_fn fn, void *user)
{
    const lz_func *in = rw->in;
    for (uint32_t i = 0; i < in->ninst; i++) {
        uint32_t before = rw->out->ninst;
        lz_val v = LZ_NOVAL;
        if (i < in->nparam)
            v = lz_build_param(rw->out, lz_val_type(in, i));
        else
            v = fn(rw, i, user);
        if (i >= in->nparam && v == LZ_NOVAL && rw->out->status == LZ_OK)
            v = copy_inst(rw, i);
        else if (i >= in->nparam)
            rw->fired = true;
        if (rw->out->status != LZ_OK)
            return rw->out->status;
        rw->map[i] = v;
        for (uint32_t j = before; j < rw->out->ninst; j++) {
            rw->out->insts[j].site = in->insts[i].site;
            rw->out->insts[j].scope = in->insts[i].scope;
        }
    }
    lz_val *results = rw->map + in->ninst; /* room behind the map */
    for (uint32_t k = 0; k < in->nresult; k++)
        results[k] = rw->map[in->results[k]];
    return lz_func_set_results(rw->out, results, in->nresult);
}

lz_status lz_rw_same(const lz_func *a, const lz_func *b, bool *same)
{
    const lz_hash none = {0, 0}; /* no memory for the bytes */
    lz_hash x = lz_func_hash(a), y = lz_func_hash(b);
    *same = lz_hash_eq(x, y);
    return lz_hash_eq(x, none) || lz_hash_eq(y, none) ? LZ_FAIL(LZ_EMEM, "out of memory") : LZ_OK;
}

lz_status lz_rw_run(const lz_func *in, lz_rw_fn fn, void *user, lz_func **out)
{
    *out = NULL;
    lz_rw rw = {.in = in, .out = lz_func_new(in->name)};
    rw.map = lz_alloc(((size_t)in->ninst + in->nresult + 1) * sizeof *rw.map);
    lz_status s = rw.out && rw.map ? LZ_OK : LZ_FAIL(LZ_EMEM, "out of memory");
    lz_func *pruned = NULL;
    if (s == LZ_OK)
        s = run(&rw, fn, user);
    if (s == LZ_OK && rw.fired) {
        pruned = lz_func_prune(rw.out);
        if (!pruned)
            s = lz_error_get()->status;
    }
    lz_func_free(rw.out);
    lz_free(rw.map);
    bool same = false;
    if (s == LZ_OK && pruned)
        s = lz_rw_same(pruned, in, &same);
    if (s != LZ_OK || same) {
        lz_func_free(pruned);
        pruned = NULL;
    }
    *out = pruned;
    return s;
}

bool lz_rw_splat(const lz_func *f, lz_val v, uint64_t *bits)
{
    for (;;) {
        const lz_inst *in = &f->insts[v];
        if (in->lit)
            return in->lit->nbytes <= 64 ? lz_literal_splat(in->lit, bits) : false;
        lz_op op = lz_inst_op(in);
        if (op != LZ_OP_BROADCAST_IN_DIM && op != LZ_OP_RESHAPE && op != LZ_OP_TRANSPOSE)
            return false;
        v = in->opnd[0];
    }
}

lz_val lz_rw_build_splat_bits(lz_func *f, const lz_type *t, uint64_t bits)
{
    const lz_ints none = {0};
    lz_shape scalar = LZ_SCALAR;
    const lz_type *st = lz_type_get(t->dtype, &scalar);
    const uint64_t parts[2] = {bits, bits}; /* as lz_literal_splat says them */
    lz_literal *l = st ? lz_literal_copy_from(st, parts) : NULL;
    lz_val v = lz_build_const(f, l);
    lz_literal_release(l);
    return t->shape.rank == 0 || v == LZ_NOVAL ? v : lz_build_broadcast(f, v, &none, &t->shape);
}
