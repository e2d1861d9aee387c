/* f_csv.c - numbers in text from a hostile place, read as several dtypes. */
#include "fuzz/arrays.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const lz_dtype dtypes[] = {LZ_F32, LZ_F64, LZ_I8, LZ_I64, LZ_U16, LZ_U64};
    static const char delimiters[] = {',', ' ', '\t'};
    lz_csv_options o = {.struct_size = sizeof o, .skip_lines = size % 3 == 2};
    o.dtype = dtypes[size % 6];
    o.delimiter = delimiters[size % 3];
    lz_array a = {0};
    if (lz_csv_parse((const char *)data, size, "input", &o, &a) == LZ_OK)
        touch(&a);
    must(!a.data);
    return 0;
}
