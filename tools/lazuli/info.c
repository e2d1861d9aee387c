/* info.c - lazuli devices, ops, env: prints tables of the library. */
#include "backends/backend.h"
#include "base/config.h"
#include "ir/op.h"
#include "tools/lazuli/tool.h"
#include <inttypes.h>
#include <string.h>

int tool_devices(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        return tool_usage("it takes no arguments");
    const lz_backend *b;
    for (uint32_t i = 0; (b = lz_backend_at(i)); i++) {
        if (b->init() != LZ_OK) {
            printf("%s  unavailable: %s\n", b->name, lz_error_get()->message);
            continue;
        }
        for (int d = 0; d < b->device_count(); d++) {
            lz_device_info info = {0};
            if (b->device_info(d, &info) == LZ_OK)
                printf("%s:%d  %s, %d thread%s%s%s\n", b->name, d, info.kind, info.threads,
                       info.threads == 1 ? "" : "s", *info.details ? "; " : "", info.details);
        }
    }
    return 0;
}

static const char *class_name(lz_op_class c)
{
    static const char *const names[] = {"elementwise", "leaf", "move", "index", "reduce",
                                        "dot",         "rng",  "meta", "sort"};
    return (size_t)c < sizeof names / sizeof *names ? names[c] : "?";
}

int tool_ops(int argc, char **argv)
{
    if (argc > 2)
        return tool_usage("at most one NAME");
    lz_op only = argc == 2 ? lz_op_from_text(argv[1], strlen(argv[1])) : LZ_OP_NONE;
    if (argc == 2 && only == LZ_OP_NONE) {
        fprintf(stderr, "lazuli: there is no operation %s\n", argv[1]);
        return 1;
    }
    for (int op = 1; op < LZ_OP_COUNT; op++) {
        const lz_op_info *i = lz_op_get((lz_op)op);
        if (only == LZ_OP_NONE || only == (lz_op)op)
            printf("%-24s %-12s %s\n", i->text, class_name(i->cls), i->doc);
    }
    return 0;
}

int tool_env(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        return tool_usage("it takes no arguments");
    const char *env, *type, *def, *doc;
    for (int i = 0; lz_config_row(i, &env, &type, &def, &doc); i++) {
        char value[64];
        lz_opt o = (lz_opt)i;
        if (strcmp(type, "string") == 0)
            snprintf(value, sizeof value, "%s", *lz_cfg_str(o) ? lz_cfg_str(o) : "(unset)");
        else if (strcmp(type, "bool") == 0)
            snprintf(value, sizeof value, "%s", lz_cfg_bool(o) ? "true" : "false");
        else
            snprintf(value, sizeof value, "%" PRId64, lz_cfg_int(o));
        printf("%c %-30s %-10s %s\n", lz_cfg_is_set(o) ? '*' : ' ', env, value, doc);
    }
    return 0;
}
