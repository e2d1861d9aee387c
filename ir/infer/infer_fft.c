/* infer_fft.c - shape rule of fft. See infer.h. */
#include "ir/infer/infer.h"

/* Elements of the last dimension of a spectrum whose signal is real and has n. */
static int64_t half_of(int64_t n)
{
    return n ? n / 2 + 1 : 0;
}

static lz_status check_dtype(const lz_infer *c, int32_t type)
{
    static const char *const names[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
    lz_dtype d = c->opnd[0]->dtype;
    if (type < LZ_FFT || type > LZ_IRFFT)
        return LZ_FAIL(LZ_EINVAL, "%s: %d is no fft_type", c->name, (int)type);
    if (type == LZ_RFFT ? lz_dtype_of_parts(d) != LZ_DTYPE_NONE : lz_dtype_is_complex(d))
        return LZ_OK;
    return LZ_FAIL(LZ_EDTYPE, "%s: %s of %s; %s numbers are needed", c->name, names[type],
                   LZ_TT(c->opnd[0]), type == LZ_RFFT ? "f32 or f64" : "complex");
}

lz_status lz_infer_fft(lz_infer *c)
{
    const lz_attr_fft *a = LZ_ATTR(fft, c->attr);
    const lz_type *x = c->opnd[0];
    int n = a->fft_length.n;
    LZ_TRY(check_dtype(c, a->fft_type));
    if (n < 1 || n > 3)
        return LZ_FAIL(LZ_EINVAL, "%s: fft_length = %s; 1 to 3 dimensions are transformed", c->name,
                       LZ_IT(&a->fft_length));
    if (n > x->shape.rank)
        return LZ_FAIL(LZ_ESHAPE, "%s: fft_length = %s, but %s has %d dimensions", c->name,
                       LZ_IT(&a->fft_length), LZ_TT(x), x->shape.rank);
    lz_shape s = x->shape;
    for (int i = 0; i < n; i++) {
        int64_t want = a->fft_length.v[i], *have = &s.dims[s.rank - n + i];
        bool last = i == n - 1;
        if (want < 0 || *have != (last && a->fft_type == LZ_IRFFT ? half_of(want) : want))
            return LZ_FAIL(LZ_ESHAPE, "%s: fft_length = %s does not fit %s", c->name,
                           LZ_IT(&a->fft_length), LZ_TT(x));
        if (last && a->fft_type == LZ_RFFT)
            *have = half_of(want);
        else
            *have = want;
    }
    lz_dtype d = a->fft_type == LZ_RFFT    ? lz_dtype_of_parts(x->dtype)
                 : a->fft_type == LZ_IRFFT ? lz_dtype_part(x->dtype)
                                           : x->dtype;
    return lz_infer_give(c, d, &s);
}
