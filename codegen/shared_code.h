/* shared_code.h - cache of micro-kernels that several kernels contain. Half of a GEMM's compile
 * time is its register tile, and most GEMMs of a program have one of a few. So a micro-kernel is a
 * module of its own, and the image (code_image.h) that the JIT makes of it is kept for the process,
 * keyed by the module's bytes and the target. The kernel calls it by the name that lz_shared_name
 * gives; lz_code_join links both images into one, so a stored kernel is complete.
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
