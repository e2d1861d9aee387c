/* t_updates.c - arrays that a loop carries are updated in place: no round copies them, whatever of
 * the old value is read, and the results are those of the reference interpreter. */
#include "base/alloc.h"
#include "ir/eval/eval.h"
#include "lower/plan/plan.h"
#include "suite.h"
#include "support/lit.h"
#include <string.h>

#define OK(expr) ck_assert_msg((expr) == LZ_OK, "%s: %s", #expr, lz_error_get()->message)

/* A loop of N rounds that carries %i and the array %u; `body` makes %n of them and of %x. */
#define LOOP(U, X, N, body)                                                                        \
    "func.func public @main(%a: " U ", %b: " X ") -> " U " {\n"                                    \
    "  %zero = stablehlo.constant dense<1> : tensor<i32>\n"                                        \
    "  %r:3 = stablehlo.while(%i = %zero, %u = %a, %x = %b) : tensor<i32>, " U ", " X "\n"         \
    "   cond {\n"                                                                                  \
    "    %end = stablehlo.constant dense<" N "> : tensor<i32>\n"                                   \
    "    %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"         \
    "    stablehlo.return %p : tensor<i1>\n"                                                       \
    "  } do {\n"                                                                                   \
    "    %c1 = stablehlo.constant dense<1> : tensor<i32>\n"                                        \
    "    %c0 = stablehlo.constant dense<0> : tensor<i32>\n"                                        \
    "    %next = stablehlo.add %i, %c1 : tensor<i32>\n"                                            \
    "    %prev = stablehlo.subtract %i, %c1 : tensor<i32>\n" body                                  \
    "    stablehlo.return %next, %n, %x : tensor<i32>, " U ", " X "\n"                             \
    "  }\n"                                                                                        \
    "  return %r#1 : " U "\n}"

#define M "tensor<20x8xf32>"
#define ROW "tensor<1x8xf32>"
#define S "tensor<f32>"
#define I "tensor<i32>"
#define SLICE(res, of, i, j, sizes, T)                                                             \
    "    " res " = stablehlo.dynamic_slice " of ", " i ", " j ", sizes = [" sizes "] : (" M ", " I \
    ", " I ") -> " T "\n"
#define UPDATE(res, of, v, i, j, T)                                                                \
    "    " res " = stablehlo.dynamic_update_slice " of ", " v ", " i ", " j " : (" M ", " T ", " I \
    ", " I ") -> " M "\n"

