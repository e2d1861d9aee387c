/* loop_codec.c - the encoding of a kernel, canonical bytes whose hash is its fingerprint. They hold
 * structure, dtypes, baked sizes and which sizes are run-time arguments, but not the arguments'
 * values, nor names.
 * Invariant: equal bytes <=> equal code. The decoder accepts exactly what the encoder produces.
 *   Byte order: little-endian. Threads: pure. */
#include "lower/loops/loop.h"
#include "lower/loops/loop_impl.h"
#include <string.h>

enum { CODEC_VERSION = 5 };

/* One byte for the sizes that are common, and what an access does not have. */
enum { SZ_SLOT, SZ_ZERO, SZ_ONE, SZ_MINUS_ONE, SZ_BAKED };

static void put_size(lz_buf *b, lz_sz s)
{
    if (s.slot >= 0) {
        lz_buf_u8(b, SZ_SLOT);
    } else if (s.v >= -1 && s.v <= 1) {
        lz_buf_u8(b, s.v == 0 ? SZ_ZERO : s.v == 1 ? SZ_ONE : SZ_MINUS_ONE);
    } else {
        lz_buf_u8(b, SZ_BAKED);
        lz_buf_u64(b, (uint64_t)s.v);
    }
}

static void put_i32(lz_buf *b, int32_t v)
{
    lz_buf_u32(b, (uint32_t)v);
}

static void put_access(lz_buf *b, const lz_access *a, uint32_t nloop)
{
    lz_buf_u8(b, (uint8_t)a->buf);
    put_size(b, a->offset);
    for (uint32_t d = 0; d < nloop; d++)
        put_size(b, a->stride[d]);
    lz_buf_u8(b, (uint8_t)a->ndyn);
    for (uint32_t i = 0; i < a->ndyn; i++) {
        put_i32(b, a->dyn[i].sop);
        put_size(b, a->dyn[i].stride);
    }
    put_i32(b, a->guard);
    put_i32(b, a->other);
    lz_buf_u8(b, (uint8_t)a->nborder);
    for (uint32_t i = 0; i < a->nborder; i++) {
        const lz_border *x = &a->border[i];
        lz_buf_u8(b, (uint8_t)x->outer);
        lz_buf_u8(b, (uint8_t)x->inner);
        put_size(b, x->by);
        put_size(b, x->step);
        put_size(b, x->low);
        put_size(b, x->high);
    }
}

static void put_ew(lz_buf *b, const lz_sop *s)
{
    const lz_op_info *info = lz_op_get(s->op);
    const int32_t opnd[3] = {s->a, s->b, s->c};
    size_t n = strlen(info->text);
    lz_buf_u8(b, (uint8_t)n);
    lz_buf_put(b, info->text, n);
    for (int i = 0; i < info->arity; i++)
        put_i32(b, opnd[i]);
    if (info->attr != LZ_ATTR_none)
        lz_ewattr_put(b, s->attr);
}

static void put_sop(lz_buf *b, const lz_sop *s)
{
    lz_buf_u8(b, (uint8_t)s->kind);
    lz_buf_u8(b, (uint8_t)s->dtype);
    switch (s->kind) {
    case LZ_S_CONST:
        lz_buf_u64(b, s->bits);
        break;
    case LZ_S_SIZE:
        put_size(b, s->size);
        break;
    case LZ_S_RED:
    case LZ_S_SORTED:
    case LZ_S_ROW:
    case LZ_S_PREFIX:
        put_i32(b, s->a);
        put_i32(b, s->b);
        break;
    case LZ_S_INDEX:
    case LZ_S_LOAD:
    case LZ_S_ACC:
    case LZ_S_ELT:
        put_i32(b, s->a);
        break;
    case LZ_S_EW:
        put_ew(b, s);
        break;
    }
}

static void put_sops(lz_buf *b, const lz_sop *s, uint32_t n)
{
    lz_buf_u32(b, n);
    for (uint32_t i = 0; i < n; i++)
        put_sop(b, &s[i]);
}

