#!/usr/bin/env bash
# capture.sh - a training is watched from outside while it runs: lazuli top, lazuli capture, its files by a checker of their own, both ends
# of the connection killed, what is refused, and that none of it changes what the training computes.
# shellcheck disable=SC2154  # tmp is that of example.bash
set -u
# shellcheck source=test/example.bash
. test/example.bash
tool=$(realpath "${LZ_TOOL:-$BUILD/lazuli}")
port() { sed -n 's/.*listens at 127.0.0.1:\([0-9]*\).*/\1/p' "$tmp/$1"; } # NAME of the run
until_true() { # command...: at most half a minute
    local tries=0
    until "$@" 2>/dev/null; do [ $((tries += 1)) -lt 600 ] || return 1; sleep 0.05; done
}
has_port() { [ -n "$(port "$1")" ]; }
train() { # NAME, options...: its pid in pid, its port in at
    LAZULI_LOG=info LAZULI_SERVER=0 "$BUILD/examples/gpt" --fake_data --layers 1 --dim 32 --context 16 --batch 2 --sample 0 "${@:2}" >"$tmp/$1" 2>&1 &
    pid=$!
    until_true has_port "$1" || { echo "$1 has no server"; cat "$tmp/$1"; }
    at=127.0.0.1:$(port "$1")
}
has_kernels() { zcat "$(files "$1" .trace.json.gz)" | grep -q '"cat":"kernel"'; } # folder
files() { find "$1" -name "*$2" | sort; } # folder, ending
# Strict JSON; each row has a name and its spans nest; arrows that end began; there are spans of these categories.
valid_trace() { # FILE.trace.json.gz, categories...
    zcat "$1" >"$tmp/plain.json" && python3 - "$tmp/plain.json" "${@:2}" <<'PY'
import collections, json, sys
trace = json.load(open(sys.argv[1]), parse_constant=lambda c: sys.exit(f"{c} is no JSON"))
events = trace["traceEvents"]
rows = {e["tid"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
spans = collections.defaultdict(list)
for e in events:
    if e["ph"] == "X":
        assert e["tid"] in rows, f"row {e['tid']} has no name"
        assert e["ts"] >= 0 and e["dur"] >= 0
        spans[e["tid"]].append((e["ts"], -e["dur"], e["name"]))
for row in spans.values():
    stack = []
    for ts, minus, name in sorted(row):
        while stack and stack[-1] <= ts + 1e-6:
            stack.pop()
        assert not stack or ts - minus <= stack[-1] + 1e-3, f"{name} at {ts} does not nest"
        stack.append(ts - minus)
begun = {e["id"] for e in events if e["ph"] == "s"}
assert all(e["id"] in begun for e in events if e["ph"] == "f"), "an arrow comes from nowhere"
kinds = {e.get("cat") for e in events if e["ph"] == "X"}
assert set(sys.argv[2:]) <= kinds, kinds
PY
}
# The device's plane, and kernels in it, as bytes: t_xplane and t_capture read them as messages.
valid_xplane() { # FILE
    grep -qa '/device:TPU:0' "$1" && grep -qa '/host:CPU' "$1" && grep -qa 'hlo_category' "$1" && grep -qa 'XLA Ops' "$1"
}
plain() { ! grep -q "$(printf '\033')" "$tmp/log"; }

train run --steps 1000000
ok 'top --once' step top "$tool" top "$at" --once
ok 'it has steps, compilations, caches and memory' bash -c 'for w in "^steps" "^compilations" "^graphs in memory" "^programs on disk" "^CPU:0" "^resident"; do grep -q "$w" "$1" || exit 1; done' sh "$tmp/log"
ok 'no escape codes in a pipe' plain
stepping() {
    "$tool" top "$at" --once --json --interval_ms 300 >"$tmp/log" && python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
sys.exit(not (d["steps_per_second"] > 0 and d["devices"][0]["name"] == "CPU:0" and d["memory_cache_hits"] > 0))' "$tmp/log"
}
ok 'top --once --json' step top "$tool" top "$at" --once --json
ok 'steps a second' until_true stepping
timeout 5 "$tool" top "$at" --interval_ms 100 | head -3 >"$tmp/log"
ok 'top again and again' [ -s "$tmp/log" ]
ok 'capture' step capture "$tool" capture "$at" --duration_ms 1000 --logdir "$tmp/one"
ok 'one file of each kind' [ "$(find "$tmp/one" -type f | wc -l)" = 2 ]
ok 'the trace is valid' valid_trace "$(files "$tmp/one" .trace.json.gz)" kernel step execute queue
ok 'the XSpace has kernels' valid_xplane "$(files "$tmp/one" .xplane.pb)"
"$tool" capture "$at" --duration_ms 3600000 --logdir "$tmp/two" >"$tmp/log" 2>&1 &
client=$!
until_true has_kernels "$tmp/two"
kill -TERM $client
wait $client
ok 'a client that is ended' [ $? = 143 ]
ok 'leaves a valid trace' valid_trace "$(files "$tmp/two" .trace.json.gz)" kernel
ok 'leaves an XSpace' valid_xplane "$(files "$tmp/two" .xplane.pb)"
ok 'the training goes on' kill -0 $pid
"$tool" capture "$at" --duration_ms 3600000 --logdir "$tmp/three" >"$tmp/log" 2>&1 &
client=$!
until_true has_kernels "$tmp/three"
kill -TERM $pid
wait $pid 2>/dev/null
wait $client
ok 'where the program ends, so does the capture' [ $? -le 1 ]
ok 'with a valid trace' valid_trace "$(files "$tmp/three" .trace.json.gz)" kernel
ok 'and an XSpace' valid_xplane "$(files "$tmp/three" .xplane.pb)"

ok 'nobody listens' bash -c "! timeout 20 '$tool' top '$at' --once 2>'$tmp/log'"
ok 'the message has the address' grep -q "$at" "$tmp/log"
for bad in 'capture' "capture $at" "capture x --logdir $tmp/x" "capture $at --logdir $tmp/x --duration_ms 0" 'top' 'top 127.0.0.1' 'top :1' 'top 127.0.0.1:0' 'top 127.0.0.1:1 --interval_ms 1'; do
    # shellcheck disable=SC2086  # words
    "$tool" $bad >"$tmp/log" 2>&1
    ok "lazuli $bad is refused" [ $? = 2 ]
done

# Whoever watches changes nothing.
train watched --steps 60 --seed 3 --json
"$tool" capture "$at" --duration_ms 200 --logdir "$tmp/four" >/dev/null 2>&1
wait $pid
"$BUILD/examples/gpt" --fake_data --layers 1 --dim 32 --context 16 --batch 2 --sample 0 --steps 60 --seed 3 --json >"$tmp/alone" 2>&1
ok 'the same loss, watched or not' [ "$(field watched loss)" = "$(field alone loss)" ]
ok 'without LAZULI_SERVER there is none' bash -c "! grep -q 'listens at' '$tmp/alone'"
total
