/* transformer.c - the step of a transformer that is only described, on paper. See cost_step.h.
 *
 * Products and bytes of a layer are counted as its kernels are usually written: bias, activation,
 * dropout and residual fused (Narayanan et al., arXiv:2104.04473, 5.9), what is kept for the
 * backward pass as in Korthikanti et al., arXiv:2205.05198. A product costs twice as much backward;
 * kernels that only read and write, half as much again. Tensor parallelism is Megatron's: two sums
 * of the activations in a layer and pass, each an all_reduce, or a reduce_scatter and an all_gather
 * of the same bytes where `sequence` cuts the rest, too. FSDP gathers a layer in both passes and
 * scatters its gradients. */
#include "shard/cost/cost_step.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { ELEMENT = 2 }; /* bytes: parameters, gradients and activations are of 16 bits */

#define FIELD(type, name, lo, hi, unsaid)                                                          \
    {                                                                                              \
#name, offsetof(type, name), lo, hi, unsaid                                                \
    }
enum { MOST = 1 << 20, FLAG = 1 };
const lz_cost_field lz_transformer_fields[] = {FIELD(lz_transformer, layers, 1, MOST, 0),
                                               FIELD(lz_transformer, hidden, 1, MOST, 0),
                                               FIELD(lz_transformer, heads, 1, MOST, 0),
                                               FIELD(lz_transformer, seq, 1, INT64_C(1) << 30, 0),
                                               FIELD(lz_transformer, vocab, 1, INT64_C(1) << 30, 0),
                                               FIELD(lz_transformer, batch, 1, INT64_C(1) << 30, 0),
                                               FIELD(lz_transformer, kv_heads, 0, MOST, 0),
                                               FIELD(lz_transformer, head_dim, 0, MOST, 0),
                                               FIELD(lz_transformer, ff, 0, INT64_C(1) << 30, 0),
                                               FIELD(lz_transformer, gated, 0, FLAG, 0),
                                               FIELD(lz_transformer, flash, 0, FLAG, 0),
                                               FIELD(lz_transformer, dropout, 0, FLAG, 0),
                                               FIELD(lz_transformer, recompute, 0, FLAG, 0),
                                               FIELD(lz_transformer, state, 0, 64, 12),
                                               {0}};
const lz_cost_field lz_layout_fields[] = {FIELD(lz_layout, data, 1, LZ_MESH_DEVICES, 1),
                                          FIELD(lz_layout, fsdp, 1, LZ_MESH_DEVICES, 1),
                                          FIELD(lz_layout, tensor, 1, LZ_MESH_DEVICES, 1),
                                          FIELD(lz_layout, pipeline, 1, LZ_MESH_DEVICES, 1),
                                          FIELD(lz_layout, micro_batch, 0, INT64_C(1) << 30, 0),
                                          FIELD(lz_layout, interleave, 1, MOST, 1),
                                          FIELD(lz_layout, sequence, 0, FLAG, 0),
                                          {0}};
#undef FIELD

/* The extents of a layer, as doubles. */
typedef struct extents {
    double layers, h, q, kv, hd, heads, ff, up, s, vocab; /* q, kv: of all heads; up: 1, gated 2 */
    double weights;                                       /* of a layer */
} extents;

static extents extents_of(const lz_transformer *t)
{
    extents e = {.layers = (double)t->layers,
                 .h = (double)t->hidden,
                 .heads = (double)t->heads,
                 .s = (double)t->seq,
                 .vocab = (double)t->vocab,
                 .up = t->gated ? 2 : 1};
    e.hd = (double)(t->head_dim ? t->head_dim : t->hidden / t->heads);
    e.q = e.heads * e.hd;
    e.kv = (double)(t->kv_heads ? t->kv_heads : t->heads) * e.hd;
    e.ff = t->ff ? (double)t->ff : 4 * e.h;
    e.weights = 2 * e.h * (e.q + e.kv) + (e.up + 1) * e.h * e.ff;
    return e;
}

double lz_transformer_parameters(const lz_transformer *t)
{
    extents e = extents_of(t);
    return e.layers * e.weights + e.vocab * e.h;
}

int64_t lz_layout_devices(const lz_layout *l)
{
    int64_t n = 1, sizes[] = {l->data, l->fsdp, l->tensor, l->pipeline};
    for (int i = 0; i < 4; i++)
        if (__builtin_mul_overflow(n, sizes[i], &n))
            return INT64_MAX;
    return n;
}

