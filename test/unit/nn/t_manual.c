/* t_manual.c - bodies that every device runs on its parts: what the collectives in them give, their
 * gradients against central differences, and errors. */
#include "../runtime/rt.h"

enum { ROWS = 8, COLUMNS = 8, N = ROWS * COLUMNS, DEVICES = 8 };

static lz_mesh *use(void)
{
    rt_use("CPU");
    setenv("CPU_NUM_DEVICES", "8", 1);
    setenv("XLA_USE_SPMD", "1", 1);
    lz_mesh *m = lz_mesh_new(NULL, (const int64_t[]){2, 4}, (const char *const[]){"a", "b"}, 2);
    ck_assert_msg(m != NULL, "%s", lz_last_error_text());
    return m;
}

/* ---- collectives: of x[8, 8], its rows cut along a and its columns along b, or only one of them
 * ----
 */

/* What the body makes of its part, [4, 2] on the device (i, j). */
static lz_tensor *op_of(int op, lz_tensor *x)
{
    static const int64_t around[] = {0, 1, 1, 2, 2, 3, 3, 0}, some[] = {0, 2, 3, 1};
    switch (op) {
    case 0:
        return lz_axis_all_reduce("sum", x, "b");
    case 1:
        return lz_axis_all_gather(x, 1, "b");
    case 2:
        return lz_axis_reduce_scatter("sum", x, 0, "b");
    case 3:
        return lz_axis_all_to_all(x, 0, 1, "b");
    case 4:
        return lz_axis_permute(x, "b", around, 4);
    case 5:
        return lz_axis_permute(x, "b", some, 2);
    case 6:
        return lz_axis_broadcast(x, "b", 2);
    case 7:
        return lz_axis_all_reduce("max", x, "b");
    case 8:
        return lz_axis_all_reduce("sum", x, "a,b");
    case 9:
        return lz_axis_all_gather(x, 0, "b,a");
    case 10:
        return lz_axis_all_reduce("mul", x, "a");
    case 11:
        return lz_axis_reduce_scatter("min", x, 0, "b");
    default:
        return lz_mul(x, lz_to(lz_axis_index("a,b"), lz_dtype_of(x)));
    }
}
enum { OPS = 13, MIN_SCATTER = 11, GATHER = 1, SCATTER = 2, TO_ALL = 3, MAX = 7, GATHER_ALL = 9 };

/* The same on the host: y of all devices, of the device's shape. */
typedef struct part {
    int rows, columns;
    float v[ROWS][4 * COLUMNS];
} part;

static float at(const float *x, int i, int j, int r, int c)
{
    return x[(4 * i + r) * COLUMNS + 2 * j + c];
}

static part truth(int op, const float *x, int i, int j)
{
    part p = {.rows = 4, .columns = 2};
    static const int from[] = {-1, 3, 0, -1};
    if (op == GATHER)
        p.columns = 8;
    if (op == SCATTER || op == MIN_SCATTER)
        p.rows = 1;
    if (op == TO_ALL)
        p = (part){.rows = 1, .columns = 8};
    if (op == GATHER_ALL)
        p.rows = 32;
    p.rows = p.rows > ROWS ? ROWS : p.rows;
    for (int r = 0; r < p.rows; r++)
        for (int c = 0; c < p.columns; c++) {
            float *y = &p.v[r][c];
            *y = op == MAX ? -INFINITY : op == MIN_SCATTER ? INFINITY : 0;
            for (int k = 0; k < 4; k++) {
                *y += op == 0 ? at(x, i, k, r, c) : op == SCATTER ? at(x, i, k, j, c) : 0;
                *y += op == 8 ? at(x, 0, k, r, c) + at(x, 1, k, r, c) : 0;
                *y = op == MAX           ? fmaxf(*y, at(x, i, k, r, c))
                     : op == MIN_SCATTER ? fminf(*y, at(x, i, k, j, c))
                                         : *y;
            }
            if (op == GATHER)
                *y = at(x, i, c / 2, r, c % 2);
            else if (op == TO_ALL)
                *y = at(x, i, c / 2, j, c % 2);
            else if (op == 4)
                *y = at(x, i, (j + 3) % 4, r, c);
            else if (op == 5)
                *y = from[j] < 0 ? 0 : at(x, i, from[j], r, c);
            else if (op == 6)
                *y = at(x, i, 2, r, c);
            else if (op == GATHER_ALL) /* b is major: the first rows are of (0, 0) and (1, 0) */
                *y = at(x, r / 4, 0, r % 4, c);
            else if (op == 10)
                *y = at(x, 0, j, r, c) * at(x, 1, j, r, c);
            else if (op == OPS - 1)
                *y = at(x, i, j, r, c) * (float)(4 * i + j);
        }
    return p;
}

