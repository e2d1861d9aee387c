/* t_dtensor.c - DTensor's words on meshes of devices: each placement to each other, with the truth
 * of one device and the collectives that it takes; parts out and in; gradients; errors. */
#include "../runtime/rt.h"
#include "ir/func.h"
#include "shard/shard.h"

enum { MOST = 8, MOST_ELEMENTS = 128 };

/* ---- meshes, extents, dtypes ---- */

static const struct {
    int64_t size[2];
    int naxis;
    bool backwards;
} grids[] = {{{2}, 1, false},    {{3}, 1, false},    {{8}, 1, false},    {{2, 2}, 2, false},
             {{2, 4}, 2, false}, {{3, 2}, 2, false}, {{1, 4}, 2, false}, {{2, 2}, 2, true}};
enum { GRIDS = sizeof grids / sizeof *grids };
static const char *const axis_names[] = {"a", "b"};

static int64_t devices_of(int g)
{
    return grids[g].size[0] * (grids[g].naxis > 1 ? grids[g].size[1] : 1);
}

static lz_mesh *use(int g)
{
    char n[8];
    int64_t ids[MOST];
    rt_use("CPU");
    snprintf(n, sizeof n, "%d", (int)devices_of(g));
    setenv("CPU_NUM_DEVICES", n, 1);
    setenv("XLA_USE_SPMD", "1", 1);
    for (int64_t i = 0; i < devices_of(g); i++)
        ids[i] = devices_of(g) - 1 - i;
    lz_mesh *m =
        lz_mesh_new(grids[g].backwards ? ids : NULL, grids[g].size, axis_names, grids[g].naxis);
    ck_assert_msg(m != NULL, "%s", lz_last_error_text());
    return m;
}

/* Even on some meshes, uneven, shorter than the mesh, one element, empty. */
static const int64_t extents[][2] = {{8, 16}, {10, 7}, {3, 5}, {1, 1}, {0, 4}};
enum { EXTENTS = sizeof extents / sizeof *extents };

static const lz_dtype dtypes[] = {LZ_F32, LZ_I32, LZ_BF16, LZ_U8, LZ_F64, LZ_C64, LZ_I64, LZ_F16};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

/* Number i of axis: Shard(0), Shard(1), Replicate, Partial. */
enum { KINDS = 4 };
static lz_placement kind_of(int i)
{
    return i == 0   ? lz_shard(0)
           : i == 1 ? lz_shard(-1)
           : i == 2 ? lz_replicate()
                    : lz_partial(NULL);
}

static int kinds(int g)
{
    return grids[g].naxis > 1 ? KINDS * KINDS : KINDS;
}

static lz_placements placements_of(int g, int i)
{
    return grids[g].naxis > 1 ? LZ_PLACEMENTS(kind_of(i / KINDS), kind_of(i % KINDS))
                              : LZ_PLACEMENTS(kind_of(i));
}

/* ---- a tensor by its parts, and small numbers, exact in every dtype ---- */

typedef struct parts {
    lz_dtype dtype;
    lz_shape shape;
    lz_local_shard at[MOST];
    unsigned char data[MOST][MOST_ELEMENTS * 16];
    double whole[MOST_ELEMENTS];
} parts;

static size_t width(lz_dtype d)
{
    return d == LZ_F64 || d == LZ_C64 || d == LZ_I64 ? 8
           : d == LZ_U8                              ? 1
           : d == LZ_BF16 || d == LZ_F16             ? 2
                                                     : 4;
}

static void put(lz_dtype d, void *p, int64_t i, double v)
{
    uint16_t h;
    float f = (float)v;
    uint32_t bits;
    memcpy(&bits, &f, 4);
    switch (d) {
    case LZ_F64:
        ((double *)p)[i] = v;
        break;
    case LZ_C64:
        ((float *)p)[2 * i] = f;
        ((float *)p)[2 * i + 1] = -f;
        break;
    case LZ_I64:
        ((int64_t *)p)[i] = (int64_t)v;
        break;
    case LZ_I32:
        ((int32_t *)p)[i] = (int32_t)v;
        break;
    case LZ_U8:
        ((uint8_t *)p)[i] = (uint8_t)v;
        break;
    case LZ_BF16:
        h = (uint16_t)(bits >> 16);
        memcpy((char *)p + 2 * i, &h, 2);
        break;
    case LZ_F16: /* of 0 and 1 .. 2047 */
        h = v == 0 ? signbit(v) ? 0x8000 : 0
                   : (uint16_t)(((bits >> 23) - 112) << 10 | (bits >> 13 & 1023));
        memcpy((char *)p + 2 * i, &h, 2);
        break;
    default:
        ((float *)p)[i] = f;
    }
}

