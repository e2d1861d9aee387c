/* serialize.c - the encoding of a function as bytes, and back. Little-endian; it describes itself
 * by names, so neither the order of ops.def nor that of attrs.def is part of it.
 *
 *   function:    u32 magic "LZF1"
 *                u32 n, n x lstr: names of the operations used
 *                u32 n, n x (u32 length, function): regions used
 *                u32 nparam, ninst, nresult
 *                ninst x instruction, nresult x u32 value
 *   instruction: u32 operation (index above), fields of the attribute record,
 *                u32 number of operands if the operation takes any number,
 *                operands as u32, the elements of a constant
 *   field:       I64 u64 | BOOL u8 | INTS, SHAPE u8 n, n x u64 | DTYPE u8 | ENUM u8
 *                REGION u32 (index above)
 *
 * Operations and regions are numbered by their first use. The reader takes untrusted bytes.
 * Threads: reads only / thread-compatible. */
#include "ir/attr.h"
#include "ir/func.h"
#include <string.h>

enum { MAGIC = 0x31465a4c };

/* ---- writing ---- */

typedef struct writer {
    lz_buf *out;
    uint32_t nop, op_number[LZ_OP_COUNT]; /* number + 1 */
    lz_op ops[LZ_OP_COUNT];
    LZ_VEC(const lz_func *) regions;
    lz_map region_number; /* hash -> number + 1 */
} writer;

static void note_uses(writer *w, const lz_func *f)
{
    for (uint32_t i = 0; i < f->ninst; i++) {
        const lz_sig *s = f->insts[i].sig;
        if (!w->op_number[s->op]) {
            w->ops[w->nop++] = s->op;
            w->op_number[s->op] = w->nop;
        }
        const lz_func *r;
        for (int k = 0; s->attr->kind != LZ_ATTR_none && (r = lz_attr_region(s->attr, k)); k++) {
            if (lz_map_get(&w->region_number, r->hash))
                continue;
            if (lz_vec_push(&w->regions, r) != LZ_OK ||
                lz_map_put(&w->region_number, r->hash, (void *)(uintptr_t)w->regions.len) != LZ_OK)
                w->out->failed = true;
        }
    }
}

static void write_field(writer *w, const lz_attr_field *f)
{
    if (f->type != LZ_FIELD_REGION)
        lz_attr_field_put(w->out, f);
    else
        lz_buf_u32(w->out,
                   (uint32_t)(uintptr_t)lz_map_get(&w->region_number, (*f->region)->hash) - 1);
}

static void write_inst(writer *w, const lz_inst *in)
{
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    lz_buf_u32(w->out, w->op_number[in->sig->op] - 1);
    int n = lz_attr_fields(in->sig->attr, f);
    for (int i = 0; i < n; i++)
        write_field(w, &f[i]);
    if (lz_op_get(in->sig->op)->arity == LZ_ARITY_VAR)
        lz_buf_u32(w->out, in->sig->nopnd);
    for (uint32_t k = 0; k < in->sig->nopnd; k++)
        lz_buf_u32(w->out, in->opnd[k]);
    if (in->lit)
        lz_buf_put(w->out, in->lit->data, in->lit->nbytes);
}

void lz_func_serialize(const lz_func *f, lz_buf *out)
{
    if (f->interned) {
        lz_buf_put(out, f->bytes, f->nbytes);
        return;
    }
    writer w = {.out = out};
    note_uses(&w, f);
    lz_buf_u32(out, MAGIC);
    lz_buf_u32(out, w.nop);
    for (uint32_t i = 0; i < w.nop; i++)
        lz_buf_lstr(out, lz_op_get(w.ops[i])->text);
    lz_buf_u32(out, w.regions.len);
    for (uint32_t i = 0; i < w.regions.len; i++) {
        const lz_func *r = w.regions.data[i];
        lz_buf_u32(out, (uint32_t)r->nbytes);
        lz_buf_put(out, r->bytes, r->nbytes);
        out->failed |= r->nbytes > UINT32_MAX;
    }
    lz_buf_u32(out, f->nparam);
    lz_buf_u32(out, f->ninst);
    lz_buf_u32(out, f->nresult);
    for (uint32_t i = 0; i < f->ninst && !out->failed; i++)
        write_inst(&w, &f->insts[i]);
    for (uint32_t i = 0; i < f->nresult; i++)
        lz_buf_u32(out, f->results[i]);
    lz_vec_free(&w.regions);
    lz_map_free(&w.region_number);
}

lz_hash lz_func_hash(const lz_func *f)
{
    if (f->interned)
        return f->hash;
    lz_buf b = {0};
    lz_func_serialize(f, &b);
    if (b.failed)
        (void)LZ_FAIL(LZ_EMEM, "%s: no memory for its hash", f->name);
    lz_hash h = b.failed ? (lz_hash){0, 0} : lz_hash_bytes(b.data, b.len);
    lz_buf_free(&b);
    return h;
}

