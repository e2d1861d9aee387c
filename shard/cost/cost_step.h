/* cost_step.h - the predicted time of a step, and of what: of a partitioned program, or of a
 * transformer that is only described.
 * Units: seconds, bytes, floating-point operations. Threads: thread-compatible. */
#ifndef LZ_SHARD_COST_COST_STEP_H
#define LZ_SHARD_COST_COST_STEP_H
#include "shard/cost/cost_model.h"
#include "shard/shard.h"

/* The collectives of one kind along the same axes. */
typedef struct lz_cost_use {
    lz_op kind;
    uint32_t axes;                /* factors of the mesh */
    double calls, bytes, seconds; /* bytes: that a device sends, by ring and pairwise algorithms */
} lz_cost_use;

typedef struct lz_cost_step {
    double seconds;                 /* = products + memory + exposed + bubble */
    double products, memory;        /* compute: products; kernels that read and write */
    double communication, exposed;  /* of all collectives; of it, what no compute hides */
    double bubble;                  /* a pipeline that fills and drains */
    double flops;                   /* of products, by one device */
    double model_flops;             /* by all together, what is computed again not counted */
    lz_cost_rate rate;              /* of most of them */
    double state_bytes, peak_bytes; /* of a device: what stays; with it, at most */
    LZ_VEC(lz_cost_use) uses;
    bool guessed; /* a loop whose trip count is not static counts once */
} lz_cost_step;
void lz_cost_step_free(lz_cost_step *s);
/* Adds `calls` collectives of *seconds each. */
lz_status lz_cost_step_add(lz_cost_step *s, const lz_cost_place *p, lz_op kind, uint32_t axes,
                           double bytes, double calls, double *seconds);
/* Adds what `from` does to what `to` does, but for its seconds, its bubble and its bytes. */
lz_status lz_cost_step_merge(lz_cost_step *to, const lz_cost_step *from);

/* ---- a program (cost_program.c) ---- */

/* f was partitioned (NULL: nobody has it, its operations are those of all devices), p->local is
 * what a device runs: its instructions one after the other, a kernel for each but elementwise ones
 * whose only use is another (they are fused); collectives by their own engine in their order, as
 * soon as their operands are there, before who needs them. Loops count as often as they run; of
 * branches the longer one counts, and it alone.
 * Errors: LZ_EUNSUPPORTED (the machine does not multiply that dtype), LZ_EINVAL, LZ_EMEM. */
lz_status lz_cost_program(const lz_cost_place *place, const lz_func *f, const lz_partitioned *p,
                          lz_cost_step *out);

/* ---- a transformer (transformer.c) ---- */

/* Decoder layers, trained in 16 bits with `state` bytes of each parameter besides (a master copy
 * and moments in f32: 12). Fields are whole numbers, so that a table reads them. */
typedef struct lz_transformer {
    int64_t layers, hidden, heads, seq, vocab, batch; /* batch: sequences of a step */
    int64_t kv_heads, head_dim, ff;                   /* 0: heads, hidden / heads, 4 hidden */
    int64_t gated;     /* the feed-forward layer has a third matrix (SwiGLU) */
    int64_t flash;     /* attention in one kernel, without the matrix of scores in memory */
    int64_t dropout;   /* masks are drawn, written and read */
    int64_t recompute; /* layers keep their input only, and run forward again */
    int64_t state;
} lz_transformer;

typedef struct lz_layout {
    int64_t data, fsdp, tensor, pipeline; /* devices along each; their product is all devices */
    int64_t micro_batch; /* sequences of a micro-batch, on a replica; 0: the fastest that fits */
    int64_t interleave;  /* chunks of layers of a stage */
    int64_t sequence;    /* what tensor parallelism leaves whole is cut, too */
} lz_layout;

/* What is written for a field, for readers of options and their messages. */
typedef struct lz_cost_field {
    const char *name;
    size_t offset;
    int64_t lo, hi, unsaid; /* unsaid < lo: it must be said */
} lz_cost_field;
extern const lz_cost_field lz_transformer_fields[]; /* ends with a name NULL */
extern const lz_cost_field lz_layout_fields[];

double lz_transformer_parameters(const lz_transformer *t);
int64_t lz_layout_devices(const lz_layout *l);
/* The mesh of the layout, ["pipeline", "data", "fsdp", "tensor"]. NULL with the error. */
const lz_mesh *lz_layout_mesh(const lz_layout *l);
/* A step: micro-batches through an interleaved 1F1B pipeline, the sum of gradients, the optimizer.
 * l->micro_batch 0 is replaced by what was chosen. Errors: LZ_EINVAL naming what does not divide
 * what, or the value that is out of range; LZ_EUNSUPPORTED (the machine has no 16-bit floats);
 * LZ_EMEM. */
lz_status lz_cost_transformer(const lz_cost_machine *c, const lz_transformer *t, lz_layout *l,
                              lz_cost_step *out);

/* ---- reports (cost_report.c) ---- */

/* The step as text, or as fields of an object of JSON; mesh and machine are those of place. */
lz_status lz_cost_report(const lz_cost_place *place, const lz_cost_step *s, bool json, lz_buf *out);
/* Shares of the peak: the model's operations, and all that are done. */
double lz_cost_utilisation(const lz_cost_place *place, const lz_cost_step *s);
double lz_cost_hardware_utilisation(const lz_cost_place *place, const lz_cost_step *s);
#endif
