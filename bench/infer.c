/* infer.c - forward passes of trained-size networks: functions recorded once with the weights
 * inside, and GPTs that write one token after the other. Compared with plain C in double
 * precision. */
#include "plain.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- functions of an input ---- */

static struct mlp mlp;
static struct resnet resnet;

struct inference {
    void (*init)(lz_params *ps);
    lz_tensor *(*forward)(lz_tensor *x);
    double *(*plain)(const float *x); /* of one example */
    int64_t batch, classes;
    lz_shape x; /* of one example */
};

static void init_mlp(lz_params *ps)
{
    mlp_init(&mlp, ps);
}
static lz_tensor *forward_mlp(lz_tensor *x)
{
    return mlp_forward(&mlp, x);
}
static double *plain_of_mlp(const float *x)
{
    return plain_mlp(&mlp, x);
}
static void init_resnet(lz_params *ps)
{
    resnet_init(&resnet, ps, 50, 1000);
    /* Statistics as of a trained network: with those of a new one the image would be lost on the
     * way. */
    for (int i = 0; i < resnet.convs; i++) {
        lz_shape s = lz_shape_of(resnet.norm[i].running_mean);
        float *mean = bench_random((uint64_t)i + 10, (size_t)s.dims[0], 0.2);
        lz_scope_begin();
        bench_check(lz_assign(resnet.norm[i].running_mean, lz_from_host(LZ_F32, s, mean)), "mean");
        bench_check(lz_assign(resnet.norm[i].running_var, lz_full(LZ_F32, s, 0.2)), "variance");
        lz_scope_end();
        free(mean);
    }
}
static lz_tensor *forward_resnet(lz_tensor *x)
{
    return resnet_forward(&resnet, x, false);
}
static double *plain_of_resnet(const float *x)
{
    return plain_resnet(&resnet, x);
}

static void body(lz_tensor *const *in, lz_tensor **out, void *user)
{
    *out = ((const struct inference *)user)->forward(in[0]);
}

/* The weights stay and the examples do not, as where a network is used: two batches in turn. */
enum { BATCHES = 2 };

struct call {
    lz_function *f;
    float *host[BATCHES];
    lz_tensor *x[BATCHES];
    int next;
};

static void call_once(void *arg)
{
    struct call *c = arg;
    lz_tensor *y, *x = c->x[c->next];
    c->next = (c->next + 1) % BATCHES;
    lz_scope_begin();
    bench_check(lz_function_call(c->f, &x, 1, &y, 1), "call");
    bench_check(lz_sync(&y, 1, true), "wait");
    lz_scope_end();
}

static void verify(const struct inference *in, const struct call *c, int batch, size_t each,
                   struct difference *d)
{
    size_t nbytes = (size_t)(in->batch * in->classes) * sizeof(float);
    float *got = malloc(nbytes);
    lz_tensor *y;
    if (!got)
        bench_fail("no memory to check");
    lz_scope_begin();
    bench_check(lz_function_call(c->f, &c->x[batch], 1, &y, 1), "call");
    bench_check(lz_to_host(y, got, nbytes), "read");
    lz_scope_end();
    for (int64_t b = 0; b < in->batch; b++) {
        double *expect = in->plain(c->host[batch] + (size_t)b * each), size = 0;
        for (int64_t i = 0; i < in->classes; i++)
            size = fmax(size, fabs(expect[i]));
        for (int64_t i = 0; i < in->classes; i++)
            bench_compare(d, (double)got[b * in->classes + i], expect[i], 1e-5 * size);
        free(expect);
    }
    free(got);
}

static void infer(const struct workload *w)
{
    const struct inference *in = w->data;
    lz_params params = {0};
    lz_shape shape = {.rank = in->x.rank + 1, .dims = {in->batch}};
    size_t each = 1;
    for (int i = 0; i < in->x.rank; i++) {
        shape.dims[i + 1] = in->x.dims[i];
        each *= (size_t)in->x.dims[i];
    }
    bench_check(lz_manual_seed(1), "seed");
    in->init(&params);
    struct call c = {0};
    for (int i = 0; i < BATCHES; i++) {
        c.host[i] = bench_random((uint64_t)i + 1, (size_t)in->batch * each, 1);
        c.x[i] = lz_from_host(LZ_F32, shape, c.host[i]);
    }
    bench_check(lz_mark_step(.wait = true), "initial weights");
    double begin = bench_now();
    bench_check(lz_function_trace(body, (void *)in, c.x, 1, 1, &c.f), "trace");
    double traced = bench_now();
    call_once(&c);
    double first = bench_now(), from_exec = first - bench.exec;
    struct sample s = bench_run(call_once, &c);
    struct difference d = {0};
    for (int i = 0; i < BATCHES; i++)
        verify(in, &c, i, each, &d);
    bench_verdict(&d);
    bench_emit(w, w->name, s,
               ",\"compile_s\":%.4f,\"first_step_s\":%.4f,\"start_to_first_step_s\":%.4f,"
               "\"max_error\":%.3g",
               traced - begin, first - begin, from_exec, d.error);
    lz_function_free(c.f);
    for (int i = 0; i < BATCHES; i++) {
        lz_release(c.x[i]);
        free(c.host[i]);
    }
    lz_params_free(&params);
}

