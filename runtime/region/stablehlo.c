/* stablehlo.c - programs from StableHLO text: include/lazuli/stablehlo.h. A program is a function
 * of the tensor IR; a call records its instructions on the operands (lz_region_perform). */
#include "base/status.h"
#include "ir/text/check.h"
#include "runtime/region/region_trace.h"
#include <lazuli/stablehlo.h>
#include <string.h>

struct lz_stablehlo {
    lz_func *f;        /* parameters: the inputs, then the large constants */
    uint32_t nin;      /* inputs of the program */
    lz_tensor **large; /* retained; f->nparam - nin */
    uint32_t nlarge;
};

void lz_stablehlo_free(lz_stablehlo *p)
{
    LZ_PUBLIC();
    if (!p)
        return;
    for (uint32_t i = 0; i < p->nlarge; i++)
        lz_release(p->large[i]);
    lz_free(p->large);
    lz_func_free(p->f);
    lz_free(p);
}

/* ---- reading ---- */

static void release_literal(void *l)
{
    lz_literal_release(l);
}

static lz_status upload(lz_stablehlo *p, lz_literal *const *values, const lz_site *site)
{
    uint32_t n = p->f->nparam - p->nin;
    p->large = lz_calloc((size_t)n + 1, sizeof(lz_tensor *));
    if (!p->large)
        return LZ_FAIL(LZ_EMEM, "no memory for %u constants", n);
    LZ_TRY(lz_scope_begin());
    lz_status s = LZ_OK;
    for (; p->nlarge < n && s == LZ_OK; p->nlarge += s == LZ_OK) {
        lz_literal *v = values[p->nlarge];
        lz_literal_retain(v);
        lz_tensor *t = lz_from_borrowed_at(v->type->dtype, v->type->shape, v->data, v->type->nbytes,
                                           release_literal, v, site);
        s = lz_status_of(t);
        if (s == LZ_OK)
            p->large[p->nlarge] = lz_retain(t);
    }
    lz_scope_end();
    return s;
}

static lz_status parse(lz_stablehlo *p, const char *text, size_t n, const char *name,
                       const char *entry, const lz_site *site)
{
    lz_func *whole = NULL;
    LZ_TRY(lz_func_parse_entry(text, n, name ? name : "<text>", entry, &whole));
    lz_literal **values = lz_calloc((size_t)whole->ninst + 1, sizeof(lz_literal *));
    lz_status s = values ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for %u values", whole->ninst);
    lz_map_free(&whole->table); /* nothing more is built in it */
    if (s == LZ_OK)
        s = lz_func_free_constants(whole, LZ_NODE_IMM + 1, &p->f, values);
    p->nin = whole->nparam;
    if (s == LZ_OK)
        s = upload(p, values, site);
    lz_free(values);
    lz_func_free(whole);
    return s;
}

lz_stablehlo *lz_stablehlo_parse_at(const char *text, size_t n, const char *name,
                                    const lz_stablehlo_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(NULL);
    lz_api_frame frame = lz_api_enter("lz_stablehlo_parse", site);
    const char *entry = o && o->struct_size >= sizeof *o ? o->entry : NULL;
    lz_stablehlo *p = lz_calloc(1, sizeof *p);
    lz_status s = LZ_OK;
    if (!text)
        s = LZ_FAIL(LZ_ENULL, "the text is NULL");
    if (s == LZ_OK && !p)
        s = LZ_FAIL(LZ_EMEM, "no memory for a program");
    if (s == LZ_OK)
        s = parse(p, text, n, name, entry, site);
    if (s != LZ_OK) {
        (void)lz_api_status(s);
        lz_stablehlo_free(p);
        p = NULL;
    }
    (void)lz_api_leave(&frame, s);
    return p;
}

/* ---- asking ---- */

int lz_stablehlo_num_inputs(const lz_stablehlo *p)
{
    LZ_PUBLIC(-1);
    return p ? (int)p->nin : -1;
}

int lz_stablehlo_num_outputs(const lz_stablehlo *p)
{
    LZ_PUBLIC(-1);
    return p ? (int)p->f->nresult : -1;
}