static const struct {
    const char *what;
    const char *text;
    uint64_t copied; /* bytes that each round may copy */
} loops[] = {
    {"a row of the one before it",
     LOOP(M, M, "20",
          SLICE("%s", "%u", "%prev", "%c0", "1, 8", ROW)
              SLICE("%t", "%x", "%i", "%c0", "1, 8", ROW) "    %v = stablehlo.add %s, %t : " ROW
                                                          "\n" UPDATE("%n", "%u", "%v", "%i", "%c0",
                                                                      ROW)),
     0},
    {"an element of its neighbours",
     LOOP(M, M, "8",
          SLICE("%s", "%u", "%prev", "%i", "1, 1", "tensor<1x1xf32>")
              SLICE("%t", "%u", "%i", "%prev", "1, 1",
                    "tensor<1x1xf32>") "    %v = stablehlo.add %s, %t : "
                                       "tensor<1x1xf32>\n" UPDATE("%n", "%u", "%v", "%i", "%i",
                                                                  "tensor<1x1xf32>")),
     0},
    {"two rows change places",
     LOOP(M, M, "20",
          SLICE("%s", "%u", "%prev", "%c0", "1, 8", ROW) SLICE("%t", "%u", "%i", "%c0", "1, 8", ROW)
              UPDATE("%m", "%u", "%s", "%i", "%c0", ROW)
                  UPDATE("%n", "%m", "%t", "%prev", "%c0", ROW)),
     0},
    {"a row of another one backwards",
     LOOP(M, M, "20",
          SLICE("%s", "%u", "%prev", "%c0", "1, 8",
                ROW) "    %v = stablehlo.reverse %s, dims = [1] : " ROW
                     "\n" UPDATE("%n", "%u", "%v", "%i", "%c0", ROW)),
     0},
    {"a row divided by its first element",
     LOOP(M, M, "20",
          SLICE("%s", "%u", "%i", "%c0", "1, 8", ROW)
              SLICE("%t", "%u", "%i", "%c0", "1, 1",
                    "tensor<1x1xf32>") "    %w = stablehlo.broadcast_in_dim %t, dims = [0, 1] : "
                                       "(tensor<1x1xf32>) -> " ROW "\n"
                                       "    %v = stablehlo.divide %s, %w : " ROW
                                       "\n" UPDATE("%n", "%u", "%v", "%i", "%c0", ROW)),
     0},
    {"a row of all rows",
     LOOP(M, "tensor<20x20xf32>", "20",
          "    %s = stablehlo.dynamic_slice %x, %i, %c0, sizes = [1, 20] : (tensor<20x20xf32>, " I
          ", " I ") -> tensor<1x20xf32>\n"
          "    %v = stablehlo.dot_general %s, %u, contracting_dims = [1] x [0] : "
          "(tensor<1x20xf32>, " M ") -> " ROW "\n" UPDATE("%n", "%u", "%v", "%i", "%c0", ROW)),
     0},
    {"an element of a sum of products",
     LOOP("tensor<20xf32>", "tensor<20x20xf32>", "20",
          "    %s = stablehlo.dynamic_slice %x, %i, %c0, sizes = [1, 20] : (tensor<20x20xf32>, " I
          ", " I ") -> tensor<1x20xf32>\n"
          "    %v = stablehlo.dot_general %s, %u, contracting_dims = [1] x [0] : "
          "(tensor<1x20xf32>, tensor<20xf32>) -> tensor<1xf32>\n"
          "    %n = stablehlo.dynamic_update_slice %u, %v, %i : (tensor<20xf32>, tensor<1xf32>, " I
          ") -> tensor<20xf32>\n"),
     0},
    {"rows added to, one of them from another",
     LOOP(M, M, "20",
          SLICE("%s", "%u", "%prev", "%c0", "1, 8",
                ROW) "    %k = stablehlo.reshape %i : (" I ") -> tensor<1xi32>\n"
                     "    %n = \"stablehlo.scatter\"(%u, %k, %s) ({\n"
                     "    ^bb0(%old: " S ", %new: " S "):\n"
                     "      %sum = stablehlo.add %old, %new : " S "\n"
                     "      stablehlo.return %sum : " S "\n"
                     "    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
                     "[0, 1], "
                     "scatter_dims_to_operand_dims = [0]>, indices_are_sorted = true, "
                     "unique_indices = true} "
                     ": (" M ", tensor<1xi32>, " ROW ") -> " M "\n"),
     0},
    {"all rows but one move on: copied",
     LOOP(M, M, "5",
          "    %s = stablehlo.slice %u [0:19, 0:8] : (" M
          ") -> tensor<19x8xf32>\n" UPDATE("%n", "%u", "%s", "%c1", "%c0", "tensor<19x8xf32>")),
     640},
    {"overlapping rows: the one written is read by others",
     LOOP(M, M, "16",
          SLICE("%s", "%u", "%prev", "%c0", "4, 8", "tensor<4x8xf32>")
              UPDATE("%n", "%u", "%s", "%i", "%c0", "tensor<4x8xf32>")),
     640},
};
enum { LOOPS = sizeof loops / sizeof *loops };

static uint64_t copied_by_round(const lz_plan *p)
{
    for (uint32_t i = 0; i < p->nstep; i++)
        if (p->steps[i].kind == LZ_STEP_WHILE)
            return lz_plan_copied_bytes(p->subs[p->steps[i].sub[1]]);
    return UINT64_MAX;
}

START_TEST(in_place)
{
    lz_func *f = NULL;
    lz_plan *p = NULL;
    lz_literal *args[2], *want[1];
    ck_assert_msg(lz_func_parse(loops[_i].text, strlen(loops[_i].text), NULL, &f) == LZ_OK,
                  "%s: %s", loops[_i].what, lz_error_get()->message);
    OK(lz_lower(f, NULL, &p));
    uint64_t copied = copied_by_round(p);
    ck_assert_msg(copied <= loops[_i].copied, "%s: %llu bytes", loops[_i].what,
                  (unsigned long long)copied);
    lz_rnd r = {(uint64_t)_i + 7};
    for (uint32_t i = 0; i < 2; i++) {
        args[i] = lz_literal_new(lz_val_type(f, i));
        ck_assert_ptr_nonnull(args[i]);
        for (int64_t j = 0; j < args[i]->type->nelem; j++)
            ((float *)args[i]->data)[j] = (float)lz_rnd_range(&r, 1, 8) / 8;
    }
    OK(lz_ref_run(f, args, want));
    float *got = lz_alloc(want[0]->nbytes);
    OK(lz_plan_run(p, (const void *[]){args[0]->data, args[1]->data}, (void *[]){got}));
    for (int64_t j = 0; j < want[0]->type->nelem; j++) {
        float a = got[j], b = ((float *)want[0]->data)[j];
        float off = a > b ? a - b : b - a;
        ck_assert_msg(off <= 1e-5F * (b < 0 ? -b : b), "%s: element %d is %g, not %g",
                      loops[_i].what, (int)j, (double)a, (double)b);
    }
    lz_free(got);
    lz_literal_release(want[0]);
    lz_literal_release(args[0]);
    lz_literal_release(args[1]);
    lz_plan_free(p);
    lz_func_free(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("updates");
    TCase *t = tcase_create("in place");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, in_place, 0, LOOPS);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
