/* replicas.h - replicas: one thread for each device of the process, which records and steps its own
 * programs (PyTorch/XLA's multi-threaded mode: torch_xla.core.xla_model, torch_xla.runtime). Each
 * thread chooses its device (lz_set_device("CPU:1")); collectives are among the devices of the
 * platform, and meet while steps run: no thread waits for another when it records. All members of a
 * group run the same collectives in the same order; what does not fit, and a member that fails, is
 * late or has ended, is an error of all of them. Collectives have gradients.
 * Processes may be several; their devices are all replicas.
 * On the virtual device (lz_use_spmd) these are LZ_EUNSUPPORTED: there the compiler places them.
 * Implemented in: runtime/spmd/collective.c, runtime/spmd/process.c, nn/replicas.c. */
#ifndef LAZULI_REPLICAS_H
#define LAZULI_REPLICAS_H
#include <lazuli/optim.h>
LZ_EXTERN_C_BEGIN

/* torch_xla.runtime.world_size: how many replicas there can be, the devices of the platform of the
 * calling thread's device in all processes, which it joins; 1 on the virtual device. -1 with
 * LZ_ETIMEOUT (names the processes that did not come), LZ_EINVAL (two of one number, or of
 * different jobs), LZ_EUNAVAILABLE. */
LZ_API int lz_world_size(void);
/* torch_xla.runtime.global_ordinal, local_ordinal: the number of the calling thread's device, among
 * all and among those of this process. -1 with an error. */
LZ_API int lz_global_ordinal(void);
LZ_API int lz_local_ordinal(void);

/* ---- processes of a job: the same program started several times, by mpirun, torchrun, srun,
 * lazuli launch or by hand (docs/distributed.md). Replicas are the devices of all of them, numbered
 * by process. They join when one first asks for something of the others or records a collective; a
 * program of one process opens nothing. ---- */
/* torch_xla.runtime.process_index, process_count: the number of this process (MPI's rank) and how
 * many there are; 0 of 1 where no launcher says otherwise. Does not join. -1 with LZ_EINVAL, which
 * names the variable. */
LZ_API int lz_process_index(void);
LZ_API int lz_process_count(void);
/* The number of this process among those of its host, and how many these are
 * (torch_xla.runtime.local_process_count). Joins where the launcher does not say. -1 with the
 * errors of lz_world_size. */
LZ_API int lz_local_process_index(void);
LZ_API int lz_local_process_count(void);
/* torch_xla.runtime.host_index: the number of this process's host, hosts being counted in the order
 * of their first processes, and how many there are. Joins. -1 with the errors of lz_world_size. */
LZ_API int lz_host_index(void);
LZ_API int lz_host_count(void);
/* torch_xla.runtime.addressable_device_count: devices of the calling thread's platform in this
 * process. Does not join. -1 with LZ_EUNAVAILABLE. */
LZ_API int lz_local_devices(void);
/* torch_xla.runtime.global_device_count: the same in all processes, which is lz_world_size. Joins.
 * -1 with LZ_ETIMEOUT (names the processes that did not come), LZ_EINVAL (two of one number, or of
 * different jobs), LZ_EUNAVAILABLE. */
LZ_API int lz_global_device_count(void);

/* ---- collectives ---- */

typedef struct lz_collective_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_collective_options));
    /* of reductions: times the result, a float when not 1 */
    double scale LZ_DEFAULT(1);
    /* ngroups groups of group_size ordinals, row by row, each replica in one; NULL: all are one
     * group. Values are summed and joined in the order of the group. */
    const int64_t *groups LZ_DEFAULT(NULL);
    int64_t ngroups LZ_DEFAULT(0);    /* how many */
    int64_t group_size LZ_DEFAULT(0); /* members of each */
    /* of lists: the most MiB of operands of one combined collective (more where a tensor has more);
     * 0: no limit */
    double bucket_cap_mb LZ_DEFAULT(160);
} lz_collective_options;
#define LZ_COLLECTIVE_DEFAULTS .scale = 1, .bucket_cap_mb = 160
#define LZ_COLLECTIVE(...) LZ_DEFAULTED(lz_collective_options, LZ_COLLECTIVE_DEFAULTS, __VA_ARGS__)

