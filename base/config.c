/* config.c - the option table and its values. The environment is read once; nothing here uses the
 * heap, so an error can be logged when memory is exhausted: string values live in a pool of fixed
 * size and are never given back (callers hold the pointers for the life of the process). Threads:
 * reading is thread-safe and lock-free after the first call. */
#include "base/config.h"
#include "base/env.h"
#include "base/log.h"
#include "base/text.h"
#include "base/thread.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum opt_type { T_BOOL, T_INT, T_STR } opt_type;
static const char *const type_names[] = {"bool", "int", "string"};

typedef struct opt_row {
    const char *env, *def_text, *doc;
    opt_type type;
    int64_t def_int, min, max;
} opt_row;

static const opt_row rows[LZ_OPT_COUNT] = {
#define LZ_OPT_BOOL(id, env, def, doc) {env, (def) ? "true" : "false", doc, T_BOOL, def, 0, 1},
#define LZ_OPT_INT(id, env, def, min, max, doc) {env, #def, doc, T_INT, def, min, max},
#define LZ_OPT_STR(id, env, def, doc) {env, def, doc, T_STR, 0, 0, 0},
#include "base/config.def"
#undef LZ_OPT_BOOL
#undef LZ_OPT_INT
#undef LZ_OPT_STR
};

typedef struct former_name {
    lz_opt opt;
    const char *env;
} former_name;

static const former_name former[] = {
#define LZ_OPT_BOOL(id, env, def, doc)
#define LZ_OPT_INT(id, env, def, min, max, doc)
#define LZ_OPT_STR(id, env, def, doc)
#define LZ_OPT_WAS(id, old) {LZ_OPT_##id, old},
#include "base/config.def"
#undef LZ_OPT_BOOL
#undef LZ_OPT_INT
#undef LZ_OPT_STR
};
enum { NFORMER = sizeof former / sizeof former[0] };

static _Atomic int64_t ints[LZ_OPT_COUNT];
static _Atomic(const char *) strs[LZ_OPT_COUNT];
static atomic_bool is_set[LZ_OPT_COUNT];
static atomic_bool bad[LZ_OPT_COUNT]; /* did not parse; told to the user after loading */
static atomic_bool used[NFORMER];     /* former names that were given; told likewise */
static atomic_bool loaded, have_warnings;
static lz_once load_once = LZ_ONCE_INIT;

enum { POOL_BYTES = 1 << 16 };
static char pool[POOL_BYTES];
static size_t pool_used;
static lz_mutex pool_lock = LZ_MUTEX_INIT("config");

/* A copy that lives for the process; equal strings share one. NULL when the pool is full. */
static const char *pool_intern(const char *s)
{
    size_t n = strlen(s) + 1;
    const char *found = NULL;
    lz_mutex_lock(&pool_lock);
    for (size_t i = 0; i < pool_used && !found; i += strlen(pool + i) + 1)
        if (strcmp(pool + i, s) == 0)
            found = pool + i;
    if (!found && n <= POOL_BYTES - pool_used) {
        found = memcpy(pool + pool_used, s, n);
        pool_used += n;
    }
    lz_mutex_unlock(&pool_lock);
    return found;
}

/* Blanks around it are fine. */
static bool parse_int(const char *s, int64_t *out)
{
    size_t n = strlen(s);
    for (; n && lz_is_space(*s); s++)
        n--;
    while (n && lz_is_space(s[n - 1]))
        n--;
    return lz_text_i64(s, n, INT64_MIN, INT64_MAX, out) == LZ_OK;
}

static bool parse_bool(const char *s, int64_t *out)
{
    static const char *const words[2][3] = {{"false", "off", "no"}, {"true", "on", "yes"}};
    for (int v = 0; v < 2; v++)
        for (int i = 0; i < 3; i++)
            if (lz_text_same(s, words[v][i])) {
                *out = v;
                return true;
            }
    if (!parse_int(s, out))
        return false;
    *out = *out != 0;
    return true;
}

static bool log_level_ok(const char *s)
{
    return lz_text_same(s, "error") || lz_text_same(s, "warn") || lz_text_same(s, "info") ||
           lz_text_same(s, "debug");
}

bool lz_fraction_next(const char **list, double *out)
{
    const char *p = *list;
    size_t n = strcspn(p, ":");
    if (!lz_text_f64(p, n, out) || !(*out > 0 && *out < 1))
        return false;
    *list = p + n + (p[n] == ':' && p[n + 1]); /* a colon at the end is left: it ends nothing */
    return true;
}

static bool fractions_ok(const char *p)
{
    double q;
    while (*p && lz_fraction_next(&p, &q))
        ;
    return !*p;
}

