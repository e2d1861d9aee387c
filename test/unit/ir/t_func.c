/* t_func.c - building, hash-consing, verifying, copying, pruning, serialising functions; regions;
 * very long chains. */
#include "base/alloc.h"
#include "suite.h"
#include "support/gen.h"
#include <pthread.h>
#include <string.h>

static const lz_type *get(lz_dtype d, lz_shape s)
{
    return lz_type_get(d, &s);
}

static lz_func *two_params(lz_val v[2])
{
    lz_func *f = lz_func_new("f");
    v[0] = lz_build_param(f, get(LZ_F32, LZ_SHAPE(2, 3)));
    v[1] = lz_build_param(f, get(LZ_F32, LZ_SHAPE(2, 3)));
    return f;
}

START_TEST(equal_instructions_are_one)
{
    lz_val p[2];
    lz_func *f = two_params(p);
    lz_val a = lz_build_ew2(f, LZ_OP_ADD, p[0], p[1]);
    ck_assert_uint_eq(a, lz_build_ew2(f, LZ_OP_ADD, p[0], p[1]));
    ck_assert_uint_ne(a, lz_build_ew2(f, LZ_OP_ADD, p[1], p[0]));
    lz_val c = lz_build_scalar(f, LZ_F32, 1.5);
    ck_assert_uint_eq(c, lz_build_scalar(f, LZ_F32, 1.5));
    ck_assert_uint_ne(c, lz_build_scalar(f, LZ_F64, 1.5));
    ck_assert_uint_ne(lz_build_scalar(f, LZ_F32, 0.0), lz_build_scalar(f, LZ_F32, -0.0));
    const lz_type *t = get(LZ_F32, LZ_SHAPE(2, 3));
    ck_assert_uint_eq(lz_build_splat(f, t, 7), lz_build_splat(f, t, 7));
    uint32_t n = f->ninst;
    f->cse = false;
    ck_assert_uint_ne(a, lz_build_ew2(f, LZ_OP_ADD, p[0], p[1]));
    ck_assert_uint_eq(f->ninst, n + 1);
    ck_assert_int_eq(f->status, LZ_OK);
    lz_func_free(f);
}
END_TEST

