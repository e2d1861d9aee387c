/* t_vhlo.c - VHLO bytecode is read as the program that its text is: the files of test/vhlo, which
 * JAX wrote (test/vhlo/make.py). Bytes that are cut short or wrong are refused, or another
 * program. */
#include "base/file_io.h"
#include "ir/module.h"
#include "ir/vhlo/vhlo.h"
#include "suite.h"
#include "support/rnd.h"
#include <glob.h>
#include <stdio.h>
#include <string.h>

static glob_t files; /* in the order of their names */

static lz_buf slurp(const char *path)
{
    lz_buf b = {0};
    ck_assert_msg(lz_file_slurp(path, 1 << 24, &b) == LZ_OK, "%s", lz_error_get()->message);
    return b;
}

/* DIR/NAME.mlirbc, DIR/NAME-1.13.0.mlirbc: the text is DIR/NAME.mlir, or that of test/hlo. */
static lz_buf text_of(const char *path)
{
    const char *base = strrchr(path, '/') + 1;
    char name[300], text[400];
    snprintf(name, sizeof name, "%s", base);
    name[strcspn(name, "-.")] = '\0';
    snprintf(text, sizeof text, "%.*s%s.mlir", (int)(base - path), path, name);
    FILE *f = fopen(text, "r");
    if (!f)
        snprintf(text, sizeof text, "test/hlo/%s/prog.mlir", name);
    else
        fclose(f);
    return slurp(text);
}

static lz_func *read(const char *path, const lz_buf *b, bool marked)
{
    lz_func *f;
    lz_status s = marked ? lz_func_parse_marked(b->data, b->len, "t", NULL, 1, NULL, &f)
                         : lz_func_parse(b->data, b->len, "t", &f);
    ck_assert_msg(s == LZ_OK, "%s: %s", path, lz_error_get()->message);
    ck_assert_msg(lz_func_verify(f) == LZ_OK, "%s: %s", path, lz_error_get()->message);
    return f;
}

START_TEST(the_same_as_text)
{
    const char *path = files.gl_pathv[_i];
    lz_buf bytes = slurp(path), text = text_of(path);
    ck_assert(lz_vhlo_is_bytecode(bytes.data, bytes.len));
    ck_assert(!lz_vhlo_is_bytecode(text.data, text.len));
    for (int marked = 0; marked < 2; marked++) {
        lz_func *f = read(path, &bytes, marked), *g = read(path, &text, marked);
        ck_assert_msg(lz_hash_eq(lz_func_hash(f), lz_func_hash(g)), "%s, marked %d", path, marked);
        lz_func_free(f);
        lz_func_free(g);
    }
    lz_buf_free(&bytes);
    lz_buf_free(&text);
}
END_TEST

/* n bytes of p, in memory that ends there. */
static lz_status parse(const void *p, size_t n)
{
    lz_func *f = NULL;
    void *own = lz_alloc(n);
    ck_assert_ptr_nonnull(own);
    memcpy(own, p, n);
    lz_error_clear();
    lz_status s = lz_func_parse(own, n, "t", &f);
    ck_assert_int_eq(s == LZ_OK, f != NULL);
    if (f)
        ck_assert_msg(lz_func_verify(f) == LZ_OK, "%s", lz_error_get()->message);
    ck_assert_int_ne(s, LZ_EINTERNAL);
    lz_func_free(f);
    lz_free(own);
    return s;
}

START_TEST(cut_short)
{
    lz_buf b = slurp("test/vhlo/hlo/x_plus_1.mlirbc");
    for (size_t n = 1; n < b.len; n++)
        ck_assert_msg(parse(b.data, n) != LZ_OK, "%zu of %zu bytes", n, b.len);
    ck_assert_int_eq(parse(b.data, b.len), LZ_OK);
    lz_buf_free(&b);
}
END_TEST

START_TEST(wrong_bytes)
{
    lz_buf b = slurp(files.gl_pathv[_i]);
    lz_rnd r = {lz_test_seed() * UINT64_C(1000) + (unsigned)_i};
    for (int k = lz_test_small() ? 20 : 100; k > 0 && b.len < 8000; k--) {
        char old[3];
        size_t at[3];
        for (int i = 0; i < 3; i++) {
            at[i] = (size_t)lz_rnd_range(&r, 4, (int64_t)b.len - 1);
            old[i] = b.data[at[i]];
            b.data[at[i]] = (char)lz_rnd_u64(&r);
        }
        (void)parse(b.data, b.len);
        for (int i = 2; i >= 0; i--)
            b.data[at[i]] = old[i];
    }
    lz_buf_free(&b);
}
END_TEST

START_TEST(not_bytecode)
{
    lz_buf text = {0};
    ck_assert(!lz_vhlo_is_bytecode("", 0));
    ck_assert(!lz_vhlo_is_bytecode("ML\xefR", 3));
    ck_assert(lz_vhlo_is_bytecode("ML\xefR", 4));
    ck_assert_int_eq(lz_vhlo_to_text("module {}", 9, &text), LZ_EPARSE);
    ck_assert_int_eq(lz_vhlo_to_text("ML\xefR", 4, &text), LZ_EPARSE);
    ck_assert_msg(strstr(lz_error_get()->message, "bytecode: byte 4: "), "%s",
                  lz_error_get()->message);
    lz_buf_free(&text);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ir/vhlo");
    TCase *t = tcase_create("vhlo");
    if (glob("test/vhlo/*/*.mlirbc", 0, NULL, &files) != 0 || files.gl_pathc < 100)
        return EXIT_FAILURE;
    tcase_add_loop_test(t, the_same_as_text, 0, (int)files.gl_pathc);
    tcase_add_loop_test(t, wrong_bytes, 0, (int)files.gl_pathc);
    tcase_add_test(t, cut_short);
    tcase_add_test(t, not_bytecode);
    suite_add_tcase(s, t);
    int rc = lz_run_suite(s);
    globfree(&files);
    return rc;
}
