/* shard_cmd.c - lazuli shard: where the values of a program are on the devices of its mesh, and
 * which mark and rule put them there. */
#include "shard/shard.h"
#include "tools/lazuli/tool.h"
#include <getopt.h>

static lz_status report(const lz_func *f, lz_buf *out)
{
    const lz_mesh *mesh;
    lz_arena a = {0};
    lz_shardings *s;
    LZ_TRY(lz_shard_mesh(f, &mesh));
    if (!mesh) {
        lz_buf_puts(out, "no mark of a sharding\n");
        return LZ_OK;
    }
    lz_buf_puts(out, "mesh ");
    lz_mesh_print(out, mesh);
    lz_buf_putc(out, '\n');
    lz_status status = lz_shard_propagate(f, mesh, &a, &s);
    if (status == LZ_OK)
        status = lz_shard_report(s, out);
    lz_arena_free(&a);
    return status;
}

int tool_shard(int argc, char **argv)
{
    static const struct option names[] = {{"entry", 1, 0, 'E'}, {"devices", 1, 0, 'd'}, {0}};
    const char *entry = NULL;
    uint64_t ndevice = 0;
    for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1;)
        switch (c) {
        case 'E':
            entry = optarg;
            break;
        case 'd':
            if (!tool_uint("--devices", optarg, 1, LZ_MESH_DEVICES, &ndevice))
                return 2;
            break;
        default:
            return 2;
        }
    if (optind + 1 != argc)
        return tool_usage("one FILE.mlir is needed");
    lz_func *f = NULL;
    lz_buf text = {0}, out = {0};
    lz_status s = tool_read_text(argv[optind], &text);
    if (s == LZ_OK)
        s = lz_func_parse_marked(lz_buf_str(&text), text.len, argv[optind], entry, (int64_t)ndevice,
                                 NULL, &f);
    if (s == LZ_OK)
        s = report(f, &out);
    if (s == LZ_OK)
        fwrite(lz_buf_str(&out), 1, out.len, stdout);
    lz_buf_free(&text);
    lz_buf_free(&out);
    lz_func_free(f);
    return s == LZ_OK ? 0 : tool_fail("shard");
}
