/* f_npz.c - a .npz file from a hostile place: every array that it lists is asked for and read. */
#include "fuzz/arrays.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lz_archive *a = lz_archive_new("input", true);
    must(a != NULL);
    lz_status s = lz_zip_parse(a, (lz_view){data, size, NULL});
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
