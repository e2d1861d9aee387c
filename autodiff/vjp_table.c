/* vjp_table.c - the vjp column of ir/ops.def as functions. A name without a rule does not link. */
#include "autodiff/vjp_table.h"
#include "base/status.h"

/* Piecewise constant: the gradient of every operand is zero. */
lz_status lz_vjp_zero(const lz_vjp *v)
{
    (void)v;
    return LZ_OK;
}

/* A leaf, or what no rule is known of. */
lz_status lz_vjp_none(const lz_vjp *v)
{
    return v->sig->nopnd ? LZ_FAIL(LZ_EGRAD, "%s has no gradient rule", lz_op_get(v->sig->op)->text)
                         : LZ_OK;
}

/* A custom call: its derivative is unknown. */
lz_status lz_vjp_custom_call(const lz_vjp *v)
{
    return LZ_FAIL(LZ_EGRAD, "custom_call @%.200s has no gradient rule",
                   LZ_ATTR(call, v->sig->attr)->call_target_name);
}

/* The reverse pass hands a projection's gradient to its operation itself. */
lz_status lz_vjp_result(const lz_vjp *v)
{
    (void)v;
    return LZ_FAIL(LZ_EINTERNAL, "the rule of `result` is the reverse pass's own");
}

lz_vjp_rule lz_vjp_rule_of(lz_op op)
{
    static const lz_vjp_fn table[LZ_OP_COUNT] = {
#define LZ_EW(E, text, arity, attr, dtypes, flags, infer, vjp, ...) [LZ_OP_##E] = lz_vjp_##vjp,
#define LZ_OP(E, text, cls, arity, attr, dtypes, flags, infer, vjp, ...) [LZ_OP_##E] = lz_vjp_##vjp,
#include "ir/ops.def"
    };
    lz_vjp_fn f = op > 0 && op < LZ_OP_COUNT ? table[op] : lz_vjp_none;
    lz_vjp_rule r = {.fn = f, .blocks = f == lz_vjp_zero, .projects = f == lz_vjp_result};
    return r;
}
