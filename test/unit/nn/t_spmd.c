/* t_spmd.c - programs on a mesh of the devices of one process, CPU devices unless LZ_TEST_DEVICE
 * says otherwise (test/api/cuda.sh): what a program computes is what one device
 * computes, whatever is marked; marks, their errors, and what a training step costs. */
#include "../runtime/rt.h"
#include "backends/backend.h"
#include "ir/module.h"

enum { DEVICES = 8 };

static void use_devices(const char *n)
{
    setenv("CPU_NUM_DEVICES", n, 1);
    setenv("GPU_NUM_DEVICES", n, 1);
}

static void use(void)
{
    rt_use(rt_devices[1]);
    use_devices("8");
    setenv("XLA_USE_SPMD", "1", 1);
}

/* "CPU:0" */
static const char *first_device(void)
{
    static char name[32];
    snprintf(name, sizeof name, "%s:0", rt_devices[1]);
    return name;
}

static lz_mesh *mesh_2x4(void)
{
    lz_mesh *m =
        lz_mesh_new(NULL, (const int64_t[]){2, 4}, (const char *const[]){"data", "model"}, 2);
    ck_assert_msg(m != NULL, "%s", lz_last_error_text());
    return m;
}

static uint32_t seed; /* of the numbers to come */
static lz_tensor *random_tensor(lz_shape s)
{
    float v[4096];
    int n = 1;
    for (int i = 0; i < s.rank; i++)
        n *= (int)s.dims[i];
    ck_assert_int_le(n, 4096);
    for (int i = 0; i < n; i++) {
        seed = seed * 1664525 + 1013904223;
        v[i] = (float)(seed >> 8) / 8388608.0f - 1;
    }
    return lz_from_host(LZ_F32, s, v);
}

static void same(lz_tensor *a, const float *want, double tolerance)
{
    float got[4096];
    int n = (int)lz_numel(a);
    OK(lz_to_host(a, got, sizeof got));
    for (int i = 0; i < n; i++)
        ck_assert_msg(fabs(got[i] - want[i]) <= tolerance * (1 + fabs(want[i])),
                      "element %d is %.9g, not %.9g", i, got[i], want[i]);
}

/* ---- marks ---- */

static const struct {
    const char *rows, *columns, *text;
} places[] = {
    {"data", "model", "{devices=[2,4]<=[8]}"},
    {"model", "data", "{devices=[4,2]<=[2,4]T(1,0)}"},
    {"data", NULL, "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"},
    {NULL, "model", "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}"},
    {"data,model", NULL, "{devices=[8,1]<=[8]}"},
    {"model, data", "", "{devices=[8,1]<=[2,4]T(1,0)}"},
    {NULL, NULL, "{replicated}"},
};
enum { PLACES = sizeof places / sizeof *places };

/* Even, uneven, shorter than the mesh, empty. */
static const int64_t extents[][2] = {{16, 8}, {10, 7}, {3, 5}, {1, 1}, {0, 4}};
enum { EXTENTS = sizeof extents / sizeof *extents };

static lz_partition_spec place(int i)
{
    return LZ_SPEC(places[i].rows, places[i].columns);
}

START_TEST(there_and_back)
{
    use();
    lz_mesh *m = mesh_2x4();
    float v[128];
    char text[128];
    for (int e = 0; e < EXTENTS; e++) {
        rt_fill(v, 128);
        lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(extents[e][0], extents[e][1]), v);
        OK(lz_mark_sharding(x, m, place(_i)));
        lz_get_sharding(x, text, sizeof text);
        ck_assert_str_eq(text, places[_i].text);
        same(x, v, 0);
        OK(lz_mark_step());
        same(x, v, 0);
        lz_tensor *twice = lz_mul_scalar(x, 2);
        for (int i = 0; i < 128; i++)
            v[i] *= 2;
        same(twice, v, 0);
    }
}
END_TEST

