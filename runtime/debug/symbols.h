/* symbols.h - function names of frames in analyses, from the module's own symbol table, so that a
 * program needs no -rdynamic. Threads: thread-safe. */
#ifndef LZ_RUNTIME_DEBUG_SYMBOLS_H
#define LZ_RUNTIME_DEBUG_SYMBOLS_H
#include <stddef.h>
#include <stdint.h>

/* The function around a return address: its name ("??" when unknown), and the base name of its
 * module with the offset inside it. */
void lz_symbol_of(const void *return_address, char *name, size_t nname, char *module,
                  size_t nmodule, uintptr_t *offset);
#endif
