/* kernels_sort_key.c - key extraction: recognizes comparators that order by an integer key, and
 * emits the key. See kernels_sort.h.
 * Threads: belongs to one thread. */
#include "codegen/loops/kernels_sort.h"

/* ---- the comparator as code ---- */

static void mark_needed(const lz_sort *s, int32_t want, bool *need)
{
    need[want] = true;
    for (uint32_t i = s->nbody; i-- > 0;) {
        const lz_sop *p = &s->body[i];
        const int32_t o[3] = {p->a, p->b, p->c};
        if (need[i] && p->kind == LZ_S_EW)
            for (int j = 0; j < lz_op_get(p->op)->arity && j < 3; j++)
                need[o[j]] = true;
    }
}

/* Lanes of the values by row, of which some are there. */
static unsigned lanes_of(const lz_sort *s, const Ev *by_row)
{
    for (uint32_t k = 0; k < s->nrow; k++)
        if (by_row[k].v)
            return em_lanes(by_row[k].v);
    return 1;
}

Ev kern_sort_body(kern *c, const lz_sort *s, int32_t want, const Ev *left, const Ev *right)
{
    em *e = c->e;
    Ev *val = lz_arena_alloc(&c->arena, s->nbody * sizeof *val);
    bool *need = lz_arena_alloc(&c->arena, s->nbody);
    if (!val || !need) {
        e->status = e->status
                        ? e->status
                        : LZ_FAIL(LZ_EMEM, "code generation: no memory for a comparator of %u ops",
                                  s->nbody);
        return (Ev){LLVMConstNull(em_type(e, s->body[want].dtype, 1)), NULL};
    }
    mark_needed(s, want, need);
    for (uint32_t i = 0; i < s->nbody; i++) {
        const lz_sop *p = &s->body[i];
        if (!need[i])
            continue;
        if (p->kind == LZ_S_CONST) {
            val[i] = lz_ev_splat(e, lz_ev_const(e, p->dtype, p->bits), lanes_of(s, left));
        } else if (p->kind == LZ_S_ELT) {
            val[i] = (p->a & 1 ? right : left)[p->a / 2];
        } else {
            int32_t o[3] = {p->a, p->b, p->c};
            lz_dtype in[3] = {0};
            Ev a[3] = {{0}};
            for (int j = 0; j < lz_op_get(p->op)->arity && j < 3; j++)
                in[j] = s->body[o[j]].dtype, a[j] = val[o[j]];
            val[i] = lz_emit_ew(e, p->op, p->attr, p->dtype, in, a);
        }
    }
    return val[want];
}

/* ---- finding a key ---- */

enum { MAX_BODY = 64 };

/* mirror[i]: the op that is op i with left and right exchanged, -1 when there is none. */
static void find_mirrors(const lz_sort *s, int32_t *mirror)
{
    for (uint32_t i = 0; i < s->nbody; i++) {
        const lz_sop *p = &s->body[i];
        const int32_t o[3] = {p->a, p->b, p->c};
        int arity = p->kind == LZ_S_EW ? lz_op_get(p->op)->arity : 0;
        mirror[i] = p->kind == LZ_S_CONST ? (int32_t)i : -1;
        for (uint32_t j = 0; j < s->nbody && mirror[i] < 0; j++) {
            const lz_sop *q = &s->body[j];
            const int32_t r[3] = {q->a, q->b, q->c};
            if (q->kind != p->kind || q->dtype != p->dtype || q->op != p->op || q->attr != p->attr)
                continue;
            bool same = p->kind == LZ_S_EW || q->a == (p->a ^ 1);
            for (int k = 0; k < arity && k < 3; k++)
                same &= mirror[o[k]] == r[k];
            if (same)
                mirror[i] = (int32_t)j;
        }
    }
}

/* Bits: looks at left elements (1), right ones (2), of another row than `row` (4). *row is the
 *   first one met, or -1. */
