/* llvm_api.c - finds libLLVM-19 with dlopen, resolves the table, sets it up once.
 * The library is 130 MB and costs 20 ms to relocate, so a process that finds all its kernels in the
 * cache must never load it.
 * When the process exits, destructors of the library take apart what code generation uses, while
 * threads may be compiling, and before functions that the program registered by atexit earlier. So
 * a function that runs before them lets those that generate code finish and lets nobody begin:
 * lz_llvm_over. That it runs before them is certain, because destructors that LLVM registers after
 * it, of static objects inside functions, are dropped (llvm_statics.c), and exit waits for loading.
 * Threads: loading happens inside one lz_once. */
#define LZ_LLVM_API_NO_NAMES
#include "codegen/llvm/llvm_api.h"
#include "codegen/codegen.h"
#include "codegen/llvm/llvm_statics.h"
#include "base/log.h"
#include "base/process_end.h"
#include "base/thread.h"
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

lz_llvm_api lz_llvm;

static lz_once once = LZ_ONCE_INIT;
static char failure[256]; /* empty: loaded */

static lz_work_count busy;          /* uses of LLVM */
static _Thread_local uint32_t mine; /* of them */
static _Atomic bool over;           /* none may begin */
static bool kept;                   /* what LLVM registers is dropped */

static const lz_symbol symbols[] = {
#define LLVM_FN(name, ...) {#name, offsetof(lz_llvm_api, name), sizeof(#__VA_ARGS__) > 1},
#include "codegen/llvm/llvm_api.def"
#undef LLVM_FN
};

static const char *const names[] = {"libLLVM.so.19.1", "libLLVM-19.so.1", "libLLVM-19.so"};

static void *open_library(void)
{
    const char *why = "";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *h = lz_open_library(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE, &why);
        if (h)
            return h;
    }
    snprintf(failure, sizeof failure, "libLLVM-19 is not on this machine: %s", why);
    return NULL;
}

static bool resolve(void *h)
{
    const char *missing =
        lz_library_symbols(h, symbols, sizeof symbols / sizeof *symbols, &lz_llvm);
    if (missing)
        snprintf(failure, sizeof failure, "libLLVM-19 has no %s", missing);
    return !missing;
}

/* LLVM ends the process after this: all that can be done is to say whose end it was. The log
 * callback is for messages that are followed by something. */
static void fatal(const char *reason)
{
    fprintf(stderr, "lazuli: error: llvm: fatal error inside LLVM: %s\n", reason);
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

/* Uses by this thread are left out: LLVM exits when it has met a fatal error. */
static void at_exit(void)
{
    atomic_store(&over, true);
    (void)lz_work_wait(&busy, mine);
}

/* Where LLVM was never loaded, it is not any more (lz_open_library). */
__attribute__((destructor)) static void loader_ends(void)
{
    at_exit();
}

bool lz_llvm_over(void)
{
    return atomic_load(&over);
}

/* Where LLVM's registrations are not dropped. What was registered last runs first, and functions of
 * LLVM make static objects, whose destructors that registers, when they are first called: so again
 * and again. */
static void be_called_at_exit(void)
{
    static _Atomic uint32_t begun;
    enum { ALWAYS = 64 };
    uint32_t n = atomic_fetch_add(&begun, 1);
    if (n < ALWAYS || (n & (n - 1)) == 0)
        (void)atexit(at_exit);
}

static void start(void)
{
    void *h = open_library();
    if (!h || !resolve(h))
        return;
    kept = lz_llvm_keep_statics(h);
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

/* Threads that have used the library, or loaded it, do not exit meanwhile (lz_exit_guard). Where
 * another one does, the first of the two functions waits below LLVM's destructors. */
static void load(void)
{
    (void)atexit(at_exit);
    lz_exit_hold();
    start();
    (void)atexit(at_exit);
    lz_exit_let();
}

lz_status lz_llvm_load(void)
{
    lz_once_run(&once, load);
    if (failure[0])
        return LZ_FAIL(LZ_EUNAVAILABLE, "%s", failure);
    return LZ_OK;
}

/* Where an allocation inside LLVM fails the process ends, so a limit that is near is met here. */
static lz_status check_memory(void)
{
    enum { ROOM = 64 << 20 };
    void *p = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return LZ_FAIL(LZ_EMEM, "no memory to generate code: LLVM may need %d MiB", ROOM >> 20);
    (void)munmap(p, ROOM);
    return LZ_OK;
}

static lz_status begin(void)
{
    if (lz_llvm_over())
        return LZ_FAIL(LZ_ECOMPILE, "nothing is compiled while the process exits");
    LZ_TRY(lz_llvm_load());
    if (!kept)
        be_called_at_exit();
    return check_memory();
}

lz_status lz_llvm_begin(void)
{
    lz_work_begin(&busy); /* loading is a use */
    mine++;
    lz_status s = begin();
    if (s != LZ_OK)
        lz_llvm_end();
    return s;
}

void lz_llvm_end(void)
{
    mine--;
    lz_work_end(&busy);
}

void lz_llvm_prepare(void)
{
    LZ_QUIETLY {
        if (lz_llvm_begin() == LZ_OK)
            lz_llvm_end();
    }
}
