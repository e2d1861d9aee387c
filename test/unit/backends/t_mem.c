/* t_mem.c - the pool of device memory: alignment, size classes, reuse, counters, the limit,
 * returning memory. */
#include "backends/cpu/cpu_mem.h"
#include "backends/cpu/scratch.h"
#include "backends/cpu/slabs.h"
#include "base/alloc.h"
#include "base/config.h"
#include "suite.h"
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static const size_t sizes[] = {0,       1,       63,      64,      65,      511,
                               512,     513,     1000,    4096,    65537,   1048575,
                               1048576, 1048577, 2097152, 3000000, 33554433};
enum { NSIZES = sizeof sizes / sizeof *sizes };

START_TEST(blocks)
{
    lz_mem_stats s;
    void *p[NSIZES];
    size_t cap[NSIZES], sum = 0;
    for (int i = 0; i < NSIZES; i++) {
        ck_assert_int_eq(lz_mem_alloc(1, sizes[i], &p[i], &cap[i]), LZ_OK);
        ck_assert_uint_eq((uintptr_t)p[i] % 64, 0);
        ck_assert_uint_ge(cap[i], sizes[i]);
        ck_assert_uint_le(cap[i], sizes[i] + sizes[i] / 7 + 64);
        if (cap[i] >= 16 << 20)
            ck_assert_uint_eq((uintptr_t)p[i] % (2 << 20), 0);
        memset(p[i], i, cap[i]);
        sum += cap[i];
    }
    lz_mem_get_stats(1, &s);
    ck_assert_uint_eq(s.used, sum);
    ck_assert_uint_eq(s.peak, sum);
    ck_assert_uint_eq(s.limit, 0);
    lz_mem_get_stats(0, &s);
    ck_assert_uint_eq(s.used, 0);
    for (int i = 0; i < NSIZES; i++) {
        for (size_t j = 0; j < cap[i]; j += 4093)
            ck_assert_int_eq(((unsigned char *)p[i])[j], i);
        lz_mem_free(1, p[i], cap[i]);
    }
    lz_mem_free(1, NULL, 0);
    lz_mem_get_stats(1, &s);
    ck_assert_uint_eq(s.used, 0);
    ck_assert_uint_eq(s.peak, sum);
    ck_assert_uint_eq(s.waiting, sum);
    for (int i = NSIZES - 1; i >= 0; i--) { /* the same blocks again */
        void *q;
        size_t c;
        ck_assert_int_eq(lz_mem_alloc(0, sizes[i], &q, &c), LZ_OK);
        ck_assert_uint_eq(c, cap[i]);
        lz_mem_free(0, q, c);
    }
    lz_mem_get_stats(0, &s);
    ck_assert_uint_eq(s.allocs, NSIZES);
    ck_assert_uint_eq(s.reuses, NSIZES);
    lz_mem_trim();
    lz_mem_get_stats(0, &s);
    ck_assert_uint_eq(s.waiting, 0);
}
END_TEST

START_TEST(waiting_is_bounded)
{
    lz_mem_stats s;
    uint64_t peak = 0;
    for (int i = 0; i < 400; i++) { /* ever other sizes: nothing is ever reused */
        void *p;
        size_t c;
        ck_assert_int_eq(lz_mem_alloc(0, (size_t)(1 << 16) + (size_t)i * 40000, &p, &c), LZ_OK);
        peak = c > peak ? c : peak;
        lz_mem_free(0, p, c);
        lz_mem_get_stats(0, &s);
        ck_assert_uint_le(s.waiting, peak > 1 << 20
                                         ? peak
                                         : 1 << 20); /* under 1 MiB it is not worth giving back */
    }
    lz_mem_trim();
}
END_TEST

/* The weights of a network lie side by side in a few mappings of huge pages; what is given back
 * makes room for other sizes. */
