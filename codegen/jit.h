/* jit.h - fresh code through LLVM ORC: an ExecutionSession with an RTDyld object layer makes an
 * image (code_image.h) of what is compiled.
 *
 * A kernel is a custom materialisation unit: ORC asks for its symbols, the unit generates the
 * object and gives it to the object layer, RTDyld links it into memory that our callbacks give it,
 * all sections in one block. That block is ordinary memory, never executable: references within it
 * are relative, so the bytes run wherever they are copied to. External functions are reached
 * through words of the block (RTDyld's GOT; on AArch64 stubs that load the address); the definition
 * generator answers each name it knows with an address that stands for it, and where such an
 * address is found after linking, the image gets a slot. When the image has been taken, the
 * kernel's ResourceTracker is removed (each unit has the session's JITDylib to itself), and the
 * session holds nothing of it.
 *
 * A session's dispatcher runs any unit that waits, of whichever thread, in the middle of another
 * one's link. So a thread that compiles has a session to itself while it does, from a pool;
 * generating code is as parallel as its callers are, no lock of ORC is shared, and an error belongs
 * to who caused it.
 * Threads: thread-safe. */
#ifndef LZ_CODEGEN_JIT_H
#define LZ_CODEGEN_JIT_H
#include "codegen/code_image.h"
#include "codegen/llvm/llvm_api.h"

enum { LZ_JIT_EXTERNS = 64 }; /* functions outside that a unit calls: more than are known */

typedef struct lz_jit_unit {
    /* Generates the object, while its symbols are materialised. */
    lz_status (*make)(void *user, LLVMMemoryBufferRef *object);
    void *user;
    const char *name;                 /* for errors */
    const char *funcs[LZ_CODE_FUNCS]; /* all global functions that the object defines */
    uint32_t nfunc;
    bool shared; /* a function that kernels share, not a kernel */
} lz_jit_unit;

/* Appends the image of the unit. Errors: those of make; LZ_EINTERNAL with what the session has
 * reported; LZ_EUNAVAILABLE: LLVM makes no session; LZ_EMEM. Needs lz_llvm_load. */
lz_status lz_jit_link(const lz_jit_unit *u, lz_buf *image);

typedef struct lz_jit_stats {
    uint64_t linked;   /* units that became images; lz_jit_kernels: those that are kernels */
    uint64_t sessions; /* made by this process */
} lz_jit_stats;
void lz_jit_get_stats(lz_jit_stats *out);
#endif
