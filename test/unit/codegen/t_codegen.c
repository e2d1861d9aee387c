/* t_codegen.c - the code generator as a whole: targets, symbols, determinism, threads, failing
 * memory, what it refuses. */
#include "codegen/shared_code.h"
#include "jit_util.h"
#include "base/alloc.h"
#include "base/config.h"
#include "ir/module.h"
#include <math.h>
#include <pthread.h>
#include <unistd.h>

/* ---- targets ---- */

START_TEST(host)
{
    lz_target t;
    must(lz_target_host(&t));
    ck_assert_int_gt((int)strlen(t.triple), 0);
    ck_assert(t.machine.vector_bytes == 64 || t.machine.vector_bytes == 32 ||
              t.machine.vector_bytes == 16);
    ck_assert_int_ge(t.machine.l1_bytes, 4096);
    ck_assert_int_ge(t.machine.l2_bytes, t.machine.l1_bytes);
    ck_assert(lz_target_runs(t.features));
    char prev[64] = "", copy[sizeof t.features];
    snprintf(copy, sizeof copy, "%s", t.features);
    for (char *save, *p = strtok_r(copy, ",", &save); p; p = strtok_r(NULL, ",", &save)) {
        ck_assert(p[0] == '+' || p[0] == '-');
        ck_assert_int_lt(strcmp(prev, p + 1), 0); /* sorted */
        snprintf(prev, sizeof prev, "%s", p + 1);
    }
}
END_TEST

START_TEST(levels)
{
    const char *names[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};
    const int bytes[] = {16, 32, 64};
    lz_target native, t;
    must(lz_config_set("LAZULI_CPU", "native"));
    must(lz_target_host(&native));
    if (strncmp(native.triple, "x86_64", 6) != 0)
        return;
    for (int i = 0; i < 3; i++) {
        must(lz_config_set("LAZULI_CPU", names[i]));
        if (lz_target_host(&t) != LZ_OK) {
            ck_assert_int_eq(lz_error_get()->status,
                             LZ_EINVAL); /* the machine lacks something of that level */
            ck_assert_ptr_nonnull(strstr(lz_error_get()->message, names[i]));
            continue;
        }
        ck_assert_int_eq(t.machine.vector_bytes, bytes[i]);
        ck_assert(lz_target_runs(t.features));
    }
    must(lz_config_set("LAZULI_CPU", "pentium"));
    ck_assert_int_eq(lz_target_host(&t), LZ_EINVAL);
    ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "pentium"));
    must(lz_config_set("LAZULI_CPU", "native"));
    must(lz_target_host(&t));
    ck_assert_str_eq(t.features, native.features);
}
END_TEST

START_TEST(forms)
{
    lz_target t;
    lz_buf b = {0};
    must(lz_config_set("LAZULI_VARIANTS", "-all,+nontemporal"));
    must(lz_target_host(&t));
    ck_assert_uint_eq(t.always, 1u << LZ_VARIANT_nontemporal);
    ck_assert_uint_eq(t.without, ((1u << LZ_VARIANT_COUNT) - 1) & ~t.always);
    must(lz_variants_parse("-streams", &t)); /* a former name */
    ck_assert_uint_eq(t.without, 1u << LZ_VARIANT_nontemporal);
    must(lz_variants_parse("-bf16_pairs,+indirect", &t));
    lz_variants_print(&t, &b);
    ck_assert_str_eq(lz_buf_str(&b), ";-bf16_pairs;+indirect"); /* what keys get */
    lz_buf_free(&b);
    const char *wrong[] = {"stream", "-stream", "-", "-all,,", "-allx"};
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(lz_variants_parse(wrong[i], &t), LZ_EINVAL);
        ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "nontemporal"));
    }
    must(lz_config_set("LAZULI_VARIANTS", NULL));
    must(lz_target_host(&t));
    ck_assert_uint_eq(t.without | t.always, 0);
}
END_TEST

START_TEST(runs)
{
    ck_assert(lz_target_runs(""));
    ck_assert(lz_target_runs("-avx512f,-sse3"));
    ck_assert(lz_target_runs("+prefer-256-bit,+fast-gather,+slow-incdec"));
    ck_assert(!lz_target_runs("+quantum"));
    ck_assert(!lz_target_runs("+prefer-256-bit,+quantum,-avx"));
}
END_TEST

