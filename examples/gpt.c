/* gpt.c - a small GPT-2 over bytes: trains on any text, then writes some. `gpt --help` lists the
 * options. With --checkpoint a training that was interrupted, by SIGTERM or kill -9, goes on where
 * its newest checkpoint left off, bit for bit. Operations only record; lz_mark_step compiles what
 * was recorded, once, and runs it. */
#include "example.h"

/* clang-format off */
enum { DATA, LAYERS, HEADS, DIM, CONTEXT, BATCH, STEPS, STOP, LR, DROPOUT, SEED, CHECKPOINT, EVERY,
       KEEP, SAMPLE, PROMPT, TEMPERATURE, MESH, DEVICE, CACHE, LOG, FAKE, JSON, HELP, OPTIONS };
static example_option opt[OPTIONS] = {
    {"data", NULL, "FILE  text to learn; default: examples/data/stories.txt"},
    {"layers", "4", "N"},
    {"heads", "4", "N"},
    {"dim", "128", "N  width of the network, a multiple of the heads"},
    {"context", "64", "N  bytes that it sees"},
    {"batch", "16", "N"},
    {"steps", "300", "N  of the whole training"},
    {"stop", NULL, "N  stop after this step, as if interrupted"},
    {"lr", "1e-3", "X  highest learning rate"},
    {"dropout", "0", "X"},
    {"seed", "1", "N"},
    CHECKPOINT_OPTIONS,
    {"sample", "200", "N  bytes to write, at most a context"},
    {"prompt", "One morning ", "TEXT"},
    {"temperature", "0.8", "X"},
    {"mesh", NULL, "AXES  of many devices: data=2,fsdp=2,tensor=2; any of them may be left out"},
    {"device", NULL, "NAME"},
    {"cache", NULL, "DIR  compiled programs"},
    LOG_OPTION,
    {"fake_data", NULL, NULL},
    {"json", NULL, NULL},
    {"help", NULL, NULL},
};
/* clang-format on */

/* ---- data: bytes, and random pieces of them ---- */

static unsigned char *text;
static size_t text_len;

static void append_file(const char *path)
{
    lz_array a;
    check(lz_bytes_read(path, &a));
    if (!(text = realloc(text, text_len + a.nbytes + 1)))
        errx(1, "no memory for %s", path);
    memcpy(text + text_len, a.data, a.nbytes);
    text_len += a.nbytes;
    lz_array_free(&a);
}

static void load_text(void)
{
    if (opt[FAKE].value) { /* a sentence, again and again */
        static const char sentence[] = "the quick brown fox jumps over the lazy dog. ";
        text_len = 40 * (sizeof sentence - 1);
        if (!(text = malloc(text_len)))
            errx(1, "no memory");
        for (size_t i = 0; i < text_len; i++)
            text[i] = (unsigned char)sentence[i % (sizeof sentence - 1)];
    } else if (opt[DATA].value) {
        append_file(opt[DATA].value);
    } else { /* when started in the project's folder */
        append_file("examples/data/stories.txt");
    }
}

/* Random numbers as a function of seed and position, so that a step draws the same whether or not
 * the training was interrupted. SplitMix64. */
