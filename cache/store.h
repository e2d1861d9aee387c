/* store.h - the cache's directory: names, trust checks, reading one file, publishing one file.
 * Knows nothing of what is in the files.
 *     <root>/CACHEDIR.TAG        tells backup programs to skip the directory
 *     <root>/lock                held (flock) by the process that evicts
 *     <root>/tmp/<pid>-<rand>-<n> files being written
 *     <root>/tmp/<32 hex>.<p|k|c>.lease   entries being compiled (lease.h)
 *     <root>/<2 hex>/<30 hex>.<p|k|c>[1-3]   entries
 * Everything is reached from one descriptor of <root>, and nothing below it is reached through a
 * symlink.
 * Threads: an open store is thread-safe. */
#ifndef LZ_CACHE_STORE_H
#define LZ_CACHE_STORE_H
#include "cache/cache.h"
#include <stdatomic.h>
#include <sys/types.h>

enum { LZ_STORE_NAME_LEN = 40, LZ_STORE_SLOTS = 4, LZ_STORE_SUBDIRS = 256, LZ_STORE_SMALL = 4096 };

typedef struct lz_store {
    int root;    /* -1: no directory. The number stays; reopening swaps the file behind it. */
    char *path;  /* absolute */
    uid_t owner; /* of root: this user, or 0 for a directory that is only read */
    bool read_only, sync;
    uint64_t salt; /* random, for names of temporary files */
    _Atomic uint64_t next_temp;
    _Atomic int reopening; /* pid of the process whose thread reopens root, 0: none */
    atomic_bool tagged;    /* nothing more to do about CACHEDIR.TAG */
} lz_store;

/* Opens `path`, making it (0700, with its parents, and CACHEDIR.TAG) unless read_only. On failure
 * s->root is -1 and the record says why: LZ_EPERM when the directory must not be trusted, LZ_ENOENT
 * when it is not there and only to be read, LZ_EIO else. */
lz_status lz_store_open(lz_store *s, const char *path, bool read_only, bool sync);
void lz_store_close(lz_store *s);

/* "xx/yyyy.k" for the digest; slot 0 has no suffix, the others "1" to "3". */
void lz_store_name(lz_hash digest, lz_cache_kind kind, int slot, char name[LZ_STORE_NAME_LEN]);
bool lz_store_is_entry(const char *file_name); /* the part after the slash */
bool lz_store_is_temp(const char *file_name);  /* of a file in tmp that is being written */
bool lz_store_is_part(const char *file_name);  /* what the store itself makes in its root */
bool lz_store_is_tagged(const lz_store *s); /* with our CACHEDIR.TAG: the directory is ours alone */

typedef enum lz_store_result {
    LZ_STORE_OK,
    LZ_STORE_ABSENT,
    LZ_STORE_OTHER,   /* no file, or one that was never an entry: somebody else's, left alone */
    LZ_STORE_DAMAGED, /* an entry that cannot be used any more */
    LZ_STORE_SKIP,    /* cannot be read now (permissions, I/O error, memory): leave it alone */
    LZ_STORE_EXISTS,
    LZ_STORE_FAILED
} lz_store_result;

/* One file, read whole. bytes points into `small` when it fits. Large: keep it on the stack of one
 * call at a time. */
typedef struct lz_store_file {
    int fd;
    uint8_t *bytes;
    size_t n;
    uint64_t dev, ino; /* 0, 0: unknown */
    int64_t mtime_unix_s;
    const char *why; /* for anything but LZ_STORE_OK */
    uint8_t small[LZ_STORE_SMALL] __attribute__((aligned(16)));
} lz_store_file;
/* Says from a file's first bytes whether reading the rest makes sense; *why is set when it does
 * not. */
typedef bool (*lz_store_probe)(const uint8_t *head, size_t n, uint64_t file_bytes,
                               const char **why);
/* Opens, checks (regular, ours, not writable by others, one link, size within [min, max]) and
 * reads. Never blocks. Call lz_store_file_done whatever the result. head_only: at most
 * LZ_STORE_SMALL bytes are read; f->n says how many. *file_bytes (may be NULL) is the size of the
 * file. A file that fails a check is LZ_STORE_OTHER unless its head (lz_entry_is_ours) says that it
 * was an entry. */
lz_store_result lz_store_read(lz_store *s, const char *name, uint64_t min_bytes, uint64_t max_bytes,
                              bool head_only, lz_store_probe probe, lz_store_file *f,
                              uint64_t *file_bytes);
void lz_store_file_done(lz_store_file *f);

/* Whether the file `name` of the open directory was an entry: as lz_entry_is_ours. An entry's name
 * alone does not make it one. *err: why it is not known (then false), else 0. */
bool lz_store_holds_entry(int dir, const char *name, int *err);
/* Removes what `f` was read from, unless another file has taken its place by now. */
void lz_store_remove(lz_store *s, const char *name, const lz_store_file *f);
/* Writes a new file under `name` so that no reader sees a part of it and an existing one stays:
 * LZ_STORE_OK, LZ_STORE_EXISTS, or LZ_STORE_FAILED with *err (an errno). A removed directory is
 * made anew, once. */
lz_store_result lz_store_publish(lz_store *s, const char *name, const void *bytes, size_t n,
                                 int *err);

/* Descriptor of subdirectory 0..255, or of tmp (-1). -1 and errno; what stands in its place stays.
 */
int lz_store_subdir(lz_store *s, int index, bool create);
enum { LZ_STORE_TMP = -1 };
#endif
