/* picture.c - see picture.h. */
#include "shard/picture.h"
#include "base/formats/svg.h"
#include <inttypes.h>
#include <string.h>

enum { MOST = 8, IDS = 8, IDS_FIRST = 4 };

typedef struct cell {
    int64_t n, last, id[IDS]; /* devices: how many, the last one, the first ones */
} cell;

/* A dimension as it is shown. */
typedef struct side {
    int dim;       /* -1: there is none */
    int64_t tiles; /* of it */
    int n;         /* shown */
    int64_t at[MOST];
} side;

typedef struct grid {
    const lz_picture *p;
    side row, col;
    cell cells[MOST][MOST];
    int width; /* characters of the longest text */
} grid;

/* ---- what is shown ---- */

static int64_t tiles_of(const lz_sharding *s, int d)
{
    return lz_axis_list_size(s->mesh, &s->dims[d]);
}

static void show(side *x, const lz_sharding *s, int dim)
{
    x->dim = dim;
    x->tiles = dim < 0 ? 1 : tiles_of(s, dim);
    x->n = x->tiles > MOST ? MOST : (int)x->tiles;
    for (int i = 0; i < x->n; i++)
        x->at[i] = i;
    if (x->tiles > MOST) { /* the one before the last is the gap */
        x->at[MOST - 2] = -1;
        x->at[MOST - 1] = x->tiles - 1;
    }
}

/* The dimension of the most tiles but `other`; -1: there is none. */
static int largest(const lz_sharding *s, int other)
{
    int best = -1;
    for (int d = 0; d < s->rank; d++)
        if (d != other && (best < 0 || tiles_of(s, d) > tiles_of(s, best)))
            best = d;
    return best;
}

static void choose(grid *g, const lz_sharding *s)
{
    int a = largest(s, -1), b = a < 0 ? -1 : largest(s, a);
    if (b >= 0 && b < a) {
        int x = a;
        a = b;
        b = x;
    }
    show(&g->row, s, b < 0 ? -1 : a);
    show(&g->col, s, b < 0 ? a : b);
}

static int slot(const side *x, const lz_sharding *s, int64_t partition)
{
    int64_t tile = x->dim < 0 ? 0 : lz_axis_list_tile(s->mesh, &s->dims[x->dim], partition);
    for (int i = 0; i < x->n; i++)
        if (x->at[i] == tile)
            return i;
    return -1;
}

static void fill(grid *g)
{
    const lz_sharding *s = g->p->s;
    for (int64_t p = 0; p < s->mesh->ndevice; p++) {
        int r = slot(&g->row, s, p), c = slot(&g->col, s, p);
        if (r < 0 || c < 0)
            continue;
        cell *x = &g->cells[r][c];
        x->last = s->mesh->device_ids ? s->mesh->device_ids[p] : p;
        if (x->n < IDS)
            x->id[x->n] = x->last;
        x->n++;
    }
}

/* ---- texts ---- */

static void devices_text(const grid *g, int r, int c, lz_buf *b)
{
    const cell *x = &g->cells[r][c];
    if (g->row.at[r] < 0 || g->col.at[c] < 0) {
        lz_buf_puts(b, "...");
        return;
    }
    lz_buf_printf(b, "%s ", g->p->device);
    if (x->n == 1) {
        lz_buf_printf(b, "%" PRId64, x->last);
        return;
    }
    for (int64_t i = 0; i < x->n && i < (x->n > IDS ? IDS_FIRST : IDS); i++)
        lz_buf_printf(b, "%s%" PRId64, i ? ", " : "[", x->id[i]);
    if (x->n > IDS)
        lz_buf_printf(b, ", .. %" PRId64, x->last);
    lz_buf_puts(b, "]");
}

/* Elements of a tile along a side. */
static int64_t extent(const grid *g, const side *x, int i)
{
    int64_t d = g->p->type->shape.dims[x->dim], t = lz_tile_extent(d, x->tiles);
    int64_t from = x->at[i] > d / (t ? t : 1) ? d : x->at[i] * t;
    return from >= d ? 0 : d - from < t ? d - from : t;
}

