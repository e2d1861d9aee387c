/* scratch.c - see scratch.h. The memory stays for the next execution. Under the address sanitizer,
 * which does not instrument compiled kernels, each part ends at a page that cannot be accessed. */
#include "backends/cpu/scratch.h"
#include "backends/cpu/cpu_mem.h"
#include "base/alloc.h"
#include <string.h>
#if defined(__SANITIZE_ADDRESS__)
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
        *s = (lz_scratch){.memory = m, .nbytes = all, .first = m + body - each, .apart = apart};
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
#include "backends/cpu/slabs.h"
#include <sys/mman.h>

/* Of no device: a mapping. */
static lz_status map(lz_scratch *s, size_t nbytes)
{
    if (s->nbytes >= nbytes)
        return LZ_OK;
    lz_scratch_free(s, LZ_NO_DEVICE);
    s->memory = lz_map_huge(LZ_ALIGN_UP(nbytes, LZ_SLAB_PAGE));
    if (!s->memory)
        return LZ_FAIL(LZ_EDEVMEM, "no memory for kernels to work in: %zu bytes", nbytes);
    s->nbytes = LZ_ALIGN_UP(nbytes, LZ_SLAB_PAGE);
    s->mapped = true;
    return LZ_OK;
}

lz_status lz_scratch_room(lz_scratch *s, int device, size_t each, size_t parts)
{
    size_t nbytes = each * parts;
    if (device == LZ_NO_DEVICE)
        LZ_TRY(map(s, nbytes));
    else if (s->mapped && s->nbytes < nbytes)
        lz_scratch_free(s, device);
    if (!s->mapped)
        LZ_TRY(lz_mem_grow(device, nbytes, &s->memory, &s->nbytes));
    s->first = s->memory;
    s->apart = each;
    return LZ_OK;
}

void lz_scratch_free(lz_scratch *s, int device)
{
    if (s->mapped)
        (void)munmap(s->memory, s->nbytes);
    else
        lz_mem_free(device, s->memory, s->nbytes);
    memset(s, 0, sizeof *s);
}
#endif
