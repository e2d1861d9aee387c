#!/usr/bin/env python3
"""torch_xla_cases.py - what torch computes on its own and torch_xla on its device (PJRT_DEVICE), compared.
  torch_xla_cases.py operations | training
The exit status is 1 where something differs, which is printed."""
import copy
import sys

import torch
import torch.nn.functional as F
import torch_xla

device = torch_xla.device()


def on(x):
    return x.to(device) if isinstance(x, torch.Tensor) else x


def distance(f, arguments):
    """The largest difference of a result of f from that on the device, relative to the largest element."""
    want, got = f(*arguments), f(*map(on, arguments))
    torch_xla.sync()
    worst = 0.0
    for w, g in zip(*(x if isinstance(x, (tuple, list)) else [x] for x in (want, got))):
        if w.shape != g.shape or w.dtype != g.dtype:
            return float("inf")
        w, g = w.to(torch.complex128), g.cpu().to(torch.complex128)
        if w.numel():
            worst = max(worst, float((w - g).abs().max() / w.abs().max().clamp(min=1)))
    return worst


def cases():
    torch.manual_seed(1)
    x, y, rows = torch.randn(6, 8), torch.randn(6, 8), torch.randint(0, 6, (5,))
    square = x @ x.T + torch.eye(6)
    for name in "exp tanh sigmoid abs neg sin cos erf floor ceil round sign expm1 relu".split():
        yield name, getattr(torch, name), (x,)
    for name in "sqrt log log1p rsqrt reciprocal".split():
        yield name, getattr(torch, name), (x.abs() + 0.1,)
    for name in "add mul div atan2 maximum fmod".split():
        yield name, getattr(torch, name), (x, y)
    yield "softmax", lambda a: F.softmax(a, -1), (x,)
    yield "gelu", F.gelu, (x,)
    yield "layer_norm", lambda a: F.layer_norm(a, (8,)), (x,)
    yield "sort", lambda a: torch.sort(a, -1), (x,)
    yield "topk", lambda a: torch.topk(a, 3), (x,)
    yield "cumsum", lambda a: a.cumsum(1), (x,)
    yield "argmax", lambda a: a.argmax(1), (x,)
    yield "kthvalue", lambda a: a.kthvalue(2), (x,)
    yield "index", lambda a, i: a[i], (x, rows)
    yield "index_add", lambda a, i, b: a.index_add(0, i, b), (x, rows, torch.randn(5, 8))
    yield "where", lambda a, b: torch.where(a > 0, a, b), (x, y)
    yield "bmm", torch.bmm, (torch.randn(3, 4, 5), torch.randn(3, 5, 6))
    yield "einsum", lambda a, b: torch.einsum("ij,kj->ik", a, b), (x, y)
    yield "conv2d", lambda a, b: F.conv2d(a, b, padding=1, stride=2), (torch.randn(2, 3, 9, 9), torch.randn(4, 3, 3, 3))
    yield "avg_pool2d", lambda a: F.avg_pool2d(a, 2), (torch.randn(2, 3, 8, 8),)
    yield "interpolate", lambda a: F.interpolate(a, scale_factor=2, mode="bilinear"), (torch.randn(1, 2, 4, 4),)
    yield "attention", F.scaled_dot_product_attention, tuple(torch.randn(2, 2, 5, 4) for _ in range(3))
    yield "qr", lambda a: torch.linalg.qr(a)[1].abs(), (x.T.contiguous(),)
    yield "svdvals", torch.linalg.svdvals, (x,)
    yield "eigvalsh", torch.linalg.eigvalsh, (square,)
    yield "inv", torch.linalg.inv, (square,)
    yield "cholesky", torch.linalg.cholesky, (square,)
    yield "embedding", lambda w, i: F.embedding(i, w), (torch.randn(6, 3), rows)
    yield "cross_entropy", F.cross_entropy, (torch.randn(5, 6), rows)
    yield "rfft", torch.fft.rfft, (x,)
    yield "unfold", lambda a: F.unfold(a, 2), (torch.randn(1, 2, 4, 4),)
    yield "bfloat16", lambda a: (a.bfloat16() @ a.bfloat16().T).float(), (torch.full((6, 8), 2.0),)
    yield "nonzero", torch.nonzero, (x > 0,)
    yield "unique", torch.unique, (rows,)
    yield "roll", lambda a: a.roll(2, 1), (x,)
    yield "var", lambda a: a.var(1), (x,)
    yield "logsumexp", lambda a: a.logsumexp(1), (x,)
    yield "integers", lambda a: a * a // 3 - a % 4, (torch.arange(-4, 9),)
    yield "float64", lambda a: a.double() / 3, (x,)
    yield "empty", lambda a: a[:0].sum(0), (x,)


def operations():
    wrong = 0
    for name, f, arguments in cases():
        try:
            off = distance(f, arguments)
        except Exception as e:  # of any kind: the others are tried, too
            off = f"{type(e).__name__}: {str(e)[:200]}"
        if isinstance(off, str) or not off < 1e-4:
            print(f"{name}: {off}")
            wrong += 1
    return wrong


def training():
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(),
        torch.nn.Linear(4 * 5 * 5, 10))
    models = [model, copy.deepcopy(model).to(device)]
    optimizers = [torch.optim.AdamW(m.parameters(), 0.01) for m in models]
    wrong = 0
    for step in range(8):
        images, labels = torch.randn(16, 1, 12, 12), torch.randint(0, 10, (16,))
        losses = []
        for m, optimizer, put in zip(models, optimizers, (lambda x: x, on)):
            optimizer.zero_grad()
            loss = F.cross_entropy(m(put(images)), put(labels))
            loss.backward()
            optimizer.step()
            losses.append(loss)
        torch_xla.sync()
        want, got = (loss.item() for loss in losses)
        if not abs(want - got) < 1e-4 * max(1, abs(want)):
            print(f"step {step}: a loss of {got}, not {want}")
            wrong += 1
    return wrong


sys.exit({"operations": operations, "training": training}[sys.argv[1]]() > 0)
