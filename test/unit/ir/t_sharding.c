/* t_sharding.c - texts of meshes and shardings: Shardy's, the canonical one and HLO's. */
#include "base/alloc.h"
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

/* ---- HLO ---- */

static const lz_mesh *two_by_four(void)
{
    static const lz_mesh_axis axes[] = {{"x", 2}, {"y", 4}};
    return lz_mesh_get(axes, 2, NULL);
}

static const lz_mesh *by_name(void *user, const char *name, size_t n)
{
    (void)user;
    (void)name;
    (void)n;
    return two_by_four();
}

static const struct {
    const char *sdy, *hlo; /* sdy NULL: written as it was read */
} hlo[] = {
    {"<@m, [{\"x\"}, {\"y\"}]>", "{devices=[2,4]<=[8]}"},
    {"<@m, [{\"y\"}, {\"x\"}]>", "{devices=[4,2]<=[2,4]T(1,0)}"},
    {"<@m, [{\"x\"}, {}]>", "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"},
    {"<@m, [{\"y\"}, {}]>", "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}"},
    {"<@m, [{\"x\", \"y\"}, {}]>", "{devices=[8,1]<=[8]}"},
    {"<@m, [{}, {}]>", "{replicated}"},
    {"<@m, []>", "{replicated}"},
    {"<@m, [{\"y\":(1)2}, {\"x\"}]>", "{devices=[2,2,2]<=[2,2,2]T(1,0,2) last_tile_dim_replicate}"},
    {"<@m, [{\"y\":(2)2, \"x\"}]>", "{devices=[4,2]<=[4,2]T(1,0) last_tile_dim_replicate}"},
    {"<@m, [{}, {}], manual={\"x\"}>",
     "{devices=[1,1,2,4]<=[8] last_tile_dims={manual, replicated}}"},
    {"<@m, [{\"y\"}], manual={\"x\"}>", "{devices=[4,2]<=[2,4]T(1,0) last_tile_dims={manual}}"},
    {"<@m, [{}, {}], manual={\"x\", \"y\"}>", "{manual}"},
    {"<@m, [{}, {\"x\"}], unreduced={\"y\"}>", "{devices=[1,2,4]<=[8] last_tile_dims={unreduced}}"},
};
enum { NHLO = (int)(sizeof hlo / sizeof *hlo) };

START_TEST(table_of_hlo)
{
    const lz_mesh_names m = {by_name, NULL};
    const lz_sharding *s = lz_sharding_read(hlo[_i].sdy, strlen(hlo[_i].sdy), &m, NULL);
    lz_buf b = {0};
    ck_assert_msg(s != NULL, "%s", lz_error_get()->message);
    lz_sharding_print_hlo(&b, s);
    ck_assert_str_eq(lz_buf_str(&b), hlo[_i].hlo);
    const lz_sharding *again =
        lz_sharding_from_hlo(hlo[_i].hlo, strlen(hlo[_i].hlo), s->rank, 8, s->mesh, 0);
    ck_assert_msg(again == s, "%s: %s", hlo[_i].hlo, lz_error_get()->message);
    lz_buf_free(&b);
}
END_TEST

/* Placements of any mesh, read back as shardings of it and of the mesh that is made for the text.
 */
START_TEST(random_shardings_as_hlo)
{
    lz_rnd r = {(uint64_t)_i + 77};
    for (int i = 0; i < 1000; i++) {
        const lz_mesh *m = lz_gen_mesh(&r, 64);
        lz_sharding s = *lz_gen_sharding(&r, m, (int)lz_rnd_range(&r, 0, 4));
        lz_buf b = {0}, c = {0};
        s.reduction = s.unreduced ? LZ_OP_ADD : LZ_OP_NONE;
        if (lz_rnd_chance(&r, 20) && !s.unreduced)
            s.manual = lz_mesh_all(m) & ~lz_sharding_used(&s) & (uint32_t)lz_rnd_u64(&r);
        s.replicated = 0;
        const lz_sharding *want = lz_sharding_placement(lz_sharding_get(&s));
        lz_sharding_print_hlo(&b, want);
        ck_assert(m->ndevice > 1 || strcmp(b.data, "{replicated}") == 0);
        const lz_sharding *got = lz_sharding_from_hlo(b.data, b.len, s.rank, m->ndevice, m, 0);
        ck_assert_msg(got == want, "%s: %s: %s", lz_sharding_text(want), b.data,
                      got ? lz_sharding_text(got) : lz_error_get()->message);
        const lz_mesh *own = lz_sharding_hlo_own_mesh(b.data, b.len, m->ndevice);
        ck_assert_ptr_nonnull(own);
        got = lz_sharding_from_hlo(b.data, b.len, s.rank, m->ndevice, own, 0);
        ck_assert_msg(got != NULL, "%s: %s", b.data, lz_error_get()->message);
        for (int d = 0; d < s.rank; d++)
            ck_assert_int_eq(lz_axis_list_size(own, &got->dims[d]),
                             lz_axis_list_size(m, &want->dims[d]));
        lz_buf_free(&b);
        lz_buf_free(&c);
    }
}
END_TEST