/* Whether o, of type string, can have this value. */
static bool text_ok(int o, const char *text)
{
    return o == LZ_OPT_LOG                   ? log_level_ok(text)
           : o == LZ_OPT_METRICS_PERCENTILES ? fractions_ok(text)
           : o == LZ_OPT_EXEC                ? !*text || strcmp(text, "loop") == 0
           : o == LZ_OPT_COLLECTIVES ? strcmp(text, "ordered") == 0 || strcmp(text, "fast") == 0
                                     : true;
}

static void to_default(int o)
{
    atomic_store_explicit(&ints[o], rows[o].def_int, memory_order_relaxed);
    atomic_store_explicit(&strs[o], rows[o].type == T_STR ? rows[o].def_text : "",
                          memory_order_relaxed);
    atomic_store_explicit(&is_set[o], false, memory_order_relaxed);
}

/* Stores `text` as the value of o. LZ_EINVAL when it does not parse, LZ_ERANGE when out of range
 * (nothing changes). */
static lz_status apply(int o, const char *text)
{
    const opt_row *r = &rows[o];
    int64_t v = 0;
    if (r->type == T_STR) {
        if (!text_ok(o, text))
            return LZ_EINVAL;
        const char *kept = pool_intern(text);
        if (!kept)
            return LZ_EMEM;
        atomic_store_explicit(&strs[o], kept, memory_order_release);
    } else {
        if (!(r->type == T_BOOL ? parse_bool(text, &v) : parse_int(text, &v)))
            return LZ_EINVAL;
        if (v < r->min || v > r->max)
            return LZ_ERANGE;
        atomic_store_explicit(&ints[o], v, memory_order_relaxed);
    }
    atomic_store_explicit(&is_set[o], true, memory_order_relaxed);
    return LZ_OK;
}

/* The name under which o is set in the environment: its own, else a former one; NULL: under none.
 */
static const char *env_name_of(int o)
{
    if (lz_env_get(rows[o].env))
        return rows[o].env;
    for (int i = 0; i < NFORMER; i++)
        if ((int)former[i].opt == o && lz_env_get(former[i].env))
            return former[i].env;
    return NULL;
}

static void warn_later(atomic_bool *what)
{
    atomic_store_explicit(what, true, memory_order_relaxed);
    atomic_store_explicit(&have_warnings, true, memory_order_relaxed);
}

static void load(void)
{
    for (int o = 0; o < LZ_OPT_COUNT; o++) {
        to_default(o);
        const char *env = env_name_of(o);
        if (env && apply(o, lz_env_get(env)) != LZ_OK)
            warn_later(&bad[o]);
    }
    for (int i = 0; i < NFORMER; i++)
        if (lz_env_get(former[i].env))
            warn_later(&used[i]);
    atomic_store_explicit(&loaded, true, memory_order_release);
}

static void describe_domain(int o, char *buf, size_t n)
{
    const opt_row *r = &rows[o];
    if (o == LZ_OPT_LOG)
        snprintf(buf, n, "error, warn, info or debug");
    else if (o == LZ_OPT_EXEC)
        snprintf(buf, n, "loop, or empty");
    else if (o == LZ_OPT_METRICS_PERCENTILES)
        snprintf(buf, n, "numbers between 0 and 1 with colons between them");
    else if (r->type == T_BOOL)
        snprintf(buf, n, "true, false, on, off or a number");
    else if (r->type == T_INT)
        snprintf(buf, n, "an integer from %" PRId64 " to %" PRId64, r->min, r->max);
    else
        snprintf(buf, n, "a shorter text");
}

/* Told outside `load`, since logging reads an option itself. */
static __attribute__((noinline)) void warn(void)
{
    if (!atomic_exchange_explicit(&have_warnings, false, memory_order_relaxed))
        return;
    for (int i = 0; i < NFORMER; i++)
        if (atomic_exchange_explicit(&used[i], false, memory_order_relaxed))
            LZ_WARN("config", "%s is now %s", former[i].env, rows[former[i].opt].env);
    for (int o = 0; o < LZ_OPT_COUNT; o++) {
        if (!atomic_exchange_explicit(&bad[o], false, memory_order_relaxed))
            continue;
        char domain[96];
        describe_domain(o, domain, sizeof domain);
        const char *env = env_name_of(o), *text = env ? lz_env_get(env) : NULL;
        LZ_WARN("config", "%s=%.200s is ignored: the value must be %s; using %s",
                env ? env : rows[o].env, text ? text : "", domain,
                rows[o].def_text[0] ? rows[o].def_text : "the default");
    }
}

static inline void ensure_loaded(void)
{
    if (__builtin_expect(!atomic_load_explicit(&loaded, memory_order_acquire), 0))
        lz_once_run(&load_once, load);
    if (__builtin_expect(atomic_load_explicit(&have_warnings, memory_order_relaxed), 0))
        warn();
}

bool lz_cfg_bool(lz_opt o)
{
    ensure_loaded();
    LZ_DCHECK((unsigned)o < LZ_OPT_COUNT && rows[o].type == T_BOOL);
    return atomic_load_explicit(&ints[o], memory_order_relaxed) != 0;
}

