/* special_ranges.h - arguments where functions are hard to compute: beside zeros, roots, poles,
 * multiples of pi/2, the ends of domains and of what a dtype holds, and pairs of them. */
#ifndef LZ_TEST_SPECIAL_RANGES_H
#define LZ_TEST_SPECIAL_RANGES_H
#include <float.h>
#include <math.h>
#include <stdbool.h>

/* Roots of lgamma and digamma between their poles, ends of exp, erfc, lgamma and their kin in f32
 * and f64, what is nearest to a multiple of pi/2, and where formulas change. */
static const double centres[] = {0,
                                 1,
                                 2,
                                 0.5,
                                 1.4616321449683623,
                                 -0.504083008264455409,
                                 -1.573498473162390459,
                                 -2.610720868444144650,
                                 -3.635293366436901098,
                                 -2.457024738220800597,
                                 -2.747682646727412606,
                                 -3.143580888349980058,
                                 -3.955294284858597926,
                                 88.72283905206835,
                                 -87.33654475055310,
                                 -103.9720770839918,
                                 709.782712893384,
                                 -708.3964185322641,
                                 -745.1332191019411,
                                 9.194549,
                                 10.05,
                                 26.5432583,
                                 27.226,
                                 171.62437695630272,
                                 35.0,
                                 2.5e305,
                                 6381956970095103.0 * 0x1p797,
                                 16367173.0 * 0x1p72,
                                 1e22,
                                 0x1p-126,
                                 0x1p-149,
                                 0x1p-1022,
                                 0x1p-1074,
                                 FLT_MAX,
                                 DBL_MAX,
                                 M_E,
                                 10,
                                 1e-8,
                                 1e-4,
                                 8,
                                 3.5,
                                 0x1p20,
                                 0x1p24,
                                 0x1p53};
enum { NCENTRES = sizeof centres / sizeof *centres, NWHOLE = 45, NTURNS = 40 };

static inline double stepped(bool wide, double x, int steps)
{
    double to = steps < 0 ? -INFINITY : INFINITY;
    for (int i = 0; i < (steps < 0 ? -steps : steps); i++)
        x = wide ? nextafter(x, to) : (double)nextafterf((float)x, (float)to);
    return x;
}

/* Beside c: the numbers next to it, and at distances that are powers of two. */
static inline int beside(bool wide, double c, double *out, int n, int most)
{
    int digits = wide ? 54 : 25;
    double size = c == 0 ? 1 : fabs(c);
    if (!wide)
        c = (double)(float)c;
    for (int k = -6; k <= 6 && n < most; k++)
        out[n++] = stepped(wide, c, k);
    for (int j = 1; j < digits && n + 2 <= most; j++) {
        out[n++] = c + ldexp(size, -j);
        out[n++] = c - ldexp(size, -j);
    }
    return n;
}

/* Fills out with at most `most` arguments; gives their number. */
static inline int special_ranges(bool wide, double *out, int most)
{
    int n = 0;
    for (int i = 0; i < NCENTRES; i++) {
        n = beside(wide, centres[i], out, n, most);
        n = beside(wide, -centres[i], out, n, most);
    }
    for (int i = 1; i < NWHOLE; i++) {
        n = beside(wide, -i, out, n, most);
        n = beside(wide, 0.5 - i, out, n, most);
    }
    for (int i = 1; i < NTURNS; i++)
        n = beside(wide, i * M_PI_2, out, n, most);
    for (int e = wide ? -1074 : -149; e <= (wide ? 1023 : 127) && n + 2 <= most; e++) {
        out[n++] = ldexp(1.1, e);
        out[n++] = -ldexp(1.7, e);
    }
    return n;
}
#endif
