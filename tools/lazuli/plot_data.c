/* plot_data.c - series that were read, as charts want them: by step, smoothed, chosen by name; and
 * the axes of a chart. */
#include "tools/lazuli/plot.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_step(const void *x, const void *y)
{
    const plot_point *a = x, *b = y;
    if (a->step != b->step)
        return a->step < b->step ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static void sort_points(plot_series *s)
{
    uint32_t n = 0;
    if (s->points.len)
        qsort(s->points.data, s->points.len, sizeof *s->points.data, by_step);
    for (uint32_t i = 0; i < s->points.len; i++)
        if (i + 1 == s->points.len || s->points.data[i].step != s->points.data[i + 1].step)
            s->points.data[n++] = s->points.data[i];
    s->points.len = n;
}

static void smooth(plot_series *s, double weight)
{
    double sum = 0, all = 0;
    for (uint32_t i = 0; i < s->points.len; i++) {
        plot_point *p = &s->points.data[i];
        p->smooth = p->value;
        if (!isfinite(p->value))
            continue;
        sum = sum * weight + (1 - weight) * p->value;
        all = all * weight + (1 - weight);
        p->smooth = sum / all;
    }
}

static bool is_in(const char *list, const char *name)
{
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        size_t n = strcspn(at, ",");
        if (n == strlen(name) && memcmp(at, name, n) == 0)
            return true;
    }
    return list == NULL;
}

static void free_series(plot_series *s)
{
    lz_free(s->run);
    lz_free(s->name);
    lz_vec_free(&s->points);
}

static int by_name(const void *x, const void *y)
{
    const plot_series *a = x, *b = y;
    int c = strcmp(a->name, b->name);
    return c ? c : strcmp(a->run, b->run);
}

lz_status plot_finish(plot_data *d, const char *names, double weight)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->list.len; i++) {
        if (is_in(names, d->list.data[i].name))
            d->list.data[n++] = d->list.data[i];
        else
            free_series(&d->list.data[i]);
    }
    d->list.len = n;
    if (n == 0)
        return names ? LZ_FAIL(LZ_ENOENT, "there is no scalar of the name %s", names)
                     : LZ_FAIL(LZ_ENOENT, "there are no scalars");
    qsort(d->list.data, n, sizeof *d->list.data, by_name);
    for (uint32_t i = 0; i < n; i++) {
        sort_points(&d->list.data[i]);
        smooth(&d->list.data[i], weight);
    }
    return LZ_OK;
}

void plot_free(plot_data *d)
{
    for (uint32_t i = 0; i < d->list.len; i++)
        free_series(&d->list.data[i]);
    lz_vec_free(&d->list);
    lz_map_free(&d->at);
}

/* ---- axes ---- */

static void include(plot_range *r, const plot_point *p)
{
    r->first = p->step < r->first ? p->step : r->first;
    r->last = p->step > r->last ? p->step : r->last;
    if (!isfinite(p->value) || (r->log && p->value <= 0)) {
        r->strange++;
        return;
    }
    r->lo = p->value < r->lo ? p->value : r->lo;
    r->hi = p->value > r->hi ? p->value : r->hi;
}

/* Values that are equal, or none at all. */
static void widen(plot_range *r)
{
    if (r->lo > r->hi) {
        r->lo = r->log ? 0.1 : 0;
        r->hi = 1;
    }
    if (r->lo == r->hi) {
        double by = r->log ? r->lo / 2 : fmax(fabs(r->lo) / 10, 1e-300);
        r->lo = fmax(r->lo - by, r->log ? DBL_TRUE_MIN : -DBL_MAX);
        r->hi = fmin(r->hi + fmax(by, DBL_TRUE_MIN), DBL_MAX);
    }
    if (!isfinite(r->hi - r->lo)) { /* nearly all numbers there are */
        r->lo /= 2;
        r->hi /= 2;
    }
}

bool plot_next(const plot_data *d, uint32_t *at, bool log, plot_range *out)
{
    if (*at >= d->list.len)
        return false;
    *out = (plot_range){*at, *at, INT64_MAX, INT64_MIN, INFINITY, -INFINITY, log, 0};
    const char *name = d->list.data[*at].name;
    while (out->to < d->list.len && strcmp(d->list.data[out->to].name, name) == 0) {
        const plot_series *s = &d->list.data[out->to++];
        for (uint32_t i = 0; i < s->points.len; i++)
            include(out, &s->points.data[i]);
    }
    *at = out->to;
    widen(out);
    return true;
}

double plot_place(const plot_range *r, double value)
{
    if (!isfinite(value) || (r->log && value <= 0))
        return NAN;
    double x = !r->log                   ? (value - r->lo) / (r->hi - r->lo)
               : isfinite(r->hi / r->lo) ? log(value / r->lo) / log(r->hi / r->lo)
                                         : (log(value) - log(r->lo)) / (log(r->hi) - log(r->lo));
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

static double round_step(double lo, double hi, int n)
{
    double rough = (hi - lo) / n, power = pow(10, floor(log10(rough))), of = rough / power;
    return (of < 1.5 ? 1 : of < 3.5 ? 2 : of < 7.5 ? 5 : 10) * power;
}

/* Where numbers are so close, or so small, that the next mark is the same number, there are fewer;
 * so counting marks, not adding to one, ends it. */
uint32_t plot_round_marks(double lo, double hi, int n, double apart, double out[PLOT_MARKS])
{
    double step = hi > lo ? fmax(apart, round_step(lo, hi, n)) : apart;
    double first = ceil(lo / step), last = floor(hi / step);
    uint32_t count = 0;
    if (!(step > 0) || !isfinite(first) || !isfinite(last))
        return 0;
    for (int i = 0; i < PLOT_MARKS && first + i <= last; i++) {
        double at = (first + i) * step;
        if (count == 0 || at > out[count - 1])
            out[count++] = at;
    }
    return count;
}
