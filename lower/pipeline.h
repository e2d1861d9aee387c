/* pipeline.h - the order of the passes. Threads: constant. */
#ifndef LZ_LOWER_PIPELINE_H
#define LZ_LOWER_PIPELINE_H
/* Names of passes.def in the order they run; NULL ends. */
extern const char *const lz_pipeline[];
#endif
