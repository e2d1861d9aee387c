/* names.c - see names.h: open addressing, linear probing, at most 3/4 full. */
#include "ir/text/names.h"
#include "base/hash.h"
#include <string.h>

static lz_slice name_of(const void *items, size_t size, uint32_t place)
{
    lz_slice name;
    memcpy(&name, (const char *)items + place * size, sizeof name);
    return name;
}

static uint32_t home(const lz_names *n, lz_slice name)
{
    return (uint32_t)lz_hash_seeded(name.s, name.n, (uintptr_t)n->slots).lo & (n->cap - 1);
}

uint32_t lz_names_find(const lz_names *n, const void *items, size_t size, lz_slice name)
{
    if (!n->cap)
        return 0;
    for (uint32_t i = home(n, name);; i = (i + 1) & (n->cap - 1)) {
        uint32_t found = n->slots[i];
        if (!found)
            return 0;
        lz_slice x = name_of(items, size, found - 1);
        if (x.n == name.n && memcmp(x.s, name.s, x.n) == 0)
            return found;
    }
}

static void insert(lz_names *n, lz_slice name, uint32_t place)
{
    uint32_t i = home(n, name);
    while (n->slots[i])
        i = (i + 1) & (n->cap - 1);
    n->slots[i] = place + 1;
}

lz_status lz_names_add(lz_names *n, const void *items, size_t size, uint32_t place)
{
    if (((uint64_t)n->len + 1) * 4 > (uint64_t)n->cap * 3) {
        lz_names more = {.len = n->len, .cap = n->cap ? 2 * n->cap : 16};
        more.slots = more.cap ? lz_calloc(more.cap, sizeof *more.slots) : NULL;
        if (!more.slots)
            return LZ_FAIL(LZ_EMEM, "no memory for %u names", n->len);
        for (uint32_t i = 0; i < n->cap; i++)
            if (n->slots[i])
                insert(&more, name_of(items, size, n->slots[i] - 1), n->slots[i] - 1);
        lz_free(n->slots);
        *n = more;
    }
    insert(n, name_of(items, size, place), place);
    n->len++;
    return LZ_OK;
}

void lz_names_free(lz_names *n)
{
    lz_free(n->slots);
    *n = (lz_names){0};
}
