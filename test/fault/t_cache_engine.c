/* t_cache_engine.c - the whole library on a cache that is damaged, of another make, not to be
 * trusted, only read or taken away: processes of their own compute a number, and say what they
 * compiled, found and warned of. What holds in every case: the number is the same. What the cache
 * by itself does is in t_cache_faults.c and its neighbours. */
#include "cachetest.h"
#include "support/child.h"
#include <lazuli/lazuli.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

const char *lz_llvm_version(void); /* codegen/codegen.h has a name in common with cache/store.h */

typedef struct report {
    lz_cache_counts counts;
    double value, again;
    bool llvm_mapped, writable_code; /* in the process; a page that is writable and executable */
    int warnings;
    int64_t compiled, jit; /* programs; kernels that the JIT linked */
    char error[200];
} report;

typedef struct how {
    const char *path;
    bool read_only, other; /* another program */
    bool by_environment;   /* the directory and read_only are given in the environment */
    bool branch;           /* the program has one, which is taken */
    bool removed;          /* the directory goes away, then another program runs */
    int threads;           /* 0: in the main thread */
    uid_t uid;             /* 0: stay who we are */
} how;

static bool mapped(const char *name)
{
    char line[4400];
    bool found = false;
    FILE *f = fopen("/proc/self/maps", "r");
    while (f && fgets(line, sizeof line, f))
        found |= strstr(line, name) != NULL;
    if (f)
        fclose(f);
    return found;
}

static bool has_writable_code(void)
{
    char line[4400], perms[8];
    bool found = false;
    FILE *f = fopen("/proc/self/maps", "r");
    while (f && fgets(line, sizeof line, f))
        found |= sscanf(line, "%*s %7s", perms) == 1 && perms[1] == 'w' && perms[2] == 'x';
    if (f)
        fclose(f);
    return found;
}

static double compute(bool other)
{
    float x[20 * 30], w[30 * 10];
    for (int i = 0; i < 600; i++)
        x[i] = (float)(i % 37) / 16 - 1;
    for (int i = 0; i < 300; i++)
        w[i] = (float)(i % 23) / 16 - 0.5f;
    if (lz_scope_begin() != LZ_OK)
        return NAN;
    lz_tensor *a = lz_from_host(LZ_F32, LZ_SHAPE(20, 30), x);
    lz_tensor *b = lz_from_host(LZ_F32, LZ_SHAPE(30, 10), w);
    lz_tensor *y = lz_relu(lz_matmul(a, b));
    double v = lz_item(lz_sum(other ? lz_exp(lz_neg(y)) : y));
    return lz_scope_end() == LZ_OK ? v : NAN;
}

static void twice(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_matmul(in[0], in[0]);
}

static void none(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_neg(in[0]);
}

static double compute_in_branch(void)
{
    float x[20 * 20];
    for (int i = 0; i < 400; i++)
        x[i] = (float)(i % 37) / 16 - 1;
    if (lz_scope_begin() != LZ_OK)
        return NAN;
    lz_tensor *a = lz_from_host(LZ_F32, LZ_SHAPE(20, 20), x), *y = NULL;
    lz_tensor *p = lz_gt(lz_sum(a), lz_scalar(LZ_F32, -1e6));
    double v = lz_cond(p, twice, none, (lz_tensor *[]){a}, 1, 1, NULL, &y) == LZ_OK
                   ? lz_item(lz_sum(y))
                   : NAN;
    return lz_scope_end() == LZ_OK ? v : NAN;
}

static pthread_barrier_t together;
static void *compute_together(void *value)
{
    pthread_barrier_wait(&together);
    *(double *)value = compute(false);
    return NULL;
}

/* All at the same moment; NaN unless all get the same. */
static double compute_in_threads(int n)
{
    pthread_t t[16];
    double v[16];
    pthread_barrier_init(&together, NULL, (unsigned)n);
    for (int i = 0; i < n; i++)
        if (pthread_create(&t[i], NULL, compute_together, &v[i]) != 0)
            return NAN;
    for (int i = 0; i < n; i++)
        pthread_join(t[i], NULL);
    for (int i = 1; i < n; i++)
        if (v[i] != v[0])
            return NAN;
    return v[0];
}