enum { PIPELINE, DATA, FSDP, TENSOR, NAXIS };

const lz_mesh *lz_layout_mesh(const lz_layout *l)
{
    static const char *const names[NAXIS] = {"pipeline", "data", "fsdp", "tensor"};
    const int64_t sizes[NAXIS] = {l->pipeline, l->data, l->fsdp, l->tensor};
    lz_mesh_axis axes[NAXIS];
    for (int a = 0; a < NAXIS; a++) {
        axes[a] = (lz_mesh_axis){lz_string_get(names[a], strlen(names[a])), sizes[a]};
        if (!axes[a].name)
            return NULL;
    }
    return lz_mesh_get(axes, NAXIS, NULL);
}

/* ---- what a pass through a layer takes ---- */

typedef struct pass {
    double products, memory, flops; /* seconds, seconds, operations */
    double kept;                    /* bytes, for the backward pass */
    double sums;                    /* collectives of the activations, each half of an all_reduce */
} pass;

typedef struct model {
    const lz_cost_machine *c;
    const lz_transformer *t;
    const lz_layout *l;
    extents e;
    lz_cost_place place;
    uint32_t axes[NAXIS]; /* factors of the mesh */
    double tokens;        /* of a micro-batch */
    double stages;
    double micro_batches;
    lz_cost_step *out;
} model;

static double of_tensor(const model *x, double n)
{
    return ceil(n / (double)x->l->tensor);
}

/* A product, and with `backward` the two of its operands' gradients. */
static void product(const model *x, pass *p, bool backward, double batch, double m, double n,
                    double k)
{
    double bytes = ELEMENT * batch * (m * k + k * n + m * n);
    if (!backward) {
        p->products += lz_cost_product(x->c, LZ_RATE_F16, batch, m, n, k, bytes);
    } else {
        p->products += lz_cost_product(x->c, LZ_RATE_F16, batch, m, k, n, bytes);
        p->products += lz_cost_product(x->c, LZ_RATE_F16, batch, k, n, m, bytes);
    }
    p->flops += (backward ? 4 : 2) * batch * m * n * k;
}

/* A kernel that reads and writes so many bytes. */
static void moves(const model *x, pass *p, bool backward, double bytes)
{
    p->memory += lz_cost_memory(x->c, (backward ? 1.5 : 1) * bytes);
}

/* The matrix of scores in memory: two products, and kernels between them. */
static void plain_attention(const model *x, pass *p, bool backward, double batch)
{
    const extents *e = &x->e;
    double scores = batch * e->s * e->s;
    product(x, p, backward, batch, e->s, e->s, e->hd);
    moves(x, p, backward, 2 * ELEMENT * scores); /* scale, mask, softmax */
    p->kept += ELEMENT * scores;
    if (x->t->dropout) {
        moves(x, p, backward, (2 * ELEMENT + 1) * scores);
        p->kept += (ELEMENT + 1) * scores;
    }
    product(x, p, backward, batch, e->s, e->hd, e->s);
}

static void attention(const model *x, pass *p, bool backward)
{
    const extents *e = &x->e;
    double batch = x->tokens / e->s * of_tensor(x, e->heads);
    double one = 2 * batch * e->s * e->s * e->hd, bytes = 4 * batch * e->s * e->hd * ELEMENT;
    if (!x->t->flash) {
        plain_attention(x, p, backward, batch);
        return;
    }
    double flops = (backward ? 5 : 2) * one; /* backward, the scores are formed again */
    p->products += lz_cost_attention(x->c, LZ_RATE_F16, flops, backward ? 2 * bytes : bytes);
    p->flops += flops;
}

