#!/usr/bin/env bash
# bench_page.sh - the benchmark page: of the kept results, and of made-up ones in which processors share a name, a figure is above its
# limit, and names are markup. One well-formed file that loads nothing; a line never joins two machines.
# shellcheck disable=SC2154  # tmp is that of steps.bash
set -u
command -v python3 >/dev/null || { echo 'bench_page.sh: python3 is not installed' >&2; exit 77; }
# shellcheck source=test/steps.bash
. test/steps.bash
cat >"$tmp/make.py" <<'PY'
import json, sys
def run(commit, when, cpu, rate, ms, fma, bw, **more):
    row = {"workload": "sum_4096", "threads": 2, "median_ms": ms, "min_ms": ms * 0.9, "fma": None, "bw": bw, "load": 1, "cpu_ms": 1,
           "peers": {"jax": {"median": 2.0, "min": 1.8, "cpu": None}, "<b>": {"median": 1e-3, "min": None, "cpu": 1}}, "targets": []}
    dot = {**row, "workload": "a<b>&\"'", "fma": fma, "bw": 3, "min_ms": None, "rounds_ms": [ms, ms * 1.3], "peers": {},
           "targets": [{"figure": "fma", "value": [fma, None], "bound": ">=90", "reached": False, "best_peer": "x"}]}
    json.dump({"commit": commit, "when": when, "cpu": cpu, "processors": 2, "fma_gflops": {"2": rate}, "rows": [row, dot], "failed": [], **more},
              open(f"{sys.argv[1]}/{commit}.json", "w"))
run("aaaaaaaaaa", 100, "One <name>", 200.0, 1.0, 90, 80)
run("bbbbbbbbbb", 200, "One <name>", 500.0, 0.5, 104, 130)        # another processor of that name
run("cccccccccc", 300, "One <name>", 210.0, 1.1, 91, 81)
run("dddddddddd", 400, "One <name>", 500.0, 0.4, 80, 90, machine={"family": "6", "model": "1", "stepping": "1", "isa": []})
run("eeeeeeeeee", 500, "One <name>", 500.0, 0.4, 80, 90, machine={"family": "6", "model": "2", "stepping": "1", "isa": []})
PY
cat >"$tmp/look.py" <<'PY'
import html.parser, re, sys
VOID = {"meta", "br", "link"}
class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.tags, self.refers = [], [], {}, []
    def handle_starttag(self, tag, attributes):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.refers += [v for k, v in attributes if k in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)
    def handle_startendtag(self, tag, attributes):
        self.tags[tag] = self.tags.get(tag, 0) + 1
    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)
text = open(sys.argv[1], encoding="utf-8").read()
page = Page()
page.feed(text)
page.close()
assert not page.open and not page.wrong, page.open or page.wrong
assert not page.refers and "script" not in page.tags and "@import" not in text and "url(" not in text
assert "nan" not in re.sub(r"<title>.*?</title>", "", text).lower()
cards = text.split('<section class="card"')[1:]
for card in cards: # more than 100 % is never without a word
    above = sum(int(v) > 100 for v in re.findall(r"<b>(\d+) %</b>", card))
    assert above == card.count('class="word"'), card[:100]
for expression in sys.argv[2:]:
    assert eval(expression), expression
PY
mkdir "$tmp/results"
python3 "$tmp/make.py" "$tmp/results"
step 'make a page' python3 bench/page.py --results "$tmp/results" --output "$tmp/page.html"
# machines: 200-210; 500; 500 of model 2 (that of model 1 may be the second). Lines: 1 -> 3 and 2 -> 4 of two workloads.
step 'machines are apart' python3 "$tmp/look.py" "$tmp/page.html" 'len(cards) == 2' 'text.count("class=\"line\"") == 4' \
    'text.split("class=\"key\"")[1].split("</p>")[0].count("<span>") == 3' 'all(l.count("L") == 1 for l in re.findall(r"class=\"line\"[^>]* d=\"([^\"]*)\"", text))' \
    '"One &lt;name&gt;, 2 processors, 500 Gflop/s" in text' '"<b>&" not in text and "a&lt;b&gt;&amp;&quot;&#x27;" in text'
mkdir "$tmp/none"
step 'no results' python3 bench/page.py --results "$tmp/none" --output "$tmp/none.html"
step 'read it' python3 "$tmp/look.py" "$tmp/none.html" 'not cards'
step 'kept results' python3 bench/page.py --output "$tmp/kept.html"
step 'read them' python3 "$tmp/look.py" "$tmp/kept.html" 'len(cards) >= 40' 'text.count("class=\"word\"") > 5' '"right of 1 we are faster" in text'
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -n "$browser" ]; then # it is drawn, and not blank
    HOME=$tmp "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$tmp/browser" --screenshot="$tmp/page.png" --window-size=1600,1000 "file://$tmp/kept.html" 2>/dev/null
    step 'picture' test "$(stat -c %s "$tmp/page.png")" -gt 50000
fi
total
