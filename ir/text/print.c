/* print.c - a function as StableHLO text: module, names, lines. The forms of the operations are in
 * print_op.c. Names are MLIR's: arguments %argN, float constants %cst, other constants %c, the rest
 * numbers; a taken name gets _N with one counter for all. Threads: reads only. */
#include "ir/text/print.h"
#include "base/text.h"
#include "ir/custom_call.h"
#include "ir/text/number.h"
#include <string.h>

/* ---- names ---- */

enum { NAME_CST, NAME_C, NAME_STATE, NAME_OUTPUT };
static const char *const words[] = {"cst", "c", "output_state", "output"};

/* 0: the word alone; n: word_(n-1). */
static uint32_t take_word(lz_naming *at, int word)
{
    if (at->used[word])
        return ++at->conflict;
    at->used[word] = true;
    return 0;
}

static int constant_word(const lz_inst *in)
{
    lz_dtype d = in->sig->result[0]->dtype;
    return lz_dtype_is_int(d) || d == LZ_BOOL ? NAME_C : NAME_CST;
}

static lz_name name_of(lz_naming *at, const lz_inst *in)
{
    switch (in->sig->op) {
    case LZ_OP_PARAMETER:
        return (lz_name){at->arg++, 0};
    case LZ_OP_CONSTANT:
        return (lz_name){take_word(at, constant_word(in)), 0};
    case LZ_OP_RNG_BIT_GENERATOR: {
        uint32_t state = take_word(at, NAME_STATE);
        return (lz_name){state, take_word(at, NAME_OUTPUT)};
    }
    case LZ_OP_RESULT:
        return (lz_name){0, 0}; /* called by what it reads */
    default:
        return lz_ffi_is_silent(in->sig) ? (lz_name){0, 0} : (lz_name){at->value++, 0};
    }
}

static bool name_all(lz_printer *p)
{
    p->names = lz_alloc(((size_t)p->f->ninst + 1) * sizeof *p->names);
    if (!p->names) {
        p->out->failed = true;
        return false;
    }
    for (uint32_t i = 0; i < p->f->ninst; i++)
        p->names[i] =
            p->folded && p->folded[i] ? (lz_name){0, 0} : name_of(&p->after, &p->f->insts[i]);
    return true;
}

static void print_word(lz_buf *b, int word, uint32_t n)
{
    if (n)
        lz_buf_printf(b, "%%%s_%u", words[word], n - 1);
    else
        lz_buf_printf(b, "%%%s", words[word]);
}

static void print_name(lz_printer *p, lz_val v)
{
    const lz_inst *in = &p->f->insts[v];
    lz_name n = p->names[v];
    switch (in->sig->op) {
    case LZ_OP_PARAMETER:
        lz_buf_printf(p->out, "%%arg%u", n.n);
        break;
    case LZ_OP_CONSTANT:
        print_word(p->out, constant_word(in), n.n);
        break;
    default:
        lz_buf_printf(p->out, "%%%u", n.n);
        break;
    }
}

void lz_print_val(lz_printer *p, lz_val v)
{
    while (p->outer && v < p->f->nparam && v >= p->nown) {
        v = p->captured[v - p->nown];
        p = p->outer;
    }
    while (p->folded && p->folded[v])
        v = p->f->insts[v].opnd[0];
    const lz_inst *in = &p->f->insts[v];
    if (in->sig->op != LZ_OP_RESULT) {
        print_name(p, v);
        return;
    }
    int64_t k = LZ_ATTR(index, in->sig->attr)->index;
    lz_val from = in->opnd[0];
    if (lz_inst_op(&p->f->insts[from]) == LZ_OP_RNG_BIT_GENERATOR) {
        print_word(p->out, k ? NAME_OUTPUT : NAME_STATE, k ? p->names[from].n2 : p->names[from].n);
    } else {
        print_name(p, from);
        if (p->f->insts[from].sig->nresult > 1)
            lz_buf_printf(p->out, "#%d", (int)k);
    }
}

void lz_print_vals(lz_printer *p, const lz_val *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            lz_buf_puts(p->out, ", ");
        lz_print_val(p, v[i]);
    }
}

void lz_print_types(lz_printer *p, const lz_type *const *t, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            lz_buf_puts(p->out, ", ");
        lz_type_print(p->out, t[i]);
    }
}

/* ---- lines ---- */

void lz_print_indent(lz_printer *p)
{
    for (int i = 0; i < p->indent; i++)
        lz_buf_putc(p->out, ' ');
}

static void print_location(lz_printer *p, const lz_inst *in)
{
    if (!(p->flags & LZ_PRINT_LOCATIONS) || (!in->site && !in->scope))
        return;
    lz_buf_puts(p->out, " loc(");
    if (in->scope)
        lz_buf_put_quoted(p->out, in->scope);
    if (in->site) {
        if (in->scope)
            lz_buf_putc(p->out, '(');
        lz_buf_put_quoted(p->out, in->site->file ? in->site->file : "");
        lz_buf_printf(p->out, ":%d:0", in->site->line);
        if (in->scope)
            lz_buf_putc(p->out, ')');
    }
    lz_buf_putc(p->out, ')');
}

