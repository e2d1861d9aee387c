/* t_arrange.c - the order of local functions: sums that are cut come early, gathered values do not
 * stay from the forward to the backward pass, what is joined is limited, and marks of state come
 * later where that sends less. What such functions compute is t_partition.c's. */
#include "ir/attr.h"
#include "shard/partition.h"
#include "suite.h"
#include <stdio.h>
#include <string.h>

enum { LAYERS = 8, DEVICES = 4 };

/* ---- a step of training: h[i] = tanh(h[i-1] w[i]'), w[i] -= (its gradient) ---- */

typedef struct step {
    lz_func *f;
    const lz_mesh *mesh;
    lz_partitioned p;
} step;

static const char *const at_of[] = {"[{}, {}]", "[{\"x\"}, {}]"};

static void write_step(lz_buf *b, int rows, int width, bool cut)
{
    const char *at = at_of[cut];
    lz_buf_printf(b,
                  "sdy.mesh @mesh = <[\"x\"=%d]>\nfunc.func public @main(%%x: tensor<%dx%dxf32> "
                  "{sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>}",
                  DEVICES, rows, width);
    for (int i = 0; i < LAYERS; i++)
        lz_buf_printf(b, ", %%w%d: tensor<%dx%dxf32> {sdy.sharding = #sdy.sharding<@mesh, %s>}", i,
                      width, width, at);
    lz_buf_puts(b, ") -> (");
    for (int i = 0; i < LAYERS; i++)
        lz_buf_printf(b, "%stensor<%dx%dxf32> {sdy.sharding = #sdy.sharding<@mesh, %s>}",
                      i ? ", " : "", width, width, at);
    lz_buf_puts(b, ") {\n");
}

static void write_dot(lz_buf *b, const char *to, const char *x, const char *y, int cx, int cy,
                      const int dims[6])
{
    lz_buf_printf(b,
                  "%%%s = stablehlo.dot_general %%%s, %%%s, contracting_dims = [%d] x [%d] : "
                  "(tensor<%dx%dxf32>, tensor<%dx%dxf32>) -> tensor<%dx%dxf32>\n",
                  to, x, y, cx, cy, dims[0], dims[1], dims[2], dims[3], dims[4], dims[5]);
}

/* Gradients of weights behind all others, as they are recorded. */
static void write_body(lz_buf *b, int r, int w)
{
    char to[16], x[16], y[16];
    for (int i = 0; i < LAYERS; i++) {
        snprintf(to, sizeof to, "d%d", i);
        snprintf(x, sizeof x, i ? "h%d" : "x", i - 1);
        snprintf(y, sizeof y, "w%d", i);
        write_dot(b, to, x, y, 1, 1, (const int[]){r, w, w, w, r, w});
        lz_buf_printf(b, "%%h%d = stablehlo.tanh %%d%d : tensor<%dx%dxf32>\n", i, i, r, w);
    }
    for (int i = LAYERS; i-- > 1;) { /* g[i] is that of h[i] */
        snprintf(to, sizeof to, "e%d", i);
        snprintf(x, sizeof x, i == LAYERS - 1 ? "h%d" : "g%d", i);
        snprintf(y, sizeof y, "w%d", i);
        write_dot(b, to, x, y, 1, 0, (const int[]){r, w, w, w, r, w});
        lz_buf_printf(b, "%%g%d = stablehlo.multiply %%e%d, %%h%d : tensor<%dx%dxf32>\n", i - 1, i,
                      i - 1, r, w);
    }
    for (int i = 0; i < LAYERS; i++) {
        snprintf(to, sizeof to, "k%d", i);
        snprintf(x, sizeof x, i == LAYERS - 1 ? "h%d" : "g%d", i);
        snprintf(y, sizeof y, i ? "h%d" : "x", i - 1);
        write_dot(b, to, x, y, 0, 0, (const int[]){r, w, r, w, w, w});
        lz_buf_printf(b, "%%n%d = stablehlo.subtract %%w%d, %%k%d : tensor<%dx%dxf32>\n", i, i, i,
                      w, w);
    }
    lz_buf_puts(b, "return ");
    for (int i = 0; i < LAYERS; i++)
        lz_buf_printf(b, "%s%%n%d", i ? ", " : "", i);
    for (int i = 0; i < LAYERS; i++)
        lz_buf_printf(b, "%s tensor<%dx%dxf32>", i ? "," : " :", w, w);
    lz_buf_puts(b, "\n}\n");
}

static void make(step *s, int rows, int width, bool cut, bool state)
{
    lz_buf b = {0};
    bool is_state[LAYERS + 1] = {false};
    for (int i = 1; i <= LAYERS; i++)
        is_state[i] = state;
    write_step(&b, rows, width, cut);
    write_body(&b, rows, width);
    ck_assert_msg(lz_func_parse_marked(lz_buf_str(&b), b.len, "step", NULL, DEVICES, NULL, &s->f) ==
                      LZ_OK,
                  "%s\n%s", lz_error_get()->message, lz_buf_str(&b));
    ck_assert_int_eq(lz_shard_mesh(s->f, &s->mesh), LZ_OK);
    ck_assert_msg(lz_partition_step(s->f, s->mesh, is_state, &s->p) == LZ_OK, "%s",
                  lz_error_get()->message);
    lz_buf_free(&b);
}

static void drop(step *s)
{
    lz_partitioned_free(&s->p);
    lz_func_free(s->f);
}

/* ---- what is to be seen ---- */

