/* metricsgen.c - prints docs/reference/metrics.md from runtime/debug/metrics.def. A program of the
 * build: `make regen` runs it. */
#include <stdio.h>

int main(void)
{
    puts("# Metrics and counters\n\n"
         "Generated from `runtime/debug/metrics.def` by `make regen`. `lz_metrics_report` prints "
         "those "
         "that are not empty, in\n"
         "PyTorch/XLA's format; `XLA_METRICS_FILE` appends the report at each step; "
         "`lz_metric_data` and\n"
         "`lz_counter_value` give one. A metric keeps its last `XLA_METRICS_SAMPLES` samples for "
         "the rates and\n"
         "percentiles; its number of samples and its sum are over all.\n\n"
         "| metric | unit | one sample is |\n|---|---|---|");
#define TIME "time"
#define BYTES "bytes"
#define VALUE "number"
#define METRIC(name, unit, doc) puts("| `" #name "` | " unit " | " doc " |");
#include "runtime/debug/metrics.def"
    puts("\n| counter | counts |\n|---|---|");
#define COUNTER(name, doc) puts("| `" #name "` | " doc " |");
#include "runtime/debug/metrics.def"
    puts("| `xla::<op>` | Operations of that kind recorded. |");
    return 0;
}
