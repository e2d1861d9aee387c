/* pack.h - packs (.lzpack): entries of a cache in one file, so that a deployment ships programs
 * that are compiled. Exporting copies entries as they are; importing checks the whole pack, and
 * every entry in it as strictly as one that is read, before anything is stored.
 *
 * Bytes; numbers are little-endian. docs/reference/cache-format.md has the same.
 *      0  magic "\x89LZP\r\n\x1a\n"
 *      8  version (u32)           12  1: with a MAC, 0: without (u32)
 *     16  bytes of the file (u64)
 *     24  number of entries (u32) 28  bytes of the build id with its NUL (u32)
 *     32  build id, then the entries: bytes (u64), and the entry (entry.h)
 *         MAC (32 bytes, keyed BLAKE3 of all before it), if it has one
 *         XXH3-128 of all before it (16 bytes)
 * Invariant: no bytes make a reader read outside of what it was given, or allocate.
 * Threads: pure functions, but for those of a cache, which are thread-safe. */
#ifndef LZ_CACHE_PACK_H
#define LZ_CACHE_PACK_H
#include "base/vec.h"
#include "cache/entry.h"

#define LZ_PACK_MAGIC "\x89LZP\r\n\x1a\n"
enum {
    LZ_PACK_VERSION = 1,
    LZ_PACK_HEADER_LEN = 32,
    LZ_PACK_TRAILER_LEN = 16,
    LZ_PACK_MAX_ENTRIES = 1 << 20,
    LZ_PACK_MAX_FILE = 1 << 30
};

typedef struct lz_pack {
    const uint8_t *bytes;
    size_t n, end; /* end: of the entries */
    uint32_t count;
    const char *build;
    const uint8_t *mac; /* NULL: it has none */
    size_t first;       /* where the entries begin */
} lz_pack;

/* NULL, or why the bytes are no pack of this version. Every entry's place is checked; what is in
 * them is not. */
const char *lz_pack_open(const void *bytes, size_t n, lz_pack *out);
/* The entry at *at (at first p->first), which is moved on. False: that was all. */
bool lz_pack_next(const lz_pack *p, size_t *at, const uint8_t **entry, size_t *n);
bool lz_pack_is_signed(const lz_pack *p, const uint8_t key[LZ_MAC_KEY_LEN]);

/* Writing: begin, add each, end. out->failed: no memory. key: NULL: without a MAC. */
void lz_pack_begin(lz_buf *out, const char *build);
void lz_pack_add(lz_buf *out, const void *entry, size_t n);
void lz_pack_end(lz_buf *out, const uint8_t key[LZ_MAC_KEY_LEN]);

/* ---- of a cache ---- */

/* Reads the entry of a file name ("xx/yyyy.p") that this cache would use: intact, of its build and
 * with its key's MAC if it has a key. The bytes are appended to `bytes`, and *e points into them.
 * Errors: LZ_ENOENT no such file, LZ_ECORRUPT damaged, LZ_EUNSUPPORTED of another build, LZ_EPERM
 * without the MAC, LZ_EIO, LZ_EMEM. */
lz_status lz_cache_read_entry(lz_cache *c, const char *name, lz_buf *bytes, lz_entry *e);
/* A pack of the entries of these names, with a MAC if the cache has a key. Errors: as above,
 * LZ_ERANGE too many or too large. */
lz_status lz_cache_export(lz_cache *c, const char *const *names, uint32_t n, lz_buf *out);

/* Whether an entry is for this machine; LZ_EUNSUPPORTED says why it is not. */
typedef lz_status (*lz_pack_accept)(const lz_entry *e, void *user);
typedef struct lz_import_counts {
    uint32_t stored[LZ_CACHE_KINDS], there[LZ_CACHE_KINDS]; /* there: before */
} lz_import_counts;
/* Stores the entries of a pack, all or, when one is refused, none. Errors: LZ_ECORRUPT not a pack,
 * or one with a damaged entry; LZ_EUNSUPPORTED of another version or build, or refused by `accept`;
 * LZ_EPERM no MAC of the cache's key, or the cache is only read; LZ_EIO not all could be written.
 */
lz_status lz_cache_import(lz_cache *c, const void *bytes, size_t n, lz_pack_accept accept,
                          void *user, lz_import_counts *counts);
#endif
