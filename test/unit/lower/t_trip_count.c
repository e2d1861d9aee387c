/* t_trip_count.c - loops whose rounds are known before they run: which are, and that they run as
 * often as their condition says, in plans and on devices. */
#include "ir/eval/eval.h"
#include "lower/plan/plan.h"
#include "lower/plan/plan_exec.h"
#include "suite.h"
#include "support/rnd.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- numbers ---- */

static int64_t wrapped(lz_dtype d, int64_t v)
{
    unsigned bits = 8 * (unsigned)lz_dtype_size(d);
    uint64_t u = (uint64_t)v << (64 - bits);
    return lz_dtype_is_signed(d) ? (int64_t)u >> (64 - bits) : (int64_t)(u >> (64 - bits));
}

static bool goes_on(lz_comparison_direction d, int64_t a, int64_t b)
{
    switch (d) {
    case LZ_CMP_LT:
        return a < b;
    case LZ_CMP_LE:
        return a <= b;
    case LZ_CMP_GT:
        return a > b;
    case LZ_CMP_GE:
        return a >= b;
    case LZ_CMP_EQ:
        return a == b;
    default:
        return a != b;
    }
}

/* Rounds by doing them; -1: more than `most`. */
static int64_t by_hand(const lz_trip_count *r, int64_t start, int64_t end, int64_t most,
                       bool *passed)
{
    int64_t n = 0, v = start;
    *passed = false;
    for (; goes_on(r->go_on, v, end); n++) {
        if (n == most)
            return -1;
        int64_t next = wrapped(r->dtype, v + r->step);
        *passed |= next != v + r->step;
        v = next;
    }
    return n;
}

static const lz_comparison_direction directions[] = {LZ_CMP_LT, LZ_CMP_LE, LZ_CMP_GT, LZ_CMP_GE,
                                                     LZ_CMP_NE};

/* All of a type of 8 bits that starts and ends near its limits or 0: as often as by hand, and never
 * where it passes a limit. */
START_TEST(counts_as_by_hand)
{
    static const int64_t steps[] = {1, -1, 2, -2, 3, -3, 7, 50, -50, 127, -128, 0};
    for (int t = 0; t < 2; t++)
        for (size_t d = 0; d < 5; d++)
            for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
                lz_trip_count r = {.dtype = t ? LZ_U8 : LZ_I8,
                                   .go_on = directions[d],
                                   .step = steps[s],
                                   .start_opnd = LZ_NOVAL,
                                   .end_opnd = LZ_NOVAL};
                for (int a = 0; a < 256; a += lz_test_small() ? 51 : 5)
                    for (int b = 0; b < 256; b++) {
                        int64_t from = wrapped(r.dtype, a), to = wrapped(r.dtype, b), n = -7;
                        bool passed, known = lz_trip_count_count(&r, from, to, &n);
                        int64_t is = by_hand(&r, from, to, 600, &passed);
                        ck_assert(!known || (n == is && !passed));
                        ck_assert(known || is < 0 || passed); /* all others are counted */
                    }
            }
}
END_TEST

START_TEST(counts_far)
{
    lz_trip_count r = {.dtype = LZ_I64, .go_on = LZ_CMP_LT, .step = 1};
    int64_t n;
    ck_assert(lz_trip_count_count(&r, INT64_MIN, -1, &n) && n == INT64_MAX);
    ck_assert(!lz_trip_count_count(&r, INT64_MIN, 0, &n)); /* 2^63 */
    ck_assert(!lz_trip_count_count(&r, INT64_MIN, INT64_MAX, &n));
    r.step = INT64_MAX;
    ck_assert(lz_trip_count_count(&r, INT64_MIN, -5, &n) && n == 1);
    ck_assert(lz_trip_count_count(&r, INT64_MIN, 5, &n) && n == 2);
    ck_assert(!lz_trip_count_count(&r, 1, INT64_MAX, &n));
    r.go_on = LZ_CMP_LE;
    r.step = 1;
    ck_assert(!lz_trip_count_count(&r, 5, INT64_MAX, &n)); /* never ends */
    r.go_on = LZ_CMP_GT;
    r.step = INT64_MIN;
    ck_assert(lz_trip_count_count(&r, 5, -7, &n) && n == 1);
    ck_assert(!lz_trip_count_count(&r, -5, -7, &n));
    uint8_t far[8] = {0, 0, 0, 0, 0, 0, 0, 0x80};
    ck_assert(!lz_trip_count_number(LZ_U64, far, &n));
    ck_assert(lz_trip_count_number(LZ_I64, far, &n) && n == INT64_MIN);
    far[1] = 0xff;
    far[0] = 0xfe;
    ck_assert(lz_trip_count_number(LZ_I16, far, &n) && n == -2);
    ck_assert(lz_trip_count_number(LZ_U16, far, &n) && n == 0xfffe);
}
END_TEST

