/* cublaslt_gemm.c - matrix products by cuBLASLt in place of our kernels. See cublaslt.h. Types and
 * instructions match what our own kernels promise: 16-bit floats and f32 accumulate in f32, which
 * is tf32 only where the user allows it for ours; split-K sums are reduced in the accumulation
 * type, in order. The heuristic is queried once per step of a program. Pointers have the alignment
 * it was told, or our own kernel runs. Errors: statuses that mean "not supported" are refusals;
 * others are errors, like a driver's. Threads: as cublaslt.h. */
#include "backends/cuda/cuda_device.h"
#include "base/alloc.h"
#include "base/config.h"
#include "base/log.h"
#include <inttypes.h>
#include <stdio.h>

enum {
    ALIGN = 16,            /* workspace bytes; more gains nothing */
    WORKSPACE = 32 << 20,  /* bytes, at most */
    MOST_BATCH = INT32_MAX /* the attribute has 32 bits */
};

/* ---- what it has ---- */

typedef struct form {
    lz_dtype factors, sum, result;
    int type, out, compute, scale; /* the library's names: types of the operands, of the result */
} form;
static const form forms[] = {
    {LZ_F32, LZ_F32, LZ_F32, LT_R_32F, LT_R_32F, LT_COMPUTE_32F, LT_R_32F},
    {LZ_F16, LZ_F32, LZ_F16, LT_R_16F, LT_R_16F, LT_COMPUTE_32F, LT_R_32F},
    {LZ_F16, LZ_F32, LZ_F32, LT_R_16F, LT_R_32F, LT_COMPUTE_32F, LT_R_32F},
    {LZ_BF16, LZ_F32, LZ_BF16, LT_R_16BF, LT_R_16BF, LT_COMPUTE_32F, LT_R_32F},
    {LZ_BF16, LZ_F32, LZ_F32, LT_R_16BF, LT_R_32F, LT_COMPUTE_32F, LT_R_32F},
    {LZ_F64, LZ_F64, LZ_F64, LT_R_64F, LT_R_64F, LT_COMPUTE_64F, LT_R_64F},
    {LZ_I8, LZ_I32, LZ_I32, LT_R_8I, LT_R_32I, LT_COMPUTE_32I, LT_R_32I},
};

static const form *form_of(const cuda_matrices *m)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].factors == m->a.dtype && forms[i].sum == m->sum &&
            forms[i].result == m->d.dtype)
            return &forms[i];
    return NULL;
}

struct cuda_product {
    cuda_product *next;
    cuda_matrices m;
    const form *form;
    lt_desc desc;
    lt_layout a, b, d;
    lt_algo algo;
    size_t workspace;
};

/* 1 and 0 in the scale type: double, float or i32. */
static const void *scalar(const form *f, bool one)
{
    static const double f64[2] = {0, 1};
    static const float f32[2] = {0, 1};
    static const int32_t i32[2] = {0, 1};
    return f->scale == LT_R_64F   ? (const void *)&f64[one]
           : f->scale == LT_R_32I ? (const void *)&i32[one]
                                  : (const void *)&f32[one];
}

/* ---- statuses ---- */

static bool is_refusal(int r)
{
    return r == LT_NOT_SUPPORTED || r == LT_INVALID_VALUE || r == LT_ARCH_MISMATCH;
}

static lz_status check(const cuda_device *d, int r, const char *call)
{
    if (r == LT_OK)
        return LZ_OK;
    return LZ_FAIL(r == LT_ALLOC_FAILED ? LZ_EDEVMEM : LZ_EDEVICE,
                   "device CUDA:%d: cublasLt%s: status %d of cuBLAS", d->at.index, call, r);
}

/* Result of a call that may be refused: then *ok becomes false. */
static lz_status judge(const cuda_device *d, int r, const char *call, bool *ok)
{
    *ok = !is_refusal(r);
    return *ok ? check(d, r, call) : LZ_OK;
}

