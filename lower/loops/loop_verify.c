/* loop_verify.c - the verifier of the loop IR: every index is in range, every dtype fits, nothing
 * is read before it is computed. It is the gate for kernels decoded from untrusted bytes, so it
 * assumes only that the arrays have the lengths that the kernel says. Addresses that depend on
 * data are checked by the loop-IR interpreter.
 * Threads: pure. */
#include "lower/loops/loop.h"
#include "lower/loops/loop_impl.h"
#include <inttypes.h>

/* Where the check stands, for messages. */
typedef struct ctx {
    const lz_kernel *k;
    const lz_stage *st;
    uint32_t stage;
    uint32_t nred_out[LZ_STAGE_MAX]; /* accumulators of each earlier stage */
    uint32_t *dep;                   /* of the stage's scalar ops */
    bool rows;                       /* some stage keeps rows */
} ctx;

#define BAD(c, fmt, ...)                                                                           \
    LZ_FAIL(LZ_EINTERNAL, "kernel '%s', stage %u: " fmt, (c)->k->name, (c)->stage, __VA_ARGS__)

static bool dtype_ok(lz_dtype d)
{
    return d > LZ_DTYPE_NONE && d < LZ_DTYPE_COUNT;
}

static bool is_16(lz_dtype d)
{
    return d == LZ_F16 || d == LZ_BF16;
}

/* A value enters an accumulator unchanged, or widened from a 16-bit float to f32. */
static bool accumulates(lz_dtype value, lz_dtype acc)
{
    return value == acc || (is_16(value) && acc == LZ_F32);
}

/* ---- dtypes of elementwise ops, by the rule named in the infer column ---- */

typedef bool (*dtype_rule)(const lz_sop *s, const lz_dtype *in);

static bool rule_same(const lz_sop *s, const lz_dtype *in)
{
    for (int i = 0; i < lz_sop_arity(s); i++)
        if (in[i] != s->dtype)
            return false;
    return true;
}
static bool rule_part(const lz_sop *s, const lz_dtype *in)
{
    return s->dtype == lz_dtype_part(in[0]);
}
static bool rule_complex(const lz_sop *s, const lz_dtype *in)
{
    return in[0] == in[1] && s->dtype == lz_dtype_of_parts(in[0]);
}
static bool rule_pred(const lz_sop *s, const lz_dtype *in)
{
    (void)in;
    return s->dtype == LZ_BOOL;
}
static bool rule_convert(const lz_sop *s, const lz_dtype *in)
{
    (void)in;
    return !s->attr || LZ_ATTR(dtype, s->attr)->dtype == s->dtype;
}
static bool rule_bits(const lz_sop *s, const lz_dtype *in)
{
    return rule_convert(s, in) && lz_dtype_size(in[0]) == lz_dtype_size(s->dtype) &&
           !lz_dtype_is_complex(in[0]) && !lz_dtype_is_complex(s->dtype);
}
static bool rule_compare(const lz_sop *s, const lz_dtype *in)
{
    return s->dtype == LZ_BOOL && in[0] == in[1];
}
static bool rule_clamp(const lz_sop *s, const lz_dtype *in)
{
    return rule_same(s, in);
}
static bool rule_select(const lz_sop *s, const lz_dtype *in)
{
    return in[0] == LZ_BOOL && in[1] == s->dtype && in[2] == s->dtype;
}

static const dtype_rule rules[LZ_OP_COUNT] = {
#define LZ_EW(E, text, arity, attr, dtypes, flags, infer, ...) [LZ_OP_##E] = rule_##infer,
#define LZ_OP(...)
#include "ir/ops.def"
    [LZ_OP_BITCAST_CONVERT] = rule_bits,
};

