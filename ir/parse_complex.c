/* parse_complex.c - CHLO's functions of complex numbers that the table has for floats only, written with those of the parts.
 * Inverse sines and cosines as Hull, Fairgrieve, Tang: Implementing the complex arcsine and arccosine functions using exception handling (ACM TOMS
 * 23, 1997), with its cases chosen by select; inverse tangents after Kahan: Branch cuts for complex elementary functions (1987). Nothing
 * overflows on the way, signs of zero choose the side of a branch cut. Threads: thread-compatible. */
#include "ir/parse_chlo.h"
#include <math.h>

typedef struct cx {
    lz_func *f;
    const lz_type *t; /* of the parts */
    lz_val x, y;
} cx;

/* ---- short hands ---- */

static lz_val num(const cx *c, double v)
{
    return lz_build_splat(c->f, c->t, v);
}
static lz_val op1(const cx *c, lz_op op, lz_val a)
{
    return lz_build_ew1(c->f, op, a);
}
static lz_val op2(const cx *c, lz_op op, lz_val a, lz_val b)
{
    return lz_build_ew2(c->f, op, a, b);
}
static lz_val add(const cx *c, lz_val a, lz_val b)
{
    return op2(c, LZ_OP_ADD, a, b);
}
static lz_val sub(const cx *c, lz_val a, lz_val b)
{
    return op2(c, LZ_OP_SUBTRACT, a, b);
}
static lz_val mul(const cx *c, lz_val a, lz_val b)
{
    return op2(c, LZ_OP_MULTIPLY, a, b);
}
static lz_val quo(const cx *c, lz_val a, lz_val b)
{
    return op2(c, LZ_OP_DIVIDE, a, b);
}
static lz_val root(const cx *c, lz_val a)
{
    return op1(c, LZ_OP_SQRT, a);
}
static lz_val half(const cx *c, lz_val a)
{
    return mul(c, a, num(c, 0.5));
}
static lz_val less(const cx *c, lz_val a, lz_val b)
{
    return lz_build_compare(c->f, LZ_CMP_LT, a, b);
}
static lz_val either(const cx *c, lz_val p, lz_val a, lz_val b)
{
    return lz_build_select(c->f, p, a, b);
}
/* the length of (a, b), which overflows only when it is too large itself */
static lz_val length(const cx *c, lz_val a, lz_val b)
{
    return op1(c, LZ_OP_ABS, op2(c, LZ_OP_COMPLEX, a, b));
}
/* a >= 0 with the sign of s, also that of -0 */
static lz_val with_sign(const cx *c, lz_val a, lz_val s)
{
    lz_val negative =
        op2(c, LZ_OP_OR, less(c, s, num(c, 0)), less(c, quo(c, num(c, 1), s), num(c, 0)));
    return either(c, negative, op1(c, LZ_OP_NEGATE, a), a);
}
/* Numbers whose squares neither overflow nor lose their digits lie between these. */
static lz_val large(const cx *c)
{
    return num(c, c->t->dtype == LZ_F64 ? 0x1p508 : 0x1p60);
}
static lz_val small(const cx *c)
{
    return num(c, c->t->dtype == LZ_F64 ? 0x1p-508 : 0x1p-60);
}

/* ---- sines and cosines ---- */

/* Of |x| and |y|: parts of the arc sine, and the real part of the arc cosine. */
typedef struct arcs {
    lz_val asin, acos, im;
} arcs;