static void body(lz_tensor *const *in, lz_tensor **out, void *user)
{
    out[0] = op_of(*(int *)user, in[0]);
}

static lz_tensor *run(lz_mesh *m, int op, lz_tensor *x)
{
    lz_tensor *y;
    lz_partition_spec spec = LZ_SPEC("a", "b");
    OK(lz_manual(body, m, &x, &spec, 1, &spec, 1, &op, &y));
    return y;
}

START_TEST(collectives)
{
    lz_mesh *m = use();
    float x[N], got[32 * N];
    rt_fill(x, N);
    lz_tensor *y = run(m, _i, lz_from_host(LZ_F32, LZ_SHAPE(ROWS, COLUMNS), x));
    OK(lz_to_host(y, got, sizeof got));
    lz_shape s = lz_shape_of(y);
    int rows = (int)s.dims[0] / 2, columns = (int)s.dims[1] / 4;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++) {
            part p = truth(_i, x, i, j);
            ck_assert_int_eq(columns, p.columns);
            for (int r = 0; r < p.rows; r++)
                for (int c = 0; c < p.columns; c++) {
                    float v = got[(i * rows + r) * 4 * columns + j * columns + c];
                    ck_assert_msg(fabsf(v - p.v[r][c]) <= 1e-5f, "(%d, %d)[%d, %d]: %g, not %g", i,
                                  j, r, c, v, p.v[r][c]);
                }
        }
}
END_TEST

/* ---- gradients ---- */

/* Input and result cut along both axes, one of them, or whole. */
static const struct {
    const char *rows, *columns;
} cuts[] = {{"a", "b"}, {"a", NULL}, {NULL, "b"}, {NULL, NULL}};
enum { CUTS = sizeof cuts / sizeof *cuts };

static void square(lz_tensor *const *in, lz_tensor **out, void *user)
{
    lz_tensor *y = op_of(*(int *)user, lz_mul(in[0], lz_add(in[0], in[1])));
    out[0] = lz_axis_all_reduce("sum", lz_sum(lz_mul(y, y)), "a,b"); /* the same everywhere */
    out[1] = y;
}

/* A number of x and w, and of what is from outside. */
static lz_tensor *loss_of(lz_mesh *m, int op, int cut, lz_tensor *x, lz_tensor *w)
{
    lz_tensor *out[2], *in[] = {x, w};
    lz_partition_spec ins[] = {LZ_SPEC(cuts[cut].rows, cuts[cut].columns), LZ_SPEC_SCALAR},
                      outs[] = {LZ_SPEC_SCALAR, LZ_SPEC("a", "b")};
    OK(lz_manual(square, m, in, ins, 2, outs, 2, &op, out));
    return lz_add(lz_mul_scalar(out[0], 0.01), lz_mean(lz_mul(out[1], lz_sin(out[1]))));
}

