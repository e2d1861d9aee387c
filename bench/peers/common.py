"""What the peers' scripts share: options, threads, sampling, the JSON line of a result.

    python jax_peer.py WORKLOAD[,WORKLOAD...] [--threads N] [--cache DIR] [--secs S]

Workloads, sizes and fields are those of lz-bench (bench/*.c); a peer prints nothing for a workload that it does not have.
Import this module before the library that is measured: it decides about threads.
"""
import argparse
import json
import os
import resource
import time

ELEMENTS = 16 << 20
SQUARE = 4096
PRODUCTS = {  # m, k, n
    "gemm_256": (256, 256, 256),
    "gemm_512": (512, 512, 512),
    "gemm_1024": (1024, 1024, 1024),
    "gemm_2048": (2048, 2048, 2048),
    "gemm_4096": (4096, 4096, 4096),
    "gemm_64x784x512": (64, 784, 512),
    "gemm_128x768x3072": (128, 768, 3072),
    "gemv_4096": (1, 4096, 4096),
}
# operands of the other single operations: their shapes, and what the random numbers spread over
OPERANDS = {
    "bmm_qk": ([(16, 256, 64)] * 2, 1),
    "bmm_pv": ([(16, 256, 256), (16, 256, 64)], 1),
    "attn_16x256x64": ([(16, 256, 64)] * 3, 1),
    "chain_16M": ([(ELEMENTS,)] * 5, 4),
    "chain_4096": ([(4096,)] * 5, 4),
    "add_16M": ([(ELEMENTS,)] * 2, 1),
    "gelu_16M": ([(ELEMENTS,)], 4),
    "layernorm_4096x1024": ([(4096, 1024), (1024,), (1024,)], 1),
}
OPERANDS.update({n: ([(m, k), (k, c)], 1) for n, (m, k, c) in PRODUCTS.items()})
OPERANDS.update({n + "_4096": ([(SQUARE, SQUARE)], 1)
                 for n in ("sum", "sumrow", "sumcol", "max", "softmax", "transpose")})

GPT = {
    "gpt": dict(layers=4, dim=256, heads=8, context=256, vocabulary=4096, batch=8),
    "gpt2": dict(layers=12, dim=768, heads=12, context=1024, vocabulary=50304, batch=16),
    "gpt2s": dict(layers=12, dim=768, heads=12, context=512, vocabulary=32000, batch=1),
}
POSITION = 128  # of the token that decode_* writes
IMAGES = {  # batch, channels, extent, classes
    "train_mnist": (128, 1, 28, 10),
    "train_resnet18": (32, 3, 32, 10),
    "train_resnet50": (8, 3, 224, 1000),
    "large_train_resnet50": (256, 3, 224, 1000),
    "infer_resnet50": (1, 3, 224, 1000),
}


def _age():
    """Seconds since this process was started."""
    with open("/proc/self/stat") as f:
        start = int(f.read().rsplit(")", 1)[1].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - start / os.sysconf("SC_CLK_TCK")


_begin = time.perf_counter() - _age()


def since_start():
    return time.perf_counter() - _begin


_parser = argparse.ArgumentParser()
_parser.add_argument("workloads")
_parser.add_argument("--threads", type=int, default=2)
_parser.add_argument("--cache", help="of compiled programs, where the peer has one")
_parser.add_argument("--secs", type=float, default=1)
_parser.add_argument("--device", default="cpu", help="torch: such as cuda, where large_* are for")
_parser.add_argument("--compile", action="store_true", help="torch: through torch.compile")
options = _parser.parse_args()
options.workloads = options.workloads.split(",")

for _name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_name] = str(options.threads)
# as lz-bench: so many processors, the last ones; XLA's threads follow this
if options.device == "cpu":
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-options.threads:])


def sample(call):
    """Warms up and calls for options.secs: (median, smallest, how many, median processor time) in seconds."""
    call()
    t = time.perf_counter()
    call()
    once = time.perf_counter() - t
    inner = int(3e-3 / max(once, 1e-9)) + 1 if once < 3e-3 else 1
    times, used, begin, spent = [], [], time.perf_counter(), 0.0
    while len(times) < 400 and (spent < options.secs or
                                len(times) < (7 if spent < 4 * options.secs else 3)):
        p, t = time.process_time(), time.perf_counter()
        for _ in range(inner):
            call()
        times.append((time.perf_counter() - t) / inner)
        used.append((time.process_time() - p) / inner)
        spent = time.perf_counter() - begin
    times.sort()
    used.sort()
    return times[len(times) // 2], times[0], len(times), used[len(used) // 2]


def emit(peer, workload, sampled, **extra):
    median, smallest, n, used = sampled
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    extra = dict(threads=options.threads, n=n, cpu_ms=used * 1e3, load=round(os.getloadavg()[0], 2), rss_mb=round(rss, 1), **extra)
    print(json.dumps(dict(peer=peer, workload=workload, median_ms=median * 1e3, min_ms=smallest * 1e3,
                          extra=extra)), flush=True)


def first_call(call):
    """Its seconds, and those since the process began."""
    t = time.perf_counter()
    call()
    return time.perf_counter() - t, since_start()


def emit_training(peer, workload, step, loss):
    """step() runs one to its end, loss() reads the last one's loss."""
    first, started = first_call(step)
    first_loss = loss()
    sampled = sample(step)
    if not loss() < first_loss:
        raise SystemExit(f"{peer}: {workload}: the loss went from {first_loss} to {loss()}")
    emit(peer, workload, sampled, first_step_s=first, compile_s=first - sampled[0],
         start_to_first_step_s=started, first_loss=first_loss, loss=loss())
