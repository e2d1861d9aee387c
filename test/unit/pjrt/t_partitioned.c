/* t_partitioned.c - the plugin with eight devices: programs whose marks say how arrays are sharded
 * over them, in sdy and in HLO's strings, replicas, devices in any order, donation of all parts,
 * what a host is told of parameters and results; and what it may get wrong. */
#include "base/alloc.h"
#include "unit/pjrt/partitioned.h"
#include <pthread.h>

/* ---- partitions ---- */

#define MESH "mesh<[\"x\"=4, \"y\"=2]>"
#define PRODUCT(A, B, C)                                                                           \
    "module @product {\n  sdy.mesh @m = <[\"x\"=4, \"y\"=2]>\n"                                    \
    "  func.func @main(%a: tensor<8x6xf32> {" A "}, %b: tensor<6x4xf32> {" B "})"                  \
    " -> (tensor<8x4xf32> {" C "}) {\n"                                                            \
    "    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x6xf32>, "     \
    "tensor<6x4xf32>) -> tensor<8x4xf32>\n    return %0 : tensor<8x4xf32>\n  }\n}\n"
#define SDY(dims) "sdy.sharding = #sdy.sharding<@m, " dims ">"
static const char marked[] =
    PRODUCT(SDY("[{\"x\"}, {\"y\"}]"), SDY("[{\"y\"}, {}]"), SDY("[{\"x\"}, {}]"));
static const char gspmd[] =
    PRODUCT("mhlo.sharding = \"{devices=[4,2]<=[8]}\"",
            "mhlo.sharding = \"{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}\"",
            "mhlo.sharding = \"{devices=[4,1,2]<=[8] last_tile_dim_replicate}\"");

typedef struct product {
    const lz_type *a, *b, *c;
    float x[48], y[24], z[32];
} product;

static void product_begin(product *p)
{
    p->a = type_of(2, (const int64_t[]){8, 6});
    p->b = type_of(2, (const int64_t[]){6, 4});
    p->c = type_of(2, (const int64_t[]){8, 4});
    count_up(p->x, 48, 7);
    count_up(p->y, 24, 5);
    memset(p->z, 0, sizeof p->z);
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 6; k++)
            for (int j = 0; j < 4; j++)
                p->z[4 * i + j] += p->x[6 * i + k] * p->y[4 * k + j];
}

static void give_product(lists *l, const product *p, const int32_t *device)
{
    lists_begin(l, N);
    give(l, 0, "<" MESH ", [{\"x\"}, {\"y\"}]>", p->a, p->x, device, NULL);
    give(l, 1, "<" MESH ", [{\"y\"}, {}]>", p->b, p->y, device, NULL);
}

/* The same program in both ways of saying it, on the devices in their order and in another. */
START_TEST(partitions)
{
    static const int32_t backwards[N] = {5, 6, 7, 0, 4, 3, 2, 1};
    product p;
    product_begin(&p);
    for (int way = 0; way < 4; way++) {
        const int32_t *device = way & 1 ? backwards : NULL;
        PJRT_LoadedExecutable *x = compile_partitioned(way & 2 ? gspmd : marked, N, device, false);
        lists l;
        for (int twice = 0; twice < 2; twice++) {
            give_product(&l, &p, device);
            run_partitioned(x, &l, 2);
            expect_whole(&l, 0, "<" MESH ", [{\"x\"}, {}]>", p.c, p.z, device);
            lists_end(&l);
        }
        PJRT_LoadedExecutable_AddressableDevices_Args on =
            ARGS(LoadedExecutable_AddressableDevices, .executable = x);
        CALL(LoadedExecutable_AddressableDevices, &on);
        ck_assert_uint_eq(on.num_addressable_devices, N);
        for (int d = 0; d < N; d++)
            ck_assert_ptr_eq(on.addressable_devices[d], devices[device ? device[d] : d]);
        end_executable(x);
    }
}
END_TEST