START_TEST(gradients)
{
    int op = _i / CUTS, cut = _i % CUTS;
    lz_mesh *m = use();
    double x[N], w = 0.5, got[N], got_w, step = 1e-5;
    for (int i = 0; i < N; i++)
        x[i] = rt_uniform() / 2;
    lz_tensor *p[2] = {lz_from_host(LZ_F64, LZ_SHAPE(ROWS, COLUMNS), x),
                       lz_from_host(LZ_F64, (lz_shape){0}, &w)},
              *g[2];
    OK(lz_grad(loss_of(m, op, cut, p[0], p[1]), p, 2, g));
    OK(lz_to_host(g[0], got, sizeof got));
    OK(lz_to_host(g[1], &got_w, sizeof got_w));
    for (int k = -1; k < N; k += 13) { /* -1: w */
        double y[2], *at_k = k < 0 ? &w : &x[k], was = *at_k;
        for (int side = 0; side < 2; side++) {
            *at_k = was + (side ? step : -step);
            y[side] = lz_item(loss_of(m, op, cut, lz_from_host(LZ_F64, LZ_SHAPE(ROWS, COLUMNS), x),
                                      lz_from_host(LZ_F64, (lz_shape){0}, &w)));
        }
        *at_k = was;
        double want = (y[1] - y[0]) / (2 * step), have = k < 0 ? got_w : got[k];
        ck_assert_msg(fabs(want - have) <= 1e-6 * (1 + fabs(want)), "by %d: %.9g, not %.9g", k,
                      have, want);
    }
}
END_TEST

/* What the body takes from outside is whole on each device, and has a gradient. */
static void with_outside(lz_tensor *const *in, lz_tensor **out, void *user)
{
    out[0] = lz_mul(in[0], *(lz_tensor **)user);
}

START_TEST(outside)
{
    lz_mesh *m = use();
    float x[N], w[2] = {3, 5}, got[N], sum[2] = {0, 0};
    rt_fill(x, N);
    lz_tensor *t = lz_from_host(LZ_F32, LZ_SHAPE(ROWS, COLUMNS), x),
              *u = lz_from_host(LZ_F32, LZ_SHAPE(2), w), *y, *g;
    lz_partition_spec spec = LZ_SPEC("a", "b");
    OK(lz_manual(with_outside, m, &t, &spec, 1, &spec, 1, &u, &y));
    OK(lz_grad(lz_sum(y), &u, 1, &g));
    OK(lz_to_host(y, got, sizeof got));
    for (int i = 0; i < N; i++) {
        ck_assert(got[i] == x[i] * w[i % 2]);
        sum[i % 2] += x[i];
    }
    OK(lz_to_host(g, got, sizeof got));
    ck_assert(fabsf(got[0] - sum[0]) <= 1e-4f && fabsf(got[1] - sum[1]) <= 1e-4f);
}
END_TEST

/* One program for all steps; no gradient where an operation has none. */
static void largest(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_axis_all_reduce("max", lz_amax(in[0]), "a,b");
}

START_TEST(steps)
{
    lz_mesh *m = use();
    int64_t compiled = 0;
    for (int step = 0; step < 3; step++) {
        float x[N], most = -10;
        OK(lz_scope_begin());
        rt_fill(x, N);
        for (int i = 0; i < N; i++)
            most = fmaxf(most, x[i]);
        lz_tensor *t = lz_from_host(LZ_F32, LZ_SHAPE(ROWS, COLUMNS), x), *y;
        lz_partition_spec spec = LZ_SPEC("b", "a"), scalar = LZ_SPEC_SCALAR;
        OK(lz_manual(largest, m, &t, &spec, 1, &scalar, 1, NULL, &y));
        ck_assert(lz_item(y) == most);
        if (step == 0)
            compiled = lz_counter_value("UncachedCompile");
        OK(lz_scope_end());
    }
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), compiled);
}
END_TEST

/* What has no gradient: integers, and floats, which is said when one is asked for. */
static lz_tensor *small(lz_tensor *const *in, void *user)
{
    (void)user;
    return lz_lt_scalar(lz_axis_all_reduce("max", lz_amax(in[0]), "a,b"), 100);
}

static void twice(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_add(in[0], in[0]);
}

static void until_large(lz_tensor *const *in, lz_tensor **out, void *user)
{
    OK(lz_while(in, 1, small, twice, user, out));
}

