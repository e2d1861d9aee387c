#!/usr/bin/env python3
"""The benchmark page: one HTML file from bench/results/*.json that needs nothing else (make bench-page).

    bench/page.py [--results DIR] [--output FILE]

A card for each workload: its time over the commits, a line for each machine, with the spread between the least and the median time; the percent
of what limits it; and the peers' times divided by ours. A machine is a processor's name, how many there are, and what it reached in multiply-adds:
clouds call different processors by one name, and runs of those are never in one line. Only Python's standard library is used.
"""
import argparse
import html
import json
import math
import pathlib
import time

import table

HERE = pathlib.Path(__file__).resolve().parent
COLOURS = ["#1f6feb", "#d9480f", "#2b8a3e", "#9c36b5", "#0b7285", "#c2255c", "#846358", "#495057"]
SAME_RATE = 1.15  # multiply-adds of two runs of one machine differ by less
# They read and write nothing: the triad, which also writes, is not their limit.
READS = {"gemv_4096", "sum_4096", "sumrow_4096", "sumcol_4096", "max_4096"}
text = lambda s: html.escape(str(s), quote=True)


def number(v, digits=3):
    return "-" if v is None else f"{v:.0f}" if v >= 10 ** digits else f"{v:.{digits}g}"


def milliseconds(v):
    return f"{number(1e3 * v)} us" if v < 0.1 else f"{number(v)} ms"


# ---- machines ----


class Machine:
    def __init__(self, result):
        self.name, self.processors, self.rates, self.runs = result["cpu"], result["processors"], [], []

    def is_of(self, result):
        """Of one name, and of one speed at every number of threads that both have."""
        if (result["cpu"], result["processors"]) != (self.name, self.processors):
            return False
        said = result.get("machine")
        for known in (r.get("machine") for r in self.runs): # older results do not say it
            if known and said and any(known.get(k) != said.get(k) for k in ("family", "model", "stepping", "isa")):
                return False
        for rates in self.rates:
            for threads, rate in result["fma_gflops"].items():
                if threads in rates and max(rate, rates[threads]) > SAME_RATE * min(rate, rates[threads]):
                    return False
        return True

    def add(self, result):
        self.rates.append(result["fma_gflops"])
        self.runs.append(result)

    def label(self):
        best = max((r for rates in self.rates for r in rates.values()), default=None)
        return f"{self.name}, {self.processors} processors" + (f", {best:.0f} Gflop/s" if best else "")


def machines_of(results):
    machines = []
    for r in results:
        m = next((m for m in machines if m.is_of(r)), None)
        if m is None:
            m = Machine(r)
            machines.append(m)
        m.add(r)
    for i, m in enumerate(machines):
        m.colour = COLOURS[i % len(COLOURS)]
    return machines


# ---- one row ----


def limit_of(row):
    """(percent, of what): multiply-adds where they bind, else memory."""
    if row.get("fma") and row["fma"] > 40:
        return row["fma"], "multiply-adds"
    if row.get("bw"):
        return row["bw"], "memory"
    return (row["fma"], "multiply-adds") if row.get("fma") else (None, "")


def why_above(workload, what):
    """What more than 100 % of a limit means."""
    if what == "multiply-adds":
        return "above 100 %: the limit was measured while others had the machine"
    if workload in table.CACHED:
        return "above 100 %: its data stays in the caches"
    if workload in READS:
        return "above 100 %: it only reads; the limit, STREAM's triad, also writes"
    return "above 100 %: some of its data stays in the caches, or others had the machine when the limit was measured"


# ---- drawing ----


def ticks(hi, n=4):
    """Round marks from 0 to hi or a little beyond."""
    rough = hi / n or 1
    power = 10 ** math.floor(math.log10(rough))
    step = next(s * power for s in (1, 2, 5, 10) if s * power >= rough)
    return [i * step for i in range(int(math.ceil(hi / step - 1e-9)) + 1)]