/* ---- loops ---- */

/* A loop around a counter; its body makes x * 3 + counter of another carried value. */
typedef struct form {
    const char *type; /* of the counter */
    int64_t start, end, step;
    const char *go_on;
    bool turned;             /* end first */
    bool minus;              /* the counter is what a number is taken from */
    bool step_first;         /* the number, then the counter */
    bool arg_start, arg_end; /* they are arguments */
    bool outside;            /* end and step are constants in front of the loop */
    bool carried_end;        /* end is carried, and stays */
    bool view;               /* the counter is compared as a view of itself */
    const char *cond, *body; /* instead of the usual ones: texts behind the constants */
} form;

#define LOOP(t, from, to, by, cmp) .type = t, .start = from, .end = to, .step = by, .go_on = cmp

static void text_of(const form *m, lz_buf *b)
{
    const char *t = m->type, *counter = m->view ? "%iv" : "%i";
    const char *last = m->outside ? "%endo" : m->carried_end ? "%ec" : m->arg_end ? "%e" : "%endc";
    const char *by = m->outside ? "%stepo" : "%stepc";
    int64_t step = m->minus ? -m->step : m->step;
    lz_buf_printf(b,
                  "func.func @main(%%s: tensor<%s>, %%e: tensor<%s>, %%x0: tensor<3xi32>) -> "
                  "(tensor<%s>, tensor<3xi32>) {\n",
                  t, t, t);
    lz_buf_printf(b, " %%startc = stablehlo.constant dense<%" PRId64 "> : tensor<%s>\n", m->start,
                  t);
    lz_buf_printf(b, " %%endo = stablehlo.constant dense<%" PRId64 "> : tensor<%s>\n", m->end, t);
    lz_buf_printf(b, " %%stepo = stablehlo.constant dense<%" PRId64 "> : tensor<%s>\n", step, t);
    lz_buf_printf(b,
                  " %%r:3 = stablehlo.while(%%i = %s, %%x = %%x0, %%ec = %s) : tensor<%s>, "
                  "tensor<3xi32>, tensor<%s>\n  cond {\n",
                  m->arg_start ? "%s" : "%startc", m->arg_end ? "%e" : "%endo", t, t);
    lz_buf_printf(b, "   %%endc = stablehlo.constant dense<%" PRId64 "> : tensor<%s>\n", m->end, t);
    if (m->view)
        lz_buf_printf(b,
                      "   %%iw = stablehlo.reshape %%i : (tensor<%s>) -> tensor<1xTT>\n"
                      "   %%iv = stablehlo.reshape %%iw : (tensor<1xTT>) -> tensor<%s>\n",
                      t, t);
    if (m->cond)
        lz_buf_puts(b, m->cond);
    else
        lz_buf_printf(b,
                      "   %%c = stablehlo.compare %s, %s, %s : (tensor<%s>, tensor<%s>) -> "
                      "tensor<i1>\n",
                      m->go_on, m->turned ? last : counter, m->turned ? counter : last, t, t);
    lz_buf_puts(b, "   stablehlo.return %c : tensor<i1>\n  } do {\n");
    lz_buf_printf(b, "   %%stepc = stablehlo.constant dense<%" PRId64 "> : tensor<%s>\n", step, t);
    lz_buf_puts(b, "   %three = stablehlo.constant dense<3> : tensor<3xi32>\n");
    if (m->body)
        lz_buf_puts(b, m->body);
    else
        lz_buf_printf(b, "   %%j = stablehlo.%s %s, %s : tensor<%s>\n",
                      m->minus ? "subtract" : "add", m->step_first ? by : "%i",
                      m->step_first ? "%i" : by, t);
    lz_buf_printf(b,
                  "   %%k = stablehlo.convert %%i : (tensor<%s>) -> tensor<i32>\n"
                  "   %%kb = stablehlo.broadcast_in_dim %%k, dims = [] : (tensor<i32>) -> "
                  "tensor<3xi32>\n"
                  "   %%y = stablehlo.multiply %%x, %%three : tensor<3xi32>\n"
                  "   %%z = stablehlo.add %%y, %%kb : tensor<3xi32>\n"
                  "   stablehlo.return %%j, %%z, %%ec : tensor<%s>, tensor<3xi32>, tensor<%s>\n"
                  "  }\n return %%r#0, %%r#1 : tensor<%s>, tensor<3xi32>\n}\n",
                  t, t, t, t);
}

