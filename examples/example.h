/* example.h - what the larger examples share: options from a table, errors, a progress bar, and
 * what a run reports at its end. */
#ifndef LAZULI_EXAMPLE_H
#define LAZULI_EXAMPLE_H
#include <err.h>
#include <getopt.h>
#include <lazuli/lazuli.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* An option --name. value: its default, NULL for none; help: what follows the name, NULL when
 * nothing does (then value is "" when it was given). */
typedef struct example_option {
    const char *name, *value, *help;
} example_option;

static inline int number(const example_option *o, int least)
{
    char *end;
    long v = strtol(o->value, &end, 10);
    if (end == o->value || *end || v < least || v > 1 << 24)
        errx(2, "--%s %s: a number from %d to %d is needed", o->name, o->value, least, 1 << 24);
    return (int)v;
}

static inline double real(const example_option *o)
{
    char *end;
    double v = strtod(o->value, &end);
    if (end == o->value || *end || !(v >= 0))
        errx(2, "--%s %s: a number >= 0 is needed", o->name, o->value);
    return v;
}

/* Reads the command line into the n rows, the last of which is --help. */
static inline void read_options(example_option *opt, int n, int argc, char **argv)
{
    struct option names[64] = {{0}};
    for (int i = 0; i < n && i < 63; i++)
        names[i] = (struct option){opt[i].name, opt[i].help ? 1 : 0, NULL, i};
    for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        if (c == '?')
            exit(2);
        opt[c].value = optarg ? optarg : "";
    }
    for (int i = 0; i < n; i++) /* what follows is a number: N of no fraction, X */
        if (opt[i].value && opt[i].help && *opt[i].help && opt[i].help[1] <= ' ') {
            if (*opt[i].help == 'N')
                (void)number(&opt[i], 0);
            if (*opt[i].help == 'X')
                (void)real(&opt[i]);
        }
    if (!opt[n - 1].value)
        return;
    for (int i = 0; i < n; i++)
        printf("  --%s %s [%s]\n", opt[i].name, opt[i].help ? opt[i].help : "",
               i < n - 1 && opt[i].value ? opt[i].value : "");
    exit(0);
}

/* Lazuli never aborts: a failing call returns a status, and the last error tells what and where. */
static inline void check(lz_status s)
{
    if (s != LZ_OK)
        errx(1, "%s", lz_last_error_text());
}

/* The same of reading data, which may not be there. */
static inline void check_data(lz_status s)
{
    if (s == LZ_ENOENT)
        errx(1, "%s\n--datadir DIR says where the files are, --fake_data does without them",
             lz_last_error_text());
    check(s);
}

/* An object that a function made, or the end of the program. */
#define MADE(x)                                                                                    \
    __extension__({                                                                                \
        __typeof__(x) made_ = (x);                                                                 \
        if (!made_)                                                                                \
            errx(1, "%s", lz_last_error_text());                                                   \
        made_;                                                                                     \
    })

/* The device and the cache that were asked for; NULL: the default ones. */
static inline void choose_device(const char *device, const char *cache)
{
    check(lz_set_device(device));
    if (cache)
        check(lz_initialize_cache(cache, false));
}

/* ---- many devices ---- */

/* The axes of --mesh; NULL: the program runs on one device. */
__attribute__((unused)) static lz_mesh *mesh;

/* A mesh of all devices: "data=2,fsdp=2,tensor=2". The processor is as many devices as it names,
 * unless CPU_NUM_DEVICES says otherwise. Before anything else, as it chooses the device. */
static inline void choose_mesh(const char *text)
{
    enum { MOST = 8 };
    char names[256], devices[24];
    const char *axis[MOST];
    int64_t size[MOST], all = 1;
    int n = 0;
    if (!text)
        return;
    snprintf(names, sizeof names, "%s", text);
    for (char *at = strtok(names, ","); at; at = strtok(NULL, ","), n++) {
        char *is = strchr(at, '='), *end = is;
        if (n == MOST || !is || (size[n] = strtol(is + 1, &end, 10)) < 1 || *end || size[n] > 1024)
            errx(2, "--mesh %s: axes are needed, as in data=2,fsdp=4", text);
        *is = '\0';
        axis[n] = at;
        all *= size[n];
    }
    snprintf(devices, sizeof devices, "%d", (int)all);
    setenv("CPU_NUM_DEVICES", devices, 0);
    check(lz_use_spmd());
    mesh = MADE(lz_mesh_new(NULL, size, axis, n));
}

/* Those of the axes "data,fsdp" that the mesh has, into out, which has room for all of them. */
static inline const char *axes_there(const char *axes, char *out)
{
    char *end = out;
    *end = '\0';
    while (axes && *axes) {
        size_t n = strcspn(axes, ","), comma = end > out;
        memcpy(end + comma, axes, n);
        end[comma + n] = '\0';
        if (lz_mesh_axis_size(mesh, end + comma)) {
            *end = comma ? ',' : *end;
            end += comma + n;
        }
        *end = '\0';
        axes += n + (axes[n] == ',');
    }
    return out;
}

