/* assembler.h - NVIDIA's assembler, where it is installed. */
#ifndef LZ_TEST_ASSEMBLER_H
#define LZ_TEST_ASSEMBLER_H
#include <stdlib.h>
#include <unistd.h>

/* Its path, or what LZ_TEST_PTXAS says; NULL: there is none. */
static inline const char *assembler(void)
{
    static const char *const places[] = {"/usr/local/cuda/bin/ptxas", "/usr/bin/ptxas"};
    const char *given = getenv("LZ_TEST_PTXAS");
    if (given)
        return given;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (access(places[i], X_OK) == 0)
            return places[i];
    return NULL;
}
#endif