static lz_func *parse(const form *m)
{
    lz_buf b = {0};
    lz_func *f = NULL;
    text_of(m, &b);
    char *s = strdup(lz_buf_str(&b)), *at;
    while ((at = strstr(s, "TT"))) { /* an element's type, which is as long or longer */
        char *more = malloc(strlen(s) + 8);
        sprintf(more, "%.*s%s%s", (int)(at - s), s, m->type, at + 2);
        free(s);
        s = more;
    }
    ck_assert_msg(lz_func_parse(s, strlen(s), "loop", &f) == LZ_OK, "%s\n%s",
                  lz_error_get()->message, s);
    free(s);
    lz_buf_free(&b);
    return f;
}

static const lz_step *the_loop(const lz_plan *p)
{
    for (uint32_t i = 0; i < p->nstep; i++)
        if (p->steps[i].kind == LZ_STEP_WHILE)
            return &p->steps[i];
    return NULL;
}

static lz_plan *lower(const form *m, lz_func **f)
{
    lz_plan *p = NULL;
    *f = parse(m);
    ck_assert_msg(lz_lower(*f, NULL, &p) == LZ_OK, "%s", lz_error_get()->message);
    return p;
}

/* The plan's results are the reference's for these two arguments. */
static void same_as_reference(const lz_func *f, const lz_plan *p, int64_t start, int64_t end)
{
    int32_t x[3] = {7, -1, 123456789}, y[3];
    int64_t at = 0;
    lz_literal *args[3], *want[2];
    for (int k = 0; k < 3; k++) {
        args[k] = lz_literal_new(lz_val_type(f, (lz_val)k));
        memcpy(args[k]->data,
               k == 0   ? (void *)&start
               : k == 1 ? (void *)&end
                        : x,
               args[k]->type->nbytes);
    }
    ck_assert_int_eq(lz_ref_run(f, args, want), LZ_OK);
    ck_assert_msg(lz_plan_run(p, (const void *[]){&start, &end, x}, (void *[]){&at, y}) == LZ_OK,
                  "%s", lz_error_get()->message);
    ck_assert(memcmp(want[0]->data, &at, want[0]->type->nbytes) == 0);
    ck_assert(memcmp(want[1]->data, y, sizeof y) == 0);
    for (int k = 0; k < 3; k++)
        lz_literal_release(args[k]);
    lz_literal_release(want[0]);
    lz_literal_release(want[1]);
}

enum { ASKED = -1, READ = -2 }; /* the condition says it; operands say it */

