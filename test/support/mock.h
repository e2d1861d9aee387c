/* mock.h - tests on the library that stands in for the CUDA driver (test/mock). Threads: any. */
#ifndef LZ_TEST_MOCK_H
#define LZ_TEST_MOCK_H
#include "base/config.h"
#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* The path of one of these libraries, below $BUILD. */
static inline const char *lz_mock_library(const char *name, char path[4096])
{
    const char *build = getenv("BUILD");
    snprintf(path, 4096, "%s/test/%s", build ? build : "build/release", name);
    char *real = realpath(path, NULL);
    if (real)
        snprintf(path, 4096, "%s", real);
    free(real);
    return path;
}
static inline const char *lz_mock_path(void)
{
    static char path[4096];
    return lz_mock_library("libcudamock.so", path);
}
/* What stands in for cuBLASLt (test/mock/cublaslt_mock.h). */
static inline const char *lz_mock_lt_path(void)
{
    static char path[4096];
    return lz_mock_library("libcublasltmock.so", path);
}
/* What stands in for NCCL (test/mock/nccl_mock.h). */
static inline const char *lz_mock_nccl_path(void)
{
    static char path[4096];
    return lz_mock_library("libncclmock.so", path);
}

/* One of these libraries, for its controls. */
static inline void *lz_mock_open(const char *path)
{
    void *h = dlopen(path, RTLD_NOW);
    ck_assert_msg(h != NULL, "%s", dlerror());
    return h;
}

/* Before anything asks for the CUDA backend. LZ_TEST_GPU: the real driver is wanted
 * (tools/gpu-check.sh). */
static inline lz_status lz_mock_use(void)
{
    if (getenv("LZ_TEST_GPU"))
        return LZ_OK;
    return lz_config_set("LAZULI_CUDA_DRIVER", lz_mock_path());
}
#endif