static void in_child(void *arg, void *out)
{
    const how *h = arg;
    report *r = out;
    bool ok = h->uid == 0 || (setgid(h->uid) == 0 && setuid(h->uid) == 0);
    if (h->by_environment) {
        setenv("XLA_PERSISTENT_CACHE_PATH", h->path, 1);
        setenv("XLA_PERSISTENT_CACHE_READ_ONLY", h->read_only ? "1" : "0", 1);
    } else {
        ok = ok && lz_initialize_cache(h->path, h->read_only) == LZ_OK;
    }
    r->value = !ok          ? NAN
               : h->branch  ? compute_in_branch()
               : h->threads ? compute_in_threads(h->threads)
                            : compute(h->other);
    if (h->removed) {
        ct_rm(h->path);
        r->again = compute(true);
    }
    lz_get_cache_counts(&r->counts);
    r->llvm_mapped = mapped("libLLVM");
    r->writable_code = has_writable_code();
    r->warnings = ct_warnings;
    r->compiled = lz_counter_value("UncachedCompile");
    r->jit = lz_counter_value("JitKernels");
    snprintf(r->error, sizeof r->error, "%s", lz_last_error_text());
}

static report use(how h)
{
    report r = {.counts = {.struct_size = sizeof r.counts}};
    lz_in_child(in_child, &h, &r, sizeof r);
    ck_assert_msg(!isnan(r.value), "%s", r.error);
    return r;
}
#define USE(...) use((how){.path = ct_dir, __VA_ARGS__})

static void assert_cold(report first, report r)
{
    ck_assert_double_eq(first.value, r.value);
    ck_assert_uint_eq(r.counts.llvm_compiles, first.counts.llvm_compiles);
}

static void assert_warm(report first, report r)
{
    ck_assert_double_eq(first.value, r.value);
    ck_assert_uint_eq(r.counts.llvm_compiles + r.counts.program_misses + r.counts.corrupt, 0);
}

START_TEST(warm_process_loads_no_llvm)
{
    report cold = USE(0), warm = USE(0);
    ck_assert(cold.llvm_mapped);
    ck_assert_uint_gt(cold.counts.llvm_compiles, 0);
    ck_assert(!warm.llvm_mapped);
    ck_assert(!cold.writable_code && !warm.writable_code);
    assert_warm(cold, warm);
    ck_assert_int_eq(cold.jit, cold.counts.llvm_compiles); /* fresh kernels are linked by ORC, */
    ck_assert_int_eq(warm.jit, 0);                         /* stored ones are not */
    ck_assert_uint_eq(warm.counts.kernel_hits, cold.counts.llvm_compiles);
}
END_TEST

/* Kernels of a branch are loaded by an execution, and stored and counted as others. */
START_TEST(branch_is_counted)
{
    report cold = USE(.branch = true), warm = USE(.branch = true);
    ck_assert_uint_gt(cold.counts.llvm_compiles, 0);
    ck_assert_int_eq(cold.jit, cold.counts.llvm_compiles);
    ck_assert_uint_eq(cold.counts.kernel_misses, cold.counts.llvm_compiles);
    assert_warm(cold, warm);
    ck_assert(!warm.llvm_mapped);
    ck_assert_int_eq(warm.jit, 0);
    ck_assert_uint_eq(warm.counts.kernel_hits, cold.counts.llvm_compiles);
}
END_TEST

/* ---- entries that are damaged, or of another make ---- */

static int flip_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    if (type != FTW_F || !lz_store_is_entry(path + ftw->base))
        return 0;
    size_t n, at = (size_t)((uint64_t)st->st_ino * 2654435761u % (uint64_t)st->st_size);
    uint8_t *p = ct_slurp(path, &n);
    p[at] ^= (uint8_t)(1u << (at % 8));
    ct_spill(path, p, n);
    free(p);
    return 0;
}