static lz_status check_ew(const ctx *c, uint32_t i, const lz_sop *s, const lz_sop *sops)
{
    if (s->op <= LZ_OP_NONE || s->op >= LZ_OP_COUNT || !rules[s->op])
        return BAD(c, "%%%u: op %d is not elementwise", i, (int)s->op);
    const lz_op_info *info = lz_op_get(s->op);
    const int32_t opnd[3] = {s->a, s->b, s->c};
    lz_dtype in[3] = {0};
    for (int j = 0; j < info->arity; j++) {
        if (opnd[j] < 0 || (uint32_t)opnd[j] >= i)
            return BAD(c, "%%%u: %s: operand %d is %%%d, not an earlier op", i, info->text, j,
                       opnd[j]);
        in[j] = sops[opnd[j]].dtype;
    }
    bool convert = info->attr == LZ_ATTR_dtype;
    if (s->attr ? s->attr->kind != info->attr : info->attr != LZ_ATTR_none && !convert)
        return BAD(c, "%%%u: %s: attribute record %s", i, info->text,
                   s->attr ? "is of another kind" : "is missing");
    if (!lz_op_accepts(s->op, in[0]))
        return BAD(c, "%%%u: %s does not accept %s", i, info->text, lz_dtype_name(in[0]));
    if (!rules[s->op](s, in))
        return BAD(c, "%%%u: %s of %s, %s, %s cannot give %s", i, info->text, lz_dtype_name(in[0]),
                   lz_dtype_name(in[1]), lz_dtype_name(in[2]), lz_dtype_name(s->dtype));
    return LZ_OK;
}

/* ---- accesses ---- */

/* before: scalar ops below this index are there. */
static lz_status check_access(const ctx *c, const lz_access *a, uint32_t before, const char *what,
                              uint32_t index)
{
    const lz_sop *sops = c->st->sops;
    if (a->buf >= c->k->nbuf)
        return BAD(c, "%s %u: buffer %u of %u", what, index, a->buf, c->k->nbuf);
    if (a->ndyn > LZ_DYN_MAX)
        return BAD(c, "%s %u: %u computed indices, at most %d", what, index, a->ndyn, LZ_DYN_MAX);
    for (uint32_t i = 0; i < a->ndyn; i++) {
        int32_t s = a->dyn[i].sop;
        if (s < 0 || (uint32_t)s >= before)
            return BAD(c, "%s %u: computed index %%%d is not there yet", what, index, s);
        if (sops[s].dtype != LZ_I64)
            return BAD(c, "%s %u: computed index %%%d is %s, not i64", what, index, s,
                       lz_dtype_name(sops[s].dtype));
    }
    if (a->guard < -1 || (a->guard >= 0 && (uint32_t)a->guard >= before))
        return BAD(c, "%s %u: guard %%%d is not there yet", what, index, a->guard);
    if (a->guard >= 0 && sops[a->guard].dtype != LZ_BOOL)
        return BAD(c, "%s %u: guard %%%d is %s, not bool", what, index, a->guard,
                   lz_dtype_name(sops[a->guard].dtype));
    if (a->other < -1 || (a->other >= 0 && (uint32_t)a->other >= before))
        return BAD(c, "%s %u: other value %%%d is not there yet", what, index, a->other);
    return LZ_OK;
}

static lz_status check_borders(const ctx *c, const lz_access *a, uint32_t index)
{
    if (a->nborder > LZ_BORDER_MAX)
        return BAD(c, "access %u: %u borders, at most %d", index, a->nborder, LZ_BORDER_MAX);
    for (uint32_t i = 0; i < a->nborder; i++) {
        const lz_border *b = &a->border[i];
        if (b->outer >= c->k->nouter || b->inner < c->k->nouter ||
            b->inner >= c->k->nouter + c->st->ninner)
            return BAD(c, "access %u: a border along loops %u and %u", index, b->outer, b->inner);
        if (b->by.v < 1 || b->step.v < 1)
            return BAD(c, "access %u: a border's steps are not positive", index);
    }
    return LZ_OK;
}

