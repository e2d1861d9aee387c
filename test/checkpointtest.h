/* checkpointtest.h - what the tests of checkpoints share: a scratch folder, a small training whose
 * steps draw random numbers, and changes to files. */
#ifndef LZ_TEST_CHECKPOINTTEST_H
#define LZ_TEST_CHECKPOINTTEST_H
#include "suite.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <lazuli/lazuli.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OK(call) ck_assert_msg((call) == LZ_OK, "%s", lz_last_error_text())
#define FAILS(call, status)                                                                        \
    do {                                                                                           \
        lz_status s_ = (call);                                                                     \
        ck_assert_msg(s_ == (status), "%d: %s", (int)s_, lz_last_error_text());                    \
    } while (0)

static char kt_base[256], kt_dir[300]; /* scratch; <base>/ckpt */
static int kt_warnings;
static char kt_last[1100]; /* the last warning */

static inline void kt_log(int level, const char *module, const char *message, void *user)
{
    (void)user, (void)module;
    if (level <= 1) {
        kt_warnings++;
        snprintf(kt_last, sizeof kt_last, "%s", message);
    }
}

static inline int kt_rm_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static inline void kt_rm(const char *path)
{
    (void)nftw(path, kt_rm_one, 32, FTW_DEPTH | FTW_PHYS);
}

static inline void kt_setup(void)
{
    const char *t = getenv("TMPDIR");
    snprintf(kt_base, sizeof kt_base, "%s/lz-ckpt-XXXXXX", t && *t ? t : "/tmp");
    if (!mkdtemp(kt_base))
        ck_abort_msg("cannot make %s", kt_base);
    snprintf(kt_dir, sizeof kt_dir, "%s/ckpt", kt_base);
}

static inline void kt_teardown(void)
{
    kt_rm(kt_base);
}

/* <dir>/<name> */
static inline const char *kt_path(const char *name)
{
    static char text[4][700];
    static int at;
    at = (at + 1) % 4;
    snprintf(text[at], sizeof text[at], "%s/%s", kt_dir, name);
    return text[at];
}

static inline bool kt_exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

/* Names in the folder that begin so. */
static inline int kt_count(const char *prefix)
{
    int n = 0;
    DIR *d = opendir(kt_dir);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;)
        n += strncmp(e->d_name, prefix, strlen(prefix)) == 0;
    if (d)
        closedir(d);
    return n;
}

static inline void kt_spill(const char *path, const void *p, size_t n)
{
    FILE *f = fopen(path, "wb");
    ck_assert_msg(f && fwrite(p, 1, n, f) == n && fclose(f) == 0, "%s: %s", path, strerror(errno));
}

/* All of a file; its length is *n. The caller's to free. */
static inline char *kt_slurp(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s: %s", path, strerror(errno));
    fseek(f, 0, SEEK_END);
    *n = (size_t)ftell(f);
    rewind(f);
    char *p = malloc(*n + 1);
    ck_assert(p && fread(p, 1, *n, f) == *n);
    p[*n] = '\0';
    fclose(f);
    return p;
}

/* Changes a bit of byte `at` (from the end where it is negative). */
static inline void kt_flip(const char *path, long at)
{
    size_t n;
    char *p = kt_slurp(path, &n);
    p[at < 0 ? (long)n + at : at] ^= 4;
    kt_spill(path, p, n);
    free(p);
}

/* ---- a training ---- */

enum { KT_IN = 5, KT_HIDDEN = 7, KT_OUT = 3, KT_BATCH = 4 };
typedef struct kt_net {
    lz_params ps;
    lz_linear_layer a, b;
    lz_optim *o;
    lz_ema *ema;
    lz_checkpoint c;
} kt_net;

static inline void kt_init(kt_net *n, uint64_t seed)
{
    *n = (kt_net){.c = {.struct_size = sizeof n->c}};
    OK(lz_manual_seed(seed));
    OK(lz_linear_layer_init(&n->a, &n->ps, "a", KT_IN, KT_HIDDEN, true, LZ_F32));
    OK(lz_linear_layer_init(&n->b, &n->ps, "b", KT_HIDDEN, KT_OUT, true, LZ_F32));
    OK(lz_mark_step());
    n->o = lz_adamw(&n->ps, .lr = 0.01);
    n->ema = lz_ema_new(&n->ps, 0.9);
    ck_assert(n->o && n->ema);
    n->c.params = &n->ps;
    n->c.optim = n->o;
    n->c.ema = n->ema;
}

static inline void kt_free(kt_net *n)
{
    lz_optim_free(n->o);
    lz_ema_free(n->ema);
    lz_params_free(&n->ps);
}

/* The input is random: a training depends on the state of the generator too. Gives the loss of the
 * last step. */
static inline float kt_train(kt_net *n, int steps)
{
    float value = 0;
    for (int i = 0; i < steps; i++) {
        lz_scope_begin();
        lz_tensor *x = lz_randn(LZ_F32, LZ_SHAPE(KT_BATCH, KT_IN));
        lz_tensor *y = lz_linear_layer_forward(&n->b, lz_relu(lz_linear_layer_forward(&n->a, x)));
        lz_tensor *loss = lz_mean(lz_mul(y, y));
        OK(lz_backward(loss));
        OK(lz_optim_set_lr(n->o, lz_optim_lr(n->o) * 0.9));
        OK(lz_optim_step(n->o));
        OK(lz_ema_update(n->ema));
        OK(lz_optim_zero_grad(n->o));
        OK(lz_mark_step());
        OK(lz_to_host(loss, &value, sizeof value));
        lz_scope_end();
        n->c.step++;
    }
    return value;
}

static inline void kt_same(const lz_params *x, const lz_params *y)
{
    ck_assert_uint_eq(x->len, y->len);
    for (size_t i = 0; i < x->len; i++) {
        char a[4096], b[4096];
        OK(lz_to_host(x->tensors[i], a, sizeof a));
        OK(lz_to_host(y->tensors[i], b, sizeof b));
        ck_assert_msg(memcmp(a, b, lz_nbytes(x->tensors[i])) == 0, "%s differs", x->names[i]);
    }
}

static inline lz_checkpoint_manager *kt_manager_of(lz_checkpoint_manager *m)
{
    ck_assert_msg(m != NULL, "%s", lz_last_error_text());
    return m;
}
#define kt_manager(...) kt_manager_of(lz_checkpoint_manager_new(kt_dir __VA_OPT__(, ) __VA_ARGS__))

/* The steps as text, "1 2 3". */
static inline const char *kt_steps(lz_checkpoint_manager *m)
{
    static char text[400];
    int64_t step[32], n = lz_checkpoint_manager_all_steps(m, step, 32);
    size_t len = 0;
    ck_assert_msg(n >= 0 && n <= 32, "%s", lz_last_error_text());
    *text = '\0';
    for (int64_t i = 0; i < n; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%lld", i ? " " : "",
                                (long long)step[i]);
    return text;
}
#endif
