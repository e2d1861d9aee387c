/* run.h - between the files of lazuli run. */
#ifndef LZ_TOOLS_LAZULI_RUN_H
#define LZ_TOOLS_LAZULI_RUN_H
#include "tools/lazuli/tool.h"

enum { RUN_MAX_INPUTS = 1024 };
typedef struct run_options {
    const char *file, *device, *output_dir, *compare, *trace, *entry;
    const char *input[RUN_MAX_INPUTS];
    int ninput;
    bool random, print_collectives;
    uint64_t seed, times, devices; /* devices: 0: one, and marks of shardings mean nothing */
    double rtol, atol;             /* negative: by dtype */
} run_options;

lz_status run_load_inputs(const run_options *o, const lz_func *f, lz_literal **in);
/* Results to where they are wanted; gives the exit code. */
int run_deliver(const run_options *o, lz_literal *const *out, uint32_t n);
/* run_devices.c: the program on o->devices partitions; gives the exit code. */
int run_on_devices(const run_options *o);
/* Whether this process writes the timeline: of several that spread devices the first one. */
bool run_traces(const run_options *o);
#endif