/* Some devices only: a part of a result is used where it is, by a program of that device. */
START_TEST(some_devices)
{
    static const char text[] =
        "module {\n  sdy.mesh @m = <[\"x\"=3]>\n"
        "  func.func @main(%a: tensor<6xf32> {" SDY(
            "[{\"x\"}]") "})"
                         " -> (tensor<6xf32> {" SDY(
                             "[{\"x\"}]") "}) {\n"
                                          "    %0 = stablehlo.reverse %a, dims = [0] : "
                                          "tensor<6xf32>\n"
                                          "    return %0 : tensor<6xf32>\n  }\n}\n",
                      next[] = "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
                               "  %0 = stablehlo.add %a, %a : tensor<2xf32>\n"
                               "  return %0 : tensor<2xf32>\n}\n";
    static const int32_t own[3] = {7, 2, 4}, second[1] = {2};
    const lz_type *t = type_of(1, (const int64_t[]){6});
    const float v[6] = {1, 2, 3, 4, 5, 6}, want[6] = {6, 5, 4, 3, 2, 1};
    float got[2];
    PJRT_LoadedExecutable *x = compile_partitioned(text, 3, own, false), *y;
    lists l;
    lists_begin(&l, 3);
    give(&l, 0, "<mesh<[\"x\"=3]>, [{\"x\"}]>", t, v, own, NULL);
    run_partitioned(x, &l, 1);
    expect_whole(&l, 0, "<mesh<[\"x\"=3]>, [{\"x\"}]>", t, want, own);
    y = compile_partitioned(next, 1, second, false);
    PJRT_Buffer *out[1];
    run(y, &l.out[1][0], 1, out);
    download(out[0], got, sizeof got);
    ck_assert(got[0] == 8 && got[1] == 6);
    expect(run_with(y, &l.out[0][0], 1, NULL, 0, &l.out[0][1], NULL), PJRT_INVALID_ARGUMENT,
           "argument 0 is on");
    drop(out[0]);
    lists_end(&l);
    end_executable(x);
    end_executable(y);
}
END_TEST

/* A mesh that has its devices in an order of its own, of a parameter; with collectives of the
 * program's own beside it, or in the order of one of two results, it is refused. */
START_TEST(orders)
{
#define ORDERED "sdy.mesh @n = <[\"x\"=4], device_ids=[2, 0, 3, 1]>\n"
    static const char
        text[] = "module {\n  sdy.mesh @m = <[\"x\"=4]>\n  " ORDERED
                 "  func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@n, "
                 "[{\"x\"}]>}) -> (tensor<8xf32> {" SDY(
                     "[{\"x\"}]") "}) {\n"
                                  "    %0 = stablehlo.add %a, %a : tensor<8xf32>\n"
                                  "    return %0 : tensor<8xf32>\n  }\n}\n",
        two[] = "module {\n  sdy.mesh @m = <[\"x\"=4]>\n  " ORDERED
                "  func.func @main(%a: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = "
                "#sdy.sharding<@n, [{\"x\"}]>}, tensor<8xf32> {" SDY(
                    "[{\"x\"}]") "}) {\n"
                                 "    return %a, %a : tensor<8xf32>, tensor<8xf32>\n  }\n}\n",
        own[] = "module {\n  " ORDERED
                "  func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@n, "
                "[{\"x\"}]>}) -> tensor<ui32> {\n"
                "    %0 = stablehlo.partition_id : tensor<ui32>\n"
                "    return %0 : tensor<ui32>\n  }\n}\n";
    static const int order[4] = {2, 0, 3, 1};
    const lz_type *t = type_of(1, (const int64_t[]){8});
    const float v[8] = {1, 2, 3, 4, 5, 6, 7, 8}, want[8] = {2, 4, 6, 8, 10, 12, 14, 16};
    PJRT_LoadedExecutable *x = compile_partitioned(text, 4, NULL, false);
    lists l;
    lists_begin(&l, 4);
    give(&l, 0, "<mesh<[\"x\"=4]>, [{\"x\"}]>", t, v, NULL, order);
    run_partitioned(x, &l, 1);
    expect_whole(&l, 0, "<mesh<[\"x\"=4]>, [{\"x\"}]>", t, want, NULL);
    lists_end(&l);
    end_executable(x);
    expect(try_compile(two, 1, 4, NULL, false, &x), PJRT_UNIMPLEMENTED, "different orders");
    expect(try_compile(own, 1, 4, NULL, false, &x), PJRT_UNIMPLEMENTED, "collectives");
}
END_TEST

