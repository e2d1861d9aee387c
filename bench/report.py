#!/usr/bin/env python3
"""Runs lz-bench, alone or with the peers in turn, and keeps what it printed.

    bench/report.py run [--peer NAME=PYTHON ...] [--threads 1,2] [--rounds N] [--secs S] [--workloads A,B] [--keep]
    bench/report.py page

run: every workload once per round and program, one program after the other, so that all of them meet the same disturbances;
prints a row per workload with the ratio to the limit (of multiply-adds the best that was measured so far: a virtual machine is slowed down
for seconds at a time, and a limit measured then would flatter; of memory that of the same process: it depends on what others do), the ratio to each peer (median over the rounds
of peer's time / ours: above 1 we are faster; also of the least times, and of processor time, which says most on a busy machine) and the targets of bench/targets.tsv. --keep writes bench/results/COMMIT.json and the page.
page: bench/results/index.html from all results (bench/page.py). Only Python's standard library is used.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import page

HERE = pathlib.Path(__file__).resolve().parent
RESULTS = HERE / "results"
BENCH = HERE.parent / "build" / "bench" / "lz-bench"


# ---- running ----


def workloads():
    """Those of lz-bench --help, without what measures no work and what takes a GPU."""
    text = subprocess.run([BENCH, "--help"], capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in text.splitlines() if line.startswith("  ") and not line.startswith("  --")]
    return [n for n in names if n != "limits" and not n.startswith("large_")]


def lines(command, limit_s):
    """The JSON lines that a command prints, or why there are none."""
    try:
        r = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=limit_s, cwd=HERE / "peers")
    except subprocess.TimeoutExpired:
        return [], f"longer than {limit_s} s"
    if r.returncode != 0:
        said = (r.stderr or r.stdout).strip().splitlines()
        return [], said[-1] if said else f"status {r.returncode}"
    return [json.loads(l) for l in r.stdout.splitlines() if l.startswith("{")], ""


def programs(peers):
    """(name, command): ours, and bench/peers/<first word>_peer.py for each peer; hand is a program."""
    yield "lazuli", [BENCH]
    for name, python in peers:
        if name == "hand":
            yield name, [python]
            continue
        flags = ["--compile"] if name.endswith("-compile") else []
        yield name, [python, HERE / "peers" / (name.split("-")[0] + "_peer.py"), *flags]


def run(options):
    """{threads: {result: {program: [line of each round]}}}, [(program, workload, what failed)]"""
    results, failed = {}, []
    for threads in options.threads:
        table = results.setdefault(threads, {})
        start_limits(threads)
        for workload in options.workloads:
            for _ in range(options.rounds):
                for name, command in programs(options.peer):
                    got, why = lines([*command, workload, "--threads", threads, "--secs", options.secs], options.limit)
                    if why:
                        failed.append((name, workload, why))
                        print(f"{name}: {workload}: {why}", file=sys.stderr)
                    for line in got:
                        note_fma(threads, line["extra"].get("limit", {}).get("fma_max", 0))
                        table.setdefault(line["workload"], {}).setdefault(name, []).append(line)
            show(threads, workload, table, failed)
    return results, failed


# ---- figures of one result ----

best_fma = {}  # threads: GFLOP/s


def note_fma(threads, rate):
    best_fma[threads] = max(rate, best_fma.get(threads, 0))


def start_limits(threads):
    for line in lines([BENCH, "limits", "--threads", threads], 600)[0]:
        if line["workload"] == "fma_f32":
            note_fma(threads, line["max"])


def figure(rounds, name):
    """The median over the rounds of a member, of its extra, or of a percentage of a limit; None where there is none."""

    def of(line):
        e = line["extra"]
        derived = {
            "fma": lambda: 100 * e["gflops"] / best_fma[e["threads"]],
            "bw": lambda: e["pct_triad_nt"],
            "read": lambda: 100 * e["gbs"] / e["limit"]["read_gbs"],
            "line": lambda: e["limit"]["line_ns"],
        }
        try:
            return derived[name]() if name in derived else line[name] if name in line else e[name]
        except KeyError:
            return None

    values = [v for v in map(of, rounds) if v is not None]
    return statistics.median(values) if values else None


def ratio(ours, theirs, member="median_ms"):
    """Median over the rounds of their time by ours."""
    of = lambda line: line.get(member) or line["extra"].get(member)
    pairs = [of(t) / of(o) for o, t in zip(ours, theirs) if of(t) and of(o)]
    return statistics.median(pairs) if pairs else None


def targets():
    """[(workload, threads, [(figure, sign, bound)], best peer)]; any of the figures is enough"""
    rows = []
    for line in (HERE / "targets.tsv").read_text().splitlines():
        if line and not line.startswith("#"):
            workload, threads, names, bounds, peer = line.split("\t")
            ways = [(n, b[:2], float(b[2:])) for n, b in zip(names.split(","), bounds.split(","))]
            rows.append((workload, int(threads), ways, peer))
    return rows


def reached(value, sign, bound):
    return value is not None and (value >= bound if sign == ">=" else value <= bound)


def goal(ways, best_peer, programs_lines):
    """What a target's figures are in a result; those that were not measured are left out where another one was."""
    ours = programs_lines.get("lazuli", [])
    value = lambda name: ratio(ours, programs_lines.get("hand", [])) if name == "hand" else figure(ours, name)
    known = [(n, value(n), f"{sign}{bound:g}", reached(value(n), sign, bound)) for n, sign, bound in ways]
    known = [k for k in known if k[1] is not None] or known
    return {"figure": " or ".join(k[0] for k in known), "value": [k[1] for k in known], "bound": " or ".join(k[2] for k in known),
            "reached": any(k[3] for k in known), "best_peer": best_peer}


