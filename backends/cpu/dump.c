/* dump.c - see dump.h. LLVM IR and assembly are made anew for the dump, so kernels that came from the cache have them too. */
#include "backends/cpu/dump.h"
#include "base/alloc.h"
#include "base/config.h"
#include "base/log.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Whether the comma-separated LAZULI_DUMP names the stage, or all. */
static bool wants(const char *stage)
{
    const char *list = lz_cfg_str(LZ_OPT_DUMP);
    while (*list) {
        size_t n = strcspn(list, ",");
        if ((n == strlen(stage) && memcmp(list, stage, n) == 0) ||
            (n == 3 && memcmp(list, "all", 3) == 0))
            return true;
        list += n + (list[n] == ',');
    }
    return false;
}

bool lz_cpu_dump_on(void)
{
    return wants("plan") || wants("loops") || wants("llvm") || wants("asm") || wants("key") ||
           wants("timing");
}

/* A file name holds letters, digits, '-', '_' and '.' of the program's name. */
static void safe_name(const char *name, char *out, size_t n)
{
    size_t i = 0;
    for (; name && name[i] && i < n - 1; i++) {
        char c = name[i];
        bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_' || (c == '.' && i > 0);
        out[i] = c;
        if (!ok)
            out[i] = '_';
    }
    out[i] = '\0';
}

static void write_file(unsigned number, const char *name, const char *suffix, const lz_buf *text)
{
    const char *dir = lz_cfg_str(LZ_OPT_DUMP_DIR);
    char path[1024];
    if (mkdir(dir, 0777) != 0 && errno != EEXIST) {
        LZ_WARN_ONCE("dump", "cannot make %.200s: %s", dir, strerrordesc_np(errno));
        return;
    }
    int n = snprintf(path, sizeof path, "%s/%04u.%s.%s", dir, number, name, suffix);
    FILE *f = n > 0 && (size_t)n < sizeof path ? fopen(path, "w") : NULL;
    bool ok = f && !text->failed && fwrite(lz_buf_str(text), 1, text->len, f) == text->len;
    if (f && fclose(f) != 0)
        ok = false;
    if (!ok)
        LZ_WARN_ONCE("dump", "cannot write %.200s: %s", path, strerrordesc_np(errno));
}

static void key_text(const lz_exec *x, const lz_buf *key, lz_buf *out)
{
    const lz_plan *p = lz_cpu_exec_plan(x);
    char hex[33];
    lz_buf_puts(out, "device key: ");
    for (size_t i = 0; i < key->len; i++)
        lz_buf_putc(out, key->data[i] >= ' ' && key->data[i] < 127 ? key->data[i] : '.');
    lz_buf_putc(out, '\n');
    for (uint32_t i = 0; i < p->nkernel; i++) {
        lz_hash_hex(p->kernels[i]->hash, hex);
        lz_buf_printf(out, "kernel %u: %s, %zu canonical bytes, %s\n", i, hex,
                      p->kernels[i]->ncanon, p->kernels[i]->name);
    }
}

static void timing_text(const lz_exec *x, const lz_cpu_times *times, lz_buf *out)
{
    static const char *const from[] = {"memory", "disk", "llvm"};
    const lz_plan *p = lz_cpu_exec_plan(x);
    const lz_kernel_load *l = lz_cpu_exec_loads(x);
    lz_buf_puts(out, "what\tms\tfrom\tname\n");
    lz_buf_printf(out, "lower\t%.3f\t\t\n", times->lower_ms);
    lz_buf_printf(out, "kernels\t%.3f\t\t\n", times->kernels_ms);
    for (uint32_t i = 0; l && i < p->nkernel; i++)
        lz_buf_printf(out, "kernel %u\t%.3f\t%s\t%s\n", i, l[i].ms, from[l[i].source],
                      p->kernels[i]->name);
}

static void code_text(const lz_exec *x, const lz_target *t, lz_buf *ll, lz_buf *as)
{
    const lz_plan *p = lz_cpu_exec_plan(x);
    for (uint32_t i = 0; i < p->nkernel; i++) {
        lz_buf obj = {0};
        lz_buf_printf(ll, "; kernel %u: %s\n", i, p->kernels[i]->name);
        lz_buf_printf(as, "# kernel %u: %s\n", i, p->kernels[i]->name);
        if (lz_llvm_compile(p->kernels[i], t, &obj, ll, as) != LZ_OK)
            lz_buf_printf(ll, "; %s\n", lz_error_get()->message);
        lz_buf_free(&obj);
    }
}

void lz_cpu_dump(const lz_exec *x, const lz_target *t, const char *name, const lz_buf *key,
                 const lz_cpu_times *times)
{
    static _Atomic unsigned counter;
    unsigned number = atomic_fetch_add(&counter, 1);
    const lz_plan *p = lz_cpu_exec_plan(x);
    lz_buf text = {0}, as = {0};
    char stem[128];
    safe_name(name && *name ? name : "program", stem, sizeof stem);
    if (wants("plan")) {
        lz_plan_print(p, &text);
        write_file(number, stem, "plan.txt", &text);
    }
    text.len = 0;
    if (wants("loops")) {
        for (uint32_t i = 0; i < p->nkernel; i++)
            lz_kernel_print(p->kernels[i], &text);
        write_file(number, stem, "loops.txt", &text);
    }
    text.len = 0;
    if (wants("llvm") || wants("asm"))
        code_text(x, t, &text, &as);
    if (wants("llvm"))
        write_file(number, stem, "ll", &text);
    if (wants("asm"))
        write_file(number, stem, "s", &as);
    text.len = 0;
    if (wants("key")) {
        key_text(x, key, &text);
        write_file(number, stem, "key.txt", &text);
    }
    text.len = 0;
    if (wants("timing")) {
        timing_text(x, times, &text);
        write_file(number, stem, "timing.tsv", &text);
    }
    lz_buf_free(&text);
    lz_buf_free(&as);
}