static void print_line(lz_printer *p, lz_val v)
{
    const lz_inst *in = &p->f->insts[v];
    if (in->sig->op == LZ_OP_PARAMETER || in->sig->op == LZ_OP_RESULT ||
        (p->folded && p->folded[v]))
        return;
    lz_print_indent(p);
    bool named = !lz_ffi_is_silent(in->sig);
    if (in->sig->op == LZ_OP_RNG_BIT_GENERATOR) {
        print_word(p->out, NAME_STATE, p->names[v].n);
        lz_buf_puts(p->out, ", ");
        print_word(p->out, NAME_OUTPUT, p->names[v].n2);
    } else if (named) {
        print_name(p, v);
        if (in->sig->nresult > 1)
            lz_buf_printf(p->out, ":%u", in->sig->nresult);
    }
    lz_buf_puts(p->out, named ? " = " : "");
    lz_print_op(p, in);
    print_location(p, in);
    lz_buf_putc(p->out, '\n');
}

void lz_print_body(lz_printer *p, const char *ret)
{
    for (uint32_t v = 0; v < p->f->ninst && !p->out->failed; v++)
        print_line(p, v);
    lz_print_indent(p);
    lz_buf_puts(p->out, ret);
    if (p->f->nresult) {
        lz_buf_putc(p->out, ' ');
        lz_print_vals(p, p->f->results, p->f->nresult);
        lz_buf_puts(p->out, " : ");
        for (uint32_t i = 0; i < p->f->nresult; i++) {
            if (i)
                lz_buf_puts(p->out, ", ");
            lz_type_print(p->out, lz_val_type(p->f, p->f->results[i]));
        }
    }
    lz_buf_putc(p->out, '\n');
}

void lz_print_region_begin(lz_printer *p, const lz_func *region, lz_printer *inner)
{
    *inner = (lz_printer){.out = p->out,
                          .f = region,
                          .after = p->after,
                          .flags = p->flags,
                          .indent = p->indent + 2,
                          .meshes = p->meshes,
                          .manual = p->manual};
    (void)name_all(inner);
}

void lz_print_region_end(lz_printer *inner)
{
    lz_free(inner->names);
}

/* ---- the module ---- */

static void print_symbol(lz_buf *b, const char *s)
{
    bool bare = lz_is_alpha(s[0]) || s[0] == '_';
    for (const char *c = s; *c; c++)
        bare = bare && (lz_is_alnum(*c) || strchr("_$.-", *c));
    lz_buf_putc(b, '@');
    if (bare)
        lz_buf_puts(b, s);
    else
        lz_buf_put_quoted(b, s);
}

/* The first result of the parameter's type that no parameter before it has taken, as they do;
 * nresult: there is none. */
static uint32_t result_in_place(const lz_printer *p, uint32_t param)
{
    const lz_func *f = p->f;
    uint32_t before = 0, k = 0;
    for (uint32_t i = 0; i < param; i++)
        before += p->donate[i] && lz_val_type(f, i) == lz_val_type(f, param);
    for (; k < f->nresult; k++)
        if (lz_val_type(f, f->results[k]) == lz_val_type(f, param) && before-- == 0)
            break;
    return k;
}

/* That the program may write over the parameter's buffer: with a result, or with anything. Joins
 * the dictionary of the mark: MLIR takes one. */
static void print_donation(lz_printer *p, uint32_t param, bool marked)
{
    if (!p->donate || !p->donate[param])
        return;
    p->out->len -= marked && !p->out->failed; /* its brace */
    lz_buf_puts(p->out, marked ? ", " : " {");
    uint32_t k = result_in_place(p, param);
    if (k < p->f->nresult)
        lz_buf_printf(p->out, "tf.aliasing_output = %u : i32}", k);
    else
        lz_buf_puts(p->out, "jax.buffer_donor = true}");
}

static void print_signature(lz_printer *p)
{
    lz_buf_puts(p->out, "  func.func public @main(");
    for (uint32_t i = 0; i < p->f->nparam; i++) {
        lz_buf_printf(p->out, "%s%%arg%u: ", i ? ", " : "", i);
        lz_type_print(p->out, lz_val_type(p->f, i));
        size_t before = p->out->len;
        lz_print_param_mark(p, i);
        print_donation(p, i, p->out->len > before);
    }
    lz_buf_putc(p->out, ')');
    bool parens = p->f->nresult > 1 || (p->f->nresult && p->folded && p->folded[p->f->results[0]]);
    if (p->f->nresult)
        lz_buf_puts(p->out, parens ? " -> (" : " -> ");
    for (uint32_t i = 0; i < p->f->nresult; i++) {
        if (i)
            lz_buf_puts(p->out, ", ");
        lz_type_print(p->out, lz_val_type(p->f, p->f->results[i]));
        lz_print_result_mark(p, i);
    }
    lz_buf_puts(p->out, parens ? ") {\n" : " {\n");
}

void lz_func_print(const lz_func *f, lz_buf *out, unsigned flags)
{
    lz_func_print_donating(f, NULL, out, flags);
}

void lz_func_print_donating(const lz_func *f, const bool *donate, lz_buf *out, unsigned flags)
{
    lz_print_meshes meshes = {0};
    uint8_t *folded = lz_print_fold_marks(f, &out->failed);
    lz_printer p = {.out = out,
                    .f = f,
                    .flags = flags,
                    .indent = 4,
                    .meshes = &meshes,
                    .folded = folded,
                    .donate = donate};
    out->failed |= lz_print_find_meshes(f, &meshes) != LZ_OK;
    if (!name_all(&p)) {
        lz_vec_free(&meshes);
        lz_free(folded);
        return;
    }
    lz_buf_puts(out, "module ");
    print_symbol(out, f->name);
    lz_buf_puts(out, " {\n");
    lz_print_mesh_lines(&p);
    print_signature(&p);
    lz_print_body(&p, "return");
    lz_buf_puts(out, "  }\n}\n");
    lz_free(p.names);
    lz_vec_free(&meshes);
    lz_free(folded);
}
