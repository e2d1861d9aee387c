/* metricgen.c - prints docs/metrics.md from runtime/metrics.def. A program of the build: `make regen` runs it. */
#include <stdio.h>

typedef struct row {
    const char *name, *unit, *doc;
} row;

static const row metrics[] = {
#define METRIC(name, unit, doc) {#name, #unit, doc},
#include "runtime/metrics.def"
};
static const row counters[] = {
#define COUNTER(name, doc) {#name, "", doc},
#include "runtime/metrics.def"
};

static const char *unit_text(const char *unit)
{
    return unit[0] == 'T' ? "time" : unit[0] == 'B' ? "bytes" : "number";
}

int main(void)
{
    puts("# Metrics and counters\n\n"
         "Generated from `runtime/metrics.def` by `make regen`. Names are PyTorch/XLA's where it "
         "has "
         "them. How to read them:\n[debugging.md](debugging.md#metrics).\n\n"
         "## Metrics\n\n"
         "A metric keeps the number and the sum of all its samples, and the last "
         "`XLA_METRICS_SAMPLES` of them. Times are in\nnanoseconds where a program reads them "
         "(`lz_metric_data`).\n\n"
         "| metric | of | meaning |\n|---|---|---|");
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        printf("| `%s` | %s | %s |\n", metrics[i].name, unit_text(metrics[i].unit), metrics[i].doc);
    puts("\n## Counters\n\n"
         "Besides these, `xla::<op>` counts how often each operation was recorded. A counter that "
         "is 0 "
         "is not in the report.\n\n"
         "| counter | meaning |\n|---|---|");
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        printf("| `%s` | %s |\n", counters[i].name, counters[i].doc);
    return 0;
}