/* ---- replicas ---- */

/* Each has its own value; replica 0 is on device 3. */
START_TEST(replicas)
{
    static const char text[] =
        "func.func @main(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<ui32>, tensor<ui32>) {\n"
        "  %0 = \"stablehlo.all_reduce\"(%a) ({\n  ^bb0(%p: tensor<f32>, %q: tensor<f32>):\n"
        "    %s = stablehlo.add %p, %q : tensor<f32>\n    stablehlo.return %s : tensor<f32>\n"
        "  }) {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<2xf32>) -> "
        "tensor<2xf32>\n"
        "  %1 = stablehlo.replica_id : tensor<ui32>\n"
        "  %2 = stablehlo.partition_id : tensor<ui32>\n"
        "  return %0, %1, %2 : tensor<2xf32>, tensor<ui32>, tensor<ui32>\n}\n";
    static const int32_t own[4] = {3, 1, 0, 2};
    const lz_type *t = type_of(1, (const int64_t[]){2});
    PJRT_LoadedExecutable *x;
    must(try_compile(text, 4, 1, own, false, &x), "Client_Compile");
    PJRT_Executable *e = executable_of(x);
    PJRT_Executable_NumReplicas_Args n = ARGS(Executable_NumReplicas, .executable = e);
    CALL(Executable_NumReplicas, &n);
    ck_assert_uint_eq(n.num_replicas, 4);
    lists l;
    lists_begin(&l, 4);
    for (int d = 0; d < 4; d++)
        l.in[d][0] = upload_to(own[d], (const float[]){(float)d, 10}, t);
    run_partitioned(x, &l, 1);
    for (int d = 0; d < 4; d++) {
        float sum[2];
        uint32_t number[2];
        download(l.out[d][0], sum, sizeof sum);
        download(l.out[d][1], &number[0], 4);
        download(l.out[d][2], &number[1], 4);
        ck_assert(sum[0] == 6 && sum[1] == 40);
        ck_assert(number[0] == (uint32_t)d && number[1] == 0);
    }
    lists_end(&l);
    end_plain(e);
    end_executable(x);
    expect(try_compile(text, 2, 2, NULL, false, &x), PJRT_UNIMPLEMENTED, "2 replicas of 2");
}
END_TEST

/* ---- what a host is told ---- */

static void expect_shardings(PJRT_LoadedExecutable *x, bool results, size_t n,
                             const char *const *want, const size_t *size)
{
    const PJRT_Extension_Base *base = api->extension_start;
    while (base && base->type != PJRT_EXTENSION_SHARDINGS)
        base = base->next;
    ck_assert(base != NULL);
    const PJRT_Shardings_Extension *s = (const void *)base;
    PJRT_Executable *e = executable_of(x);
    PJRT_Shardings_Args a = {.struct_size = sizeof a, .executable = e};
    must(results ? s->OutputShardings(&a) : s->ParameterShardings(&a), "Shardings");
    ck_assert_uint_eq(a.num, n);
    for (size_t i = 0; i < n; i++) {
        ck_assert_uint_eq(a.sharding_sizes[i], size[i]);
        ck_assert_int_eq(memcmp(a.shardings[i], want[i], size[i]), 0);
    }
    end_plain(e);
}

