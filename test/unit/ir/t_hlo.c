/* t_hlo.c - programs as JAX lowers them: parsed, verified and run by the reference, compared with
 * XLA's answers; the printed form and the canonical bytes still mean the same program. */
#include "ir/eval/eval.h"
#include "suite.h"
#include "support/hlo.h"
#include "support/lit.h"
#include <string.h>

static char msg[512];

static void run_and_judge(const lz_hlo_case *c, const lz_func *f, const char *form)
{
    lz_literal **got = lz_calloc(f->nresult, sizeof *got);
    ck_assert_uint_eq(f->nparam, c->f->nparam);
    ck_assert_uint_eq(f->nresult, c->f->nresult);
    ck_assert_msg(lz_ref_run(f, c->args, got) == LZ_OK, "%s, %s: %s", c->name, form,
                  lz_error_get()->message);
    ck_assert_msg(lz_hlo_met(c, got, msg, sizeof msg), "%s: %s", form, msg);
    for (uint32_t k = 0; k < f->nresult; k++)
        lz_literal_release(got[k]);
    lz_free(got);
}

/* Printed once, the order is that of the operations, and stays. */
static void settles(const lz_func *f)
{
    lz_buf text = {0};
    lz_func *again;
    lz_func_print(f, &text, 0);
    ck_assert_int_eq(lz_func_parse(text.data, text.len, "printed", &again), LZ_OK);
    ck_assert(lz_hash_eq(lz_func_hash(again), lz_func_hash(f)));
    lz_func_free(again);
    lz_buf_free(&text);
}

/* What a region takes from outside is in the order of its text, where a call that was inlined names
 * its arguments: their second text has another order than the first. */
static bool reorders(const lz_hlo_case *c)
{
    return strcmp(c->name, "expm_cpu") == 0 || strcmp(c->name, "expm_tpu") == 0;
}

START_TEST(jax_programs)
{
    lz_hlo_case c;
    ck_assert_msg(lz_hlo_load(_i, &c) == LZ_OK, "%s", lz_error_get()->message);
    ck_assert_msg(lz_func_verify(c.f) == LZ_OK, "%s: %s", c.name, lz_error_get()->message);
    run_and_judge(&c, c.f, "as parsed");

    lz_buf text = {0}, bytes = {0};
    lz_func *again, *back;
    lz_func_print(c.f, &text, 0);
    ck_assert_msg(lz_func_parse(text.data, text.len, "printed", &again) == LZ_OK, "%s: %s\n%s",
                  c.name, lz_error_get()->message, lz_buf_str(&text));
    run_and_judge(&c, again, "printed and parsed");
    ck_assert_msg(lz_hash_eq(lz_func_hash(again), lz_func_hash(c.f)) != reorders(&c), "%s", c.name);
    settles(again);
    lz_func_serialize(c.f, &bytes);
    ck_assert_msg(lz_func_deserialize(bytes.data, bytes.len, &back) == LZ_OK, "%s",
                  lz_error_get()->message);
    run_and_judge(&c, back, "from bytes");
    ck_assert(lz_hash_eq(lz_func_hash(back), lz_func_hash(c.f)));
    lz_buf_free(&text);
    lz_buf_free(&bytes);
    lz_func_free(again);
    lz_func_free(back);
    lz_hlo_free(&c);
}
END_TEST

START_TEST(the_programs_are_there)
{
    ck_assert_int_ge(lz_hlo_count(), 125);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("hlo");
    TCase *t = tcase_create("hlo");
    tcase_add_test(t, the_programs_are_there);
    tcase_add_loop_test(t, jax_programs, 0, lz_hlo_count());
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
