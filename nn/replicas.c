/* replicas.c - training on replicas: <lazuli/replicas.h>. */
#include "nn/optim_rule.h"
#include "runtime/exec/assign.h"
#include <inttypes.h>
#include <lazuli/grad.h>
#include <lazuli/replicas.h>
#include <lazuli/tensor_ops.h>
#include <string.h>

/* ---- rendezvous ---- */

static int64_t hash_of(const char *tag)
{
    uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */
    for (; *tag; tag++)
        h = (h ^ (uint8_t)*tag) * UINT64_C(1099511628211);
    return (int64_t)h;
}

/* What all bring: rows of n bytes, by ordinal. */
static lz_status gather(const void *mine, size_t n, void *all, int world, const lz_site *site)
{
    lz_status s = lz_scope_begin();
    if (s != LZ_OK)
        return s;
    lz_tensor *x = lz_from_host_at(LZ_U8, LZ_SHAPE(1, (int64_t)n), mine, n, site);
    s = lz_to_host_at(lz_all_gather_at(x, 0, NULL, site), all, n * (size_t)world, site);
    lz_scope_end();
    return s;
}

/* Everybody is here with the same tag and size. */
static lz_status agree(const char *tag, size_t nbytes, int world, const lz_site *site)
{
    int64_t mine[2] = {hash_of(tag), (int64_t)nbytes};
    int64_t *all = lz_calloc((size_t)world, sizeof mine);
    if (!all)
        return LZ_FAIL(LZ_EMEM, "no memory for %d replicas", world);
    lz_status s = gather(mine, sizeof mine, all, world, site);
    for (int q = 0; q < world && s == LZ_OK; q++) {
        int64_t tag_there = all[2 * q], there = all[2 * q + 1];
        if (there != mine[1])
            s = LZ_FAIL(LZ_EINVAL, "\"%.60s\": replica %d brings %" PRId64 " bytes, this one %zu",
                        tag, q, there, nbytes);
        else if (tag_there != mine[0])
            s = LZ_FAIL(LZ_EINVAL, "\"%.60s\": replica %d has another tag", tag, q);
    }
    lz_free(all);
    return s;
}

static lz_status meet(const char *tag, const void *payload, size_t nbytes, void *all, int world,
                      const lz_site *site)
{
    LZ_TRY(agree(tag, nbytes, world, site));
    if (nbytes == 0)
        return LZ_OK;
    char *room = all ? NULL : lz_alloc(nbytes * (size_t)world);
    if (!all && !room)
        return LZ_FAIL(LZ_EMEM, "no memory for %zu bytes of %d replicas", nbytes, world);
    lz_status s = gather(payload, nbytes, all ? all : room, world, site);
    lz_free(room);
    return s;
}

lz_status lz_rendezvous_at(const char *tag, const void *payload, size_t nbytes, void *all,
                           const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    static const char op[] = "lz_rendezvous";
    if (!tag || (nbytes && !payload))
        return LZ_NN_FAIL(LZ_ENULL, op, site, "%s is NULL", tag ? "the payload" : "the tag");
    int world = lz_world_size();
    if (world < 0)
        return lz_nn_annotated(lz_error_get()->status, op, site);
    size_t whole;
    if (__builtin_mul_overflow(nbytes, (size_t)world, &whole) || whole > (size_t)1 << 40)
        return LZ_NN_FAIL(LZ_ERANGE, op, site, "%zu bytes of %d replicas", nbytes, world);
    lz_status s = meet(tag, payload, nbytes, all, world, site);
    return s == LZ_OK ? s : lz_nn_annotated(s, op, site);
}

/* ---- parameters and gradients ---- */

lz_status lz_broadcast_master_param_at(lz_params *ps, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    if (!ps)
        return LZ_NN_FAIL(LZ_ENULL, "lz_broadcast_master_param", site,
                          "the parameter list is NULL");
    lz_status s = lz_scope_begin();
    if (s != LZ_OK)
        return s;
    lz_assignments all = {0};
    for (size_t i = 0; i < ps->len && s == LZ_OK; i++) {
        lz_tensor *x = lz_detach_at(ps->tensors[i], site);
        s = lz_assignments_add(&all, ps->tensors[i], lz_collective_broadcast_at(x, 0, NULL, site));
    }
    s = lz_assignments_end(&all, s, site);
    lz_scope_end();
    return lz_nn_given(s);
}

static lz_status reduce_gradients(const lz_optim *o, const lz_site *site)
{
    size_t n = 0, at = 0;
    int world = lz_world_size();
    if (world < 0)
        return lz_error_get()->status;
    for (size_t g = 0; g < o->ngroups; g++)
        n += o->groups[g].params->len;
    lz_tensor **grads = lz_calloc(n + 1, sizeof *grads);
    if (!grads)
        return LZ_FAIL(LZ_EMEM, "no memory for %zu gradients", n);
    for (size_t g = 0; g < o->ngroups; g++)
        for (size_t i = 0; i < o->groups[g].params->len; i++) {
            lz_tensor *x = lz_grad_of(o->groups[g].params->tensors[i]);
            if (x)
                grads[at++] = x;
        }
    lz_status s = LZ_OK;
    if (at && world > 1)
        s = lz_all_reduce_in_place_at(
            "sum", grads, at,
            &(lz_collective_options){.struct_size = sizeof(lz_collective_options),
                                     .scale = 1. / world},
            site);
    lz_free(grads);
    return s;
}

lz_status lz_reduce_gradients_at(lz_optim *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    static const char op[] = "lz_reduce_gradients";
    if (!o)
        return LZ_NN_FAIL(LZ_ENULL, op, site, "the optimizer is NULL");
    lz_status s = reduce_gradients(o, site);
    return s == LZ_OK ? s : lz_nn_annotated(s, op, site);
}

lz_status lz_optimizer_step_at(lz_optim *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    static const char op[] = "lz_optimizer_step";
    if (!o)
        return LZ_NN_FAIL(LZ_ENULL, op, site, "the optimizer is NULL");
    lz_status s = reduce_gradients(o, site);
    if (s != LZ_OK)
        return lz_nn_annotated(s, op, site);
    return lz_nn_given(lz_optim_step_unless(o, NULL, op, site));
}
