/* jit_symbols.c - the external functions generated code may call, and nothing else.
 * Threads: pure. */
#include "codegen/codegen.h"
#include "ir/eval/special.h"
#include <math.h>
#include <string.h>

/* lz_<name> of doubles: the function of ir/eval/special.h, rounded */
#define SPECIAL1(name)                                                                             \
    static double special_##name(double x)                                                         \
    {                                                                                              \
        return (double)lz_sf_##name(x);                                                            \
    }
#define SPECIAL2(name)                                                                             \
    static double special_##name(double x, double y)                                               \
    {                                                                                              \
        return (double)lz_sf_##name(x, y);                                                         \
    }
SPECIAL1(bessel_i1e)
SPECIAL1(digamma)
SPECIAL1(erf_inv)
SPECIAL1(lgamma)
SPECIAL2(polygamma)
SPECIAL2(zeta)

/* Beyond its tables a C library reduces by a few words of pi less than near multiples of pi/2 need:
 * glibc's cos is 8 units off next to one. Its long double functions are not. */
#define TURN(name)                                                                                 \
    static double turn_##name(double x)                                                            \
    {                                                                                              \
        return fabs(x) < 0x1p26 ? name(x) : (double)name##l(x);                                    \
    }
TURN(sin)
TURN(cos)
TURN(tan)

typedef struct symbol {
    const char *name;
    void (*fn)(void);
} symbol;
#define ROW(f)                                                                                     \
    {                                                                                              \
#f, (void (*)(void))f                                                                      \
    }
#define SPECIAL(f)                                                                                 \
    {                                                                                              \
        "lz_" #f, (void (*)(void))special_##f                                                      \
    }
#define ROW_TURN(f)                                                                                \
    {                                                                                              \
#f, (void (*)(void))turn_##f                                                               \
    }
static const symbol symbols[] = {
    ROW(exp),         ROW(expm1),       ROW(log),        ROW(log1p),         ROW(tanh),
    ROW(erf),         ROW(cbrt),        ROW_TURN(sin),   ROW_TURN(cos),      ROW_TURN(tan),
    ROW(pow),         ROW(atan2),       ROW(hypot),      ROW(fmod),          ROW(fmodf),
    ROW(sinf),        ROW(cosf),        ROW(tanf),       ROW(fma),           ROW(fmaf),
    ROW(roundevenf),  ROW(roundeven),   ROW(memcpy),     ROW(memmove),       ROW(memset),
    ROW(acos),        ROW(acosh),       ROW(asin),       ROW(asinh),         ROW(atan),
    ROW(atanh),       ROW(cosh),        ROW(sinh),       ROW(erfc),          SPECIAL(bessel_i1e),
    SPECIAL(digamma), SPECIAL(erf_inv), SPECIAL(lgamma), SPECIAL(polygamma), SPECIAL(zeta),
};

void *lz_jit_symbol(const char *name)
{
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        if (strcmp(symbols[i].name, name) == 0)
            return (void *)(uintptr_t)symbols[i].fn;
    return NULL;
}