static void put_red(lz_buf *b, const lz_red *r)
{
    const char *comb = r->comb == LZ_OP_NONE ? "" : lz_op_get(r->comb)->text;
    lz_buf_u8(b, (uint8_t)strlen(comb));
    lz_buf_put(b, comb, strlen(comb));
    lz_buf_u8(b, (uint8_t)r->nacc);
    for (uint32_t j = 0; j < r->nacc; j++) {
        lz_buf_u8(b, (uint8_t)r->acc_dtype[j]);
        put_i32(b, r->value[j]);
        put_i32(b, r->init[j]);
    }
    if (r->comb != LZ_OP_NONE)
        return;
    put_sops(b, r->body, r->nbody);
    for (uint32_t j = 0; j < r->nacc; j++)
        put_i32(b, r->body_out[j]);
}

static void put_sort(lz_buf *b, const lz_sort *r)
{
    lz_buf_u8(b, r ? (uint8_t)r->nrow : 0);
    if (!r)
        return;
    for (uint32_t j = 0; j < r->nrow; j++)
        put_i32(b, r->value[j]);
    put_sops(b, r->body, r->nbody);
    put_i32(b, r->less);
    lz_buf_u8(b, r->partial);
}

/* The number of rows; one more than there may be: it keeps. */
static void put_rows(lz_buf *b, const lz_stage *st)
{
    lz_buf_u8(b, lz_stage_is_row_dot(st) ? LZ_ROW_MAX + 1 : (uint8_t)st->nrow);
    for (uint32_t j = 0; j < st->nrow && !lz_stage_is_row_dot(st); j++)
        put_i32(b, st->row[j]);
}

static void put_stage(lz_buf *b, const lz_kernel *k, const lz_stage *st)
{
    uint32_t nloop = k->nouter + st->ninner;
    lz_buf_u8(b, (uint8_t)st->ninner);
    for (uint32_t d = 0; d < st->ninner; d++)
        put_size(b, st->extent[d]);
    put_sops(b, st->sops, st->nsop);
    lz_buf_u32(b, st->nacc);
    for (uint32_t i = 0; i < st->nacc; i++)
        put_access(b, &st->accs[i], nloop);
    lz_buf_u32(b, st->nred);
    for (uint32_t i = 0; i < st->nred; i++)
        put_red(b, &st->reds[i]);
    put_sort(b, st->sort);
    put_rows(b, st);
    lz_buf_u32(b, st->nstore);
    for (uint32_t i = 0; i < st->nstore; i++) {
        put_access(b, &st->stores[i].at, nloop);
        put_i32(b, st->stores[i].value);
    }
}

static void put_kernel(lz_buf *b, const lz_kernel *k)
{
    lz_buf_u8(b, CODEC_VERSION);
    lz_buf_u8(b, (uint8_t)k->nbuf);
    for (uint32_t i = 0; i < k->nbuf; i++) {
        const lz_kbuf *f = &k->buf[i];
        lz_buf_u8(b, (uint8_t)f->dtype);
        lz_buf_u8(b, (uint8_t)(f->read | f->written << 1 | f->inplace_ok << 2));
        if (f->inplace_ok)
            lz_buf_u8(b, (uint8_t)f->inplace_with);
    }
    lz_buf_u8(b, k->serial);
    lz_buf_u8(b, (uint8_t)k->vec);
    lz_buf_u8(b, lz_kernel_is_dot(k));
    if (lz_kernel_is_dot(k)) {
        put_i32(b, lz_kernel_dot(k)->a_sop);
        put_i32(b, lz_kernel_dot(k)->b_sop);
    }
    lz_buf_u8(b, (uint8_t)k->nouter);
    for (uint32_t d = 0; d < k->nouter; d++)
        put_size(b, k->outer[d]);
    lz_buf_u8(b, (uint8_t)k->nstage);
    for (uint32_t s = 0; s < k->nstage; s++)
        put_stage(b, k, &k->stages[s]);
}

lz_status lz_kernel_encode(lz_kernel *k)
{
    lz_buf b = {0};
    put_kernel(&b, k);
    k->encoding = b.failed ? NULL : lz_arena_copy(&k->arena, b.data, b.len);
    k->nencoding = b.len;
    lz_buf_free(&b);
    if (!k->encoding)
        return LZ_FAIL(LZ_EMEM, "kernel '%s': no memory for its canonical bytes", k->name);
    k->hash = lz_hash_bytes(k->encoding, k->nencoding);
    k->finished = true;
    return LZ_OK;
}

