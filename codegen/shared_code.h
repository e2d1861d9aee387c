/* shared_code.h - code of functions that kernels have alike. The register tile of a product takes
 * half of the time that its code takes to make, and most products of a program have the same few.
 * So such a function is a module of its own, and the image (code_image.h) that the JIT makes of it
 * is kept for the process, by the module's bytes and the target. The kernel calls it by the name
 * lz_shared_name gives it; its image and those of what it shares become one (lz_code_join), so
 * whoever stores it has all of it.
 * Threads: thread-safe. */
#ifndef LZ_CODEGEN_SHARED_CODE_H
#define LZ_CODEGEN_SHARED_CODE_H
#include "codegen/codegen.h"

enum { LZ_SHARED = 5 };                              /* of a kernel, at most */
static inline const char *lz_shared_name(uint32_t i) /* i < LZ_SHARED */
{
    static const char *const name[LZ_SHARED] = {"lz_shared0", "lz_shared1", "lz_shared2",
                                                "lz_shared3", "lz_shared4"};
    return name[i];
}

/* Appends the image of a shared function to `out`: the one that is kept for these bytes of its
 * module, or what `make` appends, which is kept from then on. While another thread makes it: waits
 * where `busy` is NULL, else sets *busy and appends nothing. Errors: those of make, LZ_EMEM. */
lz_status lz_shared_image(const lz_target *t, const void *module, size_t nbytes,
                          lz_status (*make)(void *user, lz_buf *out), void *user, lz_buf *out,
                          bool *busy);
uint64_t lz_shared_made(void); /* by this process */
#endif
