/* d_cuda.c - the CUDA backend against the reference, on the library that stands in for the driver:
 * the schedules of the GPU run on this processor, thread by thread. Besides: arguments that were
 * not given away stay as they are; donated ones and a program from its bytes give the same bits. */
#include "support/diff_device.h"
#include "support/mock.h"

static const lz_backend *cuda;

static bool by_cuda(const lz_func *f, lz_literal *const *args, const bool *donate,
                    lz_diff_result *r)
{
    lz_exec *x = NULL;
    lz_compile_options o = {.donate = donate};
    if (!cuda) {
        (void)lz_mock_use();
        cuda = lz_backend_get("cuda");
    }
    if (cuda->init() != LZ_OK || cuda->compile(0, f, &o, &x) != LZ_OK)
        return lz_diff_failed("compile", r);
    bool ok = lz_diff_execute(cuda, x, f, args, NULL, 1, r->got, r) &&
              lz_diff_from_bytes(cuda, x, f, args, &o, r);
    cuda->exec_free(x);
    return ok;
}

int main(int argc, char **argv)
{
    static const lz_diff_options o = {.way = by_cuda,
                                      .name = "cuda",
                                      .cases = "test/diff/cases/cuda/*.mlir",
                                      .case_stride = 4,
                                      .seeds = 12,
                                      .quick_seeds = 3,
                                      .whole_seeds = 40,
                                      .nets = 3,
                                      .quick_nets = 2,
                                      .whole_nets = 12,
                                      .stride = 311,
                                      .quick_stride = 1009,
                                      .whole_stride = 11,
                                      .late_quotients = true};
    return lz_diff_main(&o, argc, argv);
}
