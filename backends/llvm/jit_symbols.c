/* jit_symbols.c - the external functions generated code may call, and nothing else.
 * Threads: pure. */
#include "backends/llvm/codegen.h"
#include <math.h>
#include <string.h>

typedef struct symbol {
    const char *name;
    void (*fn)(void);
} symbol;
#define ROW(f)                                                                                     \
    {                                                                                              \
#f, (void (*)(void))f                                                                      \
    }
static const symbol symbols[] = {
    ROW(exp),       ROW(expm1),  ROW(log),     ROW(log1p),  ROW(tanh),  ROW(erf),   ROW(cbrt),
    ROW(sin),       ROW(cos),    ROW(tan),     ROW(pow),    ROW(atan2), ROW(hypot), ROW(fmod),
    ROW(fmodf),     ROW(sinf),   ROW(cosf),    ROW(tanf),   ROW(fma),   ROW(fmaf),  ROW(roundevenf),
    ROW(roundeven), ROW(memcpy), ROW(memmove), ROW(memset),
};

void *lz_jit_symbol(const char *name)
{
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        if (strcmp(symbols[i].name, name) == 0)
            return (void *)(uintptr_t)symbols[i].fn;
    return NULL;
}
