/* f_safetensors.c - a safetensors file from a hostile place: every tensor that it lists lies within
 * the file. */
#include "fuzz/arrays.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lz_archive *a = lz_archive_new("input", false);
    must(a != NULL);
    lz_status s = lz_safetensors_parse(a, (lz_view){data, size, NULL});
    if (s == LZ_OK)
        s = lz_archive_index(a);
    for (size_t i = 0; s == LZ_OK && i < lz_archive_len(a); i++) {
        lz_array x;
        lz_dtype d;
        lz_shape shape;
        const char *name = lz_archive_name(a, i);
        must(lz_archive_has(a, name));
        lz_status info = lz_archive_info_at(a, name, &d, &shape, NULL);
        if (lz_archive_read_at(a, name, &x, NULL) == LZ_OK) {
            must(info == LZ_OK && x.dtype == d && x.shape.rank == shape.rank);
            touch(&x);
        }
    }
    lz_archive_close(a);
    return 0;
}