static double get(lz_dtype d, const void *p, int64_t i)
{
    unsigned char bytes[16] = {0};
    float z[2];
    if (d == LZ_C64) {
        memcpy(z, (const char *)p + (size_t)i * 8, 8);
        return z[0] == -z[1] ? fabsf(z[0]) : (double)NAN;
    }
    for (int v = -1; v < 256; v++) {
        put(d, bytes, 0, v < 0 ? -0.0 : v); /* the identity of sums of floats */
        if (!memcmp(bytes, (const char *)p + (size_t)i * width(d), width(d)))
            return v < 0 ? 0 : v;
    }
    return NAN;
}

/* Element i of a part is element `at` of the whole; false: there are no more. */
static bool element(const parts *p, const lz_local_shard *s, int64_t i, int64_t *at)
{
    int64_t n = 1, w = 0, step = 1;
    for (int d = 0; d < s->rank; d++)
        n *= s->extent[d];
    if (i >= n)
        return false;
    for (int d = s->rank - 1; d >= 0; d--) {
        w += (s->offset[d] + i % s->extent[d]) * step;
        i /= s->extent[d];
        step *= p->shape.dims[d];
    }
    *at = w;
    return true;
}

static void fill(parts *p, int64_t n)
{
    memset(p->whole, 0, sizeof p->whole);
    for (int64_t d = 0; d < n; d++) {
        int64_t at;
        for (int64_t i = 0; element(p, &p->at[d], i, &at); i++) {
            double v = p->at[d].replica_id ? 0 : rt_random() % 16;
            put(p->dtype, p->data[d], i, v);
            p->whole[at] += v;
        }
    }
}

/* A tensor made of random parts. Of copies only the first counts. */
static lz_tensor *make(parts *p, int g, lz_mesh *m, lz_placements at)
{
    const void *shards[MOST];
    for (int64_t d = 0; d < devices_of(g); d++) {
        OK(lz_local_shard_of(p->shape, m, at, d, &p->at[d]));
        shards[d] = p->at[d].replica_id ? NULL : p->data[d];
    }
    fill(p, devices_of(g));
    lz_tensor *x = lz_from_local(p->dtype, p->shape, m, at, shards);
    OK(lz_status_of(x));
    return x;
}

/* The whole on the host, and the parts on the devices, are what they must be. */
static void same(lz_tensor *x, const parts *p, int g, lz_mesh *m, lz_placements at,
                 const char *what)
{
    unsigned char got[MOST_ELEMENTS * 16];
    double sum[MOST_ELEMENTS] = {0};
    int64_t n = lz_numel(x), w;
    lz_local_shard now[MOST], want;
    ck_assert_int_eq(lz_local_shards(x, now, MOST), devices_of(g));
    for (int64_t d = 0; d < devices_of(g); d++) {
        OK(lz_local_shard_of(p->shape, m, at, d, &want));
        ck_assert_msg(!memcmp(&want, &now[d], sizeof want), "%s: the part of device %d", what,
                      (int)d);
        OK(lz_local_to_host(x, d, got, sizeof got));
        for (int64_t i = 0; element(p, &now[d], i, &w); i++) {
            double v = get(p->dtype, got, i);
            ck_assert_msg(now[d].partial || v == p->whole[w], "%s: %g on device %d, not %g", what,
                          v, (int)d, p->whole[w]);
            sum[w] += now[d].replica_id ? 0 : v;
        }
    }
    OK(lz_to_host(x, got, sizeof got));
    for (int64_t i = 0; i < n; i++) {
        double v = get(p->dtype, got, i);
        ck_assert_msg(v == p->whole[i], "%s: element %d is %g, not %g", what, (int)i, v,
                      p->whole[i]);
        ck_assert_msg(sum[i] == p->whole[i], "%s: parts of element %d make %g, not %g", what,
                      (int)i, sum[i], p->whole[i]);
    }
}

/* ---- each to each ---- */