def summary(threads, workload, programs_lines):
    """One row for the table and the page."""
    ours = programs_lines.get("lazuli", [])
    row = {
        "workload": workload,
        "threads": threads,
        "median_ms": figure(ours, "median_ms"),
        "min_ms": min((l["min_ms"] for l in ours), default=None),
        "rounds_ms": [l["median_ms"] for l in ours],
        "fma": figure(ours, "fma"),
        "bw": figure(ours, "bw"),
        "load": figure(ours, "load"),
        "line": figure(ours, "line"),
        "cpu_ms": figure(ours, "cpu_ms"),
        "peers": {n: {"median": ratio(ours, l), "min": ratio(ours, l, "min_ms"), "cpu": ratio(ours, l, "cpu_ms")}
                  for n, l in programs_lines.items() if n != "lazuli" and ours},
        "targets": [],
    }
    if ours:
        row["targets"] = [goal(ways, peer, programs_lines) for w, t, ways, peer in targets() if (w, t) == (workload, threads)]
    return row


# ---- printing ----


def number(v, digits=3):
    if isinstance(v, list):
        return " or ".join(number(x, digits) for x in v)
    return "-" if v is None else f"{v:.{digits}g}"


def show(threads, workload, table, failed):
    """The rows of what one workload printed; head it once."""
    if not getattr(show, "headed", False):
        print(f"{'result':20s} thr {'ms':>9s} {'least ms':>9s} {'%fma':>5s} {'%triad':>6s} load  line  peer's time / ours (median, least, processor time); targets")
        show.headed = True
    for name in table:
        if name == workload or workload == "overhead" and name not in show_done(threads):
            row = summary(threads, name, table[name])
            show_done(threads).add(name)
            peers = ", ".join(f"{n} {number(r['median'])} ({number(r['min'])}, {number(r['cpu'])})" for n, r in row["peers"].items())
            goals = ", ".join(f"{g['figure']} {number(g['value'])} {'reaches' if g['reached'] else 'MISSES'} {g['bound']}"
                              for g in row["targets"])
            print(f"{name:20s} {threads:3d} {number(row['median_ms'], 4):>9s} {number(row['min_ms'], 4):>9s} "
                  f"{number(row['fma']):>5s} {number(row['bw']):>6s} {number(row['load'], 2):>4s} {number(row['line']):>5s}  {peers}; {goals}", flush=True)


def show_done(threads, done={}):
    return done.setdefault(threads, set())


# ---- keeping ----


def git(*words):
    return subprocess.run(["git", *words], capture_output=True, text=True, cwd=HERE).stdout.strip()


def keep(results, failed):
    RESULTS.mkdir(exist_ok=True)
    changed = "+" if git("status", "--porcelain", "--untracked-files=no") else ""
    commit = (git("rev-parse", "--short=10", "HEAD") or "none") + changed
    cpu = next((l.split(":", 1)[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), "?")
    rows = [summary(t, w, l) for t, table in results.items() for w, l in table.items()]
    kept = {"commit": commit, "when": int(time.time()), "cpu": cpu, "processors": os.cpu_count(), "machine": machine(),
            "fma_gflops": best_fma, "rows": rows, "failed": failed}
    (RESULTS / f"{commit}.json").write_text(json.dumps(kept, indent=1) + "\n")
    page.write(RESULTS, RESULTS / "index.html")


def machine():
    """What tells processors of one name apart."""
    about = {}
    for line in open("/proc/cpuinfo"):
        key, _, value = line.partition(":")
        about.setdefault(key.strip(), value.strip())
    flags = set(about.get("flags", "").split())
    return {"family": about.get("cpu family"), "model": about.get("model"), "stepping": about.get("stepping"), "mhz": about.get("cpu MHz"),
            "cache": about.get("cache size"), "isa": [f for f in ("avx2", "fma", "avx512f", "avx512_bf16", "amx_tile") if f in flags]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "page"])
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON",
                        type=lambda t: tuple(t.split("=", 1)), help="jax, torch, torch-compile or numpy, and its interpreter; or hand, and the program")
    parser.add_argument("--threads", default=[1, 2], type=lambda t: [int(n) for n in t.split(",")])
    parser.add_argument("--rounds", default=3, type=int)
    parser.add_argument("--secs", default="1")
    parser.add_argument("--limit", default=600, type=float, help="seconds for one program and workload")
    parser.add_argument("--workloads", type=lambda t: t.split(","))
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    if options.what == "page":
        return page.write(RESULTS, RESULTS / "index.html")
    options.workloads = options.workloads or workloads()
    results, failed = run(options)
    if options.keep:
        keep(results, failed)
    missed = [w for w, t, ways, peer in targets()
              if w in results.get(t, {}) and not goal(ways, peer, results[t][w])["reached"]]
    print(f"{len(missed)} targets missed, {len(failed)} runs failed")
    return 1 if any(f[0] == "lazuli" for f in failed) else 0


if __name__ == "__main__":
    sys.exit(main())
