/* numbers.h - what the calls that test/numbers.bash generates pass by name (extreme): structs,
 * lists and objects whose numbers are drawn. The program defines NUMBER, LESS, REAL and FLAG, a
 * function shape(), T, N and B, and, where calls are made inside of calls, DEPTHS and DEPTH: what a
 * call was given stays as it is meanwhile. All lists have two members. */
#ifndef LZ_TEST_API_NUMBERS_H
#define LZ_TEST_API_NUMBERS_H
#include "test/api/values.h"
#include <string.h>

#ifndef DEPTHS
#define DEPTHS 1
#define DEPTH 0
#endif
#define SOME(n) ((n) < 3 ? (n) : 3)

static lz_shape shape(void);

static lz_status sample(void *user, int64_t index, void *const *out)
{
    (void)user;
    *(float *)out[0] = (float)index;
    return LZ_OK;
}
static lz_dataset dataset = {.struct_size = sizeof dataset,
                             .len = 64,
                             .nfields = 1,
                             .field = {{LZ_F32, {0, {0}}}},
                             .get = sample};

static void deleted(DLManagedTensorVersioned *m)
{
    (void)m;
}
static void deleted_before_1(DLManagedTensor *m)
{
    (void)m;
}
/* Its shape and rank say what memory there is. */
static DLTensor lent(void)
{
    VALUES_OWN int64_t own[DEPTHS][2];
    int64_t *extents = own[DEPTH];
    for (int i = 0; i < 2; i++)
        extents[i] = LESS(int64_t, 2);
    return (DLTensor){
        .data = memory,
        .device = {(DLDeviceType)NUMBER(int32_t, kDLCPU), NUMBER(int32_t, 0)},
        .ndim = LESS(int32_t, 2),
        .dtype = {NUMBER(uint8_t, kDLFloat), NUMBER(uint8_t, 32), NUMBER(uint16_t, 1)},
        .shape = extents};
}
static DLManagedTensorVersioned *managed(void)
{
    VALUES_OWN DLManagedTensorVersioned own[DEPTHS];
    DLManagedTensorVersioned *m = &own[DEPTH];
    *m = (DLManagedTensorVersioned){.version = {NUMBER(uint32_t, 1), NUMBER(uint32_t, 0)},
                                    .deleter = deleted,
                                    .flags = NUMBER(uint64_t, 0)};
    m->dl_tensor = lent();
    return m;
}
static DLManagedTensor *managed_before_1(void)
{
    VALUES_OWN DLManagedTensor own[DEPTHS];
    DLManagedTensor *m = &own[DEPTH];
    *m = (DLManagedTensor){.dl_tensor = lent(), .deleter = deleted_before_1};
    return m;
}

static lz_dims dims(void)
{
    lz_dims d = {1, {0}};
    d.n = NUMBER(int, 1);
    for (int i = 0; i < 2; i++)
        d.v[i] = NUMBER(int64_t, i);
    return d;
}
static int64_t *list(void)
{
    VALUES_OWN int64_t own[DEPTHS][4][LZ_MAX_RANK];
    VALUES_OWN unsigned used;
    int64_t *l = own[DEPTH][used++ % 4];
    for (int i = 0; i < LZ_MAX_RANK; i++)
        l[i] = i < 3 ? NUMBER(int64_t, 1) : 1;
    return l;
}
static double *reals(void)
{
    VALUES_OWN double own[DEPTHS][8];
    for (int i = 0; i < 8; i++)
        own[DEPTH][i] = i < 2 ? REAL(1) : 1;
    return own[DEPTH];
}
static lz_ffi_type *ffi_type(void)
{
    VALUES_OWN lz_ffi_type own[DEPTHS][2];
    lz_ffi_type *t = own[DEPTH];
    t[0] = (lz_ffi_type){NUMBER(lz_dtype, LZ_F32), shape()};
    t[1] = t[0];
    return t;
}
/* What it says that there is, is there. */
static lz_array *array(void)
{
    VALUES_OWN lz_array own[DEPTHS][2];
    lz_array *a = own[DEPTH];
    a[0] = (lz_array){.dtype = NUMBER(lz_dtype, LZ_F32),
                      .shape = {LESS(int32_t, 2), {LESS(int64_t, 2), LESS(int64_t, 2)}},
                      .nbytes = LESS(size_t, 16),
                      .data = memory};
    a[1] = a[0];
    return a;
}

#include "fill.h" /* that of the script */

/* Layers that were made, with other numbers; NULL when there is no memory for one. */
VALUES_OWN lz_params weights;
#define LAYER(kind, make)                                                                          \
    VALUES_OWN bool kind##_made;                                                                   \
    static lz_##kind##_layer *kind##_layer(void)                                                   \
    {                                                                                              \
        VALUES_OWN lz_##kind##_layer good, own[DEPTHS];                                            \
        if (!kind##_made && make != LZ_OK)                                                         \
            return NULL;                                                                           \
        kind##_made = true, own[DEPTH] = good;                                                     \
        fill_lz_##kind##_layer(&own[DEPTH]);                                                       \
        return &own[DEPTH];                                                                        \
    }
LAYER(linear, lz_linear_layer_init(&good, &weights, "linear", 3, 2, true, LZ_F32))
LAYER(embedding, lz_embedding_layer_init(&good, &weights, "embedding", 3, 2, LZ_F32))
LAYER(conv, lz_conv_layer_init(&good, 1, &weights, "conv", 2, 2, LZ_F32, .kernel = {1}))
LAYER(norm, lz_norm_layer_init(&good, LZ_BATCH_NORM, &weights, "norm", 2, LZ_F32))
LAYER(attention, lz_attention_layer_init(&good, &weights, "attention", 3, 1, LZ_F32))
LAYER(rnn, lz_rnn_layer_init(&good, LZ_LSTM, &weights, "rnn", 3, 2, 1, true, LZ_F32))
#endif