static arcs arcs_of(const cx *c, lz_val x, lz_val y)
{
    lz_val one = num(c, 1), xp = add(c, x, one), xm = sub(c, x, one), yy = mul(c, y, y);
    lz_val r = length(c, xp, y), s = length(c, xm, y), a = half(c, add(c, r, s));
    lz_val rx = add(c, r, xp), inside = sub(c, s, xm), beyond = add(c, s, xm), ax = add(c, a, x);
    lz_val within = less(c, x, one), over = quo(c, yy, rx);
    /* what the real parts are the angle of */
    lz_val d = either(c, lz_build_compare(c->f, LZ_CMP_LE, x, one),
                      root(c, half(c, mul(c, ax, add(c, over, inside)))),
                      mul(c, y, root(c, half(c, add(c, quo(c, ax, rx), quo(c, ax, beyond))))));
    /* a - 1 and log(a + sqrt(a a - 1)) */
    lz_val am = half(c, add(c, over, either(c, within, quo(c, yy, inside), beyond)));
    lz_val near = op1(c, LZ_OP_LOG_PLUS_ONE, add(c, am, root(c, mul(c, am, add(c, a, one))))),
           far = op1(c, LZ_OP_LOG, add(c, a, root(c, sub(c, mul(c, a, a), one)))),
           flat = quo(c, y, root(c, mul(c, sub(c, one, x), xp)));
    lz_val im = either(c, less(c, a, num(c, 1.5)), near, far);
    im = either(c, op2(c, LZ_OP_AND, less(c, y, small(c)), within), flat, im);
    /* far away: log(2 |z|) */
    lz_val most = op2(c, LZ_OP_MAXIMUM, x, y), least = op2(c, LZ_OP_MINIMUM, x, y),
           away = less(c, large(c), most), q = quo(c, least, most);
    lz_val log = add(c, num(c, M_LN2), op1(c, LZ_OP_LOG, most));
    log = add(c, log, half(c, op1(c, LZ_OP_LOG_PLUS_ONE, mul(c, q, q))));
    d = either(c, away, y, d);
    return (arcs){op2(c, LZ_OP_ATAN2, x, d), op2(c, LZ_OP_ATAN2, d, x), either(c, away, log, im)};
}

/* The arc cosine's real part of x of either sign. */
static lz_val turned(const cx *c, const arcs *a)
{
    return either(c, less(c, c->x, num(c, 0)), sub(c, num(c, M_PI), a->acos), a->acos);
}

static lz_val size(const cx *c, lz_val v)
{
    return op1(c, LZ_OP_ABS, v);
}

static lz_val pair(const cx *c, lz_val re, lz_val im)
{
    return op2(c, LZ_OP_COMPLEX, re, im);
}

static lz_val asin_(const cx *c)
{
    arcs a = arcs_of(c, size(c, c->x), size(c, c->y));
    return pair(c, with_sign(c, a.asin, c->x), with_sign(c, a.im, c->y));
}

static lz_val acos_(const cx *c)
{
    arcs a = arcs_of(c, size(c, c->x), size(c, c->y));
    return pair(c, turned(c, &a), with_sign(c, a.im, op1(c, LZ_OP_NEGATE, c->y)));
}

static lz_val acosh_(const cx *c)
{
    arcs a = arcs_of(c, size(c, c->x), size(c, c->y));
    return pair(c, a.im, with_sign(c, turned(c, &a), c->y));
}

static lz_val asinh_(const cx *c)
{
    arcs a = arcs_of(c, size(c, c->y), size(c, c->x));
    return pair(c, with_sign(c, a.im, c->x), with_sign(c, a.asin, c->y));
}

/* ---- tangents ---- */

/* Of |x| and |y|: the parts of the inverse hyperbolic tangent. */
static void slope_of(const cx *c, lz_val x, lz_val y, lz_val *re, lz_val *im)
{
    lz_val one = num(c, 1), two = num(c, 2), rest = sub(c, one, x), yy = mul(c, y, y);
    lz_val den = add(c, mul(c, rest, rest), yy), four = mul(c, num(c, 4), x);
    lz_val u = mul(c, num(c, 0.25), op1(c, LZ_OP_LOG_PLUS_ONE, quo(c, four, den))),
           v = op2(c, LZ_OP_ATAN2, mul(c, two, y), sub(c, mul(c, rest, add(c, one, x)), yy));
    /* at the pole the squares of y vanish first */
    lz_val pole = lz_build_compare(c->f, LZ_CMP_EQ, x, one), minus = op1(c, LZ_OP_NEGATE, y);
    lz_val up = half(c, sub(c, op1(c, LZ_OP_LOG, length(c, two, y)), op1(c, LZ_OP_LOG, y))),
           vp = op2(c, LZ_OP_ATAN2, two, minus);
    /* far away it is 1 / z, and a right angle */
    lz_val l = length(c, x, y), away = less(c, large(c), op2(c, LZ_OP_MAXIMUM, x, y));
    lz_val ua = quo(c, quo(c, x, l), l);
    *re = either(c, away, ua, either(c, pole, up, u));
    *im = either(c, away, num(c, M_PI_2), half(c, either(c, pole, vp, v)));
}

