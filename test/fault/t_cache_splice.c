/* t_cache_splice.c - values of a cache in one another's place, as somebody who may write into the
 * directory can put them there: the file copied under the other's name, or the entry made again,
 * intact, with the other's key. And values that are no values, under their own keys. Processes of
 * their own compute the same numbers, and what was wrong is counted, gone and replaced. */
#include "cachetest.h"
#include "support/child.h"
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

static void in_child(void *arg, void *out)
{
    (void)arg;
    if (lz_initialize_cache(ct_dir, false) == LZ_OK)
        compute(out);
}

static report use(void)
{
    report r = {.counts = {.struct_size = sizeof r.counts}};
    lz_in_child(in_child, NULL, &r, sizeof r);
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
    ct_entry e;
} held;
static held files[MOST];
static int nfiles;

static int hold(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    if (type != FTW_F || !lz_store_is_entry(path + ftw->base))
        return 0;
    held *h = &files[nfiles++];
    ck_assert_int_le(nfiles, MOST);
    snprintf(h->path, sizeof h->path, "%s", path);
    ct_read_entry(path, &h->e);
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
    while (nfiles > 0)
        ct_entry_free(&files[--nfiles].e);
}

/* An intact entry at the place of `to`, with its key. */
static void make_entry(const held *to, const void *value, size_t nvalue)
{
    lz_entry_content c = to->e.content;
    c.value = value;
    c.nvalue = nvalue;
    ct_write_entry(to->path, &c, LZ_ENTRY_SCHEMA);
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
        ct_spill(files[i].path, files[i].e.file, files[i].e.nfile);
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
                make_entry(&files[i], from->e.value, from->e.content.nvalue);
            else
                ct_spill(files[i].path, from->e.file, from->e.nfile);
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
        size_t n = files[i].e.content.nvalue;
        files[i].e.value[ct_rand(&s) % n] ^= (uint8_t)(_i == BIT ? 1u << (ct_rand(&s) % 8) : 0);
        make_entry(&files[i], _i == TEXT ? (const void *)"this is no value" : files[i].e.value,
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
