/* loop_print.c - prints a kernel as text; loop_parse.c parses it back to the same encoding.
 *
 *     kernel "softmax" serial? vec(outer|inner)? {
 *       buf 0: f32 read
 *       buf 1: f32 write inplace 0
 *       outer [8, 32@0]                         @n: run-time argument n; else baked into the code
 *       dot %4 %5                               stage 0 is LZ_DOT_KERNEL with these factors
 *       stage 0 inner [64@1] {
 *         access 3 = 0[...]                     only accesses that no load names
 *         %0: f32 = load 0 = 0[0 + 64@2 i0 + 1 i1 + 8@3 %2] if %3 else %4
 *         %6: f32 = load 1 = 0[0 + 1 i0 + 1 i1] border 1 i0 + 1 i1 in 1@4 to 9@5
 *         %1: f32 = const 0x3f800000
 *         %2: i64 = index 1
 *         %3: i64 = size 64@4
 *         %4: f32 = red 0.0
 *         %5: bool = compare %0, %1 {comparison_direction = GT, compare_type = FLOAT}
 *         reduce maximum f32 %0 init %1
 *         reduce (f32 %0 init %1, i64 %2 init %3) {
 *           %0: f32 = acc 0
 *           %1: f32 = elt 0
 *           out %0, %1
 *         }
 *         store 1[0 + 1 i0] = %5 if %3
 *         row %0, %4                            row buffers: later stages read `row 0.0`, `row 0.1`
 *       }
 *       stage 1 inner [256, 64@7] keep {        LZ_DOT_ROW: sums over loop 2 for every index of 1
 *         ...
 *       }
 *     }
 *
 * Baked strides of 0 are omitted, and so is a baked offset of 0 before other terms.
 * Threads: pure. */
#include "lower/loops/loop.h"
#include "lower/loops/loop_impl.h"
#include <inttypes.h>
#include <string.h>

static void print_size(lz_buf *b, const lz_kernel *k, lz_sz s)
{
    lz_buf_printf(b, "%" PRId64, s.v);
    if (k->finished && s.slot >= 0)
        lz_buf_printf(b, "@%d", s.slot);
}

static void print_sizes(lz_buf *b, const lz_kernel *k, const lz_sz *s, uint32_t n)
{
    lz_buf_putc(b, '[');
    for (uint32_t i = 0; i < n; i++) {
        lz_buf_puts(b, i ? ", " : "");
        print_size(b, k, s[i]);
    }
    lz_buf_putc(b, ']');
}

static bool absent(const lz_kernel *k, lz_sz s)
{
    return s.v == 0 && !(k->finished && s.slot >= 0);
}

static void print_access(lz_buf *b, const lz_kernel *k, uint32_t nloop, const lz_access *a)
{
    lz_buf_printf(b, "%u[", a->buf);
    print_size(b, k, a->offset);
    for (uint32_t d = 0; d < nloop; d++) {
        if (absent(k, a->stride[d]))
            continue;
        lz_buf_puts(b, " + ");
        print_size(b, k, a->stride[d]);
        lz_buf_printf(b, " i%u", d);
    }
    for (uint32_t i = 0; i < a->ndyn; i++) {
        lz_buf_puts(b, " + ");
        print_size(b, k, a->dyn[i].stride);
        lz_buf_printf(b, " %%%d", a->dyn[i].sop);
    }
    lz_buf_putc(b, ']');
}

static void print_borders(lz_buf *b, const lz_kernel *k, const lz_access *a)
{
    for (uint32_t i = 0; i < a->nborder; i++) {
        const lz_border *x = &a->border[i];
        lz_buf_puts(b, " border ");
        print_size(b, k, x->by);
        lz_buf_printf(b, " i%u + ", x->outer);
        print_size(b, k, x->step);
        lz_buf_printf(b, " i%u in ", x->inner);
        print_size(b, k, x->low);
        lz_buf_puts(b, " to ");
        print_size(b, k, x->high);
    }
}

