/* t_cache_splice.c - values of a cache in one another's place, as somebody who may write into the
 * directory can put them there: the file copied under the other's name, or the entry made again,
 * intact, with the other's key. And values that are no values, under their own keys. Processes of
 * their own compute the same numbers, and what was wrong is counted, gone and replaced. */
#include "cachetest.h"
#include <lazuli/lazuli.h>
#include <math.h>

/* Equal types of parameters and results, other numbers: only the key says which is which. */
static lz_tensor *programs(int i, lz_tensor *x)
{
    switch (i) {
    case 0:
        return lz_add_scalar(x, 1);
    case 1:
        return lz_mul(x, x);
    case 2:
        return lz_exp(x);
    case 3:
        return lz_softmax(x, 1);
    case 4:
        return lz_cumsum(x, 0);
    case 5:
        return lz_matmul(x, lz_matmul(x, x));
    default:
        return lz_sum(x, .dims = LZ_DIM(0), .keepdim = true); /* another type of result */
    }
}
enum { NPROGRAMS = 7, N = 6, MOST = 64 };

typedef struct report {
    double sums[NPROGRAMS];
    lz_cache_counts counts;
    char error[200];
} report;

static void compute(report *r)
{
    float v[N * N];
    for (int i = 0; i < N * N; i++)
        v[i] = (float)(i * 7 % 11) / 8 - 0.5f;
    for (int p = 0; p < NPROGRAMS; p++) {
        lz_scope_begin();
        lz_tensor *y = programs(p, lz_from_host(LZ_F32, LZ_SHAPE(N, N), v));
        float got[N * N] = {0};
        if (lz_to_host(y, got, (size_t)lz_numel(y) * sizeof *got) != LZ_OK)
            r->sums[p] = NAN;
        for (int i = 0; i < N * N; i++)
            r->sums[p] += got[i] * (i + 1);
        lz_scope_end();
    }
    r->counts.struct_size = sizeof r->counts;
    lz_get_cache_counts(&r->counts);
    snprintf(r->error, sizeof r->error, "%s", lz_last_error_text());
}

static report use(void)
{
    report r = {.counts = {.struct_size = sizeof r.counts}};
    int p[2], status;
    ck_assert_int_eq(pipe2(p, O_CLOEXEC), 0);
    fflush(NULL);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        if (lz_initialize_cache(ct_dir, false) == LZ_OK)
            compute(&r);
        _exit(write(p[1], &r, sizeof r) == (ssize_t)sizeof r ? 0 : 1);
    }
    close(p[1]);
    bool whole = read(p[0], &r, sizeof r) == (ssize_t)sizeof r;
    close(p[0]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(whole && status == 0, "status %x: %s", status, r.error);
    return r;
}

static void same_numbers(const report *a, const report *b, const char *how, int shift)
{
    for (int p = 0; p < NPROGRAMS; p++)
        ck_assert_msg(a->sums[p] == b->sums[p], "%s by %d, program %d: %.9g, not %.9g (%s)", how,
                      shift, p, b->sums[p], a->sums[p], b->error);
}

/* ---- the files ---- */

typedef struct held {
    char path[400];
    uint8_t *bytes, *value;
    size_t n;
    lz_entry e; /* into bytes */
} held;
static held files[MOST];
static int nfiles;

static int hold(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    if (type != FTW_F || !lz_store_is_entry(path + ftw->base))
        return 0;
    lz_codec_pool pool = {0};
    const char *why;
    held *h = &files[nfiles++];
    ck_assert_int_le(nfiles, MOST);
    snprintf(h->path, sizeof h->path, "%s", path);
    h->bytes = ct_slurp(path, &h->n);
    ck_assert_int_eq(lz_entry_parse(h->bytes, h->n, &h->e, &why), LZ_ENTRY_OK);
    h->value = malloc((size_t)h->e.sec[LZ_SEC_VALUE].usize + 1);
    ck_assert_int_eq(lz_entry_value(&h->e, &pool, h->value), LZ_OK);
    lz_codec_pool_free(&pool);
    return 0;
}

static void hold_all(void)
{
    nfiles = 0;
    ck_assert_int_eq(nftw(ct_dir, hold, 32, FTW_PHYS), 0);
    ck_assert_int_ge(nfiles, 2 * NPROGRAMS - 2); /* programs and kernels, some in common */
}