START_TEST(short_forms)
{
    lz_val p[2];
    lz_func *f = two_params(p);
    lz_shape same = LZ_SHAPE(2, 3), flat = LZ_SHAPE(6), big = LZ_SHAPE(2, 3, 4);
    ck_assert_uint_eq(lz_build_convert(f, p[0], LZ_F32), p[0]);
    ck_assert_uint_eq(lz_build_reshape(f, p[0], &same), p[0]);
    lz_ints dims = lz_ints_make(2, (int64_t[]){0, 1}), perm = lz_ints_make(2, (int64_t[]){1, 0}),
            one = lz_ints_make(1, (int64_t[]){1});
    lz_val z = lz_build_scalar(f, LZ_F32, 0);
    const struct {
        lz_val v;
        const lz_type *want;
    } cases[] = {
        {lz_build_convert(f, p[0], LZ_I8), get(LZ_I8, same)},
        {lz_build_reshape(f, p[0], &flat), get(LZ_F32, flat)},
        {lz_build_broadcast(f, p[0], &dims, &big), get(LZ_F32, big)},
        {lz_build_transpose(f, p[0], &perm), get(LZ_F32, LZ_SHAPE(3, 2))},
        {lz_build_reduce(f, LZ_OP_ADD, p[0], z, &one), get(LZ_F32, LZ_SHAPE(2))},
        {lz_build_compare(f, LZ_CMP_LT, p[0], p[1]), get(LZ_BOOL, same)},
        {lz_build_select(f, lz_build_compare(f, LZ_CMP_GE, p[0], p[1]), p[0], p[1]),
         get(LZ_F32, same)},
        {lz_build_iota(f, get(LZ_I32, flat), 0), get(LZ_I32, flat)},
        {lz_build_splat(f, get(LZ_F64, LZ_SCALAR), 3), get(LZ_F64, LZ_SCALAR)},
        {lz_build_ew1(f, LZ_OP_TANH, p[0]), get(LZ_F32, same)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_uint_ne(cases[i].v, LZ_NOVAL);
        ck_assert_ptr_eq(lz_val_type(f, cases[i].v), cases[i].want);
    }
    for (int d = 1; d < LZ_DTYPE_COUNT; d++) { /* the compare type that fits */
        if (lz_dtype_is_storage((lz_dtype)d))
            continue;
        lz_val a = lz_build_scalar(f, (lz_dtype)d, 1);
        ck_assert_uint_ne(lz_build_compare(f, LZ_CMP_EQ, a, a), LZ_NOVAL);
    }
    ck_assert_int_eq(lz_func_verify(f), LZ_OK);
    lz_func_free(f);
}
END_TEST

START_TEST(several_results)
{
    lz_val p[2];
    lz_func *f = two_params(p);
    lz_val b = lz_build(f, LZ_OP_OPTIMIZATION_BARRIER, NULL, p, 2);
    lz_attr_index plain = {.kind = LZ_ATTR_index, .index = 1}; /* the builder knows the type */
    lz_val r1 = lz_build(f, LZ_OP_RESULT, (lz_attr *)(void *)&plain, &b, 1);
    ck_assert_uint_eq(r1, lz_build_result(f, b, 1));
    ck_assert_uint_ne(r1, lz_build_result(f, b, 0));
    lz_val single = lz_build(f, LZ_OP_OPTIMIZATION_BARRIER, NULL, p, 1);
    ck_assert_uint_eq(lz_build_result(f, single, 0), single);
    ck_assert_int_eq(lz_func_set_results(f, &r1, 1), LZ_OK);
    ck_assert_int_eq(lz_func_verify(f), LZ_OK);
    ck_assert_int_eq(lz_func_set_results(f, &b, 1), LZ_EINTERNAL); /* two values at once */
    lz_func_free(f);
    f = two_params(p);
    b = lz_build(f, LZ_OP_OPTIMIZATION_BARRIER, NULL, p, 2);
    ck_assert_uint_eq(lz_build_ew1(f, LZ_OP_NEGATE, b), LZ_NOVAL);
    lz_func_free(f);
    f = two_params(p);
    b = lz_build(f, LZ_OP_OPTIMIZATION_BARRIER, NULL, p, 2);
    ck_assert_uint_eq(lz_build_result(f, b, 2), LZ_NOVAL);
    ck_assert_int_eq(f->status, LZ_ERANGE);
    lz_func_free(f);
}
END_TEST

START_TEST(the_first_failure_stays)
{
    lz_val p[2];
    lz_func *f = two_params(p);
    lz_val i = lz_build_iota(f, get(LZ_I32, LZ_SHAPE(2, 3)), 0);
    ck_assert_uint_eq(lz_build_ew2(f, LZ_OP_ADD, p[0], i), LZ_NOVAL);
    ck_assert_int_eq(f->status, LZ_EDTYPE);
    ck_assert_uint_eq(lz_build_ew1(f, LZ_OP_ABS, p[0]), LZ_NOVAL);
    ck_assert_uint_eq(lz_build_scalar(f, LZ_F32, 1), LZ_NOVAL);
    ck_assert_int_eq(f->status, LZ_EDTYPE);
    ck_assert_int_eq(lz_func_set_results(f, p, 1), LZ_EDTYPE);
    ck_assert_int_eq(lz_func_verify(f), LZ_EINTERNAL);
    lz_func *g;
    ck_assert_int_ne(lz_func_copy(f, &g), LZ_OK);
    ck_assert(!g && !lz_func_prune(f));
    lz_func_free(f);
    f = two_params(p);
    (void)lz_build_ew1(f, LZ_OP_ABS, p[0]);
    ck_assert_uint_eq(lz_build_param(f, get(LZ_F32, LZ_SCALAR)),
                      LZ_NOVAL); /* parameters come first */
    lz_func_free(f);
    f = two_params(p);
    ck_assert_uint_eq(lz_build_ew1(f, LZ_OP_ABS, 1000), LZ_NOVAL);
    ck_assert_int_ne(f->status, LZ_OK);
    lz_func_free(f);
    f = two_params(p);
    ck_assert_uint_eq(lz_build_ew1(f, LZ_OP_ABS, LZ_NOVAL), LZ_NOVAL);
    ck_assert_uint_eq(lz_build_param(f, NULL), LZ_NOVAL);
    ck_assert_uint_eq(lz_build_const(f, NULL), LZ_NOVAL);
    lz_func_free(f);
}
END_TEST

START_TEST(the_verifier_sees_damage)
{
    lz_val p[2];
    lz_func *f = two_params(p);
    lz_val a = lz_build_ew2(f, LZ_OP_ADD, p[0], p[1]), b = lz_build_ew1(f, LZ_OP_ABS, a);
    lz_val c = lz_build_scalar(f, LZ_F32, 1);
    ck_assert_int_eq(lz_func_set_results(f, &b, 1), LZ_OK);
    ck_assert_int_eq(lz_func_verify(f), LZ_OK);
    lz_inst saved = f->insts[b];
    f->insts[b].opnd = &b; /* itself */
    ck_assert_int_eq(lz_func_verify(f), LZ_EINTERNAL);
    ck_assert(strstr(lz_error_get()->message, "abs 3"));
    f->insts[b].opnd = &c; /* later, and of another type */
    ck_assert_int_eq(lz_func_verify(f), LZ_EINTERNAL);
    f->insts[b] = saved;
    f->insts[b].sig = NULL;
    ck_assert_int_eq(lz_func_verify(f), LZ_EINTERNAL);
    f->insts[b] = saved;
    lz_literal *l = f->insts[c].lit;
    f->insts[c].lit = NULL;
    ck_assert_int_eq(lz_func_verify(f), LZ_EINTERNAL);
    f->insts[c].lit = l;
    f->insts[b].lit = l;
    ck_assert_int_eq(lz_func_verify(f), LZ_EINTERNAL);
    f->insts[b].lit = NULL;
    f->results[0] = 99;
    ck_assert_int_eq(lz_func_verify(f), LZ_EINTERNAL);
    f->results[0] = b;
    f->nparam = 1;
    ck_assert_int_eq(lz_func_verify(f), LZ_EINTERNAL);
    f->nparam = 2;
    ck_assert_int_eq(lz_func_verify(f), LZ_OK);
    lz_func_free(f);
}
END_TEST

/* ---- random functions ---- */

static void same_function(const lz_func *a, const lz_func *b)
{
    lz_buf x = {0}, y = {0};
    lz_func_serialize(a, &x);
    lz_func_serialize(b, &y);
    ck_assert_uint_eq(x.len, y.len);
    ck_assert_int_eq(memcmp(x.data, y.data, x.len), 0);
    lz_buf_free(&x);
    lz_buf_free(&y);
    ck_assert(lz_hash_eq(lz_func_hash(a), lz_func_hash(b)));
    ck_assert(lz_func_same(a, b));
}

/* result: which of the parameters or, at 2, of what is computed. */
static lz_func *of_constant(float v, lz_op op, bool swapped, int result)
{
    lz_val p[3], c;
    lz_func *f = two_params(p);
    c = lz_build_splat(f, get(LZ_F32, LZ_SHAPE(2, 3)), v);
    p[2] = lz_build_ew2(f, op, swapped ? c : p[0], swapped ? p[0] : c);
    ck_assert_int_eq(lz_func_set_results(f, &p[result], 1), LZ_OK);
    return f;
}

/* Functions are the same where their bytes are: other constants, operations, operands, results. */
START_TEST(same_where_bytes_are)
{
    const lz_op minus = LZ_OP_SUBTRACT;
    lz_func *f[] = {of_constant(2, minus, false, 2),    of_constant(2, minus, false, 2),
                    of_constant(3, minus, false, 2),    of_constant(0, minus, false, 2),
                    of_constant(-0.f, minus, false, 2), of_constant(2, LZ_OP_ATAN2, false, 2),
                    of_constant(2, minus, true, 2),     of_constant(2, minus, false, 1),
                    of_constant(2, minus, false, 0)};
    enum { N = sizeof f / sizeof *f };
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            bool same = lz_hash_eq(lz_func_hash(f[i]), lz_func_hash(f[k]));
            ck_assert(same == (i == k || i + k == 1)); /* the first two are one */
            ck_assert_msg(lz_func_same(f[i], f[k]) == same, "%d and %d", i, k);
        }
    for (int i = 0; i < N; i++)
        lz_func_free(f[i]);
}
END_TEST