/* A share of the pairs in each run, each kind of pair on each axis among them. */
START_TEST(each_to_each)
{
    int g = _i / KINDS, n = kinds(g);
    lz_mesh *m = use(g);
    static parts p;
    char what[128];
    for (int from = _i % KINDS; from < n; from += KINDS)
        for (int to = 0; to < n; to++) {
            int round = from * n + to;
            if (n > KINDS && !lz_test_in_turn((unsigned)(from / KINDS + to / KINDS + to), 4))
                continue;
            int e = (round + (int)lz_test_seed()) % EXTENTS;
            p.dtype = dtypes[(round / 3) % DTYPES];
            p.shape = LZ_SHAPE(extents[e][0], extents[e][1]);
            snprintf(what, sizeof what, "%d to %d, %s[%d,%d]", from, to, lz_dtype_name(p.dtype),
                     (int)p.shape.dims[0], (int)p.shape.dims[1]);
            OK(lz_scope_begin());
            lz_tensor *x = make(&p, g, m, placements_of(g, from));
            same(x, &p, g, m, placements_of(g, from), what);
            lz_tensor *y = lz_redistribute(x, m, placements_of(g, to));
            same(y, &p, g, m, placements_of(g, to), what);
            OK(lz_scope_end());
        }
}
END_TEST

/* One axis of n devices: the collective that each pair takes, and no other. A shard becomes a part
 * of a sum by way of the whole. */
static const char *const takes[KINDS][KINDS] = {
    {"", "all_to_all", "all_gather", "all_gather"},
    {"all_to_all", "", "all_gather", "all_gather"},
    {"", "", "", ""},
    {"reduce_scatter", "reduce_scatter", "all_reduce", ""},
};
static const char *const sharding_texts[KINDS] = {"[{\"a\"}, {}]", "[{}, {\"a\"}]", "[{}, {}]",
                                                  "[{}, {}], unreduced={\"a\"}"};

static int count(const lz_func *f, const char *name)
{
    int n = 0;
    for (uint32_t i = 0; i < f->ninst; i++)
        n += !strcmp(lz_op_get(f->insts[i].sig->op)->text, name);
    return n;
}

START_TEST(collectives)
{
    static const char *const all[] = {"all_to_all",         "all_gather",
                                      "all_reduce",         "reduce_scatter",
                                      "collective_permute", "collective_broadcast"};
    for (int to = 0; to < KINDS; to++) {
        char text[512];
        lz_func *f;
        const lz_mesh *m;
        lz_partitioned p;
        snprintf(text, sizeof text,
                 "sdy.mesh @mesh = <[\"a\"=4]>\nfunc.func public @main(%%x: tensor<8x16xf32> "
                 "{sdy.sharding = #sdy.sharding<@mesh, %s>}) -> (tensor<8x16xf32> {sdy.sharding = "
                 "#sdy.sharding<@mesh, %s>}) {\nreturn %%x : tensor<8x16xf32>\n}\n",
                 sharding_texts[_i], sharding_texts[to]);
        ck_assert_msg(lz_func_parse_marked(text, strlen(text), "pair", NULL, 4, NULL, &f) == LZ_OK,
                      "%s", lz_error_get()->message);
        ck_assert_int_eq(lz_shard_mesh(f, &m), LZ_OK);
        ck_assert_int_eq(lz_partition(f, m, &p), LZ_OK);
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            ck_assert_msg(count(p.local, all[i]) == !strcmp(all[i], takes[_i][to]),
                          "%s to %s: %d of %s", sharding_texts[_i], sharding_texts[to],
                          count(p.local, all[i]), all[i]);
        lz_partitioned_free(&p);
        lz_func_free(f);
    }
}
END_TEST

/* ---- other reductions ---- */

static const struct {
    const char *op;
    int32_t part[2], whole;
} partials[] = {{"sum", {5, 7}, 12}, {"product", {5, 7}, 35}, {"max", {5, 7}, 7},
                {"min", {5, 7}, 5},  {"and", {5, 6}, 4},      {"or", {5, 2}, 7}};

START_TEST(reductions)
{
    lz_mesh *m = use(0);
    const void *shards[2] = {&partials[_i].part[0], &partials[_i].part[1]};
    lz_tensor *x =
        lz_from_local(LZ_I32, LZ_SHAPE(1), m, LZ_PLACEMENTS(lz_partial(partials[_i].op)), shards);
    ck_assert_int_eq(lz_item_i64(x), partials[_i].whole);
    lz_tensor *y = lz_redistribute(x, m, LZ_PLACEMENTS(lz_replicate()));
    ck_assert_int_eq(lz_item_i64(y), partials[_i].whole);
    lz_tensor *z = lz_redistribute(y, m, LZ_PLACEMENTS(lz_partial(partials[_i].op)));
    ck_assert_int_eq(lz_item_i64(z), partials[_i].whole);
    ck_assert_int_eq(lz_item_i64(lz_add(x, x)), 2 * partials[_i].whole);
    ck_assert_int_eq(lz_item_i64(lz_mul(x, x)), partials[_i].whole * partials[_i].whole);
}
END_TEST

/* ---- gradients ---- */

