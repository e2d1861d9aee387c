/* cuda_api.c - see cuda_api.h. The library is never closed: the driver keeps threads of its own.
 * Threads: loading happens inside one lz_once. */
#include "backends/cuda/cuda_api.h"
#include "base/config.h"
#include "base/process_end.h"
#include "base/thread.h"
#include <dlfcn.h>
#include <stdio.h>

lz_cuda_api lz_cuda;

static lz_once once = LZ_ONCE_INIT;
static char failure[320]; /* empty: loaded */
static int driver_version;

static const lz_symbol symbols[] = {
#define CUDA_FN(member, symbol, args) {symbol, offsetof(lz_cuda_api, member), false},
#define CUDA_OPT(member, symbol, args) {symbol, offsetof(lz_cuda_api, member), true},
#include "backends/cuda/cuda_api.def"
#undef CUDA_FN
#undef CUDA_OPT
};

static bool resolve(void *h, const char *name)
{
    const char *missing =
        lz_library_symbols(h, symbols, sizeof symbols / sizeof *symbols, &lz_cuda);
    if (missing)
        snprintf(failure, sizeof failure,
                 "%s has no %s: CUDA 12 or later is needed, update NVIDIA's driver", name, missing);
    return !missing;
}

static const char *name_of(int result)
{
    const char *name = NULL;
    if (lz_cuda.GetErrorName)
        (void)lz_cuda.GetErrorName(result, &name);
    return name ? name : "unknown error";
}

static void start(const char *name)
{
    int n = 0, r = lz_cuda.Init(0);
    if (r == CU_OK)
        r = lz_cuda.DriverGetVersion(&driver_version);
    if (r == CU_OK)
        r = lz_cuda.DeviceGetCount(&n);
    if (r == CU_NO_DEVICE || (r == CU_OK && n == 0))
        snprintf(failure, sizeof failure, "%s sees no CUDA device", name);
    else if (r != CU_OK)
        snprintf(failure, sizeof failure, "%s cannot be started: %s (%d)", name, name_of(r), r);
}

static void load(void)
{
    const char *name = lz_cfg_str(LZ_OPT_CUDA_DRIVER);
    if (!name[0])
        name = "libcuda.so.1";
    const char *why;
    void *h = lz_open_library(name, RTLD_NOW | RTLD_LOCAL, &why);
    if (!h) {
        snprintf(failure, sizeof failure, "NVIDIA's driver is not on this machine: %s", why);
        return;
    }
    if (resolve(h, name))
        start(name);
}

lz_status lz_cuda_load(void)
{
    lz_once_run(&once, load);
    if (failure[0])
        return LZ_FAIL(LZ_EUNAVAILABLE, "no CUDA device: %s", failure);
    return LZ_OK;
}

int lz_cuda_driver_version(void)
{
    return driver_version;
}

/* Sticky errors, after which the context only repeats them: the driver API documents them as "must
 * be terminated and relaunched". */
bool lz_cuda_is_lost(int result)
{
    static const short lost[] = {4,   201, 214, 220, 226, 700, 702, 710,
                                 714, 715, 716, 717, 718, 719, 721, 999};
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++)
        if (result == lost[i])
            return true;
    return false;
}

lz_status lz_cuda_error(int result, const char *what)
{
    const char *text = NULL;
    if (result == CU_OK)
        return LZ_OK;
    (void)lz_cuda.GetErrorString(result, &text);
    return LZ_FAIL(result == CU_OUT_OF_MEMORY ? LZ_EDEVMEM : LZ_EDEVICE, "%s: %s (%d)%s%s", what,
                   name_of(result), result, text ? ", " : "", text ? text : "");
}
