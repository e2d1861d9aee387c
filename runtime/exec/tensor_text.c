/* tensor_text.c - a tensor as text in NumPy's layout: the shortest digits that give the element
 * back, at most 8 after the point, columns aligned; above 1,000 elements three at each edge of
 * every dimension; lines of 75 characters. Source: numpy/_core/arrayprint.py of NumPy 2. */
#include "runtime/exec/tensor_text.h"
#include "runtime/exec/sync.h"
#include "base/text.h"
#include "ir/module.h"
#include "ir/sharding/sharding.h"
#include "runtime/graph/handle.h"
#include "runtime/graph/node.h"
#include <inttypes.h>
#include <lazuli/debug.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRECISION = 8, THRESHOLD = 1000, EDGE = 3, LINE_WIDTH = 75, WORD = 64 };

/* How the floats of one column are written. */
typedef struct float_form {
    bool exponents, some;   /* scientific; there is a finite number */
    int left, right;        /* characters before and after the point, or of fraction and e+00 */
    int fraction, exponent; /* scientific: digits of the fraction, of the exponent */
    bool odd, minus;        /* there is NaN or an infinity; -inf */
    double most, least;     /* of the finite magnitudes that are not 0 */
} float_form;

typedef struct array {
    const lz_type *type;
    const unsigned char *data;
    bool all;           /* nothing is left out */
    int indent;         /* blanks before the lines after the first, and one for each dimension */
    int ints;           /* characters of the longest integer or boolean */
    float_form part[2]; /* of the real, or only, and the imaginary parts */
} array;

/* ---- one number ---- */

static double rounded(lz_dtype d, double v)
{
    unsigned char p[16];
    lz_elem_set_f64(d, p, 0, v);
    return lz_elem_get_f64(d, p, 0);
}

static int number(const char *exponent)
{
    int64_t x = 0;
    (void)lz_text_i64(exponent, strlen(exponent), -400, 400, &x);
    return (int)x;
}

/* The fewest digits after the first that give v back; *w: what they say; *power of ten. */
static int shortest(lz_dtype d, double v, double *w, int *power)
{
    char s[WORD];
    for (int p = 0;; p++) {
        int n = lz_snprintf(s, sizeof s, "%.*e", p, v);
        *power = number(strchr(s, 'e') + 1);
        if (p == 17 || (lz_text_f64(s, (size_t)n, w) && rounded(d, *w) == v))
            return p;
    }
}

static void positional(lz_dtype d, double v, char s[WORD])
{
    double w;
    int power, digits = shortest(d, v, &w, &power), fraction = digits - power;
    int n = fraction <= PRECISION ? lz_snprintf(s, WORD, "%.*f", fraction > 0 ? fraction : 0, w)
                                  : lz_snprintf(s, WORD, "%.*f", PRECISION, v);
    if (!strchr(s, '.'))
        s[n++] = '.';
    while (n > 0 && s[n - 1] == '0')
        n--;
    s[n] = '\0';
}

/* Mantissa and exponent. */
static void scientific(lz_dtype d, double v, char s[WORD], char e[8])
{
    double w;
    int power, digits = shortest(d, v, &w, &power);
    lz_snprintf(s, WORD, "%.*e", digits < PRECISION ? digits : PRECISION, v);
    char *at = strchr(s, 'e');
    lz_snprintf(e, 8, "%s", at + 1);
    *at = '\0';
    if (!strchr(s, '.'))
        lz_snprintf(at, 2, ".");
    size_t n = strlen(s);
    while (n && s[n - 1] == '0')
        s[--n] = '\0';
}

/* ---- the form of a column ---- */

static void widen(int *most, size_t n)
{
    if ((int)n > *most)
        *most = (int)n;
}

static void note_range(float_form *f, double v)
{
    double m = fabs(v);
    if (!isfinite(v)) {
        f->odd = true;
        f->minus |= v < 0;
        return;
    }
    f->some = true;
    if (m > f->most)
        f->most = m;
    if (m != 0 && (f->least == 0 || m < f->least))
        f->least = m;
}