/* "4x8", the elements of the tile; "empty". */
static void extent_text(const grid *g, int r, int c, lz_buf *b)
{
    if (!g->p->type || g->row.at[r] < 0 || g->col.at[c] < 0 || g->col.dim < 0)
        return;
    int64_t across = extent(g, &g->col, c), down = g->row.dim < 0 ? 1 : extent(g, &g->row, r);
    if (across == 0 || down == 0)
        lz_buf_puts(b, "empty");
    else if (g->row.dim < 0)
        lz_buf_printf(b, "%" PRId64, across);
    else
        lz_buf_printf(b, "%" PRId64 "x%" PRId64, down, across);
}

static void heading(const grid *g, lz_buf *b)
{
    char type[160];
    const lz_sharding *s = g->p->s;
    if (g->p->title)
        lz_buf_printf(b, "%s ", g->p->title);
    if (g->p->type)
        lz_buf_printf(b, "%s ", lz_type_short(g->p->type, type, sizeof type));
    lz_sharding_print_hlo(b, s);
    if (g->row.dim >= 0)
        lz_buf_printf(b, ": dimension %d down in %" PRId64 ",", g->row.dim, g->row.tiles);
    if (g->col.dim >= 0)
        lz_buf_printf(b, "%s dimension %d across in %" PRId64 " of %" PRId64 " devices",
                      g->row.dim < 0 ? ":" : "", g->col.dim, g->col.tiles, s->mesh->ndevice);
    bool more = false;
    for (int d = 0; d < s->rank; d++)
        more |= d != g->row.dim && d != g->col.dim && tiles_of(s, d) > 1;
    lz_buf_puts(b, more ? " (others are cut, too)" : "");
}

static void prepare(grid *g, const lz_picture *p)
{
    memset(g, 0, sizeof *g);
    g->p = p;
    choose(g, p->s);
    fill(g);
    for (int r = 0; r < g->row.n; r++)
        for (int c = 0; c < g->col.n; c++) {
            lz_buf t = {0};
            devices_text(g, r, c, &t);
            g->width = (int)t.len > g->width ? (int)t.len : g->width;
            lz_buf_free(&t);
        }
}

/* ---- a table ---- */

/* Line 0 is above all rows, 1 between two, 2 below all. */
static void rule(const grid *g, int line, unsigned flags, lz_buf *b)
{
    static const char *const utf8[3][3] = {{"┌", "┬", "┐"}, {"├", "┼", "┤"}, {"└", "┴", "┘"}};
    bool ascii = flags & LZ_PICTURE_ASCII;
    for (int c = 0; c < g->col.n; c++) {
        lz_buf_puts(b, ascii ? "+" : utf8[line][c > 0]);
        for (int i = 0; i < g->width + 2; i++)
            lz_buf_puts(b, ascii ? "-" : "─");
    }
    lz_buf_puts(b, ascii ? "+" : utf8[line][2]);
    lz_buf_putc(b, '\n');
}

/* Cells of one group of devices have one colour. */
static int colour(const cell *x)
{
    static const int light[] = {152, 223, 157, 218, 189, 187, 159, 224};
    return light[x->id[0] % (int64_t)(sizeof light / sizeof *light)];
}

typedef void text_of(const grid *g, int r, int c, lz_buf *b);
static void line(const grid *g, int r, text_of *text, unsigned flags, lz_buf *b)
{
    const char *bar = flags & LZ_PICTURE_ASCII ? "|" : "│";
    for (int c = 0; c < g->col.n; c++) {
        lz_buf t = {0};
        bool colours = flags & LZ_PICTURE_COLOUR && g->cells[r][c].n;
        text(g, r, c, &t);
        int left = (g->width - (int)t.len) / 2;
        lz_buf_puts(b, bar);
        if (colours)
            lz_buf_printf(b, "\033[30;48;5;%dm", colour(&g->cells[r][c]));
        lz_buf_printf(b, " %*s%s%*s ", left, "", lz_buf_str(&t), g->width - left - (int)t.len, "");
        lz_buf_puts(b, colours ? "\033[0m" : "");
        b->failed |= t.failed;
        lz_buf_free(&t);
    }
    lz_buf_puts(b, bar);
    lz_buf_putc(b, '\n');
}

