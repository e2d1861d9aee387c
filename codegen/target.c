/* target.c - the machine this process runs on, without LLVM: LLVM's CPU name and ISA features from
 * cpuid, caches from sysfs.
 * Every known feature is written out, with + or -, so that a hypervisor that hides one is believed.
 * LAZULI_CPU=x86-64-v2 .. v4 lowers the target to that level's features. AMX is a feature where the
 * kernel grants its tiles to this process, too; it is asked once, when code may want them. Threads:
 * thread-safe; the machine is read once. */
#include "codegen/codegen.h"
#include "base/config.h"
#include "base/file_io.h"
#include "base/text.h"
#include "base/thread.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

static lz_once once = LZ_ONCE_INIT;

/* Per processor family: read_machine, what is read once; host_has, a feature; host_target, all but
 *   the caches. */
#if defined(__x86_64__)

/* One ISA feature: name, where cpuid reports it, the x86-64 level it belongs to (5: none), what of
 * the state the system must save. */
enum { LEAF_1C, LEAF_7B, LEAF_7C, LEAF_7D, LEAF_71A, LEAF_X1C, LEAF_COUNT };
enum { OS_NONE, OS_YMM, OS_ZMM, OS_TILES };
typedef struct feature {
    const char *name;
    int leaf, bit, level, os;
} feature;
/* sorted by name */
static const feature features[] = {
    {"aes", LEAF_1C, 25, 5, OS_NONE},
    {"amx-bf16", LEAF_7D, 22, 5, OS_TILES},
    {"amx-int8", LEAF_7D, 25, 5, OS_TILES},
    {"amx-tile", LEAF_7D, 24, 5, OS_TILES},
    {"avx", LEAF_1C, 28, 3, OS_YMM},
    {"avx2", LEAF_7B, 5, 3, OS_YMM},
    {"avx512bf16", LEAF_71A, 5, 5, OS_ZMM},
    {"avx512bitalg", LEAF_7C, 12, 5, OS_ZMM},
    {"avx512bw", LEAF_7B, 30, 4, OS_ZMM},
    {"avx512cd", LEAF_7B, 28, 4, OS_ZMM},
    {"avx512dq", LEAF_7B, 17, 4, OS_ZMM},
    {"avx512f", LEAF_7B, 16, 4, OS_ZMM},
    {"avx512fp16", LEAF_7D, 23, 5, OS_ZMM},
    {"avx512ifma", LEAF_7B, 21, 5, OS_ZMM},
    {"avx512vbmi", LEAF_7C, 1, 5, OS_ZMM},
    {"avx512vbmi2", LEAF_7C, 6, 5, OS_ZMM},
    {"avx512vl", LEAF_7B, 31, 4, OS_ZMM},
    {"avx512vnni", LEAF_7C, 11, 5, OS_ZMM},
    {"avx512vpopcntdq", LEAF_7C, 14, 5, OS_ZMM},
    {"avxvnni", LEAF_71A, 4, 5, OS_YMM},
    {"bmi", LEAF_7B, 3, 3, OS_NONE},
    {"bmi2", LEAF_7B, 8, 3, OS_NONE},
    {"cx16", LEAF_1C, 13, 2, OS_NONE},
    {"f16c", LEAF_1C, 29, 3, OS_YMM},
    {"fma", LEAF_1C, 12, 3, OS_YMM},
    {"gfni", LEAF_7C, 8, 5, OS_NONE},
    {"lzcnt", LEAF_X1C, 5, 3, OS_NONE},
    {"movbe", LEAF_1C, 22, 3, OS_NONE},
    {"pclmul", LEAF_1C, 1, 5, OS_NONE},
    {"popcnt", LEAF_1C, 23, 2, OS_NONE},
    {"sahf", LEAF_X1C, 0, 2, OS_NONE},
    {"sse3", LEAF_1C, 0, 2, OS_NONE},
    {"sse4.1", LEAF_1C, 19, 2, OS_NONE},
    {"sse4.2", LEAF_1C, 20, 2, OS_NONE},
    {"ssse3", LEAF_1C, 9, 2, OS_NONE},
    {"vaes", LEAF_7C, 9, 5, OS_YMM},
    {"vpclmulqdq", LEAF_7C, 10, 5, OS_YMM},
};
enum { NFEATURE = sizeof features / sizeof *features };

typedef struct machine {
    bool has[NFEATURE];
    char cpu[64];
} machine;
static machine host;

/* ---- cpuid ---- */

static int os_state(unsigned leaf1c)
{
    if (!(leaf1c >> 27 & 1)) /* osxsave */
        return OS_NONE;
    unsigned lo, hi;
    __asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
    if ((lo & 0x600e6) == 0x600e6)
        return OS_TILES;
    return (lo & 0xe6) == 0xe6 ? OS_ZMM : (lo & 6) == 6 ? OS_YMM : OS_NONE;
}

/* The kernel lets a process use tiles that has asked: for all its threads and those it forks, but
 * not for what it executes. It refuses where it does not know them, where a filter of system calls
 * does, or where some thread has a signal stack that is too small for them; and afterwards nobody
 * in the process gets such a stack. So only who may run such code asks. */
