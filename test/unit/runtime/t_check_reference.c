/* t_check_reference.c - LAZULI_CHECK=ref: a compiler that rewrites an operation wrongly is found
 * out, and the operation named: each of a list of wrong rewritings, in the middle of a program,
 * also those that the values of the program would hide if they were results. */
#include "rt.h"
#include "lower/pass.h"
#include "lower/passes/rewrite.h"
#include "support/mock.h"

enum { ROWS = 6, COLS = 8 };

/* ---- wrong rewritings ---- */

/* op of (operands) becomes `by` of the same, or its first operand. */
typedef struct wrong {
    const char *name; /* of the operation to be named */
    lz_op op, by;     /* by NONE: the first operand */
    lz_op below;      /* only where the first operand is such an operation; NONE: any */
    bool hidden;      /* and nobody else needs that operand */
} wrong;

static const wrong wrongs[] = {
    {"add", LZ_OP_ADD, LZ_OP_SUBTRACT, LZ_OP_NONE, false},
    {"subtract", LZ_OP_SUBTRACT, LZ_OP_ADD, LZ_OP_NONE, false},
    {"multiply", LZ_OP_MULTIPLY, LZ_OP_ADD, LZ_OP_NONE, false},
    {"divide", LZ_OP_DIVIDE, LZ_OP_MULTIPLY, LZ_OP_NONE, false},
    {"maximum", LZ_OP_MAXIMUM, LZ_OP_MINIMUM, LZ_OP_NONE, false},
    {"tanh", LZ_OP_TANH, LZ_OP_SINE, LZ_OP_NONE, false},
    {"exponential", LZ_OP_EXPONENTIAL, LZ_OP_EXPONENTIAL_MINUS_ONE, LZ_OP_NONE, false},
    {"sine", LZ_OP_SINE, LZ_OP_COSINE, LZ_OP_NONE, false},
    {"cosine", LZ_OP_COSINE, LZ_OP_NONE, LZ_OP_NONE, false},
    {"abs", LZ_OP_ABS, LZ_OP_NEGATE, LZ_OP_NONE, false},
    {"negate", LZ_OP_NEGATE, LZ_OP_NONE, LZ_OP_NONE, false},
    {"sqrt", LZ_OP_SQRT, LZ_OP_CBRT, LZ_OP_NONE, false},
    {"logistic", LZ_OP_LOGISTIC, LZ_OP_TANH, LZ_OP_NONE, false},
    {"floor", LZ_OP_FLOOR, LZ_OP_CEIL, LZ_OP_NONE, false},
    {"select", LZ_OP_SELECT, LZ_OP_SELECT, LZ_OP_NONE, false}, /* the other operand */
    {"transpose", LZ_OP_TRANSPOSE, LZ_OP_RESHAPE, LZ_OP_NONE, false},
    {"reduce", LZ_OP_REDUCE, LZ_OP_MAXIMUM, LZ_OP_NONE, false},          /* of maxima */
    {"dot_general", LZ_OP_DOT_GENERAL, LZ_OP_NEGATE, LZ_OP_NONE, false}, /* of the product */
    /* two operations become one, as long as nobody else sees the first */
    {"subtract", LZ_OP_SUBTRACT, LZ_OP_NONE, LZ_OP_EXPONENTIAL, true},
    {"multiply", LZ_OP_MULTIPLY, LZ_OP_NONE, LZ_OP_COSINE, true},
    {"sqrt", LZ_OP_SQRT, LZ_OP_NONE, LZ_OP_ABS, true},
    {"divide", LZ_OP_DIVIDE, LZ_OP_ADD, LZ_OP_TANH, true},
};
enum { WRONGS = sizeof wrongs / sizeof *wrongs };
static const wrong *chosen;
static int fired;
static bool of_several;        /* only programs of several results are compiled wrongly */
static int compiles, fails_at; /* this compilation, counted from 1, fails; 0: none */

static lz_val copy(lz_rw *rw, uint32_t i)
{
    lz_val o[4];
    const lz_inst *in = &rw->in->insts[i];
    for (uint32_t k = 0; k < in->sig->nopnd; k++)
        o[k] = lz_rw_opnd(rw, i, k);
    return lz_build_sig(rw->out, in->sig, o);
}

static lz_val max_of(lz_rw *rw, uint32_t i)
{
    const lz_attr_reduce *a = LZ_ATTR(reduce, rw->in->insts[i].sig->attr);
    return lz_build_reduce(rw->out, LZ_OP_MAXIMUM, lz_rw_opnd(rw, i, 0), lz_rw_opnd(rw, i, 1),
                           &a->dimensions);
}

static bool fits(const lz_rw *rw, uint32_t i, const uint32_t *uses)
{
    const lz_inst *in = &rw->in->insts[i];
    if (lz_inst_op(in) != chosen->op)
        return false;
    lz_val first = in->opnd[0];
    return (chosen->below == LZ_OP_NONE || lz_inst_op(&rw->in->insts[first]) == chosen->below) &&
           (!chosen->hidden || uses[first] == 1);
}