START_TEST(moved)
{
    use();
    lz_mesh *m = mesh_2x4();
    float v[128];
    for (int e = 0; e < EXTENTS; e++)
        for (int to = 0; to < PLACES; to++) {
            rt_fill(v, 128);
            lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(extents[e][0], extents[e][1]), v);
            OK(lz_mark_sharding(x, m, place(_i)));
            OK(lz_mark_step());
            same(lz_with_sharding(x, m, place(to)), v, 0);
            OK(lz_clear_sharding(x));
            OK(lz_mark_sharding(x, m, place(to)));
            same(x, v, 0);
        }
}
END_TEST

/* PJRT_DEVICE may name one of the devices. */
START_TEST(platforms)
{
    static const char *const names[] = {"CPU", "cpu", "CPU:0", "cpu:3", ""};
    use();
    setenv("PJRT_DEVICE", names[_i], 1);
    float v[8];
    rt_fill(v, 8);
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(8), v);
    OK(lz_mark_sharding(x, mesh_2x4(), LZ_SPEC("data,model")));
    same(x, v, 0);
    char table[4096];
    ck_assert_int_gt(lz_sharding_text_table("{replicated}", table, sizeof table), 0);
    ck_assert_msg(strstr(table, "CPU") != NULL, "%s", table);
}
END_TEST

/* A graph has one program for each way in which its parameters come, and no more. */
START_TEST(programs_by_placement)
{
    use();
    lz_mesh *m = mesh_2x4();
    float v[64], twice[64];
    int64_t before = 0;
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < PLACES; i++) {
            if (round == 1 && i == 0)
                before = lz_counter_value("UncachedCompile");
            rt_fill(v, 64);
            for (int k = 0; k < 64; k++)
                twice[k] = 2 * v[k];
            lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(8, 8), v);
            OK(lz_mark_sharding(x, m, place(i)));
            OK(lz_mark_step());
            same(lz_mul_scalar(x, 2), twice, 0);
        }
    ck_assert_int_gt(before, 0);
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), before);
}
END_TEST

/* Meshes of the same factors are one grid by several names: tensors of any of them meet, the first
 * step compiles, no other does, and nothing is moved by way of the host. */
START_TEST(meshes_meet)
{
    static const struct {
        int64_t size[3];
        const char *name[3], *rows;
        int n;
        bool backwards;
    } kinds[] = {{{8}, {"all"}, "all", 1, false},
                 {{2, 4}, {"data", "model"}, "data,model", 2, false},
                 {{4, 2}, {"x", "y"}, "x,y", 2, false},
                 {{2, 2, 2}, {"a", "b", "c"}, "a,b,c", 3, false},
                 {{8}, {"backwards"}, "backwards", 1, true}};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    use();
    int64_t ids[DEVICES], compiled = 0;
    int devices = _i ? DEVICES : 1;
    if (!_i)
        use_devices("1");
    float v[48], want[48];
    for (int step = 0; step < 4; step++) {
        lz_tensor *sum = lz_zeros(LZ_F32, LZ_SHAPE(12, 4));
        rt_fill(v, 48);
        for (int k = 0; k < KINDS; k++) {
            int64_t size[3];
            for (int i = 0; i < 3; i++)
                size[i] = _i ? kinds[k].size[i] : 1;
            for (int i = 0; i < devices; i++)
                ids[i] = devices - 1 - i;
            lz_mesh *m =
                lz_mesh_new(kinds[k].backwards ? ids : NULL, size, kinds[k].name, kinds[k].n);
            ck_assert_ptr_nonnull(m);
            lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(12, 4), v);
            OK(lz_mark_sharding(x, m, LZ_SPEC(kinds[k].rows, NULL)));
            if (step % 2) /* placed before they meet */
                OK(lz_mark_step());
            sum = lz_add(sum, lz_mul_scalar(x, k + 1));
        }
        OK(lz_mark_step());
        for (int i = 0; i < 48; i++)
            want[i] = 15 * v[i];
        same(sum, want, 1e-6);
        if (step == 1)
            compiled = lz_counter_value("UncachedCompile");
    }
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), compiled);
}
END_TEST

