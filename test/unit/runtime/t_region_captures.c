/* t_region_captures.c - what a region takes from outside: of values that are made in its body of
 * less, what they are made of, so that a body that is run again keeps no memory for them. */
#include "runtime/region/region_trace.h"
#include "suite.h"
#include <lazuli/lazuli.h>

enum { ROWS = 64, COLUMNS = 8 };

static lz_tensor *spread(lz_tensor *bias)
{
    return lz_expand(bias, LZ_SHAPE(ROWS, COLUMNS));
}
static lz_tensor *spread_twice(lz_tensor *bias)
{
    return lz_expand(lz_unsqueeze(lz_sum(spread(bias), .dims = LZ_DIMS(0)), 0),
                     LZ_SHAPE(ROWS, COLUMNS));
}
static lz_tensor *number(lz_tensor *bias)
{
    return lz_full(lz_dtype_of(bias), LZ_SHAPE(ROWS, COLUMNS), 0.25);
}
static lz_tensor *counter(lz_tensor *bias)
{
    return lz_iota(lz_dtype_of(bias), LZ_SHAPE(ROWS, COLUMNS), 1);
}
static lz_tensor *mask(lz_tensor *bias)
{
    lz_tensor *on = lz_ge(lz_iota(LZ_I32, LZ_SHAPE(ROWS, COLUMNS), 0),
                          lz_iota(LZ_I32, LZ_SHAPE(ROWS, COLUMNS), 1));
    return lz_where(on, spread(bias), lz_zeros(LZ_F32, LZ_SHAPE(ROWS, COLUMNS)));
}
static lz_tensor *scaled(lz_tensor *bias)
{
    return lz_mul_scalar(lz_exp(spread(bias)), 3);
}

static const struct {
    const char *name;
    lz_tensor *(*make)(lz_tensor *bias);
} kinds[] = {{"a broadcast", spread}, {"one of a sum of one", spread_twice},
             {"a number", number},    {"a counter", counter},
             {"a mask", mask},        {"made of one", scaled}};
enum { KINDS = sizeof kinds / sizeof *kinds };

START_TEST(takes_what_it_is_made_of)
{
    lz_scope_begin();
    lz_tensor *bias = lz_from_host(LZ_F32, LZ_SHAPE(COLUMNS), (float[COLUMNS]){1, 2, 3, 4});
    lz_node *n = lz_trace_node_of(bias);
    lz_shape s = LZ_SHAPE(ROWS, COLUMNS);
    lz_body b;
    const lz_func *region;
    ck_assert_int_eq(lz_body_begin(&b, n->dev), LZ_OK);
    lz_tensor *x = lz_body_tensor(&b, lz_type_get(LZ_F32, &s));
    lz_node *root = lz_trace_node_of(lz_mul(x, kinds[_i].make(bias)));
    ck_assert_ptr_nonnull(root);
    ck_assert_int_eq(lz_body_region(&b, &root, 1, &region), LZ_OK);
    size_t bytes = 0;
    for (uint32_t i = 0; i < b.captured.len; i++)
        bytes += lz_node_type(b.captured.data[i])->nbytes;
    ck_assert_msg(bytes <= COLUMNS * sizeof(float) + 16, "%s: %zu bytes of %u values",
                  kinds[_i].name, bytes, b.captured.len);
    lz_node_release(root);
    lz_body_end(&b);
    lz_body_free(&b);
    lz_node_release(n);
    lz_scope_end();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("region_captures");
    TCase *t = tcase_create("region_captures");
    tcase_add_loop_test(t, takes_what_it_is_made_of, 0, KINDS);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
