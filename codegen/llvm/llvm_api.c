/* llvm_api.c - finds libLLVM-19 with dlopen, resolves the table, sets it up once.
 * The library is 130 MB and costs 20 ms to relocate, so a process that finds all its kernels in the
 * cache must never load it.
 * When the process exits, destructors of the library take apart what code generation uses, and a
 * device's thread may be compiling a branch. So a function that runs before them lets those that
 * generate code finish and lets nobody begin.
 * Threads: loading happens inside one lz_once. */
#define LZ_LLVM_API_NO_NAMES
#include "codegen/llvm/llvm_api.h"
#include "codegen/codegen.h"
#include "base/log.h"
#include "base/thread.h"
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

lz_llvm_api lz_llvm;

static lz_once once = LZ_ONCE_INIT;
static char failure[256]; /* empty: loaded */

static _Atomic uint32_t busy; /* uses of LLVM that have begun and not ended */
static _Atomic bool ending;   /* none may begin */
static _Thread_local uint32_t mine;
static _Atomic pid_t used_by; /* the process that uses it */

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

/* Waits for the uses of LLVM by other threads of this process. Ours are left out: LLVM exits when
 * it has met a fatal error. A use that waits for what such a thread was making does not end, nor do
 * those of a parent process. */
static void wait_idle(void)
{
    enum { POLL_NS = 500000 };
    const int64_t end = lz_now_ns() + INT64_C(10000000000);
    while (atomic_load(&busy) > mine && atomic_load(&used_by) == getpid() && lz_now_ns() < end)
        (void)nanosleep(&(struct timespec){0, POLL_NS}, NULL);
}

static void at_exit(void)
{
    atomic_store(&ending, true);
    wait_idle();
}

/* The main thread's thread-local objects end before any function registered by atexit runs: of a
 * process whose first code is being generated, that is before the destructors which LLVM registers
 * meanwhile. The thread may end without the process (pthread_exit), so others may begin. */
static void main_thread_ends(void *unused)
{
    (void)unused;
    wait_idle();
}

extern int __cxa_thread_atexit_impl(void (*fn)(void *), void *object, void *library); /* glibc's */
extern void *__dso_handle;

void lz_llvm_guard_exit(void)
{
    static _Thread_local bool seen;
    if (__builtin_expect(seen, 1))
        return;
    seen = true;
    if (gettid() != getpid())
        return;
    (void)atexit(at_exit); /* where code is first generated after that */
    (void)__cxa_thread_atexit_impl(main_thread_ends, NULL, &__dso_handle);
}

/* What was registered last runs first, and functions of LLVM make static objects, whose destructors
 * that registers, when they are first called: so again and again. */
static void be_called_at_exit(void)
{
    static _Atomic uint32_t begun;
    enum { ALWAYS = 64 };
    uint32_t n = atomic_fetch_add(&begun, 1);
    if (n < ALWAYS || (n & (n - 1)) == 0)
        (void)atexit(at_exit);
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

lz_status lz_llvm_begin(void)
{
    atomic_store(&used_by, getpid());
    atomic_fetch_add(&busy, 1); /* loading is a use */
    mine++;
    lz_status s = LZ_OK;
    if (atomic_load(&ending))
        s = LZ_FAIL(LZ_ECOMPILE, "nothing is compiled while the process exits");
    if (s == LZ_OK)
        s = lz_llvm_load();
    if (s == LZ_OK)
        be_called_at_exit();
    else
        lz_llvm_end();
    return s;
}

void lz_llvm_end(void)
{
    mine--;
    atomic_fetch_sub(&busy, 1);
}
