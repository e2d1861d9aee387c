/* t_sharding.c - texts of meshes and shardings: Shardy's and the canonical one. */
#include "ir/sharding/sharding.h"
#include "suite.h"
#include "support/gen.h"
#include <string.h>

static const lz_mesh *mesh(void)
{
    static const lz_mesh_axis axes[] = {{"x", 2}, {"y", 4}, {"one", 1}, {"z", 6}};
    return lz_mesh_get(axes, 4, NULL);
}

static const lz_mesh *find(void *user, const char *name, size_t n)
{
    (void)user;
    if (n == 1 && *name == 'm')
        return mesh();
    (void)LZ_FAIL(LZ_EINVAL, "there is no mesh @%.*s", (int)n, name);
    return NULL;
}
static const lz_mesh_names names = {find, NULL};

static const lz_sharding *read(const char *text)
{
    size_t used = 0;
    const lz_sharding *s = lz_sharding_read(text, strlen(text), &names, &used);
    ck_assert(!s || used == strlen(text));
    return s;
}

/* ---- round trips ---- */

START_TEST(random_shardings_are_read_back)
{
    lz_rnd r = {(uint64_t)_i + 1};
    for (int i = 0; i < 2000; i++) {
        const lz_mesh *m = lz_gen_mesh(&r, 64);
        ck_assert_ptr_nonnull(m);
        const lz_sharding *s = lz_gen_sharding(&r, m, (int)lz_rnd_range(&r, 0, LZ_MAX_RANK));
        ck_assert_ptr_nonnull(s);
        const char *text = lz_sharding_text(s);
        ck_assert_msg(lz_sharding_parse(text) == s, "%s: %s", text, lz_error_get()->message);
        lz_buf b = {0};
        lz_mesh_print(&b, m);
        size_t used = 0;
        ck_assert_ptr_eq(lz_mesh_read(b.data, b.len, &used), m);
        ck_assert_uint_eq(used, b.len);
        lz_buf_free(&b);
    }
}
END_TEST

static const struct {
    const char *text, *canonical; /* canonical: what follows the mesh; NULL: as `text` has it */
} forms[] = {
    {"<@m, []>", NULL},
    {"<@m, [{}, {\"x\"}]>", NULL},
    {"<@m, [{?}, {\"x\", \"y\", ?}p3]>", NULL},
    {"<@m, [{\"x\",?}]>", "[{\"x\", ?}]>"},
    {"<@m, [{\"y\":(1)2}, {\"y\":(2)2}]>", NULL},
    {"<@m, [{\"z\":(2)3}, {\"z\":(1)2}]>", NULL},
    {"<@m, [{\"y\":(1)2, \"y\":(2)2}]>", "[{\"y\"}]>"},
    {"<@m, [{\"y\":(2)2, \"y\":(1)2}]>", NULL},
    {"<@m, [{\"one\"}, {\"x\"}]>", "[{}, {\"x\"}]>"},
    {"<@m, [{\"x\"}p0]>", "[{\"x\"}]>"},
    {"< @m , [ { \"x\" } ] >", "[{\"x\"}]>"},
    {"<@\"m\", [{\"x\"}]>", "[{\"x\"}]>"},
    {"<@m, [{}], replicated={\"y\", \"x\"}>", "[{}], replicated={\"x\", \"y\"}>"},
    {"<@m, [{}], unreduced={\"y\"}>", NULL},
    {"<@m, [{}], unreduced=sum{\"y\"}>", "[{}], unreduced={\"y\"}>"},
    {"<@m, [{}], unreduced=max{\"y\"}>", NULL},
    {"<@m, [{}], unreduced=min{\"y\":(1)2, \"x\"}>", "[{}], unreduced=min{\"x\", \"y\":(1)2}>"},
    {"<@m, [{}], replicated={\"x\"}, unreduced={\"y\"}, manual={\"z\"}>", NULL},
    {"<@m, [{}], unreduced=max{}>", "[{}]>"},
};
enum { NFORM = (int)(sizeof forms / sizeof *forms) };

START_TEST(forms_of_shardy)
{
    const lz_sharding *s = read(forms[_i].text);
    ck_assert_msg(s != NULL, "%s: %s", forms[_i].text, lz_error_get()->message);
    const char *rest = forms[_i].canonical ? forms[_i].canonical : strchr(forms[_i].text, '[');
    lz_buf b = {0};
    lz_sharding_print(&b, s, "m");
    ck_assert_str_eq(lz_buf_str(&b) + strlen("<@m, "), rest);
    lz_buf_free(&b);
    ck_assert_ptr_eq(lz_sharding_parse(lz_sharding_text(s)), s);
}
END_TEST

/* ---- refusals ---- */

