/* partitioned.h - host.h's calls for programs of several devices: eight of them, lists of arguments
 * and of results for each, arrays in parts. */
#ifndef LZ_TEST_PJRT_PARTITIONED_H
#define LZ_TEST_PJRT_PARTITIONED_H
#include "shard/tiles.h"
#include "unit/pjrt/host.h"
#include <stdlib.h>

enum { N = 8, F32 = 11, MOST = 4 };
static PJRT_Device *const *devices;

static inline void setup(void)
{
    const PJRT_NamedValue count = {.struct_size = sizeof count,
                                   .name = "num_devices",
                                   .name_size = 11,
                                   .type = PJRT_INT64,
                                   .int64_value = N,
                                   .value_size = 1};
    open_client_with(&count, 1);
    PJRT_Client_AddressableDevices_Args d = ARGS(Client_AddressableDevices, .client = client);
    CALL(Client_AddressableDevices, &d);
    ck_assert_uint_eq(d.num_addressable_devices, N);
    devices = d.addressable_devices;
}

/* ---- programs ---- */

/* CompileOptionsProto. device: of each replica of each partition; NULL: not said. propagate:
 * whether what has no mark may be sharded by propagation: 1, because the host says so, 2, because
 * it asks for Shardy and says nothing. */
static inline void write_options(lz_buf *b, int replicas, int partitions, const int32_t *device,
                                 int propagate)
{
    lz_buf build = {0}, assigned = {0};
    const uint8_t numbers[] = {4 << 3, (uint8_t)replicas, 5 << 3, (uint8_t)partitions};
    lz_buf_put(&build, numbers, sizeof numbers);
    if (device) {
        lz_pjrt_assignment_write(&assigned, (uint32_t)replicas, (uint32_t)partitions, device);
        lz_buf_u8(&build, 9 << 3 | 2);
        lz_buf_u8(&build, (uint8_t)assigned.len);
        lz_buf_put(&build, assigned.data, assigned.len);
    }
    if (propagate == 1) { /* fields 12 and 18, of one flag for all */
        const uint8_t all[] = {12 << 3 | 2, 1, 1, (18 << 3 & 0x7f) | 0x80 | 2, 18 >> 4, 1, 1};
        lz_buf_put(&build, all, sizeof all);
    } else if (propagate) { /* field 19 */
        const uint8_t shardy[] = {(19 << 3 & 0x7f) | 0x80, 19 >> 4, 1};
        lz_buf_put(&build, shardy, sizeof shardy);
    }
    lz_buf_u8(b, 3 << 3 | 2);
    lz_buf_u8(b, (uint8_t)build.len);
    lz_buf_put(b, build.data, build.len);
    lz_buf_free(&build);
    lz_buf_free(&assigned);
}

static inline PJRT_Error *try_compile(const char *text, int replicas, int partitions,
                                      const int32_t *device, int propagate,
                                      PJRT_LoadedExecutable **out)
{
    lz_buf o = {0};
    write_options(&o, replicas, partitions, device, propagate);
    PJRT_Error *e = compile_as(text, "mlir", o.data, o.len, out);
    lz_buf_free(&o);
    return e;
}

static inline PJRT_LoadedExecutable *compile_partitioned(const char *text, int n,
                                                         const int32_t *device, int propagate)
{
    PJRT_LoadedExecutable *x;
    must(try_compile(text, 1, n, device, propagate, &x), "Client_Compile");
    return x;
}

/* ---- arrays in parts ---- */

typedef struct lists {
    int n; /* devices */
    PJRT_Buffer *in[N][MOST], *out[N][MOST];
    PJRT_Buffer *const *args[N];
    PJRT_Buffer **results[N];
    PJRT_Event *done[N];
} lists;

static inline void lists_begin(lists *l, int n)
{
    memset(l, 0, sizeof *l);
    l->n = n;
    for (int d = 0; d < n; d++) {
        l->args[d] = l->in[d];
        l->results[d] = l->out[d];
    }
}

static inline const lz_type *type_of(int rank, const int64_t *dims)
{
    lz_shape s = lz_shape_make(rank, dims);
    return lz_type_get(LZ_F32, &s);
}