static void note_width(float_form *f, lz_dtype d, double v)
{
    char s[WORD], e[8];
    if (!isfinite(v))
        return;
    if (f->exponents) {
        scientific(d, v, s, e);
        widen(&f->exponent, strlen(e) - 1);
        widen(&f->fraction, strlen(strchr(s, '.')) - 1);
    } else {
        positional(d, v, s);
        widen(&f->right, strlen(strchr(s, '.')) - 1);
    }
    widen(&f->left, (size_t)(strchr(s, '.') - s));
}

static void finish_widths(float_form *f)
{
    if (f->exponents)
        f->right = f->fraction + f->exponent + 2;
    int odd = (f->minus ? 4 : 3) - (f->right + 1); /* "-inf", or "nan" and "inf" */
    if (f->odd && odd > f->left)
        f->left = odd;
}

static void write_float(const float_form *f, lz_dtype d, double v, bool sign, char out[2 * WORD])
{
    char s[WORD], e[8] = "";
    bool plus = sign && !signbit(v);
    int width = f->left + f->right + 1 + (sign ? 1 : 0);
    if (!isfinite(v)) {
        lz_snprintf(s, sizeof s, "%s%s", plus ? "+" : v < 0 ? "-" : "", isnan(v) ? "nan" : "inf");
        lz_snprintf(out, 2 * WORD, "%*s", sign ? 0 : width, s);
        return;
    }
    if (f->exponents)
        scientific(d, v, s, e);
    else
        positional(d, v, s);
    int left = (int)(strchr(s, '.') - s), right = (int)strlen(s) - left - 1, pad;
    pad = sign ? 0 : f->left - left;
    int n = lz_snprintf(out, 2 * WORD, "%*s%s%s", pad > 0 ? pad : 0, "", plus ? "+" : "", s);
    if (!f->exponents) {
        lz_snprintf(out + n, (size_t)(2 * WORD - n), "%*s", f->right - right, "");
        return;
    }
    while (right++ < f->fraction)
        out[n++] = '0';
    lz_snprintf(out + n, (size_t)(2 * WORD - n), "e%c%0*d", e[0], f->exponent, abs(number(e)));
}

/* ---- one element ---- */

static bool is_complex(const array *a)
{
    return lz_dtype_is_complex(a->type->dtype);
}

static double part_of(const array *a, int64_t i, int part)
{
    return is_complex(a) ? lz_elem_get_f64(lz_dtype_part(a->type->dtype), a->data, 2 * i + part)
                         : lz_elem_get_f64(a->type->dtype, a->data, i);
}

static void integer(const array *a, int64_t i, char s[WORD])
{
    int64_t v = lz_elem_get_i64(a->type->dtype, a->data, i);
    if (a->type->dtype == LZ_BOOL)
        lz_snprintf(s, WORD, "%s", v ? "True" : "False");
    else if (a->type->dtype == LZ_U64)
        lz_snprintf(s, WORD, "%" PRIu64, (uint64_t)v);
    else
        lz_snprintf(s, WORD, "%" PRId64, v);
}

static bool is_float(const array *a)
{
    lz_dtype d = a->type->dtype;
    return is_complex(a) || lz_dtype_is_float(d) || lz_dtype_is_storage(d);
}

static void element(const array *a, int64_t i, char out[5 * WORD])
{
    char s[WORD], im[2 * WORD];
    if (!is_float(a)) {
        integer(a, i, s);
        lz_snprintf(out, 5 * WORD, "%*s", a->ints, s);
        return;
    }
    write_float(&a->part[0], lz_dtype_part(a->type->dtype), part_of(a, i, 0), false, out);
    if (!is_complex(a))
        return;
    write_float(&a->part[1], lz_dtype_part(a->type->dtype), part_of(a, i, 1), true, im);
    size_t n = strlen(im), len = n;
    while (n && im[n - 1] == ' ')
        n--;
    lz_snprintf(out + strlen(out), 3 * WORD, "%.*sj%*s", (int)n, im, (int)(len - n), "");
}

