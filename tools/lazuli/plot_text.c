/* plot_text.c - curves for the terminal. A character is two dots wide and four high, of Unicode's
 * Braille patterns (U+2800 and what follows); where it has no more than ASCII, or several runs have
 * no colours to be told apart by, it is a letter of the run. */
#include "base/terminal.h"
#include "base/text.h"
#include "tools/lazuli/plot.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { MARGIN = 11, NCOLOUR = 6 };
static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
static const int colours[NCOLOUR] = {36, 33, 32, 35, 31, 34};

typedef struct canvas {
    const plot_text_options *o;
    bool braille, alone; /* alone: there is one run */
    int wide, high;      /* characters */
    uint8_t *dots;       /* of each character */
    uint8_t *owner;      /* series + 1; 0: none */
} canvas;

static void set(canvas *c, int x, int y, int series)
{
    static const uint8_t bits[4][2] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};
    int col = c->braille ? x / 2 : x, row = c->braille ? y / 4 : y;
    if (x < 0 || y < 0 || col >= c->wide || row >= c->high)
        return;
    size_t at = (size_t)row * (size_t)c->wide + (size_t)col;
    c->dots[at] |= c->braille ? bits[y % 4][x % 2] : 1;
    c->owner[at] = (uint8_t)(series % 255 + 1);
}

/* A line, the steeper way dot by dot. */
static void connect(canvas *c, int x0, int y0, int x1, int y1, int series)
{
    int dx = x1 - x0, dy = y1 - y0;
    int n = abs(dx) > abs(dy) ? abs(dx) : abs(dy);
    for (int i = 0; i <= n; i++)
        set(c, x0 + (n ? dx * i / n : 0), y0 + (n ? dy * i / n : 0), series);
}

static void draw_series(canvas *c, const plot_range *r, const plot_series *s, int series)
{
    int nx = c->wide * (c->braille ? 2 : 1), ny = c->high * (c->braille ? 4 : 1);
    double all = (double)r->last - (double)r->first;
    int lx = -1, ly = -1;
    for (uint32_t i = 0; i < s->points.len; i++) {
        const plot_point *p = &s->points.data[i];
        double v = plot_place(r, c->o->smooth ? p->smooth : p->value);
        if (isnan(v)) {
            lx = -1;
            continue;
        }
        double at = all > 0 ? ((double)p->step - (double)r->first) / all : 0.5;
        int x = (int)(at * (nx - 1) + 0.5), y = (int)((1 - v) * (ny - 1) + 0.5);
        connect(c, lx < 0 ? x : lx, lx < 0 ? y : ly, x, y, series);
        lx = x, ly = y;
    }
}

static char mark_of(const canvas *c, int series)
{
    return c->alone ? '*' : letters[series % (int)(sizeof letters - 1)];
}

static void put_cell(const canvas *c, int row, int col, lz_buf *out)
{
    size_t at = (size_t)row * (size_t)c->wide + (size_t)col;
    if (!c->owner[at]) {
        lz_buf_putc(out, ' ');
        return;
    }
    int series = c->owner[at] - 1;
    if (c->o->colour)
        lz_buf_printf(out, "\033[%dm", colours[series % NCOLOUR]);
    if (c->braille) { /* UTF-8 of U+2800 + dots */
        lz_buf_putc(out, '\xe2');
        lz_buf_putc(out, (char)(0xa0 | c->dots[at] >> 6));
        lz_buf_putc(out, (char)(0x80 | (c->dots[at] & 63)));
    } else {
        lz_buf_putc(out, mark_of(c, series));
    }
    lz_buf_puts(out, c->o->colour ? "\033[0m" : "");
}

