/* codegen.h - from one loop-IR kernel to machine code, through LLVM: an image that runs at any
 * address (code_image.h).
 * libLLVM is loaded at the first compile (dlopen); a process that finds everything in the cache
 * never loads it.
 * It defines these functions and needs only the symbols lz_jit_symbol() knows; it holds no
 * absolute address, path or time:
 *
 *     int64_t lz_grid(const int64_t *args);
 *         number of independent work units (>= 0)
 *     int64_t lz_scratch(const int64_t *args);
 *         bytes of 64-byte aligned scratch memory each thread needs; a kernel that needs none
 *         has no such function
 *     void lz_run(void *const *bufs, const int64_t *args, int64_t begin, int64_t end,
 *                 void *scratch);
 *         executes units begin..end-1; they may run on any thread in any order (a serial kernel
 *         has grid 1). bufs[i] is the address of kernel buffer i, aligned at least to its element
 *         size; args are the kernel's run-time sizes. Results do not depend on the division.
 *
 * Threads: thread-safe; every compilation has its own LLVM context. */
#ifndef LZ_CODEGEN_CODEGEN_H
#define LZ_CODEGEN_CODEGEN_H
#include "lower/loops/loop.h"
#include "lower/machine.h"
#include <string.h>

enum {
#define VARIANT(name, of, tried, doc) LZ_VARIANT_##name,
#include "codegen/variants.def"
    LZ_VARIANT_COUNT
};

typedef struct lz_target {
    char triple[64];
    char cpu[64]; /* LLVM name, "" generic */
    /* LLVM feature string, ISA features only (no tuning flags), sorted */
    char features[1024];
    lz_machine machine;       /* all known but for threads */
    uint32_t without, always; /* forms of code: bit per row of variants.def */
    bool simt;                /* code is one thread of many: codegen/gpu/simt.h */
    int processors; /* simt: multiprocessors that products are laid out for (target_gpu.def) */
    bool wgmma;     /* simt: warpgroup MMA from shared memory (gpu/simt_wgmma.c) */
    bool tma;       /* simt: TMA loads (gpu/simt_dot_tma.c) */
    bool tf32;      /* simt: products of f32 may round their factors to tf32 */
} lz_target;
/* Whether it has a feature, by LLVM's name. */
static inline bool lz_target_has(const lz_target *t, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = t->features; (p = strstr(p, name)) != NULL; p += n)
        if (p > t->features && p[-1] == '+' && (p[n] == ',' || p[n] == 0))
            return true;
    return false;
}

/* Whether whole vectors are loaded under a mask by one instruction. */
static inline bool lz_target_masks(const lz_target *t)
{
    bool x86 = strncmp(t->triple, "x86_64", 6) == 0 && !t->simt;
    return x86 && (t->machine.vector_bytes == 64 || lz_target_has(t, "avx2"));
}

static inline bool lz_target_ptx(const lz_target *t) /* its object format is text: PTX */
{
    return strncmp(t->triple, "nvptx", 5) == 0;
}
/* Sets the forms of t as LAZULI_VARIANTS says, or as a list like it; LZ_EINVAL names what is no
 * form. lz_variants_print appends what is left out or always taken: part of keys. */
lz_status lz_variants_configured(lz_target *t);
lz_status lz_variants_parse(const char *list, lz_target *t);
void lz_variants_print(const lz_target *t, lz_buf *out);
/* Whether a form of code may be used, and whether it is used where it does not pay too. */
static inline bool lz_variant_may(const lz_target *t, int form)
{
    return !(t->without >> form & 1);
}
static inline bool lz_variant_always(const lz_target *t, int form)
{
    return t->always >> form & 1;
}
/* The name of the schedule that a kernel gets (schedules.def), for dumps, reports and tests. */
const char *lz_schedule_name(const lz_kernel *k, const lz_target *t);
/* Forms that a kernel is to have left out or always, besides those of the target: bit per row of
 * variants.def. */
typedef struct lz_variants {
    uint32_t without, always;
} lz_variants;
enum { LZ_VARIANTS_TRIED = 2 * LZ_VARIANT_COUNT };
/* What may give the kernel faster code than t does: one form each, of those that LAZULI_VARIANTS
 * says nothing of. Some give the same code. Gives their number. */
uint32_t lz_variants_tried(const lz_kernel *k, const lz_target *t,
                           lz_variants out[LZ_VARIANTS_TRIED]);
/* The machine this process runs on, from cpuid / getauxval / sysfs: does not need LLVM. LAZULI_CPU
 * may lower it. */
lz_status lz_target_host(lz_target *out);
/* Whether the host can run code that needs `features` (a cache entry's string; tuning flags in it
 * are ignored). */
bool lz_target_runs(const char *features);

typedef void (*lz_run_fn)(void *const *bufs, const int64_t *args, int64_t begin, int64_t end,
                          void *scratch);
typedef int64_t (*lz_size_fn)(const int64_t *args);

/* Compiles a finished kernel; for a target of many threads (simt.h), `code` gets what that says.
 * Errors: LZ_EUNAVAILABLE (no libLLVM-19, with its name), LZ_EUNSUPPORTED, LZ_ECOMPILE (LLVM's
 * message), LZ_EMEM.
 * When ll / as are not NULL the LLVM IR and the assembly are written there too (LAZULI_DUMP); then
 * the code is one module with the same functions in it. */
lz_status lz_llvm_compile(const lz_kernel *k, const lz_target *t, lz_buf *code, lz_buf *ll,
                          lz_buf *as);
/* Hash of what that would compile: equal ones are the same code. Costs a tenth of it. */
lz_status lz_llvm_fingerprint(const lz_kernel *k, const lz_target *t, lz_hash *out);
/* Part of the key of stored code: raise it when the same kernel gives other code. */
enum { LZ_CODEGEN_VERSION = 25 };
/* "19.1.7" as built against; part of keys; does not load LLVM */
const char *lz_llvm_version(void);
uint64_t lz_llvm_compile_count(void); /* kernels compiled by this process */
uint64_t lz_jit_kernels(void);        /* those that LLVM ORC linked (jit.h) */
/* How long the calling thread has linked so far, without generating what it linked. */
int64_t lz_jit_thread_ns(void);
uint64_t lz_llvm_machine_count(void); /* LLVM's target machines made by this process */
/* Address of an external symbol generated code may refer to (fmod, memcpy, ...: a fixed list); NULL
 * for any other name. */
void *lz_jit_symbol(const char *name);
/* The process exits, and nothing is compiled any more: lz_llvm_compile is LZ_ECOMPILE. */
bool lz_llvm_over(void);
/* Loads LLVM, where it is there. For who starts threads that will generate code and waits for them:
 * loading needs the dynamic linker's lock, which a thread holds that runs the constructors or
 * destructors of a library being loaded or closed, and these may compute. */
void lz_llvm_prepare(void);
#endif
