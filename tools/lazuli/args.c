/* args.c - command-line helpers of the subcommands: numbers, messages, and output errors. */
#include "tools/lazuli/tool.h"
#include "base/text.h"
#include <errno.h>
#include <fcntl.h>
#include <lazuli/tensor.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

static const char *command = "lazuli"; /* "lazuli run": whose message it is */

void tool_set_command(const char *name)
{
    command = name;
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
    fprintf(stderr, "%s: ", command);
    lz_vfprintf(stderr, fmt, ap);
    va_end(ap);
    fprintf(stderr, " (%s --help)\n", command);
    return 2;
}

bool tool_uint(const char *option, const char *text, uint64_t lo, uint64_t hi, uint64_t *out)
{
    uint64_t v = 0;
    if (lz_text_u64(text, strlen(text), 0, hi, &v) != LZ_OK || v < lo) {
        tool_usage("%s takes an integer from %" PRIu64 " to %" PRIu64 ", not '%s'", option, lo, hi,
                   text);
        return false;
    }
    *out = v;
    return true;
}

bool tool_tolerance(const char *option, const char *text, double *out)
{
    double v;
    if (!lz_text_f64(text, strlen(text), &v) || !isfinite(v) || signbit(v)) {
        tool_usage("%s takes a number of at least 0, not '%s'", option, text);
        return false;
    }
    *out = v;
    return true;
}

bool tool_one_of(const char *option, const char *text, const char *const *names)
{
    for (const char *const *n = names; *n; n++)
        if (strcmp(*n, text) == 0)
            return true;
    fprintf(stderr, "%s: %s takes ", command, option);
    for (const char *const *n = names; *n; n++)
        fprintf(stderr, "%s%s", n == names ? "" : n[1] ? ", " : " or ", *n);
    fprintf(stderr, ", not '%s'\n", text);
    return false;
}

void tool_open_standard_files(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", fd ? O_RDONLY : O_WRONLY);
}

int tool_close_stdout(int rc)
{
    bool failed = ferror(stdout) != 0;
    errno = 0;
    if (fclose(stdout) != 0)
        failed = true;
    if (!failed)
        return rc;
    fprintf(stderr, "lazuli: the output cannot be written%s%s\n", errno ? ": " : "",
            errno ? strerror(errno) : "");
    return rc ? rc : 1;
}