static inline PJRT_Buffer *upload_to(int device, const float *data, const lz_type *t)
{
    PJRT_Client_BufferFromHostBuffer_Args a =
        ARGS(Client_BufferFromHostBuffer, .client = client, .data = data, .type = F32,
             .dims = t->shape.dims, .num_dims = (size_t)t->shape.rank, .device = devices[device]);
    CALL(Client_BufferFromHostBuffer, &a);
    wait_for(a.done_with_host_buffer);
    return a.buffer;
}

/* Argument i, cut as the canonical text says, on the devices of the list. order: the place in the
 * list of each position; NULL: its own. */
static inline void give(lists *l, int i, const char *text, const lz_type *t, const float *whole,
                        const int32_t *device, const int *order)
{
    const lz_sharding *s = lz_sharding_parse(text);
    ck_assert_msg(s != NULL, "%s", lz_error_get()->message);
    const lz_type *local = lz_sharding_local(s, t);
    float *part = malloc(local->nbytes + 1);
    for (int q = 0; q < l->n; q++) {
        int d = order ? order[q] : q;
        ck_assert_int_eq(lz_tile_cut(s, t, q, whole, part), LZ_OK);
        l->in[d][i] = upload_to(device ? device[d] : d, part, local);
    }
    free(part);
}

/* Result k put together again must be `want`. */
static inline void expect_whole(lists *l, int k, const char *text, const lz_type *t,
                                const float *want, const int32_t *device)
{
    const lz_sharding *s = lz_sharding_parse(text);
    ck_assert_msg(s != NULL, "%s", lz_error_get()->message);
    const lz_type *local = lz_sharding_local(s, t);
    float *part = malloc(local->nbytes + 1), *cut = malloc(local->nbytes + 1);
    for (int d = 0; d < l->n; d++) {
        PJRT_Buffer_Dimensions_Args dims = ARGS(Buffer_Dimensions, .buffer = l->out[d][k]);
        CALL(Buffer_Dimensions, &dims);
        ck_assert_uint_eq(dims.num_dims, (size_t)local->shape.rank);
        for (int i = 0; i < local->shape.rank; i++)
            ck_assert_int_eq(dims.dims[i], local->shape.dims[i]);
        PJRT_Buffer_Device_Args on = ARGS(Buffer_Device, .buffer = l->out[d][k]);
        CALL(Buffer_Device, &on);
        ck_assert_ptr_eq(on.device, devices[device ? device[d] : d]);
        download(l->out[d][k], part, local->nbytes);
        ck_assert_int_eq(lz_tile_cut(s, t, d, want, cut), LZ_OK);
        for (int64_t i = 0; i < local->nelem; i++)
            ck_assert_msg(part[i] == cut[i], "device %d, element %d: %g, not %g", d, (int)i,
                          (double)part[i], (double)cut[i]);
    }
    free(part);
    free(cut);
}

static inline PJRT_Error *try_run(PJRT_LoadedExecutable *x, lists *l, int nin, const int64_t *kept,
                                  size_t nkept)
{
    PJRT_ExecuteOptions o = {.struct_size = sizeof o,
                             .non_donatable_input_indices = kept,
                             .num_non_donatable_input_indices = nkept};
    PJRT_LoadedExecutable_Execute_Args a =
        ARGS(LoadedExecutable_Execute, .executable = x, .options = &o, .argument_lists = l->args,
             .num_devices = (size_t)l->n, .num_args = (size_t)nin, .output_lists = l->results,
             .device_complete_events = l->done);
    return api->LoadedExecutable_Execute(&a);
}

static inline void run_partitioned(PJRT_LoadedExecutable *x, lists *l, int nin)
{
    must(try_run(x, l, nin, NULL, 0), "LoadedExecutable_Execute");
    for (int d = 0; d < l->n; d++)
        wait_for(l->done[d]);
}

static inline void lists_end(lists *l)
{
    for (int d = 0; d < l->n; d++)
        for (int i = 0; i < MOST; i++) {
            drop(l->in[d][i]);
            drop(l->out[d][i]);
        }
}

static inline void count_up(float *v, int n, int period)
{
    for (int i = 0; i < n; i++)
        v[i] = (float)(i % period - period / 2);
}
#endif
