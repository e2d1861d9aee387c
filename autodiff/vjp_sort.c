/* vjp_sort.c - gradient of sort: gradients go back to where the elements came from. That order is found by sorting once more, with the
 * positions as one more operand. */
#include "autodiff/vjp.h"
#include "base/status.h"
#include "ir/module.h"
#include <lazuli/tensor.h>
#include <string.h>

enum { MAX = LZ_VJP_MAX_RESULTS };

/* The keys and the direction of a comparator that lz_hlo_sort_at has made. */
static bool known_order(const lz_vjp *v, int *nkey, bool *descending)
{
    lz_dtype d[MAX];
    for (uint32_t k = 0; k < v->sig->nopnd; k++)
        d[k] = v->sig->opnd[k]->dtype;
    for (uint32_t n = 1; n <= v->sig->nopnd && !lz_dtype_is_complex(d[n - 1]); n++)
        for (int desc = 0; desc < 2; desc++)
            if (lz_region_order(d, v->sig->nopnd, n, desc) ==
                LZ_ATTR(sort, v->sig->attr)->comparator) {
                *nkey = (int)n;
                *descending = desc;
                return true;
            }
    return false;
}

/* Element i of a row goes to position[i]. The rows are batches, so no two meet. */
static lz_tensor *send_back(const lz_vjp *v, lz_tensor *g, lz_tensor *position, const lz_type *t,
                            int64_t dim)
{
    lz_scatter_dims s = {.index_vector_dim = t->shape.rank,
                         .unique_indices = true,
                         .ninserted = 1,
                         .nmap = 1,
                         .inserted_window_dims = {dim},
                         .scatter_dims_to_operand_dims = {dim}};
    for (int64_t d = 0; d < t->shape.rank; d++)
        if (d != dim) {
            s.input_batching_dims[s.ninput_batch] = d;
            s.scatter_indices_batching_dims[s.ninput_batch++] = d;
        }
    return lz_hlo_scatter_at("add", lz_v_zeros(v, t), position, g, &s, v->site);
}

lz_status lz_vjp_sort(const lz_vjp *v)
{
    const lz_attr_sort *a = LZ_ATTR(sort, v->sig->attr);
    uint32_t n = v->sig->nopnd;
    lz_tensor *in[MAX + 1], *out[MAX + 1];
    int nkey = 0;
    bool descending = false;
    if (n >= MAX || !known_order(v, &nkey, &descending))
        return LZ_FAIL(LZ_EGRAD,
                       "sort of %u operands with a comparator of its own has no gradient "
                       "rule",
                       n);
    memcpy(in, v->opnd, n * sizeof *in);
    in[n] = lz_iota_at(LZ_I64, v->sig->opnd[0]->shape, a->dimension, v->site);
    lz_hlo_sort_at(in, (int)n + 1, a->dimension, nkey, descending, out, v->site);
    for (uint32_t k = 0; k < n; k++)
        if (v->need[k] && v->grad_out[k])
            v->grad_in[k] = send_back(v, v->grad_out[k], out[n], v->sig->opnd[k], a->dimension);
    return LZ_OK;
}