START_TEST(damage_is_counted)
{
    report cold = USE(0);
    ck_assert_int_eq(nftw(ct_dir, flip_one, 32, FTW_PHYS), 0);
    report hurt = USE(0), after = USE(0);
    assert_cold(cold, hurt);
    ck_assert_uint_eq(hurt.counts.corrupt, cold.counts.program_misses + cold.counts.llvm_compiles);
    assert_warm(cold, after);
}
END_TEST

typedef enum make { SCHEMA, BUILD, LLVM_VERSION, LARGER_MACHINE, OTHER_TUNING, NMAKES } make;
static make making;
static int changed;

/* The bytes of `text` in p become those of `other`, of the same length. */
static void replace(uint8_t *p, size_t n, const char *text, const char *other)
{
    size_t m = strlen(text);
    for (size_t i = 0; i + m <= n; i++)
        if (memcmp(p + i, text, m) == 0) {
            memcpy(p + i, other, m);
            changed++;
        }
}

/* Writes an entry again, intact, as another version of the library or a process on another machine
 * would have. */
static int make_again(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    if (type != FTW_F || !lz_store_is_entry(path + ftw->base))
        return 0;
    char isa[LZ_ENTRY_MAX_ISA + 64], other[16];
    ct_entry e;
    ct_read_entry(path, &e);
    lz_entry_content c = e.content;
    snprintf(isa, sizeof isa, "%s%s", c.isa,
             !*c.isa                    ? ""
             : making == LARGER_MACHINE ? ",+quantum,+avx512fp17"
             : making == OTHER_TUNING   ? ",+prefer-no-gather,-prefer-256-bit"
                                        : "");
    changed += strcmp(isa, c.isa) != 0;
    if (making == LLVM_VERSION) {
        snprintf(other, sizeof other, "%s", lz_llvm_version());
        other[1]++;
        replace(e.key, c.nkey, lz_llvm_version(), other);
    }
    if (making == LARGER_MACHINE && *c.isa)
        memset(e.value, 0x0f, c.nvalue); /* what must not even be looked at */
    c.isa = isa;
    if (making == BUILD)
        c.build = "another";
    ct_write_entry(path, &c, LZ_ENTRY_SCHEMA + 2 * (making == SCHEMA));
    ct_entry_free(&e);
    return 0;
}

/* Intact entries that are not for this process are left where they are, and do not keep it from
 * storing its own; those that differ only in what tunes are used. */
START_TEST(entries_of_another_make)
{
    making = (make)_i;
    report cold = USE(0);
    int entries = (int)(cold.counts.program_misses + cold.counts.llvm_compiles);
    ck_assert_int_eq((int)ct_count_entries(NULL), entries);
    ck_assert_int_eq(nftw(ct_dir, make_again, 32, FTW_PHYS), 0);
    ck_assert(making <= BUILD || changed >= (int)cold.counts.llvm_compiles);
    report next = USE(0);
    ck_assert_uint_eq(next.counts.corrupt, 0);
    ck_assert_int_eq(next.warnings, 0);
    if (making == OTHER_TUNING) {
        assert_warm(cold, next);
        ck_assert_int_eq((int)ct_count_entries(NULL), entries);
        return;
    }
    assert_cold(cold, next);
    if (making <= BUILD)
        ck_assert_uint_eq(next.counts.foreign, (uint64_t)entries);
    int kept = (int)ct_count_entries(NULL) - entries; /* its own stand beside */
    ck_assert_int_eq(kept, making == LARGER_MACHINE ? (int)cold.counts.llvm_compiles : entries);
    assert_warm(cold, USE(0));
}
END_TEST

/* ---- directories ---- */

static int give_away(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)ftw;
    return chmod(path, type == FTW_F ? st->st_mode & 0444 : st->st_mode & 0555);
}

/* A directory that its owner cannot write: what is there is found, what is new is compiled and not
 * kept. Root may write everywhere, so it becomes somebody else. */
