#!/usr/bin/env python3
"""Where the time of a workload goes, and what its slow calls have that its fast ones have not.

    bench/where.py WORKLOAD [--threads N] [--secs S] [--cache DIR] [--rows N] [--addresses SYMBOL]

Runs lz-bench under perf (Debian: linux-perf; as root, or with kernel.perf_event_paranoid at 0; a sample every 0.1 ms of each processor, whoever has it)
and sorts the samples by the call in which they fall: a row for each thread or other program and function, with its ms in a call of the fastest
quarter and of the slowest, those that grow most first. "idle" is a processor that had nothing to do, "host" the samples that a busy processor has not:
a virtual machine's host had it. --addresses prints, for one function, the share of each address's samples, for
reading beside LAZULI_DUMP=asm. Only Python's standard library is used.
"""
import argparse
import bisect
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BENCH = pathlib.Path(__file__).resolve().parent.parent / "build" / "bench" / "lz-bench"
HZ = 10000


def record(options, folder):
    """The samples [(seconds, who, address, function)] and the calls [(begin, end, how many)]."""
    data, calls = folder / "perf.data", folder / "calls"
    command = ["perf", "record", "-q", "-a", "-k", "CLOCK_MONOTONIC", "-F", str(HZ), "-e", "cpu-clock", "-o", data, BENCH, options.workload,
               "--threads", options.threads, "--secs", options.secs, "--calls", calls] + (["--cache", options.cache] if options.cache else [])
    r = subprocess.run([str(c) for c in command], capture_output=True, text=True, env={**os.environ, "LAZULI_PERF": "1"})
    if r.returncode != 0 or not calls.exists():
        sys.exit(f"where.py: {(r.stderr or 'no sample was noted').strip()}")
    print(r.stdout.strip())
    text = subprocess.run(["perf", "script", "-i", data, "-F", "comm,tid,cpu,time,ip,sym"], capture_output=True, text=True, check=True).stdout
    samples, last = [], {}  # last: {processor: (seconds, who)}
    for m in re.finditer(r"^\s*(.+?)\s+(\d+)\s+\[(\d+)\]\s+([\d.]+):\s+([0-9a-f]+)\s+(.*)$", text, re.M):
        who, tid, cpu, time, ip, function = m.groups()
        time, (who, function) = float(time), ("idle", "") if int(tid) == 0 else (who, function)
        before, whose = last.get(cpu, (time, who))
        absent = "idle" if "idle" in (who, whose) else "host"
        samples += [(before + (i + 1) / HZ, absent, 0, "") for i in range(round((time - before) * HZ) - 1)]
        samples.append((time, who, int(ip, 16), function))
        last[cpu] = time, who
    return samples, [(float(b), float(e), int(n)) for b, e, n in map(str.split, calls.read_text().splitlines())]


def quarters(calls):
    """The calls of the quickest and of the slowest quarter, and all."""
    order = sorted(calls, key=lambda c: (c[1] - c[0]) / c[2])
    n = max(1, len(order) // 4)
    return {"fast": order[:n], "slow": order[-n:], "all": order}


def within(samples, calls):
    """Those samples that fall into one of the calls."""
    calls = sorted(calls)
    begins = [b for b, _, _ in calls]
    for s in samples:
        i = bisect.bisect_right(begins, s[0]) - 1
        if i >= 0 and s[0] < calls[i][1]:
            yield s


def spread(samples, calls):
    """{(who, function): ms in a call}, and ms of a call."""
    of = collections.Counter((who, function) for _, who, _, function in within(samples, calls))
    number, wall = sum(n for _, _, n in calls), sum(e - b for b, e, _ in calls)
    return {k: 1e3 * c / HZ / number for k, c in of.items()}, 1e3 * wall / number


def table(samples, groups, rows):
    ms = {name: spread(samples, calls) for name, calls in groups.items()}
    fast, slow, whole = ms["fast"], ms["slow"], ms["all"]
    print(f"{sum(n for _, _, n in groups['all'])} calls; ms of a call: all {whole[1]:.4g}, fastest quarter {fast[1]:.4g}, slowest {slow[1]:.4g}")
    keys = sorted(whole[0], key=lambda k: -whole[0][k])
    keys = sorted(keys[:rows], key=lambda k: -(slow[0].get(k, 0) - fast[0].get(k, 0)))
    print(f"{'all':>9s} {'%':>5s} {'fast':>9s} {'slow':>9s} {'more':>9s}  function, by who ran it (% of {os.cpu_count()} processors)")
    for k in keys:
        f, s, a = fast[0].get(k, 0), slow[0].get(k, 0), whole[0][k]
        print(f"{a:9.4f} {100 * a / whole[1] / os.cpu_count():5.1f} {f:9.4f} {s:9.4f} {s - f:+9.4f}  {k[0]} {k[1]}")


def addresses(samples, calls, function, rows):
    inside = collections.Counter(a for _, _, a, f in within(samples, calls) if function in f)
    total = sum(inside.values())
    for a in sorted(a for a, _ in inside.most_common(rows)):
        print(f"{a:#x} {100 * inside[a] / total:6.2f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workload")
    parser.add_argument("--threads", default="2")
    parser.add_argument("--secs", default="3")
    parser.add_argument("--cache")
    parser.add_argument("--rows", default=16, type=int)
    parser.add_argument("--addresses", metavar="SYMBOL")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        samples, calls = record(options, pathlib.Path(folder))
    groups = quarters(calls)
    table(samples, groups, options.rows)
    if options.addresses:
        addresses(samples, groups["all"], options.addresses, options.rows)


if __name__ == "__main__":
    main()