START_TEST(bytes_round_trip)
{
    for (uint64_t seed = (uint64_t)_i * 50; seed < (uint64_t)_i * 50 + 50; seed++) {
        lz_func *f = lz_gen_random(seed, &(lz_gen_options){.max_insts = 25}), *g;
        ck_assert_ptr_nonnull(f);
        lz_buf b = {0};
        lz_func_serialize(f, &b);
        ck_assert_msg(lz_func_deserialize(b.data, b.len, &g) == LZ_OK, "%s",
                      lz_error_get()->message);
        ck_assert_int_eq(lz_func_verify(g), LZ_OK);
        same_function(f, g);
        lz_func_free(g);
        for (size_t n = 0; n < b.len; n += 1 + b.len / 200) { /* cut anywhere: never accepted */
            char *cut = lz_alloc(n);                          /* its end is watched */
            memcpy(cut, b.data, n);
            ck_assert_int_eq(lz_func_deserialize(cut, n, &g), LZ_ECORRUPT);
            ck_assert_ptr_null(g);
            lz_free(cut);
        }
        lz_buf_free(&b);
        lz_func_free(f);
    }
}
END_TEST

/* Every byte changed, several ways: refused, or a function that verifies. */
START_TEST(damaged_bytes)
{
    lz_rnd r = {(uint64_t)_i + 1};
    lz_func *f = lz_gen_random((uint64_t)_i, &(lz_gen_options){.max_insts = 12, .max_elems = 16}),
            *g;
    lz_buf b = {0};
    lz_func_serialize(f, &b);
    for (size_t i = 0; i < b.len; i++) {
        char was = b.data[i];
        const int flips[] = {1, 0x80, 0xff, (int)lz_rnd_range(&r, 1, 255)};
        for (int k = 0; k < 4; k++) {
            b.data[i] = (char)(was ^ flips[k]);
            lz_status s = lz_func_deserialize(b.data, b.len, &g);
            ck_assert(s == LZ_OK || s == LZ_ECORRUPT);
            if (s == LZ_OK)
                ck_assert_int_eq(lz_func_verify(g), LZ_OK);
            lz_func_free(g);
        }
        b.data[i] = was;
    }
    lz_buf_free(&b);
    lz_func_free(f);
}
END_TEST