/* ---- the elements that are shown ---- */

typedef void visit_fn(array *a, int64_t i, int pass);

static void measure(array *a, int64_t i, int pass)
{
    char s[WORD];
    if (!is_float(a)) {
        integer(a, i, s);
        widen(&a->ints, strlen(s));
        return;
    }
    for (int k = 0; k <= is_complex(a); k++)
        if (pass == 0)
            note_range(&a->part[k], part_of(a, i, k));
        else
            note_width(&a->part[k], lz_dtype_part(a->type->dtype), part_of(a, i, k));
}

/* Index along a dimension of the k-th that is shown; -1: the gap. *n: how many, the gap included.
 */
static int64_t shown(const array *a, int64_t extent, int64_t k, int64_t *n)
{
    bool cut = !a->all && extent > 2 * EDGE;
    *n = cut ? 2 * EDGE + 1 : extent;
    if (!cut || k < EDGE)
        return k;
    return k == EDGE ? -1 : extent - (2 * EDGE + 1 - k);
}

/* As deep as a tensor has dimensions. */
static void visit(array *a, int axis, int64_t base, int pass)
{
    const lz_shape *s = &a->type->shape;
    if (axis == s->rank) {
        measure(a, base, pass);
        return;
    }
    int64_t n;
    (void)shown(a, s->dims[axis], 0, &n);
    for (int64_t k = 0; k < n; k++) {
        int64_t i = shown(a, s->dims[axis], k, &n);
        if (i >= 0)
            visit(a, axis + 1, base * s->dims[axis] + i, pass);
    }
}

static void choose_forms(array *a)
{
    visit(a, 0, 0, 0);
    if (!is_float(a))
        return;
    for (int k = 0; k < 2; k++) {
        float_form *f = &a->part[k];
        f->exponents =
            f->least != 0 && (f->most >= 1e8 || f->least < 1e-4 || f->most / f->least > 1000);
    }
    visit(a, 0, 0, 1);
    for (int k = 0; k < 2; k++)
        finish_widths(&a->part[k]);
}

/* ---- rows ---- */

static void newline(lz_buf *out, int lines, int indent)
{
    while (out->len && out->data[out->len - 1] == ' ')
        out->len--;
    for (int i = 0; i < lines; i++)
        lz_buf_putc(out, '\n');
    for (int i = 0; i < indent; i++)
        lz_buf_putc(out, ' ');
}

static void row(const array *a, int64_t base, int64_t extent, lz_buf *out)
{
    char word[5 * WORD];
    int rank = a->type->shape.rank, indent = a->indent + rank, column = indent;
    int64_t n;
    (void)shown(a, extent, 0, &n);
    for (int64_t k = 0; k < n; k++) {
        int64_t i = shown(a, extent, k, &n);
        if (i < 0)
            lz_snprintf(word, sizeof word, "...");
        else
            element(a, base * extent + i, word);
        if (column + (int)strlen(word) > LINE_WIDTH - rank - 1 && column > indent) {
            newline(out, 1, indent);
            column = indent;
        }
        lz_buf_printf(out, "%s%s", word, k + 1 < n ? ", " : "");
        column += (int)strlen(word) + 2;
    }
}

static void rows(const array *a, int axis, int64_t base, lz_buf *out)
{
    const lz_shape *s = &a->type->shape;
    char word[5 * WORD];
    if (axis == s->rank) {
        element(a, base, word);
        lz_buf_puts(out, word);
        return;
    }
    int64_t n, extent = s->dims[axis];
    (void)shown(a, extent, 0, &n);
    lz_buf_putc(out, '[');
    if (axis == s->rank - 1)
        row(a, base, extent, out);
    for (int64_t k = 0; axis < s->rank - 1 && k < n; k++) {
        int64_t i = shown(a, extent, k, &n);
        if (i < 0)
            lz_buf_puts(out, "...");
        else
            rows(a, axis + 1, base * extent + i, out);
        if (k + 1 < n) {
            lz_buf_putc(out, ',');
            newline(out, s->rank - 1 - axis, a->indent + axis + 1);
        }
    }
    lz_buf_putc(out, ']');
}