static pass layer(const model *x, bool backward)
{
    const extents *e = &x->e;
    pass p = {.sums = 4};
    double tokens = x->tokens, heads = of_tensor(x, e->q), kv = of_tensor(x, e->kv);
    double ff = of_tensor(x, e->ff), act = tokens * e->h * ELEMENT;
    double whole = x->l->sequence ? act / (double)x->l->tensor : act;
    double mask = x->t->dropout ? whole / ELEMENT : 0;
    product(x, &p, backward, 1, tokens, heads + 2 * kv, e->h);
    moves(x, &p, backward, 2 * tokens * (heads + 2 * kv) * ELEMENT); /* heads apart, positions */
    attention(x, &p, backward);
    product(x, &p, backward, 1, tokens, e->h, heads);
    product(x, &p, backward, 1, tokens, e->up * ff, e->h);
    moves(x, &p, backward, (e->up + 1) * tokens * ff * ELEMENT); /* bias, activation */
    product(x, &p, backward, 1, tokens, e->h, ff);
    for (int i = 0; i < 2; i++) {
        moves(x, &p, backward, 2 * whole);        /* norm */
        moves(x, &p, backward, 3 * whole + mask); /* bias, dropout, residual */
    }
    p.kept += 4 * whole + 2 * mask + tokens * (2 * heads + 2 * kv + (e->up + 1) * ff) * ELEMENT;
    return p;
}

/* The head: logits and their softmax, in f32, forward and backward. */
static pass head(const model *x)
{
    pass p = {.sums = 2};
    double vocab = of_tensor(x, x->e.vocab), logits = x->tokens * vocab;
    product(x, &p, false, 1, x->tokens, vocab, x->e.h);
    product(x, &p, true, 1, x->tokens, vocab, x->e.h);
    moves(x, &p, false, 4 * 4 * logits);
    p.kept = (4 + ELEMENT) * logits;
    return p;
}

/* ---- the step ---- */

/* Collectives that products wait for: exposed but for what goes in pieces. */
static lz_status wait(model *x, lz_op kind, int axis, double bytes, double calls, double *exposed)
{
    double t;
    LZ_TRY(lz_cost_step_add(x->out, &x->place, kind, x->axes[axis], bytes, calls, &t));
    *exposed += calls * t * (1 - x->c->hide_own);
    return LZ_OK;
}

/* Collectives that run behind `compute`, as far as that goes. */
static lz_status behind(model *x, lz_op kind, int axis, double bytes, double calls, double compute,
                        double *exposed)
{
    double t;
    LZ_TRY(lz_cost_step_add(x->out, &x->place, kind, x->axes[axis], bytes, calls, &t));
    *exposed += calls * t - fmin(calls * t * x->c->hide, compute);
    return LZ_OK;
}

/* What tensor parallelism sums in `halves` halves of an all_reduce. */
static lz_status sum_activations(model *x, double halves, double calls, double *exposed)
{
    double bytes = x->tokens * x->e.h * ELEMENT;
    if (!x->l->sequence)
        return wait(x, LZ_OP_ALL_REDUCE, TENSOR, bytes, halves / 2 * calls, exposed);
    LZ_TRY(wait(x, LZ_OP_ALL_GATHER, TENSOR, bytes, halves / 2 * calls, exposed));
    return wait(x, LZ_OP_REDUCE_SCATTER, TENSOR, bytes, halves / 2 * calls, exposed);
}

/* Adds `times` such passes to the step. */
static void add(model *x, const pass *p, double times)
{
    x->out->products += times * p->products;
    x->out->memory += times * p->memory;
    x->out->flops += times * p->flops;
}

/* What of a layer's weights FSDP moves: all, or, where the batch of the whole group is smaller than
 * the matrices it meets, the batch is moved to them (docs/spmd.md, FSDP). */
static double batch_or_weights(const model *x)
{
    return fmin(1, x->tokens * (double)x->l->fsdp / x->e.h);
}

/* All layers of a stage and all micro-batches, the longest stage: the last one, which has the
 * head. */