static unsigned looks_at(const lz_sort *s, int32_t op, int64_t *row)
{
    bool need[MAX_BODY] = {false};
    unsigned bits = 0;
    mark_needed(s, op, need);
    for (uint32_t i = 0; i < s->nbody; i++) {
        if (!need[i] || s->body[i].kind != LZ_S_ELT)
            continue;
        *row = *row < 0 ? s->body[i].a / 2 : *row;
        bits |= s->body[i].a & 1 ? 2 : 1;
        bits |= s->body[i].a / 2 != *row ? 4 : 0;
    }
    return bits;
}

/* Whether integers can order values of d as this comparison does: for floats only the total
 * order. */
static bool is_integer_order(lz_dtype d, int32_t type)
{
    if (lz_dtype_is_float(d))
        return type == LZ_CT_TOTALORDER;
    return !lz_dtype_is_complex(d);
}

void kern_sort_find_key(ksort *t)
{
    const lz_sort *s = t->s;
    const lz_sop *cmp = &s->body[s->less];
    int32_t mirror[MAX_BODY];
    int64_t row = -1;
    if (s->nbody > MAX_BODY || cmp->kind != LZ_S_EW || cmp->op != LZ_OP_COMPARE)
        return;
    const lz_attr_compare *a = LZ_ATTR(compare, cmp->attr);
    lz_dtype d = s->body[cmp->a].dtype;
    bool lt = a->comparison_direction == LZ_CMP_LT, gt = a->comparison_direction == LZ_CMP_GT;
    if ((!lt && !gt) || !is_integer_order(d, a->compare_type))
        return;
    find_mirrors(s, mirror);
    unsigned left = looks_at(s, cmp->a, &row);
    if (mirror[cmp->a] != cmp->b || (left != 1 && left != 2))
        return;
    t->keyed = true;
    t->key_op = left == 1 ? cmp->a : cmp->b;
    t->descending = (left == 1) == gt;
    t->key_row = (uint32_t)row;
    t->key_dtype = d;
    t->exact = s->body[t->key_op].kind == LZ_S_ELT;
}

/* ---- computing it ---- */

static Ty key_type(em *e, const ksort *t)
{
    switch (lz_dtype_size(t->key_dtype)) {
    case 1:
        return e->i8;
    case 2:
        return e->i16;
    case 4:
        return e->i32;
    default:
        return e->i64;
    }
}

static Val sign_bit(Ty k, const ksort *t)
{
    return em_ci(k, (int64_t)(UINT64_C(1) << (lz_dtype_size(t->key_dtype) * 8 - 1)));
}

Val kern_sort_key(kern *c, const ksort *t, Ev left)
{
    em *e = c->e;
    Ev by_row[LZ_SORT_MAX] = {{0}};
    by_row[t->key_row] = left;
    Val v = kern_to_mem(e, t->key_dtype, kern_sort_body(c, t->s, t->key_op, by_row, by_row));
    Ty k = em_like(e, key_type(e, t), v);
    if (lz_dtype_is_float(t->key_dtype)) {
        Val bits = BITS(v, k), width = em_ci(k, (int64_t)lz_dtype_size(t->key_dtype) * 8 - 1);
        v = XOR(bits, OR(ASHR(bits, width), sign_bit(k, t)));
    } else if (lz_dtype_is_signed(t->key_dtype)) {
        v = XOR(v, sign_bit(k, t));
    }
    return t->descending ? NOT(v) : v;
}

Ev kern_sort_unkey(kern *c, const ksort *t, Val key)
{
    em *e = c->e;
    Ty k = key_type(e, t);
    if (t->descending)
        key = NOT(key);
    if (lz_dtype_is_float(t->key_dtype)) {
        Val width = em_ci(k, (int64_t)lz_dtype_size(t->key_dtype) * 8 - 1);
        Val bits = XOR(key, OR(ASHR(NOT(key), width), sign_bit(k, t)));
        return kern_from_mem(e, t->key_dtype, BITS(bits, kern_mem_type(e, t->key_dtype, 1)));
    }
    if (lz_dtype_is_signed(t->key_dtype))
        key = XOR(key, sign_bit(k, t));
    return kern_from_mem(e, t->key_dtype, key);
}