static void print_guard(lz_buf *b, const lz_access *a)
{
    if (a->guard >= 0)
        lz_buf_printf(b, " if %%%d", a->guard);
    if (a->other >= 0)
        lz_buf_printf(b, " else %%%d", a->other);
}

static void print_ew(lz_buf *b, const lz_sop *s)
{
    const int32_t o[3] = {s->a, s->b, s->c};
    lz_buf_puts(b, lz_op_get(s->op)->text);
    for (int i = 0; i < lz_sop_arity(s); i++)
        lz_buf_printf(b, "%s%%%d", i ? ", " : " ", o[i]);
    if (s->attr && s->attr->kind != LZ_ATTR_none && s->attr->kind != LZ_ATTR_dtype) {
        lz_buf_putc(b, ' ');
        lz_ewattr_print(b, s->attr);
    }
}

/* seen: bit per access of the stage that a load has spelt out; NULL inside a combiner. */
static void print_sop(lz_buf *b, const lz_kernel *k, const lz_stage *st, const lz_sop *s,
                      uint32_t i, uint8_t *seen)
{
    lz_buf_printf(b, "    %s%%%u: %s = ", seen ? "" : "  ", i, lz_dtype_name(s->dtype));
    switch (s->kind) {
    case LZ_S_CONST:
        lz_buf_printf(b, "const 0x%" PRIx64, s->bits);
        break;
    case LZ_S_INDEX:
        lz_buf_printf(b, "index %d", s->a);
        break;
    case LZ_S_SIZE:
        lz_buf_puts(b, "size ");
        print_size(b, k, s->size);
        break;
    case LZ_S_LOAD:
        lz_buf_printf(b, "load %d", s->a);
        if (seen && !seen[s->a]) {
            lz_buf_puts(b, " = ");
            print_access(b, k, k->nouter + st->ninner, &st->accs[s->a]);
            print_guard(b, &st->accs[s->a]);
            print_borders(b, k, &st->accs[s->a]);
            seen[s->a] = 1;
        }
        break;
    case LZ_S_RED:
        lz_buf_printf(b, "red %d.%d", s->a, s->b);
        break;
    case LZ_S_ACC:
    case LZ_S_ELT:
        lz_buf_printf(b, "%s %d", s->kind == LZ_S_ACC ? "acc" : "elt", s->a);
        break;
    case LZ_S_SORTED:
        lz_buf_printf(b, "sorted %d.%d", s->a, s->b);
        break;
    case LZ_S_ROW:
        lz_buf_printf(b, "row %d.%d", s->a, s->b);
        break;
    case LZ_S_PREFIX:
        lz_buf_printf(b, "prefix %d.%d", s->a, s->b);
        break;
    case LZ_S_EW:
        print_ew(b, s);
        break;
    }
    lz_buf_putc(b, '\n');
}

static void print_red(lz_buf *b, const lz_kernel *k, const lz_stage *st, const lz_red *r)
{
    bool general = r->comb == LZ_OP_NONE;
    lz_buf_printf(b, "    reduce %s", general ? "(" : lz_op_get(r->comb)->text);
    for (uint32_t j = 0; j < r->nacc; j++)
        lz_buf_printf(b, "%s%s %%%d init %%%d",
                      j         ? ", "
                      : general ? ""
                                : " ",
                      lz_dtype_name(r->acc_dtype[j]), r->value[j], r->init[j]);
    if (!general) {
        lz_buf_putc(b, '\n');
        return;
    }
    lz_buf_puts(b, ") {\n");
    for (uint32_t i = 0; i < r->nbody; i++)
        print_sop(b, k, st, &r->body[i], i, NULL);
    lz_buf_puts(b, "      out ");
    for (uint32_t j = 0; j < r->nacc; j++)
        lz_buf_printf(b, "%s%%%d", j ? ", " : "", r->body_out[j]);
    lz_buf_puts(b, "\n    }\n");
}

static void print_sort(lz_buf *b, const lz_kernel *k, const lz_stage *st, const lz_sort *r)
{
    lz_buf_puts(b, r->partial ? "    sort partial " : "    sort ");
    for (uint32_t j = 0; j < r->nrow; j++)
        lz_buf_printf(b, "%s%%%d", j ? ", " : "", r->value[j]);
    lz_buf_puts(b, " {\n");
    for (uint32_t i = 0; i < r->nbody; i++)
        print_sop(b, k, st, &r->body[i], i, NULL);
    lz_buf_printf(b, "      out %%%d\n    }\n", r->less);
}

