/* llvm_api.c - finds libLLVM-19 with dlopen, resolves the table, sets it up once.
 * The library is 130 MB and costs 20 ms to relocate, so a process that finds all its kernels in the
 * cache must never load it.
 * Threads: everything happens inside one pthread_once. */
#define LZ_LLVM_API_NO_NAMES
#include "codegen/llvm/llvm_api.h"
#include "base/log.h"
#include "base/thread.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

lz_llvm_api lz_llvm;

static lz_once once = LZ_ONCE_INIT;
static char failure[256]; /* empty: loaded */

static const struct row {
    const char *name;
    size_t at;
    bool optional;
} rows[] = {
#define LLVM_FN(name, ...) {#name, offsetof(lz_llvm_api, name), sizeof(#__VA_ARGS__) > 1},
#include "codegen/llvm/llvm_api.def"
#undef LLVM_FN
};

static const char *const names[] = {"libLLVM.so.19.1", "libLLVM-19.so.1", "libLLVM-19.so"};

static void *open_library(void)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *h = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (h)
            return h;
    }
    const char *why = dlerror();
    snprintf(failure, sizeof failure, "libLLVM-19 is not on this machine: %s",
             why ? why : "unknown error");
    return NULL;
}

static bool resolve(void *h)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        void *p = dlsym(h, rows[i].name);
        if (!p && !rows[i].optional) {
            snprintf(failure, sizeof failure, "libLLVM-19 has no %s", rows[i].name);
            return false;
        }
        memcpy((char *)&lz_llvm + rows[i].at, &p, sizeof p);
    }
    return true;
}

/* LLVM ends the process after this: all that can be done is to say whose end it was. */
static void fatal(const char *reason)
{
    lz_logf(LZ_LOG_ERROR, "llvm", "fatal error inside LLVM: %s", reason);
}

/* Machine passes that cost compile time and give our kernels nothing: the emitter's loops are
 * already hoisted, unrolled and free of redundancy. The options belong to LLVM 19, which the
 * library's name guarantees. */
static void set_options(void)
{
    static const char *const argv[] = {
        "lazuli",
        "-disable-constant-hoisting",
        "-disable-early-taildup",
        "-disable-tail-duplicate",
        "-disable-early-ifcvt",
        "-disable-x86-domain-reassignment",
        "-disable-machine-sink",
        "-disable-postra-machine-licm",
        "-disable-post-ra",
        "-disable-lsr",
        "-disable-cgp",
        "-enable-misched=false",
    };
    lz_llvm.LLVMParseCommandLineOptions((int)(sizeof argv / sizeof *argv), argv, NULL);
}

static void load(void)
{
    void *h = open_library();
    if (!h || !resolve(h))
        return;
    unsigned major = 0, minor = 0, patch = 0;
    lz_llvm.LLVMGetVersion(&major, &minor, &patch);
    if (major != 19) {
        snprintf(failure, sizeof failure, "found LLVM %u.%u.%u where 19 is needed", major, minor,
                 patch);
        return;
    }
#define START(T)                                                                                   \
    if (lz_llvm.LLVMInitialize##T##TargetInfo && lz_llvm.LLVMInitialize##T##AsmPrinter) {          \
        lz_llvm.LLVMInitialize##T##TargetInfo();                                                   \
        lz_llvm.LLVMInitialize##T##Target();                                                       \
        lz_llvm.LLVMInitialize##T##TargetMC();                                                     \
        lz_llvm.LLVMInitialize##T##AsmPrinter();                                                   \
    }
    START(X86)
    START(AArch64)
    START(NVPTX)
#undef START
    lz_llvm.LLVMInstallFatalErrorHandler(fatal);
    set_options();
}

lz_status lz_llvm_load(void)
{
    lz_once_run(&once, load);
    if (failure[0])
        return LZ_FAIL(LZ_EUNAVAILABLE, "%s", failure);
    return LZ_OK;
}
