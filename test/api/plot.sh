#!/usr/bin/env bash
# plot.sh - lazuli plot, and --log of the examples: curves in the terminal and as SVG from JSON lines, TensorBoard's events and
# folders; names that are markup; files that are cut or damaged. TensorBoard reads the events where its Python package is installed.
# shellcheck disable=SC2154  # tmp is that of steps.bash
set -u
BUILD=${BUILD:?}
root=$PWD
tool=$(realpath "$BUILD/lazuli") gpt=$(realpath "$BUILD/examples/gpt")
python=${LZ_TEST_PYTHON:-python3}
command -v "$python" >/dev/null || { echo 'plot.sh: python3 is not installed' >&2; exit 77; }
# shellcheck source=test/steps.bash
. test/steps.bash
export HOME=$tmp/home LC_ALL=C.UTF-8
mkdir "$HOME"
cd "$tmp" || exit 1

# ---- JSON lines: ours; numbers by name; steps again, which take the place of the first ----
cat >ours.jsonl <<'J'
{"time":1.5,"step":0,"name":"</text>&\"\u0007ä","value":4}
{"time":1.5,"step":10,"name":"</text>&\"\u0007ä","value":2.5e-1}
{"time":1.5,"step":20,"name":"</text>&\"\u0007ä","value":"NaN"}
{"time":1.5,"step":20,"name":"b","value":"-Infinity"}
{"time":1.5,"step":10,"name":"</text>&\"\u0007ä","value":1}
J
printf '{"loss": 3, "lr": 0.1, "note": "x", "list": [1, {"a": 2}]}\n{"loss": 2, "lr": 0.1}\n\n{"loss": 1.5, "step": 7}\n{"loss": 1' >wide.jsonl
says 0 'ours.jsonl: 1 at step 10|nan at step 20, least 1 at step 10' "$tool" plot ours.jsonl
says 0 'values are not finite' "$tool" plot ours.jsonl
says 0 'wide.jsonl: 1.5 at step 7, least 1.5 at step 7' "$tool" plot wide.jsonl --name loss
says 0 '^lr$' "$tool" plot wide.jsonl
says 0 '│.*⠤' "$tool" plot wide.jsonl --name loss --width 60 --height 5
says 0 '^ +3 \|\*' env LC_ALL=C "$tool" plot wide.jsonl --name loss --width 60
cp wide.jsonl other.jsonl
says 0 '^  b wide.jsonl: 1.5' "$tool" plot wide.jsonl other.jsonl --name loss --width 40 --height 4
"$tool" plot ours.jsonl wide.jsonl -o x.svg --smooth 0.5 --log 2>err.txt
says 0 '^[1-9]' "$python" -c '
import sys, xml.dom.minidom as m
d = m.parse("x.svg")
assert d.documentElement.tagName == "svg"
texts = ["".join(c.data for c in t.childNodes) for t in d.getElementsByTagName("text")]
assert any(t == "</text>&\"\ufffdä" for t in texts), texts
assert "nan" not in " ".join(p.getAttribute("d") for p in d.getElementsByTagName("path")).lower()
print(len(texts))'
printf '{"value": 1e308, "name": "x"}\n{"value": -1e308, "name": "x"}\n{"value": 5, "name": "one"}\n{"value": 0, "name": "one", "step": -3}\n' >extreme.jsonl
says 0 '^x$' "$tool" plot extreme.jsonl
says 0 '^one$' "$tool" plot extreme.jsonl --log
says 0 '^$' sh -c "'$tool' plot extreme.jsonl -o y.svg --log && echo"


# ---- numbers that are as close, as small, as large or as far apart as they can be, and steps: every chart ends ----
cat >edges.jsonl <<'J'
{"name":"close","step":0,"value":1}
{"name":"close","step":1,"value":1.0000000000000002}
{"name":"small","step":0,"value":-5e-324}
{"name":"small","step":1,"value":5e-324}
{"name":"least","step":9007199254740993,"value":5e-324}
{"name":"most","step":0,"value":1.7976931348623157e308}
{"name":"apart","step":0,"value":1e-300}
{"name":"apart","step":1,"value":1e300}
{"name":"late","step":9223372036854775806,"value":1}
{"name":"late","step":9223372036854775807,"value":2}
{"name":"later","step":4611686018427387904,"value":"NaN"}
{"name":"later","step":4611686018427388928,"value":2}
J
for o in --smooth=0 --log; do
    says 0 ': 4.94066e-324 at step 9007199254740993,' "$tool" plot edges.jsonl "$o"
    says 0 '^drawn$' sh -c "timeout 20 '$tool' plot edges.jsonl -o edges.svg $o && echo drawn"
    says 0 '^good$' "$python" -c '
import xml.dom.minidom as m
d = m.parse("edges.svg")
for c in d.getElementsByTagName("g"):
    assert len(c.getElementsByTagName("text")) < 40
