/* number.c - see number.h. A float is written with 6 digits when they are enough to read the same
 * bits back, else with as many as its format ever needs, else (inf, NaN, and where no decimal point
 * would be left) as the hexadecimal bits: MLIR's rule. */
#include "ir/text/number.h"
#include "base/text.h"
#include <inttypes.h>
#include <string.h>

/* ---- floats ---- */

static uint64_t bits_of(lz_dtype d, const void *p, int64_t i)
{
    uint64_t u = 0;
    size_t n = lz_dtype_size(d);
    memcpy(&u, (const char *)p + (size_t)i * n, n);
    return u;
}

/* f32 is read as f32: by way of double it would round twice. False: no number. */
static bool store_decimal(lz_dtype d, const char *s, size_t n, void *p, int64_t i)
{
    float f;
    double v;
    if (d == LZ_F32 ? !lz_text_f32(s, n, &f) : !lz_text_f64(s, n, &v))
        return false;
    if (d == LZ_F32)
        memcpy((char *)p + (size_t)i * sizeof f, &f, sizeof f);
    else
        lz_elem_set_f64(d, p, i, v);
    return true;
}

static bool reads_back(lz_dtype d, const char *s, uint64_t bits)
{
    uint64_t u = 0;
    return store_decimal(d, s, strlen(s), &u, 0) && u == bits;
}

/* d.ddddd0e+xx: six digits and one zero. */
static bool print_short(char *out, size_t n, lz_dtype d, double v, uint64_t bits)
{
    char s[32];
    lz_snprintf(s, sizeof s, "%.5e", v);
    const char *e = strchr(s, 'e');
    if (!e || !reads_back(d, s, bits))
        return false;
    lz_snprintf(out, n, "%.*s0%s", (int)(e - s), s, e);
    return true;
}

/* All digits that the format may need, without zeros at the end. Positional when at most 3 zeros
 * pad it, but then there must be a decimal point: without one it would be read as an integer. */
static bool print_long(char *out, size_t n, lz_dtype d, double v, uint64_t bits)
{
    int precision = d == LZ_F64 ? 17 : d == LZ_F32 ? 9 : d == LZ_F16 ? 5 : d == LZ_BF16 ? 4 : 3;
    char s[40], digits[24];
    lz_snprintf(s, sizeof s, "%.*e", precision - 1, v);
    int64_t power = 0;
    const char *e = strchr(s, 'e') + 1;
    (void)lz_text_i64(e, strlen(e), -999, 999, &power);
    int nd = 0, exp10 = (int)power;
    for (const char *p = s; *p != 'e'; p++)
        if (*p >= '0' && *p <= '9')
            digits[nd++] = *p;
    while (nd > 1 && digits[nd - 1] == '0')
        nd--;
    const char *sign = s[0] == '-' ? "-" : "";
    int last = exp10 - (nd - 1); /* power of the last digit */
    bool scientific = last >= 0 ? last > 3 || exp10 + 1 > precision : exp10 < -3;
    if (scientific)
        lz_snprintf(out, n, "%s%.1s.%.*sE%+d", sign, digits, nd > 1 ? nd - 1 : 1,
                    nd > 1 ? digits + 1 : "0", exp10);
    else if (last >= 0)
        return false;
    else if (exp10 >= 0)
        lz_snprintf(out, n, "%s%.*s.%.*s", sign, exp10 + 1, digits, nd - exp10 - 1,
                    digits + exp10 + 1);
    else
        lz_snprintf(out, n, "%s0.%.*s%.*s", sign, -exp10 - 1, "000", nd, digits);
    return reads_back(d, out, bits);
}

static void print_float(lz_buf *b, lz_dtype d, const void *p, int64_t i)
{
    double v = lz_elem_get_f64(d, p, i);
    uint64_t bits = bits_of(d, p, i);
    char s[64];
    if (v - v == 0 && (print_short(s, sizeof s, d, v, bits) || print_long(s, sizeof s, d, v, bits)))
        lz_buf_puts(b, s);
    else
        lz_buf_printf(b, "0x%0*" PRIX64, (int)lz_dtype_size(d) * 2, bits);
}

