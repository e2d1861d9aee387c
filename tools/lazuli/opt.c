/* opt.c - lazuli opt: passes over a module, and what the compiler makes of it. */
#include "ir/module.h"
#include "lower/pass.h"
#include "lower/plan/plan.h"
#include "lower/portable.h"
#include "tools/lazuli/tool.h"
#include <getopt.h>
#include <string.h>

static void list_passes(void)
{
    const lz_pass *p;
    for (int i = 0; (p = lz_pass_at(i)); i++)
        printf("%-16s %s\n", p->name, p->doc);
}

static lz_status emit(const lz_func *f, const char *what, const lz_lower_options *o, lz_buf *out)
{
    if (strcmp(what, "stablehlo") == 0) {
        lz_func_print(f, out, 0);
        return LZ_OK;
    }
    if (strcmp(what, "portable") == 0) {
        lz_func *portable;
        LZ_TRY(lz_lower_portable(f, NULL, &portable));
        lz_func_print(portable, out, 0);
        lz_func_free(portable);
        return LZ_OK;
    }
    if (strcmp(what, "dot") == 0) {
        lz_func_print_dot(f, out);
        return LZ_OK;
    }
    lz_plan *p = NULL;
    LZ_TRY(lz_lower(f, o, &p));
    if (strcmp(what, "plan") == 0)
        lz_plan_print(p, out);
    else
        for (uint32_t i = 0; i < p->nkernel; i++)
            lz_kernel_print(p->kernels[i], out);
    lz_plan_free(p);
    return LZ_OK;
}

int tool_opt(int argc, char **argv)
{
    static const struct option names[] = {{"passes", 1, 0, 'p'},
                                          {"emit", 1, 0, 'e'},
                                          {"column-reductions", 0, 0, 'c'},
                                          {"prefix-scans", 0, 0, 's'},
                                          {"list", 0, 0, 'l'},
                                          {"entry", 1, 0, 'E'},
                                          {0}};
    lz_lower_options o = {.b2b = LZ_B2B_PROFITABLE};
    const char *passes = "", *what = "stablehlo", *entry = NULL;
    for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1;)
        switch (c) {
        case 'p':
            passes = optarg;
            break;
        case 'e':
            what = optarg;
            break;
        case 'E':
            entry = optarg;
            break;
        case 'c':
            o.column_reductions = true;
            break;
        case 's':
            o.prefix_scans = true;
            break;
        case 'l':
            list_passes();
            return 0;
        default:
            return 2;
        }
    if (optind + 1 != argc)
        return tool_usage("one FILE.mlir is needed");
    static const char *const stages[] = {"stablehlo", "portable", "loops", "plan", "dot", NULL};
    if (!tool_one_of("--emit", what, stages))
        return 2;
    lz_func *f = NULL, *g = NULL;
    lz_buf out = {0};
    lz_status s = tool_load_module(argv[optind], entry, &f);
    if (s == LZ_OK && *passes)
        s = lz_passes_run(f, passes, &o, &g);
    if (s == LZ_OK)
        s = emit(g ? g : f, what, &o, &out);
    if (s == LZ_OK)
        fwrite(lz_buf_str(&out), 1, out.len, stdout);
    lz_buf_free(&out);
    lz_func_free(g);
    lz_func_free(f);
    return s == LZ_OK ? 0 : tool_fail("opt");
}