static lz_once tiles_once = LZ_ONCE_INIT;
static bool tiles_granted;

static void ask_for_tiles(void)
{
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XTILEDATA = 18 };
    tiles_granted = syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XTILEDATA) == 0;
}

static bool tiles(void)
{
    lz_once_run(&tiles_once, ask_for_tiles);
    return tiles_granted;
}

static const char *amd_name(unsigned family, unsigned model)
{
    if (family == 0x17)
        return model < 0x30 ? "znver1" : "znver2";
    if (family == 0x19)
        return (model >= 0x10 && model <= 0x1f) || (model >= 0x60 && model <= 0xaf) ? "znver4"
                                                                                    : "znver3";
    return family == 0x1a ? "znver5" : "";
}

static const char *intel_name(unsigned model, bool bf16, bool vnni)
{
    switch (model) {
    case 0x3c:
    case 0x3f:
    case 0x45:
    case 0x46:
        return "haswell";
    case 0x3d:
    case 0x47:
    case 0x4f:
    case 0x56:
        return "broadwell";
    case 0x4e:
    case 0x5e:
    case 0x8e:
    case 0x9e:
    case 0xa5:
    case 0xa6:
        return "skylake";
    case 0x55:
        return bf16 ? "cooperlake" : vnni ? "cascadelake" : "skylake-avx512";
    case 0x6a:
    case 0x6c:
        return "icelake-server";
    case 0x7d:
    case 0x7e:
        return "icelake-client";
    case 0x8c:
    case 0x8d:
        return "tigerlake";
    case 0x8f:
    case 0xcf:
        return "sapphirerapids";
    case 0x97:
    case 0x9a:
    case 0xb7:
    case 0xba:
    case 0xbf:
        return "alderlake";
    case 0xad:
    case 0xae:
        return "graniterapids";
    default:
        return "";
    }
}

static bool host_has(const char *name, size_t n)
{
    for (int i = 0; i < NFEATURE; i++)
        if (strlen(features[i].name) == n && memcmp(features[i].name, name, n) == 0)
            return host.has[i] && (features[i].os != OS_TILES || tiles());
    return false;
}

static void read_name(void)
{
    unsigned a, b, c, d;
    char vendor[13] = {0};
    __cpuid(0, a, b, c, d);
    memcpy(vendor, &b, 4);
    memcpy(vendor + 4, &d, 4);
    memcpy(vendor + 8, &c, 4);
    __cpuid(1, a, b, c, d);
    unsigned family = a >> 8 & 15, model = a >> 4 & 15;
    if (family == 15)
        family += a >> 20 & 255;
    if (family == 6 || family >= 15)
        model |= a >> 12 & 0xf0;
    const char *name = "";
    if (strcmp(vendor, "AuthenticAMD") == 0)
        name = amd_name(family, model);
    else if (strcmp(vendor, "GenuineIntel") == 0 && family == 6)
        name = intel_name(model, host_has("avx512bf16", sizeof "avx512bf16" - 1),
                          host_has("avx512vnni", sizeof "avx512vnni" - 1));
    snprintf(host.cpu, sizeof host.cpu, "%s", name);
}

static void read_machine(void)
{
    unsigned r[LEAF_COUNT] = {0}, a, b, c, d;
    __cpuid(0, a, b, c, d);
    unsigned top = a;
    __cpuid(1, a, b, r[LEAF_1C], d);
    if (top >= 7) {
        __cpuid_count(7, 0, a, r[LEAF_7B], r[LEAF_7C], r[LEAF_7D]);
        if (a >= 1)
            __cpuid_count(7, 1, r[LEAF_71A], b, c, d);
    }
    __cpuid(0x80000000u, a, b, c, d);
    if (a >= 0x80000001u)
        __cpuid(0x80000001u, a, b, r[LEAF_X1C], d);
    int os = os_state(r[LEAF_1C]);
    for (int i = 0; i < NFEATURE; i++)
        host.has[i] = (r[features[i].leaf] >> features[i].bit & 1) && os >= features[i].os;
    read_name();
}

static void write_features(lz_target *t, int level)
{
    size_t n = 0;
    bool amx = !level && lz_variant_may(t, LZ_VARIANT_amx);
    for (int i = 0; i < NFEATURE; i++) {
        bool on = level ? features[i].level <= level : host.has[i];
        if (features[i].os == OS_TILES)
            on = on && amx && tiles();
        n += (size_t)snprintf(t->features + n, sizeof t->features - n, "%s%c%s", i ? "," : "",
                              on ? '+' : '-', features[i].name);
    }
}