static const struct {
    form m;
    int64_t rounds;
} forms[] = {
    {{LOOP("i32", 0, 5, 1, "LT")}, 5},
    {{LOOP("i64", 0, 5, 1, "LT"), .outside = true}, 5},
    {{LOOP("i32", 3, 3, 1, "LT")}, 0},
    {{LOOP("i32", 9, 3, 1, "LT")}, 0},
    {{LOOP("i32", 10, 0, -3, "GT")}, 4},
    {{LOOP("i32", 10, 0, -3, "GT"), .minus = true}, 4},
    {{LOOP("i32", 10, 1, -3, "GE"), .minus = true, .outside = true}, 4},
    {{LOOP("ui8", 250, 254, 1, "LE")}, 5},
    {{LOOP("i8", 0, 12, 4, "NE")}, 3},
    {{LOOP("i8", 0, 12, 4, "GT"), .turned = true, .step_first = true}, 3},
    {{LOOP("i16", 0, 12, 5, "LE"), .view = true}, 3},
    {{LOOP("i32", 2, 8, 2, "LT"), .carried_end = true}, 3},
    {{LOOP("ui64", 2, 8, 2, "LT")}, 3},
    /* through the end of the type: the condition says it */
    {{LOOP("i8", 100, 120, 100, "NE")}, ASKED},
    {{LOOP("ui8", 250, 10, 1, "NE")}, ASKED},
    {{LOOP("ui8", 0, 250, 100, "LT")}, ASKED},
    /* other loops */
    {{LOOP("i32", 0, 5, 1, NULL), .cond = "   %c = stablehlo.compare EQ, %i, %s : (tensor<i32>, "
                                          "tensor<i32>) -> tensor<i1>\n"},
     ASKED},
    {{LOOP("i32", 1, 300, 0, "LT"), .body = "   %j = stablehlo.add %i, %i : tensor<i32>\n"}, ASKED},
    {{LOOP("i32", 100, 5, 1, "GT"), .minus = true, .step_first = true}, ASKED}, /* -1 - i */
    {{LOOP("i32", 0, 9, 1, NULL),
      .cond = "   %two = stablehlo.constant dense<2> : tensor<i32>\n"
              "   %m = stablehlo.multiply %i, %two : tensor<i32>\n"
              "   %c = stablehlo.compare LT, %m, %endc : (tensor<i32>, tensor<i32>) -> "
              "tensor<i1>\n"},
     ASKED},
    /* what arguments say */
    {{LOOP("i32", 0, 5, 1, "LT"), .arg_end = true}, READ},
    {{LOOP("i32", 0, 5, 1, "LT"), .arg_end = true, .carried_end = true}, READ},
    {{LOOP("i64", 0, 50, 3, "LE"), .arg_start = true}, READ},
    {{LOOP("ui16", 0, 50, 3, "LE"), .arg_start = true, .arg_end = true}, READ},
    {{LOOP("i8", 0, 5, -1, "GE"), .arg_start = true, .arg_end = true}, READ},
};

/* Of the function as it was written: what predicts times knows no more. */
static int64_t static_of(const lz_func *f)
{
    for (lz_val v = f->nparam; v < f->ninst; v++)
        if (lz_inst_op(&f->insts[v]) == LZ_OP_WHILE)
            return lz_trip_count_static(f, &f->insts[v]);
    return -2;
}

START_TEST(forms_are_told_apart)
{
    lz_func *f;
    lz_plan *p = lower(&forms[_i].m, &f);
    ck_assert_int_eq(static_of(f), forms[_i].rounds >= 0 ? forms[_i].rounds : -1);
    const lz_step *s = the_loop(p);
    int64_t n = ASKED;
    ck_assert_ptr_nonnull(s);
    bool known = lz_trip_count_known(&s->trip_count, &n);
    ck_assert(known == (s->sub[0] == LZ_NO_PLAN));
    if (!known)
        n = s->trip_count.dtype == LZ_DTYPE_NONE ? ASKED : READ;
    ck_assert_int_eq(n, forms[_i].rounds);
    ck_assert_uint_eq(p->nsub, known ? 1 : 2);
    same_as_reference(f, p, 3, 14);
    same_as_reference(f, p, 14, 3);
    same_as_reference(f, p, 5, 5);
    lz_plan_free(p);
    lz_func_free(f);
}
END_TEST

/* Random loops that end, near the limits of their types as well, some of which only the condition
 * gets right. */
