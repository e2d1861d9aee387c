/* alloc.h - the only door to the heap, plus checked size arithmetic and arenas.
 * The embedder may set hooks (lz_set_allocator); test builds can make the n-th allocation fail
 * (lz_alloc_fail_at), so every caller must cope with NULL.
 * Threads: lz_alloc/lz_free are thread-safe; an arena is thread-compatible. */
#ifndef LZ_BASE_ALLOC_H
#define LZ_BASE_ALLOC_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* uninitialised, 16-byte aligned; NULL when exhausted; 0 bytes is 1 */
void *lz_alloc(size_t nbytes);
void *lz_calloc(size_t n, size_t size); /* zeroed; NULL on overflow too */
void *lz_realloc(void *p, size_t nbytes);
void lz_free(void *p);          /* NULL is fine */
char *lz_strdup(const char *s); /* NULL when exhausted or s is NULL */

typedef struct lz_alloc_hooks {
    void *(*alloc)(size_t nbytes, void *user);
    void *(*realloc)(void *p, size_t nbytes, void *user);
    void (*free)(void *p, void *user);
    void *user;
} lz_alloc_hooks;
/* false once anything has been allocated; NULL restores libc */
bool lz_alloc_set_hooks(const lz_alloc_hooks *h);
#ifdef LZ_DEBUG
bool lz_alloc_in_hook(void); /* the calling thread is in one */
#endif

/* Fault injection (tests): the n-th allocation from now on returns NULL (1 = the next); `repeat`:
 * all after it too. 0 turns it off. lz_alloc_count() counts allocations since process start: tests
 * bound them with it. */
void lz_alloc_fail_at(int64_t n, bool repeat);
uint64_t lz_alloc_count(void);
uint64_t lz_alloc_failed_count(void);
/* live allocations (count, not bytes), for tests of leaks */
int64_t lz_alloc_live_bytes_hint(void);

static inline bool lz_mul_size(size_t a, size_t b, size_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}
static inline bool lz_add_size(size_t a, size_t b, size_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}
static inline bool lz_mul_i64(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}
static inline bool lz_add_i64(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}
#define LZ_ALIGN_UP(x, a) (((x) + ((a)-1)) & ~((size_t)(a)-1))

/* Bump arena: everything is freed at once. Zero-initialise ({0}) to create. */
typedef struct lz_arena {
    struct lz_arena_block *head;
    size_t used, total;
} lz_arena;
/* 16-byte aligned, zeroed; NULL when exhausted */
void *lz_arena_alloc(lz_arena *a, size_t nbytes);
void *lz_arena_copy(lz_arena *a, const void *p, size_t nbytes);
char *lz_arena_strdup(lz_arena *a, const char *s);
char *lz_arena_printf(lz_arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void lz_arena_free(lz_arena *a); /* back to {0} */
/* Everything is freed, but for memory that what comes next begins in. */
void lz_arena_reset(lz_arena *a);
#endif
