/* t_plugin_kinds.c - plugins that are wrong, each in a way of its own (test/mock/pjrt_mock.c):
 * every one is refused where it is met, by an error that says why, and none ends the process. Each
 * is tried in a process of its own. */
#include "backends/backend.h"
#include "suite.h"
#include "support/plugin.h"
#include "test/mock/pjrt_mock.h"
#include <math.h>
#include <string.h>

enum { AT_START, AT_COMPILE, AT_RUN, AT_READ, AT_STORE, AT_LOAD, NEVER };
static const struct {
    int stage;
    lz_status status;
    const char *why;
} expected[] = {
    [0] = {NEVER, LZ_OK, ""},
    [1] = {AT_START, LZ_EUNAVAILABLE, "it has no symbol GetPjrtApi"},
    [2] = {AT_START, LZ_EUNAVAILABLE, "GetPjrtApi gives NULL"},
    [3] = {AT_START, LZ_EUNAVAILABLE,
           "version 1.112 of the PJRT C API; the major version must be 0"},
    [4] = {AT_START, LZ_EUNAVAILABLE, "version 0.12 of the PJRT C API; 0.29 or later is wanted"},
    [5] = {AT_START, LZ_EUNAVAILABLE,
           "PJRT_Api (0.112) is of 484 bytes and has no PJRT_LoadedExecutable_Execute, which needs "
           "488"},
    [6] = {AT_START, LZ_EUNAVAILABLE, "PJRT_Api is of 8 bytes, fewer than the 40"},
    [7] = {AT_START, LZ_EUNAVAILABLE, "PJRT_Api_Version is of 16 bytes, 24 are wanted"},
    [8] = {AT_START, LZ_EUNAVAILABLE, "its PJRT_LoadedExecutable_Execute is NULL"},
    [9] = {AT_START, LZ_ESTATE, "PJRT_Plugin_Initialize: the moon is not full"},
    [10] = {AT_START, LZ_EUNAVAILABLE, "PJRT_Client_Create: it failed without a message"},
    [11] = {AT_START, LZ_EUNAVAILABLE, "PJRT_Client_Create gave no client, and no error"},
    [12] = {AT_START, LZ_EUNAVAILABLE, "it has no device"},
    [13] = {AT_START, LZ_EUNAVAILABLE, "the list of its devices is NULL"},
    [14] = {AT_START, LZ_EUNAVAILABLE, "it has 1099511627776 devices; at most 1024"},
    [15] = {AT_START, LZ_EUNAVAILABLE, "a device of PJRT_Client_AddressableDevices is NULL"},
    [16] = {AT_START, LZ_EUNAVAILABLE, "PJRT_Device_GetDescription gave NULL"},
    [17] = {AT_START, LZ_EUNAVAILABLE, "a device has the number -5"},
    [18] = {AT_START, LZ_EUNAVAILABLE, "the name or the version of its platform is NULL"},
    [19] = {AT_COMPILE, LZ_EUNSUPPORTED, "PJRT_Client_Compile: too modern   for me"},
    [20] = {AT_COMPILE, LZ_ECOMPILE, "it made no executable of 'same', and no error"},
    [21] = {AT_COMPILE, LZ_ECOMPILE, "its executable of 'same' has 1000 results, not 1"},
    [22] = {AT_RUN, LZ_EDEVICE, "PJRT_Client_BufferFromHostBuffer gave no buffer"},
    [23] = {AT_RUN, LZ_EDEVICE, "a buffer made from the host's is of element type 12"},
    [24] = {AT_RUN, LZ_EDEVICE, "PJRT_Client_BufferFromHostBuffer: it gave no event"},
    [25] = {AT_RUN, LZ_EDEVMEM, "PJRT_LoadedExecutable_Execute: no room on the device"},
    [26] = {AT_RUN, LZ_EDEVICE, "result 0 of 'same' is NULL, without an error"},
    [27] = {AT_RUN, LZ_EDEVICE,
            "result 0 of 'same' is of element type 11 and 1 dimensions (the "
            "first 300), not f32[3]"},
    [28] = {AT_READ, LZ_EDEVICE, "PJRT_LoadedExecutable_Execute: it gave no event, and no error"},
    [29] = {AT_READ, LZ_ECORRUPT, "PJRT_LoadedExecutable_Execute: cosmic rays"},
    [30] = {NEVER, LZ_OK, ""}, /* calls back three times */
    [31] = {AT_RUN, LZ_ETIMEOUT, "its event is not complete in time"},
    [32] = {AT_READ, LZ_ERANGE, "PJRT_Buffer_ToHostBuffer: no such bytes"},
    [33] = {AT_READ, LZ_EDEVICE, "PJRT_Buffer_ToHostBuffer: torn"},
    [34] = {AT_COMPILE, LZ_EDEVICE, "PJRT_Client_Compile: code 0"},
    [35] = {AT_STORE, LZ_EDEVICE, "a serialised executable is empty"},
    [36] = {AT_RUN, LZ_EDEVICE, "no callbacks today"},
    [37] = {NEVER, LZ_OK, ""}, /* a version without an end */
    [38] = {AT_RUN, LZ_EDEVICE, "2 dimensions (the first 3), not f32[3]"},
    [39] = {AT_RUN, LZ_EDEVICE, "1 dimensions (the first 0), not f32[3]"},
    [40] = {AT_COMPILE, LZ_ECOMPILE, "PJRT_LoadedExecutable_GetExecutable gave NULL"},
    [41] = {NEVER, LZ_OK, ""}, /* takes over what is donated */
    [42] = {AT_START, LZ_EPERM, "PJRT_Client_Create: xxx xxx"},
    [43] = {AT_LOAD, LZ_ECORRUPT, "it made no executable of 'main', and no error"},
    [44] = {NEVER, LZ_OK, ""}, /* newer */
    [45] = {AT_RUN, LZ_ETIMEOUT, "its event is not complete in time"},
    [46] = {AT_READ, LZ_EDEVICE, "PJRT_Buffer_ToHostBuffer: torn"},
    [47] = {AT_STORE, LZ_EUNSUPPORTED, "PJRT_Executable_Serialize: not here"},
};
_Static_assert(sizeof expected / sizeof *expected == KINDS + 1, "one of each kind");