/* Equal numbers share a buffer; a program may want it in two places. */
START_TEST(one_buffer_in_two_places)
{
    static const char text[] =
        "sdy.mesh @m = <[\"x\"=8]>\n"
        "func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}]>},"
        "                %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{}]>}) ->"
        "    tensor<8xf32> { %0 = stablehlo.add %a, %b : tensor<8xf32>"
        "  return %0 : tensor<8xf32> }";
    float v[8], got[8];
    use();
    rt_fill(v, 8);
    const lz_backend *be = lz_backend_get("SPMD");
    lz_func *f;
    lz_exec *x;
    lz_device_buffer *b, *out;
    lz_event *done;
    OK(be->init());
    OK(lz_func_parse_marked(text, sizeof text - 1, "t", NULL, 8, NULL, &f));
    OK(be->compile(0, f, NULL, &x));
    OK(be->alloc(0, sizeof v, &b));
    OK(be->copy_in(b, v, sizeof v));
    for (int run = 0; run < 3; run++) {
        OK(be->execute(x, 0, (lz_device_buffer *[]){b, b}, NULL, true, &out, &done));
        OK(be->copy_out(out, got, sizeof got));
        for (int i = 0; i < 8; i++)
            ck_assert_msg(got[i] == 2 * v[i], "element %d is %g, not %g", i, got[i], 2 * v[i]);
        lz_device_buffer_release(out);
        lz_event_release(done);
    }
    lz_device_buffer_release(b);
    be->exec_free(x);
    lz_func_free(f);
}
END_TEST

/* Of other factors: no program has both, and says so. */
START_TEST(meshes_that_differ)
{
    use();
    use_devices("6");
    const char *const name[] = {"a", "b"};
    lz_mesh *m = lz_mesh_new(NULL, (const int64_t[]){2, 3}, name, 2),
            *n = lz_mesh_new(NULL, (const int64_t[]){3, 2}, name, 2);
    float v[36];
    rt_fill(v, 36);
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(6, 6), v),
              *y = lz_from_host(LZ_F32, LZ_SHAPE(6, 6), v);
    OK(lz_mark_sharding(x, m, LZ_SPEC("a", "b")));
    OK(lz_mark_sharding(y, n, LZ_SPEC("a", "b")));
    FAILS(lz_to_host(lz_add(x, y), v, sizeof v), LZ_EUNSUPPORTED, "two meshes");
    same(x, v, 0);
    same(y, v, 0);
}
END_TEST

/* ---- meshes ---- */

/* Slices are rows of neighbours; each axis is made of both kinds of networks. */
START_TEST(hybrid_meshes)
{
    static const char *const names[] = {"data", "model"};
    int64_t ids[8];
    char text[16];
    use();
    lz_mesh *m = lz_hybrid_mesh_new((const int64_t[]){2, 2}, (const int64_t[]){2, 1}, names, 2);
    ck_assert_msg(m != NULL, "%s", lz_last_error_text());
    ck_assert_int_eq(lz_mesh_naxis(m), 2);
    ck_assert_int_eq(lz_mesh_axis_size(m, "data"), 4);
    ck_assert_uint_eq(lz_mesh_axis_name(m, 1, text, sizeof text), 5);
    ck_assert_str_eq(text, "model");
    ck_assert_uint_eq(lz_mesh_axis_name(m, 2, text, sizeof text), 0);
    ck_assert_int_eq(lz_mesh_axis_index(m, "model"), 1);
    ck_assert_int_eq(lz_mesh_axis_index(m, "mode"), -1);
    m = lz_hybrid_mesh_new((const int64_t[]){2, 2}, (const int64_t[]){1, 2}, names, 2);
    static const int64_t want[] = {0, 1, 4, 5, 2, 3, 6, 7}; /* slices along the second axis */
    ck_assert_int_eq(lz_mesh_device_ids(m, ids, 8), 8);
    ck_assert_mem_eq(ids, want, sizeof ids);
    ck_assert_ptr_eq(lz_hybrid_mesh_new((const int64_t[]){2, 4}, NULL, names, 2), mesh_2x4());
    float v[64];
    rt_fill(v, 64);
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(8, 8), v);
    OK(lz_mark_sharding(x, m, LZ_SPEC("data", "model")));
    same(x, v, 0);
    same(lz_mul_scalar(x, 1), v, 0);
    ck_assert_ptr_null(lz_hybrid_mesh_new((const int64_t[]){2, 0}, NULL, names, 2));
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "axis 1: 1 slices of 0 devices"));
    ck_assert_ptr_null(lz_get_global_mesh());
    lz_set_global_mesh(m);
    ck_assert_ptr_eq(lz_get_global_mesh(), m);
    lz_mesh_to_string(lz_mesh_1d("x"), text, sizeof text);
    ck_assert_str_eq(text, "<[\"x\"=8]>");
}
END_TEST

