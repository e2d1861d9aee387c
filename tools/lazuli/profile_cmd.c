/* profile_cmd.c - lazuli profile: runs a program and prints where its time went. The program writes
 * the report itself when it ends (LAZULI_PROFILE_REPORT), here into a temporary file. */
#include "base/outfile.h"
#include "tools/lazuli/tool.h"
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A new empty folder; false after a message. */
static bool make_folder(char *path, size_t n)
{
    const char *dir = getenv("TMPDIR");
    snprintf(path, n, "%s/lazuli-profile-XXXXXX", dir && *dir ? dir : "/tmp");
    if (mkdtemp(path))
        return true;
    fprintf(stderr, "lazuli: %s: %s\n", path, strerror(errno));
    return false;
}

/* What the program ended with, as a shell says it. */
static int run_program(char **argv, const char *report)
{
    int status;
    if (setenv("LAZULI_PROFILE_REPORT", report, 1) != 0)
        return tool_fail("profile");
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        execvp(argv[0], argv);
        fprintf(stderr, "lazuli: %s: %s\n", argv[0], strerror(errno));
        _exit(errno == ENOENT ? 127 : 126);
    }
    if (pid < 0) {
        fprintf(stderr, "lazuli: fork: %s\n", strerror(errno));
        return 1;
    }
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int print_report(const char *path, const char *output)
{
    lz_buf text = {0};
    int rc = 0;
    if (access(path, F_OK) != 0) {
        fprintf(stderr, "lazuli: the program wrote no report: it does not use the library, or did "
                        "not end by exit\n");
        return 1;
    }
    if (tool_read_text(path, &text) != LZ_OK)
        rc = tool_fail(path);
    else if (!output)
        fwrite(text.data, 1, text.len, stdout);
    else if (lz_outfile_write(output, text.data, text.len, false) != LZ_OK)
        rc = tool_fail(output);
    lz_buf_free(&text);
    return rc;
}

int tool_profile(int argc, char **argv)
{
    static const struct option options[] = {{"json", no_argument, NULL, 'j'},
                                            {"output", required_argument, NULL, 'o'},
                                            {NULL, 0, NULL, 0}};
    char folder[4000], report[4096];
    const char *output = NULL;
    bool json = false;
    for (int c; (c = getopt_long(argc, argv, "+", options, NULL)) >= 0;) {
        if (c == '?')
            return 2;
        json |= c == 'j';
        output = c == 'o' ? optarg : output;
    }
    if (optind == argc)
        return tool_usage("a program is needed");
    if (!make_folder(folder, sizeof folder))
        return 1;
    snprintf(report, sizeof report, "%s/report.%s", folder, json ? "json" : "txt");
    int rc = run_program(argv + optind, report);
    bool ran = rc != 126 && rc != 127;
    int printed = ran ? print_report(report, output) : rc;
    unlink(report);
    rmdir(folder);
    return rc ? rc : printed;
}