static const char same_text[] =
    "module @same { func.func public @main(%arg0: tensor<3xf32>) -> tensor<3xf32> {\n"
    "  %0 = stablehlo.add %arg0, %arg0 : tensor<3xf32>\n"
    "  return %0 : tensor<3xf32> } }";
static const char other_text[] =
    "module @other { func.func public @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {\n"
    "  %0 = stablehlo.add %arg0, %arg0 : tensor<2xf32>\n"
    "  return %0 : tensor<2xf32> } }";

static lz_func *parse(const char *text)
{
    lz_func *f;
    ck_assert_msg(lz_func_parse(text, strlen(text), "same", &f) == LZ_OK, "%s",
                  lz_error_get()->message);
    return f;
}

/* The error of this stage is the one that is expected, if one is. */
static bool ends(int kind, int stage, lz_status s)
{
    const lz_error *e = lz_error_get();
    if (expected[kind].stage != stage) {
        ck_assert_msg(s == LZ_OK, "kind %d, stage %d: %s", kind, stage, e->message);
        return false;
    }
    ck_assert_msg(s == expected[kind].status && strstr(e->message, expected[kind].why),
                  "kind %d: %s: %s", kind, lz_status_name(s), e->message);
    return true;
}

static lz_status run_once(const lz_backend *b, lz_exec *x, int device, bool donated,
                          lz_device_buffer **out)
{
    const float v[3] = {1, -2, 3};
    lz_device_buffer *in;
    lz_event *done = NULL;
    LZ_TRY(b->alloc(device, sizeof v, &in));
    LZ_TRY(b->copy_in(in, v, sizeof v));
    lz_status s = b->execute(x, device, &in, &donated, false, out, &done);
    lz_device_buffer_release(in);
    lz_event_release(done);
    return s;
}

static lz_status read_result(const lz_backend *b, lz_device_buffer *out)
{
    float got[3] = {0};
    lz_status s = b->copy_out(out, got, sizeof got);
    lz_device_buffer_release(out);
    if (s == LZ_OK)
        ck_assert(got[0] == 1 && got[1] == -2 && got[2] == 3);
    return s;
}

static bool run_and_read(const lz_backend *b, lz_exec *x, int kind)
{
    lz_device_buffer *out = NULL;
    for (int i = 0; i < 4; i++) /* twice on each device */
        if (ends(kind, AT_RUN, run_once(b, x, i % 2, kind == 41, &out)) ||
            ends(kind, AT_READ, read_result(b, out)))
            return true;
    return b->wait_all(0) != LZ_OK || b->wait_all(1) != LZ_OK;
}

/* What is stored is loaded for the function that it is of, and for no other. */
static void load_for(const lz_backend *b, const lz_buf *bytes, const lz_func *f)
{
    lz_exec *y = NULL;
    lz_func *other = parse(other_text);
    ck_assert_int_eq(
        b->deserialize(0, bytes->data, bytes->len, &(lz_compile_options){.func = other}, &y),
        LZ_ECORRUPT);
    ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "of another program than 'other'"));
    ck_assert_int_eq(
        b->deserialize(0, bytes->data, bytes->len, &(lz_compile_options){.func = f}, &y), LZ_OK);
    b->exec_free(y);
    lz_func_free(other);
}

