/* cublaslt_mock.c - a library with the entry points of cuBLASLt that the project calls, on the
 * memory and the streams of the one that stands in for the driver. Products are made when their
 * stream comes to them, sums in double. It has the real one's rules as far as they are checked
 * easily: leading dimensions, memory of the stream's device, alignment and workspace as the
 * algorithm was chosen for, bytes in one layout only.
 * Threads: the driver's lock around everything. */
#include "backends/cuda/cublaslt.h"
#include "test/mock/cublaslt_mock.h"
#include "test/mock/cuda_mock_state.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API MOCK_API
enum { MAGIC = 0x6c74, NEEDS = 1 << 16 /* bytes of workspace */, LOST = 100 };

struct lt_handle_ {
    cu_context owner;
};
struct lt_desc_ {
    int compute, scale;
    int32_t transposed[2], epilogue;
    const void *bias;
};
struct lt_layout_ {
    int type;
    int64_t rows, columns, lead, apart;
    int32_t batch;
};
struct lt_preference_ {
    uint64_t workspace;
    uint32_t reductions, align[4];
};

/* An algorithm: what it was chosen for. */
typedef struct chosen {
    uint64_t magic, workspace, m, n, k;
    uint16_t align[4];
    int compute;
    uint32_t reserved[3];
} chosen;
_Static_assert(sizeof(chosen) <= sizeof(lt_algo), "it is an algorithm");

/* A product on a stream. */
typedef struct work {
    struct lt_desc_ desc;
    struct lt_layout_ a, b, d;
    const void *at[2];
    void *out, *workspace;
    uint64_t nbytes;
    cu_context owner;
} work;
enum { WORDS = (sizeof(work) + sizeof(uint64_t) - 1) / sizeof(uint64_t) };

static lz_lt_mock_stats stats;
static bool refusing;

API void lzLtMockRefuse(int yes)
{
    refusing = yes != 0;
}

API void lzLtMockGetStats(lz_lt_mock_stats *out)
{
    mock_lock();
    *out = stats;
    (void)mock_leave(0);
}

/* A call begins; a device that is lost is no status of the library's. */
#undef ENTER
#define ENTER()                                                                                    \
    int r_ = mock_enter(__func__, mock_current());                                                 \
    if (r_)                                                                                        \
    return mock_leave(r_ >= LOST ? LT_EXECUTION_FAILED : r_)

static int wrong(const char *what)
{
    stats.wrong++;
    fprintf(stderr, "cublaslt mock: %s\n", what);
    return LT_INVALID_VALUE;
}

/* ---- descriptors ---- */

static int made(void *p)
{
    stats.live += p != NULL;
    return p ? LT_OK : LT_ALLOC_FAILED;
}

static int ended(void *p) /* undoing does not fail */
{
    mock_lock();
    stats.live--;
    free(p);
    return mock_leave(0);
}

static int put(void *field, size_t size, const void *value, size_t nbytes)
{
    if (size != nbytes)
        return wrong("an attribute of another size");
    memcpy(field, value, size);
    return LT_OK;
}

API int cublasLtCreate(lt_handle *handle)
{
    ENTER();
    if (!mock_current())
        return mock_leave(wrong("a handle without a context"));
    *handle = malloc(sizeof **handle); /* stays */
    if (*handle)
        (*handle)->owner = mock_current();
    return mock_leave(*handle ? LT_OK : LT_ALLOC_FAILED);
}

API int cublasLtMatmulDescCreate(lt_desc *desc, int compute, int scale)
{
    ENTER();
    *desc = calloc(1, sizeof **desc);
    if (*desc)
        **desc = (struct lt_desc_){.compute = compute, .scale = scale, .epilogue = 1};
    return mock_leave(made(*desc));
}

API int cublasLtMatmulDescDestroy(lt_desc desc)
{
    return ended(desc);
}

API int cublasLtMatmulDescSetAttribute(lt_desc d, int attribute, const void *value, size_t nbytes)
{
    ENTER();
    int r = attribute == LT_DESC_TRANSA     ? put(&d->transposed[0], sizeof(int32_t), value, nbytes)
            : attribute == LT_DESC_TRANSB   ? put(&d->transposed[1], sizeof(int32_t), value, nbytes)
            : attribute == LT_DESC_EPILOGUE ? put(&d->epilogue, sizeof d->epilogue, value, nbytes)
            : attribute == LT_DESC_BIAS     ? put(&d->bias, sizeof d->bias, value, nbytes)
                                            : wrong("an unknown attribute of a product");
    return mock_leave(r);
}

