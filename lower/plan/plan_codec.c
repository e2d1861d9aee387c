/* plan_codec.c - encodes plans for program entries of the cache: types, aliases, constants,
 * encodings of the kernels, plans of regions, steps. No address, path or time. Little-endian. The
 * decoder trusts nothing: sizes are checked before anything is allocated, and the result is
 * verified.
 * Threads: pure. */
#include "lower/loops/loop_impl.h"
#include "lower/plan/plan.h"
#include "lower/routine.h"
#include <inttypes.h>
#include <string.h>

static const char magic[8] = "LZPLAN7";

static void put_type(lz_buf *b, const lz_type *t)
{
    lz_buf_u8(b, (uint8_t)t->dtype);
    lz_buf_u8(b, (uint8_t)t->shape.rank);
    for (int i = 0; i < t->shape.rank; i++)
        lz_buf_u64(b, (uint64_t)t->shape.dims[i]);
}

static void put_call(lz_buf *b, const lz_ffi_target *c)
{
    lz_buf_lstr(b, c->target);
    lz_buf_lstr(b, c->config);
    lz_buf_u8(b, c->silent);
    lz_buf_u32(b, c->nrets);
    for (uint32_t k = 0; k < c->nrets; k++)
        put_type(b, c->ret[k]);
    lz_buf_u32(b, c->nargs);
    for (uint32_t k = 0; k < c->nargs; k++)
        put_type(b, c->arg[k]);
}

static void put_trip_count(lz_buf *b, const lz_trip_count *r)
{
    lz_buf_u8(b, (uint8_t)r->dtype);
    lz_buf_u8(b, (uint8_t)r->go_on);
    lz_buf_u64(b, (uint64_t)r->step);
    lz_buf_u32(b, r->start_opnd);
    lz_buf_u32(b, r->end_opnd);
    lz_buf_u64(b, (uint64_t)r->start);
    lz_buf_u64(b, (uint64_t)r->end);
}

/* As a function that is nothing but the operation, whose reader trusts nobody. */
static void put_operation(lz_buf *b, const lz_sig *sig)
{
    lz_func *f = lz_func_new("operation");
    lz_val *v = lz_alloc(((size_t)sig->nopnd + 1) * sizeof *v);
    lz_buf bytes = {0};
    for (uint32_t k = 0; f && v && k < sig->nopnd; k++)
        v[k] = lz_build_param(f, sig->opnd[k]);
    lz_val out = f && v ? lz_build_sig(f, sig, v) : LZ_NOVAL;
    if (out != LZ_NOVAL)
        out = lz_build_result(f, out, 0);
    if (out != LZ_NOVAL && lz_func_set_results(f, &out, 1) == LZ_OK)
        lz_func_serialize(f, &bytes);
    b->failed |= bytes.failed || bytes.len == 0;
    lz_buf_u64(b, bytes.len);
    lz_buf_put(b, bytes.data, bytes.len);
    lz_buf_free(&bytes);
    lz_free(v);
    lz_func_free(f);
}

static void put_step(lz_buf *b, const lz_step *s)
{
    lz_buf_u8(b, (uint8_t)s->kind);
    lz_buf_u32(b, s->kernel);
    lz_buf_u32(b, s->sub[0]);
    lz_buf_u32(b, s->sub[1]);
    lz_buf_u32(b, s->nbuf);
    for (uint32_t i = 0; i < s->nbuf; i++) {
        lz_buf_u8(b, (uint8_t)s->bufs[i].kind);
        lz_buf_u32(b, s->bufs[i].index);
        lz_buf_u64(b, s->bufs[i].offset);
        lz_buf_u64(b, s->bufs[i].nbytes);
    }
    lz_buf_u32(b, s->narg);
    for (uint32_t i = 0; i < s->narg; i++)
        lz_buf_u64(b, (uint64_t)s->args[i]);
    lz_buf_u64(b, s->flops);
    lz_buf_u64(b, s->bytes);
    lz_buf_lstr(b, s->name ? s->name : "");
    lz_buf_u32(b, s->nnode);
    for (uint32_t i = 0; i < s->nnode; i++) {
        lz_buf_u32(b, s->nodes[i].node);
        lz_buf_u64(b, s->nodes[i].cost);
    }
    if (s->kind == LZ_STEP_CALL)
        put_call(b, s->call);
    if (lz_step_begins_collective(s))
        put_operation(b, s->collective->sig);
    if (s->kind == LZ_STEP_DONE)
        lz_buf_u32(b, s->start);
    if (s->kind == LZ_STEP_ROUTINE)
        put_operation(b, s->routine);
    if (s->kind == LZ_STEP_WHILE)
        put_trip_count(b, &s->trip_count);
}

