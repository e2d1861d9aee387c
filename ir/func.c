/* func.c - functions of the tensor IR: making, growing, freeing, copying. See module.h; the
 * builder's short forms are in build.c.
 * Threads: thread-compatible; an interned function is immutable. */
#include "ir/module.h"
#include "ir/attr.h"
#include "ir/func.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

lz_func *lz_func_new(const char *name)
{
    lz_func *f = lz_calloc(1, sizeof *f);
    if (!f) {
        (void)LZ_FAIL(LZ_EMEM, "no memory for a function");
        return NULL;
    }
    f->cse = true;
    f->now.node = LZ_NOVAL;
    snprintf(f->name, sizeof f->name, "%s", name && *name ? name : "main");
    return f;
}

void lz_func_destroy(lz_func *f)
{
    for (uint32_t i = 0; i < f->ninst; i++)
        lz_literal_release(f->insts[i].lit);
    lz_free(f->insts);
    lz_free(f->results);
    lz_map_free(&f->table);
    lz_arena_free(&f->arena);
    lz_free(f);
}

void lz_func_free(lz_func *f)
{
    if (f && !f->interned)
        lz_func_destroy(f);
}

/* ---- hash-consing ---- */

/* Pointers may be hashed: the table lives and dies with the function and its order reaches no
 * output. */
static lz_hash inst_hash(const lz_sig *sig, const lz_val *opnd, const lz_literal *lit)
{
    if (lit)
        return lz_hash_seeded(lit->data, lit->nbytes, (uintptr_t)sig);
    return lz_hash_seeded(opnd, sig->nopnd * sizeof *opnd, (uintptr_t)sig);
}

static bool inst_eq(const lz_inst *i, const lz_sig *sig, const lz_val *opnd, const lz_literal *lit)
{
    if (i->sig != sig || (lit && !lz_literal_eq(i->lit, lit)))
        return false;
    return sig->nopnd == 0 || memcmp(i->opnd, opnd, sig->nopnd * sizeof *opnd) == 0;
}

static lz_val table_find(const lz_func *f, lz_hash h, const lz_sig *sig, const lz_val *opnd,
                         const lz_literal *lit)
{
    uintptr_t at = (uintptr_t)lz_map_get(&f->table, h);
    return at && inst_eq(&f->insts[at - 1], sig, opnd, lit) ? (lz_val)(at - 1) : LZ_NOVAL;
}

/* ---- growing ---- */

static lz_val failed(lz_func *f, lz_status s)
{
    if (f->status == LZ_OK)
        f->status = s;
    return LZ_NOVAL;
}

static lz_status reserve(lz_func *f)
{
    if (f->ninst < f->cap_inst)
        return LZ_OK;
    if (f->ninst >= LZ_NOVAL / 2)
        return LZ_FAIL(LZ_ERANGE, "%s has too many instructions", f->name);
    uint32_t cap = f->cap_inst ? f->cap_inst * 2 : 32;
    lz_inst *p = lz_realloc(f->insts, cap * sizeof *p);
    if (!p)
        return LZ_FAIL(LZ_EMEM, "no memory for %u instructions of %s", cap, f->name);
    f->insts = p;
    f->cap_inst = cap;
    return LZ_OK;
}

static lz_status append(lz_func *f, const lz_sig *sig, const lz_val *opnd, lz_literal *lit)
{
    LZ_TRY(reserve(f));
    lz_inst in = {
        .sig = sig, .lit = lit, .site = f->now.site, .scope = f->now.scope, .node = f->now.node};
    if (sig->nopnd) {
        in.opnd = lz_arena_copy(&f->arena, opnd, sig->nopnd * sizeof *opnd);
        if (!in.opnd)
            return LZ_FAIL(LZ_EMEM, "no memory for an instruction of %s", f->name);
    }
    if (lit)
        lz_literal_retain(lit);
    f->insts[f->ninst++] = in;
    f->effects |= (sig->flags & LZ_F_EFFECT) != 0;
    return LZ_OK;
}

/* An operand must exist; one of several results is read through `result`; its type is the one the
 * signature was made for. */
static lz_status check_operand(const lz_func *f, const lz_sig *sig, uint32_t i, lz_val v)
{
    const char *name = lz_op_get(sig->op)->text;
    if (v >= f->ninst)
        return LZ_FAIL(LZ_EINTERNAL, "%s: operand %u is value %u of %u", name, i, v, f->ninst);
    const lz_sig *from = f->insts[v].sig;
    if (sig->op != LZ_OP_RESULT && from->nresult > 1)
        return LZ_FAIL(LZ_EINTERNAL,
                       "%s: operand %u is %s with %u results: read one of them through `result`",
                       name, i, lz_op_get(from->op)->text, from->nresult);
    if (from->result[0] != sig->opnd[i]) {
        char a[200], b[200];
        return LZ_FAIL(LZ_EINTERNAL, "%s: operand %u is %s, but the signature says %s", name, i,
                       lz_type_short(from->result[0], a, sizeof a),
                       lz_type_short(sig->opnd[i], b, sizeof b));
    }
    return LZ_OK;
}

