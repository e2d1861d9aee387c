#!/usr/bin/env python3
"""What a data-parallel step of several processes costs beside one process, and how much of its communication compute hides.

    bench/overlap.py [--processes N] [--mesh AXIS] [--rounds R] [--steps S] [--delays US,..] [-- OPTIONS OF gpt]

Runs examples/gpt in turn, R times: one process with as many threads as there are cores, N processes with LAZULI_OVERLAP=1 and 0, with the same global
batch; then N processes for each delay of a message (LAZULI_SOCKET_DELAY). Prints for each the least milliseconds of a step and of processor time in it,
and from the counters CollectiveMicroseconds and CollectiveWaitMicroseconds of all ranks the milliseconds in which collectives are on their way and
the share of them that is not waited for: the median and the best round. A run of two steps, which starts and loads all that any run does, is taken off.
Only Python's standard library is used.
"""
import argparse
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(__file__).resolve().parent.parent / "build" / "release"


def run(options, processes, mesh, delay, beside, steps, folder):
    """One run: milliseconds of all steps, of processor time, of collectives on their way in a process, and of these that are waited for."""
    env = {**os.environ, "CPU_NUM_DEVICES": "1", "LAZULI_OVERLAP": str(beside), "LAZULI_SOCKET_DELAY": str(delay), "LAZULI_CACHE_DIR": str(folder / "cache")}
    gpt = [BUILD / "examples" / "gpt", "--json", "--fake_data", "--sample", "0", "--steps", steps, *options]
    if processes > 1:
        gpt = [BUILD / "lazuli", "launch", "-n", processes, *gpt, "--mesh", f"{mesh}={processes}"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    r = subprocess.run([str(a) for a in gpt], capture_output=True, text=True, env=env, cwd=BUILD.parent.parent)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if r.returncode != 0:
        sys.exit(f"overlap.py: {r.stderr.strip()[-400:]}")
    step_ms = max(float(x) for x in re.findall(r'"step_ms":([\d.]+)', r.stdout))
    cpu_ms = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000
    took, waited = (sum(int(x) for x in re.findall(rf'"{name}":(\d+)', r.stdout)) / 1000 / processes for name in ("collective_us", "collective_wait_us"))
    return step_ms * steps, cpu_ms, took, waited


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--processes", type=int, default=4)
    p.add_argument("--mesh", default="data")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--steps", type=int, default=20)
    p.add_argument("--delays", default="100,1000")
    p.add_argument("options", nargs="*")
    o = p.parse_args()
    rows = [("1 process", 1, 0, 1), (f"{o.processes} processes", o.processes, 0, 1), (f"{o.processes} processes, no overlap", o.processes, 0, 0)]
    for delay in o.delays.split(",") if o.delays else []:
        rows += [(f"{o.processes} processes, {delay} us", o.processes, int(delay), 1), (f"{o.processes} processes, {delay} us, no overlap", o.processes, int(delay), 0)]
    got = {name: [] for name, *_ in rows}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, n, delay, beside in rows:  # what is compiled is kept
            run(o.options, n, o.mesh, delay, beside, 2, folder)
        for _ in range(o.rounds):
            for name, n, delay, beside in rows:
                begun, all = (run(o.options, n, o.mesh, delay, beside, steps, folder) for steps in (2, o.steps))
                ms, cpu, took, waited = ((b - a) / (o.steps - 2) for a, b in zip(begun, all))
                got[name].append((ms, cpu, took, 1 - waited / took if took > 0 else 0))
    print(f"{'':38} {'step ms':>9} {'cpu ms':>8} {'on its way':>11} {'hidden':>8} {'best':>7}")
    for name, *_ in rows:
        step, cpu, flight, hidden = zip(*got[name])
        print(f"{name:38} {min(step):9.2f} {min(cpu):8.2f} {min(flight):11.2f} {statistics.median(hidden):8.0%} {max(hidden):7.0%}")


if __name__ == "__main__":
    main()
