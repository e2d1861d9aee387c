/* fsdp.c - parameters, batches and outputs of fully sharded data parallel training: which dimension
 * is cut. Where gradients and states are, and what is gathered when, follows from the marks. */
#include "nn/nn_internal.h"
#include "runtime/exec/assign.h"
#include <lazuli/hlo.h>

/* The largest dimension that n divides, else the first. */
static int dimension_to_cut(lz_shape s, int64_t n)
{
    int best = -1;
    for (int d = 0; d < s.rank; d++)
        if (s.dims[d] % n == 0 && (best < 0 || s.dims[d] > s.dims[best]))
            best = d;
    return best < 0 ? 0 : best;
}

static lz_status check(const lz_params *ps, const lz_mesh *mesh, const char *axis, const char *op,
                       const lz_site *site)
{
    char text[256];
    if (!ps || !mesh)
        return LZ_NN_FAIL(LZ_ENULL, op, site, "%s is NULL", ps ? "the mesh" : "the list");
    if (lz_mesh_axis_size(mesh, axis))
        return LZ_OK;
    lz_mesh_to_string(mesh, text, sizeof text);
    return LZ_NN_FAIL(LZ_EINVAL, op, site, "the mesh %s has no axis \"%.64s\"", text, axis);
}

lz_status lz_fsdp_shard_module_at(lz_params *ps, lz_mesh *mesh, const char *axis,
                                  const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    static const char op[] = "lz_fsdp_shard_module";
    axis = axis ? axis : "fsdp";
    lz_status s = check(ps, mesh, axis, op, site);
    for (size_t i = 0; s == LZ_OK && i < ps->len; i++) {
        lz_tensor *t = ps->tensors[i];
        lz_partition_spec spec = {.rank = lz_rank_of(t)};
        if (ps->is_buffer[i] || spec.rank == 0 || lz_is_marked(t))
            continue;
        spec.axes[dimension_to_cut(lz_shape_of(t), lz_mesh_axis_size(mesh, axis))] = axis;
        s = lz_mark_sharding_at(t, mesh, spec, site);
        if (s != LZ_OK)
            return lz_nn_annotated(s, op, site);
    }
    return lz_nn_given(s);
}

/* Along which axes a batch is cut. */
static lz_status batch_spec(lz_tensor *x, const char *axes, lz_partition_spec *out, const char *op,
                            const lz_site *site)
{
    if (!x)
        return LZ_NN_FAIL(LZ_ENULL, op, site, "the tensor is NULL");
    lz_status s = lz_nn_status_of(x, op);
    if (s != LZ_OK)
        return s;
    *out = (lz_partition_spec){.rank = lz_rank_of(x), .axes = {axes ? axes : "fsdp"}};
    if (out->rank == 0)
        return LZ_NN_FAIL(LZ_EINVAL, op, site, "a scalar has no first dimension to cut");
    return LZ_OK;
}

lz_status lz_fsdp_shard_batch_at(lz_tensor *x, lz_mesh *mesh, const char *axes, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    static const char op[] = "lz_fsdp_shard_batch";
    lz_partition_spec spec;
    lz_status s = batch_spec(x, axes, &spec, op, site);
    if (s == LZ_OK && (s = lz_mark_sharding_at(x, mesh, spec, site)) != LZ_OK)
        return lz_nn_annotated(s, op, site);
    return lz_nn_given(s);
}

lz_tensor *lz_fsdp_shard_output_at(lz_tensor *x, lz_mesh *mesh, const char *axes,
                                   const lz_site *site)
{
    LZ_PUBLIC_AT(NULL);
    static const char op[] = "lz_fsdp_shard_output";
    lz_partition_spec spec;
    if (batch_spec(x, axes, &spec, op, site) != LZ_OK)
        return lz_error_tensor_last(op, site);
    const char *outer = lz_error_speak_for(op);
    lz_tensor *y = lz_with_sharding_at(x, mesh, spec, site);
    (void)lz_error_speak_for(outer);
    return y;
}
