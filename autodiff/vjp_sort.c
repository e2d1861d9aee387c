/* vjp_sort.c - gradient of sort: the gradients are permuted back. The permutation is found by
 * sorting once more, with the positions as one more operand. */
#include "autodiff/jvp.h"
#include "autodiff/vjp.h"
#include "base/alloc.h"
#include "base/status.h"
#include "ir/module.h"
#include <lazuli/tensor.h>
#include <string.h>

/* Scatters element i of a row to position[i]. Rows are batches, so indices are unique. */
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

static lz_status sort_again(const lz_vjp *v, lz_tensor **in, lz_tensor **out)
{
    uint32_t n = v->sig->nopnd;
    lz_attr_sort a = *LZ_ATTR(sort, v->sig->attr);
    const lz_type *positions = lz_type_get(LZ_I64, &v->sig->opnd[0]->shape);
    if (!positions || !(a.comparator = lz_j_wider_order(a.comparator, &positions, 1)))
        return lz_error_get()->status;
    memcpy(in, v->opnd, n * sizeof *in);
    in[n] = lz_iota_at(LZ_I64, positions->shape, a.dimension, v->site);
    LZ_TRY(lz_j_op(LZ_OP_SORT, (const lz_attr *)(const void *)&a, in, n + 1, out, n + 1, v->site));
    for (uint32_t k = 0; k < n; k++)
        if (v->need[k] && v->grad_out[k])
            v->grad_in[k] = send_back(v, v->grad_out[k], out[n], v->sig->opnd[k], a.dimension);
    return LZ_OK;
}

lz_status lz_vjp_sort(const lz_vjp *v)
{
    size_t n = (size_t)v->sig->nopnd + 1;
    lz_tensor **room = lz_calloc(2 * n, sizeof *room);
    lz_status s =
        room ? sort_again(v, room, room + n) : LZ_FAIL(LZ_EMEM, "no memory to differentiate");
    lz_free(room);
    return s;
}
