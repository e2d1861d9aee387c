/* dataset.c - data sets over arrays and synthetic ones; the shuffled order of an epoch. */
#include "base/callout.h"
#include "data/data_internal.h"
#include <inttypes.h>
#include <lazuli/loader.h>
#include <string.h>

/* SplitMix64 (Steele et al. 2014): number i of the sequence of a seed. */
static uint64_t random_at(uint64_t seed, uint64_t i)
{
    uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* A number below n > 0, each equally likely but for 2^-64 n. */
static uint64_t below(uint64_t bits, uint64_t n)
{
    return (uint64_t)((unsigned __int128)bits * n >> 64);
}

void lz_shuffled(int64_t *order, int64_t len, uint64_t seed, int64_t epoch)
{
    uint64_t key = random_at(seed, (uint64_t)epoch);
    for (int64_t i = 0; order && i < len; i++) { /* Fisher and Yates, inside out */
        int64_t j = (int64_t)below(random_at(key, (uint64_t)i), (uint64_t)i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}

void lz_dataset_free(lz_dataset *d)
{
    LZ_PUBLIC();
    if (!d)
        return;
    if (d->destroy)
        LZ_CALL_OUT("a data set")
    d->destroy(d->user);
    *d = (lz_dataset){.struct_size = sizeof *d};
}

/* ---- arrays ---- */

typedef struct rows {
    int n;
    lz_array array[LZ_MAX_FIELDS];
    size_t row[LZ_MAX_FIELDS]; /* bytes */
} rows;

static lz_status get_row(void *user, int64_t index, void *const *out)
{
    const rows *r = user;
    for (int f = 0; f < r->n; f++)
        if (r->row[f])
            memcpy(out[f], (const char *)r->array[f].data + (size_t)index * r->row[f], r->row[f]);
    return LZ_OK;
}

static void free_rows(void *user)
{
    rows *r = user;
    for (int f = 0; f < r->n; f++)
        lz_array_free(&r->array[f]);
    lz_free(r);
}

static lz_status take_arrays(lz_array *arrays, int n, rows *r, lz_dataset *out)
{
    for (int f = 0; f < n; f++) {
        lz_array *a = &arrays[f];
        LZ_TRY(lz_data_check(a, "an array of the data set"));
        if (a->shape.rank < 1 || a->shape.dims[0] != arrays[0].shape.dims[0])
            return LZ_FAIL(
                LZ_ESHAPE, "array %d of the data set has %" PRId64 " rows, array 0 %" PRId64, f,
                a->shape.rank < 1 ? (int64_t)-1 : a->shape.dims[0], arrays[0].shape.dims[0]);
        lz_field *field = &out->field[f];
        field->dtype = a->dtype;
        field->shape = lz_shape_make(a->shape.rank - 1, a->shape.dims + 1);
        size_t len = (size_t)a->shape.dims[0];
        r->row[f] = len ? a->nbytes / len : 0;
    }
    for (int f = 0; f < n; f++) {
        r->array[f] = arrays[f];
        arrays[f] = (lz_array){0};
    }
    r->n = out->nfields = n;
    out->len = r->array[0].shape.dims[0];
    return LZ_OK;
}

lz_status lz_dataset_of_arrays_at(lz_array *arrays, int n, lz_dataset *out, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    rows *r = NULL;
    lz_status s = LZ_OK;
    if (!arrays || !out)
        s = LZ_FAIL(LZ_ENULL, "%s is NULL", out ? "arrays" : "out");
    else if (n < 1 || n > LZ_MAX_FIELDS)
        s = LZ_FAIL(LZ_EINVAL, "%d arrays: 1 to %d are possible", n, LZ_MAX_FIELDS);
    else if (!(r = lz_calloc(1, sizeof *r)))
        s = LZ_FAIL(LZ_EMEM, "no memory for the data set");
    if (out)
        *out = (lz_dataset){
            .struct_size = sizeof *out, .get = get_row, .destroy = free_rows, .user = r};
    if (s == LZ_OK)
        s = take_arrays(arrays, n, r, out);
    if (s != LZ_OK) {
        for (int f = 0; arrays && f < n && f < LZ_MAX_FIELDS; f++)
            lz_array_free(&arrays[f]);
        lz_free(r);
        if (out)
            *out = (lz_dataset){.struct_size = sizeof *out};
    }
    return lz_data_done(s, "lz_dataset_of_arrays", site);
}

/* ---- made up ---- */

typedef struct fake {
    uint64_t seed, classes;
    int n;
    lz_dtype dtype[LZ_MAX_FIELDS];
    size_t elems[LZ_MAX_FIELDS];
} fake;

static void put(lz_dtype d, void *at, size_t i, uint64_t bits, uint64_t classes)
{
    size_t w = lz_dtype_size(d);
    uint64_t v = below(bits, d == LZ_BOOL ? 2 : classes);
    float f = (float)(bits >> 40) * 0x1p-24f;
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    if (d == LZ_F32)
        memcpy((char *)at + i * w, &f, w);
    else if (d == LZ_F64)
        ((double *)at)[i] = (double)(bits >> 11) * 0x1p-53;
    else if (d == LZ_BF16)
        ((uint16_t *)at)[i] = (uint16_t)(u >> 16);
    else
        memcpy((char *)at + i * w, &v, w); /* little-endian */
}

static lz_status get_fake(void *user, int64_t index, void *const *out)
{
    const fake *k = user;
    for (int f = 0; f < k->n; f++) {
        uint64_t key = random_at(k->seed + (uint64_t)f, (uint64_t)index);
        for (size_t i = 0; i < k->elems[f]; i++)
            put(k->dtype[f], out[f], i, random_at(key, i), k->classes);
    }
    return LZ_OK;
}

static lz_status take_fields(const lz_field *fields, int n, int64_t classes, fake *k,
                             lz_dataset *out)
{
    for (int f = 0; f < n; f++) {
        size_t nbytes;
        lz_dtype d = fields[f].dtype;
        if (d == LZ_F16 || d >= LZ_C64)
            return LZ_FAIL(LZ_EDTYPE,
                           "field %d is %s: f32, f64, bf16, integers and booleans are made up", f,
                           lz_dtype_name(d));
        LZ_TRY(lz_data_size(d, &fields[f].shape, "a field", &nbytes));
        size_t bits = 8 * lz_dtype_size(d) - (d >= LZ_I8 && d <= LZ_I64);
        bool integer = d >= LZ_I8 && d <= LZ_U64;
        if (integer && bits < 64 && ((uint64_t)classes - 1) >> bits)
            return LZ_FAIL(LZ_EINVAL, "%" PRId64 " classes do not fit into field %d of %s", classes,
                           f, lz_dtype_name(d));
        k->dtype[f] = d;
        k->elems[f] = nbytes / lz_dtype_size(d);
        out->field[f] = fields[f];
    }
    k->n = out->nfields = n;
    return LZ_OK;
}

lz_status lz_dataset_fake_at(int64_t len, const lz_field *fields, int n, int64_t classes,
                             uint64_t seed, lz_dataset *out, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    fake *k = NULL;
    lz_status s = LZ_OK;
    if (!fields || !out)
        s = LZ_FAIL(LZ_ENULL, "%s is NULL", out ? "fields" : "out");
    else if (len < 0 || classes < 1 || n < 1 || n > LZ_MAX_FIELDS)
        s = LZ_FAIL(LZ_EINVAL, "%" PRId64 " samples of %d fields and %" PRId64 " classes", len, n,
                    classes);
    else if (!(k = lz_calloc(1, sizeof *k)))
        s = LZ_FAIL(LZ_EMEM, "no memory for the data set");
    if (out)
        *out = (lz_dataset){
            .struct_size = sizeof *out, .len = len, .get = get_fake, .destroy = lz_free, .user = k};
    if (s == LZ_OK) {
        k->seed = seed;
        k->classes = (uint64_t)classes;
        s = take_fields(fields, n, classes, k, out);
    }
    if (s != LZ_OK) {
        lz_free(k);
        if (out)
            *out = (lz_dataset){.struct_size = sizeof *out};
    }
    return lz_data_done(s, "lz_dataset_fake", site);
}