/* OpSharding: tiles of [4, 2]; of [2, 1] with 4 copies; of [4, 1] with 2. */
START_TEST(shardings)
{
    static const char a[] = "\x08\x03\x1a\x02\x04\x02\x22\x08\0\1\2\3\4\5\6\7",
                      b[] = "\x08\x03\x1a\x03\x02\x01\x04\x22\x08\0\2\4\6\1\3\5\7\x30\x01",
                      c[] = "\x08\x03\x1a\x03\x04\x01\x02\x22\x08\0\1\2\3\4\5\6\7\x30\x01",
                      all[] = "\x08\0";
    static const char none[] = "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
                               "  return %a : tensor<2xf32>\n}\n";
    PJRT_LoadedExecutable *x = compile_partitioned(marked, N, NULL, false);
    expect_shardings(x, false, 2, (const char *const[]){a, b},
                     (const size_t[]){sizeof a - 1, sizeof b - 1});
    expect_shardings(x, true, 1, (const char *const[]){c}, (const size_t[]){sizeof c - 1});
    end_executable(x);
    x = compile_partitioned(none, 3, NULL, true);
    expect_shardings(x, true, 1, (const char *const[]){all}, (const size_t[]){sizeof all - 1});
    end_executable(x);
}
END_TEST

/* What has no mark is whole on every device, or, if the host allows it, sharded like what it comes
 * from, but evenly and along whole axes: 12 rows over 4 and 10 over 2. */
START_TEST(unmarked)
{
    static const char text[] =
        "module {\n  sdy.mesh @m = <[\"x\"=2, \"y\"=2]>\n"
        "  func.func @main(%a: tensor<12xf32> {" SDY(
            "[{\"x\", \"y\"}]") "}) -> (tensor<12xf32>, "
                                "tensor<10xf32>, tensor<3xf32>) {\n"
                                "    %0 = stablehlo.negate %a : tensor<12xf32>\n"
                                "    %1 = stablehlo.slice %a [0:10] : (tensor<12xf32>) -> "
                                "tensor<10xf32>\n"
                                "    %2 = stablehlo.slice %a [0:3] : (tensor<12xf32>) -> "
                                "tensor<3xf32>\n"
                                "    return %0, %1, %2 : tensor<12xf32>, tensor<10xf32>, "
                                "tensor<3xf32>\n  }\n}\n";
#define SQUARE "<mesh<[\"x\"=2, \"y\"=2]>, "
    const lz_type *t[] = {type_of(1, (const int64_t[]){12}), type_of(1, (const int64_t[]){10}),
                          type_of(1, (const int64_t[]){3})};
    float v[12], minus[12];
    count_up(v, 12, 12);
    for (int i = 0; i < 12; i++)
        minus[i] = -v[i];
    for (int may = 0; may < 3; may++) {
        PJRT_LoadedExecutable *x = compile_partitioned(text, 4, NULL, may);
        lists l;
        lists_begin(&l, 4);
        give(&l, 0, SQUARE "[{\"x\", \"y\"}]>", t[0], v, NULL, NULL);
        run_partitioned(x, &l, 1);
        expect_whole(&l, 0, may ? SQUARE "[{\"x\", \"y\"}]>" : SQUARE "[{}]>", t[0], minus, NULL);
        expect_whole(&l, 1, may ? SQUARE "[{\"x\"}]>" : SQUARE "[{}]>", t[1], v, NULL);
        expect_whole(&l, 2, SQUARE "[{}]>", t[2], v, NULL);
        lists_end(&l);
        end_executable(x);
    }
}
END_TEST

