/* t_picture.c - pictures of shardings: which dimensions, which devices in which cells, what is left
 * out, and that drawings are well-formed. */
#include "shard/picture.h"
#include "base/status.h"
#include "suite.h"
#include <string.h>

static const lz_sharding *read(const char *text, int64_t ndevice)
{
    const lz_sharding *s = lz_sharding_from_hlo(text, strlen(text), -1, ndevice, NULL, 0);
    ck_assert_msg(s != NULL, "%s: %s", text, lz_error_get()->message);
    return s;
}

static const lz_type *f32(int rank, int64_t a, int64_t b, int64_t c)
{
    const lz_shape s = {.rank = rank, .dims = {a, b, c}};
    return lz_type_get(LZ_F32, &s);
}

static const struct {
    const char *text;
    int rank;
    int64_t dims[3];
    unsigned flags;
    const char *table;
} tables[] = {
    {"{devices=[2,2]<=[4]}",
     2,
     {4, 6},
     LZ_PICTURE_ASCII,
     "f32[4,6] {devices=[2,2]<=[4]}: dimension 0 down in 2, dimension 1 across in 2 of 4 devices\n"
     "+-------+-------+\n"
     "| CPU 0 | CPU 1 |\n"
     "|  2x3  |  2x3  |\n"
     "+-------+-------+\n"
     "| CPU 2 | CPU 3 |\n"
     "|  2x3  |  2x3  |\n"
     "+-------+-------+\n"},
    {"{devices=[2,1,2]0,2,1,3 last_tile_dim_replicate}",
     2,
     {3, 1},
     0,
     "f32[3,1] {devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}: dimension 0 down in 2, "
     "dimension 1 across in 1 of 4 devices\n"
     "┌────────────┐\n"
     "│ CPU [0, 2] │\n"
     "│    2x1     │\n"
     "├────────────┤\n"
     "│ CPU [1, 3] │\n"
     "│    1x1     │\n"
     "└────────────┘\n"},
    {"{devices=[4]<=[4]}",
     1,
     {5},
     LZ_PICTURE_ASCII,
     "f32[5] {devices=[4]<=[4]}: dimension 0 across in 4 of 4 devices\n"
     "+-------+-------+-------+-------+\n"
     "| CPU 0 | CPU 1 | CPU 2 | CPU 3 |\n"
     "|   2   |   2   |   1   | empty |\n"
     "+-------+-------+-------+-------+\n"},
    {"{devices=[1,2,2]<=[4]}",
     3,
     {2, 2, 2},
     LZ_PICTURE_ASCII,
     "f32[2,2,2] {devices=[1,2,2]<=[4]}: dimension 1 down in 2, dimension 2 across in 2 of 4 "
     "devices\n"
     "+-------+-------+\n"
     "| CPU 0 | CPU 1 |\n"
     "|  1x1  |  1x1  |\n"
     "+-------+-------+\n"
     "| CPU 2 | CPU 3 |\n"
     "|  1x1  |  1x1  |\n"
     "+-------+-------+\n"},
    {"{replicated}",
     -1,
     {0},
     LZ_PICTURE_ASCII,
     "{replicated}\n"
     "+------------------------+\n"
     "| CPU [0, 1, 2, 3, .. 9] |\n"
     "+------------------------+\n"},
};

START_TEST(table)
{
    const lz_picture p = {.s = read(tables[_i].text, tables[_i].rank < 0 ? 10 : 0),
                          .type = tables[_i].rank < 0 ? NULL
                                                      : f32(tables[_i].rank, tables[_i].dims[0],
                                                            tables[_i].dims[1], tables[_i].dims[2]),
                          .device = "CPU"};
    lz_buf b = {0};
    ck_assert_int_eq(lz_picture_table(&p, tables[_i].flags, &b), LZ_OK);
    ck_assert_str_eq(lz_buf_str(&b), tables[_i].table);
    lz_buf_free(&b);
}
END_TEST

/* 4096 devices in 64 x 64 tiles: eight rows and columns are shown, the last ones among them. */
START_TEST(many)
{
    const lz_picture p = {.s = read("{devices=[64,64]<=[4096]}", 0), .device = "CPU"};
    lz_buf b = {0};
    int lines = 0;
    ck_assert_int_eq(lz_picture_table(&p, LZ_PICTURE_ASCII, &b), LZ_OK);
    for (const char *s = lz_buf_str(&b); (s = strchr(s, '\n')); s++)
        lines++;
    ck_assert_int_eq(lines, 1 + 2 * 8 + 1);
    ck_assert_ptr_nonnull(strstr(lz_buf_str(&b), "CPU 0"));
    ck_assert_ptr_nonnull(strstr(lz_buf_str(&b), "CPU 63"));
    ck_assert_ptr_nonnull(strstr(lz_buf_str(&b), "CPU 4095"));
    ck_assert_ptr_nonnull(strstr(lz_buf_str(&b), "..."));
    ck_assert_ptr_null(strstr(lz_buf_str(&b), "CPU 6 "));
    lz_buf_free(&b);
}
END_TEST

static int count(const char *text, const char *words)
{
    int n = 0;
    for (const char *s = text; (s = strstr(s, words)); s++)
        n++;
    return n;
}

START_TEST(drawing)
{
    const lz_picture p[2] = {{.s = read("{devices=[2,4]<=[8]}", 0),
                              .type = f32(2, 8, 8, 0),
                              .device = "CPU",
                              .title = "<first> & only"},
                             {.s = read("{replicated}", 2), .device = "CUDA"}};
    lz_buf b = {0};
    ck_assert_int_eq(lz_picture_svg(p, 2, &b), LZ_OK);
    const char *s = lz_buf_str(&b);
    ck_assert_int_eq(strncmp(s, "<svg xmlns=\"http://www.w3.org/2000/svg\" ", 40), 0);
    ck_assert_str_eq(s + strlen(s) - 7, "</svg>\n");
    ck_assert_int_eq(count(s, "<rect "), 1 + 8 + 1);
    ck_assert_int_eq(count(s, "<text "), count(s, "</text>"));
    ck_assert_ptr_nonnull(strstr(s, "&lt;first&gt; &amp; only f32[8,8]"));
    ck_assert_ptr_nonnull(strstr(s, ">CPU 7</text>"));
    ck_assert_ptr_nonnull(strstr(s, ">4x2</text>"));
    ck_assert_ptr_nonnull(strstr(s, ">CUDA [0, 1]</text>"));
    lz_buf_free(&b);
}
END_TEST

/* Each cell in the colour of its devices. */
START_TEST(colours)
{
    const lz_picture p = {.s = read("{devices=[2]<=[2]}", 0), .device = "CPU"};
    lz_buf b = {0};
    ck_assert_int_eq(lz_picture_table(&p, LZ_PICTURE_COLOUR, &b), LZ_OK);
    ck_assert_int_eq(count(lz_buf_str(&b), "\033[30;48;5;"), 2);
    ck_assert_int_eq(count(lz_buf_str(&b), "\033[0m"), 2);
    lz_buf_free(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("picture");
    TCase *t = tcase_create("picture");
    tcase_add_loop_test(t, table, 0, sizeof tables / sizeof *tables);
    tcase_add_test(t, many);
    tcase_add_test(t, drawing);
    tcase_add_test(t, colours);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
