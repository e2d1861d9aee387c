/* ptxas_path.c - where NVIDIA's assembler is, if anywhere.
 * Threads: thread-safe. */
#include "backends/cuda/cuda_device.h"
#include "base/config.h"
#include "base/env.h"
#include "base/mutex.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Finds ptxas in one of the folders of a colon-separated list. */
static bool in_folders(const char *list, char *out)
{
    while (list && *list) {
        size_t n = strcspn(list, ":");
        if (n && snprintf(out, PATH_BYTES, "%.*s/ptxas", (int)n, list) < PATH_BYTES &&
            is_program(out))
            return true;
        list += n + (list[n] == ':');
    }
    return false;
}

static lz_once once = LZ_ONCE_INIT;
static char found[PATH_BYTES];

static void look(void)
{
    const char *given = lz_cfg_str(LZ_OPT_CUDA_PTXAS);
    bool there;
    if (*given)
        there = snprintf(found, sizeof found, "%s", given) < (int)sizeof found && is_program(found);
    else
        there = in_folders(lz_env_get("PATH"), found) || in_folders("/usr/local/cuda/bin", found);
    if (!there)
        found[0] = '\0';
}

const char *cuda_assembler(const cuda_device *d)
{
    if (!lz_target_ptx(&d->target))
        return NULL;
    lz_once_run(&once, look);
    return found[0] ? found : NULL;
}
