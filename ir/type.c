/* type.c - what a dtype is, and interned types. Threads: thread-safe. */
#include "ir/op.h"
#include "ir/intern.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- dtypes ---- */

/* Integers of a byte and booleans have as many bits as the digit with which the text ends, floats
 * of a byte as the one after the f. */
#define BITS(text, nbytes, cls)                                                                    \
    ((nbytes) != 1 ? 8 * (nbytes) : (cls) == 'S' ? (text)[1] - '0' : (text)[sizeof(text) - 2] - '0')

static const struct {
    const char *mlir;
    char cls;
    uint8_t bits;
} dtypes[LZ_DTYPE_COUNT] = {
#define B 'B'
#define I 'I'
#define U 'U'
#define F 'F'
#define C 'C'
#define S 'S'
#define LZ_DTYPE(NAME, value, name, text, nbytes, cls, ctype)                                      \
    [LZ_##NAME] = {text, cls, BITS(text, nbytes, cls)},
#include <lazuli/dtypes.def>
#undef LZ_DTYPE
#undef B
#undef I
#undef U
#undef F
#undef C
#undef S
};

static char class_of(lz_dtype d)
{
    return (unsigned)d < LZ_DTYPE_COUNT ? dtypes[d].cls : 0;
}

bool lz_dtype_is_float(lz_dtype d)
{
    return class_of(d) == 'F';
}

bool lz_dtype_is_storage(lz_dtype d)
{
    return class_of(d) == 'S';
}

bool lz_dtype_is_complex(lz_dtype d)
{
    return class_of(d) == 'C';
}

lz_dtype lz_dtype_part(lz_dtype d)
{
    return d == LZ_C64 ? LZ_F32 : d == LZ_C128 ? LZ_F64 : d;
}

lz_dtype lz_dtype_of_parts(lz_dtype d)
{
    return d == LZ_F32 ? LZ_C64 : d == LZ_F64 ? LZ_C128 : LZ_DTYPE_NONE;
}

lz_dtype lz_acc_dtype(lz_dtype d)
{
    return d == LZ_F16 || d == LZ_BF16 ? LZ_F32 : d;
}

bool lz_dtype_is_int(lz_dtype d)
{
    return class_of(d) == 'I' || class_of(d) == 'U';
}

bool lz_dtype_is_signed(lz_dtype d)
{
    return class_of(d) == 'I';
}

bool lz_dtype_is_unsigned(lz_dtype d)
{
    return class_of(d) == 'U';
}

int lz_dtype_bits(lz_dtype d)
{
    return (unsigned)d < LZ_DTYPE_COUNT ? dtypes[d].bits : 0;
}

bool lz_dtype_is_narrow(lz_dtype d)
{
    return d != LZ_BOOL && lz_dtype_bits(d) > 0 && lz_dtype_bits(d) < 8;
}

uint64_t lz_dtype_wrap(lz_dtype d, uint64_t v)
{
    int unused = 64 - lz_dtype_bits(d);
    return lz_dtype_is_signed(d) ? (uint64_t)((int64_t)(v << unused) >> unused)
                                 : v << unused >> unused;
}

const char *lz_dtype_mlir(lz_dtype d)
{
    return class_of(d) ? dtypes[d].mlir : "?";
}

lz_dtype lz_dtype_from_mlir(const char *s, size_t n)
{
    for (int d = 1; d < LZ_DTYPE_COUNT; d++)
        if (strlen(dtypes[d].mlir) == n && memcmp(dtypes[d].mlir, s, n) == 0)
            return (lz_dtype)d;
    return LZ_DTYPE_NONE;
}

/* ---- types ---- */

typedef struct type_node {
    lz_intern_node node;
    lz_type type;
} type_node;

static lz_intern types = LZ_INTERN_INIT;

bool lz_shape_eq(const lz_shape *a, const lz_shape *b)
{
    return a->rank == b->rank &&
           (a->rank <= 0 || memcmp(a->dims, b->dims, (size_t)a->rank * sizeof a->dims[0]) == 0);
}

static const char *shape_short(lz_dtype d, const lz_shape *s, char *buf, size_t n)
{
    size_t at = (size_t)snprintf(buf, n, "%s[", lz_dtype_name(d));
    for (int i = 0; i < s->rank && i < LZ_MAX_RANK && at < n; i++)
        at += (size_t)snprintf(buf + at, n - at, "%s%" PRId64, i ? "," : "", s->dims[i]);
    if (at < n)
        snprintf(buf + at, n - at, "]");
    return buf;
}

const char *lz_type_short(const lz_type *t, char *buf, size_t n)
{
    return shape_short(t->dtype, &t->shape, buf, n);
}

void lz_type_print(lz_buf *b, const lz_type *t)
{
    lz_buf_puts(b, "tensor<");
    for (int i = 0; i < t->shape.rank; i++)
        lz_buf_printf(b, "%" PRId64 "x", t->shape.dims[i]);
    lz_buf_printf(b, "%s>", lz_dtype_mlir(t->dtype));
}

/* Extents of a type without elements still must multiply to a size: strides and buffers of its
 * slices are computed from the other extents, so those must not overflow even where one extent is
 * 0. */
static lz_status check_size(lz_dtype d, const lz_shape *s, int64_t *nelem)
{
    char text[256];
    if (class_of(d) == 0)
        return LZ_FAIL(LZ_EDTYPE, "%d is no dtype", (int)d);
    if (s->rank < 0 || s->rank > LZ_MAX_RANK)
        return LZ_FAIL(LZ_ESHAPE, "rank %d is outside 0..%d", s->rank, LZ_MAX_RANK);
    int64_t total = (int64_t)lz_dtype_size(d), count = 1;
    for (int i = 0; i < s->rank; i++) {
        int64_t e = s->dims[i];
        if (e < 0)
            return LZ_FAIL(LZ_ESHAPE, "extent %" PRId64 " of dimension %d in %s is negative", e, i,
                           shape_short(d, s, text, sizeof text));
        if (!lz_mul_i64(total, e ? e : 1, &total))
            return LZ_FAIL(LZ_ERANGE, "%s has more bytes than a 64-bit size can hold",
                           shape_short(d, s, text, sizeof text));
        count *= e; /* at most total */
    }
    *nelem = count;
    return LZ_OK;
}

typedef struct type_key {
    uint32_t dtype, rank;
    int64_t dims[LZ_MAX_RANK];
} type_key;

static bool type_same(const lz_intern_node *node, const void *key)
{
    const lz_type *t = &((const type_node *)(const void *)node)->type;
    const type_key *k = key;
    return (uint32_t)t->dtype == k->dtype && (uint32_t)t->shape.rank == k->rank &&
           memcmp(t->shape.dims, k->dims, k->rank * sizeof k->dims[0]) == 0;
}

const lz_type *lz_type_get(lz_dtype d, const lz_shape *s)
{
    type_key k = {.dtype = (uint32_t)d, .rank = (uint32_t)s->rank};
    int64_t nelem;
    if (s->rank < 0 || s->rank > LZ_MAX_RANK) {
        (void)check_size(d, s, &nelem);
        return NULL;
    }
    memcpy(k.dims, s->dims, k.rank * sizeof k.dims[0]);
    lz_hash hash = lz_hash_bytes(&k, offsetof(type_key, dims) + k.rank * sizeof k.dims[0]);
    type_node *n = (type_node *)(void *)lz_intern_find(&types, hash, type_same, &k);
    if (n)
        return &n->type;
    if (check_size(d, s, &nelem) != LZ_OK)
        return NULL;
    n = lz_calloc(1, sizeof *n);
    if (!n) {
        (void)LZ_FAIL(LZ_EMEM, "no memory for a type");
        return NULL;
    }
    n->node.hash = hash;
    n->type = (lz_type){
        .dtype = d, .nelem = nelem, .nbytes = (size_t)nelem * lz_dtype_size(d), .hash = hash};
    n->type.shape.rank = s->rank;
    memcpy(n->type.shape.dims, k.dims, sizeof k.dims);
    type_node *stays = (type_node *)(void *)lz_intern_add(&types, &n->node, type_same, &k, NULL);
    if (stays != n)
        lz_free(n);
    return &stays->type;
}
