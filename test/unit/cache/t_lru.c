/* t_lru.c - the bounded map against a plain array that does the same slowly, and its ownership of
 * values. */
#include "cache/lru.h"
#include "cachetest.h"

enum { KEYS = 40 };
static int destroyed[1000];

static void destroy(void *v, void *user)
{
    destroyed[*(int *)v]++;
    *(int *)user += 1;
}

static lz_hash key(uint64_t i)
{
    return (lz_hash){i * 3, i % 5}; /* different keys share their high half */
}

typedef struct model {
    int k[KEYS], v[KEYS], n; /* most recent first */
} model;

static int model_find(const model *m, int k)
{
    for (int i = 0; i < m->n; i++)
        if (m->k[i] == k)
            return i;
    return -1;
}

static void model_cut(model *m, int i)
{
    for (m->n--; i < m->n; i++)
        m->k[i] = m->k[i + 1], m->v[i] = m->v[i + 1];
}

static void model_front(model *m, int k, int v)
{
    for (int i = m->n++; i > 0; i--)
        m->k[i] = m->k[i - 1], m->v[i] = m->v[i - 1];
    m->k[0] = k, m->v[0] = v;
}

static const model *walk_model;
static int walk_at;
static bool compare_walk(lz_hash k, void *v, void *user)
{
    (void)user;
    ck_assert(lz_hash_eq(k, key((uint64_t)walk_model->k[walk_at])));
    ck_assert_int_eq(*(int *)v, walk_model->v[walk_at]);
    walk_at++;
    return true;
}

START_TEST(against_the_model)
{
    int values[1000], n_destroyed = 0, cap = 1 + _i * 4;
    uint64_t s = (uint64_t)_i, evicted = 0;
    memset(destroyed, 0, sizeof destroyed);
    lz_lru *l;
    model m = {0};
    ck_assert_int_eq(lz_lru_create((uint32_t)cap, destroy, &n_destroyed, &l), LZ_OK);
    for (int step = 0; step < 1000; step++) {
        int k = (int)(ct_rand(&s) % KEYS), at = model_find(&m, k), op = (int)(ct_rand(&s) % 8);
        values[step] = step;
        if (op < 4) {
            ck_assert_int_eq(lz_lru_put(l, key((uint64_t)k), &values[step]), LZ_OK);
            if (at >= 0)
                model_cut(&m, at);
            else if (m.n == cap)
                evicted++, m.n--;
            model_front(&m, k, step);
        } else if (op < 6) {
            int *v = lz_lru_get(l, key((uint64_t)k));
            ck_assert((v != NULL) == (at >= 0));
            if (v) {
                int mv = m.v[at];
                ck_assert_int_eq(*v, mv);
                model_cut(&m, at);
                model_front(&m, k, mv);
            }
        } else if (op == 6) {
            int *v = lz_lru_peek(l, key((uint64_t)k));
            ck_assert((v != NULL) == (at >= 0));
        } else {
            int *v = step % 2 ? lz_lru_take(l, key((uint64_t)k)) : NULL;
            if (step % 2)
                ck_assert((v != NULL) == (at >= 0));
            else
                ck_assert_int_eq(lz_lru_del(l, key((uint64_t)k)), at >= 0);
            if (v)
                destroy(v, &n_destroyed);
            if (at >= 0)
                model_cut(&m, at);
        }
        ck_assert_int_eq(lz_lru_len(l), m.n);
        walk_model = &m, walk_at = 0;
        lz_lru_each(l, compare_walk, NULL);
        ck_assert_int_eq(walk_at, m.n);
    }
    ck_assert_uint_eq(lz_lru_evicted(l), evicted);
    lz_lru_set_capacity(l, 0);
    ck_assert_int_eq(lz_lru_capacity(l), 1);
    ck_assert_int_eq(lz_lru_len(l), m.n ? 1 : 0);
    lz_lru_free(l);
    for (int i = 0; i < 1000; i++)
        ck_assert_int_le(destroyed[i], 1); /* nothing twice */
}
END_TEST

START_TEST(edges)
{
    lz_lru *l;
    int a = 1, b = 2, n = 0;
    memset(destroyed, 0, sizeof destroyed);
    ck_assert_int_eq(lz_lru_create(2, destroy, &n, &l), LZ_OK);
    ck_assert_int_eq(lz_lru_put(l, key(1), NULL), LZ_ENULL);
    ck_assert_int_eq(lz_lru_put(l, key(1), &a), LZ_OK);
    ck_assert_int_eq(lz_lru_put(l, key(1), &a), LZ_OK); /* the same value again is not destroyed */
    ck_assert_int_eq(n, 0);
    ck_assert_int_eq(lz_lru_put(l, key(1), &b), LZ_OK);
    ck_assert_int_eq(n, 1);
    lz_lru_clear(l);
    ck_assert_int_eq(n, 2);
    ck_assert_ptr_null(lz_lru_get(l, key(1)));
    lz_lru_free(l);
    lz_lru_free(NULL);
    ck_assert_int_eq(lz_lru_create(3, NULL, NULL, &l), LZ_OK); /* no destructor */
    for (uint64_t i = 0; i < 10; i++)
        ck_assert_int_eq(lz_lru_put(l, key(i), &a), LZ_OK);
    ck_assert_int_eq(lz_lru_len(l), 3);
    lz_lru_free(l);
}
END_TEST

START_TEST(out_of_memory)
{
    int v[64], n = 0;
    for (int fail = 1; fail < 12; fail++) {
        int64_t live = lz_alloc_live_bytes_hint();
        n = 0;
        lz_lru *l = NULL;
        lz_alloc_fail_at(fail, false);
        int put = 0;
        if (lz_lru_create(8, destroy, &n, &l) == LZ_OK)
            for (int i = 0; i < 40; i++) {
                v[i] = i;
                if (lz_lru_put(l, key((uint64_t)i), &v[i]) == LZ_OK)
                    put++;
                else
                    ck_assert_ptr_null(lz_lru_peek(l, key((uint64_t)i)));
            }
        lz_alloc_fail_at(0, false);
        lz_lru_free(l);
        ck_assert_int_eq(n, put); /* what it took it destroyed, no more */
        ck_assert_int_eq(lz_alloc_live_bytes_hint(), live);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("lru");
    TCase *t = tcase_create("lru");
    tcase_add_loop_test(t, against_the_model, 0, 12);
    tcase_add_test(t, edges);
    tcase_add_test(t, out_of_memory);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