static lz_status add_layers(model *x, const pass *f, const pass *b, const pass *last)
{
    double layers = x->e.layers / x->stages, times = layers * x->micro_batches;
    double passes = x->t->recompute ? 2 : 1, exposed = 0;
    double weights = x->e.weights / (double)x->l->tensor * ELEMENT * batch_or_weights(x);
    double forward = times * (f->products + f->memory),
           backward = times * (b->products + b->memory);
    add(x, f, times * passes);
    add(x, b, times);
    add(x, last, x->micro_batches);
    LZ_TRY(sum_activations(x, passes * f->sums + b->sums, times, &exposed));
    LZ_TRY(sum_activations(x, last->sums, x->micro_batches, &exposed));
    LZ_TRY(behind(x, LZ_OP_ALL_GATHER, FSDP, weights, times, forward, &exposed));
    backward += forward * (passes - 1);
    LZ_TRY(behind(x, LZ_OP_ALL_GATHER, FSDP, weights, times, backward / 2, &exposed));
    LZ_TRY(behind(x, LZ_OP_REDUCE_SCATTER, FSDP, weights, times, backward / 2, &exposed));
    double table = x->e.vocab * x->e.h / (double)x->l->tensor * ELEMENT;
    double head_time = x->micro_batches * (last->products + last->memory) / 2;
    LZ_TRY(behind(x, LZ_OP_ALL_GATHER, FSDP, table, x->micro_batches, head_time, &exposed));
    LZ_TRY(behind(x, LZ_OP_REDUCE_SCATTER, FSDP, table, x->micro_batches, head_time, &exposed));
    x->out->exposed += exposed;
    return LZ_OK;
}

/* Activations to the next stage and back, a part from each device of the tensor group. */
static lz_status add_stages(model *x)
{
    double sends = 2 * x->micro_batches * (double)x->l->interleave;
    double bytes = x->tokens * x->e.h * ELEMENT;
    if (x->stages <= 1)
        return LZ_OK;
    LZ_TRY(wait(x, LZ_OP_COLLECTIVE_PERMUTE, PIPELINE, bytes / (double)x->l->tensor, sends,
                &x->out->exposed));
    return x->l->sequence ? LZ_OK
                          : wait(x, LZ_OP_ALL_GATHER, TENSOR, bytes, sends, &x->out->exposed);
}

/* Parameters that a device has a part of, before FSDP cuts them. */
static double stage_parameters(const model *x)
{
    return (x->e.layers / x->stages * x->e.weights + x->e.vocab * x->e.h) / (double)x->l->tensor;
}

static lz_status add_update(model *x, double backward)
{
    double mine = stage_parameters(x) / (double)x->l->fsdp;
    LZ_TRY(behind(x, LZ_OP_ALL_REDUCE, DATA, mine * ELEMENT, 1, backward, &x->out->exposed));
    /* the optimizer reads gradient and state, and writes state and parameter */
    x->out->memory += lz_cost_memory(x->c, mine * (2 * ELEMENT + 2 * (double)x->t->state));
    return LZ_OK;
}

static void count_memory(model *x, const pass *f, const pass *last)
{
    double mine = stage_parameters(x), layers = x->e.layers / x->stages;
    double act = x->tokens * x->e.h * ELEMENT / (x->l->sequence ? (double)x->l->tensor : 1);
    double in_flight =
        fmin(x->micro_batches,
             x->stages + (x->stages > 1 ? (x->stages - 1) / (double)x->l->interleave : 0));
    double kept = x->t->recompute ? act : f->kept;
    double gathered = x->l->fsdp > 1 ? 2 * x->e.weights / (double)x->l->tensor * ELEMENT : 0;
    x->out->state_bytes = mine / (double)x->l->fsdp * (2 * ELEMENT + (double)x->t->state);
    x->out->peak_bytes = x->out->state_bytes + gathered + layers * in_flight * kept +
                         (x->t->recompute ? f->kept : 0) + last->kept;
}

static lz_status step(model *x)
{
    pass f = layer(x, false), b = layer(x, true), last = head(x);
    lz_cost_step *o = x->out;
    LZ_TRY(add_layers(x, &f, &b, &last));
    LZ_TRY(add_stages(x));
    double steady = o->products + o->memory + o->exposed;
    o->bubble = steady / x->micro_batches * lz_cost_bubble(x->stages, (double)x->l->interleave);
    LZ_TRY(add_update(x, x->e.layers / x->stages * (b.products + b.memory)));
    count_memory(x, &f, &last);
    double shards = (double)(x->l->data * x->l->fsdp);
    double tokens = x->tokens * x->micro_batches * shards;
    o->model_flops =
        tokens * (6 * lz_transformer_parameters(x->t) + 12 * x->e.layers * x->e.s * x->e.q);
    o->rate = LZ_RATE_F16;
    o->seconds = o->products + o->memory + o->exposed + o->bubble;
    return LZ_OK;
}

/* ---- what may be asked ---- */

