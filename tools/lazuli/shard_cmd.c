/* shard_cmd.c - lazuli shard: where the values of a program are on the devices of its mesh, and
 * which mark and rule put them there; what each collective of the partitioned program sends, and
 * why it is there. With --auto, where they would best be. */
#include "base/text.h"
#include "shard/auto/auto.h"
#include "shard/picture.h"
#include "shard/shard.h"
#include "tools/lazuli/simulate_cmd.h"
#include "tools/lazuli/tool.h"
#include <getopt.h>
#include <string.h>

typedef struct shard_options {
    const char *entry;
    uint64_t ndevice;
    const lz_mesh *mesh; /* instead of the program's */
    uint64_t memory;     /* of --auto: of a device for parameters; 0: any */
    bool json, svg, search;
    simulate_options simulate; /* .machine NULL: not asked */
} shard_options;

/* ---- --mesh data=2,fsdp=4 ---- */

enum { MOST_AXES = LZ_MESH_FACTORS };

/* One NAME=SIZE, which ends at a comma or the end. NULL: it is none. */
static const char *read_axis(const char *s, lz_mesh_axis *out)
{
    const char *end = s + strcspn(s, ","), *equals = memchr(s, '=', (size_t)(end - s));
    uint64_t size;
    if (!equals || equals == s ||
        lz_text_u64(equals + 1, (size_t)(end - equals - 1), 0, LZ_MESH_DEVICES, &size) != LZ_OK)
        return NULL;
    out->name = lz_string_get(s, (size_t)(equals - s));
    out->size = (int64_t)size;
    return out->name ? end : NULL;
}

/* The exit status: 0, or 2 after a message. */
static int read_mesh(const char *text, const lz_mesh **out)
{
    lz_mesh_axis axes[MOST_AXES];
    int n = 0;
    for (const char *s = text; s; s = *s == ',' ? s + 1 : NULL) {
        if (n == MOST_AXES)
            return tool_usage("--mesh has more than %d axes", MOST_AXES);
        s = read_axis(s, &axes[n++]);
        if (!s)
            return tool_usage("--mesh is NAME=SIZE,.., not '%s'", text);
    }
    *out = lz_mesh_get(axes, n, NULL);
    if (!*out)
        return tool_usage("--mesh: %s", lz_error_get()->message);
    return 0;
}

/* ---- reports ---- */

/* Parameters and results, one below the other. */
static lz_status draw(const lz_func *f, const lz_partitioned *p, lz_buf *out)
{
    lz_picture *all = lz_calloc((size_t)p->nin + p->nout + 1, sizeof *all);
    lz_arena names = {0};
    lz_status s = all ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for pictures");
    for (uint32_t i = 0; i < p->nin + p->nout && s == LZ_OK; i++) {
        bool in = i < p->nin;
        uint32_t k = in ? i : i - p->nin;
        all[i] = (lz_picture){
            .s = in ? p->in[k] : p->out[k],
            .type = lz_val_type(f, in ? k : f->results[k]),
            .device = "device",
            .title = lz_arena_printf(&names, "%s %u:", in ? "parameter" : "result", k)};
    }
    if (s == LZ_OK)
        s = lz_picture_svg(all, p->nin + p->nout, out);
    lz_arena_free(&names);
    lz_free(all);
    return s;
}

static lz_status print(const shard_options *o, const lz_shardings *s, const lz_mesh *mesh,
                       const lz_partitioned *p, lz_buf *out)
{
    if (o->svg)
        return draw(s->f, p, out);
    if (o->simulate.machine)
        return simulate_program(&o->simulate, s->f, mesh, p, out);
    if (o->json)
        return lz_shard_report_json(s, mesh, p, out);
    lz_buf_puts(out, "mesh ");
    lz_mesh_print(out, mesh);
    lz_buf_putc(out, '\n');
    LZ_TRY(lz_shard_report(s, out));
    return lz_shard_report_collectives(p, mesh, out);
}

static lz_status report(const shard_options *o, const lz_func *f, lz_buf *out);

/* The step of a plan's program, behind the plan. */
static lz_status simulate_plan(const shard_options *o, const lz_func *f, const lz_auto_plan *p,
                               lz_buf *out)
{
    shard_options marked = *o;
    lz_func *g;
    marked.search = false;
    LZ_TRY(lz_auto_apply(f, p->marks, p->nmark, &g));
    lz_status s = report(&marked, g, out);
    lz_func_free(g);
    return s;
}

static lz_status print_plan(const shard_options *o, const lz_func *f, const lz_mesh *mesh,
                            const lz_auto_plan *p, lz_buf *out)
{
    bool both = o->simulate.machine;
    lz_buf_puts(out, both && o->json ? "{\"plan\": " : "");
    lz_status s = o->json ? lz_auto_report_json(f, mesh, p, out) : lz_auto_report(f, mesh, p, out);
    if (!both || s != LZ_OK)
        return s;
    lz_buf_puts(out, o->json ? ", \"step\": " : "\n");
    s = simulate_plan(o, f, p, out);
    lz_buf_puts(out, o->json ? "}\n" : "");
    return s;
}

/* --auto: the plan of a function on the mesh of its marks, or --mesh; for the machine of
 * --simulate, and then its step. */
