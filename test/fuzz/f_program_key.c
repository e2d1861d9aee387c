/* f_program_key.c - keys of stored programs, as a pack from a hostile place has them: taken apart
 * within their bounds, and put together again they are the same. */
#include "backends/common/program_store.h"
#include "base/vec.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lz_program_parts p;
    uint8_t *copy =
        malloc(size ? size : 1); /* exact, so that the sanitizer sees every step outside */
    if (!copy)
        return 0;
    memcpy(copy, data, size);
    if (lz_program_take_apart(copy, size, &p) == LZ_OK) {
        lz_buf device = {0}, again = {0};
        lz_buf_put(&device, p.device, p.ndevice);
        if (lz_program_key(&device, p.donate, p.f, p.team, &again) != LZ_OK || again.len != size ||
            memcmp(again.data, copy, size) != 0)
            abort();
        lz_buf_free(&device);
        lz_buf_free(&again);
        lz_program_parts_free(&p);
    }
    free(copy);
    return 0;
}
