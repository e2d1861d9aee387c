/* nccl.c - NCCL, found once; see nccl.h.
 * Threads: loading happens inside one lz_once. */
#include "backends/cuda/nccl.h"
#include "base/config.h"
#include "base/log.h"
#include "base/process_end.h"
#include "base/thread.h"
#include <dlfcn.h>

_Static_assert(sizeof(nccl_id) == 128, "it is passed by value");
_Static_assert(sizeof(nccl_config) == 24 && offsetof(nccl_config, magic) == 8 &&
                   offsetof(nccl_config, version) == 12 && offsetof(nccl_config, blocking) == 16,
               "the library reads it");

lz_nccl_api lz_nccl;

static lz_once once = LZ_ONCE_INIT;
static bool loaded;
static int version;

static const lz_symbol symbols[] = {
#define NCCL_FN(member, symbol, args) {symbol, offsetof(lz_nccl_api, member), false},
#define NCCL_TEXT(member, symbol, args) {symbol, offsetof(lz_nccl_api, member), false},
#include "backends/cuda/nccl.def"
#undef NCCL_FN
#undef NCCL_TEXT
};

/* 2.8.3 is 2803, and 2.9.6 is 20906. */
static int part_of(int number, int which)
{
    int major = number < 10000 ? 1000 : 10000;
    return which == 0 ? number / major : which == 1 ? number % major / 100 : number % 100;
}

static bool resolve(void *h, const char *name)
{
    const char *missing =
        lz_library_symbols(h, symbols, sizeof symbols / sizeof *symbols, &lz_nccl);
    int r = missing ? NCCL_OK : lz_nccl.GetVersion(&version);
    if (missing)
        lz_logf(LZ_LOG_WARN, "cuda", "%s has no %s: GPUs copy to each other without NCCL", name,
                missing);
    else if (r != NCCL_OK)
        lz_logf(LZ_LOG_WARN, "cuda",
                "%s does not tell its version (%d): GPUs copy to each other without NCCL", name, r);
    else if (version < NCCL_OLDEST)
        lz_logf(LZ_LOG_WARN, "cuda",
                "%s is NCCL %d.%d.%d, 2.14 or later is needed: GPUs copy to each other without it",
                name, part_of(version, 0), part_of(version, 1), part_of(version, 2));
    else
        lz_logf(LZ_LOG_INFO, "cuda", "NCCL %d.%d.%d", part_of(version, 0), part_of(version, 1),
                part_of(version, 2));
    return !missing && r == NCCL_OK && version >= NCCL_OLDEST;
}

static void load(void)
{
    const char *asked = lz_cfg_str(LZ_OPT_CUDA_NCCL), *why;
    if (lz_list_has("off,no,false,0", asked) || (!*asked && lz_cuda.Emulates) ||
        !lz_cuda.EventQuery)
        return;
    const char *name = *asked ? asked : "libnccl.so.2";
    void *h = lz_open_library(name, RTLD_NOW | RTLD_LOCAL, &why);
    if (h)
        loaded = resolve(h, name);
    else
        lz_logf(
            *asked ? LZ_LOG_WARN : LZ_LOG_INFO, "cuda",
            "NCCL (package libnccl2, or Python's nvidia-nccl-cu13) is not on this machine, GPUs "
            "copy to each other without it: %s",
            why);
}

bool lz_nccl_load(void)
{
    lz_once_run(&once, load);
    return loaded;
}

int lz_nccl_version(void)
{
    return version;
}

int lz_nccl_type(lz_dtype d, int *n)
{
    *n = lz_dtype_is_complex(d) ? 2 : 1;
    switch (d) {
    case LZ_BOOL:
    case LZ_U8:
        return NCCL_U8;
    case LZ_I8:
        return NCCL_I8;
    case LZ_I32:
        return NCCL_I32;
    case LZ_U32:
        return NCCL_U32;
    case LZ_I64:
        return NCCL_I64;
    case LZ_U64:
        return NCCL_U64;
    case LZ_F16:
        return NCCL_F16;
    case LZ_BF16:
        return NCCL_BF16;
    case LZ_F32:
    case LZ_C64:
        return NCCL_F32;
    case LZ_F64:
    case LZ_C128:
        return NCCL_F64;
    default:
        return -1;
    }
}