/* Axes by their numbers. */
START_TEST(numbered_axes)
{
    char text[64];
    use();
    lz_mesh *m = mesh_2x4();
    lz_tensor *x = random_tensor(LZ_SHAPE(8, 8));
    OK(lz_mark_sharding(x, m, LZ_SPEC("1, 0", NULL)));
    lz_get_sharding(x, text, sizeof text);
    ck_assert_str_eq(text, "{devices=[8,1]<=[2,4]T(1,0)}");
    char all[4096];
    ck_assert_uint_gt(lz_to_string(x, all, sizeof all), 0);
    ck_assert_ptr_nonnull(strstr(all, ", sharding={devices=[8,1]<=[2,4]T(1,0)}"));
    lz_tensor *y = random_tensor(LZ_SHAPE(8, 8));
    FAILS(lz_mark_sharding(y, m, LZ_SPEC("2", NULL)), LZ_EINVAL, "axis \"2\"");
    FAILS(lz_mark_sharding(y, m, LZ_SPEC("-1", NULL)), LZ_EINVAL, "axis \"-1\"");
    FAILS(lz_mark_sharding(y, m, LZ_SPEC("data", "0")), LZ_EINVAL, "used twice");
}
END_TEST

/* ---- values that are placed alike ---- */

/* What has no mark of its own is where the other is, step for step by one program. */
START_TEST(alike)
{
    char text[64];
    float v[64], want[64];
    int64_t compiled = 0;
    use();
    lz_mesh *m = mesh_2x4();
    for (int step = 0; step < 4; step++) {
        OK(lz_scope_begin());
        rt_fill(v, 64);
        lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(8, 8), v),
                  *y = lz_with_sharding(lz_mul_scalar(x, 2), m, LZ_SPEC("model", "data")), *a, *b;
        OK(lz_shard_as(lz_mul_scalar(x, 3), y, &a, &b));
        if (_i)
            OK(lz_mark_step());
        for (int i = 0; i < 64; i++)
            want[i] = 3 * v[i];
        same(a, want, 1e-6);
        for (int i = 0; i < 64; i++)
            want[i] = 2 * v[i];
        same(b, want, 1e-6);
        lz_get_sharding(a, text, sizeof text);
        if (_i)
            ck_assert_str_eq(text, "{devices=[4,2]<=[2,4]T(1,0)}");
        if (step == 0)
            compiled = lz_counter_value("UncachedCompile");
        OK(lz_scope_end());
    }
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), compiled);
}
END_TEST

static void alike_round(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)i;
    (void)user;
    OK(lz_shard_as(lz_mul_scalar(in[0], 2), in[1], &out[0], &out[1]));
}

START_TEST(alike_in_loops)
{
    float v[64], want[64];
    int64_t compiled = 0;
    use();
    lz_mesh *m = mesh_2x4();
    for (int step = 0; step < 3; step++) {
        OK(lz_scope_begin());
        rt_fill(v, 64);
        for (int i = 0; i < 64; i++)
            want[i] = 8 * v[i];
        lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(8, 8), v), *out[2];
        lz_tensor *in[] = {x, lz_with_sharding(x, m, LZ_SPEC("data", "model"))};
        OK(lz_requires_grad(x, true));
        OK(lz_fori(0, 3, in, 2, alike_round, NULL, out));
        OK(lz_backward(lz_sum(lz_mul(out[0], out[1]))));
        ck_assert_ptr_nonnull(lz_retain(out[0]));
        OK(lz_mark_step());
        same(out[0], want, 1e-6);
        OK(lz_release(out[0]));
        for (int i = 0; i < 64; i++)
            want[i] = 16 * v[i];
        same(lz_grad_of(x), want, 1e-5);
        if (step == 0)
            compiled = lz_counter_value("UncachedCompile");
        OK(lz_scope_end());
    }
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), compiled);
}
END_TEST