/* A program in bytes, and the partitioned one as text. */
START_TEST(bytes_and_text)
{
    product p;
    product_begin(&p);
    PJRT_LoadedExecutable *x = compile_partitioned(marked, N, NULL, false), *y;
    PJRT_Executable *e = executable_of(x);
    PJRT_Executable_GetCompiledMemoryStats_Args m =
        ARGS(Executable_GetCompiledMemoryStats, .executable = e);
    CALL(Executable_GetCompiledMemoryStats, &m); /* of one device */
    ck_assert_int_eq(m.argument_size_in_bytes, (2 * 3 + 3 * 4) * 4);
    ck_assert_int_eq(m.output_size_in_bytes, 2 * 4 * 4);
    PJRT_Executable_Serialize_Args s = ARGS(Executable_Serialize, .executable = e);
    CALL(Executable_Serialize, &s);
    PJRT_Executable_DeserializeAndLoad_Args d =
        ARGS(Executable_DeserializeAndLoad, .client = client,
             .serialized_executable = s.serialized_bytes,
             .serialized_executable_size = s.serialized_bytes_size);
    CALL(Executable_DeserializeAndLoad, &d);
    y = d.loaded_executable;
    s.serialized_executable_deleter(s.serialized_executable);
    lists l;
    give_product(&l, &p, NULL);
    run_partitioned(y, &l, 2);
    expect_whole(&l, 0, "<" MESH ", [{\"x\"}, {}]>", p.c, p.z, NULL);
    lists_end(&l);
    PJRT_Program g = {.struct_size = sizeof g};
    PJRT_Executable_OptimizedProgram_Args o =
        ARGS(Executable_OptimizedProgram, .executable = e, .program = &g);
    CALL(Executable_OptimizedProgram, &o);
    g.code = calloc(1, g.code_size + 1);
    CALL(Executable_OptimizedProgram, &o);
    ck_assert_msg(strstr(g.code, "stablehlo.all_reduce") != NULL, "%s", g.code);
    ck_assert(strstr(g.code, "tensor<2x3xf32>") != NULL && !strstr(g.code, "sdy."));
    /* where parameters and results are, for hosts that read it there */
    ck_assert_msg(strstr(g.code,
                         "attributes {mhlo.num_partitions = 8 : i32, "
                         "mhlo.spmd_output_sharding = \"{devices=[4,1,2]0,1,2,3,4,5,6,7 "
                         "last_tile_dim_replicate}\", mhlo.spmd_parameters_shardings = "
                         "[\"{devices=[4,2]0,1,2,3,4,5,6,7}\", "
                         "\"{devices=[2,1,4]0,2,4,6,1,3,5,7 last_tile_dim_replicate}\"]}") != NULL,
                  "%s", g.code);
    lz_func *f;
    ck_assert_msg(lz_func_parse(g.code, g.code_size, "text", &f) == LZ_OK, "%s",
                  lz_error_get()->message);
    ck_assert_uint_eq(f->nparam, 2);
    lz_func_free(f);
    g.code_size = 3;
    expect(api->Executable_OptimizedProgram(&o), PJRT_INVALID_ARGUMENT, "room for 3 bytes");
    free(g.code);
    end_plain(e);
    end_executable(x);
    end_executable(y);
}
END_TEST

/* ---- donation ---- */

static const char donating[] =
    "module {\n  sdy.mesh @m = <[\"x\"=8]>\n"
    "  func.func @main(%a: tensor<800xf32> {tf.aliasing_output = 0 : i32, " SDY(
        "[{\"x\"}]") "}, "
                     "%b: tensor<800xf32> {" SDY("[{\"x\"}]") "}) -> (tensor<800xf32> {" SDY(
                         "[{\"x\"}]") "}) {\n"
                                      "    %0 = stablehlo.add %a, %b : tensor<800xf32>\n    return "
                                      "%0 : tensor<800xf32>\n  }\n}\n";
#define ROW "<mesh<[\"x\"=8]>, [{\"x\"}]>"

static void give_pair(lists *l, const lz_type *t, const float *v)
{
    lists_begin(l, N);
    give(l, 0, ROW, t, v, NULL, NULL);
    give(l, 1, ROW, t, v, NULL, NULL);
}