static lz_status check_load(const ctx *c, uint32_t i, const lz_sop *s)
{
    if (s->a < 0 || (uint32_t)s->a >= c->st->nacc)
        return BAD(c, "%%%u: load of access %d of %u", i, s->a, c->st->nacc);
    const lz_access *a = &c->st->accs[s->a];
    LZ_TRY(check_access(c, a, i, "access", (uint32_t)s->a));
    LZ_TRY(check_borders(c, a, (uint32_t)s->a));
    const lz_kbuf *b = &c->k->buf[a->buf];
    if (!b->read)
        return BAD(c, "%%%u: buffer %u is not read", i, a->buf);
    if (b->dtype != s->dtype)
        return BAD(c, "%%%u: load of %s from buffer %u of %s", i, lz_dtype_name(s->dtype), a->buf,
                   lz_dtype_name(b->dtype));
    if ((a->guard >= 0) != (a->other >= 0))
        return BAD(c, "%%%u: access %d has %s", i, s->a,
                   a->guard >= 0 ? "a guard but no other value" : "another value but no guard");
    if (a->other >= 0 && c->st->sops[a->other].dtype != s->dtype)
        return BAD(c, "%%%u: load of %s else %%%d of %s", i, lz_dtype_name(s->dtype), a->other,
                   lz_dtype_name(c->st->sops[a->other].dtype));
    return LZ_OK;
}

/* ---- scalar ops ---- */

static const lz_red *find_acc(const lz_stage *st, uint32_t index, uint32_t *k)
{
    for (uint32_t i = 0; i < st->nred; i++) {
        if (index < st->reds[i].nacc) {
            *k = index;
            return &st->reds[i];
        }
        index -= st->reds[i].nacc;
    }
    return NULL;
}

static lz_status check_red_read(const ctx *c, uint32_t i, const lz_sop *s)
{
    if (s->a < 0 || (uint32_t)s->a >= c->stage)
        return BAD(c, "%%%u: reduction of stage %d is not there yet", i, s->a);
    if (s->b < 0 || (uint32_t)s->b >= c->nred_out[s->a])
        return BAD(c, "%%%u: accumulator %d of the %u of stage %d", i, s->b, c->nred_out[s->a],
                   s->a);
    if (lz_stage_is_row_dot(&c->k->stages[s->a]))
        return BAD(c, "%%%u: stage %d keeps its sums as a row", i, s->a);
    uint32_t k = 0;
    const lz_red *r = find_acc(&c->k->stages[s->a], (uint32_t)s->b, &k);
    if (r->acc_dtype[k] != s->dtype)
        return BAD(c, "%%%u: accumulator %d.%d is %s, read as %s", i, s->a, s->b,
                   lz_dtype_name(r->acc_dtype[k]), lz_dtype_name(s->dtype));
    return LZ_OK;
}

/* Points of a stage's inner loops; modulo 2^64 where there is no outer point. */
static int64_t inner_points(const lz_stage *st)
{
    uint64_t n = 1;
    for (uint32_t d = 0; d < st->ninner; d++)
        n *= (uint64_t)st->extent[d].v;
    return (int64_t)n;
}

static lz_status check_sorted_read(const ctx *c, uint32_t i, const lz_sop *s)
{
    const lz_stage *from = s->a >= 0 && (uint32_t)s->a < c->stage ? &c->k->stages[s->a] : NULL;
    if (!from || !from->sort || s->b < 0 || (uint32_t)s->b >= from->sort->nrow)
        return BAD(c, "%%%u: sorted row %d of stage %d is not there", i, s->b, s->a);
    if (from->sort->partial ? inner_points(c->st) > inner_points(from)
                            : inner_points(c->st) != inner_points(from))
        return BAD(c, "%%%u: a row of %" PRId64 " read at %" PRId64 " points", i,
                   inner_points(from), inner_points(c->st));
    lz_dtype d = from->sops[from->sort->value[s->b]].dtype;
    if (d != s->dtype)
        return BAD(c, "%%%u: row %d.%d is %s, read as %s", i, s->a, s->b, lz_dtype_name(d),
                   lz_dtype_name(s->dtype));
    return LZ_OK;
}

static lz_status check_row_read(const ctx *c, uint32_t i, const lz_sop *s)
{
    const lz_sz *from =
        s->a >= 0 && (uint32_t)s->a < c->stage ? lz_row_extent(c->k, s->a, s->b) : NULL;
    if (!from)
        return BAD(c, "%%%u: row %d of stage %d is not there", i, s->b, s->a);
    if (c->st->ninner == 0 || from->v != c->st->extent[c->st->ninner - 1].v)
        return BAD(c, "%%%u: a row of %" PRId64 " is read along another loop", i, from->v);
    if (lz_row_dtype(c->k, s->a, s->b) != s->dtype)
        return BAD(c, "%%%u: row %d.%d is %s, read as %s", i, s->a, s->b,
                   lz_dtype_name(lz_row_dtype(c->k, s->a, s->b)), lz_dtype_name(s->dtype));
    return LZ_OK;
}

