/* blake3.h - BLAKE3, keyed: message authentication codes of bytes that are trusted only when they
 * were written by who has the key. The implementation is the official one in portable C
 * (third_party/blake3, which says why it is compiled in). XXH3 (base/hash.h) is for everything that
 * nobody forges.
 * Threads: pure functions. */
#ifndef LZ_CACHE_BLAKE3_H
#define LZ_CACHE_BLAKE3_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LZ_MAC_LEN = 32, LZ_MAC_KEY_LEN = 32 };

/* The keyed hash of n bytes. */
void lz_mac(const uint8_t key[LZ_MAC_KEY_LEN], const void *p, size_t n, uint8_t out[LZ_MAC_LEN]);
/* A key for one use, from secret bytes of any length (BLAKE3's key derivation). purpose: a literal
 * that nothing else has. */
void lz_mac_derive_key(const char *purpose, const void *secret, size_t n,
                       uint8_t out[LZ_MAC_KEY_LEN]);
/* Whether two codes are equal, in a time that does not depend on where they differ. */
bool lz_mac_equal(const uint8_t a[LZ_MAC_LEN], const uint8_t b[LZ_MAC_LEN]);
/* The hash without a key. */
void lz_blake3(const void *p, size_t n, uint8_t out[LZ_MAC_LEN]);
#endif
