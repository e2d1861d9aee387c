"""torch on the CPU, or with --device cuda on a GPU: eager, or with --compile through torch.compile (inductor, --cache: its folder). See common.py."""
from common import GPT, IMAGES, OPERANDS, POSITION, PRODUCTS, emit, emit_training, first_call, options, sample

import os
import tempfile

if options.compile:
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = options.cache or tempfile.mkdtemp(prefix="inductor-")
import torch
import torch.nn as nn
import torch.nn.functional as F

PEER = "torch-compile" if options.compile else "torch"
torch.set_num_threads(options.threads)
torch.manual_seed(0)
GPU = options.device != "cpu"
if GPU:
    torch.set_default_device(options.device)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
done = torch.cuda.synchronize if GPU else lambda: None
compiled = torch.compile if options.compile else lambda f: f

# ---- models ----


def mlp():
    return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))


def mnist():
    part = lambda i, o: [nn.Conv2d(i, o, 5), nn.MaxPool2d(2), nn.ReLU(), nn.BatchNorm2d(o)]
    return nn.Sequential(*part(1, 10), *part(10, 20), nn.Flatten(), nn.Linear(320, 50), nn.ReLU(), nn.Linear(50, 10))


def conv_norm(k, i, o, stride=1):
    return nn.Sequential(nn.Conv2d(i, o, k, stride, k // 2, bias=False), nn.BatchNorm2d(o))


class Block(nn.Module):

    def __init__(self, wide, c, inner, out, stride):
        super().__init__()
        if wide:
            convs = [conv_norm(1, c, inner), conv_norm(3, inner, inner, stride), conv_norm(1, inner, out)]
        else:
            convs = [conv_norm(3, c, inner, stride), conv_norm(3, inner, out)]
        self.convs = nn.ModuleList(convs)
        self.projection = conv_norm(1, c, out, stride) if stride != 1 or c != out else nn.Identity()

    def forward(self, x):
        y = x
        for conv in self.convs[:-1]:
            y = F.relu(conv(y))
        return F.relu(self.convs[-1](y) + self.projection(x))


class Resnet(nn.Module):

    def __init__(self, kind, classes):
        super().__init__()
        wide, c, blocks = kind == 50, 64, []
        self.stem = conv_norm(7 if wide else 3, 3, 64, 2 if wide else 1)
        self.pool = nn.MaxPool2d(3, 2, 1) if wide else nn.Identity()
        for stage, n in enumerate([3, 4, 6, 3] if wide else [2, 2, 2, 2]):
            inner = 64 << stage
            for i in range(n):
                out = inner * 4 if wide else inner
                blocks.append(Block(wide, c, inner, out, 2 if stage > 0 and i == 0 else 1))
                c = out
        self.blocks, self.last = nn.Sequential(*blocks), nn.Linear(c, classes)

    def forward(self, x):
        return self.last(self.blocks(self.pool(F.relu(self.stem(x)))).mean((2, 3)))


class GptBlock(nn.Module):

    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.ln1, self.ln2 = heads, nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.up, self.down = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def heads_of(self, x):
        b, n, dim = x.shape
        return [t.reshape(b, n, self.heads, -1).transpose(1, 2) for t in self.qkv(self.ln1(x)).split(dim, -1)]

    def rest(self, x, y):
        x = x + self.out(y.transpose(1, 2).reshape(x.shape))
        return x + self.down(F.gelu(self.up(self.ln2(x)), approximate="tanh"))

    def forward(self, x):
        return self.rest(x, F.scaled_dot_product_attention(*self.heads_of(x), is_causal=True))

    def next(self, x, position, seen, keys, values):
        q, k, v = self.heads_of(x)
        keys.index_copy_(2, position, k)
        values.index_copy_(2, position, v)
        return self.rest(x, F.scaled_dot_product_attention(q, keys, values, attn_mask=seen))


class Gpt(nn.Module):

    def __init__(self, layers, dim, heads, context, vocabulary, batch):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, dim), nn.Embedding(context, dim)
        self.blocks = nn.ModuleList([GptBlock(dim, heads) for _ in range(layers)])
        self.ln, self.head, self.context = nn.LayerNorm(dim), nn.Linear(dim, vocabulary, bias=False), context

    def forward(self, ids):
        x = self.tokens(ids) + self.positions.weight[:ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln(x)).flatten(0, 1)

    def next(self, token, position, keys, values):
        x = (self.tokens(token) + self.positions(position))[None]
        seen = (torch.arange(self.context) <= position)[None, None, None]
        for block, k, v in zip(self.blocks, keys, values):
            x = block.next(x, position, seen, k, v)
        return self.head(self.ln(x))[0].argmax(-1)


# ---- workloads ----

ops = {
    "bmm_qk": lambda a, b: a @ b.transpose(1, 2),
    "bmm_pv": lambda a, b: a @ b,
    "attn_16x256x64": lambda q, k, v: F.scaled_dot_product_attention(q[None], k[None], v[None])[0],
    "chain_16M": lambda a, b, c, d, e: torch.tanh(a * b + c) * torch.sigmoid(d) - torch.exp(-e * e),
    "add_16M": lambda a, b: a + b,
    "gelu_16M": lambda a: F.gelu(a, approximate="tanh"),
    "sum_4096": lambda a: a.sum(),
    "sumrow_4096": lambda a: a.sum(1),
    "sumcol_4096": lambda a: a.sum(0),
    "max_4096": lambda a: a.max(),
    "softmax_4096": lambda a: torch.softmax(a, -1),
    "transpose_4096": lambda a: a.t().contiguous(),
    "layernorm_4096x1024": lambda a, g, b: F.layer_norm(a, (1024,), g, b),
}
ops["chain_4096"] = ops["chain_16M"]
ops.update({name: lambda a, b: a @ b for name in PRODUCTS})


@torch.no_grad()
def timed(name, f, *x):
    f = compiled(f)

    def once():
        f(*x)
        done()

    first, started = first_call(once)
    emit(PEER, name, sample(once), first_step_s=first, start_to_first_step_s=started)


def operation(name):
    shapes, spread = OPERANDS[name]
    timed(name, ops[name], *[(torch.rand(*s) - 0.5) * spread for s in shapes])


TEXTS = {"train_gpt": "gpt", "large_train_gpt2": "gpt2"}


def model_and_batch(name):
    if name == "train_mlp":
        return mlp(), torch.rand(128, 784) - 0.5, torch.randint(0, 10, (128,))
    if name in TEXTS:
        c = GPT[TEXTS[name]]
        ids = torch.randint(0, c["vocabulary"], (c["batch"], c["context"] + 1))
        return Gpt(**c), ids[:, :-1].contiguous(), ids[:, 1:].flatten()
    batch, channels, extent, n = IMAGES[name]
    model, x = mnist() if name == "train_mnist" else Resnet(int(name[-2:]), n), torch.rand(batch, channels, extent, extent) - 0.5
    if name.startswith("large_"):
        model, x = model.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
    return model, x, torch.randint(0, n, (batch,))


def train(name):
    model, x, y = model_and_batch(name)
    if name in TEXTS:
        optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
    else:
        momentum = 0.5 if name == "train_mnist" else 0.9
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=momentum, fused=True)
    loss_of = compiled(lambda model, x, y: F.cross_entropy(model(x), y))
    last, low = [None], torch.autocast(options.device, torch.bfloat16, enabled=name.startswith("large_"))

    def step():
        optimizer.zero_grad(set_to_none=True)
        with low:
            last[0] = loss_of(model, x, y)
        last[0].backward()
        optimizer.step()
        done()

    emit_training(PEER, name, step, lambda: last[0].item())


