/* f_elf_object.c - an object file: refused, or linked inside the memory it was given. It is never run. */
#include "backends/cpu/elfload.h"
#include "backends/llvm/codegen.h"
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
    size_t bound = lz_elf_bound(obj, n);
    if (!lz_elf_link(obj, n, &im)) {
        if (im.used > sizeof mem || im.used > bound)
            abort();
        for (int i = 0; i < im.nsyms; i++)
            if (im.syms[i].offset >= im.used || strlen(im.syms[i].name) > n)
                abort();
    }
    free(obj);
    return 0;
}