static uint64_t random_at(uint64_t position)
{
    uint64_t z = ((uint64_t)number(&opt[SEED], 0) << 40) + position * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* ---- the network: Radford et al. 2019, with layer_norm before each part ---- */

enum { BYTES = 256, MAX_LAYERS = 48 };
typedef struct block {
    lz_norm_layer ln1, ln2;
    lz_attention_layer attention;
    lz_linear_layer up, down;
} block;
static block blocks[MAX_LAYERS];
static lz_embedding_layer bytes, positions;
static lz_norm_layer last;
static lz_params params, matrices, others;
static int layers, heads, dim, context, batch;
static int32_t *in, *out; /* a batch: bytes, and those after them */

static bool is_matrix(const char *name, lz_tensor *t, void *want)
{
    (void)name;
    return (lz_rank_of(t) > 1) == (want != NULL);
}

/* Where parameters are on a mesh: what tensor parallelism cuts along `tensor`, so that a device has
 * some of the heads and of the wide layer, the other dimension along `fsdp`. */
static void place(void)
{
    cut(bytes.weight, "tensor", "fsdp");
    cut(positions.weight, NULL, "fsdp");
    for (int i = 0; i < layers; i++) {
        block *b = &blocks[i];
        cut(b->attention.in_proj_weight, "tensor", "fsdp");
        cut(b->attention.in_proj_bias, "tensor", NULL);
        cut(b->attention.out_proj.weight, "fsdp", "tensor");
        cut(b->up.weight, "tensor", "fsdp");
        cut(b->up.bias, "tensor", NULL);
        cut(b->down.weight, "fsdp", "tensor");
    }
}

static void net_init(void)
{
    check(lz_name_scope_begin("init"));
    check(lz_embedding_layer_init(&bytes, &params, "bytes", BYTES, dim, LZ_F32));
    check(lz_embedding_layer_init(&positions, &params, "positions", context, dim, LZ_F32));
    for (int i = 0; i < layers; i++) {
        block *b = &blocks[i];
        char n[5][32];
        static const char *const parts[] = {"ln1", "attention", "ln2", "up", "down"};
        for (int k = 0; k < 5; k++)
            snprintf(n[k], sizeof n[k], "blocks.%d.%s", i, parts[k]);
        check(lz_norm_layer_init(&b->ln1, LZ_LAYER_NORM, &params, n[0], dim, LZ_F32));
        check(lz_attention_layer_init(&b->attention, &params, n[1], dim, heads, LZ_F32));
        check(lz_norm_layer_init(&b->ln2, LZ_LAYER_NORM, &params, n[2], dim, LZ_F32));
        check(lz_linear_layer_init(&b->up, &params, n[3], dim, 4 * dim, true, LZ_F32));
        check(lz_linear_layer_init(&b->down, &params, n[4], 4 * dim, dim, true, LZ_F32));
    }
    check(lz_norm_layer_init(&last, LZ_LAYER_NORM, &params, "last", dim, LZ_F32));
    check(lz_params_select(&params, &matrices, is_matrix, ""));
    check(lz_params_select(&params, &others, is_matrix, NULL));
    for (size_t i = 0; i < matrices.len; i++)
        check(lz_assign(matrices.tensors[i],
                        lz_init_normal(LZ_F32, lz_shape_of(matrices.tensors[i]), 0, 0.02)));
    place();
    check(lz_mark_step()); /* draw the initial weights */
    check(lz_name_scope_end());
}

/* Bytes [n, length] at positions [length] -> scores of the byte after each, [n, length, 256]. */
static lz_tensor *net_forward(lz_tensor *x, lz_tensor *at, bool training, lz_kv_cache *caches)
{
    check(lz_name_scope_begin("net"));
    double p = real(&opt[DROPOUT]);
    x = lz_add(lz_embedding_layer_forward(&bytes, x), lz_embedding_layer_forward(&positions, at));
    for (int i = 0; i < layers; i++) {
        block *b = &blocks[i];
        lz_tensor *y = lz_norm_layer_forward(&b->ln1, x, training);
        y = lz_attention_layer_forward(&b->attention, y, .is_causal = true,
                                       .cache = caches ? &caches[i] : NULL);
        x = lz_add(x, lz_dropout(y, p, training));
        y = lz_gelu(lz_linear_layer_forward(&b->up, lz_norm_layer_forward(&b->ln2, x, training)),
                    true);
        x = lz_add(x, lz_dropout(lz_linear_layer_forward(&b->down, y), p, training));
    }
    x = lz_linear(lz_norm_layer_forward(&last, x, training), bytes.weight, NULL);
    check(lz_name_scope_end());
    return x;
}

/* ---- training ---- */

/* Forward, backward, update. Handles made between begin and end are released by end. The loss is
 * read where it is shown: reading waits. */
static double train_step(lz_optim *adamw, int64_t step, int64_t steps, bool read)
{
    for (int i = 0; i < batch; i++) {
        size_t from = random_at((uint64_t)(step * batch + i)) % (text_len - (size_t)context);
        for (int k = 0; k < context; k++) {
            in[i * context + k] = text[from + (size_t)k];
            out[i * context + k] = text[from + (size_t)k + 1];
        }
    }
    check(lz_scope_begin());
    lz_tensor *x = lz_from_host(LZ_I32, LZ_SHAPE(batch, context), in);
    lz_tensor *y = lz_from_host(LZ_I32, LZ_SHAPE(batch * context), out);
    cut(x, "data,fsdp", NULL);
    cut(y, "data,fsdp", NULL);
    lz_tensor *scores = net_forward(x, lz_iota(LZ_I32, LZ_SHAPE(context), 0), true, NULL);
    lz_tensor *loss = lz_cross_entropy(lz_reshape(scores, LZ_SHAPE(batch * context, BYTES)), y);
    check(lz_backward(loss));
    check(lz_status_of(lz_clip_grad_norm(&params, 1, 2)));
    check(lz_optim_set_lr(
        adamw, lz_lr_cosine(real(&opt[LR]), step, steps, steps / 20 + 1, 0.1 * real(&opt[LR]))));
    check(lz_optim_step(adamw));
    check(lz_optim_zero_grad(adamw));
    check(lz_mark_step());
    double value = read ? lz_item(loss) : 0;
    check(lz_scope_end());
    return value;
}

/* ---- writing: one byte after the other, each attending to the cached keys and values of those
 * before it ---- */

static int draw(const float *scores, double temperature, uint64_t r)
{
    double w[BYTES], top = -INFINITY, sum = 0;
    for (int i = 0; i < BYTES; i++)
        top = scores[i] > top ? scores[i] : top;
    for (int i = 0; i < BYTES; i++)
        sum += w[i] = exp((scores[i] - top) / fmax(temperature, 1e-3));
    double at = (double)(r >> 11) * 0x1p-53 * sum;
    for (int i = 0; i < BYTES; i++)
        if ((at -= w[i]) < 0)
            return i;
    return BYTES - 1;
}

static void write_text(int count)
{
    lz_kv_cache caches[MAX_LAYERS];
    float scores[BYTES];
    const char *prompt = opt[PROMPT].value;
    int given = (int)strlen(prompt), next = given ? (unsigned char)prompt[0] : '\n';
    for (int i = 0; i < layers; i++)
        check(lz_kv_cache_init(&caches[i], 1, heads, context, dim / heads, LZ_F32));
    for (int i = 0; i < context && i < given + count; i++) {
        putchar(next);
        check(lz_scope_begin());
        lz_tensor *x = lz_full(LZ_I32, LZ_SHAPE(1, 1), next), *at = lz_full(LZ_I32, LZ_SHAPE(1), i);
        lz_tensor *y = lz_retain(net_forward(x, at, false, caches));
        check(lz_mark_step());
        check(lz_to_host(y, scores, sizeof scores));
        lz_release(y);
        check(lz_scope_end());
        next = i + 1 < given ? (unsigned char)prompt[i + 1]
                             : draw(scores, real(&opt[TEMPERATURE]),
                                    random_at((uint64_t)(1 << 30) + (uint64_t)i));
    }
    putchar('\n');
    for (int i = 0; i < layers; i++)
        lz_kv_cache_free(&caches[i]);
}

int main(int argc, char **argv)
{
    read_options(opt, OPTIONS, argc, argv);
    layers = number(&opt[LAYERS], 1), heads = number(&opt[HEADS], 1), dim = number(&opt[DIM], 1);
    context = number(&opt[CONTEXT], 2), batch = number(&opt[BATCH], 1);
    int steps = number(&opt[STEPS], 1), stop = opt[STOP].value ? number(&opt[STOP], 0) : steps;
    if (layers > MAX_LAYERS)
        errx(2, "at most %d layers", MAX_LAYERS);
    choose_mesh(opt[MESH].value);
    choose_device(opt[DEVICE].value, opt[CACHE].value);
    start_log(opt[LOG].value);
    in = calloc(2 * (size_t)batch * (size_t)context, sizeof *in);
    if (!in)
        errx(1, "no memory for a batch");
    out = in + batch * context;
    load_text();
    if (text_len < (size_t)context + 2)
        errx(1, "the text has %zu bytes, fewer than a context of %d", text_len, context);
    check(lz_manual_seed((uint64_t)number(&opt[SEED], 0)));
    net_init();
    lz_optim *adamw = lz_adamw(&matrices, .weight_decay = 0.1, .beta2 = 0.95);
    check(adamw ? lz_optim_add_group(adamw, &others) : LZ_EMEM);
    lz_checkpoint c = {.struct_size = sizeof c, .params = &params, .optim = adamw};
    resume(&opt[CHECKPOINT], &c);
    double start = now(), first = 0, loss = 0;
    int64_t from = c.step;
    while (c.step < stop) {
        bool show = c.step == from || c.step == stop - 1 || c.step % 10 == 9;
        double value = train_step(adamw, c.step, steps, show);
        loss = show ? value : loss;
        first = c.step == from ? value : first;
        c.step++;
        if (show)
            progress("steps", c.step, stop, loss, c.step);
        checkpoint(&c);
    }
    check(lz_wait_device_ops());
    double ms = c.step > from ? (now() - start) * 1e3 / (double)(c.step - from) : 0;
    last_checkpoint(&c);
    if (number(&opt[SAMPLE], 0))
        write_text(number(&opt[SAMPLE], 0));
    lz_cache_counts n = {.struct_size = sizeof n};
    check(lz_get_cache_counts(&n));
    printf("%zu bytes of text, %d steps of %.1f ms, loss %.4f; compiled %d kernels\n", text_len,
           (int)(c.step - from), ms, loss, (int)n.llvm_compiles);
    if (opt[JSON].value)
        printf("{\"first_loss\":%.9g,\"loss\":%.9g,\"steps\":%d,\"llvm_compiles\":%d,\"program_"
               "misses\":%d,\"step_ms\":%.3f,\"programs\":%d,\"given\":%.0f,"
               "\"collective_us\":%lld,\"collective_wait_us\":%lld}\n",
               first, loss, (int)(c.step - from), (int)n.llvm_compiles, (int)n.program_misses, ms,
               (int)lz_counter_value("UncachedCompile"), arguments_given(),
               (long long)lz_counter_value("CollectiveMicroseconds"),
               (long long)lz_counter_value("CollectiveWaitMicroseconds"));
    lz_optim_free(adamw);
    lz_params_free(&matrices);
    lz_params_free(&others);
    lz_params_free(&params);
    free(text);
    free(in);
    return 0;
}