static lz_status wanted_level(int *level)
{
    const char *s = lz_cfg_str(LZ_OPT_CPU_ISA);
    *level = 0;
    if (!*s || strcmp(s, "native") == 0)
        return LZ_OK;
    if (strncmp(s, "x86-64-v", 8) != 0 || s[8] < '2' || s[8] > '4' || s[9])
        return LZ_FAIL(LZ_EINVAL,
                       "LAZULI_CPU=%s: expected native, x86-64-v2, x86-64-v3 or x86-64-v4", s);
    *level = s[8] - '0';
    for (int i = 0; i < NFEATURE; i++)
        if (features[i].level <= *level && !host.has[i])
            return LZ_FAIL(LZ_EINVAL, "LAZULI_CPU=%s: this machine has no %s", s, features[i].name);
    return LZ_OK;
}

static lz_status host_target(lz_target *out)
{
    int level;
    LZ_TRY(wanted_level(&level));
    snprintf(out->triple, sizeof out->triple, "x86_64-unknown-linux-gnu");
    if (level)
        snprintf(out->cpu, sizeof out->cpu, "x86-64-v%d", level);
    else
        snprintf(out->cpu, sizeof out->cpu, "%s", host.cpu);
    write_features(out, level);
    bool zmm = lz_target_has(out, "avx512f") && lz_target_has(out, "avx512bw") &&
               lz_target_has(out, "avx512dq") && lz_target_has(out, "avx512vl");
    bool ymm =
        lz_target_has(out, "avx2") && lz_target_has(out, "fma") && lz_target_has(out, "f16c");
    out->machine.vector_bytes = zmm ? 64 : ymm ? 32 : 16;
    return LZ_OK;
}

#elif defined(__aarch64__)

static void read_machine(void) {}

static bool host_has(const char *name, size_t n)
{
    return n == 4 && memcmp(name, "neon", 4) == 0;
}

static lz_status host_target(lz_target *out)
{
    const char *s = lz_cfg_str(LZ_OPT_CPU_ISA);
    if (*s && strcmp(s, "native") != 0)
        return LZ_FAIL(LZ_EINVAL, "LAZULI_CPU=%s: this processor has native alone", s);
    snprintf(out->triple, sizeof out->triple, "aarch64-unknown-linux-gnu");
    snprintf(out->features, sizeof out->features, "+neon");
    out->machine.vector_bytes = 16;
    return LZ_OK;
}

#else

static void read_machine(void) {}

static bool host_has(const char *name, size_t n)
{
    (void)name;
    (void)n;
    return false;
}

static lz_status host_target(lz_target *out)
{
    (void)out;
    return LZ_FAIL(LZ_EUNAVAILABLE, "no code generation for this processor");
}

#endif

/* ---- caches ---- */

static bool read_line(const char *path, char *buf, size_t n)
{
    if (!lz_file_text(path, buf, n))
        return false;
    buf[strcspn(buf, "\n")] = '\0';
    return true;
}

static void read_caches(lz_target *t)
{
    t->machine.l1_bytes = 32 << 10;
    t->machine.l2_bytes = 512 << 10;
    t->machine.l3_bytes = 8 << 20;
    for (int i = 0; i < 8; i++) {
        char path[96], level[16], type[32], size[32];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/level", i);
        if (!read_line(path, level, sizeof level))
            break;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/type", i);
        if (!read_line(path, type, sizeof type) || strncmp(type, "Instruction", 11) == 0)
            continue;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
        if (!read_line(path, size, sizeof size))
            continue;
        uint64_t n = 0;
        char unit = size[lz_text_digits(size, strlen(size), &n)];
        int64_t v = n < UINT64_C(1) << 40 ? (int64_t)n : 0;
        v *= unit == 'K' ? 1 << 10 : unit == 'M' ? 1 << 20 : 1;
        int64_t *at = level[0] == '1'   ? &t->machine.l1_bytes
                      : level[0] == '2' ? &t->machine.l2_bytes
                      : level[0] == '3' ? &t->machine.l3_bytes
                                        : NULL;
        if (at && v > 0 && v < INT64_C(1) << 40)
            *at = v;
    }
}

/* ---- the target ---- */

lz_status lz_target_host(lz_target *out)
{
    memset(out, 0, sizeof *out);
    lz_once_run(&once, read_machine);
    read_caches(out);
    LZ_TRY(lz_variants_configured(out));
    return host_target(out);
}

/* Whether one name of a feature string asks for nothing of the processor. */
static bool is_tuning(const char *s, size_t n)
{
    static const char *const parts[] = {"prefer-",
                                        "fast-",
                                        "slow-",
                                        "tuning",
                                        "false-deps-",
                                        "macrofusion",
                                        "branchfusion",
                                        "idivl-",
                                        "idivq-",
                                        "-unroll",
                                        "sbb-dep-breaking",
                                        "allow-light-256-bit",
                                        "lea-",
                                        "pad-short-functions",
                                        "ermsb"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (memmem(s, n, parts[i], strlen(parts[i])))
            return true;
    return false;
}

bool lz_target_runs(const char *wanted)
{
    lz_once_run(&once, read_machine);
    for (const char *p = wanted; *p;) {
        size_t n = strcspn(p, ",");
        if (n > 1 && p[0] == '+' && !host_has(p + 1, n - 1) && !is_tuning(p + 1, n - 1))
            return false;
        p += n;
        p += *p == ',';
    }
    return true;
}
