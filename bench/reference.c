/* reference.c - reproducible random data, and comparisons with results in double precision. */
#include "bench.h"
#include <math.h>
#include <stdlib.h>

float *bench_random(uint64_t seed, size_t n, double scale)
{
    float *x = aligned_alloc(64, (n * sizeof *x + 63) / 64 * 64);
    if (!x)
        bench_fail("no memory for %zu numbers", n);
    uint64_t z = seed * 0x9e3779b97f4a7c15u + 1;
    for (size_t i = 0; i < n; i++) { /* xorshift64*: the upper 24 bits */
        z ^= z >> 12;
        z ^= z << 25;
        z ^= z >> 27;
        x[i] = (float)((((double)(z * 0x2545f4914f6cdd1du >> 40)) / 16777216.0 - 0.5) * scale);
    }
    return x;
}

void bench_compare(struct difference *d, double got, double expect, double tolerance)
{
    double error = fabs(got - expect), part = error / tolerance;
    if (!(part <= d->worst)) { /* NaN counts as the largest error */
        d->worst = isnan(part) ? HUGE_VAL : part;
        d->error = error;
        d->at = d->n;
    }
    d->n++;
}

void bench_verdict(const struct difference *d)
{
    if (d->n == 0)
        bench_fail("nothing was compared");
    if (!(d->worst <= 1))
        bench_fail("wrong: number %zu of %zu is off by %g, %.3g times what is allowed", d->at, d->n,
                   d->error, d->worst);
}