/* ---- reading: sizes are validated here, meaning by the verifier ---- */

typedef struct dec {
    lz_rd r;
    lz_kernel *k;
    const int64_t *args;
    uint32_t narg;
    bool nomem;
} dec;

static lz_sz take_size(dec *d)
{
    lz_sz s = {0, -1};
    switch (lz_rd_u8(&d->r)) {
    case SZ_SLOT:
        if (d->k->narg >= d->narg) {
            d->r.failed = true;
            break;
        }
        s.slot = (int32_t)d->k->narg++;
        s.v = d->args[s.slot];
        break;
    case SZ_ZERO:
        break;
    case SZ_ONE:
        s.v = 1;
        break;
    case SZ_MINUS_ONE:
        s.v = -1;
        break;
    case SZ_BAKED:
        s.v = (int64_t)lz_rd_u64(&d->r);
        break;
    default:
        d->r.failed = true;
    }
    return s;
}

static int32_t take_i32(dec *d)
{
    return (int32_t)lz_rd_u32(&d->r);
}

/* A small count or number; above `max` the bytes are bad. */
static uint32_t take_small(dec *d, uint32_t max)
{
    uint32_t v = lz_rd_u8(&d->r);
    if (v <= max)
        return v;
    d->r.failed = true;
    return 0;
}

/* A count of items of at least `min_bytes`, and zeroed room for them; *n is 0 when there is
 * none. */
static void *take_array(dec *d, size_t min_bytes, size_t elem, uint32_t *n)
{
    *n = lz_rd_count(&d->r, min_bytes);
    void *p = d->r.failed ? NULL : lz_arena_alloc(&d->k->arena, *n * elem);
    if (!p) {
        d->nomem |= !d->r.failed;
        *n = 0;
    }
    return p;
}

static void take_access(dec *d, lz_access *a, uint32_t nloop)
{
    a->buf = take_small(d, LZ_KBUF_MAX - 1);
    a->offset = take_size(d);
    for (uint32_t i = 0; i < nloop; i++)
        a->stride[i] = take_size(d);
    for (uint32_t i = nloop; i < LZ_LOOP_MAX; i++)
        a->stride[i].slot = -1;
    a->ndyn = take_small(d, LZ_DYN_MAX);
    for (uint32_t i = 0; i < a->ndyn; i++) {
        a->dyn[i].sop = take_i32(d);
        a->dyn[i].stride = take_size(d);
    }
    a->guard = take_i32(d);
    a->other = take_i32(d);
    a->nborder = take_small(d, LZ_BORDER_MAX);
    for (uint32_t i = 0; i < a->nborder; i++) {
        lz_border *x = &a->border[i];
        x->outer = take_small(d, LZ_LOOP_MAX - 1);
        x->inner = take_small(d, LZ_LOOP_MAX - 1);
        x->by = take_size(d);
        x->step = take_size(d);
        x->low = take_size(d);
        x->high = take_size(d);
    }
}

static lz_op take_op(dec *d)
{
    size_t n = lz_rd_u8(&d->r);
    const char *text = lz_rd_bytes(&d->r, n);
    if (!text || n == 0)
        return LZ_OP_NONE;
    lz_op op = lz_op_from_text(text, n);
    if (op == LZ_OP_NONE)
        d->r.failed = true;
    return op;
}

static void take_ew(dec *d, lz_sop *s)
{
    s->op = take_op(d);
    const lz_op_info *info = lz_op_get(s->op);
    if (s->op == LZ_OP_NONE || !lz_op_is_scalar(s->op)) {
        d->r.failed = true;
        return;
    }
    int32_t *opnd[3] = {&s->a, &s->b, &s->c};
    for (int i = 0; i < info->arity; i++)
        *opnd[i] = take_i32(d);
    if (info->attr == LZ_ATTR_none)
        return;
    s->attr = lz_ewattr_take(&d->r, info->attr);
    d->nomem |= !s->attr && !d->r.failed;
}

