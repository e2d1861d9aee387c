/* hlo.c - loading and judging the programs of test/hlo. */
#include "support/hlo.h"
#include "base/text.h"
#include "ir/eval/eval_complex.h"
#include "support/lit.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char list[] = "test/hlo/cases.txt";

int lz_hlo_count(void)
{
    FILE *f = fopen(list, "r");
    int n = 0;
    for (int c; f && (c = fgetc(f)) != EOF;)
        n += c == '\n';
    if (f)
        fclose(f);
    return n;
}

static lz_status find_case(int index, lz_hlo_case *c)
{
    FILE *f = fopen(list, "r");
    int got = 0;
    char number[32] = "";
    for (int i = 0; f && i <= index; i++)
        got = fscanf(f, "%63s %31s", c->name, number);
    if (f)
        fclose(f);
    return got == 2 && lz_text_f64(number, strlen(number), &c->tol)
               ? LZ_OK
               : LZ_FAIL(LZ_ENOENT, "%s has no case %d", list, index);
}

/* The whole file, NUL-terminated; the caller frees it. */
static char *read_file(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    long size = -1;
    if (f && fseek(f, 0, SEEK_END) == 0)
        size = ftell(f);
    char *p = size >= 0 ? lz_calloc((size_t)size + 1, 1) : NULL;
    if (p && (fseek(f, 0, SEEK_SET) != 0 || fread(p, 1, (size_t)size, f) != (size_t)size)) {
        lz_free(p);
        p = NULL;
    }
    if (f)
        fclose(f);
    if (!p)
        (void)LZ_FAIL(LZ_ENOENT, "%s cannot be read", path);
    *n = p ? (size_t)size : 0;
    return p;
}

/* ---- npy ---- */

static const char *descr_of(lz_dtype d)
{
    static const char *const names[LZ_DTYPE_COUNT] = {
        [LZ_BOOL] = "|b1",  [LZ_I8] = "|i1",  [LZ_I16] = "<i2",   [LZ_I32] = "<i4",
        [LZ_I64] = "<i8",   [LZ_U8] = "|u1",  [LZ_U16] = "<u2",   [LZ_U32] = "<u4",
        [LZ_U64] = "<u8",   [LZ_F16] = "<f2", [LZ_BF16] = "<V2",  [LZ_F32] = "<f4",
        [LZ_F64] = "<f8",   [LZ_C64] = "<c8", [LZ_C128] = "<c16", [LZ_F8E4M3FN] = "|V1",
        [LZ_F8E5M2] = "|f1"};
    return names[d];
}

/* The header as NumPy writes it for this type. */
static void expected_header(const lz_type *t, char *s, size_t n)
{
    size_t k = (size_t)snprintf(s, n, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                                descr_of(t->dtype));
    for (int d = 0; d < t->shape.rank; d++)
        k += (size_t)snprintf(s + k, n - k, "%s%lld", d ? ", " : "", (long long)t->shape.dims[d]);
    snprintf(s + k, n - k, "%s), }", t->shape.rank == 1 ? "," : "");
}

lz_literal *lz_test_npy(const char *path, const lz_type *t)
{
    size_t n;
    char *p = read_file(path, &n), want[512];
    lz_literal *l = NULL;
    expected_header(t, want, sizeof want);
    size_t header = n >= 10 && memcmp(p, "\x93NUMPY\x01", 7) == 0
                        ? (size_t)(uint8_t)p[8] | (size_t)(uint8_t)p[9] << 8
                        : 0;
    if (p && header > 0 && n == 10 + header + t->nbytes && strncmp(p + 10, want, strlen(want)) == 0)
        l = lz_literal_copy_from(t, p + 10 + header);
    else if (p)
        (void)LZ_FAIL(LZ_EPARSE, "%s is not %s", path, want);
    lz_free(p);
    return l;
}

/* ---- cases ---- */

static lz_status load_func(lz_hlo_case *c)
{
    char path[128];
    size_t n;
    snprintf(path, sizeof path, "test/hlo/%s/prog.mlir", c->name);
    char *text = read_file(path, &n);
    if (!text)
        return LZ_ENOENT;
    lz_status s = lz_func_parse(text, n, path, &c->f);
    lz_free(text);
    return s;
}

static lz_status load_literals(const lz_hlo_case *c, const char *what, uint32_t n, lz_literal **out)
{
    for (uint32_t i = 0; i < n; i++) {
        char path[128];
        snprintf(path, sizeof path, "test/hlo/%s/%s%u.npy", c->name, what, i);
        out[i] = lz_test_npy(path, lz_val_type(c->f, *what == 'i' ? i : c->f->results[i]));
        if (!out[i])
            return lz_error_get()->status;
    }
    return LZ_OK;
}

lz_status lz_hlo_load(int index, lz_hlo_case *c)
{
    memset(c, 0, sizeof *c);
    LZ_TRY(find_case(index, c));
    LZ_TRY(load_func(c));
    c->args = lz_calloc(c->f->nparam, sizeof *c->args);
    c->want = lz_calloc(c->f->nresult, sizeof *c->want);
    lz_status s = c->args && c->want ? LZ_OK : LZ_EMEM;
    if (s == LZ_OK)
        s = load_literals(c, "in", c->f->nparam, c->args);
    if (s == LZ_OK)
        s = load_literals(c, "out", c->f->nresult, c->want);
    if (s != LZ_OK)
        lz_hlo_free(c);
    return s;
}

void lz_hlo_free(lz_hlo_case *c)
{
    for (uint32_t i = 0; c->args && i < c->f->nparam; i++)
        lz_literal_release(c->args[i]);
    for (uint32_t k = 0; c->want && k < c->f->nresult; k++)
        lz_literal_release(c->want[k]);
    lz_free(c->args);
    lz_free(c->want);
    lz_func_free(c->f);
    memset(c, 0, sizeof *c);
}

static bool near(double a, double b, double scale, double tol)
{
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= tol * (1 + scale);
}

/* Parts of complex numbers: to the size of the whole number. */
static bool near_at(const lz_literal *got, const lz_literal *want, int64_t i, double tol)
{
    lz_dtype d = want->type->dtype;
    if (!lz_dtype_is_complex(d)) {
        double a = lz_literal_get_f64(got, i), b = lz_literal_get_f64(want, i);
        return near(a, b, fabs(b), tol);
    }
    lz_cx a = lz_ref_load_c(d, got->data, i), b = lz_ref_load_c(d, want->data, i);
    double size = hypot((double)b.re, (double)b.im);
    return near((double)a.re, (double)b.re, size, tol) &&
           near((double)a.im, (double)b.im, size, tol);
}

static bool close_enough(const lz_literal *got, const lz_literal *want, double tol, char *msg,
                         size_t nmsg)
{
    lz_dtype d = want->type->dtype;
    if (tol == 0 || got->type != want->type || !(lz_dtype_is_float(d) || lz_dtype_is_complex(d)))
        return lz_test_same(got, want, 0, msg, nmsg);
    for (int64_t i = 0; i < want->type->nelem; i++)
        if (!near_at(got, want, i, tol)) {
            lz_test_print_diff(got, want, i, msg, nmsg);
            return false;
        }
    return true;
}

bool lz_hlo_met(const lz_hlo_case *c, lz_literal *const *got, char *msg, size_t nmsg)
{
    for (uint32_t k = 0; k < c->f->nresult; k++) {
        int n = snprintf(msg, nmsg, "%s, result %u: ", c->name, k);
        if (!got[k] || !close_enough(got[k], c->want[k], c->tol, msg + n, nmsg - (size_t)n))
            return false;
    }
    return true;
}