static const struct {
    const char *text;
    lz_status status;
    const char *says;
} bad[] = {
    {"<@m, [{\"w\"}]>", LZ_EINVAL, "axis \"w\""},
    {"<@n, [{\"w\"}]>", LZ_EINVAL, "@n"},
    {"<@m, [{\"x\"}, {\"x\"}]>", LZ_EINVAL, "axis \"x\" is used twice"},
    {"<@m, [{\"y\":(1)2, \"y\"}]>", LZ_EINVAL, "axis \"y\" is used twice"},
    {"<@m, [{\"x\"}], replicated={\"x\"}>", LZ_EINVAL, "axis \"x\" is used twice"},
    {"<@m, [{\"x\"}], unreduced={\"x\"}>", LZ_EINVAL, "axis \"x\" is used twice"},
    {"<@m, [{\"x\"}], manual={\"x\"}>", LZ_EINVAL, "axis \"x\" is used twice"},
    {"<@m, [{\"y\":(3)2}]>", LZ_EINVAL, "axis \"y\" of size 4 has no part (3)2"},
    {"<@m, [{\"y\":(0)2}]>", LZ_EINVAL, "axis \"y\""},
    {"<@m, [{\"y\":(1)8}]>", LZ_EINVAL, "axis \"y\""},
    {"<@m, [{\"z\":(1)3}]>", LZ_EUNSUPPORTED, "axis \"z\""},
    {"<@m, [{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}]>", LZ_EINVAL,
     "more than 16 dimensions"},
    {"<@m, [{}p256]>", LZ_EPARSE, "number"},
    {"<@m, [{}p-1]>", LZ_EPARSE, "number"},
    {"<@m, [{\"x\"}], other={}>", LZ_EPARSE, "replicated, unreduced or manual"},
    {"<@m, [{?, \"x\"}]>", LZ_EPARSE, "'}'"},
    {"<@m, [{\"x\" \"y\"}]>", LZ_EPARSE, "'}'"},
    {"<@m, [{\"x\"]>", LZ_EPARSE, "'}'"},
    {"<@m, [{\"x}]>", LZ_EPARSE, "'\"'"},
    {"<@m, [{\"\\00\"}]>", LZ_EPARSE, "no character"},
    {"<@m>", LZ_EPARSE, "','"},
    {"<@m, [{}]", LZ_EPARSE, "'>'"},
    {"", LZ_EPARSE, "'<'"},
    {"<mesh<[\"x\"=0]>, []>", LZ_EINVAL, "axis \"x\""},
    {"<mesh<[\"x\"=2, \"x\"=2]>, []>", LZ_EINVAL, "\"x\""},
    {"<mesh<[\"x\"=2], device_ids=[0]>, []>", LZ_EINVAL, "1 device_ids for 2 devices"},
    {"<mesh<[\"x\"=2], device_ids=[0, 2]>, []>", LZ_EINVAL, "device 2"},
    {"<mesh<[\"x\"=2], device_ids=[1, 1]>, []>", LZ_EINVAL, "device 1"},
    {"<mesh<[\"x\"=4294967296, \"y\"=4294967296]>, []>", LZ_ERANGE, "devices"},
    {"<mesh<[\"x\"=99999999999999999999]>, []>", LZ_EPARSE, "number"},
    {"<mesh<[], device_ids=[3]>, []>", LZ_EUNSUPPORTED, "device 3"},
};
enum { NBAD = (int)(sizeof bad / sizeof *bad) };

START_TEST(bad_texts)
{
    lz_error_clear();
    ck_assert_msg(!read(bad[_i].text), "%s is read", bad[_i].text);
    const lz_error *e = lz_error_get();
    ck_assert_msg(e->status == bad[_i].status, "%s: %s: %s", bad[_i].text,
                  lz_status_name(e->status), e->message);
    ck_assert_msg(strstr(e->message, bad[_i].says) != NULL, "%s: %s", bad[_i].text, e->message);
}
END_TEST

/* An attribute holds the canonical text and no other, so that equal shardings have equal bytes. */
START_TEST(only_the_canonical_text_is_one)
{
    static const char *const texts[] = {"<mesh<[\"x\"=2]>, [{\"x\"},{}]>",
                                        "<mesh<[\"x\"=2]>, [{\"x\"}p0]>",
                                        "<mesh<[\"x\"=2]>, [{\"x\"}]> ",
                                        "<mesh<[\"x\"=2], device_ids=[0, 1]>, [{\"x\"}]>",
                                        "<@m, [{\"x\"}]>",
                                        "<mesh<[\"x\"=1]>, [{\"x\"}]>",
                                        "nothing"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        lz_error_clear();
        ck_assert_ptr_null(lz_sharding_parse(texts[i]));
        ck_assert_int_eq(lz_error_get()->status, LZ_EINVAL);
    }
}
END_TEST

/* Every beginning of a text is refused, and nothing behind its end is looked at. */
START_TEST(beginnings_are_refused)
{
    static const char text[] =
        "<mesh<[\"x\"=2, \"y\\41\"=4], device_ids=[1, 0, 2, 3, 4, 5, 6, 7]>, "
        "[{\"yA\":(1)2, ?}p12, {}], replicated={\"x\"}>";
    size_t n = strlen(text);
    for (size_t k = 0; k < n; k++) {
        char *copy = malloc(k + 1);
        memcpy(copy, text, k);
        lz_error_clear();
        ck_assert_ptr_null(lz_sharding_read(copy, k, NULL, NULL));
        ck_assert_msg(lz_error_get()->status == LZ_EPARSE, "%.*s: %s", (int)k, copy,
                      lz_error_get()->message);
        free(copy);
    }
    ck_assert_ptr_nonnull(lz_sharding_read(text, n, NULL, NULL));
}
END_TEST

START_TEST(sets_of_axes)
{
    uint32_t m = 0;
    size_t used;
    ck_assert_int_eq(lz_sharding_read_axes(mesh(), "{\"y\", \"x\"} rest", 15, &m, &used), LZ_OK);
    ck_assert_uint_eq(m, 7);
    ck_assert_uint_eq(used, 10);
    ck_assert_int_eq(lz_sharding_read_axes(mesh(), "{\"v\"}", 5, &m, NULL), LZ_EINVAL);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ir/sharding");
    TCase *t = tcase_create("sharding");
    tcase_add_loop_test(t, random_shardings_are_read_back, 0, 4);
    tcase_add_loop_test(t, forms_of_shardy, 0, NFORM);
    tcase_add_loop_test(t, bad_texts, 0, NBAD);
    tcase_add_test(t, only_the_canonical_text_is_one);
    tcase_add_test(t, beginnings_are_refused);
    tcase_add_test(t, sets_of_axes);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