static void take_sop(dec *d, lz_sop *s)
{
    *s = (lz_sop){.a = -1, .b = -1, .c = -1, .size = {0, -1}};
    s->kind = (lz_sop_kind)take_small(d, LZ_S_PREFIX);
    s->dtype = (lz_dtype)take_small(d, LZ_DTYPE_COUNT - 1);
    switch (s->kind) {
    case LZ_S_CONST:
        s->bits = lz_rd_u64(&d->r);
        break;
    case LZ_S_SIZE:
        s->size = take_size(d);
        break;
    case LZ_S_RED:
    case LZ_S_SORTED:
    case LZ_S_ROW:
    case LZ_S_PREFIX:
        s->a = take_i32(d);
        s->b = take_i32(d);
        break;
    case LZ_S_INDEX:
    case LZ_S_LOAD:
    case LZ_S_ACC:
    case LZ_S_ELT:
        s->a = take_i32(d);
        break;
    case LZ_S_EW:
        take_ew(d, s);
        break;
    }
}

static lz_sop *take_sops(dec *d, uint32_t *n)
{
    lz_sop *s = take_array(d, 3, sizeof *s, n);
    for (uint32_t i = 0; i < *n && !d->r.failed && !d->nomem; i++)
        take_sop(d, &s[i]);
    return s;
}

static void take_red(dec *d, lz_red *r)
{
    r->comb = take_op(d);
    r->nacc = take_small(d, LZ_RED_MAX);
    for (uint32_t j = 0; j < r->nacc; j++) {
        r->acc_dtype[j] = (lz_dtype)take_small(d, LZ_DTYPE_COUNT - 1);
        r->value[j] = take_i32(d);
        r->init[j] = take_i32(d);
    }
    if (r->comb != LZ_OP_NONE)
        return;
    r->body = take_sops(d, &r->nbody);
    for (uint32_t j = 0; j < r->nacc; j++)
        r->body_out[j] = take_i32(d);
}

static void take_sort(dec *d, lz_stage *st)
{
    uint32_t n = take_small(d, LZ_SORT_MAX);
    if (n == 0)
        return;
    lz_sort *r = st->sort = lz_arena_alloc(&d->k->arena, sizeof *r);
    if (!r) {
        d->nomem = true;
        return;
    }
    r->nrow = n;
    for (uint32_t j = 0; j < n; j++)
        r->value[j] = take_i32(d);
    r->body = take_sops(d, &r->nbody);
    r->less = take_i32(d);
    r->partial = take_small(d, 1);
}

static void take_rows(dec *d, lz_stage *st)
{
    uint32_t n = take_small(d, LZ_ROW_MAX + 1);
    if (n > LZ_ROW_MAX)
        st->dot.role = LZ_DOT_ROW;
    st->nrow = n > LZ_ROW_MAX ? 0 : n;
    for (uint32_t j = 0; j < st->nrow; j++)
        st->row[j] = take_i32(d);
}

static void take_stage(dec *d, lz_stage *st)
{
    st->ninner = take_small(d, LZ_LOOP_MAX - d->k->nouter);
    uint32_t nloop = d->k->nouter + st->ninner;
    for (uint32_t i = 0; i < st->ninner; i++)
        st->extent[i] = take_size(d);
    st->sops = take_sops(d, &st->nsop);
    st->accs = take_array(d, 11, sizeof *st->accs, &st->nacc);
    for (uint32_t i = 0; i < st->nacc && !d->r.failed; i++)
        take_access(d, &st->accs[i], nloop);
    st->reds = take_array(d, 2, sizeof *st->reds, &st->nred);
    for (uint32_t i = 0; i < st->nred && !d->r.failed && !d->nomem; i++)
        take_red(d, &st->reds[i]);
    if (!d->r.failed && !d->nomem)
        take_sort(d, st);
    take_rows(d, st);
    st->stores = take_array(d, 15, sizeof *st->stores, &st->nstore);
    for (uint32_t i = 0; i < st->nstore && !d->r.failed; i++) {
        take_access(d, &st->stores[i].at, nloop);
        st->stores[i].value = take_i32(d);
    }
}

