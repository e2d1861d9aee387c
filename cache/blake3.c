/* blake3.c - see blake3.h. The library's files are one translation unit of ours, compiled with our
 * flags: its functions are hidden like ours, so a program that has BLAKE3 itself keeps its own. */
#include "cache/blake3.h"

#define BLAKE3_API
#define BLAKE3_PRIVATE
#define BLAKE3_NO_SSE2
#define BLAKE3_NO_SSE41
#define BLAKE3_NO_AVX2
#define BLAKE3_NO_AVX512
#define BLAKE3_USE_NEON 0
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
/* Where vectors are known to be of one lane, which the compiler sees outside of x86. */
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include "third_party/blake3/blake3.c"
#include "third_party/blake3/blake3_dispatch.c"
#include "third_party/blake3/blake3_portable.c"
#pragma GCC diagnostic pop

void lz_mac(const uint8_t key[LZ_MAC_KEY_LEN], const void *p, size_t n, uint8_t out[LZ_MAC_LEN])
{
    blake3_hasher h;
    blake3_hasher_init_keyed(&h, key);
    blake3_hasher_update(&h, p, n);
    blake3_hasher_finalize(&h, out, LZ_MAC_LEN);
}

void lz_mac_derive_key(const char *purpose, const void *secret, size_t n,
                       uint8_t out[LZ_MAC_KEY_LEN])
{
    blake3_hasher h;
    blake3_hasher_init_derive_key(&h, purpose);
    blake3_hasher_update(&h, secret, n);
    blake3_hasher_finalize(&h, out, LZ_MAC_KEY_LEN);
}

bool lz_mac_equal(const uint8_t a[LZ_MAC_LEN], const uint8_t b[LZ_MAC_LEN])
{
    volatile uint8_t different = 0; /* the compiler must not stop at the first */
    for (int i = 0; i < LZ_MAC_LEN; i++)
        different = (uint8_t)(different | (a[i] ^ b[i]));
    return different == 0;
}

void lz_blake3(const void *p, size_t n, uint8_t out[LZ_MAC_LEN])
{
    blake3_hasher h;
    blake3_hasher_init(&h);
    blake3_hasher_update(&h, p, n);
    blake3_hasher_finalize(&h, out, LZ_MAC_LEN);
}
