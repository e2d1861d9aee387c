/* loader.h - data sets and the loader that brings them to the device in batches, prepared by
 * threads of its own.
 * The words are PyTorch's (Dataset, DataLoader) and PyTorch/XLA's (MpDeviceLoader): a loader that
 * marks the step is a whole training loop:
 *
 *     lz_loader_begin(loader, epoch, 0);
 *     while (lz_loader_next(loader, batch)) {
 *         lz_scope_begin();
 *         ...
 *         lz_optim_step(o);
 *         lz_scope_end();
 *     }
 *
 * Threads: a data set is read by many threads at once; a loader belongs to one thread at a time,
 * whose default device it feeds.
 * Implemented in: data/dataset.c, data/loader.c. */
#ifndef LAZULI_LOADER_H
#define LAZULI_LOADER_H
#include <lazuli/data.h>
LZ_EXTERN_C_BEGIN

/* ---- data sets ---- */
enum { LZ_MAX_FIELDS = 8 };
typedef struct lz_field { /* one tensor of a sample */
    lz_dtype dtype;
    lz_shape shape;
} lz_field;
/* Samples by index. A program may fill one in: `get` writes sample `index` (0..len-1) to out[f],
 * which has room for field f; it is called from several threads at once, and gives LZ_OK or a
 * status, which ends the epoch. It may call the library, but not the loader that it is called for:
 * LZ_ESTATE (lz_loader_next: false; lz_loader_free does nothing). */
typedef struct lz_dataset {
    size_t struct_size LZ_DEFAULT(sizeof(lz_dataset));
    int64_t len LZ_DEFAULT(0);                    /* how many samples */
    int nfields LZ_DEFAULT(0);                    /* tensors of a sample, 1..LZ_MAX_FIELDS */
    lz_field field[LZ_MAX_FIELDS] LZ_DEFAULT({}); /* their types, without the batch */
    /* writes a sample; see above */
    lz_status (*get)(void *user, int64_t index, void *const *out) LZ_DEFAULT(nullptr);
    void (*destroy)(void *user) LZ_DEFAULT(nullptr); /* called by lz_dataset_free; may be NULL */
    void *user LZ_DEFAULT(nullptr);                  /* for get and destroy */
} lz_dataset;
/* Sample i is row i of each of n arrays with equal first extents. Takes the arrays over (they
 * become {0}, also on error). LZ_ENULL, LZ_EINVAL (n), LZ_ESHAPE, LZ_EMEM. */
LZ_API lz_status lz_dataset_of_arrays_at(lz_array *arrays, int n, lz_dataset *out,
                                         const lz_site *site);
/* len made-up samples, the same for the same seed: floats in [0, 1), integers in 0..classes-1,
 * booleans. LZ_ENULL, LZ_EINVAL, LZ_EDTYPE, LZ_ESHAPE, LZ_EMEM. */
LZ_API lz_status lz_dataset_fake_at(int64_t len, const lz_field *fields, int n, int64_t classes,
                                    uint64_t seed, lz_dataset *out, const lz_site *site);
/* Ends a data set, after its loaders. NULL is fine. */
LZ_API void lz_dataset_free(lz_dataset *d);
#define lz_dataset_of_arrays(arrays, n, out) lz_dataset_of_arrays_at(arrays, n, out, LZ_SITE)
#define lz_dataset_fake(len, fields, n, classes, seed, out)                                        \
    lz_dataset_fake_at(len, fields, n, classes, seed, out, LZ_SITE)

/* The order of an epoch: a random permutation of 0..len-1 that depends on seed and epoch only.
 * order has room for len. */
LZ_API void lz_shuffled(int64_t *order, int64_t len, uint64_t seed, int64_t epoch);

/* ---- the loader ---- */
typedef struct lz_loader lz_loader;
typedef struct lz_loader_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_loader_options));
    int64_t batch_size LZ_DEFAULT(1); /* samples in a batch */
    bool shuffle LZ_DEFAULT(false);   /* another order in each epoch: lz_shuffled */
    /* leave a last, smaller batch out: it would be another graph */
    bool drop_last LZ_DEFAULT(false);
    uint64_t seed LZ_DEFAULT(0);             /* of lz_shuffled */
    int num_workers LZ_DEFAULT(1);           /* threads that read samples, 1..64 */
    int loader_prefetch_size LZ_DEFAULT(16); /* batches ready in host memory, 1..1024 */
    /* batches on the device before they are asked for, 1..1024 */
    int device_prefetch_size LZ_DEFAULT(8);
    /* lz_loader_next marks the step after every this many batches, and at the end; 0: never */
    int batches_per_execution LZ_DEFAULT(1);
    /* of every num_shards batches this loader takes number `shard`; an incomplete last group is
     * left out */
    int num_shards LZ_DEFAULT(1);
    /* of every num_shards batches this loader takes number `shard`; an incomplete last group is
     * left out */
    int shard LZ_DEFAULT(0);
} lz_loader_options;
#define LZ_LOADER_DEFAULTS                                                                         \
    .batch_size = 1, .num_workers = 1, .loader_prefetch_size = 16, .device_prefetch_size = 8,      \
    .batches_per_execution = 1, .num_shards = 1
/* The data set must outlive the loader. NULL with an error recorded: LZ_ENULL, LZ_EINVAL (names the
 * option), LZ_EMEM. */
LZ_API lz_loader *lz_loader_new_at(const lz_dataset *d, const lz_loader_options *o,
                                   const lz_site *site);
#define lz_loader_new(...) LZ_ARGS_loader_new(__VA_ARGS__, )
#define LZ_ARGS_loader_new(d, ...)                                                                 \
    LZ_OVERRIDING(lz_loader_new_at(                                                                \
        d, LZ_DEFAULTED(lz_loader_options, LZ_LOADER_DEFAULTS, __VA_ARGS__), LZ_SITE))
/* Batches in an epoch; 0 for NULL. */
LZ_API int64_t lz_loader_len(const lz_loader *l);
/* Starts an epoch, at its batch number first_batch (not 0 when a training is continued). What was
 * left of the one before is dropped. LZ_ENULL, LZ_ERANGE, LZ_EMEM. */
LZ_API lz_status lz_loader_begin_at(lz_loader *l, int64_t epoch, int64_t first_batch,
                                    const lz_site *site);
#define lz_loader_begin(l, epoch, first_batch) lz_loader_begin_at(l, epoch, first_batch, LZ_SITE)
/* The next batch: one tensor [batch, ..] for each field in out, which belong to the loader and stay
 * until the next call. False at the end of the epoch, or after a failure: lz_loader_status tells
 * them apart. */
LZ_API bool lz_loader_next_at(lz_loader *l, lz_tensor **out, const lz_site *site);
#define lz_loader_next(l, out) lz_loader_next_at(l, out, LZ_SITE)
/* LZ_OK, or the failure that ended the epoch (a sample's, the step's), which it records again;
 * LZ_ENULL */
LZ_API lz_status lz_loader_status(const lz_loader *l);
/* Ends a loader and its threads. NULL is fine. */
LZ_API void lz_loader_free(lz_loader *l);
LZ_EXTERN_C_END
#endif
