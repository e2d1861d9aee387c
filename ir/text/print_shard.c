/* print_shard.c - the text of marks and manual regions, as the dialect sdy has it: meshes by name,
 * and marks on parameters and results in the function's signature. A group's mark has a result
 * here, which is what uses see. Threads: reads only. */
#include "ir/attr.h"
#include "ir/sharding/sharding.h"
#include "ir/text/print.h"
#include "base/text.h"
#include <inttypes.h>
#include <string.h>

/* ---- meshes ---- */

static lz_status add_mesh(lz_print_meshes *out, const lz_mesh *m)
{
    for (uint32_t i = 0; i < out->len; i++)
        if (out->data[i] == m)
            return LZ_OK;
    return lz_vec_push(out, m);
}

/* The first sharding of an attribute says the mesh. */
static lz_status add_mesh_of(lz_print_meshes *out, const char *text)
{
    const lz_sharding *s = text && *text ? lz_sharding_read(text, strlen(text), NULL, NULL) : NULL;
    return s ? add_mesh(out, s->mesh) : text && *text ? lz_error_get()->status : LZ_OK;
}

/* Recursion: regions, as deep as they nest; each once. */
static lz_status find_in(const lz_func *f, lz_print_meshes *out, lz_map *seen)
{
    for (uint32_t i = f->nparam; i < f->ninst; i++) {
        const lz_sig *sig = f->insts[i].sig;
        if (sig->op == LZ_OP_SHARDING_CONSTRAINT)
            LZ_TRY(add_mesh_of(out, LZ_ATTR(sharding, sig->attr)->sharding));
        if (sig->op == LZ_OP_MANUAL_COMPUTATION) {
            LZ_TRY(add_mesh_of(out, LZ_ATTR(manual, sig->attr)->in_shardings));
            LZ_TRY(add_mesh_of(out, LZ_ATTR(manual, sig->attr)->out_shardings));
        }
        const lz_func *r;
        for (int k = 0; (r = lz_attr_region(sig->attr, k)); k++) {
            if (lz_map_get(seen, r->hash))
                continue;
            LZ_TRY(lz_map_put(seen, r->hash, out));
            LZ_TRY(find_in(r, out, seen));
        }
    }
    return LZ_OK;
}

lz_status lz_print_find_meshes(const lz_func *f, lz_print_meshes *out)
{
    lz_map seen = {0};
    lz_status s = find_in(f, out, &seen);
    lz_map_free(&seen);
    return s;
}

static void mesh_name(const lz_printer *p, const lz_mesh *m, char name[32])
{
    uint32_t i = 0;
    while (i < p->meshes->len && p->meshes->data[i] != m)
        i++;
    if (i)
        lz_snprintf(name, 32, "mesh_%u", i - 1);
    else
        lz_snprintf(name, 32, "mesh");
}

void lz_print_mesh_lines(lz_printer *p)
{
    for (uint32_t i = 0; i < p->meshes->len; i++) {
        char name[32];
        mesh_name(p, p->meshes->data[i], name);
        lz_buf_printf(p->out, "  sdy.mesh @%s = ", name);
        lz_mesh_print(p->out, p->meshes->data[i]);
        lz_buf_putc(p->out, '\n');
    }
}

/* ---- shardings ---- */

/* Axes that are manual all around are not said. */
static void print_sharding(lz_printer *p, const lz_sharding *s)
{
    char name[32];
    lz_sharding shown = *s;
    mesh_name(p, s->mesh, name);
    if ((s->manual & p->manual) == p->manual)
        shown.manual = s->manual == p->manual ? 0 : s->manual;
    lz_sharding_print(p->out, &shown, name);
}

static void print_text(lz_printer *p, const char *text)
{
    const lz_sharding *s = lz_sharding_parse(text);
    if (s)
        print_sharding(p, s);
    else
        p->out->failed = true;
}

/* ---- marks of parameters and results ---- */

enum { OF_PARAM = 1, OF_RESULT = 2 };

static bool is_constraint(const lz_func *f, lz_val v)
{
    return f->insts[v].sig->op == LZ_OP_SHARDING_CONSTRAINT;
}

/* The first instructions, on parameters in their order that nothing else uses. */
static uint32_t fold_params(const lz_func *f, const uint32_t *uses, uint8_t *folded)
{
    uint32_t i = f->nparam, next = 0;
    for (; i < f->ninst && is_constraint(f, i); i++) {
        lz_val o = f->insts[i].opnd[0];
        if (o >= f->nparam || o < next || uses[o] != 1)
            break;
        folded[i] = OF_PARAM;
        next = o + 1;
    }
    return i;
}

/* The last ones, each of one result and nothing else, in the order of the results. */
static void fold_results(const lz_func *f, const uint32_t *uses, uint32_t first, uint8_t *folded)
{
    uint32_t k = f->nresult;
    for (uint32_t i = f->ninst; i-- > first && is_constraint(f, i) && uses[i] == 1;) {
        uint32_t j = k;
        while (j > 0 && f->results[j - 1] != i)
            j--;
        if (j == 0)
            return;
        folded[i] = OF_RESULT;
        k = j - 1;
    }
}

