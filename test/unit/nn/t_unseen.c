/* t_unseen.c - failures that nobody has looked at are said on stderr once, and those that somebody
 * has are neither said nor reported again. Each program runs in a process of its own. */
#include "../runtime/rt.h"
#include <pthread.h>
#include <sys/wait.h>

static lz_tensor *bad(void) /* its line is what is looked for */
{
    return lz_add(lz_ones(LZ_F32, LZ_SHAPE(2)), lz_ones(LZ_F32, LZ_SHAPE(3)));
}

static lz_tensor *loss_of(lz_tensor *w)
{
    return lz_sum(lz_mul(w, lz_ones(LZ_F32, LZ_SHAPE(3))));
}

/* ---- programs that go on with a failure ---- */

static int reads_nan(void)
{
    return lz_item(lz_sum(bad())) == 0;
}

static int reads_nothing(void)
{
    (void)bad();
    return 0;
}

static int leaves_the_scope(void)
{
    lz_scope_begin();
    (void)lz_exp(bad());
    lz_scope_end();
    return lz_mark_step() != LZ_OK; /* nothing of it lives */
}

static int ignores_the_step(void)
{
    (void)bad();
    (void)lz_mark_step();
    return 0;
}

static int trains_nothing(void)
{
    lz_tensor *w = lz_retain(lz_ones(LZ_F32, LZ_SHAPE(2))), *g;
    for (int i = 0; i < 3; i++) {
        lz_scope_begin();
        lz_tensor *loss = loss_of(w);
        (void)lz_grad(loss, &w, 1, &g);
        (void)lz_assign(w, lz_sub(w, g));
        (void)lz_mark_step();
        (void)lz_item(loss);
        lz_scope_end();
    }
    return 0;
}

static int says_at_the_next_step(void)
{
    for (int i = 0; i < 2; i++) {
        (void)bad();
        (void)lz_mark_step();
    }
    _exit(0); /* nothing runs any more */
}

static int ignores_an_assignment(void)
{
    lz_tensor *w = lz_ones(LZ_F32, LZ_SHAPE(2));
    (void)lz_assign(w, lz_ones(LZ_F32, LZ_SHAPE(3)));
    return lz_mark_step() != LZ_OK;
}

static int reads_a_number_of_many(void)
{
    return lz_item_i64(lz_ones(LZ_F32, LZ_SHAPE(3))) != INT64_MIN;
}

static void *in_thread(void *unused)
{
    (void)bad();
    return unused;
}

static int fails_in_a_thread(void)
{
    pthread_t t;
    pthread_create(&t, NULL, in_thread, NULL);
    pthread_join(t, NULL);
    return 0;
}

/* The first is known, the second is not. */
static int looks_at_two_and_reads_one(void)
{
    lz_tensor *a = bad(), *b = bad();
    bool failed = lz_status_of(a) != LZ_OK && lz_status_of(b) != LZ_OK;
    return failed && lz_item(lz_sum(a)) == 0;
}

static int looks_at_another(void)
{
    lz_tensor *first = lz_neg(lz_add(lz_ones(LZ_F32, LZ_SHAPE(4)), lz_ones(LZ_F32, LZ_SHAPE(5))));
    lz_tensor *second = bad();
    return lz_status_of(first) != LZ_ESHAPE || second == NULL;
}

/* ---- functions of nn that are called for their effect: X(name, call) ---- */

static float one = 1;
static lz_params list, none;
static lz_linear_layer linear;
static lz_checkpoint checkpoint = {.struct_size = sizeof(lz_checkpoint), .params = &list};
static char path[300];
static lz_optim *made_optim; /* what a program's call was given, freed after it */
static lz_grad_scaler *made_scaler;

static lz_optim *optim(void)
{
    (void)lz_params_add(&list, "w", lz_from_host(LZ_F32, LZ_SCALAR, &one));
    return made_optim = lz_sgd(&list, .lr = 1);
}

static lz_grad_scaler *scaler(void)
{
    return made_scaler = lz_grad_scaler_new();
}

static const char *damaged(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/unseen.safetensors", tmp ? tmp : "/tmp");
    FILE *f = fopen(path, "w");
    if (!f || fputs("damaged", f) < 0)
        abort();
    fclose(f);
    return path;
}

static void unlink_damaged(void)
{
    (void)unlink(damaged());
}