void lz_plan_serialize(const lz_plan *p, lz_buf *out)
{
    lz_buf_put(out, magic, sizeof magic);
    lz_buf_u32(out, p->partitions);
    lz_buf_u8(out, p->numbered);
    lz_buf_u32(out, p->nin);
    for (uint32_t i = 0; i < p->nin; i++)
        put_type(out, p->in_type[i]);
    lz_buf_u32(out, p->nout);
    for (uint32_t i = 0; i < p->nout; i++) {
        put_type(out, p->out_type[i]);
        lz_buf_u32(out, (uint32_t)p->out_alias[i]);
    }
    lz_buf_u64(out, p->temp_bytes);
    lz_buf_u64(out, p->const_bytes);
    lz_buf_put(out, p->consts, p->const_bytes);
    lz_buf_u32(out, p->nkernel);
    for (uint32_t i = 0; i < p->nkernel; i++) {
        lz_buf_lstr(out, p->kernels[i]->name);
        lz_buf_u32(out, (uint32_t)p->kernels[i]->nencoding);
        lz_buf_put(out, p->kernels[i]->encoding, p->kernels[i]->nencoding);
    }
    lz_buf_u32(out, p->nsub);
    for (uint32_t i = 0; i < p->nsub; i++) { /* as deep as regions nest */
        lz_buf sub = {0};
        lz_plan_serialize(p->subs[i], &sub);
        out->failed |= sub.failed;
        lz_buf_u64(out, sub.len);
        lz_buf_put(out, sub.data, sub.len);
        lz_buf_free(&sub);
    }
    lz_buf_u32(out, p->nstep);
    for (uint32_t i = 0; i < p->nstep; i++)
        put_step(out, &p->steps[i]);
}

/* ---- reading ---- */

typedef struct span {
    const void *p;
    uint32_t n;
    const char *name;
    uint32_t nname;
} span;

typedef struct dec {
    lz_rd r;
    lz_plan *p;
    span *kernels;
    bool nomem;
    int depth;
} dec;

static lz_status read_at(const void *bytes, size_t n, int depth, lz_plan **out);

static void *room(dec *d, uint64_t n, size_t elem)
{
    size_t nbytes;
    void *p = lz_mul_size(n, elem, &nbytes) ? lz_arena_alloc(&d->p->arena, nbytes) : NULL;
    d->nomem |= !p;
    return p;
}

static bool good(const dec *d)
{
    return !d->r.failed && !d->nomem;
}

static const lz_type *take_type(dec *d)
{
    uint8_t dtype = lz_rd_u8(&d->r), rank = lz_rd_u8(&d->r);
    lz_shape s = lz_shape_make(0, NULL);
    if (rank > LZ_MAX_RANK || dtype == 0 || dtype >= LZ_DTYPE_COUNT) {
        d->r.failed = true;
        return NULL;
    }
    s.rank = rank;
    for (int i = 0; i < rank; i++)
        s.dims[i] = (int64_t)lz_rd_u64(&d->r);
    if (d->r.failed)
        return NULL;
    const lz_type *t = lz_type_get((lz_dtype)dtype, &s);
    if (!t && lz_error_get()->status == LZ_EMEM)
        d->nomem = true;
    else if (!t)
        d->r.failed = true;
    return t;
}

