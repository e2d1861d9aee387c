"""JAX on the CPU: jax.jit of each workload, donated state in training. See common.py."""
from common import GPT, IMAGES, OPERANDS, POSITION, PRODUCTS, emit, emit_training, first_call, options, sample

import os

os.environ["JAX_PLATFORMS"] = "cpu"
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

PEER = "jax"
if options.cache:
    jax.config.update("jax_compilation_cache_dir", options.cache)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
numbers = np.random.default_rng(0)
ready = jax.block_until_ready


def random(*shape, spread=1.0):
    return jnp.asarray(((numbers.random(shape) - 0.5) * spread).astype(np.float32))


def classes(n, *shape):
    return jnp.asarray(numbers.integers(0, n, shape, dtype=np.int32))


# ---- layers ----


def linear_init(i, o):
    return dict(w=random(i, o, spread=2 / i**0.5), b=jnp.zeros(o))


def linear(p, x):
    return x @ p["w"] + p["b"]


def layer_norm(x, p):
    mean = x.mean(-1, keepdims=True)
    var = x.var(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(var + 1e-5) * p[0] + p[1]


def conv(x, w, stride=1, pad=0):
    return lax.conv_general_dilated(x, w, (stride, stride), [(pad, pad)] * 2,
                                    dimension_numbers=("NHWC", "HWIO", "NHWC"))


def norm_init(n):
    return (jnp.ones(n), jnp.zeros(n)), (jnp.zeros(n), jnp.ones(n))


def batch_norm(x, p, stats, training):
    if training:
        mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2))
        stats = (0.9 * stats[0] + 0.1 * mean, 0.9 * stats[1] + 0.1 * var)
    else:
        mean, var = stats
    return (x - mean) * (lax.rsqrt(var + 1e-5) * p[0]) + p[1], stats


def max_pool(x, window, stride, pad):
    edges = [(0, 0), (pad, pad), (pad, pad), (0, 0)]
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, window, window, 1), (1, stride, stride, 1), edges)


def cross_entropy(logits, labels):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1))


# ---- models: init gives (parameters, statistics), forward (logits, new statistics) ----


def mlp_init():
    return [linear_init(784, 512), linear_init(512, 512), linear_init(512, 10)], ()


def mlp(p, stats, x, training=True):
    x = jax.nn.relu(linear(p[0], x))
    return linear(p[2], jax.nn.relu(linear(p[1], x))), stats


def mnist_init():
    (n1, s1), (n2, s2) = norm_init(10), norm_init(20)
    p = dict(c=[random(5, 5, 1, 10, spread=0.4), random(5, 5, 10, 20, spread=0.12)],
             b=[jnp.zeros(10), jnp.zeros(20)], n=[n1, n2], f=[linear_init(320, 50), linear_init(50, 10)])
    return p, [s1, s2]


def mnist(p, stats, x, training=True):
    new = []
    for i in range(2):
        x = jax.nn.relu(max_pool(conv(x, p["c"][i]) + p["b"][i], 2, 2, 0))
        x, s = batch_norm(x, p["n"][i], stats[i], training)
        new.append(s)
    x = jax.nn.relu(linear(p["f"][0], x.reshape(x.shape[0], -1)))
    return linear(p["f"][1], x), new


def resnet_blocks(kind):
    """(input channels, inner channels, output channels, stride) of each."""
    c = 64
    for stage, n in enumerate([3, 4, 6, 3] if kind == 50 else [2, 2, 2, 2]):
        inner = 64 << stage
        for i in range(n):
            out = inner * 4 if kind == 50 else inner
            yield c, inner, out, 2 if stage > 0 and i == 0 else 1
            c = out


def block_convs(kind, c, inner, out, stride):
    if kind == 50:
        return [(1, c, inner, 1), (3, inner, inner, stride), (1, inner, out, 1)]
    return [(3, c, inner, stride), (3, inner, out, 1)]


def resnet_init(kind, n):
    p, stats = [], []

    def add(k, i, o):
        norm, s = norm_init(o)
        p.append((random(k, k, i, o, spread=2 * (1.5 / (k * k * i))**0.5), norm))
        stats.append(s)

    add(7 if kind == 50 else 3, 3, 64)
    for c, inner, out, stride in resnet_blocks(kind):
        for k, i, o, _ in block_convs(kind, c, inner, out, stride):
            add(k, i, o)
        if stride != 1 or c != out:
            add(1, c, out)
    return (p, linear_init(out, n)), stats


