/* slots.c - the tables of plugins. Functions of a backend are not told which backend they are of,
 * so there is a set of them for each slot, that says its number.
 * Threads: as backends/backend.h. */
#include "backends/pjrt/client.h"
#include "backends/pjrt/slots.h"

lz_plugin lz_plugin_slots[LZ_PLUGINS_MAX];

#define SLOT(n)                                                                                    \
    static lz_status init_##n(void)                                                                \
    {                                                                                              \
        return lz_plugin_start(&lz_plugin_slots[n]);                                               \
    }                                                                                              \
    static int count_##n(void)                                                                     \
    {                                                                                              \
        return init_##n() == LZ_OK ? lz_plugin_slots[n].ndevice : 0;                               \
    }                                                                                              \
    static lz_status info_##n(int device, lz_device_info *out)                                     \
    {                                                                                              \
        return lz_plugin_device_info(&lz_plugin_slots[n], device, out);                            \
    }                                                                                              \
    static void key_##n(int device, lz_buf *out)                                                   \
    {                                                                                              \
        lz_plugin_key(&lz_plugin_slots[n], device, out);                                           \
    }                                                                                              \
    static lz_status alloc_##n(int device, size_t nbytes, lz_device_buffer **out)                  \
    {                                                                                              \
        return lz_plugin_alloc(&lz_plugin_slots[n], device, nbytes, out);                          \
    }                                                                                              \
    static lz_status compile_##n(int device, const lz_func *f, const lz_compile_options *o,        \
                                 lz_exec **out)                                                    \
    {                                                                                              \
        return lz_plugin_compile(&lz_plugin_slots[n], device, f, o, out);                          \
    }                                                                                              \
    static lz_status deserialize_##n(int device, const void *p, size_t size,                       \
                                     const lz_compile_options *o, lz_exec **out)                   \
    {                                                                                              \
        return lz_plugin_deserialize(&lz_plugin_slots[n], device, p, size, o, out);                \
    }                                                                                              \
    static lz_status execute_##n(lz_exec *x, int device, lz_device_buffer *const *in,              \
                                 const bool *donated, bool awaited, lz_device_buffer **out,        \
                                 lz_event **done)                                                  \
    {                                                                                              \
        (void)awaited;                                                                             \
        return lz_plugin_execute(&lz_plugin_slots[n], x, device, in, donated, out, done);          \
    }                                                                                              \
    static lz_status wait_##n(int device)                                                          \
    {                                                                                              \
        return lz_plugin_wait_all(&lz_plugin_slots[n], device);                                    \
    }
SLOT(0)
SLOT(1)
SLOT(2)
SLOT(3)
SLOT(4)
SLOT(5)
SLOT(6)
SLOT(7)
#undef SLOT

const lz_backend lz_plugin_backends[LZ_PLUGINS_MAX] = {
#define SLOT(n)                                                                                    \
    {                                                                                              \
        .name = lz_plugin_slots[n].name, .init = init_##n, .device_count = count_##n,              \
        .device_info = info_##n, .key = key_##n, .alloc = alloc_##n, .free = lz_plugin_free,       \
        .copy_in = lz_plugin_copy_in, .copy_out = lz_plugin_copy_out, .compile = compile_##n,      \
        .serialize = lz_plugin_serialize, .deserialize = deserialize_##n,                          \
        .exec_free = lz_plugin_exec_free, .exec_info = lz_plugin_exec_info,                        \
        .execute = execute_##n, .wait_all = wait_##n                                               \
    }
    SLOT(0), SLOT(1), SLOT(2), SLOT(3), SLOT(4), SLOT(5), SLOT(6), SLOT(7),
#undef SLOT
};
