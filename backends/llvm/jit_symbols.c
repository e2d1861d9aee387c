/* jit_symbols.c - the external functions generated code may call, and nothing else.
 * Threads: pure. */
#include "backends/llvm/codegen.h"
#include <math.h>
#include <string.h>

#define FUNCTIONS(F)                                                                               \
    F(exp)                                                                                         \
    F(expm1)                                                                                       \
    F(log)                                                                                         \
    F(log1p) F(tanh) F(erf) F(cbrt) F(sin) F(cos) F(tan) F(pow) F(atan2) F(hypot) F(fmod) F(fmodf) \
        F(sinf) F(cosf) F(tanf) F(fma) F(fmaf) F(roundevenf) F(roundeven) F(memcpy) F(memmove)     \
            F(memset)

void *lz_jit_symbol(const char *name)
{
    static const struct {
        const char *name;
        void (*fn)(void);
    } rows[] = {
#define ROW(f) {#f, (void (*)(void))f},
        FUNCTIONS(ROW)
#undef ROW
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return (void *)(uintptr_t)rows[i].fn;
    return NULL;
}
