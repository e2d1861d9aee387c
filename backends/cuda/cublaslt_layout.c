/* cublaslt_layout.c - from a kernel's loop nest to the matrices of one product, as cuBLASLt wants
 * them. See cublaslt.h. cuBLASLt matrices are column-major and the result may not be transposed: so
 * the result's contiguous loop, usually n, runs along columns, and the operand with that loop comes
 * first. A loop of extent 1 has whatever stride fits.
 * Threads: pure. */
#include "backends/cuda/cublaslt.h"
#include "base/alloc.h"
#include "lower/loops/loop_impl.h"

/* An affine access without a mask or data-dependent index. */
static const lz_access *plain(const lz_access *a)
{
    return a->ndyn || a->guard >= 0 ? NULL : a;
}

/* ---- the form ---- */

/* Stage 0 is a plain multiply-accumulate along one loop, from 0. */
static bool sums_products(const lz_kernel *k)
{
    const lz_stage *st = &k->stages[0];
    return lz_kernel_is_dot(k) && !k->serial && k->nstage == 2 && st->ninner == 1 && !st->nstore &&
           st->nred == 1 && st->reds[0].nacc == 1 && lz_sums_from_zero(st);
}

/* The buffer an operand is loaded from, directly or widened to the accumulation type. NULL: it is
 * more than a load. */
static const lz_access *factor(const lz_kernel *k, int32_t sop, lz_dtype *dtype)
{
    const lz_stage *st = &k->stages[0];
    const lz_sop *p = &st->sops[lz_converted_from(st, sop)];
    if (p->kind != LZ_S_LOAD)
        return NULL;
    *dtype = p->dtype;
    return plain(&st->accs[p->a]);
}

/* Stage 1 stores the sums, plus *bias if there is one. Sums that are narrowed before an addition
 * are rounded twice, but the library rounds once: then it is no such product. */
static const lz_loop_store *stores_sums(const lz_kernel *k, const lz_access **bias)
{
    const lz_stage *st = &k->stages[1];
    *bias = NULL;
    if (st->ninner || st->nred || st->nstore != 1 || !plain(&st->stores[0].at) ||
        k->buf[st->stores[0].at.buf].inplace_ok)
        return NULL;
    const lz_loop_store *out = &st->stores[0];
    const lz_sop *v = &st->sops[lz_converted_from(st, out->value)];
    if (v->kind == LZ_S_EW && v->op == LZ_OP_ADD && v == &st->sops[out->value]) {
        const lz_sop *x = &st->sops[v->a], *y = &st->sops[v->b];
        const lz_sop *load = x->kind == LZ_S_LOAD ? x : y;
        v = load == x ? y : x;
        if (load->kind != LZ_S_LOAD || !(*bias = plain(&st->accs[load->a])))
            return NULL;
    }
    return v->kind == LZ_S_RED && v->a == 0 && v->b == 0 ? out : NULL;
}

/* ---- sizes ---- */

/* A loop of the product: extent, and strides in the operands and the result. */
typedef struct loop {
    int64_t extent, left, right, out, bias;
} loop;

typedef struct product {
    const lz_kernel *k;
    const int64_t *args;
    const lz_access *left, *right, *out, *bias; /* bias: NULL: none */
    lz_dtype factors;
    loop batch; /* all loops before m and n */
} product;

static loop loop_of(const product *p, uint32_t l)
{
    const lz_kernel *k = p->k;
    lz_sz extent = l < k->nouter ? k->outer[l] : k->stages[0].extent[l - k->nouter];
    loop r = {.extent = lz_sz_value(extent, p->args),
              .left = lz_sz_value(p->left->stride[l], p->args),
              .right = lz_sz_value(p->right->stride[l], p->args)};
    if (l < k->nouter) { /* the result does not depend on the reduced loop */
        r.out = lz_sz_value(p->out->stride[l], p->args);
        r.bias = p->bias ? lz_sz_value(p->bias->stride[l], p->args) : 0;
    }
    return r;
}

/* Computes p->batch. False: the batch loops are not contiguous in every matrix, or the bias depends
 * on them. */
