/* faults.c - a libucp of which a function fails, kills or stops the process when it is called
 * first, for ucx_faults.sh: FAULT_OF names it, FAULT_HOW is fail, kill or stop. */
#include "backends/distributed/ucx_abi.h"
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NO_MEMORY = -4 };

/* Whether it fails. */
static bool fails(const char *name)
{
    static bool over;
    const char *which = getenv("FAULT_OF"), *how = getenv("FAULT_HOW");
    if (over || !which || !how || strcmp(which, name) != 0)
        return false;
    over = true;
    if (strcmp(how, "fail") == 0)
        return true;
    (void)kill(getpid(), strcmp(how, "kill") == 0 ? SIGKILL : SIGSTOP);
    return false;
}

static void *real(const char *name)
{
    return dlsym(dlopen("libucp.so.0", RTLD_NOW | RTLD_LOCAL), name);
}

#define FAULTY(type, name, parameters, arguments, failure)                                         \
    type name parameters;                                                                          \
    type name parameters                                                                           \
    {                                                                                              \
        static type(*is) parameters;                                                               \
        if (fails(#name))                                                                          \
            return failure;                                                                        \
        if (!is)                                                                                   \
            *(void **)&is = real(#name);                                                           \
        return is arguments;                                                                       \
    }
#define STATUS ((lz_ucs_status)NO_MEMORY)
#define POINTER ((void *)(intptr_t)NO_MEMORY)

FAULTY(lz_ucs_status, ucp_init_version,
       (unsigned major, unsigned minor, const lz_ucp_params *p, const void *config, void **out),
       (major, minor, p, config, out), STATUS)
FAULTY(lz_ucs_status, ucp_worker_create, (void *context, const lz_ucp_worker_params *p, void **out),
       (context, p, out), STATUS)
FAULTY(lz_ucs_status, ucp_worker_get_address, (void *worker, void **at, size_t *n), (worker, at, n),
       STATUS)
FAULTY(lz_ucs_status, ucp_ep_create, (void *worker, const lz_ucp_ep_params *p, void **out),
       (worker, p, out), STATUS)
FAULTY(void *, ucp_tag_send_nbx,
       (void *ep, const void *p, size_t n, uint64_t tag, const lz_ucp_request_param *param),
       (ep, p, n, tag, param), POINTER)
FAULTY(void *, ucp_tag_recv_nbx,
       (void *worker, void *p, size_t n, uint64_t tag, uint64_t mask,
        const lz_ucp_request_param *param),
       (worker, p, n, tag, mask, param), POINTER)