static void let_go(void)
{
    while (nfiles > 0) {
        nfiles--;
        free(files[nfiles].bytes);
        free(files[nfiles].value);
    }
}

/* An intact entry at the place of `to`, with its key. */
static void make_entry(const held *to, const void *value, size_t nvalue)
{
    lz_entry_content c = {to->e.kind,
                          1,
                          to->e.build,
                          to->e.isa,
                          to->e.key,
                          value,
                          (size_t)to->e.sec[LZ_SEC_KEY].usize,
                          nvalue};
    uint8_t *bytes;
    size_t n;
    ck_assert_int_eq(lz_entry_encode(&c, &bytes, &n), LZ_OK);
    ct_spill(to->path, bytes, n);
    lz_free(bytes);
}

static void restore(void)
{
    ct_rm(ct_dir);
    ck_assert_int_eq(mkdir(ct_dir, 0700), 0);
    for (int i = 0; i < nfiles; i++) {
        char *slash = strrchr(files[i].path, '/');
        *slash = '\0';
        (void)mkdir(files[i].path, 0700);
        *slash = '/';
        ct_spill(files[i].path, files[i].bytes, files[i].n);
    }
}

/* Every entry's value in the place of every other's, one distance at a time. */
START_TEST(spliced)
{
    bool key_too = _i;
    report cold = use();
    hold_all();
    for (int shift = 1; shift < nfiles; shift++) {
        if (!lz_test_in_turn((unsigned)shift, ct_quick() ? 6 : 3))
            continue;
        restore();
        for (int i = 0; i < nfiles; i++) {
            const held *from = &files[(i + shift) % nfiles];
            if (key_too)
                make_entry(&files[i], from->value, (size_t)from->e.sec[LZ_SEC_VALUE].usize);
            else
                ct_spill(files[i].path, from->bytes, from->n);
        }
        report r = use(), again = use();
        same_numbers(&cold, &r, key_too ? "with its key" : "under its name", shift);
        same_numbers(&cold, &again, "after it", shift);
        ck_assert_uint_eq(r.counts.program_hits + r.counts.kernel_hits, 0);
        ck_assert_uint_eq(r.counts.corrupt, key_too ? (uint64_t)nfiles : 0);
        ck_assert_uint_eq(again.counts.program_misses + again.counts.llvm_compiles, 0);
        ck_assert_uint_eq(again.counts.corrupt, 0);
    }
    let_go();
}
END_TEST

/* Intact entries of every kind whose values are none: text, nothing, the right one with a bit
 * changed or an end missing. */
enum { TEXT, NOTHING, BIT, SHORT, NSPOILS };
START_TEST(spoiled)
{
    report cold = use();
    hold_all();
    uint64_t s = lz_test_seed() + (unsigned)_i;
    for (int i = 0; i < nfiles; i++) {
        size_t n = (size_t)files[i].e.sec[LZ_SEC_VALUE].usize;
        files[i].value[ct_rand(&s) % n] ^= (uint8_t)(_i == BIT ? 1u << (ct_rand(&s) % 8) : 0);
        make_entry(&files[i], _i == TEXT ? (const void *)"this is no value" : files[i].value,
                   _i == TEXT      ? 16
                   : _i == NOTHING ? 0
                   : _i == SHORT   ? ct_rand(&s) % n
                                   : n);
    }
    report r = use(), again = use();
    same_numbers(&cold, &r, "spoiled", _i);
    same_numbers(&cold, &again, "after it", _i);
    ck_assert_uint_eq(r.counts.corrupt, (uint64_t)nfiles);
    ck_assert_uint_eq(again.counts.program_misses + again.counts.llvm_compiles, 0);
    ck_assert_uint_eq(again.counts.corrupt, 0);
    let_go();
}
END_TEST

int main(void)
{
    setenv("PJRT_DEVICE", "CPU", 1);
    Suite *s = suite_create("values in each other's place");
    TCase *t = tcase_create("processes of their own");
    tcase_set_timeout(t, 300);
    tcase_add_checked_fixture(t, ct_setup, ct_teardown);
    tcase_add_loop_test(t, spliced, 0, 2);
    tcase_add_loop_test(t, spoiled, 0, NSPOILS);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
