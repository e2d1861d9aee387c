/* variants.c - which code variants a target takes (LAZULI_VARIANTS).
 * Threads: thread-safe. */
#include "base/config.h"
#include "base/log.h"
#include "codegen/codegen.h"
#include <stdio.h>
#include <string.h>

static const char *const names[] = {
#define VARIANT(name, of, tried, doc) #name,
#include "codegen/variants.def"
};

static const char known[] =
#define VARIANT(name, of, tried, doc) #name ", "
#include "codegen/variants.def"
    "or all";

/* Former names. */
static const struct {
    const char *was;
    uint32_t row;
} former[] = {
#define VARIANT(name, of, tried, doc)
#define VARIANT_WAS(name, was) {#was, LZ_VARIANT_##name},
#include "codegen/variants.def"
};

static uint32_t former_bits(const char *s, size_t n)
{
    for (size_t i = 0; i < sizeof former / sizeof *former; i++) {
        if (strlen(former[i].was) != n || memcmp(former[i].was, s, n) != 0)
            continue;
        LZ_WARN("config", "LAZULI_VARIANTS: %s is now %s", former[i].was, names[former[i].row]);
        return UINT32_C(1) << former[i].row;
    }
    return 0;
}

static uint32_t form_bits(const char *s, size_t n)
{
    if (n == 3 && memcmp(s, "all", 3) == 0)
        return (UINT32_C(1) << LZ_VARIANT_COUNT) - 1;
    for (uint32_t i = 0; i < LZ_VARIANT_COUNT; i++)
        if (strlen(names[i]) == n && memcmp(names[i], s, n) == 0)
            return UINT32_C(1) << i;
    return former_bits(s, n);
}

lz_status lz_variants_parse(const char *list, lz_target *t)
{
    uint32_t without = 0, always = 0;
    for (const char *p = list; *p;) {
        size_t n = strcspn(p, ",");
        uint32_t bits = n > 1 && (*p == '-' || *p == '+') ? form_bits(p + 1, n - 1) : 0;
        if (!bits)
            return LZ_FAIL(LZ_EINVAL,
                           "LAZULI_VARIANTS: '%.*s': expected + or - and a form of code: %s",
                           n < 64 ? (int)n : 64, p, known);
        without = *p == '-' ? without | bits : without & ~bits;
        always = *p == '+' ? always | bits : always & ~bits;
        p += n + (p[n] == ',');
    }
    t->without = without;
    t->always = always;
    return LZ_OK;
}

lz_status lz_variants_configured(lz_target *t)
{
    return lz_variants_parse(lz_cfg_str(LZ_OPT_VARIANTS), t);
}

void lz_variants_print(const lz_target *t, lz_buf *out)
{
    for (uint32_t i = 0; i < LZ_VARIANT_COUNT; i++)
        if ((t->without | t->always) >> i & 1)
            lz_buf_printf(out, ";%c%s", t->without >> i & 1 ? '-' : '+', names[i]);
}

/* ---- what is worth measuring ---- */

static bool of_nothing(const lz_kernel *k)
{
    (void)k;
    return false;
}

static bool of_products(const lz_kernel *k)
{
    return lz_kernel_is_dot(k);
}

static bool of_floats(const lz_kernel *k)
{
    lz_dtype d = lz_kernel_is_dot(k) ? k->stages[0].reds[0].acc_dtype[0] : LZ_DTYPE_NONE;
    return d == LZ_F32 || d == LZ_F64;
}

static bool reads(const lz_kernel *k, lz_dtype a, lz_dtype b)
{
    bool some = false;
    for (uint32_t i = 0; i < k->nbuf; i++)
        some |= k->buf[i].read && (k->buf[i].dtype == a || k->buf[i].dtype == b);
    return some;
}

static bool of_halves(const lz_kernel *k)
{
    return lz_kernel_is_dot(k) && reads(k, LZ_BF16, LZ_BF16);
}

static bool of_bytes(const lz_kernel *k)
{
    return lz_kernel_is_dot(k) && reads(k, LZ_I8, LZ_U8);
}

static bool of_tiles(const lz_kernel *k)
{
    return of_halves(k) || of_bytes(k);
}

static bool of_sums(const lz_kernel *k)
{
    return !lz_kernel_is_dot(k) && k->nouter && k->vec == LZ_VEC_OUTER && k->stages[0].nred &&
           k->stages[0].ninner;
}

static bool of_points(const lz_kernel *k)
{
    return k->nstage == 1 && k->nouter > 1 && !k->stages[0].ninner && !k->serial;
}

static bool of_sorts(const lz_kernel *k)
{
    bool some = false;
    for (uint32_t i = 0; i < k->nstage; i++)
        some |= k->stages[i].sort != NULL;
    return some;
}

enum { NONE, LESS, MORE, BOTH };
static const struct {
    bool (*of)(const lz_kernel *k);
    int tried;
} worth[] = {
#define VARIANT(name, of, tried, doc) {of_##of, tried},
#include "codegen/variants.def"
};

uint32_t lz_variants_tried(const lz_kernel *k, const lz_target *t,
                           lz_variants out[LZ_VARIANTS_TRIED])
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < LZ_VARIANT_COUNT; i++) {
        uint32_t bit = UINT32_C(1) << i;
        if (((t->without | t->always) & bit) || !worth[i].of(k))
            continue;
        if (worth[i].tried & LESS)
            out[n++] = (lz_variants){.without = bit};
        if (worth[i].tried & MORE)
            out[n++] = (lz_variants){.always = bit};
    }
    return n;
}
