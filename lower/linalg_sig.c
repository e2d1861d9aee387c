/* linalg_sig.c - see linalg_sig.h. */
#include "lower/linalg_sig.h"
#include "ir/attr.h"
#include "ir/op.h"

static void sides(const lz_type *t, int64_t *rows, int64_t *cols)
{
    *rows = t->shape.dims[t->shape.rank - 2];
    *cols = t->shape.dims[t->shape.rank - 1];
}

static void solve_of(const lz_sig *s, lz_linalg_task *t)
{
    static const lz_linalg_transpose how[] = {[LZ_NO_TRANSPOSE] = LZ_LINALG_NO_TRANSPOSE,
                                              [LZ_TRANSPOSE] = LZ_LINALG_TRANSPOSE,
                                              [LZ_ADJOINT] = LZ_LINALG_ADJOINT};
    const lz_attr_triangular_solve *a = LZ_ATTR(triangular_solve, s->attr);
    int64_t rows, cols;
    sides(s->opnd[1], &rows, &cols);
    t->op = LZ_LINALG_SOLVE;
    t->left = a->left_side;
    t->lower = a->lower;
    t->unit = a->unit_diagonal;
    t->transpose = how[a->transpose_a];
    t->k = a->left_side ? cols : rows;
}

lz_linalg_task lz_linalg_task_of(const lz_sig *s)
{
    lz_dtype d = s->opnd[0]->dtype;
    lz_linalg_task t = {.wide = lz_dtype_part(d) == LZ_F64, .complex_ = lz_dtype_is_complex(d)};
    sides(s->opnd[0], &t.m, &t.n);
    switch (s->op) {
    case LZ_OP_CHOLESKY:
        t.op = LZ_LINALG_CHOLESKY;
        t.lower = LZ_ATTR(cholesky, s->attr)->lower;
        break;
    case LZ_OP_TRIANGULAR_SOLVE:
        solve_of(s, &t);
        break;
    case LZ_OP_LU:
        t.op = LZ_LINALG_LU;
        break;
    case LZ_OP_QR:
        t.op = LZ_LINALG_QR;
        t.k = t.m < t.n || LZ_ATTR(qr, s->attr)->complete ? t.m : t.n;
        break;
    case LZ_OP_GEQRF:
        t.op = LZ_LINALG_GEQRF;
        break;
    case LZ_OP_EIGH:
        t.op = LZ_LINALG_EIGH;
        t.lower = LZ_ATTR(eigh, s->attr)->lower;
        break;
    case LZ_OP_HESSENBERG:
        t.op = LZ_LINALG_HESSENBERG;
        t.lower = LZ_ATTR(hessenberg, s->attr)->leading;
        t.k = LZ_ATTR(hessenberg, s->attr)->trailing;
        break;
    case LZ_OP_TRIDIAGONAL:
        t.op = LZ_LINALG_TRIDIAGONAL;
        t.lower = LZ_ATTR(eigh, s->attr)->lower;
        break;
    case LZ_OP_GEQP3:
        t.op = LZ_LINALG_PIVOTED;
        break;
    case LZ_OP_GTSV:
        t.op = LZ_LINALG_GTSV;
        break;
    case LZ_OP_SCHUR:
        t.op = LZ_LINALG_SCHUR;
        t.k = LZ_ATTR(schur, s->attr)->vectors;
        break;
    case LZ_OP_EIG:
        t.op = LZ_LINALG_EIG;
        t.left = LZ_ATTR(eig, s->attr)->left;
        t.k = LZ_ATTR(eig, s->attr)->right;
        break;
    default:
        t.op = LZ_LINALG_SVD;
        t.k = (t.m < t.n) == LZ_ATTR(svd, s->attr)->full ? t.n : t.m;
    }
    return t;
}

bool lz_linalg_has(const lz_sig *s)
{
    if (lz_op_get(s->op)->cls != LZ_CLASS_LINALG)
        return false;
    lz_dtype d = lz_dtype_part(s->opnd[0]->dtype);
    if (d != LZ_F32 && d != LZ_F64)
        return false;
    for (uint32_t k = 0; k < s->nopnd; k++)
        if (s->opnd[k]->nelem == 0)
            return false;
    for (uint32_t k = 0; k < s->nresult; k++)
        if (s->result[k]->nelem == 0)
            return false;
    lz_linalg_task t = lz_linalg_task_of(s);
    return lz_linalg_scratch(&t) != SIZE_MAX;
}

int64_t lz_linalg_count(const lz_sig *s)
{
    int64_t rows, cols;
    sides(s->opnd[0], &rows, &cols);
    return s->opnd[0]->nelem / (rows * cols);
}

double lz_linalg_work(const lz_sig *s)
{
    lz_linalg_task t = lz_linalg_task_of(s);
    return lz_linalg_flops(&t) * (double)lz_linalg_count(s);
}