static lz_status plan(const shard_options *o, const lz_func *f, lz_buf *out)
{
    const lz_mesh *mesh;
    lz_auto_plan p;
    lz_auto_machine machine;
    lz_auto_options search = {.memory = o->memory};
    LZ_TRY(lz_shard_mesh(f, &mesh));
    if (o->mesh && mesh && mesh != o->mesh)
        return LZ_FAIL(LZ_EINVAL, "the marks are not of --mesh: the program says mesh<..> itself");
    if (!mesh && !(mesh = o->mesh))
        return LZ_FAIL(LZ_EINVAL, "the program has no mesh: --auto needs --mesh NAME=SIZE,..");
    if (o->simulate.machine) {
        machine = simulate_machine(&o->simulate, f, mesh);
        search.machine = &machine;
    }
    LZ_TRY(lz_auto_shard(f, mesh, &search, &p));
    lz_status s = print_plan(o, f, mesh, &p, out);
    lz_auto_plan_free(&p);
    return s;
}

static lz_status report(const shard_options *o, const lz_func *f, lz_buf *out)
{
    const lz_mesh *mesh;
    lz_arena a = {0};
    lz_shardings *s;
    lz_partitioned p = {0};
    if (o->search)
        return plan(o, f, out);
    LZ_TRY(lz_shard_mesh(f, &mesh));
    if (!mesh && o->simulate.machine)
        return simulate_local(&o->simulate, f, o->mesh, (int64_t)o->ndevice, out);
    if (!mesh) {
        lz_buf_puts(out, o->json ? "{\"values\": [], \"collectives\": []}\n"
                                 : "no mark of a sharding\n");
        return LZ_OK;
    }
    if (o->mesh && mesh != o->mesh)
        return LZ_FAIL(LZ_EINVAL, "the marks are not of --mesh: the program says mesh<..> itself");
    lz_status status = lz_shard_propagate(f, mesh, &a, &s);
    if (status == LZ_OK)
        status = lz_partition_as(f, mesh, s, &p);
    if (status == LZ_OK)
        status = print(o, s, mesh, &p, out);
    lz_partitioned_free(&p);
    lz_arena_free(&a);
    return status;
}

/* --simulate and what belongs to it. */
static int simulation(int argc, shard_options *o)
{
    simulate_options *s = &o->simulate;
    s->json = o->json;
    if ((s->model && !s->machine) || (s->layout && !s->model))
        return tool_usage(s->layout ? "--layout is of a --model" : "--model is for --simulate");
    if (s->machine && o->svg)
        return tool_usage("--simulate and --svg are two reports");
    if (s->machine && !simulate_knows(s))
        return 2;
    if (s->model)
        return optind == argc ? 0 : tool_usage("a FILE.mlir and a --model are two programs");
    return optind + 1 == argc ? 0 : tool_usage("one FILE.mlir is needed");
}

static int options(int argc, char **argv, shard_options *o)
{
    static const struct option names[] = {{"entry", 1, 0, 'E'},
                                          {"devices", 1, 0, 'd'},
                                          {"mesh", 1, 0, 'm'},
                                          {"json", 0, 0, 'j'},
                                          {"svg", 0, 0, 's'},
                                          {"auto", 0, 0, 'a'},
                                          {"memory", 1, 0, 'B'},
                                          {"simulate", 1, 0, 'S'},
                                          {"model", 1, 0, 'M'},
                                          {"layout", 1, 0, 'L'},
                                          {0}};
    for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1;)
        switch (c) {
        case 'E':
            o->entry = optarg;
            break;
        case 'd':
            if (!tool_uint("--devices", optarg, 1, LZ_MESH_DEVICES, &o->ndevice))
                return 2;
            break;
        case 'm':
            if (read_mesh(optarg, &o->mesh) != 0)
                return 2;
            break;
        case 'j':
            o->json = true;
            break;
        case 's':
            o->svg = true;
            break;
        case 'S':
            o->simulate.machine = optarg;
            break;
        case 'M':
            o->simulate.model = optarg;
            break;
        case 'L':
            o->simulate.layout = optarg;
            break;
        case 'a':
            o->search = true;
            break;
        case 'B':
            if (!tool_uint("--memory", optarg, 1, INT64_MAX, &o->memory))
                return 2;
            break;
        default:
            return 2;
        }
    if (o->json && o->svg)
        return tool_usage("--json and --svg are two forms");
    if (o->search && o->svg)
        return tool_usage("--svg shows the marks of a program, --auto looks for others");
    if (o->memory && !o->search)
        return tool_usage("--memory is of --auto");
    if (o->search && o->simulate.model)
        return tool_usage("--auto is of a FILE.mlir");
    return simulation(argc, o);
}

int tool_shard(int argc, char **argv)
{
    shard_options o = {0};
    if (options(argc, argv, &o) != 0)
        return 2;
    if (o.simulate.model)
        return simulate_model(&o.simulate);
    lz_partitions about = {.mesh = o.mesh};
    lz_func *f = NULL;
    lz_buf text = {0}, out = {0};
    lz_status s = tool_read_text(argv[optind], &text);
    if (s == LZ_OK)
        s = lz_func_parse_marked(lz_buf_str(&text), text.len, argv[optind], o.entry,
                                 o.mesh ? o.mesh->ndevice : (int64_t)o.ndevice, &about, &f);
    if (s == LZ_OK)
        s = report(&o, f, &out);
    if (s == LZ_OK)
        fwrite(lz_buf_str(&out), 1, out.len, stdout);
    lz_buf_free(&text);
    lz_buf_free(&out);
    lz_func_free(f);
    return s == LZ_OK ? 0 : tool_fail("shard");
}
