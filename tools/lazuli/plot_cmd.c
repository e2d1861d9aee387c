/* plot_cmd.c - lazuli plot: curves of what a training logged (lz_log_scalar, or TensorBoard's
 * events), in the terminal or as SVG. */
#include "base/outfile.h"
#include "base/terminal.h"
#include "base/text.h"
#include "tools/lazuli/plot.h"
#include "tools/lazuli/tool.h"
#include <getopt.h>
#include <string.h>
#include <unistd.h>

typedef struct plot_options {
    const char *output, *names;
    double smooth;
    uint64_t width, height;
    bool log;
} plot_options;

static bool read_weight(const char *text, double *out)
{
    if (lz_text_f64(text, strlen(text), out) && *out >= 0 && *out < 1)
        return true;
    tool_usage("--smooth takes a number from 0 to less than 1, not '%s'", text);
    return false;
}

static int parse(int argc, char **argv, plot_options *o)
{
    static const struct option names[] = {{"output", 1, 0, 'o'},
                                          {"name", 1, 0, 'n'},
                                          {"smooth", 1, 0, 's'},
                                          {"log", 0, 0, 'l'},
                                          {"width", 1, 0, 'w'},
                                          {"height", 1, 0, 'h'},
                                          {0}};
    for (int c; (c = getopt_long(argc, argv, "o:", names, NULL)) != -1;) {
        bool good = c != '?';
        if (c == 'o')
            o->output = optarg;
        else if (c == 'n')
            o->names = optarg;
        else if (c == 's')
            good = read_weight(optarg, &o->smooth);
        else if (c == 'l')
            o->log = true;
        else if (c == 'w')
            good = tool_uint("--width", optarg, 20, 1000, &o->width);
        else if (c == 'h')
            good = tool_uint("--height", optarg, 3, 200, &o->height);
        if (!good)
            return 2;
    }
    if (o->output && !lz_text_ends(o->output, ".svg"))
        return tool_usage("-o takes a name that ends in .svg, not '%s'", o->output);
    return optind < argc ? 0 : tool_usage("a FILE is needed, or a folder of some");
}

static lz_status print(const plot_data *d, const plot_options *o)
{
    enum { MOST_COLUMNS = 110 };
    int columns = lz_terminal_columns(STDOUT_FILENO);
    plot_text_options t = {.columns = columns < MOST_COLUMNS ? columns : MOST_COLUMNS,
                           .rows = o->height ? (int)o->height : 12,
                           .log = o->log,
                           .smooth = o->smooth > 0,
                           .colour = lz_terminal_has_colour(STDOUT_FILENO),
                           .utf8 = lz_terminal_is_utf8()};
    t.columns = o->width ? (int)o->width : t.columns;
    lz_buf out = {0};
    lz_status s = plot_put_text(d, &t, &out);
    if (s == LZ_OK && out.failed)
        s = LZ_FAIL(LZ_EMEM, "no memory for charts");
    if (s == LZ_OK)
        fwrite(lz_buf_str(&out), 1, out.len, stdout);
    lz_buf_free(&out);
    return s;
}

static lz_status write_svg(const plot_data *d, const plot_options *o)
{
    lz_buf out = {0};
    plot_put_svg(d, o->log, o->smooth > 0, &out);
    lz_status s = out.failed ? LZ_FAIL(LZ_EMEM, "no memory for charts")
                             : lz_outfile_write(o->output, out.data, out.len, false);
    lz_buf_free(&out);
    return s;
}

int tool_plot(int argc, char **argv)
{
    plot_options o = {0};
    plot_data d = {0};
    lz_status s = LZ_OK;
    if (parse(argc, argv, &o) != 0)
        return 2;
    for (int i = optind; i < argc && s == LZ_OK; i++)
        s = plot_read(&d, argv[i]);
    if (s == LZ_OK)
        s = plot_finish(&d, o.names, o.smooth);
    if (s == LZ_OK)
        s = o.output ? write_svg(&d, &o) : print(&d, &o);
    plot_free(&d);
    return s == LZ_OK ? 0 : tool_fail("plot");
}
