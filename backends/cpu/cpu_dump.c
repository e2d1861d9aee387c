/* cpu_dump.c - see cpu_dump.h. LLVM IR and assembly are generated again for the dump, so kernels
 * that came from the cache have them too. */
#include "backends/cpu/cpu_dump.h"
#include "base/config.h"
#include "lower/lower_dump.h"

bool lz_cpu_dump_on(void)
{
    return *lz_cfg_str(LZ_OPT_DUMP) && (lz_dump_wanted("llvm") || lz_dump_wanted("asm") ||
                                        lz_dump_wanted("key") || lz_dump_wanted("timing"));
}

static void key_text(const lz_exec *x, const char *name, const lz_buf *key, lz_buf *out)
{
    char hex[33];
    lz_buf_printf(out, "program: %s\ndevice key: ", name ? name : "");
    for (size_t i = 0; i < key->len; i++)
        lz_buf_putc(out, key->data[i] >= ' ' && key->data[i] < 127 ? key->data[i] : '.');
    lz_buf_putc(out, '\n');
    for (uint32_t i = 0; i < x->plan_exec.nkernel; i++) {
        const lz_kernel *k = x->plan_exec.kernels[i];
        lz_hash_hex(k->hash, hex);
        lz_buf_printf(out, "kernel %u: %s, %zu canonical bytes, %s\n", i, hex, k->nencoding,
                      k->name);
    }
}

static void timing_text(const lz_exec *x, const lz_cpu_times *times, lz_buf *out)
{
    static const char *const from[] = {"memory", "disk", "llvm"};
    lz_buf_puts(out, "what\tms\tfrom\tname\n");
    lz_buf_printf(out, "lower\t%.3f\t\t\n", times->lower_ms);
    lz_buf_printf(out, "kernels\t%.3f\t\t\n", times->kernels_ms);
    for (uint32_t i = 0; i < x->plan_exec.nkernel; i++) {
        const lz_kernel *k = x->plan_exec.kernels[i];
        const lz_kernel_load *l = x->loads ? &x->loads[i] : NULL;
        if (l)
            lz_buf_printf(out, "kernel %u\t%.3f\t%s\t%s\n", i, l->ms,
                          l->code ? from[l->source] : "later", k->name);
    }
}

static void loops_text(const lz_exec *x, const lz_target *t, lz_buf *ll, lz_buf *as)
{
    const lz_cpu_loops *l = lz_cpu_exec_loops(x);
    for (uint32_t i = 0; i < l->loops.len; i++) {
        lz_buf obj = {0};
        lz_buf_printf(ll, "; loop %u\n", i);
        lz_buf_printf(as, "# loop %u\n", i);
        if (lz_llvm_compile(l->loops.data[i].kernel, t, &obj, ll, as) != LZ_OK)
            lz_buf_printf(ll, "; %s\n", lz_error_get()->message);
        lz_buf_free(&obj);
    }
}

static void code_text(const lz_exec *x, const lz_target *t, lz_buf *ll, lz_buf *as)
{
    for (uint32_t i = 0; i < x->plan_exec.nkernel; i++) {
        const lz_kernel *k = x->plan_exec.kernels[i];
        lz_buf obj = {0};
        lz_buf_printf(ll, "; kernel %u: %s, schedule %s\n", i, k->name, lz_schedule_name(k, t));
        lz_buf_printf(as, "# kernel %u: %s\n", i, k->name);
        if (lz_llvm_compile(k, t, &obj, ll, as) != LZ_OK)
            lz_buf_printf(ll, "; %s\n", lz_error_get()->message);
        lz_buf_free(&obj);
    }
}

static void write(const char *stage, const char *ext, lz_buf *text)
{
    if (lz_dump_wanted(stage))
        lz_dump_text(stage, ext, text);
    lz_buf_free(text);
}

void lz_cpu_dump(const lz_exec *x, const lz_target *t, const char *name, const lz_buf *key,
                 const lz_cpu_times *times)
{
    lz_buf ll = {0}, as = {0}, k = {0}, timing = {0};
    if (lz_dump_wanted("llvm") || lz_dump_wanted("asm")) {
        code_text(x, t, &ll, &as);
        loops_text(x, t, &ll, &as);
    }
    key_text(x, name, key, &k);
    timing_text(x, times, &timing);
    write("llvm", "ll", &ll);
    write("asm", "s", &as);
    write("key", "txt", &k);
    write("timing", "tsv", &timing);
}