START_TEST(symbols)
{
    ck_assert_ptr_nonnull(lz_jit_symbol("exp"));
    ck_assert_ptr_nonnull(lz_jit_symbol("fmodf"));
    ck_assert_ptr_nonnull(lz_jit_symbol("memcpy"));
    ck_assert_ptr_null(lz_jit_symbol("system"));
    ck_assert_ptr_null(lz_jit_symbol(""));
    double (*e)(double) = (double (*)(double))(uintptr_t)lz_jit_symbol("exp");
    ck_assert_double_eq(e(0), 1);
}
END_TEST

/* ---- kernels ---- */

/* y[i] = op(x[i]) over n elements; f64 transcendentals call the library. */
static lz_kernel *unary(lz_op op, lz_dtype d, int64_t n)
{
    lz_kernel *k = lz_kernel_new("kernel_by_hand");
    k->nouter = 1;
    k->outer[0] = sz(n);
    k->vec = LZ_VEC_OUTER;
    stages_new(k, 1);
    lz_access a = access_to(add_buf(k, d, false)), b = access_to(add_buf(k, d, true));
    a.stride[0] = b.stride[0] = sz(1);
    add_store(k->stages, b, add_ew(k->stages, op, d, NULL, add_load(k, k->stages, a), -1, -1));
    must(lz_kernel_finish(k));
    return k;
}

/* across: the second factor is contiguous along the summed dimension */
static lz_kernel *product(bool across)
{
    lz_kernel *k = lz_kernel_new("product_by_hand");
    k->nouter = 2;
    k->outer[0] = sz(40);
    k->outer[1] = sz(50);
    k->vec = LZ_VEC_OUTER;
    stages_new(k, 2);
    lz_stage *s = stage_of(k, 0), *t = stage_of(k, 1);
    s->ninner = 1;
    s->extent[0] = sz(60);
    lz_access a = access_to(add_buf(k, LZ_F32, false)), b = access_to(add_buf(k, LZ_F32, false)),
              c = access_to(add_buf(k, LZ_F32, true));
    a.stride[0] = sz(60), a.stride[2] = sz(1);
    b.stride[2] = sz(across ? 1 : 50), b.stride[1] = sz(across ? 60 : 1);
    c.stride[0] = sz(50), c.stride[1] = sz(1);
    int32_t x = add_load(k, s, a), y = add_load(k, s, b);
    add_red(s, LZ_OP_ADD, LZ_F32, add_ew(s, LZ_OP_MULTIPLY, LZ_F32, NULL, x, y, -1), add_f32(s, 0));
    k->stages[0].dot = (lz_dot_info){.role = LZ_DOT_KERNEL, .m = 0, .n = 1, .a_sop = x, .b_sop = y};
    add_store(t, c, add_redval(t, 0, 0, LZ_F32));
    must(lz_kernel_finish(k));
    return k;
}

static lz_kernel *matrix_product(void)
{
    return product(false);
}

static void compile(const lz_kernel *k, lz_buf *obj, lz_buf *ll, lz_buf *as)
{
    lz_target t;
    must(lz_target_host(&t));
    must(lz_llvm_compile(k, &t, obj, ll, as));
}

START_TEST(same_bytes)
{
    lz_kernel *list[] = {unary(LZ_OP_TANH, LZ_F32, 1000), unary(LZ_OP_LOG, LZ_F64, 1000),
                         matrix_product()};
    ck_assert_int_eq(lz_config_set("LAZULI_VARIANTS", NULL), LZ_OK); /* this is about them */
    for (int i = 0; i < 3; i++) {
        lz_buf a = {0}, b = {0}, text = {0}, ll = {0}, as = {0};
        uint64_t before = lz_llvm_compile_count();
        compile(list[i], &a, NULL, NULL);
        ck_assert_uint_eq(lz_llvm_compile_count(), before + 1);
        compile(list[i], &b, NULL, NULL); /* what it shares with others is there already */
        ck_assert_uint_eq(a.len, b.len);
        ck_assert_int_eq(memcmp(a.data, b.data, a.len), 0);
        compile(list[i], &text, &ll, &as); /* with its text it is one module */
        ck_assert_uint_eq(parts_of(&text), 1);
        ck_assert((parts_of(&a) > 1) == lz_kernel_is_dot(list[i]));
        lz_buf_free(&text);
        ck_assert_ptr_nonnull(strstr(lz_buf_str(&ll), "define void @lz_run"));
        ck_assert_ptr_nonnull(strstr(lz_buf_str(&as), "lz_grid"));
        char here[4096];
        ck_assert_ptr_nonnull(getcwd(here, sizeof here));
        if (strlen(here) > 1) /* no path of this machine */
            ck_assert_ptr_null(memmem(a.data, a.len, here, strlen(here)));
        ck_assert_ptr_null(memmem(a.data, a.len, list[i]->name, strlen(list[i]->name)));
        lz_buf_free(&a);
        lz_buf_free(&b);
        lz_buf_free(&ll);
        lz_buf_free(&as);
        lz_kernel_free(list[i]);
    }
}
END_TEST