static bool same_values(const lz_val *a, const lz_val *b, uint32_t n)
{
    return n == 0 || memcmp(a, b, n * sizeof *a) == 0;
}

/* Signatures are interned, and so are the attributes and regions they have. */
static bool same_inst(const lz_inst *a, const lz_inst *b)
{
    if (a->sig != b->sig || !a->lit != !b->lit || !same_values(a->opnd, b->opnd, a->sig->nopnd))
        return false;
    return !a->lit || lz_literal_eq(a->lit, b->lit);
}

bool lz_func_same(const lz_func *a, const lz_func *b)
{
    if (a->nparam != b->nparam || a->ninst != b->ninst || a->nresult != b->nresult ||
        !same_values(a->results, b->results, a->nresult))
        return false;
    for (uint32_t i = 0; i < a->ninst; i++)
        if (!same_inst(&a->insts[i], &b->insts[i]))
            return false;
    return true;
}

/* ---- reading ---- */

typedef struct reader {
    lz_rd r;
    int depth;
    uint32_t nop, nregion;
    lz_op *ops;
    const lz_func **regions;
    lz_func *f;
    LZ_VEC(lz_val) opnd; /* of one instruction */
} reader;

#define CORRUPT(...) LZ_FAIL(LZ_ECORRUPT, __VA_ARGS__)

/* A failure of the rules that the bytes lead to is damage of the bytes, but not one of memory. */
static lz_status as_corrupt(void)
{
    lz_error e = *lz_error_get();
    if (e.status == LZ_EMEM || e.status == LZ_ECORRUPT)
        return e.status;
    return CORRUPT("a stored function is damaged: %.300s", e.message);
}

static lz_status read_at(const void *p, size_t n, int depth, lz_func **out);

static lz_status read_ops(reader *rd)
{
    rd->nop = lz_rd_count(&rd->r, 4);
    if (rd->nop > LZ_OP_COUNT)
        return CORRUPT("a stored function uses %u operations", rd->nop);
    rd->ops = lz_calloc((size_t)rd->nop + 1, sizeof *rd->ops);
    if (!rd->ops)
        return LZ_FAIL(LZ_EMEM, "no memory to read a function");
    for (uint32_t i = 0; i < rd->nop; i++) {
        uint32_t n = lz_rd_count(&rd->r, 1);
        const char *text = lz_rd_bytes(&rd->r, n);
        rd->ops[i] = text ? lz_op_from_text(text, n) : LZ_OP_NONE;
        if (rd->ops[i] == LZ_OP_NONE)
            return CORRUPT("a stored function uses an unknown operation (number %u)", i);
    }
    return LZ_OK;
}

static lz_status read_regions(reader *rd)
{
    rd->nregion = lz_rd_count(&rd->r, 4);
    rd->regions = lz_calloc((size_t)rd->nregion + 1, sizeof *rd->regions);
    if (!rd->regions)
        return LZ_FAIL(LZ_EMEM, "no memory to read a function");
    for (uint32_t i = 0; i < rd->nregion; i++) {
        uint32_t n = lz_rd_count(&rd->r, 1);
        const void *p = lz_rd_bytes(&rd->r, n);
        lz_func *f;
        if (!p)
            return CORRUPT("a stored function ends inside region %u", i);
        LZ_TRY(read_at(p, n, rd->depth + 1, &f));
        rd->regions[i] = lz_region_intern(f);
        lz_func_free(f);
        if (!rd->regions[i])
            return as_corrupt();
    }
    return LZ_OK;
}

static lz_status read_field(reader *rd, const lz_attr_field *f)
{
    if (f->type != LZ_FIELD_REGION) {
        lz_attr_field_take(&rd->r, f);
        if (!rd->r.failed)
            return LZ_OK;
        return rd->r.nomem ? LZ_EMEM
                           : CORRUPT("a stored function has a wrong %s, or ends there", f->name);
    }
    uint32_t region = lz_rd_u32(&rd->r);
    if (region >= rd->nregion)
        return CORRUPT("a stored function uses region %u of %u", region, rd->nregion);
    *f->region = rd->regions[region];
    return LZ_OK;
}

static lz_status read_operands(reader *rd, lz_op op)
{
    int arity = lz_op_get(op)->arity;
    uint32_t n = arity == LZ_ARITY_VAR ? lz_rd_count(&rd->r, 4) : (uint32_t)arity;
    LZ_TRY(lz_vec_reserve(&rd->opnd, (uint64_t)n + 1));
    rd->opnd.len = n;
    for (uint32_t k = 0; k < n; k++) {
        rd->opnd.data[k] = lz_rd_u32(&rd->r);
        if (rd->opnd.data[k] >= rd->f->ninst)
            return CORRUPT("a stored function reads value %u of %u", rd->opnd.data[k],
                           rd->f->ninst);
    }
    return LZ_OK;
}

