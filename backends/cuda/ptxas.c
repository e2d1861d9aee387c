/* ptxas.c - machine code from PTX: by NVIDIA's ptxas where it is installed, otherwise by the driver
 * when the code is loaded, which has a cache of its own. The driver's linker is not used: it
 * compiles for separate linking, which costs registers everywhere and serializes wgmma
 * instructions.
 * Threads: thread-safe. */
#include "backends/cuda/cuda_device.h"
#include "base/env.h"
#include "base/file_io.h"
#include "base/log.h"
#include "base/outfile.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOG_BYTES = 1024, PATH_BYTES = 4096 };
static atomic_bool refused; /* the assembler's code is not for this driver */

/* ---- running it ---- */

/* Whether the child process exited with status 0. */
static bool run(char *const *argv)
{
    pid_t pid;
    int status, r;
    posix_spawn_file_actions_t fa;
    if (posix_spawn_file_actions_init(&fa) != 0)
        return false;
    bool ok = posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0) == 0 &&
              posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", O_WRONLY, 0) == 0 &&
              posix_spawn_file_actions_addopen(&fa, 2, "/dev/null", O_WRONLY, 0) == 0 &&
              posix_spawn(&pid, argv[0], &fa, NULL, argv, (char **)lz_env_all()) == 0;
    (void)posix_spawn_file_actions_destroy(&fa);
    if (!ok)
        return false;
    do
        r = waitpid(pid, &status, 0);
    while (r < 0 && errno == EINTR);
    return r == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The target architecture: the device's own, or with its architecture-specific features
 * (sm_90a). */
static void arch_of(const cuda_device *d, char *out, size_t n)
{
    snprintf(out, n, "sm_%d%d", d->major, d->minor);
    if (strncmp(d->target.cpu, out, strlen(out)) == 0)
        snprintf(out, n, "%s", d->target.cpu);
}

static bool by_assembler(const cuda_device *d, const char *assembler, const lz_buf *ptx,
                         lz_buf *out)
{
    char dir[PATH_BYTES], in[PATH_BYTES + 8], cubin[PATH_BYTES + 8], arch[sizeof d->target.cpu];
    const char *tmp = lz_env_get("TMPDIR");
    int n = snprintf(dir, sizeof dir, "%s/lazuli-XXXXXX", tmp ? tmp : "/tmp");
    if (n >= (int)sizeof dir || !mkdtemp(dir))
        return false;
    snprintf(in, sizeof in, "%s/k.ptx", dir);
    snprintf(cubin, sizeof cubin, "%s/k.cubin", dir);
    arch_of(d, arch, sizeof arch);
    char *argv[] = {(char *)assembler, "-arch", arch, "-o", cubin, in, NULL};
    bool ok = lz_outfile_write(in, ptx->data, ptx->len, false) == LZ_OK && run(argv) &&
              lz_file_slurp(cubin, CUDA_CODE_BYTES, out) == LZ_OK && out->len > 0;
    (void)unlink(in);
    (void)unlink(cubin);
    (void)rmdir(dir);
    return ok;
}

/* ---- the driver ---- */

/* Whether the driver accepts the code; it compiles PTX here, on several threads at a time, and
 * finds the result in its cache later. */
static lz_status try(cuda_device *d, const lz_kernel *k, const void *code)
{
    char log[LOG_BYTES] = "";
    int options[2] = {CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BYTES};
    void *values[2] = {log, (void *)(uintptr_t)sizeof log};
    cu_module m;
    LZ_TRY(cuda_enter(d));
    int r = lz_cuda.ModuleLoadDataEx(&m, code, 2, options, values);
    log[sizeof log - 1] = '\0';
    lz_status s = cuda_check(d, r, "assembling a kernel");
    if (s == LZ_OK)
        (void)lz_cuda.ModuleUnload(m);
    else if (s == LZ_EDEVICE && !lz_cuda_is_lost(r))
        s = LZ_FAIL(LZ_ECOMPILE, "kernel '%s': the driver's assembler refused it (%d): %.250s",
                    k->name, r, log);
    cuda_leave(d);
    return s;
}

lz_status cuda_assemble(cuda_device *d, const lz_kernel *k, const lz_buf *ptx, lz_buf *out)
{
    const char *assembler = cuda_assembler(d);
    if (assembler && !atomic_load(&refused)) {
        if (by_assembler(d, assembler, ptx, out) && try(d, k, out->data) == LZ_OK)
            return LZ_OK;
        if (atomic_load(&d->lost))
            return cuda_enter(d);
        lz_error_clear();
        atomic_store(&refused, true);
        LZ_WARN("cuda", "%s makes no code that the driver takes: the driver assembles", assembler);
        out->len = 0;
    }
    lz_buf_put(out, ptx->data, ptx->len);
    lz_buf_put(out, "", 1);
    return out->failed ? LZ_FAIL(LZ_EMEM, "kernel '%s': no memory for its code", k->name)
                       : try(d, k, out->data);
}