/* clang-format off */
#define EFFECTS(X)                                                                                 \
    X(lz_optim_step, lz_optim_step(NULL))                                                          \
    X(lz_optim_zero_grad, lz_optim_zero_grad(NULL))                                                \
    X(lz_optim_set_lr, lz_optim_set_lr(optim(), -1))                                               \
    X(lz_optim_add_group, lz_optim_add_group(optim(), &list))                                      \
    X(lz_grad_scaler_step, lz_grad_scaler_step(scaler(), NULL))                                    \
    X(lz_grad_scaler_unscale, lz_grad_scaler_unscale(NULL, optim()))                               \
    X(lz_grad_scaler_update, lz_grad_scaler_update(scaler()))                                      \
    X(lz_ema_update, lz_ema_update(NULL))                                                          \
    X(lz_ema_swap, lz_ema_swap(NULL))                                                              \
    X(lz_clip_grad_value, lz_clip_grad_value(&list, -1))                                           \
    X(lz_params_add, lz_params_add(&list, NULL, lz_ones(LZ_F32, LZ_SCALAR)))                       \
    X(lz_params_add_buffer, lz_params_add_buffer(&list, NULL, lz_ones(LZ_F32, LZ_SCALAR)))         \
    X(lz_params_select, lz_params_select(&list, &none, NULL, NULL))                                \
    X(lz_linear_layer_init, lz_linear_layer_init(&linear, &list, "l", 0, 1, true, LZ_F32))         \
    X(lz_params_load, lz_params_load(&list, damaged()))                                            \
    X(lz_checkpoint_load, lz_checkpoint_load(damaged(), &checkpoint))
/* clang-format on */
static int after(lz_status s)
{
    lz_optim_free(made_optim);
    lz_grad_scaler_free(made_scaler);
    return s != LZ_OK ? 7 : 0;
}

#define EFFECT(name, call)                                                                         \
    static int ignores_##name(void)                                                                \
    {                                                                                              \
        return after(call) != 7;                                                                   \
    }                                                                                              \
    static int reports_##name(void)                                                                \
    {                                                                                              \
        return after(call);                                                                        \
    }
EFFECTS(EFFECT)

/* The list does not take what is an error tensor, and has not told of it either. */
static int lists_nothing(void)
{
    return lz_params_add(&list, "w", bad()) == LZ_OK;
}

/* ---- programs that know ---- */

static int finds_no_file(void)
{
    return lz_checkpoint_load("/nowhere/t", &checkpoint) != LZ_ENOENT ||
           lz_params_load(&list, "/nowhere/t") != LZ_ENOENT;
}

static int asks_for_the_status(void)
{
    lz_tensor *t = lz_exp(bad());
    return lz_status_of(t) != LZ_ESHAPE || lz_mark_step() != LZ_OK;
}

static int is_told_by_a_read(void)
{
    float v[3];
    lz_tensor *t = bad(), *u = lz_neg(t);
    return lz_to_host(u, v, sizeof v) != LZ_ESHAPE || lz_mark_step() != LZ_OK;
}

static int is_told_by_a_sync(void)
{
    lz_tensor *t = bad();
    return lz_sync(&t, 1, true) != LZ_ESHAPE || lz_mark_step() != LZ_OK;
}

static int is_told_by_a_file(void)
{
    const char *names[] = {"t"};
    lz_tensor *t = bad();
    return lz_save_safetensors("/nowhere/t", names, &t, 1, NULL, 0) != LZ_ESHAPE ||
           lz_mark_step() != LZ_OK;
}

static int looks_after_a_number(void)
{
    return !isnan(lz_item(lz_sum(bad()))) || !lz_last_error_text()[0] || lz_mark_step() != LZ_OK;
}

static int looks_after_the_operation(void)
{
    (void)bad();
    return lz_last_error(NULL) != LZ_ESHAPE || lz_mark_step() != LZ_OK;
}

static int clears(void)
{
    (void)bad();
    lz_clear_error();
    return lz_mark_step() != LZ_OK;
}

static int looks_after_the_step(void)
{
    (void)bad(), (void)lz_neg(bad()); /* the step tells of the first, and fails both */
    return lz_mark_step() != LZ_ESHAPE || !lz_last_error_text()[0] || lz_mark_step() != LZ_OK;
}

static int ends_with_a_status(void)
{
    (void)bad();
    return lz_mark_step() == LZ_ESHAPE ? 7 : 0;
}

static int has_no_failure(void)
{
    return lz_item(lz_sum(lz_ones(LZ_F32, LZ_SHAPE(3)))) != 3;
}