static lz_status check_prefix(const ctx *c, uint32_t i, const lz_sop *s)
{
    const lz_stage *st = c->st;
    uint32_t k = 0, before = lz_stage_before_prefix(st);
    if (s->a < 0 || (uint32_t)s->a != c->stage || c->k->nstage != 1 || st->nred != 1 ||
        st->ninner == 0 || c->k->serial || c->rows || st->sort || lz_kernel_is_dot(c->k))
        return BAD(c, "%%%u: a prefix of stage %d of %u, which is no scan", i, s->a, c->k->nstage);
    const lz_red *r = s->b < 0 ? NULL : find_acc(st, (uint32_t)s->b, &k);
    if (!r || r->acc_dtype[k] != s->dtype)
        return BAD(c, "%%%u: prefix %d of %u accumulators as %s", i, s->b, st->reds[0].nacc,
                   lz_dtype_name(s->dtype));
    for (uint32_t j = 0; j < r->nacc; j++)
        if (r->value[j] < 0 || (uint32_t)r->value[j] >= before || r->init[j] < 0 ||
            (uint32_t)r->init[j] >= before)
            return BAD(c, "%%%u: what is accumulated comes after a prefix", i);
    return LZ_OK;
}

static lz_status check_sop(const ctx *c, uint32_t i)
{
    const lz_sop *s = &c->st->sops[i];
    if (!dtype_ok(s->dtype))
        return BAD(c, "%%%u: dtype %d", i, (int)s->dtype);
    switch (s->kind) {
    case LZ_S_CONST:
        return LZ_OK;
    case LZ_S_INDEX:
        if (s->a < 0 || (uint32_t)s->a >= c->k->nouter + c->st->ninner)
            return BAD(c, "%%%u: loop index %d of %u", i, s->a, c->k->nouter + c->st->ninner);
        return s->dtype == LZ_I64 ? LZ_OK : BAD(c, "%%%u: an index is i64", i);
    case LZ_S_SIZE:
        return s->dtype == LZ_I64 ? LZ_OK : BAD(c, "%%%u: a size is i64", i);
    case LZ_S_LOAD:
        return check_load(c, i, s);
    case LZ_S_RED:
        return check_red_read(c, i, s);
    case LZ_S_SORTED:
        return check_sorted_read(c, i, s);
    case LZ_S_ROW:
        return check_row_read(c, i, s);
    case LZ_S_PREFIX:
        return check_prefix(c, i, s);
    case LZ_S_EW:
        return check_ew(c, i, s, c->st->sops);
    case LZ_S_ACC:
    case LZ_S_ELT:
        break;
    }
    return BAD(c, "%%%u: op kind %d does not belong here", i, (int)s->kind);
}

/* ---- reductions ---- */

static lz_status check_body(const ctx *c, uint32_t ri, const lz_red *r)
{
    for (uint32_t i = 0; i < r->nbody; i++) {
        const lz_sop *s = &r->body[i];
        if (!dtype_ok(s->dtype))
            return BAD(c, "reduction %u, %%%u: dtype %d", ri, i, (int)s->dtype);
        if (s->kind == LZ_S_EW) {
            LZ_TRY(check_ew(c, i, s, r->body));
        } else if (s->kind == LZ_S_ACC || s->kind == LZ_S_ELT) {
            if (s->a < 0 || (uint32_t)s->a >= r->nacc || s->dtype != r->acc_dtype[s->a])
                return BAD(c, "reduction %u, %%%u: accumulator %d as %s", ri, i, s->a,
                           lz_dtype_name(s->dtype));
        } else if (s->kind != LZ_S_CONST && s->kind != LZ_S_SIZE) {
            return BAD(c, "reduction %u, %%%u: op kind %d in a combiner", ri, i, (int)s->kind);
        }
    }
    for (uint32_t j = 0; j < r->nacc; j++) {
        int32_t o = r->body_out[j];
        if (o < 0 || (uint32_t)o >= r->nbody || r->body[o].dtype != r->acc_dtype[j])
            return BAD(c, "reduction %u: result %u is %%%d", ri, j, o);
    }
    return LZ_OK;
}