static const struct {
    const char *text, *says; /* says NULL: is read, of rank 2 on 2 x 4 */
} hlo_forms[] = {
    {"{devices=[2,1,4]0,1,2,3,4,5,6,7 last_tile_dim_replicate}", NULL},
    {"{devices=[2,1,4]1,0,2,3,7,6,5,4 last_tile_dim_replicate}", NULL}, /* no matter who repeats */
    {"{devices=[1,4,2]0,4,1,5,2,6,3,7 last_tile_dim_replicate}", NULL},
    {"{devices=[2,2,2]<=[2,2,2]T(2,1,0) last_tile_dims={replicated}}", NULL},
    {"{devices=[2,4]<=[8] shard_as 3}", NULL},
    {"{devices=[2,4]<=[8] metadata={op_name=\"a{b}\"}}", NULL},
    {"{maximal device=3}", NULL},
    {"{unknown}", NULL},
    {" {replicated} ", NULL},
    {"{devices=[4,2]7,6,5,4,3,2,1,0}", "none of the mesh"},
    {"{devices=[8]<=[8]}", "1 dimensions for a tensor of rank 2"},
    {"{devices=[2,2]<=[4]}", "none of the mesh of 8 devices"},
    {"{devices=[2,4]<=[4]}", "4 devices for 8 tiles"},
    {"{devices=[2,4]<=[2,4]T(1,1)}", "no permutation"},
    {"{devices=[2,4]<=[2,4]T(0)}", "no permutation"},
    {"{devices=[2,4]0,1,2,3,4,5,6,6}", "device 6 is there twice"},
    {"{devices=[2,4]0,1,2,3,4,5,6,8}", "device 8 is one too many"},
    {"{devices=[2,4]0,1,2}", "','"},
    {"{devices=[0,4]<=[0]}", "0 tiles"},
    {"{devices=[65536,65536]<=[8]}", "65536 tiles"},
    {"{devices=[2,4]<=[8]", "'}'"},
    {"{devices=[2,4]<=[8]}}", "the end"},
    {"{devices=[8]<=[8] last_tile_dims={a}}", "manual"},
    {"{sharded}", "replicated"},
    {"", "'{'"},
};
enum { NHLOFORM = (int)(sizeof hlo_forms / sizeof *hlo_forms) };

START_TEST(forms_of_hlo)
{
    const char *text = hlo_forms[_i].text;
    const lz_sharding *s = lz_sharding_from_hlo(text, strlen(text), 2, 8, two_by_four(), 0);
    if (!hlo_forms[_i].says)
        ck_assert_msg(s != NULL, "%s: %s", text, lz_error_get()->message);
    else
        ck_assert_msg(!s && strstr(lz_error_get()->message, hlo_forms[_i].says), "%s: %s", text,
                      lz_error_get()->message);
}
END_TEST

START_TEST(meshes_for_hlo)
{
    static const lz_hlo_text texts[] = {
        {"{replicated}", 12}, {"{devices=[3,2]<=[6]}", 20}, {"{devices=[6]<=[6]}", 18}};
    const lz_mesh *m = lz_sharding_hlo_mesh(texts, 3, 0);
    ck_assert_ptr_nonnull(m);
    ck_assert_int_eq(m->ndevice, 6);
    ck_assert_int_eq(m->factors[0].size, 3);
    for (int i = 0; i < 3; i++)
        ck_assert_ptr_nonnull(
            lz_sharding_from_hlo(texts[i].s, texts[i].n, i == 1 ? 2 : 1, 6, m, 0));
    ck_assert_ptr_null(lz_sharding_hlo_mesh(texts, 1, 0));
    static const char tuple[] = "{{replicated}, {devices=[2]<=[2]}}";
    const char *at;
    size_t n;
    ck_assert(lz_sharding_hlo_element(tuple, strlen(tuple), 1, &at, &n));
    ck_assert_uint_eq(n, 18);
    ck_assert_mem_eq(at, "{devices=[2]<=[2]}", 18);
    ck_assert(!lz_sharding_hlo_element(tuple, strlen(tuple), 2, &at, &n));
    ck_assert(lz_sharding_hlo_element("{replicated}", 12, 0, &at, &n) && n == 12);
    ck_assert(!lz_sharding_hlo_element("{replicated}", 12, 1, &at, &n));
}
END_TEST

/* ---- no memory ---- */

/* An error says so, and there is one of each: they are compared by address. */
START_TEST(no_memory)
{
    static const char *const texts[] = {
        "<mesh<[\"x\"=2, \"y\"=2]>, [{\"x\"}, {}]>",
        "<mesh<[\"x\"=2, \"y\"=2], device_ids=[3, 0, 2, 1]>, [{}, {\"y\"}], replicated={\"x\"}>",
        "<mesh<[\"x\"=4]>, [{\"x\":(1)2}], unreduced=max{\"x\":(2)2}>"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const lz_sharding *want = lz_sharding_parse(texts[i]), *got = NULL;
        int failed = 0;
        ck_assert_msg(want != NULL, "%s", lz_error_get()->message);
        for (int64_t at = 1; !got; at++) {
            lz_error_clear();
            lz_alloc_fail_at(at, false);
            got = lz_sharding_parse(texts[i]);
            lz_alloc_fail_at(0, false);
            ck_assert_msg(got ? got == want : lz_error_get()->status == LZ_EMEM,
                          "%s, allocation %d", texts[i], (int)at);
            failed += !got;
        }
        ck_assert_int_gt(failed, 3);
    }
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
    tcase_add_loop_test(t, table_of_hlo, 0, NHLO);
    tcase_add_loop_test(t, random_shardings_as_hlo, 0, 4);
    tcase_add_loop_test(t, forms_of_hlo, 0, NHLOFORM);
    tcase_add_test(t, meshes_for_hlo);
    tcase_add_test(t, no_memory);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
