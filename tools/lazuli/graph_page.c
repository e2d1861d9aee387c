/* graph_page.c - the page of a program: the data, and the style and script that show it, in one
 * file. The texts of tools/lazuli/page/ become these strings at build (Makefile). */
#include "tools/lazuli/graph.h"

static const char style[] =
#include "page/graph.css.inc"
    ;
static const char script[] =
#include "page/graph_model.js.inc"
#include "page/graph_tree.js.inc"
#include "page/graph_views.js.inc"
    ;

void graph_put_page(const graph *g, lz_buf *out)
{
    lz_buf json = {0};
    graph_put_json(g, &json);
    lz_buf_puts(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                     "<title>lazuli graph</title>\n<style>\n");
    lz_buf_puts(out, style);
    lz_buf_puts(out, "</style></head><body>\n<script type=\"application/json\" id=\"data\">");
    for (size_t i = 0; i < json.len; i++) /* </script> in a name would end it */
        if (json.data[i] == '<')
            lz_buf_puts(out, "\\u003C");
        else
            lz_buf_putc(out, json.data[i]);
    lz_buf_puts(out, "</script>\n<script>\n");
    lz_buf_puts(out, script);
    lz_buf_puts(out, "</script></body></html>\n");
    out->failed |= json.failed;
    lz_buf_free(&json);
}
