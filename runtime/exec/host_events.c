/* host_events.c - what a call of a function does on the host (runtime/graph/function_trace.h), and
 * the random stream: each operation gets a state to start from, in loops one per iteration, now or
 * in each call. */
#include "runtime/graph/function_trace.h"
#include "runtime/graph/trace_builder.h"
#include "runtime/region/region_trace.h"
#include <string.h>

/* ---- the random stream ---- */

lz_node *lz_recording_draw(const lz_thread_state *t, lz_dev *dev, uint64_t blocks,
                           const lz_site *site)
{
    static const lz_shape pair = {.rank = 1, .dims = {2}};
    const lz_type *type = lz_type_get(LZ_U64, &pair);
    lz_function_trace *f = type ? lz_function_trace_of(t, NULL) : NULL;
    if (!type)
        return NULL;
    if (f) {
        lz_host_event e = {.kind = LZ_EVENT_DRAW, .type = type, .dev = dev, .blocks = blocks};
        lz_node *n = lz_function_trace_given(f, &e);
        if (n)
            lz_node_retain(n);
        return n;
    }
    lz_rng state = lz_dev_rng_draw(dev, blocks);
    return lz_node_new_host(LZ_NODE_SCALAR, type, &state, dev, site);
}

lz_status lz_recording_seed(lz_dev *dev, lz_rng r)
{
    lz_function_trace *f = lz_function_trace_of(lz_thread_state_self, NULL);
    if (f)
        return lz_function_trace_event(
            f, &(lz_host_event){.kind = LZ_EVENT_SEED, .dev = dev, .seed = r});
    lz_dev_rng_set(dev, r);
    return LZ_OK;
}

static lz_node *const_u64(lz_tracer *c, uint64_t v, const lz_node *like)
{
    static const lz_shape scalar;
    const lz_type *t = like ? lz_type_get(LZ_U64, &scalar) : NULL;
    return t ? lz_tracer_own(c, lz_node_new_host(LZ_NODE_CONST, t, &v, like->dev, c->site)) : NULL;
}

/* Inside loops every iteration gets blocks of its own: counts the iterations of all enclosing
 * loops, and computes the number of the present one. */
static uint64_t rounds_of(const lz_loop_frame *l)
{
    uint64_t n = 1;
    for (; l; l = l->outer)
        n *= l->trip_count ? l->trip_count : 1;
    return n;
}

static lz_node *in_round(lz_tracer *c, lz_node *start, uint64_t blocks)
{
    lz_node *iteration = NULL, *zero = NULL;
    uint64_t inner = 1;
    for (const lz_loop_frame *l = c->thr->loop; l; l = l->outer) {
        lz_node *i = lz_tracer_convert(c, l->index, LZ_U64);
        i = lz_tracer_ew2(c, LZ_OP_MULTIPLY, i, const_u64(c, inner * blocks, i));
        iteration = iteration ? lz_tracer_ew2(c, LZ_OP_ADD, iteration, i) : i;
        inner *= l->trip_count ? l->trip_count : 1;
    }
    if (!iteration)
        return start;
    zero = const_u64(c, 0, iteration);
    lz_shape one = {.rank = 1, .dims = {1}};
    lz_node *parts[2] = {lz_tracer_reshape(c, zero, &one), lz_tracer_reshape(c, iteration, &one)};
    return lz_tracer_ew2(c, LZ_OP_ADD, start, lz_tracer_concat(c, parts, 2, 0));
}

lz_node *lz_tracer_rng_state(lz_tracer *c, lz_dev *dev, uint64_t blocks)
{
    uint64_t all = blocks * rounds_of(c->thr->loop);
    return in_round(c, lz_tracer_own(c, lz_recording_draw(c->thr, dev, all, c->site)), blocks);
}

/* ---- a call ---- */

static lz_status number_bytes(const lz_host_event *e, double v, unsigned char *bytes)
{
    if (!lz_tracer_number_fits(e->type->dtype, v))
        return LZ_ERANGE;
    memset(bytes, 0, LZ_NODE_IMM);
    lz_elem_set_f64(e->type->dtype, bytes, 0, v);
    return LZ_OK;
}

static lz_status run_one(lz_host_event *e, lz_event_value *v)
{
    void *object = lz_host_object(e->host);
    if (e->host && !object)
        return LZ_ESTATE;
    lz_rng r;
    switch (e->kind) {
    case LZ_EVENT_ACTION:
        e->action.run(object, e->data);
        break;
    case LZ_EVENT_NUMBER:
        return number_bytes(e, e->number(object, e->data), v->bytes);
    case LZ_EVENT_DRAW:
        r = lz_dev_rng_draw(e->dev, e->blocks);
        memcpy(v->bytes, &r, sizeof r);
        break;
    case LZ_EVENT_SEED:
        r = lz_dev_rng_get(e->dev);
        memcpy(v->bytes, &r, sizeof r);
        lz_dev_rng_set(e->dev, e->seed);
        break;
    }
    return LZ_OK;
}

lz_status lz_host_events_run(lz_host_event *e, uint32_t n, lz_event_value *value)
{
    for (uint32_t i = 0; i < n; i++) {
        lz_status s = run_one(&e[i], &value[i]);
        if (s != LZ_OK) {
            lz_host_events_undo(e, i, value);
            return s;
        }
    }
    return LZ_OK;
}

/* What others drew meanwhile stays drawn. */
static void undo_draw(const lz_host_event *e, const lz_event_value *v)
{
    lz_rng was;
    memcpy(&was, v->bytes, sizeof was);
    lz_rng is = e->seed;
    if (e->kind == LZ_EVENT_DRAW)
        is = (lz_rng){was.seed, was.counter + e->blocks};
    lz_dev_rng_undo(e->dev, is, was);
}

void lz_host_events_undo(lz_host_event *e, uint32_t n, const lz_event_value *value)
{
    LZ_QUIETLY /* why the call failed is what is told */
        for (uint32_t i = n; i-- > 0;) {
            void *object = e[i].kind == LZ_EVENT_ACTION ? lz_host_object(e[i].host) : NULL;
            if (object)
                e[i].action.undo(object, e[i].data);
            else if (e[i].kind == LZ_EVENT_DRAW || e[i].kind == LZ_EVENT_SEED)
                undo_draw(&e[i], &value[i]);
        }
}