/* Of a loss that is not linear, through each placement and back. */
START_TEST(gradients)
{
    int g = 4; /* 2 x 4 */
    lz_mesh *m = use(g);
    float v[48], got[48];
    for (int to = 0; to < kinds(g); to++) {
        OK(lz_scope_begin());
        rt_fill(v, 48);
        lz_tensor *x =
            lz_distribute_tensor(lz_from_host(LZ_F32, LZ_SHAPE(6, 8), v), m, placements_of(g, _i));
        OK(lz_requires_grad(x, true));
        lz_tensor *y = lz_redistribute(x, m, placements_of(g, to));
        lz_tensor *loss = lz_sum(lz_mul(lz_full_tensor(y), lz_mul(y, y)));
        OK(lz_backward(loss));
        OK(lz_to_host(lz_grad_of(x), got, sizeof got));
        for (int i = 0; i < 48; i++)
            ck_assert_msg(fabsf(got[i] - 3 * v[i] * v[i]) <= 1e-5f * (1 + 3 * v[i] * v[i]),
                          "%d to %d: gradient %g, not %g", _i, to, got[i], 3 * v[i] * v[i]);
        lz_local_shard s[MOST];
        (void)lz_local_shards(lz_grad_of(x), s, MOST);
        ck_assert_msg(!s[0].partial, "the gradient is a part of a sum");
        OK(lz_scope_end());
    }
}
END_TEST

/* ---- handles ---- */

static const void **float_parts(float (*v)[8], int n)
{
    static const void *at[MOST];
    for (int i = 0; i < n; i++)
        at[i] = v[i];
    return at;
}

START_TEST(leaves)
{
    lz_mesh *m = use(2); /* 8 */
    float v[16], got[16];
    rt_fill(v, 16);
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(16), v);
    OK(lz_requires_grad(x, true));
    lz_tensor *y = lz_distribute_tensor(x, m, LZ_PLACEMENTS(lz_shard(0)));
    char text[64];
    lz_get_sharding(y, text, sizeof text);
    ck_assert_str_eq(text, "{devices=[8]<=[8]}");
    OK(lz_backward(lz_sum(lz_mul(y, y)))); /* y requires a gradient, and nothing reaches x */
    OK(lz_to_host(lz_grad_of(x), got, sizeof got));
    for (int i = 0; i < 16; i++)
        ck_assert(got[i] == 0);
    OK(lz_to_host(lz_grad_of(y), got, sizeof got));
    for (int i = 0; i < 16; i++)
        ck_assert(got[i] == 2 * v[i]);
    int64_t compiled = 0;
    for (int step = 0; step < 3; step++) { /* what is assigned is placed so */
        OK(lz_assign(y, lz_mul_scalar(y, 2)));
        OK(lz_mark_step());
        lz_local_shard s[MOST];
        ck_assert_int_eq(lz_local_shards(y, s, MOST), 8);
        ck_assert_int_eq(s[5].offset[0], 10);
        ck_assert_int_eq(s[5].extent[0], 2);
        if (step == 1)
            compiled = lz_counter_value("UncachedCompile");
    }
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), compiled);
    /* of what is computed from x, gradients go on to x */
    lz_tensor *z = lz_distribute_tensor(lz_mul_scalar(x, 3), m, LZ_PLACEMENTS(lz_shard(0)));
    lz_tensor *grad;
    OK(lz_grad(lz_sum(z), &x, 1, &grad));
    OK(lz_to_host(grad, got, sizeof got));
    ck_assert(got[7] == 3);
}
END_TEST

/* Data that nobody has placed, numbers, and bytes that go over. */
START_TEST(parts_in_and_out)
{
    lz_mesh *m = use(1); /* 3 */
    float v[3][8] = {{1, 2}, {3, 4}, {5}}, w[3][8] = {{6, 7}, {8, 9}, {10}}, got[8];
    lz_local_shard s[MOST];
    lz_tensor *plain = lz_from_host(LZ_F32, LZ_SHAPE(2), v[0]);
    ck_assert_int_eq(lz_local_shards(plain, s, MOST), 3);
    ck_assert_int_eq(s[2].extent[0], 2);
    ck_assert_int_eq(s[2].replica_id, 2);
    OK(lz_local_to_host(plain, 2, got, 8));
    ck_assert(got[1] == 2);
    lz_tensor *number = lz_full(LZ_F32, (lz_shape){0}, 4);
    ck_assert_int_eq(lz_local_shards(number, NULL, 0), 3);
    OK(lz_local_to_host(number, 1, got, 4));
    ck_assert(got[0] == 4);
    lz_tensor *x =
        lz_from_local(LZ_F32, LZ_SHAPE(5), m, LZ_PLACEMENTS(lz_shard(0)), float_parts(v, 3));
    for (int round = 0; round < 2; round++) {
        OK(lz_to_host(x, got, sizeof got));
        for (int i = 0; i < 5; i++)
            ck_assert(got[i] == (float)(i + 1 + 5 * round));
        OK(lz_local_to_host(x, 2, got, 4));
        ck_assert(got[0] == (float)(5 + 5 * round));
        OK(lz_load_local_shards(x, float_parts(w, 3)));
        OK(round ? lz_mark_step() : LZ_OK);
    }
    lz_get_sharding(x, (char *)got, sizeof got);
    ck_assert_str_eq((char *)got, "{devices=[3]<=[3]}");
}
END_TEST