API int cublasLtMatrixLayoutCreate(lt_layout *layout, int type, uint64_t rows, uint64_t columns,
                                   int64_t lead)
{
    ENTER();
    *layout = calloc(1, sizeof **layout);
    if (*layout)
        **layout = (struct lt_layout_){.type = type,
                                       .rows = (int64_t)rows,
                                       .columns = (int64_t)columns,
                                       .lead = lead,
                                       .batch = 1};
    return mock_leave(made(*layout));
}

API int cublasLtMatrixLayoutDestroy(lt_layout layout)
{
    return ended(layout);
}

API int cublasLtMatrixLayoutSetAttribute(lt_layout l, int attribute, const void *value,
                                         size_t nbytes)
{
    ENTER();
    int r = attribute == LT_LAYOUT_BATCH         ? put(&l->batch, sizeof l->batch, value, nbytes)
            : attribute == LT_LAYOUT_BATCH_APART ? put(&l->apart, sizeof l->apart, value, nbytes)
                                                 : wrong("an unknown attribute of a layout");
    return mock_leave(r);
}

API int cublasLtMatmulPreferenceCreate(lt_preference *preference)
{
    ENTER();
    *preference = calloc(1, sizeof **preference);
    if (*preference)
        **preference = (struct lt_preference_){.reductions = 7, .align = {256, 256, 256, 256}};
    return mock_leave(made(*preference));
}

API int cublasLtMatmulPreferenceDestroy(lt_preference preference)
{
    return ended(preference);
}

API int cublasLtMatmulPreferenceSetAttribute(lt_preference p, int attribute, const void *value,
                                             size_t nbytes)
{
    ENTER();
    int r = attribute == LT_PREF_WORKSPACE ? put(&p->workspace, sizeof p->workspace, value, nbytes)
            : attribute == LT_PREF_REDUCTIONS
                ? put(&p->reductions, sizeof p->reductions, value, nbytes)
            : attribute >= LT_PREF_ALIGN_A && attribute <= LT_PREF_ALIGN_D
                ? put(&p->align[attribute - LT_PREF_ALIGN_A], sizeof(uint32_t), value, nbytes)
                : wrong("an unknown attribute of a preference");
    return mock_leave(r);
}

/* ---- what it takes ---- */

static size_t size_of(int type)
{
    return type == LT_R_64F                        ? 8
           : type == LT_R_16F || type == LT_R_16BF ? 2
           : type == LT_R_8I                       ? 1
                                                   : 4;
}

static bool types_suit(lt_desc d, lt_layout a, lt_layout b, lt_layout out)
{
    bool half = a->type == LT_R_16F || a->type == LT_R_16BF;
    if (a->type != b->type)
        return false;
    switch (d->compute) {
    case LT_COMPUTE_32F:
        return d->scale == LT_R_32F && (half || a->type == LT_R_32F) &&
               (out->type == a->type || out->type == LT_R_32F);
    case LT_COMPUTE_TF32:
        return d->scale == LT_R_32F && a->type == LT_R_32F && out->type == LT_R_32F;
    case LT_COMPUTE_64F:
        return d->scale == LT_R_64F && a->type == LT_R_64F && out->type == LT_R_64F;
    case LT_COMPUTE_32I:
        return d->scale == LT_R_32I && a->type == LT_R_8I && out->type == LT_R_32I;
    default:
        return false;
    }
}

/* m, n, k of the product; what cannot be meant is wrong. */
static int sizes_of(lt_desc d, lt_layout a, lt_layout b, lt_layout out, chosen *c)
{
    const struct lt_layout_ *all[3] = {a, b, out};
    bool ta = d->transposed[0] == LT_TRANSPOSED, tb = d->transposed[1] == LT_TRANSPOSED;
    int64_t k = ta ? a->rows : a->columns;
    for (int i = 0; i < 3; i++)
        if (all[i]->rows < 1 || all[i]->columns < 1 || all[i]->lead < all[i]->rows ||
            all[i]->batch != out->batch || all[i]->apart < 0 || all[i]->batch < 1)
            return wrong("a layout that is none");
    if ((ta ? a->columns : a->rows) != out->rows || (tb ? b->columns : b->rows) != k ||
        (tb ? b->rows : b->columns) != out->columns)
        return wrong("matrices that do not fit together");
    if (out->batch > 1 && out->apart < out->lead * (out->columns - 1) + out->rows &&
        out->lead < out->apart * (out->batch - 1) + out->rows)
        return wrong("results that overlap");
    if (!types_suit(d, a, b, out))
        return wrong("types that are none of its combinations");
    c->m = (uint64_t)out->rows;
    c->n = (uint64_t)out->columns;
    c->k = (uint64_t)k;
    return LT_OK;
}

/* As the real one's instructions for bytes: the first factor transposed, the second not, words of
 * four; and no bias for doubles. */