START_TEST(donation)
{
    const lz_type *t = type_of(1, (const int64_t[]){800});
    static float v[800], twice[800], got[100];
    static const int64_t first[] = {0};
    count_up(v, 800, 800);
    for (int i = 0; i < 800; i++)
        twice[i] = 2 * v[i];
    PJRT_LoadedExecutable *x = compile_partitioned(donating, N, NULL, false);
    for (int way = 0; way < 3; way++) { /* given up; kept; with a reader outside of one part */
        lists l;
        give_pair(&l, t, v);
        PJRT_Buffer_IncreaseExternalReferenceCount_Args more =
            ARGS(Buffer_IncreaseExternalReferenceCount, .buffer = l.in[5][0]);
        PJRT_Buffer_DecreaseExternalReferenceCount_Args less =
            ARGS(Buffer_DecreaseExternalReferenceCount, .buffer = l.in[5][0]);
        PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args at =
            ARGS(Buffer_OpaqueDeviceMemoryDataPointer, .buffer = l.in[5][0]);
        CALL(Buffer_OpaqueDeviceMemoryDataPointer, &at);
        if (way == 2)
            CALL(Buffer_IncreaseExternalReferenceCount, &more);
        must(try_run(x, &l, 2, first, way == 1), "Execute");
        for (int d = 0; d < N; d++) {
            wait_for(l.done[d]);
            ck_assert(is_deleted(l.in[d][0]) == (way != 1) && !is_deleted(l.in[d][1]));
        }
        expect_whole(&l, 0, ROW, t, twice, NULL);
        if (way == 2) {
            ck_assert_int_eq(memcmp(at.device_memory_ptr, v + 500, sizeof got), 0);
            CALL(Buffer_DecreaseExternalReferenceCount, &less);
        }
        if (way != 1) {
            lists again = l;
            expect(try_run(x, &again, 2, NULL, 0), PJRT_INVALID_ARGUMENT, "donated");
        }
        lists_end(&l);
    }
    lists l;
    give_pair(&l, t, v);
    PJRT_Buffer *spare = l.in[3][1];
    l.in[3][1] = l.in[3][0];
    expect(try_run(x, &l, 2, NULL, 0), PJRT_INVALID_ARGUMENT, "another argument");
    l.in[3][1] = spare;
    for (int d = 0; d < N; d++)
        ck_assert(!is_deleted(l.in[d][0]));
    run_partitioned(x, &l, 2);
    expect_whole(&l, 0, ROW, t, twice, NULL);
    lists_end(&l);
    end_executable(x);
}
END_TEST

/* Where the call fails, whichever allocation it is, all parts are still the caller's. */
START_TEST(donation_that_fails)
{
    const lz_type *t = type_of(1, (const int64_t[]){800});
    static float v[800], twice[800];
    int failed = 0;
    count_up(v, 800, 800);
    for (int i = 0; i < 800; i++)
        twice[i] = 2 * v[i];
    PJRT_LoadedExecutable *x = compile_partitioned(donating, N, NULL, false);
    for (int n = 1; n < 40; n++) {
        lists l;
        give_pair(&l, t, v);
        lz_alloc_fail_at(n, false);
        PJRT_Error *err = try_run(x, &l, 2, NULL, 0);
        lz_alloc_fail_at(0, false);
        bool gone = is_deleted(l.in[0][0]);
        for (int d = 1; d < N; d++)
            ck_assert(is_deleted(l.in[d][0]) == gone);
        if (err) {
            failed++;
            expect(err, PJRT_RESOURCE_EXHAUSTED, "");
            for (int d = 0; d < N; d++)
                ck_assert(l.out[d][0] == NULL);
        } else {
            bool fine = true; /* or it failed while it ran: the events say so */
            for (int d = 0; d < N; d++) {
                PJRT_Event_Await_Args w = ARGS(Event_Await, .event = l.done[d]);
                PJRT_Error *later = api->Event_Await(&w);
                PJRT_Event_Destroy_Args end = ARGS(Event_Destroy, .event = l.done[d]);
                CALL(Event_Destroy, &end);
                fine &= !later;
                if (later)
                    expect(later, PJRT_RESOURCE_EXHAUSTED, "");
            }
            ck_assert(gone);
            if (fine)
                expect_whole(&l, 0, ROW, t, twice, NULL);
        }
        if (!gone) {
            run_partitioned(x, &l, 2);
            expect_whole(&l, 0, ROW, t, twice, NULL);
        }
        lists_end(&l);
    }
    ck_assert_int_gt(failed, 0);
    end_executable(x);
}
END_TEST

/* ---- what a host may get wrong ---- */

