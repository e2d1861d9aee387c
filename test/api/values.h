/* values.h - what the calls that test/prototypes.bash generates pass by name (value): memory,
 * functions that do nothing, objects. The program makes the tensors T, `function`, `program` and
 * `params`. */
#ifndef LZ_TEST_API_VALUES_H
#define LZ_TEST_API_VALUES_H
#include <lazuli/dlpack.h>
#include <lazuli/ffi.h>
#include <lazuli/hlo.h>
#include <lazuli/lazuli.h>

#ifndef VALUES_OWN /* static _Thread_local: a program whose threads all make calls */
#define VALUES_OWN static
#endif
VALUES_OWN char text[4];
VALUES_OWN _Alignas(64) float memory[64];
VALUES_OWN lz_params params;
static void release_nothing(void *user)
{
    (void)user;
}
static bool want_all(const char *name, lz_tensor *t, void *user)
{
    (void)name, (void)t, (void)user;
    return false;
}
static void log_nothing(int level, const char *module, const char *message, void *user)
{
    (void)level, (void)module, (void)message, (void)user;
}
static void compile_same(void *user)
{
    (void)user;
}
/* Bodies of loops and branches that leave everything as it is. */
static void body_same(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = in[0];
}
static lz_tensor *cond_same(lz_tensor *const *in, void *user)
{
    (void)in, (void)user;
    return lz_zeros(LZ_BOOL, LZ_SCALAR);
}
static void round_same(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)i, (void)user;
    out[0] = in[0];
}
static void custom_forward_same(lz_tensor *const *in, lz_tensor **out, lz_tensor **residuals,
                                void *user)
{
    (void)user;
    out[0] = residuals[0] = in[0];
}
static void custom_backward_same(lz_tensor *const *residuals, lz_tensor *const *grad_out,
                                 lz_tensor **grad_in, void *user)
{
    (void)residuals;
    (void)user;
    grad_in[0] = grad_out[0];
}
static void scan_same(lz_tensor *const *carry, lz_tensor *const *x, lz_tensor **next, lz_tensor **y,
                      void *user)
{
    (void)user;
    next[0] = carry[0], y[0] = x[0];
}
VALUES_OWN lz_function *function; /* of one argument like the tensors below */
VALUES_OWN lz_stablehlo *program; /* the like */
static lz_status handler(const lz_ffi_call *call, void *user)
{
    (void)call, (void)user;
    return LZ_OK;
}
static const char program_text[] = "func.func @main(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {"
                                   " return %a : tensor<2x2xf32> }";
/* The objects, of one tensor; those that are there already stay. */
static void make_values(lz_tensor *t)
{
    if (!function)
        (void)lz_function_trace(body_same, NULL, &t, 1, 1, &function);
    if (!program)
        program = lz_stablehlo_parse(program_text, sizeof program_text - 1, "source");
    params = (lz_params){0};
    lz_params_add(&params, "p", t);
}
#endif