/* Makes a call, unless an earlier one was refused. */
#define ASK(d, ok, call, ...)                                                                      \
    do {                                                                                           \
        if (*(ok))                                                                                 \
            LZ_TRY(judge(d, lz_cublaslt.call(__VA_ARGS__), #call, ok));                            \
    } while (0)

/* The same for one that creates an object: NULL when it did not. */
#define MAKE(d, ok, call, out, ...)                                                                \
    do {                                                                                           \
        int r_ = *(ok) ? lz_cublaslt.call(out, ##__VA_ARGS__) : LT_NOT_SUPPORTED;                  \
        if (r_ != LT_OK)                                                                           \
            *(out) = NULL;                                                                         \
        LZ_TRY(judge(d, r_, #call, ok));                                                           \
    } while (0)

/* ---- making ---- */

/* NULL: the library is missing, or does not support this device. Between cuda_enter and
 * cuda_leave. */
static lz_status handle_of(cuda_device *d, lt_handle *out)
{
    cuda_libs *l = &d->libs;
    lz_status s = LZ_OK;
    lz_mutex_lock(&l->lock);
    if (!l->tried && lz_cublaslt_load()) {
        int r = lz_cublaslt.Create(&l->handle);
        if (r != LT_OK)
            l->handle = NULL;
        if (r == LT_NOT_INITIALIZED || is_refusal(r))
            lz_logf(LZ_LOG_INFO, "cuda",
                    "cuBLASLt does not work with CUDA:%d (status %d): products are our own",
                    d->at.index, r);
        else
            s = check(d, r, "Create");
    }
    l->tried = s == LZ_OK;
    *out = l->handle;
    lz_mutex_unlock(&l->lock);
    return s;
}

static lz_status describe_matrix(const cuda_device *d, const cuda_matrix *m, int type,
                                 int64_t batch, lt_layout *out, bool *ok)
{
    int32_t count = (int32_t)batch;
    MAKE(d, ok, MatrixLayoutCreate, out, type, (uint64_t)m->rows, (uint64_t)m->columns, m->lead);
    if (batch == 1)
        return LZ_OK;
    ASK(d, ok, MatrixLayoutSetAttribute, *out, LT_LAYOUT_BATCH, &count, sizeof count);
    ASK(d, ok, MatrixLayoutSetAttribute, *out, LT_LAYOUT_BATCH_APART, &m->apart, sizeof m->apart);
    return LZ_OK;
}

static lz_status set(const cuda_device *d, lt_desc desc, int attribute, int32_t value, bool *ok)
{
    ASK(d, ok, MatmulDescSetAttribute, desc, attribute, &value, sizeof value);
    return LZ_OK;
}

/* Alignment in bytes of an address `offset` behind an aligned one. */
static uint32_t alignment(int64_t offset)
{
    uint64_t lowest = (uint64_t)offset & -(uint64_t)offset;
    return lowest && lowest < ALIGN ? (uint32_t)lowest : ALIGN;
}

static lz_status describe(const cuda_device *d, cuda_product *p, bool *ok)
{
    const cuda_matrices *m = &p->m;
    const form *f = p->form;
    bool tf32 = m->sum == LZ_F32 && m->a.dtype == LZ_F32 && d->target.tf32;
    MAKE(d, ok, MatmulDescCreate, &p->desc, tf32 ? LT_COMPUTE_TF32 : f->compute, f->scale);
    if (m->a.transposed)
        LZ_TRY(set(d, p->desc, LT_DESC_TRANSA, LT_TRANSPOSED, ok));
    if (m->b.transposed)
        LZ_TRY(set(d, p->desc, LT_DESC_TRANSB, LT_TRANSPOSED, ok));
    if (m->biased) { /* of an address that is only looked at for its alignment */
        const void *somewhere = (const void *)(uintptr_t)alignment(m->bias_offset);
        LZ_TRY(set(d, p->desc, LT_DESC_EPILOGUE, LT_EPILOGUE_BIAS, ok));
        ASK(d, ok, MatmulDescSetAttribute, p->desc, LT_DESC_BIAS, &somewhere, sizeof somewhere);
    }
    LZ_TRY(describe_matrix(d, &m->a, f->type, m->batch, &p->a, ok));
    LZ_TRY(describe_matrix(d, &m->b, f->type, m->batch, &p->b, ok));
    return describe_matrix(d, &m->d, f->out, m->batch, &p->d, ok);
}

static lz_status prefer(const cuda_device *d, const cuda_matrices *m, lt_preference pref, bool *ok)
{
    const struct {
        int attribute;
        uint32_t value;
    } all[] = {{LT_PREF_REDUCTIONS, LT_REDUCTION_COMPUTE_TYPE},
               {LT_PREF_ALIGN_A, alignment(m->a.offset)},
               {LT_PREF_ALIGN_B, alignment(m->b.offset)},
               {LT_PREF_ALIGN_C, alignment(m->d.offset)},
               {LT_PREF_ALIGN_D, alignment(m->d.offset)}};
    uint64_t workspace = WORKSPACE;
    ASK(d, ok, MatmulPreferenceSetAttribute, pref, LT_PREF_WORKSPACE, &workspace, sizeof workspace);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ASK(d, ok, MatmulPreferenceSetAttribute, pref, all[i].attribute, &all[i].value,
            sizeof all[i].value);
    return LZ_OK;
}

static lz_status choose(const cuda_device *d, lt_handle h, cuda_product *p, lt_preference pref,
                        bool *ok)
{
    lt_choice c = {.state = LT_NOT_SUPPORTED};
    int n = 0;
    LZ_TRY(prefer(d, &p->m, pref, ok));
    ASK(d, ok, MatmulAlgoGetHeuristic, h, p->desc, p->a, p->b, p->d, p->d, pref, 1, &c, &n);
    *ok = *ok && n == 1 && c.state == LT_OK && c.workspace <= WORKSPACE;
    p->algo = c.algo;
    p->workspace = c.workspace;
    return LZ_OK;
}

static lz_status fill_in(cuda_device *d, cuda_product *p, bool *ok)
{
    lt_handle h;
    lt_preference pref = NULL;
    LZ_TRY(handle_of(d, &h));
    *ok = h != NULL;
    if (!*ok)
        return LZ_OK;
    LZ_TRY(describe(d, p, ok));
    MAKE(d, ok, MatmulPreferenceCreate, &pref);
    lz_status s = *ok ? choose(d, h, p, pref, ok) : LZ_OK;
    if (pref)
        (void)lz_cublaslt.MatmulPreferenceDestroy(pref);
    const cuda_matrices *m = &p->m;
    if (s == LZ_OK && lz_log_enabled(LZ_LOG_INFO))
        lz_logf(LZ_LOG_INFO, "cuda",
                "%" PRId64 " product%s of %s, %" PRId64 " x %" PRId64 " by %" PRId64 ": %s",
                m->batch, m->batch == 1 ? "" : "s", lz_dtype_name(m->a.dtype), m->d.columns,
                m->d.rows, m->a.transposed ? m->a.rows : m->a.columns,
                *ok ? "by cuBLASLt" : "cuBLASLt has no algorithm, so it is our own");
    return s;
}

static void product_free(cuda_product *p)
{
    if (p->desc)
        (void)lz_cublaslt.MatmulDescDestroy(p->desc);
    lt_layout all[3] = {p->a, p->b, p->d};
    for (int i = 0; i < 3; i++)
        if (all[i])
            (void)lz_cublaslt.MatrixLayoutDestroy(all[i]);
    lz_free(p);
}

lz_status cuda_product_new(cuda_device *d, const lz_kernel *k, const lz_step *s, cuda_product **all,
                           cuda_product **out, size_t *workspace)
{
    cuda_matrices m;
    bool ok = false;
    *out = NULL;
    *workspace = 0;
    if (!lz_cfg_bool(LZ_OPT_CUDA_LIBS) || !cuda_matrices_of(k, s->args, &m) || !form_of(&m) ||
        m.batch > MOST_BATCH)
        return LZ_OK;
    cuda_product *p = lz_calloc(1, sizeof *p);
    if (!p)
        return LZ_FAIL(LZ_EMEM, "no memory for a product of a library");
    p->m = m;
    p->form = form_of(&m);
    lz_status st = cuda_enter(d);
    if (st == LZ_OK) {
        st = fill_in(d, p, &ok);
        cuda_leave(d);
    }
    if (!ok || st != LZ_OK) {
        product_free(p);
        return st;
    }
    p->next = *all;
    *all = *out = p;
    *workspace = p->workspace;
    return LZ_OK;
}

void cuda_products_free(cuda_product *all)
{
    while (all) {
        cuda_product *next = all->next;
        product_free(all);
        all = next;
    }
}

/* ---- launching ---- */

/* Current address of an operand. False: less aligned than the algorithm was chosen for. */
static bool address_of(void *const *bufs, uint32_t buf, int64_t offset, void **out)
{
    *out = (char *)bufs[buf] + offset;
    return (uintptr_t)*out % alignment(offset) == 0;
}

lz_status cuda_product_launch(cuda_device *d, cuda_product *p, void *const *bufs, cu_ptr workspace,
                              bool *ran)
{
    const cuda_matrices *m = &p->m;
    void *a, *b, *out, *bias = NULL;
    bool ok = address_of(bufs, m->a.buf, m->a.offset, &a) &&
              address_of(bufs, m->b.buf, m->b.offset, &b) &&
              address_of(bufs, m->d.buf, m->d.offset, &out) &&
              (!m->biased || address_of(bufs, m->bias, m->bias_offset, &bias));
    *ran = false;
    if (m->biased)
        ASK(d, &ok, MatmulDescSetAttribute, p->desc, LT_DESC_BIAS, &bias, sizeof bias);
    ASK(d, &ok, Matmul, d->libs.handle, p->desc, scalar(p->form, true), a, p->a, b, p->b,
        scalar(p->form, false), out, p->d, out, p->d, &p->algo, (void *)(uintptr_t)workspace,
        p->workspace, d->compute);
    *ran = ok;
    return LZ_OK;
}
