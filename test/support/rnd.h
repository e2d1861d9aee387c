/* rnd.h - the tests' random numbers: splitmix64, so a seed says everything. Threads:
 * thread-compatible. */
#ifndef LZ_TEST_RND_H
#define LZ_TEST_RND_H
#include <stdbool.h>
#include <stdint.h>

typedef struct lz_rnd {
    uint64_t s;
} lz_rnd;

static inline uint64_t lz_rnd_u64(lz_rnd *r)
{
    uint64_t z = r->s += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}
/* lo .. hi, both included; lo <= hi. */
static inline int64_t lz_rnd_range(lz_rnd *r, int64_t lo, int64_t hi)
{
    return lo + (int64_t)(lz_rnd_u64(r) % ((uint64_t)(hi - lo) + 1));
}
static inline double lz_rnd_unit(lz_rnd *r) /* [0, 1) */
{
    return (double)(lz_rnd_u64(r) >> 11) * 0x1p-53;
}
static inline bool lz_rnd_chance(lz_rnd *r, int percent)
{
    return lz_rnd_range(r, 1, 100) <= percent;
}
/* 0 .. n-1 in random order. */
static inline void lz_rnd_shuffle(lz_rnd *r, int n, int *v)
{
    for (int i = 0; i < n; i++)
        v[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int j = (int)lz_rnd_range(r, 0, i), t = v[i];
        v[i] = v[j];
        v[j] = t;
    }
}
#endif