static lz_status check(const void *record, const lz_cost_field *f, const char *what)
{
    for (; f->name; f++) {
        int64_t v = *(const int64_t *)(const void *)((const char *)record + f->offset);
        if (v < f->lo || v > f->hi)
            return LZ_FAIL(LZ_EINVAL, "%s: %s %" PRId64 " is not between %" PRId64 " and %" PRId64,
                           what, f->name, v, f->lo, f->hi);
    }
    return LZ_OK;
}

static lz_status divides(const char *what, int64_t n, const char *by, int64_t d)
{
    return n % d == 0 ? LZ_OK
                      : LZ_FAIL(LZ_EINVAL, "%" PRId64 " %s are not divided by %" PRId64 " %s", n,
                                what, d, by);
}

static lz_status check_all(const lz_transformer *t, const lz_layout *l)
{
    LZ_TRY(check(t, lz_transformer_fields, "model"));
    LZ_TRY(check(l, lz_layout_fields, "layout"));
    if (lz_layout_devices(l) > LZ_MESH_DEVICES)
        return LZ_FAIL(LZ_EINVAL, "layout: more than %d devices", LZ_MESH_DEVICES);
    if (!t->head_dim)
        LZ_TRY(divides("of hidden", t->hidden, "heads", t->heads));
    LZ_TRY(divides("heads", t->heads, "kv_heads", t->kv_heads ? t->kv_heads : 1));
    LZ_TRY(divides("sequences", t->batch, "replicas (data x fsdp)", l->data * l->fsdp));
    LZ_TRY(divides("sequences of a replica", t->batch / (l->data * l->fsdp), "of a micro_batch",
                   l->micro_batch ? l->micro_batch : 1));
    if (l->tensor > t->heads)
        return LZ_FAIL(LZ_EINVAL, "tensor is %" PRId64 ", more than %" PRId64 " heads", l->tensor,
                       t->heads);
    if (l->interleave > 1 && l->pipeline == 1)
        return LZ_FAIL(LZ_EINVAL, "interleave needs a pipeline");
    int64_t chunks = l->pipeline * l->interleave;
    return divides("layers", t->layers, "stages (pipeline x interleave)", chunks);
}

static lz_status predict(const lz_cost_machine *c, const lz_transformer *t, const lz_layout *l,
                         const lz_mesh *mesh, lz_cost_step *out)
{
    model x = {.c = c, .t = t, .l = l, .e = extents_of(t), .out = out};
    lz_cost_step_free(out);
    lz_cost_place_mesh(c, mesh, &x.place);
    for (int k = 0; k < mesh->nfactor; k++)
        x.axes[mesh->factors[k].axis] |= UINT32_C(1) << k;
    x.tokens = (double)l->micro_batch * x.e.s;
    x.stages = (double)l->pipeline;
    x.micro_batches = (double)(t->batch / (l->data * l->fsdp) / l->micro_batch);
    return step(&x);
}

/* The largest micro-batches first: the fastest that fits; where none does, that of a sequence. */
static lz_status choose(const lz_cost_machine *c, const lz_transformer *t, lz_layout *l,
                        const lz_mesh *mesh, lz_cost_step *out)
{
    int64_t replica = t->batch / (l->data * l->fsdp), best = 1;
    double fastest = INFINITY;
    for (int64_t n = 1; n <= replica && n <= 1024; n++) {
        lz_layout with = *l;
        with.micro_batch = n;
        if (replica % n != 0)
            continue;
        LZ_TRY(predict(c, t, &with, mesh, out));
        if (out->peak_bytes > c->memory)
            break;
        if (out->seconds < fastest) {
            fastest = out->seconds;
            best = n;
        }
    }
    l->micro_batch = best;
    return predict(c, t, l, mesh, out);
}

lz_status lz_cost_transformer(const lz_cost_machine *c, const lz_transformer *t, lz_layout *l,
                              lz_cost_step *out)
{
    *out = (lz_cost_step){0};
    LZ_TRY(check_all(t, l));
    if (!(c->flop_s[LZ_RATE_F16] > 0))
        return LZ_FAIL(LZ_EUNSUPPORTED, "%s has no products of 16-bit floats", c->name);
    const lz_mesh *mesh = lz_layout_mesh(l);
    if (!mesh)
        return lz_error_get()->status;
    return l->micro_batch ? predict(c, t, l, mesh, out) : choose(c, t, l, mesh, out);
}