/* One object serves every size of a kernel: only the arguments differ. */
START_TEST(sizes_are_arguments)
{
    lz_kernel *k = unary(LZ_OP_EXPONENTIAL, LZ_F32, 100),
              *other = unary(LZ_OP_EXPONENTIAL, LZ_F32, 333);
    ck_assert(lz_hash_eq(k->hash, other->hash));
    jit j = jit_new(k);
    const lz_kernel *both[] = {k, other};
    for (int i = 0; i < 2; i++) {
        size_t n = i ? 333 : 100;
        guarded x = guarded_new(n * 4, 0), y = guarded_new(n * 4, 0);
        for (size_t q = 0; q < n; q++)
            ((float *)(void *)x.p)[q] = (float)rnd_unit();
        jit_run(&j, (void *[]){x.p, y.p}, both[i]->args, 1, true);
        for (size_t q = 0; q < n; q++)
            ck_assert_float_eq_tol(((float *)(void *)y.p)[q], expf(((float *)(void *)x.p)[q]),
                                   1e-6f);
        guarded_free(&x);
        guarded_free(&y);
    }
    jit_free(&j);
    lz_kernel_free(k);
    lz_kernel_free(other);
}
END_TEST

/* What LLVM knows of a target is made once for each thread that compiles at a time, not for each
 * kernel. */
START_TEST(machines_are_kept)
{
    lz_kernel *k = matrix_product();
    lz_buf out = {0};
    compile(k, &out, NULL, NULL);
    uint64_t before = lz_llvm_machine_count();
    for (int i = 0; i < 3; i++)
        compile(k, &out, NULL, NULL);
    ck_assert_uint_eq(lz_llvm_machine_count(), before);
    lz_buf_free(&out);
    lz_kernel_free(k);
}
END_TEST

/* Group of attributes of the function that the text defines; -1: it defines none of that name. */
static int attributes(const char *text, const char *name)
{
    char head[64];
    int group = -1;
    snprintf(head, sizeof head, " @%s(", name);
    for (const char *p = strstr(text, "\ndefine "); p; p = strstr(p + 1, "\ndefine ")) {
        const char *end = strchr(p + 1, '\n'), *at = strstr(p, head), *sharp = strstr(p, " #");
        if (at && at < end && sharp && sharp < end)
            ck_assert_int_eq(sscanf(sharp, " #%d", &group), 1);
    }
    return group;
}

/* LLVM takes no pains with what runs once a launch, and with nothing else. */
START_TEST(sizes_are_not_optimized)
{
    static const char *const name[] = {"lz_run",     "tile",    "lz_grid",
                                       "lz_scratch", "numbers", "size"};
    lz_target t;
    must(lz_target_host(&t));
    lz_kernel *k = matrix_product();
    lz_buf out = {0}, ll = {0};
    compile(k, &out, &ll, NULL);
    const char *text = lz_buf_str(&ll);
    for (int i = 0; i < 6; i++) {
        char line[32];
        snprintf(line, sizeof line, "\nattributes #%d = {", attributes(text, name[i]));
        const char *p = strstr(text, line);
        ck_assert_ptr_nonnull(p);
        const char *end = strchr(p + 1, '\n'), *is = strstr(p, " optnone ");
        ck_assert(!!(is && is < end) == (i > 1 && strstr(t.triple, "x86_64")));
    }
    lz_buf_free(&out);
    lz_buf_free(&ll);
    lz_kernel_free(k);
}
END_TEST

static bool has(const char *line, const char *end, const char *word)
{
    return memmem(line, (size_t)(end - line), word, strlen(word)) != NULL;
}

