/* simt_warp.c - what the threads of a warp do together on NVIDIA's processors, as the manual of PTX
 * says it, on this one: shuffles, matrices from shared memory, products of small matrices; and
 * copies to shared memory that go on by themselves: they are done as late as the waiting allows,
 * and what they will overwrite is spoilt before. Threads: one launch at a time. */
#include "test/mock/simt_warp.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WARPS = EMU_THREADS / SIMT_WARP, WORDS = 6, COPIES = 64 };

static union {
    uint32_t word;
    const void *row;
    uint64_t frag[WORDS];
} given[WARPS][2][SIMT_WARP];

typedef struct copy {
    void *to;
    const void *from;
    uint32_t width, bytes;
    bool ends_group;
} copy;
static struct {
    copy c[COPIES];
    uint32_t n;
} copies[EMU_THREADS];

void emu_warp_reset(void)
{
    for (int i = 0; i < EMU_THREADS; i++)
        copies[i].n = 0;
}

static uint32_t lane_of(const lz_simt_thread *t)
{
    return t->tid % SIMT_WARP;
}

uint32_t lz_simt_shuffle(lz_simt_thread *t, uint32_t v, uint32_t x);
uint32_t lz_simt_shuffle(lz_simt_thread *t, uint32_t v, uint32_t x)
{
    uint32_t turn = emu_warp_turn(t), w = emu_slot(t) / SIMT_WARP;
    given[w][turn][lane_of(t)].word = v;
    emu_warp_meet(t);
    return given[w][turn][lane_of(t) ^ x].word;
}

/* ---- matrices from shared memory ---- */

void lz_simt_ldmatrix(lz_simt_thread *t, const void *row, uint32_t transposed, uint64_t *out);
void lz_simt_ldmatrix(lz_simt_thread *t, const void *row, uint32_t transposed, uint64_t *out)
{
    uint32_t turn = emu_warp_turn(t), w = emu_slot(t) / SIMT_WARP, l = lane_of(t);
    given[w][turn][l].row = row;
    emu_warp_meet(t);
    for (uint32_t m = 0; m < 4; m++) {
        uint16_t e[2];
        for (uint32_t i = 0; i < 2; i++) {
            uint32_t r = transposed ? 2 * (l % 4) + i : l / 4,
                     c = transposed ? l / 4 : 2 * (l % 4) + i;
            memcpy(&e[i], (const char *)given[w][turn][8 * m + r].row + 2 * c, 2);
        }
        out[m] = e[0] | (uint32_t)e[1] << 16;
    }
}

/* ---- products of small matrices ---- */

float emu_bf16(uint32_t bits)
{
    uint32_t w = bits << 16;
    float f;
    memcpy(&f, &w, sizeof f);
    return f;
}

float emu_f16(uint32_t h)
{
    uint32_t e = h >> 10 & 31, m = h & 1023;
    float f = e == 31 ? (m ? NAN : INFINITY)
              : e     ? ldexpf((float)(m + 1024), (int)e - 25)
                      : ldexpf((float)m, -24);
    return h >> 15 ? -f : f;
}

/* Element (row, k) of a factor with `each` elements per word: word k / each % 4 of the row's lanes;
 * further words for k from 4 each on, rows from 8 on come second. */
static uint32_t element(uint32_t w, uint32_t turn, uint32_t base, uint32_t rows, uint32_t row,
                        uint32_t k, uint32_t each)
{
    uint32_t lane = row % 8 * 4 + k / each % 4, word = row / 8 + rows / 8 * (k / each / 4),
             bits = 32 / each;
    uint32_t v = (uint32_t)given[w][turn][lane].frag[base + word] >> k % each * bits;
    return bits == 32 ? v : v & ((1u << bits) - 1);
}

static void multiply_floats(uint32_t w, uint32_t turn, uint32_t l, bool half, uint64_t *c)
{
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t row = l / 4 + i / 2 * 8, column = 2 * (l % 4) + i % 2;
        double sum = 0;
        float old, now;
        memcpy(&old, &c[i], sizeof old);
        for (uint32_t k = 0; k < 16; k++) {
            uint32_t x = element(w, turn, 0, 16, row, k, 2),
                     y = element(w, turn, 4, 8, column, k, 2);
            sum += half ? (double)emu_f16(x) * emu_f16(y) : (double)emu_bf16(x) * emu_bf16(y);
        }
        now = (float)(sum + old);
        memcpy(&c[i], &now, sizeof now);
    }
}

static void multiply_bytes(uint32_t w, uint32_t turn, uint32_t l, bool is_signed, uint64_t *c)
{
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t row = l / 4 + i / 2 * 8, column = 2 * (l % 4) + i % 2, sum = (uint32_t)c[i];
        for (uint32_t k = 0; k < 32; k++) {
            uint32_t x = element(w, turn, 0, 16, row, k, 4),
                     y = element(w, turn, 4, 8, column, k, 4);
            sum += is_signed ? (uint32_t)((int8_t)x * (int8_t)y) : x * y;
        }
        memcpy(&c[i], &sum, sizeof sum);
    }
}

float lz_simt_exp2(float x);
float lz_simt_exp2(float x)
{
    float y = exp2f(x);
    return y < 0x1p-126f ? 0 : y;
}

uint32_t emu_round_tf32(uint32_t word)
{
    bool finite = (word & 0x7f800000) != 0x7f800000;
    return finite ? (word + 0xfff + (word >> 13 & 1)) & ~0x1fffu : word;
}