/* Errors of what follows, as an error tensor or a status: LZ_EINVAL (reduce_type, groups: names the
 * ordinal), LZ_ERANGE (the dimension), LZ_ESHAPE (an extent that the group does not divide),
 * LZ_EDTYPE, LZ_EUNSUPPORTED (the virtual device; a platform whose devices do not meet), LZ_ENULL,
 * LZ_EMEM, those of operands. reduce_type: "sum", "mul", "and", "or", "min", "max". Source:
 * torch_xla.core.xla_model. */

/* x reduced over the replicas of the group. */
LZ_API lz_tensor *lz_all_reduce_at(const char *reduce_type, lz_tensor *x,
                                   const lz_collective_options *o, const lz_site *site);
#define lz_all_reduce(...) LZ_ARGS_all_reduce(__VA_ARGS__, )
#define LZ_ARGS_all_reduce(reduce_type, x, ...)                                                    \
    LZ_OVERRIDING(lz_all_reduce_at(reduce_type, x, LZ_COLLECTIVE(__VA_ARGS__), LZ_SITE))
/* The same of n tensors, which are assigned their results: combined collectives of one dtype and at
 * most bucket_cap_mb. */
LZ_API lz_status lz_all_reduce_in_place_at(const char *reduce_type, lz_tensor *const *xs, size_t n,
                                           const lz_collective_options *o, const lz_site *site);
#define lz_all_reduce_in_place(...) LZ_ARGS_all_reduce_in_place(__VA_ARGS__, )
#define LZ_ARGS_all_reduce_in_place(reduce_type, xs, n, ...)                                       \
    LZ_OVERRIDING(                                                                                 \
        lz_all_reduce_in_place_at(reduce_type, xs, n, LZ_COLLECTIVE(__VA_ARGS__), LZ_SITE))
/* The x of all members, joined along dim. */
LZ_API lz_tensor *lz_all_gather_at(lz_tensor *x, int64_t dim, const lz_collective_options *o,
                                   const lz_site *site);
#define lz_all_gather(...) LZ_ARGS_all_gather(__VA_ARGS__, )
#define LZ_ARGS_all_gather(x, dim, ...)                                                            \
    LZ_OVERRIDING(lz_all_gather_at(x, dim, LZ_COLLECTIVE(__VA_ARGS__), LZ_SITE))
/* lz_all_reduce, of which each member gets its part along dim. */
LZ_API lz_tensor *lz_reduce_scatter_at(const char *reduce_type, lz_tensor *x, int64_t dim,
                                       const lz_collective_options *o, const lz_site *site);
#define lz_reduce_scatter(...) LZ_ARGS_reduce_scatter(__VA_ARGS__, )
#define LZ_ARGS_reduce_scatter(reduce_type, x, dim, ...)                                           \
    LZ_OVERRIDING(lz_reduce_scatter_at(reduce_type, x, dim, LZ_COLLECTIVE(__VA_ARGS__), LZ_SITE))
/* lz_all_gather and lz_reduce_scatter of n tensors, whose results are out[0..n-1]: combined
 * collectives of one dtype and at most bucket_cap_mb. Source:
 * torch_xla.core.xla_model.all_gather_bucketized, reduce_scatter_bucketized. */
LZ_API lz_status lz_all_gather_bucketized_at(lz_tensor *const *xs, size_t n, int64_t dim,
                                             lz_tensor **out, const lz_collective_options *o,
                                             const lz_site *site);
#define lz_all_gather_bucketized(...) LZ_ARGS_all_gather_bucketized(__VA_ARGS__, )
#define LZ_ARGS_all_gather_bucketized(xs, n, dim, out, ...)                                        \
    LZ_OVERRIDING(lz_all_gather_bucketized_at(xs, n, dim, out, LZ_COLLECTIVE(__VA_ARGS__), LZ_SITE))