/* Cuts the first two dimensions of x (the first, if it has but one) along the axes of these names
 * that the mesh has. Without a mesh nothing happens. */
static inline void cut(lz_tensor *x, const char *first, const char *second)
{
    char a[64], b[64];
    if (!mesh)
        return;
    lz_partition_spec spec = {.rank = lz_rank_of(x)};
    spec.axes[0] = axes_there(first, a);
    if (spec.rank > 1)
        spec.axes[1] = axes_there(second, b);
    check(lz_mark_sharding(x, mesh, spec));
}

/* Cuts parameters along the axis fsdp, where the mesh has one (FSDP, ZeRO-3). */
static inline void cut_params(lz_params *params)
{
    if (mesh && lz_mesh_axis_size(mesh, "fsdp"))
        check(lz_fsdp_shard_module(params, mesh, "fsdp"));
}

/* ---- checkpoints ---- */

/* --checkpoint, --every and --keep, one after the other. */
#define CHECKPOINT_OPTIONS                                                                         \
    {"checkpoint", NULL, "DIR  go on from the newest checkpoint in it; SIGTERM saves one, too"},   \
        {"every", "100", "N  steps between checkpoints; one is saved at the end"},                 \
    {                                                                                              \
        "keep", "3", "N  newest checkpoints that stay, 0: all"                                     \
    }

/* NULL: nobody asked for checkpoints. saved: the step of the last one. */
__attribute__((unused)) static lz_checkpoint_manager *checkpoints;
__attribute__((unused)) static int64_t saved = -1;

/* Goes on from the newest checkpoint that is whole, if there is one. */
static inline void resume(const example_option *o, lz_checkpoint *c)
{
    if (!o[0].value)
        return;
    checkpoints = MADE(lz_checkpoint_manager_new(o[0].value, .save_interval = number(&o[1], 1),
                                                 .max_to_keep = number(&o[2], 0),
                                                 .chkpt_on_preemption = true));
    if (!lz_checkpoint_manager_all_steps(checkpoints, NULL, 0))
        return;
    check(lz_checkpoint_manager_restore(checkpoints, LZ_LATEST_STEP, c));
    check(lz_mark_step()); /* so that the next step is one like all others */
    saved = c->step;
}

/* After each step, of which c->step is the number. Only the copy of the values is waited for. After
 * SIGTERM the program ends here. */
static inline void checkpoint(lz_checkpoint *c)
{
    if (!checkpoints)
        return;
    if (lz_checkpoint_manager_should_save(checkpoints, c->step)) {
        check(lz_mark_step());
        check(lz_checkpoint_manager_save_async(checkpoints, c->step, c));
        saved = c->step;
    }
    if (lz_checkpoint_manager_reached_preemption(checkpoints, c->step)) {
        check(lz_checkpoint_manager_join(checkpoints));
        printf("SIGTERM: saved step %d\n", (int)c->step);
        exit(0);
    }
}

/* At the end. */
static inline void last_checkpoint(lz_checkpoint *c)
{
    if (!checkpoints)
        return;
    if (c->step != saved)
        check(lz_checkpoint_manager_save(checkpoints, c->step, c, .force = true));
    check(lz_checkpoint_manager_join(checkpoints));
    lz_checkpoint_manager_free(checkpoints);
}

static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- what a training says ---- */

#define LOG_OPTION                                                                                 \
    {                                                                                              \
        "log", NULL, "DIR  losses by step, for lazuli plot and TensorBoard"                        \
    }

static inline void start_log(const char *dir)
{
    if (dir)
        check(lz_start_scalar_log(dir));
}

/* The loss of a step, in the log and beside a bar on the terminal: "epoch 3 [##--] 20 of 40". */
static inline void progress(const char *what, int64_t done, int64_t all, double loss, int64_t step)
{
    check(lz_log_scalar("loss", loss, step));
    check(lz_progress(what, done, all));
}

/* Arguments of all programs that were made that give their memory to a result. */
static inline double arguments_given(void)
{
    lz_metric_summary m = {0};
    return lz_metric_data("InputOutputAliasCount", &m) == LZ_OK ? m.accumulator : 0;
}

/* What was compiled; json: also the losses, and how many arguments of programs gave their memory to
 * results, as one line for programs to read. */
static inline void report(bool json, double first, double loss, double accuracy)
{
    lz_cache_counts n = {.struct_size = sizeof n};
    check(lz_get_cache_counts(&n));
    printf("compiled %d kernels\n", (int)n.llvm_compiles);
    if (json)
        printf("{\"first_loss\":%.9g,\"loss\":%.9g,\"test_accuracy\":%.6f,\"llvm_compiles\":%d,"
               "\"program_misses\":%d,\"programs\":%d,\"given\":%.0f}\n",
               first, loss, accuracy, (int)n.llvm_compiles, (int)n.program_misses,
               (int)lz_counter_value("UncachedCompile"), arguments_given());
}
#endif
