/* simt_group.c - what groups of four warps do together on NVIDIA's processors, on this one:
 * products of matrices in shared memory (wgmma), as the manual of PTX says where the factors lie.
 * They are computed when they are waited for, so memory that is written too early spoils them; what
 * was copied to shared memory counts only once it has been fenced. Threads: one launch at a
 * time. */
#include "test/mock/simt_warp.h"
#include <stdlib.h>
#include <string.h>

enum { GROUP = 4 * SIMT_WARP, STEP = 16, MOST_N = 256, MOST_K = 128, MOST_STEPS = 8, PENDING = 4 };
enum { WORDS = 4 }; /* of a thread in a step, where the left factor is in registers */

typedef struct product {
    uint64_t a, b;
    uint32_t form;
    bool words; /* the left factor is in registers */
    uint32_t left[MOST_STEPS][WORDS];
} product;
static struct {
    product p[PENDING];
    uint32_t n;
    bool unfenced;
} threads[EMU_THREADS];

void emu_group_reset(void)
{
    memset(threads, 0, sizeof threads);
}

void emu_group_copied(uint32_t tid)
{
    threads[tid].unfenced = true;
}

void lz_simt_group_fence(lz_simt_thread *t);
void lz_simt_group_fence(lz_simt_thread *t)
{
    threads[emu_slot(t)].unfenced = false;
}

/* ---- where an element is ---- */

/* Element (x, k), of 16 bits, of the factor that `d` describes, x along the result. `across`: rows
 * run along the result. The 128-byte swizzle exchanges bits 4-6 of an address by bits 7-9. */
static const void *element(const lz_simt_thread *t, uint64_t d, uint32_t x, uint32_t k, bool across)
{
    uint32_t start = (uint32_t)(d & 0x3fff) << 4, lead = (uint32_t)(d >> 16 & 0x3fff) << 4,
             eight = (uint32_t)(d >> 32 & 0x3fff) << 4;
    if (d >> 62 != 1 || (d >> 49 & 7) != 0)
        abort(); /* another swizzle, or an offset of the pattern */
    uint32_t at = across ? x / 64 * lead + k / 8 * eight + k % 8 * 128 + x % 64 * 2
                         : x / 8 * eight + x % 8 * 128 + k * 2;
    at += start;
    at ^= (at >> 7 & 7) << 4;
    return (const char *)t->shared + at;
}

/* The lower bits count for nothing. */
static float tf32(uint32_t word)
{
    float f;
    word &= ~UINT32_C(0x1fff);
    memcpy(&f, &word, sizeof f);
    return f;
}

static float value(const lz_simt_thread *t, uint64_t d, uint32_t x, uint32_t k, bool across,
                   uint32_t type)
{
    uint16_t bits;
    uint32_t word;
    if (type == LZ_F32) {
        memcpy(&word, element(t, d, x, 2 * k, across), sizeof word);
        return tf32(word);
    }
    memcpy(&bits, element(t, d, x, k, across), sizeof bits);
    return type == LZ_F16 ? emu_f16(bits) : emu_bf16(bits);
}

/* ---- products ---- */

/* Step i of the factor: 16 of k further. */
static uint64_t further(uint64_t d, uint32_t i, bool across)
{
    return d + (uint64_t)i * (across ? STEP * 128 : STEP * 2) / 16;
}

/* Element k of the step in row l / 4 + 8 h of the warp, in registers: words are of both rows, then
 * further on in k. A word has one number of 32 bits, in lane 4 (l / 4) + k % 4, or two of 16, k
 * even and the next, in lane 4 (l / 4) + k / 2 % 4. */
static float left_value(const lz_simt_thread *t, uint32_t number, uint32_t step, uint32_t h,
                        uint32_t k, uint32_t type)
{
    uint32_t each = type == LZ_F32 ? 1 : 2, lane = t->tid % SIMT_WARP,
             other = t->tid - lane + lane / 4 * 4 + k / each % 4;
    const product *q = &threads[t->rank * t->ntid + other].p[number];
    if (!q->words)
        abort();
    uint32_t word = q->left[step][k / (4 * each) * 2 + h];
    if (type == LZ_F32)
        return tf32(word);
    word = word >> k % 2 * 16 & 0xffff;
    return type == LZ_F16 ? emu_f16(word) : emu_bf16(word);
}

