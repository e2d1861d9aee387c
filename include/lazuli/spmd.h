/* spmd.h - one program on many devices: meshes, and where tensors are on them (PyTorch/XLA's
 * torch_xla.distributed.spmd, GSPMD, Shardy). With XLA_USE_SPMD=1, or after lz_use_spmd, all
 * devices of the platform are one virtual device, SPMD:0; what a program records for it is
 * partitioned over the mesh of its marks when it is compiled. A tensor without a mark is put where
 * it costs least.
 * Implemented in: runtime/spmd/mesh.c, runtime/spmd/mark.c, runtime/spmd/visualize.c,
 * runtime/exec/auto_spmd.c, runtime/exec/runtime_device.c. */
#ifndef LAZULI_SPMD_H
#define LAZULI_SPMD_H
#include <lazuli/tensor.h>
LZ_EXTERN_C_BEGIN

/* Devices in a grid whose dimensions, the axes, have names. Equal meshes are one; they live as long
 * as the process. Thread-safe. */
typedef struct lz_mesh lz_mesh;

/* Of each dimension of a tensor, outermost first, the axes of the mesh along which it is cut: NULL
 * (or ""): it is whole on every device; "data"; "data,fsdp" (major to minor). Where no axis has
 * that name, a number: "0" is the first axis. */
typedef struct lz_partition_spec {
    int32_t rank;
    const char *axes[LZ_MAX_RANK];
} lz_partition_spec;
static inline lz_partition_spec lz_partition_spec_make(int rank, const char *const *axes)
{
    lz_partition_spec s;
    s.rank = rank;
    for (int i = 0; i < LZ_MAX_RANK; i++)
        s.axes[i] = axes && i < rank ? axes[i] : 0;
    return s;
}
/* LZ_SPEC("data", NULL): rows along the axis "data". LZ_SPEC_SCALAR: of a scalar. More than
 * LZ_MAX_RANK entries are refused with LZ_EINVAL. */
#define LZ_SPEC_SCALAR (lz_partition_spec_make(0, NULL))
#ifdef __cplusplus
#define LZ_SPEC(...) (lz_partition_spec_of(__VA_ARGS__))
#else
#define LZ_SPEC(...)                                                                               \
    (lz_partition_spec_make((int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)),    \
                            (const char *const[]){__VA_ARGS__}))
#endif

/* A grid of naxis axes of these sizes, and their names. device_ids: the devices in row-major order
 * of the grid, each of 0 to the product of the sizes - 1 once; NULL: in their order. NULL with
 * LZ_ENULL, LZ_EINVAL (names the axis or the device), LZ_ERANGE (more than 2^20 devices), LZ_EMEM.
 * Source: torch_xla.distributed.spmd.Mesh. */
LZ_API lz_mesh *lz_mesh_new(const int64_t *device_ids, const int64_t *mesh_shape,
                            const char *const *axis_names, int naxis);
/* Number of devices; 0 for NULL. */
LZ_API int64_t lz_mesh_size(const lz_mesh *mesh);
/* Size of the axis of that name; 0: there is none. */
LZ_API int64_t lz_mesh_axis_size(const lz_mesh *mesh, const char *axis);
/* Number of its axes; 0 for NULL. */
LZ_API int lz_mesh_naxis(const lz_mesh *mesh);
/* Copies the name of axis k, and gives its length; 0: there is no such axis. */
LZ_API size_t lz_mesh_axis_name(const lz_mesh *mesh, int k, char *buf, size_t n);
/* The number of the axis of that name; -1: there is none. */
LZ_API int lz_mesh_axis_index(const lz_mesh *mesh, const char *axis);
/* Copies the first n of the devices in row-major order of the grid (get_logical_mesh), and gives
 * their number; 0 for NULL. */
LZ_API int64_t lz_mesh_device_ids(const lz_mesh *mesh, int64_t *out, int64_t n);
/* All devices of the calling thread's platform in a row. NULL with LZ_ENULL, LZ_EUNAVAILABLE. */
LZ_API lz_mesh *lz_mesh_1d(const char *axis_name);
/* The mesh of slices of fast networks within a slow one: axis i is of dcn_mesh_shape[i] slices
 * times ici_mesh_shape[i] devices in each. Slice k has the devices from k n to (k + 1) n - 1, n
 * being the product of ici_mesh_shape. dcn_mesh_shape NULL: one slice. Errors: lz_mesh_new's.
 * Source: torch_xla.distributed.spmd.HybridMesh. */
LZ_API lz_mesh *lz_hybrid_mesh_new(const int64_t *ici_mesh_shape, const int64_t *dcn_mesh_shape,
                                   const char *const *axis_names, int naxis);
/* A mesh for all parts of a program to find; NULL until it is set. */
LZ_API void lz_set_global_mesh(lz_mesh *mesh);
LZ_API lz_mesh *lz_get_global_mesh(void);
/* Copies "<["data"=2, "fsdp"=4]>"; the needed size without NUL. */
LZ_API size_t lz_mesh_to_string(const lz_mesh *mesh, char *buf, size_t n);

