/* lower_dump.c - LAZULI_DUMP. See lower_dump.h. */
#include "lower/lower_dump.h"
#include "base/config.h"
#include "base/log.h"
#include "base/outfile.h"
#include "lower/pass.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static _Atomic unsigned number;

/* Warns of each name of the list that is neither a pass nor in `more`. */
static void check_list(const char *variable, const char *list, const char *more)
{
    char name[64];
    for (const char *p = list; *p;) {
        size_t n = strcspn(p, ",");
        snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), p);
        if (n && !lz_list_has(more, name) && !lz_pass_get(name))
            LZ_WARN("config",
                    "%s: there is no pass or stage '%s': it is ignored. Beside the "
                    "passes (lazuli opt --list) there are %s",
                    variable, name, more);
        p += n + (p[n] == ',');
    }
}

void lz_lower_check_names(void)
{
    check_list("LAZULI_DUMP", lz_cfg_str(LZ_OPT_DUMP),
               "all,input,fusion,loops,plan,key,timing,llvm,asm,ptx");
    check_list("LAZULI_PASSES_OFF", lz_cfg_str(LZ_OPT_PASSES_OFF), "fusion,b2b");
}

bool lz_dump_wanted(const char *stage)
{
    const char *list = lz_cfg_str(LZ_OPT_DUMP);
    return *list && (lz_list_has(list, stage) || lz_list_has(list, "all"));
}

void lz_dump_text(const char *stage, const char *ext, const lz_buf *text)
{
    char path[1024];
    const char *dir = lz_cfg_str(LZ_OPT_DUMP_DIR);
    if (mkdir(dir, 0777) != 0 && errno != EEXIST) {
        LZ_WARN("dump", "cannot make the directory %s: %s", dir, strerror(errno));
        return;
    }
    snprintf(path, sizeof path, "%s/%04u.%s.%s", dir, atomic_fetch_add(&number, 1), stage, ext);
    LZ_QUIETLY {
        if (lz_outfile_write(path, text->data, text->len, false) != LZ_OK)
            LZ_WARN("dump", "%s", lz_error_get()->message);
    }
}

static void dump_module(const char *stage, const lz_func *f, const bool *donate)
{
    lz_buf b = {0};
    if (!lz_dump_wanted(stage))
        return;
    lz_func_print_donating(f, donate, &b, LZ_PRINT_LOCATIONS);
    lz_dump_text(stage, "mlir", &b);
    lz_buf_free(&b);
}

void lz_dump_func(const char *stage, const lz_func *f)
{
    dump_module(stage, f, NULL);
}

void lz_dump_input(const lz_func *f, const bool *donate)
{
    dump_module("input", f, donate);
}

lz_status lz_dump_fusion(const lz_fusion *fu)
{
    lz_buf b = {0};
    if (!lz_dump_wanted("fusion"))
        return LZ_OK;
    lz_fusion_print(fu, &b);
    lz_dump_text("fusion", "txt", &b);
    lz_buf_free(&b);
    return LZ_OK;
}

lz_status lz_dump_plan(const lz_plan *p)
{
    lz_buf b = {0};
    if (lz_dump_wanted("loops")) {
        for (uint32_t i = 0; i < p->nkernel; i++)
            lz_kernel_print(p->kernels[i], &b);
        lz_dump_text("loops", "txt", &b);
        lz_buf_free(&b);
    }
    if (lz_dump_wanted("plan")) {
        lz_plan_print(p, &b);
        lz_dump_text("plan", "txt", &b);
        lz_buf_free(&b);
    }
    return LZ_OK;
}