static void print_stage(lz_buf *b, const lz_kernel *k, uint32_t si)
{
    const lz_stage *st = &k->stages[si];
    uint32_t nloop = k->nouter + st->ninner;
    lz_buf_printf(b, "  stage %u inner ", si);
    print_sizes(b, k, st->extent, st->ninner);
    lz_buf_puts(b, lz_stage_is_row_dot(st) ? " keep {\n" : " {\n");
    uint8_t *seen = lz_calloc(st->nacc + 1, 1);
    if (!seen) {
        b->failed = true;
        return;
    }
    for (uint32_t i = 0; i < st->nsop; i++)
        if (st->sops[i].kind == LZ_S_LOAD)
            seen[st->sops[i].a] = 1;
    for (uint32_t i = 0; i < st->nacc; i++) {
        if (seen[i])
            continue;
        lz_buf_printf(b, "    access %u = ", i);
        print_access(b, k, nloop, &st->accs[i]);
        print_guard(b, &st->accs[i]);
        print_borders(b, k, &st->accs[i]);
        lz_buf_putc(b, '\n');
    }
    memset(seen, 0, st->nacc);
    for (uint32_t i = 0; i < st->nsop; i++)
        print_sop(b, k, st, &st->sops[i], i, seen);
    for (uint32_t i = 0; i < st->nred; i++)
        print_red(b, k, st, &st->reds[i]);
    if (st->sort)
        print_sort(b, k, st, st->sort);
    for (uint32_t i = 0; i < st->nrow; i++)
        lz_buf_printf(b, "%s%%%d%s", i ? ", " : "    row ", st->row[i],
                      i + 1 == st->nrow ? "\n" : "");
    for (uint32_t i = 0; i < st->nstore; i++) {
        lz_buf_puts(b, "    store ");
        print_access(b, k, nloop, &st->stores[i].at);
        lz_buf_printf(b, " = %%%d", st->stores[i].value);
        print_guard(b, &st->stores[i].at);
        lz_buf_putc(b, '\n');
    }
    lz_buf_puts(b, "  }\n");
    lz_free(seen);
}

static void print_name(lz_buf *b, const char *name)
{
    lz_buf_putc(b, '"');
    for (; *name; name++)
        lz_buf_putc(b, *name == '"' || *name == '\\' || (unsigned char)*name < ' ' ? '_' : *name);
    lz_buf_putc(b, '"');
}

void lz_kernel_print(const lz_kernel *k, lz_buf *out)
{
    lz_buf_puts(out, "kernel ");
    print_name(out, k->name);
    lz_buf_puts(out, k->serial ? " serial" : "");
    if (k->vec != LZ_VEC_NONE)
        lz_buf_puts(out, k->vec == LZ_VEC_OUTER ? " vec(outer)" : " vec(inner)");
    lz_buf_puts(out, " {\n");
    for (uint32_t i = 0; i < k->nbuf; i++) {
        const lz_kbuf *f = &k->buf[i];
        lz_buf_printf(out, "  buf %u: %s%s%s", i, lz_dtype_name(f->dtype), f->read ? " read" : "",
                      f->written ? " write" : "");
        if (f->inplace_ok)
            lz_buf_printf(out, " inplace %d", f->inplace_with);
        lz_buf_putc(out, '\n');
    }
    lz_buf_puts(out, "  outer ");
    print_sizes(out, k, k->outer, k->nouter);
    lz_buf_putc(out, '\n');
    if (lz_kernel_is_dot(k))
        lz_buf_printf(out, "  dot %%%d %%%d\n", lz_kernel_dot(k)->a_sop, lz_kernel_dot(k)->b_sop);
    for (uint32_t s = 0; s < k->nstage; s++)
        print_stage(out, k, s);
    lz_buf_puts(out, "}\n");
}