static bool store_and_load(const lz_backend *b, lz_exec *x, const lz_func *f, int kind)
{
    lz_buf bytes = {0};
    lz_exec *y = NULL;
    bool over = ends(kind, AT_STORE, b->serialize(x, &bytes));
    if (!over)
        over = ends(kind, AT_LOAD, b->deserialize(0, bytes.data, bytes.len, NULL, &y));
    for (size_t n = 0; !over && n < bytes.len; n++) {
        lz_exec *z = NULL;
        ck_assert_int_eq(b->deserialize(0, bytes.data, n, NULL, &z), LZ_ECORRUPT);
    }
    if (!over)
        load_for(b, &bytes, f);
    if (y)
        b->exec_free(y);
    lz_buf_free(&bytes);
    return over;
}

START_TEST(kinds)
{
    int kind = _i;
    char file[64];
    (void)snprintf(file, sizeof file, "test/plugin/kind%d.so", kind);
    lz_plugin_config c = {.host_index = -1, .timeout = kind == 31 || kind == 45 ? 0.1 : 0};
    const lz_backend *b = lz_test_plugin_with("mock", &c, file);
    ck_assert_ptr_nonnull(b);
    lz_device_info info;
    ck_assert_int_eq(b->device_info(0, &info), LZ_OK);
    ck_assert_str_eq(info.kind, "PLUGIN");
    if (expected[kind].stage == AT_START) /* and again: memory may have come back */
        (void)ends(kind, AT_START, b->init());
    if (ends(kind, AT_START, b->init()))
        return;
    ck_assert_int_eq(b->device_count(), 2);
    ck_assert_int_eq(b->device_info(1, &info), LZ_OK);
    ck_assert_str_eq(info.kind, "mock: Mock 9000");
    ck_assert_ptr_null(strstr(info.details, "host")); /* nobody says which */
    ck_assert_uint_eq(info.memory_limit, 4096);
    ck_assert_int_eq(b->device_info(2, &info), LZ_ENOENT);
    lz_func *f = parse(same_text);
    lz_exec *x = NULL;
    bool donate = kind == 41;
    lz_compile_options o = {.donate = &donate};
    if (!ends(kind, AT_COMPILE, b->compile(0, f, &o, &x)))
        (void)(run_and_read(b, x, kind) || store_and_load(b, x, f, kind));
    if (x)
        b->exec_free(x);
    lz_func_free(f);
    ck_assert_int_eq(b->device_info(1, &info), LZ_OK);
    if (kind != 31 && kind != 45 && kind != 30) /* an event is left behind, or called twice */
        ck_assert_msg(info.memory_used == 1000, "kind %d: %d objects are left", kind,
                      (int)info.memory_used - 1000);
}
END_TEST

/* The first event's callback comes with an error when its time is up, and others wait: they do not
 * get it. */
START_TEST(late_callbacks)
{
    lz_plugin_config c = {.host_index = -1, .timeout = 0.1};
    const lz_backend *b = lz_test_plugin_with("mock", &c, "test/plugin/kind45.so");
    lz_func *f = parse(same_text);
    lz_device_buffer *out;
    lz_exec *x;
    ck_assert_int_eq(b->compile(0, f, NULL, &x), LZ_OK);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(run_once(b, x, 0, false, &out), LZ_ETIMEOUT);
    b->exec_free(x);
    lz_func_free(f);
}
END_TEST

static void key_of(const lz_plugin_config *c, const char *name, lz_buf *out)
{
    const lz_backend *b = lz_test_plugin_with(name, c, "test/plugin/kind0.so");
    b->key(0, out);
    ck_assert(!out->failed);
}

/* The cache tells apart what a plugin was created with. */
START_TEST(keys)
{
    int64_t numbers[] = {1, 2};
    lz_plugin_setting all[] = {
        {.name = "a", .type = LZ_PLUGIN_TEXT, .text = "x", .count = 1},
        {.name = "a", .type = LZ_PLUGIN_TEXT, .text = "y", .count = 1},
        {.name = "b", .type = LZ_PLUGIN_TEXT, .text = "x", .count = 1},
        {.name = "a", .type = LZ_PLUGIN_INTEGER, .integers = numbers, .count = 1},
        {.name = "a", .type = LZ_PLUGIN_INTEGERS, .integers = numbers, .count = 2},
        {.name = "a", .type = LZ_PLUGIN_NUMBER, .number = 1, .count = 1},
    };
    enum { N = sizeof all / sizeof *all };
    lz_buf key[N + 1] = {{0}};
    char name[16];
    for (int i = 0; i <= N; i++) { /* the last has the options of the first */
        lz_plugin_config c = {.host_index = -1, .setting = &all[i % N], .nsetting = 1};
        (void)snprintf(name, sizeof name, "mock%d", i);
        key_of(&c, name, &key[i]);
    }
    for (int i = 0; i <= N; i++)
        for (int k = 0; k < i; k++)
            ck_assert_int_eq(key[i].len == key[k].len &&
                                 memcmp(key[i].data, key[k].data, key[i].len) == 0,
                             i == N && k == 0);
    for (int i = 0; i <= N; i++)
        lz_buf_free(&key[i]);
}
END_TEST

