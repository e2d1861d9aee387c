/* data.h - arrays in files: NumPy, safetensors, IDX (MNIST), CIFAR, CSV, raw bytes.
 * Files are not trusted: every size in them is checked before it is used, nothing in them is ever
 * executed, and no file is opened because another one names a path. Readers map files where they
 * can, so reading copies nothing: a file must not be changed in place while arrays or an open
 * archive of it live (replace it by a rename, as the writers here do); what is no plain file is
 * refused (LZ_EINVAL). Reading takes at most twice the memory of what is truly in the file and 16
 * MiB, whatever it claims.
 * Writers replace files atomically: a temporary in the same folder, fsync, rename; on failure the
 * old file is intact. The mode of the old file stays, and its owner where the process may give it;
 * a symbolic link stays and what it leads to is replaced; other hard links keep the old contents. A
 * pipe that somebody reads, a terminal or another character device is written into, in order; a
 * directory or a block device is refused (LZ_EINVAL). Signals interrupt neither, and a pipe whose
 * reader has gone is LZ_EIO.
 * Errors of all: LZ_ENULL, LZ_EMEM, LZ_EIO, LZ_ENOENT, LZ_EPERM (the system's answers), LZ_EPARSE
 * and LZ_ECORRUPT (not the format; sizes that contradict each other), LZ_EDTYPE and LZ_ESHAPE (an
 * element type or rank that tensors have not), LZ_EUNSUPPORTED, LZ_ERANGE (too large). The message
 * names the file and the culprit.
 * Threads: every function may be called from any thread; an open archive may be read by many
 * threads at once.
 * Implemented in: data/array.c, data/npy.c, data/dataset_files.c, data/csv.c, data/zip.c,
 *   data/safetensors.c, data/safetensors_read.c, data/archive.c. */
#ifndef LAZULI_DATA_H
#define LAZULI_DATA_H
#include <lazuli/tensor.h>
LZ_EXTERN_C_BEGIN

/* ---- arrays in host memory ---- */
/* Elements in host memory, row-major. {0} is no array. Arrays that readers give own what they show:
 * lz_array_free ends them. A program may also fill one in for its own memory (owner NULL) and give
 * it to writers. */
typedef struct lz_array {
    lz_dtype dtype;
    lz_shape shape;
    size_t nbytes;
    void *data;  /* aligned for its dtype. Memory of a mapped file: not to be written */
    void *owner; /* the memory that lz_array_free releases */
} lz_array;
/* Releases the array's memory and makes it {0}. NULL is fine. */
LZ_API void lz_array_free(lz_array *a);
/* The tensor of an array, which it takes over (a becomes {0}, also on error). Without a copy where
 * the device can use the memory as it is: 64-byte aligned, as arrays of .npy files and fresh ones
 * are; else copied. */
LZ_API lz_tensor *lz_array_tensor_at(lz_array *a, const lz_site *site);
#define lz_array_tensor(a) lz_array_tensor_at(a, LZ_SITE)
/* Reads t (which executes what is needed) into a fresh array. On error *out is {0}. */
LZ_MUST_USE LZ_API lz_status lz_tensor_array_at(lz_tensor *t, lz_array *out, const lz_site *site);
#define lz_tensor_array(t, out) lz_tensor_array_at(t, out, LZ_SITE)
/* Reads n tensors of one device into as many fresh arrays: a snapshot, as lz_save_safetensors
 * writes one. On error all of out is {0}. */
LZ_MUST_USE LZ_API lz_status lz_tensor_arrays_at(lz_tensor *const *tensors, size_t n, lz_array *out,
                                                 const lz_site *site);
#define lz_tensor_arrays(tensors, n, out) lz_tensor_arrays_at(tensors, n, out, LZ_SITE)

/* ---- one array in a file. On error *out is {0} ---- */
/* NumPy's .npy, versions 1.0 to 3.0; C or Fortran order, either byte order. Booleans, integers,
 * f16, f32, f64, c64, c128; bf16 is stored as 2-byte void ("|V2"), f8e4m3fn as 1-byte void ("|V1"),
 * as ml_dtypes does, and f8e5m2 as 1-byte void with the other byte order (">V1"): numpy.load opens
 * all three, for `.view(ml_dtypes.float8_e5m2)`. ml_dtypes' own "<f1", which numpy.load refuses, is
 * read too. Object arrays are refused: they hold code. Source: numpy/lib/format.py. */
