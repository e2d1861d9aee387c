/* main.c - the lazuli command: picks the subcommand. */
#include "base/config.h"
#include "lower/lower_dump.h"
#include "tools/lazuli/tool.h"
#include "base/file_io.h"
#include <lazuli/device.h>
#include <lazuli/tensor.h>
#include <string.h>
#include <unistd.h>

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *usage, *doc;
} commands[] = {
    {"run", tool_run,
     "FILE.mlir [--entry NAME] [--device cpu|ref|loop] [--input F.npy]... [--output-dir DIR] "
     "[--compare "
     "ref|loop|cpu] [--random SEED] [--times N] [--trace FILE] [--rtol X] [--atol X] "
     "[--devices N [--print-collectives]]",
     "run a StableHLO program; outputs go to DIR/0.npy, 1.npy, ... or to the terminal. Modules "
     "split by "
     "// ----- run one after the other; check.expect_* says what must come out"},
    {"opt", tool_opt,
     "FILE.mlir [--entry NAME] [--passes=a,b|pipeline] [--emit=stablehlo|portable|loops|plan|dot] "
     "[--column-reductions] [--prefix-scans] "
     "[--list]",
     "run passes and print the result"},
    {"shard", tool_shard,
     "FILE.mlir [--entry NAME] [--devices N] [--mesh NAME=SIZE,..] [--auto [--memory BYTES]] "
     "[--json|--svg] [--simulate MACHINE] [--model NAME=N,.. [--layout NAME=N,..]]",
     "where the values of a program are on the devices of its mesh, and the mark and the rule that "
     "put them there; what its collectives send, and which values, operations and marks want them. "
     "--auto: looks for the marks that take the least time, with the parameters of a device in "
     "BYTES. --simulate: how long a step would take on devices of that kind, of the program or of "
     "a transformer that --model describes"},
    {"graph", tool_graph, "FILE.mlir|HASH -o FILE [--profile FILE] [--entry NAME] [--path DIR]",
     "a picture of a program, or of one in the cache by its hash: name scopes, kernels with their "
     "operations, lines and times at best or by a report of lazuli profile --json, memory; -o "
     "x.html is a page that needs nothing else, x.json its data, x.dot a graph of the kernels"},
    {"plot", tool_plot,
     "[-o FILE] [--name NAME,..] [--smooth X] [--log] [--width N] [--height N] FILE..",
     "curves of what trainings logged (lz_log_scalar): files of JSON lines or of TensorBoard's "
     "events, or folders of them, a line for each; in the terminal, or -o x.svg. --smooth: the "
     "weight of what was before, 0 to 1; --log: values on a logarithmic axis"},
    {"cache", tool_cache,
     "ls|stat|verify|gc|clear|export|import [--path DIR] [--max-mb N] [HASH.. --output FILE] "
     "[FILE]",
     "look at and tidy the persistent compilation cache; export programs, by hash or all, with "
     "their kernels to a pack, import one where they are to run"},
    {"profile", tool_profile, "[--json] [--output FILE] [--] PROGRAM ARGS...",
     "run a program and print where its time went: by launch, operation, name scope and source "
     "line, then what the host did"},
    {"capture", tool_capture, "HOST:PORT --logdir DIR [--duration_ms N]",
     "trace the next N (1000) milliseconds of a process that lets itself be watched "
     "(lz_start_server, LAZULI_SERVER), for Perfetto, TensorBoard and xprof: "
     "DIR/plugins/profile/TIME/HOST.xplane.pb and HOST.trace.json.gz"},
    {"top", tool_top, "HOST:PORT [--once] [--json] [--interval_ms N]",
     "what such a process does, every N (1000) milliseconds: steps, compilations, cache hits, "
     "memory"},
    {"launch", tool_launch, "-n N [--] PROGRAM ARGS...",
     "start a program N times on this host, as the processes of one job (RANK, WORLD_SIZE, ..)"},
    {"devices", tool_devices, "", "list the devices of this machine"},
    {"ops", tool_ops, "[NAME]", "list the operations of the tensor IR"},
    {"env", tool_env, "",
     "list the environment variables and the values in force; * marks those that are set"},
    {"completions", tool_completions, "bash|zsh|fish",
     "print what the shell needs to complete this command: eval \"$(lazuli completions bash)\""},
};
enum { NCOMMANDS = sizeof commands / sizeof *commands };

bool tool_command_row(int i, const char **name, const char **usage, const char **doc)
{
    if (i < 0 || i >= NCOMMANDS)
        return false;
    *name = commands[i].name;
    *usage = commands[i].usage;
    *doc = commands[i].doc;
    return true;
}

static void help_one(FILE *f, const struct command *c)
{
    fprintf(f, "  lazuli %s%s%s\n        %s\n", c->name, *c->usage ? " " : "", c->usage, c->doc);
}

static void help(FILE *f)
{
    fputs("usage: lazuli COMMAND ...\n\n", f);
    for (int i = 0; i < NCOMMANDS; i++)
        help_one(f, &commands[i]);
    fputs("  lazuli --help | --version\n", f);
}

lz_status tool_read_file(const char *path, size_t limit, lz_buf *out)
{
    return strcmp(path, "-") == 0 ? lz_file_slurp_fd(STDIN_FILENO, path, limit, out)
                                  : lz_file_slurp(path, limit, out);
}

lz_status tool_read_text(const char *path, lz_buf *out)
{
    return tool_read_file(path, (size_t)1 << 30, out);
}

lz_status tool_load_module(const char *path, const char *entry, lz_func **out)
{
    lz_buf text = {0};
    lz_status s = tool_read_text(path, &text);
    if (s == LZ_OK)
        s = lz_func_parse_entry(lz_buf_str(&text), text.len, path, entry, out);
    lz_buf_free(&text);
    return s;
}

static bool asks_help(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

static const struct command *find(const char *name)
{
    for (int i = 0; i < NCOMMANDS; i++)
        if (strcmp(name, commands[i].name) == 0)
            return &commands[i];
    return NULL;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        help(stderr);
        return 2;
    }
    bool about = strcmp(argv[1], "help") == 0; /* lazuli help [COMMAND] */
    if (strcmp(argv[1], "--version") == 0) {
        if (argc > 2)
            return tool_usage("--version takes no arguments");
        printf("lazuli %s\n", lz_version());
        return 0;
    }
    if (asks_help(1, argv + 1) || (about && argc == 2)) {
        help(stdout);
        return 0;
    }
    const char *name = about ? argv[2] : argv[1];
    const struct command *c = find(name);
    if (!c)
        return tool_usage("unknown %s %s", *name == '-' ? "option" : "command", name);
    if (about || asks_help(argc - 2, argv + 2)) {
        help_one(stdout, c);
        return 0;
    }
    static char full[32]; /* getopt says it in its messages too */
    snprintf(full, sizeof full, "lazuli %s", c->name);
    tool_set_command(full);
    argv[1] = full;
    lz_config_check_unknown();
    lz_lower_check_names();
    return c->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    tool_open_standard_files();
    return tool_close_stdout(dispatch(argc, argv));
}
