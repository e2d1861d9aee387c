/* loop_constants.c - part of loop normalization: numbers of the program (a rate, a scale, a decay)
 * become arguments of the kernel, so that layers, and programs, that differ in them alone share its
 * code. Baked are numbers that code is made of (0, 1, powers of two, infinities), and those whose
 * operation is made another way for them (the bounds of a clamp, exponents); and all of a kernel
 * that has many, which are coefficients.
 * Does:      constants of floats that are added, subtracted, multiplied, divided, compared, chosen
 *   or stored; not those of products' factors nor of kernels with rows, which are recognised whole.
 * Cost:      O(scalar ops).   Threads: pure. */
#include "lower/loops/loop_impl.h"
#include "lower/loops/to_loops_impl.h"
#include <math.h>

enum { MOST_ARGUMENTS = 4 };

/* Whether no code is made of the number. */
static bool is_any(const lz_sop *c)
{
    int exponent;
    if (c->kind != LZ_S_CONST ||
        (c->dtype != LZ_F32 && c->dtype != LZ_F64 && c->dtype != LZ_F16 && c->dtype != LZ_BF16))
        return false;
    double v = lz_elem_get_f64(c->dtype, &c->bits, 0);
    return isfinite(v) && v != 0 && fabs(frexp(v, &exponent)) != 0.5;
}

static bool takes_any(lz_op op)
{
    return op == LZ_OP_ADD || op == LZ_OP_SUBTRACT || op == LZ_OP_MULTIPLY || op == LZ_OP_DIVIDE ||
           op == LZ_OP_COMPARE || op == LZ_OP_SELECT;
}

/* Clears what is used where the number matters. */
static void drop_used(const lz_stage *st, bool *is)
{
    for (uint32_t i = 0; i < st->nsop; i++) {
        const lz_sop *s = &st->sops[i];
        const int32_t o[3] = {s->a, s->b, s->c};
        for (int j = 0; j < lz_sop_arity(s); j++)
            is[o[j]] &= s->kind == LZ_S_EW && takes_any(s->op);
    }
    for (uint32_t i = 0; i < st->nacc; i++)
        if (st->accs[i].other >= 0)
            is[st->accs[i].other] = false;
    for (uint32_t r = 0; r < st->nred; r++)
        for (uint32_t i = 0; i < st->reds[r].nacc; i++)
            is[st->reds[r].init[i]] = is[st->reds[r].value[i]] = false;
    for (uint32_t i = 0; st->sort && i < st->sort->nrow; i++)
        is[st->sort->value[i]] = false;
}

/* The bits of the constant, of the argument that they come in. */
static int32_t argument(lz_soplist *l, const lz_sop *c)
{
    lz_dtype word = c->dtype == LZ_F64 ? LZ_I64 : c->dtype == LZ_F32 ? LZ_U32 : LZ_U16;
    lz_sop s = {.kind = LZ_S_SIZE, .dtype = LZ_I64, .a = -1, .b = -1, .c = -1, .node = c->node};
    lz_attr_dtype to = {.kind = LZ_ATTR_dtype, .dtype = c->dtype};
    s.size = lz_sz_of((int64_t)c->bits);
    const lz_attr *attr = lz_attr_get((const lz_attr *)&to);
    l->failed |= !attr;
    int32_t bits = lz_sops_convert(l, lz_sops_add(l, &s), word);
    return lz_sops_ew(l, LZ_OP_BITCAST_CONVERT, c->dtype, bits, -1, -1, attr);
}

static lz_status free_stage(lz_kernel *k, lz_stage *st, const bool *is)
{
    lz_stage_rewrite w;
    LZ_TRY(lz_stage_rewrite_begin(&w, st));
    for (uint32_t i = 0; i < st->nsop; i++) {
        w.sops.node = st->sops[i].node;
        w.to[i] = is[i] ? argument(&w.sops, &st->sops[i]) : lz_stage_rewrite_copy(&w, &st->sops[i]);
    }
    return lz_stage_rewrite_end(&w, k);
}

/* is: [nsop] of stage s; the number of those that may be arguments. */
static uint32_t find(const lz_kernel *k, uint32_t s, bool *is)
{
    const lz_stage *st = &k->stages[s];
    uint32_t n = 0;
    for (uint32_t i = 0; i < st->nsop; i++)
        is[i] = st->dot.role == LZ_DOT_NONE && is_any(&st->sops[i]);
    drop_used(st, is);
    for (uint32_t i = 0; i < st->nsop; i++)
        n += is[i];
    return n;
}

lz_status lz_loops_free_constants(lz_kernel *k)
{
    uint32_t most = 0, n = 0;
    for (uint32_t s = 0; s < k->nstage; s++)
        most = k->stages[s].nsop > most ? k->stages[s].nsop : most;
    bool *is = lz_alloc((size_t)most + 1);
    lz_status status = is ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for the loops of '%s'", k->name);
    for (uint32_t s = 0; s < k->nstage && status == LZ_OK; s++)
        n += find(k, s, is);
    for (uint32_t s = 0; s < k->nstage && n && n <= MOST_ARGUMENTS && status == LZ_OK; s++)
        if (find(k, s, is))
            status = free_stage(k, &k->stages[s], is);
    lz_free(is);
    return status;
}