LZ_API lz_status lz_reduce_scatter_bucketized_at(const char *reduce_type, lz_tensor *const *xs,
                                                 size_t n, int64_t dim, lz_tensor **out,
                                                 const lz_collective_options *o,
                                                 const lz_site *site);
#define lz_reduce_scatter_bucketized(...) LZ_ARGS_reduce_scatter_bucketized(__VA_ARGS__, )
#define LZ_ARGS_reduce_scatter_bucketized(reduce_type, xs, n, dim, out, ...)                       \
    LZ_OVERRIDING(lz_reduce_scatter_bucketized_at(reduce_type, xs, n, dim, out,                    \
                                                  LZ_COLLECTIVE(__VA_ARGS__), LZ_SITE))
/* x split along split_dim, part k to member k; what arrives joined along concat_dim. */
LZ_API lz_tensor *lz_all_to_all_at(lz_tensor *x, int64_t split_dim, int64_t concat_dim,
                                   const lz_collective_options *o, const lz_site *site);
#define lz_all_to_all(...) LZ_ARGS_all_to_all(__VA_ARGS__, )
#define LZ_ARGS_all_to_all(x, split_dim, concat_dim, ...)                                          \
    LZ_OVERRIDING(lz_all_to_all_at(x, split_dim, concat_dim, LZ_COLLECTIVE(__VA_ARGS__), LZ_SITE))
/* npairs pairs of ordinals, source and target: the x of the source; zeros without one. */
LZ_API lz_tensor *lz_collective_permute_at(lz_tensor *x, const int64_t *pairs, int64_t npairs,
                                           const lz_site *site);
#define lz_collective_permute(x, pairs, npairs) lz_collective_permute_at(x, pairs, npairs, LZ_SITE)
/* The x of member `root` of the group (its place; the ordinal when there is one group). */
LZ_API lz_tensor *lz_collective_broadcast_at(lz_tensor *x, int64_t root,
                                             const lz_collective_options *o, const lz_site *site);
#define lz_collective_broadcast(...) LZ_ARGS_collective_broadcast(__VA_ARGS__, )
#define LZ_ARGS_collective_broadcast(x, root, ...)                                                 \
    LZ_OVERRIDING(lz_collective_broadcast_at(x, root, LZ_COLLECTIVE(__VA_ARGS__), LZ_SITE))

/* torch_xla.core.xla_model.rendezvous: waits until all replicas are here, and gives to each what
 * all brought: nbytes bytes of each, by ordinal; `all` (may be NULL) has room for lz_world_size() *
 * nbytes. nbytes and tag are the same on all: LZ_EINVAL names the one that differs. Runs what is
 * pending of the thread. LZ_ENULL; the others as above, and those of steps. */
LZ_API lz_status lz_rendezvous_at(const char *tag, const void *payload, size_t nbytes, void *all,
                                  const lz_site *site);
#define lz_rendezvous(tag, payload, nbytes, all)                                                   \
    lz_rendezvous_at(tag, payload, nbytes, all, LZ_SITE)

/* ---- training ---- */
/* torch_xla.core.xla_model.broadcast_master_param: parameters and buffers become those of replica
 * 0. */
LZ_API lz_status lz_broadcast_master_param_at(lz_params *ps, const lz_site *site);
#define lz_broadcast_master_param(ps) lz_broadcast_master_param_at(ps, LZ_SITE)
/* torch_xla.core.xla_model.reduce_gradients: every gradient of the optimizer becomes the mean over
 * the replicas, by one combined all_reduce for each dtype. */
LZ_API lz_status lz_reduce_gradients_at(lz_optim *o, const lz_site *site);
#define lz_reduce_gradients(o) lz_reduce_gradients_at(o, LZ_SITE)
/* torch_xla.core.xla_model.optimizer_step: lz_reduce_gradients, then lz_optim_step. lz_mark_step
 * runs it. */
LZ_API lz_status lz_optimizer_step_at(lz_optim *o, const lz_site *site);
#define lz_optimizer_step(o) lz_optimizer_step_at(o, LZ_SITE)
LZ_EXTERN_C_END
#endif
