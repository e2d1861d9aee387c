/* t_code_memory.c - kernels in executable memory: images as the JIT makes them, external functions,
 * images that are refused, memory that is packed, given back and never writable and executable. */
#include "codegen/code_memory.h"
#include "suite.h"
#include <elf.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* y[i] = f(x[i]); f64 transcendentals are calls of external functions. */
static const char text[] =
    "kernel \"map\" vec(outer) {\n  buf 0: f64 read\n  buf 1: f64 write\n  outer [%d]\n"
    "  stage 0 inner [] {\n    %%0: f64 = load 0 = 0[0 + 1 i0]\n    %%1: f64 = %s\n"
    "    store 1[0 + 1 i0] = %%1\n  }\n}\n";

static lz_buf image(const char *op)
{
    char t[1024];
    lz_kernel *k;
    lz_target target;
    lz_buf obj = {0};
    snprintf(t, sizeof t, text, 100, op);
    ck_assert_msg(lz_kernel_parse(t, strlen(t), &k) == LZ_OK, "%s", lz_error_get()->message);
    ck_assert_int_eq(lz_target_host(&target), LZ_OK);
    ck_assert_msg(lz_llvm_compile(k, &target, &obj, NULL, NULL) == LZ_OK, "%s",
                  lz_error_get()->message);
    lz_kernel_free(k);
    return obj;
}

static double call(const lz_code *c, double v)
{
    double x[100], y[100];
    int64_t args[1] = {100};
    for (int i = 0; i < 100; i++)
        x[i] = v + i;
    _Alignas(64) static char scratch[1 << 16];
    ck_assert_int_le(c->scratch(args), (int64_t)sizeof scratch);
    int64_t n = c->grid(args);
    ck_assert_int_ge(n, 1);
    c->run((void *[]){x, y}, args, 0, n, scratch);
    return y[7];
}

START_TEST(loads_and_runs)
{
    lz_buf a = image("negate %0"), b = image("cosine %0");
    lz_code ca, cb;
    lz_code_stats s;
    ck_assert_msg(lz_code_load(a.data, a.len, &ca) == LZ_OK, "%s", lz_error_get()->message);
    ck_assert_msg(lz_code_load(b.data, b.len, &cb) == LZ_OK, "%s", lz_error_get()->message);
    lz_code_get_stats(&s);
    ck_assert_uint_eq(s.kernels, 2);
    ck_assert_uint_eq(s.regions, 1);
    ck_assert_uint_eq(s.live_bytes, ca.nbytes + cb.nbytes);
    ck_assert(call(&ca, 1.5) == -8.5);
    ck_assert_double_eq_tol(call(&cb, 1.5), cos(8.5), 1e-14);
    lz_code_free(&ca);
    ck_assert_double_eq_tol(call(&cb, 2.5), cos(9.5), 1e-14);
    lz_code_free(&cb);
    lz_code_free(&cb);
    lz_code_get_stats(&s);
    ck_assert_uint_eq(s.live_bytes, 0);
    ck_assert_uint_eq(s.kernels, 0);
    lz_buf_free(&a);
    lz_buf_free(&b);
}
END_TEST

static int count_maps(void)
{
    FILE *f = fopen("/proc/self/maps", "r");
    char line[512];
    int n = 0;
    while (fgets(line, sizeof line, f))
        n++;
    fclose(f);
    return n;
}

static void check_permissions(void)
{
    FILE *f = fopen("/proc/self/maps", "r");
    char line[512], perms[8];
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "%*s %7s", perms) == 1)
            ck_assert_msg(perms[1] != 'w' || perms[2] != 'x', "%s", line);
    fclose(f);
}

START_TEST(no_page_is_writable_and_executable)
{
    lz_buf a = image("negate %0");
    lz_code c;
    ck_assert_int_eq(lz_code_load(a.data, a.len, &c), LZ_OK);
    check_permissions();
    lz_code_free(&c);
    lz_buf_free(&a);
}
END_TEST

START_TEST(thousands_of_kernels)
{
    enum { N = 20000 };
    lz_buf a = image("abs %0");
    lz_code *c = calloc(N, sizeof *c);
    lz_code_stats s;
    int before = count_maps();
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(lz_code_load(a.data, a.len, &c[i]), LZ_OK);
    lz_code_get_stats(&s);
    ck_assert_uint_eq(s.kernels, N);
    ck_assert_int_lt(count_maps() - before, 1000);
    ck_assert(call(&c[N - 1], -50) == 43);
    for (int i = 0; i < N; i += 2)
        lz_code_free(&c[i]);
    uint32_t regions = s.regions;
    for (int i = 0; i < N; i += 2) /* the holes are used again */
        ck_assert_int_eq(lz_code_load(a.data, a.len, &c[i]), LZ_OK);
    lz_code_get_stats(&s);
    ck_assert_uint_le(s.regions, regions + 1);
    for (int i = 0; i < N; i++) {
        if (i % 3331 == 0)
            ck_assert(call(&c[i], -50) == 43);
        lz_code_free(&c[i]);
    }
    lz_code_get_stats(&s);
    ck_assert_uint_eq(s.live_bytes, 0);
    ck_assert_uint_le(s.regions, 1);
    free(c);
    lz_buf_free(&a);
}
END_TEST