void lz_number_print(lz_buf *b, lz_dtype d, const void *p, int64_t i)
{
    if (d == LZ_BOOL) {
        lz_buf_puts(b, ((const uint8_t *)p)[i] ? "true" : "false");
    } else if (lz_dtype_is_float(d) || lz_dtype_is_storage(d)) {
        print_float(b, d, p, i);
    } else if (lz_dtype_is_complex(d)) {
        lz_buf_putc(b, '(');
        print_float(b, lz_dtype_part(d), p, 2 * i);
        lz_buf_putc(b, ',');
        print_float(b, lz_dtype_part(d), p, 2 * i + 1);
        lz_buf_putc(b, ')');
    } else if (lz_dtype_is_unsigned(d)) {
        lz_buf_printf(b, "%" PRIu64, (uint64_t)lz_elem_get_i64(d, p, i));
    } else {
        lz_buf_printf(b, "%" PRId64, lz_elem_get_i64(d, p, i));
    }
}

/* ---- reading ---- */

static bool read_u64(const char *s, size_t n, unsigned base, uint64_t *out)
{
    return lz_text_u64(s, n, base, UINT64_MAX, out) == LZ_OK;
}

static bool is_hex(const char *s, size_t n)
{
    return n > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
}

static bool parse_float(lz_dtype d, const char *s, size_t n, bool neg, void *p, int64_t i)
{
    uint64_t u;
    size_t size = lz_dtype_size(d);
    if (is_hex(s, n)) { /* the bits themselves */
        if (neg || !read_u64(s + 2, n - 2, 16, &u) || (size < 8 && u >> (8 * size)))
            return false;
        memcpy((char *)p + (size_t)i * size, &u, size);
        return true;
    }
    char text[LZ_TEXT_FLOAT];
    if (n == 0 || n + 2 > sizeof text || !lz_is_digit(s[0]))
        return false;
    text[0] = neg ? '-' : '+';
    memcpy(text + 1, s, n);
    text[n + 1] = '\0';
    return strspn(text + 1, "0123456789.eE+-") == n && store_decimal(d, text, n + 1, p, i);
}

static bool parse_int(lz_dtype d, const char *s, size_t n, bool neg, void *p, int64_t i)
{
    uint64_t u;
    unsigned width = (unsigned)lz_dtype_bits(d);
    bool hex = is_hex(s, n);
    if (!(hex ? read_u64(s + 2, n - 2, 16, &u) : read_u64(s, n, 10, &u)))
        return false;
    /* MLIR's iN have no sign: 255 is the i8 -1 */
    uint64_t most = neg && !hex && lz_dtype_is_signed(d) ? (uint64_t)1 << (width - 1)
                                                         : UINT64_MAX >> (64 - width);
    if (u > most || (neg && u && lz_dtype_is_unsigned(d)))
        return false;
    lz_elem_set_i64(d, p, i, (int64_t)(neg ? 0 - u : u));
    return true;
}

bool lz_number_parse(lz_dtype d, const char *s, size_t n, bool neg, int part, void *p, int64_t i)
{
    if (lz_dtype_is_complex(d))
        return parse_float(lz_dtype_part(d), s, n, neg, p, 2 * i + part);
    if (lz_dtype_is_float(d) || lz_dtype_is_storage(d))
        return parse_float(d, s, n, neg, p, i);
    if (d != LZ_BOOL)
        return parse_int(d, s, n, neg, p, i);
    bool yes = (n == 4 && memcmp(s, "true", 4) == 0) || (n == 1 && s[0] == '1');
    bool no = (n == 5 && memcmp(s, "false", 5) == 0) || (n == 1 && s[0] == '0');
    if ((!yes && !no) || (neg && s[0] != '1'))
        return false;
    ((uint8_t *)p)[i] = yes;
    return true;
}