START_TEST(copies_and_pruned_copies)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        lz_func *f = lz_gen_random(seed, &(lz_gen_options){.max_insts = 30}), *g;
        ck_assert_int_eq(lz_func_copy(f, &g), LZ_OK);
        same_function(f, g);
        lz_func_free(g);
        g = lz_func_prune(f);
        ck_assert_ptr_nonnull(g);
        ck_assert_int_eq(lz_func_verify(g), LZ_OK);
        ck_assert_uint_eq(g->nparam, f->nparam);
        uint32_t counts[512];
        ck_assert_uint_lt(g->ninst, 512);
        lz_func_use_counts(g, counts);
        for (uint32_t i = g->nparam; i < g->ninst; i++)
            ck_assert_uint_gt(counts[i], 0);
        lz_func *h = lz_func_prune(g);
        same_function(g, h);
        lz_func_free(h);
        lz_func_free(g);
        lz_func_free(f);
    }
}
END_TEST

/* ---- regions ---- */

static lz_func *body_of(lz_op op, const char *name)
{
    lz_func *f = lz_func_new(name);
    const lz_type *t = get(LZ_F32, LZ_SCALAR);
    lz_val a = lz_build_param(f, t), b = lz_build_param(f, t);
    (void)lz_build_scalar(f, LZ_F64, 9); /* dead */
    lz_val v = lz_build_ew2(f, op, a, b);
    ck_assert_int_eq(lz_func_set_results(f, &v, 1), LZ_OK);
    return f;
}

