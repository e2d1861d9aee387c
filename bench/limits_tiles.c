/* limits_tiles.c - what AMX tiles can do at this moment, in registers: beside limits.c. The factors
 * are random numbers, since zeros take less power and so are multiplied faster. */
#include "bench.h"
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROUNDS = 20000, POINTS = 16 * 16 };

bool bench_has_tiles(void)
{
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XTILEDATA = 18, BF16 = 1 << 22, INT8 = 1 << 25 };
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (edx & BF16) && (edx & INT8) &&
           syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XTILEDATA) == 0;
}

/* Eight tiles of 16 rows of 64 bytes. */
__attribute__((target("amx-tile"))) static void load_tiles(void)
{
    static const _Alignas(64) unsigned char config[64] = {
        1,         [16] = 64, [18] = 64, [20] = 64, [22] = 64, [24] = 64,
        [26] = 64, [28] = 64, [30] = 64, [48] = 16, 16,        16,
        16,        16,        16,        16,        16};
    _Alignas(64) unsigned short x[512];
    unsigned state = 1;
    for (int i = 0; i < 512; i++) { /* bf16 of either sign from 1/2 to 2 */
        state = state * 1664525 + 1013904223;
        x[i] = (unsigned short)(0x3f00 | (state >> 16 & 0x80ff));
    }
    __asm__ volatile("" : : "r"(x), "r"(config) : "memory");
    _tile_loadconfig(config);
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    _tile_loadd(4, x, 64);
    _tile_loadd(5, x, 64);
    _tile_loadd(6, x, 64);
    _tile_loadd(7, x, 64);
}

__attribute__((target("amx-tile,amx-bf16"))) double bench_tiles_bf16(int thread)
{
    (void)thread;
    load_tiles();
    for (long r = 0; r < ROUNDS; r++) {
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
    _tile_release();
    return (double)ROUNDS * 4 * POINTS * 32 * 2;
}

__attribute__((target("amx-tile,amx-int8"))) double bench_tiles_int8(int thread)
{
    (void)thread;
    load_tiles();
    for (long r = 0; r < ROUNDS; r++) {
        _tile_dpbssd(0, 4, 6);
        _tile_dpbssd(1, 4, 7);
        _tile_dpbssd(2, 5, 6);
        _tile_dpbssd(3, 5, 7);
    }
    _tile_release();
    return (double)ROUNDS * 4 * POINTS * 64 * 2;
}
#else
bool bench_has_tiles(void)
{
    return false;
}

double bench_tiles_bf16(int thread)
{
    (void)thread;
    return 0;
}

double bench_tiles_int8(int thread)
{
    (void)thread;
    return 0;
}
#endif