typedef struct lz_use_spmd_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_use_spmd_options));
    /* Shardings of what has no mark are searched for when a program is compiled (docs/spmd.md);
     * XLA_AUTO_SPMD=1 says so, too */
    bool auto_sharding LZ_DEFAULT(false);
    /* of that search where marks say no other; NULL: XLA_AUTO_SPMD_MESH, or all devices in a row */
    lz_mesh *mesh LZ_DEFAULT(nullptr);
} lz_use_spmd_options;
/* From now on all devices of the platform are one, SPMD:0, the default device of every thread that
 * has not chosen one. A second call may turn the search on or off for programs from then on. o may
 * be NULL. LZ_EUNAVAILABLE, LZ_EINVAL (a mesh of another number of devices). Source:
 * torch_xla.runtime.use_spmd(auto), xla_auto_spmd. */
LZ_API lz_status lz_use_spmd_at(const lz_use_spmd_options *o, const lz_site *site);
#define lz_use_spmd(...) lz_use_spmd_at(LZ_OPTIONS_OF(lz_use_spmd_options, __VA_ARGS__), LZ_SITE)
/* Whether the calling thread's device is the virtual one. */
LZ_API bool lz_is_spmd(void);

/* Places x, in place: its value from now on is cut over the mesh as spec says, also those that
 * lz_assign gives it. The host's data is sent when the program that uses it is known, each device
 * its part only. Gradients have the same mark. Errors: LZ_ESTATE (x is not on the virtual device),
 * LZ_EINVAL (the rank, an axis that is not in the mesh or used twice, a mesh of another number of
 * devices, another mark that was not cleared), LZ_ENULL, those of x. Source:
 * torch_xla.distributed.spmd.mark_sharding. */
LZ_API lz_status lz_mark_sharding_at(lz_tensor *x, lz_mesh *mesh, lz_partition_spec spec,
                                     const lz_site *site);
#define lz_mark_sharding(...) lz_mark_sharding_at(__VA_ARGS__, LZ_SITE)
/* x placed so, as a value of its own: jax.lax.with_sharding_constraint. Errors: the same. */
LZ_API lz_tensor *lz_with_sharding_at(lz_tensor *x, lz_mesh *mesh, lz_partition_spec spec,
                                      const lz_site *site);
#define lz_with_sharding(...) lz_with_sharding_at(__VA_ARGS__, LZ_SITE)
/* *out_a and *out_b are a and b, placed alike: a mark of one, or what the compiler gives it, is the
 * other's, too. Their gradients as well. Errors, and then both are error tensors: LZ_ENULL,
 * LZ_EINVAL (two ranks, two devices), LZ_EMEM, those of a and b. Source:
 * torch_xla.distributed.spmd.shard_as, jax.experimental.shard_alike. */
LZ_API lz_status lz_shard_as_at(lz_tensor *a, lz_tensor *b, lz_tensor **out_a, lz_tensor **out_b,
                                const lz_site *site);
#define lz_shard_as(...) lz_shard_as_at(__VA_ARGS__, LZ_SITE)
/* Takes the mark of x back; its value stays where it is. LZ_ENULL, LZ_EHANDLE. */
LZ_API lz_status lz_clear_sharding(lz_tensor *x);
/* Copies where x is, as HLO writes it: "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"; "" when
 * nobody has said and it has not been computed. The needed size without NUL. */
LZ_API size_t lz_get_sharding(lz_tensor *x, char *buf, size_t n);

/* ---- pictures (runtime/spmd/visualize.c) ----
 * A cell for each tile with the devices that have it, and, of a tensor, the tile's elements. Two
 * dimensions are shown, those of the most tiles (of as many, the first ones), outer ones downwards;
 * cells have the devices of all tiles along others. More than 8 rows or columns are cut short in
 * the middle. Lines are UTF-8 where LC_ALL, LC_CTYPE or LANG says so, else plain ASCII; on a
 * terminal that is not dumb there are colours unless NO_COLOR is set. */

/* Writes the table of a sharding as HLO writes it, "{devices=[2,1,4]<=[8]
 * last_tile_dim_replicate}", to standard output. LZ_ENULL, LZ_EPARSE, LZ_EINVAL, LZ_EMEM. Source:
 * torch_xla.distributed.spmd.debugging.visualize_sharding. */
LZ_API lz_status lz_visualize_sharding(const char *sharding);
/* The table of where x is. LZ_ESTATE: nobody has said, and it has not been computed; LZ_ENULL,
 * LZ_EHANDLE, LZ_EMEM. Source: visualize_tensor_sharding, jax.debug.visualize_array_sharding. */
LZ_API lz_status lz_visualize_tensor_sharding_at(lz_tensor *x, const lz_site *site);
#define lz_visualize_tensor_sharding(...) lz_visualize_tensor_sharding_at(__VA_ARGS__, LZ_SITE)
/* Copies the table, without colours; the needed size without NUL; 0 after an error. */
LZ_API size_t lz_sharding_table(lz_tensor *x, char *buf, size_t n);
LZ_API size_t lz_sharding_text_table(const char *sharding, char *buf, size_t n);
/* The same as a document of SVG. */
LZ_API size_t lz_sharding_svg(lz_tensor *x, char *buf, size_t n);
LZ_API size_t lz_sharding_text_svg(const char *sharding, char *buf, size_t n);
LZ_EXTERN_C_END

#ifdef __cplusplus
template <class... T> inline lz_partition_spec lz_partition_spec_of(T... axes)
{
    const char *const all[] = {axes...};
    return lz_partition_spec_make(static_cast<int>(sizeof...(axes)), all);
}
#endif
#endif
