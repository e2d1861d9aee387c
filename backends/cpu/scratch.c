/* scratch.c - see scratch.h. The memory stays for the next execution. Under the address sanitizer,
 * which does not instrument compiled kernels, each part ends at a page that cannot be accessed. */
#include "backends/cpu/scratch.h"
#include "backends/cpu/cpu_mem.h"
#include "base/alloc.h"
#include <string.h>
#if defined(__SANITIZE_ADDRESS__)
#include <stdbool.h>
#include <sys/mman.h>

enum { PAGE = 4096, GUARD = 64 << 20 };

lz_status lz_scratch_room(lz_scratch *s, int device, size_t each, size_t parts)
{
    size_t body = LZ_ALIGN_UP(each, PAGE), apart = body + GUARD, all = apart * parts;
    if (s->apart == apart && s->nbytes >= all) {
        s->first = (char *)s->memory + body - each;
        return LZ_OK;
    }
    lz_scratch_free(s, device);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    char *m = each ? mmap(NULL, all, PROT_NONE, flags, -1, 0) : NULL;
    bool failed = m == MAP_FAILED;
    if (m && !failed)
        *s = (lz_scratch){m, all, m + body - each, apart};
    for (size_t i = 0; s->memory && i < parts; i++)
        failed |= mprotect(m + i * apart, body, PROT_READ | PROT_WRITE) != 0;
    if (failed) {
        lz_scratch_free(s, device);
        return LZ_FAIL(LZ_EDEVMEM, "no memory for kernels to work in: %zu bytes", each * parts);
    }
    return LZ_OK;
}

void lz_scratch_free(lz_scratch *s, int device)
{
    (void)device;
    if (s->memory)
        (void)munmap(s->memory, s->nbytes);
    memset(s, 0, sizeof *s);
}
#else

lz_status lz_scratch_room(lz_scratch *s, int device, size_t each, size_t parts)
{
    LZ_TRY(lz_mem_grow(device, each * parts, &s->memory, &s->nbytes));
    s->first = s->memory;
    s->apart = each;
    return LZ_OK;
}

void lz_scratch_free(lz_scratch *s, int device)
{
    lz_mem_free(device, s->memory, s->nbytes);
    memset(s, 0, sizeof *s);
}
#endif