START_TEST(without_gradient)
{
    lz_mesh *m = use();
    float x[N], got[N];
    for (int i = 0; i < N; i++)
        x[i] = (float)i;
    lz_tensor *t = lz_from_host(LZ_F32, LZ_SHAPE(ROWS, COLUMNS), x), *y, *g;
    lz_partition_spec spec = LZ_SPEC("a", "b");
    OK(lz_manual(until_large, m, &t, &spec, 1, &spec, 1, NULL, &y));
    FAILS(lz_grad(lz_sum(y), &t, 1, &g), LZ_EGRAD, "this loop");
    OK(lz_to_host(y, got, sizeof got));
    for (int i = 0; i < N; i++)
        ck_assert(got[i] == 2 * x[i]);
    lz_tensor *whole = lz_to(t, LZ_I32);
    int op = 0;
    OK(lz_manual(body, m, &whole, &spec, 1, &spec, 1, &op, &y));
    ck_assert_int_eq(lz_item_i64(lz_sum(y)), 4 * (N - 1) * N / 2);
}
END_TEST

/* ---- gradients of gradients, and tangents ---- */

typedef struct point {
    double x[N], w;
} point;

static void tensors_of(const point *p, lz_tensor **t)
{
    t[0] = lz_from_host(LZ_F64, LZ_SHAPE(ROWS, COLUMNS), p->x);
    t[1] = lz_from_host(LZ_F64, (lz_shape){0}, &p->w);
}

/* The dot product of the gradient of loss_of with a direction. */
static lz_tensor *slope(lz_mesh *m, int op, int cut, lz_tensor *const *p, lz_tensor *const *along)
{
    lz_tensor *g[2];
    OK(lz_grad(loss_of(m, op, cut, p[0], p[1]), p, 2, g));
    return lz_add(lz_sum(lz_mul(g[0], along[0])), lz_mul(g[1], along[1]));
}

static void near(double have, double want, const char *what, int k)
{
    ck_assert_msg(fabs(want - have) <= 1e-6 * (1 + fabs(want)), "%s %d: %.9g, not %.9g", what, k,
                  have, want);
}

START_TEST(second_order)
{
    int op = _i / CUTS, cut = _i % CUTS;
    lz_mesh *m = use();
    point p = {.w = 0.5}, r = {.w = 0.25};
    lz_tensor *t[2], *along[2], *g[2], *tangent;
    double got[N], got_w, step = 1e-5;
    for (int i = 0; i < N; i++) {
        p.x[i] = rt_uniform() / 2;
        r.x[i] = rt_uniform();
    }
    tensors_of(&p, t);
    tensors_of(&r, along);
    lz_tensor *y = loss_of(m, op, cut, t[0], t[1]), *s = slope(m, op, cut, t, along);
    OK(lz_jvp(&y, 1, t, along, 2, &tangent));
    near(lz_item(tangent), lz_item(s), "tangent", 0);
    OK(lz_grad(s, t, 2, g));
    OK(lz_to_host(g[0], got, sizeof got));
    OK(lz_to_host(g[1], &got_w, sizeof got_w));
    for (int k = -1; k < N; k += 29) {
        double at_side[2];
        for (int side = 0; side < 2; side++) {
            point q = p;
            *(k < 0 ? &q.w : &q.x[k]) += side ? step : -step;
            tensors_of(&q, t);
            at_side[side] = lz_item(slope(m, op, cut, t, along));
        }
        near(k < 0 ? got_w : got[k], (at_side[1] - at_side[0]) / (2 * step), "by", k);
    }
}
END_TEST

/* ---- errors ---- */