/* A `result` has the type of the result that it names. */
lz_status lz_func_check_result(const lz_sig *multi, const lz_sig *sig)
{
    const lz_attr_index *a = LZ_ATTR(index, sig->attr);
    if (a->index < 0 || a->index >= multi->nresult)
        return LZ_FAIL(LZ_ERANGE, "result: %s has %u results, not a number %" PRId64,
                       lz_op_get(multi->op)->text, multi->nresult, a->index);
    if (multi->result[a->index] != sig->result[0]) {
        char x[200], y[200];
        return LZ_FAIL(LZ_EINTERNAL, "result: number %" PRId64 " of %s is %s, not %s", a->index,
                       lz_op_get(multi->op)->text,
                       lz_type_short(multi->result[a->index], x, sizeof x),
                       lz_type_short(sig->result[0], y, sizeof y));
    }
    return LZ_OK;
}

static lz_status check_instruction(const lz_func *f, const lz_sig *sig, const lz_val *opnd)
{
    if (f->interned)
        return LZ_FAIL(LZ_EINTERNAL, "%s: the function is interned: nothing can be added", f->name);
    for (uint32_t i = 0; i < sig->nopnd; i++)
        LZ_TRY(check_operand(f, sig, i, opnd[i]));
    return sig->op == LZ_OP_RESULT ? lz_func_check_result(f->insts[opnd[0]].sig, sig) : LZ_OK;
}

lz_val lz_func_append(lz_func *f, const lz_sig *sig, const lz_val *opnd, lz_literal *lit)
{
    if (f->status != LZ_OK)
        return LZ_NOVAL;
    lz_status s = check_instruction(f, sig, opnd);
    if (s != LZ_OK)
        return failed(f, s);
    bool share = f->cse && (sig->flags & LZ_F_PURE);
    lz_hash h = {0};
    if (share) {
        h = inst_hash(sig, opnd, lit);
        lz_val v = table_find(f, h, sig, opnd, lit);
        if (v != LZ_NOVAL)
            return v;
    }
    s = append(f, sig, opnd, lit);
    if (s == LZ_OK && share)
        s = lz_map_put(&f->table, h, (void *)(uintptr_t)f->ninst); /* index + 1: never NULL */
    return s == LZ_OK ? f->ninst - 1 : failed(f, s);
}

lz_val lz_func_failed(lz_func *f)
{
    lz_status s = lz_error_get()->status;
    return failed(f, s != LZ_OK
                         ? s
                         : LZ_FAIL(LZ_EINTERNAL,
                                   "%s: an instruction was asked for without a value or a type",
                                   f->name));
}

lz_status lz_func_set_results(lz_func *f, const lz_val *v, uint32_t n)
{
    if (f->status != LZ_OK)
        return f->status;
    if (f->interned)
        return LZ_FAIL(LZ_EINTERNAL, "%s: the function is interned: its results are set", f->name);
    for (uint32_t i = 0; i < n; i++) {
        if (v[i] >= f->ninst)
            return f->status = LZ_FAIL(LZ_EINTERNAL, "%s: result %u is value %u of %u", f->name, i,
                                       v[i], f->ninst);
        const lz_sig *s = f->insts[v[i]].sig;
        if (s->nresult > 1)
            return f->status = LZ_FAIL(
                       LZ_EINTERNAL,
                       "%s: result %u is %s with %u results: read one of them through `result`",
                       f->name, i, lz_op_get(s->op)->text, s->nresult);
    }
    lz_val *copy = lz_alloc((n ? n : 1) * sizeof *copy);
    if (!copy)
        return f->status = LZ_FAIL(LZ_EMEM, "no memory for %u results of %s", n, f->name);
    if (n)
        memcpy(copy, v, n * sizeof *copy);
    lz_free(f->results);
    f->results = copy;
    f->nresult = n;
    return LZ_OK;
}

/* ---- copying ---- */

void lz_func_use_counts(const lz_func *f, uint32_t *counts)
{
    memset(counts, 0, f->ninst * sizeof *counts);
    for (uint32_t i = 0; i < f->ninst; i++)
        for (uint32_t k = 0; k < f->insts[i].sig->nopnd; k++)
            counts[f->insts[i].opnd[k]]++;
    for (uint32_t i = 0; i < f->nresult; i++)
        counts[f->results[i]]++;
}

