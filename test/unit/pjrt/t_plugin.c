/* t_plugin.c - Lazuli as a PJRT plugin: the table, errors, buffers with strides, programs,
 * donation, events, bytes of executables, threads; and what a host may get wrong. */
#include "base/alloc.h"
#include "base/thread.h"
#include "unit/pjrt/host.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the table ---- */

START_TEST(table)
{
    ck_assert_uint_eq(api->struct_size, 1144);
    ck_assert_int_eq(api->pjrt_api_version.minor_version, PJRT_API_MINOR);
    void *const *slot = (void *const *)(const void *)((const char *)api + 40);
    for (int i = 0; i < 138; i++)
        ck_assert_msg(slot[i] != NULL, "slot %d", i);
    PJRT_Client_DmaMap_Args a = ARGS(Client_DmaMap, .client = client);
    expect(api->Client_DmaMap(&a), PJRT_UNIMPLEMENTED, "PJRT_Client_DmaMap");
    PJRT_Plugin_Attributes_Args p = ARGS(Plugin_Attributes);
    CALL(Plugin_Attributes, &p);
    ck_assert_uint_eq(p.num_attributes, 3);
}
END_TEST

/* In the child of a fork every function says so, and reads nothing of its arguments. */
START_TEST(forked)
{
    drop(upload(11, &(float){1}, 0, NULL, NULL)); /* the devices have been used */
    pid_t child = fork();
    if (child == 0) {
        PJRT_Error *(*const *slot)(void *) =
            (PJRT_Error * (*const *)(void *))(const void *)((const char *)api + 40);
        for (int i = 0; i < 138; i++) {
            _Alignas(8) char args[256] = {0};
            *(size_t *)(void *)args = sizeof args;
            bool of_errors =
                i <= PJRT_Error_GetCode_number || i == PJRT_Error_ForEachPayload_number;
            PJRT_Error *e = of_errors ? NULL : slot[i](args);
            PJRT_Error_GetCode_Args c = ARGS(Error_GetCode, .error = e);
            (void)api->Error_GetCode(&c);
            if (!of_errors && c.code != PJRT_FAILED_PRECONDITION)
                _exit(1 + i);
        }
        _exit(0);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(status == 0, "status %d, of slot %d", status, WEXITSTATUS(status) - 1);
}
END_TEST

START_TEST(devices)
{
    PJRT_Client_Devices_Args d = ARGS(Client_Devices, .client = client);
    CALL(Client_Devices, &d);
    ck_assert_uint_ge(d.num_devices, 1);
    PJRT_Device_DefaultMemory_Args m = ARGS(Device_DefaultMemory, .device = d.devices[0]);
    CALL(Device_DefaultMemory, &m);
    ck_assert_ptr_null(m.memory->vtable->get_user_data(m.memory, &client));
    m.memory->vtable->set_user_data(m.memory, &client, &api, NULL);
    ck_assert_ptr_eq(m.memory->vtable->get_user_data(m.memory, &client), &api);
    PJRT_Client_LookupDevice_Args l = ARGS(Client_LookupDevice, .client = client, .id = 99);
    expect(api->Client_LookupDevice(&l), PJRT_INVALID_ARGUMENT, "99");
    /* what is behind the struct of an older host stays as it was */
    PJRT_Device_MemoryStats_Args s = {.struct_size = 104, .device = d.devices[0]};
    s.pool_bytes = 77;
    CALL(Device_MemoryStats, &s);
    ck_assert_int_eq(s.pool_bytes, 77);
    s.struct_size = 32;
    expect(api->Device_MemoryStats(&s), PJRT_INVALID_ARGUMENT, "struct_size is 32");
}
END_TEST

START_TEST(options)
{
    PJRT_NamedValue wrong = {.name = "colour", .name_size = 6, .type = PJRT_BOOL},
                    platform = {.name = "platform",
                                .name_size = 8,
                                .type = PJRT_STRING,
                                .string_value = "ref",
                                .value_size = 3};
    PJRT_Client_Create_Args a = ARGS(Client_Create, .create_options = &wrong, .num_options = 1);
    expect(api->Client_Create(&a), PJRT_INVALID_ARGUMENT, "colour");
    platform.type = PJRT_INT64;
    a.create_options = &platform;
    expect(api->Client_Create(&a), PJRT_INVALID_ARGUMENT, "platform");
    platform.type = PJRT_STRING;
    CALL(Client_Create, &a);
    PJRT_Client_PlatformVersion_Args v = ARGS(Client_PlatformVersion, .client = a.client);
    CALL(Client_PlatformVersion, &v);
    ck_assert_ptr_nonnull(strstr(v.platform_version, "REF"));
    PJRT_Client_Destroy_Args d = ARGS(Client_Destroy, .client = a.client);
    CALL(Client_Destroy, &d);
}
END_TEST

START_TEST(topologies)
{
    PJRT_Client_TopologyDescription_Args t = ARGS(Client_TopologyDescription, .client = client);
    CALL(Client_TopologyDescription, &t);
    PJRT_TopologyDescription_Serialize_Args s =
        ARGS(TopologyDescription_Serialize, .topology = t.topology);
    CALL(TopologyDescription_Serialize, &s);
    PJRT_TopologyDescription_Deserialize_Args r =
        ARGS(TopologyDescription_Deserialize, .serialized_topology = s.serialized_bytes,
             .serialized_topology_size = s.serialized_bytes_size);
    CALL(TopologyDescription_Deserialize, &r);
    PJRT_TopologyDescription_Fingerprint_Args x = ARGS(TopologyDescription_Fingerprint,
                                                       .topology = t.topology),
                                              y = ARGS(TopologyDescription_Fingerprint,
                                                       .topology = r.topology);
    CALL(TopologyDescription_Fingerprint, &x);
    CALL(TopologyDescription_Fingerprint, &y);
    ck_assert_uint_eq(x.fingerprint, y.fingerprint);
    PJRT_TopologyDescription_Destroy_Args d =
        ARGS(TopologyDescription_Destroy, .topology = r.topology);
    CALL(TopologyDescription_Destroy, &d);
    for (size_t n = 0; n < s.serialized_bytes_size; n++) { /* cut short: refused */
        r.serialized_topology_size = n;
        PJRT_Error *e = api->TopologyDescription_Deserialize(&r);
        ck_assert_msg(e != NULL, "%zu bytes", n);
        PJRT_Error_Destroy_Args end = ARGS(Error_Destroy, .error = e);
        api->Error_Destroy(&end);
    }
    s.serialized_topology_deleter(s.serialized_topology);
}
END_TEST

/* ---- buffers ---- */

/* An array of 3 x 4 x 2, as every order of its dimensions and with every sign. */
START_TEST(strides)
{
    static const int order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const int64_t dims[] = {3, 4, 2};
    static const int32_t types[] = {2 /* s8 */, 3, 4, 5, 15 /* c128 */};
    static const size_t sizes[] = {1, 2, 4, 8, 16};
    int64_t size = (int64_t)sizes[_i];
    char host[24 * 16], got[24 * 16];
    for (size_t i = 0; i < sizeof host; i++)
        host[i] = (char)(i * 37 + i / 7);
    for (int o = 0; o < 6; o++)
        for (int signs = 0; signs < 8; signs++) {
            int64_t stride[3], n = size;
            for (int k = 3; k-- > 0; n *= dims[order[o][k]])
                stride[order[o][k]] = n;
            const char *first = host;
            for (int d = 0; d < 3; d++)
                if (signs >> d & 1) {
                    first += stride[d] * (dims[d] - 1);
                    stride[d] = -stride[d];
                }
            PJRT_Buffer *b = upload(types[_i], first, 3, dims, stride);
            download(b, got, (size_t)(24 * size));
            for (int64_t i = 0; i < 24; i++) {
                int64_t at = i / 8 * stride[0] + i / 2 % 4 * stride[1] + i % 2 * stride[2];
                ck_assert_int_eq(memcmp(got + i * size, first + at, (size_t)size), 0);
            }
            drop(b);
        }
}
END_TEST

/* To the host in another order of dimensions. */
START_TEST(host_layouts)
{
    static const int64_t dims[] = {2, 3}, columns[] = {0, 1};
    const float x[] = {1, 2, 3, 4, 5, 6}, want[] = {1, 4, 2, 5, 3, 6};
    float got[6];
    PJRT_Buffer *b = upload(11, x, 2, dims, NULL);
    PJRT_Buffer_MemoryLayout l = {.struct_size = sizeof l, .type = PJRT_LAYOUT_TILED};
    l.tiled.minor_to_major = columns;
    l.tiled.minor_to_major_size = 2;
    PJRT_Buffer_ToHostBuffer_Args a =
        ARGS(Buffer_ToHostBuffer, .src = b, .host_layout = &l, .dst = got, .dst_size = sizeof got);
    CALL(Buffer_ToHostBuffer, &a);
    wait_for(a.event);
    ck_assert_int_eq(memcmp(got, want, sizeof want), 0);
    a.dst_size = 23;
    expect(api->Buffer_ToHostBuffer(&a), PJRT_INVALID_ARGUMENT, "23 bytes");
    static const int64_t far[] = {4096, 4}, before[] = {-12, 4};
    PJRT_Buffer_MemoryLayout by = {.struct_size = sizeof by, .type = PJRT_LAYOUT_STRIDES};
    PJRT_Buffer_ToHostBuffer_Args out =
        ARGS(Buffer_ToHostBuffer, .src = b, .host_layout = &by, .dst = got, .dst_size = sizeof got);
    by.strides.num_byte_strides = 2;
    expect(api->Buffer_ToHostBuffer(&out), PJRT_INVALID_ARGUMENT, "0 strides");
    by.strides.byte_strides = far;
    expect(api->Buffer_ToHostBuffer(&out), PJRT_INVALID_ARGUMENT, "reaches out");
    by.strides.byte_strides = before;
    expect(api->Buffer_ToHostBuffer(&out), PJRT_INVALID_ARGUMENT, "reaches out");
    static const int64_t twice[] = {1, 1};
    l.tiled.minor_to_major = twice;
    expect(api->Buffer_ToHostBuffer(&a), PJRT_INVALID_ARGUMENT, "dimension 1");
    PJRT_Buffer_CopyRawToHost_Args r =
        ARGS(Buffer_CopyRawToHost, .buffer = b, .dst = got, .offset = 8, .transfer_size = 12);
    CALL(Buffer_CopyRawToHost, &r);
    wait_for(r.event);
    ck_assert_int_eq(memcmp(got, x + 2, 12), 0);
    r.transfer_size = 17;
    expect(api->Buffer_CopyRawToHost(&r), PJRT_INVALID_ARGUMENT, "24");
    drop(b);
}
END_TEST

START_TEST(bad_arrays)
{
    static const int64_t huge[] = {INT64_MAX, INT64_MAX}, negative[] = {-2}, many[17] = {0};
    float x[4] = {0};
    PJRT_Client_BufferFromHostBuffer_Args a =
        ARGS(Client_BufferFromHostBuffer, .client = client, .data = x, .type = 11, .dims = huge,
             .num_dims = 2);
    expect(api->Client_BufferFromHostBuffer(&a), PJRT_OUT_OF_RANGE, "");
    a.dims = negative;
    a.num_dims = 1;
    expect(api->Client_BufferFromHostBuffer(&a), PJRT_INVALID_ARGUMENT, "");
    a.dims = many;
    a.num_dims = 17;
    expect(api->Client_BufferFromHostBuffer(&a), PJRT_INVALID_ARGUMENT, "17 dimensions");
    a.type = 999;
    expect(api->Client_BufferFromHostBuffer(&a), PJRT_UNIMPLEMENTED, "999");
}
END_TEST

/* Memory that somebody outside reads stays when the buffer is deleted. */
START_TEST(readers_outside)
{
    static const int64_t dims[] = {2};
    const float x[] = {3, 4};
    PJRT_Buffer *b = upload(11, x, 1, dims, NULL);
    PJRT_Buffer_IncreaseExternalReferenceCount_Args i =
        ARGS(Buffer_IncreaseExternalReferenceCount, .buffer = b);
    PJRT_Buffer_DecreaseExternalReferenceCount_Args less =
        ARGS(Buffer_DecreaseExternalReferenceCount, .buffer = b);
    expect(api->Buffer_DecreaseExternalReferenceCount(&less), PJRT_FAILED_PRECONDITION, "");
    CALL(Buffer_IncreaseExternalReferenceCount, &i);
    PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args p =
        ARGS(Buffer_OpaqueDeviceMemoryDataPointer, .buffer = b);
    CALL(Buffer_OpaqueDeviceMemoryDataPointer, &p);
    PJRT_Buffer_Delete_Args d = ARGS(Buffer_Delete, .buffer = b);
    CALL(Buffer_Delete, &d);
    ck_assert(is_deleted(b));
    ck_assert_int_eq(memcmp(p.device_memory_ptr, x, sizeof x), 0);
    expect(api->Buffer_IncreaseExternalReferenceCount(&i), PJRT_INVALID_ARGUMENT, "deleted");
    CALL(Buffer_DecreaseExternalReferenceCount, &less);
    PJRT_Buffer_ReadyEvent_Args r = ARGS(Buffer_ReadyEvent, .buffer = b);
    CALL(Buffer_ReadyEvent, &r);
    PJRT_Event_Await_Args w = ARGS(Event_Await, .event = r.event);
    expect(api->Event_Await(&w), PJRT_INVALID_ARGUMENT, "deleted");
    PJRT_Event_Destroy_Args end = ARGS(Event_Destroy, .event = r.event);
    CALL(Event_Destroy, &end);
    drop(b);
}
END_TEST

/* ---- programs ---- */

static const char two_sums[] =
    "module @sums attributes {mhlo.num_partitions = 1 : i32} {\n"
    "  func.func public @main(%a: tensor<2x3xf32>, %b: tensor<f32>) -> (tensor<2x3xf32>, "
    "tensor<i32>) {\n"
    "    %0 = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<f32>) -> tensor<2x3xf32>\n"
    "    %1 = stablehlo.add %a, %0 : tensor<2x3xf32>\n"
    "    %2 = stablehlo.constant dense<7> : tensor<i32>\n"
    "    return %1, %2 : tensor<2x3xf32>, tensor<i32>\n"
    "  }\n}\n";

static void check_sums(PJRT_LoadedExecutable *x, float by)
{
    static const int64_t dims[] = {2, 3};
    const float a[] = {1, 2, 3, 4, 5, 6};
    float got[6];
    int32_t seven;
    PJRT_Buffer *in[] = {upload(11, a, 2, dims, NULL), upload(11, &by, 0, NULL, NULL)}, *out[2];
    run(x, in, 2, out);
    download(out[0], got, sizeof got);
    download(out[1], &seven, sizeof seven);
    for (int i = 0; i < 6; i++)
        ck_assert_float_eq(got[i], a[i] + by);
    ck_assert_int_eq(seven, 7);
    for (int i = 0; i < 2; i++) {
        drop(in[i]);
        drop(out[i]);
    }
}

START_TEST(programs)
{
    PJRT_LoadedExecutable *x = compile(two_sums);
    check_sums(x, 0.5f);
    PJRT_Executable *g = executable_of(x);
    PJRT_Executable_OutputDimensions_Args d = ARGS(Executable_OutputDimensions, .executable = g);
    CALL(Executable_OutputDimensions, &d);
    ck_assert_uint_eq(d.num_outputs, 2);
    ck_assert(d.dim_sizes[0] == 2 && d.dim_sizes[1] == 0 && d.dims[0] == 2 && d.dims[1] == 3);
    PJRT_Executable_OutputElementTypes_Args t =
        ARGS(Executable_OutputElementTypes, .executable = g);
    CALL(Executable_OutputElementTypes, &t);
    ck_assert(t.output_types[0] == 11 && t.output_types[1] == 4);
    PJRT_Executable_Name_Args n = ARGS(Executable_Name, .executable = g);
    CALL(Executable_Name, &n);
    ck_assert_str_eq(n.executable_name, "sums");
    PJRT_LoadedExecutable_GetDeviceAssignment_Args s =
        ARGS(LoadedExecutable_GetDeviceAssignment, .executable = x);
    CALL(LoadedExecutable_GetDeviceAssignment, &s);
    static const char want[] = {8, 1, 16, 1, 0x1a, 3, 10, 1, 0};
    ck_assert_uint_eq(s.serialized_bytes_size, sizeof want);
    ck_assert_int_eq(memcmp(s.serialized_bytes, want, sizeof want), 0);
    s.serialized_device_assignment_deleter(s.serialized_device_assignment);
    end_plain(g);
    end_executable(x);
}
END_TEST

/* A loop of four products counts as four; one device's, as a run is estimated. */
START_TEST(cost)
{
    PJRT_LoadedExecutable *x =
        compile("module @m { func.func @main(%a: tensor<32x32xf32>) -> tensor<32x32xf32> {\n"
                "%n = stablehlo.constant dense<0> : tensor<i32>\n"
                "%r:2 = stablehlo.while(%i = %n, %v = %a) : tensor<i32>, tensor<32x32xf32>\n"
                "cond {\n%e = stablehlo.constant dense<4> : tensor<i32>\n"
                "%p = stablehlo.compare LT, %i, %e : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
                "stablehlo.return %p : tensor<i1>\n} do {\n"
                "%one = stablehlo.constant dense<1> : tensor<i32>\n"
                "%j = stablehlo.add %i, %one : tensor<i32>\n"
                "%w = stablehlo.dot %v, %v : (tensor<32x32xf32>, tensor<32x32xf32>) -> "
                "tensor<32x32xf32>\n"
                "stablehlo.return %j, %w : tensor<i32>, tensor<32x32xf32>\n}\n"
                "return %r#1 : tensor<32x32xf32> } }");
    PJRT_Executable *g = executable_of(x);
    PJRT_Executable_GetCostAnalysis_Args c = ARGS(Executable_GetCostAnalysis, .executable = g);
    CALL(Executable_GetCostAnalysis, &c);
    ck_assert_uint_eq(c.num_properties, 2);
    ck_assert_str_eq(c.properties[0].name, "flops");
    ck_assert_uint_eq(c.properties[0].name_size, 5);
    double flops = c.properties[0].float_value, products = 4 * 2 * 32. * 32 * 32;
    ck_assert_msg(flops >= products && flops < 1.1 * products, "%g", flops);
    ck_assert_str_eq(c.properties[1].name, "bytes accessed");
    ck_assert_double_ge(c.properties[1].float_value, 4 * 2 * 4096.);
    end_plain(g);
    end_executable(x);
}
END_TEST

/* The same bits; the first buffer stays what it was, also when the other is gone. */
START_TEST(bits)
{
    static const int64_t four = 4, pairs[] = {2, 2};
    const float v[] = {1, -0.0f, INFINITY, 3};
    unsigned char bytes[16];
    uint32_t words[4];
    PJRT_Buffer *b = upload(11, v, 1, &four, NULL);
    PJRT_Buffer_Bitcast_Args a =
        ARGS(Buffer_Bitcast, .buffer = b, .element_type = 8, .dims = pairs, .num_dims = 2);
    CALL(Buffer_Bitcast, &a);
    download(a.out_buffer, words, sizeof words);
    ck_assert_int_eq(memcmp(words, v, sizeof v), 0);
    drop(a.out_buffer);
    a.element_type = 6; /* bytes */
    a.dims = (const int64_t[]){2, 8};
    CALL(Buffer_Bitcast, &a);
    drop(b);
    download(a.out_buffer, bytes, sizeof bytes);
    ck_assert_int_eq(memcmp(bytes, v, sizeof v), 0);
    a.buffer = a.out_buffer;
    a.dims = &four;
    a.num_dims = 1;
    expect(api->Buffer_Bitcast(&a), PJRT_INVALID_ARGUMENT, "bits");
    drop(a.buffer);
    const int64_t two = 2;
    a.buffer = b = upload(6, &(uint8_t){0x47}, 0, NULL, NULL);
    a.element_type = 21; /* of four bits */
    a.dims = &two;
    a.num_dims = 1;
    CALL(Buffer_Bitcast, &a);
    download(a.out_buffer, bytes, 2);
    ck_assert(bytes[0] == 7 && bytes[1] == 4); /* the lowest bits first */
    drop(b);
    a.buffer = a.out_buffer;
    a.element_type = 6;
    a.num_dims = 0;
    CALL(Buffer_Bitcast, &a);
    download(a.out_buffer, bytes, 1);
    ck_assert_uint_eq(bytes[0], 0x47);
    drop(a.buffer);
    drop(a.out_buffer);
    a.buffer = b = upload(6, &(uint8_t){0x8f}, 0, NULL, NULL);
    a.element_type = 21;
    a.num_dims = 1;
    CALL(Buffer_Bitcast, &a);
    download(a.out_buffer, bytes, 2);
    ck_assert((signed char)bytes[0] == -1 && (signed char)bytes[1] == -8);
    static const int64_t eight = 8;
    PJRT_Buffer_Bitcast_Args q =
        ARGS(Buffer_Bitcast, .buffer = b, .element_type = 1, .dims = &eight, .num_dims = 1);
    expect(api->Buffer_Bitcast(&q), PJRT_INVALID_ARGUMENT, "bits"); /* a predicate is 0 or 1 */
    a.buffer = a.out_buffer;
    a.element_type = 22; /* without sign: the same bits, other bytes */
    CALL(Buffer_Bitcast, &a);
    download(a.out_buffer, bytes, 2);
    ck_assert(bytes[0] == 15 && bytes[1] == 8);
    drop(a.buffer);
    drop(a.out_buffer);
    drop(b);
}
END_TEST

/* Extents of 1 are nothing; [2,3] is not [3,2]. */
START_TEST(shapes_of_arguments)
{
    static const int64_t shape[][4] = {{2, 3}, {1, 2, 3}, {2, 1, 3, 1}, {3, 2},
                                       {6},    {1, 6},    {2, 2}};
    static const size_t rank[] = {2, 3, 4, 2, 1, 2, 2};
    PJRT_LoadedExecutable *x =
        compile("func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
                "%0 = stablehlo.negate %a : tensor<2x3xf32>\nreturn %0 : tensor<2x3xf32> }");
    const float v[6] = {1, 2, 3, 4, 5, 6};
    for (int i = 0; i < 7; i++) {
        PJRT_Buffer *in[] = {upload(11, v, rank[i], shape[i], NULL)}, *out[1];
        float got[6];
        if (i < 3) {
            run(x, in, 1, out);
            download(out[0], got, sizeof got);
            for (int k = 0; k < 6; k++)
                ck_assert(got[k] == -v[k]);
            drop(out[0]);
        } else {
            expect(run_with(x, in, 1, NULL, 0, out, NULL), PJRT_INVALID_ARGUMENT, "argument 0 is");
        }
        drop(in[0]);
    }
    end_executable(x);
}
END_TEST

/* As bytes and back; cut short, or with a byte changed, an error: another number in the text of the
 * program would be another program. */
START_TEST(bytes)
{
    PJRT_LoadedExecutable *x = compile(two_sums), *y = NULL;
    PJRT_Executable *g = executable_of(x);
    PJRT_Executable_Serialize_Args s = ARGS(Executable_Serialize, .executable = g);
    CALL(Executable_Serialize, &s);
    PJRT_Executable_DeserializeAndLoad_Args r =
        ARGS(Executable_DeserializeAndLoad, .client = client,
             .serialized_executable = s.serialized_bytes,
             .serialized_executable_size = s.serialized_bytes_size);
    CALL(Executable_DeserializeAndLoad, &r);
    y = r.loaded_executable;
    check_sums(y, -2);
    end_executable(y);
    static const char on_device_9[] = {0x1a, 0x02, 0x08, 0x09};
    r.overridden_serialized_compile_options = on_device_9;
    r.overridden_serialized_compile_options_size = sizeof on_device_9;
    PJRT_Client_Load_Args l =
        ARGS(Client_Load, .client = client, .executable = g, .compile_options = on_device_9,
             .compile_options_size = sizeof on_device_9);
    expect(api->Executable_DeserializeAndLoad(&r), PJRT_INVALID_ARGUMENT, "device");
    expect(api->Client_Load(&l), PJRT_INVALID_ARGUMENT, "device");
    l.compile_options_size = r.overridden_serialized_compile_options_size = 0;
    CALL(Client_Load, &l);
    check_sums(l.loaded_executable, 4);
    end_executable(l.loaded_executable);
    char *copy = malloc(s.serialized_bytes_size);
    memcpy(copy, s.serialized_bytes, s.serialized_bytes_size);
    r.serialized_executable = copy;
    size_t step = s.serialized_bytes_size / (lz_test_small() ? 40 : 200) + 1;
    for (size_t i = lz_test_seed() % step; i < s.serialized_bytes_size; i += step) {
        PJRT_Error_Destroy_Args end = ARGS(Error_Destroy);
        copy[i] ^= 0x41;
        end.error = api->Executable_DeserializeAndLoad(&r);
        copy[i] ^= 0x41;
        ck_assert_msg(end.error != NULL, "byte %zu", i);
        api->Error_Destroy(&end);
        r.serialized_executable_size = i;
        end.error = api->Executable_DeserializeAndLoad(&r);
        ck_assert_ptr_nonnull(end.error);
        api->Error_Destroy(&end);
        r.serialized_executable_size = s.serialized_bytes_size;
    }
    free(copy);
    s.serialized_executable_deleter(s.serialized_executable);
    end_plain(g);
    end_executable(x);
}
END_TEST

static const char donating[] =
    "func.func @main(%a: tensor<1000xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<1000xf32>) -> "
    "tensor<1000xf32> {\n"
    "  %0 = stablehlo.add %a, %b : tensor<1000xf32>\n"
    "  return %0 : tensor<1000xf32>\n}\n";

/* Ordered effects: tokens come and go as arrays of no predicates, and are counted. */
START_TEST(tokens)
{
    PJRT_LoadedExecutable *e = compile(
        "func.func @main(%t: !stablehlo.token {jax.token = true, jax.buffer_donor = true}, %x: "
        "tensor<2xf32>, %y: "
        "tensor<2xf32> {tf.aliasing_output = 1 : i32}) -> (!stablehlo.token {jax.token = true}, "
        "tensor<2xf32>, !stablehlo.token) {\n"
        "  %0 = stablehlo.subtract %x, %y : tensor<2xf32>\n"
        "  return %t, %0, %t : !stablehlo.token, tensor<2xf32>, !stablehlo.token\n}\n");
    static const int64_t none[] = {0}, two[] = {2};
    const float x[] = {3, 4}, y[] = {1, 1};
    float got[2];
    PJRT_Buffer *in[] = {upload(1, x, 1, none, NULL), upload(11, x, 1, two, NULL),
                         upload(11, y, 1, two, NULL)},
                *out[3];
    run(e, in, 3, out);
    download(out[1], got, sizeof got);
    ck_assert(got[0] == 2 && got[1] == 3);
    ck_assert(!is_deleted(in[0]) && !is_deleted(in[1]) && is_deleted(in[2]));
    for (int k = 0; k < 3; k++) {
        drop(in[k]);
        drop(out[k]);
    }
    end_executable(e);
}
END_TEST

/* A donated argument is deleted, unless the caller keeps it; its memory is not written to while
 * somebody outside reads it. */
START_TEST(donation)
{
    static const int64_t dims[] = {1000};
    static const int64_t first[] = {0};
    float x[1000], got[1000];
    for (int i = 0; i < 1000; i++)
        x[i] = (float)i;
    PJRT_LoadedExecutable *e = compile(donating);
    for (int way = 0; way < 3; way++) {
        PJRT_Buffer *in[] = {upload(11, x, 1, dims, NULL), upload(11, x, 1, dims, NULL)}, *out[1];
        PJRT_Buffer_IncreaseExternalReferenceCount_Args more =
            ARGS(Buffer_IncreaseExternalReferenceCount, .buffer = in[0]);
        PJRT_Buffer_DecreaseExternalReferenceCount_Args less =
            ARGS(Buffer_DecreaseExternalReferenceCount, .buffer = in[0]);
        PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args p =
            ARGS(Buffer_OpaqueDeviceMemoryDataPointer, .buffer = in[0]);
        if (way == 2) {
            CALL(Buffer_OpaqueDeviceMemoryDataPointer, &p);
            CALL(Buffer_IncreaseExternalReferenceCount, &more);
        }
        must(run_with(e, in, 2, first, way == 1, out, NULL), "Execute");
        ck_assert(is_deleted(in[0]) == (way != 1) && !is_deleted(in[1]));
        download(out[0], got, sizeof got);
        for (int i = 0; i < 1000; i++)
            ck_assert_float_eq(got[i], 2 * x[i]);
        if (way == 2) {
            ck_assert_int_eq(memcmp(p.device_memory_ptr, x, sizeof x), 0);
            CALL(Buffer_DecreaseExternalReferenceCount, &less);
        }
        PJRT_Buffer *again[] = {in[0], in[1]}, *none[1];
        if (way != 1)
            expect(run_with(e, again, 2, NULL, 0, none, NULL), PJRT_INVALID_ARGUMENT, "donated");
        drop(in[0]);
        drop(in[1]);
        drop(out[0]);
    }
    PJRT_Buffer *same = upload(11, x, 1, dims, NULL), *in[] = {same, same}, *out[1];
    expect(run_with(e, in, 2, NULL, 0, out, NULL), PJRT_INVALID_ARGUMENT, "another argument");
    ck_assert(!is_deleted(same));
    end_executable(e);
    e = compile("func.func @main(%a: tensor<1000xf32> {jax.buffer_donor = true}, %b: "
                "tensor<1000xf32> {jax.buffer_donor = true}) -> tensor<1000xf32> {\n"
                "  %0 = stablehlo.add %a, %b : tensor<1000xf32>\n"
                "  return %0 : tensor<1000xf32>\n}\n");
    expect(run_with(e, in, 2, NULL, 0, out, NULL), PJRT_INVALID_ARGUMENT, "donated twice");
    ck_assert(!is_deleted(same));
    must(run_with(e, in, 2, (const int64_t[]){1, 0}, 2, out, NULL), "Execute");
    ck_assert(!is_deleted(same));
    drop(out[0]);
    drop(same);
    end_executable(e);
}
END_TEST

/* Where the call fails, whichever allocation it is, the arguments are still the caller's. */
START_TEST(donation_that_fails)
{
    static const int64_t dims[] = {1000};
    float x[1000], got[1000];
    int failed = 0;
    for (int i = 0; i < 1000; i++)
        x[i] = (float)i;
    PJRT_LoadedExecutable *e = compile(donating);
    for (int n = 1; n < 12; n++) {
        PJRT_Buffer *in[] = {upload(11, x, 1, dims, NULL), upload(11, x, 1, dims, NULL)}, *out[1];
        lz_alloc_fail_at(n, false);
        PJRT_Error *err = run_with(e, in, 2, NULL, 0, out, NULL);
        lz_alloc_fail_at(0, false);
        ck_assert(is_deleted(in[0]) == !err);
        PJRT_Buffer_ReadyEvent_Args r = ARGS(Buffer_ReadyEvent, .buffer = err ? in[0] : out[0]);
        CALL(Buffer_ReadyEvent, &r);
        PJRT_Event_Await_Args w = ARGS(Event_Await, .event = r.event);
        PJRT_Error *later = api->Event_Await(&w); /* while it ran: the results say so */
        PJRT_Event_Destroy_Args end = ARGS(Event_Destroy, .event = r.event);
        CALL(Event_Destroy, &end);
        ck_assert(!err || !later);
        if (later) {
            expect(later, PJRT_RESOURCE_EXHAUSTED, "");
            drop(in[0]);
            drop(in[1]);
            drop(out[0]);
            continue;
        }
        download(err ? in[0] : out[0], got, sizeof got);
        for (int i = 0; i < 1000; i++)
            ck_assert_float_eq(got[i], err ? x[i] : 2 * x[i]);
        if (err) {
            failed++;
            expect(err, PJRT_RESOURCE_EXHAUSTED, "");
        } else {
            drop(out[0]);
        }
        drop(in[0]);
        drop(in[1]);
    }
    ck_assert_int_gt(failed, 0);
    end_executable(e);
}
END_TEST

START_TEST(wrong_programs)
{
    static const char two[] = {0x1a, 0x04, 0x20, 0x01, 0x28, 0x40},
                      cut[] = {0x1a, 0x40, 0x20, 0x01};
    /* overrides of options, by name: one of XLA's, one of nobody's */
    static const char flag[] = "\x1a\x04\x20\x01\x28\x01\x3a\x0c\x0a\x06xla_ab\x12\x02\x10\x01",
                      odd[] = "\x1a\x04\x20\x01\x28\x01\x3a\x0c\x0a\x06mla_ab\x12\x02\x10\x01";
    PJRT_LoadedExecutable *x;
    expect(compile_as("module {", "mlir", one_device, sizeof one_device, &x), PJRT_INVALID_ARGUMENT,
           "program:1:");
    expect(compile_as(two_sums, "hlo", one_device, sizeof one_device, &x), PJRT_UNIMPLEMENTED,
           "XLA_STABLEHLO_COMPILE");
    expect(compile_as(two_sums, "mlir", two, sizeof two, &x), PJRT_INVALID_ARGUMENT, "64");
    expect(compile_as(two_sums, "mlir", cut, sizeof cut, &x), PJRT_INVALID_ARGUMENT, "damaged");
    expect(compile_as(two_sums, "mlir", odd, sizeof odd - 1, &x), PJRT_INVALID_ARGUMENT,
           "No such compile option: 'mla_ab'");
    must(compile_as(two_sums, "mlir", flag, sizeof flag - 1, &x), "a flag of XLA's");
    end_executable(x);
    x = compile(two_sums);
    static const int64_t dims[] = {2, 3};
    const float a[6] = {0};
    PJRT_Buffer *in[] = {upload(11, a, 2, dims, NULL), upload(4, a, 0, NULL, NULL)}, *out[2];
    expect(run_with(x, in, 1, NULL, 0, out, NULL), PJRT_INVALID_ARGUMENT, "supplied 1 buffers");
    expect(run_with(x, in, 2, NULL, 0, out, NULL), PJRT_INVALID_ARGUMENT, "argument 1 is i32[]");
    PJRT_LoadedExecutable_Delete_Args d = ARGS(LoadedExecutable_Delete, .executable = x);
    CALL(LoadedExecutable_Delete, &d);
    expect(run_with(x, in, 2, NULL, 0, out, NULL), PJRT_INVALID_ARGUMENT, "deleted");
    drop(in[0]);
    drop(in[1]);
    end_executable(x);
}
END_TEST

/* ---- events ---- */

static void count(PJRT_Error *error, void *user)
{
    PJRT_Error_Destroy_Args d = ARGS(Error_Destroy, .error = error);
    atomic_fetch_add((_Atomic int *)user, error ? 1000 : 1);
    api->Error_Destroy(&d);
}

/* Every callback once, whether the event was complete before or not. */
START_TEST(events)
{
    _Atomic int calls = 0;
    PJRT_Event_Create_Args c = ARGS(Event_Create);
    CALL(Event_Create, &c);
    PJRT_Event_OnReady_Args r =
        ARGS(Event_OnReady, .event = c.event, .callback = count, .user_arg = &calls);
    PJRT_Event_IsReady_Args is = ARGS(Event_IsReady, .event = c.event);
    CALL(Event_OnReady, &r);
    CALL(Event_OnReady, &r);
    CALL(Event_IsReady, &is);
    ck_assert(!is.is_ready && calls == 0);
    PJRT_Event_Set_Args s = ARGS(Event_Set, .event = c.event, .error_code = PJRT_INTERNAL,
                                 .error_message = "on fire", .error_message_size = 7);
    CALL(Event_Set, &s);
    ck_assert_int_eq(calls, 2000);
    expect(api->Event_Set(&s), PJRT_FAILED_PRECONDITION, "set");
    CALL(Event_OnReady, &r);
    ck_assert_int_eq(calls, 3000);
    PJRT_Event_Error_Args e = ARGS(Event_Error, .event = c.event);
    expect(api->Event_Error(&e), PJRT_INTERNAL, "on fire");
    PJRT_Event_Destroy_Args d = ARGS(Event_Destroy, .event = c.event);
    CALL(Event_Destroy, &d);
    CALL(Event_Create, &c); /* and one that is never set */
    r.event = d.event = c.event;
    CALL(Event_OnReady, &r);
    CALL(Event_Destroy, &d);
    ck_assert_int_eq(calls, 4000);
}
END_TEST

/* Programs without arguments or results, and lists that are not there. */
START_TEST(nothing)
{
    PJRT_LoadedExecutable *e = compile("func.func @main() -> () {\n  return\n}\n"),
                          *f = compile(two_sums);
    PJRT_LoadedExecutable_Execute_Args a =
        ARGS(LoadedExecutable_Execute, .executable = e, .num_devices = 1);
    CALL(LoadedExecutable_Execute, &a);
    a.executable = f;
    a.num_args = 2;
    expect(api->LoadedExecutable_Execute(&a), PJRT_INVALID_ARGUMENT, "NULL");
    end_executable(e);
    end_executable(f);
}
END_TEST

/* ---- threads ---- */

static const char slow[] =
    "func.func @main(%a: tensor<200x200xf32>) -> tensor<200x200xf32> {\n"
    "  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<200x200xf32>, "
    "tensor<200x200xf32>) -> tensor<200x200xf32>\n"
    "  %1 = stablehlo.dot_general %0, %a, contracting_dims = [1] x [0] : (tensor<200x200xf32>, "
    "tensor<200x200xf32>) -> tensor<200x200xf32>\n"
    "  return %1 : tensor<200x200xf32>\n}\n";

static void *host_thread(void *of)
{
    PJRT_LoadedExecutable *mine = compile(two_sums), *big = of;
    static const int64_t dims[] = {200, 200};
    float *a = calloc(40000, sizeof *a), *got = calloc(40000, sizeof *got);
    for (int i = 0; i < 40000; i++)
        a[i] = i % 201 == 0 ? 2 : 0; /* twice the identity */
    for (int round = 0; round < 20; round++) {
        check_sums(mine, (float)round);
        _Atomic int calls = 0;
        PJRT_Event *done;
        PJRT_Buffer *in = upload(11, a, 2, dims, NULL), *out;
        must(run_with(big, &in, 1, NULL, 0, &out, &done), "Execute");
        PJRT_Event_OnReady_Args r =
            ARGS(Event_OnReady, .event = done, .callback = count, .user_arg = &calls);
        CALL(Event_OnReady, &r);
        drop(in); /* while the program may still read it */
        download(out, got, 40000 * sizeof *got);
        ck_assert_float_eq(got[201], 8);
        ck_assert_float_eq(got[1], 0);
        wait_for(done);
        while (!atomic_load(&calls)) /* by the thread that completed it, which may be slow */
            sched_yield();
        drop(out);
    }
    end_executable(mine);
    free(a);
    free(got);
    return NULL;
}

START_TEST(threads)
{
    pthread_t t[4];
    PJRT_LoadedExecutable *big = compile(slow);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&t[i], NULL, host_thread, big), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    end_executable(big);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("plugin");
    TCase *t = tcase_create("plugin");
    tcase_add_checked_fixture(t, open_client, close_client);
    tcase_add_test(t, table);
    tcase_add_test(t, forked);
    tcase_add_test(t, devices);
    tcase_add_test(t, options);
    tcase_add_test(t, topologies);
    tcase_add_loop_test(t, strides, 0, 5);
    tcase_add_test(t, host_layouts);
    tcase_add_test(t, bad_arrays);
    tcase_add_test(t, readers_outside);
    tcase_add_test(t, programs);
    tcase_add_test(t, cost);
    tcase_add_test(t, bits);
    tcase_add_test(t, shapes_of_arguments);
    tcase_add_test(t, bytes);
    tcase_add_test(t, donation);
    tcase_add_test(t, donation_that_fails);
    tcase_add_test(t, tokens);
    tcase_add_test(t, wrong_programs);
    tcase_add_test(t, events);
    tcase_add_test(t, nothing);
    tcase_add_test(t, threads);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
