/* eval_rng.c - reference evaluation of rng_bit_generator: Philox4x32-10 and Threefry2x32-20, laid
 * out as XLA does.
 * Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3. SC 2011. Known answers:
 * test/unit/ir/t_eval_rng.c.
 *
 * PHILOX: see the row of ops.def. A state of ui64[3] holds the key, then the 128-bit counter.
 * THREE_FRY: key state[0], counter state[1]. The result is cut in two halves along its first even
 * dimension, else along its first longest one; element i (row-major) of the halves' shape comes
 * from counter state[1] + i: word 0 goes to the even place along the cut dimension, word 1 to the
 * odd one. 64-bit elements take both words of counter state[1] + i. state[1] advances by the
 * number of counters used. Threads: pure. */
#include "ir/eval/eval.h"
#include <string.h>

void lz_philox4x32_10(const uint32_t ctr[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t x0 = ctr[0], x1 = ctr[1], x2 = ctr[2], x3 = ctr[3], k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = UINT64_C(0xD2511F53) * x0, p1 = UINT64_C(0xCD9E8D57) * x2;
        x0 = (uint32_t)(p1 >> 32) ^ x1 ^ k0;
        x1 = (uint32_t)p1;
        x2 = (uint32_t)(p0 >> 32) ^ x3 ^ k1;
        x3 = (uint32_t)p0;
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    out[0] = x0;
    out[1] = x1;
    out[2] = x2;
    out[3] = x3;
}

void lz_threefry2x32_20(const uint32_t ctr[2], const uint32_t key[2], uint32_t out[2])
{
    static const uint8_t rotation[8] = {13, 15, 26, 6, 17, 29, 16, 24};
    const uint32_t ks[3] = {key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDA};
    uint32_t x0 = ctr[0] + ks[0], x1 = ctr[1] + ks[1];
    for (unsigned round = 0; round < 20; round++) {
        unsigned r = rotation[round % 8];
        x0 += x1;
        x1 = (x1 << r | x1 >> (32 - r)) ^ x0;
        if (round % 4 == 3) {
            unsigned s = round / 4 + 1;
            x0 += ks[s % 3];
            x1 += ks[(s + 1) % 3] + s;
        }
    }
    out[0] = x0;
    out[1] = x1;
}

/* Words of a counter, least significant first. */
static void split64(uint64_t v, uint32_t w[2])
{
    w[0] = (uint32_t)v;
    w[1] = (uint32_t)(v >> 32);
}

/* Stores the random bits of element i: the low bits of `v`. */
static void put(const lz_type *t, void *p, int64_t i, uint64_t v)
{
    size_t esize = lz_dtype_size(t->dtype);
    if (t->dtype == LZ_BOOL)
        v &= 1;
    if (lz_dtype_is_narrow(t->dtype))
        v = lz_dtype_wrap(t->dtype, v);
    memcpy((char *)p + (size_t)i * esize, &v, esize); /* little-endian */
}

static void philox(const uint64_t *state, int nstate, uint64_t *new_state, const lz_type *t,
                   void *p)
{
    bool wide = lz_dtype_size(t->dtype) == 8;
    int64_t per = wide ? 2 : 4;
    int64_t nblock = t->nelem / per + (t->nelem % per != 0);
    uint64_t lo = state[1], hi = nstate == 3 ? state[2] : state[0];
    uint32_t key[2], ctr[4], out[4];
    split64(state[0], key);
    for (int64_t b = 0; b < nblock; b++) {
        uint64_t clo = lo + (uint64_t)b;
        split64(clo, ctr);
        split64(hi + (clo < lo), ctr + 2);
        lz_philox4x32_10(ctr, key, out);
        for (int64_t j = 0; j < per && b * per + j < t->nelem; j++)
            put(t, p, b * per + j, wide ? out[2 * j] | (uint64_t)out[2 * j + 1] << 32 : out[j]);
    }
    new_state[1] = lo + (uint64_t)nblock;
    if (nstate == 3)
        new_state[2] = hi + (new_state[1] < lo);
}

int lz_threefry_cut_dim(const lz_shape *s)
{
    int longest = 0;
    for (int d = 0; d < s->rank; d++)
        if (s->dims[d] % 2 == 0)
            return d;
    for (int d = 1; d < s->rank; d++)
        if (s->dims[d] > s->dims[longest])
            longest = d;
    return longest;
}

static uint64_t threefry_narrow(const uint64_t *state, const uint32_t key[2], const lz_type *t,
                                void *p)
{
    lz_shape half = t->shape;
    int cut = lz_threefry_cut_dim(&half);
    int64_t strides[LZ_MAX_RANK], whole = half.rank ? half.dims[cut] : 1;
    lz_ref_strides(&t->shape, strides);
    if (half.rank)
        half.dims[cut] = whole / 2 + whole % 2;
    uint64_t n = 0;
    for (lz_ref_walk w = lz_ref_walk_of(half.rank, half.dims); w.more; lz_ref_walk_next(&w), n++) {
        uint32_t ctr[2], out[2];
        split64(state[1] + n, ctr);
        lz_threefry2x32_20(ctr, key, out);
        if (half.rank == 0) {
            put(t, p, 0, out[0]);
            continue;
        }
        int64_t pair = w.idx[cut] * 2;
        w.idx[cut] = pair;
        int64_t at = lz_ref_dot_index(half.rank, w.idx, strides);
        w.idx[cut] = pair / 2;
        put(t, p, at, out[0]);
        if (pair + 1 < whole)
            put(t, p, at + strides[cut], out[1]);
    }
    return n;
}

static uint64_t threefry_wide(const uint64_t *state, const uint32_t key[2], const lz_type *t,
                              void *p)
{
    for (int64_t i = 0; i < t->nelem; i++) {
        uint32_t ctr[2], out[2];
        split64(state[1] + (uint64_t)i, ctr);
        lz_threefry2x32_20(ctr, key, out);
        put(t, p, i, out[0] | (uint64_t)out[1] << 32);
    }
    return (uint64_t)t->nelem;
}

lz_status lz_ref_rng(const lz_ref_call *c)
{
    const lz_type *st = c->sig->opnd[0], *t = c->sig->result[1];
    bool fry = LZ_ATTR(rng, c->sig->attr)->rng_algorithm == LZ_RNG_THREE_FRY;
    if (st->dtype != LZ_U64 || st->nelem < 2 || st->nelem > (fry ? 2 : 3))
        return LZ_FAIL(LZ_EUNSUPPORTED,
                       "rng_bit_generator: a state of %lld elements of %s; ui64[2] is needed",
                       (long long)st->nelem, lz_dtype_name(st->dtype));
    LZ_TRY(lz_ref_alloc(c));
    const uint64_t *state = c->opnd[0]->data;
    uint64_t *new_state = c->result[0]->data;
    void *p = c->result[1]->data;
    memcpy(new_state, state, c->result[0]->nbytes);
    if (!fry) {
        philox(state, (int)st->nelem, new_state, t, p);
        return LZ_OK;
    }
    uint32_t key[2];
    split64(state[0], key);
    new_state[1] += lz_dtype_size(t->dtype) == 8 ? threefry_wide(state, key, t, p)
                                                 : threefry_narrow(state, key, t, p);
    return LZ_OK;
}