LZ_MUST_USE LZ_API lz_status lz_npy_read_at(const char *path, lz_array *out, const lz_site *site);
/* Writes an array as .npy version 1.0, in C order. */
LZ_MUST_USE LZ_API lz_status lz_npy_write_at(const char *path, const lz_array *a,
                                             const lz_site *site);
/* The same from n bytes in memory, which are copied. `name` stands for the file in messages. */
LZ_MUST_USE LZ_API lz_status lz_npy_decode_at(const void *bytes, size_t n, const char *name,
                                              lz_array *out, const lz_site *site);
/* IDX, the format of MNIST, plain or compressed by gzip (of several members, too): u8, i8, i16,
 * i32, f32, f64. Source: http://yann.lecun.com/exdb/mnist. */
LZ_MUST_USE LZ_API lz_status lz_idx_read_at(const char *path, lz_array *out, const lz_site *site);
/* CIFAR's binary version: images u8 [N, 3, 32, 32], labels u8 [N]. fine: the file is CIFAR-100's,
 * which has two labels an image; the second is read.
 * Source: https://www.cs.toronto.edu/~kriz/cifar.html. */
LZ_MUST_USE LZ_API lz_status lz_cifar_read_at(const char *path, bool fine, lz_array *images,
                                              lz_array *labels, const lz_site *site);
/* Numbers in text, a line each row, as [rows, columns]. All lines have as many numbers; empty lines
 * and what follows `comment` are skipped. Numbers as in C (also nan, inf); for an integer dtype
 * they must be whole and in its range. */
typedef struct lz_csv_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_csv_options));
    lz_dtype dtype LZ_DEFAULT(LZ_DTYPE_NONE); /* f32 (default), f64, or an integer dtype */
    char delimiter LZ_DEFAULT('\0');          /* default ','. ' ': any blanks */
    char comment LZ_DEFAULT('\0');            /* default '#' */
    int skip_lines LZ_DEFAULT(0);             /* headings */
} lz_csv_options;
LZ_MUST_USE LZ_API lz_status lz_csv_read_at(const char *path, const lz_csv_options *o,
                                            lz_array *out, const lz_site *site);
/* A file as it is: u8 [bytes]. */
LZ_MUST_USE LZ_API lz_status lz_bytes_read_at(const char *path, lz_array *out, const lz_site *site);
#define lz_npy_read(path, out) lz_npy_read_at(path, out, LZ_SITE)
#define lz_npy_write(path, a) lz_npy_write_at(path, a, LZ_SITE)
#define lz_npy_decode(bytes, n, name, out) lz_npy_decode_at(bytes, n, name, out, LZ_SITE)
#define lz_idx_read(path, out) lz_idx_read_at(path, out, LZ_SITE)
#define lz_cifar_read(path, fine, images, labels)                                                  \
    lz_cifar_read_at(path, fine, images, labels, LZ_SITE)
#define lz_csv_read(...) LZ_ARGS_csv_read(__VA_ARGS__, )
#define LZ_ARGS_csv_read(path, out, ...)                                                           \
    lz_csv_read_at(path, LZ_OPTIONS_OF(lz_csv_options, __VA_ARGS__), out, LZ_SITE)
#define lz_bytes_read(path, out) lz_bytes_read_at(path, out, LZ_SITE)

/* ---- named arrays in a file ---- */
typedef struct lz_archive lz_archive;
/* Opens NumPy's zip of .npy files for reading: NULL with an error recorded. Members may be stored
 * or deflated, also zip64; checksums are compared when an array is read. Names are without ".npy".
 * Other data may stand before the archive.
 * Source: APPNOTE.TXT 6.3. */
LZ_API lz_archive *lz_npz_open_at(const char *path, const lz_site *site);
/* Opens FILE.safetensors for reading, or the JSON index of a checkpoint in several files
 * (FILE.index.json), whose files stand in the index's own folder: NULL with an error recorded.
 * F8_E8M0 and F4 are read as u8, two numbers of F4 in each; a tensor of another dtype that Lazuli
 * has not, or of too many dimensions, is listed, and refused when it is asked for.
 * Source: https://github.com/huggingface/safetensors. */
