/* simulate_cmd.h - lazuli shard --simulate: steps on paper. Threads: not for several. */
#ifndef LZ_TOOLS_LAZULI_SIMULATE_CMD_H
#define LZ_TOOLS_LAZULI_SIMULATE_CMD_H
#include "shard/auto/auto.h"

/* What the options say; NULL: not said. */
typedef struct simulate_options {
    const char *machine, *model, *layout;
    bool json;
} simulate_options;

/* False after a message: there is no such machine. */
bool simulate_knows(const simulate_options *o);
/* A device of the machine as the search for shardings has it: the rate of most of the parameters'
 * products, and the slowest link of the mesh. */
lz_auto_machine simulate_machine(const simulate_options *o, const lz_func *f, const lz_mesh *mesh);
/* The step of a program that was partitioned. */
lz_status simulate_program(const simulate_options *o, const lz_func *f, const lz_mesh *mesh,
                           const lz_partitioned *p, lz_buf *out);
/* That of one without marks: of one device, or, where collectives are in it, a partitioned program
 * already, of the mesh (NULL: a row of ndevice). */
lz_status simulate_local(const simulate_options *o, const lz_func *f, const lz_mesh *mesh,
                         int64_t ndevice, lz_buf *out);
/* That of a model that is only described; without a layout, tables of 8 to 4,096 devices. The exit
 * status, after messages. */
int simulate_model(const simulate_options *o);
#endif