static bool is_taken(lt_desc d, lt_layout a, lt_layout b, lt_layout out)
{
    bool bytes = a->type == LT_R_8I, words = !(a->lead % 4 || b->lead % 4 || out->lead % 4);
    if (bytes && (!words || !d->transposed[0] || d->transposed[1]))
        return false;
    return !refusing && (d->epilogue == 1 || a->type != LT_R_64F);
}

API int cublasLtMatmulAlgoGetHeuristic(lt_handle handle, lt_desc desc, lt_layout a, lt_layout b,
                                       lt_layout c, lt_layout d, lt_preference pref, int most,
                                       lt_choice *choices, int *n)
{
    ENTER();
    chosen algo = {.magic = MAGIC, .workspace = NEEDS, .compute = desc->compute};
    stats.asked++;
    *n = 0;
    int r = sizes_of(desc, a, b, d, &algo);
    if (r == LT_OK && (c != d || most < 1 || handle->owner != mock_current()))
        r = wrong("a question that is none");
    if (r == LT_OK && desc->epilogue == LT_EPILOGUE_BIAS && !desc->bias)
        r = wrong("a bias of unknown alignment");
    if (r == LT_OK && (pref->workspace < NEEDS || !is_taken(desc, a, b, d)))
        r = LT_NOT_SUPPORTED;
    if (r != LT_OK)
        return mock_leave(r);
    for (int i = 0; i < 4; i++)
        algo.align[i] = (uint16_t)pref->align[i];
    choices[0] = (lt_choice){.workspace = NEEDS, .state = LT_OK, .waves = 1};
    memcpy(&choices[0].algo, &algo, sizeof algo);
    *n = 1;
    return mock_leave(LT_OK);
}

/* ---- numbers ---- */

static double from_half(uint16_t h)
{
    int e = h >> 10 & 31, f = h & 1023;
    double v = e == 31 ? (f ? NAN : INFINITY) : e ? ldexp(1024 + f, e - 25) : ldexp(f, -24);
    return h >> 15 ? -v : v;
}

static uint16_t to_half(float v)
{
    uint16_t sign = signbit(v) ? 0x8000 : 0;
    double x = fabs((double)v);
    int e;
    if (isnan(v))
        return 0x7e00;
    if (x >= 65520)
        return sign | 0x7c00;
    (void)frexp(x, &e); /* x < 2^e */
    int last = e - 11 < -24 ? -24 : e - 11;
    double units =
        nearbyint(ldexp(x, -last)); /* up to 2048: one more bit carries into the exponent */
    uint16_t bits = (uint16_t)((last + 24) * 1024 + (int)units);
    return sign | bits;
}

static double from_brain(uint16_t h)
{
    uint32_t w = (uint32_t)h << 16;
    float f;
    memcpy(&f, &w, sizeof f);
    return f;
}

static uint16_t to_brain(float v)
{
    uint32_t w;
    memcpy(&w, &v, sizeof w);
    if (isnan(v))
        return 0x7fc0;
    return (uint16_t)((w + 0x7fff + (w >> 16 & 1)) >> 16);
}

static double get(const void *p, int type, int64_t i)
{
    switch (type) {
    case LT_R_64F:
        return ((const double *)p)[i];
    case LT_R_16F:
        return from_half(((const uint16_t *)p)[i]);
    case LT_R_16BF:
        return from_brain(((const uint16_t *)p)[i]);
    case LT_R_8I:
        return ((const int8_t *)p)[i];
    default:
        return ((const float *)p)[i];
    }
}

static void set(void *p, int type, int64_t i, double v)
{
    if (type == LT_R_64F)
        ((double *)p)[i] = v;
    else if (type == LT_R_16F)
        ((uint16_t *)p)[i] = to_half((float)v);
    else if (type == LT_R_16BF)
        ((uint16_t *)p)[i] = to_brain((float)v);
    else if (type == LT_R_32I)
        ((int32_t *)p)[i] = (int32_t)(uint32_t)(int64_t)v;
    else
        ((float *)p)[i] = (float)v;
}

/* ---- products ---- */

static uint64_t bytes_of(const struct lt_layout_ *l)
{
    int64_t n = l->apart * (l->batch - 1) + l->lead * (l->columns - 1) + l->rows;
    return (uint64_t)n * size_of(l->type);
}

static bool in_memory(const work *w)
{
    return mock_owner(w->at[0], bytes_of(&w->a)) == w->owner &&
           mock_owner(w->at[1], bytes_of(&w->b)) == w->owner &&
           mock_owner(w->out, bytes_of(&w->d)) == w->owner &&
           mock_owner(w->workspace, w->nbytes) == w->owner &&
           (w->desc.epilogue != LT_EPILOGUE_BIAS ||
            mock_owner(w->desc.bias, (uint64_t)w->d.rows * size_of(w->d.type)) == w->owner);
}

