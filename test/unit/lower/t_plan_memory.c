/* t_plan_memory.c - the peak of a plan: what is alive then, and what is said of it. */
#include "lower/plan/plan_memory.h"
#include "suite.h"
#include "support/gen.h"
#include <string.h>

static lz_plan *lower(const lz_func *f, const bool *donate)
{
    lz_plan *p = NULL;
    lz_lower_options o = {.donate = donate};
    ck_assert_msg(lz_lower(f, &o, &p) == LZ_OK, "%s", lz_error_get()->message);
    return p;
}

/* Values that are there at once fit into the arena and do not overlap. */
START_TEST(fits_into_the_arena)
{
    for (int seed = 0; seed < 80; seed++) {
        lz_gen_options o = {.max_insts = 40, .classes = ~(1u << LZ_CLASS_CONTROL)};
        lz_func *f = seed % 2 ? lz_gen_random((uint64_t)seed, &o) : lz_gen_net((uint64_t)seed);
        lz_plan *p = lower(f, NULL);
        lz_plan_peak k;
        ck_assert_int_eq(lz_plan_find_peak(p, &k), LZ_OK);
        ck_assert_msg(k.temps <= p->temp_bytes, "seed %d: %llu of %llu", seed,
                      (unsigned long long)k.temps, (unsigned long long)p->temp_bytes);
        ck_assert(p->temp_bytes == 0 || k.temps > 0);
        ck_assert((k.step == LZ_NO_STEP) == (p->nstep == 0));
        for (uint32_t i = 0; i < k.alive.len; i++) {
            const lz_plan_buffer *b = &k.alive.data[i];
            ck_assert(i == 0 || k.alive.data[i - 1].nbytes >= b->nbytes);
            for (uint32_t j = 0; j < i && b->kind == LZ_BUFREF_TEMP; j++) {
                const lz_plan_buffer *a = &k.alive.data[j];
                ck_assert_msg(a->kind != LZ_BUFREF_TEMP || a->offset >= b->offset + b->nbytes ||
                                  b->offset >= a->offset + a->nbytes,
                              "seed %d", seed);
            }
        }
        lz_plan_peak_free(&k);
        lz_plan_free(p);
        lz_func_free(f);
    }
}
END_TEST

static const char text[] =
    "func.func public @main(%x: tensor<100x64xf32>, %w: tensor<100x64xf32>) -> "
    "(tensor<100xf32>, tensor<100x64xf32>) {\n"
    "  %0 = \"stablehlo.sort\"(%x) <{dimension = 1 : i64, is_stable = true}> ({\n"
    "  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
    "    %c = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
    "    stablehlo.return %c : tensor<i1>\n"
    "  }) : (tensor<100x64xf32>) -> tensor<100x64xf32>\n"
    "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1] : "
    "(tensor<100x64xf32>, tensor<f32>) -> tensor<100xf32>\n"
    "  %2 = stablehlo.add %w, %w : tensor<100x64xf32>\n"
    "  return %1, %2 : tensor<100xf32>, tensor<100x64xf32>\n}\n";

START_TEST(says_what_is_there)
{
    static const lz_site sorts = {"net.c", "f", 7}, sums = {"net.c", "f", 9};
    lz_func *f;
    ck_assert_msg(lz_func_parse(text, strlen(text), "t", &f) == LZ_OK, "%s",
                  lz_error_get()->message);
    for (uint32_t i = 0; i < f->ninst; i++)
        f->insts[i].site = lz_inst_op(&f->insts[i]) == LZ_OP_SORT ? &sorts : &sums;
    const bool donate[] = {false, true};
    lz_plan *p = lower(f, donate);
    lz_buf b = {0};
    lz_plan_print_peak(p, donate, &b);
    const char *s = lz_buf_str(&b);
    static const char *const parts[] = {"Peak: step ",
                                        " bytes of inputs, ",
                                        "  25600 bytes: f32[100,64] sort net.c:7, step ",
                                        "; last read by step ",
                                        ", reduce net.c:9\n",
                                        " f32[100,64] input 0 net.c:9",
                                        ", sort net.c:7; not donated: ",
                                        "; donated to result 1\n",
                                        "  400 bytes: f32[100] reduce net.c:9"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        ck_assert_msg(strstr(s, parts[i]) != NULL, "no '%s' in\n%s", parts[i], s);
    lz_buf_free(&b);
    lz_plan_free(p);
    lz_func_free(f);
}
END_TEST

/* All buffers, of which those that are alive at the peak are the peak's. */
START_TEST(lists_all_buffers)
{
    lz_func *f;
    ck_assert_int_eq(lz_func_parse(text, strlen(text), "t", &f), LZ_OK);
    const bool donate[] = {false, true};
    lz_plan *p = lower(f, donate);
    lz_plan_buffer_list all = {0};
    lz_plan_peak k;
    ck_assert_int_eq(lz_plan_find_buffers(p, &all), LZ_OK);
    ck_assert_int_eq(lz_plan_find_peak(p, &k), LZ_OK);
    uint32_t alive = 0;
    for (uint32_t i = 0; i < all.len; i++) {
        const lz_plan_buffer *b = &all.data[i];
        alive += b->kind != LZ_BUFREF_TEMP || (b->written <= k.step && k.step <= b->end);
        ck_assert(i < p->nin ? b->kind == LZ_BUFREF_INPUT && b->index == i
                             : b->kind != LZ_BUFREF_INPUT);
    }
    ck_assert_uint_eq(alive, k.alive.len);
    lz_plan_peak_free(&k);
    lz_vec_free(&all);
    lz_plan_free(p);
    lz_func_free(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("plan_memory");
    TCase *t = tcase_create("plan_memory");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, fits_into_the_arena);
    tcase_add_test(t, says_what_is_there);
    tcase_add_test(t, lists_all_buffers);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
