/* stablehlo_run.c - a program that JAX lowered, inside a C program: `stablehlo_run --help` lists
 * the options. examples/data/train_step.mlir is one step of training, written in Python
 * (train_step.py beside it), its gradient taken by JAX. Here it is read as text, called with
 * tensors, and its results are fed back into it. No Python is involved. A call records what the
 * program is made of, so it is compiled together with the operations around it: the digits are
 * picked and scaled in the same program. */
#include "example.h"

/* clang-format off */
enum { PROGRAM, DATA, EPOCHS, LR, SEED, DEVICE, CACHE, LOG, JSON, HELP, OPTIONS };
static example_option opt[OPTIONS] = {
    {"program", "examples/data/train_step.mlir", "FILE  StableHLO text"},
    {"data", "examples/data/digits.csv", "FILE  lines of 64 pixels, 0 to 16, and the digit"},
    {"num_epochs", "20", "N"},
    {"lr", "0.5", "X"},
    {"seed", "1", "N"},
    {"device", NULL, "NAME"},
    {"cache", NULL, "DIR  compiled programs"},
    LOG_OPTION,
    {"json", NULL, NULL},
    {"help", NULL, NULL},
};
/* clang-format on */

/* What the program takes and gives: (lr, w1, b1, w2, b2, images, labels) -> (w1, b1, w2, b2,
 * loss). */
enum { RATE, W1, B1, W2, B2, IMAGES, LABELS, INPUTS, PARAMS = 4, LOSS = PARAMS, OUTPUTS };
static lz_stablehlo *program;
static lz_tensor *param[PARAMS];

static void read_program(void)
{
    lz_array text;
    check(lz_bytes_read(opt[PROGRAM].value, &text));
    program = MADE(lz_stablehlo_parse(text.data, text.nbytes, opt[PROGRAM].value));
    lz_array_free(&text);
    int nin = lz_stablehlo_num_inputs(program), nout = lz_stablehlo_num_outputs(program);
    for (int i = 0; i < nin + nout; i++) {
        lz_dtype d;
        lz_shape s;
        check(i < nin ? lz_stablehlo_input(program, i, &d, &s)
                      : lz_stablehlo_output(program, i - nin, &d, &s));
        printf("%s %d: %s", i < nin ? "input" : "output", i < nin ? i : i - nin, lz_dtype_name(d));
        for (int k = 0; k < s.rank; k++)
            printf("%s%d", k ? "x" : " ", (int)s.dims[k]);
        printf("\n");
    }
    if (nin != INPUTS || nout != OUTPUTS)
        errx(1, "%s: not the program of train_step.py", opt[PROGRAM].value);
}

/* Initial values, of the shapes that the program says. */
static void draw_params(void)
{
    check(lz_scope_begin());
    for (int i = 0; i < PARAMS; i++) {
        lz_shape s;
        check(lz_stablehlo_input(program, W1 + i, NULL, &s));
        double scale = s.rank == 2 ? 1 / sqrt((double)s.dims[0]) : 0;
        param[i] = lz_retain(lz_mul_scalar(lz_randn(LZ_F32, s), scale));
    }
    check(lz_mark_step());
    check(lz_scope_end());
}

/* One step on rows of the table; gives the loss when it is asked for it. */
static double train_step(lz_tensor *table, const int64_t *rows, int64_t n, bool read)
{
    lz_tensor *in[INPUTS], *out[OUTPUTS];
    check(lz_scope_begin());
    lz_tensor *batch = lz_index_select(table, 0, lz_from_host(LZ_I64, LZ_SHAPE(n), rows));
    in[RATE] = lz_full(LZ_F32, LZ_SCALAR, real(&opt[LR]));
    for (int i = 0; i < PARAMS; i++)
        in[W1 + i] = param[i];
    in[IMAGES] = lz_div_scalar(lz_narrow(batch, 1, 0, 64), 16);
    in[LABELS] = lz_to(lz_select(batch, 1, 64), LZ_I32);
    check(lz_stablehlo_call(program, in, INPUTS, out, OUTPUTS));
    for (int i = 0; i < PARAMS; i++)
        check(lz_assign(param[i], out[i]));
    check(lz_mark_step());
    double loss = read ? lz_item(out[LOSS]) : 0;
    check(lz_scope_end());
    return loss;
}

/* The same network in Lazuli's own words, on rows it has not learnt from. */
static double test(lz_tensor *table, const int64_t *rows, int64_t n)
{
    check(lz_scope_begin());
    lz_tensor *batch = lz_index_select(table, 0, lz_from_host(LZ_I64, LZ_SHAPE(n), rows));
    lz_tensor *x = lz_div_scalar(lz_narrow(batch, 1, 0, 64), 16);
    x = lz_tanh(lz_add(lz_matmul(x, param[0]), param[1]));
    x = lz_add(lz_matmul(x, param[2]), param[3]);
    double accuracy = lz_item(lz_accuracy(x, lz_to(lz_select(batch, 1, 64), LZ_I32)));
    check(lz_scope_end());
    return accuracy;
}

int main(int argc, char **argv)
{
    enum { BATCH = 32, MAX_ROWS = 1 << 16 };
    static int64_t train_rows[MAX_ROWS], test_rows[MAX_ROWS], order[MAX_ROWS], rows[MAX_ROWS];
    read_options(opt, OPTIONS, argc, argv);
    choose_device(opt[DEVICE].value, opt[CACHE].value);
    start_log(opt[LOG].value);
    uint64_t seed = (uint64_t)number(&opt[SEED], 0);
    check(lz_manual_seed(seed));
    read_program();
    draw_params();
    lz_array digits;
    check(lz_csv_read(opt[DATA].value, &digits));
    int64_t n = digits.shape.dims[0], ntrain = 0, ntest = 0;
    if (digits.shape.dims[1] != 65 || n < 2 * BATCH || n > MAX_ROWS)
        errx(1, "%s: not 65 numbers in each line", opt[DATA].value);
    for (int64_t i = 0; i < n; i++) /* every fifth is held out */
        *(i % 5 == 4 ? &test_rows[ntest++] : &train_rows[ntrain++]) = i;
    lz_tensor *table = lz_retain(lz_array_tensor(&digits));
    double first = 0, loss = 0;
    int epochs = number(&opt[EPOCHS], 1);
    for (int epoch = 0; epoch < epochs; epoch++) {
        lz_shuffled(order, ntrain, seed, epoch);
        for (int64_t i = 0; i < ntrain; i++)
            rows[i] = train_rows[order[i]];
        for (int64_t at = 0; at + BATCH <= ntrain; at += BATCH) {
            bool last = at + 2 * BATCH > ntrain;
            double value = train_step(table, rows + at, BATCH, last);
            loss = last ? value : loss;
        }
        first = epoch ? first : loss;
        progress("epochs", epoch + 1, epochs, loss, epoch + 1);
    }
    double accuracy = test(table, test_rows, ntest);
    printf("%.2f %% of %d held-out digits\n", 100 * accuracy, (int)ntest);
    report(opt[JSON].value != NULL, first, loss, accuracy);
    for (int i = 0; i < PARAMS; i++)
        lz_release(param[i]);
    lz_release(table);
    lz_stablehlo_free(program);
    return 0;
}