static lz_status check_comb(const ctx *c, uint32_t ri, const lz_red *r)
{
    if (r->comb < 0 || r->comb >= LZ_OP_COUNT || !rules[r->comb] ||
        lz_op_get(r->comb)->arity != 2 || !lz_op_has(r->comb, LZ_F_ASSOC) ||
        !lz_op_has(r->comb, LZ_F_COMM))
        return BAD(c, "reduction %u: %s is no combiner", ri, lz_op_get(r->comb)->text);
    if (r->nacc != 1)
        return BAD(c, "reduction %u: %s combines one accumulator, not %u", ri,
                   lz_op_get(r->comb)->text, r->nacc);
    if (!lz_op_accepts(r->comb, r->acc_dtype[0]))
        return BAD(c, "reduction %u: %s does not accept %s", ri, lz_op_get(r->comb)->text,
                   lz_dtype_name(r->acc_dtype[0]));
    return LZ_OK;
}

static lz_status check_red(const ctx *c, uint32_t ri)
{
    const lz_stage *st = c->st;
    const lz_red *r = &st->reds[ri];
    if (r->nacc == 0 || r->nacc > LZ_RED_MAX)
        return BAD(c, "reduction %u: %u accumulators", ri, r->nacc);
    for (uint32_t j = 0; j < r->nacc; j++) {
        int32_t v = r->value[j], in = r->init[j];
        if (!dtype_ok(r->acc_dtype[j]))
            return BAD(c, "reduction %u: accumulator %u has dtype %d", ri, j, (int)r->acc_dtype[j]);
        if (v < 0 || (uint32_t)v >= st->nsop || in < 0 || (uint32_t)in >= st->nsop)
            return BAD(c, "reduction %u: value %%%d, initial value %%%d of %u ops", ri, v, in,
                       st->nsop);
        if (!accumulates(st->sops[v].dtype, r->acc_dtype[j]) ||
            !accumulates(st->sops[in].dtype, r->acc_dtype[j]))
            return BAD(c, "reduction %u: %s from %s into an accumulator of %s", ri,
                       lz_dtype_name(st->sops[v].dtype), lz_dtype_name(st->sops[in].dtype),
                       lz_dtype_name(r->acc_dtype[j]));
        if (c->dep[in] & LZ_DEP_INNER(c->k, st))
            return BAD(c, "reduction %u: the initial value %%%d depends on an inner loop", ri, in);
    }
    return r->comb == LZ_OP_NONE ? check_body(c, ri, r) : check_comb(c, ri, r);
}

/* ---- sorts ---- */

static lz_status check_sort(const ctx *c)
{
    const lz_sort *r = c->st->sort;
    if (c->k->serial || c->k->vec != LZ_VEC_NONE || lz_kernel_is_dot(c->k) || c->st->nred)
        return BAD(c, "a sort and %u reductions%s", c->st->nred,
                   c->k->serial             ? " in a serial kernel"
                   : lz_kernel_is_dot(c->k) ? " in a product"
                   : c->st->nred == 0       ? " with a vector loop"
                                            : "");
    if (r->nrow == 0 || r->nrow > LZ_SORT_MAX)
        return BAD(c, "a sort of %u rows, at most %d", r->nrow, LZ_SORT_MAX);
    for (uint32_t j = 0; j < r->nrow; j++)
        if (r->value[j] < 0 || (uint32_t)r->value[j] >= c->st->nsop)
            return BAD(c, "row %u of a sort is %%%d of %u ops", j, r->value[j], c->st->nsop);
    for (uint32_t i = 0; i < r->nbody; i++) {
        const lz_sop *s = &r->body[i];
        if (!dtype_ok(s->dtype))
            return BAD(c, "comparator, %%%u: dtype %d", i, (int)s->dtype);
        if (s->kind == LZ_S_EW) {
            LZ_TRY(check_ew(c, i, s, r->body));
        } else if (s->kind == LZ_S_ELT) {
            if (s->a < 0 || (uint32_t)s->a >= 2 * r->nrow ||
                s->dtype != c->st->sops[r->value[s->a / 2]].dtype)
                return BAD(c, "comparator, %%%u: parameter %d as %s", i, s->a,
                           lz_dtype_name(s->dtype));
        } else if (s->kind != LZ_S_CONST) {
            return BAD(c, "comparator, %%%u: op kind %d", i, (int)s->kind);
        }
    }
    if (r->less < 0 || (uint32_t)r->less >= r->nbody || r->body[r->less].dtype != LZ_BOOL)
        return BAD(c, "a comparator gives %%%d of %u ops", r->less, r->nbody);
    return LZ_OK;
}