def infer(name):
    if name == "infer_resnet50":
        return timed(name, Resnet(50, 1000).eval(), torch.rand(1, 3, 224, 224) - 0.5)
    timed(name, mlp().eval(), torch.rand(int(name[len("infer_mlp"):]), 784) - 0.5)


@torch.no_grad()
def decode(name):
    c = GPT[name[len("decode_"):]]
    model = Gpt(**c).eval()
    f = compiled(model.next)
    empty = lambda: [torch.zeros(1, c["heads"], c["context"], c["dim"] // c["heads"]) for _ in range(c["layers"])]
    position, keys, values, token = torch.tensor([POSITION]), empty(), empty(), [torch.zeros(1, dtype=torch.long)]

    def once():
        token[0] = f(token[0], position, keys, values)
        int(token[0])

    first, started = first_call(once)
    emit(PEER, name, sample(once), first_step_s=first, start_to_first_step_s=started)


def overhead(name):
    b = torch.linspace(0.5, 0.43, 8)
    for n in (1, 50, 500):

        def chain(x):
            for i in range(n):
                x = x * b if i & 1 else x + b
            return x

        timed(f"function_{n}", chain, torch.linspace(0.25, 2, 8))


for workload in options.workloads:
    run = {"train": train, "large": train, "infer": infer, "decode": decode, "overhead": overhead}.get(workload.split("_")[0])
    if workload in ops:
        operation(workload)
    elif run:
        run(workload)
