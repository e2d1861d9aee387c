/* cublaslt.c - cuBLASLt, found once; see cublaslt.h. The library is never closed: it keeps threads
 * and device memory of its own.
 * Threads: loading happens inside one lz_once. */
#include "backends/cuda/cublaslt.h"
#include "base/config.h"
#include "base/log.h"
#include "base/process_end.h"
#include "base/thread.h"
#include <dlfcn.h>

lz_cublaslt_api lz_cublaslt;

static lz_once once = LZ_ONCE_INIT;
static bool loaded;

static const lz_symbol symbols[] = {
#define LT_FN(member, symbol, args) {symbol, offsetof(lz_cublaslt_api, member), false},
#include "backends/cuda/cublaslt.def"
#undef LT_FN
};

static bool resolve(void *h, const char *name)
{
    const char *missing =
        lz_library_symbols(h, symbols, sizeof symbols / sizeof *symbols, &lz_cublaslt);
    if (missing)
        lz_logf(LZ_LOG_INFO, "cuda", "%s has no %s: products are our own", name, missing);
    return !missing;
}

static void load(void)
{
    const char *asked = lz_cfg_str(LZ_OPT_CUDA_CUBLASLT);
    const char *const names[] = {*asked ? asked : "libcublasLt.so.13", "libcublasLt.so.12"};
    for (int i = 0; i < (*asked ? 1 : 2) && !loaded; i++) {
        const char *why;
        void *h = lz_open_library(names[i], RTLD_NOW | RTLD_LOCAL, &why);
        if (h)
            loaded = resolve(h, names[i]);
        else if (*asked || i == 1)
            lz_logf(LZ_LOG_INFO, "cuda",
                    "cuBLASLt is not on this machine, products are our own: %s", why);
    }
}

bool lz_cublaslt_load(void)
{
    lz_once_run(&once, load);
    return loaded;
}