/* ---- rows ---- */

static bool row_dtype_ok(lz_dtype d)
{
    return d == LZ_F32 || d == LZ_F64 || is_16(d);
}

/* The left factor is a row, or both factors are made of memory and sizes alone. */
static lz_status check_kept_factors(const ctx *c, const lz_sop *mul)
{
    const lz_stage *st = c->st;
    const lz_sop *a = &st->sops[mul->a];
    int32_t row = lz_converted_from(st, mul->a);
    for (uint32_t i = 0; i < st->nsop; i++)
        if (st->sops[i].kind == LZ_S_RED || st->sops[i].kind == LZ_S_SORTED ||
            (st->sops[i].kind == LZ_S_ROW && (int32_t)i != row))
            return BAD(c, "%%%u: a factor of kept sums has a value of an earlier stage below it",
                       i);
    if (st->sops[row].kind == LZ_S_ROW && row != mul->a &&
        !accumulates(st->sops[row].dtype, a->dtype))
        return BAD(c, "%%%d: a row of %s as %s", mul->a, lz_dtype_name(st->sops[row].dtype),
                   lz_dtype_name(a->dtype));
    /* factors are laid out for many outer points at once */
    for (uint32_t i = 0; i < st->nacc; i++)
        if (c->k->buf[st->accs[i].buf].written)
            return BAD(c, "access %u: kept sums read buffer %u, which is written", i,
                       st->accs[i].buf);
    return LZ_OK;
}

/* The multiply whose values the stage sums, if it is a dot; the stage's reductions are checked. */
static const lz_sop *summed_product(const lz_stage *st)
{
    if (st->nred != 1 || st->reds[0].comb != LZ_OP_ADD)
        return NULL;
    const lz_sop *p = &st->sops[st->reds[0].value[0]];
    return p->kind == LZ_S_EW && p->op == LZ_OP_MULTIPLY ? p : NULL;
}

static lz_status check_kept(const ctx *c, const uint32_t *dep)
{
    const lz_stage *st = c->st;
    const lz_sop *mul = summed_product(st);
    if (st->ninner != 2 || st->nstore || st->nrow || !mul || st->reds[0].nacc != 1)
        return BAD(c, "%u loops and %u stores: kept sums are those of one product", st->ninner,
                   st->nstore);
    lz_dtype d = st->reds[0].acc_dtype[0];
    if ((d != LZ_F32 && d != LZ_F64) || mul->dtype != d)
        return BAD(c, "kept sums of %s", lz_dtype_name(d));
    if (!lz_sums_from_zero(st))
        return BAD(c, "kept sums start from 0, not %%%d", st->reds[0].init[0]);
    if (st->dot.m + 1 != c->k->nouter || st->dot.n != c->k->nouter || st->dot.a_sop != mul->a ||
        st->dot.b_sop != mul->b)
        return BAD(c, "dot over loops %u, %u of %%%d and %%%d", st->dot.m, st->dot.n, st->dot.a_sop,
                   st->dot.b_sop);
    if ((dep[mul->a] >> c->k->nouter & 1) || (dep[mul->b] >> (c->k->nouter - 1) & 1))
        return BAD(c, "%%%d or %%%d depends on a loop that is the other factor's", mul->a, mul->b);
    return check_kept_factors(c, mul);
}