static lz_status type_of(const lz_stablehlo *p, bool output, int i, lz_dtype *dtype,
                         lz_shape *shape)
{
    const char *op = output ? "lz_stablehlo_output" : "lz_stablehlo_input";
    int n = !p ? 0 : output ? (int)p->f->nresult : (int)p->nin;
    lz_status s = LZ_OK;
    if (!p)
        s = LZ_FAIL(LZ_ENULL, "the program is NULL");
    else if (i < 0 || i >= n)
        s = LZ_FAIL(LZ_ERANGE, "number %d of %d", i, n);
    if (s != LZ_OK) {
        lz_error_annotate(op, NULL);
        return s;
    }
    const lz_type *t = lz_val_type(p->f, output ? p->f->results[i] : (lz_val)i);
    if (dtype)
        *dtype = t->dtype;
    if (shape)
        *shape = t->shape;
    return LZ_OK;
}

lz_status lz_stablehlo_input(const lz_stablehlo *p, int i, lz_dtype *dtype, lz_shape *shape)
{
    LZ_PUBLIC(LZ_EFORK);
    return type_of(p, false, i, dtype, shape);
}

lz_status lz_stablehlo_output(const lz_stablehlo *p, int i, lz_dtype *dtype, lz_shape *shape)
{
    LZ_PUBLIC(LZ_EFORK);
    return type_of(p, true, i, dtype, shape);
}

/* ---- calling ---- */

/* The node of operand i, owned by the caller in *out. */
static lz_status take(const lz_stablehlo *p, uint32_t i, lz_tensor *t, lz_dev **dev, lz_node **out)
{
    char a[128], b[128];
    if (!t)
        return LZ_FAIL(LZ_ENULL, "in[%u] is NULL", i);
    if (!(*out = lz_trace_node_of(t)))
        return lz_error_get()->status;
    const lz_type *have = lz_node_type(*out), *want = lz_val_type(p->f, i);
    if (have != want)
        return LZ_FAIL(have->dtype != want->dtype ? LZ_EDTYPE : LZ_ESHAPE,
                       "in[%u] is %s, but the program takes %s", i,
                       lz_type_short(have, a, sizeof a), lz_type_short(want, b, sizeof b));
    if (lz_node_is_host(*out)) /* host scalars have no device of their own */
        return LZ_OK;
    if (*dev && *dev != (*out)->dev)
        return LZ_FAIL(LZ_EINVAL, "%s[%u] is on %s, another one on %s",
                       i < p->nin ? "in" : "constant", i < p->nin ? i : i - p->nin,
                       (*out)->dev->name, (*dev)->name);
    *dev = (*out)->dev;
    return LZ_OK;
}

static lz_status call(const lz_stablehlo *p, lz_tensor *const *in, lz_node **args,
                      lz_node **results, const lz_site *site)
{
    lz_dev *dev = NULL;
    for (uint32_t i = 0; i < p->f->nparam; i++)
        LZ_TRY(take(p, i, i < p->nin ? in[i] : p->large[i - p->nin], &dev, &args[i]));
    return lz_region_perform(p->f, args, results, site);
}

lz_status lz_stablehlo_call_at(const lz_stablehlo *p, lz_tensor *const *in, int nin,
                               lz_tensor **out, int nout, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_api_frame frame = lz_api_enter("lz_stablehlo_call", site);
    lz_node **room = NULL;
    uint32_t nparam = p ? p->f->nparam : 0, nresult = p ? p->f->nresult : 0;
    lz_status s = LZ_OK;
    if (!p || (nout > 0 && !out) || (nin > 0 && !in))
        s = LZ_FAIL(LZ_ENULL, "%s is NULL", !p ? "the program" : in || nin <= 0 ? "out" : "in");
    if (s == LZ_OK && (nin != (int)p->nin || nout != (int)nresult))
        s = LZ_FAIL(LZ_EINVAL, "%d inputs and %d outputs, but the program has %u and %u", nin, nout,
                    p->nin, nresult);
    if (s == LZ_OK && !(room = lz_calloc((size_t)nparam + nresult + 1, sizeof(lz_node *))))
        s = LZ_FAIL(LZ_EMEM, "no memory for a call of %u inputs", nparam);
    if (s == LZ_OK)
        s = call(p, in, room, room + nparam, site);
    lz_node *const *results = room ? room + nparam : NULL;
    lz_status told = lz_api_results(&frame, s, out, nout, results, site);
    for (uint32_t i = 0; room && i < nparam + nresult; i++)
        lz_node_release(room[i]);
    lz_free(room);
    (void)lz_api_leave(&frame, told);
    return s;
}
