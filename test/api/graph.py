#!/usr/bin/env python3
"""graph.py - checks what `lazuli graph` wrote: a page that is well-formed, loads nothing and holds its data; or the data.
    graph.py FILE.html|FILE.json [EXPRESSION]...: each expression over the data `d` must be true."""
import html.parser
import json
import re
import sys

VOID = {"meta", "input", "br", "link", "img"}


class Page(html.parser.HTMLParser):
    """Tags nest and are closed; what the page refers to; the text of its scripts."""

    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.refers, self.data, self.scripts = [], [], [], "", 0

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append((tag, dict(attributes)))
        self.scripts += tag == "script"
        self.refers += [v for k, v in attributes if k in ("src", "href")]

    def handle_endtag(self, tag):
        if not self.open or self.open.pop()[0] != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        if self.open and self.open[-1][1].get("id") == "data":
            self.data += data


def read(path):
    text = open(path, encoding="utf-8").read()
    if path.endswith(".json"):
        return json.loads(text)
    page = Page()
    page.feed(text)
    page.close()
    assert text.startswith("<!doctype html>"), "no doctype"
    assert not page.open and not page.wrong, f"tags that are not closed: {page.open or page.wrong}"
    assert page.scripts == 2, f"{page.scripts} scripts, not the data and the program"
    assert not page.refers and not re.search(r"@import|url\((?!#)|fetch\(|XMLHttp|import\(", text), "it loads something"
    return json.loads(page.data)


def check(d):
    """Numbers refer to what is there."""
    n = len(d["nodes"])
    for node in d["nodes"]:
        if node:
            op, kind, scope, line, operands, attributes = node
            assert d["operations"][op] and -1 <= kind < len(d["types"]) and -1 <= scope < len(d["scopes"]) and -1 <= line < len(d["lines"])
            assert all(0 <= o < n and d["nodes"][o] for o in operands) and isinstance(attributes, str)
    assert all(0 <= r < n for r in d["results"])
    for step in d["steps"]:
        assert all(0 <= k < n for k, _ in step["nodes"]) and (not step["nodes"] or abs(sum(p for _, p in step["nodes"]) - 1) < 0.02)
    steps = len(d["steps"])
    alive = [0] * (steps + 1)
    for kind, at, size, made, read_by, end, what in d["memory"]["buffers"]:
        assert -1 <= made < steps and -1 <= read_by < steps and -1 <= end < steps, what
        if kind == "temporary":
            assert made <= end and at + size <= d["memory"]["arena"], what
            for i in range(made, end + 1):
                alive[i] += size
    assert max(alive) <= d["memory"]["arena"], "more is alive than there is room"
    return max(alive)


def main():
    d = read(sys.argv[1])
    peak = check(d)
    names = {"d": d, "peak": peak, "steps": d["steps"], "scopes": d["scopes"], "lines": d["lines"]}
    for expression in sys.argv[2:]:
        assert eval(expression, names), expression  # noqa: S307 - the test's own


if __name__ == "__main__":
    try:
        main()
    except AssertionError as e:
        sys.exit(f"{sys.argv[1]}: {e}")
