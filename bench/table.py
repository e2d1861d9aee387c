#!/usr/bin/env python3
"""Writes the tables of speed in Markdown pages from bench/results/*.json.

    bench/table.py write|check [PAGE.md ...]

A table stands between a comment that says what it is made of and one that ends it:

    <!-- bench/table.py COMMIT [WORKLOAD,...] -->
    <!-- end of table -->

COMMIT names a file of bench/results; without workloads every one that has a description is listed. Peers' columns are their time
divided by Lazuli's, medians: above 1 Lazuli is faster. check exits with 1 when a page differs. Without pages: README.md and
docs/performance.md. Only Python's standard library is used.
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARK = re.compile(r"(<!-- bench/table\.py (\w+)(?: (\S+))? -->\n).*?(<!-- end of table -->)", re.S)
WORK = {
    "gemm_256": "GEMM f32, 256 x 256 x 256",
    "gemm_512": "GEMM f32, 512 cubed",
    "gemm_1024": "GEMM f32, 1024 cubed",
    "gemm_64x784x512": "GEMM f32, 64 x 784 x 512",
    "gemm_128x768x3072": "GEMM f32, 128 x 768 x 3072",
    "gemv_4096": "GEMV f32, 4096 x 4096",
    "bmm_qk": "batched GEMM, Q K^T",
    "bmm_pv": "batched GEMM, P V",
    "attn_16x256x64": "attention, 16 x 256 x 64",
    "chain_16M": "elementwise chain, 16 M elements",
    "chain_4096": "elementwise chain, 4096 elements",
    "add_16M": "a + b, 16 M elements",
    "gelu_16M": "GELU, 16 M elements",
    "sum_4096": "sum of 4096 x 4096",
    "sumcol_4096": "column sums of 4096 x 4096",
    "softmax_4096": "softmax, 4096 x 4096",
    "transpose_4096": "transpose, 4096 x 4096",
    "layernorm_4096x1024": "layer norm, 4096 x 1024",
    "train_mlp": "training step, MLP",
    "train_mnist": "training step, MNIST convolutions",
    "train_resnet18": "training step, ResNet-18",
    "train_resnet50": "training step, ResNet-50",
    "train_gpt": "training step, GPT",
    "infer_mlp1": "inference, MLP, batch 1",
    "infer_mlp128": "inference, MLP, batch 128",
    "infer_resnet50": "inference, ResNet-50",
    "decode_gpt": "decode one token, small GPT",
    "decode_gpt2s": "decode one token, GPT-2 small",
}
PEERS = {"torch": "PyTorch", "jax": "JAX", "numpy": "NumPy"}
# What these read and write stays in the caches from call to call: memory bandwidth does not limit them.
CACHED = {"chain_4096", "infer_mlp1", "decode_gpt"}


def roofline(row):
    """Percent of what limits the work: FMA throughput, or else memory bandwidth of the STREAM triad."""
    if row["fma"] and row["fma"] > 40:
        return f"{row['fma']:.0f} FMA"
    if row["workload"] in CACHED:
        return "in cache"
    return f"{row['bw']:.0f} triad" if row["bw"] and row["bw"] > 30 else ""


def number(v):
    return f"{v:.0f}" if v >= 100 else f"{v:.3g}"


def table(commit, names):
    result = json.loads((ROOT / "bench" / "results" / f"{commit}.json").read_text())
    rows = {r["workload"]: r for r in result["rows"] if r["threads"] == 2}
    names = names.split(",") if names else [n for n in WORK if n in rows]
    yield "| work | workload | Lazuli, ms | % of roofline (FMA peak or STREAM triad) | " + " | ".join(f"{p} / Lazuli" for p in PEERS.values()) + " |"
    yield "|---|---|---|---|---|---|---|"
    for name in names:
        row = rows[name]
        ratios = [row["peers"].get(p, {}).get("median") for p in PEERS]
        cells = [WORK[name], f"`{name}`", number(row["median_ms"]), roofline(row)]
        yield "| " + " | ".join(cells + ["" if r is None else f"{r:.2f}" for r in ratios]) + " |"


def rewritten(text):
    return MARK.sub(lambda m: m[1] + "\n".join(table(m[2], m[3])) + "\n" + m[4], text)


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in ("write", "check"):
        sys.exit(__doc__)
    bad = 0
    for page in map(pathlib.Path, sys.argv[2:] or [ROOT / "README.md", ROOT / "docs" / "performance.md"]):
        text = page.read_text()
        if rewritten(text) != text and sys.argv[1] == "check":
            print(f"{page}: a table differs from bench/results: bench/table.py write")
            bad = 1
        elif rewritten(text) != text:
            page.write_text(rewritten(text))
    sys.exit(bad)


if __name__ == "__main__":
    main()