uint8_t *lz_print_fold_marks(const lz_func *f, bool *failed)
{
    uint32_t i = f->nparam;
    while (i < f->ninst && !is_constraint(f, i))
        i++;
    if (i == f->ninst)
        return NULL;
    uint32_t *uses = lz_calloc((size_t)f->ninst + 1, sizeof *uses);
    uint8_t *folded = lz_calloc((size_t)f->ninst + 1, sizeof *folded);
    *failed |= !uses || !folded;
    if (uses && folded) {
        lz_func_use_counts(f, uses);
        fold_results(f, uses, fold_params(f, uses, folded), folded);
    }
    lz_free(uses);
    return folded;
}

static void print_mark(lz_printer *p, lz_val v)
{
    lz_buf_puts(p->out, " {sdy.sharding = #sdy.sharding");
    print_text(p, LZ_ATTR(sharding, p->f->insts[v].sig->attr)->sharding);
    lz_buf_putc(p->out, '}');
}

void lz_print_param_mark(lz_printer *p, uint32_t param)
{
    for (uint32_t i = p->f->nparam; p->folded && i < p->f->ninst && p->folded[i] == OF_PARAM; i++)
        if (p->f->insts[i].opnd[0] == param) {
            print_mark(p, i);
            return;
        }
}

void lz_print_result_mark(lz_printer *p, uint32_t k)
{
    lz_val v = p->f->results[k];
    if (p->folded && p->folded[v] == OF_RESULT)
        print_mark(p, v);
}

/* ---- operations ---- */

static void head(lz_printer *p, const lz_inst *in)
{
    lz_buf_printf(p->out, "%s ", lz_op_get(in->sig->op)->text);
    lz_print_vals(p, in->opnd, 1);
}

static void type_of(lz_printer *p, const lz_inst *in)
{
    lz_buf_puts(p->out, " : ");
    lz_type_print(p->out, in->sig->result[0]);
}

void lz_print_constraint(lz_printer *p, const lz_inst *in)
{
    head(p, in);
    lz_buf_putc(p->out, ' ');
    print_text(p, LZ_ATTR(sharding, in->sig->attr)->sharding);
    type_of(p, in);
}

void lz_print_group(lz_printer *p, const lz_inst *in)
{
    head(p, in);
    lz_buf_printf(p->out, " group_id = %" PRId64, LZ_ATTR(group, in->sig->attr)->group_id);
    type_of(p, in);
}

void lz_print_propagation(lz_printer *p, const lz_inst *in)
{
    static const char *const words[] = {"NONE", "FORWARD", "BACKWARD", "BOTH"};
    head(p, in);
    lz_buf_printf(p->out, " allowed_direction = %s",
                  words[LZ_ATTR(propagation, in->sig->attr)->allowed_direction & 3]);
    type_of(p, in);
}

static const lz_sharding *print_list(lz_printer *p, const char *what, const char *texts, uint32_t n)
{
    const lz_sharding **s = lz_calloc((size_t)n + 1, sizeof *s), *first = NULL;
    lz_buf_printf(p->out, " %s=[", what);
    if (!s || lz_shardings_parse(texts, s, n) != LZ_OK)
        p->out->failed = true;
    for (uint32_t i = 0; i < n && !p->out->failed; i++) {
        lz_buf_puts(p->out, i ? ", " : "");
        print_sharding(p, s[i]);
        first = s[0];
    }
    lz_buf_putc(p->out, ']');
    lz_free(s);
    return first;
}

/* The axes alone: as a sharding that leaves them unreduced would list them. */
static void print_axes(lz_printer *p, const lz_mesh *m, uint32_t axes)
{
    lz_buf b = {0};
    lz_sharding s;
    lz_sharding_init(&s, m, 0, false);
    s.replicated = axes;
    lz_sharding_print(&b, &s, "m");
    const char *at = b.failed ? NULL : strchr(b.data, '{');
    if (at)
        lz_buf_put(p->out, at, b.len - (size_t)(at - b.data) - 1);
    else
        p->out->failed = true;
    lz_buf_free(&b);
}

void lz_print_manual(lz_printer *p, const lz_inst *in)
{
    const lz_attr_manual *a = LZ_ATTR(manual, in->sig->attr);
    lz_printer inner;
    lz_buf_puts(p->out, "sdy.manual_computation(");
    lz_print_vals(p, in->opnd, in->sig->nopnd);
    lz_buf_putc(p->out, ')');
    const lz_sharding *x = print_list(p, "in_shardings", a->in_shardings, in->sig->nopnd),
                      *y = print_list(p, "out_shardings", a->out_shardings, in->sig->nresult);
    lz_buf_puts(p->out, " manual_axes=");
    x = x ? x : y;
    if (x)
        print_axes(p, x->mesh, (uint32_t)a->manual_axes);
    lz_print_region_begin(p, a->body, &inner);
    inner.manual |= (uint32_t)a->manual_axes;
    lz_buf_puts(p->out, " (");
    for (uint32_t i = 0; i < a->body->nparam && inner.names; i++) {
        lz_buf_puts(p->out, i ? ", " : "");
        lz_print_val(&inner, i);
        lz_buf_puts(p->out, ": ");
        lz_type_print(p->out, lz_val_type(a->body, i));
    }
    lz_buf_puts(p->out, ") {\n");
    if (inner.names)
        lz_print_body(&inner, "sdy.return");
    lz_print_indent(p);
    lz_buf_puts(p->out, "}");
    lz_print_region_end(&inner);
    lz_print_functional_type(p, in);
}