static lz_status check_rows(const ctx *c)
{
    const lz_kernel *k = c->k;
    const lz_stage *st = c->st;
    if (k->serial || lz_kernel_is_dot(k) || k->nouter == 0 || k->nouter == LZ_OUTER_MAX ||
        k->vec != LZ_VEC_INNER || st->sort)
        return BAD(c,
                   "rows in a kernel of %u outer loops that is serial, a product or a sort, or has "
                   "other vectors",
                   k->nouter);
    if (!lz_stage_is_row_dot(st) && st->ninner > 1)
        return BAD(c, "%u inner loops beside rows", st->ninner);
    if (st->nrow > LZ_ROW_MAX || (st->nrow && st->ninner != 1))
        return BAD(c, "%u rows of %u inner loops", st->nrow, st->ninner);
    for (uint32_t j = 0; j < st->nrow; j++)
        if (st->row[j] < 0 || (uint32_t)st->row[j] >= st->nsop ||
            !row_dtype_ok(st->sops[st->row[j]].dtype))
            return BAD(c, "row %u is %%%d of %u ops", j, st->row[j], st->nsop);
    return LZ_OK;
}

/* ---- stages ---- */

static lz_status check_store(const ctx *c, uint32_t i)
{
    const lz_loop_store *s = &c->st->stores[i];
    LZ_TRY(check_access(c, &s->at, c->st->nsop, "store", i));
    if (s->at.nborder)
        return BAD(c, "store %u: a border", i);
    const lz_kbuf *b = &c->k->buf[s->at.buf];
    if (!b->written)
        return BAD(c, "store %u: buffer %u is not written", i, s->at.buf);
    if (s->value < 0 || (uint32_t)s->value >= c->st->nsop)
        return BAD(c, "store %u: value %%%d of %u ops", i, s->value, c->st->nsop);
    if (c->st->sops[s->value].dtype != b->dtype)
        return BAD(c, "store %u: %s into buffer %u of %s", i,
                   lz_dtype_name(c->st->sops[s->value].dtype), s->at.buf, lz_dtype_name(b->dtype));
    return LZ_OK;
}

/* Multiplies the points of the loops up; the count must fit. */
static lz_status check_extents(const lz_kernel *k, const lz_sz *e, uint32_t n, int64_t *points)
{
    for (uint32_t d = 0; d < n; d++) {
        if (e[d].v < 0)
            return LZ_FAIL(LZ_EINTERNAL, "kernel '%s': extent %" PRId64, k->name, e[d].v);
        if (!lz_mul_i64(*points, e[d].v, points))
            return LZ_FAIL(LZ_EINTERNAL, "kernel '%s': the number of points overflows", k->name);
    }
    return LZ_OK;
}

static lz_status check_stage(ctx *c, int64_t outer_points)
{
    const lz_stage *st = c->st;
    if (st->ninner > LZ_LOOP_MAX || c->k->nouter + st->ninner > LZ_LOOP_MAX)
        return BAD(c, "%u outer and %u inner loops, at most %d", c->k->nouter, st->ninner,
                   LZ_LOOP_MAX);
    LZ_TRY(check_extents(c->k, st->extent, st->ninner, &outer_points));
    for (uint32_t i = 0; i < st->nsop; i++)
        LZ_TRY(check_sop(c, i));
    /* accesses nobody loads are checked too: the dependences and the executor look at loads only */
    for (uint32_t i = 0; i < st->nacc; i++)
        LZ_TRY(check_access(c, &st->accs[i], st->nsop, "access", i));
    for (uint32_t i = 0; i < st->nstore; i++)
        LZ_TRY(check_store(c, i));
    if (st->sort)
        LZ_TRY(check_sort(c));
    if (c->rows)
        LZ_TRY(check_rows(c));
    if (st->nred == 0)
        return lz_stage_is_row_dot(st) ? BAD(c, "%u sums to keep", st->nred) : LZ_OK;
    c->dep = lz_calloc(st->nsop + 1, sizeof *c->dep);
    if (!c->dep)
        return LZ_FAIL(LZ_EMEM, "kernel '%s': no memory to verify %u ops", c->k->name, st->nsop);
    lz_stage_deps(c->k, st, c->dep);
    lz_status s = LZ_OK;
    for (uint32_t i = 0; i < st->nred && s == LZ_OK; i++) {
        s = check_red(c, i);
        c->nred_out[c->stage] += st->reds[i].nacc;
    }
    if (s == LZ_OK && lz_stage_is_row_dot(st))
        s = check_kept(c, c->dep);
    lz_free(c->dep);
    c->dep = NULL;
    return s;
}

