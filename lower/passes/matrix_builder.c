/* matrix_builder.c - builders for loops over matrices. See matrix_builder.h. */
#include "lower/passes/matrix_builder.h"
#include "ir/attr.h"
#include <math.h>
#include <string.h>

enum { MOST = 12 };

lz_shape lz_mat_shape(const lz_mats *t, int64_t rows, int64_t cols)
{
    return (lz_shape){.rank = 3, .dims = {t->batch, rows, cols}};
}

lz_val lz_mat_index(const lz_mats *t, int64_t v)
{
    return lz_build_scalar_i64(t->f, LZ_I64, v);
}

lz_val lz_mat_add(const lz_mats *t, lz_val a, lz_val b)
{
    return lz_build_ew2(t->f, LZ_OP_ADD, a, b);
}

lz_val lz_mat_sub(const lz_mats *t, lz_val a, lz_val b)
{
    return lz_build_ew2(t->f, LZ_OP_SUBTRACT, a, b);
}

lz_val lz_mat_zeros(const lz_mats *t, int64_t rows, int64_t cols)
{
    lz_shape s = lz_mat_shape(t, rows, cols);
    return lz_build_splat(t->f, lz_type_get(t->d, &s), 0);
}

lz_val lz_mat_window(const lz_mats *t, lz_val x, lz_val row, lz_val col, int64_t rows, int64_t cols)
{
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_sizes);
    a.as_sizes.slice_sizes = lz_ints_make(3, (int64_t[]){t->batch, rows, cols});
    lz_val v[4] = {x, lz_mat_index(t, 0), row, col};
    return lz_build(t->f, LZ_OP_DYNAMIC_SLICE, &a.head, v, 4);
}

lz_val lz_mat_put(const lz_mats *t, lz_val x, lz_val y, lz_val row, lz_val col)
{
    lz_val v[5] = {x, y, lz_mat_index(t, 0), row, col};
    return lz_build(t->f, LZ_OP_DYNAMIC_UPDATE_SLICE, NULL, v, 5);
}

lz_val lz_mat_dot(const lz_mats *t, lz_val a, lz_val b, int ca, int cb)
{
    lz_attr_any r;
    lz_attr_init(&r, LZ_ATTR_dot);
    r.as_dot.lhs_batching_dimensions.n = r.as_dot.rhs_batching_dimensions.n = 1;
    r.as_dot.lhs_contracting_dimensions = lz_ints_make(1, (int64_t[]){ca});
    r.as_dot.rhs_contracting_dimensions = lz_ints_make(1, (int64_t[]){cb});
    r.as_dot.precision = LZ_PRECISION_HIGHEST;
    return lz_build(t->f, LZ_OP_DOT_GENERAL, &r.head, (lz_val[]){a, b}, 2);
}

lz_val lz_mat_transpose(const lz_mats *t, lz_val x)
{
    lz_ints p = lz_ints_make(3, (int64_t[]){0, 2, 1});
    return lz_build_transpose(t->f, x, &p);
}

lz_val lz_mat_conj(const lz_mats *t, lz_val x)
{
    if (!lz_dtype_is_complex(t->d))
        return x;
    lz_val im = lz_build_ew1(t->f, LZ_OP_NEGATE, lz_build_ew1(t->f, LZ_OP_IMAG, x));
    return lz_build_ew2(t->f, LZ_OP_COMPLEX, lz_build_ew1(t->f, LZ_OP_REAL, x), im);
}

lz_val lz_mat_real(const lz_mats *t, lz_val x)
{
    return lz_dtype_is_complex(t->d) ? lz_build_ew1(t->f, LZ_OP_REAL, x) : x;
}

lz_val lz_mat_complex(const lz_mats *t, lz_val x)
{
    return lz_build_convert(t->f, x, t->d);
}

lz_val lz_mat_over(const lz_mats *t, lz_val x, lz_val y)
{
    if (!lz_dtype_is_complex(t->d))
        return lz_build_ew2(t->f, LZ_OP_DIVIDE, x, y);
    lz_val re = lz_build_ew1(t->f, LZ_OP_REAL, x), im = lz_build_ew1(t->f, LZ_OP_IMAG, x);
    return lz_build_ew2(t->f, LZ_OP_COMPLEX, lz_build_ew2(t->f, LZ_OP_DIVIDE, re, y),
                        lz_build_ew2(t->f, LZ_OP_DIVIDE, im, y));
}