static int64_t at(const struct lt_layout_ *l, bool transposed, int64_t row, int64_t column)
{
    return transposed ? column + row * l->lead : row + column * l->lead;
}

static double element(const work *w, int64_t batch, int64_t i, int64_t j)
{
    bool ta = w->desc.transposed[0], tb = w->desc.transposed[1];
    int64_t k = ta ? w->a.rows : w->a.columns;
    double sum = 0;
    for (int64_t x = 0; x < k; x++)
        sum += get(w->at[0], w->a.type, batch * w->a.apart + at(&w->a, ta, i, x)) *
               get(w->at[1], w->b.type, batch * w->b.apart + at(&w->b, tb, x, j));
    if (w->desc.epilogue == LT_EPILOGUE_BIAS)
        sum += get(w->desc.bias, w->d.type, i);
    return sum;
}

/* When its stream comes to it. */
static int run(const uint64_t *values)
{
    work w;
    memcpy(&w, values, sizeof w);
    if (!in_memory(&w)) {
        (void)wrong("a product ran when its memory had been freed");
        return MOCK_LAUNCH_FAILED;
    }
    memset(w.workspace, 0x5A, w.nbytes);
    for (int64_t b = 0; b < w.d.batch; b++)
        for (int64_t j = 0; j < w.d.columns; j++)
            for (int64_t i = 0; i < w.d.rows; i++)
                set(w.out, w.d.type, b * w.d.apart + at(&w.d, false, i, j), element(&w, b, i, j));
    stats.run++;
    return 0;
}

/* 1 and 0: nothing else is asked for. */
static bool plain_scalars(int type, const void *alpha, const void *beta)
{
    size_t n = size_of(type);
    static const double d1 = 1, d0 = 0;
    static const float f1 = 1, f0 = 0;
    static const int32_t i1 = 1, i0 = 0;
    const void *one = type == LT_R_64F   ? (const void *)&d1
                      : type == LT_R_32I ? &i1
                                         : (const void *)&f1,
               *zero = type == LT_R_64F   ? (const void *)&d0
                       : type == LT_R_32I ? &i0
                                          : (const void *)&f0;
    return memcmp(alpha, one, n) == 0 && memcmp(beta, zero, n) == 0;
}

static bool is_aligned(const void *p, uint16_t to)
{
    return (uintptr_t)p % to == 0;
}

static int checked(const work *w, const chosen *c, const chosen *now)
{
    if (c->magic != MAGIC || c->compute != w->desc.compute || c->m != now->m || c->n != now->n ||
        c->k != now->k)
        return wrong("an algorithm of another product");
    if (!is_aligned(w->at[0], c->align[0]) || !is_aligned(w->at[1], c->align[1]) ||
        !is_aligned(w->out, c->align[3]) || !is_aligned(w->workspace, 16))
        return wrong("memory that is not aligned as was said");
    if (w->nbytes < c->workspace)
        return wrong("too little workspace");
    return in_memory(w) ? LT_OK : wrong("memory that is not the stream's device's");
}

API int cublasLtMatmul(lt_handle handle, lt_desc desc, const void *alpha, const void *a,
                       lt_layout adesc, const void *b, lt_layout bdesc, const void *beta,
                       const void *c, lt_layout cdesc, void *d, lt_layout ddesc,
                       const lt_algo *algo, void *workspace, size_t nbytes, cu_stream stream)
{
    ENTER();
    work w = {*desc, *adesc, *bdesc, *ddesc, {a, b}, d, workspace, nbytes, stream->owner};
    chosen was, now;
    memcpy(&was, algo, sizeof was);
    int r = sizes_of(desc, adesc, bdesc, ddesc, &now);
    if (r == LT_OK && (c != d || cdesc != ddesc || !plain_scalars(desc->scale, alpha, beta)))
        r = wrong("more than a product");
    if (r == LT_OK && (handle->owner != stream->owner || stream->owner != mock_current()))
        r = wrong("a stream or handle of another device");
    if (r == LT_OK)
        r = checked(&w, &was, &now);
    if (r != LT_OK)
        return mock_leave(r);
    mock_op *o = calloc(1, sizeof *o + WORDS * sizeof(uint64_t));
    if (o) {
        o->kind = OP_CALL;
        o->call = run;
        memcpy(o->values, &w, sizeof w);
    }
    if (mock_push(stream, o))
        return mock_leave(LT_EXECUTION_FAILED);
    stats.put++;
    stats.tf32 += desc->compute == LT_COMPUTE_TF32;
    stats.workspace = nbytes;
    stats.transposed += (uint64_t)(desc->transposed[0] + desc->transposed[1]);
    return mock_leave(LT_OK);
}