def resnet(kind, p, stats, x, training=True):
    new = []

    def conv_norm(x, stride=1):
        w, norm = p[0][len(new)]
        y, s = batch_norm(conv(x, w, stride, w.shape[0] // 2), norm, stats[len(new)], training)
        new.append(s)
        return y

    x = jax.nn.relu(conv_norm(x, 2 if kind == 50 else 1))
    if kind == 50:
        x = max_pool(x, 3, 2, 1)
    for c, inner, out, stride in resnet_blocks(kind):
        y, convs = x, block_convs(kind, c, inner, out, stride)
        for i, (_, _, _, s) in enumerate(convs):
            y = conv_norm(y, s)
            if i < len(convs) - 1:
                y = jax.nn.relu(y)
        if stride != 1 or c != out:
            x = conv_norm(x, stride)
        x = jax.nn.relu(x + y)
    return linear(p[1], x.mean((1, 2))), new


def gpt_init(layers, dim, heads, context, vocabulary, batch):
    norm = lambda: (jnp.ones(dim), jnp.zeros(dim))
    block = lambda: dict(ln1=norm(), qkv=linear_init(dim, 3 * dim), out=linear_init(dim, dim), ln2=norm(),
                         up=linear_init(dim, 4 * dim), down=linear_init(4 * dim, dim))
    return dict(tokens=random(vocabulary, dim, spread=0.05), positions=random(context, dim, spread=0.05),
                blocks=[block() for _ in range(layers)], ln=norm(), head=random(dim, vocabulary, spread=0.05))


def gpt(heads, p, ids):
    b, n = ids.shape
    x = p["tokens"][ids] + p["positions"][:n]
    seen = jnp.tril(jnp.ones((n, n), bool))
    for block in p["blocks"]:
        qkv = linear(block["qkv"], layer_norm(x, block["ln1"])).reshape(b, n, 3, heads, -1)
        q, k, v = jnp.moveaxis(qkv, 2, 0).transpose(0, 1, 3, 2, 4)
        scores = jnp.where(seen, q @ k.transpose(0, 1, 3, 2) * q.shape[-1]**-0.5, -1e30)
        y = (jax.nn.softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(x.shape)
        x = x + linear(block["out"], y)
        x = x + linear(block["down"], jax.nn.gelu(linear(block["up"], layer_norm(x, block["ln2"]))))
    return layer_norm(x, p["ln"]) @ p["head"]


def next_token(heads, p, token, position, keys, values):
    """keys and values [layers, heads, context, width]"""
    x = p["tokens"][token] + p["positions"][position]
    seen = jnp.arange(keys.shape[2]) <= position
    for i, block in enumerate(p["blocks"]):
        q, k, v = linear(block["qkv"], layer_norm(x, block["ln1"])).reshape(3, heads, -1)
        keys = lax.dynamic_update_slice(keys, k[None, :, None], (i, 0, position, 0))
        values = lax.dynamic_update_slice(values, v[None, :, None], (i, 0, position, 0))
        scores = jnp.where(seen, jnp.einsum("hd,hsd->hs", q, keys[i]) * q.shape[-1]**-0.5, -1e30)
        y = jnp.einsum("hs,hsd->hd", jax.nn.softmax(scores), values[i]).reshape(x.shape)
        x = x + linear(block["out"], y)
        x = x + linear(block["down"], jax.nn.gelu(linear(block["up"], layer_norm(x, block["ln2"]))))
    return jnp.argmax(layer_norm(x, p["ln"]) @ p["head"], -1), keys, values


# ---- workloads ----

ops = {
    "bmm_qk": lambda a, b: a @ b.transpose(0, 2, 1),
    "bmm_pv": lambda a, b: a @ b,
    "attn_16x256x64": lambda q, k, v: jax.nn.softmax(q @ k.transpose(0, 2, 1) * 0.125) @ v,
    "chain_16M": lambda a, b, c, d, e: jnp.tanh(a * b + c) * jax.nn.sigmoid(d) - jnp.exp(-e * e),
    "add_16M": lambda a, b: a + b,
    "gelu_16M": lambda a: jax.nn.gelu(a),
    "sum_4096": lambda a: a.sum(),
    "sumrow_4096": lambda a: a.sum(1),
    "sumcol_4096": lambda a: a.sum(0),
    "max_4096": lambda a: a.max(),
    "softmax_4096": lambda a: jax.nn.softmax(a),
    "transpose_4096": lambda a: a.T,
    "layernorm_4096x1024": lambda a, g, b: layer_norm(a, (g, b)),
}
ops["chain_4096"] = ops["chain_16M"]
ops.update({name: lambda a, b: a @ b for name in PRODUCTS})


def operation(name):
    shapes, spread = OPERANDS[name]
    operands = [random(*s, spread=spread) for s in shapes]
    f = jax.jit(ops[name])
    first, _ = first_call(lambda: ready(f(*operands)))
    emit(PEER, name, sample(lambda: ready(f(*operands))), first_call_s=first)


def sgd(p, m, g, momentum):
    m = jax.tree.map(lambda m, g: momentum * m + g, m, g)
    return jax.tree.map(lambda p, m: p - 0.01 * m, p, m), m


def train_with_sgd(name, p, stats, forward, x, y, momentum):
    # x and y as arguments: as constants they would be folded into the program
    @functools.partial(jax.jit, donate_argnums=0)
    def step(state, x, y):
        p, m, stats, _ = state

        def loss(p):
            logits, new = forward(p, stats, x)
            return cross_entropy(logits, y), new

        (value, stats), g = jax.value_and_grad(loss, has_aux=True)(p)
        return *sgd(p, m, g, momentum), stats, value

    run_steps(name, step, (p, jax.tree.map(jnp.zeros_like, p), stats, jnp.zeros(())), x, y)


def run_steps(name, step, state, x, y):
    box = [state]

    def once():
        box[0] = ready(step(box[0], x, y))

    emit_training(PEER, name, once, lambda: float(box[0][-1]))


def train_gpt(name):
    c = GPT["gpt"]
    p = gpt_init(**c)
    ids = classes(c["vocabulary"], c["batch"], c["context"] + 1)
    zeros = lambda: jax.tree.map(jnp.zeros_like, p)

    @functools.partial(jax.jit, donate_argnums=0)
    def step(state, x, y):
        p, m, v, t, _ = state
        value, g = jax.value_and_grad(lambda p: cross_entropy(gpt(c["heads"], p, x), y))(p)
        t = t + 1
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.95 * v + 0.05 * g * g, v, g)
        update = lambda p, m, v: p * (1 - 3e-5) - 3e-4 * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.95**t)) + 1e-8)
        return jax.tree.map(update, p, m, v), m, v, t, value

    run_steps(name, step, (p, zeros(), zeros(), jnp.zeros(()), jnp.zeros(())), ids[:, :-1], ids[:, 1:])


