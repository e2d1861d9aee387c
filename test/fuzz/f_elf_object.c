/* f_elf_object.c - an object file, or several as one: refused, or linked inside the memory they
 * were given. They are never run. */
#include "backends/cpu/elfload.h"
#include "codegen/codegen.h"
#include "codegen/shared_code.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static _Alignas(64) uint8_t mem[1 << 16];
    uint64_t *obj = malloc(n + 8); /* aligned, and as large as it is: overruns are seen */
    if (!obj)
        return 0;
    memcpy(obj, data, n);
    lz_elf_sym syms[8];
    lz_elf_image im = {.mem = mem,
                       .cap = sizeof mem,
                       .run_at = (uint64_t)(uintptr_t)mem,
                       .resolve = lz_jit_symbol,
                       .syms = syms,
                       .max_syms = 8};
    lz_object o[LZ_OBJECTS];
    uint32_t count = 0;
    size_t bound = 0;
    bool good = lz_objects_split(obj, n, o, &count);
    for (uint32_t i = 0; i < count && good; i++) {
        bound += lz_elf_bound(o[i].at, o[i].nbytes) + 64;
        good =
            !(i ? lz_elf_add(o[i].at, o[i].nbytes, &im) : lz_elf_link(o[i].at, o[i].nbytes, &im));
    }
    if (good) {
        if (im.used > sizeof mem || im.used > bound)
            abort();
        for (int i = 0; i < im.nsyms; i++)
            if (im.syms[i].offset >= im.used || strlen(im.syms[i].name) > n)
                abort();
    }
    free(obj);
    return 0;
}