static lz_val atanh_(const cx *c)
{
    lz_val re, im;
    slope_of(c, size(c, c->x), size(c, c->y), &re, &im);
    return pair(c, with_sign(c, re, c->x), with_sign(c, im, c->y));
}

static lz_val atan_(const cx *c)
{
    lz_val re, im;
    slope_of(c, size(c, c->y), size(c, c->x), &re, &im);
    return pair(c, with_sign(c, im, c->x), with_sign(c, re, c->y));
}

/* ---- hyperbolic functions: a part that is 0 stays 0, whatever the other one is ---- */

static lz_val zero_or(const cx *c, lz_val part, lz_val zero, lz_val v)
{
    return either(c, lz_build_compare(c->f, LZ_CMP_EQ, part, num(c, 0)), zero, v);
}

static lz_val sinh_(const cx *c)
{
    lz_val re = mul(c, op1(c, LZ_OP_SINH, c->x), op1(c, LZ_OP_COSINE, c->y)),
           im = mul(c, op1(c, LZ_OP_COSH, c->x), op1(c, LZ_OP_SINE, c->y));
    return pair(c, zero_or(c, c->x, c->x, re), zero_or(c, c->y, c->y, im));
}

static lz_val cosh_(const cx *c)
{
    lz_val re = mul(c, op1(c, LZ_OP_COSH, c->x), op1(c, LZ_OP_COSINE, c->y)),
           im = mul(c, op1(c, LZ_OP_SINH, c->x), op1(c, LZ_OP_SINE, c->y));
    return pair(c, re, zero_or(c, c->y, mul(c, c->y, op1(c, LZ_OP_SIGN, c->x)), im));
}

/* ---- which ---- */

static const struct {
    lz_op op;
    lz_val (*fn)(const cx *c);
} functions[] = {
    {LZ_OP_ACOS, acos_}, {LZ_OP_ACOSH, acosh_}, {LZ_OP_ASIN, asin_}, {LZ_OP_ASINH, asinh_},
    {LZ_OP_ATAN, atan_}, {LZ_OP_ATANH, atanh_}, {LZ_OP_COSH, cosh_}, {LZ_OP_SINH, sinh_},
};

bool lz_chlo_is_complex(const lz_scope *s, const lz_stmt *t)
{
    bool complex =
        t->opnd.len == 1 && lz_dtype_is_complex(lz_val_type(s->f, t->opnd.data[0])->dtype);
    for (size_t i = 0; complex && i < sizeof functions / sizeof *functions; i++)
        if (functions[i].op == t->op)
            return true;
    return false;
}

lz_status lz_chlo_complex(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    lz_val z = t->opnd.data[0], v = LZ_NOVAL;
    const lz_type *type = lz_val_type(s->f, z);
    cx c = {.f = s->f, .t = lz_type_get(lz_dtype_part(type->dtype), &type->shape)};
    if (!c.t)
        return lz_scan_wrap(&p->c, t->at);
    c.x = op1(&c, LZ_OP_REAL, z);
    c.y = op1(&c, LZ_OP_IMAG, z);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (functions[i].op == t->op)
            v = functions[i].fn(&c);
    return v == LZ_NOVAL ? lz_scan_wrap(&p->c, t->at) : lz_vec_push(&t->results, v);
}
