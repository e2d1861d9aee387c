/* shared_code.h - code of functions that kernels have alike. The register tile of a product takes
 * half of the time that its code takes to make, and most products of a program have the same few.
 * So such a function is a module of its own, and what comes of it is kept for the process, by the
 * module's bytes and the target. The code of a kernel is then several objects one behind the other:
 * those of its shared functions, and its own, which calls them by the names of lz_shared_name.
 * Whoever stores it has all of it.
 * Threads: thread-safe. */
#ifndef LZ_CODEGEN_SHARED_CODE_H
#define LZ_CODEGEN_SHARED_CODE_H
#include "codegen/codegen.h"

enum { LZ_SHARED = 5, LZ_OBJECTS = LZ_SHARED + 1 };  /* of a kernel, at most */
static inline const char *lz_shared_name(uint32_t i) /* i < LZ_SHARED */
{
    static const char *const name[LZ_SHARED] = {"lz_shared0", "lz_shared1", "lz_shared2",
                                                "lz_shared3", "lz_shared4"};
    return name[i];
}

/* Appends the object of a shared function to `out`: the one that is kept for these bytes of its
 * module, or what `make` appends, which is kept from then on. While another thread makes it: waits
 * where `busy` is NULL, else sets *busy and appends nothing. Errors: those of make, LZ_EMEM. */
lz_status lz_shared_object(const lz_target *t, const void *module, size_t nbytes,
                           lz_status (*make)(void *user, lz_buf *out), void *user, lz_buf *out,
                           bool *busy);
uint64_t lz_shared_made(void); /* by this process */

/* ---- several objects as one ---- */

typedef struct lz_object {
    const void *at; /* 8-byte aligned */
    size_t nbytes;
} lz_object;
/* Appends them to an empty `out`. */
void lz_objects_join(const lz_object *o, uint32_t n, lz_buf *out);
/* Takes bytes, which are 8-byte aligned, apart again; what is no join is one object. false: it
 * cannot be one. */
bool lz_objects_split(const void *bytes, size_t nbytes, lz_object o[LZ_OBJECTS], uint32_t *n);
#endif
