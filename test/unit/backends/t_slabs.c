/* t_slabs.c - blocks of slabs on systems with pages of 4, 16 and 64 KiB: what is given back is
 * zeros when it is cut again, and no neighbour loses anything. The system's calls are the test's,
 * which behave as Linux with such pages: addresses begin on one, lengths are rounded up. */
#include "backends/cpu/slabs.h"
#include "suite.h"
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page = 4096, returned; /* bytes */

long sysconf(int name)
{
    static long (*real)(int);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "sysconf");
    return name == _SC_PAGESIZE ? (long)page : real(name);
}

int madvise(void *p, size_t n, int advice)
{
    if (advice != MADV_DONTNEED)
        return 0;
    if ((uintptr_t)p % page) {
        errno = EINVAL;
        return -1;
    }
    n = (n + page - 1) / page * page;
    memset(p, 0, n);
    returned += n;
    return 0;
}

enum { BLOCKS = 60, STEPS = 3000 };
typedef struct block {
    unsigned char *p;
    size_t n;
    unsigned char fill;
} block;

static void holds(const block *b, unsigned char what)
{
    for (size_t k = 0; k < b->n; k += 512)
        ck_assert_msg(b->p[k] == what && b->p[k + 511] == what, "byte %zu of %zu at %p: %d, not %d",
                      k, b->n, (void *)b->p, b->p[k], what);
}

START_TEST(neighbours)
{
    block b[BLOCKS] = {{0}};
    uint32_t rng = lz_test_seed() + (uint32_t)_i, slabs, gaps;
    page = (size_t)4096 << 2 * _i;
    returned = 0;
    for (int s = 0; s < STEPS; s++) {
        rng = rng * 1664525 + 1013904223;
        block *x = &b[(rng >> 16) % BLOCKS];
        if (x->p) {
            holds(x, x->fill);
            lz_slab_give(x->p, x->n);
            x->p = NULL;
            continue;
        }
        x->n = (size_t)LZ_SLAB_PAGE * (1 + (rng >> 8) % 40);
        x->p = lz_slab_cut(x->n);
        ck_assert_ptr_nonnull(x->p);
        holds(x, 0);
        x->fill = (unsigned char)(1 + s % 255);
        memset(x->p, x->fill, x->n);
    }
    for (int i = 0; i < BLOCKS; i++)
        if (b[i].p) {
            holds(&b[i], b[i].fill);
            lz_slab_give(b[i].p, b[i].n);
        }
    lz_slab_count(&slabs, &gaps);
    ck_assert_uint_eq(slabs, 0);
    ck_assert_uint_gt(returned, 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("slabs");
    TCase *t = tcase_create("pages");
    tcase_add_loop_test(t, neighbours, 0, 3);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
