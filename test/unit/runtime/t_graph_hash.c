/* t_graph_hash.c - which graphs are one program: equal structure gives one hash, any difference
 * that can change a result gives another.
 * Numbers: PyTorch/XLA issues. */
#include "rt.h"
#include "support/child.h"

static lz_tensor *leaf(int64_t n)
{
    static const float v[64];
    return lz_from_host(LZ_F32, LZ_SHAPE(n, n), v);
}

static const char *hash_of(lz_tensor **t, size_t n)
{
    static char text[8][40];
    static int at;
    char *s = text[at++ % 8];
    ck_assert_msg(lz_graph_hash(t, n, s, 40) > 0, "%s", lz_last_error_text());
    return s;
}
#define HASH(...)                                                                                  \
    hash_of((lz_tensor *[]){__VA_ARGS__},                                                          \
            sizeof((lz_tensor *[]){__VA_ARGS__}) / sizeof(lz_tensor *))
#define SAME(a, b) ck_assert_str_eq((a), (b))
#define DIFFER(a, b) ck_assert_str_ne((a), (b))

START_TEST(equal_graphs_hash_equal)
{
    const char *first = NULL;
    for (int i = 0; i < 3; i++) {
        lz_tensor *a = leaf(3), *b = leaf(3);
        if (i == 1)
            lz_name_scope_begin("layer"); /* names and places are no part of it */
        lz_tensor *r = lz_relu(lz_add(lz_matmul(a, b), lz_mul_scalar(a, 2.0 + i)));
        if (i == 1)
            lz_name_scope_end();
        const char *h = HASH(r);
        if (first)
            SAME(h, first);
        first = h;
    }
}
END_TEST

START_TEST(sharing_of_leaves_is_part_of_it)
{
    lz_tensor *a = leaf(2), *b = leaf(2);
    DIFFER(HASH(lz_add(a, a)), HASH(lz_add(a, b)));
    SAME(HASH(lz_add(a, b)), HASH(lz_add(b, a))); /* the first visited is the first parameter */
    DIFFER(HASH(lz_sub(a, b), lz_neg(a)), HASH(lz_sub(a, b), lz_neg(b)));
    lz_tensor *p = lz_mul(a, a), *q = lz_mul(a, a);
    SAME(HASH(lz_add(p, p)), HASH(lz_add(p, q))); /* a repeated computation is one */
}
END_TEST

/* #8353: leaves of equal shape, equal order of first visit, yet another result. */
START_TEST(issue_8353_pair_differs)
{
    lz_tensor *t0 = leaf(2), *t1 = leaf(2), *t2 = leaf(2);
    const char *h1 = HASH(lz_transpose(t0, 0, 1), lz_transpose(t1, 0, 1), lz_transpose(t2, 0, 1),
                          lz_add(lz_mul(t0, t1), t2));
    const char *h2 = HASH(lz_transpose(t0, 0, 1), lz_transpose(t1, 0, 1), lz_transpose(t2, 0, 1),
                          lz_add(lz_mul(t0, t2), t1));
    DIFFER(h1, h2);
    /* and each runs its own program */
    float v[3][1] = {{2}, {3}, {5}};
    lz_tensor *x[3];
    for (int i = 0; i < 3; i++)
        x[i] = lz_from_host(LZ_F32, LZ_SHAPE(1, 1), v[i]);
    for (int k = 0; k < 2; k++) {
        lz_tensor *r[4] = {lz_transpose(x[0], 0, 1), lz_transpose(x[1], 0, 1),
                           lz_transpose(x[2], 0, 1),
                           k ? lz_add(lz_mul(x[0], x[2]), x[1]) : lz_add(lz_mul(x[0], x[1]), x[2])};
        OK(lz_sync(r, 4, true));
        ck_assert_double_eq(lz_item(r[3]), k ? 13 : 11);
    }
}
END_TEST

START_TEST(every_attribute_is_part_of_it)
{
    lz_tensor *a = leaf(4), *b = leaf(4);
    const char *base = HASH(lz_sum(a, .dims = LZ_DIM(0)));
    DIFFER(base, HASH(lz_sum(a, .dims = LZ_DIM(1))));
    DIFFER(base, HASH(lz_sum(leaf(5), .dims = LZ_DIM(0))));
    DIFFER(base, HASH(lz_prod(a, .dims = LZ_DIM(0))));
    DIFFER(base,
           HASH(lz_sum(lz_from_host(LZ_F64, LZ_SHAPE(4, 4), (double[16]){0}), .dims = LZ_DIM(0))));
    DIFFER(HASH(lz_slice(a, 0, 0, 2, 1)), HASH(lz_slice(a, 0, 1, 3, 1)));
    DIFFER(HASH(lz_lt(a, b)), HASH(lz_le(a, b)));
    DIFFER(HASH(lz_iota(LZ_F32, LZ_SHAPE(2, 2), 0)), HASH(lz_iota(LZ_F32, LZ_SHAPE(2, 2), 1)));
    DIFFER(HASH(lz_hlo_constant(LZ_F32, 2)), HASH(lz_hlo_constant(LZ_F32, 3)));
    DIFFER(HASH(lz_hlo_constant(LZ_F32, 0.0)), HASH(lz_hlo_constant(LZ_F32, -0.0)));
    SAME(HASH(lz_mul_scalar(a, 2.5)), HASH(lz_mul_scalar(a, 3.5)));
    DIFFER(HASH(lz_mul_scalar(a, 2.5)), HASH(lz_mul_scalar(a, -1)));
    DIFFER(HASH(lz_add(a, b), lz_sub(a, b)),
           HASH(lz_sub(a, b), lz_add(a, b))); /* the order of the results */
}
END_TEST

START_TEST(special_numbers_can_be_arguments)
{
    setenv("XLA_NO_SPECIAL_SCALARS", "1", 1);
    lz_tensor *a = leaf(2);
    SAME(HASH(lz_mul_scalar(a, 2.5)), HASH(lz_mul_scalar(a, 1)));
}
END_TEST

/* before: the number of operations that come first. */
static void hash_in_child(void *before, void *text)
{
    for (int k = 0; k < *(const int *)before; k++) /* other allocations, other ids */
        (void)lz_neg(leaf(1 + k % 7));
    lz_tensor *a = leaf(3);
    snprintf(text, 40, "%s", HASH(lz_softmax(lz_matmul(a, lz_add_scalar(a, 3)), 1)));
}

/* Hashes are printed and stored: they must be the same in every process. */
START_TEST(hashes_are_stable)
{
    char text[2][40] = {0};
    for (int i = 0; i < 2; i++) /* nothing has been used yet, so the children may */
        lz_in_child(hash_in_child, &(int){i * 50}, text[i], sizeof text[i]);
    ck_assert_str_eq(text[0], text[1]);
}
END_TEST

int main(void)
{
    rt_use("REF");
    Suite *s = suite_create("graph hash");
    TCase *t = tcase_create("hash");
    tcase_add_test(t, equal_graphs_hash_equal);
    tcase_add_test(t, sharing_of_leaves_is_part_of_it);
    tcase_add_test(t, issue_8353_pair_differs);
    tcase_add_test(t, every_attribute_is_part_of_it);
    tcase_add_test(t, special_numbers_can_be_arguments);
    tcase_add_test(t, hashes_are_stable);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
