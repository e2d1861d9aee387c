/* npy.c - literals in NumPy's .npy files, by the library's reader and writer. */
#include "tools/lazuli/tool.h"
#include "base/file_io.h"
#include "base/text.h"
#include "data/data_internal.h"
#include "ir/eval/agreement.h"
#include "runtime/exec/sync.h"
#include <inttypes.h>
#include <lazuli/data.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* The user of the command does not care which function of the library it was. */
static lz_status plain(lz_status s)
{
    if (s != LZ_OK)
        lz_error_annotate("", NULL);
    return s;
}

/* Formats that NumPy lacks, as the integers that hold their bits. Those of fewer than 8 bits are
 * checked to be numbers. */
static bool bits_of(lz_dtype want, lz_dtype have)
{
    return (want == LZ_BF16 || lz_dtype_is_storage(want) || lz_dtype_is_narrow(want)) &&
           lz_dtype_is_int(have) && lz_dtype_size(have) == lz_dtype_size(want);
}

/* Standard input may have no end: not more of it is read than its header says, but for the last
 * piece. */
static lz_status read_input(lz_buf *b)
{
    enum { HEAD = 12 + 65536 };
    static const char name[] = "standard input";
    lz_npy_head h;
    char *head = lz_alloc(HEAD);
    ssize_t n = head ? lz_file_read(STDIN_FILENO, head, HEAD) : 0;
    lz_status s = !head   ? LZ_FAIL(LZ_EMEM, "%s: no memory to read it", name)
                  : n < 0 ? LZ_FAIL(LZ_EIO, "%s: cannot be read: %m", name)
                          : lz_npy_parse_head((const uint8_t *)head, (size_t)n, name, &h);
    if (s == LZ_OK)
        lz_buf_put(b, head, (size_t)n);
    lz_free(head);
    if (s != LZ_OK || n < HEAD)
        return s;
    size_t whole = h.at + h.nbytes, most = whole > (size_t)n ? whole - (size_t)n : 0;
    return most ? lz_file_slurp_fd(STDIN_FILENO, name, most, b) : LZ_OK;
}

lz_status tool_npy_read(const char *path, lz_dtype want, lz_literal **out)
{
    lz_buf b = {0};
    lz_array a = {0};
    *out = NULL;
    lz_status s;
    if (strcmp(path, "-") == 0) {
        s = plain(read_input(&b));
        if (s == LZ_OK)
            s = plain(lz_npy_decode_at(b.data ? b.data : "", b.len, "standard input", &a, NULL));
    } else {
        s = plain(lz_npy_read_at(path, &a, NULL));
    }
    if (s == LZ_OK) {
        if (bits_of(want, a.dtype))
            a.dtype = want;
        s = lz_host_data_check(a.dtype, a.data, a.nbytes);
    }
    if (s == LZ_OK) {
        const lz_type *t = lz_type_get(a.dtype, &a.shape);
        *out = t ? lz_literal_copy_from(t, a.data) : NULL;
        s = *out ? LZ_OK : t ? LZ_EMEM : LZ_ESHAPE;
    }
    lz_array_free(&a);
    lz_buf_free(&b);
    return s;
}

lz_status tool_npy_write(const char *path, const lz_literal *l)
{
    const lz_array a = {l->type->dtype, l->type->shape, l->nbytes, l->data, NULL};
    return plain(lz_npy_write_at(path, &a, NULL));
}

static void print_number(FILE *f, lz_dtype d, const void *data, int64_t i)
{
    if (lz_dtype_is_float(d) || lz_dtype_is_storage(d)) {
        double v = lz_elem_get_f64(d, data, i);
        if (isnan(v))
            fputs("nan", f);
        else
            lz_fprintf(f, "%.*g", d == LZ_F64 ? 17 : 9, v);
    } else if (d == LZ_U64) {
        fprintf(f, "%" PRIu64, (uint64_t)lz_elem_get_i64(LZ_U64, data, i));
    } else {
        fprintf(f, "%" PRId64, lz_elem_get_i64(d, data, i));
    }
}

void tool_print_element(FILE *f, const lz_literal *l, int64_t i)
{
    lz_dtype part;
    if (lz_components(l->type, &part) == 1) {
        print_number(f, part, l->data, i);
        return;
    }
    fputc('(', f);
    print_number(f, part, l->data, 2 * i);
    fputc(',', f);
    print_number(f, part, l->data, 2 * i + 1);
    fputc(')', f);
}

void tool_print_literal(FILE *f, const lz_literal *l)
{
    enum { SHOWN = 64 };
    char type[96];
    fprintf(f, "%s", lz_type_short(l->type, type, sizeof type));
    int64_t row = l->type->shape.rank ? l->type->shape.dims[l->type->shape.rank - 1] : 1;
    for (int64_t i = 0; i < l->type->nelem && i < SHOWN; i++) {
        fputs(row && i % row == 0 ? "\n  " : " ", f);
        tool_print_element(f, l, i);
    }
    fprintf(f, "%s\n", l->type->nelem > SHOWN ? " ..." : "");
}
