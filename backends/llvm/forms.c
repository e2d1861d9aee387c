/* forms.c - which forms of code a target takes (LAZULI_FORMS). Threads: thread-safe. */
#include "base/config.h"
#include "backends/llvm/codegen.h"
#include <stdio.h>
#include <string.h>

static const char *const names[] = {
#define FORM(name, doc) #name,
#include "backends/llvm/forms.def"
};

static const char known[] =
#define FORM(name, doc) #name ", "
#include "backends/llvm/forms.def"
    "or all";

static uint32_t form_bits(const char *s, size_t n)
{
    if (n == 3 && memcmp(s, "all", 3) == 0)
        return (UINT32_C(1) << LZ_FORM_COUNT) - 1;
    for (uint32_t i = 0; i < LZ_FORM_COUNT; i++)
        if (strlen(names[i]) == n && memcmp(names[i], s, n) == 0)
            return UINT32_C(1) << i;
    return 0;
}

lz_status lz_forms_parse(const char *list, lz_target *t)
{
    uint32_t without = 0, always = 0;
    for (const char *p = list; *p;) {
        size_t n = strcspn(p, ",");
        uint32_t bits = n > 1 && (*p == '-' || *p == '+') ? form_bits(p + 1, n - 1) : 0;
        if (!bits)
            return LZ_FAIL(LZ_EINVAL,
                           "LAZULI_FORMS: '%.*s': expected + or - and a form of code: %s",
                           n < 64 ? (int)n : 64, p, known);
        without = *p == '-' ? without | bits : without & ~bits;
        always = *p == '+' ? always | bits : always & ~bits;
        p += n + (p[n] == ',');
    }
    t->without = without;
    t->always = always;
    return LZ_OK;
}

lz_status lz_forms_configured(lz_target *t)
{
    return lz_forms_parse(lz_cfg_str(LZ_OPT_FORMS), t);
}

void lz_forms_print(const lz_target *t, lz_buf *out)
{
    for (uint32_t i = 0; i < LZ_FORM_COUNT; i++)
        if ((t->without | t->always) >> i & 1)
            lz_buf_printf(out, ";%c%s", t->without >> i & 1 ? '-' : '+', names[i]);
}
