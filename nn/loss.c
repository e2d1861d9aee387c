/* loss.c - losses and scores, as torch.nn.functional with reduction="mean". */
#include <lazuli/hlo.h>
#include <lazuli/nn.h>
#include <lazuli/ops.h>
#include <lazuli/tensor_ops.h>

#include "nn/internal.h"
#include <inttypes.h>
#include <stdio.h>

/* Shapes [N, C] and [N]; LZ_OK, or the reason in the record. */
static lz_status check(const char *op, lz_tensor *logits, lz_tensor *labels, const lz_site *site)
{
    if (!logits || !labels)
        return LZ_NN_FAIL(LZ_ENULL, op, site, "%s is NULL", logits ? "labels" : "logits");
    lz_status st = lz_status_of(logits); /* which records the tensor's own error */
    if (st == LZ_OK)
        st = lz_status_of(labels);
    if (st != LZ_OK)
        return st;
    lz_shape a = lz_shape_of(logits), b = lz_shape_of(labels);
    if (a.rank != 2 || b.rank != 1 || a.dims[0] != b.dims[0]) {
        char have[2][160];
        return LZ_NN_FAIL(LZ_ESHAPE, op, site, "logits are %s and labels %s, not [N, C] and [N]",
                          lz_nn_shape_text(&a, have[0]), lz_nn_shape_text(&b, have[1]));
    }
    lz_dtype d = lz_dtype_of(labels);
    if (d != LZ_I32 && d != LZ_I64)
        return LZ_NN_FAIL(LZ_EDTYPE, op, site, "labels are %s, not i32 or i64", lz_dtype_name(d));
    return LZ_OK;
}

lz_tensor *lz_cross_entropy_at(lz_tensor *logits, lz_tensor *labels, const lz_site *site)
{
    if (check("lz_cross_entropy", logits, labels, site) != LZ_OK)
        return lz_error_tensor_last("lz_cross_entropy", site);
    if (lz_scope_begin() != LZ_OK)
        return lz_error_tensor_last("lz_cross_entropy", site);
    lz_shape s = lz_shape_of(logits);
    /* -mean_n log_softmax(logits)[n, label[n]], picked by a mask: the gradient needs no scatter */
    lz_tensor *logp = lz_log_softmax_at(logits, -1, site);
    lz_tensor *mask = lz_one_hot_at(labels, s.dims[1], LZ_BOOL, site);
    lz_tensor *picked =
        lz_where_at(mask, logp, lz_zeros_at(lz_dtype_of(logp), LZ_SCALAR, site), site);
    lz_reduce_options rows = {.struct_size = sizeof rows, .dims = LZ_DIM(-1)};
    lz_tensor *nll = lz_neg_at(lz_mean_at(lz_sum_at(picked, &rows, site), NULL, site), site);
    return lz_scope_end_keep(nll);
}

lz_tensor *lz_mse_loss_at(lz_tensor *x, lz_tensor *target, const lz_site *site)
{
    if (lz_scope_begin() != LZ_OK)
        return lz_error_tensor_last("lz_mse_loss", site);
    lz_tensor *d = lz_sub_at(x, target, site);
    return lz_scope_end_keep(lz_mean_at(lz_mul_at(d, d, site), NULL, site));
}

lz_tensor *lz_accuracy_at(lz_tensor *logits, lz_tensor *labels, const lz_site *site)
{
    if (check("lz_accuracy", logits, labels, site) != LZ_OK)
        return lz_error_tensor_last("lz_accuracy", site);
    if (lz_scope_begin() != LZ_OK)
        return lz_error_tensor_last("lz_accuracy", site);
    lz_tensor *best = lz_argmax_at(logits, -1, false, site);
    lz_tensor *hit = lz_eq_at(best, lz_to_at(labels, LZ_I64, site), site);
    return lz_scope_end_keep(lz_mean_at(lz_to_at(hit, LZ_F32, site), NULL, site));
}