START_TEST(blocks_share_huge_pages)
{
    enum { N = 60 };
    static const size_t size[] = {1 << 20, 192 << 10, 768 << 10, 64 << 10};
    lz_mem_stats s;
    void *p[N], *q;
    size_t c[N], d, sum = 0;
    for (int i = 0; i < N; i++) {
        ck_assert_int_eq(lz_mem_alloc(0, size[i % 4], &p[i], &c[i]), LZ_OK);
        memset(p[i], i, c[i]);
        sum += c[i];
    }
    lz_mem_get_stats(0, &s);
    ck_assert_uint_eq(s.slabs, (sum + LZ_SLAB_BYTES - 1) / LZ_SLAB_BYTES);
    for (int i = 0; i < N; i += 2) /* those of 1 MiB and of 768 KiB */
        lz_mem_free(0, p[i], c[i]);
    lz_mem_trim();
    uint32_t before = s.slabs;
    lz_mem_get_stats(0, &s);
    ck_assert_uint_eq(s.waiting, 0);
    for (int i = 0; i < N; i += 2) { /* other sizes find room where they were */
        ck_assert_int_eq(lz_mem_alloc(0, 600 << 10, &p[i], &c[i]), LZ_OK);
        memset(p[i], i, c[i]);
    }
    lz_mem_get_stats(0, &s);
    ck_assert_uint_eq(s.slabs, before);
    for (int i = 0; i < N; i++) {
        for (size_t j = 0; j < c[i]; j += 997)
            ck_assert_int_eq(((unsigned char *)p[i])[j], i);
        lz_mem_free(0, p[i], c[i]);
    }
    lz_mem_trim();
    lz_mem_get_stats(0, &s);
    ck_assert_uint_eq(s.slabs, 0);
    ck_assert_uint_eq(s.gaps, 0);
    ck_assert_int_eq(lz_mem_alloc(0, (64 << 10) - 4096, &q, &d), LZ_OK); /* of the heap */
    lz_mem_get_stats(0, &s);
    ck_assert_uint_eq(s.slabs, 0);
    lz_mem_free(0, q, d);
    lz_mem_trim();
}
END_TEST

static size_t not_zero(const void *p, size_t n)
{
    size_t other = 0;
    for (size_t j = 0; j < n; j++)
        other += ((const unsigned char *)p)[j] != 0;
    return other;
}

START_TEST(zeros)
{
    lz_mem_stats before, s;
    void *p;
    size_t c;
    lz_mem_get_stats(0, &before);
    for (int i = 0; i < NSIZES; i++, lz_mem_trim())
        for (int again = 0; again < 2; again++) { /* untouched memory, then a block that was used */
            ck_assert_int_eq(lz_mem_zeros(0, sizes[i], &p, &c), LZ_OK);
            ck_assert_uint_eq(not_zero(p, sizes[i]), 0);
            memset(p, 0xff, c);
            lz_mem_free(0, p, c);
        }
    lz_mem_get_stats(0, &s);
    ck_assert_uint_eq(s.reuses - before.reuses, NSIZES);
    ck_assert_int_eq(lz_mem_zeros(-1, 1, &p, &c), LZ_EINVAL);
}
END_TEST

/* Stands before the C library's. */
static bool keeps_pages;
int madvise(void *p, size_t n, int advice)
{
    if (keeps_pages && advice == MADV_DONTNEED) {
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(SYS_madvise, p, n, advice);
}

/* The system takes no page that the process has locked: what was written there is still to be
 * seen. */
START_TEST(zeros_where_pages_stay)
{
    void *p, *q;
    size_t c, d;
    ck_assert_int_eq(lz_mem_alloc(0, 100 << 10, &p, &c), LZ_OK);
    ck_assert_int_eq(lz_mem_alloc(0, 100 << 10, &q, &d), LZ_OK); /* keeps the mapping */
    memset(p, 0xff, c);
    keeps_pages = true;
    lz_mem_free(0, p, c);
    lz_mem_trim();
    void *was = p;
    ck_assert_int_eq(lz_mem_zeros(0, 100 << 10, &p, &c), LZ_OK);
    ck_assert_ptr_eq(p, was);
    ck_assert_uint_eq(not_zero(p, c), 0);
    lz_mem_free(0, p, c);
    lz_mem_free(0, q, d);
    lz_mem_trim();
}
END_TEST

/* What there was no memory for is not there the next time either. */
START_TEST(no_memory_to_grow)
{
    void *p = NULL;
    size_t c = 0;
    lz_scratch s = {0};
    ck_assert_int_eq(lz_config_set("LAZULI_DEVICE_MEMORY_MB", "8"), LZ_OK);
    ck_assert_int_eq(lz_mem_grow(0, 1 << 20, &p, &c), LZ_OK);
    memset(p, 1, c);
    ck_assert_int_eq(lz_scratch_room(&s, 0, 1 << 20, 2), LZ_OK);
    memset(s.first + s.apart, 1, 1 << 20);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(lz_mem_grow(0, 16 << 20, &p, &c), LZ_EDEVMEM);
        ck_assert_ptr_null(p);
        ck_assert_uint_eq(c, 0);
#if defined(__SANITIZE_ADDRESS__) /* where scratch memory is none of the device's */
        size_t too_much = (size_t)1 << 47;
#else
        size_t too_much = 8 << 20;
#endif
        ck_assert_int_eq(lz_scratch_room(&s, 0, too_much, 2), LZ_EDEVMEM);
        ck_assert_ptr_null(s.memory);
    }
    ck_assert_int_eq(lz_config_set("LAZULI_DEVICE_MEMORY_MB", NULL), LZ_OK);
    ck_assert_int_eq(lz_mem_grow(0, 16 << 20, &p, &c), LZ_OK);
    ck_assert_int_eq(lz_scratch_room(&s, 0, 8 << 20, 2), LZ_OK);
    memset(s.first + s.apart, 1, 8 << 20);
    lz_mem_free(0, p, c);
    lz_scratch_free(&s, 0);
}
END_TEST