static void take_types(dec *d)
{
    lz_plan *p = d->p;
    p->partitions = lz_rd_u32(&d->r);
    p->numbered = lz_rd_u8(&d->r) != 0;
    d->r.failed |= p->partitions > LZ_MAX_PARTITIONS;
    p->nin = lz_rd_count(&d->r, 2);
    p->in_type = room(d, p->nin, sizeof *p->in_type);
    for (uint32_t i = 0; i < p->nin && good(d); i++)
        p->in_type[i] = take_type(d);
    p->nout = good(d) ? lz_rd_count(&d->r, 6) : 0;
    p->out_type = room(d, p->nout, sizeof *p->out_type);
    p->out_alias = room(d, p->nout, sizeof *p->out_alias);
    for (uint32_t i = 0; i < p->nout && good(d); i++) {
        p->out_type[i] = take_type(d);
        p->out_alias[i] = (int32_t)lz_rd_u32(&d->r);
    }
}

static void take_consts(dec *d)
{
    lz_plan *p = d->p;
    p->temp_bytes = lz_rd_u64(&d->r);
    p->const_bytes = lz_rd_u64(&d->r);
    /* temporaries are allocated when the plan runs: a size nobody can address is damage */
    if (p->temp_bytes > INT64_MAX || p->const_bytes > INT64_MAX) {
        d->r.failed = true;
        return;
    }
    const void *c = lz_rd_bytes(&d->r, p->const_bytes);
    if (d->r.failed)
        return;
    char *mem = room(d, p->const_bytes + 63, 1);
    if (!mem)
        return;
    p->consts = (void *)LZ_ALIGN_UP((uintptr_t)mem, 64);
    if (p->const_bytes)
        memcpy(p->consts, c, p->const_bytes);
}

static void take_kernels(dec *d)
{
    lz_plan *p = d->p;
    p->nkernel = lz_rd_count(&d->r, 8);
    d->kernels = room(d, p->nkernel, sizeof *d->kernels);
    p->kernels = room(d, p->nkernel, sizeof(lz_kernel *));
    for (uint32_t i = 0; i < p->nkernel && good(d); i++) {
        span *s = &d->kernels[i];
        s->nname = lz_rd_u32(&d->r);
        s->name = lz_rd_bytes(&d->r, s->nname);
        s->n = lz_rd_u32(&d->r);
        s->p = lz_rd_bytes(&d->r, s->n);
    }
}

static const char *take_text(dec *d)
{
    uint32_t n = lz_rd_u32(&d->r);
    const char *text = lz_rd_bytes(&d->r, n);
    char *kept = good(d) ? room(d, (uint64_t)n + 1, 1) : NULL;
    if (kept && n)
        memcpy(kept, text, n);
    return kept;
}

static const lz_type *const *take_list(dec *d, uint32_t *n)
{
    *n = lz_rd_count(&d->r, 2);
    const lz_type **t = good(d) ? room(d, *n, sizeof *t) : NULL;
    for (uint32_t k = 0; k < *n && good(d); k++)
        t[k] = take_type(d);
    return t;
}

static const lz_ffi_target *take_call(dec *d)
{
    lz_ffi_target *c = good(d) ? room(d, 1, sizeof *c) : NULL;
    if (!c)
        return NULL;
    c->target = take_text(d);
    c->config = take_text(d);
    c->silent = lz_rd_u8(&d->r) != 0;
    c->ret = take_list(d, &c->nrets);
    c->arg = good(d) ? take_list(d, &c->nargs) : NULL;
    return c;
}

/* Whatever it is; the plan is verified. */
static void take_trip_count(dec *d, lz_trip_count *r)
{
    r->dtype = (lz_dtype)lz_rd_u8(&d->r);
    r->go_on = (lz_comparison_direction)lz_rd_u8(&d->r);
    r->step = (int64_t)lz_rd_u64(&d->r);
    r->start_opnd = lz_rd_u32(&d->r);
    r->end_opnd = lz_rd_u32(&d->r);
    r->start = (int64_t)lz_rd_u64(&d->r);
    r->end = (int64_t)lz_rd_u64(&d->r);
}

/* The one operation on all parameters of a function, a collective or one of routines; the plan's
 * verifier looks at the rest. */