START_TEST(errors)
{
    lz_mesh *m = use(4); /* 2 x 4 */
    float v[8] = {0};
    const void *shards[MOST] = {v, NULL};
    lz_local_shard s;
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(2, 4), v);
    lz_placements rows = LZ_PLACEMENTS(lz_shard(0), lz_replicate());
    FAILS(lz_status_of(lz_redistribute(x, m, LZ_PLACEMENTS(lz_shard(0)))), LZ_EINVAL,
          "1 placements for a mesh of 2 axes");
    FAILS(lz_status_of(lz_redistribute(x, m, LZ_PLACEMENTS(lz_replicate(), lz_shard(2)))),
          LZ_EINVAL, "axis \"b\": Shard(2), but the tensor has 2 dimensions: [2, 4]");
    FAILS(lz_status_of(lz_redistribute(x, m, LZ_PLACEMENTS(lz_shard(-3), lz_shard(0)))), LZ_EINVAL,
          "axis \"a\": Shard(-3)");
    FAILS(lz_status_of(lz_redistribute(x, m, LZ_PLACEMENTS(lz_partial("avg"), lz_shard(0)))),
          LZ_EINVAL, "Partial of \"avg\"");
    FAILS(lz_status_of(lz_redistribute(x, m, LZ_PLACEMENTS(lz_partial("sum"), lz_partial("max")))),
          LZ_EINVAL, "another reduction");
    FAILS(lz_status_of(lz_redistribute(x, m, LZ_PLACEMENTS(lz_partial("and"), lz_replicate()))),
          LZ_EDTYPE, "f32");
    FAILS(lz_status_of(lz_redistribute(x, NULL, rows)), LZ_ENULL, "mesh is NULL");
    FAILS(lz_status_of(lz_distribute_tensor(NULL, m, rows)), LZ_ENULL, "");
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "t_dtensor.c"));
    FAILS(lz_local_shard_of(LZ_SHAPE(2, 4), m, rows, 8, &s), LZ_ERANGE, "8 devices");
    FAILS(lz_local_shard_of(LZ_SHAPE(2, 4), m, rows, 0, NULL), LZ_ENULL, "out");
    FAILS(lz_local_to_host(x, 8, v, sizeof v), LZ_ERANGE, "device 8");
    FAILS(lz_local_to_host(x, 0, v, 31), LZ_ERANGE, "has 32");
    FAILS(lz_load_local_shards(x, shards), LZ_ESTATE, "no placement");
    FAILS(lz_status_of(lz_from_local(LZ_F32, LZ_SHAPE(2, 4), m, rows, shards)), LZ_ENULL,
          "device 4");
    FAILS(lz_status_of(lz_from_local(LZ_F32, LZ_SHAPE(2, 4), m, rows, NULL)), LZ_ENULL, "shards");
    ck_assert_int_eq(lz_local_shards(NULL, NULL, 0), -1);
    OK(lz_set_device("CPU:0"));
    lz_tensor *y = lz_from_host(LZ_F32, LZ_SHAPE(2, 4), v);
    FAILS(lz_status_of(lz_redistribute(y, m, rows)), LZ_ESTATE, "CPU:0");
    FAILS(lz_local_to_host(y, 0, v, sizeof v), LZ_ESTATE, "one device");
    OK(lz_status_of(lz_full_tensor(y))); /* whole */
}
END_TEST

int main(void)
{
    Suite *s = suite_create("dtensor");
    TCase *t = tcase_create("dtensor");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, each_to_each, 0, GRIDS * KINDS);
    tcase_add_loop_test(t, collectives, 0, KINDS);
    tcase_add_loop_test(t, reductions, 0, sizeof partials / sizeof *partials);
    tcase_add_loop_test(t, gradients, 0, KINDS * KINDS);
    tcase_add_test(t, leaves);
    tcase_add_test(t, parts_in_and_out);
    tcase_add_test(t, errors);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