START_TEST(names)
{
    lz_plugin_config c = {.host_index = -1, .path = "/nowhere/plugin.so"};
    ck_assert_int_eq(lz_plugin_register("", &c), LZ_EINVAL);
    ck_assert_int_eq(lz_plugin_register("a:b", &c), LZ_EINVAL);
    ck_assert_int_eq(lz_plugin_register("a_name_of_24_characters_", &c), LZ_EINVAL);
    ck_assert_int_eq(lz_plugin_register("cpu", &c), LZ_EEXIST);
    ck_assert_int_eq(lz_plugin_register("one", &c), LZ_OK);
    ck_assert_int_eq(lz_plugin_register("One", &c), LZ_OK); /* the same once more */
    ck_assert_int_eq(lz_backend_get("ONE")->init(), LZ_EUNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "/nowhere/plugin.so"));
    c.physical_devices = 2;
    ck_assert_int_eq(lz_plugin_register("one", &c), LZ_EEXIST);
    c.physical_devices = -1;
    ck_assert_int_eq(lz_plugin_register("two", &c), LZ_EINVAL);
    c.physical_devices = 0;
    static const double limits[] = {-1, NAN, INFINITY, 1e10};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        c.timeout = limits[i];
        ck_assert_int_eq(lz_plugin_register("two", &c), LZ_EINVAL);
    }
    c.timeout = 0;
    c.path = "";
    ck_assert_int_eq(lz_plugin_register("two", &c), LZ_EINVAL);
    c.path = "x.so";
    for (int i = 1; i < LZ_PLUGINS_MAX; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "p%d", i);
        ck_assert_int_eq(lz_plugin_register(name, &c), LZ_OK);
    }
    ck_assert_int_eq(lz_plugin_register("more", &c), LZ_ERANGE);
    ck_assert_str_eq(lz_backend_of("p3:0")->name, "p3");
    ck_assert_int_ge(lz_backend_index(lz_backend_get("p3")), 4);
}
END_TEST

START_TEST(devices_wanted)
{
    lz_plugin_config c = {.host_index = 3, .physical_devices = 1};
    const lz_backend *b = lz_test_plugin_with("mock", &c, "test/plugin/kind0.so");
    ck_assert_int_eq(b->device_count(), 1);
    c.physical_devices = 3;
    b = lz_test_plugin_with("mock3", &c, "test/plugin/kind0.so");
    ck_assert_int_eq(b->init(), LZ_EUNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "it has 2 devices, 3 are wanted"));
}
END_TEST

/* A plugin that says which dtypes it computes with. */
START_TEST(dtypes_wanted)
{
    lz_plugin_config c = {.host_index = -1, .dtypes = UINT64_C(1) << LZ_I32};
    const lz_backend *b = lz_test_plugin_with("mock", &c, "test/plugin/kind0.so");
    const lz_backend *any = lz_test_plugin("any", "test/plugin/kind0.so");
    lz_func *f = parse(same_text);
    lz_buf bytes = {0};
    lz_exec *x;
    ck_assert_int_eq(b->compile(0, f, NULL, &x), LZ_EUNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "of f32, a dtype"));
    ck_assert_int_eq(any->compile(0, f, NULL, &x), LZ_OK); /* nor is what another has stored */
    ck_assert_int_eq(any->serialize(x, &bytes), LZ_OK);
    any->exec_free(x);
    ck_assert_int_eq(b->deserialize(0, bytes.data, bytes.len, NULL, &x), LZ_EUNSUPPORTED);
    lz_buf_free(&bytes);
    lz_func_free(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("plugin_kinds");
    TCase *t = tcase_create("kinds");
    tcase_add_loop_test(t, kinds, 0, KINDS + 1);
    tcase_add_test(t, late_callbacks);
    tcase_add_test(t, keys);
    tcase_add_test(t, names);
    tcase_add_test(t, devices_wanted);
    tcase_add_test(t, dtypes_wanted);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