/* ---- tensors ---- */

static void about(const lz_type *type, const char *device, lz_buf *out)
{
    lz_buf_printf(out, "dtype=%s, shape=[", lz_dtype_name(type->dtype));
    for (int d = 0; d < type->shape.rank; d++)
        lz_buf_printf(out, "%s%" PRId64, d ? ", " : "", type->shape.dims[d]);
    lz_buf_printf(out, "], device=%s", device);
}

/* Where a mesh has it, as lz_get_sharding says it. */
static void about_place(lz_tensor *t, lz_buf *out)
{
    const char *text = lz_mark_of(t);
    const lz_sharding *s = text ? lz_sharding_parse(text) : NULL;
    if (!s)
        return;
    lz_buf_puts(out, ", sharding=");
    lz_sharding_print_hlo(out, s);
}

void lz_array_text(const lz_type *type, const void *data, int indent, lz_buf *out)
{
    array a = {.type = type, .data = data, .all = type->nelem <= THRESHOLD, .indent = indent};
    if (!type->nelem) {
        lz_buf_puts(out, "[]");
        return;
    }
    choose_forms(&a);
    rows(&a, 0, 0, out);
}

static lz_status values(lz_node *n, lz_buf *out)
{
    const lz_type *type = lz_node_type(n);
    unsigned char *data = lz_alloc(type->nbytes + 1);
    if (!data)
        return LZ_FAIL(LZ_EMEM, "no memory for %zu bytes", type->nbytes);
    lz_status s = lz_read_node(n, data, LZ_CAUSE_READ);
    if (s == LZ_OK) {
        lz_array_text(type, data, (int)strlen("tensor("), out);
        lz_buf_puts(out, ", ");
    }
    lz_free(data);
    return s;
}

static lz_status tensor_text(lz_tensor *t, lz_buf *out)
{
    char text[LZ_ERROR_TEXT];
    lz_node *n = lz_trace_node_of(t);
    lz_buf_puts(out, "tensor(");
    lz_status s = n ? LZ_OK : lz_error_get()->status;
    if (n) {
        bool pending = !lz_node_is_value(n);
        const lz_site *at = n->site;
        s = values(n, out);
        about(lz_node_type(n), n->dev ? n->dev->name : "host", out);
        about_place(t, out);
        if (pending && s == LZ_OK)
            lz_buf_printf(out, ", computed now: it was pending since %s:%d",
                          at && at->file ? at->file : "?", at ? at->line : 0);
        if (s != LZ_OK)
            lz_buf_puts(out, ", ");
    }
    if (lz_api_status(s) != LZ_OK)
        lz_buf_printf(out, "%s%s",
                      n ? "no value: " : "error: ", lz_error_text(lz_error_get(), text));
    lz_buf_putc(out, ')');
    lz_node_release(n);
    return s;
}

size_t lz_to_string_at(lz_tensor *t, char *buf, size_t n, const lz_site *site)
{
    LZ_PUBLIC_AT(0);
    lz_buf out = {0};
    lz_api_frame f = lz_api_enter("lz_to_string", site);
    lz_status s = tensor_text(t, &out);
    size_t len = lz_api_text(&out, buf, n);
    (void)lz_api_leave_read(&f, s);
    return len;
}

lz_status lz_print_at(lz_tensor *t, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_buf out = {0};
    lz_api_frame f = lz_api_enter("lz_print", site);
    lz_status s = tensor_text(t, &out);
    lz_buf_putc(&out, '\n');
    (void)fputs(lz_buf_str(&out), stdout);
    lz_buf_free(&out);
    return lz_api_leave_read(&f, s);
}