START_TEST(alike_errors)
{
    use();
    lz_tensor *x = random_tensor(LZ_SHAPE(8, 8)), *y = random_tensor(LZ_SHAPE(8)), *a, *b;
    FAILS(lz_shard_as(x, y, &a, &b), LZ_EINVAL, "a has 2 dimensions, b has 1");
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "t_spmd.c"));
    FAILS(lz_status_of(b), LZ_EINVAL, "lz_shard_as");
    FAILS(lz_shard_as(x, x, &a, NULL), LZ_ENULL, "out_b");
    FAILS(lz_shard_as(NULL, x, &a, &b), LZ_ENULL, "");
    lz_mesh *m = mesh_2x4();
    OK(lz_shard_as(lz_with_sharding(x, m, LZ_SPEC("data", NULL)),
                   lz_with_sharding(x, m, LZ_SPEC(NULL, "data")), &a, &b));
    float v[64];
    FAILS(lz_to_host(lz_add(a, b), v, sizeof v), LZ_EINVAL, "sharding group");
    OK(lz_set_device(first_device()));
    x = random_tensor(LZ_SHAPE(8));
    OK(lz_shard_as(x, x, &a, &b)); /* one device has all of it */
}
END_TEST

/* ---- functions of the program's own ---- */

static lz_status add_one(const lz_ffi_call *call, void *user)
{
    ++*(int *)user;
    for (size_t i = 0; i < call->args[0].nbytes / sizeof(float); i++)
        ((float *)call->rets[0].data)[i] = ((const float *)call->args[0].data)[i] + 1;
    return LZ_OK;
}

/* Once, on a mesh of one device or of several. */
START_TEST(calls_with_effects)
{
    static int calls;
    float v[4] = {1, 2, 3, 4}, want[4] = {2, 3, 4, 5};
    use();
    if (_i == 0)
        use_devices("1");
    OK(lz_ffi_register("add_one", add_one, &calls));
    static const char text[] =
        "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {"
        "  %0 = stablehlo.custom_call @add_one(%a) {has_side_effect = true} :"
        "       (tensor<4xf32>) -> tensor<4xf32>"
        "  return %0 : tensor<4xf32> }";
    lz_stablehlo *program = lz_stablehlo_parse(text, sizeof text - 1, "text");
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(4), v), *y = NULL;
    OK(lz_stablehlo_call(program, &x, 1, &y, 1));
    same(y, want, 0);
    ck_assert_int_eq(calls, 1);
    lz_stablehlo_free(program);
}
END_TEST

