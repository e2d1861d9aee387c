/* sharding_text.c - shardings as Shardy writes them: <@mesh, [{"x"}, {"y", ?}p1],
 * replicated={"z"}, unreduced={"w"}>; the canonical text has the mesh itself instead of its name.
 * Reading: sharding_read.c. Threads: thread-safe. */
#include "ir/sharding/sharding.h"
#include <inttypes.h>
#include <stdio.h>

/* ---- writing ---- */

/* The factors at[0..n) of one axis that are next to each other, as one reference: "x" or
 * "x":(pre)size. Gives how many they are. */
static int print_reference(lz_buf *b, const lz_mesh *m, const uint8_t *at, int n)
{
    const lz_mesh_factor *f = &m->factors[at[0]];
    int64_t size = f->size;
    int k = 1;
    while (k < n && at[k] == at[k - 1] + 1 && m->factors[at[k]].axis == f->axis)
        size *= m->factors[at[k++]].size;
    lz_buf_put_quoted(b, m->axes[f->axis].name);
    if (size != m->axes[f->axis].size)
        lz_buf_printf(b, ":(%" PRId64 ")%" PRId64, f->pre, size);
    return k;
}

static bool print_list(lz_buf *b, const lz_mesh *m, const uint8_t *at, int n)
{
    for (int i = 0; i < n;) {
        lz_buf_puts(b, i ? ", " : "");
        i += print_reference(b, m, at + i, n - i);
    }
    return n > 0;
}

static void print_mask(lz_buf *b, const lz_mesh *m, const char *what, uint32_t mask)
{
    lz_axis_list a = lz_axis_list_of(mask);
    lz_buf_printf(b, ", %s{", what);
    print_list(b, m, a.at, a.n);
    lz_buf_putc(b, '}');
}

static const char *reduction_word(lz_op op)
{
    switch (op) {
    case LZ_OP_ADD:
        return "";
    case LZ_OP_MAXIMUM:
        return "max";
    case LZ_OP_MINIMUM:
        return "min";
    case LZ_OP_MULTIPLY:
        return "mul";
    case LZ_OP_AND:
        return "and";
    case LZ_OP_OR:
        return "or";
    default:
        return "?";
    }
}

void lz_sharding_print(lz_buf *b, const lz_sharding *s, const char *name)
{
    lz_buf_puts(b, "<");
    if (name) {
        lz_buf_printf(b, "@%s", name);
    } else {
        lz_buf_puts(b, "mesh");
        lz_mesh_print(b, s->mesh);
    }
    lz_buf_puts(b, ", [");
    for (int d = 0; d < s->rank; d++) {
        lz_buf_puts(b, d ? ", {" : "{");
        bool any = print_list(b, s->mesh, s->dims[d].at, s->dims[d].n);
        if (s->open >> d & 1)
            lz_buf_puts(b, any ? ", ?" : "?");
        lz_buf_putc(b, '}');
        if (s->priority[d])
            lz_buf_printf(b, "p%u", s->priority[d]);
    }
    lz_buf_putc(b, ']');
    if (s->replicated)
        print_mask(b, s->mesh, "replicated=", s->replicated);
    if (s->unreduced) {
        char what[32];
        snprintf(what, sizeof what, "unreduced=%s", reduction_word(s->reduction));
        print_mask(b, s->mesh, what, s->unreduced);
    }
    if (s->manual)
        print_mask(b, s->mesh, "manual=", s->manual);
    lz_buf_putc(b, '>');
}

const char *lz_sharding_text(const lz_sharding *s)
{
    return lz_shardings_text(&s, 1);
}

const char *lz_shardings_text(const lz_sharding *const *s, uint32_t n)
{
    lz_buf b = {0};
    for (uint32_t i = 0; i < n; i++) {
        lz_buf_puts(&b, i ? "; " : "");
        lz_sharding_print(&b, s[i], NULL);
    }
    const char *text = b.failed ? NULL : lz_string_get(lz_buf_str(&b), b.len);
    if (b.failed)
        (void)LZ_FAIL(LZ_EMEM, "no memory for a sharding's text");
    lz_buf_free(&b);
    return text;
}
