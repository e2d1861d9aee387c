/* launcher.h - which of how many processes this one is, as the launcher that started it says in the
 * environment: launchers.def. Nothing is opened or loaded.
 * Threads: thread-safe. */
#ifndef LZ_BACKENDS_DISTRIBUTED_LAUNCHER_H
#define LZ_BACKENDS_DISTRIBUTED_LAUNCHER_H
#include "base/status.h"

typedef enum lz_launcher {
    LZ_LAUNCHER_NONE, /* the process is alone */
#define LZ_LAUNCHER(id, ...) LZ_LAUNCHER_##id,
#include "backends/distributed/launchers.def"
#undef LZ_LAUNCHER
    LZ_LAUNCHER_COUNT
} lz_launcher;

enum { LZ_PROCESSES_MAX = 1024 };

typedef struct lz_process_info {
    lz_launcher launcher;
    int index, count;                         /* rank and size; 0 of 1 where it is alone */
    int local_index, local_count, host_index; /* -1: the launcher does not say */
    char address[256];                        /* of rank 0, where it is not alone */
    int port;
    uint64_t job; /* equal in all processes of the job */
} lz_process_info;

/* Reads the environment. LZ_EINVAL names the variable that is not a number, or does not fit the
 * others. */
lz_status lz_process_info_read(lz_process_info *out);
/* The same as it was at the first call; the error too. */
lz_status lz_process_info_get(const lz_process_info **out);
/* "Open MPI"; what LAZULI_LAUNCHER calls it. NULL past the end. */
const char *lz_launcher_name(lz_launcher l);
const char *lz_launcher_option(lz_launcher l);
/* Row l of the table, for documentation: its variables, NULL at the end of the list. */
const char *const *lz_launcher_variables(lz_launcher l);
/* Whether collectives go on beside compute, which plans of several devices depend on: those of one
 * process are loops over its memory. */
bool lz_collectives_overlap(void);
#endif