static lz_status check_dot(const lz_kernel *k)
{
    for (uint32_t s = 1; s < k->nstage; s++)
        if (k->stages[s].dot.role == LZ_DOT_KERNEL)
            return LZ_FAIL(LZ_EINTERNAL, "kernel '%s': stage %u is the kernel's product", k->name,
                           s);
    const lz_dot_info *d = lz_kernel_dot(k);
    if (d->role != LZ_DOT_KERNEL)
        return LZ_OK;
    if (k->nouter < 2 || d->m != k->nouter - 2 || d->n != k->nouter - 1)
        return LZ_FAIL(LZ_EINTERNAL, "kernel '%s': product over loops %u, %u of %u", k->name, d->m,
                       d->n, k->nouter);
    const lz_stage *st = &k->stages[0];
    const lz_sop *mul = summed_product(st);
    if (!mul || mul->a != d->a_sop || mul->b != d->b_sop || st->nstore)
        return LZ_FAIL(LZ_EINTERNAL,
                       "kernel '%s': stage 0 of a product is not a sum of %%%d * %%%d", k->name,
                       d->a_sop, d->b_sop);
    uint32_t *dep = lz_calloc(st->nsop + 1, sizeof *dep);
    if (!dep)
        return LZ_FAIL(LZ_EMEM, "kernel '%s': no memory to verify %u ops", k->name, st->nsop);
    lz_stage_deps(k, st, dep);
    bool bad = (dep[d->a_sop] >> d->n & 1) || (dep[d->b_sop] >> d->m & 1);
    lz_free(dep);
    return bad ? LZ_FAIL(LZ_EINTERNAL, "kernel '%s': a factor depends on both sides of the product",
                         k->name)
               : LZ_OK;
}

static lz_status check_bufs(const lz_kernel *k)
{
    if (k->nbuf > LZ_KBUF_MAX)
        return LZ_FAIL(LZ_EINTERNAL, "kernel '%s': %u buffers, at most %d", k->name, k->nbuf,
                       LZ_KBUF_MAX);
    for (uint32_t i = 0; i < k->nbuf; i++) {
        const lz_kbuf *b = &k->buf[i];
        if (!dtype_ok(b->dtype))
            return LZ_FAIL(LZ_EINTERNAL, "kernel '%s': buffer %u has dtype %d", k->name, i,
                           (int)b->dtype);
        if (b->inplace_ok && (b->inplace_with < 0 || (uint32_t)b->inplace_with >= k->nbuf ||
                              !b->written || !k->buf[b->inplace_with].read))
            return LZ_FAIL(LZ_EINTERNAL, "kernel '%s': buffer %u cannot be in place of buffer %d",
                           k->name, i, b->inplace_with);
    }
    return LZ_OK;
}

lz_status lz_kernel_verify(const lz_kernel *k)
{
    LZ_TRY(check_bufs(k));
    if (k->nouter > LZ_OUTER_MAX)
        return LZ_FAIL(LZ_EINTERNAL, "kernel '%s': %u outer loops, at most %d", k->name, k->nouter,
                       LZ_OUTER_MAX);
    if (k->nstage == 0 || k->nstage > LZ_STAGE_MAX)
        return LZ_FAIL(LZ_EINTERNAL, "kernel '%s': %u stages, at least 1 and at most %d", k->name,
                       k->nstage, LZ_STAGE_MAX);
    if (k->vec < LZ_VEC_NONE || k->vec > LZ_VEC_INNER || (k->vec == LZ_VEC_OUTER && !k->nouter))
        return LZ_FAIL(LZ_EINTERNAL, "kernel '%s': vector loop %d of %u outer loops", k->name,
                       (int)k->vec, k->nouter);
    int64_t points = 1;
    LZ_TRY(check_extents(k, k->outer, k->nouter, &points));
    ctx c = {.k = k, .rows = lz_kernel_has_rows(k)};
    for (c.stage = 0; c.stage < k->nstage; c.stage++) {
        c.st = &k->stages[c.stage];
        LZ_TRY(check_stage(&c, points));
    }
    return check_dot(k);
}