static const lz_sig *operation_of(const lz_func *f, bool meets)
{
    const lz_inst *in = f->ninst > f->nparam ? &f->insts[f->nparam] : NULL;
    if (!in || in->sig->nopnd != f->nparam)
        return NULL;
    if (meets ? lz_op_get(in->sig->op)->cls != LZ_CLASS_COLLECTIVE
              : !lz_routine_may_do(in->sig->op))
        return NULL;
    for (uint32_t k = 0; k < f->nparam; k++)
        if (in->opnd[k] != k)
            return NULL;
    return in->sig;
}

static void take_operation(dec *d, lz_step *s)
{
    uint64_t n = lz_rd_u64(&d->r);
    const void *bytes = n <= SIZE_MAX ? lz_rd_bytes(&d->r, (size_t)n) : NULL;
    lz_func *f = NULL;
    lz_status st = bytes ? lz_func_deserialize(bytes, (size_t)n, &f) : LZ_ECORRUPT;
    bool meets = lz_step_begins_collective(s);
    const lz_sig *sig = st == LZ_OK ? operation_of(f, meets) : NULL;
    if (!meets)
        s->routine = sig;
    else if (sig)
        st = lz_step_collective_new(d->p, sig, &s->collective);
    d->nomem |= st == LZ_EMEM;
    d->r.failed |= st != LZ_OK || !sig;
    lz_func_free(f);
}

static void take_nodes(dec *d, lz_step *s)
{
    s->nnode = lz_rd_count(&d->r, 12);
    s->nodes = good(d) ? room(d, s->nnode, sizeof *s->nodes) : NULL;
    for (uint32_t i = 0; i < s->nnode && good(d); i++)
        s->nodes[i] = (lz_step_node){.node = lz_rd_u32(&d->r), .cost = lz_rd_u64(&d->r)};
}

/* The steps before it have been read. */
static void take_done(dec *d, lz_step *s)
{
    const lz_step *all = d->p->steps;
    s->start = lz_rd_u32(&d->r);
    if (s->start < (uint64_t)(s - all) && all[s->start].kind == LZ_STEP_START)
        s->collective = all[s->start].collective;
    d->r.failed |= !s->collective;
}

static void take_step(dec *d, lz_step *s)
{
    s->kind = (lz_step_kind)lz_rd_u8(&d->r);
    s->kernel = lz_rd_u32(&d->r);
    s->sub[0] = lz_rd_u32(&d->r);
    s->sub[1] = lz_rd_u32(&d->r);
    s->nbuf = lz_rd_count(&d->r, 21);
    if (s->kind == LZ_STEP_KERNEL && s->nbuf > LZ_KBUF_MAX)
        d->r.failed = true;
    s->bufs = good(d) ? room(d, s->nbuf, sizeof *s->bufs) : NULL;
    for (uint32_t i = 0; i < s->nbuf && good(d); i++) {
        s->bufs[i].kind = (lz_bufref_kind)lz_rd_u8(&d->r);
        s->bufs[i].index = lz_rd_u32(&d->r);
        s->bufs[i].offset = lz_rd_u64(&d->r);
        s->bufs[i].nbytes = lz_rd_u64(&d->r);
    }
    s->narg = good(d) ? lz_rd_count(&d->r, 8) : 0;
    s->args = good(d) ? room(d, s->narg, sizeof *s->args) : NULL;
    for (uint32_t i = 0; i < s->narg && good(d); i++)
        s->args[i] = (int64_t)lz_rd_u64(&d->r);
    s->flops = lz_rd_u64(&d->r);
    s->bytes = lz_rd_u64(&d->r);
    s->name = take_text(d);
    take_nodes(d, s);
    if (s->kind == LZ_STEP_CALL)
        s->call = take_call(d);
    if ((lz_step_begins_collective(s) || s->kind == LZ_STEP_ROUTINE) && good(d))
        take_operation(d, s);
    if (s->kind == LZ_STEP_DONE)
        take_done(d, s);
    if (s->kind == LZ_STEP_WHILE)
        take_trip_count(d, &s->trip_count);
}

