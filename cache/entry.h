/* entry.h - the bytes of one cache entry (docs/reference/cache-format.md): writing them, and
 * reading them without trusting them.
 * Invariant: no sequence of bytes makes a reader read outside the bytes it was given, allocate, or
 *   loop longer than they are.
 * Units: bytes; all numbers in the file are little-endian.    Threads: pure functions. */
#ifndef LZ_CACHE_ENTRY_H
#define LZ_CACHE_ENTRY_H
#include "cache/blake3.h"
#include "cache/cache.h"
#include "cache/codec.h"

#define LZ_ENTRY_MAGIC "\x89LZC\r\n\x1a\n"
enum {
    LZ_ENTRY_SCHEMA = 2,
    LZ_ENTRY_SCHEMA_MAC = 3,  /* the same, with a MAC before the digest */
    LZ_ENTRY_PREFIX_LEN = 24, /* the same in every schema: magic, schema, header_len, file_len */
    LZ_ENTRY_HEADER_LEN = 40 + 4 * 32, /* with the section table */
    LZ_ENTRY_TRAILER_LEN = 16, /* the same in every schema: XXH3-128 of all bytes before it */
    LZ_ENTRY_MAX_BUILD = 256,  /* with the final NUL */
    LZ_ENTRY_MAX_ISA = 4096,
    LZ_ENTRY_MAX_KEY = 64 << 20,
    LZ_ENTRY_MAX_VALUE = 1 << 30,
    LZ_ENTRY_MAX_FILE = LZ_ENTRY_MAX_VALUE + LZ_ENTRY_MAX_KEY + (1 << 20),
};
typedef enum lz_entry_sec {
    LZ_SEC_BUILD,
    LZ_SEC_ISA,
    LZ_SEC_KEY,
    LZ_SEC_VALUE,
    LZ_SEC_COUNT
} lz_entry_sec;
enum { LZ_CODEC_RAW = 0, LZ_CODEC_ZSTD = 1 };

typedef struct lz_entry_section {
    uint32_t codec;
    uint64_t offset, csize, usize; /* csize: in the file; usize: when decompressed */
} lz_entry_section;

typedef struct lz_entry {
    uint32_t schema, header_len;
    uint64_t file_len;
    lz_cache_kind kind; /* from here on only when the schema is ours */
    int64_t created_unix_s;
    lz_entry_section sec[LZ_SEC_COUNT];
    const char *build, *isa; /* NUL-terminated views; NULL before lz_entry_parse */
    const uint8_t *key, *payload;
    const uint8_t *mac; /* NULL: the entry has none */
} lz_entry;

typedef enum lz_entry_verdict {
    LZ_ENTRY_OK,
    LZ_ENTRY_DAMAGED,
    LZ_ENTRY_FOREIGN /* another schema: intact as far as its frame goes, not for us */
} lz_entry_verdict;

/* Reads the header alone, from the first n bytes of a file of file_bytes bytes. *why (never NULL
 * afterwards) says what is wrong. A header that passes is consistent with file_bytes; n >=
 * LZ_ENTRY_HEADER_LEN is enough for every verdict but a damaged digest. */
lz_entry_verdict lz_entry_parse_header(const void *bytes, size_t n, uint64_t file_bytes,
                                       lz_entry *e, const char **why);
/* Reads a whole file: digest first, then header, sections and the header of the compressed
 * value. */
lz_entry_verdict lz_entry_parse(const void *bytes, size_t n, lz_entry *e, const char **why);
/* Whether a parsed entry, of these bytes, has a MAC and it is that of the key. */
bool lz_entry_is_signed(const lz_entry *e, const void *bytes, size_t n,
                        const uint8_t key[LZ_MAC_KEY_LEN]);
/* The value of a parsed entry into `dst` of sec[LZ_SEC_VALUE].usize bytes. LZ_ECORRUPT, LZ_EMEM. */
lz_status lz_entry_value(const lz_entry *e, lz_codec_pool *pool, void *dst);

/* Whether a file with an entry's name was written as one, however damaged it is by now, or holds
 * nothing (no bytes, or zeros, as a power failure leaves them): the only ones that may be removed.
 * head: its first n bytes, at least LZ_ENTRY_HEADER_LEN if it has as many. */
bool lz_entry_is_ours(const void *head, size_t n, uint64_t file_bytes);

typedef struct lz_entry_content {
    lz_cache_kind kind;
    int64_t created_unix_s;
    const char *build, *isa;
    const void *key, *value;
    size_t nkey, nvalue;
    const uint8_t *mac_key; /* of LZ_MAC_KEY_LEN bytes; NULL: without a MAC */
} lz_entry_content;
/* The bytes of a new entry: *bytes (lz_free it) and *n. LZ_ERANGE when a part is larger than the
 * format allows; LZ_EMEM. */
lz_status lz_entry_encode(const lz_entry_content *c, uint8_t **bytes, size_t *n);
/* Writes the digest of the first n - 16 bytes into the last 16 (n >= 16): the end of every
 * entry. */
void lz_entry_seal(uint8_t *bytes, size_t n);
#endif