START_TEST(errors)
{
    use();
    lz_mesh *m = mesh_2x4();
    lz_tensor *x = random_tensor(LZ_SHAPE(8, 8)),
              *nothing = lz_matmul(x, random_tensor(LZ_SHAPE(3)));
    FAILS(lz_mark_sharding(x, m, LZ_SPEC("data")), LZ_EINVAL, "1 dimensions");
    FAILS(lz_mark_sharding(x, m, LZ_SPEC("data", "dat")), LZ_EINVAL, "axis \"dat\" is not defined");
    FAILS(lz_mark_sharding(x, m, LZ_SPEC("data", "data")), LZ_EINVAL, "used twice");
    FAILS(lz_mark_sharding(x, NULL, LZ_SPEC("data", NULL)), LZ_ENULL, "mesh is NULL");
    FAILS(lz_mark_sharding(nothing, m, LZ_SPEC("data", NULL)), LZ_ESHAPE, "");
    OK(lz_mark_sharding(x, m, LZ_SPEC("data", NULL)));
    OK(lz_mark_sharding(x, m, LZ_SPEC("data", NULL)));
    FAILS(lz_mark_sharding(x, m, LZ_SPEC(NULL, "data")), LZ_EINVAL, "lz_clear_sharding");
    const char *const one[] = {"all"};
    lz_mesh *small = lz_mesh_new(NULL, (const int64_t[]){4}, one, 1);
    FAILS(lz_mark_sharding(random_tensor(LZ_SHAPE(4)), small, LZ_SPEC("all")), LZ_EINVAL,
          "4 devices");
    ck_assert_ptr_null(lz_mesh_new((const int64_t[]){0, 1, 1, 3}, (const int64_t[]){4}, one, 1));
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "device 1 is there twice"));
    ck_assert_ptr_null(lz_mesh_new(NULL, (const int64_t[]){0}, one, 1));
    OK(lz_set_device(first_device()));
    FAILS(lz_mark_sharding(random_tensor(LZ_SHAPE(8)), m, LZ_SPEC("data")), LZ_ESTATE,
          first_device());
    ck_assert(!lz_is_spmd());
}
END_TEST

START_TEST(late)
{
    float v[64];
    char device[32];
    rt_use(rt_devices[1]);
    use_devices("8");
    rt_fill(v, 64);
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(8, 8), v);
    ck_assert(!lz_is_spmd());
    OK(lz_use_spmd());
    ck_assert(lz_is_spmd());
    OK(lz_mark_sharding(x, mesh_2x4(), LZ_SPEC("data", "model")));
    lz_device_of(x, device, sizeof device);
    ck_assert_str_eq(device, "SPMD:0");
    OK(lz_mark_step());
    same(x, v, 0);
}
END_TEST

/* ---- training ---- */

enum { BATCH = 32, IN = 12, HIDDEN = 20, OUT = 4, STEPS = 6 };

typedef struct model {
    lz_linear_layer a, b;
    lz_params ps;
    lz_optim *o;
} model;

typedef enum plan { ONE_DEVICE, UNMARKED, DATA, TENSOR, FSDP, PLANS } plan;

static void mark(model *n, plan p)
{
    lz_mesh *m = p > UNMARKED ? mesh_2x4() : NULL;
    if (p == TENSOR) {
        OK(lz_mark_sharding(n->a.weight, m, LZ_SPEC("model", NULL)));
        OK(lz_mark_sharding(n->a.bias, m, LZ_SPEC("model")));
        OK(lz_mark_sharding(n->b.weight, m, LZ_SPEC(NULL, "model")));
    }
    if (p == FSDP) {
        OK(lz_mark_sharding(n->a.weight, m, LZ_SPEC("data,model", NULL)));
        OK(lz_mark_sharding(n->b.weight, m, LZ_SPEC(NULL, "data,model")));
    }
}

static double step(model *n, plan p)
{
    double loss;
    OK(lz_scope_begin());
    lz_tensor *x = random_tensor(LZ_SHAPE(BATCH, IN)), *y = random_tensor(LZ_SHAPE(BATCH, OUT));
    if (p > UNMARKED) {
        OK(lz_mark_sharding(x, mesh_2x4(), LZ_SPEC(p == FSDP ? "data,model" : "data", NULL)));
        OK(lz_mark_sharding(y, mesh_2x4(), LZ_SPEC(p == FSDP ? "data,model" : "data", NULL)));
    }
    lz_tensor *h = lz_tanh(lz_linear_layer_forward(&n->a, x));
    lz_tensor *l = lz_mse_loss(lz_linear_layer_forward(&n->b, h), y);
    OK(lz_backward(l));
    OK(lz_optim_step(n->o));
    OK(lz_optim_zero_grad(n->o));
    OK(lz_mark_step());
    loss = lz_item(l);
    OK(lz_scope_end());
    return loss;
}