/* No failure of the library's own that it recovered from, and none of what is no tensor's. */
static int probes(void)
{
    lz_tensor *t = lz_retain(lz_ones(LZ_F32, LZ_SHAPE(3)));
    return lz_set_device("CUDA:77") == LZ_OK || lz_release(t) != LZ_OK || lz_release(t) != LZ_OK ||
           lz_release(t) != LZ_EHANDLE;
}

static const struct {
    const char *name;
    int (*run)(void);
    int status;
    const char *said; /* in the one line; NULL: none */
} programs[] = {
#define SAYS(f, text)                                                                              \
    {                                                                                              \
#f, f, 0, text                                                                             \
    }
#define KNOWS(f, status)                                                                           \
    {                                                                                              \
#f, f, status, NULL                                                                        \
    }
    SAYS(reads_nan, "t_unseen.c:9: lz_add: shapes [2] and [3]"),
    SAYS(reads_nothing, "t_unseen.c:9: lz_add"),
    SAYS(leaves_the_scope, "t_unseen.c:9: lz_add"),
    SAYS(ignores_the_step, "t_unseen.c:9: lz_add"),
    SAYS(trains_nothing, "lz_mul"),
    SAYS(says_at_the_next_step, "t_unseen.c:9: lz_add"),
    SAYS(ignores_an_assignment, "lz_assign: the value is f32[3], the tensor f32[2]"),
    SAYS(reads_a_number_of_many, "lz_item_i64"),
    SAYS(fails_in_a_thread, "t_unseen.c:9: lz_add"),
    SAYS(looks_at_another, "t_unseen.c:9: lz_add"),
    SAYS(lists_nothing, "t_unseen.c:9: lz_add"),
#define IGNORES(name, call) SAYS(ignores_##name, #name ": "),
#define REPORTS(name, call) KNOWS(reports_##name, 7),
    EFFECTS(IGNORES) EFFECTS(REPORTS) KNOWS(finds_no_file, 0),
    KNOWS(asks_for_the_status, 0),
    KNOWS(is_told_by_a_read, 0),
    KNOWS(looks_at_two_and_reads_one, 0),
    KNOWS(is_told_by_a_sync, 0),
    KNOWS(is_told_by_a_file, 0),
    KNOWS(looks_after_a_number, 0),
    KNOWS(looks_after_the_operation, 0),
    KNOWS(clears, 0),
    KNOWS(looks_after_the_step, 0),
    KNOWS(ends_with_a_status, 7),
    KNOWS(has_no_failure, 0),
    KNOWS(probes, 0),
};
enum { NPROGRAMS = sizeof programs / sizeof *programs };

/* What the program writes to stderr. */
static void run(int k, char *text, size_t size)
{
    int fd[2], status;
    ck_assert_int_eq(pipe(fd), 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fd[1], 2);
        close(fd[0]);
        close(fd[1]);
        exit(programs[k].run());
    }
    close(fd[1]);
    size_t n = 0;
    for (ssize_t r; n < size - 1 && (r = read(fd[0], text + n, size - 1 - n)) > 0;)
        n += (size_t)r;
    text[n] = '\0';
    close(fd[0]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == programs[k].status,
                  "%s ended with 0x%x: %s", programs[k].name, status, text);
}

START_TEST(one_line_or_none)
{
    char text[4096];
    rt_use(rt_devices[_i % 2]);
    int k = _i / 2;
    const char *want = programs[k].said;
    run(k, text, sizeof text);
    if (!want) {
        ck_assert_msg(!strstr(text, "has not asked"), "%s: %s", programs[k].name, text);
        return;
    }
    const char *line = strstr(text, "lazuli: warn: status: ");
    ck_assert_msg(line && strstr(line, want) && strstr(line, "has not asked"), "%s: \"%s\"",
                  programs[k].name, text);
    ck_assert_msg(!strchr(line, '\n')[1], "%s: more than a line: %s", programs[k].name, text);
    setenv("LAZULI_LOG", "error", 1);
    run(k, text, sizeof text);
    ck_assert_msg(!text[0], "%s: %s", programs[k].name, text);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("unseen");
    TCase *t = tcase_create("unseen");
    tcase_set_timeout(t, 60);
    tcase_add_unchecked_fixture(t, NULL, unlink_damaged);
    tcase_add_loop_test(t, one_line_or_none, 0, 2 * NPROGRAMS);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