START_TEST(as_the_reference)
{
    static const char *const types[] = {"i8", "ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64"};
    static const lz_dtype dtypes[] = {LZ_I8, LZ_U8, LZ_I16, LZ_U16, LZ_I32, LZ_U32, LZ_I64, LZ_U64};
    static const char *const names[] = {"LT", "LE", "GT", "GE", "NE"};
    lz_rnd g = {1};
    int known = 0, read = 0, asked = 0, wrapping = 0, n = lz_test_small() ? 60 : 400;
    for (int i = 0; i < n;) {
        int t = (int)lz_rnd_range(&g, 0, 7), d = (int)lz_rnd_range(&g, 0, 4);
        int64_t base = lz_rnd_chance(&g, 50) ? 0 : lz_rnd_range(&g, 120, 127);
        form m = {LOOP(types[t], 0, 0, lz_rnd_range(&g, -5, 5), names[d])};
        m.start = wrapped(dtypes[t], base + lz_rnd_range(&g, -4, 20));
        m.end = wrapped(dtypes[t], base + lz_rnd_range(&g, -4, 20));
        m.arg_start = lz_rnd_chance(&g, 30);
        m.arg_end = lz_rnd_chance(&g, 30);
        m.carried_end = lz_rnd_chance(&g, 20);
        m.view = lz_rnd_chance(&g, 20);
        m.step_first = lz_rnd_chance(&g, 20);
        if (t == 7 && (m.start < 0 || m.end < 0)) /* ui64 as text */
            continue;
        lz_trip_count r = {.dtype = dtypes[t], .go_on = directions[d], .step = m.step};
        bool passed;
        if (by_hand(&r, m.start, m.end, 3000, &passed) < 0 ||
            (m.step < 0 && !lz_dtype_is_signed(dtypes[t])))
            continue;
        lz_func *f;
        lz_plan *p = lower(&m, &f);
        const lz_step *s = the_loop(p);
        if (s) {
            known += s->sub[0] == LZ_NO_PLAN;
            read += s->sub[0] != LZ_NO_PLAN && s->trip_count.dtype != LZ_DTYPE_NONE;
            asked += s->trip_count.dtype == LZ_DTYPE_NONE;
        }
        wrapping += passed;
        same_as_reference(f, p, m.start, m.end);
        lz_plan_free(p);
        lz_func_free(f);
        i++;
    }
    ck_assert(known > n / 5 && read > n / 5 && asked && wrapping);
}
END_TEST

/* A counter that nothing is made of, and that nobody has in the end, is not carried at all. */
START_TEST(counters_are_left_out)
{
    for (int way = 0; way < 4; way++) { /* 0: left out; the body reads it; a result; not known */
        lz_buf b = {0};
        lz_func *f = NULL;
        lz_plan *p = NULL;
        lz_buf_printf(
            &b,
            "func.func @main(%%n: tensor<i32>, %%x0: tensor<3xi32>) -> (tensor<3xi32>, "
            "tensor<i32>) {\n"
            " %%zero = stablehlo.constant dense<2> : tensor<i32>\n"
            " %%r:2 = stablehlo.while(%%x = %%x0, %%i = %%zero) : tensor<3xi32>, tensor<i32>\n"
            "  cond {\n"
            "   %%seven = stablehlo.constant dense<7> : tensor<i32>\n"
            "   %%c = stablehlo.compare LT, %%i, %s : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
            "   stablehlo.return %%c : tensor<i1>\n"
            "  } do {\n"
            "   %%one = stablehlo.constant dense<1> : tensor<i32>\n"
            "   %%b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<i32>) -> tensor<3xi32>\n"
            "   %%y = stablehlo.multiply %%x, %%b : tensor<3xi32>\n"
            "   %%z = stablehlo.add %%y, %%x0 : tensor<3xi32>\n"
            "   %%j = stablehlo.add %%i, %%one : tensor<i32>\n"
            "   stablehlo.return %%z, %%j : tensor<3xi32>, tensor<i32>\n"
            "  }\n return %%r#0, %s : tensor<3xi32>, tensor<i32>\n}\n",
            way == 3 ? "%n" : "%seven", way == 1 ? "%i" : "%n", way == 2 ? "%r#1" : "%n");
        ck_assert_msg(lz_func_parse(lz_buf_str(&b), b.len, "loop", &f) == LZ_OK, "%s",
                      lz_error_get()->message);
        ck_assert_msg(lz_lower(f, NULL, &p) == LZ_OK, "%s", lz_error_get()->message);
        const lz_step *s = the_loop(p);
        ck_assert_uint_eq(p->subs[s->sub[1]]->nout, way == 0 ? 1 : 2);
        int32_t n = 6, x[3] = {5, -7, 9}, y[3], m = 0, want[3], i;
        memcpy(want, x, sizeof x);
        for (i = 2; i < (way == 3 ? n : 7); i++)
            for (int k = 0; k < 3; k++)
                want[k] = want[k] * (way == 1 ? i : n) + x[k];
        ck_assert_int_eq(lz_plan_run(p, (const void *[]){&n, x}, (void *[]){y, &m}), LZ_OK);
        ck_assert(memcmp(want, y, sizeof y) == 0);
        ck_assert_int_eq(m, way == 2 ? i : n);
        lz_plan_free(p);
        lz_func_free(f);
        lz_buf_free(&b);
    }
}
END_TEST

