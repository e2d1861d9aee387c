/* mac_key.h - the key of a shared cache. Whoever can write into a cache decides what code its
 * readers run (docs/reference/cache-format.md, "Trust"); with a key they run only what was stored
 * by somebody who has it. The key comes from a file that only its owner can read.
 * Threads: pure functions. */
#ifndef LZ_CACHE_MAC_KEY_H
#define LZ_CACHE_MAC_KEY_H
#include "cache/blake3.h"
#include "base/status.h"

enum { LZ_KEY_FILE_MIN = 32, LZ_KEY_FILE_MAX = 4096 };

/* The key that the bytes of the file give.
 * Errors: LZ_EINVAL it cannot be read, is no regular file, is another user's (root's is fine), can
 * be read or written by group or others, or is too short or long. */
lz_status lz_mac_key_read(const char *path, uint8_t key[LZ_MAC_KEY_LEN]);
#endif
