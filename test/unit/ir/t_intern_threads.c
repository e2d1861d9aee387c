/* t_intern_threads.c - many threads making the same types, attributes, signatures and regions at
 * once get the same pointers. For TSan. */
#include "ir/module.h"
#include "suite.h"
#include "support/gen.h"
#include <pthread.h>
#include <string.h>

enum { THREADS = 8, ITEMS = 400 };

typedef struct work {
    int seed;
    const lz_type *types[ITEMS];
    const lz_attr *attrs[ITEMS];
    const lz_sig *sigs[ITEMS];
    const lz_func *regions[ITEMS];
} work;
static work works[THREADS];
static pthread_barrier_t gate;

static void make_item(work *w, int i)
{
    lz_shape s = LZ_SHAPE(i % 20 + 1, i / 20 + 1);
    w->types[i] = lz_type_get(LZ_F32, &s);
    lz_attr_perm p = {.kind = LZ_ATTR_perm, .permutation = {.n = 2, .v = {i & 1, !(i & 1)}}};
    w->attrs[i] = lz_attr_get((const lz_attr *)(const void *)&p);
    w->sigs[i] = lz_sig_get(LZ_OP_TRANSPOSE, w->attrs[i], &w->types[i], 1);
    lz_func *f = lz_func_new("body");
    lz_shape scalar = {0};
    const lz_type *t = lz_type_get(LZ_F32, &scalar);
    lz_val a = lz_build_param(f, t);
    (void)lz_build_param(f, t);
    lz_val v = lz_build_ew2(f, LZ_OP_MULTIPLY, a, lz_build_scalar(f, LZ_F32, i % 50));
    if (lz_func_set_results(f, &v, 1) == LZ_OK)
        w->regions[i] = lz_region_intern(f);
    lz_func_free(f);
}

static void *hammer(void *arg)
{
    work *w = arg;
    lz_rnd r = {(uint64_t)w->seed};
    int order[ITEMS];
    lz_rnd_shuffle(&r, ITEMS, order);
    pthread_barrier_wait(&gate);
    for (int i = 0; i < ITEMS; i++)
        make_item(w, order[i]);
    for (int i = 0; i < ITEMS; i++) { /* known ones, from the thread's cache */
        const lz_sig *s = lz_sig_get(LZ_OP_TRANSPOSE, w->attrs[i], &w->types[i], 1);
        if (s != w->sigs[i])
            w->sigs[i] = NULL;
    }
    return NULL;
}

START_TEST(threads_get_the_same_pointers)
{
    pthread_t t[THREADS];
    pthread_barrier_init(&gate, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        works[i].seed = i + 1;
        ck_assert_int_eq(pthread_create(&t[i], NULL, hammer, &works[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    for (int k = 0; k < ITEMS; k++)
        for (int i = 0; i < THREADS; i++) {
            ck_assert(works[i].types[k] && works[i].types[k] == works[0].types[k]);
            ck_assert(works[i].attrs[k] && works[i].attrs[k] == works[0].attrs[k]);
            ck_assert(works[i].sigs[k] && works[i].sigs[k] == works[0].sigs[k]);
            ck_assert(works[i].regions[k] && works[i].regions[k] == works[0].regions[k]);
        }
    for (int k = 1; k < ITEMS; k++)
        ck_assert(works[0].sigs[k] != works[0].sigs[k - 1]);
    pthread_barrier_destroy(&gate);
}
END_TEST

/* Random functions: built, printed, read and serialised at once. */
static void *functions(void *arg)
{
    uint64_t seed = *(uint64_t *)arg;
    bool ok = true;
    for (uint64_t i = 0; i < 40; i++) {
        lz_func *f = lz_gen_random(seed % 3 * 100 + i, NULL), *g = NULL, *h = NULL;
        lz_buf b = {0}, c = {0};
        lz_func_print(f, &b, 0);
        ok = ok && lz_func_parse(b.data, b.len, "t", &g) == LZ_OK;
        if (g)
            lz_func_print(g, &c, 0);
        /* what was read is read again as the same (control flow may have come with values it does
         * not use) */
        ok = ok && lz_func_parse(c.data, c.len, "t", &h) == LZ_OK &&
             lz_hash_eq(lz_func_hash(g), lz_func_hash(h));
        lz_func_free(f);
        lz_func_free(g);
        lz_func_free(h);
        lz_buf_free(&b);
        lz_buf_free(&c);
    }
    return ok ? arg : NULL;
}

START_TEST(threads_build_and_read_functions)
{
    pthread_t t[THREADS];
    uint64_t seeds[THREADS];
    for (int i = 0; i < THREADS; i++) {
        seeds[i] = (uint64_t)i;
        ck_assert_int_eq(pthread_create(&t[i], NULL, functions, &seeds[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *r;
        pthread_join(t[i], &r);
        ck_assert_ptr_nonnull(r);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ir/intern_threads");
    TCase *t = tcase_create("intern_threads");
    tcase_add_test(t, threads_get_the_same_pointers);
    tcase_add_test(t, threads_build_and_read_functions);
    tcase_set_timeout(t, 300);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
