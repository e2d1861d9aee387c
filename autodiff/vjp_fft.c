/* vjp_fft.c - gradient of fft: the transform is linear, so its gradient is the conjugate transpose
 * applied to the incoming gradient, which is a transform again. */
#include "autodiff/vjp.h"
#include "base/status.h"
#include <lazuli/tensor.h>

#define G (v->grad_out[0])

static lz_tensor *transform(const lz_vjp *v, lz_fft_type type, lz_tensor *x)
{
    const lz_attr_fft *a = LZ_ATTR(fft, v->sig->attr);
    return lz_hlo_fft_at((lz_hlo_fft_type)type, x, a->fft_length.v, a->fft_length.n, v->site);
}

static double elements(const lz_vjp *v)
{
    const lz_attr_fft *a = LZ_ATTR(fft, v->sig->attr);
    double n = 1;
    for (int i = 0; i < a->fft_length.n; i++)
        n *= (double)a->fft_length.v[i];
    return n;
}

/* RFFT: the omitted half has no influence, and the signal no imaginary part. */
static lz_tensor *of_rfft(const lz_vjp *v)
{
    const lz_attr_fft *a = LZ_ATTR(fft, v->sig->attr);
    lz_shape s = lz_shape_of(G);
    int64_t low[LZ_MAX_RANK] = {0}, high[LZ_MAX_RANK] = {0};
    high[s.rank - 1] = a->fft_length.v[a->fft_length.n - 1] - s.dims[s.rank - 1];
    lz_tensor *zero = lz_hlo_constant_at(lz_dtype_of(G), 0, v->site);
    lz_tensor *g = lz_hlo_pad_at(G, zero, low, high, NULL, s.rank, v->site);
    return lz_v_scale(v, lz_v1(v, "real", transform(v, LZ_IFFT, g)), elements(v));
}

/* IRFFT: elements of the half spectrum that stand for two count twice: all but the first and, of an
 *   even length, the last of the last dimension. */
static lz_tensor *of_irfft(const lz_vjp *v)
{
    const lz_attr_fft *a = LZ_ATTR(fft, v->sig->attr);
    const lz_type *t = v->sig->opnd[0];
    int64_t last = t->shape.rank - 1, n = a->fft_length.v[a->fft_length.n - 1];
    lz_tensor *k = lz_iota_at(LZ_I64, t->shape, last, v->site);
    const lz_type *kt = lz_type_get(LZ_I64, &t->shape);
    if (!kt)
        return NULL;
    lz_tensor *single = lz_v_cmp(v, LZ_HLO_EQ, k, lz_v_zeros(v, kt));
    if (n % 2 == 0)
        single = lz_v2(v, "or", single,
                       lz_v_cmp(v, LZ_HLO_EQ, k, lz_v_const_like(v, kt, (double)(n / 2))));
    lz_tensor *g = lz_v_scale(v, transform(v, LZ_RFFT, G), 1 / elements(v));
    return lz_v3(v, "select", single, g, lz_v2(v, "add", g, g));
}

lz_status lz_vjp_fft(const lz_vjp *v)
{
    switch (LZ_ATTR(fft, v->sig->attr)->fft_type) {
    case LZ_FFT:
        v->grad_in[0] = lz_v_scale(v, transform(v, LZ_IFFT, G), elements(v));
        return LZ_OK;
    case LZ_IFFT:
        v->grad_in[0] = lz_v_scale(v, transform(v, LZ_FFT, G), 1 / elements(v));
        return LZ_OK;
    case LZ_RFFT:
        v->grad_in[0] = of_rfft(v);
        return LZ_OK;
    default:
        v->grad_in[0] = of_irfft(v);
        return LZ_OK;
    }
}
