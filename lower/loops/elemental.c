/* elemental.c - the emitter's driver, memo table and scalar-op helpers. See elemental.h. */
#include "lower/loops/elemental.h"
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

static lz_loops_fn *const rules[LZ_OP_COUNT] = {
#define LZ_EW(...)
#define LZ_OP(E, text, cls, arity, attr, dtypes, flags, infer, vjp, jvp, batch, eval, loops, ...)  \
    [LZ_OP_##E] = lz_loops_##loops,
#include "ir/ops.def"
};

/* ---- scalar ops ---- */

int32_t lz_sops_add(lz_soplist *l, const lz_sop *s)
{
    if (l->failed)
        return -1;
    struct {
        int64_t w[10];
    } key = {{s->kind, s->dtype, s->op, s->a, s->b, s->c, (int64_t)s->bits,
              (int64_t)(intptr_t)s->attr, s->size.v, s->size.slot}};
    lz_hash h = lz_hash_bytes(&key, sizeof key);
    void *hit = lz_map_get(&l->seen, h);
    if (hit)
        return (int32_t)((intptr_t)hit - 1);
    int32_t id = (int32_t)l->v.len;
    lz_sop own = *s;
    own.node = l->node;
    if (lz_vec_push(&l->v, own) != LZ_OK ||
        lz_map_put(&l->seen, h, (void *)((intptr_t)id + 1)) != LZ_OK) {
        l->failed = true;
        return -1;
    }
    return id;
}

void lz_sops_free(lz_soplist *l)
{
    lz_vec_free(&l->v);
    lz_map_free(&l->seen);
    memset(l, 0, sizeof *l);
}

lz_dtype lz_sops_dtype(const lz_soplist *l, int32_t a)
{
    return a >= 0 && (uint32_t)a < l->v.len ? l->v.data[a].dtype : LZ_DTYPE_NONE;
}

static lz_sop blank(lz_sop_kind kind, lz_dtype d)
{
    lz_sop s;
    memset(&s, 0, sizeof s);
    s.kind = kind;
    s.dtype = d;
    s.a = s.b = s.c = -1;
    s.size.slot = -1;
    return s;
}

int32_t lz_sops_ew(lz_soplist *l, lz_op op, lz_dtype d, int32_t a, int32_t b, int32_t c,
                   const lz_attr *attr)
{
    lz_sop s = blank(LZ_S_EW, d);
    s.op = op;
    s.a = a;
    s.b = b;
    s.c = c;
    s.attr = attr;
    return lz_sops_add(l, &s);
}

int32_t lz_sops_const(lz_soplist *l, lz_dtype d, uint64_t bits)
{
    lz_sop s = blank(LZ_S_CONST, d);
    s.bits = bits;
    return lz_sops_add(l, &s);
}

int32_t lz_sops_zero(lz_soplist *l, lz_dtype d)
{
    return lz_sops_const(l, d, 0);
}

int32_t lz_sops_convert(lz_soplist *l, int32_t a, lz_dtype d)
{
    if (lz_sops_dtype(l, a) == d)
        return a;
    lz_attr_dtype r;
    memset(&r, 0, sizeof r);
    r.kind = LZ_ATTR_dtype;
    r.dtype = d;
    const lz_attr *attr = lz_attr_get((const lz_attr *)&r);
    if (!attr)
        l->failed = true;
    return lz_sops_ew(l, LZ_OP_CONVERT, d, a, -1, -1, attr);
}

int32_t lz_sops_compare(lz_soplist *l, lz_comparison_direction dir, int32_t a, int32_t b)
{
    lz_dtype d = lz_sops_dtype(l, a);
    lz_attr_compare r;
    memset(&r, 0, sizeof r);
    r.kind = LZ_ATTR_compare;
    r.comparison_direction = dir;
    r.compare_type = lz_dtype_is_float(d) || lz_dtype_is_complex(d) ? LZ_CT_FLOAT
                     : lz_dtype_is_signed(d)                        ? LZ_CT_SIGNED
                                                                    : LZ_CT_UNSIGNED;
    const lz_attr *attr = lz_attr_get((const lz_attr *)&r);
    if (!attr)
        l->failed = true;
    return lz_sops_ew(l, LZ_OP_COMPARE, LZ_BOOL, a, b, -1, attr);
}

int32_t lz_sops_select(lz_soplist *l, int32_t p, int32_t a, int32_t b)
{
    return a == b ? a : lz_sops_ew(l, LZ_OP_SELECT, lz_sops_dtype(l, a), p, a, b, NULL);
}

int32_t lz_sops_and(lz_soplist *l, int32_t a, int32_t b)
{
    if (a < 0 || a == b)
        return b;
    return b < 0 ? a : lz_sops_ew(l, LZ_OP_AND, LZ_BOOL, a, b, -1, NULL);
}

int32_t lz_emit_size(lz_emit *e, int64_t v)
{
    if (v == 0 || v == 1)
        return lz_sops_const(&e->sops, LZ_I64, (uint64_t)v);
    lz_sop s = blank(LZ_S_SIZE, LZ_I64);
    s.size.v = v;
    return lz_sops_add(&e->sops, &s);
}

static int32_t add_term(lz_emit *e, int32_t sum, int32_t x, int64_t scale)
{
    if (scale == 0)
        return sum;
    if (scale != 1 && scale != -1)
        x = lz_sops_ew(&e->sops, LZ_OP_MULTIPLY, LZ_I64, x, lz_emit_size(e, scale), -1, NULL);
    else if (scale == -1 && sum < 0)
        x = lz_sops_ew(&e->sops, LZ_OP_NEGATE, LZ_I64, x, -1, -1, NULL);
    if (sum < 0)
        return x;
    return lz_sops_ew(&e->sops, scale == -1 ? LZ_OP_SUBTRACT : LZ_OP_ADD, LZ_I64, sum, x, -1, NULL);
}

int32_t lz_emit_ix(lz_emit *e, const lz_ix *x)
{
    int32_t sum = x->c ? lz_emit_size(e, x->c) : -1;
    for (uint32_t l = 0; l < e->ax.n; l++) {
        if (x->k[l]) {
            lz_sop s = blank(LZ_S_INDEX, LZ_I64);
            s.a = (int32_t)l;
            sum = add_term(e, sum, lz_sops_add(&e->sops, &s), x->k[l]);
        }
    }
    for (int i = 0; i < x->ndyn; i++)
        sum = add_term(e, sum, x->dyn[i].sop, x->dyn[i].scale);
    return sum < 0 ? lz_emit_size(e, 0) : sum;
}

int32_t lz_emit_index_of(lz_emit *e, int32_t sop)
{
    if (lz_sops_dtype(&e->sops, sop) == LZ_U64) {
        int32_t top = lz_sops_const(&e->sops, LZ_U64, INT64_MAX);
        sop = lz_sops_ew(&e->sops, LZ_OP_MINIMUM, LZ_U64, sop, top, -1, NULL);
    }
    return lz_sops_convert(&e->sops, sop, LZ_I64);
}

int32_t lz_emit_clamp_index(lz_emit *e, int32_t sop, int64_t hi)
{
    int32_t zero = lz_emit_size(e, 0), top = lz_emit_size(e, hi);
    sop = lz_sops_ew(&e->sops, LZ_OP_MINIMUM, LZ_I64, sop, top, -1, NULL);
    return lz_sops_ew(&e->sops, LZ_OP_MAXIMUM, LZ_I64, sop, zero, -1, NULL);
}

bool lz_emit_range(const lz_emit *e, const lz_ix *x, int64_t *lo, int64_t *hi)
{
    *lo = *hi = x->c;
    for (uint32_t l = 0; l < e->ax.n; l++) {
        int64_t t = x->k[l] * (e->ax.ext[l] - 1);
        *(t < 0 ? lo : hi) += t;
    }
    return x->ndyn == 0;
}

/* ---- memory ---- */

lz_status lz_emit_access(lz_emit *e, uint32_t buf, const lz_ix *flat, int32_t guard, lz_access *a)
{
    memset(a, 0, sizeof *a);
    a->buf = buf;
    a->guard = guard;
    a->other = -1;
    a->offset.v = flat->c;
    a->offset.slot = -1;
    for (uint32_t l = 0; l < LZ_LOOP_MAX; l++) {
        a->stride[l].v = l < e->ax.n ? flat->k[l] : 0;
        a->stride[l].slot = -1;
    }
    for (int i = 0; i < flat->ndyn; i++) {
        a->dyn[a->ndyn].sop = flat->dyn[i].sop;
        a->dyn[a->ndyn].stride.v = flat->dyn[i].scale;
        a->dyn[a->ndyn++].stride.slot = -1;
    }
    return LZ_OK;
}

lz_status lz_emit_load(lz_emit *e, uint32_t buf, lz_dtype d, const lz_ix *flat, int32_t guard,
                       int32_t *sop)
{
    lz_access a;
    LZ_TRY(lz_emit_access(e, buf, flat, guard, &a));
    if (guard >= 0)
        a.other = lz_sops_zero(&e->sops, d);
    uint32_t i = 0;
    while (i < e->accs.len && !lz_access_eq(&e->accs.data[i], &a))
        i++;
    if (i == e->accs.len)
        LZ_TRY(lz_vec_push(&e->accs, a));
    lz_sop s = blank(LZ_S_LOAD, d);
    s.a = (int32_t)i;
    *sop = lz_sops_add(&e->sops, &s);
    return e->sops.failed ? LZ_EMEM : LZ_OK;
}

/* ---- the driver ---- */

static const lz_attr *attr_of(const lz_sig *sig)
{
    return sig->attr && sig->attr->kind != LZ_ATTR_none ? sig->attr : NULL;
}

void lz_emit_init(lz_emit *e, const lz_func *f, lz_arena *arena)
{
    memset(e, 0, sizeof *e);
    e->f = f;
    e->arena = arena;
    e->split_loop = UINT32_MAX;
    e->realise = LZ_NOVAL;
    e->dot_a = e->dot_b = -1;
    e->root = LZ_NOVAL;
}

void lz_emit_begin_stage(lz_emit *e)
{
    lz_sops_free(&e->sops);
    lz_vec_free(&e->accs);
    lz_vec_free(&e->reds);
    lz_vec_free(&e->stores);
    lz_map_free(&e->memo);
    memset(&e->memo, 0, sizeof e->memo);
    e->sort = NULL;
    e->stop = false;
    e->split_loop = UINT32_MAX;
    e->realise = LZ_NOVAL;
}

void lz_emit_done(lz_emit *e)
{
    lz_emit_begin_stage(e);
}

static lz_frame *frame_new(lz_emit *e, lz_val v, const lz_ixmap *map, int32_t guard)
{
    size_t nmap = lz_ixmap_bytes(map);
    lz_frame *f = lz_arena_alloc(e->arena, offsetof(lz_frame, map) + nmap);
    if (!f)
        return NULL;
    f->v = v;
    f->guard = map->rank ? guard : -1; /* a scalar is always there */
    f->result = -1;
    memcpy(&f->map, map, nmap);
    return f;
}

static lz_hash frame_key(const lz_emit *e, const lz_frame *f)
{
    return lz_ixmap_hash(&f->map, e->ax.n, ((uint64_t)f->v << 32) ^ (uint32_t)(f->guard + 1));
}

lz_status lz_emit_want(lz_emit *e, lz_frame *f, lz_val v, const lz_ixmap *map, int32_t guard)
{
    if (f->nwant == LZ_WANT_MAX)
        return LZ_FAIL(LZ_EINTERNAL, "emit: %s asks for more than %d values",
                       lz_op_get(lz_inst_op(&e->f->insts[f->v]))->text, LZ_WANT_MAX);
    lz_frame *w = frame_new(e, v, map, guard);
    if (!w)
        return LZ_EMEM;
    f->want[f->nwant++] = w;
    return LZ_OK;
}

lz_status lz_emit_want_scalar(lz_emit *e, lz_frame *f, lz_val v)
{
    lz_ixmap none;
    memset(&none, 0, sizeof none);
    none.rank = lz_val_type(e->f, v)->shape.rank; /* a one-element array counts as a scalar */
    return lz_emit_want(e, f, v, &none, -1);
}

lz_status lz_emit_stop_realise(lz_emit *e, lz_val v)
{
    e->stop = true;
    e->realise = v;
    return LZ_OK;
}

static lz_status ew_rule(lz_emit *e, lz_frame *f)
{
    const lz_inst *in = &e->f->insts[f->v];
    const lz_sig *sig = in->sig;
    if (f->step == 0) {
        for (uint32_t i = 0; i < sig->nopnd; i++) {
            if (sig->opnd[i]->shape.rank == 0)
                LZ_TRY(lz_emit_want_scalar(e, f, in->opnd[i]));
            else
                LZ_TRY(lz_emit_want(e, f, in->opnd[i], &f->map, f->guard));
        }
        return LZ_OK;
    }
    int32_t o[3] = {-1, -1, -1};
    for (uint32_t i = 0; i < sig->nopnd; i++)
        o[i] = f->want[i]->result;
    f->result =
        lz_sops_ew(&e->sops, sig->op, sig->result[0]->dtype, o[0], o[1], o[2], attr_of(sig));
    return LZ_OK;
}

/* A value is computed by its own node, and loaded by the one that reads it: `reader`. */
static lz_status step(lz_emit *e, lz_frame *f, lz_val reader, bool root)
{
    const lz_type *t = lz_val_type(e->f, f->v);
    e->sops.node = lz_func_node(e->f, reader);
    if (!root && t->nelem == 0) { /* asked for at no point at all */
        f->result = lz_sops_zero(&e->sops, t->dtype);
        return LZ_OK;
    }
    if (!root && (f->step == 0 || f->leaf)) {
        LZ_TRY(e->leaf(e, f));
        if (f->leaf || f->result >= 0) {
            f->step++;
            return LZ_OK;
        }
    }
    lz_op op = lz_inst_op(&e->f->insts[f->v]);
    e->sops.node = lz_func_node(e->f, f->v);
    LZ_TRY(lz_op_get(op)->cls == LZ_CLASS_EW ? ew_rule(e, f) : rules[op](e, f));
    f->step++;
    return LZ_OK;
}

static lz_status drive(lz_emit *e, lz_frame *root, bool force)
{
    LZ_VEC(lz_frame *) stack = {0};
    lz_status s = lz_vec_push(&stack, root);
    while (s == LZ_OK && stack.len && !e->stop) {
        lz_frame *f = stack.data[stack.len - 1];
        if (f->nhave < f->nwant) {
            lz_frame *w = f->want[f->nhave];
            if (w->result < 0) {
                void *hit = lz_map_get(&e->memo, frame_key(e, w));
                if (hit)
                    w->result = (int32_t)((intptr_t)hit - 1);
                else {
                    s = lz_vec_push(&stack, w);
                    continue;
                }
            }
            f->nhave++;
            continue;
        }
        lz_val reader = stack.len > 1 ? stack.data[stack.len - 2]->v : f->v;
        s = step(e, f, reader, force && f == root);
        if (s == LZ_OK && e->sops.failed)
            s = LZ_FAIL(LZ_EMEM, "out of memory");
        if (s == LZ_OK && !e->stop && e->sops.v.len > LZ_EMIT_SOP_MAX)
            s = LZ_FAIL(LZ_EUNSUPPORTED, "one kernel would need more than %d scalar operations",
                        LZ_EMIT_SOP_MAX);
        if (s == LZ_OK && f->result >= 0) {
            if (f != root)
                s = lz_map_put(&e->memo, frame_key(e, f), (void *)((intptr_t)f->result + 1));
            stack.len--;
        } else if (s == LZ_OK && !e->stop && f->nhave == f->nwant) {
            s = LZ_FAIL(LZ_EINTERNAL, "emit: the rule of %s neither asks nor answers",
                        lz_op_get(lz_inst_op(&e->f->insts[f->v]))->text);
        }
    }
    lz_vec_free(&stack);
    return s;
}

lz_status lz_emit_value(lz_emit *e, lz_val v, const lz_ixmap *map, int32_t guard, int32_t *sop)
{
    lz_frame *f = frame_new(e, v, map, guard);
    if (!f)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    void *hit = lz_map_get(&e->memo, frame_key(e, f));
    if (hit) {
        *sop = (int32_t)((intptr_t)hit - 1);
        return LZ_OK;
    }
    LZ_TRY(drive(e, f, false));
    *sop = f->result;
    return e->stop || f->result < 0
               ? LZ_OK
               : lz_map_put(&e->memo, frame_key(e, f), (void *)((intptr_t)f->result + 1));
}

lz_status lz_emit_root(lz_emit *e, lz_val v, const lz_ixmap *map, int32_t *sop)
{
    lz_frame *f = frame_new(e, v, map, -1);
    if (!f)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    e->root = v;
    LZ_TRY(drive(e, f, true));
    *sop = f->result;
    return LZ_OK;
}

/* ---- scalar regions ---- */

static int32_t const_of_parts(lz_soplist *l, const lz_literal *lit)
{
    uint64_t part[2];
    memcpy(part, lit->data, sizeof part);
    int32_t re = lz_sops_const(l, LZ_F64, part[0]), im = lz_sops_const(l, LZ_F64, part[1]);
    return lz_sops_ew(l, LZ_OP_COMPLEX, LZ_C128, re, im, -1, NULL);
}

static lz_status region_inst(lz_soplist *l, const lz_func *r, uint32_t i, int32_t *val)
{
    const lz_inst *in = &r->insts[i];
    const lz_sig *sig = in->sig;
    const lz_op_info *info = lz_op_get(sig->op);
    uint64_t value = 0;
    int32_t o[3] = {-1, -1, -1};
    for (uint32_t k = 0; k < sig->nopnd && k < 3; k++)
        o[k] = val[in->opnd[k]];
    bool same = info->cls == LZ_CLASS_MOVE && sig->nopnd == 1 && sig->result[0]->nelem == 1 &&
                sig->opnd[0]->nelem == 1 && sig->result[0]->dtype == sig->opnd[0]->dtype;
    if (same) /* before the scalar ops: of a complex number there is no other bit cast */
        val[i] = o[0];
    else if (lz_sig_is_scalar(sig))
        val[i] = lz_sops_ew(l, sig->op, sig->result[0]->dtype, o[0], o[1], o[2], attr_of(sig));
    else if (in->lit && lz_literal_splat(in->lit, &value))
        val[i] = lz_sops_const(l, sig->result[0]->dtype, value);
    else if (in->lit && sig->result[0]->dtype == LZ_C128 && sig->result[0]->nelem == 1)
        val[i] = const_of_parts(l, in->lit);
    else
        return LZ_FAIL(LZ_EUNSUPPORTED,
                       "%s: not supported inside a region of reduce, scatter or sort", info->text);
    return LZ_OK;
}

lz_status lz_emit_region(lz_soplist *l, const lz_func *r, const int32_t *args, int32_t *out)
{
    int32_t *val = lz_calloc(r->ninst ? r->ninst : 1, sizeof *val);
    if (!val)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    lz_status s = LZ_OK;
    for (uint32_t i = 0; i < r->ninst && s == LZ_OK; i++) {
        if (i < r->nparam)
            val[i] = args[i];
        else
            s = region_inst(l, r, i, val);
    }
    for (uint32_t k = 0; k < r->nresult && s == LZ_OK; k++)
        out[k] = val[r->results[k]];
    lz_free(val);
    if (s == LZ_OK && l->failed)
        s = LZ_FAIL(LZ_EMEM, "out of memory");
    return s;
}