START_TEST(equal_regions_are_one)
{
    lz_func *a = body_of(LZ_OP_ADD, "one"), *b = body_of(LZ_OP_ADD, "other"),
            *c = body_of(LZ_OP_SUBTRACT, "one");
    const lz_func *ra = lz_region_intern(a), *rb = lz_region_intern(b), *rc = lz_region_intern(c);
    ck_assert(ra && ra == rb && ra != rc);
    ck_assert_ptr_eq(lz_region_intern(ra), ra);
    ck_assert_ptr_eq(lz_region_binary(LZ_OP_ADD, LZ_F32), ra);
    ck_assert_int_eq(lz_region_as_binary(ra), LZ_OP_ADD);
    ck_assert_int_eq(lz_region_as_binary(rc), LZ_OP_NONE); /* does not commute */
    ck_assert_int_eq(lz_region_as_binary(NULL), LZ_OP_NONE);
    ck_assert(lz_hash_eq(ra->hash, lz_func_hash(ra)));
    lz_func_free((lz_func *)(uintptr_t)ra); /* left alone */
    ck_assert_int_eq(lz_region_as_binary(ra), LZ_OP_ADD);
    ck_assert_ptr_null(lz_region_binary(LZ_OP_AND, LZ_F32));
    ck_assert_int_eq(lz_error_get()->status, LZ_EDTYPE);
    lz_func *copy;
    ck_assert_int_eq(lz_func_copy(ra, &copy), LZ_OK);
    ck_assert(!copy->interned);
    lz_func_free(copy);
    lz_func_free(a);
    lz_func_free(b);
    lz_func_free(c);
}
END_TEST

/* reduce in reduce in ...: refused at a depth, so walks over regions may recurse. */
START_TEST(regions_nest_so_far)
{
    const lz_func *body = lz_region_binary(LZ_OP_ADD, LZ_F32);
    const lz_type *t = get(LZ_F32, LZ_SCALAR);
    int depth = 0;
    for (; depth < 100; depth++) {
        lz_func *f = lz_func_new("deep");
        lz_val p[2] = {lz_build_param(f, t), lz_build_param(f, t)};
        lz_attr_reduce a = {.kind = LZ_ATTR_reduce, .body = body};
        lz_val v = lz_build(f, LZ_OP_REDUCE, (lz_attr *)(void *)&a, p, 2);
        ck_assert_int_eq(lz_func_set_results(f, &v, 1), LZ_OK);
        const lz_func *next = lz_region_intern(f);
        lz_buf b = {0};
        lz_func *g;
        lz_func_serialize(f, &b);
        lz_status s = lz_func_deserialize(b.data, b.len, &g);
        ck_assert(s == LZ_OK);
        lz_func_free(g);
        lz_func_free(f);
        lz_buf_free(&b);
        if (!next)
            break;
        body = next;
    }
    ck_assert_int_eq(lz_error_get()->status, LZ_EUNSUPPORTED);
    ck_assert_int_eq(depth, LZ_MAX_REGION_DEPTH - 1);
}
END_TEST

/* ---- size ---- */

enum { CHAIN = 1000000 };