static lz_status take_subs(dec *d)
{
    lz_plan *p = d->p;
    uint32_t n = lz_rd_count(&d->r, 8);
    p->subs = good(d) ? room(d, n, sizeof(lz_plan *)) : NULL;
    for (uint32_t i = 0; i < n && good(d); i++) {
        uint64_t size = lz_rd_u64(&d->r);
        const void *bytes = size <= SIZE_MAX ? lz_rd_bytes(&d->r, (size_t)size) : NULL;
        if (!bytes || d->depth >= LZ_MAX_REGION_DEPTH) {
            d->r.failed = true;
            break;
        }
        LZ_TRY(read_at(bytes, (size_t)size, d->depth + 1, &p->subs[i]));
        p->nsub = i + 1;
    }
    return LZ_OK;
}

static void take_steps(dec *d)
{
    lz_plan *p = d->p;
    p->nstep = lz_rd_count(&d->r, 45);
    p->steps = good(d) ? room(d, p->nstep, sizeof *p->steps) : NULL;
    for (uint32_t i = 0; i < p->nstep && good(d); i++)
        take_step(d, &p->steps[i]);
}

/* A kernel is made with the sizes of the first step that runs it. */
static lz_status make_kernels(dec *d)
{
    lz_plan *p = d->p;
    for (uint32_t i = 0; i < p->nstep; i++) {
        const lz_step *s = &p->steps[i];
        if (s->kind != LZ_STEP_KERNEL)
            continue;
        if (s->kernel >= p->nkernel)
            return LZ_FAIL(LZ_ECORRUPT, "stored plan: step %u runs kernel %u of %u", i, s->kernel,
                           p->nkernel);
        const span *k = &d->kernels[s->kernel];
        if (p->kernels[s->kernel])
            continue;
        LZ_TRY(lz_kernel_decode(k->p, k->n, s->args, s->narg, &p->kernels[s->kernel]));
        lz_kernel *made = p->kernels[s->kernel];
        size_t n = k->nname < sizeof made->name ? k->nname : sizeof made->name - 1;
        memcpy(made->name, k->name ? k->name : "", k->name ? n : 0);
    }
    for (uint32_t i = 0; i < p->nkernel; i++)
        if (!p->kernels[i])
            return LZ_FAIL(LZ_ECORRUPT, "stored plan: no step runs kernel %u", i);
    return LZ_OK;
}

static lz_status decode(dec *d, size_t n)
{
    const void *m = lz_rd_bytes(&d->r, sizeof magic);
    if (!m || memcmp(m, magic, sizeof magic) != 0)
        return LZ_FAIL(LZ_ECORRUPT, "%zu bytes are not a stored plan", n);
    take_types(d);
    if (good(d))
        take_consts(d);
    if (good(d))
        take_kernels(d);
    if (good(d))
        LZ_TRY(take_subs(d));
    if (good(d))
        take_steps(d);
    if (d->nomem)
        return LZ_FAIL(LZ_EMEM, "no memory for a stored plan of %zu bytes", n);
    if (d->r.failed || d->r.p != d->r.end)
        return LZ_FAIL(LZ_ECORRUPT, "a stored plan of %zu bytes is damaged", n);
    LZ_TRY(make_kernels(d));
    lz_status s = lz_plan_verify(d->p);
    if (s == LZ_EINTERNAL)
        return LZ_FAIL(LZ_ECORRUPT, "stored %s", lz_error_get()->message);
    return s;
}

/* Calls itself for the plans of regions, as deep as they may nest. */
static lz_status read_at(const void *bytes, size_t n, int depth, lz_plan **out)
{
    *out = NULL;
    lz_plan *p = lz_calloc(1, sizeof *p);
    if (!p)
        return LZ_FAIL(LZ_EMEM, "no memory for a stored plan of %zu bytes", n);
    dec d = {.r = {bytes, (const uint8_t *)bytes + n, false}, .p = p, .depth = depth};
    lz_status s = decode(&d, n);
    if (s != LZ_OK)
        lz_plan_free(p);
    else
        *out = p;
    return s;
}

lz_status lz_plan_deserialize(const void *bytes, size_t n, lz_plan **out)
{
    return read_at(bytes, n, 0, out);
}