static int count(const step *s, lz_op op)
{
    int n = 0;
    for (lz_val v = 0; v < s->p.local->ninst; v++)
        n += lz_inst_op(&s->p.local->insts[v]) == op;
    return n;
}

static lz_val last_use(const lz_func *f, lz_val v)
{
    lz_val last = v;
    for (lz_val u = v; u < f->ninst; u++)
        for (uint32_t k = 0; k < f->insts[u].sig->nopnd; k++)
            last = f->insts[u].opnd[k] == v ? u : last;
    return last;
}

/* The most bytes that values of the kind have at a time. */
static int64_t most_at_a_time(const lz_func *f, bool (*is)(const lz_func *f, lz_val v))
{
    int64_t most = 0;
    for (lz_val at = 0; at < f->ninst; at++) {
        int64_t n = 0;
        for (lz_val v = 0; v < at; v++)
            n += is(f, v) && last_use(f, v) >= at ? (int64_t)lz_val_type(f, v)->nbytes : 0;
        most = n > most ? n : most;
    }
    return most;
}

static bool is_gathered(const lz_func *f, lz_val v)
{
    return lz_inst_op(&f->insts[v]) == LZ_OP_ALL_GATHER;
}

static bool is_summed(const lz_func *f, lz_val v)
{
    lz_val last = last_use(f, v);
    return last != v && lz_inst_op(&f->insts[last]) == LZ_OP_REDUCE_SCATTER;
}

static int64_t sent(const step *s)
{
    int64_t n = 0;
    for (const lz_shard_collective *c = s->p.collectives; c; c = c->next) {
        lz_shard_traffic t;
        ck_assert_int_eq(lz_shard_traffic_of(c->sig, s->mesh, &t), LZ_OK);
        n += (int64_t)t.sent_bytes;
    }
    return n;
}

/* Rows that are more than columns stay where they are: matrices are gathered, in both passes, one
 * at a time, and each gradient is cut as soon as it is there. */
START_TEST(large_batch)
{
    enum { WIDTH = 128, MATRIX = 4 * WIDTH * WIDTH };
    step s;
    make(&s, 4 * WIDTH, WIDTH, true, true);
    const lz_func *f = s.p.local;
    ck_assert_int_eq(count(&s, LZ_OP_ALL_GATHER), 2 * LAYERS - 2); /* the last one stays */
    ck_assert_int_eq(count(&s, LZ_OP_REDUCE_SCATTER), LAYERS);
    ck_assert_int_eq(count(&s, LZ_OP_ALL_REDUCE) + count(&s, LZ_OP_ALL_TO_ALL), 0);
    ck_assert_int_eq(most_at_a_time(f, is_gathered), MATRIX);
    ck_assert_int_eq(most_at_a_time(f, is_summed), MATRIX);
    ck_assert_int_eq(sent(&s), (3 * LAYERS - 2) * (MATRIX / DEVICES * (DEVICES - 1)));
    drop(&s);
}
END_TEST

/* What is fewer moves: the rows to the matrices, and they do not stay gathered either. */
START_TEST(small_batch)
{
    enum { WIDTH = 256, ROWS = 64, PART = 4 * ROWS * WIDTH };
    step s;
    make(&s, ROWS, WIDTH, true, true);
    ck_assert_int_le(most_at_a_time(s.p.local, is_gathered), PART);
    ck_assert_int_lt(sent(&s), LAYERS * 3 * PART);
    drop(&s);
}
END_TEST

/* Which marks are of state changes what is sent, for the better only. */
START_TEST(marks_of_state)
{
    static const int rows[] = {32, 64, 128, 256, 1024};
    step with, without;
    make(&with, rows[_i], 64, true, true);
    make(&without, rows[_i], 64, true, false);
    ck_assert_int_le(sent(&with), sent(&without));
    if (_i == 4)
        ck_assert_int_lt(sent(&with), sent(&without));
    drop(&with);
    drop(&without);
}
END_TEST

/* A program of small values sends nothing twice, and joins what it sends. */
START_TEST(small_values)
{
    step s;
    make(&s, 64, 8, true, true);
    ck_assert_int_le(count(&s, LZ_OP_ALL_GATHER), 2);
    ck_assert_int_le(count(&s, LZ_OP_REDUCE_SCATTER), 2);
    drop(&s);
    make(&s, 64, 8, false, true);
    ck_assert_int_eq(count(&s, LZ_OP_ALL_REDUCE), 1);
    drop(&s);
}
END_TEST

/* What is joined of sums is an eighth of all, or small. */
START_TEST(joined_bytes)
{
    static const int widths[] = {16, 32, 64, 128};
    step s;
    int64_t matrix = 4 * (int64_t)widths[_i] * widths[_i], all = LAYERS * matrix,
            cap = all / 8 > 16384 ? all / 8 : 16384;
    make(&s, 256, widths[_i], false, true);
    int64_t each = matrix > cap ? 1 : cap / matrix;
    ck_assert_int_eq(count(&s, LZ_OP_ALL_REDUCE), (LAYERS + each - 1) / each);
    for (const lz_shard_collective *c = s.p.collectives; c; c = c->next)
        ck_assert_int_le(c->sig->nopnd, each);
    drop(&s);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("arrange");
    TCase *t = tcase_create("arrange");
    tcase_add_test(t, large_batch);
    tcase_add_test(t, small_batch);
    tcase_add_loop_test(t, marks_of_state, 0, 5);
    tcase_add_test(t, small_values);
    tcase_add_loop_test(t, joined_bytes, 0, 4);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
