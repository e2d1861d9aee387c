/* random_ops.h - random numbers beyond lz_rand and lz_randn (tensor.h): the same stream of the
 * device's seed, the same numbers on every device. Names are ATen's, the numbers are not.
 * Parameters are run-time arguments. No gradient reaches parameters through lz_bernoulli,
 * lz_multinomial and lz_exponential; through lz_normal it does. Errors of all, as an error tensor:
 * LZ_ENULL, LZ_ESHAPE, LZ_EDTYPE, LZ_EINVAL, LZ_ERANGE, LZ_EMEM.
 * Implemented in: ops/random.c, ops/science/gamma_numbers.c, ops/science/count_numbers.c. */
#ifndef LAZULI_RANDOM_OPS_H
#define LAZULI_RANDOM_OPS_H
#include <lazuli/tensor_ops.h>
#pragma GCC system_header
LZ_EXTERN_C_BEGIN

/* As lz_rand of x's shape; dtype LZ_DTYPE_NONE: x's. */
LZ_API lz_tensor *lz_rand_like_at(lz_tensor *x, lz_dtype dtype, const lz_site *site);
/* As lz_randn of x's shape; dtype LZ_DTYPE_NONE: x's. */
LZ_API lz_tensor *lz_randn_like_at(lz_tensor *x, lz_dtype dtype, const lz_site *site);
/* Uniform in [low, high), low <= high. Floats. */
LZ_API lz_tensor *lz_uniform_at(lz_dtype dtype, lz_shape shape, double low, double high,
                                const lz_site *site);
/* Integral values, uniform in [low, high). Numbers. LZ_ERANGE: an integer dtype cannot hold all of
 * them. */
LZ_API lz_tensor *lz_randint_at(lz_dtype dtype, int64_t low, int64_t high, lz_shape shape,
                                const lz_site *site);
/* 0 .. n - 1 in random order. Numbers. LZ_ERANGE: an integer dtype cannot hold n - 1. */
LZ_API lz_tensor *lz_randperm_at(lz_dtype dtype, int64_t n, const lz_site *site);
/* 1 with probability p, else 0; of the dtype and shape of p. Floats. */
LZ_API lz_tensor *lz_bernoulli_at(lz_tensor *p, const lz_site *site);
/* 1 with probability p, else 0; of x's dtype and shape. */
LZ_API lz_tensor *lz_bernoulli_p_at(lz_tensor *x, double p, const lz_site *site);
/* Normal, of the given means and deviations, which broadcast. Floats. */
LZ_API lz_tensor *lz_normal_at(lz_tensor *mean, lz_tensor *std, const lz_site *site);
/* Normal, of one mean and deviation. Floats. */
LZ_API lz_tensor *lz_normal_scalar_at(lz_dtype dtype, lz_shape shape, double mean, double std,
                                      const lz_site *site);
/* Of density lambd exp(-lambd x). Floats. */
LZ_API lz_tensor *lz_exponential_at(lz_dtype dtype, lz_shape shape, double lambd,
                                    const lz_site *site);
/* exp of normal numbers of the given mean and deviation. Floats. */
LZ_API lz_tensor *lz_log_normal_at(lz_dtype dtype, lz_shape shape, double mean, double std,
                                   const lz_site *site);
/* Of the Cauchy distribution; sigma > 0. Floats. */
LZ_API lz_tensor *lz_cauchy_at(lz_dtype dtype, lz_shape shape, double median, double sigma,
                               const lz_site *site);
/* How many trials until the first success, from 1; 0 < p < 1. Numbers. */
LZ_API lz_tensor *lz_geometric_at(lz_dtype dtype, lz_shape shape, double p, const lz_site *site);
/* num_samples positions of each row of p[.., K] (rank 1 or 2, weights that are not negative), drawn
 * by weight: i64[.., num_samples]. Without replacement num_samples <= K, and no position comes
 * twice (those of weight 0 last). */