/* Losses of a few steps; the programs of the steps behind the first. */
static int64_t train(plan p, double losses[STEPS])
{
    model n = {0};
    int64_t compiled = 0;
    OK(lz_set_device(p == ONE_DEVICE ? first_device() : "SPMD:0"));
    OK(lz_manual_seed(7));
    OK(lz_linear_layer_init(&n.a, &n.ps, "a", IN, HIDDEN, true, LZ_F32));
    OK(lz_linear_layer_init(&n.b, &n.ps, "b", HIDDEN, OUT, true, LZ_F32));
    n.o = lz_adam(&n.ps, .lr = 1e-2);
    mark(&n, p);
    OK(lz_mark_step());
    seed = 1;
    for (int i = 0; i < STEPS; i++) {
        losses[i] = step(&n, p);
        compiled = i ? compiled : -lz_counter_value("UncachedCompile");
    }
    compiled += lz_counter_value("UncachedCompile");
    lz_optim_free(n.o);
    lz_params_free(&n.ps);
    return compiled;
}

START_TEST(trains_as_one_device)
{
    double one[STEPS], all[STEPS];
    use();
    train(ONE_DEVICE, one);
    int64_t compiled = train((plan)_i, all);
    for (int i = 0; i < STEPS; i++)
        ck_assert_msg(fabs(one[i] - all[i]) <= 1e-5 * fabs(one[i]), "step %d: %.9g, not %.9g", i,
                      all[i], one[i]);
    ck_assert_int_eq(compiled, 0);
}
END_TEST

/* The same steps as calls of a recorded function. */
static void step_in_function(lz_tensor *const *in, lz_tensor **out, void *user)
{
    model *n = user;
    lz_tensor *h = lz_tanh(lz_linear_layer_forward(&n->a, in[0]));
    out[0] = lz_mse_loss(lz_linear_layer_forward(&n->b, h), in[1]);
    OK(lz_backward(out[0]));
    OK(lz_optim_step(n->o));
    OK(lz_optim_zero_grad(n->o));
}

START_TEST(trains_in_a_function)
{
    double one[STEPS];
    model n = {0};
    lz_function *f = NULL;
    use();
    train(ONE_DEVICE, one);
    OK(lz_set_device("SPMD:0"));
    OK(lz_manual_seed(7));
    OK(lz_linear_layer_init(&n.a, &n.ps, "a", IN, HIDDEN, true, LZ_F32));
    OK(lz_linear_layer_init(&n.b, &n.ps, "b", HIDDEN, OUT, true, LZ_F32));
    n.o = lz_adam(&n.ps, .lr = 1e-2);
    mark(&n, (plan)_i);
    OK(lz_mark_step());
    seed = 1;
    for (int i = 0; i < STEPS; i++) {
        lz_tensor *in[2], *loss;
        OK(lz_scope_begin());
        in[0] = random_tensor(LZ_SHAPE(BATCH, IN));
        in[1] = random_tensor(LZ_SHAPE(BATCH, OUT));
        if (!f)
            OK(lz_function_trace(step_in_function, &n, in, 2, 1, &f));
        OK(lz_function_call(f, in, 2, &loss, 1));
        double got = lz_item(loss);
        ck_assert_msg(fabs(one[i] - got) <= 1e-5 * fabs(one[i]), "step %d: %.9g, not %.9g", i, got,
                      one[i]);
        OK(lz_scope_end());
    }
    lz_function_free(f);
    lz_optim_free(n.o);
    lz_params_free(&n.ps);
}
END_TEST

/* ---- pictures ---- */