/* ---- programs and bytes ---- */

/* Loops in loops of known rounds wait for nothing, and how much they launch is known. */
START_TEST(launches_are_known)
{
    lz_func *f;
    for (int way = 0; way < 3; way++) {
        form m = {LOOP("i32", 0, 5, 1, "LT"), .arg_end = way == 1};
        if (way == 2) {
            m.body = "   %j = stablehlo.add %i, %i : tensor<i32>\n";
            m.start = 1;
        }
        lz_plan *p = lower(&m, &f);
        lz_plan_exec g;
        ck_assert_int_eq(lz_plan_exec_begin(&g, p), LZ_OK);
        ck_assert_int_eq(lz_plan_exec_make(&g, &lz_loop_ops, NULL), LZ_OK);
        ck_assert(g.control == (way > 0));
        if (way == 0) {
            uint64_t body = p->subs[0]->nstep;
            ck_assert_uint_ge(g.nrun, 5 * body);
            ck_assert_uint_le(g.nrun, 5 * body + 8);
        }
        lz_plan_exec_end(&g);
        lz_plan_free(p);
        lz_func_free(f);
    }
}
END_TEST

/* A stored plan that says other things of its loop than a loop can be is damaged. */
START_TEST(bytes_are_checked)
{
    lz_func *f;
    for (int arg = 0; arg < 2; arg++) {
        form m = {LOOP("i32", 0, 5, 1, "LT"), .arg_end = arg};
        lz_plan *p = lower(&m, &f), *q = NULL;
        lz_step *s = (lz_step *)the_loop(p);
        lz_trip_count good = s->trip_count;
        const lz_trip_count bad[] = {
            {LZ_F32, LZ_CMP_LT, 1, good.start_opnd, good.end_opnd, 0, good.end},
            {(lz_dtype)200, LZ_CMP_LT, 1, good.start_opnd, good.end_opnd, 0, good.end},
            {LZ_I32, LZ_CMP_EQ, 1, good.start_opnd, good.end_opnd, 0, good.end},
            {LZ_I32, (lz_comparison_direction)9, 1, good.start_opnd, good.end_opnd, 0, 5},
            {LZ_I32, LZ_CMP_LT, -1, LZ_NOVAL, LZ_NOVAL, 0, 5}, /* never ends */
            {LZ_I32, LZ_CMP_LT, 1, 77, good.end_opnd, 0, good.end},
            {LZ_I32, LZ_CMP_LT, 1, LZ_NOVAL, 0, 0, 0}, /* carried */
            {LZ_I64, LZ_CMP_LT, 1, 0, LZ_NOVAL, 0, 5}, /* another type */
        };
        for (size_t k = 0; k <= sizeof bad / sizeof *bad; k++) {
            bool is_bad = k < sizeof bad / sizeof *bad;
            lz_buf b = {0};
            s->trip_count = is_bad ? bad[k] : good;
            lz_plan_serialize(p, &b);
            s->trip_count = good;
            lz_status st = lz_plan_deserialize(b.data, b.len, &q);
            ck_assert_msg(st == (is_bad ? LZ_ECORRUPT : LZ_OK), "%d, %zu: %d", arg, k, (int)st);
            lz_buf_free(&b);
        }
        same_as_reference(f, q, 0, 5);
        lz_plan_free(q);
        lz_plan_free(p);
        lz_func_free(f);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("lower/trip_count");
    TCase *t = tcase_create("rounds");
    tcase_add_test(t, counts_as_by_hand);
    tcase_add_test(t, counts_far);
    tcase_add_loop_test(t, forms_are_told_apart, 0, (int)(sizeof forms / sizeof *forms));
    tcase_add_test(t, as_the_reference);
    tcase_add_test(t, counters_are_left_out);
    tcase_add_test(t, launches_are_known);
    tcase_add_test(t, bytes_are_checked);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
