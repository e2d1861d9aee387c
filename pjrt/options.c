/* options.c - what of the compile options says something here: CompileOptionsProto, a protocol
 * buffer, read lz_proto_field by field; what is not known is stepped over. Untrusted. Threads:
 * pure. */
#include "base/alloc.h"
#include "base/formats/proto.h"
#include "pjrt/plugin.h"
#include <string.h>

/* ExecutableBuildOptionsProto */
static lz_status read_build(const lz_proto_field *all, lz_pjrt_options *o)
{
    lz_rd r = lz_proto_reader(all->at, all->n);
    lz_proto_field f;
    while (lz_proto_next(&r, &f)) {
        if (f.number == 1)
            o->device = (int64_t)f.value;
        else if (f.number == 4)
            o->replicas = (int64_t)f.value;
        else if (f.number == 5)
            o->partitions = (int64_t)f.value;
        else if (f.number == 9) {
            o->assignment = f.at;
            o->nassignment = f.n;
        } else if (f.number == 12) {
            o->propagate_results = f.at;
            o->npropagate_results = f.n;
            o->all_results = f.value != 0;
        } else if (f.number == 18) {
            o->propagate_params = f.at;
            o->npropagate_params = f.n;
            o->all_params = f.value != 0;
        } else if (f.number == 19) {
            o->shardy = f.value != 0;
        }
    }
    return r.failed ? LZ_FAIL(LZ_EPARSE, "the compile options are damaged") : LZ_OK;
}

/* XLA's own options, of its flags and its compilation, say nothing here; a name that it has not
 * either is most likely a mistake. */
static bool is_option(const char *name, size_t n)
{
    static const char *const known[] = {"exec_time_optimization_effort", "memory_fitting_effort",
                                        "optimization_level", "memory_fitting_level"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i]) == n && memcmp(known[i], name, n) == 0)
            return true;
    return n > 4 && memcmp(name, "xla_", 4) == 0;
}

/* env_option_overrides: {1: name, 2: value} */
static lz_status check_override(const lz_proto_field *all)
{
    lz_rd r = lz_proto_reader(all->at, all->at ? all->n : 0);
    lz_proto_field f;
    while (lz_proto_next(&r, &f))
        if (f.number == 1 && f.at && !is_option((const char *)f.at, f.n))
            return LZ_FAIL(LZ_EINVAL, "No such compile option: '%.*s'",
                           (int)(f.n < 100 ? f.n : 100), (const char *)f.at);
    return r.failed ? LZ_FAIL(LZ_EPARSE, "the compile options are damaged") : LZ_OK;
}

lz_status lz_pjrt_options_read(const void *p, size_t n, lz_pjrt_options *out)
{
    lz_rd r = lz_proto_reader(p, n);
    lz_proto_field f;
    *out = (lz_pjrt_options){.replicas = 1, .partitions = 1, .device = -1};
    while (lz_proto_next(&r, &f)) {
        if (f.number == 3)
            LZ_TRY(read_build(&f, out));
        else if (f.number == 7)
            LZ_TRY(check_override(&f));
    }
    if (r.failed)
        return LZ_FAIL(LZ_EPARSE, "the compile options are damaged");
    out->replicas = out->replicas ? out->replicas : 1;
    out->partitions = out->partitions ? out->partitions : 1;
    if (out->replicas < 1 || out->partitions < 1 || out->replicas > 1 << 20 ||
        out->partitions > 1 << 20)
        return LZ_FAIL(LZ_EINVAL, "the compile options ask for %lld replicas of %lld partitions",
                       (long long)out->replicas, (long long)out->partitions);
    return LZ_OK;
}

bool lz_pjrt_options_may_propagate(const lz_pjrt_options *o, bool param, uint32_t i)
{
    const uint8_t *list = param ? o->propagate_params : o->propagate_results;
    size_t n = param ? o->npropagate_params : o->npropagate_results;
    if (!list) /* Shardy's partitioner asks nobody */
        return o->shardy || (param ? o->all_params : o->all_results);
    return n == 1 ? list[0] != 0 : i < n && list[i] != 0;
}

/* DeviceAssignmentProto{1: replicas, 2: computations, 3: ComputationDevice{1: devices, packed or
 * not} for each computation} */
lz_status lz_pjrt_assignment_read(const void *p, size_t n, int32_t *device, size_t ndevice)
{
    lz_rd r = lz_proto_reader(p, n);
    lz_proto_field f, g;
    size_t k = 0;
    while (lz_proto_next(&r, &f)) {
        if (f.number != 3)
            continue;
        lz_rd one = lz_proto_reader(f.at, f.n);
        while (lz_proto_next(&one, &g)) {
            lz_rd ids = lz_proto_reader(g.at, g.at ? g.n : 0);
            uint64_t id = g.value;
            bool more = g.number == 1 && (!g.at || (ids.p < ids.end && lz_proto_varint(&ids, &id)));
            for (; more && k < ndevice; more = ids.p < ids.end && lz_proto_varint(&ids, &id))
                device[k++] = id < INT32_MAX ? (int32_t)id : -1;
            r.failed |= ids.failed;
        }
        r.failed |= one.failed;
    }
    if (r.failed || k < ndevice)
        return LZ_FAIL(LZ_EPARSE, "the device assignment is damaged, or not of %zu devices",
                       ndevice);
    return LZ_OK;
}

void lz_pjrt_assignment_write(lz_buf *b, uint32_t replicas, uint32_t partitions,
                              const int32_t *device)
{
    lz_proto_int(b, 1, replicas);
    lz_proto_int(b, 2, partitions);
    int64_t *ids = lz_calloc((size_t)replicas + 1, sizeof *ids);
    lz_buf one = {0};
    for (uint32_t p = 0; p < partitions && ids; p++) {
        for (uint32_t r = 0; r < replicas; r++)
            ids[r] = device[p * replicas + r];
        lz_proto_list(&one, 1, ids, replicas);
        lz_proto_message(b, 3, &one);
    }
    b->failed |= !ids;
    lz_buf_free(&one);
    lz_free(ids);
}