static lz_val replace(lz_rw *rw, uint32_t i, void *uses)
{
    if (!fits(rw, i, uses))
        return LZ_NOVAL;
    fired++;
    lz_val a = lz_rw_opnd(rw, i, 0);
    const lz_inst *in = &rw->in->insts[i];
    switch (chosen->op) {
    case LZ_OP_SELECT:
        return lz_build_select(rw->out, a, lz_rw_opnd(rw, i, 2), lz_rw_opnd(rw, i, 1));
    case LZ_OP_TRANSPOSE:
        return lz_build_reshape(rw->out, a, &in->sig->result[0]->shape);
    case LZ_OP_REDUCE:
        return max_of(rw, i);
    case LZ_OP_DOT_GENERAL:
        return lz_build_ew1(rw->out, LZ_OP_NEGATE, copy(rw, i));
    default:
        return chosen->by == LZ_OP_NONE ? a
               : in->sig->nopnd == 2    ? lz_build_ew2(rw->out, chosen->by, a, lz_rw_opnd(rw, i, 1))
                                        : lz_build_ew1(rw->out, chosen->by, a);
    }
}

static lz_status wrong_pass(const lz_func *in, const lz_lower_options *o, lz_func **out)
{
    (void)o;
    if (++compiles == fails_at)
        return LZ_FAIL(LZ_EMEM, "this compilation fails");
    uint32_t *uses = lz_calloc((size_t)in->ninst + 1, sizeof *uses);
    if (!uses)
        return LZ_EMEM;
    lz_func_use_counts(in, uses);
    lz_status s = chosen && in->nresult > of_several ? lz_rw_run(in, replace, uses, out) : LZ_OK;
    lz_free(uses);
    return s;
}

/* ---- a program that has all of them, one a line ---- */

typedef struct lines {
    const char *op[32];
    int line[32], n;
} lines;

static lz_tensor *at(lines *l, const char *op, int line, lz_tensor *x)
{
    l->op[l->n] = op;
    l->line[l->n++] = line;
    return x;
}
#define AT(op, x) at(l, op, __LINE__, x)

static lz_tensor *program(lines *l)
{
    float v[ROWS * COLS], w[ROWS * COLS];
    for (int i = 0; i < ROWS * COLS; i++) {
        v[i] = (float)((i * 37) % 29) / 10 - 1.23f;
        w[i] = (float)((i * 13) % 17) / 10 + 0.31f;
    }
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(ROWS, COLS), v);
    lz_tensor *y = lz_from_host(LZ_F32, LZ_SHAPE(ROWS, COLS), w);
    lz_tensor *a = AT("exponential", lz_exp(x));
    a = AT("subtract", lz_sub(a, y));
    a = AT("maximum", lz_maximum(a, x));
    a = AT("cosine", lz_cos(a));
    a = AT("multiply", lz_mul(a, y));
    a = AT("tanh", lz_tanh(a));
    a = AT("divide", lz_div(a, y));
    a = AT("sine", lz_sin(a));
    a = AT("abs", lz_abs(a));
    a = AT("sqrt", lz_sqrt(a));
    a = AT("logistic", lz_sigmoid(a));
    a = AT("add", lz_add(a, x));
    lz_tensor *f = AT("floor", lz_floor(lz_mul(y, y)));
    a = AT("select", lz_where(lz_gt(f, x), a, y));
    a = AT("negate", lz_neg(a));
    lz_tensor *t = AT("transpose", lz_transpose(a, 0, 1));
    a = AT("dot_general", lz_matmul(t, x));
    return AT("reduce", lz_sum(a));
}

static int line_of(const lines *l, const char *op)
{
    for (int i = 0; i < l->n; i++)
        if (strcmp(l->op[i], op) == 0)
            return l->line[i];
    return 0;
}

static void use(const char *device, const char *what)
{
    rt_use(device);
    setenv("LAZULI_CHECK", what, 1);
    lz_pass_inject(wrong_pass);
}

START_TEST(wrong_rewritings)
{
    lines l = {.n = 0};
    char want[96];
    chosen = &wrongs[_i];
    use(rt_devices[1], "ref");
    lz_tensor *r = lz_retain(program(&l));
    FAILS(lz_mark_step(), LZ_ECHECK, " gives ");
    ck_assert_int_gt(fired, 0);
    snprintf(want, sizeof want, "LAZULI_CHECK: %s at t_check_reference.c:%d gives ", chosen->name,
             line_of(&l, chosen->name));
    ck_assert_msg(strstr(lz_last_error_text(), want), "no '%s' in: %s", want, lz_last_error_text());
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), ", the reference "));
    OK(lz_release(r));
}
END_TEST