START_TEST(cap)
{
    lz_mem_stats s;
    void *p, *q;
    size_t c, d;
    ck_assert_int_eq(lz_config_set("LAZULI_DEVICE_MEMORY_MB", "8"), LZ_OK);
    ck_assert_int_eq(lz_mem_alloc(0, 6 << 20, &p, &c), LZ_OK);
    ck_assert_int_eq(lz_mem_alloc(0, 3 << 20, &q, &d), LZ_EDEVMEM);
    const char *m = lz_error_get()->message;
    ck_assert_msg(strstr(m, "3145728") && strstr(m, "6291456") && strstr(m, "8388608"), "%s", m);
    ck_assert_ptr_null(q);
    ck_assert_int_eq(lz_mem_alloc(1, 3 << 20, &q, &d), LZ_OK); /* each device has its own */
    lz_mem_free(1, q, d);
    lz_mem_free(0, p, c);
    ck_assert_int_eq(lz_mem_alloc(0, 7 << 20, &p, &c), LZ_OK);
    lz_mem_get_stats(0, &s);
    ck_assert_uint_le(s.used + s.waiting, 8 << 20);
    lz_mem_free(0, p, c);
    ck_assert_int_eq(lz_config_set("LAZULI_DEVICE_MEMORY_MB", NULL), LZ_OK);
    ck_assert_int_eq(lz_mem_alloc(0, (size_t)1 << 46, &p, &c), LZ_EDEVMEM);
    ck_assert_int_eq(lz_mem_alloc(0, SIZE_MAX, &p, &c), LZ_EDEVMEM);
    ck_assert_int_eq(lz_mem_alloc(0, SIZE_MAX / 2, &p, &c), LZ_EDEVMEM);
    ck_assert_int_eq(lz_mem_alloc(-1, 1, &p, &c), LZ_EINVAL);
    ck_assert_int_eq(lz_mem_alloc(LZ_MEM_DEVICES, 1, &p, &c), LZ_EINVAL);
    lz_mem_trim();
}
END_TEST

START_TEST(heap_failure)
{
    void *p, *q;
    size_t c;
    ck_assert_int_eq(lz_mem_alloc(0, 1000, &p, &c), LZ_OK);
    lz_mem_free(0, p, c);
    lz_alloc_fail_at(1, false);
    ck_assert_int_eq(lz_mem_alloc(0, 5000, &q, &c),
                     LZ_OK); /* gives the waiting block back and tries again */
    lz_mem_free(0, q, c);
    lz_mem_trim();
    lz_alloc_fail_at(1, true);
    ck_assert_int_eq(lz_mem_alloc(0, 5000, &q, &c), LZ_EDEVMEM);
    lz_alloc_fail_at(0, false);
}
END_TEST

static char failure;

static void *churn(void *arg)
{
    uint64_t x = (uint64_t)(uintptr_t)arg * 77 + 5;
    void *p[8] = {0};
    size_t c[8] = {0}, n[8] = {0};
    for (int i = 0; i < 3000; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        int k = (int)(x >> 40 & 7);
        for (size_t j = 0; j < n[k]; j += 999)
            if (((unsigned char *)p[k])[j] != (unsigned char)((uintptr_t)arg + (unsigned)k))
                return &failure;
        lz_mem_free(0, p[k], c[k]);
        n[k] = (size_t)(x >> 50) * (x >> 30 & 1 ? 1 : 7) + 1;
        if (lz_mem_alloc(0, n[k], &p[k], &c[k]) != LZ_OK)
            return &failure;
        memset(p[k], (int)((uintptr_t)arg + (unsigned)k), n[k]);
    }
    for (int k = 0; k < 8; k++)
        lz_mem_free(0, p[k], c[k]);
    return NULL;
}

START_TEST(threads)
{
    pthread_t t[4];
    lz_mem_stats s;
    for (uintptr_t i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, churn, (void *)(i * 16));
    for (int i = 0; i < 4; i++) {
        void *bad;
        pthread_join(t[i], &bad);
        ck_assert_ptr_null(bad);
    }
    lz_mem_get_stats(0, &s);
    ck_assert_uint_eq(s.used, 0);
    ck_assert_uint_eq(s.allocs, 12000);
    lz_mem_trim();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("mem");
    TCase *t = tcase_create("mem");
    tcase_set_timeout(t, 30);
    tcase_add_test(t, blocks);
    tcase_add_test(t, waiting_is_bounded);
    tcase_add_test(t, blocks_share_huge_pages);
    tcase_add_test(t, zeros);
    tcase_add_test(t, zeros_where_pages_stay);
    tcase_add_test(t, no_memory_to_grow);
    tcase_add_test(t, cap);
    tcase_add_test(t, heap_failure);
    tcase_add_test(t, threads);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