/* On a thread with little stack: nothing may recurse over instructions. */
static void *long_chain(void *arg)
{
    lz_val p[2];
    lz_func *f = two_params(p), *g;
    lz_val v = p[0];
    for (int i = 0; i < CHAIN; i++)
        v = lz_build_ew2(f, i & 1 ? LZ_OP_ADD : LZ_OP_MULTIPLY, v, p[1]);
    bool ok = f->ninst == CHAIN + 2 && lz_func_set_results(f, &v, 1) == LZ_OK &&
              lz_func_verify(f) == LZ_OK;
    g = lz_func_prune(f);
    ok = ok && g && g->ninst == f->ninst;
    lz_func_free(g);
    lz_buf b = {0};
    lz_func_serialize(f, &b);
    ok = ok && lz_func_deserialize(b.data, b.len, &g) == LZ_OK &&
         lz_hash_eq(lz_func_hash(f), lz_func_hash(g));
    lz_func_free(g);
    lz_buf_free(&b);
    lz_func_print(f, &b, 0);
    ok = ok && !b.failed && lz_func_parse(b.data, b.len, "chain", &g) == LZ_OK &&
         lz_hash_eq(lz_func_hash(f), lz_func_hash(g));
    lz_func_free(g);
    lz_buf_free(&b);
    lz_func_free(f);
    *(bool *)arg = ok;
    return NULL;
}

START_TEST(a_million_instructions)
{
    pthread_attr_t a;
    pthread_t t;
    bool ok = false;
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, 256 << 10);
    ck_assert_int_eq(pthread_create(&t, &a, long_chain, &ok), 0);
    pthread_join(t, NULL);
    pthread_attr_destroy(&a);
    ck_assert(ok);
}
END_TEST

/* ---- exhausted memory ---- */

/* The n-th allocation fails, for every n: LZ_EMEM or success, nothing else; ASan watches for
 * leaks. */
START_TEST(memory_runs_out)
{
    lz_func *f = lz_gen_random(4, &(lz_gen_options){.max_insts = 20}), *g;
    lz_buf bytes = {0};
    lz_func_serialize(f, &bytes);
    int64_t n = 1;
    for (bool done = false; !done; n++) {
        uint64_t before = lz_alloc_failed_count();
        lz_alloc_fail_at(n, false);
        lz_status s = lz_func_deserialize(bytes.data, bytes.len, &g);
        if (s == LZ_OK) {
            lz_func *h = lz_func_prune(g);
            lz_buf b = {0};
            lz_func_serialize(g, &b);
            lz_buf t = {0};
            lz_func_print(g, &t, 0);
            done = lz_alloc_failed_count() == before;
            ck_assert(!done || (h && !b.failed && !t.failed));
            lz_buf_free(&b);
            lz_buf_free(&t);
            lz_func_free(h);
        } else {
            ck_assert_msg(s == LZ_EMEM, "%d: %s", (int)n, lz_error_get()->message);
        }
        lz_alloc_fail_at(0, false);
        lz_func_free(g);
    }
    ck_assert_int_gt(n, 20);
    lz_buf_free(&bytes);
    lz_func_free(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ir/func");
    TCase *t = tcase_create("func");
    tcase_add_test(t, equal_instructions_are_one);
    tcase_add_test(t, short_forms);
    tcase_add_test(t, several_results);
    tcase_add_test(t, the_first_failure_stays);
    tcase_add_test(t, the_verifier_sees_damage);
    tcase_add_test(t, same_where_bytes_are);
    tcase_add_loop_test(t, bytes_round_trip, 0, 6);
    tcase_add_loop_test(t, damaged_bytes, 0, 8);
    tcase_add_test(t, copies_and_pruned_copies);
    tcase_add_test(t, equal_regions_are_one);
    tcase_add_test(t, regions_nest_so_far);
    tcase_add_test(t, a_million_instructions);
    tcase_add_test(t, memory_runs_out);
    tcase_set_timeout(t, 300);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