/* The most lines of `text` with `word`, but not `but`, between two labels. */
static int most_in_a_block(const char *text, const char *word, const char *but, int *all)
{
    int most = 0, here = 0;
    *all = 0;
    for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1) {
        if (has(text, end, ":  ")) /* 12:   ; preds = ... */
            here = 0;
        if (!has(text, end, word) || has(text, end, but))
            continue;
        ++*all;
        most = ++here > most ? here : most;
    }
    return most;
}

/* What instruction selection tries on shuffles of shuffles grows with the depth: no block has more
 * than one step of a transposition. */
START_TEST(transposes_step_by_step)
{
    ck_assert_int_eq(lz_config_set("LAZULI_VARIANTS", NULL), LZ_OK); /* this is about them */
    lz_kernel *k = product(true);
    lz_target t;
    lz_buf out = {0}, ll = {0};
    int all;
    must(lz_target_host(&t));
    int lanes = t.machine.vector_bytes / 4;
    compile(k, &out, &ll, NULL);
    /* what puts one element into all lanes is none */
    int most = most_in_a_block(lz_buf_str(&ll), "shufflevector", "zeroinitializer", &all);
    ck_assert_int_le(most, lanes > 4 ? lanes : 2 * lanes); /* two steps are all of 4 x 4 */
    ck_assert_int_ge(all, lanes);
    lz_buf_free(&out);
    lz_buf_free(&ll);
    lz_kernel_free(k);
}
END_TEST

static void *worker(void *arg)
{
    lz_buf *out = arg;
    lz_kernel *k = matrix_product();
    for (int i = 0; i < 4; i++) {
        out->len = 0;
        compile(k, out, NULL, NULL);
    }
    lz_kernel_free(k);
    return NULL;
}

START_TEST(threads)
{
    enum { N = 4 };
    pthread_t id[N];
    lz_buf out[N];
    memset(out, 0, sizeof out);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(pthread_create(&id[i], NULL, worker, &out[i]), 0);
    for (int i = 0; i < N; i++)
        pthread_join(id[i], NULL);
    for (int i = 1; i < N; i++)
        ck_assert(out[i].len == out[0].len && memcmp(out[i].data, out[0].data, out[0].len) == 0);
    for (int i = 0; i < N; i++)
        lz_buf_free(&out[i]);
}
END_TEST

START_TEST(no_memory)
{
    lz_target t;
    must(lz_target_host(&t));
    lz_kernel *list[] = {unary(LZ_OP_TANH, LZ_F32, 1000), matrix_product()};
    for (int i = 0; i < 2; i++) {
        lz_buf ok = {0};
        compile(list[i], &ok, NULL, NULL);
        lz_buf_free(&ok);
        for (int64_t n = 1;; n++) {
            int64_t live = lz_alloc_live_bytes_hint();
            lz_buf obj = {0};
            lz_alloc_fail_at(n, true);
            lz_status s = lz_llvm_compile(list[i], &t, &obj, NULL, NULL);
            lz_alloc_fail_at(0, false);
            if (s == LZ_OK) {
                lz_buf_free(&obj);
                break;
            }
            ck_assert_int_eq(s, LZ_EMEM);
            ck_assert_int_lt(n, 1000);
            lz_buf_free(&obj);
            ck_assert_int_eq(lz_alloc_live_bytes_hint(), live);
        }
        lz_kernel_free(list[i]);
    }
}
END_TEST

START_TEST(refused)
{
    lz_target t;
    must(lz_target_host(&t));
    snprintf(t.triple, sizeof t.triple, "vax-dec-ultrix");
    lz_kernel *k = unary(LZ_OP_TANH, LZ_F32, 10);
    lz_buf obj = {0};
    ck_assert_int_eq(lz_llvm_compile(k, &t, &obj, NULL, NULL), LZ_EUNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "vax"));
    ck_assert_uint_eq(obj.len, 0);
    lz_buf_free(&obj);
    lz_kernel_free(k);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("codegen");
    TCase *t = tcase_create("codegen");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, host);
    tcase_add_test(t, levels);
    tcase_add_test(t, forms);
    tcase_add_test(t, runs);
    tcase_add_test(t, symbols);
    tcase_add_test(t, same_bytes);
    tcase_add_test(t, sizes_are_arguments);
    tcase_add_test(t, machines_are_kept);
    tcase_add_test(t, sizes_are_not_optimized);
    tcase_add_test(t, transposes_step_by_step);
    tcase_add_test(t, threads);
    tcase_add_test(t, no_memory);
    tcase_add_test(t, refused);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
