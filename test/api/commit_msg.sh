#!/usr/bin/env bash
# commit_msg.sh - tools/hooks/commit-msg in a repository of its own: which messages it takes, and which it refuses for what.
set -u
command -v git >/dev/null || exit 77
hook=$PWD/tools/hooks/commit-msg
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0
unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE
git init -q "$tmp/r" && cd "$tmp/r" || exit 1
git config user.name x && git config user.email x@localhost && git config core.hooksPath "${hook%/*}"

# t 'word of the refusal, or nothing' MESSAGE
t() {
    local out rc=0
    printf '%b' "$2" >"$tmp/m"
    out=$("$hook" "$tmp/m" 2>&1) || rc=$?
    if [ -z "$1" ] && [ $rc -eq 0 ] || { [ -n "$1" ] && [ $rc -eq 1 ] && [[ $out == *"$1"* ]]; }; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'for %q: exit status %d, wanted "%s":\n%s\n' "$2" $rc "$1" "$out"
    fi
}
why='\n\nIt was wrong.\n'
lines() { seq "$1" >f && git add f; }

lines 3
t '' 'docs: fix a typo\n'
t '' 'codegen/gpu: pass the tile to the epilogue\n'
t '' 'lower, docs: rename passes\n'
t '' '.ci: run lint\n'
t '' '# a comment\nir: embed constants\n# ------------------------ >8 ------------------------\nx: anything; here.\n'
t '' 'Merge branch peers\n'
t '' 'Revert "ir: no such thing"\n'
t '' 'fixup! ir: embed constants\n'
t 'area: imperative' 'fix a typo\n'
t 'area: imperative' 'Docs: fix a typo\n'
t 'area: imperative' 'docs:fix a typo\n'
t 'more than 72' "ir: fix $(printf 'x%.0s' {1..70})\n"
t 'by ";"' 'ir: fix a typo; rename passes\n'
t 'full stop' 'ir: fix a typo.\n'
t 'imperative' 'ir: fixed a typo\n'
t 'imperative' 'ir: fixing a typo\n'
t 'imperative' 'ir: fixes a typo\n'
t 'a state' 'ir: what is dead is not kept\n'
t 'a state' 'ir: no pass keeps dead code\n'
t 'lower case' 'ir: Fix a typo\n'
t 'second line' 'ir: fix a typo\nat once\n'
t 'line 3 has' "ir: fix a typo\n\n$(printf 'x%.0s' {1..101})\n"
t '' "ir: fix a typo\n\n    $(printf 'x%.0s' {1..101})\nhttps://$(printf 'x%.0s' {1..101})\n"
lines 40
t '' "ir: fix a typo$why"
t 'say why' 'ir: fix a typo\n'
t 'say why' 'ir: fix a typo\n\nSigned-off-by: someone <x@localhost>\n'

# as git calls it
if git commit -q -m "ir: add numbers" -m "They are needed by the test." >"$tmp/log" 2>&1 && ! git commit -q --allow-empty -m 'numbers' >"$tmp/log" 2>&1; then
    passed=$((passed + 1))
else
    failed=$((failed + 1)) && cat "$tmp/log"
fi
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