/* ---- GPTs: each step reads the token that the one before wrote. All of them stand at one
 * position, so that every step is the same work ---- */

enum { AT = 128, CHECKED = 3 };

static struct {
    struct gpt gpt;
    lz_kv_cache caches[GPT_MAX_LAYERS];
    lz_tensor *position, *token;
    int64_t written;
} decoder;

static void write_token(void *arg)
{
    (void)arg;
    lz_scope_begin();
    for (int i = 0; i < decoder.gpt.config.layers; i++)
        decoder.caches[i].length = AT;
    lz_tensor *logits = gpt_next(&decoder.gpt, decoder.token, decoder.position, decoder.caches);
    lz_tensor *token = lz_reshape(lz_argmax(logits, -1, false), LZ_SHAPE(1));
    lz_release(decoder.token);
    decoder.token = lz_retain(token);
    bench_check(lz_mark_step(), "step");
    decoder.written = lz_item_i64(token);
    lz_scope_end();
}

static void make_decoder(const struct gpt_config *c, lz_params *params)
{
    int64_t zero = 0, at = AT;
    bench_check(lz_manual_seed(1), "seed");
    gpt_init(&decoder.gpt, params, c);
    for (int i = 0; i < c->layers; i++)
        bench_check(lz_kv_cache_init(&decoder.caches[i], 1, c->heads, c->context, c->dim / c->heads,
                                     LZ_F32),
                    "cache");
    lz_scope_begin();
    decoder.token = lz_retain(lz_from_host(LZ_I64, LZ_SHAPE(1), &zero));
    decoder.position = lz_retain(lz_from_host(LZ_I64, LZ_SHAPE(1), &at));
    lz_scope_end();
    bench_check(lz_mark_step(.wait = true), "initial weights");
}

/* A token is right when no other has a logit that is larger by more than rounding. */
static struct difference verify_tokens(const int64_t *token)
{
    struct difference d = {0};
    for (int k = 0; k < CHECKED; k++) {
        double *logits = plain_gpt_next(&decoder.gpt, token[k], AT, AT), most = -HUGE_VAL;
        for (int64_t i = 0; i < decoder.gpt.config.vocabulary; i++)
            most = fmax(most, logits[i]);
        int64_t got = token[k + 1];
        if (got < 0 || got >= decoder.gpt.config.vocabulary)
            bench_fail("token %d is %lld", k, (long long)got);
        bench_compare(&d, logits[got], most, 1e-5 * fabs(most));
        free(logits);
    }
    bench_verdict(&d);
    return d;
}

static void decode(const struct workload *w)
{
    const struct gpt_config *c = w->data;
    lz_params params = {0};
    int64_t token[CHECKED + 1] = {0};
    make_decoder(c, &params);
    double before = bench_now();
    write_token(NULL);
    double first = bench_now(), from_exec = first - bench.exec;
    token[1] = decoder.written;
    for (int k = 2; k <= CHECKED; k++) {
        write_token(NULL);
        token[k] = decoder.written;
    }
    struct sample s = bench_run(write_token, NULL);
    struct difference d = verify_tokens(token);
    bench_emit(w, w->name, s,
               ",\"compile_s\":%.4f,\"first_step_s\":%.4f,\"start_to_first_step_s\":%.4f,"
               "\"max_error\":%.3g",
               first - before - s.median, first - before, from_exec, d.error);
    for (int i = 0; i < c->layers; i++)
        lz_kv_cache_free(&decoder.caches[i]);
    lz_release(decoder.token);
    lz_release(decoder.position);
    lz_params_free(&params);
    memset(&decoder, 0, sizeof decoder);
}

/* ---- the table ---- */

#define INFER(NAME, FLOPS, NBYTES, DOC, ...)                                                       \
    {                                                                                              \
        .name = "infer_" #NAME, .run = infer, .flops = FLOPS, .nbytes = NBYTES,                    \
        .data = &(const struct inference){__VA_ARGS__}, .doc = DOC                                 \
    }

/* clang-format off */
#define MLP(BATCH) .init = init_mlp, .forward = forward_mlp, .plain = plain_of_mlp, .batch = BATCH, .classes = 10, \
    .x = {.rank = 1, .dims = {784}}
const struct workload workloads_infer[] = {
    INFER(mlp1, 1.337e6, 4 * 0.67e6, "784-512-512-10 of one example", MLP(1)),
    INFER(mlp128, 171.2e6, 4 * 0.67e6, "784-512-512-10 of 128 examples", MLP(128)),
    INFER(resnet50, 8.18e9, 4 * 25.5e6, "ResNet-50 of one image of 224x224",
          .init = init_resnet, .forward = forward_resnet, .plain = plain_of_resnet, .batch = 1, .classes = 1000,
          .x = {.rank = 3, .dims = {3, 224, 224}}),
    {.name = "decode_gpt", .run = decode, .flops = 9.4e6, .nbytes = 4 * 4.2e6, .data = &gpt_small,
     .doc = "a token of the GPT of train_gpt after 128 others"},
    {.name = "decode_gpt2s", .run = decode, .flops = 2 * 109.5e6, .nbytes = 4. * 109.5e6, .data = &gpt_2s,
     .doc = "a token of a GPT of 12 layers, width 768, 32000 tokens, after 128 others"},
    {0}};
/* clang-format on */
