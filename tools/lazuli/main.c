/* main.c - the lazuli command: picks the subcommand. */
#include "tools/lazuli/tool.h"
#include <lazuli/device.h>
#include <lazuli/tensor.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *usage, *doc;
} commands[] = {
    {"run", tool_run,
     "FILE.mlir [--device cpu|ref|loop] [--input F.npy]... [--output-dir DIR] [--compare "
     "ref|loop|cpu] [--random SEED] [--rtol X] [--atol X]",
     "run a StableHLO program; outputs go to DIR/0.npy, 1.npy, ... or to the terminal"},
    {"opt", tool_opt,
     "FILE.mlir [--passes=a,b|pipeline] [--emit=stablehlo|loops|plan|dot] [--list]",
     "run passes and print the result"},
    {"cache", tool_cache, "ls|stat|verify|gc|clear [--path DIR] [--max-mb N]",
     "look at and tidy the persistent compilation cache"},
    {"devices", tool_devices, "", "list the devices of this machine"},
    {"ops", tool_ops, "[NAME]", "list the operations of the tensor IR"},
    {"env", tool_env, "",
     "list the environment variables and the values in force; * marks those that are set"},
};
enum { NCOMMANDS = sizeof commands / sizeof *commands };

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

int tool_fail(const char *what)
{
    const char *text = lz_last_error_text();
    fprintf(stderr, "lazuli: %s: %s\n", what, *text ? text : "failed");
    return 1;
}

int tool_usage(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("lazuli: ", stderr);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputs("\nTry lazuli --help.\n", stderr);
    return 2;
}

lz_status tool_read_file(const char *path, size_t limit, lz_buf *out)
{
    bool in = strcmp(path, "-") == 0;
    FILE *f = in ? stdin : fopen(path, "rb");
    char chunk[65536];
    size_t n;
    if (!f)
        return LZ_FAIL(LZ_ENOENT, "%s: %m", path);
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0 && out->len <= limit)
        lz_buf_put(out, chunk, n);
    bool bad = ferror(f);
    if (!in)
        fclose(f);
    if (bad)
        return LZ_FAIL(LZ_EIO, "%s: cannot be read", path);
    if (out->len > limit)
        return LZ_FAIL(LZ_ERANGE, "%s: larger than %zu bytes", path, limit);
    return out->failed ? LZ_FAIL(LZ_EMEM, "%s: no memory to read it", path) : LZ_OK;
}

lz_status tool_load_module(const char *path, lz_func **out)
{
    lz_buf text = {0};
    lz_status s = tool_read_file(path, (size_t)1 << 30, &text);
    if (s == LZ_OK)
        s = lz_func_parse(lz_buf_str(&text), text.len, path, out);
    lz_buf_free(&text);
    return s;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        help(stderr);
        return 2;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        help(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("lazuli %s\n", lz_version());
        return 0;
    }
    for (int i = 0; i < NCOMMANDS; i++) {
        if (strcmp(argv[1], commands[i].name) != 0)
            continue;
        if (argc > 2 && strcmp(argv[2], "--help") == 0) {
            help_one(stdout, &commands[i]);
            return 0;
        }
        static char name[32]; /* what getopt calls the program in its messages */
        snprintf(name, sizeof name, "lazuli %s", commands[i].name);
        argv[1] = name;
        return commands[i].run(argc - 1, argv + 1);
    }
    return tool_usage("unknown command %s", argv[1]);
}