START_TEST(read_only_directory)
{
    uid_t who = geteuid() == 0 ? 65534 : 0;
    report cold = {0}, warm, other;
    ck_assert_int_eq(chmod(ct_base, 0755), 0);
    ck_assert_int_eq(mkdir(ct_dir, 0700), 0);
    if (who)
        ck_assert_int_eq(chown(ct_dir, who, who), 0);
    cold = USE(.uid = who);
    ck_assert_uint_gt(cold.counts.llvm_compiles, 0);
    ck_assert_int_eq(nftw(ct_dir, give_away, 32, FTW_DEPTH | FTW_PHYS), 0);
    for (int ro = 0; ro < 3; ro++) { /* not said, said by the program, said by the environment */
        warm = USE(.uid = who, .read_only = ro > 0, .by_environment = ro == 2);
        assert_warm(cold, warm);
        for (int again = 0; again < 2; again++) {
            other = USE(.uid = who, .other = true, .read_only = ro > 0, .by_environment = ro == 2);
            ck_assert_uint_eq(other.counts.program_misses, 1);
            ck_assert_uint_eq(other.counts.corrupt, 0);
            ck_assert_uint_eq(other.counts.write_fail > 0, !ro);
            ck_assert_int_eq(other.warnings, !ro);
        }
    }
}
END_TEST

/* Who may write an entry may run code here: such a directory is neither read nor written, and the
 * program runs. */
START_TEST(untrusted_directory)
{
    report cold = USE(0);
    uint64_t entries = ct_count_entries(NULL);
    for (int k = 0; k < 3; k++) {
        ck_assert_int_eq(chmod(ct_dir, k == 0 ? 0720 : k == 1 ? 0702 : 0700), 0);
        ck_assert_int_eq(chmod(ct_base, k == 2 ? 0777 : 0700), 0);
        report r = USE(0), other = USE(.other = true);
        assert_cold(cold, r);
        ck_assert_int_eq(r.warnings, 1);
        ck_assert_uint_gt(other.counts.llvm_compiles, 0);
        ck_assert_uint_eq(ct_count_entries(NULL), entries);
    }
    ck_assert_int_eq(chmod(ct_base, 0700), 0);
    assert_warm(cold, USE(0));
}
END_TEST

START_TEST(removed_while_running)
{
    report cold = USE(0), other = USE(.other = true), r;
    r = USE(.removed = true);
    ck_assert_double_eq(r.value, cold.value);
    ck_assert_double_eq(r.again, other.value);
    ck_assert_int_eq(r.warnings, 0);
    /* what came after the removal is in a new directory, but for kernels that the process had
     * already */
    report next = USE(.other = true);
    ck_assert_double_eq(next.value, other.value);
    ck_assert_uint_eq(next.counts.program_misses + next.counts.corrupt, 0);
    assert_warm(other, USE(.other = true));
    ck_assert_uint_gt(USE(0).counts.program_misses, 0);
}
END_TEST

/* ---- threads ---- */

/* Threads that come to one new graph at the same moment: it is compiled once, or by two of them. */
START_TEST(threads_meet_at_one_graph)
{
    report alone = USE(0);
    for (int round = 0; round < 4; round++) {
        ct_rm(ct_dir);
        report r = USE(.threads = round < 2 ? 2 : 8);
        ck_assert_double_eq(r.value, alone.value);
        ck_assert_int_ge((int)r.compiled, 1);
        ck_assert_int_le((int)r.compiled, 2);
        ck_assert_uint_le(r.counts.llvm_compiles, 2 * alone.counts.llvm_compiles);
        ck_assert_uint_eq(r.counts.corrupt + r.counts.write_fail, 0);
        assert_warm(alone, USE(0));
    }
}
END_TEST

int main(void)
{
    setenv("PJRT_DEVICE", "CPU", 1);
    Suite *s = suite_create("engine on a cache");
    TCase *t = tcase_create("processes of their own");
    tcase_set_timeout(t, 300);
    tcase_add_checked_fixture(t, ct_setup, ct_teardown);
    tcase_add_test(t, warm_process_loads_no_llvm);
    tcase_add_test(t, branch_is_counted);
    tcase_add_test(t, damage_is_counted);
    tcase_add_loop_test(t, entries_of_another_make, 0, NMAKES);
    tcase_add_test(t, read_only_directory);
    tcase_add_test(t, untrusted_directory);
    tcase_add_test(t, removed_while_running);
    tcase_add_test(t, threads_meet_at_one_graph);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
