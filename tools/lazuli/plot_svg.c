/* plot_svg.c - curves as SVG: a chart for each name, in it a line for each run. With smoothing the
 * values are faint behind it. Many points are thinned to the least and the greatest of each
 * column. */
#include "base/formats/svg.h"
#include "base/formats/xml.h"
#include "tools/lazuli/plot.h"
#include <inttypes.h>
#include <math.h>

enum { WIDE = 820, HIGH = 300, LEFT = 74, RIGHT = 20, TOP = 34, BOTTOM = 40, LEGEND = 18 };
static const char *const colours[] = {"#1f6feb", "#d9480f", "#2b8a3e", "#9c36b5",
                                      "#c2255c", "#0b7285", "#846358", "#5f3dc4"};

static double x_of(const plot_range *r, double step)
{
    double all = (double)r->last - (double)r->first;
    double at = all > 0 ? (step - (double)r->first) / all : 0.5;
    return LEFT + at * (WIDE - LEFT - RIGHT);
}

static double y_of(const plot_range *r, double value)
{
    return HIGH - BOTTOM - plot_place(r, value) * (HIGH - BOTTOM - TOP);
}

static void put_value_mark(const plot_range *r, double v, lz_buf *b)
{
    lz_buf t = {0};
    lz_buf_printf(&t, "%.6g", v);
    lz_buf_printf(b, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", LEFT, y_of(r, v), WIDE - RIGHT);
    lz_svg_text(b, LEFT - 6, y_of(r, v) + 4, "end", lz_buf_str(&t));
    lz_buf_free(&t);
}

static void put_value_axis(const plot_range *r, lz_buf *b)
{
    double decades = r->log ? log10(r->hi) - log10(r->lo) : 0, marks[PLOT_MARKS];
    if (r->log && decades >= 1) {
        double by = decades > 8 ? ceil(decades / 8) : 1;
        for (double e = ceil(log10(r->lo) - 1e-9); e <= log10(r->hi) + 1e-9; e += by)
            put_value_mark(r, pow(10, e), b);
        return;
    }
    uint32_t n = plot_round_marks(r->lo, r->hi, 5, 0, marks);
    for (uint32_t i = 0; i < n; i++)
        put_value_mark(r, marks[i], b);
}

static void put_step_axis(const plot_range *r, lz_buf *b)
{
    double marks[PLOT_MARKS];
    uint32_t n = plot_round_marks((double)r->first, (double)r->last, 8, 1, marks);
    for (uint32_t i = 0; i < n; i++) {
        lz_buf t = {0};
        lz_buf_printf(&t, "%.0f", marks[i]);
        lz_svg_text(b, x_of(r, marks[i]), HIGH - BOTTOM + 17, "middle", lz_buf_str(&t));
        lz_buf_free(&t);
    }
    lz_svg_text(b, (LEFT + WIDE - RIGHT) / 2.0, HIGH - 6, "middle", "step");
}

/* A line as a path: gaps where a value has no place. */
static void put_curve(const plot_range *r, const plot_series *s, bool smooth, const char *style,
                      lz_buf *b)
{
    enum { COLUMNS = 1000 };
    uint32_t n = s->points.len, each = n > 4 * COLUMNS ? (n + COLUMNS - 1) / COLUMNS : 1;
    bool begun = false;
    lz_buf_printf(b, "<path class=\"line\" %s d=\"", style);
    for (uint32_t i = 0; i < n; i += each) {
        uint32_t least = i, most = i, end = i + each < n ? i + each : n;
        for (uint32_t k = i; k < end; k++) {
            const plot_point *p = s->points.data;
            double at = plot_place(r, p[k].value);
            least = plot_is_below(at, plot_place(r, p[least].value)) ? k : least;
            most = plot_is_below(-at, -plot_place(r, p[most].value)) ? k : most;
        }
        uint32_t two[2] = {least < most ? least : most, least < most ? most : least};
        for (int k = 0; k < (two[0] == two[1] ? 1 : 2); k++) {
            const plot_point *p = &s->points.data[two[k]];
            double v = smooth ? p->smooth : p->value;
            if (!isnan(plot_place(r, v)))
                lz_buf_printf(b, "%c%.1f %.1f", begun ? 'L' : 'M', x_of(r, (double)p->step),
                              y_of(r, v));
            begun = !isnan(plot_place(r, v));
        }
    }
    lz_buf_puts(b, "\"/>\n");
}

static void put_series(const plot_range *r, const plot_series *s, const char *colour, bool smooth,
                       lz_buf *b)
{
    lz_buf style = {0};
    if (smooth) {
        lz_buf_printf(&style, "stroke=\"%s\" opacity=\"0.25\"", colour);
        put_curve(r, s, false, lz_buf_str(&style), b);
        style.len = 0;
    }
    lz_buf_printf(&style, "stroke=\"%s\"", colour);
    put_curve(r, s, smooth, lz_buf_str(&style), b);
    if (s->points.len == 1 && !isnan(plot_place(r, s->points.data[0].value)))
        lz_buf_printf(b, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n",
                      x_of(r, (double)s->points.data[0].step), y_of(r, s->points.data[0].value),
                      colour);
    b->failed |= style.failed;
    lz_buf_free(&style);
}

/* "runs/a: 1.253 at step 300" behind a dot of its colour. */
static void put_legend(const plot_series *s, const char *colour, int y, lz_buf *b)
{
    const plot_point *last = &s->points.data[s->points.len - 1];
    lz_buf t = {0};
    lz_buf_printf(&t, "%s: %.6g at step %" PRId64, s->run, last->value, last->step);
    lz_buf_printf(b, "<circle cx=\"%d\" cy=\"%d\" r=\"4\" fill=\"%s\"/>\n", LEFT + 6, y - 4,
                  colour);
    lz_svg_text(b, LEFT + 16, y, "start", lz_buf_str(&t));
    lz_buf_free(&t);
}

/* Gives how high it is. */
static int put_chart(const plot_data *d, const plot_range *r, int y, bool smooth, lz_buf *b)
{
    enum { NCOLOUR = sizeof colours / sizeof *colours };
    lz_buf_printf(b, "<g transform=\"translate(0,%d)\">\n<text x=\"%d\" y=\"20\" class=\"name\">",
                  y, LEFT);
    lz_buf_xml(b, d->list.data[r->from].name);
    lz_buf_puts(b, "</text>\n");
    if (r->strange)
        lz_buf_printf(b,
                      "<text x=\"%d\" y=\"20\" text-anchor=\"end\">%" PRIu64 " values are %s: not "
                      "shown</text>\n",
                      WIDE - RIGHT, r->strange,
                      r->log ? "not above 0, or not finite" : "not finite");
    put_value_axis(r, b);
    put_step_axis(r, b);
    lz_buf_printf(b, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/>\n", LEFT, TOP, HIGH - BOTTOM,
                  WIDE - RIGHT);
    for (uint32_t i = r->from; i < r->to; i++)
        put_series(r, &d->list.data[i], colours[(i - r->from) % NCOLOUR], smooth, b);
    int high = HIGH;
    for (uint32_t i = r->from; i < r->to; i++, high += LEGEND)
        put_legend(&d->list.data[i], colours[(i - r->from) % NCOLOUR], high + 8, b);
    lz_buf_puts(b, "</g>\n");
    return high + LEGEND;
}

void plot_put_svg(const plot_data *d, bool log, bool smooth, lz_buf *out)
{
    lz_buf body = {0};
    plot_range r;
    int y = 0;
    for (uint32_t at = 0; plot_next(d, &at, log, &r);)
        y += put_chart(d, &r, y, smooth, &body);
    lz_svg_document(out, WIDE, y, "sans-serif", 12,
                    ".line{fill:none;stroke-width:1.6;stroke-linejoin:round}"
                    ".grid{stroke:#e3e6eb}.axis{fill:none;stroke:#667085}"
                    ".name{font-size:15px;font-weight:bold}text{fill:#1c2430}",
                    &body);
    lz_buf_free(&body);
}