static void take_bufs(dec *d)
{
    lz_kernel *k = d->k;
    k->nbuf = take_small(d, LZ_KBUF_MAX);
    for (uint32_t i = 0; i < k->nbuf; i++) {
        lz_kbuf *f = &k->buf[i];
        f->dtype = (lz_dtype)take_small(d, LZ_DTYPE_COUNT - 1);
        uint32_t flags = take_small(d, 7);
        f->read = flags & 1;
        f->written = flags >> 1 & 1;
        f->inplace_ok = flags >> 2 & 1;
        f->inplace_with = f->inplace_ok ? (int32_t)take_small(d, LZ_KBUF_MAX - 1) : -1;
    }
}

/* What the bytes say once for the kernel, or not at all, each stage has; lz_kernel_verify tells
 * what is wrong. */
static void place_dots(dec *d, const lz_dot_info *dot)
{
    lz_kernel *k = d->k;
    for (uint32_t s = 0; s < k->nstage; s++)
        if (lz_stage_is_row_dot(&k->stages[s]))
            (void)lz_stage_set_row_dot(k, s);
    if (dot->role == LZ_DOT_NONE || k->nstage == 0)
        return;
    if (k->stages[0].dot.role != LZ_DOT_NONE)
        d->r.failed = true;
    k->stages[0].dot = *dot;
}

static void take_kernel(dec *d)
{
    lz_kernel *k = d->k;
    if (lz_rd_u8(&d->r) != CODEC_VERSION)
        d->r.failed = true;
    take_bufs(d);
    k->serial = take_small(d, 1);
    k->vec = (lz_vec)take_small(d, LZ_VEC_INNER);
    lz_dot_info dot = {.role = take_small(d, 1) ? LZ_DOT_KERNEL : LZ_DOT_NONE};
    if (dot.role) {
        dot.a_sop = take_i32(d);
        dot.b_sop = take_i32(d);
    }
    k->nouter = take_small(d, LZ_OUTER_MAX);
    for (uint32_t i = 0; i < k->nouter; i++)
        k->outer[i] = take_size(d);
    if (dot.role && k->nouter >= 2) {
        dot.m = k->nouter - 2;
        dot.n = k->nouter - 1;
    }
    k->nstage = take_small(d, LZ_STAGE_MAX);
    k->stages = lz_arena_alloc(&k->arena, k->nstage * sizeof *k->stages);
    if (!k->stages) {
        d->nomem = true;
        return;
    }
    for (uint32_t s = 0; s < k->nstage && !d->r.failed && !d->nomem; s++)
        take_stage(d, &k->stages[s]);
    if (!d->r.failed && !d->nomem)
        place_dots(d, &dot);
}

static lz_status decode(dec *d, const void *p, size_t n)
{
    lz_kernel *k = d->k;
    take_kernel(d);
    if (d->nomem)
        return LZ_FAIL(LZ_EMEM, "no memory for a kernel of %zu canonical bytes", n);
    if (d->r.failed || d->r.p != d->r.end || k->narg != d->narg)
        return LZ_FAIL(LZ_ECORRUPT, "canonical bytes of a kernel (%zu) with %u arguments are bad",
                       n, d->narg);
    k->args = lz_arena_copy(&k->arena, d->args, d->narg * sizeof *d->args);
    if (!k->args)
        return LZ_FAIL(LZ_EMEM, "no memory for %u run-time sizes", d->narg);
    k->finished = true;
    lz_status s = lz_kernel_verify(k);
    if (s == LZ_EINTERNAL) /* not our invariant: somebody else's bytes */
        return LZ_FAIL(LZ_ECORRUPT, "canonical bytes of a kernel (%zu): %s", n,
                       lz_error_get()->message);
    LZ_TRY(s);
    LZ_TRY(lz_kernel_encode(k));
    if (k->nencoding != n || memcmp(k->encoding, p, n) != 0)
        return LZ_FAIL(LZ_ECORRUPT, "%zu bytes of a kernel are not canonical", n);
    return LZ_OK;
}

lz_status lz_kernel_decode(const void *p, size_t n, const int64_t *args, uint32_t narg,
                           lz_kernel **out)
{
    *out = NULL;
    lz_kernel *k = lz_kernel_new("");
    if (!k)
        return LZ_EMEM;
    dec d = {.r = {p, (const uint8_t *)p + n, false}, .k = k, .args = args, .narg = narg};
    lz_status s = decode(&d, p, n);
    if (s != LZ_OK)
        lz_kernel_free(k);
    else
        *out = k;
    return s;
}
