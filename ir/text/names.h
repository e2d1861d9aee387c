/* names.h - what a text names, by name: places in an array whose items begin with their names. Four
 * to eleven bytes for each, where a map of hashes takes ten times that; a text may name very much.
 * Threads: thread-compatible. */
#ifndef LZ_IR_TEXT_NAMES_H
#define LZ_IR_TEXT_NAMES_H
#include "ir/text/lexer.h"

/* Zero-initialise. */
typedef struct lz_names {
    uint32_t *slots; /* place + 1; 0: free */
    uint32_t len, cap;
} lz_names;
/* The place + 1 of the item of this name, of items of `size` bytes; 0: none. */
uint32_t lz_names_find(const lz_names *n, const void *items, size_t size, lz_slice name);
/* Item `place`, whose name is new. LZ_EMEM. */
lz_status lz_names_add(lz_names *n, const void *items, size_t size, uint32_t place);
void lz_names_free(lz_names *n);
#endif