def svg_text(x, y, s, anchor="start", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>{text(s)}</text>'


def chart(workload, threads, commits, machines):
    """Time over the commits."""
    wide, high, left, right, top, bottom = 380, 190, 52, 12, 12, 34
    points = []  # (machine, [(index of the commit, run, row)])
    for m in machines:
        rows = [(commits.index(r["commit"]), r, row) for r in m.runs for row in r["rows"] if (row["workload"], row["threads"]) == (workload, threads) and row["median_ms"]]
        if rows:
            points.append((m, rows))
    most = max(spread(row)[1] for _, rows in points for _, _, row in rows)
    marks = ticks(most)
    x = lambda i: left + (wide - left - right) * ((i + 0.5) / len(commits))
    y = lambda v: high - bottom - (high - bottom - top) * v / marks[-1]
    out = [f'<svg width="{wide}" height="{high}" role="img" aria-label="time of {text(workload)} over commits">']
    for v in marks:
        out.append(f'<path class="grid" d="M{left} {y(v):.1f}H{wide - right}"/>' + svg_text(left - 5, y(v) + 4, number(v) if v else "0", "end"))
    out.append(svg_text(10, high / 2 - 12, "ms", "middle"))
    every = math.ceil(len(commits) / 7)
    for i, c in enumerate(commits):
        if (len(commits) - 1 - i) % every == 0:
            out.append(svg_text(x(i), high - bottom + 14, c[:7], "middle", 'class="small"'))
    for m, rows in points:
        if len(rows) > 1:
            out.append(f'<path class="line" stroke="{m.colour}" d="M' + "L".join(f"{x(i):.1f} {y(row['median_ms']):.1f}" for i, _, row in rows) + '"/>')
        for i, r, row in rows:
            lo, hi = spread(row)
            at = f"{r['commit']}, {time.strftime('%F', time.gmtime(r['when']))}, {m.label()}: median {milliseconds(row['median_ms'])}, {milliseconds(lo)} to {milliseconds(hi)}"
            out.append(f'<g><path class="spread" stroke="{m.colour}" d="M{x(i):.1f} {y(lo):.1f}V{y(hi):.1f}M{x(i) - 4:.1f} {y(lo):.1f}h8M{x(i) - 4:.1f} {y(hi):.1f}h8"/>'
                       f'<circle cx="{x(i):.1f}" cy="{y(row["median_ms"]):.1f}" r="4" fill="{m.colour}"/><title>{text(at)}</title></g>')
    out.append("</svg>")
    return "".join(out)


def spread(row):
    """From the least time to the largest median of a round, where rounds were kept."""
    medians = row.get("rounds_ms") or [row["median_ms"]]
    return min(row["min_ms"] or row["median_ms"], *medians, row["median_ms"]), max(*medians, row["median_ms"])


def ratios(latest):
    """Peers' times by ours, on a logarithmic axis; latest: [(machine, row)]."""
    names = list(dict.fromkeys(p for _, row in latest for p in row["peers"]))
    shown = [(n, m, row["peers"][n]) for n in names for m, row in latest if n in row["peers"] and row["peers"][n]["median"]]
    if not shown:
        return '<p class="none">no peer has it</p>'
    values = [v for _, _, r in shown for v in (r["median"], r["min"]) if v]
    lo, hi = min(0.5, *values) / 1.1, max(2, *values) * 1.1
    wide, left, right, row_high, top = 300, 62, 14, 20, 8
    high = top + row_high * len(names) + 30
    x = lambda v: left + (wide - left - right) * math.log(v / lo) / math.log(hi / lo)
    out = [f'<svg width="{wide}" height="{high}" role="img" aria-label="times of peers divided by ours">']
    out.append(f'<rect x="{x(1):.1f}" y="{top}" width="{wide - right - x(1):.1f}" height="{row_high * len(names)}" fill="#eef8ee"/>')
    every = 2 if hi / lo < 40 else 4 if hi / lo < 2000 else 16
    marks = [float(every) ** e for e in range(-12, 13)]
    for v in marks:
        if lo <= v <= hi:
            out.append(f'<path class="{"one" if v == 1 else "grid"}" d="M{x(v):.1f} {top}V{high - 30}"/>' + svg_text(x(v), high - 17, number(v), "middle", 'class="small"'))
    out.append(svg_text((left + wide - right) / 2, high - 4, "peer's time / ours: right of 1 we are faster", "middle", 'class="small"'))
    for k, n in enumerate(names):
        at = top + row_high * (k + 0.5)
        out.append(svg_text(left - 6, at + 4, table.PEERS.get(n, n), "end"))
        mine = [(m, r) for name, m, r in shown if name == n]
        for j, (m, r) in enumerate(mine):
            yy = at + (j - (len(mine) - 1) / 2) * 5
            said = f"{n} on {m.label()}: {r['median']:.2f}" + (f", by least times {r['min']:.2f}" if r["min"] else "") + (f", by processor time {r['cpu']:.2f}" if r.get("cpu") else "")
            out.append(f'<g><path class="spread" stroke="{m.colour}" d="M{x(r["median"]):.1f} {yy:.1f}H{x(r["min"] or r["median"]):.1f}"/>'
                       f'<circle cx="{x(r["median"]):.1f}" cy="{yy:.1f}" r="3.6" fill="{m.colour}"/><title>{text(said)}</title></g>')
    out.append("</svg>")
    return "".join(out)


def limits(workload, latest):
    """A bar for each machine's percent of what limits the workload, of an axis that ends at 100."""
    out = []
    for m, row in latest:
        percent, what = limit_of(row)
        if percent is None:
            continue
        out.append(f'<div class="limit"><span class="of">{text(what)}</span><span class="track"><i style="width:{min(100, percent):.0f}%;background:{m.colour}"></i></span>'
                   f'<b>{percent:.0f} %</b></div>')
        if percent > 100:
            out.append(f'<p class="word">{text(why_above(workload, what))}</p>')
    return "".join(out)


def goals(latest):
    """A line for each target: what each machine has."""
    rows = {}
    for m, row in latest:
        for g in row.get("targets", []):
            value = g["value"] if isinstance(g["value"], list) else [g["value"]]
            rows.setdefault((g["figure"], g["bound"]), []).append(f'<span class="{"ok" if g["reached"] else "miss"}"><i style="background:{m.colour}"></i>{" or ".join(number(v) for v in value)}</span>')
    lines = [f'<div><span class="of">{text(figure)} {text(bound)}</span> {"".join(cells)}</div>' for (figure, bound), cells in rows.items()]
    return f'<div class="goals">{"".join(lines)}</div>' if lines else ""


def card(workload, threads, commits, machines):
    latest = []
    for m in machines:
        rows = [row for r in m.runs for row in r["rows"] if (row["workload"], row["threads"]) == (workload, threads) and row["median_ms"]]
        if rows:
            latest.append((m, rows[-1]))
    if not latest:
        return ""
    title = table.WORK.get(workload, workload)
    return (f'<section class="card" id="{text(workload)}-{threads}"><h3>{text(title)} <small>{text(workload)}</small></h3>'
            f'<div class="two">{chart(workload, threads, commits, machines)}<div>{ratios(latest)}{limits(workload, latest)}{goals(latest)}</div></div></section>')


# ---- the page ----

STYLE = """body{font:13px/1.35 system-ui,"DejaVu Sans",sans-serif;color:#1c2430;margin:0;background:#f6f7f9}
header{padding:14px 22px;background:#fff;border-bottom:1px solid #d5dae2}h1{font-size:20px;margin:0 0 6px}h2{margin:18px 22px 8px;font-size:16px}
.key span{margin-right:20px;white-space:nowrap}.key i,.goals i{display:inline-block;width:11px;height:11px;border-radius:6px;margin-right:6px;vertical-align:-1px}
.goals i{width:7px;height:7px}p{margin:4px 0;max-width:1100px}.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(680px,1fr));gap:14px;padding:0 22px 22px}
.card{background:#fff;border:1px solid #d5dae2;border-radius:8px;padding:10px 14px}h3{font-size:14px;margin:0 0 4px}h3 small{color:#667085;font-weight:normal;margin-left:6px}
.two{display:flex;gap:14px;align-items:flex-start}.two>svg{flex:none}.two>div{flex:1;min-width:0}.grid{stroke:#e8ebf0}.one{stroke:#1c2430}.line{fill:none;stroke-width:1.8}.spread{stroke-width:1.6;opacity:.6;fill:none}
svg text{font-size:11px;fill:#344054}svg .small{font-size:10px;fill:#667085}.limit{display:grid;grid-template-columns:92px 150px 60px;align-items:center;gap:6px}
.limit .of{color:#667085}.track{background:#e8ebf0;height:9px;border-radius:2px;overflow:hidden}.track i{display:block;height:9px}.word{color:#9a5b00;font-size:11px;max-width:300px}
.goals{margin-top:6px;font-size:12px}.goals span{margin-right:10px}.goals .of{color:#667085}.goals i{vertical-align:1px}.ok{color:#1b7a34}.miss{color:#b42318}.none{color:#98a2b3}
table{border-collapse:collapse;margin:0 22px;background:#fff}td,th{padding:3px 10px;border:1px solid #e3e6eb;text-align:right}td:not(:last-child){white-space:nowrap}td:first-child,th:first-child{text-align:left}"""


def overview(machines):
    """How each machine's latest run stands: targets, and against which peers it wins."""
    rows = []
    for m in machines:
        last = m.runs[-1]
        found = [g for row in last["rows"] for g in row.get("targets", [])]
        peers = {}
        for row in last["rows"]:
            for n, r in row["peers"].items():
                if r["median"]:
                    peers.setdefault(n, []).append(r["median"])
        said = ", ".join(f"{text(table.PEERS.get(n, n))} {sum(v >= 1 for v in vs)} of {len(vs)}, {number(math.exp(sum(map(math.log, vs)) / len(vs)))}x in the mean" for n, vs in peers.items())
        rows.append(f'<tr><td><i style="display:inline-block;width:11px;height:11px;border-radius:6px;background:{m.colour}"></i> {text(m.label())}</td><td>{text(last["commit"])}</td>'
                    f'<td>{time.strftime("%F", time.gmtime(last["when"]))}</td><td>{len(m.runs)}</td><td>{len(last["rows"])}</td><td>{sum(g["reached"] for g in found)} of {len(found)}</td><td style="text-align:left">{said}</td></tr>')
    return ('<table class="machines"><tr><th>machine</th><th>latest commit</th><th>date</th><th>runs</th><th>results</th><th>targets reached</th><th style="text-align:left">faster than (of so many results; geometric mean)</th></tr>'
            + "".join(rows) + "</table>")


def page(results):
    results = sorted(results, key=lambda r: r["when"])
    machines = machines_of(results)
    commits = list(dict.fromkeys(r["commit"] for r in results))
    out = [f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Lazuli: benchmark</title>\n<style>{STYLE}</style></head><body>',
           "<header><h1>Benchmark</h1><p>A chart for each workload: its median time over the commits (bars: from the least time to the slowest round), a line for each machine; runs of different "
           "processors are never in one line, also where they have one name. Beside it how long each peer takes, divided by ours, in the latest run of each machine, and how much of what limits "
           "the work was reached: multiply-adds, or STREAM's triad with streaming stores, as measured on the same machine.</p>"
           '<p class="key">' + "".join(f'<span><i style="background:{m.colour}"></i>{text(m.label())}</span>' for m in machines) + "</p></header>", "<h2>Latest runs</h2>", overview(machines)]
    for threads in sorted({row["threads"] for r in results for row in r["rows"]}):
        names = list(dict.fromkeys(row["workload"] for r in reversed(results) for row in r["rows"] if row["threads"] == threads))
        out.append(f"<h2>{threads} thread{'s' if threads > 1 else ''}</h2><div class=\"cards\">")
        out += [card(name, threads, commits, machines) for name in names]
        out.append("</div>")
    out.append("</body></html>")
    return "\n".join(out) + "\n"


def write(folder, output):
    results = [json.loads(f.read_text()) for f in sorted(folder.glob("*.json"))]
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(page(results), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=pathlib.Path, default=HERE / "results")
    parser.add_argument("--output", type=pathlib.Path)
    options = parser.parse_args()
    write(options.results, options.output or options.results / "index.html")


if __name__ == "__main__":
    main()
