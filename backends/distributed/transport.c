/* transport.c - the transports there are, which of them is offered to other processes, and how
 * their libraries are opened. */
#include "backends/distributed/transport.h"
#include "base/config.h"
#include <stdio.h>
#include <string.h>

static const lz_transport *const all[LZ_TRANSPORTS] = {
    [LZ_TRANSPORT_SOCKETS] = &lz_transport_sockets,
    [LZ_TRANSPORT_MPI] = &lz_transport_mpi,
    [LZ_TRANSPORT_UCX] = &lz_transport_ucx,
};

const lz_transport *lz_transport_of(uint32_t transport)
{
    return all[transport < LZ_TRANSPORTS ? transport : LZ_TRANSPORT_SOCKETS];
}

uint32_t lz_transport_named(const char *name)
{
    uint32_t t = 0;
    while (t < LZ_TRANSPORTS && strcmp(name, all[t]->name) != 0)
        t++;
    return t;
}

uint32_t lz_transport_choose(uint32_t *offer)
{
    const char *want = lz_cfg_str(LZ_OPT_TRANSPORT), *why;
    for (uint32_t t = 0; t < LZ_TRANSPORTS; t++) {
        bool wanted = !*want || strcmp(want, all[t]->name) == 0;
        *offer = wanted && all[t]->offer ? all[t]->offer(&why) : 0;
        if (*offer)
            return t;
    }
    return LZ_TRANSPORT_SOCKETS;
}

void *lz_transport_library(const char *name, const char *package, int flags,
                           const lz_symbol *symbols, size_t n, void *table,
                           char reason[LZ_TRANSPORT_REASON])
{
    const char *why = "", *missing = NULL;
    void *h = lz_open_library(name, flags, &why);
    if (h)
        missing = lz_library_symbols(h, symbols, n, table);
    if (!h)
        snprintf(reason, LZ_TRANSPORT_REASON, "%.60s (package %s) cannot be loaded: %.120s", name,
                 package, why);
    else if (missing)
        snprintf(reason, LZ_TRANSPORT_REASON, "%.60s has no %.60s", name, missing);
    return missing ? NULL : h;
}