/* Without memory files: pages are switched between writable and executable. */
START_TEST(without_memory_files)
{
    lz_buf a = image("negate %0"), b = image("cosine %0");
    lz_code c[40];
    struct rlimit old, none;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
    none = old;
    none.rlim_cur = 0; /* no descriptor, so no memory file */
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    lz_status s = lz_code_load(a.data, a.len, &c[0]);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
    ck_assert_msg(s == LZ_OK, "%s", lz_error_get()->message);
    for (int i = 1; i < 40; i++)
        ck_assert_int_eq(lz_code_load(i & 1 ? b.data : a.data, i & 1 ? b.len : a.len, &c[i]),
                         LZ_OK);
    for (int i = 0; i < 40; i += 3)
        lz_code_free(&c[i]);
    ck_assert_int_eq(lz_code_load(a.data, a.len, &c[0]), LZ_OK);
    ck_assert(call(&c[0], 1.5) == -8.5);
    ck_assert(call(&c[4], 2.5) == -9.5);
    ck_assert_double_eq_tol(call(&c[35], 1.5), cos(8.5), 1e-14);
    check_permissions();
    for (int i = 0; i < 40; i++)
        lz_code_free(&c[i]);
    lz_code_stats st;
    lz_code_get_stats(&st);
    ck_assert_uint_eq(st.live_bytes, 0);
    lz_buf_free(&a);
    lz_buf_free(&b);
}
END_TEST

/* perf looks in /tmp/perf-PID.map for names of code in mappings without a file, and only there. */
START_TEST(perf_is_given_memory_without_a_file)
{
    setenv("LAZULI_PERF", "1", 1);
    lz_buf a = image("negate %0");
    lz_code c;
    ck_assert_int_eq(lz_code_load(a.data, a.len, &c), LZ_OK);
    FILE *f = fopen("/proc/self/maps", "r");
    char line[512];
    int found = 0;
    while (fgets(line, sizeof line, f)) {
        uintptr_t from, to, at = (uintptr_t)c.at;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &from, &to) == 2 && at >= from && at < to) {
            ck_assert_msg(!strpbrk(line, "/["), "%s", line);
            found++;
        }
    }
    fclose(f);
    ck_assert_int_eq(found, 1);
    check_permissions();
    ck_assert(call(&c, 1.5) == -8.5);
    lz_code_free(&c);
    lz_buf_free(&a);
}
END_TEST

/* Whatever is refused leaves nothing behind. */
static void refused(const void *image, size_t nbytes, const char *why)
{
    lz_code c;
    lz_code_stats s;
    ck_assert_int_eq(lz_code_load(image, nbytes, &c), LZ_ECORRUPT);
    if (why)
        ck_assert_msg(strstr(lz_error_get()->message, why), "%s", lz_error_get()->message);
    ck_assert_ptr_null(c.region);
    lz_code_free(&c);
    lz_code_get_stats(&s);
    ck_assert_uint_eq(s.live_bytes, 0);
    ck_assert_uint_eq(s.kernels, 0);
}

START_TEST(refusals)
{
    lz_buf a = image("cosine %0");
    uint8_t *p = (uint8_t *)a.data;
    refused(p, 0, NULL);
    refused("not an image at all, but long enough to hold the header of an image.", 64, "image");
    for (size_t n = 0; n < a.len; n += 1 + n / 16) /* cut off */
        refused(p, n, NULL);
    p[8] ^= EM_X86_64 ^ EM_AARCH64; /* another processor's */
    refused(p, a.len, NULL);
    p[8] ^= EM_X86_64 ^ EM_AARCH64;
    char *cosine = memmem(p, a.len, "\0cos\0", 5);
    ck_assert_ptr_nonnull(cosine);
    cosine[1] = 'z'; /* a function we do not lend */
    refused(p, a.len, "external");
    cosine[1] = 'c';
    char *run = memmem(p, a.len, "lz_run", 7);
    run[3] = 'g';
    refused(p, a.len, "functions of a kernel");
    run[3] = 'r';
    lz_code c;
    ck_assert_int_eq(lz_code_load(p, a.len, &c), LZ_OK);
    lz_code_free(&c);
    lz_buf_free(&a);
}
END_TEST

/* Bytes need not be aligned: they come out of the middle of a cache entry. */
START_TEST(any_alignment)
{
    lz_buf a = image("cosine %0");
    char *shifted = malloc(a.len + 8);
    for (int i = 0; i < 8; i++) {
        lz_code c;
        memcpy(shifted + i, a.data, a.len);
        ck_assert_int_eq(lz_code_load(shifted + i, a.len, &c), LZ_OK);
        ck_assert_double_eq_tol(call(&c, 1.5), cos(8.5), 1e-14);
        lz_code_free(&c);
    }
    free(shifted);
    lz_buf_free(&a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("code_memory");
    TCase *t = tcase_create("code_memory");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, loads_and_runs);
    tcase_add_test(t, no_page_is_writable_and_executable);
    tcase_add_test(t, thousands_of_kernels);
    tcase_add_test(t, without_memory_files);
    tcase_add_test(t, perf_is_given_memory_without_a_file);
    tcase_add_test(t, refusals);
    tcase_add_test(t, any_alignment);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