LZ_API lz_tensor *lz_multinomial_at(lz_tensor *p, int64_t num_samples, bool replacement,
                                    const lz_site *site);

/* ---- of distributions whose parameters are tensors: floats, computed in f64. NaN where there is
 * no such distribution (torch: an error) ---- */
/* Of density x^(alpha - 1) e^-x / gamma(alpha), alpha >= 0 (0: 0), at least the smallest normal
 * number; times a scale it has any. The gradient reaches alpha: that of the quantile (implicit
 * reparameterisation), as torch's and JAX's. Marsaglia and Tsang 2000. */
LZ_API lz_tensor *lz_standard_gamma_at(lz_tensor *alpha, const lz_site *site);
/* Of density x^(a - 1) (1 - x)^(b - 1) over its integral in [0, 1]; a, b >= 0 broadcast. The
 * gradient reaches both. torch.distributions.Beta, jax.random.beta. */
LZ_API lz_tensor *lz_beta_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
/* For each row alpha[.., K] numbers of sum 1, in proportion to those of lz_standard_gamma. The
 * gradient reaches alpha. torch.distributions.Dirichlet, jax.random.dirichlet. */
LZ_API lz_tensor *lz_dirichlet_at(lz_tensor *alpha, const lz_site *site);
/* How many events happen where `rate` are expected; finite, not negative. No gradient. Hoermann
 * 1993. */
LZ_API lz_tensor *lz_poisson_at(lz_tensor *rate, const lz_site *site);
/* How many of `count` (rounded down) trials succeed that do so with chance prob; both broadcast. No
 * gradient. Hoermann 1993. */
LZ_API lz_tensor *lz_binomial_at(lz_tensor *count, lz_tensor *prob, const lz_site *site);

#define lz_rand_like(x) lz_rand_like_at(x, LZ_DTYPE_NONE, LZ_SITE)
#define lz_randn_like(x) lz_randn_like_at(x, LZ_DTYPE_NONE, LZ_SITE)
#define lz_uniform(dtype, shape, low, high) lz_uniform_at(dtype, shape, low, high, LZ_SITE)
#define lz_randint(dtype, low, high, shape) lz_randint_at(dtype, low, high, shape, LZ_SITE)
#define lz_randperm(dtype, n) lz_randperm_at(dtype, n, LZ_SITE)
#define lz_bernoulli(p) lz_bernoulli_at(p, LZ_SITE)
#define lz_bernoulli_p(x, p) lz_bernoulli_p_at(x, p, LZ_SITE)
#define lz_normal(mean, std) lz_normal_at(mean, std, LZ_SITE)
#define lz_normal_scalar(dtype, shape, mean, std)                                                  \
    lz_normal_scalar_at(dtype, shape, mean, std, LZ_SITE)
#define lz_exponential(dtype, shape, lambd) lz_exponential_at(dtype, shape, lambd, LZ_SITE)
#define lz_log_normal(dtype, shape, mean, std) lz_log_normal_at(dtype, shape, mean, std, LZ_SITE)
#define lz_cauchy(dtype, shape, median, sigma) lz_cauchy_at(dtype, shape, median, sigma, LZ_SITE)
#define lz_geometric(dtype, shape, p) lz_geometric_at(dtype, shape, p, LZ_SITE)
#define lz_multinomial(p, num_samples, replacement)                                                \
    lz_multinomial_at(p, num_samples, replacement, LZ_SITE)
#define lz_standard_gamma(alpha) lz_standard_gamma_at(alpha, LZ_SITE)
#define lz_beta(a, b) lz_beta_at(a, b, LZ_SITE)
#define lz_dirichlet(alpha) lz_dirichlet_at(alpha, LZ_SITE)
#define lz_poisson(rate) lz_poisson_at(rate, LZ_SITE)
#define lz_binomial(count, prob) lz_binomial_at(count, prob, LZ_SITE)
LZ_EXTERN_C_END
#endif
