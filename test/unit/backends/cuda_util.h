/* cuda_util.h - what the tests of the CUDA backend through the device interface share: the library
 * that stands in for the driver, and a program. Threads: a test's own. */
#ifndef LZ_TEST_CUDA_UTIL_H
#define LZ_TEST_CUDA_UTIL_H
#include "backends/backend.h"
#include "suite.h"
#include "support/mock.h"
#include "test/mock/cuda_mock.h"
#include <dlfcn.h>
#include <string.h>

extern const lz_backend lz_backend_cuda;
static const lz_backend *const be = &lz_backend_cuda;

static struct {
    void (*fail_at)(const char *, uint64_t, int);
    void (*devices)(int);
    void (*memory)(size_t);
    void (*reset)(void);
    void (*lose)(int, int);
    void (*hold)(int);
    void (*reachable)(int);
    int (*time)(const char *, uint32_t, int64_t);
    uint64_t (*timed)(int);
    void (*stats)(lz_mock_stats *);
} mock;

static inline void use_mock(void)
{
    void *h = lz_mock_open(lz_mock_path());
    *(void **)&mock.fail_at = dlsym(h, "lzMockFail");
    *(void **)&mock.devices = dlsym(h, "lzMockDevices");
    *(void **)&mock.memory = dlsym(h, "lzMockMemory");
    *(void **)&mock.reset = dlsym(h, "lzMockReset");
    *(void **)&mock.lose = dlsym(h, "lzMockLose");
    *(void **)&mock.hold = dlsym(h, "lzMockHold");
    *(void **)&mock.reachable = dlsym(h, "lzMockReachable");
    *(void **)&mock.time = dlsym(h, "lzMockTime");
    *(void **)&mock.timed = dlsym(h, "lzMockTimed");
    *(void **)&mock.stats = dlsym(h, "lzMockGetStats");
    ck_assert_int_eq(lz_mock_use(), LZ_OK);
}

static inline const char *message(void)
{
    return lz_error_get()->message;
}
#define OK(x) ck_assert_msg((x) == LZ_OK, "%s", message())

/* x -> x * 3 on `n` floats */
static inline lz_func *triple(int64_t n)
{
    char text[256];
    snprintf(text, sizeof text,
             "func.func @main(%%0: tensor<%ldxf32>) -> tensor<%ldxf32> {\n"
             "  %%1 = stablehlo.add %%0, %%0 : tensor<%ldxf32>\n"
             "  %%2 = stablehlo.add %%1, %%0 : tensor<%ldxf32>\n"
             "  return %%2 : tensor<%ldxf32>\n}\n",
             (long)n, (long)n, (long)n, (long)n, (long)n);
    lz_func *f = NULL;
    ck_assert_msg(lz_func_parse(text, strlen(text), "triple", &f) == LZ_OK, "%s", message());
    return f;
}
#endif
