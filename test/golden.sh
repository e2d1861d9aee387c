#!/usr/bin/env bash
# golden.sh - run the golden files test/ir/**/*.mlir through the lazuli command and look at what it prints.
#   test/golden.sh [FILE...]        BUILD or LZ_TOOL says which command; default all files below test/ir
# The head of a file says what to run and what to expect, in comments (the text format ignores them):
#   // run: lazuli opt --passes=fold %s      the command; %s is the file, $TMPDIR a scratch folder. Several lines: each
#                                            is run by itself and every one must meet the expectations. Pipes are fine.
#   // check: text                           a line holding text, after the line of the last check
#   // check-next: text                      the line after it
#   // check-same: text                      further right on the same line
#   // check-not: text                       no such line between the last match and the next (or the end)
#   // error: text                           the command must fail, and stderr must hold text
# Without error: the command must succeed. Runs of blanks count as one; {{...}} inside text is an awk (ERE) pattern.
set -u
tool=${LZ_TOOL:-${BUILD:-build/release}/lazuli}
tool=$(realpath -m "$tool")
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
if [ $# -gt 0 ]; then
    files=("$@")
else # no <(...): it needs /proc, which a bare root has not
    find test/ir -name '*.mlir' 2>/dev/null | sort >"$tmp/files"
    mapfile -t files <"$tmp/files"
fi
export TMPDIR=$tmp
passed=0 failed=0

# What the command printed, against the head's check lines. Prints what is wrong; nothing when all is well.
compare() {
    awk '
    function squeeze(s) { gsub(/[ \t]+/, " ", s); sub(/^ /, "", s); sub(/ $/, "", s); return s }
    function pattern(s,   out, i, c, a, b) { # literal text with {{...}} as a dynamic pattern
        out = ""
        while ((a = index(s, "{{")) > 0) {
            b = index(substr(s, a), "}}")
            if (b == 0) break
            out = out literal(substr(s, 1, a - 1)) "(" substr(s, a + 2, b - 3) ")"
            s = substr(s, a + b + 1)
        }
        return out literal(s)
    }
    function literal(s) { gsub(/[][\\.^$*+?(){}|]/, "\\\\&", s); return s }
    function near(  k, s) { s = ""; for (k = at + 1; k <= n && k <= at + 6; k++) s = s "\n      | " line[k]; return s }
    FNR == NR {
        if (match($0, /^[ \t]*\/\/ (check|check-next|check-same|check-not): /)) {
            kind[++m] = substr($0, RSTART, RLENGTH - 2); sub(/^[ \t]*\/\/ /, "", kind[m])
            text[m] = squeeze(substr($0, RSTART + RLENGTH)); re[m] = pattern(text[m])
        }
        next
    }
    { line[++n] = squeeze($0) }
    function no_such(from, to,   k, j) { # the check-not lines collected since the last match
        for (k = 1; k <= nots; k++)
            for (j = from; j <= to; j++)
                if (line[j] ~ re[not_at[k]]) { print "    check-not: " text[not_at[k]] "\n      | " line[j]; exit }
        nots = 0
    }
    END {
        at = 0; col = 1
        for (i = 1; i <= m; i++) {
            if (kind[i] == "check-not") { not_at[++nots] = i; continue }
            if (kind[i] == "check-same") {
                if (at == 0 || !match(substr(line[at], col), re[i])) {
                    print "    check-same: " text[i] "\n      | " substr(line[at], col); exit }
                col += RSTART + RLENGTH - 1; continue
            }
            last = kind[i] == "check-next" ? at + 1 : n
            for (j = at + 1; j <= last && j <= n && !match(line[j], re[i]); j++) ;
            if (j > last || j > n) { print "    " kind[i] ": " text[i] " is not there; the output goes on with" near(); exit }
            no_such(at + 1, j - 1)
            at = j; col = RSTART + RLENGTH
        }
        no_such(at + 1, n)
    }' "$1" "$2"
}

check_one() {
    local f=$1 ran=no want_error cmd rc why
    want_error=$(sed -n 's|^[ \t]*// error: *||p' "$f")
    sed -n 's|^[ \t]*// run: *||p' "$f" >"$tmp/runs"
    while IFS= read -r cmd; do
        ran=yes
        cmd=${cmd//%s/\"$f\"}
        (lazuli() { "$tool" "$@"; }; set -o pipefail; eval "$cmd") >"$tmp/out" 2>"$tmp/err" </dev/null
        rc=$?
        if [ -n "$want_error" ]; then
            if [ $rc -eq 0 ]; then why='    the command succeeded; an error was expected'
            elif [ $rc -ge 128 ]; then why="    the command died of signal $((rc - 128))"
            else
                why=''
                while IFS= read -r e; do
                    grep -qF -- "$e" "$tmp/err" || why="    error: $e is not in"$'\n'"$(sed 's/^/      | /' "$tmp/err" | head -5)"
                done <<<"$want_error"
            fi
        elif [ $rc -ne 0 ]; then
            why="    exit status $rc"$'\n'"$(sed 's/^/      | /' "$tmp/err" | head -8)"
        else
            why=$(compare "$f" "$tmp/out")
        fi
        [ -n "$why" ] && { printf 'FAIL %s\n    run: %s\n%s\n' "$f" "$cmd" "$why"; return 1; }
    done <"$tmp/runs"
    [ $ran = yes ] || { printf 'FAIL %s\n    it has no "// run:" line\n' "$f"; return 1; }
}

for f in "${files[@]}"; do
    if check_one "$f"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