static const struct {
    int what;
    lz_status status;
    const char *text;
} wrongs[] = {{0, LZ_EINVAL, "axis \"c\" is not defined in the mesh"},
              {1, LZ_EINVAL, "axis \"a\" is there twice"},
              {2, LZ_ERANGE, "dimension 2 of a tensor of rank 2"},
              {3, LZ_ESHAPE, "dimension 1 of 2 elements does not split over 4 devices"},
              {4, LZ_EINVAL, "reduce_type is \"avg\""},
              {5, LZ_EINVAL, "place 0 is a target twice"},
              {6, LZ_EINVAL, "no place 4 of 4"},
              {7, LZ_EINVAL, "root is -1"},
              {8, LZ_EUNSUPPORTED, "inside of the body of another"},
              {9, LZ_ENULL, "result 0 is NULL"}};

static void wrong(lz_tensor *const *in, lz_tensor **out, void *user)
{
    static const int64_t twice[] = {0, 0, 1, 0}, beyond[] = {0, 4};
    lz_partition_spec spec = LZ_SPEC("a", "b");
    switch (*(int *)user) {
    case 0:
        out[0] = lz_axis_all_reduce("sum", in[0], "c");
        break;
    case 1:
        out[0] = lz_axis_all_reduce("sum", in[0], "a,b,a");
        break;
    case 2:
        out[0] = lz_axis_all_gather(in[0], 2, "a");
        break;
    case 3:
        out[0] = lz_axis_reduce_scatter("sum", in[0], 1, "b");
        break;
    case 4:
        out[0] = lz_axis_all_reduce("avg", in[0], "b");
        break;
    case 5:
        out[0] = lz_axis_permute(in[0], "b", twice, 2);
        break;
    case 6:
        out[0] = lz_axis_permute(in[0], "b", beyond, 1);
        break;
    case 7:
        out[0] = lz_axis_broadcast(in[0], "b", -1);
        break;
    case 8:
        (void)lz_manual(wrong, lz_mesh_1d("x"), in, &spec, 1, &spec, 1, user, out);
        break;
    default:
        break;
    }
}

START_TEST(errors)
{
    lz_mesh *m = use();
    float x[N] = {0};
    lz_tensor *t = lz_from_host(LZ_F32, LZ_SHAPE(ROWS, COLUMNS), x), *y,
              *odd = lz_from_host(LZ_F32, LZ_SHAPE(ROWS, 6), x);
    lz_partition_spec spec = LZ_SPEC("a", "b"), row = LZ_SPEC("a");
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        int what = wrongs[i].what;
        FAILS(lz_manual(wrong, m, &t, &spec, 1, &spec, 1, &what, &y), wrongs[i].status,
              wrongs[i].text);
        FAILS(lz_status_of(y), wrongs[i].status, "t_manual.c");
    }
    int op = 0;
    FAILS(lz_manual(body, m, &odd, &spec, 1, &spec, 1, &op, &y), LZ_ESHAPE,
          "input 0: dimension 1 of 6 elements does not split over 4 devices");
    FAILS(lz_manual(body, m, &t, &spec, 1, &row, 1, &op, &y), LZ_EINVAL, "spec has 1 dimensions");
    FAILS(lz_manual(body, NULL, &t, &spec, 1, &spec, 1, &op, &y), LZ_ENULL, "mesh is NULL");
    FAILS(lz_status_of(lz_axis_all_reduce("sum", t, "a")), LZ_ESTATE, "outside");
    FAILS(lz_status_of(lz_axis_index("a")), LZ_ESTATE, "outside");
    ck_assert_int_eq(lz_axis_size("a"), 0);
    OK(lz_set_device("CPU:0"));
    t = lz_from_host(LZ_F32, LZ_SHAPE(ROWS, COLUMNS), x);
    FAILS(lz_manual(body, m, &t, &spec, 1, &spec, 1, &op, &y), LZ_ESTATE, "CPU:0");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("manual");
    TCase *t = tcase_create("manual");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, collectives, 0, OPS);
    tcase_add_loop_test(t, gradients, 0, OPS * CUTS);
    tcase_add_test(t, outside);
    tcase_add_test(t, steps);
    tcase_add_test(t, without_gradient);
    tcase_add_loop_test(t, second_order, 0, OPS * CUTS);
    tcase_add_test(t, errors);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