/* Any of the compilations of a search may fail: then the program is not checked any further. */
START_TEST(failing_search)
{
    enum { MOST = 60 };
    chosen = &wrongs[WRONGS - 4 + _i / 2];
    of_several = _i % 2;
    use(rt_devices[1], "ref");
    for (fails_at = 2; fails_at < MOST && fails_at <= compiles + 2; fails_at++) {
        lines l = {.n = 0};
        compiles = 1; /* the first time the program's own is the second one */
        OK(lz_scope_begin());
        lz_tensor *r = lz_retain(program(&l)),
                  *other = lz_retain(lz_full(LZ_F32, LZ_SHAPE(9), 0.5));
        lz_status s = lz_mark_step();
        ck_assert_msg(s == LZ_OK || s == LZ_ECHECK || (fails_at == 2 && s == LZ_EMEM), "%s",
                      lz_status_name(s));
        OK(lz_release(r));
        OK(lz_release(other));
        OK(lz_scope_end());
    }
    ck_assert_int_gt(fails_at, 4);
    lz_clear_error();
}
END_TEST

START_TEST(right_ones)
{
    lines l = {.n = 0};
    use(rt_devices[_i], "ref,nan:all");
    lz_tensor *r = lz_retain(program(&l));
    lz_retain(lz_softmax(lz_randn(LZ_F32, LZ_SHAPE(33, 65)), 1));
    lz_retain(lz_mean(
        lz_matmul(lz_randn(LZ_F32, LZ_SHAPE(64, 300)), lz_randn(LZ_F32, LZ_SHAPE(300, 64)))));
    lz_retain(lz_lgamma(lz_rand(LZ_F64, LZ_SHAPE(500))));
    OK(lz_mark_step());
    OK(lz_release(r));
}
END_TEST

/* A sum that cancels is all rounding, and so is what is made of it: no operation is wrong. */
START_TEST(roundings_made_large)
{
    enum { SUMS = 200, TERMS = 300 };
    use(rt_devices[1], "ref");
    lz_tensor *x = lz_randn(LZ_F32, LZ_SHAPE(SUMS, TERMS)), *y = lz_mul(x, x);
    lz_tensor *last = lz_reshape(lz_narrow(lz_cumsum(y, 1), 1, TERMS - 1, 1), LZ_SHAPE(SUMS));
    lz_tensor *s = lz_retain(lz_sub(lz_sum(y, .dims = LZ_DIM(1)), last)); /* of the reference 0 */
    lz_retain(lz_tanh(lz_div(lz_sin(s), lz_mul(s, s))));
    OK(lz_mark_step());
    ck_assert_double_ne(lz_item(lz_sum(lz_abs(s))), 0);
}
END_TEST

/* Only every third execution of a program is compared. */
START_TEST(every_third)
{
    use(rt_devices[1], "ref:3");
    chosen = &wrongs[5];
    for (int i = 0; i < 7; i++) {
        OK(lz_scope_begin());
        float v[4] = {0.5f, 1, 2, (float)i};
        lz_tensor *r = lz_retain(lz_tanh(lz_from_host(LZ_F32, LZ_SHAPE(4), v)));
        ck_assert_int_eq(lz_mark_step(), i % 3 ? LZ_OK : LZ_ECHECK);
        OK(lz_release(r));
        OK(lz_scope_end());
    }
    lz_clear_error();
}
END_TEST

static void round_of(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)i, (void)user;
    out[0] = lz_tanh(lz_add_scalar(in[0], 0.5));
}

/* Of a loop the operation is the loop. */
START_TEST(in_a_loop)
{
    use(rt_devices[1], "ref");
    chosen = &wrongs[5];
    float v[4] = {0.5f, 1, 2, 3};
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(4), v), *y;
    char at_line[64];
    snprintf(at_line, sizeof at_line, "while at t_check_reference.c:%d", __LINE__ + 1);
    OK(lz_fori(0, 5, &x, 1, round_of, NULL, &y));
    lz_retain(lz_exp(y));
    FAILS(lz_mark_step(), LZ_ECHECK, at_line);
}
END_TEST

START_TEST(on_a_gpu)
{
    use("CPU", "ref");
    OK(lz_mock_use());
    OK(lz_set_device("CUDA:0"));
    chosen = &wrongs[_i];
    lines l = {.n = 0};
    lz_retain(program(&l));
    FAILS(lz_mark_step(), LZ_ECHECK, chosen->name);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("check reference");
    TCase *t = tcase_create("check reference");
    tcase_add_loop_test(t, wrong_rewritings, 0, WRONGS);
    tcase_add_loop_test(t, failing_search, 0, 8);
    tcase_add_loop_test(t, right_ones, 0, 2);
    tcase_add_test(t, roundings_made_large);
    tcase_add_test(t, every_third);
    tcase_add_test(t, in_a_loop);
    tcase_add_loop_test(t, on_a_gpu, 0, 2);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