int64_t lz_cfg_int(lz_opt o)
{
    ensure_loaded();
    LZ_DCHECK((unsigned)o < LZ_OPT_COUNT && rows[o].type == T_INT);
    return atomic_load_explicit(&ints[o], memory_order_relaxed);
}

const char *lz_cfg_str(lz_opt o)
{
    ensure_loaded();
    LZ_DCHECK((unsigned)o < LZ_OPT_COUNT && rows[o].type == T_STR);
    return atomic_load_explicit(&strs[o], memory_order_acquire);
}

bool lz_cfg_is_set(lz_opt o)
{
    ensure_loaded();
    return atomic_load_explicit(&is_set[o], memory_order_relaxed);
}

/* Edit distance of two names, for the hint; names longer than the row are far from everything. */
static int distance(const char *a, size_t na, const char *b)
{
    enum { MAX_NAME = 64 };
    int row[MAX_NAME + 1];
    size_t nb = strlen(b);
    if (na > MAX_NAME || nb > MAX_NAME)
        return MAX_NAME;
    for (size_t j = 0; j <= nb; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            int above = row[j];
            int best = diagonal + (a[i - 1] != b[j - 1]);
            best = above + 1 < best ? above + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            diagonal = above;
            row[j] = best;
        }
    }
    return row[nb];
}

/* The known name nearest to env[0..n), or NULL when none is near enough to be meant. */
static const char *nearest(const char *env, size_t n)
{
    int best = 1 + (int)(n / 4);
    const char *name = NULL;
    for (int o = 0; o < LZ_OPT_COUNT; o++) {
        int d = distance(env, n, rows[o].env);
        if (d < best) {
            best = d;
            name = rows[o].env;
        }
    }
    return name;
}

/* The option of a present or former name, or -1. */
static int find(const char *env, size_t n)
{
    for (int o = 0; o < LZ_OPT_COUNT; o++)
        if (strncmp(rows[o].env, env, n) == 0 && rows[o].env[n] == '\0')
            return o;
    for (int i = 0; i < NFORMER; i++)
        if (strncmp(former[i].env, env, n) == 0 && former[i].env[n] == '\0')
            return (int)former[i].opt;
    return -1;
}

lz_status lz_config_set(const char *env_name, const char *value)
{
    if (!env_name)
        return LZ_FAIL(LZ_ENULL, "the option's name is NULL");
    ensure_loaded();
    int o = find(env_name, strlen(env_name));
    if (o < 0) {
        const char *near = nearest(env_name, strlen(env_name));
        return LZ_FAIL(LZ_ENOENT, "there is no option %.100s%s%s%s", env_name,
                       near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
    }
    if (!value) {
        to_default(o);
        return LZ_OK;
    }
    lz_status s = apply(o, value);
    if (s == LZ_OK)
        return LZ_OK;
    char domain[96];
    describe_domain(o, domain, sizeof domain);
    return LZ_FAIL(s, "%s=%.100s: the value must be %s", env_name, value, domain);
}

/* Of PyTorch/XLA: what it would change is done otherwise here. */
static const struct {
    const char *env, *instead;
} foreign[] = {
    {"XLA_USE_BF16", "dtypes stay as they are (lz_autocast_begin computes in bf16)"},
    {"XLA_DOWNCAST_BF16", "dtypes stay as they are (lz_autocast_begin computes in bf16)"},
};

void lz_config_check_unknown(void)
{
    static atomic_flag done = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&done))
        return;
    ensure_loaded();
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (lz_env_get(foreign[i].env))
            LZ_WARN("config", "%s has no effect: %s", foreign[i].env, foreign[i].instead);
    for (char *const *e = lz_env_all(); *e; e++) {
        if (strncmp(*e, "LAZULI_", 7) != 0)
            continue;
        size_t n = strcspn(*e, "=");
        if (find(*e, n) >= 0)
            continue;
        const char *near = nearest(*e, n);
        LZ_WARN("config", "unknown variable %.*s is ignored%s%s%s", (int)(n < 100 ? n : 100), *e,
                near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    }
}

bool lz_config_row(int i, const char **env, const char **type, const char **def, const char **doc)
{
    if (i < 0 || i >= LZ_OPT_COUNT)
        return false;
    if (env)
        *env = rows[i].env;
    if (type)
        *type = type_names[rows[i].type];
    if (def)
        *def = rows[i].def_text;
    if (doc)
        *doc = rows[i].doc;
    return true;
}

bool lz_list_has(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = list; *p;) {
        const char *end = strchr(p, ',');
        size_t len = end ? (size_t)(end - p) : strlen(p);
        if (len == n && memcmp(p, name, n) == 0)
            return true;
        p += len + (end != NULL);
    }
    return false;
}