def train(name):
    if name == "train_gpt":
        return train_gpt(name)
    if name == "train_mlp":
        return train_with_sgd(name, *mlp_init(), mlp, random(128, 784), classes(10, 128), 0.9)
    batch, channels, extent, n = IMAGES[name]
    x, y = random(batch, extent, extent, channels), classes(n, batch)
    if name == "train_mnist":
        return train_with_sgd(name, *mnist_init(), mnist, x, y, 0.5)
    kind = int(name[-2:])
    train_with_sgd(name, *resnet_init(kind, n), functools.partial(resnet, kind), x, y, 0.9)


def infer(name):
    if name == "infer_resnet50":
        (p, stats), x, forward = resnet_init(50, 1000), random(1, 224, 224, 3), functools.partial(resnet, 50)
    else:
        (p, stats), x, forward = mlp_init(), random(int(name[len("infer_mlp"):]), 784), mlp
    f = jax.jit(lambda p, stats, x: forward(p, stats, x, False)[0])
    first, started = first_call(lambda: ready(f(p, stats, x)))
    emit(PEER, name, sample(lambda: ready(f(p, stats, x))), first_step_s=first, start_to_first_step_s=started)


def decode(name):
    c = GPT[name[len("decode_"):]]
    p = gpt_init(**c)
    empty = lambda: jnp.zeros((c["layers"], c["heads"], c["context"], c["dim"] // c["heads"]))
    f = jax.jit(functools.partial(next_token, c["heads"]), donate_argnums=(3, 4))
    state = [jnp.zeros(1, jnp.int32), empty(), empty()]

    def once():
        state[0], state[1], state[2] = f(p, state[0], POSITION, state[1], state[2])
        int(state[0][0])

    first, started = first_call(once)
    emit(PEER, name, sample(once), first_step_s=first, start_to_first_step_s=started)


def overhead(name):
    x, b = jnp.linspace(0.25, 2, 8), jnp.linspace(0.5, 0.43, 8)

    def chain(n):

        def f(x, b):
            for i in range(n):
                x = x * b if i & 1 else x + b
            return x

        return jax.jit(f)

    for n in (1, 50, 500):
        f = chain(n)
        first, _ = first_call(lambda: ready(f(x, b)))
        sampled = sample(lambda: ready(f(x, b)))
        emit(PEER, f"function_{n}", sampled, first_call_s=first)
        if n > 1:  # JAX records once: what it has to compare with a step that is recorded anew
            emit(PEER, f"cached_graph_{n}", sampled, first_call_s=first)


for workload in options.workloads:
    family = workload.split("_")[0]
    run = {"train": train, "infer": infer, "decode": decode, "overhead": overhead}.get(family)
    if workload in ops:
        operation(workload)
    elif run:
        run(workload)
