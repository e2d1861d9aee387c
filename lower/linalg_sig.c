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
    t->left = a->left_side;
    t->lower = a->lower;
    t->unit = a->unit_diagonal;
    t->transpose = how[a->transpose_a];
    t->k = a->left_side ? cols : rows;
}

static const lz_linalg_op routine_of[LZ_OP_COUNT] = {
    [LZ_OP_CHOLESKY] = LZ_LINALG_CHOLESKY,
    [LZ_OP_TRIANGULAR_SOLVE] = LZ_LINALG_SOLVE,
    [LZ_OP_LU] = LZ_LINALG_LU,
    [LZ_OP_QR] = LZ_LINALG_QR,
    [LZ_OP_GEQRF] = LZ_LINALG_GEQRF,
    [LZ_OP_EIGH] = LZ_LINALG_EIGH,
    [LZ_OP_SVD] = LZ_LINALG_SVD,
    [LZ_OP_HESSENBERG] = LZ_LINALG_HESSENBERG,
    [LZ_OP_TRIDIAGONAL] = LZ_LINALG_TRIDIAGONAL,
    [LZ_OP_GEQP3] = LZ_LINALG_PIVOTED,
    [LZ_OP_GTSV] = LZ_LINALG_GTSV,
    [LZ_OP_SCHUR] = LZ_LINALG_SCHUR,
    [LZ_OP_EIG] = LZ_LINALG_EIG,
};

/* What the attributes say, whichever rows have them. */
static void take_attributes(const lz_sig *s, lz_linalg_task *t)
{
    const lz_attr *a = s->attr;
    switch (lz_op_get(s->op)->attr) {
    case LZ_ATTR_triangular_solve:
        solve_of(s, t);
        break;
    case LZ_ATTR_cholesky:
        t->lower = LZ_ATTR(cholesky, a)->lower;
        break;
    case LZ_ATTR_eigh:
        t->lower = LZ_ATTR(eigh, a)->lower;
        break;
    case LZ_ATTR_qr:
        t->k = t->m < t->n || LZ_ATTR(qr, a)->complete ? t->m : t->n;
        break;
    case LZ_ATTR_svd:
        t->k = (t->m < t->n) == LZ_ATTR(svd, a)->full ? t->n : t->m;
        break;
    case LZ_ATTR_hessenberg:
        t->lower = LZ_ATTR(hessenberg, a)->leading;
        t->k = LZ_ATTR(hessenberg, a)->trailing;
        break;
    case LZ_ATTR_schur:
        t->k = LZ_ATTR(schur, a)->vectors;
        break;
    case LZ_ATTR_eig:
        t->left = LZ_ATTR(eig, a)->left;
        t->k = LZ_ATTR(eig, a)->right;
        break;
    default:
        break;
    }
}

lz_linalg_task lz_linalg_task_of(const lz_sig *s)
{
    lz_dtype d = s->opnd[0]->dtype;
    lz_linalg_task t = {.op = routine_of[s->op],
                        .wide = lz_dtype_part(d) == LZ_F64,
                        .complex_ = lz_dtype_is_complex(d)};
    sides(s->opnd[0], &t.m, &t.n);
    take_attributes(s, &t);
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