START_TEST(pictures)
{
    char text[2000];
    use();
    setenv("LC_ALL", "C", 1);
    float v[6 * 4] = {0};
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(6, 4), v);
    ck_assert_uint_eq(lz_sharding_table(x, text, sizeof text), 0);
    ck_assert_int_eq(lz_last_error(NULL), LZ_ESTATE);
    OK(lz_mark_sharding(x, mesh_2x4(), LZ_SPEC("data", NULL)));
    ck_assert_uint_lt(lz_sharding_table(x, text, sizeof text), sizeof text);
    ck_assert_str_eq(text,
                     "f32[6,4] {devices=[2,1,4]<=[8] last_tile_dim_replicate}: dimension 0 down in "
                     "2, dimension 1 across in 1 of 8 devices\n"
                     "+------------------+\n"
                     "| CPU [0, 1, 2, 3] |\n"
                     "|       3x4        |\n"
                     "+------------------+\n"
                     "| CPU [4, 5, 6, 7] |\n"
                     "|       3x4        |\n"
                     "+------------------+\n");
    ck_assert_uint_gt(lz_sharding_svg(x, text, sizeof text), 500);
    ck_assert_int_eq(strncmp(text, "<svg ", 5), 0);
    OK(lz_visualize_tensor_sharding(x));
    setenv("LC_ALL", "C.UTF-8", 1);
    ck_assert_uint_gt(lz_sharding_text_table("{devices=[2]<=[2]}", text, sizeof text), 0);
    ck_assert_ptr_nonnull(strstr(text, "┌"));
    ck_assert_uint_gt(lz_sharding_text_svg("{replicated}", text, sizeof text), 0);
    ck_assert_ptr_nonnull(strstr(text, "CPU [0, 1, 2, 3, 4, 5, 6, 7]"));
    OK(lz_visualize_sharding("{devices=[2,2]0,1,2,3}"));
    ck_assert_int_eq(lz_visualize_sharding("{devices=[2,2]}"), LZ_EPARSE);
    ck_assert_int_eq(lz_visualize_sharding(NULL), LZ_ENULL);
    ck_assert_int_eq(lz_visualize_tensor_sharding(NULL), LZ_ENULL);
}
END_TEST

/* PT_XLA_DEBUG says what a compiled program sends, and why. */
START_TEST(analysis)
{
    static char text[20000];
    char path[] = "/tmp/t_spmd_XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    use();
    setenv("PT_XLA_DEBUG_LEVEL", "1", 1);
    setenv("PT_XLA_DEBUG_FILE", path, 1);
    float v[8 * 8] = {1};
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(8, 8), v);
    OK(lz_mark_sharding(x, mesh_2x4(), LZ_SPEC("data", NULL)));
    lz_tensor *y = lz_sum(x);
    ck_assert_ptr_nonnull(y);
    OK(lz_mark_step());
    OK(lz_wait_device_ops());
    ssize_t n = read(fd, text, sizeof text - 1);
    ck_assert_int_gt((int)n, 0);
    close(fd);
    unlink(path);
    ck_assert_ptr_nonnull(strstr(
        text, "Post Compilation Analysis: #0 all_reduce along {\"data\"}, groups of 2: f32[]"));
    ck_assert_ptr_nonnull(strstr(text, "Post Compilation Analysis: 1 collectives, "));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("spmd");
    TCase *t = tcase_create("spmd");
    tcase_set_timeout(t, 60);
    bool on_cpu = strcmp(rt_devices[1], "CPU") == 0; /* the others name it */
    if (on_cpu)
        tcase_add_test(t, pictures);
    tcase_add_test(t, analysis);
    tcase_add_loop_test(t, there_and_back, 0, PLACES);
    tcase_add_loop_test(t, moved, 0, PLACES);
    tcase_add_test(t, programs_by_placement);
    if (on_cpu)
        tcase_add_loop_test(t, platforms, 0, 5);
    tcase_add_loop_test(t, meshes_meet, 0, 2);
    tcase_add_test(t, meshes_that_differ);
    tcase_add_test(t, one_buffer_in_two_places);
    tcase_add_test(t, hybrid_meshes);
    tcase_add_test(t, numbered_axes);
    tcase_add_loop_test(t, alike, 0, 2);
    tcase_add_test(t, alike_in_loops);
    tcase_add_test(t, alike_errors);
    tcase_add_loop_test(t, calls_with_effects, 0, 2);
    tcase_add_test(t, errors);
    tcase_add_test(t, late);
    tcase_add_loop_test(t, trains_as_one_device, UNMARKED, PLANS);
    tcase_add_loop_test(t, trains_in_a_function, UNMARKED, PLANS);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