static void put_rows(const canvas *c, const plot_range *r, lz_buf *out)
{
    const char *bar = c->o->utf8 ? "\xe2\x94\x82" : "|"; /* U+2502 */
    for (int row = 0; row < c->high; row++) {
        if (row == 0 || row == c->high - 1)
            lz_buf_printf(out, "%*.4g %s", MARGIN - 2, row ? r->lo : r->hi, bar);
        else
            lz_buf_printf(out, "%*s %s", MARGIN - 2, "", bar);
        for (int col = 0; col < c->wide; col++)
            put_cell(c, row, col, out);
        while (out->len && out->data[out->len - 1] == ' ')
            out->len--;
        lz_buf_putc(out, '\n');
    }
    lz_buf_printf(out, "%*s ", MARGIN - 2, "");
    lz_buf_puts(out, c->o->utf8 ? "\xe2\x94\x94" : "+"); /* U+2514 */
    for (int col = 0; col < c->wide; col++)
        lz_buf_puts(out, c->o->utf8 ? "\xe2\x94\x80" : "-"); /* U+2500 */
    char last[24];
    lz_snprintf(last, sizeof last, "%" PRId64, r->last);
    lz_buf_printf(out, "\n%*s%-*" PRId64 "%*s\n", MARGIN, "", c->wide / 2, r->first,
                  c->wide - c->wide / 2, last);
}

static void put_runs(const canvas *c, const plot_data *d, const plot_range *r, lz_buf *out)
{
    for (uint32_t i = r->from; i < r->to; i++) {
        const plot_series *s = &d->list.data[i];
        const plot_point *last = &s->points.data[s->points.len - 1], *least = s->points.data;
        for (uint32_t k = 0; k < s->points.len; k++)
            least =
                plot_is_below(s->points.data[k].value, least->value) ? &s->points.data[k] : least;
        if (c->o->colour)
            lz_buf_printf(out, "\033[%dm", colours[(i - r->from) % NCOLOUR]);
        if (c->braille)
            lz_buf_puts(out, "  \xe2\xa0\xa4 "); /* U+2824 */
        else
            lz_buf_printf(out, "  %c ", mark_of(c, (int)(i - r->from)));
        lz_buf_puts(out, c->o->colour ? "\033[0m" : "");
        lz_buf_terminal_text(out, s->run);
        lz_buf_printf(out, ": %.6g at step %" PRId64 ", least %.6g at step %" PRId64 "\n",
                      last->value, last->step, least->value, least->step);
    }
    if (r->strange)
        lz_buf_printf(out, "  %" PRIu64 " values are %s: not shown\n", r->strange,
                      r->log ? "not above 0, or not finite" : "not finite");
}

static lz_status put_chart(const plot_data *d, const plot_range *r, const plot_text_options *o,
                           lz_buf *out)
{
    canvas c = {
        .o = o, .wide = o->columns - MARGIN, .high = o->rows, .alone = r->to - r->from == 1};
    c.wide = c.wide < 10 ? 10 : c.wide;
    c.braille = o->utf8 && (o->colour || c.alone);
    size_t n = (size_t)c.wide * (size_t)c.high;
    c.dots = lz_calloc(n, 1);
    c.owner = lz_calloc(n, 1);
    if (c.dots && c.owner) {
        for (uint32_t i = r->from; i < r->to; i++)
            draw_series(&c, r, &d->list.data[i], (int)(i - r->from));
        lz_buf_terminal_text(out, d->list.data[r->from].name);
        lz_buf_putc(out, '\n');
        put_rows(&c, r, out);
        put_runs(&c, d, r, out);
    }
    bool good = c.dots && c.owner;
    lz_free(c.dots);
    lz_free(c.owner);
    return good ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for a chart");
}

lz_status plot_put_text(const plot_data *d, const plot_text_options *o, lz_buf *out)
{
    plot_range r;
    for (uint32_t at = 0; plot_next(d, &at, o->log, &r);) {
        if (r.from)
            lz_buf_putc(out, '\n');
        LZ_TRY(put_chart(d, &r, o, out));
    }
    return LZ_OK;
}
