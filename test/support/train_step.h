/* train_step.h - steps of training as functions of the IR, forward, backward and update, for tests
 * of what is done to whole programs: multilayer perceptrons, attention, transformers, mixtures of
 * experts. A tape records the forward pass; products are einsums, whose gradients are einsums.
 * Threads: thread-compatible. */
#ifndef LZ_TEST_TRAIN_STEP_H
#define LZ_TEST_TRAIN_STEP_H
#include "ir/module.h"

enum { LZ_STEP_PARAMS = 128, LZ_STEP_OPS = 1024 };

typedef struct lz_step_op {
    char kind; /* 'e'insum, 't'anh, 'x': exponential, '+', '*', '/', 's'pread */
    lz_val out, a, b;
    char text[48];
} lz_step_op;

typedef struct lz_step {
    lz_func *f;
    bool momentum; /* states of an optimizer, too */
    lz_val weight[LZ_STEP_PARAMS], state[LZ_STEP_PARAMS];
    int nweight, nop;
    lz_step_op op[LZ_STEP_OPS];
} lz_step;

void lz_step_begin(lz_step *s, bool momentum);
/* Dimensions end with 0. Weights and inputs come before all else. */
lz_val lz_step_weight(lz_step *s, const int64_t *dims);
lz_val lz_step_input(lz_step *s, const int64_t *dims);
/* "bsd,dhk->bshk" */
lz_val lz_step_einsum(lz_step *s, const char *text, lz_val a, lz_val b);
lz_val lz_step_op1(lz_step *s, char kind, lz_val a);
lz_val lz_step_op2(lz_step *s, char kind, lz_val a, lz_val b);
/* "d->bsd": a along new dimensions, of like's type */
lz_val lz_step_spread(lz_step *s, const char *text, lz_val a, lz_val like);
/* Over the last dimension of "bhst". */
lz_val lz_step_softmax(lz_step *s, const char *labels, lz_val a);
/* The loss, a sum of squares, with its gradients and new weights: results are the loss, weights,
 * states. NULL with an error. */
lz_func *lz_step_end(lz_step *s, lz_val out);

/* ---- whole models ---- */
lz_func *lz_step_mlp(int layers, int64_t rows, int64_t width, bool momentum);
lz_func *lz_step_attention(int64_t batch, int64_t length, int64_t width, int64_t heads);
lz_func *lz_step_gpt(int layers, int64_t batch, int64_t length, int64_t width, int64_t heads,
                     int64_t words, bool momentum);
lz_func *lz_step_experts(int64_t rows, int64_t width, int64_t experts, int64_t capacity);
#endif
