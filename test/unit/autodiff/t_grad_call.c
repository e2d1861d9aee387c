/* t_grad_call.c - a custom call has no gradient, and reports that. */
#include "../runtime/rt.h"

static lz_status twice(const lz_ffi_call *c, void *user)
{
    (void)user;
    for (size_t i = 0; i < c->rets[0].nbytes / sizeof(float); i++)
        ((float *)c->rets[0].data)[i] = 2 * ((const float *)c->args[0].data)[i];
    return LZ_OK;
}

START_TEST(no_gradient)
{
    rt_use("REF");
    OK(lz_ffi_register("twice", twice, NULL));
    lz_tensor *a = lz_from_host(LZ_F32, LZ_SHAPE(3), ((const float[]){1, -2, 0.5f})), *g;
    lz_ffi_type t = {LZ_F32, {1, {3}}};
    lz_tensor *loss = lz_sum(lz_custom_call("twice", NULL, &a, 1, &t, 1, NULL));
    lz_status s = lz_grad(loss, &a, 1, &g);
    ck_assert_int_eq(s != LZ_OK ? s : lz_status_of(g), LZ_EGRAD);
    ck_assert_msg(strstr(lz_last_error_text(), "custom_call"), "%s", lz_last_error_text());
}
END_TEST

int main(void)
{
    Suite *s = suite_create("grad_call");
    TCase *t = tcase_create("grad_call");
    tcase_add_test(t, no_gradient);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
