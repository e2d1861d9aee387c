/* plot.h - between the files of `lazuli plot`: scalars by step, of runs, as curves. */
#ifndef LZ_TOOLS_LAZULI_PLOT_H
#define LZ_TOOLS_LAZULI_PLOT_H
#include "base/hash.h"
#include "base/vec.h"
#include <stdbool.h>

typedef struct plot_point {
    int64_t step;
    double value, smooth; /* any value; smooth: of what was before, too */
    uint32_t order;       /* in which it was read */
} plot_point;
typedef struct plot_series {
    char *run, *name;
    LZ_VEC(plot_point) points; /* by step, each once, the last that was read */
} plot_series;
typedef struct plot_data {
    LZ_VEC(plot_series) list; /* those of one name beside each other */
    lz_map at;                /* number + 1, by run and name, while they are read */
} plot_data;

/* plot_read.c: a file of JSON lines or of TensorBoard's events, or a folder: its scalars.jsonl or
 * else its events, and those of the folders in it. LZ_EPARSE, LZ_ENOENT, LZ_EIO, LZ_EMEM. */
lz_status plot_read(plot_data *d, const char *path);
/* Sorts; keeps names of the list (commas between; NULL: all); smooths by a weight in [0, 1) of what
 * was before (TensorBoard's, without its bias). LZ_ENOENT: nothing is left; LZ_EMEM. */
lz_status plot_finish(plot_data *d, const char *names, double weight);
void plot_free(plot_data *d);

/* Of a chart: series [from, to) of the list, which have one name. */
typedef struct plot_range {
    uint32_t from, to;
    int64_t first, last; /* steps */
    double lo, hi;       /* of finite values, above 0 where the axis is logarithmic; lo < hi */
    bool log;
    uint64_t strange; /* values that have no place */
} plot_range;
/* The next chart at *at, which is then behind it. */
bool plot_next(const plot_data *d, uint32_t *at, bool log, plot_range *out);
/* Where a value is between lo (0) and hi (1); NaN: nowhere. */
double plot_place(const plot_range *r, double value);
/* NaN is below nothing, and all else is below it. */
static inline bool plot_is_below(double a, double b)
{
    return a < b || (b != b && a == a);
}
/* About n round marks from lo to hi, at least `apart` from each other; how many. */
enum { PLOT_MARKS = 16 };
uint32_t plot_round_marks(double lo, double hi, int n, double apart, double out[PLOT_MARKS]);

/* plot_svg.c, plot_text.c */
void plot_put_svg(const plot_data *d, bool log, bool smooth, lz_buf *out);
typedef struct plot_text_options {
    int columns, rows; /* of a chart */
    bool log, smooth, colour, utf8;
} plot_text_options;
lz_status plot_put_text(const plot_data *d, const plot_text_options *o, lz_buf *out);
#endif