LZ_API lz_archive *lz_safetensors_open_at(const char *path, const lz_site *site);
#define lz_npz_open(path) lz_npz_open_at(path, LZ_SITE)
#define lz_safetensors_open(path) lz_safetensors_open_at(path, LZ_SITE)
/* Closes an archive; arrays that were read stay. NULL is fine. */
LZ_API void lz_archive_close(lz_archive *a);
/* Number of arrays in the archive; 0 for NULL. */
LZ_API size_t lz_archive_len(const lz_archive *a);
/* Name of array i, in the order of the file; NULL beyond the end. Lives as long as a. */
LZ_API const char *lz_archive_name(const lz_archive *a, size_t i);
/* Whether the archive has an array of this name. */
LZ_API bool lz_archive_has(const lz_archive *a, const char *name);
/* What safetensors say about the file under __metadata__; NULL: nothing under this key. Lives as
 * long as a. */
LZ_API const char *lz_archive_metadata(const lz_archive *a, const char *key);
/* dtype and shape of an array, without reading its elements; dtype and shape may be NULL. LZ_ENOENT
 * when there is no such array. */
LZ_API lz_status lz_archive_info_at(const lz_archive *a, const char *name, lz_dtype *dtype,
                                    lz_shape *shape, const lz_site *site);
/* The array: a view of the mapped file, or a copy when it is compressed or lies unaligned.
 * LZ_ENOENT. */
LZ_MUST_USE LZ_API lz_status lz_archive_read_at(const lz_archive *a, const char *name,
                                                lz_array *out, const lz_site *site);
/* The array as a tensor on the default device. LZ_ENOENT, as an error tensor. */
LZ_API lz_tensor *lz_archive_tensor_at(const lz_archive *a, const char *name, const lz_site *site);
#define lz_archive_info(a, name, dtype, shape) lz_archive_info_at(a, name, dtype, shape, LZ_SITE)
#define lz_archive_read(a, name, out) lz_archive_read_at(a, name, out, LZ_SITE)
#define lz_archive_tensor(a, name) lz_archive_tensor_at(a, name, LZ_SITE)

/* Writes n arrays under distinct names. compress: deflate them. */
LZ_MUST_USE LZ_API lz_status lz_npz_write_at(const char *path, const char *const *names,
                                             const lz_array *arrays, size_t n, bool compress,
                                             const lz_site *site);
/* Writes n arrays under distinct names. metadata: nmetadata pairs of strings, key and value after
 * one another; may be NULL. Arrays are ordered by width and name, so that each lies aligned; the
 * first lies at a multiple of 64 bytes. */
LZ_MUST_USE LZ_API lz_status lz_safetensors_write_at(const char *path, const char *const *names,
                                                     const lz_array *arrays, size_t n,
                                                     const char *const *metadata, size_t nmetadata,
                                                     const lz_site *site);
/* The same of n tensors of one device, which are computed in one step and read one after the other.
 * A snapshot: while other threads train, the file holds the values of one moment between their
 * steps. What another running thread has assigned and not stepped (lz_mark_step) is not in it, and
 * the value of its last step is; what the calling thread has assigned is, stepped or not, and so is
 * what ended threads left. LZ_ESTALE when the value of the last step is gone, donated to a function
 * (jit.h) by a thread that has not stepped since. The other threads wait while the n handles are
 * gone through; the steps they make until the file is written do not update these tensors in place,
 * which takes memory for them once more, and the first of them compiles. */
LZ_MUST_USE LZ_API lz_status lz_save_safetensors_at(const char *path, const char *const *names,
                                                    lz_tensor *const *tensors, size_t n,
                                                    const char *const *metadata, size_t nmetadata,
                                                    const lz_site *site);
#define lz_npz_write(path, names, arrays, n, compress)                                             \
    lz_npz_write_at(path, names, arrays, n, compress, LZ_SITE)
#define lz_safetensors_write(path, names, arrays, n, metadata, nmetadata)                          \
    lz_safetensors_write_at(path, names, arrays, n, metadata, nmetadata, LZ_SITE)
#define lz_save_safetensors(path, names, tensors, n, metadata, nmetadata)                          \
    lz_save_safetensors_at(path, names, tensors, n, metadata, nmetadata, LZ_SITE)
LZ_EXTERN_C_END
#endif