lz_val lz_mat_spread(const lz_mats *t, lz_val x, int64_t rows, int64_t cols)
{
    lz_shape line = lz_shape_make(1, &t->batch), s = lz_mat_shape(t, rows, cols);
    lz_ints dims = lz_ints_make(1, (int64_t[]){0});
    return lz_build_broadcast(t->f, lz_build_reshape(t->f, x, &line), &dims, &s);
}

/* Row or column numbers in the shape of a matrix, as i64. */
static lz_val numbers(const lz_mats *t, int dim, int64_t rows, int64_t cols)
{
    lz_shape s = lz_mat_shape(t, rows, cols);
    return lz_build_iota(t->f, lz_type_get(LZ_I64, &s), dim);
}

lz_val lz_mat_where(const lz_mats *t, int dim, lz_comparison_direction dir, lz_val at, int64_t rows,
                    int64_t cols)
{
    lz_shape s = lz_mat_shape(t, rows, cols);
    const lz_ints none = {0};
    return lz_build_compare(t->f, dir, numbers(t, dim, rows, cols),
                            lz_build_broadcast(t->f, at, &none, &s));
}

lz_val lz_mat_triangle(const lz_mats *t, lz_comparison_direction dir, int64_t rows, int64_t cols)
{
    return lz_build_compare(t->f, dir, numbers(t, 1, rows, cols), numbers(t, 2, rows, cols));
}

lz_val lz_mat_pad(const lz_mats *t, lz_val x, int64_t rows, int64_t cols, int64_t to_rows,
                  int64_t to_cols, int64_t ones)
{
    lz_attr_any a;
    if (rows == to_rows && cols == to_cols)
        return x;
    lz_attr_init(&a, LZ_ATTR_pad);
    a.as_pad.edge_padding_low = a.as_pad.interior_padding = lz_ints_make(3, (int64_t[]){0, 0, 0});
    a.as_pad.edge_padding_high = lz_ints_make(3, (int64_t[]){0, to_rows - rows, to_cols - cols});
    lz_val v[2] = {x, lz_build_scalar(t->f, t->d, 0)};
    x = lz_build(t->f, LZ_OP_PAD, &a.head, v, 2);
    if (ones < 0)
        return x;
    lz_shape s = lz_mat_shape(t, to_rows, to_cols);
    lz_val on =
        lz_build_ew2(t->f, LZ_OP_AND, lz_mat_triangle(t, LZ_CMP_EQ, to_rows, to_cols),
                     lz_mat_where(t, 1, LZ_CMP_GE, lz_mat_index(t, ones), to_rows, to_cols));
    return lz_build_select(t->f, on, lz_build_splat(t->f, lz_type_get(t->d, &s), 1), x);
}

lz_val lz_mat_repeat(const lz_mats *t, lz_val x, int64_t rows, int64_t cols)
{
    lz_shape s = lz_mat_shape(t, rows, cols);
    lz_ints dims = lz_ints_make(3, (int64_t[]){0, 1, 2});
    return lz_build_broadcast(t->f, x, &dims, &s);
}

/* The value that changes nothing. */
static lz_val neutral(const lz_mats *t, lz_op op, lz_dtype d)
{
    return lz_build_scalar(t->f, d, op == LZ_OP_MAXIMUM ? -INFINITY : 0);
}

lz_val lz_mat_reduce(const lz_mats *t, lz_op op, lz_val x, int dim, int64_t n)
{
    lz_ints dims = lz_ints_make(1, (int64_t[]){dim});
    lz_shape s = lz_mat_shape(t, dim == 1 ? 1 : n, dim == 1 ? n : 1);
    if (x == LZ_NOVAL)
        return x;
    lz_val init = neutral(t, op, lz_val_type(t->f, x)->dtype);
    return lz_build_reshape(t->f, lz_build_reduce(t->f, op, x, init, &dims), &s);
}

lz_val lz_mat_abs(const lz_mats *t, lz_val x)
{
    return lz_build_ew1(t->f, LZ_OP_ABS, x);
}

lz_val lz_mat_rows(const lz_mats *t, lz_val x, lz_val index, int64_t rows, int64_t cols)
{
    lz_attr_any a;
    (void)rows;
    lz_attr_init(&a, LZ_ATTR_gather);
    a.as_gather.offset_dims = lz_ints_make(1, (int64_t[]){2});
    a.as_gather.collapsed_slice_dims = lz_ints_make(1, (int64_t[]){1});
    a.as_gather.operand_batching_dims = lz_ints_make(1, (int64_t[]){0});
    a.as_gather.start_indices_batching_dims = lz_ints_make(1, (int64_t[]){0});
    a.as_gather.start_index_map = lz_ints_make(1, (int64_t[]){1});
    a.as_gather.index_vector_dim = 2;
    a.as_gather.slice_sizes = lz_ints_make(3, (int64_t[]){1, 1, cols});
    return lz_build(t->f, LZ_OP_GATHER, &a.head, (lz_val[]){x, index}, 2);
}