/* What this thread has of the sums: of rows l / 4 and l / 4 + 8 of its warp's 16, columns 2 (l % 4)
 * and the next of every 8. */
static void multiply(const lz_simt_thread *t, uint32_t number, float *sum)
{
    const product *p = &threads[emu_slot(t)].p[number];
    uint32_t in = t->tid % GROUP, l = in % SIMT_WARP, row = in / SIMT_WARP * 16 + l / 4,
             n = p->form >> 8 & 0xfff, steps = p->form >> 20 & 0xff;
    uint32_t d = p->form & 0xff, step = d == LZ_F32 ? STEP / 2 : STEP;
    bool across_a = p->form >> 28 & 1, across_b = p->form >> 29 & 1;
    for (uint32_t s = 0; s < steps; s++) {
        uint64_t da = further(p->a, s, across_a), db = further(p->b, s, across_b);
        float a[2][STEP], b[STEP];
        for (uint32_t i = 0; i < 2 * step; i++)
            a[i / step][i % step] = p->words
                                        ? left_value(t, number, s, i / step, i % step, d)
                                        : value(t, da, row + i / step * 8, i % step, across_a, d);
        for (uint32_t j = 0; j < n / 4; j++) {
            uint32_t column = j / 2 * 8 + 2 * (l % 4) + j % 2;
            for (uint32_t k = 0; k < step; k++)
                b[k] = value(t, db, column, k, across_b, d);
            for (uint32_t h = 0; h < 2; h++) {
                float *to = &sum[j / 2 * 4 + h * 2 + j % 2];
                double x = 0;
                for (uint32_t k = 0; k < step; k++)
                    x += (double)a[h][k] * b[k];
                *to = (float)(x + *to);
            }
        }
    }
}

void lz_simt_group_multiply(lz_simt_thread *t, uint64_t a, uint64_t b, uint32_t form);
void lz_simt_group_multiply(lz_simt_thread *t, uint64_t a, uint64_t b, uint32_t form)
{
    emu_warp_meet(t);
    if (threads[emu_slot(t)].n == PENDING || (form >> 8 & 0xfff) > MOST_N)
        abort();
    threads[emu_slot(t)].p[threads[emu_slot(t)].n++] = (product){.a = a, .b = b, .form = form};
}

/* The same with the left factor in registers: WORDS for every step. */
void lz_simt_group_multiply_rs(lz_simt_thread *t, const uint32_t *words, uint64_t b, uint32_t form);
void lz_simt_group_multiply_rs(lz_simt_thread *t, const uint32_t *words, uint64_t b, uint32_t form)
{
    uint32_t steps = form >> 20 & 0xff;
    if (steps > MOST_STEPS)
        abort();
    lz_simt_group_multiply(t, 0, b, form);
    product *p = &threads[emu_slot(t)].p[threads[emu_slot(t)].n - 1];
    p->words = true;
    memcpy(p->left, words, (size_t)steps * sizeof *p->left);
}

void lz_simt_group_wait(lz_simt_thread *t, float *sum, uint32_t left);
void lz_simt_group_wait(lz_simt_thread *t, float *sum, uint32_t left)
{
    uint32_t have = threads[emu_slot(t)].n, n = have > left ? have - left : 0;
    emu_warp_meet(t);
    for (uint32_t i = 0; i < t->ntid; i++)
        if (threads[t->rank * t->ntid + i].unfenced)
            abort(); /* what some thread copied cannot be seen */
    for (uint32_t i = 0; i < n; i++)
        multiply(t, i, sum);
    emu_warp_meet(t); /* others may have read this thread's words */
    memmove(threads[emu_slot(t)].p, threads[emu_slot(t)].p + n, (have - n) * sizeof(product));
    threads[emu_slot(t)].n = have - n;
}

void *emu_group_symbol(const char *name)
{
    static const struct {
        const char *name;
        void (*fn)(void);
    } all[] = {{"lz_simt_group_fence", (void (*)(void))lz_simt_group_fence},
               {"lz_simt_group_multiply", (void (*)(void))lz_simt_group_multiply},
               {"lz_simt_group_multiply_rs", (void (*)(void))lz_simt_group_multiply_rs},
               {"lz_simt_group_wait", (void (*)(void))lz_simt_group_wait}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(name, all[i].name) == 0)
            return (void *)(uintptr_t)all[i].fn;
    return NULL;
}