lz_status lz_picture_table(const lz_picture *p, unsigned flags, lz_buf *out)
{
    grid g;
    prepare(&g, p);
    if (g.width < 5)
        g.width = 5; /* "empty" */
    heading(&g, out);
    lz_buf_putc(out, '\n');
    for (int r = 0; r < g.row.n; r++) {
        rule(&g, r > 0, flags, out);
        line(&g, r, devices_text, flags, out);
        if (p->type && g.col.dim >= 0)
            line(&g, r, extent_text, flags, out);
    }
    rule(&g, 2, flags, out);
    return out->failed ? LZ_FAIL(LZ_EMEM, "no memory for a picture of a sharding") : LZ_OK;
}

/* ---- a drawing ---- */

enum { CHAR = 8, CELL_HEIGHT = 48, HEAD = 28, MARGIN = 8 };

static void svg_cell(const grid *g, int r, int c, int x, int y, int width, lz_buf *b)
{
    const cell *z = &g->cells[r][c];
    lz_buf t = {0}, e = {0};
    lz_buf_printf(b, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" ", x, y, width,
                  CELL_HEIGHT);
    if (z->n)
        lz_buf_printf(b, "fill=\"hsl(%d,60%%,82%%)\" stroke=\"#444\"/>\n",
                      (int)(z->id[0] * 47 % 360));
    else
        lz_buf_puts(b, "fill=\"none\" stroke=\"#bbb\"/>\n");
    devices_text(g, r, c, &t);
    extent_text(g, r, c, &e);
    lz_svg_text(b, x + width / 2, y + CELL_HEIGHT / 2 + (e.len ? -2 : 4), "middle", lz_buf_str(&t));
    if (e.len)
        lz_svg_text(b, x + width / 2, y + CELL_HEIGHT / 2 + 14, "middle", lz_buf_str(&e));
    b->failed |= t.failed || e.failed;
    lz_buf_free(&t);
    lz_buf_free(&e);
}

/* From y on; gives where it ends. *wide: what it needs. */
static int svg_picture(const lz_picture *p, int y, int *wide, lz_buf *b)
{
    grid g;
    lz_buf t = {0};
    prepare(&g, p);
    int width = (g.width + 2) * CHAR;
    heading(&g, &t);
    lz_svg_text(b, MARGIN, y + HEAD - 10, "start", lz_buf_str(&t));
    int need = 2 * MARGIN + CHAR * (int)t.len, all = 2 * MARGIN + g.col.n * width;
    *wide = need > *wide ? need : *wide;
    *wide = all > *wide ? all : *wide;
    for (int r = 0; r < g.row.n; r++)
        for (int c = 0; c < g.col.n; c++)
            svg_cell(&g, r, c, MARGIN + c * width, y + HEAD + r * CELL_HEIGHT, width, b);
    b->failed |= t.failed;
    lz_buf_free(&t);
    return y + HEAD + g.row.n * CELL_HEIGHT + MARGIN;
}

lz_status lz_picture_svg(const lz_picture *p, uint32_t n, lz_buf *out)
{
    lz_buf body = {0};
    int y = 0, wide = 2 * MARGIN;
    for (uint32_t i = 0; i < n; i++)
        y = svg_picture(&p[i], y, &wide, &body);
    lz_svg_document(out, wide, y, "monospace", 13, "", &body);
    lz_buf_free(&body);
    return out->failed ? LZ_FAIL(LZ_EMEM, "no memory for a picture of a sharding") : LZ_OK;
}
