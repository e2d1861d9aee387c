/* print_collective.c - the text of operations among participants: the generic form, attributes in
 * the order of their names, as StableHLO's printer has it. Threads: reads only. */
#include "ir/attr.h"
#include "ir/collective.h"
#include "ir/text/print.h"
#include <inttypes.h>
#include <string.h>

static void print_channel(lz_printer *p, const char **comma, const lz_attr_field *f)
{
    if (f[0].i64[0] == 0 && f[1].i64[0] == 0)
        return;
    lz_buf_printf(p->out,
                  "%schannel_handle = #stablehlo.channel_handle<handle = %" PRId64
                  ", type = %" PRId64 ">",
                  *comma, *f[0].i64, *f[1].i64);
    *comma = ", ";
}

static void print_field(lz_printer *p, const char **comma, const lz_attr_field *f)
{
    lz_groups g;
    bool derived = strcmp(f->name, "participants") == 0 || strcmp(f->name, "channel_type") == 0;
    if (strcmp(f->name, "channel_id") == 0) {
        print_channel(p, comma, f); /* the type is the field after it */
        return;
    }
    if (derived || f->type == LZ_FIELD_REGION || (f->type == LZ_FIELD_BOOL && !*f->flag))
        return;
    lz_buf_printf(p->out, "%s%s", *comma, f->name);
    *comma = ", ";
    if (f->type == LZ_FIELD_I64)
        lz_buf_printf(p->out, " = %" PRId64 " : i64", *f->i64);
    if (f->type == LZ_FIELD_STR && lz_groups_read("", f->name, *f->str, &g, NULL, NULL) == LZ_OK)
        lz_buf_printf(p->out, " = dense<%s> : tensor<%" PRId64 "x%" PRId64 "xi64>", *f->str, g.rows,
                      g.columns);
}

void lz_print_collective(lz_printer *p, const lz_inst *in)
{
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    int n = lz_attr_fields(in->sig->attr, f);
    const char *comma = "";
    const lz_func *region = lz_attr_region(in->sig->attr, 0);
    lz_print_generic_head(p, in);
    for (int i = 0; i < n; i++)
        print_field(p, &comma, &f[i]);
    lz_buf_puts(p->out, region ? "}> " : "}>");
    if (region)
        lz_print_regions(p, &region, 1);
    lz_print_functional_type(p, in);
}