assert not any(w in p.getAttribute("d") for p in d.getElementsByTagName("path") for w in ("nan", "inf"))
print("good")'
done
says 0 ', least 2 at step 4611686018427388928' "$tool" plot edges.jsonl --name later
"$python" -c '
print(*["{\"name\":\"gaps\",\"value\":%s}" % (i % 7 + 1 if i % 5 else "\"NaN\"") for i in range(20000)], sep="\n")' >gaps.jsonl
says 0 '^good$' "$python" -c '
import subprocess, sys, xml.dom.minidom as m
subprocess.run([sys.argv[1], "plot", "gaps.jsonl", "-o", "gaps.svg"], check=True)
line = [p.getAttribute("d") for p in m.parse("gaps.svg").getElementsByTagName("path") if p.getAttribute("class") == "line"]
assert line[0].count("M") == 1 and line[0].count("L") > 1000, line[0][:200] # each column of a thinned curve has numbers
print("good")' "$tool"
printf '{"name":"a\\u009b31mb\\uffff","value":1}\n' >names.jsonl
says 0 '^a[?]31mb' "$tool" plot names.jsonl
says 0 '^1$' sh -c "'$tool' plot names.jsonl -o names.svg && '$python' -c 'import xml.dom.minidom as m; print(len(m.parse(\"names.svg\").getElementsByTagName(\"svg\")))'"
printf '{"a": 1}\r\n\r\n{"a": }\r\n' >crlf.jsonl
says 1 'crlf.jsonl: line 3' "$tool" plot crlf.jsonl

# ---- what the examples log; TensorBoard's file has the same ----
(cd "$root" && for seed in 1 2; do "$gpt" --fake_data --steps 20 --sample 0 --layers 1 --dim 32 --seed $seed --log "$tmp/runs/seed$seed"; done) >/dev/null 2>&1
says 0 'runs/seed2: [0-9.]+ at step 20' "$tool" plot runs
says 0 'step 20, least' "$tool" plot runs/seed1
says 0 'tfevents.* at step 20, least' "$tool" plot runs/seed1/events*
"$tool" plot runs/seed1 --name loss | tail -1 | sed 's/.*: //' >lines.txt
"$tool" plot runs/seed1/events* --name loss | tail -1 | sed 's/.*: //' >events.txt
says 0 '^same$' sh -c 'cmp lines.txt events.txt && echo same'
if "$python" -c 'import tensorboard' 2>/dev/null; then
    says 0 '^20 ' "$python" -c '
import json
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
a = EventAccumulator("runs/seed1"); a.Reload()
got = [(s.step, s.value) for s in a.Scalars("loss")]
want = [(d["step"], d["value"]) for d in map(json.loads, open("runs/seed1/scalars.jsonl"))]
assert got == want, (got, want)
print(*got[-1])'
fi

# ---- damage: an answer or a message, never more ----
cp runs/seed1/events* whole
says 0 '^good$' "$python" -c '
import random, subprocess, sys
whole, r = open("whole", "rb").read(), random.Random(7)
lines = open("ours.jsonl", "rb").read()
for i in range(120):
    b = bytearray(whole if i % 2 else lines)
    for _ in range(r.randint(1, 4)):
        b[r.randrange(len(b))] = r.randrange(256)
    open("bad", "wb").write(b[: r.randint(1, len(b))] if i % 3 == 0 else b)
    p = subprocess.run([sys.argv[1], "plot", "bad"], capture_output=True)
    assert p.returncode in (0, 1) and (p.returncode == 0 or p.stderr.count(b"\n") == 1), (i, p)
print("good")' "$tool"
# a line that was cut, wherever that was, and others behind it
says 0 '^good$' "$python" -c '
import subprocess, sys
line = "{\"time\":1.5,\"step\":1,\"name\":\"lo\\u0073s\u00e4\",\"value\":-2.5e-1}".encode()
for n in range(1, len(line)):
    open("cut.jsonl", "wb").write(b"{\"loss\": 3}\n" + line[:n] + b"\n\n{\"loss\": 1}\n")
    p = subprocess.run([sys.argv[1], "plot", "cut.jsonl"], capture_output=True, text=True)
    assert p.returncode == 0 and "cut.jsonl: 1 at step" in p.stdout, (n, p)
print("good")' "$tool"
head -c 60 whole >part
says 1 'there are no scalars' "$tool" plot part
printf '\x00\x01garbage that is longer than a head' >garbage
says 1 'neither JSON lines nor' "$tool" plot garbage
printf '{"a": 1}\n{"a": }\n{"a": 2}\n' >bad.jsonl
says 1 'bad.jsonl: line 2' "$tool" plot bad.jsonl
: >empty
says 1 'there are no scalars' "$tool" plot empty
says 1 'no scalar of the name zoo' "$tool" plot wide.jsonl --name zoo
says 1 'none: No such file' "$tool" plot none
says 2 'a FILE is needed' "$tool" plot
says 2 "ends in .svg, not 'x.png'" "$tool" plot -o x.png wide.jsonl
says 2 'to less than 1' "$tool" plot --smooth 1 wide.jsonl
says 2 'from 20 to 1000' "$tool" plot --width 3 wide.jsonl
total