void lz_func_result_lists(const lz_func *f, lz_val *first, lz_val *next)
{
    for (uint32_t i = 0; i < f->ninst; i++)
        first[i] = next[i] = LZ_NOVAL;
    for (uint32_t i = f->ninst; i-- > 0;)
        if (lz_inst_op(&f->insts[i]) == LZ_OP_RESULT) {
            next[i] = first[f->insts[i].opnd[0]];
            first[f->insts[i].opnd[0]] = i;
        }
}

uint32_t lz_func_widest(const lz_func *f)
{
    uint32_t n = 1;
    for (uint32_t i = 0; i < f->ninst; i++)
        n = f->insts[i].sig->nopnd > n ? f->insts[i].sig->nopnd : n;
    return n;
}

/* The instructions whose map entry is not LZ_NOVAL, renumbered in their order; map becomes old
 * value -> new value. */
static lz_status copy_marked(const lz_func *f, lz_func *to, lz_val *map)
{
    uint32_t widest = lz_func_widest(f);
    widest = f->nresult > widest ? f->nresult : widest;
    lz_val *opnd = lz_alloc(widest * sizeof *opnd);
    if (!opnd)
        return LZ_FAIL(LZ_EMEM, "no memory to copy %s", f->name);
    lz_status s = LZ_OK;
    for (uint32_t i = 0; i < f->ninst && s == LZ_OK; i++) {
        const lz_inst *in = &f->insts[i];
        if (map[i] == LZ_NOVAL)
            continue;
        for (uint32_t k = 0; k < in->sig->nopnd; k++)
            opnd[k] = map[in->opnd[k]];
        s = append(to, in->sig, opnd, in->lit);
        if (s != LZ_OK)
            break;
        map[i] = to->ninst - 1;
        to->insts[map[i]].site = in->site;
        to->insts[map[i]].scope = in->scope;
        to->insts[map[i]].node = in->node;
    }
    for (uint32_t i = 0; i < f->nresult && s == LZ_OK; i++)
        opnd[i] = map[f->results[i]];
    to->nparam = f->nparam;
    if (s == LZ_OK)
        s = lz_func_set_results(to, opnd, f->nresult);
    lz_free(opnd);
    return s;
}

static lz_status copy_with(const lz_func *f, lz_val *map, lz_func **out)
{
    lz_func *to = lz_func_new(f->name);
    *out = NULL;
    if (!to)
        return LZ_EMEM;
    lz_status s = copy_marked(f, to, map);
    to->cse = f->cse;
    to->derived = f->derived;
    if (s != LZ_OK) {
        lz_func_destroy(to);
        return s;
    }
    *out = to;
    return LZ_OK;
}

/* Entries for all instructions and one more, so that an empty function needs no exception. */
static lz_val *new_map(const lz_func *f, lz_val fill)
{
    lz_val *map = lz_alloc(((size_t)f->ninst + 1) * sizeof *map);
    if (!map) {
        (void)LZ_FAIL(LZ_EMEM, "no memory to copy %s", f->name);
        return NULL;
    }
    for (uint32_t i = 0; i < f->ninst; i++)
        map[i] = fill;
    return map;
}

lz_status lz_func_copy(const lz_func *f, lz_func **out)
{
    *out = NULL;
    if (f->status != LZ_OK)
        return LZ_FAIL(f->status, "%s: building it failed", f->name);
    lz_val *map = new_map(f, 0);
    lz_status s = map ? copy_with(f, map, out) : LZ_EMEM;
    lz_free(map);
    return s;
}

lz_func *lz_func_prune(const lz_func *f)
{
    lz_func *out = NULL;
    if (f->status != LZ_OK) {
        (void)LZ_FAIL(f->status, "%s: building it failed", f->name);
        return NULL;
    }
    lz_val *map = new_map(f, LZ_NOVAL);
    if (!map)
        return NULL;
    for (uint32_t i = 0; i < f->nparam; i++)
        map[i] = 0;
    for (uint32_t i = 0; i < f->nresult; i++)
        map[f->results[i]] = 0;
    for (uint32_t i = f->nparam; i < f->ninst; i++)
        if (f->insts[i].sig->flags & LZ_F_EFFECT)
            map[i] = 0;
    for (uint32_t i = f->ninst; i-- > 0;)
        for (uint32_t k = 0; map[i] != LZ_NOVAL && k < f->insts[i].sig->nopnd; k++)
            map[f->insts[i].opnd[k]] = 0;
    (void)copy_with(f, map, &out);
    lz_free(map);
    return out;
}