uint32_t lz_simt_round_tf32(uint32_t word);
uint32_t lz_simt_round_tf32(uint32_t word)
{
    return emu_round_tf32(word);
}

/* f32 whose last 13 bits are not looked at. */
static void multiply_tf32(uint32_t w, uint32_t turn, uint32_t l, uint64_t *c)
{
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t row = l / 4 + i / 2 * 8, column = 2 * (l % 4) + i % 2;
        double sum = 0;
        float old, now, x, y;
        memcpy(&old, &c[i], sizeof old);
        for (uint32_t k = 0; k < 8; k++) {
            uint32_t a = element(w, turn, 0, 16, row, k, 1) & ~0x1fffu,
                     b = element(w, turn, 4, 8, column, k, 1) & ~0x1fffu;
            memcpy(&x, &a, sizeof x);
            memcpy(&y, &b, sizeof y);
            sum += (double)x * y;
        }
        now = (float)(sum + old);
        memcpy(&c[i], &now, sizeof now);
    }
}

static void multiply_doubles(uint32_t w, uint32_t turn, uint32_t l, uint64_t *c)
{
    for (uint32_t i = 0; i < 2; i++) {
        double sum, x, y;
        memcpy(&sum, &c[i], sizeof sum);
        for (uint32_t k = 0; k < 4; k++) {
            memcpy(&x, &given[w][turn][l / 4 * 4 + k].frag[0], sizeof x);
            memcpy(&y, &given[w][turn][(2 * (l % 4) + i) * 4 + k].frag[4], sizeof y);
            sum = fma(x, y, sum);
        }
        memcpy(&c[i], &sum, sizeof sum);
    }
}

void lz_simt_mma(lz_simt_thread *t, uint32_t dtype, uint64_t *words);
void lz_simt_mma(lz_simt_thread *t, uint32_t dtype, uint64_t *words)
{
    uint32_t turn = emu_warp_turn(t), w = emu_slot(t) / SIMT_WARP, l = lane_of(t);
    memcpy(given[w][turn][l].frag, words, sizeof given[w][turn][l].frag);
    emu_warp_meet(t);
    if (dtype == LZ_F64)
        multiply_doubles(w, turn, l, words + WORDS);
    else if (dtype == LZ_F32)
        multiply_tf32(w, turn, l, words + WORDS);
    else if (dtype == LZ_I8 || dtype == LZ_U8)
        multiply_bytes(w, turn, l, dtype == LZ_I8, words + WORDS);
    else
        multiply_floats(w, turn, l, dtype == LZ_F16, words + WORDS);
}

/* ---- copies ---- */

static void finish_copies(uint32_t tid, uint32_t n)
{
    copy *c = copies[tid].c;
    for (uint32_t i = 0; i < n; i++) {
        if (!c[i].width)
            continue;
        emu_group_copied(tid);
        memset(c[i].to, 0, c[i].width);
        if (c[i].bytes)
            memcpy(c[i].to, c[i].from, c[i].bytes);
    }
    copies[tid].n -= n;
    memmove(c, c + n, copies[tid].n * sizeof *c);
}

static copy *another(uint32_t tid)
{
    if (copies[tid].n == COPIES)
        finish_copies(tid, COPIES / 2); /* the hardware may be done at any time */
    return &copies[tid].c[copies[tid].n++];
}

void lz_simt_copy(lz_simt_thread *t, void *to, const void *from, uint32_t width, uint32_t bytes);
void lz_simt_copy(lz_simt_thread *t, void *to, const void *from, uint32_t width, uint32_t bytes)
{
    bool wide = width == 16, aligned = ((uintptr_t)to | (bytes ? (uintptr_t)from : 0)) % width == 0;
    if (bytes > width || !aligned || (!wide && width != 4 && width != 8))
        abort();
    *another(emu_slot(t)) = (copy){to, from, width, bytes, false};
    memset(to, 0xA5, width);
}

void lz_simt_copies_end_group(lz_simt_thread *t);
void lz_simt_copies_end_group(lz_simt_thread *t)
{
    *another(emu_slot(t)) = (copy){.ends_group = true};
}

void lz_simt_copies_wait(lz_simt_thread *t, uint32_t n);
void lz_simt_copies_wait(lz_simt_thread *t, uint32_t n)
{
    uint32_t groups = 0, upto = 0;
    for (uint32_t i = 0; i < copies[emu_slot(t)].n; i++)
        groups += copies[emu_slot(t)].c[i].ends_group;
    while (groups > n)
        groups -= copies[emu_slot(t)].c[upto++].ends_group;
    finish_copies(emu_slot(t), upto);
}

void *emu_warp_symbol(const char *name)
{
    static const struct {
        const char *name;
        void (*fn)(void);
    } all[] = {{"lz_simt_shuffle", (void (*)(void))lz_simt_shuffle},
               {"lz_simt_ldmatrix", (void (*)(void))lz_simt_ldmatrix},
               {"lz_simt_round_tf32", (void (*)(void))lz_simt_round_tf32},
               {"lz_simt_exp2", (void (*)(void))lz_simt_exp2},
               {"lz_simt_mma", (void (*)(void))lz_simt_mma},
               {"lz_simt_copy", (void (*)(void))lz_simt_copy},
               {"lz_simt_copies_end_group", (void (*)(void))lz_simt_copies_end_group},
               {"lz_simt_copies_wait", (void (*)(void))lz_simt_copies_wait}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(name, all[i].name) == 0)
            return (void *)(uintptr_t)all[i].fn;
    return NULL;
}