lz_val lz_mat_number(const lz_mats *t, double v, int64_t rows, int64_t cols)
{
    lz_shape s = lz_mat_shape(t, rows, cols);
    return lz_build_splat(t->f, lz_type_get(lz_dtype_part(t->d), &s), v);
}

lz_val lz_mat_eye(const lz_mats *t, int64_t rows, int64_t cols)
{
    return lz_build_convert(t->f, lz_mat_triangle(t, LZ_CMP_EQ, rows, cols), t->d);
}

lz_val lz_mat_corner(const lz_mats *t, lz_val x, int64_t rows, int64_t cols)
{
    lz_val zero = lz_mat_index(t, 0);
    return lz_mat_window(t, x, zero, zero, rows, cols);
}

/* ---- loops ---- */

/* v[1] says whether there is another round. */
enum { UNTIL = 1 };

static const lz_func *region(const lz_mats *t, const lz_val *v, uint32_t n, int64_t trip_count,
                             uint32_t ncarried, lz_mat_round *round, void *user, int flags)
{
    const lz_func *out = NULL;
    lz_func *f = lz_func_new(round ? "body" : "cond");
    lz_val p[MOST + 1], r[MOST + 1];
    lz_mats in = {f, t->d, t->batch};
    if (!f)
        return NULL;
    for (uint32_t i = 0; i < n; i++)
        p[i] = lz_build_param(f, lz_val_type(t->f, v[i]));
    if (round) {
        r[0] = lz_mat_add(&in, p[0], lz_mat_index(&in, 1));
        round(&in, p[0], p + 1, r + 1, user);
    } else {
        r[0] = lz_build_compare(f, LZ_CMP_LT, p[0], lz_mat_index(&in, trip_count));
        if (flags & UNTIL)
            r[0] = lz_build_ew2(f, LZ_OP_AND, r[0], p[1]);
    }
    if (lz_func_set_results(f, r, round ? ncarried + 1 : 1) == LZ_OK)
        out = lz_region_intern(f);
    lz_func_free(f);
    return out;
}

static void lost(const lz_mats *t, lz_val *v, uint32_t n)
{
    if (t->f->status == LZ_OK)
        t->f->status = lz_error_get()->status;
    for (uint32_t i = 0; i < n; i++)
        v[i] = LZ_NOVAL;
}

static void loop(const lz_mats *t, int64_t n, lz_val *v, uint32_t ncarried, uint32_t others,
                 lz_mat_round *round, void *user, int flags)
{
    lz_val all[MOST + 1];
    uint32_t count = 1 + ncarried + others;
    all[0] = lz_mat_index(t, 0);
    memcpy(all + 1, v, (ncarried + others) * sizeof *v);
    for (uint32_t i = 0; i < count; i++)
        if (all[i] == LZ_NOVAL) {
            lost(t, v, ncarried);
            return;
        }
    const lz_func *cond = region(t, all, count, n, ncarried, NULL, NULL, flags);
    const lz_func *body = cond ? region(t, all, count, n, ncarried, round, user, flags) : NULL;
    lz_val w = body ? lz_build_while(t->f, cond, body, all, count) : LZ_NOVAL;
    if (w == LZ_NOVAL) {
        lost(t, v, ncarried);
        return;
    }
    for (uint32_t i = 0; i < ncarried; i++)
        v[i] = lz_build_result(t->f, w, i + 1);
}

void lz_mat_loop(const lz_mats *t, int64_t n, lz_val *v, uint32_t ncarried, uint32_t others,
                 lz_mat_round *round, void *user)
{
    lz_val next[MOST];
    if (n != 1) {
        loop(t, n, v, ncarried, others, round, user, 0);
        return;
    }
    round(t, lz_mat_index(t, 0), v, next, user);
    memcpy(v, next, ncarried * sizeof *v);
}

void lz_mat_loop_while(const lz_mats *t, int64_t n, lz_val *v, uint32_t ncarried, uint32_t others,
                       lz_mat_round *round, void *user)
{
    loop(t, n, v, ncarried, others, round, user, UNTIL);
}