/* A boolean is 0 or 1 in memory, a narrow integer extended to its byte: generated code relies on
 * it. */
static bool elements_fit(const lz_type *t, const uint8_t *p)
{
    bool check = t->dtype == LZ_BOOL || lz_dtype_is_narrow(t->dtype);
    for (int64_t i = 0; check && i < t->nelem; i++)
        if (p[i] != (uint8_t)lz_dtype_wrap(t->dtype, p[i]))
            return false;
    return true;
}

static lz_status read_constant(reader *rd, const lz_attr_type *a)
{
    const lz_type *t = lz_type_get(a->dtype, &a->shape);
    if (!t)
        return as_corrupt();
    const void *p = lz_rd_bytes(&rd->r, t->nbytes);
    if (!p || !elements_fit(t, p))
        return CORRUPT("a stored function has a damaged constant");
    lz_literal *lit = lz_literal_copy_from(t, p);
    lz_val v = lit ? lz_build_const(rd->f, lit) : LZ_NOVAL;
    lz_literal_release(lit);
    return v == LZ_NOVAL ? as_corrupt() : LZ_OK;
}

static lz_status read_inst(reader *rd)
{
    lz_attr_any a;
    lz_attr_field fields[LZ_ATTR_MAX_FIELDS];
    uint32_t number = lz_rd_u32(&rd->r);
    if (rd->r.failed || number >= rd->nop)
        return CORRUPT("a stored function ends early or uses operation %u of %u", number, rd->nop);
    lz_op op = rd->ops[number];
    lz_attr_init(&a, lz_op_get(op)->attr);
    int n = lz_attr_fields(&a.head, fields);
    for (int i = 0; i < n; i++)
        LZ_TRY(read_field(rd, &fields[i]));
    LZ_TRY(read_operands(rd, op));
    if (rd->r.failed)
        return CORRUPT("a stored function ends early");
    if (op == LZ_OP_CONSTANT)
        return read_constant(rd, &a.as_type);
    lz_val v;
    if (op == LZ_OP_PARAMETER) {
        const lz_type *t = lz_type_get(a.as_type.dtype, &a.as_type.shape);
        v = t ? lz_build_param(rd->f, t) : LZ_NOVAL;
    } else {
        v = lz_build(rd->f, op, &a.head, rd->opnd.data, rd->opnd.len);
    }
    return v == LZ_NOVAL ? as_corrupt() : LZ_OK;
}

static lz_status read_body(reader *rd)
{
    uint32_t nparam = lz_rd_u32(&rd->r), ninst = lz_rd_count(&rd->r, 4),
             nresult = lz_rd_u32(&rd->r);
    if (rd->r.failed || nparam > ninst || nresult > (size_t)(rd->r.end - rd->r.p) / 4)
        return CORRUPT("a stored function is cut short");
    for (uint32_t i = 0; i < ninst; i++)
        LZ_TRY(read_inst(rd));
    if (rd->f->nparam != nparam || rd->f->ninst != ninst)
        return CORRUPT("a stored function has %u parameters, not %u", rd->f->nparam, nparam);
    LZ_TRY(lz_vec_reserve(&rd->opnd, (uint64_t)nresult + 1));
    for (uint32_t i = 0; i < nresult; i++)
        rd->opnd.data[i] = lz_rd_u32(&rd->r);
    if (rd->r.failed || rd->r.p != rd->r.end)
        return CORRUPT("a stored function has the wrong length");
    return lz_func_set_results(rd->f, rd->opnd.data, nresult) == LZ_OK ? LZ_OK : as_corrupt();
}

static lz_status read_all(reader *rd)
{
    if (lz_rd_u32(&rd->r) != MAGIC)
        return CORRUPT("not a stored function");
    if (rd->depth > LZ_MAX_REGION_DEPTH)
        return CORRUPT("a stored function nests regions more than %d deep", LZ_MAX_REGION_DEPTH);
    LZ_TRY(read_ops(rd));
    LZ_TRY(read_regions(rd));
    return read_body(rd);
}

static lz_status read_at(const void *p, size_t n, int depth, lz_func **out)
{
    reader rd = {.r = {p, (const uint8_t *)p + n, false}, .depth = depth};
    *out = NULL;
    rd.f = lz_func_new("main");
    if (!rd.f)
        return LZ_EMEM;
    rd.f->cse = false; /* values keep their numbers */
    lz_status s = read_all(&rd);
    lz_free(rd.ops);
    lz_free(rd.regions);
    lz_vec_free(&rd.opnd);
    rd.f->cse = true;
    if (s == LZ_OK)
        *out = rd.f;
    else
        lz_func_free(rd.f);
    return s;
}

lz_status lz_func_deserialize(const void *p, size_t n, lz_func **out)
{
    return read_at(p, n, 0, out);
}