START_TEST(wrong)
{
    static const int32_t same[2] = {1, 1}, far[2] = {0, 9};
    PJRT_LoadedExecutable *x;
    expect(try_compile(marked, 1, 9, NULL, false, &x), PJRT_INVALID_ARGUMENT, "on 8 devices");
    expect(try_compile(marked, 1, 4, NULL, false, &x), PJRT_INVALID_ARGUMENT, "of 8 devices");
    expect(try_compile(marked, 1, 2, same, false, &x), PJRT_INVALID_ARGUMENT, "twice");
    expect(try_compile(marked, 1, 2, far, false, &x), PJRT_INVALID_ARGUMENT, "device 9 of 8");
    product p;
    lists l;
    product_begin(&p);
    x = compile_partitioned(marked, N, NULL, false);
    give_product(&l, &p, NULL);
    l.n = 7;
    expect(try_run(x, &l, 2, NULL, 0), PJRT_INVALID_ARGUMENT, "arguments for 7 devices");
    l.n = N;
    expect(try_run(x, &l, 1, NULL, 0), PJRT_INVALID_ARGUMENT, "supplied 1 buffers");
    PJRT_Buffer *b = l.in[2][0];
    l.in[2][0] = l.in[2][1];
    expect(try_run(x, &l, 2, NULL, 0), PJRT_INVALID_ARGUMENT, "argument 0 is f32[3,4]");
    l.in[2][0] = l.in[3][0];
    expect(try_run(x, &l, 2, NULL, 0), PJRT_INVALID_ARGUMENT, "argument 0 is on");
    l.in[2][0] = NULL;
    expect(try_run(x, &l, 2, NULL, 0), PJRT_INVALID_ARGUMENT, "argument 0 is NULL");
    l.in[2][0] = b;
    l.args[6] = NULL;
    expect(try_run(x, &l, 2, NULL, 0), PJRT_INVALID_ARGUMENT, "is NULL");
    l.args[6] = l.in[6];
    PJRT_LoadedExecutable_Execute_Args a =
        ARGS(LoadedExecutable_Execute, .executable = x, .argument_lists = l.args, .num_devices = N,
             .num_args = 2, .output_lists = l.results, .execute_device = devices[1]);
    expect(api->LoadedExecutable_Execute(&a), PJRT_INVALID_ARGUMENT, "chosen");
    a.execute_device = NULL; /* nor does anybody need options or events */
    must(api->LoadedExecutable_Execute(&a), "Execute");
    expect_whole(&l, 0, "<" MESH ", [{\"x\"}, {}]>", p.c, p.z, NULL);
    lists_end(&l);
    end_executable(x);
}
END_TEST

/* ---- threads ---- */

static void *work(void *arg)
{
    PJRT_LoadedExecutable *x = arg;
    product p;
    product_begin(&p);
    for (int i = 0; i < 20; i++) {
        lists l;
        give_product(&l, &p, NULL);
        run_partitioned(x, &l, 2);
        expect_whole(&l, 0, "<" MESH ", [{\"x\"}, {}]>", p.c, p.z, NULL);
        lists_end(&l);
    }
    return NULL;
}

START_TEST(threads)
{
    pthread_t t[4];
    PJRT_LoadedExecutable *x[2] = {compile_partitioned(marked, N, NULL, false),
                                   compile_partitioned(gspmd, N, NULL, false)};
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&t[i], NULL, work, x[i % 2]), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    end_executable(x[0]);
    end_executable(x[1]);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("partitioned");
    TCase *t = tcase_create("devices");
    tcase_add_checked_fixture(t, setup, close_client);
    tcase_add_test(t, partitions);
    tcase_add_test(t, some_devices);
    tcase_add_test(t, orders);
    tcase_add_test(t, replicas);
    tcase_add_test(t, shardings);
    tcase_add_test(t, unmarked);
    tcase_add_test(t, bytes_and_text);
    tcase_add_test(t, donation);
    tcase_add_test(t, donation_that_fails);
    tcase_add_test(t, wrong);
    tcase_add_test(t, threads);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