static bool find_batch(product *p)
{
    loop *all = &p->batch;
    *all = (loop){.extent = 1};
    for (uint32_t l = p->k->nouter; l-- > 0;) {
        loop o = loop_of(p, l);
        int64_t left, right, out;
        if (l == lz_kernel_dot(p->k)->m || l == lz_kernel_dot(p->k)->n || o.extent == 1)
            continue;
        if (o.bias)
            return false;
        if (all->extent == 1) {
            *all = o;
            continue;
        }
        if (!lz_mul_i64(all->left, all->extent, &left) ||
            !lz_mul_i64(all->right, all->extent, &right) ||
            !lz_mul_i64(all->out, all->extent, &out) || o.left != left || o.right != right ||
            o.out != out || !lz_mul_i64(all->extent, o.extent, &all->extent))
            return false;
    }
    return true;
}

/* No empty sums and no empty result. */
static bool is_there(const product *p)
{
    for (uint32_t l = 0; l <= p->k->nouter; l++)
        if (loop_of(p, l).extent < 1)
            return false;
    return true;
}

/* ---- layouts ---- */

/* `columns` columns of `rows` elements each. */
static bool lies(int64_t rows, int64_t row, int64_t columns, int64_t column, cuda_matrix *out)
{
    out->rows = rows;
    out->columns = columns;
    out->lead = columns == 1 ? rows : column;
    return (rows == 1 || row == 1) && out->lead >= rows;
}

/* The same, or its transpose. */
static bool lies_somehow(int64_t rows, int64_t row, int64_t columns, int64_t column,
                         cuda_matrix *out)
{
    out->transposed = false;
    if (lies(rows, row, columns, column, out))
        return true;
    out->transposed = true;
    return lies(columns, column, rows, row, out);
}

static bool place(const product *p, const lz_access *at, lz_dtype d, int64_t apart, cuda_matrix *m)
{
    m->buf = at->buf;
    m->dtype = d;
    m->apart = apart;
    return apart >= 0 &&
           lz_mul_i64(lz_sz_value(at->offset, p->args), (int64_t)lz_dtype_size(d), &m->offset);
}

/* The bias depends on the rows of the result only. */
static bool place_bias(const product *p, const loop *rows, const loop *columns, cuda_matrices *out)
{
    out->biased = p->bias != NULL;
    if (!out->biased)
        return true;
    out->bias = p->bias->buf;
    return (rows->bias == 1 || rows->extent == 1) && (columns->bias == 0 || columns->extent == 1) &&
           lz_mul_i64(lz_sz_value(p->bias->offset, p->args), (int64_t)lz_dtype_size(out->d.dtype),
                      &out->bias_offset);
}

/* Either the result's columns run along n, and the right operand comes first; or along m, and the
 * left one. */
static bool arrange(const product *p, bool along_n, cuda_matrices *out)
{
    const lz_kernel *kernel = p->k;
    loop k = loop_of(p, kernel->nouter), m = loop_of(p, lz_kernel_dot(kernel)->m),
         n = loop_of(p, lz_kernel_dot(kernel)->n);
    const loop *rows = along_n ? &n : &m, *columns = along_n ? &m : &n;
    cuda_matrix *left = along_n ? &out->b : &out->a, *right = along_n ? &out->a : &out->b;
    lz_dtype d = kernel->buf[p->out->buf].dtype;
    if (!lies(rows->extent, rows->out, columns->extent, columns->out, &out->d) ||
        !place(p, p->out, d, p->batch.out, &out->d) ||
        !place(p, p->left, p->factors, p->batch.left, left) ||
        !place(p, p->right, p->factors, p->batch.right, right) ||
        !place_bias(p, rows, columns, out))
        return false;
    if (along_n) /* (n, k) (k, m) */
        return lies_somehow(n.extent, n.right, k.extent, k.right, right) &&
               lies_somehow(k.extent, k.left, m.extent, m.left, left);
    return lies_somehow(m.extent, m.left, k.extent, k.left, left) &&
           lies_somehow(k.extent, k.right, n.extent, n.right, right);
}

bool cuda_matrices_of(const lz_kernel *k, const int64_t *args, cuda_matrices *out)
{
    product p = {.k = k, .args = args};
    lz_dtype other;
    *out = (cuda_matrices){0};
    if (!sums_products(k))
        return false;
    const lz_loop_store *store = stores_sums(k, &p.bias);
    p.left = factor(k, lz_kernel_dot(k)->a_sop, &p.factors);
    p.right = factor(k, lz_kernel_dot(k)->b_sop, &other);
    if (!store || !p.left || !p.right || other != p.factors)
        return false;
    p.out = &store->at;
    if (!is_there(&p) || !find_batch(&p))
        return false;
    out->sum = k->stages[0].reds[0].acc_dtype[0];
    out->batch = p.batch.extent;
    return arrange(&p, true, out) || arrange(&p, false, out);
}
